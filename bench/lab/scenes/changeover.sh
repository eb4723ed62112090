# shellcheck shell=bash
#
# changeover: a table of random keys changes its default. The rows of a step are inserted
# between as many checkpoints as there are repetitions.

declare -A changeover_bytes     # the size of the index before the change

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
    changeover_apart=$((1000000 / changeover_rate))
    changeover_part=$((changeover_inserts / (changeover_steps * repetitions)))
    [ "$changeover_part" -gt 0 ] ||
        idgen_die "--changeover.inserts must be at least $((changeover_steps * repetitions))"
    for ((step = 1; step <= changeover_steps; step++)); do
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            plan_keys measure "$step" "$repetition"
        done
    done
}

changeover_fill() {
    local key=$1
    say "$key: loading $(bench_number "$changeover_rows") rows"
    # the keys of the rows before the change are random
    [ "$key" = changeover ] || local -A key_history=(["$key"]='gen_random_uuid()')
    lab_fill "$key" "$changeover_rows" "$changeover_apart" &&
        bench_value CHECKPOINT && lab_sql after "$key" -v want_touches=false > "$bench_scratch/metrics" || return 1
    changeover_bytes[$key]=$(index_bytes)
    changeover_record "$key" 0 1
}

changeover_measure() {
    local key=$1 step=$2 repetition=$3 grown
    say "$key: inserting $(bench_number "$changeover_part") rows, part $repetition of step $step"
    lab_measure "$key" "$changeover_part" "$changeover_apart" || return 1
    grown=$(($(index_bytes) - changeover_bytes[$key]))
    echo "growth_bytes_per_row $(quotient "$grown" "$((lab_rows[$key] - changeover_rows))")" >> "$bench_scratch/metrics"
    changeover_record "$key" "$((step * repetitions * changeover_part))" "$repetition"
}

# Record under the key and the series of a table.
changeover_record() {
    local key=$1 series=changed
    case $1 in
        changeover) key=uuid_v7 series="from the start" ;;
        random) series=unchanged ;;
    esac
    lab_record "$key" "$series" "$2" "$3"
}
