-- Bases, for uuid and bigint: known answers. (Errors: errors.sql; properties: t/003_properties.pl.)

SELECT base, idgen.uuid_to_base(id, base)
FROM unnest('{16,32,36,58,62}'::int[]) base,
     (VALUES (uuid '00000000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'),
             ('00000000-0000-0000-0000-00000000003a'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff')) v (id)
ORDER BY base, id;

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
