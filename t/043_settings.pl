# Verify that a role without the right to set an idgen.* parameter cannot set it, whether or not the library is loaded.
# A value that the role sets before the library is loaded is never used. At most, it leaves the role's own session
# without a value; functions that need a value then raise an error. Other clients of a pool are not affected.

use Masks;
use Pool;
use Server;

# Each parameter has its value in postgresql.conf, and a query that returns the value in effect.
my $masks = Masks->new;
my $node = $masks->{node};
my %in_effect = (
	'idgen.node_id' => [ 7, 'SELECT idgen.snowflake_node(idgen.snowflake())' ],
	'idgen.launch_id' => [ 42, 'SELECT launch_id FROM idgen.decimal_id_parts(idgen.decimal_id())' ],
	'idgen.key_file' => [ $masks->permuted, $Masks::permute ]);
my @settings = sort keys %in_effect;
$node->append_conf('postgresql.conf', "idgen.node_id = 7\nidgen.launch_id = 42");
$node->restart;
ask(q{
	CREATE ROLE batch LOGIN;
	CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
	GRANT SET ON PARAMETER idgen.node_id TO batch;
	ALTER DATABASE postgres OWNER TO caller;
	CREATE FUNCTION set_as_superuser(text, text) RETURNS text LANGUAGE sql SECURITY DEFINER
		RETURN set_config($1, $2, false);
	CREATE TABLE source AS SELECT FROM generate_series(1, 1000);
	ALTER TABLE source SET (parallel_workers = 2);
	GRANT SELECT ON source TO PUBLIC;
	CREATE FUNCTION setting_in(name text, leader int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		PERFORM idgen.uuid_v7();
		RETURN current_setting(name)
			|| CASE WHEN pg_backend_pid() <> leader THEN ' in a worker' ELSE ' in its leader' END;
	END $$;});
ask("CREATE FUNCTION with_$_(query text) RETURNS text LANGUAGE plpgsql SET idgen.$_ = '1'
	AS 'DECLARE r text; BEGIN EXECUTE query INTO r; RETURN r; END'") for map { s/.*\.//r } @settings;

my $load = 'SELECT idgen.uuid_v4() IS NULL';
my $superuser = ask('SELECT current_user');

# Return the result of the last of the given statements in a new session, or the error if the connection is rejected.
sub answer
{
	my ($role, $options, @statements) = @_;
	local $ENV{PGOPTIONS} = $options;
	my ($rows, $errors);
	$node->psql('postgres', join(";\n\\echo next\n", @statements) . ";\n\\echo :SQLSTATE",
		stdout => \$rows, stderr => \$errors, on_error_stop => 0, extra_params => [ '--username', $role ]);
	return $errors =~ /FATAL:  permission denied to set parameter/ ? '42501' : $errors if $errors =~ /^psql: error/;
	my ($answer, $state) = $rows =~ /(?:.*^next\n)?(.*?)\n?^(\w{5})\z/ms;
	return $state eq '00000' ? $answer : $state;
}

# Each row has the expected answer, a name, and the arguments of answer().
sub answers { my ($about, @rows) = @_; is(answer(@$_[ 2 .. $#$_ ]), $_->[0], "$about$_->[1]") for @rows }

# --- Set without the right, before the library is loaded ----------------------
is(ask("$load \\g /dev/null\n" . q{SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings
	WHERE name LIKE 'idgen.%'}), "@settings", 'the settings');
for my $name (@settings)
{
	my ($value, $query) = @{ $in_effect{$name} };
	my $set = "SET $name = '1'";
	my $function = $name =~ s/.*\./with_/r;
	answers("$name ",
		[ $value, 'of postgresql.conf', 'caller', '', $query ],
		(map { [ $value, "has no effect $_->[0]", 'caller', '', @$_[ 1 .. $#$_ ] ] }
			[ 'after SET', $set, $query ],
			[ 'after SET, after another call', $set, $load, $query ],
			[ 'after set_config()', "SELECT set_config('$name', '1', false)", $query ],
			[ 'after SET LOCAL', 'BEGIN', "SET LOCAL $name = '1'", $query ],
			[ 'after SET LOCAL and COMMIT', 'BEGIN', "SET LOCAL $name = '1'", $load, 'COMMIT', $query ],
			[ 'after SET and COMMIT', 'BEGIN', $set, $load, 'COMMIT', $query ],
			[ 'after ROLLBACK TO', 'BEGIN', $set, 'SAVEPOINT a', "RESET $name", $load, 'ROLLBACK TO a', $query ],
			[ 'in the SET clause of a function', "SELECT $function(\$\$$query\$\$)" ],
			[ 'after that function', "SELECT $function('$load')", $query ],
			(map { [ "after SET and $_", $set, $_, $query ] } "RESET $name", "SET $name TO DEFAULT", 'DISCARD ALL'),
			(map { [ "after SET, a call and $_", $set, $load, $_, $query ] }
				"RESET $name", 'RESET ALL', 'DISCARD ALL')),
		[ $value, 'has no effect in the transaction of a superuser', $superuser, '', 'BEGIN', 'SET ROLE caller', $set,
			'RESET ROLE', $load, 'COMMIT', $query ],
		# In these cases, the session has no value.
		(map { [ '55000', "fails closed $_->[0]", 'caller', @$_[ 1 .. $#$_ ] ] }
			[ "in the connection's options", "-c $name=1", $query ],
			[ 'in capital letters', "-c \U$name\E=1", $query ],
			[ 'if it is none', "-c $name=zzz", $query ],
			[ 'in the options, after SET', "-c $name=1", $set, $query ],
			[ 'in the options, after RESET', "-c $name=1", "RESET $name", $query ],
			[ 'in the options, after DISCARD ALL', "-c $name=1", $load, 'DISCARD ALL', $query ]),
		(map { [ 42501, "cannot be stored: $_", 'caller', '', $_ ] } "ALTER ROLE caller SET $name = '1'",
			"ALTER DATABASE postgres SET $name = '1'", "ALTER SYSTEM SET $name = '1'"));
	like(errors("$set; $load", user => 'caller'),
		qr/^psql:<stdin>:1: WARNING:  \w{5}: (permission denied to set )?parameter "$name"( cannot be changed now)?\n/,
		"$name: with a warning");
}
answers('', [ 7, 'an unknown parameter idgen.* does not matter', 'caller', '-c idgen.nothing=1',
	$in_effect{'idgen.node_id'}[1] ]);

# --- A pool in transaction mode ---------------------------------------------------
# A client sets a parameter in a session that has not loaded the library. The next client gets the same session.
SKIP:
{
	my $pool = Pool->new($node, [ $superuser, 'caller' ], size => 1) or skip 'pgbouncer is not installed', 1;
	for my $name (@settings)
	{
		my ($value, $query) = @{ $in_effect{$name} };
		my ($one, $next) = map { session(node => $pool->{node}, user => 'caller') } 1 .. 2;
		ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'caller'");
		wait_until(sub { ask(q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'caller'}) == 0 });
		wait_until(sub { $one->ask("SET $name = '1'") eq '' });
		is($next->ask($query), $value, "$name: the next client of a session has the server's value");
		is($next->ask('SELECT pg_backend_pid()'), $one->ask('SELECT pg_backend_pid()'), 'it is the same session');
		is($_->ask($query), $value, '... and again') for $one, $next;
		$_->quit for $one, $next;
	}
	$pool->stop;
}

# --- Access to the path of the key file --------------------------------------------
my $show_file = 'SHOW idgen.key_file';
answers('the path of the key file: ',
	[ 'idgen_keys', 'before the library is loaded, the server shows it to all', 'caller', '', $show_file ]);
answers('the path of the key file, when the library is loaded: ',
	[ 42501, 'not for a role', 'caller', '', $load, $show_file ],
	[ 0, 'nor in pg_settings', 'caller', '', $load, q{SELECT count(*) FROM pg_settings WHERE name = 'idgen.key_file'} ],
	[ 'idgen_keys', 'for a superuser', $superuser, '', $load, $show_file ],
	[ 'idgen_keys', 'for a role of pg_read_all_settings', 'monitor', '', $load, $show_file ]);

# --- Set with the right -----------------------------------------------------
my $show = 'SHOW idgen.node_id';
my $set = 'SET idgen.node_id = 1';
answers('',
	[ 1, "a superuser can use the connection's options", $superuser, '-c idgen.node_id=1', $load, $show ],
	[ 1, 'a superuser can use SET', $superuser, '', $set, 'SET ROLE caller', $load, $show ],
	[ 7, 'a superuser cannot use SET after SET ROLE', $superuser, '', 'SET ROLE caller', $set, $load, $show ],
	[ 7, 'a role can undo what a superuser has set, and not replace it', $superuser, '', $set, 'SET ROLE caller',
		'SET idgen.node_id = 2', $load, 'RESET ROLE', $show ],
	[ 1, "a role with the right can use the connection's options", 'batch', '-c idgen.node_id=1', $load, $show ],
	[ 1, 'a role with the right can use SET', 'batch', '', $set, $load, $show ],
	[ 1, 'also when the library is loaded', 'batch', '', $load, $set, $show ],
	[ 42501, 'but not of another parameter', 'batch', '', $load, 'SET idgen.launch_id = 3' ],
	[ '55000', 'in no way', 'batch', '-c idgen.launch_id=1', $in_effect{'idgen.launch_id'}[1] ],
	[ 1, 'SET LOCAL', 'batch', '', 'BEGIN', $set, 'SET LOCAL idgen.node_id = 2', $load, 'COMMIT', $show ],
	[ 1, 'set_config() in a SECURITY DEFINER function', 'caller', '',
		q{SELECT set_as_superuser('idgen.node_id', '1')}, $load, $show ]);

for my $place ('DATABASE postgres', 'ROLE caller', 'ROLE caller IN DATABASE postgres')
{
	ask("ALTER $place SET idgen.node_id = 9");
	answers("ALTER $place: ",
		[ 9, 'takes effect', 'caller', '', $load, $show ],
		[ 9, 'not replaced by SET', 'caller', '', $set, $load, $show ],
		[ -1, "nor by the connection's options", 'caller', '-c idgen.node_id=1', $load, $show ]);
	ask("ALTER $place RESET idgen.node_id");
}

# --- A parameter that cannot be defined ---------------------------------------
# If an error interrupts the initialization of the library, the next call continues with the parameter that failed.
SKIP:
{
	my $library = build_library('defines_parameter', q{
	static int	value;

	DefineCustomIntVariable("idgen.launch_id", "", NULL, &value, 0, 0, 1, PGC_USERSET, 0, NULL, NULL, NULL);
}) or skip 'no compiler';
	my $client = session();
	$client->ask("LOAD '$library'");
	for my $call ('first', 'second')
	{
		$client->ask($load);
		is($client->{message}, 'attempt to redefine parameter "idgen.launch_id"', "the $call call");
	}
	$client->quit;
}

# --- Parallel workers -------------------------------------------------------
# If the leader has loaded the library, a worker loads it before taking over the leader's settings. Otherwise, the
# worker takes over the settings first.
for my $case ([ 'batch', settings_reach_workers() ? 1 : -1, 'SELECT 1' ], [ 'batch', 1, $load ],
	[ 'caller', -1, 'SELECT 1' ], [ 'caller', -1, $load ])
{
	my ($role, $expected, $first) = @$case;
	my $client = session(user => $role, options => '-c idgen.node_id=1');
	$client->ask($_) for $first, $Server::in_parallel;
	is( $client->ask("SELECT DISTINCT setting
		FROM (SELECT setting_in('idgen.node_id', $client->{pid}) AS setting FROM source OFFSET 0) s"),
		"$expected in a worker", "the option of $role in a parallel operation, after $first");
	$client->quit;
}

# --- The library is loaded by the postmaster, or at the beginning of a session ----------
ask(q{ALTER ROLE caller SET session_preload_libraries = 'idgen'});
answers('with session_preload_libraries, ',
	[ -1, 'an option of the connection leaves no value', 'caller', '-c idgen.node_id=1', $show ],
	[ 7, 'a session has the value of postgresql.conf', 'caller', '', $show ]);
ask(q{ALTER ROLE caller RESET session_preload_libraries});

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
$node->restart;
answers('loaded by the postmaster, ',
	[ 7, 'a session has the value of postgresql.conf', 'caller', '', $show ],
	[ 42501, 'the connection is rejected', 'caller', '-c idgen.node_id=77', 'SELECT 1' ],
	(map { [ 42501, "rejected: $_", 'caller', '', $_ ] } 'SET idgen.node_id = 77',
		'ALTER SYSTEM SET idgen.node_id = 77',
		'ALTER ROLE caller SET idgen.node_id = 77', 'ALTER DATABASE postgres SET idgen.launch_id = 77', $show_file),
	[ 77, 'a superuser can set it in the connection', $superuser, '-c idgen.node_id=77', $show ]);
is(ask('SELECT count(*) FROM pg_db_role_setting'), '0', 'no setting was stored');
done_testing();
