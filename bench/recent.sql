-- The ids of the rows that were inserted last, in random order. Nothing was
-- ever deleted, so the rows lie in the order of their insertion.
DROP TABLE IF EXISTS idgen_bench.recent;
CREATE TABLE idgen_bench.recent AS
    SELECT id
    FROM (SELECT id FROM idgen_bench.keys ORDER BY ctid DESC LIMIT :reads) newest
    ORDER BY random();
