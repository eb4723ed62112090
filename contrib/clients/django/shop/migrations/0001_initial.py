# As makemigrations writes it, except for CreateExtension and RunSQL.

import django.db.models.deletion
from django.contrib.postgres.operations import CreateExtension
from django.db import migrations, models

import shop.keys

# Needs EXECUTE on idgen.check_recent_hmac_id(), which only a superuser can grant.
CHECKS = """
    CREATE TRIGGER invoices_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoices
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoices');
    CREATE TRIGGER invoice_lines_id_is_recent BEFORE INSERT OR UPDATE OF id ON invoice_lines
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=invoice_lines');
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateExtension("idgen"),
        migrations.CreateModel(
            name="Customer",
            fields=[
                (
                    "id",
                    shop.keys.KeyField(
                        db_default=models.Func(
                            models.Value("customers"),
                            function="idgen.keyed_comb",
                            template="%(function)s(area => %(expressions)s)",
                        ),
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.TextField()),
            ],
            options={"db_table": "customers"},
        ),
        migrations.CreateModel(
            name="Invoice",
            fields=[
                (
                    "id",
                    models.UUIDField(default=shop.keys.invoice_id, editable=False, primary_key=True, serialize=False),
                ),
                ("note", models.TextField()),
            ],
            options={"db_table": "invoices"},
        ),
        migrations.CreateModel(
            name="InvoiceLine",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=shop.keys.invoice_line_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("note", models.TextField()),
                (
                    "invoice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lines", to="shop.invoice"
                    ),
                ),
            ],
            options={"db_table": "invoice_lines"},
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    shop.keys.KeyField(
                        db_default=models.Func(
                            models.Value("orders"),
                            function="idgen.keyed_comb",
                            template="%(function)s(area => %(expressions)s)",
                        ),
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("note", models.TextField()),
                (
                    "customer",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, to="shop.customer"
                    ),
                ),
            ],
            options={"db_table": "orders"},
        ),
        migrations.RunSQL(CHECKS, reverse_sql=migrations.RunSQL.noop),
    ]
