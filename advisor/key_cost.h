/*-------------------------------------------------------------------------
 *
 * key_cost.h
 *	  A model of the cost of keys in a B-tree index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_KEY_COST_H
#define IDGEN_KEY_COST_H

/* Recommended arguments of short_comb(). */
typedef struct KeyCostAdvice
{
	int			period_s;
	int			prefix_bytes;
	double		index_bytes;	/* the expected size of the index */
} KeyCostAdvice;

extern double key_cost_page_images(double leaf_pages, double inserts);
extern KeyCostAdvice key_cost_advice(double index_rows, double rows_per_second);

#endif							/* IDGEN_KEY_COST_H */
