# shellcheck shell=bash
#
# age: the WAL of a row over the years of a table. The places of the measurements are in the
# second half of the minutes that are filled of each cycle.

declare -A age_cycle        # the last cycle of the key's table that was filled
age_cycle_minutes=65536 age_places=6

age_plan() {
    local rate year
    require_numbers --age.rates "$age_rates"
    one_of_each_kind random uuid_v7 short_comb keyed_comb
    for rate in ${age_rates//,/ }; do
        for year in ${age_years//,/ }; do plan_keys measure "$rate" "$year"; done
        plan_keys drop
    done
}

# Fill a cycle up to a minute.
age_fill() {
    local key=$1 cycle=$2 minute=$3 apart=$((60000000 / $4)) begin rows
    begin=$((lab_cycle_start + cycle * age_cycle_minutes * 60000000))
    [ "${age_cycle[$key]:--1}" = "$cycle" ] || { age_cycle[$key]=$cycle; lab_clock[$key]=$begin; }
    rows=$(((begin + minute * 60000000 - lab_clock[$key]) / apart))
    [ "$rows" -le 0 ] || lab_load "$key" "$rows" "$apart"
}

age_measure() {
    local series="$2 rows a minute" key=$1 rate=$2 year=$3 apart=$((60000000 / $2)) rows=$(($2 * age_interval / 60)) cycle last place
    say "$key: $rate rows a minute, year $year"
    cycle=$(awk -v years="$year" -v minutes="$age_cycle_minutes" 'BEGIN { printf "%.0f", years * 525960 / minutes }')
    [ "$age_minutes" -lt "$age_cycle_minutes" ] || series+=" in full"
    [ -n "${age_cycle[$key]:-}" ] || lab_table "$key" || return 1
    for ((last = ${age_cycle[$key]:-0}; last < cycle; last++)); do
        age_fill "$key" "$last" "$age_minutes" "$rate" || return 1
    done
    for ((place = 0; place < age_places; place++)); do
        age_fill "$key" "$cycle" $((age_minutes / 2 + place * age_minutes / (2 * age_places))) "$rate" || return 1
        [ "$place" -gt 0 ] || lab_vacuum "$key" || return 1
        lab_measure "$key" "$rows" "$apart" && lab_record "$key" "$series" "$year" $((place + 1)) || return 1
    done
}

age_drop() {
    unset "age_cycle[$1]"
    bench_value "DROP TABLE idgen_bench.$1"
}
