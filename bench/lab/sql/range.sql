-- Read ranges of time by their bounds, one after another. Says how many rows were
-- found and how long it took, after one lookup that loads the catalogs.
\ir lookup_settings.sql
SELECT payload FROM idgen_bench.:"table" WHERE id = (SELECT low FROM idgen_bench.:"wanted" LIMIT 1) \g /dev/null
SELECT clock_timestamp() AS began \gset
SELECT count(k.payload) AS found
FROM idgen_bench.:"wanted" r
CROSS JOIN LATERAL (SELECT payload FROM idgen_bench.:"table" WHERE id BETWEEN r.low AND r.high OFFSET 0) k \gset
SELECT :found, extract(epoch FROM clock_timestamp() - :'began');
