# shellcheck shell=bash
#
# reindex: the WAL of a row and the growth of the index, before and after a REINDEX that fills its
# pages to 90 % and to 70 %.

reindex_places=12

reindex_plan() {
    local rate fill
    require_numbers --reindex.rates "$reindex_rates"
    one_of_each_kind random uuid_v7 keyed_comb
    for rate in ${reindex_rates//,/ }; do
        [ $((rate * reindex_minutes * reindex_places)) -lt "$reindex_inserts" ] ||
            idgen_die "--reindex.inserts must be greater than $((rate * reindex_minutes * reindex_places))"
        plan_keys fill "$rate"
        for fill in '' 90 70; do plan_keys measure "$rate" "$fill"; done
    done
}

reindex_fill() {
    say "$1: loading $(bench_number "$reindex_rows") rows, $2 a minute"
    lab_fill "$1" "$reindex_rows" $((60000000 / $2))
}

reindex_measure() {
    local key=$1 rate=$2 fill=${3:-} apart=$((60000000 / $2)) rows=$(($2 * reindex_minutes)) series=before place bytes first
    if [ -n "$fill" ]; then
        series="after REINDEX to $fill %"
        bench_value "ALTER INDEX idgen_bench.${key}_pkey SET (fillfactor = $fill); REINDEX INDEX idgen_bench.${key}_pkey" || return 1
    fi
    say "$key: $rate rows a minute, $series"
    bytes=$(bench_value "SELECT pg_relation_size('idgen_bench.${key}_pkey')")
    first=${lab_rows[$key]}
    for ((place = 1; place <= reindex_places; place++)); do
        lab_load "$key" $((reindex_inserts / reindex_places - rows)) "$apart" && lab_measure "$key" "$rows" "$apart" || return 1
        [ "$place" -lt "$reindex_places" ] ||
            echo "growth_bytes_per_row $(quotient "$(($(index_bytes) - bytes))" "$((lab_rows[$key] - first))")" >> "$bench_scratch/metrics"
        lab_record "$key" "$series" "$rate" "$place" || return 1
    done
}
