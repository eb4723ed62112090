-- Call each function that looks up catalogs a few times. dev/test-assertions.sh runs this test on a server that
-- discards all caches at each lookup, where a single call takes a second.
\set VERBOSITY terse
SET idgen.node_id = 7;
SET idgen.launch_id = 42;

-- call the functions that follow the clock, and decimal_id(), even after DDL in the same transaction and after its
-- rollback
CREATE FUNCTION increase(calls int) RETURNS boolean LANGUAGE sql AS $$
    SELECT bool_and(a < b AND c < d AND e < f AND g < h AND i < j)
    FROM (SELECT idgen.snowflake() AS a, idgen.snowflake() AS b, idgen.js_id() AS c, idgen.js_id() AS d,
                 idgen.uuid_v7_ordered() AS e, idgen.uuid_v7_ordered() AS f, idgen.trace_id() AS g, idgen.trace_id()
                 AS h,
                 idgen.decimal_id() AS i, idgen.decimal_id() AS j
          FROM generate_series(1, calls) OFFSET 0) s $$;
SELECT increase(3);
BEGIN;
ALTER SEQUENCE idgen.snowflake_mark CACHE 2;
SELECT increase(1);
SAVEPOINT s;
ALTER SEQUENCE idgen.snowflake_mark RESTART;
SELECT increase(1), (SELECT last_value > 1 FROM idgen.snowflake_mark) AS has_mark;
ROLLBACK TO s;
SELECT increase(1);
ROLLBACK;
SELECT increase(1);

CREATE SEQUENCE blocks;
SELECT idgen.sequence_comb('blocks', 1, 256) < idgen.sequence_comb('blocks', 1, 256) AS ascending;

-- record, find and delete commands
SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-0000000000aa', 1, 'order', '[1]');
SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-0000000000aa', 2, 'order', '[1.0]');
SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-0000000000aa', 2, 'invoice');
SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-0000000000ab', 'c0000000-0000-4000-8000-0000000000ff'::uuid,
    'order');
REINDEX TABLE idgen.creation_identifiers;
SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-0000000000ab', idgen.uuid_v4(), 'order');
SELECT idgen.forget_creation('c0000000-0000-4000-8000-0000000000aa'),
       idgen.forget_creation_of('c0000000-0000-4000-8000-0000000000ff'::uuid),
       idgen.purge_creations('0'), idgen.trim_creations(0);

-- check identifiers with the trigger
CREATE TABLE made (id uuid PRIMARY KEY);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
CREATE TRIGGER made_id BEFORE INSERT OR UPDATE OF id ON made
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7', 'tolerance=10 minutes');
INSERT INTO made SELECT idgen.uuid_v7() FROM generate_series(1, 3);
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f') ON CONFLICT DO NOTHING;
INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e') ON CONFLICT DO NOTHING;
UPDATE made SET id = id;

-- create and use id domains
SELECT idgen.create_id_domain('catalogs_id', 'catalogs');
SELECT idgen.create_id_domain('other_id', 'catalogs');
SELECT p.prefix, p.domain FROM idgen.parse_prefixed_id(idgen.prefixed_id_from_uuid('catalogs', idgen.uuid_v4())) p;
SELECT 'another_01'::catalogs_id;

DROP TABLE made;
DROP DOMAIN catalogs_id;
DROP SEQUENCE blocks;
DROP FUNCTION increase;
DELETE FROM idgen.id_prefixes WHERE prefix = 'catalogs';
