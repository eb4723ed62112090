-- rekey.sql: change the primary key of a table, and all references to it, while the
-- tables are in use. docs/rekey.md is the manual; rekey.sh calls these functions.
--
-- The new columns stand beside the old ones, and triggers keep them equal. One run is
-- active at a time: planned -> running -> ready -> switched [-> renamed] -> finished,
-- or abandoned before the switch. Each command makes the steps of its phase:
--
--   lock      catalog changes, in one short transaction under ACCESS EXCLUSIVE locks,
--             for which it waits at most 50 ms at a time
--   fill      sets the new columns, some pages in a transaction
--   index     CREATE INDEX CONCURRENTLY; an invalid index is dropped and built again
--   plain     VALIDATE CONSTRAINT and VACUUM
--
-- A step that was interrupted is repeated. Objects of run 7 are named rekey_7_N, its
-- triggers "~rekey", which sorts last, so that they see what other triggers set.

\set ON_ERROR_STOP on
BEGIN;
CREATE SCHEMA rekey;
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON SCHEMA rekey IS 'Changes the keys of tables in use';

CREATE TABLE rekey.runs (
    run int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'running', 'ready', 'switched', 'renamed', 'finished', 'abandoned')),
    home oid NOT NULL,          -- this table; another one in a restored copy
    parent oid NOT NULL, new_type text NOT NULL, suffix text NOT NULL, options jsonb NOT NULL,
    new_value text,             -- NULL: the same number in a wider type
    new_default text,
    old_default text,           -- of the old key, where this run has set or removed it
    old_identity "char" NOT NULL, key_sequence oid,
    fingerprint text[], pid int, verified_at timestamptz
);
CREATE UNIQUE INDEX one_active_run ON rekey.runs ((true)) WHERE state NOT IN ('finished', 'abandoned');

-- The key (n = 0) and the columns that refer to it
CREATE TABLE rekey.columns (
    run int REFERENCES rekey.runs, n int,
    tbl oid NOT NULL, attnum int2 NOT NULL, is_required boolean NOT NULL,
    new_attnum int2,            -- once it was added
    fkey name, actions text, description text,      -- the foreign key and its comment
    PRIMARY KEY (run, n)
);

-- Indexes and CHECK constraints with such a column, which are copied
CREATE TABLE rekey.copies (
    run int REFERENCES rekey.runs, n int,
    tbl oid NOT NULL,
    kind "char" NOT NULL CHECK (kind IN ('p', 'u', 'i', 'c')),    -- primary key, unique constraint, index, CHECK
    name name NOT NULL, bytes bigint,
    new_definition text NOT NULL,
    old_definition text,        -- of a primary key's index, and of a CHECK constraint: for the way back
    description text,           -- comment of the constraint, or of an index without one
    PRIMARY KEY (run, n)
);

CREATE TABLE rekey.steps (
    run int REFERENCES rekey.runs, n int,
    phase text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('lock', 'fill', 'index', 'plain')),
    what text NOT NULL, tables oid[] NOT NULL,
    statement text NOT NULL,    -- fill: the condition of the rows to set
    index_name name,
    rows bigint, bytes bigint, wal bigint,      -- estimates
    next_page bigint NOT NULL DEFAULT 0, filled bigint NOT NULL DEFAULT 0, done_at timestamptz,
    PRIMARY KEY (run, n)
);

CREATE FUNCTION rekey.table_name(tbl oid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format('%I.%I', nspname, relname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = tbl
$$;

CREATE VIEW rekey.active_run AS
SELECT *, state IN ('planned', 'running', 'ready') AS is_before, new_value IS NULL AS same_value,
       -- are new numbers those of the sequence?
       new_value IS NULL AND key_sequence IS NOT NULL AND (old_default <> '' OR old_identity <> '') AS numbers, format('rekey\_%s\_%%', run) AS own
FROM rekey.runs WHERE state NOT IN ('finished', 'abandoned');

-- The columns of the active run with their names now
CREATE VIEW rekey.active_columns AS
SELECT c.*, c.n = 0 AS is_key, c.tbl = r.parent AND c.n > 0 AS is_self, rekey.table_name(c.tbl) AS table_name,
       o.attname AS old_name, coalesce(w.attname, o.attname || r.suffix) AS new_name, o.atttypid AS old_type,
       -- a reference can be wider than the key
       least(CASE o.atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 END,
             CASE k.atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 END) AS old_max,
       o.attnotnull, o.attcollation, o.atthasdef AS has_default, o.attacl AS old_acl,
       format('rekey_%s_%s_fkey', c.run, c.n) AS new_fkey, format('rekey_%s_%s_set', c.run, c.n) AS new_check
FROM rekey.columns c JOIN rekey.active_run r USING (run)
JOIN pg_catalog.pg_attribute o ON o.attrelid = c.tbl AND o.attnum = c.attnum
JOIN rekey.columns kc ON kc.run = c.run AND kc.n = 0 JOIN pg_catalog.pg_attribute k ON k.attrelid = kc.tbl AND k.attnum = kc.attnum
LEFT JOIN pg_catalog.pg_attribute w ON w.attrelid = c.tbl AND w.attnum = c.new_attnum;

-- Its steps with the indexes that they build
CREATE VIEW rekey.active_steps AS
SELECT s.*, i.indexrelid, i.indisvalid FROM rekey.steps s JOIN rekey.active_run USING (run)
LEFT JOIN (pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid) ON i.indrelid = s.tables[1] AND x.relname = s.index_name;

-- The names of their copies, and of what stands for them on the old columns on the way back
CREATE VIEW rekey.active_copies AS
SELECT c.*, rekey.table_name(c.tbl) AS table_name, format('rekey_%s_c%s', run, n) AS copy, format('rekey_%s_o%s', run, n) AS old_copy
FROM rekey.copies c JOIN rekey.active_run r USING (run);

-- The triggers of its tables; other roles can create some, of any name
CREATE VIEW rekey.active_triggers AS
SELECT g.*, table_name, pronamespace = 'rekey'::regnamespace AS is_own, pg_get_triggerdef(g.oid) AS definition
FROM (SELECT DISTINCT tbl, table_name FROM rekey.active_columns) AS t JOIN pg_trigger g ON tgrelid = tbl JOIN pg_proc p ON p.oid = tgfoid
WHERE NOT tgisinternal;

-- The constraints of the new columns, but for those by an index
CREATE VIEW rekey.new_constraints AS
SELECT tbl, table_name, n AS i, 'NOT NULL of ' || new_name AS what, new_check AS name, format('CHECK (%I IS NOT NULL)', new_name) AS definition
FROM rekey.active_columns WHERE is_required
UNION ALL SELECT c.tbl, c.table_name, c.n, 'foreign key of ' || c.new_name, c.new_fkey,
    format('FOREIGN KEY (%I) REFERENCES %s (%I)%s', c.new_name, k.table_name, k.new_name, c.actions)
FROM rekey.active_columns c JOIN rekey.active_columns k ON k.is_key AND NOT c.is_key
UNION ALL SELECT tbl, table_name, 10000 + n, 'constraint like ' || name, copy, new_definition
FROM rekey.active_copies WHERE kind = 'c';

CREATE FUNCTION rekey.run_all(VARIADIC statements text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE coalesce(statement, 'SELECT');
    END LOOP;
END $$;

-- Does a condition (a node tree) mean the same for the new columns? With the same numbers it does, without casts
-- of int2 to int4; else if the columns occur only in IS [NOT] NULL, and in = and <> with each other.
CREATE FUNCTION rekey.is_carried(node text, carried int2[], same_value boolean) RETURNS boolean LANGUAGE sql STABLE AS $$
SELECT same_value AND node !~ format('\{FUNCEXPR :funcid %s [^{}]*:args \(\{VAR :varno 1 :varattno (%s) ', 'int4(int2)'::regprocedure::oid,
        array_to_string(carried, '|'))
    OR regexp_replace(node, format('\{NULLTEST :arg %1$s|\{OPEXPR :opno (%2$s) [^{}]*:args \(%1$s %1$s\)',
        format('\{VAR :varno 1 :varattno (%s) [^{}]*\}', array_to_string(carried, '|')), string_agg(oid::text, '|')), '', 'g')
    !~ format(':varattno (0|%s) ', array_to_string(carried, '|'))
FROM pg_operator WHERE oprname IN ('=', '<>') AND oprnamespace = 'pg_catalog'::regnamespace
$$;

-- What plan() does not carry, each with the object's name. The same query runs before
-- each command and, in the switch, under its locks.
CREATE FUNCTION rekey.obstacles() RETURNS TABLE (obstacle text, object text) LANGUAGE sql STABLE AS $$
WITH run AS MATERIALIZED (SELECT * FROM rekey.active_run), col AS MATERIALIZED (
    SELECT *, table_name || '.' || old_name AS name, array_agg(attnum) OVER (PARTITION BY tbl) AS attnums,
           format(':varattno (0|%s) ', attnum) AS var, format('\{NULLTEST :arg \{VAR :varno 1 :varattno %s ', attnum) AS null_test,
           first_value(old_type) OVER (ORDER BY n) AS key_type, first_value(attcollation) OVER (ORDER BY n) AS key_collation
    FROM rekey.active_columns
), tab AS MATERIALIZED (
    SELECT c.*, rekey.table_name(c.oid) AS name FROM pg_class c WHERE oid IN (SELECT tbl FROM col)
), fk AS MATERIALIZED (
    -- others that refer to the key are dependent objects
    SELECT k.*, table_name || ': ' || conname AS name FROM col JOIN pg_constraint k ON conrelid = tbl AND conname = fkey
), ind AS MATERIALIZED (
    SELECT i.*, x.relname, x.oid::regclass::text AS name, amname, col.attnum, attcollation, attnums, var
    FROM pg_index i JOIN pg_class x ON x.oid = indexrelid JOIN pg_am m ON m.oid = relam, col, run
    WHERE indrelid = tbl AND x.relname NOT LIKE own AND (col.attnum = ANY (indkey) OR concat(indpred::text, indexprs::text) ~ var)
), trg AS MATERIALIZED (
    SELECT *, table_name || ': ' || tgname AS name FROM rekey.active_triggers WHERE NOT is_own
), dep (is_carried, class, obj, sub, name) AS (
    -- all that depends on a column, on a table as a whole, or on the type of its rows
    SELECT CASE classid
        WHEN 'pg_rewrite'::regclass THEN is_before AND options ? 'dependents_ok'
        WHEN 'pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_constraint k WHERE k.oid = objid AND (contype IN ('p', 'u')
            OR contype = 'n' AND convalidated OR conname LIKE own
            OR contype = 'c' AND convalidated AND NOT connoinherit AND conrelid = tbl AND rekey.is_carried(conbin::text, attnums, same_value)
                AND (is_before OR (tbl, conname) IN (SELECT tbl, name FROM rekey.active_copies))
            OR contype = 'f' AND (conrelid, conname) IN (SELECT tbl, fkey FROM col)))
        WHEN 'pg_class'::regclass THEN EXISTS (SELECT FROM pg_class x WHERE x.oid = objid AND (relkind = 'i' OR relkind = 'S' AND is_key))
        WHEN 'pg_attrdef'::regclass THEN is_key AND EXISTS (SELECT FROM pg_attrdef a WHERE a.oid = objid AND adrelid = tbl AND adnum = attnum)
        WHEN 'pg_trigger'::regclass THEN EXISTS (SELECT FROM pg_trigger t WHERE t.oid = objid AND tgrelid = tbl
            AND attnum = ANY (tgattr) AND (tgqual IS NULL OR tgqual::text !~ var))
        ELSE false END, classid, objid, objsubid, name
    FROM col JOIN pg_depend d ON refclassid = 'pg_class'::regclass AND refobjid = tbl AND refobjsubid = attnum, run
    UNION ALL SELECT classid = 'pg_proc'::regclass AND options ? 'dependents_ok', classid, objid, objsubid, name
    FROM tab JOIN pg_depend ON refclassid = 'pg_type'::regclass AND deptype = 'n'
        AND refobjid IN (SELECT reltype UNION SELECT typarray FROM pg_type WHERE pg_type.oid = reltype), run
    -- as a view with GROUP BY
    UNION ALL SELECT false, classid, objid, objsubid, name FROM col JOIN pg_constraint k ON conrelid = tbl AND contype = 'p'
    JOIN pg_index ON indexrelid = conindid AND attnum = ANY (indkey)
    JOIN pg_depend d ON refclassid = 'pg_constraint'::regclass AND refobjid = k.oid AND d.deptype = 'n', run WHERE is_before
    -- rules of the table itself are of deptype 'a'
    UNION ALL SELECT is_before AND options ? 'dependents_ok' AND deptype = 'n', classid, objid, objsubid, name
    FROM tab JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = tab.oid AND refobjsubid = 0
        AND classid = 'pg_rewrite'::regclass, run
)
-- tables
SELECT o, name FROM tab, run, LATERAL (VALUES
    ('not an ordinary table', relkind <> 'r' OR relispartition OR reloftype <> 0),
    ('temporary table', relpersistence = 't'), ('row-level security is forced', relforcerowsecurity),
    ('replica identity by an index', relreplident = 'i'),
    ('inheritance', EXISTS (SELECT FROM pg_inherits WHERE tab.oid IN (inhrelid, inhparent))),
    ('table of an extension', EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = tab.oid AND deptype = 'e')),
    -- its triggers run as this role, its owner decides what they call
    ('not owned by the current role', pg_get_userbyid(relowner) <> current_user),
    ('by SET ROLE of a superuser, which the code of the owner could undo: connect as the owner of', session_user <> current_user
        AND EXISTS (SELECT FROM pg_roles WHERE rolname = session_user AND rolsuper)),
    ('no right to create in the schema of', NOT has_schema_privilege(relnamespace, 'CREATE')),
    ('TRIGGER right of another role, which could run code as the owner, by references of the table to itself',
        oid IN (SELECT tbl FROM col WHERE is_self) AND NOT same_value
        AND EXISTS (SELECT FROM aclexplode(relacl) WHERE privilege_type = 'TRIGGER' AND grantee <> relowner)),
    ('subscription', EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = tab.oid))) AS v(o, is_so) WHERE is_so
