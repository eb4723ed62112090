/*-------------------------------------------------------------------------
 *
 * index_report.c
 *	  The advisor: what an index's keys are, and what they cost.
 *
 * It looks at a running server's index and must not be felt there.  So it
 * reads some hundreds of leaf pages, spread evenly over the file, and the last
 * blocks of the table; it takes no lock but those of a SELECT, holds a page
 * for as long as copying it takes, can be cancelled between any two pages, and
 * writes nothing.
 *
 * It runs no code of the index's owner as its caller.  So it compares keys only
 * by built-in functions, and learns from pg_index whether there are a predicate
 * or expressions: the relation cache would fold their constants, which calls
 * functions.
 *
 * The newest rows are those at the end of the heap.
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

#include "clock.h"
#include "key_cost.h"
#include "key_kind.h"

PG_MODULE_MAGIC;

#if PG_VERSION_NUM >= 190000
#define find_leaf(index, table, key, leaf) \
	_bt_search(index, table, key, leaf, BT_READ, false)
#elif PG_VERSION_NUM >= 160000
#define find_leaf(index, table, key, leaf) \
	_bt_search(index, table, key, leaf, BT_READ)
#else
#define find_leaf(index, table, key, leaf) \
	_bt_search(index, key, leaf, BT_READ, NULL)
#endif

#if PG_VERSION_NUM >= 160000
#define schema_aclcheck(schema, role, mode) \
	object_aclcheck(NamespaceRelationId, schema, role, mode)
#else
#define schema_aclcheck(schema, role, mode) \
	pg_namespace_aclcheck(schema, role, mode)
#endif

#if PG_VERSION_NUM >= 170000
#define CHECKPOINTS_TIMED		F_PG_STAT_GET_CHECKPOINTER_NUM_TIMED
#define CHECKPOINTS_REQUESTED	F_PG_STAT_GET_CHECKPOINTER_NUM_REQUESTED
#define CHECKPOINTS_SINCE		F_PG_STAT_GET_CHECKPOINTER_STAT_RESET_TIME
#else
#define CHECKPOINTS_TIMED		F_PG_STAT_GET_BGWRITER_TIMED_CHECKPOINTS
#define CHECKPOINTS_REQUESTED	F_PG_STAT_GET_BGWRITER_REQUESTED_CHECKPOINTS
#define CHECKPOINTS_SINCE		F_PG_STAT_GET_BGWRITER_STAT_RESET_TIME
#endif

/*
 * What is read at most: pages of the index, and where these are many, but
 * every so many-th of their keys.
 */
#define SAMPLED_PAGES		400
#define MANY_PAGES			100
#define ROWS_PER_KEY		4

/* Of the table's end, so many blocks. */
#define NEWEST_BLOCKS		2000

#define NEWEST_ROWS_DEFAULT	2000
#define NEWEST_ROWS_MAX		100000

/*
 * A row with a longer key is passed over.  Of a partial index it may be longer
 * than an index tuple can be.
 */
#define MAX_KEY_BYTES		2000

/* An index of so few pages stays in memory whatever its keys are. */
#define FEW_LEAF_PAGES		100

/* From so many full-page images a row on, random keys are dear. */
#define FEW_IMAGES			0.05

/* From this share of a page a row on, a short COMB's rows are too scattered. */
#define SCATTERED			0.2

/* Below this, REINDEX makes an index a good deal smaller. */
#define LOW_DENSITY			50.0

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

/* A sampled leaf page, as far as it matters to the order of pages. */
typedef struct SampledLeaf
{
	Datum		first_key;
	bool		first_key_is_null;
	uint64		first_place;
	int			first;			/* of its keys in the sample */
	int			count;
} SampledLeaf;

