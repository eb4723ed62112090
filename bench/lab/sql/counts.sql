-- The counters whose difference is a measurement, after earlier sessions have
-- ended: WAL of the whole server, the latest checkpoint, and blocks of the index.
\ir settle.sql
SELECT 'wal_bytes', wal_bytes FROM pg_stat_wal
UNION ALL SELECT 'wal_fpi', wal_fpi FROM pg_stat_wal
UNION ALL SELECT 'redo', (redo_lsn - '0/0') FROM pg_control_checkpoint()
UNION ALL SELECT 'lsn', pg_current_wal_insert_lsn() - '0/0'
UNION ALL SELECT 'read', coalesce(idx_blks_read, 0) FROM pg_statio_user_indexes
          WHERE schemaname = 'idgen_bench' AND indexrelname = :'index';
