"""Models whose keys the database or the client makes.

Django before 5 reads a key of the database back, and leaves it out of INSERT, only for an
"auto" field; the default itself is in the migration. From Django 5 on, a plain field with
db_default does both (main.py). bulk_create() needs keys that the client makes, as those of
Draft."""

from django.db import models
from django.db.models.fields import AutoFieldMixin

from short_comb import short_comb


class DatabaseUUIDField(AutoFieldMixin, models.UUIDField):
    pass


class DatabaseBigIntegerField(AutoFieldMixin, models.BigIntegerField):
    pass


class DatabaseAccountIdField(AutoFieldMixin, models.TextField):
    empty_strings_allowed = False  # an empty key would be sent instead of the default

    def db_type(self, connection):
        return "account_id"  # the domain that idgen.create_id_domain() made


class Order(models.Model):
    id = DatabaseUUIDField(primary_key=True, editable=False)
    note = models.TextField(null=True)

    class Meta:
        db_table = "orders"


class Draft(models.Model):
    id = models.UUIDField(primary_key=True, default=short_comb, editable=False)
    note = models.TextField(null=True)

    class Meta:
        db_table = "drafts"


class Event(models.Model):
    id = DatabaseUUIDField(primary_key=True, editable=False)

    class Meta:
        db_table = "events"


class Visit(models.Model):
    id = DatabaseBigIntegerField(primary_key=True, editable=False)
    note = models.TextField(null=True)

    class Meta:
        db_table = "visits"


class Click(models.Model):
    id = DatabaseBigIntegerField(primary_key=True, editable=False)

    class Meta:
        db_table = "clicks"


class Account(models.Model):
    id = DatabaseAccountIdField(primary_key=True, editable=False)
    note = models.TextField(null=True)

    class Meta:
        db_table = "accounts"
