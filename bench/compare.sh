#!/usr/bin/env bash
#
# compare.sh: run the pgbench scripts of this folder in turn, and compare the keys.
#
#   bench/compare.sh [OPTION ...]
#
#   --rows N          rows in each table before the measurement (default 500000)
#   --transactions N  inserts of each key in a round, one a transaction (default 5000)
#   --rounds N        rounds, in which the keys take turns (default 3)
#   --clients N       sessions that insert (default 4)
#   --keys A,B,...    which scripts (default: all that the server can run)
#   --server          use the server of PGHOST, PGPORT ... and not a private cluster;
#                     requires superuser rights or the right to CHECKPOINT
#   --help            this text
#
# Creates the tables of setup.sql and, for each key, makes a checkpoint, runs the
# script with pgbench, and reads pg_stat_wal. Prints one table. All of it is removed
# at the end. WAL is counted for the whole server, where nothing else should write.

set -uo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lab/common.sh
. "$folder/lab/common.sh"
rows=500000 transactions=5000 clients=4 rounds=3 keys=
bench_options "rows transactions rounds clients keys[] server" "$@"
chosen=$keys
[ -n "$keys" ] || keys=bigint,random,short_comb,short_comb_run,comb,uuid_v7,masked,snowflake,ulid
for key in ${keys//,/ }; do
    [ -e "$folder/$key.pgbench" ] || idgen_die "there is no script $key.pgbench in $folder"
done

counters() { bench_settle && bench_value "SELECT wal_bytes, wal_fpi FROM pg_stat_wal"; }

# Insert about the given number of rows.
insert() {
    bench_pgbench -c "$clients" -j "$(nproc)" -t "$((($2 + clients - 1) / clients))" -f "$folder/$1.pgbench" \
        >"$bench_scratch/pgbench" 2>&1 || { grep -m 1 error: "$bench_scratch/pgbench" >&2; return 1; }
}

# Print "KEY BYTES IMAGES ROWS ROWS/S INDEX_BYTES" of the inserts of one key.
measure() {
    local key=$1 before after
    insert "$key" "$((transactions / 10 + 1))" && bench_value CHECKPOINT || return 1    # a warm-up first
    read -ra before <<<"$(counters)"
    insert "$key" "$transactions" || return 1
    read -ra after <<<"$(counters)"
    echo "$key $((after[0] - before[0])) $((after[1] - before[1]))" \
        "$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$bench_scratch/pgbench")" \
        "$(sed -n 's/^tps = \([0-9.]*\).*without initial.*/\1/p' "$bench_scratch/pgbench")" \
        "$(bench_value "SELECT pg_relation_size('idgen_bench.${key}_pkey')")"
}

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB idgen.node_id=1 idgen.mask_key_file=mask_keys
bench_mask_key
bench_progress "creating tables of $(bench_number "$rows") rows"
bench_psql -v rows="$rows" -f "$folder/setup.sql" >"$bench_scratch/setup" 2>&1 ||
    { cat "$bench_scratch/setup" >&2; idgen_die "setup.sql failed"; }

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for key in ${keys//,/ }; do
        measure "$key" >>"$bench_scratch/results" || [ -z "$chosen" ] || idgen_die "$key could not be measured"
    done
done
[ -s "$bench_scratch/results" ] || idgen_die "no key could be measured"

printf '%s rows in each table, then %s rounds of %s rows, one a transaction, %s sessions, synchronous_commit off\n\n' \
    "$(bench_number "$rows")" "$rounds" "$(bench_number "$transactions")" "$clients"
awk '
    function times(value, base) { return base > 0 ? sprintf("%.2f", value / base) : "-" }
    !($1 in size) { name[++n] = $1 }
    { bytes[$1] += $2; pages[$1] += $3; rows[$1] += $4; seconds[$1] += $4 / $5; size[$1] = $6 / 1048576 }
    END {
        form = "| %-14s | %13s | %10s | %7s | %8s | %12s | %12s | %13s | %14s |\n"
        printf form, "key", "WAL bytes/row", "images/row", "rows/s", "index MB",
            "WAL : bigint", "WAL : random", "rows : random", "index : random"
        print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
        for (k in rows) { wal[k] = bytes[k] / rows[k]; rate[k] = rows[k] / seconds[k] }
        for (i = 1; i <= n; i++) {
            k = name[i]
            printf form, k, sprintf("%.0f", wal[k]), sprintf("%.3f", pages[k] / rows[k]), sprintf("%.0f", rate[k]),
                sprintf("%.1f", size[k]), times(wal[k], wal["bigint"]), times(wal[k], wal["random"]),
                times(rate[k], rate["random"]), times(size[k], size["random"])
        }
    }' "$bench_scratch/results"
