# As makemigrations writes it, except for CreateExtension, RunSQL, and names that are imported.

from django.contrib.postgres.operations import CreateExtension
from django.db import migrations, models
from django.db.models import CASCADE
from django.db.models.functions import Now

from shop.keys import KeyField, keyed_comb
from shop.own_keys import invoice_id

# Needs EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant.
CHECK = """
    CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices')
"""
KEY = {"primary_key": True, "editable": False, "serialize": False}


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateExtension("idgen"),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", KeyField(db_default=keyed_comb("orders"), **KEY)),
                ("created_at", models.DateTimeField(editable=False, db_default=Now())),
                ("note", models.TextField()),
            ],
            options={
                "db_table": "orders",
                "ordering": ["-created_at", "-id"],
                "indexes": [models.Index(fields=["created_at", "id"], name="orders_created_at_id_idx")],
            },
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", models.UUIDField(default=invoice_id, **KEY)),
                ("order", models.ForeignKey(on_delete=CASCADE, to="shop.order")),
            ],
            options={"db_table": "invoices"},
        ),
        migrations.RunSQL(CHECK, reverse_sql=migrations.RunSQL.noop),
    ]
