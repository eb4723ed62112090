# Verify that only the intended roles may call each function, and that hostile objects in the search_path do not change
# what a function does.

use Functions;
use Server;

my $node = Functions::add_key(init_server('secrets', q{
idgen.node_id = 1
idgen.launch_id = 1
log_statement = none
autovacuum = off
}));
$node->start;

my ($v1, $v4, $minute_0) = ($Functions::v1, $Functions::v4, $Functions::minute_0);

my $restricted = qr/^(creations|prefixes|tickers|key)$/;

# Run named statements in one session that begins with $preamble. Return the rows of each statement, or the SQLSTATE of
# its error. Each statement is rolled back.
sub results
{
	my ($role, $preamble, %statements) = @_;
	my $script = "\\set ON_ERROR_STOP off\n$preamble;\n\\echo begin :SQLSTATE\n";
	my %result;
	$script .= "\\echo >> $_\nBEGIN;\n$statements{$_};\n\\echo << :SQLSTATE\nROLLBACK;\n" for sort keys %statements;
	my ($output, $errors) = psql_said($script, user => $role);
	like($output, qr/^begin 00000$/m, "a session of $role begins") or diag($errors);
	$result{$1} = $3 eq '00000' ? $2 : $3 while $output =~ /^>> (.*?)\n(.*?)<< (\w{5})$/msg;
	is(scalar keys %result, scalar keys %statements, 'each statement has a result') or diag($errors);
	return %result;
}

my $has_advisor = Functions::install($node, 'postgres');
ask(q{
	CREATE ROLE stranger LOGIN;
	CREATE SEQUENCE public.numbers;
	GRANT USAGE ON SEQUENCE public.numbers TO PUBLIC;
	CREATE TABLE public.things (id uuid PRIMARY KEY);
	GRANT SELECT ON public.things TO PUBLIC;
	INSERT INTO public.things SELECT idgen.short_comb() FROM generate_series(1, 1000);
	CREATE TABLE public.guarded (id uuid PRIMARY KEY);
	INSERT INTO public.guarded VALUES ('00000000-0000-4000-8000-000000000000');
	ANALYZE});
