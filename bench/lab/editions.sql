-- Time functions that both editions of idgen have, as functions.sql does: :calls calls
-- in a statement, :rounds times. Prints the name and the net nanoseconds of a call of
-- the fastest round.
CREATE TABLE idgen_bench.edition_ids AS SELECT idgen.short_comb() AS id FROM generate_series(1, :calls);
VACUUM ANALYZE idgen_bench.edition_ids;

-- name, query and baseline, in which # is the number of the round
CREATE TABLE idgen_bench.edition_calls (number serial, name text, query text, baseline text, best float8 DEFAULT 'infinity');
INSERT INTO idgen_bench.edition_calls (name, query, baseline)
SELECT call, format('SELECT count(%s) FROM (SELECT generate_series(1, %s)) calls', call, :calls),
       format('SELECT count(pg_backend_pid()) FROM (SELECT generate_series(1, %s)) calls', :calls)
FROM unnest(ARRAY['gen_random_uuid()', 'idgen.uuid_v7()', 'idgen.comb()', 'idgen.short_comb()', 'idgen.ulid()',
                  'idgen.prefixed_id(''acct'')']) call;
INSERT INTO idgen_bench.edition_calls (name, query, baseline)
SELECT call, format('SELECT count(%s) FROM idgen_bench.edition_ids', call), 'SELECT count(id) FROM idgen_bench.edition_ids'
FROM unnest(ARRAY['idgen.is_recent_short_comb(id)', 'idgen.uuid_to_base(id, 36)', 'idgen.comb_timestamp(id)']) call;
-- a round's replays repeat its first calls
INSERT INTO idgen_bench.edition_calls (name, query, baseline)
SELECT format('idgen.create_once(%s), %s', arguments, turn),
       format('SELECT count(idgen.create_once(md5(n || '' # %s'')::uuid, ''919108f7-52d1-4320-9bac-f847db4148a8''::uuid%s)) FROM generate_series(1, %s) n', arguments, given, :calls),
       format('SELECT count(md5(n || '' #'')::uuid) FROM generate_series(1, %s) n', :calls)
FROM (VALUES ('', ''), ('request', ', ''order'', jsonb_build_object(''item'', n, ''quantity'', 2, ''price'', 12.5)')) v (arguments, given),
     unnest(ARRAY['first call', 'replay']) turn;

CREATE FUNCTION idgen_bench.time_edition(round int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    call record;
    began timestamptz;
    net float8;
BEGIN
    FOR call IN SELECT * FROM idgen_bench.edition_calls ORDER BY number LOOP
        began := clock_timestamp();
        EXECUTE replace(call.query, '#', round::text);
        net := extract(epoch FROM clock_timestamp() - began);
        began := clock_timestamp();
        EXECUTE replace(call.baseline, '#', round::text);
        net := net - extract(epoch FROM clock_timestamp() - began);
        UPDATE idgen_bench.edition_calls SET best = least(best, net) WHERE number = call.number;
    END LOOP;
END
$$;
SELECT idgen_bench.time_edition(round) FROM generate_series(1, :rounds) round \g /dev/null

SELECT name, 1e9 * best / :calls FROM idgen_bench.edition_calls ORDER BY number;
