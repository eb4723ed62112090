# The server's clock is set back and ahead, under load, across restarts, and while the
# postmaster is killed repeatedly. No value is returned twice; a function that is too far
# ahead of the clock waits for it (t/033_cancel.pl cancels such waits).

use FakeClock;
use HandedOut;
use MixedLoad;
use Server;

FakeClock::skip_all_without();

my $hour = 3600;
my @with_time = grep { $_ ne 'decimal_id' } @HandedOut::functions;
my $clock = FakeClock->new('stepping');

my $node = init_server('stepping', $HandedOut::settings);
$clock->start($node);
ask('CREATE EXTENSION idgen');
my $load = MixedLoad->new($node, inserting => 0, taking => 4, creating => 0);
my $handed_out = $load->{handed_out};

my $offset = 0;

sub step_clock { $offset += $_[0]; $clock->run_ahead_by($offset) }

# The number of values per tick, and the length of a tick in milliseconds
my %room = (snowflake => [ 1, 4096 ], trace_id => [ 1000, 4194303 ], js_id => [ 1000, 65536 ], uuid_v7_ordered => [ 1, 4096 ]);

# Where the clock was set back, the tickers may have continued from there for as long as the test has been running.
# Two minutes more, so that no rounding and no step of the machine's own clock decides.
sub elapsed { return 120 + abs(time - $^T) }

# Check that the tickers with a time are ahead of the clock by a number of seconds within a range, and by the time
# that the returned values occupy.
sub is_ahead
{
	my ($from, $to, $name) = @_;
	my %ahead = map { split /\|/ } split /\n/,
	  ask('SELECT ticker, extract(epoch FROM ahead) FROM idgen.tickers WHERE last_time IS NOT NULL');
	my $least = $from > 0 ? $from - elapsed() : 0;
	my @wrong = join(' ', sort @with_time) eq join(' ', sort keys %ahead) ? () : 'tickers: ' . keys %ahead;
	for my $ticker (keys %ahead)
	{
		my ($ms, $values) = @{ $room{$ticker} };
		# each of four clients may have got as many as 50 more
		my $most = $to + (200 + $handed_out->count($ticker)) / $values * $ms / 1000;
		push @wrong, "$ticker by $ahead{$ticker}, not from $least to $most" if $ahead{$ticker} < $least || $ahead{$ticker} > $most;
	}
	is(join(', ', @wrong), '', $name);
}

# Under load. A reservation covers ten seconds and is renewed when half of them have passed.
my $marks = q{SELECT string_agg(reserved_value::text, ' ' ORDER BY ticker) FROM idgen.tickers WHERE ticker <> 'decimal_id'};
for my $step (0, 6, $hour)
{
	my $before = ask($marks);
	step_clock($step);
	$load->take_more;
	isnt(ask($marks), $before, 'high-water marks move before they are reached');
	is_ahead(0, 1, "the tickers follow a clock set ahead by $step seconds");
}
for my $step (-$hour, -1)
{
	step_clock($step);
	is_ahead($hour, $hour + 120, "the tickers do not follow a clock set back by $step seconds");
	$load->take_more;
}
is_ahead($hour, $hour + 120, 'nor do their next values');

# Across clean and immediate restarts
for my $mode ('fast', 'immediate')
{
	for my $step ($hour, -$hour, -1)
	{
		$node->stop($mode);
		$load->lose_all;
		step_clock($step);
		$clock->start($node);
		$load->take_more;
	}
}
$load->finish;

