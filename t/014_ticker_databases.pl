# The extension is dropped and created, the server crashes, its clock is wrong, a
# database is copied, dumped and restored: in each story, the functions on a
# ticker return values that are greater than all before, so that none is
# repeated.

use FindBin;
use lib "$FindBin::RealBin/lib";
use IPC::Run;
use Server;
use TickerStory;

my $node = new_server('first', 0);
my $scratch = PostgreSQL::Test::Utils::tempdir();

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
ask('ALTER DATABASE regretted SET idgen.reserve_ahead = 2');
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
set_clock($node, 7);
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
	start_with_clock($node, 0);
	is($node->safe_psql("taken_$calls", $all_marks), $marks_before, "after $calls calls of nextval() and a crash, the high-water marks are the same");
	check_continues('the values after that', make("taken_$calls"));
}

# --- A copy of a database ---------------------------------------------------

new_database('model');
begin_story('a database', make_many('model'));
ask('CREATE DATABASE copy TEMPLATE model');
my $from_model = $greatest;
check_continues('its copy', make('copy', 100));

$greatest = $from_model;
ask('CREATE DATABASE later TEMPLATE model');
$node->stop;
start_with_clock($node, -3600);
check_continues('a copy that is used only when the clock is behind', make('later', 100));
$greatest = $from_model;
check_continues('as is the database itself', make('model', 100));
right_clock();

# --- Dump and restore --------------------------------------------------------

# The owner is not a superuser.
ask('CREATE ROLE owner LOGIN; CREATE DATABASE dumped OWNER owner; GRANT ALL ON SCHEMA public TO owner');
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

my $second = new_server('second', -3600);
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

done_testing();
