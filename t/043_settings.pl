# Settings made before the library is loaded: a parameter idgen.* that a role set
# without the right to do so, in any way, prevents the library from being loaded,
# so that a built-in default cannot replace the administrator's value; values set
# with the right take effect. And idgen.clock, which does not depend on TimeZone and
# DateStyle, and which makes check_on_insert() fail if a stored value is not
# a timestamp.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %in_file = ('idgen.node_id' => 7, 'idgen.launch_id' => 42, 'idgen.max_ahead' => '2d', 'idgen.reserve_ahead' => '30s');

my $node = PostgreSQL::Test::Cluster->new('settings');
$node->init;
$node->append_conf('postgresql.conf', join('', map { "$_ = $in_file{$_}\n" } sort keys %in_file));
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	CREATE ROLE application LOGIN;
	CREATE ROLE batch LOGIN;
	GRANT SET ON PARAMETER idgen.clock, idgen.node_id TO batch;
	CREATE TABLE orders (id uuid);
	CREATE TRIGGER check_id BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'uuid_v7');
	GRANT INSERT ON orders TO application, batch;
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

# A new session; and the result of the last of some statements in it, or of the
# connection if that is rejected
sub connected
{
	my ($role, $options) = @_;

	return Client->connect($node, ($role eq 'superuser' ? () : (user => $role)), options => $options);
}

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

my @settings = split /\n/, $node->safe_psql('postgres', "$load \\g /dev/null\n" . q{SELECT name FROM pg_settings WHERE name LIKE 'idgen.%' ORDER BY 1});
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

my $errors;
{
	local $ENV{PGOPTIONS} = '-c idgen.node_id=1';
	$node->psql('postgres', $load, stderr => \$errors, extra_params => [ '--username', 'application' ]);
}
like($errors, qr/^psql:<stdin>:1: ERROR:  permission denied to set parameter "idgen.node_id"\nDETAIL:  .*\nHINT:  .*reconnect/, 'the hint says what to do');

$node->safe_psql('postgres', q{ALTER ROLE application SET session_preload_libraries = 'idgen'});
is(answer('application', '-c idgen.node_id=1', 'SELECT 1'), '42501', 'with session_preload_libraries, the connection is rejected');
is(answer('application', '', 'SHOW idgen.node_id'), 7, 'with session_preload_libraries, a connection without the option is accepted');
$node->safe_psql('postgres', q{ALTER ROLE application RESET session_preload_libraries});

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

		$client->ask($_) for @statements, $first,
		  'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off';
		my $leader = $client->ask('SELECT pg_backend_pid()');
		is( $client->ask("SELECT DISTINCT setting FROM (SELECT setting_in('idgen.node_id', $leader) AS setting FROM source OFFSET 0) s"),
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
	$node->safe_psql('postgres', "ALTER $place SET idgen.node_id = 9");
	is(answer('application', '', $load, 'SHOW idgen.node_id'), 9, "ALTER $place");
	is(answer('application', '-c idgen.node_id=1', $load), '42501', "ALTER $place: not reverted");
	is(answer('application', '-c idgen.nothing=1', $load, 'SHOW idgen.node_id'), 9, "ALTER $place: beside an unknown parameter");
	is_in_worker('application', '', 9, "ALTER $place");
	$node->safe_psql('postgres', "ALTER $place RESET idgen.node_id");
}

# --- Parallel workers -------------------------------------------------------

