-- The generators of UUIDs: layouts, arguments, order, and bounds.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- check the version and variant of many identifiers
SELECT generator, count(DISTINCT id) AS distinct_ids,
       array_agg(DISTINCT idgen.uuid_version(id)) AS versions, array_agg(DISTINCT idgen.uuid_variant(id)) AS variants
FROM (SELECT idgen.uuid_v7() AS uuid_v7, idgen.comb() AS comb, idgen.short_comb() AS short_comb,
             idgen.keyed_comb('orders') AS keyed_comb
      FROM generate_series(1, 20000) OFFSET 0) s,
     LATERAL (VALUES ('uuid_v7', uuid_v7), ('comb', comb), ('short_comb', short_comb),
              ('keyed_comb', keyed_comb)) v (generator, id)
GROUP BY generator ORDER BY generator;

-- generate a short COMB without runs
SELECT idgen.uuid_version(idgen.short_comb(run_length => 1));

--
-- Version 7
--

-- timestamps are between the start and the end of this statement
SELECT idgen.uuid_timestamp(idgen.uuid_v7()) BETWEEN statement_timestamp() - interval '1 ms' AND clock_timestamp()
    AS v7_is_now,
       idgen.comb_timestamp(idgen.comb()) BETWEEN statement_timestamp() - interval '1 ms' AND clock_timestamp()
       AS comb_is_now,
       idgen.short_comb_timestamp(idgen.short_comb()) BETWEEN statement_timestamp() - interval '1 minute'
       AND clock_timestamp() AS short_comb_is_now;

-- with a clock, the identifier contains its millisecond, and the fraction in 1/4096 of a millisecond
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

-- NULL means the current time
SELECT idgen.uuid_v7(clock => NULL) > idgen.uuid_v7_floor(now() - interval '1 hour') AS v7,
       idgen.comb(clock => NULL) > idgen.comb_floor(now() - interval '1 hour') AS comb;

--
-- Short COMB
--

-- check known prefixes at the restart of the cycle, one millisecond earlier, and before the epoch
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

-- the other arguments have defaults
SELECT left(idgen.short_comb(clock => '2022-03-18 03:44:00+00')::text, 4) AS prefix,
       left(idgen.short_comb(period => '2 minutes', clock => '2022-03-18 03:44:00+00')::text, 4) AS two_minutes,
       left(idgen.short_comb(prefix_bytes => 1, clock => '2022-03-18 03:45:00+00')::text, 2) AS one_byte;

-- the bits after the prefix of a few identifiers do not repeat
SELECT count(DISTINCT substr(id::text, 6, 8)) > 95 AS tags_differ
FROM (SELECT idgen.short_comb(clock => '2022-03-18 03:46:00+00') AS id FROM generate_series(1, 100)) s;

--
-- Bounds: the smallest identifier of a millisecond
--
SELECT at, idgen.uuid_v7_floor(at), idgen.comb_floor(at), idgen.ulid_floor(at)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'), ('2022-02-22 19:22:22+00'), ('2022-02-22 19:22:22.000999+00'),
             ('2022-02-22 19:22:22.001+00'), ('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'),
             ('infinity'), ('1969-12-31 23:59:59.999999+00'), ('-infinity')) v (at);
