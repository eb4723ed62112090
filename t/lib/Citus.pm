# A cluster of Citus: a coordinator and two workers, all of which accept clients, and
# the statements of the documentation that give them node numbers.

package Citus;
use strict;
use warnings;
use Exporter 'import';
use Page;
use Server qw(init_server note plan run_command);

our @EXPORT = qw(@nodes $set_numbers $find_faults ask everywhere error_of start_cluster start_node add_to_database
  make_database set_numbers addresses);

our ($set_numbers, $find_faults) = Page->new('scaling')->blocks('Node numbers on Citus');
our @nodes;

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
	  'max_prepared_transactions = 200', 'max_connections = 200', 'max_worker_processes = 40', "citus.node_conninfo = 'sslmode=disable'",
	  'citus.shard_count = 8', 'citus.recover_2pc_interval = 500', 'log_statement = none';
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

# The coordinator is the first node. Skips all tests if Citus is not installed.
sub start_cluster
{
	my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
	plan skip_all => 'Citus is not installed' unless -e "$libraries/citus.so";
	start_node() for 1 .. 3;
	make_database('postgres');
	note(ask($nodes[0], 'SELECT citus_version()'));
}

sub set_numbers
{
	my ($node, $sql) = @_;
	ask($node, $sql);
	$_->poll_query_until('postgres', 'SELECT idgen.snowflake() > 0') or die 'no number' for @nodes;
}

sub addresses { return join(', ', map { '127.0.0.1:' . $_->port } @_) }
1;
