# Verify that each call that waits can be stopped: by a cancel request, a timeout, the end of the session, or the
# disappearance of the client. Afterwards, the same call must work in the same session and in others.

use FakeClock;
use Functions;
use List::Util qw(min);
use Server;
use Tickers;
use Time::HiRes qw(time);

my $node = Functions::add_key(init_server('patient', $settings . "client_connection_check_interval = 100ms\n"));
$node->start;
my $has_advisor = Functions::install($node, 'postgres');
ask(q{
	CREATE TABLE goods (id uuid PRIMARY KEY DEFAULT idgen.uuid_v7());
	INSERT INTO goods SELECT FROM generate_series(1, 1000);
	CREATE SEQUENCE blocks;
	SELECT idgen.create_id_domain('account_id', 'acct')});

my ($control, $other) = (session(), session());

# Let sessions make a call that waits, and stop each of them in a different way. A call that ends must have been
# stopped, because the event that it waits for comes later. Finally, the session whose call was canceled must get the
# result.
sub check_waiting
{
	my ($name, $call, $gives, %how) = @_;
	my $event = $how{event} // 'Lock';
	ref $how{before} ? $how{before}->() : $control->ask($how{before}) if $how{before};
	if ($how{blocked_by})
	{
		$other->ask("BEGIN; $how{blocked_by}");
		die "$name: $other->{message}" if $other->{sqlstate};
	}

	my ($cancelled, $terminated, $vanished) = map { session() } 1 .. 3;
	$_->send_blocked($control, $call, $event) for $cancelled, $terminated, $vanished;
	$control->ask("SELECT pg_cancel_backend($cancelled->{pid}), pg_terminate_backend($terminated->{pid})");
	is($cancelled->wait, '57014', "$name: can be cancelled");
	is($terminated->wait, '57P01', "$name: can be terminated");

	for my $timeout ([ 'statement_timeout', '57014' ], $event eq 'Lock' ? [ 'lock_timeout', '55P03' ] : ())
	{
		my $impatient = session();
		is($impatient->ask_within("$timeout->[0] = '50ms'", $call), $timeout->[1], "$name: $timeout->[0] ends it");
		is($impatient->ask('SELECT idgen.uuid_version(idgen.uuid_v4())'), '4', "$name: the session continues");
		$impatient->quit;
	}

	$vanished->disconnect;
	$control->poll("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $vanished->{pid})");
	pass("$name: the session ends when the client is gone");

	$other->ask('ROLLBACK') if $how{blocked_by};
	$how{after}->() if $how{after};
	like($cancelled->ask($call), qr/^(?:$gives)$/, "$name: the call works afterwards");
	is($control->ask(q{SELECT count(*) FROM pg_locks WHERE NOT granted}), '0', "$name: no session waits any more");
	$cancelled->quit;
}

# --- Waiting for other sessions ---------------------------------------------
check_waiting("$_()", "SELECT idgen.$_() IS NOT NULL", 't',
	blocked_by => "ALTER SEQUENCE idgen.${_}_mark CACHE 1") for @functions;
check_waiting('decimal_id()', 'SELECT idgen.decimal_id() IS NOT NULL', 't',
	blocked_by => 'ALTER SEQUENCE idgen.decimal_id_counter CACHE 1');
check_waiting('sequence_comb()', q{SELECT idgen.uuid_version(idgen.sequence_comb('blocks'))}, '4',
	blocked_by => 'ALTER SEQUENCE blocks CACHE 1');

my $uuid = q{'e0000000-0000-4000-8000-000000000001'::uuid};
my $command = q{'c0000000-0000-4000-8000-000000000001'};
my %entity = ('' => $uuid, _bigint => 1, _text => q{'a'});
my $known = "TRUNCATE idgen.creation_identifiers; SELECT idgen.create_once_bigint($command, 1, 'order')";
my $locked = 'SELECT FROM idgen.creation_identifiers FOR UPDATE';

for my $kind (sort keys %entity)
{
	my $create = "idgen.create_once$kind($command, $entity{$kind}, 'order')";
	my $forget = "idgen.forget_creation_of$kind($entity{$kind}" . ($kind && ", 'order'") . ')';
	check_waiting("create_once$kind()", "SELECT created FROM $create", 't',
		before => 'TRUNCATE idgen.creation_identifiers', blocked_by => "SELECT $create");
	check_waiting("forget_creation_of$kind()", "SELECT $forget", '1',
		before => "TRUNCATE idgen.creation_identifiers; SELECT $create", blocked_by => $locked);
}
check_waiting('forget_creation()', "SELECT idgen.forget_creation($command)", 't', before => $known,
	blocked_by => $locked);
check_waiting('purge_creations()', q{SELECT idgen.purge_creations('0 s')}, '1', before => $known,
	blocked_by => $locked);
