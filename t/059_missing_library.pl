# Verify the statements of docs/install.md about servers without the library: a standby and its promotion, a server that
# preloads the library, a restore, and pg_upgrade.

use PostgreSQL::Test::Cluster;
use Server;

my ($without, $libraries, $extension) = copy_of_server();
unlink "$libraries/idgen.so", glob("$extension/idgen*") or die "unlink: $!";

my $primary = init_server('primary', undef, allows_streaming => 1);
$primary->start;
ask(q{
	CREATE EXTENSION idgen;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'));
	CREATE TABLE drafts (id uuid PRIMARY KEY);
	CREATE INDEX by_time ON drafts (idgen.uuid_timestamp(id));
	INSERT INTO orders DEFAULT VALUES;
	INSERT INTO drafts VALUES (idgen.uuid_v7())});
$primary->backup('base');

# --- A standby, and its promotion ---------------------------------------------------------------------
my $standby = PostgreSQL::Test::Cluster->new('standby', install_path => $without);
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM orders'), '1', 'a standby without the library runs');
$standby->promote;
for my $statement ('INSERT INTO orders DEFAULT VALUES', 'INSERT INTO drafts VALUES (gen_random_uuid())',
	'ANALYZE drafts', 'REINDEX TABLE drafts')
{
	is(outcome($statement, node => $standby), '58P01', "... until its promotion: $statement");
}
is(outcome('INSERT INTO orders VALUES (gen_random_uuid())', node => $standby), '',
	'... but a table without such an index accepts keys of clients');
$standby->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
$standby->stop;
is($standby->start(fail_ok => 1), 0, 'a server that preloads the library does not start');
like(slurp_file($standby->logfile), qr/FATAL:  could not access file "idgen"/, '... and says why');

# --- A restore ------------------------------------------------------------------------------------------
my $restored = PostgreSQL::Test::Cluster->new('restored', install_path => $without);
$restored->init;
$restored->start;
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
system_or_bail('pg_dump', '-Fc', '-f', $dump, $primary->connstr('postgres'));
command_fails([ 'pg_restore', '-d', $restored->connstr('postgres'), $dump ], 'a restore fails');
is($restored->safe_psql('postgres', q{SELECT to_regclass('orders'), to_regclass('drafts'), to_regnamespace('idgen')}),
	'|drafts|', '... without the extension and the table whose default needs it');
$restored->stop;

# --- pg_upgrade -----------------------------------------------------------------------------------------
$primary->stop;
chdir ${PostgreSQL::Test::Utils::tmp_check} or die "chdir: $!";
my $new = PostgreSQL::Test::Cluster->new('new', install_path => $without);
$new->init;
my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
command_checks_all(
	[ 'pg_upgrade', '--check', '--old-datadir', $primary->data_dir, '--new-datadir', $new->data_dir,
		'--old-bindir', $bindir, '--new-bindir', "$without/bin", '--old-port', $primary->port, '--new-port', $new->port,
		'--socketdir', $primary->host ],
	1, [qr/loadable libraries.*missing/s], [qr//], 'pg_upgrade --check fails');
done_testing();
