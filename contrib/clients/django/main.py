"""Answers the commands of programs.txt by the template in shop/."""

import io

import django
from django.core.management import call_command
from django.db import close_old_connections, transaction

from commands import serve

django.setup()

from shop.creation import create_invoice, create_order  # noqa: E402  only after setup()
from shop.models import Customer, Invoice, InvoiceLine, Order  # noqa: E402


def migrate():
    call_command("migrate", verbosity=0)


def diff():
    changes = io.StringIO()
    call_command("makemigrations", dry_run=True, stdout=changes)
    return [line.replace(" ", "_") for line in changes.getvalue().splitlines() if line != "No changes detected"]


def parent_and_child(note):
    customer = Customer(name="a customer")
    order = Order(customer=customer, note=note)
    with transaction.atomic():
        customer.save()
        order.save()
    return ids([customer, order])


def bulk(note, number):
    return ids(Order.objects.bulk_create([Order(note=note) for _ in range(int(number))]))


def create_once(command, note):
    order = create_order(command, note)
    return [order.id, order.note]


def graph(note):
    invoice = Invoice(note=note)
    lines = [InvoiceLine(invoice=invoice, note=note) for note in ["a line", "another line"]]
    with transaction.atomic():
        invoice.save()
        InvoiceLine.objects.bulk_create(lines)
    return ids([invoice, *lines])


def bulk_with_keys(note, number):
    return ids(Invoice.objects.bulk_create([Invoice(note=note) for _ in range(int(number))]))


def ids(rows):
    return [row.id for row in rows]


def as_request(work):
    def request(*words):
        close_old_connections()  # Django does so before each request
        return work(*words)

    return request


commands = [migrate, diff, parent_and_child, bulk, create_once, graph, bulk_with_keys]
commands = {work.__name__: as_request(work) for work in commands}
commands["insert"] = as_request(lambda note: [Order.objects.create(note=note).id])
commands["insert_with_key"] = as_request(lambda id, note: [create_invoice(id, note).id])
serve(commands, lambda error: error.__cause__)
