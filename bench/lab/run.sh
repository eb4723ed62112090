#!/usr/bin/env bash
#
# run.sh: the laboratory: measure the cost of each kind of primary key.
#
#   bench/lab/run.sh [OPTION ...]
#
#   --scene NAME,...     scenes (default all): curve, steady, bulk, wrap, delete,
#                        changeover, contention, serializable
#   --quick              small sizes
#   --repetitions N      measurements of each point (default 3, with --quick 1)
#   --keys A,B,...       keys, by their names in keys.txt (default: all in steady
#                        and bulk, six in the other scenes)
#   --key NAME=TYPE:EXPRESSION
#                        another key, in all scenes; a clock in the expression is
#                        written as moment. Can be repeated
#   --SCENE.SIZE VALUE   a size of sizes.txt, such as --steady.rows 5000000
#   --shared-buffers S   of the private cluster (default 256MB)
#   --out FOLDER         write the results there (default bench/lab/report/DATE)
#   --no-report          only the CSV files
#   --server             use the server of PGHOST, PGPORT ... and not a private
#                        cluster; requires CHECKPOINT and pgstattuple
#   --quiet              no progress
#   --help               this text
#
# README.md describes the scenes. Progress is written to stderr, a table to stdout,
# and measurements.csv, keys.csv, settings.csv, touches.csv and a report to the
# folder; an interrupted run keeps its measurements there. Everything else that a
# run creates is removed at the end.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$BENCH/lab.sh"

all_scenes=(curve steady bulk wrap delete changeover contention serializable)
# the keys of the other scenes
sweep_names=(bigint random uuid_v7 snowflake short_comb short_comb_run)

scenes=("${all_scenes[@]}")
quick=0
repetitions=
keys_wanted=
own_keys=()
shared_buffers=256MB
out=
report=1
quiet=0
cores=$(nproc)

# --- sizes and options ------------------------------------------------------

declare -A size size_quick size_given

# The lines of a list without comments, with the columns trimmed and separated by |.
list() { sed -E 's/^#.*//; /^[[:space:]]*$/d; s/[[:space:]]*\|[[:space:]]*/|/g; s/[[:space:]]+$//' "$BENCH/$1"; }

while IFS='|' read -r name full small _; do
    # a key of the array has no dot, to be valid as an arithmetic expression
    size[${name/./_}]=$full
    size_quick[${name/./_}]=$small
done < <(list sizes.txt)

need_size() {
    case $1 in
        *.shared_buffers) [[ $2 =~ ^[0-9]+[kMG]B$ ]] || idgen_die "--$1 requires a size such as 64MB, not \"$2\"" ;;
        *.counts | curve.inserts)
            [[ $2 =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || idgen_die "--$1 requires whole numbers separated by commas, not \"$2\"" ;;
        *) bench_need_number "--$1" "$2" ;;
    esac
}

while [ $# -gt 0 ]; do
    # --name=value is --name value, but the value of --key contains a = itself
    case $1 in --key=*|--[!=]*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;; esac
    case $1 in
        --server) bench_server=1; shift; continue ;;
        --quick) quick=1; shift; continue ;;
        --no-report) report=0; shift; continue ;;
        --quiet) quiet=1; shift; continue ;;
        --help|-h) idgen_help; exit 0 ;;
    esac
    [ $# -ge 2 ] || idgen_die "unknown option $1, or its value is missing; see --help"
    case $1 in
        --scene) [ "$2" = all ] || IFS=, read -ra scenes <<<"$2" ;;
        --repetitions) bench_need_number "$1" "$2"; repetitions=$2 ;;
        --keys) keys_wanted=$2 ;;
        --key) own_keys+=("$2") ;;
        --shared-buffers) need_size x.shared_buffers "$2"; shared_buffers=$2 ;;
        --out) out=$2 ;;
        --*.*)
            name=${1#--}
            [ -n "${size[${name/./_}]:-}" ] || idgen_die "unknown size $name; see sizes.txt"
            need_size "$name" "$2"
            size_given[${name/./_}]=$2 ;;
        *) idgen_die "unknown option $1; see --help" ;;
    esac
    shift 2
done

