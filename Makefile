# idgen: identifiers for PostgreSQL, built with PGXS.
#
#   make && make install && make installcheck
#
# PG_CONFIG=/path/to/pg_config chooses the server; COPT=-Werror makes warnings
# errors. The TAP tests start servers of their own: see scripts/test.sh.

PG_CONFIG ?= pg_config

MODULE_big = idgen
OBJS = \
	src/clock.o \
	src/comb.o \
	src/convert.o \
	src/creation.o \
	src/entropy.o \
	src/idgen.o \
	src/index_report.o \
	src/inspect.o \
	src/int_ids.o \
	src/key_cost.o \
	src/key_kind.o \
	src/mask.o \
	src/mask_keys.o \
	src/object_id.o \
	src/radix.o \
	src/short_prefix.o \
	src/text_ids.o \
	src/ticker.o \
	src/uuid_name.o \
	src/uuid_order.o \
	src/uuid_random.o \
	src/uuid_time.o \
	src/validate.o

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
