# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# read: rows are looked up by their key: the newest, any, and those of ranges of
# time, for keys that have bounds. The private cluster is restarted before, so
# that each page that is needed must be read once; on another server the pages
# are where they are.

# The keys of the sweeps, and those that have bounds.
read_keys() {
    local key
    for key in "${keys[@]}"; do
        ! is_sweep_key "$key" && [ -z "${key_bounds[$key]}" ] || echo "$key"
    done
}

read_plan() {
    local key repetition series

    for key in $(read_keys); do
        plan "$(plan_load "${size[read_rows]}")" read_fill "$key"
    done
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for key in $(read_keys); do
            plan "$((400 + size[read_rows] / 1000))" read_choose "$key"
        done
        for series in recent random range; do
            plan 1500 read_restart "$series"
            for key in $(read_keys); do
                [ "$series" != range ] || [ -n "${key_bounds[$key]}" ] || continue
                plan 300 read_measure "$key" "$series" "$repetition"
            done
        done
    done
}

read_fill() { fill_simulated "$1" "${size[read_rows]}" "${size[read_days]}"; }

# The rows of this repetition.
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
    local key=$1 series=$2 repetition=$3 file=read rows seconds
    local -A after

    say "$key: reading $series rows"
    [ "$series" != range ] || file=range
    lab_sql counts "$key" > "$bench_scratch/counts" && lab_read before "$bench_scratch/counts" &&
        lab_sql "$file" "$key" -v wanted="wanted_${series}_$key" > "$bench_scratch/read" &&
        lab_sql counts "$key" > "$bench_scratch/counts" && lab_read after "$bench_scratch/counts" || return 1
    read -r rows seconds < "$bench_scratch/read"
    [ "$rows" -gt 0 ] || { echo "no rows found" >&2; return 1; }
    awk -v rows="$rows" -v seconds="$seconds" -v hit="$((after[hit] - before[hit]))" -v read="$((after[read] - before[read]))" '
        BEGIN {
            printf "read_rows %d\nus_per_row %.10g\nreads_per_row %.10g\n", rows, 1e6 * seconds / rows, read / rows
            if (hit + read > 0)
                printf "hit_ratio %.10g\n", hit / (hit + read)
        }' > "$bench_scratch/metrics"
    lab_record read "$key" "$series" '' "$repetition"
}
