#!/usr/bin/env bash
#
# test-assertions.sh: run tests on a server that checks its assertions.
#
#   dev/test-assertions.sh [t/NAME.pl ...]    these TAP tests; by default all tests
#
# Builds PostgreSQL 15 from Debian's source in a Debian system of its own (see debian.sh), with
# --enable-cassert (and so CLOBBER_FREED_MEMORY) and RANDOMIZE_ALLOCATED_MEMORY, and runs
# scripts/test.sh on it; the TAP tests have wal_consistency_checking = all. Then two regression tests
# run with debug_discard_caches = 1. Requires root.

. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
prefix=/opt/postgresql-assertions

# In the Debian system: build the server, once.
build_server='set -e
[ ! -e "$1/complete" ] || exit 0
echo "deb-src $2 bookworm main" >/etc/apt/sources.list.d/source.list
apt-get -q update
apt-get -q install -y --no-install-recommends dpkg-dev bison flex pkg-config libicu-dev zlib1g-dev libssl-dev faketime pgbouncer
rm -rf /var/tmp/postgresql && mkdir /var/tmp/postgresql && cd /var/tmp/postgresql
apt-get -q source postgresql-15
cd postgresql-15-*/
./configure --prefix="$1" --enable-cassert --enable-tap-tests --without-readline \
    --with-icu --with-openssl CFLAGS=-O1 CPPFLAGS=-DRANDOMIZE_ALLOCATED_MEMORY >/dev/null
make -s -j2 world-bin && make -s install-world-bin
touch "$1/complete"
rm -rf /var/tmp/postgresql'

# With debug_discard_caches = 1, CREATE EXTENSION would take many minutes.
test_without_caches='. dev/verdicts.sh
idgen_build && idgen_start && as_server_user createdb contrib_regression &&
    as_server_user psql -qX -v ON_ERROR_STOP=1 -c "CREATE EXTENSION idgen" \
        -c "ALTER DATABASE contrib_regression SET debug_discard_caches = 1" contrib_regression || exit
run "Regression tests without caches" caches "${idgen_make[@]}" installcheck \
    REGRESS="uuid_name command_history" ISOLATION= EXTRA_REGRESS_OPTS=--use-existing
end_of_verdicts'

debian_make "15-$(dpkg --print-architecture)"
log=$DEBIAN_ROOT.assertions.log
idgen_say "Building PostgreSQL with assertions; the log is $log"
debian_run bash -c "$build_server" bash "$prefix" "$(debian_mirror)" >"$log" 2>&1 ||
    idgen_die "the server could not be built, see $log"
debian_copy_sources
echo "wal_consistency_checking = all" >"$DEBIAN_ROOT/var/tmp/server.conf"

in_debian=(debian_run env -C /idgen PG_CONFIG="$prefix/bin/pg_config")
run_script "${in_debian[@]}" TEMP_CONFIG=/var/tmp/server.conf scripts/test.sh "$@"
[ $# -gt 0 ] || run_script "${in_debian[@]}" bash -c "$test_without_caches" dev/test-assertions.sh
end_of_scripts
