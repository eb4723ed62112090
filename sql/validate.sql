-- Checks of identifiers that clients generate.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

--
-- is_uuid
--
SELECT id, idgen.is_uuid(id) AS any_version, idgen.is_uuid(id, 4) AS v4
FROM (VALUES ('919108f7-52d1-4320-9bac-f847db4148a8'),
             ('919108F7-52D1-4320-9BAC-F847DB4148A8'),
             ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             ('1e1624e7-5e1f-d27f-a11d-ed65de8970f6'),
             ('00000000-0000-0000-0000-000000000000'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff'),
             ('00000000-0000-0000-0000-000000000001'),
             ('abababab-abab-abab-abab-abababababab'),
             ('919108f7-52d1-4320-7bac-f847db4148a8'),
             ('919108f7-52d1-4320-cbac-f847db4148a8'),
             ('919108f7-52d1-0320-9bac-f847db4148a8'),
             ('919108f7-52d1-9320-9bac-f847db4148a8'),
             ('{919108f7-52d1-4320-9bac-f847db4148a8}'),
             ('919108f752d143209bacf847db4148a8'),
             ('919108f7-52d1-4320-9bac-f847db4148a'),
             ('919108f7-52d1-4320-9bac-f847db4148a80'),
             ('919108f7-52d1-4320-9bac-f847db4148ag'),
             ('919108f7:52d1:4320:9bac:f847db4148a8'),
             ('919108f-752d1-4320-9bac-f847db4148a8'),
             (' 919108f7-52d1-4320-9bac-f847db4148a'),
             ('-'), (''), (NULL)) v (id);

-- each version
SELECT v, idgen.is_uuid(id) AS any_version, idgen.is_uuid(id, v) AS this_version, idgen.is_uuid(id, (v + 1) % 16)
    AS next_version
FROM (SELECT v, '919108f7-52d1-' || to_hex(v) || '320-9bac-f847db4148a8' AS id FROM generate_series(0, 15) v) s;

-- long values that are stored compressed
CREATE TEMP TABLE long_text (id text);
INSERT INTO long_text VALUES (repeat('f', 1000000)), (repeat('919108f7-52d1-4320-9bac-f847db4148a8', 10000));
SELECT idgen.is_uuid(id), length(id) FROM long_text;

--
-- is_recent_short_comb: the window, around the restart of the cycle (2022-03-18 03:44
-- has prefix 0000)
--
CREATE FUNCTION with_prefix(prefix text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (prefix || substr('919108f7-52d1-4320-9bac-f847db4148a8', length(prefix) + 1))::uuid
$$;

SELECT prefix,
       idgen.is_recent_short_comb(with_prefix(prefix), '10 minutes', clock => clock) AS ten_minutes,
       idgen.is_recent_short_comb(with_prefix(prefix), clock => clock) AS by_default,
       idgen.is_recent_short_comb(with_prefix(prefix), past_tolerance => '3 minutes', future_tolerance => '5 minutes',
       clock => clock) AS past_3_future_5,
       idgen.is_recent_short_comb(with_prefix(prefix), '10 minutes', past_tolerance => '3 minutes', clock => clock)
       AS past_3,
       idgen.is_recent_short_comb(with_prefix(prefix), '10 minutes', future_tolerance => '0', clock => clock)
       AS future_0,
       idgen.is_recent_short_comb(with_prefix(prefix), '0', clock => clock) AS exactly
FROM (VALUES ('fff5'), ('fff6'), ('fffc'), ('fffd'), ('ffff'), ('0000'), ('0001'), ('0005'), ('0006'), ('000a'),
    ('000b'), ('8000')) v (prefix),
     (SELECT timestamptz '2022-03-18 03:44:00+00' AS clock) c;

-- the number and the range of prefixes that are accepted, of those nearby and some others, for clocks within a minute
CREATE FUNCTION passing(clock timestamptz, tolerance interval, OUT passing int, OUT first int, OUT last int)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), min(p), max(p)
                    FROM (SELECT generate_series(-100, 100) UNION SELECT generate_series(-32768, 32767, 251)) s (p)
                    WHERE idgen.is_recent_short_comb(with_prefix(lpad(to_hex(p & 65535), 4, ''0'')), %L,
                    clock => %L)', tolerance, clock)
    INTO passing, first, last;
END $$;
SELECT clock, tolerance, p.*
FROM (VALUES (timestamptz '2022-03-18 03:44:00+00'), ('2022-03-18 03:44:00.000001+00'),
    ('2022-03-18 03:44:59.999999+00')) c (clock),
     (VALUES (interval '0'), ('1 millisecond'), ('1 minute'), ('90 seconds')) t (tolerance),
     passing(clock, tolerance) p
ORDER BY clock, tolerance;

-- the default tolerance is ten minutes, whatever the period
SELECT prefix, idgen.is_recent_short_comb(with_prefix(prefix), clock => '1970-01-01 00:15:00+00',
    period => '30 seconds', prefix_bytes => 1) AS half_minutes,
       idgen.is_recent_short_comb(with_prefix(prefix), clock => '1970-01-01 11:05:00+00', period => '1 hour',
       prefix_bytes => 1) AS hours
FROM (VALUES ('09'), ('0a'), ('0b'), ('0c'), ('32'), ('33')) v (prefix);

-- before the epoch
SELECT prefix, idgen.is_recent_short_comb(with_prefix(prefix), '2 minutes', clock => '1970-01-01 00:00:00+00') AS ok
FROM (VALUES ('fffd'), ('fffe'), ('0002'), ('0003')) v (prefix);

-- each prefix_bytes: the clock's own period is accepted, one eleven periods away is not
SELECT bytes,
       bool_and(idgen.is_recent_short_comb(idgen.short_comb('10 seconds', bytes, clock => clock), '100 seconds',
       period => '10 seconds', prefix_bytes => bytes, clock => clock)) AS own,
       bool_or(idgen.is_recent_short_comb(idgen.short_comb('10 seconds', bytes,
       clock => clock - interval '110 seconds'), '100 seconds', period => '10 seconds', prefix_bytes => bytes,
       clock => clock)) AS too_old,
       bool_or(idgen.is_recent_short_comb(idgen.short_comb('10 seconds', bytes,
       clock => clock + interval '110 seconds'), '100 seconds', period => '10 seconds', prefix_bytes => bytes,
       clock => clock)) AS too_new
FROM generate_series(1, 6) bytes,
     (SELECT timestamptz '1969-12-31 23:58:20+00' + n * interval '9.7 seconds' AS clock FROM generate_series(0, 99) n) c
GROUP BY bytes ORDER BY bytes;

-- the widest window that is allowed excludes a prefix for every clock
SELECT clock, count(*) AS passing
FROM generate_series(0, 255) p,
     (VALUES (timestamptz '2022-03-18 03:44:00+00'), ('2022-03-18 03:44:59.999999+00')) c (clock)
WHERE idgen.is_recent_short_comb(with_prefix(lpad(to_hex(p), 2, '0')), '127 minutes', prefix_bytes => 1, clock => clock)
GROUP BY clock ORDER BY clock;

-- version and variant are checked
SELECT idgen.is_recent_short_comb('00009af1-52d1-7320-9bac-f847db4148a8', clock => '2022-03-18 03:44:00+00')
    AS version_7,
       idgen.is_recent_short_comb('00009af1-52d1-4320-dbac-f847db4148a8', clock => '2022-03-18 03:44:00+00')
       AS microsoft,
       idgen.is_recent_short_comb('00009af1-52d1-4320-9bac-f847db4148a8', clock => '2022-03-18 03:44:00+00') AS good;

-- the default clock is the start of the statement
SELECT idgen.is_recent_short_comb(idgen.short_comb()) AS now,
       idgen.is_recent_short_comb(idgen.short_comb(clock => now() - interval '1 hour')) AS hour_ago,
       idgen.is_recent_short_comb(idgen.short_comb(clock => now() - interval '1 hour'), '2 hours') AS within_two;

--
-- is_recent_comb, is_recent_uuid_v7
--
SELECT name,
       idgen.is_recent_comb(idgen.comb(clock + delta), clock => clock) AS comb,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(clock + delta), clock => clock) AS v7,
       idgen.is_recent_comb(idgen.comb(clock + delta), '1 second', past_tolerance => '1 hour', clock => clock)
       AS comb_past_hour,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(clock + delta), '1 second', future_tolerance => '1 hour', clock => clock)
       AS v7_future_hour
