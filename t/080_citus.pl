# idgen on Citus, if it is installed (dev/test-citus.sh): a coordinator and two workers, all of which accept clients and
# evaluate defaults, so that each needs a number; and recorded commands in a distributed or a reference table, or in a
# table on each node. The statements are those of docs/scaling.md.

use Page;
use Server qw(append_to_file init_server is like note ok plan run_command cmp_ok done_testing);
use Session;

my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
plan skip_all => 'Citus is not installed' unless -e "$libraries/citus.so";

my ($set_numbers, $set_number_of_this_node, $find_faults) = Page->new('scaling')->blocks('Node numbers on Citus');
my $folder = PostgreSQL::Test::Utils::tempdir();
my $shards = 8;
my @nodes;

sub ask { my ($node, $sql, $database) = @_; return $node->safe_psql($database // 'postgres', $sql) }

# The results of a query on all nodes
sub everywhere { my ($sql, $database) = @_; return join(' ', map { ask($_, $sql, $database) } @nodes) }

# The message and the fields of an error
sub error_of
{
	my ($node, $sql, $database) = @_;
	my ($status, undef, $error) = $node->psql($database // 'postgres', "\\set VERBOSITY verbose\n$sql");
	return $status == 0 ? 'no error' : $error;
}

sub start_node
{
	my $conf = join "\n", "shared_preload_libraries = 'citus'", "listen_addresses = '127.0.0.1'",
	  'max_prepared_transactions = 200', 'max_connections = 200', 'max_worker_processes = 40',
	"citus.node_conninfo = 'sslmode=disable'",
	  "citus.shard_count = $shards", 'citus.recover_2pc_interval = 500', 'log_statement = none';
	push @nodes, init_server('node_' . (1 + @nodes), $conf, allows_streaming => 'logical');
	$nodes[-1]->start;
}

# Make the database on a node, unless it is "postgres", and add the node.
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

sub set_numbers
{
	my ($node, $sql) = @_;
	ask($node, $sql);
	$_->poll_query_until('postgres', 'SELECT idgen.snowflake() > 0') or die 'no number' for @nodes;
}

sub addresses { return join(', ', map { '127.0.0.1:' . $_->port } @_) }

# Start sessions on all nodes, each of which executes a statement the given number of times; finish them.
sub start_inserting
{
	my ($sql, $times) = @_;
	my $file = "$folder/insert.sql";
	unlink $file;
	append_to_file($file, $sql);
	return map { IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=2', "--transactions=$times", "--file=$file",
				'--define', "place=$_", $nodes[ $_ - 1 ]->connstr('postgres') ], '>', '/dev/null', '2>',
				"$folder/errors") } 1 .. 3;
}

sub finish_inserting { my ($name, @running) = @_; is(join(' ', map { $_->finish ? 'ok' : 'failed' } @running),
	'ok ok ok', $name) }

start_node() for 1 .. 3;
make_database('postgres');
note(ask($nodes[0], 'SELECT citus_version()'));

# --- Node numbers -------------------------------------------------------------
is(ask($nodes[0], $find_faults), 'not set|' . addresses(@nodes), 'the query finds nodes without a number');
set_numbers($nodes[0], $set_numbers);
is(everywhere('SELECT idgen.snowflake_node(idgen.snowflake())'), '1 2 3', 'each node gets a number by its group');
is(ask($nodes[0], $find_faults), '', 'the query finds no fault');
ask($nodes[0], 'ALTER DATABASE postgres SET idgen.node_id = 7');
is(ask($nodes[0], $find_faults), '7|' . addresses(@nodes),
	'ALTER DATABASE gives its number to all nodes, which the query finds');
ask($nodes[0], 'ALTER DATABASE postgres RESET idgen.node_id');

# --- Default keys -------------------------------------------------------------
# "made_by" is not unique by a constraint, and names the node that evaluated the defaults.
my %columns = (short_comb => 'uuid', snowflake => 'bigint', ulid => 'text COLLATE "C"');
for my $key (sort keys %columns)
{
	ask($nodes[0], qq{
		CREATE TABLE $key (id $columns{$key} PRIMARY KEY DEFAULT idgen.$key(),
			made_by bigint DEFAULT idgen.snowflake(), sender int);
		CREATE TABLE line_of_$key (id $columns{$key}, n int, made_by bigint DEFAULT idgen.snowflake());
		SELECT create_distributed_table('$key', 'id'),
			create_distributed_table('line_of_$key', 'id', colocate_with => '$key')});
	finish_inserting("$key: six sessions insert rows through all nodes",
		start_inserting("INSERT INTO $key (sender) SELECT :place FROM generate_series(1, 200);", 10));
	is(ask($nodes[0], "SELECT count(*) - count(DISTINCT made_by) FROM $key;
			SELECT sender, idgen.snowflake_node(made_by), count(*) FROM $key GROUP BY 1, 2 ORDER BY 1, 2"),
		"0\n1|1|4000\n2|2|4000\n3|3|4000", "$key: the node that receives the rows evaluates their defaults");
	is( ask($nodes[1], qq{
			INSERT INTO $key DEFAULT VALUES RETURNING id \\gset
			INSERT INTO $key (id) VALUES (:'id'::$columns{$key}) ON CONFLICT (id) DO NOTHING;
			INSERT INTO $key (id) VALUES (:'id'::$columns{$key}) ON CONFLICT (id) DO UPDATE SET sender = 10
				RETURNING sender;
			COPY $key (sender) FROM stdin;\n} . "20\n" x 100 . qq{\\.
			SELECT count(*), min(idgen.snowflake_node(made_by)),
				max(idgen.snowflake_node(made_by)) FROM $key WHERE sender = 20}),
		"10\n100|2|2", "$key: RETURNING, ON CONFLICT and COPY");

	ask($nodes[0], "INSERT INTO line_of_$key (id, n) SELECT id, n FROM $key, generate_series(1, 2) n");
	my $join = "FROM $key k JOIN line_of_$key l USING (id)";
	is( ask($nodes[1], "SELECT count(*), count(DISTINCT l.made_by), min(idgen.snowflake_node(l.made_by)),
		max(idgen.snowflake_node(l.made_by)) $join"),
		'24202|24202|2|3', "$key: INSERT ... SELECT from a distributed table evaluates defaults where its rows are");
	like(ask($nodes[1], "EXPLAIN SELECT count(*) $join"), qr/Task Count: $shards\n/,
		"$key: co-located tables are joined within their shards");
}
my $plan = ask($nodes[0], q{SET citus.explain_all_tasks = on;
	EXPLAIN SELECT FROM snowflake WHERE idgen.snowflake_within(id, now() - interval '3 days',
		now() - interval '2 days')});
is(scalar(() = $plan =~ /Index Cond: \(\(id >= .*\) AND \(id < .*\)\)/g), $shards,
	'snowflake_within() is an index condition in each shard');

# --- Prefixes and domains -----------------------------------------------------
my $parse = q{SELECT coalesce(domain::text, 'none') FROM idgen.parse_prefixed_id('acct_0')};
ask($nodes[0], q{SELECT idgen.create_id_domain('account_id', 'acct')});
is(everywhere($parse), 'account_id none none', 'create_id_domain() registers the prefix on the coordinator only');
ask($nodes[0], q{SELECT run_command_on_workers($$INSERT INTO idgen.id_prefixes VALUES ('acct', 'account_id')$$)});
is(everywhere($parse), 'account_id account_id account_id', 'a statement registers it on the workers');

ask($nodes[0], q{
	CREATE TABLE by_domain (id account_id PRIMARY KEY);
	CREATE TABLE accounts (id text COLLATE "C" PRIMARY KEY DEFAULT idgen.prefixed_id('acct')
		CHECK (idgen.is_prefixed_id(id, 'acct')),
		parent account_id);
	SELECT create_distributed_table('by_domain', 'id'), create_distributed_table('accounts', 'id')});
my $account = ask($nodes[0], q{INSERT INTO by_domain SELECT idgen.prefixed_id('acct'); SELECT id FROM by_domain});
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
is(error_of($nodes[1], sprintf($insert, 'now()')), 'no error',
	'check_recent_short_comb() in the statement accepts a new identifier');
like(error_of($nodes[1], sprintf($insert, q{now() - interval '1 day'})),
	qr/23514.*CONSTRAINT NAME:  check_recent_short_comb\n/s,
	'and refuses an old one');

# A table's constraint is evaluated again when a shard is copied.
ask($nodes[0], q{
	CREATE TABLE moved (id uuid PRIMARY KEY);
	SELECT create_distributed_table('moved', 'id', shard_count => 1, colocate_with => 'none');
	INSERT INTO moved VALUES (idgen.short_comb(clock => now() - interval '1 day'));
	ALTER TABLE moved ADD CONSTRAINT recent CHECK (idgen.is_recent_short_comb(id)) NOT VALID});
my $ports = $nodes[1]->port + $nodes[2]->port;
my $move = qq{SELECT citus_move_shard_placement(shardid, '127.0.0.1', nodeport, '127.0.0.1',
	$ports - nodeport, 'block_writes')
	FROM citus_shards WHERE table_name = 'moved'::regclass};
like(error_of($nodes[0], $move), qr/violates check constraint "recent"/,
	'a shard with a row that no longer passes a check constraint cannot move');

# --- Columns that are added ---------------------------------------------------
ask($nodes[0], 'ALTER TABLE short_comb ADD COLUMN added bigint DEFAULT idgen.snowflake()');
is( ask($nodes[0], 'SELECT count(*) - count(DISTINCT added), min(idgen.snowflake_node(added)),
	max(idgen.snowflake_node(added)) FROM short_comb'),
	'0|2|3', 'the workers evaluate the default of a new column');
like(error_of($nodes[0], 'UPDATE short_comb SET added = idgen.snowflake()'), qr/0A000.*must not be VOLATILE/,
	'UPDATE cannot call a generator');

my $copies = 'SELECT count(DISTINCT result) FROM run_command_on_all_nodes($$SELECT array_agg(c ORDER BY id)
	FROM countries c$$)';
ask($nodes[0], q{CREATE TABLE countries (id bigint PRIMARY KEY DEFAULT idgen.snowflake());
	SELECT create_reference_table('countries')});
everywhere('INSERT INTO countries SELECT FROM generate_series(1, 10)');
ask($nodes[0], q{
	SELECT undistribute_table('countries');
	ALTER TABLE countries ADD COLUMN tag uuid DEFAULT idgen.short_comb();
	SELECT create_reference_table('countries')});
is(ask($nodes[0], $copies), 1, 'all nodes have the same rows of a reference table');
ask($nodes[0], 'ALTER TABLE countries ADD COLUMN another uuid DEFAULT idgen.short_comb()');
is(ask($nodes[0], $copies), 3, 'except for a new column, whose default each node evaluates');

# --- Recorded commands ----------------------------------------------------------
# A retry of each command, and a call with another request, through the nodes in turn
sub check_commands
{
	my ($database, @executing) = @_;
	for (
		[ q{SELECT count(*) FROM generate_series(1, 40) i,
			idgen.create_once_bigint(md5(i::text)::uuid, i::bigint, 'order', '[1]') WHERE created}, 40 ],
		([ q{SELECT count(*) FROM generate_series(1, 40) i,
			idgen.create_once_bigint(md5(i::text)::uuid, 0::bigint, 'order', '[1.0]')
			WHERE entity_number = i AND NOT created}, 40 ]) x 3,
		[ q{SELECT idgen.forget_creation(md5('1')::uuid), idgen.forget_creation_of_bigint(2),
			idgen.forget_creation_of_bigint(2)}, 't|1|0' ],
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

# Nine sessions on all nodes send each command at the same time, and again after an
# error. During every tenth command, a worker crashes and restarts.
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

	# Citus ends the transactions that a crash left prepared.
	$_->poll_query_until($database, 'SELECT count(*) = 0 FROM pg_prepared_xacts') or die 'not recovered' for @nodes;
	is( ask($nodes[0], q{SELECT count(*), count(DISTINCT command), count(entity_id) FROM (TABLE orders OFFSET 0) o
				LEFT JOIN (TABLE idgen.creation_identifiers OFFSET 0) c ON command_id = command AND entity_id = id},
					$database),
		"$commands|$commands|$commands", "$database: each command made one order, with the recorded id");
}

my $once = q{SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000001', 1)};
is(everywhere($once), 't t t', 'if the table is not distributed, a command creates once on each node');
like(error_of($nodes[0], q{SELECT citus_add_local_table_to_metadata('idgen.creation_identifiers')}),
	qr/relation "creation_identifiers" already exists/, 'a managed local table conflicts with those of the workers');
everywhere('TRUNCATE idgen.creation_identifiers');

make_database('reference');
ask($nodes[0], q{SELECT create_reference_table('idgen.creation_identifiers')}, 'reference');
ask($nodes[0], q{SELECT create_distributed_table('idgen.creation_identifiers', 'command_id')});
for my $database ('reference', 'postgres')
{
	check_commands($database, @nodes);
	create_concurrently($database, 20);
}

# How many of 40 calls succeed, for known commands and new ones, while a worker is down
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

# --- A new node, and shards that move to it -----------------------------------
my $before = ask($nodes[0], 'SELECT count(*) FROM snowflake');
start_node();
my $new = $nodes[3];
my $port = $new->port;
my @inserting = start_inserting('INSERT INTO snowflake (sender) VALUES (:place);', 500);
add_to_database($new, 'postgres');
ask($nodes[0], q{SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')});
finish_inserting('sessions insert while a node is added, and while shards move to it', @inserting);
cmp_ok(ask($nodes[0], "SELECT count(*) FROM citus_shards
	WHERE nodeport = $port AND table_name = 'snowflake'::regclass"), '>', 0, 'it has shards');
is(ask($nodes[0], 'SELECT count(*), count(*) - count(DISTINCT made_by) FROM snowflake'), $before + 3000 . '|0',
	'no row is lost, and no identifier repeats');

my $from_shards = 'INSERT INTO line_of_snowflake (id) SELECT id FROM snowflake';
like(error_of($new, 'INSERT INTO snowflake DEFAULT VALUES'), qr/55000.*idgen\.node_id is not set/,
	'the new node does not generate snowflakes yet');
like(error_of($nodes[0], $from_shards), qr/idgen\.node_id is not set/, 'nor does INSERT ... SELECT from its shards');
is(ask($nodes[0], $find_faults), 'not set|' . addresses($new), 'the query finds it');
set_numbers($new, $set_number_of_this_node);
is(ask($new, 'INSERT INTO snowflake DEFAULT VALUES RETURNING idgen.snowflake_node(id)'), 4,
	'it generates snowflakes when it has its number');
is(error_of($nodes[0], $from_shards), 'no error', 'so does INSERT ... SELECT');
set_numbers($nodes[0], $set_numbers);
is(ask($new, 'SELECT idgen.snowflake_node(idgen.snowflake())'), 4, 'both statements give it the same number');

add_to_database($new, 'reference');
for my $database ('reference', 'postgres')
{
	is( ask($new, q{SELECT count(*) FROM generate_series(1, 20) i,
				idgen.create_once(('d0000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, idgen.uuid_v4(),
					'order') WHERE NOT created}, $database),
		20, "$database: the new node knows the recorded commands");
	like(error_of($new, 'SELECT idgen.create_once(command, id) FROM orders', $database),
		qr/cannot execute a distributed query from a query on a shard/,
		"$database: a query on shards cannot call create_once()");
	ask($nodes[0], 'SET client_min_messages = warning; DROP EXTENSION idgen CASCADE; CREATE EXTENSION idgen',
		$database);
	is(ask($new, 'SELECT count(*) FROM idgen.creation_identifiers', $database), 0,
		"$database: DROP EXTENSION removes the table from all nodes");
}
done_testing();
