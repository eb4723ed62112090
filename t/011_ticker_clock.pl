# Verify functions that use a ticker when the server's clock is set back and ahead. This happens while sessions generate
# values, between restarts, and while the postmaster is killed repeatedly. No value is returned twice. A function that
# is a day ahead of the clock waits for the clock (t/033_cancel.pl cancels such waits). The procedure in docs/tickers.md
# corrects the effects of a wrong clock. Sessions that had to wait return values for the time after the wait.

use Config;
use FakeClock;
use Load;
use Server;
use Tickers;

FakeClock::skip_all_without();

my ($hour, $day) = (3600, 86_400);
my $clock = FakeClock->new('stepping');
my $node = init_server('stepping', "$settings\nsynchronous_commit = off\nwal_writer_delay = 10s");
$clock->start($node);
ask('CREATE EXTENSION idgen');

my %time_of = (
	(map { $_ => "idgen.${_}_timestamp(idgen.$_())" } @functions),
	uuid_v7_ordered => 'idgen.uuid_timestamp(idgen.uuid_v7_ordered())');

# Check that each function is ahead of the clock by the given number of seconds, with a tolerance for the duration of
# this test.
sub is_ahead
{
	my ($seconds, $name) = @_;
	my $elapsed = 120 + abs(time - $^T);
	is(ask("SELECT abs(extract(epoch FROM $time_of{$_} - clock_timestamp()) - $seconds) < $elapsed"), 't', "$_: $name")
	  for @functions;
}

# --- Under load, and across restarts --------------------------------------------
my $load = Load->new($node, take => 4);
my $offset = 0;
sub step_clock { $offset += $_[0]; $clock->run_ahead_by($offset) }

for my $step (6, $hour, -$hour, -1)
{
	$load->work(10);
	step_clock($step);
	$load->work(10);
}
is_ahead($hour, 'an hour ahead of a clock that was set back');
for my $how (('fast', 'immediate', 'kill') x 3)
{
	for my $step ($hour, -$hour - 20, -60)
	{
		$load->work(10);
		$how eq 'kill' ? kill_postmaster($node) : $node->stop($how);
		$load->lose_all;
		step_clock($step);
		start_again($node, sub { $clock->start($node, fail_ok => 1) });
	}
}
$load->work(10);
$load->check;

# --- A day ahead ------------------------------------------------------------------
# The clock was ahead by more than a day. The timeout is doubled until it is long enough for the warning to be issued.
step_clock($day + $hour);
my %before = map { $_ => ask("SELECT idgen.$_()") } @functions;
step_clock(-$day - $hour);
my $control = session();
my %waiters = map { $_ => session() } @functions;
for my $function (@functions)
{
	my $errors = '';
	for (my $timeout = 100; $errors !~ /WARNING/ && $timeout < 200_000; $timeout *= 2)
	{
		$errors = errors("SET statement_timeout = $timeout; SELECT idgen.$function()");
	}
	like($errors, qr/WARNING:  01000: $function\(\) is waiting because it is a day ahead.*can continue in \d+ seconds/s,
		"$function waits and issues a warning");
	is(scalar(() = $errors =~ /WARNING/g), 1, "$function: one warning is issued");
	$waiters{$function}->send_blocked($control, "SELECT idgen.$function()", 'Extension');
}
step_clock($hour / 2);
my $waiting = q{SELECT count(*) = 4 FROM pg_stat_activity WHERE wait_event_type = 'Extension'};
ok($node->poll_query_until('postgres', $waiting), 'half an hour later, all sessions still wait');
step_clock($hour / 2 + 60);
for (@functions)
{
	my $value = number($_, $waiters{$_}->answer);
	cmp_ok($value, '>', number($_, $before{$_}), "$_: the clock ends the wait");
}

# --- Effects of a wrong clock -------------------------------------------------------
# (A 32-bit time_t overflows in 2038, which this test does not reach.)
my $years = 2 * 365 * $day;
add_database('other');
step_clock($years);
ask('SELECT ' . join(', ', map { "idgen.$_()" } @functions), $_) for 'postgres', 'other';
$node->stop;
step_clock(-$years);
$clock->start($node);
$control = session();
for my $function (@functions)
{
	my $mark = "idgen.${function}_mark";
	like(errors("SELECT idgen.$function()"),
		qr/55000: value of sequence "$mark" is more than a day ahead of the clock\n.*ALTER SEQUENCE $mark RESTART/s,
		"$function: its high-water mark is refused after a restart");
	is($control->ask("SELECT idgen.$function()"), '55000', "$function: in another session, too");
	ask("ALTER SEQUENCE $mark RESTART");
	like($control->ask("SELECT idgen.$function()"), qr/^[\da-f-]{6,}$/, "$function: RESTART corrects it at once");
}
is_ahead(0, 'follows the clock again');
for my $function (@functions)
{
	my $call = "SELECT count(idgen.$function())";
	is(outcome($call, database => 'other'), '55000', "$function: the mark of another database is still refused");
	ask("ALTER SEQUENCE idgen.${function}_mark RESTART", 'other');
	is(outcome($call, database => 'other'), '1', "$function: ... until it is corrected there");
}
$node->stop;
$clock->start($node);
is_ahead(0, 'and after a restart');

