-- Size in bytes, leaf density and leaf fragmentation in percent.
SELECT index_size, avg_leaf_density, leaf_fragmentation
FROM :pgstattuple.pgstatindex('idgen_bench.keys_pkey');
