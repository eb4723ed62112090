-- Versions 1, 5 and 6, Lambert's COMB, the suffix forms for SQL Server, sequence COMBs, ObjectIds, conversions between
-- them, and bases.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

--
-- Versions 1 and 6, Lambert's COMB
--
SELECT name, count(*), count(DISTINCT id) AS distinct_ids, min(idgen.uuid_version(id)), max(idgen.uuid_version(id)),
       min(idgen.uuid_variant(id)) AS variant, max(idgen.uuid_variant(id)) AS variant_too,
       bool_and(get_bit(uuid_send(id), 80) = 1) AS multicast,
       bool_and(idgen.uuid_timestamp(id) BETWEEN statement_timestamp() AND clock_timestamp() + interval '10 ms') AS now
FROM (SELECT 'v1' AS name, idgen.uuid_v1() AS id FROM generate_series(1, 1000)
      UNION ALL SELECT 'v6', idgen.uuid_v6() FROM generate_series(1, 1000)
      UNION ALL SELECT 'lambert', idgen.lambert_comb() FROM generate_series(1, 1000)) s
GROUP BY name ORDER BY name;

-- the three generators share one clock
SELECT idgen.uuid_timestamp(a) <= idgen.uuid_timestamp(b) AND idgen.uuid_timestamp(b) <= idgen.uuid_timestamp(c)
    AS one_clock
FROM (SELECT idgen.lambert_comb() AS a, idgen.uuid_v1() AS b, idgen.uuid_v6() AS c OFFSET 0) s;

--
-- Suffix forms (t/003_properties.pl tests their layout)
--
SELECT idgen.short_suffix_comb('365251 days');
SELECT idgen.short_suffix_comb(NULL);

--
-- Sequence COMBs, compared with the arithmetic of T. Vondra's sequential-uuids
--
CREATE SEQUENCE blocks;
SELECT n, left(replace(id::text, '-', ''), 4) AS prefix, idgen.uuid_version(id) AS version
FROM (SELECT n, idgen.sequence_comb('blocks', 4, 65536) AS id FROM generate_series(1, 12) n OFFSET 0) s
WHERE n IN (1, 4, 5, 8, 9, 12);

