# Every function of idgen and idgen_advisor that takes an identifier, text or a number gets
# thousands of values that nobody chose, and some that somebody did: it returns,
# or raises an error that is documented. And what must hold for all values holds.
# IDGEN_SEED makes the same values again.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{IDGEN_SEED} // int(rand(2**31));
my $trials = 1000;
note("IDGEN_SEED=$seed");

# The types whose functions are meant
my @types = qw(uuid text bigint uuid[]);

# What each function may raise. One that is not here makes the test fail: say
# what it raises, and what holds for it, in @properties.
my %documented = map { my ($function, @states) = split; $function => \@states } split /\n/, <<'END';
uuid_v1_to_v6(uuid) 22023
uuid_v6_to_v1(uuid) 22023
uuid_v1_to_lambert_comb(uuid) 22023
lambert_comb_to_uuid_v1(uuid) 22023
swap_guid_bytes(uuid)
prefix_to_suffix(uuid)
suffix_to_prefix(uuid)
short_prefix_to_suffix(uuid)
short_suffix_to_prefix(uuid)
uuid_version(uuid)
uuid_variant(uuid)
uuid_timestamp(uuid)
uuid_text_timestamp(text) 22P02
uuid_v5(uuid,text) 22021
uuid_v7_within(uuid,timestamptz,timestamptz) 22008
comb_within(uuid,timestamptz,timestamptz) 22008
uuid_smaller(uuid,uuid)
uuid_larger(uuid,uuid)
comb_timestamp(uuid)
suffix_comb_timestamp(uuid)
short_comb_timestamp(uuid,timestamptz,interval,integer) 22023 22008
inspect(uuid)
is_uuid(text,integer) 22023
is_recent_short_comb(uuid,interval,timestamptz,interval,integer,interval,interval) 22023 22008
is_recent_comb(uuid,interval,timestamptz,interval,interval) 22023 22008
is_recent_uuid_v7(uuid,interval,timestamptz,interval,interval) 22023 22008
check_recent_short_comb(uuid,interval,timestamptz,interval,integer,interval,interval) 22023 22008 23514
check_recent_comb(uuid,interval,timestamptz,interval,interval) 22023 22008 23514
check_recent_uuid_v7(uuid,interval,timestamptz,interval,interval) 22023 22008 23514
snowflake_timestamp(bigint,timestamptz) 22008
snowflake_within(bigint,timestamptz,timestamptz,timestamptz) 22008
snowflake_node(bigint)
snowflake_counter(bigint)
js_id_timestamp(bigint,timestamptz) 22008
js_id_within(bigint,timestamptz,timestamptz,timestamptz) 22008
js_id_node(bigint)
js_id_counter(bigint)
trace_id_timestamp(bigint,timestamptz) 22008
trace_id_node(bigint)
trace_id_counter(bigint)
decimal_id_parts(bigint)
ticker_state(text) 22023
raise_ticker(text,bigint) 22023 22003
is_object_id(text)
object_id_timestamp(text) 22P02
uuid_to_base(uuid,integer) 22023
bigint_to_base(bigint,integer) 22023
uuid_from_base(text,integer) 22023 22P02
bigint_from_base(text,integer) 22023 22P02
prefixed_id(text,uuid) 22023
prefixed_id_to_uuid(text,text) 22P02 22023 23514
is_prefixed_id(text,text) 22023
prefixed_id_prefix(text) 22P02
create_id_domain(text,text) 22023 23505 42710 42602 42601 3F000 0A000 42501
parse_prefixed_id(text) 22P02
typeid(text) 22023
typeid_from_uuid(text,uuid) 22023
typeid_to_uuid(text) 22P02
typeid_prefix(text) 22P02
ulid_to_uuid(text) 22P02
ulid_from_uuid(uuid)
ulid_timestamp(text) 22P02
ulid_within(text,timestamptz,timestamptz) 22008
create_once(uuid,uuid,text,jsonb) 22004 23505
create_once_bigint(uuid,bigint,text,jsonb) 22004 23505
find_creation(uuid)
forget_creation(uuid)
forget_creation_of(uuid)
forget_creation_of_bigint(bigint)
purge_creations(interval,bigint) 22004 22023
trim_creations(bigint,text) 22004 22023
remember_command(uuid[],uuid,integer) 22004 22023 2202E
has_command(uuid[],uuid) 2202E
expected_key_cost(text,float8,float8,float8,integer,integer,integer,float8) 22004 22023
advise_short_comb(float8,bigint,bigint,interval) 22023
END

