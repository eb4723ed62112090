-- Functions that read identifiers: known values, and NULL if an identifier does not contain the information.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- read the examples in RFC 9562, appendices A and B, and M. Lambert's time-ordered UUID of 2012-02-28
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

-- read the smallest and the greatest value of each timestamp field
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

-- read COMBs
SELECT id, idgen.comb_timestamp(id)
FROM (VALUES (uuid '017f22e2-79b0-4cc3-98c4-dc0c0c07398f'),
             ('00000000-0000-4000-8000-000000000000'),
             ('ffffffff-ffff-4fff-bfff-ffffffffffff'),
             ('017f22e2-79b0-4cc3-d8c4-dc0c0c07398f')) v (id);

-- the result is NULL if the period is before the range of timestamptz
SELECT idgen.short_comb_timestamp('ffffffff-ffff-4000-8000-000000000000', prefix_bytes => 6, clock => '2022-03-18')
    AS minute_before_epoch,
       idgen.short_comb_timestamp('7fffffff-ffff-4000-8000-000000000000', prefix_bytes => 6, clock => '2022-03-18')
       AS before_time;
