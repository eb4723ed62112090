# Under a mixed load, the server dies again and again: all at once, by the
# death of one session, by that of the postmaster. Clients insert rows, take
# identifiers and send creation commands until they are told; afterwards
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

# Until the clients got some more answers, all together and each of a kind
sub work
{
	my ($answers) = @_;
	my ($enough, $told, $commands) =
	  ($load->answers + $answers, @{ $load->{told} } + 20, keys(%{ $load->{entity_of} }) + 5);

	$load->go_on(sub {
		$load->answers >= $enough && @{ $load->{told} } >= $told && keys %{ $load->{entity_of} } >= $commands;
	});
}

sub immediate_stop
{
	$node->stop('immediate');
	$load->lose_all;
	$node->start;
}

# The server takes every session down and recovers.
sub kill_backend
{
	my @busy = grep { $_->is_busy && $_->{pid} } $load->sessions;

	kill('KILL', $busy[ int rand @busy ]{pid}) == 1 or die "kill: $!";
	$load->lose_all;
}

# Its processes go when they notice; until then a new postmaster does not start.
sub kill_postmaster
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	$node->kill9;
	$load->lose_all;
	usleep(100_000) while kill(0, $postmaster) && $attempts-- > 0;
	usleep(100_000) until $node->start(fail_ok => 1) || $attempts-- <= 0;
}

# How often the server came back without having been shut down
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
		is(recoveries(), $crashes, "round $round: the server recovered from $fault->[0], and all clients go on");
	}
}

# What was said on the way: that the server goes, is not there yet, or is full
# of sessions that are about to go.
is( join(' ', grep { !/^(57P01|57P02|57P03|53300)$/ } sort keys %{ $load->{errors} }), '', 'no client met any other error');
cmp_ok($load->{lost}, '>=', $crashes, 'each time, sessions were lost at work');
cmp_ok($load->{replays}, '>', 0, 'and some commands had been done, though nobody was told');
$load->check;
diag("figures: $crashes crashes; " . $load->figures);

$node->stop;
done_testing();
