/*-------------------------------------------------------------------------
 *
 * newest_rows.c
 *	  The leaf pages that the newest rows of a table are on.
 *
 * The newest rows are those with the youngest inserting transactions among the
 * rows at the end of the table and on blocks sampled from the rest, where rows
 * may have filled the room of deleted ones.  A version that an UPDATE made is
 * no new row.
 *
 * Pages are copied and read without a snapshot, so that there are no predicate
 * locks: it does not matter whether a row is visible, since an inserted row
 * changed its leaf page even if it was deleted or rolled back.  The leaf page of
 * a row is found in copies of the inner pages above it.
 *
 * The number of pages read is limited.  If the limit is reached, fewer rows are
 * located, beginning with the newest.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "advisor.h"

/* The blocks of the table that are read: at its end, and elsewhere. */
#define LAST_BLOCKS			300
#define LEAST_LAST_BLOCKS	32
#define SAMPLED_BLOCKS		100

/* The pages of the index that are read. */
#define INDEX_PAGES			500

/* Rows with a longer key are ignored. */
#define MAX_READ_KEY_BYTES	2000

/* In fewer rows, no placement is determined. */
#define LEAST_TABLE_ROWS	1000

/* The part of the rows that the newest rows may be. */
#define SHARE_OF_ROWS		10

/* The bits of an offset number in a path. */
#define OFFSET_BITS			12

/* Copies of index pages. */
struct IndexPages
{
	Relation	index;
	int			count;
	BlockNumber blocks[INDEX_PAGES];
	Page		pages[INDEX_PAGES]; /* NULL if it was never used */
};

static inline uint64
position_of(IndexTuple item)
{
	return (uint64) ItemPointerGetBlockNumber(&item->t_tid) << 16 |
		ItemPointerGetOffsetNumber(&item->t_tid);
}

/* ------------------------------------------------------------------------
 * Rows of the table
 * ------------------------------------------------------------------------
 */

/* The index tuple of a row, or NULL if its key is long or stored elsewhere. */
static IndexTuple
index_tuple_of(Relation index, Relation table, HeapTuple row)
{
	TupleDesc	columns = RelationGetDescr(index);
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		isnull[INDEX_MAX_KEYS];
	Size		key_bytes = 0;
	IndexTuple	item;

	for (int i = 0; i < columns->natts; i++)
	{
		/* included columns do not affect the order */
		isnull[i] = true;
		if (i >= IndexRelationGetNumberOfKeyAttributes(index))
			continue;
		values[i] = heap_getattr(row, index->rd_index->indkey.values[i],
								 RelationGetDescr(table), &isnull[i]);
		if (isnull[i] || TupleDescAttr(columns, i)->attlen != -1)
			continue;
		if (VARATT_IS_EXTERNAL(DatumGetPointer(values[i])) ||
			VARATT_IS_COMPRESSED(DatumGetPointer(values[i])))
			return NULL;
		key_bytes += VARSIZE_ANY(DatumGetPointer(values[i]));
	}
	if (key_bytes > MAX_READ_KEY_BYTES)
		return NULL;
	item = index_form_tuple(columns, values, isnull);
	item->t_tid = row->t_self;
	return item;
}

/* Add the inserted rows of a block; their ages are transaction ids until all are read. */
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

		if (rows->count == rows->allocated)
		{
			rows->allocated *= 2;
			rows->rows = repalloc(rows->rows, rows->allocated * sizeof(NewRow));
		}
		rows->rows[rows->count++] = (NewRow) {
			.item = item,
			.age = HeapTupleHeaderGetRawXmin(row.t_data),
			.is_sampled = is_sampled};
	}
}

/* The youngest first; rows of the same transaction from the end of the table. */
static int
compare_ages(const void *one, const void *other)
{
	const NewRow *a = one;
	const NewRow *b = other;
	uint64		position_a = position_of(a->item);
	uint64		position_b = position_of(b->item);

	if (a->age != b->age)
		return (a->age > b->age) - (a->age < b->age);
	return (position_a < position_b) - (position_a > position_b);
}

/* Read rows at the end of the table and elsewhere, and sort them by age. */
static NewRows
find_new_rows(Relation index, Relation table, int limit)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	BlockNumber rest = blocks;
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	NewRows		rows = {.allocated = 1024};
	int			pages;
	uint32		next;

	rows.rows = palloc(rows.allocated * sizeof(NewRow));
	while (rest > 0 && blocks - rest < LAST_BLOCKS &&
		   (rows.count < limit || blocks - rest < LEAST_LAST_BLOCKS))
		collect_rows(index, table, --rest, false, strategy, &rows);
	pages = Min(rest, SAMPLED_BLOCKS);
	for (int i = 0; i < pages; i++)
		collect_rows(index, table, (BlockNumber) ((double) rest * i / pages), rest > SAMPLED_BLOCKS, strategy, &rows);
	FreeAccessStrategy(strategy);

	/* all rows are older than the transaction that would begin now */
	next = ReadNextTransactionId();
	for (int i = 0; i < rows.count; i++)
		rows.rows[i].age = next - rows.rows[i].age;
	qsort(rows.rows, rows.count, sizeof(NewRow), compare_ages);
	return rows;
}

