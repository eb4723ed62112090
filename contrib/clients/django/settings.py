"""Settings of the test. Applications should read their secrets from the environment, too."""

import os

SECRET_KEY = "of the test"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# The 16 bytes of the key "shared" in the server's idgen.key_file
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
