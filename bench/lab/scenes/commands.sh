# shellcheck shell=bash disable=SC2034,SC2154
#
# commands: create_once(), by kind of command id. Each command creates a row whose key is a keyed COMB, in its own
# transaction. The scene measures first calls, their repetition, first calls during a purge, and VACUUM after a purge.

# shellcheck source-path=SCRIPTDIR/.. source=commands.sh
. "$BENCH/commands.sh"
lab_keys random uuid_v7 named_v7
lab_set shared_buffers="$commands_shared_buffers"
index=creation_identifiers_pkey

for recorded in ${commands_rows//,/ }; do
    for key in "${scene_keys[@]}"; do
        commands_fill "$recorded" "${key_simulated[$key]}" "${key_simulated[keyed_comb]}" uuid true
        commands_size 'first call' "$recorded" "$index"
        for ((round = 1; round <= commands_rounds; round++)); do
            commands_measure 'first call' "$recorded" "$round" "$commands_number" commands_call
            commands_measure repetition "$recorded" "$round" "$commands_number" commands_repeat
            commands_measure 'first call beside a purge' "$recorded" "$round" "$commands_number" commands_call_and_purge
        done
        commands_vacuum
        lab_psql -o /dev/null -c "SELECT idgen.purge_creations('1 hour', NULL, $((recorded / 50)))"
        commands_measure 'VACUUM of purged commands' "$recorded" 1 $((recorded / 50)) commands_vacuum
    done
done
index=rows_pkey
