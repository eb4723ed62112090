/*-------------------------------------------------------------------------
 *
 * key_cost.c
 *	  A model of the cost of keys in a B-tree index.
 *
 * The first change of a page after a checkpoint writes an image of the page to
 * the WAL.  Therefore, the cost of an insert depends on the number of different
 * leaf pages that the inserts of one checkpoint interval change.
 * docs/performance.md derives the formulas and compares them with measurements.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/xlogrecord.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "postmaster/bgwriter.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "clock.h"
#include "key_cost.h"
#include "short_prefix.h"

/*
 * A leaf that is filled in random order splits in the middle when it is full,
 * so that its fill is from one half to one.  The probability density of a fill
 * u is proportional to 1 / u^2, and its mean is ln 2.
 */
#define LEAF_MEAN_FILL		M_LN2
#define FILL_STEPS			32

/* A leaf that is filled in ascending order splits at its fillfactor. */
#define LEAF_ORDERED_FILL	(BTREE_DEFAULT_FILLFACTOR / 100.0)

/*
 * The WAL record of an insert into a leaf, without the tuple: record header,
 * block reference, short data header, offset number.
 */
#define INSERT_RECORD_BYTES	(SizeOfXLogRecord + 20 + 2 + 2)

/* The WAL record of a split, without the tuples: it has three block references. */
#define SPLIT_RECORD_BYTES	(SizeOfXLogRecord + 3 * 20 + 20)

/* The cost of all inserts of one checkpoint interval. */
typedef struct KeyCost
{
	double		images;			/* full-page images of leaves */
	double		image_bytes;
	double		record_bytes;	/* records of inserts and splits */
} KeyCost;

/* The sizes of leaves and of their items. */
typedef struct LeafShape
{
	double		item_bytes;		/* a tuple and its line pointer */
	double		tuple_bytes;
	double		capacity;		/* items of a full leaf, without its high key */
} LeafShape;

static LeafShape
leaf_shape(int key_bytes)
{
	LeafShape	shape;

	shape.tuple_bytes = MAXALIGN(sizeof(IndexTupleData) + key_bytes);
	shape.item_bytes = shape.tuple_bytes + sizeof(ItemIdData);
	shape.capacity = floor((BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData))) /
						   shape.item_bytes) - 1;
	return shape;
}

static double
image_bytes(const LeafShape *shape, double items)
{
	return SizeOfPageHeaderData + MAXALIGN(sizeof(BTPageOpaqueData)) +
		(items + 1) * shape->item_bytes;
}

/*
 * Add the images of the leaves that contain the given number of rows, if the
 * given number of changes is uniformly distributed over the rows.  Leaves that
 * were created after the checkpoint need no image, so rows is the number of
 * rows before it.
 */
static void
add_images(KeyCost *cost, const LeafShape *shape, double rows, double changes)
{
	double		leaves = rows / (shape->capacity * LEAF_MEAN_FILL);

	if (rows <= 0 || changes <= 0)
		return;
	if (leaves < 1)
	{
		double		images = -expm1(-changes);

		cost->images += images;
		cost->image_bytes += images * image_bytes(shape, rows);
		return;
	}

	/* integrate over all fills; a leaf's share of the changes is that of its rows */
	for (int i = 0; i < FILL_STEPS; i++)
	{
		double		fill = 0.5 + 0.5 * (i + 0.5) / FILL_STEPS;
		double		items = fill * shape->capacity;
		double		images = leaves * 0.5 / FILL_STEPS / (fill * fill) *
			-expm1(-changes * items / rows);

		cost->images += images;
		cost->image_bytes += images * image_bytes(shape, items);
	}
}

/* The number of leaves that uniformly distributed inserts change. */
double
key_cost_page_images(double leaf_pages, double inserts)
{
	LeafShape	shape = leaf_shape(UUID_LEN);
	KeyCost		cost = {0};

	add_images(&cost, &shape, leaf_pages * shape.capacity * LEAF_MEAN_FILL, inserts);
	return cost.images;
}

/*
 * Add the images for runs of inserts.  The inserts of one run change the same
 * leaf and the leaves that it splits into.  A split also changes the right
 * sibling and the parent.
 */
