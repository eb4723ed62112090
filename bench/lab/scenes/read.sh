# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# read: rows are looked up by their key: the newest rows, rows of any age, and, for
# keys that have bounds, the rows of ranges of time. The private cluster is restarted
# before each of these, so that its shared buffers are empty; another server is not.

read_plan() {
    local key repetition series

    # the keys of the sweeps, and those that have bounds
    scene_keys=()
    for key in "${keys[@]}"; do
        ! is_sweep_key "$key" && [ -z "${key_bounds[$key]}" ] || scene_keys+=("$key")
    done
    plan_keys "$(plan_load "${size[read_rows]}")" fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        plan_keys "$((400 + size[read_rows] / 1000))" choose
        for series in recent random range; do
            plan 1500 read_restart "$series"
            plan_keys 300 measure "$series" "$repetition"
        done
    done
}

read_fill() { fill_simulated "$1" "${size[read_rows]}" "${size[read_days]}"; }

# Choose the rows of this repetition.
read_choose() {
    local key=$1 rows=${size[read_rows]} bounds=${key_bounds[$1]} has=false apart

    say "$key: choosing rows"
    [ -z "$bounds" ] || has=true
    apart=$((size[read_days] * 86400000000 / rows))
    lab_sql wanted "$key" -v recent="wanted_recent_$key" -v random="wanted_random_$key" -v range="wanted_range_$key" \
        -v reads="${size[read_reads]}" -v ranges="${size[read_ranges]}" -v rows="$rows" -v spacing="$apart" \
        -v clock="$((lab_clock[$key] - rows * apart))" -v has_bounds="$has" \
        -v floor="${bounds}_floor" -v ceil="${bounds}_ceil"
}

read_restart() {
    [ "$bench_server" = 1 ] || { say "emptying shared buffers: $1 rows"; idgen_restart; }
}

read_measure() {
    local key=$1 series=$2 repetition=$3 condition='id = w.id' first='id = w.id'

    [ "$series" != range ] || [ -n "${key_bounds[$key]}" ] || return 0
    say "$key: reading $series rows"
    [ "$series" != range ] || { condition='id BETWEEN w.low AND w.high'; first='id = w.low'; }
    lab_lookups "$key" "wanted_${series}_$key" "$condition" "$first" &&
        lab_record read "$key" "$series" '' "$repetition"
}
