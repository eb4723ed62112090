# This module lists all SQL functions of idgen. t/003_properties.pl compares the list with pg_proc, and calls each
# function with its arguments. The list specifies who may call a function (t/041_search_path.pl), whether the function
# works on a standby (t/046_lagging_standby.pl), and which generators are called under load. A new function needs one
# row here. If it takes an identifier, text or a number, it also needs an entry in properties.sql. CONTRIBUTING.md lists
# the other places.

package Functions;
use strict;
use warnings;
use PostgreSQL::Test::Utils;

# Sample arguments
our $v1 = q{'c232ab00-9414-11ec-b3c8-9f6bdeced846'};
our $v4 = q{'919108f7-52d1-4320-9bac-f847db4148a8'};
my $v6 = q{'1ec9414c-232a-6b00-b3c8-9f6bdeced846'};
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'};
my $v13 = q{'1ec9414c-232a-db00-b3c8-9f6bdeced846'};
my $object = q{'507f1f77bcf86cd799439011'};
my $before = q{'2020-01-01 00:00:00+00'};
my $instant = q{'2026-01-01 00:00:00+00'};
my $hmac = q{'9b923ffe-52d1-4320-9bac-f847db4148a8'};	# for that instant and the area '', under the key "default"
our $minute_0 = q{'00000000-0000-4000-8000-000000000000'};
our $typeid = q{'user_01h455vb4pex5vsknk084sn02q'};
my $ulid = q{'01ARZ3NDEKTSV4RRFFQ69G5FAV'};
my $request = q{'{"a": [1, 2.50, "x", null, true]}'};

