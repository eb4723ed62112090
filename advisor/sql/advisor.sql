-- index_report() on tables of 100,000 rows with each kind of key.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
CREATE SCHEMA advisor;
SET search_path = advisor, public;

-- Make a table of rows with intervals of ten seconds, the last one at noon. In
-- the expression, i is the number of the row, and "at" is its time.
CREATE FUNCTION make(scheme text, type text, expression text, rows int DEFAULT 100000, rows_by text DEFAULT 'i') RETURNS regclass
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE UNLOGGED TABLE %I (id %s PRIMARY KEY)', scheme, type);
    EXECUTE format($sql$
        INSERT INTO %I
        SELECT %s FROM (SELECT i, timestamptz '2026-03-01 12:00:00+00' - (%s - i) * interval '10 seconds' AS at
                        FROM generate_series(1, %s) i ORDER BY %s OFFSET 0) s $sql$, scheme, expression, rows, rows, rows_by);
    RETURN scheme::regclass;
END $$;

CREATE SEQUENCE blocks;
CREATE SEQUENCE small_blocks;
CREATE FUNCTION uuid_at(ticks bigint, version int) RETURNS uuid
    LANGUAGE SQL AS $$ SELECT (lpad(to_hex(ticks >> 12), 12, '0') || to_hex(version) || lpad(to_hex(ticks & 4095), 3, '0') ||
                               substr(replace(idgen.uuid_v4()::text, '-', ''), 17))::uuid $$;

CREATE TABLE schemes (number int GENERATED ALWAYS AS IDENTITY, scheme text, type text, expression text);
INSERT INTO schemes (scheme, type, expression) VALUES
    ('uuid_v4', 'uuid', 'idgen.uuid_v4()'),
    ('gen_random_uuid', 'uuid', 'gen_random_uuid()'),
    ('comb', 'uuid', 'idgen.comb(at)'),
    ('suffix_comb', 'uuid', 'idgen.suffix_comb(at)'),
    ('short_comb', 'uuid', 'idgen.short_comb(clock => at)'),
    ('short_comb_1s', 'uuid', 'idgen.short_comb(''1 second'', clock => at)'),
    ('short_comb_30s', 'uuid', 'idgen.short_comb(''30 seconds'', clock => at)'),
    ('short_comb_5min', 'uuid', 'idgen.short_comb(''5 minutes'', clock => at)'),
    ('short_comb_1h', 'uuid', 'idgen.short_comb(''1 hour'', clock => at)'),
    ('short_comb_1d', 'uuid', 'idgen.short_comb(''1 day'', clock => at)'),
    ('short_comb_7s', 'uuid', 'idgen.short_comb(''7 seconds'', clock => at)'),
    ('short_comb_1_byte', 'uuid', 'idgen.short_comb(''1 minute'', 1, clock => at)'),
    ('short_comb_3_bytes', 'uuid', 'idgen.short_comb(''1 minute'', 3, clock => at)'),
    ('short_comb_runs', 'uuid', 'idgen.short_comb(run_length => 1024, clock => at)'),
    ('short_comb_bulk', 'uuid', 'idgen.short_comb(clock => ''2026-03-01 12:00:00+00'')'),
    ('short_comb_bulk_runs', 'uuid', 'idgen.short_comb(run_length => 1024, clock => ''2026-03-01 12:00:00+00'')'),
    ('short_suffix_comb', 'uuid', 'idgen.short_suffix_comb(clock => at)'),
    ('sequence_comb', 'uuid', 'idgen.sequence_comb(''advisor.blocks'')'),
    ('sequence_comb_small', 'uuid', 'idgen.sequence_comb(''advisor.small_blocks'', 1000)'),
    ('uuid_v7', 'uuid', 'idgen.uuid_v7(at)'),
    ('uuid_v7_now', 'uuid', 'idgen.uuid_v7()'),
    ('uuid_v1', 'uuid', 'idgen.uuid_v1()'),
    ('uuid_v6', 'uuid', 'idgen.uuid_v6()'),
    ('lambert_comb', 'uuid', 'idgen.lambert_comb()'),
    ('uuid_v1_at', 'uuid', 'idgen.uuid_v6_to_v1(advisor.uuid_at((139000000000000000 + i * 100000000::bigint), 6))'),
    ('uuid_v6_at', 'uuid', 'advisor.uuid_at((139000000000000000 + i * 100000000::bigint), 6)'),
    ('uuid_v5', 'uuid', 'overlay(overlay(md5(i::text) placing ''5'' from 13) placing ''8'' from 17)::uuid'),
    ('ulid_uuid', 'uuid', 'idgen.ulid_to_uuid(idgen.ulid())'),
    ('uuid_v4_text', 'text', 'idgen.uuid_v4()::text'),
    ('uuid_v7_varchar', 'varchar(40)', 'idgen.uuid_v7(at)::text'),
    ('short_comb_text', 'text COLLATE "C"', 'idgen.short_comb(clock => at)::text'),
    ('ulid', 'text', 'idgen.ulid()'),
    ('typeid', 'text', 'idgen.typeid(''user'')'),
    ('typeid_plain', 'text', 'idgen.typeid()'),
    ('prefixed_id', 'text', 'idgen.prefixed_id(''acct'', idgen.uuid_v7(at))'),
    ('prefixed_id_v4', 'text', 'idgen.prefixed_id(''acct'', idgen.uuid_v4())'),
    ('words', 'text', 'md5(i::text)'),
    ('bigint_identity', 'bigint', 'i'),
    ('integer_gaps', 'int', 'i * 32'),
    ('bigint_random', 'bigint', '(random() * 9.2e18)::bigint'),
    ('bigint_ms', 'bigint', 'extract(epoch FROM at)::bigint * 1000'),
    ('snowflake', 'bigint', 'idgen.snowflake_floor(at, ''2020-01-01 00:00:00+00'') + (7::bigint << 12)'),
    ('js_id', 'bigint', 'idgen.js_id_floor(at, ''2020-01-01 00:00:00+00'') + (3 << 16)'),
    ('trace_id', 'bigint', '((extract(epoch FROM at)::bigint & 33554431) << 38) + (9::bigint << 22) + 1'),
    ('object_id', 'text', 'idgen.object_id_floor(at)'),
    ('object_id_upper', 'varchar(24)', 'upper(idgen.object_id_floor(at))'),
    ('hash_text', 'text', 'left(md5(i::text), 24)'),
    ('decimal_id', 'bigint', 'i * 10000000000::bigint + 9200065'),
    ('mixed', 'uuid', 'CASE WHEN i % 5 < 2 THEN idgen.uuid_v7(at) ELSE idgen.uuid_v4() END'),
    ('changed', 'uuid', 'CASE WHEN i > 60000 THEN idgen.uuid_v7(at) ELSE idgen.uuid_v4() END');

