# Under a mixed load, the server crashes repeatedly: by an immediate stop, by
# kill -9 of one session and of the postmaster. Clients insert rows, fetch
# identifiers and repeat creation commands until they are answered; afterwards
# nothing was repeated, nothing is lost, and each command has made one order.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use HandedOut;
use MixedLoad;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('crashing');
$node->init;
HandedOut::configure($node);
$node->append_conf('postgresql.conf', q{
restart_after_crash = on
idgen.reserve_ahead = 2
max_connections = 30
});
$node->start;
my $log_start = -s $node->logfile;

my $load = MixedLoad->new($node);

# Run the load until the clients got some more answers, in total and of each kind.
sub work
{
	my ($answers) = @_;
	my ($enough, $told, $commands) =
	  ($load->answers + $answers, @{ $load->{reported} } + 20, keys(%{ $load->{entity_of} }) + 5);

	$load->run_until(sub {
		$load->answers >= $enough && @{ $load->{reported} } >= $told && keys %{ $load->{entity_of} } >= $commands;
	});
}

sub immediate_stop
{
	$node->stop('immediate');
	$load->lose_all;
	$node->start;
}

# The server terminates all sessions and recovers.
sub kill_backend
{
	my @busy = grep { $_->is_busy && $_->{pid} } $load->sessions;

	kill('KILL', $busy[ int rand @busy ]{pid}) == 1 or die "kill: $!";
	$load->lose_all;
}

# Its children exit when they notice; until then a new postmaster does not start.
sub kill_postmaster
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	$node->kill9;
	$load->lose_all;
	usleep(100_000) while kill(0, $postmaster) && $attempts-- > 0;
	usleep(100_000) until $node->start(fail_ok => 1) || $attempts-- <= 0;
}

# The number of recoveries from a crash
sub recoveries
{
	return scalar(() = slurp_file($node->logfile, $log_start) =~ /database system was not properly shut down/g);
}

my @faults = (
	[ 'an immediate stop', \&immediate_stop ],
	[ 'kill -9 of a session', \&kill_backend ],
	[ 'kill -9 of the postmaster', \&kill_postmaster ]);
my $crashes = 0;

for my $round (1 .. 3)
{
	for my $fault (@faults)
	{
		work(200 + int rand 400);
		$fault->[1]->();
		$crashes++;
		work(1);
		is(recoveries(), $crashes, "round $round: the server recovered from $fault->[0], and all clients continue");
	}
}

# Expected errors: the server is terminating sessions, not accepting connections
# yet, or full of sessions that are about to end.
is( join(' ', grep { !/^(57P01|57P02|57P03|53300)$/ } sort keys %{ $load->{errors} }), '', 'clients met no other errors');
cmp_ok($load->{lost}, '>=', $crashes, 'each crash ended busy sessions');
cmp_ok($load->{replays}, '>', 0, 'some commands were committed without an answer to the client');
$load->check;
diag("figures: $crashes crashes; " . $load->figures);

$node->stop;
done_testing();
