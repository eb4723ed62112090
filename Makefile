# idgen: identifiers for PostgreSQL, built with PGXS.
#
#   make && make install && make installcheck
#
# PG_CONFIG=/path/to/pg_config chooses the server; COPT=-Werror makes warnings
# errors. The TAP tests start servers of their own: see scripts/test.sh.

PG_CONFIG ?= pg_config

MODULE_big = idgen
OBJS = $(patsubst $(srcdir)/%.c,%.o,$(wildcard $(srcdir)/src/*.c))

EXTENSION = idgen
DATA = idgen--1.0.sql

# The server's headers count as system headers: their warnings are not ours.
PG_CPPFLAGS = -I$(srcdir)/src -isystem $(shell $(PG_CONFIG) --includedir-server) -include exports.h
PG_CFLAGS = -Wall -Wextra -Wshadow -fvisibility=hidden

REGRESS = install callable generate schemes randomness bounds within decode int_ids text object_id validate trigger creation key_cost advisor errors
ISOLATION = create_once create_once_snapshot forget_creation
ISOLATION_OPTS = --load-extension=idgen

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

$(OBJS): $(wildcard $(srcdir)/src/*.h)
