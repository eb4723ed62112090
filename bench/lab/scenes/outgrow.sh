# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# outgrow: the index grows past shared buffers, step by step. The private
# cluster has small ones here, so that the index need not be large. The ratio
# is that of the index to all shared buffers, which it shares with the table.

# Rows for which an index has so many bytes, about: the estimate for the plan.
outgrow_rows() { awk -v ratio="$1" -v bytes="$2" 'BEGIN { printf "%d", ratio * bytes / 38 }'; }

outgrow_plan() {
    local key repetition ratio rows held=0

    outgrow_bytes=$(bench_value "SELECT $(if [ "$bench_server" = 1 ]; then
            echo "setting::bigint * current_setting('block_size')::int FROM pg_settings WHERE name = 'shared_buffers'"
        else echo "pg_size_bytes('${size[outgrow_shared_buffers]}')"; fi)")
    IFS=, read -ra outgrow_ratios <<<"${size[outgrow_ratios]}"
    for ratio in "${outgrow_ratios[@]}"; do
        rows=$(outgrow_rows "$ratio" "$outgrow_bytes")
        if [ "$rows" -gt "${size[outgrow_most_rows]}" ]; then
            say_once "outgrow: an index of $ratio times shared buffers would be too large, see --outgrow.most_rows"
            break
        fi
        for key in "${sweep_keys[@]}"; do
            plan "$(plan_load "$((rows - held))")" outgrow_grow "$key" "$ratio"
        done
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            for key in "${sweep_keys[@]}"; do
                plan "$(plan_insert "${size[outgrow_inserts]}")" outgrow_measure "$key" "$ratio" "$repetition"
            done
        done
        held=$rows
    done
}

outgrow_begin() {
    local key
    lab_shared_buffers "${size[outgrow_shared_buffers]}" || return 1
    for key in "${sweep_keys[@]}"; do
        lab_table "$key" || return 1
        lab_clock[$key]=$(lab_lap_start 60000000)
    done
}

# Rows until the index is as large as it is to be, less those of a repetition.
outgrow_grow() {
    local key=$1 ratio=$2 wanted bytes more per_row

    say "$key: growing the index to $ratio times shared buffers"
    wanted=$(awk -v ratio="$ratio" -v bytes="$outgrow_bytes" 'BEGIN { printf "%d", ratio * bytes }')
    while bytes=$(bench_value "SELECT pg_relation_size('idgen_bench.keys_${key}_pkey')"); [ "$bytes" -lt "$((wanted * 98 / 100))" ]; do
        per_row=$((lab_rows[$key] > 10000 ? bytes / lab_rows[$key] + 1 : 60))
        more=$(((wanted - bytes) / per_row))
        lab_load "$key" "$((more > 1000 ? more : 1000))" "$(spacing "${size[outgrow_rate]}")" || return 1
    done
    bench_psql -c "VACUUM idgen_bench.keys_$key"
}

outgrow_measure() {
    local key=$1 ratio=$2 repetition=$3 rows=${size[outgrow_inserts]} apart

    say "$key: inserting $(bench_number "$rows") rows at $ratio times shared buffers"
    apart=$(spacing "${size[outgrow_rate]}")
    lab_load "$key" "$(warmup "$rows")" "$apart" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" touches &&
        lab_record outgrow "$key" '' "$ratio" "$repetition"
}
