# Verify idgen on Citus, if it is installed (see dev/test-citus.sh). A coordinator and two workers all accept clients
# and evaluate defaults, so each of them needs its own node number. Recorded commands are stored in a distributed table,
# a reference table, or a table on each node. The statements are those of docs/scaling.md.

use Page;
use Server qw(append_to_file errors init_server is like note ok plan run_command cmp_ok done_testing);
use Session;

my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'Citus is not installed' unless -e "$libraries/citus.so";

my ($find_faults) = Page->new('scaling')->blocks('Node numbers on Citus');
my $file = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';
my @nodes;

sub ask { my ($node, $sql, $database) = @_; return $node->safe_psql($database // 'postgres', $sql) }

# Return the results of a query on all nodes.
sub everywhere { my ($sql, $database) = @_; return join(' ', map { ask($_, $sql, $database) } @nodes) }

# Return the message and the fields of an error, or ''.
sub error_of { my ($node, $sql, $database) = @_; return errors($sql, node => $node, database => $database) }

sub start_node
{
	my $conf = join "\n", "shared_preload_libraries = 'citus'", "listen_addresses = '127.0.0.1'",
		'max_prepared_transactions = 200', 'max_connections = 200', 'max_worker_processes = 40',
		"citus.node_conninfo = 'sslmode=disable'", 'citus.shard_count = 8', 'citus.recover_2pc_interval = 500';
	push @nodes, init_server('node_' . (1 + @nodes), $conf, allows_streaming => 'logical');
	$nodes[-1]->start;
}

# Create the database on a node, unless it is "postgres", and add the node to the cluster.
sub add_to_database
{
	my ($node, $database) = @_;
	my $add = $node == $nodes[0] ? 'citus_set_coordinator_host' : 'citus_add_node';
	ask($node, "CREATE DATABASE $database") if $database ne 'postgres';
	ask($node, 'CREATE EXTENSION citus', $database);
	ask($nodes[0], "SELECT $add('127.0.0.1', " . $node->port . ')', $database);
}

sub make_database
{
	my ($database) = @_;
	add_to_database($_, $database) for @nodes;
	ask($nodes[0], 'CREATE EXTENSION idgen', $database);
}

# Give nodes their own numbers, as the files of their hosts would.
sub set_numbers
{
	for my $number (@_)
	{
		my $node = $nodes[ $number - 1 ];
		$node->append_conf('postgresql.conf', "idgen.node_id = $number");
		$node->reload;
		$node->poll_query_until('postgres', 'SELECT idgen.snowflake() > 0') or die 'no number';
	}
}

sub addresses { return join(', ', map { '127.0.0.1:' . $_->port } @_) }

start_node() for 1 .. 3;
make_database('postgres');
note(ask($nodes[0], 'SELECT citus_version()'));

# --- Node numbers -------------------------------------------------------------
is(ask($nodes[0], $find_faults), 'not set|' . addresses(@nodes), 'the query finds nodes without a number');
set_numbers(1 .. 3);
is(everywhere('SELECT idgen.snowflake_node(idgen.snowflake())'), '1 2 3', 'each node has its own number');
is(ask($nodes[0], $find_faults), '', 'the query finds no fault');
ask($nodes[0], 'ALTER DATABASE postgres SET idgen.node_id = 7');
is(ask($nodes[0], $find_faults), '7|' . addresses(@nodes),
	'ALTER DATABASE gives its number to all nodes, which the query finds');
ask($nodes[0], 'ALTER DATABASE postgres RESET idgen.node_id');

# --- Default keys -------------------------------------------------------------
# No constraint makes "made_by" unique. Its value contains the number of the node that evaluated the defaults.
my %columns = (short_comb => 'uuid', snowflake => 'bigint', ulid => 'text COLLATE "C"');
for my $key (sort keys %columns)
{
	ask($nodes[0], qq{
		CREATE TABLE $key (id $columns{$key} PRIMARY KEY DEFAULT idgen.$key(),
			made_by bigint DEFAULT idgen.snowflake(), sender int);
		SELECT create_distributed_table('$key', 'id')});
	unlink $file;
	append_to_file($file, "INSERT INTO $key (sender) SELECT :place FROM generate_series(1, 200);");
	my @running = map { IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=2', '--transactions=10', "--file=$file",
			'--define', "place=$_", $nodes[ $_ - 1 ]->connstr('postgres') ], '>', \my $output) } 1 .. 3;
	is(join(' ', map { $_->finish ? 'ok' : 'failed' } @running), 'ok ok ok',
		"$key: six sessions insert rows through all nodes");
	is(ask($nodes[0], "SELECT count(*) - count(DISTINCT made_by) FROM $key;
			SELECT sender, idgen.snowflake_node(made_by), count(*) FROM $key GROUP BY 1, 2 ORDER BY 1, 2"),
		"0\n1|1|4000\n2|2|4000\n3|3|4000", "$key: the node that receives the rows evaluates their defaults");
}
ask($nodes[0], q{
	CREATE TABLE lines (id bigint, made_by bigint DEFAULT idgen.snowflake());
	SELECT create_distributed_table('lines', 'id', colocate_with => 'snowflake');
	INSERT INTO lines (id) SELECT id FROM snowflake});
is(ask($nodes[1], q{SELECT count(DISTINCT made_by), min(idgen.snowflake_node(made_by)),
	max(idgen.snowflake_node(made_by)) FROM lines}),
	'12000|2|3', 'INSERT ... SELECT from a distributed table evaluates defaults where its rows are');

# --- Prefixes and domains -----------------------------------------------------
ask($nodes[0], q{
	SELECT idgen.create_id_domain('account_id', 'acct');
	CREATE TABLE by_domain (id account_id PRIMARY KEY);
	CREATE TABLE accounts (id text COLLATE "C" PRIMARY KEY DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4())
		CHECK (idgen.is_prefixed_id(id, 'acct')),
		parent account_id);
	SELECT create_distributed_table('by_domain', 'id'), create_distributed_table('accounts', 'id')});
