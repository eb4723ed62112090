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
#include "utils/tuplestore.h"
#include "utils/uuid.h"

#include "clock.h"
#include "key_cost.h"
#include "leaf_fill.h"
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

/* The full leaves of a simulation; it is repeated for each of many choices. */
#define SIMULATED_LEAVES			700
#define SIMULATED_LEAVES_OF_CHOICE	300

/* The cost of all inserts of one checkpoint interval, and the index before them. */
typedef struct KeyCost
{
	double		images;			/* full-page images of leaves */
	double		image_bytes;
	double		record_bytes;	/* records of inserts and splits */
	double		leaf_density;	/* percent, as in pgstatindex() */
	double		index_bytes;
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

/*
 * Set the size of an index with that many leaves.  The pages above them are
 * filled in random order; the first page is the metapage.
 */
static void
set_size(KeyCost *cost, const LeafShape *shape, double rows, double leaves)
{
	double		pages = leaves;
	double		level = leaves;

	if (leaves > 0)
	{
		double		items = (rows + leaves - 1) / leaves;	/* with high keys */

		cost->leaf_density = 100 * items * shape->item_bytes /
			(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)));
	}
	while (level > 1)
	{
		level = ceil(level / (shape->capacity * LEAF_MEAN_FILL));
		pages += level;
	}
	cost->index_bytes = (ceil(pages) + 1) * BLCKSZ;
}

/* Keys in random order. */
static KeyCost
random_cost(int key_bytes, double index_rows, double inserts)
{
	LeafShape	shape = leaf_shape(key_bytes);
	KeyCost		cost = {0};
	KeyOrder	order = {0};

	add_runs(&cost, &shape, index_rows, inserts, 1);
	add_records(&cost, &shape, inserts, false);
	order.rows = index_rows;
	order.period_rows = index_rows;
	order.prefixes = 1;
	order.run_length = 1;
	order.simulated_leaves = SIMULATED_LEAVES;
	set_size(&cost, &shape, index_rows, leaf_fill_leaves(order, shape.capacity));
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
	set_size(&cost, &shape, index_rows,
			 ceil(index_rows / (LEAF_ORDERED_FILL * (shape.capacity + 1))));
	return cost;
}

/*
 * Short COMBs.  Within a period, the keys are random, but change only the
 * leaves of the period's prefix.  These contain the rows of the period before
 * the checkpoint, and the rows of the same prefix in previous cycles.  A run
 * of keys with the same tag changes as many leaves as a single key.
 */
