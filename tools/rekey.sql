-- rekey.sql: change the primary key of a table, and all references to it, while the
-- tables are in use. docs/rekey.md is the manual; rekey.sh calls these functions.
--
-- The new columns stand beside the old ones, and triggers keep them equal. One run is
-- active at a time: planned -> running -> ready -> switched [-> renamed] -> finished,
-- or abandoned before the switch. Each command makes the steps of its phase:
--
--   lock      catalog changes, in one short transaction under ACCESS EXCLUSIVE locks
--             for which no session waits longer than 50 ms
--   fill      sets the new columns, some pages in a transaction
--   index     CREATE INDEX CONCURRENTLY; an invalid index is dropped and built again
--   plain     VALIDATE CONSTRAINT and VACUUM
--
-- A step that was interrupted is repeated. Objects of run 7 are named rekey_7_N, its
-- triggers "~rekey", which sorts last, so that they see what other triggers set.

\set ON_ERROR_STOP on
BEGIN;
CREATE SCHEMA rekey;
COMMENT ON SCHEMA rekey IS 'Changes the keys of tables in use';

CREATE TABLE rekey.runs (
    run int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'running', 'ready', 'switched', 'renamed', 'finished', 'abandoned')),
    parent oid NOT NULL,
    new_type text NOT NULL,
    suffix text NOT NULL,
    new_value text,             -- NULL: the same number in a wider type
    new_default text,
    old_default text,           -- of the old key, where this run has set or removed it
    old_identity "char" NOT NULL,
    key_sequence oid,
    options jsonb NOT NULL,
    fingerprint text[],
    pid int,
    planned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ready_at timestamptz,
    verified_at timestamptz,
    switched_at timestamptz,
    renamed_at timestamptz,
    ended_at timestamptz
);
CREATE UNIQUE INDEX one_active_run ON rekey.runs ((true)) WHERE state NOT IN ('finished', 'abandoned');

-- The key (n = 0) and the columns that refer to it
CREATE TABLE rekey.columns (
    run int NOT NULL REFERENCES rekey.runs,
    n int NOT NULL,
    tbl oid NOT NULL,
    attnum int2 NOT NULL,
    new_attnum int2,            -- once it was added
    is_required boolean NOT NULL,
    fkey name,
    actions text,
    PRIMARY KEY (run, n)
);

-- Indexes with such a column, which are copied
CREATE TABLE rekey.indexes (
    run int NOT NULL REFERENCES rekey.runs,
    n int NOT NULL,
    tbl oid NOT NULL,
    index_name name NOT NULL,
    contype "char",
    is_unique boolean NOT NULL,
    bytes bigint NOT NULL,
    new_definition text NOT NULL,
    old_definition text NOT NULL,
    PRIMARY KEY (run, n)
);

-- CHECK constraints with such a column, which are copied
CREATE TABLE rekey.checks (
    run int NOT NULL REFERENCES rekey.runs,
    n int NOT NULL,
    tbl oid NOT NULL,
    check_name name NOT NULL,
    new_expression text NOT NULL,
    PRIMARY KEY (run, n)
);

CREATE TABLE rekey.steps (
    run int NOT NULL REFERENCES rekey.runs,
    n int NOT NULL,
    phase text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('lock', 'fill', 'index', 'plain')),
    what text NOT NULL,
    tables oid[] NOT NULL,
    statement text NOT NULL,    -- fill: the condition of the rows to set
    index_name name,
    rows bigint,                -- estimates
    bytes bigint,
    wal bigint,
    next_page bigint NOT NULL DEFAULT 0,
    filled bigint NOT NULL DEFAULT 0,
    done_at timestamptz,
    PRIMARY KEY (run, n)
);

CREATE FUNCTION rekey.table_name(tbl oid) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%I.%I', relnamespace::regnamespace::text, relname) FROM pg_class WHERE oid = tbl
$$;

CREATE VIEW rekey.active_run AS SELECT * FROM rekey.runs WHERE state NOT IN ('finished', 'abandoned');

-- The columns of the active run with their names now
CREATE VIEW rekey.active_columns AS
SELECT c.*, c.n = 0 AS is_key, c.tbl = r.parent AND c.n > 0 AS is_self, rekey.table_name(c.tbl) AS table_name,
       o.attname AS old_name, coalesce(w.attname, o.attname || r.suffix) AS new_name, o.atttypid AS old_type,
       format('rekey_%s_%s_fkey', c.run, c.n) AS new_fkey, format('rekey_%s_%s_set', c.run, c.n) AS new_check
FROM rekey.columns c JOIN rekey.active_run r USING (run)
JOIN pg_catalog.pg_attribute o ON o.attrelid = c.tbl AND o.attnum = c.attnum
LEFT JOIN pg_catalog.pg_attribute w ON w.attrelid = c.tbl AND w.attnum = c.new_attnum;

CREATE FUNCTION rekey.active() RETURNS rekey.runs LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs;
BEGIN
    SELECT * INTO active FROM rekey.active_run;
    IF NOT FOUND THEN
        RAISE 'no run is active' USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Plan one first.';
    END IF;
    RETURN active;
END $$;

-- Does a condition (a node tree) mean the same for the new columns? With the same numbers it
-- does; else if it only compares carried columns with each other by = and <>, and with NULL.
CREATE FUNCTION rekey.is_carried(node text, carried int2[], same_value boolean) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT same_value OR NOT EXISTS (SELECT FROM regexp_matches(node, '\{([A-Z_]+)', 'g') m WHERE m[1] NOT IN ('OPEXPR',
        'NULLTEST', 'BOOLEXPR', 'VAR'))
        AND NOT EXISTS (SELECT FROM regexp_matches(node, ':opno (\d+)', 'g') m JOIN pg_operator o ON o.oid = m[1]::oid
            WHERE oprname NOT IN ('=', '<>'))
        AND (node !~ ':opno' OR NOT EXISTS (SELECT FROM regexp_matches(node, ':varattno (-?\d+)', 'g') m WHERE m[1]::int2 <> ALL (carried)))
$$;

-- What plan() does not carry, each with the object's name. The same query runs before
-- each command and, in the switch, under its locks.
CREATE FUNCTION rekey.obstacles() RETURNS TABLE (obstacle text, object text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
WITH run AS MATERIALIZED (
    SELECT *, state IN ('planned', 'running', 'ready') AS is_before, options ? 'fire_triggers' AS fires,
           options ? 'replica_role' AS is_replica, format('rekey\_%s\_%%', run) AS own FROM rekey.active_run
), col AS MATERIALIZED (SELECT *, array_agg(attnum) OVER (PARTITION BY tbl) AS attnums FROM rekey.active_columns
), tab AS MATERIALIZED (
    SELECT c.*, rekey.table_name(c.oid) AS name FROM pg_class c WHERE oid IN (SELECT tbl FROM col)
), fk AS MATERIALIZED (
    SELECT k.*, rekey.table_name(conrelid) || ': ' || conname AS name, to_jsonb(k) AS fields
    FROM pg_constraint k, run WHERE confrelid = parent AND contype = 'f' AND conname NOT LIKE own
), ind AS MATERIALIZED (
    SELECT i.*, x.relname, x.oid::regclass::text AS name, col.attnum, attnums FROM pg_index i JOIN pg_class x ON x.oid = indexrelid, col, run
    WHERE indrelid = tbl AND x.relname NOT LIKE own AND (col.attnum = ANY (indkey)
        OR concat(indpred::text, indexprs::text) ~ format(':varattno (0|%s) ', col.attnum))
)
SELECT 'not an ordinary table', name FROM tab WHERE relkind <> 'r' OR relispartition
UNION ALL SELECT 'temporary table', name FROM tab WHERE relpersistence = 't'
UNION ALL SELECT 'inheritance', name FROM tab WHERE EXISTS (SELECT FROM pg_inherits WHERE tab.oid IN (inhrelid, inhparent))
UNION ALL SELECT 'table of an extension', name FROM tab
    WHERE EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = tab.oid AND deptype = 'e')
UNION ALL SELECT 'not an owner of the table', name FROM tab WHERE NOT pg_has_role(relowner, 'USAGE')
UNION ALL SELECT 'no right to create in the schema of', name FROM tab WHERE NOT has_schema_privilege(relnamespace, 'CREATE')
UNION ALL SELECT 'row-level security is forced', name FROM tab WHERE relforcerowsecurity
UNION ALL SELECT 'replica identity by an index', name FROM tab WHERE relreplident = 'i'
UNION ALL SELECT 'rule', name || ': ' || rulename FROM tab JOIN pg_rewrite ON ev_class = tab.oid
UNION ALL SELECT 'subscription', name FROM tab WHERE EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = tab.oid)
UNION ALL SELECT 'publication (add the columns on the subscriber, then --publications-ok)', name || ': ' || pubname
    FROM tab, pg_publication_tables p, run
    WHERE NOT options ? 'publications_ok' AND (schemaname, tablename) = (relnamespace::regnamespace::text, relname)
UNION ALL SELECT 'trigger that fires after "~rekey"', name || ': ' || tgname FROM tab JOIN pg_trigger ON tgrelid = tab.oid
    WHERE tgname > '~rekey' AND tgname <> '~rekey_after' AND tgtype & 3 = 3 AND NOT tgisinternal
UNION ALL SELECT 'trigger that fires for each row (--fire-triggers, or --replica-role)', name || ': ' || tgname
    FROM tab JOIN pg_trigger ON tgrelid = tab.oid, run
    WHERE is_before AND NOT fires AND tgtype & 16 > 0 AND tgattr = '' AND NOT tgisinternal AND tgname NOT IN ('~rekey', '~rekey_after')
    AND tgenabled IN ('A', CASE WHEN is_replica THEN 'R' ELSE 'O' END)
