"""KeyField for keys that the server generates. It requires Django 5; own_keys.py does not."""

from django.db import models
from django.db.models import Func, Value
from django.db.models.fields import AutoFieldMixin


class KeyField(AutoFieldMixin, models.UUIDField):
    """A key field that is None until the row is saved. In a plain UUIDField with db_default, the key of an unsaved
    object is an expression. Its children copy this expression, and their foreign keys become NULL."""

    def get_default(self):
        return None

    def pre_save(self, instance, add):
        key = getattr(instance, self.attname)
        return super().get_default() if key is None else key


def keyed_comb(area):
    return Func(Value(area), function="idgen.keyed_comb")
