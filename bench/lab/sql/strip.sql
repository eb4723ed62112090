-- The lines of touches.csv, for some :points rows: the place of the row in the
-- inserts (0 to 1), the leaf block to which it went, the blocks of the index, and
-- the place of the leaf in the index from left to right (0 to 1).
CREATE TEMPORARY TABLE leaf AS
SELECT s.blkno AS block, s.btpo_prev AS previous, s.btpo_next AS next
FROM generate_series(1, pg_relation_size('idgen_bench.' || :'index') / current_setting('block_size')::int - 1) b,
     LATERAL :pageinspect.bt_page_stats('idgen_bench.' || :'index', b::int) s
WHERE s.btpo_level = 0 AND s.type IN ('l', 'r');
CREATE UNIQUE INDEX ON leaf (block);
ANALYZE leaf;
CREATE TEMPORARY TABLE place AS
WITH RECURSIVE walk AS (
    SELECT 0 AS number, block, next FROM leaf WHERE previous = 0
    UNION ALL
    SELECT w.number + 1, l.block, l.next FROM walk w JOIN leaf l ON l.block = w.next
)
SELECT block, number::float8 / greatest(1, max(number) OVER ()) AS position FROM walk;
SELECT :'key' || ',' || round((t.number - 1)::numeric / greatest(1, n.rows - 1), 5) || ',' || t.block || ','
       || pg_relation_size('idgen_bench.' || :'index') / current_setting('block_size')::int || ','
       || round(p.position::numeric, 5)
FROM touch t
JOIN place p USING (block)
CROSS JOIN (SELECT count(*) AS rows FROM touch) n
WHERE (t.number - 1) % greatest(1, n.rows / :points) = 0
ORDER BY t.number;
