/*
 * leaf_sample.c
 *	  A sample of the leaf pages of a B-tree index.
 *
 * Pages are read in equal steps over the whole file, each under a share lock
 * while it is copied.  An index of at most SAMPLED_PAGES pages is read entirely.
 */
#include "postgres.h"

#include <math.h>

#include "access/itup.h"
#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"

#include "advisor.h"
#include "compat.h"
#include "uuid_bits.h"

#define SAMPLED_PAGES		1000

/* What is counted on the sampled leaf pages. */
typedef struct LeafCounts
{
	int			leaves;
	double		space;
	double		free_space;
	double		rows;
	double		tuples;
	double		tuple_bytes;	/* of one-row tuples with the keys of these */
	double		rebuilt_items;	/* tuples that REINDEX would make */
	double		rebuilt_bytes;	/* with line pointers */
} LeafCounts;

/* Count the version of a uuid in the first column. */
static void
count_version(Relation index, IndexTuple item, LeafSample *sample)
{
	bool		isnull;
	Datum		value = index_getattr(item, 1, RelationGetDescr(index), &isnull);
	int			version;

	if (isnull)
		return;
	version = uuid_is_rfc_variant(DatumGetUUIDP(value)) ? uuid_version_nibble(DatumGetUUIDP(value)) : 0;
	sample->uuid_version = isnan(sample->uuid_version) || sample->uuid_version == version ? version : 0;
}

/* The bytes of a tuple without the list of its rows. */
static Size
key_tuple_size(IndexTuple item)
{
	return BTreeTupleIsPosting(item) ? BTreeTupleGetPostingOffset(item) : IndexTupleSize(item);
}

static bool
has_same_key(IndexTuple one, IndexTuple other)
{
	Size		size = key_tuple_size(one);

	return size == key_tuple_size(other) &&
		IndexTupleHasNulls(one) == IndexTupleHasNulls(other) &&
		memcmp((char *) one + sizeof(IndexTupleData), (char *) other + sizeof(IndexTupleData),
			   size - sizeof(IndexTupleData)) == 0;
}

/* Count the tuples that REINDEX would make for rows with the same key. */
static void
count_rebuilt(LeafCounts *counts, Size key_size, int rows, bool deduplicates)
{
	/* as in _bt_load() */
	Size		greatest = MAXALIGN_DOWN(BLCKSZ * 10 / 100) - sizeof(ItemIdData);
	int			per_tuple = 1;
	double		tuples;

	if (deduplicates && greatest > key_size)
		per_tuple = Max(1, (greatest - key_size) / sizeof(ItemPointerData));
	tuples = ceil((double) rows / per_tuple);
	counts->rebuilt_items += tuples;
	counts->rebuilt_bytes += tuples * (key_size + sizeof(ItemIdData));
	if (rows > tuples)
		counts->rebuilt_bytes += MAXALIGN(rows * sizeof(ItemPointerData));
}

static void
count_leaf(Relation index, Page page, bool deduplicates, Oid type, LeafSample *sample,
		   LeafCounts *counts)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	PageHeader	header = (PageHeader) page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	IndexTuple	previous = NULL;
	int			rows = 0;

	/* the same counts as in pgstatindex() */
	counts->leaves++;
	counts->space += header->pd_special - SizeOfPageHeaderData;
	counts->free_space += PageGetFreeSpace(page);

	for (OffsetNumber offset = P_FIRSTDATAKEY(opaque); offset <= last; offset++)
	{
		ItemId		line = PageGetItemId(page, offset);
		IndexTuple	item = (IndexTuple) PageGetItem(page, line);
		int			rows_of_item = BTreeTupleIsPosting(item) ? BTreeTupleGetNPosting(item) : 1;

		if (ItemIdIsDead(line))
			continue;
		counts->rows += rows_of_item;
		counts->tuples++;
		counts->tuple_bytes += key_tuple_size(item);
		if (type == UUIDOID)
			count_version(index, item, sample);
		if (previous != NULL && !(deduplicates && has_same_key(previous, item)))
		{
			count_rebuilt(counts, key_tuple_size(previous), rows, deduplicates);
			rows = 0;
		}
		previous = item;
		rows += rows_of_item;
	}
	if (previous != NULL)
		count_rebuilt(counts, key_tuple_size(previous), rows, deduplicates);
}

