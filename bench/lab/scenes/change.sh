# shellcheck shell=bash disable=SC2034,SC2154
#
# change: the default of a table with random keys is changed. The scene measures the WAL of the next rows, and how much
# the index grows when many rows are added. Rows are inserted in one INSERT, with the default and the server's clock, or
# at a given rate of the simulated clock.

lab_keys random uuid_v7 keyed_comb
lab_set

# Recreate the table with random keys, and change the default. Arguments: ROWS.
change_fill() {
    local new=$key
    key=random
    lab_fill "$1" 200
    key=$new
    lab_psql -c "ALTER TABLE idgen_bench.rows ALTER id SET DEFAULT ${key_default[$key]}"
    [ "$rate" = 0 ] || spacing=$((60000000 / rate))
}

change_insert() {
    if [ "$rate" = 0 ]; then
        lab_psql -c "INSERT INTO idgen_bench.rows (payload) SELECT generate_series(1, $1)"
        rows=$((rows + $1))
    else
        lab_load "$1"
    fi
}

# Measure rows after a checkpoint. Arguments: ROWS PLACE.
change_measure() {
    lab_before
    change_insert "$1"
    lab_after "$1" >"$bench_scratch/result"
    lab_lsn
    lab_psql -f "$BENCH/sql/index_wal.sql" -v lsn="$lsn" -v end_lsn="$end_lsn" -v rows="$1" >>"$bench_scratch/result"
    lab_record "$series" "$1" "$2" <"$bench_scratch/result"
}

# Record how much an index of random keys grows when the same number of rows is added, in several tables.
change_growth() {
    local size="pg_relation_size('idgen_bench.rows_pkey')" before place
    for ((place = 1; place <= change_tables; place++)); do
        change_fill "$change_added"
        before=$(bench_value "SELECT $size")
        change_insert "$change_added"
        bench_value "SELECT 'index_mb', $size / 1e6
                     UNION ALL SELECT 'growth_bytes_per_row', round(($size - $before) / $change_added.0, 3)" |
            lab_record "$series" "$change_added" "$place"
    done
}

rate=0 series='one INSERT'
for key in "${scene_keys[@]}"; do
    # Use a new table for each measurement, because further rows of the same five minutes would be inserted on the same
    # pages.
    for ((place = 1; place <= change_tables; place++)); do
        change_fill "$change_rows"
        change_measure "$change_inserts" "$place"
    done
    change_growth
done

for rate in ${change_rates//,/ }; do
    series="$rate rows a minute"
    for key in "${scene_keys[@]}"; do
        change_fill "$change_rows"
        for minutes in ${change_minutes//,/ }; do
            for ((place = 1; place <= change_places; place++)); do
                lab_lead "$rate"
                change_measure $((rate * minutes)) "$place"
            done
        done
        change_growth
    done
done
