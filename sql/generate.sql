-- The generators of UUIDs: layouts, arguments, order.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- version and variant of many identifiers
SELECT 'uuid_v7' AS generator, count(*), count(DISTINCT id) AS distinct_ids,
       min(idgen.uuid_version(id)) AS min_version, max(idgen.uuid_version(id)) AS max_version,
       min(idgen.uuid_variant(id)) AS min_variant, max(idgen.uuid_variant(id)) AS max_variant
FROM (SELECT idgen.uuid_v7() AS id FROM generate_series(1, 20000)) s
UNION ALL
SELECT 'comb', count(*), count(DISTINCT id),
       min(idgen.uuid_version(id)), max(idgen.uuid_version(id)),
       min(idgen.uuid_variant(id)), max(idgen.uuid_variant(id))
FROM (SELECT idgen.comb() AS id FROM generate_series(1, 20000)) s
UNION ALL
SELECT 'short_comb', count(*), count(DISTINCT id),
       min(idgen.uuid_version(id)), max(idgen.uuid_version(id)),
       min(idgen.uuid_variant(id)), max(idgen.uuid_variant(id))
FROM (SELECT idgen.short_comb() AS id FROM generate_series(1, 20000)) s
ORDER BY 1;

-- without runs
SELECT idgen.uuid_version(idgen.short_comb(run_length => 1));

-- as column defaults
CREATE TABLE defaults (
    v7 uuid DEFAULT idgen.uuid_v7(),
    comb uuid DEFAULT idgen.comb(),
    short uuid DEFAULT idgen.short_comb(),
    n int
);
INSERT INTO defaults (n) SELECT generate_series(1, 100);
SELECT count(DISTINCT v7) AS v7, count(DISTINCT comb) AS comb,
       count(DISTINCT short) AS short
FROM defaults;
DROP TABLE defaults;

--
-- Version 7
--

-- the wall clock's time, between the start and the end of this statement
SELECT idgen.uuid_timestamp(idgen.uuid_v7()) BETWEEN statement_timestamp() - interval '1 ms' AND clock_timestamp()
    AS v7_is_now,
       idgen.comb_timestamp(idgen.comb()) BETWEEN statement_timestamp() - interval '1 ms' AND clock_timestamp()
       AS comb_is_now,
       idgen.short_comb_timestamp(idgen.short_comb()) BETWEEN statement_timestamp() - interval '1 minute'
       AND clock_timestamp() AS short_comb_is_now;

-- with a clock: its millisecond, and the fraction in 1/4096 of a millisecond
SELECT at, idgen.uuid_timestamp(id) AS timestamp,
       substr(id::text, 1, 18) AS timestamp_and_fraction,
       floor(extract(microseconds FROM at) % 1000 * 4096 / 1000) AS fraction_expected,
       ('x' || substr(id::text, 16, 3))::bit(12)::int AS fraction
FROM (SELECT at, idgen.uuid_v7(at) AS id
      FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'),
                   ('2022-02-22 19:22:22+00'),
                   ('2022-02-22 19:22:22.000001+00'),
                   ('2022-02-22 19:22:22.0005+00'),
                   ('2022-02-22 19:22:22.000999+00'),
                   ('10889-08-02 05:31:50.655999+00')) v (at)) s;

-- NULL is the wall clock
SELECT idgen.uuid_v7(clock => NULL) > idgen.uuid_v7_floor(now() - interval '1 hour') AS v7,
       idgen.comb(clock => NULL) > idgen.comb_floor(now() - interval '1 hour') AS comb;

--
-- COMB
--

SELECT at, idgen.comb_timestamp(id) AS timestamp, left(id::text, 13) AS milliseconds
FROM (SELECT at, idgen.comb(at) AS id
      FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'),
                   ('2022-02-22 19:22:22+00'),
                   ('2022-02-22 19:22:22.000999+00'),
                   ('2022-02-22 19:22:22.001+00'),
                   ('10889-08-02 05:31:50.655+00')) v (at)) s;

--
-- Short COMB
--

-- known prefixes: where the cycle restarts, one millisecond earlier, and before the epoch
SELECT at, left(idgen.short_comb(clock => at)::text, 4) AS prefix
FROM (VALUES (timestamptz '2022-03-18 03:44:00+00'),
             ('2022-03-18 03:43:59.999+00'),
             ('2022-03-18 03:43:59.999999+00'),
             ('2022-03-18 03:44:59.999+00'),
             ('2022-03-18 03:45:00+00'),
             ('1970-01-01 00:00:00+00'),
             ('1969-12-31 23:59:59.999+00'),
             ('1969-12-31 23:59:00+00'),
             ('1969-12-31 23:58:59.999999+00'),
             ('4714-11-24 00:00:00+00 BC'),
             ('294276-12-31 23:59:59.999999+00')) v (at);

