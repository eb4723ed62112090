-- The table of a key. The payload is small, so that the cost of the key is not
-- hidden by the rest of the row. Autovacuum is off, so that only the inserts write.
DROP TABLE IF EXISTS idgen_bench.:"table";
CREATE TABLE idgen_bench.:"table" (
    id :type :column PRIMARY KEY,
    payload int NOT NULL
) WITH (autovacuum_enabled = false);
ALTER SEQUENCE idgen_bench.numbers RESTART;