UNION ALL SELECT 'publication (add the columns on the subscriber; REPLICA IDENTITY FULL; --publications-ok)', name || ': ' || pubname
    FROM tab, pg_publication_tables p, run
    WHERE NOT (options ? 'publications_ok' AND relreplident = 'f')
    AND (schemaname, tablename) = ((SELECT nspname FROM pg_namespace n WHERE n.oid = relnamespace), relname)
UNION ALL SELECT o, name FROM trg JOIN pg_proc f ON f.oid = tgfoid, run, LATERAL (VALUES
    ('name in use', tgname IN ('!rekey', '~rekey', '~rekey_after')),
    ('trigger whose function another role owns, which rename resets', same_value AND NOT pg_has_role(proowner, 'USAGE')),
    ('trigger whose function may not be executed, to create it again', NOT tgattr = '' AND NOT has_function_privilege(tgfoid, 'EXECUTE'))
    ) AS v(o, is_so) WHERE is_so
UNION ALL SELECT 'trigger that fires after "~rekey"', name FROM trg WHERE tgname > '~rekey' AND tgtype & 3 = 3
UNION ALL SELECT 'trigger that fires for each row (--fire-triggers)', name FROM trg, run
    WHERE is_before AND NOT options ? 'fire_triggers' AND tgtype & 16 > 0 AND tgattr = '' AND tgenabled IN ('A', 'O')
-- columns
UNION ALL SELECT o, name FROM col, run, LATERAL (VALUES
    ('type of column', old_type <> ALL ('{int2,int4,int8,uuid,text,varchar,bytea}'::regtype[]::oid[])
        OR old_type <> key_type AND 'N' <> ANY (SELECT typcategory FROM pg_type WHERE oid IN (old_type, key_type))),
    ('collation of column', attcollation <> key_collation OR new_type = 'text' AND attcollation NOT IN (0, '"default"'::regcollation)
        OR EXISTS (SELECT FROM pg_collation l WHERE l.oid = attcollation AND NOT collisdeterministic)),
    ('key without a default (--old-default, for what the new application inserts)',
        is_key AND NOT same_value AND old_identity = '' AND old_default IS NULL AND NOT has_default),
    ('default of the key is not nextval() of a sequence that it owns', is_key AND state = 'planned' AND same_value AND has_default
        AND (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = tbl AND adnum = attnum)
            IS DISTINCT FROM format('nextval(%L::regclass)', key_sequence::regclass)),
    ('reference to the own table that is NOT NULL', is_self AND is_required AND NOT same_value),
    -- the new reference to a later row of a statement is NULL until its end
    ('reference to the own table whose being NULL a CHECK or unique index examines', is_self AND NOT same_value AND EXISTS (
        SELECT conbin FROM pg_constraint WHERE conrelid = tbl AND contype = 'c' AND conbin::text ~ null_test
        UNION ALL SELECT indpred FROM pg_index WHERE indrelid = tbl AND indisunique AND indpred::text ~ null_test)),
    ('two foreign keys of column', NOT is_key AND 1 < (SELECT count(*) FROM col b WHERE (b.tbl, b.attnum) = (col.tbl, col.attnum))),
    ('n_distinct of column', EXISTS (SELECT FROM pg_attribute a WHERE (attrelid, a.attnum) = (tbl, col.attnum) AND attoptions::text ~ 'n_distinct')),
    ('the key is itself a foreign key', is_key AND attnum IN (SELECT unnest(conkey) FROM pg_constraint WHERE conrelid = tbl AND contype = 'f')),
    ('security label of column', EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = tbl AND objsubid = attnum))
    ) AS v(o, is_so) WHERE is_so
UNION ALL SELECT 'name in use, or too long', name || suffix FROM col, run
    WHERE new_attnum IS NULL AND (octet_length(old_name || suffix) > 63 OR EXISTS (SELECT FROM pg_attribute
        WHERE attrelid = tbl AND attname IN (left(old_name || suffix, 63), '~rekey') AND NOT attisdropped))
UNION ALL SELECT 'name in use', used FROM run, LATERAL (SELECT c.oid::regclass::text, relname FROM pg_class c
    UNION ALL SELECT rekey.table_name(conrelid) || ': ' || conname, conname FROM pg_constraint WHERE conrelid > 0) AS names(used, n)
    WHERE state = 'planned' AND n LIKE own
UNION ALL SELECT 'sequence with other users', pg_describe_object(d.classid, d.objid, d.objsubid)
    FROM run JOIN pg_depend d ON refclassid = 'pg_class'::regclass AND refobjid = key_sequence
    WHERE NOT EXISTS (SELECT FROM pg_attrdef a, col WHERE a.oid = d.objid AND adrelid = tbl AND adnum = attnum AND is_key)
-- foreign keys
UNION ALL SELECT o, name FROM fk, run, LATERAL (VALUES
    ('deferrable foreign key', condeferrable),
    ('foreign key with SET DEFAULT, or with columns to set', 'd' IN (confdeltype, confupdtype) OR confdelsetcols IS NOT NULL),
    ('foreign key that is not enforced', to_jsonb(fk) @> '{"conenforced": false}'
        OR EXISTS (SELECT FROM pg_trigger WHERE tgconstraint = fk.oid AND tgenabled <> 'O')),
    ('foreign key by another unique index', is_before
        AND conindid <> (SELECT conindid FROM pg_constraint WHERE conrelid = parent AND contype = 'p'))) AS v(o, is_so) WHERE is_so
-- indexes
UNION ALL SELECT o, name FROM ind, run, LATERAL (VALUES
    ('invalid index', NOT indisvalid), ('deferrable unique constraint', NOT indimmediate),
    ('index on which the table is clustered', is_before AND indisclustered),
    ('index of access method ' || amname, amname NOT IN ('btree', 'hash', 'brin')),
    ('index that is not in the plan', NOT is_before AND (indrelid, relname) NOT IN (SELECT p.tbl, p.name FROM rekey.active_copies p)),
    ('index with an expression or a predicate of the column', indexprs::text ~ var
        OR indpred::text ~ var AND NOT rekey.is_carried(indpred::text, attnums, same_value)),
    ('unique index that counts NULLs, which are keys beyond the old type',
        same_value AND indisunique AND (indpred::text ~ var OR to_jsonb(ind) ->> 'indnullsnotdistinct' = 'true')),
    ('index that a foreign key requires', EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype = 'f'
        AND (conrelid, conname) NOT IN (SELECT tbl, fkey FROM col WHERE fkey <> ''))),
    ('index with an operator class, collation or parameters of its own', EXISTS (SELECT FROM generate_series(0, indnkeyatts - 1) k
            JOIN pg_opclass p ON p.oid = indclass[k] WHERE indkey[k] = attnum AND (NOT opcdefault OR indcollation[k] <> attcollation))
        OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = indexrelid AND attoptions IS NOT NULL))) AS v(o, is_so) WHERE is_so
