-- A line of advice.csv: the advisor's report on the index. Without the counters of
-- the table, which are those of a load, it counts the pages of the newest rows.
SELECT has_function_privilege('pg_stat_reset_single_table_counters(oid)', 'execute') AS may_reset \gset
\if :may_reset
SELECT pg_stat_reset_single_table_counters(to_regclass('idgen_bench.' || :'table')) \g /dev/null
\endif
COPY (
    SELECT split_part(:'names', ',', 1), split_part(:'names', ',', 2), split_part(:'names', ',', 3),
           key_kind, round(leaf_density::numeric, 2), round(newest_leaf_share::numeric, 6), advice
    FROM idgen.index_report('idgen_bench.' || :'index')
) TO STDOUT (FORMAT csv);