/*
 * The size of the index after REINDEX, by the rules of _bt_buildadd(): a leaf
 * is full when its free space falls below that of the fillfactor, and its last
 * tuple then becomes its high key and the first one of the next leaf.
 */
static double
rebuilt_size(Relation index, const LeafCounts *counts, double scale)
{
	double		page_bytes = BLCKSZ - SizeOfPageHeaderData -
		MAXALIGN(sizeof(BTPageOpaqueData)) - 2 * sizeof(ItemIdData);
	double		item_bytes = counts->rebuilt_bytes / Max(counts->rebuilt_items, 1);
	double		pivot_bytes = counts->tuple_bytes / Max(counts->tuples, 1) + sizeof(ItemIdData);
	double		items = counts->rebuilt_items * scale;
	double		per_page;
	double		pages;
	double		level;

	if (items < 1)
		return BLCKSZ;
	page_bytes -= BLCKSZ * (100 - BTGetFillFactor(index)) / 100;
	per_page = page_bytes / item_bytes;

	/*
	 * tuples of the same size leave room; those of several rows have
	 * different sizes
	 */
	if (counts->rows == counts->rebuilt_items)
		per_page = floor(per_page);
	level = ceil(items / Max(per_page, 1));
	pages = level;
	page_bytes -= BLCKSZ * (BTGetFillFactor(index) - BTREE_NONLEAF_FILLFACTOR) / 100;
	while (level > 1)
	{
		level = ceil(level / Max(floor(page_bytes / pivot_bytes), 2));
		pages += level;
	}
	return (pages + 1) * BLCKSZ;
}

/*
 * Read pages of the index in equal steps, from a random one of the first step.
 * Block 0 is the metapage.
 */
LeafSample
sample_leaves(Relation index)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber candidates = blocks > 0 ? blocks - 1 : 0;
	int			pages = Min(candidates, SAMPLED_PAGES);
	double		stride = pages > 0 ? (double) candidates / pages : 0;
	double		start = stride * pg_prng_double(&pg_global_prng_state);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), 0)->atttypid);
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	bool		has_row_ids;
	bool		deduplicates = false;
	LeafCounts	counts = {0};
	LeafSample	sample = {.uuid_version = NAN};
	double		scale;

	if (blocks > 0)
		_bt_metaversion(index, &has_row_ids, &deduplicates);
	deduplicates &= !index->rd_index->indisunique && BTGetDeduplicateItems(index);

	for (int i = 0; i < pages; i++)
	{
		BlockNumber block = 1 + (BlockNumber) (start + i * stride);
		BTPageOpaque opaque;

		CHECK_FOR_INTERRUPTS();
		if (!copy_page(index, block, strategy, page))
			continue;
		opaque = BTPageGetOpaque(page);
		if (!P_IGNORE(opaque) && P_ISLEAF(opaque))
			count_leaf(index, page, deduplicates, type, &sample, &counts);
	}
	FreeAccessStrategy(strategy);

	if (counts.leaves == 0)
	{
		/* the index has no rows, or the sample contains no leaf page */
		sample.leaf_pages = sample.rows = candidates == 0 ? 0 : NAN;
		sample.density = sample.rebuilt_bytes = NAN;
		return sample;
	}

	sample.leaf_pages = rint(candidates * ((double) counts.leaves / pages));
	scale = sample.leaf_pages / counts.leaves;
	sample.rows = rint(counts.rows * scale);
	sample.density = 1 - counts.free_space / counts.space;
	sample.tuple_bytes = counts.tuple_bytes / Max(counts.tuples, 1);
	sample.rebuilt_bytes = rebuilt_size(index, &counts, scale);
	return sample;
}
