# shellcheck shell=bash
#
# verdicts.sh: what the scripts share that check one thing after another. To be
# sourced.
#
#   verdict STATUS TITLE ...   print and count what went well (STATUS 0) or did
#                              not; returns STATUS
#   end_of_verdicts            print "N passed, N failed"; false where one failed
#   show_failures LOG          what failed in the log of such a script, of prove
#                              or of pg_regress, and what was said about it

passed=0
failed=0

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
