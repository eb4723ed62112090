# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# wrap: two laps of the short prefix, with a few rows for each of its 65536
# values. In the second lap a short COMB's rows fall among those of the first.
# At the begin of each slice of a lap, some rows after a checkpoint are
# measured. A lap cannot be repeated on the same table, so there is one repetition.

wrap_plan() {
    local key lap slice

    for ((lap = 1; lap <= 2; lap++)); do
        for ((slice = 0; slice < size[wrap_slices]; slice++)); do
            for key in "${sweep_keys[@]}"; do
                plan "$(($(plan_load "$((size[wrap_rows] * 65536 / size[wrap_slices]))") + $(plan_insert "${size[wrap_inserts]}")))" \
                    wrap_measure "$key" "$lap" "$slice"
            done
        done
    done
}

wrap_begin() {
    local key
    for key in "${sweep_keys[@]}"; do
        lab_table "$key" || return 1
        lab_clock[$key]=$(lab_lap_start 60000000)
    done
}

wrap_measure() {
    local key=$1 lap=$2 slice=$3 rows=${size[wrap_inserts]} slices=${size[wrap_slices]} of_lap apart goal

    say "$key: lap $lap, slice $((slice + 1)) of $slices"
    of_lap=$((size[wrap_rows] * 65536))
    apart=$((60000000 / size[wrap_rows]))
    lab_before "$key" && lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" touches &&
        lab_record wrap "$key" "lap $lap" "$(awk -v a="$slice" -v b="$slices" 'BEGIN { printf "%.4g", a / b }')" 1 || return 1
    goal=$((of_lap * (lap - 1) + of_lap * (slice + 1) / slices))
    [ "$goal" -le "${lab_rows[$key]}" ] || lab_load "$key" "$((goal - lab_rows[$key]))" "$apart"
}
