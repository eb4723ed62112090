-- check_recent_id()
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

CREATE TABLE orders (id uuid PRIMARY KEY, n int);
CREATE TRIGGER check_id BEFORE INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');

INSERT INTO orders VALUES (idgen.short_comb(), 1);
INSERT INTO orders SELECT idgen.short_comb(clock => now() - interval '5 minutes'), 2;
DO $$
BEGIN
    INSERT INTO orders VALUES (idgen.short_comb(clock => now() - interval '1 hour'), 3);
EXCEPTION WHEN check_violation THEN
    RAISE NOTICE 'refused: %', SQLERRM;
END $$;
SELECT n FROM orders ORDER BY n;

-- the error has the fields schema, table and column, and the trigger as the constraint;
-- identifiers, times and prefixes are replaced, since they vary
CREATE FUNCTION violation(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text,
                          OUT "schema" text, OUT "table" text, OUT "column" text, OUT "constraint" text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '';
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
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

-- a NULL identifier is accepted; a default is checked like any other value
CREATE TABLE notes (note_id uuid DEFAULT idgen.uuid_v7(), text text);
CREATE TRIGGER check_id BEFORE INSERT ON notes
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('note_id', 'uuid_v7', 'tolerance=1 minute');
INSERT INTO notes VALUES (NULL, 'null');
INSERT INTO notes (text) VALUES ('default');
SELECT text FROM notes ORDER BY text;

-- COPY fires the trigger
\set VERBOSITY sqlstate
COPY notes FROM stdin;
017f22e2-79b0-7cc3-98c4-dc0c0c07398f	of 2022
\.
\set VERBOSITY default
COPY notes FROM stdin;
\N	copied
\.
SELECT text FROM notes ORDER BY text;

-- all arguments, in any order
CREATE TABLE parts (id uuid, other uuid);
CREATE TRIGGER check_id BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'prefix_bytes=1', 'period=30 seconds', 'future_tolerance=2 minutes', 'past_tolerance=1 hour', 'tolerance=1 second');
CREATE TRIGGER check_other BEFORE INSERT ON parts
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('other', 'comb', 'past_tolerance=1 hour', 'future_tolerance=1 second');
SELECT age, f.message, f.detail, f."column", f."constraint"
FROM unnest('{-10 minutes,0,30 minutes,90 minutes}'::interval[]) age,
     violation(format($$INSERT INTO parts VALUES (idgen.short_comb('30 seconds', 1, clock => now() - interval %L), NULL)$$, age)) f;
SELECT age, f.message, f.detail, f."column", f."constraint"
FROM unnest('{-10 minutes,0,30 minutes,90 minutes}'::interval[]) age,
     violation(format($$INSERT INTO parts VALUES (NULL, idgen.comb(now() - interval %L))$$, age)) f;
SELECT count(id), count(other) FROM parts;

-- partitions with columns in another order, and a domain over uuid
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

-- the HINT has the period and the width that the trigger has, and its call generates what
-- the trigger accepts
CREATE TABLE hourly (id uuid);
CREATE TRIGGER check_id BEFORE INSERT ON hourly
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'period=1 hour', 'prefix_bytes=1');
SELECT f.message, f.hint, violation('INSERT INTO hourly VALUES (' || substring(f.hint FROM 'with (.*)\.$') || ')')
FROM (VALUES (idgen.short_comb('1 hour', 1, clock => now() - interval '3 hours')), (idgen.uuid_v7())) v (id),
     violation(format('INSERT INTO hourly VALUES (%L)', id)) f;

--
-- UPDATE: a new value is checked, and an unchanged one passes
--
CREATE TABLE guarded (id uuid, n int);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON guarded
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
ALTER TABLE guarded DISABLE TRIGGER check_id;
INSERT INTO guarded VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1), (NULL, 2);
ALTER TABLE guarded ENABLE TRIGGER check_id;
SELECT statement, f.state FROM (VALUES
    ('n = 3 WHERE n = 1'), ('id = id, n = 4'), ($$id = '017F22E2-79B0-7CC3-98C4-DC0C0C07398F' WHERE n = 4$$),
    ($$id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'$$), ($$id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' WHERE id IS NULL$$),
    ('id = idgen.uuid_v4()'), ('id = NULL'), ('id = idgen.uuid_v7(), n = 5')) v (statement),
    violation('UPDATE guarded SET ' || statement) f;
SELECT n, idgen.is_recent_uuid_v7(id) FROM guarded;

