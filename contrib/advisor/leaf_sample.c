/*
 * leaf_sample.c
 *	  A sample of the leaf pages of a B-tree index.
 *
 * Pages are read at equal intervals over the whole file.  Each page is locked
 * in share mode while it is copied.  An index of at most SAMPLED_PAGES pages is
 * read entirely.
 */
#include "postgres.h"

#include <math.h>

#include "access/itup.h"
#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"

#include "advisor.h"
#include "compat.h"
#include "uuid_bits.h"

#define SAMPLED_PAGES		1000

/* The uuid_version of a value that is not a UUID; less than all versions */
#define NO_UUID				(-1)

#define UUID_TEXT_BYTES		36

/* Number of digits of a prefixed id, which follow its prefix and an underscore */
#define PREFIXED_DIGITS		25

/* Sums over the sampled leaf pages */
typedef struct LeafCounts
{
	int			leaves;
	double		space;
	double		free_space;
	double		rows;
	double		tuples;
	double		tuple_bytes;	/* if each tuple had one row */
} LeafCounts;

/* Return the value of a hexadecimal digit in lower case, or -1. */
static int
hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Is the value a UUID as uuid_out() writes it? */
static bool
is_canonical_uuid(const char *digits, Size length)
{
	if (length != UUID_TEXT_BYTES)
		return false;
	for (int i = 0; i < UUID_TEXT_BYTES; i++)
	{
		bool		is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_hyphen ? digits[i] != '-' : hex_value(digits[i]) < 0)
			return false;
	}
	return true;
}

static bool
is_letter(char digit)
{
	return digit >= 'a' && digit <= 'z';
}

static bool
is_letter_or_digit(char digit)
{
	return is_letter(digit) || (digit >= '0' && digit <= '9');
}

/* Return the length of a prefixed id's prefix, or 0 if the value is not a prefixed id. */
static Size
prefix_length(const char *digits, Size length)
{
	Size		prefix = length - PREFIXED_DIGITS - 1;

	if (length < PREFIXED_DIGITS + 2 || length > PREFIX_BYTES + 1 + PREFIXED_DIGITS ||
		!is_letter(digits[0]) || digits[prefix - 1] == '_' || digits[prefix] != '_')
		return 0;
	for (Size i = 0; i < length; i++)
	{
		if (!is_letter_or_digit(digits[i]) && (i > prefix || digits[i] != '_'))
			return 0;
	}
	return prefix;
}

/* Update the prefix for a text value that is not a UUID. */
static void
count_prefix(Datum value, LeafSample *sample)
{
	const char *digits = VARDATA_ANY(DatumGetPointer(value));
	Size		length = prefix_length(digits, VARSIZE_ANY_EXHDR(DatumGetPointer(value)));

	if (isnan(sample->uuid_version))
		memcpy(sample->prefix, digits, length);
	else if (length != strlen(sample->prefix) || memcmp(sample->prefix, digits, length) != 0)
		sample->prefix[0] = '\0';
}

/* Return the version of a UUID, 0 if its variant is not that of RFC 9562, or NO_UUID. */
static int
version_of(Datum value, Oid type)
{
	const char *digits;

	if (type == UUIDOID)
		return uuid_is_rfc_variant(DatumGetUUIDP(value)) ? uuid_version_nibble(DatumGetUUIDP(value)) : 0;

	digits = VARDATA_ANY(DatumGetPointer(value));
	if (!is_canonical_uuid(digits, VARSIZE_ANY_EXHDR(DatumGetPointer(value))))
		return NO_UUID;
	return hex_value(digits[19]) >> 2 == UUID_VARIANT_RFC ? hex_value(digits[14]) : 0;
}

