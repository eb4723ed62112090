-- Other roles can execute code within these functions: by triggers and policies on the tables to which the functions
-- write, and by triggers on the same table as check_recent_id(). Whatever this code executes, a call must return or
-- raise an error, and the next call must work.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE TABLE orders (id uuid PRIMARY KEY, note text);
CREATE TRIGGER m_check BEFORE INSERT OR UPDATE ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=1 minute');
CREATE TABLE notes (command_id uuid REFERENCES idgen.creation_identifiers ON DELETE CASCADE);

-- Execute the SQL in the setting test.attack, once for each call that is attacked.
CREATE FUNCTION attack() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    command text := current_setting('test.attack');
BEGIN
    PERFORM set_config('test.attack', '', true);
    IF command <> '' THEN EXECUTE command; END IF;
END $$;
CREATE FUNCTION attack_row() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM attack(); RETURN coalesce(new, old); END $$;
CREATE FUNCTION attack_policy() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM attack(); RETURN true; END $$;
CREATE FUNCTION attack_event() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM attack(); END $$;

-- The code is executed before and after each row that a function writes, and during the search of create_once().
CREATE TABLE places (place text PRIMARY KEY, ddl text, calls text[]);
INSERT INTO places
SELECT format('%s %s of %s', timing, event, relation),
    format('CREATE TRIGGER %s %s %s ON %s FOR EACH ROW EXECUTE FUNCTION attack_row()',
        CASE timing WHEN 'BEFORE' THEN 'a' ELSE 'z' END, timing, event, relation), calls
FROM unnest('{BEFORE,AFTER}'::text[]) timing,
    (VALUES ('INSERT', 'idgen.creation_identifiers', '{create_once}'::text[]),
        ('DELETE', 'idgen.creation_identifiers', '{forget_creation,purge_creations,trim_creations}'),
        ('DELETE', 'notes', '{purge_creations}'),
        ('INSERT', 'idgen.id_prefixes', '{create_id_domain}'),
        ('INSERT', 'orders', '{check_recent_id,"check_recent_id, a row in the table"}')) t (event, relation, calls);
INSERT INTO places VALUES
    ('a policy', 'ALTER TABLE idgen.creation_identifiers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY p ON idgen.creation_identifiers USING (attack_policy()) WITH CHECK (attack_policy());
        GRANT ALL ON idgen.creation_identifiers TO hostile_writer; SET LOCAL ROLE hostile_writer',
        '{create_once,"create_once again",forget_creation,purge_creations,trim_creations}'),
    ('an event trigger', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION attack_event()',
        '{create_id_domain}');
CREATE ROLE hostile_writer;

CREATE TABLE calls (call text PRIMARY KEY, query text);
INSERT INTO calls VALUES
    ('create_once',
        $$SELECT created FROM idgen.create_once('00000000-0000-4000-8000-00000000ffff', gen_random_uuid(), 'new')$$),
    ('create_once again',
        $$SELECT created FROM idgen.create_once('00000000-0000-4000-8000-000000000001', gen_random_uuid(), 'old')$$),
    ('forget_creation', $$SELECT idgen.forget_creation('00000000-0000-4000-8000-000000000001')$$),
    ('purge_creations', $$SELECT idgen.purge_creations('0')$$),
    ('trim_creations', $$SELECT idgen.trim_creations(0)$$),
    ('create_id_domain', $$SELECT idgen.create_id_domain('public.hostile_id', 'hostile') IS NOT NULL$$),
    ('check_recent_id', $$INSERT INTO orders VALUES (idgen.short_comb(), 'new') RETURNING note$$),
    ('check_recent_id, a row in the table',
        $$INSERT INTO orders VALUES ('00000000-0000-4000-8000-000000000001') ON CONFLICT DO NOTHING RETURNING note$$);

CREATE TABLE attacks (attack text PRIMARY KEY, command text);
INSERT INTO attacks VALUES
    ('nothing', ''),
    ('CLOSE ALL', 'CLOSE ALL'),
    ('MOVE', 'DO $$ DECLARE c text;
        BEGIN FOR c IN SELECT name FROM pg_cursors LOOP EXECUTE format(''MOVE ALL IN %%I'', c); END LOOP; END $$'),
    ('DISCARD PLANS', 'DISCARD PLANS'),
    ('DISCARD ALL', 'DISCARD ALL'),
    ('an error', 'SELECT 1 / 0'),
    ('recursion', '%s'),
    ('ADD COLUMN', 'ALTER TABLE idgen.creation_identifiers ADD more int; ALTER TABLE orders ADD more int'),
    ('DROP EXTENSION', 'DROP EXTENSION idgen CASCADE'),
    ('DROP TABLE', 'DROP TABLE orders'),
    ('DROP DOMAIN', 'DROP DOMAIN IF EXISTS public.hostile_id'),
    ('a rule', 'CREATE RULE r AS ON INSERT TO idgen.creation_identifiers DO INSTEAD NOTHING');

-- Return the result or error of a call that is attacked, followed by the result of the same call in the same session.
-- All effects are rolled back.
CREATE FUNCTION outcome(ddl text, query text, attack text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    again text;
BEGIN
    BEGIN
        EXECUTE query INTO result;      -- without the attack, in order to save the plans
        RAISE 'done';
    EXCEPTION WHEN raise_exception THEN
    END;
    EXECUTE ddl;
    PERFORM set_config('test.attack', format(attack, query), true);
    BEGIN
        EXECUTE query INTO result;
    EXCEPTION WHEN OTHERS THEN
        result := sqlstate;
    END;
    RAISE '%', coalesce(result, 'no row');
EXCEPTION WHEN raise_exception THEN
    result := sqlerrm;
    BEGIN
        EXECUTE query INTO again;
        RAISE 'done';
    EXCEPTION WHEN raise_exception THEN
    END;
    RETURN result || ', then ' || coalesce(again, 'no row');
END $$;

SELECT created FROM idgen.create_once('00000000-0000-4000-8000-000000000001', gen_random_uuid(), 'old');
INSERT INTO notes VALUES ('00000000-0000-4000-8000-000000000001');
ALTER TABLE orders DISABLE TRIGGER m_check;
INSERT INTO orders VALUES ('00000000-0000-4000-8000-000000000001', 'old');
ALTER TABLE orders ENABLE TRIGGER m_check;

CREATE TABLE outcomes AS
SELECT place, call, attack, outcome(ddl, query, command)
FROM places, unnest(calls) call JOIN calls USING (call), attacks
-- Exclude one case: the trigger function of the extension is dropped just before it is called, which causes an internal
-- error of the server.
WHERE NOT (attack = 'DROP EXTENSION' AND place = 'BEFORE INSERT of orders');
-- List the outcomes without an attack, and then the outcomes under attack, if they are different.
SELECT call, outcome, count(*) FROM outcomes WHERE attack = 'nothing' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT o.attack, o.call, count(*) AS places, o.outcome
FROM outcomes o JOIN outcomes n ON (n.place, n.call, n.attack) = (o.place, o.call, 'nothing')
WHERE o.outcome <> n.outcome GROUP BY 1, 2, 4
ORDER BY o.attack COLLATE "C", o.call COLLATE "C", o.outcome COLLATE "C";

DROP TABLE orders, notes, places, calls, attacks, outcomes;
DROP FUNCTION attack_row, attack_policy, attack_event, attack, outcome;
DROP ROLE hostile_writer;
SELECT idgen.forget_creation('00000000-0000-4000-8000-000000000001');
