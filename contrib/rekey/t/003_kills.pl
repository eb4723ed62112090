# rekey.sh after SIGKILL of the driver and SIGTERM of its backend, at each step and at random moments, after a crash of
# the server and on a full disk: it is repeated, and no value differs from its witness.
# IDGEN_SEED=N repeats the moments; IDGEN_REKEY_KILLS=N, their number.

use FindBin;
use lib "$FindBin::RealBin/lib";
use SmallDisks (rekey => 24);
use Rekey;
use Server;
use Time::HiRes qw(usleep);

my $seed = $ENV{IDGEN_SEED} // time ^ $$;
my $kills = $ENV{IDGEN_REKEY_KILLS} // 20;
my $rows = 3000;
my $node = $Rekey::node = start_server('rekey_kills',
	"max_connections = 60\nlog_statement = none\nfsync = off\nrestart_after_crash = on");

srand($seed);
note("IDGEN_SEED=$seed");

my $pid = q{SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())};

# Kill the driver, or its backend by SIGTERM or SIGKILL, after which the server restarts, and wait until the backend
# is gone.
sub kill_at
{
	my ($database, $driver, $how) = @_;
	my $backend = $how ne 'driver' && ask($pid, $database);
	if ($how eq 'driver') { eval { $driver->{harness}->signal('KILL') } }
	elsif ($backend) { kill $how, $backend }
	eval { $driver->{harness}->finish };
	ok($node->poll_query_until($database, "SELECT NOT EXISTS ($pid)"), "$how: its backend ends") or die;
	return $backend;
}

# --- At each step, whose table another session uses -----------------------------
Rekey::create('steps', 'serial', 'int', $rows);
my $load = Rekey::start('steps', 'extended', $rows);
my ($killed, $invalid, %known) = (0, 0);
succeeds('steps', [qw(plan parcels.id --type bigint)]);
for my $command (qw(run switch finish))
{
	while (my ($step, $following) = grep { !/^(CALL rekey.fill|SELECT)|snapshots/ && !(/^VACUUM/ && $known{$_}) }
		split /\n+(?=[A-Z])/, ask("SET search_path = pg_catalog; SELECT rekey.script('$command', false)", 'steps'))
	{
		if ($step =~ /^(COMMENT|DROP)/ || $known{$step}++)
		{
			# an index without its comment would be built again
			ask("SET search_path = pg_catalog;\n$step;\n" . ($step =~ /^CREATE/ ? $following : ''), 'steps');
			last if $step =~ /exchange|end_change/;
			next;
		}
		# ROW EXCLUSIVE stops the end of an index's build, and locks; the stronger one VACUUM and VALIDATE
		my $mode = $step =~ /^(CREATE|CALL)/ ? 'ROW EXCLUSIVE' : 'SHARE UPDATE EXCLUSIVE';
		my ($table) = $step =~ /(?:ON|TABLE|false\)|mirrors\(''|locked\('\{)\s*(public\.\w+|\d+)/ or die $step;
		my $holder = session(database => 'steps');
		my $holds = $holder->ask('SELECT pg_backend_pid()');
		$table = $holder->ask("SELECT $table\::regclass") if $table =~ /^\d/;
		$holder->ask("BEGIN; LOCK $table IN $mode MODE");
		my $driver = Rekey::start_command('steps', $command);
		my $quoted = $step =~ s/'/''/gr;
		ok($node->poll_query_until('steps',
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey' AND query = '$quoted'
			AND ($holds = ANY (pg_blocking_pids(pid))
				OR wait_event = 'PgSleep'))"), substr("$command: $step", 0, 90)) or die $driver->{said};
		if ($killed++ % 2) { kill_at('steps', $driver, 'TERM') }
		else { $driver->{harness}->signal('KILL') }
		$invalid += ask('SELECT count(*) FROM pg_index WHERE NOT indisvalid', 'steps') if $step =~ /^CREATE/;
		$holder->quit;
		kill_at('steps', $driver, 'driver');
	}
}
cmp_ok($invalid, '>=', 5, "$killed kills, $invalid indexes were invalid");
Rekey::wait_for('steps', 20);
Rekey::stop($load);
is(Rekey::wrong('steps'), 0, 'all values are those before');

# --- At random moments, with a crash --------------------------------------------
Rekey::create('moments', 'serial', 'int', $rows);
$load = Rekey::start('moments', 'simple', $rows);
my $many = 0;
for (my $round = 0; $many < $kills && $round < 6 * $kills; $round++)
{
	my $state = ask(q{SELECT CASE WHEN bool_or(is_switched) THEN 'switched' WHEN count(*) > 0 THEN 'planned'
		ELSE '' END FROM rekey.pairs}, 'moments');
	my @commands = $state eq 'switched' ? ('back') : $state eq 'planned' ? ('switch', 'switch', 'run', 'abandon')
		: ([qw(plan parcels.id --type bigint)]);
	my $command = $commands[ rand @commands ];
	my $driver = Rekey::start_command('moments', ref $command ? @$command : $command);

	usleep(rand(3_000_000));
	if ($driver->{harness}->pumpable)
	{
		kill_at('moments', $driver, rand() < 0.5 ? 'TERM' : 'driver');
		$many++;
	}
	else { eval { $driver->{harness}->finish } }
}
cmp_ok($many, '>=', $kills, "$many kills");
Rekey::stop($load);
is(Rekey::wrong('moments'), 0, 'all values are those before');

# and of a backend that builds an index, with a crash of the server
Rekey::command('moments', 'back');
succeeds('moments', [qw(plan parcels.id --type bigint)]) if !ask('SELECT count(*) FROM rekey.columns', 'moments');
my $holder = session(database => 'moments');
$holder->ask('BEGIN; LOCK scans IN ROW EXCLUSIVE MODE');
my $driver = Rekey::start_command('moments', 'switch');
ok($node->poll_query_until('moments', "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey'
	AND (wait_event_type = 'Lock' OR wait_event = 'PgSleep'))"), 'a backend waits');
ok(kill_at('moments', $driver, 'KILL'), 'it got SIGKILL');
eval { $holder->quit };
$node->poll_query_until('moments', 'SELECT true');
succeeds('moments', qw(switch));
is(Rekey::wrong('moments'), 0, 'all values are those before');
ends('moments', 'finish');

# --- A full disk ------------------------------------------------------------------
SKIP:
{
	skip 'no small disks', 7 unless SmallDisks::folder();
	my $folder = SmallDisks::folder() . '/rekey';

	mkdir "$folder/space";
	ask("CREATE TABLESPACE small LOCATION '$folder/space'");
	Rekey::new_database('full_disk', q{CREATE TABLE p (id serial PRIMARY KEY, note text) TABLESPACE small;
		CREATE TABLE c (p_id int REFERENCES p);
		INSERT INTO p (note) SELECT repeat('x', 100) FROM generate_series(1, 60000) i; INSERT INTO c SELECT id FROM p});
	append_to_file("$folder/ballast", 'x' x (9 * 1024 * 1024));
	succeeds('full_disk', [qw(plan p.id --type bigint)]);
	fails('full_disk', qr/No space left on device/, 'a full disk stops it', 'run');
	unlink "$folder/ballast";
	succeeds('full_disk', qw(run switch));    # with space, it is completed
	ends('full_disk', 'finish');
}

done_testing();
