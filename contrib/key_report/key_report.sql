-- key_report.sql: what is wrong with the keys of a database, see README.md
--
--   psql -X -d DATABASE -v level=WARN -f contrib/key_report/key_report.sql
--   psql -X -d DATABASE --csv -v format=splinter -f contrib/key_report/key_report.sql
--
-- Reads the catalog and pg_stats, no table. Rules about cost leave out tables with fewer than 10,000 rows; one that was
-- never analyzed counts as large. It waits for exclusive locks of others: PGOPTIONS='-c lock_timeout=5s' gives up.
-- A remediation that ends with a semicolon, or with a comment that has its condition, can be run.

\set QUIET on
\set ON_ERROR_STOP on
\if :{?level}
\else
\set level INFO
\endif
\if :{?format}
\else
\set format table
\endif

BEGIN READ ONLY;
-- names are printed with their schemas, and operators are those of the server
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL jit = off;
SELECT rank AS least_rank, rank IS NULL OR :'format' NOT IN ('table', 'splinter') AS is_invalid,
       :'format' = 'splinter' AS is_splinter FROM array_position('{ERROR,WARN,INFO}', upper(:'level')) rank \gset
\if :is_invalid
DO $$ BEGIN RAISE 'level must be ERROR, WARN or INFO, and format table or splinter'; END $$;
\endif

