"""The tables, with keys that the database makes.

Write a default as the server prints it ('acct'::text), or autogenerate finds a difference
every time."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID
from sqlalchemy.orm import declarative_base

Base = declarative_base()


class AccountId(sa.types.UserDefinedType):
    """The domain that idgen.create_id_domain() made."""

    cache_ok = True

    def get_col_spec(self, **kw):
        return "public.account_id"


def key(type_, generator):
    return sa.Column(type_, primary_key=True, server_default=sa.text(generator))


class Order(Base):
    __tablename__ = "orders"
    id = key(UUID(as_uuid=True), "idgen.keyed_comb(area => 'orders'::text)")
    note = sa.Column(sa.Text)


class Draft(Base):
    __tablename__ = "drafts"
    id = key(UUID(as_uuid=True), "idgen.short_comb()")
    note = sa.Column(sa.Text)


class Event(Base):
    __tablename__ = "events"
    id = key(UUID(as_uuid=True), "idgen.uuid_v7()")


class Visit(Base):
    __tablename__ = "visits"
    id = key(sa.BigInteger, "idgen.snowflake()")
    note = sa.Column(sa.Text)


class Click(Base):
    __tablename__ = "clicks"
    id = key(sa.BigInteger, "idgen.js_id()")


class Account(Base):
    __tablename__ = "accounts"
    id = key(AccountId, "idgen.prefixed_id('acct'::text)")
    note = sa.Column(sa.Text)


# The program has a schema of its own, so that it meets no other program's tables.
engine = sa.create_engine(
    "postgresql+psycopg2://",  # PGHOST, PGPORT, PGUSER, PGDATABASE
    connect_args={"options": "-c search_path=sqlalchemy"},
)


# A domain is reflected as its base type, which is no difference. None: compare as usual.
def compare_type(context, reflected_column, column, reflected_type, type_):
    return False if isinstance(type_, AccountId) else None


ALEMBIC_OPTIONS = {"compare_type": compare_type, "compare_server_default": True}
