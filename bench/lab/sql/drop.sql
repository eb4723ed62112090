-- The tables of a scene that is over.
SELECT 'DROP TABLE idgen_bench.' || quote_ident(tablename) FROM pg_tables WHERE schemaname = 'idgen_bench' \gexec
