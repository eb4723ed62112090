# The portable edition as extensions of pg_tle, if it is installed
# (scripts/dev/test-engine.sh): the commands of docs/portable.md, by a plain role.

use Page;
use Server;

my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'pg_tle is not installed' unless -e "$libraries/pg_tle.so";

my ($install) = Page->new('portable')->blocks('Install with pg_tle', 'sh');
my $node = init_server('pgtle', "shared_preload_libraries = 'pg_tle'");
$node->start;
ask(q{
	CREATE EXTENSION pg_tle;
	CREATE ROLE app LOGIN;
	GRANT pgtle_admin TO app;
	GRANT CREATE ON DATABASE postgres TO app;
	CREATE ROLE clerk LOGIN});

# The rows that psql prints, or its errors
sub run_psql
{
	my ($user, $script, $database) = @_;
	IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database // 'postgres') . " user=$user" ],
		'<', \$script, '>', \my $out, '2>', \my $error);
	chomp $out;
	return $error eq '' ? $out : $error;
}

{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ($node->host, $node->port, 'app', 'postgres');
	is((run_command([ 'bash', '-e', '-c', $install ]))[1], '', 'the commands of the page install and create the extensions');
}
is(run_psql('clerk', 'SELECT file, version FROM idgen.portable_version()'), "create_once|1.0\ntext_ids|1.0\nuuids|1.0", 'all files are there');
is(run_psql('clerk', q{SELECT idgen.is_recent_short_comb(idgen.short_comb()), idgen.is_prefixed_id(idgen.prefixed_id('acct'), 'acct')}),
	't|t', 'functions work');
is(ask(q{SELECT count(*) FROM pg_proc p WHERE pronamespace = 'idgen'::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')}),
	'0', 'all functions belong to an extension');

my $command = q{SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', 'e0000000-0000-4000-8000-000000000001', 'order')};
is(run_psql('app', $command), 'e0000000-0000-4000-8000-000000000001|t', 'a command is recorded');
like($node->psql('postgres', 'DROP EXTENSION idgen_uuids', extra_params => ['-Uapp']), qr/^3$/, 'what others need cannot be dropped');

# a dump has the recorded commands; restored extensions belong to the role that restores
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'pg_dump');
like(slurp_file($dump), qr/^COPY idgen\.creation_identifiers/m, 'the dump contains the recorded commands');
ask('CREATE DATABASE restored');
my $superuser = ask('SELECT current_user');
is(run_psql($superuser, "\\o /dev/null\n" . slurp_file($dump), 'restored'), '', 'it is restored');
is(run_psql($superuser, $command, 'restored'), 'e0000000-0000-4000-8000-000000000001|f', 'a command is known after the restore');

is(run_psql('app', "DROP EXTENSION idgen_create_once, idgen_text_ids, idgen_uuids; SELECT to_regnamespace('idgen') IS NULL"), 't',
	'dropping the extensions removes all');
done_testing();
