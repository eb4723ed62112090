#!/usr/bin/env bash
#
# run.sh: run the laboratory, which measures the cost of each kind of primary key.
#
#   bench/lab/run.sh [OPTION ...]
#
#   --scene NAME,...     by default all: usual, change, age, rates, speed, replay, bulk, delete, tenants, areas,
#                        orders, lists, commands, entities, heat
#   --quick              use small sizes
#   --keys A,B,...       keys, by their names in keys.txt (default: those of each scene)
#   --SCENE.SIZE VALUE   a size of sizes.txt, such as --age.rates 20,200
#   --out FOLDER         write the results there (default bench/lab/report/DATE)
#   --no-report          write only the CSV files
#   --help               this text
#
# The report describes the scenes. Progress is written to stderr. The files measurements.csv, keys.csv, settings.csv and
# touches.csv, and a report, are written to the folder. If a run is interrupted, the folder contains its measurements.
# Everything else that a run creates is removed at the end.

set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$BENCH/lab.sh"

# --- Sizes, options and keys ------------------------------------------------

scene=usual,change,age,rates,speed,replay,bulk,delete,tenants,areas,orders,lists,commands,entities,heat
# shellcheck disable=SC2034  # quick is read before the other options
quick=0 keys='' out='' no_report=0
names="scene quick? keys out no_report?"
command=run.sh
for argument; do
    [[ $argument != *[!A-Za-z0-9_=.,:/-]* ]] || argument=${argument@Q}
    command+=" $argument"
done

# Print the lines of a list without comments, with the columns trimmed and separated by |.
list() {
    sed -E ':a; /\\$/ { N; s/ *\\\n *//; ta }; s/^#.*//; /^ *$/d; s/ *\| */|/g; s/ +$//' "$BENCH/$1"
}

# The variable age_rates contains the size age.rates.
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

IFS=, read -ra scenes <<<"$scene"
for scene in "${scenes[@]}"; do
    [ -e "$BENCH/scenes/$scene.sh" ] || idgen_die "unknown scene \"$scene\"; see --help"
done
for name in "${sizes[@]}"; do
    [[ $name != *_@(rates|rows|minutes|years|inserts|sessions|tenants|windows) || ${!name} =~ ^[0-9.]+(,[0-9.]+)*$ ]] ||
        idgen_die "--${name/_/.} requires numbers separated by commas, not \"${!name}\""
done

declare -A key_type key_default key_simulated
known=()
while IFS='|' read -r name type default simulated; do
    known+=("$name")
    key_type[$name]=$type
    key_default[$name]=$default
    key_simulated[$name]=$simulated
done < <(list keys.txt)
IFS=, read -ra keys_wanted <<<"$keys"
for name in "${keys_wanted[@]}"; do
    [ -n "${key_type[$name]:-}" ] || idgen_die "unknown key \"$name\"; the keys are: ${known[*]}"
done

[ -n "$out" ] || out=$BENCH/report/$(date '+%Y-%m-%d_%H%M%S')
[ ! -e "$out/measurements.csv" ] || idgen_die "$out already contains measurements"

# --- The results ------------------------------------------------------------

# Quote a string for a CSV file.
quoted() { echo "\"${1//\"/\"\"}\""; }

# Print settings.csv: the machine, and the settings that affect the figures.
settings() {
    local name
    echo "name,value"
    echo "command,$(quoted "$command")"
    echo "date,$(date -u '+%Y-%m-%d')"
    echo "cores,$(nproc)"
    echo "processor,$(quoted "$(sed -n '/^model name/ { s/.*: //p; q }' /proc/cpuinfo)")"
    echo "memory,$(sed -nE '/^MemTotal/ s/.*: *//p' /proc/meminfo)"
    bench_psql -f "$BENCH/sql/settings.sql" || return
    for name in "${sizes[@]}"; do
        [[ " ${scenes[*]} " != *" ${name%%_*} "* ]] || echo "${name/_/.},$(quoted "${!name}")"
    done
}

# Create the files. This happens at the first measurement, so that no folder lacks measurements.
begin_results() {
    local name
    mkdir -p "$out" || exit 1
    {
        echo "key,label,type"
        for name in "${known[@]}"; do echo "$name,$(quoted "${key_default[$name]}"),${key_type[$name]}"; done
    } >"$out/keys.csv"
    cp "$bench_scratch/settings" "$out/settings.csv"
    echo "scene,key,series,x,repetition,metric,value" >"$out/measurements.csv"
}

# On exit, even if interrupted, write the report of the measurements.
finish() {
    [ -e "$out/measurements.csv" ] || return 0
    [ "$no_report" = 1 ] || "$BENCH/report.py" "$out" >&2
    bench_progress "$ending$out"
}

# --- The run ----------------------------------------------------------------

ending="interrupted; the measurements so far are in "
[ "$no_report" = 1 ] || bench_packages=bench
idgen_at_exit finish
# Only the scenes make checkpoints, and the other settings that affect WAL have their defaults.
bench_open shared_buffers=256MB autovacuum=off checkpoint_timeout=1h max_wal_size=64GB min_wal_size=1GB \
    full_page_writes=on wal_compression=off max_connections=100
lab_open
settings >"$bench_scratch/settings" || idgen_die "could not read the settings"

for scene in "${scenes[@]}"; do
    bench_progress "scene $scene"
    # shellcheck disable=SC1090
    . "$BENCH/scenes/$scene.sh" || idgen_die "the scene $scene failed"
done
ending="finished: "
