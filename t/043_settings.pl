# A role without the right cannot set a parameter idgen.*, whether or not the library is
# loaded. What it set before prevents the library from being loaded, so that a built-in
# default cannot replace the administrator's value.

use Server;

my %in_file = ('idgen.node_id' => 7, 'idgen.launch_id' => 42);

my $node = start_server('settings', join('', map { "$_ = $in_file{$_}\n" } sort keys %in_file));
ask(q{
	CREATE ROLE application LOGIN;
	CREATE ROLE batch LOGIN;
	GRANT SET ON PARAMETER idgen.node_id TO batch;
	ALTER DATABASE postgres OWNER TO application;
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
		RETURN current_setting(name)
			|| CASE WHEN pg_backend_pid() <> leader THEN ' in a worker' ELSE ' in its leader' END;
	END $$;});

my $load = 'SELECT idgen.uuid_v4() IS NULL';
my $superuser = ask('SELECT current_user');

# The result of the last of some statements in a new session, or of the connection if
# that is rejected
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

# Table rows: the answer, its name, and the arguments of answer()
sub answers { my ($about, @rows) = @_; is(answer(@$_[ 2 .. $#$_ ]), $_->[0], "$about$_->[1]") for @rows }

# --- Set without the right, before the library is loaded ----------------------
my @settings = split /\n/, ask("$load \\g /dev/null\n" . q{SELECT name FROM pg_settings
	WHERE name LIKE 'idgen.%' ORDER BY 1});
my %default = map { $_ => answer('application', '', $load, "SHOW $_") } @settings;
is("@settings", join(' ', sort 'idgen.key_file', keys %in_file), 'the settings');
is($default{'idgen.node_id'}, 7, 'a session has the value of postgresql.conf');

for my $name (@settings)
{
	# 1 is valid for some parameters and invalid for others
	my $set = "SET $name = 1";
	my @as_superuser = ('BEGIN', 'SET ROLE application', $set, 'RESET ROLE', "SET LOCAL $name = 2", $load);

	answers("$name: rejected ",
		map { [ 42501, @$_ ] }
		[ "in the connection's options", 'application', "-c $name=1", $load ],
		[ 'in capital letters', 'application', "-c \U$name\E=1", $load ],
		[ 'after SET', 'application', '', $set, $load ],
		[ 'again on the next call', 'application', '', $set, $load, $load ],
		[ 'after set_config()', 'application', '', "SELECT set_config('$name', '1', false)", $load ],
		[ 'after SET LOCAL', 'application', '', 'BEGIN', "SET LOCAL $name = 1", $load ],
		[ 'when ROLLBACK TO restores the value', 'application', '', 'BEGIN', $set, 'SAVEPOINT a', "RESET $name",
			$load ],
		[ 'when the end of the transaction restores the value', $superuser, '', @as_superuser ],
		[ 'when RESET restores the value', 'application', "-c $name=1", "SELECT set_as_superuser('$name', '2')",
			$load ],
		[ "when RESET restores the connection's options", 'application', "-c $name=1", "RESET $name", $load ]);
	for my $reset ("RESET $name", "SET $name TO DEFAULT", 'RESET ALL', 'DISCARD ALL', 'ROLLBACK')
	{
		my @begin = $reset eq 'ROLLBACK' ? 'BEGIN' : ();
		is(answer('application', '', @begin, $set, $load, $reset, $load, "SHOW $name"), $default{$name},
			"$name: after $reset, the server's value");
	}
}

my $show = 'SHOW idgen.node_id';
answers('',
	[ 42501, "rejected in a function's SET clause", 'application', '', 'SELECT with_setting()' ],
	[ 7, 'accepted after that function', 'application', '', 'SELECT with_setting()', $load, $show ],
	[ 7, 'accepted in a SET clause when a superuser calls the function', $superuser, '', 'SELECT with_setting()',
		$show ],
	[ 42501, 'the right to set one parameter does not extend to another', 'batch', '-c idgen.launch_id=1', $load ]);

like(errors($load, user => 'application', options => '-c idgen.node_id=1'),
	qr/^psql:<stdin>:1: ERROR:  42501: permission denied to set parameter "idgen.node_id"\nDETAIL: .*\nHINT: .*connect/,
	'the hint says what to do');

ask(q{ALTER ROLE application SET session_preload_libraries = 'idgen'});
answers('with session_preload_libraries, ',
	[ 42501, 'the connection is rejected', 'application', '-c idgen.node_id=1', 'SELECT 1' ],
	[ 7, 'a connection without the option is accepted', 'application', '', $show ]);
ask(q{ALTER ROLE application RESET session_preload_libraries});

# If the leader has the library, a worker loads it before it takes over the leader's settings, otherwise after
# that. The leader loads it during the parallel operation if there is no worker.
sub is_in_worker
{
	my ($role, $options, $expected, $title, @statements) = @_;
	for my $first ('SELECT 1', $load, 'SET max_parallel_workers = 0')
	{
		my $client = session(user => $role, options => $options);
		my $place = $first =~ /^SET/ ? 'its leader' : 'a worker';
		$client->ask($_) for @statements, $first, $Server::in_parallel;
		is( $client->ask("SELECT DISTINCT setting
			FROM (SELECT setting_in('idgen.node_id', $client->{pid}) AS setting FROM source OFFSET 0) s"),
			$expected eq '42501' ? $expected : "$expected in $place",
			"$title: in a parallel operation, after $first");
		is($client->ask($show), $expected, "$title: the same after the parallel operation") if $expected ne '42501';
		$client->quit;
	}
}

# --- Set with the right -----------------------------------------------------
my $set = 'SET idgen.node_id = 1';
answers('',
	[ 1, "a superuser can use the connection's options", $superuser, '-c idgen.node_id=1', $load, $show ],
	[ 1, 'a superuser can use SET', $superuser, '', $set, 'SET ROLE application', $load, $show ],
	[ 42501, 'a superuser cannot use SET after SET ROLE', $superuser, '', 'SET ROLE application', $set, $load ],
	[ 1, "a role with the right can use the connection's options", 'batch', '-c idgen.node_id=1', $load, $show ],
	[ 1, 'a role with the right can use SET', 'batch', '', $set, $load, $show ],
	[ 1, 'also when the library is loaded', 'batch', '', $load, $set, $show ],
	[ 42501, 'but not of another parameter', 'batch', '', $load, 'SET idgen.launch_id = 3' ],
	[ 1, 'SET LOCAL', 'batch', '', 'BEGIN', $set, 'SET LOCAL idgen.node_id = 2', $load, 'COMMIT', $show ],
	[ 1, 'set_config() in a SECURITY DEFINER function', 'application', '',
		q{SELECT set_as_superuser('idgen.node_id', '1')}, $load, $show ],
	[ 7, 'an unknown parameter idgen.* does not matter', 'application', '-c idgen.nothing=1', $load, $show ]);

for my $place ('DATABASE postgres', 'ROLE application', 'ROLE application IN DATABASE postgres')
{
	ask("ALTER $place SET idgen.node_id = 9");
	answers("ALTER $place: ",
		[ 9, 'takes effect', 'application', '', $load, $show ],
		[ 42501, 'not reverted', 'application', '-c idgen.node_id=1', $load ],
		[ 9, 'beside an unknown parameter', 'application', '-c idgen.nothing=1', $load, $show ]);
	is_in_worker('application', '', 9, "ALTER $place") if $place =~ /^DATABASE/;
	ask("ALTER $place RESET idgen.node_id");
}

# --- Parallel workers -------------------------------------------------------
is_in_worker($superuser, '', 1, q{a superuser's SET}, $set);
is_in_worker('batch', '-c idgen.node_id=1', 1, q{a grantee's option});
is_in_worker('application', '-c idgen.node_id=1', '42501', q{a plain role's option});

# --- The library is loaded by the postmaster ----------------------------------
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
$node->restart;
answers('loaded by the postmaster, ',
	[ 7, 'a session has the value of postgresql.conf', 'application', '', $show ],
	[ 42501, 'the connection is rejected', 'application', '-c idgen.node_id=77', 'SELECT 1' ],
	(map { [ 42501, "rejected: $_", 'application', '', $_ ] } 'SET idgen.node_id = 77',
		'ALTER SYSTEM SET idgen.node_id = 77',
		'ALTER ROLE application SET idgen.node_id = 77', 'ALTER DATABASE postgres SET idgen.launch_id = 77'),
	[ 77, 'a superuser can set it in the connection', $superuser, '-c idgen.node_id=77', $show ]);
is(ask('SELECT count(*) FROM pg_db_role_setting'), '0', 'no setting was stored');
done_testing();
