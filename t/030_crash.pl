# The server crashes. A command whose transaction was committed is known
# afterwards; a command whose transaction was not can be recorded again.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('crashing');
$node->init;
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

my $crash = 0;

sub create_once
{
	my ($command, $entity) = @_;

	return "SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000${crash}00$command', $entity, 'order', '[1]')";
}

# A session with one committed command and one in progress
sub begin_story
{
	$crash++;
	my $client = $node->background_psql('postgres', on_error_stop => 0);

	is($client->query(create_once('a', 1)), '1|t', "crash $crash: one command is committed");
	is($client->query('BEGIN; ' . create_once('b', 2)), '2|t', "crash $crash: another command is in progress");
	return $client;
}

sub end_story
{
	my ($how) = @_;

	is($node->safe_psql('postgres', create_once('a', 11)), '1|f', "crash $crash: after $how, the first command is known");
	is($node->safe_psql('postgres', create_once('b', 12)), '12|t', "crash $crash: the second command is recorded again");
}

my $client = begin_story();
my $pid = $client->query('SELECT pg_backend_pid()');
my $postmaster_start = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
is(kill('KILL', $pid), 1, 'a backend is killed');

# the server terminates all sessions and recovers
$client->{run}->finish;
$node->wait_for_log(qr/database system was not properly shut down/);
$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no recovery';
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $postmaster_start, 'the postmaster is the same');
like(slurp_file($node->logfile), qr/was terminated by signal 9.*database system was not properly shut down/s, 'the server recovered from a crash');
end_story('kill -9 of a backend');

$client = begin_story();
$node->stop('immediate');
$client->{run}->finish;
$node->start;
end_story('an immediate stop');

# The children of a killed postmaster exit when they notice; until then a new
# postmaster does not start.
$client = begin_story();
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
$node->kill9;
$client->{run}->finish;
my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;
usleep(100_000) while kill(0, $postmaster) && $attempts-- > 0;
usleep(100_000) until $node->start(fail_ok => 1) || $attempts-- <= 0;
end_story('kill -9 of the postmaster');

$node->stop;
done_testing();
