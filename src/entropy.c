/*
 * entropy.c
 *	  A pool of random bits for the generators.
 *
 * pg_strong_random() costs about as much for 4 KiB as for 16 bytes.
 * Therefore, each backend draws a block at a time and uses 64 bits of it per
 * call.  Two rules make this as safe as calling pg_strong_random() for each
 * identifier:
 *
 * - Bits are erased when they are used.  The memory of a backend, for example
 *   in a core file, therefore does not reveal earlier identifiers.
 * - Each process has its own pool, and its own generator state, such as the
 *   last values and runs.  Child processes inherit the memory of the
 *   postmaster.  Therefore, the postmaster has no pool and generates no
 *   identifiers.  (If code in a backend forks a process, for example with
 *   os.fork() in PL/Python, that process generates the same identifiers as the
 *   backend.)
 */
#include "postgres.h"

#include "miscadmin.h"

#include "entropy.h"

#define POOL_SIZE	512			/* 4 KiB */

static uint64 pool[POOL_SIZE];
static int	pool_next = POOL_SIZE;	/* the first unused element */

/* Fill memory with random bytes from the server's generator, not from the pool. */
void
entropy_fill(void *bytes, Size size)
{
	if (!pg_strong_random(bytes, size))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Return 64 random bits that have not been used before. */
uint64
entropy_uint64(void)
{
	volatile uint64 *element;
	uint64		result;

	if (unlikely(pool_next == POOL_SIZE))
	{
		if (IsPostmasterEnvironment && !IsUnderPostmaster)
			elog(ERROR, "identifiers cannot be generated in the postmaster");
		entropy_fill(pool, sizeof(pool));
		pool_next = 0;
	}

	/* volatile, so that compilers do not remove the erasure as a dead store */
	Assert(pool_next >= 0 && pool_next < POOL_SIZE);
	element = &pool[pool_next++];
	result = *element;
	*element = 0;
	return result;
}
