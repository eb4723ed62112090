-- Print the settings that affect the figures as lines of a CSV file.
COPY (
    SELECT name, current_setting(name) FROM pg_settings
    WHERE name IN ('autovacuum', 'block_size', 'checkpoint_timeout', 'data_checksums', 'fsync', 'full_page_writes',
                   'idgen.node_id', 'max_connections', 'max_wal_size', 'server_version', 'shared_buffers',
                   'synchronous_commit', 'wal_buffers', 'wal_compression', 'wal_level', 'wal_log_hints')
    ORDER BY name
) TO STDOUT (FORMAT csv);
