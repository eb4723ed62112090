-- The plan of :query with the blocks that it reads: of the newest 100 orders with their lines, of 100
-- older ones with lines and payments, or of 1,000 orders in the order of the key, from :start on.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT :'query' = 'newest' AS newest, :'query' = 'older' AS older,
       timestamptz 'epoch' + :clock * interval '1 microsecond' - 1.2 * :delay * interval '1 minute' AS before \gset
\if :newest
EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)
SELECT * FROM (SELECT * FROM idgen_bench.:"table" ORDER BY created DESC LIMIT 100) o
JOIN idgen_bench.:"lines" l ON l.order_id = o.id;
\elif :older
EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)
SELECT * FROM (SELECT * FROM idgen_bench.:"table" WHERE created < :'before' ORDER BY created DESC LIMIT 100) o
LEFT JOIN idgen_bench.:"lines" l ON l.order_id = o.id
LEFT JOIN idgen_bench.:"payments" p ON p.order_id = o.id;
\else
EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)
SELECT * FROM idgen_bench.:"table" WHERE id > :'start' ORDER BY id LIMIT 1000;
\endif
