/*-------------------------------------------------------------------------
 *
 * index_report.c
 *	  The kind of keys in an index, and their cost.
 *
 * The report must not disturb a server in use.  It reads some hundreds of leaf
 * pages, evenly distributed over the file, and the last blocks of the table.
 * It takes only the locks of a SELECT, locks a page while it copies it, can be
 * canceled between any two pages, and writes nothing.
 *
 * It runs no code of the index's owner as the caller.  Therefore, it compares
 * keys by built-in functions only, and reads from pg_index whether there are a
 * predicate or expressions: the relation cache would fold their constants,
 * which calls functions.
 *
 * The rows at the end of the heap are regarded as the newest.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "advisor_compat.h"
#include "clock.h"
#include "key_cost.h"
#include "key_kind.h"

PG_MODULE_MAGIC;

/* The limits of the sample; of MANY_PAGES or more, it takes every fourth key. */
#define SAMPLED_PAGES		400
#define MANY_PAGES			100
#define ROWS_PER_KEY		4

/* The number of blocks at the end of the table that are read. */
#define NEWEST_BLOCKS		2000

#define NEWEST_ROWS_DEFAULT	2000
#define NEWEST_ROWS_MAX		100000

/*
 * Rows with a longer key are ignored.  A row that a partial index does not
 * contain can have a key that is too long for an index tuple.
 */
#define MAX_READ_KEY_BYTES	2000

/* An index of at most this many pages stays in memory with any keys. */
#define FEW_LEAF_PAGES		100

/* Below this number of full-page images per row, random keys cost little. */
#define FEW_IMAGES			0.05

/* Above this number of leaf pages per row, the rows of a short COMB scatter. */
#define SCATTERED			0.2

/* Below this density in percent, REINDEX makes an index much smaller. */
#define LOW_DENSITY			50.0

/* An index that would be smaller than this share of its size is worth advice. */
#define SMALLER				0.9

/* The bytes of an index entry with its line pointer, for a UUID as text and as uuid. */
#define TEXT_ENTRY_BYTES	52
#define UUID_ENTRY_BYTES	28

/* The columns of the result. */
typedef enum ReportColumn
{
	COLUMN_KEY_KIND,
	COLUMN_PERIOD,
	COLUMN_INDEX_ROWS,
	COLUMN_LEAF_PAGES,
	COLUMN_LEAF_DENSITY,
	COLUMN_FRAGMENTATION,
	COLUMN_HEAP_CORRELATION,
	COLUMN_NEWEST_LEAF_SHARE,
	COLUMN_ROWS_PER_SECOND,
	COLUMN_ROWS_PER_CHECKPOINT,
	COLUMN_PAGE_IMAGES_PER_ROW,
	COLUMN_ADVICE,
	REPORT_COLUMNS
} ReportColumn;

/* A sampled leaf page: its place in the order of pages, and its keys. */
typedef struct SampledLeaf
{
	Datum		first_key;
	bool		first_key_is_null;
	uint64		first_position;
	int			first;			/* index of its first key in the sample */
	int			count;
} SampledLeaf;

/* The sampled pages; NAN for values that are not known. */
typedef struct IndexSample
{
	SampledLeaf *leaves;
	int			leaf_count;
	uint64	   *positions;			/* of the sampled rows, by leaf */
	int			position_count;
	KeySample	keys;			/* of the same rows, without null keys */
	int			rows_per_key;
	int64		rows_read;
	double		leaf_pages;
	double		rows;
	double		density;		/* percent */
	double		fragmentation;	/* percent */
	double		correlation;
} IndexSample;

/* The newest rows. */
typedef struct NewestRows
{
	KeySample	keys;
	int			located;		/* rows whose leaf page was found */
	int			leaf_pages;		/* number of different leaf pages */
} NewestRows;

/* Rates from the server's statistics; NAN for values that are not known. */
typedef struct Rates
{
	double		rows_per_second;
	double		rows_per_checkpoint;
} Rates;

/* ------------------------------------------------------------------------
 * The index and the rights of the caller
 * ------------------------------------------------------------------------
 */

static bool
is_partial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/*
 * The report requires SELECT on the table or on the column of the key, without
 * a policy that hides rows, or the rights of a monitoring role.
 * resolve_index() has checked the schema.
 */
static void
require_rights(Relation table, Relation index)
{
	Oid			relid = RelationGetRelid(table);
	AttrNumber	column = index->rd_index->indkey.values[0];
	AclResult	result;

	if (has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		return;

	result = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);
	if (result != ACLCHECK_OK && column != 0 && !is_partial(index))
		result = pg_attribute_aclcheck(relid, column, GetUserId(), ACL_SELECT);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, get_relkind_objtype(table->rd_rel->relkind),
					   RelationGetRelationName(table));

	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security hides rows of table \"%s\"",
						RelationGetRelationName(table)),
				 errhint("Members of pg_stat_scan_tables can report on the index.")));
}

