/*
 * newest_rows.c
 *	  The leaf pages of a table's newest rows, from which the report infers
 *	  where new rows are inserted, and how many pages they change.
 *
 * The newest rows are those that the youngest transactions have inserted.
 * They are searched for at the end of the table and on blocks sampled from the
 * rest of the table, where new rows may have filled the space of deleted rows.
 * A row version that was created by an UPDATE is not a new row.
 *
 * Pages are copied and read without a snapshot, and therefore without
 * predicate locks.  Whether a row is visible does not matter, because an
 * inserted row has changed its leaf page even if it was later deleted or
 * rolled back.  The leaf page of a row is found by a descent through copies of
 * the internal pages.
 *
 * The number of pages read is limited.  If the limit is reached, the oldest
 * of the newest rows are not located.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "executor/spi.h"
#include "miscadmin.h"

#include "advisor.h"

/*
 * Maximum and minimum number of blocks read at the end of the table, and
 * number of blocks sampled elsewhere
 */
#define LAST_BLOCKS			300
#define LEAST_LAST_BLOCKS	32
#define SAMPLED_BLOCKS		100

/* Maximum number of newest rows that are looked up in the index */
#define NEWEST_ROWS			2000

/* Rows with a longer key are ignored. */
#define MAX_READ_KEY_BYTES	2000

/* No placement is determined for a table with fewer rows, or with fewer newest rows. */
#define LEAST_TABLE_ROWS	1000
#define LEAST_ROWS			100

/* At most 1/SHARE_OF_ROWS of all rows, but at least LEAST_ROWS, are considered newest rows. */
#define SHARE_OF_ROWS		10

/* Number of bits for each offset number in a path */
#define OFFSET_BITS			12

/*
 * The number of newest rows that are evaluated is at most 1/SHARE_OF_LEAVES of
 * the number of leaf pages, but at least LEAST_ROWS.  A larger number would
 * hardly change the result for random keys.
 */
#define SHARE_OF_LEAVES		2

/* Limits between the placements, used by place() */
#define ORDERED_CORRELATION	0.9
#define ORDERED_LEAVES		2
#define LOCAL_SHARE			0.4
#define SCATTERED_SHARE		0.8

/*
 * If the newest rows are on at most this many leaf pages, their order within
 * the pages is read, too.
 */
#define FEW_LEAVES			20

/* The number of newest rows whose leaf pages are read to measure images. */
#define MEASURED_ROWS		100

/*
 * If more than this share of the newest rows is on sampled blocks, new rows
 * are assumed to fill the space of deleted rows.
 */
#define FILLING_SHARE		0.1

/* A row that was inserted. */
typedef struct NewRow
{
	IndexTuple	item;			/* its index tuple, without included columns */
	uint32		age;			/* of the inserting transaction */
	bool		is_sampled;		/* on a block that is not at the end */
	uint64		path;			/* offsets on internal pages, from the root
								 * down */
	OffsetNumber offset;		/* on the leaf page, or 0 */
	BlockNumber leaf;
} NewRow;

typedef struct NewRows
{
	NewRow	   *rows;
	int			count;
	double		per_sampled;	/* rows that a sampled row represents */
} NewRows;

/*
 * Return a row's index tuple.  Returns NULL if its key is long, compressed or
 * stored out of line, or if the row is not in the partial index.
 */
static IndexTuple
index_tuple_of(Relation index, Relation table, HeapTuple row)
{
	TupleDesc	columns = RelationGetDescr(index);
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		isnull[INDEX_MAX_KEYS] = {0};
	Size		key_bytes = 0;
	IndexTuple	item;

	for (int i = 0; i < columns->natts; i++)
	{
		/* included columns do not affect the order */
		isnull[i] = true;
		if (i >= IndexRelationGetNumberOfKeyAttributes(index))
			continue;
		values[i] = SPI_getbinval(row, RelationGetDescr(table),
								  index->rd_index->indkey.values[i], &isnull[i]);
		if (isnull[i] || TupleDescAttr(columns, i)->attlen != -1)
			continue;
		if (VARATT_IS_EXTERNAL(DatumGetPointer(values[i])) ||
			VARATT_IS_COMPRESSED(DatumGetPointer(values[i])))
			return NULL;
		key_bytes += VARSIZE_ANY(DatumGetPointer(values[i]));
	}
	if (key_bytes > MAX_READ_KEY_BYTES || (isnull[0] && is_partial(index)))
		return NULL;
	item = index_form_tuple(columns, values, isnull);
	item->t_tid = row->t_self;
	return item;
}

