-- Identifiers that fit into a bigint.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY default

-- the generators require idgen.node_id or idgen.launch_id, which the server may have
SET idgen.node_id = -1;
SET idgen.launch_id = -1;
SELECT idgen.snowflake();
SELECT idgen.trace_id();
SELECT idgen.js_id();
SELECT idgen.decimal_id();
SET idgen.node_id = 1024;
SELECT idgen.snowflake();
SELECT idgen.js_id();
SET idgen.node_id = 1023;
SELECT idgen.snowflake_node(idgen.snowflake());
SET idgen.node_id = 65536;
SET idgen.launch_id = 100000;

-- the readers return the parts of a new identifier
SET idgen.node_id = 21;
SET idgen.launch_id = 65;
CREATE FUNCTION about_now(instant timestamptz) RETURNS boolean
    LANGUAGE SQL RETURN instant BETWEEN statement_timestamp() - interval '2 s' AND clock_timestamp() + interval '1 h';
SELECT idgen.snowflake_node(id), idgen.snowflake_counter(id) BETWEEN 0 AND 4095 AS counter,
       about_now(idgen.snowflake_timestamp(id)) AS now, id BETWEEN 1 AND 9223372036854775807 AS domain
FROM idgen.snowflake() id;
SELECT idgen.trace_id_node(id), idgen.trace_id_counter(id) BETWEEN 1 AND 4194303 AS counter,
       about_now(idgen.trace_id_timestamp(id)) AS now, id BETWEEN 1 AND 9223372036854775807 AS domain
FROM idgen.trace_id() id;
SELECT idgen.js_id_node(id), idgen.js_id_counter(id) BETWEEN 0 AND 65535 AS counter,
       about_now(idgen.js_id_timestamp(id)) AS now, id BETWEEN 1 AND 9007199254740991 AS domain
FROM idgen.js_id() id;
SELECT parts.counter >= 1 AS counter, parts.generator, parts.launch_id,
       id = parts.counter * 10000000000 + parts.generator * 100000 + parts.launch_id AS formula
FROM idgen.decimal_id() id, idgen.decimal_id_parts(id) parts;
SELECT idgen.uuid_version(id), about_now(idgen.uuid_timestamp(id)) AS now FROM idgen.uuid_v7_ordered() id;
-- its rand_a is the fraction of the millisecond, as that of uuid_v7(): no time is before the call
SELECT bool_and(left(id::text, 18) COLLATE "C" >= left(idgen.uuid_v7(before)::text, 18)) AS fraction
FROM (SELECT clock_timestamp() AS before, idgen.uuid_v7_ordered() AS id FROM generate_series(1, 1000) OFFSET 0) made;

-- decimal_id() increments its counter by one
SELECT b.counter - a.counter AS step
FROM idgen.decimal_id_parts(idgen.decimal_id()) a, idgen.decimal_id_parts(idgen.decimal_id()) b;

-- more in one statement than the counter has values for one millisecond or second
SELECT count(*) AS n, count(*) FILTER (WHERE snowflake > last_snowflake) AS snowflakes,
       count(*) FILTER (WHERE trace_id > last_trace_id) AS trace_ids,
       count(*) FILTER (WHERE js_id > last_js_id) AS js_ids,
       count(*) FILTER (WHERE decimal_id > last_decimal_id) AS decimal_ids,
       count(*) FILTER (WHERE uuid > last_uuid) AS uuids
FROM (SELECT *, lag(snowflake, 1, 0::bigint) OVER w AS last_snowflake, lag(trace_id, 1, 0::bigint) OVER w AS last_trace_id,
             lag(js_id, 1, 0::bigint) OVER w AS last_js_id, lag(decimal_id, 1, 0::bigint) OVER w AS last_decimal_id,
             lag(uuid, 1, '00000000-0000-0000-0000-000000000000') OVER w AS last_uuid
      FROM (SELECT n, idgen.snowflake() AS snowflake, idgen.trace_id() AS trace_id, idgen.js_id() AS js_id,
                   idgen.decimal_id() AS decimal_id, idgen.uuid_v7_ordered() AS uuid
            FROM generate_series(1, 200000) n OFFSET 0) made
      WINDOW w AS (ORDER BY n)) ordered;
SELECT bool_and(idgen.trace_id_counter(id) > 0) AS counters_from_1
FROM (SELECT idgen.trace_id() AS id FROM generate_series(1, 100000)) made;

-- other issuers: Twitter (2022-06-28 16:07:40.105), Discord (2016-04-30 11:18:25.796)
SELECT idgen.snowflake_timestamp(1541815603606036480, '2010-11-04 01:42:54.657+00') AS twitter,
       idgen.snowflake_node(1541815603606036480) AS node, idgen.snowflake_counter(1541815603606036480) AS counter;
