# shellcheck shell=bash
#
# delete: a table that keeps its rows for a number of days: new rows are inserted,
# the oldest are deleted, and VACUUM follows. With 30 days, and prefixes that start
# again after 45.5 days, a short COMB returns to places whose rows were deleted. The
# WAL is that of inserts, deletes and VACUUM together, divided by the inserts.

delete_plan() {
    local slice

    delete_apart=$((delete_days * 86400000000 / delete_rows))
    plan_keys fill
    for ((slice = 1; slice <= delete_turnovers * delete_slices; slice++)); do
        plan_keys measure "$slice"
    done
}

delete_fill() {
    say "$1: loading $(bench_number "$delete_rows") rows of $delete_days simulated days"
    lab_clock[$1]=$lab_cycle_start
    lab_table "$1" && lab_load "$1" "$delete_rows" "$delete_apart" && lab_vacuum "$1" &&
        lab_sql after "$1" -v has_walinspect=false > "$bench_scratch/metrics" && delete_record "$1" 0
}

delete_measure() {
    local key=$1 slice=$2 rows=$((delete_rows / delete_slices))

    say "$key: replacing $(bench_number "$rows") rows, $slice of $((delete_turnovers * delete_slices))"
    lab_before "$key" && lab_insert "$key" "${key_history[$key]}" "$rows" "$delete_apart" &&
        bench_psql -c "DELETE FROM idgen_bench.$key WHERE payload <= $((lab_rows[$key] - delete_rows))" \
            -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.$key" &&
        lab_after "$key" && delete_record "$key" "$slice"
}

# Also record the size of the table; the turnover is the slice, divided by the slices of one.
delete_record() {
    bench_psql -c "SELECT 'heap_bytes', pg_relation_size('idgen_bench.$1')" >> "$bench_scratch/metrics" &&
        lab_record "$1" '' "$(quotient "$2" "$delete_slices")" 1
}
