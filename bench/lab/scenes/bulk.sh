# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and lab.sh
#
# bulk: a table whose rows are all of one minute, and one INSERT of many more rows
# of that minute after a checkpoint.

bulk_plan() {
    scene_keys=("${keys[@]}")
    plan_turns
}

bulk_fill() {
    local key=$1 rows=${size[bulk_rows]}

    say "$key: loading $(bench_number "$rows") rows of one minute"
    lab_table "$key" || return 1
    lab_clock_before_now "$key" 0
    lab_load_bulk "$key" "$rows" && lab_vacuum "$key"
}

bulk_measure() {
    local key=$1 repetition=$2 rows=${size[bulk_inserts]}

    say "$key: inserting $(bench_number "$rows") rows at once"
    lab_load_bulk "$key" "$(warmup "$rows")" && lab_before "$key" &&
        lab_load_bulk "$key" "$rows" && lab_after "$key" touches &&
        lab_record bulk "$key" '' '' "$repetition" || return 1
    found "$key: $wal bytes of WAL a row"
}
