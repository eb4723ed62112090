# shellcheck shell=bash
#
# verdicts.sh: functions that print and count the results of checks and tests. To be sourced.

set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

# shellcheck disable=SC2034  # for idgen_help
idgen_help_end='Ends with a line "N passed, N failed"; the exit status is 0 if nothing failed, or 77 if
what it requires is not available.'

passed=0 failed=0 skipped=0 failures=() unavailable=()

# Install what is missing, and build idgen: TESTS-OR-NOTHING [MAKE-ARGUMENT ...]
build_idgen() {
    idgen_install_packages "$1"
    idgen_say "Building for $("$PG_CONFIG" --version)"
    idgen_build "${@:2}" || idgen_die "idgen could not be built"
}

# Count a check as passed (STATUS 0) or failed, and print it: STATUS TITLE ...
verdict() {
    local word=FAILED
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)) word=ok; else failed=$((failed + 1)); fi
    printf '%-7s %s\n' $word "${*:2}"
    return "$1"
}

# Run tests as the cluster's owner, count their results, and print pg_regress's differences: TITLE LOG
# COMMAND ... pg_regress before version 16 prints "test NAME ... ok". A TAP file that ends before its
# last test counts as one failure, as does a command that fails without a failed test.
run() {
    local log=$IDGEN_WORK/$2.log status bad failures file
    # what stands in the log of a TAP file behind the reason of its death: its servers are stopped
    local of_servers='^(###|# (Running:|No postmaster|Postmaster PID)|waiting for server|server st)|no plan was|Looks like your test'
    idgen_say "$1"
    as_server_user "${@:3}" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^(ok [0-9]+|test [^ ]+ +\.\.\. ok)' "$log")))
    bad=$(grep -cE '^(not ok [0-9]+|test [^ ]+ +\.\.\. FAILED)' "$log")
    while read -r failures file; do
        [ "$failures" -gt 0 ] || bad=$((bad + 1))
        echo "#   Failed test file $file, which ended early:"
        grep -vE "$of_servers" "$IDGEN_BUILD/tmp_check/log/regress_log_$(basename "$file" .pl)" | tail -n 8 | sed 's/^/# /'
    done < <(awk '/ \(Wstat: [0-9]/ { file = $1; failures = $NF + 0; if (!failures && !/Wstat: 0 /) print 0, file }
        /^  Parse errors: / && failures { print failures, file }' "$log")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1; echo "exit status $status"; }
    failed=$((failed + bad))
    find "$IDGEN_WORK/build" -name regression.diffs -exec cat {} \; -delete
}

end_of_verdicts() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

# Print the failures in the log of such a script, of prove or of pg_regress.
show_failures() {
    awk '/^(not ok [0-9]|FAILED)| FAILED/ { print; next }
         /^diff .*\.out / { of_a_diff = 60 }
         /^== / { of_a_diff = 0 }
         /^# +Failed test/ { of_a_test = 30 }
         !/^#/ { of_a_test = 0 }
         of_a_diff-- > 0 || of_a_test-- > 0' "$1"
}

# Run such a script, and add its results.
run_script() {
    local log status good bad skips found
    log=$(mktemp)
    "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    read -r good bad skips < <(awk '/^[0-9]+ passed, [0-9]+ failed$/ { good = $1; bad = $3 }
        /^[0-9]+ skipped, because/ { skips = $1 } END { print good + 0, bad + 0, skips + 0 }' "$log")
    if [ "$status" -eq 77 ]; then
        skips=$((skips + 1))
        unavailable+=("$*")
    elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "FAILED  $* ended with status $status" | tee -a "$log"
    fi
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skips))
    found=$(show_failures "$log")
    [ -z "$found" ] || failures+=("$*:"$'\n'"$found")
    rm "$log"
}

end_of_scripts() {
    [ ${#failures[@]} -eq 0 ] || printf '%s\n' '' '== Failures' "${failures[@]}"
    [ "$skipped" -eq 0 ] || printf '\n%d skipped, because their requirements are not available\n' "$skipped"
    [ ${#unavailable[@]} -eq 0 ] || printf '  %s\n' "${unavailable[@]}"
    end_of_verdicts
}
