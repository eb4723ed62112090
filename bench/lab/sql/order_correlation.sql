-- The correlation of the key with the place of the row in the table, by which the planner estimates a walk by key.
ANALYZE idgen_bench.:"table";
SELECT 'correlation', correlation FROM pg_stats
WHERE schemaname = 'idgen_bench' AND tablename = :'table' AND attname = 'id';
