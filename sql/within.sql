-- Half-open ranges of time: their results, and their use for index conditions and partition pruning.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- create 20,000 rows, one every 50 seconds
CREATE TEMP TABLE moments AS
SELECT idgen.uuid_v7_floor(at) AS uuid_v7, idgen.comb_floor(at) AS comb, idgen.ulid_floor(at) COLLATE "C" AS ulid
FROM (SELECT timestamptz '2026-01-01 00:00:00+00' + n * interval '50 seconds' AS at
      FROM generate_series(0, 19999) n OFFSET 0) s;
CREATE INDEX moments_uuid_v7 ON moments (uuid_v7);
CREATE INDEX moments_comb ON moments (comb);
CREATE INDEX moments_ulid ON moments (ulid);
ANALYZE moments;

-- Return a plan without its filters, because each edition has its own filter expressions.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line !~ 'Filter:' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;

--
-- Each condition is an index condition
--
SET enable_bitmapscan = off;
SELECT plan($$SELECT * FROM moments WHERE idgen.uuid_v7_within(uuid_v7, '2026-01-05', '2026-01-05 00:10')$$);
SELECT plan($$SELECT * FROM moments WHERE idgen.comb_within(comb, '2026-01-05', '2026-01-05 00:10')$$);
SELECT plan($$SELECT * FROM moments WHERE idgen.ulid_within(ulid, '2026-01-05', '2026-01-05 00:10')$$);
SELECT plan($$DELETE FROM moments WHERE idgen.uuid_v7_within(uuid_v7, '-infinity', '2026-01-01 00:10')$$);
SELECT plan($$UPDATE moments SET comb = comb WHERE idgen.ulid_within(ulid, '2026-01-12 13:45:00')$$);
SELECT (SELECT count(*) FROM moments WHERE idgen.uuid_v7_within(uuid_v7, '2026-01-05', '2026-01-05 00:10')) AS uuid_v7,
       (SELECT count(*) FROM moments WHERE idgen.comb_within(comb, '2026-01-05', '2026-01-05 00:10')) AS comb,
       (SELECT count(*) FROM moments WHERE idgen.ulid_within(ulid, '2026-01-05', '2026-01-05 00:10')) AS ulid;

-- use parameters in generic and custom plans
PREPARE some_uuids (timestamptz, timestamptz) AS SELECT * FROM moments WHERE idgen.uuid_v7_within(uuid_v7, $1, $2);
PREPARE some_ulids (timestamptz, timestamptz) AS SELECT * FROM moments WHERE idgen.ulid_within(ulid, $1, $2);
SET plan_cache_mode = force_generic_plan;
SELECT plan($$EXECUTE some_uuids ('2026-01-05', '2026-01-05 00:10')$$);
SELECT plan($$EXECUTE some_ulids ('2026-01-05', '2026-01-05 00:10')$$);
SET plan_cache_mode = force_custom_plan;
SELECT plan($$EXECUTE some_uuids ('2026-01-05', '2026-01-05 00:10')$$);
RESET plan_cache_mode;
-- use the current time
SELECT plan($$SELECT * FROM moments WHERE idgen.uuid_v7_within(uuid_v7, now() - interval '1 minute')$$);
RESET enable_bitmapscan;

