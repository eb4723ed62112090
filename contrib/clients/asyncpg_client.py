"""asyncpg. Parameters get the type that the server infers; a jsonb is text unless there is a codec."""

import asyncio
import json
import re
import uuid

import asyncpg

from short_comb import short_comb
from tasks import BEYOND_DOUBLE, Tasks, hours_from_now, known_answers, only_orders, yesterday_short_comb

task = Tasks("asyncpg")


# The client makes the command id once, and sends the same one in every retry.
async def create_order(connection, command, note):
    async with connection.transaction():
        id, created = await connection.fetchrow(
            "SELECT entity_id, created "
            "FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)",
            command, {"note": note},
        )
        if created:
            await connection.execute("INSERT INTO orders (id, note) VALUES ($1, $2)", id, note)
        return id, created


async def connect():
    connection = await asyncpg.connect()  # PGHOST, PGPORT, PGUSER, PGDATABASE
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    return connection


async def create_order_until_answered(command, note):
    while True:
        try:
            connection = await connect()
            try:
                return await create_order(connection, command, note)
            finally:
                await connection.close()
        except (OSError, asyncpg.InterfaceError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError):
            await asyncio.sleep(0.1)


only_orders(lambda command, note: asyncio.run(create_order_until_answered(command, note)))


async def main():
    connection = await connect()
    value = connection.fetchval

    with task("generator"):
        known_answers()

    with task("default key"):
        id = await value("INSERT INTO orders (note) VALUES ($1) RETURNING id", "made by the database")
        assert isinstance(id, uuid.UUID)
        assert await value("SELECT note FROM orders WHERE id = $1", id) == "made by the database"

    with task("client key"):
        insert = "INSERT INTO drafts (id, note) VALUES ($1, $2)"
        await connection.execute(insert, short_comb(), "made by the client")
        try:
            await connection.execute(insert, yesterday_short_comb(), "too old")
            raise AssertionError("an old key was accepted")
        except asyncpg.CheckViolationError as error:
            assert error.sqlstate == "23514"
            assert error.constraint_name == "drafts_id_is_recent"

    with task("create once"):
        command = uuid.uuid4()
        first, created = await create_order(connection, command, "a book")
        retry, created_again = await create_order(connection, command, "a book")
        assert created and not created_again and retry == first
        assert await value("SELECT note FROM orders WHERE id = $1", first) == "a book"
        try:
            await create_order(connection, command, "another book")
            raise AssertionError("a reused command was accepted")
        except asyncpg.CheckViolationError as error:
            assert error.sqlstate == "23514"
            assert error.constraint_name == "creation_identifiers_same_command"

    with task("bigint keys"):
        id = await value("INSERT INTO visits (note) VALUES ($1) RETURNING id", "a visit")
        assert id > 2**53
        assert await value("SELECT note FROM visits WHERE id = $1", id) == "a visit"
        await connection.execute("DELETE FROM visits WHERE id = $1", BEYOND_DOUBLE)
        assert await value("INSERT INTO visits (id) VALUES ($1) RETURNING id", BEYOND_DOUBLE) == BEYOND_DOUBLE
        assert await value("INSERT INTO clicks DEFAULT VALUES RETURNING id") < 2**53

    with task("prefixed id"):
        id = await value("INSERT INTO accounts (note) VALUES ($1) RETURNING id", "an account")
        assert re.fullmatch("acct_[0-9a-z]{25}", id)
        assert await value("SELECT note FROM accounts WHERE id = $1", id) == "an account"
        try:
            await connection.execute("INSERT INTO accounts (id) VALUES ($1)", id.replace("acct_", "order_"))
            raise AssertionError("another prefix was accepted")
        except asyncpg.CheckViolationError as error:
            assert error.constraint_name == "prefixed_id_check"

    with task("range of time"):
        id = await value("INSERT INTO events DEFAULT VALUES RETURNING id")
        statement = "SELECT id FROM events WHERE idgen.uuid_v7_within(id, $1, $2)"
        rows = await connection.fetch(statement, hours_from_now(-1), hours_from_now(1))
        assert id in [row["id"] for row in rows]
        rows = await connection.fetch(statement, hours_from_now(1), hours_from_now(2))
        assert id not in [row["id"] for row in rows]

    await connection.close()


asyncio.run(main())
task.finish()
