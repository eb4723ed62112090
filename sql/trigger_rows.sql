-- check_recent_id(): the rows that it rejects, in both editions. (trigger.sql tests its messages and rights.)
SET datestyle = 'ISO, YMD';
CREATE FUNCTION violation(statement text, OUT state text, OUT "table" text, OUT "constraint" text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, "table" = TABLE_NAME, "constraint" = CONSTRAINT_NAME;
END $$;

--
-- UPDATE: a new value is checked, and an unchanged value passes
--
CREATE TABLE guarded (id uuid, n int);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON guarded
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
ALTER TABLE guarded DISABLE TRIGGER check_id;
INSERT INTO guarded VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1), (NULL, 2);
ALTER TABLE guarded ENABLE TRIGGER check_id;
SELECT statement, f.state FROM (VALUES
    ('n = 3 WHERE n = 1'), ('id = id, n = 4'), ($$id = '017F22E2-79B0-7CC3-98C4-DC0C0C07398F' WHERE n = 4$$),
    ($$id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'$$),
    ($$id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' WHERE id IS NULL$$),
    ('id = gen_random_uuid()'), ('id = NULL'), ('id = idgen.uuid_v7(), n = 5')) v (statement),
    violation('UPDATE guarded SET ' || statement) f;
SELECT n, idgen.is_recent_uuid_v7(id) FROM guarded;

--
-- A repeated INSERT: if the identifier is outside the window but in the table, the unique index handles it
--
CREATE TABLE made (id uuid PRIMARY KEY, n int);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
CREATE TRIGGER made_id_is_recent BEFORE INSERT OR UPDATE OF id ON made
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 2);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 2) ON CONFLICT DO NOTHING;
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    3) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING *;
SELECT statement, f.state, f."constraint" FROM (VALUES
    ($$INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e') ON CONFLICT DO NOTHING$$),
    ($$UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'$$),
    ($$INSERT INTO made VALUES (idgen.uuid_v7()); UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'$$),
    -- as a single statement
    ($$WITH u AS (UPDATE made SET n = n + 1 RETURNING id) INSERT INTO made SELECT id FROM u$$)) v (statement),
    violation(statement) f;
SELECT * FROM made;

-- An identifier that the transaction has deleted or changed also passes, except in the portable edition.
SELECT CASE WHEN to_regproc('idgen.portable_version') IS NULL THEN 'passes' ELSE '23514' END AS passes \gset
CREATE FUNCTION old_id() RETURNS uuid LANGUAGE sql RETURN '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid;
CREATE FUNCTION tried(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RAISE 'roll back';
EXCEPTION WHEN OTHERS THEN
    RETURN CASE WHEN SQLSTATE = 'P0001' THEN 'passes' ELSE SQLSTATE END;
END $$;
CREATE VIEW replaced AS SELECT statement, tried(statement) = expected AS as_expected FROM (VALUES
    ('DELETE FROM made; INSERT INTO made VALUES (old_id())', :'passes'),
    ('DELETE FROM made; INSERT INTO made VALUES (old_id()) ON CONFLICT (id) DO UPDATE SET n = 4', :'passes'),
    ('DELETE FROM made; MERGE INTO made USING (SELECT old_id()) s (old) ON id = old
        WHEN NOT MATCHED THEN INSERT VALUES (old)', :'passes'),
    ('UPDATE made SET id = idgen.uuid_v7(); INSERT INTO made VALUES (old_id())', :'passes'),
    ('UPDATE made SET id = idgen.uuid_v7(); UPDATE made SET id = old_id()', :'passes'),
    -- as a single statement
    ('WITH d AS (DELETE FROM made RETURNING id) INSERT INTO made SELECT id FROM d', :'passes'),
    ('WITH u AS (UPDATE made SET id = idgen.uuid_v7() RETURNING 1) INSERT INTO made SELECT old_id() FROM u', :'passes'),
    -- in a subtransaction, and in a subtransaction that is rolled back
    ('SELECT violation(''DELETE FROM made''); INSERT INTO made VALUES (old_id())', :'passes'),
    ('SELECT tried(''DELETE FROM made''); INSERT INTO made VALUES (old_id())', '23505'),
    -- the transaction has inserted the row that it deletes, or the table has been truncated
    ('TRUNCATE made; ALTER TABLE made DISABLE TRIGGER ALL; INSERT INTO made VALUES (old_id());
        ALTER TABLE made ENABLE TRIGGER ALL; DELETE FROM made; INSERT INTO made VALUES (old_id())', '23514'),
    ('TRUNCATE made; INSERT INTO made VALUES (old_id())', '23514')) v (statement, expected);
TABLE replaced;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT bool_and(as_expected) FROM replaced;
COMMIT;
-- after the commit of the DELETE
DELETE FROM made;
SELECT tried('INSERT INTO made VALUES (old_id())');
DROP VIEW replaced;
DROP FUNCTION tried, old_id;

-- only a unique, valid, non-deferrable and non-partial index without other key columns is used
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
FROM (VALUES ('SELECT'), ('CREATE UNIQUE INDEX i ON kept (id)'), ('CREATE UNIQUE INDEX i ON kept (id) INCLUDE (n)'),
    ('CREATE UNIQUE INDEX i ON kept (id DESC NULLS LAST)'),
             ('ALTER TABLE kept ADD CONSTRAINT c UNIQUE (id)'), ('CREATE INDEX i ON kept (id)'),
             ('CREATE UNIQUE INDEX i ON kept (id, n)'),
             ('CREATE UNIQUE INDEX i ON kept (n)'), ('CREATE UNIQUE INDEX i ON kept (id) WHERE n = 1'),
             ('CREATE UNIQUE INDEX i ON kept ((id::text))'),
             ('ALTER TABLE kept ADD CONSTRAINT c UNIQUE (id) DEFERRABLE'),
             ($$CREATE UNIQUE INDEX i ON kept (id); UPDATE pg_index SET indisvalid = false
                 WHERE indexrelid = 'i'::regclass$$)) v (definition);
RESET client_min_messages;

-- partitions: the existing row must be in the same partition as the new one, as for the unique index
CREATE TABLE logged (id uuid, at date, UNIQUE (id, at)) PARTITION BY RANGE (at);
CREATE TABLE logged_old (at date, id uuid UNIQUE);
ALTER TABLE logged ATTACH PARTITION logged_old FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
CREATE TABLE logged_new PARTITION OF logged FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
INSERT INTO logged SELECT '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', d FROM unnest('{2019-05-05,2022-05-05}'::date[]) d;
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON logged
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
SELECT d, f.state, f."table", f."constraint" FROM unnest('{2019-05-05,2019-05-06,2022-05-05,2022-05-06}'::date[]) d,
    violation(format($$INSERT INTO logged VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', %L)$$, d)) f;
-- an UPDATE that moves a row to another partition inserts it there
SELECT move, f.state FROM (VALUES ($$at = '2019-06-06' WHERE at < '2020-01-01'$$),
    ($$at = '2023-03-03' WHERE at < '2020-01-01'$$)) v (move),
    violation('UPDATE logged SET ' || move) f;

-- the column is found by its name, even if columns are added, dropped and renamed
CREATE DOMAIN key AS uuid;
CREATE DOMAIN narrow_key AS key;
CREATE TABLE changing (k uuid, "Key" uuid, d narrow_key, t text, id uuid, g uuid GENERATED ALWAYS AS (id) STORED);
CREATE FUNCTION in_each_column(change text) RETURNS TABLE (name text, outcomes text[]) LANGUAGE plpgsql AS $$
DECLARE
    options text;
    value text;
BEGIN
    EXECUTE change;
    FOREACH name IN ARRAY '{k,Key,d,t,id,g,missing}'::text[] LOOP
        outcomes := '{}';
        FOREACH options IN ARRAY ARRAY['', $o$, 'past_tolerance=1 hour', 'future_tolerance=2 hours'$o$] LOOP
            EXECUTE format('CREATE OR REPLACE TRIGGER check_id BEFORE INSERT ON changing FOR EACH ROW
                EXECUTE FUNCTION idgen.check_recent_id(%L, ''uuid_v7''%s)', name, options);
            FOREACH value IN ARRAY ARRAY['NULL', 'idgen.uuid_v7()', $v$'017f22e2-79b0-4cc3-98c4-dc0c0c07398f'$v$] LOOP
                outcomes := outcomes || (SELECT coalesce(nullif(state, ''), 'done')
                                         FROM violation(format('INSERT INTO changing (%I) VALUES (%s)', name, value)));
            END LOOP;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT * FROM in_each_column('SELECT');
SELECT * FROM in_each_column('ALTER TABLE changing DROP COLUMN k');
SELECT * FROM in_each_column('ALTER TABLE changing ADD COLUMN k uuid');
SELECT * FROM in_each_column('ALTER TABLE changing DROP COLUMN "Key"');
SELECT * FROM in_each_column('ALTER TABLE changing RENAME COLUMN k TO "Key"');
SELECT * FROM in_each_column('ALTER TABLE changing ADD COLUMN k uuid');
SELECT * FROM in_each_column('ALTER TABLE changing DROP COLUMN d, ADD COLUMN d uuid');

-- the trigger must be BEFORE INSERT OR UPDATE FOR EACH ROW
SELECT timing, f.state
FROM (VALUES ('AFTER INSERT ON kept FOR EACH ROW'), ('BEFORE INSERT ON kept FOR EACH STATEMENT'),
             ('BEFORE INSERT OR DELETE ON kept FOR EACH ROW'), ('BEFORE INSERT ON kept FOR EACH ROW')) v (timing),
     violation(format($$CREATE TRIGGER other %s EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
                        INSERT INTO kept VALUES (idgen.uuid_v7()); DELETE FROM kept; DROP TRIGGER other ON kept$$,
                            timing)) f;

DROP FUNCTION violation, with_index, in_each_column;
DROP TABLE guarded, made, kept, logged, changing;
DROP DOMAIN narrow_key, key;
