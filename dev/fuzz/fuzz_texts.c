/*
 * fuzz_texts.c
 *	  Identifiers as text.  The first byte of an input chooses how the rest is
 *	  read: as any text, and as a uuid and a prefix that are written.
 */
#include "fuzz.h"

#include "radix.h"

#define LOWER_CASE	"abcdefghijklmnopqrstuvwxyz"
#define UPPER_CASE	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HEX_DIGITS	"0123456789abcdefABCDEF"
#define CROCKFORD_LOWER	"0123456789abcdefghjkmnpqrstvwxyz"

typedef unsigned __int128 Number;

static pg_uuid_t
take_uuid(Input *input)
{
	pg_uuid_t	id;

	for (int i = 0; i < UUID_LEN; i++)
		id.data[i] = take(input);
	return id;
}

static Number
number_of(const pg_uuid_t *id)
{
	return (Number) uuid_half(id, 0) << 64 | uuid_half(id, 1);
}

static bool
is_one_of(char character, const char *characters)
{
	return character != '\0' && strchr(characters, character) != NULL;
}

/* The rest of the input and a zero byte; its bytes choose characters if some are given. */
static char *
copy_rest(const Input *input, const char *characters)
{
	char	   *bytes = palloc0(input->left + 1);

	for (size_t i = 0; i < input->left; i++)
		bytes[i] = characters == NULL ? input->bytes[i] :
			characters[(uint8) input->bytes[i] % strlen(characters)];
	return bytes;
}

/* --- Digits --- */

typedef struct Base
{
	int32		base;
	size_t		width;			/* digits of 128 bits; 0 if the base is not supported */
	const char *digits[7];		/* those that are written, and others that are read */
} Base;

static const Base bases[] = {
	{16, 32, {"0123456789abcdef", "0123456789ABCDEF"}},
	{32, 26, {"0123456789ABCDEFGHJKMNPQRSTVWXYZ", CROCKFORD_LOWER, "OI", "oi", "0L", "0l"}},
	{36, 25, {"0123456789" LOWER_CASE, "0123456789" UPPER_CASE}},
	{58, 22, {"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"}},
	{62, 22, {"0123456789" UPPER_CASE LOWER_CASE}},
	{.base = 0}, {.base = -1}, {.base = 10}, {.base = 64}, {.base = PG_INT32_MIN}
};
static const Base base_typeid = {32, 26, {CROCKFORD_LOWER}};

/* The value of a character in a base, -1 if it is no digit. */
static int
digit_value(const Base *base, char character)
{
	for (const char *const *digits = base->digits; *digits != NULL; digits++)
	{
		if (is_one_of(character, *digits))
			return strchr(*digits, character) - *digits;
	}
	return -1;
}

/* The number of the digits; false if there are none, or if it is too great. */
static bool
read_slowly(const Base *base, const char *digits, size_t length, Number *number, bool *too_great)
{
	*number = 0;
	*too_great = false;
	for (size_t i = 0; i < length; i++)
	{
		int			value = digit_value(base, digits[i]);

		if (value < 0 || length > base->width)
			return *too_great = false;
		*too_great |= *number > (~(Number) 0 - value) / base->base;
		*number = *number * base->base + value;
	}
	return length >= 1 && length <= base->width && !*too_great;
}

static TimestampTz
instant_of(int64 unix_ms)
{
	return (unix_ms - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * INT64CONST(86400000)) * 1000;
}

