/*
 * fuzz_texts.c
 *	  Targets for identifiers as text.  No input may crash the functions that
 *	  read them, these functions may raise only documented errors, and an
 *	  identifier that is read and written again must not change.
 *	  t/003_properties.pl tests the values that the functions return.
 *
 * The first byte of an input contains options.  The rest is used both as text
 * to read, and as a uuid and a prefix to write.
 */
#include "fuzz.h"

#include "uuid_bits.h"

static bool short_header;		/* of text values made from the input */

static pg_uuid_t
take_uuid(Input *input)
{
	pg_uuid_t	id;

	for (int i = 0; i < UUID_LEN; i++)
		id.data[i] = take(input);
	return id;
}

static NullableDatum
any_text(const Input *input)
{
	return text_arg(input->bytes, input->left, short_header);
}

static bool
same_text(Datum value, NullableDatum text)
{
	return text_is(value, text_bytes(text.value), text_length(text.value));
}

/* Did the function return a value?  It must not raise any other error. */
static bool
is_read(Outcome outcome, int error)
{
	CHECK(outcome.sqlstate == 0 || outcome.sqlstate == error);
	return outcome.sqlstate == 0;
}

/* Target for digits of a base, ObjectIds, ULIDs and uuids */
void
fuzz_base(Input *input)
{
	static const int32 bases[] = {16, 32, 36, 58, 62, 0, -1, 10, 64, PG_INT32_MIN};
	uint8		way = take(input);
	int32		base = bases[way % lengthof(bases)];
	bool		supported = way % lengthof(bases) < 5;
	NullableDatum base_arg = int32_arg(base);
	pg_uuid_t	id = take_uuid(input);
	int64		half = uuid_half(&id, 1);
	NullableDatum any;
	Outcome		id_text = CALL(idgen_uuid_to_base, uuid_arg(&id), base_arg);
	Outcome		half_text = CALL(idgen_bigint_to_base, int64_arg(half), base_arg);
	Outcome		as_uuid;
	Outcome		as_bigint;

	short_header = way & 0x40;
	any = any_text(input);
	as_uuid = CALL(idgen_uuid_from_base, any, base_arg);
	as_bigint = CALL(idgen_bigint_from_base, any, base_arg);
	CHECK(id_text.sqlstate == (supported ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	CHECK(half_text.sqlstate == (supported && half >= 0 ? 0 : ERRCODE_INVALID_PARAMETER_VALUE));
	if (!supported)
	{
		CHECK(as_uuid.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		CHECK(as_bigint.sqlstate == ERRCODE_INVALID_PARAMETER_VALUE);
		return;
	}
	CHECK(uuid_is(CALL_VALUE(idgen_uuid_from_base, value_arg(id_text.value), base_arg), &id));
	CHECK(half < 0 ||
		  half == DatumGetInt64(CALL_VALUE(idgen_bigint_from_base, value_arg(half_text.value), base_arg)));
	if (as_uuid.sqlstate != ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE &&
		is_read(as_uuid, ERRCODE_INVALID_TEXT_REPRESENTATION))
	{
		NullableDatum written = value_arg(CALL_VALUE(idgen_uuid_to_base, value_arg(as_uuid.value), base_arg));

		CHECK(uuid_is(CALL_VALUE(idgen_uuid_from_base, written, base_arg), DatumGetUUIDP(as_uuid.value)));
	}
	CHECK(as_uuid.sqlstate == 0 || as_bigint.sqlstate == as_uuid.sqlstate);

	/* ObjectIds have digits of base 16, and ULIDs have digits of base 32. */
	CHECK(is_read(CALL(idgen_object_id_timestamp, any), ERRCODE_INVALID_TEXT_REPRESENTATION) ||
		  !DatumGetBool(CALL_VALUE(idgen_is_object_id, any)));
	CHECK(is_read(CALL(idgen_ulid_timestamp, any), ERRCODE_INVALID_TEXT_REPRESENTATION) ?
		  uuid_is(CALL_VALUE(idgen_ulid_to_uuid, value_arg(CALL_VALUE(idgen_ulid_from_uuid, uuid_arg(&id)))), &id) :
		  !DatumGetBool(CALL_VALUE(idgen_is_ulid, any)));
}

void
fuzz_is_uuid(Input *input)
{
	int32		version = take(input) - 4;
	Outcome		outcome;

	short_header = version & 1;
	outcome = CALL(idgen_is_uuid, any_text(input), version > 100 ? null_arg() : int32_arg(version));
	CHECK(outcome.sqlstate == (version < 0 || (version > 15 && version <= 100) ? ERRCODE_INVALID_PARAMETER_VALUE : 0));
	CHECK(outcome.sqlstate != 0 || !DatumGetBool(outcome.value) || input->left == 36);
}

/* --- A prefix, an underscore and the digits of a uuid --- */

typedef struct Prefixed
{
	PGFunction	make;
	PGFunction	to_uuid;
	PGFunction	prefix;
	PGFunction	is;
} Prefixed;

static const Prefixed type_id = {
	idgen_typeid_from_uuid, idgen_typeid_to_uuid, idgen_typeid_prefix, idgen_is_typeid
};
static const Prefixed prefixed_id = {
	idgen_prefixed_id_from_uuid, idgen_prefixed_id_to_uuid, idgen_prefixed_id_prefix, idgen_is_prefixed_id
};

/* Check that all functions that read the text accept it, or that all of them reject it. */
static void
check_read(const Prefixed *kind, NullableDatum any)
{
	Outcome		id = CALL(kind->to_uuid, any, null_arg());
	Outcome		prefix = CALL(kind->prefix, any);
	bool		canonical = DatumGetBool(CALL_VALUE(kind->is, any, null_arg()));

	CHECK(prefix.sqlstate == id.sqlstate);
	if (!is_read(id, ERRCODE_INVALID_TEXT_REPRESENTATION))
	{
		CHECK(!canonical);
		return;
	}
	CHECK(same_text(CALL_VALUE(kind->make, value_arg(prefix.value), value_arg(id.value)), any) == canonical);
	CHECK(uuid_is(CALL_VALUE(kind->to_uuid, any, value_arg(prefix.value)), DatumGetUUIDP(id.value)));
}

/* Check the text that is written for this prefix and this uuid. */
static void
check_written(const Prefixed *kind, NullableDatum prefix, const pg_uuid_t *id)
{
	Outcome		written = CALL(kind->make, prefix, uuid_arg(id));
	NullableDatum made = value_arg(written.value);

	if (!is_read(written, ERRCODE_INVALID_PARAMETER_VALUE))
		return;
	CHECK(uuid_is(CALL_VALUE(kind->to_uuid, made, null_arg()), id));
	CHECK(same_text(CALL_VALUE(kind->prefix, made), prefix));
	check_read(kind, made);
}

/* Target for TypeIDs and prefixed ids */
void
fuzz_prefixed(Input *input)
{
	pg_uuid_t	id;

	short_header = take(input) & 1;
	check_read(&type_id, any_text(input));
	check_read(&prefixed_id, any_text(input));
	id = take_uuid(input);
	check_written(&type_id, any_text(input), &id);
	check_written(&prefixed_id, any_text(input), &id);
}
