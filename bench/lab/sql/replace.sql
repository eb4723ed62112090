-- Delete the rows whose number is at most :gone, and make their space reusable.
DELETE FROM idgen_bench.:"table" WHERE payload <= :gone;
VACUUM (INDEX_CLEANUP ON) idgen_bench.:"table";
