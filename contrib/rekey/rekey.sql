-- rekey.sql: change the type of keys in use, and of all references to them; never a value.
--
-- A column C gets a mirror "C_rekey" of the new type, which is a cast of C in the same row. A trigger keeps both equal,
-- a CHECK constraint proves it, and "switch" exchanges the names in one short transaction. Each index and constraint X
-- with such a column gets a copy "X_rekey", whose comment is X's definition. Beside rekey.columns the catalog is the
-- only state: each command computes what is missing, so it can be repeated after any failure, also in a restored dump.
--
-- All functions have the rights of their caller, who must own the tables, and search_path = pg_catalog, which also
-- makes names of tables qualified. Only the fill has that of the role, because it can fire triggers of the tables.

\set ON_ERROR_STOP on
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
CREATE SCHEMA rekey;
COMMENT ON SCHEMA rekey IS 'Changes the types of keys in use';

CREATE TABLE rekey.columns (
    tbl regclass, col name, old_type text NOT NULL, new_type text NOT NULL, fire_triggers boolean NOT NULL,
    PRIMARY KEY (tbl, col)
);

CREATE FUNCTION rekey.copy_name(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(name) > 57 THEN md5(name) ELSE name END || '_rekey'
$$;

CREATE FUNCTION rekey.run_all(VARIADIC statements text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY coalesce(array_remove(statements, NULL), '{}') LOOP
        EXECUTE statement;
    END LOOP;
END $$;

-- The columns as they are now; attnum is NULL if one was dropped or renamed
CREATE VIEW rekey.pairs AS
SELECT r.*, col || '_rekey' AS mirror, format('%I', col) AS c, format('%I', col || '_rekey') AS m, a.attnum,
    m.attnum AS mirror_attnum, a.attnotnull AS is_required, type, type = new_type AS is_switched,
    CASE WHEN type = new_type THEN old_type ELSE new_type END AS mirror_type
FROM rekey.columns r LEFT JOIN pg_attribute a ON a.attrelid = tbl AND a.attname = col AND NOT a.attisdropped
LEFT JOIN pg_attribute m ON m.attrelid = tbl AND m.attname = col || '_rekey' AND NOT m.attisdropped,
LATERAL format_type(a.atttypid, a.atttypmod) AS type;

-- A function that this role made for the trigger. Others may create triggers with any function that they may execute.
CREATE FUNCTION rekey.is_sync(function oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT proname ~ '^~rekey_[0-9a-f-]{36}$' AND pg_get_userbyid(proowner) = current_user FROM pg_proc
    WHERE oid = function
$$;

-- Has the table the trigger, enabled ALWAYS?
CREATE FUNCTION rekey.has_trigger(t oid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t AND tgname = '~rekey' AND tgenabled = 'A')
$$;

-- The same value in another type; NULL beyond a narrower one
CREATE FUNCTION rekey.same(value text, type text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
SELECT CASE type WHEN 'bigint' THEN value || '::bigint'
    WHEN 'integer' THEN format('(CASE WHEN %1$s BETWEEN -2147483648 AND 2147483647 THEN %1$s END)::integer', value)
    WHEN 'smallint' THEN format('(CASE WHEN %1$s BETWEEN -32768 AND 32767 THEN %1$s END)::smallint', value)
    ELSE format('%s::text::%s', value, type) END
$$;

-- Is the mirror the column, cast? NULL in place of a value beyond the narrower type is not, nor a text in upper case in
-- place of a uuid's own.
CREATE FUNCTION rekey.equal(c text, m text, mirror_type text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT format('%1$s::%3$s IS NOT DISTINCT FROM %2$s::%3$s', c, m,
        CASE WHEN mirror_type = 'uuid' THEN 'text::uuid' WHEN mirror_type ~ 'int' THEN 'bigint' ELSE 'text' END)
$$;

-- The definition of an index from "USING" on, with its tablespace
CREATE FUNCTION rekey.index_part(index_oid oid) RETURNS text LANGUAGE sql STABLE AS $$
SELECT concat(left(part, length(part) - length(predicate)), ' TABLESPACE ' || quote_ident(spcname), predicate)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid LEFT JOIN pg_tablespace s ON s.oid = reltablespace, LATERAL (
    SELECT substr(pg_get_indexdef(indexrelid), 1 + length(format('CREATE %sINDEX %I ON %s ',
            CASE WHEN indisunique THEN 'UNIQUE ' END, relname, indrelid::regclass))),
        concat(' WHERE ' || pg_get_expr(indpred, indrelid))) AS d(part, predicate)
WHERE indexrelid = index_oid
$$;

-- An index, from "USING" on, or a CHECK constraint, for the mirrors. No text is edited: it is made in an empty table
-- that has the other types under the same names, which are then changed.
CREATE FUNCTION rekey.translate(target regclass, definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    translated text;
BEGIN
    EXECUTE format('CREATE TABLE rekey.translation (LIKE %s)', target);
    PERFORM rekey.run_all(
        CASE WHEN mirror_attnum > 0 THEN format('ALTER TABLE rekey.translation DROP COLUMN %s', m) END,
        format('ALTER TABLE rekey.translation ALTER %s TYPE %s USING NULL', c, mirror_type))
    FROM rekey.pairs WHERE tbl = target AND attnum > 0;
    EXECUTE CASE WHEN definition LIKE 'CHECK%' THEN 'ALTER TABLE rekey.translation ADD '
        ELSE 'CREATE INDEX ON rekey.translation ' END || definition;
    PERFORM rekey.run_all(format('ALTER TABLE rekey.translation RENAME %s TO %s', c, m))
    FROM rekey.pairs WHERE tbl = target AND attnum > 0;
    SELECT coalesce(rekey.index_part(indexrelid), pg_get_constraintdef(k.oid)) INTO translated FROM pg_class t
    LEFT JOIN pg_index ON indrelid = t.oid LEFT JOIN pg_constraint k ON conrelid = t.oid AND contype = 'c'
    WHERE t.oid = 'rekey.translation'::regclass;
    DROP TABLE rekey.translation;
    RETURN translated;
EXCEPTION WHEN OTHERS THEN
    RAISE '%: % (%)', target, sqlerrm, definition USING ERRCODE = sqlstate;
END $$;

-- What has such a column: p primary key, u unique, i index, c CHECK, f foreign key; and s, the proof that a mirror is
-- the same. With the comment of a copy that is up to date; is there one, and is it valid?
CREATE VIEW rekey.objects AS
WITH o(tbl, kind, obj, name, copy_name, source) AS (
    SELECT indrelid, coalesce(k.contype, 'i'), indexrelid, relname, rekey.copy_name(relname),
        concat_ws(' ', k.contype, CASE WHEN indisunique THEN 'UNIQUE' END, rekey.index_part(indexrelid))
    FROM pg_index JOIN pg_class x ON x.oid = indexrelid
    LEFT JOIN pg_constraint k ON conindid = indexrelid AND conrelid = indrelid AND contype IN ('p', 'u')
    WHERE EXISTS (SELECT FROM rekey.pairs WHERE tbl = indrelid
        AND (attnum = ANY (indkey) OR concat(indpred::text, indexprs::text) ~ format(':varattno %s ', attnum)))
    UNION ALL SELECT conrelid, contype, k.oid, conname, rekey.copy_name(conname), pg_get_constraintdef(k.oid)
    FROM pg_constraint k WHERE conparentid = 0 AND contype IN ('c', 'f') AND EXISTS (SELECT FROM rekey.pairs
        WHERE tbl = conrelid AND attnum = ANY (conkey) OR tbl = confrelid AND attnum = ANY (confkey))
    AND NOT EXISTS (SELECT FROM rekey.pairs
        WHERE tbl = conrelid AND mirror_attnum = ANY (conkey) OR tbl = confrelid AND mirror_attnum = ANY (confkey))
    UNION ALL SELECT tbl, 's', NULL, NULL, mirror || '_set',
        concat('equal', CASE WHEN is_required THEN ', NOT NULL' END)
    FROM rekey.pairs WHERE attnum > 0
)
SELECT o.*, t.relnamespace::regnamespace AS schema, k.oid AS copy_constraint, x.oid AS copy_index,
    coalesce(obj_description(k.oid, 'pg_constraint'), obj_description(x.oid, 'pg_class')) IS NOT DISTINCT FROM source
        AS is_current,
    coalesce(k.convalidated, i.indisvalid, false) AS is_valid
FROM (SELECT tbl::regclass AS tbl, kind, obj, name, copy_name, source FROM o) o JOIN pg_class t ON t.oid = o.tbl
LEFT JOIN pg_constraint k ON kind IN ('c', 'f', 's') AND k.conrelid = o.tbl AND k.conname = copy_name
LEFT JOIN (pg_index i JOIN pg_class x ON x.oid = i.indexrelid)
    ON kind IN ('p', 'u', 'i') AND i.indrelid = o.tbl AND x.relname = copy_name;

CREATE FUNCTION rekey.column_list(t oid, attnums int2[]) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT string_agg(coalesce(m, format('%I', attname)), ', ' ORDER BY i) FROM unnest(attnums) WITH ORDINALITY u(n, i)
    JOIN pg_attribute a ON attrelid = t AND a.attnum = n LEFT JOIN rekey.pairs p ON p.tbl = t AND p.attnum = n
$$;

-- The definition of a copy. That of a foreign key is checked at the commit, when the original has acted, and has no
-- action: a row would be updated twice, and its triggers fired.
CREATE FUNCTION rekey.copy_definition(o rekey.objects) RETURNS text LANGUAGE sql AS $$
SELECT CASE o.kind WHEN 's' THEN (SELECT format('CHECK (%s%s)', CASE WHEN is_required THEN m || ' IS NOT NULL AND ' END,
        rekey.equal(c, m, mirror_type)) FROM rekey.pairs p WHERE p.tbl = o.tbl AND mirror || '_set' = o.copy_name)
    WHEN 'c' THEN rekey.translate(o.tbl, o.source)
    WHEN 'f' THEN (SELECT format('FOREIGN KEY (%s) REFERENCES %s (%s) MATCH %s DEFERRABLE INITIALLY DEFERRED',
            rekey.column_list(conrelid, conkey), confrelid::regclass, rekey.column_list(confrelid, confkey),
            CASE confmatchtype WHEN 'f' THEN 'FULL' ELSE 'SIMPLE' END) FROM pg_constraint k WHERE k.oid = o.obj)
    ELSE rekey.translate(o.tbl, rekey.index_part(o.obj)) END
$$;

-- Views of the columns, directly or not, and whether "switch --views" would lose something of one
CREATE VIEW rekey.views AS
WITH RECURSIVE v(oid, depth) AS (
    SELECT ev_class, 1 FROM rekey.pairs LEFT JOIN pg_constraint k ON conrelid = tbl AND contype = 'p'
    JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = tbl AND refobjsubid = attnum
        OR refclassid = 'pg_constraint'::regclass AND refobjid = k.oid
    JOIN pg_rewrite r ON r.oid = objid AND classid = 'pg_rewrite'::regclass AND ev_class <> tbl
    UNION SELECT ev_class, depth + 1 FROM v JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = v.oid
    JOIN pg_rewrite r ON r.oid = objid AND classid = 'pg_rewrite'::regclass AND ev_class <> v.oid
)
SELECT c.oid::regclass AS name, relacl, format('CREATE VIEW %s%s AS %s', c.oid::regclass,
        ' WITH (' || array_to_string(reloptions, ', ') || ')', pg_get_viewdef(c.oid)) AS definition,
    row_number() OVER (ORDER BY depth DESC, oid) AS place, relkind <> 'v' OR relpersistence = 't'
    OR pg_get_userbyid(relowner) <> current_user OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid)
    OR EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid AND rulename <> '_RETURN')
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND (atthasdef OR attacl IS NOT NULL))
    OR EXISTS (SELECT FROM pg_description WHERE objoid = c.oid AND objsubid > 0)
    OR EXISTS (SELECT FROM pg_seclabel WHERE objoid = c.oid) AS by_hand
FROM (SELECT oid, max(depth) AS depth FROM v GROUP BY oid) d JOIN pg_class c USING (oid);

-- Triggers that the fill fires, and whether it could call a function of another role: the trigger's, or by a condition
-- that depends on anything but columns and what PostgreSQL itself has
CREATE VIEW rekey.fired AS
SELECT t.oid, tgrelid, tgname, pg_get_userbyid(proowner) <> current_user AND NOT rolsuper
    OR EXISTS (SELECT FROM pg_depend WHERE (classid, objid) = ('pg_trigger'::regclass, t.oid) AND tgqual IS NOT NULL
        AND refclassid <> 'pg_class'::regclass AND (refclassid, refobjid) <> ('pg_proc'::regclass, tgfoid))
    AS is_foreign
FROM pg_trigger t JOIN pg_proc f ON f.oid = tgfoid JOIN pg_roles r ON r.oid = proowner
WHERE NOT tgisinternal AND tgtype & 16 = 16
    AND (tgattr = '' OR EXISTS (SELECT FROM rekey.pairs WHERE tbl = tgrelid AND mirror_attnum = ANY (tgattr)))
    AND tgenabled IN ('A', CASE WHEN has_parameter_privilege('session_replication_role', 'SET') THEN 'R' ELSE 'O' END);

-- What would do harm, by name. What PostgreSQL itself refuses before anything is lost, such as an index that another
-- foreign key requires, is not here.
CREATE FUNCTION rekey.obstacles() RETURNS TABLE (obstacle text, object text) LANGUAGE sql STABLE AS $$
SELECT o, t.oid::regclass::text FROM pg_class t, LATERAL (VALUES
    -- functions of another role, in indexes and triggers, would have the rights of this one
    ('owner is not the role of the session, or is by SET ROLE of a superuser', pg_get_userbyid(relowner) <> current_user
        OR session_user <> current_user AND (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)),
    -- their children would have no trigger
    ('not an ordinary table', relkind <> 'r'),
    ('inheritance', EXISTS (SELECT FROM pg_inherits WHERE t.oid IN (inhrelid, inhparent))),
    -- a restored dump would have the old type
    ('extension', EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = t.oid
        AND deptype = 'e')),
    -- would read the old column, which is NULL beyond its type, and keep it from being dropped
    ('rule', EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid)),
    -- would be replaced
    ('trigger "~rekey" with another function', EXISTS (SELECT FROM pg_trigger
        WHERE tgrelid = t.oid AND tgname = '~rekey' AND NOT rekey.is_sync(tgfoid))),
    -- would stop: for want of the mirror, and with binary = true
    ('publication', EXISTS (SELECT FROM pg_publication_tables
        WHERE (schemaname, tablename) = (relnamespace::regnamespace::name, relname))),
    ('subscription', EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = t.oid)),
    -- finish would corrupt the index, and the constraint could refuse a row because its mirror is NULL
    ('whole row in an index or CHECK', EXISTS (SELECT FROM pg_index WHERE indrelid = t.oid
        AND concat(indpred::text, indexprs::text) ~ ':varattno 0 ') OR EXISTS (SELECT FROM pg_constraint
        WHERE conrelid = t.oid AND conbin::text ~ ':varattno 0 ')),
    -- would read NULL, because they have no mirror
    ('stored rows of the row type of', EXISTS (SELECT FROM pg_depend d JOIN pg_type y ON y.oid = reltype
        WHERE refclassid = 'pg_type'::regclass AND refobjid IN (y.oid, typarray) AND deptype = 'n'
        AND classid IN ('pg_class'::regclass, 'pg_type'::regclass)))) AS v(o, is_so)
