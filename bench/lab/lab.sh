# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and common.sh
#
# lab.sh: the functions with which the scenes measure. To be sourced by run.sh.
#
# The table of a key is idgen_bench.NAME. The tables of all keys of a scene exist
# at the same time, so that the keys can take turns.
#
#   lab_open                      find the extensions that the server has
#   lab_table KEY                 create the key's table, empty
#   lab_load KEY ROWS SPACING [PIECE]
#                                 insert rows, SPACING microseconds of simulated time apart
#   lab_load_bulk KEY ROWS        insert rows of one minute, as in the bulk scene
#   lab_pgbench KEY ROWS CLIENTS  insert rows, one a transaction, at the server's time
#   lab_vacuum KEY                VACUUM the key's table
#   lab_before KEY, lab_after KEY around the measured inserts
#   lab_record SCENE KEY SERIES X REPETITION   append the metrics of lab_after to measurements.csv
#   lab_predict                   append the predictions of idgen.expected_key_cost()
#
# lab_load and lab_pgbench set inserted and took, in rows and seconds.

declare -A lab_rows         # the number of rows in the key's table
declare -A lab_clock        # the simulated time of the last row, in microseconds since 1970
declare -A before           # the counters before a measurement
inserted=0
took=0
warned=
lab_parts=()

# --- the extensions --------------------------------------------------------------

# Create an extension if it is missing; succeed if FUNCTION may be called.
lab_part() {
    local name=$1 function=$2 schema
    schema=$(bench_value "SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = '$name'")
    if [ -z "$schema" ]; then
        bench_extensions+=("$name")
        bench_value "CREATE EXTENSION $name SCHEMA idgen_bench" 2>/dev/null || return 1
        schema=idgen_bench
    fi
    lab_parts+=(-v "$name=$schema")
    [ "$(bench_value "SELECT has_function_privilege('$schema.$function', 'execute')" 2>/dev/null)" = t ]
}

# Without an extension other than pgstattuple, only its metrics are missing.
lab_open() {
    local have

    version_num=$(bench_value "SELECT current_setting('server_version_num')")
    bench_extension idgen_advisor
    lab_part pgstattuple 'pgstatindex(text)' || idgen_die "the laboratory needs the extension pgstattuple"
    have=false
    ! lab_part pg_walinspect 'pg_get_wal_stats(pg_lsn, pg_lsn, boolean)' || have=true
    lab_parts+=(-v "has_walinspect=$have")
    has_pageinspect=false
    [ "$(bench_value "SHOW is_superuser")" != on ] || ! lab_part pageinspect 'bt_page_stats(text, int8)' ||
        has_pageinspect=true
    if [ "$version_num" -ge 160000 ]; then have=true; else have=false; fi
    lab_parts+=(-v "has_block_info=$have")
    bench_psql -f "$BENCH/sql/functions.sql" || idgen_die "could not create functions in idgen_bench"
}

# Restart the private cluster with other shared buffers, if they differ.
lab_shared_buffers() {
    [ "$bench_server" = 0 ] || return 0
    [ "$(bench_value "SELECT current_setting('shared_buffers') = pg_size_pretty(pg_size_bytes('$1'))
                      OR pg_size_bytes(current_setting('shared_buffers')) = pg_size_bytes('$1')")" != t ] || return 0
    bench_value "ALTER SYSTEM SET shared_buffers = '$1'" && idgen_restart
}

# --- tables and rows --------------------------------------------------------

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

# Set the key's simulated clock to DAYS before now.
lab_clock_before_now() { lab_clock[$1]=$((${EPOCHREALTIME/./} - $2 * 86400000000)); }

# The last instant before 2026-02-02 at which the prefix of a period, in
# microseconds, starts again with 0. It is the same in each run, and no history
# reaches a second cycle by chance.
lab_cycle_start() {
    local cycle=$(($1 * 65536))
    echo $((1770000000000000 - 1770000000000000 % cycle))
}

