# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# delete: a table that keeps its rows for so many days: new ones come, the
# oldest are removed, and VACUUM follows. With 30 days and prefixes that begin
# again after 45.5, a short COMB comes back to where its rows are long gone. The
# WAL is that of inserts, deletes and VACUUM together, divided by the inserts.

delete_plan() {
    local key slice slices=$((size[delete_turnovers] * size[delete_slices]))

    for key in "${sweep_keys[@]}"; do
        plan "$(plan_load "${size[delete_rows]}")" delete_fill "$key"
    done
    for ((slice = 1; slice <= slices; slice++)); do
        for key in "${sweep_keys[@]}"; do
            plan "$(($(plan_insert "$((2 * size[delete_rows] / size[delete_slices]))") + 300))" delete_measure "$key" "$slice"
        done
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

# With the size of the table, at a turnover of so many slices.
delete_record() {
    local key=$1 slice=$2

    bench_psql -c "SELECT 'heap_bytes', pg_relation_size('idgen_bench.keys_$key')" >> "$bench_scratch/metrics" &&
        lab_record delete "$key" '' "$(awk -v a="$slice" -v b="${size[delete_slices]}" 'BEGIN { printf "%.4g", a / b }')" 1
}
