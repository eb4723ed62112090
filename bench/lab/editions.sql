-- Time functions that both editions of idgen have: :calls calls in a statement. Prints
-- the name and the net nanoseconds of a call.
\ir timing.sql
CREATE TEMPORARY TABLE ids AS SELECT idgen.short_comb() AS id FROM generate_series(1, :calls);
VACUUM ANALYZE ids;
INSERT INTO calls (name, query, baseline)
SELECT call, format('SELECT count(%s) FROM %s', call, source), nullif(baseline, call)
FROM (SELECT unnest(ARRAY['pg_backend_pid()', 'gen_random_uuid()', 'idgen.uuid_v7()', 'idgen.comb()',
                          'idgen.short_comb()', 'idgen.ulid()', 'idgen.prefixed_id(''acct'')']) AS call,
             format('(SELECT generate_series(1, %s)) calls', :calls) AS source, 'pg_backend_pid()' AS baseline
      UNION ALL SELECT unnest(ARRAY['id', 'idgen.is_recent_short_comb(id)', 'idgen.uuid_to_base(id, 36)',
                                    'idgen.comb_timestamp(id)']), 'ids', 'id') v;
-- a round's replays repeat its first calls
INSERT INTO calls (name, query, baseline)
SELECT name, format('SELECT count(%s) FROM generate_series(1, %s) n', call, :calls), nullif('md5', name)
FROM (SELECT 'md5' AS name, 'md5(n || '' #'')::uuid' AS call
      UNION ALL SELECT format('idgen.create_once(%s), %s', arguments, turn),
                       format('idgen.create_once(md5(n || '' # %s'')::uuid,
                               ''919108f7-52d1-4320-9bac-f847db4148a8''::uuid%s)', arguments, given)
      FROM (VALUES ('', ''), ('request', ', ''order'',
                jsonb_build_object(''item'', n, ''quantity'', 2, ''price'', 12.5)')) v (arguments, given),
           unnest(ARRAY['first call', 'replay']) turn) v;
SELECT pg_temp.time_calls(round) FROM generate_series(1, :rounds) round \g /dev/null
SELECT name, ns FROM net ORDER BY number;
