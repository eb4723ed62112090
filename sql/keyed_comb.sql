-- The prefix of keyed_comb(), which has 24 bits for the period and 8 bits for the twelfth, and its runs.
-- docs/keyed-comb.md defines both. t/015_hmac_comb.pl compares the same code with another program, for known keys.
-- Since the secret is random, some twelfths have the same 8 bits. The checks of their counts fail less than once in
-- 10^9 runs.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE FUNCTION prefix(id uuid) RETURNS text LANGUAGE sql IMMUTABLE RETURN left(id::text, 8);
CREATE FUNCTION of_period(id uuid) RETURNS text LANGUAGE sql IMMUTABLE RETURN left(id::text, 6);
CREATE FUNCTION run(id uuid) RETURNS text LANGUAGE sql IMMUTABLE RETURN substr(id::text, 10, 4);

-- a day has 24 periods and 288 twelfths, regardless of the order of the clocks
CREATE TEMP TABLE day AS
    SELECT n, idgen.keyed_comb('a', clock => '2026-11-20 00:00:00+00'::timestamptz + n * interval '1 minute') AS id
    FROM generate_series(0, 1439) n ORDER BY n % 7, n;
SELECT count(DISTINCT (n / 60, of_period(id))) AS of_hours, count(DISTINCT of_period(id)) BETWEEN 22 AND 24 AS periods,
       count(DISTINCT (n / 5, prefix(id))) AS of_five_minutes, count(DISTINCT prefix(id)) BETWEEN 250 AND 288
       AS twelfths
FROM day;

-- each twelfth begins at a whole millisecond, even if the period is not a multiple of 12 ms, before and after 1970
CREATE TEMP TABLE borders AS
    SELECT ms, floor(12.0 * n / ms) AS twelfth, floor(1.0 * n / ms) AS number,
           idgen.keyed_comb('a', ms * interval '1 ms', timestamptz 'epoch' + n * interval '1 ms') AS id
    FROM (VALUES (1), (7), (12), (23), (24), (120), (500)) p (ms), generate_series(-600, 599) n;
SELECT ms, count(DISTINCT twelfth) AS twelfths, count(DISTINCT (twelfth, prefix(id))) AS of_twelfths,
       count(DISTINCT number) AS numbers, count(DISTINCT (number, of_period(id))) AS of_numbers,
       count(DISTINCT prefix(id)) > count(DISTINCT twelfth) * 0.8 AS differ
FROM borders GROUP BY 1 ORDER BY 1;
SELECT at, count(DISTINCT prefix(idgen.keyed_comb('a', clock => at + n * interval '1 ms'))) AS prefixes
FROM (VALUES (timestamptz '4714-11-24 01:00:00+00 BC'), ('1970-01-01 00:00:00+00'), ('2026-11-20 04:00:00+00'),
             ('294276-12-31 23:00:00+00')) c (at), generate_series(-1, 0) n
GROUP BY 1 ORDER BY 1;

-- use more areas than a session remembers, in turn and in both directions
CREATE TEMP TABLE turns AS
    SELECT n % 1100 AS area, idgen.keyed_comb('area ' || n % 1100, '365250 days') AS id FROM generate_series(1, 3300) n;
INSERT INTO turns
    SELECT n % 1100, idgen.keyed_comb('area ' || n % 1100, '365250 days') FROM generate_series(3300, 1, -1) n;
SELECT count(DISTINCT area) AS areas, count(DISTINCT prefix(id)) > 1097 AS prefixes,
       count(DISTINCT (area, prefix(id))) AS of_areas
FROM turns;
SELECT count(DISTINCT prefix(idgen.keyed_comb(area, '365250 days'))) AS prefixes
FROM (VALUES (''), ('a'), ('b'), ('aa'), ('é'), (repeat('x', 63)), (repeat('x', 62))) a (area);
-- another period or a clock results in another prefix
SELECT count(DISTINCT prefix(idgen.keyed_comb('a', n * interval '1 day', 'epoch'))) AS periods,
       bool_and(prefix(idgen.keyed_comb('a', '365250 days')) <> prefix(idgen.keyed_comb('a', '365250 days', now())))
       AS live
FROM generate_series(1, 5) n;

-- runs: after 8,192 keys of a session in a twelfth, every 8,192 further keys share 16 bits
CREATE TEMP TABLE bulk AS
    SELECT n, idgen.keyed_comb('bulk', '365250 days') AS id FROM generate_series(1, 5 * 8192) n;
SELECT count(DISTINCT prefix(id)) AS prefixes, count(DISTINCT id) AS ids,
       count(DISTINCT run(id)) FILTER (WHERE n <= 8192) > 7000 AS none_at_first,
       count(DISTINCT ((n - 1) / 8192, run(id))) FILTER (WHERE n > 8192) AS runs,
       count(DISTINCT run(id)) FILTER (WHERE n > 8192) > 1 AS are_drawn
FROM bulk;
-- keys are counted separately for the next twelfth and for another area
SELECT count(DISTINCT run(idgen.keyed_comb('other', '365250 days'))) > 900 AS of_area
FROM generate_series(1, 1000);
SELECT twelfth, count(DISTINCT run(id)) > 900 AS no_run
FROM (SELECT n / 8192 AS twelfth, n,
             idgen.keyed_comb('a', clock => timestamptz '2026-11-20' + n / 8192 * interval '5 minutes') AS id
      FROM generate_series(0, 2 * 8192 - 1) n OFFSET 0) s
WHERE n % 8192 < 1000
GROUP BY 1 ORDER BY 1;
DROP FUNCTION prefix(uuid), of_period(uuid), run(uuid);