-- everything else
UNION ALL SELECT 'dependent object', format('%s (%s)', pg_describe_object(class, obj, sub), name) FROM dep WHERE NOT is_carried
$$;

-- What must not change between plan and switch, one line an object
CREATE FUNCTION rekey.catalog() RETURNS text[] LANGUAGE sql STABLE AS $$
WITH run AS MATERIALIZED (SELECT * FROM rekey.active_run), col AS MATERIALIZED (SELECT * FROM rekey.active_columns),
tab AS MATERIALIZED (SELECT * FROM pg_class WHERE oid IN (SELECT tbl FROM col))
SELECT array_agg(line ORDER BY line) FROM (
    SELECT format('column %s.%s %s %s %s', table_name, old_name, format_type(old_type, NULL), attnotnull, old_acl) FROM col
    UNION SELECT format('table %s %s %s', oid::regclass, relowner::regrole, relrowsecurity) FROM tab
    UNION SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class x ON x.oid = indexrelid, col, run
    WHERE indrelid = tbl AND relname NOT LIKE own AND (attnum = ANY (indkey) OR indpred::text ~ format(':varattno %s ', attnum))
    -- a run validates foreign keys
    UNION SELECT format('constraint %s on %s: %s', conname, conrelid::regclass, regexp_replace(pg_get_constraintdef(k.oid), ' NOT VALID$', ''))
    FROM pg_constraint k, col, run
    WHERE (conrelid = tbl AND attnum = ANY (conkey) OR confrelid = tbl AND attnum = ANY (confkey)) AND conname NOT LIKE own
    UNION SELECT format('%s: %s', tgenabled, definition) FROM rekey.active_triggers WHERE NOT is_own) AS lines(line)
$$;

-- Raise an error with all obstacles and, until the switch, all changes of the catalog and
-- all that does not exist, or is not valid, although the run is ready.
CREATE FUNCTION rekey.check_catalog() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    lines text[] := rekey.catalog();
    problems text;
BEGIN
    SELECT string_agg(DISTINCT what || ': ' || object, E'\n') INTO problems FROM (
        SELECT obstacle, o.object FROM rekey.obstacles() o
        UNION ALL SELECT 'not in the plan', l FROM unnest(lines) l WHERE active.is_before AND l <> ALL (active.fingerprint)
        UNION ALL SELECT 'only in the plan', l FROM unnest(active.fingerprint) l WHERE active.is_before AND l <> ALL (lines)
        UNION ALL SELECT 'not complete', i FROM (
            SELECT 'triggers of ' || table_name FROM rekey.active_columns
            WHERE active.state NOT IN ('planned', 'running') GROUP BY tbl, table_name
            HAVING (SELECT count(*) FROM rekey.active_triggers WHERE tgrelid = tbl AND is_own AND tgenabled = 'A')
                <> 1 + (bool_or(is_key) AND active.numbers)::int + (bool_or(is_self) AND NOT active.same_value)::int
            UNION ALL SELECT c.what FROM rekey.new_constraints c WHERE active.state = 'ready'
                AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = tbl AND conname = name AND convalidated)
            UNION ALL SELECT coalesce('index ' || index_name, 'step ' || n) FROM rekey.active_steps WHERE active.state = 'ready'
                AND phase = 'run' AND (done_at IS NULL OR kind = 'index' AND indisvalid IS NOT TRUE)) AS v(i)
        ) AS p(what, object);
    IF problems <> '' THEN
        RAISE 'keys of table % cannot be changed', rekey.table_name(active.parent) USING DETAIL = problems,
            ERRCODE = CASE active.state WHEN 'planned' THEN 'feature_not_supported' ELSE 'object_not_in_prerequisite_state' END;
    END IF;
END $$;

-- The definition of an index from "USING" on, with its tablespace, which pg_get_indexdef() leaves out
CREATE FUNCTION rekey.index_part(index_oid oid) RETURNS text LANGUAGE sql STABLE AS $$
SELECT concat(left(part, length(part) - length(predicate)), ' TABLESPACE ' || quote_ident(spcname), predicate)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid LEFT JOIN pg_tablespace s ON s.oid = reltablespace, LATERAL (
    SELECT substr(pg_get_indexdef(indexrelid), 1 + length(format('CREATE %sINDEX %I ON %s ',
        CASE WHEN indisunique THEN 'UNIQUE ' END, relname, rekey.table_name(indrelid)))), concat(' WHERE ' || pg_get_expr(indpred, indrelid))
    ) AS d(part, predicate)
WHERE indexrelid = index_oid
$$;

