# A session waits for another one's command: for as long as it likes to, and
# also for one that is prepared for two-phase commit.

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

# A second session calls create_once(), and is waiting when this returns.
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

# The waiter's answer: rows or the SQLSTATE
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

# Patience ends
$first->query_safe('BEGIN');
is($first->query_safe(create_once('a', 1)), '1|t', 'a command is under way');
is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', 'lock_timeout ends the wait for it');
is(outcome("SET statement_timeout = '50ms'; " . create_once('a', 2)), '57014', 'so does statement_timeout');

my ($waiter, $pid) = start_waiter('a', 2);
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"), 't', 'a waiting session is cancelled');
is(answer($waiter), '57014', 'and gives up');

# The session goes on, and so does its transaction behind a savepoint.
is( $waiter->query_safe(create_once('b', 2)), '2|t', 'it can record another command');
is( outcome("SET lock_timeout = '50ms'; BEGIN; " . create_once('c', 3)
		. '; SAVEPOINT before; ' . create_once('a', 3)
		. '; ROLLBACK TO before; ' . create_once('d', 4) . '; COMMIT'),
	'55P03', 'one gives up within a transaction');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE NOT granted}), '0', 'nobody waits any more');
$first->query_safe('ROLLBACK');
is(table(), 'b=2 c=3 d=4', 'and nothing stays of those who gave up');
is(outcome(create_once('a', 5)), '5|t', 'the command that was rolled back is free');

# A session that is terminated takes its command with it.
$node->safe_psql('postgres', 'TRUNCATE idgen.creation_identifiers');
my $doomed = $node->background_psql('postgres', on_error_stop => 0);
my $doomed_pid = $doomed->query_safe('SELECT pg_backend_pid()');
$doomed->query_safe('BEGIN; ' . create_once('a', 1));
($waiter) = start_waiter('a', 2);
is($node->safe_psql('postgres', "SELECT pg_terminate_backend($doomed_pid)"), 't', 'the session with the command is terminated');
is(answer($waiter), '2|t', 'and the one who waits takes its turn');
$doomed->{run}->finish;

# Two-phase commit
for my $end ('COMMIT', 'ROLLBACK')
{
	$node->safe_psql('postgres', 'TRUNCATE idgen.creation_identifiers');
	$node->safe_psql('postgres', 'BEGIN; ' . create_once('a', 1) . "; PREPARE TRANSACTION 'creation'");
	is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', "a prepared command is waited for");

	# and still after a restart, before which its session is long gone
	$waiter->quit;
	$first->quit;
	$node->restart;
	$first = $node->background_psql('postgres');
	is(outcome("SET lock_timeout = '50ms'; " . create_once('a', 2)), '55P03', 'also after a restart');

	($waiter) = start_waiter('a', 2);
	$node->safe_psql('postgres', "$end PREPARED 'creation'");
	is(answer($waiter), $end eq 'COMMIT' ? '1|f' : '2|t', "$end PREPARED: the outcome decides");
	is(table(), $end eq 'COMMIT' ? 'a=1' : 'a=2', "$end PREPARED: and is what is recorded");
}

$waiter->quit;
$first->quit;
$node->stop;
done_testing();