WHERE is_so AND t.oid IN (SELECT tbl FROM rekey.columns)
UNION ALL SELECT o, format('%s.%s', tbl, c) FROM rekey.pairs, LATERAL (VALUES
    ('no such column (renamed or dropped: rename it back, or abandon)', attnum IS NULL),
    -- domains would lose their constraints
    ('type of column', type NOT IN (old_type, new_type) OR old_type !~ CASE new_type
        WHEN 'uuid' THEN '^(text|character varying(\(\d+\))?|character\(\d+\))$' ELSE '^(smallint|integer)$' END),
    ('changed by hand (abandon)', is_switched <> (SELECT bool_and(is_switched) FROM rekey.pairs)),
    -- but one, and labels would be lost
    ('several sequences of', 1 < (SELECT count(*) FROM pg_depend JOIN pg_class s ON s.oid = objid AND relkind = 'S'
        WHERE (classid, refclassid) = ('pg_class'::regclass, 'pg_class'::regclass) AND refobjid = tbl
        AND refobjsubid = attnum)),
    ('security label', EXISTS (SELECT FROM pg_seclabel WHERE objoid = tbl AND objsubid = attnum)),
    ('name in use, or too long', octet_length(col) > 50 OR mirror_attnum > 0
        AND col_description(tbl, mirror_attnum) IS DISTINCT FROM 'rekey')) AS v(o, is_so) WHERE is_so
