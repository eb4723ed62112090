-- Properties of the functions for the values in values.sql. t/003_properties.pl executes each query, whose name is the
-- comment before it. Each query must return rows, and "holds" must be true in all of them. tried.f() returns the result
-- of idgen.f() as text, or "!" and the SQLSTATE.

-- mask_uuid_v7() accepts only version 7, unmask_uuid_v7() accepts only version 4, and they are inverses
SELECT *, CASE version WHEN 7 THEN idgen.unmask_uuid_v7(idgen.mask_uuid_v7(id)) = id
		ELSE tried.mask_uuid_v7(id, 'default') = '!22023' END
	AND CASE version WHEN 4 THEN idgen.mask_uuid_v7(idgen.unmask_uuid_v7(id)) = id
		ELSE tried.unmask_uuid_v7(id, 'default') = '!22023' END AS holds FROM uuids;
-- permute() and unpermute() are inverses
SELECT *, CASE WHEN n > 0 THEN idgen.unpermute(idgen.permute(n, 'a', max), 'a', max) = n
		AND idgen.permute(idgen.unpermute(n, 'a', max), 'a', max) = n
	ELSE tried.permute(n, 'a', max, 'default') = '!22023' AND tried.unpermute(n, 'a', max, 'default') = '!22023' END
	AND tried.permute(n, 'a', 9007199254740991, 'default')
		= CASE WHEN n BETWEEN 1 AND 9007199254740991 THEN idgen.permute(n, 'a')::text ELSE '!22023' END AS holds
FROM numbers, (SELECT 9223372036854775807 AS max) m;
-- permute() stays within max_value
SELECT *, idgen.permute(1, '', n) BETWEEN 1 AND n AND idgen.unpermute(idgen.permute(n, '', n), '', n) = n
	AND idgen.unpermute(idgen.permute(n, 'orders', n), 'orders', n) = n AS holds FROM numbers WHERE n > 1;
-- uuid_from_base() inverts uuid_to_base(), which pads to the width of 128 bits and preserves the order of uuids
SELECT *, idgen.uuid_from_base(here, base) = id AND length(here) = ceil(128 / log(2.0, base))
	AND (here COLLATE "C" < next COLLATE "C") IS NOT FALSE AS holds
FROM (SELECT *, lead(here) OVER (PARTITION BY base ORDER BY id) AS next
	FROM uuids, bases, LATERAL (SELECT idgen.uuid_to_base(id, base) AS here) h) s;
-- bigint_from_base() inverts bigint_to_base(), which rejects negative numbers
SELECT *, CASE WHEN n >= 0 THEN idgen.bigint_from_base(idgen.bigint_to_base(n, base), base) = n
	ELSE tried.bigint_to_base(n, base) = '!22023' END AS holds FROM numbers, bases;
-- uuid_from_base() accepts only the digits of the base, and bigint_from_base() agrees
SELECT *, CASE WHEN t ~ alphabet AND octet_length(t) < width
		THEN ltrim(idgen.uuid_to_base(id::uuid, base), zero) = ltrim(written(t, base), zero)
		ELSE id = '!22P02' OR octet_length(t) = width END
	AND CASE WHEN id ~ '^0{8}-0{4}-0{4}-[0-7]'
		THEN ('x' || right(translate(id, '-', ''), 16))::bit(64)::bigint = idgen.bigint_from_base(t, base)
		ELSE tried.bigint_from_base(t, base) = CASE id WHEN '!22P02' THEN id ELSE '!22003' END END AS holds
FROM texts, bases, LATERAL (SELECT tried.uuid_from_base(t, base) AS id) r;
-- a prefixed id contains its prefix and its uuid
SELECT *, idgen.prefixed_id_prefix(made) = prefix AND idgen.prefixed_id_to_uuid(made, prefix) = id AS holds
FROM prefixes, few_uuids, LATERAL (SELECT idgen.prefixed_id_from_uuid(prefix, id) AS made) m;
-- the readers of prefixed ids agree; is_prefixed_id() accepts only the text that prefixed_id_from_uuid() returns
SELECT *, CASE WHEN prefix = '!22P02' THEN id = '!22P02' AND tried.prefixed_id_to_uuid(t, 'acct') = '!22P02'
		AND tried.parse_prefixed_id(t) = '!22P02' AND NOT idgen.is_prefixed_id(t)
		AND NOT idgen.is_prefixed_id(t, 'acct')
	ELSE t LIKE prefix || '\_%' AND idgen.prefixed_id_to_uuid(canonical)::text = id
		AND (SELECT (p.prefix, p.id::text) = (r.prefix, r.id) FROM idgen.parse_prefixed_id(t) p)
		AND idgen.is_prefixed_id(t) = (t = canonical) AND idgen.is_prefixed_id(t, prefix) = (t = canonical)
		AND (prefix = 'other' OR NOT idgen.is_prefixed_id(t, 'other')) END AS holds
