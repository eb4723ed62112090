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

# More values than a tick holds, in a database where none were returned before
ask('CREATE DATABASE still');
$clock->stand_still_at(time + 2 * $hour);
my $waiter = session(database => 'still');
$waiter->ask('CREATE EXTENSION idgen; SET idgen.max_ahead = 0');
is($waiter->ask(q{
	SELECT count(DISTINCT id), max(idgen.snowflake_counter(id)), min(idgen.snowflake_timestamp(id)) = max(clock_timestamp())
	FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, 4096) OFFSET 0) made}),
	'4096|4095|t', 'snowflake: 4096 values in a millisecond');
ok($waiter->send_blocked($control, 'SELECT idgen.snowflake()', 'Extension'), 'snowflake: the next call waits');
$clock->stand_still_at(time + 3 * $hour);
my $next = $waiter->answer;
is($waiter->ask("SELECT idgen.snowflake_counter($next), idgen.snowflake_timestamp($next) = clock_timestamp()"),
	'0|t', 'snowflake: it returns a value of the next millisecond');
$waiter->quit;

# The clock stands still until all values of the current and the next second, which max_ahead allows, are used. Each
# time that the session waits, the clock advances by one second.
ask('CREATE DATABASE hurry');
my $still = time + 4 * $hour;
$clock->stand_still_at($still);
$waiter = session(database => 'hurry');
$waiter->ask(q{CREATE EXTENSION idgen; SET idgen.max_ahead = '1s'});
$waiter->send(q{
	CREATE TABLE js_ids AS
		SELECT i, id, idgen.js_id_timestamp(id) - clock_timestamp() AS ahead,
			CASE WHEN i % 1000 = 0 THEN
				(SELECT t.ahead FROM idgen.ticker_state('js_id') t WHERE i > 0) END AS ticker_ahead
		FROM (SELECT i, idgen.js_id() AS id FROM generate_series(1, 300000) i OFFSET 0) made;
});
for my $second (1 .. 3)
{
	# all values of the second after this one, so that this is not the wait before
	my $used_up = (($still + $second) << 16) + 65535;
	ok($node->poll_query_until('hurry', qq{
			SELECT last_value = $used_up AND wait_event_type = 'Extension'
			FROM idgen.ticker_state('js_id'), pg_stat_activity WHERE pid = $waiter->{pid}}),
		"js_id: waits after the values of two seconds");
	$clock->stand_still_at($still + $second);
}
is($waiter->ask(q{
	SELECT count(*) FILTER (WHERE falls), count(DISTINCT id), max(ahead), max(ticker_ahead) <= '1 s',
		count(ticker_ahead), max(idgen.js_id_counter(id)), count(DISTINCT idgen.js_id_timestamp(id))
	FROM (SELECT *, id <= lag(id) OVER (ORDER BY i) AS falls FROM js_ids) made}),
	'0|300000|00:00:01|t|300|65535|5', 'js_id: 300000 values increase, none ahead by more than max_ahead');
$waiter->quit;

$node->stop;
$node->start;
is(ask(q{
	SET idgen.max_ahead = 0;
	CREATE TABLE snowflakes AS
		SELECT i, id, idgen.snowflake_timestamp(id) - clock_timestamp() AS ahead, clock_timestamp() AS at
		FROM (SELECT i, idgen.snowflake() AS id FROM generate_series(1, 200000) i OFFSET 0) made;
	SELECT count(*) FILTER (WHERE falls), count(DISTINCT id), max(ahead) <= '0 s',
		max(at) - min(idgen.snowflake_timestamp(id)) >= '48 ms'
	FROM (SELECT *, id <= lag(id) OVER (ORDER BY i) AS falls FROM snowflakes) made}, 'hurry'),
	'0|200000|t|t', 'snowflake: 200000 values increase, and none is ahead with max_ahead = 0');

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
