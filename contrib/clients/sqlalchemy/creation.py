"""Functions that a client may call again if it received no answer. The caller commits."""

import json
import uuid

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

import combs
from models import ID_KEY, Invoice, Line, Order

CREATE_ONCE = sa.text(
    "SELECT entity_id, created FROM idgen.create_once("
    "idgen.check_recent_uuid_v7(:command, past_tolerance => '1 day', future_tolerance => '10 minutes'), "
    "idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', CAST(:note AS text)))"
)

# A client calls this function once for each command, and sends the same id in every retry.
new_command = getattr(uuid, "uuid7", combs.uuid_v7)  # uuid7() is new in Python 3.14


def create_order(session, command, note):
    """The server generates the key."""
    id, created = session.execute(CREATE_ONCE, {"command": command, "note": note}).one()
    if created:
        session.add(Order(id=id, note=note))
        session.flush()
    return session.get_one(Order, id)


def create_orders(session, notes):
    """Create all orders in one INSERT. Session.add_all() would send one INSERT per order."""
    return session.scalars(sa.insert(Order).returning(Order.id), [{"note": note} for note in notes]).all()


def orders_after(session, last=None, limit=20):
    """Return the newest orders, or the orders after the last one of the previous page."""
    query = sa.select(Order).order_by(Order.created_at.desc(), Order.id.desc()).limit(limit)
    if last:
        query = query.where(sa.tuple_(Order.created_at, Order.id) < (last.created_at, last.id))
    return session.scalars(query).all()


def create_invoice(session, id, order_id):
    """The client generates the key, and sends the same key in every retry."""
    session.execute(insert(Invoice).values(id=id, order_id=order_id).on_conflict_do_nothing())
    return session.get_one(Invoice, id)


CREATE_INVOICE = sa.text(
    "SELECT entity_id, created FROM idgen.create_once("
    "idgen.check_recent_uuid_v7(:command, past_tolerance => '1 day', future_tolerance => '10 minutes'), "
    ":proposed, 'create invoice', CAST(:request AS jsonb))"
)


def create_invoice_with_lines(session, command, order_id, items):
    """The application generates the keys. Each attempt proposes a new key, because the server rejects old keys. Only
    the attempt that records the command creates rows, with the id that create_once() returns."""
    request = json.dumps({"order_id": str(order_id), "items": items})
    proposed = combs.hmac_comb(ID_KEY, "invoices")
    parameters = {"command": command, "proposed": proposed, "request": request}
    id, created = session.execute(CREATE_INVOICE, parameters).one()
    if created:
        session.add(Invoice(id=id, order_id=order_id, lines=[Line(item=item) for item in items]))
        session.flush()
        session.expire_all()
    return session.get_one(Invoice, id)