/* Raise 42P01 for a relation that does not exist, or was dropped concurrently. */
static void
refuse_missing(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relid)));
}

/*
 * The index itself, or the primary key of a table.  The caller must have USAGE
 * on its schema.
 */
static Oid
resolve_index(Oid relid)
{
	Relation	relation = try_relation_open(relid, AccessShareLock);
	Oid			index = relid;
	char		relkind;
	AclResult	result;

	if (relation == NULL)
		refuse_missing(relid);

	result = schema_aclcheck(RelationGetNamespace(relation), GetUserId(), ACL_USAGE);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_SCHEMA,
					   get_namespace_name(RelationGetNamespace(relation)));

	relkind = relation->rd_rel->relkind;
	switch (relkind)
	{
		case RELKIND_INDEX:
			break;
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
			list_free(RelationGetIndexList(relation));
			index = relation->rd_pkindex;
			if (!OidIsValid(index))
				ereport(ERROR,
						(errcode(ERRCODE_WRONG_OBJECT_TYPE),
						 errmsg("table \"%s\" has no primary key",
								RelationGetRelationName(relation)),
						 errhint("Specify one of its indexes.")));
			break;
		case RELKIND_PARTITIONED_INDEX:
		case RELKIND_PARTITIONED_TABLE:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is partitioned", RelationGetRelationName(relation)),
					 errdetail("Each partition has an index of its own."),
					 errhint("Specify the index of a partition.")));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not an index", RelationGetRelationName(relation))));
	}

	relation_close(relation, relkind == RELKIND_INDEX ? AccessShareLock : NoLock);
	return index;
}

/*
 * Does only built-in code compare the values of an index column?  Arrays, rows
 * and ranges are compared by the functions of their elements.
 */
static bool
is_compared_safely(Relation index, int column)
{
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), column)->atttypid);
	FmgrInfo   *compare = index_getprocinfo(index, column + 1, BTORDER_PROC);

	return compare->fn_oid < FirstUnpinnedObjectId &&
		(type < FirstUnpinnedObjectId || type_is_enum(type));
}

/* The type of the keys.  An index that cannot be read is an error. */
static KeyType
require_readable(Relation index)
{
	const char *name = RelationGetRelationName(index);
	Form_pg_index form = index->rd_index;
	Oid			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
	KeyType		key_type = key_type_of(type);

	if (index->rd_rel->relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" is not a B-tree", name),
				 errhint("Only B-tree indexes are supported.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (RecoveryInProgress() &&
		index->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if (!form->indisvalid || !form->indisready || !form->indislive)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", name),
				 errhint("Wait until the index is built, or run REINDEX.")));
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" contains expressions", name),
				 errdetail("Index expressions are not evaluated for a report.")));
	if (key_type == KEY_TYPE_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot recognize identifiers of type %s", format_type_be(type)),
				 errdetail("This is the type of the first column of index \"%s\".", name),
				 errhint("Supported types are uuid, bigint, integer, smallint and text.")));
	if (!is_compared_safely(index, 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("operator class of the first column of index \"%s\" is not built in", name),
				 errdetail("Functions of other operator classes are not called for a report.")));
	return key_type;
}

/* ------------------------------------------------------------------------
 * The index
 * ------------------------------------------------------------------------
 */

static inline uint64
position_of(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline BlockNumber
block_of_position(uint64 position)
{
	return position >> 16;
}

static int
compare_positions(const void *one, const void *other)
{
	uint64		a = *(const uint64 *) one;
	uint64		b = *(const uint64 *) other;

	return (a > b) - (a < b);
}

static int
compare_keys_by_position(const void *one, const void *other)
{
	return compare_positions(&((const SampledKey *) one)->position,
						  &((const SampledKey *) other)->position);
}

/* The number of rows that an index tuple of a leaf page points to. */
static inline int
row_count(IndexTuple item)
{
	return BTreeTupleIsPosting(item) ? BTreeTupleGetNPosting(item) : 1;
}

static inline ItemPointer
row_pointer(IndexTuple item, int n)
{
	return BTreeTupleIsPosting(item) ? BTreeTupleGetPostingN(item, n) : &item->t_tid;
}

/* Copy a page; false if it was never used. */
static bool
copy_page(Relation index, BlockNumber block, BufferAccessStrategy strategy,
		  Page copy)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	bool		used;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	used = !PageIsNew(BufferGetPage(buffer));
	if (used)
	{
		_bt_checkpage(index, buffer);
		memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	}
	UnlockReleaseBuffer(buffer);
	return used;
}

