from django.contrib import admin
from django.urls import path

from cases.models import Line, Order


class LineInline(admin.TabularInline):
    model = Line
    extra = 1


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    inlines = [LineInline]
    fields = ["customer", "note"]


urlpatterns = [path("admin/", admin.site.urls)]
