# Verify functions that use a ticker in many sessions, and in two sessions that take turns under load. No value is
# repeated, later values are always greater, and values contain the node number. (sql/int_ids.sql tests settings and
# epochs.)

use Server;
use Tickers;

my $node = start_server('office', "log_statement = none\nmax_connections = 60");
ask('ALTER DATABASE postgres SET idgen.node_id = 7; ALTER DATABASE postgres SET idgen.launch_id = 42');

# --- Sessions ----------------------------------------------------------------
# 32 sessions generate values, first with the library loaded on demand, and then with the library loaded by the
# postmaster. Meanwhile, two more sessions take turns: each of them fetches its values only after the other one has
# returned, so the later values must be greater.
my $script = PostgreSQL::Test::Utils::tempdir() . '/sessions.sql';
append_to_file($script, 'INSERT INTO made SELECT pg_backend_pid(), v.* FROM (' . values_query(20) . ") v;\n");
ask('CREATE TABLE made AS SELECT 1 AS pid, v.*, 1::bigint AS place FROM (' . values_query() . ') v LIMIT 0;
	ALTER TABLE made ALTER place SET NOT NULL, ALTER place ADD GENERATED ALWAYS AS IDENTITY');
begin_scenario('two sessions that take turns', take('postgres'));
for my $loaded ('on demand', 'by the postmaster')
{
	my @pair = map { session() } 1 .. 2;
	my $load = IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=32', '--jobs=2', '--transactions=50',
		"--file=$script", $node->connstr('postgres') ],
		'>', \my $output, '2>', \my $errors);
	my ($turns, $values) = (0, '');
	while ($turns < 100 || $load->pumpable)
	{
		$values .= take($pair[ $turns++ % 2 ]) . "\n";
		$load->pump_nb if $load->pumpable;    # On a slow machine, pgbench ends first.
	}
	$load->finish or die $errors;
	like($output, qr/processed: 1600\/1600/, "loaded $loaded: 32 sessions");
	continues("loaded $loaded", $values);
	$_->quit for @pair;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	$node->restart;
}
# trace_id() wraps around every 388 days.
my $trace_id = '(trace_id::numeric - (SELECT trace_id FROM made LIMIT 1) + 4611686018427387904) % 9223372036854775808';
for my $function (@functions)
{
	my $value = $function eq 'trace_id' ? $trace_id : $function;
	is(ask("SELECT count(*), count(DISTINCT value), count(*) FILTER (WHERE falls) FROM
			(SELECT value, value <= lag(value) OVER (PARTITION BY pid ORDER BY place) AS falls
				FROM (SELECT *, $value AS value FROM made) m) m"),
		'64000|64000|0', "$function: no value is repeated, and later values of a session are greater");
}

is(ask('SELECT count(*) FROM made WHERE idgen.snowflake_node(snowflake) <> 7 OR idgen.trace_id_node(trace_id) <> 7
		OR idgen.js_id_node(js_id) <> 7'), 0, 'all have the number of the node');

like(errors(q{SELECT idgen.snowflake('1950-01-01 00:00:00+00')}),
	qr/22008: timestamp is out of range for snowflake\(\)\n.*since the epoch, 1950-01-01/s, 'an early epoch');
done_testing();
