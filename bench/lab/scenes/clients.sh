# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# clients: as steady, but with several sessions at once.

clients_plan() {
    local key repetition count

    for key in "${sweep_keys[@]}"; do
        plan "$(plan_load "${size[clients_rows]}")" clients_fill "$key"
    done
    IFS=, read -ra clients_counts <<<"${size[clients_counts]}"
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for count in "${clients_counts[@]}"; do
            for key in "${sweep_keys[@]}"; do
                plan "$(plan_transactions "${size[clients_inserts]}")" clients_measure "$key" "$count" "$repetition"
            done
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