/*
 * Add the keys of a leaf page.  The sample takes every rows_per_key-th row of
 * all pages together, so that each row has the same weight.
 */
static void
sample_leaf(Relation index, Page page, KeyType key_type, IndexSample *sample)
{
	TupleDesc	columns = RelationGetDescr(index);
	Form_pg_attribute key_column = TupleDescAttr(columns, 0);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	SampledLeaf *leaf = &sample->leaves[sample->leaf_count];
	int			rows = 0;

	leaf->first = sample->position_count;
	for (OffsetNumber offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));
		 offset <= last; offset++)
	{
		ItemId		line = PageGetItemId(page, offset);
		IndexTuple	item = (IndexTuple) PageGetItem(page, line);
		bool		isnull;
		Datum		value;
		SampledKey	key;
		bool		is_read = false;

		if (ItemIdIsDead(line))
			continue;

		value = index_getattr(item, 1, columns, &isnull);
		for (int n = 0; n < row_count(item); n++, rows++)
		{
			uint64		position = position_of(row_pointer(item, n));

			if (rows == 0)
			{
				leaf->first_position = position;
				leaf->first_key_is_null = isnull;
				if (!isnull)
					leaf->first_key = datumCopy(value, key_column->attbyval,
												key_column->attlen);
			}
			if (sample->rows_read++ % sample->rows_per_key != 0)
				continue;

			sample->positions[sample->position_count++] = position;
			if (isnull)
				continue;
			if (!is_read)
				is_read = key_read(key_type, value, &key);
			key.position = position;
			sample->keys.keys[sample->keys.count++] = key;
		}
	}
	leaf->count = sample->position_count - leaf->first;
	if (rows > 0)
		sample->leaf_count++;
}

/* Compare leaf pages by their first keys, then by their first rows. */
static int
compare_leaves(const void *one, const void *other, void *arg)
{
	Relation	index = arg;
	const SampledLeaf *a = one;
	const SampledLeaf *b = other;
	int16		option = index->rd_indoption[0];
	int			result;

	if (a->first_key_is_null || b->first_key_is_null)
	{
		result = a->first_key_is_null - b->first_key_is_null;
		if (option & INDOPTION_NULLS_FIRST)
			result = -result;
	}
	else
	{
		result = DatumGetInt32(FunctionCall2Coll(index_getprocinfo(index, 1, BTORDER_PROC),
												 index->rd_indcollation[0],
												 a->first_key, b->first_key));
		if (option & INDOPTION_DESC)
			INVERT_COMPARE_RESULT(result);
	}
	return result != 0 ? result : compare_positions(&a->first_position, &b->first_position);
}

/* Pearson's correlation of the values with their indexes. */
static double
correlation(const double *values, int count)
{
	double		mean_order = (count - 1) / 2.0;
	double		mean = 0;
	double		sum = 0;
	double		square_order = 0;
	double		square = 0;

	for (int i = 0; i < count; i++)
		mean += values[i] / count;
	for (int i = 0; i < count; i++)
	{
		sum += (i - mean_order) * (values[i] - mean);
		square_order += (i - mean_order) * (i - mean_order);
		square += (values[i] - mean) * (values[i] - mean);
	}
	if (square <= 0 || square_order <= 0)
		return NAN;
	return sum / sqrt(square_order * square);
}

