/*
 * idgen-portable.sql: idgen without a C library, for servers where no extension in
 * C can be installed.
 *
 * Any role with CREATE on the database can run this file with psql, or paste it,
 * on PostgreSQL 15 to 19. It creates the schema idgen with functions of the same
 * names, arguments, results and errors as the extension's, which can replace them
 * later. Running it again replaces the functions and keeps the data.
 *
 * Not included, because they need shared memory, a session's memory or a file of
 * the server:
 *	- identifiers on a ticker: snowflake(), trace_id(), js_id(), decimal_id(),
 *	  uuid_v7_ordered(), and the functions that read them;
 *	- masks and permutations, and the extension idgen_advisor;
 *	- uuid_v1(), uuid_v6(), lambert_comb(), suffix COMBs, sequence_comb(), the
 *	  conversions, inspect(), ObjectId, bigint_to_base() and bigint_from_base().
 *
 * Different from the extension:
 *	- uuid_v7() and ulid() are not strictly increasing within a session: two of one
 *	  microsecond (ulid(): of one millisecond) are in random order;
 *	- short_comb() accepts no run_length other than 1;
 *	- check_on_insert() does not read the setting idgen.clock, which any role could
 *	  set. Check a late batch with check_recent_...() and its clock.
 *
 * Functions whose names begin with "portable_" are internal, and may change.
 * The order is that of docs/reference.md. Bodies are resolved here, under the
 * search_path below, or set their own, so that the caller's does not matter.
 */

BEGIN;

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

-- A schema of another role could contain anything.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen') THEN
        RAISE EXCEPTION 'extension "idgen" is installed'
            USING ERRCODE = 'duplicate_object',
                  DETAIL = 'Its functions have the names of the portable ones.';
    END IF;
    IF EXISTS (SELECT FROM pg_namespace n WHERE nspname = 'idgen'
               AND (nspowner <> current_user::regrole
                    OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid AND proowner <> nspowner)
                    OR EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relowner <> nspowner)
                    OR EXISTS (SELECT FROM pg_operator WHERE oprnamespace = n.oid AND oprowner <> nspowner))) THEN
        RAISE EXCEPTION 'schema "idgen" belongs to another role, or contains objects of another role'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Run this file as the owner of the schema, or drop the schema.';
    END IF;
END
$$;

CREATE SCHEMA IF NOT EXISTS idgen;

GRANT USAGE ON SCHEMA idgen TO PUBLIC;

COMMENT ON SCHEMA idgen IS
'Identifiers for primary keys, portable edition: generate, check, create once. In all functions, the argument "clock" is a timestamp to use instead of the current time, and an infinite one is an error (22008).';

-- ---------------------------------------------------------------------------
-- Internal: time, bits and arguments
-- ---------------------------------------------------------------------------

-- IMMUTABLE, as extract(epoch FROM timestamptz) is not.
CREATE OR REPLACE FUNCTION idgen.portable_unix_ms(instant timestamptz) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN floor((extract(epoch FROM instant - timestamptz '2000-01-01 00:00:00+00') + 946684800) * 1000)::bigint;

COMMENT ON FUNCTION idgen.portable_unix_ms(timestamptz) IS
'Internal. Unix milliseconds, rounded down.';

