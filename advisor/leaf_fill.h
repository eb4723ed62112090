/*-------------------------------------------------------------------------
 *
 * leaf_fill.h
 *	  How full the leaves of a B-tree index become.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_LEAF_FILL_H
#define IDGEN_LEAF_FILL_H

/*
 * The order in which keys arrive.  Those of a period share a prefix and are
 * random behind it; the prefixes ascend, and begin again after a cycle.
 * Random keys are those of one period, ascending ones those of as many periods
 * as there are rows.
 */
typedef struct KeyOrder
{
	double		rows;
	double		period_rows;	/* rows of one period */
	double		prefixes;		/* periods of a cycle */
	double		rows_in_cycle;	/* rows that the current cycle has had */
	double		run_length;		/* keys in a row that share a tag */
	bool		varies;			/* periods have half to one and a half of the rows */
	int			simulated_leaves;	/* a greater index is scaled down */
} KeyOrder;

extern double leaf_fill_leaves(KeyOrder order, int capacity);

#endif							/* IDGEN_LEAF_FILL_H */
