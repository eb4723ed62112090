# CREATE EXTENSION rejects a schema "idgen" that exists, of any owner and in
# whichever transaction, so that a role cannot place a function of its own there.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

my $node = start_server('premade');

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
my $attacker = $node->background_psql('premade', on_error_stop => 0, extra_params => [ '--username', 'installer' ]);

sub check_no_trap
{
	my ($when) = @_;
	is(as($superuser, 'SELECT idgen.trim_creations(1000)'), '0', "$when: a superuser can call a function");
	is( $node->safe_psql('premade', q{SELECT count(*) FILTER (WHERE proname = 'trim_creations'), count(*) FILTER (WHERE pg_get_userbyid(proowner) = 'installer')
			FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace}),
		'1|0', "$when: the function is the extension's own");
	is($node->safe_psql('premade', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'installer'}), 'f', "$when: the installer is not a superuser");
	$node->safe_psql('premade', 'ALTER ROLE installer NOSUPERUSER; DROP EXTENSION idgen CASCADE');
}

# in a schema that exists, by a function that is not committed
$attacker->query_safe("CREATE SCHEMA idgen; BEGIN; $overload");
my $installed = as('installer', 'CREATE EXTENSION idgen');
is($installed, '42P06', 'an existing schema with an uncommitted function is an error');
$attacker->query_safe('COMMIT');
$node->safe_psql('premade', 'DROP SCHEMA idgen CASCADE; CREATE EXTENSION idgen') if $installed ne '';
check_no_trap('created in an open transaction');

for my $owner ($superuser, 'installer')
{
	is(as($owner, 'CREATE SCHEMA idgen'), '', "an empty schema of $owner");
	is(as($_, 'CREATE EXTENSION idgen'), '42P06', "is an error for $_") for $superuser, 'installer';
	$node->safe_psql('premade', 'DROP SCHEMA idgen');
}

# in a schema that another transaction has created
for my $end ('COMMIT', 'ROLLBACK')
{
	my $installing = $node->background_psql('premade', on_error_stop => 0);
	$attacker->query_safe("BEGIN; CREATE SCHEMA idgen; $overload");
	$installing->query_until(qr/begun/, "\\echo begun\nCREATE EXTENSION idgen;\n\\echo :SQLSTATE\n");
	$node->poll_query_until('premade', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted})
	  or die 'CREATE EXTENSION does not wait';
	$attacker->query_safe($end);
	is($installing->query(''), $end eq 'COMMIT' ? '23505' : '00000', "CREATE EXTENSION waits for a transaction that creates the schema: $end");
	$installing->quit;
	$node->safe_psql('premade', 'DROP SCHEMA idgen CASCADE; CREATE EXTENSION idgen') if $end eq 'COMMIT';
	check_no_trap($end);
}

# in the schema of an extension that is not committed
my $installing = $node->background_psql('premade');
$installing->query_safe('BEGIN; CREATE EXTENSION idgen');
is(as('installer', $overload), '3F000', 'no other session sees the new schema before the commit');
$installing->query_safe('COMMIT');
$installing->quit;
is(as('installer', $overload), '42501', 'nor can the installer create a function in it later');
check_no_trap('installed by a superuser');

$attacker->quit;
done_testing();
