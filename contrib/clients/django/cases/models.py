"""The tables of run.py. CASES_KEYS is "server" or "application"."""

import os

from django.db import models
from django.db.models import Func

from shop.keys import KeyField, invoice_id, keyed_comb


def key():
    if os.environ["CASES_KEYS"] == "server":
        return KeyField(primary_key=True, editable=False, db_default=keyed_comb("cases"))
    # other programs get their keys from the server
    default = Func(function="gen_random_uuid")
    return models.UUIDField(primary_key=True, editable=False, default=invoice_id, db_default=default)


class Customer(models.Model):
    id = key()
    name = models.TextField()


class Vip(Customer):
    level = models.IntegerField(default=1)


class Tag(models.Model):
    name = models.TextField()


class Order(models.Model):
    id = key()
    customer = models.ForeignKey(Customer, null=True, blank=True, on_delete=models.CASCADE)
    note = models.TextField(null=True)
    tags = models.ManyToManyField(Tag, blank=True)


class Line(models.Model):
    id = key()
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    quantity = models.IntegerField()
