# Many processes make identifiers at once: parallel workers, sessions, and
# both again with the library loaded by the postmaster, from which every
# process is a fork.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('busy');
$node->init;
$node->append_conf('postgresql.conf', qq{
max_worker_processes = 8
max_parallel_workers = 4
log_statement = none
});
$node->start;

# process_id() is pg_backend_pid(), but may run in a worker.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	CREATE FUNCTION process_id() RETURNS int
		LANGUAGE internal VOLATILE PARALLEL SAFE AS 'pg_backend_pid';
	CREATE TABLE source WITH (parallel_workers = 3) AS SELECT generate_series(1, 40000) AS i;
	CREATE TABLE everything (id text PRIMARY KEY, generator text);
	ANALYZE source});

my %generators = (
	'uuid_v4' => 'idgen.uuid_v4()',
	'uuid_v7' => 'idgen.uuid_v7()',
	'uuid_v1' => 'idgen.uuid_v1()',
	'uuid_v6' => 'idgen.uuid_v6()',
	'lambert_comb' => 'idgen.lambert_comb()',
	'suffix_comb' => 'idgen.suffix_comb()',
	'short_suffix_comb' => 'idgen.short_suffix_comb()',
	'comb' => 'idgen.comb()',
	'short_comb' => 'idgen.short_comb()',
	'object_id' => 'idgen.object_id()',
	'run' => q{idgen.short_comb('1 day', run_length => 1024)});

# A transaction of each of the sessions
my $sessions = PostgreSQL::Test::Utils::tempdir() . '/sessions.sql';
append_to_file($sessions,
	join('', map { "INSERT INTO everything SELECT $generators{$_}, '$_' FROM generate_series(1, 50);\n" }
		  sort keys %generators));

my $force = $node->safe_psql('postgres',
	q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
my $parallel = qq{
	SET $force = on;
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = 3;
	SET parallel_leader_participation = on};

# The 32 bits behind a prefix of two bytes
my $tag = q{substr(replace(id::text, '-', ''), 5, 8)};

sub ask
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query);
}

sub check_parallel_plan
{
	my ($name, $loaded) = @_;
	my $query = "SELECT process_id() AS pid, $generators{$name} AS id FROM source";
	my $plan = ask("$parallel; EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) $query");

	like($plan, qr/Workers Launched: [1-9]/, "$loaded, $name: workers are launched");
	like($plan, qr/Parallel Seq Scan on public\.source.*\n\s+Output: process_id\(\), idgen\./,
		"$loaded, $name: and call the generator");

	# Who gets how much of the scan is up to the machine: again, until three
	# processes had a share.
	my $until = time + $PostgreSQL::Test::Utils::timeout_default;
	do
	{
		ask("$parallel; DROP TABLE IF EXISTS made; CREATE TABLE made AS $query");
	} until ask('SELECT count(DISTINCT pid) FROM made') >= 3 || time > $until;
	cmp_ok(ask('SELECT count(DISTINCT pid) FROM made'),
		'>=', 3, "$loaded, $name: made by several processes");
	is( ask('SELECT count(DISTINCT id) FROM made'),
		'40000', "$loaded, $name: no two are the same");
	ask("INSERT INTO everything SELECT id, '$name' FROM made");
}

sub check_sessions
{
	my ($loaded) = @_;
	my $before = ask('SELECT count(*) FROM everything');

	# The primary key refuses a repetition, and pgbench fails.
	$node->command_like(
		[
			'pgbench', '--no-vacuum', '--client=5', '--jobs=2', '--transactions=20',
			"--file=$sessions", 'postgres'
		],
		qr{processed: 100/100},
		"$loaded: five sessions at once");
	is( ask('SELECT count(*) FROM everything') - $before,
		100 * 50 * keys %generators,
		"$loaded: every session's are there");
}

for my $loaded ('loaded on demand', 'loaded by the postmaster')
{
	if ($loaded ne 'loaded on demand')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}

	check_parallel_plan($_, $loaded) for sort keys %generators;
	check_sessions($loaded);
}

# What a process makes in a row (Gather keeps each worker's rows in order)
for my $ordered ('uuid_v7', 'uuid_v6', 'lambert_comb', 'object_id')
{
	check_parallel_plan($ordered, 'in order');
	is( ask(q{SELECT count(*) FROM
				(SELECT id::text <= lag(id::text) OVER (PARTITION BY pid ORDER BY ctid) AS falls FROM made) m
			  WHERE falls}),
		'0', "$ordered: strictly increasing within each worker, too");
}

check_parallel_plan('run', 'in runs');
is( ask("SELECT count(*) FROM
			(SELECT $tag FROM made GROUP BY $tag HAVING count(DISTINCT pid) > 1) t"),
	'0', 'runs: no two processes share a tag');
is( ask("SELECT max(n) FROM (SELECT count(*) AS n FROM made GROUP BY $tag) t"),
	'1024', 'runs: a tag serves 1024 identifiers');
# a process ends one run early, and each does once more if the day changes
cmp_ok(
	ask("SELECT count(DISTINCT $tag) - 40000 / 1024 - 2 * count(DISTINCT pid) FROM made"),
	'<=', 1, 'runs: and a process takes no more tags than it needs');

$node->stop;
done_testing();
