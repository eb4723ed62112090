# Every function of idgen: who may call it, and that none of them is led astray
# by a search_path of look-alikes. Then the pool of random bits, seen from
# outside, in the memory of the server's processes: what was handed out is
# nowhere in it any more, and no process goes on with the pool of another.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('secrets');
$node->init;
$node->append_conf('postgresql.conf', q{
idgen.node_id = 1
idgen.launch_id = 1
log_statement = none
autovacuum = off
});
$node->start;

# ---------------------------------------------------------------------------
# What there is: a function, who may call it, and how
# ---------------------------------------------------------------------------

my $v1 = q{'c232ab00-9414-11ec-b3c8-9f6bdeced846'};
my $v4 = q{'919108f7-52d1-4320-9bac-f847db4148a8'};
my $v6 = q{'1ec9414c-232a-6b00-b3c8-9f6bdeced846'};
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'};
my $lambert = q{'1ec9414c-232a-db00-b3c8-9f6bdeced846'};
my $minute_0 = q{'00000000-0000-4000-8000-000000000000'};
my $object = q{'507f1f77bcf86cd799439011'};
my $instant = q{'2026-01-01 00:00:00+00'};
my $typeid = q{'user_01h455vb4pex5vsknk084sn02q'};
my $ulid = q{'01ARZ3NDEKTSV4RRFFQ69G5FAV'};

