# shellcheck shell=bash disable=SC2034,SC2154
#
# delete: a table of constant size, from which the oldest rows are deleted.

lab_keys random uuid_v7 short_comb keyed_comb
lab_set

delete_record() {
    lab_psql -f "$BENCH/sql/index.sql" -v rows="$delete_rows" >"$bench_scratch/result"
    lab_record "$rate rows a minute" "$window" 1 <"$bench_scratch/result"
}

for rate in ${delete_rates//,/ }; do
    for key in "${scene_keys[@]}"; do
        window=0
        lab_fill "$delete_rows" "$rate"
        delete_record
        for last in ${delete_windows//,/ }; do
            for ((step = window * delete_steps; step < last * delete_steps; step++)); do
                lab_load $((delete_rows / delete_steps))
                lab_psql -c "DELETE FROM idgen_bench.rows WHERE payload <= $((rows - delete_rows))" \
                    -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.rows"
            done
            window=$last
            delete_record
        done
    done
done
