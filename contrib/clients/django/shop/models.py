from django.db import models

from .keys import KeyField, keyed_comb
from .own_keys import invoice_id


class Order(models.Model):
    id = KeyField(primary_key=True, editable=False, db_default=keyed_comb("orders"))
    note = models.TextField()

    class Meta:
        db_table = "orders"


class Invoice(models.Model):
    id = models.UUIDField(primary_key=True, editable=False, default=invoice_id)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)

    class Meta:
        db_table = "invoices"
