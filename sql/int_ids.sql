-- Identifiers that fit into a bigint.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY default

-- the generators require idgen.node_id or idgen.launch_id, which may be set on the server
SET idgen.node_id = -1;
SET idgen.launch_id = -1;
SELECT idgen.snowflake();
SELECT idgen.trace_id();
SELECT idgen.js_id();
SELECT idgen.decimal_id();
SET idgen.node_id = 0;
SET idgen.launch_id = 0;
SELECT idgen.snowflake_node(idgen.snowflake()), idgen.trace_id_node(idgen.trace_id()), idgen.js_id_node(idgen.js_id()),
       (idgen.decimal_id_parts(idgen.decimal_id())).launch_id;
SET idgen.node_id = 31;
SELECT idgen.js_id_node(idgen.js_id());
SET idgen.node_id = 32;
SELECT idgen.js_id();
SET idgen.node_id = 1023;
SELECT idgen.snowflake_node(idgen.snowflake());
SET idgen.node_id = 1024;
SELECT idgen.snowflake();
SET idgen.node_id = 65535;
SET idgen.launch_id = 99999;
SELECT idgen.trace_id_node(idgen.trace_id()), (idgen.decimal_id_parts(idgen.decimal_id())).launch_id;
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
-- rand_a is the fraction of the millisecond, as in uuid_v7(), so no timestamp is before the call
SELECT bool_and(left(id::text, 18) COLLATE "C" >= left(idgen.uuid_v7(before)::text, 18)) AS fraction
FROM (SELECT clock_timestamp() AS before, idgen.uuid_v7_ordered() AS id FROM generate_series(1, 1000) OFFSET 0) made;

-- decimal_id() increments its counter by one
SELECT b.counter - a.counter AS step
FROM idgen.decimal_id_parts(idgen.decimal_id()) a, idgen.decimal_id_parts(idgen.decimal_id()) b;

-- one statement generates more values than fit into one millisecond or second
SELECT count(*) AS n, count(*) FILTER (WHERE snowflake > last_snowflake) AS snowflakes,
       count(*) FILTER (WHERE trace_id > last_trace_id) AS trace_ids,
       count(*) FILTER (WHERE js_id > last_js_id) AS js_ids,
       count(*) FILTER (WHERE decimal_id > last_decimal_id) AS decimal_ids,
       count(*) FILTER (WHERE uuid > last_uuid) AS uuids,
       bool_and(idgen.snowflake_node(snowflake) = 21 AND idgen.trace_id_node(trace_id) = 21
                AND idgen.js_id_node(js_id) = 21 AND decimal_id % 100000 = 65) AS of_this_node
FROM (SELECT *, lag(snowflake, 1, 0::bigint) OVER w AS last_snowflake, lag(trace_id, 1, 0::bigint) OVER w
    AS last_trace_id,
             lag(js_id, 1, 0::bigint) OVER w AS last_js_id, lag(decimal_id, 1, 0::bigint) OVER w AS last_decimal_id,
             lag(uuid, 1, '00000000-0000-0000-0000-000000000000') OVER w AS last_uuid
      FROM (SELECT n, idgen.snowflake() AS snowflake, idgen.trace_id() AS trace_id, idgen.js_id() AS js_id,
                   idgen.decimal_id() AS decimal_id, idgen.uuid_v7_ordered() AS uuid
            FROM generate_series(1, 100000) n OFFSET 0) made
      WINDOW w AS (ORDER BY n)) ordered;
-- the counter of trace_id() continues, or starts at 1 in a new second
SELECT count(*) AS n, bool_and(counter = last_counter + 1 AND second = last_second OR counter = 1
    AND second > last_second) AS counts
FROM (SELECT *, lag(counter) OVER w AS last_counter, lag(second) OVER w AS last_second
      FROM (SELECT n, id >> 38 AS second, id & 4194303 AS counter
            FROM (SELECT n, idgen.trace_id() AS id FROM generate_series(1, 20000) n OFFSET 0) made) parts
      WINDOW w AS (ORDER BY n)) ordered
WHERE last_counter IS NOT NULL;

-- read snowflakes of other issuers: Twitter (2022-06-28 16:07:40.105) and Discord (2016-04-30 11:18:25.796)
SELECT idgen.snowflake_timestamp(1541815603606036480, '2010-11-04 01:42:54.657+00') AS twitter,
       idgen.snowflake_node(1541815603606036480) AS node, idgen.snowflake_counter(1541815603606036480) AS counter;
SELECT idgen.snowflake_timestamp(175928847299117063, '2015-01-01 00:00:00+00') AS discord,
       idgen.snowflake_node(175928847299117063) AS node, idgen.snowflake_counter(175928847299117063) AS counter;
-- Instagram's identifiers have 23 bits after the time: 13 bits for the shard and 10 bits for the counter
SELECT idgen.snowflake_timestamp(((1387263000::bigint << 23) | (1341 << 10) | 905) >> 1, '2011-08-24 21:07:01.721+00')
    AS instagram;
