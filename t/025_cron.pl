# Verify that pg_cron can purge recorded commands as a role that has only the required rights. The job deletes all old
# commands, even if there are more of them than a single call deletes, but it deletes no recent commands. The job of a
# role without these rights fails, and the failure is logged.

use Page;
use Server;

my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
my ($control) = -e "$sharedir/extension/pg_cron.control" ? slurp_file("$sharedir/extension/pg_cron.control") : ();
plan skip_all => 'pg_cron is not installed' unless defined $control;

# Since version 1.5 of pg_cron, a job can run every second. Earlier versions run a job at most once per minute.
my ($minor) = $control =~ /^default_version = '1\.(\d+)/m or die 'no version';
my $schedule = $minor >= 5 ? '1 second' : '* * * * *';

my $node = start_server('cron',
	"shared_preload_libraries = 'pg_cron'\ncron.database_name = 'postgres'\ncron.use_background_workers = on");

# There are more old commands than one call deletes, and five recent commands.
ask(q{
	INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
		SELECT idgen.uuid_v7(), 'create order', i, now() - interval '73 hours' FROM generate_series(1, 25000) i;
	SELECT idgen.create_once_bigint(('c0000000-0000-4000-8000-00000000000' || i)::uuid, 25000 + i, 'create order')
		FROM generate_series(1, 5) i});

# Create the job in docs/running.md, and the same job for a role without the right to delete.
my %statements;
my (undef, @blocks) = Page->new('running')->blocks('Purge');
$statements{janitor} = "@blocks" =~ s/'\* \* \* \* \*'/'$schedule'/r =~ s/'shop'/'postgres'/r =~ s/\\connect.*//gr;
$statements{guest} = $statements{janitor} =~ s/janitor/guest/gr =~ s/CREATE EXTENSION.*//r =~ s/DELETE, //r
  =~ s/'purge'/'no rights'/r;
ask($statements{$_}) for 'janitor', 'guest';
my %job = map { split /\|/ } split /\n/, ask('SELECT username, jobid FROM cron.job');

# Wait until a run of the job has ended, and return its result.
sub wait_for_run
{
	my ($job) = @_;
	$node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM cron.job_run_details WHERE jobid = $job AND status IN ('succeeded', 'failed')")
	  or die "job $job does not run: " . ask('TABLE cron.job_run_details');
	return ask("SELECT database, username, status, return_message FROM cron.job_run_details WHERE jobid = $job
		ORDER BY runid LIMIT 1");
}

like(wait_for_run($job{guest}),
	qr/^postgres\|guest\|failed\|ERROR: +permission denied for table creation_identifiers\b/,
	'the job of a role without rights fails, which is logged');
is(ask("SELECT cron.unschedule($job{guest})"), 't', 'its job can be removed');
is(outcome("SELECT entity_number FROM idgen.creation_identifiers", user => 'janitor'), '42501',
	'the role that purges cannot read the recorded entities');
like(wait_for_run($job{janitor}), qr/^postgres\|janitor\|succeeded\|/, 'the job of a role with rights succeeds');
# pg_cron's launcher has a wait event of type Extension, but does not wait for the clock.
my ($waiting) = grep { /wait_event_type/ } split /;/, (Page->new('running')->blocks('Monitoring'))[1];
ok($node->poll_query_until('postgres',
	q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Extension'}),
	'the launcher of pg_cron waits');
is(ask($waiting), '', '... and is none of the waiting sessions of docs/running.md');
is(ask(q{SELECT count(*), min(entity_number) FROM idgen.creation_identifiers}), '5|25001',
	'one run purges all old commands and no recent ones');
is(ask("SELECT count(*) FROM cron.job_run_details WHERE jobid = $job{janitor} AND status = 'failed'"), '0',
	'no run failed');
done_testing();
