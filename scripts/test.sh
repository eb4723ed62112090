#!/usr/bin/env bash
#
# test.sh: build idgen and run its tests on a private cluster.
#
#   scripts/test.sh                              all tests, eight minutes on two cores
#   scripts/test.sh t/NAME.pl ...                only these TAP tests
#   scripts/test.sh --regress [t/NAME.pl ...]    the regression and isolation tests, and these
#
# Installs missing packages and builds with warnings as errors. PG_CONFIG=/path/to/pg_config
# chooses the server.

. "$(dirname "$0")/dev/verdicts.sh"

regress=
[ $# -gt 0 ] || { regress=1; cd "$IDGEN_SOURCE" && set -- t/*.pl t/tools/*.pl advisor/t/*.pl; }
idgen_options 'regress?' "$@"

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), warnings as errors"
idgen_build COPT="$(idgen_warnings)"
verdict $? "idgen builds" || { end_of_verdicts; exit; }

if [ "$regress" ]; then
    # vacuum and statistics only at a test's request
    idgen_start autovacuum=off
    run "pg_regress and isolation tests" installcheck "${idgen_make[@]}" installcheck
    run "pg_regress and isolation tests of the portable edition" portable "${idgen_make[@]}" portable-installcheck
    run "pg_regress tests of the advisor" advisor "${idgen_make[@]}" -C advisor installcheck
    idgen_stop
fi

[ ${#arguments[@]} -eq 0 ] || run "TAP tests" tap "${idgen_prove[@]}" --jobs 2 --verbose --timer "${arguments[@]}"

end_of_verdicts
