-- Time each query of idgen_bench.calls, in turn, :rounds times, and keep the
-- best time of each in seconds. A generator is called :calls times in one
-- statement; where the calls read identifiers, it is once for each row of ids.
CREATE TABLE idgen_bench.ids AS
    SELECT idgen.short_comb() AS id FROM generate_series(1, :calls);
VACUUM ANALYZE idgen_bench.ids;

-- baseline: the query that costs what this one costs beside the function
CREATE TABLE idgen_bench.calls (name text PRIMARY KEY, number serial, query text, baseline text, best float8);
INSERT INTO idgen_bench.calls (name, query, baseline)
SELECT call,
       format('SELECT count(%s) FROM (SELECT generate_series(1, %s)) calls', call, :calls),
       CASE WHEN call <> 'pg_backend_pid()' THEN 'pg_backend_pid()' END
FROM unnest(ARRAY['pg_backend_pid()', 'gen_random_uuid()', 'idgen.uuid_v4()', 'idgen.uuid_v7()',
                  'idgen.comb()', 'idgen.short_comb()', 'idgen.short_comb(run_length => 1024)']) call;
INSERT INTO idgen_bench.calls (name, query, baseline)
VALUES ('id', 'SELECT count(id) FROM idgen_bench.ids', NULL),
       ('idgen.is_short_comb(id)', 'SELECT count(idgen.is_short_comb(id)) FROM idgen_bench.ids', 'id');

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

-- name, net nanoseconds a call
SELECT c.name, 1e9 * (c.best - b.best) / :calls
FROM idgen_bench.calls c JOIN idgen_bench.calls b ON b.name = c.baseline
ORDER BY c.number;
