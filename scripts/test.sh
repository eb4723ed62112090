#!/usr/bin/env bash
#
# test.sh: set up everything and run every test, on a private cluster.
#
#   scripts/test.sh                    everything
#   scripts/test.sh t/NAME.pl ...      only these TAP tests
#
# Installs what is missing, builds with warnings as errors, then runs
# pg_regress, the isolation specs and the TAP tests. Ends with a line
# "N passed, N failed"; the exit status is 0 when nothing failed.
# PG_CONFIG=/path/to/pg_config chooses the server.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

idgen_no_options "$@"

passed=0
failed=0

# Count the verdicts in a log: pg_regress before version 16 prints
# "test NAME ... ok", later ones and prove print TAP.
count() {
    local log=$1 ok bad
    ok=$(grep -cE '^(ok [0-9]+|test [^ ]+ +\.\.\. ok)' "$log")
    bad=$(grep -cE '^(not ok [0-9]+|test [^ ]+ +\.\.\. FAILED)' "$log")
    passed=$((passed + ok))
    failed=$((failed + bad))
    return $((bad > 0))
}

# Run a command whose log is counted. Where it fails without a verdict that
# says so, that is one failure.
run() {
    local title=$1 log=$IDGEN_WORK/$2.log status
    shift 2
    idgen_say "$title"
    as_server_user "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    if count "$log" && [ "$status" -ne 0 ]; then
        failed=$((failed + 1))
        echo "exit status $status"
    fi
}

run_make() {
    local title=$1 log=$2
    shift 2
    run "$title" "$log" make -s -C "$IDGEN_BUILD" PG_CONFIG="$PG_CONFIG" with_llvm=no "$@"
}

finish() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
    exit
}

idgen_install_packages tests
idgen_say "Building for $("$PG_CONFIG" --version), warnings as errors"
if idgen_build COPT="-Wall -Wextra -Wshadow -Werror"; then
    passed=1
    echo "ok"
else
    failed=1
    finish
fi

if [ $# -eq 0 ]; then
    # no vacuum and no statistics but those that a test asks for
    idgen_start autovacuum=off
    run_make "pg_regress and isolation tests" installcheck installcheck
    run_make "pg_regress tests of the advisor" advisor installcheck -C advisor
    [ "$failed" -eq 0 ] ||
        cat "$IDGEN_BUILD"/{,advisor/,output_iso/}regression.diffs 2>/dev/null
    idgen_stop
    mapfile -t tests < <(cd "$IDGEN_SOURCE" && printf '%s\n' t/*.pl t/tools/*.pl advisor/t/*.pl)
    set -- "${tests[@]}"
fi

run "TAP tests" tap "${idgen_prove[@]}" --jobs 2 --verbose --timer "$@"

finish
