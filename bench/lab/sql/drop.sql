-- Drop the tables of a scene that has ended.
SELECT 'DROP TABLE idgen_bench.' || quote_ident(tablename) FROM pg_tables WHERE schemaname = 'idgen_bench' \gexec
