# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154    # variables of run.sh and lab.sh
#
# memory: as outgrow, but the operating system caches nothing, as if the index were
# also larger than all memory: the files are read and written with direct I/O
# (debug_io_direct). The index grows with the usual settings, since only the
# measured inserts are to wait for the disk.

memory_plan() {
    local repetition ratio held=0 rows why=

    if [ "$bench_server" = 1 ]; then
        why="it restarts the server with direct I/O"
    elif [ "$version_num" -lt 160000 ]; then
        why="direct I/O requires PostgreSQL 16"
    elif ! as_server_user dd if=/dev/zero of="$IDGEN_WORK/data/direct" oflag=direct bs=8192 count=1 2>/dev/null; then
        why="the file system of $IDGEN_WORK has no direct I/O"
    fi
    [ -z "$why" ] || { bench_progress "without the scene memory: $why"; return 0; }

    scene_bytes[memory]=$(bench_value "SELECT pg_size_bytes('${size[memory_shared_buffers]}')")
    for ratio in ${size[memory_ratios]//,/ }; do
        rows=$(awk -v ratio="$ratio" -v bytes="${scene_bytes[memory]}" 'BEGIN { printf "%d", ratio * bytes / 38 }')
        [ "$held" = 0 ] || plan 1500 memory_restart cached
        plan_keys "$(plan_load "$((rows - held))")" grow "$ratio"
        plan 1500 memory_restart direct
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            plan_keys "$((1000 + size[memory_inserts] / 2))" measure "$ratio" "$repetition"
        done
        held=$rows
    done
}

memory_begin() { begin_cycle; }

memory_restart() {
    local wanted=data buffers=${size[memory_shared_buffers]}

    say "restarting the server, $1"
    [ "$1" = direct ] || { wanted=; buffers=$shared_buffers; }
    bench_value "ALTER SYSTEM SET debug_io_direct = '$wanted'" &&
        bench_value "ALTER SYSTEM SET shared_buffers = '$buffers'" && idgen_restart
}

memory_end() { memory_restart cached; }

memory_grow() { outgrow_grow "$@"; }

memory_measure() { outgrow_measure "$@"; }
