#!/usr/bin/env bash
#
# functions.sh: measure the time and the memory of a call of each generator.
#
#   bench/lab/functions.sh [OPTION ...]
#
#   --calls N         calls in one timed statement (default 1000000)
#   --rounds N        rounds, of which the fastest is reported (default 5)
#   --memory-calls N  calls in the statement whose memory is measured (default 10000000)
#   --edition-calls N calls of each function of both editions (default 100000)
#   --server          use the server of PGHOST, PGPORT ... and not a private cluster
#   --help            this text
#
# The time is net: that of a query with the function, minus that of the same query
# with pg_backend_pid(), the fastest function. A check or a conversion is called for
# each row of a table of identifiers, minus the same query without it. Each round
# measures all functions, so that a busy moment affects all of them. Functions of all
# sessions' counters are measured if idgen.node_id and idgen.launch_id are set, as on a
# private cluster; there, the portable edition is compared with the extension, too.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

calls=1000000 rounds=5 memory_calls=10000000 edition_calls=100000
bench_options "calls# rounds# memory_calls# edition_calls# server?" "$@"

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h idgen.node_id=1 idgen.launch_id=0

bench_progress "timing $rounds rounds of $(bench_number "$calls") calls"
bench_psql -v calls="$calls" -v rounds="$rounds" -v names="$bench_scratch/names" -f "$BENCH/functions.sql" ||
    idgen_die "the timing failed"

# Time the functions that both editions have; $1 is the database.
editions() {
    PGDATABASE=$1 bench_psql -F '|' -v calls="$edition_calls" -v rounds="$rounds" -f "$BENCH/editions.sql" ||
        idgen_die "the timing of the editions failed"
}

if [ "$server" = 0 ]; then
    bench_progress "timing both editions, $rounds rounds of $(bench_number "$edition_calls") calls"
    editions "$PGDATABASE" > "$bench_scratch/extension"
    bench_value "CREATE DATABASE portable"
    PGDATABASE=portable bench_psql -f "$BENCH/../../portable/uuids.sql" -f "$BENCH/../../portable/text_ids.sql" \
        -f "$BENCH/../../portable/create_once.sql" || idgen_die "the portable edition could not be installed"
    editions portable > "$bench_scratch/portable"
    echo
    echo "The portable edition: net time of a call, best of $rounds rounds of $(bench_number "$edition_calls")"
    echo
    echo "| call | extension ns | portable ns | : extension | : gen_random_uuid() |"
    echo "|---|--:|--:|--:|--:|"
    paste -d '|' "$bench_scratch/extension" "$bench_scratch/portable" | awk -F '|' '
        NR == 1 { one = $4 }
        {
            ratio = $2 > 0 ? sprintf("%.1f", $4 / $2) : "-"
            printf "| `%s` | %.0f | %.0f | %s | %.1f |\n", $1, $2, $4, ratio, $4 / one
        }'
fi

echo
echo "Growth of the server process over $(bench_number "$memory_calls") calls in one statement, in kB"
echo
echo "| function | memory contexts | peak resident size | resident size |"
echo "|---|--:|--:|--:|"
while read -r call; do
    bench_progress "$(bench_number "$memory_calls") calls of $call"
    bench_psql -v call="$call" -v calls="$memory_calls" -f "$BENCH/memory.sql" ||
        idgen_die "the memory measurement failed"
done < "$bench_scratch/names"