SELECT count(make(scheme, type, expression)) FROM (SELECT * FROM schemes ORDER BY number) s;

-- the reports; estimates are compared with the true values below
CREATE VIEW reports AS
SELECT number, scheme, key_kind, period, index_rows, leaf_pages, leaf_density, fragmentation, heap_correlation,
       newest_leaf_share, page_images_per_row, regexp_replace(regexp_replace(advice, '\([^()]*\d[^()]*\)', '(...)'), 'are on \d+', 'are on N') AS advice
FROM schemes, idgen.index_report(scheme::regclass, clock => CASE WHEN scheme NOT LIKE 'ulid%' THEN timestamptz '2026-03-01 12:00:00+00' END);
CREATE TABLE reported AS SELECT * FROM reports;

SELECT scheme, CASE WHEN key_kind LIKE 'mixed%' THEN regexp_replace(key_kind, '\d+ %', 'N %', 'g') ELSE key_kind END AS key_kind, period
FROM reported ORDER BY number;

-- the shares of mixed kinds
SELECT scheme, abs(substring(key_kind FROM '(\d+) % random')::int - 60) < 5 AS v4, abs(substring(key_kind FROM '(\d+) % UUID v7')::int - 40) < 5 AS v7
FROM reported WHERE key_kind LIKE 'mixed%' ORDER BY number;

-- the advice on random keys depends on the number of rows per checkpoint
SELECT advice, string_agg(scheme, ', ' ORDER BY number) AS schemes
FROM (SELECT number, scheme, regexp_replace(regexp_replace(regexp_replace(advice, 'The keys are random.*', 'The keys are random ...'),
           'only \d+ rows, .*', 'only N rows ...'), '\d+ kB', 'N kB') AS advice FROM reported
      WHERE scheme <> 'short_comb_1h') s    -- which could save about as much as is worth advice
GROUP BY advice ORDER BY min(number);

-- incorrect estimates of rows, and of pages without the metapage and inner pages
SELECT scheme, index_rows, leaf_pages, pages
FROM reported, LATERAL (SELECT pg_relation_size(scheme || '_pkey') / current_setting('block_size')::int AS pages) s
WHERE abs(index_rows - 100000) > 5000 OR leaf_pages NOT BETWEEN 0.95 * pages AND pages;

