# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and common.sh
#
# lab.sh: the functions with which the scenes measure. To be sourced by run.sh.
#
# The table of a key is idgen_bench.NAME. The tables of all keys of a scene exist
# at the same time, so that the keys can take turns.

declare -A lab_rows         # the number of rows in the key's table
declare -A lab_clock        # the simulated time of the last row, in microseconds since 1970
inserted=0 took=0           # the rows of an insert, and its seconds
warned=
lab_parts=()

# The last instant before 2026-02-02 at which the prefix of a minute starts again with
# 0. It is the same in each run, and no history reaches a second cycle by chance.
lab_cycle_start=$((1770000000000000 - 1770000000000000 % (60000000 * 65536)))

# --- the server -------------------------------------------------------------------

# Create an extension if it is missing; succeed if FUNCTION may be called.
lab_part() {
    local name=$1 function=$2 schema
    bench_extension "$name" SCHEMA idgen_bench 2>/dev/null || return 1
    schema=$(bench_value "SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = '$name'")
    lab_parts+=(-v "$name=$schema")
    [ "$(bench_value "SELECT has_function_privilege('$schema.$function', 'execute')" 2>/dev/null)" = t ]
}

# Without an extension other than pgstattuple, only its metrics are missing.
lab_open() {
    bench_extension idgen_advisor || idgen_die "could not create the extension idgen_advisor"
    lab_part pgstattuple 'pgstatindex(text)' || idgen_die "the laboratory needs the extension pgstattuple"
    has_walinspect=false has_pageinspect=false
    ! lab_part pg_walinspect 'pg_get_wal_records_info(pg_lsn, pg_lsn)' || has_walinspect=true
    [ "$(bench_value "SHOW is_superuser")" != on ] || ! lab_part pageinspect 'bt_page_stats(text, int8)' ||
        has_pageinspect=true
    # for sequence_comb()
    bench_psql -c "CREATE SEQUENCE idgen_bench.numbers" || idgen_die "could not create a sequence in idgen_bench"
}

# Restart the private cluster with the settings of its start and these, SETTING=VALUE ...
lab_restart() {
    local setting
    [ "$server" = 0 ] || return 0
    bench_value "ALTER SYSTEM RESET ALL" || return 1
    for setting; do bench_value "ALTER SYSTEM SET ${setting%%=*} = '${setting#*=}'" || return 1; done
    idgen_pg_ctl restart
}

# Restart the private cluster with other shared buffers, if they differ.
lab_shared_buffers() {
    [ "$server" = 1 ] ||
        [ "$(bench_value "SELECT pg_size_bytes(current_setting('shared_buffers')) - pg_size_bytes('$1')")" = 0 ] ||
        lab_restart "shared_buffers=$1"
}

# --- tables and rows --------------------------------------------------------

# Create the table of a key, empty.
lab_table() {
    lab_rows[$1]=0
    bench_psql -f "$BENCH/sql/table.sql" -v table="$1" -v type="${key_type[$1]}" -v column="${key_column[$1]}"
}

# VACUUM marks no page as all-visible whose last commit is asynchronous and not yet
# flushed; a synchronous one that writes WAL flushes it.
lab_vacuum() {
    bench_psql -o /dev/null -c "SET synchronous_commit = local" -c "SELECT pg_logical_emit_message(true, 'idgen_bench', '')" \
        -c "VACUUM idgen_bench.$1"
}

# Set columns and values of an INSERT with this key and payload.
lab_values() {
    columns='id, payload' values="$1, $2"
    [ "$1" != default ] || { columns=payload; values=$2; }
}

# Insert ROWS rows, whose key is EXPRESSION, SPACING microseconds apart.
lab_insert() {
    local key=$1 rows=$3 spacing=$4 columns values
    lab_values "$2" i
    bench_psql -f "$BENCH/sql/load.sql" -v table="$key" -v columns="$columns" -v values="$values" \
        -v clock="${lab_clock[$key]}" -v spacing="$spacing" -v rows="$rows" -v number="${lab_rows[$key]}" \
        > "$bench_scratch/load" || return 1
    read -r took < "$bench_scratch/load"
    inserted=$rows
    lab_rows[$key]=$((lab_rows[$key] + rows))
    lab_clock[$key]=$((lab_clock[$key] + rows * spacing))
}

# Insert rows, SPACING microseconds of simulated time apart: KEY ROWS SPACING.
lab_load() { lab_insert "$1" "${key_history[$1]}" "$2" "$3"; }

# Make the table anew, with rows from the beginning of a cycle of the short prefix on: KEY ROWS SPACING.
lab_fill() {
    lab_clock[$1]=$lab_cycle_start
    lab_table "$1" && lab_load "$@" && lab_vacuum "$1"
}

# The rows of these minutes, inserted before each measurement, let it begin anywhere in the time of a prefix.
lab_minutes_before=17

