-- Set "period", of the simulated keyed_comb(). With the clock given, a prefix of it lasts for a twelfth
-- of the period. So this is twelve times as long as a prefix without one is used when rows come
-- :spacing microseconds apart: for an hour, or until it has 512 rows, but at least five minutes, or
-- until it has 65,504.
SELECT make_interval(secs => 12 * floor(least(3600e3, greatest(300e3, 0.512 * :spacing), 65.504 * :spacing)) / 1000)
    AS period \gset