UNION ALL SELECT 'no right to set session_replication_role', current_user FROM run
    WHERE is_replica AND NOT has_parameter_privilege('session_replication_role', 'SET')
-- keys
UNION ALL SELECT 'the key is itself a foreign key', table_name || ': ' || conname FROM col JOIN pg_constraint k
    ON conrelid = tbl AND contype = 'f' AND attnum = ANY (conkey) WHERE is_key
UNION ALL SELECT 'type of column', table_name || '.' || old_name FROM col
    WHERE old_type <> ALL ('{int2,int4,int8,uuid}'::regtype[]::oid[])
UNION ALL SELECT 'name in use, or too long', table_name || '.' || old_name || suffix FROM col, run
    WHERE new_attnum IS NULL AND (octet_length(old_name || suffix) > 63 OR EXISTS (SELECT FROM pg_attribute
        WHERE attrelid = tbl AND attname = left(old_name || suffix, 63) AND NOT attisdropped))
UNION ALL SELECT 'name in use', c.oid::regclass::text FROM pg_class c, run WHERE state = 'planned' AND relname LIKE own
UNION ALL SELECT 'key without a default (--old-default, for what the new application inserts)', table_name || '.' || old_name FROM col, run
    WHERE is_key AND new_value IS NOT NULL AND old_identity = '' AND old_default IS NULL
    AND NOT EXISTS (SELECT FROM pg_attrdef WHERE adrelid = tbl AND adnum = attnum)
UNION ALL SELECT 'default of the key is not nextval()', table_name || '.' || old_name FROM col, run
    WHERE is_key AND state = 'planned' AND new_value IS NULL AND key_sequence IS NULL
    AND EXISTS (SELECT FROM pg_attrdef WHERE adrelid = tbl AND adnum = attnum)
UNION ALL SELECT 'default of a referring column', table_name || '.' || old_name FROM col
    WHERE NOT is_key AND EXISTS (SELECT FROM pg_attrdef WHERE adrelid = tbl AND adnum = attnum)
UNION ALL SELECT 'identity of a referring column', table_name || '.' || old_name FROM col JOIN pg_attribute a
    ON attrelid = tbl AND a.attnum = col.attnum WHERE NOT is_key AND attidentity <> ''
UNION ALL SELECT 'not an owner of the sequence', c.oid::regclass::text FROM run JOIN pg_class c ON c.oid = key_sequence
    WHERE NOT pg_has_role(relowner, 'USAGE')
UNION ALL SELECT 'sequence with other users', pg_describe_object(d.classid, d.objid, d.objsubid)
    FROM run JOIN pg_depend d ON refclassid = 'pg_class'::regclass AND refobjid = key_sequence
    WHERE NOT EXISTS (SELECT FROM pg_attrdef a, col WHERE a.oid = d.objid AND adrelid = tbl AND is_key)
-- foreign keys
UNION ALL SELECT 'foreign key that is not valid (VALIDATE CONSTRAINT)', name FROM fk, run WHERE is_before AND NOT convalidated
UNION ALL SELECT 'deferrable foreign key', name FROM fk WHERE condeferrable
UNION ALL SELECT 'foreign key with SET DEFAULT, or with columns to set', name FROM fk
    WHERE 'd' IN (confdeltype, confupdtype) OR confdelsetcols IS NOT NULL
UNION ALL SELECT 'foreign key that is not enforced, or with PERIOD', name FROM fk
    WHERE fields ->> 'conenforced' = 'false' OR fields ->> 'conperiod' = 'true'
UNION ALL SELECT 'foreign key by another unique index', name FROM fk, run
    WHERE is_before AND conindid <> (SELECT conindid FROM pg_constraint WHERE conrelid = parent AND contype = 'p')
    AND (conrelid, conname) IN (SELECT tbl, fkey FROM col)
UNION ALL SELECT 'foreign key that is not in the plan', name FROM fk
    WHERE conkey[1] IS NOT NULL AND confkey && (SELECT array_agg(attnum) FROM col WHERE is_key)
    AND (conrelid, conname) NOT IN (SELECT tbl, fkey FROM col WHERE fkey IS NOT NULL)
-- indexes
UNION ALL SELECT 'invalid index', name FROM ind WHERE NOT indisvalid
UNION ALL SELECT 'index with an expression or a predicate of the column', name FROM ind, run
    WHERE indexprs::text ~ format(':varattno (0|%s) ', attnum)
    OR indpred::text ~ format(':varattno (0|%s) ', attnum) AND NOT rekey.is_carried(indpred::text, attnums, new_value IS NULL)
UNION ALL SELECT 'deferrable unique constraint', name FROM ind WHERE NOT indimmediate
UNION ALL SELECT 'exclusion constraint', name FROM ind WHERE indisexclusion
UNION ALL SELECT 'index with an operator class or parameters of its own', name FROM ind
    WHERE EXISTS (SELECT FROM generate_series(0, indnkeyatts - 1) k JOIN pg_opclass o ON o.oid = indclass[k]
                  WHERE indkey[k] = attnum AND NOT opcdefault)
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = indexrelid AND attoptions IS NOT NULL)
-- everything else that depends on a column, or on the rows' type
UNION ALL SELECT 'dependent object', pg_describe_object(classid, objid, objsubid) || ' (' || table_name || '.' || old_name || ')'
    FROM col JOIN pg_depend d ON refclassid = 'pg_class'::regclass AND refobjid = tbl AND refobjsubid = attnum, run
    WHERE NOT CASE classid
        WHEN 'pg_rewrite'::regclass THEN is_before AND options ? 'dependents_ok'
        WHEN 'pg_constraint'::regclass THEN EXISTS (SELECT FROM pg_constraint k WHERE k.oid = objid AND (contype IN ('p', 'u', 'n')
            OR contype = 'c' AND convalidated AND conrelid = tbl AND rekey.is_carried(conbin::text, attnums, new_value IS NULL)
            OR conname LIKE own OR contype = 'f' AND (conrelid, conname) IN (SELECT tbl, fkey FROM col)))
        WHEN 'pg_class'::regclass THEN EXISTS (SELECT FROM pg_class x WHERE x.oid = objid AND (relkind = 'i' OR relkind = 'S'))
        WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef a WHERE a.oid = objid AND adrelid = tbl AND adnum = attnum)
        WHEN 'pg_trigger'::regclass THEN EXISTS (SELECT FROM pg_trigger t WHERE t.oid = objid AND tgrelid = tbl AND attnum = ANY (tgattr)
            AND (tgqual IS NULL OR tgqual::text !~ format(':varattno (0|%s) ', attnum)))
        ELSE false END
UNION ALL SELECT 'dependent object', pg_describe_object(classid, objid, objsubid) || ' (' || name || ')'
    FROM tab JOIN pg_depend ON refclassid = 'pg_type'::regclass AND deptype = 'n'
        AND refobjid IN (SELECT reltype UNION SELECT typarray FROM pg_type WHERE pg_type.oid = reltype), run
    WHERE NOT (classid = 'pg_proc'::regclass AND options ? 'dependents_ok')
UNION ALL SELECT 'dependent object', pg_describe_object(classid, objid, objsubid) || ' (' || name || ')'
    FROM tab JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = tab.oid AND refobjsubid = 0
        AND classid = 'pg_rewrite'::regclass AND deptype = 'n', run
    WHERE NOT (is_before AND options ? 'dependents_ok')
$$;

-- What must not change between plan and switch, one line an object
CREATE FUNCTION rekey.catalog() RETURNS text[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
WITH run AS MATERIALIZED (SELECT *, format('rekey\_%s\_%%', run) AS own FROM rekey.active_run),
col AS MATERIALIZED (SELECT * FROM rekey.active_columns),
tab AS MATERIALIZED (SELECT * FROM pg_class WHERE oid IN (SELECT tbl FROM col))
SELECT array_agg(line ORDER BY line) FROM (
    SELECT format('column %s.%s %s %s', table_name, old_name, format_type(old_type, NULL), attnotnull) FROM col
    JOIN pg_attribute a ON attrelid = tbl AND a.attnum = col.attnum
    UNION SELECT format('table %s %s %s', oid::regclass, relowner::regrole, relrowsecurity) FROM tab
    UNION SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class x ON x.oid = indexrelid, col, run
    WHERE indrelid = tbl AND attnum = ANY (indkey) AND relname NOT LIKE own
    UNION SELECT format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(k.oid)) FROM pg_constraint k, col, run
    WHERE (conrelid = tbl AND attnum = ANY (conkey) OR confrelid = tbl AND attnum = ANY (confkey)) AND conname NOT LIKE own
    UNION SELECT format('%s: %s', tgenabled, pg_get_triggerdef(t.oid)) FROM pg_trigger t JOIN tab ON tgrelid = tab.oid
    WHERE NOT tgisinternal AND tgname NOT IN ('~rekey', '~rekey_after')) AS lines(line)
$$;

-- Raise an error with all obstacles and, until the switch, all changes of the catalog.
CREATE FUNCTION rekey.check_catalog() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    found_list text := (SELECT string_agg(DISTINCT obstacle || ': ' || object, E'\n') FROM rekey.obstacles());
    is_list text[] := rekey.catalog();
    was_list text[] := active.fingerprint;
BEGIN
    IF found_list <> '' THEN
        RAISE 'keys of table % cannot be changed', rekey.table_name(active.parent)
        USING ERRCODE = 'feature_not_supported', DETAIL = found_list;
    ELSIF is_list <> was_list AND active.state IN ('planned', 'running', 'ready') THEN
        RAISE 'the catalog is not what it was when run % was planned', active.run
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = (SELECT string_agg(line, E'\n') FROM (
            SELECT 'now: ' || unnest(is_list) EXCEPT SELECT 'now: ' || unnest(was_list) UNION ALL
            (SELECT 'then: ' || unnest(was_list) EXCEPT SELECT 'then: ' || unnest(is_list))) AS changes(line)),
        HINT = 'Undo the change, or abandon the run and plan again.';
    END IF;
