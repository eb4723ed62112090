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
				   ELSE tried.permute(n, 9, 'default') = '!22003' AND tried.unpermute(n, 9, 'default') = '!22003' END} ],
	[ 'permute() stays within max_value',
	  'numbers WHERE n > 1', q{idgen.permute(1, n) BETWEEN 1 AND n AND idgen.unpermute(idgen.permute(n, n), n) = n} ],
	[ 'uuid_from_base() inverts uuid_to_base(), which pads to the width of 128 bits',
	  'uuids, bases', 'idgen.uuid_from_base(idgen.uuid_to_base(id, base), base) = id AND length(idgen.uuid_to_base(id, base)) = ceil(128 / log(2.0, base))' ],
	[ 'uuid_to_base() keeps the order of uuids',
	  '(SELECT base, idgen.uuid_to_base(id, base) AS here, idgen.uuid_to_base(lead(id) OVER (PARTITION BY base ORDER BY id), base) AS next
		FROM uuids, bases) s WHERE next IS NOT NULL', 'here COLLATE "C" < next COLLATE "C"' ],
	[ 'bigint_from_base() inverts bigint_to_base(), which rejects negative numbers',
	  'numbers, bases', q{CASE WHEN n >= 0 THEN idgen.bigint_from_base(idgen.bigint_to_base(n, base), base) = n ELSE tried.bigint_to_base(n, base) = '!22023' END} ],
	[ 'NULL for an argument without the default NULL is an error, and NULL for the identifier is not',
	  'numbers', q{tried.snowflake_timestamp(n, NULL) = '!22004' AND tried.js_id_timestamp(n, NULL) = '!22004' AND tried.permute(n, NULL, 'default') = '!22004' AND tried.unpermute(n, 9, NULL) IN ('!22004', '!22003')
		AND num_nonnulls(tried.snowflake_timestamp(NULL, NULL), tried.js_id_timestamp(NULL, NULL), tried.permute(NULL, NULL, NULL), tried.mask_uuid_v7(NULL, NULL)) = 0} ],
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
	  'texts', q{CASE WHEN tried.typeid_to_uuid(t) = '!22P02' THEN tried.typeid_prefix(t) = '!22P02'
				 ELSE idgen.typeid_from_uuid(idgen.typeid_prefix(t), idgen.typeid_to_uuid(t)) = t END} ],
	[ 'is_typeid() accepts what the readers accept',
	  'texts', q{idgen.is_typeid(t) = (tried.typeid_to_uuid(t) <> '!22P02') AND idgen.is_typeid(t, 'user') = (tried.typeid_prefix(t) = 'user') AND idgen.is_typeid(t, '') = (tried.typeid_prefix(t) = '')} ],
	[ 'a TypeID contains its prefix and its uuid',
	  q{prefixes, few_uuids WHERE prefix !~ '[0-9]'}, q{idgen.typeid_prefix(idgen.typeid_from_uuid(prefix, id)) = prefix AND idgen.typeid_to_uuid(idgen.typeid_from_uuid(prefix, id)) = id} ],
	[ 'a new TypeID contains a version 7 uuid',
	  q{prefixes WHERE prefix !~ '[0-9]'}, q{idgen.uuid_version(idgen.typeid_to_uuid(idgen.typeid(prefix))) = 7} ],
	[ 'ulid_to_uuid() inverts ulid_from_uuid(), which keeps order and time',
	  '(SELECT id, idgen.ulid_from_uuid(id) AS ulid, lag(idgen.ulid_from_uuid(id)) OVER (ORDER BY id) AS before FROM uuids) s',
	  q{idgen.ulid_to_uuid(ulid) = id AND idgen.ulid_timestamp(ulid) = instant_of(first_48(id)) AND (before IS NULL OR before COLLATE "C" < ulid COLLATE "C")} ],
	[ 'a ULID has 26 digits of base 32',
	  'texts', q{CASE WHEN octet_length(t) = 26 THEN tried.ulid_to_uuid(t) = tried.uuid_from_base(t, 32) ELSE tried.ulid_to_uuid(t) = '!22P02' END
				 AND (tried.ulid_timestamp(t) = '!22P02') = (tried.ulid_to_uuid(t) = '!22P02')} ],
	[ 'conversions from version 1 have inverses and keep the time',
	  'uuids', q{CASE WHEN idgen.uuid_version(id) = 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v1_to_v6(id)) = id AND idgen.lambert_comb_to_uuid_v1(idgen.uuid_v1_to_lambert_comb(id)) = id
				   AND idgen.uuid_timestamp(idgen.uuid_v1_to_v6(id)) = idgen.uuid_timestamp(id) AND idgen.uuid_timestamp(idgen.uuid_v1_to_lambert_comb(id)) = idgen.uuid_timestamp(id)
				 ELSE tried.uuid_v1_to_v6(id) = '!22023' AND tried.uuid_v1_to_lambert_comb(id) = '!22023' END} ],
	[ 'conversions to version 1 have inverses',
	  'uuids', q{CASE idgen.uuid_version(id) WHEN 6 THEN idgen.uuid_v1_to_v6(idgen.uuid_v6_to_v1(id)) = id WHEN 13 THEN idgen.uuid_v1_to_lambert_comb(idgen.lambert_comb_to_uuid_v1(id)) = id
				 ELSE tried.uuid_v6_to_v1(id) = '!22023' AND tried.lambert_comb_to_uuid_v1(id) = '!22023' END} ],
	[ 'byte exchanges have inverses and move the documented bytes',
	  'uuids', q{idgen.swap_guid_bytes(idgen.swap_guid_bytes(id)) = id AND idgen.suffix_to_prefix(idgen.prefix_to_suffix(id)) = id AND idgen.prefix_to_suffix(idgen.suffix_to_prefix(id)) = id
				 AND idgen.short_suffix_to_prefix(idgen.short_prefix_to_suffix(id)) = id AND idgen.short_prefix_to_suffix(idgen.short_suffix_to_prefix(id)) = id
				 AND left(idgen.suffix_to_prefix(id)::text, 8) = substr(id::text, 25, 8) AND left(idgen.short_suffix_to_prefix(id)::text, 4) = substr(id::text, 25, 4)
				 AND idgen.swap_guid_bytes(id)::text LIKE substr(id::text, 7, 2) || substr(id::text, 5, 2) || '%'} ],
	[ 'uuid_version() and uuid_variant() return the digits',
	  'uuids', q{idgen.uuid_variant(id) = CASE WHEN variant_digit(id) < 8 THEN 'NCS' WHEN variant_digit(id) < 12 THEN 'RFC 9562' WHEN variant_digit(id) < 14 THEN 'Microsoft' ELSE 'future' END
				 AND idgen.uuid_version(id) IS NOT DISTINCT FROM CASE WHEN variant_digit(id) BETWEEN 8 AND 11 THEN hex_value(substr(id::text, 15, 1)) END} ],
	[ 'timestamps are read from versions that contain one only',
	  'uuids', q{(idgen.uuid_timestamp(id) IS NOT NULL) = (coalesce(idgen.uuid_version(id), 0) IN (1, 6, 7, 13))
				 AND (idgen.uuid_version(id) IS DISTINCT FROM 7 OR idgen.uuid_timestamp(id) = instant_of(first_48(id)))
				 AND idgen.comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(id)) END
				 AND idgen.suffix_comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(idgen.suffix_to_prefix(id))) END} ],
	[ 'inspect() agrees with the functions for single fields',
	  'uuids, idgen.inspect(id) i', q{(i.version, i.variant, i.uuid_timestamp, i.comb_timestamp, i.suffix_comb_timestamp, i.short_comb_timestamp, i.short_prefix)
				 IS NOT DISTINCT FROM (idgen.uuid_version(id), idgen.uuid_variant(id), idgen.uuid_timestamp(id), idgen.comb_timestamp(id), idgen.suffix_comb_timestamp(id),
									   idgen.short_comb_timestamp(id), left(id::text, 4))} ],
	[ 'short_comb_timestamp() returns the latest period with the prefix up to the clock',
	  'instants, few_uuids WHERE isfinite(at) AND idgen.uuid_version(id) = 4 AND at > \'4000-01-01 BC\'',
	  q{idgen.short_comb_timestamp(id, clock => at) <= at AND idgen.short_comb_timestamp(id, clock => at) > at - interval '1 minute' * 65536
		AND idgen.is_recent_short_comb(id, '0', clock => idgen.short_comb_timestamp(id, clock => at)) AND left(idgen.short_comb(clock => idgen.short_comb_timestamp(id, clock => at))::text, 4) = left(id::text, 4)} ],
	[ 'a new short COMB is recent, and half a cycle later it is not',
	  q{instants, (VALUES (1), (2), (3), (6)) b (bytes) WHERE isfinite(at) AND at BETWEEN '4000-01-01 BC' AND '290000-01-01'},
	  q{idgen.is_recent_short_comb(idgen.short_comb(prefix_bytes => bytes, clock => at), '0', prefix_bytes => bytes, clock => at)
		AND tried.check_recent_short_comb(idgen.short_comb(clock => at), '10 minutes', '1 minute', 2, NULL, NULL, at) NOT LIKE '!%'
		AND NOT idgen.is_recent_short_comb(idgen.short_comb(clock => at), clock => at + interval '1 minute' * 32768)} ],
	[ 'check_recent_*() raise an error if is_recent_*() return false',
	  'random_windows', q{CASE WHEN tried.is_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) = 'true' THEN tried.check_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) = id::text
							   WHEN tried.is_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) = 'false' THEN tried.check_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) = '!23514'
							   ELSE tried.check_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) = tried.is_recent_short_comb(id, tolerance, '1 minute', 2, NULL, NULL, at) END
						  AND CASE WHEN tried.is_recent_comb(id, tolerance, NULL, NULL, at) = 'true' THEN tried.check_recent_comb(id, tolerance, NULL, NULL, at) = id::text
							   WHEN tried.is_recent_comb(id, tolerance, NULL, NULL, at) = 'false' THEN tried.check_recent_comb(id, tolerance, NULL, NULL, at) = '!23514'
							   ELSE tried.check_recent_comb(id, tolerance, NULL, NULL, at) = tried.is_recent_comb(id, tolerance, NULL, NULL, at) END
						  AND CASE WHEN tried.is_recent_uuid_v7(id, tolerance, NULL, NULL, at) = 'true' THEN tried.check_recent_uuid_v7(id, tolerance, NULL, NULL, at) = id::text
							   WHEN tried.is_recent_uuid_v7(id, tolerance, NULL, NULL, at) = 'false' THEN tried.check_recent_uuid_v7(id, tolerance, NULL, NULL, at) = '!23514'
							   ELSE tried.check_recent_uuid_v7(id, tolerance, NULL, NULL, at) = tried.is_recent_uuid_v7(id, tolerance, NULL, NULL, at) END} ],
	[ 'a COMB and a version 7 uuid are recent within the tolerance only',
	  q{(SELECT at, idgen.comb(at) AS comb, idgen.uuid_v7(at) AS v7 FROM instants WHERE at BETWEEN '1970-01-02' AND '10889-08-01') s},
	  q{idgen.is_recent_comb(comb, '1 ms', clock => at) AND NOT idgen.is_recent_comb(comb, '1 ms', clock => at + interval '3 ms') AND NOT idgen.is_recent_comb(comb, '1 ms', clock => at - interval '3 ms') AND NOT idgen.is_recent_comb(v7, '1 ms', clock => at)
		AND idgen.is_recent_uuid_v7(v7, '1 ms', clock => at) AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', clock => at + interval '3 ms') AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', clock => at - interval '3 ms') AND NOT idgen.is_recent_uuid_v7(comb, '1 ms', clock => at)} ],
	[ 'created_near() compares with the time in the identifier, both ends included',
	  q{(SELECT idgen.uuid_timestamp(id) AS made, id, interval '1 ms' * n AS span FROM uuids, (VALUES (0), (1), (90000000)) v (n) WHERE idgen.uuid_version(id) IN (1, 6, 7, 13)) s},
	  q{idgen.created_near(made + span, id, span) AND idgen.created_near(made - span, id, span)
		AND NOT idgen.created_near(made + span + interval '1 us', id, span) AND NOT idgen.created_near(made - span - interval '1 us', id, span)} ],
	[ 'is_uuid() agrees with a regular expression',
	  'texts, generate_series(0, 15) version', q{idgen.is_uuid(t, version) = (t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || to_hex(version) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$')
																				OR t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || upper(to_hex(version)) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'))} ],
	[ 'identifiers lie between the floors of their millisecond and the next, which contain it',
	  q{(SELECT at, at + interval '1 ms' AS next FROM instants WHERE at >= '1970-01-01 00:00+00' AND at < '10889-08-02 05:31:50.655+00') s},
	  q{idgen.uuid_v7(at) >= idgen.uuid_v7_floor(at) AND idgen.uuid_v7(at) < idgen.uuid_v7_floor(next)
		AND idgen.comb(at) >= idgen.comb_floor(at) AND idgen.comb(at) < idgen.comb_floor(next)
		AND idgen.ulid_from_uuid(idgen.uuid_v7(at)) COLLATE "C" >= idgen.ulid_floor(at) AND idgen.ulid_from_uuid(idgen.uuid_v7(at)) COLLATE "C" < idgen.ulid_floor(next)
		AND idgen.uuid_timestamp(idgen.uuid_v7_floor(at)) = date_trunc('ms', at) AND idgen.comb_timestamp(idgen.comb_floor(at)) = date_trunc('ms', at)
		AND idgen.ulid_timestamp(idgen.ulid_floor(at)) = date_trunc('ms', at)} ],
	[ 'uuid_v7_ms() contains its millisecond and 74 random bits',
	  q{(SELECT at, idgen.uuid_v7_ms(at) AS id, idgen.uuid_v7_ms(at) AS other FROM instants WHERE at >= '1970-01-01 00:00+00' AND at < '10889-08-02 05:31:50.655+00') s},
	  q{idgen.uuid_version(id) = 7 AND idgen.uuid_timestamp(id) = date_trunc('ms', at) AND right(id::text, 17) <> right(other::text, 17)} ],
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
	[ 'floors keep the order of time',
	  q{(SELECT at, lag(at) OVER (ORDER BY at) AS before FROM instants WHERE at BETWEEN '1970-01-01 00:00+00' AND '2089-01-01 00:00+00') s WHERE date_trunc('s', before) < date_trunc('s', at)},
	  q{idgen.uuid_v7_floor(before) < idgen.uuid_v7_floor(at) AND idgen.comb_floor(before) < idgen.comb_floor(at) AND idgen.object_id_floor(before) COLLATE "C" < idgen.object_id_floor(at)
		AND (before < '2020-01-01 00:00+00' OR idgen.snowflake_floor(before) < idgen.snowflake_floor(at) AND idgen.js_id_floor(before) < idgen.js_id_floor(at))} ],
	[ 'a Snowflake equals its parts and is not below the floor of its time',
	  'numbers', q{CASE WHEN n < 1 THEN num_nonnulls(idgen.snowflake_timestamp(n), idgen.snowflake_node(n), idgen.snowflake_counter(n)) = 0
					ELSE ((extract(epoch FROM idgen.snowflake_timestamp(n)) - 1577836800) * 1000 * 1024 + idgen.snowflake_node(n)) * 4096 + idgen.snowflake_counter(n) = n
					  AND n - idgen.snowflake_floor(idgen.snowflake_timestamp(n)) BETWEEN 0 AND 4194303 END} ],
	[ 'a js_id equals its parts and is not below the floor of its time',
	  'numbers', q{CASE WHEN n < 1 OR n >= 9007199254740992 THEN num_nonnulls(idgen.js_id_timestamp(n), idgen.js_id_node(n), idgen.js_id_counter(n)) = 0
					ELSE ((extract(epoch FROM idgen.js_id_timestamp(n)) - 1577836800) * 32 + idgen.js_id_node(n)) * 65536 + idgen.js_id_counter(n) = n
					  AND n - idgen.js_id_floor(idgen.js_id_timestamp(n)) BETWEEN 0 AND 2097151 END} ],
	[ 'a TraceId equals its parts, its time being within one cycle before the clock',
	  q{numbers, instants WHERE at BETWEEN '1950-01-01' AND '9999-01-01'},
	  q{CASE WHEN n < 1 OR n % 4194304 = 0 THEN num_nonnulls(idgen.trace_id_timestamp(n, at), idgen.trace_id_node(n), idgen.trace_id_counter(n)) = 0
		ELSE (mod(mod(extract(epoch FROM idgen.trace_id_timestamp(n, at)), 33554432) + 33554432, 33554432) * 65536 + idgen.trace_id_node(n)) * 4194304 + idgen.trace_id_counter(n) = n
		  AND idgen.trace_id_timestamp(n, at) <= at + interval '1 day' AND idgen.trace_id_timestamp(n, at) > at + interval '1 day' - interval '1 s' * 33554433 END} ],
	[ 'a DecimalId equals its parts',
	  'numbers', q{CASE WHEN n < 10000000000 OR n >= 9223372030000000000 THEN idgen.decimal_id_parts(n) IS NULL
					ELSE (SELECT (p.counter * 100000::bigint + p.generator) * 100000 + p.launch = n AND p.generator BETWEEN 0 AND 99999 AND p.launch BETWEEN 0 AND 99999 FROM idgen.decimal_id_parts(n) p) END} ],
	[ 'raise_decimal_id() accepts identifiers and never lowers the ticker',
	  'numbers', q{CASE WHEN idgen.decimal_id_parts(n) IS NULL THEN tried.raise_decimal_id(n) = '!22003'
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
	[ 'the floor of an ObjectId has its first eight digits',
	  'object_ids', q{idgen.object_id_floor(idgen.object_id_timestamp(o) + interval '999 ms') = rpad(left(lower(o), 8), 24, '0')} ],
	[ 'create_once() records a command once and then returns its entity',
	  q{(SELECT id, first.created AS first, again.created AS again, again.entity_id AS found
		 FROM few_uuids, LATERAL idgen.create_once(id, idgen.swap_guid_bytes(id), 'a') first, LATERAL idgen.create_once(id, idgen.uuid_v4(), CASE WHEN first.created THEN 'a' END) again) s},
	  q{first AND NOT again AND found = idgen.swap_guid_bytes(id)} ],
	[ 'find_creation() finds the command, and another name or type is an error',
	  'few_uuids', q{(SELECT f.entity_id = idgen.swap_guid_bytes(id) FROM idgen.find_creation(id) f) AND tried.create_once(id, id, 'b', NULL) = '!23514' AND tried.create_once_bigint(id, 1, 'a', NULL) = '!23514'} ],
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
	[ 'index_sample() takes any positive number of rows in a checkpoint interval', q{numbers, LATERAL idgen.index_sample('idgen.creation_identifiers_pkey', n, 1) r WHERE n >= 1}, q{r.rows >= 0 AND r.located_rows <= 1} ],
	[ 'index_reports() returns indexes of the given size', q{(VALUES (0::bigint), (65536)) v (n), LATERAL idgen.index_reports(n) r}, q{r.size_bytes >= n} ],
);

1;