/* What the sampled pages say; NAN for what is not known. */
typedef struct IndexSample
{
	SampledLeaf *leaves;
	int			leaf_count;
	uint64	   *places;			/* of the sampled rows, leaf by leaf */
	int			place_count;
	KeySample	keys;			/* of the same, but those that are null */
	int			rows_per_key;
	int64		rows_met;
	double		leaf_pages;
	double		rows;
	double		density;		/* percent */
	double		fragmentation;	/* percent */
	double		correlation;
} IndexSample;

/* What the newest rows say. */
typedef struct NewestRows
{
	KeySample	keys;
	int			located;		/* rows whose leaf was looked up */
	int			leaf_pages;		/* different ones */
} NewestRows;

/* What the server's statistics say; NAN for what is not known. */
typedef struct Rates
{
	double		rows_per_second;
	double		rows_per_checkpoint;
} Rates;

/* ------------------------------------------------------------------------
 * Which index, and may the caller
 * ------------------------------------------------------------------------
 */

static bool
is_partial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/*
 * Whoever may read the table or the key's column may know this much of it, if
 * no policy hides rows; who monitors the server may know it of all tables.
 * The schema is resolve_index()'s to check.
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
				 errhint("Ask as a member of pg_stat_scan_tables.")));
}

static void
refuse_missing(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relid)));
}

/*
 * The index to report on, given itself or a table with a primary key, in a
 * schema that the caller may use.
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
						 errhint("Name one of its indexes.")));
			break;
		case RELKIND_PARTITIONED_INDEX:
		case RELKIND_PARTITIONED_TABLE:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is partitioned", RelationGetRelationName(relation)),
					 errdetail("Each partition has an index of its own."),
					 errhint("Name a partition's index.")));
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
 * Is an index column compared by a built-in function, that of its type?  An
 * array, a row or a range is compared by the functions of what it holds.
 */
static bool
is_compared_safely(Relation index, int column)
{
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), column)->atttypid);
	FmgrInfo   *compare = index_getprocinfo(index, column + 1, BTORDER_PROC);

	return compare->fn_oid < FirstUnpinnedObjectId &&
		(type < FirstUnpinnedObjectId || type_is_enum(type));
}

/* Refuse what we cannot read; how to read the keys of the rest. */
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
				 errhint("The advisor reads B-tree indexes.")));
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
				 errhint("Wait until it is built, or REINDEX it.")));
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" contains expressions", name),
				 errdetail("The advisor does not evaluate expressions.")));
	if (key_type == KEY_TYPE_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot tell identifiers of type %s", format_type_be(type)),
				 errdetail("It is the type of the first column of index \"%s\".", name),
				 errhint("The types are uuid, bigint, integer, smallint and text.")));
	if (!is_compared_safely(index, 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("operator class of the first column of index \"%s\" is not built in", name),
				 errdetail("The advisor does not call functions of other operator classes.")));
	return key_type;
}

/* ------------------------------------------------------------------------
 * The index
 * ------------------------------------------------------------------------
 */

static inline uint64
place_of(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline BlockNumber
block_of_place(uint64 place)
{
	return place >> 16;
}

static int
compare_places(const void *one, const void *other)
{
	uint64		a = *(const uint64 *) one;
	uint64		b = *(const uint64 *) other;

	return (a > b) - (a < b);
}

static int
compare_keys_by_place(const void *one, const void *other)
{
	return compare_places(&((const SampledKey *) one)->place,
						  &((const SampledKey *) other)->place);
}

/* The rows that an index tuple of a leaf page points to. */
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

/* A page as it is at this moment; false for one that was never used. */
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
 * Add a leaf page's keys.  Every rows_per_key-th row of all that were met is
 * taken, so that full pages count for more.
 */
static void
sample_leaf(Relation index, Page page, KeyType key_type, IndexSample *sample)
{
	TupleDesc	columns = RelationGetDescr(index);
	Form_pg_attribute key_column = TupleDescAttr(columns, 0);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	SampledLeaf *leaf = &sample->leaves[sample->leaf_count];
	int			rows = 0;

	leaf->first = sample->place_count;
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
			uint64		place = place_of(row_pointer(item, n));

			if (rows == 0)
			{
				leaf->first_place = place;
				leaf->first_key_is_null = isnull;
				if (!isnull)
					leaf->first_key = datumCopy(value, key_column->attbyval,
												key_column->attlen);
			}
			if (sample->rows_met++ % sample->rows_per_key != 0)
				continue;

			sample->places[sample->place_count++] = place;
			if (isnull)
				continue;
			if (!is_read)
				is_read = key_read(key_type, value, &key);
			key.place = place;
			sample->keys.keys[sample->keys.count++] = key;
		}
	}
	leaf->count = sample->place_count - leaf->first;
	if (rows > 0)
		sample->leaf_count++;
}

