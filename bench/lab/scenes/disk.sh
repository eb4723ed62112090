# shellcheck shell=bash
#
# disk: what reaches the disk for a row: its WAL, and the pages that are changed between two
# checkpoints; with other settings of the server; and the WAL of a VACUUM after a delete by time.

disk_rate=200 disk_apart=$((60000000 / disk_rate)) disk_series=

disk_plan() {
    local repetition rows setting
    require_numbers --disk.inserts "$disk_inserts"
    one_of_each_kind random short_comb keyed_comb uuid_v7
    plan_keys fill
    for setting in default ${disk_settings//,/ }; do
        [ "$setting" = default ] || disk_can "$setting" || continue
        plan+=("disk disk_set $setting")
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            for rows in ${disk_inserts//,/ }; do plan_keys measure "$repetition" "$rows"; done
        done
    done
    plan+=("disk disk_set default")
    plan_keys vacuum
}

# Only a private cluster can have another setting, and a server may be built without a compression.
disk_can() {
    local known="SELECT coalesce('${1#*=}' = ANY (enumvals), true) FROM pg_settings WHERE name = '${1%%=*}'"
    [ "$server" = 0 ] && [ "$(bench_value "$known")" = t ] || { bench_progress "disk without $1"; return 1; }
}

disk_set() {
    disk_series=
    [ "$1" != default ] || { lab_restart; return; }
    disk_series=${1/=/ }
    lab_restart "$1"
}

disk_fill() {
    say "$1: loading $(bench_number "$disk_rows") rows"
    lab_fill "$1" "$disk_rows" "$disk_apart"
}

disk_measure() {
    local key=$1 repetition=$2 rows=$3
    say "$key: $(bench_number "$rows") rows after a checkpoint${disk_series:+, $disk_series}"
    lab_load "$key" $((disk_rate * lab_minutes_before)) "$disk_apart" && lab_measure "$key" "$rows" "$disk_apart" &&
        disk_pages "$key" && lab_record "$key" "$disk_series" "$rows" "$repetition"
}

# Add the pages that the measured rows change, and their bytes and those of the WAL.
disk_pages() {
    local lsn end_lsn
    [ "$has_walinspect" = true ] || return 0
    read -r _ lsn _ end_lsn < <(grep '^lsn ' "$bench_scratch/counts")
    lab_sql pages "$1" -v lsn="$lsn" -v end_lsn="$end_lsn" >> "$bench_scratch/metrics" &&
        awk -v rows="$inserted" '
            { value[$1] = $2 }
            END {
                printf "changed_pages_per_row %.6g\n", value["changed_pages"] / rows
                printf "disk_bytes_per_row %.8g\n", value["wal_bytes_per_row"] + value["changed_bytes"] / rows
            }' "$bench_scratch/metrics" >> "$bench_scratch/metrics"
}

disk_vacuum() {
    local key=$1 deleted=$((lab_rows[$1] * disk_deleted / 100))
    say "$key: VACUUM after $(bench_number "$deleted") rows were deleted"
    lab_vacuum "$key" && bench_psql -c "DELETE FROM idgen_bench.$key WHERE payload <= $deleted" &&
        lab_cost "$key" "$deleted" bench_psql -c "VACUUM (INDEX_CLEANUP ON) idgen_bench.$key" \
            > "$bench_scratch/metrics" && lab_record "$key" VACUUM '' 1
}
