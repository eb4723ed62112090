"""Creations that a client may repeat after a lost answer."""

from django.db import connection, transaction

from .models import Invoice, Order


def create_order(command, note):
    """The server generates the key. The client generates the command id once, and repeats it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT entity_id, created FROM idgen.create_once("
            "%s, idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', %s::text))",
            [command, note],
        )
        id, created = cursor.fetchone()
        if created:
            Order.objects.create(id=id, note=note)
        return Order.objects.get(id=id)


def create_invoice(id, order_id):
    """The client generates the key, and repeats it."""
    return Invoice.objects.get_or_create(id=id, defaults={"order_id": order_id})[0]
