/*
 * advisor.h
 *	  Declarations that the files of the advisor share.
 */
#ifndef IDGEN_ADVISOR_H
#define IDGEN_ADVISOR_H

#include "access/itup.h"
#include "access/nbtree.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

/* Maximum length of the prefix of a prefixed id */
#define PREFIX_BYTES		63

/* Properties of an index, estimated from a sample of its leaf pages; NAN if they are unknown */
typedef struct LeafSample
{
	double		leaf_pages;
	double		rows;
	double		density;		/* 0 to 1 */
	double		tuple_bytes;	/* of a tuple for one row */
	double		rebuilt_bytes;	/* the size of the index after REINDEX */
	double		uuid_version;	/* of all sampled UUIDs, also in text form; 0
								 * if it differs; -1 if a value is not a UUID */

	/*
	 * The prefix of all sampled values, if they are prefixed ids; otherwise
	 * empty. Results must not contain it, because it is a part of the values.
	 */
	char		prefix[PREFIX_BYTES + 1];
} LeafSample;

/* Placement of the newest rows in the order of the keys */
typedef enum Placement
{
	PLACEMENT_UNKNOWN,
	PLACEMENT_ORDERED,			/* one after the other */
	PLACEMENT_LOCAL,			/* on few leaf pages */
	PLACEMENT_SCATTERED,		/* anywhere */
	PLACEMENT_MIXED				/* some on few leaf pages, others anywhere */
} Placement;

/* Properties of the leaf pages of the newest rows */
typedef struct NewestRows
{
	Placement	placement;
	int			located;		/* rows whose leaf page was found */
	int			leaf_pages;		/* number of distinct leaf pages */
	double		images;			/* for rows_per_checkpoint rows; or NAN */
	double		image_bytes;	/* mean size of an image */
	bool		splits_in_middle;	/* the leaf pages of ordered keys are
									 * split in half */
} NewestRows;

/* Maximum number of index pages to read for locating rows */
#define INDEX_PAGES			500

/* Copies of index pages. */
typedef struct IndexPages
{
	Relation	index;
	int			count;
	BlockNumber blocks[INDEX_PAGES];
	Page		pages[INDEX_PAGES]; /* NULL if the page was never used */
} IndexPages;

/* Maximum value of an argument that is a number of rows */
#define MAX_ROWS			1e15

/* The size of a leaf page without its header and special space */
#define LEAF_BYTES			(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)))

extern bool copy_page(Relation relation, BlockNumber block,
					  BufferAccessStrategy strategy, Page copy);
extern Page get_page(IndexPages *pages, BlockNumber block);
extern Page get_leaf(IndexPages *pages, BlockNumber block);
extern OffsetNumber find_item(Relation index, IndexTuple tuple, Page page);
extern bool is_compared_safely(Relation index);
extern bool is_partial(Relation index);
extern bool omits_nulls(Relation index);
extern double distinct_pages(double pages, double changes);
extern LeafSample sample_leaves(Relation index);
extern NewestRows read_newest_rows(Relation index, Relation table, const LeafSample *sample,
								   double rows_per_checkpoint);

#endif							/* IDGEN_ADVISOR_H */