UNION ALL SELECT o, format('%s: %s', tbl, conname)
FROM rekey.objects JOIN pg_constraint k ON k.oid = obj OR conindid = obj AND contype IN ('p', 'u', 'x'), LATERAL (VALUES
    ('table of another role', EXISTS (SELECT FROM pg_class c WHERE c.oid IN (conrelid, confrelid)
        AND pg_get_userbyid(relowner) <> current_user)),
    -- would be checked at once
    ('deferrable unique constraint', contype IN ('p', 'u') AND condeferrable),
    ('exclusion constraint', contype = 'x'),
    ('foreign key of a partitioned table', 'p' IN (SELECT relkind FROM pg_class c
        WHERE c.oid IN (conrelid, confrelid))),
    -- would be enforced
    ('constraint that is not enforced', to_jsonb(k) @> '{"conenforced": false}' OR contype = 'f'
        AND EXISTS (SELECT FROM pg_trigger WHERE tgconstraint = k.oid AND tgenabled <> 'O'))) AS v(o, is_so) WHERE is_so
UNION ALL SELECT o, format('%s: %s', tgrelid::regclass, tgname) FROM pg_trigger t JOIN pg_proc f ON f.oid = tgfoid,
LATERAL (VALUES
    -- could change the column, but not the mirror
    ('trigger that fires after "~rekey"', tgname > '~rekey' AND tgtype & 3 = 3),
    -- would fail, because there is one column more
    ('trigger whose function copies whole rows', prosrc ~* '\m(new|old)(\.\*|\)\s*\.\*)'),
    ('trigger that the fill would fire (--fire-triggers, or GRANT SET ON PARAMETER session_replication_role)',
        NOT (SELECT bool_or(fire_triggers) FROM rekey.columns) AND t.oid IN (SELECT oid FROM rekey.fired)))
    AS v(o, is_so)
WHERE is_so AND NOT tgisinternal AND tgname <> '~rekey' AND tgrelid IN (SELECT tbl FROM rekey.columns)
-- would outlive what it copies
UNION ALL SELECT 'index or constraint of a mirror without its original (drop it, too)', format('%s: %s', x.tbl, x.name)
FROM rekey.pairs p, LATERAL (
    SELECT indrelid::regclass, relname FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = p.tbl AND
        (mirror_attnum = ANY (indkey) OR concat(indpred::text, indexprs::text) ~ format(':varattno %s ', mirror_attnum))
    UNION ALL SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype IN ('c', 'f') AND conparentid = 0
        AND (conrelid = p.tbl AND mirror_attnum = ANY (conkey) OR confrelid = p.tbl AND mirror_attnum = ANY (confkey)))
    AS x(tbl, name)
WHERE (x.tbl, x.name) NOT IN (SELECT tbl, copy_name FROM rekey.objects)
-- all that depends on a column, but for what is carried: would keep the old column, and be lost with it
UNION ALL SELECT 'dependent object', format('%s (%s.%s)', pg_describe_object(classid, objid, objsubid), tbl, c)
FROM rekey.pairs JOIN pg_depend d ON refclassid = 'pg_class'::regclass AND refobjid = tbl AND refobjsubid = attnum
WHERE CASE classid WHEN 'pg_constraint'::regclass
        THEN NOT EXISTS (SELECT FROM pg_constraint WHERE oid = objid AND contype IN ('p', 'u', 'c', 'f', 'n'))
    WHEN 'pg_class'::regclass THEN NOT EXISTS (SELECT FROM pg_class x WHERE x.oid = objid AND relkind IN ('i', 'S'))
    WHEN 'pg_attrdef'::regclass THEN NOT EXISTS (SELECT FROM pg_attrdef a WHERE a.oid = objid AND adrelid = tbl
        AND adnum = attnum)
    ELSE classid NOT IN ('pg_trigger'::regclass, 'pg_rewrite'::regclass) END
$$;

