from django.db import models

from .keys import KeyField, invoice_id, invoice_line_id, keyed_comb


class Customer(models.Model):
    id = KeyField(primary_key=True, editable=False, db_default=keyed_comb("customers"))
    name = models.TextField()

    class Meta:
        db_table = "customers"


class Order(models.Model):
    id = KeyField(primary_key=True, editable=False, db_default=keyed_comb("orders"))
    customer = models.ForeignKey(Customer, null=True, on_delete=models.CASCADE)
    note = models.TextField()

    class Meta:
        db_table = "orders"


class Invoice(models.Model):
    id = models.UUIDField(primary_key=True, editable=False, default=invoice_id)
    note = models.TextField()

    class Meta:
        db_table = "invoices"


class InvoiceLine(models.Model):
    id = models.UUIDField(primary_key=True, editable=False, default=invoice_line_id)
    invoice = models.ForeignKey(Invoice, on_delete=models.CASCADE, related_name="lines")
    note = models.TextField()

    class Meta:
        db_table = "invoice_lines"
