# shellcheck shell=bash disable=SC2034,SC2154
#
# orders: orders with three lines each, and an index on the foreign key. The scene measures the WAL of an order, and the
# blocks that a query reads when none of them is in shared buffers.

lab_keys random uuid_v7 keyed_comb
lab_set
orders_rate=200 spacing=$((60000000 / orders_rate))

orders_load() {
    lab_psql -f "$BENCH/sql/orders.sql" -v value="${key_simulated[$key]}" -v clock="$clock" -v spacing="$spacing" \
        -v number="$rows" -v rows="$1"
    rows=$((rows + $1)) clock=$((clock + $1 * spacing))
}

for key in "${scene_keys[@]}"; do
    say "loading $(bench_number "$orders_rows") orders"
    clock=$cycle_start
    lab_table "ALTER TABLE idgen_bench.rows ADD created timestamptz, ADD note text DEFAULT repeat('x', 60);
        CREATE INDEX ON idgen_bench.rows (created);
        CREATE TABLE idgen_bench.lines (id ${key_type[$key]} PRIMARY KEY, order_id ${key_type[$key]} NOT NULL,
            note text DEFAULT repeat('y', 40)) WITH (autovacuum_enabled = false);
        CREATE INDEX ON idgen_bench.lines (order_id)"
    orders_load "$orders_rows"
    for ((round = 1; round <= orders_rounds; round++)); do
        orders_load $((orders_rate * 17 + RANDOM % 1000))
        lab_before
        orders_load "$orders_inserts"
        lab_after "$orders_inserts" >"$bench_scratch/result"
        lab_psql -o /dev/null -c "$lab_flush" -c "VACUUM ANALYZE idgen_bench.rows, idgen_bench.lines"
        lab_restart
        lab_psql -f "$BENCH/sql/newest.sql" | sed -n 's/.*"Shared Read Blocks": \([0-9]*\).*/newest_blocks \1/p; T; q' \
            >>"$bench_scratch/result"
        lab_record 'an order with its lines' '' "$round" <"$bench_scratch/result"
    done
    lab_psql -c "DROP TABLE idgen_bench.lines"
done
