# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# checkpoint: a table with a history, and a checkpoint followed by few or many
# rows, as with frequent or rare checkpoints. A page is written in full once after
# each checkpoint, so the more rows share that, the less it costs each of them.

checkpoint_plan() {
    local repetition rows

    plan_keys "$(plan_load "${size[checkpoint_rows]}")" fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for rows in ${size[checkpoint_inserts]//,/ }; do
            # many rows take long, and their figures vary little
            [ "$rows" -lt 300000 ] || [ "$repetition" -eq 1 ] || continue
            plan_keys "$(plan_insert "$rows")" measure "$rows" "$repetition"
        done
    done
}

# Load a simulated history of ROWS rows and DAYS days; also for other scenes.
fill_simulated() {
    local key=$1 rows=$2 days=$3

    say "$key: loading $(bench_number "$rows") rows of $days simulated days"
    lab_table "$key" || return 1
    lab_clock[$key]=$(lab_cycle_start 60000000)
    lab_load "$key" "$rows" "$((days * 86400000000 / rows))" && lab_vacuum "$key"
}

checkpoint_fill() { fill_simulated "$1" "${size[checkpoint_rows]}" "${size[checkpoint_days]}"; }

checkpoint_measure() {
    local key=$1 rows=$2 repetition=$3 apart want=

    say "$key: $(bench_number "$rows") rows after a checkpoint"
    # finding the touched leaves in the WAL takes longer than writing the WAL
    [ "$rows" -gt 100000 ] || [ "$repetition" -gt 1 ] || want=touches
    apart=$(spacing "${size[checkpoint_rate]}")
    lab_load "$key" 1000 "$apart" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" "$want" &&
        lab_record checkpoint "$key" '' "$rows" "$repetition"
}
