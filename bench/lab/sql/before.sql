-- Read the whole index, so that as much of it as fits is in shared buffers, as in
-- a table in use; then make the checkpoint.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(id) FROM idgen_bench.:"table" \g /dev/null
SELECT 'leaf_pages', leaf_pages FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index');
\if :by_prefix
-- the number of rows that have the short prefix of the last row
SELECT 'prefix_rows', count(*)
FROM (SELECT left(id::text, 4) AS prefix FROM idgen_bench.:"table"
      WHERE ctid >= format('(%s,0)', pg_relation_size('idgen_bench.' || :'table')
                                     / current_setting('block_size')::int - 1)::tid
      ORDER BY ctid DESC LIMIT 1) last,
     idgen_bench.:"table"
WHERE id BETWEEN (prefix || '0000-0000-0000-0000-000000000000')::uuid
             AND (prefix || 'ffff-ffff-ffff-ffff-ffffffffffff')::uuid;
\endif
CHECKPOINT;
