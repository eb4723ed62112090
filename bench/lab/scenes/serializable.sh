# shellcheck shell=bash
#
# serializable: the server refuses transactions (40001) that insert into a page of the index from
# which another has read. Each row is the next of the simulated clock, so that a period has as
# many rows on a slow machine as on a fast one.

serializable_plan() {
    serializable_apart=$((1000000 / serializable_rate))
    plan_turns read_and_insert insert
}

# The history ends in the middle of a minute, the default period.
serializable_fill() {
    say "$1: loading $(bench_number "$serializable_rows") rows"
    lab_clock[$1]=$((lab_cycle_start + (60 - (serializable_rows / serializable_rate + 30) % 60) * 1000000))
    lab_table "$1" && lab_load "$1" "$serializable_rows" "$serializable_apart" && lab_vacuum "$1"
}

serializable_measure() {
    local key=$1 repetition=$2 series=$3 clients=$serializable_clients columns values transactions all failed
    local PGOPTIONS="$PGOPTIONS -c default_transaction_isolation=serializable -c enable_seqscan=off -c enable_bitmapscan=off"
    say "$key: $clients sessions, ${series//_/ }"
    lab_values "${key_history[$key]}" 0
    transactions=$(((serializable_transactions + clients - 1) / clients))
    all=$((transactions * clients))
    {
        echo "BEGIN;"
        echo "INSERT INTO idgen_bench.$key ($columns) SELECT $values FROM" \
            "(SELECT timestamptz 'epoch' + (${lab_clock[$key]} + n * $serializable_apart) * interval '1 microsecond'" \
            "AS moment, ${lab_rows[$key]} + n AS i FROM (SELECT nextval('idgen_bench.arrivals') AS n) arrival) arrivals" \
            "RETURNING id \\gset"
        [ "$series" = insert ] ||
            echo "SELECT count(*) FROM (SELECT FROM idgen_bench.$key WHERE id < :id ORDER BY id DESC LIMIT 10) neighbors;"
        echo "END;"
    } > "$bench_scratch/serializable.pgbench"
    bench_value "ALTER SEQUENCE idgen_bench.arrivals RESTART" &&
        bench_pgbench -c "$clients" -j "$(nproc)" -t "$transactions" --max-tries=1 --failures-detailed \
            -f "$bench_scratch/serializable.pgbench" || return 1
    lab_clock[$key]=$((lab_clock[$key] + all * serializable_apart))
    lab_rows[$key]=$((lab_rows[$key] + all))
    failed=$(sed -n 's/^number of serialization failures: \([0-9]*\).*/\1/p' "$bench_scratch/pgbench")
    # else a transaction failed in another way
    [ "$((processed + failed))" = "$all" ] || { cat "$bench_scratch/pgbench" >&2; return 1; }
    {
        printf '%s %s\n' transactions "$all" failed "$failed" rows_per_s "$tps"
        awk -v all="$all" -v failed="$failed" -v tps="$tps" 'BEGIN {
            printf "failure_share %.6g\n", failed / all
            if (tps > 0) printf "us_per_row %.10g\n", 1e6 / tps
        }'
    } > "$bench_scratch/metrics"
    lab_record "$key" "${series//_/ }" '' "$repetition"
}
