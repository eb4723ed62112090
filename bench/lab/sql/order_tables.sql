-- The tables of orders, lines and payments, without the foreign keys, so that they are filled faster.
CREATE TABLE idgen_bench.:"table" (id :type PRIMARY KEY, number bigint, created timestamptz, note text)
    WITH (autovacuum_enabled = false);
CREATE INDEX ON idgen_bench.:"table" (created);
CREATE TABLE idgen_bench.:"lines" (id :type PRIMARY KEY, order_id :type NOT NULL, position int, note text)
    WITH (autovacuum_enabled = false);
CREATE INDEX ON idgen_bench.:"lines" (order_id);
CREATE TABLE idgen_bench.:"payments" (id :type PRIMARY KEY, order_id :type NOT NULL, note text)
    WITH (autovacuum_enabled = false);
CREATE INDEX ON idgen_bench.:"payments" (order_id);