my $users = q{
	ALTER TABLE public.things ALTER id SET DEFAULT idgen.short_comb();
	CREATE TRIGGER guarded_id BEFORE INSERT ON public.guarded
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb', 'tolerance=1 hour')};
my $superuser = ask('SELECT current_user');

# Call each function in the list, whose completeness t/003_properties.pl checks. An aggregate cannot be called in FROM.
my @functions = Functions::installed($node, 'postgres');
my %statement = map { $_->{signature} => 'SELECT ' . ($_->{name} =~ /^m(in|ax)$/ ? '' : '* FROM ')
  . Functions::call($_) }
  grep { $_->{kind} ne 'trigger'
  && $_->{name} !~ /^index_(wal|reports)$/ } @functions;    # They need pg_walinspect and large indexes.
my %kind = map { $_->{signature} => $_->{kind} } @functions;

is( ask(q{SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace
		  AND NOT has_function_privilege('stranger', oid, 'EXECUTE')}),
	"@Functions::of_keys", 'PUBLIC may execute each function but those of keys; rights on tables restrict some');

my %seen = results('stranger', 'SELECT 1', %statement);
for my $signature (sort keys %statement)
{
	my $is_restricted = $kind{$signature} =~ $restricted;
	like($seen{$signature}, $is_restricted ? qr/^42501\z/ : qr/^(?!\w{5}\z)./s,
		"without rights: $signature " . ($is_restricted ? 'is rejected' : 'returns a result'));
}
is( ask(q{SELECT count(*) FROM pg_proc
		  WHERE pronamespace = 'idgen'::regnamespace
			AND ('internal'::regtype = ANY (proargtypes) OR prorettype = 'trigger'::regtype)}),
	scalar(grep { $_ eq 'trigger' } values %kind),
	'functions for the server only have argument or result types that SQL cannot use');

# --- A search_path with objects of the same names -----------------------------
is( ask(q{SELECT count(*) FROM pg_proc
		  WHERE pronamespace = 'idgen'::regnamespace AND prosecdef
		  AND NOT coalesce(proconfig::text LIKE '%search_path=%', false)}),
	'0', 'each SECURITY DEFINER function sets its search_path');
is( ask(q{SELECT count(*) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
		  WHERE pronamespace = 'idgen'::regnamespace AND prokind = 'f'
		  AND lanname <> 'c' AND NOT (lanname = 'sql' AND prosqlbody IS NOT NULL)
		  AND NOT coalesce(proconfig::text LIKE '%"search_path=pg_catalog, pg_temp"%', false)}),
	'0', 'each function that is not C has a parsed body or a search_path of its own');

# For each operator and function in pg_catalog and idgen whose types are used here, the schema "hostile" has one with
# the same name and argument types. It also has relations and types with the names of idgen's objects. Using any of them
# advances a sequence, which a rollback does not undo, and raises an error.
ask(q{
	CREATE SCHEMA hostile;
	CREATE SEQUENCE hostile.used;
	CREATE FUNCTION hostile.trap() RETURNS void LANGUAGE plpgsql
		AS $$ BEGIN PERFORM pg_catalog.nextval('hostile.used');
			RAISE EXCEPTION 'trapped' USING ERRCODE = 'TRAP0'; END $$;
	CREATE FUNCTION hostile.trap_rows() RETURNS SETOF int LANGUAGE plpgsql
		AS $$ BEGIN PERFORM hostile.trap(); END $$;
	CREATE FUNCTION hostile.trap_value(text) RETURNS boolean LANGUAGE plpgsql
		AS $$ BEGIN PERFORM hostile.trap(); END $$;
	CREATE TABLE public.types AS
		SELECT t.oid FROM pg_type t
		WHERE t.oid = ANY ('{uuid,text,int2,int4,int8,timestamptz,timestamp,interval,boolean,bytea,float8,numeric,
			oid,regclass,regtype,name,jsonb,"char",uuid[],text[],anyarray,anyelement}'::regtype[]);
	\set body 'LANGUAGE plpgsql AS ''BEGIN PERFORM hostile.trap(); END'''
	SELECT format('CREATE FUNCTION hostile.trap_%s(%s) RETURNS %s ', oid,
			concat_ws(', ', nullif(oprleft, 0)::regtype, oprright::regtype), oprresult::regtype) || :'body',
		format('CREATE OPERATOR hostile.%s (%s RIGHTARG = %s, FUNCTION = hostile.trap_%s)',
			oprname, 'LEFTARG = ' || nullif(oprleft, 0)::regtype || ', ', oprright::regtype, oid)
	FROM pg_operator
	WHERE (oprleft = 0 OR oprleft IN (TABLE public.types)) AND oprright IN (TABLE public.types)
	AND oprresult IN (SELECT oid FROM pg_type WHERE typtype <> 'p')
	\gexec
	SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s ', proname,
			(SELECT string_agg(format_type(type, NULL), ', ' ORDER BY n)
				FROM unnest(proargtypes) WITH ORDINALITY a (type, n)),
			concat(CASE WHEN proretset THEN 'SETOF ' END, prorettype::regtype)) || :'body'
	FROM pg_proc
	WHERE pronamespace IN ('pg_catalog'::regnamespace, 'idgen'::regnamespace) AND prokind IN ('f', 'a')
	AND provariadic = 0
	AND NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN (TABLE public.types))
	AND (prorettype IN (SELECT oid FROM pg_type WHERE typtype <> 'p')
		 OR prorettype IN (TABLE public.types) AND proargtypes::oid[] && '{anyarray,anyelement}'::regtype[]::oid[])
	\gexec
	CREATE FUNCTION hostile.num_nonnulls(VARIADIC "any") RETURNS int LANGUAGE internal AS 'pg_num_nulls';
	CREATE FUNCTION hostile.make_interval(days int, secs float8) RETURNS interval LANGUAGE plpgsql IMMUTABLE
		AS $$ BEGIN PERFORM hostile.trap(); END $$});

# Using one of these relations or types calls hostile.trap().
my @relations = qw(creation_identifiers id_prefixes tickers);
sub hostile_view { return "VIEW $_[0] AS SELECT * FROM hostile.trap_rows()" }
sub hostile_type { return "CREATE DOMAIN $_[0] AS pg_catalog.text CHECK (hostile.trap_value(VALUE))" }

ask(join '; ', map { 'CREATE ' . hostile_view("hostile.$_") } @relations);
ask(join '; ',
	map { hostile_type("hostile.$_") }
	  qw(uuid text regtype regclass timestamptz int8 int4 interval jsonb float8 bytea));
cmp_ok(ask(q{SELECT count(*) FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace}), '>', 200,
	'schema hostile has operators');
cmp_ok(ask(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace}), '>', 500,
	'schema hostile has functions');

# pg_temp contains the same relations and types, and comes first in the search_path. The server never looks up functions
# and operators in pg_temp.
my $hostile = join(";\n",
	(map { 'CREATE TEMP ' . hostile_view($_) } @relations),
	(map { hostile_type("pg_temp.$_") } qw(uuid text regtype interval)),
	'SET search_path = pg_temp, hostile, pg_catalog, public');

