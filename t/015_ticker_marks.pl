# The sequence of a ticker is set with setval() or altered, its owner has no rights on it, and the ticker is raised: values
# are greater than all before, and a value of the sequence that must not count is an error.

use Server;
use TickerStory;

my $node = new_server('first', 0);

# The role that installs the extension is not a superuser.
ask('CREATE ROLE owner LOGIN; CREATE DATABASE dumped OWNER owner');
ask('SET SESSION AUTHORIZATION owner; CREATE EXTENSION idgen', 'dumped');

# --- setval() ---------------------------------------------------------------
# The owner sets sequences.
sub set_tickers
{
	my ($value, @of) = @_;
	ask('SET SESSION AUTHORIZATION owner; ' . on_tickers("SELECT setval('TICKER', $value)", @of), 'dumped');
}

# The error of a function that must not wait
sub check_refused
{
	my ($function, $error, $name) = @_;
	like(errors("SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; SELECT idgen.$function()", database => 'dumped'),
		qr/ERROR:  \Q$error\E$/m, "$function(): $name");
}

# The tickers' values at a Unix second
sub values_at { my ($s) = @_; return (trace_id => $s << 22, js_id => $s << 16, map { $_ => $s * 1000 << 12 } qw(snowflake uuid_v7_ordered)) }

# Both sessions continue, the old one and a new one.
my $session = session(database => 'dumped');

sub check_both
{
	my ($what) = @_;
	check_continues("$what, a new session", make('dumped'));
	check_continues("$what, the old session", make($session));
}

# The owner sets the tickers to half an hour ahead, for identifiers from elsewhere.
begin_story('a session before setval()', make($session));
my $later = ask(q{SELECT extract(epoch FROM now() + interval '30 minutes')::bigint});
my %value_of = (values_at($later), decimal_id => 900_000_000);
set_tickers($value_of{$_}, $_) for @functions;
check_both('after setval()');
is(ask('SELECT count(*) FROM idgen.tickers, (VALUES ' . join(', ', map { "('$_', $value_of{$_})" } @functions)
		  . ') v (function, value) WHERE function = ticker AND last_value >= value AND reserved_value > last_value', 'dumped'),
	'5', 'the values are above those that the owner set');

# setting it to a smaller value has no effect while the server runs
set_tickers(1);
check_both('set to a smaller value');
for my $least (0, -5)
{
	ask(on_tickers("ALTER SEQUENCE TICKER MINVALUE $least RESTART $least"), 'dumped');
	check_both("restarted at $least");
}

# A high-water mark out of range is an error until it is corrected. (trace_id and js_id have the range of bigint.)
my @longer = ('trace_id', 'js_id');
my @shorter = grep { $_ !~ /^(trace|js)_id$/ } @functions;
my $greatest_bigint = '9223372036854775807';
set_tickers($greatest_bigint, @shorter);
check_refused($_, "55000: value of sequence \"idgen.${_}_ticker\" is out of range for $_()", 'a value out of range') for @shorter;
set_tickers(1, @shorter);
check_both('corrected');

# A high-water mark that a crash would lose
ask(on_tickers('ALTER SEQUENCE TICKER SET UNLOGGED'), 'dumped');
check_refused($_, "55000: sequence \"idgen.${_}_ticker\" is not logged", 'an unlogged sequence') for @functions;
ask(on_tickers('ALTER SEQUENCE TICKER SET LOGGED'), 'dumped');
check_both('logged again');
check_crash('dumped');

