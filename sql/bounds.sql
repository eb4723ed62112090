-- Bounds: the smallest identifier of a millisecond.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

SELECT at, idgen.uuid_v7_floor(at)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'),
             ('2022-02-22 19:22:22+00'),
             ('2022-02-22 19:22:22.000999+00'),
             ('2022-02-22 19:22:22.001+00'),
             ('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'), ('infinity'),
             ('1969-12-31 23:59:59.999999+00'), ('-infinity')) v (at);

SELECT at, idgen.comb_floor(at)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'),
             ('2022-02-22 19:22:22+00'),
             ('2022-02-22 19:22:22.000999+00'),
             ('2022-02-22 19:22:22.001+00'),
             ('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'), ('infinity'),
             ('1969-12-31 23:59:59.999999+00'), ('-infinity')) v (at);

SELECT at, idgen.ulid_floor(at)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'),
             ('2022-02-22 19:22:22+00'),
             ('2022-02-22 19:22:22.000999+00'),
             ('2022-02-22 19:22:22.001+00'),
             ('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'), ('infinity'),
             ('1969-12-31 23:59:59.999999+00'), ('-infinity')) v (at);
SELECT idgen.ulid_timestamp(idgen.ulid_floor('2022-02-22 19:22:22.001999+00')) AS floor,
       idgen.ulid() COLLATE "C" BETWEEN idgen.ulid_floor(now() - interval '1 hour')
       AND idgen.ulid_floor(now() + interval '1 hour') AS within;

-- every identifier of an instant is between the bounds of its millisecond and the next
SELECT count(*) AS ids,
       count(*) FILTER (WHERE v7 >= idgen.uuid_v7_floor(at)
                          AND v7 < idgen.uuid_v7_floor(at + interval '1 millisecond')) AS v7_within,
       count(*) FILTER (WHERE comb >= idgen.comb_floor(at)
                          AND comb < idgen.comb_floor(at + interval '1 millisecond')) AS comb_within
FROM (SELECT at, idgen.uuid_v7(at) AS v7, idgen.comb(at) AS comb
      FROM (SELECT timestamptz '2022-02-22 19:22:22.000123+00' + n * interval '1 day 01:02:03.456789' AS at
            FROM generate_series(0, 999) n) s) t;

-- a version 7 UUID of another generator, with random bits instead of the fraction
SELECT '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'
       BETWEEN idgen.uuid_v7_floor('2022-02-22 19:22:22+00')
           AND idgen.uuid_v7_floor('2022-02-22 19:22:22.001+00') AS within;

-- NULL
SELECT idgen.uuid_v7_floor(NULL) IS NULL AND idgen.comb_floor(NULL) IS NULL AND idgen.ulid_floor(NULL) IS NULL
    AS all_null;

-- partitions by time, and a scan of one of them
CREATE TABLE events (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE events_2026_01 PARTITION OF events
    FOR VALUES FROM (idgen.uuid_v7_floor('2026-01-01 00:00:00+00')) TO (idgen.uuid_v7_floor('2026-02-01 00:00:00+00'));
CREATE TABLE events_2026_02 PARTITION OF events
    FOR VALUES FROM (idgen.uuid_v7_floor('2026-02-01 00:00:00+00')) TO (idgen.uuid_v7_floor('2026-03-01 00:00:00+00'));
INSERT INTO events
SELECT idgen.uuid_v7(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 hour'), n
FROM generate_series(0, 59 * 24 - 1) n;
SELECT tableoid::regclass AS partition, min(n), max(n) FROM events GROUP BY 1 ORDER BY 1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT count(*) FROM events
WHERE id >= idgen.uuid_v7_floor('2026-02-10 00:00:00+00') AND id < idgen.uuid_v7_floor('2026-02-11 00:00:00+00');
SELECT count(*) FROM events
WHERE id >= idgen.uuid_v7_floor('2026-02-10 00:00:00+00') AND id < idgen.uuid_v7_floor('2026-02-11 00:00:00+00');
DROP TABLE events;