END $$;

-- A condition for the new columns' names and type, by the parser: in a table that has the new
-- type under the old names, which are then changed.
CREATE FUNCTION rekey.translate(target oid, expression text, names jsonb, new_type text) RETURNS text
LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    translated text;
BEGIN
    EXECUTE (SELECT format('CREATE TEMP TABLE rekey_translation (%s, CHECK (%s))', string_agg(format('%I %s', attname,
        CASE WHEN names ? attnum::text THEN new_type ELSE format_type(atttypid, atttypmod) END), ', '), expression)
        FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped);
    PERFORM rekey.run_all(format('ALTER TABLE pg_temp.rekey_translation RENAME %I TO %I', attname, names ->> attnum::text))
    FROM pg_attribute WHERE attrelid = target AND names ? attnum::text;
    SELECT pg_get_expr(conbin, conrelid) INTO translated FROM pg_constraint WHERE conrelid = 'pg_temp.rekey_translation'::regclass AND contype = 'c';
    DROP TABLE pg_temp.rekey_translation;
    RETURN translated;
END $$;

-- The definition of an index with other columns and another name. Nothing is
-- replaced in a text: all parts are those of the catalog.
CREATE FUNCTION rekey.index_definition(index_oid oid, name text, names jsonb, predicate text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('CREATE %sINDEX CONCURRENTLY IF NOT EXISTS %I ON %s USING %I (%s)%s%s%s%s%s',
    CASE WHEN indisunique THEN 'UNIQUE ' END, name, rekey.table_name(indrelid), amname,
    string_agg(part, ', ' ORDER BY k) FILTER (WHERE k < indnkeyatts),
    ' INCLUDE (' || string_agg(part, ', ' ORDER BY k) FILTER (WHERE k >= indnkeyatts) || ')',
    CASE WHEN to_jsonb(i) ->> 'indnullsnotdistinct' = 'true' THEN ' NULLS NOT DISTINCT' END,
    ' WITH (' || array_to_string(c.reloptions, ', ') || ')',
    ' TABLESPACE ' || quote_ident(spcname),
    ' WHERE ' || predicate)
FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am am ON am.oid = relam LEFT JOIN pg_tablespace s ON s.oid = reltablespace,
LATERAL (SELECT k, CASE WHEN names ? indkey[k]::text THEN quote_ident(names ->> indkey[k]::text)
             WHEN indkey[k] > 0 THEN pg_get_indexdef(indexrelid, k + 1, true) ELSE '(' || pg_get_indexdef(indexrelid, k + 1, true) || ')' END
         || CASE WHEN k < indnkeyatts AND NOT names ? indkey[k]::text THEN
             CASE WHEN indcollation[k] > 0 THEN (SELECT format(' COLLATE %I.%I', collnamespace::regnamespace::text, collname)
                                                 FROM pg_collation WHERE oid = indcollation[k]) ELSE '' END
             || (SELECT format(' %I.%I', opcnamespace::regnamespace::text, opcname) FROM pg_opclass WHERE oid = indclass[k]) ELSE '' END
         || CASE WHEN k < indnkeyatts THEN
             CASE indoption[k] & 3 WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST' WHEN 3 THEN ' DESC' ELSE '' END ELSE '' END AS part
         FROM generate_series(0, indnatts - 1) k) AS parts
WHERE indexrelid = index_oid
GROUP BY i.*, indisunique, indrelid, amname, reloptions, spcname, indpred, indnkeyatts
$$;

CREATE FUNCTION rekey.add_step(kind text, what text, tables oid[], statement text, phase text DEFAULT 'run', index_name name DEFAULT NULL,
    rows bigint DEFAULT NULL, bytes bigint DEFAULT NULL, wal bigint DEFAULT NULL)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO rekey.steps (run, n, phase, kind, what, tables, statement, index_name, rows, bytes, wal)
    SELECT run, 1 + (SELECT count(*) FROM rekey.steps s WHERE s.run = a.run), phase, kind, what, tables, statement, index_name, rows, bytes, wal
    FROM rekey.active_run a
$$;

-- Write the plan of a run; raises an error with all obstacles.
CREATE FUNCTION rekey.plan(target regclass, new_type regtype, new_value text DEFAULT NULL, new_default text DEFAULT NULL,
    suffix text DEFAULT '_new', options jsonb DEFAULT '{}', old_default text DEFAULT NULL)
RETURNS SETOF rekey.steps LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    run_now int;
    key pg_attribute;
    parent text := rekey.table_name(target);
    max_bytes bigint := options ->> 'max_bytes';
    needed bigint;
    t record;
    x record;
    c record;
BEGIN
    IF EXISTS (SELECT FROM rekey.active_run) THEN
        RAISE 'run % is active', (SELECT run FROM rekey.active_run) USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Finish or abandon it first.';
    END IF;
    SELECT a.* INTO key FROM pg_constraint k JOIN pg_attribute a ON attrelid = conrelid AND attnum = conkey[1]
    WHERE conrelid = target AND contype = 'p' AND cardinality(conkey) = 1;
    IF NOT FOUND THEN
        RAISE 'table % has no primary key of one column', parent USING ERRCODE = 'feature_not_supported';
    ELSIF new_value IS NULL AND (key.atttypid, new_type) NOT IN (('int2'::regtype, 'int4'::regtype), ('int2'::regtype,
        'int8'::regtype), ('int4'::regtype, 'int8'::regtype)) THEN
        RAISE 'a value is required for keys of type %', new_type USING ERRCODE = 'invalid_parameter_value',
        HINT = 'Without a value, keys keep their numbers in a wider type of integers.';
    ELSIF new_value <> '' AND new_default IS NULL THEN
        RAISE 'a default is required for the new key' USING ERRCODE = 'invalid_parameter_value';
    ELSIF new_value <> '' THEN
        BEGIN
            EXECUTE format('SELECT (%s)::%s FROM %s LIMIT 1', new_value, new_type, parent);
            EXECUTE format('SELECT (%s)::%s', new_default, new_type);
        EXCEPTION WHEN syntax_error_or_access_rule_violation THEN
            RAISE 'value or default of the new key: %', sqlerrm USING ERRCODE = sqlstate, HINT = 'Functions outside pg_catalog require their schema.';
        END;
    END IF;

    INSERT INTO rekey.runs (parent, new_type, suffix, new_value, new_default, old_default, old_identity, key_sequence, options)
    VALUES (target, new_type::text, suffix, new_value, new_default,
        CASE WHEN new_value <> '' AND NOT key.atthasdef AND key.attidentity = '' THEN coalesce(old_default,
            CASE key.atttypid WHEN 'uuid'::regtype THEN 'gen_random_uuid()' END) END,
        key.attidentity, coalesce(pg_get_serial_sequence(parent, key.attname)::regclass::oid,
            (SELECT refobjid FROM pg_attrdef a JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND objid = a.oid
                JOIN pg_class s ON s.oid = refobjid AND relkind = 'S'
             WHERE adrelid = target AND adnum = key.attnum AND refclassid = 'pg_class'::regclass)), options) RETURNING run INTO run_now;
    INSERT INTO rekey.columns (run, n, tbl, attnum, is_required, fkey, actions)
    SELECT run_now, 0, target, key.attnum, true, NULL, NULL
    UNION ALL SELECT run_now, row_number() OVER (ORDER BY conrelid = target, conrelid, k.oid), conrelid, conkey[1], attnotnull, conname,
        CASE confmatchtype WHEN 'f' THEN ' MATCH FULL' ELSE '' END
        || CASE confupdtype WHEN 'c' THEN ' ON UPDATE CASCADE' WHEN 'n' THEN ' ON UPDATE SET NULL' WHEN 'r' THEN ' ON UPDATE RESTRICT' ELSE '' END
        || CASE confdeltype WHEN 'c' THEN ' ON DELETE CASCADE' WHEN 'n' THEN ' ON DELETE SET NULL' WHEN 'r' THEN ' ON DELETE RESTRICT' ELSE '' END
    FROM pg_constraint k JOIN pg_attribute a ON attrelid = conrelid AND a.attnum = conkey[1]
    WHERE confrelid = target AND contype = 'f' AND conparentid = 0 AND cardinality(conkey) = 1 AND confkey[1] = key.attnum;
    UPDATE rekey.runs SET fingerprint = rekey.catalog() WHERE run = run_now;
    PERFORM rekey.check_catalog();

    INSERT INTO rekey.indexes
    SELECT run_now, row_number() OVER (ORDER BY indrelid, indexrelid), indrelid, relname, contype, indisunique, pg_relation_size(indexrelid),
        rekey.index_definition(indexrelid, format('rekey_%s_i%s', run_now, row_number() OVER (ORDER BY indrelid, indexrelid)), new_names,
            rekey.translate(indrelid, pg_get_expr(indpred, indrelid), new_names, new_type::text)),
        rekey.index_definition(indexrelid, format('rekey_%s_o%s', run_now, row_number() OVER (ORDER BY indrelid, indexrelid)), '{}', NULL)
    FROM (SELECT tbl, array_agg(attnum) AS attnums, jsonb_object_agg(attnum, new_name) AS new_names FROM rekey.active_columns GROUP BY tbl) AS tables
    JOIN pg_index ON indrelid = tbl AND indkey::int2[] && attnums JOIN pg_class x ON x.oid = indexrelid
    LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = tbl AND contype IN ('p', 'u');

    INSERT INTO rekey.checks
    SELECT run_now, row_number() OVER (ORDER BY k.oid), tbl, conname, rekey.translate(tbl, pg_get_expr(conbin, conrelid), new_names, new_type::text)
    FROM (SELECT tbl, array_agg(attnum) AS attnums, jsonb_object_agg(attnum, new_name) AS new_names FROM rekey.active_columns GROUP BY tbl) AS tables
    JOIN pg_constraint k ON conrelid = tbl AND contype = 'c' AND conkey && attnums;

    FOR t IN SELECT tbl, table_name, min(n) AS n, bool_or(is_key) AS is_parent, bool_or(NOT is_key) AS refers,
                string_agg(format('%I IS NOT NULL AND %I IS NULL', old_name, new_name), ' OR ') FILTER (WHERE NOT is_key) AS missing,
                string_agg(format('%I', new_name), ', ') AS names, CASE WHEN max(reltuples) >= 0 THEN
                    max(reltuples) ELSE max(pg_relation_size(tbl)) / 60 END::bigint AS rows,
                    max(pg_relation_size(tbl)) AS bytes,
                count(*) AS columns, (SELECT count(*) FROM pg_index WHERE indrelid = tbl) AS indexes
            FROM rekey.active_columns JOIN pg_class ON oid = tbl GROUP BY tbl, table_name ORDER BY n LOOP
        PERFORM rekey.add_step('lock', format('add %s to %s, with a trigger', t.names, t.table_name), ARRAY[t.tbl],
            format('SELECT rekey.add_columns(%s)', t.tbl));
        IF t.is_parent THEN
            PERFORM rekey.add_step('fill', 'fill keys of ' || t.table_name, ARRAY[t.tbl], (SELECT format('%I IS NULL', new_name)
                FROM rekey.active_columns WHERE is_key), 'run', NULL,
                t.rows, t.bytes + t.rows * 16, t.bytes + t.rows * (100 + 100 * t.indexes));
        END IF;
        IF t.is_parent AND t.refers THEN
            -- no transaction remains that has referred to a row without its new key
            PERFORM rekey.add_step('lock', 'all rows have keys', ARRAY[t.tbl], 'SELECT');
        END IF;
        IF t.refers THEN
            PERFORM rekey.add_step('fill', 'fill references of ' || t.table_name, ARRAY[t.tbl], t.missing, 'run', NULL,
                t.rows, t.bytes + t.rows * 16 * t.columns, t.bytes + t.rows * (100 + 100 * t.indexes));
        END IF;
        PERFORM rekey.add_step('plain', 'vacuum ' || t.table_name, ARRAY[t.tbl], 'VACUUM (ANALYZE) ' || t.table_name);
        FOR x IN SELECT * FROM rekey.indexes WHERE run = run_now AND tbl = t.tbl ORDER BY n LOOP
            PERFORM rekey.add_step('index', format('index like %I', x.index_name), ARRAY[t.tbl], x.new_definition, 'run',
                format('rekey_%s_i%s', run_now, x.n), t.rows, 2 * x.bytes, 2 * x.bytes);
            IF x.contype = 'p' THEN
                PERFORM rekey.add_step('index', 'unique index on the old key, for the way back', ARRAY[t.tbl], x.old_definition,
                    'run', format('rekey_%s_o%s', run_now, x.n), t.rows, x.bytes, x.bytes);
            END IF;
        END LOOP;
        PERFORM rekey.add_step('lock', 'constraints of ' || t.table_name, ARRAY[target::oid] || array_remove(ARRAY[t.tbl],
            target::oid), format('SELECT rekey.add_constraints(%s)', t.tbl));
        FOR x IN SELECT * FROM rekey.checks WHERE run = run_now AND tbl = t.tbl ORDER BY n LOOP
            PERFORM rekey.add_step('plain', format('validate the constraint like %I', x.check_name), ARRAY[t.tbl],
                format('ALTER TABLE %s VALIDATE CONSTRAINT rekey_%s_c%s', t.table_name, run_now, x.n));
        END LOOP;
        FOR c IN SELECT * FROM rekey.active_columns WHERE tbl = t.tbl ORDER BY n LOOP
            IF c.is_required THEN
                PERFORM rekey.add_step('plain', 'validate NOT NULL of ' || c.new_name, ARRAY[t.tbl],
                    format('ALTER TABLE %s VALIDATE CONSTRAINT %I', t.table_name, c.new_check));
            END IF;
            IF NOT c.is_key THEN
                PERFORM rekey.add_step('plain', 'validate the foreign key of ' || c.new_name, ARRAY[t.tbl],
                    format('ALTER TABLE %s VALIDATE CONSTRAINT %I', t.table_name, c.new_fkey));
            END IF;
        END LOOP;
    END LOOP;
    PERFORM rekey.add_step('lock', 'both keys can be used', ARRAY[target::oid], 'SELECT rekey.become_ready()');
    SELECT sum(bytes) INTO needed FROM rekey.steps WHERE run = run_now;
    IF needed > max_bytes THEN
        RAISE 'the change needs about % bytes', needed USING ERRCODE = 'disk_full', HINT = 'The limit is that of --max-bytes.';
    END IF;
    RETURN QUERY SELECT * FROM rekey.steps WHERE run = run_now ORDER BY n;
END $$;

-- The statements that keep a column and its old one equal, in a trigger. Same value: each is
-- set by the other; beyond the old type, the old one is NULL. Else the parent is looked up.
CREATE FUNCTION rekey.trigger_part(c rekey.active_columns, k rekey.active_columns, active rekey.runs) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- for format(): 1 old column, 2 new column, 3 parent, 4 its old key, 5 its new key
    given text := $f$
    IF TG_OP = 'INSERT' THEN
        old_given := NEW.%1$I IS NOT NULL;
        new_given := NEW.%2$I IS NOT NULL;
    ELSE
        old_given := NEW.%1$I IS DISTINCT FROM OLD.%1$I;
        new_given := NEW.%2$I IS DISTINCT FROM OLD.%2$I;
    END IF;$f$;
    two_keys text := $f$
            RAISE 'columns "%%" and "%%" refer to different rows', %1$L, %2$L USING ERRCODE = 'invalid_parameter_value', TABLE = TG_TABLE_NAME;$f$;
    no_parent text := $f$
            RAISE 'no row of table %% has the key %%', %3$L, VALUE USING TABLE = TG_TABLE_NAME, ERRCODE =
                CASE current_setting('transaction_isolation')
                WHEN 'read committed' THEN 'foreign_key_violation' ELSE 'serialization_failure' END;$f$;
    part text;
BEGIN
    IF active.new_value IS NULL THEN
        part := CASE WHEN c.is_key AND active.key_sequence IS NOT NULL THEN format($f$
    IF TG_OP = 'INSERT' AND NEW.%1$I IS NULL AND NEW.%2$I IS NULL THEN
        NEW.%2$I := nextval(%3$L);
    END IF;$f$, c.old_name, c.new_name, active.key_sequence::regclass) ELSE '' END || given || $f$
    IF new_given AND old_given THEN
        IF NEW.%1$I IS DISTINCT FROM NEW.%2$I AND (NEW.%1$I IS NOT NULL OR NEW.%2$I BETWEEN -%6$s - 1 AND %6$s) THEN$f$ || two_keys || $f$
        END IF;
    ELSIF new_given THEN
        NEW.%1$I := CASE WHEN NEW.%2$I BETWEEN -%6$s - 1 AND %6$s THEN NEW.%2$I END;
    ELSIF old_given OR NEW.%2$I IS NULL THEN
        NEW.%2$I := NEW.%1$I;
    END IF;$f$;
    ELSIF c.is_key THEN
        part := $f$
    IF NEW.%2$I IS NULL THEN
        NEW.%2$I := (SELECT $f$ || replace(active.new_value, '%', '%%') || $f$ FROM (SELECT NEW.*) AS %7$I);$f$
        || CASE WHEN active.state IN ('planned', 'running') THEN $f$
    ELSIF TG_OP = 'UPDATE' AND NEW.%2$I IS DISTINCT FROM OLD.%2$I AND OLD.%2$I IS NOT NULL THEN
        RAISE 'column "%%" cannot be changed until references to it are complete', %2$L
            USING ERRCODE = 'object_not_in_prerequisite_state';$f$ ELSE '' END || $f$
    END IF;$f$;
    ELSE
        part := given || $f$
    IF new_given THEN
        old_key := NULL;
        IF NEW.%2$I IS NOT NULL THEN$f$ || CASE WHEN c.is_self THEN $f$
            SELECT %4$I INTO old_key FROM ONLY %3$s WHERE %5$I = NEW.%2$I FOR KEY SHARE;
            IF NEW.%5$I = NEW.%2$I THEN
                old_key := NEW.%4$I;
            END IF;$f$ ELSE $f$
            SELECT %4$I INTO old_key FROM ONLY %3$s WHERE %5$I = NEW.%2$I FOR KEY SHARE;
            IF NOT FOUND THEN$f$ || replace(no_parent, 'VALUE', 'NEW.%2$I') || $f$
            END IF;$f$ END || $f$
        END IF;
        IF old_given AND NEW.%1$I IS DISTINCT FROM old_key$f$ || CASE WHEN c.is_self THEN
            ' AND old_key IS NOT NULL' ELSE '' END || $f$ THEN$f$ || two_keys || $f$
        ELSIF NOT old_given THEN
            NEW.%1$I := old_key;
        END IF;
    ELSIF old_given THEN
        IF NEW.%1$I IS NULL THEN
            NEW.%2$I := NULL;
        ELSE
            SELECT %5$I INTO NEW.%2$I FROM ONLY %3$s WHERE %4$I = NEW.%1$I FOR KEY SHARE;$f$ || CASE WHEN c.is_self THEN $f$
            IF NEW.%4$I = NEW.%1$I THEN
                NEW.%2$I := NEW.%5$I;
            END IF;$f$ ELSE $f$
            IF NOT FOUND THEN$f$ || replace(no_parent, 'VALUE', 'NEW.%1$I') || $f$
            END IF;$f$ END || $f$
        END IF;
    ELSIF NEW.%2$I IS NULL AND NEW.%1$I IS NOT NULL THEN
        NEW.%2$I := (SELECT %5$I FROM ONLY %3$s WHERE %4$I = NEW.%1$I);$f$ || CASE WHEN c.is_self THEN $f$
    ELSIF NEW.%1$I IS NULL AND NEW.%2$I IS NOT NULL THEN
        NEW.%1$I := (SELECT %4$I FROM ONLY %3$s WHERE %5$I = NEW.%2$I);$f$ ELSE '' END || $f$
    END IF;$f$;
    END IF;
    RETURN format(part, c.old_name, c.new_name, k.table_name, k.old_name, k.new_name,
        CASE c.old_type WHEN 'int2'::regtype THEN '32767' WHEN 'int4'::regtype THEN '2147483647' ELSE '9223372036854775807' END,
        (SELECT relname FROM pg_class WHERE oid = c.tbl));
END $$;

-- The statements after all rows of a statement: references to rows that came later in it
CREATE FUNCTION rekey.trigger_part_after(c rekey.active_columns, k rekey.active_columns) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format($f$
    IF TG_OP = 'INSERT' OR NEW.%1$I IS DISTINCT FROM OLD.%1$I OR NEW.%2$I IS DISTINCT FROM OLD.%2$I THEN
        IF (NEW.%1$I IS NULL) <> (NEW.%2$I IS NULL) THEN
            UPDATE ONLY %3$s SET %2$I = %2$I WHERE %4$I = NEW.%4$I;
            IF EXISTS (SELECT FROM ONLY %3$s WHERE %4$I = NEW.%4$I AND %1$I IS NULL AND %2$I IS NOT NULL) THEN
                RAISE 'no row of table %% has the key %%', %3$L, NEW.%2$I USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME;
            END IF;
        ELSIF NEW.%1$I IS NOT NULL AND NOT EXISTS (SELECT FROM ONLY %3$s WHERE %4$I = NEW.%1$I AND %5$I = NEW.%2$I) THEN
            RAISE 'columns "%%" and "%%" refer to different rows', %1$L, %2$L USING ERRCODE = 'invalid_parameter_value', TABLE = TG_TABLE_NAME;
        END IF;
    END IF;$f$, c.old_name, c.new_name, k.table_name, k.old_name, k.new_name)
$$;

-- Write the trigger functions of a table for its columns' names now. They belong to the
-- owner of the parent, who may read it also under row-level security.
CREATE FUNCTION rekey.write_trigger(target oid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    function_name text := format('rekey.keep_%s_%s', active.run, (SELECT min(n) FROM rekey.columns WHERE run = active.run AND tbl = target));
    parts text;
    after_parts text;
    owner name := (SELECT relowner::regrole::text FROM pg_class WHERE oid = active.parent);
    part record;
BEGIN
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    SELECT string_agg(rekey.trigger_part(c, k, active), '' ORDER BY n),
        string_agg(rekey.trigger_part_after(c, k), '' ORDER BY n) FILTER (WHERE c.is_self AND active.new_value IS NOT NULL)
    INTO parts, after_parts FROM rekey.active_columns c WHERE tbl = target;
    FOR part IN SELECT * FROM (VALUES (function_name, 'BEFORE', '~rekey', parts), (function_name || '_after', 'AFTER', '~rekey_after', after_parts))
            AS v(function_name, moment, trigger_name, parts) WHERE v.parts IS NOT NULL LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger '
            'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L', part.function_name, format($f$
#variable_conflict use_column
DECLARE
    old_key %s;
    old_given boolean;
    new_given boolean;
BEGIN%s
    RETURN NEW;
END $f$,
                format_type(k.old_type, NULL), part.parts));
        EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', part.function_name);
        IF current_setting('is_superuser') = 'on' THEN
            EXECUTE format('ALTER FUNCTION %s() OWNER TO %s', part.function_name, owner);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = part.trigger_name) THEN
            EXECUTE format('CREATE TRIGGER %I %s INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s()', part.trigger_name, part.moment,
                rekey.table_name(target), part.function_name);
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', rekey.table_name(target), part.trigger_name);
        END IF;
    END LOOP;
