/*
 * uuids.sql: the UUIDs of idgen without a C library. Generators, readers, ranges of
 * time, and checks of what clients bring, for PostgreSQL 15 to 19.
 *
 *   psql -f uuids.sql
 *
 * Any role with CREATE on the database can run this file, which is one statement: all of
 * it takes effect, or nothing. It needs no other file and no extension. Running it again
 * replaces the functions and changes no privilege. drop.sql removes them.
 *
 * Names, arguments, results and SQLSTATEs are those of the extension, which can replace
 * the functions later; contrib/portable/README.md lists the differences. Functions
 * whose names begin with "portable_" are internal and may change. Random bits come from
 * gen_random_uuid() only. Names are resolved when this file runs, under a function's own
 * search_path, or are qualified; so the caller's search_path does not matter.
 */

DO $install$
DECLARE
    caller_path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    scheme pg_catalog.text;
    version pg_catalog.int4;
    noun pg_catalog.text;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen') THEN
        RAISE EXCEPTION 'extension "idgen" is installed' USING ERRCODE = 'duplicate_object';
    END IF;
    IF to_regnamespace('idgen') IS NULL THEN
        CREATE SCHEMA idgen;    -- fails if another session creates it meanwhile
        GRANT USAGE ON SCHEMA idgen TO PUBLIC;
        COMMENT ON SCHEMA idgen IS 'Identifiers for primary keys, portable edition: generate, check, create once.';
    END IF;
    -- Other roles could add overloads, which callers reach instead of these functions.
    IF EXISTS (SELECT FROM pg_namespace n
               WHERE nspname = 'idgen'
                 AND (pg_get_userbyid(nspowner) <> current_user
                      OR EXISTS (SELECT FROM aclexplode(nspacl) WHERE privilege_type = 'CREATE' AND grantee <> nspowner)
                      OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid AND proowner <> nspowner)
                      OR EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relowner <> nspowner))) THEN
        RAISE EXCEPTION 'schema "idgen" is not only yours' USING ERRCODE = 'insufficient_privilege',
            DETAIL = 'Another role owns it, has the privilege CREATE on it, or owns a function or relation in it.';
    END IF;
    IF to_regprocedure('idgen.portable_version()') IS NULL THEN
        CREATE FUNCTION idgen.portable_version(OUT file text, OUT version text) RETURNS SETOF record
            LANGUAGE SQL STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
            AS $body$SELECT substr(proname, 15), split_part(prosrc, '''', 2) FROM pg_proc
                     WHERE pronamespace = 'idgen'::regnamespace AND starts_with(proname, 'portable_file_')
                     ORDER BY 1$body$;
        COMMENT ON FUNCTION idgen.portable_version() IS
            'The files of the portable edition that are installed, with their versions.';
    END IF;

-- The version of uuids.sql, as portable_version() shows it.
CREATE OR REPLACE FUNCTION idgen.portable_file_uuids() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

-- ---- Internal: time, bits and arguments ----

-- Unix milliseconds, rounded down. IMMUTABLE, as extract(epoch FROM timestamptz) is not;
-- numeric, as the sum can be out of range for timestamptz.
CREATE OR REPLACE FUNCTION idgen.portable_unix_ms(instant timestamptz, plus_us bigint DEFAULT 0) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN floor(extract(epoch FROM instant - timestamptz '2000-01-01 00:00:00+00') * 1000 + plus_us * 0.001)::bigint
         + 946684800000;

-- The error of an argument with an invalid value, which is 22004 for NULL.
CREATE OR REPLACE FUNCTION idgen.portable_invalid(
    message text, value anyelement, code text DEFAULT 'invalid_parameter_value'
) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = CASE WHEN value IS NULL THEN 'null_value_not_allowed' ELSE code END,
              DETAIL = format('The value is %s.', left(coalesce(value::text, 'null'), 100));
END $$;

-- An error (22008) if a timestamp is infinite. In PL/pgSQL, which is not inlined, so that
-- the wall clock as the argument is read once.
CREATE OR REPLACE FUNCTION idgen.portable_finite(instant timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT isfinite(instant) THEN
        PERFORM idgen.portable_invalid('timestamp must be finite', instant, 'datetime_field_overflow');
    END IF;
    RETURN instant;
END $$;

-- Unix time in 4096ths of a millisecond, 60 bits. STABLE, as extract() of a timestamptz
-- is. The next function calls it in PL/pgSQL, which reads the wall clock once.
CREATE OR REPLACE FUNCTION idgen.portable_checked_submillis(instant timestamptz) RETURNS bigint
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN instant >= '1970-01-01 00:00:00+00' AND instant < '10889-08-02 05:31:50.656+00'
                THEN floor(extract(epoch FROM instant) * 4096000)::bigint
                ELSE idgen.portable_invalid('timestamp is not from 1970 to 10889', instant, 'datetime_field_overflow')
           END;

CREATE OR REPLACE FUNCTION idgen.portable_submillis(instant timestamptz) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN RETURN idgen.portable_checked_submillis(instant); END $$;

-- The timestamp that many microseconds after a start in UTC.
CREATE OR REPLACE FUNCTION idgen.portable_instant(start timestamp, us bigint) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (start + make_interval(days => (us / 86400000000)::int, secs => us % 86400000000 / 1000000.0))
           AT TIME ZONE interval '0';

-- The first 48 bits of a uuid as a number.
CREATE OR REPLACE FUNCTION idgen.portable_first_48_bits(id uuid) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('x' || encode(uuid_send(id), 'hex'))::bit(48)::bigint;

-- The microseconds of an interval, which is the argument with this name; an error
-- (22023) if it has no fixed length or is negative.
CREATE OR REPLACE FUNCTION idgen.portable_us(length interval, name text) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN date_trunc('month', length) <> '0' OR length < '0'
                  OR length NOT BETWEEN '-106751991 days -04:00:54.775808' AND '106751991 days 04:00:54.775807' THEN
                    idgen.portable_invalid(
                        name || ' must not be negative, have months or years, or be longer than 106751991 days', length)
                ELSE (extract(epoch FROM length) * 1000000)::bigint END;

-- The milliseconds of a period, which is checked together with prefix_bytes.
CREATE OR REPLACE FUNCTION idgen.portable_period_ms(period interval, prefix_bytes int) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN prefix_bytes IS NULL OR prefix_bytes NOT BETWEEN 1 AND 6 THEN
                    idgen.portable_invalid('prefix_bytes must be between 1 and 6', prefix_bytes)
                WHEN period IS NULL OR period NOT BETWEEN '1 ms' AND '365250 days'
                  OR idgen.portable_us(period, 'period') % 1000 <> 0 THEN
                    idgen.portable_invalid(
                        'period must be a whole number of milliseconds from 1 ms to 365250 days', period)
                ELSE idgen.portable_us(period, 'period') / 1000 END;

-- The number of the period that contains a time. Division rounds to zero, so that an
-- offset makes the dividend positive: no window begins 10^16 ms before 1970.
CREATE OR REPLACE FUNCTION idgen.portable_period_number(unix_ms bigint, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (unix_ms + (10000000000000000 / period_ms + 1) * period_ms) / period_ms
         - (10000000000000000 / period_ms + 1);

-- 0, or an error (0A000) for a run_length greater than 1.
CREATE OR REPLACE FUNCTION idgen.portable_require_no_run(run_length int) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN run_length < 1 THEN idgen.portable_invalid('run_length must be at least 1', run_length)
                WHEN run_length > 1 THEN
                    idgen.portable_invalid(
                        'run_length must be 1 in the portable edition of idgen', run_length, 'feature_not_supported')
                ELSE 0 END;

-- ---- Generators ----

-- The version is between 12 and 3 digits of the time; 16 random digits follow.
CREATE OR REPLACE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN (overlay(lpad(to_hex(idgen.portable_submillis(coalesce(clock, clock_timestamp()))), 15, '0')
                    PLACING '7' FROM 13 FOR 0)
            || substr(gen_random_uuid()::text, 20))::uuid;
COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
    'A UUID of version 7: 48 bits of Unix milliseconds, 12 of their fraction, 62 random bits; two of the same '
    'microsecond are in random order.';

CREATE OR REPLACE FUNCTION idgen.comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN encode(substr(int8send(idgen.portable_submillis(coalesce(clock, clock_timestamp())) >> 12), 3)
                  || substr(uuid_send(gen_random_uuid()), 7), 'hex')::uuid;
COMMENT ON FUNCTION idgen.comb(timestamptz) IS
    'A COMB: a UUID of version 4 with 48 bits of Unix milliseconds in bytes 0 to 5 and 74 random bits.';

-- The low bytes of the number of the period replace the first bytes of a random UUID.
CREATE OR REPLACE FUNCTION idgen.short_comb(
    period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2, run_length int DEFAULT NULL,
    clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN encode(overlay(uuid_send(gen_random_uuid())
                          PLACING substr(int8send(
                              idgen.portable_period_number(
                                  idgen.portable_unix_ms(coalesce(idgen.portable_finite(clock), clock_timestamp())),
                                  idgen.portable_period_ms(period, prefix_bytes))
                              + idgen.portable_require_no_run(run_length)), 9 - prefix_bytes)
                          FROM 1), 'hex')::uuid;
COMMENT ON FUNCTION idgen.short_comb(interval, int, int, timestamptz) IS
    'A short COMB: a UUID of version 4 whose first prefix_bytes bytes are the number of the period modulo '
    '256^prefix_bytes.';

-- The secret of keyed_comb(): one row, which the file draws where it is missing. Default
-- privileges must not show it to other roles.
IF to_regclass('idgen.portable_secret') IS NULL THEN
    CREATE TABLE idgen.portable_secret (
        is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
        secret bytea NOT NULL CHECK (octet_length(secret) = 32)
    );
    EXECUTE coalesce((SELECT string_agg('REVOKE ALL ON idgen.portable_secret FROM '
                                        || CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, '; ')
                      FROM pg_class, aclexplode(relacl)
                      WHERE pg_class.oid = 'idgen.portable_secret'::regclass AND grantee <> relowner), 'SELECT');
    COMMENT ON TABLE idgen.portable_secret IS
        'The secret of idgen.keyed_comb(): a role that can read it can compute the prefixes of all periods.';
END IF;
INSERT INTO idgen.portable_secret (secret) VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    ON CONFLICT DO NOTHING;

-- The number of the twelfth of a period, at least a millisecond, that contains a time.
CREATE OR REPLACE FUNCTION idgen.portable_twelfth(instant timestamptz, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_period_number(idgen.portable_unix_ms(instant), greatest(period_ms / 12, 1));

-- The prefix of keyed_comb(), four bytes in hexadecimal: a hash of secret, database, area,
-- period, twelfth of the period, and whether a clock is given. As its owner, it reads the
-- secret; so it takes no time but the current one in the domain of the calls without a
-- clock. The session keeps that prefix, with what it is for.
CREATE OR REPLACE FUNCTION idgen.portable_keyed_prefix(period_ms bigint, area text, clock timestamptz) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    twelfth bigint := idgen.portable_twelfth(coalesce(idgen.portable_finite(clock), clock_timestamp()), period_ms);
    prefix text;
BEGIN
    IF (octet_length(area) <= 63) IS NOT TRUE THEN
        PERFORM idgen.portable_invalid('area must not be null or longer than 63 bytes', area);
    END IF;
    SELECT encode(substr(sha256(secret || sha256(textsend(current_database())) || sha256(textsend(area))
                                || int8send(period_ms) || int8send(twelfth) || boolsend(clock IS NOT NULL)),
                         1, 4), 'hex')
        INTO prefix FROM idgen.portable_secret;
    IF prefix IS NULL THEN
        RAISE EXCEPTION 'table "idgen.portable_secret" is empty' USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Run uuids.sql again, which draws a secret.';
    END IF;
    IF clock IS NULL THEN
        PERFORM set_config('idgen_portable.prefix', prefix || period_ms || ' ' || twelfth || ' ' || area, false);
    END IF;
    RETURN prefix;
END $$;

-- The prefix that the session keeps, or a new one, replaces the first digits of a random
-- UUID. A session that writes the setting chooses the place of its own keys, no more.
CREATE OR REPLACE FUNCTION idgen.keyed_comb(
    period interval DEFAULT '1 hour', area text DEFAULT '', clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE
    RETURN (CASE WHEN clock IS NULL
                  AND substr(current_setting('idgen_portable.prefix', true), 9)
                      = idgen.portable_period_ms(period, 2)::text
                        || ' ' || idgen.portable_twelfth(clock_timestamp(), idgen.portable_period_ms(period, 2))::text
                        || ' ' || area
                 THEN left(current_setting('idgen_portable.prefix', true), 8)
                 ELSE idgen.portable_keyed_prefix(idgen.portable_period_ms(period, 2), area, clock) END
            || substr(gen_random_uuid()::text, 9))::uuid;
COMMENT ON FUNCTION idgen.keyed_comb(interval, text, timestamptz) IS
    'A UUID of version 4: 32 bits of a hash of database, area and time under portable_secret, and 90 random bits.';

-- ---- Reading UUIDs ----

-- The only element of the array is that of variant 2 (binary 10); others are NULL. A
-- CASE would prevent inlining, since the function is STRICT.
CREATE OR REPLACE FUNCTION idgen.uuid_version(id uuid) RETURNS int
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (get_byte(uuid_send(id), 6) >> 4) + ('{0}'::int[])[(get_byte(uuid_send(id), 8) >> 6) - 1];
COMMENT ON FUNCTION idgen.uuid_version(uuid) IS
    'The version of a UUID, 0 to 15; NULL for a variant other than that of RFC 9562.';

CREATE OR REPLACE FUNCTION idgen.uuid_variant(id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('{NCS,NCS,NCS,NCS,RFC 9562,RFC 9562,Microsoft,future}'::text[])[1 + (get_byte(uuid_send(id), 8) >> 5)];
COMMENT ON FUNCTION idgen.uuid_variant(uuid) IS
    'The variant of a UUID: ''RFC 9562'', ''NCS'', ''Microsoft'' or ''future''.';

-- Versions 1, 6 and 13 count 100 ns since 1582-10-15 in bits 1 to 48 and 53 to 64,
-- version 1 in another order.
CREATE OR REPLACE FUNCTION idgen.uuid_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bits bit(128) := 'x' || encode(uuid_send(id), 'hex');
BEGIN
    CASE idgen.uuid_version(id)
        WHEN 7 THEN
            RETURN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000);
        WHEN 6, 13 THEN
            RETURN idgen.portable_instant(
                '1582-10-15', (substring(bits FROM 1 FOR 48) || substring(bits FROM 53 FOR 12))::bit(60)::bigint / 10);
        WHEN 1 THEN
            RETURN idgen.portable_instant(
                '1582-10-15', (substring(bits FROM 53 FOR 12) || substring(bits FROM 33 FOR 16)
                               || substring(bits FROM 1 FOR 32))::bit(60)::bigint / 10);
        ELSE
            RETURN NULL;
    END CASE;
END $$;
COMMENT ON FUNCTION idgen.uuid_timestamp(uuid) IS
    'The time in a UUID of version 1, 6, 13 (Lambert''s COMB) or 7; NULL for any other.';

CREATE OR REPLACE FUNCTION idgen.uuid_text_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_timestamp(id::uuid);
COMMENT ON FUNCTION idgen.uuid_text_timestamp(text) IS
    'The same as uuid_timestamp() for a UUID as text, for example as a time decoder of pg_partman.';

CREATE OR REPLACE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN idgen.uuid_version(id) = 4
           THEN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000) END;
END $$;
COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
    'The time in a COMB, to the millisecond, NULL for a version other than 4. A random UUID is also read as some time.';

CREATE OR REPLACE FUNCTION idgen.short_comb_timestamp(
    id uuid, period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2, clock timestamptz DEFAULT NULL
) RETURNS timestamptz
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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
    bits := 8 * prefix_bytes;
    number := idgen.portable_period_number(
        idgen.portable_unix_ms(coalesce(idgen.portable_finite(clock), statement_timestamp())), period_ms);
    IF idgen.uuid_version(id) IS DISTINCT FROM 4 THEN
        RETURN NULL;
    END IF;
    number := number - ((number - (idgen.portable_first_48_bits(id) >> (48 - bits))) & ((1::bigint << bits) - 1));
    start_ms := number::numeric * period_ms;
    RETURN CASE WHEN start_ms >= idgen.portable_unix_ms('4714-11-24 00:00:00+00 BC')
           THEN idgen.portable_instant('2000-01-01', ((start_ms - 946684800000) * 1000)::bigint) END;
END $$;
COMMENT ON FUNCTION idgen.short_comb_timestamp(uuid, interval, int, timestamptz) IS
    'The start of the latest period, not after the clock, in which short_comb(period, prefix_bytes) gave this prefix.';

-- Whether a uuid is of the RFC's variant and this version.
CREATE OR REPLACE FUNCTION idgen.portable_is_version(id uuid, version int) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN get_byte(uuid_send(id), 6) >> 4 = version AND get_byte(uuid_send(id), 8) >> 6 = 2;

-- ---- Ranges of time ----

-- The smallest uuid of a millisecond with these last digits, or the greatest uuid.
CREATE OR REPLACE FUNCTION idgen.portable_floor(instant timestamptz, digits text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN CASE WHEN instant < '1970-01-01 00:00:00+00' THEN '000000000000' || digits
                WHEN instant < '10889-08-02 05:31:50.656+00' THEN
                    lpad(to_hex(idgen.portable_submillis(instant) >> 12), 12, '0') || digits
                ELSE 'ffffffffffffffffffffffffffffffff' END::uuid;

-- The bounds are in PL/pgSQL, which is not inlined, so that EXPLAIN shows their names. The
-- planner inlines the predicates into index conditions and partition pruning, if they are
-- not STRICT. It expects IS NOT NULL to be true of 199 rows in 200, but "=" of one.
FOR scheme, version, noun IN VALUES ('comb', 4, 'COMB'), ('uuid_v7', 7, 'UUID of version 7') LOOP
    EXECUTE format($loop$
CREATE OR REPLACE FUNCTION idgen.%1$s_floor(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN RETURN idgen.portable_floor(instant, '%2$s0008000000000000000'); END $$;
COMMENT ON FUNCTION idgen.%1$s_floor(timestamptz) IS
    'The smallest %3$s with the millisecond of this timestamp, or the nearest in its range.';

CREATE OR REPLACE FUNCTION idgen.%1$s_within(
    id uuid, start timestamptz, stop timestamptz DEFAULT 'infinity'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id >= idgen.%1$s_floor(start) AND id < idgen.%1$s_floor(stop)
       AND (CASE WHEN id IS NULL OR idgen.portable_is_version(id, %2$s) THEN 0 END) IS NOT NULL;
COMMENT ON FUNCTION idgen.%1$s_within(uuid, timestamptz, timestamptz) IS
    'Whether a %3$s is at or after start and before stop; it uses an index and prunes partitions.';
$loop$, scheme, version, noun);
END LOOP;

-- ---- Checking what clients bring ----

CREATE OR REPLACE FUNCTION idgen.is_uuid(id text, version int DEFAULT NULL) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN version NOT BETWEEN 0 AND 15 THEN
                    CASE WHEN id IS NOT NULL THEN
                        idgen.portable_invalid('version must be between 0 and 15', version) = 0 END
                ELSE octet_length(id) = 36
                    AND id ~* ('^([0-9a-f]{8}-[0-9a-f]{4}-' || coalesce(to_hex(version), '[1-8]')
                               || '[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
                               || CASE WHEN version IS NULL THEN '|0{8}-(0{4}-){3}0{12}|f{8}-(f{4}-){3}f{12}'
                                       ELSE '' END || ')$') COLLATE "C" END;
COMMENT ON FUNCTION idgen.is_uuid(text, int) IS
    'Whether a text is a UUID in canonical form, of the given version, or of 1 to 8 or the Nil or Max UUID if none '
    'is given.';

-- A rule, or an error: a window of more than n - 1 periods can intersect n + 1 of them.
CREATE OR REPLACE FUNCTION idgen.portable_narrow(
    scheme text, past_us bigint, future_us bigint, period_ms bigint, prefix_bytes int
) RETURNS bigint[]
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN scheme = 'short_comb'
                 AND past_us::numeric + future_us
                     > ((1::bigint << 8 * prefix_bytes) - 2)::numeric * period_ms * 1000
           THEN ARRAY[idgen.portable_invalid(
                    'the tolerances exceed the cycle of prefixes less two periods', past_us)]
           ELSE ARRAY[past_us, future_us, period_ms, 8 * prefix_bytes] END;

-- The arguments of is_recent_...(), checked: past and future tolerance in microseconds,
-- period in milliseconds, bits of the prefix. With constants, the planner does it once.
CREATE OR REPLACE FUNCTION idgen.portable_rule(
    scheme text, tolerance interval, past_tolerance interval, future_tolerance interval,
    period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2
) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    both_us bigint := coalesce(idgen.portable_us(tolerance, 'tolerance'),
                               idgen.portable_invalid('tolerance must not be null', tolerance));
    period_ms bigint := idgen.portable_period_ms(period, prefix_bytes);
    past_us bigint := coalesce(idgen.portable_us(past_tolerance, 'past_tolerance'), both_us);
    future_us bigint := coalesce(idgen.portable_us(future_tolerance, 'future_tolerance'), both_us);
BEGIN
    RETURN idgen.portable_narrow(scheme, past_us, future_us, period_ms, prefix_bytes);
END $$;

-- True, or an error (22008) if the clock is infinite or the window has no end.
CREATE OR REPLACE FUNCTION idgen.portable_check_window(clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    us numeric := extract(epoch FROM idgen.portable_finite(clock) - timestamptz '2000-01-01 00:00:00+00') * 1000000;
BEGIN
    IF us - rule[1] < -9223372036854775808 OR us + rule[2] > 9223372036854775807 THEN
        RAISE EXCEPTION 'timestamp out of range' USING ERRCODE = 'datetime_field_overflow';
    END IF;
    RETURN true;
END $$;

-- The same as portable_check_window(), without a call in the usual case; a clock that is
-- NULL is the start of the statement.
CREATE OR REPLACE FUNCTION idgen.portable_require_window(clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN ((clock BETWEEN '1000-01-01 00:00:00+00' AND '10000-01-01 00:00:00+00') IS NOT FALSE
            AND greatest(rule[1], rule[2]) < 1000000000000000000)
        OR idgen.portable_check_window(coalesce(clock, statement_timestamp()), rule);

-- Whether a rule accepts a short COMB: the periods from the start of the window to its
-- prefix, modulo the cycle, are within the window.
CREATE OR REPLACE FUNCTION idgen.portable_prefix_accepted(id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_is_version(id, 4)
       AND (((idgen.portable_first_48_bits(id) >> (48 - rule[4])::int)
             - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]))
            & ((1::bigint << rule[4]::int) - 1))
           <= idgen.portable_period_number(idgen.portable_unix_ms(clock, rule[2]), rule[3])
            - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]);

-- Whether a rule accepts a COMB or a UUID of version 7.
CREATE OR REPLACE FUNCTION idgen.portable_time_accepted(
    id uuid, version int, clock timestamptz, rule bigint[]
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_is_version(id, version)
       AND idgen.portable_first_48_bits(id) >= idgen.portable_unix_ms(clock, -rule[1])
       AND idgen.portable_first_48_bits(id) <= idgen.portable_unix_ms(clock, rule[2]);

CREATE OR REPLACE FUNCTION idgen.is_recent_short_comb(
    id uuid, tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL, future_tolerance interval DEFAULT NULL,
    period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2, clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL
                 AND idgen.portable_require_window(clock, idgen.portable_rule(
                         'short_comb', tolerance, past_tolerance, future_tolerance, period, prefix_bytes))
           THEN idgen.portable_prefix_accepted(id, coalesce(clock, statement_timestamp()), idgen.portable_rule(
                    'short_comb', tolerance, past_tolerance, future_tolerance, period, prefix_bytes)) END;
COMMENT ON FUNCTION idgen.is_recent_short_comb(uuid, interval, interval, interval, interval, int, timestamptz) IS
    'Whether short_comb(period, prefix_bytes) gives the prefix of a UUID within the tolerances around the clock.';

-- The error (23514) of check_recent_...() and of check_recent_id().
CREATE OR REPLACE FUNCTION idgen.portable_refuse(
    scheme text, id uuid, clock timestamptz,
    in_schema text DEFAULT NULL, in_table text DEFAULT NULL, in_column text DEFAULT NULL, by_trigger text DEFAULT NULL
) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
DECLARE
    message text := format('identifier is not a recent %s', scheme);
    detail text := format('The identifier is %s, and the time is %s.', id, clock);
BEGIN
    IF by_trigger IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = message, DETAIL = detail,
            CONSTRAINT = 'check_recent_' || scheme;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = message, DETAIL = detail,
        SCHEMA = in_schema, TABLE = in_table, COLUMN = in_column, CONSTRAINT = by_trigger;
END $$;

CREATE OR REPLACE FUNCTION idgen.check_recent_short_comb(
    id uuid, tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL, future_tolerance interval DEFAULT NULL,
    period interval DEFAULT '1 minute', prefix_bytes int DEFAULT 2, clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_short_comb(
                         id, tolerance, past_tolerance, future_tolerance, period, prefix_bytes, clock) IS NOT FALSE
           THEN id
           ELSE idgen.portable_refuse('short_comb', id, coalesce(clock, statement_timestamp())) END;
COMMENT ON FUNCTION idgen.check_recent_short_comb(uuid, interval, interval, interval, interval, int, timestamptz) IS
    'The identifier, if is_recent_short_comb() accepts it; otherwise an error (23514).';

FOR scheme, version, noun IN VALUES ('comb', 4, 'COMB'), ('uuid_v7', 7, 'UUID of version 7') LOOP
    EXECUTE format($loop$
CREATE OR REPLACE FUNCTION idgen.is_recent_%1$s(
    id uuid, tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL, future_tolerance interval DEFAULT NULL, clock timestamptz DEFAULT NULL
) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN id IS NOT NULL
                 AND idgen.portable_require_window(
                         clock, idgen.portable_rule('%1$s', tolerance, past_tolerance, future_tolerance))
           THEN idgen.portable_time_accepted(
                    id, %2$s, coalesce(clock, statement_timestamp()),
                    idgen.portable_rule('%1$s', tolerance, past_tolerance, future_tolerance)) END;
COMMENT ON FUNCTION idgen.is_recent_%1$s(uuid, interval, interval, interval, timestamptz) IS
    'Whether the time of a %3$s is within the tolerances around the clock.';

CREATE OR REPLACE FUNCTION idgen.check_recent_%1$s(
    id uuid, tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL, future_tolerance interval DEFAULT NULL, clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_%1$s(id, tolerance, past_tolerance, future_tolerance, clock) IS NOT FALSE THEN id
           ELSE idgen.portable_refuse('%1$s', id, coalesce(clock, statement_timestamp())) END;
COMMENT ON FUNCTION idgen.check_recent_%1$s(uuid, interval, interval, interval, timestamptz) IS
    'The identifier, if is_recent_%1$s() accepts it; otherwise an error (23514).';
$loop$, scheme, version, noun);
END LOOP;

-- Whether a rule accepts an identifier of a scheme, or it is NULL.
CREATE OR REPLACE FUNCTION idgen.portable_passes(scheme text, id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN idgen.portable_require_window(clock, rule)
       AND CASE scheme WHEN 'short_comb' THEN idgen.portable_prefix_accepted(id, clock, rule)
                       WHEN 'comb' THEN idgen.portable_time_accepted(id, 4, clock, rule)
                       ELSE idgen.portable_time_accepted(id, 7, clock, rule) END IS NOT FALSE;

CREATE OR REPLACE FUNCTION idgen.check_recent_id() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    scheme text := TG_ARGV[1];
    is_short boolean := scheme = 'short_comb';
    clock timestamptz := clock_timestamp();
    names CONSTANT text[] := '{tolerance,past_tolerance,future_tolerance,period,prefix_bytes}';
    given text[];
    n int;
    rule bigint[];
    type oid;
    generated boolean;
    id uuid;
    old_id uuid;
    is_repeated boolean;
BEGIN
    IF TG_WHEN <> 'BEFORE' OR TG_LEVEL <> 'ROW' OR TG_OP NOT IN ('INSERT', 'UPDATE') THEN
        PERFORM idgen.portable_invalid(
            'check_recent_id is BEFORE INSERT OR UPDATE FOR EACH ROW', TG_OP, 'trigger_protocol_violated');
    ELSIF TG_NARGS < 2 THEN
        PERFORM idgen.portable_invalid('check_recent_id requires a column and a scheme as arguments', TG_NARGS);
    ELSIF scheme NOT IN ('short_comb', 'comb', 'uuid_v7') THEN
        PERFORM idgen.portable_invalid(
            'the identifier scheme is not short_comb, comb or uuid_v7', scheme, 'undefined_object');
    END IF;

    -- The planner computes the rule of the defaults once.
    IF TG_NARGS = 2 THEN
        rule := CASE WHEN is_short THEN idgen.portable_rule('short_comb', '10 minutes', NULL, NULL)
                     ELSE idgen.portable_rule('comb', '10 minutes', NULL, NULL) END;
    ELSE
        FOR i IN 2 .. TG_NARGS - 1 LOOP
            n := array_position(names, split_part(TG_ARGV[i], '=', 1));
            IF n IS NULL OR strpos(TG_ARGV[i], '=') = 0 OR n > 3 AND NOT is_short OR given[n] IS NOT NULL THEN
                PERFORM idgen.portable_invalid(
                    format('invalid argument for check_recent_id with scheme %s', scheme), TG_ARGV[i]);
            END IF;
            given[n] := substr(TG_ARGV[i], length(names[n]) + 2);
        END LOOP;
        rule := idgen.portable_rule(
            scheme, coalesce(given[1], '10 minutes')::interval, given[2]::interval, given[3]::interval,
            coalesce(given[4], '1 minute')::interval, coalesce(given[5], '2')::int);
    END IF;

    -- A column of type uuid is read without another statement if its name is id, or if it
    -- is the first one. The first field of NEW is the table's column 1, unless that was
    -- dropped and so has another name.
    IF TG_ARGV[0] = 'id' THEN
        id := CASE WHEN pg_typeof(NEW.id) = 'uuid'::regtype THEN NEW.id END;
    ELSIF (pg_identify_object_as_address('pg_class'::regclass, TG_RELID, 1)).object_names[3] = TG_ARGV[0] THEN
        id := CASE WHEN pg_typeof((ROW(NEW.*)).f1) = 'uuid'::regtype THEN (ROW(NEW.*)).f1 END;
    ELSIF has_column_privilege(TG_RELID, TG_ARGV[0], 'SELECT') IS NOT NULL THEN
        -- always: for a missing column, the privilege is an error (42703)
        EXECUTE format('SELECT CASE WHEN pg_typeof(($1).%1$I) = ''uuid''::regtype THEN ($1).%1$I END', TG_ARGV[0])
            INTO id USING NEW;
    END IF;
    IF id IS NULL THEN
        SELECT a.atttypid, a.attgenerated <> '' INTO STRICT type, generated FROM pg_attribute a
        WHERE a.attrelid = TG_RELID AND a.attname = TG_ARGV[0];
        WHILE type NOT IN (0, 'uuid'::regtype) LOOP
            type := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = type);
        END LOOP;
        IF type = 0 THEN
            RAISE EXCEPTION 'column "%" of relation "%" is not of type uuid', TG_ARGV[0], TG_TABLE_NAME
                USING ERRCODE = 'datatype_mismatch',
                      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0];
        ELSIF generated THEN
            RAISE EXCEPTION 'column "%" of relation "%" is a generated column', TG_ARGV[0], TG_TABLE_NAME
                USING ERRCODE = 'feature_not_supported',
                      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = TG_ARGV[0];
        END IF;
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO id USING NEW;
    END IF;

    IF idgen.portable_passes(scheme, id, clock, rule) THEN
        RETURN NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO old_id USING OLD;
        IF id = old_id THEN
            RETURN NEW;
        END IF;
    END IF;

    -- a repeated INSERT is left to the unique index, if the role can see the row
    IF has_column_privilege(TG_RELID, TG_ARGV[0], 'SELECT')
       AND EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                   WHERE i.indrelid = TG_RELID AND a.attname = TG_ARGV[0] AND i.indisunique AND i.indimmediate
                   AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL) THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %I.%I WHERE %I = $1)',
                       TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_ARGV[0])
            INTO is_repeated USING id;
    END IF;
    IF is_repeated IS NOT TRUE THEN
        PERFORM idgen.portable_refuse(scheme, id, clock, TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_ARGV[0], TG_NAME);
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION idgen.check_recent_id() IS
    'Trigger function (column, scheme, ''tolerance=...'' and so on) that refuses identifiers that were not made at '
    'about this time.';

-- The first or last created_at that created_near() accepts; calculated in UTC, where days
-- have 24 hours. For a uuid without a time, the first is after the last.
CREATE OR REPLACE FUNCTION idgen.portable_created_bound(
    id uuid, tolerance interval, is_last boolean
) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF id IS NULL THEN
        RETURN NULL;
    ELSIF idgen.portable_us(tolerance, 'tolerance') IS NULL THEN
        PERFORM idgen.portable_invalid('tolerance must not be null', tolerance);
    END IF;
    RETURN coalesce(timezone('UTC', timezone('UTC', idgen.uuid_timestamp(id))
                                    + CASE WHEN is_last THEN tolerance ELSE -tolerance END),
                    CASE WHEN is_last THEN timestamptz '-infinity' ELSE 'infinity' END);
END $$;

CREATE OR REPLACE FUNCTION idgen.created_near(
    id uuid, created_at timestamptz, tolerance interval DEFAULT '10 minutes'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN created_at >= idgen.portable_created_bound(id, tolerance, false)
       AND created_at <= idgen.portable_created_bound(id, tolerance, true);
COMMENT ON FUNCTION idgen.created_near(uuid, timestamptz, interval) IS
    'Whether created_at is within the tolerance of uuid_timestamp(id), which prunes partitions by created_at.';

PERFORM set_config('search_path', caller_path, true);
END
$install$;
