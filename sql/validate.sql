-- Checks of identifiers that clients have generated.
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

-- check each version
SELECT v, idgen.is_uuid(id) AS any_version, idgen.is_uuid(id, v) AS this_version, idgen.is_uuid(id, (v + 1) % 16)
    AS next_version
FROM (SELECT v, '919108f7-52d1-' || to_hex(v) || '320-9bac-f847db4148a8' AS id FROM generate_series(0, 15) v) s;

-- check long values, which are stored compressed
CREATE TEMP TABLE long_text (id text);
INSERT INTO long_text VALUES (repeat('f', 1000000)), (repeat('919108f7-52d1-4320-9bac-f847db4148a8', 10000));
SELECT idgen.is_uuid(id), length(id) FROM long_text;

--
-- is_recent_short_comb: the window around the restart of the cycle (2022-03-18 03:44 has the prefix 0000)
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

-- the default clock is the start of the statement
SELECT idgen.is_recent_short_comb(idgen.short_comb()) AS now,
       idgen.is_recent_short_comb(idgen.short_comb(clock => now() - interval '1 hour')) AS hour_ago,
       idgen.is_recent_short_comb(idgen.short_comb(clock => now() - interval '1 hour'), '2 hours') AS within_two;

-- the widest allowed window excludes one prefix, regardless of the clock
SELECT clock, count(*) AS passing
FROM (VALUES (timestamptz '2022-03-18 03:44:00+00'), ('2022-03-18 03:44:59.999999+00')) c (clock),
     generate_series(0, 255) p
WHERE idgen.is_recent_short_comb(with_prefix(lpad(to_hex(p), 2, '0')), '127 minutes', prefix_bytes => 1, clock => clock)
GROUP BY clock ORDER BY clock;
SELECT idgen.is_recent_short_comb(with_prefix('00'), '127 minutes', '127 minutes 1 ms', prefix_bytes => 1);

-- is_recent_comb, is_recent_uuid_v7: the window includes both ends
SELECT delta, idgen.is_recent_comb(idgen.comb(clock + delta), clock => clock) AS comb,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(clock + delta), clock => clock) AS v7,
       idgen.is_recent_comb(idgen.comb(clock + delta), '0', past_tolerance => '10 minutes', clock => clock) AS past,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(clock + delta), '0', future_tolerance => '10 minutes', clock => clock)
       AS future
FROM unnest('{-10 minutes -1 ms,-10 minutes,-1 ms,0,1 ms,10 minutes,10 minutes 1 ms}'::interval[]) delta,
     (SELECT timestamptz '2022-02-22 19:22:22+00' AS clock) c
ORDER BY delta;

-- NULL is the default of past_tolerance, future_tolerance and clock
SELECT idgen.is_recent_short_comb(idgen.short_comb(), '1 minute', NULL, NULL, '1 minute', 2, NULL) AS short_comb,
       idgen.is_recent_comb(idgen.comb(), '1 minute', NULL, NULL, NULL) AS comb,
       idgen.is_recent_uuid_v7(idgen.uuid_v7(), '1 minute', NULL, NULL, NULL) AS v7;

--
-- check_recent_...: the result is the identifier, or an error that contains the window
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

-- a CHECK constraint also rejects later UPDATEs of an old row, and the restore of the row
CREATE TEMP TABLE brought (id uuid, note int);
INSERT INTO brought VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
ALTER TABLE brought ADD CONSTRAINT is_recent CHECK (idgen.is_recent_uuid_v7(id)) NOT VALID;
INSERT INTO brought VALUES (idgen.uuid_v7());
UPDATE brought SET note = 1 WHERE id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
INSERT INTO brought SELECT * FROM brought;
-- the error has the name of the function as its constraint, and the HINT contains the period and prefix length that are
-- accepted
DO $$
DECLARE
    call text;
    the_constraint text;
    the_hint text;
BEGIN
    FOR call IN
        SELECT format('%s(%L, ', scheme, '80000000-0000-' || version || '000-8000-000000000000')
        FROM unnest('{short_comb,comb,uuid_v7}'::text[]) scheme, generate_series(1, 7, 3) version
        UNION ALL
        SELECT format('short_comb(''80000000-0000-4000-8000-000000000000'', ''0'', period => %L, prefix_bytes => %s, ',
                      period, bytes)
        FROM unnest('{1 minute,90 seconds,1 day,7 ms,365250 days}'::text[]) period, generate_series(2, 3) bytes
    LOOP
        BEGIN
            EXECUTE format('SELECT idgen.check_recent_%sclock => %L)', call, '2022-03-18 03:44:00+00');
        EXCEPTION WHEN check_violation THEN
            GET STACKED DIAGNOSTICS the_constraint = CONSTRAINT_NAME, the_hint = PG_EXCEPTION_HINT;
            RAISE NOTICE '%: %', call, the_constraint USING HINT = the_hint;
        END;
    END LOOP;
END $$;

DROP FUNCTION with_prefix;