/* The order of leaf pages, by their first keys; ties by the first row. */
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
	return result != 0 ? result : compare_places(&a->first_place, &b->first_place);
}

/* Pearson's coefficient of an order, 0 to count - 1, and of what is at it. */
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

/* Between the order of the keys and the ranks of their heap blocks. */
static double
heap_correlation(Relation index, const IndexSample *sample)
{
	int			count = sample->place_count;
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
			blocks[n++] = block_of_place(sample->places[leaf->first + k]);
	}

	memcpy(sorted, blocks, sizeof(uint64) * count);
	qsort(sorted, count, sizeof(uint64), compare_places);
	for (int i = 0; i < count; i++)
	{
		/* rows of one block share the middle of their ranks */
		int			low = 0;
		int			high = count;
		int			from;

		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (sorted[middle] < blocks[i])
				low = middle + 1;
			else
				high = middle;
		}
		from = low;
		high = count;
		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (sorted[middle] <= blocks[i])
				low = middle + 1;
			else
				high = middle;
		}
		ranks[i] = (from + low - 1) / 2.0;
	}

	result = correlation(ranks, count);
	if (index->rd_indoption[0] & INDOPTION_DESC)
		result = -result;
	pfree(blocks);
	pfree(sorted);
	pfree(ranks);
	return result;
}

/*
 * Read pages of the index from a random one of the first on, in equal steps;
 * block 0 is the metapage.
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
	sample.places = palloc(sizeof(uint64) * capacity);
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

		/* as pgstatindex() counts */
		leaves++;
		space += ((PageHeader) page)->pd_special - SizeOfPageHeaderData;
		free_space += PageGetFreeSpace(page);
		backward += opaque->btpo_next != P_NONE && opaque->btpo_next < block;
		sample_leaf(index, page, key_type, &sample);
	}
	FreeAccessStrategy(strategy);

	if (leaves == 0)
	{
		/* an index without a page has no rows; else none of its leaves was met */
		sample.leaf_pages = sample.rows = candidates == 0 ? 0 : NAN;
		sample.density = sample.fragmentation = sample.correlation = NAN;
		return sample;
	}

	sample.leaf_pages = rint(candidates * ((double) leaves / pages));
	sample.rows = rint((double) sample.rows_met / leaves * sample.leaf_pages);
	sample.density = 100 - free_space / space * 100;
	sample.fragmentation = 100.0 * backward / leaves;
	sample.correlation = heap_correlation(index, &sample);
	qsort(sample.keys.keys, sample.keys.count, sizeof(SampledKey), compare_keys_by_place);
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
 * The index tuple that a row should have, or NULL where the key is too long to
 * be an identifier.
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
		/* what is only included has no part in the order */
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
	if (key_bytes > MAX_KEY_BYTES)
		return NULL;
	item = index_form_tuple(columns, values, isnull);
	item->t_tid = row->t_self;
	return item;
}

/*
 * Has the leaf page a tuple of this key for the row, or for an earlier version
 * of it?  One that a HOT update made is reached by way of the first version,
 * which is in the same block.
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
 * The leaf page on which a row's tuple is.  Of a partial index that may be
 * none; whether it is, the page says, as the predicate is not for us to run.
 */