-- Views are obstacles at the switch only, and with consent only those that would lose something
CREATE FUNCTION rekey.check_obstacles(with_views boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    problems text := (SELECT string_agg(DISTINCT obstacle || ': ' || object, E'\n') FROM (
        SELECT * FROM rekey.obstacles()
        UNION ALL SELECT CASE WHEN by_hand THEN 'view to be dropped by hand' ELSE 'view (--views)' END, name::text
        FROM rekey.views WHERE by_hand AND with_views OR NOT with_views) AS o);
BEGIN
    IF problems <> '' THEN
        RAISE 'these keys cannot be changed' USING DETAIL = problems, ERRCODE = 'feature_not_supported';
    END IF;
END $$;

-- Functions that name the tables, or are their triggers. A regular expression is slow: not while tables are locked.
CREATE FUNCTION rekey.functions() RETURNS TABLE (function oid, tbl regclass) LANGUAGE sql STABLE AS $$
SELECT f.oid, c.tbl FROM (SELECT tbl, relname, format('\m%s\M', regexp_replace(relname, '(\W)', '\\\1', 'g')) AS word
    FROM rekey.columns JOIN pg_class ON pg_class.oid = tbl GROUP BY 1, 2) AS c,
    pg_proc f JOIN pg_language l ON l.oid = prolang
WHERE lanname IN ('plpgsql', 'sql') AND pronamespace NOT IN (SELECT oid FROM pg_namespace
        WHERE nspname IN ('pg_catalog', 'information_schema', 'rekey'))
    AND CASE WHEN strpos(prosrc, relname) > 0 THEN prosrc ~ word ELSE false END
UNION SELECT tgfoid, tgrelid FROM pg_trigger WHERE NOT tgisinternal AND tgname <> '~rekey'
    AND tgrelid IN (SELECT tbl FROM rekey.columns)
$$;

-- What the application and its administrator must know
CREATE FUNCTION rekey.advice() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    statements text := (SELECT format('SELECT query FROM %s.pg_stat_statements JOIN pg_database d ON d.oid = dbid '
        'AND datname = current_database()', extnamespace::regnamespace)
        FROM pg_extension WHERE extname = 'pg_stat_statements');
BEGIN
    RETURN QUERY SELECT format(
        '%s: %s; about %s rows; heap %s, up to twice that; %s indexes to build, %s; WAL about %s',
        p.tbl, string_agg(format('%s %s -> %s', c, old_type, new_type), ', ' ORDER BY attnum),
        greatest(reltuples, 0)::bigint, pg_size_pretty(heap), n, pg_size_pretty(bytes),
        pg_size_pretty(3 * heap + bytes))
    FROM rekey.pairs p JOIN pg_class k ON k.oid = p.tbl, LATERAL (SELECT count(*) AS n, pg_relation_size(p.tbl) AS heap,
        coalesce(sum(pg_relation_size(obj)), 0)::bigint AS bytes
        FROM rekey.objects o WHERE o.tbl = p.tbl AND kind IN ('p', 'u', 'i')) i
    GROUP BY p.tbl, reltuples, heap, n, bytes ORDER BY p.tbl;
    RETURN NEXT 'After the switch, these columns are the last ones of their tables. INSERT and COPY without column '
        'names then fail, and after finish they STORE OTHER COLUMNS.';
    BEGIN
        IF statements IS NULL THEN
            RAISE 'the extension pg_stat_statements is not there';
        END IF;
        RETURN QUERY EXECUTE format($f$SELECT DISTINCT 'Without column names: ' || left(query, 200)
            FROM (%s) s, rekey.columns JOIN pg_class c ON c.oid = tbl
            WHERE query ~* format('(insert\s+into|copy)\s+([\w"]+\.)?"?%%s"?\s+(as\s+\w+\s+)?'
                '(overriding|values|select|table|with|from)\M', regexp_replace(relname, '(\W)', '\\\1', 'g'))$f$,
            statements);
    EXCEPTION WHEN OTHERS THEN
        RETURN NEXT format('Such statements of the applications are not known: %s.', sqlerrm);
    END;
    RETURN NEXT 'At the switch, statements that a client prepared by name fail (0A000, 42883) until it connects again; '
        'behind PgBouncer, until RECONNECT.';
    RETURN QUERY SELECT DISTINCT CASE new_type WHEN 'uuid'
        THEN 'Parameters of type text fail (42883): leave their type open (JDBC: stringtype=unspecified). '
            'LIKE does not work on uuid.'
        ELSE 'node-pg gives bigint as a string; an int of Java, C# or Go overflows.' END FROM rekey.columns;
    RETURN QUERY SELECT format('Sequence %s has used %s %% of %s.', seq,
        round(100.0 * coalesce(pg_sequence_last_value(seq::regclass), 0)
        / CASE type WHEN 'smallint' THEN 32767 ELSE 2147483647 END, 1), type)
    FROM rekey.pairs, pg_get_serial_sequence(tbl::text, col) AS seq WHERE new_type <> 'uuid' AND seq <> '';
    RETURN QUERY SELECT format(
        'Function %s names %s, or is its trigger: it must suit the new type, and one column more.%s',
        function::regprocedure, f.tbl, CASE WHEN NOT pg_has_role(proowner, 'USAGE') THEN
        ' Another role owns it: after the switch, its sessions connect again.' END)
    FROM rekey.functions() f JOIN pg_proc p ON p.oid = function;
    RETURN QUERY SELECT DISTINCT
        format('A reference without a foreign key? Name it, too: %s.%I', attrelid::regclass, attname)
    FROM rekey.pairs JOIN pg_class p ON p.oid = tbl,
        pg_attribute a JOIN pg_class t ON t.oid = attrelid AND relkind = 'r'
    WHERE a.attnum > 0 AND NOT attisdropped AND format_type(atttypid, NULL) = regexp_replace(type, '\(.*', '')
    AND attname = CASE WHEN col = 'id' THEN regexp_replace(p.relname, 's$', '') || '_id' ELSE col END
    AND (attrelid, attname) NOT IN (SELECT tbl, col FROM rekey.columns) AND pg_get_userbyid(t.relowner) = current_user;
    RETURN QUERY SELECT CASE WHEN by_hand THEN format('Before the switch, drop view %s by hand.', name)
        ELSE format(E'Before the switch, or by switch --views:\nDROP VIEW %s; and then\n%s', name, definition) END
    FROM rekey.views ORDER BY place;
END $$;

-- One command at a time, until the session ends; tables that were dropped are forgotten
CREATE FUNCTION rekey.begin_command() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE NOT pg_try_advisory_lock(hashtext('rekey'), 0) LOOP
        -- the session of the command before may not have ended yet
        IF clock_timestamp() > statement_timestamp() + interval '5 s' THEN
            RAISE 'another process works: %', (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
                AND objsubid = 2 AND classid = hashtext('rekey')::oid LIMIT 1);
        END IF;
        PERFORM pg_sleep(0.1);
    END LOOP;
    DELETE FROM rekey.columns WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = tbl);
END $$;

-- Take columns, and all that refer to them, directly or not. Again, it takes what has been added.
CREATE FUNCTION rekey.plan(tables regclass[], cols name[], to_type regtype, fire boolean) RETURNS SETOF text
    LANGUAGE plpgsql AS $$
DECLARE
    narrower oid[] := CASE to_type WHEN 'int8'::regtype THEN '{int2,int4}'::regtype[]
        WHEN 'int4'::regtype THEN '{int2}'::regtype[]
        WHEN 'uuid'::regtype THEN '{text,varchar,bpchar}'::regtype[] ELSE '{}'::regtype[] END;
    problems text;
    search text;
    bad bigint;
