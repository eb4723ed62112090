-- Insert :rows rows of simulated time, :spacing microseconds apart, the first
-- :spacing after :clock, in microseconds since 1970. They are inserted in the order
-- of their time, so that the index has the shape that it would have got. The
-- payload is the row's number, from :number + 1 on. Prints the seconds that it took.
\ir period.sql
SELECT clock_timestamp() AS began \gset
INSERT INTO idgen_bench.:"table" (:columns)
SELECT :values
FROM (SELECT timestamptz 'epoch' + (:clock + n * :spacing) * interval '1 microsecond' AS moment,
             :number + n AS i, interval :'period' AS period
      FROM generate_series(1, :rows::bigint) n) arrivals;
SELECT extract(epoch FROM clock_timestamp() - :'began');