static BlockNumber
leaf_of(Relation index, Relation table, IndexTuple item, bool partial)
{
	BTScanInsert key = _bt_mkscankey(index, item);
	BlockNumber block = InvalidBlockNumber;
	Buffer		leaf;

	(void) table;				/* before version 16 */
	if (key->heapkeyspace)
		key->scantid = &item->t_tid;
	(void) find_leaf(index, table, key, &leaf);
	/* from here on, equal keys are equal wherever their rows are */
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
 * Read the last rows of the heap, from its end, and look up their leaf pages.
 *
 * None is looked up where that would call a comparison function that is not
 * built in; other table access methods have another idea of an end.
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

	/* first, because the scan does not go beyond what it finds at its begin */
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
				key->place = place_of(&row->t_self);
				newest.keys.count++;
			}
		}
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row_context);
	}
	table_endscan(scan);
	MemoryContextDelete(row_context);

	qsort(newest.keys.keys, newest.keys.count, sizeof(SampledKey), compare_keys_by_place);
	newest.leaf_pages = count_distinct_blocks(leaves, newest.located);
	return newest;
}

/* ------------------------------------------------------------------------
 * What it costs
 * ------------------------------------------------------------------------
 */

/* Call one of the server's statistics functions; false where it is NULL. */
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

/* A count of events by the second, since they are counted. */
static double
events_per_second(double events, TimestampTz since)
{
	double		seconds = (double) (GetCurrentTimestamp() - since) / USECS_PER_SEC;

	return events > 0 && seconds > 0 ? events / seconds : NAN;
}

/*
 * Rows inserted into the table, and checkpoints, since the statistics began.
 * Where those of the database were never reset, they began with those of the
 * background writer, or later, if the database did.
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
 * The full-page images per row where the keys of one checkpoint's rows fall
 * uniformly on so many leaf pages: each page that is met has one image.
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
 * The leaf pages that the rows of a checkpoint meet.  Random keys can meet
 * all.  Of the others, what the newest rows met says how many that many rows
 * would; but a page that came into being by a split since the checkpoint needs
 * no image, and of these there are as many as the rows fill.
 */
static double
active_leaf_pages(const IndexSample *sample, const NewestRows *newest,
				  KeyPlacement placement, double rows_per_checkpoint)
{
	double		met;
	double		filled;

	if (placement == PLACEMENT_RANDOM || placement == PLACEMENT_SUFFIX ||
		placement == PLACEMENT_LAPS || isnan(sample->leaf_pages))
		return sample->leaf_pages;
	if (newest->located == 0 || isnan(rows_per_checkpoint))
		return NAN;

	met = rows_per_checkpoint * newest->leaf_pages / newest->located;
	filled = sample->rows > 0 ? rows_per_checkpoint * sample->leaf_pages / sample->rows : 0;
	return Max(1.0, Min(met, sample->leaf_pages) - filled);
}

/* ------------------------------------------------------------------------
 * Advice
 * ------------------------------------------------------------------------
 */

/* What random keys do, as far as it was measured. */
static const char *
describe_scatter(const NewestRows *newest, double images)
{
	if (!isnan(images))
		return psprintf(" (%.2f full-page images a row)", images);
	if (newest->located > 0)
		return psprintf(" (the newest %d rows lie on %d)", newest->located,
						newest->leaf_pages);
	return "";
}

static const char *
advise_random(const KeyKind *kind, const IndexSample *sample,
			  const NewestRows *newest, double images)
{
	if (sample->leaf_pages <= FEW_LEAF_PAGES)
		return "Random keys, but the index is small: nothing to gain yet.";
	if (images < FEW_IMAGES)
		return psprintf("Random keys, but so many rows come between checkpoints that few pages are written in full for each (%.2f): little to gain.",
						images);
	if (kind->form == FORM_NUMBER)
		return psprintf("Random keys: each insert meets another leaf page%s. A sequence or snowflake() would touch few pages; the type stays bigint.",
						describe_scatter(newest, images));
	return psprintf("Random keys: each insert meets another leaf page%s. New rows with short_comb() would touch few pages%s.",
					describe_scatter(newest, images),
					kind->form == FORM_UUID ? "; the type stays uuid" : "");
}

