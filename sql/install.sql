-- The objects that CREATE EXTENSION creates. pg_regress has already created the extension.
DROP EXTENSION idgen;
CREATE EXTENSION idgen;

SELECT e.extversion = a.default_version AS is_default, v.trusted, v.relocatable, v.schema, v.requires
FROM pg_extension e JOIN pg_available_extensions a ON a.name = e.extname
    JOIN pg_available_extension_versions v ON v.name = e.extname AND v.version = e.extversion
WHERE e.extname = 'idgen';

-- every object has a comment
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS object_without_comment
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')
  AND d.deptype = 'e'
  AND d.classid <> 'pg_type'::regclass
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL;

SELECT c.relname, a.attname AS column_without_comment
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'idgen'::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0
  AND col_description(c.oid, a.attnum) IS NULL;

-- PUBLIC has USAGE on the schema, but no privileges on the tables and sequences
SELECT has_schema_privilege('public', 'idgen', 'USAGE') AS usage,
       has_schema_privilege('public', 'idgen', 'CREATE') AS "create",
       has_table_privilege('public', 'idgen.creation_identifiers',
                           'SELECT, INSERT, UPDATE, DELETE') AS table_rights,
       has_table_privilege('public', 'idgen.id_prefixes',
                           'SELECT, INSERT, UPDATE, DELETE') AS prefix_rights;

SELECT relname AS sequence_with_rights
FROM pg_class
WHERE relnamespace = 'idgen'::regnamespace
  AND CASE WHEN relkind = 'S' THEN has_sequence_privilege('public', oid, 'SELECT, USAGE, UPDATE') END;

-- pg_dump includes each table and sequence
SELECT c.oid::regclass AS relation_not_dumped
FROM pg_class c, pg_extension e
WHERE c.relnamespace = 'idgen'::regnamespace AND c.relkind IN ('r', 'S') AND e.extname = 'idgen'
    AND c.oid <> ALL (extconfig);

SELECT dumped::regclass, condition
FROM pg_extension, unnest(extconfig, extcondition) AS u (dumped, condition)
WHERE extname = 'idgen' AND condition <> '';

-- pg_depend records the functions that each function calls, so that DROP and pg_dump take them into account
SELECT p.proname AS function, string_agg(c.proname, ' ' ORDER BY c.proname COLLATE "C") AS calls
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid JOIN pg_proc c ON c.oid = d.refobjid
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_proc'::regclass AND p.pronamespace = 'idgen'::regnamespace
GROUP BY 1 ORDER BY p.proname COLLATE "C";

\d idgen.creation_identifiers
\d idgen.id_prefixes
