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
my $node = start_server('rekey_kills', "max_connections = 60\nlog_statement = none\nfsync = off\nrestart_after_crash = on");

srand($seed);
note("IDGEN_SEED=$seed");

sub query { my ($database, $sql) = @_; return $node->safe_psql($database, $sql) }

my $pid = q{SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())};

# Kill the driver, or its backend by pg_terminate_backend() or SIGKILL, after which the server
# restarts, and wait until the backend is gone.
sub kill_at
{
	my ($database, $driver, $how) = @_;
	my $backend = $how ne 'driver' && query($database, $pid);

	if ($how eq 'driver') { eval { $driver->{harness}->signal('KILL') } }
	elsif ($how eq 'SIGKILL') { kill 9, $backend if $backend }
	else { query($database, "SELECT pg_terminate_backend($backend)") if $backend }
	eval { $driver->{harness}->finish };
	ok($node->poll_query_until($database, "SELECT NOT EXISTS ($pid)"), "$how: its backend ends") or die;
	return $backend;
}

# --- At each step --------------------------------------------------------------
Rekey::create($node, 'steps', 'bigserial', 'bigint', $rows);
my $before = Rekey::schema($node, 'steps');
my $load = Rekey::start($node, 'steps', 'old', 'id', 'prepared', $rows);
Rekey::wait_for($node, 'steps', 20);
Rekey::command_is($node, 'steps', undef, 'planned', @plan);
my $invalid = 0;
for (split /\n/, query('steps', q{SELECT n, k FROM rekey.steps,
	unnest(CASE kind WHEN 'index' THEN '{build,index}' ELSE ARRAY[kind] END) k ORDER BY 1, 2}))
{
	my ($step, $kind) = split /\|/;

	# A session locks the step's row, so that the step is made, and is not recorded; before
	# that, it uses the table, so that the build of an index does not end.
	my $holder = session(database => 'steps');
	my $table = query('steps', "SELECT rekey.table_name(tables[1]) FROM rekey.steps WHERE n = $step");
	$holder->ask('BEGIN; ' . ($kind eq 'build' ? "LOCK $table IN ROW EXCLUSIVE MODE" : "SELECT FROM rekey.steps WHERE n = $step FOR UPDATE"));
	my $driver = Rekey::start_command($node, 'steps', 'run');
	ok($node->poll_query_until('steps', "SELECT NOT EXISTS (SELECT FROM rekey.steps WHERE n < $step AND done_at IS NULL)
		AND EXISTS (SELECT FROM pg_stat_activity WHERE pid IN ($pid) AND (wait_event_type = 'Lock' OR '$kind' = 'lock'))
		AND ('$kind' <> 'build' OR EXISTS (SELECT FROM pg_index WHERE NOT indisvalid))"), "step $step ($kind) is reached")
	  or die $driver->{said};
	my $of_backend = $kind eq 'build' || $step % 2;
	if ($of_backend) { kill_at('steps', $driver, 'backend') }
	else { $driver->{harness}->signal('KILL') }
	$invalid += query('steps', 'SELECT count(*) FROM pg_index WHERE NOT indisvalid') if $kind eq 'build';
	$holder->ask('ROLLBACK');
	$holder->quit;
	kill_at('steps', $driver, 'driver') if !$of_backend;
}
Rekey::command_is($node, 'steps', undef, 'completed', 'run') if query('steps', 'SELECT state FROM rekey.runs') eq 'running';
cmp_ok($invalid, '>=', 5, "$invalid indexes were invalid");
is(Rekey::mismatches($node, 'steps'), 0, 'each reference has both keys of one parcel');
is(query('steps', 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'), 0, 'all indexes are valid');
Rekey::command_is($node, 'steps', undef, $_, $_) for qw(verify switch);
Rekey::stop($load);

# a server that crashes between the commands
kill_postmaster($node);
start_again($node);
is(Rekey::mismatches($node, 'steps'), 0, 'after a crash, too');
Rekey::command_is($node, 'steps', undef, 'then it is finished', 'finish');
is(Rekey::leftovers($node, 'steps'), '', 'nothing is left');

# --- At random moments, with a crash --------------------------------------------
Rekey::create($node, 'moments', 'bigserial', 'bigint', $rows);
Rekey::command_is($node, 'moments', undef, 'planned', @plan, '--pause', '5');
my ($killed, $rounds) = (0, 0);
while ($killed < $kills && $rounds++ < 6 * $kills)
{
	my $state = query('moments', 'SELECT state FROM rekey.runs ORDER BY run DESC LIMIT 1');
	my $driver = Rekey::start_command($node, 'moments', $state eq 'ready' ? 'abandon' : $state eq 'abandoned' ? @plan : 'run');

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
		kill_at('moments', $driver, rand() < 0.5 ? 'backend' : 'driver');
		$killed++;
	}
	else { eval { $driver->{harness}->finish } }
}
cmp_ok($killed, '>=', $kills, "$killed kills");
Rekey::command($node, 'moments', 'abandon') if query('moments', 'SELECT state FROM rekey.active_run') eq 'ready';
Rekey::command($node, 'moments', @plan) if query('moments', 'SELECT count(*) FROM rekey.active_run') eq '0';

# and of a backend, with a crash of the server, while no step can be recorded
my $holder = session(database => 'moments');
$holder->ask('BEGIN; SELECT FROM rekey.steps WHERE done_at IS NULL FOR UPDATE');
my $driver = Rekey::start_command($node, 'moments', 'run');
ok($node->poll_query_until('moments', "SELECT EXISTS ($pid)"), 'a backend works');
ok(kill_at('moments', $driver, 'SIGKILL'), 'it got SIGKILL');
eval { $holder->quit };
Rekey::command($node, 'moments', 'run');
Rekey::command_is($node, 'moments', undef, "after the kills: $_", $_) for qw(verify switch);
is(Rekey::mismatches($node, 'moments'), 0, 'each reference has both keys of one parcel');
Rekey::command_is($node, 'moments', undef, 'finished', 'finish');
is(Rekey::leftovers($node, 'moments'), '', 'nothing is left, and all indexes are valid');

# --- A full disk ------------------------------------------------------------------
SKIP:
{
	skip 'no small disks', 5 unless SmallDisks::folder();
	my $folder = SmallDisks::folder() . '/rekey';

	mkdir "$folder/space";
	query('postgres', "CREATE TABLESPACE small LOCATION '$folder/space'");
	query('postgres', 'CREATE DATABASE full_disk');
	Rekey::install($node, 'full_disk');
	query('full_disk', q{CREATE TABLE p (id bigserial PRIMARY KEY, note text) TABLESPACE small; CREATE TABLE c (p_id bigint REFERENCES p);
		INSERT INTO p (note) SELECT repeat('x', 100) FROM generate_series(1, 60000) i; INSERT INTO c SELECT id FROM p});
	append_to_file("$folder/ballast", 'x' x (9 * 1024 * 1024));
	Rekey::command_is($node, 'full_disk', undef, 'planned', 'plan', 'p', '--type', 'uuid', '--value', 'gen_random_uuid()',
		'--default', 'gen_random_uuid()');
	Rekey::command_is($node, 'full_disk', qr/No space left on device/, 'a full disk stops it', 'run');
	unlink "$folder/ballast";
	Rekey::command_is($node, 'full_disk', undef, 'with space, it is completed', 'run');
	Rekey::command_is($node, 'full_disk', undef, "then: $_", $_) for qw(verify switch finish);
	is(Rekey::leftovers($node, 'full_disk'), '', 'nothing is left');
}

done_testing();
