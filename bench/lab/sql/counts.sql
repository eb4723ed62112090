-- The counters whose difference is a measurement, after earlier sessions have
-- ended: WAL of the whole server, the latest checkpoint, and blocks of the index.
\ir settle.sql
SELECT 'wal_bytes', wal_bytes FROM pg_stat_wal
UNION ALL SELECT 'wal_fpi', wal_fpi FROM pg_stat_wal
UNION ALL SELECT 'redo', (redo_lsn - '0/0') FROM pg_control_checkpoint()
UNION ALL SELECT 'lsn', pg_current_wal_insert_lsn() - '0/0'
UNION ALL SELECT 'hit', coalesce(idx_blks_hit, 0) FROM pg_statio_user_indexes
          WHERE schemaname = 'idgen_bench' AND indexrelname = :'index'
UNION ALL SELECT 'read', coalesce(idx_blks_read, 0) FROM pg_statio_user_indexes
          WHERE schemaname = 'idgen_bench' AND indexrelname = :'index';
\if :has_stat_io
SELECT 'evictions', coalesce(sum(evictions), 0) FROM pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation'
UNION ALL
SELECT 'writes', coalesce(sum(writes), 0) FROM pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation';
\endif
