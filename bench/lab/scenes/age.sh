# shellcheck shell=bash disable=SC2034,SC2154
#
# age: the WAL per row over the years of a table. Only the same minutes of each cycle of the short prefix get rows. The
# measurements are made in the second half of these minutes.

lab_keys random uuid_v7 short_comb keyed_comb
lab_set shared_buffers="$age_shared_buffers"
cycle_minutes=65536

# Insert the rows of a cycle up to the given minute. Arguments: CYCLE MINUTE.
age_fill() {
    local begin=$((cycle_start + $1 * cycle_minutes * 60000000))
    [ "$clock" -ge "$begin" ] || clock=$begin
    lab_load $(((begin + $2 * 60000000 - clock) / spacing))
}

for rate in ${age_rates//,/ }; do
    for key in "${scene_keys[@]}"; do
        clock=0 spacing=$((60000000 / rate)) cycle=0
        lab_table
        for year in ${age_years//,/ }; do
            last=$(awk -v years="$year" -v minutes="$cycle_minutes" 'BEGIN { printf "%.0f", years * 525960 / minutes }')
            for ((; cycle < last; cycle++)); do age_fill "$cycle" "$age_minutes"; done
            for ((place = 0; place < age_places; place++)); do
                age_fill "$cycle" $((age_minutes / 2 + place * age_minutes / (2 * age_places)))
                [ "$place" -gt 0 ] || lab_vacuum
                lab_measure $((rate * 5)) "$rate rows a minute" "$year" $((place + 1))
            done
        done
    done
done
