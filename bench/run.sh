#!/usr/bin/env bash
#
# run.sh: what a kind of primary key costs on a B-tree index.
#
#   bench/run.sh [OPTION ...]
#
#   --scene NAME         steady, bulk or all (default all)
#   --keys A,B,...       which keys, by their names in keys.txt (default all)
#   --rows N             steady: rows of history (default 5000000)
#   --days N             steady: days that the history spans (default 30)
#   --inserts N          steady: measured inserts, one a transaction (default 20000)
#   --seconds N          steady: insert for so long instead
#   --clients N          steady: sessions that insert (default 1)
#   --bulk-rows N        bulk: rows that the minute holds already (default 1000000)
#   --bulk-inserts N     bulk: measured rows of one INSERT (default 100000)
#   --reads N            recent rows that are read afterwards (default 2000)
#   --shared-buffers S   of the private cluster (default 256MB)
#   --out FOLDER         where results.csv and results.md go (default bench/out/DATE)
#   --csv                print the CSV instead of Markdown
#   --server             run on the server that PGHOST, PGPORT ... name, not on a
#                        private cluster; needs CHECKPOINT and pgstattuple
#   --quiet              no progress
#   --help               this text
#
# steady: a table with a history, a checkpoint, and then one row a transaction.
# bulk:   a table whose rows are of one minute, a checkpoint, and then many more
#         rows of that minute with one INSERT.
#
# Progress goes to stderr, the result to stdout and to the folder. A run leaves
# nothing else behind, also when it is interrupted.

set -uo pipefail
command_line="$(basename "$0") $*"
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

scene=all
keys=
rows=5000000
days=30
inserts=20000
seconds=
clients=1
bulk_rows=1000000
bulk_inserts=100000
reads=2000
shared_buffers=256MB
out=
csv=0

while [ $# -gt 0 ]; do
    # --name=value is --name value
    case $1 in --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --server) bench_server=1; shift; continue ;;
        --csv) csv=1; shift; continue ;;
        --quiet) bench_progress() { :; }; bench_flicker() { :; }; shift; continue ;;
        --help|-h) bench_help; exit 0 ;;
    esac
    [ $# -ge 2 ] || idgen_die "$1 is no option, or wants a value; see --help"
    case $1 in
        --scene) scene=$2 ;;
        --keys) keys=$2 ;;
        --rows) bench_need_number "$1" "$2"; rows=$2 ;;
        --days) bench_need_number "$1" "$2"; days=$2 ;;
        --inserts) bench_need_number "$1" "$2"; inserts=$2 ;;
        --seconds) bench_need_number "$1" "$2"; seconds=$2 ;;
        --clients) bench_need_number "$1" "$2"; clients=$2 ;;
        --bulk-rows) bench_need_number "$1" "$2"; bulk_rows=$2 ;;
        --bulk-inserts) bench_need_number "$1" "$2"; bulk_inserts=$2 ;;
        --reads) bench_need_number "$1" "$2"; reads=$2 ;;
        --shared-buffers) shared_buffers=$2 ;;
        --out) out=$2 ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2
done

case $scene in
    steady|bulk) scenes=("$scene") ;;
    all) scenes=(steady bulk) ;;
    *) idgen_die "--scene is steady, bulk or all, not \"$scene\"" ;;
esac

# --- the keys ---------------------------------------------------------------

declare -A key_type key_column key_history key_bulk
known=()
while IFS='|' read -r name type column history bulk; do
    read -r name <<<"${name%%#*}"
    [ -n "$name" ] || continue
    known+=("$name")
    read -r "key_type[$name]" <<<"$type"
    read -r "key_column[$name]" <<<"$column"
    read -r "key_history[$name]" <<<"$history"
    read -r "key_bulk[$name]" <<<"$bulk"
done < "$BENCH/keys.txt"

IFS=, read -ra chosen <<<"${keys:-$(IFS=,; echo "${known[*]}")}"
for name in "${chosen[@]}"; do
    [ -n "${key_type[$name]:-}" ] || idgen_die "no key \"$name\"; there are: ${known[*]}"
done

# What a key is called in the tables: its expression.
label() {
    case ${key_column[$1]} in
        DEFAULT*) echo "${key_column[$1]#DEFAULT }" ;;
        *) echo "$1 identity" ;;
    esac
}

# --- one measurement --------------------------------------------------------

# The counters that a measurement is the difference of: bytes of WAL records,
# full-page images, and the latest checkpoint, which ought to stay the same.
counters() {
    bench_settle &&
        bench_psql -c "SELECT wal_bytes, wal_fpi,
                              (SELECT redo_lsn FROM pg_control_checkpoint())
                       FROM pg_stat_wal" > "$bench_scratch/counters" &&
        read -r "$1[0]" "$1[1]" "$1[2]" < "$bench_scratch/counters"
}

# Blocks of the primary key's index that were found in shared buffers, and not.
index_blocks() {
    bench_settle &&
        bench_psql -c "SELECT idx_blks_hit, idx_blks_read FROM pg_statio_user_indexes
                       WHERE schemaname = 'idgen_bench' AND indexrelname = 'keys_pkey'" \
            > "$bench_scratch/blocks" &&
        read -r "$1[0]" "$1[1]" < "$bench_scratch/blocks"
}

