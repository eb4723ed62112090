-- Functions that read identifiers: known values, and NULL where an identifier does
-- not contain the information.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- RFC 9562, appendix A; M. Lambert's time-ordered UUID of 2012-02-28
SELECT source, id, idgen.uuid_version(id) AS version, idgen.uuid_variant(id) AS variant,
       idgen.uuid_timestamp(id) AS timestamp
FROM (VALUES ('A.1', uuid 'c232ab00-9414-11ec-b3c8-9f6bdeced846'),
             ('A.2', '5df41881-3aed-3515-88a7-2f4a814cf09e'),
             ('A.3', '919108f7-52d1-4320-9bac-f847db4148a8'),
             ('A.4', '2ed6657d-e927-568b-95e1-2665a8aea6a2'),
             ('A.5', '1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
             ('A.6', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             ('B.1', '2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'),
             ('v1', 'd76b58b9-6220-11e1-b36c-cc52afc9f2ed'),
             ('Lambert', '1e1624e7-5e1f-d27f-a11d-ed65de8970f6'),
             ('nil', '00000000-0000-0000-0000-000000000000'),
             ('max', 'ffffffff-ffff-ffff-ffff-ffffffffffff')) v (source, id);

-- the smallest and the greatest value of each timestamp field
SELECT id, idgen.uuid_timestamp(id) AS timestamp
FROM (VALUES (uuid '00000000-0000-1000-8000-000000000000'),
             ('00000009-0000-1000-8000-000000000000'),
             ('0000000a-0000-1000-8000-000000000000'),
             ('13814000-1dd2-11b2-8000-000000000000'),
             ('13813fff-1dd2-11b2-8000-000000000000'),
             ('ffffffff-ffff-1fff-bfff-ffffffffffff'),
             ('00000000-0000-6000-8000-000000000000'),
             ('1b21dd21-3814-6000-8000-000000000000'),
             ('ffffffff-ffff-6fff-bfff-ffffffffffff'),
             ('00000000-0000-d000-8000-000000000000'),
             ('ffffffff-ffff-dfff-bfff-ffffffffffff'),
             ('00000000-0000-7fff-bfff-ffffffffffff'),
             ('00000000-0001-7000-8000-000000000000'),
             ('ffffffff-ffff-7000-8000-000000000000')) v (id);

-- version and timestamp depend on the variant
SELECT digit AS "first digit of byte 8", idgen.uuid_variant(id) AS variant, idgen.uuid_version(id) AS version,
       idgen.uuid_timestamp(id) IS NOT NULL AS has_timestamp
FROM (SELECT digit, ('017f22e2-79b0-7cc3-' || digit || '8c4-dc0c0c07398f')::uuid AS id
      FROM regexp_split_to_table('0123456789abcdef', '') digit) s;

-- all sixteen versions
SELECT count(*) FILTER (WHERE idgen.uuid_version(id) = v) AS right_version,
       array_agg(v ORDER BY v) FILTER (WHERE idgen.uuid_timestamp(id) IS NOT NULL) AS with_timestamp,
       array_agg(v ORDER BY v) FILTER (WHERE idgen.comb_timestamp(id) IS NOT NULL) AS comb_timestamp,
       array_agg(v ORDER BY v) FILTER (WHERE idgen.short_comb_timestamp(id) IS NOT NULL) AS short_comb_timestamp
FROM (SELECT v, ('017f22e2-79b0-' || to_hex(v) || 'cc3-98c4-dc0c0c07398f')::uuid AS id FROM generate_series(0, 15) v) s;

-- COMB
SELECT id, idgen.comb_timestamp(id)
FROM (VALUES (uuid '017f22e2-79b0-4cc3-98c4-dc0c0c07398f'),
             ('00000000-0000-4000-8000-000000000000'),
             ('ffffffff-ffff-4fff-bfff-ffffffffffff'),
             ('017f22e2-79b0-4cc3-d8c4-dc0c0c07398f')) v (id);

--
-- Short COMB: the start of the latest period with this prefix that does not begin
-- after the clock
--

-- around 2022-03-18 03:44, where the cycle of prefixes restarts
SELECT prefix, clock, idgen.short_comb_timestamp((prefix || '0000-0000-4000-8000-000000000000')::uuid, clock => clock)
    AS start
FROM (VALUES ('0000', timestamptz '2022-03-18 03:44:00+00'),
             ('0000', '2022-03-18 03:44:59.999999+00'),
             ('0000', '2022-03-18 03:43:59.999999+00'),
             ('ffff', '2022-03-18 03:44:00+00'),
             ('ffff', '2022-03-18 03:43:59.999+00'),
             ('0001', '2022-03-18 03:44:00+00'),
             ('0001', '2022-03-18 03:45:00+00'),
             ('0000', '1970-01-01 00:00:00+00'),
             ('ffff', '1970-01-01 00:00:00+00'),
             ('ffff', '1969-12-31 23:59:59+00'),
             ('0000', '1969-12-31 23:59:59+00')) v (prefix, clock);

-- short_comb_timestamp() returns the start of short_comb()'s period
SELECT period, bytes, count(*) AS clocks,
       count(*) FILTER (WHERE idgen.short_comb_timestamp(idgen.short_comb(period, bytes, clock => at), period,
       bytes, at)
                              = to_timestamp(floor(extract(epoch FROM at) / extract(epoch FROM period)) * extract(epoch
                              FROM period))) AS right_start
FROM (VALUES (interval '1 second', 2), ('30 seconds', 1), ('1 minute', 2), ('1 hour', 3), ('1 minute', 6)) p (period,
    bytes),
     (SELECT timestamptz '1951-03-04 05:06:07.89+00' + n * interval '97 days 13:17:29.123456' AS at
      FROM generate_series(0, 499) n) a
GROUP BY period, bytes ORDER BY period, bytes;

-- the default clock is the start of the statement
SELECT idgen.short_comb_timestamp(idgen.short_comb(), clock => NULL) >= statement_timestamp() - interval '1 minute'
    AS recent;

-- NULL if the period is before the range of timestamptz
SELECT idgen.short_comb_timestamp('ffffffff-ffff-4000-8000-000000000000', prefix_bytes => 6, clock => '2022-03-18')
    AS minute_before_epoch,
       idgen.short_comb_timestamp('7fffffff-ffff-4000-8000-000000000000', prefix_bytes => 6, clock => '2022-03-18')
       AS before_time;

-- NULL
SELECT idgen.uuid_version(NULL) IS NULL AND idgen.uuid_variant(NULL) IS NULL
   AND idgen.uuid_timestamp(NULL) IS NULL AND idgen.comb_timestamp(NULL) IS NULL
   AND idgen.short_comb_timestamp(NULL) IS NULL AS all_null;
