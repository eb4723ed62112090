# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# checkpoint: a table with a history, and then so many rows after a checkpoint:
# few or many, as checkpoints are frequent or not. A page is written in full
# once after each checkpoint, so the more rows share that, the less it costs each.

checkpoint_plan() {
    local key repetition rows

    for key in "${sweep_keys[@]}"; do
        plan "$(plan_load "${size[checkpoint_rows]}")" checkpoint_fill "$key"
    done
    IFS=, read -ra checkpoint_inserts <<<"${size[checkpoint_inserts]}"
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for rows in "${checkpoint_inserts[@]}"; do
            # many rows are dear, and vary little
            [ "$rows" -lt 300000 ] || [ "$repetition" -eq 1 ] || continue
            for key in "${sweep_keys[@]}"; do
                plan "$(plan_insert "$rows")" checkpoint_measure "$key" "$rows" "$repetition"
            done
        done
    done
}

# Also for other scenes with a simulated history: KEY ROWS DAYS.
fill_simulated() {
    local key=$1 rows=$2 days=$3

    say "$key: loading $(bench_number "$rows") rows of $days simulated days"
    lab_table "$key" || return 1
    lab_clock[$key]=$(lab_lap_start 60000000)
    lab_load "$key" "$rows" "$((days * 86400000000 / rows))" && bench_psql -c "VACUUM idgen_bench.keys_$key"
}

checkpoint_fill() { fill_simulated "$1" "${size[checkpoint_rows]}" "${size[checkpoint_days]}"; }

checkpoint_measure() {
    local key=$1 rows=$2 repetition=$3 apart want=

    say "$key: $(bench_number "$rows") rows after a checkpoint"
    # it takes longer to find the touched leaves in the WAL than to write it
    [ "$rows" -gt 100000 ] || [ "$repetition" -gt 1 ] || want=touches
    apart=$(spacing "${size[checkpoint_rate]}")
    lab_load "$key" 1000 "$apart" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" "$want" &&
        lab_record checkpoint "$key" '' "$rows" "$repetition"
}
