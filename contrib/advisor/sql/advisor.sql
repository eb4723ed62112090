\set ECHO none
-- index_report(): columns, kinds of indexes, released locks, and errors. t/003_zoo.pl compares its figures with
-- measurements, and t/005_advice.pl tests its advice.
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA advisor;
SET search_path = advisor, public;

CREATE DOMAIN word AS text COLLATE "C";
CREATE TABLE things (id uuid PRIMARY KEY DEFERRABLE, number int, word word, parent int);
INSERT INTO things
SELECT md5(i::text)::uuid, i, to_char(i, 'FM000000'), hashint4(i) & 15 FROM generate_series(1, 20000) i;
CREATE INDEX things_word ON things (word);
CREATE INDEX things_descending ON things (number DESC NULLS LAST) INCLUDE (word);
CREATE INDEX things_composite ON things (parent, id);
CREATE INDEX things_expression ON things (lower(word));
CREATE INDEX things_partial ON things (number) WHERE number % 2 = 0;
-- report on small tables without new rows
CREATE TABLE empty (id int PRIMARY KEY);
CREATE TABLE few (id int PRIMARY KEY);
INSERT INTO few SELECT generate_series(1, 300);

SELECT r.index_name, table_name, key_columns, rows,
       leaf_pages BETWEEN 1 AND index_bytes / current_setting('block_size')::int AS pages,
       leaf_density BETWEEN 0.5 AND 1 AS density, reindex_saves_bytes,
       newest_leaf_share > 0 AS share, placement, images_per_row, wal_per_row, reason
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid, idgen.index_report(c.oid) r
WHERE c.relnamespace = 'advisor'::regnamespace
ORDER BY r.index_name::text COLLATE "C";
-- use keys of maximum length, in an index with more pages than the report reads, and one row per checkpoint
CREATE TABLE long (id text);
ALTER TABLE long ALTER COLUMN id SET STORAGE EXTERNAL;
INSERT INTO long SELECT rpad(md5(i::text), 1996, 'x') FROM generate_series(1, 7000) i;
CREATE INDEX long_id ON long (id COLLATE "C");
SELECT 'long keys', placement, round(images_per_row::numeric, 2), wal_per_row > 0 FROM idgen.index_report('long_id', 1);
-- the newest rows are at the beginning of a table of 132 blocks, all of which are read
CREATE TABLE turned (id int PRIMARY KEY, number bigint UNIQUE, note text DEFAULT repeat('x', 950));
INSERT INTO turned SELECT -i, i # 85 FROM generate_series(1, 900) i;
INSERT INTO turned SELECT -i, i # 85 FROM generate_series(901, 1056) i;
CLUSTER turned USING turned_pkey;
SELECT 'newest rows elsewhere', placement FROM idgen.index_report('turned_number_key');
-- report on an index that has no pages because it is being built
CREATE FUNCTION rows_now(int) RETURNS bigint IMMUTABLE LANGUAGE sql AS
$$SELECT rows FROM idgen.index_report('advisor.few_now'::text::regclass)$$;
CREATE INDEX few_now ON few (rows_now(id)) WHERE id = 1;
SELECT 'of NULL', r.* FROM idgen.index_report(NULL) r;

-- no locks remain, and a serializable transaction does not conflict with others
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT 'serializable', i, placement FROM unnest('{things_word,things}'::regclass[]) i, idgen.index_report(i);
SELECT 'locks', count(*) FROM pg_locks
WHERE pid = pg_backend_pid() AND (mode = 'SIReadLock' AND relation >= 16384
                                  OR relation = ANY ('{things,things_word,things_pkey}'::regclass[]));
COMMIT;

SELECT 'the largest first', array_agg(index_bytes) = array_agg(index_bytes ORDER BY index_bytes DESC),
       min(index_bytes) >= 300000
FROM idgen.index_reports(300000);

-- raise the errors of index_report()
CREATE TABLE parted (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE VIEW viewed AS SELECT 1 AS one;
CREATE INDEX things_hashed ON things USING hash (id);
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY things_broken ON things (parent);
CREATE FUNCTION refusal(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
    context text;
BEGIN
    EXECUTE format('SELECT idgen.index_report(%s)', arguments);
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
                            context = PG_EXCEPTION_CONTEXT;
    -- the context consists of one or two lines of index_report() and two lines of this function
    RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''),
                     regexp_count(context, '$', 1, 'n') || ' lines of context');
END $$;
SELECT arguments, refusal(arguments)
FROM unnest(ARRAY[$$'things', 0$$, $$'things', checkpoint => NULL$$, $$'things', checkpoint => '0'$$,
                  $$'things', checkpoint => '2 years'$$, '0', $$'parted'$$, $$'long'$$, $$'viewed'$$,
                  $$'things_hashed'$$, $$'things_broken'$$]) arguments;

SET client_min_messages = warning;
DROP SCHEMA advisor CASCADE;
