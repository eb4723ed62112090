/*-------------------------------------------------------------------------
 *
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
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/nbtree.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "leaf_fill.h"

/* Small simulations are repeated up to this number of times. */
#define MAX_ROUNDS			8

/* The rows of a prefix or of a cycle on more leaves than these may be halved. */
#define MANY_LEAVES			8

/* A key has 32 bits of prefix, 16 of the run's tag, and 16 of its own. */
#define MAX_PREFIXES		4294967296.0
#define PREFIX_SHIFT		32
#define TAG_SHIFT			16
#define LOW_16_BITS			0xFFFF

typedef struct Leaf
{
	int			count;
	uint64		keys[FLEXIBLE_ARRAY_MEMBER];
} Leaf;

/* The leaves in the order of their keys. */
typedef struct Leaves
{
	Leaf	  **leaves;
	int			count;
	int			allocated;
	int			capacity;		/* of a leaf with a high key */
} Leaves;

static void
add_leaf(Leaves *index, int place)
{
	if (index->count == index->allocated)
	{
		index->allocated *= 2;
		index->leaves = repalloc(index->leaves, index->allocated * sizeof(Leaf *));
	}
	memmove(index->leaves + place + 1, index->leaves + place,
			(index->count - place) * sizeof(Leaf *));
	/* room for the key that does not fit, and for one instead of the high key */
	index->leaves[place] = palloc(offsetof(Leaf, keys) +
								  (index->capacity + 2) * sizeof(uint64));
	index->leaves[place]->count = 0;
	index->count++;
}

/*
 * Split a leaf that has a key too many: the last one at its fillfactor, all
 * others in the middle.
 */
static void
split(Leaves *index, int place)
{
	Leaf	   *left = index->leaves[place];
	bool		is_last = place == index->count - 1;
	int			keep = is_last ? (index->capacity + 1) * BTREE_DEFAULT_FILLFACTOR / 100 :
		left->count / 2;
	Leaf	   *right;

	keep = Max(keep, 1);
	add_leaf(index, place + 1);
	right = index->leaves[place + 1];
	right->count = left->count - keep;
	memcpy(right->keys, left->keys + keep, right->count * sizeof(uint64));
	left->count = keep;
}

static void
insert(Leaves *index, uint64 key)
{
	int			low = 0;
	int			high = index->count - 1;
	int			place;
	Leaf	   *leaf;

	/* the last leaf whose first key is not greater */
	while (low < high)
	{
		int			middle = (low + high + 1) / 2;

		if (index->leaves[middle]->keys[0] <= key)
			low = middle;
		else
			high = middle - 1;
	}
	place = low;
	leaf = index->leaves[place];

	low = 0;
	high = leaf->count;
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (leaf->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(leaf->keys + low + 1, leaf->keys + low, (leaf->count - low) * sizeof(uint64));
	leaf->keys[low] = key;
	leaf->count++;

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
scale_down(KeyOrder *order, double *first_row, int capacity)
{
	double		many_rows = MANY_LEAVES * capacity * M_LN2;

	while (order->rows > order->simulated_leaves * capacity)
	{
		double		period_rows = order->period_rows;
		double		cycle_rows = period_rows * order->prefixes;

		if (period_rows > many_rows)
		{
			order->rows /= 2;
			order->period_rows /= 2;
			*first_row /= 2;
		}
		else if (cycle_rows > many_rows)
		{
			order->rows -= period_rows * round(order->rows / 2 / period_rows);
			order->prefixes /= 2;
			*first_row -= period_rows * round(*first_row / 2 / period_rows);
		}
		else
			order->rows -= cycle_rows * ceil(order->rows / 2 / cycle_rows);
	}
}

/*
 * Insert the rows into an empty index, from that place in the cycle on; return
 * the number of leaves.
 */
static int
fill(const KeyOrder *order, double first_row, int capacity, pg_prng_state *random)
{
	Leaves		index = {.allocated = 64, .capacity = capacity};
	double		moment = first_row / order->period_rows;
	double		period = -1;
	double		rows_of_period = 0;
	double		left_in_run = 0;
	uint64		tag = 0;

	index.leaves = palloc(index.allocated * sizeof(Leaf *));
	add_leaf(&index, 0);
	for (int64 n = 0; n < (int64) order->rows; n++)
	{
		if (period != floor(moment))
		{
			period = floor(moment);
			rows_of_period = order->period_rows *
				(order->varies ? 0.5 + pg_prng_double(random) : 1);
			left_in_run = 0;
		}
		if (left_in_run < 1)
		{
			left_in_run = order->run_length;
			tag = pg_prng_uint32(random) & LOW_16_BITS;
		}
		left_in_run--;
		insert(&index, (uint64) fmod(period, order->prefixes) << PREFIX_SHIFT |
			   tag << TAG_SHIFT | (pg_prng_uint32(random) & LOW_16_BITS));
		moment += 1 / rows_of_period;
		CHECK_FOR_INTERRUPTS();
	}
	return index.count;
}

/*
 * The number of leaves on which the keys are, with room for capacity keys each:
 * the mean of several simulations if they are small.
 */
double
leaf_fill_leaves(KeyOrder order, int capacity)
{
	double		rows = order.rows;
	double		cycle_rows;
	double		first_row;
	double		leaves = 0;
	int			rounds;
	MemoryContext context;
	MemoryContext caller;
	pg_prng_state random;

	if (order.prefixes > MAX_PREFIXES)
	{
		order.prefixes = MAX_PREFIXES;
		order.rows_in_cycle = Min(order.rows_in_cycle, order.period_rows * MAX_PREFIXES);
	}
	if (rows < 1)
		return rows > 0 ? 1 : 0;
	cycle_rows = order.period_rows * order.prefixes;
	first_row = order.rows_in_cycle - rows;
	first_row -= floor(first_row / cycle_rows) * cycle_rows;
	scale_down(&order, &first_row, capacity);

	context = AllocSetContextCreate(CurrentMemoryContext, "idgen leaves", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	pg_prng_seed(&random, 0);
	rounds = Min(ceil(order.simulated_leaves * capacity / order.rows), MAX_ROUNDS);
	for (int i = 0; i < rounds; i++)
	{
		leaves += (double) fill(&order, first_row, capacity, &random) / rounds;
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return rows / floor(order.rows) * leaves;
}
