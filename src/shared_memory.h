/*
 * shared_memory.h
 *	  Named segments of shared memory, which are initialized with random bytes.
 */
#ifndef IDGEN_SHARED_MEMORY_H
#define IDGEN_SHARED_MEMORY_H

#define SEGMENT_RANDOM_BYTES	16

typedef struct SharedSegment
{
	const char *name;			/* contains the version of the layout */
	Size		size;

	/* must not raise an error */
	void		(*init) (void *address, const uint8 *random);
	void	   *address;		/* NULL until it is attached */
} SharedSegment;

extern void shared_memory_init(SharedSegment *const *list, int count);
extern void *shared_segment(SharedSegment *segment);

#endif							/* IDGEN_SHARED_MEMORY_H */