check_waiting('trim_creations()', 'SELECT idgen.trim_creations(0)', '1', before => $known, blocked_by => $locked);
check_waiting('a replay', "SELECT created FROM idgen.create_once_bigint($command, 2, 'order')", 'f',
	before => $known, blocked_by => 'LOCK TABLE idgen.creation_identifiers');
check_waiting('create_id_domain()', q{SELECT idgen.create_id_domain('user_id', 'user')}, 'user_id',
	blocked_by => q{SELECT idgen.create_id_domain('member_id', 'user')});
check_waiting('parse_prefixed_id()', q{SELECT domain FROM idgen.parse_prefixed_id('acct_1')}, 'account_id',
	blocked_by => 'LOCK TABLE idgen.id_prefixes');
check_waiting('index_report()', q{SELECT placement IS NOT NULL FROM idgen.index_report('goods')}, 't',
	blocked_by => 'LOCK TABLE goods') if $has_advisor;

# --- Long calls -------------------------------------------------------------
# Run each generator for many rows within one statement.
for my $generator ((map { "idgen.$_()" } @Functions::tickers, 'decimal_id'), @Functions::independent)
{
	my $busy = session();
	$busy->send("SELECT count($generator) FROM (SELECT generate_series(1, 1000000000)) g");
	$control->poll("SELECT state = 'active' FROM pg_stat_activity
		WHERE pid = $busy->{pid} AND strpos(query, \$\$$generator\$\$) > 0");
	$control->ask("SELECT pg_cancel_backend($busy->{pid})");
	is($busy->wait, '57014', "$generator for many rows is cancelled");
	is($busy->ask("SELECT $generator IS NOT NULL"), 't', "$generator works in the same session");
	$busy->quit;
}

# Check that a timeout ends a long call before the given share of the call's duration has passed. The duration is
# measured here, in transactions that are rolled back. (DELETE does not check for interrupts before it has sorted all
# ids.)
sub check_working
{
	my ($name, $call, $share) = @_;
	my $session = session();
	my $timed = sub {
		$session->ask("BEGIN; SET LOCAL statement_timeout = $_[0]");
		my $since = time;
		my @result = ($session->ask($call), time - $since);
		$session->ask('ROLLBACK');
		return @result;
	};
	my ($answer, $whole) = $timed->(0);
	my ($error, $ended);
	# To tolerate a temporarily slow machine, compare with the shortest duration, and repeat until the timeout has ended
	# the call in time.
	my $in_time = wait_until(sub {
			($error, $ended) = $timed->(1 + int(250 * $whole));
			$whole = min($whole, ($timed->(0))[1]);
			return $ended < $share * $whole;
		});
	unlike($answer, qr/^\w{5}$/, "$name: works");
	is($error, '57014', "$name: a timeout ends it");
	ok($in_time, sprintf('%s: which takes %.2f seconds, ends when the timeout says so', $name, $whole));
	$session->quit;
}

ask(q{
	CREATE TABLE requests (request jsonb);
	ALTER TABLE requests ALTER request SET STORAGE EXTERNAL;
	INSERT INTO requests SELECT jsonb_agg(i) FROM generate_series(1, 3000000) i;
	TRUNCATE idgen.creation_identifiers;
	INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
		SELECT idgen.uuid_v4(), 'order', i, now() - interval '2 days' FROM generate_series(1, 100000) i});
check_working('create_once() with a large request',
	q{SELECT created FROM requests, idgen.create_once_bigint('c0000000-0000-4000-8000-000000000002', 2, 'order',
		request)}, 0.7);
# Every call reads a rejected file again. The time that this takes grows with the square of the number of lines.
append_to_file($node->data_dir . '/idgen_keys', join('', map { "key$_\n" } 1 .. 10_000, 1));
ask(q{
	CREATE FUNCTION error_of_file() RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM idgen.permute(1, '');
	EXCEPTION WHEN config_file_error THEN
		RETURN SQLERRM;
	END $$});
check_working('a call that reads the key file', 'SELECT error_of_file()', 0.7);
check_working('purge_creations()', q{SELECT 'n=' || idgen.purge_creations('24 hours', batch_size => 200000)}, 1);
check_working('trim_creations()', q{SELECT 'n=' || idgen.trim_creations(0, batch_size => 200000)}, 1);

# --- Waiting for the clock --------------------------------------------------
# The clock is set back by more than a day, and is later corrected. The calls above do not use this clock (see
# FakeClock.pm), because they read the clock constantly, even when a timer interrupts them.
SKIP:
{
	skip 'libfaketime is not installed', 1 if !FakeClock::is_installed();
	my $clock = FakeClock->new('patient');
	$node->stop('fast');
	$clock->start($node);
	$control = session();
	check_waiting("$_(), for the clock", "SELECT idgen.$_() IS NOT NULL", 't', event => 'Extension',
		before => sub { ask("SELECT idgen.$_()"); $clock->run_ahead_by(-90_000) },
		after => sub { $clock->run_ahead_by(0) })
	  for @functions;
}
done_testing();
