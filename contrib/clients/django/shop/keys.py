"""KeyField for keys that the server generates. It needs Django 5; own_keys.py does not."""

from django.db import models
from django.db.models import Func, Value
from django.db.models.fields import AutoFieldMixin


class KeyField(AutoFieldMixin, models.UUIDField):
    """Is None until the row is saved. The key of an unsaved object of a plain UUIDField with db_default is an
    expression, which children copy: their foreign keys become NULL."""

    def get_default(self):
        return None

    def pre_save(self, instance, add):
        key = getattr(instance, self.attname)
        return super().get_default() if key is None else key


def keyed_comb(area):
    return Func(Value(area), function="idgen.keyed_comb")