# Insert rows FIRST to LAST of ROWS, their keys made by the expression, their
# moments spread over DAYS from MOMENT on.
load() {
    local expression=$1 moment=$2 days=$3 rows=$4 first=$5 last=$6
    local columns='id, payload' values="$expression, 0"

    [ "$expression" != default ] || { columns=payload; values=0; }
    bench_psql -f "$BENCH/load.sql" -v columns="$columns" -v values="$values" \
        -v moment="$moment" -v days="$days" -v rows="$rows" -v first="$first" -v last="$last"
}

# The rows that are there before; in pieces, to show how far it is.
load_history() {
    local expression=$1 moment=$2 days=$3 rows=$4 first last

    for ((first = 1; first <= rows; first = last + 1)); do
        last=$((first + 249999 < rows ? first + 249999 : rows))
        bench_flicker "$step loading, $((100 * first / rows))%"
        load "$expression" "$moment" "$days" "$rows" "$first" "$last" || return 1
    done
}

# Each of these inserts sets inserted and rows_per_s.
insert_steady() {
    local amount=(-t "$(((inserts + clients - 1) / clients))") log=$bench_scratch/pgbench

    [ -z "$seconds" ] || amount=(-T "$seconds")
    bench_pgbench -c "$clients" -j "$clients" "${amount[@]}" -f "$BENCH/steady.pgbench" \
        > "$log" 2>&1 || { cat "$log" >&2; return 1; }
    inserted=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$log")
    rows_per_s=$(sed -n 's/^tps = \([0-9.]*\).*without initial.*/\1/p' "$log")
    [ -n "$inserted" ] && [ -n "$rows_per_s" ]
}

insert_bulk() {
    local from=$EPOCHREALTIME

    load "${key_bulk[$1]}" "$moment" 0 1 1 "$bulk_inserts" || return 1
    inserted=$bulk_inserts
    rows_per_s=$(awk -v from="$from" -v to="$EPOCHREALTIME" -v rows="$inserted" \
        'BEGIN { print rows / (to - from) }')
}

# Measure one key in one scene, and add a line to the raw results.
measure() {
    local scene=$1 key=$2 moment history inserted rows_per_s before after blocks_before blocks_after
    local cache=cold wal hit_ratio index

    bench_psql -f "$BENCH/table.sql" -v type="${key_type[$key]}" -v column="${key_column[$key]}" ||
        return 1
    if [ "$scene" = steady ]; then
        history=$rows
        bench_progress "$step loading $(bench_number "$rows") rows of $days days"
        moment=$(bench_value "SELECT now() - interval '$days days'")
        load_history "${key_history[$key]}" "$moment" "$days" "$rows" || return 1
    else
        history=$bulk_rows
        bench_progress "$step loading $(bench_number "$bulk_rows") rows of one minute"
        moment=$(bench_value "SELECT now()")
        load_history "${key_bulk[$key]}" "$moment" 0 "$bulk_rows" || return 1
    fi
    # afterwards no reader has anything to write to these pages
    bench_psql -c "VACUUM idgen_bench.keys" && bench_psql -c CHECKPOINT || return 1

    counters before || return 1
    if [ "$scene" = steady ]; then
        bench_progress "$step inserting $(bench_number "${seconds:-$inserts}") ${seconds:+seconds of }rows, one a transaction"
        insert_steady || return 1
    else
        bench_progress "$step inserting $(bench_number "$bulk_inserts") rows at once"
        insert_bulk "$key" || return 1
    fi
    counters after || return 1
    [ "${before[2]}" = "${after[2]}" ] ||
        echo "warning: $scene, $key: a checkpoint came in between; raise max_wal_size or insert less" >&2

    bench_psql -f "$BENCH/index.sql" -v pgstattuple="$pgstattuple" > "$bench_scratch/index" || return 1
    read -r index < "$bench_scratch/index"

    bench_progress "$step reading $(bench_number "$reads") recent rows"
    bench_psql -f "$BENCH/recent.sql" -v reads="$reads" || return 1
    if [ "$bench_server" = 1 ]; then
        cache=warm
    else
        idgen_restart || return 1
    fi
    index_blocks blocks_before || return 1
    bench_psql -o /dev/null -f "$BENCH/read.sql" || return 1
    index_blocks blocks_after || return 1
    hit_ratio=$(awk -v hit=$((blocks_after[0] - blocks_before[0])) \
        -v read=$((blocks_after[1] - blocks_before[1])) \
        'BEGIN { printf "%.4f", hit + read ? hit / (hit + read) : 1 }')

    wal=$((after[0] - before[0]))
    echo "$scene $key $history $inserted $rows_per_s $wal $((after[1] - before[1])) $index $hit_ratio $cache" \
        >> "$bench_scratch/raw"
    bench_progress "$step $((wal / inserted)) bytes of WAL a row"
    bench_psql -c "DROP TABLE idgen_bench.keys, idgen_bench.recent"
}