/*
 * Add the inserted rows of a block.  At first, the age of a row is its
 * transaction id; find_new_rows() converts it.
 */
static void
collect_rows(Relation index, Relation table, BlockNumber block, bool is_sampled,
			 BufferAccessStrategy strategy, NewRows *rows)
{
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	HeapTupleData row;
	OffsetNumber last;

	CHECK_FOR_INTERRUPTS();
	if (!copy_page(table, block, strategy, page))
		return;
	last = PageGetMaxOffsetNumber(page);
	rows->rows = repalloc(rows->rows, (rows->count + last) * sizeof(NewRow));
	row.t_tableOid = RelationGetRelid(table);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		line = PageGetItemId(page, offset);
		IndexTuple	item;

		if (!ItemIdIsNormal(line))
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(page, line);
		row.t_len = ItemIdGetLength(line);
		ItemPointerSet(&row.t_self, block, offset);
		if (row.t_data->t_infomask & HEAP_UPDATED ||
			(item = index_tuple_of(index, table, &row)) == NULL)
			continue;
		rows->rows[rows->count++] = (NewRow)
		{
			.item = item,
				.age = HeapTupleHeaderGetRawXmin(row.t_data),
				.is_sampled = is_sampled
		};
	}
}

/* Order rows by age, youngest first; within a transaction, from the end of the table. */
static int
compare_ages(const void *one, const void *other)
{
	const NewRow *a = one;
	const NewRow *b = other;

	if (a->age != b->age)
		return a->age > b->age ? 1 : -1;
	return ItemPointerCompare(&b->item->t_tid, &a->item->t_tid);
}

/* Read rows at the end of the table and elsewhere, and sort them by age. */
static NewRows
find_new_rows(Relation index, Relation table, int limit)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	BlockNumber rest = blocks;
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	NewRows		rows = {.rows = palloc(0)};
	int			pages;
	uint32		next;

	while (rest > 0 && blocks - rest < LAST_BLOCKS &&
		   (rows.count < limit || blocks - rest < LEAST_LAST_BLOCKS))
		collect_rows(index, table, --rest, false, strategy, &rows);
	pages = Min(rest, SAMPLED_BLOCKS);
	rows.per_sampled = (double) rest / Max(pages, 1);
	for (int i = 0; i < pages; i++)
		collect_rows(index, table, (uint64) rest * i / pages, rest > SAMPLED_BLOCKS, strategy, &rows);
	FreeAccessStrategy(strategy);

	/* ages are relative to the next transaction id, which is the newest */
	next = ReadNextTransactionId();
	for (int i = 0; i < rows.count; i++)
		rows.rows[i].age = next - rows.rows[i].age;
	qsort(rows.rows, rows.count, sizeof(NewRow), compare_ages);
	return rows;
}

/* Find the leaf page that contains a row, or would contain it. */
static bool
locate(IndexPages *pages, NewRow *row)
{
	Page		page = get_page(pages, BTREE_METAPAGE);
	BTMetaPageData *meta = page ? BTPageGetMeta(page) : NULL;
	OffsetNumber offset;

	row->leaf = meta ? meta->btm_fastroot : P_NONE;
	/* if a page was split after its parent was copied, use its left half */
	for (uint32 level = meta ? meta->btm_fastlevel : 0; level > 0; level--)
	{
		page = get_page(pages, row->leaf);
		if (page == NULL || P_IGNORE(BTPageGetOpaque(page)) || BTPageGetOpaque(page)->btpo_level != level)
			return false;
		offset = find_item(pages->index, row->item, page);
		row->leaf = BTreeTupleGetDownLink((IndexTuple) PageGetItem(page, PageGetItemId(page, offset)));
		row->path = row->path << OFFSET_BITS | offset;
	}
	return row->leaf != P_NONE;
}

static int
compare_paths(const void *one, const void *other)
{
	const NewRow *a = *(NewRow *const *) one;
	const NewRow *b = *(NewRow *const *) other;

	if (a->path == b->path)
		return a->offset - b->offset;
	return a->path > b->path ? 1 : -1;
}