CREATE OR REPLACE FUNCTION idgen.portable_finite(instant timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF NOT isfinite(instant) THEN
        RAISE EXCEPTION 'timestamp must be finite'
            USING ERRCODE = 'datetime_field_overflow',
                  DETAIL = format('The timestamp is %s.', instant);
    END IF;
    RETURN instant;
END
$$;

COMMENT ON FUNCTION idgen.portable_finite(timestamptz) IS
'Internal. The timestamp, or an error (22008) if it is infinite.';

CREATE OR REPLACE FUNCTION idgen.portable_in_48_bits(instant timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET datestyle = ISO
    AS $$
BEGIN
    IF instant >= '1970-01-01 00:00:00+00' AND instant < '10889-08-02 05:31:50.656+00' THEN
        RETURN instant;
    END IF;
    RAISE EXCEPTION 'timestamp is out of range for 48 bits of Unix milliseconds'
        USING ERRCODE = 'datetime_field_overflow',
              DETAIL = format('The timestamp is %s; it must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00.',
                              idgen.portable_finite(instant));
END
$$;

COMMENT ON FUNCTION idgen.portable_in_48_bits(timestamptz) IS
'Internal. The timestamp, or an error (22008) if its Unix milliseconds do not fit into 48 bits.';

CREATE OR REPLACE FUNCTION idgen.portable_instant(start timestamp, us bigint) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RETURN (start + make_interval(days => (us / 86400000000)::int,
                                  secs => us % 86400000000 / 1000000.0)) AT TIME ZONE interval '0';
END
$$;

COMMENT ON FUNCTION idgen.portable_instant(timestamp, bigint) IS
'Internal. The timestamp that many microseconds after a start in UTC.';

CREATE OR REPLACE FUNCTION idgen.portable_bits(id uuid) RETURNS bit varying
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('x' || encode(uuid_send(id), 'hex'))::bit(128);

COMMENT ON FUNCTION idgen.portable_bits(uuid) IS
'Internal. The 128 bits of a uuid.';

CREATE OR REPLACE FUNCTION idgen.portable_first_48_bits(id uuid) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('x' || encode(uuid_send(id), 'hex'))::bit(48)::bigint;

COMMENT ON FUNCTION idgen.portable_first_48_bits(uuid) IS
'Internal. The first 48 bits of a uuid as a number.';

CREATE OR REPLACE FUNCTION idgen.portable_us(length interval, name text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF extract(year FROM length) <> 0 OR extract(month FROM length) <> 0 THEN
        RAISE EXCEPTION '% must not have months or years', name
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('The %s is %s, which has no fixed length.', name, length),
                  HINT = 'Give it in weeks, days, hours, minutes or seconds.';
    END IF;
    RETURN extract(epoch FROM length) * 1000000;
EXCEPTION WHEN numeric_value_out_of_range THEN
    RAISE EXCEPTION '% is too long', name
        USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The %s is %s.', name, length);
END
$$;

COMMENT ON FUNCTION idgen.portable_us(interval, text) IS
'Internal. The microseconds of an interval, which is the argument with this name; an error (22023) if it has no fixed length.';

CREATE OR REPLACE FUNCTION idgen.portable_period_ms(period interval, prefix_bytes int) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    us bigint;
    problem text;
BEGIN
    IF prefix_bytes NOT BETWEEN 1 AND 6 THEN
        RAISE EXCEPTION 'prefix_bytes must be between 1 and 6'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', prefix_bytes);
    END IF;
    us := coalesce(idgen.portable_us(period, 'period'), 60000000);
    problem := CASE WHEN us <= 0 THEN 'greater than zero'
                    WHEN us > 365250 * 86400000000 THEN 'at most 365250 days'
                    WHEN us % 1000 <> 0 THEN 'a whole number of milliseconds' END;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'period must be %', problem
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The period is %s.', period);
    END IF;
    RETURN us / 1000;
END
$$;

COMMENT ON FUNCTION idgen.portable_period_ms(interval, int) IS
'Internal. The milliseconds of a period, checked with prefix_bytes; NULL is the default.';

-- Division rounds to zero, so that an offset makes the dividend positive: no
-- timestamp is 220 * 10^12 ms before 1970.
CREATE OR REPLACE FUNCTION idgen.portable_period_number(unix_ms bigint, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (unix_ms + (220000000000000 / period_ms + 1) * period_ms) / period_ms
         - (220000000000000 / period_ms + 1);

COMMENT ON FUNCTION idgen.portable_period_number(bigint, bigint) IS
'Internal. The number of the period that contains a time, negative before 1970.';

CREATE OR REPLACE FUNCTION idgen.portable_require_no_run(run_length int) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF run_length = 1 THEN
        RETURN 0;
    ELSIF run_length < 1 THEN
        RAISE EXCEPTION 'run_length must be at least 1'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', run_length);
    END IF;
    RAISE EXCEPTION 'run_length must be 1 in the portable edition of idgen'
        USING ERRCODE = 'feature_not_supported',
              DETAIL = format('The value is %s. Runs need a session''s memory, which only the extension in C has.', run_length);
END
$$;

COMMENT ON FUNCTION idgen.portable_require_no_run(int) IS
'Internal. 0, or an error (0A000) for a run_length other than 1.';

-- ---------------------------------------------------------------------------
-- Random, name-based and time-based UUIDs
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.uuid_v4() RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN gen_random_uuid();

COMMENT ON FUNCTION idgen.uuid_v4() IS
'A random UUID, version 4 (RFC 9562 section 5.4), with 122 random bits: gen_random_uuid().';

-- 4.096 per microsecond: 48 bits of milliseconds and 12 of their fraction
CREATE OR REPLACE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN (overlay(lpad(to_hex(floor(extract(epoch FROM coalesce(idgen.portable_in_48_bits(clock), clock_timestamp()))
                                      * 4096000)::bigint), 15, '0')
                    PLACING '7' FROM 13 FOR 0)
            || substr(gen_random_uuid()::text, 20))::uuid;

COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
'A UUID of version 7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond, 62 random bits; two of the same microsecond are in random order. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

-- ---------------------------------------------------------------------------
-- COMB and short COMB
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN (lpad(to_hex(idgen.portable_unix_ms(coalesce(idgen.portable_in_48_bits(clock), clock_timestamp()))), 12, '0')
            || substr(gen_random_uuid()::text, 14))::uuid;

COMMENT ON FUNCTION idgen.comb(timestamptz) IS
'A COMB: a UUID of version 4 with 48 bits of Unix milliseconds in bytes 0 to 5 and 74 random bits. A clock before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

-- The low bytes of the number of the period replace the first bytes of a random UUID.
CREATE OR REPLACE FUNCTION idgen.short_comb(
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT 1,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN encode(overlay(uuid_send(gen_random_uuid())
                          PLACING substr(int8send(idgen.portable_period_number(
                                             idgen.portable_unix_ms(coalesce(idgen.portable_finite(clock), clock_timestamp())),
                                             idgen.portable_period_ms(period, prefix_bytes))
                                         + coalesce(idgen.portable_require_no_run(run_length), 0)),
                                         9 - coalesce(prefix_bytes, 2))
                          FROM 1), 'hex')::uuid;

COMMENT ON FUNCTION idgen.short_comb(interval, int, int, timestamptz) IS
'A short COMB: a UUID of version 4 whose first prefix_bytes (1 to 6) bytes are floor(Unix ms / period in ms) mod 256^prefix_bytes. The period is a whole number of milliseconds up to 365250 days; an argument out of range is an error (22023), as is a run_length other than 1 (0A000).';

-- ---------------------------------------------------------------------------
-- Reading UUIDs
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.uuid_version(id uuid) RETURNS int
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN get_byte(uuid_send(id), 8) >> 6 = 2 THEN get_byte(uuid_send(id), 6) >> 4 END;

COMMENT ON FUNCTION idgen.uuid_version(uuid) IS
'The version of a UUID, 0 to 15 (RFC 9562 section 4.2); NULL for a variant other than that of the RFC.';

CREATE OR REPLACE FUNCTION idgen.uuid_variant(id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN (ARRAY['NCS', 'NCS', 'NCS', 'NCS', 'RFC 9562', 'RFC 9562', 'Microsoft', 'future'])[1 + (get_byte(uuid_send(id), 8) >> 5)];

COMMENT ON FUNCTION idgen.uuid_variant(uuid) IS
'The variant of a UUID (RFC 9562 section 4.1): ''RFC 9562'', ''NCS'', ''Microsoft'' or ''future''.';

-- Versions 1, 6 and 13 count 100 ns since 1582-10-15 in bits 1 to 48 and 53 to 64,
-- version 1 in another order.
CREATE OR REPLACE FUNCTION idgen.uuid_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    bits bit(128) := idgen.portable_bits(id);
BEGIN
    CASE idgen.uuid_version(id)
        WHEN 7 THEN
            RETURN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000);
        WHEN 6, 13 THEN
            RETURN idgen.portable_instant('1582-10-15', (substring(bits FROM 1 FOR 48) || substring(bits FROM 53 FOR 12))::bit(60)::bigint / 10);
        WHEN 1 THEN
            RETURN idgen.portable_instant('1582-10-15', (substring(bits FROM 53 FOR 12) || substring(bits FROM 33 FOR 16)
                                                         || substring(bits FROM 1 FOR 32))::bit(60)::bigint / 10);
        ELSE
            RETURN NULL;
    END CASE;
END
$$;

COMMENT ON FUNCTION idgen.uuid_timestamp(uuid) IS
'The time in a UUID of version 1, 6 or 13 (Lambert''s COMB), rounded down to the microsecond, or of version 7, to the millisecond; NULL for any other.';

CREATE OR REPLACE FUNCTION idgen.uuid_text_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_timestamp(id::uuid);

COMMENT ON FUNCTION idgen.uuid_text_timestamp(text) IS
'The same as uuid_timestamp() for a UUID as text, for example as a time decoder of pg_partman. Text that is not a uuid is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.uuid_version(id) = 4
           THEN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000) END;

COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
'The time in a COMB, to the millisecond: the first 48 bits of a UUID of version 4, NULL for another version. A random UUID is also read as some time.';

CREATE OR REPLACE FUNCTION idgen.short_comb_timestamp(
    id uuid,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2
) RETURNS timestamptz
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    period_ms bigint;
    bits int := 8 * coalesce(prefix_bytes, 2);
    number bigint;
    start_ms numeric;
BEGIN
    IF id IS NULL THEN
        RETURN NULL;
    END IF;
    period_ms := idgen.portable_period_ms(period, prefix_bytes);
    number := idgen.portable_period_number(
        idgen.portable_unix_ms(coalesce(idgen.portable_finite(clock), statement_timestamp())), period_ms);
    IF idgen.uuid_version(id) IS DISTINCT FROM 4 THEN
        RETURN NULL;
    END IF;
    number := number - ((number - (idgen.portable_first_48_bits(id) >> (48 - bits))) & ((1::bigint << bits) - 1));
    start_ms := number::numeric * period_ms;
    RETURN CASE WHEN start_ms >= idgen.portable_unix_ms('4714-11-24 00:00:00+00 BC')
           THEN idgen.portable_instant('1970-01-01', (start_ms * 1000)::bigint) END;
END
$$;

COMMENT ON FUNCTION idgen.short_comb_timestamp(uuid, timestamptz, interval, int) IS
'The start of the latest period, not after the clock (the start of the statement unless given), in which short_comb(period, prefix_bytes) gave this prefix; NULL for a version other than 4. An identifier older than a cycle is read as a younger one.';

-- ---------------------------------------------------------------------------
-- Ranges of time
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.uuid_v7_floor(instant timestamptz) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (lpad(to_hex(idgen.portable_unix_ms(idgen.portable_in_48_bits(instant))), 12, '0') || '70008000000000000000')::uuid;

COMMENT ON FUNCTION idgen.uuid_v7_floor(timestamptz) IS
'The smallest UUID of version 7 with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.uuid_v7_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (lpad(to_hex(idgen.portable_unix_ms(idgen.portable_in_48_bits(instant))), 12, '0') || '7fffbfffffffffffffff')::uuid;

COMMENT ON FUNCTION idgen.uuid_v7_ceil(timestamptz) IS
'The greatest UUID of version 7 with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.comb_floor(instant timestamptz) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (lpad(to_hex(idgen.portable_unix_ms(idgen.portable_in_48_bits(instant))), 12, '0') || '40008000000000000000')::uuid;

COMMENT ON FUNCTION idgen.comb_floor(timestamptz) IS
'The smallest COMB with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.comb_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (lpad(to_hex(idgen.portable_unix_ms(idgen.portable_in_48_bits(instant))), 12, '0') || '4fffbfffffffffffffff')::uuid;

COMMENT ON FUNCTION idgen.comb_ceil(timestamptz) IS
'The greatest COMB with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

-- The planner inlines these predicates into index conditions and partition
-- pruning. It would not inline STRICT functions.

CREATE OR REPLACE FUNCTION idgen.uuid_v7_within(id uuid, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id >= idgen.uuid_v7_floor(start) AND id < idgen.uuid_v7_floor(stop);

COMMENT ON FUNCTION idgen.uuid_v7_within(uuid, timestamptz, timestamptz) IS
'Whether a UUID of version 7 is at or after start and before stop: id >= uuid_v7_floor(start) AND id < uuid_v7_floor(stop), which uses an index and prunes partitions. Never true if start or stop is NULL.';

CREATE OR REPLACE FUNCTION idgen.comb_within(id uuid, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id >= idgen.comb_floor(start) AND id < idgen.comb_floor(stop);

COMMENT ON FUNCTION idgen.comb_within(uuid, timestamptz, timestamptz) IS
'Whether a COMB is at or after start and before stop: id >= comb_floor(start) AND id < comb_floor(stop), which uses an index and prunes partitions. Never true if start or stop is NULL.';

COMMIT;
