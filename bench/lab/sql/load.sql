-- Insert :rows rows, :spacing microseconds apart, the first that long after
-- :clock, in microseconds since 1970. They go in by their time, as they would
-- have come, so that the index has its natural shape. The payload is the row's
-- number, from :number + 1 on. Says how many seconds it took.
SELECT clock_timestamp() AS began \gset
INSERT INTO idgen_bench.:"table" (:columns)
SELECT :values
FROM (SELECT timestamptz 'epoch' + (:clock + n * :spacing) * interval '1 microsecond' AS moment,
             :number + n AS i
      FROM generate_series(1, :rows::bigint) n) arrivals;
SELECT extract(epoch FROM clock_timestamp() - :'began');
