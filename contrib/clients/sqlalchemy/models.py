import datetime
import os
import uuid

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from combs import hmac_comb

# The 16 bytes of the key "shared" in the server's idgen.key_file
ID_KEY = bytes.fromhex(os.environ["ID_KEY"])


class Base(DeclarativeBase):
    type_annotation_map = {str: sa.Text, datetime.datetime: sa.DateTime(timezone=True)}


class Order(Base):
    """The server generates the key. The default has the form in which the server prints it, with ::text."""

    __tablename__ = "orders"
    id: Mapped[uuid.UUID] = mapped_column(
        primary_key=True, server_default=sa.text("idgen.keyed_comb('orders'::text)")
    )
    created_at: Mapped[datetime.datetime] = mapped_column(server_default=sa.func.now())
    note: Mapped[str]
    __table_args__ = (sa.Index("orders_created_at_id_idx", "created_at", "id"),)  # for lists


class Invoice(Base):
    """The application generates the key."""

    __tablename__ = "invoices"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=lambda: hmac_comb(ID_KEY, "invoices"))
    order_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("orders.id"), index=True)
    order: Mapped[Order] = relationship()
    lines: Mapped[list["Line"]] = relationship(order_by="Line.item")


class Line(Base):
    __tablename__ = "lines"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=lambda: hmac_comb(ID_KEY, "lines"))
    invoice_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("invoices.id"), index=True)
    item: Mapped[str]