# [ signature, kind, attributes, errors, arguments ]
#
# kind        generator: generates identifiers; any role may call it
#             ticker: a generator that takes its values from a ticker
#             reader: any other function that any role may call
#             creations, prefixes: requires rights on that table
#             key: a function that uses a key from idgen.key_file, and requires EXECUTE
#             trigger: called by the server only (a trigger or planner support function)
#             advisor: a reader in the extension idgen_advisor
# attributes  volatility (i, s, v), parallel safety (s, r, u), and "strict" where it applies
# errors      SQLSTATEs that an argument can cause
# arguments   the arguments of a call that succeeds, with the types of pg_catalog,
#             because t/041 makes the call with other types on the search path
my @rows = (
	# UUIDs and ObjectIds
	[ 'uuid_v4()', 'generator', 'vs' ],
	[ 'uuid_v5(uuid,text)', 'reader', 'is strict', '22021', qq{$v4, 'name'} ],
	[ 'named_uuid_v7(timestamptz,uuid,text)', 'reader', 'is strict', '22008 22021', qq{$instant, $v4, 'name'} ],
	(map { [ "$_(timestamptz)", 'generator', 'vs', '22008' ] }
		qw(uuid_v7 uuid_v1 uuid_v6 lambert_comb comb suffix_comb object_id ulid)),
	[ 'short_comb(interval,int4,int4,timestamptz)', 'generator', 'vs', '22004 22023 22008', q{'30 seconds', 3, 100} ],
	[ 'keyed_comb(text,interval,timestamptz)', 'generator', 'vs', '22004 22021 22023 22008', q{'orders', '1 hour'} ],
	[ 'short_suffix_comb(interval,timestamptz)', 'generator', 'vs', '22004 22023 22008', q{'30 seconds'} ],
	[ 'sequence_comb(regclass,int4,int4)', 'generator', 'vu', '22004 22023 42809', q{'public.numbers'} ],

	# Conversions
	[ 'uuid_v1_to_v6(uuid)', 'reader', 'is strict', '22023', $v1 ],
	[ 'uuid_v6_to_v1(uuid)', 'reader', 'is strict', '22023', $v6 ],
	[ 'uuid_v1_to_lambert_comb(uuid)', 'reader', 'is strict', '22023', $v1 ],
	[ 'lambert_comb_to_uuid_v1(uuid)', 'reader', 'is strict', '22023', $v13 ],

	# Conversions that take any uuid, readers, bounds and order
	(map { [ "$_(uuid)", 'reader', 'is strict', '', $v4 ] }
		qw(swap_guid_bytes comb_to_suffix_comb suffix_comb_to_comb short_comb_to_short_suffix_comb
		short_suffix_comb_to_short_comb uuid_version uuid_variant comb_timestamp suffix_comb_timestamp)),
	[ 'uuid_timestamp(uuid)', 'reader', 'is strict', '', $v7 ],
	[ 'uuid_text_timestamp(text)', 'reader', 'is strict', '22P02', $v7 ],
	[ 'object_id_timestamp(text)', 'reader', 'is strict', '22P02', $object ],
	[ 'short_comb_timestamp(uuid,interval,int4,timestamptz)', 'reader', 'ss', '22004 22023 22008',
	qq{$v4, clock => $instant} ],
	(map { [ "${_}_floor(timestamptz)", 'reader', 'is strict', '', $instant ] } qw(uuid_v7 comb object_id ulid)),
	[ 'internal_expect_true(internal)', 'trigger', 'is strict' ],
	[ 'internal_is_version(uuid,int4)', 'reader', 'is strict', '', qq{$v7, 7} ],
	[ 'uuid_v7_within(uuid,timestamptz,timestamptz)', 'reader', 'is', '', qq{$v7, $before, $instant} ],
	[ 'comb_within(uuid,timestamptz,timestamptz)', 'reader', 'is', '', qq{$v4, $before, $instant} ],
	[ 'object_id_within(text,timestamptz,timestamptz)', 'reader', 'is', '', qq{$object, $before, $instant} ],
	(map { [ "uuid_$_(uuid,uuid)", 'reader', 'is strict', '', qq{$v4, $v7} ] } qw(smaller larger)),
	(map { [ "$_(uuid)", 'reader', 'is', '', qq{${v4}::pg_catalog.uuid} ] } qw(min max)),

	# Checks
	[ 'is_uuid(text,int4)', 'reader', 'is', '22023', $v4 ],
	[ 'is_object_id(text)', 'reader', 'is strict', '', $object ],
	(map {
			my ($check, $errors) = @$_;
			([ "${check}_short_comb(uuid,interval,interval,interval,interval,int4,timestamptz)", 'reader', 'ss',
				$errors,
					qq{$minute_0, '1 hour', clock => '1970-01-01 00:05:00+00'} ],
				map { [ "${check}_$_(uuid,interval,interval,interval,timestamptz)", 'reader', 'ss', $errors,
						qq{idgen.${_}_floor($instant), '1 hour', clock => $instant} ] } 'comb', 'uuid_v7')
		} [ 'is_recent', '22023 22008 22004' ], [ 'check_recent', '22023 22008 22004 23514' ]),
	[ 'check_recent_id()', 'trigger', 'vs' ],
	[ 'internal_created_bound(uuid,interval,bool)', 'reader', 'is', '22004 22008 22023', qq{$v7, '1 hour', true} ],
	[ 'created_near(uuid,timestamptz,interval)', 'reader', 'is', '22004 22008 22023', qq{$v7, $instant} ],

	# Identifiers from tickers
	(map {
			my ($scheme, $id) = @$_;
			([ "$scheme(timestamptz)", 'ticker', 'vu', '22004 22008' ],
				[ "${scheme}_timestamp(int8,timestamptz)", 'reader', 'is', '22004 22008', $id ],
				[ "${scheme}_node(int8)", 'reader', 'is strict', '', $id ],
				[ "${scheme}_counter(int8)", 'reader', 'is strict', '', $id ],
				[ "${scheme}_floor(timestamptz,timestamptz)", 'reader', 'is', '22004 22008', $instant ],
				[ "${scheme}_within(int8,timestamptz,timestamptz,timestamptz)", 'reader', 'is', '22004 22008',
				"$id, $before, $instant" ])
		} [ 'snowflake', '175928847299117063' ], [ 'js_id', '175928847299117' ]),
	[ 'trace_id()', 'ticker', 'vu' ],
	[ 'trace_id_timestamp(int8,timestamptz)', 'reader', 'ss', '22008', qq{175928847299117063, $instant} ],
	[ 'trace_id_node(int8)', 'reader', 'is strict', '', '175928847299117063' ],
	[ 'trace_id_counter(int8)', 'reader', 'is strict', '', '175928847299117063' ],
	[ 'decimal_id()', 'generator', 'vu' ],
	[ 'decimal_id_parts(int8)', 'reader', 'is strict', '', '14150009200065' ],
	[ 'uuid_v7_ordered()', 'ticker', 'vu' ],

	# Text
	[ 'uuid_to_base(uuid,int4)', 'reader', 'is strict', '22023', qq{${v4}::pg_catalog.uuid, 58} ],
	[ 'bigint_to_base(int8,int4)', 'reader', 'is strict', '22023', '12345, 36' ],
	[ 'uuid_from_base(text,int4)', 'reader', 'is strict', '22003 22023 22P02', q{'c0ffee', 32} ],
	[ 'bigint_from_base(text,int4)', 'reader', 'is strict', '22003 22023 22P02', q{'c0ffee', 62} ],
	[ 'prefixed_id_from_uuid(text,uuid)', 'reader', 'is', '22004 22023', qq{'acct', $v7} ],
	[ 'prefixed_id_to_uuid(text,text)', 'reader', 'is', '22P02 22023 23514',
	q{'acct_03e6wlko0bp8e7c9916hklbnd', 'acct'} ],
	[ 'is_prefixed_id(text,text)', 'reader', 'is', '22023', q{'acct_03e6wlko0bp8e7c9916hklbnd', 'acct'} ],
	[ 'prefixed_id_prefix(text)', 'reader', 'is strict', '22P02', q{'acct_03e6wlko0bp8e7c9916hklbnd'} ],
	[ 'create_id_domain(text,text)', 'prefixes', 'vu', '22004 22023 23505 42710 42602 42601 42622 3F000 0A000 42501',
	q{'public.thing_id', 'thing'} ],
	[ 'parse_prefixed_id(text)', 'prefixes', 'ss strict', '22P02', q{'acct_03e6wlko0bp8e7c9916hklbnd'} ],
	[ 'typeid_from_uuid(text,uuid)', 'reader', 'is', '22004 22023', qq{'user', $v7} ],
	[ 'typeid(text,timestamptz)', 'generator', 'vs', '22004 22008 22023', q{'user'} ],
	[ 'is_typeid(text,text)', 'reader', 'is', '22023', qq{$typeid, 'user'} ],
	[ 'typeid_to_uuid(text,text)', 'reader', 'is', '22023 22P02 23514', $typeid ],
	[ 'typeid_prefix(text)', 'reader', 'is strict', '22P02', $typeid ],
	[ 'ulid_to_uuid(text)', 'reader', 'is strict', '22P02', $ulid ],
	[ 'ulid_from_uuid(uuid)', 'reader', 'is strict', '', $v7 ],
	[ 'is_ulid(text)', 'reader', 'is strict', '', $ulid ],
	[ 'ulid_timestamp(text)', 'reader', 'is strict', '22P02', $ulid ],
	[ 'ulid_within(text,timestamptz,timestamptz)', 'reader', 'is', '', qq{$ulid, $before, $instant} ],

	# Functions that use the key file
	[ 'mask_uuid_v7(uuid,text)', 'key', 'sr', '22004 22023 42704', $v7 ],
	[ 'unmask_uuid_v7(uuid,text)', 'key', 'sr', '22004 22023 42704', $v4 ],
	(map { [ "$_(int8,text,int8,text)", 'key', 'sr', '22004 22021 22023 42704', q{42, 'orders', 1000} ] }
		qw(permute unpermute)),
	[ 'hmac_comb(text,text,interval)', 'key', 'vr', '22004 22021 22023 42704', q{'orders', 'default', '1 hour'} ],
	[ 'hmac_comb_at(timestamptz,text,text,interval)', 'key', 'vr', '22004 22008 22021 22023 42704',
	qq{$instant, 'orders', 'default', '1 hour'} ],
	[ 'is_recent_hmac_comb(uuid,text,text,interval,interval,interval,interval,timestamptz)', 'key', 'sr',
	'22004 22008 22021 22023 42704', qq{$hmac, '', 'default', clock => $instant} ],
	[ 'check_recent_hmac_id()', 'trigger', 'vr' ],

	# Creating once
	[ 'create_once(uuid,uuid,text,jsonb)', 'creations', 'vu', '22003 22004 22021 23514',
		qq{$v4, ${v7}::pg_catalog.uuid, 'order', $request} ],
	[ 'create_once_bigint(uuid,int8,text,jsonb)', 'creations', 'vu', '22003 22004 22021 23514',
	qq{$v7, 7, 'order', $request} ],
	[ 'create_once_text(uuid,text,text,jsonb)', 'creations', 'vu', '22003 22004 22021 22023 23514',
	qq{$v1, $object, 'order', $request} ],
	[ 'forget_creation(uuid)', 'creations', 'vu strict', '', $v1 ],
	[ 'forget_creation_of(uuid)', 'creations', 'vu strict', '', qq{${v1}::pg_catalog.uuid} ],
	[ 'forget_creation_of_bigint(int8,text)', 'creations', 'vu strict', '', q{8, 'order'} ],
	[ 'forget_creation_of_text(text,text)', 'creations', 'vu strict', '', q{'none', 'order'} ],
	[ 'purge_creations(interval,text,int8)', 'creations', 'vu', '22004 22023', q{'1 hour', 'order', 10} ],
	[ 'trim_creations(int8,text,int8)', 'creations', 'vu', '22004 22023', q{1000, 'order', 10} ],
	[ 'remember_command(_uuid,uuid,int8)', 'reader', 'is', '22000 2201W', qq{ARRAY[$v1, $v7]::pg_catalog._uuid, $v4} ],
	[ 'has_command(_uuid,uuid)', 'reader', 'is', '', qq{ARRAY[$v1, $v7]::pg_catalog._uuid, $v7} ],

	# The functions of the extension idgen_advisor, if it is installed
	[ 'expected_key_cost(text,float8,float8,float8,int4,int4,float8)', 'advisor', 'is', '22004 22023 42704',
		q{'random', 1000000, 1000} ],
	[ 'internal_flushed_wal(pg_lsn,pg_lsn)', 'advisor', 'vr', '22023', q{'0/0', '0/0'} ],
	[ 'internal_index_measures(regclass,int8)', 'advisor', 'vr', '22023', q{'public.things_pkey', 100} ],
	[ 'internal_index_instead(oid)', 'advisor', 'ss', '', q{'public.things_pkey'::pg_catalog.regclass} ],
	[ 'internal_key_advice(oid,float8,float8,bool)', 'advisor', 'ss', '',
		q{'public.things_pkey'::pg_catalog.regclass, 100, 4, false} ],
	[ 'internal_new_keys(oid,int2,bool)', 'advisor', 'ss', '',
		q{'public.things'::pg_catalog.regclass, 1::int2, false} ],
	[ 'internal_rates(interval)', 'advisor', 'vr', '', q{'1 hour'} ],
	[ 'index_report(regclass,int8,interval)', 'advisor', 'vr', '22004 22023', q{'public.things_pkey'} ],
	[ 'index_reports(int8,bool,interval)', 'advisor', 'vu strict', '', '1000000000000, true' ],
	[ 'index_wal(pg_lsn,pg_lsn)', 'advisor', 'vu strict', '22023 55000 58P01', '-' ],
	[ 'key_plan(numeric,interval,interval,int4)', 'advisor', 'is strict', '22023', q{100, '1 hour'} ],
);

