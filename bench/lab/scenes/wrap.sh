# shellcheck shell=bash
#
# wrap: two cycles of the short prefix, with a few rows for each of its 65536
# values. In the second cycle, the rows of a short COMB are inserted between those of
# the first. At the beginning of each slice of a cycle, some rows after a checkpoint
# are measured. There is one repetition, because the table changes.

wrap_plan() {
    local slice

    for ((slice = 0; slice < 2 * wrap_slices; slice++)); do
        plan_keys measure "$((slice / wrap_slices + 1))" "$((slice % wrap_slices))"
    done
}

wrap_measure() {
    local key=$1 cycle=$2 slice=$3 apart=$((60000000 / wrap_rows)) of_cycle=$((wrap_rows * 65536)) left

    say "$key: cycle $cycle, slice $((slice + 1)) of $wrap_slices"
    if [ "$cycle $slice" = "1 0" ]; then
        lab_clock[$key]=$lab_cycle_start
        lab_table "$key" || return 1
    fi
    lab_measure "$key" "$wrap_inserts" "$apart" touches &&
        lab_record "$key" "cycle $cycle" "$(quotient "$slice" "$wrap_slices")" 1 || return 1
    left=$((of_cycle * (cycle - 1) + of_cycle * (slice + 1) / wrap_slices - lab_rows[$key]))
    [ "$left" -le 0 ] || lab_load "$key" "$left" "$apart"
}
