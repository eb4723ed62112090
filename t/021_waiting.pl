# A session waits for the command of another one, with or without a timeout, also
# if that one is prepared for two-phase commit.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('waiting');
$node->init;
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

my $first = $node->background_psql('postgres');

sub outcome
{
	my ($query) = @_;
	my ($rows, $errors);

	$node->psql(
		'postgres', $query,
		stdout => \$rows,
		stderr => \$errors,
		on_error_stop => 0,
		extra_params => [ '--set=VERBOSITY=sqlstate' ]);
	return join(' ', $errors =~ /ERROR:  (\w{5})/g) || $rows;
}

sub create_once
{
	my ($command, $number) = @_;

	return "SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000$command', $number)";
}

# Start a second session that calls create_once(), and return when it is waiting.
sub start_waiter
{
	my ($command, $number) = @_;
	my $waiter = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $waiter->query_safe('SELECT pg_backend_pid()');

	$waiter->query_until(qr/called/, "\\set VERBOSITY sqlstate\n\\echo called\n" . create_once($command, $number) . ";\n");
	$node->poll_query_until('postgres',
		"SELECT wait_event_type = 'Lock' AND wait_event = 'transactionid' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the second session does not wait';
	return ($waiter, $pid);
}

# The result of the waiting session: rows or the SQLSTATE
sub answer
{
	my ($waiter) = @_;
	my $rows = $waiter->query('\echo');
	my ($sqlstate) = $waiter->{stderr} =~ /ERROR:  (\w{5})/;

	$waiter->{stderr} = '';
	$rows =~ s/\s+$//;
	return $sqlstate || $rows;
}

sub table
{
	return $node->safe_psql('postgres',
		q{SELECT string_agg(right(command_id::text, 1) || '=' || entity_number, ' ' ORDER BY command_id)
		  FROM idgen.creation_identifiers});
}

# Timeouts
$first->query_safe('BEGIN');
is($first->query_safe(create_once('a', 1)), '1|t', 'a command is in progress');
is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', 'lock_timeout ends the wait');
is(outcome("SET statement_timeout = '50ms'; " . create_once('a', 2)), '57014', 'statement_timeout ends the wait');

my ($waiter, $pid) = start_waiter('a', 2);
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"), 't', 'a waiting session is cancelled');
is(answer($waiter), '57014', 'a waiting session can be cancelled');

# The session continues, and so does its transaction after a savepoint.
is( $waiter->query_safe(create_once('b', 2)), '2|t', 'after the cancel, the session records another command');
is( outcome("SET lock_timeout = '50ms'; BEGIN; " . create_once('c', 3)
		. '; SAVEPOINT before; ' . create_once('a', 3)
		. '; ROLLBACK TO before; ' . create_once('d', 4) . '; COMMIT'),
	'55P03', 'lock_timeout ends a wait within a transaction');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE NOT granted}), '0', 'no session waits any more');
$first->query_safe('ROLLBACK');
is(table(), 'b=2 c=3 d=4', 'cancelled calls record nothing');
is(outcome(create_once('a', 5)), '5|t', 'the command that was rolled back can be recorded');

# Terminating a session rolls back its command.
$node->safe_psql('postgres', 'TRUNCATE idgen.creation_identifiers');
my $doomed = $node->background_psql('postgres', on_error_stop => 0);
my $doomed_pid = $doomed->query_safe('SELECT pg_backend_pid()');
$doomed->query_safe('BEGIN; ' . create_once('a', 1));
($waiter) = start_waiter('a', 2);
is($node->safe_psql('postgres', "SELECT pg_terminate_backend($doomed_pid)"), 't', 'the session with the command is terminated');
is(answer($waiter), '2|t', 'the waiting session then records it');
$doomed->{run}->finish;

# Two-phase commit
for my $end ('COMMIT', 'ROLLBACK')
{
	$node->safe_psql('postgres', 'TRUNCATE idgen.creation_identifiers');
	$node->safe_psql('postgres', 'BEGIN; ' . create_once('a', 1) . "; PREPARE TRANSACTION 'creation'");
	is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', "a prepared transaction makes others wait");

	# and still after a restart, when its session no longer exists
	$waiter->quit;
	$first->quit;
	$node->restart;
	$first = $node->background_psql('postgres');
	is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', 'also after a restart');

	($waiter) = start_waiter('a', 2);
	$node->safe_psql('postgres', "$end PREPARED 'creation'");
	is(answer($waiter), $end eq 'COMMIT' ? '1|f' : '2|t', "$end PREPARED: the waiting session gets the outcome");
	is(table(), $end eq 'COMMIT' ? 'a=1' : 'a=2', "$end PREPARED: the recorded command");
}

$waiter->quit;
$first->quit;
$node->stop;
done_testing();
