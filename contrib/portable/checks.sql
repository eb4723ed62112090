/*
 * checks.sql: idgen's checks of the identifiers that clients send, without a C library,
 * and the trigger function check_recent_id(). This file requires uuids.sql. The comment
 * at the beginning of uuids.sql applies here, too.
 *
 *   psql -f uuids.sql -f checks.sql
 */

DO $install$
DECLARE
    caller_path CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    scheme pg_catalog.text;
    version pg_catalog.int4;
    noun pg_catalog.text;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF (SELECT pg_get_userbyid(proowner) = current_user FROM pg_proc
        WHERE oid = to_regprocedure('idgen.portable_require_own_schema()')) IS NOT TRUE THEN
        RAISE EXCEPTION 'uuids.sql is not installed by this role' USING ERRCODE = 'undefined_function';
    END IF;
    PERFORM idgen.portable_require_own_schema();

-- The source of this function contains the version of checks.sql for portable_version().
CREATE OR REPLACE FUNCTION idgen.portable_file_checks() RETURNS text
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$SELECT '1.0'$$;

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
    'Tests whether a string is a UUID in canonical form of the given version. If no version is given, versions 1 to 8, '
    'the Nil UUID and the Max UUID are accepted.';

-- Return a rule, or raise 22023 if the window of a short COMB could contain every prefix: a
-- window that is more than n - 1 periods long can intersect n + 1 periods.
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

-- Check the arguments of is_recent_...(), and return them as a rule: the past and the future
-- tolerance in microseconds, the period in milliseconds, and the number of bits of the
-- prefix. If the arguments are constants, the planner evaluates the call once.
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

-- Return true. Raises 22008 if the clock is infinite or the window is out of range.
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

-- Like portable_check_window(), but without calling that function in the usual case. A NULL
-- clock means the start of the statement.
CREATE OR REPLACE FUNCTION idgen.portable_require_window(clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN ((clock BETWEEN '1000-01-01 00:00:00+00' AND '10000-01-01 00:00:00+00') IS NOT FALSE
            AND greatest(rule[1], rule[2]) < 1000000000000000000)
        OR idgen.portable_check_window(coalesce(clock, statement_timestamp()), rule);

-- Does a rule accept a short COMB? Modulo the cycle, its prefix must be at most as many
-- periods after the first period of the window as the last period of the window is.
CREATE OR REPLACE FUNCTION idgen.portable_prefix_accepted(id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL IMMUTABLE PARALLEL SAFE
    RETURN idgen.portable_is_version(id, 4)
       AND (((idgen.portable_first_48_bits(id) >> (48 - rule[4])::int)
             - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]))
            & ((1::bigint << rule[4]::int) - 1))
           <= idgen.portable_period_number(idgen.portable_unix_ms(clock, rule[2]), rule[3])
            - idgen.portable_period_number(idgen.portable_unix_ms(clock, -rule[1]), rule[3]);

-- Does a rule accept a COMB or a UUID of version 7?
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
    'Tests whether a UUID is of version 4 and has a prefix that short_comb(period, prefix_bytes) returns at some time '
    'from clock - past_tolerance to clock + future_tolerance.';

-- Raise the error (23514) of check_recent_...() and check_recent_id().
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
    'Returns the identifier if is_recent_short_comb() accepts it. Otherwise, raises an error (23514).';

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
    'Tests whether a %3$s contains a time from clock - past_tolerance to clock + future_tolerance.';

CREATE OR REPLACE FUNCTION idgen.check_recent_%1$s(
    id uuid, tolerance interval DEFAULT '10 minutes',
    past_tolerance interval DEFAULT NULL, future_tolerance interval DEFAULT NULL, clock timestamptz DEFAULT NULL
) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN CASE WHEN idgen.is_recent_%1$s(id, tolerance, past_tolerance, future_tolerance, clock) IS NOT FALSE THEN id
           ELSE idgen.portable_refuse('%1$s', id, coalesce(clock, statement_timestamp())) END;
COMMENT ON FUNCTION idgen.check_recent_%1$s(uuid, interval, interval, interval, timestamptz) IS
    'Returns the identifier if is_recent_%1$s() accepts it. Otherwise, raises an error (23514).';
$loop$, scheme, version, noun);
END LOOP;

-- Is an identifier NULL, or does a rule of this scheme accept it?
CREATE OR REPLACE FUNCTION idgen.portable_passes(scheme text, id uuid, clock timestamptz, rule bigint[]) RETURNS boolean
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN idgen.portable_require_window(clock, rule)
       AND CASE scheme WHEN 'short_comb' THEN idgen.portable_prefix_accepted(id, clock, rule)
                       WHEN 'comb' THEN idgen.portable_time_accepted(id, 4, clock, rule)
                       ELSE idgen.portable_time_accepted(id, 7, clock, rule) END IS NOT FALSE;

-- Return the rule of a trigger. Its options are the arguments after the first two.
CREATE OR REPLACE FUNCTION idgen.portable_trigger_rule(scheme text, options text[]) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    names CONSTANT text[] := '{tolerance,past_tolerance,future_tolerance,period,prefix_bytes}';
    given text[];
    option text;
    n int;
