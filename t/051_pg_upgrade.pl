# Verify pg_upgrade from this server version, or from the version in OLD_BINDIR (see dev/test-upgrade.sh). Databases in
# use keep their contents, and new identifiers are greater than all previous ones, even if the new server's clock is
# behind. Settings made with ALTER SYSTEM are not transferred.

use FakeClock;
use File::Basename qw(dirname);
use InUse;
use Server;

my ($new_bindir) = run_command([ 'pg_config', '--bindir' ]);
my $old_bindir = $ENV{OLD_BINDIR} // $new_bindir;
my @old_install = defined $ENV{OLD_BINDIR} ? (install_path => dirname($old_bindir)) : ();

# pg_upgrade writes into the current directory.
chdir ${PostgreSQL::Test::Utils::tmp_check} or die "chdir: $!";

# PostgreSQL 18 enables checksums by default, so enable them on every version.
sub new_node { my $node = PostgreSQL::Test::Cluster->new(@_); $node->init(extra => ['--data-checksums']); return $node }

# One database has its own settings, and the other database uses the server's settings.
my $old = new_node('old', @old_install);
$old->start;
InUse::create($old, 'shop');
$old->safe_psql('postgres', 'LOAD $$idgen$$; ' . ($_ =~ s/^(\S+) = (.*)$/ALTER SYSTEM SET $1 = $2/r))
  for grep { /=/ } split /\n/, $InUse::settings;
$old->restart;
InUse::create($old, 'warehouse', server_has_settings => 1);

my $version = $old->safe_psql('shop', q{SELECT extversion FROM pg_extension WHERE extname = 'idgen'});
my %before = map { $_ => InUse::contents($old, $_) } 'shop', 'warehouse';
my $auto_conf = slurp_file($old->data_dir . '/postgresql.auto.conf');
like($auto_conf, qr/^idgen\.node_id = '21'$/m, 'the server has settings');
note 'from ' . $old->safe_psql('postgres', 'SELECT version()');
$old->stop;
$old->backup_fs_cold('stopped');

my %modes = (link => ['--link']);
if (defined $ENV{OLD_BINDIR})
{
	$modes{copy} = [];
	$modes{swap} = ['--swap'] if (run_command([ 'pg_upgrade', '--help' ]))[0] =~ /--swap/;
}

for my $name (sort keys %modes)
{
	my $from = PostgreSQL::Test::Cluster->new("from_$name", @old_install);
	my $to = new_node("to_$name");
	$from->init_from_backup($old, 'stopped');
	command_ok(
		[ 'pg_upgrade', @{ $modes{$name} }, '--old-datadir', $from->data_dir, '--new-datadir', $to->data_dir,
			'--old-bindir', $old_bindir, '--new-bindir', $new_bindir,
			'--old-port', $from->port, '--new-port', $to->port, '--socketdir', $to->host ],
		"$name: pg_upgrade");

	if (FakeClock::is_installed())
	{
		FakeClock::start_behind($to, 3600);
		FakeClock::check_behind($to, 3600, "$name: the new server's clock is an hour behind");
		is( $to->safe_psql('shop',
			q{SELECT bool_and(to_timestamp(last_value >> 28) > clock_timestamp()) FROM pg_sequences
				WHERE sequencename LIKE '%\_mark'}),
			't', "$name: the clock is behind the reservations of the old server");
	}
	else { $to->start }
	note 'to ' . $to->safe_psql('postgres', 'SELECT version()');
	is(InUse::contents($to, $_), $before{$_}, "$name: the contents of $_ are the same") for 'shop', 'warehouse';
	is($to->safe_psql('shop', q{SELECT extversion FROM pg_extension WHERE extname = 'idgen'}), $version,
		"$name: the extension version is the same");
	is( $to->safe_psql('shop', q{SELECT extowner = 10 FROM pg_extension WHERE extname = 'idgen'}) . ' '
		  . outcome('SET ROLE shopkeeper; ALTER EXTENSION idgen UPDATE', node => $to, database => 'shop'),
		't 42501', "$name: the bootstrap superuser owns the extension, and the installer cannot update it");
	InUse::check_works($to, 'shop', $name);

	is(outcome('SELECT idgen.snowflake()', node => $to, database => 'warehouse'), '55000',
		"$name: without the server's settings, functions that require a node raise an error");
	$to->append_conf('postgresql.auto.conf', $auto_conf);
	$to->reload;
	ok($to->poll_query_until('warehouse',
		'SELECT idgen.uuid_v4() IS NOT NULL AND current_setting($$idgen.node_id$$) = $$21$$'),
		"$name: the settings are transferred");
	InUse::check_works($to, 'warehouse', $name);
	$to->stop;
}

done_testing();