static KeyCost
short_comb_cost(int key_bytes, KeyOrder order, double inserts)
{
	LeafShape	shape = leaf_shape(key_bytes);
	KeyCost		cost = {0};
	double		period_rows_before = fmod(order.rows_in_cycle, order.period_rows);
	double		cycles_before = floor(order.rows / (order.period_rows * order.prefixes));
	double		first = Min(inserts, order.period_rows - period_rows_before);
	double		of_old_cycles = cycles_before * order.period_rows;
	double		run = Max(Min(order.run_length, order.period_rows), 1); /* a period ends a run */

	/* the rest of the period of the checkpoint */
	add_runs(&cost, &shape, Min(period_rows_before + of_old_cycles, order.rows),
			 first / run, run);
	/* the next periods; without old cycles, their leaves are new */
	if (inserts > first)
		add_runs(&cost, &shape,
				 Min(of_old_cycles * (inserts - first) / order.period_rows, order.rows),
				 (inserts - first) / run, run);
	add_records(&cost, &shape, inserts, false);
	set_size(&cost, &shape, order.rows, leaf_fill_leaves(order, shape.capacity));
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

/* The order of short COMBs by the arguments of expected_key_cost(). */
static KeyOrder
short_comb_order(FunctionCallInfo fcinfo, double index_rows)
{
	KeyOrder	order = {.rows = index_rows, .simulated_leaves = SIMULATED_LEAVES};
	double		cycle_rows;
	int			prefix_bytes;

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows_per_period must not be null for a short COMB")));
	order.period_rows = require_between(PG_GETARG_FLOAT8(3), 1e-6, MAX_ROWS, "rows_per_period");
	prefix_bytes = require_between(PG_ARGISNULL(4) ? DEFAULT_PREFIX_BYTES : PG_GETARG_INT32(4),
								   MIN_PREFIX_BYTES, MAX_PREFIX_BYTES, "prefix_bytes");
	order.prefixes = pow(256, prefix_bytes);
	order.run_length = require_between(PG_ARGISNULL(5) ? 1 : PG_GETARG_INT32(5),
									   1, PG_INT32_MAX, "run_length");
	cycle_rows = order.period_rows * order.prefixes;
	order.rows_in_cycle = PG_ARGISNULL(7) ? (cycle_rows + order.period_rows) / 2 :
		require_between(PG_GETARG_FLOAT8(7), 0, cycle_rows, "rows_in_cycle");
	return order;
}

/*
 * expected_key_cost(kind text, index_rows float8, rows_per_checkpoint float8,
 *					 rows_per_period float8, prefix_bytes int, run_length int,
 *					 key_bytes int, rows_in_cycle float8,
 *					 OUT page_images_per_row float8,
 *					 OUT image_bytes_per_row float8,
 *					 OUT record_bytes_per_row float8,
 *					 OUT leaf_density float8, OUT index_bytes bigint)
 *
 * The bytes of WAL per insert for an index on a kind of key ('random',
 * 'ordered' or 'short_comb'), and the size of the index.
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
	Datum		values[5];
	bool		nulls[5] = {false};

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
		cost = short_comb_cost(key_bytes, short_comb_order(fcinfo, index_rows), inserts);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kind must be random, ordered or short_comb"),
				 errdetail("The value is \"%s\".",
						   pnstrdup(kind, pg_mbcliplen(kind, strlen(kind), NAMEDATALEN)))));

	values[0] = Float8GetDatum(cost.images / inserts);
	values[1] = Float8GetDatum(cost.image_bytes / inserts);
	values[2] = Float8GetDatum(cost.record_bytes / inserts);
	values[3] = Float8GetDatum(cost.leaf_density);
	values[4] = Int64GetDatum((int64) cost.index_bytes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}

/* ------------------------------------------------------------------------
 * Advice
 * ------------------------------------------------------------------------
 */

/* Arguments of short_comb() among which advise_short_comb() chooses. */
static const int periods_s[] = {1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600};
static const int prefix_sizes[] = {1, 2, 3};
#define CHOICES		(lengthof(periods_s) * lengthof(prefix_sizes))

/*
 * A check of a key's time accepts the keys of all times whose prefix is one of
 * those within the tolerance.  They may be this share of the prefixes.
 */
#define ACCEPTED_SHARE	0.02

/*
 * The weight of a byte of the index beside a byte of WAL: the WAL is written
 * once, the index is also kept, cached and backed up.
 */
#define SIZE_WEIGHT		10

/* A choice with fewer prefix bytes may cost this much times the best one. */
#define COST_MARGIN		1.25

/* The defaults of short_comb() are kept if they cost this much times the choice. */
#define DEFAULT_MARGIN	1.05

/* More prefix bytes with the same period must save this share of the cost. */
#define LEAST_SAVING	0.01

/* The default of the argument tolerance. */
#define DEFAULT_TOLERANCE_S	600

/* The share of the cache for an index; its table and others need the rest. */
#define CACHE_SHARE		0.5

/* What a choice costs. */
typedef struct Choice
{
	int			period_s;
	int			prefix_bytes;
	int64		cycle_s;
	double		wal_bytes;		/* of an insert */
	double		leaf_density;
	double		index_bytes;
	double		active_bytes;	/* of the leaves that keys of one period may change */
	double		cost;			/* weighted bytes of an insert */
} Choice;

/*
 * Set the costs of a choice: the bytes of WAL, of the index, and of the pages
 * that must be read because the leaves do not stay in the cache.
 */
static void
set_costs(Choice *choice, KeyOrder order, double rows_per_second, double checkpoint_s,
		  double cache)
{
	LeafShape	shape = leaf_shape(UUID_LEN);
	double		inserts = Max(rows_per_second * checkpoint_s, 1);
	double		cycle_rows = rows_per_second * choice->cycle_s;
	double		period_rows = rows_per_second * choice->period_s;
	double		active_rows = Min(period_rows * (1 + floor(order.rows / cycle_rows)),
								  order.rows + period_rows);
	double		missing;
	KeyCost		cost;

	order.period_rows = period_rows;
	order.prefixes = pow(256, choice->prefix_bytes);

	/*
	 * In the middle of a period and of the cycle.  If the table is younger,
	 * nine tenths of its rows come after the prefixes have begun again, as
	 * most rows of a table do.
	 */
	order.rows_in_cycle = period_rows *
		(floor(Min(0.9 * order.rows / period_rows, order.prefixes / 2)) + 0.5);
	cost = short_comb_cost(UUID_LEN, order, inserts);

	choice->wal_bytes = (cost.image_bytes + cost.record_bytes) / inserts;
	choice->leaf_density = cost.leaf_density;
	choice->index_bytes = cost.index_bytes;
	choice->active_bytes = BLCKSZ *
		ceil(active_rows / order.run_length / (shape.capacity * LEAF_MEAN_FILL));
	missing = 1 - cache * CACHE_SHARE / choice->active_bytes;
	choice->cost = choice->wal_bytes +
		SIZE_WEIGHT * cost.index_bytes / Max(order.rows, 1) +
		Max(missing, 0) * BLCKSZ / order.run_length;
}

static int
compare_choices(const void *one, const void *other)
{
	const Choice *a = one;
	const Choice *b = other;

	return (a->cost > b->cost) - (a->cost < b->cost);
}

/*
 * Move the recommended choice to the front of those sorted by cost.  Prefix
 * bytes reveal the creation time to those who know it up to a cycle.
 * Therefore, it is one with the fewest of them that does not cost much more
 * than the best one; and the defaults, if they have as few and are about as good.
 */
static void
recommend(Choice *choices, int count)
{
	int			best = 0;
	Choice		choice;

	for (int i = 1; i < count && choices[i].cost <= choices[0].cost * COST_MARGIN; i++)
	{
		if (choices[i].prefix_bytes < choices[best].prefix_bytes)
			best = i;
	}
	for (int i = best + 1; i < count && choices[i].cost <= choices[best].cost * DEFAULT_MARGIN; i++)
	{
		if (choices[i].period_s * MS_PER_SECOND == short_prefix_default().period_ms &&
			choices[i].prefix_bytes == DEFAULT_PREFIX_BYTES &&
			choices[best].prefix_bytes == DEFAULT_PREFIX_BYTES)
			best = i;
	}
	choice = choices[best];
	memmove(choices + 1, choices, best * sizeof(Choice));
	choices[0] = choice;
}

/* Fill in the choices, the recommended one first; return their number. */
static int
find_choices(Choice *choices, KeyOrder order, double rows_per_second,
			 double checkpoint_s, double cache, double tolerance_s)
{
	int			count = 0;

	order.varies = true;
	order.simulated_leaves = SIMULATED_LEAVES_OF_CHOICE;
	for (int i = 0; i < (int) CHOICES; i++)
	{
		Choice	   *choice = &choices[count];
		double		accepted_periods;

		choice->period_s = periods_s[i / lengthof(prefix_sizes)];
		choice->prefix_bytes = prefix_sizes[i % lengthof(prefix_sizes)];
		choice->cycle_s = (int64) choice->period_s << (BITS_PER_BYTE * choice->prefix_bytes);
		accepted_periods = ceil(2 * tolerance_s / choice->period_s) + 1;
		if (accepted_periods > ACCEPTED_SHARE * pow(256, choice->prefix_bytes))
			continue;
		set_costs(choice, order, rows_per_second, checkpoint_s, cache);
		if (count > 0 && choice->period_s == choices[count - 1].period_s &&
			choice->cost > choices[count - 1].cost * (1 - LEAST_SAVING))
			continue;
		count++;
	}
	qsort(choices, count, sizeof(Choice), compare_choices);
	recommend(choices, count);
	return count;
}

/* The recommended choice with the server's settings. */
KeyCostAdvice
key_cost_advice(double index_rows, double rows_per_second)
{
	KeyOrder	order = {.rows = index_rows, .run_length = 1};
	Choice		choices[CHOICES];
	KeyCostAdvice advice;

	find_choices(choices, order, rows_per_second, CheckPointTimeout,
				 (double) NBuffers * BLCKSZ, DEFAULT_TOLERANCE_S);
	advice.period_s = choices[0].period_s;
	advice.prefix_bytes = choices[0].prefix_bytes;
	advice.index_bytes = choices[0].index_bytes;
	return advice;
}

static Datum
interval_of_seconds(int64 seconds)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->day = seconds / SECS_PER_DAY;
	interval->time = seconds % SECS_PER_DAY * USECS_PER_SEC;
	return IntervalPGetDatum(interval);
}

