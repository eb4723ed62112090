-- The objects that CREATE EXTENSION creates, here after it created the
-- required extension, too.
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
DROP EXTENSION idgen_advisor, idgen;
CREATE EXTENSION idgen_advisor CASCADE;
RESET client_min_messages;

SELECT extname, extversion, nspname, extrelocatable, trusted, schema, requires
FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace JOIN pg_available_extension_versions ON name = extname AND version = extversion
WHERE extname LIKE 'idgen%' ORDER BY extname COLLATE "C";

-- functions only: volatility, parallel safety, comments and rights
SELECT coalesce(proname, pg_describe_object(d.classid, d.objid, d.objsubid)) COLLATE "C" AS object, pg_get_function_arguments(p.oid) AS arguments,
       provolatile AS vol, proparallel AS par, proisstrict AS strict, prosecdef AS secdef,
       obj_description(p.oid, 'pg_proc') IS NOT NULL AS has_comment,
       has_function_privilege('public', p.oid, 'EXECUTE') AS public
FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
     LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE extname = 'idgen_advisor' ORDER BY object;

-- a client can call each function with parameters that have no type
PREPARE cost AS SELECT idgen.expected_key_cost($1, $2, $3, $4, $5, $6, $7, $8, $9);
PREPARE plan AS SELECT idgen.key_plan($1, $2, $3, $4);
PREPARE report AS SELECT idgen.index_report($1, $2, $3);
PREPARE reports AS SELECT idgen.index_reports($1);
PREPARE sample AS SELECT idgen.index_sample($1, $2, $3);
PREPARE leaves AS SELECT idgen.filled_leaves($1, $2, $3, $4, $5, $6, $7);
PREPARE wal AS SELECT idgen.index_wal($1, $2);

-- idgen cannot be dropped alone
DROP EXTENSION idgen;
