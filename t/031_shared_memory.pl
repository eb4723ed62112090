# Verify the extension while another role uses up shared memory: the whole lock table, before the first use of the
# extension or later, or all slots of dynamic shared memory. Loading the library never fails. Functions that need no
# segment, such as uuid_v4() and readers, always work, and so does ANALYZE of an index on a reader. Functions that need
# a segment raise an error, and work again when memory is available. On a server that preloads the library, they always
# work.

use IPC::Run;
use Server;

my $segments_are_dynamic = PostgreSQL::Version->new(`$ENV{PG_CONFIG} --version` =~ /(\d+)/) >= 17;
my %of_segment = map { $_ => "SELECT idgen.$_ IS NOT NULL" } q{keyed_comb('orders')}, 'snowflake()',
  'uuid_v7_ordered()';
my $conf = "max_connections = 10\nmax_locks_per_transaction = 10\nmax_wal_senders = 0\nidgen.node_id = 1\n"
  . "max_parallel_workers = 0\nautovacuum = off\n";

# A role that can only connect takes locks until the lock table is full. From then on, the lock table occupies all spare
# shared memory.
my $locks = q{DO $$ DECLARE i int := 0; BEGIN LOOP PERFORM pg_advisory_xact_lock(i); i := i + 1; END LOOP;
	EXCEPTION WHEN out_of_memory THEN RAISE NOTICE '% locks', i; END $$};
# The query has more Gather nodes than there are slots. It then waits for a lock that the test holds.
my $gathers = in_parallel('SELECT ' . join(', ', map { "(SELECT count(*) FROM notes WHERE id = $_)" } 1 .. 700)
	  . ', pg_advisory_lock(1)');

for my $preloaded (0, 1)
{
	my $node = init_server("preloaded_$preloaded", $conf . ($preloaded ? "shared_preload_libraries = 'idgen'\n" : ''));
	my $where = $preloaded ? 'preloaded' : 'not preloaded';
	$node->start;
	my %of = (node => $node, user => 'stranger');
	my $run = sub { return outcome($_[0], node => $node, @_[ 1 .. $#_ ]) };
	$run->(q{CREATE EXTENSION idgen; CREATE ROLE stranger LOGIN;
		CREATE TABLE events (id uuid DEFAULT '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
		INSERT INTO events SELECT FROM generate_series(1, 100);
		CREATE INDEX ON events (idgen.uuid_timestamp(id));
		CREATE TABLE notes AS SELECT generate_series(1, 1000) AS id; GRANT SELECT ON notes TO stranger});
	$run->(q{DO $$ BEGIN FOR i IN 1 .. 3000 LOOP EXECUTE format('CREATE TABLE t%s ()', i);
		IF i % 50 = 0 THEN COMMIT; END IF; END LOOP; END $$});

	my %expected = ('works' => qr/^t$/, 'raises an error' => qr/^53[02]00$/,
		'works or raises an error' => qr/^(?:t|53[02]00)$/);
	my $check = sub {
		my ($when, $outcome) = @_;
		is($run->("SELECT idgen.uuid_version(idgen.uuid_v4()), idgen.uuid_timestamp(id) < now() FROM events LIMIT 1"),
			'4|t', "$where, $when: uuid_v4() and readers work");
		is($run->('ANALYZE events'), '', "$where, $when: ANALYZE of an index on a reader works");
		for (sort keys %of_segment)
		{
			# If segments are in the main shared memory, the small segment of keyed_comb() may still fit.
			my $of_this = $outcome;
			$of_this = 'works or raises an error' if /keyed/ && !$segments_are_dynamic && $outcome =~ /error/;
			like($run->($of_segment{$_}), $expected{$of_this}, "$where, $when: $_ $of_this");
		}
	};

	for ([$locks], ['a failed dump'], [ $locks, 'a session has called a function' ])
	{
		my ($attack, $first_use) = @$_;
		# Restart the server, so that the next call is the first use. In versions 15 and 16, the first call of any
		# function creates all segments.
		$node->restart;
		is($run->('SELECT idgen.uuid_version(idgen.uuid_v4())'), '4', "$where: $first_use") if $first_use;
		if ($attack eq $locks)
		{
			like(errors($locks, %of), qr/\d+ locks/, "$where: a role fills the lock table");
		}
		else
		{
			my $said = '';
			IPC::Run::run([ 'pg_dump', '--schema-only', $node->connstr('postgres') ], '>', '/dev/null', '2>', \$said);
			like($said, qr/out of shared memory/, "$where: a dump fails for want of locks");
		}
		# (The dump leaves enough free memory for up to one batch of locks.)
		$check->($attack eq $locks ? 'after the lock table was full' : 'after the failed dump',
			$preloaded || $segments_are_dynamic || $first_use ? 'works' :
			  $attack eq $locks ? 'raises an error' : 'works or raises an error');
	}

	# A later call creates the missing segment. Before versions 17.8 and 18.2, the server's registry refuses this. New
	# sessions can attach to an existing segment while no slot is free.
	my $version = $node->pg_version;
	my $refuses = !$preloaded && ($version >= 17 && $version < '17.8' || $version >= 18 && $version < '18.2');
	for my $is_used (0, 1)
	{
		$node->restart;
		is($run->($of_segment{$_}), 't', "$where, before: $_") for $is_used ? sort keys %of_segment : ();
		my $holder = session(node => $node);
		my $hog = session(%of);
		$holder->ask('SELECT pg_advisory_lock(1)');
		$hog->send_blocked($holder, $gathers);
		$check->('while the slots are taken' . ($is_used ? ', in new sessions' : ''),
			$preloaded || !$segments_are_dynamic || $is_used ? 'works' : 'raises an error');
		$holder->ask('SELECT pg_advisory_unlock(1)');
		$hog->answer;
		$check->('then', 'works') unless $refuses && !$is_used;
		$_->quit for $hog, $holder;
	}

	# While the lock table is full, open sessions can call functions that write nothing, but no session can begin or
	# write.
	my ($open, $hog) = (session(node => $node), session(%of));
	$hog->ask($locks =~ s/xact_//r);
	my $full = "$where, while the lock table is full:";
	is($open->ask("SELECT idgen.uuid_version(idgen.uuid_v4()), idgen.uuid_timestamp(idgen.uuid_v7()) < 'infinity'"),
		'4|t', "$full uuid_v4() and readers work");
	is($open->ask('INSERT INTO events DEFAULT VALUES'), '53200', "$full no session can write");
	like(eval { $run->('SELECT 1') } // $@, qr/no connection.*out of shared memory/s, "$full no session can begin");
	$hog->quit;
	ok(wait_until(sub { $open->ask('INSERT INTO events DEFAULT VALUES') eq '' }), "$where, then: sessions can write");
	$check->('then', 'works');
	$open->quit;
	$node->stop;
}
done_testing();
