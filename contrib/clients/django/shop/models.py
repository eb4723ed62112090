from django.db import models
from django.db.models.functions import Now

from .keys import KeyField, keyed_comb
from .own_keys import invoice_id


class Order(models.Model):
    id = KeyField(primary_key=True, editable=False, db_default=keyed_comb("orders"))
    created_at = models.DateTimeField(editable=False, db_default=Now())
    note = models.TextField()

    class Meta:
        db_table = "orders"
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["created_at", "id"], name="orders_created_at_id_idx")]


class Invoice(models.Model):
    id = models.UUIDField(primary_key=True, editable=False, default=invoice_id)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)

    class Meta:
        db_table = "invoices"