# --- Sessions that wait for the sequence while the clock advances -----------------------
# After the wait, each session returns a value for the current time, even though other sessions have written marks in
# the meantime.
my $begin = 1_800_000_000;
$clock->stand_still_at($begin);
for my $function (qw(snowflake trace_id js_id))
{
	ask("SELECT idgen.$function()");
	my ($owner, @waiting) = map { session() } 1 .. 31;
	$owner->ask("BEGIN; ALTER SEQUENCE idgen.${function}_mark CACHE 1");
	$_->send_blocked($owner, "SELECT extract(epoch FROM $time_of{$function})::bigint") for @waiting;
	$clock->stand_still_at($begin += 60);
	$owner->ask('COMMIT');
	my %seconds = map { $_->answer => 1 } @waiting;
	is(join(' ', sort keys %seconds), $begin, "$function: no session raises the ticker above the marks of the others");
	is(ask("SELECT idgen.${function}_counter(idgen.$function())"), @waiting + ($function eq 'trace_id'),
		"$function: the values of a second are consecutive, and begin with the least counter");
	$_->quit for $owner, @waiting;
}

# --- Limits, while the clock stands still -------------------------------------------------
$clock->stand_still_at($begin += 60);
my $epoch = "to_timestamp($begin) - 2199023255551 * interval '1 ms'";
is(outcome("SELECT idgen.snowflake_counter(idgen.snowflake($epoch))"), '0', 'the last millisecond of an epoch');
is(outcome("SELECT idgen.snowflake($epoch - interval '1 ms')"), '22008', '... and the next one is out of range');

# --- The limits of marks, while the clock stands still --------------------------------------
# Set a function's mark to the given time, as if another server had written it. The functions below have whole seconds.
sub set_mark { my ($function, $time) = @_; ask("SELECT setval('idgen.${function}_mark', $time\::bigint << 28)") }
sub second_and_counter
{
	my ($function) = @_;
	return "SELECT extract(epoch FROM idgen.${function}_timestamp(v))::bigint, idgen.${function}_counter(v)
		FROM (SELECT idgen.$function() AS v) AS _";
}

$control = session();
$clock->stand_still_at($begin += 60);
my $values_of_second = 1 << 16;
ask("SELECT count(idgen.js_id()) FROM generate_series(1, $values_of_second - 1)");
set_mark('js_id', $begin + 1);
is(ask(second_and_counter('js_id')), $begin + 1 . '|0', 'js_id: a mark skips a single value');
for my $function (qw(snowflake trace_id js_id))
{
	my $least = $function eq 'trace_id' ? 1 : 0;
	my $query = second_and_counter($function);
	my $call = "SELECT idgen.${function}_counter(idgen.$function())";

	$clock->stand_still_at($begin += 60);
	set_mark($function, my $mark = $begin + 30);
	is(ask($query), "$mark|$least", "$function: the first value after a mark is the first one of that second");
	is(ask($query), $mark . '|' . ($least + 1), '... and the mark that this wrote skips nothing');

	# A mark is written for the next second, and reserves 10 seconds more.
	$mark = $begin + $day + 11;
	set_mark($function, $mark + 1);
	is(outcome($query), '55000', "$function: the first mark that is too far ahead");
	set_mark($function, $mark);
	my @waiting = (session(), session());
	ok($waiting[0]->send_blocked($control, $call, 'Extension'), '... and the last one that is not: the function waits');
	$clock->stand_still_at($begin += 11);
	ok($waiting[1]->send_blocked($control, $call, 'Extension'), '... also for the last second');
	$clock->stand_still_at($begin += 1);
	is(join(' ', sort map { $_->answer } @waiting), $least . ' ' . ($least + 1), '... until that is over');
	is(ask($query), $mark . '|' . ($least + 2), '... and then returns the values of that second');
	$_->quit for @waiting;
	$begin += $day;
}

# The greatest mark has 35 bits. (A 32-bit time_t does not reach it.)
if ($Config{ptrsize} == 8)
{
	my $last = 'SELECT extract(epoch FROM date_trunc(\'second\', ' . $time_of{uuid_v7_ordered} . '))::bigint';
	my $greatest = (1 << 35) - 1;
	$clock->stand_still_at($greatest - 11);
	is(outcome($last), $greatest - 11, 'uuid_v7_ordered: the greatest mark is written');
	$clock->stand_still_at($greatest - 6);
	is(outcome($last), $greatest - 6, '... and serves until half of the reserved seconds are used');
	$clock->stand_still_at($greatest - 5);
	is(outcome($last), '2200H', '... but no later one exists');
}
$node->stop;
done_testing();
