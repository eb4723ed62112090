-- The model of the cost of keys. docs/performance.md compares it with measurements.
CREATE FUNCTION shown(cost record) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN round(cost.page_images_per_row::numeric, 3) || ' images of '
        || round(cost.image_bytes_per_row::numeric) || ' bytes, records of ' || round(cost.record_bytes_per_row::numeric);
END
$$;

SELECT kind, n, shown(c)
FROM (VALUES ('random'), ('ordered'), ('short_comb')) k (kind), (VALUES (1e3), (2e4), (1e5), (1e6)) v (n),
     idgen.expected_key_cost(kind, 5e6, n, 115) c;
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
SELECT key_bytes, shown(c) FROM (VALUES (8), (16), (27), (37)) v (key_bytes), idgen.expected_key_cost('random', 5e6, 20000, key_bytes => v.key_bytes) c;
-- an empty index, one row, the greatest number of rows
SELECT index_rows, n, shown(c)
FROM (VALUES (0), (1), (1e15)) v (index_rows), (VALUES (1), (1e15)) w (n), idgen.expected_key_cost('random', index_rows, n) c;
SELECT shown(c) FROM idgen.expected_key_cost('short_comb', 1e15, 1e15, 1e-6, 6) c;

-- the size of an index; t/002_index_size.pl compares it with measurements
CREATE FUNCTION size(cost record) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN round(cost.leaf_density) || ' % of ' || pg_size_pretty(cost.index_bytes);
END
$$;
SELECT kind, size(c), pg_typeof(c.index_bytes)
FROM (VALUES ('random'), ('ordered')) k (kind), idgen.expected_key_cost(kind, 1e6, 1000) c;
-- a million rows of 30 days: a minute, ten minutes, an hour, an hour with one prefix byte
SELECT minutes, prefix_bytes, size(c)
FROM (VALUES (1, 2), (10, 2), (60, 2), (60, 1)) v (minutes, prefix_bytes), idgen.expected_key_cost('short_comb', 1e6, 1000, 23 * minutes, v.prefix_bytes) c;
-- few rows a period fill leaves in ascending order until the prefixes begin again, and then only their halves
SELECT rows_in_cycle / 1e5 AS place, size(c)
FROM (VALUES (1e5), (0.99e5), (0.5e5), (0.01e5)) v (rows_in_cycle), idgen.expected_key_cost('short_comb', 1e5, 1000, 10, rows_in_cycle => v.rows_in_cycle) c;
-- the size does not depend on the scale on which the index is simulated
SELECT scale, round(c.leaf_density) AS density, round(c.index_bytes / scale / 8192 / 10) * 10 AS pages_by_scale
FROM (VALUES (1), (16), (1048576)) v (scale), idgen.expected_key_cost('short_comb', 1e5 * scale, 1000, 20, rows_in_cycle => 0.6e5 * scale, prefix_bytes => 6) c;
SELECT size(c) FROM idgen.expected_key_cost('random', 0, 1) c UNION ALL
SELECT size(c) FROM idgen.expected_key_cost('random', 1, 1) c UNION ALL
SELECT size(c) FROM idgen.expected_key_cost('random', 1e15, 1, key_bytes => 1024) c;

SELECT c.* FROM idgen.expected_key_cost(NULL, 1, 1) c;
SELECT idgen.expected_key_cost('COMB', 1, 1);
SELECT idgen.expected_key_cost('random', -1, 1);
SELECT idgen.expected_key_cost('random', 'NaN', 1);
SELECT idgen.expected_key_cost('random', 'Infinity', 1);
SELECT idgen.expected_key_cost('random', 1, 0.5);
SELECT idgen.expected_key_cost('short_comb', 1, 1);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 0);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 10, rows_in_cycle => 655361);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, 7);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, run_length => 0);
SELECT idgen.expected_key_cost('random', 1, 1, key_bytes => 0);

-- advice
CREATE FUNCTION advice(rows_per_second float8, index_rows bigint, tolerance interval DEFAULT NULL)
RETURNS TABLE (ok boolean, period interval, bytes int, cycle interval, wal numeric, density numeric, size text, active text) LANGUAGE sql AS
$$SELECT recommended, period, prefix_bytes, cycle, round(wal_bytes_per_row), round(leaf_density), pg_size_pretty(index_bytes), pg_size_pretty(active_bytes)
FROM idgen.advise_short_comb(rows_per_second, index_rows, 100000000, '5 minutes', tolerance)$$;
-- a million rows of 30 days, where a minute has 23 rows
SELECT * FROM advice(0.385, 1000000);
SELECT r.rows_per_second AS rate, i.index_rows, a.*
FROM (VALUES (1), (100), (10000)) r (rows_per_second), (VALUES (1000000), (1000000000)) i (index_rows), advice(r.rows_per_second, i.index_rows) a
WHERE ok;
-- one row is recommended, and the others are in the order of their cost
SELECT count(*) FILTER (WHERE recommended) AS recommended, count(*) = count(DISTINCT (period, prefix_bytes)) AS different
FROM idgen.advise_short_comb(1, 1000000);
-- with a longer tolerance, the cycle must be longer
SELECT tolerance, period, bytes, cycle
FROM (VALUES ('0'::interval), ('1 day'), ('30 days')) t (tolerance), advice(100, 1000000, tolerance) WHERE ok;
-- a check would accept at most 2 % of the prefixes: 5 of 256
SELECT tolerance, count(*) FILTER (WHERE period = '10 minutes' AND bytes = 1) AS ten_minutes
FROM (VALUES ('20 minutes'::interval), ('20 minutes 1 second')) t (tolerance), advice(100, 1000000, tolerance) GROUP BY 1 ORDER BY 1;
-- runs change fewer leaf pages
SELECT run_length, round(wal_bytes_per_row) AS wal, active_bytes
FROM (VALUES (1), (1024)) v (run_length), idgen.advise_short_comb(100000, 1000000000, 100000000, '5 minutes', run_length => v.run_length)
WHERE period = '1 minute' AND prefix_bytes = 2;
-- the defaults are settings of the server
SELECT a FROM idgen.advise_short_comb(100, 1000000000) a
EXCEPT
SELECT a FROM idgen.advise_short_comb(100, 1000000000, pg_size_bytes(current_setting('shared_buffers')), current_setting('checkpoint_timeout')::interval, '10 minutes', 1) a;
SELECT a.* FROM idgen.advise_short_comb(NULL, 1) a;
SELECT idgen.advise_short_comb(0, 1);
SELECT idgen.advise_short_comb(1, -1);
SELECT idgen.advise_short_comb(1, 1, -1);
SELECT idgen.advise_short_comb(1, 1, 1, '0');
SELECT idgen.advise_short_comb(1, 1, 1, '1 month');
SELECT idgen.advise_short_comb(1, 1, tolerance => '-1 s');
SELECT idgen.advise_short_comb(1, 1, tolerance => '1 month');
SELECT idgen.advise_short_comb(1, 1, run_length => 0);
SELECT count(*) > 0 AS at_the_end FROM idgen.advise_short_comb(1e9, 1000000000000000, 0, '365 d', '365 d');
DROP FUNCTION shown, size, advice;