FROM (VALUES ('-1 h 1 ms', interval '-1 hour -1 millisecond'), ('-1 h', '-1 hour'),
             ('-10 min 1 ms', '-10 minutes -1 millisecond'), ('-10 min', '-10 minutes'),
             ('-1 s', '-1 second'), ('0', '0'), ('+1 s', '1 second'),
             ('+10 min', '10 minutes'), ('+10 min 1 ms', '10 minutes 1 millisecond'),
             ('+1 h', '1 hour'), ('+1 h 1 ms', '1 hour 1 millisecond')) v (name, delta),
     (SELECT timestamptz '2022-02-22 19:22:22+00' AS clock) c;

-- a window can begin before 1970
SELECT idgen.is_recent_comb(idgen.comb('1970-01-01 00:00:00+00'), '1 day', clock => '1969-12-31 12:00:00+00')
    AS before_1970;

-- NULL is the default of past_tolerance, future_tolerance and clock
SELECT idgen.is_recent_short_comb(idgen.short_comb(), '1 minute', NULL, NULL, '1 minute', 2, NULL) AS short_comb,
       idgen.is_recent_comb(idgen.comb(), '1 minute', NULL, NULL, NULL) AS comb,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(), '1 minute', NULL, NULL, NULL) AS v7;

-- a COMB is not a version 7 UUID, and vice versa
SELECT idgen.is_recent_comb(idgen.uuid_v7()) AS v7_as_comb, idgen.is_recent_uuid_v7(idgen.comb()) AS comb_as_v7,
       idgen.is_recent_comb(idgen.comb()) AS comb, idgen.is_recent_uuid_v7(idgen.uuid_v7()) AS v7;