END $$;

-- The functions of "lock" steps. They run under ACCESS EXCLUSIVE locks of all their tables.

CREATE FUNCTION rekey.run_all(VARIADIC statements text[]) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE coalesce(statement, 'SELECT');
    END LOOP;
END $$;

-- Privileges of a column or sequence, also those that were granted by others
CREATE FUNCTION rekey.grant_all(acl aclitem[], format_text text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM rekey.run_all(VARIADIC coalesce(array_agg(format(format_text, privilege_type, CASE grantee WHEN 0 THEN
        'PUBLIC' ELSE grantee::regrole::text END)
        || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), '{}')) FROM aclexplode(acl);
END $$;

-- An identity's sequence becomes one of a default, or the other way: with its name,
-- value and privileges.
CREATE FUNCTION rekey.change_identity(tbl oid, old_column name, sequence oid, identity "char") RETURNS oid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text := rekey.table_name(sequence);
    was pg_class;
    s pg_sequence;
    v record;
    definition text;
BEGIN
    SELECT * INTO was FROM pg_class WHERE oid = sequence;
    SELECT * INTO s FROM pg_sequence WHERE seqrelid = sequence;
    EXECUTE format('SELECT last_value, is_called FROM %s', name) INTO v;
    definition := format('INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s %sCYCLE', s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
        CASE WHEN NOT s.seqcycle THEN 'NO ' END);
    IF identity = '' THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP IDENTITY', rekey.table_name(tbl), old_column),
            format('CREATE SEQUENCE %s AS %s %s', name, format_type(s.seqtypid, NULL), definition),
            format('ALTER SEQUENCE %s OWNER TO %s', name, was.relowner::regrole),
            format('ALTER SEQUENCE %s OWNED BY %s.%I', name, rekey.table_name(tbl), old_column));
    ELSE
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP DEFAULT', rekey.table_name(tbl), old_column), format('DROP SEQUENCE %s', name),
            format('ALTER TABLE %s ALTER %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)', rekey.table_name(tbl), old_column,
                CASE identity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, name, definition));
    END IF;
    PERFORM setval(name::regclass, v.last_value, v.is_called);
    PERFORM rekey.grant_all(was.relacl, format('GRANT %%s ON SEQUENCE %s TO %%s', replace(name, '%', '%%')));
    RETURN name::regclass;
