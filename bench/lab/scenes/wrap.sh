# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# wrap: two cycles of the short prefix, with a few rows for each of its 65536
# values. In the second cycle, the rows of a short COMB are inserted between those of
# the first. At the beginning of each slice of a cycle, some rows after a checkpoint
# are measured. There is one repetition, because the table changes.

wrap_plan() {
    local cycle slice

    for cycle in 1 2; do
        for ((slice = 0; slice < size[wrap_slices]; slice++)); do
            plan_keys measure "$cycle" "$slice"
        done
    done
}

wrap_begin() { begin_cycle; }

# An empty table for each key, and a clock at the start of a cycle.
begin_cycle() {
    local key
    for key in "${sweep_keys[@]}"; do
        lab_table "$key" || return 1
        lab_clock[$key]=$(lab_cycle_start 60000000)
    done
}

wrap_measure() {
    local key=$1 cycle=$2 slice=$3 rows=${size[wrap_inserts]} slices=${size[wrap_slices]} of_cycle apart goal

    say "$key: cycle $cycle, slice $((slice + 1)) of $slices"
    of_cycle=$((size[wrap_rows] * 65536))
    apart=$((60000000 / size[wrap_rows]))
    lab_before "$key" && lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" touches &&
        lab_record wrap "$key" "cycle $cycle" "$(quotient "$slice" "$slices")" 1 || return 1
    goal=$((of_cycle * (cycle - 1) + of_cycle * (slice + 1) / slices))
    [ "$goal" -le "${lab_rows[$key]}" ] || lab_load "$key" "$((goal - lab_rows[$key]))" "$apart"
}
