# The extension is dropped and created, the server crashes, its clock is wrong, a database is copied, dumped and
# restored: in each story, the functions on a ticker return values that are greater than all before, so that none is
# repeated.

use IPC::Run;
use Server;
use TickerStory;

my $node = new_server('first', 0);
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $session;

# A story: the values of two sessions in a new database are greater than all before after each step, which is the number of the
# session, a name and a query, where FIVE fetches values and is the default, and its result; and in the end, after a crash.
sub story
{
	my ($database, $options, @steps) = @_;
	add_database($database);
	my @sessions = map { session(database => $database, options => $options) } 1 .. 2;
	begin_story("two sessions in $database", join("\n", map { make($_) } @sessions));
	my $values = values_query(100);
	for (@steps)
	{
		my ($number, $name, $sql, $result) = @$_;
		my $answer = $sessions[ $number - 1 ]->ask(($sql // 'FIVE') =~ s/FIVE/$values/gr);
		check_continues($name, $answer) if ($sql // 'FIVE') =~ /FIVE/;
		is($answer, $result, $name) if defined $result;
	}
	$_->quit for @sessions;
	check_crash($database);
}

# --- The extension is dropped and created ------------------------------------
my $anew = 'DROP EXTENSION idgen; CREATE EXTENSION idgen';
add_database('shop');
$session = session(database => 'shop');
$session->ask('PREPARE five AS ' . values_query());
begin_story('a session', make($session, 100));
check_continues('its prepared statement', $session->ask('EXECUTE five'));
ask('DROP EXTENSION idgen', 'shop');
like($session->ask('SELECT idgen.snowflake()'), qr/^(3F000|42883)$/, 'without the extension, the session gets no values');
ask('CREATE EXTENSION idgen', 'shop');
check_continues('the session, with the new extension', make($session, 100));
check_continues('its prepared statement, too', $session->ask('EXECUTE five'));
check_continues('another session', make('shop', 100));
# the new sequence contained nothing before the last call
ask($anew, 'shop');
check_continues('once more', make($session, 100));
check_crash('shop');
check_continues('the clock right again', make('shop', 100));
# without this call, only shared memory has the high-water mark
ask('DROP EXTENSION idgen', 'shop');
check_continues('created and used in one transaction', ask('BEGIN; CREATE EXTENSION idgen; ' . values_query(100) . '; COMMIT', 'shop'));
check_crash('shop');

# --- The same in a transaction that is rolled back ---------------------------
story('undecided', undef,
	[ 1, 'dropped, in a transaction that is rolled back', 'BEGIN; DROP EXTENSION idgen; ROLLBACK; FIVE' ],
	[ 2, 'the other session' ],
	[ 1, 'dropped and created', "BEGIN; $anew; FIVE" ],
	[ 1, '', 'ROLLBACK' ],
	[ 1, 'and that rolled back' ],
	[ 2, 'the other session' ],
	[ 1, 'dropped and created behind a savepoint', "BEGIN; SAVEPOINT s; $anew; FIVE; ROLLBACK TO s; FIVE; COMMIT" ],
	[ 2, 'the other session' ],
	[ 1, '', 'DROP EXTENSION idgen' ],
	[ 1, 'created', 'BEGIN; CREATE EXTENSION idgen; FIVE' ],
	[ 1, '', 'ROLLBACK' ],
	[ 1, '', 'CREATE EXTENSION idgen' ],
	[ 1, 'rolled back, and created again' ],
	[ 2, 'the other session' ]);

# A high-water mark written to a sequence that is rolled back does not count for the
# old sequence, and the other session has no reason to read the old one again.
story('regretted', '-c idgen.reserve_ahead=2',
	[ 1, 'dropped, created and much used', "BEGIN; $anew; $many; FIVE" ],
	[ 1, '', 'ROLLBACK' ],
	[ 2, 'that rolled back, the other session' ]);

# So does that of a sequence with a greater one, which a rename put in its place.
my ($spare, $renames) = map { my $sql = $_; join('; ', map { $sql =~ s/KIND/$_/gr } @functions) }
  "CREATE SEQUENCE idgen.KIND_spare; SELECT setval('idgen.KIND_spare', last_value + 50000000) FROM idgen.KIND_ticker",
  'ALTER SEQUENCE idgen.KIND_ticker RENAME TO KIND_old; ALTER SEQUENCE idgen.KIND_spare RENAME TO KIND_ticker';
my @renamed = (
	[ 2, '', $spare ],
	[ 1, 'renamed', "BEGIN; $renames; FIVE" ],
	[ 1, '', 'ROLLBACK' ],
	[ 2, 'that rolled back, the other session' ],
	[ 1, 'renamed behind a savepoint', "BEGIN; SAVEPOINT s; $renames; FIVE" ],
	[ 1, '', 'ROLLBACK TO s; COMMIT' ],
	[ 2, 'that rolled back, the other session' ]);
story('renamed', undef, @renamed);
story('renamed_for_good', undef, @renamed, [ 1, 'renamed', "BEGIN; $renames; FIVE" ], [ 1, 'that committed', 'COMMIT; FIVE' ]);

# GRANT on a sequence does not change its high-water mark for any session: neither
# the granting transaction nor other sessions skip values.
my $skipped = q{SELECT string_agg(ticker, ' ') FROM idgen.tickers
	WHERE ahead > '0.5 s' OR ticker = 'decimal_id' AND last_value <> 2 + 10 * 100};
story('granted', undef,
	[ 1, '', 'BEGIN; GRANT SELECT ON ALL SEQUENCES IN SCHEMA idgen TO PUBLIC' ],
	([ 1, 'the one that grants rights' ], [ 2, 'the other session' ]) x 5,
	[ 1, 'no ticker skipped values', $skipped, '' ],
	[ 1, '', 'ROLLBACK' ],
	[ 2, 'that rolled back, the other session' ]);

# --- nextval() --------------------------------------------------------------
# nextval(), which is not useful on these sequences, changes them without WAL for
# 32 values. The high-water mark after that is the same after a crash.
my $all_marks = on_tickers('SELECT last_value FROM TICKER');
for my $calls (1, 32, 33, 65)
{
	my $database = "taken_$calls";
	add_database($database);
	make($database);
	# far above, and not a multiple of 256
	ask('CHECKPOINT; ' . on_tickers(q{SELECT setval('TICKER', last_value + 222) FROM TICKER}), $database);
	begin_story("$calls times nextval()", make($database));
	ask(on_tickers("SELECT max(nextval('TICKER')) FROM generate_series(1, $calls)"), $database);
	check_continues('after it', make($database));
	my $marks_before = ask($all_marks, $database);
	$node->stop('immediate');
	start_with_clock($node, 0);
	is(ask($all_marks, $database), $marks_before, "$calls times nextval(), a crash: the high-water marks are the same");
	check_continues('the values after that', make($database));
}

# --- A copy of a database ---------------------------------------------------
add_database('model');
begin_story('a database', ask("$many; " . values_query(100), 'model'));
ask('CREATE DATABASE copy TEMPLATE model; CREATE DATABASE later TEMPLATE model');
my $from_model = $greatest;
check_continues('its copy', make('copy', 100));

$node->stop;
start_with_clock($node, -3600);
$greatest = $from_model;
check_continues('a copy that is used only when the clock is behind', make('later', 100));
$greatest = $from_model;
check_continues('as is the database itself', make('model', 100));
set_clock($node, 0);

# --- Dump and restore --------------------------------------------------------
# The owner is not a superuser.
ask('CREATE ROLE owner LOGIN; CREATE DATABASE dumped OWNER owner');
ask('GRANT ALL ON SCHEMA public TO owner; SET SESSION AUTHORIZATION owner;
	CREATE EXTENSION idgen; CREATE TABLE public.goods (id bigint DEFAULT idgen.snowflake())', 'dumped');
begin_story('a database to be dumped', ask("$many; " . values_query(100), 'dumped'));
my $from_dumped = $greatest;

my $second = new_server('second', -3600);
$second->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
$node->command_ok([ 'pg_dump', '--username=owner', '--format=custom', "--file=$scratch/custom", $node->connstr('dumped') ],
	'the owner can dump');
$second->safe_psql('postgres', 'CREATE DATABASE restored OWNER owner');
$second->command_ok([ 'pg_restore', '--exit-on-error', '--no-owner', '--no-privileges', '--username=owner',
		'--dbname', $second->connstr('restored'), "$scratch/custom" ], 'the owner can restore');
$greatest = $from_dumped;
check_continues('on a server whose clock is behind', $second->safe_psql('restored', values_query(100)));
is($second->safe_psql('restored', 'SELECT clock_timestamp() < idgen.snowflake_timestamp(idgen.snowflake())'),
	't', 'the clock of that server is behind');
$second->stop;

# Only the data are restored, into a database in use: setval() lowers the marks, and the
# next call, also of a session that has reserved values, writes the greater ones again.
$session = session(database => 'dumped');
$greatest = $from_dumped;
ask(q{SELECT idgen.raise_decimal_id(90000000000000000);
	SELECT idgen.raise_ticker(ticker, clock_timestamp() + interval '2 minutes') FROM idgen.tickers WHERE ticker <> 'decimal_id'}, 'dumped');
check_continues('the database itself', ask("$many; " . values_query(100), 'dumped'));
check_continues('a session with reserved values', make($session, 100));
$node->command_ok([ 'pg_restore', '--data-only', '--exit-on-error', '--dbname', $node->connstr('dumped'), "$scratch/custom" ],
	'the data are restored');
is(ask('SELECT count(*) FROM idgen.tickers WHERE reserved_value <= last_value', 'dumped'), '5', 'the marks are lower than before');
check_continues('after that, the session', make($session));
is(ask('SELECT count(*) FROM idgen.tickers WHERE reserved_value > last_value', 'dumped'), '5', 'and the marks are above its values');
check_crash('dumped');
$from_dumped = $greatest;

# Restore over the same database, while sessions are working, as a superuser, who
# can drop the schema, too. Their values go to a table that is not in the dump.
ask(q{
	CREATE TABLE kept (session int DEFAULT pg_backend_pid(), place bigint GENERATED ALWAYS AS IDENTITY,
		snowflake bigint, trace_id bigint, js_id bigint, decimal_id bigint, uuid_v7_ordered uuid);
	GRANT ALL ON kept TO PUBLIC}, 'dumped');
append_to_file("$scratch/keep.sql", 'DO $$ BEGIN INSERT INTO kept (' . join(', ', @functions)
	  . ") SELECT $five FROM generate_series(1, 20); EXCEPTION WHEN OTHERS THEN END \$\$;");
my $workers = IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--rate=200', '--time=1000000',
		"--file=$scratch/keep.sql", $node->connstr('dumped') ], '>&', '/dev/null');

sub wait_for_more
{
	my $place = ask('SELECT coalesce(max(place), 0) + 100 FROM kept', 'dumped');
	$node->poll_query_until('dumped', "SELECT max(place) > $place FROM kept") or die 'no work';
}

wait_for_more();
for (1 .. 2)
{
	$node->command_ok(
		[ 'pg_restore', '--clean', '--exit-on-error', '--dbname', $node->connstr('dumped'), "$scratch/custom" ],
		"the database is restored while sessions are working");
	wait_for_more();
}
ok($workers->pumpable, 'the sessions worked until the end');
$workers->signal('TERM');
$workers->finish;
is(ask("SELECT count(*) - count(DISTINCT $_), count(*) FILTER (WHERE $_ <= last)
		 FROM (SELECT $_, lag($_) OVER (PARTITION BY session ORDER BY place) AS last FROM kept) k", 'dumped'),
	'0|0', "$_: no value was repeated, and the values of each session increase") for @functions;
$greatest = $from_dumped;
check_continues('the values after that', make('dumped', 100));
done_testing();