-- The definition of an index, from "USING" on, or of a CHECK constraint for the new columns. Nothing is replaced in
-- a text: it is made in an empty table that has the new type under the old names, which are then changed.
CREATE FUNCTION rekey.translate(target oid, definition text, names jsonb, new_type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    translated text;
BEGIN
    EXECUTE format('CREATE TABLE rekey.translation (LIKE %s)', rekey.table_name(target));
    PERFORM rekey.run_all(format('ALTER TABLE rekey.translation ALTER %I TYPE %s USING NULL', attname, new_type))
    FROM pg_attribute WHERE attrelid = target AND names ? attnum::text;
    EXECUTE CASE WHEN definition LIKE 'CHECK%' THEN 'ALTER TABLE rekey.translation ADD ' ELSE 'CREATE INDEX ON rekey.translation ' END
        || definition;
    PERFORM rekey.run_all(format('ALTER TABLE rekey.translation RENAME %I TO %I', attname, names ->> attnum::text))
    FROM pg_attribute WHERE attrelid = target AND names ? attnum::text;
    SELECT coalesce(rekey.index_part(indexrelid), pg_get_constraintdef(k.oid)) INTO translated
    FROM pg_class t LEFT JOIN pg_index ON indrelid = t.oid LEFT JOIN pg_constraint k ON conrelid = t.oid AND contype = 'c'
    WHERE t.oid = 'rekey.translation'::regclass;
    DROP TABLE rekey.translation;
    RETURN translated;
END $$;

-- Write the plan of a run; raises an error with all obstacles.
CREATE FUNCTION rekey.plan(target regclass, new_type regtype, new_value text DEFAULT NULL, new_default text DEFAULT NULL,
    suffix text DEFAULT '_new', options jsonb DEFAULT '{}', old_default text DEFAULT NULL)
RETURNS SETOF rekey.steps LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    run_now int;
    key pg_attribute;
    parent text := rekey.table_name(target);
    problem text;
    needed bigint;
BEGIN
    IF EXISTS (SELECT FROM rekey.active_run) THEN
        RAISE 'run % is active', (SELECT run FROM rekey.active_run) USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Finish or abandon it first.';
    END IF;
    SELECT a.* INTO key FROM pg_constraint k JOIN pg_attribute a ON attrelid = conrelid AND attnum = conkey[1]
    WHERE conrelid = target AND contype = 'p' AND cardinality(conkey) = 1;
    problem := CASE
        WHEN key.attnum IS NULL THEN format('table %s has no primary key of one column', parent)
        WHEN new_value IS NULL AND (key.atttypid, new_type) NOT IN (('int2'::regtype, 'int4'::regtype), ('int2'::regtype, 'int8'::regtype),
            ('int4'::regtype, 'int8'::regtype)) THEN 'a value is required, except for a wider type of integers'
        WHEN new_type <> ALL ('{int4,int8,uuid,text,bytea}'::regtype[]::oid[]) THEN format('keys of type %s are not supported', new_type)
        WHEN new_value <> '' AND new_default IS NULL THEN 'a default is required for the new key' END;
    IF problem <> '' THEN
        RAISE '%', problem USING ERRCODE = 'feature_not_supported';
    ELSIF new_value <> '' THEN
        BEGIN
            PERFORM rekey.run_all((SELECT format('SELECT (%s)::%s FROM (SELECT %s FROM %s LIMIT 1) AS %I', new_value, new_type,
                        string_agg(quote_ident(attname), ', '), parent, relname)    -- triggers do not see generated columns
                    FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
                    WHERE c.oid = target GROUP BY relname),
                format('SELECT (%s)::%s', new_default, new_type),
                'SELECT (' || old_default || ')::' || format_type(key.atttypid, key.atttypmod));
        EXCEPTION WHEN syntax_error_or_access_rule_violation THEN
            RAISE 'value or default: %', sqlerrm USING ERRCODE = sqlstate, HINT = 'Functions outside pg_catalog require their schema.';
        END;
    END IF;

    INSERT INTO rekey.runs (home, parent, new_type, suffix, new_value, new_default, old_default, old_identity, key_sequence, options)
    SELECT 'rekey.runs'::regclass, target, new_type::text, suffix, new_value, new_default,
        CASE WHEN new_value <> '' AND NOT key.atthasdef AND key.attidentity = '' THEN
            coalesce(old_default, CASE key.atttypid WHEN 'uuid'::regtype THEN 'gen_random_uuid()' END) END,
        key.attidentity, pg_get_serial_sequence(parent, key.attname)::regclass, options
    RETURNING run INTO run_now;
    INSERT INTO rekey.columns (run, n, tbl, attnum, is_required, fkey, actions, description)
    SELECT run_now, c.*
    FROM (
        SELECT 0, target::oid, key.attnum, true, NULL::name, NULL, NULL
        UNION ALL SELECT row_number() OVER (ORDER BY conrelid = target, conrelid, k.oid), conrelid, conkey[1], attnotnull, conname,
            CASE confmatchtype WHEN 'f' THEN ' MATCH FULL' ELSE '' END || (SELECT string_agg(format(' ON %s %s', event,
                CASE act WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END), '')
                FROM (VALUES ('UPDATE', confupdtype), ('DELETE', confdeltype)) AS v(event, act)), obj_description(k.oid, 'pg_constraint')
        FROM pg_constraint k JOIN pg_attribute a ON attrelid = conrelid AND a.attnum = conkey[1]
        WHERE confrelid = target AND contype = 'f' AND conparentid = 0 AND cardinality(conkey) = 1 AND confkey[1] = key.attnum
    ) AS c(n, tbl, attnum, is_required, fkey, actions, description);
    UPDATE rekey.runs SET fingerprint = rekey.catalog() WHERE run = run_now;
    PERFORM rekey.check_catalog();

    INSERT INTO rekey.copies
    SELECT run_now, n, tbl, kind, name, bytes, CASE WHEN kind <> 'c' THEN format('CREATE %sINDEX CONCURRENTLY IF NOT EXISTS %I ON %s ',
            CASE WHEN is_unique THEN 'UNIQUE ' END, format('rekey_%s_c%s', run_now, n), rekey.table_name(tbl)) ELSE '' END
            || rekey.translate(tbl, definition, new_names, new_type::text),
        CASE kind WHEN 'c' THEN definition WHEN 'p' THEN format('CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS %I ON %s %s',
            format('rekey_%s_o%s', run_now, n), rekey.table_name(tbl), definition) END, description
    FROM (SELECT *, row_number() OVER (ORDER BY tbl, kind = 'c', oid) AS n
          FROM (SELECT tbl, array_agg(attnum) AS attnums, jsonb_object_agg(attnum, new_name) AS new_names
                FROM rekey.active_columns GROUP BY tbl) AS tables,
          LATERAL (
              SELECT indexrelid, relname, coalesce(contype, 'i'), indisunique, pg_relation_size(indexrelid), rekey.index_part(indexrelid),
                  coalesce(obj_description(k.oid, 'pg_constraint'), obj_description(indexrelid, 'pg_class'))
              FROM pg_index JOIN pg_class x ON x.oid = indexrelid
              LEFT JOIN pg_constraint k ON conindid = indexrelid AND conrelid = tbl AND contype IN ('p', 'u')
              WHERE indrelid = tbl AND (indkey::int2[] && attnums
                  OR indpred::text ~ format(':varattno (%s) ', array_to_string(attnums, '|')))
              UNION ALL SELECT oid, conname, 'c', false, NULL, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint') FROM pg_constraint
              WHERE conrelid = tbl AND contype = 'c' AND conkey && attnums
          ) AS c(oid, name, kind, is_unique, bytes, definition, description)) AS copies;

    -- The steps of "run", table by table; of an index, the second number is that of the copy
    INSERT INTO rekey.steps (run, n, phase, kind, what, tables, statement, index_name, rows, bytes, wal)
    WITH col AS MATERIALIZED (
        SELECT * FROM rekey.active_columns
    ), t AS MATERIALIZED (
        SELECT tbl, table_name, min(n) AS n, bool_or(is_key) AS is_parent, bool_or(NOT is_key) AS refers,
            string_agg(format('%I IS NOT NULL AND %I IS NULL', old_name, new_name), ' OR ') FILTER (WHERE NOT is_key) AS missing,
            string_agg(format('%I', new_name), ', ') AS names, rows, size + rows * 16 * count(*) AS heap,
            size + rows * (100 + 100 * (SELECT count(*) FROM pg_index WHERE indrelid = tbl)) AS wal
        FROM col JOIN pg_class ON oid = tbl, LATERAL (SELECT pg_relation_size(oid)) AS s(size),
        LATERAL (SELECT CASE WHEN reltuples >= 0 THEN reltuples ELSE size / 60 END::bigint) AS r(rows)
        GROUP BY tbl, table_name, rows, size
    ), s(tbl, part, i, kind, what, statement) AS (
        SELECT tbl, 0, n, 'plain', format('validate %I', conname), format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, conname)
        FROM col JOIN pg_constraint ON conrelid = tbl AND conname = fkey WHERE NOT convalidated
        UNION ALL SELECT tbl, 1, 0, 'lock', format('add %s to %s, with a trigger', names, table_name),
            format('SELECT rekey.add_columns(%s)', tbl) FROM t
        UNION ALL SELECT tbl, 2, 0, 'fill', 'fill keys of ' || table_name, (SELECT format('%I IS NULL', new_name) FROM col WHERE is_key)
        FROM t WHERE is_parent
        -- no transaction remains that has referred to a row without its new key
        UNION ALL SELECT tbl, 3, 0, 'lock', 'all rows have keys', 'SELECT' FROM t WHERE is_parent AND refers
        UNION ALL SELECT tbl, 4, 0, 'fill', 'fill references of ' || table_name, missing FROM t WHERE refers
        UNION ALL SELECT tbl, 5, 0, 'plain', 'vacuum ' || table_name, 'VACUUM (ANALYZE) ' || table_name FROM t
        UNION ALL SELECT tbl, 6, n, 'index', format('index like %I', name), new_definition FROM rekey.active_copies WHERE kind <> 'c'
        UNION ALL SELECT tbl, 7, n, 'index', 'unique index on the old key, for the way back', old_definition
        FROM rekey.active_copies WHERE kind = 'p'
        -- older snapshots, which the indexes have awaited, have seen parents without keys
        UNION ALL SELECT tbl, 7, 10000, 'fill', 'fill references of ' || table_name, missing FROM t WHERE is_parent AND refers
        UNION ALL SELECT tbl, 8, 0, 'lock', 'constraints of ' || table_name,
            (SELECT string_agg(format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', table_name, name, definition), '; ')
             FROM rekey.new_constraints c WHERE c.tbl = t.tbl) FROM t
        UNION ALL SELECT tbl, 9, i, 'plain', 'validate the ' || what, format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, name)
        FROM rekey.new_constraints
        -- from now on, the parent's new key may change: all references follow it
        UNION ALL SELECT target, 10, 0, 'lock', 'both keys can be used', format(
            'UPDATE rekey.runs SET state = ''ready'', verified_at = NULL WHERE run = %s; SELECT rekey.write_trigger(%s)', run_now, target::oid)
    )
    SELECT run_now, row_number() OVER (ORDER BY part = 10, part > 0, t.n, part, i), 'run', s.kind, what,
        CASE part WHEN 8 THEN ARRAY[target::oid] || array_remove(ARRAY[s.tbl], target::oid) ELSE ARRAY[s.tbl] END, statement,
        CASE part WHEN 6 THEN copy WHEN 7 THEN old_copy END, CASE WHEN s.kind IN ('fill', 'index') AND i < 10000 THEN rows END,
        CASE WHEN s.kind = 'fill' AND part < 7 THEN heap WHEN part = 6 THEN 2 * bytes WHEN part = 7 THEN bytes END,
        CASE WHEN s.kind = 'fill' AND part < 7 THEN wal WHEN part = 6 THEN 2 * bytes WHEN part = 7 THEN bytes END
    FROM s JOIN t ON t.tbl = s.tbl LEFT JOIN rekey.active_copies c ON s.kind = 'index' AND c.n = i AND c.tbl = s.tbl;
    SELECT sum(bytes) INTO needed FROM rekey.steps WHERE run = run_now;
    IF needed > (options ->> 'max_bytes')::bigint THEN
        RAISE 'the change needs about % bytes', needed USING ERRCODE = 'disk_full', HINT = 'The limit is that of --max-bytes.';
    END IF;
    RETURN QUERY SELECT * FROM rekey.steps WHERE run = run_now ORDER BY n;
END $$;

-- What the steps need and, for roles that may execute programs on the server, what df shows there as free
CREATE FUNCTION rekey.space() RETURNS TABLE (place name, needed text, free text) LANGUAGE plpgsql AS $$
DECLARE
    path text;
BEGIN
    FOR place, path, needed IN
        SELECT spcname, CASE spcname WHEN 'pg_default' THEN '.' ELSE 'pg_tblspc/' || p.oid END, pg_size_pretty(sum(s.bytes))
        FROM rekey.active_steps s JOIN pg_class t ON t.oid = tables[1]
        LEFT JOIN rekey.active_copies c ON c.tbl = t.oid AND index_name IN (copy, old_copy)
        LEFT JOIN pg_class i ON (i.relnamespace, i.relname) = (t.relnamespace, c.name) JOIN pg_database d ON datname = current_database()
        JOIN pg_tablespace p ON p.oid = coalesce(nullif(coalesce(i.reltablespace, t.reltablespace), 0), dattablespace)
        WHERE s.bytes > 0 GROUP BY p.oid, spcname
        UNION ALL SELECT 'WAL', 'pg_wal', pg_size_pretty(sum(wal)) FROM rekey.active_steps
    LOOP
        BEGIN
            CREATE TEMP TABLE rekey_df (line text);
            EXECUTE format('COPY pg_temp.rekey_df FROM PROGRAM %L', 'df -Pk ' || path);
            free := (SELECT pg_size_pretty(1024 * (regexp_match(line, '(\d+) +\d+% '))[1]::bigint) FROM pg_temp.rekey_df WHERE line LIKE '%\%%');
            DROP TABLE pg_temp.rekey_df;
        EXCEPTION WHEN OTHERS THEN
            free := 'unknown: ' || sqlerrm;
        END;
        RETURN NEXT;
    END LOOP;
END $$;

-- The statements that keep a column and its old one equal, in a trigger. Same value: each is
-- set by the other; beyond the old type, the old one is NULL. Else the parent is looked up,
-- under an alias, since a table may be called "new".
CREATE FUNCTION rekey.trigger_part(c rekey.active_columns, k rekey.active_columns, active rekey.active_run) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- for format(): 1 old column, 2 new column, 3 parent, 4 its old key, 5 its new key, 6 the old type's end, 7 the table
    new_by_old text := '(SELECT p.%5$I FROM ONLY %3$s AS p WHERE p.%4$I = NEW.%1$I)';
    old_by_new text := '(SELECT p.%4$I FROM ONLY %3$s AS p WHERE p.%5$I = NEW.%2$I)';
    -- 1 the given column, 2 the parent's column like it, 3 the parent's other column, 4 the parent, 5 the result, 6 the foreign key
    lookup text := $f$
            SELECT p.%3$I INTO %5$s FROM ONLY %4$s AS p WHERE p.%2$I = NEW.%1$I FOR KEY SHARE;$f$
        || CASE WHEN c.is_self THEN $f$
            IF NEW.%2$I = NEW.%1$I THEN
                %5$s := NEW.%3$I;
            END IF;$f$ ELSE $f$
            IF NOT FOUND THEN
                RAISE 'no row of table %% has the key %%', %4$L, NEW.%1$I
                    USING TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA, CONSTRAINT = %6$L, ERRCODE = CASE
                    current_setting('transaction_isolation') WHEN 'read committed' THEN 'foreign_key_violation' ELSE 'serialization_failure' END;
            END IF;$f$ END;
    by_old text := replace(format(lookup, c.old_name, k.old_name, k.new_name, k.table_name, 'new_key', c.fkey), '%', '%%');
    by_new text := replace(format(lookup, c.new_name, k.new_name, k.old_name, k.table_name, 'old_key', c.fkey), '%', '%%');
    part text := '';
