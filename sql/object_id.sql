-- ObjectId: reading, bounds, and object_id().
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

--
-- Reading
--
SELECT id, idgen.is_object_id(id), idgen.object_id_timestamp(id)
FROM (VALUES ('507f1f77bcf86cd799439011'), ('507F1F77BCF86CD799439011'), ('507f1F77bCf86cd799439011'),
             ('000000000000000000000000'), ('7fffffffffffffffffffffff'), ('800000000000000000000000'),
             ('ffffffffffffffffffffffff'), ('FFFFFFFFFFFFFFFFFFFFFFFF'), ('0123456789abcdefABCDEF01')) v (id);

-- errors: positions count characters, and a long text is not shown
CREATE TABLE bad_texts (input text);
INSERT INTO bad_texts VALUES
    (''), ('5'), ('507f1f77bcf86cd79943901'), ('507f1f77bcf86cd7994390111'), (' 507f1f77bcf86cd799439011'),
    ('507f1f77bcf86cd799439011 '), ('507f1f77bcf86cd79943901 '), ('507f1f77bcf86cd79943901g'),
    ('g07f1f77bcf86cd799439011'),
    ('507f1f77-cf86cd799439011'), ('0x7f1f77bcf86cd799439011'), ('507f1f77bcf86cd799439@11'),
    ('507f1f77bcf86cd799439`11'),
    ('507f1f77bcf86cd799439/11'), ('507f1f77bcf86cd799439:11'), ('507f1f77bcf86cd799439G11'),
    ('507f1f77bcf86cd79943901' || chr(233)), ('507f1f77bcf86cd7994390' || chr(233)), ('507f' || repeat(chr(233), 20)),
    (repeat(chr(8364), 8)),
    (repeat(chr(128512), 24)), (repeat(chr(128512), 24) || 'x'), (repeat(chr(8364), 1000)), (repeat('5', 100000)),
    ('919108f7-52d1-4320-9bac-f847db4148a8');
\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
SELECT left(input, 40), idgen.is_object_id(input), f.*
FROM bad_texts, failure(format('SELECT idgen.object_id_timestamp(%L)', input)) f;
\pset tuples_only off
\pset fieldsep '|'
\pset format aligned
-- a value that is stored out of line
SELECT length(input), idgen.is_object_id(input),
       (failure(format('SELECT idgen.object_id_timestamp(input) FROM bad_texts WHERE length(input) = %s',
       length(input)))).*
FROM bad_texts WHERE length(input) = 100000;
DROP TABLE bad_texts;

--
-- Bounds
--
SELECT at, floor, idgen.object_id_timestamp(floor) AS floor_timestamp
FROM (SELECT at, idgen.object_id_floor(at) AS floor
      FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'), ('1970-01-01 00:00:00.999999+00'),
      ('2012-10-17 21:13:27+00'),
                   ('2038-01-19 03:14:07.5+00'), ('2038-01-19 03:14:08+00'),
                   ('2106-02-07 06:28:15+00'), ('2106-02-07 06:28:15.999999+00')) v (at)) s;
SELECT at, idgen.object_id_floor(at)
FROM (VALUES (timestamptz 'infinity'), ('-infinity'), ('1969-12-31 23:59:59.999999+00'), ('2106-02-07 06:28:16+00'),
             ('4714-11-24 00:00:00+00 BC'), ('294276-12-31 23:59:59.999999+00')) v (at);

-- partitions by time, and a scan of one of them
CREATE TABLE events (id text COLLATE "C" PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE events_2026_01 PARTITION OF events
    FOR VALUES FROM (idgen.object_id_floor('2026-01-01 00:00:00+00'))
    TO (idgen.object_id_floor('2026-02-01 00:00:00+00'));
CREATE TABLE events_2026_02 PARTITION OF events
    FOR VALUES FROM (idgen.object_id_floor('2026-02-01 00:00:00+00'))
    TO (idgen.object_id_floor('2026-03-01 00:00:00+00'));
INSERT INTO events
SELECT overlay(idgen.object_id_floor(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 hour')
               PLACING 'ffffffffffffffff' FROM 9), n
FROM generate_series(0, 59 * 24 - 1) n;
SELECT tableoid::regclass AS partition, min(n), max(n) FROM events GROUP BY 1 ORDER BY 1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM events
WHERE idgen.object_id_within(id, '2026-02-10 00:00:00+00', '2026-02-11 00:00:00+00');
SELECT count(*) FROM events
WHERE idgen.object_id_within(id, '2026-02-10 00:00:00+00', '2026-02-11 00:00:00+00');
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE events;

--
-- object_id()
--
CREATE TABLE run (n int, id text COLLATE "C" PRIMARY KEY DEFAULT idgen.object_id());
INSERT INTO run SELECT n FROM generate_series(1, 10000) n;
SELECT count(*) AS ids, bool_and(id ~ '^[0-9a-f]{24}$' AND idgen.is_object_id(id)) AS well_formed,
       count(DISTINCT substr(id, 9, 10)) AS processes FROM run;
SELECT count(*) FILTER (WHERE id <= previous) AS not_increasing,
       count(*) FILTER (WHERE decode(id, 'hex') <= decode(previous, 'hex')) AS bytes_not_increasing,
       count(*) FILTER (WHERE (idgen.bigint_from_base(right(id, 6), 16) - idgen.bigint_from_base(right(previous, 6),
       16)) & 16777215 <> 1)
           AS not_the_next_counter,
       bool_and(length(decode(id, 'hex')) = 12 AND encode(decode(id, 'hex'), 'hex') = id) AS as_bytes,
       bool_and(abs(extract(epoch FROM idgen.object_id_timestamp(id) - clock_timestamp())) < 3600) AS now
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM run) s;
DROP TABLE run;

SELECT idgen.is_object_id(NULL) IS NULL AND idgen.object_id_timestamp(NULL) IS NULL
   AND idgen.object_id_floor(NULL) IS NULL AS all_null;
DROP FUNCTION failure;
