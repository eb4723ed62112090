# Functions on a ticker on two nodes, whose identifiers differ in the node or launch
# only; the ranges of nodes, launches and epochs.

use Functions;
use IPC::Run;
use Server;

my @functions = @Functions::tickers;
my $node = start_server('nodes', 'log_statement = none');

# --- Two nodes --------------------------------------------------------------

# Both tickers are set to an hour ahead of the clock, so that both nodes return
# the same time and counter at the same time, and only the node differs.
my $later = 3600 + ask('SELECT extract(epoch FROM now())::bigint');
my %number_of = (west => 3, east => 31);
my @places = sort keys %number_of;

for my $place (@places)
{
	ask("CREATE DATABASE $place");
	ask("ALTER DATABASE $place SET idgen.node_id = $number_of{$place};
		 ALTER DATABASE $place SET idgen.launch_id = 10$number_of{$place}");
	ask("CREATE EXTENSION idgen;
		 CREATE TABLE made (function text, id text);
		 SELECT setval('idgen.snowflake_ticker', (1000 * $later\::bigint) << 12);
		 SELECT setval('idgen.trace_id_ticker', $later\::bigint << 22);
		 SELECT setval('idgen.js_id_ticker', $later\::bigint << 16)", $place);
}

my $script = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';
my $calls = join(', ', map { "idgen.$_() AS $_" } @functions);
my $rows = join(', ', map { "('$_', $_\::text)" } @functions);
append_to_file($script, "INSERT INTO made SELECT v.*
	FROM (SELECT $calls FROM generate_series(1, 1000) OFFSET 0) m, LATERAL (VALUES $rows) v;\n");
my @pgbench = ('pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--transactions=10', "--file=$script");
my @running = map { IPC::Run::start([ @pgbench, $node->connstr($_) ], '>&', '/dev/null') } @places;
$_->finish or die 'pgbench failed' for @running;

# merged into one table, whose primary key rejects a repeated value
ask('CREATE TABLE merged (function text, id text, PRIMARY KEY (function, id))');
for my $place (@places)
{
	ask("\\copy made TO '$script.$place'", $place);
	is(outcome("\\copy merged FROM '$script.$place'"), '', "$place: merged");
}
is( ask('SELECT function, count(*) FROM merged GROUP BY function ORDER BY function'),
	join("\n", map { "$_|80000" } sort @functions), 'the merged table has all rows');
my $parts = join(' UNION ALL ', map {
	"SELECT function, id::bigint >> $_->[1], idgen.$_->[0]_counter(id::bigint), idgen.$_->[0]_node(id::bigint)
	 FROM merged WHERE function = '$_->[0]'" } [ snowflake => 22 ], [ trace_id => 38 ], [ js_id => 21 ]);
is( ask("SELECT function, count(*) FROM (
			SELECT function, tick, counter FROM (
				$parts UNION ALL SELECT function, p.generator, p.counter, p.launch
				FROM merged, idgen.decimal_id_parts(id::bigint) p WHERE function = 'decimal_id'
			) p (function, tick, counter, node)
			GROUP BY 1, 2, 3
			HAVING count(*) = 2 AND array_agg(node ORDER BY node) IN ('{3,31}', '{103,1031}')) w
		 GROUP BY function ORDER BY function"),
	join("\n", map { "$_|40000" } qw(decimal_id js_id snowflake trace_id)),
	'the values of both nodes differ in the node or launch only');

# --- The settings and the epoch ---------------------------------------------

# (sql/int_ids.sql has the messages, and identifiers with other epochs.)
my %most = (snowflake => 1023, trace_id => 65535, js_id => 31, decimal_id => 99999);
for my $function (sort keys %most)
{
	my ($setting, $part) = $function eq 'decimal_id'
	  ? ('idgen.launch_id', '(idgen.decimal_id_parts(idgen.decimal_id())).launch')
	  : ('idgen.node_id', "idgen.${function}_node(idgen.$function())");
	my $more = $most{$function} + 1;

	is(outcome("SELECT $part"), '55000', "$function: requires $setting");
	is(outcome("SET $setting = $_; SELECT $part"), $_, "$function: $setting is $_") for 0, $most{$function};
	is(outcome("LOAD 'idgen'; SET $setting = $more; SELECT $part"), '22023', "$function: $more is out of range");
}

# The epoch is an argument: it changes the identifier, not the ticker.
ask('ALTER DATABASE postgres SET idgen.node_id = 7');
my $too_late = 2 + ask('SELECT extract(year FROM now())');
for my $case ([ snowflake => 1950 ], [ js_id => 1880 ])
{
	my ($function, $too_early) = @$case;

	for my $epoch ("$too_early-01-01", "$too_late-01-01")
	{
		like(errors("SELECT idgen.$function('$epoch 00:00:00+00')"),
			qr/ERROR:  22008: timestamp is out of range for $function\(\)\n.*since the epoch, $epoch/s,
			"$function: the time since $epoch is out of range");
	}
	is( ask("SELECT idgen.$function('2000-01-01 00:00:00+00') > made, idgen.$function() > made
			 FROM (SELECT idgen.$function() AS made OFFSET 0) m"),
		't|t', "$function: greater than before with the default epoch");
}

# A high-water mark can be set to the end of the range.
is( outcome(q{
		SET idgen.launch_id = 1;
		SELECT setval('idgen.decimal_id_ticker', 922337202 * 100000::bigint);
		SELECT idgen.decimal_id();
		SELECT idgen.decimal_id()}),
	'2200H', 'a ticker at the end of its range raises an error');
is( ask(q{SELECT last_value = reserved_value - 1, reserved_value FROM idgen.ticker_state('decimal_id')}),
	't|92233720200001', 'after the last identifier of its range');

done_testing();
