# The extension is dropped and created, the server crashes, its clock is wrong, a
# database is copied, dumped and restored: in each story, the functions on a
# ticker return values that are greater than all before, so that none is
# repeated.
#
# libfaketime gives each server a clock that this test sets through a file.
# Skipped where it is not installed (Debian, Ubuntu: the package faketime).

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use HandedOut;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($libfaketime) = glob('/usr/lib/*/faketime/libfaketime.so.1'
	  . ' /usr/lib*/faketime/libfaketime.so.1');
plan skip_all => 'libfaketime is not installed' unless $libfaketime;

my @functions = qw(snowflake trace_id js_id decimal_id uuid_v7_ordered);
my $five = join(', ', map { "idgen.$_()" } @functions);
my $scratch = PostgreSQL::Test::Utils::tempdir();

# Set the clock of a server, as an offset to the real one
sub set_clock
{
	my ($node, $clock) = @_;
	my $file = "$scratch/" . $node->name;

	append_to_file("$file.new", "$clock\n");
	rename "$file.new", $file or die "rename: $!";
}

sub start_with_clock
{
	my ($node, $clock) = @_;
	local %ENV = (
		%ENV,
		LD_PRELOAD => $libfaketime,
		FAKETIME_TIMESTAMP_FILE => "$scratch/" . $node->name,
		FAKETIME_NO_CACHE => 1,
		FAKETIME_DONT_FAKE_MONOTONIC => 1);

	set_clock($node, $clock);
	$node->start;
}

sub new_server
{
	my ($name, $clock) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', q{
log_statement = none
max_connections = 60
# recovery compares each page that it restores with the original
wal_consistency_checking = 'generic, sequence'
idgen.node_id = 7
idgen.launch_id = 42
});
	start_with_clock($node, $clock);
	return $node;
}

my $node = new_server('first', '+0');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');

# --- The values of a story --------------------------------------------------

# The values of a session, one of each function or the given number, in the order
# of calls; or the first and the last one if they increase. Numbers are padded with
# zeros so that text sorts as the values do.
my $padded = join(', ', map { $_ eq 'uuid_v7_ordered' ? "idgen.$_()::text" : "lpad(idgen.$_()::text, 19, '0')" } @functions);

sub values_query
{
	my ($count) = @_;

	return "SELECT $padded FROM generate_series(1, " . ($count || 1) . ')';
}

my $greatest;

# Begin a story with the first values of a session
sub begin_story
{
	my ($name, @rows) = @_;

	note "--- $name";
	$greatest = undef;
	check_continues($name, @rows);
}

