/*-------------------------------------------------------------------------
 *
 * key_cost.h
 *	  A model of the cost of keys in a B-tree index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_KEY_COST_H
#define IDGEN_KEY_COST_H

extern double key_cost_page_images(double leaf_pages, double inserts);

#endif							/* IDGEN_KEY_COST_H */
