-- Remove the rows whose number is not above :gone, and make room for others.
DELETE FROM idgen_bench.:"table" WHERE payload <= :gone;
VACUUM (INDEX_CLEANUP ON) idgen_bench.:"table";