FROM texts, LATERAL (SELECT tried.prefixed_id_prefix(t) AS prefix, tried.prefixed_id_to_uuid(t, NULL) AS id) r,
	LATERAL (SELECT CASE WHEN prefix <> '!22P02' THEN idgen.prefixed_id_from_uuid(prefix, id::uuid) END AS canonical) c;
-- prefixed_id_to_uuid() rejects another prefix
SELECT *, tried.prefixed_id_to_uuid(idgen.prefixed_id_from_uuid(p.prefix, id), other.prefix) = '!23514' AS holds
FROM prefixes p, prefixes other, few_uuids WHERE p.prefix <> other.prefix;
-- prefixed_id_from_uuid() accepts only valid prefixes
SELECT *, CASE WHEN t ~ '^[a-z]([a-z0-9_]{0,61}[a-z0-9])?$' THEN length(made) = length(t) + 26
	ELSE made = '!22023' END AS holds
FROM texts, LATERAL (SELECT tried.prefixed_id_from_uuid(t, '0123e567-e89b-12d3-a456-426655440000') AS made) m;
-- an id domain accepts only canonical ids with its prefix
SELECT *, taken_by(domain, made) AND NOT taken_by(domain, idgen.prefixed_id_from_uuid(prefix || 'x', id))
	AND NOT taken_by(domain, prefix || '_0' || digits) AND NOT taken_by(domain, prefix || '_' || upper(digits) || '')
	AND (idgen.parse_prefixed_id(made)).domain = domain
	AND tried.create_id_domain('another', prefix) = '!23505' AS holds
FROM domains, few_uuids,
	LATERAL (SELECT idgen.prefixed_id_from_uuid(prefix, id) AS made, idgen.uuid_to_base(id, 36) AS digits) m;
-- a TypeID has one text form, and is_typeid() accepts what the readers accept
SELECT *, CASE WHEN id = '!22P02' THEN prefix = '!22P02' ELSE idgen.typeid_from_uuid(prefix, id::uuid) = t END
	AND idgen.is_typeid(t) = (id <> '!22P02') AND idgen.is_typeid(t, 'user') = (prefix = 'user')
	AND idgen.is_typeid(t, '') = (prefix = '') AS holds
FROM texts, LATERAL (SELECT tried.typeid_to_uuid(t, NULL) AS id, tried.typeid_prefix(t) AS prefix) r;
-- a TypeID contains its prefix and its uuid, and the uuid of a new TypeID has version 7
SELECT *, idgen.typeid_prefix(made) = prefix AND idgen.typeid_to_uuid(made) = id
	AND idgen.uuid_version(idgen.typeid_to_uuid(idgen.typeid(prefix))) = 7 AS holds
FROM prefixes, few_uuids, LATERAL (SELECT idgen.typeid_from_uuid(prefix, id) AS made) m WHERE prefix !~ '[0-9]';
-- ulid_to_uuid() inverts ulid_from_uuid(), which preserves order and time
SELECT *, idgen.ulid_to_uuid(ulid) = id AND idgen.ulid_timestamp(ulid) = instant_of(first_48(id))
	AND (before COLLATE "C" < ulid COLLATE "C") IS NOT FALSE AS holds
FROM (SELECT id, idgen.ulid_from_uuid(id) AS ulid,
		lag(idgen.ulid_from_uuid(id)) OVER (ORDER BY id) AS before FROM uuids) s;
-- a ULID has 26 base-32 digits, and all readers agree; is_ulid() accepts only the text that ulid_from_uuid() returns
SELECT *, id = CASE octet_length(t)
	WHEN 26 THEN replace(tried.uuid_from_base(t, 32), '!22003', '!22P02') ELSE '!22P02' END
	AND (tried.ulid_timestamp(t) = '!22P02') = (id = '!22P02')
	AND idgen.is_ulid(t) = CASE id WHEN '!22P02' THEN false ELSE idgen.ulid_from_uuid(id::uuid) = t END AS holds
