/*
 * key_cost.c
 *	  A model of the amount of WAL that an insert writes for an index with keys
 *	  of a given kind.
 *
 * The model counts the pages whose first change after a checkpoint writes a
 * full-page image.  docs/performance.md explains the model, and t/003_zoo.pl
 * compares it with measurements.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "advisor.h"

/*
 * Sizes of the WAL records of an insert (without its tuple) and of a split
 * (without the tuples that it moves)
 */
#define INSERT_BYTES		48
#define SPLIT_BYTES			104

/* Length of a run of keyed_comb(), and number of keys in a twelfth before the first run */
#define RUN_KEYS			8192

typedef enum KeyKind
{
	KIND_RANDOM,
	KIND_ORDERED,
	KIND_SHORT_COMB,
	KIND_KEYED_COMB
} KeyKind;

static const char *const kind_names[] = {"random", "ordered", "short_comb", "keyed_comb"};

typedef struct KeyModel
{
	/* the arguments */
	KeyKind		kind;
	double		rows;			/* at the checkpoint */
	double		inserts;		/* until the next checkpoint */
	double		period_rows;	/* in a period of a COMB */
	double		prefixes;		/* in a cycle of a short COMB */
	double		rows_in_cycle;
	double		tuple_bytes;
	double		item_bytes;		/* with the line pointer */
	double		capacity;		/* tuples in a full leaf, without a high key */

	/* the index */
	double		older_rows;		/* with one prefix, from previous cycles */
	double		near_rows;		/* the first new rows fall among these */
	bool		at_end;			/* are the new keys the greatest? */
	double		kept;			/* fill of a leaf after splits, 0 to 1 */
	double		moved;			/* fraction of its rows that a split moves */
	double		leaves;
	double		leaf_rows;
	double		pages;			/* without the metapage */
} KeyModel;

#define INT_ARGUMENT(n, standard)	(PG_ARGISNULL(n) ? (standard) : PG_GETARG_INT32(n))

/* Return the value.  Raises 22023 if it is out of range. */
static double
in_range(const char *name, double value, double low, double high)
{
	if (!(value >= low && value <= high))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between %s and %s", name,
						float8out_internal(low), float8out_internal(high)),
				 errdetail("The value is %s.", float8out_internal(value))));
	return value;
}

static KeyKind
kind_argument(const char *name)
{
	for (int kind = 0; kind < (int) lengthof(kind_names); kind++)
		if (strcmp(name, kind_names[kind]) == 0)
			return kind;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("kind \"%.*s\" does not exist", pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1), name),
			 errhint("The kinds are random, ordered, short_comb and keyed_comb.")));
}

/* Read the arguments that apply only to COMBs with periods. */
static void
read_period(FunctionCallInfo fcinfo, KeyModel *model)
{
	double		cycle_rows;

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("rows_per_period must not be null for a COMB with periods")));
	model->period_rows = in_range("rows_per_period", PG_GETARG_FLOAT8(3), 1e-6, MAX_ROWS);
	if (model->kind != KIND_SHORT_COMB)
		return;
	model->prefixes = pow(256, in_range("prefix_bytes", INT_ARGUMENT(4, 2), 1, 6));
	cycle_rows = model->period_rows * model->prefixes;
	model->rows_in_cycle = in_range("rows_in_cycle",
									PG_ARGISNULL(6) ? cycle_rows / 2 : PG_GETARG_FLOAT8(6), 0, cycle_rows);
}

static KeyModel
read_arguments(FunctionCallInfo fcinfo)
{
	KeyModel	model = {.kind = kind_argument(text_to_cstring(PG_GETARG_TEXT_PP(0)))};
	int			key_bytes;

	model.rows = in_range("index_rows", PG_GETARG_FLOAT8(1), 0, MAX_ROWS);
	model.inserts = in_range("rows_per_checkpoint", PG_GETARG_FLOAT8(2), 1, MAX_ROWS);
	key_bytes = in_range("key_bytes", INT_ARGUMENT(5, 16), 1, 1024);
	if (model.kind == KIND_SHORT_COMB || model.kind == KIND_KEYED_COMB)
		read_period(fcinfo, &model);
	if (model.rows < 1)
		model.rows = 0;

	model.tuple_bytes = sizeof(IndexTupleData) + MAXALIGN(key_bytes);
	model.item_bytes = model.tuple_bytes + sizeof(ItemIdData);
	model.capacity = Max(floor(LEAF_BYTES / model.item_bytes) - 1, 2);
	return model;
}

