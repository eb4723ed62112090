# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# delete: a table that keeps its rows for a number of days: new rows are inserted,
# the oldest are deleted, and VACUUM follows. With 30 days, and prefixes that start
# again after 45.5 days, a short COMB returns to places whose rows were deleted. The
# WAL is that of inserts, deletes and VACUUM together, divided by the inserts.

delete_plan() {
    local slice slices=$((size[delete_turnovers] * size[delete_slices]))

    plan_keys fill
    for ((slice = 1; slice <= slices; slice++)); do
        plan_keys measure "$slice"
    done
}

delete_fill() {
    local key=$1

    fill_simulated "$key" "${size[delete_rows]}" "${size[delete_days]}" &&
        lab_sql after "$key" -v has_walinspect=false > "$bench_scratch/metrics" && delete_record "$key" 0
}

delete_measure() {
    local key=$1 slice=$2 rows=$((size[delete_rows] / size[delete_slices])) apart

    say "$key: replacing the oldest $(bench_number "$rows") rows, $slice of $((size[delete_turnovers] * size[delete_slices]))"
    apart=$((size[delete_days] * 86400000000 / size[delete_rows]))
    lab_before "$key" && lab_load "$key" "$rows" "$apart" "$rows" &&
        lab_sql replace "$key" -v gone="$((lab_rows[$key] - size[delete_rows]))" &&
        lab_after "$key" && delete_record "$key" "$slice"
}

# Also record the size of the table; the turnover is the slice, divided by the slices of one.
delete_record() {
    local key=$1 slice=$2

    bench_psql -c "SELECT 'heap_bytes', pg_relation_size('idgen_bench.$key')" >> "$bench_scratch/metrics" &&
        lab_record delete "$key" '' "$(quotient "$slice" "${size[delete_slices]}")" 1
}