/* An ObjectId has 24 digits of base 16; the first 8 are the second, as in its bounds. */
static void
check_object_id(NullableDatum any, bool is_number, Number number)
{
	bool		form = is_number && text_length(any.value) == 24;
	Outcome		instant = CALL(idgen_object_id_timestamp, any);
	TimestampTz begin = instant_of((int64) (uint32) (number >> 64) * 1000);
	char	   *low = psprintf("%08x%016d", (uint32) (number >> 64), 0);

	CHECK(DatumGetBool(CALL_VALUE(idgen_is_object_id, any)) ==
		  (form && text_is(any.value, psprintf("%08x%016llx", (uint32) (number >> 64), (unsigned long long) number), 24)));
	if (!form)
	{
		CHECK(instant.sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION);
		return;
	}
	CHECK(DatumGetTimestampTz(value_of(instant)) == begin);
	CHECK(text_is(CALL_VALUE(idgen_object_id_floor, instant_arg(begin)), low, 24));
	CHECK(text_is(CALL_VALUE(idgen_object_id_floor, instant_arg(begin + 999999)), low, 24));
}

/* A ULID has all the digits of base 32; the first 48 bits are the millisecond. */
static void
check_ulid(NullableDatum any, bool is_number, Number number, const pg_uuid_t *id, Datum id_text)
{
	bool		form = is_number && text_length(any.value) == 26;
	Outcome		as_uuid = CALL(idgen_ulid_to_uuid, any);
	Outcome		instant = CALL(idgen_ulid_timestamp, any);

	CHECK(as_uuid.sqlstate == (form ? 0 : ERRCODE_INVALID_TEXT_REPRESENTATION));
	CHECK(instant.sqlstate == as_uuid.sqlstate);
	if (form)
	{
		CHECK(number_of(DatumGetUUIDP(as_uuid.value)) == number);
		CHECK(DatumGetTimestampTz(value_of(instant)) == instant_of(number >> 80));
	}
	CHECK(text_is(CALL_VALUE(idgen_ulid_from_uuid, uuid_arg(id)), text_bytes(id_text), 26));
	CHECK(uuid_is(CALL_VALUE(idgen_ulid_to_uuid, value_arg(id_text)), id));
}

/*
 * Numbers as digits of a base: the extension reads the same texts as a reader
 * that proceeds digit by digit, to the same numbers; it writes all the digits
 * that it reads, in the order of the numbers; any number is written and read.
 */
void
fuzz_base(Input *input)
{
	uint8		way = take(input);
	const Base *base = &bases[way % lengthof(bases)];
	NullableDatum base_arg = int32_arg(base->base);
	pg_uuid_t	id = take_uuid(input);
	int64		half = uuid_half(&id, 1);
	char	   *digits = copy_rest(input, way & 0x80 ? base->digits[0] : NULL);
	NullableDatum any = text_arg(digits, input->left, way & 0x40);
	Outcome		id_text = CALL(idgen_uuid_to_base, uuid_arg(&id), base_arg);
	Outcome		half_text = CALL(idgen_bigint_to_base, int64_arg(half), base_arg);
	Outcome		as_uuid = CALL(idgen_uuid_from_base, any, base_arg);
	Outcome		as_bigint = CALL(idgen_bigint_from_base, any, base_arg);
	size_t		zeros = base->width - input->left;
	const char *written;
	pg_uuid_t	read;
	Number		number;
	bool		too_great;
	bool		is_number = read_slowly(base, digits, input->left, &number, &too_great);
	int			wrong_base = base->width > 0 ? 0 : ERRCODE_INVALID_PARAMETER_VALUE;
	int			refusal = wrong_base ? wrong_base : too_great ? ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE :
		ERRCODE_INVALID_TEXT_REPRESENTATION;

	CHECK(id_text.sqlstate == wrong_base);
	CHECK(half_text.sqlstate == (half < 0 ? ERRCODE_INVALID_PARAMETER_VALUE : wrong_base));
	CHECK(as_uuid.sqlstate == (is_number ? 0 : refusal));
	CHECK(as_bigint.sqlstate == (!is_number ? refusal : number <= PG_INT64_MAX ? 0 :
								 ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE));
	if (wrong_base)
		return;

	if (base->base == 16)
		check_object_id(any, is_number, number);
	if (base->base == 32)
		check_ulid(any, is_number, number, &id, id_text.value);
	CHECK(text_length(id_text.value) == base->width);
	CHECK(uuid_is(CALL_VALUE(idgen_uuid_from_base, value_arg(id_text.value), base_arg), &id));
	CHECK(half < 0 || half == DatumGetInt64(CALL_VALUE(idgen_bigint_from_base,
													   value_arg(half_text.value), base_arg)));

	CHECK(radix_decode(radix_of_base(base->base), text_bytes(any.value), input->left, &read) == is_number);
	CHECK((radix_problem(radix_of_base(base->base), text_bytes(any.value), input->left, 1) == NULL) ==
		  (is_number || too_great));
	if (!is_number)
		return;
	CHECK(number_of(&read) == number);
	CHECK(number_of(DatumGetUUIDP(as_uuid.value)) == number);
	CHECK(as_bigint.sqlstate != 0 || DatumGetInt64(as_bigint.value) == (int64) number);

	written = text_bytes(CALL_VALUE(idgen_uuid_to_base, value_arg(as_uuid.value), base_arg));
	for (size_t i = 0; i < base->width; i++)
		CHECK(written[i] == base->digits[0][i < zeros ? 0 : digit_value(base, digits[i - zeros])]);
	CHECK((memcmp(written, text_bytes(id_text.value), base->width) < 0) ==
		  (number < number_of(&id)));
}