[ "$quick" = 0 ] || for name in "${!size[@]}"; do size[$name]=${size_quick[$name]}; done
for name in "${!size_given[@]}"; do size[$name]=${size_given[$name]}; done
[ -n "$repetitions" ] || repetitions=$((quick ? 1 : 3))

for scene in "${scenes[@]}"; do
    [[ " ${all_scenes[*]} " = *" $scene "* ]] || idgen_die "unknown scene \"$scene\"; the scenes are: ${all_scenes[*]}"
done
# all of them, because some use functions of others
for scene in "${all_scenes[@]}"; do
    # shellcheck disable=SC1090
    . "$BENCH/scenes/$scene.sh"
done

[ -n "$out" ] || out=$BENCH/report/$(date '+%Y-%m-%d_%H%M%S')
[ ! -e "$out/measurements.csv" ] || idgen_die "$out already contains measurements"

# --- the keys ---------------------------------------------------------------

declare -A key_type key_column key_history key_bulk
known=()
while IFS='|' read -r name type column history bulk; do
    known+=("$name")
    key_type[$name]=$type
    key_column[$name]=$column
    key_history[$name]=$history
    key_bulk[$name]=$bulk
done < <(list keys.txt)

for definition in "${own_keys[@]}"; do
    [[ $definition =~ ^([a-z][a-z0-9_]*)=([^:]+):(.+)$ ]] ||
        idgen_die "--key requires NAME=TYPE:EXPRESSION, not \"$definition\""
    name=${BASH_REMATCH[1]}
    expression=${BASH_REMATCH[3]}
    [ -z "${key_type[$name]:-}" ] || idgen_die "keys.txt already has a key \"$name\""
    known+=("$name")
    sweep_names+=("$name")
    key_type[$name]=${BASH_REMATCH[2]}
    key_column[$name]="DEFAULT $(sed -E 's/\bmoment\b/clock_timestamp()/g' <<<"$expression")"
    key_history[$name]=default
    [[ ! $expression =~ (^|[^a-z0-9_])moment($|[^a-z0-9_]) ]] || key_history[$name]=$expression
    key_bulk[$name]=default
done

keys=("${known[@]}")
if [ -n "$keys_wanted" ]; then
    IFS=, read -ra keys <<<"$keys_wanted"
    for definition in "${own_keys[@]}"; do
        [[ ",$keys_wanted," = *",${definition%%=*},"* ]] || keys+=("${definition%%=*}")
    done
    sweep_names=("${keys[@]}")
fi
for name in "${keys[@]}"; do
    [ -n "${key_type[$name]:-}" ] || idgen_die "unknown key \"$name\"; the keys are: ${known[*]}"
done

# The name of a key in the tables: its expression.
label() {
    case ${key_column[$1]} in
        DEFAULT*) echo "${key_column[$1]#DEFAULT }" ;;
        *) echo "$1 identity" ;;
    esac
}

is_sweep_key() { [[ " ${sweep_names[*]} " = *" $1 "* ]]; }

# Leave out the keys that the server cannot generate, unless they were named as options.
choose_keys() {
    local name columns values able=()

    for name in "${keys[@]}"; do
        columns='id, payload' values="${key_history[$name]}, 0"
        [ "${key_history[$name]}" != default ] || { columns=payload; values=0; }
        if bench_psql -f "$BENCH/sql/can_make.sql" -v type="${key_type[$name]}" -v column="${key_column[$name]}" \
            -v columns="$columns" -v values="$values" \
            2> "$bench_scratch/error"; then
            able+=("$name")
        elif [ -n "$keys_wanted" ] || [[ " ${own_keys[*]%%=*} " = *" $name "* ]]; then
            idgen_die "this server cannot generate $name: $(grep -m 1 ERROR: "$bench_scratch/error" | sed 's/.*ERROR: *//')"
        else
            bench_progress "without $name: $(grep -m 1 ERROR: "$bench_scratch/error" | sed 's/.*ERROR: *//')"
        fi
    done
    keys=("${able[@]}")
    sweep_keys=()
    for name in "${keys[@]}"; do
        ! is_sweep_key "$name" || sweep_keys+=("$name")
    done
}

# --- the plan ---------------------------------------------------------------

