-- check_on_insert() and the setting idgen.clock.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

CREATE TABLE orders (id uuid PRIMARY KEY, n int);
CREATE TRIGGER check_id BEFORE INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb');

-- without the setting, the clock is the server's
INSERT INTO orders VALUES (idgen.short_comb(), 1);
INSERT INTO orders SELECT idgen.short_comb(clock => now() - interval '5 minutes'), 2;
SHOW idgen.clock;
DO $$
BEGIN
    INSERT INTO orders VALUES (idgen.short_comb(clock => now() - interval '1 hour'), 3);
EXCEPTION WHEN check_violation THEN
    RAISE NOTICE 'refused: %', SQLERRM;
END $$;

-- a late batch: the clock that it recorded, for its transaction
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

-- the error names the relation and the column
DO $$
DECLARE
    the_table text;
    the_column text;
BEGIN
    PERFORM set_config('idgen.clock', '2022-03-18 03:44:00+00', true);
    INSERT INTO orders VALUES ('000b08f7-52d1-4320-9bac-f847db4148a8', 6);
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS the_table = TABLE_NAME, the_column = COLUMN_NAME;
    RAISE NOTICE 'table %, column %', the_table, the_column;
END $$;

-- COPY goes through it, too, and the clock may change between its rows' batches
SET idgen.clock = '2022-03-18 03:44:00+00';
COPY orders FROM stdin;
00010000-52d1-4320-9bac-f847db4148a8	7
00020000-52d1-4320-9bac-f847db4148a8	8
\.
RESET idgen.clock;
SELECT count(*) FROM orders;

-- text without a time zone is read in the session's
SET timezone = 'America/New_York';
SET idgen.clock = '2022-03-17 23:44:00';
INSERT INTO orders VALUES ('00000000-52d1-4320-9bac-f847db4148a8', 9);
SET timezone = 'UTC';
INSERT INTO orders VALUES ('00000001-52d1-4320-9bac-f847db4148a8', 10);
RESET idgen.clock;

-- what the setting refuses
SET idgen.clock = 'yesterday';
SET idgen.clock = 'Now';
SET idgen.clock = ' now';
SET idgen.clock = 'today 12:00';
SET idgen.clock = 'infinity';
SET idgen.clock = 'epoch';
SET idgen.clock = 'noon';
SET idgen.clock = '2022-02-30';
SET idgen.clock = '294277-01-01';
SET idgen.clock = '1647575040';
SHOW idgen.clock;

-- set before the session's first call, which loads the library and looks at the value
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

-- a NULL identifier is the column's own affair, and a default is checked like any other
CREATE TABLE notes (note_id uuid DEFAULT idgen.uuid_v7(), text text);
CREATE TRIGGER check_id BEFORE INSERT ON notes
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('note_id', 'uuid_v7', '1 minute');
INSERT INTO notes VALUES (NULL, 'null');
INSERT INTO notes (text) VALUES ('default');
SELECT text FROM notes ORDER BY text;

-- every argument: tolerance, period, prefix_bytes, past, future; an empty one is the default
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

-- partitions, whose columns may lie elsewhere, and a domain over uuid
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

-- a generated column has no value yet when the trigger is called
CREATE TABLE copies (id uuid, copy uuid GENERATED ALWAYS AS (id) STORED);
CREATE TRIGGER check_copy BEFORE INSERT ON copies
    FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('copy', 'short_comb');
INSERT INTO copies VALUES ('80000000-52d1-4320-9bac-f847db4148a8');

DROP TABLE orders, notes, parts, split, copies;
DROP DOMAIN order_id;
