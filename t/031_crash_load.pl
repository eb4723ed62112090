# Under a mixed load, the server crashes repeatedly: by an immediate stop, by
# kill -9 of one session and of the postmaster. Clients insert rows, fetch
# identifiers and repeat creation commands until they are answered; afterwards
# nothing was repeated, nothing is lost, and each command has made one order.

use HandedOut;
use MixedLoad;
use Server;

my $node = start_server('crashing', $HandedOut::settings . q{
restart_after_crash = on
idgen.reserve_ahead = 2
max_connections = 30
});
my $log_start = -s $node->logfile;

my $load = MixedLoad->new($node);

# The number of recoveries from a crash
sub recoveries
{
	return scalar(() = slurp_file($node->logfile, $log_start) =~ /database system was not properly shut down/g);
}

my @faults = (
	[ 'an immediate stop', sub { $node->stop('immediate'); $load->lose_all; $node->start } ],
	# the server terminates all sessions and recovers
	[ 'kill -9 of a session', sub {
			my @busy = grep { $_->is_busy && $_->{pid} } $load->sessions;
			kill('KILL', $busy[ int rand @busy ]{pid}) == 1 or die "kill: $!";
			$load->lose_all;
		} ],
	[ 'kill -9 of the postmaster', sub { kill_postmaster($node); $load->lose_all; start_again($node) } ]);
my $crashes = 0;

for my $round (1 .. 3)
{
	for my $fault (@faults)
	{
		$load->work(200 + int rand 400);
		$fault->[1]->();
		$crashes++;
		$load->work(1);
		is(recoveries(), $crashes, "round $round: the server recovered from $fault->[0], and all clients continue");
	}
}

# Expected errors: the server is terminating sessions, not accepting connections
# yet, or full of sessions that are about to end.
is(join(' ', grep { !/^(57P01|57P02|57P03|53300)$/ } sort keys %{ $load->{errors} }), '', 'clients met no other errors');
cmp_ok($load->{lost}, '>=', $crashes, 'each crash ended busy sessions');
cmp_ok($load->{replays}, '>', 0, 'commands were repeated');
$load->check;
diag("figures: $crashes crashes; " . $load->figures);

done_testing();
