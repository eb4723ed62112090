-- Insert the payments of the :rows orders before the last :delay minutes, of which none is paid. Each is made :delay
-- minutes after its order.
\ir period.sql
INSERT INTO idgen_bench.:"payments"
SELECT :value, order_id, repeat('z', 40)
FROM (SELECT id AS order_id, created + :delay * interval '1 minute' AS moment, number AS i, interval :'period' AS period
      FROM idgen_bench.:"table"
      WHERE created > timestamptz 'epoch' + (:clock - :rows::bigint * :spacing) * interval '1 microsecond'
                      - :delay * interval '1 minute'
        AND created <= timestamptz 'epoch' + :clock * interval '1 microsecond' - :delay * interval '1 minute'
      ORDER BY created) due;
