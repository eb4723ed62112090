-- Print the lines of touches.csv for the rows that the WAL from :lsn to :end_lsn (both in bytes) inserts into the
-- index. The columns are the position of the row among the inserts (0 to 1), the leaf block that contains the row, the
-- number of leaf blocks in the index, and the position of the leaf block in the index from left to right (0 to 1).
SET synchronous_commit = local;
SELECT pg_logical_emit_message(true, 'idgen_bench', '') \g /dev/null

-- The text has the form "blkref #0: rel 1663/5/16436 fork main blk 54 blkref #1: rel ...". A split inserts the row on
-- the left page, which is block 0, or on the right page, which is block 1.
CREATE TEMPORARY TABLE touch AS
SELECT row_number() OVER (ORDER BY start_lsn) AS number,
       (regexp_match(block_ref, 'blkref #' || CASE record_type WHEN 'SPLIT_R' THEN 1 ELSE 0 END
                                || ': rel \S+ fork main blk (\d+)'))[1]::int AS block
FROM idgen_bench.pg_get_wal_records_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn)
WHERE resource_manager = 'Btree'
  AND block_ref LIKE 'blkref #0: rel %/' || pg_relation_filenode('idgen_bench.rows_pkey') || ' %'
  AND (record_type IN ('INSERT_LEAF', 'INSERT_POST')
       OR record_type IN ('SPLIT_L', 'SPLIT_R') AND description ~ '^level:? 0,');
CREATE TEMPORARY TABLE leaf AS
SELECT s.blkno AS block, s.btpo_prev AS previous, s.btpo_next AS next
FROM generate_series(1, pg_relation_size('idgen_bench.rows_pkey') / current_setting('block_size')::int - 1) b,
     LATERAL idgen_bench.bt_page_stats('idgen_bench.rows_pkey', b::int) s
WHERE s.btpo_level = 0 AND s.type IN ('l', 'r');
CREATE UNIQUE INDEX ON leaf (block);
ANALYZE leaf;
WITH RECURSIVE walk AS (
    SELECT 0 AS number, block, next FROM leaf WHERE previous = 0
    UNION ALL
    SELECT w.number + 1, l.block, l.next FROM walk w JOIN leaf l ON l.block = w.next
), place AS (
    SELECT block, count(*) OVER () AS leaves, number::numeric / greatest(1, max(number) OVER ()) AS position FROM walk
)
SELECT :'key' || ',' || round((number - 1) / greatest(1, max(number) OVER () - 1)::numeric, 5) || ',' || block || ','
       || leaves || ',' || round(position, 5)
FROM touch JOIN place USING (block)
ORDER BY number;
