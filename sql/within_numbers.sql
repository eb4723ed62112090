-- Half-open ranges of snowflakes, js_ids and ObjectIds: their results, and their use for index conditions and partition
-- pruning. within.sql tests uuids and ULIDs, except row-level security, which is tested here.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- create 20,000 rows, one per minute
CREATE TEMP TABLE moments AS
SELECT idgen.snowflake_floor(at) AS snowflake, idgen.snowflake_floor(at, '2010-11-04 01:42:54.657+00') AS twitter,
       idgen.js_id_floor(at) AS js_id
FROM (SELECT timestamptz '2026-01-01 00:00:00+00' + n * interval '1 minute' AS at
      FROM generate_series(0, 19999) n OFFSET 0) s;
CREATE INDEX moments_snowflake ON moments (snowflake);
CREATE INDEX moments_twitter ON moments (twitter);
CREATE INDEX moments_js_id ON moments (js_id);
ANALYZE moments;

-- each condition is an index condition
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT * FROM moments WHERE idgen.snowflake_within(snowflake, '2026-01-05 00:00:00+00', '2026-01-05 00:10:00+00');
EXPLAIN (COSTS OFF)
SELECT * FROM moments WHERE idgen.snowflake_within(twitter, '2026-01-05 00:00:00+00', '2026-01-05 00:10:00+00',
    '2010-11-04 01:42:54.657+00');
EXPLAIN (COSTS OFF)
SELECT * FROM moments WHERE idgen.js_id_within(js_id, '2026-01-05 00:00:00+00', '2026-01-05 00:10:00+00');
SELECT (SELECT count(*) FROM moments WHERE idgen.snowflake_within(snowflake, '2026-01-05 00:00:00+00',
    '2026-01-05 00:10:00+00')) AS snowflake,
       (SELECT count(*) FROM moments WHERE idgen.snowflake_within(twitter, '2026-01-05 00:00:00+00',
       '2026-01-05 00:10:00+00', '2010-11-04 01:42:54.657+00')) AS twitter,
       (SELECT count(*) FROM moments WHERE idgen.js_id_within(js_id, '2026-01-05 00:00:00+00',
       '2026-01-05 00:10:00+00')) AS js_id;
PREPARE some_numbers (timestamptz, timestamptz, timestamptz) AS SELECT * FROM moments
    WHERE idgen.snowflake_within(snowflake, $1, $2, $3);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE some_numbers ('2026-01-05 00:00:00+00', '2026-01-05 00:10:00+00', '2020-01-01 00:00:00+00');
RESET plan_cache_mode;
RESET enable_bitmapscan;

-- the planner prunes partitions: only February and March are read
CREATE TABLE by_snowflake (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE by_js_id (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE by_object_id (id text COLLATE "C" PRIMARY KEY) PARTITION BY RANGE (id);
DO $$
DECLARE
    kind text;
BEGIN
    FOREACH kind IN ARRAY '{snowflake,js_id,object_id}'::text[] LOOP
        FOR month IN 1..4 LOOP
            EXECUTE format('CREATE TABLE %1$I PARTITION OF %2$I'
                           ' FOR VALUES FROM (idgen.%3$s_floor(%4$L)) TO (idgen.%3$s_floor(%5$L))',
                           format('%s_2026_0%s', kind, month), 'by_' || kind, kind,
                           format('2026-0%s-01 00:00:00+00', month), format('2026-0%s-01 00:00:00+00', month + 1));
        END LOOP;
    END LOOP;
END $$;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF)
SELECT * FROM by_snowflake WHERE idgen.snowflake_within(id, '2026-02-01 00:00:00+00', '2026-04-01 00:00:00+00');
EXPLAIN (COSTS OFF)
SELECT * FROM by_js_id WHERE idgen.js_id_within(id, '2026-02-01 00:00:00+00', '2026-04-01 00:00:00+00');
EXPLAIN (COSTS OFF)
SELECT * FROM by_object_id WHERE idgen.object_id_within(id, '2026-02-01 00:00:00+00', '2026-04-01 00:00:00+00');
RESET enable_bitmapscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
DROP TABLE by_snowflake, by_js_id, by_object_id;

-- start is inclusive and stop exclusive, in whole milliseconds or seconds
SELECT at, idgen.snowflake_within(idgen.snowflake_floor(at), start, stop) AS snowflake,
       idgen.js_id_within(idgen.js_id_floor(at + interval '1 second') - 1, start, stop) AS js_id
FROM (VALUES (timestamptz '2026-02-01 00:00:00.001+00', timestamptz '2026-02-01 00:00:02.002+00')) r (start, stop),
     (VALUES (timestamptz '2026-01-31 23:59:59.999999+00'), ('2026-02-01 00:00:00+00'), ('2026-02-01 00:00:00.001+00'),
             ('2026-02-01 00:00:01.999999+00'), ('2026-02-01 00:00:02.001999+00'),
             ('2026-02-01 00:00:02.002+00')) v (at)
ORDER BY at;

-- use NULL as start
SELECT idgen.js_id_within(idgen.js_id_floor('2026-01-01'), NULL, '2025-01-01') AS start_and_after_stop;

-- use bounds that are out of range, and an epoch of NULL or infinity
\set SHOW_CONTEXT never
SELECT idgen.snowflake_within(1, '2026-01-01', '2027-01-01', NULL);
SELECT idgen.snowflake_within(1, '-infinity', '2089-09-06 15:47:35.552+00') AND idgen.js_id_within(1,
    '2019-12-31 23:59:59+00', 'infinity') AS all_of_time,
       idgen.snowflake_within(9223372036854775806, '2089-09-06 15:47:35.551+00', 'infinity') AS last,
       idgen.js_id_within(1, 'infinity', 'infinity') AS none;
SELECT idgen.js_id_within(1, '2020-01-01', 'infinity', 'infinity');

--
-- Neither row-level security nor a view with security_barrier prevents a range from using the index
--
CREATE ROLE regress_idgen_reader;
CREATE TABLE guarded (id uuid PRIMARY KEY, ulid text COLLATE "C" UNIQUE, owner name);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (owner = current_user);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM guarded WHERE owner = current_user;
GRANT SELECT ON guarded, barrier TO regress_idgen_reader;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SET ROLE regress_idgen_reader;
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE idgen.uuid_v7_within(id, now());
EXPLAIN (COSTS OFF) SELECT * FROM guarded WHERE idgen.ulid_within(ulid, now());
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE idgen.uuid_v7_within(id, now());
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE idgen.ulid_within(ulid, now());
RESET ROLE;
DROP VIEW barrier;
DROP TABLE guarded;
DROP ROLE regress_idgen_reader;