-- NULL does not mean the default epoch
SELECT idgen.snowflake_timestamp(1541815603606036480, NULL);
SELECT idgen.js_id_timestamp(0, NULL);
SELECT idgen.snowflake_floor('2026-01-01', NULL);
SELECT idgen.js_id_floor(NULL, NULL) IS NULL AS null;
SELECT idgen.snowflake(NULL);

-- check known answers, which were computed from the bit table of TraceId and the formula of DecimalId
SELECT idgen.trace_id_node(id), idgen.trace_id_counter(id), idgen.trace_id_timestamp(id, '2026-11-21 12:00:00+00')
FROM (VALUES ((1795262400::bigint & 33554431) * 2^38::bigint::numeric + 4711 * 2^22::bigint::numeric + 42)) v (n),
     LATERAL (SELECT n::bigint) b (id);
SELECT * FROM idgen.decimal_id_parts(14150009200065);

-- the time of trace_id() restarts every 388 days, and the clock selects the cycle
SELECT clock, idgen.trace_id_timestamp(1000::bigint << 38 | 1, clock)
FROM (VALUES (timestamptz '1970-01-01 00:00:00+00'), ('1970-01-01 00:16:40+00'), ('1971-01-23 00:53:51+00'),
             ('1971-01-23 00:53:52+00'), ('1969-12-31 00:16:40.5+00'), ('1969-12-31 00:16:39.5+00'),
             ('1969-12-31 00:16:39+00'),
             ('2026-11-21 12:00:00+00'), ('294276-12-30 00:00:00+00'), ('4713-01-01 00:00:00+00 BC')) v (clock);

-- a bound is the smallest identifier of a tick
SELECT at, idgen.snowflake_floor(at), idgen.js_id_floor(at)
FROM (VALUES (timestamptz '2020-01-01 00:00:00+00'), ('2020-01-01 00:00:00.001999+00'),
    ('2026-11-21 12:00:00.123456+00'),
             ('2089-09-06 15:47:35.551999+00')) v (at);
SELECT idgen.js_id_floor('2156-02-07 06:28:15.999999+00');
SELECT idgen.snowflake_floor('2010-11-04 01:42:54.658+00', '2010-11-04 01:42:54.657+00');
SELECT idgen.snowflake_timestamp(idgen.snowflake_floor('2089-09-06 15:47:35.551+00'));
SELECT idgen.snowflake_floor(now(), 'infinity');
SELECT idgen.snowflake_floor('294276-12-31 23:59:59.999999+00', '4713-01-01 00:00:00+00 BC');
SELECT idgen.snowflake_timestamp(1, '-infinity');
SELECT idgen.snowflake_timestamp(9223372036854775807, '294276-12-31 23:59:59+00') IS NULL AS beyond_timestamptz;
SELECT idgen.trace_id_timestamp(1, 'infinity');

-- the epoch is an argument of generators, readers and bounds
SELECT name, about_now(idgen.snowflake_timestamp(idgen.snowflake(epoch), epoch)) AS snowflake,
       about_now(idgen.js_id_timestamp(idgen.js_id(epoch), epoch)) AS js_id
FROM (VALUES ('the default', timestamptz '2020-01-01 00:00:00+00'), ('before it', '2015-01-01 00:00:00+00'),
             ('with microseconds', '2024-02-29 12:34:56.789999+05:30'), ('an hour ago', date_trunc('second',
             now() - interval '1 h')),
             ('1970', '1970-01-01 00:00:00+00')) v (name, epoch);
-- the epoch, like the timestamp, is rounded down to the unit of time of the identifier
SELECT idgen.snowflake_floor('2024-01-01 00:00:00.0005+00', '2024-01-01 00:00:00.0009+00') AS same_ms,
       idgen.snowflake_timestamp(1, '2024-01-01 00:00:00.0009+00') AS ms,
       idgen.js_id_floor('2024-01-01 00:00:00.5+00', '2024-01-01 00:00:00.9+00') AS same_second,
       idgen.js_id_timestamp(1, '2024-01-01 00:00:00.9+00') AS second;
-- the time must not be before the epoch, and must fit into the bits of the identifier
\set VERBOSITY sqlstate
SELECT idgen.snowflake('2999-01-01 00:00:00+00');
SELECT idgen.js_id('2999-01-01 00:00:00+00');
SELECT idgen.snowflake('1950-01-01 00:00:00+00');
SELECT idgen.js_id('1880-01-01 00:00:00+00');
SELECT idgen.snowflake('infinity');
SELECT idgen.js_id('-infinity');
\set VERBOSITY default
SELECT idgen.snowflake_floor('1949-12-31 00:00:00+00', '1950-01-01 00:00:00+00');
-- the epoch does not affect the values
SELECT about_now(idgen.snowflake_timestamp(idgen.snowflake()))
    AS snowflake, about_now(idgen.js_id_timestamp(idgen.js_id())) AS js_id;
-- readers and bounds are immutable, so generated columns and indexes can use them
CREATE TABLE dated (id bigint PRIMARY KEY,
    made timestamptz GENERATED ALWAYS AS (idgen.snowflake_timestamp(id, '2015-01-01 00:00:00+00')) STORED);
