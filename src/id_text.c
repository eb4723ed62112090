/*-------------------------------------------------------------------------
 *
 * id_text.c
 *	  Reading and writing identifiers as text.
 *
 * Schemes whose identifiers are text use these functions.  The text consists of
 * the digits of a uuid in some base, optionally after a prefix and an
 * underscore.
 *
 * Text that is not a valid identifier is an error (22P02), whose DETAIL contains
 * positions and limits in characters.  The code counts bytes: it reports an
 * invalid character before an excessive length, so that all the characters
 * that it counts are ASCII.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"

#include "arguments.h"
#include "id_text.h"

/*
 * Argument 0 as text to read; "noun" names its kind in messages.  If its length
 * in bytes implies more than max_characters, it is an error (22P02), and the
 * text is not detoasted.
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

/* Raise 22P02 with the problem, a sentence, as DETAIL. */
void
id_text_refuse(const IdText *id, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid %s: \"%.*s\"", id->noun, id->length, id->bytes),
			 errdetail_internal("%s", problem)));
}

/*
 * The problem with a prefix, as a sentence, or NULL.  A prefix is 1 to 63
 * lower-case letters, underscores and, unless it is a TypeID's, digits.  It
 * begins with a letter and does not end with an underscore.
 */
const char *
id_prefix_problem(const char *prefix, int length, bool digits_allowed)
{
	int			i;

	if (length == 0)
		return "The prefix must not be empty.";
	if (prefix[0] < 'a' || prefix[0] > 'z')
		return "Invalid character at position 1; a prefix must begin with a lower-case letter.";

	for (i = 1; i < length && i <= ID_PREFIX_MAX_LENGTH; i++)
	{
		bool		is_digit = prefix[i] >= '0' && prefix[i] <= '9';
		bool		is_letter = prefix[i] >= 'a' && prefix[i] <= 'z';

		if (!is_letter && prefix[i] != ID_PREFIX_SEPARATOR &&
			!(is_digit && digits_allowed))
			return psprintf("Invalid character at position %d; a prefix must consist of lower-case letters%s.",
							i + 1, digits_allowed ? ", digits and underscores" : " and underscores");
	}

	if (i > ID_PREFIX_MAX_LENGTH)
		return psprintf("At most %d characters are allowed in a prefix.",
						ID_PREFIX_MAX_LENGTH);
	if (prefix[length - 1] == ID_PREFIX_SEPARATOR)
		return "A prefix must not end with an underscore.";
	return NULL;
}

/*
 * The length of the prefix, which extends to the last underscore; -1 if there
 * is no underscore.  The digits begin one character after the prefix.
 */
int
id_text_prefix(const IdText *id, bool digits_allowed)
{
	int			length = id->length;
	const char *problem;

	while (--length >= 0 && id->bytes[length] != ID_PREFIX_SEPARATOR)
		;
	if (length < 0)
		return -1;

	problem = id_prefix_problem(id->bytes, length, digits_allowed);
	if (problem != NULL)
		id_text_refuse(id, problem);
	return length;
}

/* The number that the digits from an offset to the end of the text denote. */
void
id_text_digits(const IdText *id, int offset, const Radix *radix,
			   uint64 *high, uint64 *low)
{
	const char *problem;

	if (!radix_decode(radix, id->bytes + offset, id->length - offset, offset + 1,
					  high, low, &problem))
		id_text_refuse(id, problem);
}

/* The same number as a uuid.  Leading zeros can be omitted. */
pg_uuid_t *
id_text_uuid(const IdText *id, int offset, const Radix *radix)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));
	uint64		high;
	uint64		low;

	id_text_digits(id, offset, radix, &high, &low);
	uuid_set_half(uuid, 0, high);
	uuid_set_half(uuid, 1, low);
	return uuid;
}

/* The same, if leading zeros must not be omitted. */
pg_uuid_t *
id_text_full_uuid(const IdText *id, int offset, const Radix *radix)
{
	pg_uuid_t  *uuid = id_text_uuid(id, offset, radix);

	if (id->length - offset < radix_width(radix))
		id_text_refuse(id, psprintf("Exactly %d digits are required.", radix_width(radix)));
	return uuid;
}

/* Raise 22023 unless a prefix that is an argument of its own is valid. */
void
id_prefix_require(const text *prefix, bool digits_allowed)
{
	const char *bytes = VARDATA_ANY(prefix);
	int			length = VARSIZE_ANY_EXHDR(prefix);
	const char *problem = id_prefix_problem(bytes, length, digits_allowed);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid prefix: \"%s\"", shown_text(bytes, length, 96)),
				 errdetail_internal("%s", problem)));
}

/* Raise 23514 if the identifier has another prefix than that expected, or NULL for any. */
void
id_text_require_prefix(const IdText *id, int prefix_length, const text *expected)
{
	if (expected != NULL && !text_is_bytes(expected, id->bytes, prefix_length))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("%s has the prefix \"%.*s\", not \"%.*s\"", id->noun,
						prefix_length, id->bytes,
						(int) VARSIZE_ANY_EXHDR(expected), VARDATA_ANY(expected)),
				 errdetail("The %s is \"%.*s\".", id->noun, id->length, id->bytes)));
}

/*
 * The digits of a uuid, all of them, as text.  A prefix that is neither NULL
 * nor empty precedes them, with a separator.
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
	radix_encode(radix, uuid_half(id, 0), uuid_half(id, 1), VARDATA(result) + offset);
	PG_RETURN_TEXT_P(result);
}
