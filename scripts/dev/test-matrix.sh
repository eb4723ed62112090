#!/usr/bin/env bash
#
# test-matrix.sh: run all tests on several versions of PostgreSQL.
#
#   scripts/dev/test-matrix.sh [--folder FOLDER] [MAJOR ...]     default: 15 17 18 19
#
# Runs scripts/test.sh on each version, then pg_upgrade from the oldest version to
# each of the others (scripts/dev/test-upgrade.sh). A version may have the suffix of
# an architecture: 15-i386.
#
# A version that is installed on the machine is tested there. Any other version
# is installed in a Debian system in FOLDER/MAJOR, which is kept for later runs
# and takes 2 GB; FOLDER is $IDGEN_MATRIX or /var/cache/idgen-matrix by default.
# This requires root; a version that is not available is skipped.
#
# Prints a line for each step, with its failures, keeps the logs, and ends with a
# line "N passed, N failed" over all tests, with ", N skipped" if versions were
# skipped. The exit status is 0 if tests passed and none failed. Takes 23 minutes
# for the default versions, if their folders exist.

set -uo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/verdicts.sh"

while [ $# -gt 0 ]; do
    case $1 in
        --folder) [ $# -ge 2 ] || idgen_die "--folder requires a folder"; export IDGEN_MATRIX=$2; shift 2 ;;
        --folder=*) export IDGEN_MATRIX=${1#*=}; shift ;;
        -h | --help) idgen_help; exit 0 ;;
        -*) idgen_die "unknown option $1; see --help" ;;
        *) break ;;
    esac
done
majors=("$@")
[ $# -gt 0 ] || majors=(15 17 18 19)
for major in "${majors[@]}"; do
    [[ $major =~ ^[1-9][0-9](-[a-z0-9]+)?$ ]] || idgen_die "not a major version: $major"
done

. "$(dirname "$0")/debian.sh"

skipped=0
logs=$(mktemp -d /tmp/idgen-matrix.XXXXXX)

# --- one step ---------------------------------------------------------------

step_child=

# The scripts of a step clean up when they receive SIGTERM.
end_step() {
    if [ -n "$step_child" ]; then
        kill -TERM -- "-$step_child" 2>/dev/null
        wait "$step_child"
    fi
}
idgen_at_exit end_step

# Run a script in a process group of its own, so that it can be ended.
in_group() {
    local status

    set -m
    "$@" </dev/null &
    step_child=$!
    set +m
    wait "$step_child"
    status=$?
    step_child=
    return $status
}

# Run a command that ends with "N passed, N failed", or, with exit status 77, with
# the reason why it was skipped; print its result, and add it to the totals.
step() {
    local title=$1 log=$logs/$2.log begin=$SECONDS status verdict duration
    shift 2

    printf '%-34s ' "$title"
    "$@" >"$log" 2>&1
    status=$?
    duration=$(printf '%d:%02d min' $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)))
    verdict=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [ "$status" -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "SKIPPED: $(tail -n 1 "$log")"
    elif [[ $verdict =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        # a script that fails without a failed test
        if [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then
            failed=$((failed + 1))
            verdict+=", but exit status $status"
        fi
        echo "$verdict  ($duration)"
        show_failures "$log"
    else
        failed=$((failed + 1))
        echo "FAILED: no result, exit status $status  ($duration)"
        tail -n 30 "$log"
    fi
}

# --- the steps --------------------------------------------------------------

test_suite() {
    local major=$1 pg_config status

    pg_config=$(debian_pg_config "$major")
    if debian_has "$major"; then
        in_group env PG_CONFIG="$pg_config" "$IDGEN_SOURCE/scripts/test.sh"
    else
        debian_make "$major" || { echo "$DEBIAN_WHY"; return 77; }
        debian_copy_sources
        debian_run env PG_CONFIG="$pg_config" /idgen/scripts/test.sh
        status=$?
        debian_leave
        return $status
    fi
}

upgrades() {
    local old new sorted
    mapfile -t sorted < <(printf '%s\n' "${majors[@]}" | grep -v -e - | sort -un)
    old=${sorted[0]}
    for new in "${sorted[@]:1}"; do
        step "pg_upgrade $old to $new" "upgrade-$old-$new" \
            in_group "$IDGEN_SOURCE/scripts/dev/test-upgrade.sh" "$old" "$new"
    done
}

idgen_say "The logs are in $logs, the Debian folders in $IDGEN_MATRIX"
for major in "${majors[@]}"; do
    step "PostgreSQL $major" "$major" test_suite "$major"
done
upgrades

printf '\n%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
echo
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
