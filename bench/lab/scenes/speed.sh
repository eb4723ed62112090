# shellcheck shell=bash disable=SC2034,SC2154
#
# speed: the rows per second that several sessions insert into tables with the rows of a month. Each transaction inserts
# one row with a key by the server's clock, and there is a checkpoint every 30 seconds. With direct I/O (since
# PostgreSQL 16), only shared buffers cache the tables.

lab_keys bigint random uuid_v7 keyed_comb
speed_settings=(shared_buffers="$speed_shared_buffers" checkpoint_timeout=30s)
! lab_can debug_io_direct=data || speed_settings+=(debug_io_direct=data)
declare -A speed_insert=([narrow]="(payload) VALUES (0)" [usual]="(customer, created, token, note)
    VALUES (1 + floor(random() * 100000)::int, now(), md5(random()::text), repeat('x', 200))")

# Print the rate and the counters. Arguments: SESSIONS SYNCHRONOUS_COMMIT.
speed_run() {
    local pgbench=(-c "$1" -j 2 -f "$bench_scratch/insert.sql")
    local -x PGOPTIONS="$PGOPTIONS -c synchronous_commit=$2"
    lab_psql -c CHECKPOINT
    bench_pgbench -T $((speed_seconds / 6 + 1)) "${pgbench[@]}" || lab_die "pgbench failed"
    lab_psql -f "$BENCH/sql/counts.sql" -v index="$index" >"$bench_scratch/before"
    bench_pgbench -T "$speed_seconds" "${pgbench[@]}" || lab_die "pgbench failed"
    lab_psql -f "$BENCH/sql/counts.sql" -v index="$index" >"$bench_scratch/after"
    echo "rows_per_s $tps"
    lab_differences "$processed" 2>/dev/null
}

for table in ${speed_tables//,/ }; do
    lab_set shared_buffers=1GB
    for key in "${scene_keys[@]}"; do
        lab_fill "$speed_rows" $((speed_rows / 43200 + 1)) now
        lab_psql -c "ALTER TABLE idgen_bench.rows RENAME TO $key" \
            -c "ALTER INDEX idgen_bench.rows_pkey RENAME TO ${key}_pkey"
    done
    lab_set "${speed_settings[@]}"
    for ((round = 1; round <= speed_rounds; round++)); do
        for commit in ${speed_commits//,/ }; do
            for sessions in ${speed_sessions//,/ }; do
                for key in "${scene_keys[@]}"; do
                    index=${key}_pkey
                    echo "INSERT INTO idgen_bench.$key ${speed_insert[$table]};" >"$bench_scratch/insert.sql"
                    speed_run "$sessions" "$commit" >"$bench_scratch/result"
                    lab_record "$table, synchronous_commit $commit" "$sessions" "$round" <"$bench_scratch/result"
                done
            done
        done
    done
    for key in "${scene_keys[@]}"; do lab_psql -c "DROP TABLE idgen_bench.$key"; done
done
table=narrow index=rows_pkey