/* ------------------------------------------------------------------------
 * Their leaf pages
 * ------------------------------------------------------------------------
 */

/* A copy of a page; NULL if it was never used, or no more may be read. */
Page
get_page(IndexPages *pages, BlockNumber block)
{
	int			i = 0;

	while (i < pages->count && pages->blocks[i] != block)
		i++;
	if (i == INDEX_PAGES)
		return NULL;
	if (i == pages->count)
	{
		CHECK_FOR_INTERRUPTS();
		pages->blocks[i] = block;
		pages->pages[i] = palloc(BLCKSZ);
		if (!copy_page(pages->index, block, NULL, pages->pages[i]))
			pages->pages[i] = NULL;
		pages->count++;
	}
	return pages->pages[i];
}

/* The last item of an inner page that is less than a key; the first one is. */
static OffsetNumber
find_downlink(Relation index, BTScanInsert key, Page page)
{
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = PageGetMaxOffsetNumber(page);

	while (low < high)
	{
		OffsetNumber middle = low + (high - low + 1) / 2;

		if (_bt_compare(index, key, page, middle) > 0)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Find the leaf page of a row.  A partial index may not contain the row; since
 * its predicate must not be evaluated, such a row counts where it would be.
 */
static bool
locate(IndexPages *pages, NewRow *row)
{
	Relation	index = pages->index;
	BTScanInsert key = _bt_mkscankey(index, row->item);
	Page		page = get_page(pages, BTREE_METAPAGE);
	BTMetaPageData *meta = page ? BTPageGetMeta(page) : NULL;

	if (key->heapkeyspace)
		key->scantid = &row->item->t_tid;
	row->path = 0;
	row->offset = 0;
	row->leaf = meta ? meta->btm_fastroot : P_NONE;
	/* after a split since its parent was copied, the left page counts */
	for (uint32 level = meta ? meta->btm_fastlevel : 0; level > 0; level--)
	{
		OffsetNumber offset;

		page = get_page(pages, row->leaf);
		if (page == NULL || P_ISLEAF(BTPageGetOpaque(page)) || P_IGNORE(BTPageGetOpaque(page)))
			return false;
		offset = find_downlink(index, key, page);
		row->leaf = BTreeTupleGetDownLink((IndexTuple) PageGetItem(page, PageGetItemId(page, offset)));
		row->path = row->path << OFFSET_BITS | offset;
	}
	pfree(key);
	return row->leaf != P_NONE;
}

/* Keep those of the newest rows whose leaf pages were found. */
static void
locate_rows(NewRows *rows, int limit, IndexPages *pages)
{
	int			located = 0;

	for (int i = 0; i < rows->count && located < limit && pages->count < INDEX_PAGES; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (locate(pages, &rows->rows[i]))
			rows->rows[located++] = rows->rows[i];
	}
	rows->count = located;
}

/* Set the places of the newest rows on their leaf pages. */
void
find_offsets(const NewRows *rows, int count, IndexPages *pages)
{
	for (int i = 0; i < count; i++)
	{
		NewRow	   *row = &rows->rows[i];
		Page		page = get_page(pages, row->leaf);
		BTScanInsert key = _bt_mkscankey(pages->index, row->item);

		if (key->heapkeyspace)
			key->scantid = &row->item->t_tid;
		if (page != NULL && P_FIRSTDATAKEY(BTPageGetOpaque(page)) <= PageGetMaxOffsetNumber(page))
			row->offset = find_downlink(pages->index, key, page);
		pfree(key);
	}
}

/* Does only built-in code compare the values of the key columns? */
static bool
is_compared_safely(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		/* arrays, rows and ranges are compared by the functions of their elements */
		Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), i)->atttypid);

		if (index_getprocid(index, i + 1, BTORDER_PROC) >= FirstUnpinnedObjectId ||
			(type >= FirstUnpinnedObjectId && !type_is_enum(type)))
			return false;
	}
	return true;
}

/*
 * Find the leaf pages of the newest rows, at most a number of them.  Without
 * evaluating expressions, there are no newest rows of an index on one.
 */
NewestRows
read_newest_rows(Relation index, Relation table, const LeafSample *sample,
				 int limit, double rows_per_checkpoint)
{
	NewestRows	newest = {.images = NAN, .image_bytes = NAN};
	MemoryContext context;
	MemoryContext caller;
	IndexPages *pages;
	NewRows		rows;

	if (!(sample->rows >= LEAST_TABLE_ROWS) || !is_compared_safely(index) ||
		table->rd_rel->relam != HEAP_TABLE_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL))
		return newest;

	context = AllocSetContextCreate(CurrentMemoryContext, "newest rows", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	/* if they were a large part of all rows, even ordered ones were on most leaf pages */
	limit = Min(limit, Max(LEAST_ROWS, sample->rows / SHARE_OF_ROWS));
	rows = find_new_rows(index, table, limit);
	pages = palloc0(sizeof(IndexPages));
	pages->index = index;
	locate_rows(&rows, limit, pages);
	newest = describe_rows(&rows, pages, sample, rows_per_checkpoint);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return newest;
}
