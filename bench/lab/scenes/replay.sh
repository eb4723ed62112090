# shellcheck shell=bash disable=SC2034,SC2154
#
# replay: the time of replaying the WAL of rows, as on a replica or after a crash. The operating system caches the files
# or, since PostgreSQL 16, the server uses direct I/O. The server is stopped as in a crash, and is started with copies
# of its data directory.

lab_keys random uuid_v7 keyed_comb
data=$IDGEN_WORK/data

# Print the seconds that the replay takes. Arguments: SETTING=VALUE ...
replay_once() {
    rm -rf "$data"
    cp -a "$IDGEN_WORK/crashed" "$data"
    idgen_settings shared_buffers="$replay_shared_buffers" "$@" >>"$data/postgresql.auto.conf"
    idgen_pg_ctl start || lab_die "the server did not start"
    sed -n 's/.* redo done at .* elapsed: \([0-9.]*\) s$/replay_s \1/p' "$IDGEN_WORK/server.log" | tail -n 1
    idgen_pg_ctl stop
}

for table in ${replay_tables//,/ }; do
    for key in "${scene_keys[@]}"; do
        lab_restart shared_buffers=1GB
        lab_fill "$replay_rows" 200
        lab_before
        lab_load "$replay_inserts"
        lab_psql -o /dev/null -c "$lab_flush"
        lab_after "$replay_inserts" >"$bench_scratch/result"
        lab_record "$table" "$replay_inserts" 1 <"$bench_scratch/result"
        direct=()
        ! lab_can debug_io_direct=data || direct=(debug_io_direct=data)
        idgen_pg_ctl stop -m immediate
        mv "$data" "$IDGEN_WORK/crashed"
        for ((round = 1; round <= replay_rounds; round++)); do
            replay_once | lab_record "$table" "$replay_inserts" "$round"
            [ ${#direct[@]} = 0 ] ||
                replay_once "${direct[@]}" | lab_record "$table, direct I/O" "$replay_inserts" "$round"
        done
        rm -rf "$IDGEN_WORK/crashed"
        idgen_pg_ctl start || lab_die "the server did not start"
    done
done
table=narrow
