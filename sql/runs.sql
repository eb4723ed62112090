-- State that the library keeps in a session: the order of identifiers, and the runs of short COMBs.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

--
-- Order within a session
--

-- a call with a clock does not affect the order of calls without a clock
SELECT idgen.uuid_v7('10000-01-01 00:00:00+00') > idgen.uuid_v7() AS future_is_greater,
       idgen.uuid_timestamp(idgen.uuid_v7()) < '2200-01-01' AS and_forgotten;

-- text identifiers increase, too
SELECT scheme, count(DISTINCT id) AS ids, count(*) FILTER (WHERE id <= previous) AS not_increasing
FROM (SELECT scheme, id, lag(id) OVER (PARTITION BY scheme ORDER BY n) AS previous FROM (
    SELECT 'TypeID' AS scheme, n, idgen.typeid('t') COLLATE "C" AS id FROM generate_series(1, 10000) n
    UNION ALL SELECT 'ULID', n, idgen.ulid() COLLATE "C" FROM generate_series(1, 10000) n) s) t
GROUP BY scheme ORDER BY scheme;

--
-- Runs
--

-- return all bits except the version and the variant
CREATE FUNCTION free_bits(id uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(bits, 48) || substr(bits, 53, 12) || substr(bits, 67)
    FROM (SELECT ('x' || replace(id::text, '-', ''))::bit(128)::text AS bits) s
$$;

-- for each value of prefix_bytes, the 32 bits after the prefix change every run_length identifiers
SELECT bytes, count(*) AS ids, count(DISTINCT tag) AS tags, count(DISTINCT rest) AS rests,
       bool_and(same_run = (n % 5 <> 1)) AS changes_every_fifth
FROM (SELECT n, bytes, tag, rest,
             tag IS NOT DISTINCT FROM lag(tag) OVER (PARTITION BY bytes ORDER BY n) AS same_run
      FROM (SELECT n, bytes, substr(free_bits(id), 8 * bytes + 1, 32) AS tag,
                   substr(free_bits(id), 8 * bytes + 33) AS rest
            FROM (SELECT bytes, n, idgen.short_comb('30 seconds', bytes, 5, '2022-03-18 03:44:00+00') AS id
                  FROM generate_series(1, 6) bytes, generate_series(1, 50) n) s) t) u
GROUP BY bytes ORDER BY bytes;

-- a run ends when the prefix changes
SELECT count(DISTINCT left(id::text, 13)) AS runs, count(DISTINCT left(id::text, 4)) AS prefixes
FROM (SELECT idgen.short_comb(run_length => 1000,
    clock => '2022-03-18 03:44:00+00'::timestamptz + n * interval '6 seconds') AS id
      FROM generate_series(0, 99) n) s;

-- calls with different arguments do not end each other's runs
SELECT count(DISTINCT left(a::text, 13)) AS runs_a, count(DISTINCT left(b::text, 13)) AS runs_b
FROM (SELECT idgen.short_comb(run_length => 101, clock => '2022-03-18 03:44:00+00') AS a,
             idgen.short_comb(run_length => 102, clock => '2022-03-18 03:44:00+00') AS b
      FROM generate_series(1, 101) n) s;

-- if a session uses more different arguments than it can keep runs for, identifiers are still valid
SELECT count(DISTINCT id) AS ids, bool_and(idgen.is_recent_short_comb(id, clock => '2022-03-18 03:44:00+00')) AS valid
FROM (SELECT idgen.short_comb(run_length => 200 + n % 20, clock => '2022-03-18 03:44:00+00') AS id
      FROM generate_series(1, 1000) n) s;

DROP FUNCTION free_bits(uuid);

-- a run must have at least one identifier
SELECT idgen.short_comb(run_length => 0);
SELECT idgen.short_comb(run_length => -1);

--
-- Without run_length
--

-- The first 128 identifiers of the session in a period are random. They are followed by runs of 4,096. The period is
-- that of the given clock, and other arguments are counted separately.
CREATE TEMP TABLE made (n int, id uuid);
INSERT INTO made SELECT n, idgen.short_comb(clock => '2022-03-18 03:44:00+00') FROM generate_series(1,
    128 + 4096 + 100) n;
SELECT count(*) AS ids, count(DISTINCT id) AS distinct_ids, count(DISTINCT right(id::text, 16)) AS random_ends,
       bool_and(idgen.is_recent_short_comb(id, '0', clock => '2022-03-18 03:44:00+00')) AS valid FROM made;
SELECT count(*) AS ids, min(n) AS first, max(n) AS last
FROM made GROUP BY left(id::text, 13) HAVING count(*) > 1 ORDER BY first;
SELECT count(DISTINCT left(id::text, 13)) AS tags FROM made WHERE n <= 128;

-- another transaction has another run, and calls with other arguments begin with random identifiers
INSERT INTO made SELECT 5000, idgen.short_comb(clock => '2022-03-18 03:44:59+00') FROM generate_series(1, 100);
INSERT INTO made SELECT 6000, idgen.short_comb(prefix_bytes => 3, clock => '2022-03-18 03:44:00+00')
    FROM generate_series(1, 100);
INSERT INTO made SELECT 7000, idgen.short_comb('2 minutes', clock => '2022-03-18 03:44:00+00') FROM generate_series(1,
    100);
SELECT n, count(DISTINCT left(id::text, 13)) AS tags, count(DISTINCT left(id::text, 13)) FILTER (WHERE left(id::text,
    13) IN (SELECT left(id::text, 13) FROM made WHERE n < 5000)) AS of_before
FROM made WHERE n >= 5000 GROUP BY n ORDER BY n;
BEGIN;
SAVEPOINT one;
SELECT count(DISTINCT left(id::text, 13)) AS same_transaction
    FROM (SELECT idgen.short_comb(clock => '2022-03-18 03:44:00+00') AS id FROM generate_series(1, 10) OFFSET 0) s \gset
SELECT left(idgen.short_comb(clock => '2022-03-18 03:44:00+00')::text, 13) AS tag \gset
ROLLBACK TO one;
SELECT :same_transaction AS same_transaction, left(idgen.short_comb(clock => '2022-03-18 03:44:00+00')::text,
    13) = :'tag' AS also_after_savepoint;
ROLLBACK;
SELECT left(idgen.short_comb(clock => '2022-03-18 03:44:00+00')::text, 13) = :'tag' AS after_rollback;

-- another period begins a new run, and so does a return to the first period; with a run_length of 1, there are no runs
SELECT count(DISTINCT left(id::text, 13)) AS tags FROM (SELECT idgen.short_comb(clock => '2022-03-18 03:45:00+00')
    AS id FROM generate_series(1, 128) OFFSET 0) s;
SELECT count(DISTINCT left(id::text, 13)) AS tags FROM (SELECT idgen.short_comb(clock => '2022-03-18 03:44:00+00')
    AS id FROM generate_series(1, 128) OFFSET 0) s;
SELECT count(DISTINCT left(id::text, 13)) > 990 AS no_runs FROM (SELECT idgen.short_comb(run_length => 1,
    clock => '2022-03-18 03:44:00+00') AS id FROM generate_series(1, 1000) OFFSET 0) s;
DROP TABLE made;
