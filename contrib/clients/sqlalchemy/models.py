import os
import uuid

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from combs import hmac_comb

# 16 bytes, the key "app" of the server's idgen.key_file
ID_KEY = bytes.fromhex(os.environ["ID_KEY"])


def key_of_server(area):
    # as the server prints it; otherwise each migration would change it
    return mapped_column(primary_key=True, server_default=sa.text(f"idgen.keyed_comb(area => '{area}'::text)"))


def key_of_application(area):
    return mapped_column(primary_key=True, default=lambda: hmac_comb(ID_KEY, area))


class Base(DeclarativeBase):
    type_annotation_map = {str: sa.Text}


class Customer(Base):
    __tablename__ = "customers"
    id: Mapped[uuid.UUID] = key_of_server("customers")
    name: Mapped[str]


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[uuid.UUID] = key_of_server("orders")
    customer_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("customers.id"))
    customer: Mapped[Customer | None] = relationship()
    note: Mapped[str]


class Invoice(Base):
    __tablename__ = "invoices"
    id: Mapped[uuid.UUID] = key_of_application("invoices")
    note: Mapped[str]
    lines: Mapped[list["InvoiceLine"]] = relationship()


class InvoiceLine(Base):
    __tablename__ = "invoice_lines"
    id: Mapped[uuid.UUID] = key_of_application("invoice_lines")
    invoice_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("invoices.id"))
    note: Mapped[str]
