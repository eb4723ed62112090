"""Creations that a client may repeat after a lost answer; the caller commits."""

import json

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from combs import hmac_comb
from models import ID_KEY, Invoice, Line, Order

CREATE_ONCE = sa.text(
    "SELECT entity_id, created FROM idgen.create_once(:command, idgen.keyed_comb('orders'), "
    "'create order', jsonb_build_object('note', CAST(:note AS text)))"
)


def create_order(session, command, note):
    """The server generates the key. The client generates the command id once, and repeats it."""
    id, created = session.execute(CREATE_ONCE, {"command": command, "note": note}).one()
    if created:
        session.add(Order(id=id, note=note))
        session.flush()
    return session.get_one(Order, id)


def create_orders(session, notes):
    """One INSERT for all: Session.add_all() sends one for each, to know which key is whose."""
    return session.scalars(sa.insert(Order).returning(Order.id), [{"note": note} for note in notes]).all()


def create_invoice(session, id, order_id):
    """The client generates the key, and repeats it."""
    session.execute(insert(Invoice).values(id=id, order_id=order_id).on_conflict_do_nothing())
    return session.get_one(Invoice, id)


CREATE_INVOICE = sa.text(
    "SELECT entity_id, created FROM idgen.create_once(:command, :proposed, 'create invoice', CAST(:request AS jsonb))"
)


def create_invoice_with_lines(session, command, order_id, items):
    """The application generates the keys: a new one in each attempt, because the server refuses old ones. Only the
    attempt that records the command creates rows, with the id that it gets back."""
    request = json.dumps({"order_id": str(order_id), "items": items})
    proposed = hmac_comb(ID_KEY, "invoices")
    parameters = {"command": command, "proposed": proposed, "request": request}
    id, created = session.execute(CREATE_INVOICE, parameters).one()
    if created:
        session.add(Invoice(id=id, order_id=order_id, lines=[Line(item=item) for item in items]))
        session.flush()
        session.expire_all()
    return session.get_one(Invoice, id)
