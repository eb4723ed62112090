-- A table with only a key. The payload is small, so that the rest of the row does not hide the cost of the key.
CREATE TABLE idgen_bench.rows (id :type DEFAULT :default PRIMARY KEY, payload int NOT NULL)
    WITH (autovacuum_enabled = false);