# Insert ROWS rows, whose key is EXPRESSION, SPACING microseconds apart.
lab_insert() {
    local key=$1 expression=$2 rows=$3 spacing=$4 columns='id, payload' values="$2, i" seconds

    [ "$expression" != default ] || { columns=payload; values=i; }
    bench_psql -f "$BENCH/sql/load.sql" -v table="$key" -v columns="$columns" -v values="$values" \
        -v clock="${lab_clock[$key]}" -v spacing="$spacing" -v rows="$rows" -v number="${lab_rows[$key]}" > "$bench_scratch/load" || return 1
    read -r seconds < "$bench_scratch/load"
    took=$(awk -v a="$took" -v b="$seconds" 'BEGIN { print a + b }')
    inserted=$((inserted + rows))
    lab_rows[$key]=$((lab_rows[$key] + rows))
    lab_clock[$key]=$((lab_clock[$key] + rows * spacing))
}

# Load in pieces, whose transactions are not too large; a measured load is one piece.
lab_load() {
    local key=$1 rows=$2 spacing=$3 piece=${4:-250000} loaded

    inserted=0
    took=0
    for ((loaded = 0; loaded < rows; loaded += piece)); do
        lab_insert "$key" "${key_history[$key]}" "$((rows - loaded < piece ? rows - loaded : piece))" "$spacing" || return 1
    done
}

lab_load_bulk() {
    inserted=0
    took=0
    lab_insert "$1" "${key_bulk[$1]}" "$2" 0
}

lab_pgbench() {
    local key=$1 rows=$2 clients=$3 log=$bench_scratch/pgbench script=$BENCH/../$1.pgbench tps

    if [ ! -e "$script" ]; then
        script=$bench_scratch/insert.pgbench
        echo "INSERT INTO idgen_bench.$key (payload) VALUES (0);" > "$script"
    fi
    bench_pgbench -c "$clients" -j "$((clients < cores ? clients : cores))" -t "$(((rows + clients - 1) / clients))" \
        -f "$script" > "$log" 2>&1 || { cat "$log" >&2; return 1; }
    inserted=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$log")
    tps=$(sed -n 's/^tps = \([0-9.]*\).*without initial.*/\1/p' "$log")
    [ -n "$inserted" ] && [ -n "$tps" ] || return 1
    took=$(awk -v rows="$inserted" -v tps="$tps" 'BEGIN { print rows / tps }')
    lab_rows[$key]=$((lab_rows[$key] + inserted))
}

# Load a simulated history of ROWS rows and DAYS days that begins with a cycle.
fill_simulated() {
    local key=$1 rows=$2 days=$3

    say "$key: loading $(bench_number "$rows") rows of $days simulated days"
    lab_table "$key" || return 1
    lab_clock[$key]=$(lab_cycle_start 60000000)
    lab_load "$key" "$rows" "$((days * 86400000000 / rows))" && lab_vacuum "$key"
}

# --- one measurement --------------------------------------------------------

# Run a file of bench/lab/sql for the key's table.
lab_sql() {
    local file=$1 key=$2
    shift 2
    bench_psql -f "$BENCH/sql/$file.sql" -v key="$key" -v table="$key" -v index="${key}_pkey" \
        "${lab_parts[@]}" "$@"
}

# Read lines "name value" of a file into an associative array.
lab_read() {
    local -n values=$1
    local name value

    values=()
    while read -r name value; do values["$name"]=$value; done < "$2"
}

