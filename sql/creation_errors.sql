-- create_once() passes on errors of the indexes and triggers of its table, even if row-level security or missing rights
-- hide the key. If the error comes from an index on command_id, the call can be retried.
-- (specs/create_once_reindex.spec tests REINDEX CONCURRENTLY.)
CREATE FUNCTION failure(command_name text, OUT state text, OUT message text, OUT detail text, OUT hint text,
    OUT "constraint" text, OUT context text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000a', 2, command_name);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT, "constraint" = CONSTRAINT_NAME, context = PG_EXCEPTION_CONTEXT;
    context := substring(context FROM 'function fire\(\)');
END $$;
\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
BEGIN;
CREATE ROLE regress_idgen_app;
GRANT SELECT, INSERT ON idgen.creation_identifiers TO regress_idgen_app;
CREATE POLICY anything ON idgen.creation_identifiers USING (true);
CREATE UNIQUE INDEX other ON idgen.creation_identifiers (command_name);
SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-0000000000bb', 1, 'one');
SET ROLE regress_idgen_app;
SELECT * FROM failure('one');
RESET ROLE;
ALTER TABLE idgen.creation_identifiers ENABLE ROW LEVEL SECURITY;
SET ROLE regress_idgen_app;
SELECT * FROM failure('one');
RESET ROLE;
ALTER TABLE idgen.creation_identifiers DISABLE ROW LEVEL SECURITY;
DROP INDEX idgen.other;

-- a trigger writes to another table, records a second command, raises an error, or raises the error of an index for a
-- key
CREATE TABLE creation_identifiers (command_id uuid UNIQUE);
INSERT INTO creation_identifiers VALUES ('c0000000-0000-4000-8000-00000000000a');
GRANT INSERT ON creation_identifiers TO regress_idgen_app;
CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.command_name = 'outbox' THEN
        INSERT INTO public.creation_identifiers VALUES (NEW.command_id);
    ELSIF NEW.command_name = 'second' THEN
        INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number)
        VALUES ('c0000000-0000-4000-8000-0000000000bb', 'one', 1);
    ELSIF NEW.command_name = 'closed' THEN
        RAISE insufficient_privilege USING MESSAGE = 'tenant is closed', HINT = 'Ask for a new contract.';
    ELSE
        RAISE unique_violation USING SCHEMA = 'idgen', TABLE = 'creation_identifiers',
            CONSTRAINT = split_part(NEW.command_name, ' ', 1), DETAIL = 'Key (command_id)=(c0000000-0000-4000-8000-'
                || split_part(NEW.command_name, ' ', 2) || ') already exists.';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER fire AFTER INSERT ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION fire();
SELECT command_name, f.*
FROM (VALUES ('outbox'), ('second'), ('closed'), ('creation_identifiers_pkey 00000000000a'),
             ('creation_identifiers_pkey 00000000000b'), ('creation_identifiers_entity_id 00000000000a'),
             ('index_that_reindex_renamed 00000000000a')) v (command_name), failure(command_name) f;
SET ROLE regress_idgen_app;
SELECT * FROM failure('outbox');
RESET ROLE;
DROP FUNCTION fire CASCADE;

-- Rules suppress INSERT and DELETE. After they are dropped, the session makes new plans.
CREATE FUNCTION forget_all() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', idgen.forget_creation('c0000000-0000-4000-8000-000000000001'),
                     idgen.forget_creation_of('c0000000-0000-4000-8000-000000000002'),
                     idgen.forget_creation_of_bigint(3, 'order'), idgen.forget_creation_of_text('4', 'order'),
                     idgen.purge_creations('0'), idgen.trim_creations(0))
$$;
CREATE RULE no_insert AS ON INSERT TO idgen.creation_identifiers DO INSTEAD NOTHING;
CREATE RULE no_delete AS ON DELETE TO idgen.creation_identifiers DO INSTEAD NOTHING;
SELECT state FROM failure('order');
SELECT forget_all();
DROP RULE no_insert ON idgen.creation_identifiers;
DROP RULE no_delete ON idgen.creation_identifiers;
TRUNCATE idgen.creation_identifiers;
SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000a', 1, 'order');
INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_id, entity_number, entity_text, created_at)
SELECT ('c0000000-0000-4000-8000-00000000000' || n)::uuid, 'order', id, number, text, now() - age
FROM (VALUES (1, NULL::uuid, 1, NULL, interval '0'), (2, 'c0000000-0000-4000-8000-000000000002', NULL, NULL, '0'),
             (3, NULL, 3, NULL, '0'), (4, NULL, NULL, '4', '0'),
             (5, NULL, 5, NULL, '1 s')) v (n, id, number, text, age);
SELECT forget_all();

-- call the function for a row without an entity, which the table's constraint would prevent
ALTER TABLE idgen.creation_identifiers DROP CONSTRAINT creation_identifiers_one_entity;
INSERT INTO idgen.creation_identifiers (command_id, command_name) VALUES ('c0000000-0000-4000-8000-00000000000a', '');
SELECT * FROM failure('');
ROLLBACK;
DROP FUNCTION failure;

-- a session keeps one plan for each statement, even if planning fails, or a rule removes the statement for a time
BEGIN;
CREATE FUNCTION kept_plans() RETURNS bigint LANGUAGE sql AS $$
SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'CachedPlanSource%' $$;
CREATE FUNCTION use_plans() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    id uuid = 'c0000000-0000-4000-8000-00000000000a';
    action text;
    is_right bool = true;
BEGIN
    PERFORM idgen.create_once_bigint(id, 1, 'order');
    ALTER TABLE idgen.creation_identifiers RENAME command_name TO renamed;
    BEGIN
        PERFORM idgen.create_once_bigint(id, 1, 'order');
    EXCEPTION WHEN undefined_column THEN
        ALTER TABLE idgen.creation_identifiers RENAME renamed TO command_name;
    END;
    FOREACH action IN ARRAY '{NOTHING, NOTIFY deletes}'::text[] LOOP
        PERFORM idgen.create_once_bigint(id, 1, 'order');
        EXECUTE 'CREATE RULE no_delete AS ON DELETE TO idgen.creation_identifiers DO INSTEAD ' || action;
        is_right := is_right AND NOT idgen.forget_creation(id);
        DROP RULE no_delete ON idgen.creation_identifiers;
        is_right := is_right AND idgen.forget_creation(id);
    END LOOP;
    RETURN is_right;
END $$;
SELECT use_plans(), kept_plans() > 0;
SELECT kept_plans() AS kept \gset
SELECT bool_and(use_plans()), kept_plans() - :kept FROM generate_series(1, 10);
ROLLBACK;
