# The portable edition as extensions of pg_tle, if it is installed
# (dev/test-engine.sh): the commands of contrib/portable/README.md, by a plain role.

use Page;
use Server;

my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'pg_tle is not installed' unless -e "$libraries/pg_tle.so";

my ($install) = Page->new('contrib/portable/README.md')->blocks('Install with pg_tle', 'sh');
my $node = init_server('pgtle', "shared_preload_libraries = 'pg_tle'");
$node->start;
ask(q{
	CREATE EXTENSION pg_tle;
	CREATE ROLE app LOGIN;
	GRANT pgtle_admin TO app;
	GRANT CREATE ON DATABASE postgres TO app;
	CREATE ROLE clerk LOGIN});

sub as { my ($user, $sql) = @_; return outcome($sql, user => $user) }

{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ($node->host, $node->port, 'app', 'postgres');
	is((run_command([ 'bash', '-e', '-c', $install ]))[1], '',
		'the commands of the page install and create the extensions');
}
is(as('clerk', 'SELECT file, version FROM idgen.portable_version()'), "create_once|1.0\ntext_ids|1.0\nuuids|1.0",
	'all files are there');
is(as('clerk', q{SELECT idgen.is_recent_short_comb(idgen.short_comb()),
	idgen.is_prefixed_id(idgen.prefixed_id('acct'), 'acct')}),
	't|t', 'functions work');
is(ask(q{SELECT count(*) FROM pg_proc p WHERE pronamespace = 'idgen'::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend
			WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')}),
	'0', 'all functions belong to an extension');

my $command = q{SELECT * FROM idgen.create_once(
	'c0000000-0000-4000-8000-000000000001', 'e0000000-0000-4000-8000-000000000001', 'order')};
is(as('app', $command), 'e0000000-0000-4000-8000-000000000001|t', 'a command is recorded');
is(as('app', 'DROP EXTENSION idgen_uuids'), '2BP01', 'what others need cannot be dropped');

# a dump has the recorded commands; restored extensions belong to the role that restores
dump_and_restore('plain', 'postgres', 'restored');
is(ask($command, 'restored'), 'e0000000-0000-4000-8000-000000000001|f', 'a command is known after the restore');

is(as('app', "DROP EXTENSION idgen_create_once, idgen_text_ids, idgen_uuids;
	SELECT to_regnamespace('idgen') IS NULL"), 't',
	'dropping the extensions removes all');
done_testing();