# Each scene lists its steps beforehand.
plan_calls=()
plan_scenes=()

# A step of each key: plan_keys NAME [ARGUMENT ...] calls SCENE_NAME KEY [ARGUMENT ...].
# The keys take turns, so that a slow minute affects all of them.
plan_keys() {
    local key
    for key in "${scene_keys[@]}"; do
        plan_scenes+=("$scene")
        plan_calls+=("${scene}_$1 $key ${*:2}")
    done
}

# Fill the table of each key, and measure each in each repetition.
plan_turns() {
    local repetition

    plan_keys fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        plan_keys measure "$repetition"
    done
}

# Inserts before a measurement: a twentieth of the measured ones.
warmup() { echo $(($1 < 20 ? 1 : $1 / 20)); }

# Microseconds between rows that arrive at a rate per second.
spacing() { echo $((1000000 / $1)); }

quotient() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'; }

# Describe the step.
say() { bench_progress "step $number/${#plan_calls[@]}: $scene, $*"; }

# A result, on a line of its own.
found() { bench_progress "$scene, $*"; }

# --- the results ------------------------------------------------------------

# Called with the first measurement, so that no folder is without any.
lab_begin_results() {
    local name

    [ ! -e "$out/measurements.csv" ] || return 0
    {
        echo "key,label,type"
        for name in "${keys[@]}"; do
            echo "$name,$(bench_quoted "$(label "$name")"),$(bench_quoted "${key_type[$name]}")"
        done
    } > "$out/keys.csv"
    cp "$bench_scratch/settings" "$out/settings.csv" &&
        echo "scene,key,series,x,repetition,metric,value" > "$out/measurements.csv"
}

settings() {
    local name
    bench_settings && echo "repetitions,$repetitions" || return 1
    for name in "${!size[@]}"; do
        [[ " ${scenes[*]} " != *" ${name%%_*} "* ]] || echo "${name/_/.},$(bench_quoted "${size[$name]}")"
    done | sort
}

# On exit, also when interrupted: write the report of the measurements.
lab_finish() {
    [ -n "${bench_out:-}" ] && [ -e "$bench_out/measurements.csv" ] || return 0
    [ "$report" = 0 ] || ! command -v python3 >/dev/null || "$BENCH/report.py" "$bench_out" >&2
    if [ "$finished" = 1 ]; then
        bench_progress "finished: $bench_out"
    else
        bench_progress "interrupted; the measurements so far are in $bench_out"
    fi
}

# --- the run ----------------------------------------------------------------

[ "$quiet" = 0 ] || bench_progress() { :; }

finished=0
[ "$report" = 0 ] || bench_packages=bench
idgen_at_exit lab_finish
# No checkpoints but those of the scenes, WAL as with default settings, and the
# numbers that some keys require.
bench_open shared_buffers="$shared_buffers" autovacuum=off \
    checkpoint_timeout=1h max_wal_size=64GB min_wal_size=1GB \
    full_page_writes=on wal_compression=off max_connections=100 \
    idgen.node_id=1 idgen.launch_id=0 idgen.mask_key_file=mask_keys
bench_mask_key

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
[ ${#plan_calls[@]} -gt 0 ] || idgen_die "this server can measure none of the scenes"

number=0
last_scene=
for index in "${!plan_calls[@]}"; do
    scene=${plan_scenes[$index]}
    number=$((number + 1))
    if [ "$scene" != "$last_scene" ]; then
        bench_psql -f "$BENCH/sql/drop.sql" || idgen_die "could not drop the tables of $last_scene"
        [ "$scene" = curve ] || lab_shared_buffers "$shared_buffers" || idgen_die "could not restart the server"
        ! declare -F "${scene}_begin" >/dev/null || "${scene}_begin" || idgen_die "could not begin the scene $scene"
        bench_progress "scene $scene"
        last_scene=$scene
    fi
    read -ra call <<<"${plan_calls[$index]}"
    "${call[@]}" || idgen_die "scene $scene: ${call[*]} failed"
done
lab_predict || idgen_die "could not compute the predictions"
finished=1

! command -v python3 >/dev/null || "$BENCH/report.py" "$out" --summary
