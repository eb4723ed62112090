#!/usr/bin/env bash
#
# run.sh: the laboratory: measure the cost of each kind of primary key.
#
#   bench/lab/run.sh [OPTION ...]
#
#   --scene NAME,...     scenes (default all): steady, bulk, outgrow, checkpoint,
#                        period, clients, read, wrap, delete, changeover,
#                        contention, serializable, masked, memory
#   --quick              all scenes with small sizes, in less than 3 minutes
#   --repetitions N      measurements of each point (default 3, with --quick 1)
#   --keys A,B,...       keys, by their names in keys.txt (default: all in steady
#                        and bulk, six in the other scenes)
#   --key NAME=TYPE:EXPRESSION
#                        another key, in all scenes; a clock in the expression is
#                        written as moment. Can be repeated
#   --SCENE.SIZE VALUE   a size of sizes.txt, such as --steady.rows 5000000
#   --shared-buffers S   of the private cluster (default 256MB)
#   --out FOLDER         write the results there (default bench/lab/report/DATE)
#   --csv                print measurements.csv instead of Markdown
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
command_line="$(basename "$0") $*"
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$BENCH/lab.sh"

all_scenes=(steady bulk outgrow checkpoint period clients read wrap delete
    changeover contention serializable masked memory)
# the keys of the other scenes
sweep_names=(bigint random uuid_v7 snowflake short_comb short_comb_run)

scenes=("${all_scenes[@]}")
quick=0
repetitions=
keys_wanted=
own_keys=()
shared_buffers=256MB
out=
csv=0
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
        *.ratios) [[ $2 =~ ^[0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*$ ]] || idgen_die "--$1 requires numbers separated by commas, not \"$2\"" ;;
        *.counts|*.runs|*.periods|*.rates|checkpoint.inserts)
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
        --csv) csv=1; shift; continue ;;
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

declare -A key_type key_column key_history key_bulk key_bounds
known=()
while IFS='|' read -r name type column history bulk bounds; do
    known+=("$name")
    key_type[$name]=$type
    key_column[$name]=$column
    key_history[$name]=$history
    key_bulk[$name]=$bulk
    key_bounds[$name]=$bounds
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
    # shellcheck disable=SC2034    # used in read.sh
    key_bounds[$name]=
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

# Each scene lists its steps beforehand, with an estimate of the milliseconds of
# each. The time left is estimated from the time that the first steps took.
plan_calls=()
plan_scenes=()
plan_weights=()
plan_total=0

plan() {
    plan_weights+=("$1")
    plan_scenes+=("$scene")
    plan_calls+=("${*:2}")
    plan_total=$((plan_total + $1))
}

# A step of each key: plan_keys WEIGHT NAME [ARGUMENT ...] calls SCENE_NAME KEY
# [ARGUMENT ...]. The keys take turns, so that a slow minute affects all of them.
plan_keys() {
    local key
    for key in "${scene_keys[@]}"; do plan "$1" "${scene}_$2" "$key" "${@:3}"; done
}

# Fill the table of each key, and measure each in each repetition.
plan_turns() {
    local repetition

    plan_keys "$1" fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        plan_keys "$2" measure "$repetition"
    done
}

plan_load() { echo $((300 + $1 * 4 / 1000)); }
plan_insert() { echo $((500 + $1 * 5 / 1000)); }
plan_transactions() { echo $((700 + $1 / 10)); }

# Inserts before a measurement: a twentieth of the measured ones.
warmup() { echo $(($1 < 20 ? 1 : $1 / 20)); }

# Microseconds between rows that arrive at a rate per second.
spacing() { echo $((1000000 / $1)); }

quotient() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'; }

# The estimated time left.
remaining() {
    local minutes
    minutes=$(awk -v passed="$((SECONDS - plan_started))" -v planned="$plan_done" -v total="$plan_total" \
        'BEGIN { printf "%d", (total - planned) / 1000 * (passed + 20) / (planned / 1000 + 20) / 60 + 0.5 }')
    case $minutes in
        0) echo "less than a minute left" ;;
        1) echo "about a minute left" ;;
        *) echo "about $minutes minutes left" ;;
    esac
}