is_in_worker('application', '', 7, 'postgresql.conf');
is_in_worker('superuser', '', 1, q{a superuser's SET}, 'SET idgen.node_id = 1');
is_in_worker('superuser', '-c idgen.node_id=1', 1, q{a superuser's option});
is_in_worker('batch', '', 1, q{a grantee's SET}, 'SET idgen.node_id = 1');
is_in_worker('batch', '-c idgen.node_id=1', 1, q{a grantee's option});
is_in_worker('superuser', '', 7, 'an invalid idgen.clock', q{SET idgen.clock = 'half past two'});
is_in_worker('application', '-c idgen.node_id=1', '42501', q{a plain role's option});

# Settings keep their values if the library is loaded during a parallel
# operation.
my %type = map { split /\|/ } split /\n/, $node->safe_psql('postgres', "$load \\g /dev/null\n" . q{SELECT name, vartype FROM pg_settings WHERE name LIKE 'idgen.%'});
for my $name (grep { $_ ne 'idgen.mask_key_file' } @settings)	# which is set in files only
{
	my $value = $type{$name} eq 'string' ? '2022-11-02' : 20;

	$node->safe_psql('postgres', "ALTER DATABASE postgres SET $name = '$value'");
	like( answer(
			'application', '',
			'SET max_parallel_workers = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0',
			q{SELECT count(setting_in('application_name', 0)) FROM source}, "SHOW $name"),
		qr/^${value}s?$/, "$name: not reverted by a parallel query");
	$node->safe_psql('postgres', "ALTER DATABASE postgres RESET $name");
}

# --- idgen.clock ------------------------------------------------------------

my ($then, $now) = split /\|/, $node->safe_psql('postgres', q{SELECT idgen.uuid_v7('2022-11-02 03:44:00+00'), idgen.uuid_v7()});
my $old_order = "INSERT INTO orders VALUES ('$then')";
my $order = 'INSERT INTO orders VALUES (idgen.uuid_v7())';
my @unlike_iso = ('-c TimeZone=Asia/Kolkata', '-c DateStyle=SQL,DMY', '-c DateStyle=Postgres,MDY', '-c IntervalStyle=sql_standard', '-c timezone_abbreviations=India');

is(answer('application', '', $order), '', 'the clock is the server\'s');
is(answer('application', '', $old_order), '23514', 'the trigger rejects an old identifier');
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET idgen.clock = '2022-11-02 03:44'});
for my $options ('', @unlike_iso)
{
	my $set = $options =~ s/-c (\w+)=(.*)/SET $1 = '$2'/r || 'SELECT 1';

	is(answer('application', $options, $old_order), '', "$options: idgen.clock without a time zone is in UTC");
	is(answer('application', $options, $order), '23514', "$options: and in no other time zone");
	is(answer('application', '', $load, $set, $old_order), '', "$set: idgen.clock is in UTC");
}
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET idgen.clock');

# With the library loaded, an invalid value is rejected.
for my $refused (
	"SET idgen.clock = 'half past two'",
	"ALTER SYSTEM SET idgen.clock = 'half past two'",
	"ALTER DATABASE postgres SET idgen.clock = 'half past two'",
	"ALTER ROLE application SET idgen.clock = 'half past two'")
{
	is(answer('superuser', '', $load, $refused), '22023', "rejected: $refused");
}

# An invalid value set before the library was loaded makes the trigger fail.
my $unreadable = q{SET idgen.clock = '02.11.2022 03:44'};
is(answer('superuser', '', $unreadable, $order), '22007', 'an invalid idgen.clock set before the library was loaded');
is(answer('superuser', '', $unreadable, $order, 'SHOW idgen.clock'), '02.11.2022 03:44', 'the invalid value is kept');
is(answer('superuser', '', $unreadable, $order, 'RESET idgen.clock', $order), '', 'after RESET the trigger works');
is(answer('superuser', '', $unreadable, 'INSERT INTO orders VALUES (NULL)'), '', 'a row without an identifier needs no clock');
is(answer('superuser', '', 'BEGIN', $unreadable, q{SET LOCAL idgen.clock = '2022-11-02 03:44'}, $old_order, 'COMMIT', $order), '22007', 'the invalid value returns after SET LOCAL');
is(answer('batch', '', 'BEGIN', q{SET LOCAL idgen.clock = '2022-11-02 03:44'}, $old_order), '', 'a late batch sets its clock');
for my $place ('DATABASE postgres', 'ROLE application', 'ROLE application IN DATABASE postgres')
{
	$node->safe_psql('postgres', "ALTER $place $unreadable");
	is(answer('application', '', $order), '22007', "an invalid idgen.clock by ALTER $place");
	is(answer('application', '', $load, $order), '22007', "by ALTER $place, when another function loads the library");
	$node->psql('postgres', $order, stderr => \$errors, extra_params => [ '--username', 'application' ]);
	like($errors, qr/ERROR:  parameter "idgen.clock" is not a timestamp\nDETAIL:  The value is "02.11.2022 03:44".\nHINT:  /, 'the error message shows the value')
	  if $place !~ /^ROLE/;
	$node->safe_psql('postgres', "ALTER $place RESET idgen.clock");
}

# A postmaster without the library accepts any text from its configuration file; so do
# existing sessions, within a transaction or not.
my %earlier = map { $_ => connected('application', '') } 'idle', 'in a transaction';
$_->ask($load) for values %earlier;
$earlier{'in a transaction'}->ask('BEGIN');
$node->append_conf('postgresql.conf', q{idgen.clock = 'half past two'});
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('idgen.clock') = 'half past two'}) or die 'no reload';
is(answer('application', '', $order), '22007', 'an invalid idgen.clock in postgresql.conf');
for my $state (sort keys %earlier)
{
	my $shown = '';

	# the signal may not have arrived yet
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$shown = $earlier{$state}->ask('SHOW idgen.clock');
		last if $shown ne '';
		select(undef, undef, undef, 0.1);
	}
	is($shown, 'half past two', "an existing session, $state, gets the invalid value");
	is($earlier{$state}->ask($order), '22007', "an existing session, $state: the trigger fails");
}

# The same if the postmaster has the library
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
$node->restart;
is(answer('application', '', $order), '22007', 'an invalid idgen.clock with a preloaded library');
is(answer('application', '-c idgen.node_id=1', $order), '42501', 'a preloaded library rejects a setting without the right');
is(answer('superuser', '', q{SET idgen.clock = '2022-11-02 03:44'}, $old_order), '', 'a preloaded library accepts a valid value');

$node->append_conf('postgresql.conf', q{idgen.clock = '2022-11-02 03:44'});
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('idgen.clock') = '2022-11-02 03:44'}) or die 'no reload';
is(answer('application', '', $old_order), '', 'the value in postgresql.conf is corrected');
my $log_offset = -s $node->logfile;
$node->append_conf('postgresql.conf', q{idgen.clock = 'half past three'});
$node->reload;
ok( $node->poll_query_until('postgres', qq{SELECT pg_read_file('${\ $node->logfile }', $log_offset, 100000) ~ 'invalid value for parameter "idgen.clock": "half past three"'}),
	'a preloaded library rejects an invalid value on reload');
is(answer('application', '', $old_order), '', 'the old value is still in effect');

$node->append_conf('postgresql.conf', q{idgen.clock = ''});
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
$node->safe_psql('postgres', "ALTER ROLE application $unreadable");
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
$node->restart;
is(answer('application', '', $order), '22007', 'an invalid value stored by ALTER ROLE before the library was preloaded makes the trigger fail');
is(answer('superuser', '', $order), '', 'for that role only');

$node->stop;
done_testing();
