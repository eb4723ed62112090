-- min(uuid) and max(uuid), which read only one end of an index.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE TEMP TABLE moments AS
SELECT idgen.uuid_v7_floor(at) AS uuid_v7, idgen.comb_floor(at) AS comb
FROM (SELECT timestamptz '2026-01-01 00:00:00+00' + n * interval '1 second' AS at
      FROM generate_series(0, 9999) n OFFSET 0) s;
CREATE INDEX moments_uuid_v7 ON moments (uuid_v7);
VACUUM ANALYZE moments;
CREATE FUNCTION nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ '\m(Limit|Scan|Aggregate|Removed)' THEN
            RETURN NEXT regexp_replace(line, '^[ >-]*', '');
        END IF;
    END LOOP;
END $$;
SELECT nodes('SELECT idgen.min(uuid_v7), idgen.max(uuid_v7) FROM moments');
SELECT idgen.uuid_timestamp(idgen.min(uuid_v7)) AS min, idgen.uuid_timestamp(idgen.max(uuid_v7)) AS max FROM moments;
SELECT idgen.min(comb) = (SELECT comb FROM moments ORDER BY comb LIMIT 1) AS min,
       idgen.max(comb) = (SELECT comb FROM moments ORDER BY comb DESC LIMIT 1) AS max FROM moments;

-- call the aggregates without an index: in groups, with NULL, without rows, and in parallel
SELECT n % 3 AS remainder,
       idgen.min(id) = (array_agg(id ORDER BY id))[1] AS min, idgen.max(id) = (array_agg(id ORDER BY id DESC))[1] AS max
FROM (SELECT n, md5(n::text)::uuid AS id FROM generate_series(1, 1000) n) s GROUP BY 1 ORDER BY 1;
SELECT idgen.min(id), idgen.max(id) FROM (VALUES (NULL::uuid), ('7fffffff-ffff-4fff-bfff-ffffffffffff'),
    ('80000000-0000-4000-8000-000000000000'), (NULL)) v (id);
SELECT idgen.min(id), idgen.max(id) FROM (VALUES (NULL::uuid)) v (id);
SELECT idgen.min(uuid_v7), idgen.max(uuid_v7) FROM moments WHERE false;
CREATE TABLE scattered AS SELECT md5(n::text)::uuid AS id FROM generate_series(1, 10000) n;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT nodes('SELECT idgen.min(id), idgen.max(id) FROM scattered');
SELECT idgen.min(id) = (SELECT id FROM scattered ORDER BY id LIMIT 1) AS min,
       idgen.max(id) = (SELECT id FROM scattered ORDER BY id DESC LIMIT 1) AS max FROM scattered;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
DROP TABLE scattered;
DROP FUNCTION nodes;
