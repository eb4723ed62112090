#!/usr/bin/env bash
#
# test-matrix.sh: run all tests on several versions of PostgreSQL.
#
#   scripts/dev/test-matrix.sh [MAJOR ...]     default: 15 17 18 19
#
# Runs scripts/test.sh on each version, then pg_upgrade from the oldest version to
# each of the others (scripts/dev/test-upgrade.sh). A version may have the suffix of
# an architecture: 15-i386.
#
# A version that is installed on the machine is tested there. Any other version
# is installed in a Debian system in a folder of $IDGEN_MATRIX, by default
# /var/cache/idgen-matrix, which is kept for later runs and takes 2 GB. This
# requires root; a version that is not available is skipped.
#
# Ends with a summary of the failures and a line "N passed, N failed" over all
# tests; the exit status is 0 if nothing failed. Takes 23 minutes for the default
# versions, if their folders exist.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
# shellcheck source-path=SCRIPTDIR source=verdicts.sh
. "$(dirname "$0")/verdicts.sh"
# shellcheck source-path=SCRIPTDIR source=debian.sh
. "$(dirname "$0")/debian.sh"

idgen_no_options "$@"
cd "$IDGEN_SOURCE" || exit

[ $# -gt 0 ] || set -- 15 17 18 19
for major; do
    if debian_has "$major"; then
        run_script env PG_CONFIG="$(debian_pg_config "$major")" scripts/test.sh
    else
        run_script scripts/dev/run-on.sh "$major" scripts/test.sh
    fi
done

mapfile -t majors < <(printf '%s\n' "$@" | grep -v -e - | sort -un)
for new in "${majors[@]:1}"; do
    run_script scripts/dev/test-upgrade.sh "${majors[0]}" "$new"
done

end_of_scripts
