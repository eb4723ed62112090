-- Measure the time of a call of each function, and print a Markdown table. A statement calls a generator :calls times,
-- or calls a function that reads identifiers once for each row of a table.
CREATE TABLE idgen_bench.ids AS
    SELECT number, id, id::text AS text, idgen.uuid_to_base(id, 36) AS base_36, idgen.uuid_v7() AS v7
    FROM (SELECT number, idgen.short_comb() AS id FROM generate_series(1, :calls::bigint) number OFFSET 0) made;
VACUUM ANALYZE idgen_bench.ids;
CREATE SEQUENCE idgen_bench.numbers CACHE 1;

-- The first call of each source is the baseline. Its time is subtracted from the times of the other calls.
CREATE TEMPORARY TABLE calls (number serial, source text, call text, best float8);
INSERT INTO calls (source, call)
SELECT format('generate_series(1, %s)', :calls), unnest(ARRAY['pg_backend_pid()', 'gen_random_uuid()',
    'nextval(''idgen_bench.numbers'')', 'idgen.uuid_v4()', 'idgen.uuid_v7()', 'idgen.comb()',
    'idgen.keyed_comb(''orders'')', 'idgen.hmac_comb(''orders'', ''default'')', 'idgen.short_comb()',
    'idgen.short_comb(run_length => 1024)', 'idgen.uuid_v1()', 'idgen.uuid_v6()', 'idgen.lambert_comb()',
    'idgen.suffix_comb()', 'idgen.short_suffix_comb()', 'idgen.sequence_comb(''idgen_bench.numbers'')',
    'idgen.ulid()', 'idgen.typeid(''user'')', 'idgen.object_id()', 'idgen.uuid_v7_ordered()',
    'idgen.snowflake()', 'idgen.trace_id()', 'idgen.js_id()', 'idgen.decimal_id()'])
UNION ALL
SELECT 'idgen_bench.ids', unnest(ARRAY['number', 'id::text', 'text::uuid', 'idgen.is_recent_short_comb(id)',
    'idgen.is_recent_hmac_comb(id, ''orders'', ''default'')', 'idgen.mask_uuid_v7(v7)', 'idgen.unmask_uuid_v7(id)',
    'idgen.permute(number, ''orders'')', 'idgen.unpermute(number, ''orders'')',
    'idgen.prefixed_id_from_uuid(''acct'', id)',
    'idgen.uuid_v5(id, ''www.example.com'')', 'idgen.named_uuid_v7(''2026-01-01'', id, ''www.example.com'')',
    'idgen.uuid_to_base(id, 36)', 'idgen.uuid_from_base(base_36, 36)']);

-- Measure each call in turn, and store its shortest time in seconds.
CREATE FUNCTION pg_temp.time_calls() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    timed record;
    began timestamptz;
BEGIN
    FOR timed IN SELECT * FROM calls ORDER BY number LOOP
        began := clock_timestamp();
        EXECUTE format('SELECT count(%s) FROM %s', timed.call, timed.source);
        UPDATE calls SET best = least(best, extract(epoch FROM clock_timestamp() - began)) WHERE number = timed.number;
    END LOOP;
END
$$;
SELECT pg_temp.time_calls() FROM generate_series(1, :rounds) \g /dev/null

SELECT E'| call | ns |\n|---|--:|';
SELECT format('| `%s` | %s |', call, round((1e9 * (best - base) / :calls)::numeric, 1))
FROM (SELECT *, first_value(best) OVER (PARTITION BY source ORDER BY number) AS base FROM calls) timed
WHERE call NOT IN ('pg_backend_pid()', 'number') ORDER BY number;
