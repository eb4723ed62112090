-- List the functions of the newest release as (arguments) -> result: names. Their signatures do not change within 1.x.
\pset format unaligned
\pset tuples_only
SET client_min_messages = warning;
BEGIN;
DROP EXTENSION idgen;
CREATE EXTENSION idgen VERSION '1.0';
CREATE TEMP TABLE released AS SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace;
ALTER EXTENSION idgen UPDATE;
SELECT format('(%s) -> %s: %s', arguments, result, string_agg(proname, ', ' ORDER BY proname COLLATE "C"))
FROM (SELECT proname, regexp_replace(pg_get_function_arguments(p.oid), '::[a-z ]+', '', 'g') AS arguments,
             pg_get_function_result(p.oid) AS result
      FROM pg_proc p
           JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
           JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'idgen'
      WHERE proname !~ '^internal_' AND proname IN (TABLE released)) f
GROUP BY arguments, result
ORDER BY min(proname COLLATE "C");
ROLLBACK;

-- These functions are LEAKPROOF, because they never raise an error that contains their argument. Their conditions can
-- therefore use an index despite row-level security.
SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND proleakproof ORDER BY proname COLLATE "C";
