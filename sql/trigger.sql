-- check_recent_id(): its error messages, and rights. trigger_rows.sql tests which rows it rejects.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

CREATE TABLE orders (id uuid PRIMARY KEY, n int);
CREATE TRIGGER check_id BEFORE INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');

INSERT INTO orders SELECT idgen.short_comb(clock => now() - n * interval '5 minutes'), n FROM generate_series(0, 1) n;

-- Return the fields of the error. It has the fields schema, table and column, and the name of the trigger as the
-- constraint. Identifiers, times and prefixes are replaced, because they vary.
CREATE FUNCTION violation(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text,
                          OUT "schema" text, OUT "table" text, OUT "column" text, OUT "constraint" text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '';
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT,
        schema = SCHEMA_NAME, "table" = TABLE_NAME, "column" = COLUMN_NAME, "constraint" = CONSTRAINT_NAME;
    detail := regexp_replace(detail, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<id>');
    detail := regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00', '<time>', 'g');
    detail := regexp_replace(detail, '\m(prefix|are|to) ([0-9a-f]{2}){1,6}\M', '\1 <prefix>', 'g');
END $$;
\x on
SELECT * FROM violation($$INSERT INTO orders VALUES (idgen.short_comb(clock => now() - interval '1 hour'), 3)$$);
SELECT * FROM violation($$INSERT INTO orders VALUES ('000a08f7-52d1-7320-9bac-f847db4148a8', 3)$$);
SELECT * FROM violation($$INSERT INTO orders VALUES ('000a08f7-52d1-4320-dbac-f847db4148a8', 3)$$);
\x off
INSERT INTO orders VALUES ('000a08f7-52d1-7320-9bac-f847db4148a8', 3);

-- pass all arguments, in any order
CREATE TABLE parts (id uuid, other uuid);
CREATE TRIGGER check_id BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'prefix_bytes=1', 'period=30 seconds',
    'future_tolerance=2 minutes', 'past_tolerance=1 hour', 'tolerance=1 second');
CREATE TRIGGER check_other BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('other', 'comb', 'past_tolerance=1 hour',
    'future_tolerance=1 second');
SELECT age, f.message, f.detail, f."column", f."constraint"
FROM unnest('{-10 minutes,0,30 minutes,90 minutes}'::interval[]) age,
     violation(format($$INSERT INTO parts
         VALUES (idgen.short_comb('30 seconds', 1, clock => now() - interval %L), NULL)$$, age)) f;
SELECT age, f.message, f.detail, f."column", f."constraint"
FROM unnest('{-10 minutes,0,30 minutes,90 minutes}'::interval[]) age,
     violation(format($$INSERT INTO parts VALUES (NULL, idgen.comb(now() - interval %L))$$, age)) f;
SELECT count(id), count(other) FROM parts;

-- use partitions whose columns are in another order, and a domain over uuid
CREATE DOMAIN order_id AS uuid;
CREATE TABLE split (id order_id, at date) PARTITION BY RANGE (at);
CREATE TABLE split_old (dropped int, at date, id order_id);
ALTER TABLE split_old DROP COLUMN dropped;
ALTER TABLE split ATTACH PARTITION split_old FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
CREATE TABLE split_new PARTITION OF split FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
CREATE TRIGGER check_id BEFORE INSERT ON split
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');
INSERT INTO split VALUES (idgen.short_comb(), '2019-05-05'), (idgen.short_comb(), '2022-05-05');
SELECT at, f.message, f.detail, f."table", f."column"
FROM (VALUES (date '2019-05-05'), ('2022-05-05')) v (at),
     violation(format($$INSERT INTO split VALUES (idgen.short_comb(clock => now() - interval '1 day'), %L)$$, at)) f;
SELECT tableoid::regclass, count(*) FROM split GROUP BY 1 ORDER BY 1;

-- the HINT contains the period and the prefix length of the trigger, and its call generates keys that the trigger
-- accepts
CREATE TABLE hourly (id uuid);
CREATE TRIGGER check_id BEFORE INSERT ON hourly
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'period=1 hour', 'prefix_bytes=1');
SELECT f.message, f.hint, violation('INSERT INTO hourly VALUES (' || substring(f.hint FROM 'with (.*)\.$') || ')')
FROM (VALUES (idgen.short_comb('1 hour', 1, clock => now() - interval '3 hours')), (idgen.uuid_v7())) v (id),
     violation(format('INSERT INTO hourly VALUES (%L)', id)) f;

-- a role that can only insert and update this column cannot write an old identifier
CREATE TABLE guarded (id uuid PRIMARY KEY, n int);
INSERT INTO guarded VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON guarded
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
CREATE ROLE regress_idgen_client;
GRANT INSERT, UPDATE (id) ON guarded TO regress_idgen_client;
SET ROLE regress_idgen_client;
SELECT state, "table", "constraint" FROM violation($$UPDATE guarded SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'$$);
RESET ROLE;

-- for a repeated INSERT, the rights of the role, row-level security and search_path do not matter
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY write ON guarded FOR INSERT WITH CHECK (true);
SET ROLE regress_idgen_client;
CREATE FUNCTION pg_temp.never(uuid, uuid) RETURNS boolean LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'a hostile operator'; END $$;
CREATE OPERATOR pg_temp.= (FUNCTION = pg_temp.never, LEFTARG = uuid, RIGHTARG = uuid);
SET search_path = pg_temp, pg_catalog, public;
TABLE guarded;
SELECT id, f.state, f."constraint"
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e')) v (id),
     public.violation(format('INSERT INTO guarded VALUES (%L)', id)) f;
RESET search_path;
RESET ROLE;
DISCARD TEMP;

-- an identifier whose row the transaction has deleted passes (see trigger_rows.sql), even after changes and with
-- savepoints
CREATE TABLE units (id uuid PRIMARY KEY, n int);
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON units
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
\set VERBOSITY sqlstate
BEGIN;
UPDATE units SET n = 2;
SELECT n FROM units FOR UPDATE;
MERGE INTO units u USING units s ON u.id = s.id WHEN MATCHED THEN DELETE;
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 3);
SAVEPOINT s;
DELETE FROM units;
RELEASE s;
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 4);
SAVEPOINT s;
DELETE FROM units;
SAVEPOINT t;
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 5);
ROLLBACK TO t;
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 6);
ROLLBACK TO s;
INSERT INTO units VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 7);
ROLLBACK TO s;
TABLE units;
COMMIT;
\set VERBOSITY default

-- a generated column is rejected
CREATE TABLE copies (id uuid, copy uuid GENERATED ALWAYS AS (id) STORED);
CREATE TRIGGER check_copy BEFORE INSERT ON copies
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('copy', 'short_comb');
INSERT INTO copies VALUES ('80000000-52d1-4320-9bac-f847db4148a8');

DROP FUNCTION violation;
DROP TABLE orders, parts, split, hourly, guarded, units, copies;
DROP DOMAIN order_id;
DROP ROLE regress_idgen_client;

-- call the function without a trigger
SELECT idgen.check_recent_id();