/*
 * Return the fraction of the leaves' space that is filled.  Leaves of random
 * keys, and of prefixes with many rows, are ln(2) full on average.  Keys in
 * ascending order fill leaves up to the fillfactor at the end of the index,
 * and half of each leaf elsewhere.  The same is true of prefixes with fewer
 * rows than half a leaf.  If a twelfth of a period has fewer rows than a leaf,
 * the leaves of keyed COMBs are up to a tenth emptier than those of random
 * keys (measured).
 */
static double
filled_part(const KeyModel *model, bool ascends)
{
	double		at_end = BTREE_DEFAULT_FILLFACTOR / 100.0;
	double		distance;

	/* fraction of the rows that come before those of older cycles */
	double		before = Min(model->rows_in_cycle / model->rows, 1);

	if (model->kind == KIND_KEYED_COMB)
	{
		distance = (log(model->period_rows / 12 / model->capacity) + 0.9) / 2.2;
		return M_LN2 - 0.07 * exp(-distance * distance);
	}
	if (!ascends)
		return M_LN2;
	return model->at_end ? at_end : 1 / (before / 0.5 + (1 - before) / at_end);
}

/* Compute the numbers of leaves and pages, and the fractions that a split keeps and moves. */
static void
fill_leaves(KeyModel *model)
{
	bool		ascends = model->kind == KIND_ORDERED;
	double		level;

	model->at_end = ascends;
	if (model->kind == KIND_SHORT_COMB)
	{
		model->at_end = model->rows_in_cycle >= model->rows;
		model->older_rows = floor(model->rows / model->period_rows / model->prefixes) * model->period_rows;
		ascends = model->period_rows + model->older_rows < model->capacity / 2;
	}
	model->kept = !ascends ? M_LN2 : model->at_end ? BTREE_DEFAULT_FILLFACTOR / 100.0 : 0.5;
	model->moved = ascends ? 1 - model->kept : 0.5;

	if (model->rows > model->capacity + 1)	/* the last leaf has no high key */
		model->leaves = Max(model->rows / model->capacity / filled_part(model, ascends), 2);
	else
		model->leaves = model->rows > 0 ? 1 : 0;
	model->leaf_rows = model->leaves > 0 ? model->rows / model->leaves : 1;
	model->pages = ceil(model->leaves);
	level = model->leaves;
	while (level > 1)
	{
		level = ceil(level / Max(model->leaf_rows, 2));
		model->pages += level;
	}
}

/* Return the expected number of distinct pages that changes at random places affect. */
double
distinct_pages(double pages, double changes)
{
	return pages > 0 ? -expm1(-changes / pages) * pages : 0;
}

/*
 * Return the expected number of images.  Of the new rows, near_inserts rows
 * are inserted among near_rows; the first of these is not counted.  The other
 * new rows are inserted among later_rows.  A row that becomes the last row of
 * a leaf also changes the next leaf and the parent page.
 */
static double
images_among(const KeyModel *model, double near_inserts, double later_rows)
{
	double		near_leaves = model->near_rows / model->leaf_rows;
	double		later_leaves = later_rows / model->leaf_rows;
	double		last_ones = Min(1 / model->leaf_rows, 1);

	return distinct_pages(near_leaves, Max(near_inserts - 1, 0) * (1 + last_ones)) +
		distinct_pages(later_leaves, (model->inserts - near_inserts) * (1 + last_ones)) +
		distinct_pages((near_leaves + later_leaves) / model->leaf_rows, model->inserts * last_ones);
}

/*
 * The keys of a period are inserted among older keys with the same prefix.
 * These are the keys of the period that were inserted before the checkpoint,
 * except for those on the last leaf, and the keys of previous cycles.
 */
