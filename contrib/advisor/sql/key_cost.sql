\set ECHO none
-- The model of the cost of keys. The output has a line for each call. docs/performance.md describes the model, and
-- t/003_zoo.pl compares it with measurements.
\pset format unaligned
\pset tuples_only on
-- return the cost that the function returns, or its error
CREATE FUNCTION shown(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    cost record;
    detail text;
BEGIN
    EXECUTE 'SELECT * FROM idgen.' || call INTO cost;
    RETURN format('%s images of %s bytes, records of %s, %s %% of %s',
                  round(cost.images_per_row::numeric, 3), round(cost.image_bytes_per_row::numeric),
                  round(cost.record_bytes_per_row::numeric), round(100 * cost.leaf_density),
                  pg_size_pretty(cost.index_bytes));
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''));
END $$;
CREATE FUNCTION costs(VARIADIC arguments text[]) RETURNS SETOF text LANGUAGE sql AS
$$SELECT concat(a, ': ', shown(format('expected_key_cost(%s)', a))) FROM unnest(arguments) a$$;

SELECT costs(format('%L, 5e6, %s, 115', kind, n))
FROM unnest('{ordered,random,short_comb,keyed_comb}'::text[]) kind, unnest('{1e3,1e6}'::float8[]) n ORDER BY kind, n;
SELECT 'the cost of a short COMB is between that of an ordered and of a random key',
       bool_and(o.image_bytes_per_row <= s.image_bytes_per_row + 25
                AND s.image_bytes_per_row <= r.image_bytes_per_row + 25)
FROM (VALUES (1e5), (1e7), (1e9)) i (index_rows), (VALUES (1e3), (1e5)) v (n), (VALUES (1e1), (1e3), (1e5)) p (m),
     idgen.expected_key_cost('ordered', index_rows, n) o, idgen.expected_key_cost('random', index_rows, n) r,
     idgen.expected_key_cost('short_comb', index_rows, n, m) s;
-- use an empty index, one row, the maximum number of rows, and the number of rows on one leaf page
SELECT costs(format($$'random', %s, %s$$, index_rows, n))
FROM unnest('{0,1,1e15}'::float8[]) index_rows, unnest('{1,1e15}'::float8[]) n ORDER BY index_rows, n;
SELECT costs($$'short_comb', 1e15, 1e15, 1e-6, 6$$, $$'random', 1e15, 1, key_bytes => 1024$$,
             $$'random', 291, 1$$, $$'random', 292, 1$$);
-- use less than one row, and pass rows per period for a kind of key without periods
SELECT costs($$'random', 1e-300, 1$$, $$'keyed_comb', 1e-300, 1, 1$$, $$'short_comb', 1e-300, 1, 1$$,
             $$'random', 1e6, 1000, 0$$, $$'ordered', 1e6, 1000, 0$$);
SELECT 'the cost of NULL', c.* FROM idgen.expected_key_cost(NULL, 1, 1) c;
-- use invalid arguments
SELECT costs($$'COMB', 1, 1$$, $$'random', -1, 1$$, $$'random', 'NaN', 1$$, $$'random', 1, 0.5$$,
             $$'random', 1, 1, key_bytes => 0$$,
             $$'short_comb', 1, 1$$, $$'keyed_comb', 1, 1$$, $$'keyed_comb', 1, 1, 0$$,
             $$'short_comb', 1, 1, 0$$, $$'short_comb', 1, 1, 1, 7$$,
             $$'short_comb', 1, 1, 10, rows_in_cycle => 655361$$);
-- make a plan, whose costs are the results of expected_key_cost() at the end of the retention
SELECT rate, retention, key, recommended, pg_size_pretty(wal_per_day), round(images_per_row::numeric, 3),
       pg_size_pretty(index_bytes), round(100 * leaf_density)
FROM (VALUES (1, 1000, '100 days'::interval), (2, 0.1, '30 days')) v (n, rate, retention),
     LATERAL (SELECT row_number() OVER () AS place, * FROM idgen.key_plan(rate, retention)) p
ORDER BY n, place;
-- exactly one key is recommended, with a reason
SELECT rows_per_second, retention, string_agg(key, ' ') FILTER (WHERE recommended), count(*),
       bool_and(recommended = (reason IS NOT NULL))
FROM (VALUES (0.0001), (0.5), (1000)) r (rows_per_second), (VALUES ('1 hour'::interval), ('10 years')) t (retention),
     idgen.key_plan(rows_per_second, retention)
GROUP BY rows_per_second, retention ORDER BY rows_per_second, retention;
SELECT arguments, shown(format('key_plan(%s)', arguments))
FROM unnest(ARRAY[$$0, '1 day'$$, $$'NaN', '1 day'$$, $$1, '0'$$, $$1, '1 day', '-1 s'$$,
                  $$1, '1 day', row_bytes => -1$$, $$1000000, '100 years'$$,
                  $$1000000000, '1 day', '1 year'$$]) arguments;
DROP FUNCTION shown, costs;
