# shellcheck shell=bash disable=SC2034,SC2154
#
# tenants: a primary key (tenant, id). Each row belongs to a random tenant. With a single tenant, the index resembles an
# index on the id alone.

lab_keys random uuid_v7 keyed_comb
lab_set
tenants_rate=200

for tenants in ${tenants_tenants//,/ }; do
    for key in "${scene_keys[@]}"; do
        say "loading $(bench_number "$tenants_rows") rows of $tenants tenants"
        clock=$cycle_start spacing=$((60000000 / tenants_rate))
        lab_table "ALTER TABLE idgen_bench.rows ADD tenant int NOT NULL DEFAULT floor($tenants * random()),
                   DROP CONSTRAINT rows_pkey, ADD PRIMARY KEY (tenant, id)"
        lab_load "$tenants_rows"
        lab_vacuum
        for ((place = 1; place <= tenants_places; place++)); do
            for number in ${tenants_inserts//,/ }; do
                lab_lead "$tenants_rate"
                lab_measure "$number" "tenants: $tenants" "$number" "$place"
            done
        done
    done
done