static double
short_comb_images(KeyModel *model)
{
	double		in_period = fmod(model->rows_in_cycle, model->period_rows);
	double		near_inserts = Min(model->inserts, model->period_rows - in_period);
	double		later_rows = model->older_rows * (model->inserts - near_inserts) / model->period_rows;

	model->near_rows = Min(Max(in_period - model->leaf_rows / 2, 0) + model->older_rows, model->rows);
	return images_among(model, near_inserts, Min(later_rows, model->rows));
}

/*
 * The model assumes that, at the checkpoint, the present twelfth of a period
 * has half of its rows, or half a run.  Each of the other twelfths begins on a
 * random leaf of its period, and half of the rows of the period are older than
 * the checkpoint.  Each period begins on a random leaf of the index.
 */
static double
keyed_comb_images(const KeyModel *model)
{
	double		period_rows = model->period_rows;
	double		twelfth_rows = period_rows / 12;
	double		period_leaves = Min(period_rows / 2, model->rows) / model->leaf_rows;
	double		other_leaves = Max(period_leaves - 0.5, 0);
	double		in_period = model->inserts < period_rows ?
		model->inserts * (1 - model->inserts / period_rows / 2) : period_rows / 2;
	double		others = other_leaves > 0 ? in_period / twelfth_rows * other_leaves / period_leaves : 0;

	return distinct_pages(Min(Min(twelfth_rows, RUN_KEYS) / 2, model->rows) / model->leaf_rows,
						  Max(Min(model->inserts, twelfth_rows / 2) - 1, 0)) +
		distinct_pages(other_leaves, others) + distinct_pages(model->leaves, model->inserts / period_rows);
}

/*
 * Return the expected number of images for the rows between two checkpoints.
 * The first split changes the parent page and the next leaf.  In each period
 * of a keyed COMB, one of these two pages already has an image in half of the
 * cases.  Pages that were created after the checkpoint need no image.
 */
static double
images_of(KeyModel *model)
{
	double		splits = model->inserts / (model->kept * model->capacity);
	double		images = 1 + Min(splits, 1) * (model->at_end ? 1 : 2);

	if (model->kind == KIND_RANDOM)
	{
		model->near_rows = model->rows - model->leaf_rows;
		images += images_among(model, model->inserts, 0);
	}
	else if (model->kind == KIND_SHORT_COMB)
		images += short_comb_images(model);
	else if (model->kind == KIND_KEYED_COMB)
		images = 1 + Min(splits, 1 + model->inserts / model->period_rows) * 1.5 + keyed_comb_images(model);
	return Min(images, model->pages);
}

/*
 * expected_key_cost(kind text, index_rows float8, rows_per_checkpoint float8,
 *					 rows_per_period float8, prefix_bytes int, key_bytes int,
 *					 rows_in_cycle float8, OUT ...)
 */
PG_FUNCTION_INFO_V1(idgen_expected_key_cost);
Datum
idgen_expected_key_cost(PG_FUNCTION_ARGS)
{
	KeyModel	model;
	double		images;
	double		share;
	TupleDesc	columns;
	Datum		values[5];
	bool		nulls[lengthof(values)] = {false};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	model = read_arguments(fcinfo);
	fill_leaves(&model);
	images = images_of(&model) / model.inserts;

	/*
	 * If pages are split at random, an insert finds its leaf 0.5 / ln(2) full
	 * on average.  The last leaf is half full on average.
	 */
	share = model.at_end && model.near_rows < model.leaf_rows ? 0.5 : 0.5 / M_LN2;
	values[0] = Float8GetDatum(images);
	values[1] = Float8GetDatum(images * (BLCKSZ - LEAF_BYTES +
										 (1 + Min(model.capacity * share, model.rows)) * model.item_bytes));
	values[2] = Float8GetDatum(INSERT_BYTES + model.tuple_bytes +
							   (SPLIT_BYTES / model.capacity + model.moved * model.tuple_bytes) / model.kept);
	/* all leaves but the last have a high key */
	values[3] = Float8GetDatum(model.leaves > 0 ?
							   (model.rows + model.leaves - 1) / model.leaves * model.item_bytes / LEAF_BYTES : 0);
	values[4] = Int64GetDatum((int64) rint((1 + model.pages) * BLCKSZ));
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}
