# shellcheck shell=bash
#
# results.sh: functions that print and count the results of checks and tests. Source this file.

set -uo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034  # idgen_help uses it
idgen_help_end='Ends with a line "N passed, N failed, N skipped"; the exit status is 0 if nothing failed, or
77 if what it requires is not available.'

passed=0 failed=0 skipped=0 skips='' failures=() unavailable=()
output=     # the file with all output of the tests

# Install missing packages, and build idgen. Arguments: TESTS-OR-NOTHING [MAKE-ARGUMENT ...].
build_idgen() {
    idgen_install_packages "$1"
    idgen_say "Building for $("$PG_CONFIG" --version)"
    idgen_build "${@:2}" || idgen_die "idgen could not be built"
}

# Count a check as passed (status 0) or failed, and print it. Arguments: STATUS TITLE ...
result() {
    local word=FAILED
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)) word=ok; else failed=$((failed + 1)); fi
    printf '%-7s %s\n' $word "${*:2}"
    return "$1"
}

# Print the command that runs the tests that a file has skipped. Arguments: FILE REASON.
command_for() {
    case $1:$2 in
        contrib/clients/*) echo contrib/clients/test-clients.sh ;;
        *:Citus*) echo dev/test-citus.sh ;;
        *PostgreSQL\ [0-9]*)
            echo "dev/run-on.sh $(sed -E 's/.*PostgreSQL ([0-9]+).*/\1/' <<<"$2") scripts/test.sh $1" ;;
        *) echo "scripts/test.sh $1, where this is available" ;;
    esac
}

# Count the tests that TAP files have skipped, and remember the reasons. Arguments: FOLDER.
count_skips() {
    local file reason
    while IFS=: read -r file reason; do
        skipped=$((skipped + 1))
        skips+="skipped $file: $reason ($(command_for "$file" "$reason"))"$'\n'
    done < <(cd "$1" && grep -rE '^(ok [0-9]+|1\.\.0).*# skip' --ignore-case . |
        sed -E 's/^\.\/([^:]*):[^#]*# *skip[a-z]* */\1:/I')
}

# Run tests as the cluster's owner, and count their results. Print a line for each file, the differences of pg_regress,
# and the ends of the logs of failed TAP tests. (Before version 16, pg_regress prints "test NAME ... ok".) Prove writes
# the output of TAP tests into the folder tap. A file that ends before its last test counts as another failure.
# Arguments: TITLE LOG COMMAND ...
run() {
    local log=$IDGEN_WORK/$2.log tap=$IDGEN_WORK/tap status results bad file
    if [ -z "$output" ]; then
        output=$IDGEN_SOURCE/tmp_check/tests.log
        mkdir -p "${output%/*}" && : >"$output" || idgen_die "$output cannot be written"
    fi
    idgen_say "$1" | tee -a "$output"
    rm -rf "$tap"
    as_server_user "${@:3}" 2>&1 | tee "$log" | tee -a "$output"
    status=${PIPESTATUS[0]}
    results=$log
    if [ -d "$tap" ]; then
        results=$log.tap
        (cd "$tap" && find . -type f -printf '\n== %P\n' -exec cat {} \;) | tee "$results" >>"$output"
        count_skips "$tap"
    fi
    passed=$((passed + $(grep -E '^(ok [0-9]+|test [^ ]+ +\.\.\. ok)' "$results" | grep -vciE '^ok [0-9]+.*# skip')))
    bad=$(($(grep -cE '^(not ok [0-9]+|test [^ ]+ +\.\.\. FAILED)' "$results") + $(grep -c '^  Parse errors: ' "$log")))
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || { bad=1; echo "FAILED  $1: exit status $status"; }
    failed=$((failed + bad))
    for file in $(sed -nE 's|^[a-z/]*t/([^ ]+)\.pl +\(Wstat: .*|\1|p' "$log"); do
        printf '\n== The end of the log of %s\n' "$file"
        tail -n 20 "$IDGEN_BUILD/tmp_check/log/regress_log_$file"
    done
    find "$IDGEN_BUILD" -name regression.diffs -exec cat {} \; -delete
}

end_of_results() {
    [ -z "$skips" ] || { idgen_say 'Skipped, and the command that runs it'; sort <<<"${skips%$'\n'}" | uniq -c; }
    [ -z "$output" ] || idgen_say "The output of the tests is in $output"
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}

# Run a script whose output ends with the counts of end_of_results, and add its results to the counts.
run_script() {
    local log status good bad more started=$SECONDS
    log=$(mktemp)
    "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    read -r good bad more < <(
        sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
    if [ "$status" -eq 77 ]; then
        unavailable+=("$*")
    elif [ "$status" -ne 0 ]; then
        [ "${bad:-0}" -gt 0 ] || bad=1
        failures+=("$*: status $status" "$(grep -aE '^(not ok [0-9]|FAILED|.* FAILED|.*\(Wstat: )' "$log")")
    fi
    passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + ${more:-0}))
    skips+=$(sed -nE 's/^ *[0-9]+ (skipped .*)/\1/p' "$log" | sed '$s/$/\n_/')
    skips=${skips%_}
    printf '\n(%d s: %s)\n' $((SECONDS - started)) "$*"
    rm "$log"
}

end_of_scripts() {
    [ ${#failures[@]} -eq 0 ] || printf '%s\n' '' '== Failures' "${failures[@]}"
    [ ${#unavailable[@]} -eq 0 ] || printf '%s\n' '' '== Skipped: not available' "${unavailable[@]}"
    end_of_results
}