/*
 * advise_short_comb(rows_per_second float8, index_rows bigint, cache bigint,
 *					 checkpoint interval, tolerance interval, run_length int,
 *					 OUT recommended boolean, OUT period interval,
 *					 OUT prefix_bytes int, OUT cycle interval,
 *					 OUT wal_bytes_per_row float8, OUT leaf_density float8,
 *					 OUT index_bytes bigint, OUT active_bytes bigint)
 *
 * Arguments for short_comb() and what they cost, the recommended ones first.
 * Those with which a check by the tolerance would accept too many keys of other
 * times are left out.  By default, the cache and the checkpoint interval are
 * those of the server's settings.
 */
PG_FUNCTION_INFO_V1(idgen_advise_short_comb);
Datum
idgen_advise_short_comb(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	KeyOrder	order = {.run_length = 1};
	double		rows_per_second;
	double		cache;
	double		checkpoint_s;
	double		tolerance_s;
	Choice		choices[CHOICES];
	int			count;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();

	rows_per_second = require_between(PG_GETARG_FLOAT8(0), 1e-6, 1e9, "rows_per_second");
	order.rows = require_between(PG_GETARG_INT64(1), 0, MAX_ROWS, "index_rows");
	cache = PG_ARGISNULL(2) ? (double) NBuffers * BLCKSZ :
		require_between(PG_GETARG_INT64(2), 0, 1e18, "cache");
	checkpoint_s = PG_ARGISNULL(3) ? CheckPointTimeout :
		require_between(clock_interval_us(PG_GETARG_INTERVAL_P(3), "checkpoint") /
						(double) USECS_PER_SEC, 1, SECS_PER_YEAR, "checkpoint in seconds");
	tolerance_s = PG_ARGISNULL(4) ? DEFAULT_TOLERANCE_S :
		require_between(clock_interval_us(PG_GETARG_INTERVAL_P(4), "tolerance") /
						(double) USECS_PER_SEC, 0, SECS_PER_YEAR, "tolerance in seconds");
	if (!PG_ARGISNULL(5))
		order.run_length = require_between(PG_GETARG_INT32(5), 1, PG_INT32_MAX, "run_length");

	count = find_choices(choices, order, rows_per_second, checkpoint_s, cache, tolerance_s);
	for (int i = 0; i < count; i++)
	{
		Choice	   *choice = &choices[i];
		Datum		values[8];
		bool		nulls[8] = {false};

		values[0] = BoolGetDatum(i == 0);
		values[1] = interval_of_seconds(choice->period_s);
		values[2] = Int32GetDatum(choice->prefix_bytes);
		values[3] = interval_of_seconds(choice->cycle_s);
		values[4] = Float8GetDatum(choice->wal_bytes);
		values[5] = Float8GetDatum(choice->leaf_density);
		values[6] = Int64GetDatum((int64) choice->index_bytes);
		values[7] = Int64GetDatum((int64) choice->active_bytes);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	PG_RETURN_NULL();
}