END $$;

CREATE FUNCTION rekey.add_columns(target oid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    c rekey.active_columns;
    old pg_attribute;
    new_attnum_now int2;
BEGIN
    FOR c IN SELECT * FROM rekey.active_columns WHERE tbl = target ORDER BY n LOOP
        SELECT * INTO old FROM pg_attribute WHERE attrelid = target AND attnum = c.attnum;
        EXECUTE format('ALTER TABLE %s ADD %I %s', c.table_name, c.new_name, active.new_type);
        SELECT attnum INTO new_attnum_now FROM pg_attribute WHERE attrelid = target AND attname = c.new_name;
        UPDATE rekey.columns SET new_attnum = new_attnum_now WHERE run = active.run AND n = c.n;
        PERFORM rekey.grant_all(old.attacl, format('GRANT %%s (%s) ON %s TO %%s', replace(quote_ident(c.new_name), '%', '%%'),
            replace(c.table_name, '%', '%%')));
        PERFORM rekey.run_all(format('COMMENT ON COLUMN %s.%I IS %L', c.table_name, c.new_name, col_description(target, c.attnum)));
        CONTINUE WHEN NOT c.is_key;
        IF active.new_value IS NOT NULL THEN
            PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I SET DEFAULT %s', c.table_name, c.new_name, active.new_default),
                format('ALTER TABLE %s ALTER %I SET DEFAULT ', c.table_name, c.old_name) || active.old_default);
        ELSIF active.old_identity <> '' THEN
            UPDATE rekey.runs SET key_sequence = rekey.change_identity(target, c.old_name, key_sequence, '') WHERE run = active.run;
        ELSIF active.key_sequence IS NOT NULL THEN
            UPDATE rekey.runs SET old_default = (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = target
                AND adnum = c.attnum) WHERE run = active.run;
            EXECUTE format('ALTER TABLE %s ALTER %I DROP DEFAULT', c.table_name, c.old_name);
        END IF;
    END LOOP;
    PERFORM rekey.write_trigger(target);
END $$;

CREATE FUNCTION rekey.add_constraints(target oid) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT rekey.run_all(
        CASE WHEN c.is_required THEN format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', c.table_name,
            c.new_check, c.new_name) END,
        CASE WHEN NOT c.is_key THEN format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %s (%I)%s NOT VALID',
            c.table_name, c.new_fkey, c.new_name, k.table_name, k.new_name, c.actions) END)
    FROM rekey.active_columns c, rekey.active_columns k WHERE c.tbl = target AND k.is_key;
    SELECT rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %2$I CHECK (%s) NOT VALID',
        rekey.table_name(tbl), format('rekey_%s_c%s', run, n), new_expression)) FROM rekey.checks JOIN rekey.active_run USING (run) WHERE tbl = target
$$;

-- The parent's new key may change from now on: all references follow it.
CREATE FUNCTION rekey.become_ready() RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    UPDATE rekey.runs SET state = 'ready', ready_at = clock_timestamp(), verified_at = NULL WHERE state = 'running';
    SELECT rekey.write_trigger(parent) FROM rekey.active_run
$$;