-- a role that may update only the column cannot write an old identifier
CREATE ROLE regress_idgen_client;
GRANT INSERT, UPDATE (id) ON guarded TO regress_idgen_client;
SET ROLE regress_idgen_client;
SELECT state, "table", "constraint" FROM violation($$UPDATE guarded SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'$$);
RESET ROLE;

--
-- A repeated INSERT: an identifier outside the window that is in the table is left to the
-- unique index
--
CREATE TABLE made (id uuid PRIMARY KEY, n int);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
CREATE TRIGGER made_id_is_recent BEFORE INSERT OR UPDATE OF id ON made
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 2);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 2) ON CONFLICT DO NOTHING;
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 3) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING *;
SELECT statement, f.state, f."constraint" FROM (VALUES
    ($$INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e') ON CONFLICT DO NOTHING$$),
    ($$UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'$$),
    ($$INSERT INTO made VALUES (idgen.uuid_v7()); UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'$$),
    ($$DELETE FROM made; INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')$$),
    -- as one statement
    ($$WITH d AS (DELETE FROM made RETURNING id) INSERT INTO made SELECT id FROM d$$),
    ($$WITH u AS (UPDATE made SET id = idgen.uuid_v7() RETURNING 1) INSERT INTO made SELECT '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' FROM u$$),
    ($$WITH u AS (UPDATE made SET n = n + 1 RETURNING id) INSERT INTO made SELECT id FROM u$$)) v (statement),
    violation(statement) f;
SELECT * FROM made;

-- the rights of the role, row-level security and search_path do not matter
ALTER TABLE made ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY write ON made FOR INSERT WITH CHECK (true);
GRANT INSERT ON made TO regress_idgen_client;
SET ROLE regress_idgen_client;
CREATE FUNCTION pg_temp.never(uuid, uuid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'a hostile operator'; END $$;
CREATE OPERATOR pg_temp.= (FUNCTION = pg_temp.never, LEFTARG = uuid, RIGHTARG = uuid);
SET search_path = pg_temp, pg_catalog, public;
TABLE made;
SELECT id, f.state, f."constraint"
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e')) v (id),
     public.violation(format('INSERT INTO made VALUES (%L)', id)) f;
RESET search_path;
RESET ROLE;
DISCARD TEMP;

-- the index is unique, valid, not deferrable and not partial, and has no other key column
CREATE TABLE kept (id uuid, n int);
INSERT INTO kept VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
CREATE TRIGGER check_id BEFORE INSERT ON kept
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
CREATE FUNCTION with_index(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
BEGIN
    EXECUTE definition;
    BEGIN
        INSERT INTO kept VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
    EXCEPTION WHEN OTHERS THEN
        state := SQLSTATE;
    END;
    DROP INDEX IF EXISTS i;
    ALTER TABLE kept DROP CONSTRAINT IF EXISTS c;
    RETURN state;
END $$;
SET client_min_messages = warning;
SELECT definition, with_index(definition)
FROM (VALUES ('SELECT'), ('CREATE UNIQUE INDEX i ON kept (id)'), ('CREATE UNIQUE INDEX i ON kept (id) INCLUDE (n)'), ('CREATE UNIQUE INDEX i ON kept (id DESC NULLS LAST)'),
             ('ALTER TABLE kept ADD CONSTRAINT c UNIQUE (id)'), ('CREATE INDEX i ON kept (id)'), ('CREATE UNIQUE INDEX i ON kept (id, n)'),
             ('CREATE UNIQUE INDEX i ON kept (n)'), ('CREATE UNIQUE INDEX i ON kept (id) WHERE n = 1'), ('CREATE UNIQUE INDEX i ON kept ((id::text))'),
             ('ALTER TABLE kept ADD CONSTRAINT c UNIQUE (id) DEFERRABLE'),
             ($$CREATE UNIQUE INDEX i ON kept (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass$$)) v (definition);
RESET client_min_messages;

-- partitions: the row must be in the partition of the new one, as for its unique index
CREATE TABLE logged (id order_id, at date, UNIQUE (id, at)) PARTITION BY RANGE (at);
CREATE TABLE logged_old (at date, id order_id UNIQUE);
ALTER TABLE logged ATTACH PARTITION logged_old FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
CREATE TABLE logged_new PARTITION OF logged FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
INSERT INTO logged SELECT '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', d FROM unnest('{2019-05-05,2022-05-05}'::date[]) d;
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON logged
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
SELECT d, f.state, f."table", f."constraint" FROM unnest('{2019-05-05,2019-05-06,2022-05-05,2022-05-06}'::date[]) d,
    violation(format($$INSERT INTO logged VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', %L)$$, d)) f;
-- an UPDATE that moves a row to another partition inserts it there
SELECT move, f.state FROM (VALUES ($$at = '2019-06-06' WHERE at < '2020-01-01'$$), ($$at = '2023-03-03' WHERE at < '2020-01-01'$$)) v (move),
    violation('UPDATE logged SET ' || move) f;

-- a generated column is refused
CREATE TABLE copies (id uuid, copy uuid GENERATED ALWAYS AS (id) STORED);
CREATE TRIGGER check_copy BEFORE INSERT ON copies
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('copy', 'short_comb');
INSERT INTO copies VALUES ('80000000-52d1-4320-9bac-f847db4148a8');

DROP FUNCTION violation, with_index;
DROP TABLE orders, notes, parts, split, hourly, guarded, made, kept, logged, copies;
DROP DOMAIN order_id;
DROP ROLE regress_idgen_client;

-- the function is not called as a trigger
SELECT idgen.check_recent_id();
