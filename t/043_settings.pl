# Settings made before the library is loaded: a parameter idgen.* that a role set
# without the right to do so, in any way, prevents the library from being loaded,
# so that a built-in default cannot replace the administrator's value; values set
# with the right take effect.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use Server;

my %in_file = ('idgen.node_id' => 7, 'idgen.launch_id' => 42, 'idgen.max_ahead' => '2d', 'idgen.reserve_ahead' => '30s');

my $node = start_server('settings', join('', map { "$_ = $in_file{$_}\n" } sort keys %in_file));
ask(q{
	CREATE ROLE application LOGIN;
	CREATE ROLE batch LOGIN;
	GRANT SET ON PARAMETER idgen.node_id TO batch;
	CREATE FUNCTION set_as_superuser(text, text) RETURNS text LANGUAGE sql SECURITY DEFINER
		RETURN set_config($1, $2, false);
	CREATE FUNCTION with_setting() RETURNS uuid LANGUAGE plpgsql SET idgen.node_id = 3
		AS 'BEGIN RETURN idgen.uuid_v4(); END';
	CREATE TABLE source AS SELECT FROM generate_series(1, 1000);
	ALTER TABLE source SET (parallel_workers = 2);
	GRANT SELECT ON source TO PUBLIC;
	CREATE FUNCTION setting_in(name text, leader int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		PERFORM idgen.uuid_v7();
		RETURN current_setting(name) || CASE WHEN pg_backend_pid() <> leader THEN ' in a worker' ELSE ' in its leader' END;
	END $$;});

my $load = 'SELECT idgen.uuid_v4() IS NULL';

my %user = (superuser => ask('SELECT current_user'));

sub connected { my ($role, $options) = @_; return Client->connect($node, user => $user{$role} // $role, options => $options) }

# The result of the last of some statements in a new session, or of the connection if
# that is rejected
sub answer
{
	my ($role, $options, @statements) = @_;
	my $client = connected($role, $options);
	my $answer = $client->wait;

	$answer = $client->ask($_) for $answer eq '' ? @statements : ();
	$client->quit;
	return $answer;
}

# --- Set without the right --------------------------------------------------

my @settings = split /\n/, ask("$load \\g /dev/null\n" . q{SELECT name FROM pg_settings WHERE name LIKE 'idgen.%' ORDER BY 1});
my %default = map { $_ => answer('application', '', $load, "SHOW $_") } @settings;
cmp_ok(scalar @settings, '>=', 5, 'these are the settings: ' . join(' ', @settings));
is($default{'idgen.node_id'}, 7, 'a session has the value of postgresql.conf');

for my $name (@settings)
{
	my $show = "SHOW $name";

	# 1 is valid for some parameters and invalid for others
	is(answer('application', "-c $name=1", $load), '42501', "$name: rejected in the connection's options");
	is(answer('application', "-c \U$name\E=1", $load), '42501', "$name: rejected in capital letters");
	is(answer('application', '', "SET $name = 1", $load), '42501', "$name: rejected after SET");
	is(answer('application', '', "SET $name = 1", $load, $load), '42501', "$name: rejected again on the next call");
	is(answer('application', '', "SELECT set_config('$name', '1', false)", $load), '42501', "$name: rejected after set_config()");
	is(answer('application', '', 'BEGIN', "SET LOCAL $name = 1", $load), '42501', "$name: rejected after SET LOCAL");
	is( answer('application', '', 'BEGIN', "SET $name = 1", 'SAVEPOINT a', "RESET $name", $load),
		'42501', "$name: rejected when ROLLBACK TO restores the value");
	is( answer('superuser', '', 'BEGIN', 'SET ROLE application', "SET $name = 1", 'RESET ROLE', "SET LOCAL $name = 2", $load),
		'42501', "$name: rejected when the end of the transaction restores the value");
	is( answer('application', "-c $name=1", "SELECT set_as_superuser('$name', '2')", $load),
		'42501', "$name: rejected when RESET restores the value");

	is(answer('application', "-c $name=1", "RESET $name", $load), '42501', "$name: rejected when RESET restores the connection's options");
	for my $reset ("RESET $name", "SET $name TO DEFAULT", 'RESET ALL', 'DISCARD ALL')
	{
		is(answer('application', '', "SET $name = 1", $load, $reset, $load, $show), $default{$name}, "$name: after $reset, the server's value");
	}
	is(answer('application', '', 'BEGIN', "SET $name = 1", $load, 'ROLLBACK', $load, $show), $default{$name}, "$name: after ROLLBACK, the server's value");
}

is(answer('application', '', 'SELECT with_setting()'), '42501', "rejected in a function's SET clause");
is(answer('application', '', 'SELECT with_setting()', $load, 'SHOW idgen.node_id'), 7, 'accepted after that function');
is(answer('superuser', '', 'SELECT with_setting()', 'SHOW idgen.node_id'), 7, 'accepted in a SET clause when a superuser calls the function');
is(answer('batch', '-c idgen.launch_id=1', $load), '42501', 'the right to set one parameter does not extend to another');

like(errors($load, user => 'application', options => '-c idgen.node_id=1'), qr/^psql:<stdin>:1: ERROR:  42501: permission denied to set parameter "idgen.node_id"\nDETAIL:  .*\nHINT:  .*reconnect/, 'the hint says what to do');

ask(q{ALTER ROLE application SET session_preload_libraries = 'idgen'});
is(answer('application', '-c idgen.node_id=1', 'SELECT 1'), '42501', 'with session_preload_libraries, the connection is rejected');
is(answer('application', '', 'SHOW idgen.node_id'), 7, 'with session_preload_libraries, a connection without the option is accepted');
ask(q{ALTER ROLE application RESET session_preload_libraries});

# If the leader has the library, a worker loads it before it takes over the leader's
# settings, otherwise after that. The leader loads it during the parallel operation
# if there is no worker.
sub is_in_worker
{
	my ($role, $options, $expected, $title, @statements) = @_;

	for my $first ('SELECT 1', $load, 'SET max_parallel_workers = 0')
	{
		my $client = connected($role, $options);
		my $place = $first =~ /^SET/ ? 'its leader' : 'a worker';

		$client->ask($_) for @statements, $first, $Server::in_parallel;
		is( $client->ask("SELECT DISTINCT setting FROM (SELECT setting_in('idgen.node_id', $client->{pid}) AS setting FROM source OFFSET 0) s"),
			$expected eq '42501' ? $expected : "$expected in $place",
			"$title: in a parallel operation, after $first");
		is($client->ask('SHOW idgen.node_id'), $expected, "$title: the same after the parallel operation") if $expected ne '42501';
		$client->quit;
	}
}

# --- Set with the right -----------------------------------------------------

is(answer('superuser', '-c idgen.node_id=1', $load, 'SHOW idgen.node_id'), 1, "a superuser can use the connection's options");
is(answer('superuser', '', 'SET idgen.node_id = 1', 'SET ROLE application', $load, 'SHOW idgen.node_id'), 1, 'a superuser can use SET');
is(answer('superuser', '', 'SET ROLE application', 'SET idgen.node_id = 1', $load), '42501', 'a superuser cannot use SET after SET ROLE to a role without the right');
is(answer('batch', '-c idgen.node_id=1', $load, 'SHOW idgen.node_id'), 1, "a role with the right can use the connection's options");
is(answer('batch', '', 'SET idgen.node_id = 1', $load, 'SHOW idgen.node_id'), 1, 'a role with the right can use SET');
is(answer('batch', '', 'BEGIN', 'SET idgen.node_id = 1', 'SET LOCAL idgen.node_id = 2', $load, 'COMMIT', 'SHOW idgen.node_id'), 1, 'a role with the right can use SET LOCAL');
is(answer('application', '', q{SELECT set_as_superuser('idgen.node_id', '1')}, $load, 'SHOW idgen.node_id'), 1, 'a SECURITY DEFINER function can use set_config()');
is(answer('application', '-c idgen.nothing=1', $load, 'SHOW idgen.node_id'), 7, 'an unknown parameter idgen.* does not prevent loading the library');

for my $place ('DATABASE postgres', 'ROLE application', 'ROLE application IN DATABASE postgres')
{
	ask("ALTER $place SET idgen.node_id = 9");
	is(answer('application', '', $load, 'SHOW idgen.node_id'), 9, "ALTER $place");
	is(answer('application', '-c idgen.node_id=1', $load), '42501', "ALTER $place: not reverted");
	is(answer('application', '-c idgen.nothing=1', $load, 'SHOW idgen.node_id'), 9, "ALTER $place: beside an unknown parameter");
	is_in_worker('application', '', 9, "ALTER $place");
	ask("ALTER $place RESET idgen.node_id");
}

# --- Parallel workers -------------------------------------------------------

is_in_worker('application', '', 7, 'postgresql.conf');
is_in_worker('superuser', '', 1, q{a superuser's SET}, 'SET idgen.node_id = 1');
is_in_worker('superuser', '-c idgen.node_id=1', 1, q{a superuser's option});
is_in_worker('batch', '', 1, q{a grantee's SET}, 'SET idgen.node_id = 1');
is_in_worker('batch', '-c idgen.node_id=1', 1, q{a grantee's option});
is_in_worker('application', '-c idgen.node_id=1', '42501', q{a plain role's option});

# Settings keep their values if the library is loaded during a parallel
# operation.
for my $name (grep { $_ ne 'idgen.mask_key_file' } @settings)	# which is set in files only
{
	ask("ALTER DATABASE postgres SET $name = 20");
	like( answer(
			'application', '',
			in_parallel('SET max_parallel_workers = 0; SET parallel_leader_participation = on'),
			q{SELECT count(setting_in('application_name', 0)) FROM source}, "SHOW $name"),
		qr/^20s?$/, "$name: not reverted by a parallel query");
	ask("ALTER DATABASE postgres RESET $name");
}

# --- A preloaded library ----------------------------------------------------

$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
$node->restart;
is(answer('application', '-c idgen.node_id=1', 'SELECT 1'), '42501', 'a preloaded library rejects a setting without the right');
is(answer('application', '', 'SHOW idgen.node_id'), 7, 'a session without it has the value of postgresql.conf');

done_testing();
