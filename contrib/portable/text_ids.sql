/*
 * text_ids.sql: idgen's text forms of identifiers, without a C library: bases, prefixed
 * ids, TypeID and ULID. This file requires uuids.sql. The comment at the beginning of
 * uuids.sql applies here, too.
 *
 *   psql -f uuids.sql -f text_ids.sql
 *
 * Local variables and comparisons use COLLATE "C", because an argument may have a
 * nondeterministic collation, which some of the server's functions do not support.
 */

DO $install$
DECLARE
    caller_path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF (SELECT pg_get_userbyid(proowner) = current_user FROM pg_proc
        WHERE oid = to_regprocedure('idgen.portable_require_own_schema()')) IS NOT TRUE THEN
        RAISE EXCEPTION 'uuids.sql is not installed by this role' USING ERRCODE = 'undefined_function';
    END IF;
    PERFORM idgen.portable_require_own_schema();

-- The source of this function contains the version of text_ids.sql for portable_version().
CREATE OR REPLACE FUNCTION idgen.portable_file_text_ids() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

-- ---- Bases ----

-- Return the digits of a base. Internal functions identify a base by its digits.
CREATE OR REPLACE FUNCTION idgen.portable_digits(base int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    CASE base
        WHEN 16 THEN RETURN '0123456789abcdef';
        WHEN 32 THEN RETURN '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
        WHEN 36 THEN RETURN '0123456789abcdefghijklmnopqrstuvwxyz';
        WHEN 58 THEN RETURN '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
        WHEN 62 THEN RETURN '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
        ELSE
            RAISE EXCEPTION 'base % is not 16, 32, 36, 58 or 62', base USING ERRCODE = 'invalid_parameter_value';
    END CASE;
END $$;

-- Return the bits of a uuid.
CREATE OR REPLACE FUNCTION idgen.portable_bits(id uuid) RETURNS bit
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('x' || encode(uuid_send(id), 'hex'))::bit(128);

-- Return consecutive bits as a number. The first bit has position 1.
CREATE OR REPLACE FUNCTION idgen.portable_part(bits bit, start int, count int) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN substring(bits FROM start FOR count)::bigint;

-- New identifiers are written in bases 32 and 36, which therefore have separate functions
-- without numeric arithmetic. The callers are in PL/pgSQL, and the expressions are in SQL
-- functions. The names in SQL functions are resolved while this file runs, so the callers do
-- not need to set search_path, which would slow them down. The planner inlines the SQL
-- functions, because their arguments are variables of the callers.
--
-- Return the last five digits of a number.
CREATE OR REPLACE FUNCTION idgen.portable_5_digits(n bigint, digits bytea, base bigint) RETURNS bytea
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN substr(int8send((get_byte(digits, (n / (base * base * base * base) % base)::int)::bigint << 32)
                           | (get_byte(digits, (n / (base * base * base) % base)::int)::bigint << 24)
                           | (get_byte(digits, (n / (base * base) % base)::int) << 16)
                           | (get_byte(digits, (n / base % base)::int) << 8)
                           | get_byte(digits, (n % base)::int)), 4);

-- Return the last five digits of each number.
CREATE OR REPLACE FUNCTION idgen.portable_25_digits(
    n1 bigint, n2 bigint, n3 bigint, n4 bigint, n5 bigint, digits bytea, base bigint
) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN encode(idgen.portable_5_digits(n1, digits, base) || idgen.portable_5_digits(n2, digits, base)
                  || idgen.portable_5_digits(n3, digits, base) || idgen.portable_5_digits(n4, digits, base)
                  || idgen.portable_5_digits(n5, digits, base), 'escape');

-- Return the 26 digits of a uuid in base 32. "digits" contains the 32 digits of the base.
CREATE OR REPLACE FUNCTION idgen.portable_encode_32(id uuid, digits bytea) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
DECLARE
    bits bit(128) := idgen.portable_bits(id);
    first bigint := idgen.portable_part(bits, 1, 3);    -- a digit below 8
    n1 bigint := idgen.portable_part(bits, 4, 25);
    n2 bigint := idgen.portable_part(bits, 29, 25);
    n3 bigint := idgen.portable_part(bits, 54, 25);
    n4 bigint := idgen.portable_part(bits, 79, 25);
    n5 bigint := idgen.portable_part(bits, 104, 25);
BEGIN
    RETURN pg_catalog.concat(first, idgen.portable_25_digits(n1, n2, n3, n4, n5, digits, 32));
END $$;

-- Return one digit of a number in base 36^5, before reduction: the carry from the next lower
-- digit, plus a, b and c times the given factors, plus d. 60466176 is 36^5.
CREATE OR REPLACE FUNCTION idgen.portable_sum_36(
    carry bigint, a bigint, a_times bigint, b bigint, b_times bigint, c bigint, c_times bigint, d bigint
) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN carry / 60466176 + a * a_times + b * b_times + c * c_times + d;

-- Return the 25 digits of a uuid in base 36. The uuid is a * 2^96 + b * 2^64 + c * 2^32 + d.
-- The factors are the digits of these powers of 2 in base 36^5, so each sum corresponds to
-- five digits of base 36. All sums are below 2^60.
CREATE OR REPLACE FUNCTION idgen.portable_encode_36(id uuid) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
DECLARE
    bits bit(128) := idgen.portable_bits(id);
    a bigint := idgen.portable_part(bits, 1, 32);
    b bigint := idgen.portable_part(bits, 33, 32);
    c bigint := idgen.portable_part(bits, 65, 32);
    d bigint := idgen.portable_part(bits, 97, 32);
    n5 bigint := idgen.portable_sum_36( 0, a, 16887808, b,  8046592, c, 1868800, d);
    n4 bigint := idgen.portable_sum_36(n5, a, 27146100, b, 23562654, c,      71, 0);
    n3 bigint := idgen.portable_sum_36(n4, a, 36462475, b,     5045, c,       0, 0);
    n2 bigint := idgen.portable_sum_36(n3, a,   358378, b,        0, c,       0, 0);
    n1 bigint := idgen.portable_sum_36(n2, a,        0, b,        0, c,       0, 0);
BEGIN
    RETURN idgen.portable_25_digits(n1, n2, n3, n4, n5, '0123456789abcdefghijklmnopqrstuvwxyz', 36);
END $$;

CREATE OR REPLACE FUNCTION idgen.uuid_to_base(id uuid, base int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digits text := idgen.portable_digits(base);
    bits bit(128) := idgen.portable_bits(id);
    rest numeric := idgen.portable_part(bits, 1, 60) * 295147905179352825856     -- 2^68
                  + idgen.portable_part(bits, 61, 60) * 256::numeric + idgen.portable_part(bits, 121, 8);
    result text := '';
BEGIN
    FOR i IN 1 .. ceil(128 / log(2, base)) LOOP
        result := substr(digits, mod(rest, base)::int + 1, 1) || result;
        rest := div(rest, base);
    END LOOP;
    RETURN result;
END $$;
COMMENT ON FUNCTION idgen.uuid_to_base(uuid, int) IS
    'The uuid in digits of base 16, 32 (Crockford), 36, 58 (Bitcoin) or 62, with leading zeros, so that results sort '
    'like the uuids in COLLATE "C".';

-- Is a prefix valid? If digits are not allowed, it is the prefix of a TypeID, which can be
-- empty.
CREATE OR REPLACE FUNCTION idgen.portable_is_prefix(prefix text, digits_allowed boolean) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN octet_length(prefix) <= 63
       AND prefix ~ (CASE WHEN digits_allowed THEN '^[a-z]([a-z0-9_]*[a-z0-9])?$'
                          ELSE '^([a-z]([a-z_]*[a-z])?)?$' END) COLLATE "C";

-- Return the prefix. Raises 22004 if it is NULL, and 22023 if it is not valid.
CREATE OR REPLACE FUNCTION idgen.portable_valid_prefix(prefix text, digits_allowed boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF idgen.portable_is_prefix(prefix, digits_allowed) IS NOT TRUE THEN
        PERFORM idgen.portable_invalid(
            'a prefix must have at most 63 characters, begin with a-z, and not end with an underscore', prefix);
    END IF;
    RETURN prefix;
END $$;

-- Parse a string. "form" is 'bare' if it consists of digits and leading zeros can be omitted,
-- 'full' if it consists of all digits, 'prefixed' if a prefix precedes the digits, and
-- 'optional' if it consists of an optional prefix without digits, and all digits.
CREATE OR REPLACE FUNCTION idgen.portable_read(
    value text, noun text, digits text, form text, OUT prefix text, OUT id uuid
) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    base int := length(digits);
    width int := ceil(128 / log(2, base));
    separator int := 0;     -- its position
    number text COLLATE "C";
    chunk_value CONSTANT numeric := base::numeric ^ 10;
    chunk bigint;
    n numeric := 0;
    is_valid boolean := octet_length(value) <= width + CASE WHEN form IN ('prefixed', 'optional') THEN 64 ELSE 0 END;
BEGIN
    prefix := '';
    IF is_valid AND form IN ('prefixed', 'optional') AND strpos(value COLLATE "C", '_') > 0 THEN
        separator := length(value) - strpos(reverse(value) COLLATE "C", '_') + 1;
        prefix := left(value, separator - 1);
        is_valid := prefix <> '' AND idgen.portable_is_prefix(prefix, form = 'prefixed');
    ELSIF form = 'prefixed' THEN
        is_valid := false;
    END IF;

    -- convert only ASCII letters; lower() depends on the locale
    number := CASE WHEN is_valid THEN substr(value, separator + 1) END;
    IF base IN (16, 36) THEN
        number := translate(number, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
    ELSIF base = 32 AND form <> 'optional' THEN
        number := translate(number, 'abcdefghijklmnopqrstuvwxyzILO', 'ABCDEFGH1JK1MN0PQRSTUVWXYZ110');
    END IF;
    is_valid := is_valid AND ltrim(number, digits COLLATE "C") = ''
            AND length(number) BETWEEN CASE WHEN form IN ('full', 'optional') THEN width ELSE 1 END AND width;
    IF is_valid THEN
        number := lpad(number, (width + 9) / 10 * 10, left(digits, 1));
        FOR chunk_start IN 1 .. length(number) BY 10 LOOP
            chunk := 0;
            FOR i IN chunk_start .. chunk_start + 9 BY 2 LOOP
                chunk := (chunk * base + strpos(digits COLLATE "C", substr(number, i, 1)) - 1) * base
                       + strpos(digits COLLATE "C", substr(number, i + 1, 1)) - 1;
            END LOOP;
            n := n * chunk_value + chunk;
        END LOOP;
    END IF;
    IF NOT is_valid OR n >= 340282366920938463463374607431768211456 THEN
        PERFORM idgen.portable_invalid('invalid ' || noun, value, CASE WHEN is_valid AND form = 'bare'
            THEN 'numeric_value_out_of_range' ELSE 'invalid_text_representation' END);
    END IF;
    id := lpad(to_hex(div(n, 1208925819614629174706176)::bigint), 12, '0')
       || lpad(to_hex(mod(div(n, 1099511627776), 1099511627776)::bigint), 10, '0')
       || lpad(to_hex(mod(n, 1099511627776)::bigint), 10, '0');
END $$;

-- Return the uuid in a string. Raises 23514 if its prefix is not the expected one.
CREATE OR REPLACE FUNCTION idgen.portable_uuid_with(
    value text, expected_prefix text, noun text, digits text, form text
) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    parts record;
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    ELSIF expected_prefix IS NOT NULL THEN
        PERFORM idgen.portable_valid_prefix(expected_prefix, form = 'prefixed');
    END IF;
    parts := idgen.portable_read(value, noun, digits, form);
    IF parts.prefix <> expected_prefix COLLATE "C" THEN
        PERFORM idgen.portable_invalid(
            noun || ' has another prefix than ' || expected_prefix, value, 'check_violation');
    END IF;
    RETURN parts.id;
END $$;

CREATE OR REPLACE FUNCTION idgen.uuid_from_base(digits text, base int) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN RETURN (idgen.portable_read(digits, 'uuid digits', idgen.portable_digits(base), 'bare')).id; END $$;
COMMENT ON FUNCTION idgen.uuid_from_base(text, int) IS
    'The uuid with these digits. Leading zeros can be omitted, and in bases 16, 32 and 36, letters can be of either '
    'case.';

-- ---- Prefixed ids ----

CREATE OR REPLACE FUNCTION idgen.prefixed_id_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_valid_prefix(prefix, true) || '_' || idgen.portable_encode_36(id);
COMMENT ON FUNCTION idgen.prefixed_id_from_uuid(text, uuid) IS
    'A typed identifier: the prefix, an underscore and the 25 digits of the uuid in base 36, in lower case.';

CREATE OR REPLACE FUNCTION idgen.prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN idgen.portable_uuid_with(
        id, expected_prefix, 'prefixed id', '0123456789abcdefghijklmnopqrstuvwxyz', 'prefixed');
END $$;
COMMENT ON FUNCTION idgen.prefixed_id_to_uuid(text, text) IS
    'The uuid in a prefixed id. A prefix other than the expected one raises an error (23514).';

CREATE OR REPLACE FUNCTION idgen.prefixed_id_prefix(id text) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'prefixed id', '0123456789abcdefghijklmnopqrstuvwxyz', 'prefixed')).prefix;
COMMENT ON FUNCTION idgen.prefixed_id_prefix(text) IS
    'The prefix of a prefixed id: the text before the last underscore.';

-- The digits in the last condition are those of the uuid whose bits are all 1.
CREATE OR REPLACE FUNCTION idgen.is_prefixed_id(id text, prefix text DEFAULT NULL) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF id IS NOT NULL AND prefix IS NOT NULL THEN
        PERFORM idgen.portable_valid_prefix(prefix, true);
    END IF;
    RETURN octet_length(id) <= 89
       AND (prefix IS NULL OR left(id, -26) = prefix COLLATE "C")
       AND id ~ '^[a-z]([a-z0-9_]*[a-z0-9])?_[0-9a-z]{25}$' COLLATE "C"
       AND right(id, 25) <= 'f5lxx1zz5pnorynqglhzmsp33' COLLATE "C";
END $$;
COMMENT ON FUNCTION idgen.is_prefixed_id(text, text) IS
    'Tests whether a string is exactly what prefixed_id_from_uuid() returns for some uuid and this prefix or, if none '
    'is given, any prefix.';

-- ---- TypeID ----

CREATE OR REPLACE FUNCTION idgen.typeid_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN ltrim(idgen.portable_valid_prefix(prefix, false) || '_', '_')
        || idgen.portable_encode_32(id, '0123456789abcdefghjkmnpqrstvwxyz');
COMMENT ON FUNCTION idgen.typeid_from_uuid(text, uuid) IS
    'A TypeID (specification version 0.3): the prefix, an underscore and the 26 digits of the uuid in base 32.';

CREATE OR REPLACE FUNCTION idgen.typeid(prefix text DEFAULT '', clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7(clock));
COMMENT ON FUNCTION idgen.typeid(text, timestamptz) IS
    'A new TypeID: typeid_from_uuid(prefix, uuid_v7(clock)). It reveals its creation time.';

CREATE OR REPLACE FUNCTION idgen.typeid_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN idgen.portable_uuid_with(id, expected_prefix, 'TypeID', '0123456789abcdefghjkmnpqrstvwxyz', 'optional');
END $$;
COMMENT ON FUNCTION idgen.typeid_to_uuid(text, text) IS
    'The uuid in a TypeID. The text must conform strictly to the specification. A prefix other than the expected one '
    'raises an error (23514).';

CREATE OR REPLACE FUNCTION idgen.typeid_prefix(id text) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'TypeID', '0123456789abcdefghjkmnpqrstvwxyz', 'optional')).prefix;
COMMENT ON FUNCTION idgen.typeid_prefix(text) IS 'The prefix of a TypeID, or an empty string if there is none.';