FROM texts, LATERAL (SELECT tried.ulid_to_uuid(t) AS id) r;
-- conversions from version 1 have inverses and preserve the time
SELECT *, CASE version WHEN 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v1_to_v6(id)) = id
		AND idgen.lambert_comb_to_uuid_v1(idgen.uuid_v1_to_lambert_comb(id)) = id
		AND idgen.uuid_timestamp(idgen.uuid_v1_to_v6(id)) = idgen.uuid_timestamp(id)
		AND idgen.uuid_timestamp(idgen.uuid_v1_to_lambert_comb(id)) = idgen.uuid_timestamp(id)
		AND right(idgen.uuid_v1_to_v6(id)::text, 17) = right(id::text, 17)
	ELSE tried.uuid_v1_to_v6(id) = '!22023' AND tried.uuid_v1_to_lambert_comb(id) = '!22023' END AS holds FROM uuids;
-- conversions to version 1 have inverses
SELECT *, CASE version WHEN 6 THEN idgen.uuid_v1_to_v6(idgen.uuid_v6_to_v1(id)) = id
	ELSE tried.uuid_v6_to_v1(id) = '!22023' END
	AND CASE version WHEN 13 THEN idgen.uuid_v1_to_lambert_comb(idgen.lambert_comb_to_uuid_v1(id)) = id
	ELSE tried.lambert_comb_to_uuid_v1(id) = '!22023' END AS holds FROM uuids;
-- byte exchanges have inverses and move the documented bytes
SELECT *, idgen.suffix_comb_to_comb(idgen.comb_to_suffix_comb(id)) = id
	AND idgen.short_suffix_comb_to_short_comb(idgen.short_comb_to_short_suffix_comb(id)) = id
	AND idgen.swap_guid_bytes(id) =
		regexp_replace(digits, '^(..)(..)(..)(..)(..)(..)(..)(..)', '\4\3\2\1\6\5\8\7')::uuid
	AND idgen.comb_to_suffix_comb(id) = regexp_replace(digits, '^(.{12})(.{8})(.{12})$', '\3\2\1')::uuid
	AND idgen.short_comb_to_short_suffix_comb(id) =
		regexp_replace(digits, '^(.{4})(.{16})(.{4})', '\3\2\1')::uuid AS holds
FROM uuids;
-- uuid_version() and uuid_variant() agree with the digits of the uuid
SELECT *, idgen.uuid_variant(id) = (CASE WHEN variant < 8 THEN 'NCS' WHEN variant < 12 THEN 'RFC 9562'
		WHEN variant < 14 THEN 'Microsoft' ELSE 'future' END)
	AND idgen.uuid_version(id) IS NOT DISTINCT FROM
		CASE WHEN variant BETWEEN 8 AND 11 THEN hex_value(substr(digits, 13, 1)) END AS holds
FROM uuids, LATERAL (SELECT hex_value(substr(digits, 17, 1)) AS variant) v;
-- timestamps are read only from versions that contain one, and uuid_text_timestamp() agrees
SELECT *, (at IS NOT NULL) = (coalesce(version, 0) IN (1, 6, 7, 13))
	AND (version IS DISTINCT FROM 7 OR at = instant_of(first_48(id)))
	AND (version NOT IN (6, 13) OR at = instant(unix_us('1582-10-15 00:00+00')
		+ floor_div(first_48(id) * 4096::numeric + hex_value(substr(digits, 14, 3)), 10))) IS NOT FALSE
	AND idgen.uuid_text_timestamp(id::text) IS NOT DISTINCT FROM at
	AND idgen.comb_timestamp(id) IS NOT DISTINCT FROM CASE version WHEN 4 THEN instant_of(first_48(id)) END
	AND idgen.suffix_comb_timestamp(id) IS NOT DISTINCT FROM
		CASE version WHEN 4 THEN instant_of(first_48(idgen.suffix_comb_to_comb(id))) END AS holds
FROM uuids, LATERAL (SELECT idgen.uuid_timestamp(id) AS at) r;
-- uuid_text_timestamp() rejects other text
SELECT *, tried.uuid_text_timestamp(t) = '!22P02' AS holds
FROM texts WHERE t !~ '^[{]?[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7}[}]?$';
-- a short COMB has the prefix of the period that contains the clock
SELECT *, CASE WHEN unit_us IS NULL THEN made = '!22023'
	WHEN NOT isfinite(at) THEN made = '!22008' AND suffixed = '!22008'
	ELSE left(replace(made, '-', ''), 2 * bytes) = hex(number, 2 * bytes) AND substr(suffixed, 25, 4) = hex(number, 4)
		AND made ~ '^.{14}4.{4}[89ab]' AND suffixed ~ '^.{14}4.{4}[89ab]' END AS holds
