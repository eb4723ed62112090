-- Time a call of each function, and print Markdown tables. A statement calls a generator
-- :calls times; a function that reads identifiers, once for each row of a table.

-- The queries that are timed. "baseline" is the name of the same query without the function.
CREATE TEMPORARY TABLE calls (name text PRIMARY KEY, number serial, kind text, query text, baseline text, best float8);

-- Time each of them in turn, and keep its shortest time in seconds.
CREATE FUNCTION pg_temp.time_calls() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call record;
    began timestamptz;
BEGIN
    FOR call IN SELECT name, query FROM calls ORDER BY number LOOP
        began := clock_timestamp();
        EXECUTE call.query;
        UPDATE calls c SET best = least(c.best, extract(epoch FROM clock_timestamp() - began)) WHERE c.name = call.name;
    END LOOP;
END
$$;

CREATE TEMPORARY VIEW net AS
    SELECT c.number, c.kind, c.name, (1e9 * (c.best - b.best) / :calls)::numeric AS ns
    FROM calls c JOIN calls b ON b.name = c.baseline;

CREATE TABLE idgen_bench.ids AS
    SELECT id, id::text AS text, idgen.uuid_to_base(id, 16) AS base_16, idgen.uuid_to_base(id, 32) AS base_32,
           idgen.uuid_to_base(id, 36) AS base_36, idgen.uuid_to_base(id, 58) AS base_58,
           idgen.uuid_to_base(id, 62) AS base_62
    FROM (SELECT idgen.short_comb() AS id FROM generate_series(1, :calls) OFFSET 0) made;
CREATE TABLE idgen_bench.masks AS
    SELECT idgen.uuid_v7() AS v7, idgen.uuid_v4() AS v4, number FROM generate_series(1, :calls::bigint) number;
VACUUM ANALYZE idgen_bench.ids, idgen_bench.masks;
CREATE SEQUENCE idgen_bench.numbers CACHE 1;

-- kind: generator, counter, check, mask or text; NULL for a baseline
INSERT INTO calls (name, kind, query, baseline)
SELECT call, kind, format('SELECT count(%s) FROM (SELECT generate_series(1, %s)) calls', call, :calls),
       CASE WHEN kind IS NOT NULL THEN 'pg_backend_pid()' END
FROM (SELECT NULL AS kind, 'pg_backend_pid()' AS call
      UNION ALL SELECT 'generator', unnest(ARRAY['gen_random_uuid()', 'idgen.uuid_v4()', 'idgen.uuid_v7()',
          'idgen.comb()', 'idgen.keyed_comb()', 'idgen.keyed_comb(area => ''orders'')', 'idgen.short_comb()',
          'idgen.short_comb(run_length => 1024)', 'idgen.uuid_v1()',
          'idgen.uuid_v6()', 'idgen.lambert_comb()', 'idgen.suffix_comb()', 'idgen.short_suffix_comb()',
          'idgen.ulid()', 'idgen.typeid(''user'')', 'idgen.sequence_comb(''idgen_bench.numbers'')'])
      UNION ALL SELECT 'counter', unnest(ARRAY['nextval(''idgen_bench.numbers'')', 'idgen.snowflake()',
          'idgen.trace_id()', 'idgen.js_id()', 'idgen.decimal_id()', 'idgen.uuid_v7_ordered()',
          'idgen.object_id()'])) v
WHERE CASE call
      -- these settings can be changed only by a superuser
      WHEN 'idgen.snowflake()' THEN current_setting('idgen.node_id')::int BETWEEN 0 AND 1023
      WHEN 'idgen.trace_id()' THEN current_setting('idgen.node_id')::int >= 0
      WHEN 'idgen.js_id()' THEN current_setting('idgen.node_id')::int BETWEEN 0 AND 31
      WHEN 'idgen.decimal_id()' THEN current_setting('idgen.launch_id')::int >= 0
      ELSE true END;
INSERT INTO calls (name, kind, query, baseline)
SELECT call, CASE WHEN call ~ '^idgen.is' THEN 'check' WHEN baseline IS NOT NULL THEN 'text' END,
       format('SELECT count(%s) FROM idgen_bench.ids', call), baseline
FROM (VALUES ('id', NULL), ('idgen.is_recent_short_comb(id)', 'id'), ('id::text', 'id'),
             ('idgen.uuid_v5(id, ''www.example.com'')', 'id'), ('text', NULL), ('text::uuid', 'text')
      UNION ALL SELECT format(call, base), format(baseline, base)
      FROM unnest(ARRAY[16, 32, 36, 58, 62]) base,
           (VALUES ('idgen.uuid_to_base(id, %s)', 'id'), ('base_%s', NULL),
                   ('idgen.uuid_from_base(base_%s, %1$s)', 'base_%s')) v (call, baseline)) v (call, baseline);
-- with the server's keys, if it has any
INSERT INTO calls (name, kind, query, baseline)
SELECT call, CASE WHEN baseline IS NOT NULL THEN 'mask' END,
       format('SELECT count(%s) FROM idgen_bench.masks', call), baseline
FROM (VALUES ('number', NULL), ('idgen.mask_uuid_v7(v7)', 'number'), ('idgen.unmask_uuid_v7(v4)', 'number'),
             ('idgen.permute(number)', 'number'), ('idgen.unpermute(number)', 'number'),
             ('idgen.permute(number, 9007199254740991)', 'number')) v (call, baseline)
WHERE current_setting('idgen.key_file') <> '';

SELECT pg_temp.time_calls() FROM generate_series(1, :rounds) \g /dev/null

SELECT format(E'\n%s: net time of a call, best of %s rounds of %s\n\n'
              '| call | ns | : %s | : %s |\n|---|--:|--:|--:|\n%s',
              t.title, :rounds, to_char(:calls, 'FM999,999,999'), one.name, other.name,
              (SELECT string_agg(format('| `%s` | %s | %s | %s |', name, round(ns, 1),
                                        round(ns / nullif(one.ns, 0), 3), round(ns / nullif(other.ns, 0), 3)),
                                 E'\n' ORDER BY number)
               FROM net WHERE kind = ANY (t.kinds)))
FROM (VALUES (1, '{generator,check}'::text[], 'Generating and checking', 'gen_random_uuid()', 'idgen.short_comb()'),
             (2, '{counter}', 'Counters of all sessions, and ObjectId', 'nextval(''idgen_bench.numbers'')',
              'gen_random_uuid()'),
             (3, '{mask}', 'Masks and permutations', 'gen_random_uuid()', 'idgen.uuid_v7()'),
             (4, '{text}', 'Writing and reading text', 'id::text', 'text::uuid')) t (place, kinds, title, one, other)
JOIN net one ON one.name = t.one
JOIN net other ON other.name = t.other
ORDER BY place;
