# shellcheck shell=bash
#
# delete: a table of constant size, from which rows are deleted by time.

delete_plan() {
    local rate window
    require_numbers --delete.rates "$delete_rates"
    for rate in ${delete_rates//,/ }; do
        plan_keys fill "$rate"
        for ((window = 1; window <= delete_windows; window++)); do plan_keys measure "$rate" "$window"; done
    done
}

delete_fill() {
    say "$1: loading $(bench_number "$delete_rows") rows, $2 a minute"
    lab_fill "$1" "$delete_rows" $((60000000 / $2)) && delete_record "$1" "$2" 0
}

delete_measure() {
    local key=$1 rate=$2 window=$3 step rows=$((delete_rows / delete_steps))
    say "$key: $rate rows a minute, window $window of $delete_windows"
    for ((step = 0; step < delete_steps; step++)); do
        lab_load "$key" "$rows" $((60000000 / rate)) &&
            bench_psql -c "DELETE FROM idgen_bench.$key WHERE payload <= $((lab_rows[$key] - delete_rows))" \
                -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.$key" || return 1
    done
    delete_record "$key" "$rate" "$window"
}

delete_record() {
    lab_sql after "$1" -v want_touches=false > "$bench_scratch/metrics" || return 1
    awk -v rows="$delete_rows" '$1 == "index_bytes" { printf "index_bytes_per_row %.6g\n", $2 / rows }' \
        "$bench_scratch/metrics" >> "$bench_scratch/metrics"
    lab_record "$1" "$2 rows a minute" "$3" 1
}
