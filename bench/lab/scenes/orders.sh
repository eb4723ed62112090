# shellcheck shell=bash
#
# orders: an order with three lines and, later, a payment, with foreign keys and their indexes: the
# WAL of an order and of a payment, and the blocks that queries read while none is in memory.

orders_rate=200 orders_apart=$((60000000 / orders_rate))

orders_plan() {
    local key all
    one_of_each_kind random short_comb keyed_comb uuid_v7
    all=("${scene_keys[@]}")
    scene_keys=()
    for key in "${all[@]}"; do [[ ${key_column[$key]} != DEFAULT* ]] || scene_keys+=("$key"); done
    plan_turns ''
}

# Run a file for orders with their lines, or their payments: FILE KEY ROWS [PSQL-ARGUMENT ...]
orders_sql() {
    local file=$1 key=$2 rows=$3 value=${key_history[$2]}
    [ "$value" != default ] || value=${key_column[$key]#DEFAULT }
    lab_sql "$file" "$key" -v lines="${key}_lines" -v payments="${key}_payments" -v type="${key_type[$key]}" \
        -v value="$value" -v clock="${lab_clock[$key]}" -v spacing="$orders_apart" \
        -v number="${lab_rows[$key]}" -v rows="$rows" -v delay="$orders_delay" "${@:4}"
}

orders_load() {
    orders_sql orders "$1" "$2" || return 1
    lab_rows[$1]=$((lab_rows[$1] + $2))
    lab_clock[$1]=$((lab_clock[$1] + $2 * orders_apart))
}

orders_fill() {
    say "$1: loading $(bench_number "$orders_rows") orders"
    lab_rows[$1]=0
    lab_clock[$1]=$lab_cycle_start
    orders_sql order_tables "$1" 0 && orders_load "$1" "$orders_rows" && orders_sql payments "$1" "$orders_rows" &&
        orders_sql order_constraints "$1" 0
}

orders_measure() {
    local key=$1 repetition=$2
    say "$key: inserting $(bench_number "$orders_inserts") orders and payments, and reading"
    orders_load "$key" $((orders_rate * lab_minutes_before)) &&
        orders_sql payments "$key" $((orders_rate * lab_minutes_before)) &&
        orders_cost order orders_load "$key" "$orders_inserts" > "$bench_scratch/metrics" &&
        orders_cost payment orders_sql payments "$key" "$orders_inserts" >> "$bench_scratch/metrics" &&
        lab_vacuum "$key" && lab_vacuum "${key}_lines" && lab_vacuum "${key}_payments" &&
        orders_read >> "$bench_scratch/metrics" && lab_record "$key" '' '' "$repetition"
}

# not in a pipe, because the command sets variables
orders_cost() {
    lab_cost "$key" "$orders_inserts" "${@:2}" > "$bench_scratch/cost" &&
        sed -n "s/^wal_bytes_per_row/wal_bytes_per_$1/p" "$bench_scratch/cost"
}

# Print the number of blocks that each query reads; those of a given server may be in memory.
orders_read() {
    local query start
    lab_sql order_correlation "$key" || return 1
    [ "$server" = 0 ] || return 0
    start=$(bench_value "SELECT id FROM idgen_bench.$key
                         WHERE number = $((lab_rows[$key] * repetition / (repetitions + 1)))") || return 1
    for query in newest older by_key; do
        lab_restart && orders_sql order_queries "$key" "$orders_inserts" -v query="$query" -v start="$start" \
            > "$bench_scratch/plan" || return 1
        sed -n "s/.*\"Shared Read Blocks\": \([0-9]*\).*/blocks_$query \1/p; T; q" "$bench_scratch/plan"
    done
}
