#!/usr/bin/env bash
#
# functions.sh: what a call of each generator costs, in time and in memory.
#
#   bench/lab/functions.sh [OPTION ...]
#
#   --calls N         calls in one timed statement (default 1000000)
#   --rounds N        rounds, of which the best one counts (default 5)
#   --memory-calls N  calls in the statement whose memory is watched (default 10000000)
#   --server          run on the server that PGHOST, PGPORT ... name
#   --help            this text
#
# The time is net: that of a query with the function, less that of the same
# query with pg_backend_pid() in its place, the cheapest of functions. A check
# or a conversion is made for each row of a table of identifiers, less the same
# query without it.
# Rounds go through all functions, so that a busy moment hits all alike.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

calls=1000000
rounds=5
memory_calls=10000000

while [ $# -gt 0 ]; do
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --server) bench_server=1; shift; continue ;;
        --help|-h) idgen_help; exit 0 ;;
    esac
    [ $# -ge 2 ] || idgen_die "$1 is no option, or wants a value; see --help"
    case $1 in
        --calls) bench_need_number "$1" "$2"; calls=$2 ;;
        --rounds) bench_need_number "$1" "$2"; rounds=$2 ;;
        --memory-calls) bench_need_number "$1" "$2"; memory_calls=$2 ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2
done

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h idgen.node_id=1 idgen.launch_id=0

bench_progress "timing $rounds rounds of $(bench_number "$calls") calls"
bench_psql -F '|' -v calls="$calls" -v rounds="$rounds" -f "$BENCH/functions.sql" \
    > "$bench_scratch/times" || idgen_die "the timing failed"

# Print the calls of some kinds, with their ratios to two of them.
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

report '^(generator|check)$' 'Making and checking' 'gen_random_uuid()' 'idgen.short_comb()'
report '^counter$' 'Counting over all sessions, and ObjectId' "nextval('idgen_bench.numbers')" 'gen_random_uuid()'
report '^text$' 'Writing and reading text' 'id::text' 'text::uuid'
echo
echo "Growth of the server process over $(bench_number "$memory_calls") calls in one statement, in kB"
echo
echo "| function | memory contexts | most ever held | held |"
echo "|---|--:|--:|--:|"
while IFS='|' read -r kind call _; do
    [ "$kind" != text ] || continue
    [[ $call != *'(id)' ]] || call="idgen.is_recent_short_comb(idgen.short_comb())"
    bench_progress "$(bench_number "$memory_calls") calls of $call"
    bench_psql -v call="$call" -v calls="$memory_calls" -f "$BENCH/memory.sql" \
        > "$bench_scratch/memory" || idgen_die "the memory check failed"
    # without /proc, as on another machine, the last two stay unknown
    awk -v call="$call" '{
        printf "| `%s` | %.0f | %s | %s |\n", call, ($2 - $1) / 1024,
            NF == 6 ? $5 - $3 : "?", NF == 6 ? $6 - $4 : "?"
    }' "$bench_scratch/memory"
done < "$bench_scratch/times"