-- The planner's row estimate must be between half and twice the estimate for the bounds alone. This is also checked for
-- a generic plan, and for half of the rows.
CREATE FUNCTION expected_rows(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
PREPARE some_bounds (timestamptz, timestamptz) AS
    SELECT * FROM moments WHERE uuid_v7 >= idgen.uuid_v7_floor($1) AND uuid_v7 < idgen.uuid_v7_floor($2);
SELECT expected_rows('SELECT * FROM moments WHERE ' || condition)
       / expected_rows('SELECT * FROM moments WHERE ' || bounds) BETWEEN 0.5 AND 2 AS custom
FROM (VALUES ('idgen.uuid_v7_within(uuid_v7, ''2026-01-05'')', 'uuid_v7 >= idgen.uuid_v7_floor(''2026-01-05'')'),
             ('idgen.comb_within(comb, ''2026-01-05'')', 'comb >= idgen.comb_floor(''2026-01-05'')'),
             ('idgen.ulid_within(ulid, ''2026-01-05'')', 'ulid >= idgen.ulid_floor(''2026-01-05'')')) v (condition,
             bounds);
SET plan_cache_mode = force_generic_plan;
SELECT expected_rows($$EXECUTE some_uuids ('2026-01-05+00', 'infinity')$$)
       / expected_rows($$EXECUTE some_bounds ('2026-01-05+00', 'infinity')$$) BETWEEN 0.5 AND 2 AS generic;
RESET plan_cache_mode;

--
-- The planner prunes partitions
--
CREATE TABLE by_uuid_v7 (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE by_comb (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE by_ulid (id text COLLATE "C" PRIMARY KEY) PARTITION BY RANGE (id);
DO $$
DECLARE
    kind text;
BEGIN
    FOREACH kind IN ARRAY '{uuid_v7,comb,ulid}'::text[] LOOP
        FOR month IN 1..4 LOOP
            EXECUTE format('CREATE TABLE %1$I PARTITION OF %2$I'
                           ' FOR VALUES FROM (idgen.%3$s_floor(%4$L)) TO (idgen.%3$s_floor(%5$L))',
                           format('%s_2026_0%s', kind, month), 'by_' || kind, kind,
                           format('2026-0%s-01 00:00:00+00', month), format('2026-0%s-01 00:00:00+00', month + 1));
        END LOOP;
    END LOOP;
END $$;
-- only February and March are read
SELECT kind, (SELECT string_agg(DISTINCT substring(node FROM ' on (\w+_2026_\d\d)'), ', ') FROM plan(
           format('SELECT * FROM by_%1$s'
                  ' WHERE idgen.%1$s_within(id, ''2026-02-01 00:00:00+00'', ''2026-04-01 00:00:00+00'')', kind)) node)
           AS partitions
FROM unnest('{uuid_v7,comb,ulid}'::text[]) kind;
-- with parameters, partitions are pruned when a custom plan is made, or when a generic plan is executed
PREPARE february (timestamptz, timestamptz) AS SELECT * FROM by_ulid WHERE idgen.ulid_within(id, $1, $2);
SET plan_cache_mode = force_custom_plan;
SELECT DISTINCT substring(node FROM ' on (\w+_2026_\d\d)') AS partition
    FROM plan($$EXECUTE february ('2026-02-01 00:00:00+00', '2026-03-01 00:00:00+00')$$) node WHERE node ~ ' on ';
SET plan_cache_mode = force_generic_plan;
SELECT node FROM plan($$EXECUTE february ('2026-02-01 00:00:00+00', '2026-03-01 00:00:00+00')$$) node
    WHERE node ~ 'Removed';
RESET plan_cache_mode;
DROP TABLE by_uuid_v7, by_comb, by_ulid;

--
-- The ranges
--
-- start is inclusive and stop exclusive, in whole milliseconds
SELECT at, idgen.uuid_v7_within(idgen.uuid_v7_floor(at), start, stop) AS uuid_v7, idgen.comb_within(idgen.comb(at),
    start, stop) AS comb,
       idgen.ulid_within(idgen.ulid_from_uuid(idgen.comb(at)), start, stop) AS ulid
FROM (VALUES (timestamptz '2026-02-01 00:00:00.001+00', timestamptz '2026-02-01 00:00:02.002+00')) r (start, stop),
     (VALUES (timestamptz '2026-01-31 23:59:59.999999+00'), ('2026-02-01 00:00:00+00'), ('2026-02-01 00:00:00.001+00'),
             ('2026-02-01 00:00:01.999999+00'), ('2026-02-01 00:00:02.001999+00'),
             ('2026-02-01 00:00:02.002+00')) v (at)
ORDER BY at;

-- if a bound is NULL, nothing matches, as with BETWEEN
SELECT count(*) FROM moments WHERE idgen.uuid_v7_within(uuid_v7, NULL, '2027-01-01') OR idgen.uuid_v7_within(uuid_v7,
    '2025-01-01', NULL);

-- stop is infinity by default
SELECT (SELECT count(*) FROM moments WHERE idgen.uuid_v7_within(uuid_v7, '2026-01-12 13:45:00+00')) AS uuid_v7,
       (SELECT count(*) FROM moments WHERE idgen.comb_within(comb, '2026-01-12 13:45:00+00')) AS comb,
       (SELECT count(*) FROM moments WHERE idgen.ulid_within(ulid, '2026-01-12 13:45:00+00')) AS ulid;

-- ULIDs in lower case, as generated by Laravel, need bounds in lower case
SELECT count(*), min(idgen.ulid_timestamp(id)), max(idgen.ulid_timestamp(id))
FROM (SELECT lower(ulid) COLLATE "C" AS id FROM moments) lower_case
WHERE id >= lower(idgen.ulid_floor('2026-01-05')) AND id < lower(idgen.ulid_floor('2026-01-05 00:10'));

DROP FUNCTION plan, expected_rows;