static void
add_runs(KeyCost *cost, const LeafShape *shape, double rows, double runs, double run_length)
{
	double		leaf_rows = shape->capacity * LEAF_MEAN_FILL;
	double		splits = runs * Min(run_length / leaf_rows, 1);

	add_images(cost, shape, rows, runs + splits);
	add_images(cost, shape, rows / leaf_rows, splits);
}

/* Add the WAL records of inserts in random or in ascending order. */
static void
add_records(KeyCost *cost, const LeafShape *shape, double inserts, bool ascending)
{
	double		left = ascending ? LEAF_ORDERED_FILL : LEAF_MEAN_FILL;
	double		moved = ascending ? 1 - LEAF_ORDERED_FILL : 0.5;

	cost->record_bytes += inserts *
		(INSERT_RECORD_BYTES + shape->tuple_bytes +
		 (SPLIT_RECORD_BYTES + moved * shape->capacity * shape->tuple_bytes) /
		 (left * shape->capacity));
}

/* Keys in random order. */
static KeyCost
random_cost(int key_bytes, double index_rows, double inserts)
{
	LeafShape	shape = leaf_shape(key_bytes);
	KeyCost		cost = {0};

	add_runs(&cost, &shape, index_rows, inserts, 1);
	add_records(&cost, &shape, inserts, false);
	return cost;
}

/* Keys in ascending order: all the leaves that they change are new, except one. */
static KeyCost
ordered_cost(int key_bytes, double index_rows, double inserts)
{
	LeafShape	shape = leaf_shape(key_bytes);
	KeyCost		cost = {0};

	add_images(&cost, &shape, Min(index_rows, shape.capacity / 2), inserts);
	add_records(&cost, &shape, inserts, true);
	return cost;
}

/*
 * Short COMBs.  Within a period, the keys are random, but change only the
 * leaves of the period's prefix.  These contain the rows of the period before
 * the checkpoint, and the rows of the same prefix in previous cycles.  A run
 * of keys with the same tag changes as many leaves as a single key.
 */
static KeyCost
short_comb_cost(int key_bytes, double index_rows, double inserts,
				double period_rows, double period_rows_before,
				double prefixes, double run_length)
{
	LeafShape	shape = leaf_shape(key_bytes);
	KeyCost		cost = {0};
	double		cycles_before = floor(index_rows / (period_rows * prefixes));
	double		first = Min(inserts, period_rows - period_rows_before);
	double		of_old_cycles = cycles_before * period_rows;
	double		run = Max(Min(run_length, period_rows), 1); /* a period ends a run */

	/* the rest of the period of the checkpoint */
	add_runs(&cost, &shape, Min(period_rows_before + of_old_cycles, index_rows),
			 first / run, run);
	/* the next periods; without old cycles, their leaves are new */
	if (inserts > first)
		add_runs(&cost, &shape,
				 Min(of_old_cycles * (inserts - first) / period_rows, index_rows),
				 (inserts - first) / run, run);
	add_records(&cost, &shape, inserts, false);
	return cost;
}

/* Raise 22023 if a number is out of range or NaN; return it. */
static double
require_between(double value, double min, double max, const char *name)
{
	if (!(value >= min && value <= max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between %.15g and %.15g", name, min, max),
				 errdetail("The value is %.15g.", value)));
	return value;
}

/* a limit above the number of rows of any table */
#define MAX_ROWS		1e15

#define MAX_KEY_BYTES	1024

/* The cost of short COMBs by the arguments of expected_key_cost(). */
static KeyCost
short_comb_cost_argument(FunctionCallInfo fcinfo, int key_bytes, double index_rows,
						 double inserts)
{
	double		period_rows;
	double		rows_in_period;
	int			prefix_bytes;
	double		run_length;

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows_per_period must not be null for a short COMB")));
	period_rows = require_between(PG_GETARG_FLOAT8(3), 1e-6, MAX_ROWS, "rows_per_period");
	prefix_bytes = require_between(PG_ARGISNULL(4) ? DEFAULT_PREFIX_BYTES : PG_GETARG_INT32(4),
								   MIN_PREFIX_BYTES, MAX_PREFIX_BYTES, "prefix_bytes");
	run_length = require_between(PG_ARGISNULL(5) ? 1 : PG_GETARG_INT32(5),
								 1, PG_INT32_MAX, "run_length");
	rows_in_period = PG_ARGISNULL(7) ? period_rows / 2 :
		require_between(PG_GETARG_FLOAT8(7), 0, period_rows, "rows_in_period");
	return short_comb_cost(key_bytes, index_rows, inserts, period_rows,
						   rows_in_period, pow(256, prefix_bytes), run_length);
}

