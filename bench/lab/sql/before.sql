-- Read the whole index, so that as much of it as possible is in shared buffers, as for a table in use. Then make a
-- checkpoint.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(id) FROM idgen_bench.rows \g /dev/null
CHECKPOINT;
-- The counters must include these reads and the checkpointer's WAL.
SELECT pg_sleep(0.05) \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
