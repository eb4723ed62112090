/*
 * index_pages.c
 *	  Copies of pages, and searches in them.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"

#include "advisor.h"

/* Copy a page, also one of a table, and check it; false if it was never used. */
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

/* A copy of a leaf page; NULL also if the page is no leaf any more. */
Page
get_leaf(IndexPages *pages, BlockNumber block)
{
	Page		page = get_page(pages, block);

	return page != NULL && P_ISLEAF(BTPageGetOpaque(page)) && !P_IGNORE(BTPageGetOpaque(page)) ?
		page : NULL;
}

/* The last item of a page that is less than a tuple, or else the first one. */
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
