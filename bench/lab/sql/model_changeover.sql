-- The prediction of idgen.expected_key_cost() for the scene changeover, as that of
-- model.sql. docs/performance.md explains the differences to a table that had the
-- keys from the start:
--
-- - Ascending keys are inserted in the middle of the index, where leaves split in
--   halves. The records of such splits are those of random keys.
-- - A period of a short COMB contains the random rows that have its prefix. Their
--   leaves are changed as if by random keys.
WITH measurement AS (
    SELECT key, series, x, repetition,
           max(value) FILTER (WHERE metric = 'index_rows') AS index_rows,
           max(value) FILTER (WHERE metric = 'inserted_rows') AS inserted_rows,
           max(value) FILTER (WHERE metric = 'prefix_rows') AS prefix_rows,
           60.0 * :changeover_rate AS period_rows,
           :changeover_rows / 65536.0 AS random_rows_of_prefix
    FROM measured
    WHERE scene = 'changeover' AND x > 0
    GROUP BY key, series, x, repetition
), key_kind (key, kind, run_length) AS (
    VALUES ('random', 'random', 1), ('uuid_v7', 'ordered', 1), ('uuid_v7_ordered', 'ordered', 1), ('uuidv7', 'ordered', 1),
           ('comb', 'ordered', 1), ('short_comb', 'short_comb', 1), ('short_comb_run', 'short_comb', 1024)
), expected AS (
    SELECT m.*,
           c.page_images_per_row + coalesce(old.page_images_per_row, 0) AS images,
           c.image_bytes_per_row + coalesce(old.image_bytes_per_row, 0) AS image_bytes,
           CASE WHEN series = 'changed' AND kind = 'ordered' THEN halves.record_bytes_per_row ELSE c.record_bytes_per_row END AS record_bytes
    FROM measurement m JOIN key_kind USING (key)
         CROSS JOIN idgen.expected_key_cost(kind, CASE kind WHEN 'short_comb' THEN index_rows - :changeover_rows ELSE index_rows END,
             inserted_rows, period_rows, 2, run_length, 16,
             least(greatest(prefix_rows - random_rows_of_prefix, 0), period_rows)) c
         CROSS JOIN idgen.expected_key_cost('random', index_rows, inserted_rows) halves
         LEFT JOIN idgen.expected_key_cost('random', random_rows_of_prefix * inserted_rows / period_rows, inserted_rows) old
             ON kind = 'short_comb'
)
SELECT 'changeover', key, series, x, repetition, metric, round(value::numeric, 6)
FROM expected, LATERAL (VALUES
    -- heap records; the image of the heap's last page
    ('predicted_wal_bytes_per_row', image_bytes + record_bytes + 55 + 20 + 4100 / inserted_rows),
    ('predicted_fpi_per_row', images)) predicted (metric, value)
ORDER BY key, series, x, repetition, metric;
