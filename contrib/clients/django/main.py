"""Django 3.2 to 5.2, on psycopg 2 or 3."""

import io
import json
import os
import re
import time
import uuid

import django
from django.conf import settings

from short_comb import short_comb
from tasks import BEYOND_DOUBLE, Tasks, hours_from_now, known_answers, only_orders, yesterday_short_comb

task = Tasks("django")

settings.configure(
    INSTALLED_APPS=["shop"],
    USE_TZ=True,
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": os.environ["PGHOST"],
            "PORT": os.environ["PGPORT"],
            "USER": os.environ["PGUSER"],
            "NAME": os.environ["PGDATABASE"],
            # The program has a schema of its own, so that it meets no other program's tables.
            "OPTIONS": {"options": "-c search_path=django,public"},
        }
    },
)
django.setup()

from django.core.management import call_command  # noqa: E402  only after setup()
from django.db import IntegrityError, InterfaceError, OperationalError, connection, models, transaction  # noqa: E402
from shop.models import Account, Click, Draft, Event, Order, Visit  # noqa: E402


# The client makes the command id once, and sends the same one in every retry.
def create_order(command, note):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT entity_id, created "
            "FROM idgen.create_once(%s, idgen.keyed_comb(area => 'orders'), 'create order', %s)",
            [command, json.dumps({"note": note})],
        )
        id, created = cursor.fetchone()
        if created:
            Order.objects.create(id=id, note=note)
        return id, created


def create_order_until_answered(command, note):
    while True:
        try:
            return create_order(command, note)
        except (InterfaceError, OperationalError):
            connection.close()  # the next query connects again
            time.sleep(0.1)


only_orders(create_order_until_answered)


with task("empty diff"):
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS django CASCADE")
        cursor.execute("CREATE SCHEMA django")
    call_command("migrate", verbosity=0)
    changes = io.StringIO()
    call_command("makemigrations", dry_run=True, stdout=changes)
    assert changes.getvalue() == "No changes detected\n", changes.getvalue()

with task("generator"):
    known_answers()

with task("default key"):
    order = Order.objects.create(note="made by the database")
    assert isinstance(order.id, uuid.UUID) and Order.objects.get(id=order.id).note == "made by the database"
    assert isinstance(Event.objects.create().id, uuid.UUID)
    if django.VERSION >= (5,):

        class KeyedComb(models.Func):
            function = "idgen.keyed_comb"
            template = "%(function)s(area => %(expressions)s)"

        class NewOrder(models.Model):
            id = models.UUIDField(primary_key=True, db_default=KeyedComb(models.Value("orders")))

            class Meta:
                app_label = "shop"
                db_table = "orders"

        with connection.schema_editor() as editor:  # as a migration does
            editor.alter_field(Order, Order._meta.get_field("id"), NewOrder._meta.get_field("id"))
        assert isinstance(NewOrder.objects.create().id, uuid.UUID)
        assert not isinstance(NewOrder.objects.bulk_create([NewOrder()])[0].id, uuid.UUID)  # it has no key of its own

with task("client key"):
    draft = Draft.objects.create(note="made by the client")  # default=short_comb
    assert Draft.objects.get(id=draft.id).note == "made by the client"
    assert len(Draft.objects.bulk_create([Draft(note="one"), Draft(note="two")])) == 2
    try:
        Draft.objects.create(id=yesterday_short_comb(), note="too old")
        raise AssertionError("an old key was accepted")
    except IntegrityError as error:
        assert error.__cause__.diag.sqlstate == "23514"
        assert error.__cause__.diag.constraint_name == "drafts_id_is_recent"


with task("create once"):
    command = uuid.uuid4()
    first, created = create_order(command, "a book")
    retry, created_again = create_order(command, "a book")
    assert created and not created_again and retry == first
    assert Order.objects.get(id=first).note == "a book"
    try:
        create_order(command, "another book")
        raise AssertionError("a reused command was accepted")
    except IntegrityError as error:
        assert error.__cause__.diag.sqlstate == "23514"
        assert error.__cause__.diag.constraint_name == "creation_identifiers_same_command"
    # as TransactionTestCase does after each test: recorded commands stay
    call_command("flush", verbosity=0, interactive=False)
    assert create_order(command, "a book") == (first, False) and not Order.objects.filter(id=first).exists()

with task("bigint keys"):
    visit = Visit.objects.create(note="a visit")
    assert visit.id > 2**53
    assert Visit.objects.get(id=visit.id).note == "a visit"
    Visit.objects.create(id=BEYOND_DOUBLE, note="2^53 + 1")
    assert Visit.objects.get(note="2^53 + 1").id == BEYOND_DOUBLE
    assert Click.objects.create().id < 2**53

with task("prefixed id"):
    account = Account.objects.create(note="an account")
    assert re.fullmatch("acct_[0-9a-z]{25}", account.id)
    assert Account.objects.get(id=account.id).note == "an account"
    try:
        Account.objects.create(id=account.id.replace("acct_", "order_"))
        raise AssertionError("another prefix was accepted")
    except IntegrityError as error:
        assert error.__cause__.diag.constraint_name == "prefixed_id_check"


def within(start, stop):
    arguments = [models.F("id"), models.Value(start), models.Value(stop)]
    return models.Func(*arguments, function="idgen.uuid_v7_within", output_field=models.BooleanField())


with task("range of time"):
    event = Event.objects.create()
    assert event in Event.objects.filter(within(hours_from_now(-1), hours_from_now(1)))
    assert event not in Event.objects.filter(within(hours_from_now(1), hours_from_now(2)))

task.finish()