/*
 * expected_key_cost(kind text, index_rows float8, rows_per_checkpoint float8,
 *					 rows_per_period float8, prefix_bytes int, run_length int,
 *					 key_bytes int, rows_in_period float8,
 *					 OUT page_images_per_row float8,
 *					 OUT image_bytes_per_row float8,
 *					 OUT record_bytes_per_row float8)
 *
 * The bytes of WAL per insert for an index on a kind of key: 'random',
 * 'ordered' or 'short_comb'.
 */
PG_FUNCTION_INFO_V1(idgen_expected_key_cost);
Datum
idgen_expected_key_cost(PG_FUNCTION_ARGS)
{
	char	   *kind;
	double		index_rows;
	double		inserts;
	int			key_bytes;
	KeyCost		cost;
	TupleDesc	tupdesc;
	Datum		values[3];
	bool		nulls[3] = {false, false, false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();

	kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	index_rows = require_between(PG_GETARG_FLOAT8(1), 0, MAX_ROWS, "index_rows");
	inserts = require_between(PG_GETARG_FLOAT8(2), 1, MAX_ROWS, "rows_per_checkpoint");
	key_bytes = require_between(PG_ARGISNULL(6) ? UUID_LEN : PG_GETARG_INT32(6),
								1, MAX_KEY_BYTES, "key_bytes");

	if (strcmp(kind, "random") == 0)
		cost = random_cost(key_bytes, index_rows, inserts);
	else if (strcmp(kind, "ordered") == 0)
		cost = ordered_cost(key_bytes, index_rows, inserts);
	else if (strcmp(kind, "short_comb") == 0)
		cost = short_comb_cost_argument(fcinfo, key_bytes, index_rows, inserts);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kind must be random, ordered or short_comb"),
				 errdetail("The value is \"%s\".",
						   pnstrdup(kind, pg_mbcliplen(kind, strlen(kind), NAMEDATALEN)))));

	values[0] = Float8GetDatum(cost.images / inserts);
	values[1] = Float8GetDatum(cost.image_bytes / inserts);
	values[2] = Float8GetDatum(cost.record_bytes / inserts);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}

/* ------------------------------------------------------------------------
 * Advice
 * ------------------------------------------------------------------------
 */

/* Arguments of short_comb() among which advise_short_comb() chooses. */
typedef struct Choice
{
	int64		period_s;
	int			prefix_bytes;
	int			run_length;
} Choice;

static const int64 periods_s[] = {
	60, 30, 300, 10, 600, 1800, 3600, 1, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600
};
static const int prefix_sizes[] = {2, 3};
static const int run_lengths[] = {1, 16, 64, 256, 1024};

/* A preferred choice may cost more than the best one by this share. */
#define TOLERANCE	0.25

/* The share of the cache for an index; its table and others need the rest. */
#define CACHE_SHARE	0.5

/* The bytes of the leaves that the keys of one period may change. */
static double
active_bytes(double index_rows, double rows_per_second, const Choice *choice)
{
	LeafShape	shape = leaf_shape(UUID_LEN);
	double		period_rows = rows_per_second * choice->period_s;
	double		cycles_before = floor(index_rows / (period_rows * pow(256, choice->prefix_bytes)));
	double		rows = Min(period_rows * (1 + cycles_before), index_rows + period_rows);

	return ceil(rows / choice->run_length / (shape.capacity * LEAF_MEAN_FILL)) * BLCKSZ;
}

/*
 * The cost of an insert: bytes of WAL, and the bytes of pages that must be read
 * because the leaves do not stay in the cache.
 */
static double
cost_of_choice(double index_rows, double rows_per_second, double checkpoint_s,
			   double cache, const Choice *choice, double *images)
{
	double		inserts = Max(rows_per_second * checkpoint_s, 1);
	double		period_rows = rows_per_second * choice->period_s;
	KeyCost		cost = short_comb_cost(UUID_LEN, index_rows, inserts, period_rows,
									   period_rows / 2, pow(256, choice->prefix_bytes),
									   choice->run_length);
	double		missing = 1 - cache * CACHE_SHARE /
		active_bytes(index_rows, rows_per_second, choice);

	*images = cost.images / inserts;
	return (cost.image_bytes + cost.record_bytes) / inserts +
		Max(missing, 0) * BLCKSZ / choice->run_length;
}

