# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# curve: the WAL of a row by the number of rows between two checkpoints. Each point
# is an interval between checkpoints, of five minutes unless given, at the rate
# that inserts the given number of rows in it. The table is loaded again for each point, at that
# rate, so that no point is measured in a larger table than another. The prefix of a
# short COMB starts again with 0 in the middle of the load, and the checkpoint falls
# into the middle of a period. Shared buffers are smaller than the index, so that the
# blocks that must be read are counted, too. Short COMBs have no runs, as if each row
# came from another session.

curve_plan() {
    local repetition rows

    # without --keys, one key of each kind
    [ -n "$keys_wanted" ] || scene_keys=(random short_comb uuid_v7)
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for rows in ${size[curve_inserts]//,/ }; do
            plan_keys measure "$rows" "$repetition"
        done
    done
}

curve_begin() { lab_shared_buffers "${size[curve_shared_buffers]}"; }

curve_measure() {
    local key=$1 rows=$2 repetition=$3 history=${size[curve_rows]} apart period=60000000 middle
    local -A key_history=(["$key"]="${key_history[$key]}")

    [ "$key" != short_comb ] || key_history[$key]='idgen.short_comb(run_length => 1, clock => moment)'
    say "$key: $(bench_number "$rows") rows after a checkpoint"
    apart=$((size[curve_interval] * 1000000 / rows))
    middle=$((history * apart / 2))
    middle=$((middle - middle % period + period / 2))
    lab_table "$key" || return 1
    lab_clock[$key]=$(($(lab_cycle_start "$period") + middle - history * apart))
    lab_load "$key" "$history" "$apart" && lab_vacuum "$key" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" && lab_after "$key" &&
        lab_record curve "$key" '' "$rows" "$repetition" || return 1
    found "$key, $(bench_number "$rows") rows: $wal bytes of WAL a row"
}