FROM random_windows, LATERAL (SELECT tried.short_comb(period, bytes, nullif(k % 3, 0), at) AS made,
	tried.short_suffix_comb(period, at) AS suffixed) m;
-- a keyed COMB has the same prefix as at the first millisecond of the same twelfth of the period
SELECT *, CASE WHEN NOT isfinite(at) THEN made = '!22008' AND named = '!22008'
	WHEN unit_us IS NULL THEN made = '!22023' AND named = '!22023'
	ELSE made ~ '^.{14}4.{4}[89ab]' AND named ~ '^.{14}4.{4}[89ab]'
		AND left(made, 8) NOT IN (left(other, 8), left(named, 8))
		AND (start IS NULL OR left(made, 8) = left(tried.keyed_comb(bytes::text, period, start), 8)
			AND left(named, 8) = left(tried.hmac_comb_at(start, bytes::text, 'v2', period), 8)) END AS holds
FROM random_windows, LATERAL (SELECT tried.keyed_comb(bytes::text, period, at) AS made,
	tried.keyed_comb('other', period, at) AS other, tried.hmac_comb_at(at, bytes::text, 'v2', period) AS named,
	instant(ceil(floor_div(12000 * unix_ms(at), unit_us) * unit_us / 12000) * 1000) AS start) m
WHERE bytes BETWEEN 1 AND 6;
-- hmac_comb() generates keys for the current time and for each area of up to 63 bytes in UTF-8
SELECT *, CASE made WHEN '!22021' THEN true WHEN '!22023' THEN octet_length(t) > 63
	ELSE octet_length(t) <= 63 AND idgen.is_recent_hmac_comb(made::uuid, t, 'v2') END AS holds
FROM texts, LATERAL (SELECT tried.hmac_comb(t, 'v2', '1 hour') AS made) m;
-- hmac_comb() and hmac_comb_at() take one key name, is_recent_hmac_comb() takes a list, and all keys must exist
SELECT *, CASE WHEN t IN ('default', 'shared', 'v2', 'app', 'app2') THEN made !~ '!' AND made_at !~ '!'
		AND answer = 'false'
	WHEN t ~ '[ \t\n\r\v\f]' THEN made = '!22023' AND made_at = '!22023' AND answer IN ('!42704', '!22023', 'false')
	ELSE made = '!42704' AND made_at = '!42704' AND answer = CASE t WHEN '' THEN '!22023' ELSE '!42704' END END AS holds
FROM texts, LATERAL (SELECT tried.hmac_comb('a', t, '1 hour') AS made,
	tried.hmac_comb_at('epoch', 'a', t, '1 hour') AS made_at, tried.is_recent_hmac_comb(
		'00000000-0000-7000-8000-000000000000', 'a', t, '0', NULL, NULL, '1 hour', 'epoch') AS answer) m;
-- is_recent_hmac_comb() accepts UUIDs of each twelfth that the window touches, and of no other period, for 1 or 2 keys
SELECT *, CASE WHEN unit_us IS NULL OR (length_us(tolerance) >= 0 AND past_us >= 0 AND future_us >= 0
		AND past_us + future_us <= 64 * unit_us) IS NOT TRUE THEN answer = '!22023'
	WHEN NOT isfinite(at) OR first_us < unix_us('2000-01-01 00:00+00') - 9223372036854775808
		OR last_us > unix_us('2000-01-01 00:00+00') + 9223372036854775807 THEN answer = '!22008'
	WHEN part(made_at, unit_us) BETWEEN part(first_us, unit_us) AND part(last_us, unit_us) THEN answer = 'true'
	WHEN floor_div(part(made_at, unit_us), 12)
		BETWEEN floor_div(part(first_us, unit_us), 12) AND floor_div(part(last_us, unit_us), 12)
		THEN answer IN ('true', 'false')
	ELSE answer = 'false' END AND answer = of_two AS holds
