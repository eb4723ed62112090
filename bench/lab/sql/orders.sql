-- Insert :rows orders of simulated time, each with three lines. The expression :value generates their keys.
WITH arrived AS (
    INSERT INTO idgen_bench.rows (id, payload, created)
    SELECT :value, i, moment
    FROM (SELECT timestamptz 'epoch' + (:clock + n * :spacing) * interval '1 microsecond' AS moment, :number + n AS i
          FROM generate_series(1, :rows::bigint) n) arrivals
    RETURNING id, payload, created
)
INSERT INTO idgen_bench.lines
SELECT :value, order_id
FROM (SELECT arrived.id AS order_id, created AS moment, 3 * payload + position AS i
      FROM arrived, generate_series(1, 3) position) lines;
