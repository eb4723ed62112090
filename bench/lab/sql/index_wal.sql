-- Print the WAL of the index from :lsn to :end_lsn (both in bytes) and its full-page images, both per row for :rows
-- rows.
SET synchronous_commit = local;
SELECT pg_logical_emit_message(true, 'idgen_bench', '') \g /dev/null

-- An image has the form "blkref #0: rel 1663/5/16436 fork main blk 54 (FPW); hole: ..."
SELECT name, round(value / :rows::numeric, 6)
FROM (SELECT sum(record_length) AS bytes,
             sum((length(block_ref) - length(replace(block_ref, '(FPW)', ''))) / length('(FPW)')) AS images
      FROM idgen_bench.pg_get_wal_records_info('0/0'::pg_lsn + :lsn, '0/0'::pg_lsn + :end_lsn)
      WHERE block_ref LIKE 'blkref #0: rel %/' || pg_relation_filenode('idgen_bench.rows_pkey') || ' %') written,
     LATERAL (VALUES ('index_wal_bytes_per_row', bytes), ('index_images_per_row', images)) metric (name, value);
