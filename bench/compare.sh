#!/usr/bin/env bash
#
# compare.sh: run the pgbench scripts of this folder in turn, and compare the keys.
#
#   bench/compare.sh [OPTION ...]
#
#   --rows N          rows in each table before the measurement (default 300000)
#   --days N          the days that these rows span (default 30)
#   --rows-per-checkpoint N    inserts of each key after a checkpoint, one per transaction (default 5000)
#   --rate N          inserts per second, as in pgbench --rate (default: as fast as possible)
#   --rounds N        rounds, in which the keys take turns (default 3)
#   --clients N       sessions that insert (default 4)
#   --keys A,B,...    the keys to measure (default: all keys that the server supports)
#   --server          use the server of PGHOST, PGPORT ... instead of a private cluster; requires the
#                     privilege to run CHECKPOINT
#   --help            this text
#
# The script creates the tables of setup.sql. For each key, it makes a checkpoint, runs the key's pgbench script, and
# reads pg_stat_wal. It prints one table of medians, with the least and the greatest value of the rounds. If these
# ranges overlap, the ratio is printed as ~. At the end, the script removes everything that it has created. WAL is
# counted for the whole server, so no other session should write.

set -uo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=lab/common.sh
. "$folder/lab/common.sh"
rows=300000 days=30 rows_per_checkpoint=5000 rate='' clients=4 rounds=3 keys=
bench_options "rows# days# rows_per_checkpoint# rate# rounds# clients# keys server?" "$@"
chosen=$keys
[ -n "$keys" ] || keys=bigint,random,keyed_comb,short_comb,short_comb_run,comb,uuid_v7,masked,snowflake,ulid
for key in ${keys//,/ }; do
    [ -e "$folder/$key.pgbench" ] || idgen_die "there is no script $key.pgbench in $folder"
done

counters() { bench_psql -f "$BENCH/sql/settle.sql" -c "SELECT wal_bytes, wal_fpi FROM pg_stat_wal"; }

insert() {
    bench_pgbench ${rate:+-R "$rate"} -c "$clients" -j "$(nproc)" -t "$((($2 + clients - 1) / clients))" \
        -f "$folder/$1.pgbench"
}

# Measure the inserts of one key, and append the result.
measure() {
    local key=$1 before after
    insert "$key" "$((rows_per_checkpoint / 10 + 1))" && bench_value CHECKPOINT || return 1    # warm up
    read -ra before <<<"$(counters)"
    insert "$key" "$rows_per_checkpoint" || return 1
    read -ra after <<<"$(counters)"
    echo "$key,$((after[0] - before[0])),$((after[1] - before[1])),$processed,$tps,$(
        bench_value "SELECT pg_relation_size('idgen_bench.${key}_pkey')")" >>"$bench_scratch/results"
}

bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h max_wal_size=16GB idgen.node_id=1
bench_progress "creating tables of $(bench_number "$rows") rows"
bench_psql -v rows="$rows" -v days="$days" -f "$folder/setup.sql" >"$bench_scratch/setup" 2>&1 ||
    { cat "$bench_scratch/setup" >&2; idgen_die "setup.sql failed"; }

for ((round = 1; round <= rounds; round++)); do
    bench_progress "round $round of $rounds"
    for key in ${keys//,/ }; do
        measure "$key" || [ -z "$chosen" ] || idgen_die "$key could not be measured"
    done
done
[ -s "$bench_scratch/results" ] || idgen_die "no key could be measured"

echo "$(bench_number "$rows") rows of $days days in each table, then $rounds rounds of" \
    "$(bench_number "$rows_per_checkpoint") rows after a checkpoint, one a transaction," \
    "$clients sessions${rate:+, $rate rows/s}, synchronous_commit off"
echo
form='| %-14s | %-22s | %-10s | %-24s | %-8s | %-12s | %-12s | %-13s | %-14s |'
printf "$form\n" key "WAL bytes/row" "images/row" "rows/s" "index MiB" \
    "WAL : bigint" "WAL : random" "rows : random" "index : random"
echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
cat >"$bench_scratch/table.sql" <<SQL
CREATE TEMPORARY TABLE result (key text, bytes float8, images float8, rows float8, rate float8, size float8);
\copy result FROM '$bench_scratch/results' (FORMAT csv)
SQL
cat >>"$bench_scratch/table.sql" <<'SQL'
-- The arguments are {least, median, greatest}.
CREATE FUNCTION pg_temp.cell(float8[]) RETURNS text RETURN
    concat(round($1[2]),
           CASE WHEN round($1[1]) < round($1[3]) THEN ' (' || round($1[1]) || '-' || round($1[3]) || ')' END);
CREATE FUNCTION pg_temp.ratio(float8[], base float8[]) RETURNS text RETURN
    coalesce(CASE WHEN $1 = base THEN '1.00' WHEN $1[1] <= base[3] AND base[1] <= $1[3] THEN '~'
                  ELSE round(($1[2] / base[2])::numeric, 2)::text END, '-');
WITH figure AS (
    SELECT key, percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY bytes / rows) AS wal,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY images / rows)::numeric AS images,
           percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY rate) AS rate,
           percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY size / 1048576) AS size
    FROM result GROUP BY key
)
SELECT format(:'form', k.key, pg_temp.cell(k.wal), round(k.images, 3), pg_temp.cell(k.rate),
              round(k.size[2]::numeric, 1), pg_temp.ratio(k.wal, b.wal), pg_temp.ratio(k.wal, r.wal),
              pg_temp.ratio(k.rate, r.rate), pg_temp.ratio(k.size, r.size))
FROM figure k LEFT JOIN figure b ON b.key = 'bigint' LEFT JOIN figure r ON r.key = 'random'
ORDER BY strpos(',' || :'keys' || ',', ',' || k.key || ',');
SQL
bench_psql -f "$bench_scratch/table.sql" -v form="$form" -v keys="$keys"
