-- Rows :first to :last of :rows, evenly over :days days from :moment on, or all
-- at that instant where the days are 0. The keys go through the index in
-- the order of time, as they would have come, so that it has its natural shape.
INSERT INTO idgen_bench.keys (:columns)
SELECT :values
FROM (SELECT :'moment'::timestamptz + i * (:'days'::float8 / :'rows'::float8) * interval '1 day' AS moment
      FROM generate_series(:first::bigint, :last::bigint) i) history;
