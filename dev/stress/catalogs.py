"""catalogs.py FOLDER SECONDS SEED: see dev/stress.sh.

Exits with status 1 if a session is lost, a value or entity occurs twice, or an error is raised that
ALLOWED does not have. Four sessions call the procedure "work" while three others change and move
the catalogs that its functions look up. Lasts until each of them has done its least amount.
"""

import itertools
import threading
import time

from server import Refused, connect, counts, over, print_counts, seconds

# Each of them may be the victim of a deadlock with VACUUM FULL.
ALLOWED = {'40P01'}

# A repeated value or entity violates a primary key. Transactions are short, so that many of them find that a
# catalog has changed. All sessions call create_once() with the same commands. No row has the id of the last INSERT.
SET_UP = """
CREATE EXTENSION idgen;
SELECT idgen.create_id_domain('account_id', 'acct');
CREATE UNLOGGED TABLE made (generator text, id text, PRIMARY KEY (generator, id));
CREATE UNLOGGED TABLE entities (command uuid PRIMARY KEY, entity uuid NOT NULL);
CREATE UNLOGGED TABLE items (id uuid PRIMARY KEY, account account_id);
INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON items
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
CREATE PROCEDURE work(first int, last int) LANGUAGE plpgsql AS $$
DECLARE
    command uuid;
    answer record;
BEGIN
    FOR turn IN first..last LOOP
        INSERT INTO made VALUES ('snowflake', idgen.snowflake()), ('trace_id', idgen.trace_id()),
            ('js_id', idgen.js_id()), ('uuid_v7_ordered', idgen.uuid_v7_ordered()), ('decimal_id', idgen.decimal_id());
        COMMIT;

        command := md5(turn::text);
        SELECT * INTO answer FROM idgen.create_once(command, idgen.keyed_comb());
        IF answer.created THEN
            INSERT INTO entities VALUES (command, answer.entity_id);
        END IF;
        ASSERT (SELECT entity = answer.entity_id FROM entities e WHERE e.command = md5(turn::text)::uuid);
        COMMIT;

        INSERT INTO items VALUES (idgen.uuid_v7(), idgen.prefixed_id('acct'));
        INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f') ON CONFLICT DO NOTHING;
        COMMIT;

        BEGIN
            INSERT INTO items VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e');
            ASSERT false, 'an old identifier was stored';
        EXCEPTION WHEN check_violation THEN
        END;
        BEGIN
            INSERT INTO items VALUES (idgen.uuid_v7(), idgen.prefixed_id('other'));
            ASSERT false, 'the prefix of another domain was stored';
        EXCEPTION WHEN check_violation THEN
        END;
        COMMIT;
    END LOOP;
END $$;
CREATE ROLE other;
SELECT format('CREATE TABLE public.table_%s (id int)', i) FROM generate_series(1, 300) i \\gexec
"""

KINDS = ['TABLES', 'SEQUENCES', 'FUNCTIONS']
CHANGES = {
    'grant': ['BEGIN', *[f'GRANT ALL ON ALL {kind} IN SCHEMA idgen, public TO other' for kind in KINDS], 'COMMIT',
              'BEGIN', *[f'REVOKE ALL ON ALL {kind} IN SCHEMA idgen, public FROM other' for kind in KINDS], 'COMMIT'],
    'vacuum': ['VACUUM FULL pg_class', "ALTER ROLE other VALID UNTIL 'infinity'", 'VACUUM FULL pg_authid'],
    'functions': ['CREATE SCHEMA many', "DO $$ BEGIN FOR i IN 1..2500 LOOP EXECUTE"
                  " format('CREATE FUNCTION many.f%s() RETURNS int RETURN 1', i); END LOOP; END $$", 'DROP SCHEMA many CASCADE']}

LEAST = {'work': 5000, 'grant': 30, 'vacuum': 30, 'functions': 10}
done = {}


def run(session, statement):
    """Whether it succeeded."""
    try:
        session.run(statement)
        return True
    except Refused as error:
        if error.args[0] not in ALLOWED:
            raise
        return False


def work(name):
    """Each time in a new session, which has nothing in its caches."""
    for first in itertools.count(1, 100):
        session = connect()
        done[name] += 100 * run(session, f'CALL work({first}, {first + 99})')
        session.close()
        if over.is_set():
            return


def change(name):
    session = connect()
    while not over.is_set():
        done[name] += all([run(session, statement) for statement in CHANGES[name]])


def main():
    session, end = connect(), time.monotonic() + seconds
    session.run(SET_UP)
    threads = []
    for name in ['work 1', 'work 2', 'work 3', 'work 4', *CHANGES]:
        done[name] = 0
        threads.append(threading.Thread(target=work if ' ' in name else change, args=(name,)))
        threads[-1].start()
    while time.monotonic() < end or any(done[name] < LEAST[name.split()[0]] for name in done):
        time.sleep(0.1)
    over.set()
    for thread in threads:
        thread.join()
    counts.update(done)
    print_counts()


main()
