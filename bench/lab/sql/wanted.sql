-- Choose the rows to look up. No row was deleted, so the table is in the order of
-- insertion.
DROP TABLE IF EXISTS idgen_bench.:"recent", idgen_bench.:"random";
CREATE TABLE idgen_bench.:"recent" AS
    SELECT id
    FROM (SELECT id FROM idgen_bench.:"table" ORDER BY ctid DESC LIMIT :reads) newest
    ORDER BY random();
CREATE TABLE idgen_bench.:"random" AS
    SELECT id
    FROM (SELECT id FROM idgen_bench.:"table" ORDER BY random() LIMIT :reads) any_rows;
\if :has_bounds
-- :ranges ranges of time, at random places, that contain :reads rows together
DROP TABLE IF EXISTS idgen_bench.:"range";
CREATE TABLE idgen_bench.:"range" AS
    SELECT :floor(instant) AS low,
           :ceil(instant + (:reads / :ranges) * :spacing::bigint * interval '1 microsecond') AS high
    FROM (SELECT timestamptz 'epoch' + (:clock + random() * (:rows - :reads / :ranges) * :spacing::bigint)
                 * interval '1 microsecond' AS instant
          FROM generate_series(1, :ranges)) instants;
\endif
CHECKPOINT;