FROM random_windows,
	LATERAL (SELECT unix_us(at) - past_us AS first_us, unix_us(at) + future_us AS last_us,
		unix_us(at) + (ARRAY[0, -past_us, -past_us - 1000, future_us, future_us + 1000])[1 + k % 5] AS made_at) t,
	LATERAL (SELECT tried.hmac_comb_at(instant(made_at), 'a', 'v2', period) AS made) m,
	LATERAL (SELECT tried.is_recent_hmac_comb(made::uuid, 'a', 'v2', tolerance, past, future, period, at) AS answer,
		tried.is_recent_hmac_comb(made::uuid, 'a', 'app v2', tolerance, past, future, period, at) AS of_two
		WHERE made NOT LIKE '!%' AND instant(made_at) IS NOT NULL) r WHERE bytes BETWEEN 1 AND 6;
-- short_comb_timestamp() returns the start of the latest period, up to the clock, that has the prefix
SELECT *, tried.short_comb_timestamp(id, period, bytes, at) IS NOT DISTINCT FROM CASE
	WHEN unit_us IS NULL THEN '!22023' WHEN NOT isfinite(at) THEN '!22008' WHEN idgen.uuid_version(id) = 4
	THEN instant((number
		- floor_mod(number - (first_48(id) >> (48 - 8 * bytes)), 256::numeric ^ bytes)) * unit_us)::text
	END AS holds FROM random_windows;
-- is_recent_*() agree with exact arithmetic, and check_recent_*() raise an error if the result is false
SELECT *, answer = expected
	AND checked = CASE expected WHEN 'true' THEN id::text WHEN 'false' THEN '!23514' ELSE expected END AS holds
FROM random_windows w, LATERAL (VALUES
	(recent(w, 4, true), tried.is_recent_short_comb(id, tolerance, past, future, period, bytes, at),
		tried.check_recent_short_comb(id, tolerance, past, future, period, bytes, at)),
	(recent(w, 4, false), tried.is_recent_comb(id, tolerance, past, future, at),
		tried.check_recent_comb(id, tolerance, past, future, at)),
	(recent(w, 7, false), tried.is_recent_uuid_v7(id, tolerance, past, future, at),
		tried.check_recent_uuid_v7(id, tolerance, past, future, at))) v (expected, answer, checked);
-- created_near() includes both ends of the range around the time in the identifier
SELECT *, idgen.created_near(id, made + span, span) AND idgen.created_near(id, made - span, span)
	AND NOT idgen.created_near(id, made + span + interval '1 us', span)
	AND NOT idgen.created_near(id, made - span - interval '1 us', span) AS holds
FROM (SELECT id, idgen.uuid_timestamp(id) AS made FROM uuids WHERE version IN (1, 6, 7, 13)) s,
	unnest('{0,1 ms,90000 s}'::interval[]) span;
-- created_near() rejects a tolerance that is negative or has no length, and is false for a uuid without a time
SELECT *, idgen.internal_is_version(id, 7) = coalesce(idgen.uuid_version(id) = 7, false)
	AND (tried.internal_created_bound(id, span, true) = '!22023')
		= (tried.created_near(id, '2026-01-01', span) = '!22023')
	AND CASE WHEN (length_us(span) >= 0) IS NOT TRUE
	THEN tried.created_near(id, '2026-01-01', span) = '!22023'
	ELSE idgen.uuid_timestamp(id) IS NOT NULL OR NOT idgen.created_near(id, '2026-01-01', span) END AS holds
FROM few_uuids, spans;
-- is_uuid() agrees with a regular expression; without a version, it accepts versions 1 to 8, nil and max
SELECT *, idgen.is_uuid(t, version) = (t ~ replace(format('^x{8}-x{4}-[%s%s]x{3}-[89abAB]x{3}-x{12}$',
	to_hex(version), upper(to_hex(version))), 'x', '[0-9a-fA-F]'))
	AND idgen.is_uuid(t) = (t ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
		OR t ~* '^([0f])\1{7}(-\1{4}){3}-\1{12}$') AS holds
FROM texts, generate_series(0, 15) version;
-- identifiers lie between the floors of their millisecond and of the next one
SELECT *, v7 >= idgen.uuid_v7_floor(at) AND v7 < idgen.uuid_v7_floor(next)
	AND comb >= idgen.comb_floor(at) AND comb < idgen.comb_floor(next)
	AND idgen.comb_timestamp(idgen.comb_to_suffix_comb(idgen.suffix_comb(at))) = date_trunc('ms', at)
	AND idgen.ulid_from_uuid(v7) COLLATE "C" >= idgen.ulid_floor(at)
	AND idgen.ulid_from_uuid(v7) COLLATE "C" < idgen.ulid_floor(next) AS holds
