# What must hold for random arguments of the functions, which t/003 checks.

package Properties;

use strict;
use warnings;
use Functions;

my $ticker_names = join ', ', map { "'$_'" } @Functions::tickers;

# What must hold, as [name, source of rows, condition for each row]. Sources are
# the tables of random values that t/003 creates: uuids.id, texts.t, numbers.n,
# instants.at and so on. tried.f() is idgen.f() as text, or "!" and the SQLSTATE
# of its error.
our @properties = (
	[ 'unmask_uuid_v7() inverts mask_uuid_v7(), which accepts version 7 only',
	  'uuids', q{CASE WHEN idgen.uuid_version(id) = 7 THEN idgen.unmask_uuid_v7(idgen.mask_uuid_v7(id)) = id ELSE tried.mask_uuid_v7(id, 'default') = '!22023' END} ],
	[ 'mask_uuid_v7() inverts unmask_uuid_v7(), which accepts version 4 only',
	  'uuids', q{CASE WHEN idgen.uuid_version(id) = 4 THEN idgen.mask_uuid_v7(idgen.unmask_uuid_v7(id)) = id ELSE tried.unmask_uuid_v7(id, 'default') = '!22023' END} ],
	[ 'permute() and unpermute() invert each other',
	  'numbers', q{CASE WHEN n > 0 THEN idgen.unpermute(idgen.permute(n)) = n AND idgen.permute(idgen.unpermute(n)) = n
				   ELSE tried.permute(n, 9, '', 'default') = '!22023' AND tried.unpermute(n, 9, '', 'default') = '!22023' END} ],
	[ 'permute() stays within max_value',
	  'numbers WHERE n > 1', q{idgen.permute(1, n) BETWEEN 1 AND n AND idgen.unpermute(idgen.permute(n, n), n) = n AND idgen.unpermute(idgen.permute(n, n, 'orders'), n, 'orders') = n} ],
	[ 'uuid_from_base() inverts uuid_to_base(), which pads to the width of 128 bits',
	  'uuids, bases', 'idgen.uuid_from_base(idgen.uuid_to_base(id, base), base) = id AND length(idgen.uuid_to_base(id, base)) = ceil(128 / log(2.0, base))' ],
	[ 'uuid_to_base() keeps the order of uuids',
	  '(SELECT base, idgen.uuid_to_base(id, base) AS here, idgen.uuid_to_base(lead(id) OVER (PARTITION BY base ORDER BY id), base) AS next
		FROM uuids, bases) s WHERE next IS NOT NULL', 'here COLLATE "C" < next COLLATE "C"' ],
	[ 'bigint_from_base() inverts bigint_to_base(), which rejects negative numbers',
	  'numbers, bases', q{CASE WHEN n >= 0 THEN idgen.bigint_from_base(idgen.bigint_to_base(n, base), base) = n ELSE tried.bigint_to_base(n, base) = '!22023' END} ],
	[ 'NULL for an argument without the default NULL is an error, and NULL for the identifier is not',
	  'numbers', q{tried.snowflake_timestamp(n, NULL) = '!22004' AND tried.js_id_timestamp(n, NULL) = '!22004' AND tried.permute(n, NULL, '', 'default') = '!22004' AND tried.unpermute(n, 9, '', NULL) IN ('!22004', '!22023') AND tried.unpermute(n, 9, NULL, 'default') IN ('!22004', '!22023')
		AND num_nonnulls(tried.snowflake_timestamp(NULL, NULL), tried.js_id_timestamp(NULL, NULL), tried.permute(NULL, NULL, NULL, NULL), tried.mask_uuid_v7(NULL, NULL)) = 0} ],
	[ 'uuid_from_base() accepts the digits of the base only',
	  'texts, bases', q{CASE WHEN t ~ alphabet AND octet_length(t) < width THEN ltrim(idgen.uuid_to_base(tried.uuid_from_base(t, base)::uuid, base), zero) = ltrim(written(t, base), zero)
						ELSE tried.uuid_from_base(t, base) = '!22P02' OR octet_length(t) = width END} ],
	[ 'bigint_from_base() and uuid_from_base() agree',
	  'texts, bases', q{CASE WHEN tried.uuid_from_base(t, base) ~ '^0{8}-0{4}-0{4}-[0-7]' THEN ('x' || right(translate(tried.uuid_from_base(t, base), '-', ''), 16))::bit(64)::bigint = idgen.bigint_from_base(t, base)
						ELSE tried.bigint_from_base(t, base) = CASE WHEN tried.uuid_from_base(t, base) = '!22P02' THEN '!22P02' ELSE '!22003' END END} ],
	[ 'a prefixed id contains its prefix and its uuid',
	  'prefixes, few_uuids', q{idgen.prefixed_id_prefix(idgen.prefixed_id(prefix, id)) = prefix AND idgen.prefixed_id_to_uuid(idgen.prefixed_id(prefix, id), prefix) = id} ],
	[ 'the readers of prefixed ids agree on what a prefixed id is',
	  'texts', q{CASE WHEN tried.prefixed_id_prefix(t) = '!22P02' THEN tried.prefixed_id_to_uuid(t, NULL) = '!22P02' AND tried.parse_prefixed_id(t) = '!22P02'
				 ELSE t LIKE tried.prefixed_id_prefix(t) || '\_%' AND idgen.prefixed_id_to_uuid(t) = idgen.prefixed_id_to_uuid(idgen.prefixed_id(idgen.prefixed_id_prefix(t), idgen.prefixed_id_to_uuid(t)))
				   AND (idgen.parse_prefixed_id(t)).id = idgen.prefixed_id_to_uuid(t) AND (idgen.parse_prefixed_id(t)).prefix = idgen.prefixed_id_prefix(t) END} ],
	[ 'prefixed_id_to_uuid() rejects another prefix',
	  'prefixes p, prefixes other, few_uuids WHERE p.prefix <> other.prefix', q{tried.prefixed_id_to_uuid(idgen.prefixed_id(p.prefix, id), other.prefix) = '!23514'} ],
	[ 'is_prefixed_id() accepts the text that prefixed_id() returns only',
	  'texts', q{CASE WHEN tried.prefixed_id_prefix(t) = '!22P02' THEN NOT idgen.is_prefixed_id(t, 'acct') AND tried.prefixed_id_to_uuid(t, 'acct') = '!22P02'
				 ELSE idgen.is_prefixed_id(t, idgen.prefixed_id_prefix(t)) = (t = idgen.prefixed_id(idgen.prefixed_id_prefix(t), idgen.prefixed_id_to_uuid(t)))
				   AND idgen.is_prefixed_id(t, 'other') = (idgen.prefixed_id_prefix(t) = 'other' AND idgen.is_prefixed_id(t, 'other')) END} ],
	[ 'prefixed_id() accepts valid prefixes only',
	  'texts', q{CASE WHEN t ~ '^[a-z]([a-z0-9_]{0,61}[a-z0-9])?$' THEN length(tried.prefixed_id(t, '0123e567-e89b-12d3-a456-426655440000')) = length(t) + 26
				 ELSE tried.prefixed_id(t, '0123e567-e89b-12d3-a456-426655440000') = '!22023' END} ],
	[ 'an id domain accepts canonical ids of its prefix only',
	  'domains, few_uuids', q{taken_by(domain, idgen.prefixed_id(prefix, id)) AND NOT taken_by(domain, idgen.prefixed_id(prefix || 'x', id))
		AND NOT taken_by(domain, prefix || '_0' || idgen.uuid_to_base(id, 36)) AND NOT taken_by(domain, prefix || '_' || upper(idgen.uuid_to_base(id, 36)) || '')
		AND (idgen.parse_prefixed_id(idgen.prefixed_id(prefix, id))).domain = domain AND tried.create_id_domain('another', prefix) = '!23505'} ],
	[ 'a TypeID has one text form',
	  'texts', q{CASE WHEN tried.typeid_to_uuid(t, NULL) = '!22P02' THEN tried.typeid_prefix(t) = '!22P02'
				 ELSE idgen.typeid_from_uuid(idgen.typeid_prefix(t), idgen.typeid_to_uuid(t)) = t END} ],
	[ 'is_typeid() accepts what the readers accept',
	  'texts', q{idgen.is_typeid(t) = (tried.typeid_to_uuid(t, NULL) <> '!22P02') AND idgen.is_typeid(t, 'user') = (tried.typeid_prefix(t) = 'user') AND idgen.is_typeid(t, '') = (tried.typeid_prefix(t) = '')} ],
	[ 'a TypeID contains its prefix and its uuid',
	  q{prefixes, few_uuids WHERE prefix !~ '[0-9]'}, q{idgen.typeid_prefix(idgen.typeid_from_uuid(prefix, id)) = prefix AND idgen.typeid_to_uuid(idgen.typeid_from_uuid(prefix, id)) = id} ],
	[ 'a new TypeID contains a version 7 uuid',
	  q{prefixes WHERE prefix !~ '[0-9]'}, q{idgen.uuid_version(idgen.typeid_to_uuid(idgen.typeid(prefix))) = 7} ],
	[ 'ulid_to_uuid() inverts ulid_from_uuid(), which keeps order and time',
	  '(SELECT id, idgen.ulid_from_uuid(id) AS ulid, lag(idgen.ulid_from_uuid(id)) OVER (ORDER BY id) AS before FROM uuids) s',
	  q{idgen.ulid_to_uuid(ulid) = id AND idgen.ulid_timestamp(ulid) = instant_of(first_48(id)) AND (before IS NULL OR before COLLATE "C" < ulid COLLATE "C")} ],
	[ 'a ULID has 26 digits of base 32',
	  'texts', q{CASE WHEN octet_length(t) = 26 THEN tried.ulid_to_uuid(t) = replace(tried.uuid_from_base(t, 32), '!22003', '!22P02') ELSE tried.ulid_to_uuid(t) = '!22P02' END
				 AND (tried.ulid_timestamp(t) = '!22P02') = (tried.ulid_to_uuid(t) = '!22P02')} ],
	[ 'conversions from version 1 have inverses and keep the time',
	  'uuids', q{CASE WHEN idgen.uuid_version(id) = 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v1_to_v6(id)) = id AND idgen.lambert_comb_to_uuid_v1(idgen.uuid_v1_to_lambert_comb(id)) = id
				   AND idgen.uuid_timestamp(idgen.uuid_v1_to_v6(id)) = idgen.uuid_timestamp(id) AND idgen.uuid_timestamp(idgen.uuid_v1_to_lambert_comb(id)) = idgen.uuid_timestamp(id)
				   AND right(idgen.uuid_v1_to_v6(id)::text, 17) = right(id::text, 17)
				 ELSE tried.uuid_v1_to_v6(id) = '!22023' AND tried.uuid_v1_to_lambert_comb(id) = '!22023' END} ],
	[ 'conversions to version 1 have inverses',
	  'uuids', q{CASE idgen.uuid_version(id) WHEN 6 THEN idgen.uuid_v1_to_v6(idgen.uuid_v6_to_v1(id)) = id WHEN 13 THEN idgen.uuid_v1_to_lambert_comb(idgen.lambert_comb_to_uuid_v1(id)) = id
				 ELSE tried.uuid_v6_to_v1(id) = '!22023' AND tried.lambert_comb_to_uuid_v1(id) = '!22023' END} ],
	[ 'byte exchanges have inverses and move the documented bytes',
	  q{(SELECT id, replace(id::text, '-', '') AS digits FROM uuids) s},
	  q{idgen.suffix_comb_to_comb(idgen.comb_to_suffix_comb(id)) = id AND idgen.short_suffix_comb_to_short_comb(idgen.short_comb_to_short_suffix_comb(id)) = id
		AND idgen.swap_guid_bytes(id) = regexp_replace(digits, '^(..)(..)(..)(..)(..)(..)(..)(..)', '\4\3\2\1\6\5\8\7')::uuid
		AND idgen.comb_to_suffix_comb(id) = regexp_replace(digits, '^(.{12})(.{8})(.{12})$', '\3\2\1')::uuid
		AND idgen.short_comb_to_short_suffix_comb(id) = regexp_replace(digits, '^(.{4})(.{16})(.{4})', '\3\2\1')::uuid} ],
	[ 'uuid_version() and uuid_variant() return the digits',
	  'uuids', q{idgen.uuid_variant(id) = CASE WHEN variant_digit(id) < 8 THEN 'NCS' WHEN variant_digit(id) < 12 THEN 'RFC 9562' WHEN variant_digit(id) < 14 THEN 'Microsoft' ELSE 'future' END
				 AND idgen.uuid_version(id) IS NOT DISTINCT FROM CASE WHEN variant_digit(id) BETWEEN 8 AND 11 THEN hex_value(substr(id::text, 15, 1)) END} ],
	[ 'timestamps are read from versions that contain one only',
	  'uuids', q{(idgen.uuid_timestamp(id) IS NOT NULL) = (coalesce(idgen.uuid_version(id), 0) IN (1, 6, 7, 13))
				 AND (idgen.uuid_version(id) IS DISTINCT FROM 7 OR idgen.uuid_timestamp(id) = instant_of(first_48(id)))
				 AND (idgen.uuid_version(id) NOT IN (6, 13) OR idgen.uuid_timestamp(id) = instant(unix_us('1582-10-15 00:00+00') + floor_div(first_48(id) * 4096::numeric + hex_value(substr(id::text, 16, 3)), 10))) IS NOT FALSE
				 AND idgen.comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(id)) END
				 AND idgen.suffix_comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(idgen.suffix_comb_to_comb(id))) END} ],
	[ 'a short COMB has the prefix of the period that contains the clock',
	  q{random_windows, LATERAL (SELECT tried.short_comb(period, bytes, nullif(k % 3, 0), at) AS made, tried.short_suffix_comb(period, at) AS suffixed) m},
	  q{CASE WHEN unit_us IS NULL THEN made = '!22023'
		WHEN NOT isfinite(at) THEN made = '!22008' AND suffixed = '!22008'
		ELSE left(replace(made, '-', ''), 2 * bytes) = hex(number, 2 * bytes) AND substr(suffixed, 25, 4) = hex(number, 4) AND made ~ '^.{14}4.{4}[89ab]' AND suffixed ~ '^.{14}4.{4}[89ab]' END} ],
	[ 'a keyed COMB has the prefix of the start of the period that contains the clock',
	  q{(SELECT * FROM random_windows WHERE bytes BETWEEN 1 AND 6) w, LATERAL (SELECT tried.keyed_comb(period, bytes::text, at) AS made,
		tried.keyed_comb(period, bytes::text, instant(number * unit_us)) AS at_start, tried.keyed_comb(period, 'other', at) AS other) m},
	  q{CASE WHEN unit_us IS NULL THEN made = '!22023'
		WHEN NOT isfinite(at) THEN made = '!22008'
		ELSE made ~ '^.{14}4.{4}[89ab]' AND left(made, 8) <> left(other, 8) AND (instant(number * unit_us) IS NULL OR left(made, 8) = left(at_start, 8)) END} ],
	[ 'short_comb_timestamp() returns the start of the latest period with the prefix up to the clock',
	  'random_windows', q{tried.short_comb_timestamp(id, period, bytes, at) IS NOT DISTINCT FROM CASE WHEN unit_us IS NULL THEN '!22023' WHEN NOT isfinite(at) THEN '!22008'
		WHEN idgen.uuid_version(id) = 4 THEN instant((number - floor_mod(number - (first_48(id) >> (48 - 8 * bytes)), 256::numeric ^ bytes)) * unit_us)::text END} ],
	[ 'is_recent_*() return the result of arithmetic of any precision, and check_recent_*() raise an error if it is false',
	  q{random_windows w, LATERAL (VALUES
		(recent(w, 4, true), tried.is_recent_short_comb(id, tolerance, past, future, period, bytes, at), tried.check_recent_short_comb(id, tolerance, past, future, period, bytes, at)),
		(recent(w, 4, false), tried.is_recent_comb(id, tolerance, past, future, at), tried.check_recent_comb(id, tolerance, past, future, at)),
		(recent(w, 7, false), tried.is_recent_uuid_v7(id, tolerance, past, future, at), tried.check_recent_uuid_v7(id, tolerance, past, future, at))) v (expected, answer, checked)},
	  q{answer = expected AND checked = CASE expected WHEN 'true' THEN id::text WHEN 'false' THEN '!23514' ELSE expected END} ],
	[ 'a COMB and a version 7 uuid are recent within the tolerance only',
	  q{(SELECT at, idgen.comb(at) AS comb, idgen.uuid_v7(at) AS v7 FROM instants WHERE at BETWEEN '1970-01-02' AND '10889-08-01') s},
	  q{idgen.is_recent_comb(comb, '1 ms', clock => at) AND NOT idgen.is_recent_comb(comb, '1 ms', clock => at + interval '3 ms') AND NOT idgen.is_recent_comb(comb, '1 ms', clock => at - interval '3 ms') AND NOT idgen.is_recent_comb(v7, '1 ms', clock => at)
		AND idgen.is_recent_uuid_v7(v7, '1 ms', clock => at) AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', clock => at + interval '3 ms') AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', clock => at - interval '3 ms') AND NOT idgen.is_recent_uuid_v7(comb, '1 ms', clock => at)} ],
	[ 'created_near() compares with the time in the identifier, both ends included',
	  q{(SELECT idgen.uuid_timestamp(id) AS made, id, interval '1 ms' * n AS span FROM uuids, (VALUES (0), (1), (90000000)) v (n) WHERE idgen.uuid_version(id) IN (1, 6, 7, 13)) s},
	  q{idgen.created_near(id, made + span, span) AND idgen.created_near(id, made - span, span)
		AND NOT idgen.created_near(id, made + span + interval '1 us', span) AND NOT idgen.created_near(id, made - span - interval '1 us', span)} ],
	[ 'created_near() refuses a tolerance that is negative or has months, and a uuid without a time is near no timestamp',
	  q{few_uuids, spans}, q{CASE WHEN span < '0' OR date_trunc('month', span) <> '0' THEN tried.created_near(id, '2026-01-01', span) = '!22023'
		WHEN idgen.uuid_timestamp(id) IS NULL THEN NOT idgen.created_near(id, '2026-01-01', span) ELSE true END} ],
	[ 'is_prefixed_id() without a prefix accepts the canonical text of any',
	  'texts', q{CASE WHEN tried.prefixed_id_prefix(t) = '!22P02' THEN NOT idgen.is_prefixed_id(t)
		ELSE idgen.is_prefixed_id(t) = (idgen.prefixed_id(idgen.prefixed_id_prefix(t), idgen.prefixed_id_to_uuid(t)) = t) END} ],
	[ 'is_uuid() agrees with a regular expression',
	  'texts, generate_series(0, 15) version', q{idgen.is_uuid(t, version) = (t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || to_hex(version) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$')
																				OR t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || upper(to_hex(version)) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'))} ],
	[ 'identifiers lie between the floors of their millisecond and the next',
	  q{(SELECT at, at + interval '1 ms' AS next FROM instants WHERE at >= '1970-01-01 00:00+00' AND at < '10889-08-02 05:31:50.655+00') s},
	  q{idgen.uuid_v7(at) >= idgen.uuid_v7_floor(at) AND idgen.uuid_v7(at) < idgen.uuid_v7_floor(next)
		AND idgen.comb(at) >= idgen.comb_floor(at) AND idgen.comb(at) < idgen.comb_floor(next) AND idgen.comb_timestamp(idgen.comb_to_suffix_comb(idgen.suffix_comb(at))) = date_trunc('ms', at)
		AND idgen.ulid_from_uuid(idgen.uuid_v7(at)) COLLATE "C" >= idgen.ulid_floor(at) AND idgen.ulid_from_uuid(idgen.uuid_v7(at)) COLLATE "C" < idgen.ulid_floor(next)} ],
	[ 'a generator with a clock contains its time, and another one of the same time differs',
	  q{(SELECT at, unix_us(at) AS us FROM instants) s, LATERAL (VALUES ('v1', tried.uuid_v1(at), tried.uuid_v1(at)), ('v6', tried.uuid_v6(at), tried.uuid_v6(at)), ('v13', tried.lambert_comb(at), tried.lambert_comb(at)),
		('ulid', tried.ulid(at), tried.ulid(at)), ('typeid', tried.typeid('a', at), tried.typeid('a', at)), ('object', tried.object_id(at), tried.object_id(at))) g (kind, made, other)},
	  q{CASE WHEN us >= CASE WHEN kind ~ 'v' THEN unix_us('1582-10-15 00:00+00') ELSE 0 END
			AND us < CASE WHEN kind ~ 'v' THEN unix_us('5236-03-31 21:21:00.684698+00') WHEN kind = 'object' THEN unix_us('2106-02-07 06:28:16+00') ELSE unix_us('10889-08-02 05:31:50.656+00') END
		THEN made <> other AND CASE kind WHEN 'ulid' THEN idgen.ulid_timestamp(made) WHEN 'typeid' THEN idgen.uuid_timestamp(idgen.typeid_to_uuid(made)) WHEN 'object' THEN idgen.object_id_timestamp(made) ELSE idgen.uuid_text_timestamp(made) END
			= CASE kind WHEN 'object' THEN date_trunc('s', at) WHEN 'ulid' THEN date_trunc('ms', at) WHEN 'typeid' THEN date_trunc('ms', at) ELSE at END
		ELSE made = '!22008' END} ],
	[ 'is_ulid() accepts what ulid_to_uuid() reads',
	  'texts', q{idgen.is_ulid(t) = (tried.ulid_to_uuid(t) <> '!22P02')} ],
	[ 'object_id_within() is a half-open range',
	  q{object_ids, (SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants) s},
	  q{idgen.object_id_within(o COLLATE "C", start, stop) IS NOT DISTINCT FROM (o COLLATE "C" >= idgen.object_id_floor(start) AND o COLLATE "C" < idgen.object_id_floor(stop))} ],
	[ '*_within() are half-open ranges of uuids and ULIDs',
	  q{few_uuids, (SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants WHERE at BETWEEN '1970-01-01' AND '2090-01-01') s},
	  q{idgen.uuid_v7_within(id, start, stop) IS NOT DISTINCT FROM (id >= idgen.uuid_v7_floor(start) AND id < idgen.uuid_v7_floor(stop))
		AND idgen.comb_within(id, start, stop) IS NOT DISTINCT FROM (id >= idgen.comb_floor(start) AND id < idgen.comb_floor(stop))
		AND idgen.ulid_within(idgen.ulid_from_uuid(id) COLLATE "C", start, stop) IS NOT DISTINCT FROM idgen.uuid_v7_within(id, start, stop)
		OR substr(id::text, 1, 13) IN (left(idgen.uuid_v7_floor(start)::text, 13), left(idgen.uuid_v7_floor(stop)::text, 13))} ],
	[ '*_within() are half-open ranges of numbers, for any epoch',
	  q{numbers, (SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants WHERE at BETWEEN '2020-01-01' AND '2080-01-01') s},
	  q{idgen.snowflake_within(n, start, stop, '2015-01-01 00:00+00') IS NOT DISTINCT FROM (n >= idgen.snowflake_floor(start, '2015-01-01 00:00+00') AND n < idgen.snowflake_floor(stop, '2015-01-01 00:00+00'))
		AND idgen.js_id_within(n, start, stop) IS NOT DISTINCT FROM (n >= idgen.js_id_floor(start) AND n < idgen.js_id_floor(stop))} ],
	[ 'uuid_text_timestamp() agrees with uuid_timestamp()',
	  'uuids', q{idgen.uuid_text_timestamp(id::text) IS NOT DISTINCT FROM idgen.uuid_timestamp(id)} ],
	[ 'uuid_text_timestamp() rejects other text',
	  q{texts WHERE t !~ '^[{]?[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7}[}]?$'}, q{tried.uuid_text_timestamp(t) = '!22P02'} ],
	[ 'uuid_smaller() and uuid_larger() agree with least() and greatest()',
	  'few_uuids a, few_uuids b', q{idgen.uuid_smaller(a.id, b.id) = least(a.id, b.id) AND idgen.uuid_larger(a.id, b.id) = greatest(a.id, b.id)} ],
	[ 'uuid_v5() is of version 5 and differs by name and namespace',
	  'texts, (SELECT id FROM few_uuids LIMIT 3) s', q{tried.uuid_v5(id, t) = '!22021' OR tried.uuid_v5(id, t) ~ '^.{14}5.{4}[89ab]' AND tried.uuid_v5(id, t) <> idgen.uuid_v5(id, t || 'a')::text
				 AND idgen.uuid_v5(id, t) <> idgen.uuid_v5(idgen.uuid_v5(id, t), t)} ],
	[ 'a floor is the first value of its tick since the epoch, the smallest value before the first tick and the greatest after the last one',
	  q{(SELECT at, epoch, unix_ms(at) AS ms, floor_div(unix_us(at), 1000000) AS second, unix_ms(at) - unix_ms(epoch) AS ms_since, floor_div(unix_us(at), 1000000) - floor_div(unix_us(epoch), 1000000) AS seconds_since FROM instants, epochs) s},
	  q{CASE WHEN ms BETWEEN 0 AND 281474976710655 THEN idgen.uuid_v7_floor(at) = rpad(hex(ms, 12) || '70008', 32, '0')::uuid AND idgen.comb_floor(at) = rpad(hex(ms, 12) || '40008', 32, '0')::uuid
			AND idgen.ulid_to_uuid(idgen.ulid_floor(at)) = rpad(hex(ms, 12), 32, '0')::uuid
		WHEN ms < 0 THEN idgen.uuid_v7_floor(at) = idgen.uuid_v7_floor('epoch') AND idgen.comb_floor(at) = idgen.comb_floor('epoch') AND idgen.ulid_floor(at) = repeat('0', 26)
		ELSE idgen.uuid_v7_floor(at) = repeat('f', 32)::uuid AND idgen.comb_floor(at) = repeat('f', 32)::uuid AND idgen.ulid_floor(at) = rpad('7', 26, 'Z') END
		AND tried.object_id_floor(at) = CASE WHEN second > 4294967295 THEN repeat('f', 24) ELSE rpad(hex(greatest(second, 0), 8), 24, '0') END
		AND tried.snowflake_floor(at, epoch) = CASE WHEN ms_since > 2199023255551 THEN '9223372036854775807' ELSE (greatest(ms_since, 0) * 4194304)::text END
		AND tried.js_id_floor(at, epoch) = CASE WHEN seconds_since > 4294967295 THEN '9007199254740991' ELSE (greatest(seconds_since, 0) * 2097152)::text END} ],
	[ 'the parts of a Snowflake and of a js_id are their bits, and the time is counted from the epoch',
	  'numbers, epochs', q{CASE WHEN n < 1 THEN num_nonnulls(idgen.snowflake_timestamp(n, epoch), idgen.snowflake_node(n), idgen.snowflake_counter(n)) = 0
		ELSE idgen.snowflake_timestamp(n, epoch) IS NOT DISTINCT FROM instant((unix_ms(epoch) + (n >> 22)) * 1000) AND idgen.snowflake_node(n) = (n >> 12 & 1023) AND idgen.snowflake_counter(n) = (n & 4095) END
		AND CASE WHEN n < 1 OR n >= 9007199254740992 THEN num_nonnulls(idgen.js_id_timestamp(n, epoch), idgen.js_id_node(n), idgen.js_id_counter(n)) = 0
		ELSE idgen.js_id_timestamp(n, epoch) IS NOT DISTINCT FROM instant((floor_div(unix_us(epoch), 1000000) + (n >> 21)) * 1000000) AND idgen.js_id_node(n) = (n >> 16 & 31) AND idgen.js_id_counter(n) = (n & 65535) END} ],
	[ 'a TraceId equals its parts, its time being within one cycle before the clock',
	  q{numbers, instants WHERE at BETWEEN '1950-01-01' AND '9999-01-01'},
	  q{CASE WHEN n < 1 OR n % 4194304 = 0 THEN num_nonnulls(idgen.trace_id_timestamp(n, at), idgen.trace_id_node(n), idgen.trace_id_counter(n)) = 0
		ELSE (mod(mod(extract(epoch FROM idgen.trace_id_timestamp(n, at)), 33554432) + 33554432, 33554432) * 65536 + idgen.trace_id_node(n)) * 4194304 + idgen.trace_id_counter(n) = n
		  AND idgen.trace_id_timestamp(n, at) <= at + interval '1 day' AND idgen.trace_id_timestamp(n, at) > at + interval '1 day' - interval '1 s' * 33554433 END} ],
	[ 'a DecimalId equals its parts',
	  'numbers', q{CASE WHEN n < 10000000000 OR n >= 9223372030000000000 THEN idgen.decimal_id_parts(n) IS NULL
					ELSE (SELECT (p.counter * 100000::bigint + p.generator) * 100000 + p.launch_id = n AND p.generator BETWEEN 0 AND 99999 AND p.launch_id BETWEEN 0 AND 99999 FROM idgen.decimal_id_parts(n) p) END} ],
	[ 'raise_decimal_id() accepts identifiers and never lowers the ticker',
	  'numbers', q{CASE WHEN idgen.decimal_id_parts(n) IS NULL THEN tried.raise_decimal_id(n) = '!22023'
					WHEN coalesce(tried.raise_decimal_id(n), '') = '' THEN (SELECT s.last_value >= p.generator * 922337202::bigint + p.counter AND s.reserved_value > s.last_value
						FROM idgen.decimal_id_parts(n) p, idgen.ticker_state(CASE WHEN n > 0 THEN 'decimal_id' END) s) END} ],
	[ 'raise_ticker() accepts times that are not far ahead and never lowers a ticker',
	  'instants', q{CASE WHEN at IN ('infinity', '-infinity') OR at > now() + interval '25 hours' THEN tried.raise_ticker('js_id', at) = '!22008'
					WHEN coalesce(tried.raise_ticker('js_id', at), '') = '' THEN (SELECT s.last_time >= date_trunc('second', at) AND s.reserved_value > s.last_value
						FROM idgen.ticker_state(CASE WHEN at IS NOT NULL THEN 'js_id' END) s) END} ],
	[ 'ticker_state() accepts the names of tickers only',
	  'texts', "(tried.ticker_state(t) <> '!42704') = (t IN ($ticker_names))" ],
	[ 'the readers of ObjectIds agree on what an ObjectId is',
	  'texts', q{CASE WHEN t ~ '^[0-9a-fA-F]{24}$' THEN idgen.is_object_id(t) AND idgen.object_id_timestamp(t) = to_timestamp(('x' || left(t, 8))::bit(32)::bigint & 4294967295)
				 ELSE NOT idgen.is_object_id(t) AND tried.object_id_timestamp(t) = '!22P02' END} ],
	[ 'create_once() records a command once and then returns its entity',
	  q{(SELECT id, first.created AS first, again.created AS again, again.entity_id AS found
		 FROM few_uuids, LATERAL idgen.create_once(id, idgen.swap_guid_bytes(id), 'a') first, LATERAL idgen.create_once(id, idgen.uuid_v4(), CASE WHEN first.created THEN 'a' END) again) s},
	  q{first AND NOT again AND found = idgen.swap_guid_bytes(id)} ],
	[ 'a recorded command is found, and another name or type is an error',
	  'few_uuids', q{(SELECT c.entity_id = idgen.swap_guid_bytes(id) FROM idgen.creation_identifiers c WHERE c.command_id = id) AND tried.create_once(id, id, 'b', NULL) = '!23514' AND tried.create_once_bigint(id, 1, 'a', NULL) = '!23514'} ],
	[ 'forget_creation() and forget_creation_of() delete the command',
	  q{(SELECT id, row_number() OVER () AS k FROM few_uuids) s}, q{CASE WHEN k % 2 = 0 THEN idgen.forget_creation(id) AND NOT idgen.forget_creation(id)
		ELSE idgen.forget_creation_of(idgen.swap_guid_bytes(id)) = 1 AND idgen.forget_creation_of(idgen.swap_guid_bytes(id)) = 0 END} ],
	[ 'create_once_bigint() records a command, and forget_creation_of_bigint() deletes it',
	  q{(SELECT id, row_number() OVER () AS k FROM few_uuids) s, LATERAL idgen.create_once_bigint(id, k) first}, q{created AND entity_number = k AND idgen.forget_creation_of_bigint(k) = 1 AND idgen.forget_creation_of_bigint(k) = 0} ],
	[ 'trim_creations() and purge_creations() find no command left', '(VALUES (0)) v (keep)', q{idgen.trim_creations(keep) = 0 AND idgen.purge_creations('0') = 0} ],
	[ 'remember_command() keeps the newest commands, each once',
	  'histories, few_uuids', q{idgen.has_command(history, id) = coalesce(id = ANY (history), false)
		AND idgen.remember_command(history, id, keep) = coalesce((SELECT array_agg(e ORDER BY o) FROM (SELECT e, o FROM unnest(CASE WHEN id = ANY (history) THEN history ELSE history || id END) WITH ORDINALITY u (e, o)
			ORDER BY (e = id) IS TRUE DESC, o DESC LIMIT keep) newest), '{}')} ],
	[ 'expected_key_cost() returns numbers from 0 on or an error',
	  q{(VALUES ('random'), ('ordered'), ('short_comb')) k (kind), reals r, (VALUES (1::float8), (1e9), ('NaN')) c (x), (VALUES (1e-6::float8), (1000), (1e15), (NULL)) p (x), (VALUES (1, 1024), (6, 1)) b (bytes, length),
		LATERAL (SELECT tried.expected_key_cost(kind, r.x, c.x, p.x, bytes, length, 16, NULL, 0) AS said) t},
	  q{said ~ '^![0-9]{5}$' OR said = '(,,,,)' OR said ~ '^\([0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9.e-]+,[0-9]+\)$'} ],
	[ 'index_report() takes any positive number of rows in a checkpoint interval', q{numbers, LATERAL idgen.index_report('idgen.creation_identifiers_pkey', n) r WHERE n >= 1}, q{r.rows >= 0} ],
	[ 'index_reports() returns indexes of the given size, and shares from 0 to 1', q{(VALUES (0::bigint), (65536)) v (n), LATERAL idgen.index_reports(n) r},
		q{r.index_bytes >= n AND NOT EXISTS (SELECT FROM unnest(ARRAY[r.leaf_density, r.fragmentation, r.newest_leaf_share]) s WHERE s NOT BETWEEN 0 AND 1)} ],
);

1;
