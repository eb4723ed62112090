-- Prefixed ids, TypeIDs and ULIDs.
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE FUNCTION failure(statement text, OUT state text, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    message := 'ERROR:  ' || message;       -- as contrib/portable/without-texts.sh expects
    detail := 'DETAIL:  ' || detail;
END $$;

--
-- Prefixed ids
--
SELECT prefix, idgen.prefixed_id_from_uuid(prefix, id)
FROM (VALUES ('acct', uuid '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), ('a', '00000000-0000-0000-0000-000000000000'),
             ('items_az09', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), ('acct', NULL)) v (prefix, id);
SELECT idgen.prefixed_id_to_uuid('acct_03e6wlko0bp8e7c9916hklbnd')
    AS id, idgen.uuid_version(idgen.prefixed_id_to_uuid('acct_03e6wlko0bp8e7c9916hklbnd')) AS version,
       idgen.prefixed_id_prefix('acct_03e6wlko0bp8e7c9916hklbnd') AS prefix;
SELECT idgen.prefixed_id_to_uuid('items_az09_f5lxx1zz5pnorynqglhzmsp33', 'items_az09') AS last_underscore,
       idgen.prefixed_id_prefix('items_az09_f5lxx1zz5pnorynqglhzmsp33') AS prefix,
       idgen.prefixed_id_to_uuid('acct_F5LXX1ZZ5PNORYNQGLHZMSP33') AS upper_case;

\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
SELECT input, f.* FROM (VALUES
    ($$prefixed_id_from_uuid('', NULL)$$), ($$prefixed_id_from_uuid('Acct', NULL)$$),
    ($$prefixed_id_from_uuid('1a', NULL)$$), ($$prefixed_id_from_uuid('_a', NULL)$$),
    ($$prefixed_id_from_uuid('a_', NULL)$$), ($$prefixed_id_from_uuid('a-b', NULL)$$),
    ($$prefixed_id_from_uuid(repeat('a', 64), NULL)$$), ($$prefixed_id_from_uuid('a b', NULL)$$),
    ($$prefixed_id_from_uuid(NULL, gen_random_uuid())$$),
    ($$prefixed_id_to_uuid('')$$), ($$prefixed_id_to_uuid('_')$$), ($$prefixed_id_to_uuid('acct')$$),
    ($$prefixed_id_to_uuid('acct_')$$), ($$prefixed_id_to_uuid('_1')$$),
    ($$prefixed_id_to_uuid('acct__1')$$), ($$prefixed_id_to_uuid('Acct_1')$$), ($$prefixed_id_to_uuid('acct_1-2')$$),
    ($$prefixed_id_to_uuid('acct_f5lxx1zz5pnorynqglhzmsp34')$$),
    ($$prefixed_id_to_uuid('acct_00000000000000000000000000')$$),
    ($$prefixed_id_to_uuid('acct_1', 'inv')$$), ($$prefixed_id_to_uuid('acct_1', 'acc')$$),
    ($$prefixed_id_to_uuid('acct_1', '')$$), ($$prefixed_id_to_uuid('acct_1', repeat('b', 1000))$$),
    ($$prefixed_id_to_uuid('acct_1', 'Acct')$$), ($$prefixed_id_to_uuid('acct_!', 'inv')$$),
    ($$prefixed_id_to_uuid('acct', 'inv')$$), ($$prefixed_id_to_uuid('acct_', 'inv')$$),
    ($$prefixed_id_to_uuid(repeat('a', 64) || '_1')$$), ($$prefixed_id_to_uuid(repeat('a', 10000000))$$),
    ($$prefixed_id_prefix('acct_!')$$), ($$prefixed_id_prefix('acct')$$),
    ($$is_prefixed_id('acct_1', '')$$), ($$is_prefixed_id('acct_1', 'Acct')$$),
    ($$is_prefixed_id('a_', 'a_')$$), ($$uuid_from_base('', 36)$$),
    ($$uuid_from_base('f5lxx1zz5pnorynqglhzmsp34', 36)$$)) v (input),
    failure('SELECT idgen.' || input) f;
\pset tuples_only off
\pset format aligned

-- an identifier has one canonical text form (t/003_properties.pl tests random identifiers)
SELECT id, idgen.is_prefixed_id(id, 'acct')
FROM (VALUES ('acct_03e6wlko0bp8e7c9916hklbnd'), ('acct_f5lxx1zz5pnorynqglhzmsp33'),
             ('acct_f5lxx1zz5pnorynqglhzmsp34'), ('acct_03e6wlko0bp8e7c9916hklbnD'),
             ('acct_3e6wlko0bp8e7c9916hklbnd'), ('acct_03e6wlko0bp8e7c9916hklbn!'),
             ('inv_03e6wlko0bp8e7c9916hklbnd'), ('acct2_03e6wlko0bp8e7c9916hklbnd')) v (id);
SELECT idgen.is_prefixed_id(idgen.prefixed_id_from_uuid(repeat('p', 63), gen_random_uuid()), repeat('p', 63))
    AS longest, idgen.is_prefixed_id(repeat('a', 10000000), 'acct') AS too_long,
       idgen.is_prefixed_id(idgen.prefixed_id_from_uuid('any_2', gen_random_uuid()), NULL)
       AND NOT idgen.is_prefixed_id('acct_1')
       AND NOT idgen.is_prefixed_id('Acct_' || repeat('0', 25))
       AND NOT idgen.is_prefixed_id(repeat('0', 25)) AS any_prefix;

--
-- TypeID: the specification's examples
--
SELECT name, idgen.typeid_prefix(typeid) = prefix AND idgen.typeid_to_uuid(typeid) = id
    AS decodes, idgen.typeid_from_uuid(prefix, id) = typeid AS encodes
FROM (VALUES ('nil', '00000000000000000000000000', '', uuid '00000000-0000-0000-0000-000000000000'),
             ('one', '00000000000000000000000001', '', '00000000-0000-0000-0000-000000000001'),
             ('ten', '0000000000000000000000000a', '', '00000000-0000-0000-0000-00000000000a'),
             ('sixteen', '0000000000000000000000000g', '', '00000000-0000-0000-0000-000000000010'),
             ('thirty-two', '00000000000000000000000010', '', '00000000-0000-0000-0000-000000000020'),
             ('max-valid', '7zzzzzzzzzzzzzzzzzzzzzzzzz', '', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
             ('valid-alphabet', 'prefix_0123456789abcdefghjkmnpqrs', 'prefix', '0110c853-1d09-52d8-d73e-1194e95b5f19'),
             ('valid-uuidv7', 'prefix_01h455vb4pex5vsknk084sn02q', 'prefix', '01890a5d-ac96-774b-bcce-b302099a8057'),
             ('prefix-underscore', 'pre_fix_00000000000000000000000000', 'pre_fix',
             '00000000-0000-0000-0000-000000000000')) v (name, typeid, prefix, id);
SELECT idgen.is_typeid('pre_fix_00000000000000000000000000')
    AS typeid, idgen.is_typeid('pre_fix_00000000000000000000000000', 'pre_fix') AS of_prefix,
       idgen.is_typeid('pre_fix_00000000000000000000000000', 'pre')
       AS of_other, idgen.is_typeid('pre_fix_00000000000000000000000000', '') AS of_none,
       idgen.is_typeid('00000000000000000000000000', '') AS without, idgen.is_typeid('00000000000000000000000000',
       'pre') AS without_of_other,
       idgen.is_typeid(NULL, 'pre') IS NULL AS null;
\pset format unaligned
\pset tuples_only on
SELECT left(typeid, 100), idgen.is_typeid(typeid), f.* FROM (VALUES
    ('PREFIX_00000000000000000000000000'), ('12345_00000000000000000000000000'), ('pre.fix_00000000000000000000000000'),
    ('  prefix_00000000000000000000000000'), (repeat('a', 64) || '_00000000000000000000000000'),
    ('_00000000000000000000000000'), ('_'), (''), ('prefix_1234567890123456789012345'),
    ('prefix_123456789012345678901234567'),
    ('prefix_1234567890123456789012345 '), ('prefix_0123456789ABCDEFGHJKMNPQRS'), ('prefix_123456789-123456789-123456'),
    ('prefix_ooooooiiiiiiuuuuuuulllllll'), ('prefix_i23456789ol23456789oi23456'),
    ('prefix_123456789-0123456789-0123456'),
    ('prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz'), ('_prefix_00000000000000000000000000'),
    ('prefix__00000000000000000000000000'),
    (repeat('x', 1000000))) v (typeid),
    LATERAL (SELECT (failure(format('SELECT idgen.typeid_to_uuid(%L)', typeid))).*) f;
SELECT input, f.* FROM (VALUES ($$typeid('Prefix')$$), ($$typeid('a1')$$), ($$typeid('a_')$$), ($$typeid('_a')$$),
    ($$typeid(repeat('a', 64))$$), ($$is_typeid('x', 'a1')$$)) v (input),
    failure('SELECT idgen.' || input) f;
\pset tuples_only off
\pset format aligned
SELECT idgen.is_recent_uuid_v7(idgen.typeid_to_uuid(idgen.typeid('user')))
    AS v7, idgen.typeid_prefix(idgen.typeid('user')) AS prefix,
       length(idgen.typeid()) AS without_prefix, length(idgen.typeid(repeat('a', 63))) AS longest;
SELECT idgen.typeid(NULL);
SELECT idgen.typeid_to_uuid(idgen.typeid('user'), 'user') IS NOT NULL AS expected;
\set VERBOSITY sqlstate
SELECT idgen.typeid_to_uuid(idgen.typeid('user'), '');
SELECT idgen.typeid_to_uuid(idgen.typeid(), 'user');
SELECT idgen.typeid_to_uuid(idgen.typeid('user'), 'User');
\set VERBOSITY default

--
-- ULID
--
SELECT idgen.ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV') AS id, idgen.ulid_timestamp('01ARZ3NDEKTSV4RRFFQ69G5FAV')
    AS timestamp,
       idgen.ulid_from_uuid('01563e3a-b5d3-d676-4c61-efb99302bd5b')
       AS back, idgen.ulid_to_uuid('o1arz3ndektsv4rrffq69g5fav') AS lower_case;
SELECT idgen.ulid_timestamp('00000000000000000000000000') AS first, idgen.ulid_timestamp('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')
    AS last;
SELECT id, idgen.is_ulid(id)
FROM (VALUES ('01ARZ3NDEKTSV4RRFFQ69G5FAV'), ('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), ('80000000000000000000000000'),
             ('01arz3ndektsv4rrffq69g5fav'), ('0lARZ3NDEKTSV4RRFFQ69G5FAV'), ('01ARZ3NDEKTSV4RRFFQ69G5FA')) v (id);
SELECT count(DISTINCT id) AS ids, bool_and(length(id) = 26) AS length,
       bool_and(idgen.ulid_timestamp(id) BETWEEN statement_timestamp() - interval '1 ms' AND clock_timestamp()) AS now
FROM (SELECT idgen.ulid() AS id FROM generate_series(1, 10000) OFFSET 0) s;
\pset format unaligned
\pset tuples_only on
SELECT input, f.* FROM (VALUES
    ($$ulid_to_uuid('')$$), ($$ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FA')$$),
    ($$ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAVX')$$),
    ($$ulid_to_uuid('81ARZ3NDEKTSV4RRFFQ69G5FAV')$$), ($$ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAU')$$),
    ($$ulid_timestamp('x')$$)) v (input),
    failure('SELECT idgen.' || input) f;
\pset tuples_only off
\pset format aligned

DROP FUNCTION failure;
