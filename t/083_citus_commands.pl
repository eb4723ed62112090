# create_once() on Citus, if it is installed (dev/test-citus.sh), with commands in a
# distributed or a reference table, or in a table on each node.

use strict;
use warnings;
use Citus;
use Client;
use Test::More;

start_cluster();

# Statements and their results; each is executed on another node.
my $command = q{'c0000000-0000-4000-8000-000000000001'};
my @story = (
	"SELECT entity_number, created FROM idgen.create_once_bigint($command, 1, 'order', '[1]')" => '1|t',
	("SELECT entity_number, created FROM idgen.create_once_bigint($command, 2, 'order', '[1.0]')" => '1|f') x 3,
	(qq{\\set VERBOSITY verbose\nSELECT idgen.create_once_bigint($command, 1, 'invoice')} => '23514 creation_identifiers_same_command') x 3,
	("SELECT command_name, entity_number FROM idgen.creation_identifiers WHERE command_id = $command" => 'order|1') x 3,
	"SELECT idgen.forget_creation($command)" => 't',
	"SELECT idgen.forget_creation($command)" => 'f',
	"SELECT count(*) FROM idgen.creation_identifiers WHERE command_id = $command" => 0,
	"SELECT entity_id, created FROM idgen.create_once($command, $command)" => 'c0000000-0000-4000-8000-000000000001|t',
	"SELECT idgen.forget_creation_of($command), idgen.forget_creation_of($command)" => '1|0',
	q{INSERT INTO idgen.creation_identifiers (command_id, entity_number, created_at)
		SELECT md5(i::text)::uuid, i, now() - (1000 - i) * interval '1 minute' FROM generate_series(1, 1000) i} => '',
	('SELECT count(*) FROM generate_series(1, 1000) i, idgen.create_once_bigint(md5(i::text)::uuid, 0::bigint) WHERE entity_number = i' => 1000) x 3,
	'SELECT idgen.forget_creation_of_bigint(1), idgen.forget_creation_of_bigint(1)' => '1|0',
	q{SELECT idgen.purge_creations('10 hours', batch_size => 300), idgen.purge_creations('10 hours', batch_size => 300)} => '300|99',
	q{SELECT idgen.trim_creations(500, 'another'), idgen.trim_creations(500)} => '0|100',
	('SELECT count(*), min(entity_number) FROM idgen.creation_identifiers' => '500|501') x 3,
	'SELECT idgen.trim_creations(0)' => 500);

# The statements whose results differ, if the given nodes execute them in turn
sub differences
{
	my ($database, @executing) = @_;
	my @differences;
	for my $i (0 .. $#story / 2)
	{
		my $node = $executing[ $i % @executing ];
		my ($sql, $expected) = @story[ 2 * $i, 2 * $i + 1 ];
		my (undef, $result, $error) = $node->psql($database, $sql);
		$result = "$1 $2" if $error =~ /ERROR:  (\w+):.*CONSTRAINT NAME:  (\w+)/s;
		push @differences, $node->name . ": $sql: $result$error" if $result ne $expected;
	}
	return join("\n", @differences);
}

# Nine sessions on all nodes send each command at the same time, and again after an
# error. During every tenth command, a worker crashes and restarts.
sub create_concurrently
{
	my ($database, $commands) = @_;
	my (@senders, %errors, @failed);
	ask($nodes[0], "CREATE TABLE orders (id uuid, command uuid); SELECT create_distributed_table('orders', 'id')", $database);
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
				$senders[$n] = Client->connect($nodes[ $n % 3 ], database => $database) if !$senders[$n] || $senders[$n]{gone};
				$senders[$n]->wait;
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
	is("@failed", '', "$database: all senders of a command get the same answer, and at most one of them that it created");

	# Citus ends the transactions that a crash left prepared.
	$_->poll_query_until($database, 'SELECT count(*) = 0 FROM pg_prepared_xacts') or die 'not recovered' for @nodes;
	is( ask($nodes[0], q{SELECT count(*), count(DISTINCT command), count(entity_id) FROM (TABLE orders OFFSET 0) o
				LEFT JOIN (TABLE idgen.creation_identifiers OFFSET 0) c ON command_id = command AND entity_id = id}, $database),
		"$commands|$commands|$commands", "$database: each command made one order, with the recorded id");
	cmp_ok($errors{gone}, '>', 0, "$database: a worker crashed meanwhile");
}

my $once = "SELECT created FROM idgen.create_once_bigint($command, 1)";
is(everywhere($once), 't t t', 'if the table is not distributed, a command creates once on each node');
everywhere('TRUNCATE idgen.creation_identifiers');

make_database('managed');
my $add = q{SELECT citus_add_local_table_to_metadata('idgen.creation_identifiers')};
like(error_of($nodes[0], $add, 'managed'), qr/relation "creation_identifiers" already exists/,
	'a managed local table conflicts with those of the workers');
ask($nodes[0], "SET citus.enable_metadata_sync = off; $add", 'managed');
is(differences('managed', $nodes[0]), '', 'unknown to the workers, it works on the coordinator');
is(everywhere($once, 'managed'), 't t t', 'but workers have tables of their own');

make_database('reference');
ask($nodes[0], q{SELECT create_reference_table('idgen.creation_identifiers')}, 'reference');
ask($nodes[0], q{SELECT create_distributed_table('idgen.creation_identifiers', 'command_id')});
for my $database ('reference', 'postgres')
{
	is(differences($database, @nodes), '', "$database: all operations work through all nodes");
	create_concurrently($database, 50);
}

# How many of 50 calls succeed, for known commands and new ones, while a worker is down
sub successes
{
	my ($database) = @_;
	my $session = Client->connect($nodes[0], database => $database);
	my $call = q{SELECT idgen.create_once('%s0000000-0000-4000-8000-%012x', idgen.uuid_v4(), 'order')};
	return join(' ', map { my $kind = $_; scalar grep { $session->ask(sprintf($call, $kind, $_)) =~ /^\(/ } 1 .. 50 } 'd', 'e');
}

$nodes[2]->stop('fast');
is(successes('reference'), '50 0', 'reference: while a worker is down, replays succeed and new commands fail');
like(successes('postgres'), qr/^(?!0|50)\d+ (?!0|50)\d+$/, 'postgres: both succeed for the commands of the other worker');
$nodes[2]->start;

# A new node knows the recorded commands.
start_node();
my $new = $nodes[3];
add_to_database($new, $_) for 'postgres', 'reference';
ask($nodes[0], q{SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')});
for my $database ('reference', 'postgres')
{
	is( ask($new, q{SELECT count(*) FROM generate_series(1, 50) i,
				idgen.create_once(('d0000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, idgen.uuid_v4(), 'order') WHERE NOT created}, $database),
		50, "$database: the new node knows the recorded commands");
	like(error_of($new, 'SELECT idgen.create_once(command, id) FROM orders', $database),
		qr/cannot execute a distributed query from a query on a shard/, "$database: a query on shards cannot call create_once()");
	ask($nodes[0], 'SET client_min_messages = warning; DROP EXTENSION idgen CASCADE; CREATE EXTENSION idgen', $database);
	is(ask($new, 'SELECT count(*) FROM idgen.creation_identifiers', $database), 0, "$database: DROP EXTENSION removes the table from all nodes");
}
done_testing();
