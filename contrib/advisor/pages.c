/*
 * pages.c
 *	  Copying pages, searching them, and finding out which indexes can be
 *	  searched.
 *
 * Without checksums, the server detects a damaged page only by its header, and
 * queries follow even damaged line pointers.  The report reads pages that no
 * query needs to read, and must not crash the server.  Therefore, like
 * amcheck, it checks that the tuples of a copy lie within the page, and that
 * their values lie within the tuples.  It sets the flags for values of variable
 * width: without them, the server would store wrong offsets of columns in the
 * relation cache.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "access/tupmacs.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "advisor.h"
#include "compat.h"

/*
 * Does the value have a form that can be on a page?  Only values in tables can
 * be TOAST pointers, which must be of the on-disk kind.
 */
static bool
has_stored_form(struct varlena *value, Size size, bool is_index)
{
	if (VARATT_IS_1B_E(value))
		return !is_index && size >= TOAST_POINTER_SIZE && VARTAG_EXTERNAL(value) == VARTAG_ONDISK;
	return VARATT_IS_1B(value) ||
		((Pointer) value == (Pointer) INTALIGN(value) && size >= VARHDRSZ &&
		 VARSIZE_4B(value) >= (VARATT_IS_4B_C(value) ? VARHDRSZ_COMPRESSED : VARHDRSZ));
}

/* Do the values of the first "count" columns lie within "size" bytes of data? */
static bool
values_fit(Relation relation, int count, const uint8 *nulls, char *data, Size size)
{
	bool		is_index = relation->rd_rel->relkind == RELKIND_INDEX;
	Size		offset = 0;

	for (int i = 0; i < count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), i);

		if (nulls != NULL && att_isnull(i, nulls))
			continue;
		if (offset >= size)
			return false;
		offset = att_align_pointer(offset, column->attalign, column->attlen, data + offset);
		if (offset >= size ||
			(column->attlen == -1 &&
			 !has_stored_form((struct varlena *) (data + offset), size - offset, is_index)) ||
			(column->attlen == -2 && memchr(data + offset, '\0', size - offset) == NULL))
			return false;
		offset = att_addlength_pointer(offset, column->attlen, data + offset);
		if (offset > size)
			return false;
	}
	return true;
}

static bool
is_index_tuple(Relation index, BTPageOpaque page, OffsetNumber offset, IndexTuple tuple, Size size)
{
	bool		is_data = offset >= P_FIRSTDATAKEY(page);
	Size		key_size = size;
	Size		begin;

	if (size < sizeof(IndexTupleData) || IndexTupleSize(tuple) != size || size > LEAF_BYTES / 3)
		return false;
	if (BTreeTupleIsPosting(tuple))
	{
		key_size = BTreeTupleGetPostingOffset(tuple);
		if (!P_ISLEAF(page) || key_size != MAXALIGN(key_size) || key_size > size ||
			size - key_size < BTreeTupleGetNPosting(tuple) * sizeof(ItemPointerData))
			return false;
	}
	else if (BTreeTupleIsPivot(tuple))
	{
		if (P_ISLEAF(page) && is_data)
			return false;
		if (BTreeTupleGetHeapTID(tuple) != NULL)
			key_size -= Min(key_size, sizeof(ItemPointerData));
	}
	/* an internal page's first item has no key, and is less than all keys */
	if (!P_ISLEAF(page) && offset == P_FIRSTDATAKEY(page))
		return true;
	begin = IndexInfoFindDataOffset(tuple->t_info);
	tuple->t_info |= INDEX_VAR_MASK;
	return key_size >= begin && BTreeTupleGetNAtts(tuple, index) <= RelationGetDescr(index)->natts &&
		values_fit(index, BTreeTupleGetNAtts(tuple, index),
				   IndexTupleHasNulls(tuple) ? (uint8 *) tuple + sizeof(IndexTupleData) : NULL,
				   (char *) tuple + begin, key_size - begin);
}

static bool
is_row(Relation table, HeapTupleHeader row, Size size)
{
	int			count;
	bool		has_nulls;

	if (size < SizeofHeapTupleHeader)
		return false;
	count = HeapTupleHeaderGetNatts(row);
	has_nulls = row->t_infomask & HEAP_HASNULL;
	row->t_infomask |= HEAP_HASVARWIDTH;
	return count <= RelationGetDescr(table)->natts && row->t_hoff <= size &&
		row->t_hoff == MAXALIGN(SizeofHeapTupleHeader + (has_nulls ? BITMAPLEN(count) : 0)) &&
		values_fit(table, count, has_nulls ? row->t_bits : NULL, (char *) row + row->t_hoff, size - row->t_hoff);
}

