-- Print the number of blocks that a query for the newest 100 orders with their lines reads.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)
SELECT * FROM (SELECT * FROM idgen_bench.rows ORDER BY created DESC LIMIT 100) o
JOIN idgen_bench.lines l ON l.order_id = o.id;