-- leaf pages are full if keys ascend, and split in the middle otherwise
SELECT CASE WHEN leaf_density > 88 THEN 'full' WHEN leaf_density BETWEEN 45 AND 85 THEN 'split' ELSE leaf_density::text END AS pages,
       string_agg(scheme, ', ' ORDER BY number) AS schemes
FROM reported WHERE scheme NOT IN ('short_comb_1s', 'uuid_v1', 'mixed', 'changed') GROUP BY 1 ORDER BY 1;

-- the pages of the newest rows, and the correlation of key and heap order
SELECT CASE WHEN newest_leaf_share > 0.5 THEN 'most' WHEN newest_leaf_share < 0.15 THEN 'few' ELSE 'some' END AS pages_of_newest,
       CASE WHEN abs(heap_correlation) < 0.1 THEN 'none' WHEN heap_correlation > 0.9 THEN 'in order' ELSE 'some' END AS correlation,
       string_agg(scheme, ', ' ORDER BY number) AS schemes
FROM reported WHERE scheme NOT IN ('short_comb_30s', 'short_comb_7s', 'short_comb_bulk_runs', 'uuid_v1', 'changed') GROUP BY 1, 2 ORDER BY 1, 2;

-- the period cannot be found with a clock of another time
SELECT key_kind, period FROM idgen.index_report('short_comb', clock => '2026-03-08 12:00:00+00');

-- few rows a period after the prefixes have begun again; other columns make the entries longer, not the leaves emptier
CREATE UNLOGGED TABLE few_a_period (id uuid, a bigint, b bigint, PRIMARY KEY (id) INCLUDE (a, b));
CREATE UNIQUE INDEX few_a_period_id ON few_a_period (id);
-- 23 rows a minute, of which the last 65 hours come after the prefixes have begun again
SELECT timestamptz 'epoch' + 456 * 65536 * interval '1 minute' + interval '65 hours' AS last \gset
INSERT INTO few_a_period
SELECT idgen.short_comb(clock => :'last'::timestamptz - (100000 - i) * interval '1 minute' / 23), i, i FROM generate_series(1, 100000) i;
SELECT i AS index, left(advice, 71) AS advice,
       advice ~ 'With short_comb\(.*\), an index on this number of rows would take (3[7-9]|4[0-5])\d\d kB instead of 5\d\d\d kB\. advise_short_comb\(0\.383, \d+\)' AS names_sizes
FROM unnest('{few_a_period_id,few_a_period_pkey}'::regclass[]) i, idgen.index_report(i, clock => :'last');

--
-- Few rows
--
CREATE TABLE few (id uuid PRIMARY KEY);
SELECT key_kind, index_rows, leaf_pages, leaf_density, fragmentation, heap_correlation, newest_leaf_share, advice FROM idgen.index_report('few_pkey');
INSERT INTO few VALUES (idgen.uuid_v4());
SELECT key_kind, index_rows, leaf_pages, round(leaf_density::numeric) AS leaf_density, fragmentation, heap_correlation, newest_leaf_share, advice FROM idgen.index_report('few');
INSERT INTO few SELECT idgen.uuid_v4() FROM generate_series(2, 99);
SELECT key_kind, index_rows, leaf_pages FROM idgen.index_report('few');
INSERT INTO few VALUES (idgen.uuid_v4());
SELECT key_kind, index_rows, leaf_pages, advice FROM idgen.index_report('few');
DELETE FROM few;
SELECT newest_leaf_share FROM idgen.index_report('few');

--
-- Kinds of indexes
--

