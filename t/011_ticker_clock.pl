# The server's clock is set back and ahead, under load and across restarts. No
# value is returned twice; a function that is too far ahead of the clock waits for
# it, and the wait can be cancelled.

use FakeClock;
use HandedOut;
use Server;

FakeClock::skip_all_without();

my $hour = 3600;
my @with_time = grep { $_ ne 'decimal_id' } @HandedOut::functions;
my $clock = FakeClock->new('stepping');
my $handed_out = HandedOut->new;

my $node = init_server('stepping', $HandedOut::settings);
$clock->start($node);
ask('CREATE EXTENSION idgen');

my $offset = 0;

sub step_clock
{
	my ($seconds) = @_;

	$offset += $seconds;
	$clock->run_ahead_by($offset);
}

# The number of values per tick, and the length of a tick in milliseconds
my %room = (snowflake => [ 1, 4096 ], trace_id => [ 1000, 4194303 ], js_id => [ 1000, 65536 ], uuid_v7_ordered => [ 1, 4096 ]);

# Check that the functions with a time are ahead of the clock by a number of
# seconds within a range. Where the clock was set back, they may have continued
# from there for as long as the test has been running. And a ticker is ahead by
# the time that the returned values occupy.
sub is_ahead
{
	my ($from, $to, $name) = @_;
	my @ahead = split /\n/, ask('SELECT layout, extract(epoch FROM ahead) FROM idgen.tickers WHERE last_time IS NOT NULL');
	my $least = $from > 0 ? $from - (time - $^T) : 0;
	my @wrong;

	for (@ahead)
	{
		my ($layout, $seconds) = split /\|/;
		my ($ms, $values) = @{ $room{$layout} };
		my $most = $to + $handed_out->at_most($layout) / $values * $ms / 1000;

		push @wrong, "$layout by $seconds, not from $least to $most" if $seconds < $least || $seconds > $most;
	}
	is(join(', ', @wrong), '', $name);
	is(scalar @ahead, 4, 'all tickers with a time are ahead by the expected time');
}

# Under load
$handed_out->clients_begin('load', $node);
$handed_out->wait_for_more;
is_ahead(0, 1, 'the tickers follow the clock');

# a reservation covers ten seconds and is renewed when half of them have passed
step_clock(6);
$handed_out->wait_for_more;
is_ahead(0, 1, 'the tickers follow the clock after a new reservation');

step_clock($hour);
$handed_out->wait_for_more;
is_ahead(0, 1, 'the tickers follow a clock set ahead by an hour');

step_clock(-$hour);
is_ahead($hour, $hour + 120, 'the tickers do not follow a clock set back by an hour');
$handed_out->wait_for_more;

step_clock(-1);
$handed_out->wait_for_more;
is_ahead($hour, $hour + 120, 'nor a clock set back by another second');

# Across clean and immediate restarts
for my $mode ('fast', 'immediate')
{
	for my $step ($hour, -$hour, -1)
	{
		$node->stop($mode);
		$handed_out->clients_end;
		step_clock($step);
		$clock->start($node);
		$handed_out->clients_begin("$mode stop, $step s", $node);
		$handed_out->wait_for_more;
	}
}
$handed_out->clients_terminate($node);

# Too far ahead: by an hour, where ten seconds are allowed. The timeout is doubled
# until the warning was issued in time.
sub impatient_errors
{
	my ($function) = @_;
	my $errors = '';

	for (my $timeout = 100; $errors !~ /WARNING/ && $timeout < 1000 * $PostgreSQL::Test::Utils::timeout_default; $timeout *= 2)
	{
		$errors = errors("SET idgen.max_ahead = '10s'; SET statement_timeout = $timeout; SELECT idgen.$function()");
	}
	return $errors;
}

