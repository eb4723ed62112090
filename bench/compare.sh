#!/usr/bin/env bash
#
# compare.sh: run the pgbench scripts of this folder in turn, and compare the keys.
#
#   bench/compare.sh [OPTION ...]
#
#   --rows N          rows in each table before the measurement (default 300000)
#   --days N          days that these span (default 30)
#   --rows-per-checkpoint N
#                     inserts of each key after a checkpoint, one a transaction
#                     (default 5000)
#   --rate N          inserts per second, as pgbench --rate (default: as fast as possible)
#   --rounds N        rounds, in which the keys take turns (default 3)
#   --clients N       sessions that insert (default 4)
#   --keys A,B,...    which scripts (default: all that the server can run)
#   --server          use the server of PGHOST, PGPORT ... and not a private cluster;
#                     requires superuser rights or the right to CHECKPOINT
#   --help            this text
#
# Creates the tables of setup.sql and, for each key, makes a checkpoint, runs the
# script with pgbench, and reads pg_stat_wal. Prints one table of medians, with the
# least and the greatest of the rounds; a ratio is ~ if these ranges overlap. All of it
# is removed at the end. WAL is counted for the whole server, where nothing else should
# write.

set -uo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lab/common.sh
. "$folder/lab/common.sh"
rows=300000 days=30 rows_per_checkpoint=5000 rate='' clients=4 rounds=3 keys=
bench_options "rows days rows_per_checkpoint rate rounds clients keys[] server" "$@"
chosen=$keys
[ -n "$keys" ] || keys=bigint,random,short_comb,short_comb_run,comb,uuid_v7,masked,snowflake,ulid
for key in ${keys//,/ }; do
    [ -e "$folder/$key.pgbench" ] || idgen_die "there is no script $key.pgbench in $folder"
done

counters() { bench_settle && bench_value "SELECT wal_bytes, wal_fpi FROM pg_stat_wal"; }

# Insert about the given number of rows.
insert() {
    bench_pgbench ${rate:+-R "$rate"} -c "$clients" -j "$(nproc)" -t "$((($2 + clients - 1) / clients))" -f "$folder/$1.pgbench" \
        >"$bench_scratch/pgbench" 2>&1 || { grep -m 1 error: "$bench_scratch/pgbench" >&2; return 1; }
}

# Print "KEY BYTES/ROW IMAGES/ROW ROWS/S INDEX_BYTES" of the inserts of one key.
measure() {
    local key=$1 before after inserted
    insert "$key" "$((rows_per_checkpoint / 10 + 1))" && bench_value CHECKPOINT || return 1    # a warm-up first
    read -ra before <<<"$(counters)"
    insert "$key" "$rows_per_checkpoint" || return 1
    read -ra after <<<"$(counters)"
    inserted=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$bench_scratch/pgbench")
    awk -v key="$key" -v bytes="$((after[0] - before[0]))" -v images="$((after[1] - before[1]))" -v rows="$inserted" \
        -v tps="$(sed -n 's/^tps = \([0-9.]*\).*without initial.*/\1/p' "$bench_scratch/pgbench")" \
        -v size="$(bench_value "SELECT pg_relation_size('idgen_bench.${key}_pkey')")" \
        'BEGIN { print key, bytes / rows, images / rows, tps, size }'
}

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB idgen.node_id=1 idgen.mask_key_file=mask_keys
bench_mask_key
bench_progress "creating tables of $(bench_number "$rows") rows"
bench_psql -v rows="$rows" -v days="$days" -f "$folder/setup.sql" >"$bench_scratch/setup" 2>&1 ||
    { cat "$bench_scratch/setup" >&2; idgen_die "setup.sql failed"; }

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for key in ${keys//,/ }; do
        measure "$key" >>"$bench_scratch/results" || [ -z "$chosen" ] || idgen_die "$key could not be measured"
    done
done
[ -s "$bench_scratch/results" ] || idgen_die "no key could be measured"

printf '%s rows of %s days in each table, then %s rounds of %s rows after a checkpoint, one a transaction, %s sessions%s, synchronous_commit off\n\n' \
    "$(bench_number "$rows")" "$days" "$rounds" "$(bench_number "$rows_per_checkpoint")" "$clients" "${rate:+, $rate rows/s}"
sort -s -k 1,1 "$bench_scratch/results" | awk -v order="$keys" '
    function sorted(k, m,    i, j, v) {     # the values of a metric, ascending, in s
        for (i = 1; i <= n[k]; i++) {
            v = value[k, m, i]
            for (j = i; j > 1 && s[j - 1] > v; j--) s[j] = s[j - 1]
            s[j] = v
        }
        low = s[1]; high = s[n[k]]; median = (s[int((n[k] + 1) / 2)] + s[int(n[k] / 2) + 1]) / 2
    }
    function cell(k, m, form,    text, range) {
        sorted(k, m)
        text = sprintf(form, median); range = sprintf(form, low) "-" sprintf(form, high)
        return range == text "-" text ? text : text " (" range ")"
    }
    function ratio(k, base, m,    l, h, mid) {
        if (!(base in n)) return "-"
        if (k == base) return "1.00"
        sorted(k, m); l = low; h = high; mid = median
        sorted(base, m)
        return l <= high && low <= h ? "~" : sprintf("%.2f", mid / median)
    }
    { n[$1]++; for (m = 2; m <= 5; m++) value[$1, m, n[$1]] = m == 5 ? $5 / 1048576 : $m }
    END {
        form = "| %-14s | %-22s | %-10s | %-24s | %-8s | %-12s | %-12s | %-13s | %-14s |\n"
        printf form, "key", "WAL bytes/row", "images/row", "rows/s", "index MB",
            "WAL : bigint", "WAL : random", "rows : random", "index : random"
        print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
        count = split(order, names, ",")
        for (i = 1; i <= count; i++) if ((k = names[i]) in n) {
            sorted(k, 3); images = median; sorted(k, 5); size = median
            printf form, k, cell(k, 2, "%.0f"), sprintf("%.3f", images), cell(k, 4, "%.0f"), sprintf("%.1f", size),
                ratio(k, "bigint", 2), ratio(k, "random", 2), ratio(k, "random", 4), ratio(k, "random", 5)
        }
    }'
