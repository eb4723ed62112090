-- Wait until earlier sessions have ended. Then print the counters whose differences are measurements, one "name value"
-- per line: WAL of the whole server, blocks of the index, and the latest checkpoint.
\ir settle.sql
SELECT 'wal_bytes_per_row', wal_bytes FROM pg_stat_wal
UNION ALL SELECT 'fpi_per_row', wal_fpi FROM pg_stat_wal
UNION ALL SELECT 'reads_per_row', coalesce(idx_blks_read, 0) FROM pg_statio_user_indexes WHERE indexrelname = :'index'
UNION ALL SELECT 'redo', redo_lsn - '0/0' FROM pg_control_checkpoint()
UNION ALL SELECT 'lsn', pg_current_wal_insert_lsn() - '0/0';
