-- The pages of tables and indexes that the WAL from :lsn to :end_lsn (both in bytes) changes. Until
-- the end of the next checkpoint, each of them is written to the disk.
-- Flush the WAL of inserts with synchronous_commit off.
SET synchronous_commit = local;
SELECT pg_logical_emit_message(true, 'idgen_bench', '') \g /dev/null
CREATE TEMPORARY TABLE changed AS
SELECT DISTINCT regexp_matches(block_ref, 'rel \d+/\d+/(\d+) fork main blk (\d+)', 'g') AS page
FROM :pg_walinspect.pg_get_wal_records_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn);
DELETE FROM changed
WHERE page[1]::oid NOT IN (SELECT relfilenode FROM pg_class WHERE relnamespace = 'idgen_bench'::regnamespace);
SELECT 'changed_pages', count(*) FROM changed
UNION ALL SELECT 'changed_bytes', count(*) * current_setting('block_size')::int FROM changed;
