# shellcheck shell=bash
#
# steady: a table with a history until now, and one row a transaction.

steady_plan() {
    scene_keys=("${keys[@]}")
    plan_turns ''
}

steady_fill() {
    local days=$((steady_days * 86400000000))
    say "$1: loading $(bench_number "$steady_rows") rows of $steady_days days"
    lab_clock[$1]=$((${EPOCHREALTIME/./} - days))
    lab_table "$1" && lab_load "$1" "$steady_rows" "$((days / steady_rows))" && lab_vacuum "$1"
}

# Insert rows at the server's time, as the scripts of bench/ do.
steady_insert() {
    echo "INSERT INTO idgen_bench.$1 (payload) VALUES (0);" > "$bench_scratch/insert.pgbench"
    bench_pgbench -t "$2" -f "$bench_scratch/insert.pgbench" || return 1
    inserted=$processed
    took=$(awk -v rows="$inserted" -v tps="$tps" 'BEGIN { print rows / tps }')
    lab_rows[$1]=$((lab_rows[$1] + inserted))
}

steady_measure() {
    local key=$1 repetition=$2 want=touches
    say "$key: inserting $(bench_number "$steady_inserts") rows, one a transaction"
    [ "$repetition" -gt 1 ] || [[ " ${sweep_keys[*]} " != *" $key "* ]] || want='strip'
    steady_insert "$key" "$(warmup "$steady_inserts")" && lab_before "$key" &&
        steady_insert "$key" "$steady_inserts" && lab_after "$key" "$want" &&
        lab_record "$key" '' '' "$repetition" && lab_record_strip
}
