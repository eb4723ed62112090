-- Look the recent rows up, one after another, by their primary key.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(k.payload)
FROM idgen_bench.recent r
CROSS JOIN LATERAL (SELECT payload FROM idgen_bench.keys WHERE id = r.id OFFSET 0) k;
