# shellcheck shell=bash
#
# results.sh: functions that print and count the results of checks and tests. Source this file.

set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034  # for idgen_help
idgen_help_end='Ends with a line "N passed, N failed"; the exit status is 0 if nothing failed, or 77 if
what it requires is not available.'

passed=0 failed=0 failures=() unavailable=()

# Install missing packages, and build idgen: TESTS-OR-NOTHING [MAKE-ARGUMENT ...]
build_idgen() {
    idgen_install_packages "$1"
    idgen_say "Building for $("$PG_CONFIG" --version)"
    idgen_build "${@:2}" || idgen_die "idgen could not be built"
}

# Count a check as passed (STATUS 0) or failed, and print it: STATUS TITLE ...
result() {
    local word=FAILED
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)) word=ok; else failed=$((failed + 1)); fi
    printf '%-7s %s\n' $word "${*:2}"
    return "$1"
}

# Run tests as the cluster's owner, and count their results. Print the differences of pg_regress, and the ends of the
# logs of failed TAP tests: TITLE LOG COMMAND ... (Before version 16, pg_regress prints "test NAME ... ok".) A file that
# ends before its last test is counted as another failure.
run() {
    local log=$IDGEN_WORK/$2.log status bad file
    idgen_say "$1"
    as_server_user "${@:3}" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^(ok [0-9]+|test [^ ]+ +\.\.\. ok)' "$log")))
    bad=$(grep -cE '^(not ok [0-9]+|test [^ ]+ +\.\.\. FAILED|  Parse errors: )' "$log")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1; echo "FAILED  $1: exit status $status"; }
    failed=$((failed + bad))
    for file in $(sed -nE 's|^[a-z/]*t/([^ ]+)\.pl +\(Wstat: .*|\1|p' "$log"); do
        printf '\n== The end of the log of %s\n' "$file"
        tail -n 20 "$IDGEN_BUILD/tmp_check/log/regress_log_$file"
    done
    find "$IDGEN_WORK/build" -name regression.diffs -exec cat {} \; -delete
}

end_of_results() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

# Run a script that ends with such a summary, and add its results.
run_script() {
    local log status good bad started=$SECONDS
    log=$(mktemp)
    "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    read -r good bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
    if [ "$status" -eq 77 ]; then
        unavailable+=("$*")
    elif [ "$status" -ne 0 ]; then
        [ "${bad:-0}" -gt 0 ] || bad=1
        failures+=("$*: status $status" "$(grep -aE '^(not ok [0-9]|FAILED|.* FAILED|.*\(Wstat: )' "$log")")
    fi
    passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0}))
    printf '\n(%d s: %s)\n' $((SECONDS - started)) "$*"
    rm "$log"
}

end_of_scripts() {
    [ ${#failures[@]} -eq 0 ] || printf '%s\n' '' '== Failures' "${failures[@]}"
    [ ${#unavailable[@]} -eq 0 ] || printf '%s\n' '' '== Skipped: not available' "${unavailable[@]}"
    end_of_results
}