/* Return the given number of newest rows, sorted by their leaf pages. */
static NewRow **
sort_by_leaf(const NewRows *rows, int count)
{
	NewRow	  **sorted = palloc(sizeof(NewRow *) * count);

	for (int i = 0; i < count; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, count, sizeof(NewRow *), compare_paths);
	return sorted;
}

/*
 * Group the leaf pages of the newest rows, and return the number of groups.
 * Leaf pages that are at most the given distance apart are in the same group.
 * If the distance is 0, each leaf page is a group.
 */
static int
count_leaves(const NewRows *rows, int count, int distance)
{
	NewRow	  **sorted = sort_by_leaf(rows, count);
	int			groups = 0;

	for (int i = 0; i < count; i++)
		groups += i == 0 || sorted[i]->path > sorted[i - 1]->path + distance;
	pfree(sorted);
	return groups;
}

/*
 * Return the absolute value of the correlation between the order of the newest
 * rows in the index and their age.  Rows at the same place in the index get
 * the mean of their ranks.
 */
static double
correlation(const NewRows *rows, int count)
{
	NewRow	  **sorted = sort_by_leaf(rows, count);
	double		mean = (count - 1) / 2.0;
	double		sum = 0;
	double		square_rank = 0;
	double		square_age = 0;

	for (int i = 0, n; i < count; i += n)
	{
		double		rank;

		for (n = 1; i + n < count && compare_paths(&sorted[i + n], &sorted[i]) == 0; n++)
			;
		rank = i + (n - 1) / 2.0 - mean;
		for (int k = i; k < i + n; k++)
		{
			double		age = (sorted[k] - rows->rows) - mean;

			sum += rank * age;
			square_rank += rank * rank;
			square_age += age * age;
		}
	}
	pfree(sorted);
	return square_rank > 0 ? fabs(sum) / sqrt(square_rank * square_age) : NAN;
}

/*
 * Determine the mean size of the images of the newest rows' leaf pages, and
 * whether all of these pages are split in half.  In an index on a single
 * column, all leaf pages except the last are split in half.
 */