is_ahead($hour, $hour + 120, 'the tickers are an hour ahead');
for my $function (@with_time)
{
	my $errors = impatient_errors($function);
	my ($seconds) = $errors =~ /WARNING:  01000: $function\(\) is waiting.*DETAIL:  It can continue in (\d+) seconds\.\n.*HINT:  See the view idgen\.tickers\./s;

	cmp_ok($seconds // 0, '>', $hour - 10 - (time - $^T), "$function waits and issues a warning");
	like($errors, qr/ERROR:  57014: .*statement timeout/, "$function: statement_timeout ends the wait");
	is(scalar(() = $errors =~ /WARNING/g), 1, "$function: one warning is issued");
}
is(errors("SET idgen.max_ahead = '10s'; SELECT idgen.decimal_id()"), '', 'decimal_id() never waits, since it has no clock');

# Start a session that calls a function, and return when it is waiting.
my $control = session();

sub start_waiter
{
	my ($function) = @_;
	my $waiter = session();

	$waiter->ask("SET idgen.max_ahead = '10s'");
	$waiter->send("SELECT E'$function\\t' || idgen.$function()");
	$control->poll_waiting($waiter, 'Extension');
	return $waiter;
}

my $waiter = start_waiter('snowflake');
ask("SELECT pg_cancel_backend($waiter->{pid})");
is($waiter->answer, '57014', 'a waiting session can be cancelled');
is($waiter->ask('RESET idgen.max_ahead; SELECT idgen.snowflake_node(idgen.snowflake())'), 21, 'the session continues');
$waiter->quit;

$waiter = start_waiter('uuid_v7_ordered');
ask("SELECT pg_terminate_backend($waiter->{pid})");
is($waiter->answer, '57P01', 'a waiting session can be terminated');

# The clock advances: first not far enough for any session, then for all.
my %waiters = map { $_ => start_waiter($_) } @with_time;

step_clock($hour / 2);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 4 FROM pg_stat_activity WHERE wait_event_type = 'Extension'}),
	'half an hour later, all sessions still wait');
step_clock($hour / 2 + 120);
$handed_out->begin_phase('after the wait');
for my $function (@with_time)
{
	my $answer = $waiters{$function}->answer;

	like($answer, qr/^$function\t\S+$/, "$function: the clock ends the wait");
	$handed_out->record($answer);
	$waiters{$function}->quit;
}
is_ahead(0, 11, 'the tickers are ahead by max_ahead at most');

$handed_out->check_never_twice;

# More values than a tick holds, in a database where none were returned before
ask('CREATE DATABASE still');
$clock->stand_still_at(time + 2 * $hour);
$waiter = session(database => 'still');
$waiter->ask('CREATE EXTENSION idgen; SET idgen.max_ahead = 0');
is( $waiter->ask(q{
	SELECT count(DISTINCT id), max(idgen.snowflake_counter(id)), min(idgen.snowflake_timestamp(id)) = max(clock_timestamp())
	FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, 4096) OFFSET 0) made}),
	'4096|4095|t', 'snowflake: 4096 values in a millisecond');
$waiter->send('SELECT idgen.snowflake()');
ok($control->poll_waiting($waiter, 'Extension'), 'snowflake: the next call waits');
$clock->stand_still_at(time + 3 * $hour);
my $next = $waiter->answer;
is( $waiter->ask("SELECT idgen.snowflake_counter($next), idgen.snowflake_timestamp($next) = clock_timestamp()"),
	'0|t', 'snowflake: it returns a value of the next millisecond');
$waiter->quit;

# The clock stands still until all values of the current and the next second, which
# max_ahead allows, are used. Each time that the session waits, the clock
# advances by one second.
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

	ok( $node->poll_query_until('hurry', qq{
			SELECT last_value = $used_up AND wait_event_type = 'Extension'
			FROM idgen.ticker_state('js_id'), pg_stat_activity WHERE pid = $waiter->{pid}}),
		"js_id: waits after the values of two seconds");
	$clock->stand_still_at($still + $second);
}
is( $waiter->ask(q{
	SELECT count(DISTINCT id), max(ahead), max(ticker_ahead) <= '1 s',
		count(ticker_ahead), max(idgen.js_id_counter(id)), count(DISTINCT idgen.js_id_timestamp(id))
	FROM js_ids}),
	'300000|00:00:01|t|300|65535|5', 'js_id: of 300000 values, none is ahead by more than max_ahead');
$waiter->quit;
is( ask(q{SELECT count(*) FROM (SELECT id <= lag(id) OVER (ORDER BY i) AS falls FROM js_ids) f WHERE falls}, 'hurry'),
	0, 'js_id: the values increase');

$node->stop;
$node->start;
is( ask(q{
	SET idgen.max_ahead = 0;
	CREATE TABLE snowflakes AS
		SELECT i, id, idgen.snowflake_timestamp(id) - clock_timestamp() AS ahead, clock_timestamp() AS at
		FROM (SELECT i, idgen.snowflake() AS id FROM generate_series(1, 200000) i OFFSET 0) made;
	SELECT count(DISTINCT id), max(ahead) <= '0 s', max(at) - min(idgen.snowflake_timestamp(id)) >= '48 ms'
	FROM snowflakes}, 'hurry'),
	'200000|t|t', 'snowflake: of 200000 values, none is ahead with max_ahead = 0');
is( ask(q{SELECT count(*) FROM (SELECT id <= lag(id) OVER (ORDER BY i) AS falls FROM snowflakes) f WHERE falls}, 'hurry'),
	0, 'snowflake: the values increase');

done_testing();
