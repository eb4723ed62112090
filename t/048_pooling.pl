# Clients that share sessions, with DISCARD ALL and through PgBouncer: nothing that one
# client set or began affects the next one, and no identifier or command repeats.

use HandedOut;
use Server;
use Time::HiRes qw(usleep);

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/bin';

my $node = start_server('pooled', $HandedOut::settings . "max_prepared_transactions = 5\n");
ask(q{
	CREATE ROLE teller LOGIN;
	CREATE ROLE stranger LOGIN;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO teller;
	CREATE TABLE made (id text, generator text, PRIMARY KEY (generator, id));
	CREATE TABLE orders (id uuid, command uuid);
	GRANT ALL ON made, orders TO teller});

# The call for the number of a command and that of its entity
sub create_once { return sprintf("SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-%012d', %s)", @_[ 0, 1 ]) }

# --- DISCARD ALL ------------------------------------------------------------
my $session = Client->connect($node);
my @generators = (@HandedOut::functions, 'decimal_id', @Functions::independent_names);
my $row = join(', ', map { "idgen.$_()" } @generators);
my @made;

for my $client (1 .. 50)
{
	push @made, $session->ask("SELECT $row");
	push @made, $session->ask("PREPARE mine AS SELECT $row; EXECUTE mine");
	is($session->ask(create_once($client, $client)), "$client|t", "client $client: its command is recorded");
	is($session->ask(create_once($client, 0)), "$client|f", "client $client: a replay returns its entity");
	is($session->ask('DISCARD ALL'), '', "client $client: DISCARD ALL");
}
for my $i (0 .. $#generators)
{
	my @values = map { (split /\|/)[$i] } @made;
	my %different = map { $_ => 1 } @values;
	is(scalar keys %different, 100, "$generators[$i]: all values of 50 clients of one session are distinct");
	is(join(' ', @values), join(' ', sort { length $a <=> length $b || $a cmp $b } @values), "$generators[$i]: the values increase")
	  if $generators[$i] =~ /snowflake|js_id|decimal|v7|v6|object|ulid/;
}

# Settings of a client end with it: the node, the role, the read-only mode. The saved
# plans of create_once() serve the next role with its own rights.
my $node_of = 'SELECT idgen.snowflake_node(idgen.snowflake())';
for (
	[ 'a session sets a node', $node_of, 5, 'SET idgen.node_id = 5' ],
	[ 'RESET ALL restores the node', $node_of, 21, 'RESET ALL' ],
	[ 'a role with rights gets a replay', create_once(1, 0), '1|f', 'SET SESSION AUTHORIZATION teller' ],
	[ 'a role with rights records a command', create_once(101, 101), '101|t' ],
	[ 'a role without rights gets no replay', create_once(1, 0), 42501, 'DISCARD ALL', 'SET SESSION AUTHORIZATION stranger' ],
	[ 'a role without rights records nothing', create_once(102, 102), 42501 ],
	[ 'a read-only client cannot record a command', create_once(103, 103), 25006, 'DISCARD ALL', 'SET default_transaction_read_only = on' ],
	[ 'after DISCARD ALL the session can write', create_once(103, 103), '103|t', 'DISCARD ALL' ])
{
	my ($name, $query, $expected, @before) = @$_;
	$session->ask($_) for @before;
	is($session->ask($query), $expected, $name);
}
$session->quit;

# --- PgBouncer --------------------------------------------------------------
SKIP:
{
	skip 'pgbouncer is not installed', 1 unless $pgbouncer;

	my $prepares = `$pgbouncer --version` =~ /PgBouncer (\d+)\.(\d+)/ && $1 * 100 + $2 >= 121;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $socket = PostgreSQL::Test::Utils::tempdir_short();
	my $superuser = ask('SELECT current_user');
	my $prepared = $prepares ? "max_prepared_statements = 20\n" : '';

	append_to_file("$folder/users", qq{"$superuser" ""\n"teller" ""\n"stranger" ""\n});
	append_to_file("$folder/pgbouncer.ini", qq{
[databases]
* = host=@{[$node->host]} port=@{[$node->port]}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $socket
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
logfile = $folder/pgbouncer.log
pidfile = $folder/pgbouncer.pid
$prepared});
	my $pool = IPC::Run::start([ $pgbouncer, '--quiet', "$folder/pgbouncer.ini" ], '>', '/dev/null', '2>', \my $errors);
	my %where = (host => $socket, port => 6432);
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;
	my $first;
	until ($first = Client->connect(undef, %where))
	{
		die "pgbouncer does not start: $errors" if $attempts-- <= 0 || !$pool->pumpable;
		usleep(100_000);
	}

	# 40 clients on 3 sessions: the values of each transaction, and the server
	# process that generated them
	my @clients = ($first, map { Client->connect(undef, %where) } 2 .. 40);
	my (%pids, %value_twice, @repeated);
	$_->wait for @clients;

	# three transactions begin and end together, which requires three sessions
	for my $first (map { 3 * $_ } 0 .. 12)
	{
		my @three = @clients[ $first .. $first + 2 ];
		$pids{ $_->ask('BEGIN; SELECT pg_backend_pid()') }{$_} = 1 for @three;
		$_->ask('COMMIT') for @three;
	}
	for my $turn (1 .. 10)
	{
		$_->send("SELECT pg_backend_pid(), $row, idgen.short_comb(run_length => 1024)") for @clients;
		for my $client (@clients)
		{
			$client->wait eq '' or die $client->{message};
			my ($pid, @values) = @{ $client->{rows}[0] };
			$pids{$pid}{$client} = 1;
			push @repeated, grep { $value_twice{$_}++ } map { "$_ $values[$_]" } 0 .. $#values;
		}
	}
	is(scalar keys %pids, 3, 'through PgBouncer, 40 clients share 3 sessions');
	cmp_ok((sort { $a <=> $b } map { scalar keys %$_ } values %pids)[0], '>', 1, 'each session serves several clients');
	is(scalar @repeated, 0, 'none of ' . keys(%value_twice) . ' identifiers is repeated');

	# Settings of a transaction, with transactions of other clients in between
	my ($batch, $clerk, @rest) = @clients;
	is($batch->ask("BEGIN; SET LOCAL idgen.node_id = 5"), '', 'a client sets a node for its transaction');
	is($clerk->ask($node_of), '21', 'another client has the node of the server');
	is($batch->ask($node_of), '5', 'the transaction has its own');
	is($batch->ask('COMMIT'), '', 'the transaction commits');
	is(join(' ', map { $_->ask($node_of) } @clients), join(' ', (21) x @clients), 'no client has that node afterwards, on any session');

	# Commands: each is sent by five clients at the same time, as one statement or
	# as a transaction that others of the pool wait for.
	my $commands = 60;
	my @wrong;
	for my $command (1001 .. 1000 + $commands)
	{
		my @senders = @clients[ map { ($command * 5 + $_) % @clients } 0 .. 4 ];
		my $id = sprintf('c0000000-0000-4000-8000-%012d', $command);
		my $sql = "WITH o AS (SELECT * FROM idgen.create_once('$id', idgen.uuid_v7())),
				 i AS (INSERT INTO orders SELECT entity_id, '$id' FROM o WHERE created)
				 SELECT entity_id, created FROM o";

		$_->send($command % 2 ? $sql : "BEGIN; $sql; COMMIT") for @senders;
		my @answers = sort map { $_->answer } @senders;
		my $entity = $answers[-1] =~ s/\|t$//r;
		push @wrong, $command if "@answers" ne join(' ', ("$entity|f") x 4, "$entity|t");
	}
	is("@wrong", '', "$commands commands, sent by five clients each: one result");
	is( ask(q{SELECT count(*), count(DISTINCT command), count(DISTINCT id) FROM orders}),
		"$commands|$commands|$commands", 'each command made one order');

	my $stranger = session(%where, user => 'stranger');
	is($stranger->ask(create_once(1, 0)), '42501', 'a role without rights gets no replay');

	# A client disconnects within a transaction: its session is rolled back or closed
	# before another client gets it.
	$rest[0]->ask('BEGIN; SET LOCAL idgen.node_id = 5; ' . create_once(2001, 2001));
	$rest[0]->disconnect;
	is($rest[1]->ask(create_once(2001, 2002)), '2002|t', 'after a client disconnects, its command can be recorded');
	is(join(' ', map { $_->ask($node_of) } @rest[ 1 .. 9 ]), join(' ', (21) x 9), 'no other client has its settings');

	# Statements with parameters, as drivers send them
	append_to_file("$folder/order.sql", q{
\set number random(1, 300)
SELECT entity_number, created FROM idgen.create_once_bigint(('d0000000-0000-4000-8000-' || lpad(:number::text, 12, '0'))::uuid, :number::bigint);
INSERT INTO made SELECT id, 'snowflake' FROM (SELECT idgen.snowflake() AS id) s;
});
	for my $protocol ('simple', 'extended', $prepares ? 'prepared' : ())
	{
		$node->command_like(
			[ 'pgbench', '--no-vacuum', '--client=20', '--jobs=2', '--transactions=20', "--protocol=$protocol",
				"--file=$folder/order.sql", "host=$socket port=6432 dbname=postgres user=$superuser" ],
			qr{processed: 400/400}, "PgBouncer, protocol $protocol: 20 clients");
	}
	is( ask(q{SELECT count(*) - count(DISTINCT entity_number), count(*) > 200
			FROM idgen.creation_identifiers WHERE command_id::text LIKE 'd%'}),
		'0|t', 'each command has one row');

	$_->quit for @clients, $stranger;
	$pool->signal('TERM');
	$pool->finish;
}

done_testing();
