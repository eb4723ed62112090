/*
 * bases.c
 *	  Conversion of uuid and bigint to and from bases 16, 32, 36, 58 and 62.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "arguments.h"
#include "id_text.h"

/*
 * uuid_to_base(id uuid, base int) returns text
 *	Writes leading zeros, so that results sort like the uuids.
 */
PG_FUNCTION_INFO_V1(idgen_uuid_to_base);
Datum
idgen_uuid_to_base(PG_FUNCTION_ARGS)
{
	return id_text_make(NULL, PG_GETARG_UUID_P(0), radix_of_base(PG_GETARG_INT32(1)));
}

/* bigint_to_base(value bigint, base int) returns text: without leading zeros */
PG_FUNCTION_INFO_V1(idgen_bigint_to_base);
Datum
idgen_bigint_to_base(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(0);
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	pg_uuid_t	number = {0};
	char		digits[RADIX_MAX_WIDTH];
	int			leading = 0;

	require_not_negative(value, "value");
	uuid_set_half(&number, 1, value);
	radix_encode(radix, &number, digits);
	/* as a 128-bit number, the value has leading zeros */
	while (leading < radix_width(radix) - 1 && digits[leading] == digits[0])
		leading++;
	PG_RETURN_TEXT_P(cstring_to_text_with_len(digits + leading,
											  radix_width(radix) - leading));
}

/* Parse argument 0 in the base that argument 1 specifies.  Raises 22003 on overflow. */
static pg_uuid_t *
read_number(FunctionCallInfo fcinfo, bool is_uuid)
{
	const Radix *radix = radix_of_base(PG_GETARG_INT32(1));
	IdText		digits = id_text_argument(fcinfo, is_uuid ? "uuid digits" : "bigint digits",
										  radix_width(radix));
	pg_uuid_t  *number = palloc(sizeof(pg_uuid_t));
	bool		is_number = radix_decode(radix, digits.bytes, digits.length, number);
	const char *problem = is_number ? NULL :
		radix_problem(radix, digits.bytes, digits.length, 1);

	if (problem != NULL)
		id_text_refuse(&digits, problem);
	if (!is_number ||
		(!is_uuid && (uuid_half(number, 0) != 0 || uuid_half(number, 1) > PG_INT64_MAX)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%.*s\" in base %d is out of range for type %s",
						digits.length, digits.bytes, PG_GETARG_INT32(1),
						is_uuid ? "uuid" : "bigint")));
	return number;
}

/* uuid_from_base(digits text, base int) returns uuid: leading zeros can be omitted */
PG_FUNCTION_INFO_V1(idgen_uuid_from_base);
Datum
idgen_uuid_from_base(PG_FUNCTION_ARGS)
{
	return UUIDPGetDatum(read_number(fcinfo, true));
}

/*
 * bigint_from_base(digits text, base int) returns bigint
 *	Leading zeros are allowed, up to the number of digits that a uuid has.
 */
PG_FUNCTION_INFO_V1(idgen_bigint_from_base);
Datum
idgen_bigint_from_base(PG_FUNCTION_ARGS)
{
	return Int64GetDatum((int64) uuid_half(read_number(fcinfo, false), 1));
}
