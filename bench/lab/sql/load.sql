-- Insert :rows rows of simulated time, :spacing microseconds apart, the first
-- :spacing after :clock, in microseconds since 1970. They are inserted in the order
-- of their time, so that the index has the shape that it would have got. The
-- payload is the row's number, from :number + 1 on. Prints the seconds that it took.
-- With the clock given, a prefix of keyed_comb() lasts for a twelfth of the period. So
-- "period" is twelve times as long as a prefix without one is used at this rate: for an
-- hour, or until it has 512 rows, but at least five minutes, or until it has 65,504.
SELECT clock_timestamp() AS began \gset
INSERT INTO idgen_bench.:"table" (:columns)
SELECT :values
FROM (SELECT timestamptz 'epoch' + (:clock + n * :spacing) * interval '1 microsecond' AS moment,
             :number + n AS i,
             make_interval(secs => 12 * floor(least(3600e3, greatest(300e3, 0.512 * :spacing), 65.504 * :spacing))
                                   / 1000) AS period
      FROM generate_series(1, :rows::bigint) n) arrivals;
SELECT extract(epoch FROM clock_timestamp() - :'began');
