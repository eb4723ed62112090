-- The state of the index after the inserts and, with pg_walinspect, the leaves that
-- the WAL from :lsn to :end_lsn (both in bytes) touches. A row is "name value".
SELECT 'index_bytes', index_size FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index')
UNION ALL SELECT 'leaf_density', avg_leaf_density FROM :pgstattuple.pgstatindex('idgen_bench.' || :'index');
\if :want_touches
-- flush the WAL of inserts with synchronous_commit off
SET synchronous_commit = local;
SELECT pg_logical_emit_message(true, 'idgen_bench', '') \g /dev/null
\ir touch.sql
\if :want_strip
\o :strip
\ir strip.sql
\o
\endif
\endif
