-- Time each query of idgen_bench.calls, in turn, :rounds times, and keep the
-- shortest time of each in seconds. A statement calls a generator :calls times; a
-- function that reads identifiers, once for each row of ids.
CREATE TABLE idgen_bench.ids AS
    SELECT id, id::text AS text, idgen.uuid_to_base(id, 16) AS base_16, idgen.uuid_to_base(id, 32) AS base_32,
           idgen.uuid_to_base(id, 36) AS base_36, idgen.uuid_to_base(id, 58) AS base_58, idgen.uuid_to_base(id, 62) AS base_62
    FROM (SELECT idgen.short_comb() AS id FROM generate_series(1, :calls) OFFSET 0) made;
VACUUM ANALYZE idgen_bench.ids;

-- kind: generator, counter, check, mask or text; NULL for a baseline
-- baseline: the same query without the function
CREATE TABLE idgen_bench.calls (name text PRIMARY KEY, number serial, kind text, query text, baseline text, best float8);
INSERT INTO idgen_bench.calls (name, kind, query, baseline)
SELECT call, CASE WHEN call <> 'pg_backend_pid()' THEN 'generator' END,
       format('SELECT count(%s) FROM (SELECT generate_series(1, %s)) calls', call, :calls),
       CASE WHEN call <> 'pg_backend_pid()' THEN 'pg_backend_pid()' END
FROM unnest(ARRAY['pg_backend_pid()', 'gen_random_uuid()', 'idgen.uuid_v4()', 'idgen.uuid_v7()',
                  'idgen.comb()', 'idgen.short_comb()', 'idgen.short_comb(run_length => 1024)',
                  'idgen.uuid_v1()', 'idgen.uuid_v6()', 'idgen.lambert_comb()', 'idgen.suffix_comb()',
                  'idgen.short_suffix_comb()', 'idgen.ulid()']) call;
CREATE SEQUENCE idgen_bench.numbers CACHE 1;
INSERT INTO idgen_bench.calls (name, kind, query, baseline)
SELECT call, 'counter', format('SELECT count(%s) FROM (SELECT generate_series(1, %s)) calls', call, :calls), 'pg_backend_pid()'
FROM unnest(ARRAY['nextval(''idgen_bench.numbers'')', 'idgen.snowflake()', 'idgen.trace_id()', 'idgen.js_id()',
                  'idgen.decimal_id()', 'idgen.uuid_v7_ordered()', 'idgen.object_id()']) call
WHERE CASE call
      -- these settings can be changed only by a superuser
      WHEN 'idgen.snowflake()' THEN current_setting('idgen.node_id')::int BETWEEN 0 AND 1023
      WHEN 'idgen.trace_id()' THEN current_setting('idgen.node_id')::int >= 0
      WHEN 'idgen.js_id()' THEN current_setting('idgen.node_id')::int BETWEEN 0 AND 31
      WHEN 'idgen.decimal_id()' THEN current_setting('idgen.launch_id')::int >= 0
      ELSE true END;
INSERT INTO idgen_bench.calls (name, kind, query, baseline)
SELECT call, CASE WHEN call ~ '^idgen.is' THEN 'check' WHEN baseline IS NOT NULL THEN 'text' END,
       format('SELECT count(%s) FROM idgen_bench.ids', call), baseline
FROM (VALUES ('id', NULL), ('idgen.is_recent_short_comb(id)', 'id'), ('id::text', 'id'),
             ('idgen.uuid_v5(id, ''www.example.com'')', 'id'),
             ('idgen.uuid_to_base(id, 16)', 'id'), ('idgen.uuid_to_base(id, 32)', 'id'), ('idgen.uuid_to_base(id, 36)', 'id'),
             ('idgen.uuid_to_base(id, 58)', 'id'), ('idgen.uuid_to_base(id, 62)', 'id'),
             ('text', NULL), ('base_16', NULL), ('base_32', NULL), ('base_36', NULL), ('base_58', NULL), ('base_62', NULL),
             ('text::uuid', 'text'),
             ('idgen.uuid_from_base(base_16, 16)', 'base_16'), ('idgen.uuid_from_base(base_32, 32)', 'base_32'),
             ('idgen.uuid_from_base(base_36, 36)', 'base_36'), ('idgen.uuid_from_base(base_58, 58)', 'base_58'),
             ('idgen.uuid_from_base(base_62, 62)', 'base_62')) v (call, baseline);
-- with the server's mask keys, if it has any
INSERT INTO idgen_bench.calls (name, kind, query, baseline)
SELECT call, CASE WHEN baseline IS NOT NULL THEN 'mask' END,
       format('SELECT count(%s) FROM idgen_bench.masks', call), baseline
FROM (VALUES ('number', NULL), ('idgen.mask_uuid_v7(v7)', 'number'), ('idgen.unmask_uuid_v7(v4)', 'number'),
             ('idgen.permute(number)', 'number'), ('idgen.unpermute(number)', 'number'),
             ('idgen.permute(number, 9007199254740991)', 'number')) v (call, baseline)
WHERE current_setting('idgen.mask_key_file') <> '';
CREATE TABLE idgen_bench.masks AS
    SELECT idgen.uuid_v7() AS v7, idgen.uuid_v4() AS v4, number::bigint FROM generate_series(1, :calls) number;
VACUUM ANALYZE idgen_bench.masks;

CREATE FUNCTION idgen_bench.time_calls() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call record;
    began timestamptz;
    seconds float8;
BEGIN
    FOR call IN SELECT name, query FROM idgen_bench.calls ORDER BY number LOOP
        began := clock_timestamp();
        EXECUTE call.query;
        seconds := extract(epoch FROM clock_timestamp() - began);
        UPDATE idgen_bench.calls c SET best = least(c.best, seconds) WHERE c.name = call.name;
    END LOOP;
END
$$;

SELECT count(idgen_bench.time_calls()) FROM generate_series(1, :rounds) \g /dev/null

-- kind, name, net nanoseconds a call
SELECT c.kind, c.name, 1e9 * (c.best - b.best) / :calls
FROM idgen_bench.calls c JOIN idgen_bench.calls b ON b.name = c.baseline
ORDER BY c.number;
