# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# serializable: sessions insert one row a transaction at isolation level serializable,
# and also read the keys before it, or not. The server detects what was read by the
# page of the index, so it refuses transactions (SQLSTATE 40001) that insert into a
# page from which another has read. Each row is the next of the simulated clock, so
# that a period has as many rows on a slow machine as on a fast one.

serializable_plan() {
    local repetition series

    plan_keys fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for series in read_and_insert insert; do
            plan_keys measure "$series" "$repetition"
        done
    done
}

serializable_begin() { bench_value "CREATE SEQUENCE IF NOT EXISTS idgen_bench.arrivals"; }

# The history ends in the middle of a minute, the default period.
serializable_fill() {
    local key=$1 rows=${size[serializable_rows]} rate=${size[serializable_rate]}

    say "$key: loading $(bench_number "$rows") rows"
    lab_table "$key" || return 1
    lab_clock[$key]=$(($(lab_cycle_start 60000000) + (60 - (rows / rate + 30) % 60) * 1000000))
    lab_load "$key" "$rows" "$(spacing "$rate")" && lab_vacuum "$key"
}

serializable_measure() {
    local key=$1 series=$2 repetition=$3 clients=${size[serializable_clients]} log=$bench_scratch/pgbench
    local columns='id, payload' values="${key_history[$1]}, 0" transactions apart
    local PGOPTIONS="$PGOPTIONS -c default_transaction_isolation=serializable -c enable_seqscan=off -c enable_bitmapscan=off"

    say "$key: $clients sessions, ${series//_/ }"
    [ "${key_history[$key]}" != default ] || { columns=payload; values=0; }
    transactions=$(((size[serializable_transactions] + clients - 1) / clients))
    apart=$(spacing "${size[serializable_rate]}")
    {
        echo "BEGIN;"
        echo "INSERT INTO idgen_bench.$key ($columns) SELECT $values FROM" \
            "(SELECT timestamptz 'epoch' + (${lab_clock[$key]} + n * $apart) * interval '1 microsecond' AS moment," \
            "${lab_rows[$key]} + n AS i FROM (SELECT nextval('idgen_bench.arrivals') AS n) arrival) arrivals RETURNING id \\gset"
        [ "$series" = insert ] ||
            echo "SELECT count(*) FROM (SELECT FROM idgen_bench.$key WHERE id < :id ORDER BY id DESC LIMIT 10) neighbors;"
        echo "END;"
    } > "$bench_scratch/serializable.pgbench"
    bench_value "ALTER SEQUENCE idgen_bench.arrivals RESTART" &&
        bench_pgbench -c "$clients" -j "$((clients < cores ? clients : cores))" -t "$transactions" --max-tries=1 \
            --failures-detailed -f "$bench_scratch/serializable.pgbench" > "$log" 2>&1 || { cat "$log" >&2; return 1; }
    lab_clock[$key]=$((lab_clock[$key] + transactions * clients * apart))
    lab_rows[$key]=$((lab_rows[$key] + transactions * clients))
    awk -v transactions="$((transactions * clients))" '
        /^number of transactions actually processed: / { processed = $6 + 0 }
        /^number of serialization failures: / { failed = $5 }
        /^tps = .* \(without initial/ { tps = $3 }
        END {
            if (processed + failed != transactions)
                exit 1      # a failure of another kind
            printf "transactions %d\nfailed %d\nfailure_share %.6g\nrows_per_s %.10g\n", transactions, failed, failed / transactions, tps
            if (tps > 0)
                printf "us_per_row %.10g\n", 1e6 / tps
        }' "$log" > "$bench_scratch/metrics" || { cat "$log" >&2; return 1; }
    lab_record serializable "$key" "${series//_/ }" '' "$repetition"
}
