"""Keys that the application generates."""

from django.conf import settings

from combs import hmac_comb


# A migration contains only the name of this function. It would contain the secret if a functools.partial() were used.
def invoice_id():
    return hmac_comb(settings.ID_KEY, "invoices")