# Too far ahead: by an hour, where ten seconds are allowed. The timeout is doubled until the warning was issued in time.
is_ahead($hour, $hour + 120, 'the tickers are an hour ahead');
for my $function (@with_time)
{
	my $errors = '';
	for (my $timeout = 100; $errors !~ /WARNING/ && $timeout < 1000 * $PostgreSQL::Test::Utils::timeout_default; $timeout *= 2)
	{
		$errors = errors("SET idgen.max_ahead = '10s'; SET statement_timeout = $timeout; SELECT idgen.$function()");
	}
	my ($seconds) = $errors =~
	  /WARNING:  01000: $function\(\) is waiting.*DETAIL:  It can continue in (\d+) seconds\.\n.*HINT:  See the view idgen\.tickers\./s;
	cmp_ok($seconds // 0, '>', $hour - 10 - elapsed(), "$function waits and issues a warning");
	like($errors, qr/ERROR:  57014: .*statement timeout/, "$function: statement_timeout ends the wait");
	is(scalar(() = $errors =~ /WARNING/g), 1, "$function: one warning is issued");
}
is(errors("SET idgen.max_ahead = '10s'; SELECT idgen.decimal_id()"), '', 'decimal_id() never waits, since it has no clock');

# The clock advances: first not far enough for any waiting session, then for all.
my $control = session();
my %waiters = map { $_ => session(options => '-c idgen.max_ahead=10s') } @with_time;
$waiters{$_}->send_blocked($control, "SELECT idgen.$_()", 'Extension') for @with_time;

step_clock($hour / 2);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 4 FROM pg_stat_activity WHERE wait_event_type = 'Extension'}),
	'half an hour later, all sessions still wait');
step_clock($hour / 2 + 120);
$handed_out->begin_phase;
for my $function (@with_time)
{
	is($waiters{$function}->wait, '', "$function: the clock ends the wait");
	$handed_out->see($waiters{$function}, $waiters{$function}{rows}, $function);
}
is_ahead(0, 11, 'the tickers are ahead by max_ahead at most');

# All values of the ticks that max_ahead allows, in a database where none were returned before
for ([ 'snowflake', 0, 4096 ], [ 'js_id', 1, 2 * 65536 ])
{
	my ($function, $seconds, $room) = @$_;
	my $still = time + (2 + 2 * $seconds) * $hour;
	$clock->stand_still_at($still);
	add_database("still_$function");
	my $waiter = session(database => "still_$function");
	$waiter->ask("SET idgen.max_ahead = '${seconds}s'");
	is($waiter->ask("SELECT count(DISTINCT id), max(idgen.${function}_timestamp(id) - clock_timestamp())
		FROM (SELECT idgen.$function() AS id FROM generate_series(1, $room) OFFSET 0) made"),
		"$room|00:00:0$seconds", "$function: $room values are at most $seconds s ahead");
	ok($waiter->send_blocked($control, "SELECT idgen.$function()", 'Extension'), "$function: the next call waits");
	$clock->stand_still_at($still + $hour);
	my $next = $waiter->answer;
	is($waiter->ask("SELECT idgen.${function}_counter($next), idgen.${function}_timestamp($next) = clock_timestamp()"),
		'0|t', "$function: it returns the first value of the time of the clock");
	$waiter->quit;
}

# --- The postmaster is killed ---------------------------------------------------
# Only explicitly flushed WAL survives. Reservations are small.
$node->append_conf('postgresql.conf', "idgen.reserve_ahead = 2\nsynchronous_commit = off\nwal_writer_delay = 10s\njit = off");
$node->stop;

# The clock is right, behind or standing still. In each fifth cycle it is ahead by some
# minutes, more each time, so that it is ahead of all identifiers; then it is set back.
my $ahead = 5 * $hour;
my @clocks = (
	sub { my ($cycle, $step) = @_; $clock->run_ahead_by($ahead + 60 * $cycle + $step) },
	(sub { my ($cycle, $step) = @_; $clock->run_ahead_by($ahead - $hour + $step) }) x 2,
	(sub { my ($cycle, $step) = @_; $clock->stand_still_at($^T + $ahead - $hour + $step) }) x 2);

for my $cycle (1 .. 20)
{
	my $set_clock = $clocks[ ($cycle - 1) % @clocks ];
	$set_clock->($cycle, 0);
	start_again($node, sub { $clock->start($node, fail_ok => 1) });
	$load->take_more;

	# continue beyond the reservation: in time, and in number, since decimal_id() has no
	# clock, and reserves four million values
	$set_clock->($cycle, 3);
	$load->take_more;
	$handed_out->see({}, [ [ ask('SELECT max(idgen.decimal_id()) FROM generate_series(1, 4200000)') ] ],
		'decimal_id') if $cycle % @clocks == 2;

	kill_postmaster($node);
	$load->lose_all;
}
$handed_out->check;
done_testing();
