# shellcheck shell=bash disable=SC2034,SC2154
#
# bulk: many rows at once, with keys by the server's clock, in a table with the rows of a year. The rows are inserted in
# one INSERT, by eight sessions, and in one INSERT whose keys alternate between twelve areas.

lab_keys random uuid_v7 short_comb keyed_comb
lab_set shared_buffers="$bulk_shared_buffers"

# Insert rows with the key EXPRESSION in the given number of sessions. Arguments: EXPRESSION SESSIONS.
bulk_insert() {
    local part=$((bulk_inserts / $2))
    echo "INSERT INTO idgen_bench.rows SELECT $1, i FROM generate_series(1, $part) i;" >"$bench_scratch/insert.sql"
    bench_pgbench -c "$2" -t 1 -f "$bench_scratch/insert.sql" || lab_die "pgbench failed"
    rows=$((rows + part * $2))
}

# Measure a way of inserting rows. Arguments: SERIES EXPRESSION SESSIONS.
bulk_measure() {
    lab_fill "$bulk_rows" $((bulk_rows / 525960 + 1)) now
    lab_before
    bulk_insert "${@:2}"
    lab_after "$bulk_inserts" >"$bench_scratch/result"
    lab_record "$1" '' 1 <"$bench_scratch/result"
}

for key in "${scene_keys[@]}"; do
    bulk_measure 'one INSERT' "${key_default[$key]}" 1
    bulk_measure '8 sessions' "${key_default[$key]}" 8
    [ "$key" != keyed_comb ] || bulk_measure '12 areas' "idgen.keyed_comb('area ' || i % 12)" 1
done
