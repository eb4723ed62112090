/*
 * id_text.c
 *	  Reading and writing identifiers as text.
 *
 * The text consists of the digits of a uuid in some base, optionally preceded
 * by a prefix and an underscore.
 *
 * Text that is not a valid identifier raises an error (22P02).  Positions and
 * limits in the DETAIL are in characters, although the code counts bytes.  The
 * two agree, because an invalid character is reported before an excessive
 * length, so all characters that are counted are ASCII.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "mb/pg_wchar.h"

#include "arguments.h"
#include "id_text.h"

/*
 * Get argument 0 as text to parse.  Messages use "noun" to refer to it.  If
 * the length in bytes implies that there are more than max_characters, raises
 * 22P02 without detoasting the text.
 */
IdText
id_text_argument(FunctionCallInfo fcinfo, const char *noun, int max_characters)
{
	Size		length = toast_raw_datum_size(PG_GETARG_DATUM(0)) - VARHDRSZ;
	text	   *value;

	if (length > (Size) max_characters * pg_database_encoding_max_length())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid %s", noun),
				 errdetail("At most %d characters are allowed.", max_characters)));

	value = PG_GETARG_TEXT_PP(0);
	return (IdText)
	{
		VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), noun
	};
}

/* Raise 22P02.  The problem, a full sentence, becomes the DETAIL. */
void
id_text_refuse(const IdText *id, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid %s: \"%.*s\"", id->noun, id->length, id->bytes),
			 errdetail_internal("%s", problem)));
}

/*
 * Parse the digits from an offset to the end of the text.  Leading zeros can
 * be omitted, unless all digits are required.
 */
pg_uuid_t *
id_text_number(const IdText *id, int offset, const Radix *radix, bool requires_all_digits)
{
	const char *digits = id->bytes + offset;
	int			length = id->length - offset;
	pg_uuid_t  *number = palloc(sizeof(pg_uuid_t));

	if (!radix_decode(radix, digits, length, number))
	{
		const char *problem = radix_problem(radix, digits, length, offset + 1);

		id_text_refuse(id, problem ? problem : "The value of the digits exceeds 128 bits.");
	}
	if (requires_all_digits && length < radix_width(radix))
		id_text_refuse(id, psprintf("Exactly %d digits are required.", radix_width(radix)));
	return number;
}

/*
 * Does argument 0 consist of the given number of digits, written as
 * radix_encode() writes them?  Text of any other length is not detoasted.
 */
bool
id_text_is_canonical(FunctionCallInfo fcinfo, const Radix *radix, int digits)
{
	return toast_raw_datum_size(PG_GETARG_DATUM(0)) == (Size) VARHDRSZ + digits &&
		radix_is_canonical(radix, VARDATA_ANY(PG_GETARG_TEXT_PP(0)), digits);
}

/*
 * Make a text value from all digits of a uuid.  A prefix that is neither NULL
 * nor empty precedes the digits, separated from them by an underscore.
 */
Datum
id_text_make(const text *prefix, const pg_uuid_t *id, const Radix *radix)
{
	int			prefix_length = prefix ? VARSIZE_ANY_EXHDR(prefix) : 0;
	int			offset = prefix_length > 0 ? prefix_length + 1 : 0;
	Size		size = VARHDRSZ + offset + radix_width(radix);
	text	   *result = palloc(size);

	SET_VARSIZE(result, size);
	if (prefix_length > 0)
	{
		memcpy(VARDATA(result), VARDATA_ANY(prefix), prefix_length);
		VARDATA(result)[prefix_length] = ID_PREFIX_SEPARATOR;
	}
	radix_encode(radix, id, VARDATA(result) + offset);
	PG_RETURN_TEXT_P(result);
}
