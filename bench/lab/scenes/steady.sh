# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and lab.sh
#
# steady: a table with a history of days until now, and one row a transaction
# after a checkpoint.

steady_plan() {
    scene_keys=("${keys[@]}")
    plan_turns
}

# Load a history of ROWS rows and DAYS days that ends now; also for other scenes.
fill_until_now() {
    local key=$1 rows=$2 days=$3

    say "$key: loading $(bench_number "$rows") rows of $days days"
    lab_table "$key" || return 1
    lab_clock_before_now "$key" "$days"
    lab_load "$key" "$rows" "$((days * 86400000000 / rows))" && lab_vacuum "$key"
}

steady_fill() { fill_until_now "$1" "${size[steady_rows]}" "${size[steady_days]}"; }

steady_measure() {
    local key=$1 repetition=$2 want=touches

    say "$key: inserting $(bench_number "${size[steady_inserts]}") rows, one a transaction"
    [ "$repetition" -gt 1 ] || ! is_sweep_key "$key" || want='strip'
    lab_pgbench "$key" "$(warmup "${size[steady_inserts]}")" 1 && lab_before "$key" &&
        lab_pgbench "$key" "${size[steady_inserts]}" 1 && lab_after "$key" "$want" &&
        lab_record steady "$key" '' '' "$repetition" && lab_record_strip || return 1
    found "$key: $wal bytes of WAL a row"
}
