-- Every function can be called with untyped parameters, which most drivers send. Such a call is not ambiguous, and does
-- not resolve to another function with the same name.
\set SHOW_CONTEXT never
CREATE PROCEDURE check_calls(name_pattern text) LANGUAGE plpgsql AS $$
DECLARE
    f record;
    types regtype[];
BEGIN
    FOR f IN
        SELECT p.oid::regprocedure AS function, p.prokind = 'p' AS is_procedure, count, p.proargtypes::oid[]::regtype[]
        AS types,
               format('idgen.%I(%s)', p.proname, (SELECT string_agg('$' || n, ', ' ORDER BY n) FROM generate_series(1,
               count) n)) AS call
        FROM pg_proc p, generate_series((p.pronargs - p.pronargdefaults)::int, p.pronargs::int) count
        WHERE p.pronamespace = 'idgen'::regnamespace
          AND p.proname LIKE name_pattern
          AND p.prorettype <> 'trigger'::regtype
          AND p.proname NOT LIKE 'portable\_%'     -- internal functions
          AND 'internal'::regtype <> ALL (p.proargtypes::oid[])
        ORDER BY p.oid, count
    LOOP
        BEGIN
            EXECUTE format('PREPARE untyped AS %s %s', CASE WHEN f.is_procedure THEN 'CALL' ELSE 'SELECT' END, f.call);
            SELECT parameter_types INTO types FROM pg_prepared_statements WHERE name = 'untyped';
            DEALLOCATE untyped;
            IF types <> (f.types)[0:f.count - 1] THEN
                RAISE WARNING '%: % calls one of %', f.function, f.call, types;
            END IF;
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING '%: % is %: %', f.function, f.call, SQLSTATE, SQLERRM;
        END;
    END LOOP;
END
$$;
CALL check_calls('%');

-- test the check itself: for functions with the same name, it reports ambiguous calls, and calls that resolve to
-- another function
CREATE FUNCTION idgen.one_of_two(uuid) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION idgen.one_of_two(bigint, int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 2';
CREATE FUNCTION idgen.one_of_two(text, text) RETURNS int LANGUAGE sql AS 'SELECT 3';
CALL check_calls('one\_of\_two');
DROP FUNCTION idgen.one_of_two(uuid), idgen.one_of_two(bigint, int), idgen.one_of_two(text, text);
DROP PROCEDURE check_calls;