-- compare with the formula: the prefix consists of whole bytes, and if block_count is not a power of 256, blocks are
-- smaller, so that the cycle has the same length
CREATE FUNCTION right_prefix(value bigint, block_size int, block_count int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    bytes int := CASE WHEN block_count > 16777216 THEN 4 WHEN block_count > 65536 THEN 3
                      WHEN block_count > 256 THEN 2 WHEN block_count > 1 THEN 1 ELSE 0 END;
    block numeric := greatest(trunc(block_size::numeric * block_count / 256::numeric ^ bytes), 1);
    prefix numeric := mod(div(value - 1, block), 256::numeric ^ bytes);
    id uuid;
BEGIN
    PERFORM setval('blocks', value, false);
    id := idgen.sequence_comb('blocks', block_size, block_count);
    RETURN idgen.uuid_version(id) = 4
       AND left(replace(id::text, '-', ''), 2 * bytes) = right(lpad(to_hex(prefix::bigint), 8, '0'), 2 * bytes);
END $$;
SELECT count(*) AS cases, bool_and(right_prefix(value, block_size, block_count)) AS all_right
FROM unnest('{1,2,255,256,257,1000,65535,65536,65537,1000000,16777216,16777217,2147483647}'::int[]) block_count,
     unnest('{1,2,7,256,65536,2147483647}'::int[]) block_size,
     unnest('{1,2,256,257,65536,65537,123456789,9223372036854775807}'::bigint[]) value;
DROP FUNCTION right_prefix;

-- use a sequence with values below 1
CREATE SEQUENCE down INCREMENT -1 MINVALUE -10 MAXVALUE 1;
SELECT left(idgen.sequence_comb('down', 1, 256)::text, 2) AS prefix FROM generate_series(1, 4);

-- privileges, read-only transactions and the sequence's limit have the same effect as for nextval()
SELECT setval('blocks', 1, false);
BEGIN READ ONLY;
SELECT idgen.sequence_comb('blocks');
ROLLBACK;
CREATE ROLE regress_idgen_reader;
SET ROLE regress_idgen_reader;
SELECT idgen.sequence_comb('blocks');
RESET ROLE;
GRANT USAGE ON SEQUENCE blocks TO regress_idgen_reader;
SELECT setval('blocks', 1, false);
SET ROLE regress_idgen_reader;
SELECT left(idgen.sequence_comb('blocks')::text, 4) AS prefix;
RESET ROLE;
SELECT setval('blocks', 9223372036854775807, true);
SELECT idgen.sequence_comb('blocks');
\set VERBOSITY sqlstate
SELECT idgen.sequence_comb('pg_class');
\set VERBOSITY default
SELECT idgen.sequence_comb('blocks', 0);
SELECT idgen.sequence_comb('blocks', -1);
SELECT idgen.sequence_comb('blocks', 1, 0);
SELECT idgen.sequence_comb(NULL);
SELECT idgen.sequence_comb('blocks', NULL);
SELECT idgen.sequence_comb('blocks', block_count => NULL);
DROP SEQUENCE blocks, down;
DROP ROLE regress_idgen_reader;

--
-- Conversions: known values
--
SELECT idgen.uuid_v1_to_v6('c232ab00-9414-11ec-b3c8-9f6bdeced846') AS "RFC 9562 A.5",
       idgen.uuid_v6_to_v1('1ec9414c-232a-6b00-b3c8-9f6bdeced846') AS "RFC 9562 A.1";
SELECT id, idgen.uuid_v1_to_v6(id) AS limit_of_field
FROM (VALUES (uuid '00000000-0000-1000-8000-000000000000'), ('ffffffff-ffff-1fff-bfff-ffffffffffff')) v (id);
SELECT idgen.uuid_v1_to_lambert_comb('75e1f27f-624e-11e1-a11d-ed65de8970f6') AS "Lambert",
       idgen.lambert_comb_to_uuid_v1('1e1624e7-5e1f-d27f-a11d-ed65de8970f6') AS "v1";
SELECT idgen.swap_guid_bytes('b9586bd7-2062-e111-b36c-cc52afc9f2ed') AS "NEWSEQUENTIALID as v1",
       idgen.uuid_timestamp(idgen.swap_guid_bytes('b9586bd7-2062-e111-b36c-cc52afc9f2ed')) AS made_at;
SELECT idgen.comb_to_suffix_comb('00010203-0405-4607-8809-0a0b0c0d0e0f') AS suffix,
       idgen.suffix_comb_to_comb('0a0b0c0d-0e0f-4607-8809-000102030405') AS prefix,
       idgen.short_comb_to_short_suffix_comb('00010203-0405-4607-8809-0a0b0c0d0e0f') AS short_suffix,
       idgen.short_suffix_comb_to_short_comb('0a0b0203-0405-4607-8809-00010c0d0e0f') AS short_prefix;

-- converted suffix forms are valid COMBs and short COMBs
SELECT idgen.is_recent_comb(idgen.suffix_comb_to_comb(idgen.suffix_comb())) AS comb,
       idgen.is_recent_short_comb(idgen.short_suffix_comb_to_short_comb(idgen.short_suffix_comb())) AS short_comb;

-- a conversion from one version rejects other versions (other_schemes.sql tests each of them)
SELECT idgen.lambert_comb_to_uuid_v1('1ec9414c-232a-6b00-b3c8-9f6bdeced846');
SELECT idgen.uuid_v1_to_v6('c232ab00-9414-11ec-c3c8-9f6bdeced846');

-- a call with a clock does not change the order of the session
SELECT idgen.uuid_timestamp(idgen.uuid_v1('3000-01-01')) AS uuid_v1, idgen.uuid_timestamp(idgen.uuid_v6('3000-01-01'))
    AS uuid_v6,
       idgen.uuid_timestamp(idgen.lambert_comb('3000-01-01'))
       AS lambert_comb, idgen.ulid_timestamp(idgen.ulid('3000-01-01')) AS ulid,
       idgen.object_id_timestamp(idgen.object_id('2100-01-01')) AS object_id;
SELECT every(made BETWEEN now() - interval '1 minute' AND now() + interval '1 minute') AS now FROM (VALUES
    (idgen.uuid_timestamp(idgen.uuid_v1())), (idgen.uuid_timestamp(idgen.uuid_v6())),
    (idgen.uuid_timestamp(idgen.lambert_comb())),
    (idgen.ulid_timestamp(idgen.ulid())), (idgen.object_id_timestamp(idgen.object_id()))) v (made);

--
-- Version 5: known values from the RFC and from Python's uuid5()
--
SELECT idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com') AS "RFC 9562 A.4";
SELECT name, idgen.uuid_v5(namespace, name), expected
FROM (VALUES (uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '', uuid '4ebd0208-8328-5d69-8c44-ec50939c0967'),
             ('6ba7b811-9dad-11d1-80b4-00c04fd430c8', '1.3.6.1.4.1', '6ac50bbe-fac3-5124-9600-d7ca5d0bb3ce'),
             ('6ba7b812-9dad-11d1-80b4-00c04fd430c8', '1.3.6.1.4.1', '106dd502-8b3e-50db-80ed-1134f5c18eae'),
             ('6ba7b814-9dad-11d1-80b4-00c04fd430c8', 'www.example.com',
             'a1d3adb1-15b7-5395-a05f-9051a08769a2')) v (namespace, name, expected);
SELECT idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', repeat('x',
    1000)) = 'f6d12730-a238-51ed-bf69-3689855f9bbf' AS long;
