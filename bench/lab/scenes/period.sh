# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# period: short COMBs with several periods, run lengths and rates of rows. The
# table holds the rows of earlier periods, and each repetition begins at another
# point of the period: with three repetitions, after a sixth, a half and five sixths
# of its rows. So the median is that of the middle of the period, and the spread
# that of the whole period.

period_plan() {
    local period run rate rows repetition

    for rate in ${size[period_rates]//,/ }; do
        for period in ${size[period_periods]//,/ }; do
            for run in ${size[period_runs]//,/ }; do
                rows=$((period * rate))
                plan "$(plan_load "${size[period_rows]}")" period_fill "$period" "$run" "$rate"
                for ((repetition = 1; repetition <= repetitions; repetition++)); do
                    plan "$(($(plan_load "$((rows / repetitions))") / 2 + $(plan_insert "${size[period_inserts]}")))" \
                        period_measure "$period" "$run" "$rate" "$repetition"
                done
            done
        done
    done
}

period_fill() {
    local period=$1 run=$2 rate=$3 rows=${size[period_rows]} key=period apart

    say "period of $period s, runs of $run, $rate rows a second"
    key_type[period]=uuid
    key_column[period]=
    key_history[period]="idgen.short_comb(period => '$period s', run_length => $run, clock => moment)"
    lab_table "$key" || return 1
    apart=$(spacing "$rate")
    # so that a period begins with the first row after these; a row exactly at the
    # boundary would belong to the new period
    lab_clock[$key]=$(($(lab_cycle_start "$((period * 1000000))") +
        (rows / (period * rate) + 1) * period * 1000000 - rows * apart - 1))
    period_first=$rows
    lab_load "$key" "$rows" "$apart"
}

period_measure() {
    local period=$1 run=$2 rate=$3 repetition=$4 rows=${size[period_inserts]} key=period apart phase

    say "period of $period s, runs of $run, $rate rows a second"
    apart=$(spacing "$rate")
    phase=$((period_first + period * rate * (2 * repetition - 1) / (2 * repetitions) - lab_rows[$key]))
    [ "$phase" -le 0 ] || lab_load "$key" "$phase" "$apart" || return 1
    lab_before "$key" && lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" touches &&
        lab_record period short_comb "run_length=$run rate=$rate" "$period" "$repetition"
}