CREATE INDEX ON dated (idgen.js_id_timestamp(id));
INSERT INTO dated VALUES (175928847299117063) RETURNING made;
DROP TABLE dated;

-- each function has reserved some seconds after its last value
SELECT function, last_value >> 28 BETWEEN about + 5 AND about + 12 AS reserved
FROM (VALUES ('snowflake', extract(epoch FROM idgen.snowflake_timestamp(idgen.snowflake()))),
             ('trace_id', extract(epoch FROM idgen.trace_id_timestamp(idgen.trace_id()))),
             ('js_id', extract(epoch FROM idgen.js_id_timestamp(idgen.js_id()))),
             ('uuid_v7_ordered', extract(epoch FROM idgen.uuid_timestamp(idgen.uuid_v7_ordered())))) made (function,
             about),
     pg_sequences
WHERE schemaname = 'idgen' AND sequencename = function || '_mark';

-- values that were returned are not returned again after a rollback
BEGIN;
SELECT idgen.snowflake() AS before \gset
SAVEPOINT s;
SELECT idgen.snowflake() AS within \gset
ROLLBACK TO s;
SELECT idgen.snowflake() AS after \gset
ROLLBACK;
SELECT idgen.snowflake() > :after AND :after > :within AND :within > :before AS forward;

-- decimal_id() returns the numbers of its sequence; after the last counter, the generator increases by one
BEGIN;
SELECT setval('idgen.decimal_id_counter', 922337201);
SELECT parts.* FROM (SELECT idgen.decimal_id() AS id FROM generate_series(1, 2) OFFSET 0) made,
    idgen.decimal_id_parts(id) parts;
SELECT setval('idgen.decimal_id_counter', 92233720199999);
SELECT idgen.decimal_id(), lastval();
SAVEPOINT s;
SELECT idgen.decimal_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.decimal_id_counter MAXVALUE 92233720200001;
SELECT idgen.decimal_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.decimal_id_counter MINVALUE -1 RESTART -1;
SELECT idgen.decimal_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.decimal_id_counter SET UNLOGGED;
SELECT idgen.decimal_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.decimal_id_counter RENAME TO renamed;
SELECT idgen.decimal_id();
ROLLBACK;
ALTER SEQUENCE idgen.decimal_id_counter RESTART;

-- the next session continues from a high-water mark that the function did not write
SELECT last_value & 268435455 AS own, extract(epoch FROM now())::bigint AS second FROM idgen.js_id_mark \gset
SELECT setval('idgen.js_id_mark', (:second::bigint + 1000) << 28) > 0 AS set;
\c -
SET idgen.node_id = 21;
SET timezone = 'UTC';
SELECT extract(epoch FROM idgen.js_id_timestamp(idgen.js_id())) >= :second + 1000 AS continued;
-- even if the mark has the same low bits
SELECT setval('idgen.js_id_mark', (:second::bigint + 2000) << 28 | :own) > 0 AS set;
\c -
SET idgen.node_id = 21;
SET timezone = 'UTC';
SELECT extract(epoch FROM idgen.js_id_timestamp(idgen.js_id())) >= :second + 2000 AS continued;
-- but it does not continue from a smaller mark
SELECT setval('idgen.js_id_mark', 1) > 0 AS set;
\c -
SET idgen.node_id = 21;
SET timezone = 'UTC';
SELECT extract(epoch FROM idgen.js_id_timestamp(idgen.js_id())) >= :second + 2000 AS not_lowered;
SELECT last_value >> 28 > :second + 2000 AS written_again FROM idgen.js_id_mark;

-- these cases raise an error: a high-water mark too far ahead of the clock, an unlogged sequence, a sequence with too
-- small a range, and no sequence
BEGIN;
ALTER SEQUENCE idgen.js_id_mark CACHE 2;
SAVEPOINT s;
SELECT setval('idgen.js_id_mark', (:second::bigint + 100000) << 28 | :own) > 0 AS set;
SELECT idgen.js_id();
ROLLBACK TO s;
SELECT setval('idgen.js_id_mark', 9223372036854775807) > 0 AS set;
SELECT idgen.js_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark MINVALUE -9 RESTART -9;
SELECT nextval('idgen.js_id_mark');
SELECT idgen.js_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark RESTART;
SELECT count(DISTINCT idgen.js_id()) FROM generate_series(1, 10);
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark SET UNLOGGED;
SELECT idgen.js_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark RESTART AS integer;
\set VERBOSITY sqlstate
SELECT idgen.js_id();
\set VERBOSITY default
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark RENAME TO renamed;
SELECT idgen.js_id();
ROLLBACK TO s;
ALTER SEQUENCE idgen.js_id_mark RENAME TO renamed;
CREATE VIEW idgen.js_id_mark AS SELECT 1 AS last_value;
SELECT idgen.js_id();
ROLLBACK;
SELECT extract(epoch FROM idgen.js_id_timestamp(idgen.js_id())) BETWEEN :second + 2000 AND :second + 3600 AS unmoved;

DROP FUNCTION about_now;