# Describe the step: a line in a log; on a terminal, one that overwrites itself.
say() {
    step="step $number/${#plan_calls[@]}, $(remaining): $scene, $*"
    if [ -t 2 ]; then bench_flicker "$step"; else bench_progress "$step"; fi
}

# A result, on a line of its own.
found() { bench_progress "$scene, $*"; }

# --- the results ------------------------------------------------------------

# Quote a text for a CSV file.
quoted() { echo "\"${1//\"/\"\"}\""; }

# Called with the first measurement, so that no folder is without any.
lab_begin_results() {
    local name

    [ ! -e "$out/measurements.csv" ] || return 0
    {
        echo "key,label,type"
        for name in "${keys[@]}"; do
            echo "$name,$(quoted "$(label "$name")"),$(quoted "${key_type[$name]}")"
        done
    } > "$out/keys.csv"
    cp "$bench_scratch/settings" "$out/settings.csv" &&
        echo "scene,key,series,x,repetition,metric,value" > "$out/measurements.csv"
}

settings() {
    local name
    echo "name,value"
    echo "command,$(quoted "$command_line")"
    echo "date,$(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "cores,$cores"
    echo "processor,$(quoted "$(sed -n '/^model name/ { s/.*: //p; q }' /proc/cpuinfo 2>/dev/null)")"
    echo "memory,$(sed -nE '/^MemTotal/ s/.*: *//p' /proc/meminfo 2>/dev/null)"
    echo "system,$(quoted "$(uname -sr)")"
    echo "server,$(if [ "$bench_server" = 1 ]; then echo given; else echo private; fi)"
    echo "repetitions,$repetitions"
    bench_psql -f "$BENCH/sql/settings.sql" || return 1
    for name in "${!size[@]}"; do
        [[ " ${scenes[*]} " != *" ${name%%_*} "* ]] || echo "${name/_/.},$(quoted "${size[$name]}")"
    done | sort
}

# On exit, also when interrupted: write the report of the measurements.
lab_finish() {
    [ -n "${bench_out:-}" ] && [ -e "$bench_out/measurements.csv" ] || return 0
    if [ "$report" = 1 ] && command -v python3 >/dev/null; then
        if python3 "$BENCH/report.py" "$bench_out" >"$bench_out/report.log" 2>&1; then
            rm -f "$bench_out/report.log"
            bench_progress "report: $bench_out/report.html and report.md"
        else
            echo "the report could not be written; see $bench_out/report.log" >&2
        fi
    fi
    if [ "$finished" = 1 ]; then
        bench_progress "finished: $bench_out"
    else
        bench_progress "interrupted; the measurements so far are in $bench_out"
    fi
}

# --- the run ----------------------------------------------------------------

[ "$quiet" = 0 ] || {
    bench_progress() { :; }
    bench_flicker() { :; }
    say() { step=; }
}

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

plan_started=$SECONDS
plan_done=0
number=0
last_scene=
for index in "${!plan_calls[@]}"; do
    scene=${plan_scenes[$index]}
    number=$((number + 1))
    if [ "$scene" != "$last_scene" ]; then
        ! declare -F "${last_scene}_end" >/dev/null || "${last_scene}_end" || idgen_die "could not end the scene $last_scene"
        bench_psql -f "$BENCH/sql/drop.sql" || idgen_die "could not drop the tables of $last_scene"
        [ "$scene" = outgrow ] || lab_shared_buffers "$shared_buffers" || idgen_die "could not restart the server"
        ! declare -F "${scene}_begin" >/dev/null || "${scene}_begin" || idgen_die "could not begin the scene $scene"
        bench_progress "scene $scene"
        last_scene=$scene
    fi
    read -ra call <<<"${plan_calls[$index]}"
    "${call[@]}" || idgen_die "scene $scene: ${call[*]} failed"
    plan_done=$((plan_done + plan_weights[index]))
done
lab_predict || idgen_die "could not compute the predictions"
finished=1

if [ "$csv" = 1 ]; then
    cat "$out/measurements.csv"
elif command -v python3 >/dev/null; then
    "$BENCH/report.py" "$out" --summary
fi