-- functions in an index are not called; an index on an expression is an error
CREATE FUNCTION turn(id uuid) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN idgen.short_suffix_to_prefix(id); END';
CREATE FUNCTION is_even(note int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN note % 2 = 0; END';
CREATE TABLE sorts (id uuid, number int, parent uuid, word text);
INSERT INTO sorts
SELECT idgen.short_suffix_comb(clock => timestamptz '2026-03-01 12:00:00+00' - (20000 - i) * interval '10 seconds'), i,
       ('00000000-0000-7000-8000-0000000000' || to_char(i % 50, 'FM00'))::uuid, NULLIF(i % 10, 0)
FROM generate_series(1, 20000) i;
CREATE INDEX sorts_turned ON sorts (turn(id));
CREATE INDEX sorts_even ON sorts (number) WHERE is_even(number);
CREATE OR REPLACE FUNCTION turn(id uuid) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''called''; END';
CREATE OR REPLACE FUNCTION is_even(note int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''called''; END';
SELECT idgen.index_report('sorts_turned');
SELECT key_kind, index_rows, round((newest_leaf_share * leaf_pages)::numeric) AS pages_of_newest FROM idgen.index_report('sorts_even', 300);
DROP INDEX sorts_turned, sorts_even;

-- functions of an operator class that is not built in are not called either:
-- no newest rows are read; in the first column it is an error
CREATE FUNCTION compare(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN btint4cmp($1, $2); END';
CREATE OPERATOR CLASS other_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 3 =, FUNCTION 1 compare(int, int);
CREATE TABLE compared AS SELECT idgen.short_suffix_to_prefix(id) AS id, number / 2 AS number FROM sorts;
CREATE INDEX compared_id ON compared (id, number other_ops);
CREATE INDEX compared_number ON compared (number other_ops);
CREATE OR REPLACE FUNCTION compare(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE ''called''; END';
SELECT key_kind, period, abs(index_rows - 20000) < 1000 AS rows, newest_leaf_share, advice
FROM idgen.index_report('compared_id', clock => '2026-03-01 12:00:00+00');

-- index tuples of many rows, and nulls
CREATE INDEX sorts_parent ON sorts (parent);
CREATE INDEX sorts_word ON sorts (word DESC, number);
CREATE INDEX sorts_number ON sorts (number DESC NULLS LAST) INCLUDE (word);
SELECT i AS index, key_kind, index_rows, round((newest_leaf_share * leaf_pages)::numeric) AS pages_of_newest, heap_correlation > 0.99 AS in_order
FROM (VALUES ('sorts_parent'), ('sorts_word'), ('sorts_number')) v (i), idgen.index_report(i, 100);

-- a domain
CREATE DOMAIN order_id AS uuid;
CREATE TABLE orders (id order_id PRIMARY KEY);
INSERT INTO orders SELECT idgen.uuid_v7() FROM generate_series(1, 1000);
SELECT key_kind FROM idgen.index_report('orders');

-- a temporary table
CREATE TEMPORARY TABLE passing (id uuid PRIMARY KEY);
INSERT INTO passing SELECT idgen.comb() FROM generate_series(1, 1000);
SELECT key_kind FROM idgen.index_report('passing');

-- a partition
CREATE TABLE parted (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT idgen.uuid_v6() FROM generate_series(1, 1000);
SELECT key_kind FROM idgen.index_report('part_pkey');

-- rows sorted by random keys are not taken for short COMBs
CREATE TABLE sorted (id uuid PRIMARY KEY);
INSERT INTO sorted SELECT id FROM uuid_v4 ORDER BY id;
SELECT key_kind, heap_correlation > 0.99 AS in_order FROM idgen.index_report('sorted');

-- pages without rows, before and after VACUUM deletes them
DELETE FROM uuid_v7 WHERE id < idgen.uuid_v7_floor('2026-02-28 12:00:00+00');
SELECT key_kind, index_rows FROM idgen.index_report('uuid_v7');
VACUUM uuid_v7;
SELECT key_kind, abs(index_rows - 8641) < 2500 AS rows, abs(leaf_pages - 31) < 9 AS pages FROM idgen.index_report('uuid_v7');

-- in a read-only transaction
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY;
SELECT key_kind FROM idgen.index_report('comb');
COMMIT;

--
-- Other keys, and other orders of rows
--
TRUNCATE schemes RESTART IDENTITY;
INSERT INTO schemes (scheme, type, expression) VALUES
    ('small', 'smallint', 'i'),
    ('uuid_v7_char', 'character(40)', 'idgen.uuid_v7(at)::text'),
    ('almost_uuid', 'text', 'overlay(idgen.uuid_v7(at)::text placing ''_'' from 9)'),
    ('long_words', 'text', 'repeat(''x'', 5000) || i'),
    ('uuid_v8', 'uuid', 'overlay(overlay(md5(i::text) placing ''8'' from 13) placing ''8'' from 17)::uuid'),
    ('uuid_ncs', 'uuid', 'overlay(md5(i::text) placing ''0'' from 17)::uuid'),
    ('uuid_v7_shuffled', 'uuid', 'idgen.uuid_v7(at)'),
    ('uuid_v1_shuffled', 'uuid', 'idgen.uuid_v6_to_v1(advisor.uuid_at((139000000000000000 + i * 100000000::bigint), 6))');
SELECT count(make(scheme, type, expression, 2000, CASE WHEN scheme LIKE '%shuffled' THEN 'md5(i::text)' ELSE 'i' END)) FROM schemes;
SELECT scheme, key_kind, regexp_replace(regexp_replace(advice, '\d+ leaf pages', 'N leaf pages'), '\d+ kB', 'N kB') AS advice FROM schemes, idgen.index_report(scheme::regclass, clock => '2026-03-01 12:00:00+00') ORDER BY number;

-- equal keys
CREATE TABLE same (id int);
INSERT INTO same SELECT 1 FROM generate_series(1, 150);
CREATE INDEX same_id ON same (id);
SELECT key_kind FROM idgen.index_report('same_id');

-- a partial index after HOT updates, whose new row versions it does not point to
CREATE TABLE hot (id uuid DEFAULT idgen.short_comb(), live boolean, n int) WITH (fillfactor = 40);
CREATE INDEX hot_id ON hot (id) WHERE live;
INSERT INTO hot SELECT idgen.short_comb(clock => '2026-03-01 12:00:00+00'), i % 2 = 0, 0 FROM generate_series(1, 2000) i;
UPDATE hot SET n = 1;
SELECT key_kind, newest_leaf_share FROM idgen.index_report('hot_id', clock => '2026-03-01 12:00:00+00');
DROP TABLE hot;

-- a partial index on one row of each page
CREATE TABLE sparse (id uuid DEFAULT idgen.uuid_v7(), live boolean, filler text);
ALTER TABLE sparse ALTER filler SET STORAGE PLAIN;
CREATE INDEX sparse_id ON sparse (id) WHERE live;
INSERT INTO sparse (live, filler) SELECT i % 2 = 0, repeat('x', 5000) FROM generate_series(1, 300) i;
SELECT index_rows, newest_leaf_share FROM idgen.index_report('sparse_id');
DROP TABLE sparse;

-- rows that a partial index does not contain, with keys too long for it
CREATE TABLE wide (id uuid, a text, b text, c text, d text, e text, f text, g text, h text, i text);
DO $$
BEGIN
    FOR c IN 97 .. 105 LOOP
        EXECUTE format('ALTER TABLE wide ALTER COLUMN %I SET STORAGE EXTERNAL', chr(c));
    END LOOP;
END $$;
CREATE INDEX wide_id ON wide (id, a, b, c, d, e, f, g, h, i) WHERE a < 'x';
INSERT INTO wide SELECT gen_random_uuid(), x, x, x, x, x, x, x, x, x
FROM generate_series(1, 150) i, repeat(CASE WHEN i % 10 = 0 THEN 'x' ELSE 'a' END, CASE WHEN i % 10 = 0 THEN 980 ELSE 1 END) x;
SELECT key_kind, index_rows FROM idgen.index_report('wide_id');

-- identifiers of another time than the clock
SELECT scheme, key_kind FROM (VALUES ('snowflake'), ('ulid')) v (scheme), idgen.index_report(scheme::regclass, clock => '2025-03-01 12:00:00+00');

-- pages after the deletion of most rows
DELETE FROM short_comb WHERE hashtext(id::text) % 3 <> 0;
DELETE FROM comb WHERE hashtext(id::text) % 3 <> 0;
VACUUM short_comb, comb;
SELECT scheme, leaf_density < 40 AS low, regexp_replace(regexp_replace(advice, '\d+ %', 'N %'), '\d+ kB', 'N kB') AS advice
FROM (VALUES ('short_comb'), ('comb')) v (scheme), idgen.index_report(scheme::regclass, clock => '2026-03-01 12:00:00+00');

--
-- Null arguments and errors
--
SELECT * FROM idgen.index_report(NULL);
SELECT key_kind FROM idgen.index_report('comb', NULL);
SELECT idgen.index_report('comb', 0);
SELECT idgen.index_report('comb', 100001);
SELECT idgen.index_report(0);
SELECT idgen.index_report('parted');
SELECT idgen.index_report('parted_pkey');
SELECT idgen.index_report('sorts');
SELECT idgen.index_report('reports');
SELECT idgen.index_report('blocks');
CREATE INDEX sorts_hash ON sorts USING hash (id);
SELECT idgen.index_report('sorts_hash');
SELECT idgen.index_report('compared_number');
SELECT idgen.index_report('pg_catalog.pg_class_oid_index');
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY sorts_broken ON sorts (parent);
\set VERBOSITY default
SELECT idgen.index_report('sorts_broken');

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA advisor CASCADE;
