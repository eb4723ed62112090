import sqlalchemy as sa
from alembic import context

from models import Base

with sa.create_engine("postgresql+psycopg://").connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()