# --- the results ------------------------------------------------------------

csv() {
    local key
    echo "scene,key,expression,history_rows,inserted_rows,rows_per_s,us_per_row,wal_bytes_per_row,fpi_per_row,index_bytes,leaf_density,leaf_fragmentation,recent_hit_ratio,cache,wal_vs_bigint,wal_vs_random,time_vs_bigint"
    {
        for key in "${known[@]}"; do echo "$key $(label "$key")"; done
        echo
        cat "$bench_scratch/raw"
    } | awk '
        function ratio(a, b) { return b > 0 ? sprintf("%.3f", a / b) : "" }
        !raw && NF == 0 { raw = 1; next }
        !raw { key = $1; sub(/^[^ ]+ /, ""); label[key] = $0; next }
        {
            line[++lines] = $0
            wal[$1, $2] = $6 / $4
            time[$1, $2] = 1e6 / $5
        }
        END {
            for (i = 1; i <= lines; i++) {
                split(line[i], f, " ")
                s = f[1]; k = f[2]
                printf "%s,%s,%s,%d,%d,%.0f,%.2f,%.1f,%.4f,%s,%s,%s,%s,%s,%s,%s,%s\n",
                    s, k, label[k], f[3], f[4], f[5], time[s, k], wal[s, k], f[7] / f[4],
                    f[8], f[9], f[10], f[11], f[12],
                    ratio(wal[s, k], wal[s, "bigint"]), ratio(wal[s, k], wal[s, "gen_random_uuid"]),
                    ratio(time[s, k], time[s, "bigint"])
            }
        }'
}

scene_table() {
    awk -F, -v scene="$1" '
        function shown(value) { return value == "" ? "-" : value }
        NR == 1 {
            print "| key | rows/s | µs/row | WAL bytes/row | full-page images/row | index MB | leaf density % | fragmentation % | hit ratio of recent rows % | WAL : bigint | WAL : random | time : bigint |"
            print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        }
        $1 == scene {
            printf "| `%s` | %d | %.1f | %.0f | %.3f | %.1f | %.1f | %.1f | %.1f | %s | %s | %s |\n",
                $3, $6, $7, $8, $9, $10 / 1048576, $11, $12, 100 * $13,
                shown($15), shown($16), shown($17)
        }' "$out/results.csv"
}

markdown() {
    local scene cache="empty (the server was restarted)"

    [ "$bench_server" = 0 ] || cache="as the inserts left them"
    echo "# Primary keys compared"
    echo
    echo "\`$command_line\` on $(date -u '+%Y-%m-%d %H:%M UTC'), $(nproc) cores, $version"
    for scene in "${scenes[@]}"; do
        echo
        if [ "$scene" = steady ]; then
            echo "## Steady: $(bench_number "$rows") rows of $days days, then one row a transaction"
        else
            echo "## Bulk: $(bench_number "$bulk_rows") rows of one minute, then $(bench_number "$bulk_inserts") more of it in one INSERT"
        fi
        echo
        scene_table "$scene"
    done
    echo
    echo "Random is \`gen_random_uuid()\`. Before the $(bench_number "$reads") newest rows were looked up by their key, shared buffers were $cache."
    echo
    echo "| setting | value |"
    echo "|---|---|"
    cat "$bench_scratch/settings"
}

# --- the run ----------------------------------------------------------------

# Only our own checkpoints, and WAL as a server with default settings writes it.
bench_open shared_buffers="$shared_buffers" autovacuum=off \
    checkpoint_timeout=1h max_wal_size=64GB min_wal_size=1GB \
    full_page_writes=on wal_compression=off

[ -n "$out" ] || out=$BENCH/out/$(date '+%Y-%m-%d_%H%M%S')
mkdir -p "$out" || exit 1
bench_out=$out

bench_extension pgstattuple
pgstattuple=$(bench_value "SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pgstattuple'")
version=$(bench_value "SELECT 'PostgreSQL ' || current_setting('server_version')")
bench_value CHECKPOINT || idgen_die "the comparison needs the right to CHECKPOINT"
bench_value "SELECT '| ' || name || ' | ' || current_setting(name) || ' |' FROM pg_settings
             WHERE name IN ('autovacuum', 'block_size', 'checkpoint_timeout', 'data_checksums',
                            'fsync', 'full_page_writes', 'max_wal_size', 'shared_buffers',
                            'synchronous_commit', 'wal_compression', 'wal_level', 'wal_log_hints')
             ORDER BY name" > "$bench_scratch/settings"
: > "$bench_scratch/raw"

number=0
for scene in "${scenes[@]}"; do
    for key in "${chosen[@]}"; do
        number=$((number + 1))
        step="$number/$((${#scenes[@]} * ${#chosen[@]})) $scene, $key:"
        measure "$scene" "$key" || idgen_die "$scene, $key: the measurement failed"
    done
done

csv > "$out/results.csv"
markdown > "$out/results.md"
if [ "$csv" = 1 ]; then cat "$out/results.csv"; else cat "$out/results.md"; fi
bench_progress "done: $out/results.md and results.csv"
