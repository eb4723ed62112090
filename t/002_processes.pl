# Verify that concurrent processes, whether parallel workers or sessions, never generate the same value. The library is
# first loaded on demand, and then by the postmaster, from which every backend is forked. Functions that use a ticker
# must run in the leader of a parallel plan.

use Functions;
use Server;

my $node = start_server('busy',
	"max_worker_processes = 8\nmax_parallel_workers = 4\nlog_statement = none\n"
	  . "idgen.node_id = 7\nidgen.launch_id = 42");

# process_id() is pg_backend_pid() declared PARALLEL SAFE, so it may run in a worker.
ask(q{
	CREATE FUNCTION process_id() RETURNS int LANGUAGE internal VOLATILE PARALLEL SAFE AS 'pg_backend_pid';
	CREATE TABLE source WITH (parallel_workers = 3) AS SELECT generate_series(1, 40000) AS i;
	CREATE TABLE everything (id text PRIMARY KEY, generator text);
	ANALYZE source});

my $force = ask(q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
my $in_workers = in_parallel("SET $force = on");
my $parallel = "$in_workers; SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = on";

# --- Functions that use a ticker ---------------------------------------------------
# These functions are PARALLEL UNSAFE (see t/003_properties.pl), so the planner runs them only in the leader, like
# nextval(). Within a function that is falsely declared PARALLEL SAFE, they run in a worker and raise an error.
my %needs_node = map { $_ => 1 } qw(snowflake js_id trace_id);
for my $function (@Functions::tickers)
{
	ask("CREATE FUNCTION marked_safe_$function() RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE
		AS 'BEGIN RETURN idgen.$function(); END'");
	is(outcome("$in_workers; SELECT count(marked_safe_$function()) FROM source"),
		$needs_node{$function} && !settings_reach_workers() ? '55000' : '25000', "$function: rejected in a worker");
}

# --- Other generators --------------------------------------------------------
my %generators = (
	(map { $Functions::independent_names[$_] => $Functions::independent[$_] } 0 .. $#Functions::independent),
	bulk => q{idgen.short_comb('1 day')},
	run => q{idgen.short_comb('1 day', run_length => 1024)});

# Each session runs this transaction.
my $script = PostgreSQL::Test::Utils::tempdir() . '/sessions.sql';
append_to_file($script, "INSERT INTO everything SELECT $generators{$_}, '$_' FROM generate_series(1, 50);\n")
  for sort keys %generators;

sub check_parallel_plan
{
	my ($name, $loaded) = @_;
	my $query = "SELECT process_id() AS pid, $generators{$name} AS id FROM source";
	like(ask("$parallel; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) $query"),
		qr/Workers Launched: [1-9].*Parallel Seq Scan on public\.source[^\n]*\n\s+Output: process_id\(\), idgen\./s,
		"$loaded, $name: workers call the generator");

	# The division of the scan among the processes varies. Repeat the scan until three processes have taken part.
	my $until = time + $PostgreSQL::Test::Utils::timeout_default;
	my $processes = 0;
	while ($processes < 3 && time <= $until)
	{
		$processes = ask("$parallel; DROP TABLE IF EXISTS made; CREATE TABLE made AS $query;
			SELECT count(DISTINCT pid) FROM made");
	}
	cmp_ok($processes, '>=', 3, "$loaded, $name: several processes generated values");
	is(ask('SELECT count(DISTINCT id) FROM made'), '40000', "$loaded, $name: all values are distinct");
	ask("INSERT INTO everything SELECT id, '$name' FROM made");
}

for my $loaded ('loaded on demand', 'loaded by the postmaster')
{
	if ($loaded ne 'loaded on demand')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}
	check_parallel_plan($_, $loaded) for sort keys %generators;

	# A repeated value would violate the primary key, and pgbench would fail.
	my $before = ask('SELECT count(*) FROM everything');
	$node->command_like([ 'pgbench', '--no-vacuum', '--client=5', '--jobs=2', '--transactions=20', "--file=$script",
		'postgres' ],
		qr{processed: 100/100}, "$loaded: five concurrent sessions");
	is(ask('SELECT count(*) FROM everything') - $before, 100 * 50 * keys %generators,
		"$loaded: the rows of each session are there");
}

# Check the order of the values of one process. (Gather preserves the order of each worker's rows.)
for my $ordered ('uuid_v7', 'uuid_v6', 'lambert_comb', 'object_id')
{
	check_parallel_plan($ordered, 'in order');
	is(ask(q{SELECT count(*) FILTER (WHERE falls)
			FROM (SELECT id::text <= lag(id::text) OVER (PARTITION BY pid ORDER BY ctid) AS falls FROM made) m}),
		'0', "$ordered: strictly increasing within each worker");
}

# The identifiers of a run share the 32 bits after the two-byte prefix. Identifiers outside runs may share these bits by
# chance.
my $tag = q{substr(replace(id::text, '-', ''), 5, 8)};
for my $case ([ 'bulk', 4096, 2 ], [ 'run', 1024, 0 ])
{
	my ($name, $length, $least) = @$case;
	check_parallel_plan($name, 'in runs');
	is(ask("SELECT max(n), count(*) FILTER (WHERE n > $least AND processes > 1)
			FROM (SELECT count(*) AS n, count(DISTINCT pid) AS processes FROM made GROUP BY $tag) t"),
		"$length|0", "$name: $length identifiers share a tag, and no two processes");
}
# Each process ends with one incomplete run, and has another incomplete run if the day changes.
cmp_ok(ask("SELECT count(DISTINCT $tag) - 40000 / 1024 - 2 * count(DISTINCT pid) FROM made"),
	'<=', 1, 'run_length: each process uses the fewest tags possible');
done_testing();
