-- index_report(): columns, kinds of indexes, rights of locks, and errors.
-- t/003_zoo.pl compares its figures with measurements.
\pset format unaligned
\pset tuples_only on
\set ECHO none
CREATE SCHEMA advisor;
SET search_path = advisor, public;

-- 20,000 rows; the last 2,000 were inserted by other transactions
CREATE TABLE things (id uuid PRIMARY KEY, number int, word text, padded char(40), name varchar(40), parent int);
CREATE PROCEDURE add_things(first int, last int) LANGUAGE sql AS $$
    INSERT INTO advisor.things
    SELECT md5(i::text)::uuid, i, md5(i::text), md5(i::text)::uuid::text, md5(i::text)::uuid::text, hashint4(i) & 15
    FROM generate_series(first, last) i $$;
CALL add_things(1, 18000);
CALL add_things(18001, 19000);
CALL add_things(19001, 20000);
CREATE DOMAIN word AS text COLLATE "C";
CREATE TABLE words (word word);
INSERT INTO words SELECT to_char(i, 'FM000000') FROM generate_series(1, 20000) i;

CREATE INDEX things_number ON things (number);
CREATE INDEX things_descending ON things (number DESC NULLS LAST) INCLUDE (word);
CREATE INDEX things_composite ON things (parent, id);
CREATE INDEX things_word ON things (word COLLATE "C");
CREATE INDEX things_padded ON things (padded COLLATE "C");
CREATE INDEX things_name ON things (name COLLATE "C");
CREATE INDEX things_expression ON things (lower(word));
CREATE INDEX things_partial ON things (number) WHERE number % 2 = 0;
CREATE INDEX words_word ON words (word);

-- the error of a call of index_report()
CREATE FUNCTION refusal(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE format('SELECT idgen.index_report(%s)', arguments);
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
\set ECHO all
SELECT r.index_name, table_name, key_columns, rows, leaf_pages BETWEEN 1 AND index_bytes / current_setting('block_size')::int AS pages,
       leaf_density BETWEEN 0.5 AND 1 AS density, reindex_saves_bytes, newest_leaf_share > 0 AS share, placement, images_per_row, wal_per_row
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid, idgen.index_report(c.oid) r
WHERE c.relnamespace = 'advisor'::regnamespace
ORDER BY r.index_name::text COLLATE "C";
-- with a number of rows in a checkpoint interval, also images and WAL
SELECT index_name, round(images_per_row::numeric, 3) AS images, wal_per_row BETWEEN 50 AND 2000 AS wal
FROM unnest('{things_number,things_descending,things_expression}'::regclass[]) i, idgen.index_report(i, 1000);
-- the advice on text
SELECT index_name, regexp_replace(advice, 'about \d+ kB', 'about N kB') AS advice
FROM unnest('{things_word,things_padded,things_name}'::regclass[]) i, idgen.index_report(i);
-- random keys can change only if they are the table's own
CREATE TABLE parts (thing uuid UNIQUE WITH (fillfactor = 50) REFERENCES things, own uuid UNIQUE WITH (fillfactor = 50), again uuid);
INSERT INTO parts SELECT id, id, id FROM things;
CREATE INDEX parts_again ON parts (again) WITH (fillfactor = 50);
CREATE UNIQUE INDEX parts_pair ON parts (own, again) WITH (fillfactor = 50);
REINDEX TABLE parts;
SELECT index_name, placement, regexp_replace(advice, '\d+', 'N', 'g') AS advice
FROM unnest('{parts_thing_key,parts_own_key,parts_again,parts_pair}'::regclass[]) i, idgen.index_report(i);

-- rows that were updated are not new
UPDATE things SET word = 'x', number = number WHERE number % 80 = 0;
SELECT placement FROM idgen.index_report('things_number');
-- nor are there new rows in a small table
CREATE TABLE few (id int PRIMARY KEY);
SELECT rows, index_bytes, leaf_pages, leaf_density, fragmentation, reindex_saves_bytes, newest_leaf_share, placement, advice
FROM idgen.index_report('few');
INSERT INTO few SELECT generate_series(1, 300);
SELECT rows, leaf_pages, newest_leaf_share, placement FROM idgen.index_report('few');

-- keys that are too long for a partial index, or stored elsewhere
CREATE TABLE wide (id text, more text);
ALTER TABLE wide ALTER COLUMN id SET STORAGE EXTERNAL;
CREATE INDEX wide_id ON wide (id COLLATE "C") WHERE length(id) < 100;
INSERT INTO wide SELECT md5(i::text) || repeat('x', CASE WHEN i % 3 = 0 THEN 3000 ELSE 0 END) FROM generate_series(1, 5000) i;
SELECT rows, placement FROM idgen.index_report('wide_id');

-- no locks remain; a serializable transaction does not conflict with others
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT placement FROM unnest('{things_number,things}'::regclass[]) i, idgen.index_report(i);
SELECT count(*) AS locks FROM pg_locks
WHERE pid = pg_backend_pid() AND (mode = 'SIReadLock' AND relation >= 16384
                                  OR relation = ANY ('{things,things_number,things_pkey}'::regclass[]));
COMMIT;

-- all indexes of the database from a size; what cannot be read has a reason
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY things_broken ON things (parent);
\set VERBOSITY default
SELECT index_name, table_name, rows IS NULL AS unread, advice
FROM idgen.index_reports(0) WHERE index_name IN ('things_broken'::regclass, 'few_pkey'::regclass) ORDER BY index_name::text;
SELECT count(*) > 10 AS reports, bool_and(index_bytes >= 300000) AS large,
       array_agg(index_bytes) = array_agg(index_bytes ORDER BY index_bytes DESC) AS sorted
FROM idgen.index_reports(300000);
SELECT count(*) FROM idgen.index_reports(1000000000000);

-- null arguments and errors
SELECT * FROM idgen.index_report(NULL);
CREATE TABLE parted (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE VIEW viewed AS SELECT 1 AS one;
CREATE INDEX things_hashed ON things USING hash (id);
SELECT refusal(arguments)
FROM unnest(ARRAY[$$'things', NULL, NULL$$, $$'things', 0$$, $$'things', newest_rows => 0$$,
                  $$'things', newest_rows => 100001$$, '0', $$'parted'$$, $$'words'$$, $$'viewed'$$,
                  $$'things_hashed'$$, $$'things_broken'$$]) arguments;
SELECT placement IS NOT NULL AS catalog FROM idgen.index_report('pg_catalog.pg_class_oid_index');

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA advisor CASCADE;
