-- Read the whole index, so that as much of it is in shared buffers as fits, as
-- where the table has been in use; and then the checkpoint.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(id) FROM idgen_bench.:"table" \g /dev/null
SELECT 'leaf_pages', leaf_pages FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index');
CHECKPOINT;
