# Verify that clients can share sessions, with DISCARD ALL and through PgBouncer. An unfinished transaction of one
# client does not affect the next client, which uses its own rights, and no identifier or command is repeated.

use Pool;
use Server;
use Tickers;

my $node = start_server('pooled', $settings . "max_prepared_transactions = 5\n");
ask(q{
	CREATE ROLE teller LOGIN;
	CREATE ROLE stranger LOGIN;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO teller;
	CREATE TABLE orders (id uuid, command uuid);
	CREATE TABLE sent (pid int, client int, number int)});

# Return a call for the given command number and entity number.
sub create_once
{
	return sprintf("SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-%012d', %s, 'order')", @_[ 0, 1 ]);
}

# --- DISCARD ALL ------------------------------------------------------------
my $session = session();
for my $client (1 .. 2)
{
	is($session->ask(create_once($client, $client)), "$client|t", "client $client: its command is recorded");
	is($session->ask(create_once($client, 0)), "$client|f", "client $client: a replay returns its entity");
	is($session->ask('DISCARD ALL'), '', "client $client: DISCARD ALL");
}

# Another role in the session uses the saved plans of create_once() with its own rights. (t/043_settings.pl tests
# settings, and t/046_lagging_standby.pl tests read-only transactions.)
for (
	[ 'a role with rights gets a replay', create_once(1, 0), '1|f', 'SET SESSION AUTHORIZATION teller' ],
	[ 'a role with rights records a command', create_once(101, 101), '101|t' ],
	[ 'a role without rights gets no replay', create_once(1, 0), 42501, 'DISCARD ALL',
	'SET SESSION AUTHORIZATION stranger' ],
	[ 'a role without rights records nothing', create_once(102, 102), 42501 ])
{
	my ($name, $query, $expected, @before) = @$_;
	$session->ask($_) for @before;
	is($session->ask($query), $expected, $name);
}
$session->quit;

# --- PgBouncer --------------------------------------------------------------
SKIP:
{
	my $pooler = Pool->new($node, [ ask('SELECT current_user'), 'stranger' ], prepared => 20)
	  or skip 'pgbouncer is not installed', 1;
	my $pool = $pooler->{node};
	my $folder = PostgreSQL::Test::Utils::tempdir();

	# 20 clients send statements with parameters, as drivers do. They insert new values. They also send commands that
	# other clients send at the same time, both as a single statement and in a transaction for which other clients of
	# the pool wait.
	my @generators = (@functions, 'decimal_id', @Functions::independent_names);
	my $row = join(', ', (map { "idgen.$_()" } @functions, 'decimal_id'), @Functions::independent);
	ask("CREATE TABLE made AS SELECT $row LIMIT 0; " . join('; ',
		map { "ALTER TABLE made ADD UNIQUE ($_)" } @generators));
	my $make_order = q{INSERT INTO orders SELECT entity_id, command_id FROM
		(SELECT ('d0000000-0000-4000-8000-' || lpad(:number::text, 12, '0'))::uuid AS command_id) c,
			idgen.create_once(command_id, idgen.uuid_v7(), 'order')
		WHERE created;} =~ s/\n\s*/ /gr;
	append_to_file("$folder/order.sql", '\set number random(1, 60)' . "\nINSERT INTO made SELECT $row;\n"
		  . "INSERT INTO sent VALUES (pg_backend_pid(), :client_id, :number);\n"
		  . "$make_order\nBEGIN;\n$make_order\nCOMMIT;\n");
	# Use one thread for each client. While pgbench waits for a PREPARE, it does not serve the other clients of the same
	# thread, which may hold the sessions that it waits for.
	for my $protocol ('simple', 'extended', $pooler->{prepared} ? 'prepared' : ())
	{
		ask('TRUNCATE sent, orders; SELECT idgen.trim_creations(0)');
		$pool->command_like(
			[ 'pgbench', '--no-vacuum', '--client=20', '--jobs=20', '--transactions=20', "--protocol=$protocol",
				"--file=$folder/order.sql", $pool->connstr('postgres') ],
			qr{processed: 400/400}, "PgBouncer, protocol $protocol: 20 clients, no value is repeated");
		is(ask('SELECT count(DISTINCT pid), count(*) > 3 * count(DISTINCT pid)
			FROM (SELECT DISTINCT pid, client FROM sent) s'), '3|t',
			'they share three sessions');
		is(ask(q{SELECT count(*), count(DISTINCT command), count(DISTINCT id),
			(SELECT count(*) FROM idgen.creation_identifiers) FROM orders}),
			join('|', (ask('SELECT count(DISTINCT number) FROM sent')) x 4), 'each command made one order');
	}

	is(outcome(create_once(1, 0), node => $pool, user => 'stranger'), '42501', 'a role without rights gets no replay');

	# A client disconnects in the middle of a transaction. The transaction is rolled back, or the session is closed,
	# before another client is served.
	my ($client, $other) = map { session(node => $pool) } 1 .. 2;
	$client->ask('BEGIN; ' . create_once(2001, 2001));
	$client->disconnect;
	is($other->ask(create_once(2001, 2002)), '2002|t', 'after a client disconnects, its command can be recorded');

	$other->quit;
	$pooler->stop;
}

done_testing();
