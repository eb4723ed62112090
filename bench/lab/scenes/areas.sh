# shellcheck shell=bash disable=SC2034,SC2154
#
# areas: keyed COMBs with an area for each tenant, so that a tenant cannot date the keys of another tenant. Each row
# belongs to a random tenant.

lab_keys random keyed_comb
lab_set
areas_rate=200

for tenants in ${areas_tenants//,/ }; do
    for key in "${scene_keys[@]}"; do
        simulated=${key_simulated["$key"]}
        key_simulated["$key"]=${simulated/"'rows'"/"'rows ' || floor($tenants * random())"}
        lab_fill "$areas_rows" "$areas_rate"
        for ((place = 1; place <= areas_places; place++)); do
            lab_lead "$areas_rate"
            lab_measure "$areas_inserts" '' "$tenants" "$place"
        done
        key_simulated["$key"]=$simulated
    done
done
