/*
 * shared_memory.h
 *	  Named shared memory, by server version.
 *
 * From version 17 on, the server allocates a segment at its first use.  Earlier
 * versions have a fixed amount of shared memory, part of which a library can
 * request if the postmaster loads it.
 *
 * A function that initializes a segment has the parameters INIT_SEGMENT_ARGS.
 */
#ifndef IDGEN_SHARED_MEMORY_H
#define IDGEN_SHARED_MEMORY_H

#include "storage/lwlock.h"

#if PG_VERSION_NUM >= 190000
#include "storage/dsm_registry.h"

#define INIT_SEGMENT_ARGS	void *segment, void *arg pg_attribute_unused()
#define get_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found, NULL)
#elif PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"

#define INIT_SEGMENT_ARGS	void *segment
#define get_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found)
#else
#include "storage/shmem.h"

#define INIT_SEGMENT_ARGS	void *segment

static inline void *
get_named_segment(const char *name, Size size, void (*init) (void *), bool *found)
{
	void	   *segment;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	segment = ShmemInitStruct(name, size, found);
	if (!*found)
		init(segment);
	LWLockRelease(AddinShmemInitLock);
	return segment;
}
#endif

#endif							/* IDGEN_SHARED_MEMORY_H */
