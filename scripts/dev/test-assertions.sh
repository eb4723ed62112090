#!/usr/bin/env bash
#
# test-assertions.sh: run tests on a server that checks its assertions.
#
#   scripts/dev/test-assertions.sh                   all tests
#   scripts/dev/test-assertions.sh t/NAME.pl ...     only these TAP tests
#
# Builds PostgreSQL 15 from Debian's source in a Debian system of its own (see
# debian.sh), with --enable-cassert, which implies CLOBBER_FREED_MEMORY, and
# RANDOMIZE_ALLOCATED_MEMORY, and runs scripts/test.sh on it; the servers of the TAP tests
# also have wal_consistency_checking = all. The system is kept for later runs.
# Then two regression tests run with debug_discard_caches = 1. Ends with a line
# "N passed, N failed"; the exit status is 0 if nothing failed, and 77 if the system
# is not available. Requires root.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"

folder=15-$(dpkg --print-architecture)
prefix=/opt/postgresql-assertions

# In the Debian system: build the server, once.
build_server() {
    cat <<'END'
set -e
prefix=$1
[ ! -e "$prefix/complete" ] || exit 0
echo "deb-src $2 bookworm main" >/etc/apt/sources.list.d/source.list
apt-get -q update
apt-get -q install -y --no-install-recommends dpkg-dev bison flex pkg-config libicu-dev zlib1g-dev libssl-dev faketime pgbouncer
rm -rf /var/tmp/postgresql && mkdir /var/tmp/postgresql && cd /var/tmp/postgresql
apt-get -q source postgresql-15
cd postgresql-15-*/
./configure --prefix="$prefix" --enable-cassert --enable-tap-tests --without-readline \
    --with-icu --with-openssl CFLAGS=-O1 CPPFLAGS=-DRANDOMIZE_ALLOCATED_MEMORY >/dev/null
make -s -j2 world-bin && make -s install-world-bin
touch "$prefix/complete"
rm -rf /var/tmp/postgresql
END
}

debian_make "$folder" || { echo "$DEBIAN_WHY"; exit 77; }
idgen_say "Building PostgreSQL with assertions; the log is $DEBIAN_ROOT.assertions.log"
debian_run bash -c "$(build_server)" bash "$prefix" "$(debian_mirror)" >"$DEBIAN_ROOT.assertions.log" 2>&1 ||
    { echo "the server could not be built, see $DEBIAN_ROOT.assertions.log"; exit 77; }
debian_copy_sources

# With debug_discard_caches = 1, every use of a catalog reads it anew; CREATE EXTENSION
# would take many minutes.
tests_without_caches() {
    cat <<'END'
. scripts/lib.sh
. scripts/dev/verdicts.sh
PG_CONFIG=$1/bin/pg_config
idgen_build || exit
idgen_start
as_server_user createdb contrib_regression &&
    as_server_user psql -qX -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION idgen' \
        -c 'ALTER DATABASE contrib_regression SET debug_discard_caches = 1' contrib_regression || exit
run "Regression tests without caches" caches make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" \
    installcheck REGRESS='uuid_name command_history' ISOLATION= EXTRA_REGRESS_OPTS=--use-existing
end_of_verdicts
END
}

passed=0
failed=0
log=$(mktemp)

count() {
    "$@" | tee "$log"
    [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] ||
        BASH_REMATCH=('' 0 1)
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
}

# shellcheck disable=SC2016  # for the inner shell
count debian_run env -C /idgen PG_CONFIG="$prefix/bin/pg_config" bash -c '
    echo "wal_consistency_checking = all" >/tmp/server.conf
    TEMP_CONFIG=/tmp/server.conf exec scripts/test.sh "$@"' bash "$@"
[ $# -gt 0 ] || count debian_run env -C /idgen bash -c "$(tests_without_caches)" scripts/dev/test-assertions.sh "$prefix"
rm -f "$log"

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
