-- A table with a key, and with a timestamp for lists
CREATE TABLE idgen_bench.rows
    (id :type DEFAULT :default PRIMARY KEY, created timestamptz NOT NULL, payload int NOT NULL)
    WITH (autovacuum_enabled = false);
CREATE INDEX ON idgen_bench.rows (created, id);