BEGIN
    IF active.same_value THEN
        new_by_old := 'NEW.%1$I';
        old_by_new := 'CASE WHEN NEW.%2$I BETWEEN -%6$s - 1 AND %6$s THEN NEW.%2$I END';
        by_old := ' new_key := ' || new_by_old || ';';
        by_new := ' old_key := ' || old_by_new || ';';
        part := CASE WHEN c.is_key THEN $f$
    IF TG_OP = 'UPDATE' AND NEW.%2$I NOT BETWEEN -%6$s - 1 AND %6$s AND NEW.%2$I IS DISTINCT FROM OLD.%2$I AND OLD.%1$I IS NOT NULL THEN
        RAISE 'a key cannot move beyond the old type before finish' USING ERRCODE = 'object_not_in_prerequisite_state', TABLE = TG_TABLE_NAME;
    END IF;$f$ ELSE '' END;
    END IF;
    IF c.is_key AND NOT active.same_value THEN
        part := $f$
    IF NEW.%2$I IS NULL THEN
        NEW.%2$I := (SELECT $f$ || replace(active.new_value, '%', '%%') || $f$ FROM (SELECT NEW.*) AS %7$I);$f$
        || CASE WHEN active.state IN ('planned', 'running') THEN $f$
    ELSIF TG_OP = 'UPDATE' AND NEW.%2$I IS DISTINCT FROM OLD.%2$I AND OLD.%2$I IS NOT NULL THEN
        RAISE 'column "%%" cannot be changed until references to it are complete', %2$L
            USING ERRCODE = 'object_not_in_prerequisite_state';$f$ ELSE '' END || $f$
    END IF;$f$;
    ELSE
        part := part || $f$
    old_given := NEW.%1$I IS NOT NULL AND TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.%1$I IS DISTINCT FROM OLD.%1$I;
    new_given := NEW.%2$I IS NOT NULL AND TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND NEW.%2$I IS DISTINCT FROM OLD.%2$I;
    old_key := NULL;
    new_key := NULL;
    IF new_given THEN
        IF NEW.%2$I IS NOT NULL THEN$f$ || by_new || $f$
        END IF;
        IF old_given AND NEW.%1$I IS DISTINCT FROM old_key$f$
            || CASE WHEN c.is_self AND NOT active.same_value THEN ' AND old_key IS NOT NULL' ELSE '' END || $f$ THEN
            RAISE 'columns "%%" and "%%" refer to different rows', %1$L, %2$L
                USING ERRCODE = 'invalid_parameter_value', TABLE = TG_TABLE_NAME;
        ELSIF NOT old_given THEN
            NEW.%1$I := old_key;
        END IF;
    ELSIF old_given THEN
        IF NEW.%1$I IS NOT NULL THEN$f$ || by_old || $f$
        END IF;
        NEW.%2$I := new_key;
    ELSIF NEW.%2$I IS NULL AND NEW.%1$I IS NOT NULL THEN
        NEW.%2$I := $f$ || new_by_old || $f$;
    ELSIF NEW.%1$I IS NULL AND NEW.%2$I IS NOT NULL THEN
        NEW.%1$I := $f$ || old_by_new || $f$;
    END IF;$f$;
    END IF;
    RETURN format(part, c.old_name, c.new_name, k.table_name, k.old_name, k.new_name, c.old_max,
        (SELECT relname FROM pg_class WHERE oid = c.tbl));
END $$;

-- The statements before all other triggers: the next number, which these may use
CREATE FUNCTION rekey.trigger_part_first(c rekey.active_columns, active rekey.active_run) RETURNS text LANGUAGE sql STABLE AS $$
SELECT format($f$
    IF TG_OP = 'INSERT' AND NEW.%1$I IS NULL AND NEW.%2$I IS NULL THEN
        NEW.%2$I := nextval(%3$L);
        NEW.%1$I := CASE WHEN NEW.%2$I BETWEEN -%4$s - 1 AND %4$s THEN NEW.%2$I END;
    END IF;$f$, c.old_name, c.new_name, active.key_sequence::regclass, c.old_max)
WHERE c.is_key AND active.numbers
$$;

-- The statements after all rows of a statement: references to rows that came later in it
CREATE FUNCTION rekey.trigger_part_after(c rekey.active_columns, k rekey.active_columns) RETURNS text LANGUAGE sql STABLE AS $$
SELECT format($f$
    IF TG_OP = 'INSERT' OR NEW.%1$I IS DISTINCT FROM OLD.%1$I OR NEW.%2$I IS DISTINCT FROM OLD.%2$I THEN
        IF (NEW.%1$I IS NULL) <> (NEW.%2$I IS NULL) THEN
            UPDATE ONLY %3$s AS p SET %2$I = p.%2$I WHERE p.%4$I = NEW.%4$I;
            IF EXISTS (SELECT FROM ONLY %3$s AS p WHERE p.%4$I = NEW.%4$I AND p.%1$I IS NULL AND p.%2$I IS NOT NULL) THEN
                RAISE 'no row of table %% has the key %%', %3$L, NEW.%2$I USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME,
                    CONSTRAINT = %6$L;
            ELSIF EXISTS (SELECT FROM ONLY %3$s AS p, ONLY %3$s AS r
                    WHERE p.%4$I = NEW.%4$I AND p.%2$I IS NULL AND r.%4$I = p.%1$I AND r.%5$I IS NOT NULL) THEN
                RAISE 'a trigger prevents the update of "%%" = %%', %4$L, NEW.%4$I
                    USING ERRCODE = 'triggered_action_exception', TABLE = TG_TABLE_NAME;
            END IF;
        ELSIF EXISTS (SELECT FROM ONLY %3$s AS p WHERE p.%4$I = NEW.%4$I AND p.%1$I IS NOT NULL AND p.%2$I IS NOT NULL
                AND NOT EXISTS (SELECT FROM ONLY %3$s AS r WHERE r.%4$I = p.%1$I AND r.%5$I = p.%2$I)) THEN
            RAISE 'columns "%%" and "%%" refer to different rows', %1$L, %2$L USING ERRCODE = 'invalid_parameter_value', TABLE = TG_TABLE_NAME;
        END IF;
    END IF;$f$, c.old_name, c.new_name, k.table_name, k.old_name, k.new_name, c.fkey)
$$;

-- Write the trigger functions of a table for its columns' names now. They belong to the
-- tables' owner, who may read the parent also under row-level security.
CREATE FUNCTION rekey.write_trigger(target oid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    t record;
BEGIN
    FOR t IN SELECT trigger_name, moment, old_type, new_type, parts, format('rekey.keep_%s_%s%s', active.run, n, suffix) AS function_name
        FROM (SELECT min(c.n) AS n, format_type(k.old_type, NULL) AS old_type, active.new_type,
                  string_agg(rekey.trigger_part_first(c, active), '') AS first,
                  string_agg(rekey.trigger_part(c, k, active), '' ORDER BY c.n) AS before,
                  string_agg(rekey.trigger_part_after(c, k), '' ORDER BY c.n) FILTER (WHERE c.is_self AND NOT active.same_value) AS after
              FROM rekey.active_columns c, rekey.active_columns k WHERE k.is_key AND c.tbl = target GROUP BY k.old_type) AS f,
        LATERAL (VALUES ('!rekey', 'BEFORE', first, '_first'), ('~rekey', 'BEFORE', before, ''), ('~rekey_after', 'AFTER', after, '_after'))
            AS v(trigger_name, moment, parts, suffix)
        WHERE parts IS NOT NULL
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger '
            'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', t.function_name, format($f$
#variable_conflict use_column
DECLARE
    old_key %s;
    new_key %s;
    old_given boolean;
    new_given boolean;
BEGIN%s
    RETURN NEW;
END $f$, t.old_type, t.new_type, t.parts));
        EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', t.function_name);
        IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = t.trigger_name) THEN
            PERFORM rekey.run_all(format('CREATE TRIGGER %I %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                    t.trigger_name, t.moment, rekey.table_name(target), t.function_name),
                format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', rekey.table_name(target), t.trigger_name));
        END IF;
    END LOOP;
END $$;

-- The functions of "lock" steps. They run under ACCESS EXCLUSIVE locks of all their tables.

-- Privileges of a column or sequence, also those that were granted by others
CREATE FUNCTION rekey.grant_all(acl aclitem[], target text) RETURNS void LANGUAGE sql AS $$
    SELECT rekey.run_all(format('GRANT %s %s TO %s%s', privilege_type, target, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)) FROM aclexplode(acl)
$$;

-- An identity's sequence becomes one of a default, or the other way: with its name,
-- value and privileges.
CREATE FUNCTION rekey.change_identity(tbl oid, old_column name, sequence oid, identity "char") RETURNS oid LANGUAGE plpgsql AS $$
DECLARE
    name text := rekey.table_name(sequence);
    was record;
    v record;
    definition text;
    description text := obj_description(sequence);
BEGIN
    SELECT * INTO was FROM pg_class c JOIN pg_sequence s ON seqrelid = c.oid WHERE c.oid = sequence;
    -- its lock keeps other sessions from nextval()
    EXECUTE format('ALTER SEQUENCE %s INCREMENT %s', name, was.seqincrement);
    EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO v;
    definition := format('INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s %sCYCLE', was.seqincrement, was.seqmin, was.seqmax,
        was.seqstart, was.seqcache, CASE WHEN NOT was.seqcycle THEN 'NO ' END);
    IF identity = '' THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP IDENTITY', rekey.table_name(tbl), old_column),
            format('CREATE SEQUENCE %s AS %s %s', name, format_type(was.seqtypid, NULL), definition),
            format('ALTER SEQUENCE %s OWNED BY %s.%I', name, rekey.table_name(tbl), old_column));
    ELSE
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP DEFAULT', rekey.table_name(tbl), old_column), format('DROP SEQUENCE %s', name),
            format('ALTER TABLE %s ALTER %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)', rekey.table_name(tbl), old_column,
                CASE identity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, name, definition));
    END IF;
    PERFORM setval(name::regclass, v.last_value, v.is_called);
    PERFORM rekey.run_all(format('REVOKE ALL ON SEQUENCE %s FROM %s', name, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END))
    FROM pg_class c, aclexplode(relacl) WHERE c.oid = name::regclass AND grantee <> relowner;    -- by default privileges
    PERFORM rekey.grant_all(was.relacl, 'ON SEQUENCE ' || name), rekey.run_all(format('COMMENT ON SEQUENCE %s IS %L', name, description));
    RETURN name::regclass;