-- Under the locks of the switch: all objects of the run exist and are valid. Reads the catalog only.
CREATE FUNCTION rekey.check_objects() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad text;
BEGIN
    SELECT string_agg(what, ', ') INTO bad FROM (
        SELECT 'trigger of ' || table_name FROM rekey.active_columns
        WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = tbl AND tgname = '~rekey' AND tgenabled = 'A')
        UNION SELECT 'foreign key ' || new_fkey FROM rekey.active_columns
        WHERE NOT is_key AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = tbl AND conname = new_fkey AND convalidated)
        UNION SELECT 'constraint ' || new_check FROM rekey.active_columns
        WHERE is_required AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = tbl AND conname = new_check AND convalidated)
        UNION SELECT 'constraint like ' || check_name FROM rekey.checks JOIN rekey.active_run USING (run)
        WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = tbl AND conname = format('rekey_%s_c%s', run, n) AND convalidated)
        UNION SELECT 'index ' || index_name FROM rekey.steps JOIN rekey.active_run USING (run)
        WHERE kind = 'index' AND NOT EXISTS (SELECT FROM pg_class x JOIN pg_index ON x.oid = indexrelid
                                             WHERE relname = index_name AND indrelid = ANY (tables) AND indisvalid)
        UNION SELECT 'step ' || n FROM rekey.steps JOIN rekey.active_run USING (run) WHERE phase = 'run' AND done_at IS NULL) AS lines(what);
    IF bad <> '' THEN
        RAISE 'the new keys are not complete' USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Missing or not valid: ' || bad || '.';
    END IF;
END $$;

CREATE FUNCTION rekey.do_switch() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    x rekey.indexes;
BEGIN
    PERFORM rekey.check_catalog(), rekey.check_objects();
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    PERFORM rekey.run_all(CASE WHEN is_required THEN format('ALTER TABLE %s ALTER %I SET NOT NULL', table_name, new_name) END,
        CASE WHEN is_required THEN format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, new_check) END,
        CASE WHEN NOT is_key THEN format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, fkey) END) FROM rekey.active_columns ORDER BY n;
    FOR x IN SELECT * FROM rekey.indexes WHERE run = active.run AND contype = 'p' LOOP
        PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', rekey.table_name(x.tbl), x.index_name),
            format('ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', rekey.table_name(x.tbl), x.index_name,
                format('rekey_%s_i%s', x.run, x.n)));
    END LOOP;
    PERFORM rekey.run_all(format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %s (%I)%s NOT VALID',
        table_name, fkey, old_name, k.table_name, k.old_name, actions)) FROM rekey.active_columns WHERE NOT is_key ORDER BY n;
    IF active.new_value IS NULL THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP NOT NULL', table_name, old_name)) FROM rekey.active_columns WHERE is_required;
        IF active.key_sequence IS NOT NULL THEN
            EXECUTE format('ALTER SEQUENCE %s AS %s', rekey.table_name(active.key_sequence), active.new_type);
        END IF;
    END IF;
    UPDATE rekey.runs SET state = 'switched', switched_at = clock_timestamp() WHERE run = active.run;
END $$;

-- The primary keys are on the old columns again. Their indexes and the new foreign keys are made again by "run".
CREATE FUNCTION rekey.do_back() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    x rekey.indexes;
BEGIN
    IF active.state = 'renamed' THEN
        PERFORM rekey.do_rename();
        RETURN;
    END IF;
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    IF active.new_value IS NULL THEN
        PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I SET NOT NULL', table_name, old_name),
            format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, new_check))
        FROM rekey.active_columns WHERE is_required;
        IF active.key_sequence IS NOT NULL THEN
            EXECUTE format('ALTER SEQUENCE %s AS %s', rekey.table_name(active.key_sequence), format_type(k.old_type, NULL));
        END IF;
    END IF;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, new_fkey)) FROM rekey.active_columns WHERE NOT is_key;
    FOR x IN SELECT * FROM rekey.indexes WHERE run = active.run AND contype = 'p' LOOP
        PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', rekey.table_name(x.tbl), x.index_name),
            format('ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', rekey.table_name(x.tbl), x.index_name,
                format('rekey_%s_o%s', x.run, x.n)));
    END LOOP;
    PERFORM rekey.run_all(format('ALTER TABLE %s ALTER %I DROP NOT NULL', table_name, new_name)) FROM rekey.active_columns WHERE is_required;
    UPDATE rekey.runs SET state = 'running', switched_at = NULL, ready_at = NULL, verified_at = NULL WHERE run = active.run;
    UPDATE rekey.steps SET done_at = NULL, next_page = 0 WHERE run = active.run AND phase = 'run' AND statement NOT LIKE 'SELECT rekey.add_columns(%';
    PERFORM rekey.write_trigger(active.parent);
END $$;

-- Exchange the names of new and old columns. Triggers "UPDATE OF column" would follow
-- the column: they are made again, for what has the name now.
CREATE FUNCTION rekey.exchange_names() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    triggers text[] := '{}';
    t record;
    c rekey.active_columns;
BEGIN
    FOR t IN SELECT DISTINCT g.oid, g.tgname, g.tgenabled, table_name, pg_get_triggerdef(g.oid) AS definition,
        obj_description(g.oid, 'pg_trigger') AS description
            FROM pg_trigger g JOIN rekey.active_columns ON tgrelid = tbl AND (attnum = ANY (tgattr) OR new_attnum = ANY (tgattr)) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, t.table_name);
        triggers := triggers || t.definition || format('ALTER TABLE %s %s TRIGGER %I', t.table_name,
            CASE t.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE' END, t.tgname)
            || format('COMMENT ON TRIGGER %I ON %s IS %L', t.tgname, t.table_name, t.description);
    END LOOP;
    FOR c IN SELECT * FROM rekey.active_columns LOOP
        PERFORM rekey.run_all(format('ALTER TABLE %s RENAME %I TO "~rekey"', c.table_name, c.old_name),
            format('ALTER TABLE %s RENAME %I TO %I', c.table_name, c.new_name, c.old_name),
            format('ALTER TABLE %s RENAME "~rekey" TO %I', c.table_name, c.new_name));
    END LOOP;
    PERFORM rekey.run_all(VARIADIC triggers);
END $$;

-- rename, or rename back. Trigger functions forget their plans, which have the types of the
-- other columns, if their catalog rows change.
CREATE FUNCTION rekey.do_rename() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
BEGIN
    PERFORM rekey.exchange_names();
    UPDATE rekey.runs SET state = CASE state WHEN 'renamed' THEN 'switched' ELSE 'renamed' END,
        renamed_at = CASE state WHEN 'switched' THEN clock_timestamp() END WHERE run = active.run;
    PERFORM rekey.write_trigger(tbl) FROM (SELECT DISTINCT tbl FROM rekey.active_columns) AS t;
    PERFORM rekey.run_all(format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, p.procost)) FROM pg_proc p
    WHERE p.oid IN (SELECT tgfoid FROM pg_trigger JOIN rekey.columns ON tgrelid = tbl WHERE run = active.run
        AND NOT tgisinternal AND tgname NOT LIKE '~rekey%');
END $$;

CREATE FUNCTION rekey.drop_triggers(active rekey.runs) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT rekey.run_all(format('DROP TRIGGER %I ON %s', tgname, rekey.table_name(tgrelid)), format('DROP FUNCTION %s', tgfoid::regprocedure))
    FROM pg_trigger WHERE tgname IN ('~rekey', '~rekey_after') AND tgrelid IN (SELECT tbl FROM rekey.columns WHERE run = active.run)
$$;

CREATE FUNCTION rekey.do_finish() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    x rekey.indexes;
    name text;
