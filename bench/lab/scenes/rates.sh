# shellcheck shell=bash disable=SC2034,SC2154
#
# rates: the WAL per row, depending on the rate of inserts and on the time between two checkpoints.

lab_keys random uuid_v7 keyed_comb
lab_set
session_rows=$rates_session sessions=
[ "$session_rows" -ge 100000000 ] || sessions=", sessions of $(bench_number "$session_rows") rows"

for rate in ${rates_rates//,/ }; do
    for key in "${scene_keys[@]}"; do
        lab_fill "$rates_rows" "$rate"
        for minutes in ${rates_minutes//,/ }; do
            # Measure at most 100,000 rows. Random keys need fewer rows, because their cost does not depend on the
            # place.
            places=$((100000 / (rate * minutes) + 6))
            [ "$places" -lt "$rates_places" ] || places=$rates_places
            [ "$key" != random ] || places=3
            interval="$minutes minutes"
            [ "$minutes" != 1 ] || interval=minute
            for ((place = 1; place <= places; place++)); do
                [ "$key" = random ] || lab_lead "$rate"
                lab_measure $((rate * minutes)) "a checkpoint every $interval$sessions" "$rate" "$place"
            done
        done
    done
done
session_rows=1000000000
