#!/usr/bin/env bash
#
# throughput.sh: measure the identifiers per second that many sessions get from one
# counter: the functions that order identifiers over all sessions, and nextval().
#
#   bench/lab/throughput.sh [OPTION ...]
#
#   --clients LIST    numbers of sessions (default 1,CORES,32)
#   --seconds N       duration of one run (default 3)
#   --rounds N        rounds, each with one run of every call (default 5)
#   --help            this text
#
# Uses a private cluster, because it sets idgen.node_id. A statement generates
# 100,000 identifiers, 50 in each row of its result, so that little else is measured.
# The sequence has CACHE 1. Each round measures all calls, so that a busy moment
# affects all of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

clients=1,$(nproc),32
seconds=3
rounds=5

bench_options "clients[] seconds rounds" "$@"

baseline="nextval('idgen_bench.numbers')"
calls=("$baseline" 'idgen.snowflake()' 'idgen.trace_id()' 'idgen.decimal_id()' 'idgen.uuid_v7_ordered()')

# Print the identifiers per second of a call with a number of sessions.
throughput() {
    local call=$1 sessions=$2 log=$bench_scratch/pgbench row
    row=$(printf "$call, %.0s" {1..49})$call
    echo "SELECT count(*) FROM (SELECT $row FROM generate_series(1, 2000) OFFSET 0) made" > "$bench_scratch/script"
    bench_pgbench -c "$sessions" -j "$(nproc)" -T "$seconds" -f "$bench_scratch/script" > "$log" 2>&1 ||
        { cat "$log" >&2; return 1; }
    awk '/^tps/ { printf "%.0f\n", $3 * 100000 }' "$log"
}

bench_open idgen.node_id=1 idgen.launch_id=0 max_connections=1100 checkpoint_timeout=1h
bench_value "CREATE SEQUENCE idgen_bench.numbers CACHE 1" || idgen_die "could not create the sequence"

for ((round = 1; round <= rounds; round++)); do
    for sessions in ${clients//,/ }; do
        bench_progress "round $round of $rounds, $sessions sessions"
        for call in "${calls[@]}"; do
            throughput "$call" "$sessions" > "$bench_scratch/rate" || idgen_die "$call failed"
            echo "$sessions|$call|$(cat "$bench_scratch/rate")" >> "$bench_scratch/rates"
        done
    done
done

echo "Millions of identifiers per second of all sessions together, best of $rounds rounds of $seconds s, and ratios to nextval()"
echo
awk -F'|' -v order="$clients" '
    !($2 in number) { number[$2] = ++n; name[n] = $2 }
    !(($1, $2) in best) || $3 > best[$1, $2] { best[$1, $2] = $3 }
    END {
        m = split(order, sessions, ",")
        head = "| call |"; line = "|---|"
        for (j = 1; j <= m; j++) {
            head = head sprintf(" %d sessions | : nextval |", sessions[j]); line = line "--:|--:|"
        }
        print head; print line
        for (i = 1; i <= n; i++) {
            printf "| `%s` |", name[i]
            for (j = 1; j <= m; j++)
                printf " %.2f | %.1f |", best[sessions[j], name[i]] / 1e6,
                    best[sessions[j], name[i]] / best[sessions[j], name[1]]
            print ""
        }
    }' "$bench_scratch/rates"
