"""Answer the commands of programs.txt with the template in shop/."""

import io

import django
from django.core import serializers
from django.core.management import call_command
from django.db import close_old_connections, transaction

from commands import all_pages, serve

django.setup()

from shop import creation  # noqa: E402  only after setup()
from shop.models import Invoice, Order  # noqa: E402


def migrate():
    call_command("migrate", verbosity=0)


def diff():
    changes = io.StringIO()
    call_command("makemigrations", dry_run=True, stdout=changes)
    return [line.replace(" ", "_") for line in changes.getvalue().splitlines() if line != "No changes detected"]


def order_with_invoice(note):
    order = Order(note=note)
    invoice = Invoice(order=order)
    with transaction.atomic():
        order.save()
        invoice.save()
    return [order.id, invoice.id]


def bulk(note, number):
    ids = [order.id for order in Order.objects.bulk_create([Order(note=note) for _ in range(int(number))])]
    return [order.id for order in Order.objects.filter(id__in=ids).iterator(chunk_size=2)]


def fixture(note):
    [order] = serializers.deserialize("python", [{"model": "shop.order", "fields": {"note": note}}])
    order.save()
    return [order.object.id]


def pages(limit):
    return all_pages(lambda last: creation.orders_after(last, int(limit)))


def new_command():
    return [creation.new_command()]


def create_once(command, note):
    order = creation.create_order(command, note)
    return [order.id, order.note]


def insert_invoice(id, order_id):
    creation.create_invoice(id, order_id)


commands = [migrate, diff, order_with_invoice, bulk, fixture, pages, new_command, create_once, insert_invoice]
# Django closes old connections before each request.
serve(commands, lambda error: error.__cause__, before_each=close_old_connections)
