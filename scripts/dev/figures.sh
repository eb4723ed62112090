#!/usr/bin/env bash
#
# figures.sh: run TAP tests one after another, and print the figures that each
# reports, such as the number of crashes and of values compared.
#
#   scripts/dev/figures.sh                    every test that reports figures
#   scripts/dev/figures.sh t/NAME.pl ...      only these
#
# The exit status is 0 if all tests passed. PG_CONFIG chooses the server.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

idgen_no_options "$@"
if [ $# -eq 0 ]; then
    mapfile -t tests < <(cd "$IDGEN_SOURCE" && grep -l 'figures: ' t/*.pl advisor/t/*.pl)
    set -- "${tests[@]}"
fi

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version)"
idgen_build || idgen_die "could not build"

failed=0
for test; do
    if as_server_user "${idgen_prove[@]}" --verbose "$test" >"$IDGEN_WORK/figures.log" 2>&1; then
        figures=$(sed -n 's/^# figures: //p' "$IDGEN_WORK/figures.log")
    else
        figures="FAILED: $(grep -m 1 '^not ok' "$IDGEN_WORK/figures.log")"
        failed=1
    fi
    printf '%s: %s\n' "$test" "${figures:-no figures}"
done
exit $failed
