-- Look rows up by their primary key, for one row of the table :wanted after
-- another. Prints the number of rows found and the seconds that this took, after
-- one lookup that loads the catalogs.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT k.payload
FROM (SELECT * FROM idgen_bench.:"wanted" LIMIT 1) w
CROSS JOIN LATERAL (SELECT payload FROM idgen_bench.:"table" WHERE :first OFFSET 0) k \g /dev/null
SELECT clock_timestamp() AS began \gset
SELECT count(k.payload) AS found
FROM idgen_bench.:"wanted" w
CROSS JOIN LATERAL (SELECT payload FROM idgen_bench.:"table" WHERE :condition OFFSET 0) k \gset
SELECT :found, extract(epoch FROM clock_timestamp() - :'began');
