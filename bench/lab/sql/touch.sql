-- The leaf to which each row went, in the order of the rows, from text like "blkref #0: rel
-- 1663/5/16436 fork main blk 54 blkref #1: rel ...". A split puts the row into the left page,
-- block 0, or into the right one, block 1.
CREATE TEMPORARY TABLE touch AS
SELECT row_number() OVER (ORDER BY start_lsn) AS number,
       (regexp_match(block_ref, 'blkref #' || CASE record_type WHEN 'SPLIT_R' THEN 1 ELSE 0 END
                                || ': rel \S+ fork main blk (\d+)'))[1]::int AS block
FROM :pg_walinspect.pg_get_wal_records_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn)
WHERE resource_manager = 'Btree'
  AND block_ref LIKE 'blkref #0: rel %/' || pg_relation_filenode('idgen_bench.' || :'index') || ' %'
  AND (record_type IN ('INSERT_LEAF', 'INSERT_POST')
       OR record_type IN ('SPLIT_L', 'SPLIT_R') AND description ~ '^level:? 0,');
SELECT 'touched_leaf_pages', count(DISTINCT block) FROM touch;
