-- The state of the index after the inserts and, with pg_walinspect, the parts of
-- the WAL from :lsn to :end_lsn (both in bytes). A row is "name value"; lab_after
-- divides the totals by the number of rows.
SELECT 'index_bytes', index_size FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index')
UNION ALL SELECT 'leaf_density', avg_leaf_density FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index')
UNION ALL SELECT 'leaf_fragmentation', leaf_fragmentation FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index');
\if :has_buffercache
SELECT 'cached_bytes', count(*) * current_setting('block_size')::int
FROM :pg_buffercache.pg_buffercache
WHERE relfilenode = pg_relation_filenode('idgen_bench.' || :'index')
  AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database());
\endif
\if :has_walinspect
-- flush the WAL of inserts with synchronous_commit off
SET synchronous_commit = local;
SELECT pg_logical_emit_message(true, 'idgen_bench', '') \g /dev/null
CREATE TEMPORARY TABLE wal AS
    SELECT "resource_manager/record_type" AS manager, record_size, fpi_size
    FROM :pg_walinspect.pg_get_wal_stats('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn, false);
SELECT 'total_fpi_bytes', sum(fpi_size) FROM wal
UNION ALL SELECT 'total_wal_heap', coalesce(sum(record_size) FILTER (WHERE manager ~ '^Heap'), 0) FROM wal
UNION ALL SELECT 'total_wal_btree', coalesce(sum(record_size) FILTER (WHERE manager = 'Btree'), 0) FROM wal
UNION ALL SELECT 'total_wal_other', coalesce(sum(record_size) FILTER (WHERE manager !~ '^(Heap|Btree)'), 0) FROM wal;
\if :want_touches
CREATE TEMPORARY TABLE touch (number bigint, block int);
\if :has_block_info
\ir touch_block_info.sql
\else
\ir touch_records.sql
\endif
SELECT 'touched_leaf_pages', count(DISTINCT block) FROM touch;
\if :want_strip
\o :strip
\ir strip.sql
\o
\endif
\endif
\endif
