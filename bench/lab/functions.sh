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
# measures all functions, so that a busy moment affects all of them. On a private
# cluster, the functions of the portable edition are compared with the extension's.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

calls=1000000
rounds=5
memory_calls=10000000
edition_calls=100000

bench_options "calls rounds memory_calls edition_calls server" "$@"

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h idgen.node_id=1 idgen.launch_id=0 \
    idgen.mask_key_file=mask_keys
bench_mask_key

bench_progress "timing $rounds rounds of $(bench_number "$calls") calls"
bench_psql -F '|' -v calls="$calls" -v rounds="$rounds" -f "$BENCH/functions.sql" \
    > "$bench_scratch/times" || idgen_die "the timing failed"

# Print the calls of some kinds, with their ratios to two calls.
report() {
    local kinds=$1 title=$2 one=$3 other=$4
    echo
    echo "$title: net time of a call, best of $rounds rounds of $(bench_number "$calls")"
    echo
    echo "| call | ns | : $one | : $other |"
    echo "|---|--:|--:|--:|"
    awk -F'|' -v kinds="$kinds" -v one="$one" -v other="$other" '
        { ns[$2] = $3; if ($1 ~ kinds) name[++n] = $2 }
        END {
            for (i = 1; i <= n; i++)
                printf "| `%s` | %.1f | %.3f | %.3f |\n", name[i], ns[name[i]],
                    ns[name[i]] / ns[one], ns[name[i]] / ns[other]
        }' "$bench_scratch/times"
}

report '^(generator|check)$' 'Generating and checking' 'gen_random_uuid()' 'idgen.short_comb()'
report '^counter$' 'Counters of all sessions, and ObjectId' "nextval('idgen_bench.numbers')" 'gen_random_uuid()'
report '^mask$' 'Masks and permutations' 'gen_random_uuid()' 'idgen.uuid_v7()'
report '^text$' 'Writing and reading text' 'id::text' 'text::uuid'

# Time the functions that both editions have; $1 is the database.
editions() {
    PGDATABASE=$1 bench_psql -F '|' -v calls="$edition_calls" -v rounds="$rounds" -f "$BENCH/editions.sql" ||
        idgen_die "the timing of the editions failed"
}

if [ "$bench_server" = 0 ]; then
    bench_progress "timing both editions, $rounds rounds of $(bench_number "$edition_calls") calls"
    editions "$PGDATABASE" > "$bench_scratch/extension"
    bench_value "CREATE DATABASE portable"
    PGDATABASE=portable bench_psql -1 -f "$BENCH/../../portable/uuids.sql" -f "$BENCH/../../portable/text_ids.sql" \
        -f "$BENCH/../../portable/create_once.sql" -c 'CREATE SCHEMA idgen_bench' ||
        idgen_die "the portable edition could not be installed"
    editions portable > "$bench_scratch/portable"
    echo
    echo "The portable edition: net time of a call, best of $rounds rounds of $(bench_number "$edition_calls")"
    echo
    echo "| call | extension ns | portable ns | : extension | : gen_random_uuid() |"
    echo "|---|--:|--:|--:|--:|"
    awk -F'|' '
        NR == FNR { extension[$1] = $2; next }
        FNR == 1 { one = $2 }
        { printf "| `%s` | %.0f | %.0f | %s | %.1f |\n", $1, extension[$1], $2,
            (extension[$1] > 0 ? sprintf("%.1f", $2 / extension[$1]) : "-"), $2 / one }' \
        "$bench_scratch/extension" "$bench_scratch/portable"
fi

echo
echo "Growth of the server process over $(bench_number "$memory_calls") calls in one statement, in kB"
echo
echo "| function | memory contexts | peak resident size | resident size |"
echo "|---|--:|--:|--:|"
while IFS='|' read -r kind call _; do
    case $kind in text | mask) continue ;; esac
    [[ $call != *'(id)' ]] || call="idgen.is_recent_short_comb(idgen.short_comb())"
    bench_progress "$(bench_number "$memory_calls") calls of $call"
    bench_psql -v call="$call" -v calls="$memory_calls" -f "$BENCH/memory.sql" \
        > "$bench_scratch/memory" || idgen_die "the memory measurement failed"
    # without /proc, as with a server on another machine, the last two are unknown
    awk -v call="$call" '{
        printf "| `%s` | %.0f | %s | %s |\n", call, ($2 - $1) / 1024,
            NF == 6 ? $5 - $3 : "?", NF == 6 ? $6 - $4 : "?"
    }' "$bench_scratch/memory"
done < "$bench_scratch/times"
