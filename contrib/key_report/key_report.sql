-- key_report.sql: what is wrong with the keys of a database, see contrib/key_report/README.md
--
--   psql -X -d DATABASE --csv -v level=WARN -f contrib/key_report/key_report.sql
--
-- Findings have the levels ERROR, WARN and INFO. One query reads the catalog and pg_stats,
-- no table, and requires no extension and no rights; the line "coverage" counts tables and
-- sequences that the role may not read. Rules about cost leave out tables with fewer than
-- 10,000 rows; one that was never analyzed counts as large, for empty schemas in CI. The
-- query waits for exclusive locks of other sessions: PGOPTIONS='-c lock_timeout=5s' gives up.

\set QUIET on
\set ON_ERROR_STOP on
\if :{?level}
\else
\set level INFO
\endif

BEGIN READ ONLY;
-- names are printed with their schemas, and operators are those of the server
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL jit = off;

WITH RECURSIVE rule (name, title, category, description) AS (VALUES
  ('no_key', 'Table without a key', 'RELIABILITY',
   'Without a primary key or a unique key of NOT NULL columns, no statement names one row, and logical replication of UPDATE and DELETE fails.'),
  ('no_primary_key', 'Unique key instead of a primary key', 'RELIABILITY',
   'Tools and logical replication look for a primary key, and a unique key of NOT NULL columns could be one.'),
  ('range_used', 'Sequence near the end of its range', 'RELIABILITY',
   'When the sequence has passed the greatest value of the column or its own, each INSERT fails.'),
  ('keys_of_32_bits', 'Keys of 32 bits', 'RELIABILITY', 'Keys of integer and smallint end at 2147483647 and 32767.'),
  ('sequence_behind', 'Sequence behind the greatest key', 'RELIABILITY',
   'The default of the column generates keys that exist already, and the INSERT fails.'),
  ('foreign_key_type', 'Foreign key of another type', 'RELIABILITY',
   'A narrower column cannot hold all keys, and a comparison of different types may not use the index.'),
  ('foreign_key_action', 'DELETE reads the whole referencing table', 'PERFORMANCE',
   'A foreign key with ON DELETE CASCADE, SET NULL or SET DEFAULT and no index: each deleted row reads the whole referencing table, or an index.'),
  ('foreign_key_index', 'Foreign keys without an index', 'PERFORMANCE',
   'DELETE of a referenced row, or UPDATE of its key, reads the whole referencing table.'),
  ('foreign_key_not_valid', 'Foreign key NOT VALID', 'RELIABILITY',
   'Rows that are older than the constraint were not checked, and the planner does not rely on it.'),
  ('uuid_as_text', 'UUID stored as text', 'PERFORMANCE',
   'Type uuid has 16 bytes; the text has 37 in table, index and each foreign key, and one UUID has several texts.'),
  ('text_collation', 'Text key in a linguistic order', 'PERFORMANCE',
   'Comparisons by the rules of a language cost more, and their order changes with the library, which corrupts indexes.'),
  ('random_default', 'Random default of a large table', 'PERFORMANCE',
   'Each random key changes another page of the index: cache misses, and after each checkpoint a full page in the WAL.'),
  ('uuid_version_4', 'UUIDs of version 4 without a default', 'PERFORMANCE',
   'Clients generate these keys: random ones, or COMBs, which statistics cannot tell apart.'),
  ('mixed_versions', 'UUIDs of several versions', 'RELIABILITY', 'Several generators fill this key: its order is not that of time.'),
  ('coverage', 'What this report did not see', 'RELIABILITY', 'Rules by statistics need ANALYZE and the right to read the columns.')
),
-- ordinary and partitioned tables, without those of extensions
tab AS (
  SELECT c.oid, c.oid::regclass::text AS name, n.nspname, c.relname, c.relkind, nullif(c.reltuples, -1)::bigint AS rows,
         CASE WHEN c.reltuples < 0 THEN 'unknown number of rows' ELSE c.reltuples::bigint || ' rows' END AS row_count,
         c.reltuples BETWEEN 0 AND 9999 AS small, c.relpages * current_setting('block_size')::bigint AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' AND n.nspname !~ '^(pg_|information_schema$)'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
),
-- a domain's type, through domains over domains
base (type, base, typmod) AS (
  SELECT oid, typbasetype, typtypmod FROM pg_type WHERE typtype = 'd'
  UNION ALL SELECT b.type, t.typbasetype, greatest(b.typmod, t.typtypmod) FROM base b JOIN pg_type t ON t.oid = b.base WHERE t.typtype = 'd'
),
att AS (
  SELECT a.attrelid AS rel, a.attnum AS num, a.attname AS name, a.attnotnull AS not_null, a.attcollation AS collation, a.attidentity AS identity,
         format_type(a.atttypid, a.atttypmod) AS type_name,
         coalesce(b.base, a.atttypid)::regtype::text AS type, coalesce(b.typmod, a.atttypmod) - 4 AS length,
         d.oid AS def_oid, pg_get_expr(d.adbin, d.adrelid) AS def
  FROM tab JOIN pg_attribute a ON a.attrelid = tab.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN base b ON b.type = a.atttypid AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = b.base AND t.typtype = 'd')
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
),
ind AS MATERIALIZED (
  SELECT i.indrelid AS rel, i.indexrelid AS oid, i.indisprimary AS is_primary, i.indnkeyatts AS n, m.amname AS method,
         (i.indkey::int2[])[0:i.indnkeyatts - 1] AS cols, i.indexprs IS NOT NULL AS has_expressions, pg_get_expr(i.indpred, i.indrelid) AS predicate,
         i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AS is_unique,
         '0' = ALL (string_to_array(i.indoption::text, ' ')) AND tab.relkind = 'r' AND i.indimmediate
           AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = i.indrelid) AS can_be_primary
  FROM tab JOIN pg_index i ON i.indrelid = tab.oid JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  WHERE i.indisvalid
),
uniq AS MATERIALIZED (
  SELECT ind.*, c.*
  FROM ind, LATERAL (SELECT bool_and(a.attnotnull) AS not_null, string_agg(quote_ident(a.attname), ', ' ORDER BY k.o) AS names
                     FROM unnest(ind.cols) WITH ORDINALITY k (num, o) JOIN pg_attribute a ON a.attrelid = ind.rel AND a.attnum = k.num) c
  WHERE is_unique
),
-- the primary key, or else the shortest key that could be one
main AS MATERIALIZED (
  SELECT DISTINCT ON (rel) * FROM uniq WHERE not_null ORDER BY rel, is_primary DESC, n, can_be_primary DESC, oid
),
key_column AS MATERIALIZED (
  SELECT DISTINCT t.oid AS rel, t.nspname, t.relname, a.attname
  FROM uniq u CROSS JOIN unnest(u.cols) n (num) JOIN tab t ON t.oid = u.rel JOIN pg_attribute a ON a.attrelid = u.rel AND a.attnum = n.num
),
stat AS MATERIALIZED (
  SELECT DISTINCT ON (k.rel, s.attname) k.rel, s.attname AS name, s.avg_width,
         CASE WHEN cardinality(s.histogram_bounds::text::text[]) >= 10 THEN s.histogram_bounds::text::text[] END AS bounds
  FROM key_column k JOIN pg_stats s ON s.schemaname = k.nspname AND s.tablename = k.relname AND s.attname = k.attname
  ORDER BY k.rel, s.attname, s.inherited DESC
),
-- columns of unique keys; of statistics at least ten bounds
col AS MATERIALIZED (
  SELECT DISTINCT ON (a.rel, a.num) a.*, t.name AS tab, t.nspname, t.relname, t.rows, t.row_count, t.small, t.bytes, u.oid AS index,
         u.oid IS NOT DISTINCT FROM m.oid AS is_main, s.avg_width, s.bounds,
         format('ALTER TABLE %s ALTER COLUMN %I ', t.name, a.name) AS alter_column
  FROM uniq u JOIN att a ON a.rel = u.rel AND a.num = ANY (u.cols) JOIN tab t ON t.oid = a.rel
       LEFT JOIN main m ON m.rel = u.rel LEFT JOIN stat s ON s.rel = a.rel AND s.name = a.name
  ORDER BY a.rel, a.num, u.oid IS NOT DISTINCT FROM m.oid DESC, u.n
),
-- keys whose default is the next value of a sequence and nothing else
seq AS MATERIALIZED (
  SELECT c.*, d.seq::regclass::text AS seq, q.seqstart AS start_value, q.seqincrement AS increment_by, r.readable,
         CASE WHEN r.readable THEN pg_sequence_last_value(d.seq) END AS last_value,
         least(q.seqmax, CASE c.type WHEN 'smallint' THEN 32767 WHEN 'integer' THEN 2147483647 ELSE 9223372036854775807 END) AS range,
         c.bounds[cardinality(c.bounds)]::bigint AS max_key
  FROM (SELECT x.refobjid, a.adrelid, a.adnum, false
        FROM pg_depend x JOIN pg_attrdef a ON a.oid = x.objid
        WHERE x.classid = 'pg_attrdef'::regclass AND x.refclassid = 'pg_class'::regclass AND x.deptype = 'n'
        UNION ALL SELECT objid, refobjid, refobjsubid, true FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype = 'i' AND refobjsubid > 0
       ) d (seq, rel, num, is_identity)
       JOIN col c ON c.rel = d.rel AND c.num = d.num AND (d.is_identity OR c.def ~ '^\(?nextval\(''.*''::regclass\)\)?(::\w+)?$')
       JOIN pg_sequence q ON q.seqrelid = d.seq,
       LATERAL (SELECT has_sequence_privilege(d.seq, 'SELECT, USAGE') AS readable) r
  WHERE c.type IN ('smallint', 'integer', 'bigint') AND q.seqincrement > 0
),
ranges AS (
  SELECT *, round(100.0 * greatest(last_value, max_key, 0) / range, 1) AS used FROM seq WHERE range <= 2147483647
),
fk_pair AS MATERIALIZED (
  SELECT k.oid, k.conrelid AS rel, k.confrelid AS ref, u.*
  FROM pg_constraint k CROSS JOIN unnest(k.conkey, k.confkey) WITH ORDINALITY u (num, refnum, o)
  WHERE k.contype = 'f'
),
fk_column AS MATERIALIZED (
  SELECT k.oid, string_agg(quote_ident(a.name), ', ' ORDER BY o) AS cols, array_agg(format('%I IS NOT NULL', a.name)) AS not_nulls,
         string_agg(format('%s is %s, and %s is %s', a.name, a.type_name, r.name, r.type_name), '; ' ORDER BY o) FILTER (WHERE differs) AS types,
         string_agg(format('ALTER COLUMN %I TYPE %s', a.name, r.type_name), ', ' ORDER BY o) FILTER (WHERE differs) AS alters,
         bool_or(differs AND (a.type, r.type) NOT IN (('bigint', 'integer'), ('bigint', 'smallint'), ('integer', 'smallint'))) AS narrower
  FROM fk_pair k JOIN att a ON a.rel = k.rel AND a.num = k.num JOIN att r ON r.rel = k.ref AND r.num = k.refnum
       -- text and varchar are compared as they are
       CROSS JOIN LATERAL (SELECT replace(a.type, 'character varying', 'text') <> replace(r.type, 'character varying', 'text') AS differs) d
  GROUP BY k.oid
),
fk AS MATERIALIZED (
  SELECT k.conrelid AS rel, k.conname, k.conkey, k.confrelid::regclass::text AS ref, k.convalidated,
         t.name AS tab, t.rows, t.row_count, t.small, t.bytes, k.confdeltype IN ('c', 'n', 'd') AS acts, c.*,
         format('CREATE INDEX %sON %s (%s)', CASE t.relkind WHEN 'r' THEN 'CONCURRENTLY ' END, t.name, c.cols) AS create_index,
         CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END AS action, i.has_index
  FROM pg_constraint k JOIN tab t ON t.oid = k.conrelid JOIN fk_column c ON c.oid = k.oid
       JOIN (SELECT c.oid, coalesce(bool_or(i.cols[1:cardinality(k.conkey)] @> k.conkey OR k.conkey @> i.cols), false) AS has_index
             FROM fk_column c JOIN pg_constraint k ON k.oid = c.oid LEFT JOIN ind i ON i.rel = k.conrelid AND i.method IN ('btree', 'hash')
                  -- the predicate follows from "column = value"
                  AND NOT EXISTS (SELECT FROM regexp_split_to_table(trim('()' FROM i.predicate), '\) AND \(') p WHERE p <> ALL (c.not_nulls))
             GROUP BY c.oid) i ON i.oid = k.oid
  WHERE k.conparentid = 0 AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false'
),
-- text keys of tables that are not small; those that reference other keys follow them
texts AS MATERIALIZED (
  SELECT col.*, l.*, (SELECT count(*) FROM fk WHERE fk.ref = col.tab) AS referencing,
         CASE WHEN bounds IS NULL THEN type <> 'text' AND length = 36 ELSE are_uuids END AS is_uuid,
         CASE WHEN bounds IS NULL THEN col.name ~* '(^|_)(id|uuid|guid|ulid|token|hash)$' OR col.name ~ '[a-z](Id|Uuid|Token|Hash)$'
              ELSE are_identifiers END AS is_identifier
  FROM col,
       -- 32 digits can be another hash: version and variant decide
       LATERAL (SELECT bool_and(b ~* '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15})$') AS are_uuids,
                       avg((b ~ '^[0-9A-Za-z_:.+/=-]{8,}$' AND b ~ '[0-9]')::int) > 0.9 AS are_identifiers
                FROM unnest(bounds) b) v,
       LATERAL (SELECT c.collname, NOT c.collisdeterministic OR p.provider = 'i'
                                   OR p.provider = 'c' AND p.locale !~* '^(C|POSIX|C\.utf-?8)$' AS is_linguistic
                FROM pg_collation c, pg_database d,
                     LATERAL (SELECT CASE c.collprovider WHEN 'd' THEN d.datlocprovider ELSE c.collprovider END AS provider,
                                     CASE c.collprovider WHEN 'd' THEN d.datcollate ELSE c.collcollate END AS locale) p
                WHERE c.oid = col.collation AND d.datname = current_database()) l
  WHERE is_main AND NOT small AND type IN ('text', 'character varying', 'character')
    AND NOT EXISTS (SELECT FROM fk WHERE fk.rel = col.rel AND col.num = ANY (fk.conkey))
),
uuids AS MATERIALIZED (
  SELECT *, def ~ '(^|\W)(gen_random_uuid|uuid_generate_v4|uuidv4|uuid_v4)\(\)' AS has_random_default,
         CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen_advisor')
              THEN format(' SELECT * FROM idgen.index_report(%L) measures where new keys land.', index::regclass) END AS measure
  FROM col,
       LATERAL (SELECT round(100 * avg((substr(b, 15, 1) = '4')::int)) AS version_4, count(DISTINCT substr(b, 15, 1)) AS kinds,
                       string_agg(DISTINCT substr(b, 15, 1), ', ') AS versions
                FROM unnest(bounds) b) v
  WHERE is_main AND type IN ('uuid', 'text', 'character varying') AND NOT EXISTS (SELECT FROM fk WHERE fk.rel = col.rel AND col.num = ANY (fk.conkey))
),
finding (rule, level, tab, object, detail, remediation, metadata) AS (
  SELECT 'no_key', 'WARN', name, NULL,
         concat(row_count, ', ', pg_size_pretty(bytes), '; the unique index on (' || u.names || ') has columns that can be NULL'),
         CASE WHEN u.names IS NULL THEN format('ALTER TABLE %s ADD COLUMN %I bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY', name, new_column)
              ELSE format('ALTER TABLE %s ADD PRIMARY KEY (%s), if no row has NULL there', name, u.names) END,
         jsonb_build_object('rows', rows, 'bytes', bytes)
  FROM tab, LATERAL (SELECT min(names) AS names FROM uniq WHERE uniq.rel = tab.oid) u,
       LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM att a WHERE a.rel = tab.oid AND a.name = 'id') THEN 'row_id' ELSE 'id' END AS new_column) n
  WHERE NOT EXISTS (SELECT FROM main WHERE main.rel = tab.oid)
  UNION ALL SELECT 'no_primary_key', 'INFO', t.name, NULL, format('unique index %s on (%s)', m.oid::regclass, m.names),
         CASE WHEN m.can_be_primary THEN format('ALTER TABLE %s ADD PRIMARY KEY USING INDEX %I', t.name, c.relname)
              ELSE format('ALTER TABLE %s ADD PRIMARY KEY (%s)', t.name, m.names) END, jsonb_build_object('index', c.relname)
  FROM main m JOIN tab t ON t.oid = m.rel JOIN pg_class c ON c.oid = m.oid WHERE NOT m.is_primary
  UNION ALL SELECT 'range_used', CASE WHEN used >= 80 THEN 'ERROR' ELSE 'WARN' END, tab, name,
         format('%s %% of %s used: %s of type %s, sequence %s at %s',
                used, range, name, type_name, seq, coalesce(last_value::text, 'an unknown value')),
         CASE type WHEN 'bigint' THEN format('ALTER SEQUENCE %s AS bigint MAXVALUE 9223372036854775807', seq)
                   ELSE format('docs/rekey.md, or for a table that is not in use: %sTYPE bigint', alter_column) END,
         jsonb_build_object('sequence', seq, 'last_value', last_value, 'range', range, 'percent', used)
  FROM ranges WHERE used >= 50
  UNION ALL SELECT 'keys_of_32_bits', 'INFO', NULL, NULL,
         format('%s keys; the most used one: %s, %s %%', count(*), (array_agg(tab || '.' || name ORDER BY used DESC, tab))[1], max(used)),
         'New tables: bigint GENERATED ALWAYS AS IDENTITY', jsonb_build_object('keys', count(*), 'percent', max(used))
  FROM ranges WHERE used < 50 HAVING count(*) > 0
  UNION ALL SELECT 'sequence_behind', 'WARN', tab, name,
         format('a key is %s, and sequence %s is at %s', max_key, seq, coalesce(last_value::text, 'its start')),
         format('SELECT setval(%L, (SELECT max(%I) FROM %s))', seq, name, tab),
         jsonb_build_object('sequence', seq, 'last_value', last_value, 'key', max_key)
  FROM seq WHERE readable AND increment_by = 1 AND max_key > coalesce(last_value, start_value - 1)
  UNION ALL SELECT 'foreign_key_type', CASE WHEN narrower THEN 'WARN' ELSE 'INFO' END, tab, conname, format('%s of %s', types, ref),
         format('ALTER TABLE %s %s; for a table in use: docs/rekey.md', tab, alters), jsonb_build_object('referenced', ref)
  FROM fk WHERE types IS NOT NULL
  UNION ALL SELECT 'foreign_key_action', 'WARN', tab, conname, format('ON DELETE %s of %s reads %s', action, ref, row_count),
         create_index, jsonb_build_object('referenced', ref, 'rows', rows, 'bytes', bytes)
  FROM fk WHERE acts AND NOT has_index AND NOT small
  UNION ALL SELECT 'foreign_key_index', 'INFO', tab, NULL,
         format('%s; %s', row_count, string_agg(format('%s (%s)', conname, cols), ', ' ORDER BY conname)),
         string_agg(create_index, '; ' ORDER BY conname), jsonb_build_object('foreign_keys', count(*), 'rows', rows)
  FROM fk WHERE NOT acts AND NOT has_index AND NOT small GROUP BY tab, rows, row_count
  UNION ALL SELECT 'foreign_key_not_valid', 'WARN', tab, conname, format('%s, referencing %s', row_count, ref),
         format('ALTER TABLE %s VALIDATE CONSTRAINT %I', tab, conname), jsonb_build_object('referenced', ref, 'rows', rows)
  FROM fk WHERE NOT convalidated
  UNION ALL SELECT 'uuid_as_text', 'WARN', tab, name,
         format('%s, %s of %s bytes, %s foreign keys to the table', row_count, type_name, coalesce(avg_width, 37), referencing),
         format('docs/rekey.md, or for a table that is not in use: %sTYPE uuid USING %I::uuid', alter_column, name),
         jsonb_build_object('rows', rows, 'width', avg_width)
  FROM texts WHERE is_uuid
  UNION ALL SELECT 'text_collation', 'WARN', tab, name, format('%s, collation "%s"', row_count, collname),
         format('%sTYPE %s COLLATE "C"', alter_column, type_name), jsonb_build_object('rows', rows, 'collation', collname)
  FROM texts WHERE is_linguistic AND NOT is_uuid AND is_identifier AND rows IS NOT NULL
  UNION ALL SELECT 'random_default', 'WARN', tab, name,
         concat(format('%s rows, index of %s, default %s.', rows, pg_size_pretty(index_bytes), def), measure),
         format('%sSET DEFAULT %s', alter_column, generator), jsonb_build_object('rows', rows, 'index_bytes', index_bytes)
  FROM uuids, LATERAL (SELECT relpages * current_setting('block_size')::bigint AS index_bytes FROM pg_class WHERE oid = index) i,
       LATERAL (SELECT CASE WHEN current_setting('server_version_num')::int < 180000 OR EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen')
                            THEN format('idgen.keyed_comb(area => %L)', relname) ELSE 'uuidv7()' END AS generator) g
  WHERE has_random_default AND rows >= 100000
  UNION ALL SELECT CASE WHEN kinds > 1 THEN 'mixed_versions' ELSE 'uuid_version_4' END, 'INFO', tab, name,
         concat(format('%s rows, versions %s', rows, versions), CASE WHEN kinds > 1 THEN format(', %s %% of version 4', version_4) END, '.', measure),
         CASE WHEN kinds > 1 THEN 'Let one generator fill the column: ' || alter_column || 'SET DEFAULT …'
              ELSE 'index_report() of idgen_advisor measures which: docs/reference.md' END, jsonb_build_object('rows', rows, 'version_4', version_4)
  FROM uuids WHERE type = 'uuid' AND NOT small AND (kinds > 1 OR version_4 = 100 AND def IS NULL)
  UNION ALL SELECT 'coverage', 'INFO', NULL, NULL,
         format('%s tables, of which %s may not be read by role %I and %s were never analyzed; %s sequences may not be read',
                t.all, t.hidden, current_user, t.unknown, s.hidden), 'Run it as a member of pg_read_all_data, after ANALYZE',
         jsonb_build_object('tables', t.all, 'hidden', t.hidden, 'never_analyzed', t.unknown, 'sequences_hidden', s.hidden)
  FROM (SELECT count(*) AS all, count(*) FILTER (WHERE NOT has_any_column_privilege(oid, 'SELECT')) AS hidden,
               count(*) FILTER (WHERE rows IS NULL) AS unknown
        FROM tab) t,
       (SELECT count(*) FILTER (WHERE NOT readable) AS hidden FROM seq) s
)
SELECT f.rule AS name, r.title, f.level, 'EXTERNAL' AS facing, ARRAY[r.category] AS categories, r.description,
       concat_ws(': ', nullif(concat_ws('.', f.tab, f.object), ''), f.detail) AS detail, f.remediation,
       f.metadata || jsonb_build_object('table', f.tab, 'object', f.object) AS metadata, concat_ws('_', f.rule, f.tab, f.object) AS cache_key
FROM finding f JOIN rule r ON r.name = f.rule, LATERAL (SELECT array_position('{ERROR,WARN,INFO}', f.level) AS rank) l
WHERE rank <= array_position('{ERROR,WARN,INFO}', upper(:'level'))
ORDER BY rank, f.rule, f.tab, f.object;
COMMIT;