FROM instants, LATERAL (SELECT idgen.uuid_v7(at) AS v7, idgen.comb(at) AS comb, at + interval '1 ms' AS next) m
WHERE at >= '1970-01-01 00:00+00' AND at < '10889-08-02 05:31:50.655+00';
-- an identifier for a given clock contains its time, and differs from a second identifier for the same clock
SELECT *, CASE WHEN at < first OR at >= past THEN made = '!22008'
	ELSE made <> other AND date_trunc(unit, at) = CASE kind
	WHEN 'ulid' THEN idgen.ulid_timestamp(made)
	WHEN 'typeid' THEN idgen.uuid_timestamp(idgen.typeid_to_uuid(made))
	WHEN 'object_id' THEN idgen.object_id_timestamp(made) ELSE idgen.uuid_text_timestamp(made) END END AS holds
FROM instants, LATERAL (VALUES ('uuid_v1', tried.uuid_v1(at), tried.uuid_v1(at)),
	('uuid_v6', tried.uuid_v6(at), tried.uuid_v6(at)), ('lambert_comb', tried.lambert_comb(at), tried.lambert_comb(at)),
	('ulid', tried.ulid(at), tried.ulid(at)), ('typeid', tried.typeid('a', at), tried.typeid('a', at)),
	('object_id', tried.object_id(at), tried.object_id(at))) g (kind, made, other)
JOIN (VALUES ('ulid|typeid', timestamptz 'epoch', timestamptz '10889-08-02 05:31:50.656+00', 'ms'),
	('object_id', 'epoch', '2106-02-07 06:28:16+00', 's'),
	('v1|v6|lambert', '1582-10-15 00:00+00', '5236-03-31 21:21:00.684698+00', 'us')) b (kinds, first, past, unit)
ON kind ~ kinds;
-- *_within() select half-open ranges of the times in uuids of one version and in ULIDs
SELECT *, idgen.uuid_v7_within(id, start, stop) IS NOT DISTINCT FROM (coalesce(idgen.uuid_version(id) = 7, false)
		AND idgen.uuid_timestamp(id) >= date_trunc('ms', start) AND idgen.uuid_timestamp(id) < date_trunc('ms', stop))
	AND idgen.comb_within(id, start, stop) IS NOT DISTINCT FROM (coalesce(idgen.uuid_version(id) = 4, false)
		AND idgen.comb_timestamp(id) >= date_trunc('ms', start) AND idgen.comb_timestamp(id) < date_trunc('ms', stop))
	AND idgen.ulid_within(ulid, start, stop)
		IS NOT DISTINCT FROM (ulid >= idgen.ulid_floor(start) AND ulid < idgen.ulid_floor(stop)) AS holds
FROM few_uuids, ranges, LATERAL (SELECT idgen.ulid_from_uuid(id) COLLATE "C" AS ulid) u;
-- object_id_within() selects a half-open range
SELECT *, idgen.object_id_within(o COLLATE "C", start, stop) IS NOT DISTINCT FROM
	(o COLLATE "C" >= idgen.object_id_floor(start) AND o COLLATE "C" < idgen.object_id_floor(stop)) AS holds
FROM object_ids, ranges;
-- ulid_within() and object_id_within() are false for texts that is_ulid() and is_object_id() reject
SELECT *, (idgen.is_ulid(t) OR NOT idgen.ulid_within(t, '-infinity'))
	AND (idgen.is_object_id(t) OR NOT idgen.object_id_within(t, '-infinity')) AS holds FROM texts;
-- *_within() select half-open ranges of numbers, even with an epoch other than the default
SELECT *, idgen.snowflake_within(n, start, stop, epoch) IS NOT DISTINCT FROM
		(n >= idgen.snowflake_floor(start, epoch) AND n < idgen.snowflake_floor(stop, epoch))
	AND idgen.js_id_within(n, start, stop, epoch)
		IS NOT DISTINCT FROM (n >= idgen.js_id_floor(start, epoch) AND n < idgen.js_id_floor(stop, epoch)) AS holds
FROM numbers, ranges, (SELECT timestamptz '2015-01-01 00:00+00' AS epoch) e;
-- uuid_smaller() and uuid_larger() agree with least() and greatest()
SELECT *, idgen.uuid_smaller(a.id, b.id) = least(a.id, b.id)
	AND idgen.uuid_larger(a.id, b.id) = greatest(a.id, b.id) AS holds FROM few_uuids a, few_uuids b;
