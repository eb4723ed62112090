# Functions on a ticker in many sessions, and in two sessions that take turns under load: no value is repeated, and
# a later value is greater. On two nodes, identifiers differ in the node or launch only; the ranges of nodes,
# launches and epochs.

use Functions;
use HandedOut;
use IPC::Run;
use MixedLoad;
use Server;

my @functions = @Functions::tickers;
my $made = join(', ', map { "idgen.$_() AS $_" } @functions);

my $node = start_server('office', "log_statement = none\nmax_connections = 60");
ask('ALTER DATABASE postgres SET idgen.node_id = 7; ALTER DATABASE postgres SET idgen.launch_id = 42');

# The pgbench option for a script with one transaction
my $scripts = PostgreSQL::Test::Utils::tempdir();

sub script
{
	my ($name, $sql) = @_;
	append_to_file("$scripts/$name.sql", "$sql;\n");
	return "--file=$scripts/$name.sql";
}

# --- Sessions ----------------------------------------------------------------
# 32 sessions with the library loaded on demand, and then by the postmaster
my $sessions = MixedLoad->new($node, inserting => 0, taking => 32, creating => 0);
for (1, 2)
{
	my $enough = $sessions->{taken} + 20_000;
	$sessions->run_until(sub { $sessions->{taken} >= $enough });
	$sessions->take_more;
	$sessions->finish;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	$node->restart;
}
$sessions->{handed_out}->check;

# --- Two sessions take turns ------------------------------------------------
# A session takes its turn when it acquires lock number TURN, which the other one holds until the end of its own turn;
# before releasing it, it acquires the lock that ends its next turn. A sequence records the turns. The sessions continue
# until the test releases lock -1, when they and the load have run long enough.
my $calls = join(', ', map { "idgen.$_()" } @functions);
ask(qq{
	CREATE TABLE taken AS SELECT ''::text AS player, 0::bigint AS turn, $made LIMIT 0;
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
my $script = script('load', "SELECT count(*) FROM (SELECT $made FROM generate_series(1, 100) OFFSET 0) m; SELECT nextval('pressed')");
my $load = IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=8', '--jobs=1', '--rate=400', '--time=1000000', $script,
		$node->connstr('postgres') . ' application_name=load' ], '>&', '/dev/null');
$node->poll_query_until('postgres', q{SELECT count(*) >= 8 FROM pg_stat_activity WHERE application_name = 'load'}) or die 'no load';

my ($referee, $alice, $bob) = map { session() } 1 .. 3;
$referee->ask('SELECT pg_advisory_lock(-1)');
$alice->ask('SELECT pg_advisory_lock(1)');
$bob->ask('SELECT pg_advisory_lock(0), pg_advisory_lock(2)');
$alice->send_blocked($referee, "SELECT play('alice', 0); SELECT pg_advisory_unlock_all()");
is(ask('SELECT is_called FROM turns'), 'f', 'no turn begins while the test holds the lock');
$bob->send("SELECT pg_advisory_unlock(0); SELECT play('bob', 1); SELECT pg_advisory_unlock_all()");
# 100 values a turn; each of the eight clients may have fetched the first values before the turns began
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
is(ask(q{SELECT count(DISTINCT turn), min(turn), max(turn),
			count(*) FILTER (WHERE player = CASE turn % 2 WHEN 0 THEN 'alice' ELSE 'bob' END)
		FROM taken}), "$taken|0|" . ($taken - 1) . "|$taken", 'the sessions took turns');
my $in_turns = HandedOut->new(@functions);
$in_turns->see({}, [ map { [ split /\|/ ] } split /\n/, ask('SELECT ' . join(', ', @functions) . ' FROM taken ORDER BY turn') ]);
$in_turns->check;
cmp_ok(ask('SELECT (max(decimal_id) - min(decimal_id)) / 10000000000 - count(*) FROM taken'),
	'>=', $turns, 'the load fetched values between the turns');

# --- Two nodes --------------------------------------------------------------
# Both tickers are set to an hour ahead of the clock, so that both nodes return the same time and counter at the same
# time, and only the node differs.
my $later = 3600 + ask('SELECT extract(epoch FROM now())::bigint');
my %number_of = (west => 3, east => 31);
my @places = sort keys %number_of;