# For each function: signature, name, kind, attributes, errors (a list) and arguments
our @functions = map {
	my ($signature, $kind, $attributes, $errors, $arguments) = @$_;
	+{ signature => $signature, name => $signature =~ s/\(.*//r, kind => $kind, attributes => $attributes,
		errors => [ split ' ', $errors // '' ], arguments => $arguments // '' }
} @rows;

our @tickers = map { $_->{name} } grep { $_->{kind} eq 'ticker' } @functions;
# A trigger function can use keys, too.
our @of_keys = sort map { $_->{name} } grep { $_->{kind} eq 'key' || $_->{name} eq 'check_recent_hmac_id' } @functions;
our @sequences = (map({ "${_}_mark" } @tickers), 'decimal_id_counter');

# Only these combinations of kind and attributes are correct, for the reasons given here. Workers have the leader's
# settings, snapshot and statement timestamp. They do not have the leader's other state, such as keys, counters and
# random bits.
our %reason_of = (
	'generator vs' => 'each process counts and draws for itself',
	'generator vu' => 'increases a sequence',
	'ticker vu' => 'writes a sequence',
	'reader is' => 'depends on its arguments alone',
	'reader ss' => 'depends on the time of the statement, too',
	'key sr' => 'a worker would read the key file anew',
	'key vr' => 'a worker would read the key file anew',
	'creations vu' => 'writes a table',
	'prefixes vu' => 'writes a table',
	'prefixes ss' => 'reads a table',
	'trigger is' => 'only the planner calls it',
	'trigger vs' => 'only INSERT and UPDATE call it, which have no workers',
	'trigger vr' => 'uses a key',
	'advisor is' => 'depends on its arguments alone',
	'advisor ss' => 'reads catalogs',
	'advisor vr' => 'only the leader has its temporary tables and its view of the statistics, and waits for the WAL',
	'advisor vu' => 'starts a subtransaction');

# A query for the functions that are installed, with their attributes
our $installed = q{
	SELECT p.proname || '(' || coalesce((SELECT string_agg(t.typname, ',' ORDER BY n)
			FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) JOIN pg_type t ON t.oid = a.type), '')
			  || ')' AS signature,
		concat(provolatile, proparallel, CASE WHEN proisstrict THEN ' strict' END,
			CASE WHEN prosecdef THEN ' definer' END) AS attributes,
		p.*
	FROM pg_proc p
	WHERE pronamespace = 'idgen'::regnamespace};

# Install idgen, and idgen_advisor if it is available. Return whether the functions of idgen_advisor exist.
sub install
{
	my ($node, $database) = @_;
	$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS idgen');
	my $available = $node->safe_psql($database, q{SELECT 1 FROM pg_available_extensions WHERE name = 'idgen_advisor'});
	$node->safe_psql($database, 'CREATE EXTENSION idgen_advisor') if $available;
	return $available;
}

# Add the keys "default", "shared", "v2", "app" and "app2" to a node that is not running, and return the node.
sub add_key
{
	my ($node) = @_;
	my $file = $node->data_dir . '/idgen_keys';
	append_to_file($file, "default 000102030405060708090a0b0c0d0e0f\nv2 fedcba98765432100123456789abcdef\n"
		  . "shared ffeeddccbbaa99887766554433221100\nshared2 00112233445566778899aabbccddeeff\n"
		  . "app 5e1f0c00000000000000000000000001\napp2 5e1f0c00000000000000000000000002\n");
	chmod 0600, $file or die "chmod $file: $!";
	$node->append_conf('postgresql.conf', 'idgen.key_file = idgen_keys');
	return $node;
}

# Return the functions in the list that are installed.
sub installed
{
	my ($node, $database) = @_;
	my %installed = map { $_ => 1 } split /\n/, $node->safe_psql($database, "SELECT signature FROM ($installed) p");
	return grep { $installed{ $_->{signature} } } @functions;
}

# The literals in the arguments. For each reader, they include a string that it accepts.
our @literals = map { $_->{arguments} =~ /('[^']*')/g } @functions;

sub call { my ($function) = @_; return "idgen.$function->{name}($function->{arguments})" }

# The generators that need neither a ticker nor a sequence, with a call to each
my @needs_nothing = grep { $_->{kind} eq 'generator' && $_->{attributes} =~ /^vs/ } @functions;
our @independent = map { call($_) } @needs_nothing;
our @independent_names = map { $_->{name} } @needs_nothing;
1;