static const char *
advise_by_prefix(const IndexSample *sample, const NewestRows *newest)
{
	if (newest->located > 0 && sample->leaf_pages > FEW_LEAF_PAGES &&
		newest->leaf_pages > newest->located * SCATTERED)
		return psprintf("So many rows share a prefix that they scatter over many leaf pages (the newest %d rows lie on %d). Use a shorter period, or run_length for bulk loads.",
						newest->located, newest->leaf_pages);
	if (sample->density < LOW_DENSITY && sample->leaf_pages > FEW_LEAF_PAGES)
		return psprintf("New rows meet few leaf pages, but these stay %.0f %% full. REINDEX INDEX CONCURRENTLY packs those of past periods.",
						sample->density);
	if (newest->located == 0)
		return "New rows share the prefix of the moment: where these are few, so are the leaf pages that they meet.";
	return "New rows meet few leaf pages: nothing to gain.";
}

static const char *
advise_ordered(const KeyKind *kind, const IndexSample *sample)
{
	if (sample->density < LOW_DENSITY && sample->leaf_pages > FEW_LEAF_PAGES)
		return psprintf("Keys come in order, but the leaf pages are %.0f %% full, as after many deletes. REINDEX INDEX CONCURRENTLY packs them.",
						sample->density);
	if (kind->form == FORM_NUMBER)
		return "Keys come in order: nothing to gain.";
	return "Keys are time-ordered: nothing to gain.";
}

static const char *
advise(const KeyKind *kind, const IndexSample *sample, const NewestRows *newest,
	   double images)
{
	const char *advice;

	if (sample->keys.count < KEY_KIND_MIN_KEYS)
		return "Too few rows to tell.";

	switch (kind->placement)
	{
		case PLACEMENT_RANDOM:
			advice = advise_random(kind, sample, newest, images);
			break;
		case PLACEMENT_SUFFIX:
			advice = "The time stands where SQL Server's order begins, and new rows scatter here. Keep comb() or short_comb() in this database, and convert at its border.";
			break;
		case PLACEMENT_LAPS:
			advice = "Version 1 begins with the low bits of the time. uuid_v6() or uuid_v7() for new rows keeps them together; uuid_v1_to_v6() converts the old ones.";
			break;
		case PLACEMENT_BY_PREFIX:
			advice = advise_by_prefix(sample, newest);
			break;
		case PLACEMENT_ORDERED:
			advice = advise_ordered(kind, sample);
			break;
		default:
			advice = kind->mixed ?
				"Keys of several kinds come side by side. See which source makes which." :
				newest->located == 0 ? "No advice for such keys." :
				psprintf("No advice for such keys. The newest %d rows lie on %d leaf pages.",
						 newest->located, newest->leaf_pages);
			break;
	}
	if (kind->form == FORM_UUID_TEXT)
		advice = psprintf("Type uuid takes 16 bytes for a key that takes 37 as text. %s", advice);
	return advice;
}

/* ------------------------------------------------------------------------
 * The report
 * ------------------------------------------------------------------------
 */

static Datum
interval_of_ms(int64 ms)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = ms * 1000;
	return IntervalPGetDatum(interval);
}

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
 * One row, whose columns are those of ReportColumn.
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

	/* the table first, as everybody locks them */
	index_oid = resolve_index(PG_GETARG_OID(0));
	table_oid = IndexGetRelation(index_oid, true);
	if (!OidIsValid(table_oid))
		refuse_missing(index_oid);	/* dropped a moment ago */
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
