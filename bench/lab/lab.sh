# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # run.sh, common.sh and the scenes use these variables
#
# lab.sh: functions for the measurements of the scenes. run.sh sources this file.
#
# A scene is a script that fills the table idgen_bench.rows with one kind of key after another, and measures the cost.
# Any error ends the laboratory.

key=                # the key of the table
rows=0              # its number of rows
clock=0             # the simulated time of the last row, in microseconds since 1970
spacing=0           # the microseconds between two rows
table=narrow        # sql/narrow.sql, sql/usual.sql or sql/list.sql creates the table
index=rows_pkey     # the index whose blocks are counted
lab_settings=       # settings of the server that differ from those at its start
session_rows=1000000000     # the rows that a session inserts before another one continues

# The last time before 2026-02-02 at which the minute prefix restarts at 0. It is the same in each run, so that no
# history reaches a second cycle by chance.
cycle_start=$((1770000000000000 - 1770000000000000 % (60000000 * 65536)))

say() { bench_progress "$scene${key:+, $key}: $*"; }
lab_die() { idgen_die "scene $scene, $key: $*"; }

lab_open() {
    local extension
    for extension in pgstattuple pg_walinspect pageinspect; do
        bench_value "CREATE EXTENSION $extension SCHEMA idgen_bench" ||
            idgen_die "the laboratory requires the extension $extension, a part of the server's packages"
    done
    bench_psql -c "CREATE SEQUENCE idgen_bench.numbers START 1000000000" \
        -c "CREATE UNLOGGED SEQUENCE idgen_bench.arrivals" || idgen_die "could not create sequences in idgen_bench"
}

