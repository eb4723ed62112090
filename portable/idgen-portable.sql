/*
 * idgen-portable.sql: idgen without a C library, for servers where no extension in
 * C can be installed.
 *
 * Any role with CREATE on the database can run this file with psql, or paste it,
 * on PostgreSQL 15 to 19. It creates the schema idgen with functions of the same
 * names, arguments, results and errors as the extension's, which can replace them
 * later. Running it again replaces the functions and keeps the data.
 *
 * Not included:
 *   - identifiers on a ticker, which needs shared memory: snowflake(), trace_id(),
 *     js_id(), decimal_id(), uuid_v7_ordered(), and the functions that read them;
 *   - masks and permutations, which need a key file, and the extension idgen_advisor;
 *   - uuid_v1(), uuid_v6(), lambert_comb(), suffix COMBs, sequence_comb(), the
 *     conversions, inspect() and ObjectId.
 *
 * Different from the extension:
 *   - uuid_v7() and ulid() are not strictly increasing within a session or a
 *     transaction: two of one microsecond (ulid(): of one millisecond) are in random
 *     order, and a clock that is set back repeats its times;
 *   - short_comb() accepts no run_length other than 1;
 *   - check_on_insert() does not read the setting idgen.clock, which no library
 *     protects here. Check a late batch with check_recent_...() and its clock.
 *
 * Random bits come from gen_random_uuid() only. Functions whose names begin with
 * "portable_" are internal, and may change; if the result or the arguments do, under
 * another name, because CREATE OR REPLACE cannot change them. The order is that of
 * docs/reference.md. Names in bodies are resolved here, under the search_path below, or
 * under one that the function sets, or are qualified, so that the caller's does not
 * matter.
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
               AND (pg_get_userbyid(nspowner) <> current_user
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

-- IMMUTABLE, as extract(epoch FROM timestamptz) is not; numeric, as the sum can be
-- out of range for timestamptz.
CREATE OR REPLACE FUNCTION idgen.portable_unix_ms(instant timestamptz, plus_us bigint DEFAULT 0) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN floor(extract(epoch FROM instant - timestamptz '2000-01-01 00:00:00+00') * 1000 + plus_us * 0.001)::bigint + 946684800000;

COMMENT ON FUNCTION idgen.portable_unix_ms(timestamptz, bigint) IS
'Internal. Unix milliseconds of a timestamp plus microseconds, rounded down.';

CREATE OR REPLACE FUNCTION idgen.portable_refuse_clock(instant timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1
    SET search_path = pg_catalog, pg_temp
    SET datestyle = ISO
    AS $$
BEGIN
    IF NOT isfinite(instant) THEN
        RAISE EXCEPTION 'timestamp must be finite'
            USING ERRCODE = 'datetime_field_overflow', DETAIL = format('The timestamp is %s.', instant);
    END IF;
    RAISE EXCEPTION 'timestamp is out of range for 48 bits of Unix milliseconds'
        USING ERRCODE = 'datetime_field_overflow',
              DETAIL = format('The timestamp is %s; it must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00.', instant);
END
$$;

COMMENT ON FUNCTION idgen.portable_refuse_clock(timestamptz) IS
'Internal. The error (22008) of a timestamp that is infinite or out of range.';

CREATE OR REPLACE FUNCTION idgen.portable_finite(instant timestamptz) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN isfinite(instant) IS NOT FALSE THEN instant ELSE idgen.portable_refuse_clock(instant) END;

COMMENT ON FUNCTION idgen.portable_finite(timestamptz) IS
'Internal. The timestamp, or an error (22008) if it is infinite.';

CREATE OR REPLACE FUNCTION idgen.portable_in_48_bits(instant timestamptz) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (instant >= '1970-01-01 00:00:00+00' AND instant < '10889-08-02 05:31:50.656+00') IS NOT FALSE
           THEN instant ELSE idgen.portable_refuse_clock(instant) END;

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
DECLARE
    us numeric := extract(epoch FROM length) * 1000000;
BEGIN
    IF extract(year FROM length) <> 0 OR extract(month FROM length) <> 0 THEN
        RAISE EXCEPTION '% must not have months or years', name
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('The %s is %s, which has no fixed length.', name, length),
                  HINT = 'Give it in weeks, days, hours, minutes or seconds.';
    ELSIF us NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
        RAISE EXCEPTION '% is too long', name
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The %s is %s.', name, length);
    END IF;
    RETURN us;
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

-- Division rounds to zero, so that an offset makes the dividend positive: no window
-- begins 10^16 ms before 1970.
CREATE OR REPLACE FUNCTION idgen.portable_period_number(unix_ms bigint, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (unix_ms + (10000000000000000 / period_ms + 1) * period_ms) / period_ms
         - (10000000000000000 / period_ms + 1);

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

-- SHA-1 (RFC 3174), which the server has in pgcrypto only
CREATE OR REPLACE FUNCTION idgen.portable_sha1(message bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ones CONSTANT bigint := 4294967295;     -- 32 bits
    h bigint[] := ARRAY[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
    w bigint[];
    a bigint; b bigint; c bigint; d bigint; e bigint; f bigint; x bigint;
    padded bytea := message || decode(rpad('80', 2 + 2 * ((119 - length(message) % 64) % 64), '0'), 'hex')
                    || int8send(8 * length(message)::bigint);
BEGIN
    FOR block IN 0 .. length(padded) / 64 - 1 LOOP
        FOR t IN 0 .. 79 LOOP
            IF t < 16 THEN
                w[t] := ('x' || encode(substr(padded, 64 * block + 4 * t + 1, 4), 'hex'))::bit(32)::bigint;
            ELSE
                x := w[t - 3] # w[t - 8] # w[t - 14] # w[t - 16];
                w[t] := ((x << 1) & ones) | (x >> 31);
            END IF;
        END LOOP;
        a := h[1]; b := h[2]; c := h[3]; d := h[4]; e := h[5];
        FOR t IN 0 .. 79 LOOP
            f := CASE t / 20 WHEN 0 THEN ((b & c) | ((b # ones) & d)) + 1518500249
                             WHEN 1 THEN (b # c # d) + 1859775393
                             WHEN 2 THEN ((b & c) | (b & d) | (c & d)) + 2400959708
                             ELSE (b # c # d) + 3395469782 END;
            x := ((((a << 5) & ones) | (a >> 27)) + f + e + w[t]) & ones;
            e := d; d := c; c := ((b << 30) & ones) | (b >> 2); b := a; a := x;
        END LOOP;
        h := ARRAY[(h[1] + a) & ones, (h[2] + b) & ones, (h[3] + c) & ones, (h[4] + d) & ones, (h[5] + e) & ones];
    END LOOP;
    RETURN substr(int8send(h[1]), 5) || substr(int8send(h[2]), 5) || substr(int8send(h[3]), 5)
        || substr(int8send(h[4]), 5) || substr(int8send(h[5]), 5);
END
$$;

COMMENT ON FUNCTION idgen.portable_sha1(bytea) IS
'Internal. The SHA-1 of bytes.';

CREATE OR REPLACE FUNCTION idgen.uuid_v5(namespace uuid, name text) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    hash bytea := idgen.portable_sha1(uuid_send(namespace) || convert_to(name, 'UTF8'));
BEGIN
    hash := set_byte(hash, 6, 80 | (get_byte(hash, 6) & 15));       -- version 5
    hash := set_byte(hash, 8, 128 | (get_byte(hash, 8) & 63));      -- variant
    RETURN encode(substr(hash, 1, 16), 'hex');
END
$$;

COMMENT ON FUNCTION idgen.uuid_v5(uuid, text) IS
'A name-based UUID, version 5 (RFC 9562 section 5.5): 122 bits of SHA-1 over the namespace and the name in UTF-8, always the same for the same arguments.';

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
    bits int;
    number bigint;
    start_ms numeric;
BEGIN
    IF id IS NULL THEN
        RETURN NULL;
    END IF;
    period_ms := idgen.portable_period_ms(period, prefix_bytes);
    bits := 8 * coalesce(prefix_bytes, 2);
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

-- The bounds are in PL/pgSQL, which is not inlined, so that EXPLAIN shows their names.
CREATE OR REPLACE FUNCTION idgen.portable_uuid_of_ms(instant timestamptz, digits text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN (lpad(to_hex(idgen.portable_unix_ms(idgen.portable_in_48_bits(instant))), 12, '0') || digits)::uuid;

COMMENT ON FUNCTION idgen.portable_uuid_of_ms(timestamptz, text) IS
'Internal. The uuid of 48 bits of Unix milliseconds and 20 hexadecimal digits.';

CREATE OR REPLACE FUNCTION idgen.uuid_v7_floor(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.portable_uuid_of_ms(instant, '70008000000000000000'); END $$;

COMMENT ON FUNCTION idgen.uuid_v7_floor(timestamptz) IS
'The smallest UUID of version 7 with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.uuid_v7_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.portable_uuid_of_ms(instant, '7fffbfffffffffffffff'); END $$;

COMMENT ON FUNCTION idgen.uuid_v7_ceil(timestamptz) IS
'The greatest UUID of version 7 with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.comb_floor(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.portable_uuid_of_ms(instant, '40008000000000000000'); END $$;

COMMENT ON FUNCTION idgen.comb_floor(timestamptz) IS
'The smallest COMB with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.comb_ceil(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.portable_uuid_of_ms(instant, '4fffbfffffffffffffff'); END $$;

COMMENT ON FUNCTION idgen.comb_ceil(timestamptz) IS
'The greatest COMB with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.ulid_floor(instant timestamptz) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.uuid_to_base(idgen.portable_uuid_of_ms(instant, '00000000000000000000'), 32); END $$;

COMMENT ON FUNCTION idgen.ulid_floor(timestamptz) IS
'The smallest ULID with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

CREATE OR REPLACE FUNCTION idgen.ulid_ceil(instant timestamptz) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN idgen.uuid_to_base(idgen.portable_uuid_of_ms(instant, 'ffffffffffffffffffff'), 32); END $$;

COMMENT ON FUNCTION idgen.ulid_ceil(timestamptz) IS
'The greatest ULID with the millisecond of this timestamp. A timestamp before 1970 or after 10889-08-02 05:31:50.655999+00 is an error (22008).';

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

-- The body is a string so that the comparisons have the collation of the column,
-- and so use its index. In RETURN they would have the default collation.
CREATE OR REPLACE FUNCTION idgen.ulid_within(id text, start timestamptz, stop timestamptz) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    AS 'SELECT id OPERATOR(pg_catalog.>=) idgen.ulid_floor(start) AND id OPERATOR(pg_catalog.<) idgen.ulid_floor(stop)';

COMMENT ON FUNCTION idgen.ulid_within(text, timestamptz, timestamptz) IS
'Whether a ULID is at or after start and before stop: id >= ulid_floor(start) AND id < ulid_floor(stop) in the collation of id, which should be "C"; it uses an index and prunes partitions. Never true if start or stop is NULL.';

-- ---------------------------------------------------------------------------
-- Checking what clients bring
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.portable_refuse_version(version int) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION 'version must be between 0 and 15'
        USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', version);
END
$$;

COMMENT ON FUNCTION idgen.portable_refuse_version(int) IS
'Internal. An error (22023).';

CREATE OR REPLACE FUNCTION idgen.is_uuid(id text, version int DEFAULT NULL) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL AND version NOT BETWEEN 0 AND 15
           THEN idgen.portable_refuse_version(version)
           ELSE octet_length(id) = 36
            AND id ~* ('^[0-9a-f]{8}-[0-9a-f]{4}-' || coalesce(to_hex(version), '[1-8]')
                       || '[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' COLLATE "C") END;

COMMENT ON FUNCTION idgen.is_uuid(text, int) IS
'Whether a text is a UUID in canonical form: 36 characters, hexadecimal digits of either case, the variant of RFC 9562 and the given version, or one from 1 to 8 if none is given. Bad text never raises an error; a version outside 0 to 15 does (22023).';

CREATE OR REPLACE FUNCTION idgen.portable_tolerance_us(tolerance interval, name text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    us bigint := idgen.portable_us(tolerance, name);
BEGIN
    IF us < 0 THEN
        RAISE EXCEPTION '% must not be negative', name
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', tolerance);
    END IF;
    RETURN us;
END
$$;

COMMENT ON FUNCTION idgen.portable_tolerance_us(interval, text) IS
'Internal. The microseconds of an interval; an error (22023) if it is negative.';

-- With constant arguments, the planner computes a rule once.
CREATE OR REPLACE FUNCTION idgen.portable_rule(
    scheme text,
    tolerance interval,
    period interval,
    prefix_bytes int,
    past_tolerance interval,
    future_tolerance interval
) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    period_ms bigint := idgen.portable_period_ms(period, prefix_bytes);
    bits int := 8 * coalesce(prefix_bytes, 2);
    both_us bigint := coalesce(idgen.portable_tolerance_us(tolerance, 'tolerance'),
                               CASE scheme WHEN 'short_comb' THEN 10 * 1000 * period_ms ELSE 600000000 END);
    past_us bigint := coalesce(idgen.portable_tolerance_us(past_tolerance, 'past_tolerance'), both_us);
    future_us bigint := coalesce(idgen.portable_tolerance_us(future_tolerance, 'future_tolerance'), both_us);
    width_us numeric := past_us::numeric + future_us;
    widest bigint := (1::bigint << bits) - 2;
BEGIN
    -- a window of more than n - 1 periods can intersect n + 1 of them
    IF scheme = 'short_comb' AND width_us > widest::numeric * period_ms * 1000 THEN
        RAISE EXCEPTION 'tolerance is too wide for the cycle of prefixes'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('The past and future tolerances add up to %s ms. At most %s periods of %s ms are allowed, 2 less than the cycle, because a wider window could contain every prefix.',
                                  ceil(width_us * 0.001), widest, period_ms),
                  HINT = 'Use a smaller tolerance, a longer period or more prefix bytes.';
    END IF;
    RETURN ARRAY[past_us, future_us, period_ms, bits];
END
$$;

COMMENT ON FUNCTION idgen.portable_rule(text, interval, interval, int, interval, interval) IS
'Internal. The arguments of is_recent_...(), checked: past and future tolerance in microseconds, period in milliseconds, bits of the prefix.';

CREATE OR REPLACE FUNCTION idgen.portable_check_window(clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    us numeric := extract(epoch FROM idgen.portable_finite(clock) - timestamptz '2000-01-01 00:00:00+00') * 1000000;
BEGIN
    IF us - rule[1] < -9223372036854775808 OR us + rule[2] > 9223372036854775807 THEN
        RAISE EXCEPTION 'timestamp out of range' USING ERRCODE = 'datetime_field_overflow';
    END IF;
    RETURN true;
END
$$;

COMMENT ON FUNCTION idgen.portable_check_window(timestamptz, bigint[]) IS
'Internal. True, or an error (22008) if the clock is infinite or the window has no end.';

CREATE OR REPLACE FUNCTION idgen.portable_require_window(clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN ((clock BETWEEN '1000-01-01 00:00:00+00' AND '10000-01-01 00:00:00+00') IS NOT FALSE
            AND greatest(rule[1], rule[2]) < 1000000000000000000)
        OR idgen.portable_check_window(coalesce(clock, statement_timestamp()), rule);

COMMENT ON FUNCTION idgen.portable_require_window(timestamptz, bigint[]) IS
'Internal. The same as portable_check_window(), without a call in the usual case; a clock that is NULL is the start of the statement.';

CREATE OR REPLACE FUNCTION idgen.portable_is_version(id uuid, version int) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN get_byte(uuid_send(id), 6) >> 4 = version AND get_byte(uuid_send(id), 8) >> 6 = 2;

COMMENT ON FUNCTION idgen.portable_is_version(uuid, int) IS
'Internal. Whether a uuid is of the RFC''s variant and this version.';

CREATE OR REPLACE FUNCTION idgen.portable_prefix_accepted(id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_is_version(id, 4)
       AND (((idgen.portable_first_48_bits(id) >> (48 - rule[4])::int)
             - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]))
            & ((1::bigint << rule[4]::int) - 1))
           <= idgen.portable_period_number(idgen.portable_unix_ms(clock, rule[2]), rule[3])
            - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]);

COMMENT ON FUNCTION idgen.portable_prefix_accepted(uuid, timestamptz, bigint[]) IS
'Internal. Whether a rule accepts a short COMB: the periods from the start of the window to its prefix, modulo the cycle, are within the window.';

CREATE OR REPLACE FUNCTION idgen.portable_time_accepted(id uuid, version int, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_is_version(id, version)
       AND idgen.portable_first_48_bits(id) >= idgen.portable_unix_ms(clock, -rule[1])
       AND idgen.portable_first_48_bits(id) <= idgen.portable_unix_ms(clock, rule[2]);

COMMENT ON FUNCTION idgen.portable_time_accepted(uuid, int, timestamptz, bigint[]) IS
'Internal. Whether a rule accepts a COMB or a UUID of version 7.';

CREATE OR REPLACE FUNCTION idgen.portable_accepted(scheme text, id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE scheme WHEN 'short_comb' THEN idgen.portable_prefix_accepted(id, clock, rule)
                       WHEN 'comb' THEN idgen.portable_time_accepted(id, 4, clock, rule)
                       ELSE idgen.portable_time_accepted(id, 7, clock, rule) END;

COMMENT ON FUNCTION idgen.portable_accepted(text, uuid, timestamptz, bigint[]) IS
'Internal. Whether a rule accepts an identifier.';

CREATE OR REPLACE FUNCTION idgen.is_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL AND idgen.portable_require_window(clock, idgen.portable_rule('short_comb', tolerance, period, prefix_bytes, past_tolerance, future_tolerance))
           THEN idgen.portable_accepted('short_comb', id, coalesce(clock, statement_timestamp()),
                                        idgen.portable_rule('short_comb', tolerance, period, prefix_bytes, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.is_recent_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'Whether a UUID is of version 4 with a prefix that short_comb(period, prefix_bytes) gives at some time from clock - past_tolerance to clock + future_tolerance, each of them tolerance unless given, and that ten periods. A tolerance that is negative or has months, or both together above the cycle of prefixes less two periods, is an error (22023).';

CREATE OR REPLACE FUNCTION idgen.is_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL AND idgen.portable_require_window(clock, idgen.portable_rule('comb', tolerance, NULL, NULL, past_tolerance, future_tolerance))
           THEN idgen.portable_accepted('comb', id, coalesce(clock, statement_timestamp()),
                                        idgen.portable_rule('comb', tolerance, NULL, NULL, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.is_recent_comb(uuid, interval, timestamptz, interval, interval) IS
'Whether a UUID is of version 4 and its first 48 bits are a time from clock - past_tolerance to clock + future_tolerance, each of them tolerance unless given. Both ends are rounded down to the millisecond, the clock is the start of the statement unless given, and a tolerance that is negative or has months is an error (22023).';

CREATE OR REPLACE FUNCTION idgen.is_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL AND idgen.portable_require_window(clock, idgen.portable_rule('uuid_v7', tolerance, NULL, NULL, past_tolerance, future_tolerance))
           THEN idgen.portable_accepted('uuid_v7', id, coalesce(clock, statement_timestamp()),
                                        idgen.portable_rule('uuid_v7', tolerance, NULL, NULL, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.is_recent_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'Whether a UUID is of version 7 with a time from clock - past_tolerance to clock + future_tolerance, each of them tolerance unless given. Both ends are rounded down to the millisecond, the clock is the start of the statement unless given, and a tolerance that is negative or has months is an error (22023).';

CREATE OR REPLACE FUNCTION idgen.portable_text(clock timestamptz, plus_us bigint) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET datestyle = ISO
    AS $$
DECLARE
    us numeric := extract(epoch FROM clock - timestamptz '2000-01-01 00:00:00+00') * 1000000 + plus_us;
BEGIN
    RETURN CASE WHEN us BETWEEN -211813488000000000 AND 9223371331199999999
           THEN idgen.portable_instant('2000-01-01', us::bigint)::text
           ELSE '(timestamp out of range)' END;
END
$$;

COMMENT ON FUNCTION idgen.portable_text(timestamptz, bigint) IS
'Internal. A timestamp plus microseconds as text for messages.';

CREATE OR REPLACE FUNCTION idgen.portable_violation(scheme text, id uuid, clock timestamptz, rule bigint[]) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET datestyle = ISO
    AS $$
DECLARE
    version int := CASE scheme WHEN 'uuid_v7' THEN 7 ELSE 4 END;
    first text := idgen.portable_text(clock, -rule[1]);
    last text := idgen.portable_text(clock, rule[2]);
    prefixes text[];
BEGIN
    IF idgen.uuid_version(id) IS NULL THEN
        RETURN format('Identifier %s has variant %s, not RFC 9562.', id, idgen.uuid_variant(id));
    ELSIF idgen.uuid_version(id) <> version THEN
        RETURN format('Identifier %s has version %s, not %s.', id, idgen.uuid_version(id), version);
    ELSIF scheme <> 'short_comb' THEN
        RETURN format('Identifier %s contains the time %s, which is not between %s and %s.',
                      id, idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000), first, last);
    END IF;
    SELECT array_agg(right(to_hex(number), rule[4]::int / 4) ORDER BY n) INTO prefixes
    FROM (VALUES (1, (1::bigint << 48) + (idgen.portable_first_48_bits(id) >> (48 - rule[4])::int)),
                 (2, (1::bigint << 61) + idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3])),
                 (3, (1::bigint << 61) + idgen.portable_period_number(idgen.portable_unix_ms(clock, rule[2]), rule[3]))) v (n, number);
    RETURN format('Identifier %s has prefix %s, but the prefixes from %s to %s are %s to %s.',
                  id, prefixes[1], first, last, prefixes[2], prefixes[3]);
END
$$;

COMMENT ON FUNCTION idgen.portable_violation(text, uuid, timestamptz, bigint[]) IS
'Internal. Why a rule does not accept an identifier, as a sentence.';

CREATE OR REPLACE FUNCTION idgen.portable_refuse(
    scheme text,
    id uuid,
    clock timestamptz,
    rule bigint[],
    in_schema text DEFAULT NULL,
    in_table text DEFAULT NULL,
    in_column text DEFAULT NULL,
    by_trigger text DEFAULT NULL
) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    message text := format('identifier is not a %s from the allowed time range',
                           CASE scheme WHEN 'short_comb' THEN 'short COMB' WHEN 'comb' THEN 'COMB' ELSE 'version 7 UUID' END);
    detail text := idgen.portable_violation(scheme, id, clock, rule);
    is_version boolean := idgen.portable_is_version(id, CASE scheme WHEN 'uuid_v7' THEN 7 ELSE 4 END);
    hint text := CASE WHEN NOT is_version THEN format('Generate a new identifier with idgen.%s().', scheme)
                      WHEN by_trigger IS NULL THEN 'Generate a new identifier. For a late batch, pass the time at which its identifiers were generated as "clock".'
                      ELSE format('Generate a new identifier. For a late batch, disable the trigger and check with idgen.check_recent_%s() and the time at which its identifiers were generated as "clock".', scheme) END;
BEGIN
    IF by_trigger IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = message, DETAIL = detail, HINT = hint,
            CONSTRAINT = 'check_recent_' || scheme;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = message, DETAIL = detail, HINT = hint,
        SCHEMA = in_schema, TABLE = in_table, COLUMN = in_column, CONSTRAINT = by_trigger;
END
$$;

COMMENT ON FUNCTION idgen.portable_refuse(text, uuid, timestamptz, bigint[], text, text, text, text) IS
'Internal. The error (23514) of check_recent_...() and of check_on_insert().';

CREATE OR REPLACE FUNCTION idgen.check_recent_short_comb(
    id uuid,
    tolerance interval DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_short_comb(id, tolerance, clock, period, prefix_bytes, past_tolerance, future_tolerance) IS NOT FALSE THEN id
           ELSE idgen.portable_refuse('short_comb', id, coalesce(clock, statement_timestamp()),
                                      idgen.portable_rule('short_comb', tolerance, period, prefix_bytes, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.check_recent_short_comb(uuid, interval, timestamptz, interval, int, interval, interval) IS
'The identifier, if is_recent_short_comb() accepts it with the same arguments. Otherwise an error (23514) that shows the window and the value found, with the function''s name as constraint name.';

CREATE OR REPLACE FUNCTION idgen.check_recent_comb(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_comb(id, tolerance, clock, past_tolerance, future_tolerance) IS NOT FALSE THEN id
           ELSE idgen.portable_refuse('comb', id, coalesce(clock, statement_timestamp()),
                                      idgen.portable_rule('comb', tolerance, NULL, NULL, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.check_recent_comb(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_recent_comb() accepts it with the same arguments. Otherwise an error (23514) that shows the window and the value found, with the function''s name as constraint name.';

CREATE OR REPLACE FUNCTION idgen.check_recent_uuid_v7(
    id uuid,
    tolerance interval DEFAULT '10 minutes',
    clock timestamptz DEFAULT NULL,
    past_tolerance interval DEFAULT NULL,
    future_tolerance interval DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_uuid_v7(id, tolerance, clock, past_tolerance, future_tolerance) IS NOT FALSE THEN id
           ELSE idgen.portable_refuse('uuid_v7', id, coalesce(clock, statement_timestamp()),
                                      idgen.portable_rule('uuid_v7', tolerance, NULL, NULL, past_tolerance, future_tolerance)) END;

COMMENT ON FUNCTION idgen.check_recent_uuid_v7(uuid, interval, timestamptz, interval, interval) IS
'The identifier, if is_recent_uuid_v7() accepts it with the same arguments. Otherwise an error (23514) that shows the window and the value found, with the function''s name as constraint name.';

CREATE OR REPLACE FUNCTION idgen.check_on_insert() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    attribute pg_attribute;
    scheme text := TG_ARGV[1];
    is_short boolean := scheme = 'short_comb';
    base_type oid;
    id uuid;
    rule bigint[];
    problem text;
BEGIN
    IF TG_WHEN <> 'BEFORE' OR TG_LEVEL <> 'ROW' OR TG_OP <> 'INSERT' THEN
        RAISE EXCEPTION 'function "check_on_insert" must be fired BEFORE INSERT FOR EACH ROW'
            USING ERRCODE = 'trigger_protocol_violated';
    ELSIF TG_NARGS < 2 THEN
        RAISE EXCEPTION 'check_on_insert requires a column and a scheme as arguments'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'For example, EXECUTE FUNCTION idgen.check_on_insert(''id'', ''short_comb'').';
    END IF;

    SELECT * INTO attribute FROM pg_attribute a
    WHERE a.attrelid = TG_RELID AND a.attname = TG_ARGV[0] AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', TG_ARGV[0], TG_TABLE_NAME
            USING ERRCODE = 'undefined_column';
    END IF;
    base_type := attribute.atttypid;
    WHILE base_type NOT IN (0, 'uuid'::regtype) LOOP
        base_type := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = base_type);
    END LOOP;
    IF base_type = 0 THEN
        RAISE EXCEPTION 'column "%" of relation "%" is not of type uuid', TG_ARGV[0], TG_TABLE_NAME
            USING ERRCODE = 'datatype_mismatch',
                  SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0];
    ELSIF attribute.attgenerated <> '' THEN
        RAISE EXCEPTION 'column "%" of relation "%" is a generated column', TG_ARGV[0], TG_TABLE_NAME
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'Generated columns are computed after BEFORE triggers are called.',
                  SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0];
    ELSIF scheme NOT IN ('short_comb', 'comb', 'uuid_v7') THEN
        RAISE EXCEPTION 'unknown identifier scheme "%"', scheme
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Supported schemes are short_comb, comb and uuid_v7.';
    ELSIF TG_NARGS > (CASE WHEN is_short THEN 7 ELSE 5 END) THEN
        RAISE EXCEPTION 'too many arguments for check_on_insert with scheme "%"', scheme
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('The arguments are (column, scheme, tolerance%s, past_tolerance, future_tolerance).',
                                CASE WHEN is_short THEN ', period, prefix_bytes' END);
    END IF;

    -- an argument that is empty or missing is the default
    rule := idgen.portable_rule(scheme, nullif(TG_ARGV[2], '')::interval,
                                CASE WHEN is_short THEN nullif(TG_ARGV[3], '')::interval END,
                                CASE WHEN is_short THEN nullif(TG_ARGV[4], '')::int END,
                                nullif(TG_ARGV[CASE WHEN is_short THEN 5 ELSE 3 END], '')::interval,
                                nullif(TG_ARGV[CASE WHEN is_short THEN 6 ELSE 4 END], '')::interval);

    IF TG_ARGV[0] = 'id' THEN       -- the usual name, without a statement to plan
        id := NEW.id;
    ELSE
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO id USING NEW;
    END IF;
    IF idgen.portable_accepted(scheme, id, clock_timestamp(), rule) IS FALSE THEN
        PERFORM idgen.portable_refuse(scheme, id, clock_timestamp(), rule,
                                      TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_ARGV[0], TG_NAME);
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION idgen.check_on_insert() IS
'Trigger function, BEFORE INSERT FOR EACH ROW, with the arguments (column, ''short_comb'', tolerance, period, prefix_bytes, past_tolerance, future_tolerance) or (column, ''comb'' or ''uuid_v7'', tolerance, past_tolerance, future_tolerance). It refuses an identifier that was not made at about the time of the wall clock with an error (23514) whose constraint name is the trigger''s name. It does not read idgen.clock.';

-- ---------------------------------------------------------------------------
-- Text forms: bases, prefixed ids, TypeID, ULID
-- ---------------------------------------------------------------------------

-- A base is represented by its digits, from which the internal functions derive all.
CREATE OR REPLACE FUNCTION idgen.portable_digits(base int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    CASE base
        WHEN 16 THEN RETURN '0123456789abcdef';
        WHEN 32 THEN RETURN '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
        WHEN 36 THEN RETURN '0123456789abcdefghijklmnopqrstuvwxyz';
        WHEN 58 THEN RETURN '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
        WHEN 62 THEN RETURN '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
        ELSE
            RAISE EXCEPTION 'base % is not supported', base
                USING ERRCODE = 'invalid_parameter_value',
                      HINT = 'Supported bases are 16, 32, 36, 58 and 62.';
    END CASE;
END
$$;

COMMENT ON FUNCTION idgen.portable_digits(int) IS
'Internal. The digits of a base.';

CREATE OR REPLACE FUNCTION idgen.portable_width(digits text) RETURNS int
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ceil(128 / log(2, length(digits)))::int;

COMMENT ON FUNCTION idgen.portable_width(text) IS
'Internal. The number of digits of 128 bits.';

CREATE OR REPLACE FUNCTION idgen.portable_encode(id uuid, digits text, width int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    base int := length(digits);
    chunk_value numeric := base::numeric ^ 10;
    bits bit(128) := idgen.portable_bits(id);
    rest numeric := substring(bits FROM 1 FOR 48)::bigint * 1208925819614629174706176     -- 2^80
                  + substring(bits FROM 49 FOR 40)::bigint * 1099511627776::numeric       -- 2^40
                  + substring(bits FROM 89)::bigint;
    chunk bigint;
    result text := '';
BEGIN
    WHILE length(result) < width LOOP
        chunk := mod(rest, chunk_value);
        rest := div(rest, chunk_value);
        FOR pair IN 1 .. 5 LOOP
            result := substr(digits, (chunk / base % base)::int + 1, 1) || substr(digits, (chunk % base)::int + 1, 1) || result;
            chunk := chunk / (base * base);
        END LOOP;
    END LOOP;
    RETURN right(result, width);
END
$$;

COMMENT ON FUNCTION idgen.portable_encode(uuid, text, int) IS
'Internal. A uuid in the digits of a base.';

CREATE OR REPLACE FUNCTION idgen.uuid_to_base(id uuid, base int) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_encode(id, idgen.portable_digits(base), idgen.portable_width(idgen.portable_digits(base)));

COMMENT ON FUNCTION idgen.uuid_to_base(uuid, int) IS
'The uuid in digits of base 16, 32 (Crockford), 36, 58 (Bitcoin) or 62: always 32, 26, 25, 22 or 22 digits, so that text order in COLLATE "C" is uuid order. Another base is an error (22023).';

CREATE OR REPLACE FUNCTION idgen.bigint_to_base(value bigint, base int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    digits text := idgen.portable_digits(base);
BEGIN
    IF value < 0 THEN
        RAISE EXCEPTION 'value must not be negative'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', value);
    END IF;
    RETURN coalesce(nullif(ltrim(idgen.portable_encode(lpad(to_hex(value), 32, '0')::uuid, digits, 20), left(digits, 1)), ''),
                    left(digits, 1));
END
$$;

COMMENT ON FUNCTION idgen.bigint_to_base(bigint, int) IS
'The number in digits of base 16, 32 (Crockford), 36, 58 (Bitcoin) or 62, without leading zeros. A negative number or another base is an error (22023).';

CREATE OR REPLACE FUNCTION idgen.portable_prefix_problem(prefix text, digits_allowed boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    letters CONSTANT text := 'abcdefghijklmnopqrstuvwxyz';
    start text := left(prefix, 64);
    rest text := ltrim(start, letters || '_' || CASE WHEN digits_allowed THEN '0123456789' ELSE '' END);
BEGIN
    RETURN CASE
        WHEN prefix = '' THEN 'The prefix must not be empty.'
        WHEN strpos(letters, left(prefix, 1)) = 0 THEN
            'Invalid character at position 1; a prefix must begin with a lower-case letter.'
        WHEN rest <> '' THEN
            format('Invalid character at position %s; a prefix must consist of lower-case letters%s.',
                   length(start) - length(rest) + 1,
                   CASE WHEN digits_allowed THEN ', digits and underscores' ELSE ' and underscores' END)
        WHEN length(start) > 63 THEN 'At most 63 characters are allowed in a prefix.'
        WHEN right(prefix, 1) = '_' THEN 'A prefix must not end with an underscore.' END;
END
$$;

COMMENT ON FUNCTION idgen.portable_prefix_problem(text, boolean) IS
'Internal. What is wrong with a prefix, as a sentence, or NULL.';

CREATE OR REPLACE FUNCTION idgen.portable_cut(value text, max_bytes int) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT left(value, max(n)) FROM generate_series(0, max_bytes) n WHERE octet_length(left(value, n)) <= max_bytes;
    END;

COMMENT ON FUNCTION idgen.portable_cut(text, int) IS
'Internal. The first characters of a text, in at most this number of bytes, for messages.';

CREATE OR REPLACE FUNCTION idgen.portable_prefix(prefix text, digits_allowed boolean) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    problem text := idgen.portable_prefix_problem(prefix, digits_allowed);
BEGIN
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'invalid prefix: "%"', idgen.portable_cut(prefix, 96)
            USING ERRCODE = 'invalid_parameter_value', DETAIL = problem;
    END IF;
    RETURN prefix;
END
$$;

COMMENT ON FUNCTION idgen.portable_prefix(text, boolean) IS
'Internal. The prefix, or an error (22023) if it is not valid.';

-- form is 'bare': digits only; 'full': digits only, all of them; 'prefixed'; or
-- 'optional': all digits, and an optional prefix of letters.
CREATE OR REPLACE FUNCTION idgen.portable_read(value text, noun text, digits text, form text, OUT prefix text, OUT id uuid)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    base int := length(digits);
    width int := idgen.portable_width(digits);
    longest int := width + CASE WHEN form IN ('prefixed', 'optional') THEN 64 ELSE 0 END;
    separator int := 0;     -- its position
    number text;
    rest text;
    chunk_value CONSTANT numeric := base::numeric ^ 10;
    chunk bigint;
    n numeric := 0;
    problem text;
BEGIN
    IF octet_length(value) > longest * pg_encoding_max_length(pg_char_to_encoding(getdatabaseencoding())) THEN
        RAISE EXCEPTION 'invalid %', noun
            USING ERRCODE = 'invalid_text_representation',
                  DETAIL = format('At most %s characters are allowed.', longest);
    END IF;

    prefix := '';
    IF form IN ('prefixed', 'optional') AND strpos(value, '_') > 0 THEN
        separator := length(value) - strpos(reverse(value), '_') + 1;
        prefix := left(value, separator - 1);
        problem := idgen.portable_prefix_problem(prefix, form = 'prefixed');
    ELSIF form = 'prefixed' THEN
        problem := 'An underscore must separate the prefix from the digits.';
    END IF;

    -- ASCII only, as lower() depends on the locale
    number := substr(value, separator + 1);
    IF base IN (16, 36) THEN
        number := translate(number, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
    ELSIF base = 32 AND form <> 'optional' THEN
        number := translate(number, 'abcdefghijklmnopqrstuvwxyzILO', 'ABCDEFGH1JK1MN0PQRSTUVWXYZ110');
    END IF;
    rest := ltrim(number, digits);
    problem := coalesce(problem, CASE
        WHEN number = '' THEN format('A digit of base %s is expected at position %s.', base, separator + 1)
        WHEN rest <> '' THEN format('Invalid character at position %s; a digit of base %s is expected.',
                                    length(value) - length(rest) + 1, base)
        WHEN length(number) > width THEN format('At most %s digits are allowed.', width) END);
    IF problem IS NULL THEN
        number := lpad(number, (width + 9) / 10 * 10, left(digits, 1));
        FOR chunk_start IN 1 .. length(number) BY 10 LOOP
            chunk := 0;
            FOR i IN chunk_start .. chunk_start + 9 BY 2 LOOP
                chunk := (chunk * base + strpos(digits, substr(number, i, 1)) - 1) * base
                       + strpos(digits, substr(number, i + 1, 1)) - 1;
            END LOOP;
            n := n * chunk_value + chunk;
        END LOOP;
        problem := CASE WHEN n >= 340282366920938463463374607431768211456 THEN 'The value of the digits exceeds 128 bits.'
                        WHEN form IN ('full', 'optional') AND length(value) - separator < width THEN format('Exactly %s digits are required.', width) END;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'invalid %: "%"', noun, value
            USING ERRCODE = 'invalid_text_representation', DETAIL = problem;
    END IF;
    id := lpad(to_hex(div(n, 1208925819614629174706176)::bigint), 12, '0')
       || lpad(to_hex(mod(div(n, 1099511627776), 1099511627776)::bigint), 10, '0')
       || lpad(to_hex(mod(n, 1099511627776)::bigint), 10, '0');
END
$$;

COMMENT ON FUNCTION idgen.portable_read(text, text, text, text) IS
'Internal. The prefix and the uuid of a text, or an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.uuid_from_base(digits text, base int) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(digits, 'uuid digits', idgen.portable_digits(base), 'bare')).id;

COMMENT ON FUNCTION idgen.uuid_from_base(text, int) IS
'The uuid with these digits; leading zeros can be left out, and in bases 16, 32 and 36 letters can be of either case. An invalid character, no digits, too many digits or more than 128 bits is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.bigint_from_base(digits text, base int) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    bits bit(128) := idgen.portable_bits((idgen.portable_read(digits, 'bigint digits', idgen.portable_digits(base), 'bare')).id);
BEGIN
    IF strpos(left(bits::text, 65), '1') > 0 THEN
        RAISE EXCEPTION 'invalid bigint digits: "%"', digits
            USING ERRCODE = 'invalid_text_representation',
                  DETAIL = 'The value of the digits is out of range for type bigint.';
    END IF;
    RETURN substring(bits FROM 65)::bigint;
END
$$;

COMMENT ON FUNCTION idgen.bigint_from_base(text, int) IS
'The number with these digits, read as by uuid_from_base(). A number out of range for bigint is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.prefixed_id(prefix text, id uuid DEFAULT idgen.uuid_v7()) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_prefix(prefix, true) || '_' || idgen.uuid_to_base(id, 36);

COMMENT ON FUNCTION idgen.prefixed_id(text, uuid) IS
'A typed identifier: the prefix, an underscore and the 25 digits of the uuid in base 36, in lower case. The prefix has 1 to 63 characters a-z, 0-9 and underscore, begins with a letter and does not end with an underscore (22023).';

CREATE OR REPLACE FUNCTION idgen.prefixed_id_to_uuid(id text, expected_prefix text DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    parts record;
BEGIN
    IF id IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM idgen.portable_prefix(expected_prefix, true);
    parts := idgen.portable_read(id, 'prefixed id', idgen.portable_digits(36), 'prefixed');
    IF parts.prefix <> expected_prefix THEN
        RAISE EXCEPTION 'prefixed id has the prefix "%", not "%"', parts.prefix, expected_prefix
            USING ERRCODE = 'check_violation', DETAIL = format('The prefixed id is "%s".', id);
    END IF;
    RETURN parts.id;
END
$$;

COMMENT ON FUNCTION idgen.prefixed_id_to_uuid(text, text) IS
'The uuid in a prefixed id, whose digits can lack leading zeros and be of either case. Text that is not a prefixed id is an error (22P02), as is a prefix other than the expected one (23514).';

CREATE OR REPLACE FUNCTION idgen.prefixed_id_prefix(id text) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'prefixed id', idgen.portable_digits(36), 'prefixed')).prefix;

COMMENT ON FUNCTION idgen.prefixed_id_prefix(text) IS
'The prefix of a prefixed id: the text before the last underscore. Text that is not a prefixed id is an error (22P02).';

-- The last value is that of the uuid whose bits are all 1.
CREATE OR REPLACE FUNCTION idgen.is_prefixed_id(id text, prefix text) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL AND idgen.portable_prefix(prefix, true) IS NOT NULL
           THEN octet_length(id) = octet_length(prefix) + 26
            AND starts_with(id, prefix || '_')
            AND right(id, 25) ~ '^[0-9a-z]*$' COLLATE "C"
            AND right(id, 25) <= 'f5lxx1zz5pnorynqglhzmsp33' COLLATE "C" END;

COMMENT ON FUNCTION idgen.is_prefixed_id(text, text) IS
'Whether a text is exactly what prefixed_id() writes for this prefix and some uuid. An invalid prefix is an error (22023).';

CREATE TABLE IF NOT EXISTS idgen.id_prefixes (
    prefix text PRIMARY KEY,
    domain regtype NOT NULL
);

COMMENT ON TABLE idgen.id_prefixes IS
'The domain for which each prefix is registered, written by idgen.create_id_domain(). A row whose domain was dropped has no effect.';
COMMENT ON COLUMN idgen.id_prefixes.prefix IS
'The text before the last underscore of the domain''s identifiers.';
COMMENT ON COLUMN idgen.id_prefixes.domain IS
'The domain, which may be renamed.';

CREATE OR REPLACE FUNCTION idgen.portable_domain_name(domain_name text) RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    names text[];
BEGIN
    names := parse_ident(domain_name);
    IF cardinality(names) > 3 THEN
        RAISE EXCEPTION 'improper relation name (too many dotted names): %', array_to_string(names, '.')
            USING ERRCODE = 'syntax_error';
    ELSIF cardinality(names) = 3 AND names[1] <> current_database() THEN
        RAISE EXCEPTION 'cross-database references are not implemented: "%"', array_to_string(names, '.')
            USING ERRCODE = 'feature_not_supported';
    END IF;
    RETURN (ARRAY[NULL, NULL] || names)[cardinality(names) + 1:];
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE EXCEPTION 'invalid name syntax' USING ERRCODE = 'invalid_name';
END
$$;

COMMENT ON FUNCTION idgen.portable_domain_name(text) IS
'Internal. The schema, or NULL, and the name of a domain.';

-- DROP DOMAIN leaves its row, which is deleted when the prefix is used again.
CREATE OR REPLACE FUNCTION idgen.portable_register_prefix(
    new_prefix text,
    schema_name text,
    domain_name text,
    OUT registered boolean,
    OUT domain regtype
)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    AS $$
#variable_conflict use_column
BEGIN
    SELECT t.oid INTO portable_register_prefix.domain FROM pg_type t
    WHERE t.typname = domain_name AND t.typnamespace = quote_ident(schema_name)::regnamespace;
    DELETE FROM idgen.id_prefixes p
    WHERE p.prefix = new_prefix AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = p.domain);
    INSERT INTO idgen.id_prefixes VALUES (new_prefix, portable_register_prefix.domain) ON CONFLICT (prefix) DO NOTHING;
    registered := FOUND;
    IF NOT registered THEN
        portable_register_prefix.domain := (SELECT p.domain FROM idgen.id_prefixes p WHERE p.prefix = new_prefix);
    END IF;
END
$$;

COMMENT ON FUNCTION idgen.portable_register_prefix(text, text, text) IS
'Internal. Registers the prefix of a domain, or returns the domain that has it, NULL if this transaction cannot see it.';

-- No search_path of its own: the caller's is where an unqualified domain goes, and
-- how a message names one.
CREATE OR REPLACE FUNCTION idgen.create_id_domain(domain_name text, prefix text) RETURNS regtype
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    AS $$
DECLARE
    checked pg_catalog.text := idgen.portable_prefix(prefix, true);
    names pg_catalog.text[] := idgen.portable_domain_name(domain_name);
    definition pg_catalog.text := pg_catalog.format('AS pg_catalog.text COLLATE pg_catalog."C" CONSTRAINT prefixed_id_check CHECK (idgen.is_prefixed_id(VALUE, %L))', prefix);
    result pg_catalog.record;
BEGIN
    IF names[1] IS NULL AND pg_catalog.current_schema() IS NULL THEN
        EXECUTE pg_catalog.format('CREATE DOMAIN %I %s', names[2], definition);     -- raises the error
    END IF;
    names[1] := coalesce(names[1], pg_catalog.current_schema());
    EXECUTE pg_catalog.format('CREATE DOMAIN %I.%I %s', names[1], names[2], definition);

    result := idgen.portable_register_prefix(prefix, names[1], names[2]);
    IF result.registered THEN
        RETURN result.domain;
    ELSIF result.domain IS NULL THEN
        RAISE EXCEPTION 'prefix "%" is already in use', prefix
            USING ERRCODE = 'unique_violation',
                  SCHEMA = 'idgen', TABLE = 'id_prefixes', CONSTRAINT = 'id_prefixes_pkey';
    END IF;
    RAISE EXCEPTION 'prefix "%" is already in use', prefix
        USING ERRCODE = 'unique_violation', DETAIL = pg_catalog.format('The prefix belongs to domain %s.', result.domain),
              SCHEMA = 'idgen', TABLE = 'id_prefixes', CONSTRAINT = 'id_prefixes_pkey';
END
$$;

COMMENT ON FUNCTION idgen.create_id_domain(text, text) IS
'Creates a domain over text COLLATE "C" whose constraint prefixed_id_check is is_prefixed_id(VALUE, prefix), and registers the prefix in idgen.id_prefixes until the domain is dropped. A prefix in use is an error (23505) that names its domain.';

CREATE OR REPLACE FUNCTION idgen.parse_prefixed_id(
    id text,
    OUT domain regtype,
    OUT prefix text,
    OUT uuid uuid
)
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT (SELECT p.domain FROM idgen.id_prefixes p
                WHERE p.prefix = parts.prefix
                  AND EXISTS (SELECT FROM pg_type t WHERE t.oid = p.domain)),
               parts.prefix, parts.id
        FROM idgen.portable_read(parse_prefixed_id.id, 'prefixed id', idgen.portable_digits(36), 'prefixed') parts;
    END;

COMMENT ON FUNCTION idgen.parse_prefixed_id(text) IS
'The parts of a prefixed id: the domain for which its prefix is registered, or NULL, the prefix and the uuid. Text that is not a prefixed id is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.typeid_from_uuid(prefix text, id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE prefix WHEN '' THEN '' ELSE idgen.portable_prefix(prefix, false) || '_' END
        || idgen.portable_encode(id, '0123456789abcdefghjkmnpqrstvwxyz', 26);

COMMENT ON FUNCTION idgen.typeid_from_uuid(text, uuid) IS
'A TypeID (specification version 0.3): the prefix, an underscore and the 26 digits of the uuid in base 32, in lower case. The prefix has at most 63 characters a-z and underscore, and begins and ends with a letter (22023); if it is empty, there is no underscore.';

CREATE OR REPLACE FUNCTION idgen.typeid(prefix text DEFAULT '') RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7());

COMMENT ON FUNCTION idgen.typeid(text) IS
'A new TypeID: typeid_from_uuid(prefix, uuid_v7()). It reveals its creation time.';

CREATE OR REPLACE FUNCTION idgen.typeid_to_uuid(id text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'TypeID', '0123456789abcdefghjkmnpqrstvwxyz', 'optional')).id;

COMMENT ON FUNCTION idgen.typeid_to_uuid(text) IS
'The uuid in a TypeID, read as strictly as the specification requires: lower case, all 26 digits, the first at most 7. Other text is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.typeid_prefix(id text) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'TypeID', '0123456789abcdefghjkmnpqrstvwxyz', 'optional')).prefix;

COMMENT ON FUNCTION idgen.typeid_prefix(text) IS
'The prefix of a TypeID, empty if there is none. Text that is not a TypeID is an error (22P02).';

-- The random bits are the first 48 and the last 32 of a random UUID.
CREATE OR REPLACE FUNCTION idgen.ulid() RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.uuid_to_base((lpad(to_hex(idgen.portable_unix_ms(clock_timestamp())), 12, '0')
                               || overlay(gen_random_uuid()::text PLACING '' FROM 14 FOR 15))::uuid, 32);

COMMENT ON FUNCTION idgen.ulid() IS
'A ULID: 48 bits of Unix milliseconds and 80 random bits as 26 digits of base 32 (Crockford); two of the same millisecond are in random order.';

CREATE OR REPLACE FUNCTION idgen.ulid_to_uuid(id text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (idgen.portable_read(id, 'ULID', idgen.portable_digits(32), 'full')).id;

COMMENT ON FUNCTION idgen.ulid_to_uuid(text) IS
'The 16 bytes of a ULID as uuid, which has the same order. Text that is not 26 digits as uuid_from_base(id, 32) reads them is an error (22P02).';

CREATE OR REPLACE FUNCTION idgen.ulid_from_uuid(id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_to_base(id, 32);

COMMENT ON FUNCTION idgen.ulid_from_uuid(uuid) IS
'The 16 bytes of a uuid as ULID, in upper case; its order in COLLATE "C" is that of the uuid.';

CREATE OR REPLACE FUNCTION idgen.ulid_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(idgen.ulid_to_uuid(id)) * 1000);

COMMENT ON FUNCTION idgen.ulid_timestamp(text) IS
'The time in a ULID, to the millisecond. Text that is not a ULID is an error (22P02).';

-- ---------------------------------------------------------------------------
-- Creating once
-- ---------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS idgen.creation_identifiers (
    command_id uuid PRIMARY KEY,
    command_name text NOT NULL DEFAULT '',
    entity_id uuid,
    entity_number bigint,
    request_hash bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT creation_identifiers_one_entity
        CHECK (num_nonnulls(entity_id, entity_number) = 1)
) WITH (autovacuum_vacuum_scale_factor = 0.02);     -- rows are purged continuously

CREATE INDEX IF NOT EXISTS creation_identifiers_created_at ON idgen.creation_identifiers (created_at);
CREATE INDEX IF NOT EXISTS creation_identifiers_entity_id ON idgen.creation_identifiers (entity_id)
    WHERE entity_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS creation_identifiers_entity_number ON idgen.creation_identifiers (entity_number)
    WHERE entity_number IS NOT NULL;

COMMENT ON TABLE idgen.creation_identifiers IS
'The entity that each creation command created, written by idgen.create_once(). Keep it a logged table: a crash empties an unlogged one, and each retry then creates anew.';
COMMENT ON COLUMN idgen.creation_identifiers.command_id IS
'The id that the client gave the command, the same in every retry.';
COMMENT ON COLUMN idgen.creation_identifiers.command_name IS
'The kind of the command, as the application calls it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_id IS
'The entity that the command created, if a uuid identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.entity_number IS
'The entity that the command created, if a bigint identifies it.';
COMMENT ON COLUMN idgen.creation_identifiers.request_hash IS
'The first 64 bits of the SHA-256 of the request''s text, without zeros at the end of a fraction, the same on every server version and machine. NULL if no request was given.';
COMMENT ON COLUMN idgen.creation_identifiers.created_at IS
'The start of the transaction that recorded the command.';

-- As src/request_hash.c: the text of a jsonb value, without zeros at the end of a
-- fraction. A string is matched so that nothing within it is.
CREATE OR REPLACE FUNCTION idgen.portable_request_hash(request jsonb) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$
DECLARE
    request_text pg_catalog.text := request;
BEGIN
    IF request_text OPERATOR(pg_catalog.~) '\.[0-9]*0(?![0-9])' THEN
        request_text := pg_catalog.regexp_replace(request_text, '("(?:[^"\\]|\\.)*")|(\.[0-9]*[1-9])0+(?![0-9])|\.0+(?![0-9])', '\1\2', 'g');
    END IF;
    RETURN ('x' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(request_text, pg_catalog.getdatabaseencoding())), 'hex'))::pg_catalog.bit(64)::pg_catalog.int8;
END
$$;

COMMENT ON FUNCTION idgen.portable_request_hash(jsonb) IS
'Internal. The first 64 bits of the SHA-256 of a request.';

CREATE OR REPLACE FUNCTION idgen.portable_command(name text, is_uuid boolean, hash bigint) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN format('the name "%s", a %s identifier and %s', idgen.portable_cut(name, 200),
                  CASE WHEN is_uuid THEN 'uuid' ELSE 'bigint' END,
                  coalesce('request hash ' || lpad(to_hex(hash), 16, '0'), 'no request'));

COMMENT ON FUNCTION idgen.portable_command(text, boolean, bigint) IS
'Internal. A command as the DETAIL of an error shows it.';

-- The search has an index, but the plan may be made while the table is small.
-- src/creation.c has the reasons for the order of searching and recording.
CREATE OR REPLACE FUNCTION idgen.portable_create_once(
    command uuid,
    INOUT id uuid,
    INOUT number bigint,
    name text,
    hash bigint,
    OUT created boolean
)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    function_name CONSTANT text := CASE WHEN id IS NULL THEN 'create_once_bigint' ELSE 'create_once' END;
    read_only CONSTANT boolean := current_setting('transaction_read_only');
    serializable CONSTANT boolean := current_setting('transaction_isolation') = 'serializable';
    search boolean := read_only;        -- create_once() has searched, unless serializable
    recorded record;
BEGIN
    FOR attempt IN 1 .. 100 LOOP
        IF search THEN
            SELECT c.entity_id, c.entity_number, coalesce(c.command_name, '') AS command_name, c.request_hash INTO recorded
            FROM idgen.creation_identifiers c WHERE c.command_id = command;
            IF FOUND THEN
                IF serializable AND (SELECT count(*) FROM idgen.creation_identifiers c WHERE c.command_id = command) > 1 THEN
                    RAISE EXCEPTION 'could not serialize access due to concurrent delete'
                        USING ERRCODE = 'serialization_failure',
                              DETAIL = format('Another session forgot command id "%s" while this transaction recorded it.', command);
                ELSIF (id IS NULL) <> (recorded.entity_id IS NULL) OR name <> recorded.command_name
                   OR hash IS DISTINCT FROM recorded.request_hash THEN
                    RAISE EXCEPTION 'command id "%" was already used for a different command', command
                        USING ERRCODE = 'unique_violation',
                              DETAIL = format('The recorded command has %s; this command has %s.',
                                              idgen.portable_command(recorded.command_name, recorded.entity_id IS NOT NULL, recorded.request_hash),
                                              idgen.portable_command(name, id IS NOT NULL, hash)),
                              HINT = 'Retry a command with the same name and request, and use a new command id for a new command.',
                              SCHEMA = 'idgen', TABLE = 'creation_identifiers',
                              CONSTRAINT = 'creation_identifiers_same_command';
                END IF;
                id := recorded.entity_id;
                number := recorded.entity_number;
                created := false;
                RETURN;
            END IF;
        END IF;
        IF read_only THEN
            RAISE EXCEPTION 'cannot execute %() %', function_name,
                  CASE WHEN pg_is_in_recovery() THEN 'during recovery' ELSE 'in a read-only transaction' END
                USING ERRCODE = 'read_only_sql_transaction',
                      DETAIL = format('Command id "%s" is not recorded, and recording it writes to table "idgen.creation_identifiers".', command),
                      HINT = 'Call the function on the primary server, in a read-write transaction.';
        END IF;

        INSERT INTO idgen.creation_identifiers (command_id, entity_id, entity_number, command_name, request_hash)
        VALUES (command, id, number, name, hash)
        ON CONFLICT (command_id) DO NOTHING;
        IF FOUND THEN
            created := true;
            RETURN;
        END IF;
        search := true;     -- the INSERT met a row, which may be removed by now
    END LOOP;
    RAISE EXCEPTION 'could not find or record command id "%"', command
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'A row-level security policy on table "idgen.creation_identifiers" may hide the row.';
END
$$;

COMMENT ON FUNCTION idgen.portable_create_once(uuid, uuid, bigint, text, bigint) IS
'Internal. create_once() for an entity with a uuid or with a number, the other being NULL.';

CREATE OR REPLACE FUNCTION idgen.portable_not_null(value anyelement, name text) RETURNS anyelement
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1
    AS $$
BEGIN
    IF value IS NULL THEN
        RAISE EXCEPTION '% must not be null', name USING ERRCODE = 'null_value_not_allowed';
    END IF;
    RETURN value;
END
$$;

COMMENT ON FUNCTION idgen.portable_not_null(anyelement, text) IS
'Internal. The value, or an error (22004) if it is NULL.';

-- These two find the usual retry themselves. They have qualified names instead of a
-- search_path of their own, since that doubles the time.
CREATE OR REPLACE FUNCTION idgen.create_once(
    command_id uuid,
    proposed_id uuid,
    command_name text DEFAULT '',
    request jsonb DEFAULT NULL,
    OUT entity_id uuid,
    OUT created boolean
)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off
    AS $$
DECLARE
    hash pg_catalog.int8 := idgen.portable_request_hash(request);
    result pg_catalog.record;
BEGIN
    IF command_id IS NULL OR proposed_id IS NULL OR command_name IS NULL THEN
        PERFORM idgen.portable_not_null(command_id, 'command_id'), idgen.portable_not_null(proposed_id, 'proposed_id'),
                idgen.portable_not_null(command_name, 'command_name');
    END IF;
    IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'serializable' THEN
        SELECT c.entity_id INTO entity_id FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) create_once.command_id
          AND c.command_name OPERATOR(pg_catalog.=) create_once.command_name
          AND (c.request_hash OPERATOR(pg_catalog.=) hash OR (c.request_hash IS NULL AND hash IS NULL));
    END IF;
    created := false;
    IF entity_id IS NULL THEN
        result := idgen.portable_create_once(command_id, proposed_id, NULL, command_name, hash);
        entity_id := result.id;
        created := result.created;
    END IF;
END
$$;

COMMENT ON FUNCTION idgen.create_once(uuid, uuid, text, jsonb) IS
'Makes a creation command safe to retry: the first call with a command id records the proposed id, and later calls return the recorded id, with created = false. A known command id with another name, request or kind of id is an error (23505, constraint name creation_identifiers_same_command).';

CREATE OR REPLACE FUNCTION idgen.create_once_bigint(
    command_id uuid,
    proposed_id bigint,
    command_name text DEFAULT '',
    request jsonb DEFAULT NULL,
    OUT entity_number bigint,
    OUT created boolean
)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off
    AS $$
DECLARE
    hash pg_catalog.int8 := idgen.portable_request_hash(request);
    result pg_catalog.record;
BEGIN
    IF command_id IS NULL OR proposed_id IS NULL OR command_name IS NULL THEN
        PERFORM idgen.portable_not_null(command_id, 'command_id'), idgen.portable_not_null(proposed_id, 'proposed_id'),
                idgen.portable_not_null(command_name, 'command_name');
    END IF;
    IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'serializable' THEN
        SELECT c.entity_number INTO entity_number FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) create_once_bigint.command_id
          AND c.command_name OPERATOR(pg_catalog.=) create_once_bigint.command_name
          AND (c.request_hash OPERATOR(pg_catalog.=) hash OR (c.request_hash IS NULL AND hash IS NULL));
    END IF;
    created := false;
    IF entity_number IS NULL THEN
        result := idgen.portable_create_once(command_id, NULL, proposed_id, command_name, hash);
        entity_number := result.number;
        created := result.created;
    END IF;
END
$$;

COMMENT ON FUNCTION idgen.create_once_bigint(uuid, bigint, text, jsonb) IS
'The same as create_once() for entities that a bigint identifies.';

CREATE OR REPLACE FUNCTION idgen.find_creation(command_id uuid)
    RETURNS SETOF idgen.creation_identifiers
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT ROWS 1
    -- by name: the table can be replaced by another one of this name
    AS $$
        SELECT c.command_id, c.command_name, c.entity_id, c.entity_number, c.request_hash, c.created_at
        FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) find_creation.command_id
    $$;

COMMENT ON FUNCTION idgen.find_creation(uuid) IS
'The recorded row of a command, or no row. Needs SELECT on idgen.creation_identifiers.';

CREATE OR REPLACE FUNCTION idgen.forget_creation(command_id uuid) RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM idgen.creation_identifiers c WHERE c.command_id = forget_creation.command_id;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten > 0;
END
$$;

COMMENT ON FUNCTION idgen.forget_creation(uuid) IS
'Deletes a recorded command, so that the next call with its id creates anew; returns whether it was recorded. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of(entity_id uuid) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM idgen.creation_identifiers c WHERE c.entity_id = forget_creation_of.entity_id;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

COMMENT ON FUNCTION idgen.forget_creation_of(uuid) IS
'Deletes the recorded commands that created an entity; returns their number. Needs SELECT and DELETE on idgen.creation_identifiers.';

CREATE OR REPLACE FUNCTION idgen.forget_creation_of_bigint(entity_number bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE STRICT
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM idgen.creation_identifiers c WHERE c.entity_number = forget_creation_of_bigint.entity_number;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

COMMENT ON FUNCTION idgen.forget_creation_of_bigint(bigint) IS
'The same as forget_creation_of() for entities that a bigint identifies.';

-- Only an index scan locks the rows in the order of their ids. A row that a late retry
-- has recorded again since is newer than all of them, and is kept.
CREATE OR REPLACE FUNCTION idgen.portable_forget(ids uuid[], newest timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM idgen.creation_identifiers c
    WHERE c.command_id = ANY (ids) AND (c.created_at <= newest) IS TRUE;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END
$$;

COMMENT ON FUNCTION idgen.portable_forget(uuid[], timestamptz) IS
'Internal. Deletes the recorded commands with these ids.';

CREATE OR REPLACE FUNCTION idgen.purge_creations(
    older_than interval DEFAULT '24 hours',
    batch_size bigint DEFAULT 10000
) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    AS $$
DECLARE
    us bigint := idgen.portable_tolerance_us(idgen.portable_not_null(older_than, 'older_than'), 'older_than');
    cutoff timestamptz := idgen.portable_instant('2000-01-01',
        greatest((extract(epoch FROM now() - timestamptz '2000-01-01 00:00:00+00') * 1000000)::bigint - us, -211813488000000000));
BEGIN
    IF idgen.portable_not_null(batch_size, 'batch_size') < 1 THEN
        RAISE EXCEPTION 'batch_size must be at least 1'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', batch_size);
    END IF;
    RETURN (SELECT idgen.portable_forget(array_agg(f.command_id), max(f.created_at))
            FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                  WHERE c.created_at < cutoff ORDER BY c.created_at LIMIT batch_size) f);
END
$$;

COMMENT ON FUNCTION idgen.purge_creations(interval, bigint) IS
'Deletes recorded commands older than older_than, a day being 24 hours, the oldest first and at most batch_size; returns their number. A negative older_than, one with months or a batch_size below 1 is an error (22023), as is NULL (22004).';

CREATE OR REPLACE FUNCTION idgen.trim_creations(
    keep bigint,
    command_name text DEFAULT NULL
) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF idgen.portable_not_null(keep, 'keep') < 0 THEN
        RAISE EXCEPTION 'keep must not be negative'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', keep);
    END IF;
    RETURN (SELECT idgen.portable_forget(array_agg(f.command_id), max(f.created_at))
            FROM (SELECT c.command_id, c.created_at FROM idgen.creation_identifiers c
                  WHERE trim_creations.command_name IS NULL OR c.command_name = trim_creations.command_name
                  ORDER BY c.created_at DESC, c.command_id DESC OFFSET keep) f);
END
$$;

COMMENT ON FUNCTION idgen.trim_creations(bigint, text) IS
'Deletes all recorded commands but the newest "keep", of one command name or, if that is NULL, of all; returns the number deleted. A negative keep is an error (22023), as is NULL (22004).';

CREATE OR REPLACE FUNCTION idgen.portable_history(history uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF array_ndims(history) > 1 THEN
        RAISE EXCEPTION 'history must be a one-dimensional array' USING ERRCODE = 'array_subscript_error';
    END IF;
    RETURN coalesce(array_remove(history[array_lower(history, 1):], NULL), '{}');
END
$$;

COMMENT ON FUNCTION idgen.portable_history(uuid[]) IS
'Internal. A history without NULL elements, empty if it is NULL.';

CREATE OR REPLACE FUNCTION idgen.remember_command(
    history uuid[],
    command_id uuid,
    keep int DEFAULT 20
) RETURNS uuid[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    ids uuid[];
    positions int[];
    removed int;
BEGIN
    PERFORM idgen.portable_not_null(command_id, 'command_id'), idgen.portable_not_null(keep, 'keep');
    IF keep < 0 THEN
        RAISE EXCEPTION 'keep must not be negative'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('The value is %s.', keep);
    END IF;
    ids := idgen.portable_history(history);
    positions := array_positions(ids, command_id);
    IF positions = '{}' THEN
        ids := ids || command_id;
    END IF;
    removed := greatest(cardinality(ids) - keep, 0);

    -- do not remove the command itself, but the next one
    IF positions[cardinality(positions)] <= removed AND removed < cardinality(ids) THEN
        ids[removed + 1] := command_id;
    END IF;
    RETURN ids[removed + 1:];
END
$$;

COMMENT ON FUNCTION idgen.remember_command(uuid[], uuid, int) IS
'The command history of an entity with one more command id: newest last, cut to "keep" commands, of which the given one always is one; a command id that is there already keeps its place. A negative keep is an error (22023), as is a NULL keep or command_id (22004).';

CREATE OR REPLACE FUNCTION idgen.has_command(history uuid[], command_id uuid) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN command_id IS NOT NULL THEN command_id = ANY (idgen.portable_history(history)) END;

COMMENT ON FUNCTION idgen.has_command(uuid[], uuid) IS
'Whether a command id is in the command history of an entity. A NULL history is an empty one.';

-- ---------------------------------------------------------------------------
-- Minimum and maximum
-- ---------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION idgen.uuid_smaller(uuid, uuid) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN least($1, $2); END $$;

COMMENT ON FUNCTION idgen.uuid_smaller(uuid, uuid) IS
'The smaller of two uuids; transition function of min(uuid).';

CREATE OR REPLACE FUNCTION idgen.uuid_larger(uuid, uuid) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
    AS $$ BEGIN RETURN greatest($1, $2); END $$;

COMMENT ON FUNCTION idgen.uuid_larger(uuid, uuid) IS
'The larger of two uuids; transition function of max(uuid).';

CREATE OR REPLACE AGGREGATE idgen.min(uuid) (
    SFUNC = idgen.uuid_smaller,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_smaller,
    SORTOP = OPERATOR(pg_catalog.<),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.min(uuid) IS
'The smallest uuid, read from one end of an index if there is one.';

CREATE OR REPLACE AGGREGATE idgen.max(uuid) (
    SFUNC = idgen.uuid_larger,
    STYPE = uuid,
    COMBINEFUNC = idgen.uuid_larger,
    SORTOP = OPERATOR(pg_catalog.>),
    PARALLEL = SAFE
);

COMMENT ON AGGREGATE idgen.max(uuid) IS
'The greatest uuid, read from one end of an index if there is one.';

COMMIT;
