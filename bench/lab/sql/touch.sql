-- The leaf to which each row went, in the order of the rows. A split puts the row into
-- the left page, block 0, or into the right one, block 1.
CREATE TEMPORARY TABLE touch (number bigint, block int);
SELECT :SERVER_VERSION_NUM >= 160000 AS has_block_info \gset
\if :has_block_info
INSERT INTO touch
SELECT row_number() OVER (ORDER BY start_lsn), relblocknumber
FROM :pg_walinspect.pg_get_wal_block_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn, false)
WHERE resource_manager = 'Btree'
  AND relfilenode = pg_relation_filenode('idgen_bench.' || :'index')
  AND (record_type IN ('INSERT_LEAF', 'INSERT_POST') AND block_id = 0
       OR description LIKE 'level: 0,%' AND (record_type = 'SPLIT_L' AND block_id = 0
                                            OR record_type = 'SPLIT_R' AND block_id = 1));
\else
-- from text like "blkref #0: rel 1663/5/16436 fork main blk 54 blkref #1: rel ..."
INSERT INTO touch
SELECT row_number() OVER (ORDER BY start_lsn),
       (regexp_match(block_ref, 'blkref #' || CASE record_type WHEN 'SPLIT_R' THEN 1 ELSE 0 END
                                || ': rel \S+ fork main blk (\d+)'))[1]::int
FROM :pg_walinspect.pg_get_wal_records_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn)
WHERE resource_manager = 'Btree'
  AND block_ref LIKE 'blkref #0: rel %/' || pg_relation_filenode('idgen_bench.' || :'index') || ' %'
  AND (record_type IN ('INSERT_LEAF', 'INSERT_POST')
       OR record_type IN ('SPLIT_L', 'SPLIT_R') AND description LIKE 'level 0,%');
\endif
SELECT 'touched_leaf_pages', count(DISTINCT block) FROM touch;