END $$;

CREATE FUNCTION rekey.add_columns(target oid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    c rekey.active_columns;
    sequence oid := active.key_sequence;
    definition text := active.old_default;
BEGIN
    FOR c IN SELECT * FROM rekey.active_columns WHERE tbl = target ORDER BY n LOOP
        EXECUTE format('ALTER TABLE %s ADD %I %s', c.table_name, c.new_name, active.new_type);
        UPDATE rekey.columns SET new_attnum = (SELECT attnum FROM pg_attribute WHERE attrelid = target AND attname = c.new_name)
        WHERE run = active.run AND n = c.n;
        PERFORM rekey.grant_all(attacl, format('(%I) ON %s', c.new_name, c.table_name)),
            rekey.run_all(format('COMMENT ON COLUMN %s.%I IS %L', c.table_name, c.new_name, col_description(target, c.attnum)),
                format('ALTER TABLE %s ALTER %I SET STATISTICS ', c.table_name, c.new_name) || attstattarget)
        FROM pg_attribute WHERE attrelid = target AND attnum = c.attnum;
        CONTINUE WHEN NOT c.is_key;
        IF NOT active.same_value THEN
            PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I SET DEFAULT (%s)::%s', c.table_name, c.new_name, active.new_default,
                    active.new_type),
                format('ALTER TABLE %s ALTER %I SET DEFAULT ', c.table_name, c.old_name) || active.old_default);
        ELSIF active.old_identity <> '' THEN
            sequence := rekey.change_identity(target, c.old_name, sequence, '');
        ELSIF sequence IS NOT NULL THEN
            definition := (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = target AND adnum = c.attnum);
            EXECUTE format('ALTER TABLE %s ALTER %I DROP DEFAULT', c.table_name, c.old_name);
        END IF;
        UPDATE rekey.runs SET key_sequence = sequence, old_default = definition WHERE run = active.run;
    END LOOP;
    PERFORM rekey.write_trigger(target);
END $$;

-- The primary keys move to the new columns, or back, after which "run" makes their indexes
-- and the new foreign keys again. Foreign keys on the old columns are validated later.
CREATE FUNCTION rekey.move_keys(back boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    k rekey.active_columns := (SELECT a FROM rekey.active_columns a WHERE is_key);
BEGIN
    PERFORM rekey.check_catalog() WHERE NOT back;
    PERFORM rekey.run_all(
        CASE WHEN checked THEN format('ALTER TABLE %s ALTER %I SET NOT NULL', table_name, CASE WHEN back THEN old_name ELSE new_name END) END,
        CASE WHEN checked THEN format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, new_check) END,
        CASE WHEN NOT is_key THEN format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, CASE WHEN back THEN new_fkey ELSE fkey END) END)
    FROM (SELECT *, is_required AND (active.same_value OR NOT back) AS checked FROM rekey.active_columns ORDER BY n) AS c;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I PRIMARY KEY USING INDEX %I', table_name, name,
        CASE WHEN back THEN old_copy ELSE copy END)) FROM rekey.active_copies WHERE kind = 'p';
    PERFORM rekey.run_all(
        CASE WHEN is_required AND (active.same_value OR back) THEN format('ALTER TABLE %s ALTER %I DROP NOT NULL', table_name,
            CASE WHEN back THEN new_name ELSE old_name END) END,
        CASE WHEN NOT is_key AND NOT back THEN format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %s (%I)%s NOT VALID',
            table_name, fkey, old_name, k.table_name, k.old_name, actions) END)
    FROM (SELECT * FROM rekey.active_columns ORDER BY n) AS c;
    IF active.same_value THEN
        -- beyond the old type, the old columns are NULL
        PERFORM rekey.run_all(CASE WHEN back THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', table_name, old_copy, name)
            ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, name) END) FROM rekey.active_copies WHERE kind = 'c';
        PERFORM rekey.run_all(format('ALTER SEQUENCE %s AS %s', rekey.table_name(active.key_sequence),
            CASE WHEN back THEN format_type(k.old_type, NULL) ELSE active.new_type END)) WHERE active.key_sequence IS NOT NULL;
    END IF;
    IF back THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, copy)) FROM rekey.active_copies WHERE kind = 'c';
        UPDATE rekey.steps SET done_at = NULL, next_page = 0
        WHERE run = active.run AND phase = 'run' AND statement NOT LIKE 'SELECT rekey.add_columns(%';
    END IF;
    UPDATE rekey.runs SET state = CASE WHEN back THEN 'running' ELSE 'switched' END, verified_at = CASE WHEN NOT back THEN verified_at END
    WHERE run = active.run;
    PERFORM rekey.write_trigger(active.parent) WHERE back;
END $$;

-- Exchange the names of new and old columns.
CREATE FUNCTION rekey.exchange_names() RETURNS void LANGUAGE sql AS $$
    SELECT rekey.run_all(format('ALTER TABLE %s RENAME %I TO "~rekey"', table_name, old_name),
        format('ALTER TABLE %s RENAME %I TO %I', table_name, new_name, old_name),
        format('ALTER TABLE %s RENAME "~rekey" TO %I', table_name, new_name)) FROM rekey.active_columns
$$;

-- Exchange the names. Triggers "UPDATE OF column" would follow the column: they are made
-- again, by their definitions before, for what has the name now.
CREATE FUNCTION rekey.exchange_with_triggers() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    triggers text[] := ARRAY(
        SELECT format('DROP TRIGGER %1$I ON %2$s; %3$s; ALTER TABLE %2$s %4$s TRIGGER %1$I; COMMENT ON TRIGGER %1$I ON %2$s IS %5$L',
            tgname, table_name, definition, CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS'
                WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE' END, obj_description(oid, 'pg_trigger'))
        FROM rekey.active_triggers
        WHERE EXISTS (SELECT FROM rekey.active_columns JOIN rekey.active_run USING (run)
            WHERE tbl = tgrelid AND CASE state WHEN 'renamed' THEN new_attnum ELSE attnum END = ANY (tgattr)));
BEGIN
    PERFORM rekey.exchange_names(), rekey.run_all(VARIADIC triggers);
END $$;

-- rename, or rename back. Trigger functions forget their plans, which have the types of the
-- other columns, if their catalog rows change.
CREATE FUNCTION rekey.rename() RETURNS void LANGUAGE sql AS $$
    SELECT rekey.exchange_with_triggers();
    UPDATE rekey.runs SET state = CASE state WHEN 'renamed' THEN 'switched' ELSE 'renamed' END WHERE state IN ('switched', 'renamed');
    SELECT rekey.write_trigger(tbl) FROM (SELECT DISTINCT tbl FROM rekey.active_columns) AS t;
    SELECT rekey.run_all(format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, p.procost))
    FROM pg_proc p JOIN pg_language l ON l.oid = prolang AND lanname NOT IN ('internal', 'c')
    WHERE p.oid IN (SELECT tgfoid FROM rekey.active_triggers WHERE NOT is_own) AND pg_has_role(proowner, 'USAGE')
$$;

-- finish removes the old columns, abandon the new ones. The other key column has the default or identity then.
CREATE FUNCTION rekey.end_run(is_finish boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    k rekey.active_columns := (SELECT a FROM rekey.active_columns a WHERE is_key);
    kept name := CASE WHEN is_finish THEN k.new_name ELSE k.old_name END;
BEGIN
    PERFORM rekey.check_catalog() WHERE is_finish;
    PERFORM rekey.run_all(format('DROP TRIGGER %I ON %s', tgname, table_name)) FROM rekey.active_triggers WHERE is_own;
    PERFORM rekey.run_all(format('DROP FUNCTION %s', oid::regprocedure))
    FROM pg_proc WHERE pronamespace = 'rekey'::regnamespace AND prorettype = 'trigger'::regtype;
    IF is_finish AND active.state = 'switched' THEN
        -- the triggers "UPDATE OF column" are made while the new columns have the old names
        PERFORM rekey.exchange_with_triggers(), rekey.exchange_names();
    END IF;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', table_name, CASE WHEN is_finish THEN fkey ELSE new_fkey END))
    FROM rekey.active_columns WHERE NOT is_key;
    IF k.new_attnum IS NULL THEN
        NULL;    -- abandoned before the first step
    ELSIF NOT active.same_value THEN
        PERFORM rekey.run_all(CASE WHEN NOT is_finish AND active.old_default IS NOT NULL THEN
            format('ALTER TABLE %s ALTER %I DROP DEFAULT', k.table_name, kept) END);
    ELSIF active.key_sequence IS NOT NULL THEN
        EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', rekey.table_name(active.key_sequence), k.table_name, kept);
        IF active.old_identity <> '' THEN
            PERFORM rekey.change_identity(k.tbl, kept, active.key_sequence, active.old_identity);
        ELSIF active.numbers THEN
            EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT nextval(%L)', k.table_name, kept, rekey.table_name(active.key_sequence));
        END IF;
    END IF;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP COLUMN %I', table_name, CASE WHEN is_finish THEN old_name ELSE new_name END))
    FROM rekey.active_columns WHERE new_attnum IS NOT NULL;
    IF is_finish THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', table_name, was, name)) FROM (
            SELECT table_name, new_fkey, fkey FROM rekey.active_columns WHERE NOT is_key
            UNION ALL SELECT table_name, copy, name FROM rekey.active_copies WHERE kind = 'c') AS c(table_name, was, name);
        PERFORM rekey.run_all(format('ALTER INDEX %s.%I RENAME TO %I', relnamespace::regnamespace, copy, name),
            CASE kind WHEN 'u' THEN format('ALTER TABLE %s ADD CONSTRAINT %I UNIQUE USING INDEX %2$I', table_name, name)
                ELSE format('COMMENT ON INDEX %s.%I IS %L', relnamespace::regnamespace, name, description) END)
        FROM rekey.active_copies JOIN pg_class t ON t.oid = tbl WHERE kind IN ('u', 'i');
    ELSE
        PERFORM rekey.run_all(format('DROP INDEX %s', indexrelid::regclass)) FROM rekey.active_steps WHERE indexrelid IS NOT NULL;
    END IF;
    -- constraints that were made again, now or on the way back
    PERFORM rekey.run_all(format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, table_name, description)) FROM (
        SELECT tbl, table_name, fkey, description FROM rekey.active_columns
        UNION ALL SELECT tbl, table_name, name, description FROM rekey.active_copies WHERE kind <> 'i') AS c(tbl, table_name, name, description)
    JOIN pg_constraint ON conrelid = tbl AND conname = name WHERE description <> '';
    UPDATE rekey.runs SET state = CASE WHEN is_finish THEN 'finished' ELSE 'abandoned' END, pid = NULL WHERE run = active.run;
