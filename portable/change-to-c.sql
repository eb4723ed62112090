-- change-to-c.sql: replaces the portable edition of idgen by the C extension.
--
--   psql -f change-to-c.sql
--
-- One statement: all of it happens, or nothing. The extension must be installed on the
-- server. The role needs CREATE on the database and owns the schema idgen and the
-- tables and domains that use it.
--
-- Kept are the recorded commands, the prefixes, and the privileges on both tables; and
-- the column and domain defaults, generated columns (PostgreSQL 17 and later), CHECK
-- constraints, triggers, indexes and views that use idgen's functions, which are
-- defined again with the same text. Anything else that uses them is an error that
-- names it: drop it before, in the same transaction, and create it again after.
--
-- Until the end of the transaction, create_once() waits in other sessions. A call that
-- waited then fails, because its function is gone, and succeeds when it is sent again.

DO $change$
DECLARE
    caller_search_path text := current_setting('search_path');
    others text;
    routines text;
    again record;
BEGIN
    -- with this search_path, definitions are written with the schema of each name
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);

    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen') THEN
        RAISE EXCEPTION 'extension "idgen" is already installed'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF to_regclass('idgen.creation_identifiers') IS NULL OR to_regclass('idgen.id_prefixes') IS NULL THEN
        RAISE EXCEPTION 'the portable edition of idgen is not installed'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the change requires the isolation level READ COMMITTED'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'At another level, rows that were committed after the start of the transaction would be lost.';
    END IF;
    LOCK TABLE idgen.creation_identifiers, idgen.id_prefixes IN ACCESS EXCLUSIVE MODE;

    CREATE TEMP TABLE idgen_uses ON COMMIT DROP AS
    SELECT DISTINCT d.classid, d.objid, d.objsubid
    FROM pg_depend d
    WHERE d.refclassid = 'pg_proc'::regclass
      AND d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace)
      AND d.deptype IN ('n', 'a')
      AND NOT (d.classid = 'pg_proc'::regclass
               AND d.objid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace));

    -- 1: drop; 3: define again; 4: validate, enable, grant
    CREATE TEMP TABLE idgen_again (step int, classid oid, objid oid, statement text) ON COMMIT DROP;

    -- defaults and generated columns
    INSERT INTO idgen_again
    SELECT 3, u.classid, u.objid,
           format('ALTER TABLE ONLY %s ALTER COLUMN %I SET %s', a.attrelid::regclass, a.attname,
                  CASE WHEN a.attgenerated = '' THEN 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)
                       ELSE format('EXPRESSION AS (%s)', pg_get_expr(d.adbin, d.adrelid)) END)
    FROM idgen_uses u
    JOIN pg_attrdef d ON u.classid = 'pg_attrdef'::regclass AND d.oid = u.objid
    JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    WHERE a.attgenerated = '' OR current_setting('server_version_num')::int >= 170000;
    INSERT INTO idgen_again
    SELECT 3, u.classid, u.objid, format('ALTER DOMAIN %s SET DEFAULT %s', t.oid::regtype, pg_get_expr(t.typdefaultbin, 0))
    FROM idgen_uses u JOIN pg_type t ON u.classid = 'pg_type'::regclass AND t.oid = u.objid AND t.typtype = 'd';

    -- CHECK constraints: those of a parent table drop and create those of its children
    INSERT INTO idgen_again
    SELECT step, u.classid, u.objid,
           format(CASE WHEN c.contypid <> 0 THEN 'ALTER DOMAIN %s ' ELSE 'ALTER TABLE %s ' END || action,
                  CASE WHEN c.contypid <> 0 THEN c.contypid::regtype::text ELSE c.conrelid::regclass::text END,
                  c.conname, replace(pg_get_constraintdef(c.oid), ' NOT VALID', ''))
    FROM idgen_uses u
    JOIN pg_constraint c ON u.classid = 'pg_constraint'::regclass AND c.oid = u.objid AND c.contype = 'c'
    CROSS JOIN (VALUES (1, 'DROP CONSTRAINT %2$I'), (3, 'ADD CONSTRAINT %2$I %3$s NOT VALID'), (4, 'VALIDATE CONSTRAINT %2$I')) s (step, action)
    WHERE c.coninhcount = 0 AND (step < 4 OR c.convalidated);

    -- triggers: those of a partitioned table create those of its partitions
    INSERT INTO idgen_again
    SELECT step, u.classid, u.objid,
           CASE step WHEN 3 THEN replace(pg_get_triggerdef(t.oid), 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER')
                     ELSE format('ALTER TABLE ONLY %s %s TRIGGER %I', t.tgrelid::regclass,
                                 CASE t.tgenabled WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END,
                                 t.tgname) END
    FROM idgen_uses u
    JOIN pg_trigger t ON u.classid = 'pg_trigger'::regclass AND t.oid = u.objid
    CROSS JOIN unnest('{3,4}'::int[]) step
    WHERE step = 4 OR t.tgparentid = 0;

    -- indexes and views
    INSERT INTO idgen_again
    SELECT step, u.classid, u.objid,
           CASE step WHEN 1 THEN format('DROP INDEX %s', u.objid::regclass) ELSE pg_get_indexdef(u.objid) END
    FROM idgen_uses u
    JOIN pg_class c ON u.classid = 'pg_class'::regclass AND c.oid = u.objid AND c.relkind = 'i' AND NOT c.relispartition
    CROSS JOIN unnest('{1,3}'::int[]) step
    WHERE NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = u.objid);
    INSERT INTO idgen_again
    SELECT 3, u.classid, u.objid,
           format('CREATE OR REPLACE VIEW %s %s AS %s', c.oid::regclass,
                  'WITH (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
    FROM idgen_uses u
    JOIN pg_rewrite r ON u.classid = 'pg_rewrite'::regclass AND r.oid = u.objid
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v';

    SELECT string_agg(pg_describe_object(u.classid, u.objid, u.objsubid), ', ') INTO others
    FROM idgen_uses u
    WHERE NOT EXISTS (SELECT FROM idgen_again a WHERE a.classid = u.classid AND a.objid = u.objid)
      AND NOT EXISTS (SELECT FROM pg_constraint c WHERE u.classid = 'pg_constraint'::regclass AND c.oid = u.objid AND c.coninhcount > 0);
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'other objects use the portable edition of idgen'
            USING ERRCODE = 'dependent_objects_still_exist', DETAIL = format('They are: %s.', others),
                  HINT = 'Drop them in the same transaction, and create them again after the change.';
    END IF;

    -- of both tables; the owner of the new ones may be another role
    INSERT INTO idgen_again (step, statement)
    SELECT 4, format('GRANT %s ON %s TO %s%s', a.privilege_type, c.oid::regclass,
                     CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                     CASE WHEN a.is_grantable OR a.grantee = c.relowner THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
    WHERE c.oid IN ('idgen.creation_identifiers'::regclass, 'idgen.id_prefixes'::regclass)
      AND pg_get_userbyid(a.grantee) <> current_user
      AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE');

    ALTER SCHEMA idgen RENAME TO idgen_portable;
    CREATE EXTENSION idgen;
    INSERT INTO idgen.creation_identifiers SELECT * FROM idgen_portable.creation_identifiers;
    INSERT INTO idgen.id_prefixes SELECT * FROM idgen_portable.id_prefixes;

    FOR again IN SELECT * FROM idgen_again ORDER BY step LOOP
        BEGIN
            EXECUTE again.statement;
        EXCEPTION WHEN check_violation THEN
            RAISE WARNING 'not validated: %', again.statement
                USING DETAIL = SQLERRM;
        END;
    END LOOP;

    -- What another role put into the schema stops the change here.
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'idgen_portable') THEN
        DROP EXTENSION idgen_portable;
    ELSE
        SELECT string_agg(p.oid::regprocedure::text, ', ') INTO routines
        FROM pg_proc p
        WHERE pronamespace = 'idgen_portable'::regnamespace
          AND (p.proname LIKE 'portable\_%'
               OR to_regprocedure(regexp_replace(p.oid::regprocedure::text, '^idgen_portable', 'idgen')) IS NOT NULL);
        EXECUTE 'DROP ROUTINE ' || routines;
        DROP TABLE idgen_portable.creation_identifiers, idgen_portable.id_prefixes;
    END IF;
    DROP SCHEMA IF EXISTS idgen_portable;
    DROP TABLE idgen_uses, idgen_again;
    PERFORM set_config('search_path', caller_search_path, true);
END
$change$;
