/*
 * fuzz_decimal_id.c
 *	  The decimal places of decimal_id(): any number that is an identifier is
 *	  made of its parts again, and any other has none.
 */
#include "fuzz.h"

#include "decimal_id.c"

void
fuzz_target(Input *input)
{
	int64		id = take(input, 8);
	int32		parts[3];

	if (!decimal_id_split(id, parts))
	{
		CHECK(id < INT64CONST(10000000000) || id >= INT64CONST(9223372030000000000));
		return;
	}
	CHECK(parts[0] >= 1 && parts[0] <= 922337202);
	CHECK(parts[1] >= 0 && parts[1] <= 99999);
	CHECK(parts[2] >= 0 && parts[2] <= 99999);
	CHECK(((Wide) parts[0] * 100000 + parts[1]) * 100000 + parts[2] == id);
}
