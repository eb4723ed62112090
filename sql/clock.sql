-- The setting idgen.clock, which check_on_insert() reads.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

CREATE TABLE orders (id uuid PRIMARY KEY, n int);
CREATE TRIGGER check_id BEFORE INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb');

-- without the setting, the clock is the wall clock
INSERT INTO orders VALUES (idgen.short_comb(), 1);
INSERT INTO orders SELECT idgen.short_comb(clock => now() - interval '5 minutes'), 2;
SHOW idgen.clock;
DO $$
BEGIN
    INSERT INTO orders VALUES (idgen.short_comb(clock => now() - interval '1 hour'), 3);
EXCEPTION WHEN check_violation THEN
    RAISE NOTICE 'refused: %', SQLERRM;
END $$;

-- a late batch sets its recorded clock for its transaction
BEGIN;
SET LOCAL idgen.clock = '2022-03-18 03:44:00+00';
INSERT INTO orders VALUES ('fff608f7-52d1-4320-9bac-f847db4148a8', 4), ('000a08f7-52d1-4320-9bac-f847db4148a8', 5);
SAVEPOINT one;
INSERT INTO orders VALUES ('000b08f7-52d1-4320-9bac-f847db4148a8', 6);
ROLLBACK TO one;
INSERT INTO orders VALUES ('000a08f7-52d1-7320-9bac-f847db4148a8', 6);
ROLLBACK TO one;
COMMIT;
SHOW idgen.clock;
SELECT n FROM orders ORDER BY n;

-- the error has the fields schema, table and column, and the trigger as the constraint
DO $$
DECLARE
    the_schema text;
    the_table text;
    the_column text;
    the_constraint text;
BEGIN
    PERFORM set_config('idgen.clock', '2022-03-18 03:44:00+00', true);
    INSERT INTO orders VALUES ('000b08f7-52d1-4320-9bac-f847db4148a8', 6);
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS the_schema = SCHEMA_NAME, the_table = TABLE_NAME, the_column = COLUMN_NAME,
        the_constraint = CONSTRAINT_NAME;
    RAISE NOTICE 'schema %, table %, column %, constraint %', the_schema, the_table, the_column, the_constraint;
END $$;

-- COPY fires the trigger
SET idgen.clock = '2022-03-18 03:44:00+00';
COPY orders FROM stdin;
00010000-52d1-4320-9bac-f847db4148a8	7
00020000-52d1-4320-9bac-f847db4148a8	8
\.
RESET idgen.clock;
SELECT count(*) FROM orders;