for my $place (@places)
{
	add_database($place);
	ask("ALTER DATABASE $place SET idgen.node_id = $number_of{$place};
		ALTER DATABASE $place SET idgen.launch_id = 10$number_of{$place}");
	ask("CREATE TABLE made (function text, id text);
		SELECT setval('idgen.snowflake_ticker', (1000 * $later\::bigint) << 12), setval('idgen.trace_id_ticker', $later\::bigint << 22),
			setval('idgen.js_id_ticker', $later\::bigint << 16)", $place);
}

my $rows = join(', ', map { "('$_', $_\::text)" } @functions);
my $insert = script('insert', "INSERT INTO made SELECT v.*
	FROM (SELECT $made FROM generate_series(1, 1000) OFFSET 0) m, LATERAL (VALUES $rows) v");
my @pgbench = ('pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--transactions=10', $insert);
my @running = map { IPC::Run::start([ @pgbench, $node->connstr($_) ], '>&', '/dev/null') } @places;
$_->finish or die 'pgbench failed' for @running;

# merged into one table, whose primary key rejects a repeated value
ask('CREATE TABLE merged (function text, id text, PRIMARY KEY (function, id))');
for my $place (@places)
{
	ask("\\copy made TO '$scripts/$place'", $place);
	is(outcome("\\copy merged FROM '$scripts/$place'"), '', "$place: merged");
}
my $parts = join(' UNION ALL ', map {
	"SELECT function, id::bigint >> $_->[1], idgen.$_->[0]_counter(id::bigint), idgen.$_->[0]_node(id::bigint)
	 FROM merged WHERE function = '$_->[0]'" } [ snowflake => 22 ], [ trace_id => 38 ], [ js_id => 21 ]);
is(ask("SELECT function, count(*) FROM merged GROUP BY function ORDER BY function"),
	join("\n", map { "$_|80000" } sort @functions), 'the merged table has all rows');
is(ask("SELECT function, count(*) FROM (
			SELECT function, tick, counter FROM (
				$parts UNION ALL SELECT function, p.generator, p.counter, p.launch_id
				FROM merged, idgen.decimal_id_parts(id::bigint) p WHERE function = 'decimal_id'
			) p (function, tick, counter, node)
			GROUP BY 1, 2, 3
			HAVING count(*) = 2 AND array_agg(node ORDER BY node) IN ('{3,31}', '{103,1031}')) w
		GROUP BY function ORDER BY function"),
	join("\n", map { "$_|40000" } qw(decimal_id js_id snowflake trace_id)), 'the values of both nodes differ in the node or launch only');

# --- The settings and the epoch ---------------------------------------------
# (Without settings, and with other epochs: sql/int_ids.sql.)
my %most = (snowflake => 1023, trace_id => 65535, js_id => 31, decimal_id => 99999);
for my $function (sort keys %most)
{
	my ($setting, $part) = $function eq 'decimal_id'
	  ? ('idgen.launch_id', '(idgen.decimal_id_parts(idgen.decimal_id())).launch_id')
	  : ('idgen.node_id', "idgen.${function}_node(idgen.$function())");
	is(outcome("SET $setting = $_; SELECT $part"), $_, "$function: $setting is $_") for 0, $most{$function};
	my $more = $most{$function} + 1;
	is(outcome("LOAD 'idgen'; SET $setting = $more; SELECT $part"), '22023', "$function: $more is out of range");
}
my $too_late = 2 + ask('SELECT extract(year FROM now())');
for ([ snowflake => 1950 ], [ snowflake => $too_late ], [ js_id => 1880 ], [ js_id => $too_late ])
{
	my ($function, $year) = @$_;
	like(errors("SELECT idgen.$function('$year-01-01 00:00:00+00')"),
		qr/ERROR:  22008: timestamp is out of range for $function\(\)\n.*since the epoch, $year-01-01/s, "$function: the time since $year");
}

# A high-water mark can be set to the end of the range.
is(outcome(q{
		SET idgen.launch_id = 1;
		SELECT setval('idgen.decimal_id_ticker', 922337202 * 100000::bigint);
		SELECT idgen.decimal_id();
		SELECT idgen.decimal_id()}), '2200H', 'a ticker at the end of its range raises an error');
is(ask(q{SELECT last_value = reserved_value - 1, reserved_value FROM idgen.ticker_state('decimal_id')}),
	't|92233720200001', 'after the last identifier of its range');
done_testing();
