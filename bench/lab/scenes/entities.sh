# shellcheck shell=bash disable=SC2034,SC2154
#
# entities: create_once(), create_once_bigint() and create_once_text(), by kind of proposed id. The command ids are
# version 7 UUIDs, and no row is inserted. The scene also measures without the index on the proposed ids.

# shellcheck source-path=SCRIPTDIR/.. source=commands.sh
. "$BENCH/commands.sh"
lab_keys random keyed_comb permuted text_random text_keyed
lab_set shared_buffers="$entities_shared_buffers"
commands_rounds=$entities_rounds

for recorded in ${entities_rows//,/ }; do
    for key in "${scene_keys[@]}"; do
        commands_fill "$recorded" "${key_simulated[uuid_v7]}" "${key_simulated[$key]}" "${key_type[$key]}" false
        index=creation_identifiers_${commands_column[${key_type[$key]}]}
        definition=$(bench_value "SELECT pg_get_indexdef('idgen.$index'::regclass)")
        commands_size 'with its index' "$recorded" "$index"
        for ((round = 1; round <= commands_rounds; round++)); do
            commands_measure 'with its index' "$recorded" "$round" "$commands_number" commands_call
        done
        lab_psql -c "DROP INDEX idgen.$index"
        for ((round = 1; round <= commands_rounds; round++)); do
            commands_measure 'without its index' "$recorded" "$round" "$commands_number" commands_call
        done
        lab_psql -c "TRUNCATE idgen.creation_identifiers" -c "$definition"
    done
done
index=rows_pkey
