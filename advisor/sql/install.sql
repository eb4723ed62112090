-- The objects that CREATE EXTENSION creates, here after it created the
-- required extension, too.
SET client_min_messages = warning;
DROP EXTENSION idgen_advisor;
DROP EXTENSION idgen;
CREATE EXTENSION idgen_advisor CASCADE;
RESET client_min_messages;

SELECT e.extname, e.extversion, n.nspname, e.extrelocatable
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname LIKE 'idgen%' ORDER BY e.extname COLLATE "C";

SELECT trusted, relocatable, schema, requires
FROM pg_available_extension_versions
WHERE name = 'idgen_advisor' AND version = '1.0';

-- the functions: volatility, parallel safety, comments and rights
\pset format unaligned
SELECT proname, pg_get_function_identity_arguments(p.oid) AS arguments,
       provolatile AS vol, proparallel AS par, proisstrict AS strict, prosecdef AS secdef,
       obj_description(p.oid, 'pg_proc') IS NOT NULL AS has_comment,
       has_function_privilege('public', p.oid, 'EXECUTE') AS public
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
WHERE d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen_advisor')
ORDER BY proname COLLATE "C";
\pset format aligned

-- there are no other objects
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS other_object
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen_advisor')
  AND d.deptype = 'e' AND d.classid <> 'pg_proc'::regclass;

-- a client can call each function with parameters that have no type
PREPARE cost AS SELECT idgen.expected_key_cost($1, $2, $3, $4, $5, $6, $7, $8, $9);
PREPARE plan AS SELECT idgen.key_plan($1, $2, $3, $4);
PREPARE report AS SELECT idgen.index_report($1, $2, $3);
PREPARE reports AS SELECT idgen.index_reports($1);
PREPARE sample AS SELECT idgen.index_sample($1, $2, $3);
PREPARE leaves AS SELECT idgen.filled_leaves($1, $2, $3, $4, $5, $6, $7);
PREPARE wal AS SELECT idgen.index_wal($1, $2);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name COLLATE "C";

-- idgen cannot be dropped alone
DROP EXTENSION idgen;