/* The number of sorted values that are less than a value. */
static int
count_less(const uint64 *sorted, int count, uint64 value)
{
	int			low = 0;
	int			high = count;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (sorted[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The correlation of the order of the keys with the order of their heap
 * blocks.  Rows of the same block have the mean of their ranks.
 */
static double
heap_correlation(Relation index, const IndexSample *sample)
{
	int			count = sample->position_count;
	uint64	   *blocks;
	uint64	   *sorted;
	double	   *ranks;
	int			n = 0;
	double		result;

	if (count < 2)
		return NAN;

	blocks = palloc(sizeof(uint64) * count);
	sorted = palloc(sizeof(uint64) * count);
	ranks = palloc(sizeof(double) * count);

	qsort_arg(sample->leaves, sample->leaf_count, sizeof(SampledLeaf),
			  compare_leaves, index);
	for (int i = 0; i < sample->leaf_count; i++)
	{
		const SampledLeaf *leaf = &sample->leaves[i];

		for (int k = 0; k < leaf->count; k++)
			blocks[n++] = block_of_position(sample->positions[leaf->first + k]);
	}

	memcpy(sorted, blocks, sizeof(uint64) * count);
	qsort(sorted, count, sizeof(uint64), compare_positions);
	for (int i = 0; i < count; i++)
		ranks[i] = (count_less(sorted, count, blocks[i]) +
					count_less(sorted, count, blocks[i] + 1) - 1) / 2.0;

	result = correlation(ranks, count);
	if (index->rd_indoption[0] & INDOPTION_DESC)
		result = -result;
	pfree(blocks);
	pfree(sorted);
	pfree(ranks);
	return result;
}

/*
 * Read pages of the index in equal steps, from a random one of the first step.
 * Block 0 is the metapage.
 */
static IndexSample
sample_index(Relation index, KeyType key_type)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber candidates = blocks > 0 ? blocks - 1 : 0;
	int			pages = Min(candidates, SAMPLED_PAGES);
	double		stride = pages > 0 ? (double) candidates / pages : 0;
	double		start = stride * pg_prng_double(&pg_global_prng_state);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	int			capacity;
	int			leaves = 0;
	int			backward = 0;
	double		space = 0;
	double		free_space = 0;
	IndexSample sample = {0};

	sample.leaves = palloc0(sizeof(SampledLeaf) * Max(pages, 1));
	sample.rows_per_key = pages < MANY_PAGES ? 1 : ROWS_PER_KEY;
	capacity = pages * MaxTIDsPerBTreePage / sample.rows_per_key + 1;
	sample.positions = palloc(sizeof(uint64) * capacity);
	sample.keys.keys = palloc(sizeof(SampledKey) * capacity);

	for (int i = 0; i < pages; i++)
	{
		BlockNumber block = 1 + (BlockNumber) (start + i * stride);
		BTPageOpaque opaque;

		CHECK_FOR_INTERRUPTS();
		if (!copy_page(index, block, strategy, page))
			continue;
		opaque = BTPageGetOpaque(page);
		if (P_IGNORE(opaque) || !P_ISLEAF(opaque))
			continue;

		/* the same counts as in pgstatindex() */
		leaves++;
		space += ((PageHeader) page)->pd_special - SizeOfPageHeaderData;
		free_space += PageGetFreeSpace(page);
		backward += opaque->btpo_next != P_NONE && opaque->btpo_next < block;
		sample_leaf(index, page, key_type, &sample);
	}
	FreeAccessStrategy(strategy);

	if (leaves == 0)
	{
		/* the index has no rows, or the sample contains no leaf page */
		sample.leaf_pages = sample.rows = candidates == 0 ? 0 : NAN;
		sample.density = sample.fragmentation = sample.correlation = NAN;
		return sample;
	}

	sample.leaf_pages = rint(candidates * ((double) leaves / pages));
	sample.rows = rint((double) sample.rows_read / leaves * sample.leaf_pages);
	sample.density = 100 - free_space / space * 100;
	sample.fragmentation = 100.0 * backward / leaves;
	sample.correlation = heap_correlation(index, &sample);
	qsort(sample.keys.keys, sample.keys.count, sizeof(SampledKey), compare_keys_by_position);
	return sample;
}

/* ------------------------------------------------------------------------
 * The newest rows
 * ------------------------------------------------------------------------
 */

static int
compare_blocks(const void *one, const void *other)
{
	BlockNumber a = *(const BlockNumber *) one;
	BlockNumber b = *(const BlockNumber *) other;

	return (a > b) - (a < b);
}

static int
count_distinct_blocks(BlockNumber *blocks, int count)
{
	int			distinct = count > 0;

	qsort(blocks, count, sizeof(BlockNumber), compare_blocks);
	for (int i = 1; i < count; i++)
		distinct += blocks[i] != blocks[i - 1];
	return distinct;
}

/*
 * The index tuple of a row, or NULL if the key is too long for an identifier.
 */
static IndexTuple
index_tuple_of(Relation index, Relation table, HeapTuple row)
{
	TupleDesc	columns = RelationGetDescr(index);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	Size		key_bytes = 0;
	IndexTuple	item;

	for (int i = 0; i < columns->natts; i++)
	{
		/* included columns do not affect the order */
		if (i >= IndexRelationGetNumberOfKeyAttributes(index))
		{
			isnull[i] = true;
			values[i] = (Datum) 0;
			continue;
		}
		values[i] = heap_getattr(row, index->rd_index->indkey.values[i],
								 RelationGetDescr(table), &isnull[i]);
		if (!isnull[i] && TupleDescAttr(columns, i)->attlen == -1)
			key_bytes += toast_raw_datum_size(values[i]);
	}
	if (key_bytes > MAX_READ_KEY_BYTES)
		return NULL;
	item = index_form_tuple(columns, values, isnull);
	item->t_tid = row->t_self;
	return item;
}

/*
 * Does the leaf page have a tuple with this key for the row or for an earlier
 * version of it?  The index points to the first version of a HOT chain, which
 * is in the same block.
 */
static bool
page_has_row(Relation index, BTScanInsert key, Page page, ItemPointer tid)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));
		 offset <= last; offset++)
	{
		IndexTuple	item = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));

		for (int n = 0; n < row_count(item); n++)
		{
			if (ItemPointerGetBlockNumber(row_pointer(item, n)) == ItemPointerGetBlockNumber(tid) &&
				_bt_compare(index, key, page, offset) == 0)
				return true;
		}
	}
	return false;
}

