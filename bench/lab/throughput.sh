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
# A statement generates 100,000 identifiers, 50 in each row of its result, so that little else is
# measured. Each round measures all calls, so that a busy moment affects all of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

clients=1,$(nproc),32 seconds=3 rounds=5
bench_options "clients seconds# rounds#" "$@"

calls=("nextval('idgen_bench.numbers')" idgen.{snowflake,trace_id,decimal_id,uuid_v7_ordered}'()')

bench_open idgen.node_id=1 idgen.launch_id=0 max_connections=1100 checkpoint_timeout=1h
bench_value "CREATE SEQUENCE idgen_bench.numbers CACHE 1" || idgen_die "could not create the sequence"

for ((round = 1; round <= rounds; round++)); do
    for sessions in ${clients//,/ }; do
        bench_progress "round $round of $rounds, $sessions sessions"
        for ((i = 0; i < ${#calls[@]}; i++)); do
            call=${calls[i]}
            row=$(printf "$call, %.0s" {1..49})$call
            echo "SELECT count(*) FROM (SELECT $row FROM generate_series(1, 2000) OFFSET 0) made" > "$bench_scratch/script"
            bench_pgbench -c "$sessions" -j "$(nproc)" -T "$seconds" -f "$bench_scratch/script" ||
                idgen_die "$call failed"
            echo "$sessions,$i,$call,$tps" >> "$bench_scratch/rates"
        done
    done
done

echo "Millions of identifiers per second of all sessions together, best of $rounds rounds of $seconds s, and ratios to nextval()"
echo
bench_query "sessions int, i int, call text, tps float8" "$bench_scratch/rates" <<'SQL'
SELECT '| call |' || string_agg(format(' %s sessions | : nextval |', sessions), '' ORDER BY sessions)
       || E'\n|---|' || repeat('--:|--:|', count(*)::int)
FROM (SELECT DISTINCT sessions FROM result) s;
WITH best AS (SELECT sessions, i, call, max(tps)::numeric AS tps FROM result GROUP BY sessions, i, call)
SELECT format('| `%s` |', b.call) ||
       string_agg(format(' %s | %s |', round(b.tps / 10, 2), round(b.tps / n.tps, 1)), '' ORDER BY sessions)
FROM best b JOIN best n USING (sessions)
WHERE n.i = 0
GROUP BY b.i, b.call
ORDER BY b.i;
SQL
