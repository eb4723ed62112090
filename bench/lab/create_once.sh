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
# and a second one uses them. The time of a transaction with the first one alone is
# subtracted: pgbench's own latency of a statement is 0 if the result arrives before
# pgbench waits for it. Each round runs all scripts, so that a busy moment affects all
# of them.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

transactions=10000
rounds=9
known=100000

bench_options "transactions rounds known" "$@"

# name of the script, title, and names of the script with which it is compared and of
# the one that only fetches the ids
scripts=(
    "first_by_hand|first call, INSERT and SELECT by hand|first_by_hand|first_ids"
    "first|first call, create_once()|first_by_hand|first_ids"
    "first_insert|first call, bare INSERT ... ON CONFLICT|first_by_hand|first_ids"
    "replay_select|replay, plain SELECT|replay_select|replay_ids"
    "replay|replay, create_once()|replay_select|replay_ids"
)

# Print the mean time of a transaction in milliseconds.
transaction_ms() {
    local log=$bench_scratch/pgbench
    bench_pgbench -t "$transactions" -D known="$known" \
        -f "$BENCH/create_once_$1.pgbench" > "$log" 2>&1 || { cat "$log" >&2; return 1; }
    awk '/^tps = / { printf "%.6f\n", 1000 / $3 }' "$log"
}

bench_open shared_buffers=512MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB
bench_psql -v known="$known" -f "$BENCH/create_once_ids.sql" ||
    idgen_die "the commands could not be recorded"

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for name in first_ids first_by_hand first first_insert replay_ids replay_select replay; do
        transaction_ms "$name" > "$bench_scratch/transaction_ms" || idgen_die "$name failed"
        echo "$round $name $(cat "$bench_scratch/transaction_ms")" >> "$bench_scratch/times"
    done
done

echo "Time of the statement, $rounds rounds of $(bench_number "$transactions") transactions; ratios to the hand-written statement"
echo
echo "| statement | best ms | median ms | best : best | median of the rounds' ratios |"
echo "|---|--:|--:|--:|--:|"
for script in "${scripts[@]}"; do
    IFS='|' read -r name title base ids <<<"$script"
    awk -v name="$name" -v title="$title" -v base="$base" -v ids="$ids" '
        function median(values, n,    i, j, v) {
            for (i = 2; i <= n; i++) {
                v = values[i]
                for (j = i - 1; j > 0 && values[j] > v; j--) values[j + 1] = values[j]
                values[j + 1] = v
            }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        function least(values, n,    i, v) {
            v = values[1]
            for (i = 2; i <= n; i++) if (values[i] < v) v = values[i]
            return v
        }
        { rounds = $1; ms[$2, $1] = $3 }
        END {
            for (i = 1; i <= rounds; i++) {
                own[i] = ms[name, i] - ms[ids, i]
                other[i] = ms[base, i] - ms[ids, i]
                if (other[i] > 0) ratios[++count] = own[i] / other[i]
            }
            best = least(other, rounds)
            printf "| %s | %.3f | %.3f | %s | %s |\n", title, least(own, rounds), median(own, rounds),
                (best > 0 ? sprintf("%.2f", least(own, rounds) / best) : "-"),
                (count > 0 ? sprintf("%.2f", median(ratios, count)) : "-")
        }' "$bench_scratch/times"
done
