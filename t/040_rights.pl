# Rights: a role without superuser rights installs the extension and grants
# rights; no role can access the recorded commands, the prefixes and the tickers'
# high-water marks in another way, such as a schema of objects with the same
# names, a row security policy or a setting. (Rights on each function: see
# 041_secrets.pl.)

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('rights');
$node->init;
$node->start;

$node->safe_psql(
	'postgres', q{
	CREATE ROLE installer LOGIN;
	CREATE ROLE application LOGIN;
	CREATE ROLE janitor LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE DATABASE shop;
	CREATE DATABASE closed;
	GRANT CREATE ON DATABASE shop TO installer});

# The role that runs the tests is a superuser.
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# The rows that a role gets, or the SQLSTATE of the error
sub as_role
{
	my ($role, $query, $database) = @_;
	my ($rows, $errors);

	$node->psql(
		$database || 'shop', $query,
		stdout => \$rows,
		stderr => \$errors,
		extra_params => [ '--username', $role, '--set=VERBOSITY=sqlstate' ]);
	die "$role cannot connect: $errors" if $errors =~ /^psql: error/m;
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows;
}

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my $table = 'idgen.creation_identifiers';

# Installing
is(as_role('installer', 'CREATE EXTENSION idgen', 'closed'), '42501', 'CREATE EXTENSION requires CREATE on the database');
is(as_role('installer', 'CREATE EXTENSION idgen'), '', 'a role with CREATE on the database can create the extension');
is( $node->safe_psql('shop', "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'idgen'"),
	$superuser, 'a superuser owns the tables (see 042_installer.pl)');

