"""Uses of models whose keys are those of KeyField (CASES_KEYS=server) or of default=invoice_id
(CASES_KEYS=application), each in a transaction of its own."""

import io
import json
import os
import pickle
import sys
import tempfile
import unittest
import uuid

import django
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client, TestCase

django.setup()

from django.contrib.auth.models import User  # noqa: E402  only after setup()
from django.forms import inlineformset_factory, modelform_factory  # noqa: E402

from cases.models import Customer, Line, Order, Tag, Vip  # noqa: E402

FORM = os.environ["CASES_KEYS"]


class Cases(TestCase):
    def refused(self, use):
        """By Django, or by the foreign key if the object that is not saved has its key."""
        with self.assertRaises((ValueError, IntegrityError)), transaction.atomic():
            use()
            connection.check_constraints()

    def test_create_and_read_back(self):
        customer = Customer.objects.create(name="a")
        self.assertIsInstance(customer.pk, uuid.UUID)
        self.assertEqual(Customer.objects.get(pk=customer.pk).name, "a")

    def test_own_key(self):
        id = uuid.uuid4()
        Customer(id=id, name="a").save()
        self.assertEqual(Customer.objects.get().pk, id)

    def test_update(self):
        customer = Customer.objects.create(name="a")
        customer.name = "b"
        customer.save()
        self.assertEqual(Customer.objects.get(name="b").pk, customer.pk)

    def test_child_built_before_its_parent_is_saved(self):
        customer = Customer(name="a")
        order = Order(customer=customer)
        customer.save()
        order.save()
        self.assertEqual(Order.objects.get().customer_id, customer.pk)

    def test_parent_never_saved(self):
        self.refused(lambda: Order(customer=Customer(name="a")).save())

    def test_parent_never_saved_not_null(self):
        self.refused(lambda: Line(order=Order(), quantity=1).save())

    def test_child_of_bulk_created_parent(self):
        parents = Customer.objects.bulk_create([Customer(name="a"), Customer(name="b")])
        Order(customer=parents[1]).save()
        self.assertEqual(Order.objects.get().customer.name, "b")

    def test_bulk_created_children_of_bulk_created_parent(self):
        [order] = Order.objects.bulk_create([Order()])
        Line.objects.bulk_create([Line(order=order, quantity=i) for i in range(3)])
        self.assertEqual(Order.objects.get().lines.count(), 3)

    def test_bulk_create_of_children_built_before_their_parent_is_saved(self):
        customer = Customer(name="a")
        orders = [Order(customer=customer)]
        customer.save()
        Order.objects.bulk_create(orders)
        self.assertEqual(Order.objects.get().customer_id, customer.pk)

    def test_bulk_create_with_and_without_key(self):
        id = uuid.uuid4()
        created = Customer.objects.bulk_create([Customer(id=id, name="own"), Customer(name="new")])
        self.assertEqual({row.pk for row in created}, set(Customer.objects.values_list("pk", flat=True)))
        self.assertEqual(created[0].pk, id)

    def test_bulk_create_ignore_conflicts(self):
        Customer.objects.bulk_create([Customer(name="a")], ignore_conflicts=True)
        self.assertEqual(Customer.objects.count(), 1)

    def test_bulk_create_is_one_query(self):
        with self.assertNumQueries(1):
            Customer.objects.bulk_create([Customer(name=str(i)) for i in range(10)])

    def test_key_of_unsaved_object(self):
        key = Customer(name="a").pk
        self.assertTrue(key is None if FORM == "server" else isinstance(key, uuid.UUID), key)

    def test_unsaved_objects_differ(self):
        self.assertNotEqual(Customer(name="a"), Customer(name="b"))

    def test_set_of_unsaved_objects(self):
        if FORM == "server":
            self.assertRaises(TypeError, hash, Customer(name="a"))
        else:
            self.assertEqual(len({Customer(name="a"), Customer(name="b")}), 2)

    def test_copy(self):
        copy = Customer.objects.create(name="a")
        copy.pk = None
        copy._state.adding = True
        copy.save()
        self.assertEqual(Customer.objects.count(), 2)

    def test_copy_by_key_only(self):
        copy = Customer.objects.create(name="a")
        copy.pk = None
        copy.save()
        self.assertEqual(Customer.objects.count(), 2)

    def test_add_to_unsaved_parent(self):
        self.refused(lambda: Order().lines.add(Line(quantity=1), bulk=False))

    def test_children_of_unsaved_parent(self):
        if FORM == "server":
            self.refused(lambda: list(Order().lines.all()))
        else:
            self.assertEqual(list(Order().lines.all()), [])

    def test_tag_of_unsaved_object(self):
        tag = Tag.objects.create(name="a")
        self.refused(lambda: Order().tags.add(tag))

    def test_tag(self):
        order = Order.objects.create()
        order.tags.add(Tag.objects.create(name="a"))
        self.assertEqual(Order.objects.get().tags.count(), 1)

    def test_inheritance_create(self):
        vip = Vip.objects.create(name="a", level=3)
        self.assertEqual(Customer.objects.get(pk=vip.pk).vip.level, 3)

    def test_inheritance_save(self):
        Vip(name="a", level=3).save()
        self.assertEqual(Customer.objects.get(vip__level=3).name, "a")

    def test_get_or_create(self):
        first, created = Customer.objects.get_or_create(name="a")
        second, created_again = Customer.objects.get_or_create(name="a")
        self.assertEqual((first, created, created_again), (second, True, False))

    def test_formset_of_form_saved_later(self):
        order = modelform_factory(Order, fields=["note"])({"note": "a"}).save(commit=False)
        formset = inlineformset_factory(Order, Line, fields=["quantity"], extra=1)
        lines = {"lines-TOTAL_FORMS": 1, "lines-INITIAL_FORMS": 0, "lines-0-quantity": 5}
        lines = formset(lines, instance=order)
        self.assertTrue(lines.is_valid())
        order.save()
        lines.save()
        self.assertEqual(Order.objects.get().lines.get().quantity, 5)

    def test_admin_adds_with_inline(self):
        client = Client()
        client.force_login(User.objects.create(username="a", is_staff=True, is_superuser=True))
        form = {"customer": "", "note": "a", "lines-TOTAL_FORMS": 1, "lines-INITIAL_FORMS": 0, "lines-0-quantity": 7}
        self.assertEqual(client.get("/admin/cases/order/add/").status_code, 200)
        self.assertEqual(client.post("/admin/cases/order/add/", form).status_code, 302)
        order = Order.objects.get()
        self.assertEqual(order.lines.get().quantity, 7)
        self.assertEqual(client.get(f"/admin/cases/order/{order.pk}/change/").status_code, 200)

    def load(self, **fixture):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump([{"model": "cases.customer", "fields": {"name": "a"}, **fixture}], file)
            file.flush()
            call_command("loaddata", file.name, verbosity=0)
        return Customer.objects.get()

    def test_loaddata_with_key(self):
        id = uuid.uuid4()
        self.assertEqual(self.load(pk=str(id)).pk, id)

    def test_loaddata_without_key(self):
        self.assertIsInstance(self.load().pk, uuid.UUID)

    def test_dumpdata(self):
        order = Order.objects.create(customer=Customer.objects.create(name="a"))
        dump = io.StringIO()
        call_command("dumpdata", "cases", stdout=dump)
        self.assertIn(str(order.pk), dump.getvalue())

    def test_empty_migration(self):
        changes = io.StringIO()
        call_command("makemigrations", dry_run=True, stdout=changes)
        self.assertEqual(changes.getvalue(), "No changes detected\n")

    def test_default_for_other_programs(self):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO cases_customer (name) VALUES ('a')")
        self.assertIsInstance(Customer.objects.get().pk, uuid.UUID)

    def test_save_again_after_failure(self):
        customer = Customer(name=None)
        with self.assertRaises(IntegrityError), transaction.atomic():
            customer.save()
        customer.name = "a"
        customer.save()
        self.assertEqual(Customer.objects.get(), customer)

    def test_pickle(self):
        customer = pickle.loads(pickle.dumps(Customer(name="a")))
        customer.save()
        self.assertEqual(Customer.objects.get().pk, customer.pk)

    def test_repr(self):
        self.assertIn("object", repr(Order()) + str(Customer(name="a")))

    def test_full_clean(self):
        customer = Customer(name="a")
        customer.full_clean()
        customer.save()
        self.assertEqual(Customer.objects.get().pk, customer.pk)


call_command("makemigrations", "cases", verbosity=0)
call_command("migrate", verbosity=0)
result = unittest.TextTestRunner(sys.stderr).run(unittest.defaultTestLoader.loadTestsFromTestCase(Cases))
failed = [test._testMethodName for test, _ in result.failures + result.errors]
print("error" if failed else "ok", result.testsRun, *failed, sep="\t")
