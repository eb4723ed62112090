# shellcheck shell=bash disable=SC2034,SC2154
#
# heat: the leaf pages of the index into which the rows of three hours are inserted.

lab_keys random short_comb keyed_comb uuid_v7
lab_set

for key in "${scene_keys[@]}"; do
    lab_fill "$heat_rows" "$heat_rate"
    lab_before
    lab_load $((heat_rate * 180))
    lab_after $((heat_rate * 180)) >"$bench_scratch/result"
    lab_record '' '' 1 <"$bench_scratch/result"
    [ -e "$out/touches.csv" ] || echo "key,row,block,blocks,position" >"$out/touches.csv"
    lab_lsn
    lab_psql -f "$BENCH/sql/heat.sql" -v key="$key" -v lsn="$lsn" -v end_lsn="$end_lsn" >>"$out/touches.csv"
done