# What holds: for each row of a source, a condition. tried.f() is idgen.f() as
# text, "!" and the SQLSTATE where that is an error. Sources are tables of
# values that were made up (see below); uuids.id, texts.t and so on.
my @properties = (
	[ 'digits are read as they are written',
	  'uuids, bases', 'idgen.uuid_from_base(idgen.uuid_to_base(id, base), base) = id' ],
	[ 'digits have the width of 128 bits',
	  'uuids, bases', 'length(idgen.uuid_to_base(id, base)) = ceil(128 / log(2.0, base))' ],
	[ 'digits have the order of uuids',
	  '(SELECT base, idgen.uuid_to_base(id, base) AS here, idgen.uuid_to_base(lead(id) OVER (PARTITION BY base ORDER BY id), base) AS next
		FROM uuids, bases) s WHERE next IS NOT NULL', 'here COLLATE "C" < next COLLATE "C"' ],
	[ 'numbers are read as they are written',
	  'numbers, bases WHERE n >= 0', 'idgen.bigint_from_base(idgen.bigint_to_base(n, base), base) = n' ],
	[ 'numbers below zero are not written',
	  'numbers, bases WHERE n < 0', q{tried.bigint_to_base(n, base) = '!22023'} ],
	[ 'a text is read where its digits are those of the base',
	  'texts, bases', q{CASE WHEN t ~ alphabet AND octet_length(t) < width THEN ltrim(idgen.uuid_to_base(tried.uuid_from_base(t, base)::uuid, base), zero) = ltrim(written(t, base), zero)
						ELSE tried.uuid_from_base(t, base) = '!22P02' OR octet_length(t) = width END} ],
	[ 'a bigint and a uuid of the same digits are the same',
	  'texts, bases', q{CASE WHEN tried.uuid_from_base(t, base) ~ '^0{8}-0{4}-0{4}-[0-7]' THEN ('x' || right(translate(tried.uuid_from_base(t, base), '-', ''), 16))::bit(64)::bigint = idgen.bigint_from_base(t, base)
						ELSE tried.bigint_from_base(t, base) = '!22P02' END} ],
	[ 'a prefixed id has its prefix and its uuid',
	  'prefixes, few_uuids', q{idgen.prefixed_id_prefix(idgen.prefixed_id(prefix, id)) = prefix AND idgen.prefixed_id_to_uuid(idgen.prefixed_id(prefix, id), prefix) = id} ],
	[ 'a text is a prefixed id, or is none, for all that read it',
	  'texts', q{CASE WHEN tried.prefixed_id_prefix(t) = '!22P02' THEN tried.prefixed_id_to_uuid(t, NULL) = '!22P02' AND tried.parse_prefixed_id(t) = '!22P02'
				 ELSE t LIKE tried.prefixed_id_prefix(t) || '\_%' AND idgen.prefixed_id_to_uuid(t) = idgen.prefixed_id_to_uuid(idgen.prefixed_id(idgen.prefixed_id_prefix(t), idgen.prefixed_id_to_uuid(t)))
				   AND (idgen.parse_prefixed_id(t)).uuid = idgen.prefixed_id_to_uuid(t) AND (idgen.parse_prefixed_id(t)).prefix = idgen.prefixed_id_prefix(t) END} ],
	[ 'another prefix is refused',
	  'prefixes p, prefixes other, few_uuids WHERE p.prefix <> other.prefix', q{tried.prefixed_id_to_uuid(idgen.prefixed_id(p.prefix, id), other.prefix) = '!23514'} ],
	[ 'of the texts of a prefixed id, the one that is written is canonical',
	  'texts', q{CASE WHEN tried.prefixed_id_prefix(t) = '!22P02' THEN NOT idgen.is_prefixed_id(t, 'acct') AND tried.prefixed_id_to_uuid(t, 'acct') = '!22P02'
				 ELSE idgen.is_prefixed_id(t, idgen.prefixed_id_prefix(t)) = (t = idgen.prefixed_id(idgen.prefixed_id_prefix(t), idgen.prefixed_id_to_uuid(t)))
				   AND idgen.is_prefixed_id(t, 'other') = (idgen.prefixed_id_prefix(t) = 'other' AND idgen.is_prefixed_id(t, 'other')) END} ],
	[ 'any text is a prefix, or is none',
	  'texts', q{CASE WHEN t ~ '^[a-z]([a-z0-9_]{0,61}[a-z0-9])?$' THEN length(tried.prefixed_id(t, '0123e567-e89b-12d3-a456-426655440000')) = length(t) + 26
				 ELSE tried.prefixed_id(t, '0123e567-e89b-12d3-a456-426655440000') = '!22023' END} ],
	[ 'a domain takes the ids of its prefix and no other',
	  'domains, few_uuids', q{taken_by(domain, idgen.prefixed_id(prefix, id)) AND NOT taken_by(domain, idgen.prefixed_id(prefix || 'x', id))
		AND NOT taken_by(domain, prefix || '_0' || idgen.uuid_to_base(id, 36)) AND NOT taken_by(domain, prefix || '_' || upper(idgen.uuid_to_base(id, 36)) || '')
		AND (idgen.parse_prefixed_id(idgen.prefixed_id(prefix, id))).domain = domain AND tried.create_id_domain('another', prefix) = '!23505'} ],
	[ 'a TypeID has one writing',
	  'texts', q{CASE WHEN tried.typeid_to_uuid(t) = '!22P02' THEN tried.typeid_prefix(t) = '!22P02'
				 ELSE idgen.typeid_from_uuid(idgen.typeid_prefix(t), idgen.typeid_to_uuid(t)) = t END} ],
	[ 'a TypeID has its prefix and its uuid',
	  q{prefixes, few_uuids WHERE prefix !~ '[0-9]'}, q{idgen.typeid_prefix(idgen.typeid_from_uuid(prefix, id)) = prefix AND idgen.typeid_to_uuid(idgen.typeid_from_uuid(prefix, id)) = id} ],
	[ 'a new TypeID is of version 7',
	  q{prefixes WHERE prefix !~ '[0-9]'}, q{idgen.uuid_version(idgen.typeid_to_uuid(idgen.typeid(prefix))) = 7} ],
	[ 'a ULID is read as it is written, in the order of uuids, with the time of its first 48 bits',
	  '(SELECT id, idgen.ulid_from_uuid(id) AS ulid, lag(idgen.ulid_from_uuid(id)) OVER (ORDER BY id) AS before FROM uuids) s',
	  q{idgen.ulid_to_uuid(ulid) = id AND idgen.ulid_timestamp(ulid) = instant_of(first_48(id)) AND (before IS NULL OR before COLLATE "C" < ulid COLLATE "C")} ],
	[ 'a ULID has 26 digits, and is read as base 32 is',
	  'texts', q{CASE WHEN octet_length(t) = 26 THEN tried.ulid_to_uuid(t) = tried.uuid_from_base(t, 32) ELSE tried.ulid_to_uuid(t) = '!22P02' END
				 AND (tried.ulid_timestamp(t) = '!22P02') = (tried.ulid_to_uuid(t) = '!22P02')} ],
	[ 'conversions of versions are undone by their partners, and keep the time',
	  'uuids', q{CASE WHEN idgen.uuid_version(id) = 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v1_to_v6(id)) = id AND idgen.lambert_comb_to_uuid_v1(idgen.uuid_v1_to_lambert_comb(id)) = id
				   AND idgen.uuid_timestamp(idgen.uuid_v1_to_v6(id)) = idgen.uuid_timestamp(id) AND idgen.uuid_timestamp(idgen.uuid_v1_to_lambert_comb(id)) = idgen.uuid_timestamp(id)
				 ELSE tried.uuid_v1_to_v6(id) = '!22023' AND tried.uuid_v1_to_lambert_comb(id) = '!22023' END} ],
	[ 'so they are from versions 6 and 13',
	  'uuids', q{CASE idgen.uuid_version(id) WHEN 6 THEN idgen.uuid_v1_to_v6(idgen.uuid_v6_to_v1(id)) = id WHEN 13 THEN idgen.uuid_v1_to_lambert_comb(idgen.lambert_comb_to_uuid_v1(id)) = id
				 ELSE tried.uuid_v6_to_v1(id) = '!22023' AND tried.lambert_comb_to_uuid_v1(id) = '!22023' END} ],
	[ 'exchanges of bytes are undone by themselves, and have the bytes where they should',
	  'uuids', q{idgen.swap_guid_bytes(idgen.swap_guid_bytes(id)) = id AND idgen.suffix_to_prefix(idgen.prefix_to_suffix(id)) = id AND idgen.prefix_to_suffix(idgen.suffix_to_prefix(id)) = id
				 AND idgen.short_suffix_to_prefix(idgen.short_prefix_to_suffix(id)) = id AND idgen.short_prefix_to_suffix(idgen.short_suffix_to_prefix(id)) = id
				 AND left(idgen.suffix_to_prefix(id)::text, 8) = substr(id::text, 25, 8) AND left(idgen.short_suffix_to_prefix(id)::text, 4) = substr(id::text, 25, 4)
				 AND idgen.swap_guid_bytes(id)::text LIKE substr(id::text, 7, 2) || substr(id::text, 5, 2) || '%'} ],
	[ 'version and variant are what the digits say',
	  'uuids', q{idgen.uuid_variant(id) = CASE WHEN variant_digit(id) < 8 THEN 'NCS' WHEN variant_digit(id) < 12 THEN 'RFC 9562' WHEN variant_digit(id) < 14 THEN 'Microsoft' ELSE 'future' END
				 AND idgen.uuid_version(id) IS NOT DISTINCT FROM CASE WHEN variant_digit(id) BETWEEN 8 AND 11 THEN hex_value(substr(id::text, 15, 1)) END} ],
	[ 'times are read where a version has them',
	  'uuids', q{(idgen.uuid_timestamp(id) IS NOT NULL) = (coalesce(idgen.uuid_version(id), 0) IN (1, 6, 7, 13))
				 AND (idgen.uuid_version(id) IS DISTINCT FROM 7 OR idgen.uuid_timestamp(id) = instant_of(first_48(id)))
				 AND idgen.comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(id)) END
				 AND idgen.suffix_comb_timestamp(id) IS NOT DISTINCT FROM CASE idgen.uuid_version(id) WHEN 4 THEN instant_of(first_48(idgen.suffix_to_prefix(id))) END} ],
	[ 'inspect() says what the others say',
	  'uuids, idgen.inspect(id) i', q{(i.version, i.variant, i.uuid_timestamp, i.comb_timestamp, i.suffix_comb_timestamp, i.short_comb_timestamp, i.short_prefix)
				 IS NOT DISTINCT FROM (idgen.uuid_version(id), idgen.uuid_variant(id), idgen.uuid_timestamp(id), idgen.comb_timestamp(id), idgen.suffix_comb_timestamp(id),
									   idgen.short_comb_timestamp(id), left(id::text, 4))} ],
	[ 'a short COMB is of the latest period, not after the clock, that has its prefix',
	  'instants, few_uuids WHERE isfinite(at) AND idgen.uuid_version(id) = 4 AND at > \'4000-01-01 BC\'',
	  q{idgen.short_comb_timestamp(id, at) <= at AND idgen.short_comb_timestamp(id, at) > at - interval '1 minute' * 65536
		AND idgen.is_recent_short_comb(id, '0', idgen.short_comb_timestamp(id, at)) AND left(idgen.short_comb(clock => idgen.short_comb_timestamp(id, at))::text, 4) = left(id::text, 4)} ],
	[ 'a short COMB that is made is accepted, and one of the other half of the cycle is not',
	  q{instants, (VALUES (1), (2), (3), (6)) b (bytes) WHERE isfinite(at) AND at BETWEEN '4000-01-01 BC' AND '290000-01-01'},
	  q{idgen.is_recent_short_comb(idgen.short_comb(prefix_bytes => bytes, clock => at), '0', at, prefix_bytes => bytes)
		AND tried.check_recent_short_comb(idgen.short_comb(clock => at), NULL, at, NULL, NULL, NULL, NULL) NOT LIKE '!%'
		AND NOT idgen.is_recent_short_comb(idgen.short_comb(clock => at), NULL, at + interval '1 minute' * 32768)} ],
	[ 'checks agree with their verdicts',
	  'random_windows', q{CASE WHEN tried.is_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) = 'true' THEN tried.check_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) = id::text
							   WHEN tried.is_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) = 'false' THEN tried.check_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) = '!23514'
							   ELSE tried.check_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) = tried.is_recent_short_comb(id, tolerance, at, NULL, NULL, NULL, NULL) END
						  AND CASE WHEN tried.is_recent_comb(id, tolerance, at, NULL, NULL) = 'true' THEN tried.check_recent_comb(id, tolerance, at, NULL, NULL) = id::text
							   WHEN tried.is_recent_comb(id, tolerance, at, NULL, NULL) = 'false' THEN tried.check_recent_comb(id, tolerance, at, NULL, NULL) = '!23514'
							   ELSE tried.check_recent_comb(id, tolerance, at, NULL, NULL) = tried.is_recent_comb(id, tolerance, at, NULL, NULL) END
						  AND CASE WHEN tried.is_recent_uuid_v7(id, tolerance, at, NULL, NULL) = 'true' THEN tried.check_recent_uuid_v7(id, tolerance, at, NULL, NULL) = id::text
							   WHEN tried.is_recent_uuid_v7(id, tolerance, at, NULL, NULL) = 'false' THEN tried.check_recent_uuid_v7(id, tolerance, at, NULL, NULL) = '!23514'
							   ELSE tried.check_recent_uuid_v7(id, tolerance, at, NULL, NULL) = tried.is_recent_uuid_v7(id, tolerance, at, NULL, NULL) END} ],
	[ 'a COMB and a version 7 are accepted in a window around their time only',
	  q{(SELECT at, idgen.comb(at) AS comb, idgen.uuid_v7(at) AS v7 FROM instants WHERE at BETWEEN '1970-01-02' AND '10889-08-01') s},
	  q{idgen.is_recent_comb(comb, '1 ms', at) AND NOT idgen.is_recent_comb(comb, '1 ms', at + interval '3 ms') AND NOT idgen.is_recent_comb(comb, '1 ms', at - interval '3 ms') AND NOT idgen.is_recent_comb(v7, '1 ms', at)
		AND idgen.is_recent_uuid_v7(v7, '1 ms', at) AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', at + interval '3 ms') AND NOT idgen.is_recent_uuid_v7(v7, '1 ms', at - interval '3 ms') AND NOT idgen.is_recent_uuid_v7(comb, '1 ms', at)} ],
	[ 'is_uuid() is a pattern',
	  'texts, generate_series(0, 15) version', q{idgen.is_uuid(t, version) = (t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || to_hex(version) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$')
																				OR t ~ ('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-' || upper(to_hex(version)) || '[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'))} ],
	[ 'what is made at an instant is within its bounds, and bounds tell the instant',
	  q{instants WHERE at BETWEEN '1970-01-01 00:00+00' AND '10889-08-02 05:31:50.655999+00'},
	  q{idgen.uuid_v7(at) BETWEEN idgen.uuid_v7_floor(at) AND idgen.uuid_v7_ceil(at) AND idgen.comb(at) BETWEEN idgen.comb_floor(at) AND idgen.comb_ceil(at)
		AND idgen.uuid_timestamp(idgen.uuid_v7_floor(at)) = date_trunc('ms', at) AND idgen.uuid_timestamp(idgen.uuid_v7_ceil(at)) = date_trunc('ms', at)
		AND idgen.comb_timestamp(idgen.comb_floor(at)) = date_trunc('ms', at) AND idgen.comb_timestamp(idgen.comb_ceil(at)) = date_trunc('ms', at)} ],
	[ 'so it is with ULIDs',
	  q{instants WHERE at BETWEEN '1970-01-01 00:00+00' AND '10889-08-02 05:31:50.655999+00'},
	  q{idgen.ulid_from_uuid(idgen.uuid_v7(at)) COLLATE "C" BETWEEN idgen.ulid_floor(at) AND idgen.ulid_ceil(at)
		AND idgen.ulid_timestamp(idgen.ulid_floor(at)) = date_trunc('ms', at) AND idgen.ulid_timestamp(idgen.ulid_ceil(at)) = date_trunc('ms', at)} ],
	[ 'what is within a time is not below its start, and below its stop',
	  q{few_uuids, (SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants WHERE at BETWEEN '1970-01-01' AND '2090-01-01') s},
	  q{idgen.uuid_v7_within(id, start, stop) IS NOT DISTINCT FROM (id >= idgen.uuid_v7_floor(start) AND id < idgen.uuid_v7_floor(stop))
		AND idgen.comb_within(id, start, stop) IS NOT DISTINCT FROM (id >= idgen.comb_floor(start) AND id < idgen.comb_floor(stop))
		AND idgen.ulid_within(idgen.ulid_from_uuid(id) COLLATE "C", start, stop) IS NOT DISTINCT FROM idgen.uuid_v7_within(id, start, stop)
		OR substr(id::text, 1, 13) IN (left(idgen.uuid_v7_floor(start)::text, 13), left(idgen.uuid_v7_floor(stop)::text, 13))} ],
	[ 'so it is with numbers, since any epoch',
	  q{numbers, (SELECT at AS start, lead(at, 7) OVER (ORDER BY md5(at::text)) AS stop FROM instants WHERE at BETWEEN '2020-01-01' AND '2080-01-01') s},
	  q{idgen.snowflake_within(n, start, stop, '2015-01-01 00:00+00') IS NOT DISTINCT FROM (n >= idgen.snowflake_floor(start, '2015-01-01 00:00+00') AND n < idgen.snowflake_floor(stop, '2015-01-01 00:00+00'))
		AND idgen.js_id_within(n, start, stop) IS NOT DISTINCT FROM (n >= idgen.js_id_floor(start) AND n < idgen.js_id_floor(stop))} ],
	[ 'a uuid as text has the time of the uuid',
	  'uuids', q{idgen.uuid_text_timestamp(id::text) IS NOT DISTINCT FROM idgen.uuid_timestamp(id)} ],
	[ 'other text has none',
	  q{texts WHERE t !~ '^[{]?[0-9a-fA-F]{4}(-?[0-9a-fA-F]{4}){7}[}]?$'}, q{tried.uuid_text_timestamp(t) = '!22P02'} ],
	[ 'of two uuids, one is the smaller and the other the larger',
	  'few_uuids a, few_uuids b', q{idgen.uuid_smaller(a.id, b.id) = least(a.id, b.id) AND idgen.uuid_larger(a.id, b.id) = greatest(a.id, b.id)} ],
	[ 'a name has one uuid of version 5 in each namespace, or is not text',
	  'texts, (SELECT id FROM few_uuids LIMIT 3) s', q{tried.uuid_v5(id, t) = '!22021' OR tried.uuid_v5(id, t) ~ '^.{14}5.{4}[89ab]' AND tried.uuid_v5(id, t) <> idgen.uuid_v5(id, t || 'a')::text
				 AND idgen.uuid_v5(id, t) <> idgen.uuid_v5(idgen.uuid_v5(id, t), t)} ],
	[ 'bounds have the order of time',
	  q{(SELECT at, lag(at) OVER (ORDER BY at) AS before FROM instants WHERE at BETWEEN '1970-01-01 00:00+00' AND '2089-01-01 00:00+00') s WHERE date_trunc('s', before) < date_trunc('s', at)},
	  q{idgen.uuid_v7_ceil(before) < idgen.uuid_v7_floor(at) AND idgen.comb_ceil(before) < idgen.comb_floor(at) AND idgen.object_id_ceil(before) COLLATE "C" < idgen.object_id_floor(at)
		AND (before < '2020-01-01 00:00+00' OR idgen.snowflake_ceil(before) < idgen.snowflake_floor(at) AND idgen.js_id_ceil(before) < idgen.js_id_floor(at))} ],
	[ 'a Snowflake is its parts, and within the bounds of its time',
	  'numbers', q{CASE WHEN n < 1 THEN num_nonnulls(idgen.snowflake_timestamp(n), idgen.snowflake_node(n), idgen.snowflake_counter(n)) = 0
					ELSE ((extract(epoch FROM idgen.snowflake_timestamp(n)) - 1577836800) * 1000 * 1024 + idgen.snowflake_node(n)) * 4096 + idgen.snowflake_counter(n) = n
					  AND n BETWEEN idgen.snowflake_floor(idgen.snowflake_timestamp(n)) AND idgen.snowflake_ceil(idgen.snowflake_timestamp(n)) END} ],
	[ 'a js_id is its parts, and within the bounds of its time',
	  'numbers', q{CASE WHEN n < 1 OR n >= 9007199254740992 THEN num_nonnulls(idgen.js_id_timestamp(n), idgen.js_id_node(n), idgen.js_id_counter(n)) = 0
					ELSE ((extract(epoch FROM idgen.js_id_timestamp(n)) - 1577836800) * 32 + idgen.js_id_node(n)) * 65536 + idgen.js_id_counter(n) = n
					  AND n BETWEEN idgen.js_id_floor(idgen.js_id_timestamp(n)) AND idgen.js_id_ceil(idgen.js_id_timestamp(n)) END} ],
	[ 'a TraceId is its parts, and of the last 388 days',
	  q{numbers, instants WHERE at BETWEEN '1950-01-01' AND '9999-01-01'},
	  q{CASE WHEN n < 1 OR n % 4194304 = 0 THEN num_nonnulls(idgen.trace_id_timestamp(n, at), idgen.trace_id_node(n), idgen.trace_id_counter(n)) = 0
		ELSE (mod(mod(extract(epoch FROM idgen.trace_id_timestamp(n, at)), 33554432) + 33554432, 33554432) * 65536 + idgen.trace_id_node(n)) * 4194304 + idgen.trace_id_counter(n) = n
		  AND idgen.trace_id_timestamp(n, at) <= at + interval '1 day' AND idgen.trace_id_timestamp(n, at) > at + interval '1 day' - interval '1 s' * 33554433 END} ],
	[ 'a DecimalId is its parts',
	  'numbers', q{CASE WHEN n < 10000000000 OR n >= 9223372030000000000 THEN idgen.decimal_id_parts(n) IS NULL
					ELSE (SELECT (p.counter * 100000::bigint + p.generator) * 100000 + p.launch = n AND p.generator BETWEEN 0 AND 99999 AND p.launch BETWEEN 0 AND 99999 FROM idgen.decimal_id_parts(n) p) END} ],
	[ 'a ticker is raised to a value in its range, and not lowered',
	  'numbers', q{CASE WHEN n < 1 OR n > 92233720200000 THEN tried.raise_ticker('decimal_id', n) = '!22003'
					WHEN coalesce(tried.raise_ticker('decimal_id', n), '') = '' THEN (SELECT s.last_value >= n AND s.reserved_value > n FROM idgen.ticker_state(CASE WHEN n > 0 THEN 'decimal_id' END) s) END} ],
	[ 'these are the tickers',
	  'texts', q{(tried.ticker_state(t) <> '!22023') = (t IN ('snowflake', 'trace_id', 'js_id', 'decimal_id', 'uuid_v7_ordered'))} ],
	[ 'a text is an ObjectId, or is none, for all that read it',
	  'texts', q{CASE WHEN t ~ '^[0-9a-fA-F]{24}$' THEN idgen.is_object_id(t) AND idgen.object_id_timestamp(t) = to_timestamp(('x' || left(t, 8))::bit(32)::bigint & 4294967295)
				 ELSE NOT idgen.is_object_id(t) AND tried.object_id_timestamp(t) = '!22P02' END} ],
	[ 'an ObjectId is within the bounds of its second',
	  'object_ids', q{o COLLATE "C" BETWEEN idgen.object_id_floor(idgen.object_id_timestamp(o)) AND idgen.object_id_ceil(idgen.object_id_timestamp(o) + interval '999 ms')} ],
	[ 'a creation is made once, and then answered',
	  q{(SELECT id, first.created AS first, again.created AS again, again.entity_id AS found
		 FROM few_uuids, LATERAL idgen.create_once(id, idgen.swap_guid_bytes(id), 'a') first, LATERAL idgen.create_once(id, idgen.uuid_v4(), CASE WHEN first.created THEN 'a' END) again) s},
	  q{first AND NOT again AND found = idgen.swap_guid_bytes(id)} ],
	[ 'and found, and refused to another command',
	  'few_uuids', q{(SELECT f.entity_id = idgen.swap_guid_bytes(id) FROM idgen.find_creation(id) f) AND tried.create_once(id, id, 'b', NULL) = '!23505' AND tried.create_once_bigint(id, 1, 'a', NULL) = '!23505'} ],
	[ 'and forgotten, by the command or by what it created',
	  q{(SELECT id, row_number() OVER () AS k FROM few_uuids) s}, q{CASE WHEN k % 2 = 0 THEN idgen.forget_creation(id) AND NOT idgen.forget_creation(id)
		ELSE idgen.forget_creation_of(idgen.swap_guid_bytes(id)) = 1 AND idgen.forget_creation_of(idgen.swap_guid_bytes(id)) = 0 END} ],
	[ 'so it is with a number',
	  q{(SELECT id, row_number() OVER () AS k FROM few_uuids) s, LATERAL idgen.create_once_bigint(id, k) first}, q{created AND entity_number = k AND idgen.forget_creation_of_bigint(k) = 1 AND idgen.forget_creation_of_bigint(k) = 0} ],
	[ 'and there is nothing left', '(VALUES (0)) v (keep)', q{idgen.trim_creations(keep) = 0 AND idgen.purge_creations('0') = 0} ],
	[ 'a history has the newest ones and the command, each once',
	  'histories, few_uuids', q{idgen.has_command(history, id) = coalesce(id = ANY (history), false)
		AND idgen.remember_command(history, id, keep) = coalesce((SELECT array_agg(e ORDER BY o) FROM (SELECT e, o FROM unnest(CASE WHEN id = ANY (history) THEN history ELSE history || id END) WITH ORDINALITY u (e, o)
			ORDER BY (e = id) IS TRUE DESC, o DESC LIMIT keep) newest), '{}')} ],
	[ 'costs are numbers from 0 on, or an argument is out of range',
	  q{(VALUES ('random'), ('ordered'), ('short_comb')) k (kind), reals r, reals c, reals p, (VALUES (1), (6)) b (bytes), (VALUES (1), (1024)) l (length),
		LATERAL (SELECT tried.expected_key_cost(kind, r.x, c.x, p.x, bytes, length, 16, NULL) AS said) t},
	  q{said ~ '^![0-9]{5}$' OR said = '(,,)' OR said ~ '^\([0-9.e-]+,[0-9.e-]+,[0-9.e-]+\)$'} ],
	[ 'advice is one that short_comb() takes',
	  q{reals r, numbers, LATERAL idgen.advise_short_comb(x, n) a WHERE x BETWEEN 1e-6 AND 1e9 AND n BETWEEN 0 AND 1000000000000},
	  q{page_images_per_row >= 0 AND default_page_images_per_row >= 0 AND active_bytes >= 0 AND cycle > period AND idgen.uuid_version(idgen.short_comb(period, prefix_bytes, run_length)) = 4} ],
);

# --- what there is ----------------------------------------------------------

my $node = PostgreSQL::Test::Cluster->new('server');
$node->init;
$node->append_conf('postgresql.conf', q{
timezone = 'UTC'
log_statement = none
log_min_error_statement = panic
log_min_messages = fatal
max_locks_per_transaction = 512
});
$node->start;

my $type_list = join ', ', map { "'$_'::regtype" } @types;
my $functions = qq{
	SELECT p.oid, p.proname, p.pronargs, replace(replace(format('%s(%s)', p.proname, (SELECT string_agg(t::regtype::text, ',' ORDER BY i) FROM unnest(p.proargtypes) WITH ORDINALITY u (t, i))),
		'timestamp with time zone', 'timestamptz'), 'double precision', 'float8') AS signature
	FROM pg_proc p
	WHERE p.pronamespace = 'idgen'::regnamespace AND p.prokind = 'f' AND p.proargtypes::oid[] && ARRAY[$type_list]::oid[]};

# In UTF8, a text has characters; in SQL_ASCII, it has any bytes but zero.
my $setup = qq{
	SET client_min_messages = warning;
	CREATE EXTENSION idgen_advisor CASCADE;
	ALTER DATABASE :"DBNAME" SET search_path = public;
	CREATE SCHEMA tried;
	CREATE TABLE functions AS $functions;

	-- numbers that nobody chose, and bytes
	CREATE FUNCTION any_number(what text, k bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN hashtextextended(what || k, $seed);
	CREATE FUNCTION any_hex(what text, k bigint) RETURNS text IMMUTABLE LANGUAGE sql RETURN md5('$seed' || what || k);
	CREATE FUNCTION up_to(what text, k bigint, size bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN (any_number(what, k) & 9223372036854775807) % size;

	CREATE TABLE uuids AS SELECT DISTINCT id FROM (
		SELECT any_hex('uuid', k)::uuid AS id FROM generate_series(1, 500) k
		UNION ALL SELECT overlay(overlay(any_hex('versioned', k) PLACING to_hex(k % 16) FROM 13 FOR 1) PLACING substr('89ab', 1 + k % 4, 1) FROM 17 FOR 1)::uuid FROM generate_series(1, 480) k
		UNION ALL SELECT overlay(repeat(c, 32) PLACING to_hex(k) FROM 13 FOR 1)::uuid FROM regexp_split_to_table('0189abcdef', '') c, generate_series(0, 15) k
		UNION ALL SELECT idgen.short_comb() FROM generate_series(1, 20) UNION ALL SELECT idgen.comb() UNION ALL SELECT idgen.uuid_v7()
		UNION ALL VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid), ('1ec9414c-232a-6b00-b3c8-9f6bdeced846'), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
			('ffffffff-ffff-4fff-bfff-ffffffffffff'), ('00000000-0000-4000-8000-000000000000')) s;
	-- some of them, of all versions
	CREATE TABLE few_uuids AS (SELECT id FROM uuids ORDER BY md5('few' || id) LIMIT 40) UNION SELECT overlay(overlay(any_hex('few', k) PLACING to_hex(k) FROM 13 FOR 1) PLACING '8' FROM 17 FOR 1)::uuid FROM generate_series(1, 15) k;

	CREATE TABLE bases (base, alphabet, width, zero) AS VALUES (16, '^[0-9a-fA-F]+\$', 32, '0'), (32, '^[0-9a-tv-zA-TV-Z]+\$', 26, '0'), (36, '^[0-9a-zA-Z]+\$', 25, '0'),
		(58, '^[1-9A-HJ-NP-Za-km-z]+\$', 22, '1'), (62, '^[0-9a-zA-Z]+\$', 22, '0');
	CREATE FUNCTION written(t text, base int) RETURNS text IMMUTABLE LANGUAGE sql RETURN
		CASE WHEN base IN (16, 36) THEN translate(t, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
		WHEN base = 32 THEN translate(translate(t, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), 'ILO', '110') ELSE t END;

	CREATE TABLE prefixes AS SELECT DISTINCT prefix FROM (
		VALUES ('a'), ('acct'), ('z_z'), ('line_item2'), ('a__b'), (repeat('p', 62)), ('x9'), ('underscored_and_long_and_longer')) v (prefix);
	CREATE TABLE domains AS SELECT prefix, idgen.create_id_domain('made_' || row_number() OVER (), prefix) AS domain FROM prefixes;

	CREATE TABLE numbers AS SELECT DISTINCT n FROM (
		SELECT any_number('number', k) AS n FROM generate_series(1, 300) k
		UNION ALL SELECT any_number('number', k) >> up_to('shift', k, 63)::int FROM generate_series(1, 300) k
		UNION ALL SELECT (1::bigint << k) - d FROM generate_series(0, 62) k, generate_series(-1, 1) d
		UNION ALL VALUES (0::bigint), (-1), (9223372036854775807), (-9223372036854775808), (9007199254740991), (10000000000), (9223372020000000000), (9223372029999999999), (9223372030000000000), (14150009200065)) s;

	CREATE TABLE instants AS SELECT DISTINCT at FROM (
		SELECT to_timestamp(up_to('instant', k, 281474976710655) / 1000.0) AS at FROM generate_series(1, 200) k
		UNION ALL SELECT to_timestamp(up_to('instant', k, 4294967295)) + interval '1 us' * up_to('us', k, 1000000) FROM generate_series(1, 300) k
		UNION ALL SELECT to_timestamp(-up_to('instant', k, 200000000000)) FROM generate_series(1, 100) k
		UNION ALL SELECT to_timestamp(up_to('instant', k, 9000000000000)) FROM generate_series(1, 100) k
		UNION ALL VALUES ('infinity'::timestamptz), ('-infinity'), ('4714-11-24 00:00:00+00 BC'), ('294276-12-31 23:59:59.999999+00'), ('1970-01-01 00:00:00+00'), ('1969-12-31 23:59:59.999999+00'),
			('10889-08-02 05:31:50.655999+00'), ('10889-08-02 05:31:50.656+00'), ('2106-02-07 06:28:15.999999+00'), ('2106-02-07 06:28:16+00'), ('2020-01-01 00:00:00+00'), ('2019-12-31 23:59:59.999999+00'),
			('2089-09-06 15:47:35.551+00'), ('2156-02-07 06:28:15+00'), (now())) s;

	CREATE TABLE spans AS SELECT DISTINCT span FROM (
		SELECT interval '1 ms' * (up_to('span', k, 1000000000000) >> up_to('shift', k, 40)::int) AS span FROM generate_series(1, 100) k
		UNION ALL VALUES ('0'::interval), ('1 us'), ('1 ms'), ('-1 ms'), ('1 s'), ('1 minute'), ('30 seconds'), ('-1 minute'), ('1 hour'), ('10 days'), ('1 month'), ('-1 month 31 days'), ('1500 us'),
			('65536 ms'), ('281474976710 seconds 656 ms'), ('2147483647 days'), ('-2147483648 days'), ('106751991 days'), ('106751992 days'), ('2562047788:00:54.775807'), ('-2562047788:00:54.775807'), ('178000000 years'), ('32767 minutes')) s;

	CREATE TABLE object_ids AS SELECT k, substr(any_hex('object_id', k), 1, 24) AS o FROM generate_series(1, 400) k
		UNION ALL VALUES (0, repeat('0', 24)), (0, repeat('f', 24));

	CREATE TABLE histories AS SELECT history, keep FROM (SELECT '{}'::uuid[] AS history UNION ALL SELECT NULL
			UNION ALL SELECT (SELECT array_agg(id) FROM (SELECT id FROM uuids ORDER BY md5(k || id::text) LIMIT k) s) FROM generate_series(1, 30, 7) k
			UNION ALL SELECT (SELECT array_agg(id) FROM few_uuids)) h, (VALUES (0), (1), (20), (2147483647)) v (keep);

	CREATE TABLE reals (x) AS VALUES (0::float8), (-1), (1), (0.5), (1e-300), (1e300), ('NaN'), ('Infinity'), ('-Infinity'), (1000), (1e6), (1e9), (1e12), (1e15), (4e18), (NULL);

	-- texts: forms of identifiers, and the same with something changed
	CREATE TABLE forms AS SELECT DISTINCT t FROM (
		SELECT idgen.uuid_to_base(id, base) AS t FROM few_uuids, bases
		UNION ALL SELECT idgen.prefixed_id(prefix, id) FROM few_uuids, prefixes UNION ALL SELECT idgen.typeid_from_uuid(prefix, id) FROM few_uuids, prefixes WHERE prefix !~ '[0-9]'
		UNION ALL SELECT idgen.typeid_from_uuid('', id) FROM few_uuids UNION ALL SELECT id::text FROM few_uuids UNION ALL SELECT upper(id::text) FROM few_uuids
		UNION ALL SELECT o FROM object_ids WHERE k < 40 UNION ALL SELECT upper(o) FROM object_ids WHERE k < 40 UNION ALL SELECT n::text FROM numbers
		UNION ALL SELECT prefix FROM prefixes UNION ALL SELECT repeat(c, k) FROM regexp_split_to_table('0179afzAFZ_-', '') c, generate_series(0, 37) k
		UNION ALL SELECT repeat(c, k) FROM regexp_split_to_table('a_', '') c, (VALUES (62), (63), (64), (95), (96), (97), (10000), (1000000)) v (k)
		UNION ALL VALUES (''), ('_'), ('a_'), ('_a'), ('a_1'), ('a__1'), ('A_1'), ('snowflake'), ('uuid_v7_ordered'), ('random'), ('short_comb'), ('a.b'), ('a.b.c'), ('"'), ('"a'), ('""'), ('pg_catalog.x'),
			('information_schema.x'), ('public.x'), ('postgres.public.x'), ('public'), ('nowhere.x'), ('pg_temp.x'), ('a b'), ('a"; DROP TABLE texts; --'), ('x''y'), (E'tab\\there'), (E'line\\n'), (' 1'), ('1 '), ('+1'), ('1e3'), ('0x1f'),
			('7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), ('80000000000000000000000000'), ('f5lxx1zz5pnorynqglhzmsp34'), ('YcVfxkQb6JRzqk5kF2tNLw'), ('7n42DGM5Tflk9n8mt7Fhc8')) s;
	CREATE TABLE texts AS SELECT DISTINCT t FROM (
		SELECT t FROM forms UNION ALL SELECT c FROM characters
		UNION ALL SELECT overlay(t PLACING c FROM 1 + up_to(c || t, 0, length(t) + 1)::int FOR up_to(c || t, 1, 3)::int)
			FROM (SELECT t, row_number() OVER (ORDER BY md5('$seed' || t)) AS k FROM forms WHERE length(t) < 200) f JOIN (SELECT c, row_number() OVER (ORDER BY md5('$seed' || c)) AS k FROM characters) g ON f.k % 255 = g.k - 1) s;

	CREATE TABLE random_windows AS SELECT u.id, s.span AS tolerance, i.at
		FROM generate_series(1, 3000) k
		JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS k FROM uuids) u ON u.k = up_to('u', k.k, (SELECT count(*) FROM uuids))
		JOIN (SELECT span, row_number() OVER (ORDER BY span) - 1 AS k FROM spans) s ON s.k = up_to('s', k.k, (SELECT count(*) FROM spans))
		JOIN (SELECT at, row_number() OVER (ORDER BY at) - 1 AS k FROM instants) i ON i.k = up_to('i', k.k, (SELECT count(*) FROM instants));

	CREATE FUNCTION hex_value(digit text) RETURNS int IMMUTABLE LANGUAGE sql RETURN ('x' || lpad(digit, 8, '0'))::bit(32)::int;
	CREATE FUNCTION variant_digit(id uuid) RETURNS int IMMUTABLE LANGUAGE sql RETURN hex_value(substr(id::text, 20, 1));
	CREATE FUNCTION first_48(id uuid) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN ('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint;
	CREATE FUNCTION instant_of(ms bigint) RETURNS timestamptz IMMUTABLE LANGUAGE sql RETURN timestamptz 'epoch' + interval '1 s' * (ms / 1000) + interval '1 ms' * (ms % 1000);
	CREATE FUNCTION taken_by(domain regtype, value text) RETURNS boolean LANGUAGE plpgsql AS \$\$
	BEGIN
		EXECUTE format('SELECT %L::%s', value, domain);
		RETURN true;
	EXCEPTION WHEN check_violation THEN
		RETURN false;
	END \$\$;

	-- idgen's functions, with an error as a value
	DO \$\$
	DECLARE
		f record;
		parameters text;
	BEGIN
		FOR f IN SELECT * FROM functions LOOP
			SELECT string_agg(t::regtype::text, ', ' ORDER BY i) INTO parameters
			FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY u (t, i) WHERE p.oid = f.oid;
			EXECUTE format('CREATE FUNCTION tried.%I(%s) RETURNS text LANGUAGE plpgsql AS %L', f.proname, parameters, format(
				'BEGIN RETURN (SELECT r::text FROM idgen.%I(%s) r); EXCEPTION WHEN OTHERS THEN RETURN ''!'' || SQLSTATE; END', f.proname,
				(SELECT string_agg('\$' || i, ', ' ORDER BY i) FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY u (t, i) WHERE p.oid = f.oid)));
		END LOOP;
	END \$\$;

	-- any values of a type, as an array
	CREATE FUNCTION values_of(type regtype, OUT query text) LANGUAGE plpgsql AS \$\$
	BEGIN
		query := CASE type::text
			WHEN 'uuid' THEN 'SELECT id FROM uuids' WHEN 'text' THEN 'SELECT t FROM texts' WHEN 'bigint' THEN 'SELECT n FROM numbers'
			WHEN 'timestamp with time zone' THEN 'SELECT at FROM instants' WHEN 'interval' THEN 'SELECT span FROM spans' WHEN 'uuid[]' THEN
				'SELECT history::text FROM histories UNION ALL SELECT (ARRAY[[id]])::text FROM few_uuids UNION ALL SELECT (ARRAY[id, NULL])::text FROM few_uuids'
			WHEN 'double precision' THEN 'SELECT x FROM reals' WHEN 'jsonb' THEN 'SELECT to_jsonb(t)::text FROM (SELECT t FROM texts WHERE length(t) < 100 LIMIT 100) s'
			WHEN 'integer' THEN 'SELECT n FROM unnest(ARRAY[0, 1, -1, 2, 3, 6, 7, 8, 15, 16, 20, 32, 36, 58, 62, 16, 32, 36, 58, 62, 1024, 2147483647, -2147483648]) n' END;
	END \$\$;

	-- the first ones of each type in turn, then any of them, and now and then a NULL
	CREATE FUNCTION try(f functions, trials int) RETURNS TABLE (state text, calls bigint) LANGUAGE plpgsql AS \$\$
	DECLARE
		arguments text;
		pools text;
	BEGIN
		SELECT string_agg(format('CASE WHEN k %% 29 = %s THEN NULL ELSE p%s.v[1 + up_to(%L, k, cardinality(p%s.v))] END::%s', i + 1, i, f.signature || i, i, t::regtype::text), ', ' ORDER BY i),
			string_agg(format(', (SELECT array_agg(v::text) AS v FROM (%s) s (v) WHERE v IS NOT NULL) p%s', values_of(t), i), '' ORDER BY i)
			INTO arguments, pools
			FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY u (t, i) WHERE p.oid = f.oid;
		RETURN QUERY EXECUTE format(\$q\$SELECT CASE WHEN r LIKE '!_____' THEN r ELSE '' END, count(*) FROM (SELECT tried.%I(%s) AS r FROM generate_series(1, %s) k%s OFFSET 0) s GROUP BY 1\$q\$,
			f.proname, arguments, trials, pools);
	END \$\$;
};
my %characters = (
	UTF8 => q{CREATE TABLE characters AS SELECT chr(k) AS c FROM generate_series(1, 255) k UNION ALL VALUES (U&'\20AC'), (U&'\+01F600'), (U&'\0301'), (U&'\FEFF'), (U&'\212A')},
	SQL_ASCII => q{CREATE TABLE characters AS SELECT convert_from(decode(lpad(to_hex(k), 2, '0'), 'hex'), 'SQL_ASCII') AS c FROM generate_series(1, 255) k});

for my $encoding (sort keys %characters)
{
	$node->safe_psql('postgres', "CREATE DATABASE $encoding ENCODING $encoding LOCALE 'C' TEMPLATE template0");
	my $database = lc $encoding;
	$node->safe_psql($database, "$characters{$encoding};\n$setup");

	# --- what is raised -----------------------------------------------------

	my %raised;
	my $rows = $node->safe_psql($database, qq{
		BEGIN;
		SET LOCAL client_min_messages = error;
		SELECT f.signature, t.state, t.calls
		FROM functions f, LATERAL try(f, CASE f.proname WHEN 'create_id_domain' THEN 300 ELSE $trials END) t;
		ROLLBACK});
	for (split /\n/, $rows)
	{
		my ($function, $state, $calls) = /^(.*)\|(.*)\|(\d+)$/ or die $_;
		$raised{$function}{ $state =~ tr/!//dr } = $calls;
	}
	is(join("\n", grep { !exists $documented{$_} } sort keys %raised), '', "$encoding: every function that there is says what it raises");
	is(join("\n", grep { !exists $raised{$_} } sort keys %documented), '', "$encoding: and no other");

	my ($calls, @undocumented) = (0);
	for my $function (sort keys %raised)
	{
		my %may = map { $_ => 1 } '', @{ $documented{$function} // [] };
		push @undocumented, map { "$function: $_ ($raised{$function}{$_} times)" } grep { !$may{$_} } sort keys %{ $raised{$function} };
		$calls += $_ for values %{ $raised{$function} };
	}
	is(join("\n", @undocumented), '', "$encoding: no other error in $calls calls (IDGEN_SEED=$seed)");
	is(join("\n", grep { !$raised{$_}{''} } sort keys %raised), '', "$encoding: and no function that only raises errors");

	# --- what holds ---------------------------------------------------------

	for my $property (@properties)
	{
		my ($name, $source, $condition) = @$property;
		my $found = $node->safe_psql($database, qq{
			SET client_min_messages = error;
			SELECT count(*) > 0, count(*) FILTER (WHERE held IS NOT TRUE) FROM (SELECT ($condition) AS held FROM $source) s});

		is($found, 't|0', "$encoding: $name (IDGEN_SEED=$seed)") or diag($node->safe_psql($database, qq{
			SELECT left(s::text, 1000) FROM (SELECT *, ($condition) AS held FROM $source) s WHERE held IS NOT TRUE LIMIT 3}));
	}
}

# --- what does not depend on the encoding -----------------------------------

$node->safe_psql('postgres', q{CREATE DATABASE latin1 ENCODING latin1 LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin1', 'CREATE EXTENSION idgen');
for my $database (qw(latin1 utf8 sql_ascii))
{
	my $bytes = $database eq 'latin1' ? '\\xdc6ee9' : '\\xc39c6ec3a9';

	is( $node->safe_psql($database, qq{SELECT idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', convert_from('$bytes', getdatabaseencoding()))}),
		'077b01b5-0f89-51cf-9467-11fa3bef8be8', "$database: a name has the same uuid of version 5 in each encoding");
}

# --- what nothing is said of ------------------------------------------------

my $mentioned = join "\n", map { @$_ } @properties;
my @silent = grep { my ($function) = /^(\w+)/; $mentioned !~ /\b(idgen|tried)\.$function\(/ } sort keys %documented;
is(join("\n", @silent), '', 'of every function, something is known to hold');

$node->stop;
done_testing();
