# Functions on a ticker in many sessions, and in two sessions that take turns under
# load: no value is repeated, and a later value is greater.

use Functions;
use IPC::Run;
use Server;

my @functions = @Functions::tickers;

my $node = start_server('office', q{
log_statement = none
idgen.node_id = 7
idgen.launch_id = 42
});

# Arrays of the values of each function in the order of calls; OFFSET 0, so that each
# value is generated once.
sub arrays_of
{
	my ($count) = @_;

	return 'SELECT ' . join(', ', map { "array_agg($_)" } @functions)
	  . ' FROM (SELECT ' . join(', ', map { "idgen.$_() AS $_" } @functions)
	  . " FROM generate_series(1, $count) OFFSET 0) m";
}

# The condition that an id is greater than another. trace_id wraps around every 388
# days, so the shorter distance counts.
sub is_greater
{
	my ($function, $id, $before) = @_;

	return "$id > $before" unless $function eq 'trace_id';
	return "($id - $before) & 9223372036854775807 BETWEEN 1 AND 4611686018427387904";
}

# The pgbench option for a script with one transaction
my $scripts = PostgreSQL::Test::Utils::tempdir();

sub script
{
	my ($name, $sql) = @_;

	append_to_file("$scripts/$name.sql", "$sql;\n");
	return "--file=$scripts/$name.sql";
}

# --- Sessions ----------------------------------------------------------------

my @type_of = map { "$_ " . ($_ eq 'uuid_v7_ordered' ? 'uuid' : 'bigint') } @functions;
ask('CREATE TABLE made (restarts int, ' . join(', ', map { "$_\[]" } @type_of) . ')');

for my $restarts (0, 1)
{
	# loaded on demand, and then by the postmaster
	if ($restarts)
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}
	my $insert = "INSERT INTO made SELECT $restarts, * FROM (" . arrays_of(1000) . ') m';
	my $script = script("sessions_$restarts", $insert);
	$node->command_like(
		[ 'pgbench', '--no-vacuum', '--client=32', '--jobs=2', '--transactions=6', $script, 'postgres' ],
		qr{processed: 192/192}, '32 concurrent sessions');
}
for my $function (@functions)
{
	my $rises = is_greater($function, 'id', 'lag(id) OVER (PARTITION BY made.ctid ORDER BY place)');

	is( ask("SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE NOT rises)
			 FROM (SELECT id, $rises AS rises FROM made, unnest($function) WITH ORDINALITY u (id, place)) m"),
		'384000|384000|0', "$function: all values are distinct, and increase within each transaction");
	is( ask("SELECT (SELECT id FROM made, unnest($function) id WHERE restarts = 1 ORDER BY id LIMIT 1)
				  > (SELECT id FROM made, unnest($function) id WHERE restarts = 0 ORDER BY id DESC LIMIT 1)"),
		't', "$function: values after the restart are greater");
}

# --- Two sessions take turns ------------------------------------------------

# A session takes its turn when it acquires lock number TURN, which the other one
# holds until the end of its own turn; before releasing it, it acquires the lock
# that ends its next turn. A sequence records the turns. The sessions continue
# until the test releases lock -1, when they and the load have run long enough.
my $calls = join(', ', map { "idgen.$_()" } @functions);
ask('CREATE TABLE taken (player text, turn bigint, ' . join(', ', @type_of) . ')');
ask(qq{
	CREATE SEQUENCE turns MINVALUE 0;
	CREATE SEQUENCE pressed;
	CREATE FUNCTION play(player text, turn int) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		LOOP
			PERFORM pg_advisory_lock(turn);
			EXIT WHEN pg_try_advisory_lock_shared(-1);
			INSERT INTO taken SELECT player, nextval('turns'), $calls;
			PERFORM pg_advisory_lock(turn + 3), pg_advisory_unlock(turn + 1), pg_advisory_unlock(turn);
			turn := turn + 2;
		END LOOP;
	END \$\$});

my $turns = 2000;
my $script = script('load', arrays_of(100) . "; SELECT nextval('pressed')");
my $load = IPC::Run::start(
	[
		'pgbench', '--no-vacuum', '--client=8', '--jobs=1', '--rate=400', '--time=1000000', $script,
		$node->connstr('postgres') . ' application_name=load'
	],
	'>', \my $load_output, '2>', \my $load_errors);
$node->poll_query_until('postgres', q{SELECT count(*) >= 8 FROM pg_stat_activity WHERE application_name = 'load'})
  or die 'no load';

my ($referee, $alice, $bob) = map { session() } 1 .. 3;
$referee->ask('SELECT pg_advisory_lock(-1)');
$alice->ask('SELECT pg_advisory_lock(1)');
$bob->ask('SELECT pg_advisory_lock(0), pg_advisory_lock(2)');
$alice->send_blocked($referee, "SELECT play('alice', 0); SELECT pg_advisory_unlock_all()");
is(ask('SELECT is_called FROM turns'), 'f', 'no turn begins while the test holds the lock');
$bob->send("SELECT pg_advisory_unlock(0); SELECT play('bob', 1); SELECT pg_advisory_unlock_all()");
# 100 values a turn; each of the eight clients may have fetched the first values
# before the turns began
$referee->poll('SELECT is_called FROM turns');
my $enough = ask("SELECT last_value + 8 + $turns / 100 FROM pressed");
$referee->poll("SELECT t.last_value >= $turns AND p.last_value > $enough FROM turns t, pressed p");
$referee->quit;
is($_->wait, '', 'a session ends') for $alice, $bob;

ok($load->pumpable, 'the load ran all the time');
$load->signal('TERM');
$load->finish;

my $taken = ask('SELECT count(*) FROM taken');
cmp_ok($taken, '>=', $turns, 'Alice and Bob had their turns');
is( ask(q{SELECT count(DISTINCT turn), min(turn), max(turn),
				 count(*) FILTER (WHERE player = CASE turn % 2 WHEN 0 THEN 'alice' ELSE 'bob' END)
		  FROM taken}),
	"$taken|0|" . ($taken - 1) . "|$taken", 'the sessions took turns');
for my $function (@functions)
{
	my $rises = is_greater($function, $function, "lag($function) OVER (ORDER BY turn)");

	is( ask("SELECT count(*) FILTER (WHERE rises) FROM (SELECT $rises AS rises FROM taken) m"),
		$taken - 1, "$function: each turn got greater values than the turn before");
}
cmp_ok(ask('SELECT (max(decimal_id) - min(decimal_id)) / 10000000000 - count(*) FROM taken'),
	'>=', $turns, 'the load fetched values between the turns');

done_testing();
