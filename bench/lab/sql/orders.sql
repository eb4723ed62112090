-- Insert :rows orders of simulated time, as load.sql inserts rows, each with three lines.
\ir period.sql
WITH arrived AS (
    INSERT INTO idgen_bench.:"table"
    SELECT :value, i, moment, repeat('x', 60)
    FROM (SELECT timestamptz 'epoch' + (:clock + n * :spacing) * interval '1 microsecond' AS moment,
                 :number + n AS i, interval :'period' AS period
          FROM generate_series(1, :rows::bigint) n) arrivals
    RETURNING id, number, created
)
INSERT INTO idgen_bench.:"lines"
SELECT :value, order_id, position, repeat('y', 40)
FROM (SELECT arrived.id AS order_id, position, created AS moment, 3 * number + position AS i,
             interval :'period' AS period
      FROM arrived, generate_series(1, 3) position) lines;
