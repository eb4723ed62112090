# As makemigrations wrote it, except for RunSQL.

from django.db import migrations, models
import shop.models
import short_comb

DEFAULTS_AND_TRIGGER = """
    ALTER TABLE orders ALTER id SET DEFAULT idgen.keyed_comb(area => 'orders');
    ALTER TABLE drafts ALTER id SET DEFAULT idgen.short_comb();
    ALTER TABLE events ALTER id SET DEFAULT idgen.uuid_v7();
    ALTER TABLE visits ALTER id SET DEFAULT idgen.snowflake();
    ALTER TABLE clicks ALTER id SET DEFAULT idgen.js_id();
    ALTER TABLE accounts ALTER id SET DEFAULT idgen.prefixed_id('acct');
    CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drafts
        FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=10 minutes');
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", shop.models.DatabaseAccountIdField(editable=False, primary_key=True, serialize=False)),
                ("note", models.TextField(null=True)),
            ],
            options={"db_table": "accounts"},
        ),
        migrations.CreateModel(
            name="Click",
            fields=[("id", shop.models.DatabaseBigIntegerField(editable=False, primary_key=True, serialize=False))],
            options={"db_table": "clicks"},
        ),
        migrations.CreateModel(
            name="Event",
            fields=[("id", shop.models.DatabaseUUIDField(editable=False, primary_key=True, serialize=False))],
            options={"db_table": "events"},
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", shop.models.DatabaseUUIDField(editable=False, primary_key=True, serialize=False)),
                ("note", models.TextField(null=True)),
            ],
            options={"db_table": "orders"},
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.UUIDField(default=short_comb.short_comb, editable=False, primary_key=True, serialize=False)),
                ("note", models.TextField(null=True)),
            ],
            options={"db_table": "drafts"},
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ("id", shop.models.DatabaseBigIntegerField(editable=False, primary_key=True, serialize=False)),
                ("note", models.TextField(null=True)),
            ],
            options={"db_table": "visits"},
        ),
        migrations.RunSQL(DEFAULTS_AND_TRIGGER, reverse_sql=migrations.RunSQL.noop),
    ]
