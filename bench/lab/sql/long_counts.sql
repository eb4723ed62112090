-- The counters whose differences are the measurements of long.sh, "name value" a line.
SELECT :SERVER_VERSION_NUM >= 160000 AS has_io, :SERVER_VERSION_NUM >= 170000 AS has_checkpointer,
       :SERVER_VERSION_NUM >= 180000 AS has_bytes \gset
\ir settle.sql
SELECT 'wal_bytes_per_row', wal_bytes FROM pg_stat_wal
UNION ALL SELECT 'fpi_per_row', wal_fpi FROM pg_stat_wal
UNION ALL SELECT 'reads_per_row', idx_blks_read FROM pg_statio_user_tables WHERE relid = 'idgen_bench.long'::regclass
UNION ALL SELECT 'heap_reads_per_row', heap_blks_read FROM pg_statio_user_tables
          WHERE relid = 'idgen_bench.long'::regclass
UNION ALL SELECT 'index_bytes', pg_indexes_size('idgen_bench.long')
UNION ALL SELECT 'heap_bytes', pg_table_size('idgen_bench.long');
\if :has_checkpointer
SELECT 'checkpoints', num_timed + num_requested FROM pg_stat_checkpointer
UNION ALL SELECT 'checkpoint_bytes', buffers_written * current_setting('block_size')::bigint FROM pg_stat_checkpointer;
\else
SELECT 'checkpoints', checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter
UNION ALL SELECT 'checkpoint_bytes', buffers_checkpoint * current_setting('block_size')::bigint FROM pg_stat_bgwriter;
\endif
\if :has_bytes
SELECT 'backend_bytes', sum(write_bytes) FROM pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation';
\elif :has_io
SELECT 'backend_bytes', sum(writes * op_bytes) FROM pg_stat_io
WHERE backend_type = 'client backend' AND object = 'relation';
\else
SELECT 'backend_bytes', buffers_backend * current_setting('block_size')::bigint FROM pg_stat_bgwriter;
\endif