-- compared with the formula in numeric arithmetic
WITH cases AS (
    SELECT at, period, bytes,
           floor(floor(extract(epoch FROM at)::numeric * 1000) / (extract(epoch FROM period)::numeric * 1000)) AS number
    FROM (VALUES (timestamptz '2022-03-18 03:43:59.999+00'), ('1969-07-20 20:17:40.5+00'),
                 ('2038-01-19 03:14:08+00'), ('10889-08-02 05:31:50.656+00')) a (at),
         (VALUES (interval '1 millisecond'), ('00:00:01'), ('00:00:30'), ('00:01:00')) p (period),
         generate_series(1, 6) bytes
)
SELECT bytes, count(*) AS cases,
       count(*) FILTER (WHERE left(replace(idgen.short_comb(period, bytes, clock => at)::text, '-', ''), 2 * bytes)
                        = lpad(to_hex(mod(mod(number, 256::numeric ^ bytes) + 256::numeric ^ bytes,
                        256::numeric ^ bytes)::bigint),
                               2 * bytes, '0')) AS right_prefix
FROM cases GROUP BY bytes ORDER BY bytes;

-- the other arguments have their defaults
SELECT left(idgen.short_comb(clock => '2022-03-18 03:44:00+00')::text, 4) AS prefix,
       left(idgen.short_comb(period => '2 minutes', clock => '2022-03-18 03:44:00+00')::text, 4) AS two_minutes,
       left(idgen.short_comb(prefix_bytes => 1, clock => '2022-03-18 03:45:00+00')::text, 2) AS one_byte;

-- the longest period with each prefix_bytes
SELECT bytes, idgen.short_comb_timestamp(idgen.short_comb(period, bytes, clock => '2970-01-02 00:00:00+00'), period,
    bytes, '2970-01-02 00:00:00+00') AS start
FROM generate_series(1, 6) bytes, (VALUES (interval '365250 days')) v (period);

-- in a few identifiers, the bits after the prefix do not repeat
SELECT count(DISTINCT substr(id::text, 6, 8)) > 95 AS tags_differ
FROM (SELECT idgen.short_comb(clock => '2022-03-18 03:46:00+00') AS id FROM generate_series(1, 100)) s;

--
-- Keyed COMB
--
CREATE FUNCTION prefix(id uuid) RETURNS text LANGUAGE sql IMMUTABLE RETURN left(id::text, 8);

-- version, variant and 90 random bits
SELECT count(*) AS ids, count(DISTINCT substr(id::text, 10)) AS distinct_ends, count(DISTINCT prefix(id)) AS prefixes,
       min(idgen.uuid_version(id)) AS min_version, max(idgen.uuid_version(id))
       AS max_version, min(idgen.uuid_variant(id)) AS variant
FROM (SELECT idgen.keyed_comb(clock => '2026-11-20 03:44:00+00') AS id FROM generate_series(1, 20000) OFFSET 0) s;

-- one prefix for five minutes, a twelfth of the default period, and another one in the next hour; also before the epoch
SELECT at, prefix(idgen.keyed_comb(clock => at)) = prefix(idgen.keyed_comb(clock => period)) AS same
FROM (VALUES (timestamptz '2026-11-20 03:40:00+00', timestamptz '2026-11-20 03:40:00+00'),
             ('2026-11-20 03:44:59.999999+00', '2026-11-20 03:40:00+00'),
             ('2026-11-20 04:00:00+00', '2026-11-20 03:59:59.999+00'),
             ('1969-12-31 23:55:00+00', '1969-12-31 23:59:59+00'),
             ('1970-01-01 00:00:00+00', '1969-12-31 23:59:59+00'),
             ('4714-11-24 00:00:00+00 BC', '4714-11-24 00:01:00+00 BC'),
             ('294276-12-31 23:59:59.999999+00', '294276-12-31 23:56:00+00')) v (at, period);

-- another prefix for each hour, area and length of the period
SELECT count(DISTINCT prefix(idgen.keyed_comb(clock => '2026-11-20 03:44:00+00'::timestamptz + n * interval '1 hour')))
    AS periods,
       count(DISTINCT prefix(idgen.keyed_comb(area => repeat('a', n - 1), clock => '2026-11-20 03:44:00+00'))) AS areas,
       count(DISTINCT prefix(idgen.keyed_comb(area => repeat('a', 62) || chr(64 + n),
       clock => '2026-11-20 03:44:00+00'))) AS last_bytes,
       count(DISTINCT prefix(idgen.keyed_comb(n * interval '1 day', clock => '1970-01-01 00:00:00+00'))) AS lengths
FROM generate_series(1, 63) n;
SELECT prefix(idgen.keyed_comb('365250 days')) = prefix(idgen.keyed_comb('365250 days')) AS same;
DROP FUNCTION prefix(uuid);
