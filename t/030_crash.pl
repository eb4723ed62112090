# The server crashes. A command whose transaction was committed is known
# afterwards; a command whose transaction was not can be recorded again.

use Server;

my $node = start_server('crashing', 'restart_after_crash = on');

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
	my $client = session();

	is($client->ask(create_once('a', 1)), '1|t', "crash $crash: one command is committed");
	is($client->ask('BEGIN; ' . create_once('b', 2)), '2|t', "crash $crash: another command is in progress");
	return $client;
}

sub end_story
{
	my ($how) = @_;

	is(ask(create_once('a', 11)), '1|f', "crash $crash: after $how, the first command is known");
	is(ask(create_once('b', 12)), '12|t', "crash $crash: the second command is recorded again");
}

my $client = begin_story();
my $postmaster_start = ask('SELECT pg_postmaster_start_time()');
is(kill('KILL', $client->{pid}), 1, 'a backend is killed');

# the server terminates all sessions and recovers
$node->wait_for_log(qr/database system was not properly shut down/);
$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no recovery';
is(ask('SELECT pg_postmaster_start_time()'), $postmaster_start, 'the postmaster is the same');
like(slurp_file($node->logfile), qr/was terminated by signal 9.*database system was not properly shut down/s, 'the server recovered from a crash');
end_story('kill -9 of a backend');

$client = begin_story();
$node->stop('immediate');
$node->start;
end_story('an immediate stop');

$client = begin_story();
kill_postmaster($node);
start_again($node);
end_story('kill -9 of the postmaster');

done_testing();
