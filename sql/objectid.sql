-- The type objectid, its order, and object_id().
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE FUNCTION failure(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;

-- the lines of a plan that say how it gets at its rows, the same in all versions
CREATE FUNCTION plan(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Scan|Index Cond|Join|HashAggregate|Unique|Partial' THEN
            RETURN NEXT regexp_replace(line, '^[ ->]*', '');
        END IF;
    END LOOP;
END $$;

--
-- Input and output
--
SELECT input, input::idgen.objectid AS id, idgen.objectid_send(input::idgen.objectid) AS sent
FROM (VALUES ('507f1f77bcf86cd799439011'), ('507F1F77BCF86CD799439011'), ('507f1F77bCf86cD799439011'),
             ('000000000000000000000000'), ('ffffffffffffffffffffffff'), ('FFFFFFFFFFFFFFFFFFFFFFFF'),
             ('0123456789abcdefABCDEF01')) v (input);

-- nothing else is read, and a long text is not shown to its end
CREATE TABLE bad_texts (input text);
INSERT INTO bad_texts VALUES
    (''), ('5'), ('507f1f77bcf86cd79943901'), ('507f1f77bcf86cd7994390111'), (' 507f1f77bcf86cd799439011'),
    ('507f1f77bcf86cd799439011 '), ('507f1f77bcf86cd79943901 '), ('507f1f77bcf86cd79943901g'), ('g07f1f77bcf86cd799439011'),
    ('507f1f77-cf86cd799439011'), ('0x7f1f77bcf86cd799439011'), ('507f1f77bcf86cd799439@11'), ('507f1f77bcf86cd799439`11'),
    ('507f1f77bcf86cd799439/11'), ('507f1f77bcf86cd799439:11'), ('507f1f77bcf86cd799439G11'),
    ('507f1f77bcf86cd79943901' || chr(233)), ('507f1f77bcf86cd7994390' || chr(233)), (repeat(chr(8364), 8)), (repeat(chr(8364), 1000)),
    ('x' || repeat(chr(8364), 1000)), ('919108f7-52d1-4320-9bac-f847db4148a8');
\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
SELECT left(input, 40), f.* FROM bad_texts, failure(format('SELECT %L::idgen.objectid', input)) f;
\pset tuples_only off
\pset fieldsep '|'
\pset format aligned

-- from version 16 on, they can be refused without an error
CREATE FUNCTION is_valid(input text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    valid boolean;
BEGIN
    IF current_setting('server_version_num')::int >= 160000 THEN
        EXECUTE $q$ SELECT pg_input_is_valid($1, 'idgen.objectid') $q$ INTO valid USING input;
        RETURN valid;
    END IF;
    RETURN (failure(format('SELECT %L::idgen.objectid', input))).state IS NULL;
END $$;
SELECT count(*) AS bad, count(*) FILTER (WHERE is_valid(input)) AS valid FROM bad_texts;
SELECT is_valid('507f1f77bcf86cd799439011') AS valid;
DROP FUNCTION is_valid;
DROP TABLE bad_texts;

--
-- Casts
--
SELECT '507f1f77bcf86cd799439011'::idgen.objectid::bytea AS bytes, '\x507f1f77bcf86cd799439011'::bytea::idgen.objectid AS id,
       '507f1f77bcf86cd799439011'::idgen.objectid::text AS text, upper('507f1f77bcf86cd799439011')::text::idgen.objectid AS from_text;
SELECT castcontext, castsource::regtype, casttarget::regtype
FROM pg_cast WHERE 'idgen.objectid'::regtype IN (castsource, casttarget) ORDER BY castsource::regtype::text;
SELECT length, f.* FROM (VALUES (0), (1), (11), (13), (16), (100000)) v (length),
    failure(format('SELECT decode(repeat(''ab'', %s), ''hex'')::idgen.objectid', length)) f;
-- of a stored value, too: with a short header, compressed, and out of line
CREATE TABLE bytes (b bytea);
INSERT INTO bytes VALUES ('\x507f1f77bcf86cd799439011'), (decode(repeat('00', 100000), 'hex'));
SELECT length(b), (failure(format('SELECT b::idgen.objectid FROM bytes WHERE length(b) = %s', length(b)))).* FROM bytes ORDER BY 1;
SELECT b::idgen.objectid FROM bytes WHERE length(b) = 12;
DROP TABLE bytes;

--
-- Order: that of the bytes
--
SELECT opcname, amname, amvalidate(c.oid), (SELECT array_agg(amproc ORDER BY amprocnum) FROM pg_amproc WHERE amprocfamily = opcfamily) AS support
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcintype = 'idgen.objectid'::regtype ORDER BY amname;

-- every operator, between neighbours that differ in one byte, the sign bit's included
SELECT a, b, a OPERATOR(idgen.<) b AS lt, a OPERATOR(idgen.<=) b AS le, a OPERATOR(idgen.=) b AS eq,
       a OPERATOR(idgen.<>) b AS ne, a OPERATOR(idgen.>=) b AS ge, a OPERATOR(idgen.>) b AS gt, sign(idgen.objectid_cmp(a, b)) AS cmp
FROM (VALUES ('507f1f77bcf86cd799439011'::idgen.objectid, '507f1f77bcf86cd799439011'::idgen.objectid),
             ('507f1f77bcf86cd799439011', '507f1f77bcf86cd799439012'),
             ('507f1f77bcf86cd799439012', '507f1f77bcf86cd799439011'),
             ('7fffffffffffffffffffffff', '800000000000000000000000'),
             ('00000000000000007fffffff', '000000000000000080000000'),
             ('0000000000000000ffffffff', '000000000000000100000000'),
             ('ffffffffffffffffffffffff', '000000000000000000000000'),
             (NULL, '000000000000000000000000')) v (a, b);

SET search_path = public, idgen;

-- enough random ones that some share their first bytes, and each three times
CREATE TABLE made (id objectid, b bytea, n int);
INSERT INTO made
SELECT b::objectid, b, n
FROM (SELECT substr(sha256(n::text::bytea), 1, n % 13) || substr(decode(repeat('7f80', 6), 'hex'), n % 13 + 1) AS b, n
      FROM generate_series(1, 40000) n, generate_series(1, 3)) s
ORDER BY sha256(b || n::text::bytea);
ANALYZE made;

SET work_mem = '64MB';
SELECT count(*) AS rows, count(*) FILTER (WHERE by_id <> by_bytes) AS differ
FROM (SELECT dense_rank() OVER (ORDER BY id) AS by_id, dense_rank() OVER (ORDER BY b) AS by_bytes FROM made) s;
SELECT count(*) FILTER (WHERE by_id <> by_bytes) AS differ_descending
FROM (SELECT dense_rank() OVER (ORDER BY id DESC) AS by_id, dense_rank() OVER (ORDER BY b DESC) AS by_bytes FROM made) s;
-- on disk, and with few different first bytes, where abbreviated keys do not pay
SET work_mem = '64kB';
SELECT count(*) AS rows, count(*) FILTER (WHERE by_id <> by_bytes) AS differ
FROM (SELECT dense_rank() OVER (ORDER BY id) AS by_id, dense_rank() OVER (ORDER BY b) AS by_bytes FROM made) s;
RESET work_mem;
SELECT count(*) AS rows, count(*) FILTER (WHERE id <= previous) AS falls
FROM (SELECT id, lag(id) OVER (ORDER BY id) AS previous
      FROM (SELECT ('\x507f1f77bcf86cd799'::bytea || substr(sha256(n::text::bytea), 1, 3))::objectid AS id
            FROM generate_series(1, 100000) n GROUP BY 1) s) t;

-- without equal ones: sorted, hashed
SET enable_hashagg = off;
SELECT plan('SELECT DISTINCT id FROM made') AS plan EXCEPT SELECT 'Seq Scan on made';
SELECT count(*) = (SELECT count(DISTINCT b) FROM made) AS same_number FROM (SELECT DISTINCT id FROM made) s;
RESET enable_hashagg;
SET enable_sort = off;
SELECT plan('SELECT DISTINCT id FROM made') AS plan EXCEPT SELECT 'Seq Scan on made';
SELECT count(*) = (SELECT count(DISTINCT b) FROM made) AS same_number FROM (SELECT DISTINCT id FROM made OFFSET 0) s;
RESET enable_sort;

-- joined by each method
SELECT count(*) FROM (SELECT DISTINCT b FROM made) x JOIN made y USING (b);
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT plan FROM plan('SELECT count(*) FROM (SELECT DISTINCT id FROM made) x JOIN made y USING (id)') WHERE plan ~ 'Join';
SELECT count(*) FROM (SELECT DISTINCT id FROM made) x JOIN made y USING (id);
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT plan FROM plan('SELECT count(*) FROM (SELECT DISTINCT id FROM made) x JOIN made y USING (id)') WHERE plan ~ 'Join';
SELECT count(*) FROM (SELECT DISTINCT id FROM made) x JOIN made y USING (id);
RESET enable_hashjoin;
RESET enable_nestloop;

-- equal ones have equal hashes, others hardly ever
SELECT count(DISTINCT id) = count(DISTINCT objectid_hash(id)) AS hashes,
       count(DISTINCT id) = count(DISTINCT objectid_hash_extended(id, 7)) AS extended_hashes,
       bool_and((objectid_hash_extended(id, 0) & 4294967295) = (objectid_hash(id)::bigint & 4294967295)) AS without_seed_the_same,
       bool_or(objectid_hash_extended(id, 1) = objectid_hash_extended(id, 2)) AS same_with_another_seed
FROM made WHERE n <= 5000;

--
-- min, max
--
CREATE FUNCTION extremes() RETURNS TABLE (lowest boolean, highest boolean) LANGUAGE sql AS
    'SELECT min(id)::bytea = (SELECT min(b::text)::bytea FROM made), max(id)::bytea = (SELECT max(b::text)::bytea FROM made) FROM made';
SELECT plan('SELECT min(id), max(id) FROM made');
SELECT * FROM extremes();
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan('SELECT min(id), max(id) FROM made');
SELECT * FROM extremes();
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
CREATE INDEX made_id ON made (id);
SELECT plan('SELECT min(id) FROM made');
SELECT plan('SELECT max(id) FROM made');
SELECT * FROM extremes();
DROP FUNCTION extremes;
SELECT min(id), max(id) FROM made WHERE false;
SELECT min(id), max(id) FROM (VALUES (NULL::objectid), ('507f1f77bcf86cd799439011'), (NULL)) v (id);

--
-- Indexes
--
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT * FROM made WHERE id = '507f1f77bcf86cd799439011'$$);
SELECT plan($$SELECT * FROM made WHERE id BETWEEN objectid_floor('2012-10-17 21:13:27+00') AND objectid_ceil('2012-10-17 21:14:00+00')$$);
SELECT plan('SELECT id FROM made ORDER BY id DESC');
SELECT count(*) AS found, sum(n) = 3 * 39999 AS right_ones FROM made WHERE id = (SELECT id FROM made WHERE n = 39999 LIMIT 1);
-- also behind what must be checked first, such as a row security policy
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM made WHERE n > 0;
SELECT plan($$SELECT * FROM guarded WHERE id = '507f1f77bcf86cd799439011'$$);
DROP INDEX made_id;
CREATE INDEX made_id_hash ON made USING hash (id);
SELECT plan($$SELECT * FROM made WHERE id = '507f1f77bcf86cd799439011'$$);
SELECT count(*) AS found, sum(n) = 3 * 39999 AS right_ones FROM made WHERE id = (SELECT id FROM made WHERE n = 39999 LIMIT 1);
SELECT plan($$SELECT * FROM guarded WHERE id = '507f1f77bcf86cd799439011'$$);
DROP VIEW guarded;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE made;

-- a primary key refuses a repetition, a foreign key what is not there
CREATE TABLE documents (id objectid PRIMARY KEY DEFAULT object_id(), versions objectid[] NOT NULL DEFAULT '{}');
CREATE TABLE lines (document objectid NOT NULL REFERENCES documents, n int);
INSERT INTO documents VALUES ('507f1f77bcf86cd799439011', '{507F1F77BCF86CD799439012,507f1f77bcf86cd799439013}');
SELECT f.* FROM failure($$INSERT INTO documents VALUES ('507F1F77BCF86CD799439011')$$) f;
INSERT INTO lines VALUES ('507f1f77bcf86cd799439011', 1);
SELECT f.state FROM failure($$INSERT INTO lines VALUES ('507f1f77bcf86cd799439012', 1)$$) f;
INSERT INTO documents SELECT FROM generate_series(1, 100);
SELECT count(*) AS documents, count(DISTINCT id) AS ids FROM documents;

-- arrays: 12 bytes of one lie beside those of the next
SELECT versions, versions[2] AS second, '507f1f77bcf86cd799439013' = ANY (versions) AS has,
       versions < '{507f1f77bcf86cd799439013}' AS less, versions || object_id() > versions AS longer
FROM documents WHERE cardinality(versions) > 0;
SELECT array_agg(id ORDER BY id DESC)
FROM unnest('{000000000000000000000001,ffffffffffffffffffffffff,NULL,7f0000000000000000000000}'::objectid[]) id;
SELECT ROW(id, 1::smallint, id) AS record FROM (VALUES ('507f1f77bcf86cd799439011'::objectid)) v (id);
DROP TABLE lines, documents;

--
-- Reading and bounds
--
SELECT at, floor, objectid_timestamp(floor) AS floor_timestamp, ceil, objectid_timestamp(ceil) AS ceil_timestamp
FROM (SELECT at, objectid_floor(at) AS floor, objectid_ceil(at) AS ceil
      FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'), ('1970-01-01 00:00:00.999999+00'), ('2012-10-17 21:13:27+00'),
                   ('2038-01-19 03:14:07.5+00'), ('2038-01-19 03:14:08+00'),
                   ('2106-02-07 06:28:15+00'), ('2106-02-07 06:28:15.999999+00')) v (at)) s;
SELECT at, f.* FROM (VALUES ('infinity'), ('-infinity'), ('1969-12-31 23:59:59.999999+00'), ('2106-02-07 06:28:16+00'),
                            ('4714-11-24 00:00:00+00 BC'), ('294276-12-31 23:59:59.999999+00')) v (at),
    failure(format('SELECT idgen.objectid_floor(%L)', at)) f;

-- partitions by time, and a scan that meets one of them
CREATE TABLE events (id objectid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE events_2026_01 PARTITION OF events
    FOR VALUES FROM (objectid_floor('2026-01-01 00:00:00+00')) TO (objectid_floor('2026-02-01 00:00:00+00'));
CREATE TABLE events_2026_02 PARTITION OF events
    FOR VALUES FROM (objectid_floor('2026-02-01 00:00:00+00')) TO (objectid_floor('2026-03-01 00:00:00+00'));
INSERT INTO events
SELECT objectid_ceil(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 hour'), n FROM generate_series(0, 59 * 24 - 1) n;
SELECT tableoid::regclass AS partition, min(n), max(n) FROM events GROUP BY 1 ORDER BY 1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT count(*) FROM events WHERE id BETWEEN objectid_floor('2026-02-10 00:00:00+00') AND objectid_ceil('2026-02-10 23:59:59+00')$$);
SELECT count(*) FROM events WHERE id BETWEEN objectid_floor('2026-02-10 00:00:00+00') AND objectid_ceil('2026-02-10 23:59:59+00');
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE events;
-- by hash
CREATE TABLE spread (id objectid) PARTITION BY HASH (id);
CREATE TABLE spread_0 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE spread_1 PARTITION OF spread FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO spread SELECT object_id() FROM generate_series(1, 1000);
SELECT count(DISTINCT tableoid) AS partitions, bool_and(count > 400) AS even FROM (SELECT tableoid, count(*) FROM spread GROUP BY 1) s;
DROP TABLE spread;

--
-- object_id()
--
SET work_mem = '64MB';
SELECT date_trunc('second', clock_timestamp()) AS began \gset
CREATE TABLE run AS SELECT n, object_id() AS id FROM generate_series(1, 1000000) n;
SELECT count(*) AS ids, count(DISTINCT id) AS distinct_ids, count(DISTINCT substr(id::bytea, 5, 5)) AS processes FROM run;
SELECT count(*) FILTER (WHERE id <= previous) AS not_increasing,
       count(*) FILTER (WHERE (bigint_from_base(right(id::text, 6), 16) - bigint_from_base(right(previous::text, 6), 16)) & 16777215 <> 1)
           AS not_the_next_counter,
       bool_and(objectid_timestamp(id) BETWEEN :'began' AND clock_timestamp()) AS now
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM run) s;
DROP TABLE run;
RESET work_mem;

SELECT NULL::objectid IS NULL AND objectid_timestamp(NULL) IS NULL AND objectid_floor(NULL) IS NULL AND objectid_ceil(NULL) IS NULL
   AND NULL::bytea::objectid IS NULL AND NULL::objectid::bytea IS NULL AND (object_id() = NULL) IS NULL AND objectid_cmp(NULL, NULL) IS NULL
   AND NULL::text::objectid IS NULL AS all_null;
RESET search_path;
DROP FUNCTION plan;
DROP FUNCTION failure;