BEGIN
    FOREACH option IN ARRAY options LOOP
        n := array_position(names, split_part(option, '=', 1));
        IF n IS NULL OR strpos(option, '=') = 0 OR n > 3 AND scheme <> 'short_comb' OR given[n] IS NOT NULL THEN
            PERFORM idgen.portable_invalid(
                format('invalid argument for check_recent_id with scheme %s', scheme), option);
        END IF;
        given[n] := substr(option, length(names[n]) + 2);
    END LOOP;
    RETURN idgen.portable_rule(
        scheme, coalesce(given[1], '10 minutes')::interval, given[2]::interval, given[3]::interval,
        coalesce(given[4], '1 minute')::interval, coalesce(given[5], '2')::int);
END $$;

-- Raise an error unless a column is of type uuid or of a domain over uuid, and is not a
-- generated column.
CREATE OR REPLACE FUNCTION idgen.portable_require_uuid_column(relation regclass, column_name text) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    type oid;
    generated boolean;
    in_schema text;
    in_table text;
BEGIN
    SELECT a.atttypid, a.attgenerated <> '', n.nspname, c.relname
    INTO STRICT type, generated, in_schema, in_table
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE a.attrelid = relation AND a.attname = column_name;
    WHILE type NOT IN (0, 'uuid'::regtype) LOOP
        type := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = type);
    END LOOP;
    IF type = 0 OR generated THEN
        RAISE EXCEPTION 'column "%" of relation "%" is %', column_name, in_table,
                        CASE WHEN generated THEN 'a generated column' ELSE 'not of type uuid' END
            USING ERRCODE = CASE WHEN type = 0 THEN 'datatype_mismatch' ELSE 'feature_not_supported' END,
                  SCHEMA = in_schema, TABLE = in_table, COLUMN = column_name;
    END IF;
END $$;

-- Can the role see a row with this identifier, and is there a unique index on the column
-- alone? In that case, a repeated INSERT conflicts with that row.
CREATE OR REPLACE FUNCTION idgen.portable_is_repeated(relation regclass, column_name text, id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_repeated boolean := false;
BEGIN
    IF has_column_privilege(relation, column_name, 'SELECT')
       AND EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                   WHERE i.indrelid = relation AND a.attname = column_name AND i.indisunique AND i.indimmediate
                   AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL) THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE %I = $1)', relation, column_name)
            INTO is_repeated USING id;
    END IF;
    RETURN is_repeated;
END $$;

CREATE OR REPLACE FUNCTION idgen.check_recent_id() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    scheme text := TG_ARGV[1];
    clock timestamptz := clock_timestamp();
    rule bigint[];
    id uuid;
    old_id uuid;
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

    -- The planner evaluates the rule of the defaults once.
    rule := CASE WHEN TG_NARGS > 2 THEN idgen.portable_trigger_rule(scheme, TG_ARGV[2:])
                 WHEN scheme = 'short_comb' THEN idgen.portable_rule('short_comb', '10 minutes', NULL, NULL)
                 ELSE idgen.portable_rule('comb', '10 minutes', NULL, NULL) END;

    -- If a column of type uuid is named id or is the first column, it can be read without
    -- another statement. The first field of NEW is column 1 of the table. If that column
    -- was dropped, its name has changed and does not match.
    IF TG_ARGV[0] = 'id' THEN
        id := CASE WHEN pg_typeof(NEW.id) = 'uuid'::regtype THEN NEW.id END;
    ELSIF (pg_identify_object_as_address('pg_class'::regclass, TG_RELID, 1)).object_names[3] = TG_ARGV[0] THEN
        id := CASE WHEN pg_typeof((ROW(NEW.*)).f1) = 'uuid'::regtype THEN (ROW(NEW.*)).f1 END;
    ELSIF has_column_privilege(TG_RELID, TG_ARGV[0], 'SELECT') IS NOT NULL THEN
        -- the condition is always true, but raises 42703 if the column does not exist
        EXECUTE format('SELECT CASE WHEN pg_typeof(($1).%1$I) = ''uuid''::regtype THEN ($1).%1$I END', TG_ARGV[0])
            INTO id USING NEW;
    END IF;
    IF id IS NULL THEN
        PERFORM idgen.portable_require_uuid_column(TG_RELID, TG_ARGV[0]);
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO id USING NEW;
    END IF;

    IF idgen.portable_passes(scheme, id, clock, rule) THEN
        RETURN NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO old_id USING OLD;
    END IF;
    IF id IS DISTINCT FROM old_id AND NOT idgen.portable_is_repeated(TG_RELID, TG_ARGV[0], id) THEN
        PERFORM idgen.portable_refuse(scheme, id, clock, TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_ARGV[0], TG_NAME);
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION idgen.check_recent_id() IS
    'Trigger function for BEFORE INSERT OR UPDATE OF the column FOR EACH ROW; its arguments are column, scheme '
    '(''short_comb'', ''comb'' or ''uuid_v7''), and any of ''tolerance=...'', ''past_tolerance=...'', '
    '''future_tolerance=...'' and, for short_comb, ''period=...'' and ''prefix_bytes=...''. Raises an error (23514) if '
    'the identifier''s time is not near the current time.';

-- Return the first or the last created_at that created_near() accepts. The calculation is in
-- UTC, where a day has 24 hours. For a uuid without a time, the first is after the last.
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
    'Tests whether created_at is within the tolerance of uuid_timestamp(id). The condition prunes partitions by '
    'created_at.';

PERFORM set_config('search_path', caller_path, true);
END
$install$;