SELECT idgen.snowflake_timestamp(175928847299117063, '2015-01-01 00:00:00+00') AS discord,
       idgen.snowflake_node(175928847299117063) AS node, idgen.snowflake_counter(175928847299117063) AS counter;
-- Instagram's identifiers have 23 bits after the time: 13 of shard, 10 of counter
SELECT idgen.snowflake_timestamp(((1387263000::bigint << 23) | (1341 << 10) | 905) >> 1, '2011-08-24 21:07:01.721+00') AS instagram;
-- NULL is not the default epoch
SELECT idgen.snowflake_timestamp(1541815603606036480, NULL);
SELECT idgen.js_id_timestamp(0, NULL);
SELECT idgen.snowflake_floor('2026-01-01', NULL);
SELECT idgen.js_id_floor(NULL, NULL) IS NULL AS null;
SELECT idgen.snowflake(NULL);

-- the bit table and the formulas of TraceId and DecimalId
SELECT idgen.trace_id_node(id), idgen.trace_id_counter(id), idgen.trace_id_timestamp(id, '2026-11-21 12:00:00+00')
FROM (VALUES ((1795262400::bigint & 33554431) * 2^38::bigint::numeric + 4711 * 2^22::bigint::numeric + 42)) v (n),
     LATERAL (SELECT n::bigint) b (id);
SELECT * FROM idgen.decimal_id_parts(14150009200065);

-- trace_id's time restarts every 388 days; the clock selects the cycle
SELECT clock, idgen.trace_id_timestamp(1000::bigint << 38 | 1, clock)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'), ('1970-01-01 00:16:40+00'), ('1971-01-23 00:53:51+00'),
             ('1971-01-23 00:53:52+00'), ('1969-12-31 00:16:40.5+00'), ('1969-12-31 00:16:39.5+00'), ('1969-12-31 00:16:39+00'),
             ('2026-11-21 12:00:00+00'), ('294276-12-30 00:00:00+00'), ('4713-01-01 00:00:00+00 BC')) v (clock);

-- bounds: the smallest identifier of a tick
SELECT at, idgen.snowflake_floor(at), idgen.js_id_floor(at)
FROM (VALUES (timestamptz '2020-01-01 00:00:00+00'), ('2020-01-01 00:00:00.001999+00'), ('2026-11-21 12:00:00.123456+00'),
             ('2089-09-06 15:47:35.551999+00')) v (at);
SELECT idgen.js_id_floor('2156-02-07 06:28:15.999999+00');
SELECT idgen.snowflake_floor('2010-11-04 01:42:54.658+00', '2010-11-04 01:42:54.657+00');
SELECT idgen.snowflake_timestamp(idgen.snowflake_floor('2089-09-06 15:47:35.551+00'));
SELECT bool_and(idgen.snowflake_within(id, idgen.snowflake_timestamp(id), idgen.snowflake_timestamp(id) + interval '1 ms'))
FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, 1000) OFFSET 0) made;
SELECT idgen.snowflake_floor('2019-12-31 23:59:59.999999+00');
SELECT idgen.snowflake_floor('2089-09-06 15:47:35.552+00');
SELECT idgen.js_id_floor('2019-12-31 23:59:59.999999+00');
SELECT idgen.js_id_floor('2156-02-07 06:28:16+00');
SELECT idgen.snowflake_floor('infinity');
SELECT idgen.snowflake_floor('-infinity');
SELECT idgen.snowflake_floor(now(), 'infinity');
SELECT idgen.snowflake_floor('294276-12-31 23:59:59.999999+00', '4713-01-01 00:00:00+00 BC');
SELECT idgen.snowflake_timestamp(1, '-infinity');
SELECT idgen.snowflake_timestamp(9223372036854775807, '294276-12-31 23:59:59+00') IS NULL AS beyond_timestamptz;
SELECT idgen.trace_id_timestamp(1, 'infinity');

-- partitions by time, and a scan of one of them
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT idgen.snowflake(), n int) PARTITION BY RANGE (id);
CREATE TABLE events_2026_01 PARTITION OF events
    FOR VALUES FROM (idgen.snowflake_floor('2026-01-01 00:00:00+00')) TO (idgen.snowflake_floor('2026-02-01 00:00:00+00'));
CREATE TABLE events_2026_02 PARTITION OF events
    FOR VALUES FROM (idgen.snowflake_floor('2026-02-01 00:00:00+00')) TO (idgen.snowflake_floor('2026-03-01 00:00:00+00'));
