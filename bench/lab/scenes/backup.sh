# shellcheck shell=bash
#
# backup: the size of an incremental backup of the index, some hours after the full one.

backup_rate=200 backup_apart=$((60000000 / backup_rate))
declare -A backup_hour      # the hours whose rows the key's table has got since the full backup

backup_plan() {
    local hours
    require_numbers --backup.hours "$backup_hours"
    [ "$server" = 0 ] && [ "$(bench_value "SHOW server_version_num")" -ge 170000 ] ||
        { bench_progress "without the scene backup: it needs a private cluster of PostgreSQL 17 or later"; return 0; }
    one_of_each_kind random short_comb keyed_comb uuid_v7
    plan+=("backup lab_restart summarize_wal=on")
    plan_keys fill
    plan+=("backup backup_take full")
    for hours in ${backup_hours//,/ }; do
        plan_keys load "$hours"
        plan+=("backup backup_take $hours")
        plan_keys measure "$hours"
    done
}

backup_fill() {
    say "$1: loading $(bench_number "$backup_rows") rows"
    backup_hour[$1]=0
    lab_fill "$1" "$backup_rows" "$backup_apart"
}

backup_load() {
    lab_load "$1" $((($2 - backup_hour[$1]) * 60 * backup_rate)) "$backup_apart" && backup_hour[$1]=$2
}

# Back up all, in full or since the full backup, into the folder of that name.
backup_take() {
    local since=(-i "$bench_scratch/full/backup_manifest")
    [ "$1" != full ] || since=()
    say "a backup: $1"
    bench_run pg_basebackup -D "$bench_scratch/$1" -c fast -X fetch --no-sync "${since[@]}" || return 1
    [ "$1" != full ] || find "$bench_scratch/full" -mindepth 1 ! -name backup_manifest -delete
}

backup_measure() {
    local key=$1 hours=$2 path
    path=$(bench_value "SELECT pg_relation_filepath('idgen_bench.${key}_pkey')") || return 1
    {
        # a file of which nearly all pages were changed is there as a whole
        find "$bench_scratch/$hours/${path%/*}" -regex ".*/\(INCREMENTAL\.\)?${path##*/}\(\.[0-9]+\)?" -printf '%s\n' |
            awk '{ bytes += $1 } END { print "incremental_bytes", bytes }'
        lab_sql after "$key" -v want_touches=false
    } > "$bench_scratch/metrics" && lab_record "$key" '' "$hours" 1
}