/*
 * The leaf page of a row's tuple.  A partial index may not contain the row.
 * Because the predicate must not be evaluated, the page is searched instead.
 */
static BlockNumber
leaf_of(Relation index, Relation table, IndexTuple item, bool partial)
{
	BTScanInsert key = _bt_mkscankey(index, item);
	BlockNumber block = InvalidBlockNumber;
	Buffer		leaf;

	if (key->heapkeyspace)
		key->scantid = &item->t_tid;
	find_leaf(index, table, key, &leaf);
	/* page_has_row() compares keys without the row's position */
	key->scantid = NULL;
	if (BufferIsValid(leaf))
	{
		if (!partial || page_has_row(index, key, BufferGetPage(leaf), &item->t_tid))
			block = BufferGetBlockNumber(leaf);
		_bt_relbuf(index, leaf);
	}
	return block;
}

/*
 * Read the last rows of the heap, beginning at its end, and find their leaf
 * pages.
 *
 * The result is empty if that would call a comparison function that is not
 * built in, or if the table access method is not heap.
 */
static NewestRows
read_newest_rows(Relation index, Relation table, KeyType key_type, int limit)
{
	bool		partial = is_partial(index);
	NewestRows	newest = {0};
	TableScanDesc scan;
	HeapTuple	row;
	BlockNumber blocks;
	BlockNumber *leaves;
	MemoryContext row_context;

	if (table->rd_tableam != GetHeapamTableAmRoutine())
		return newest;
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		if (!is_compared_safely(index, i))
			return newest;
	}

	newest.keys.keys = palloc(sizeof(SampledKey) * limit);
	leaves = palloc(sizeof(BlockNumber) * limit);
	row_context = AllocSetContextCreate(CurrentMemoryContext, "idgen newest row",
										ALLOCSET_DEFAULT_SIZES);

	/* must be read before the scan begins, which reads only the blocks that then exist */
	blocks = RelationGetNumberOfBlocks(table);
	scan = table_beginscan_strat(table, GetActiveSnapshot(), 0, NULL, true, false);
	if (blocks > NEWEST_BLOCKS)
		heap_setscanlimits(scan, blocks - NEWEST_BLOCKS, NEWEST_BLOCKS);

	while (newest.located < limit &&
		   (row = heap_getnext(scan, BackwardScanDirection)) != NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(row_context);
		IndexTuple	item = index_tuple_of(index, table, row);
		BlockNumber leaf = InvalidBlockNumber;

		CHECK_FOR_INTERRUPTS();
		if (item != NULL)
			leaf = leaf_of(index, table, item, partial);
		if (leaf != InvalidBlockNumber)
		{
			SampledKey *key = &newest.keys.keys[newest.keys.count];
			bool		isnull;
			Datum		value = index_getattr(item, 1, RelationGetDescr(index), &isnull);

			leaves[newest.located++] = leaf;
			if (!isnull && key_read(key_type, value, key))
			{
				key->position = position_of(&row->t_self);
				newest.keys.count++;
			}
		}
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row_context);
	}
	table_endscan(scan);
	MemoryContextDelete(row_context);

	qsort(newest.keys.keys, newest.keys.count, sizeof(SampledKey), compare_keys_by_position);
	newest.leaf_pages = count_distinct_blocks(leaves, newest.located);
	return newest;
}

/* ------------------------------------------------------------------------
 * The cost of the keys
 * ------------------------------------------------------------------------
 */

