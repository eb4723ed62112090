-- Bases, for uuid and bigint.
\set SHOW_CONTEXT never

CREATE FUNCTION failure(statement text, OUT state text, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
END $$;

SELECT base, idgen.uuid_to_base(id, base)
FROM unnest('{16,32,36,58,62}'::int[]) base,
     (VALUES (uuid '00000000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'),
             ('00000000-0000-0000-0000-00000000003a'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff')) v (id)
ORDER BY base, id;

-- round trips, lengths, and text order, which is uuid order
CREATE TEMP TABLE sample AS
SELECT id FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 5000)
                UNION ALL SELECT lpad(to_hex(n), 32, '0')::uuid FROM generate_series(0, 999) n
                UNION ALL SELECT rpad(to_hex(n), 32, 'f')::uuid FROM generate_series(0, 999) n) s;
SELECT base, bool_and(idgen.uuid_from_base(idgen.uuid_to_base(id, base), base) = id) AS round_trip,
       min(length(idgen.uuid_to_base(id, base))), max(length(idgen.uuid_to_base(id, base))),
       bool_and(idgen.uuid_from_base(trimmed, base) = id) AS unpadded,
       array_agg(id ORDER BY id) = array_agg(id ORDER BY idgen.uuid_to_base(id, base) COLLATE "C") AS same_order
FROM sample, unnest('{16,32,36,58,62}'::int[]) base,
     LATERAL (SELECT regexp_replace(idgen.uuid_to_base(id, base), CASE base WHEN 58 THEN '^1+(?=.)'
     ELSE '^0+(?=.)' END, '') AS trimmed) t
GROUP BY base ORDER BY base;

-- the digits are those of the number
SELECT base, count(*) > 100 AS many, bool_and(of_digits = of_bytes) AS same
FROM (SELECT * FROM sample WHERE get_byte(uuid_send(id), 15) < 16) s, unnest('{16,32,36,58,62}'::int[]) base,
     LATERAL (SELECT sum(get_byte(uuid_send(id), n) * 256::numeric ^ (15 - n)) AS of_bytes FROM generate_series(0,
     15) n) b,
     LATERAL (SELECT sum((strpos(CASE base WHEN 16 THEN '0123456789abcdef'
     WHEN 32 THEN '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
                     WHEN 36 THEN '0123456789abcdefghijklmnopqrstuvwxyz'
                     WHEN 58 THEN '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
                     ELSE '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' END,
                     digit) - 1) * base::numeric ^ (place - 1)) AS of_digits
              FROM unnest(string_to_array(reverse(idgen.uuid_to_base(id, base)), NULL)) WITH ORDINALITY d (digit,
              place)) t
GROUP BY base ORDER BY base;

-- each power of two, and each power of two minus one
SELECT base, count(*) AS numbers, bool_and(idgen.bigint_from_base(idgen.bigint_to_base(n, base), base) = n)
    AS round_trip
FROM (SELECT (1::bigint << k) - d AS n FROM generate_series(0, 62) k, generate_series(0, 1) d
      UNION ALL VALUES (9223372036854775807)) s, unnest('{16,32,36,58,62}'::int[]) base
GROUP BY base ORDER BY base;
SELECT base, idgen.bigint_to_base(n, base)
FROM unnest('{16,32,36,58,62}'::int[]) base, (VALUES (0::bigint), (57), (61), (9223372036854775807)) v (n)
    ORDER BY base, n;

-- upper and lower case, and confusable characters
SELECT idgen.bigint_from_base('7F', 16) AS upper_16, idgen.bigint_from_base('7f', 16) AS lower_16,
       idgen.bigint_from_base('Zz', 36) AS both_36, idgen.bigint_from_base('iIlLoO', 32) AS confusable,
       idgen.bigint_from_base('111100', 32) AS as_these, idgen.bigint_from_base('aZ', 32) AS lower_a,
       idgen.bigint_from_base('aA', 58) AS lower_upper_58, idgen.bigint_from_base('Aa', 58) AS upper_lower_58,
       idgen.bigint_from_base('aA', 62) AS lower_upper_62, idgen.bigint_from_base('Aa', 62) AS upper_lower_62;
SELECT idgen.uuid_from_base('1', 58) AS zero_58, idgen.uuid_from_base('0', 62) AS zero_62, idgen.uuid_from_base('z',
    36) AS thirty_five;

-- each ASCII character in each base is a digit or an error
SELECT base, count(*) FILTER (WHERE state IS NULL) AS digits, count(*) FILTER (WHERE state = '22P02')
    AS foreign_characters, count(*) AS characters
FROM unnest('{16,32,36,58,62}'::int[]) base, generate_series(1, 127) c,
     LATERAL failure(format('SELECT idgen.bigint_from_base(%L, %s)', chr(c), base)) f
GROUP BY base ORDER BY base;

-- errors: invalid characters, overflow, empty text, wrong length
\pset format unaligned
\pset fieldsep '\n    '
\pset tuples_only on
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
\pset tuples_only off
\pset format aligned

SELECT idgen.bigint_to_base(NULL::bigint, 36) IS NULL AND idgen.bigint_from_base(NULL, 36) IS NULL AS all_null;
DROP FUNCTION failure;