BEGIN
    PERFORM rekey.check_catalog();
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    PERFORM rekey.drop_triggers(active);
    IF active.state = 'switched' THEN
        -- for the triggers "UPDATE OF column": the new columns have the old names for a moment
        PERFORM rekey.exchange_names();
        PERFORM rekey.run_all(format('ALTER TABLE %s RENAME %I TO "~rekey"', table_name, old_name),
            format('ALTER TABLE %s RENAME %I TO %I', table_name, new_name, old_name),
            format('ALTER TABLE %s RENAME "~rekey" TO %I', table_name, new_name)) FROM rekey.active_columns;
    END IF;
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', table_name, fkey)) FROM rekey.active_columns WHERE NOT is_key;
    IF active.new_value IS NULL AND active.key_sequence IS NOT NULL THEN
        name := rekey.table_name(active.key_sequence);
        EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', name, k.table_name, k.new_name);
        IF active.old_identity <> '' THEN
            PERFORM rekey.change_identity(k.tbl, k.new_name, active.key_sequence, active.old_identity);
        ELSE
            EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT nextval(%L)', k.table_name, k.new_name, name);
        END IF;
    END IF;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP COLUMN %I', table_name, old_name)) FROM rekey.active_columns;
    PERFORM rekey.run_all(CASE WHEN fkey IS NOT NULL THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I',
        rekey.table_name(tbl), format('rekey_%s_%s_fkey', run, n), fkey) END)
    FROM rekey.columns WHERE run = active.run;
    PERFORM rekey.run_all(format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', rekey.table_name(tbl), format('rekey_%s_c%s', run, n), check_name))
    FROM rekey.checks WHERE run = active.run;
    FOR x IN SELECT * FROM rekey.indexes WHERE run = active.run AND contype IS DISTINCT FROM 'p' LOOP
        name := (SELECT format('%I.%I', relnamespace::regnamespace::text, format('rekey_%s_i%s', x.run, x.n)) FROM pg_class WHERE oid = x.tbl);
        PERFORM rekey.run_all(format('ALTER INDEX %s RENAME TO %I', name, x.index_name),
            CASE x.contype WHEN 'u' THEN format('ALTER TABLE %s ADD CONSTRAINT %I UNIQUE USING INDEX %2$I',
                rekey.table_name(x.tbl), x.index_name) END);
    END LOOP;
    UPDATE rekey.runs SET state = 'finished', ended_at = clock_timestamp(), pid = NULL WHERE run = active.run;
END $$;

CREATE FUNCTION rekey.do_abandon() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    x record;
BEGIN
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    PERFORM rekey.drop_triggers(active);
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', table_name, new_fkey)) FROM rekey.active_columns WHERE NOT is_key;
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP COLUMN %I', table_name, new_name)) FROM rekey.active_columns WHERE new_attnum IS NOT NULL;
    FOR x IN SELECT c.oid::regclass FROM pg_class c JOIN pg_index ON c.oid = indexrelid JOIN rekey.steps ON relname = index_name
        AND indrelid = ANY (tables) WHERE run = active.run LOOP
        EXECUTE format('DROP INDEX %s', x.oid);
    END LOOP;
    IF k.new_attnum IS NOT NULL AND (active.new_value IS NOT NULL AND active.old_default IS NOT NULL) THEN
        EXECUTE format('ALTER TABLE %s ALTER %I DROP DEFAULT', k.table_name, k.old_name);
    ELSIF k.new_attnum IS NOT NULL AND active.new_value IS NULL AND active.old_identity <> '' THEN
        PERFORM rekey.change_identity(k.tbl, k.old_name, active.key_sequence, active.old_identity);
    ELSIF k.new_attnum IS NOT NULL AND active.new_value IS NULL AND active.old_default IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s ALTER %I SET DEFAULT %s', k.table_name, k.old_name, active.old_default);
    END IF;
    UPDATE rekey.runs SET state = 'abandoned', ended_at = clock_timestamp(), pid = NULL WHERE run = active.run;
END $$;

-- What the driver calls

-- Begin a command: settings and lock of the session, and the steps of the command.
CREATE FUNCTION rekey.begin(command text, accept_errors boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    active rekey.runs := rekey.active();
    allowed text[] := CASE command WHEN 'run' THEN '{planned,running}' WHEN 'switch' THEN '{ready,switched}' WHEN 'back' THEN '{switched,renamed}'
        WHEN 'rename' THEN '{switched}' WHEN 'finish' THEN '{switched,renamed}' WHEN 'abandon' THEN '{planned,running,ready}' END;
    all_tables oid[];
    k rekey.active_columns;
    is_beyond boolean := false;
BEGIN
    IF NOT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext('rekey'), active.run) THEN
        RAISE 'run % is worked on by process %', active.run, active.pid USING ERRCODE = 'object_in_use';
    ELSIF allowed IS NULL THEN
        RAISE 'unknown command "%"', command USING ERRCODE = 'invalid_parameter_value';
    ELSIF active.state <> ALL (allowed) THEN
        RAISE '% is not possible: run % is %', command, active.run, active.state USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM pg_catalog.set_config(name, value, false) FROM (VALUES ('search_path', 'pg_catalog, pg_temp'), ('statement_timeout',
        '0'), ('lock_timeout', '0'),
        ('idle_in_transaction_session_timeout', '0'), ('row_security', 'off'), ('jit', 'off'), ('application_name', 'rekey'),
            ('default_transaction_isolation', 'read committed')) AS s(name, value);
    BEGIN
        PERFORM set_config('client_connection_check_interval', '5s', false);
    EXCEPTION WHEN invalid_parameter_value OR feature_not_supported THEN
        NULL;    -- not on this system
    END;
    UPDATE rekey.runs SET pid = pg_backend_pid() WHERE run = active.run;
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    all_tables := ARRAY(SELECT tbl FROM rekey.active_columns GROUP BY tbl ORDER BY min(n));

    IF command NOT IN ('abandon', 'back') AND (command, active.state) <> ('switch', 'switched') THEN
        PERFORM rekey.check_catalog();
    END IF;
    IF command = 'run' THEN
        UPDATE rekey.runs SET state = 'running' WHERE run = active.run;
        RETURN 'run';
    END IF;
    IF command = 'switch' AND active.state = 'switched' THEN
        RETURN command;
    ELSIF command = 'switch' AND active.verified_at IS NULL THEN
        RAISE 'run % is not verified', active.run USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run verify first.';
    ELSIF command = 'rename' AND active.new_value IS NOT NULL AND NOT accept_errors THEN
        RAISE 'after rename, statements of the old application fail' USING ERRCODE = 'object_not_in_prerequisite_state',
        HINT = 'Run rename with --accept-errors when only the new application is running.';
    ELSIF command = 'back' AND active.state = 'switched' AND active.new_value IS NULL THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE %I IS NULL)', k.table_name, k.old_name) INTO is_beyond;
        IF is_beyond THEN
            RAISE 'there are keys beyond the old type' USING ERRCODE = 'object_not_in_prerequisite_state';
        END IF;
    END IF;
    DELETE FROM rekey.steps WHERE run = active.run AND phase <> 'run';
    IF command = 'back' AND active.state = 'switched' AND active.new_value IS NULL THEN
        PERFORM rekey.add_step('lock', 'old columns are required', ARRAY[tbl],
            format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %2$I CHECK (%I IS NOT NULL) NOT VALID',
                table_name, new_check, old_name), 'back'),
            rekey.add_step('plain', 'validate them', ARRAY[tbl], format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, new_check), 'back')
        FROM rekey.active_columns WHERE is_required;
    END IF;
    IF command = 'back' AND active.state = 'switched' THEN
        PERFORM rekey.add_step('plain', 'validate the foreign key on ' || old_name, ARRAY[tbl],
            format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, fkey), 'back')
        FROM rekey.active_columns WHERE NOT is_key;
    END IF;
    PERFORM rekey.add_step('lock', command, all_tables, format('SELECT rekey.do_%s()', command), command);
    IF command = 'switch' THEN
        PERFORM rekey.add_step('plain', 'validate the foreign key on ' || old_name, ARRAY[tbl],
            format('ALTER TABLE %s VALIDATE CONSTRAINT %I', table_name, fkey), 'switch')
        FROM rekey.active_columns WHERE NOT is_key;
    END IF;
    RETURN command;
END $$;

-- The statements of a command's steps that are not done, for \gexec
CREATE FUNCTION rekey.script(command text) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s FROM rekey.steps JOIN rekey.active_run USING (run), LATERAL unnest(CASE kind
        WHEN 'lock' THEN ARRAY[format('CALL rekey.under_lock(%s)', n)]
        WHEN 'fill' THEN ARRAY[format('CALL rekey.fill(%s)', n)]
        WHEN 'index' THEN ARRAY[format('CALL rekey.drop_invalid(%s)', n), statement, format('CALL rekey.done(%s)', n)]
        ELSE ARRAY[statement, format('CALL rekey.done(%s)', n)] END) WITH ORDINALITY AS u(s, i)
    WHERE phase = command AND done_at IS NULL ORDER BY n, i
$$;

