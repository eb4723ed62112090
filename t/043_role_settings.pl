# A role without the right cannot set a parameter in any way: before the library is
# loaded, when it is loaded, or when the postmaster has loaded it. (What a role set
# before the library is loaded: 043_settings.pl.)

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

my $node = start_server('role_settings');
my $superuser = ask('SELECT current_user');
ask(q{
	CREATE ROLE application LOGIN;
	CREATE ROLE operator LOGIN;
	GRANT SET ON PARAMETER idgen.node_id TO operator;
	CREATE DATABASE own OWNER application});
$node->safe_psql('own', 'CREATE EXTENSION idgen');

sub as { return outcome($_[1], user => $_[0], options => $_[2], database => 'own') }

my $load = 'DO $$ BEGIN PERFORM idgen.uuid_v4(); END $$';
my %settings = ('idgen.node_id' => 7, 'idgen.launch_id' => 7, 'idgen.max_ahead' => 77, 'idgen.reserve_ahead' => 77);
is( as($superuser, "$load; SELECT string_agg(name, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'idgen.%'"),
	join(' ', sort 'idgen.mask_key_file', keys %settings), 'the list of settings is complete, but for one that only files set');

is(as('operator', "$load; SET idgen.node_id = 3"), '', 'a role with the right sets a parameter');
is(as('operator', "$load; SET idgen.launch_id = 3"), '42501', 'but no other');

for my $loaded ('not loaded', 'loaded', 'loaded by the postmaster')
{
	my $first = $loaded eq 'loaded' ? $load : 'DO $$ BEGIN END $$';

	if ($loaded eq 'loaded by the postmaster')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}
	for my $name (sort keys %settings)
	{
		my $value = $settings{$name};
		my @refused = (
			"ALTER ROLE application SET $name = $value",
			"ALTER DATABASE own SET $name = $value",
			"ALTER ROLE application IN DATABASE own SET $name = $value",
			"ALTER SYSTEM SET $name = $value",
			"CREATE FUNCTION pg_temp.with_setting() RETURNS int LANGUAGE sql SET $name = $value AS 'SELECT 1'");

		push @refused, "SET $name = $value", "SET SESSION $name = $value", "BEGIN; SET LOCAL $name = $value",
		  "DO \$\$ BEGIN PERFORM set_config('$name', '$value', false); END \$\$",
		  "UPDATE pg_settings SET setting = '$value' WHERE name = '$name'", "RESET $name"
		  if $loaded ne 'not loaded';
		is(as('application', "$first; $_"), '42501', "$loaded, rejected: $_") for @refused;

		if ($loaded eq 'loaded by the postmaster')
		{
			eval { as('application', 'SELECT 1', "-c $name=$value") };
			like($@, qr/FATAL:  permission denied to set parameter "$name"/, "$loaded, the connection is rejected with $name");
		}

		# the rights are the only obstacle
		like(as($superuser, "$first; SET $name = $value; $load; SHOW $name"), qr/^$value/, "$loaded, a superuser can set $name");
		like(as($superuser, "$load; SHOW $name", "-c $name=$value"), qr/^$value/, "$loaded, a superuser can set $name in the connection");
	}
	is($node->safe_psql('own', 'SELECT count(*) FROM pg_db_role_setting'), '0', "$loaded: no setting was stored");
}

done_testing();
