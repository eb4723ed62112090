-- Known answers of masks, permutations and hmac_comb() with the keys of a file. The test creates the file in the data
-- directory, reloads the configuration, and finally restores the setting.
\set VERBOSITY terse
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
LOAD 'idgen';
SELECT coalesce((SELECT setting FROM pg_file_settings
                 WHERE name = 'idgen.key_file' AND sourcefile LIKE '%/postgresql.auto.conf'
                 ORDER BY seqno DESC LIMIT 1), '') AS former_auto,
       current_setting('idgen.key_file') AS former \gset

CREATE TEMP TABLE lines (number int, line text);
INSERT INTO lines VALUES
    (1, '# name, key, databases'),
    (2, ''),
    (3, 'default 000102030405060708090a0b0c0d0e0f  # of masks'),
    (4, ' shared 000102030405060708090A0B0C0D0E0F'),
    (5, 'other fedcba98765432100123456789abcdef'),
    (6, format('here fedcba98765432100123456789abcdef "no such database" "%s"',
               replace(current_database(), '"', '""'))),
    (7, 'elsewhere fedcba98765432100123456789abcdef "no such ""database""" #'),
    (8, 'attributed fedcba98765432100123456789abcdef level=2'),
    (9, 'short fedcba98765432100123456789abcd'),
    (10, 'no_digits fedcba98765432100123456789abcdeg');
COPY (SELECT line FROM lines ORDER BY number) TO PROGRAM 'umask 077; cat >idgen_keys_of_tests';
ALTER SYSTEM SET idgen.key_file = 'idgen_keys_of_tests';
SELECT pg_reload_conf();
\set wanted idgen_keys_of_tests
-- These commands wait until the session has the setting, because it reads the configuration between two commands.
CREATE PROCEDURE wait_for(wanted text) LANGUAGE plpgsql AS
$$ BEGIN IF current_setting('idgen.key_file') <> wanted THEN PERFORM pg_sleep(0.1); END IF; END $$;
\set wait 'SELECT format(''CALL wait_for(%L)'', :''wanted'') FROM generate_series(1, 1800)'
\set ECHO none
:wait \gexec
\set ECHO all
SELECT current_setting('idgen.key_file') = :'wanted' AS is_set;

-- compare masks with the vectors of docs/masks.md
SELECT idgen.mask_uuid_v7(id, key_name) = masked AND idgen.unmask_uuid_v7(masked, key_name) = id AS agrees, key_name
FROM (VALUES ('default', uuid '018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', uuid '6c7bb2ba-7e57-485f-a76a-28211ab078a2'),
    ('default', '00000000-0000-7000-8000-000000000000', 'f129ce1f-9022-4c70-8d2e-1c6444cd0517'),
    ('default', 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'de644849-56c6-445c-b8ee-22d7ac0d9e61'),
    ('other', '018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', 'dacf42f8-02fa-454f-9c8e-92735142cdfa')) v (key_name, id, masked);

-- compare permutations with the results of t/lib/mask.py
SELECT id, area, max_value, idgen.permute(id, area, max_value) = permuted AS agrees,
       idgen.unpermute(permuted, area, max_value) = id AS back
FROM (VALUES (1, 'orders', 9007199254740991, 4574719213015915),
    (9007199254740991, 'orders', 9007199254740991, 1912778249964674), (1, '', 9007199254740991, 7208002118034356),
    (17, 'orders', 1000000, 802372), (1, 'orders', 2, 2),
    (1, 'orders', 9223372036854775807, 7308204716604763897)) v (id, area, max_value, permuted);
SELECT idgen.permute(1, 'orders') = idgen.permute(1, 'orders', 9007199254740991, 'default') AS has_default_key;

