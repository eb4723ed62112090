-- Statistical tests of the random bits. The thresholds are six standard deviations, so fewer than one in 100,000 runs
-- fails by chance. A stuck, biased or repeated bit deviates by far more.

-- bit 0 is the highest bit of the identifier, and bit 127 is the lowest
CREATE TEMP SEQUENCE numbers;
CREATE TEMP TABLE sample AS
    SELECT kind, n, ('x' || replace(id::text, '-', ''))::bit(128) AS bits
    FROM generate_series(1, 2000) n, LATERAL (VALUES ('uuid_v4', idgen.uuid_v4()), ('uuid_v7', idgen.uuid_v7()),
        ('uuid_v7_ordered', idgen.uuid_v7_ordered()), ('uuid_v1', idgen.uuid_v1()), ('uuid_v6', idgen.uuid_v6()),
        ('lambert_comb', idgen.lambert_comb()), ('comb', idgen.comb()), ('suffix_comb', idgen.suffix_comb()),
        ('short_comb', idgen.short_comb(run_length => 1)), ('short_suffix_comb', idgen.short_suffix_comb()),
        ('keyed_comb', idgen.keyed_comb('a')), ('sequence_comb', idgen.sequence_comb('numbers')),
        ('prefix of keyed_comb', idgen.keyed_comb('a', clock => to_timestamp(3600 * n))),
        ('typeid', idgen.typeid_to_uuid(idgen.typeid('user'))), ('bulk', idgen.short_comb()),
        ('run', idgen.short_comb(run_length => 2)), ('end of run', idgen.short_comb(run_length => 2))) v (kind, id)
    WHERE kind <> 'end of run';

CREATE TEMP TABLE random_bits (kind text, first int, last int);
INSERT INTO random_bits VALUES
    ('uuid_v4', 0, 47), ('uuid_v4', 52, 63), ('uuid_v4', 66, 127),
    ('uuid_v7', 66, 127), ('uuid_v7_ordered', 66, 127), ('typeid', 66, 127),
    -- bit 87 indicates that the node is not a hardware address
    ('uuid_v1', 66, 86), ('uuid_v1', 88, 127), ('uuid_v6', 66, 86), ('uuid_v6', 88, 127),
    ('lambert_comb', 66, 86), ('lambert_comb', 88, 127),
    ('comb', 52, 63), ('comb', 66, 127),
    ('suffix_comb', 0, 47), ('suffix_comb', 52, 63), ('suffix_comb', 66, 79),
    ('short_comb', 16, 47), ('short_comb', 52, 63), ('short_comb', 66, 127),
    ('short_suffix_comb', 0, 47), ('short_suffix_comb', 52, 63), ('short_suffix_comb', 66, 79),
    ('short_suffix_comb', 96, 127),
    ('keyed_comb', 32, 47), ('keyed_comb', 52, 63), ('keyed_comb', 66, 127),
    ('prefix of keyed_comb', 0, 47), ('prefix of keyed_comb', 52, 63), ('prefix of keyed_comb', 66, 127),
    ('sequence_comb', 16, 47), ('sequence_comb', 52, 63), ('sequence_comb', 66, 127),
    ('bulk', 48 + 4, 63), ('bulk', 66, 127),
    -- every second identifier is sampled, so that each sample belongs to another run
    ('run', 16, 47), ('run', 48 + 4, 63), ('run', 66, 127);

-- each random bit must be set in half of the identifiers, and must differ in half of them from the same bit of the
-- previous identifier, and from the next bit
CREATE FUNCTION is_half(ones bigint, count bigint) RETURNS boolean LANGUAGE sql
    RETURN abs(ones - count / 2.0) <= 6 * sqrt(count) / 2;
SELECT kind, count(*) AS random_bits, count(*) FILTER (WHERE NOT is_half(ones, n)) AS uneven,
       count(*) FILTER (WHERE NOT is_half(changes, n - 1)) AS repeated,
       count(*) FILTER (WHERE NOT is_half(differences, n)) AS similar_to_the_next
FROM (SELECT kind, bit, count(*) AS n, sum(get_bit(bits, bit)) AS ones, sum(get_bit(bits # previous, bit)) AS changes,
             sum(CASE WHEN bit < last THEN get_bit(bits # (bits << 1), bit) END) AS differences
      FROM (SELECT kind, bits, lag(bits) OVER (PARTITION BY kind ORDER BY n) AS previous FROM sample) s
           JOIN random_bits USING (kind), generate_series(first, last) bit
      GROUP BY kind, bit) t
GROUP BY kind ORDER BY kind;
DROP FUNCTION is_half;

-- the random bytes must be evenly distributed: chi-square with 255 degrees of freedom has a mean of 255 and a standard
-- deviation of 22.6
SELECT kind, chi_square BETWEEN 255 - 6 * 22.6 AND 255 + 6 * 22.6 AS evenly
FROM (SELECT kind, sum((observed - bytes / 256) ^ 2 / (bytes / 256)) + (256 - count(*)) * max(bytes) / 256 AS chi_square
      FROM (SELECT kind, count(*) AS observed, sum(count(*)) OVER (PARTITION BY kind)::float8 AS bytes
            FROM sample JOIN random_bits USING (kind), generate_series(0, 120, 8) byte_at,
                 LATERAL (SELECT substring(bits FROM byte_at + 1 FOR 8)::int AS value) v
            WHERE byte_at >= first AND byte_at + 7 <= last
            GROUP BY kind, value) s
      GROUP BY kind) t
ORDER BY kind;

-- The last 62 bits of all identifiers must be different, even from those of another process, because each pool is used
-- once and by one process. (suffix_comb() is excluded, because its last bits contain the time.)
CREATE TABLE used AS SELECT substring(bits FROM 67) AS bits FROM sample WHERE kind <> 'suffix_comb';
\connect -
INSERT INTO used SELECT substring(('x' || replace(idgen.uuid_v4()::text, '-', ''))::bit(128) FROM 67)
    FROM generate_series(1, 10000);
SELECT count(*) AS used, count(*) - count(DISTINCT bits) AS repeated FROM used;
DROP TABLE used;

-- a ULID has 80 new random bits in each millisecond
CREATE FUNCTION pg_temp.ulids(n int) RETURNS SETOF bit(128) LANGUAGE plpgsql AS $$
DECLARE
    id text;
    millisecond text := '';
BEGIN
    WHILE n > 0 LOOP
        id := idgen.ulid();
        CONTINUE WHEN left(id, 10) = millisecond;
        millisecond := left(id, 10);
        n := n - 1;
        RETURN NEXT ('x' || replace(idgen.ulid_to_uuid(id)::text, '-', ''))::bit(128);
    END LOOP;
END $$;
SELECT count(*) AS random_bits, count(*) FILTER (WHERE abs(ones - 100) > 6 * sqrt(200) / 2) AS suspicious
FROM (SELECT bit, sum(get_bit(bits, bit)) AS ones FROM pg_temp.ulids(200) bits, generate_series(48, 127) bit
    GROUP BY bit) s;
