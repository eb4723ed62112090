# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154    # variables of run.sh and lab.sh
#
# masked: UUIDs of version 7 that are stored as such and shown as random ones
# (mask_uuid_v7()), beside UUIDs of version 7 that are shown as they are, and beside
# short COMBs. Each row returns the key that users see, and is found by it.

masked_plan() {
    local repetition

    bench_value "SELECT idgen.mask_uuid_v7(idgen.uuid_v7())" >/dev/null 2> "$bench_scratch/error" || {
        bench_progress "without the scene masked: $(grep -m 1 ERROR: "$bench_scratch/error" | sed 's/.*ERROR: *//')"
        return 0
    }
    # the key of the table masked is stored as that of uuid_v7
    key_type[masked]=uuid
    key_column[masked]=
    key_history[masked]=${key_history[uuid_v7]}
    scene_keys=(masked uuid_v7 short_comb)
    plan_keys "$(plan_load "${size[masked_rows]}")" fill
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        plan_keys "$(plan_insert "${size[masked_inserts]}")" insert "$repetition"
        plan_keys "$((500 + size[masked_rows] / 1000))" lookup "$repetition"
    done
}

masked_fill() { fill_simulated "$1" "${size[masked_rows]}" "${size[masked_days]}"; }

masked_insert() {
    local key=$1 repetition=$2 rows=${size[masked_inserts]} returning=id apart

    say "$key: inserting $(bench_number "$rows") rows"
    [ "$key" != masked ] || returning='idgen.mask_uuid_v7(id)'
    apart=$(spacing "${size[masked_rate]}")
    lab_load "$key" "$(warmup "$rows")" "$apart" "$rows" "$returning" && lab_before "$key" &&
        lab_load "$key" "$rows" "$apart" "$rows" "$returning" && lab_after "$key" &&
        lab_record masked "$key" insert '' "$repetition"
}

masked_lookup() {
    local key=$1 repetition=$2 stored=w.id shown=id

    say "$key: looking up $(bench_number "${size[masked_reads]}") rows"
    [ "$key" != masked ] || { stored='idgen.unmask_uuid_v7(w.id)'; shown='idgen.mask_uuid_v7(id)'; }
    bench_value "DROP TABLE IF EXISTS idgen_bench.wanted" &&
        bench_value "CREATE TABLE idgen_bench.wanted AS SELECT $shown AS id FROM
            (SELECT id FROM idgen_bench.$key ORDER BY random() LIMIT ${size[masked_reads]}) any_rows" &&
        lab_lookups "$key" wanted "id = $stored" "id = $stored" &&
        lab_record masked "$key" lookup '' "$repetition"
}
