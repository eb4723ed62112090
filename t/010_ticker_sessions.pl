# Functions on a ticker in many sessions, and in two sessions that take turns under
# load: no value is repeated, and a later value is greater.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use IPC::Run;
use Server;

my @functions = @Functions::tickers;

my $node = start_server('office', q{
log_statement = none
idgen.node_id = 7
idgen.launch_id = 42
});

ask(q{
	-- who made how many in a row, in each transaction
	CREATE TABLE made (story text, snowflake bigint[], trace_id bigint[], js_id bigint[], decimal_id bigint[], uuid_v7_ordered uuid[])});

# Arrays of the values of each function in the order of calls; MATERIALIZED, so
# that each value is generated once.
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

# Write a pgbench script with one transaction.
my $scripts = PostgreSQL::Test::Utils::tempdir();

sub script
{
	my ($name, $sql) = @_;

	append_to_file("$scripts/$name.sql", "$sql;\n");
	return "--file=$scripts/$name.sql";
}

# Check the values of a story: their number, that they are distinct, and that they
# increase within each transaction.
sub check_made
{
	my ($story, $count) = @_;

	for my $function (@functions)
	{
		is( ask("SELECT count(*), count(DISTINCT id) FROM made, unnest($function) id WHERE story = '$story'"),
			"$count|$count", "$story, $function: all values are distinct");
		is( ask("SELECT count(*) FROM (
					SELECT " . is_greater($function, 'id', 'lag(id) OVER (PARTITION BY made.ctid ORDER BY place)') . " AS rises
					FROM made, unnest($function) WITH ORDINALITY u (id, place) WHERE story = '$story') m
				 WHERE NOT rises"),
			'0', "$story, $function: values increase within each transaction");
	}
}

# --- Sessions ----------------------------------------------------------------

for my $story ('loaded on demand', 'loaded by the postmaster')
{
	if ($story ne 'loaded on demand')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}

	my $script = script($story =~ s/ /_/gr, "INSERT INTO made SELECT '$story', * FROM (" . arrays_of(1000) . ') m');
	$node->command_like(
		[ 'pgbench', '--no-vacuum', '--client=32', '--jobs=2', '--transactions=6', $script, 'postgres' ],
		qr{processed: 192/192}, "$story: 32 concurrent sessions");
	check_made($story, 192_000);
}

for my $function (@functions)
{
	is( ask("SELECT count(*), count(DISTINCT id) FROM made, unnest($function) id"),
		'384000|384000', "$function: values are distinct over all stories");
	is( ask("SELECT (SELECT id FROM made, unnest($function) id WHERE story LIKE 'loaded by%' ORDER BY id LIMIT 1)
				  > (SELECT id FROM made, unnest($function) id WHERE story LIKE 'loaded on%' ORDER BY id DESC LIMIT 1)"),
		't', "$function: values after the restart are greater");
}

# --- Two sessions take turns ------------------------------------------------

# A session takes its turn when it acquires lock number TURN, which the other one
# holds until the end of its own turn; before releasing it, it acquires the lock
# that ends its next turn. A sequence records the turns. The sessions continue
# until the test releases lock -1, when they and the load have run long enough.
ask(q{
	CREATE SEQUENCE turns MINVALUE 0;
	CREATE SEQUENCE pressed;
	CREATE TABLE taken (player text, turn bigint, snowflake bigint, trace_id bigint, js_id bigint, decimal_id bigint, uuid_v7_ordered uuid);
	CREATE FUNCTION play(player text, turn int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		LOOP
			PERFORM pg_advisory_lock(turn);
			EXIT WHEN pg_try_advisory_lock_shared(-1);
			INSERT INTO taken SELECT player, nextval('turns'),
				idgen.snowflake(), idgen.trace_id(), idgen.js_id(), idgen.decimal_id(), idgen.uuid_v7_ordered();
			PERFORM pg_advisory_lock(turn + 3), pg_advisory_unlock(turn + 1), pg_advisory_unlock(turn);
			turn := turn + 2;
		END LOOP;
	END $$});

my $turns = 2000;
my $load = IPC::Run::start(
	[
		'pgbench', '--no-vacuum', '--client=8', '--jobs=1', '--rate=400',
		'--time=1000000', script('load', arrays_of(100) . "; SELECT nextval('pressed')"), $node->connstr('postgres') . ' application_name=load'
	],
	'>', \my $load_output, '2>', \my $load_errors);
$node->poll_query_until('postgres', q{SELECT count(*) >= 8 FROM pg_stat_activity WHERE application_name = 'load'})
  or die 'no load';

my $referee = $node->background_psql('postgres');
my $alice = $node->background_psql('postgres');
my $bob = $node->background_psql('postgres');
$referee->query_safe('SELECT pg_advisory_lock(-1)');
$alice->query_safe('SELECT pg_advisory_lock(1)');
$bob->query_safe('SELECT pg_advisory_lock(0), pg_advisory_lock(2)');
$alice->query_until(qr/begins/, "\\echo begins\nSELECT play('alice', 0);\nSELECT pg_advisory_unlock_all();\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted})
  or die 'no session waits for its turn';
is(ask('SELECT is_called FROM turns'), 'f', 'no turn begins while the test holds the lock');
$bob->query_until(qr/begins/, "\\echo begins\nSELECT pg_advisory_unlock(0);\nSELECT play('bob', 1);\nSELECT pg_advisory_unlock_all();\n");
# 100 values a turn; each of the eight clients may have fetched the first values
# before the turns began
$node->poll_query_until('postgres', 'SELECT is_called FROM turns') or die 'no turn begins';
my $enough = ask("SELECT last_value + 8 + $turns / 100 FROM pressed");
$node->poll_query_until('postgres', "SELECT t.last_value >= $turns AND p.last_value > $enough FROM turns t, pressed p")
  or die 'the sessions do not get enough turns';
$referee->quit;
$_->query_safe('SELECT 1') for $alice, $bob;

ok($load->pumpable, 'the load ran all the time');
$load->signal('TERM');
$load->finish;

my $taken = ask('SELECT count(*) FROM taken');
cmp_ok($taken, '>=', $turns, 'Alice and Bob had their turns');
is( ask(q{SELECT count(DISTINCT turn), min(turn), max(turn),
				 count(*) FILTER (WHERE player = CASE turn % 2 WHEN 0 THEN 'alice' ELSE 'bob' END)
		  FROM taken}),
	"$taken|0|" . ($taken - 1) . "|$taken", 'the sessions took turns');
is( ask('SELECT ' . join(', ', map { "count(*) FILTER (WHERE ${_}_rises)" } @functions) . ' FROM (SELECT '
		. join(', ', map { is_greater($_, $_, "lag($_) OVER w") . " AS ${_}_rises" } @functions)
		. ' FROM taken WINDOW w AS (ORDER BY turn)) m'),
	join('|', ($taken - 1) x @functions), 'each turn got greater values than the turn before');
cmp_ok(ask('SELECT (max(decimal_id) - min(decimal_id)) / 10000000000 - count(*) FROM taken'),
	'>=', $turns, 'the load fetched values between the turns');
$alice->quit;
$bob->quit;

done_testing();