CREATE TABLE events_later PARTITION OF events DEFAULT;
INSERT INTO events
SELECT idgen.snowflake_floor(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 hour'), n
FROM generate_series(0, 59 * 24 - 1) n;
INSERT INTO events (n) SELECT generate_series(1, 3);
SELECT tableoid::regclass AS partition, count(*) FROM events GROUP BY 1 ORDER BY 1;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT count(*) FROM events_2026_02
WHERE id >= idgen.snowflake_floor('2026-02-10 00:00:00+00') AND id < idgen.snowflake_floor('2026-02-11 00:00:00+00');
SELECT count(*) FROM events
WHERE id >= idgen.snowflake_floor('2026-02-10 00:00:00+00') AND id < idgen.snowflake_floor('2026-02-11 00:00:00+00');
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE events;

-- the smallest and the greatest identifier, and values out of range
SELECT id, idgen.snowflake_timestamp(id) AS "timestamp", idgen.snowflake_node(id) AS node, idgen.snowflake_counter(id) AS counter
FROM (VALUES (9223372036854775807), (1), (0), (-1), (-9223372036854775808)) v (id);
SELECT id, idgen.trace_id_timestamp(id, '2000-01-01 00:00:00+00') AS "timestamp", idgen.trace_id_node(id) AS node, idgen.trace_id_counter(id) AS counter
FROM (VALUES (9223372036854775807), (4194304), (1), (0), (-1), (-9223372036854775808)) v (id);
SELECT id, idgen.js_id_timestamp(id) AS "timestamp", idgen.js_id_node(id) AS node, idgen.js_id_counter(id) AS counter
FROM (VALUES (9223372036854775807), (9007199254740992), (9007199254740991), (1), (0), (-1), (-9223372036854775808)) v (id);
SELECT id, parts.*
FROM (VALUES (9223372036854775807), (9223372029999999999), (9223372030000000000), (10000000000), (9999999999), (0), (-10000000000), (-9223372036854775808)) v (id),
     idgen.decimal_id_parts(id) parts;

-- NULL
SELECT num_nulls(idgen.snowflake_timestamp(NULL), idgen.snowflake_node(NULL), idgen.snowflake_counter(NULL),
                 idgen.snowflake_floor(NULL), idgen.trace_id_timestamp(NULL),
                 idgen.trace_id_node(NULL), idgen.trace_id_counter(NULL), idgen.js_id_timestamp(NULL), idgen.js_id_node(NULL),
                 idgen.js_id_counter(NULL), idgen.js_id_floor(NULL)) AS eleven,
       (SELECT num_nulls(counter, generator, launch_id) FROM idgen.decimal_id_parts(NULL)) AS three;

-- the epoch is an argument of generators, readers and bounds
SELECT name, about_now(idgen.snowflake_timestamp(idgen.snowflake(epoch), epoch)) AS snowflake,
       about_now(idgen.js_id_timestamp(idgen.js_id(epoch), epoch)) AS js_id
FROM (VALUES ('the default', timestamptz '2020-01-01 00:00:00+00'), ('before it', '2015-01-01 00:00:00+00'),
             ('with microseconds', '2024-02-29 12:34:56.789999+05:30'), ('an hour ago', date_trunc('second', now() - interval '1 h')),
             ('1970', '1970-01-01 00:00:00+00')) v (name, epoch);
-- the epoch, like the timestamp, is rounded down to the identifier's unit of time
SELECT idgen.snowflake_floor('2024-01-01 00:00:00.0005+00', '2024-01-01 00:00:00.0009+00') AS same_ms,
       idgen.snowflake_timestamp(1, '2024-01-01 00:00:00.0009+00') AS ms,
       idgen.js_id_floor('2024-01-01 00:00:00.5+00', '2024-01-01 00:00:00.9+00') AS same_second,
       idgen.js_id_timestamp(1, '2024-01-01 00:00:00.9+00') AS second;
-- the time must not be before the epoch, nor exceed its bits
\set VERBOSITY sqlstate
SELECT idgen.snowflake('2999-01-01 00:00:00+00');
SELECT idgen.js_id('2999-01-01 00:00:00+00');
SELECT idgen.snowflake('1950-01-01 00:00:00+00');
SELECT idgen.js_id('1880-01-01 00:00:00+00');
SELECT idgen.snowflake('infinity');
SELECT idgen.js_id('-infinity');
\set VERBOSITY default
SELECT idgen.snowflake_floor('1949-12-31 00:00:00+00', '1950-01-01 00:00:00+00');
-- the epoch does not affect the ticker
SELECT ahead < '1 h' AS unmoved FROM idgen.tickers WHERE ticker IN ('snowflake', 'js_id');
-- readers and bounds are immutable: they can be used in generated columns and indexes
CREATE TABLE dated (id bigint PRIMARY KEY,
    made timestamptz GENERATED ALWAYS AS (idgen.snowflake_timestamp(id, '2015-01-01 00:00:00+00')) STORED);
CREATE INDEX ON dated (idgen.js_id_timestamp(id));
INSERT INTO dated VALUES (175928847299117063) RETURNING made;
DROP TABLE dated;

-- read-only transactions
\set VERBOSITY default
START TRANSACTION READ ONLY;
SELECT idgen.snowflake();
ROLLBACK;
START TRANSACTION READ ONLY;
SELECT idgen.uuid_v7_ordered();
ROLLBACK;
START TRANSACTION READ ONLY;
SELECT count(*) FROM idgen.tickers;
COMMIT;

-- the view of the tickers, shortly after calls
SELECT statement_timestamp() AS began, num_nonnulls(idgen.snowflake(), idgen.trace_id(), idgen.js_id(), idgen.decimal_id(), idgen.uuid_v7_ordered()) AS made \gset
SELECT ticker, last_value > 0 AS started, last_time BETWEEN :'began'::timestamptz - interval '2 s' AND clock_timestamp() + interval '1 h' AS now, ahead >= '0' AS ahead,
       reserved_value > last_value AS reserved, reserved_until > last_time AS reserved_longer
FROM idgen.tickers;
SELECT t.ticker, t.reserved_value = s.last_value AS in_its_sequence
FROM idgen.tickers t JOIN pg_sequences s ON s.schemaname = 'idgen' AND s.sequencename = t.ticker || '_ticker' ORDER BY 1;
SELECT last_value = (extract(epoch FROM idgen.snowflake_timestamp(id)) * 1000)::bigint << 12 | idgen.snowflake_counter(id) AS time_and_counter
FROM (SELECT idgen.snowflake() AS id OFFSET 0) made, LATERAL (SELECT last_value FROM idgen.ticker_state('snowflake') WHERE id > 0) state;
SELECT * FROM idgen.ticker_state('sonnenblume');

-- a rollback does not undo the ticker's changes
BEGIN;
SELECT idgen.decimal_id() AS before \gset
SAVEPOINT s;
SELECT idgen.decimal_id() AS within \gset
ROLLBACK TO s;
SELECT idgen.decimal_id() AS after \gset
ROLLBACK;
SELECT idgen.decimal_id() > :after AND :after > :within AND :within > :before AS forward;

-- create the extension, restore a high-water mark, generate values and roll back in
-- one transaction: the values are above the restored high-water mark, and that of
-- other sessions does not change
SELECT last_value + 10000000000 AS restored, reserved_value AS high_water_mark FROM idgen.ticker_state('snowflake') \gset
BEGIN;
DROP EXTENSION idgen;
CREATE EXTENSION idgen;
SELECT setval('idgen.snowflake_ticker', :restored) = :restored AS restored;
SELECT last_value >= :restored AS above FROM idgen.snowflake() id, LATERAL (SELECT last_value FROM idgen.ticker_state('snowflake') WHERE id > 0) s;
SELECT ((b >> 22) - (a >> 22)) * 4096 + (b & 4095) - (a & 4095) BETWEEN 1 AND 4096 AS next
FROM idgen.snowflake() a, idgen.snowflake() b;
ROLLBACK;
SELECT reserved_value = :high_water_mark AS untouched FROM idgen.ticker_state('snowflake');
SELECT last_value >= :restored AS above FROM idgen.snowflake() id, LATERAL (SELECT last_value FROM idgen.ticker_state('snowflake') WHERE id > 0) s;
SELECT reserved_value > :restored AS reserved_anew FROM idgen.ticker_state('snowflake');

-- raise_ticker() and raise_decimal_id() raise a ticker and its high-water mark, and
-- never lower them
SELECT idgen.decimal_id() AS before \gset
SELECT last_value + 5000000 AS foreign_counter, (last_value + 5000000) * 10000000000 + 99999 AS foreign_id FROM idgen.ticker_state('decimal_id') \gset
SELECT idgen.raise_decimal_id(:foreign_id);
SELECT last_value >= :foreign_counter AS ticker, reserved_value > :foreign_counter AS high_water_mark FROM idgen.ticker_state('decimal_id');
SELECT parts.counter = :foreign_counter + 1 AS next FROM idgen.decimal_id_parts(idgen.decimal_id()) parts;
SELECT idgen.raise_decimal_id(10000000000);
SELECT parts.counter = :foreign_counter + 2 AS next FROM idgen.decimal_id_parts(idgen.decimal_id()) parts;
\set VERBOSITY default
SELECT idgen.raise_decimal_id(9999999999);
\set VERBOSITY terse
SELECT idgen.raise_decimal_id(0);
SELECT idgen.raise_decimal_id(9223372030000000000);
SELECT idgen.raise_decimal_id(NULL) IS NULL AS nothing;
SELECT now() + interval '10 minutes' AS later \gset
SELECT ticker, idgen.raise_ticker(ticker, :'later')
FROM unnest(ARRAY['snowflake', 'trace_id', 'js_id', 'uuid_v7_ordered']) ticker;
SELECT idgen.snowflake_timestamp(idgen.snowflake()) > :'later' AS snowflake,
	idgen.trace_id_timestamp(idgen.trace_id()) > :'later' AS trace_id,
	idgen.js_id_timestamp(idgen.js_id()) > :'later' AS js_id,
	idgen.uuid_timestamp(idgen.uuid_v7_ordered()) > :'later' AS uuid_v7_ordered;
-- above an identifier's time: greater than all of that millisecond
SELECT idgen.snowflake() AS last_one \gset
SELECT idgen.raise_ticker('snowflake', idgen.snowflake_timestamp(:last_one));
SELECT idgen.snowflake_timestamp(idgen.snowflake()) > idgen.snowflake_timestamp(:last_one) AS later;
-- a time that has passed
SELECT idgen.raise_ticker('snowflake', '1960-01-01 00:00:00+00'), idgen.raise_ticker('js_id', '4714-11-24 00:00:00+00 BC');
SELECT idgen.snowflake() > :last_one AS not_lowered;
SELECT ticker, idgen.raise_ticker(ticker, NULL) IS NULL AS nothing FROM unnest(ARRAY['snowflake', 'decimal_id']) ticker;
SELECT idgen.raise_ticker(NULL, now());
\set VERBOSITY default
SELECT idgen.raise_ticker('snowflake', now() + interval '2 days');
\set VERBOSITY terse
SELECT idgen.raise_ticker('js_id', '294276-12-31 23:59:59+00');
SELECT idgen.raise_ticker('trace_id', '294276-12-31 23:59:59+00');
SELECT idgen.raise_ticker('uuid_v7_ordered', '10889-08-02 05:31:50.655+00');
SELECT idgen.raise_ticker('uuid_v7_ordered', 'infinity');
SELECT idgen.raise_ticker('uuid_v7_ordered', '-infinity');
\set VERBOSITY default
SELECT idgen.raise_ticker('decimal_id', now());
\set VERBOSITY sqlstate
SELECT idgen.raise_ticker('sunflower', now());
SELECT idgen.ticker_state('sunflower');
\set VERBOSITY terse
START TRANSACTION READ ONLY;
SELECT idgen.raise_decimal_id(10000000000);
ROLLBACK;
START TRANSACTION READ ONLY;
SELECT idgen.raise_ticker('js_id', now());
ROLLBACK;
CREATE ROLE regress_idgen_clerk;
SET ROLE regress_idgen_clerk;
SELECT idgen.raise_decimal_id(10000000000);
SELECT idgen.raise_ticker('js_id', now());
RESET ROLE;
GRANT UPDATE ON SEQUENCE idgen.decimal_id_ticker TO regress_idgen_clerk;
SET ROLE regress_idgen_clerk;
SELECT idgen.raise_decimal_id(10000000000);
RESET ROLE;
REVOKE ALL ON SEQUENCE idgen.decimal_id_ticker FROM regress_idgen_clerk;
DROP ROLE regress_idgen_clerk;
\set VERBOSITY default
-- the generator counts more than the counter
SELECT idgen.raise_decimal_id(10000300007);
SELECT counter, generator FROM idgen.decimal_id_parts(idgen.decimal_id());

-- functions that use a ticker are parallel unsafe
SELECT count(*) FROM pg_proc
WHERE pronamespace = 'idgen'::regnamespace AND proparallel <> 'u'
  AND proname IN ('snowflake', 'trace_id', 'js_id', 'decimal_id', 'uuid_v7_ordered', 'raise_ticker', 'raise_decimal_id', 'ticker_state');

-- a ticker whose sequence was dropped
BEGIN;
ALTER EXTENSION idgen DROP SEQUENCE idgen.js_id_ticker;
DROP SEQUENCE idgen.js_id_ticker;
SELECT idgen.js_id();
ROLLBACK;
SELECT idgen.js_id_node(idgen.js_id()) AS node;

DROP FUNCTION about_now;
