# idgen: identifiers for PostgreSQL, built with PGXS.
#
#   make && make install
#   make installcheck                                    all regression and isolation tests, on a running server
#   make installcheck REGRESS=validate ISOLATION=        one regression test
#   make installcheck REGRESS= ISOLATION=create_once     one isolation test
#   make prove_installcheck PROVE_TESTS=t/001_clock_steps.pl
#   make dist                                            the PGXN archive of HEAD
#
# PG_CONFIG=/path/to/pg_config selects the server. The TAP tests start their own servers and cannot run as root.
# scripts/test.sh runs all tests.

PG_CONFIG ?= pg_config

MODULE_big = idgen
OBJS := $(addprefix src/,$(sort $(notdir $(patsubst %.c,%.o,$(wildcard $(dir $(lastword $(MAKEFILE_LIST)))src/*.c)))))

EXTENSION = idgen
DATA := $(sort $(notdir $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))idgen--*.sql)))

# The library exports only the symbols that the server looks up. Without this, version 15 would export all symbols.
SHLIB_EXPORTS = exports.txt

# Objects depend on the headers that they include.
override autodepend = yes

REGRESS = install interface callable generate within decode text other_schemes validate creation creation_errors creation_transactions min_max schemes runs keyed_comb randomness within_numbers int_ids id_domains trigger trigger_rows keys hostile_triggers catalogs errors
REGRESS_OPTS = --load-extension=idgen --encoding=UTF8 --no-locale
ISOLATION = create_once create_once_snapshot create_once_reindex forget_creation check_recent_id
ISOLATION_OPTS = --load-extension=idgen

EXTRA_CLEAN = tmp_check

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The server may have been built without --enable-tap-tests.
ifeq ($(PROVE),)
PROVE = prove
endif

.PHONY: prove_installcheck
prove_installcheck:
	rm -rf '$(CURDIR)/tmp_check'
	cd $(srcdir) && TESTDIR='$(CURDIR)' PATH="$(bindir):$$PATH" PG_CONFIG='$(PG_CONFIG)' \
		PG_REGRESS='$(top_builddir)/src/test/regress/pg_regress' PGPORT='6$(DEF_PGPORT)' \
		$(PROVE) -I t/lib $(PG_PROVE_FLAGS) $(PROVE_FLAGS) $(or $(PROVE_TESTS),t/*.pl)

# Create the archive of a release from committed files: make dist REVISION=v1.0.0
REVISION = HEAD
DISTDIR = $(CURDIR)
DISTVERSION = $(shell sed -n 's/^    "version": "\(.*\)",$$/\1/p' $(srcdir)/META.json)

.PHONY: dist
dist:
	git -C $(srcdir) archive --format=zip --prefix='idgen-$(DISTVERSION)/' \
		--output='$(DISTDIR)/idgen-$(DISTVERSION).zip' '$(REVISION)'