-- use invalid arguments, NULL for the value to read, and keys that this database cannot find or that cannot be used
CREATE FUNCTION outcome(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    detail text;
BEGIN
    EXECUTE 'SELECT (idgen.' || call || ')::text' INTO result;
    RETURN coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, result = PG_EXCEPTION_HINT;
    RETURN concat_ws('; ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(result, ''));
END $$;
\pset format unaligned
SELECT call, outcome(call) FROM (VALUES
    ($$mask_uuid_v7('018f2d9f-9a2a-4def-8c3f-7b1a2c4d5e6f')$$),
    ($$mask_uuid_v7('018f2d9f-9a2a-7def-cc3f-7b1a2c4d5e6f')$$),
    ($$mask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', NULL)$$),
    ($$unmask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f')$$),
    ($$unmask_uuid_v7('018f2d9f-9a2a-4def-8c3f-7b1a2c4d5e6f', NULL)$$),
    ($$mask_uuid_v7(NULL, 'none')$$), ($$unmask_uuid_v7(NULL)$$), ($$permute(NULL, 'a', 1, 'none')$$),
    ($$permute(0, 'a')$$), ($$permute(-9223372036854775808, 'a')$$), ($$permute(9007199254740992, 'a')$$),
    ($$permute(11, 'a', 10)$$), ($$unpermute(11, 'a', 10)$$), ($$permute(1, 'a', 1)$$),
    ($$unpermute(1, 'a', -9223372036854775808)$$), ($$permute(1, 'a', NULL)$$), ($$permute(1, NULL)$$),
    ($$permute(1, repeat('a', 64))$$), ($$unpermute(1, 'a', key_name => NULL)$$), ($$permute(1, 'a', 2, '')$$),
    ($$permute(1, 'a', 2, 'defaul')$$), ($$permute(1, 'a', 2, 'default other')$$),
    ($$permute(1, 'a', 2, repeat('x', 64))$$), ($$permute(1, '', 2, 'here') IN (1, 2)$$),
    ($$permute(1, '', 2, 'elsewhere')$$), ($$permute(1, '', 2, 'attributed')$$), ($$permute(1, '', 2, 'short')$$),
    ($$permute(1, '', 2, 'no_digits')$$)) v (call);
\pset format aligned

-- compare hmac_comb_at() and its check with some lines of contrib/clients/hmac_comb_vectors.csv
CREATE TEMP TABLE vectors AS
SELECT area, period_ms * interval '1 ms' AS period, timestamptz 'epoch' + unix_ms * interval '1 ms' AS instant, prefix
FROM (VALUES ('', 3600000, 0, 'f822ff2a'), ('orders', 3600000, 0, '6b27a819'), ('orders', 1, 1, '9245cb3a'),
    ('orders', 60000, 299999, '3de03cc1'),
    ('orders', 3600000, 299999, '6b27a819'), ('orders', 3600000, 300000, '6b27a85d'),
    ('', 86400000, 300000, '3a9b64a4')) v (area, period_ms, unix_ms, prefix);
SELECT area, period, instant, left(made::text, 8) = prefix AS agrees,
       idgen.is_recent_hmac_comb(made, area, tolerance => '0', period => period, clock => instant) AS accepted,
       idgen.is_recent_hmac_comb(made, area, tolerance => '0', period => period, clock => instant + period) AS later,
       idgen.is_recent_hmac_comb(made, area || '!', tolerance => '0', period => period, clock => instant) AS elsewhere,
       idgen.is_recent_hmac_comb(made, area, 'other', '0', period => period, clock => instant) AS by_other,
       idgen.is_recent_hmac_comb(made, area, E'other\tshared ', '0', period => period, clock => instant) AS by_both
FROM (SELECT *, idgen.hmac_comb_at(instant, area, period => period) AS made FROM vectors OFFSET 0) s;
SELECT idgen.uuid_version(idgen.hmac_comb('orders')),
       idgen.is_recent_hmac_comb(idgen.hmac_comb('orders'), 'orders') AS recent,
       idgen.is_recent_hmac_comb('00000000-0000-1000-8000-000000000000', 'orders') AS of_version_1;
SELECT call, outcome(call) FROM (VALUES
    ($$hmac_comb('orders', 'shared other')$$), ($$hmac_comb('orders', ' shared')$$),
    ($$hmac_comb_at('2026-01-01', 'orders', E'shared\n')$$), ($$hmac_comb('orders', NULL)$$),
    ($$hmac_comb('orders', period => NULL)$$), ($$hmac_comb(repeat('x', 64))$$), ($$hmac_comb_at(NULL, 'orders')$$),
    ($$hmac_comb_at('infinity', 'orders')$$)) v (call);
SELECT key_name, outcome(format($$is_recent_hmac_comb(idgen.hmac_comb('orders'), 'orders', %L)$$, key_name))
FROM (VALUES ('shared'), ('other'), ('other shared'), (E'\tother  \n\r shared '), (''), (E' \n'), (NULL),
             ('shared missing'), ('missing shared'), ('shared elsewhere'), ('shared other here 1 2 3 4 5'),
             ('1 2 3 4 5 6 7 8 9')) v (key_name);
SELECT tolerance, outcome(format($$is_recent_hmac_comb('00000000-0000-4000-8000-000000000000', 'orders',
    tolerance => %L, clock => '2026-01-01')$$, tolerance)) FROM (VALUES ('32 hours'), ('32 hours 1 us')) v (tolerance);

-- check keys with the trigger
CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT idgen.hmac_comb('orders'), note text);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON orders
    FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=orders', 'key_name=shared other');
INSERT INTO orders DEFAULT VALUES;
INSERT INTO orders VALUES (idgen.hmac_comb('orders', 'other'), 'by the other key');
INSERT INTO orders VALUES (idgen.hmac_comb('orders', 'here'));
UPDATE orders SET id = id;
DO $$
DECLARE
    shown_hint text;
    shown_constraint text;
BEGIN
    INSERT INTO orders VALUES ('6b27a819-0000-4000-8000-000000000000');
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS shown_hint = PG_EXCEPTION_HINT, shown_constraint = CONSTRAINT_NAME;
    RAISE WARNING '%: % %', shown_constraint, sqlerrm, shown_hint;
END $$;
DROP TABLE orders;
CREATE TABLE orders (id uuid, note text);
CREATE FUNCTION insert_checked(VARIADIC arguments text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER check_id BEFORE INSERT ON orders FOR EACH ROW '
        'EXECUTE FUNCTION idgen.check_recent_hmac_id(%s)',
        (SELECT string_agg(quote_literal(a), ', ') FROM unnest(arguments) a));
    INSERT INTO orders VALUES (idgen.hmac_comb('orders', period => '1 minute'));
    DROP TRIGGER check_id ON orders;
END $$;
SELECT insert_checked('id', 'area=orders', 'period=1 minute', 'past_tolerance=1 minute', 'future_tolerance=0');
SELECT insert_checked('id');
SELECT insert_checked('id', 'key_name=shared');
SELECT insert_checked('id', 'area=orders', 'key_name=');
SELECT insert_checked('id', 'area=orders', 'key_name=shared', 'key_name=other');
SELECT insert_checked('id', 'area=orders', 'key_name=shared missing');
SELECT insert_checked('id', 'area=orders', 'key_name=elsewhere');
SELECT insert_checked('id', 'area=orders', 'prefix_bytes=2');
SELECT insert_checked('id', 'area=orders', 'key=shared');
SELECT insert_checked('id', 'area=orders', 'tolerance=33 hours');
SELECT insert_checked('id', 'area=orders', 'period=0');
SELECT insert_checked('id', 'area=' || repeat('x', 64));
SELECT insert_checked('note', 'area=orders');
CREATE TRIGGER check_id BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id();
INSERT INTO orders VALUES (idgen.uuid_v4());
DROP TRIGGER check_id ON orders;
DROP FUNCTION insert_checked;

-- a trigger without arguments uses the defaults of the SQL functions
CREATE FUNCTION refusal(scheme text, id uuid, VARIADIC arguments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    shown_detail text;
    shown_hint text;
    instants timestamptz[];
BEGIN
    EXECUTE format('CREATE TRIGGER check_id BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.%s(%s)',
        CASE scheme WHEN 'hmac_comb' THEN 'check_recent_hmac_id' ELSE 'check_recent_id' END,
        (SELECT string_agg(quote_literal(a), ', ')
         FROM unnest(ARRAY['id', CASE scheme WHEN 'hmac_comb' THEN 'area=orders' ELSE scheme END] || arguments) a));
    INSERT INTO orders VALUES (id);
    RETURN 'accepted';
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS shown_detail = PG_EXCEPTION_DETAIL, shown_hint = PG_EXCEPTION_HINT;
    SELECT array_agg(m[1]::timestamptz) INTO instants FROM regexp_matches(shown_detail, '\d+-\S+ [\d:.]+\+00', 'g') m;
    RETURN instants[cardinality(instants)] - instants[cardinality(instants) - 1] || ' ' || shown_hint;
END $$;
SELECT scheme, arguments, refusal(scheme, id, VARIADIC '{}') AS without_arguments,
       refusal(scheme, id, VARIADIC arguments) = refusal(scheme, id, VARIADIC '{}') AS agree
FROM (VALUES ('short_comb', idgen.short_comb(clock => now() + '1 day')), ('comb', idgen.comb(now() + '1 day')),
    ('uuid_v7', idgen.uuid_v7(now() + '1 day')), ('hmac_comb', idgen.hmac_comb_at(now() + '1 day', 'orders')))
    v (scheme, id),
    LATERAL (SELECT array_agg(format('%s=%s', a.name, substring(given, '^''?([^'']+)')))
             FROM pg_proc p, unnest(p.proargnames) WITH ORDINALITY a (name, number),
                  pg_get_function_arg_default(p.oid, number::int) given
             WHERE p.oid = ('idgen.is_recent_' || scheme)::regproc AND given !~ '^NULL') d (arguments);
DROP FUNCTION refusal;
DROP TABLE orders;

-- These files are rejected. A new session reads the file again.
\c -
\set VERBOSITY default
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; chmod 644 idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (VALUES ('default 000102030405060708090a0b0c0d0e0f "a"b'))
    TO PROGRAM 'rm idgen_keys_of_tests; umask 077; cat >idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (VALUES ('default 000102030405060708090a0b0c0d0e0f "a""b')) TO PROGRAM 'cat >idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (VALUES ('default 000102030405060708090a0b0c0d0e0f'), ('default fedcba98765432100123456789abcdef'))
    TO PROGRAM 'cat >idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (VALUES (repeat('x', 64))) TO PROGRAM 'cat >idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; printf "\0" >idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rm idgen_keys_of_tests; mkdir idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rmdir idgen_keys_of_tests';
SELECT idgen.permute(1, '', 2);

-- restore the setting, whose former value is not part of the expected output
\set ECHO none
SELECT CASE :'former_auto' WHEN '' THEN 'ALTER SYSTEM RESET idgen.key_file'
    ELSE format('ALTER SYSTEM SET idgen.key_file = %L', :'former_auto') END \gexec
\set ECHO all
SELECT pg_reload_conf();
\set wanted :former
\set ECHO none
:wait \gexec
\set ECHO all
SELECT current_setting('idgen.key_file') = :'wanted' AS is_set;
DROP PROCEDURE wait_for;
DROP FUNCTION outcome;
