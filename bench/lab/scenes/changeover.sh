# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# changeover: a table of random keys changes its default, beside one that does not,
# and one that had ordered keys from its first row. The rows after the change are
# inserted in steps, and the rows of a step between as many checkpoints as there are
# repetitions: so the spread of a step includes its growth.

changeover_plan() {
    local step repetition key

    scene_keys=()
    for key in "${sweep_keys[@]}"; do
        [ "${key_type[$key]}" != uuid ] || scene_keys+=("$key")
    done
    # the table that has ordered keys from the start
    scene_keys+=(changeover)
    key_type[changeover]=uuid
    key_column[changeover]=
    key_history[changeover]=${key_history[uuid_v7]}

    plan_keys fill
    changeover_part=$((size[changeover_inserts] / (size[changeover_steps] * repetitions)))
    [ "$changeover_part" -gt 0 ] || idgen_die "--changeover.inserts must be at least $((size[changeover_steps] * repetitions))"
    for ((step = 1; step <= size[changeover_steps]; step++)); do
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            plan_keys measure "$step" "$repetition"
        done
    done
}

declare -A changeover_bytes     # the size of the index before the change

index_bytes() { sed -n 's/^index_bytes //p' "$bench_scratch/metrics"; }

changeover_fill() {
    local key=$1 rows=${size[changeover_rows]}

    say "$key: loading $(bench_number "$rows") rows"
    # the clock begins with a cycle, and the keys of the rows before the change are random
    lab_clock[$key]=$(lab_cycle_start 60000000)
    [ "$key" = changeover ] || local -A key_history=(["$key"]='gen_random_uuid()')
    lab_table "$key" && lab_load "$key" "$rows" "$(spacing "${size[changeover_rate]}")" && lab_vacuum "$key" &&
        bench_value CHECKPOINT && lab_sql after "$key" -v has_walinspect=false > "$bench_scratch/metrics" || return 1
    changeover_bytes[$key]=$(index_bytes)
    changeover_record "$key" 0 1
}

changeover_measure() {
    local key=$1 number_of_step=$2 repetition=$3 rows=$changeover_part total bytes

    say "$key: inserting $(bench_number "$rows") rows, part $repetition of step $number_of_step"
    lab_before "$key" && lab_load "$key" "$rows" "$(spacing "${size[changeover_rate]}")" "$rows" && lab_after "$key" || return 1
    total=$((lab_rows[$key] - size[changeover_rows]))
    bytes=$(index_bytes)
    echo "growth_bytes_per_row $(quotient "$((bytes - changeover_bytes[$key]))" "$total")" >> "$bench_scratch/metrics"
    changeover_record "$key" "$((number_of_step * repetitions * rows))" "$repetition"
}

# The key and the series of a table.
changeover_name() {
    case $1 in
        changeover) echo uuid_v7,from the start ;;
        random) echo random,unchanged ;;
        *) echo "$1,changed" ;;
    esac
}

changeover_record() {
    local name
    name=$(changeover_name "$1")
    lab_record changeover "${name%,*}" "${name#*,}" "$2" "$3"
}