/* Call one of the server's statistics functions; false if it returns NULL. */
static bool
read_statistic(Oid function, Oid argument, Datum *value)
{
	FmgrInfo	call;
	LOCAL_FCINFO(fcinfo, 1);

	fmgr_info(function, &call);
	InitFunctionCallInfoData(*fcinfo, &call, call.fn_nargs, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(argument);
	fcinfo->args[0].isnull = false;
	*value = FunctionCallInvoke(fcinfo);
	return !fcinfo->isnull;
}

/* The rate of events that were counted since a time. */
static double
events_per_second(double events, TimestampTz since)
{
	double		seconds = (double) (GetCurrentTimestamp() - since) / USECS_PER_SEC;

	return events > 0 && seconds > 0 ? events / seconds : NAN;
}

/*
 * The rate of rows inserted into the table, and their number per checkpoint,
 * since the statistics were reset.  If the statistics of the database were
 * never reset, their beginning is taken from the background writer.
 */
static Rates
measure_rates(Relation table)
{
	Rates		rates = {NAN, NAN};
	Datum		inserted;
	Datum		since;
	Datum		timed;
	Datum		requested;
	double		checkpoints_per_second;

	if (!read_statistic(F_PG_STAT_GET_TUPLES_INSERTED, RelationGetRelid(table), &inserted) ||
		(!read_statistic(F_PG_STAT_GET_DB_STAT_RESET_TIME, MyDatabaseId, &since) &&
		 !read_statistic(F_PG_STAT_GET_BGWRITER_STAT_RESET_TIME, InvalidOid, &since)))
		return rates;
	rates.rows_per_second = events_per_second(DatumGetInt64(inserted),
											  DatumGetTimestampTz(since));

	if (!read_statistic(CHECKPOINTS_TIMED, InvalidOid, &timed) ||
		!read_statistic(CHECKPOINTS_REQUESTED, InvalidOid, &requested) ||
		!read_statistic(CHECKPOINTS_SINCE, InvalidOid, &since))
		return rates;
	checkpoints_per_second =
		events_per_second((double) DatumGetInt64(timed) + (double) DatumGetInt64(requested),
						  DatumGetTimestampTz(since));
	rates.rows_per_checkpoint = rates.rows_per_second / checkpoints_per_second;
	return rates;
}

/*
 * The expected full-page images per row if the keys are uniformly distributed
 * over the leaf pages: one image for each page that a checkpoint's rows change.
 */
static double
expected_page_images(double leaf_pages, double rows_per_checkpoint)
{
	if (isnan(leaf_pages) || isnan(rows_per_checkpoint) || rows_per_checkpoint <= 0)
		return NAN;
	return key_cost_page_images(leaf_pages, rows_per_checkpoint) /
		Max(rows_per_checkpoint, 1.0);
}

/*
 * The leaf pages that the rows of one checkpoint interval may change.  Random
 * keys can change all pages.  For other keys, the number is extrapolated from
 * the newest rows, without the pages that the rows fill: a page that a split
 * created after the checkpoint needs no image.
 */
static double
active_leaf_pages(const IndexSample *sample, const NewestRows *newest,
				  KeyPlacement placement, double rows_per_checkpoint)
{
	double		changed;
	double		filled;

	if (placement == PLACEMENT_RANDOM || placement == PLACEMENT_SUFFIX ||
		placement == PLACEMENT_CYCLIC || isnan(sample->leaf_pages))
		return sample->leaf_pages;
	if (newest->located == 0 || isnan(rows_per_checkpoint))
		return NAN;

	changed = rows_per_checkpoint * newest->leaf_pages / newest->located;
	filled = sample->rows > 0 ? rows_per_checkpoint * sample->leaf_pages / sample->rows : 0;
	return Max(1.0, Min(changed, sample->leaf_pages) - filled);
}

/* ------------------------------------------------------------------------
 * Advice
 * ------------------------------------------------------------------------
 */

/* The measured cost of random keys, in parentheses; "" if it is not known. */
static const char *
describe_scatter(const NewestRows *newest, double images)
{
	if (!isnan(images))
		return psprintf(" (%.2f full-page images a row)", images);
	if (newest->located > 0)
		return psprintf(" (the newest %d rows are on %d pages)", newest->located,
						newest->leaf_pages);
	return "";
}

static const char *
advise_random(const KeyKind *kind, const IndexSample *sample,
			  const NewestRows *newest, double images)
{
	if (sample->leaf_pages <= FEW_LEAF_PAGES)
		return "The keys are random, but the index is small. No change is recommended yet.";
	if (images < FEW_IMAGES)
		return psprintf("The keys are random, but with this many rows per checkpoint they cause few full-page images (%.2f a row). Other keys would cost little less.",
						images);
	if (kind->form == FORM_NUMBER)
		return psprintf("The keys are random, and each insert changes another leaf page%s. With a sequence or snowflake(), new rows would change few pages; the type remains bigint.",
						describe_scatter(newest, images));
	return psprintf("The keys are random, and each insert changes another leaf page%s. With short_comb(), new rows would change few pages%s.",
					describe_scatter(newest, images),
					kind->form == FORM_UUID ? "; the type remains uuid" : "");
}

static Datum
interval_of_ms(int64 ms)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = ms * US_PER_MS;
	return IntervalPGetDatum(interval);
}

static const char *
describe_bytes(double bytes)
{
	return text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_size_pretty,
															  Int64GetDatum((int64) bytes))));
}

