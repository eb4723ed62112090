# shellcheck shell=bash
#
# curve: the WAL of a row by the number of rows between two checkpoints, five minutes apart. The
# checkpoint is in the middle of a period. Short COMBs have no runs, as if each row came from another session.

curve_plan() {
    require_numbers --curve.inserts "$curve_inserts"
    one_of_each_kind random short_comb keyed_comb uuid_v7
    # shellcheck disable=SC2086
    plan_turns ${curve_inserts//,/ }
}

curve_measure() {
    local key=$1 repetition=$2 rows=$3 apart period=60000000 middle
    local -A key_history=(["$key"]="${key_history[$key]}")
    [ "$key" != short_comb ] || key_history[$key]='idgen.short_comb(run_length => 1, clock => moment)'
    say "$key: $(bench_number "$rows") rows after a checkpoint"
    apart=$((300000000 / rows))
    middle=$((curve_rows * apart / 2))
    middle=$((middle - middle % period + period / 2))
    lab_clock[$key]=$((lab_cycle_start + middle - curve_rows * apart))
    lab_table "$key" && lab_load "$key" "$curve_rows" "$apart" && lab_vacuum "$key" &&
        lab_measure "$key" "$rows" "$apart" && lab_record "$key" '' "$rows" "$repetition"
}