END $$;

-- What the driver calls

-- Begin a command: the session's lock, and the steps of the command.
-- (psql reads the word "begin" after CREATE FUNCTION as the start of a body, also in dumps.)
CREATE FUNCTION rekey.begin_command(command text, accept_errors boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run;
    is_pending boolean;
    goes_back boolean;
    k rekey.active_columns;
    is_beyond boolean;
    problem text;
BEGIN
    FOR attempt IN 0 .. 50 LOOP    -- the backend of the command before may be about to exit
        EXIT WHEN pg_try_advisory_lock(hashtext('rekey'));
        IF attempt = 50 THEN
            RAISE 'the run is worked on by process %', (SELECT pid FROM rekey.active_run) USING ERRCODE = 'object_in_use';
        END IF;
        PERFORM pg_sleep(0.1);
    END LOOP;
    SELECT * INTO active FROM rekey.active_run;
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    is_pending := command = 'switch' AND active.state = 'switched';    -- foreign keys are not yet valid again
    goes_back := command = 'back' AND active.state = 'switched';
    IF active.home IS DISTINCT FROM 'rekey.runs'::regclass THEN
        RAISE '%', CASE WHEN active.run IS NULL THEN 'no run is active' ELSE format('run %s is of another database, of which this one is a copy',
            active.run) END USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = CASE WHEN active.run IS NULL THEN 'Plan one.' ELSE 'DROP SCHEMA rekey CASCADE removes its triggers.' END;
    END IF;
    BEGIN
        PERFORM set_config('client_connection_check_interval', '5s', false);
    EXCEPTION WHEN invalid_parameter_value OR feature_not_supported THEN
        NULL;    -- not on this system
    END;
    PERFORM set_config('transaction_timeout', '0', false) FROM pg_settings WHERE name = 'transaction_timeout';    -- from 17 on
    UPDATE rekey.runs SET pid = pg_backend_pid() WHERE run = active.run;
    IF goes_back AND active.same_value THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE %I IS NULL)', k.table_name, k.old_name) INTO is_beyond;
        problem := CASE WHEN is_beyond THEN 'there are keys beyond the old type: finish the run, or delete their rows'
            WHEN pg_sequence_last_value(active.key_sequence) NOT BETWEEN -k.old_max - 1 AND k.old_max THEN
                'the last value of the sequence is beyond the old type, no key is: set it by setval()' END;
    END IF;
    problem := coalesce(problem, CASE
        WHEN active.state <> ALL (CASE command WHEN 'run' THEN '{planned,running}' WHEN 'switch' THEN '{ready,switched}'
                WHEN 'back' THEN '{switched,renamed}' WHEN 'rename' THEN '{switched}' WHEN 'finish' THEN '{switched,renamed}'
                WHEN 'abandon' THEN '{planned,running,ready}'
                WHEN 'verify' THEN '{ready,switched,renamed}' ELSE '{}' END::text[]) THEN
            format('%s is not possible: run %s is %s', command, active.run, active.state)
        WHEN command = 'switch' AND active.verified_at IS NULL THEN format('run %s is not verified', active.run)
        WHEN command = 'rename' AND NOT active.same_value AND NOT accept_errors THEN
            'after rename, statements of the old application fail: --accept-errors when only the new one is running' END);
    IF problem <> '' THEN
        RAISE '%', problem USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;

    IF command NOT IN ('abandon', 'back', 'verify') AND NOT is_pending THEN
        PERFORM rekey.check_catalog();
    END IF;
    IF command = 'run' THEN
        UPDATE rekey.runs SET state = 'running' WHERE run = active.run;
    ELSIF command <> 'verify' AND NOT is_pending THEN
        DELETE FROM rekey.steps WHERE run = active.run AND phase <> 'run';
        INSERT INTO rekey.steps (run, n, phase, kind, what, tables, statement)
        WITH required AS (    -- what back requires of the old columns, which may be NULL until then
            SELECT tbl, table_name, new_check AS name, format('CHECK (%I IS NOT NULL)', old_name) AS definition
            FROM rekey.active_columns WHERE is_required AND goes_back AND active.same_value
            UNION ALL SELECT tbl, table_name, old_copy, old_definition FROM rekey.active_copies
            WHERE kind = 'c' AND goes_back AND active.same_value)
        SELECT active.run, (SELECT count(*) FROM rekey.steps WHERE run = active.run) + row_number() OVER (ORDER BY part),
            command, kind, what, tables, statement
        FROM (
            SELECT 1, 'lock', 'check the old columns', ARRAY[tbl],
                format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %2$I %s NOT VALID', table_name, name, definition) FROM required
            UNION ALL SELECT 2, 'plain', 'validate ' || name, ARRAY[tbl],
                format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, name) FROM required
            UNION ALL SELECT CASE WHEN goes_back THEN 5 ELSE 3 END, 'lock', command, coalesce(array_agg(tbl ORDER BY n), '{}'),
                CASE WHEN command IN ('finish', 'abandon') THEN format('SELECT rekey.end_run(%L)', command = 'finish')
                     WHEN command = 'rename' OR active.state = 'renamed' THEN 'SELECT rekey.rename()'
                     ELSE format('SELECT rekey.move_keys(%L)', command = 'back') END
            FROM (SELECT tbl, min(n) AS n FROM rekey.active_columns GROUP BY tbl) AS t
            UNION ALL SELECT 4, 'plain', 'validate the foreign key on ' || old_name, ARRAY[tbl],
                format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, fkey)
            FROM rekey.active_columns WHERE fkey IS NOT NULL AND (goes_back OR command = 'switch')
        ) AS s(part, kind, what, tables, statement);
    END IF;
    RETURN command;
END $$;

-- The statements of a command's steps that are not done, for \gexec. Before an invalid index, whose build has failed,
-- is built again, rows with equal new keys are named.
CREATE FUNCTION rekey.script(command text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT 'CALL rekey.verify()' WHERE command IN ('verify', 'finish')
    UNION ALL (SELECT s FROM rekey.active_steps, LATERAL unnest(CASE
        WHEN kind = 'lock' THEN ARRAY[format('CALL rekey.under_lock(%s)', n)]
        WHEN kind = 'fill' THEN ARRAY[format('CALL rekey.fill(%s)', n)]
        WHEN NOT indisvalid THEN ARRAY[(SELECT format('SELECT format(''the new key is not unique: %%s, rows with "%%s" = %%s'', '
            'min(%1$I::text), %2$L, string_agg(%2$I::text, '', '')) FROM ONLY %3$s GROUP BY %1$I HAVING count(*) > 1 LIMIT 1',
            new_name, old_name, table_name) FROM rekey.active_columns WHERE is_key), format('DROP INDEX CONCURRENTLY %s', indexrelid::regclass)]
        END || CASE WHEN kind IN ('index', 'plain') THEN ARRAY[statement, format('CALL rekey.done(%s)', n)] END) WITH ORDINALITY AS u(s, i)
    WHERE phase = command AND done_at IS NULL ORDER BY n, i)
$$;

-- Who is in the way of a lock, as far as the role may see it
CREATE FUNCTION rekey.holders(tables oid[]) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(DISTINCT format('process %s (%s, %s, transaction of %s): %s', pid, coalesce(usename, backend_type),
        coalesce(state, 'state hidden'), coalesce(date_trunc('ms', clock_timestamp() - xact_start)::text, 'unknown age'),
        left(query, 100)), '; '), 'none now')
    FROM pg_locks l JOIN pg_stat_activity USING (pid) JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
    WHERE relation = ANY (tables) AND granted AND pid <> pg_backend_pid() AND locktype = 'relation'
$$;

-- A step's statement under ACCESS EXCLUSIVE locks. An attempt waits at most 50 ms in all
-- and is repeated; after 5 s, the holders are named, after patience an error is raised.
CREATE PROCEDURE rekey.under_lock(step int, patience interval DEFAULT '10 minutes') LANGUAGE plpgsql AS $$
DECLARE
    s rekey.active_steps := (SELECT a FROM rekey.active_steps a WHERE n = step);
    t oid;
    started timestamptz := clock_timestamp();
    told timestamptz := started;
    attempt timestamptz;
    is_done boolean := false;
BEGIN
    LOOP
        attempt := clock_timestamp();
        BEGIN
            FOREACH t IN ARRAY s.tables LOOP
                PERFORM set_config('lock_timeout', greatest(1, 50 - 1000 * extract(epoch FROM clock_timestamp() - attempt))::int || 'ms', true);
                EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', rekey.table_name(t));
            END LOOP;
            PERFORM set_config('lock_timeout', '50ms', true);
            EXECUTE s.statement;
            UPDATE rekey.steps SET done_at = clock_timestamp() WHERE run = s.run AND n = step;
            is_done := true;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            NULL;
        END;
        COMMIT;
        IF is_done THEN
            RAISE NOTICE 'step %: %: % ms', step, s.what, round(1000 * extract(epoch FROM clock_timestamp() - attempt));
            RETURN;
        ELSIF clock_timestamp() > started + patience THEN
            RAISE 'step %: no lock on % within %', step, (SELECT string_agg(rekey.table_name(u), ', ') FROM unnest(s.tables) u), patience
            USING ERRCODE = 'lock_not_available', DETAIL = 'Held by ' || rekey.holders(s.tables) || '.', HINT = 'The command can be repeated.';
        ELSIF clock_timestamp() > told + interval '5 s' THEN
            told := clock_timestamp();
            RAISE NOTICE 'step %: waiting for %: %', step, s.what, rekey.holders(s.tables);
        END IF;
        PERFORM pg_sleep(0.05 + 0.15 * random());
    END LOOP;
END $$;

