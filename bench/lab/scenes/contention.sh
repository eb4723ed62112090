# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and lab.sh
#
# contention: as steady, with several sessions, whose wait events are sampled: where
# do sessions wait that all insert at the right edge of the index?

contention_plan() {
    local repetition count key

    # without --keys, one key for each place of new rows
    if [ -z "$keys_wanted" ]; then
        scene_keys=()
        for key in "${sweep_keys[@]}"; do
            [[ $key = snowflake || $key = short_comb_run ]] || scene_keys+=("$key")
        done
    fi
    plan_keys fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for count in ${size[contention_counts]//,/ }; do
            plan_keys measure "$count" "$repetition"
        done
    done
}

# The row of this table ends the sampling.
contention_begin() { bench_value "CREATE UNLOGGED TABLE idgen_bench.sampling_ends (at timestamptz)"; }

contention_fill() { fill_until_now "$1" "${size[contention_rows]}" "${size[contention_days]}"; }

contention_measure() {
    local key=$1 count=$2 repetition=$3 samples=$bench_scratch/samples sampler

    say "$key: $count sessions inserting"
    lab_pgbench "$key" "$(warmup "${size[contention_inserts]}")" "$count" && lab_before "$key" || return 1
    psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -f "$BENCH/sql/sample.sql" > "$samples" &
    sampler=$!
    lab_pgbench "$key" "${size[contention_inserts]}" "$count" || { kill "$sampler"; return 1; }
    bench_value "INSERT INTO idgen_bench.sampling_ends VALUES (now())" && wait "$sampler" && lab_after "$key" || return 1
    awk '
        { samples += $2; waits[$1 ~ /^(LWLock:BufferContent|Buffer:)/ ? "page" : $1 ~ /^(LWLock|IO):WAL/ ? "wal" : ""] += $2 }
        END {
            print "samples", samples + 0
            if (samples > 0)
                printf "page_wait_share %.6g\nwal_wait_share %.6g\n", waits["page"] / samples, waits["wal"] / samples
        }' "$samples" >> "$bench_scratch/metrics"
    lab_record contention "$key" '' "$count" "$repetition"
}
