#!/usr/bin/env bash
#
# test-sanitized.sh: run tests with idgen built with UndefinedBehaviorSanitizer.
#
#   scripts/dev/test-sanitized.sh                    pg_regress, isolation, some TAP tests
#   scripts/dev/test-sanitized.sh t/NAME.pl ...      only these TAP tests
#
# Prints the sanitizer's reports, which are failures (see sanitized.sh for the
# errors that it detects), and ends with a line "N passed, N failed"; the exit
# status is 0 if nothing failed. Takes three minutes. PG_CONFIG=/path/to/pg_config
# chooses the server.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"
# shellcheck source-path=SCRIPTDIR source=sanitized.sh
. "$(dirname "$0")/sanitized.sh"

idgen_no_options "$@"

some_tests=(t/001_clock_steps.pl t/002_processes.pl t/030_crash.pl t/007_id_domains.pl t/011_ticker_clock.pl
            t/006_id_pattern.pl t/003_properties.pl t/009_masks.pl t/009_mask_keys.pl t/009_mask_secrecy.pl)

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), with the sanitizer"
sanitized_build || idgen_die "could not build"

# shellcheck disable=SC2119
idgen_start
sanitized_probe
verdict $? "the sanitizer works"

if [ $# -eq 0 ]; then
    run "pg_regress and isolation tests" installcheck \
        make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no installcheck
    run "pg_regress tests of the advisor" advisor \
        make -s -C "$IDGEN_BUILD/advisor" PG_CONFIG="$PG_CONFIG" with_llvm=no installcheck
    [ "$failed" -eq 0 ] || cat "$IDGEN_BUILD"/{,advisor/,output_iso/}regression.diffs 2>/dev/null
    set -- "${some_tests[@]}"
fi
idgen_stop

idgen_foreign_key_files
run "TAP tests" tap "${idgen_prove[@]}" --verbose "$@"

idgen_say "Reports"
! sanitized_show_reports
verdict $? "no report"

end_of_verdicts
