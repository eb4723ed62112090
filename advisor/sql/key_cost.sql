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
FROM (VALUES (1), (16), (1024)) v (run_length), idgen.expected_key_cost('short_comb', 1e6, 1e5, 1.1e6, run_length => v.run_length, rows_in_period => 1e6) c;
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

SELECT c.* FROM idgen.expected_key_cost(NULL, 1, 1) c;
SELECT idgen.expected_key_cost('COMB', 1, 1);
SELECT idgen.expected_key_cost('random', -1, 1);
SELECT idgen.expected_key_cost('random', 'NaN', 1);
SELECT idgen.expected_key_cost('random', 'Infinity', 1);
SELECT idgen.expected_key_cost('random', 1, 0.5);
SELECT idgen.expected_key_cost('short_comb', 1, 1);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 0);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 10, rows_in_period => 11);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, 7);
SELECT idgen.expected_key_cost('short_comb', 1, 1, 1, run_length => 0);
SELECT idgen.expected_key_cost('random', 1, 1, key_bytes => 0);

-- advice
SELECT rows_per_second AS rate, index_rows, period, prefix_bytes AS bytes, run_length AS run, cycle,
       round(page_images_per_row::numeric, 4) AS images, round(default_page_images_per_row::numeric, 4) AS by_default, active_bytes
FROM (VALUES (1), (100), (10000), (100000)) r (rows_per_second), (VALUES (1000000), (100000000), (1000000000)) i (index_rows),
     idgen.advise_short_comb(rows_per_second, index_rows, 100000000, '5 minutes');
SELECT bool_and(a.page_images_per_row <= a.default_page_images_per_row) AS never_worse_than_the_default
FROM (VALUES (0.01), (1), (100), (10000)) r (rows_per_second), (VALUES (0), (1000000), (100000000), (10000000000)) i (index_rows),
     idgen.advise_short_comb(rows_per_second, index_rows, 1000000000000, '5 minutes') a;
-- the defaults are settings of the server
SELECT a = b AS same
FROM idgen.advise_short_comb(100, 1000000000) a,
     idgen.advise_short_comb(100, 1000000000, pg_size_bytes(current_setting('shared_buffers')), current_setting('checkpoint_timeout')::interval) b;
SELECT a.* FROM idgen.advise_short_comb(NULL, 1) a;
SELECT idgen.advise_short_comb(0, 1);
SELECT idgen.advise_short_comb(1, -1);
SELECT idgen.advise_short_comb(1, 1, -1);
SELECT idgen.advise_short_comb(1, 1, 1, '0');
SELECT idgen.advise_short_comb(1, 1, 1, '1 month');
SELECT idgen.advise_short_comb(1e9, 1000000000000000, 0, '365 d') IS NOT NULL AS at_the_end;
DROP FUNCTION shown;
