#!/usr/bin/env bash
#
# test-postgresql.sh: run PostgreSQL's own regression and isolation tests with idgen in shared_preload_libraries.
#
#   dev/test-postgresql.sh 18
#
# If IDGEN_POSTGRES names a source tree of this version, the script uses the server that run-on.sh builds from it.
# Otherwise, it uses the server with assertions that test-assertions.sh builds. The tests take five minutes and require
# root.

. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
[[ $# -eq 1 && $1 =~ ^[1-9][0-9]$ ]] || idgen_die "a major version is required, see --help"

# The tests must be able to write to the current folder and to find the library regress.so in it.
test_server='. scripts/results.sh
tests=${PG_CONFIG%/bin/*}/source/src/test
idgen_build && idgen_start shared_preload_libraries=idgen max_prepared_transactions=10 fsync=off || exit
run "Regression tests of PostgreSQL" regress make -s -C "$tests/regress" installcheck-parallel
run "Isolation tests of PostgreSQL" isolation make -s -C "$tests/isolation" installcheck
find "$tests" -name regression.diffs -exec cat {} + -delete
end_of_results'

if debian_has_source "$1"; then
    debian_make "$1"
    debian_build_server "$1" release
else
    debian_make "$1-$(dpkg --print-architecture)"
    debian_build_assertions "$1"
fi
debian_copy_sources
debian_run env -C /idgen PG_CONFIG="$PG_CONFIG" bash -c "$test_server" dev/test-postgresql.sh
