# shellcheck shell=bash
#
# tenants: the WAL of a row and the size of the index of a primary key (tenant, id). The tenant of a
# row is random; the index of one tenant is as one of the id alone.

tenants_rate=200 tenants_places=6

tenants_plan() {
    local tenants rows place
    require_numbers --tenants.tenants "$tenants_tenants"
    require_numbers --tenants.inserts "$tenants_inserts"
    one_of_each_kind random uuid_v7 keyed_comb
    for tenants in ${tenants_tenants//,/ }; do
        plan_keys fill "$tenants"
        for ((place = 1; place <= tenants_places; place++)); do
            for rows in ${tenants_inserts//,/ }; do plan_keys measure "$tenants" "$rows" "$place"; done
        done
    done
}

tenants_fill() {
    say "$1: loading $(bench_number "$tenants_rows") rows of $2 tenants"
    lab_clock[$1]=$lab_cycle_start
    lab_table "$1" &&
        bench_value "ALTER TABLE idgen_bench.$1 ADD tenant int NOT NULL DEFAULT floor($2 * random()),
                     DROP CONSTRAINT $1_pkey, ADD PRIMARY KEY (tenant, id)" &&
        lab_load "$1" "$tenants_rows" $((60000000 / tenants_rate)) && lab_vacuum "$1"
}

tenants_measure() {
    local key=$1 tenants=$2 rows=$3 place=$4 apart=$((60000000 / tenants_rate))
    say "$key: $(bench_number "$rows") rows of $tenants tenants"
    lab_load "$key" $((tenants_rate * lab_minutes_before)) "$apart" &&
        lab_measure "$key" "$rows" "$apart" && lab_record "$key" "tenants: $tenants" "$rows" "$place"
}
