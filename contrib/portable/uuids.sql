/*
 * uuids.sql: idgen's functions for UUIDs, without a C library: generators, readers and
 * ranges of time, for PostgreSQL 15 to 19. The other files require this one.
 *
 * Any role with CREATE on the database can run this file. The file is one statement, so
 * it takes effect completely or not at all. Running it again replaces the functions and
 * preserves their privileges. drop.sql removes them.
 *
 * Names, arguments, results and SQLSTATEs are the same as in the extension, which can
 * replace these functions later. README.md lists the differences. Functions whose names
 * begin with "portable_" are internal and may change. All random bits are obtained from
 * gen_random_uuid(). The caller's search_path does not matter: names are qualified, or are
 * resolved while this file runs, or are resolved in the search_path of a function.
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

-- Raise an error if another role can create objects in the schema. Callers could execute
-- that role's overloads instead of these functions.
CREATE OR REPLACE FUNCTION idgen.portable_require_own_schema() RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_namespace n
               WHERE nspname = 'idgen'
                 AND (pg_get_userbyid(nspowner) <> current_user
                      OR EXISTS (SELECT FROM aclexplode(nspacl) WHERE privilege_type = 'CREATE' AND grantee <> nspowner)
                      OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid AND proowner <> nspowner)
                      OR EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid AND relowner <> nspowner))) THEN
        RAISE EXCEPTION 'schema "idgen" is not only yours' USING ERRCODE = 'insufficient_privilege',
            DETAIL = 'Another role owns it, has the privilege CREATE on it, or owns a function or relation in it.';
    END IF;
END $$;
    PERFORM idgen.portable_require_own_schema();

CREATE OR REPLACE FUNCTION idgen.portable_version(OUT file text, OUT version text) RETURNS SETOF record
    LANGUAGE SQL STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT substr(proname, 15), split_part(prosrc, '''', 2) FROM pg_proc
    WHERE pronamespace = 'idgen'::regnamespace AND starts_with(proname, 'portable_file_')
    ORDER BY 1 $$;
COMMENT ON FUNCTION idgen.portable_version() IS
    'The installed files of the portable edition, with their versions.';

-- The source of this function contains the version of uuids.sql for portable_version().
CREATE OR REPLACE FUNCTION idgen.portable_file_uuids() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

-- ---- Internal: time, bits and arguments ----

-- Return the Unix milliseconds of a timestamp plus microseconds, rounded down. The
-- difference of two timestamps is used because extract(epoch FROM timestamptz) is not
-- IMMUTABLE. The sum is numeric because it can be out of range for timestamptz.
CREATE OR REPLACE FUNCTION idgen.portable_unix_ms(instant timestamptz, plus_us bigint DEFAULT 0) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN floor(extract(epoch FROM instant - timestamptz '2000-01-01 00:00:00+00') * 1000 + plus_us * 0.001)::bigint
         + 946684800000;

-- Raise an error for an argument's invalid value: 22004 if it is NULL, and otherwise the
-- given one.
CREATE OR REPLACE FUNCTION idgen.portable_invalid(
    message text, value anyelement, code text DEFAULT 'invalid_parameter_value'
) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = ISO AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = CASE WHEN value IS NULL THEN 'null_value_not_allowed' ELSE code END,
              DETAIL = format('The value is %s.', left(coalesce(value::text, 'null'), 100));
END $$;

-- Raise 22008 if a timestamp is infinite. Functions in PL/pgSQL are not inlined, so an
-- argument that reads the clock is evaluated only once.
CREATE OR REPLACE FUNCTION idgen.portable_finite(instant timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT isfinite(instant) THEN
        PERFORM idgen.portable_invalid('timestamp must be finite', instant, 'datetime_field_overflow');
    END IF;
    RETURN instant;
END $$;

-- Return the Unix time in 4096ths of a millisecond, which has 60 bits. This function is
-- STABLE because extract() of a timestamptz is. portable_submillis() calls it in PL/pgSQL,
-- so an argument that reads the clock is evaluated only once.
CREATE OR REPLACE FUNCTION idgen.portable_checked_submillis(instant timestamptz) RETURNS bigint
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN instant >= '1970-01-01 00:00:00+00' AND instant < '10889-08-02 05:31:50.656+00'
                THEN floor(extract(epoch FROM instant) * 4096000)::bigint
                ELSE idgen.portable_invalid('timestamp is not from 1970 to 10889', instant, 'datetime_field_overflow')
           END;

CREATE OR REPLACE FUNCTION idgen.portable_submillis(instant timestamptz) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN RETURN idgen.portable_checked_submillis(instant); END $$;

-- Return the timestamp that is the given number of microseconds after a start in UTC.
CREATE OR REPLACE FUNCTION idgen.portable_instant(start timestamp, us bigint) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (start + make_interval(days => (us / 86400000000)::int, secs => us % 86400000000 / 1000000.0))
           AT TIME ZONE interval '0';

-- Return the first 48 bits of a uuid as a number.
CREATE OR REPLACE FUNCTION idgen.portable_first_48_bits(id uuid) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('x' || encode(uuid_send(id), 'hex'))::bit(48)::bigint;

-- Return the microseconds of an interval. Raises 22023 with the argument's name if the
-- interval has no fixed length or is negative.
CREATE OR REPLACE FUNCTION idgen.portable_us(length interval, name text) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN date_trunc('month', length) <> '0' OR length < '0'
                  OR length NOT BETWEEN '-106751991 days -04:00:54.775808' AND '106751991 days 04:00:54.775807' THEN
                    idgen.portable_invalid(
                        name || ' must not be negative, have months or years, or be longer than 106751991 days', length)
                ELSE (extract(epoch FROM length) * 1000000)::bigint END;

-- Return the milliseconds of a period, after checking the period and prefix_bytes.
CREATE OR REPLACE FUNCTION idgen.portable_period_ms(period interval, prefix_bytes int) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN prefix_bytes IS NULL OR prefix_bytes NOT BETWEEN 1 AND 6 THEN
                    idgen.portable_invalid('prefix_bytes must be between 1 and 6', prefix_bytes)
                WHEN period IS NULL OR period NOT BETWEEN '1 ms' AND '365250 days'
                  OR idgen.portable_us(period, 'period') % 1000 <> 0 THEN
                    idgen.portable_invalid(
                        'period must be a whole number of milliseconds from 1 ms to 365250 days', period)
                ELSE idgen.portable_us(period, 'period') / 1000 END;

-- Return the number of the period that contains a time. Because division truncates toward
-- zero, an offset makes the dividend positive. No window begins 10^16 ms before 1970.
CREATE OR REPLACE FUNCTION idgen.portable_period_number(unix_ms bigint, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (unix_ms + (10000000000000000 / period_ms + 1) * period_ms) / period_ms
         - (10000000000000000 / period_ms + 1);

-- Return 0. Raises 0A000 if run_length is greater than 1.
CREATE OR REPLACE FUNCTION idgen.portable_require_no_run(run_length int) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN run_length < 1 THEN idgen.portable_invalid('run_length must be at least 1', run_length)
                WHEN run_length > 1 THEN
                    idgen.portable_invalid(
                        'run_length must be 1 in the portable edition of idgen', run_length, 'feature_not_supported')
                ELSE 0 END;

-- ---- Generators ----

-- The time has 15 digits. The version is inserted after the first 12 digits, and 16 random
-- digits, with the variant, follow the last 3.
CREATE OR REPLACE FUNCTION idgen.uuid_v7(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN (overlay(lpad(to_hex(idgen.portable_submillis(coalesce(clock, clock_timestamp()))), 15, '0')
                    PLACING '7' FROM 13 FOR 0)
            || substr(gen_random_uuid()::text, 20))::uuid;
COMMENT ON FUNCTION idgen.uuid_v7(timestamptz) IS
    'A UUID of version 7: 48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond, and 62 random '
    'bits. UUIDs of the same microsecond are in random order.';

-- The first 12 bits of the hash follow the version, and the first 62 bits of its second
-- half follow the variant.
CREATE OR REPLACE FUNCTION idgen.named_uuid_v7(instant timestamptz, namespace uuid, name text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (SELECT encode(substr(bit_send(
                       (idgen.portable_submillis(instant) >> 12)::bit(48) || B'0111' || substring(hash FROM 1 FOR 12)
                       || B'10' || substring(hash FROM 65 FOR 62)), 5), 'hex')::uuid
            FROM (SELECT ('x' || encode(sha256(uuid_send(namespace) || convert_to(name, 'UTF8')), 'hex'))::bit(256)
                         AS hash) h);
COMMENT ON FUNCTION idgen.named_uuid_v7(timestamptz, uuid, text) IS
    'A UUID of version 7 that contains the given time, to the millisecond, and 74 bits of the SHA-256 hash of the '
    'namespace and the name.';

CREATE OR REPLACE FUNCTION idgen.comb(clock timestamptz DEFAULT NULL) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN encode(substr(int8send(idgen.portable_submillis(coalesce(clock, clock_timestamp())) >> 12), 3)
                  || substr(uuid_send(gen_random_uuid()), 7), 'hex')::uuid;
COMMENT ON FUNCTION idgen.comb(timestamptz) IS
    'A COMB: a UUID of version 4 with 48 bits of Unix milliseconds in bytes 0 to 5 and 74 random bits.';

-- The low bytes of the period's number replace the first bytes of a random UUID.
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

-- The secret of keyed_comb() is in a table with one row. If the row is missing, this file
-- generates a secret. Privileges that default privileges have given to other roles are
-- revoked. The secret has the size of a key in the extension's key file.
IF to_regclass('idgen.portable_secret') IS NULL THEN
    CREATE TABLE idgen.portable_secret (
        is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
        secret bytea NOT NULL CHECK (octet_length(secret) = 16)
    );
    EXECUTE coalesce((SELECT string_agg('REVOKE ALL ON idgen.portable_secret FROM '
                                        || CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, '; ')
                      FROM pg_class, aclexplode(relacl)
                      WHERE pg_class.oid = 'idgen.portable_secret'::regclass AND grantee <> relowner), 'SELECT');
    COMMENT ON TABLE idgen.portable_secret IS
        'The secret of idgen.keyed_comb(): a role that can read it can compute the prefixes of all periods.';
END IF;
INSERT INTO idgen.portable_secret (secret)
    VALUES (substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16))
    ON CONFLICT DO NOTHING;

-- Pad a key with zeros to the block size of SHA-256, and XOR each byte with the byte that
-- the two hexadecimal digits of "pad" denote.
CREATE OR REPLACE FUNCTION idgen.portable_hmac_block(key bytea, pad text) RETURNS bytea
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN substr(bit_send(('x' || encode(key, 'hex'))::bit(512) # ('x' || repeat(pad, 64))::bit(512)), 5);

-- Return the HMAC-SHA-256 (RFC 2104) of a string in UTF-8, with a key of at most 64 bytes.
CREATE OR REPLACE FUNCTION idgen.portable_hmac(key bytea, message text) RETURNS bytea
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    RETURN sha256(idgen.portable_hmac_block(key, '5c')
                  || sha256(idgen.portable_hmac_block(key, '36') || convert_to(message, 'UTF8')));

-- Return the number of the twelfth of a period that contains a time.
CREATE OR REPLACE FUNCTION idgen.portable_twelfth(instant timestamptz, period_ms bigint) RETURNS bigint
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_period_number(12 * idgen.portable_unix_ms(instant), period_ms);

-- Return the prefix of keyed_comb() for a key as eight digits: 24 bits for the period, and
-- 8 bits for the twelfth of the period (docs/keyed-comb.md).
CREATE OR REPLACE FUNCTION idgen.portable_keyed_prefix(
    key bytea, period_ms bigint, area text, twelfth bigint
) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    period bigint := idgen.portable_period_number(twelfth, 12);
BEGIN
    IF (octet_length(convert_to(area, 'UTF8')) <= 63) IS NOT TRUE THEN
        PERFORM idgen.portable_invalid('area must not be null or longer than 63 bytes in UTF-8', area);
    ELSIF key IS NULL THEN
        RAISE EXCEPTION 'table "idgen.portable_secret" is empty' USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Run uuids.sql again, which draws a secret.';
    END IF;
    RETURN left(encode(idgen.portable_hmac(key, concat_ws(' ', 1, period_ms, period, area)), 'hex'), 6)
        || left(encode(idgen.portable_hmac(key, concat_ws(' ', 2, period_ms, twelfth, area)), 'hex'), 2);
END $$;

-- Return the prefix for the current time. The secret is read with the owner's privileges.
-- The session caches the prefix in one of 256 settings, followed by the twelfth, the
-- period and the area for which it is valid.
CREATE OR REPLACE FUNCTION idgen.portable_current_prefix(period_ms bigint, area text) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    twelfth bigint := idgen.portable_twelfth(clock_timestamp(), period_ms);
    prefix text := idgen.portable_keyed_prefix(
        (SELECT s.secret FROM idgen.portable_secret s), period_ms, area, twelfth);
BEGIN
    PERFORM set_config('idgen_portable.prefix_' || (hashtext(area) & 255),
                       concat(prefix, twelfth, ' ', period_ms, ' ', area), false);
    RETURN prefix;
END $$;

-- Return the key that replaces the secret if a clock is given and the role cannot read the
-- secret. With this key, the role cannot determine the times of existing keys.
CREATE OR REPLACE FUNCTION idgen.portable_clock_key() RETURNS bytea
    LANGUAGE SQL STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    RETURN (SELECT idgen.portable_hmac(s.secret, 'clock') FROM idgen.portable_secret s);

-- Return the prefix for a given time. For a role that can read the secret, this is the
-- prefix of the keys that were generated at that time.
CREATE OR REPLACE FUNCTION idgen.portable_prefix_at(period_ms bigint, area text, clock timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    twelfth bigint := idgen.portable_twelfth(idgen.portable_finite(clock), period_ms);
BEGIN
    IF has_table_privilege('idgen.portable_secret', 'SELECT') THEN
        RETURN idgen.portable_keyed_prefix(
            (SELECT s.secret FROM idgen.portable_secret s), period_ms, area, twelfth);
    END IF;
    RETURN idgen.portable_keyed_prefix(idgen.portable_clock_key(), period_ms, area, twelfth);
END $$;

-- The prefix replaces the first digits of a random UUID. If the cached prefix is not valid,
-- a new one is computed. A session that changes the setting affects only the prefix of its
-- own keys.
CREATE OR REPLACE FUNCTION idgen.keyed_comb(
    area text, period interval DEFAULT '1 hour', clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL VOLATILE PARALLEL UNSAFE
    RETURN (CASE WHEN clock IS NOT NULL
                 THEN idgen.portable_prefix_at(idgen.portable_period_ms(period, 2), area, clock)
                 WHEN substr(current_setting('idgen_portable.prefix_' || (hashtext(area) & 255), true), 9)
                      = idgen.portable_twelfth(clock_timestamp(), idgen.portable_period_ms(period, 2))::text
                        || (' ' || idgen.portable_period_ms(period, 2)::text || ' ' || area)
                 THEN left(current_setting('idgen_portable.prefix_' || (hashtext(area) & 255), true), 8)
                 ELSE idgen.portable_current_prefix(idgen.portable_period_ms(period, 2), area) END
            || substr(gen_random_uuid()::text, 9))::uuid;
COMMENT ON FUNCTION idgen.keyed_comb(text, interval, timestamptz) IS
    'A keyed COMB: a UUID of version 4 that consists of 24 bits of a hash of the area and the period, 8 bits of a hash '
    'of the twelfth of the period, and 90 random bits. The hashes depend on the secret in portable_secret.';

-- ---- Reading UUIDs ----

-- The only element of the array is for variant 2 (binary 10). For other variants, the
-- result is NULL. With CASE, the function would not be inlined, because it is STRICT.
CREATE OR REPLACE FUNCTION idgen.uuid_version(id uuid) RETURNS int
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN (get_byte(uuid_send(id), 6) >> 4) + ('{0}'::int[])[(get_byte(uuid_send(id), 8) >> 6) - 1];
COMMENT ON FUNCTION idgen.uuid_version(uuid) IS
    'The version of a UUID, 0 to 15. NULL for variants other than that of RFC 9562.';

CREATE OR REPLACE FUNCTION idgen.uuid_variant(id uuid) RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN ('{NCS,NCS,NCS,NCS,RFC 9562,RFC 9562,Microsoft,future}'::text[])[1 + (get_byte(uuid_send(id), 8) >> 5)];
COMMENT ON FUNCTION idgen.uuid_variant(uuid) IS
    'The variant of a UUID: ''RFC 9562'', ''NCS'', ''Microsoft'' or ''future''.';

-- Versions 1, 6 and 13 contain the number of 100 ns ticks since 1582-10-15 in bits 1 to 48
-- and 53 to 64. In version 1, the order of these bits is different.
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
    'The time in a UUID of version 1, 6, 7 or 13 (Lambert''s COMB). NULL for other versions.';

CREATE OR REPLACE FUNCTION idgen.uuid_text_timestamp(id text) RETURNS timestamptz
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN idgen.uuid_timestamp(id::uuid);
COMMENT ON FUNCTION idgen.uuid_text_timestamp(text) IS
    'Like uuid_timestamp(), but for a UUID as text. It can be used as the time decoder of pg_partman.';

CREATE OR REPLACE FUNCTION idgen.comb_timestamp(id uuid) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN idgen.uuid_version(id) = 4
           THEN idgen.portable_instant('1970-01-01', idgen.portable_first_48_bits(id) * 1000) END;
END $$;
COMMENT ON FUNCTION idgen.comb_timestamp(uuid) IS
    'The time in a COMB, to the millisecond. NULL for versions other than 4. For a random UUID, the result is '
    'meaningless.';

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
    'The start of the latest period in which short_comb(period, prefix_bytes) returns this prefix, and which does not '
    'begin after the clock.';

-- Does a uuid have the RFC's variant and this version?
CREATE OR REPLACE FUNCTION idgen.portable_is_version(id uuid, version int) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN get_byte(uuid_send(id), 6) >> 4 = version AND get_byte(uuid_send(id), 8) >> 6 = 2;

-- ---- Ranges of time ----

-- Return a uuid that consists of the milliseconds of a timestamp and the given digits. The
-- result is the greatest uuid if the milliseconds exceed 48 bits.
CREATE OR REPLACE FUNCTION idgen.portable_floor(instant timestamptz, digits text) RETURNS uuid
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE STRICT
    RETURN CASE WHEN instant < '1970-01-01 00:00:00+00' THEN '000000000000' || digits
                WHEN instant < '10889-08-02 05:31:50.656+00' THEN
                    lpad(to_hex(idgen.portable_submillis(instant) >> 12), 12, '0') || digits
                ELSE 'ffffffffffffffffffffffffffffffff' END::uuid;

-- The functions that return bounds are in PL/pgSQL. They are therefore not inlined, and
-- EXPLAIN shows their names. The planner inlines the predicates, which must not be STRICT,
-- and uses them for index scans and partition pruning. The last condition contains IS NOT
-- NULL, because the planner expects it to be true for 199 of 200 rows, but "=" for one.
FOR scheme, version, noun IN VALUES ('comb', 4, 'COMB'), ('uuid_v7', 7, 'UUID of version 7') LOOP
    EXECUTE format($loop$
CREATE OR REPLACE FUNCTION idgen.%1$s_floor(instant timestamptz) RETURNS uuid
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN RETURN idgen.portable_floor(instant, '%2$s0008000000000000000'); END $$;
COMMENT ON FUNCTION idgen.%1$s_floor(timestamptz) IS
    'The smallest %3$s in the millisecond of this timestamp, or in the nearest one that it can contain.';

CREATE OR REPLACE FUNCTION idgen.%1$s_within(
    id uuid, start timestamptz, stop timestamptz DEFAULT 'infinity'
) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN id >= idgen.%1$s_floor(start) AND id < idgen.%1$s_floor(stop)
       AND (CASE WHEN id IS NULL OR idgen.portable_is_version(id, %2$s) THEN 0 END) IS NOT NULL;
COMMENT ON FUNCTION idgen.%1$s_within(uuid, timestamptz, timestamptz) IS
    'Tests whether a %3$s has a time at or after start and before stop. The condition can use an index and prune '
    'partitions.';
$loop$, scheme, version, noun);
END LOOP;

PERFORM set_config('search_path', caller_path, true);
END
$install$;