/* What REINDEX would save. */
static const char *
describe_reindex(const IndexSample *sample)
{
	return describe_bytes(sample->leaf_pages * BLCKSZ *
						  (1 - sample->density / BTREE_DEFAULT_FILLFACTOR));
}

/*
 * The advice on short COMBs that would take less room with other arguments;
 * NULL if there are none.
 */
static const char *
advise_period(const KeyKind *kind, const IndexSample *sample)
{
	double		bytes = sample->leaf_pages * BLCKSZ;
	double		rate = kind->period_rows * MS_PER_SECOND / Max(kind->period_ms, 1);
	bool		has_other_columns = sample->rows * UUID_ENTRY_BYTES < 0.9 * bytes * sample->density / 100;
	KeyCostAdvice advice;

	if (rate <= 0 || kind->form != FORM_UUID || has_other_columns ||
		sample->leaf_pages <= FEW_LEAF_PAGES)
		return NULL;
	advice = key_cost_advice(sample->rows, rate);
	if (advice.index_bytes > bytes * SMALLER)
		return NULL;
	return psprintf("New rows change few leaf pages, but a period has only %.0f rows, and the leaf pages are %.0f %% full. With short_comb('%s', %d), an index on this number of rows would take %s instead of %s. advise_short_comb(%.3g, %.0f) shows what each choice costs.",
					kind->period_rows, sample->density,
					clock_interval_text(DatumGetIntervalP(interval_of_ms(advice.period_s * MS_PER_SECOND))),
					advice.prefix_bytes, describe_bytes(advice.index_bytes),
					describe_bytes(bytes), rate, sample->rows);
}

static const char *
advise_by_prefix(const KeyKind *kind, const IndexSample *sample,
				 const NewestRows *newest)
{
	const char *advice;

	if (newest->located > 0 && sample->leaf_pages > FEW_LEAF_PAGES &&
		newest->leaf_pages > newest->located * SCATTERED)
		return psprintf("Too many rows have the same prefix, and scatter over many leaf pages (the newest %d rows are on %d). Use a shorter period, or run_length for bulk loads.",
						newest->located, newest->leaf_pages);
	if (sample->density < LOW_DENSITY && sample->leaf_pages > FEW_LEAF_PAGES)
		return psprintf("New rows change few leaf pages, but the leaf pages are only %.0f %% full. REINDEX INDEX CONCURRENTLY compacts those of past periods, and saves about %s.",
						sample->density, describe_reindex(sample));
	if ((advice = advise_period(kind, sample)) != NULL)
		return advice;
	if (newest->located == 0)
		return "New rows have the current prefix. If few rows have the same prefix, they change few leaf pages.";
	return "New rows change few leaf pages. No change is recommended.";
}

static const char *
advise_ordered(const KeyKind *kind, const IndexSample *sample)
{
	if (sample->density < LOW_DENSITY && sample->leaf_pages > FEW_LEAF_PAGES)
		return psprintf("The keys are ascending, but the leaf pages are only %.0f %% full, as after many deletions. REINDEX INDEX CONCURRENTLY compacts them, and saves about %s.",
						sample->density, describe_reindex(sample));
	if (kind->form == FORM_NUMBER)
		return "The keys are ascending. No change is recommended.";
	return "The keys are in the order of time. No change is recommended.";
}

static const char *
advise_unknown(const KeyKind *kind, const NewestRows *newest)
{
	if (kind->mixed)
		return "The index has keys of several kinds. Determine which source generates each kind.";
	if (newest->located == 0)
		return "There is no advice for keys of this kind.";
	return psprintf("There is no advice for keys of this kind. The newest %d rows are on %d leaf pages.",
					newest->located, newest->leaf_pages);
}

static const char *
advise(const KeyKind *kind, const IndexSample *sample, const NewestRows *newest,
	   double images)
{
	const char *advice = NULL;

	if (sample->keys.count < KEY_KIND_MIN_KEYS)
		return "The index has too few rows for advice.";

	switch (kind->placement)
	{
		case PLACEMENT_RANDOM:
			advice = advise_random(kind, sample, newest, images);
			break;
		case PLACEMENT_SUFFIX:
			advice = "The time is in the last bytes, where the order of SQL Server begins, and new rows scatter over the index. Use comb() or short_comb() in this database, and convert keys that are exchanged with SQL Server.";
			break;
		case PLACEMENT_CYCLIC:
			advice = "UUID version 1 begins with the low bits of the time. With uuid_v6() or uuid_v7(), new rows would be next to each other; uuid_v1_to_v6() converts existing keys.";
			break;
		case PLACEMENT_BY_PREFIX:
			advice = advise_by_prefix(kind, sample, newest);
			break;
		case PLACEMENT_ORDERED:
			advice = advise_ordered(kind, sample);
			break;
		case PLACEMENT_UNKNOWN:
			advice = advise_unknown(kind, newest);
			break;
	}
	if (kind->form == FORM_UUID_TEXT)
		advice = psprintf("A UUID takes 37 bytes as text and 16 bytes as type uuid, which would save about %s of this index. %s",
						  describe_bytes(sample->rows * (TEXT_ENTRY_BYTES - UUID_ENTRY_BYTES) *
										 100 / sample->density),
						  advice);
	return advice;
}

