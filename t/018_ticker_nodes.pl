# Functions on a ticker on two nodes, whose identifiers differ in the node or launch
# only; the ranges of nodes, launches and epochs.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use IPC::Run;
use Server;

my @functions = @Functions::tickers;
my @with_node = qw(snowflake trace_id js_id);

my $node = start_server('nodes', q{
log_statement = none
idgen.node_id = 7
idgen.launch_id = 42
});

# --- Two nodes --------------------------------------------------------------

# Both tickers are set to an hour ahead of the clock, so that both nodes return
# the same time and counter at the same time, and only the node differs.
my $ahead = ask(q{
	SELECT format('SELECT setval(''idgen.snowflake_ticker'', %s), setval(''idgen.trace_id_ticker'', %s), setval(''idgen.js_id_ticker'', %s)',
		   (extract(epoch FROM t)::bigint * 1000) << 12, extract(epoch FROM t)::bigint << 22,
		   extract(epoch FROM t)::bigint << 16)
	FROM (SELECT now() + interval '1 hour' AS t) c});
my %number_of = (west => 3, east => 31);

for my $place ('west', 'east')
{
	ask("CREATE DATABASE $place");
	ask("ALTER DATABASE $place SET idgen.node_id = $number_of{$place};
		 ALTER DATABASE $place SET idgen.launch_id = 10$number_of{$place}");
	ask('CREATE EXTENSION idgen', $place);
	ask('CREATE TABLE made (' . join(', ', map { $_ . ($_ eq 'uuid_v7_ordered' ? ' uuid[]' : ' bigint[]') } @functions) . ')',
		$place);
	ask($ahead, $place);
}

my $scripts = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scripts/insert.sql", 'INSERT INTO made SELECT ' . join(', ', map { "array_agg($_)" } @functions)
	  . ' FROM (SELECT ' . join(', ', map { "idgen.$_() AS $_" } @functions) . ' FROM generate_series(1, 1000) OFFSET 0) m');
my @running = map {
	IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--transactions=10', "--file=$scripts/insert.sql", $node->connstr($_) ],
		'>', '/dev/null', '2>', \my $errors)
} 'west', 'east';
$_->finish or die 'pgbench failed' for @running;

# merged into one table, whose primary key rejects a repeated value
ask('CREATE TABLE merged (function text, id text, PRIMARY KEY (function, id))');
for my $place ('west', 'east')
{
	for my $function (@functions)
	{
		$node->safe_psql($place, "\\copy (SELECT '$function', unnest($function) FROM made) TO '$scripts/$place.$function'");
		is(outcome("\\copy merged FROM '$scripts/$place.$function'"), '', "$place, $function: merged");
	}
}
is( ask('SELECT function, count(*) FROM merged GROUP BY function ORDER BY function'),
	join("\n", map { "$_|80000" } sort @functions), 'the merged table has all rows');
my $parts = q{
	SELECT 'snowflake' AS function, id::bigint >> 22 AS tick, idgen.snowflake_counter(id::bigint) AS counter, idgen.snowflake_node(id::bigint) AS node
		FROM merged WHERE function = 'snowflake'
	UNION ALL SELECT 'trace_id', id::bigint >> 38, idgen.trace_id_counter(id::bigint), idgen.trace_id_node(id::bigint)
		FROM merged WHERE function = 'trace_id'
	UNION ALL SELECT 'js_id', id::bigint >> 21, idgen.js_id_counter(id::bigint), idgen.js_id_node(id::bigint)
		FROM merged WHERE function = 'js_id'
	UNION ALL SELECT 'decimal_id', p.generator, p.counter, p.launch
		FROM merged, idgen.decimal_id_parts(id::bigint) p WHERE function = 'decimal_id'};
is( ask("SELECT function, count(*) FROM (
			SELECT function, tick, counter FROM ($parts) p GROUP BY 1, 2, 3
			HAVING count(*) = 2 AND array_agg(node ORDER BY node) IN ('{3,31}', '{103,1031}')) w
		 GROUP BY function ORDER BY function"),
	"decimal_id|40000\njs_id|40000\nsnowflake|40000\ntrace_id|40000", 'the values of both nodes differ in the node or launch only');

# --- The settings -----------------------------------------------------------

ask('CREATE DATABASE settings');
ask('CREATE EXTENSION idgen', 'settings');
ask($_) for map { "ALTER DATABASE settings SET idgen.$_ = -1" } 'node_id', 'launch_id';

