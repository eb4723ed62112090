-- Print the size and the density of the primary key's index in a table of :rows rows.
SELECT name, round(value, 3)
FROM idgen_bench.pgstatindex('idgen_bench.rows_pkey'),
     LATERAL (VALUES ('index_bytes_per_row', index_size / :rows::numeric), ('leaf_density', avg_leaf_density::numeric))
         metric (name, value);
