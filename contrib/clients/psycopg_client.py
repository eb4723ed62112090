"""psycopg 3. A uuid is a uuid.UUID, and a jsonb is wrapped in Jsonb."""

import re
import time
import uuid

import psycopg
from psycopg.types.json import Jsonb

from short_comb import short_comb
from tasks import BEYOND_DOUBLE, Tasks, hours_from_now, known_answers, only_orders, yesterday_short_comb

task = Tasks("psycopg")
# The client makes the command id once, and sends the same one in every retry.
def create_order(connection, command, note):
    with connection.transaction():
        id, created = connection.execute(
            "SELECT entity_id, created "
            "FROM idgen.create_once(%s, idgen.keyed_comb(area => 'orders'), 'create order', %s)",
            [command, Jsonb({"note": note})],
        ).fetchone()
        if created:
            connection.execute("INSERT INTO orders (id, note) VALUES (%s, %s)", [id, note])
        return id, created


def create_order_until_answered(command, note):
    while True:
        try:
            with psycopg.connect() as connection:  # PGHOST, PGPORT, PGUSER, PGDATABASE
                return create_order(connection, command, note)
        except psycopg.OperationalError:
            time.sleep(0.1)


only_orders(create_order_until_answered)
connection = psycopg.connect(autocommit=True)


def value(statement, parameters=()):
    return connection.execute(statement, parameters).fetchone()[0]


with task("generator"):
    known_answers()

with task("default key"):
    id = value("INSERT INTO orders (note) VALUES (%s) RETURNING id", ["made by the database"])
    assert isinstance(id, uuid.UUID)
    assert value("SELECT note FROM orders WHERE id = %s", [id]) == "made by the database"

with task("client key"):
    insert = "INSERT INTO drafts (id, note) VALUES (%s, %s)"
    connection.execute(insert, [short_comb(), "made by the client"])
    try:
        connection.execute(insert, [yesterday_short_comb(), "too old"])
        raise AssertionError("an old key was accepted")
    except psycopg.errors.CheckViolation as error:
        assert error.sqlstate == "23514"
        assert error.diag.constraint_name == "drafts_id_is_recent"


with task("create once"):
    command = uuid.uuid4()
    first, created = create_order(connection, command, "a book")
    retry, created_again = create_order(connection, command, "a book")
    assert created and not created_again and retry == first
    assert value("SELECT note FROM orders WHERE id = %s", [first]) == "a book"
    try:
        create_order(connection, command, "another book")
        raise AssertionError("a reused command was accepted")
    except psycopg.errors.CheckViolation as error:
        assert error.sqlstate == "23514"
        assert error.diag.constraint_name == "creation_identifiers_same_command"

with task("bigint keys"):
    id = value("INSERT INTO visits (note) VALUES (%s) RETURNING id", ["a visit"])
    assert id > 2**53
    assert value("SELECT note FROM visits WHERE id = %s", [id]) == "a visit"
    connection.execute("DELETE FROM visits WHERE id = %s", [BEYOND_DOUBLE])
    assert value("INSERT INTO visits (id) VALUES (%s) RETURNING id", [BEYOND_DOUBLE]) == BEYOND_DOUBLE
    assert value("INSERT INTO clicks DEFAULT VALUES RETURNING id") < 2**53

with task("prefixed id"):
    id = value("INSERT INTO accounts (note) VALUES (%s) RETURNING id", ["an account"])
    assert re.fullmatch("acct_[0-9a-z]{25}", id)
    assert value("SELECT note FROM accounts WHERE id = %s", [id]) == "an account"
    try:
        connection.execute("INSERT INTO accounts (id) VALUES (%s)", [id.replace("acct_", "order_")])
        raise AssertionError("another prefix was accepted")
    except psycopg.errors.CheckViolation as error:
        assert error.diag.constraint_name == "prefixed_id_check"


def event_ids(start, stop):
    rows = connection.execute("SELECT id FROM events WHERE idgen.uuid_v7_within(id, %s, %s)", [start, stop])
    return [id for id, in rows]


with task("range of time"):
    id = value("INSERT INTO events DEFAULT VALUES RETURNING id")
    assert id in event_ids(hours_from_now(-1), hours_from_now(1))
    assert id not in event_ids(hours_from_now(1), hours_from_now(2))

connection.close()
task.finish()
