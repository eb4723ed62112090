# shellcheck shell=bash
# shellcheck disable=SC2154    # variables of run.sh and lab.sh
#
# clients: as steady, but with several sessions at once.

clients_plan() {
    local repetition count

    plan_keys "$(plan_load "${size[clients_rows]}")" fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for count in ${size[clients_counts]//,/ }; do
            plan_keys "$(plan_transactions "${size[clients_inserts]}")" measure "$count" "$repetition"
        done
    done
}

clients_fill() { fill_until_now "$1" "${size[clients_rows]}" "${size[clients_days]}"; }

clients_measure() {
    local key=$1 count=$2 repetition=$3

    say "$key: $count sessions inserting"
    lab_pgbench "$key" "$(warmup "${size[clients_inserts]}")" "$count" && lab_before "$key" &&
        lab_pgbench "$key" "${size[clients_inserts]}" "$count" && lab_after "$key" &&
        lab_record clients "$key" '' "$count" "$repetition"
}