/* Update uuid_version and the prefix for the value in the first column. */
static void
count_version(Relation index, IndexTuple item, Oid type, LeafSample *sample)
{
	bool		isnull;
	Datum		value = index_getattr(item, 1, RelationGetDescr(index), &isnull);
	int			version;

	if (isnull)
		return;
	version = version_of(value, type);
	if (version == NO_UUID)
		count_prefix(value, sample);
	else
		sample->prefix[0] = '\0';
	if (isnan(sample->uuid_version) || sample->uuid_version == version)
		sample->uuid_version = version;
	else
		sample->uuid_version = Min(Min(sample->uuid_version, version), 0);
}

/* Return the size of a tuple without its posting list. */
static Size
key_tuple_size(IndexTuple item)
{
	return BTreeTupleIsPosting(item) ? BTreeTupleGetPostingOffset(item) : IndexTupleSize(item);
}

static void
count_leaf(Relation index, Page page, Oid type, LeafSample *sample, LeafCounts *counts)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	PageHeader	header = (PageHeader) page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	/* computed as in pgstatindex() */
	counts->leaves++;
	counts->space += header->pd_special - SizeOfPageHeaderData;
	counts->free_space += PageGetFreeSpace(page);

	for (OffsetNumber offset = P_FIRSTDATAKEY(opaque); offset <= last; offset++)
	{
		ItemId		line = PageGetItemId(page, offset);
		IndexTuple	item = (IndexTuple) PageGetItem(page, line);

		if (ItemIdIsDead(line))
			continue;
		counts->rows += BTreeTupleIsPosting(item) ? BTreeTupleGetNPosting(item) : 1;
		counts->tuples++;
		counts->tuple_bytes += key_tuple_size(item);
		if (sample->uuid_version != NO_UUID || sample->prefix[0] != '\0')
			count_version(index, item, type, sample);
	}
}

/*
 * Estimate the size of the index after REINDEX.  REINDEX fills each leaf up to
 * the fillfactor, but on average leaves the space of another half tuple free.
 * It does not enlarge posting list tuples.
 */
static double
rebuilt_size(Relation index, const LeafSample *sample)
{
	double		item = sample->tuple_bytes + sizeof(ItemIdData);
	double		filled = LEAF_BYTES - BLCKSZ * (100 - BTGetFillFactor(index)) / 100.0 - item / 2;
	double		level = ceil(sample->leaf_pages * sample->density * LEAF_BYTES / Max(filled, item));
	double		pages = 1 + level;

	while (level > 1)
	{
		level = ceil(level * item / (LEAF_BYTES * BTREE_NONLEAF_FILLFACTOR / 100.0));
		pages += level;
	}
	return pages * BLCKSZ;
}

/*
 * Read pages of the index at equal intervals, beginning with a random page of
 * the first interval.  Block 0 is the metapage.
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
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);
	Oid			type = getBaseType(column->atttypid);
	bool		is_text = column->attlen == -1 && TypeCategory(type) == TYPCATEGORY_STRING;
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	LeafCounts	counts = {0};
	LeafSample	sample = {.uuid_version = NAN};

	if (type != UUIDOID && !is_text)
		sample.uuid_version = NO_UUID;

	/* read the metapage, so that an empty index is checked, too */
	if (blocks > 0)
		copy_page(index, BTREE_METAPAGE, strategy, page);

	for (int i = 0; i < pages; i++)
	{
		BlockNumber block = 1 + (BlockNumber) (start + i * stride);
		BTPageOpaque opaque;

		CHECK_FOR_INTERRUPTS();
		if (!copy_page(index, block, strategy, page))
			continue;
		opaque = BTPageGetOpaque(page);
		if (!P_IGNORE(opaque) && P_ISLEAF(opaque))
			count_leaf(index, page, type, &sample, &counts);
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
	sample.rows = rint(counts.rows / counts.leaves * sample.leaf_pages);
	sample.density = 1 - counts.free_space / counts.space;
	sample.tuple_bytes = counts.tuple_bytes / Max(counts.tuples, 1);
	sample.rebuilt_bytes = rebuilt_size(index, &sample);
	return sample;
}
