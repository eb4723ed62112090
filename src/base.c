/*-------------------------------------------------------------------------
 *
 * base.c
 *	  uuid and bigint as digits of base 16, 32, 36, 58 or 62.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "arguments.h"
#include "id_text.h"

/*
 * uuid_to_base(id uuid, base int) returns text
 *	All the digits, with leading zeros, so that text order is uuid order.
 */
SQL_FUNCTION(idgen_uuid_to_base,
			 id_text_make(NULL, PG_GETARG_UUID_P(0), radix_of_base(PG_GETARG_INT32(1))))

/*
 * bigint_to_base(value bigint, base int) returns text
 *	No leading zeros.  A negative value is an error (22023).
 */
PG_FUNCTION_INFO_V1(idgen_bigint_to_base);
Datum
idgen_bigint_to_base(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(0);
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	char		digits[RADIX_MAX_WIDTH];
	char		zero[RADIX_MAX_WIDTH];
	int			leading = 0;

	require_not_negative(value, "value");
	radix_encode(radix, 0, 0, zero);
	radix_encode(radix, 0, value, digits);
	while (leading < radix_width(radix) - 1 && digits[leading] == zero[leading])
		leading++;
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits + leading,
											  radix_width(radix) - leading));
}

/* uuid_from_base(digits text, base int) returns uuid: leading zeros can be omitted */
PG_FUNCTION_INFO_V1(idgen_uuid_from_base);
Datum
idgen_uuid_from_base(PG_FUNCTION_ARGS)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	IdText		digits = id_text_argument(fcinfo, "uuid digits", radix_width(radix));

	PG_RETURN_UUID_P(id_text_uuid(&digits, 0, radix));
}

/*
 * bigint_from_base(digits text, base int) returns bigint
 *	Leading zeros are allowed, up to the number of digits of a uuid.  A number
 *	out of range for bigint is an error (22003).
 */
PG_FUNCTION_INFO_V1(idgen_bigint_from_base);
Datum
idgen_bigint_from_base(PG_FUNCTION_ARGS)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	IdText		digits = id_text_argument(fcinfo, "bigint digits", radix_width(radix));
	uint64		high;
	uint64		low;

	id_text_digits(&digits, 0, radix, &high, &low);
	if (high != 0 || low > PG_INT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%.*s\" in base %d is out of range for type %s",
						digits.length, digits.bytes, PG_GETARG_INT32(1), "bigint")));
	PG_RETURN_INT64((int64) low);
}
