-- The leaf to which each row went, in the order of the rows: PostgreSQL 16 and later.
-- A split puts the row into the left page, block 0, or into the right one, block 1.
INSERT INTO touch
SELECT row_number() OVER (ORDER BY start_lsn), relblocknumber
FROM :pg_walinspect.pg_get_wal_block_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn, false)
WHERE resource_manager = 'Btree'
  AND relfilenode = pg_relation_filenode('idgen_bench.' || :'index')
  AND (record_type IN ('INSERT_LEAF', 'INSERT_POST') AND block_id = 0
       OR description LIKE 'level: 0,%' AND (record_type = 'SPLIT_L' AND block_id = 0
                                            OR record_type = 'SPLIT_R' AND block_id = 1));
