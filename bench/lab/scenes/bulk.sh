# shellcheck shell=bash
#
# bulk: one INSERT of many rows into a table whose rows are all of the same minute.

bulk_plan() {
    scene_keys=("${keys[@]}")
    plan_turns ''
}

bulk_fill() {
    say "$1: loading $(bench_number "$bulk_rows") rows of one minute"
    lab_clock[$1]=${EPOCHREALTIME/./}
    lab_table "$1" && lab_load_bulk "$1" "$bulk_rows" && lab_vacuum "$1"
}

bulk_measure() {
    say "$1: inserting $(bench_number "$bulk_inserts") rows at once"
    lab_load_bulk "$1" "$(warmup "$bulk_inserts")" && lab_before "$1" && lab_load_bulk "$1" "$bulk_inserts" &&
        lab_after "$1" touches && lab_record "$1" '' '' "$2"
}
