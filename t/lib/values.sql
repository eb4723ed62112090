-- Random values and boundary values with which t/003_properties.pl calls the functions. The same value of the variable
-- "seed" yields the same values. The table "literals" contains the literals in t/lib/Functions.pm.
SET client_min_messages = warning;
ALTER DATABASE :"DBNAME" SET search_path = public;

-- Random numbers and bytes
CREATE FUNCTION any_number(what text, k bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN hashtextextended(what || k, :seed);
CREATE FUNCTION any_hex(what text, k bigint) RETURNS text IMMUTABLE LANGUAGE sql RETURN md5(:'seed' || what || k);
CREATE FUNCTION up_to(what text, k bigint, size bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN (any_number(what, k) & 9223372036854775807) % size;

-- Return a uuid with the given hexadecimal digits for the version and the variant.
CREATE FUNCTION stamped(digits text, version text, variant text) RETURNS uuid IMMUTABLE LANGUAGE sql
	RETURN overlay(overlay(digits PLACING version FROM 13 FOR 1) PLACING variant FROM 17 FOR 1)::uuid;

CREATE TABLE uuids AS SELECT DISTINCT id, idgen.uuid_version(id) AS version, replace(id::text, '-', '') AS digits FROM (
	SELECT any_hex('uuid', k)::uuid AS id FROM generate_series(1, 500) k
	UNION ALL SELECT stamped(any_hex('versioned', k), to_hex(k % 16), substr('89ab', 1 + k % 4, 1))
		FROM generate_series(1, 480) k
	UNION ALL SELECT stamped(repeat(c, 32), to_hex(k), c)
		FROM regexp_split_to_table('0189abcdef', '') c, generate_series(0, 15) k
	UNION ALL VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid),
		('1ec9414c-232a-6b00-b3c8-9f6bdeced846'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
		('ffffffff-ffff-4fff-bfff-ffffffffffff'), ('00000000-0000-4000-8000-000000000000')) s;
-- A sample of the uuids, and a uuid of each version
CREATE TABLE few_uuids AS (SELECT id FROM uuids ORDER BY md5('few' || id) LIMIT 40)
	UNION SELECT stamped(any_hex('few', k), to_hex(k), '8') FROM generate_series(1, 15) k;

CREATE TABLE bases (base, alphabet, width, zero) AS VALUES
	(16, '^[0-9a-fA-F]+$', 32, '0'), (32, '^[0-9a-tv-zA-TV-Z]+$', 26, '0'), (36, '^[0-9a-zA-Z]+$', 25, '0'),
	(58, '^[1-9A-HJ-NP-Za-km-z]+$', 22, '1'), (62, '^[0-9a-zA-Z]+$', 22, '0');
-- Return digits as the functions write them, without lower(), which depends on the collation.
CREATE FUNCTION written(t text, base int) RETURNS text IMMUTABLE LANGUAGE sql RETURN
	CASE WHEN base IN (16, 36) THEN translate(t, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
	WHEN base = 32 THEN translate(t, 'abcdefghijklmnopqrstuvwxyzILO', 'ABCDEFGH1JK1MN0PQRSTUVWXYZ110') ELSE t END;

CREATE TABLE prefixes (prefix) AS VALUES
	('a'), ('acct'), ('z_z'), ('line_item2'), ('a__b'), (repeat('p', 62)), ('x9'), ('underscored_and_long_and_longer');
CREATE TABLE domains AS
	SELECT prefix, idgen.create_id_domain('made_' || row_number() OVER (), prefix) AS domain FROM prefixes;

CREATE TABLE numbers AS SELECT DISTINCT n FROM (SELECT any_number('number', k) AS n FROM generate_series(1, 300) k
	UNION ALL SELECT any_number('number', k) >> up_to('shift', k, 63)::int FROM generate_series(1, 300) k
	UNION ALL SELECT (1::bigint << k) - d FROM generate_series(0, 62) k, generate_series(-1, 1) d
	UNION ALL VALUES (0::bigint), (-1), (9223372036854775807), (-9223372036854775808), (9007199254740991),
		(10000000000),
		(9223372020000000000), (9223372029999999999), (9223372030000000000), (14150009200065)) s;

CREATE TABLE instants AS SELECT DISTINCT at FROM (
	SELECT to_timestamp(up_to('instant', k, 281474976710655) / 1000.0) AS at FROM generate_series(1, 200) k
	UNION ALL SELECT to_timestamp(up_to('instant', k, 4294967295)) + interval '1 us' * up_to('us', k, 1000000)
		FROM generate_series(1, 300) k
	UNION ALL SELECT to_timestamp(-up_to('instant', k, 200000000000)) FROM generate_series(1, 100) k
	UNION ALL SELECT to_timestamp(up_to('instant', k, 9000000000000)) FROM generate_series(1, 100) k
	UNION ALL VALUES ('infinity'::timestamptz), ('-infinity'), ('2026-11-28 12:34:56.789012+00'),
		('4714-11-24 00:00:00+00 BC'), ('294276-12-31 23:59:59.999999+00'),
		('1970-01-01 00:00:00+00'), ('1969-12-31 23:59:59.999999+00'),
		('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'),
		('2106-02-07 06:28:15.999999+00'), ('2106-02-07 06:28:16+00'), ('2020-01-01 00:00:00+00'),
		('2019-12-31 23:59:59.999999+00'), ('2089-09-06 15:47:35.551+00'), ('2156-02-07 06:28:15+00')) s;
CREATE TABLE epochs AS SELECT at AS epoch FROM instants WHERE isfinite(at)
	ORDER BY at <> '2020-01-01 00:00+00', md5('epoch' || at) LIMIT 25;
CREATE VIEW ranges AS SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants
	UNION ALL (SELECT NULL, at FROM instants LIMIT 9) UNION ALL (SELECT at, at FROM instants LIMIT 9);

CREATE TABLE spans AS SELECT DISTINCT span FROM (
	SELECT interval '1 ms' * (up_to('span', k, 1000000000000) >> up_to('shift', k, 40)::int) AS span
		FROM generate_series(1, 100) k
	UNION ALL SELECT unnest('{0,1 us,1 ms,-1 ms,1 s,1 minute,30 seconds,-1 minute,1 hour,10 days,1 month,
		-1 month 31 days,
		1500 us,65536 ms,281474976710 seconds 656 ms,2147483647 days,-2147483648 days,106751991 days,106751992 days,
		2562047788:00:54.775807,-2562047788:00:54.775807,178000000 years,32767 minutes,365250 days,365250 days 1 ms,
		106751991 days 2562047788:00:54.775807,-106751991 days -2562047788:00:54.775807}'::interval[])) s;

CREATE TABLE object_ids AS SELECT k, substr(any_hex('object_id', k), 1, 24) AS o FROM generate_series(1, 400) k
	UNION ALL VALUES (0, repeat('0', 24)), (0, repeat('f', 24));

CREATE TABLE histories AS SELECT history, keep FROM unnest('{0,1,20,2147483647,NULL}'::int[]) keep, (
	SELECT '{}'::uuid[] AS history UNION ALL SELECT NULL UNION ALL SELECT array_agg(id) FROM few_uuids
	UNION ALL SELECT array_agg(CASE WHEN n % 3 > 0 THEN id END)
		FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM few_uuids) s
	UNION ALL SELECT format('[5:6]={%s,%s}', min(id::text), max(id::text))::uuid[] FROM few_uuids
	UNION ALL SELECT (SELECT array_agg(id) FROM (SELECT id FROM uuids ORDER BY md5(k || id::text) LIMIT k) s)
		FROM generate_series(1, 30, 7) k) h;

CREATE TABLE reals AS SELECT unnest(
	'{0,-1,1,0.5,1e-300,1e300,NaN,Infinity,-Infinity,1000,1e6,1e9,1e12,1e15,4e18,NULL}'::float8[]) AS x;

-- Strings: identifiers in all forms, and the same identifiers with some characters replaced. The replacements are
-- characters in UTF8, and arbitrary nonzero bytes in SQL_ASCII.
CREATE TABLE characters AS SELECT chr(k) AS c FROM generate_series(1, 255) k
	UNION ALL SELECT chr(k) FROM unnest('{8364,128512,769,65279,8490}'::int[]) k WHERE getdatabaseencoding() = 'UTF8';
CREATE TABLE forms AS SELECT DISTINCT t FROM (
	SELECT t FROM literals UNION ALL SELECT prefix FROM prefixes UNION ALL SELECT n::text FROM numbers
	UNION ALL SELECT idgen.uuid_to_base(id, base) FROM few_uuids, bases
	UNION ALL SELECT idgen.prefixed_id_from_uuid(prefix, id) FROM few_uuids, prefixes
	UNION ALL SELECT idgen.typeid_from_uuid(prefix, id) FROM few_uuids, prefixes WHERE prefix !~ '[0-9]'
	UNION ALL SELECT unnest(ARRAY[id::text, upper(id::text), idgen.typeid_from_uuid('', id)]) FROM few_uuids
	UNION ALL SELECT unnest(ARRAY[o, upper(o)]) FROM object_ids WHERE k < 40
	UNION ALL SELECT repeat(c, k) FROM regexp_split_to_table('0179afzAFZ_-', '') c, generate_series(0, 37) k
	UNION ALL SELECT repeat(c, k) FROM unnest('{a,_}'::text[]) c, unnest('{62,63,64,95,96,97,10000,1000000}'::int[]) k
	UNION ALL SELECT unnest(ARRAY['', '_', 'a_', '_a', 'a_1', 'a__1', 'A_1', 'snowflake', 'uuid_v7_ordered', 'random',
		'short_comb', 'a.b', 'a.b.c', '"', '"a', '""', 'pg_catalog.x', 'information_schema.x', 'public.x', 'public',
		'postgres.public.x', 'nowhere.x', 'pg_temp.x', 'a b',
		'a"; DROP TABLE texts; --', 'x''y', E'tab\there', E'line\n',
		' 1', '1 ', '+1', '1e3', '0x1f', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', '80000000000000000000000000',
		'f5lxx1zz5pnorynqglhzmsp34', 'YcVfxkQb6JRzqk5kF2tNLw', '7n42DGM5Tflk9n8mt7Fhc8'])) s;
CREATE TABLE texts AS SELECT DISTINCT t FROM (
	SELECT t FROM forms UNION ALL SELECT c FROM characters
	UNION ALL SELECT overlay(t PLACING c FROM 1 + up_to(c || t, 0, length(t) + 1)::int FOR up_to(c || t, 1, 3)::int)
		FROM (SELECT t, row_number() OVER (ORDER BY any_hex(t, 0)) AS k FROM forms WHERE length(t) < 200) f
		JOIN (SELECT c, row_number() OVER (ORDER BY any_hex(c, 0)) AS k FROM characters) g ON f.k % 255 = g.k - 1) s;

-- Times in microseconds, as exact numbers. The result is NULL if there is no such length or instant.
CREATE FUNCTION floor_div(a numeric, b numeric) RETURNS numeric IMMUTABLE LANGUAGE sql
	RETURN div(a, b) - (mod(a, b) < 0)::int;
CREATE FUNCTION floor_mod(a numeric, b numeric) RETURNS numeric IMMUTABLE LANGUAGE sql RETURN a - floor_div(a, b) * b;
CREATE FUNCTION hex(n numeric, digits int) RETURNS text IMMUTABLE LANGUAGE sql
	RETURN lpad(to_hex(floor_mod(n, 16::numeric ^ digits)::bigint), digits, '0');
-- Count from the year 2000, because the epoch of a timestamptz is rounded in the last years of the range.
CREATE FUNCTION unix_us(at timestamptz) RETURNS numeric LANGUAGE sql RETURN CASE WHEN isfinite(at)
	THEN extract(epoch FROM at - timestamptz '2000-01-01 00:00+00') * 1000000 + 946684800000000
	ELSE extract(epoch FROM at) END;
CREATE FUNCTION unix_ms(at timestamptz) RETURNS numeric LANGUAGE sql RETURN floor_div(unix_us(at), 1000);
CREATE FUNCTION part(us numeric, unit_us numeric) RETURNS numeric IMMUTABLE LANGUAGE sql
	RETURN floor_div(floor_div(us, 1000) * 12000, unit_us);
CREATE FUNCTION unix_s(at timestamptz) RETURNS numeric LANGUAGE sql RETURN floor_div(unix_us(at), 1000000);
CREATE FUNCTION length_us(span interval) RETURNS numeric LANGUAGE sql RETURN CASE
	WHEN date_trunc('month', span) = '0' AND abs(extract(day FROM span) * 86400000000 + 0.5) < 9223372036854775808
		AND abs(extract(epoch FROM span) * 1000000 + 0.5) < 9223372036854775808
	THEN extract(epoch FROM span) * 1000000 END;
CREATE FUNCTION length(us numeric) RETURNS interval LANGUAGE sql
	RETURN make_interval(days => floor_div(us, 86400000000)::int, secs => floor_mod(us, 86400000000)::float8 / 1000000);
CREATE FUNCTION instant(us numeric) RETURNS timestamptz LANGUAGE sql RETURN CASE
	WHEN us BETWEEN unix_us('4714-11-24 00:00+00 BC') AND unix_us('294276-12-31 23:59:59.999999+00')
	THEN timestamptz 'epoch' + length(us) END;

-- Arguments of checks. unit_us is the length of the period, if it is valid, and "number" is the number of the period
-- that contains the clock. One window in seven is as wide as the cycle of prefixes allows, or wider by 1 us. At least
-- half of the identifiers contain a time, and the others contain a prefix. This is the time or prefix of the
-- clock, of an end of the window, or of a time just outside the window.
CREATE TABLE random_windows AS WITH picked AS (
	SELECT k::int, up_to('bytes', k, 9)::int - 1 AS bytes, instants[1 + up_to('clock', k, cardinality(instants))] AS at,
		spans[1 + up_to('tolerance', k, cardinality(spans))] AS tolerance,
		spans[1 + up_to('period', k, cardinality(spans))] AS period,
		spans[1 + up_to('past', k, cardinality(spans))] AS past,
		spans[1 + up_to('future', k, cardinality(spans))] AS future
	FROM generate_series(1, 4000) k, (SELECT array_agg(span ORDER BY span) AS spans FROM spans) s,
		(SELECT array_agg(at ORDER BY at) AS instants FROM instants) i
), with_unit AS (
	SELECT *, CASE WHEN length_us(period) BETWEEN 1 AND 365250 * 86400000000 AND mod(length_us(period), 1000) = 0
		AND bytes BETWEEN 1 AND 6 THEN length_us(period) END AS unit_us FROM picked
), windows AS (
	SELECT k, bytes, at, period, unit_us,
		CASE WHEN widest < 9223372036854775807 THEN '0' ELSE tolerance END AS tolerance,
		CASE WHEN widest < 9223372036854775807 THEN length(widest + k % 2) WHEN k % 3 = 0 THEN past END AS past,
		CASE WHEN widest IS NULL AND k % 4 = 0 THEN future END AS future
	FROM with_unit, LATERAL (SELECT CASE WHEN k % 7 = 0 THEN (256::numeric ^ bytes - 2) * unit_us END AS widest) w
), with_us AS (
	SELECT *, length_us(coalesce(past, tolerance)) AS past_us, length_us(coalesce(future, tolerance)) AS future_us,
		floor_div(unix_ms(at) * 1000, unit_us) AS number FROM windows
), made AS (
	SELECT *, coalesce(floor_div(unix_us(CASE WHEN isfinite(at) THEN at END)
		+ (ARRAY[0, -past_us, -past_us - 1000, future_us, future_us + 1000])[1 + k % 5], 1000), 0) AS made_ms
	FROM with_us
)
SELECT k, bytes, at, period, unit_us, tolerance, past, future, past_us, future_us, number,
	stamped(overlay(any_hex('window', k) PLACING CASE WHEN k % 2 = 0 OR unit_us IS NULL THEN hex(made_ms, 12)
		ELSE hex(floor_div(made_ms * 1000, unit_us), 2 * bytes) END FROM 1),
		substr('447d', 1 + k / 2 % 4, 1), substr('89abc', 1 + k / 8 % 5, 1)) AS id
FROM made;

-- Return the expected result of is_recent_...(). Prefixes are cyclic, but times are not.
CREATE FUNCTION recent(w random_windows, of_version int, has_prefix boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	unit_us numeric := CASE WHEN has_prefix THEN w.unit_us ELSE 1000 END;
	bytes int := CASE WHEN has_prefix THEN w.bytes ELSE 6 END;
	cycle numeric := CASE WHEN has_prefix THEN 256::numeric ^ bytes ELSE 2::numeric ^ 64 END;
	first_us numeric := unix_us(w.at) - w.past_us;
	last_us numeric := unix_us(w.at) + w.future_us;
	first numeric := floor_div(floor_div(first_us, 1000) * 1000, unit_us);
	last numeric := floor_div(floor_div(last_us, 1000) * 1000, unit_us);
BEGIN
	IF (length_us(w.tolerance) >= 0 AND w.past_us >= 0 AND w.future_us >= 0
		AND w.past_us + w.future_us <= (cycle - 2) * unit_us) IS NOT TRUE THEN
		RETURN '!22023';
	ELSIF NOT isfinite(w.at) OR first_us < unix_us('2000-01-01 00:00+00') - 9223372036854775808
		OR last_us > unix_us('2000-01-01 00:00+00') + 9223372036854775807 THEN
		RETURN '!22008';
	END IF;
	RETURN (idgen.uuid_version(w.id) IS NOT DISTINCT FROM of_version
		AND floor_mod((first_48(w.id) >> (48 - 8 * bytes)) - first, cycle) <= last - first)::text;
END $$;

CREATE FUNCTION hex_value(digit text) RETURNS int IMMUTABLE LANGUAGE sql
	RETURN ('x' || lpad(digit, 8, '0'))::bit(32)::int;
CREATE FUNCTION first_48(id uuid) RETURNS bigint IMMUTABLE LANGUAGE sql
	RETURN ('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint;
CREATE FUNCTION instant_of(ms bigint) RETURNS timestamptz IMMUTABLE LANGUAGE sql
	RETURN timestamptz 'epoch' + interval '1 s' * (ms / 1000) + interval '1 ms' * (ms % 1000);
CREATE FUNCTION taken_by(domain regtype, value text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT %L::%s', value, domain);
	RETURN true;
EXCEPTION WHEN check_violation THEN
	RETURN false;
END $$;

-- Variants of idgen's functions that return an error as a value
CREATE SCHEMA tried;
SELECT format('CREATE FUNCTION tried.%I(%s) RETURNS text LANGUAGE plpgsql AS %L',
	f.proname, string_agg(t::regtype::text, ', ' ORDER BY i),
	format('BEGIN RETURN (SELECT r::text FROM idgen.%I(%s) r LIMIT 1);
		EXCEPTION WHEN OTHERS THEN RETURN ''!'' || SQLSTATE; END', f.proname, string_agg('$' || i, ', ' ORDER BY i)))
FROM functions f, unnest(f.proargtypes) WITH ORDINALITY u (t, i)
GROUP BY f.oid, f.proname \gexec

-- Return a query for the values of a type.
CREATE FUNCTION values_of(type regtype) RETURNS text LANGUAGE sql RETURN CASE type::text
	WHEN 'uuid' THEN 'SELECT id FROM uuids' WHEN 'text' THEN 'SELECT t FROM texts'
	WHEN 'bigint' THEN 'SELECT n FROM numbers'
	WHEN 'timestamp with time zone' THEN 'SELECT at FROM instants' WHEN 'interval' THEN 'SELECT span FROM spans'
	WHEN 'uuid[]' THEN 'SELECT history::text FROM histories
		UNION ALL SELECT (ARRAY[[id]])::text FROM few_uuids UNION ALL SELECT (ARRAY[id, NULL])::text FROM few_uuids'
	WHEN 'double precision' THEN 'SELECT x FROM reals'
	WHEN 'boolean' THEN 'VALUES (true), (false)'
	WHEN 'jsonb' THEN 'SELECT to_jsonb(t)::text FROM (SELECT t FROM texts WHERE length(t) < 100 LIMIT 100) s'
	WHEN 'integer' THEN 'SELECT unnest(''{0,1,-1,2,3,6,7,8,15,16,20,32,36,58,62,16,32,36,58,62,1024,
		2147483647,-2147483648}''::int[])' END;

-- Call a function with random values. One value in 29 of each argument is NULL.
CREATE FUNCTION try(f functions, trials int) RETURNS TABLE (state text) LANGUAGE plpgsql AS $$
DECLARE
	arguments text; pools text;
BEGIN
	SELECT string_agg(format('CASE WHEN k %% 29 = %s THEN NULL
			ELSE p%s.v[1 + up_to(%L, k, cardinality(p%s.v))] END::%s',
			i + 1, i, f.signature || i, i, t::regtype), ', ' ORDER BY i),
		string_agg(format(', (SELECT array_agg(v::text) AS v FROM (%s) s (v) WHERE v IS NOT NULL) p%s',
			values_of(t), i), '' ORDER BY i)
		INTO arguments, pools FROM unnest(f.proargtypes) WITH ORDINALITY u (t, i);
	RETURN QUERY EXECUTE format('SELECT DISTINCT CASE WHEN r LIKE ''!_____'' THEN substr(r, 2) ELSE '''' END
		FROM (SELECT tried.%I(%s) AS r FROM generate_series(1, %s) k%s OFFSET 0) s',
		f.proname, arguments, trials, pools);
END $$;
