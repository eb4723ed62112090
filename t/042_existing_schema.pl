# CREATE EXTENSION rejects a schema "idgen" that exists, of any owner and in
# whichever transaction, so that a role cannot place a function of its own there.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

start_server('premade');
my $superuser = ask('SELECT current_user');
ask('CREATE ROLE installer LOGIN; CREATE DATABASE premade; GRANT CREATE ON DATABASE premade TO installer');

sub as { return outcome($_[1], user => $_[0], database => 'premade') }

# The installer tries to get a function into the schema that matches a superuser's
# call better than the extension's own.
my $overload = q{
	CREATE FUNCTION idgen.trim_creations(keep int) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		ALTER ROLE installer SUPERUSER;
		RETURN 0;
	END $$};
my $control = session(database => 'premade');
my $attacker = session(database => 'premade', user => 'installer');

sub check_no_trap
{
	my ($when) = @_;
	is($control->ask('SELECT idgen.trim_creations(1000)'), '0', "$when: a superuser can call a function");
	is( $control->ask(q{SELECT count(*) FILTER (WHERE proname = 'trim_creations'), count(*) FILTER (WHERE pg_get_userbyid(proowner) = 'installer')
			FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace}),
		'1|0', "$when: the function is the extension's own");
	is($control->ask(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'installer'}), 'f', "$when: the installer is not a superuser");
	$control->ask($_) for 'ALTER ROLE installer NOSUPERUSER', 'DROP EXTENSION idgen CASCADE';
}

# in a schema that exists, by a function that is not committed
$attacker->ask($_) for 'CREATE SCHEMA idgen', 'BEGIN', $overload;
is(as('installer', 'CREATE EXTENSION idgen'), '42P06', 'an existing schema with an uncommitted function is an error');
$attacker->ask('COMMIT');
$control->ask($_) for 'DROP SCHEMA idgen CASCADE', 'CREATE EXTENSION idgen';
check_no_trap('created in an open transaction');

for my $owner ($superuser, 'installer')
{
	is(as($owner, 'CREATE SCHEMA idgen'), '', "an empty schema of $owner");
	is(as($_, 'CREATE EXTENSION idgen'), '42P06', "is an error for $_") for $superuser, 'installer';
	$control->ask('DROP SCHEMA idgen');
}

# in a schema that another transaction has created
for my $end ('COMMIT', 'ROLLBACK')
{
	my $installing = session(database => 'premade');
	$attacker->ask($_) for 'BEGIN', 'CREATE SCHEMA idgen', $overload;
	$installing->send('CREATE EXTENSION idgen');
	$control->poll_waiting($installing);
	$attacker->ask($end);
	is($installing->answer, $end eq 'COMMIT' ? '23505' : '', "CREATE EXTENSION waits for a transaction that creates the schema: $end");
	$installing->quit;
	$control->ask($_) for $end eq 'COMMIT' ? ('DROP SCHEMA idgen CASCADE', 'CREATE EXTENSION idgen') : ();
	check_no_trap($end);
}

# in the schema of an extension that is not committed
$control->ask($_) for 'BEGIN', 'CREATE EXTENSION idgen';
is(as('installer', $overload), '3F000', 'no other session sees the new schema before the commit');
$control->ask('COMMIT');
is(as('installer', $overload), '42501', 'nor can the installer create a function in it later');
check_no_trap('installed by a superuser');

done_testing();