/*
 * The choices in order of preference, with the defaults first.  Runs come last,
 * because they help only if few sessions insert many rows.
 */
static bool
next_choice(int *number, Choice *choice)
{
	int			n = (*number)++;

	choice->period_s = periods_s[n % (int) lengthof(periods_s)];
	n /= (int) lengthof(periods_s);
	choice->prefix_bytes = prefix_sizes[n % (int) lengthof(prefix_sizes)];
	n /= (int) lengthof(prefix_sizes);
	if (n >= (int) lengthof(run_lengths))
		return false;
	choice->run_length = run_lengths[n];
	return true;
}

/*
 * The most preferred choice whose cost is close to the lowest, and its images
 * and those of the defaults.
 */
static Choice
choose(double index_rows, double rows_per_second, double checkpoint_s, double cache,
	   double *images, double *default_images)
{
	double		best = get_float8_infinity();
	Choice		choice;

	for (int number = 0; next_choice(&number, &choice);)
		best = Min(best, cost_of_choice(index_rows, rows_per_second, checkpoint_s,
										cache, &choice, images));
	for (int number = 0; next_choice(&number, &choice);)
	{
		double		cost = cost_of_choice(index_rows, rows_per_second, checkpoint_s,
										  cache, &choice, images);

		if (number == 1)
			*default_images = *images;
		if (cost <= best * (1 + TOLERANCE))
			break;
	}
	return choice;
}

/*
 * advise_short_comb(rows_per_second float8, index_rows bigint, cache bigint,
 *					 checkpoint interval, OUT period interval,
 *					 OUT prefix_bytes int, OUT run_length int,
 *					 OUT cycle interval, OUT page_images_per_row float8,
 *					 OUT default_page_images_per_row float8,
 *					 OUT active_bytes bigint)
 *
 * The most preferred arguments for short_comb() whose cost is close to the
 * lowest.  By default, the cache and the checkpoint interval are those of the
 * server's settings.
 */
PG_FUNCTION_INFO_V1(idgen_advise_short_comb);
Datum
idgen_advise_short_comb(PG_FUNCTION_ARGS)
{
	double		rows_per_second;
	double		index_rows;
	double		cache;
	double		checkpoint_s;
	double		images = 0;
	double		default_images = 0;
	Choice		choice;
	Interval   *period = palloc0(sizeof(Interval));
	Interval   *cycle = palloc0(sizeof(Interval));
	int64		cycle_s;
	TupleDesc	tupdesc;
	Datum		values[7];
	bool		nulls[7] = {false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();

	rows_per_second = require_between(PG_GETARG_FLOAT8(0), 1e-6, 1e9, "rows_per_second");
	index_rows = require_between(PG_GETARG_INT64(1), 0, MAX_ROWS, "index_rows");
	cache = PG_ARGISNULL(2) ? (double) NBuffers * BLCKSZ :
		require_between(PG_GETARG_INT64(2), 0, 1e18, "cache");
	checkpoint_s = PG_ARGISNULL(3) ? CheckPointTimeout :
		require_between(clock_interval_us(PG_GETARG_INTERVAL_P(3), "checkpoint") /
						(double) USECS_PER_SEC, 1, SECS_PER_YEAR, "checkpoint in seconds");

	choice = choose(index_rows, rows_per_second, checkpoint_s, cache, &images, &default_images);
	period->time = choice.period_s * USECS_PER_SEC;
	cycle_s = choice.period_s << (BITS_PER_BYTE * choice.prefix_bytes);
	cycle->day = cycle_s / SECS_PER_DAY;
	cycle->time = cycle_s % SECS_PER_DAY * USECS_PER_SEC;

	values[0] = IntervalPGetDatum(period);
	values[1] = Int32GetDatum(choice.prefix_bytes);
	values[2] = Int32GetDatum(choice.run_length);
	values[3] = IntervalPGetDatum(cycle);
	values[4] = Float8GetDatum(images);
	values[5] = Float8GetDatum(default_images);
	values[6] = Int64GetDatum((int64) active_bytes(index_rows, rows_per_second, &choice));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}