CREATE OR REPLACE FUNCTION idgen.is_typeid(id text, prefix text DEFAULT NULL) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF id IS NOT NULL AND octet_length(prefix) > 0 THEN
        PERFORM idgen.portable_valid_prefix(prefix, false);
    END IF;
    RETURN octet_length(id) <= 90
       AND id ~ '^([a-z]([a-z_]*[a-z])?_)?[0-7][0-9a-hjkmnp-tv-z]{25}$' COLLATE "C"
       AND (prefix IS NULL OR rtrim(left(id, -26), '_') = prefix COLLATE "C");
END $$;
COMMENT ON FUNCTION idgen.is_typeid(text, text) IS
    'Tests whether a string is a TypeID, and has this prefix if one is given.';

-- ---- ULID ----

CREATE OR REPLACE FUNCTION idgen.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'ULID', '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 'full')).id;
COMMENT ON FUNCTION idgen.ulid_to_uuid(text) IS 'The 16 bytes of a ULID as a uuid, which sorts like the ULID.';

CREATE OR REPLACE FUNCTION idgen.ulid_from_uuid(id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_encode_32(id, '0123456789ABCDEFGHJKMNPQRSTVWXYZ');
COMMENT ON FUNCTION idgen.ulid_from_uuid(uuid) IS
    'The 16 bytes of a uuid as a ULID in upper case, which sorts like the uuid in COLLATE "C".';

-- The random bits are the first 48 and the last 32 bits of a random UUID.
CREATE OR REPLACE FUNCTION idgen.ulid(clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.ulid_from_uuid(
        (lpad(to_hex(idgen.portable_submillis(coalesce(clock, clock_timestamp())) >> 12), 12, '0')
         || overlay(gen_random_uuid()::text PLACING '' FROM 14 FOR 15))::uuid);
COMMENT ON FUNCTION idgen.ulid(timestamptz) IS
    'A ULID: 48 bits of Unix milliseconds and 80 random bits, as 26 digits of base 32. ULIDs of the same millisecond '
    'are in random order.';

CREATE OR REPLACE FUNCTION idgen.ulid_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(idgen.ulid_to_uuid(id)) * 1000);
COMMENT ON FUNCTION idgen.ulid_timestamp(text) IS 'The time in a ULID, to the millisecond.';

-- Is a string a ULID in upper case? The function is not STRICT, so that the planner inlines it
-- in ulid_within().
CREATE OR REPLACE FUNCTION idgen.portable_is_ulid(id text) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN octet_length(id) = 26 AND id ~ '^[0-7][0-9A-HJKMNP-TV-Z]*$' COLLATE "C";

CREATE OR REPLACE FUNCTION idgen.is_ulid(id text) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_is_ulid(id);
COMMENT ON FUNCTION idgen.is_ulid(text) IS
    'Tests whether a string is exactly what ulid_from_uuid() returns for some uuid: 26 digits, in upper case. Never '
    'raises an error.';

CREATE OR REPLACE FUNCTION idgen.ulid_floor(instant timestamptz) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN RETURN idgen.ulid_from_uuid(idgen.portable_floor(instant, '00000000000000000000')); END $$;
COMMENT ON FUNCTION idgen.ulid_floor(timestamptz) IS
    'The smallest ULID in the millisecond of this timestamp, or in the nearest one that a ULID can contain.';

-- Other collations sort differently: Estonian sorts Z before T.
CREATE OR REPLACE FUNCTION idgen.ulid_within(
    id text, start timestamptz, stop timestamptz DEFAULT 'infinity'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id COLLATE "C" >= idgen.ulid_floor(start) AND id COLLATE "C" < idgen.ulid_floor(stop)
       AND (CASE WHEN id IS NULL OR idgen.portable_is_ulid(id) THEN 0 END) IS NOT NULL;
COMMENT ON FUNCTION idgen.ulid_within(text, timestamptz, timestamptz) IS
    'Tests whether a ULID in upper case has a time at or after start and before stop. The condition can use an index '
    'in COLLATE "C" and prune partitions.';

PERFORM set_config('search_path', caller_path, true);
END
$install$;