/* is_uuid() on any text; an error only for a version out of range. */
void
fuzz_is_uuid(Input *input)
{
	uint8		way = take(input);
	bool		any_version = way & 0x80;
	int32		version = (way & 0x1F) - 4;
	char	   *bytes = copy_rest(input, way & 0x20 ? HEX_DIGITS : NULL);
	int			end = 0;
	Outcome		outcome;
	bool		expected = false;

	/* most texts of the right length get the usual form */
	if (way & 0x20 && input->left == 36)
		bytes[8] = bytes[13] = bytes[18] = bytes[23] = '-';

#define DIGITS(count)	"%*" #count "[0-9a-fA-F]"
	(void) sscanf(bytes, DIGITS(8) "-" DIGITS(4) "-" DIGITS(4) "-" DIGITS(4) "-" DIGITS(12) "%n",
				  &end);
	if (end == 36 && input->left == 36)
	{
		int			digit = digit_value(&bases[0], bytes[14]);

		expected = (is_one_of(bytes[19], "89abAB") &&
					(any_version ? digit >= 1 && digit <= 8 : digit == version)) ||
			(any_version && (strspn(bytes, "0-") == 36 || strspn(bytes, "fF-") == 36));
	}

	outcome = CALL(idgen_is_uuid, text_arg(bytes, input->left, way & 0x40),
				   any_version ? null_arg() : int32_arg(version));
	if (!any_version && (version < 0 || version > 15))
		CHECK(outcome.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
	else
		CHECK(DatumGetBool(value_of(outcome)) == expected);
}

/* --- A prefix, an underscore and the digits of a uuid --- */

typedef struct Prefixed
{
	PGFunction	make;
	PGFunction	to_uuid;
	PGFunction	prefix;
	const Base *base;
	const char *characters;		/* of a prefix */
} Prefixed;

static const Prefixed type_id = {
	idgen_typeid_from_uuid, idgen_typeid_to_uuid, idgen_typeid_prefix,
	&base_typeid, LOWER_CASE "_"
};
static const Prefixed prefixed_id = {
	idgen_prefixed_id, idgen_prefixed_id_to_uuid, idgen_prefixed_id_prefix,
	&bases[2], LOWER_CASE "_0123456789"
};

static bool short_header;		/* in the texts of the input */

static NullableDatum
any_text(const char *bytes, size_t length)
{
	return text_arg(bytes, length, short_header);
}

/* The documented rule for a prefix that is not empty. */
static bool
is_prefix(const Prefixed *kind, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
	{
		if (!is_one_of(text[i], kind->characters))
			return false;
	}
	return length >= 1 && length <= 63 && is_one_of(text[0], LOWER_CASE) && text[length - 1] != '_';
}

/* Any text: all functions that read it accept or reject it alike. */
static void
check_read(const Prefixed *kind, const char *bytes, size_t length)
{
	NullableDatum any = any_text(bytes, length);
	Outcome		id = CALL(kind->to_uuid, any, null_arg());
	Outcome		prefix = CALL(kind->prefix, any);
	const char *separator = memrchr(bytes, '_', length);
	size_t		prefix_length = separator == NULL ? 0 : separator - bytes;
	size_t		offset = separator == NULL ? 0 : prefix_length + 1;
	Number		number;
	bool		too_great;
	bool		is_canonical = false;
	bool		good = read_slowly(kind->base, bytes + offset, length - offset, &number, &too_great) &&
		(kind == &prefixed_id || length - offset == kind->base->width) &&
		(separator == NULL ? kind == &type_id : is_prefix(kind, bytes, prefix_length));
	NullableDatum own_prefix;

	CHECK(id.sqlstate == (good ? 0 : ERRCODE_INVALID_TEXT_REPRESENTATION));
	CHECK(prefix.sqlstate == id.sqlstate);
	if (good)
	{
		CHECK(number_of(DatumGetUUIDP(value_of(id))) == number);
		CHECK(text_is(value_of(prefix), bytes, prefix_length));
		is_canonical = text_is(CALL_VALUE(kind->make, value_arg(prefix.value), value_arg(id.value)),
							   bytes, length);
	}

	/* a TypeID has one text, so no other case and no missing leading zero */
	if (kind == &type_id)
	{
		CHECK(is_canonical == good);
		CHECK(DatumGetBool(CALL_VALUE(idgen_is_typeid, any, null_arg())) == good);
		return;
	}

	/* the text is checked before its prefix is compared */
	own_prefix = good ? text_arg(bytes, prefix_length, !short_header) : any_text("a", 1);
	CHECK(CALL(kind->to_uuid, any, own_prefix).sqlstate == id.sqlstate);
	CHECK(DatumGetBool(CALL_VALUE(idgen_is_prefixed_id, any, own_prefix)) == is_canonical);
	if (!good)
		return;
	CHECK(!is_canonical ||
		  !DatumGetBool(CALL_VALUE(idgen_is_prefixed_id, any_text(bytes, length - 1), own_prefix)));
	CHECK(CALL(kind->to_uuid, any, any_text(bytes, prefix_length - 1)).sqlstate ==
		  (is_prefix(kind, bytes, prefix_length - 1) ? ERRCODE_CHECK_VIOLATION :
		   ERRCODE_INVALID_PARAMETER_VALUE));
}

/* Any prefix and any uuid. */
static void
check_written(const Prefixed *kind, const char *prefix, size_t length, const pg_uuid_t *id)
{
	Outcome		written = CALL(kind->make, any_text(prefix, length), uuid_arg(id));
	NullableDatum made = value_arg(written.value);

	if (length == 0 ? kind == &prefixed_id : !is_prefix(kind, prefix, length))
	{
		CHECK(written.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	CHECK(text_length(value_of(written)) == (length == 0 ? 0 : length + 1) + kind->base->width);
	CHECK(uuid_is(CALL_VALUE(kind->to_uuid, made, null_arg()), id));
	CHECK(text_is(CALL_VALUE(kind->prefix, made), prefix, length));
	check_read(kind, text_bytes(made.value), text_length(made.value));
}

/* TypeIDs and prefixed ids. */
void
fuzz_prefixed(Input *input)
{
	pg_uuid_t	id;

	short_header = take(input) & 1;
	check_read(&type_id, input->bytes, input->left);
	check_read(&prefixed_id, input->bytes, input->left);
	id = take_uuid(input);
	check_written(&type_id, input->bytes, input->left, &id);
	check_written(&prefixed_id, input->bytes, input->left, &id);
}
