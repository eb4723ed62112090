# tools/rekey.sh after SIGKILL of the driver and of its backend, at each step and at random
# moments, after a crash of the server and on a full disk: it is repeated, and no reference
# differs. IDGEN_SEED=N repeats the moments; IDGEN_REKEY_KILLS=N, their number.

use SmallDisks (rekey => 24);
use Rekey;
use Server;
use Time::HiRes qw(usleep);

my $seed = $ENV{IDGEN_SEED} // time ^ $$;
my $kills = $ENV{IDGEN_REKEY_KILLS} // 30;
my $rows = 3000;
my @plan = ('plan', 'parcels', '--type', 'uuid', '--value', 'idgen.uuid_v7(created_at)', '--default', 'idgen.uuid_v7()');
my $node = $Rekey::node = start_server('rekey_kills', "max_connections = 60\nlog_statement = none\nfsync = off\nrestart_after_crash = on");

srand($seed);
note("IDGEN_SEED=$seed");

my $pid = q{SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())};

# Kill the driver, or its backend by SIGTERM or SIGKILL, after which the server restarts, and
# wait until the backend is gone.
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

# --- At each step --------------------------------------------------------------
Rekey::create('steps', 'bigserial', 'bigint', $rows);
my $load = Rekey::start('steps', 'old', 'id', 'prepared', $rows);
Rekey::wait_for('steps', 20);
succeeds('steps', \@plan);
my $invalid = 0;
for (split /\n/, ask(q{SELECT n, k, rekey.table_name(tables[1]) FROM rekey.steps,
	unnest(CASE kind WHEN 'index' THEN '{build,index}' ELSE ARRAY[kind] END) k ORDER BY 1, 2}, 'steps'))
{
	my ($step, $kind, $table) = split /\|/;

	# A session locks the step's row, so that the step is made, and is not recorded; before
	# that, it uses the table, so that the build of an index, which awaits all, does not end.
	my $holder = session(database => 'steps');
	my $holds = $holder->ask('SELECT pg_backend_pid()');
	$holder->ask('BEGIN; ' . ($kind eq 'build' ? "LOCK $table IN ROW EXCLUSIVE MODE" : "SELECT FROM rekey.steps WHERE n = $step FOR UPDATE"));
	my $driver = Rekey::start_command('steps', 'run');
	ok($node->poll_query_until('steps', "SELECT NOT EXISTS (SELECT FROM rekey.steps WHERE n < $step AND done_at IS NULL)
		AND EXISTS (SELECT FROM ($pid) b WHERE $holds = ANY (pg_blocking_pids(pid)) OR '$kind' = 'lock')
		AND ('$kind' <> 'build' OR EXISTS (SELECT FROM pg_index WHERE NOT indisvalid))"), "step $step ($kind) is reached")
	  or die $driver->{said};
	my $of_backend = $kind eq 'build' || $step % 2;
	if ($of_backend) { kill_at('steps', $driver, 'TERM') }
	else { $driver->{harness}->signal('KILL') }
	$invalid += ask('SELECT count(*) FROM pg_index WHERE NOT indisvalid', 'steps') if $kind eq 'build';
	$holder->ask('ROLLBACK');
	$holder->quit;
	kill_at('steps', $driver, 'driver') if !$of_backend;
}
cmp_ok($invalid, '>=', 5, "$invalid indexes were invalid");
succeeds('steps', ask('SELECT state FROM rekey.runs', 'steps') eq 'running' ? 'run' : (), qw(verify switch));
Rekey::keys_are_equal('steps');
Rekey::stop($load);
ends('steps', 'finish');

# --- At random moments, with a crash --------------------------------------------
Rekey::create('moments', 'bigserial', 'bigint', $rows);
succeeds('moments', [ @plan, '--pause', '5' ]);
my ($killed, $rounds) = (0, 0);
while ($killed < $kills && $rounds++ < 6 * $kills)
{
	my $state = ask('SELECT state FROM rekey.runs ORDER BY run DESC LIMIT 1', 'moments');
	my $driver = Rekey::start_command('moments', $state eq 'ready' ? 'abandon' : $state eq 'abandoned' ? @plan : 'run');

	usleep(rand(1_500_000));
	if ($killed == int($kills / 2))
	{
		kill_postmaster($node);
		eval { $driver->{harness}->finish };
		start_again($node);
		$killed++;
	}
	elsif ($driver->{harness}->pumpable)
	{
		kill_at('moments', $driver, rand() < 0.5 ? 'TERM' : 'driver');
		$killed++;
	}
	else { eval { $driver->{harness}->finish } }
}
cmp_ok($killed, '>=', $kills, "$killed kills");
succeeds('moments', 'abandon') if ask('SELECT state FROM rekey.active_run', 'moments') eq 'ready';
succeeds('moments', \@plan) if ask('SELECT count(*) FROM rekey.active_run', 'moments') eq '0';

# and of a backend, with a crash of the server, while no step can be recorded
my $holder = session(database => 'moments');
$holder->ask('BEGIN; SELECT FROM rekey.steps WHERE done_at IS NULL FOR UPDATE');
my $driver = Rekey::start_command('moments', 'run');
ok($node->poll_query_until('moments', "SELECT EXISTS ($pid)"), 'a backend works');
ok(kill_at('moments', $driver, 'KILL'), 'it got SIGKILL');
eval { $holder->quit };
succeeds('moments', qw(run verify switch));
Rekey::keys_are_equal('moments');
ends('moments', 'finish');

# --- A full disk ------------------------------------------------------------------
SKIP:
{
	skip 'no small disks', 7 unless SmallDisks::folder();
	my $folder = SmallDisks::folder() . '/rekey';

	mkdir "$folder/space";
	ask("CREATE TABLESPACE small LOCATION '$folder/space'");
	ask('CREATE DATABASE full_disk');
	Rekey::install('full_disk');
	ask(q{CREATE TABLE p (id bigserial PRIMARY KEY, note text) TABLESPACE small; CREATE TABLE c (p_id bigint REFERENCES p);
		INSERT INTO p (note) SELECT repeat('x', 100) FROM generate_series(1, 60000) i; INSERT INTO c SELECT id FROM p}, 'full_disk');
	append_to_file("$folder/ballast", 'x' x (9 * 1024 * 1024));
	succeeds('full_disk', [ 'plan', 'p', '--type', 'uuid', '--value', 'gen_random_uuid()', '--default', 'gen_random_uuid()' ]);
	fails('full_disk', qr/No space left on device/, 'a full disk stops it', 'run');
	unlink "$folder/ballast";
	succeeds('full_disk', qw(run verify switch));    # with space, it is completed
	ends('full_disk', 'finish');
}

done_testing();
