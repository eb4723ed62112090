# shellcheck shell=bash disable=SC2034,SC2154
#
# lists: the cost of a list that shows the newest rows first, page by page. Version 7 UUIDs, which mask_uuid_v7() hides,
# are ordered by time. Other keys require a timestamp column and an index on it.

lab_keys uuid_v7 keyed_comb
lab_set
lists_rate=200

for key in "${scene_keys[@]}"; do
    table=list
    [ "$key" != uuid_v7 ] || table=narrow
    lab_fill "$lists_rows" "$lists_rate"
    for ((place = 1; place <= lists_places; place++)); do
        lab_lead "$lists_rate"
        lab_measure "$lists_inserts" '' '' "$place"
    done
    bench_value "SELECT 'table_bytes_per_row', pg_total_relation_size('idgen_bench.rows') / $rows.0" |
        lab_record '' '' 1
done
table=narrow
