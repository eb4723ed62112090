-- The prediction of idgen.expected_key_cost() for each measurement in the table
-- result, as lines of measurements.csv. docs/performance.md derives the model.
WITH measurement AS (
    SELECT scene, key, series, x, repetition,
           max(value) FILTER (WHERE metric = 'index_rows') AS index_rows,
           max(value) FILTER (WHERE metric = 'inserted_rows') AS inserted_rows,
           max(value) FILTER (WHERE metric = 'rows_per_s') AS rows_per_s,
           max(value) FILTER (WHERE metric = 'prefix_rows') AS prefix_rows
    FROM result
    WHERE scene IN ('curve', 'rates', 'steady', 'bulk', 'changeover')
    GROUP BY scene, key, series, x, repetition
    HAVING count(*) FILTER (WHERE metric = 'inserted_rows') > 0
), key_kind AS (
    -- row_bytes: key and payload in the table, with alignment;
    -- sequence_bytes: the share of a record for 32 values
    SELECT unnest(keys) AS key, kind, run_length, key_bytes, row_bytes, sequence_bytes
    FROM (VALUES ('{bigint}'::text[], 'ordered', 1, 8, 12, 99 / 32.0),
                 ('{snowflake,js_id,trace_id,decimal_id}', 'ordered', 1, 8, 12, 0),
                 ('{uuid_v7,uuid_v7_ordered,uuidv7,uuid_v6,lambert_comb,comb}', 'ordered', 1, 16, 20, 0),
                 ('{object_id}', 'ordered', 1, 25, 32, 0), ('{ulid}', 'ordered', 1, 27, 32, 0),
                 ('{typeid}', 'ordered', 1, 32, 36, 0),
                 ('{random,uuid_v4,suffix_comb,short_suffix_comb}', 'random', 1, 16, 20, 0),
                 ('{short_comb}', 'short_comb', 1, 16, 20, 0),
                 ('{short_comb_run}', 'short_comb', 1024, 16, 20, 0),
                 ('{keyed_comb}', 'keyed_comb', 1, 16, 20, 0)
         ) v (keys, kind, run_length, key_bytes, row_bytes, sequence_bytes)
), period AS (
    SELECT m.*, k.kind, k.key_bytes, k.row_bytes, k.sequence_bytes,
           -- the runs of short_comb() in a transaction of many rows
           CASE WHEN key = 'short_comb' AND scene = 'bulk' THEN 4096
                ELSE k.run_length END AS run_length,
           CASE scene
               WHEN 'steady' THEN rows_per_s * 60
               WHEN 'bulk' THEN index_rows + inserted_rows
               WHEN 'curve' THEN x / 5       -- its checkpoints are every five minutes
               WHEN 'rates' THEN x
               WHEN 'changeover' THEN 60.0 * :changeover_rate
           END * CASE kind WHEN 'keyed_comb' THEN 60 ELSE 1 END AS period_rows,
           CASE WHEN scene = 'changeover' AND series = 'changed' THEN :changeover_rows ELSE 0 END AS random_rows
    FROM measurement m JOIN key_kind k USING (key)
    -- the model begins in the middle of a keyed COMB's prefix, steady and bulk begin with one
    WHERE kind <> 'keyed_comb' OR scene IN ('curve', 'rates', 'changeover')
), place AS (
    SELECT p.*,
           least(greatest(prefix_rows - floor(index_rows / (period_rows * 65536)) * period_rows, 0),
                 period_rows * 0.999999) AS rows_in_period,
           -- the history of steady has fewer rows a minute than the measured inserts
           CASE scene WHEN 'steady' THEN index_rows / (:steady_days * 1440.0) ELSE period_rows END AS history_rows
    FROM period p
), cycle AS (
    -- The rows since the prefixes began with 0. The history of steady ends now; a cycle begins in the
    -- middle of that of curve; the others begin with a cycle, up to the last one in the place of its period.
    SELECT p.*, history_rows * 65536 AS cycle_rows,
           CASE scene
               WHEN 'steady' THEN history_rows * (mod(floor(extract(epoch FROM now()) / 60), 65536) + 0.5)
               WHEN 'curve' THEN index_rows / 2
               ELSE rows_in_period + period_rows *
                    ceil((index_rows - floor(index_rows / (history_rows * 65536)) * history_rows * 65536
                          - rows_in_period) / period_rows)
           END AS rows_in_cycle
    FROM place p
)
SELECT scene, key, series, x, repetition, 'predicted_' || metric, value
FROM cycle,
     -- the place in the period; it matters for the cycle only whether the keys are the greatest
     idgen.expected_key_cost(kind, index_rows, inserted_rows, period_rows, 2, run_length, key_bytes,
         rows_in_period
         + CASE WHEN rows_in_cycle >= index_rows THEN ceil(index_rows / period_rows) * period_rows ELSE 0 END,
         random_rows) cost,
     -- the index after the inserts
     idgen.expected_key_cost(kind, index_rows + inserted_rows, inserted_rows, history_rows, 2, run_length, key_bytes,
         least(rows_in_cycle + inserted_rows, cycle_rows), random_rows) size,
     -- heap records; a commit for each row; the image of the heap's last page
     LATERAL (SELECT 55 + row_bytes + sequence_bytes + CASE scene WHEN 'steady' THEN 34 ELSE 0 END
                     + 4100 / inserted_rows AS bytes) heap,
     -- the density in percent, as it is measured by pgstatindex()
     LATERAL (VALUES
         ('wal_bytes_per_row', round((cost.image_bytes_per_row + cost.record_bytes_per_row + bytes)::numeric, 2)),
         ('fpi_per_row', round(cost.images_per_row::numeric, 6)),
         ('leaf_density', round(100 * size.leaf_density::numeric, 2)),
         ('index_bytes', size.index_bytes)) v (metric, value)
ORDER BY 1, 2, 3, 4, 5;