# Insert rows of one minute; see keys.txt.
lab_load_bulk() {
    local expression=default
    [[ ${key_history[$1]} != *.short_comb\(* ]] || expression=${key_history[$1]/run_length => 1, /}
    lab_insert "$1" "$expression" "$2" 0
}

# --- one measurement --------------------------------------------------------

# Run a file of bench/lab/sql for the key's table.
lab_sql() {
    local file=$1 key=$2
    shift 2
    bench_psql -f "$BENCH/sql/$file.sql" -v key="$key" -v table="$key" -v index="${key}_pkey" \
        "${lab_parts[@]}" "$@"
}

# lab_before and lab_after are around the inserts that are measured.
lab_before() {
    local by_prefix=false
    # which the models of age and disk do not need
    [[ $scene =~ ^(age|disk)$ || ${key_type[$1]} != uuid || ${key_history[$1]} != *.short_comb\(* ]] || by_prefix=true
    index_rows=${lab_rows[$1]}
    # the counters from another session, so that they include the reads of the first
    lab_sql before "$1" -v by_prefix="$by_prefix" > "$bench_scratch/state" &&
        lab_sql counts "$1" > "$bench_scratch/before"
}

# Print the differences of the counters since $bench_scratch/before, a row, of that many rows.
lab_differences() {
    local redo end_redo
    lab_sql counts "$1" | paste -d ' ' "$bench_scratch/before" - > "$bench_scratch/counts" || return 1
    read -r _ redo _ end_redo < <(grep '^redo ' "$bench_scratch/counts")
    [ "$redo" = "$end_redo" ] || [ -n "$warned" ] || {
        echo "warning: a checkpoint occurred during a measurement of $1; increase max_wal_size" >&2
        warned=1
    }
    awk -v rows="$2" '$1 ~ /_per_row$/ { printf "%s %.10g\n", $1, ($4 - $2) / rows }' "$bench_scratch/counts"
}

# Print the counters of a command after a checkpoint, a row: KEY ROWS COMMAND ...
lab_cost() {
    bench_value CHECKPOINT && lab_sql counts "$1" > "$bench_scratch/before" && "${@:3}" && lab_differences "$1" "$2"
}

# Write the metrics of the inserts since lab_before to a file, "name value" a line. With "touches" also the
# number of touched leaves, and with "strip" also the lines of touches.csv.
lab_after() {
    local key=$1 want=${2:-} touches=false strip=false lsn end_lsn
    [ -z "$want" ] || touches=$has_walinspect
    [ "$want" != strip ] || strip=$has_pageinspect
    lab_differences "$key" "$inserted" > "$bench_scratch/differences" || return 1
    read -r _ lsn _ end_lsn < <(grep '^lsn ' "$bench_scratch/counts")
    {
        cat "$bench_scratch/state"
        printf '%s %s\n' inserted_rows "$inserted" index_rows "$index_rows"
        awk -v rows="$inserted" -v seconds="$took" \
            'BEGIN { printf "us_per_row %.10g\nrows_per_s %.10g\n", 1e6 * seconds / rows, rows / seconds }'
        cat "$bench_scratch/differences"
        lab_sql after "$key" -v lsn="$lsn" -v end_lsn="$end_lsn" -v want_touches="$touches" \
            -v want_strip="$strip" -v strip="$bench_scratch/strip" -v points=400
    } > "$bench_scratch/metrics"
}

# Measure rows that are inserted by one statement: KEY ROWS SPACING.
lab_measure() { lab_before "$1" && lab_load "$1" "$2" "$3" && lab_after "$1" "${4:-}"; }

# Append the metrics of lab_after to measurements.csv: KEY SERIES X REPETITION
lab_record() {
    local wal
    lab_begin_results &&
        sed "s/ /,/; s/^/$scene,$1,$2,$3,$4,/" "$bench_scratch/metrics" >> "$out/measurements.csv" || return 1
    wal=$(sed -nE 's/^wal_bytes_per_row ([0-9]+).*/\1/p' "$bench_scratch/metrics")
    [ -z "$wal" ] || bench_progress "$scene, $1${2:+, $2}${3:+, $3}: $wal bytes of WAL a row"
}

# Append the model's prediction for each measurement.
lab_predict() {
    bench_query "scene text, key text, series text, x float8, repetition int, metric text, value float8" \
        <(tail -n +2 "$out/measurements.csv") -F , -v steady_days="$steady_days" -v changeover_rows="$changeover_rows" \
        -v changeover_rate="$changeover_rate" < "$BENCH/sql/model.sql" > "$bench_scratch/predictions" &&
        cat "$bench_scratch/predictions" >> "$out/measurements.csv"
}

# Append the lines of lab_after to touches.csv.
lab_record_strip() {
    [ -s "$bench_scratch/strip" ] || return 0
    [ -e "$out/touches.csv" ] || echo "key,row,block,blocks,position" > "$out/touches.csv"
    cat "$bench_scratch/strip" >> "$out/touches.csv"
    rm -f "$bench_scratch/strip"
}
