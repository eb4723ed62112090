# shellcheck shell=bash
#
# rates: the WAL of a row by the rate of the inserts and the time between two checkpoints.

rates_places=12

rates_plan() {
    local rate
    require_numbers --rates.rates "$rates_rates"
    require_numbers --rates.minutes "$rates_minutes"
    one_of_each_kind random uuid_v7 keyed_comb
    for rate in ${rates_rates//,/ }; do plan_keys measure "$rate"; done
}

rates_measure() {
    local key=$1 rate=$2 apart=$((60000000 / $2)) minutes place
    say "$key: $rate rows a minute"
    lab_fill "$key" "$rates_rows" "$apart" || return 1
    for minutes in ${rates_minutes//,/ }; do
        for ((place = 1; place <= rates_places; place++)); do
            lab_load "$key" $((rate * lab_minutes_before)) "$apart" &&
                lab_measure "$key" $((rate * minutes)) "$apart" &&
                lab_record "$key" "a checkpoint every $minutes minutes" "$rate" "$place" || return 1
        done
    done
}