# anybody: no rights are needed
# creations, prefixes, tickers: rights on that table or sequence are needed
# server: not to be called from SQL at all
my @functions = (
	[ anybody => 'uuid_v4()', '' ],
	[ anybody => 'uuid_v5(uuid,text)', "$v4, 'name'" ],
	[ anybody => 'uuid_v7(timestamptz)', '' ],
	[ anybody => 'uuid_v7_ordered()', '' ],
	[ anybody => 'uuid_v1()', '' ],
	[ anybody => 'uuid_v6()', '' ],
	[ anybody => 'lambert_comb()', '' ],
	[ anybody => 'comb(timestamptz)', '' ],
	[ anybody => 'short_comb(interval,int4,int4,timestamptz)', q{'30 seconds', 3, 100} ],
	[ anybody => 'suffix_comb(timestamptz)', '' ],
	[ anybody => 'short_suffix_comb(interval,timestamptz)', q{'30 seconds'} ],
	[ anybody => 'sequence_comb(regclass,int4,int4)', q{'public.numbers'} ],

	[ anybody => 'uuid_v1_to_v6(uuid)', $v1 ],
	[ anybody => 'uuid_v6_to_v1(uuid)', $v6 ],
	[ anybody => 'uuid_v1_to_lambert_comb(uuid)', $v1 ],
	[ anybody => 'lambert_comb_to_uuid_v1(uuid)', $lambert ],
	[ anybody => 'swap_guid_bytes(uuid)', $v4 ],
	[ anybody => 'prefix_to_suffix(uuid)', $v4 ],
	[ anybody => 'suffix_to_prefix(uuid)', $v4 ],
	[ anybody => 'short_prefix_to_suffix(uuid)', $v4 ],
	[ anybody => 'short_suffix_to_prefix(uuid)', $v4 ],

	[ anybody => 'uuid_version(uuid)', $v4 ],
	[ anybody => 'uuid_variant(uuid)', $v4 ],
	[ anybody => 'uuid_timestamp(uuid)', $v7 ],
	[ anybody => 'uuid_text_timestamp(text)', $v7 ],
	[ anybody => 'comb_timestamp(uuid)', $v4 ],
	[ anybody => 'suffix_comb_timestamp(uuid)', $v4 ],
	[ anybody => 'short_comb_timestamp(uuid,timestamptz,interval,int4)', "$v4, $instant" ],
	[ anybody => 'inspect(uuid)', $v7 ],
	[ anybody => 'uuid_v7_floor(timestamptz)', $instant ],
	[ anybody => 'uuid_v7_ceil(timestamptz)', $instant ],
	[ anybody => 'comb_floor(timestamptz)', $instant ],
	[ anybody => 'comb_ceil(timestamptz)', $instant ],
	[ anybody => 'uuid_v7_within(uuid,timestamptz,timestamptz)', "$v7, $instant, $instant" ],
	[ anybody => 'comb_within(uuid,timestamptz,timestamptz)', "$v4, $instant, $instant" ],
	[ anybody => 'uuid_smaller(uuid,uuid)', "$v4, $v7" ],
	[ anybody => 'uuid_larger(uuid,uuid)', "$v4, $v7" ],
	[ anybody => 'min(uuid)', "$v4\::pg_catalog.uuid" ],
	[ anybody => 'max(uuid)', "$v4\::pg_catalog.uuid" ],

	[ anybody => 'is_uuid(text,int4)', $v4 ],
	[ anybody => 'is_recent_short_comb(uuid,interval,timestamptz,interval,int4,interval,interval)', "$minute_0, '1 hour', '1970-01-01 00:05:00+00'" ],
	[ anybody => 'is_recent_comb(uuid,interval,timestamptz,interval,interval)', "idgen.comb_floor($instant), '1 hour', $instant" ],
	[ anybody => 'is_recent_uuid_v7(uuid,interval,timestamptz,interval,interval)', "idgen.uuid_v7_floor($instant), '1 hour', $instant" ],
	[ anybody => 'check_recent_short_comb(uuid,interval,timestamptz,interval,int4,interval,interval)', "$minute_0, '1 hour', '1970-01-01 00:05:00+00'" ],
	[ anybody => 'check_recent_comb(uuid,interval,timestamptz,interval,interval)', "idgen.comb_floor($instant), '1 hour', $instant" ],
	[ anybody => 'check_recent_uuid_v7(uuid,interval,timestamptz,interval,interval)', "idgen.uuid_v7_floor($instant), '1 hour', $instant" ],
	[ server => 'check_on_insert()' ],

	[ anybody => 'snowflake(timestamptz)', '' ],
	[ anybody => 'snowflake_timestamp(int8,timestamptz)', '175928847299117063' ],
	[ anybody => 'snowflake_node(int8)', '175928847299117063' ],
	[ anybody => 'snowflake_counter(int8)', '175928847299117063' ],
	[ anybody => 'snowflake_floor(timestamptz,timestamptz)', $instant ],
	[ anybody => 'snowflake_ceil(timestamptz,timestamptz)', $instant ],
	[ anybody => 'snowflake_within(int8,timestamptz,timestamptz,timestamptz)', "175928847299117063, $instant, $instant" ],
	[ anybody => 'trace_id()', '' ],
	[ anybody => 'trace_id_timestamp(int8,timestamptz)', "175928847299117063, $instant" ],
	[ anybody => 'trace_id_node(int8)', '175928847299117063' ],
	[ anybody => 'trace_id_counter(int8)', '175928847299117063' ],
	[ anybody => 'js_id(timestamptz)', '' ],
	[ anybody => 'js_id_timestamp(int8,timestamptz)', '175928847299117' ],
	[ anybody => 'js_id_node(int8)', '175928847299117' ],
	[ anybody => 'js_id_counter(int8)', '175928847299117' ],
	[ anybody => 'js_id_floor(timestamptz,timestamptz)', $instant ],
	[ anybody => 'js_id_ceil(timestamptz,timestamptz)', $instant ],
	[ anybody => 'js_id_within(int8,timestamptz,timestamptz,timestamptz)', "175928847299117, $instant, $instant" ],
	[ anybody => 'decimal_id()', '' ],
	[ anybody => 'decimal_id_parts(int8)', '14150009200065' ],
	[ anybody => 'ticker_state(text)', q{'snowflake'} ],
	[ tickers => 'raise_ticker(text,int8)', q{'decimal_id', 1} ],

	[ anybody => 'object_id()', '' ],
	[ anybody => 'is_object_id(text)', $object ],
	[ anybody => 'object_id_timestamp(text)', $object ],
	[ anybody => 'object_id_floor(timestamptz)', $instant ],
	[ anybody => 'object_id_ceil(timestamptz)', $instant ],

	[ anybody => 'uuid_to_base(uuid,int4)', "$v4\::pg_catalog.uuid, 58" ],
	[ anybody => 'bigint_to_base(int8,int4)', '12345, 36' ],
	[ anybody => 'uuid_from_base(text,int4)', q{'c0ffee', 32} ],
	[ anybody => 'bigint_from_base(text,int4)', q{'c0ffee', 62} ],
	[ anybody => 'prefixed_id(text,uuid)', "'acct', $v7" ],
	[ anybody => 'prefixed_id_to_uuid(text,text)', q{'acct_03e6wlko0bp8e7c9916hklbnd', 'acct'} ],
	[ anybody => 'is_prefixed_id(text,text)', q{'acct_03e6wlko0bp8e7c9916hklbnd', 'acct'} ],
	[ anybody => 'prefixed_id_prefix(text)', q{'acct_03e6wlko0bp8e7c9916hklbnd'} ],
	[ prefixes => 'create_id_domain(text,text)', q{'public.thing_id', 'thing'} ],
	[ prefixes => 'parse_prefixed_id(text)', q{'acct_03e6wlko0bp8e7c9916hklbnd'} ],
	[ anybody => 'typeid_from_uuid(text,uuid)', "'user', $v7" ],
	[ anybody => 'typeid(text)', q{'user'} ],
	[ anybody => 'typeid_to_uuid(text)', $typeid ],
	[ anybody => 'typeid_prefix(text)', $typeid ],
	[ anybody => 'ulid()', '' ],
	[ anybody => 'ulid_to_uuid(text)', $ulid ],
	[ anybody => 'ulid_from_uuid(uuid)', $v7 ],
	[ anybody => 'ulid_timestamp(text)', $ulid ],
	[ anybody => 'ulid_floor(timestamptz)', $instant ],
	[ anybody => 'ulid_ceil(timestamptz)', $instant ],
	[ anybody => 'ulid_within(text,timestamptz,timestamptz)', "$ulid, $instant, $instant" ],

	[ creations => 'create_once(uuid,uuid,text,jsonb)', qq{$v4, $v7\::pg_catalog.uuid, 'order', '{"a": [1, 2.50, "x", null, true]}'} ],
	[ creations => 'create_once_bigint(uuid,int8,text,jsonb)', qq{$v7, 7, 'order', '{"a": [1, 2.50, "x", null, true]}'} ],
	[ creations => 'find_creation(uuid)', $v4 ],
	[ creations => 'forget_creation(uuid)', $v1 ],
	[ creations => 'forget_creation_of(uuid)', "$v1\::pg_catalog.uuid" ],
	[ creations => 'forget_creation_of_bigint(int8)', '8' ],
	[ creations => 'purge_creations(interval,int8)', q{'1 hour', 10} ],
	[ creations => 'trim_creations(int8,text)', q{1000, 'order'} ],
	[ anybody => 'remember_command(_uuid,uuid,int4)', "'{}', $v4" ],
	[ anybody => 'has_command(_uuid,uuid)', "'{}', $v4" ],

	[ anybody => 'expected_key_cost(text,float8,float8,float8,int4,int4,int4,float8)', q{'random', 1000000, 1000} ],
	[ anybody => 'advise_short_comb(float8,int8,int8,interval)', '100, 500000000' ],
	[ anybody => 'index_report(regclass,int4,timestamptz)', q{'public.things_pkey'} ]);