my %bait = (
	'an operator' => 'SELECT 1 WHERE 1 < 2',
	'now()' => 'SELECT now()',
	'a function of idgen' => 'SELECT uuid_v4()',
	'a table of idgen' => 'SELECT * FROM creation_identifiers',
	'a type' => "SELECT $v4\::uuid",
	'a type that is not temporary' => "SELECT 1::int8");
my %trapped = results($superuser, $hostile, %bait);
is($trapped{$_}, 'TRAP0', "hostile objects are used without pg_catalog: $_") for sort keys %bait;
is(ask('SELECT last_value FROM hostile.used'), scalar keys %bait, 'each use advanced the sequence');

# These statements are not a single function call.
my %more = (
	'trigger' => 'INSERT INTO public.guarded VALUES (idgen.short_comb()) RETURNING id IS NOT NULL',
	'repeated insert' => "INSERT INTO public.guarded VALUES ($minute_0) ON CONFLICT DO NOTHING RETURNING id",
	'default' => 'INSERT INTO public.things DEFAULT VALUES RETURNING id',
	'domain' => q{SELECT idgen.create_id_domain('public.thing_id', 'thing');
		SELECT 'thing_03e6wlko0bp8e7c9916hklbnd'::public.thing_id},
	'known prefix' => q{SELECT idgen.create_id_domain('public.thing_id', 'thing');
		SELECT * FROM idgen.parse_prefixed_id('thing_1')},
	'replay' => "SELECT * FROM idgen.create_once_bigint($v1, 1, '');
		SELECT * FROM idgen.create_once_bigint($v1, 2, '')",
	'forget' => "SELECT * FROM idgen.create_once_bigint($v1, 1, ''); SELECT * FROM idgen.forget_creation($v1);",
	'purge' => "SELECT * FROM idgen.create_once_bigint($v1, 1, ''); SELECT * FROM idgen.purge_creations('0')",
	'trim' => "SELECT * FROM idgen.create_once_bigint($v1, 1, ''); SELECT * FROM idgen.trim_creations(0)");

my %volatile = map { $_ => 1 } split /\n/, ask(q{
	SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND provolatile = 'v'});

# Check that statements return the same results with and without hostile objects on the search_path.
sub check_same
{
	my ($edition, %statements) = @_;
	my %expected = results($superuser, 'SELECT 1', %statements);
	my %got = results($superuser, $hostile, %statements);
	for my $name (sort keys %expected)
	{
		my ($function) = $name =~ /^(\w+)/;
		my ($expected, $got) = ($expected{$name}, $got{$name});

		# If results differ from call to call, compare only their form.
		if ($volatile{$function} && $kind{$name} !~ /^(creations|prefixes)$/ || $name =~ /^(default|view)/)
		{
			s/(?<![\w-])-?\d[\d.]*e[-+]\d+(?![\w-])|-?[0-9a-zA-Z.]+/x/g for $expected, $got;
		}
		unlike($expected{$name}, qr/^\w{5}\z/, "$edition$name: returns a result");
		is($got, $expected, "$edition$name: same result with hostile objects on the search_path");
	}
	is(ask('SELECT is_called FROM hostile.used'), 'f', "${edition}no hostile object was used");
}
ask('ALTER SEQUENCE hostile.used RESTART');
ask('DROP EXTENSION idgen CASCADE');
my $extension = $has_advisor ? 'idgen_advisor' : 'idgen';
my %made = results($superuser, $hostile, 'create' => "CREATE EXTENSION $extension CASCADE; COMMIT");
is($made{create}, '', 'CREATE EXTENSION works with hostile objects on the search_path');
ask($users);
check_same('', %statement, %more);

# Test the portable edition if its files exist.
if (-e 'contrib/portable/uuids.sql')
{
	ask(q{DROP EXTENSION idgen CASCADE; DROP SCHEMA IF EXISTS idgen});
	my $portable = join '', map { slurp_file("contrib/portable/$_.sql") } qw(uuids checks text_ids create_once);
	%made = results($superuser, $hostile, 'create' => "$portable$portable COMMIT");
	is($made{create}, '', 'the portable edition is installed, twice, with hostile objects on the search_path');
	my %in_portable = map { $_ => 1 } split /\n/,
		ask(q{SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace});
	my %portable = map { $_ => $statement{$_} } grep { /^(\w+)/ && $in_portable{$1} } keys %statement;
	$portable{$_} = $more{$_} for 'replay', 'forget', 'purge', 'trim';
	s/run_length => \d+|'30 seconds', 3, 100/'30 seconds', 3/ for values %portable;
	check_same('portable ', %portable);
	%made = results($superuser, $hostile, 'drop' => slurp_file('contrib/portable/drop.sql'));
	is($made{drop}, '', 'and removed');
	is(ask('SELECT is_called FROM hostile.used'), 'f', 'no hostile object was used');
}

done_testing();
