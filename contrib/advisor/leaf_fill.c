/*
 * leaf_fill.c
 *	  How full the leaves of a B-tree index become.
 *
 * There is no formula for keys that are random within a period: it depends on
 * the rows of a period whether a leaf gets more rows after it was split, and
 * whether that happens before or after the prefixes have begun again.
 * Therefore, the inserts are simulated, on leaves that contain nothing but
 * numbers, in the order of the keys and with nbtree's rules for splits.
 *
 * A large index is simulated as a smaller one with the same number of rows for
 * a prefix, so that the cost does not depend on its size.  The random numbers
 * are the same in each call: the result depends on the arguments only.
 */
#include "postgres.h"

#include <math.h>

#include "access/itup.h"
#include "access/nbtree.h"
#include "common/pg_prng.h"
#include "miscadmin.h"

#include "advisor.h"

/* The full leaves of an index that is not scaled down, and of one that is. */
#define EXACT_LEAVES		700
#define SIMULATED_LEAVES	240

/* The rows of a prefix or of a cycle on more leaves than these may be halved. */
#define MANY_LEAVES			8

/* The fraction of a key must have 20 bits. */
#define MAX_PREFIXES		4294967296.0

/*
 * The order in which keys arrive.  Those of a period share a prefix and are
 * random behind it; the prefixes ascend, and begin again after a cycle.
 * Random keys are those of one period.
 */
typedef struct KeyOrder
{
	double		rows;
	double		period_rows;	/* rows of one period */
	double		prefixes;		/* periods of a cycle */
	double		first_row;		/* its place in the cycle */
	bool		varies;			/* periods have half to one and a half of the
								 * rows */
} KeyOrder;

/* A leaf and its keys: the number of the prefix, and a random fraction. */
typedef struct Leaf
{
	int			count;
	double	   *keys;
} Leaf;

/* The leaves in the order of their keys. */
typedef struct Leaves
{
	Leaf	   *leaves;
	int			count;
	int			capacity;		/* of a leaf with a high key */
} Leaves;

/*
 * Split a leaf that has a key too many: the last one at its fillfactor, all
 * others in the middle.
 */
static void
split(Leaves *index, int place)
{
	Leaf	   *left = &index->leaves[place];
	Leaf	   *right = left + 1;
	int			keep = left->count / 2;

	if (place == index->count - 1)
		keep = Max((index->capacity + 1) * BTREE_DEFAULT_FILLFACTOR / 100, 1);
	memmove(right + 1, right, (index->count - place - 1) * sizeof(Leaf));
	index->count++;
	right->count = left->count - keep;
	/* room for the key that does not fit, and for one instead of the high key */
	right->keys = palloc((index->capacity + 2) * sizeof(double));
	memcpy(right->keys, left->keys + keep, right->count * sizeof(double));
	left->count = keep;
}

static void
insert(Leaves *index, double key)
{
	int			place = 0;
	int			end = index->count;
	Leaf	   *leaf;
	int			i;

	/* the last leaf whose first key is not greater */
	while (end - place > 1)
	{
		int			middle = (place + end) / 2;

		if (index->leaves[middle].keys[0] <= key)
			place = middle;
		else
			end = middle;
	}

	leaf = &index->leaves[place];
	for (i = leaf->count++; i > 0 && leaf->keys[i - 1] >= key; i--)
		leaf->keys[i] = leaf->keys[i - 1];
	leaf->keys[i] = key;

	/* the last leaf has no high key */
	if (leaf->count > index->capacity + (place == index->count - 1 ? 1 : 0))
		split(index, place);
}

/*
 * Halve the number of rows until they can be simulated.  Leave out other
 * periods if a cycle has many leaves, rows of each period if a period alone
 * has, and else entire cycles.  The places in the cycle and in the period of
 * the first and of the last row, and the number of rows up to powers of two,
 * stay the same: leaves that were filled at the same time are split at the
 * same time.
 */
static void
scale_down(KeyOrder *order, int capacity)
{
	double		many_rows = MANY_LEAVES * capacity * M_LN2;

	if (order->rows <= EXACT_LEAVES * capacity)
		return;
	while (order->rows > SIMULATED_LEAVES * capacity)
	{
		double		period_rows = order->period_rows;
		double		cycle_rows = period_rows * order->prefixes;

		if (period_rows > many_rows)
		{
			order->rows /= 2;
			order->period_rows /= 2;
			order->first_row /= 2;
		}
		else if (cycle_rows > many_rows)
		{
			order->rows -= period_rows * round(order->rows / 2 / period_rows);
			order->prefixes /= 2;
			order->first_row -= period_rows * round(order->first_row / 2 / period_rows);
		}
		else
			order->rows -= cycle_rows * ceil(order->rows / 2 / cycle_rows);
	}
}

/* Insert the rows into an empty index; return the number of leaves. */
static int
fill(const KeyOrder *order, int capacity)
{
	Leaves		index = {.count = 1,.capacity = capacity};
	double		moment = order->first_row / order->period_rows;
	double		period = -1;
	double		step = 0;
	pg_prng_state random;

	pg_prng_seed(&random, 0);
	/* all leaves but the last are at least half full */
	index.leaves = palloc(((int) order->rows / ((capacity + 1) / 2) + 3) * sizeof(Leaf));
	index.leaves[0].count = 0;
	index.leaves[0].keys = palloc((capacity + 2) * sizeof(double));
	for (int n = 0; n < (int) order->rows; n++)
	{
		if (period != floor(moment))
		{
			period = floor(moment);
			step = 1 / (order->period_rows * (order->varies ? 0.5 + pg_prng_double(&random) : 1));
		}
		insert(&index, fmod(period, order->prefixes) + pg_prng_double(&random));
		moment += step;
		CHECK_FOR_INTERRUPTS();
	}
	return index.count;
}

/*
 * The number of leaves on which the keys are, with room for capacity keys each;
 * rows_in_cycle is the place of the last row, and varies that of the rows of a
 * period.
 */
double
filled_leaves(double rows, double period_rows, double prefixes, double rows_in_cycle, bool varies, int capacity)
{
	KeyOrder	order = {
		.rows = rows,
		.period_rows = period_rows,
		.prefixes = Min(prefixes, MAX_PREFIXES),
		.first_row = rows_in_cycle - rows,
		.varies = varies
	};
	double		cycle_rows = order.period_rows * order.prefixes;

	if (rows < 1)
		return rows > 0 ? 1 : 0;
	order.first_row -= floor(order.first_row / cycle_rows) * cycle_rows;
	scale_down(&order, capacity);
	return rows / floor(order.rows) * fill(&order, capacity);
}
