# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# outgrow: the index grows past shared buffers, step by step. The private cluster
# has small shared buffers here, so that the index need not be large. The ratio is
# the size of the index to all shared buffers, which the table uses, too.

declare -A scene_bytes      # the shared buffers of the scene

outgrow_plan() {
    local repetition ratio rows held=0

    scene_bytes[outgrow]=$(bench_value "SELECT $(if [ "$bench_server" = 1 ]; then
            echo "setting::bigint * current_setting('block_size')::int FROM pg_settings WHERE name = 'shared_buffers'"
        else echo "pg_size_bytes('${size[outgrow_shared_buffers]}')"; fi)")
    for ratio in ${size[outgrow_ratios]//,/ }; do
        # an estimate: an index has some 38 bytes a row
        rows=$(awk -v ratio="$ratio" -v bytes="${scene_bytes[outgrow]}" 'BEGIN { printf "%d", ratio * bytes / 38 }')
        if [ "$rows" -gt "${size[outgrow_most_rows]}" ]; then
            bench_progress "outgrow: an index of $ratio times shared buffers would need more rows than --outgrow.most_rows"
            break
        fi
        plan_keys "$(plan_load "$((rows - held))")" grow "$ratio"
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            plan_keys "$(plan_insert "${size[outgrow_inserts]}")" measure "$ratio" "$repetition"
        done
        held=$rows
    done
}

outgrow_begin() { lab_shared_buffers "${size[outgrow_shared_buffers]}" && begin_cycle; }

# Insert rows until the index has the wanted size; also for memory.
outgrow_grow() {
    local key=$1 ratio=$2 wanted bytes more per_row

    say "$key: growing the index to $ratio times shared buffers"
    wanted=$(awk -v ratio="$ratio" -v bytes="${scene_bytes[$scene]}" 'BEGIN { printf "%d", ratio * bytes }')
    while bytes=$(bench_value "SELECT pg_relation_size('idgen_bench.${key}_pkey')"); [ "$bytes" -lt "$((wanted * 98 / 100))" ]; do
        per_row=$((lab_rows[$key] > 10000 ? bytes / lab_rows[$key] + 1 : 60))
        more=$(((wanted - bytes) / per_row))
        lab_load "$key" "$((more > 1000 ? more : 1000))" "$(spacing "${size[${scene}_rate]}")" || return 1
    done
    lab_vacuum "$key"
}

outgrow_measure() {
    local key=$1 ratio=$2 repetition=$3 rows=${size[${scene}_inserts]} apart

    say "$key: inserting $(bench_number "$rows") rows at $ratio times shared buffers"
    apart=$(spacing "${size[${scene}_rate]}")
    lab_load "$key" "$(warmup "$rows")" "$apart" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" touches &&
        lab_record "$scene" "$key" '' "$ratio" "$repetition"
}