# Check that rows of five values are greater than all values of the story so far.
sub check_continues
{
	my ($name, $output) = @_;
	my @falls;
	my $rows = 0;

	for my $row (split /\n/, $output)
	{
		next unless $row =~ /\|/;
		my @value = split /\|/, $row;
		$rows++;
		for my $i (0 .. $#functions)
		{
			push @falls, "$functions[$i]: $value[$i] after $greatest->[$i]"
			  if $greatest && HandedOut::number($functions[$i], $value[$i]) <= HandedOut::number($functions[$i], $greatest->[$i]);
		}
		$greatest = \@value;
	}
	cmp_ok($rows, '>', 0, "$name: values were returned");
	is(join("\n", @falls[ 0 .. ($#falls < 4 ? $#falls : 4) ]), '', "$name: values are greater than all before");
}

sub make
{
	my ($database, $count, $server) = @_;

	return ($server || $node)->safe_psql($database, values_query($count));
}

# Many values with small reservations, so that each high-water mark was moved
my $many = 'SET idgen.reserve_ahead = 2; SELECT count(idgen.js_id()) FROM generate_series(1, 150000)';

sub make_many
{
	my ($database) = @_;

	return $node->safe_psql($database, "$many; " . values_query(100));
}

sub background_make
{
	my ($session, $count) = @_;
	my $rows = $session->query_safe(values_query($count));

	return $rows;
}

# Crash the server and restart it with its clock an hour behind.
sub crash_and_set_back
{
	my (@sessions) = @_;

	$node->stop('immediate');
	$_->{run}->finish for @sessions;
	start_with_clock($node, '-1h');
}

sub right_clock
{
	set_clock($node, '+0');
}

sub new_database
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION idgen');
}

# --- The extension is dropped and created ------------------------------------

new_database('shop');
my $session = $node->background_psql('shop', on_error_stop => 0);
$session->query_safe("PREPARE five AS " . values_query());
begin_story('a session', background_make($session, 100));
check_continues('its prepared statement', $session->query_safe('EXECUTE five'));

$node->safe_psql('shop', 'DROP EXTENSION idgen');
my ($rows, $failed) = $session->query('SELECT idgen.snowflake()');
like($session->{stderr}, qr/ERROR: /, 'without the extension, the session gets no values');
$session->{stderr} = '';

$node->safe_psql('shop', 'CREATE EXTENSION idgen');
check_continues('the session, with the new extension', background_make($session, 100));
check_continues('its prepared statement, too', $session->query_safe('EXECUTE five'));
check_continues('another session', make('shop', 100));

$node->safe_psql('shop', 'DROP EXTENSION idgen; CREATE EXTENSION idgen');
check_continues('once more', background_make($session, 100));

# The new sequence contained nothing before the last call.
crash_and_set_back($session);
check_continues('after a crash, the clock behind', make('shop', 100));
right_clock();
check_continues('the clock right again', make('shop', 100));

# without this call, only shared memory has the high-water mark
$node->safe_psql('shop', 'DROP EXTENSION idgen');
check_continues('created and used in one transaction',
	$node->safe_psql('shop', 'BEGIN; CREATE EXTENSION idgen; ' . values_query(100) . '; COMMIT'));
crash_and_set_back();
check_continues('after a crash, the clock behind', make('shop', 100));
right_clock();

# --- The same in a transaction that is rolled back ---------------------------

new_database('undecided');
$session = $node->background_psql('undecided');
my $other = $node->background_psql('undecided');
begin_story('two sessions', background_make($session) . "\n" . background_make($other));

check_continues('dropped, in a transaction that is rolled back',
	$session->query_safe('BEGIN; DROP EXTENSION idgen; ROLLBACK; ' . values_query(100)));
check_continues('the other session', background_make($other, 100));
check_continues('dropped and created',
	$session->query_safe('BEGIN; DROP EXTENSION idgen; CREATE EXTENSION idgen; ' . values_query(100)));
$session->query_safe('ROLLBACK');
check_continues('and that rolled back', background_make($session));
check_continues('the other session', background_make($other));
check_continues('dropped and created behind a savepoint',
	$session->query_safe('BEGIN; SAVEPOINT s; DROP EXTENSION idgen; CREATE EXTENSION idgen; '
		  . values_query(100) . '; ROLLBACK TO s; ' . values_query(100) . '; COMMIT'));
check_continues('the other session', background_make($other));

$session->query_safe('DROP EXTENSION idgen');
check_continues('created', $session->query_safe('BEGIN; CREATE EXTENSION idgen; ' . values_query(100) . '; ROLLBACK'));
check_continues('rolled back, and created again', $session->query_safe('CREATE EXTENSION idgen; ' . values_query(100)));
check_continues('the other session', background_make($other, 100));
crash_and_set_back($session, $other);
check_continues('after a crash, the clock behind', make('undecided', 100));
right_clock();

# A high-water mark written to a sequence that is rolled back does not count for the
# old sequence, and the other session has no reason to read the old one again.
new_database('regretted');
$node->safe_psql('postgres', 'ALTER DATABASE regretted SET idgen.reserve_ahead = 2');
$session = $node->background_psql('regretted');
$other = $node->background_psql('regretted');
begin_story('two sessions', background_make($session) . "\n" . background_make($other));
check_continues('dropped, created and much used',
	$session->query_safe("BEGIN; DROP EXTENSION idgen; CREATE EXTENSION idgen; $many; " . values_query(100)));
$session->query_safe('ROLLBACK');
check_continues('that rolled back, the other session', background_make($other));
crash_and_set_back($session, $other);
check_continues('after a crash, the clock behind', make('regretted', 100));
right_clock();

# GRANT on a sequence does not change its high-water mark for any session: neither
# the granting transaction nor other sessions skip values.
new_database('granted');
$session = $node->background_psql('granted');
$other = $node->background_psql('granted');
begin_story('two sessions', background_make($session) . "\n" . background_make($other));
$session->query_safe('BEGIN; GRANT SELECT ON ALL SEQUENCES IN SCHEMA idgen TO PUBLIC');
for (1 .. 5)
{
	check_continues('the one that grants rights', background_make($session));
	check_continues('the other session', background_make($other));
}
is( $session->query_safe(q{SELECT string_agg(layout, ' ') FROM idgen.tickers WHERE ahead > '0.5 s'}),
	'', 'GRANT does not put a ticker ahead of the clock');
$session->query_safe('ROLLBACK');
check_continues('that rolled back, the other session', background_make($other));
crash_and_set_back($session, $other);
check_continues('after a crash, the clock behind', make('granted', 100));
right_clock();

# --- A high-water mark that moves -------------------------------------------

# It moves long before it is reached, and no values are skipped: the new values
# contain the time of the clock.
new_database('punctual');
begin_story('before the high-water mark moves', make('punctual'));
my $marks_of = q{SELECT string_agg(reserved_value::text, ' ' ORDER BY layout) FROM idgen.tickers WHERE layout <> 'decimal_id'};
my $marks_before = $node->safe_psql('punctual', $marks_of);
set_clock($node, '+7');
check_continues('and after', make('punctual'));
isnt($node->safe_psql('punctual', $marks_of), $marks_before, 'the high-water marks moved');
is( $node->safe_psql('punctual', q{SELECT string_agg(layout, ' ') FROM idgen.tickers WHERE ahead > '0.5 s'}),
	'', 'no ticker is ahead of the clock because of it');
right_clock();

# nextval(), which is not useful on these sequences, changes them without WAL for
# 32 values. The high-water mark after that is the same after a crash.
for my $calls (1, 32, 33, 65)
{
	new_database("taken_$calls");
	my $all_marks = join(' UNION ALL ', map { "SELECT last_value FROM idgen.${_}_ticker" } @functions);
	make("taken_$calls");
	$node->safe_psql("taken_$calls", 'CHECKPOINT');
	# far above, and not a multiple of 256
	$node->safe_psql("taken_$calls", join('; ', map { "SELECT setval('idgen.${_}_ticker', last_value + 222) FROM idgen.${_}_ticker" } @functions));
	begin_story("$calls times nextval()", make("taken_$calls"));
	$node->safe_psql("taken_$calls",
		join('; ', map { "SELECT max(nextval('idgen.${_}_ticker')) FROM generate_series(1, $calls)" } @functions));
	check_continues('after it', make("taken_$calls"));
	$marks_before = $node->safe_psql("taken_$calls", $all_marks);
	$node->stop('immediate');
	start_with_clock($node, '+0');
	is($node->safe_psql("taken_$calls", $all_marks), $marks_before, "after $calls calls of nextval() and a crash, the high-water marks are the same");
	check_continues('the values after that', make("taken_$calls"));
}

# --- A copy of a database ---------------------------------------------------

new_database('model');
begin_story('a database', make_many('model'));
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE model');
my $from_model = $greatest;
check_continues('its copy', make('copy', 100));

$greatest = $from_model;
$node->safe_psql('postgres', 'CREATE DATABASE later TEMPLATE model');
$node->stop;
start_with_clock($node, '-1h');
check_continues('a copy that is used only when the clock is behind', make('later', 100));
$greatest = $from_model;
check_continues('as is the database itself', make('model', 100));
right_clock();

# --- Dump and restore --------------------------------------------------------

# The owner is not a superuser.
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE DATABASE dumped OWNER owner; GRANT ALL ON SCHEMA public TO owner');
$node->safe_psql('dumped', 'GRANT ALL ON SCHEMA public TO owner');
my $as_owner = [ '--username', 'owner' ];
$node->safe_psql('dumped', 'CREATE EXTENSION idgen; CREATE TABLE public.goods (id bigint DEFAULT idgen.snowflake())',
	extra_params => $as_owner);
begin_story('a database to be dumped', make_many('dumped'));
my $from_dumped = $greatest;

my @without_superuser = ('--no-owner', '--no-privileges');
for my $format ('plain', 'custom')
{
	$node->command_ok(
		[ 'pg_dump', @$as_owner, ($format eq 'plain' ? @without_superuser : ()), "--format=$format", '--file', "$scratch/$format", $node->connstr('dumped') ],
		"$format: the owner can dump");
}
my @marks = slurp_file("$scratch/plain") =~ /setval\('idgen\.(\w+)_ticker', \d{2,}, true\)/g;
is(join(' ', sort @marks), join(' ', sort @functions), 'the dump has the high-water marks');

my $second = new_server('second', '-1h');
$second->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
for my $format ('plain', 'custom')
{
	# this server has other databases that use the tickers
	$second->safe_psql('postgres', "CREATE DATABASE $format OWNER owner");
	$second->command_ok(
		$format eq 'plain'
		? [ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--output=/dev/null', @$as_owner, '--file', "$scratch/plain", $second->connstr('plain') ]
		: [ 'pg_restore', '--exit-on-error', @without_superuser, @$as_owner, '--dbname', $second->connstr('custom'), "$scratch/custom" ],
		"$format: the owner can restore");
	$greatest = $from_dumped;
	check_continues("$format: restored on a server whose clock is behind", make($format, 100, $second));
}
is( $second->safe_psql('custom', 'SELECT clock_timestamp() < idgen.snowflake_timestamp(idgen.snowflake())'),
	't', 'the clock of that server is behind');
$second->stop;

# Restore over the same database, while sessions are working, as a superuser, who
# can drop the schema, too. Their values go to a table that is not in the dump.
$node->safe_psql(
	'dumped', q{
	CREATE TABLE kept (session int DEFAULT pg_backend_pid(), place bigint GENERATED ALWAYS AS IDENTITY,
		snowflake bigint, trace_id bigint, js_id bigint, decimal_id bigint, uuid_v7_ordered uuid);
	CREATE TABLE missed (place bigint GENERATED ALWAYS AS IDENTITY);
	GRANT ALL ON kept, missed TO PUBLIC});
append_to_file("$scratch/keep.sql", q{
	DO $$ BEGIN
		INSERT INTO kept (snowflake, trace_id, js_id, decimal_id, uuid_v7_ordered)
			SELECT idgen.snowflake(), idgen.trace_id(), idgen.js_id(), idgen.decimal_id(), idgen.uuid_v7_ordered()
			FROM generate_series(1, 20);
	EXCEPTION WHEN OTHERS THEN
		INSERT INTO missed DEFAULT VALUES;
	END $$;
});
my $workers = IPC::Run::start(
	[
		'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--rate=200',
		'--time=1000000', "--file=$scratch/keep.sql", $node->connstr('dumped')
	],
	'>', \my $workers_output, '2>', \my $workers_errors);

sub wait_for_more
{
	my ($table) = @_;
	my $place = $node->safe_psql('dumped', "SELECT coalesce(max(place), 0) + 100 FROM $table");

	$node->poll_query_until('dumped', "SELECT max(place) > $place FROM kept") or die "nothing comes to $table";
}

wait_for_more('kept');
for my $time (1 .. 2)
{
	$node->command_ok(
		[ 'pg_restore', '--clean', '--exit-on-error', '--dbname', $node->connstr('dumped'), "$scratch/custom" ],
		"the database is restored while sessions are working");
	wait_for_more('kept');
}
ok($workers->pumpable, 'the sessions worked until the end');
$workers->signal('TERM');
$workers->finish;
for my $function (@functions)
{
	is($node->safe_psql('dumped', "SELECT count(*) - count(DISTINCT $function) FROM kept"), '0', "$function: no value was repeated");
	is( $node->safe_psql('dumped',
			"SELECT count(*) FROM (SELECT $function <= lag($function) OVER (PARTITION BY session ORDER BY place) AS falls FROM kept) k WHERE falls"),
		'0', "$function: the values of each session increase");
}
$greatest = $from_dumped;
check_continues('the values after that', make('dumped', 100));

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
	my $error;

	$node->psql('dumped', "SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; SELECT idgen.$function()",
		stderr => \$error,
		extra_params => [ '--set=VERBOSITY=verbose' ]);
	return $error =~ /ERROR:  (.*)/ ? $1 : 'none';
}

# The owner sets the tickers to half an hour ahead, for identifiers from elsewhere.
$session = $node->background_psql('dumped');
begin_story('a session before setval()', background_make($session));
my $later = $node->safe_psql('dumped', q{SELECT extract(epoch FROM now() + interval '30 minutes')::bigint});
my %word_of = (
	snowflake => $later * 1000 << 12,
	trace_id => $later << 22,
	js_id => $later << 16,
	decimal_id => 900_000_000,
	uuid_v7_ordered => $later * 1000 << 12);
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

# The greatest high-water mark possible
owner_runs("SELECT setval('TICKER', $greatest_bigint)", @longer);
for my $when ('set to the end', 'after a restart')
{
	is(refusal($_), "2200H: $_() has handed out its last identifier", "$_(), $when") for @longer;
	$node->stop;
	start_with_clock($node, '+0');
}

# --- raise_ticker() ----------------------------------------------------------

# A table has identifiers from another source, greater than those of this database
# and less than its reservation. A session that uses the reservation continues
# above them, too, and no value is repeated after a crash.
new_database('joined');
$session = $node->background_psql('joined');
begin_story('a session', background_make($session, 10));
my ($reserved, $foreign) = split /\|/, $node->safe_psql('joined',
	q{SELECT reserved_value, last_value + 1000 FROM idgen.ticker_state('decimal_id')});
cmp_ok($foreign, '<', $reserved, 'the foreign identifiers are below the high-water mark');
$node->safe_psql('joined', "SELECT idgen.raise_ticker('decimal_id', $foreign)");
my $values = background_make($session, 20_000);
check_continues('the same session after raise_ticker()', $values);
cmp_ok(HandedOut::number('decimal_id', (split /\|/, (split /\n/, $values)[0])[3]), '>', $foreign, 'the values are greater than the foreign identifiers');
crash_and_set_back($session);
check_continues('after a crash, the clock behind', make('joined', 20_000));
right_clock();

# raise_ticker() in a transaction that is rolled back, in a new session
$foreign += 10_000_000;
$node->safe_psql('joined', "BEGIN; SELECT idgen.raise_ticker('decimal_id', $foreign); ROLLBACK");
$node->stop('immediate');
start_with_clock($node, '+0');
$values = make('joined');
check_continues('raise_ticker() rolled back, then a crash', $values);
cmp_ok(HandedOut::number('decimal_id', (split /\|/, $values)[3]), '>', $foreign, 'the values are greater than the argument of raise_ticker()');

# --- Many databases ---------------------------------------------------------

# Before version 17, shared memory has room for 128 tickers, those of 25 databases.
# A database without connections gives up its place to another, and continues from
# its high-water marks when it is used again.
SKIP:
{
	skip 'there is room for thousands', 9 if $version >= 170000;

	$node->safe_psql('postgres', "CREATE DATABASE shop_$_ TEMPLATE model") for 1 .. 30;
	begin_story('the first of 30 databases', make('shop_1'));
	$node->safe_psql("shop_$_", "SELECT $five") for 2 .. 29;
	my ($mark, $first) = split /\n/, $node->safe_psql('shop_30',
		q{SELECT coalesce(reserved_value, 1) FROM idgen.ticker_state('decimal_id'); SELECT counter FROM idgen.decimal_id_parts(idgen.decimal_id())});
	is($first, $mark, 'in the place of another database, a ticker begins with its own high-water mark');
	check_continues('the first database after 29 others', make('shop_1'));

	# 25 databases and 3 functions of another one, with sessions that stay connected
	my %session = map { $_ => $node->background_psql("shop_$_", on_error_stop => 0) } 1 .. 26;
	$session{$_}->query_safe("SELECT $five") for 1 .. 25;
	my $last = $session{26};
	$last->query_safe('SELECT idgen.decimal_id(), idgen.js_id(), idgen.snowflake()');
	$last->query('SELECT idgen.trace_id()');
	like($last->{stderr}, qr/ERROR:  too many databases .*\n.*The limit is 128.*\n.*shared_preload_libraries/,
		'too many databases at the same time are an error');
	$last->{stderr} = '';

	# A database is dropped. In one statement, the last session takes one of its
	# five places and then asks for another; meanwhile a new database with the same
	# OID uses the other four.
	my $oid = $node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'shop_1'});
	my $holder = $node->background_psql('shop_26');
	$holder->query_safe('SELECT pg_advisory_lock(1)');
	(delete $session{1})->quit;
	$node->safe_psql('postgres', 'DROP DATABASE shop_1');
	$last->query_until(qr/begins/,
		"\\echo begins\nSELECT 'made', idgen.trace_id(), pg_advisory_lock(1), idgen.uuid_v7_ordered();\n");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted})
	  or die 'the statement does not wait';
	$node->safe_psql('postgres', "CREATE DATABASE reborn TEMPLATE model OID $oid");
	my @reborn = map { $node->background_psql('reborn') } 1 .. 2;
	my @made = map { $reborn[0]->query_safe('SELECT idgen.decimal_id()') } 1 .. 3;
	$reborn[0]->query_safe('SELECT idgen.js_id(), idgen.trace_id()');
	$holder->query_safe('SELECT pg_advisory_unlock(1)');
	$last->query('\echo');
	like($last->{stderr}, qr/ERROR:  too many databases/, 'the places of a connected database are not reused');
	$last->{stderr} = '';
	push @made, map { $_->query_safe('SELECT idgen.decimal_id()') } (@reborn) x 3;
	is(join(' ', @made), join(' ', sort { $a <=> $b } @made), 'the sessions of that database share one ticker');
	$_->quit for values %session, $holder, @reborn;

	# 26 databases at the same time
	$node->stop;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	start_with_clock($node, '+0');
	my @sessions = map { $node->background_psql("shop_$_", on_error_stop => 0) } 2 .. 27;
	$_->query("SELECT $five") for @sessions;
	is(join('', map { $_->{stderr} } @sessions), '', 'loaded by the postmaster, the library has room for more');
	$_->quit for @sessions;
}

$node->stop;
done_testing();