# The statement that calls one: each in a transaction that leaves nothing
# behind.
my %statement = map {
	my ($class, $signature, $arguments) = @$_;
	my ($name) = $signature =~ /^(\w+)/;

	# an aggregate stands in no FROM clause
	my $from = $name =~ /^m(in|ax)$/ ? '' : '* FROM ';

	$class eq 'server' ? () : ($signature => "SELECT ${from}idgen.$name($arguments)")
} @functions;
my %class = map { $_->[1] => $_->[0] } @functions;

# The results of named statements, in one session that begins with $preamble:
# the rows, or the SQLSTATE of the error.
sub results
{
	my ($role, $preamble, %statements) = @_;
	my ($output, $errors, %result);
	my $script = "$preamble;\n\\echo begin :SQLSTATE\n";

	for my $name (sort keys %statements)
	{
		$script .= "\\echo >> $name\nBEGIN;\n$statements{$name};\n\\echo << :SQLSTATE\nROLLBACK;\n";
	}
	$node->psql(
		'postgres', $script,
		on_error_stop => 0,
		stdout => \$output,
		stderr => \$errors,
		extra_params => [ '--username', $role ]);
	like($output, qr/^begin 00000$/m, "a session of $role begins") or diag($errors);
	while ($output =~ /^>> (.*?)\n(.*?)<< (\w{5})$/msg)
	{
		$result{$1} = $3 eq '00000' ? $2 : $3;
	}
	is(scalar keys %result, scalar keys %statements, 'and every statement has a result') or diag($errors);
	return %result;
}

