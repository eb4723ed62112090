# Verify that the functions that follow the clock return values greater than all previous ones, and that decimal_id()
# continues, in several scenarios: the extension is dropped and re-created, the server crashes, its clock is wrong, and
# a database with values far ahead of the clock is copied, or is dumped and restored, even into another database on the
# same server.

use FakeClock;
use Page;
use Server;
use Tickers;

FakeClock::skip_all_without();
my $clock = FakeClock->new('first');
my $conf = "$settings\nmax_prepared_transactions = 5\n";
my $node = init_server('first', $conf, allows_streaming => 'logical');
$clock->start($node);
my $scratch = PostgreSQL::Test::Utils::tempdir();

# Crash the server, and restart it with its clock an hour behind. Afterwards, correct the clock.
sub continues_after_crash
{
	my ($database) = @_;
	$node->stop('immediate');
	$clock->run_ahead_by(-3600);
	$clock->start($node);
	continues('after a crash, the clock behind', take($database, 100));
	$clock->run_ahead_by(0);
}

# Run the steps of a scenario in a new database. After each step, and after a crash at the end, the values of both
# sessions must be greater than all previous values. A step consists of a session number, a name if values are to be
# checked, and a query. The query is VALUES by default. In a query, VALUES stands for a query that fetches some values.
sub scenario
{
	my ($database, @steps) = @_;
	add_database($database);
	my @sessions = map { session(database => $database) } 1 .. 2;
	begin_scenario("two sessions in $database", join("\n", map { take($_) } @sessions));
	my $values = values_query(100);
	for (@steps)
	{
		my ($number, $name, $sql) = @$_;
		my $answer = $sessions[ $number - 1 ]->ask(($sql // 'VALUES') =~ s/VALUES/$values/gr);
		continues($name, $answer) if $name;
	}
	$_->quit for @sessions;
	continues_after_crash($database);
}

# --- DDL -----------------------------------------------------------------------
my $anew = 'DROP EXTENSION idgen; CREATE EXTENSION idgen';
my $restart = for_marks('ALTER SEQUENCE MARK RESTART');
scenario('shop',
	[ 1, '', 'PREPARE mine AS VALUES' ],
	[ 2, '', $anew ],
	[ 1, 'the extension created anew', 'EXECUTE mine; VALUES' ],
	[ 2, '', 'DROP EXTENSION idgen' ],
	[ 2, 'created and used in one transaction', 'BEGIN; CREATE EXTENSION idgen; VALUES; COMMIT' ],
	[ 1, 'the other session' ]);
scenario('undecided',
	[ 1, 'dropped, in a transaction that is rolled back', 'BEGIN; DROP EXTENSION idgen; ROLLBACK; VALUES' ],
	[ 2, 'the other session' ],
	[ 1, 'dropped and created', "BEGIN; $anew; VALUES" ],
	[ 1, '', 'ROLLBACK' ],
	[ 1, 'and that rolled back' ],
	[ 2, 'the other session' ],
	[ 1, 'dropped and created behind a savepoint', "BEGIN; SAVEPOINT s; $anew; VALUES; ROLLBACK TO s; VALUES; COMMIT" ],
	[ 2, 'the other session' ],
	[ 1, 'restarted behind a savepoint', "BEGIN; SAVEPOINT s; $restart; VALUES; ROLLBACK TO s; COMMIT; VALUES" ],
	[ 2, 'the other session' ]);

# After a rename, the greater mark of the replacement sequence must not be mistaken for the mark of the old sequence.
my $spares = for_marks("CREATE SEQUENCE MARK_2; SELECT setval('MARK_2', last_value + (60::bigint << 28)) FROM MARK");
my $renames = join('; ', for_marks('ALTER SEQUENCE MARK SET SCHEMA public'),
	map { "ALTER SEQUENCE idgen.${_}_mark_2 RENAME TO ${_}_mark" } @functions);
scenario('renamed',
	[ 2, '', $spares ],
	[ 1, 'renamed', "BEGIN; $renames; VALUES" ],
	[ 1, '', 'ROLLBACK' ],
	[ 2, 'that rolled back, the other session' ],
	[ 1, 'and the same one' ]);

# A prepared transaction has replaced the sequence. The other sessions wait for the transaction, and then return greater
# values.
add_database('prepared');
my @sessions = map { session(database => 'prepared') } 1 .. 2;
begin_scenario('before a prepared transaction', take($sessions[0], 100));
continues('in it', $sessions[0]->ask("BEGIN; $restart; " . values_query(100)));
$sessions[0]->ask("PREPARE TRANSACTION 'later'");
is($sessions[1]->ask_within(q{lock_timeout = '50ms'}, values_query()), '55P03', 'a new session waits for it');
ask("COMMIT PREPARED 'later'", 'prepared');
continues('committed', take($_)) for @sessions;
continues_after_crash('prepared');

# nextval() is not intended for these sequences. It advances them by up to 32 values without writing WAL.
my $next = for_marks("SELECT max(nextval('MARK')) FROM generate_series(1, 33)");
scenario('taken', ([ 1, 'after nextval()', "$next; VALUES" ], [ 2, 'the other session' ]) x 2);

# --- A copy of a database ---------------------------------------------------
# Databases whose OIDs are equal modulo 64 share a counter.
add_database('model');
set_marks(36_000, 'model');
begin_scenario('a database ten hours ahead of the clock', take('model', 1000));
my $oid = ask(q{SELECT oid FROM pg_database WHERE datname = 'model'});
ask("CREATE DATABASE copy_$_ TEMPLATE model OID " . ($oid + $_)) for 1000, 1024, 1025;
my $from_model = $greatest;
for my $copy ('copy_1000', 'copy_1024')
{
	$greatest = $from_model;
	continues($copy, take($copy, 100));
}
$node->stop;
$clock->run_ahead_by(-3600);
$clock->start($node);
for my $copy ('copy_1025', 'model')
{
	$greatest = $from_model;
	continues("$copy, the clock behind", take($copy, 100));
}
$clock->run_ahead_by(0);

# --- Imported identifiers ----------------------------------------------------
# The statement in docs/tickers.md raises the mark above these identifiers, and never leaves it below the function's own
# values.
ask('CREATE EXTENSION idgen; CREATE TABLE deliveries (id bigint)');
set_marks(36_000);
begin_scenario('a function ten hours ahead of the clock', take('postgres', 1000));
for my $seconds (-3600, 3, 3600)
{
	my $time = "idgen.snowflake_timestamp($greatest->[0]) + interval '$seconds seconds'";
	my $id = ask("TRUNCATE deliveries; INSERT INTO deliveries SELECT idgen.snowflake_floor($time) RETURNING id");
	Page->new('tickers')->paste('Raising and correcting');
	$node->stop, $clock->start($node) if $seconds < 0;
	continues("with an identifier $seconds seconds later", take('postgres', 10));
	cmp_ok($greatest->[0], '>', $id, 'which is exceeded');
}

# --- DDL, and a restart before the next call ------------------------------------
# The functions are an hour ahead of the clock. According to docs/tickers.md, a call before the DDL and another one
# before the server stops prevent repeated values. Without the latter, values repeat when the clock reaches them, unless
# the mark is raised first.
like(Page->new('tickers')->prose('The high-water mark'),
	qr/call the function once before such DDL, and once after it, before the server stops/, 'the steps of the page');
my $time = 1_800_000_000;
for my $ddl ($anew, $restart)
{
	for my $how ('fast', 'immediate')
	{
		for my $second_call (1, 0)
		{
			$node->stop, $clock->stand_still_at($time), $clock->start($node);
			ask(for_marks('ALTER SEQUENCE MARK RESTART'));
			ask(for_marks("SELECT setval('MARK', " . ($time += 3600) . '::bigint << 28)'));
			my $name = "$how stop, " . ($second_call ? 'called' : 'not called') . ' after ' . substr($ddl, 0, 14);
			begin_scenario($name, my $before = take('postgres', 100));
			ask("TRUNCATE deliveries; INSERT INTO deliveries VALUES ($greatest->[0])");
			ask($ddl);
			continues("$name: the second call", take('postgres')) if $second_call;
			$node->stop($how), $clock->stand_still_at($time), $clock->start($node);
			if ($second_call)
			{
				continues($name, take('postgres', 100));
				next;
			}
			my $again = take('postgres', 100);
			for my $function (0 .. $#functions)
			{
				my %is_known = map { number($functions[$function], (split /\|/)[$function]) => 1 } split /\n/, $before;
				ok((grep { $is_known{ number($functions[$function], (split /\|/)[$function]) } } split /\n/, $again),
					"$name: $functions[$function] repeats values");
			}
			ask($restart);
			$node->stop($how), $clock->stand_still_at($time), $clock->start($node);
			Page->new('tickers')->paste('Raising and correcting');
			cmp_ok(ask('SELECT idgen.snowflake()'), '>', $greatest->[0], "$name: raising the mark prevents this");
		}
	}
}
$node->stop, $clock->run_ahead_by(0), $clock->start($node);

# --- Dump and restore --------------------------------------------------------
# The functions have been used in "staging" before it receives the data of "production". The role that owns both
# databases copies the data.
ask('CREATE ROLE owner LOGIN SUPERUSER');
my $later = 36_000;
for my $way ('--data-only', '--data-only --single-transaction', '--clean --if-exists --single-transaction')
{
	for my $ahead (0, $later += 3600)
	{
		my $name = "$way, " . ($ahead ? 'ahead of the clock' : 'not ahead');
		ask("DROP DATABASE IF EXISTS $_") for 'production', 'staging';
		add_database($_) for 'production', 'staging';
		ask('CREATE TABLE tickets (id bigint PRIMARY KEY DEFAULT idgen.decimal_id())', $_) for 'production', 'staging';
		set_marks($ahead, 'production') if $ahead;
		ask('INSERT INTO tickets SELECT FROM generate_series(1, 5000)', 'production');
		begin_scenario($name, take('production', 5000));
		my $connected = session(database => 'staging');
		take($connected);
		ask('INSERT INTO tickets DEFAULT VALUES; TRUNCATE tickets', 'staging');
		$node->command_ok([ 'pg_dump', '-Fc', '-f', "$scratch/dump", $node->connstr('production') ], "$name: dumped");
		$node->command_ok([ 'pg_restore', split(/ /, $way), '-d', $node->connstr('staging'), "$scratch/dump" ],
			"$name: restored");
		continues("$name, a new session", take('staging', 100));
		continues("$name, a connected one", take($connected));
		is(outcome('INSERT INTO tickets SELECT FROM generate_series(1, 100) RETURNING 1',
			database => 'staging') =~ s/\n//gr,
			'1' x 100, "$name: decimal_id() repeats none");
		$connected->quit;
	}
}
continues_after_crash('staging');

# Restore on a server whose clock is behind.
my $second = init_server('second', $conf);
FakeClock::start_behind($second, 3600);
$second->safe_psql('postgres', 'CREATE DATABASE staging');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$scratch/dump", $node->connstr('staging') ], 'dumped');
$second->command_ok([ 'pg_restore', '-d', $second->connstr('staging'), "$scratch/dump" ], 'restored on another server');
continues('on a server whose clock is behind', $second->safe_psql('staging', values_query(100)));

# --- Replicated sequences -------------------------------------------------------
SKIP:
{
	skip 'sequences are replicated from PostgreSQL 19 on', 1 if ask('SHOW server_version_num') < 190000;

	add_database('publishing');
	set_marks($later + 7200, 'publishing');
	begin_scenario('a publisher', take('publishing', 100));
	ask('CREATE PUBLICATION s FOR ALL SEQUENCES; SELECT idgen.decimal_id() FROM generate_series(1, 100)', 'publishing');
	$second->safe_psql('postgres', 'CREATE DATABASE subscribing');
	$second->safe_psql('subscribing', 'CREATE EXTENSION idgen; SELECT idgen.decimal_id(); ' . values_query());
	my $from = $node->connstr('publishing');
	my $copied = 'SELECT last_value = ' . ask('SELECT last_value FROM idgen.js_id_mark',
		'publishing') . ' FROM idgen.js_id_mark';
	$second->safe_psql('subscribing', "CREATE SUBSCRIPTION s CONNECTION \$\$$from\$\$ PUBLICATION s");
	ok($second->poll_query_until('subscribing', $copied), 'sequences are copied');
	continues('the subscriber', $second->safe_psql('subscribing', values_query(100)));
	my $counter = 'SELECT counter > 100 FROM idgen.decimal_id_parts(idgen.decimal_id())';
	is($second->safe_psql('subscribing', $counter), 't', 'decimal_id() continues');
	$second->safe_psql('subscribing', 'ALTER SUBSCRIPTION s REFRESH SEQUENCES');
	ok($second->poll_query_until('subscribing', $copied), 'sequences are copied again');
	continues('a call after that', $second->safe_psql('subscribing', values_query()));
	$second->stop('immediate');
	FakeClock::start_behind($second, 3600);
	continues('and after a crash', $second->safe_psql('subscribing', values_query(100)));
}
done_testing();
