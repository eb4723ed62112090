"""SQLAlchemy 1.4 or 2.0 with Alembic, on psycopg 2"""

import pathlib
import re
import time
import uuid

import alembic.command
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from models import ALEMBIC_OPTIONS, Account, Base, Click, Draft, Event, Order, Visit, engine
from short_comb import short_comb
from tasks import BEYOND_DOUBLE, Tasks, hours_from_now, known_answers, only_orders, yesterday_short_comb

task = Tasks("sqlalchemy")


# The client makes the command id once, and sends the same one in every retry.
# The SELECT writes, so its transaction must be committed also if nothing is added.
def create_order(command, note):
    with Session(engine) as session, session.begin():
        request = sa.literal({"note": note}, JSONB)
        proposed = sa.text("idgen.keyed_comb(area => 'orders')")
        creation = sa.func.idgen.create_once(command, proposed, "create order", request)
        id, created = session.execute(sa.select(creation.table_valued("entity_id", "created"))).one()
        if created:
            session.add(Order(id=id, note=note))
        return id, created


def create_order_until_answered(command, note):
    while True:
        try:
            return create_order(command, note)
        except (sa.exc.InterfaceError, sa.exc.OperationalError):
            time.sleep(0.1)


only_orders(create_order_until_answered)


# What "alembic revision --autogenerate" would write.
def differences(options=ALEMBIC_OPTIONS):
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)


with task("empty diff"):
    with sa.create_engine("postgresql+psycopg2://").begin() as connection:
        connection.execute(sa.text("DROP SCHEMA IF EXISTS sqlalchemy CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA sqlalchemy"))
    assert len(differences()) == 6
    config = Config()
    config.set_main_option("script_location", str(pathlib.Path(__file__).parent))
    alembic.command.upgrade(config, "head")
    assert differences() == [], differences()
    # with all schemas, idgen's own tables would be dropped
    everywhere = {**ALEMBIC_OPTIONS, "include_schemas": True}
    assert any("idgen" in str(difference) for difference in differences(everywhere))
    everywhere["include_name"] = lambda name, type_, parents: type_ != "schema" or name in (None, "sqlalchemy")
    assert not any("idgen" in str(difference) for difference in differences(everywhere))

with task("generator"):
    known_answers()

with task("default key"), Session(engine) as session:
    order = Order(note="made by the database")
    session.add(order)
    session.commit()
    assert isinstance(order.id, uuid.UUID)
    assert session.scalar(sa.select(Order.note).where(Order.id == order.id)) == "made by the database"

with task("client key"), Session(engine) as session:
    session.add(Draft(id=short_comb(), note="made by the client"))
    session.commit()
    try:
        session.add(Draft(id=yesterday_short_comb(), note="too old"))
        session.commit()
        raise AssertionError("an old key was accepted")
    except sa.exc.IntegrityError as error:
        assert error.orig.diag.sqlstate == "23514"
        assert error.orig.diag.constraint_name == "drafts_id_is_recent"


with task("create once"):
    command = uuid.uuid4()
    first, created = create_order(command, "a book")
    retry, created_again = create_order(command, "a book")
    assert created and not created_again and retry == first
    with Session(engine) as session:
        assert session.get(Order, first).note == "a book"
    try:
        create_order(command, "another book")
        raise AssertionError("a reused command was accepted")
    except sa.exc.IntegrityError as error:
        assert error.orig.diag.sqlstate == "23514"
        assert error.orig.diag.constraint_name == "creation_identifiers_same_command"

with task("bigint keys"), Session(engine) as session:
    visit, exact, click = Visit(note="a visit"), Visit(id=BEYOND_DOUBLE), Click()
    session.add_all([visit, exact, click])
    session.commit()
    assert visit.id > 2**53 and click.id < 2**53
    assert session.scalar(sa.select(Visit.note).where(Visit.id == visit.id)) == "a visit"
    assert session.scalar(sa.select(sa.func.min(Visit.id))) == BEYOND_DOUBLE

with task("prefixed id"), Session(engine) as session:
    account = Account(note="an account")
    session.add(account)
    session.commit()
    assert re.fullmatch("acct_[0-9a-z]{25}", account.id)
    assert session.scalar(sa.select(Account.note).where(Account.id == account.id)) == "an account"
    try:
        session.add(Account(id=account.id.replace("acct_", "order_")))
        session.commit()
        raise AssertionError("another prefix was accepted")
    except sa.exc.IntegrityError as error:
        assert error.orig.diag.constraint_name == "prefixed_id_check"


def event_ids(session, start, stop):
    return session.scalars(sa.select(Event.id).where(sa.func.idgen.uuid_v7_within(Event.id, start, stop))).all()


with task("range of time"), Session(engine) as session:
    event = Event()
    session.add(event)
    session.commit()
    assert event.id in event_ids(session, hours_from_now(-1), hours_from_now(1))
    assert event.id not in event_ids(session, hours_from_now(1), hours_from_now(2))

task.finish()