-- uuid_v5() returns version 5, and different values for different names and namespaces
SELECT *, made = '!22021' OR made ~ '^.{14}5.{4}[89ab]' AND made <> idgen.uuid_v5(id, t || 'a')::text
	AND made <> idgen.uuid_v5(made::uuid, t)::text AS holds
FROM texts, (SELECT id FROM few_uuids LIMIT 3) n, LATERAL (SELECT tried.uuid_v5(id, t) AS made) m;
-- named_uuid_v7() contains its time, and bits of the hash of the namespace and the name
SELECT *, CASE WHEN at < '1970-01-01 00:00+00' OR at >= '10889-08-02 05:31:50.656+00' THEN made = '!22008'
	WHEN made <> '!22021' THEN ('x' || translate(made, '-', ''))::bit(128) = unix_ms(at)::bigint::bit(48) || B'0111'
		|| substring(hash FROM 1 FOR 12) || B'10' || substring(hash FROM 65 FOR 62)
	ELSE tried.uuid_v5(id, t) = made END AS holds
FROM (SELECT t, row_number() OVER (ORDER BY md5(t)) AS k FROM texts) t
	JOIN (SELECT at, row_number() OVER (ORDER BY md5(at::text)) AS k FROM instants) i ON t.k % 700 = i.k - 1,
	(SELECT id FROM few_uuids LIMIT 3) n, LATERAL (SELECT tried.named_uuid_v7(at, id, t) AS made) m,
	LATERAL (SELECT ('x' || encode(sha256(uuid_send(id) || convert_to(t, 'UTF8')), 'hex'))::bit(256) AS hash) h;
-- a floor is the first value of its tick since the epoch, or the smallest or greatest value
SELECT *, CASE
	WHEN ms BETWEEN 0 AND 281474976710655 THEN idgen.uuid_v7_floor(at) = rpad(hex(ms, 12) || '70008', 32, '0')::uuid
		AND idgen.comb_floor(at) = rpad(hex(ms, 12) || '40008', 32, '0')::uuid
		AND idgen.ulid_to_uuid(idgen.ulid_floor(at)) = rpad(hex(ms, 12), 32, '0')::uuid
	WHEN ms < 0 THEN idgen.uuid_v7_floor(at) = idgen.uuid_v7_floor('epoch')
		AND idgen.comb_floor(at) = idgen.comb_floor('epoch') AND idgen.ulid_floor(at) = repeat('0', 26)
	ELSE idgen.uuid_v7_floor(at) = repeat('f', 32)::uuid AND idgen.comb_floor(at) = repeat('f', 32)::uuid
		AND idgen.ulid_floor(at) = rpad('7', 26, 'Z') END
	AND tried.object_id_floor(at) =
		CASE WHEN unix_s(at) > 4294967295 THEN repeat('f', 24) ELSE rpad(hex(greatest(unix_s(at), 0), 8), 24, '0') END
	AND tried.snowflake_floor(at, epoch) =
		CASE WHEN ms_since > 2199023255551 THEN '9223372036854775807' ELSE (greatest(ms_since, 0) * 4194304)::text END
	AND tried.js_id_floor(at, epoch) =
		CASE WHEN s_since > 4294967295 THEN '9007199254740991' ELSE (greatest(s_since, 0) * 2097152)::text END AS holds
FROM instants, epochs, LATERAL (SELECT unix_ms(at) AS ms, unix_ms(at) - unix_ms(epoch) AS ms_since,
	unix_s(at) - unix_s(epoch) AS s_since) s;
-- the parts of a Snowflake are its bits, and the time is counted from the epoch
SELECT *, CASE WHEN n < 1
	THEN num_nonnulls(idgen.snowflake_timestamp(n, epoch), idgen.snowflake_node(n), idgen.snowflake_counter(n)) = 0
	ELSE idgen.snowflake_timestamp(n, epoch) IS NOT DISTINCT FROM instant((unix_ms(epoch) + (n >> 22)) * 1000)
		AND idgen.snowflake_node(n) = (n >> 12 & 1023) AND idgen.snowflake_counter(n) = (n & 4095) END AS holds
