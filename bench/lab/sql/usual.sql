-- A typical table of an application: rows of 300 bytes, and three other indexes.
CREATE TABLE idgen_bench.rows (
    id :type DEFAULT :default PRIMARY KEY,
    customer int NOT NULL,
    created timestamptz NOT NULL,
    token text NOT NULL UNIQUE,
    note text NOT NULL
) WITH (autovacuum_enabled = false);
CREATE INDEX ON idgen_bench.rows (customer);
CREATE INDEX ON idgen_bench.rows (created);
