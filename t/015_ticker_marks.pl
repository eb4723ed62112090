# The sequence of a ticker is set with setval() or altered, its owner has no rights
# on it, and the ticker is raised: values are greater than all before, and a value
# of the sequence that must not count is an error.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;
use TickerStory;

my $node = new_server('first', 0);

# The role that installs the extension is not a superuser.
ask('CREATE ROLE owner LOGIN; CREATE DATABASE dumped OWNER owner');
my $as_owner = [ '--username', 'owner' ];
$node->safe_psql('dumped', 'CREATE EXTENSION idgen', extra_params => $as_owner);

# --- setval() ---------------------------------------------------------------

# Statements of the owner, or of a superuser where they alter a sequence, for each
# function, TICKER being its sequence
sub owner_runs
{
	my ($statement, @tickers) = @_;

	$node->safe_psql('dumped', join('; ', map { $statement =~ s/TICKER/idgen.${_}_ticker/gr } @tickers),
		extra_params => $statement =~ /^ALTER/ ? [] : $as_owner);
}

# The error of a function that must not wait
sub refusal
{
	my ($function) = @_;
	my $error = errors("SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; SELECT idgen.$function()", database => 'dumped');

	return $error =~ /ERROR:  (.*)/ ? $1 : 'none';
}

# The tickers' values at a Unix second
sub values_at { my ($s) = @_; return (trace_id => $s << 22, js_id => $s << 16, map { $_ => $s * 1000 << 12 } qw(snowflake uuid_v7_ordered)) }

# The owner sets the tickers to half an hour ahead, for identifiers from elsewhere.
my $session = $node->background_psql('dumped');
begin_story('a session before setval()', background_make($session));
my $later = $node->safe_psql('dumped', q{SELECT extract(epoch FROM now() + interval '30 minutes')::bigint});
my %word_of = (values_at($later), decimal_id => 900_000_000);
owner_runs("SELECT setval('TICKER', $word_of{$_})", $_) for @functions;
my $new = make('dumped');
check_continues('a new session after it', $new);
is( $node->safe_psql('dumped',
		"SELECT count(*) FROM idgen.tickers, (VALUES "
		  . join(', ', map { "('$_', $word_of{$_})" } @functions)
		  . ') v (function, word) WHERE function = layout AND last_value >= word AND reserved_value > last_value'),
	'5', 'its values are above those that the owner set');
check_continues('the old session after it', background_make($session));

# setting it to a smaller value has no effect while the server runs
owner_runs("SELECT setval('TICKER', 1)", @functions);
check_continues('set to a smaller value, a new session', make('dumped'));
check_continues('set to a smaller value, the old session', background_make($session));
for my $least (0, -5)
{
	owner_runs("ALTER SEQUENCE TICKER MINVALUE $least RESTART $least", @functions);
	check_continues("restarted at $least, a new session", make('dumped'));
	check_continues("restarted at $least, the old session", background_make($session));
}

# A high-water mark out of range is an error until it is corrected. (trace_id and
# js_id have the range of bigint.)
my @longer = ('trace_id', 'js_id');
my @shorter = grep { $_ !~ /^(trace|js)_id$/ } @functions;
my $greatest_bigint = '9223372036854775807';
owner_runs("SELECT setval('TICKER', $greatest_bigint)", @shorter);
is(refusal($_), "55000: value of sequence \"idgen.${_}_ticker\" is out of range for $_()", "$_() rejects a high-water mark out of range") for @shorter;
owner_runs("SELECT setval('TICKER', 1)", @shorter);
check_continues('corrected, a new session', make('dumped'));
check_continues('corrected, the old session', background_make($session));

# A high-water mark that a crash would lose
owner_runs('ALTER SEQUENCE TICKER SET UNLOGGED', @functions);
is(refusal($_), "55000: sequence \"idgen.${_}_ticker\" is not logged", "$_() rejects an unlogged sequence") for @functions;
owner_runs('ALTER SEQUENCE TICKER SET LOGGED', @functions);
check_continues('logged again, a new session', make('dumped'));
check_continues('logged again, the old session', background_make($session));
crash_and_set_back($session);
check_continues('after a crash', make('dumped'));
right_clock();

