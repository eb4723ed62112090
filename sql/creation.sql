-- create_once() and related functions in one session. specs/create_once.spec tests concurrent sessions.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE FUNCTION command(n int) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('c0000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid;
CREATE FUNCTION entity(n int) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('e0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid;

--
-- create_once
--

-- the first call records the proposed id; later calls return it
SELECT * FROM idgen.create_once(command(1), entity(1), 'order');
SELECT * FROM idgen.create_once(command(1), entity(2), 'order');
SELECT * FROM idgen.create_once(command_id => command(1), command_name => 'order', proposed_id => entity(3));

-- The expansion of .* calls the function once for each column.
BEGIN;
SELECT (idgen.create_once(command(99), entity(1), 'order')).*;
ROLLBACK;

-- record a bigint
SELECT * FROM idgen.create_once_bigint(command(2), 42, 'order');
SELECT * FROM idgen.create_once_bigint(command(2), 43, 'order');
SELECT * FROM idgen.create_once_bigint(command(3), -9223372036854775808, 'order');
SELECT * FROM idgen.create_once_bigint(command(3), 0::bigint, 'order');

-- record a text identifier
SELECT length(entity_text), created FROM idgen.create_once_text(command(5), repeat('x', 255), 'order');
SELECT length(entity_text), created FROM idgen.create_once_text(command(5), 'another', 'order');
-- record each kind of text identifier that idgen generates; the portable edition does not generate ObjectIds
DO $$
DECLARE
    command uuid := 'c0000000-0000-7000-8000-0000000000ff';
    call text;
    id text;
BEGIN
    FOREACH call IN ARRAY ARRAY['ulid()', 'object_id()', $c$typeid('order')$c$,
                                $c$prefixed_id_from_uuid('order', idgen.keyed_comb('orders'))$c$] LOOP
        CONTINUE WHEN to_regproc('idgen.' || split_part(call, '(', 1)) IS NULL;
        EXECUTE 'SELECT idgen.' || call INTO id;
        ASSERT idgen.create_once_text(command, id, 'order') = (id, true), 'it is not recorded';
        ASSERT idgen.create_once_text(command, 'another', 'order') = (id, false), 'it is not replayed';
        ASSERT idgen.forget_creation_of_text(id, 'order') = 1, 'it is not forgotten';
    END LOOP;
END $$;

-- a name is required, and a text identifier must be 1 to 255 bytes long
CREATE FUNCTION state_of(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT idgen.' || call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT call, state_of(call) FROM (VALUES
    ('create_once(gen_random_uuid(), gen_random_uuid())'), ('create_once_bigint(gen_random_uuid(), 1)'),
    ($$create_once_text(gen_random_uuid(), 'x')$$), ($$create_once_text(gen_random_uuid(), 'x', NULL)$$),
    ($$create_once_text(gen_random_uuid(), '', 'order')$$), ($$create_once_text(gen_random_uuid(), NULL, 'order')$$),
    ($$create_once_text(gen_random_uuid(), repeat('x', 256), 'order')$$),
    ($$create_once_text(NULL, repeat('x', 256), 'order')$$)) v (call);
DROP FUNCTION state_of;
SELECT * FROM idgen.create_once_text(command(8), '', 'order');
SELECT * FROM idgen.create_once_text(command(8), repeat('x', 1000000), 'order');

-- record a name and a request
SELECT * FROM idgen.create_once(command(4), entity(4), 'open account', '{"owner": "Ada", "limit": 1.50}');
SELECT * FROM idgen.create_once(command(4), entity(5), 'open account', '{"limit": 1.5, "owner": "Ada"}');

SELECT command_id, command_name, entity_id, entity_number, left(entity_text, 10) AS entity_text, request_hash,
       created_at = now() AS created_now
FROM idgen.creation_identifiers ORDER BY command_id;

-- a recorded command id with another request, name or type of id is an error
SELECT * FROM idgen.create_once(command(4), entity(5), 'open account', '{"owner": "Bob", "limit": 1.50}');
SELECT * FROM idgen.create_once(command(4), entity(5), 'close account', '{"owner": "Ada", "limit": 1.50}');
SELECT * FROM idgen.create_once(command(4), entity(5), 'open account');
SELECT * FROM idgen.create_once(command(1), entity(5), 'order', 'null');
SELECT * FROM idgen.create_once_bigint(command(1), 42, 'order');
SELECT * FROM idgen.create_once_text(command(2), '42', 'order');
SELECT * FROM idgen.create_once(command(5), entity(5), 'order');

-- call the function at each isolation level
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM idgen.create_once_bigint(command(6), 1, 'order');
SELECT * FROM idgen.create_once_bigint(command(6), 2, 'order');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM idgen.create_once_bigint(command(6), 3, 'order');
SELECT * FROM idgen.create_once_bigint(command(7), 4, 'order');
SELECT * FROM idgen.create_once_bigint(command(7), 5, 'order');
COMMIT;

-- a read-only transaction accepts a replay and rejects a creation
BEGIN READ ONLY;
SELECT * FROM idgen.create_once_bigint(command(6), 3, 'order');
SELECT * FROM idgen.create_once_bigint(command(8), 3, 'order');
ROLLBACK;
BEGIN READ ONLY ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM idgen.create_once_bigint(command(6), 3, 'order');
ROLLBACK;

-- enable_seqscan is restored after the call, even after an error
SHOW enable_seqscan;
DO $$
BEGIN
    PERFORM idgen.create_once_bigint(command(6), 1, 'another name');
EXCEPTION WHEN check_violation THEN
    RAISE NOTICE 'enable_seqscan is %', current_setting('enable_seqscan');
END $$;
DO $$
BEGIN
    SET LOCAL transaction_read_only = on;
    PERFORM idgen.create_once_bigint('c0000000-0000-7000-8000-0000000000ff', 1, 'order');
EXCEPTION WHEN read_only_sql_transaction THEN
    RAISE NOTICE 'enable_seqscan is %', current_setting('enable_seqscan');
END $$;

--
-- Equal jsonb values have equal hashes
--
CREATE FUNCTION hash_of(request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id uuid := gen_random_uuid();
    hash text;
BEGIN
    PERFORM idgen.create_once_bigint(id, 1, 'order', request);
    DELETE FROM idgen.creation_identifiers WHERE command_id = id
    RETURNING lpad(to_hex(request_hash), 16, '0') INTO hash;
    RETURN hash;
END $$;

-- known hashes, which are the same on every version and platform
SELECT request, hash_of(request)
FROM (VALUES (jsonb 'null'), ('true'), ('false'), ('0'), ('""'), ('[]'), ('{}'), ('[[]]'), ('"a"'), ('["a"]'),
             ('{"a": [1, 2.50, -3e20, "x", null, true, {"b": {}}]}')) v (request);

-- compare with the hash of the text that the function hashes
SELECT hashed, hash_of(request) = left(encode(sha256(convert_to(hashed, 'UTF8')), 'hex'), 16) AS equal
FROM (VALUES (jsonb ' [ 1.0,2.50 , -0.0 , 100, 0.001000, 10.0e1] ', '[1, 2.5, 0, 100, 0.001, 100]'),
             ('{"bb":1.10, "a": {"c": [], "d": {}}}', '{"a": {"c": [], "d": {}}, "bb": 1.1}'),
             ('["1.50", "\" 2.0", 3.0, "\\", 4.00, "\\\" 5.0"]', '["1.50", "\" 2.0", 3, "\\", 4, "\\\" 5.0"]'),
             ('{"1.0": 1.0, "\"2.0": [2.0, [3.0]]}', '{"1.0": 1, "\"2.0": [2, [3]]}'),
             ('1.50', '1.5'), ('"1.50"', '"1.50"'), ('"\u0001\n/"', '"\u0001\n/"')) v (request, hashed);
SELECT hash_of(request) = left(encode(sha256(convert_to(request::text, 'UTF8')), 'hex'), 16) AS equal
FROM (SELECT jsonb_agg(jsonb_build_object('n', n, 'name', repeat('x', n % 100))) AS request FROM generate_series(1,
    1000) n) s;

SELECT count(DISTINCT hash_of(request)) AS hashes
FROM (VALUES (jsonb '1'), ('1.0'), ('1.000'), ('1e0'), ('10e-1')) v (request);
SELECT count(*) AS requests, count(DISTINCT hash_of(request)) AS hashes
FROM (VALUES (jsonb '1'), ('"1"'), ('[1]'), ('[[1]]'), ('{"1": 1}'), ('{"1": "1"}'), ('["1", 1]'), ('[1, "1"]'),
             ('-1'), ('10'), ('0.1'), ('[1, 1]'), ('[[1], 1]'), ('[1, [1]]'), ('[]'), ('[[], []]'), ('[[[]]]'),
             ('[{}]'), ('[{}, {}]'), ('{"a": {}}'), ('{"a": []}'), ('{"a": null}'), ('{"a": false}'),
             ('["ab", "c"]'), ('["a", "bc"]'), ('["abc"]'), ('{"a": "b"}'), ('["a", "b"]')) v (request);
-- arrays that differ in the order of two elements have different hashes
SELECT count(*) AS requests, count(DISTINCT hash_of(request)) AS hashes
FROM (SELECT jsonb_agg(CASE WHEN n = 0 THEN k WHEN n = k THEN 0 ELSE n END ORDER BY n) AS request
      FROM generate_series(0, 99) n, generate_series(0, 99) k GROUP BY k) s;

-- hash the longest numbers, and numbers with zeros that are not part of the hashed text
SELECT what, hash_of(to_jsonb(number)) = left(encode(sha256(hashed::bytea), 'hex'), 16) AS equal
FROM (VALUES ('1000 digits', repeat('9', 1000)::numeric, repeat('9', 1000)),
             ('negative', -repeat('9', 1000)::numeric, '-' || repeat('9', 1000)),
             ('fraction', ('0.' || repeat('3', 1000))::numeric, '0.' || repeat('3', 1000)),
             ('both', (repeat('9', 1000) || '.' || repeat('3', 1000))::numeric, repeat('9', 1000) || '.' || repeat('3',
             1000)),
             ('zeros', ('1.5' || repeat('0', 2000))::numeric, '1.5'),
             ('zero', 0e-16383, '0')) v (what, number, hashed);
DROP FUNCTION hash_of(jsonb);

--
-- forget
--
SELECT idgen.forget_creation(command(4)) AS known,
       idgen.forget_creation(command(99)) AS unknown,
       idgen.forget_creation(NULL) AS null;
SELECT * FROM idgen.create_once(command(4), entity(6), 'order');

-- forget several commands for one entity
SELECT created FROM idgen.create_once(command(9), entity(6), 'order');
SELECT idgen.forget_creation_of(entity(6)) AS two, idgen.forget_creation_of(entity(99)) AS none;

-- order 17 and customer 17 are two entities, both as numbers and as text
SELECT created, idgen.create_once_bigint(command(12), 17, 'customer') AS customer
FROM idgen.create_once_bigint(command(11), 17, 'order');
SELECT idgen.forget_creation_of_bigint(17, 'invoice') AS none, idgen.forget_creation_of_bigint(17, 'order') AS one,
       idgen.forget_creation_of_bigint(17, 'order') AS gone, idgen.forget_creation_of_bigint(17, NULL) AS null;
SELECT * FROM idgen.create_once_bigint(command(12), 18, 'customer');
SELECT created, idgen.create_once_text(command(14), '17', 'customer') AS customer
FROM idgen.create_once_text(command(13), '17', 'order');
SELECT idgen.forget_creation_of_text('17', 'invoice') AS none, idgen.forget_creation_of_text('17', 'order') AS one,
       idgen.forget_creation_of_text('17', 'order') AS gone, idgen.forget_creation_of_text('17', NULL) AS null;
SELECT * FROM idgen.create_once_text(command(14), '18', 'customer');

--
-- purge, trim
--
TRUNCATE idgen.creation_identifiers;
INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
SELECT md5(n::text)::uuid, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, n, now() - n * interval '1 hour'
FROM generate_series(1, 100) n;

-- the oldest commands are purged first, at most batch_size of them, and newer commands are kept
SELECT idgen.purge_creations('72 hours', batch_size => 10) AS purged;
SELECT count(*), min(entity_number), max(entity_number) FROM idgen.creation_identifiers;
SELECT idgen.purge_creations('72 hours', batch_size => 10) AS purged;
SELECT idgen.purge_creations('72 hours', batch_size => 10) AS purged;
SELECT count(*), min(entity_number), max(entity_number) FROM idgen.creation_identifiers;
SELECT idgen.purge_creations('24 hours') AS purged;
SELECT count(*), min(entity_number), max(entity_number) FROM idgen.creation_identifiers;
SELECT idgen.purge_creations('30 days') AS purged;
SELECT idgen.purge_creations('106751991 days 04:00:54.775807') AS purged;

-- a day is 24 hours, even in a time zone whose UTC offset has changed since: of two commands half an hour before and
-- after the cutoff, only the older one is purged
BEGIN;
SET LOCAL timezone = 'America/New_York';
SELECT n AS days FROM generate_series(1, 366) n
WHERE now() - n * interval '1 day' <> now() - n * interval '24 hours' LIMIT 1 \gset
INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
SELECT md5('zone' || minutes)::uuid, 'order', 1000 + minutes,
    now() - (:days * interval '24 hours' + minutes * interval '1 minute')
FROM (VALUES (-30), (30)) v (minutes);
SELECT idgen.purge_creations(:days * interval '1 day') AS purged;
SELECT entity_number FROM idgen.creation_identifiers WHERE entity_number > 900;
ROLLBACK;

-- trim_creations() keeps the newest commands, of one name or of all names
SELECT idgen.trim_creations(5, 'even', 2) AS the_oldest_two;
SELECT min(entity_number) FROM idgen.creation_identifiers WHERE command_name = 'even';
SELECT idgen.trim_creations(5, 'even') AS trimmed;
SELECT command_name, count(*), min(entity_number), max(entity_number) FROM idgen.creation_identifiers GROUP BY 1
    ORDER BY 1;
SELECT idgen.trim_creations(3, 'unknown') AS trimmed;
SELECT idgen.trim_creations(12) AS trimmed;
SELECT command_name, count(*), min(entity_number), max(entity_number) FROM idgen.creation_identifiers GROUP BY 1
    ORDER BY 1;
SELECT idgen.trim_creations(9223372036854775807) AS trimmed;
SELECT idgen.purge_creations('0', 'unknown') AS unknown, idgen.purge_creations('0', 'even', 1) AS one;
SELECT idgen.trim_creations(0) AS trimmed;
-- a command that was recorded by the same statement is also deleted
SELECT created, idgen.trim_creations(0) AS trimmed
    FROM idgen.create_once_bigint('c0000000-0000-4000-8000-0000000000ff', 1, 'order');
SELECT count(*) FROM idgen.creation_identifiers;
SELECT idgen.purge_creations('0') AS purged;
-- while functions avoid sequential scans, queries of triggers are not compiled, although they seem expensive
BEGIN;
SET LOCAL jit = on;
CREATE FUNCTION show_jit() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE WARNING 'jit is %', current_setting('jit'); RETURN OLD; END $$;
CREATE TRIGGER show_jit BEFORE DELETE ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION show_jit();
INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
VALUES ('c0000000-0000-4000-8000-0000000000ff', 'order', 1, now() - interval '1 day');
SAVEPOINT recorded;
SELECT idgen.forget_creation('c0000000-0000-4000-8000-0000000000ff');
ROLLBACK TO recorded;
SELECT idgen.purge_creations('0');
ROLLBACK TO recorded;
SELECT idgen.trim_creations(0);
SHOW jit;
ROLLBACK;
-- by default, each call deletes at most 10,000 commands
INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
SELECT md5(n::text)::uuid, 'order', n, now() - interval '2 days' FROM generate_series(1, 20004) n;
SELECT idgen.purge_creations('24 hours') AS purged, idgen.trim_creations(3) AS trimmed, idgen.trim_creations(3) AS one;
TRUNCATE idgen.creation_identifiers;

-- a long name, which is stored out of line, is recorded and compared completely, but truncated in messages
SELECT string_agg(md5(n::text), '' ORDER BY n) AS long FROM generate_series(1, 1000) n \gset
SELECT created FROM idgen.create_once_bigint(command(10), 1, :'long');
SELECT created FROM idgen.create_once_bigint(command(10), 1, :'long');
SELECT command_name = :'long' AS whole FROM idgen.creation_identifiers WHERE command_id = command(10);
SELECT created FROM idgen.create_once_bigint(command(10), 1, left(:'long', 31999) || 'y');
SELECT idgen.forget_creation(command(10));
DROP FUNCTION command, entity;
