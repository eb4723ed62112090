# shellcheck shell=bash disable=SC2034,SC2154
#
# commands.sh: functions for scenes that execute commands with create_once(). These scenes source this file.
#
# A command has an id, and proposes an entity, which is the key of a row. Both contain the command's simulated time.

declare -A commands_function=([uuid]=create_once [bigint]=create_once_bigint [text]=create_once_text)
declare -A commands_column=([uuid]=entity_id [bigint]=entity_number [text]=entity_text)

# Record the commands of a day that ends now, and create the procedure that executes further commands. Set
# commands_number to the number of commands in commands.minutes, in ten batches. Arguments: COMMANDS ID ENTITY TYPE
# WITH-ROW.
commands_fill() {
    say "recording $(bench_number "$1") commands of a day"
    spacing=$((86400000000 / $1)) rows=$1 clock=$((${EPOCHREALTIME/./} - 86400000000))
    commands_batch=$(($1 * commands_minutes / 14400)) commands_number=$((10 * commands_batch))
    [ "$commands_batch" -gt 0 ] || lab_die "$1 commands of a day are too few"
    lab_psql -f "$BENCH/sql/commands.sql" -v rows="$1" -v id="$2" -v entity="$3" -v type="$4" -v with_row="$5" \
        -v function="${commands_function[$4]}" -v column="${commands_column[$4]}" -v clock="$clock" \
        -v spacing="$spacing" -v added=$((commands_number * commands_rounds * 2 + 1))
    lab_psql -o /dev/null -c "$lab_flush" -c "VACUUM (INDEX_CLEANUP ON) idgen.creation_identifiers, idgen_bench.rows"
    commands_next=1
    commands_call 1 >/dev/null
}

# Execute the next commands, and print the CPU time per command. Arguments: COMMANDS.
commands_call() {
    lab_psql -f "$BENCH/sql/execute.sql" -v first="$commands_next" -v number="$1"
    commands_next=$((commands_next + $1))
}

# Execute the next commands while another session purges the same number of recorded commands. Arguments: COMMANDS.
commands_call_and_purge() {
    local purge
    "${psql[@]}" -o /dev/null -f "$BENCH/sql/purge.sql" -v first="$commands_next" -v batch="$commands_batch" &
    purge=$!
    commands_call "$1"
    wait "$purge" || lab_die "the purge failed"
}

# Execute the measured commands once more. Arguments: COMMANDS.
commands_repeat() {
    commands_next=$((commands_next - $1))
    commands_call "$1"
}

commands_vacuum() { lab_psql -c "VACUUM (INDEX_CLEANUP ON) idgen.creation_identifiers"; }

# Record the cost of a function after a checkpoint, divided by a number of commands. Arguments: SERIES X ROUND COMMANDS
# FUNCTION.
commands_measure() {
    lab_before
    "$5" "$4" >"$bench_scratch/result"
    lab_psql -f "$BENCH/sql/counts.sql" -v index="$index" >"$bench_scratch/after"
    lab_differences "$4" >>"$bench_scratch/result"
    lab_record "$1" "$2" "$3" <"$bench_scratch/result"
}

# Record the size of an index. Arguments: SERIES X INDEX.
commands_size() { bench_value "SELECT 'index_mb', pg_relation_size('idgen.$3') / 1e6" | lab_record "$1" "$2" 1; }
