-- The foreign keys.
ALTER TABLE idgen_bench.:"lines" ADD FOREIGN KEY (order_id) REFERENCES idgen_bench.:"table";
ALTER TABLE idgen_bench.:"payments" ADD FOREIGN KEY (order_id) REFERENCES idgen_bench.:"table";
