# Functions on a ticker in many sessions, on two nodes, and in two sessions that
# take turns under load. No value is repeated, and a later value is greater.
# Parallel workers are rejected. Then the settings, and which roles may change
# them.

use strict;
use warnings;
use IPC::Run;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @functions = qw(snowflake trace_id js_id decimal_id uuid_v7_ordered);
my @with_node = qw(snowflake trace_id js_id);

my $node = PostgreSQL::Test::Cluster->new('office');
$node->init;
$node->append_conf('postgresql.conf', q{
max_worker_processes = 8
max_parallel_workers = 4
log_statement = none
idgen.node_id = 7
idgen.launch_id = 42
});
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	CREATE FUNCTION process_id() RETURNS int
		LANGUAGE internal VOLATILE PARALLEL SAFE AS 'pg_backend_pid';
	CREATE TABLE source WITH (parallel_workers = 3) AS SELECT generate_series(1, 40000) AS i;
	ANALYZE source;
	-- who made how many in a row, in each transaction
	CREATE TABLE made (story text, snowflake bigint[], trace_id bigint[], js_id bigint[], decimal_id bigint[], uuid_v7_ordered uuid[])});

sub ask
{
	my ($query, $database) = @_;

	return $node->safe_psql($database || 'postgres', $query);
}

# The rows, or the SQLSTATE of the error, and notices
sub as_role
{
	my ($role, $query, $database) = @_;
	my ($rows, $errors);

	$node->psql(
		$database || 'postgres', $query,
		stdout => \$rows,
		stderr => \$errors,
		extra_params => [ '--username', $role, '--set=VERBOSITY=sqlstate' ]);
	die "$role cannot connect: $errors" if $errors =~ /^psql: error/m;
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows;
}

my $superuser = ask('SELECT current_user');

sub outcome
{
	return as_role($superuser, @_);
}

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

sub check_sessions
{
	my ($story) = @_;
	my $script = script($story =~ s/ /_/gr, "INSERT INTO made SELECT '$story', * FROM (" . arrays_of(1000) . ') m');

	$node->command_like(
		[ 'pgbench', '--no-vacuum', '--client=32', '--jobs=2', '--transactions=6', $script, 'postgres' ],
		qr{processed: 192/192}, "$story: 32 concurrent sessions");
	check_made($story, 192_000);
}

for my $story ('loaded on demand', 'loaded by the postmaster')
{
	if ($story ne 'loaded on demand')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
		$node->restart;
	}

	check_sessions($story);
}

