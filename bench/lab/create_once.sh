#!/usr/bin/env bash
#
# create_once.sh: compare create_once() with hand-written statements.
#
#   bench/lab/create_once.sh [OPTION ...]
#
#   --transactions N  transactions in one run of one script (default 10000)
#   --rounds N        rounds, each with one run of every script (default 9)
#   --known N         recorded commands, one of which a replay repeats (default 100000)
#   --help            this text
#
# Uses a private cluster, because it fills idgen.creation_identifiers. In each
# transaction, a first statement fetches the ids, which an application would have,
# and a second one uses them; only the latency of the second is reported. Each
# round runs all scripts, so that a busy moment affects all of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

transactions=10000
rounds=9
known=100000

bench_options "transactions rounds known" "$@"

# name of the script, title, and name of the script with which it is compared
scripts=(
    "first_by_hand|first call, INSERT and SELECT by hand|first_by_hand"
    "first|first call, create_once()|first_by_hand"
    "first_insert|first call, bare INSERT ... ON CONFLICT|first_by_hand"
    "replay_select|replay, plain SELECT|replay_select"
    "replay|replay, create_once()|replay_select"
)

# Print the latency of the last statement in milliseconds.
latency() {
    local log=$bench_scratch/pgbench
    bench_pgbench -r -t "$transactions" -D known="$known" \
        -f "$BENCH/create_once_$1.pgbench" > "$log" 2>&1 || { cat "$log" >&2; return 1; }
    awk '/^ +[0-9.]+ / { last = $1 } END { print last }' "$log"
}

bench_open shared_buffers=512MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB
bench_psql -v known="$known" -f "$BENCH/create_once_ids.sql" ||
    idgen_die "the commands could not be recorded"

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for script in "${scripts[@]}"; do
        name=${script%%|*}
        latency "$name" > "$bench_scratch/latency" || idgen_die "$name failed"
        echo "$round $name $(cat "$bench_scratch/latency")" >> "$bench_scratch/latencies"
    done
done

echo "Latency of the statement, $rounds rounds of $(bench_number "$transactions") transactions; ratios to the hand-written statement"
echo
echo "| statement | best ms | median ms | best : best | median of the rounds' ratios |"
echo "|---|--:|--:|--:|--:|"
for script in "${scripts[@]}"; do
    IFS='|' read -r name title base <<<"$script"
    awk -v name="$name" -v title="$title" -v base="$base" '
        function median(values, n,    i, j, v) {
            for (i = 2; i <= n; i++) {
                v = values[i]
                for (j = i - 1; j > 0 && values[j] > v; j--) values[j + 1] = values[j]
                values[j + 1] = v
            }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        { rounds = $1; ms[$2, $1] = $3; if (!($2 in best) || $3 < best[$2]) best[$2] = $3 }
        END {
            for (i = 1; i <= rounds; i++) {
                own[i] = ms[name, i]
                ratios[i] = ms[name, i] / ms[base, i]
            }
            printf "| %s | %.3f | %.3f | %.2f | %.2f |\n", title, best[name],
                median(own, rounds), best[name] / best[base], median(ratios, rounds)
        }' "$bench_scratch/latencies"
done