# A value far ahead of the clock is an error while the server knows that the ticker
# did not write it; then RESTART makes it write its own again. (decimal_id() has no
# clock, and continues from any greater value.)
my $far = $node->safe_psql('dumped', q{SELECT extract(epoch FROM now() + interval '1 year')::bigint});
my %far = values_at($far);
$session = $node->background_psql('dumped');
check_continues('a session before that', background_make($session));
for my $function (sort keys %far)
{
	for my $value ($far{$function}, $function =~ /^(trace|js)_id$/ ? $greatest_bigint : ())
	{
		owner_runs("SELECT setval('TICKER', $value)", $function);
		is(refusal($function), "55000: value of sequence \"idgen.${function}_ticker\" is too far ahead of the clock", "$function() does not continue from $value");
	}
	like(errors("BEGIN; ALTER SEQUENCE idgen.${function}_ticker CACHE 2; SELECT setval('idgen.${function}_ticker', $far{$function}), idgen.$function()",
			database => 'dumped'), qr/is too far ahead/, "$function() does not continue from it in the transaction that sets it");
}
is( $node->safe_psql('dumped', q{SELECT count(*) FROM idgen.tickers WHERE ahead > '1 day'}),
	0, 'no ticker was raised by that');
owner_runs('ALTER SEQUENCE TICKER RESTART', keys %far);
check_continues('restarted, a new session', make('dumped'));
check_continues('restarted, the old session', background_make($session));
crash_and_set_back($session);
check_continues('after a crash', make('dumped'));
right_clock();

# After a restart, the server does not know who wrote the value: the ticker starts
# there.
owner_runs("SELECT setval('TICKER', $greatest_bigint)", @longer);
$node->safe_psql('dumped', 'SELECT idgen.raise_decimal_id(9223372029999900000)');
$node->stop;
start_with_clock($node, 0);
is(refusal($_), "2200H: $_() reached its maximum value", "$_() at its end, after a restart") for @longer, 'decimal_id';

# --- An owner without rights -------------------------------------------------

new_database('deprived');
$node->safe_psql('deprived', join('; ', map { "ALTER SEQUENCE idgen.${_}_ticker OWNER TO owner; GRANT USAGE ON SCHEMA idgen TO owner" } @functions));
begin_story('an owner', make('deprived'));
$node->safe_psql('deprived', join('; ', map { "REVOKE ALL ON SEQUENCE idgen.${_}_ticker FROM owner" } @functions));
check_continues('without rights on the sequences', make('deprived', 100));
crash_and_set_back();
check_continues('after a crash', make('deprived', 100));
right_clock();

# --- raise_ticker() and raise_decimal_id() -----------------------------------

# A table has identifiers from another source, greater than those of this database
# and less than its reservation. A session that uses the reservation continues
# above them, too, and no value is repeated after a crash.
sub counter_of { my ($row) = @_; return int((split /\|/, $row)[3] / 10_000_000_000) }

new_database('joined');
$session = $node->background_psql('joined');
begin_story('a session', background_make($session, 10));
my ($reserved, $foreign) = split /\|/, $node->safe_psql('joined',
	q{SELECT reserved_value, last_value + 1000 FROM idgen.ticker_state('decimal_id')});
cmp_ok($foreign, '<', $reserved, 'the foreign identifiers are below the high-water mark');
$node->safe_psql('joined', "SELECT idgen.raise_decimal_id($foreign * 10000000000)");
my $values = background_make($session, 20_000);
check_continues('the same session after raise_decimal_id()', $values);
cmp_ok(counter_of((split /\n/, $values)[0]), '>', $foreign, 'the values are greater than the foreign identifiers');
crash_and_set_back($session);
check_continues('after a crash, the clock behind', make('joined', 20_000));
right_clock();

# raise_decimal_id() in a transaction that is rolled back, in a new session
$foreign += 10_000_000;
$node->safe_psql('joined', "BEGIN; SELECT idgen.raise_decimal_id($foreign * 10000000000); ROLLBACK");
$node->stop('immediate');
start_with_clock($node, 0);
$values = make('joined');
check_continues('raise_decimal_id() rolled back, then a crash', $values);
cmp_ok(counter_of($values), '>', $foreign, 'the values are greater than the argument of raise_decimal_id()');

# A ticker with a clock is raised by half an hour.
my $raised = $node->safe_psql('joined', q{
	SELECT idgen.raise_ticker(layout, now() + interval '30 minutes')
	FROM unnest(ARRAY['snowflake', 'trace_id', 'js_id', 'uuid_v7_ordered']) layout;
	SELECT count(*) FROM idgen.tickers WHERE last_time > now() + interval '29 minutes' AND reserved_until > last_time});
like($raised, qr/^4$/m, 'the tickers are ahead, and their sequences are further ahead');
check_continues('raised by half an hour', make('joined', 100));
$node->stop('immediate');
start_with_clock($node, -3600);
check_continues('after a crash, the clock behind', make('joined', 100));

done_testing();
