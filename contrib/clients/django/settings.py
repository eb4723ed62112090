"""Settings of the test. An application reads its secrets from its environment as well."""

import os

SECRET_KEY = "of the test"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# the key "shared" of idgen.key_file of the server, 16 bytes
ID_KEY = bytes.fromhex(os.environ["ID_KEY"])

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PGHOST"],
        "PORT": os.environ["PGPORT"],
        "USER": os.environ["PGUSER"],
        "NAME": os.environ["PGDATABASE"],
        **eval(f"{{{os.environ.get('POOL_SETTING', '')}}}"),
    }
}

INSTALLED_APPS = ["shop"]
