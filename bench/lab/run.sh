#!/usr/bin/env bash
#
# run.sh: the laboratory: measure the cost of each kind of primary key.
#
#   bench/lab/run.sh [OPTION ...]
#
#   --scene NAME,...     scenes (default all): curve, age, rates, disk, backup, orders, tenants, steady, bulk,
#                        delete, reindex, changeover
#   --quick              small sizes
#   --repetitions N      measurements of each point (default 3, with --quick 1)
#   --keys A,B,...       keys, by their names in keys.txt (default: all in steady and bulk, seven in the other scenes)
#   --key NAME=TYPE:EXPRESSION    another key, in all scenes; a clock in the expression is written as moment
#   --SCENE.SIZE VALUE   a size of sizes.txt, such as --steady.rows 5000000
#   --shared-buffers S   of the private cluster (default 256MB)
#   --out FOLDER         write the results there (default bench/lab/report/DATE)
#   --no-report          only the CSV files
#   --server             use the server of PGHOST, PGPORT ... and not a private cluster; requires CHECKPOINT and pgstattuple
#   --quiet              no progress
#   --help               this text
#
# The report describes the scenes. Progress is written to stderr, a table to stdout, and measurements.csv, keys.csv,
# settings.csv, touches.csv and a report to the folder; an interrupted run keeps its measurements there. Everything
# else that a run creates is removed at the end.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$BENCH/lab.sh"

# the keys of scenes other than steady and bulk
sweep_names=(bigint random uuid_v7 snowflake short_comb short_comb_run keyed_comb)

# --- sizes and options ------------------------------------------------------

scene=curve,age,rates,disk,backup,orders,tenants,steady,bulk,delete,reindex,changeover
quick=0 repetitions='' keys='' key='' shared_buffers=256MB out='' no_report=0 quiet=0
names="scene quick? repetitions# keys key shared_buffers out no_report? quiet? server?"

# The lines of a list without comments, with the columns trimmed and separated by |.
list() { sed -E ':a; /\\$/ { N; s/ *\\\n *//; ta }; s/^#.*//; /^[[:space:]]*$/d; s/[[:space:]]*\|[[:space:]]*/|/g; s/[[:space:]]+$//' "$BENCH/$1"; }

# steady.rows is in the variable steady_rows
sizes=()
while IFS='|' read -r name full small _; do
    name=${name/./_}
    [[ " $* " != *" --quick "* ]] || full=$small
    printf -v "$name" %s "$full"
    sizes+=("$name")
    names+=" $name"
    [[ $full = *[!0-9]* ]] || names+='#'
done < <(list sizes.txt)

bench_options "$names" "$@"
[ -n "$repetitions" ] || repetitions=$((quick ? 1 : 3))

IFS=, read -ra scenes <<<"$scene"
for scene in "${scenes[@]}"; do
    [ -e "$BENCH/scenes/$scene.sh" ] || idgen_die "unknown scene \"$scene\"; see --help"
    # shellcheck disable=SC1090
    . "$BENCH/scenes/$scene.sh"
done

[ -n "$out" ] || out=$BENCH/report/$(date '+%Y-%m-%d_%H%M%S')
[ ! -e "$out/measurements.csv" ] || idgen_die "$out already contains measurements"

# --- the keys ---------------------------------------------------------------

declare -A key_type key_column key_history
known=()
while IFS='|' read -r name type column history; do
    known+=("$name")
    key_type[$name]=$type
    key_column[$name]=$column
    key_history[$name]=$history
done < <(list keys.txt)

keys_wanted=$keys
IFS=, read -ra keys <<<"$keys_wanted"
if [ -n "$key" ]; then
    [[ $key =~ ^([a-z][a-z0-9_]*)=([^:]+):(.+)$ ]] ||
        idgen_die "--key requires NAME=TYPE:EXPRESSION, not \"$key\""
    name=${BASH_REMATCH[1]}
    expression=${BASH_REMATCH[3]}
    [ -z "${key_type[$name]:-}" ] || idgen_die "keys.txt already has a key \"$name\""
    known+=("$name")
    sweep_names+=("$name")
    [ -z "$keys_wanted" ] || [[ ",$keys_wanted," = *",$name,"* ]] || keys+=("$name")
    key_type[$name]=${BASH_REMATCH[2]}
    key_column[$name]="DEFAULT $(sed -E 's/\bmoment\b/clock_timestamp()/g' <<<"$expression")"
    key_history[$name]=default
    [[ ! $expression =~ (^|[^a-z0-9_])moment($|[^a-z0-9_]) ]] || key_history[$name]=$expression
fi
if [ -n "$keys_wanted" ]; then sweep_names=("${keys[@]}"); else keys=("${known[@]}"); fi
for name in "${keys[@]}"; do
    [ -n "${key_type[$name]:-}" ] || idgen_die "unknown key \"$name\"; the keys are: ${known[*]}"
done

# Leave out the keys that the server cannot generate, unless they were named as options.
choose_keys() {
    local name columns values reason able=()
    sweep_keys=()
    for name in "${keys[@]}"; do
        lab_values "${key_history[$name]}" 0
        if bench_psql -f "$BENCH/sql/can_make.sql" -v type="${key_type[$name]}" -v column="${key_column[$name]}" \
            -v columns="$columns" -v values="$values" 2> "$bench_scratch/error"; then
            able+=("$name")
            [[ " ${sweep_names[*]} " != *" $name "* ]] || sweep_keys+=("$name")
            continue
        fi
        reason=$(sed -n '/ERROR:/ { s/.*ERROR: *//p; q }' "$bench_scratch/error")
        [ -z "$keys_wanted" ] && [ "$name" != "${key%%=*}" ] ||
            idgen_die "this server cannot generate $name: $reason"
        bench_progress "without $name: $reason"
    done
    keys=("${able[@]}")
}

