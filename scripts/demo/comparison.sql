-- comparison.sql: print the results of the comparison as bars and as tables. Requires
-- room, the length of the longest bar in characters, and block, the character.

\pset footer off

CREATE VIEW pg_temp.comparison AS
SELECT scene, expression, number,
       min(value) FILTER (WHERE metric = 'wal_bytes_per_row') AS wal,
       min(value) FILTER (WHERE metric = 'fpi_per_row') AS pages,
       min(value) FILTER (WHERE metric = 'us_per_row') AS us,
       min(value) FILTER (WHERE metric = 'index_bytes') AS bytes,
       min(value) FILTER (WHERE metric = 'leaf_density') AS density
FROM measured JOIN key ON key.name = measured.key
GROUP BY scene, expression, number;

CREATE FUNCTION pg_temp.bars(of_scene text, room int, block text) RETURNS SETOF text
LANGUAGE sql AS $$
    SELECT rpad(replace(expression, 'idgen.', ''), 31)
           || repeat(block, greatest(1, round(room * wal / max(wal) OVER ())::int))
           || ' ' || round(wal) || '  ('
           || round(wal / min(wal) FILTER (WHERE expression = 'bigint identity') OVER (), 1) || ' x bigint)'
    FROM pg_temp.comparison WHERE scene = of_scene
    ORDER BY number
$$;

CREATE FUNCTION pg_temp.numbers(of_scene text)
RETURNS TABLE (key text, "WAL B/row" int, "pages/row" numeric, "us/row" numeric,
               "index MB" numeric, "full %" int)
LANGUAGE sql AS $$
    SELECT replace(expression, 'idgen.', ''), wal::int, round(pages, 3), round(us, 1),
           round(bytes / 1048576, 1), density::int
    FROM pg_temp.comparison WHERE scene = of_scene
    ORDER BY number
$$;

\echo
\echo 'One row a transaction, into a table with a history. Bytes of WAL a row:'
\echo
\pset tuples_only on
\pset format unaligned
SELECT pg_temp.bars('steady', :room, :'block');

\echo
\echo 'Many rows of one minute in one INSERT. After the first ones, the keys of'
\echo 'short_comb() are in runs, which are side by side in the index.'
\echo 'Bytes of WAL a row:'
\echo
SELECT pg_temp.bars('bulk', :room, :'block');
\pset format wrapped
\pset tuples_only off

\echo
\echo 'The figures: bytes of WAL and full-page images in it, microseconds (which vary'
\echo 'in such a short run), the size of the index, and how full its leaf pages are.'
\echo 'One row a transaction:'
\echo
SELECT * FROM pg_temp.numbers('steady');

\echo 'The bulk load:'
\echo
SELECT * FROM pg_temp.numbers('bulk');
