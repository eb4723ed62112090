-- Errors for invalid input: SQLSTATE, message, DETAIL and HINT.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

CREATE FUNCTION failure(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;

\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on

--
-- short_comb
--
SELECT input, f.* FROM (VALUES
    ($$period => '0'$$),
    ($$period => '-1 minute'$$),
    ($$period => '1 day -25 hours'$$),
    ($$period => '1 month'$$),
    ($$period => '1 year -12 months 1 minute'$$),
    ($$period => '1 month -30 days'$$),
    ($$period => '1500 microseconds'$$),
    ($$period => '1 microsecond'$$),
    ($$period => '365250 days'$$),
    ($$period => '365250 days', prefix_bytes => 6$$),
    ($$period => '365250 days 1 millisecond'$$),
    ($$period => '365251 days', prefix_bytes => 1$$),
    ($$period => '2147483647 days', prefix_bytes => 1$$),
    ($$period => '-2147483648 days', prefix_bytes => 1$$),
    ($$prefix_bytes => 0$$),
    ($$prefix_bytes => 7$$),
    ($$period => NULL$$),
    ($$prefix_bytes => NULL$$),
    ($$prefix_bytes => -2147483648$$),
    ($$clock => 'infinity'$$),
    ($$clock => '-infinity'$$),
    ($$clock => '1969-12-31 23:59:59+00'$$)) v (input),
    failure('SELECT idgen.short_comb(' || input || ')') f;

--
-- keyed_comb
--
SELECT input, f.* FROM (VALUES
    ($$'a', '0'$$),
    ($$'a', NULL$$),
    ($$NULL$$),
    ($$repeat('x', 63)$$),
    ($$repeat('x', 64)$$),
    ($$repeat(chr(228), 31)$$),
    ($$repeat(chr(228), 32)$$),
    ($$repeat('x', 100000000)$$),
    ($$'a', clock => 'infinity'$$),
    ($$'a', clock => '-infinity'$$),
    ($$'a', clock => '4714-11-24 00:00:00+00 BC'$$)) v (input),
    failure('SELECT idgen.keyed_comb(' || input || ')') f;

--
-- Version 7 and COMB: a clock out of range for 48 bits of Unix milliseconds
--
SELECT call, clock, f.* FROM (VALUES
    ('infinity'), ('-infinity'), ('1969-12-31 23:59:59.999999+00'), ('10889-08-02 05:31:50.656+00'),
    ('4714-11-24 00:00:00+00 BC'),
    ('294276-12-31 23:59:59.999999+00')) c (clock),
    (VALUES ('uuid_v7'), ('comb'), ('ulid')) g (call),
    failure(format('SELECT idgen.%s(%L)', call, clock)) f;
-- a clock out of range for the ticks of versions 1 and 6, and for the seconds of ObjectIds
SELECT call, clock, f.* FROM (VALUES ('uuid_v1'), ('uuid_v6'), ('lambert_comb')) g (call),
    (VALUES ('infinity'), ('1582-10-14 23:59:59.999999+00'), ('5236-03-31 21:21:00.684698+00'),
    ('294276-12-31 23:59:59.999999+00')) c (clock),
    failure(format('SELECT idgen.%s(%L)', call, clock)) f;
SELECT clock, f.* FROM (VALUES ('-infinity'), ('1969-12-31 23:59:59.999999+00'), ('2106-02-07 06:28:16+00')) c (clock),
    failure(format('SELECT idgen.object_id(%L)', clock)) f;

--
-- Bases: invalid characters, overflow, empty text, wrong length
--
SELECT input, f.* FROM (VALUES
    ($$uuid_from_base('', 36)$$), ($$uuid_from_base('3e6wlko0bp8e7-9916hklbnd', 36)$$), ($$uuid_from_base(' 1', 36)$$),
    ($$uuid_from_base('1 ', 36)$$), ($$uuid_from_base('+1', 36)$$), ($$uuid_from_base('u', 32)$$),
    ($$uuid_from_base('0', 58)$$),
    ($$uuid_from_base('1l', 58)$$), ($$uuid_from_base('g', 16)$$),
    ($$uuid_from_base('00000000000000000000000000', 36)$$),
    ($$uuid_from_base('f5lxx1zz5pnorynqglhzmsp33', 36)$$), ($$uuid_from_base('f5lxx1zz5pnorynqglhzmsp34', 36)$$),
    ($$uuid_from_base('zzzzzzzzzzzzzzzzzzzzzzzzz', 36)$$),
    ($$uuid_from_base('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 32)$$), ($$uuid_from_base('80000000000000000000000000', 32)$$),
    ($$uuid_from_base('YcVfxkQb6JRzqk5kF2tNLv', 58)$$), ($$uuid_from_base('YcVfxkQb6JRzqk5kF2tNLw', 58)$$),
    ($$uuid_from_base('7n42DGM5Tflk9n8mt7Fhc7', 62)$$), ($$uuid_from_base('7n42DGM5Tflk9n8mt7Fhc8', 62)$$),
    ($$uuid_from_base('ffffffffffffffffffffffffffffffff', 16)$$),
    ($$uuid_from_base('100000000000000000000000000000000', 16)$$),
    ($$bigint_from_base('7fffffffffffffff', 16)$$), ($$bigint_from_base('8000000000000000', 16)$$),
    ($$bigint_from_base('10000000000000000', 16)$$), ($$bigint_from_base('AzL8n0Y58m8', 62)$$),
    ($$bigint_from_base('', 16)$$),
    ($$bigint_from_base('-1', 16)$$), ($$bigint_to_base(-1, 16)$$), ($$bigint_to_base(1, 10)$$),
    ($$bigint_to_base(1, 64)$$),
    ($$uuid_to_base('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid, 0)$$), ($$uuid_from_base('1', 2)$$),
    ($$bigint_from_base('1', -36)$$),
    ($$uuid_from_base(repeat('0', 10000000), 36)$$), ($$bigint_from_base(repeat('0', 25), 36)$$),
    ($$uuid_from_base(repeat('0', 25) || '!', 36)$$)) v (input),
    failure('SELECT idgen.' || input) f;

--
-- Text: positions are counted in characters, and messages do not contain long strings. chr(228) is two bytes long, and
-- chr(128512) is four bytes long.
--
SELECT left(input, 40), f.* FROM (VALUES
    (''), ('507f1f77bcf86cd79943901'), ('507f1f77bcf86cd7994390111'), (' 507f1f77bcf86cd799439011'),
    ('507f1f77bcf86cd799439011 '), ('507f1f77bcf86cd79943901g'), ('507f1f77-cf86cd799439011'),
    ('507f1f77bcf86cd799439`11'), ('507f1f77bcf86cd79943901' || chr(233)), ('507f' || repeat(chr(233), 20)),
    (repeat(chr(8364), 8)), (repeat(chr(128512), 24)), (repeat(chr(128512), 24) || 'x'), (repeat('5', 100000)),
    ('919108f7-52d1-4320-9bac-f847db4148a8')) v (input),
    failure(format('SELECT idgen.object_id_timestamp(%L)', input)) f;
SELECT input, f.detail FROM (VALUES
    ($$uuid_from_base('12' || chr(228), 36)$$), ($$uuid_from_base(repeat('1', 12) || repeat(chr(228), 13), 36)$$),
    ($$uuid_from_base(repeat('1', 24) || chr(128512), 36)$$), ($$uuid_from_base(repeat(chr(128512), 26), 36)$$),
    ($$bigint_from_base(repeat(chr(228), 2), 62)$$), ($$ulid_to_uuid(repeat(chr(228), 13))$$),
    ($$ulid_to_uuid('01ARZ3NDEK' || chr(228))$$), ($$ulid_to_uuid(repeat(chr(128512), 27))$$),
    ($$typeid_to_uuid('us' || chr(228) || 'r_' || repeat('0', 26))$$),
    ($$typeid_to_uuid('user_' || repeat(chr(228), 13))$$), ($$typeid_to_uuid('user_' || repeat(chr(228), 60))$$),
    ($$typeid_to_uuid(repeat(chr(128512), 91))$$), ($$prefixed_id_to_uuid('acct_1' || chr(228))$$),
    ($$prefixed_id_to_uuid(chr(228) || 'cct_1')$$), ($$prefixed_id_to_uuid('a' || repeat(chr(228), 40) || '_1')$$),
    ($$prefixed_id_to_uuid(repeat(chr(228), 40))$$), ($$prefixed_id_to_uuid(repeat(chr(128512), 90))$$),
    ($$prefixed_id_from_uuid('a' || repeat(chr(228), 40), idgen.uuid_v4())$$),
    ($$prefixed_id_from_uuid('a' || repeat(chr(228), 31), idgen.uuid_v4())$$)) v (input),
    failure('SELECT idgen.' || input) f;

--
-- Reading and checking
--
SELECT input, f.* FROM (VALUES
    ($$short_comb_timestamp(ID, clock => 'infinity')$$), ($$short_comb_timestamp(ID, NULL)$$),
    ($$short_comb_timestamp(ID, prefix_bytes => NULL)$$),
    ($$check_recent_short_comb(ID, period => '50000000 days', prefix_bytes => 1)$$),
    ($$is_recent_short_comb(ID, '365250 days', period => '1 millisecond', prefix_bytes => 6)$$),
    ($$is_recent_short_comb(ID, '100000000 days', period => '1 millisecond', prefix_bytes => 6)$$),
    ($$is_uuid('x', -1)$$), ($$is_uuid('x', 16)$$), ($$is_recent_short_comb(ID, '-1 minute')$$),
    ($$is_recent_short_comb(ID, past_tolerance => '-1 microsecond')$$),
    ($$is_recent_short_comb(ID, future_tolerance => '-1 day')$$), ($$is_recent_short_comb(ID, '1 month')$$),
    ($$is_recent_short_comb(ID, '32768 minutes')$$),
    ($$is_recent_short_comb(ID, past_tolerance => '65536 minutes', future_tolerance => '0')$$),
    ($$is_recent_short_comb(ID, past_tolerance => '0', future_tolerance => '65534 minutes 1 microsecond')$$),
    ($$is_recent_short_comb(ID, past_tolerance => '0', future_tolerance => '65534 minutes')$$),
    ($$is_recent_short_comb(ID, '100000000 days')$$), ($$is_recent_short_comb(ID, '2147483647 days')$$),
    ($$is_recent_short_comb(ID, '127 minutes 1 second', prefix_bytes => 1)$$),
    ($$is_recent_short_comb(ID, clock => 'infinity')$$), ($$is_recent_short_comb(ID, NULL)$$),
    ($$is_recent_short_comb(ID, period => '1 second', prefix_bytes => 1)$$), ($$is_recent_comb(ID, NULL)$$),
    ($$check_recent_uuid_v7(ID, NULL)$$), ($$is_recent_comb(ID, '-1 minute')$$),
    ($$is_recent_comb(ID, clock => '-infinity')$$),
    ($$is_recent_comb(ID, '100000000 days', clock => '294276-12-31 23:59:59+00')$$),
    ($$is_recent_uuid_v7(ID, '10 minutes', past_tolerance => '-1 minute')$$),
    ($$is_recent_uuid_v7(ID, future_tolerance => '1 year')$$), ($$check_recent_short_comb(ID, '-1 minute')$$),
    ($$check_recent_comb('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', '1 minute', clock => '2022-02-22 19:24:00+00')$$),
    ($$check_recent_uuid_v7('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', '1 minute', clock => '2022-02-22 19:24:00+00')$$))
    v (input), failure('SELECT idgen.' || replace(input, 'ID', '''919108f7-52d1-4320-9bac-f847db4148a8''')) f;

-- infinite intervals exist in PostgreSQL 17 and later
SELECT current_setting('server_version_num')::int < 170000
    OR bool_and(((failure(statement)).state) = '22023') AS infinite_intervals_refused
FROM (VALUES ($$SELECT idgen.short_comb('infinity')$$), ($$SELECT idgen.short_comb('-infinity')$$),
             ($$SELECT idgen.is_recent_comb('919108f7-52d1-4320-9bac-f847db4148a8', 'infinity')$$)) v (statement);

--
-- The trigger
--
CREATE TABLE t (id uuid, n int);
SELECT arguments, f.* FROM (VALUES
    ($$$$), ($$'id'$$), ($$'nothing', 'short_comb'$$), ($$'n', 'short_comb'$$), ($$'ctid', 'short_comb'$$),
    ($$'id', 'serial'$$), ($$'id', 'hmac_comb'$$), ($$'id', ''$$), ($$'id', 'Short_Comb'$$),
    ($$'id', 'short_comb', 'tolerance=-1 minute'$$), ($$'id', 'short_comb', 'tolerance=soon'$$),
    ($$'id', 'short_comb', 'period=0'$$),
    ($$'id', 'short_comb', 'period=365251 days'$$), ($$'id', 'short_comb', 'prefix_bytes=9'$$),
    ($$'id', 'short_comb', 'prefix_bytes=two'$$),
    ($$'id', 'short_comb', 'past_tolerance=1 day', 'future_tolerance=100 days'$$),
    ($$'id', 'short_comb', '10 minutes'$$), ($$'id', 'short_comb', 'toleranc=1 s'$$),
    ($$'id', 'short_comb', 'tolerance =1 s'$$),
    ($$'id', 'short_comb', 'clock=2026-01-01'$$), ($$'id', 'short_comb', 'tolerance=1 s', 'tolerance=2 s'$$),
    ($$'id', 'short_comb', 'period='$$),
    ($$'id', 'comb', 'period=1 minute'$$), ($$'id', 'comb', 'key_name=default'$$),
    ($$'id', 'uuid_v7', 'prefix_bytes=2'$$), ($$'id', 'uuid_v7', ''$$), ($$'id', 'uuid_v7', 'tolerance=1 month'$$))
    v (arguments),
    failure('CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW'
            ' EXECUTE FUNCTION idgen.check_recent_id(' || arguments || ');'
            'INSERT INTO t VALUES (idgen.uuid_v4(), 1)') f;
SELECT timing, f.* FROM (VALUES
    ('AFTER INSERT ON t FOR EACH ROW'), ('AFTER UPDATE ON t FOR EACH ROW'), ('BEFORE INSERT ON t'),
    ('BEFORE UPDATE ON t'),
    ('BEFORE DELETE ON t FOR EACH ROW'), ('BEFORE TRUNCATE ON t')) v (timing),
    failure('INSERT INTO t VALUES (idgen.short_comb());'
            'CREATE TRIGGER c ' || timing || $$ EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');$$ ||
            'INSERT INTO t VALUES (idgen.short_comb()); UPDATE t SET n = 2; DELETE FROM t; TRUNCATE t') f;
DROP TABLE t;

--
-- Creation
--
SELECT input, f.* FROM (VALUES
    ($$create_once(NULL, idgen.uuid_v4(), 'pay')$$),
    ($$create_once('919108f7-52d1-4320-9bac-f847db4148a8', NULL::uuid, 'pay')$$),
    ($$create_once_bigint(NULL, 1, 'pay')$$),
    ($$create_once_bigint('919108f7-52d1-4320-9bac-f847db4148a8', NULL::bigint, 'pay')$$),
    ($$create_once_bigint('919108f7-52d1-4320-9bac-f847db4148a8', 1, NULL)$$),
    ($$create_once_text('919108f7-52d1-4320-9bac-f847db4148a8', NULL, 'pay')$$),
    ($$create_once_text('919108f7-52d1-4320-9bac-f847db4148a8', '', 'pay')$$),
    ($$create_once_text('919108f7-52d1-4320-9bac-f847db4148a8', repeat('x', 256), 'pay')$$),
    ($$create_once_text('919108f7-52d1-4320-9bac-f847db4148a8', repeat(chr(228), 128), 'pay')$$),
    ($$purge_creations('-1 second')$$),
    ($$purge_creations('1 month')$$),
    ($$purge_creations('100000000 days')$$),
    ($$purge_creations('2147483647 days')$$),
    ($$purge_creations(NULL)$$),
    ($$purge_creations('24 hours', batch_size => 0)$$),
    ($$purge_creations('24 hours', batch_size => -1)$$),
    ($$purge_creations('24 hours', batch_size => NULL)$$),
    ($$trim_creations(-1)$$),
    ($$trim_creations(-9223372036854775808, 'x')$$),
    ($$trim_creations(NULL)$$),
    ($$trim_creations(1, batch_size => 0)$$),
    ($$remember_command('{}', '919108f7-52d1-4320-9bac-f847db4148a8', -1)$$),
    ($$remember_command('{{919108f7-52d1-4320-9bac-f847db4148a8}}', '919108f7-52d1-4320-9bac-f847db4148a8')$$),
    ($$has_command('{{919108f7-52d1-4320-9bac-f847db4148a8}}', '919108f7-52d1-4320-9bac-f847db4148a8')$$)) v (input),
    failure('SELECT idgen.' || input) f;

-- the error for a different request has the fields of a constraint violation
SELECT created FROM idgen.create_once_bigint('919108f7-52d1-4320-9bac-f847db4148a8', 1, 'pay', '{"amount": 5}');
DO $$
DECLARE
    the_schema text;
    the_table text;
    the_constraint text;
BEGIN
    PERFORM idgen.create_once_bigint('919108f7-52d1-4320-9bac-f847db4148a8', 1, 'refund', '{"amount": 5}');
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS the_schema = SCHEMA_NAME, the_table = TABLE_NAME, the_constraint = CONSTRAINT_NAME;
    RAISE NOTICE 'schema %, table %, constraint %', the_schema, the_table, the_constraint;
END $$;

-- numbers with too many digits in a request
SELECT number, f.* FROM (VALUES ('1e1000'), ('-1e1000'), ('1e-1001'), ('-1.1e-1000'), ('1e131071'),
    ('[{"a": 1e131071}]')) v (number),
    failure(format('SELECT idgen.create_once_bigint(idgen.uuid_v4(), 1, ''pay'', %L)', number)) f;

SELECT idgen.forget_creation('919108f7-52d1-4320-9bac-f847db4148a8');

-- violate the constraints of the table
SELECT input, f.state, f.message FROM (VALUES
    ($$(command_id, command_name) VALUES (idgen.uuid_v4(), 'pay')$$),
    ($$(command_id, command_name, entity_id, entity_number) VALUES (idgen.uuid_v4(), 'pay', idgen.uuid_v4(), 1)$$),
    ($$(command_id, command_name, entity_number, entity_text) VALUES (idgen.uuid_v4(), 'pay', 1, '1')$$),
    ($$(command_name, entity_number) VALUES ('pay', 1)$$),
    ($$(command_id, entity_number) VALUES (idgen.uuid_v4(), 1)$$)) v (input),
    failure('INSERT INTO idgen.creation_identifiers ' || input) f;

DROP FUNCTION failure(text);
