-- The queries that functions.sql and editions.sql time. "baseline" is the name of the
-- same query without the function; # in a query is the number of the round.
CREATE TEMPORARY TABLE calls (name text PRIMARY KEY, number serial, kind text, query text, baseline text, best float8);

-- Time each of them in turn, and keep its shortest time in seconds.
CREATE FUNCTION pg_temp.time_calls(round int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call record;
    began timestamptz;
    seconds float8;
BEGIN
    FOR call IN SELECT name, query FROM calls ORDER BY number LOOP
        began := clock_timestamp();
        EXECUTE replace(call.query, '#', round::text);
        seconds := extract(epoch FROM clock_timestamp() - began);
        UPDATE calls c SET best = least(c.best, seconds) WHERE c.name = call.name;
    END LOOP;
END
$$;

CREATE TEMPORARY VIEW net AS
    SELECT c.number, c.kind, c.name, (1e9 * (c.best - b.best) / :calls)::numeric AS ns
    FROM calls c JOIN calls b ON b.name = c.baseline;
