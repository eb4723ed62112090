# As makemigrations writes it, except for CreateExtension, RunSQL, and names that are imported.

from django.contrib.postgres.operations import CreateExtension
from django.db import migrations, models
from django.db.models import CASCADE

from shop.keys import KeyField, invoice_id, invoice_line_id, keyed_comb

# Needs EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant.
CHECKS = """
    CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoices');
    CREATE TRIGGER invoice_lines_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoice_lines
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoice_lines');
"""
KEY = {"primary_key": True, "editable": False, "serialize": False}


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateExtension("idgen"),
        migrations.CreateModel(
            name="Customer",
            fields=[
                ("id", KeyField(db_default=keyed_comb("customers"), **KEY)),
                ("name", models.TextField()),
            ],
            options={"db_table": "customers"},
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                ("id", models.UUIDField(default=invoice_id, **KEY)),
                ("note", models.TextField()),
            ],
            options={"db_table": "invoices"},
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                ("id", models.UUIDField(default=invoice_line_id, **KEY)),
                ("note", models.TextField()),
                ("invoice", models.ForeignKey(on_delete=CASCADE, related_name="lines", to="shop.invoice")),
            ],
            options={"db_table": "invoice_lines"},
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", KeyField(db_default=keyed_comb("orders"), **KEY)),
                ("note", models.TextField()),
                ("customer", models.ForeignKey(null=True, on_delete=CASCADE, to="shop.customer")),
            ],
            options={"db_table": "orders"},
        ),
        migrations.RunSQL(CHECKS, reverse_sql=migrations.RunSQL.noop),
    ]