# --- the plan ---------------------------------------------------------------

# Each scene lists its steps beforehand: the scene, a function and its arguments.
plan=()

# A step of each key: plan_keys NAME [ARGUMENT ...] calls SCENE_NAME KEY [ARGUMENT ...].
# The keys take turns, so that a slow minute affects all of them.
plan_keys() {
    local key
    for key in "${scene_keys[@]}"; do plan+=("$scene ${scene}_$1 $key ${*:2}"); done
}

# A list of whole numbers greater than zero, separated by commas; $1 is its option.
require_numbers() {
    [[ $2 =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || idgen_die "$1 requires whole numbers separated by commas, not \"$2\""
}

# Without --keys, measure those of the given keys that the server can generate.
one_of_each_kind() {
    local key
    [ -z "$keys_wanted" ] || return 0
    scene_keys=()
    for key; do [[ " ${sweep_keys[*]} " != *" $key "* ]] || scene_keys+=("$key"); done
}

# Fill the table of each key, and measure it in each repetition with each of the arguments.
plan_turns() {
    local repetition argument
    ! declare -F "${scene}_fill" >/dev/null || plan_keys fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for argument; do plan_keys measure "$repetition" "$argument"; done
    done
}

# Inserts before a measurement: a twentieth of the measured ones.
warmup() { echo $(($1 < 20 ? 1 : $1 / 20)); }
index_bytes() { sed -n 's/^index_bytes //p' "$bench_scratch/metrics"; }
quotient() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'; }
say() { bench_progress "step $number/${#plan[@]}: $scene, $*"; }

# --- the results ------------------------------------------------------------

# Called with the first measurement, so that no folder is without any.
lab_begin_results() {
    local name label
    [ ! -e "$out/measurements.csv" ] || return 0
    {
        echo "key,label,type"
        for name in "${keys[@]}"; do
            label=${key_column[$name]}
            [[ $label = DEFAULT* ]] || label="$name identity"
            echo "$name,$(bench_quoted "${label#DEFAULT }"),$(bench_quoted "${key_type[$name]}")"
        done
    } > "$out/keys.csv"
    cp "$bench_scratch/settings" "$out/settings.csv" &&
        echo "scene,key,series,x,repetition,metric,value" > "$out/measurements.csv"
}

settings() {
    local name
    bench_settings && echo "repetitions,$repetitions" || return 1
    for name in "${sizes[@]}"; do
        [[ " ${scenes[*]} " != *" ${name%%_*} "* ]] || echo "${name/_/.},$(bench_quoted "${!name}")"
    done | sort
}

# On exit, also when interrupted: write the report of the measurements.
lab_finish() {
    [ -n "${bench_out:-}" ] && [ -e "$bench_out/measurements.csv" ] || return 0
    [ "$no_report" = 1 ] || ! command -v python3 >/dev/null || "$BENCH/report.py" "$bench_out" >&2
    if [ "$finished" = 1 ]; then
        bench_progress "finished: $bench_out"
    else
        bench_progress "interrupted; the measurements so far are in $bench_out"
    fi
}

# --- the run ----------------------------------------------------------------

[ "$quiet" = 0 ] || bench_progress() { :; }

finished=0
[ "$no_report" = 1 ] || bench_packages=bench
idgen_at_exit lab_finish
# No checkpoints but those of the scenes, WAL as with default settings, and the
# numbers that some keys require.
bench_open shared_buffers="$shared_buffers" autovacuum=off \
    checkpoint_timeout=1h max_wal_size=64GB min_wal_size=1GB \
    full_page_writes=on wal_compression=off max_connections=100 \
    idgen.node_id=1 idgen.launch_id=0

mkdir -p "$out" || exit 1
bench_out=$out

lab_open
bench_value CHECKPOINT || idgen_die "the laboratory requires the right to CHECKPOINT"
choose_keys
[ ${#keys[@]} -gt 0 ] || idgen_die "this server can generate none of the keys"
settings > "$bench_scratch/settings" || idgen_die "could not read the settings"

for scene in "${scenes[@]}"; do
    scene_keys=("${sweep_keys[@]}")
    "${scene}_plan"
done
[ ${#plan[@]} -gt 0 ] || idgen_die "this server can measure none of the scenes"

number=0
last_scene=
for step in "${plan[@]}"; do
    number=$((number + 1))
    read -r scene call <<<"$step"
    if [ "$scene" != "$last_scene" ]; then
        bench_psql <<<"SELECT 'DROP TABLE idgen_bench.' || quote_ident(tablename) || ' CASCADE'
                       FROM pg_tables WHERE schemaname = 'idgen_bench' \\gexec" ||
            idgen_die "could not drop the tables of $last_scene"
        buffers=${scene}_shared_buffers
        lab_shared_buffers "${!buffers:-$shared_buffers}" || idgen_die "could not restart the server"
        bench_progress "scene $scene"
        last_scene=$scene
    fi
    # shellcheck disable=SC2086
    $call || idgen_die "scene $scene: $call failed"
done
lab_predict || idgen_die "could not compute the predictions"
finished=1

! command -v python3 >/dev/null || "$BENCH/report.py" "$out" --summary