--
-- check_recent_...: the result is the identifier, or an error that shows the window
--
SELECT idgen.check_recent_short_comb('00009af1-52d1-4320-9bac-f847db4148a8', clock => '2022-03-18 03:44:00+00');
SELECT idgen.check_recent_comb('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', clock => '2022-02-22 19:30:00+00');
SELECT idgen.check_recent_uuid_v7('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', clock => '2022-02-22 19:30:00+00');
SELECT idgen.check_recent_short_comb('000b9af1-52d1-4320-9bac-f847db4148a8', '10 minutes',
    clock => '2022-03-18 03:44:00+00');
SELECT idgen.check_recent_short_comb('0b9af108-52d1-4320-9bac-f847db4148a8', '10 minutes', prefix_bytes => 1,
    clock => '2022-03-18 03:44:00+00');
SELECT idgen.check_recent_short_comb('00009af1-52d1-7320-9bac-f847db4148a8', clock => '2022-03-18 03:44:00+00');
SELECT idgen.check_recent_short_comb('00009af1-52d1-4320-dbac-f847db4148a8', clock => '2022-03-18 03:44:00+00');
SELECT idgen.check_recent_comb('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', clock => '2022-02-22 19:40:00+00');
SELECT idgen.check_recent_uuid_v7('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '1 minute',
    clock => '2022-02-22 19:21:00+00');
SELECT idgen.check_recent_uuid_v7('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', '1 minute',
    clock => '2022-02-22 19:21:00+00');

-- in a CHECK constraint
CREATE TEMP TABLE brought (id uuid CHECK (idgen.is_recent_uuid_v7(id, clock => '2022-02-22 19:22:22+00')));
INSERT INTO brought VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
INSERT INTO brought VALUES ('027f22e2-79b0-7cc3-98c4-dc0c0c07398f');

-- the longest period, with a cycle of more than 2^64 ms, and a tolerance of ten periods
SELECT bytes, periods,
       idgen.is_recent_short_comb(idgen.short_comb('365250 days', bytes,
       clock => timestamptz '2000-01-01 00:00:00+00' + periods * interval '365250 days'),
                                  '3652500 days', period => '365250 days', prefix_bytes => bytes,
                                  clock => '2000-01-01 00:00:00+00') AS ok
FROM (VALUES (1), (2), (6)) b (bytes), (VALUES (-5), (0), (10), (11), (200)) p (periods) ORDER BY bytes, periods;

-- the fields of the error of check_recent_...(): the function is the constraint
DO $$
DECLARE
    scheme text;
    the_constraint text;
    the_hint text;
BEGIN
    FOREACH scheme IN ARRAY ARRAY['short_comb', 'comb', 'uuid_v7'] LOOP
        FOR version IN 1..7 BY 3 LOOP
            BEGIN
                EXECUTE format('SELECT idgen.check_recent_%s(%L, clock => %L)', scheme,
                               '80000000-0000-' || version || '000-8000-000000000000', '2022-03-18 03:44:00+00');
            EXCEPTION WHEN check_violation THEN
                GET STACKED DIAGNOSTICS the_constraint = CONSTRAINT_NAME, the_hint = PG_EXCEPTION_HINT;
                RAISE NOTICE 'version %: %', version, the_constraint USING HINT = the_hint;
            END;
        END LOOP;
    END LOOP;
END $$;

-- the HINT has the period and the width of the identifiers that are accepted
DO $$
DECLARE
    p text;
    bytes int;
    the_hint text;
BEGIN
    FOREACH p IN ARRAY ARRAY['1 minute', '90 seconds', '1 day', '7 ms', '365250 days'] LOOP
        FOREACH bytes IN ARRAY ARRAY[2, 3] LOOP
            BEGIN
                PERFORM idgen.check_recent_short_comb('80000000-0000-4000-8000-000000000000', '0',
                period => p::interval, prefix_bytes => bytes, clock => '2022-03-18 03:44:00+00');
            EXCEPTION WHEN check_violation THEN
                GET STACKED DIAGNOSTICS the_hint = PG_EXCEPTION_HINT;
                RAISE NOTICE '%, %', p, bytes USING HINT = split_part(the_hint, '. ', 1);
            END;
        END LOOP;
    END LOOP;
END $$;

-- NULL identifiers
SELECT idgen.is_uuid(NULL) IS NULL AND idgen.is_recent_short_comb(NULL) IS NULL AND idgen.is_recent_comb(NULL) IS NULL
   AND idgen.is_recent_uuid_v7(NULL) IS NULL AND idgen.check_recent_short_comb(NULL) IS NULL
   AND idgen.check_recent_comb(NULL) IS NULL AND idgen.check_recent_uuid_v7(NULL) IS NULL AS all_null;

DROP FUNCTION with_prefix, passing;
