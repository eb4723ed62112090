#!/usr/bin/env bash
#
# test-assertions.sh: run tests on a server that checks its assertions.
#
#   dev/test-assertions.sh                      all tests, on PostgreSQL 15
#   dev/test-assertions.sh 18                   all tests, on PostgreSQL 18
#   dev/test-assertions.sh 18 t/NAME.pl ...     only these TAP tests
#
# The script builds PostgreSQL from its source in a separate Debian system (see debian.sh), with --enable-cassert (which
# implies CLOBBER_FREED_MEMORY) and RANDOMIZE_ALLOCATED_MEMORY, and runs scripts/test.sh on it. The TAP tests run with
# wal_consistency_checking = all. Afterwards, sql/catalogs.sql and isolation tests run with debug_discard_caches = 1, so
# that each lookup discards everything that is cached. The script requires root.

. "$(dirname "$0")/debian.sh"

idgen_options '' "$@"
major=15
[[ ! ${arguments[0]:-} =~ ^1[0-9]$ ]] || { major=${arguments[0]}; arguments=("${arguments[@]:1}"); }
# With debug_discard_caches = 1, CREATE EXTENSION would take many minutes, as would tests that make thousands of calls.
test_without_caches='. scripts/results.sh
REGRESS="catalogs"
ISOLATION="create_once_reindex check_recent_id"
idgen_build && idgen_start autovacuum=off && as_server_user createdb contrib_regression &&
    as_server_user psql -qX -v ON_ERROR_STOP=1 -c "CREATE EXTENSION idgen" \
        -c "ALTER DATABASE contrib_regression SET debug_discard_caches = 1" contrib_regression || exit
for kind in REGRESS ISOLATION; do
    run "Tests without caches: $kind" "without_caches_$kind" "${idgen_make[@]}" installcheck REGRESS= ISOLATION= \
        "$kind=${!kind}" ISOLATION_OPTS="--use-existing --dbname=contrib_regression" EXTRA_REGRESS_OPTS=--use-existing
done
end_of_results'

debian_make "$major-$(dpkg --print-architecture)"
debian_build_assertions "$major"
debian_copy_sources
echo "wal_consistency_checking = all" >"$DEBIAN_ROOT/var/tmp/server.conf"

in_debian=(debian_run env -C /idgen PG_CONFIG="$PG_CONFIG")
run_script "${in_debian[@]}" TEMP_CONFIG=/var/tmp/server.conf scripts/test.sh "${arguments[@]}"
[ ${#arguments[@]} -gt 0 ] || run_script "${in_debian[@]}" bash -c "$test_without_caches" dev/test-assertions.sh
end_of_scripts