/* ------------------------------------------------------------------------
 * The report
 * ------------------------------------------------------------------------
 */

static int
newest_rows_argument(FunctionCallInfo fcinfo, int argno)
{
	int			rows;

	if (PG_ARGISNULL(argno))
		return NEWEST_ROWS_DEFAULT;
	rows = PG_GETARG_INT32(argno);
	if (rows < 1 || rows > NEWEST_ROWS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("newest_rows must be between 1 and %d", NEWEST_ROWS_MAX),
				 errdetail("The value is %d.", rows)));
	return rows;
}

/*
 * index_report(index regclass, newest_rows int DEFAULT 2000,
 *				clock timestamptz DEFAULT NULL, OUT ...)
 *
 * One row with the columns of ReportColumn.
 */
PG_FUNCTION_INFO_V1(idgen_index_report);
Datum
idgen_index_report(PG_FUNCTION_ARGS)
{
	int			newest_rows;
	TimestampTz clock;
	Oid			index_oid;
	Oid			table_oid;
	Relation	table;
	Relation	index;
	KeyType		key_type;
	IndexSample sample;
	NewestRows	newest;
	KeyKind		kind;
	Rates		rates;
	double		images;
	TupleDesc	columns;
	Datum		values[REPORT_COLUMNS] = {0};
	bool		nulls[REPORT_COLUMNS] = {false};
	double		numbers[REPORT_COLUMNS];

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	newest_rows = newest_rows_argument(fcinfo, 1);
	clock = clock_argument_stable(fcinfo, 2);
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	/* lock the table before its index, like all other commands */
	index_oid = resolve_index(PG_GETARG_OID(0));
	table_oid = IndexGetRelation(index_oid, true);
	if (!OidIsValid(table_oid))
		refuse_missing(index_oid);
	table = table_open(table_oid, AccessShareLock);
	index = index_open(index_oid, AccessShareLock);
	require_rights(table, index);
	key_type = require_readable(index);

	sample = sample_index(index, key_type);
	newest = read_newest_rows(index, table, key_type, newest_rows);
	kind = key_kind_of(key_type, &newest.keys, &sample.keys, clock);
	rates = measure_rates(table);
	images = expected_page_images(active_leaf_pages(&sample, &newest, kind.placement,
													rates.rows_per_checkpoint),
								  rates.rows_per_checkpoint);

	values[COLUMN_KEY_KIND] = CStringGetTextDatum(kind.name);
	values[COLUMN_PERIOD] = interval_of_ms(kind.period_ms);
	nulls[COLUMN_PERIOD] = kind.period_ms == 0;
	values[COLUMN_ADVICE] = CStringGetTextDatum(advise(&kind, &sample, &newest, images));

	numbers[COLUMN_INDEX_ROWS] = sample.rows;
	numbers[COLUMN_LEAF_PAGES] = sample.leaf_pages;
	numbers[COLUMN_LEAF_DENSITY] = sample.density;
	numbers[COLUMN_FRAGMENTATION] = sample.fragmentation;
	numbers[COLUMN_HEAP_CORRELATION] = sample.correlation;
	numbers[COLUMN_NEWEST_LEAF_SHARE] = newest.located == 0 || !(sample.leaf_pages > 0) ? NAN :
		Min(1.0, newest.leaf_pages / sample.leaf_pages);
	numbers[COLUMN_ROWS_PER_SECOND] = rates.rows_per_second;
	numbers[COLUMN_ROWS_PER_CHECKPOINT] = rates.rows_per_checkpoint;
	numbers[COLUMN_PAGE_IMAGES_PER_ROW] = images;
	for (int i = COLUMN_INDEX_ROWS; i <= COLUMN_PAGE_IMAGES_PER_ROW; i++)
	{
		nulls[i] = isnan(numbers[i]);
		if (nulls[i])
			continue;
		values[i] = i == COLUMN_INDEX_ROWS || i == COLUMN_LEAF_PAGES ?
			Int64GetDatum((int64) numbers[i]) : Float8GetDatum(numbers[i]);
	}

	index_close(index, AccessShareLock);
	table_close(table, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
