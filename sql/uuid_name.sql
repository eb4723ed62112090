-- uuid_v5(), which the portable edition does not have.
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
SELECT idgen.uuid_v5(NULL, 'a') IS NULL AND idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', NULL) IS NULL
    AS all_null;

