/*-------------------------------------------------------------------------
 *
 * object_id.h
 *	  The text of an ObjectId.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_OBJECT_ID_H
#define IDGEN_OBJECT_ID_H

#include "radix.h"

#define OBJECT_ID_DIGITS	24

/* Read OBJECT_ID_DIGITS characters; false unless all are hexadecimal digits. */
static inline bool
object_id_read(const char *digits, uint32 *seconds)
{
	uint64		high;
	uint64		low;
	char	   *problem;

	if (!radix_decode(radix_of_base(16), digits, OBJECT_ID_DIGITS, 1,
					  &high, &low, &problem))
	{
		pfree(problem);
		return false;
	}
	*seconds = (uint32) high;
	return true;
}

#endif							/* IDGEN_OBJECT_ID_H */