# Without rights on tables
for my $call (
	'uuid_version(idgen.uuid_v4()) = 4',
	'is_recent_uuid_v7(idgen.uuid_v7())',
	'is_recent_comb(idgen.comb())',
	'is_recent_short_comb(idgen.short_comb(run_length => 10))',
	'has_command(idgen.remember_command(NULL, idgen.uuid_nil()), idgen.uuid_nil())')
{
	my $query = "SELECT idgen.$call";
	$query =~ s/idgen\.uuid_nil\(\)/$command/g;
	is(as_role('stranger', $query), 't', "without rights, accepted: $call");
}
for my $refused (
	"SELECT count(*) FROM $table",
	"INSERT INTO $table (command_id, entity_number) VALUES ($command, 1)",
	"UPDATE $table SET entity_number = 1",
	"DELETE FROM $table",
	"TRUNCATE $table",
	"SELECT idgen.create_once($command, $entity)",
	"SELECT idgen.create_once_bigint($command, 1)",
	"SELECT * FROM idgen.find_creation($command)",
	"SELECT idgen.forget_creation($command)",
	"SELECT idgen.forget_creation_of($entity)",
	"SELECT idgen.forget_creation_of_bigint(1)",
	'SELECT idgen.purge_creations()',
	'SELECT idgen.trim_creations(0)',
	"CREATE TABLE idgen.mine ()",
	'SELECT count(*) FROM idgen.id_prefixes',
	"INSERT INTO idgen.id_prefixes VALUES ('mine', 'text')",
	"UPDATE idgen.id_prefixes SET prefix = 'mine'",
	'DELETE FROM idgen.id_prefixes',
	'TRUNCATE idgen.id_prefixes',
	"SELECT idgen.create_id_domain('pg_temp.mine', 'mine')",
	"SELECT * FROM idgen.parse_prefixed_id('mine_1')",
	(map {
		my $relation = "idgen.$_";
		("BEGIN; LOCK TABLE $relation IN ACCESS SHARE MODE", "ALTER TABLE $relation OWNER TO stranger",
			"ALTER TABLE $relation ADD mine int", "DROP TABLE $relation", "CREATE INDEX ON $relation ((1))",
			"COPY $relation TO STDOUT", "COPY $relation FROM '/dev/null'",
			"CREATE TRIGGER mine BEFORE INSERT ON $relation EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"GRANT SELECT ON $relation TO stranger")
	} qw(creation_identifiers id_prefixes)))
{
	is(as_role('stranger', $refused), '42501', "without rights, rejected: $refused");
}

# The tickers' high-water marks: roles without rights move them only by generating
# identifiers.
my @tickers = map { "${_}_ticker" } @Functions::tickers;
my $marks = join(' UNION ALL ', map { "SELECT '$_', last_value, is_called FROM idgen.$_" } @tickers);
is($node->safe_psql('shop', "SELECT count(*) FROM ($marks) m"), scalar @tickers, 'each ticker has a high-water mark');
is(as_role('stranger', 'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())'), 't', 'a role without rights can call a function on a ticker');
my $before = $node->safe_psql('shop', $marks);
like($before, qr/^uuid_v7_ordered_ticker\|\d{15,}\|t$/m, 'which moved its high-water mark');
for my $ticker (@tickers)
{
	for my $refused (
		"SELECT nextval('idgen.$ticker')", "SELECT setval('idgen.$ticker', 1)",
		"SELECT setval('idgen.$ticker', 1, false)", "SELECT currval('idgen.$ticker')",
		"SELECT * FROM idgen.$ticker", "SELECT idgen.sequence_comb('idgen.$ticker')",
		"ALTER SEQUENCE idgen.$ticker RESTART", "ALTER SEQUENCE idgen.$ticker OWNER TO stranger",
		"DROP SEQUENCE idgen.$ticker", "GRANT USAGE ON SEQUENCE idgen.$ticker TO stranger")
	{
		is(as_role('stranger', $refused), '42501', "without rights, rejected: $refused");
	}
	is(as_role('stranger', "SELECT last_value FROM pg_sequences WHERE sequencename = '$ticker'"), '', "without rights, not visible in pg_sequences: $ticker");
}
is($node->safe_psql('shop', $marks), $before, 'the high-water marks have not changed');

# The installer grants rights.
is(as_role('installer', "GRANT SELECT, INSERT ON $table TO application;
						 GRANT SELECT, DELETE ON $table TO janitor"), '', 'the installer grants rights');
is(as_role('application', "SELECT * FROM idgen.create_once($command, $entity)"),
	'e0000000-0000-4000-8000-00000000000a|t', 'create_once() works with SELECT and INSERT');
is(as_role('application', "SELECT * FROM idgen.create_once($command, idgen.uuid_v4())"),
	'e0000000-0000-4000-8000-00000000000a|f', 'create_once() finds a recorded command with SELECT and INSERT');
is(as_role('application', "SELECT count(*) FROM idgen.find_creation($command)"), '1', 'find_creation() works with SELECT and INSERT');
is(as_role('application', "SELECT idgen.forget_creation($command)"), '42501', 'forget_creation() requires DELETE');
is(as_role('application', 'SELECT idgen.purge_creations()'), '42501', 'purge_creations() requires DELETE');
is(as_role('janitor', "SELECT * FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)"), '42501', 'create_once_bigint() requires INSERT');
is(as_role('janitor', "SELECT idgen.purge_creations()"), '0', 'purge_creations() works with SELECT and DELETE');
is(as_role('janitor', "SELECT idgen.trim_creations(0)"), '1', 'trim_creations() works with SELECT and DELETE');
is(as_role('janitor', "SELECT idgen.forget_creation($command)"), 'f', 'forget_creation() works with SELECT and DELETE');

# A schema of objects with the names of built-in ones, first in the search_path.
# Each one raises an error when it is called by a statement without pg_catalog.
$node->safe_psql(
	'shop', q{
	CREATE SCHEMA trap;
	GRANT USAGE ON SCHEMA trap TO PUBLIC;
	CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE plpgsql
		AS $$ BEGIN RAISE EXCEPTION 'now() trapped' USING ERRCODE = 'TRAP0'; END $$;
	CREATE FUNCTION trap.count() RETURNS bigint LANGUAGE plpgsql
		AS $$ BEGIN RAISE EXCEPTION 'count() trapped' USING ERRCODE = 'TRAP0'; END $$;
	CREATE FUNCTION trap.num_nonnulls(VARIADIC "any") RETURNS int LANGUAGE internal AS 'pg_num_nulls';
	DO $do$
	DECLARE
		operator record;
	BEGIN
		FOR operator IN
			SELECT o.oid, oprname AS name, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result
			FROM pg_operator o
			WHERE oprname IN ('=', '<>', '<', '>', '<=', '>=', '+', '-')
			AND oprleft IN ('uuid'::regtype, 'timestamptz'::regtype, 'text'::regtype, 'int8'::regtype)
		LOOP
			EXECUTE format($$ CREATE FUNCTION trap.trap_%s(%s, %s) RETURNS %s LANGUAGE plpgsql
				AS 'BEGIN RAISE EXCEPTION ''operator trapped'' USING ERRCODE = ''TRAP0''; END' $$,
				operator.oid, operator.l, operator.r, operator.result);
			EXECUTE format($$ CREATE OPERATOR trap.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = trap.trap_%s) $$,
				operator.name, operator.l, operator.r, operator.oid);
		END LOOP;
	END $do$});
my $trapped = 'SET search_path = trap, pg_catalog, public;';
for my $bait ("$command\::uuid = $command\::uuid", 'now()', 'now() < now()',
	"'2020-01-01'::timestamptz < '2021-01-01'::timestamptz",
	"'2020-01-01'::timestamptz - interval '1 day'", "'a'::text = 'a'::text")
{
	is(as_role('application', "$trapped SELECT $bait"), 'TRAP0', "trap objects are called by: $bait");
}
is(as_role('application', "$trapped SELECT entity_id, created FROM idgen.create_once($command, $entity)"),
	'e0000000-0000-4000-8000-00000000000a|t', 'trap objects: not called by create_once()');
is(as_role('application', "$trapped SELECT entity_id, created FROM idgen.create_once($command, $entity)"),
	'e0000000-0000-4000-8000-00000000000a|f', 'trap objects: not called by a replay');
is(as_role('application', "$trapped SELECT entity_id FROM idgen.find_creation($command)"),
	'e0000000-0000-4000-8000-00000000000a', 'trap objects: not called by find_creation()');
is(as_role('janitor', "$trapped SELECT idgen.forget_creation($command)"), 't', 'trap objects: not called by forget_creation()');
is(as_role('application', "$trapped SELECT created FROM idgen.create_once($command, $entity)"), 't', 'trap objects: not called by create_once() again');
is(as_role('janitor', "$trapped SELECT idgen.forget_creation_of($entity)"), '1', 'trap objects: not called by forget_creation_of()');
is(as_role('janitor', "$trapped SELECT idgen.forget_creation_of_bigint(1)"), '0', 'trap objects: not called by forget_creation_of_bigint()');
$node->safe_psql('shop',
	"INSERT INTO $table SELECT idgen.uuid_v4(), 'old', NULL, i, NULL, '2001-01-01' FROM generate_series(1, 5) i");
is(as_role('janitor', "$trapped SELECT idgen.purge_creations(batch_size => 2)"), '2', 'trap objects: not called by purge_creations()');
is(as_role('janitor', "$trapped SELECT idgen.trim_creations(1, 'old')"), '2', 'trap objects: not called by trim_creations()');
is(as_role('stranger', "$trapped SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7())"), 't', 'trap objects: not called by is_recent_uuid_v7()');

# Row security: a policy that hides a recorded command causes an error instead of
# endless retries. The policy depends on the time, so that a new command is
# visible in its own session.
$node->safe_psql(
	'shop', qq{
	DELETE FROM $table;
	INSERT INTO $table VALUES ($command, '', $entity, NULL, NULL, '2001-01-01');
	ALTER TABLE $table ENABLE ROW LEVEL SECURITY;
	CREATE POLICY recent ON $table FOR SELECT USING (created_at > '2020-01-01');
	CREATE POLICY anything ON $table FOR INSERT WITH CHECK (true);
	CREATE POLICY deletable ON $table FOR DELETE USING (true)});
my ($rows, $errors);
$node->psql(
	'shop', "SELECT idgen.create_once($command, $entity)",
	stdout => \$rows,
	stderr => \$errors,
	extra_params => [ '--username', 'application' ]);
like( $errors,
	qr/ERROR:  could not find or record command id "c0000000-0000-4000-8000-00000000000a"\n.*HINT:  A row-level security policy/s,
	'a hidden command is an error whose hint names row security');
is(as_role('application', "SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $entity)"),
	't', 'other commands are recorded');
is(as_role('application', "SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $entity)"),
	'f', 'and found');
is(as_role('janitor', 'SELECT idgen.purge_creations()'), '0', 'purge_creations() obeys the policy');
is(as_role('application', "SELECT count(*) FROM idgen.find_creation($command)"), '0', 'find_creation() obeys the policy');
$node->safe_psql('shop', "DROP POLICY anything ON $table");
is(as_role('application', "SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000c', 1)"),
	'42501', 'create_once() obeys an INSERT policy');
$node->safe_psql('shop', "ALTER TABLE $table DISABLE ROW LEVEL SECURITY");

# The trigger needs no rights: a role that may only insert gets 23514 for an old
# identifier, and 23505 if the table has it.
$node->safe_psql(
	'shop', q{
	CREATE TABLE public.orders (id uuid PRIMARY KEY);
	INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000000');
	CREATE TRIGGER orders_id BEFORE INSERT ON public.orders
		FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb', '1 hour', '1 day', '6');
	ALTER TABLE public.orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	CREATE POLICY inserts ON public.orders FOR INSERT WITH CHECK (true);
	GRANT INSERT ON public.orders TO PUBLIC});
is(as_role('stranger', q{INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000001')}), '23514', 'the trigger rejects an old identifier');
is(as_role('stranger', q{INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000000')}), '23505', 'the unique index rejects one that the table has');
is(as_role('stranger', 'SELECT FROM public.orders'), '42501', 'the role cannot read the table');

# Before the library is loaded, every role can set a parameter with a dot in its
# name; loading the library then fails (more in 043_settings.pl).
my $load = q{SELECT FROM idgen.uuid_v4();};
my $new_node = q{SET idgen.node_id = 3;};
is(as_role('installer', "$load $new_node"), '42501', 'setting a parameter requires a grant');
is(as_role('application', "$new_node $load"), '42501', 'a parameter set without a grant: the library cannot be loaded');
is(as_role($superuser, "$new_node $load"), '', 'a superuser can set one before the library is loaded');
$node->safe_psql('shop', 'GRANT SET ON PARAMETER idgen.node_id TO application');
is(as_role('application', "$load $new_node"), '', 'a role with the grant sets it');
is(as_role('janitor', "$load $new_node"), '42501', 'other roles cannot set it');

# A role without rights cannot set any of the parameters in any way: before the
# library is loaded, when it is loaded, or when the postmaster has loaded it.
my %settings = (
	'node_id' => 7,
	'launch_id' => 7,
	'max_ahead' => 77,
	'reserve_ahead' => 77);
is( $node->safe_psql('shop', q{SELECT idgen.uuid_v4(); SELECT string_agg(substr(name, 7), ' ' ORDER BY name)
							   FROM pg_settings WHERE name LIKE 'idgen.%'}) =~ s/.*\n//r,
	join(' ', sort 'mask_key_file', keys %settings), 'the list of settings is complete, but for one that only files set (see 009_masks.pl)');

$node->safe_psql('postgres', 'CREATE DATABASE own OWNER application');
$node->safe_psql('own', 'CREATE EXTENSION idgen');

# The result for a role that sets a parameter in the connection string
sub connected_with
{
	my ($role, $options, $query) = @_;
	my ($rows, $errors);

	local $ENV{PGOPTIONS} = $options;
	$node->psql('own', $query, stdout => \$rows, stderr => \$errors, extra_params => [ '--username', $role ]);
	return $rows . $errors;
}

for my $loaded ('not loaded', 'loaded', 'loaded by the postmaster')
{
	if ($loaded eq 'loaded by the postmaster')
	{
		$node->safe_psql('postgres', 'REVOKE SET ON PARAMETER idgen.node_id FROM application');
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}
	elsif ($loaded eq 'not loaded')
	{
		$node->safe_psql('postgres', 'REVOKE SET ON PARAMETER idgen.node_id FROM application');
	}
	my $first = $loaded eq 'loaded' ? 'DO $$ BEGIN PERFORM idgen.uuid_v4(); END $$;' : '';

	for my $name (sort keys %settings)
	{
		my ($setting, $value) = ("idgen.$name", $settings{$name});
		my $text = $value =~ s/'//gr;
		my $show = "DO \$\$ BEGIN PERFORM idgen.uuid_v4(); END \$\$; SHOW $setting";

		for my $refused (
			"ALTER ROLE application SET $setting = $value",
			"ALTER DATABASE own SET $setting = $value",
			"ALTER ROLE application IN DATABASE own SET $setting = $value",
			"ALTER SYSTEM SET $setting = $value",
			"CREATE FUNCTION pg_temp.with_setting() RETURNS int LANGUAGE sql SET $setting = $value AS 'SELECT 1'")
		{
			is(as_role('application', "$first $refused", 'own'), '42501', "$loaded, rejected: $refused");
		}
		for my $set (
			"SET $setting = $value", "SET SESSION $setting = $value",
			"BEGIN; SET LOCAL $setting = $value",
			"DO \$\$ BEGIN PERFORM set_config('$setting', '$text', false); END \$\$")
		{
			if ($loaded eq 'not loaded')
			{
				# any role can set the parameter, but then not load the library
				is(as_role('application', "$set; $show", 'own'), '42501', "$loaded, rejected by loading the library: $set");
			}
			else
			{
				is(as_role('application', "$first $set", 'own'), '42501', "$loaded, rejected: $set");
			}
		}
		if ($loaded ne 'not loaded')
		{
			is(as_role('application', "$first UPDATE pg_settings SET setting = '$text' WHERE name = '$setting'", 'own'),
				'42501', "$loaded, rejected: $setting through pg_settings");
			is(as_role('application', "$first RESET $setting", 'own'), '42501', "$loaded, rejected: RESET $setting");
		}

		my $options = "-c $setting=" . $text =~ s/ /\\ /gr;
		if ($loaded eq 'loaded by the postmaster')
		{
			like(connected_with('application', $options, $show), qr/FATAL:  permission denied to set parameter "$setting"/,
				"$loaded, the connection is rejected with $setting");
		}
		else
		{
			like(connected_with('application', $options, "$load $show"), qr/^psql:\S+ ERROR:  permission denied to set parameter "$setting"/,
				"$loaded, rejected by loading the library: $setting in the connection string");
		}

		# the rights are the only obstacle
		is(as_role($superuser, "$first SET $setting = $value; $show", 'own') =~ s/[ a-z]+$//r, $text, "$loaded, a superuser can set $setting");
		like(connected_with($superuser, $options, $show), qr/^\Q$text\E/, "$loaded, a superuser can set $setting in the connection string");
	}
	is( $node->safe_psql('own', q{SELECT count(*) FROM pg_db_role_setting}),
		'0', "$loaded: no setting was stored");
}

# A high-water mark can be set to the end of the range.
is( as_role($superuser, q{
		SET idgen.launch_id = 1;
		SELECT setval('idgen.decimal_id_ticker', 922337202 * 100000::bigint);
		SELECT idgen.decimal_id();
		SELECT idgen.decimal_id()}, 'own'),
	'2200H', 'a ticker at the end of its range raises an error');
is( $node->safe_psql('own', q{SELECT last_value = reserved_value - 1, reserved_value FROM idgen.ticker_state('decimal_id')}),
	't|92233720200001', 'after the last identifier of its range');

# The extension is dropped and created in a session that has saved plans.
is( as_role($superuser, "
		DROP TABLE public.orders;
		SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity);
		SELECT idgen.purge_creations(), idgen.trim_creations(1000);
		DROP EXTENSION idgen;
		CREATE EXTENSION idgen;
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity);
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', idgen.uuid_v4());
		SELECT idgen.purge_creations(), idgen.trim_creations(0)"),
	"t\n1|0\n"
	  . "e0000000-0000-4000-8000-00000000000a|t\n"
	  . "e0000000-0000-4000-8000-00000000000a|f\n0|1",
	'a session continues after the extension was dropped and created');

# A superuser may replace the table by one of another shape.
$node->safe_psql('postgres', 'CREATE DATABASE replaced');
as_role($superuser, "
	CREATE EXTENSION idgen;
	ALTER EXTENSION idgen DROP TABLE $table;
	ALTER TABLE $table RENAME TO made;
	CREATE TABLE idgen.template (LIKE idgen.made INCLUDING DEFAULTS INCLUDING CONSTRAINTS)", 'replaced');

my $replay = "SELECT entity_id, created FROM idgen.create_once($command, $entity)";
my $row = "e0000000-0000-4000-8000-00000000000a";
my $columns = 'command_id, command_name, entity_id, entity_number, request_hash';
for my $case (
	[ 'partitioned', "$row|t\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id)) PARTITION BY HASH (command_id);
		CREATE TABLE idgen.part PARTITION OF $table FOR VALUES WITH (MODULUS 1, REMAINDER 0)" ],
	[ 'with a child that has the row', "$row|f\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id));
		CREATE TABLE idgen.child () INHERITS ($table);
		INSERT INTO idgen.child (command_id, entity_id) VALUES ($command, $entity)" ],
	[ 'in another order', "$row|t\n$row|f", "
		CREATE TABLE $table (created_at timestamptz DEFAULT now(), request_hash bigint, entity_number bigint,
			entity_id uuid, command_name text, command_id uuid PRIMARY KEY)" ],
	[ 'with another primary key', "$row|t\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, UNIQUE (command_id), id serial PRIMARY KEY)" ],
	[ 'with a name that is null', "$row|f\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id));
		ALTER TABLE $table ALTER command_name DROP NOT NULL;
		INSERT INTO $table (command_id, command_name, entity_id) VALUES ($command, NULL, $entity)" ],
	[ 'with a number for the uuid', '42846', "
		CREATE TABLE $table (command_id uuid PRIMARY KEY, command_name text, entity_id bigint, entity_number bigint, request_hash bigint);
		INSERT INTO $table VALUES ($command, '', 4711)" ],
	[ 'with a number for the name', '23514', "
		CREATE TABLE $table (command_id uuid PRIMARY KEY, command_name oid, entity_id uuid, entity_number bigint, request_hash bigint);
		INSERT INTO $table VALUES ($command, 4711, $entity)" ])
{
	my ($what, $expected, $create) = @$case;

	as_role($superuser, "DROP TABLE IF EXISTS $table CASCADE; $create;
		GRANT SELECT ($columns), INSERT ON $table TO application;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA idgen TO application", 'replaced');
	is(as_role($superuser, "$replay; $replay", 'replaced'), $expected, "replaced table, $what");
	is(as_role('application', $replay, 'replaced'), $expected =~ s/.*\n//r, "replaced table, $what, with column privileges");
}

$node->stop;
done_testing();