lab_before() {
    local by_prefix=false

    [[ ${key_type[$1]} != uuid || ${key_history[$1]} != *.short_comb\(* ]] || by_prefix=true
    # the counters from another session, so that they include the reads of the first
    lab_sql before "$1" -v by_prefix="$by_prefix" > "$bench_scratch/before" && lab_sql counts "$1" >> "$bench_scratch/before" &&
        lab_read before "$bench_scratch/before" || return 1
    index_rows=${lab_rows[$1]}
}

# Write the metrics of the inserts since lab_before to a file, "name value" a line.
# With "touches" also the number of touched leaves, and with "strip" also the
# lines of touches.csv.
lab_after() {
    local key=$1 want=${2:-} touches=false strip=false
    local -A after

    [ -z "$want" ] || touches=true
    [ "$want" != strip ] || strip=$has_pageinspect
    lab_sql counts "$key" > "$bench_scratch/counts" && lab_read after "$bench_scratch/counts" || return 1
    lab_sql after "$key" -v lsn="${before[lsn]}" -v end_lsn="${after[lsn]}" -v want_touches="$touches" \
        -v want_strip="$strip" -v strip="$bench_scratch/strip" -v points=400 > "$bench_scratch/after" || return 1
    [ "${before[redo]}" = "${after[redo]}" ] || [ -n "$warned" ] || {
        echo "warning: a checkpoint occurred during a measurement of $key; increase max_wal_size" >&2
        warned=1
    }
    {
        for name in "${!before[@]}"; do echo "before_$name ${before[$name]}"; done
        for name in "${!after[@]}"; do echo "after_$name ${after[$name]}"; done
        cat "$bench_scratch/after"
    } | awk -v rows="$inserted" -v seconds="$took" -v index_rows="$index_rows" '
        function show(name, value) { printf "%s %.10g\n", name, value }
        { value[$1] = $2 }
        END {
            show("inserted_rows", rows)
            show("index_rows", index_rows)
            show("leaf_pages", value["before_leaf_pages"])
            if ("before_prefix_rows" in value)
                show("prefix_rows", value["before_prefix_rows"])
            show("us_per_row", 1e6 * seconds / rows)
            show("rows_per_s", rows / seconds)
            show("wal_bytes_per_row", (value["after_wal_bytes"] - value["before_wal_bytes"]) / rows)
            show("fpi_per_row", (value["after_wal_fpi"] - value["before_wal_fpi"]) / rows)
            show("reads_per_row", (value["after_read"] - value["before_read"]) / rows)
            n = split("index_bytes leaf_density touched_leaf_pages", names, " ")
            for (i = 1; i <= n; i++)
                if (names[i] in value)
                    show(names[i], value[names[i]])
        }' > "$bench_scratch/metrics"
}

# Append the metrics to measurements.csv, which the first call creates.
lab_record() {
    lab_begin_results || return 1
    awk -v labels="$1,$2,$3,$4,$5" '{ print labels "," $1 "," $2 }' "$bench_scratch/metrics" \
        >> "$out/measurements.csv" || return 1
    wal=$(awk '$1 == "wal_bytes_per_row" { printf "%d", $2 + 0.5 }' "$bench_scratch/metrics")
}

# Append the model's prediction for each measurement.
lab_predict() {
    {
        echo "CREATE TEMPORARY TABLE measured (scene text, key text, series text, x float8, repetition int, metric text, value float8);"
        echo "COPY measured FROM STDIN (FORMAT csv, HEADER);"
        cat "$out/measurements.csv"
        echo "\\."
        cat "$BENCH/sql/model.sql"
    } | bench_psql -F , -v curve_interval="${size[curve_interval]}" -v wrap_rows="${size[wrap_rows]}" -v steady_days="${size[steady_days]}" \
        -v changeover_rows="${size[changeover_rows]}" -v changeover_rate="${size[changeover_rate]}" > "$bench_scratch/predictions" &&
        cat "$bench_scratch/predictions" >> "$out/measurements.csv"
}

# Append the lines of lab_after to touches.csv.
lab_record_strip() {
    [ -s "$bench_scratch/strip" ] || return 0
    [ -e "$out/touches.csv" ] || echo "key,row,block,blocks,position" > "$out/touches.csv"
    cat "$bench_scratch/strip" >> "$out/touches.csv"
    rm -f "$bench_scratch/strip"
}