/*
 * Raise an error if the page is damaged.  The metapage has no items, and the
 * items of a deleted page are not read.
 */
static void
check_page(Relation relation, BlockNumber block, Page page)
{
	bool		is_index = relation->rd_rel->relkind == RELKIND_INDEX;
	PageHeader	header = (PageHeader) page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	BTPageOpaque opaque = is_index ? BTPageGetOpaque(page) : NULL;
	bool		is_sound;

	if (is_index && (block == BTREE_METAPAGE || P_IGNORE(opaque)))
		return;
	is_sound = !is_index || P_ISLEAF(opaque) || last >= P_FIRSTDATAKEY(opaque);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last && is_sound; offset++)
	{
		ItemId		line = PageGetItemId(page, offset);
		Size		begin = ItemIdGetOffset(line);
		Size		size = ItemIdGetLength(line);
		char	   *tuple = (char *) page + begin;

		if (!is_index && !ItemIdIsNormal(line))
			continue;
		is_sound = (ItemIdIsNormal(line) || ItemIdIsDead(line)) && begin == MAXALIGN(begin) &&
			begin >= header->pd_upper && begin + size <= header->pd_special &&
			(is_index ? is_index_tuple(relation, opaque, offset, (IndexTuple) tuple, size)
			 : is_row(relation, (HeapTupleHeader) tuple, size));
	}
	if (!is_sound)
		ereport(ERROR,
				(errcode(is_index ? ERRCODE_INDEX_CORRUPTED : ERRCODE_DATA_CORRUPTED),
				 errmsg("relation \"%s\" contains a corrupted page at block %u",
						RelationGetRelationName(relation), block)));
}

/* Copy a page of an index or a table, and check it.  Returns false if the page was never used. */
bool
copy_page(Relation relation, BlockNumber block, BufferAccessStrategy strategy,
		  Page copy)
{
	Buffer		buffer = ReadBufferExtended(relation, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	bool		used;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	used = !PageIsNew(BufferGetPage(buffer));
	if (used)
	{
		if (relation->rd_rel->relkind == RELKIND_INDEX)
			_bt_checkpage(relation, buffer);
		memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	}
	UnlockReleaseBuffer(buffer);
	if (used)
		check_page(relation, block, copy);
	return used;
}

/* Return a copy of a page, or NULL if the page was never used or no more pages may be read. */
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

/* Like get_page(), but also returns NULL if the page is no longer a leaf. */
Page
get_leaf(IndexPages *pages, BlockNumber block)
{
	Page		page = get_page(pages, block);

	return page != NULL && P_ISLEAF(BTPageGetOpaque(page)) && !P_IGNORE(BTPageGetOpaque(page)) ?
		page : NULL;
}

/* Return the last item of a page that is less than a tuple, or the first item if there is none. */
OffsetNumber
find_item(Relation index, IndexTuple tuple, Page page)
{
	BTScanInsert key = _bt_mkscankey(index, tuple);
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = PageGetMaxOffsetNumber(page);

	if (key->heapkeyspace)
		key->scantid = &tuple->t_tid;
	while (low < high)
	{
		OffsetNumber middle = low + (high - low + 1) / 2;

		if (_bt_compare(index, key, page, middle) > 0)
			low = middle;
		else
			high = middle - 1;
	}
	pfree(key);
	return low;
}

/*
 * Are the key columns compared only by built-in code, and is every sequence of
 * bytes a valid value of their types?  This is not true of arrays, composite
 * types or ranges: they are compared by the functions of their elements, and
 * check_page() does not check their structure.
 */
bool
is_compared_safely(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), i);
		Oid			type = getBaseType(column->atttypid);

		if (index_getprocid(index, i + 1, BTORDER_PROC) >= FirstUnpinnedObjectId ||
			(type >= FirstUnpinnedObjectId && !type_is_enum(type)) ||
			(column->attlen < 0 && type != TEXTOID && type != VARCHAROID && type != BPCHAROID &&
			 type != BYTEAOID && type != NUMERICOID))
			return false;
	}
	return true;
}

bool
is_partial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* Does a partial index omit only the rows whose first column is null?  The predicate is read, but not evaluated. */
bool
omits_nulls(Relation index)
{
	bool		isnull;
	Datum		predicate = SysCacheGetAttr(INDEXRELID, index->rd_indextuple, Anum_pg_index_indpred, &isnull);
	NullTest   *test = stringToNode(TextDatumGetCString(predicate));

	return IsA(test, NullTest) && test->nulltesttype == IS_NOT_NULL && IsA(test->arg, Var) &&
		((Var *) test->arg)->varattno == index->rd_index->indkey.values[0];
}
