"""Alembic runs this for each command. Server defaults are compared, too."""

from alembic import context

from models import ALEMBIC_OPTIONS, Base, engine

with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, **ALEMBIC_OPTIONS)
    with context.begin_transaction():
        context.run_migrations()