# Set scene_keys to the keys of --keys or, without that option, to the given keys.
lab_keys() {
    scene_keys=("$@")
    [ ${#keys_wanted[@]} = 0 ] || scene_keys=("${keys_wanted[@]}")
}

lab_psql() { bench_psql "$@" || lab_die "psql failed"; }

# Restart the server with its initial settings and the given ones. Arguments: SETTING=VALUE ...
lab_restart() {
    {
        echo "ALTER SYSTEM RESET ALL;"
        idgen_settings "$@" | sed -n '/=/ s/.*/ALTER SYSTEM SET &;/p'
    } | bench_psql && idgen_pg_ctl restart || lab_die "could not restart the server with $*"
    lab_settings=$*
}

# Restart the server if its settings differ from the given ones. Arguments: SETTING=VALUE ...
lab_set() { [ "$lab_settings" = "$*" ] || lab_restart "$@"; }

# Return whether the server supports SETTING=VALUE. It may be too old, or may have been built without a compression
# method.
lab_can() {
    local known="SELECT coalesce('${1#*=}' = ANY (enumvals), true) FROM pg_settings WHERE name = '${1%%=*}'"
    [ "$(bench_value "$known")" = t ] || { say "without $1"; return 1; }
}

# Create the empty table. The statements can add columns or change the primary key. Arguments: [STATEMENTS].
# shellcheck disable=SC2120  # some scenes pass statements
lab_table() {
    rows=0
    lab_psql -c "DROP TABLE IF EXISTS idgen_bench.rows"
    lab_psql -f "$BENCH/sql/$table.sql" -v type="${key_type[$key]}" -v default="${key_default[$key]}"
    [ -z "${1:-}" ] || lab_psql -c "$1"
}

# VACUUM does not mark a page as all-visible if the last commit on the page was asynchronous and has not been flushed
# yet. A synchronous commit that writes WAL flushes it.
lab_flush="SET synchronous_commit = local; SELECT pg_logical_emit_message(true, 'idgen_bench', '')"
lab_vacuum() { lab_psql -o /dev/null -c "$lab_flush" -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.rows"; }

# Print an INSERT of rows of simulated time, whose numbers the query NUMBERS returns. Arguments: NUMBERS
# [KEY-EXPRESSION].
lab_insert() {
    local columns=id,payload values=i
    case $table in
        list) columns=id,created,payload values=moment,i ;;
        usual)
            columns=id,customer,created,token,note
            values="1 + floor(random() * 100000)::int, moment, md5(random()::text), repeat('x', 200)"
            ;;
    esac
    echo "INSERT INTO idgen_bench.rows ($columns)
        SELECT ${2:-${key_simulated[$key]}}, $values
        FROM (SELECT timestamptz 'epoch' + ($clock + (i - $rows) * $spacing) * interval '1 microsecond' AS moment, i
              FROM ($1) numbers (i)) arrivals;"
}

# Insert rows of simulated time in chronological order, so that the index has the same shape as after real inserts.
# Arguments: ROWS.
lab_load() {
    local part left=$1
    while [ "$left" -gt 0 ]; do
        part=$((left < session_rows ? left : session_rows))
        lab_insert "SELECT generate_series($rows + 1::bigint, $rows + $part)" >"$bench_scratch/insert.sql"
        lab_psql -f "$bench_scratch/insert.sql"
        left=$((left - part)) rows=$((rows + part)) clock=$((clock + part * spacing))
    done
}

# Recreate the table with rows that begin at the start of a cycle of the short prefix, or that end now. Arguments: ROWS
# ROWS-PER-MINUTE [now].
lab_fill() {
    say "loading $(bench_number "$1") rows, $2 a minute"
    spacing=$((60000000 / $2)) clock=$cycle_start
    [ -z "${3:-}" ] || clock=$((${EPOCHREALTIME/./} - $1 * spacing))
    lab_table
    lab_load "$1"
    lab_vacuum
}

# Insert the rows of 17 to 22 minutes before a measurement, so that the measurement begins at a random point within an
# hour and within five minutes. Arguments: ROWS-PER-MINUTE.
lab_lead() { lab_load $(($1 * 17 + RANDOM % ($1 * 5))); }
RANDOM=1        # seed the generator, so that each run uses the same sequence

# --- One measurement --------------------------------------------------------

# Read the index, make a checkpoint, and save the counters.
lab_before() {
    lab_psql -f "$BENCH/sql/before.sql" -f "$BENCH/sql/counts.sql" -v index="$index" >"$bench_scratch/before"
}

# Print "NAME VALUE" for the index, and for the counters per row, after ROWS rows have been inserted since lab_before.
# Arguments: ROWS.
lab_after() {
    lab_psql -f "$BENCH/sql/counts.sql" -f "$BENCH/sql/index.sql" -v index="$index" -v rows="$rows" \
        >"$bench_scratch/after"
    lab_differences "$1"
}

lab_differences() {
    awk -v rows="$1" '
        NR == FNR { before[$1] = $2; next }
        $1 == "redo" && $2 != before[$1] { print "warning: a checkpoint occurred in a measurement" >"/dev/stderr" }
        !($1 in before) { print }
        $1 in before && /_per_row/ { printf "%s %.8g\n", $1, ($2 - before[$1]) / rows }
    ' "$bench_scratch/before" "$bench_scratch/after"
}

# Set lsn and end_lsn to the WAL positions at lab_before and lab_after as numbers of bytes.
lab_lsn() {
    read -r _ lsn end_lsn < <(join <(grep '^lsn' "$bench_scratch/before") <(grep '^lsn' "$bench_scratch/after"))
}

# Append metrics to measurements.csv. The standard input has one "NAME VALUE" per line. Arguments: SERIES X REPETITION.
lab_record() {
    [ -e "$out/measurements.csv" ] || begin_results
    say "$1${2:+, $2}: $(awk -v line="$scene,$key,\"$1\",$2,$3," -v file="$out/measurements.csv" '
        { print line $1 "," $2 >>file }
        /wal_|rows|replay|growth/ && !/index/ { printf "%s%s", sep, $0; sep = ", " }')"
}

# Measure rows of simulated time. Arguments: ROWS SERIES X REPETITION.
lab_measure() {
    lab_before
    lab_load "$1"
    lab_after "$1" >"$bench_scratch/result"
    lab_record "$2" "$3" "$4" <"$bench_scratch/result"
}

# Print the number of bytes that the server's processes have passed to write() since the server was started. The
# postmaster's number includes the processes that have exited and that it has waited for. The sum is read until it is
# the same twice, because a process may exit in the meantime.
lab_written() {
    local postmaster pid before='' sum=none
    postmaster=$(head -n 1 "$IDGEN_WORK/data/postmaster.pid")
    while [ "$sum" != "$before" ]; do
        before=$sum
        sleep 0.1
        sum=$({ echo "$postmaster"; pgrep -P "$postmaster"; } | while read -r pid; do cat "/proc/$pid/io"; done |
            awk '/^wchar/ { bytes += $2 } END { printf "%.0f\n", bytes }')
    done
    echo "$sum"
}
