# shellcheck shell=bash disable=SC2034,SC2154
#
# usual: a typical table of an application, compared with a table that has only a key. The scene measures the WAL per
# row and all bytes that the server writes per row, depending on the number of rows per commit, on synchronous_commit,
# and on other settings. It also measures the bytes that VACUUM writes.

lab_keys bigint random uuid_v7 keyed_comb hmac_comb
IFS=, read -ra usual_numbers <<<"$usual_rows"
IFS=, read -ra usual_history_rates <<<"$usual_history"
usual_rate=200

# Insert rows of simulated time in one session. Arguments: ROWS ROWS-PER-COMMIT SYNCHRONOUS_COMMIT.
usual_insert() {
    lab_insert "SELECT nextval('idgen_bench.arrivals') FROM generate_series(1, $2)" >"$bench_scratch/insert.sql"
    lab_psql -c "ALTER SEQUENCE idgen_bench.arrivals RESTART $((rows + 1))"
    PGOPTIONS="$PGOPTIONS -c synchronous_commit=$3" bench_pgbench -t $(($1 / $2)) -f "$bench_scratch/insert.sql" ||
        lab_die "pgbench failed"
    rows=$((rows + $1)) clock=$((clock + $1 * spacing))
}

# Print the metrics of a command and of the checkpoint after it, divided by ROWS. Arguments: ROWS COMMAND ...
usual_cost() {
    local written
    lab_before
    written=$(lab_written)
    "${@:2}"
    lab_after "$1"
    lab_psql -c CHECKPOINT
    echo "written_bytes_per_row $((($(lab_written) - written) / $1))"
}

# Measure each number of rows after a checkpoint, at several places. Arguments: SERIES ROWS-PER-COMMIT
# SYNCHRONOUS_COMMIT.
usual_measure() {
    local number place
    for number in ${usual_inserts//,/ }; do
        for ((place = 1; place <= usual_places; place++)); do
            lab_lead "$usual_rate"
            usual_cost "$number" usual_insert "$number" "${@:2}" >"$bench_scratch/result"
            lab_record "$1" "$number" "$place" <"$bench_scratch/result"
        done
    done
}

usual_vacuum() {
    local deleted=$((rows / 20))
    lab_vacuum
    lab_psql -c "DELETE FROM idgen_bench.rows WHERE ctid < (SELECT max(ctid) FROM
        (SELECT ctid FROM idgen_bench.rows ORDER BY ctid LIMIT $deleted) oldest)"
    usual_cost "$deleted" lab_psql -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.rows" >"$bench_scratch/result"
    lab_record "$table, 5 years, VACUUM" '' 1 <"$bench_scratch/result"
}

for table in ${usual_tables//,/ }; do
    for age in 0 1; do
        names=(new "5 years")
        for key in "${scene_keys[@]}"; do
            lab_set shared_buffers=256MB
            lab_fill "${usual_numbers[age]}" "${usual_history_rates[age]}"
            spacing=$((60000000 / usual_rate))
            for commit in ${usual_commits//,/ }; do
                usual_measure "$table, ${names[age]}, ${commit/:/ a commit, }" "${commit%:*}" "${commit#*:}"
                # Measure a new table only once, because it grows, and the cost of random keys depends on its size.
                [ "$age" = 1 ] || continue 2
            done
            for setting in ${usual_settings//,/ }; do
                lab_can "$setting" || continue
                lab_set shared_buffers=256MB "$setting"
                usual_measure "$table, ${names[age]}, ${setting/=/ }" 50 off
            done
            lab_set shared_buffers=256MB
            usual_vacuum
        done
    done
done
table=narrow