-- Set the new columns of a table, 50 pages in a transaction, each time from the first row without them on. The
-- trigger computes them, so that each row version written since it exists has them. If all such rows of the pages
-- are locked, it tries again; a row that stays NULL is an error.
CREATE PROCEDURE rekey.fill(step int) LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    s rekey.active_steps := (SELECT a FROM rekey.active_steps a WHERE n = step);
    c rekey.active_columns := (SELECT a FROM rekey.active_columns a WHERE tbl = s.tables[1] AND is_key = s.what LIKE 'fill keys%' ORDER BY n LIMIT 1);
    touch text := format('WITH found AS (SELECT ctid, %4$I AS old_value FROM ONLY %1$s '
        'WHERE ctid >= $1 AND ctid < $2 AND (%3$s) FOR NO KEY UPDATE SKIP LOCKED), '
        'touched AS (UPDATE ONLY %1$s SET %2$I = %2$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM found)) '
        'RETURNING ctid, %3$s AS is_left, %4$I AS old_value) '
        'SELECT pg_catalog.count(*) AS rows, (pg_catalog.array_agg(pg_catalog.format(''%%s, ctid %%s'', old_value, ctid)) '
        'FILTER (WHERE is_left))[1] AS bad, (SELECT pg_catalog.count(*) FROM found) AS found, '
        '(SELECT pg_catalog.min(old_value::text) FROM found) AS example FROM touched',
        c.table_name, c.new_name, s.statement, c.old_name);
    first tid;
    page bigint := s.next_page;
    done record;
    -- successive attempts whose rows were all locked, and those that found rows and updated none
    locked int := 0;
    suppressed int := 0;
    told timestamptz;
    own_path text := (SELECT concat_ws(', ', 'pg_catalog', nullif(reset_val, '')) FROM pg_settings WHERE name = 'search_path');
BEGIN
    LOOP
        IF locked = 0 THEN
            told := clock_timestamp();
        ELSIF clock_timestamp() > told + interval '5 s' THEN
            told := clock_timestamp();
            RAISE NOTICE 'step %: waiting for a lock, row %: %', step, first, rekey.holders(s.tables);
        END IF;
        PERFORM pg_sleep(CASE WHEN locked > 0 THEN 0.1 ELSE 0.001 * coalesce((active.options ->> 'pause')::float8, 0) END);
        BEGIN
            PERFORM set_config('lock_timeout', '50ms', true);
            EXECUTE format('LOCK TABLE ONLY %s IN ROW EXCLUSIVE MODE', c.table_name);    -- no trigger is created until the commit
            PERFORM set_config('lock_timeout', '1s', true);
            EXECUTE format('SELECT ctid FROM ONLY %s WHERE (%s) AND ctid >= $1 LIMIT 1', c.table_name, s.statement)
            INTO first USING format('(%s,0)', page)::tid;
            -- one that others lock all the time is waited for
            EXECUTE format('SELECT FROM ONLY %s WHERE ctid = $1 AND $2 FOR NO KEY UPDATE', c.table_name) USING first, locked > 5;
            PERFORM set_config('lock_timeout', '0', true);
        EXCEPTION WHEN lock_not_available THEN
            locked := locked + 1;
            CONTINUE;
        END;
        IF first IS NULL THEN
            EXIT WHEN page = 0;
            page := 0;
            CONTINUE;
        END IF;
        page := (first::text::point)[0];
        IF EXISTS (SELECT FROM rekey.active_triggers WHERE tgrelid = c.tbl AND NOT is_own
                AND format('%s: %s', tgenabled, definition) <> ALL (active.fingerprint)) THEN
            PERFORM rekey.check_catalog();
        END IF;
        -- what fires, here and at the commit, finds the names that it finds in the role's other sessions
        PERFORM set_config('search_path', own_path, true);
        EXECUTE touch INTO done USING first, format('(%s,0)', least(page + 50, 4294967295))::tid;
        PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
        locked := CASE WHEN done.found = 0 THEN locked + 1 ELSE 0 END;
        suppressed := CASE WHEN done.found > 0 AND done.rows = 0 THEN suppressed + 1 ELSE 0 END;
        IF suppressed = 20 THEN
            RAISE 'a trigger prevents the update of "%" = %', c.old_name, coalesce(done.example, 'NULL') || ', ctid ' || first
            USING TABLE = c.table_name, ERRCODE = 'triggered_action_exception';
        ELSIF done.bad IS NOT NULL THEN
            RAISE '%: "%" = %', CASE WHEN c.is_key THEN 'the value of the new key is null' ELSE 'no row of the parent' END, c.old_name, done.bad
            USING TABLE = c.table_name, ERRCODE = CASE WHEN c.is_key THEN 'not_null_violation' ELSE 'foreign_key_violation' END;
        END IF;
        UPDATE rekey.steps SET next_page = page, filled = filled + done.rows WHERE run = active.run AND n = step;
        PERFORM set_config('search_path', own_path, true);
        COMMIT;
    END LOOP;
    CALL rekey.done(step);
END $$;

CREATE PROCEDURE rekey.done(step int) LANGUAGE plpgsql AS $$
DECLARE
    s rekey.active_steps := (SELECT a FROM rekey.active_steps a WHERE n = step);
BEGIN
    IF s.kind = 'index' AND s.indisvalid IS NOT TRUE THEN
        RAISE 'step %: index % is not valid', step, s.index_name USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run the command again.';
    END IF;
    UPDATE rekey.steps SET done_at = clock_timestamp() WHERE run = s.run AND n = step;
    RAISE NOTICE 'step %: %', step, s.what || CASE WHEN s.kind = 'fill' THEN format(': %s rows', s.filled) ELSE '' END;
END $$;

-- Compare each reference with the map of old to new keys.
CREATE PROCEDURE rekey.verify() LANGUAGE plpgsql AS $$
DECLARE
    active rekey.active_run := (SELECT a FROM rekey.active_run a);
    x record;
    rows bigint;
    wrong bigint;
    all_wrong bigint := 0;
BEGIN
    FOR x IN SELECT c.*, k.table_name AS parent, k.old_name AS old_key, k.new_name AS new_key
             FROM rekey.active_columns c, rekey.active_columns k WHERE k.is_key ORDER BY c.n LOOP
        EXECUTE format(CASE
            WHEN active.same_value THEN 'SELECT count(*), count(*) FILTER (WHERE %2$I IS DISTINCT FROM %1$I '
                'AND (%1$I IS NOT NULL OR %2$I BETWEEN -%7$s - 1 AND %7$s) OR %2$I IS NULL AND %8$L) FROM ONLY %3$s'
            WHEN x.is_key THEN 'SELECT count(*), count(*) FILTER (WHERE %2$I IS NULL) FROM ONLY %3$s'
            ELSE 'SELECT count(*), count(*) FILTER (WHERE c.%2$I IS DISTINCT FROM p.%5$I) '
                'FROM ONLY %3$s c LEFT JOIN ONLY %6$s p ON p.%4$I = c.%1$I' END,
            x.old_name, x.new_name, x.table_name, x.old_key, x.new_key, x.parent, x.old_max, x.is_key) INTO rows, wrong;
        all_wrong := all_wrong + wrong;
        RAISE NOTICE '%.%: % rows, % wrong', x.table_name, x.new_name, rows, wrong;
    END LOOP;
    UPDATE rekey.runs SET verified_at = CASE WHEN all_wrong = 0 THEN clock_timestamp() END WHERE run = active.run;
    COMMIT;
    IF all_wrong > 0 THEN
        RAISE 'old and new keys differ' USING ERRCODE = 'data_corrupted', HINT = 'Compare them, or abandon the run.';
    END IF;
END $$;

CREATE FUNCTION rekey.status() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT format('run %s of %s: %s%s', run, coalesce(rekey.table_name(parent), 'a dropped table'), state,
        CASE WHEN verified_at IS NOT NULL AND state = 'ready' THEN ', verified' END) FROM (SELECT * FROM rekey.runs ORDER BY run DESC LIMIT 1) AS last
    UNION ALL SELECT format('working: process %s, %s, waiting for %s', a.pid, a.query,
        coalesce(nullif(pg_blocking_pids(a.pid)::text, '{}'), 'nothing'))
    FROM rekey.active_run r JOIN pg_stat_activity a ON a.pid = r.pid AND a.application_name = 'rekey' AND a.pid <> pg_backend_pid()
    UNION ALL (SELECT format('step %s of %s: %s%s', n, (SELECT count(*) FROM rekey.active_steps), what,
        CASE kind WHEN 'fill' THEN format(', %s of about %s rows', filled, rows) END)
    FROM rekey.active_steps WHERE done_at IS NULL ORDER BY n LIMIT 1)
$$;

-- What the plan does not check: functions that name a carried column in their text, and slots
CREATE FUNCTION rekey.warnings() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT DISTINCT format('function %s names %I and %s in its text', p.oid::regprocedure, old_name, table_name)
    FROM rekey.active_columns JOIN pg_class t ON t.oid = tbl, pg_proc p JOIN pg_language l ON l.oid = prolang AND lanname IN ('plpgsql', 'sql')
    WHERE prosqlbody IS NULL AND prosrc ~ ('\m' || old_name || '\M') AND prosrc ~ ('\m' || relname || '\M')
    AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'rekey'::regnamespace)
    UNION ALL SELECT format('trigger %s on %s fires for updates of the old column only, until rename or finish', tgname, g.table_name)
    FROM rekey.active_triggers g JOIN rekey.active_columns ON tgrelid = tbl AND attnum = ANY (tgattr)
    UNION ALL SELECT format('trigger %s on %s, for a row that refers to a later one of its statement, fires with search_path pg_catalog: '
        'ALTER FUNCTION %s SET search_path', tgname, table_name, p.oid::regprocedure)
    FROM rekey.active_triggers JOIN pg_proc p ON p.oid = tgfoid JOIN pg_language l ON l.oid = prolang AND lanname NOT IN ('c', 'internal')
    WHERE tgrelid IN (SELECT tbl FROM rekey.active_columns WHERE is_self) AND array_to_string(proconfig, ' ') ~ '\msearch_path=' IS NOT TRUE
    UNION ALL SELECT format('logical replication slot %s: all written WAL is decoded', slot_name) FROM pg_replication_slots
    WHERE slot_type = 'logical' AND database = current_database()
$$;

-- The procedures commit, which no function with settings can; rekey.sh sets the session's path for them.
SELECT format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', oid::regprocedure)
FROM pg_proc WHERE pronamespace = 'rekey'::regnamespace AND prokind = 'f' \gexec
-- What default privileges gave to others, who could write the statements that the owner executes
SELECT format('REVOKE ALL ON SCHEMA rekey FROM %1$s; REVOKE ALL ON ALL TABLES IN SCHEMA rekey FROM %1$s',
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
FROM pg_default_acl, aclexplode(defaclacl) WHERE defaclrole = current_user::regrole AND grantee <> defaclrole \gexec
COMMIT;