-- the value is ISO 8601, in UTC if it has no time zone, whatever TimeZone and
-- DateStyle are. It is exact: identifiers of the previous and of the next
-- millisecond are refused.
CREATE TABLE exact (id uuid);
CREATE TRIGGER check_id BEFORE INSERT ON exact
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'uuid_v7', '0');
CREATE FUNCTION accepted(instant timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO exact VALUES (idgen.uuid_v7(instant));
    RETURN true;
EXCEPTION WHEN check_violation THEN
    RETURN false;
END $$;
CREATE TABLE written (clock text, instant timestamptz);
INSERT INTO written VALUES
    ('2022-03-18', '2022-03-18 00:00:00+00'),
    ('2022-03-18 03:44', '2022-03-18 03:44:00+00'),
    ('2022-03-18T03:44', '2022-03-18 03:44:00+00'),
    ('2022-03-18 03:44:05', '2022-03-18 03:44:05+00'),
    ('2022-03-18 03:44:05.6', '2022-03-18 03:44:05.6+00'),
    ('2022-03-18T03:44:05.678901', '2022-03-18 03:44:05.678901+00'),
    ('2022-03-18T03:44:05.678901234Z', '2022-03-18 03:44:05.678901+00'),
    ('2022-03-18T03:44Z', '2022-03-18 03:44:00+00'),
    ('2022-03-18 03:44+00', '2022-03-18 03:44:00+00'),
    ('2022-03-18 03:44:05-08', '2022-03-18 11:44:05+00'),
    ('2022-03-18T03:44:05+05:30', '2022-03-17 22:14:05+00'),
    ('2022-03-18T03:44:05-0330', '2022-03-18 07:14:05+00'),
    ('2022-03-18 03:44:05.25+00:53:28', '2022-03-18 02:50:37.25+00'),
    ('2022-03-18 03:44:05+15:59:59', '2022-03-17 11:44:06+00'),
    ('2024-02-29 23:59:59', '2024-02-29 23:59:59+00'),
    ('2000-02-29', '2000-02-29 00:00:00+00'),
    ('2022-11-02 03:44', '2022-11-02 03:44:00+00'),
    ('10889-08-02 05:31:50.654', '10889-08-02 05:31:50.654+00');
CREATE FUNCTION misread() RETURNS SETOF written LANGUAGE plpgsql AS $$
DECLARE
    a written;
BEGIN
    FOR a IN SELECT * FROM written LOOP
        PERFORM set_config('idgen.clock', a.clock, true);
        IF accepted(a.instant - interval '1 ms') OR NOT accepted(a.instant) OR accepted(a.instant + interval '1 ms') THEN
            RETURN NEXT a;
        END IF;
    END LOOP;
END $$;
SELECT * FROM misread();
SET timezone = 'America/New_York';
SELECT * FROM misread();
SET datestyle = 'SQL, DMY';
SET timezone_abbreviations = 'Australia';
SET intervalstyle = 'sql_standard';
SELECT * FROM misread();

-- later changes of TimeZone and DateStyle do not affect the value
SET idgen.clock = '2022-11-02 03:44:00';
SET timezone = 'Asia/Kolkata';
SET datestyle = 'Postgres, YMD';
SELECT accepted('2022-11-02 03:44:00+00');
BEGIN;
SET LOCAL idgen.clock = '2022-12-02 03:44:00';
SELECT accepted('2022-11-02 03:44:00+00'), accepted('2022-12-02 03:44:00+00');
ROLLBACK;
SELECT accepted('2022-11-02 03:44:00+00'), accepted('2022-12-02 03:44:00+00');
SET idgen.clock = '294276-12-31 23:59:59.999999Z';
SET idgen.clock = '0001-01-01 00:00+15';
RESET idgen.clock;
SELECT accepted('2022-11-02 03:44:00+00');
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
RESET timezone_abbreviations;

-- values that the setting refuses
SET idgen.clock = 'yesterday';
SET idgen.clock = 'now';
DO $$
DECLARE
    refused text;
BEGIN
    FOREACH refused IN ARRAY ARRAY[
        'Now', ' now', 'today', 'tomorrow', 'today 12:00', 'infinity', '-infinity', 'epoch', 'noon', 'allballs',
        '2022-02-30', '2022-02-29', '2100-02-29', '2022-13-01', '2022-00-10', '2022-01-00', '0000-01-01', '294277-01-01', '1000000-01-01',
        '294276-12-31 23:59:59.999999-00:00:01', '2022-03-18 BC', '2022-03-18 03:44:00+00 BC', '-2022-03-18', '+2022-03-18',
        '1647575040', '20220318', '22-03-18', '2022-3-18', '2022-03-8', '2022-03', '2022', '18/03/2022', '03/18/2022', '2022/03/18',
        '2022-03-18 ', ' 2022-03-18', '2022-03-18Z', '2022-03-18+01', '2022-03-18T', '2022-03-18 03', '2022-03-18 3:44',
        '2022-03-18  03:44', '2022-03-18t03:44', '2022-03-18_03:44', '2022-03-18 24:00', '2022-03-18 23:60', '2022-03-18 23:59:60',
        '2022-03-18 03:44.5', '2022-03-18 03:44:', '2022-03-18 03:44:00.', '2022-03-18 03:44:00.Z', '2022-03-18 03:44:00,5', '2022-03-18 03:44:00. 5',
        '2022-03-18 03:44 PM', '2022-03-18 03:44 UTC', '2022-03-18 03:44 EST', '2022-03-18 03:44 America/New_York', '2022-03-18 03:44 +00',
        '2022-03-18 03:44z', '2022-03-18 03:44ZZ', '2022-03-18 03:44+', '2022-03-18 03:44+1', '2022-03-18 03:44+01:', '2022-03-18 03:44+01:0',
        '2022-03-18 03:44+010', '2022-03-18 03:44+01000', '2022-03-18 03:44+0100:00', '2022-03-18 03:44+01:00:', '2022-03-18 03:44+01:00:00:00',
        '2022-03-18 03:44+16', '2022-03-18 03:44+15:60', '2022-03-18 03:44+01:00 ', U&'\06F2\06F0\06F2\06F2-03-18']
    LOOP
        BEGIN
            PERFORM set_config('idgen.clock', refused, false);
            RAISE EXCEPTION 'accepted: %', refused;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END LOOP;
END $$;
ALTER ROLE CURRENT_USER SET idgen.clock = 'noon';
ALTER SYSTEM SET idgen.clock = 'noon';
SHOW idgen.clock;

-- a value that is set before the session's first call, which loads the library and
-- checks the value
\c -
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET idgen.clock = '2022-03-18 03:44:00+00';
INSERT INTO orders VALUES ('00030000-52d1-4320-9bac-f847db4148a8', 11);
\c -
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET idgen.clock = 'half past two';
INSERT INTO orders VALUES (idgen.short_comb(), 12);
SHOW idgen.clock;
SET idgen.clock = 'half past two';
RESET idgen.clock;
INSERT INTO orders VALUES (idgen.short_comb(), 12);

-- all arguments: tolerance, period, prefix_bytes, past, future; an empty one is the default
CREATE TABLE parts (id uuid, other uuid);
CREATE TRIGGER check_id BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb', '', '30 seconds', '1', '1 minute', '2 minutes');
CREATE TRIGGER check_other BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('other', 'comb', '', '1 hour', '1 second');
SET idgen.clock = '1970-01-01 01:00:00+00';  -- 30-second period number 120 = 0x78
INSERT INTO parts VALUES ('7608f700-52d1-4320-9bac-f847db4148a8', idgen.comb_floor('1970-01-01 00:00:00+00'));
INSERT INTO parts VALUES ('7c08f700-52d1-4320-9bac-f847db4148a8', idgen.comb_ceil('1970-01-01 01:00:01+00'));
INSERT INTO parts VALUES ('7508f700-52d1-4320-9bac-f847db4148a8', NULL);
INSERT INTO parts VALUES ('7d08f700-52d1-4320-9bac-f847db4148a8', NULL);
INSERT INTO parts VALUES (NULL, '0036ee83-e900-4000-8000-000000000000');
INSERT INTO parts VALUES (NULL, idgen.comb_floor('1970-01-01 01:00:01.001+00'));
SELECT count(*) FROM parts;
RESET idgen.clock;

-- partitions with columns in another order, and a domain over uuid
CREATE DOMAIN order_id AS uuid;
CREATE TABLE split (id order_id, at date) PARTITION BY RANGE (at);
CREATE TABLE split_old (dropped int, at date, id order_id);
ALTER TABLE split_old DROP COLUMN dropped;
ALTER TABLE split ATTACH PARTITION split_old FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
CREATE TABLE split_new PARTITION OF split FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
CREATE TRIGGER check_id BEFORE INSERT ON split
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb');
SET idgen.clock = '2022-03-18 03:44:00+00';
INSERT INTO split VALUES ('00000000-52d1-4320-9bac-f847db4148a8', '2019-05-05'), ('00010000-52d1-4320-9bac-f847db4148a8', '2022-05-05');
INSERT INTO split VALUES ('80000000-52d1-4320-9bac-f847db4148a8', '2019-05-05');
INSERT INTO split VALUES ('80000000-52d1-4320-9bac-f847db4148a8', '2022-05-05');
SELECT tableoid::regclass, id FROM split ORDER BY id;
RESET idgen.clock;

DROP FUNCTION misread, accepted;
DROP TABLE orders, parts, split, exact, written;
DROP DOMAIN order_id;

-- the function is not called as a trigger
SELECT idgen.check_on_insert();