sub ask
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query);
}

ask(q{
	CREATE EXTENSION idgen_advisor CASCADE;
	CREATE ROLE stranger LOGIN;
	CREATE SEQUENCE public.numbers;
	GRANT USAGE ON SEQUENCE public.numbers TO PUBLIC;
	CREATE TABLE public.things (id uuid PRIMARY KEY DEFAULT idgen.short_comb());
	GRANT SELECT ON public.things TO PUBLIC;
	INSERT INTO public.things SELECT FROM generate_series(1, 1000);
	CREATE TABLE public.guarded (id uuid);
	CREATE TRIGGER guarded_id BEFORE INSERT ON public.guarded
		FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb', '1 hour');
	ANALYZE});
my $superuser = ask('SELECT current_user');

my @there = split /\n/, ask(q{
	SELECT p.proname || '(' || coalesce((SELECT string_agg(t.typname, ',' ORDER BY n)
		FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) JOIN pg_type t ON t.oid = a.type), '') || ')'
	FROM pg_proc p
	WHERE p.pronamespace = 'idgen'::regnamespace});
is_deeply([ sort @there ], [ sort keys %class ], 'every function of idgen is in the list of this test, and no other');
is( ask(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace
		  AND NOT has_function_privilege('stranger', oid, 'EXECUTE')}),
	'0', 'rights on tables decide, not rights on functions');

# Anybody's
my %seen = results('stranger', 'SELECT 1', %statement);
for my $signature (sort keys %statement)
{
	if ($class{$signature} eq 'anybody')
	{
		unlike($seen{$signature}, qr/^\w{5}\z/, "a stranger may call $signature");
		isnt($seen{$signature}, '', "and gets an answer from $signature");
	}
	else
	{
		is($seen{$signature}, '42501', "a stranger may not call $signature");
	}
}
is( ask(q{SELECT count(*) FROM pg_proc
		  WHERE pronamespace = 'idgen'::regnamespace AND ('internal'::regtype = ANY (proargtypes) OR prorettype = 'trigger'::regtype)}),
	scalar(grep { $_ eq 'server' } values %class),
	'those for the server alone take or return what SQL has not');

# ---------------------------------------------------------------------------
# A search_path of look-alikes
# ---------------------------------------------------------------------------

is( ask(q{SELECT count(*) FROM pg_proc
		  WHERE pronamespace = 'idgen'::regnamespace AND prosecdef
		  AND NOT coalesce(proconfig::text LIKE '%search_path=%', false)}),
	'0', 'no function has the rights of its owner without a search_path of its own');
is( ask(q{SELECT count(*) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
		  WHERE pronamespace = 'idgen'::regnamespace AND prokind = 'f'
		  AND lanname <> 'c' AND NOT (lanname = 'sql' AND prosqlbody IS NOT NULL)
		  AND proname <> 'ulid_within'}),
	'0', 'names in functions that are not C are looked up once and for all, but for the one that takes the collation of its caller');

