"""Functions that a client may call again if it received no answer, and the list of orders."""

import uuid

import combs
from django.db import connection, transaction
from django.db.models import Q

from .models import Invoice, Order

# A client calls this function once for each command, and sends the same id in every retry.
new_command = getattr(uuid, "uuid7", combs.uuid_v7)  # uuid7() is new in Python 3.14


def create_order(command, note):
    """The server generates the key."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT entity_id, created FROM idgen.create_once("
            "idgen.check_recent_uuid_v7(%s, past_tolerance => '1 day', future_tolerance => '10 minutes'), "
            "idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', %s::text))",
            [command, note],
        )
        id, created = cursor.fetchone()
        if created:
            Order.objects.create(id=id, note=note)
        return Order.objects.get(id=id)


def orders_after(last=None, limit=20):
    """Return the newest orders, or the orders after the last one of the previous page. The first condition determines
    where the index scan begins."""
    orders = Order.objects.all()
    if last:
        orders = orders.filter(
            Q(created_at__lt=last.created_at) | Q(id__lt=last.id), created_at__lte=last.created_at
        )
    return orders[:limit]


def create_invoice(id, order_id):
    """The client generates the key, and sends the same key in every retry."""
    return Invoice.objects.get_or_create(id=id, defaults={"order_id": order_id})[0]
