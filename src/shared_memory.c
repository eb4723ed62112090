/*
 * shared_memory.c
 *	  Named segments of shared memory.
 *
 * If the library is in shared_preload_libraries, the segments are created when
 * the server starts, and each backend inherits their addresses.  Otherwise,
 * other roles can use up the memory before the segments are created, and the
 * behavior depends on the server version:
 *
 * - Since version 17, a segment is in dynamic shared memory.  A backend creates
 *   it, or attaches to it, when it first needs it.  If no memory is available,
 *   the next call tries again.
 * - Before version 17, a segment is in the server's spare shared memory.  The
 *   lock table can use up that memory, and never returns it.  Therefore, the
 *   first call of any function in a session tries to create, or attach to, all
 *   segments.
 *
 * Loading the library succeeds even if no memory is available or a segment has
 * another size.  Only functions that need the segment raise errors (53200;
 * 53000 if the slots of dynamic shared memory are used up; 55000 otherwise).
 *
 * A segment is initialized before the postmaster creates backends, or under an
 * LWLock that each backend acquires to attach to it.  The lock is a memory
 * barrier, so a backend that has the address can read the content that never
 * changes (random keys, signature) without another one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "entropy.h"
#include "shared_memory.h"

static SharedSegment *const *segments = NULL;
static int	segment_count = 0;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* random bytes for a new segment; they are drawn before it is created, because drawing can fail */
static uint8 fresh_random[SEGMENT_RANDOM_BYTES];

/* Attach to a segment in the server's main shared memory, or create it. */
static void *
attach_in_main_memory(const SharedSegment *segment)
{
	bool		found;
	void	   *address;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	address = ShmemInitStruct(segment->name, segment->size, &found);
	if (!found)
		segment->init(address, fresh_random);
	LWLockRelease(AddinShmemInitLock);
	return address;
}

static void
request_segments(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	for (int i = 0; i < segment_count; i++)
		RequestAddinShmemSpace(MAXALIGN(segments[i]->size));
}

/* After a crash of a backend, the server calls this function again, with new memory. */
static void
make_segments(void)
{
	if (previous_startup_hook != NULL)
		previous_startup_hook();
	for (int i = 0; i < segment_count; i++)
	{
		entropy_fill(fresh_random, sizeof(fresh_random));
		segments[i]->address = attach_in_main_memory(segments[i]);
	}
	explicit_bzero(fresh_random, sizeof(fresh_random));
}

#if PG_VERSION_NUM >= 170000

#if PG_VERSION_NUM >= 190000
#define INIT_ARGS	void *address, void *arg pg_attribute_unused()
#define GetNamedDSMSegment(...) GetNamedDSMSegment(__VA_ARGS__, NULL)
#else
#define INIT_ARGS	void *address
#endif

/* the segment for which init_new_segment() is called */
static const SharedSegment *new_segment;

static void
init_new_segment(INIT_ARGS)
{
	new_segment->init(address, fresh_random);
}

/* Attach to a segment in dynamic shared memory, or create it. */
static void *
attach(const SharedSegment *segment)
{
	bool		found;

	new_segment = segment;
	return GetNamedDSMSegment(segment->name, segment->size, init_new_segment, &found);
}

#define try_to_attach_all() ((void) 0)

#else

#define attach(segment)		attach_in_main_memory(segment)

/* Attach to a segment, or create it, without raising an error.  Functions that need it raise the error. */
static void
try_to_attach(SharedSegment *segment)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		(void) shared_segment(segment);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		FlushErrorState();

		/*
		 * After an error in ShmemInitStruct(), only this lock can still be
		 * held.  The error has reset InterruptHoldoffCount, which
		 * LWLockRelease() decrements.
		 */
		if (LWLockHeldByMe(AddinShmemInitLock))
		{
			HOLD_INTERRUPTS();
			LWLockRelease(AddinShmemInitLock);
		}
	}
	PG_END_TRY();
}

static void
try_to_attach_all(void)
{
	for (int i = 0; i < segment_count; i++)
		try_to_attach(segments[i]);
}
#endif

/* Replace the server's error for a segment that has another size, or that could not be created earlier. */
static void
replace_size_error(void *segment)
{
	if (geterrcode() == ERRCODE_INTERNAL_ERROR)
	{
		errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
		errdetail("Shared memory segment \"%s\" was created by another build of the library, or could not be created.",
				  ((SharedSegment *) segment)->name);
		errhint("Restart the server.");
	}
}

/* Return the address of a segment.  Raises an error if it is not available. */
void *
shared_segment(SharedSegment *segment)
{
	if (unlikely(segment->address == NULL))
	{
		ErrorContextCallback context = {error_context_stack, replace_size_error, segment};

		entropy_fill(fresh_random, sizeof(fresh_random));
		error_context_stack = &context;
		segment->address = attach(segment);
		error_context_stack = context.previous;
		explicit_bzero(fresh_random, sizeof(fresh_random));
	}
	return segment->address;
}

/*
 * If the server is starting, arrange for these segments to be created.  In a
 * running server, attach to them now if the server version requires it.
 */
void
shared_memory_init(SharedSegment *const *list, int count)
{
	segments = list;
	segment_count = count;
	if (process_shared_preload_libraries_in_progress)
	{
		previous_request_hook = shmem_request_hook;
		shmem_request_hook = request_segments;
		previous_startup_hook = shmem_startup_hook;
		shmem_startup_hook = make_segments;
	}
	else
		try_to_attach_all();
}