# A double of every operator and function of pg_catalog and idgen over the types
# that occur here, and of the names of tables and types. Whichever is used
# takes a number from a sequence, which no rollback gives back, and fails.
ask(q{
	CREATE SCHEMA hostile;
	CREATE SEQUENCE hostile.used;
	CREATE FUNCTION hostile.spring() RETURNS void LANGUAGE plpgsql
		AS $$ BEGIN PERFORM pg_catalog.nextval('hostile.used'); RAISE EXCEPTION 'trapped' USING ERRCODE = 'TRAP0'; END $$;
	CREATE FUNCTION hostile.spring_rows() RETURNS SETOF int LANGUAGE plpgsql
		AS $$ BEGIN PERFORM hostile.spring(); END $$;
	CREATE FUNCTION hostile.spring_value(text) RETURNS boolean LANGUAGE plpgsql
		AS $$ BEGIN PERFORM hostile.spring(); END $$;
	CREATE TABLE public.types AS
		SELECT t.oid FROM pg_type t
		WHERE t.oid = ANY ('{uuid,text,int2,int4,int8,timestamptz,timestamp,interval,boolean,bytea,float8,numeric,
			oid,regclass,regtype,name,jsonb,"char",uuid[],text[],anyarray,anyelement}'::regtype[]);
	DO $do$
	DECLARE
		double record;
	BEGIN
		FOR double IN
			SELECT o.oid, oprname AS name, nullif(oprleft, 0)::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result
			FROM pg_operator o
			WHERE (oprleft = 0 OR oprleft IN (TABLE public.types)) AND oprright IN (TABLE public.types)
			AND oprresult IN (SELECT oid FROM pg_type WHERE typtype <> 'p')
		LOOP
			EXECUTE format('CREATE FUNCTION hostile.spring_%s(%s) RETURNS %s LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''',
				double.oid, concat_ws(', ', double.l, double.r), double.result);
			EXECUTE format('CREATE OPERATOR hostile.%s (%s RIGHTARG = %s, FUNCTION = hostile.spring_%s)',
				double.name, 'LEFTARG = ' || double.l || ', ', double.r, double.oid);
		END LOOP;
		FOR double IN
			SELECT proname AS name, proretset AS set, prorettype::regtype AS result,
				(SELECT string_agg(format_type(type, NULL), ', ' ORDER BY n) FROM unnest(proargtypes) WITH ORDINALITY a (type, n)) AS arguments
			FROM pg_proc p
			WHERE pronamespace IN ('pg_catalog'::regnamespace, 'idgen'::regnamespace) AND prokind IN ('f', 'a')
			AND provariadic = 0
			AND NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN (TABLE public.types))
			AND (prorettype IN (SELECT oid FROM pg_type WHERE typtype <> 'p')
				 OR prorettype IN (TABLE public.types) AND proargtypes::oid[] && '{anyarray,anyelement}'::regtype[]::oid[])
		LOOP
			EXECUTE format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.spring(); END''',
				double.name, double.arguments, concat(CASE WHEN double.set THEN 'SETOF ' END, double.result));
		END LOOP;
	END $do$;
	CREATE FUNCTION hostile.num_nonnulls(VARIADIC "any") RETURNS int LANGUAGE internal AS 'pg_num_nulls'});
for my $table (qw(creation_identifiers id_prefixes tickers))
{
	ask("CREATE VIEW hostile.$table AS SELECT * FROM hostile.spring_rows()");
}
for my $type (qw(uuid text regtype regclass timestamptz int8 int4 interval jsonb float8 bytea))
{
	ask(qq{CREATE DOMAIN hostile.$type AS pg_catalog.text CHECK (hostile.spring_value(VALUE))});
}
cmp_ok(ask(q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace}), '>', 200, 'there are doubles of operators');
cmp_ok(ask(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace}), '>', 500, 'and of functions');

# The same again in the schema of temporary objects, where only tables and
# types are looked for; and that one first of all.
my $hostile = join(";\n",
	(map { "CREATE TEMP VIEW $_ AS SELECT * FROM hostile.spring_rows()" } qw(creation_identifiers id_prefixes tickers)),
	(map { "CREATE DOMAIN pg_temp.$_ AS pg_catalog.text CHECK (hostile.spring_value(VALUE))" } qw(uuid text regtype interval)),
	'SET search_path = pg_temp, hostile, pg_catalog, public');

my %bait = (
	'an operator' => 'SELECT 1 WHERE 1 < 2',
	'equality of uuids' => "SELECT $v4\::pg_catalog.uuid = $v4\::pg_catalog.uuid",
	'text put together' => q{SELECT 'a'::pg_catalog.text || 'b'::pg_catalog.text},
	'a pattern' => q{SELECT 'a'::pg_catalog.text ~ 'b'::pg_catalog.text},
	'arrays' => q{SELECT pg_catalog.string_to_array('a', ',') = pg_catalog.string_to_array('a', ',')},
	'now()' => 'SELECT now()',
	'format_type()' => 'SELECT format_type(25, 1)',
	'lower()' => q{SELECT lower('A')},
	'nextval()' => q{SELECT nextval('public.numbers')},
	'unnest()' => q{SELECT unnest(pg_catalog.string_to_array('a', ','))},
	'a function of idgen' => 'SELECT uuid_v4()',
	'a table of idgen' => 'SELECT * FROM creation_identifiers',
	'a view of idgen' => 'SELECT * FROM hostile.tickers',
	'a type' => "SELECT $v4\::uuid",
	'a type that is not temporary' => "SELECT 1::int8");
my %trapped = results($superuser, $hostile, %bait);
is($trapped{$_}, 'TRAP0', "the trap springs: $_") for sort keys %bait;
is(ask('SELECT last_value FROM hostile.used'), scalar keys %bait, 'and tells how often');

# What is no function by itself
my %more = (
	'trigger' => "SET idgen.clock = '1970-01-01 00:05:00+00'; INSERT INTO public.guarded VALUES ($minute_0) RETURNING id",
	'default' => 'INSERT INTO public.things DEFAULT VALUES RETURNING id',
	'default argument' => q{SELECT idgen.prefixed_id('acct')},
	'view' => 'TABLE idgen.tickers',
	'domain' => q{SELECT idgen.create_id_domain('public.thing_id', 'thing'); SELECT 'thing_03e6wlko0bp8e7c9916hklbnd'::public.thing_id},
	'known prefix' => q{SELECT idgen.create_id_domain('public.thing_id', 'thing'); SELECT * FROM idgen.parse_prefixed_id('thing_1')},
	'replay' => "SELECT * FROM idgen.create_once_bigint($v1, 1); SELECT * FROM idgen.create_once_bigint($v1, 2)",
	'forget' => "SELECT * FROM idgen.create_once_bigint($v1, 1); SELECT * FROM idgen.forget_creation($v1); SELECT * FROM idgen.find_creation($v1)",
	'purge' => "SELECT * FROM idgen.create_once_bigint($v1, 1); SELECT * FROM idgen.purge_creations('0')",
	'trim' => "SELECT * FROM idgen.create_once_bigint($v1, 1); SELECT * FROM idgen.trim_creations(0)");

my %expected = results($superuser, 'SELECT 1', %statement, %more);
ask('ALTER SEQUENCE hostile.used RESTART');
my %got = results($superuser, $hostile, %statement, %more);
my %volatile = map { $_ => 1 } split /\n/, ask(q{
	SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND provolatile = 'v'});

for my $name (sort keys %expected)
{
	my ($function) = $name =~ /^(\w+)/;
	my ($expected, $got) = ($expected{$name}, $got{$name});

	# what is made anew each time, in a form that says what it is
	if ($volatile{$function} && $class{$name} eq 'anybody' || $name =~ /^(default|view)/ || $name eq 'find_creation(uuid)')
	{
		s/(?<![\w-])-?\d[\d.]*e[-+]\d+(?![\w-])|-?[0-9a-zA-Z.]+/x/g for $expected, $got;
	}
	unlike($expected{$name}, qr/^\w{5}\z/, "$name: works");
	is($got, $expected, "$name: and does the same among look-alikes");
}
is(ask('SELECT is_called FROM hostile.used'), 'f', 'none of the look-alikes was used');

# Also the extension itself comes from what it names.
ask(q{DROP TABLE public.things, public.guarded; DROP EXTENSION idgen CASCADE});
my %made = results($superuser, $hostile, 'create' => q{CREATE EXTENSION idgen_advisor CASCADE; COMMIT});
is($made{create}, '', 'the extensions are created among look-alikes');
is( ask(q{SELECT count(*) FROM pg_depend d JOIN pg_depend e ON d.classid = e.classid AND d.objid = e.objid
		  WHERE e.refclassid = 'pg_extension'::regclass AND e.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('idgen', 'idgen_advisor'))
		  AND (d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace)
			OR d.refclassid = 'pg_operator'::regclass AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace)
			OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN
				(SELECT oid FROM pg_type WHERE typnamespace::regnamespace::text ~ '^(hostile|pg_temp)'))}),
	'0', 'and depend on none of them');
is(ask('SELECT is_called FROM hostile.used'), 'f', 'nor used one');
%got = results('stranger', 'SELECT 1', 'uuid_version' => "SELECT idgen.uuid_version($v4)");
is($got{uuid_version}, "4\n", 'and works');

# ---------------------------------------------------------------------------
# The pool of random bits
# ---------------------------------------------------------------------------

# The writable memory that a process shares with nobody, but for its stack:
# [first address, name of the mapping, bytes] each
sub private_memory
{
	my ($pid) = @_;
	my @regions;

	open my $maps, '<', "/proc/$pid/maps" or return;
	open my $memory, '<:raw', "/proc/$pid/mem" or return;
	while (my $line = <$maps>)
	{
		my ($from, $to, $mode, $name) = $line =~ /^(\w+)-(\w+) (\S+) \S+ \S+ \d+\s*(.*)$/;
		my $bytes = '';

		next if $mode !~ /^rw.p/ || $name =~ /^\[(stack|v)/;
		no warnings 'portable';
		($from, $to) = (hex $from, hex $to);
		sysseek($memory, $from, 0) or next;
		while (length $bytes < $to - $from)
		{
			sysread($memory, $bytes, $to - $from - length $bytes, length $bytes) or last;
		}
		push @regions, [ $from, $name, $bytes ];
	}
	return @regions;
}

# So many bytes at an address; the same to be shown; and bytes put there.
sub peek
{
	my ($pid, $address, $length) = @_;
	my $bytes;

	open my $memory, '<:raw', "/proc/$pid/mem" or die "cannot read the memory of $pid: $!";
	sysseek($memory, $address, 0) or die $!;
	sysread($memory, $bytes, $length) == $length or die "cannot read the memory of $pid: $!";
	return $bytes;
}

sub show
{
	return unpack('H*', peek(@_));
}

sub zeros
{
	return '00' x $_[0];
}

sub poke
{
	my ($pid, $address, $bytes) = @_;

	open my $memory, '+<:raw', "/proc/$pid/mem" or die "cannot write the memory of $pid: $!";
	sysseek($memory, $address, 0) or die $!;
	syswrite($memory, $bytes) == length $bytes or die "cannot write the memory of $pid: $!";
}

# Where in a memory some bytes are: addresses
sub places
{
	my ($bytes, @memory) = @_;
	my @places;

	for my $region (@memory)
	{
		my $at = -1;

		push @places, $region->[0] + $at while ($at = index($region->[2], $bytes, $at + 1)) >= 0;
	}
	return @places;
}

my $little_endian = unpack('C', pack('S', 1));

# The two words of the pool that a version 4 was made of: 60 bits of the first
# are before and behind the version, 62 of the second behind the variant. Of
# both, the seven bytes that are known whole. Which of the two is taken from
# the pool first is up to the compiler.
my $second_first = 0;

sub words_of
{
	my ($uuid) = @_;
	my @words;

	no warnings 'portable';
	$uuid =~ s/-//g;
	push @words, hex(substr($uuid, 0, 12) . substr($uuid, 13, 3)) << 4;
	push @words, hex(substr($uuid, 16)) << 2;
	@words = reverse @words if $second_first;
	return map { substr(pack('Q', $_), $little_endian, 7) } @words;
}

my $make = 'SELECT idgen.uuid_v4() FROM generate_series';
my $pool_words = 512;

sub session
{
	my $session = $node->background_psql('postgres');

	return ($session, $session->query_safe('SELECT pg_backend_pid()'));
}

my ($session, $pid) = session();
$session->query_safe('SELECT idgen.uuid_v4()');
my @before = private_memory($pid);

SKIP:
{
	skip "the memory of the server's processes cannot be read here", 1 if !grep { length $_->[2] } @before;

	my @made = split /\n/, $session->query_safe("$make(1, 60)");
	my @after = private_memory($pid);
	my ($one, $two) = map { (places($_, @before))[0] } words_of($made[0]);
	$second_first = defined $one && defined $two && $two < $one;
	my @words = map { words_of($_) } @made;
	my @places = map { [ places($_, @before) ] } @words;

	is(scalar @words, 120, 'sixty identifiers were made of 120 words');
	is(scalar(grep { @$_ == 1 } @places), 120, 'each of the words was in the memory of the process before, once');
	my $first = $places[0][0] - $little_endian;
	my $pool = $first - 2 * 8;
	is_deeply([ map { $_->[0] - $little_endian } @places ], [ map { $first + 8 * $_ } 0 .. 119 ], 'and one behind the other');
	is(scalar(grep { places($_, @after) } @words), 0, 'now none of them is anywhere');
	is(show($pid, $pool, 122 * 8), zeros(122 * 8), 'but zeros in their place');
	my $rest = peek($pid, $pool + 122 * 8, ($pool_words - 122) * 8);
	is(scalar(grep { places($_, @before) == 1 } unpack '(a8)*', $rest), $pool_words - 122, 'and the words behind them wait where they were');

	# What is left in the pool is used up before there is a new one.
	@made = split /\n/, $session->query_safe("$make(1, 195)");
	is_deeply([ map { unpack 'H*', $_ } map { words_of($_) } @made ],
		[ map { unpack 'H*', substr($rest, 8 * $_ + $little_endian, 7) } 0 .. 389 ],
		'and are handed out next, to the last one');
	is(show($pid, $pool, $pool_words * 8), zeros($pool_words * 8), 'then the pool is empty');
	$session->query_safe('SELECT idgen.uuid_v4()');
	my $second = peek($pid, $pool, $pool_words * 8);
	is(unpack('H*', substr($second, 0, 16)), zeros(16), 'the next identifier takes two words of a new one');
	is(scalar(grep { $_ } unpack('Q*', $second)), $pool_words - 2, 'which is full');

	# A fork would have this pool, and another process id: as if the pool had
	# been filled by somebody else. Where the pool's owner is kept, the symbols
	# of the library tell.
	my ($library) = map { $_->[1] } grep { $_->[1] =~ m{/idgen\.so$} } @after;
	my ($symbols, $errors) = ('', '');
	IPC::Run::run([ 'nm', $library ], '>', \$symbols, '2>', \$errors) if grep { -x "$_/nm" } split /:/, $ENV{PATH};
	my %symbol = map { /^(\w+) [bBdD] (pool\w*)$/ ? ($2 => hex $1) : () } split /\n/, $symbols;

	SKIP:
	{
		skip 'nm does not tell where the library keeps the pool', 1 if !defined $symbol{pool};
		ok(defined $symbol{pool_owner}, 'the library keeps the owner of the pool') or skip 'there is no owner', 1;

		my $owner = $pool + $symbol{pool_owner} - $symbol{pool};
		is(unpack('i', peek($pid, $owner, 4)), $pid, 'the pool belongs to the process');
		poke($pid, $owner, pack('i', 1));
		@made = split /\n/, $session->query_safe("$make(1, 5)");
		my @unused = map { substr($second, 8 * $_ + $little_endian, 7) } 2 .. $pool_words - 1;
		my %unused = map { $_ => 1 } @unused;
		is(scalar(grep { $unused{$_} } map { words_of($_) } @made), 0, "the words of another's pool are not handed out");
		is(unpack('i', peek($pid, $owner, 4)), $pid, 'it drew one of its own');
		@after = private_memory($pid);
		is(scalar(grep { places($_, @after) } @unused), 0, 'and the other one is gone');
	}
	$session->quit;

	# Loaded by the postmaster: all processes have the pool in the same place.
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	$node->restart;
	($session, $pid) = session();
	my ($other, $other_pid) = session();
	my ($idle, $idle_pid) = session();
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	$session->query_safe('SELECT idgen.uuid_v4()');
	@before = private_memory($pid);
	my ($word) = words_of($session->query_safe('SELECT idgen.uuid_v4()'));
	$pool = (places($word, @before))[0] - $little_endian - 2 * 8;
	$other->query_safe($_) for "$make(1, 2)";

	my @pools = map { peek($_, $pool, $pool_words * 8) } $pid, $other_pid;
	is(scalar(grep { $_ } unpack('Q*', $_)), $pool_words - 4, 'loaded by the postmaster, a session has a pool') for @pools;
	my %first_pool = map { $_ => 1 } unpack('(a8)*', substr($pools[0], 4 * 8));
	is(scalar keys %first_pool, $pool_words - 4, 'of different words');
	is(scalar(grep { $first_pool{$_} } unpack('(a8)*', substr($pools[1], 4 * 8))), 0, 'another session has other ones');
	is(show($idle_pid, $pool, $pool_words * 8), zeros($pool_words * 8), 'a session that made no identifier has none');
	is(show($postmaster, $pool, $pool_words * 8), zeros($pool_words * 8), 'nor has the postmaster');
	$_->quit for $other, $idle;
}

$session->quit;
$node->stop;
done_testing();
