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

/* Leaf pages of an index, sampled; NAN for values that are not known. */
typedef struct LeafSample
{
	double		leaf_pages;
	double		rows;
	double		density;		/* 0 to 1 */
	double		tuple_bytes;	/* of a tuple for one row */
	double		rebuilt_bytes;	/* the size of the index after REINDEX */
	double		uuid_version;	/* of all sampled UUIDs, or texts of UUIDs; 0
								 * if they differ; -1 if a value is no UUID */
} LeafSample;

/* Where the newest rows are in the order of the keys. */
typedef enum Placement
{
	PLACEMENT_UNKNOWN,
	PLACEMENT_ORDERED,			/* one after the other */
	PLACEMENT_LOCAL,			/* on few leaf pages */
	PLACEMENT_SCATTERED,		/* anywhere */
	PLACEMENT_MIXED				/* a part on few leaf pages, a part anywhere */
} Placement;

/* The leaf pages of the newest rows. */
typedef struct NewestRows
{
	Placement	placement;
	int			located;		/* rows whose leaf page was found */
	int			leaf_pages;		/* different leaf pages */
	double		images;			/* of rows_per_checkpoint rows; NAN: not known */
	double		image_bytes;	/* of one of them */
	bool		splits_in_middle;	/* keys in order whose leaf pages are
									 * split in halves */
} NewestRows;

/* Maximum number of index pages to read when rows are located */
#define INDEX_PAGES			500

/* Copies of index pages. */
typedef struct IndexPages
{
	Relation	index;
	int			count;
	BlockNumber blocks[INDEX_PAGES];
	Page		pages[INDEX_PAGES]; /* NULL if it was never used */
} IndexPages;

/* Maximum of an argument that is a number of rows */
#define MAX_ROWS			1e15

/* A leaf page without its header and special space */
#define LEAF_BYTES			(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)))

extern bool copy_page(Relation relation, BlockNumber block,
					  BufferAccessStrategy strategy, Page copy);
extern Page get_page(IndexPages *pages, BlockNumber block);
extern Page get_leaf(IndexPages *pages, BlockNumber block);
extern OffsetNumber find_item(Relation index, IndexTuple tuple, Page page);
extern double distinct_pages(double pages, double changes);
extern LeafSample sample_leaves(Relation index);
extern NewestRows read_newest_rows(Relation index, Relation table, const LeafSample *sample,
								   double rows_per_checkpoint);

#endif							/* IDGEN_ADVISOR_H */