WITH RECURSIVE rule (name, category, description) AS (VALUES
  ('no_key', 'RELIABILITY', 'No statement names one row, and logical replication of UPDATE and DELETE fails.'),
  ('range_used', 'RELIABILITY', 'When the greatest value of the column or its sequence is passed, each INSERT fails.'),
  ('sequence_behind', 'RELIABILITY', 'The default generates keys that exist already, and the INSERT fails.'),
  ('foreign_key_type', 'RELIABILITY', 'The column cannot hold all keys, or the comparison may not use the index.'),
  ('foreign_key_index', 'PERFORMANCE', 'Without an index, each DELETE of a referenced row reads the whole table.'),
  ('foreign_key_not_valid', 'RELIABILITY', 'Rows that are older than the constraint were not checked.'),
  ('uuid_as_text', 'PERFORMANCE', 'Type uuid has 16 bytes; the text has 37, also in each index and foreign key.'),
  ('text_collation', 'PERFORMANCE', 'The rules of a language cost more, and a new version of them corrupts indexes.'),
  ('random_keys', 'PERFORMANCE', 'Each changes another page of the index, which the WAL has after each checkpoint.'),
  ('coverage', 'RELIABILITY', 'Rules need statistics, and the right to read them.')
),
-- ordinary and partitioned tables, without those of extensions; rows and bytes are those of all partitions
tab AS MATERIALIZED (
  SELECT c.oid, c.oid::regclass::text AS name, n.nspname, c.relname, c.relkind, c.relhassubclass AS has_children, s.*,
         coalesce(s.rows || ' rows', 'unknown number of rows') AS row_count, coalesce(s.rows < 10000, false) AS small
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
       LATERAL (SELECT CASE WHEN max(p.reltuples) >= 0 THEN sum(greatest(p.reltuples, 0))::bigint END AS rows
                FROM unnest(ARRAY[c.oid] || ARRAY(SELECT relid::oid FROM pg_partition_tree(c.oid) WHERE isleaf)) part
                     JOIN pg_class p ON p.oid = part WHERE p.relkind = 'r') s
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname !~ '^(pg_|information_schema$)' AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
),
-- a domain's type, through domains over domains
base (type, base, typmod) AS (
  SELECT oid, typbasetype, typtypmod FROM pg_type WHERE typtype = 'd'
  UNION ALL SELECT b.type, t.typbasetype, greatest(b.typmod, t.typtypmod)
  FROM base b JOIN pg_type t ON t.oid = b.base WHERE t.typtype = 'd'
),
att AS MATERIALIZED (
  SELECT a.attrelid AS rel, a.attnum AS num, a.attname AS name, a.attcollation AS collation,
         format_type(a.atttypid, a.atttypmod) AS type_name, format('%s.%I', tab.name, a.attname) AS full_name,
         coalesce(b.base, a.atttypid)::regtype::text AS type, coalesce(b.typmod, a.atttypmod) - 4 AS length,
         pg_get_expr(d.adbin, d.adrelid) AS def,
         format('ALTER TABLE %s ALTER COLUMN %I ', tab.name, a.attname) AS alter_column,
         '; /* locks and rewrites the table; fails if a view, policy, trigger or partition key uses it */' AS alter_type
  FROM tab JOIN pg_attribute a ON a.attrelid = tab.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN base b ON b.type = a.atttypid AND b.base NOT IN (SELECT type FROM base)
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated = ''
),
ind AS MATERIALIZED (
  SELECT i.indrelid AS rel, i.indexrelid AS oid, i.indisprimary AS is_primary, i.indnkeyatts AS n, m.amname AS method,
         (i.indkey::int2[])[0:i.indnkeyatts - 1] AS cols, (i.indcollation::oid[])[0:i.indnkeyatts - 1] AS collations,
         pg_get_expr(i.indpred, i.indrelid) AS predicate,
         i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AS is_unique
  FROM tab JOIN pg_index i ON i.indrelid = tab.oid JOIN pg_class c ON c.oid = i.indexrelid
       JOIN pg_am m ON m.oid = c.relam
  WHERE i.indisvalid
),
uniq AS MATERIALIZED (
  SELECT ind.*, c.*
  FROM ind, LATERAL (SELECT bool_and(a.attnotnull) AS not_null,
                            string_agg(quote_ident(a.attname), ', ' ORDER BY k.o) AS names
                     FROM unnest(ind.cols) WITH ORDINALITY k (num, o)
                          JOIN pg_attribute a ON a.attrelid = ind.rel AND a.attnum = k.num) c
  WHERE is_unique
),
-- the primary key, or else the shortest unique key of NOT NULL columns
main AS MATERIALIZED (SELECT DISTINCT ON (rel) * FROM uniq WHERE not_null ORDER BY rel, is_primary DESC, n, oid),
-- of columns of unique keys; a table that was truncated has no rows, but statistics of before
stat AS MATERIALIZED (
  SELECT DISTINCT ON (t.oid, s.attname) t.oid AS rel, s.attname AS name, s.avg_width, s.correlation,
         s.histogram_bounds::text::text[] AS bounds
  FROM uniq u CROSS JOIN unnest(u.cols) n (num) JOIN tab t ON t.oid = u.rel AND t.rows > 0
       JOIN att a ON a.rel = u.rel AND a.num = n.num
       JOIN pg_stats s ON s.schemaname = t.nspname AND s.tablename = t.relname AND s.attname = a.name
  ORDER BY t.oid, s.attname, s.inherited DESC
),
fk_pair AS MATERIALIZED (
  SELECT k.oid, k.conrelid AS rel, k.confrelid AS ref, u.*
  FROM pg_constraint k CROSS JOIN unnest(k.conkey, k.confkey) WITH ORDINALITY u (num, refnum, o)
  WHERE k.contype = 'f' AND k.conparentid = 0
),
-- columns of unique keys that reference no other key; of statistics at least ten bounds
col AS MATERIALIZED (
  SELECT DISTINCT ON (a.rel, a.num) a.*, t.name AS tab, t.relname, t.rows, t.row_count, t.small, s.avg_width,
         u.oid IS NOT DISTINCT FROM m.oid AS is_main, CASE WHEN cardinality(s.bounds) >= 10 THEN s.bounds END AS bounds
  FROM uniq u JOIN att a ON a.rel = u.rel AND a.num = ANY (u.cols) JOIN tab t ON t.oid = a.rel
       LEFT JOIN main m ON m.rel = u.rel LEFT JOIN stat s ON s.rel = a.rel AND s.name = a.name
  WHERE NOT EXISTS (SELECT FROM fk_pair f WHERE f.rel = a.rel AND f.num = a.num)
  ORDER BY a.rel, a.num, u.oid IS NOT DISTINCT FROM m.oid DESC, u.n
),
-- sequences whose next value, and nothing else, is the default of a column
seq AS MATERIALIZED (
  SELECT a.rel, a.num, d.seq::regclass::text AS seq, q.*, r.readable,
         CASE WHEN r.readable THEN coalesce(pg_sequence_last_value(d.seq), seqstart - seqincrement) END AS last_value
  FROM (SELECT x.refobjid, a.adrelid, a.adnum, false
        FROM pg_depend x JOIN pg_attrdef a ON a.oid = x.objid
        WHERE x.classid = 'pg_attrdef'::regclass AND x.refclassid = 'pg_class'::regclass AND x.deptype = 'n'
        UNION ALL SELECT objid, refobjid, refobjsubid, true FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND refclassid = classid AND deptype = 'i' AND refobjsubid > 0
       ) d (seq, rel, num, is_identity)
       JOIN att a ON a.rel = d.rel AND a.num = d.num
                     AND (d.is_identity OR a.def ~ '^\(?nextval\(''.*''::regclass\)\)?(::\w+)?$')
       JOIN pg_sequence q ON q.seqrelid = d.seq,
       LATERAL (SELECT has_sequence_privilege(d.seq, 'SELECT, USAGE') AS readable) r
),
-- integers of keys and sequences, with their least and greatest key; one far from all others is a reserved value
number AS MATERIALIZED (
  SELECT a.*, t.name AS tab, k.rel IS NOT NULL AS is_key, s.seq, s.last_value, s.seqincrement AS step, s.seqstart, e.*,
         l.*, CASE WHEN s.seqincrement < 0 THEN greatest(s.seqmin, -l.type_limit) ELSE least(s.seqmax, l.type_limit)
              END AS seq_limit,
         -- values all over the range in no order are random
         CASE WHEN abs(h.correlation) > 0.5 OR e.max_key - e.min_key < l.type_limit / 2
              THEN greatest(e.max_key / l.type_limit, e.min_key / -l.type_limit) END AS used_by_keys
  FROM att a JOIN tab t ON t.oid = a.rel LEFT JOIN col k ON k.rel = a.rel AND k.num = a.num
       LEFT JOIN seq s ON s.rel = a.rel AND s.num = a.num
       LEFT JOIN stat h ON h.rel = a.rel AND h.name = a.name AND k.rel IS NOT NULL,
       LATERAL (SELECT CASE a.type WHEN 'smallint' THEN 32767 WHEN 'integer' THEN 2147483647
                       ELSE 9223372036854775807 END AS type_limit,
                       CASE WHEN a.type IN ('smallint', 'integer', 'bigint') THEN h.bounds::numeric[] END AS b,
                       cardinality(h.bounds) AS n) l,
       LATERAL (SELECT CASE WHEN b[2] - b[1] > 10 * (b[n] - b[2]) + 1000 THEN b[2] ELSE b[1] END,
                       CASE WHEN b[n] - b[n - 1] > 10 * (b[n - 1] - b[1]) + 1000 THEN b[n - 1] ELSE b[n] END
               ) e (min_key, max_key)
  WHERE (k.rel IS NOT NULL OR s.rel IS NOT NULL) AND a.type IN ('smallint', 'integer', 'bigint')
    -- after its last value, such a sequence begins again
    AND (s.seqcycle AND s.seqmax <= l.type_limit AND s.seqmin >= -l.type_limit) IS NOT TRUE
),
ranges AS (
  SELECT *, row_number() OVER (ORDER BY used DESC, full_name) AS place
  FROM number, LATERAL (SELECT round(100 * greatest((last_value - seqstart)::numeric / nullif(seq_limit - seqstart, 0),
                                                    used_by_keys, 0), 1) AS used) u
  WHERE type <> 'bigint' OR abs(seq_limit) <= 2147483648
),
fk AS MATERIALIZED (
  SELECT k.conname, k.confrelid::regclass::text AS ref, k.convalidated, t.name AS tab, t.row_count, t.small, c.*,
         format(CASE t.relkind WHEN 'r' THEN 'CREATE INDEX CONCURRENTLY ON %s (%s);'
                ELSE 'CREATE INDEX ON %s (%s); /* blocks writes */' END, t.name, c.cols) AS create_index,
         CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END AS action,
         EXISTS (SELECT FROM ind i
                 WHERE i.rel = k.conrelid AND i.method <> 'brin'
                   AND (i.cols[1:cardinality(k.conkey)] @> k.conkey OR k.conkey @> i.cols)
                   -- the predicate follows from "column = value", and the order is that of the key
                   AND NOT EXISTS (SELECT FROM regexp_split_to_table(trim('()' FROM i.predicate), '\) AND \(') p
                                   WHERE p <> ALL (c.not_nulls))
                   AND NOT EXISTS (SELECT FROM fk_pair f JOIN att r ON r.rel = f.ref AND r.num = f.refnum
                                   WHERE f.oid = k.oid AND i.collations[array_position(i.cols, f.num)] <> r.collation)
         ) AS has_index
  FROM pg_constraint k JOIN tab t ON t.oid = k.conrelid,
       LATERAL (SELECT array_agg(format('%I IS NOT NULL', a.name)) AS not_nulls,
                       string_agg(concat(quote_ident(a.name), ' COLLATE ' ||
                                         nullif(r.collation, a.collation)::regcollation), ', ' ORDER BY o) AS cols,
                       string_agg(concat(a.name, ' is ', a.type_name, ', and ', r.name, ' is ', r.type_name), '; '
                                  ORDER BY o) FILTER (WHERE differs) AS types,
                       string_agg(format('ALTER COLUMN %I TYPE %s', a.name, r.type_name), ', ' ORDER BY o)
                         FILTER (WHERE differs) || max(a.alter_type) AS alters,
                       bool_and(wider < 0) FILTER (WHERE differs) AS is_narrower
                FROM fk_pair f JOIN att a ON a.rel = f.rel AND a.num = f.num
                     JOIN att r ON r.rel = f.ref AND r.num = f.refnum,
                     LATERAL (SELECT array_position(s, a.type) - array_position(s, r.type) AS wider
                              FROM (VALUES ('{smallint,integer,bigint}'::text[])) v (s)) w,
                     -- an index on text serves varchar, and one on a narrower integer a wider one
                     LATERAL (SELECT a.type <> r.type AND (wider > 0) IS NOT TRUE
                                     AND ARRAY[a.type, r.type] <@ '{text,character varying}' IS FALSE AS differs) d
                WHERE f.oid = k.oid) c
  WHERE k.contype = 'f' AND k.conparentid = 0 AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false'
),
-- text keys of tables that are not small, with the columns that reference them
texts AS MATERIALIZED (
  SELECT *, CASE WHEN bounds IS NULL THEN type <> 'text' AND length = 36 ELSE are_uuids END AS is_uuid
  FROM col,
       -- 32 digits can be another hash: version and variant decide
       LATERAL (SELECT bool_and(b ~* ('^(\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?|'
                                      '[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15})$')) AS are_uuids,
                       avg((b ~ '^[0-9A-Za-z_:.+/=-]{8,}$' AND b ~ '[0-9]')::int) > 0.9 AS are_identifiers
                FROM unnest(bounds) b) v,
       LATERAL (SELECT concat_ws(' ', collname, locale) AS collname, NOT collisdeterministic OR provider = 'i'
                         OR provider = 'c' AND locale !~* '^(C|POSIX|C\.utf-?8)$' AS is_linguistic
                FROM pg_collation c JOIN pg_database d ON datname = current_database(), to_jsonb(d) j,
                     coalesce(j ->> 'datlocale', j ->> 'daticulocale', datcollate) default_locale,
                     LATERAL (SELECT CASE collprovider WHEN 'd' THEN datlocprovider ELSE collprovider END AS provider,
                                     CASE collprovider WHEN 'd' THEN default_locale ELSE collcollate END AS locale) p
                WHERE c.oid = col.collation) l,
       LATERAL (SELECT string_agg(a.full_name, ', ' ORDER BY a.full_name) AS referrers
                FROM fk_pair f JOIN att a ON a.rel = f.rel AND a.num = f.num
                WHERE f.ref = col.rel AND f.refnum = col.num) r
  WHERE is_main AND NOT small AND type IN ('text', 'character varying', 'character')
),
uuids AS MATERIALIZED (
  SELECT *, def ~ '(^|\W)(gen_random_uuid|uuid_generate_v4|uuidv4|uuid_v4)\(\)' AND rows >= 100000
              AND coalesce(version_4, 100) >= 50 AS is_default
  FROM col,
       -- without the nil UUID and other reserved values
       LATERAL (SELECT round(100 * avg((substr(b, 15, 1) = '4')::int)) AS version_4
                FROM unnest(bounds) b WHERE b ~ '^.{14}[1-8].{4}[89ab]') v
  WHERE is_main AND type IN ('uuid', 'text', 'character varying')
),
finding (rule, level, tab, object, detail, remediation) AS (
  SELECT 'no_key', 'WARN', name, NULL,
         concat(row_count, '; unique key (' || u.names || ') can be NULL'),
         CASE WHEN u.names IS NOT NULL
              THEN format('ALTER TABLE %s ADD PRIMARY KEY (%s); /* fails if there are NULLs; locks the table */',
                          name, u.names)
              WHEN relkind = 'p' OR has_children THEN 'A primary key, which contains the partition key'
              ELSE format('ALTER TABLE %s ADD COLUMN row_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY; '
                          '/* locks and rewrites the table */', name) END
  FROM tab, LATERAL (SELECT min(names) AS names FROM uniq WHERE uniq.rel = tab.oid) u
  WHERE NOT EXISTS (SELECT FROM main WHERE main.rel = tab.oid)
  UNION ALL SELECT 'range_used', CASE WHEN used < 50 THEN 'INFO' WHEN used < 80 THEN 'WARN' ELSE 'ERROR' END, tab, name,
         format('%s %% of %s used: %s', used, coalesce(least(abs(seq_limit), type_limit), type_limit),
                concat_ws(', ', type_name, 'keys from ' || min_key || ' to ' || max_key,
                          'sequence ' || seq || ' at ' || coalesce(last_value::text, 'an unknown value'))),
         CASE WHEN type = 'bigint' THEN format('ALTER SEQUENCE %s AS bigint NO MAXVALUE NO MINVALUE;', seq)
              WHEN is_key THEN format('contrib/rekey/rekey.sh plan %L --type bigint', full_name)
              ELSE concat('ALTER SEQUENCE ', seq, ' AS bigint; ', alter_column, 'TYPE bigint', alter_type) END
  FROM ranges WHERE used >= 50 OR place = 1
  UNION ALL SELECT 'sequence_behind', 'WARN', tab, name,
         format('keys from %s to %s, sequence %s at %s', min_key, max_key, seq, last_value),
         -- up to a limit, so that a reserved value does not count
         format('SELECT setval(%1$L, max(%2$I)) FROM %3$s WHERE %2$I <= %4$s;', seq, name, tab,
                least(max_key + greatest(max_key - min_key, 1000000), seq_limit))
  FROM number WHERE step = 1 AND max_key > last_value AND max_key <= seq_limit
  UNION ALL SELECT 'foreign_key_type', 'WARN', tab, conname, format('%s of %s', types, ref),
         CASE WHEN is_narrower THEN concat('ALTER TABLE ', tab, ' ', alters) ELSE 'Columns of the same type' END
  FROM fk WHERE types IS NOT NULL
  UNION ALL SELECT 'foreign_key_index', CASE WHEN action IS NULL THEN 'INFO' ELSE 'WARN' END, tab, conname,
         concat(coalesce('ON DELETE ' || action, 'DELETE'), ' of ', ref, ' reads ', row_count), create_index
  FROM fk WHERE NOT has_index AND NOT small
  UNION ALL SELECT 'foreign_key_not_valid', 'WARN', tab, conname, format('%s, referencing %s', row_count, ref),
         format('ALTER TABLE %s VALIDATE CONSTRAINT %I; /* fails if a row has no match */', tab, conname)
  FROM fk WHERE NOT convalidated
  UNION ALL SELECT 'uuid_as_text', 'WARN', tab, name,
         concat(row_count, ', ', type_name, ' of ', coalesce(avg_width, 37), ' bytes', '; referenced by ' || referrers),
         format('contrib/rekey/rekey.sh plan %L --type uuid', full_name)
  FROM texts WHERE is_uuid
  UNION ALL SELECT 'text_collation', 'WARN', tab, name,
         concat(row_count, ', collation ', collname, '; referenced by ' || referrers),
         -- without the others, the indexes of either side do not serve joins
         'COLLATE "C", together with the columns that are compared with it, or for new tables'
  FROM texts WHERE is_linguistic AND NOT is_uuid AND are_identifiers
  UNION ALL SELECT 'random_keys', CASE WHEN is_default THEN 'WARN' ELSE 'INFO' END, tab, name,
         concat(row_count, ', ' || version_4 || ' % of version 4', ', default ' || def),
         CASE WHEN is_default IS NOT TRUE THEN 'index_report() of idgen_advisor tells random keys from COMBs'
              WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen')
              THEN format('%sSET DEFAULT idgen.keyed_comb(area => %L);', alter_column, relname)
              WHEN current_setting('server_version_num')::int >= 180000 THEN alter_column || 'SET DEFAULT uuidv7();'
              ELSE 'keyed_comb() of the extension idgen, or version 7' END
  FROM uuids WHERE is_default OR type = 'uuid' AND NOT small AND version_4 >= 50
                      AND coalesce(def, '') !~ '(^|\W)(idgen\.|uuidv7\()'
  UNION ALL SELECT 'coverage', CASE WHEN t.hidden + s.hidden > 0 THEN 'WARN' ELSE 'INFO' END, NULL, NULL,
         format('%s tables, of which role %I may not read %s, and %s were never analyzed; it may not read %s sequences',
                t.all, current_user, t.hidden, t.unknown, s.hidden),
         'Run it as a member of pg_read_all_data, after ANALYZE'
  FROM (SELECT count(*) AS all, count(*) FILTER (WHERE NOT has_any_column_privilege(oid, 'SELECT')) AS hidden,
               count(*) FILTER (WHERE rows IS NULL) AS unknown FROM tab) t,
       (SELECT count(*) FILTER (WHERE NOT readable) AS hidden FROM seq) s
),
chosen AS (
  SELECT * FROM finding f JOIN rule r ON r.name = f.rule, array_position('{ERROR,WARN,INFO}', f.level) rank
  WHERE rank <= :least_rank
)
\if :is_splinter
SELECT name, initcap(replace(name, '_', ' ')) AS title, level, 'EXTERNAL' AS facing, ARRAY[category] AS categories,
       description, concat_ws(': ', nullif(concat_ws('.', tab, object), ''), detail) AS detail, remediation,
       jsonb_build_object('table', tab, 'object', object) AS metadata, concat_ws('_', rule, tab, object) AS cache_key
FROM chosen ORDER BY rank, rule, tab, object;
\else
\pset format wrapped
\pset columns 150
-- a line for each rule, and its findings, in short lines
SELECT level, "table", rtrim(regexp_replace(detail, '(.{1,60})( |$)', E'\\1\n', 'g'), E'\n') AS detail,
       rtrim(regexp_replace(remediation, '(.{1,45})( |$)', E'\\1\n', 'g'), E'\n') AS remediation
FROM (SELECT rank, level, rule, 1, tab, concat_ws(': ', object, detail), remediation FROM chosen
      UNION ALL SELECT DISTINCT rank, level, rule, 0, upper(rule), description, '' FROM chosen
     ) f (rank, level, rule, part, "table", detail, remediation)
ORDER BY rank, rule, part, "table", detail;
\endif
COMMIT;