SELECT count(*) AS names, count(DISTINCT id) AS ids, bool_and(idgen.uuid_version(id) = 5
    AND idgen.uuid_variant(id) = 'RFC 9562') AS stamped
FROM (SELECT idgen.uuid_v5(md5((n % 10)::text)::uuid, (n / 10)::text) AS id FROM generate_series(0, 9999) n) s;

--
-- Named version 7: values from Python's hashlib. The time is rounded down to the millisecond.
-- (t/016_named_uuids.pl tests names that are not ASCII.)
--
SELECT instant, idgen.named_uuid_v7(instant, namespace, name), expected
FROM (VALUES (timestamptz '2026-01-01 00:00:00.123456+00', uuid '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
              'www.example.com', uuid '019b76da-a87b-75c1-a4e2-8dd7437c7efd'),
             (idgen.uuid_timestamp('018f0000-0000-7000-8000-000000000001'), '5ca1ab1e-0000-4000-8000-000000000001',
              '018f0000-0000-7000-8000-000000000001', '018f0000-0000-74e9-aa85-9fa9e2e4c59c'),
             ('1970-01-01 00:00:00+00', '00000000-0000-0000-0000-000000000000', '',
              '00000000-0000-7374-a5e7-b21d755b348a'),
             ('2004-02-29 23:59:59.999999+00', '6ba7b814-9dad-11d1-80b4-00c04fd430c8', 'evt_1NG8Du2eZvKYlo2CUI79vXWy',
              '00fb03b8-47ff-7b3f-a89f-2031912bc04b')) v (instant, namespace, name, expected);
SELECT input, idgen.named_uuid_v7(input, '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')
FROM (VALUES (timestamptz '1970-01-01 00:00:00.000999+00'), ('10889-08-02 05:31:50.655999+00')) v (input);
SELECT idgen.named_uuid_v7('1969-12-31 23:59:59.999999+00', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com');
SELECT idgen.named_uuid_v7('10889-08-02 05:31:50.656+00', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com');
SELECT idgen.named_uuid_v7('infinity', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com');
SELECT idgen.named_uuid_v7('-infinity', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com');

--
-- ObjectIds (errors.sql tests errors, within_numbers.sql ranges, and t/001_clock_steps.pl order)
--
SELECT id, idgen.is_object_id(id), idgen.object_id_timestamp(id)
FROM (VALUES ('507f1f77bcf86cd799439011'), ('507F1F77BCF86CD799439011'), ('507f1F77bCf86cd799439011'),
             ('000000000000000000000000'), ('7fffffffffffffffffffffff'), ('800000000000000000000000'),
             ('ffffffffffffffffffffffff'), ('FFFFFFFFFFFFFFFFFFFFFFFF'), ('0123456789abcdefABCDEF01')) v (id);
CREATE TABLE run (n int, id text COLLATE "C" PRIMARY KEY DEFAULT idgen.object_id());
INSERT INTO run SELECT n FROM generate_series(1, 10000) n;
SELECT count(*) AS ids, bool_and(id ~ '^[0-9a-f]{24}$' AND idgen.is_object_id(id)) AS well_formed,
       count(DISTINCT substr(id, 9, 10)) AS processes FROM run;
DROP TABLE run;

--
-- Known answers of bases, for uuid and bigint (errors.sql tests errors, and t/003_properties.pl properties)
--
SELECT base, idgen.uuid_to_base(id, base)
FROM unnest('{16,32,36,58,62}'::int[]) base,
     (VALUES (uuid '00000000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'),
             ('00000000-0000-0000-0000-00000000003a'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff')) v (id)
ORDER BY base, id;

SELECT base, idgen.bigint_to_base(n, base)
FROM unnest('{16,32,36,58,62}'::int[]) base, (VALUES (0::bigint), (57), (61), (9223372036854775807)) v (n)
    ORDER BY base, n;

-- read upper and lower case, and confusable characters
SELECT idgen.bigint_from_base('7F', 16) AS upper_16, idgen.bigint_from_base('7f', 16) AS lower_16,
       idgen.bigint_from_base('Zz', 36) AS both_36, idgen.bigint_from_base('iIlLoO', 32) AS confusable,
       idgen.bigint_from_base('111100', 32) AS as_these, idgen.bigint_from_base('aZ', 32) AS lower_a,
       idgen.bigint_from_base('aA', 58) AS lower_upper_58, idgen.bigint_from_base('Aa', 58) AS upper_lower_58,
       idgen.bigint_from_base('aA', 62) AS lower_upper_62, idgen.bigint_from_base('Aa', 62) AS upper_lower_62;
SELECT idgen.uuid_from_base('1', 58) AS zero_58, idgen.uuid_from_base('0', 62) AS zero_62, idgen.uuid_from_base('z',
    36) AS thirty_five;