static void
measure_leaves(const NewRows *rows, IndexPages *pages, NewestRows *newest)
{
	int			count = Min(newest->located, MEASURED_ROWS);
	NewRow	  **sorted = sort_by_leaf(rows, count);
	double		read = 0;
	double		bytes = 0;

	newest->splits_in_middle = pages->index->rd_index->indnkeyatts == 1;
	for (int i = 0; i < count; i++)
	{
		Page		page;

		/* a page has one image, even if several rows are inserted into it */
		if (i > 0 && sorted[i]->leaf == sorted[i - 1]->leaf)
			continue;
		page = get_leaf(pages, sorted[i]->leaf);
		if (page == NULL)
			continue;
		read++;
		bytes += BLCKSZ - (((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower);
		if (P_RIGHTMOST(BTPageGetOpaque(page)))
			newest->splits_in_middle = false;
	}
	pfree(sorted);
	newest->image_bytes = bytes / read;
}

/*
 * Determine the placement of the newest rows.  If they were at random places,
 * n rows would be on a fraction 1 - exp(-n / leaf_pages) of all leaf pages.
 * The placement depends on the number of their leaf pages, relative to that
 * expectation, and on whether the leaf pages ascend or descend with the age of
 * the rows.  Keys that ascend between older keys are on more leaf pages than
 * they fill, and their placement is not considered ordered.
 */
static Placement
place(const NewRows *rows, int count, int leaf_pages, const LeafSample *sample,
	  IndexPages *pages)
{
	double		share = leaf_pages / distinct_pages(sample->leaf_pages, count);
	int			all_leaves = count_leaves(rows, rows->count, 0);
	double		all = 0;
	int			sampled = 0;

	for (int i = 0; i < count; i++)
	{
		NewRow	   *row = &rows->rows[i];
		Page		page = leaf_pages <= FEW_LEAVES ? get_leaf(pages, row->leaf) : NULL;

		if (page != NULL)
			row->offset = find_item(pages->index, row->item, page);
		sampled += row->is_sampled;
	}

	for (int i = 0; i < rows->count; i++)
		all += rows->rows[i].is_sampled ? rows->per_sampled : 1;

	/*
	 * If keys ascend in many places, "count" rows may be too few.  All
	 * located rows are more likely than these to include several rows of each
	 * place, and to reveal that the places are in no particular order.
	 */
	share = Min(share, all_leaves / distinct_pages(sample->leaf_pages, rows->count));
	if (correlation(rows, count) >= ORDERED_CORRELATION ||
		correlation(rows, rows->count) >= ORDERED_CORRELATION)
	{
		if (share >= SCATTERED_SHARE)
			return PLACEMENT_UNKNOWN;
		if (all_leaves <= ORDERED_LEAVES * all * sample->leaf_pages / sample->rows + 2)
			return PLACEMENT_ORDERED;
	}
	if (share >= SCATTERED_SHARE)
		return PLACEMENT_SCATTERED;
	/* sampled rows are on more leaf pages per row than all new rows */
	if (sampled > FILLING_SHARE * count)
		return PLACEMENT_UNKNOWN;
	return share < LOCAL_SHARE ? PLACEMENT_LOCAL : PLACEMENT_MIXED;
}

/*
 * Return the expected number of full-page images for the rows of a checkpoint
 * interval.  A leaf page that was created by a split needs no image, but a
 * split also changes the parent page and the next leaf page.  In a fraction
 * groups / leaves of the splits, the next leaf page is outside the group and
 * needs another image.  If more rows are inserted than were located, the
 * number of leaf pages is extrapolated by a power law.  Its exponent is
 * derived from the numbers for half of the located rows and for all of them.
 */
static double
expected_images(const NewRows *rows, const NewestRows *newest, const LeafSample *sample,
				double inserts)
{
	double		of_random = distinct_pages(sample->leaf_pages, inserts);
	int			count = Min(rows->count, inserts);
	double		splits = count * sample->leaf_pages / sample->rows;
	double		leaves;
	double		power;

	if (newest->placement == PLACEMENT_SCATTERED)
		return of_random;
	if (newest->placement == PLACEMENT_ORDERED)
		return 1 + Min(inserts * sample->leaf_pages / sample->rows, 1) *
			(newest->splits_in_middle ? 2 : 1);
	if (newest->placement == PLACEMENT_UNKNOWN)
		return NAN;

	leaves = count_leaves(rows, count, 0);
	power = log2(leaves / Max(count_leaves(rows, count / 2, 0), 1));
	leaves = Max(leaves - splits, 1) + splits * count_leaves(rows, count, 1) / leaves +
		Min(splits, 2);
	return Min(leaves * pow(inserts / count, Min(power, 1)), of_random);
}

/*
 * Find the leaf pages of the newest rows and evaluate them.  Expressions and
 * predicates must not be evaluated.  Therefore, no rows are located for an
 * index that has any, except for the predicate that omits_nulls() accepts.
 */
NewestRows
read_newest_rows(Relation index, Relation table, const LeafSample *sample,
				 double rows_per_checkpoint)
{
	NewestRows	newest = {.images = NAN,.image_bytes = NAN};
	IndexPages	pages = {.index = index};
	NewRows		rows;
	int			located = 0;
	int			limit;

	if (!(sample->rows >= LEAST_TABLE_ROWS) || !is_compared_safely(index) ||
		table->rd_rel->relam != HEAP_TABLE_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) ||
		(is_partial(index) && !omits_nulls(index)))
		return newest;

	/*
	 * If the newest rows were a large part of all rows, even ordered rows
	 * would be on most leaf pages.
	 */
	limit = Min(NEWEST_ROWS, Max(LEAST_ROWS, sample->rows / SHARE_OF_ROWS));
	rows = find_new_rows(index, table, limit);
	/* keep only located rows, and leave pages for measure_leaves() to read */
	for (int i = 0; i < rows.count && located < limit && pages.count < INDEX_PAGES - MEASURED_ROWS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (locate(&pages, &rows.rows[i]))
			rows.rows[located++] = rows.rows[i];
	}
	rows.count = located;

	newest.located = Min(located, Max(LEAST_ROWS, sample->leaf_pages / SHARE_OF_LEAVES));
	newest.leaf_pages = count_leaves(&rows, newest.located, 0);
	if (newest.located < LEAST_ROWS)
		return newest;
	newest.placement = place(&rows, newest.located, newest.leaf_pages, sample, &pages);
	measure_leaves(&rows, &pages, &newest);
	if (rows_per_checkpoint >= 1)
		newest.images = expected_images(&rows, &newest, sample, rows_per_checkpoint);
	return newest;
}
