-- The model of the cost of keys. docs/performance.md, t/002_index_size.pl and t/003_zoo.pl
-- compare it with measurements.
\pset format unaligned
\pset footer off
CREATE FUNCTION shown(cost record) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN format('%s images of %s bytes, records of %s, %s %% of %s',
                  round(cost.page_images_per_row::numeric, 3), round(cost.image_bytes_per_row::numeric),
                  round(cost.record_bytes_per_row::numeric), round(cost.leaf_density), pg_size_pretty(cost.index_bytes));
END $$;

SELECT kind, n, shown(c)
FROM (VALUES ('random'), ('ordered'), ('short_comb')) k (kind), (VALUES (1e3), (2e4), (1e6)) v (n),
     idgen.expected_key_cost(kind, 5e6, n, 115) c ORDER BY kind, n;
-- the keys of one minute, with and without runs
SELECT run_length, shown(c)
FROM (VALUES (1), (16), (1024)) v (run_length), idgen.expected_key_cost('short_comb', 1e6, 1e5, 1.1e6, run_length => v.run_length, rows_in_cycle => 1e6) c;
-- the leaves of a prefix also contain the rows of previous cycles
SELECT cycles, shown(c)
FROM (VALUES (0.5), (1.5), (2.5), (10.5)) v (cycles), idgen.expected_key_cost('short_comb', cycles * 6000 * 65536, 30000, 6000) c;
-- the cost of a short COMB is between that of an ordered and of a random key
SELECT bool_and(o.image_bytes_per_row <= s.image_bytes_per_row + 25 AND s.image_bytes_per_row <= r.image_bytes_per_row + 25) AS between
FROM (VALUES (1e5), (1e7), (1e9)) i (index_rows), (VALUES (1e3), (1e5)) v (n), (VALUES (1e1), (1e3), (1e5)) p (m),
     idgen.expected_key_cost('ordered', index_rows, n) o, idgen.expected_key_cost('random', index_rows, n) r,
     idgen.expected_key_cost('short_comb', index_rows, n, m) s;
-- the tuples of a bigint are shorter, and those of a text are longer
SELECT key_bytes, shown(c) FROM (VALUES (8), (16), (37)) v (key_bytes), idgen.expected_key_cost('random', 5e6, 20000, key_bytes => v.key_bytes) c;
-- an empty index, one row, the greatest number of rows
SELECT index_rows, n, shown(c)
FROM (VALUES (0), (1), (1e15)) v (index_rows), (VALUES (1), (1e15)) w (n), idgen.expected_key_cost('random', index_rows, n) c;
SELECT shown(c) FROM idgen.expected_key_cost('short_comb', 1e15, 1e15, 1e-6, 6) c UNION ALL
SELECT shown(c) FROM idgen.expected_key_cost('random', 1e15, 1, key_bytes => 1024) c;

-- the size does not depend on the scale on which the index is simulated
SELECT scale, round(c.leaf_density) AS density, round(c.index_bytes / scale / 8192 / 10) * 10 AS pages_by_scale
FROM (VALUES (1), (16), (1048576)) v (scale), idgen.expected_key_cost('short_comb', 1e5 * scale, 1000, 20, rows_in_cycle => 0.6e5 * scale, prefix_bytes => 6) c;

SELECT c.* FROM idgen.expected_key_cost(NULL, 1, 1) c;
\set SHOW_CONTEXT never
SELECT idgen.expected_key_cost('COMB', 1, 1);
SELECT idgen.expected_key_cost('random', -1, 1);
SELECT idgen.expected_key_cost('random', 'NaN', 1);
SELECT idgen.expected_key_cost('random', 1, 0.5);
SELECT idgen.expected_key_cost('short_comb', 1, 1);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 0);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 10, rows_in_cycle => 655361);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, 7);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, run_length => 0);
SELECT idgen.expected_key_cost('random', 1, 1, key_bytes => 0);

-- keys in order among random ones of before split leaves in halves; short COMBs also change the leaves of random keys with their prefix
SELECT kind, random_rows, shown(c)
FROM (VALUES ('ordered'), ('short_comb')) k (kind), (VALUES (0), (5e6)) v (random_rows),
     idgen.expected_key_cost(kind, 6e6, 66666, 60000, random_rows => v.random_rows, rows_in_cycle => 1e6) c;
SELECT idgen.expected_key_cost('ordered', 1, 1, random_rows => 2);

-- a plan: the costs are those of expected_key_cost() at the end of the retention
CREATE FUNCTION plan(rows_per_second numeric, retention interval) RETURNS TABLE (key text, ok boolean, wal text, images numeric, size text, density numeric, cycle interval) LANGUAGE sql AS
$$SELECT key, recommended, pg_size_pretty(wal_per_day), round(images_per_row::numeric, 3), pg_size_pretty(index_bytes), round(leaf_density), cycle
FROM idgen.key_plan(rows_per_second, retention)$$;
SELECT * FROM plan(1000, '100 days');
SELECT * FROM plan(1000, '200 seconds');
SELECT * FROM plan(0.1, '30 days');
-- one key is recommended, with a reason, and no other one costs less in each column and reveals as little
SELECT r.rows_per_second, t.retention, count(*) AS keys, count(*) FILTER (WHERE p.recommended) AS recommended,
       count(*) FILTER (WHERE p.recommended = (p.reason IS NULL)) AS without_reason,
       bool_or(EXISTS (SELECT FROM idgen.key_plan(r.rows_per_second, t.retention) o
                       WHERE p.recommended AND o.key LIKE 'short%' AND o.wal_per_day < p.wal_per_day AND o.images_per_row < p.images_per_row
                         AND o.index_bytes < p.index_bytes AND o.leaf_density > p.leaf_density)) AS loses
FROM (VALUES (1), (1000)) r (rows_per_second), (VALUES ('1 hour'::interval), ('1 year')) t (retention), idgen.key_plan(r.rows_per_second, t.retention) p
GROUP BY 1, 2 ORDER BY 1, 2;
-- a row of the table has 200 bytes more
SELECT count(*) AS keys, min(b.wal_per_day - a.wal_per_day), max(b.wal_per_day - a.wal_per_day)
FROM idgen.key_plan(1, '1 day', row_bytes => 0) a JOIN idgen.key_plan(1, '1 day', row_bytes => 200) b USING (key);
SELECT count(*) FROM idgen.key_plan(NULL, '1 day');
SELECT idgen.key_plan(0, '1 day');
SELECT idgen.key_plan('NaN', '1 day');
SELECT idgen.key_plan(1, '0');
SELECT idgen.key_plan(1, '1 day', '-1 s');
SELECT idgen.key_plan(1, '1 day', row_bytes => -1);
DROP FUNCTION shown, plan;
