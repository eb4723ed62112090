-- ObjectId: reading, and object_id(). (Errors: errors.sql; bounds: within_numbers.sql, t/003_properties.pl;
-- order: t/001_clock_steps.pl.)
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

--
-- Reading
--
SELECT id, idgen.is_object_id(id), idgen.object_id_timestamp(id)
FROM (VALUES ('507f1f77bcf86cd799439011'), ('507F1F77BCF86CD799439011'), ('507f1F77bCf86cd799439011'),
             ('000000000000000000000000'), ('7fffffffffffffffffffffff'), ('800000000000000000000000'),
             ('ffffffffffffffffffffffff'), ('FFFFFFFFFFFFFFFFFFFFFFFF'), ('0123456789abcdefABCDEF01')) v (id);

--
-- object_id()
--
CREATE TABLE run (n int, id text COLLATE "C" PRIMARY KEY DEFAULT idgen.object_id());
INSERT INTO run SELECT n FROM generate_series(1, 10000) n;
SELECT count(*) AS ids, bool_and(id ~ '^[0-9a-f]{24}$' AND idgen.is_object_id(id)) AS well_formed,
       count(DISTINCT substr(id, 9, 10)) AS processes FROM run;
DROP TABLE run;