# A value far ahead of the clock is an error while the server knows that the ticker did not write it; then RESTART
# makes it write its own again. (decimal_id() has no clock, and continues from any greater value.)
my %far = values_at(ask(q{SELECT extract(epoch FROM now() + interval '1 year')::bigint}));
$session = session(database => 'dumped');
check_continues('a session before that', make($session));
for my $function (sort keys %far)
{
	my $error = "55000: value of sequence \"idgen.${function}_ticker\" is too far ahead of the clock";
	for my $value ($far{$function}, $function =~ /^(trace|js)_id$/ ? $greatest_bigint : ())
	{
		set_tickers($value, $function);
		check_refused($function, $error, "does not continue from $value");
	}
	like(errors("BEGIN; ALTER SEQUENCE idgen.${function}_ticker CACHE 2;
				 SELECT setval('idgen.${function}_ticker', $far{$function}), idgen.$function()", database => 'dumped'),
		qr/ERROR:  \Q$error/, "$function() does not continue from it in the transaction that sets it");
}
is(ask(q{SELECT count(*) FROM idgen.tickers WHERE ahead > '1 day'}, 'dumped'), 0, 'no ticker was raised');
ask(on_tickers('ALTER SEQUENCE TICKER RESTART', keys %far), 'dumped');
check_both('restarted');
check_crash('dumped');

# After a restart, the server does not know who wrote the value: the ticker starts there.
set_tickers($greatest_bigint, @longer);
ask('SELECT idgen.raise_decimal_id(9223372029999900000)', 'dumped');
$node->stop;
start_with_clock($node, 0);
check_refused($_, "2200H: $_() reached its maximum value", 'its end, after a restart') for @longer, 'decimal_id';

# All values up to the greatest are returned, also if the last reservation ends at it.
for my $left (3_999_999 .. 4_000_002)
{
	my $database = "last_$left";
	add_database($database);
	ask('SELECT idgen.raise_decimal_id(' . (922_337_202 - $left) . '9999900000)', $database);
	is(ask("SELECT count(*), max(id) FROM (SELECT idgen.decimal_id() AS id FROM generate_series(1, $left) OFFSET 0) s", $database),
		"$left|9223372029999912345", "the last $left values");
	like(errors('SELECT idgen.decimal_id()', database => $database), qr/2200H: decimal_id\(\) reached its maximum value/, 'no other');
}

# A mark that a transaction wrote to a sequence of its own counts as written by this server when it has committed,
# however far ahead: the others continue after the last value, without an error and without waiting.
add_database('committed');
ask("ALTER DATABASE committed SET idgen.max_ahead = '60s'");
my $far_ahead = session(database => 'committed', options => '-c idgen.reserve_ahead=1h');
$session = session(database => 'committed', options => "-c statement_timeout=${PostgreSQL::Test::Utils::timeout_default}s");
begin_story('a session', make($session));
check_continues('one that reserves an hour', $far_ahead->ask('BEGIN;' . on_tickers('ALTER SEQUENCE TICKER CACHE 2') . '; ' . values_query(100)));
$far_ahead->ask('COMMIT');
check_continues('the first session', make($session));
check_continues('the other one', make($far_ahead));
is(ask(q{SELECT count(*) FROM idgen.tickers WHERE reserved_until > now() + interval '59 minutes' AND ahead < '10 s'}, 'committed'),
	4, 'the marks are far ahead, the values are not');

# --- An owner without rights -------------------------------------------------
add_database('deprived');
ask('GRANT USAGE ON SCHEMA idgen TO owner', 'deprived');
ask(on_tickers('ALTER SEQUENCE TICKER OWNER TO owner'), 'deprived');
begin_story('an owner', make('deprived'));
ask(on_tickers('REVOKE ALL ON SEQUENCE TICKER FROM owner'), 'deprived');
check_continues('without rights on the sequences', make('deprived', 100));
check_crash('deprived');

# --- raise_ticker() and raise_decimal_id() -----------------------------------
# A table has identifiers from another source, greater than those of this database and less than its reservation. A
# session that uses the reservation continues above them, too, and no value is repeated after a crash.
sub counter_of { my ($row) = @_; return int((split /\|/, $row)[3] / 10_000_000_000) }

add_database('joined');
$session = session(database => 'joined');
begin_story('a session', make($session, 10));
my ($reserved, $foreign) = split /\|/,
  ask(q{SELECT reserved_value, last_value + 1000 FROM idgen.ticker_state('decimal_id')}, 'joined');
cmp_ok($foreign, '<', $reserved, 'the foreign identifiers are below the high-water mark');
ask("SELECT idgen.raise_decimal_id($foreign * 10000000000)", 'joined');
my $values = make($session, 20_000);
check_continues('the same session after raise_decimal_id()', $values);
cmp_ok(counter_of($values), '>', $foreign, 'the values are greater than the foreign identifiers');
check_crash('joined', 20_000);

# raise_decimal_id() in a transaction that is rolled back, in a new session
$foreign += 10_000_000;
ask("BEGIN; SELECT idgen.raise_decimal_id($foreign * 10000000000); ROLLBACK", 'joined');
$node->stop('immediate');
start_with_clock($node, 0);
$values = make('joined');
check_continues('raise_decimal_id() rolled back, then a crash', $values);
cmp_ok(counter_of($values), '>', $foreign, 'the values are greater than the argument of raise_decimal_id()');

# A ticker with a clock is raised by half an hour.
ask(q{SELECT idgen.raise_ticker(ticker, now() + interval '30 minutes') FROM idgen.tickers WHERE last_time IS NOT NULL},
	'joined');
is(ask(q{SELECT count(*) FROM idgen.tickers WHERE last_time > now() + interval '29 minutes' AND reserved_until > last_time},
		'joined'), 4, 'the tickers are ahead, and their sequences are further ahead');
check_continues('raised by half an hour', make('joined', 100));
check_crash('joined');
done_testing();
