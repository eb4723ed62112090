# The postmaster is killed under load repeatedly, and restarts with a clock that is
# right, behind or standing still. No value is returned twice.

use FakeClock;
use HandedOut;
use Server;

FakeClock::skip_all_without();

my $hour = 3600;
my $start = time;
my $clock = FakeClock->new('crashing');
my $handed_out = HandedOut->new;

# Only explicitly flushed WAL survives. Reservations are small.
my $node = init_server('crashing', $HandedOut::settings . q{
idgen.reserve_ahead = 2
synchronous_commit = off
wal_writer_delay = 10s
jit = off
});
$clock->start($node);
ask('CREATE EXTENSION idgen; CHECKPOINT');

sub start_late { start_again($node, sub { $clock->start($node, fail_ok => 1) }) }

# In each fifth cycle the clock is ahead by some minutes, more each time, so that
# it is ahead of all identifiers; then it is set back.
my @clocks = (
	sub { my ($cycle, $step) = @_; $clock->run_ahead_by(60 * $cycle + $step) },
	(sub { my ($cycle, $step) = @_; $clock->run_ahead_by(-$hour + $step) }) x 2,
	(sub { my ($cycle, $step) = @_; $clock->stand_still_at($start - $hour + $step) }) x 2);

# decimal_id() has no clock: a reservation has four million values.
my $more_than_reserved = q{SELECT E'decimal_id\t' || max(idgen.decimal_id()) FROM generate_series(1, 2000) a, generate_series(1, 2100) b};

for my $cycle (1 .. 20)
{
	my $set_clock = $clocks[ ($cycle - 1) % @clocks ];

	$set_clock->($cycle, 0);
	start_late() if $cycle > 1;

	$handed_out->clients_begin("cycle $cycle", $node);
	$handed_out->wait_for_more;

	# continue beyond the reservation: in time, and in number
	$set_clock->($cycle, 3);
	$handed_out->wait_for_more;
	$handed_out->record(ask($more_than_reserved)) if $cycle % @clocks == 2;

	kill_postmaster($node);
	$handed_out->clients_end;
}

$clock->run_ahead_by(-$hour);
start_late();
$node->stop;

$handed_out->check_never_twice;
done_testing();
