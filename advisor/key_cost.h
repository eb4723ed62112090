/*-------------------------------------------------------------------------
 *
 * key_cost.h
 *	  What a kind of key costs on a B-tree index: a model on paper.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_KEY_COST_H
#define IDGEN_KEY_COST_H

extern double key_cost_page_images(double leaf_pages, double inserts);

#endif							/* IDGEN_KEY_COST_H */