my $account = ask($nodes[0], q{INSERT INTO by_domain
	SELECT idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()); SELECT id FROM by_domain});
is(ask($nodes[0], "SELECT count(*) FROM by_domain WHERE id = '$account'"), 0,
	'Citus does not find a constant in a distribution column of a domain');
like(error_of($nodes[0], "INSERT INTO by_domain VALUES ('$account')"), qr/Cannot coerce text to account_id/,
	'and does not insert it');
is( ask($nodes[1], "INSERT INTO accounts VALUES ('$account', '$account');
		SELECT count(*) FROM accounts WHERE id = '$account' AND parent = '$account'"),
	1, 'text with a check constraint as distribution column, and a domain as another column, need no cast');
like(error_of($nodes[1], "INSERT INTO accounts VALUES ('order_0')"), qr/23514.*accounts_id_check/,
	'the check constraint refuses another prefix');
like(error_of($nodes[1], "INSERT INTO accounts (parent) VALUES ('order_0')"), qr/23514.*prefixed_id_check/,
	'the domain does, too');
my $duplicate = error_of($nodes[0], "INSERT INTO accounts VALUES ('$account')");
ok($duplicate =~ /23505.*accounts_pkey_\d+/ && $duplicate !~ /CONSTRAINT NAME/,
	'an error on another node has no constraint name');
like(error_of($nodes[0], "INSERT INTO accounts SELECT '$account'"), qr/XX000.*accounts_pkey_/,
	'and in INSERT ... SELECT another SQLSTATE');

# --- Checks of clients' identifiers -------------------------------------------
my $trigger = q{CREATE TRIGGER check_id BEFORE INSERT ON %s FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb')};
like(error_of($nodes[0], sprintf($trigger, 'short_comb')), qr/triggers are not supported on distributed tables/,
	'a distributed table has no triggers');
ask($nodes[0], 'CREATE TABLE checked (id uuid PRIMARY KEY);' . sprintf($trigger, 'checked'));
like(error_of($nodes[0], "SELECT create_$_"), qr/cannot distribute relation "checked" because it has triggers/,
	"a table with a trigger: create_$_")
  for q{distributed_table('checked', 'id')}, q{reference_table('checked')};

my $insert = 'INSERT INTO short_comb (id) VALUES (idgen.check_recent_short_comb(idgen.short_comb(clock => %s)))';
is(error_of($nodes[1], sprintf($insert, 'now()')), '',
	'check_recent_short_comb() in the statement accepts a new identifier');
like(error_of($nodes[1], sprintf($insert, q{now() - interval '1 day'})),
	qr/23514.*CONSTRAINT NAME:  check_recent_short_comb\n/s,
	'and refuses an old one');

like(error_of($nodes[0], 'UPDATE short_comb SET made_by = idgen.snowflake()'), qr/0A000.*must not be VOLATILE/,
	'UPDATE cannot call a generator');

# --- Recorded commands ----------------------------------------------------------
# Check a retry of each command and a call with a different request, through the nodes in turn.
sub check_commands
{
	my ($database, @executing) = @_;
	for (
		[ q{SELECT count(*) FROM generate_series(1, 40) i,
			idgen.create_once_bigint(md5(i::text)::uuid, i::bigint, 'order', '[1]') WHERE created}, 40 ],
		([ q{SELECT count(*) FROM generate_series(1, 40) i,
			idgen.create_once_bigint(md5(i::text)::uuid, 0::bigint, 'order', '[1.0]')
			WHERE entity_number = i AND NOT created}, 40 ]) x 3,
		[ q{SELECT idgen.forget_creation(md5('1')::uuid), idgen.forget_creation_of_bigint(2, 'order'),
			idgen.forget_creation_of_bigint(2, 'order')}, 't|1|0' ],
		# Each kind of text identifier is recorded on one node, and is returned and forgotten on the next one.
		map({
			my $call = "FROM (SELECT idgen.$_ AS id) made, idgen.create_once_text(md5('a')::uuid, id, 'document')";
			([ "SELECT created, entity_text = id $call", 't|t' ],
				[ "SELECT created, entity_text = id, idgen.forget_creation_of_text(entity_text, 'document') $call",
				'f|f|1' ])
		} 'ulid()', 'object_id()', q{typeid('order')},
			q{prefixed_id_from_uuid('order', idgen.keyed_comb('orders'))}),
		[ q{UPDATE idgen.creation_identifiers SET created_at = now() - interval '2 days' WHERE entity_number BETWEEN 3
			AND 12;
			SELECT idgen.purge_creations('1 day', batch_size => 7), idgen.purge_creations('1 day')}, '7|3' ],
		([ 'SELECT count(*), min(entity_number) FROM idgen.creation_identifiers', '28|13' ]) x 3,
		[ q{SELECT idgen.trim_creations(20, 'another'), idgen.trim_creations(20)}, '0|8' ])
	{
		my ($sql, $expected) = @$_;
		push @executing, my $node = shift @executing;
		is(ask($node, $sql, $database), $expected, "$database, " . $node->name . ": $sql");
	}
	like(error_of($_, q{SELECT idgen.create_once_bigint(md5('40')::uuid, 1, 'invoice')}, $database),
		qr/23514.*CONSTRAINT NAME:  creation_identifiers_same_command/s, "$database: another request is an error on "
		. $_->name) for @executing;
	ask($executing[0], 'SELECT idgen.trim_creations(0)', $database);
}

# Nine sessions, spread over all nodes, send each command at the same time, and send it again after an error. During
# every tenth command, a worker crashes and restarts.
sub create_concurrently
{
	my ($database, $commands) = @_;
	my (@senders, %errors, @failed);
	ask($nodes[0], "CREATE TABLE orders (id uuid, command uuid); SELECT create_distributed_table('orders', 'id')",
		$database);
	for my $i (1 .. $commands)
	{
		my $id = sprintf('d0000000-0000-4000-8000-%012x', $i);
		my ($crashes, @waiting) = ($i % 10 == 0, 0 .. 8);
		my %answers = (t => 0);
		my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
		while (@waiting)
		{
			die "no answer to $id" if time > $deadline;
			for my $n (@waiting)
			{
				$senders[$n] = Session->new($nodes[ $n % 3 ], database => $database) if !$senders[$n]
				  || $senders[$n]{gone};
				$senders[$n]->send(qq{
					WITH command AS (SELECT * FROM idgen.create_once('$id', idgen.uuid_v7(), 'order')),
					inserted AS (INSERT INTO orders SELECT entity_id, '$id' FROM command WHERE created)
					SELECT entity_id, created FROM command});
			}
			$nodes[2]->stop('immediate'), $nodes[2]->start if $crashes;
			$crashes = 0;

			my %result = map { $_ => $senders[$_]->answer } @waiting;
			$result{$_} =~ /^(.{36})\|([tf])$/ ? map { $answers{$_}++ } $1, $2 : $errors{ $result{$_} }++ for @waiting;
			@waiting = grep { $result{$_} !~ /\|/ } @waiting;
		}
		push @failed, $id if $answers{t} > 1 || 1 != grep { length > 1 } keys %answers;
	}
	is("@failed", '',
		"$database: all senders of a command get the same answer, and at most one of them that it created");
	cmp_ok(scalar keys %errors, '>', 0, "$database: a worker crashed meanwhile: " . join(' ', %errors));
	$_->quit for @senders;

	# Citus completes the prepared transactions that a crash has left behind.
	$_->poll_query_until($database, 'SELECT count(*) = 0 FROM pg_prepared_xacts') or die 'not recovered' for @nodes;
	is( ask($nodes[0], q{SELECT count(*), count(DISTINCT command), count(entity_id) FROM (TABLE orders OFFSET 0) o
				LEFT JOIN (TABLE idgen.creation_identifiers OFFSET 0) c ON command_id = command AND entity_id = id},
					$database),
		"$commands|$commands|$commands", "$database: each command made one order, with the recorded id");
}

my $once = q{SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000001', 1, '')};
is(everywhere($once), 't t t', 'if the table is not distributed, a command creates once on each node');
everywhere('TRUNCATE idgen.creation_identifiers');

make_database('reference');
ask($nodes[0], q{SELECT create_reference_table('idgen.creation_identifiers')}, 'reference');
ask($nodes[0], q{SELECT create_distributed_table('idgen.creation_identifiers', 'command_id')});
for my $database ('reference', 'postgres')
{
	check_commands($database, @nodes);
	create_concurrently($database, 20);
}

# Return how many of 40 calls succeed for known commands and for new commands, while a worker is down.
sub successes
{
	my ($database) = @_;
	my $session = Session->new($nodes[0], database => $database);
	my $call = q{SELECT idgen.create_once('%s0000000-0000-4000-8000-%012x', idgen.uuid_v4(), 'order')};
	return join(' ', map { my $kind = $_; scalar grep { $session->ask(sprintf($call, $kind,
		$_ % 20 + 1)) =~ /^\(/ } 1 .. 40 } 'd', 'e');
}

$nodes[2]->stop('fast');
is(successes('reference'), '40 0', 'reference: while a worker is down, replays succeed and new commands fail');
like(successes('postgres'), qr/^(?!0|40)\d+ (?!0|40)\d+$/,
	'postgres: both succeed for the commands of the other worker');
$nodes[2]->start;

# --- A new node -----------------------------------------------------------------
start_node();
my $new = $nodes[3];
add_to_database($new, $_) for 'postgres', 'reference';
like(error_of($new, 'INSERT INTO snowflake DEFAULT VALUES'), qr/55000.*idgen\.node_id is not set/,
	'a new node does not generate snowflakes yet');
is(ask($nodes[0], $find_faults), 'not set|' . addresses($new), 'the query finds it');
set_numbers(4);
is(ask($new, 'INSERT INTO snowflake DEFAULT VALUES RETURNING idgen.snowflake_node(id)'), 4,
	'... and with a number, it does');
for my $database ('reference', 'postgres')
{
	is( ask($new, q{SELECT count(*) FROM generate_series(1, 20) i,
				idgen.create_once(('d0000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, idgen.uuid_v4(),
					'order') WHERE NOT created}, $database),
		20, "$database: the new node knows the recorded commands");
	like(error_of($new, q{SELECT idgen.create_once(command, id, 'order') FROM orders}, $database),
		qr/cannot execute a distributed query from a query on a shard/,
		"$database: a query on shards cannot call create_once()");
}
done_testing();