BEGIN
    IF narrower = '{}' THEN
        RAISE 'keys are not changed to %', to_type USING ERRCODE = 'feature_not_supported',
            HINT = 'Only to integer, bigint and, from text, uuid: the values stay.';
    END IF;
    PERFORM rekey.begin_command();
    IF EXISTS (SELECT FROM rekey.pairs WHERE is_switched) THEN
        RAISE 'a change is switched' USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Now: finish, or back.';
    END IF;
    INSERT INTO rekey.columns
    WITH RECURSIVE c(tbl, attnum) AS (
        SELECT attrelid, attnum FROM unnest(tables, cols) AS t(tbl, col)
        JOIN pg_attribute ON (attrelid, attname) = (t.tbl, t.col) AND NOT attisdropped
        UNION SELECT CASE WHEN down THEN conrelid ELSE confrelid END, CASE WHEN down THEN conkey[i] ELSE confkey[i] END
        FROM c, (VALUES (true), (false)) AS v(down), pg_constraint f, generate_subscripts(conkey, 1) i
        WHERE contype = 'f' AND conparentid = 0 AND (down AND (confrelid, confkey[i]) = (c.tbl, c.attnum)
            OR NOT down AND to_type = 'uuid'::regtype AND (conrelid, conkey[i]) = (c.tbl, c.attnum))
    )
    SELECT c.tbl, attname, format_type(atttypid, atttypmod), format_type(to_type, NULL), fire
    FROM c JOIN pg_attribute a ON attrelid = c.tbl AND a.attnum = c.attnum JOIN pg_type t ON t.oid = atttypid
    WHERE atttypid = ANY (narrower) OR to_type = 'uuid'::regtype OR typtype = 'd'
    ON CONFLICT (tbl, col) DO UPDATE SET fire_triggers = excluded.fire_triggers;
    SELECT string_agg(format('%s.%I', t.tbl, t.col), ', ') INTO problems FROM unnest(tables, cols) AS t(tbl, col)
    WHERE (t.tbl, t.col) NOT IN (SELECT c.tbl, c.col FROM rekey.columns c WHERE new_type = format_type(to_type, NULL));
    IF problems <> '' THEN
        RAISE 'no such column, another type is planned, or its type cannot become %: %', to_type, problems
            USING ERRCODE = 'undefined_column';
    END IF;
    PERFORM rekey.check_obstacles(NULL);
    SELECT string_agg(DISTINCT copy_name, ', ') INTO problems FROM rekey.objects WHERE NOT is_current
    AND (copy_constraint > 0 OR kind IN ('p', 'u', 'i')
        AND copy_name IN (SELECT relname FROM pg_class WHERE relnamespace = schema));
    IF problems <> '' THEN
        RAISE 'name in use: %', problems USING ERRCODE = 'duplicate_object';
    END IF;
    PERFORM rekey.copy_definition(o) FROM rekey.objects o;    -- raises what cannot be made
    FOR search IN SELECT format('FROM ONLY %s WHERE %s::text !~ %L', tbl, c,
        '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
            FROM rekey.pairs WHERE new_type = 'uuid' LOOP
        EXECUTE 'SELECT count(*) ' || search INTO bad;
        IF bad > 0 THEN
            RAISE '% values are not uuids in lower case with hyphens', bad
                USING ERRCODE = 'invalid_text_representation',
                HINT = 'SELECT * ' || search;
        END IF;
    END LOOP;
    RETURN QUERY SELECT rekey.advice();
END $$;

-- The mirror follows the column, never the reverse: who updates a mirror can have a whole row from before the fill. The
-- function is in the table's schema, so that DROP SCHEMA rekey leaves a table that can be written. The condition, which
-- is true, keeps DROP COLUMN and ALTER TYPE from the columns.
CREATE FUNCTION rekey.write_sync(target regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old regproc := (SELECT tgfoid FROM pg_trigger WHERE tgrelid = target AND tgname = '~rekey'
        AND rekey.is_sync(tgfoid));
    function text := (SELECT format('%s.%I', coalesce(pronamespace, relnamespace)::regnamespace,
        coalesce(proname, '~rekey_' || gen_random_uuid()))
        FROM pg_class c LEFT JOIN pg_proc f ON f.oid = old WHERE c.oid = target);
BEGIN
    EXECUTE format('CREATE %s FUNCTION %s() RETURNS trigger LANGUAGE plpgsql '
        'SET search_path = pg_catalog, pg_temp AS %L',
        CASE WHEN old IS NOT NULL THEN 'OR REPLACE' END, function, (SELECT E'\nBEGIN' || string_agg(format($f$
    IF TG_OP = 'INSERT' AND NEW.%2$s IS DISTINCT FROM %3$s AND NEW.%2$s IS NOT NULL THEN
        RAISE USING MESSAGE = %4$L, ERRCODE = 'invalid_parameter_value', SCHEMA = TG_TABLE_SCHEMA,
            TABLE = TG_TABLE_NAME;
    END IF;
    NEW.%2$s := %3$s;$f$, c, m, rekey.same('NEW.' || c, mirror_type),
            format('column %s belongs to rekey: INSERT and COPY must name their columns', m)), '')
        FROM rekey.pairs WHERE tbl = target AND attnum > 0 AND mirror_attnum > 0) || $f$
    RETURN NEW;
END$f$);
    PERFORM rekey.run_all(format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', function),
        format('DROP TRIGGER IF EXISTS "~rekey" ON %s', target),
        format('CREATE TRIGGER "~rekey" BEFORE INSERT OR UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()',
            target,
            (SELECT string_agg(format('(NEW.%s IS NULL) IS NOT NULL AND (NEW.%s IS NULL) IS NOT NULL', c, m), ' AND ')
            FROM rekey.pairs WHERE tbl = target AND attnum > 0 AND mirror_attnum > 0), function),
        format('ALTER TABLE %s ENABLE ALWAYS TRIGGER "~rekey"', target));
END $$;

CREATE FUNCTION rekey.add_mirrors(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM rekey.run_all(format('ALTER TABLE %s ADD %s %s', target, m, mirror_type),
        format('COMMENT ON COLUMN %s.%s IS %L', target, m, 'rekey'))
    FROM (SELECT * FROM rekey.pairs WHERE tbl = target AND mirror_attnum IS NULL ORDER BY attnum) AS p;
    -- to those who may SELECT the column, for SELECT *
    PERFORM rekey.set_acl(target, mirror, (SELECT array_agg(makeaclitem(grantee, grantor, 'SELECT', false))
        FROM pg_attribute a, aclexplode(attacl) WHERE attrelid = target AND a.attnum = p.attnum
        AND privilege_type = 'SELECT')) FROM rekey.pairs p WHERE tbl = target AND attnum > 0;
    PERFORM rekey.write_sync(target);
END $$;

-- Give a column, or what was made again, these privileges and no others, such as default privileges
CREATE FUNCTION rekey.set_acl(target regclass, part name, acl aclitem[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    what text := (SELECT format('%s ON %s%s ', ' (' || quote_ident(part) || ')',
        CASE relkind WHEN 'S' THEN 'SEQUENCE ' END, target) FROM pg_class WHERE oid = target);
BEGIN
    -- '{}' is no list for aclexplode()
    acl := CASE cardinality(acl) WHEN 0 THEN ARRAY[('=/' || quote_ident(current_user))::aclitem] ELSE acl END;
    -- would become the owner's, and outlive a REVOKE ... CASCADE
    IF EXISTS (SELECT FROM aclexplode(acl) JOIN pg_class c ON c.oid = target WHERE grantor <> relowner) THEN
        RAISE 'privileges of % were granted by another role', target USING ERRCODE = 'feature_not_supported';
    END IF;
    PERFORM rekey.run_all(VARIADIC array_agg(CASE WHEN is_new THEN concat('GRANT ', privilege_type, what, 'TO ', role,
        CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)
        ELSE concat('REVOKE ALL', what, 'FROM ', role, ' CASCADE') END ORDER BY is_new))
    FROM pg_class c LEFT JOIN pg_attribute ON attrelid = c.oid AND attname = part,
    LATERAL (SELECT CASE WHEN part IS NULL THEN acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char",
        relowner) END) d(default_acl),
    LATERAL (VALUES (false, CASE WHEN part IS NULL THEN relacl ELSE attacl END), (true, acl)) v(is_new, list),
    LATERAL (SELECT *, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
        FROM aclexplode(coalesce(list, default_acl))) g WHERE c.oid = target;
END $$;

-- A default of the other type, with a cast only if it requires one
CREATE FUNCTION rekey.set_default(target regclass, c text, expression text, type text) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER %s SET DEFAULT ', target, c) || expression;
EXCEPTION WHEN datatype_mismatch THEN
    EXECUTE format('ALTER TABLE %s ALTER %s SET DEFAULT (%s)::text::%s', target, c, expression, type);
END $$;

-- What the switch lacks: triggers that always fire, copies, or the end of a standby's snapshot from before the fill
CREATE VIEW rekey.missing AS
SELECT DISTINCT format('trigger of %s', tbl) AS what FROM rekey.pairs WHERE mirror_attnum IS NULL
    OR NOT rekey.has_trigger(tbl)
UNION ALL SELECT format('copy of %s on %s', coalesce(name, copy_name), tbl) FROM rekey.objects
WHERE NOT (is_current AND is_valid)
UNION ALL SELECT DISTINCT format('%s has a snapshot that is older than the fill', s.name) FROM rekey.columns c,
    (SELECT slot_name, xmin FROM pg_replication_slots
    UNION ALL SELECT application_name, backend_xmin FROM pg_stat_replication) AS s(name, xmin)
WHERE age(s.xmin) > age(c.xmin);

-- The statements that are missing until a switch
CREATE FUNCTION rekey.todo() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT format('CALL rekey.locked(%L, %L)', ARRAY[tbl]::oid[],
        format('SELECT rekey.add_mirrors(%L)', tbl))
    FROM rekey.pairs GROUP BY tbl HAVING bool_or(mirror_attnum IS NULL) OR NOT rekey.has_trigger(tbl);
    RETURN QUERY SELECT DISTINCT format('CALL rekey.fill(%L)', tbl) FROM rekey.columns;
    -- the build of an index waits until no snapshot remains that has seen a row without its mirror
    RETURN QUERY VALUES ('DROP INDEX IF EXISTS rekey.snapshots'),
        ('CREATE INDEX CONCURRENTLY snapshots ON rekey.columns (tbl)');
    RETURN QUERY SELECT DISTINCT format('VACUUM (ANALYZE, TRUNCATE false) %s', tbl) FROM rekey.columns c
    WHERE NOT EXISTS (SELECT FROM rekey.objects o WHERE o.tbl = c.tbl AND is_current);
    RETURN QUERY SELECT unnest(ARRAY[
        CASE WHEN copy_index > 0 THEN format('DROP INDEX CONCURRENTLY %s', copy_index::regclass) END,
        format('CREATE %sINDEX CONCURRENTLY %I ON %s %s', CASE WHEN indisunique THEN 'UNIQUE ' END, copy_name, tbl,
            rekey.copy_definition(o)), format('COMMENT ON INDEX %s.%I IS %L', schema, copy_name, source)])
    FROM rekey.objects o JOIN pg_index ON indexrelid = obj
    WHERE kind IN ('p', 'u', 'i') AND NOT (is_current AND is_valid);
    RETURN QUERY SELECT format('CALL rekey.locked(%L, %L)',
        array_remove(ARRAY[tbl, (SELECT confrelid FROM pg_constraint WHERE oid = obj AND kind = 'f')]::oid[], NULL),
        format('ALTER TABLE %s %s ADD CONSTRAINT %I %s NOT VALID; COMMENT ON CONSTRAINT %3$I ON %1$s IS %5$L',
            tbl, CASE WHEN copy_constraint > 0 THEN format('DROP CONSTRAINT %I,', copy_name) END,
            copy_name, rekey.copy_definition(o), source))
    FROM rekey.objects o WHERE kind IN ('c', 'f', 's') AND NOT is_current ORDER BY kind = 'f', tbl, copy_name;
    RETURN QUERY SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', tbl, copy_name) FROM rekey.objects
    WHERE kind IN ('c', 'f', 's') AND NOT (is_current AND is_valid) ORDER BY kind = 'f', tbl, copy_name;
END $$;

-- Exchange each column and its mirror, in one transaction, under locks; "todo" ends with the new names
CREATE FUNCTION rekey.exchange(with_views boolean, functions oid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    problems text := (SELECT string_agg(what, E'\n') FROM rekey.missing);
    todo text[];
    after text[];
    p record;
    seq record;
    v record;
BEGIN
    PERFORM rekey.check_obstacles(with_views);
    IF problems <> '' THEN
        RAISE 'not complete: repeat the command' USING DETAIL = problems, ERRCODE = 'object_not_in_prerequisite_state';
    END IF;

    -- triggers of the columns
    SELECT array_agg(format('DROP TRIGGER %I ON %s', tgname, t)), array_agg(concat_ws('; ', pg_get_triggerdef(g.oid),
        'ALTER TABLE ' || t || CASE tgenabled WHEN 'D' THEN ' DISABLE' WHEN 'A' THEN ' ENABLE ALWAYS'
            WHEN 'R' THEN ' ENABLE REPLICA' ELSE ' ENABLE' END || format(' TRIGGER %I', tgname),
        format('COMMENT ON TRIGGER %I ON %s IS %L', tgname, t, obj_description(g.oid, 'pg_trigger'))))
    INTO todo, after FROM pg_trigger g, LATERAL CAST(tgrelid::regclass AS text) AS t
    WHERE NOT tgisinternal AND tgname <> '~rekey' AND EXISTS (SELECT FROM rekey.pairs WHERE tbl = tgrelid
        AND (attnum = ANY (tgattr) OR tgqual::text ~ format(':varattno (%s|0) ', attnum)));
    -- indexes and constraints
    SELECT todo || array_agg(CASE WHEN kind = 'i' THEN format('DROP INDEX %s', obj::regclass)
            ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', tbl, o.name) END ORDER BY kind <> 'f')
            FILTER (WHERE kind <> 's'),
        after || array_agg(concat_ws('; ',
            CASE kind WHEN 'c' THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tbl, copy_name, o.name)
                WHEN 'f' THEN format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I %s NOT VALID', tbl,
                    copy_name, o.name, regexp_replace(source, ' NOT VALID$', ''))
                ELSE format('ALTER INDEX %s RENAME TO %I', copy_index::regclass, o.name) END,
            CASE WHEN kind IN ('p', 'u') THEN format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %2$I',
                tbl, o.name, CASE kind WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END) END,
            CASE WHEN kind IN ('p', 'u', 'i') THEN format('COMMENT ON INDEX %s.%I IS %L', schema, o.name,
                obj_description(obj, 'pg_class')) END,
            CASE WHEN kind <> 'i' THEN format('COMMENT ON CONSTRAINT %I ON %s IS %L', o.name, tbl,
                obj_description(k.oid, 'pg_constraint')) END,
            CASE WHEN indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', tbl, o.name) END,
            CASE WHEN indisreplident THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', tbl, o.name) END)
            ORDER BY kind = 'f', kind, obj) FILTER (WHERE kind <> 's')
    INTO todo, after FROM rekey.objects o LEFT JOIN pg_constraint k ON k.oid = obj OR conindid = obj
        AND contype IN ('p', 'u')
    LEFT JOIN pg_index ON indexrelid = obj;

    FOR p IN SELECT r.*, attidentity, attacl, attoptions, to_jsonb(a) ->> 'attstattarget' AS target,
            d.oid AS default_oid, pg_get_expr(adbin, adrelid) AS expression,
            col_description(tbl, r.attnum) AS description, conname AS not_null,
            obj_description(n.oid, 'pg_constraint') AS of_not_null,
            pg_get_serial_sequence(tbl::text, col)::regclass AS owned
        FROM rekey.pairs r JOIN pg_attribute a ON attrelid = tbl AND a.attnum = r.attnum
        LEFT JOIN pg_attrdef d ON adrelid = tbl AND adnum = r.attnum
        LEFT JOIN pg_constraint n ON conrelid = tbl AND contype = 'n' AND conkey = ARRAY[r.attnum] LOOP
        PERFORM rekey.set_acl(p.tbl, p.mirror, p.attacl);
        after := after || ARRAY[format('COMMENT ON COLUMN %s.%s IS %L', p.tbl, p.c, p.description),
            format('COMMENT ON COLUMN %s.%s IS %L', p.tbl, p.m, 'rekey'),
            format('ALTER TABLE %s ALTER %s SET STATISTICS %s', p.tbl, p.c, coalesce(p.target, '-1')),
            format('ALTER TABLE %s ALTER %s SET ', p.tbl, p.c) || '(' || array_to_string(p.attoptions, ', ') || ')'];
        IF p.attidentity <> '' THEN    -- a sequence is made again, with its value: the lock keeps others from nextval()
            EXECUTE format('ALTER SEQUENCE %s AS %s', p.owned, p.mirror_type);
            SELECT s.*, relacl INTO seq FROM pg_class c JOIN pg_sequence s ON seqrelid = c.oid WHERE c.oid = p.owned;
            EXECUTE format('SELECT last_value, is_called FROM %s', p.owned) INTO v;
            todo := todo || format('ALTER TABLE %s ALTER %s DROP IDENTITY', p.tbl, p.c);
            after := after || ARRAY[format('ALTER TABLE %s ALTER %s ADD GENERATED %s AS IDENTITY '
                '(SEQUENCE NAME %s INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s %s CYCLE)', p.tbl, p.c,
                CASE p.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, p.owned, seq.seqincrement,
                seq.seqmin, seq.seqmax, seq.seqstart, seq.seqcache, CASE WHEN NOT seq.seqcycle THEN 'NO' END),
                format('SELECT setval(%L, %s, %L)', p.owned, v.last_value, v.is_called),
                format('COMMENT ON SEQUENCE %s IS %L', p.owned, obj_description(p.owned, 'pg_class')),
                format('SELECT rekey.set_acl(%L, NULL, %L)', p.owned::text, seq.relacl)];
        ELSE    -- the sequences of the default, owned or not, become wider; back, only the owned one narrower
            after := after || (SELECT array_agg(format('ALTER SEQUENCE %s AS %s', seqrelid::regclass, p.mirror_type))
                FROM pg_sequence WHERE p.new_type <> 'uuid' AND CASE WHEN p.is_switched THEN seqrelid = p.owned
                ELSE seqtypid <> 'int8'::regtype AND (seqrelid = p.owned OR seqrelid IN (SELECT refobjid
                    FROM pg_depend WHERE (classid, objid) = ('pg_attrdef'::regclass, p.default_oid))) END);
            todo := todo || ARRAY[
                CASE WHEN p.owned > 0 THEN format('ALTER SEQUENCE %s OWNED BY %s.%s', p.owned, p.tbl, p.m) END,
                format('ALTER TABLE %s ALTER %s DROP DEFAULT', p.tbl, p.c)];
            after := after || CASE WHEN p.expression <> '' THEN format('SELECT rekey.set_default(%L, %L, %L, %L)',
                p.tbl, p.c, p.expression, p.mirror_type) END;
        END IF;
        todo := todo || ARRAY[format('ALTER TABLE %s ALTER %s DROP NOT NULL', p.tbl, p.c),
            CASE WHEN p.not_null <> '' THEN format('ALTER TABLE %1$s ADD CONSTRAINT %2$I NOT NULL %3$s; '
                    'COMMENT ON CONSTRAINT %2$I ON %1$s IS %4$L', p.tbl, p.not_null, p.m, p.of_not_null)
                WHEN p.is_required THEN format('ALTER TABLE %s ALTER %s SET NOT NULL', p.tbl, p.m) END,
            format('ALTER TABLE %s DROP CONSTRAINT %I', p.tbl, p.mirror || '_set'),
            format('ALTER TABLE %s RENAME %s TO "~rekey"', p.tbl, p.c),
            format('ALTER TABLE %s RENAME %s TO %s', p.tbl, p.m, p.c),
            format('ALTER TABLE %s RENAME "~rekey" TO %s', p.tbl, p.m)];
    END LOOP;
    SELECT array_agg(format('DROP VIEW %s', name) ORDER BY place) || todo, after || array_agg(concat_ws('; ',
        rtrim(definition, ';'),
        format('COMMENT ON VIEW %s IS %L', name, obj_description(name, 'pg_class')),
        format('SELECT rekey.set_acl(%L, NULL, %L)', name::text, relacl)) ORDER BY place DESC)
    INTO todo, after FROM rekey.views;
    PERFORM rekey.run_all(VARIADIC todo || after);
    PERFORM rekey.write_sync(tbl) FROM (SELECT DISTINCT tbl FROM rekey.columns) AS t;
    -- sessions forget the plans of functions
    PERFORM rekey.run_all(format('ALTER FUNCTION %s COST %s', f.oid::regprocedure, procost))
    FROM pg_proc f JOIN pg_language l ON l.oid = prolang AND lanname = 'plpgsql'
    WHERE f.oid = ANY (functions) AND prokind = 'f' AND pg_has_role(proowner, 'USAGE');
END $$;

-- After a switch, or to give up before it: the mirrors go, with the rest
CREATE FUNCTION rekey.end_change() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname))
    FROM pg_constraint WHERE contype = 'f' AND conparentid = 0 AND EXISTS (SELECT FROM rekey.pairs
        WHERE tbl = conrelid AND mirror_attnum = ANY (conkey) OR tbl = confrelid AND mirror_attnum = ANY (confkey));
    PERFORM rekey.run_all(format('DROP TRIGGER "~rekey" ON %s', tgrelid::regclass))
    FROM pg_trigger WHERE tgname = '~rekey' AND tgrelid IN (SELECT tbl FROM rekey.columns);
    -- also those whose trigger was dropped by hand
    PERFORM rekey.run_all(format('DROP FUNCTION %s', f.oid::regprocedure)) FROM pg_proc f
    WHERE proname LIKE '~rekey%' AND rekey.is_sync(f.oid)
    AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = f.oid);
    PERFORM rekey.run_all(format('ALTER TABLE %s DROP COLUMN %s', tbl, m)) FROM rekey.pairs WHERE mirror_attnum > 0;
    DELETE FROM rekey.columns;
    DROP INDEX IF EXISTS rekey.snapshots;
END $$;

CREATE FUNCTION rekey.holders(tables oid[]) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(DISTINCT CASE WHEN pid IS NULL THEN 'a prepared transaction (pg_prepared_xacts)'
        ELSE format('process %s (%s, %s, transaction of %s): %s', pid, coalesce(usename, backend_type),
            coalesce(state, 'state hidden'),
            coalesce(date_trunc('ms', clock_timestamp() - xact_start)::text, 'unknown age'),
            left(query, 100)) END, '; '), 'none now')
    FROM pg_locks l LEFT JOIN pg_stat_activity USING (pid)
    JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
    WHERE relation = ANY (tables) AND granted AND pid IS DISTINCT FROM pg_backend_pid() AND locktype = 'relation'