sub complaint { return errors($_[0], database => 'settings') }

sub result { return outcome($_[0], database => 'settings') }

for my $function (@with_node)
{
	my ($most) = { snowflake => 1023, trace_id => 65535, js_id => 31 }->{$function};

	like( complaint("SELECT idgen.$function()"),
		qr/ERROR:  55000: idgen\.node_id is not set\n.*HINT:  Set idgen\.node_id to .*, from 0 to $most, .*Only superusers and roles with the privilege SET /s,
		"$function: requires idgen.node_id, and the hint says how to set it");
	is(result("SET idgen.node_id = $most; SELECT idgen.${function}_node(idgen.$function());
				 SET idgen.node_id = 0; SELECT idgen.${function}_node(idgen.$function())"),
		"$most\n0", "$function: nodes from 0 to $most");
}
like( complaint('SELECT idgen.decimal_id()'),
	qr/ERROR:  55000: idgen\.launch_id is not set\n.*HINT:  Set idgen\.launch_id to .*Only superusers and roles with the privilege SET /s,
	'decimal_id: requires idgen.launch_id, and the hint says how to set it');
is(result('SET idgen.launch_id = 99999; SELECT (idgen.decimal_id_parts(idgen.decimal_id())).launch;
			 SET idgen.launch_id = 0; SELECT (idgen.decimal_id_parts(idgen.decimal_id())).launch'),
	"99999\n0", 'decimal_id: launches from 0 to 99999');
like( complaint('SET idgen.node_id = 1024; SELECT idgen.snowflake()'),
	qr/ERROR:  22023: .*DETAIL:  The value is 1024, .*: 0 to 1023\./s, 'snowflake: node 1024 is out of range');
like( complaint('SET idgen.node_id = 32; SELECT idgen.js_id()'),
	qr/ERROR:  22023: .*DETAIL:  The value is 32, .*: 0 to 31\./s, 'js_id: node 32 is out of range');
is(result('SET idgen.node_id = 1024; SELECT idgen.trace_id_node(idgen.trace_id())'), '1024', 'trace_id: node 1024 is in range');
is(result('LOAD $$idgen$$; SET idgen.node_id = 65536'), '22023', 'node 65536 is out of range for all layouts');
is(result('LOAD $$idgen$$; SET idgen.launch_id = 100000'), '22023', 'launch 100000 is out of range');

# The epoch is an argument: it changes the identifier, not the ticker.
ask('ALTER DATABASE settings SET idgen.node_id = 7');
my $year = ask('SELECT extract(year FROM now())');
for my $case ([ 'snowflake', '1950-01-01' ], [ 'js_id', '1880-01-01' ])
{
	my ($function, $too_early) = @$case;
	my $made = ask("SELECT idgen.$function()", 'settings');
	my $too_late = ($year + 2) . '-01-01';

	for my $epoch ($too_early, $too_late)
	{
		like( complaint("SELECT idgen.$function('$epoch 00:00:00+00')"),
			qr/ERROR:  22008: timestamp is out of range for $function\(\)\n.*since the epoch, $epoch/s,
			"$function: the time since $epoch is out of range");
	}
	for my $epoch ('2000-01-01', '2024-01-01', "$year-01-01")
	{
		is( ask("SELECT abs(extract(epoch FROM idgen.${function}_timestamp(idgen.$function('$epoch 00:00:00+00'), '$epoch 00:00:00+00') - now())) < 3600", 'settings'),
			't', "$function: generated and read with the epoch $epoch");
	}
	cmp_ok(ask("SELECT idgen.$function()", 'settings'), '>', $made, "$function: greater than before with the default epoch");
	is(ask("SELECT ahead < '10 minutes' FROM idgen.tickers WHERE layout = '$function'", 'settings'),
		't', "$function: the epoch does not move the ticker");
}

# A high-water mark can be set to the end of the range.
is( result(q{
		SET idgen.launch_id = 1;
		SELECT setval('idgen.decimal_id_ticker', 922337202 * 100000::bigint);
		SELECT idgen.decimal_id();
		SELECT idgen.decimal_id()}),
	'2200H', 'a ticker at the end of its range raises an error');
is( ask(q{SELECT last_value = reserved_value - 1, reserved_value FROM idgen.ticker_state('decimal_id')}, 'settings'),
	't|92233720200001', 'after the last identifier of its range');

done_testing();
