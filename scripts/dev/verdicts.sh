# shellcheck shell=bash
#
# verdicts.sh: functions that print and count the results of checks and tests.
# To be sourced.
#
#   verdict STATUS TITLE ...   count a check as passed (STATUS 0) or failed, and
#                              print it; returns STATUS
#   run TITLE LOG COMMAND ...  run tests as the cluster's owner, with their output
#                              also in $IDGEN_WORK/LOG.log, and count their results
#   end_of_verdicts            print "N passed, N failed"; false if one failed
#   show_failures LOG          print the failures in the log of such a script, of
#                              prove or of pg_regress, with their messages
#   run_script SCRIPT ...      run a script that ends with such a line, and add its
#                              results; exit status 77 counts as skipped
#   end_of_scripts             print the failures of all scripts, and the totals

passed=0
failed=0
skipped=0

verdict() {
    local status=$1
    shift
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $*"
    else
        failed=$((failed + 1))
        echo "FAILED  $*"
    fi
    return "$status"
}

# pg_regress before version 16 prints "test NAME ... ok", later ones and prove
# print TAP. A command that fails without a failed test counts as one failure.
run() {
    local title=$1 log=$IDGEN_WORK/$2.log status bad
    shift 2
    idgen_say "$title"
    as_server_user "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^(ok [0-9]+|test [^ ]+ +\.\.\. ok)' "$log")))
    bad=$(grep -cE '^(not ok [0-9]+|test [^ ]+ +\.\.\. FAILED)' "$log")
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "exit status $status"
    fi
    failed=$((failed + bad))
}

end_of_verdicts() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
}

show_failures() {
    awk '/^(not ok [0-9]|FAILED)| FAILED/ { print; next }
         /^diff .*\.out / { of_a_diff = 60 }
         /^== / { of_a_diff = 0 }
         /^# +Failed test/ { of_a_test = 30 }
         !/^#/ { of_a_test = 0 }
         of_a_diff-- > 0 || of_a_test-- > 0' "$1"
}

failures=()

run_script() {
    local log status found
    log=$(mktemp)
    "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    [[ $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]] || :
    passed=$((passed + ${BASH_REMATCH[1]:-0}))
    failed=$((failed + ${BASH_REMATCH[2]:-0}))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    if [ "$status" -eq 77 ]; then
        skipped=$((skipped + 1))
    elif [ "$status" -ne 0 ] && [ "${BASH_REMATCH[2]:-0}" -eq 0 ]; then
        failed=$((failed + 1))
        echo "FAILED  $* ended with status $status" | tee -a "$log"
    fi
    found=$(show_failures "$log")
    [ -z "$found" ] || failures+=("$*:"$'\n'"$found")
    rm "$log"
}

end_of_scripts() {
    [ ${#failures[@]} -eq 0 ] || printf '\n== Failures\n'
    [ ${#failures[@]} -eq 0 ] || printf '%s\n' "${failures[@]}"
    [ "$skipped" -eq 0 ] || printf '\n%d skipped, because their requirements are not available\n' "$skipped"
    end_of_verdicts
}