-- Who is in the way of a lock, as far as the role may see it
CREATE FUNCTION rekey.holders(tables oid[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(string_agg(DISTINCT format('process %s (%s, %s, transaction of %s): %s', pid, coalesce(usename,
        backend_type), coalesce(state, 'state hidden'),
        coalesce(date_trunc('ms', clock_timestamp() - xact_start)::text, 'unknown age'), left(query, 100)), '; '), 'none now')
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE relation = ANY (tables) AND granted AND pid <> pg_backend_pid() AND locktype = 'relation'
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;

-- A step's statement under ACCESS EXCLUSIVE locks. An attempt waits at most 50 ms in all
-- and is repeated; after 5 s, the holders are named, after patience an error is raised.
CREATE PROCEDURE rekey.under_lock(step int, patience interval DEFAULT '10 minutes', instead text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    s rekey.steps;
    t oid;
    started timestamptz := clock_timestamp();
    told timestamptz := started;
    attempt timestamptz;
    is_done boolean := false;
BEGIN
    SELECT * INTO STRICT s FROM rekey.steps WHERE n = step AND run = (SELECT run FROM rekey.active_run);
    LOOP
        attempt := clock_timestamp();
        BEGIN
            FOREACH t IN ARRAY s.tables LOOP
                PERFORM set_config('lock_timeout', greatest(1, 50 - 1000 * extract(epoch FROM clock_timestamp() - attempt))::int || 'ms', true);
                EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', rekey.table_name(t));
            END LOOP;
            PERFORM set_config('lock_timeout', '50ms', true);
            EXECUTE coalesce(instead, s.statement);
            UPDATE rekey.steps SET done_at = clock_timestamp() WHERE run = s.run AND n = step AND instead IS NULL;
            is_done := true;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            NULL;
        END;
        COMMIT;
        IF is_done THEN
            RAISE NOTICE 'step %: %: % ms', step, coalesce('drop the invalid ' || s.index_name, s.what),
                round(1000 * extract(epoch FROM clock_timestamp() - attempt));
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

-- Set the new columns of a table, 50 pages in a transaction. The trigger computes them, so
-- that each row version written since it exists has them. Pages with locked rows are
-- visited again; a row that stays NULL is an error.
CREATE PROCEDURE rekey.fill(step int) LANGUAGE plpgsql AS $$
DECLARE
    active rekey.runs := rekey.active();
    s rekey.steps;
    c rekey.active_columns;
    touch text;
    is_missing text;
    page bigint;
    this_page bigint;
    locked_pages bigint[] := '{}';
    done record;
    is_left boolean;
    told timestamptz;
BEGIN
    SELECT * INTO STRICT s FROM rekey.steps WHERE n = step AND run = active.run;
    SELECT * INTO STRICT c FROM rekey.active_columns WHERE tbl = s.tables[1] AND is_key = s.what LIKE 'fill keys%' ORDER BY n LIMIT 1;
    touch := format('WITH touched AS (UPDATE ONLY %1$s SET %2$I = %2$I WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM ONLY %1$s WHERE ctid >= $1 AND ctid < $2 AND (%3$s) FOR NO KEY UPDATE SKIP LOCKED)) '
        'RETURNING ctid, %3$s AS is_left, %4$I AS old_value) '
        'SELECT count(*) AS rows, (array_agg(format(''%%s, ctid %%s'', old_value, ctid)) FILTER (WHERE is_left))[1] AS bad FROM touched',
        c.table_name, c.new_name, s.statement, c.old_name);
    is_missing := format('SELECT EXISTS (SELECT FROM ONLY %s WHERE (%s)', c.table_name, s.statement);
    page := s.next_page;
    LOOP
        IF page * current_setting('block_size')::int < pg_relation_size(c.tbl) THEN
            this_page := page;
            page := page + 50;
        ELSIF cardinality(locked_pages) > 0 THEN
            this_page := locked_pages[1];
            locked_pages := locked_pages[2:];
            told := coalesce(told, clock_timestamp());
            IF clock_timestamp() > told + interval '5 s' THEN
                told := clock_timestamp();
                RAISE NOTICE 'step %: % ranges of pages have locked rows: %', step, 1 + cardinality(locked_pages), rekey.holders(s.tables);
            END IF;
            PERFORM pg_sleep(0.1);
        ELSE
            EXECUTE is_missing || ')' INTO is_left;
            EXIT WHEN NOT is_left;
            page := 0;
            CONTINUE;
        END IF;
        IF active.options ? 'replica_role' THEN
            PERFORM set_config('session_replication_role', 'replica', true);
        END IF;
        EXECUTE touch INTO done USING format('(%s,0)', this_page)::tid, format('(%s,0)', this_page + 50)::tid;
        IF done.bad IS NOT NULL AND c.is_key THEN
            RAISE 'the value of the new key is null for "%" = %', c.old_name, done.bad USING ERRCODE = 'not_null_violation', TABLE = c.table_name;
        ELSIF done.bad IS NOT NULL THEN
            RAISE 'table % refers to no row of its parent with "%" = %', c.table_name, c.old_name, done.bad
                USING ERRCODE = 'foreign_key_violation', TABLE = c.table_name;
        END IF;
        EXECUTE is_missing || ' AND ctid >= $1 AND ctid < $2)' INTO is_left USING format('(%s,0)', this_page)::tid,
            format('(%s,0)', this_page + 50)::tid;
        IF is_left THEN
            locked_pages := locked_pages || this_page;
        END IF;
        UPDATE rekey.steps SET next_page = page, filled = filled + done.rows WHERE run = active.run AND n = step;
        COMMIT;
        PERFORM pg_sleep(0.001 * (active.options ->> 'pause')::float8) WHERE active.options ? 'pause';
    END LOOP;
    CALL rekey.done(step);
END $$;

-- Before an index is built: drop one that is invalid because its build was interrupted. If
-- keys are duplicates, name their rows.
CREATE PROCEDURE rekey.drop_invalid(step int) LANGUAGE plpgsql AS $$
DECLARE
    k rekey.active_columns;
    bad text;
BEGIN
    SELECT a.* INTO k FROM rekey.active_columns a JOIN rekey.steps s ON s.tables[1] = tbl AND s.run = a.run
    JOIN pg_class x ON relname = index_name JOIN pg_index i ON indexrelid = x.oid AND indrelid = tbl
    WHERE s.n = step AND NOT indisvalid ORDER BY a.n LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    ELSIF k.is_key AND k.new_attnum IS NOT NULL THEN
        EXECUTE format('SELECT format(''%%s, rows with "%%s" = %%s'', min(%1$I::text), %2$L, string_agg(%2$I::text, '', '' ORDER BY %2$I)) '
            'FROM ONLY %3$s GROUP BY %1$I HAVING count(*) > 1 LIMIT 1',
            k.new_name, k.old_name, k.table_name) INTO bad;
        IF bad <> '' THEN
            RAISE 'the new key is not unique: "%" = %', k.new_name, bad USING ERRCODE = 'unique_violation', TABLE = k.table_name;
        END IF;
    END IF;
    CALL rekey.under_lock(step, instead => format('SELECT rekey.drop_index(%s)', step));
END $$;

CREATE FUNCTION rekey.drop_index(step int) RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT rekey.run_all(format('DROP INDEX %s', x.oid::regclass)) FROM rekey.steps JOIN rekey.active_run USING (run)
    JOIN pg_class x ON relname = index_name JOIN pg_index ON indexrelid = x.oid AND indrelid = tables[1] WHERE n = step
$$;

CREATE PROCEDURE rekey.done(step int) LANGUAGE plpgsql AS $$
DECLARE
    s rekey.steps;
BEGIN
    SELECT * INTO s FROM rekey.steps WHERE n = step AND run = (SELECT run FROM rekey.active_run);
    IF s.kind = 'index' AND NOT EXISTS (SELECT FROM pg_class x JOIN pg_index ON x.oid = indexrelid
            WHERE relname = s.index_name AND indrelid = s.tables[1] AND indisvalid) THEN
        RAISE 'step %: index % is not valid', step, s.index_name USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run the command again.';
    END IF;
    UPDATE rekey.steps SET done_at = clock_timestamp() WHERE run = s.run AND n = step;
    RAISE NOTICE 'step %: %', step, s.what || CASE WHEN s.kind = 'fill' THEN format(': %s rows', s.filled) ELSE '' END;
END $$;

-- Compare each reference with the map of old to new keys.
CREATE FUNCTION rekey.verify() RETURNS TABLE (checked text, rows bigint, wrong bigint) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    active rekey.runs := rekey.active();
    k rekey.active_columns;
    c rekey.active_columns;
    all_wrong bigint := 0;
BEGIN
    IF active.state NOT IN ('ready', 'switched', 'renamed') THEN
        RAISE 'verify is not possible: run % is %', active.run, active.state USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    SELECT * INTO k FROM rekey.active_columns WHERE is_key;
    FOR c IN SELECT * FROM rekey.active_columns ORDER BY n LOOP
        checked := c.table_name || '.' || c.new_name;
        EXECUTE CASE
            WHEN active.new_value IS NULL THEN
                format('SELECT count(*), count(*) FILTER (WHERE %2$I IS DISTINCT FROM %1$I '
                    'AND (%1$I IS NOT NULL OR %2$I BETWEEN %4$s) %5$s) FROM ONLY %3$s',
                c.old_name, c.new_name, c.table_name, CASE c.old_type WHEN 'int2'::regtype THEN
                    '-32768 AND 32767' WHEN 'int4'::regtype THEN
                    '-2147483648 AND 2147483647' ELSE '-9223372036854775808 AND 9223372036854775807' END,
                CASE WHEN c.is_key THEN format('OR %I IS NULL', c.new_name) END)
            WHEN c.is_key THEN format('SELECT count(*), count(*) FILTER (WHERE %I IS NULL) FROM ONLY %s', c.new_name, c.table_name)
            ELSE format('SELECT count(*), count(*) FILTER (WHERE c.%2$I IS DISTINCT FROM p.%5$I) '
                'FROM ONLY %3$s c LEFT JOIN ONLY %6$s p ON p.%4$I = c.%1$I',
                c.old_name, c.new_name, c.table_name, k.old_name, k.new_name, k.table_name) END INTO rows, wrong;
        all_wrong := all_wrong + wrong;
        RETURN NEXT;
    END LOOP;
    UPDATE rekey.runs SET verified_at = CASE WHEN all_wrong = 0 THEN clock_timestamp() END WHERE run = active.run;
END $$;

CREATE FUNCTION rekey.assert_verified() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (rekey.active()).verified_at IS NULL THEN
        RAISE 'old and new keys differ' USING ERRCODE = 'data_corrupted', HINT = 'Abandon the run.';
    END IF;
END $$;

CREATE FUNCTION rekey.status() RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('run %s of %s: %s%s', run, coalesce(rekey.table_name(parent), 'a dropped table'), state,
        CASE WHEN verified_at IS NOT NULL AND state = 'ready' THEN ', verified' END) FROM (SELECT * FROM rekey.runs ORDER BY run DESC LIMIT 1) AS last
    UNION ALL SELECT format('working: process %s, %s, waiting for %s', a.pid, a.query,
        coalesce(nullif(pg_blocking_pids(a.pid)::text, '{}'), 'nothing'))
    FROM rekey.active_run r JOIN pg_stat_activity a ON a.pid = r.pid AND a.application_name = 'rekey' AND a.pid <> pg_backend_pid()
    UNION ALL (SELECT format('step %s of %s: %s%s', n, (SELECT count(*) FROM rekey.steps t WHERE t.run = s.run), what,
        CASE kind WHEN 'fill' THEN format(', %s of about %s rows', filled, rows) END)
    FROM rekey.steps s JOIN rekey.active_run USING (run) WHERE done_at IS NULL ORDER BY n LIMIT 1)
$$;

-- What the plan does not check: functions that name a carried column in their text, and slots
CREATE FUNCTION rekey.warnings() RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT format('function %s names %I and %s in its text', p.oid::regprocedure, old_name, table_name)
    FROM rekey.active_columns JOIN pg_class t ON t.oid = tbl, pg_proc p JOIN pg_language l ON l.oid = prolang AND lanname IN ('plpgsql', 'sql')
    WHERE prosqlbody IS NULL AND prosrc ~ ('\m' || old_name || '\M') AND prosrc ~ ('\m' || relname || '\M')
    AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'rekey'::regnamespace)
    UNION ALL SELECT DISTINCT format('trigger %s on %s fires for updates of the old column only, until rename or finish', tgname, table_name)
    FROM rekey.active_columns JOIN pg_trigger ON tgrelid = tbl AND attnum = ANY (tgattr) AND NOT tgisinternal
    UNION ALL SELECT format('logical replication slot %s: all written WAL is decoded', slot_name) FROM pg_replication_slots
    WHERE slot_type = 'logical' AND database = current_database()
$$;
COMMIT;
