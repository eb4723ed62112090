# Functions on a ticker in parallel plans: they stay in the leader, and a worker
# rejects them.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use Server;

my @functions = @Functions::tickers;
my $node = start_server('parallel', q{
max_worker_processes = 8
max_parallel_workers = 4
idgen.node_id = 7
idgen.launch_id = 42
});
ask(q{
	CREATE TABLE source WITH (parallel_workers = 3) AS SELECT generate_series(1, 40000) AS i;
	ANALYZE source});

# As with nextval(), the planner keeps these functions in the leader. A function
# falsely marked PARALLEL SAFE calls them in a worker, where they are rejected.
my $force = ask(q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
my $parallel = in_parallel("SET $force = on");

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

done_testing();