$$;

-- A statement under ACCESS EXCLUSIVE locks, for which an attempt waits at most 50 ms, and 5 for each table. The weaker
-- lock before stops no application; behind it, autovacuum gives way. Views are locked first, as by their readers, by a
-- statement that changes nothing: LOCK would lock their tables, too, for which the role may have no right.
CREATE PROCEDURE rekey.locked(tables oid[], statement text) LANGUAGE plpgsql AS $$
DECLARE
    locks text[] := ARRAY(SELECT format(CASE relkind WHEN 'v' THEN 'ALTER VIEW %s OWNER TO CURRENT_USER'
            ELSE 'LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE' END, oid::regclass)
        FROM pg_class WHERE oid = ANY (tables) ORDER BY relkind <> 'v', oid);
    started timestamptz := clock_timestamp();
    told timestamptz := started;
    attempt timestamptz;
    lock text;
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '5s', true);
            PERFORM rekey.run_all(format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', oid::regclass))
            FROM pg_class WHERE oid = ANY (tables) AND relkind <> 'v';
            attempt := clock_timestamp();
            FOREACH lock IN ARRAY locks LOOP
                PERFORM set_config('lock_timeout', greatest(1, 50 + 5 * cardinality(locks)
                    - 1000 * extract(epoch FROM clock_timestamp() - attempt))::int || 'ms', true);
                EXECUTE lock;
            END LOOP;
            EXECUTE statement;
            RAISE NOTICE '%: locked for % ms', left(statement, 60),
                round(1000 * extract(epoch FROM clock_timestamp() - attempt));
            RETURN;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            NULL;
        END;
        COMMIT;
        IF clock_timestamp() > started + interval '10 min' THEN
            RAISE 'no lock on % in 10 minutes', tables::regclass[] USING ERRCODE = 'lock_not_available',
                DETAIL = 'Held by ' || rekey.holders(tables) || '.';
        ELSIF clock_timestamp() > told + interval '5 s' THEN
            told := clock_timestamp();
            RAISE NOTICE 'waiting for a lock: %', rekey.holders(tables);
        END IF;
        PERFORM pg_sleep(0.05 + 0.15 * random());
    END LOOP;
END $$;

-- Set the mirrors that differ, 50 pages in a transaction; pages with locked rows once more, later. The casts to text,
-- uuid or bigint leave no choice of an operator to the search_path.
CREATE PROCEDURE rekey.fill(target regclass) LANGUAGE plpgsql AS $$
DECLARE
    tab text := target;
    touch text := (SELECT format('WITH found AS (SELECT ctid FROM ONLY %1$s '
            'WHERE ctid >= $1[1] AND ctid < $1[2] AND NOT (%2$s) FOR NO KEY UPDATE SKIP LOCKED), '
        'done AS (UPDATE ONLY %1$s SET %3$s = %3$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM found)) '
            'RETURNING %2$s AS is_set) '
        'SELECT count(*), bool_and(is_set), (SELECT count(*) FROM ONLY %1$s '
            'WHERE ctid >= $1[1] AND ctid < $1[2] AND NOT (%2$s)) FROM done',
        tab, string_agg(rekey.equal(c, m, mirror_type), ' AND '), min(m)) FROM rekey.pairs WHERE tbl = target);
    own_path text := (SELECT concat_ws(', ', 'pg_catalog', nullif(reset_val, '')) FROM pg_settings
        WHERE name = 'search_path');
    as_replica boolean := has_parameter_privilege('session_replication_role', 'SET');
    pages bigint[] := ARRAY(SELECT generate_series(0,
        pg_relation_size(target) / current_setting('block_size')::int, 50));
    again bigint[];
    foreign_trigger name;
    span tid[];
    page bigint;
    done bigint;
    is_set boolean;
    found bigint;
    total bigint := 0;
    progress timestamptz := clock_timestamp();
    told timestamptz := progress;
BEGIN
    LOOP
        again := '{}';
        FOREACH page IN ARRAY pages LOOP
            span := ARRAY[format('(%s,0)', page), format('(%s,0)', page + 50)];
            -- who has the right to create triggers could have done so since the check; now the lock prevents it
            EXECUTE format('LOCK TABLE ONLY %s IN ROW EXCLUSIVE MODE', tab);
            SELECT tgname INTO foreign_trigger FROM rekey.fired WHERE tgrelid = target AND is_foreign;
            IF foreign_trigger <> '' THEN
                RAISE 'trigger % on % could call a function of another role', foreign_trigger, tab
                    USING ERRCODE = 'feature_not_supported';
            END IF;
            PERFORM set_config('session_replication_role', 'replica', true) WHERE as_replica;
            PERFORM set_config('search_path', own_path, true);
            EXECUTE touch INTO done, is_set, found USING span;
            IF NOT is_set THEN
                RAISE 'the trigger "~rekey" of % does not work', tab;
            END IF;
            -- its xmin is the end of the fill, for "missing"
            UPDATE rekey.columns SET col = col WHERE tbl::oid = target::oid AND done > 0;
            COMMIT;
            total := total + done;
            progress := CASE WHEN done > 0 THEN clock_timestamp() ELSE progress END;
            again := again || CASE WHEN found > done THEN page END;
            IF clock_timestamp() > told + interval '5 s' THEN
                told := clock_timestamp();
                RAISE NOTICE '%: % rows, page % of %', tab, total, page, pages[cardinality(pages)];
            END IF;
        END LOOP;
        pages := array_remove(again, NULL);
        EXIT WHEN pages = '{}';
        IF clock_timestamp() > progress + interval '10 min' THEN
            RAISE '%: no row of pages % was set in 10 minutes: locked, or a trigger prevents it', tab, pages
                USING DETAIL = 'Held by ' || rekey.holders(ARRAY[target::oid]) || '.';
        END IF;
        PERFORM pg_sleep(0.3);
    END LOOP;
    RAISE NOTICE '%: % rows filled', tab, total;
END $$;

-- The statements of a command, which are run one by one
CREATE FUNCTION rekey.script(command text, with_views boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    switched boolean;
    p record;
    n bigint;
BEGIN
    PERFORM rekey.begin_command();
    SELECT bool_and(is_switched) INTO switched FROM rekey.pairs;
    IF NOT EXISTS (SELECT FROM rekey.columns) THEN
        RAISE 'nothing is planned' USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF switched <> (command IN ('back', 'finish')) THEN
        RAISE 'the columns are %switched', CASE WHEN NOT switched THEN 'not ' ELSE '' END
            USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = CASE WHEN switched THEN 'Now: finish, or back.' ELSE 'Now: run, switch or abandon.' END;
    END IF;
    IF command IN ('run', 'switch', 'back') THEN
        PERFORM rekey.check_obstacles(CASE WHEN command <> 'run' THEN with_views END);
        FOR p IN SELECT * FROM rekey.pairs WHERE command = 'back' LOOP
            EXECUTE format('SELECT count(*) FROM ONLY %s WHERE %s IS NOT NULL AND %s IS NULL', p.tbl, p.c, p.m) INTO n;
            IF n > 0 THEN
                RAISE '%.%: % values are beyond the old type', p.tbl, p.c, n
                    USING ERRCODE = 'numeric_value_out_of_range';
            ELSIF pg_sequence_last_value(pg_get_serial_sequence(p.tbl::text, p.col)::regclass)
                > (CASE p.old_type WHEN 'smallint' THEN 32767 ELSE 2147483647 END) THEN
                RAISE '%.%: its sequence is beyond the old type', p.tbl, p.c
                    USING ERRCODE = 'numeric_value_out_of_range';
            END IF;
        END LOOP;
        RETURN QUERY SELECT rekey.todo();
        PERFORM rekey.check_obstacles(NULL);    -- again, for a foreign key that was added meanwhile
    END IF;
    RETURN QUERY SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', tbl, name) FROM rekey.objects
    JOIN pg_constraint k ON k.oid = obj JOIN pg_class t ON t.oid = tbl
    WHERE command = 'finish' AND kind = 'f' AND NOT k.convalidated AND pg_get_userbyid(relowner) = current_user;
    RETURN QUERY SELECT format('CALL rekey.locked(%L, %L)', ARRAY(SELECT tbl::oid FROM rekey.columns
        UNION SELECT unnest(ARRAY[conrelid, confrelid]) FROM rekey.objects
            JOIN pg_constraint k ON k.oid = obj AND kind = 'f'
                AND (command IN ('switch', 'back') OR copy_constraint > 0)
        UNION SELECT name FROM rekey.views WHERE command IN ('switch', 'back')),
        CASE WHEN command IN ('switch', 'back') THEN format('SELECT rekey.exchange(%L, %L)', with_views,
            ARRAY(SELECT function FROM rekey.functions())) ELSE 'SELECT rekey.end_change()' END)
    WHERE command <> 'run';
    -- the exchange makes foreign keys again, whose rows the copies have proved
    RETURN QUERY SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', tbl, name) FROM rekey.objects
    WHERE command IN ('switch', 'back') AND kind = 'f';
END $$;

CREATE FUNCTION rekey.status() RETURNS SETOF text LANGUAGE sql STABLE AS $$
SELECT format('%s.%s: %s%s', tbl, c, coalesce(type, 'no such column'), CASE WHEN is_switched THEN ', switched'
    WHEN mirror_attnum > 0 THEN ', with a mirror of ' || mirror_type END) FROM rekey.pairs
UNION ALL SELECT 'not complete: ' || what FROM rekey.missing
WHERE (SELECT bool_and(is_switched) FROM rekey.pairs) IS NOT TRUE
UNION ALL SELECT CASE WHEN NOT EXISTS (SELECT FROM rekey.columns) THEN 'nothing is planned'
    WHEN (SELECT bool_and(is_switched) FROM rekey.pairs) THEN 'next: finish, when every job has run once; or back'
    WHEN EXISTS (SELECT FROM rekey.missing) THEN 'next: run; or abandon'
    ELSE 'next: switch, then connect the applications again; or abandon' END
$$;

-- definitions are read as pg_dump reads them: by the session's settings, others could come back
SELECT format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp SET datestyle = ISO '
    'SET intervalstyle = postgres SET extra_float_digits = 3 SET timezone = UTC', oid::regprocedure)
FROM pg_proc WHERE pronamespace = 'rekey'::regnamespace AND prokind = 'f'
UNION ALL SELECT format('REVOKE ALL ON %s FROM %s', what, CASE grantee WHEN 0 THEN 'PUBLIC'
    ELSE quote_ident(pg_get_userbyid(grantee)) END)
FROM (SELECT 'SCHEMA rekey', nspacl, nspowner FROM pg_namespace WHERE nspname = 'rekey'
    UNION ALL SELECT oid::regclass::text, relacl, relowner
    FROM pg_class WHERE relnamespace = 'rekey'::regnamespace AND relkind IN ('r', 'v')) AS o(what, acl, owner),
    aclexplode(acl)
WHERE grantee <> owner \gexec
COMMIT;
