-- For read.sql and range.sql: the operators of idgen.objectid are found, and each
-- row is looked up by the index.
SELECT set_config('search_path', current_setting('search_path') || ', idgen', false) \g /dev/null
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
