#!/usr/bin/env bash
#
# test.sh: build idgen and run its tests on a private cluster.
#
#   scripts/test.sh                              all tests
#   scripts/test.sh t/NAME.pl ...                only these TAP tests
#   scripts/test.sh --regress [t/NAME.pl ...]    the regression and isolation
#                                                tests, and these TAP tests
#
# Installs missing packages, builds with warnings as errors, then runs
# pg_regress, the isolation tests and the TAP tests. Ends with a line
# "N passed, N failed"; the exit status is 0 if nothing failed. All tests take
# about eight minutes on two cores. PG_CONFIG=/path/to/pg_config chooses the
# server.

set -uo pipefail
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=dev/verdicts.sh
. "$(dirname "$0")/dev/verdicts.sh"

regress=no
all=no
[ $# -gt 0 ] || { regress=yes; all=yes; }
[ "${1:-}" != --regress ] || { regress=yes; shift; }
idgen_no_options "$@"

run_make() {
    local title=$1 log=$2
    shift 2
    run "$title" "$log" make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no "$@"
}

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), warnings as errors"
idgen_build COPT="$(idgen_warnings)"
verdict $? "idgen builds" || { end_of_verdicts; exit; }

if [ $regress = yes ]; then
    # vacuum and statistics only at a test's request
    idgen_start autovacuum=off
    run_make "pg_regress and isolation tests" installcheck installcheck
    run_make "pg_regress and isolation tests of the portable edition" portable portable-installcheck
    run_make "pg_regress tests of the advisor" advisor installcheck -C advisor
    [ "$failed" -eq 0 ] ||
        cat "$IDGEN_BUILD"/{,advisor/,output_iso/,output_portable/,output_portable_iso/}regression.diffs 2>/dev/null
    idgen_stop
fi

[ $all = no ] || { mapfile -t tests < <(idgen_tap_tests); set -- "${tests[@]}"; }
if [ $# -gt 0 ]; then
    idgen_foreign_key_files
    run "TAP tests" tap "${idgen_prove[@]}" --jobs 2 --verbose --timer "$@"
fi

end_of_verdicts
