# Verify that a server under a mixed load survives repeated crashes: immediate shutdowns, and kill -9 of sessions and
# the postmaster. No value is repeated, nothing that was committed is lost, and each command has created one order. A
# command whose transaction was committed is known after the crash. A command whose transaction was in progress can be
# recorded after the crash.

use Load;
use Server;
use Tickers;

my $node = start_server('crashing', "${settings}restart_after_crash = on\nmax_connections = 30");
my $log_start = -s $node->logfile;
my $load = Load->new($node, insert => 4, take => 4, create => 6);

# The crash ends the transaction of this session.
my $client;

sub command { return "'d0000000-0000-4000-8000-00000000000$_[0]'" }
sub create_once { my ($name, $entity) = @_; return 'SELECT * FROM idgen.create_once_bigint(' . command($name)
  . ", $entity, 'test', '[1]')" }

my @faults = (
	[ 'an immediate stop', sub { $node->stop('immediate'); $load->lose_all; $node->start } ],
	# The server terminates all sessions and recovers.
	[ 'kill -9 of sessions', sub {
			my $victim = ask(q{SELECT pid FROM pg_stat_activity
				WHERE application_name = 'load' ORDER BY random() LIMIT 1});
			# The server may terminate the second session first.
			kill('KILL', $client->{pid}, $victim) or die "kill: $!";
			$load->lose_all;
		} ],
	[ 'kill -9 of the postmaster', sub { kill_postmaster($node); $load->lose_all; start_again($node) } ]);
my $recovered = 'database system was not properly shut down';
my $crashes = 0;

for my $round (1 .. 3)
{
	for my $fault (@faults)
	{
		my ($how, $crash) = @$fault;
		my $when = "round $round, $how";
		my $started = ask('SELECT pg_postmaster_start_time()');
		$client = session();
		is($client->ask(create_once('a', 1)), '1|t', "$when: one command is committed");
		is($client->ask('BEGIN; ' . create_once('b', 2)), '2|t', "$when: another command is in progress");
		$load->work(5 + int rand 50);
		$crash->();
		$load->work(1);

		my $recoveries = () = slurp_file($node->logfile, $log_start) =~ /$recovered/g;
		is($recoveries, ++$crashes, "$when: the server recovered, and all clients continue");
		is(ask("SELECT pg_postmaster_start_time() = '$started'"),
			$how =~ /sessions/ ? 't' : 'f', "$when: whether the postmaster is the same");
		is(ask(create_once('a', 11)), '1|f', "$when: the committed command is known");
		is(ask(create_once('b', 12)), '12|t', "$when: the other command is recorded again");
		ask('SELECT idgen.forget_creation(' . command($_) . ')') for 'a', 'b';
	}
}
like(slurp_file($node->logfile), qr/was terminated by signal 9.*$recovered/s, 'a killed session is a crash');

# These errors mean that the server is terminating sessions, or that such sessions still occupy all its connections.
my %errors = %{ $load->errors };
is(join(' ', grep { !/^(57P01|57P02|57P03|53300|connection to .*)$/ } sort keys %errors), '',
	'clients met no other errors');
$load->check;
done_testing();
