/*-------------------------------------------------------------------------
 *
 * entropy.c
 *	  The pool of random bits under every generator.
 *
 * pg_strong_random() costs about as much for 4 KiB as for 16 bytes, so each
 * backend draws a block at a time and hands it out word by word.  Two rules
 * keep that as safe as a call per identifier:
 *
 * - A word that was handed out is wiped, so that nothing read from the
 *   backend's memory later (a core file, say) tells an identifier made before.
 * - A pool is used only by the process that filled it.  A fork copies the
 *   pool; the copy knows by its process id that it has to draw a new one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "entropy.h"

#define POOL_WORDS	512			/* 4 KiB */

static uint64 pool[POOL_WORDS];
static int	pool_next = POOL_WORDS; /* first word that was not handed out */
static int	pool_owner = 0;		/* process that filled the pool */

static void
fill_pool(void)
{
	pool_next = POOL_WORDS;
	if (!pg_strong_random(pool, sizeof(pool)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	pool_owner = MyProcPid;
	pool_next = 0;
}

/*
 * 64 random bits that nobody has seen and nobody will see again.
 */
uint64
entropy_uint64(void)
{
	volatile uint64 *slot;
	uint64		word;

	if (unlikely(pool_next == POOL_WORDS || pool_owner != MyProcPid))
		fill_pool();

	/* volatile, so that no compiler takes the wipe for a dead store */
	slot = &pool[pool_next++];
	word = *slot;
	*slot = 0;
	return word;
}