for my $function (@functions)
{
	is( ask("SELECT count(*), count(DISTINCT id) FROM made, unnest($function) id"),
		'384000|384000', "$function: values are distinct over all stories");
	is( ask("SELECT (SELECT id FROM made, unnest($function) id WHERE story LIKE 'loaded by%' ORDER BY id LIMIT 1)
				  > (SELECT id FROM made, unnest($function) id WHERE story LIKE 'loaded on%' ORDER BY id DESC LIMIT 1)"),
		't', "$function: values after the restart are greater");
}

# --- Parallel plans ----------------------------------------------------------

# As with nextval(), the planner keeps these functions in the leader. A function
# falsely marked PARALLEL SAFE calls them in a worker, where they are rejected.
my $force = ask(q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
my $parallel = qq{
	SET $force = on;
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;
	SET parallel_leader_participation = off};

like(ask("$parallel; EXPLAIN SELECT idgen.uuid_v7() FROM source"), qr/Gather/, 'a generator without a ticker gets a parallel plan');
for my $function (@functions)
{
	unlike(ask("$parallel; EXPLAIN CREATE TABLE made_by_leader AS SELECT idgen.$function() FROM source"),
		qr/Gather/, "$function: no parallel plan");
	ask("CREATE FUNCTION marked_safe_$function() RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE
		 AS 'BEGIN RETURN idgen.$function(); END'");
	is(outcome("$parallel; SELECT count(marked_safe_$function()) FROM source"), '25000', "$function: rejected in a worker");
}

# GRANT in the same transaction as calls does not change the ticker.
ask("$parallel; SET idgen.reserve_ahead = 3600; BEGIN; GRANT SELECT ON ALL SEQUENCES IN SCHEMA idgen TO PUBLIC;
	 CREATE TABLE made_after_grant AS SELECT " . join(', ', map { "idgen.$_() AS $_" } @functions) . " FROM source; COMMIT;
	 REVOKE SELECT ON ALL SEQUENCES IN SCHEMA idgen FROM PUBLIC");
is(ask(q{SELECT string_agg(layout || ' by ' || ahead, ', ') FROM idgen.tickers WHERE ahead > '10 minutes'}),
	'', 'GRANT and a parallel query in one transaction do not advance a ticker');
my $before_end = ask('SELECT idgen.decimal_id()');
cmp_ok((ask('SELECT idgen.decimal_id()') - $before_end) / 10_000_000_000, '<=', 1, 'GRANT does not advance the ticker without a clock');

# --- Two sessions take turns ------------------------------------------------

# A session takes its turn when it acquires lock number TURN, which the other one
# holds until the end of its own turn; before releasing it, it acquires the lock
# that ends its next turn. A sequence records the turns. The sessions continue
# until the test releases lock -1, when they and the load have run long enough.
$node->safe_psql(
	'postgres', q{
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

my $insert = script('insert', 'INSERT INTO made ' . arrays_of(1000));
my @running = map {
	IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--transactions=10', $insert, $node->connstr($_) ],
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
		is( outcome("\\copy merged FROM '$scripts/$place.$function'"), '', "$place, $function: merged");
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

ask('CREATE ROLE clerk LOGIN');
ask('CREATE DATABASE settings');
ask('CREATE EXTENSION idgen', 'settings');
ask($_) for map { "ALTER DATABASE settings SET idgen.$_ = -1" } 'node_id', 'launch_id';

# The error or warning of a call, with all fields
sub complaint
{
	my ($query, $database) = @_;
	my $errors;

	$node->psql($database || 'settings', $query,
		stderr => \$errors, extra_params => [ '--set=VERBOSITY=verbose' ]);
	return $errors;
}

for my $function (@with_node)
{
	my ($most) = { snowflake => 1023, trace_id => 65535, js_id => 31 }->{$function};

	like( complaint("SELECT idgen.$function()"),
		qr/ERROR:  55000: idgen\.node_id is not set\n.*HINT:  Set idgen\.node_id to .*, from 0 to $most, .*Only superusers and roles with the privilege SET /s,
		"$function: requires idgen.node_id, and the hint says how to set it");
	is( outcome("SET idgen.node_id = $most; SELECT idgen.${function}_node(idgen.$function());
				 SET idgen.node_id = 0; SELECT idgen.${function}_node(idgen.$function())", 'settings'),
		"$most\n0", "$function: nodes from 0 to $most");
}
like( complaint('SELECT idgen.decimal_id()'),
	qr/ERROR:  55000: idgen\.launch_id is not set\n.*HINT:  Set idgen\.launch_id to .*Only superusers and roles with the privilege SET /s,
	'decimal_id: requires idgen.launch_id, and the hint says how to set it');
is( outcome('SET idgen.launch_id = 99999; SELECT (idgen.decimal_id_parts(idgen.decimal_id())).launch;
			 SET idgen.launch_id = 0; SELECT (idgen.decimal_id_parts(idgen.decimal_id())).launch', 'settings'),
	"99999\n0", 'decimal_id: launches from 0 to 99999');
like( complaint('SET idgen.node_id = 1024; SELECT idgen.snowflake()'),
	qr/ERROR:  22023: .*DETAIL:  The value is 1024, .*: 0 to 1023\./s, 'snowflake: node 1024 is out of range');
like( complaint('SET idgen.node_id = 32; SELECT idgen.js_id()'),
	qr/ERROR:  22023: .*DETAIL:  The value is 32, .*: 0 to 31\./s, 'js_id: node 32 is out of range');
is( outcome('SET idgen.node_id = 1024; SELECT idgen.trace_id_node(idgen.trace_id())', 'settings'), '1024', 'trace_id: node 1024 is in range');
is( outcome('LOAD $$idgen$$; SET idgen.node_id = 65536', 'settings'), '22023', 'node 65536 is out of range for all layouts');
is( outcome('LOAD $$idgen$$; SET idgen.launch_id = 100000', 'settings'), '22023', 'launch 100000 is out of range');

# Which roles may change settings and tickers
my $load_library = 'SELECT FROM idgen.uuid_v4();';
for my $setting ('node_id = 5', 'launch_id = 5', 'max_ahead = 1', 'reserve_ahead = 3')
{
	is(as_role('clerk', "$load_library SET idgen.$setting"), '42501', "a role without rights cannot SET idgen.$setting");
	is(as_role('clerk', 'ALTER ROLE clerk SET idgen.' . $setting), '42501', 'nor ALTER ROLE SET');
}
for my $sequence (map { "idgen.${_}_ticker" } @functions)
{
	is(as_role('clerk', "SELECT last_value FROM $sequence"), '42501', "a role without rights cannot read $sequence");
	is(as_role('clerk', "SELECT nextval('$sequence')"), '42501', 'nor call nextval()');
	is(as_role('clerk', "SELECT setval('$sequence', 1)"), '42501', 'nor call setval()');
}
is( as_role('clerk', 'SELECT ' . join(', ', map { "idgen.$_() IS NOT NULL" } @functions)),
	't|t|t|t|t', 'a role without rights can call the functions');
is( as_role('clerk', q{SELECT string_agg(layout, ' ' ORDER BY layout), bool_and(last_value < reserved_value) FROM idgen.tickers}),
	join(' ', sort @Functions::tickers) . '|t', 'and read the view idgen.tickers');

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

$node->stop;
done_testing();
