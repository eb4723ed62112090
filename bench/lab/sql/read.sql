-- Look rows up, one after another, by their primary key. Says how many were
-- found and how long it took, after one lookup that loads the catalogs.
\ir lookup_settings.sql
SELECT payload FROM idgen_bench.:"table" WHERE id = (SELECT id FROM idgen_bench.:"wanted" LIMIT 1) \g /dev/null
SELECT clock_timestamp() AS began \gset
SELECT count(k.payload) AS found
FROM idgen_bench.:"wanted" r
CROSS JOIN LATERAL (SELECT payload FROM idgen_bench.:"table" WHERE id = r.id OFFSET 0) k \gset
SELECT :found, extract(epoch FROM clock_timestamp() - :'began');