FROM numbers, epochs;
-- the parts of a js_id are its bits, and the time is counted from the epoch
SELECT *, CASE WHEN n < 1 OR n >= 9007199254740992
	THEN num_nonnulls(idgen.js_id_timestamp(n, epoch), idgen.js_id_node(n), idgen.js_id_counter(n)) = 0
	ELSE idgen.js_id_timestamp(n, epoch) IS NOT DISTINCT FROM instant((unix_s(epoch) + (n >> 21)) * 1000000)
		AND idgen.js_id_node(n) = (n >> 16 & 31) AND idgen.js_id_counter(n) = (n & 65535) END AS holds
FROM numbers, epochs;
-- the parts of a TraceId yield its value, and its time is in the cycle that ends a day after the clock
SELECT *, CASE WHEN n < 1 OR n % 4194304 = 0
	THEN num_nonnulls(made, idgen.trace_id_node(n), idgen.trace_id_counter(n)) = 0
	ELSE (floor_mod(extract(epoch FROM made), 33554432) * 65536 + idgen.trace_id_node(n)) * 4194304
			+ idgen.trace_id_counter(n) = n
		AND made <= at + interval '1 day' AND made > at + interval '1 day' - interval '1 s' * 33554433 END AS holds
FROM numbers, instants, LATERAL (SELECT idgen.trace_id_timestamp(n, at) AS made) m
WHERE at BETWEEN '1950-01-01' AND '9999-01-01';
-- the parts of a DecimalId yield its value
SELECT *, CASE WHEN n < 10000000000 OR n >= 9223372030000000000 THEN p IS NULL
	ELSE (p.counter * 100000::bigint + p.generator) * 100000 + p.launch_id = n
		AND p.generator BETWEEN 0 AND 99999 AND p.launch_id BETWEEN 0 AND 99999 END AS holds
FROM numbers, idgen.decimal_id_parts(n) p;
-- the readers of ObjectIds agree on what an ObjectId is; is_object_id() accepts only lower case
SELECT *, CASE WHEN t ~ '^[0-9a-fA-F]{24}$' THEN idgen.is_object_id(t) = (t !~ '[A-F]')
		AND idgen.object_id_timestamp(t) = to_timestamp(('x' || left(t, 8))::bit(32)::bigint & 4294967295)
	ELSE NOT idgen.is_object_id(t) AND tried.object_id_timestamp(t) = '!22P02' END AS holds FROM texts;
-- remember_command() keeps the newest commands, each only once, and no nulls
SELECT *, idgen.has_command(history, id) = coalesce(id = ANY (history), false)
	AND idgen.has_command(history, NULL) IS NULL
	AND idgen.remember_command(history, id, keep) = coalesce((SELECT array_agg(e ORDER BY o) FROM (
		SELECT e, o
		FROM unnest(CASE WHEN id = ANY (history) THEN history ELSE history || id END) WITH ORDINALITY u (e, o)
		WHERE e IS NOT NULL ORDER BY (e = id) DESC, o DESC LIMIT keep) newest), '{}') AS holds
FROM histories, few_uuids;
-- expected_key_cost() returns nonnegative numbers or nulls, or raises an error
SELECT *, said ~ '^![0-9]{5}$' OR said = '(,,,,)'
	OR said ~ '^\([0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9]+\)$' AS holds
FROM unnest('{random,ordered,short_comb,keyed_comb}'::text[]) kind, reals, unnest('{1,1e9,NaN}'::float8[]) c,
	unnest('{0,1e-6,1000,1e15,NULL}'::float8[]) p, (VALUES (1, 1024), (6, 1)) b (bytes, length),
	LATERAL (SELECT tried.expected_key_cost(kind, x, c, p, bytes, length, NULL) AS said) t;
-- index_report() accepts any positive number of rows per checkpoint interval
SELECT *, r.rows >= 0 AND r.rows = m.rows AS holds
FROM numbers, LATERAL idgen.index_report('idgen.creation_identifiers_pkey', n) r,
	LATERAL idgen.internal_index_measures('idgen.creation_identifiers_pkey', n) m WHERE n >= 1;
-- index_reports() returns indexes of at least the given size, and shares from 0 to 1
SELECT *, r.index_bytes >= n AND NOT EXISTS (SELECT FROM unnest(ARRAY[r.leaf_density, r.newest_leaf_share]) s
	WHERE s NOT BETWEEN 0 AND 1) AS holds FROM unnest('{0,65536}'::bigint[]) n, LATERAL idgen.index_reports(n) r;
