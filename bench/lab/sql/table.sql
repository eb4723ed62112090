-- The table under test. The payload is as small as a row can be, so that what
-- the key costs is not hidden by what the rest of a row costs. Autovacuum stays
-- away, so that only the inserts write.
DROP TABLE IF EXISTS idgen_bench.:"table";
CREATE TABLE idgen_bench.:"table" (
    id :type :column PRIMARY KEY,
    payload int NOT NULL
) WITH (autovacuum_enabled = false);
ALTER SEQUENCE idgen_bench.numbers RESTART;
