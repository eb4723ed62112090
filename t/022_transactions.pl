# create_once() in transactions that time out or are prepared for two-phase commit, in deadlocks and at each isolation
# level. Rolled back commands leave nothing, and each command makes one order, however often it is repeated. (One
# session: sql/creation_transactions.sql; two and three, step by step: specs/create_once*.spec.)

use Server;
use Tickers;

my $node = start_server('careful',
	$settings . "max_prepared_transactions = 20\nmax_connections = 60\ndeadlock_timeout = 50ms");

# place_order() makes an order once and returns the result of the command.
ask(q{
	CREATE TABLE orders (id bigint, command uuid);
	CREATE FUNCTION place_order(command uuid, number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		o record;
	BEGIN
		SELECT * INTO o FROM idgen.create_once_bigint(command, number, 'place order');
		IF o.created THEN
			INSERT INTO orders VALUES (o.entity_number, command);
		END IF;
		RETURN o.entity_number;
	END $$});
my ($control, $one, $two) = map { session() } 1 .. 3;

sub command { return sprintf('c0000000-0000-4000-8000-%012x', $_[0]) }
sub place { my ($name, $number) = @_; return "SELECT place_order('" . command($name) . "', $number)" }

sub start_over
{
	my ($name) = @_;
	note "--- $name";
	$control->ask('TRUNCATE idgen.creation_identifiers, orders');
}

# Check the number of each command's entity, and of its orders.
sub check_orders
{
	my ($expected, $name) = @_;
	is($control->ask(q{SELECT string_agg(ltrim(right(c.command_id::text, 12), '0') || '=' || entity_number || ':'
			|| (SELECT count(*) FROM orders o WHERE o.command = command_id AND o.id = entity_number),
				' ' ORDER BY command_id)
			FROM idgen.creation_identifiers c}), $expected, $name);
}

# --- A timeout ---------------------------------------------------------------
# A timeout ends the wait, and the transaction continues after its savepoint.
start_over('a timeout in a transaction');
$one->ask('BEGIN; ' . place(4, 40));
$two->ask('BEGIN; ' . place(5, 50) . '; SAVEPOINT s');
is($two->ask("SET LOCAL lock_timeout = '50ms'; " . place(4, 41)), '55P03',
	'lock_timeout ends a wait within a transaction');
$two->ask('ROLLBACK TO s; ' . place(6, 60) . '; COMMIT');
$one->ask('ROLLBACK');
check_orders('5=50:1 6=60:1', 'the cancelled call and what was rolled back recorded nothing');
is($two->ask(place(4, 70)), '70', 'which can be recorded then');

# --- Two-phase commit -------------------------------------------------------
# One transaction for each outcome, with and without crashes
for my $crash ('no crash', 'a crash')
{
	my %name = (commit => 1, 'roll back' => 2, 'take back' => 3);
	my $crash_now = sub {
		return if $crash eq 'no crash';
		$node->stop('immediate');
		$node->start;
		($control, $one, $two) = map { session() } 1 .. 3;
	};

	start_over("two-phase commit, $crash");
	for my $fate (sort keys %name)
	{
		my $name = $name{$fate};
		is($one->ask('BEGIN; SAVEPOINT s; ' . place(9, 9) . '; ROLLBACK TO s; ' . place($name, $name)),
			"9\n$name", "$crash, $fate: a command is recorded");
		is($one->ask("SELECT idgen.snowflake() > 0; PREPARE TRANSACTION '$fate'"), 't',
			"$crash, $fate: the transaction is prepared");
	}
	is($two->ask_within(q{lock_timeout = '50ms'}, place(1, 11)), '55P03',
		"$crash: a retry waits for the prepared transaction");
	is($two->ask(place(9, 99)), '99', "$crash: a retry does not wait for a command rolled back before");

	$crash_now->();
	is($two->ask_within(q{lock_timeout = '50ms'}, place(1, 11)), '55P03', "$crash: a retry still waits");
	$one->send_blocked($control, place(1, 13));
	is($control->ask("COMMIT PREPARED 'commit'"), '', "$crash: COMMIT PREPARED while a session waits");
	is($one->answer, '1', "$crash: the waiting session gets the entity");
	is($control->ask("ROLLBACK PREPARED 'roll back'"), '', "$crash: ROLLBACK PREPARED");
	$two->send_blocked($control, place(3, 33));
	is($control->ask("ROLLBACK PREPARED 'take back'"), '', "$crash: ROLLBACK PREPARED while a session waits");
	is($two->answer, '33', "$crash: the waiting session records the command");

	$crash_now->();
	is($two->ask(place(1, 12)), '1', "$crash: the committed command returns its entity");
	is($two->ask(place(2, 22)), '22', "$crash: the command rolled back is recorded again");
	check_orders('1=1:1 2=22:1 3=33:1 9=99:1', "$crash: one order each");
}

# --- Isolation levels and deadlocks -----------------------------------------
# Clients send the same commands at the same time, in transactions with four commands in random order: some wait, some
# deadlock, some cannot be serialized. pgbench retries these, and no others.
ask(q{
	CREATE TABLE told (command int, entity bigint);
	CREATE FUNCTION place_and_tell(command int) RETURNS void LANGUAGE sql AS $$
		INSERT INTO told
		SELECT command, place_order(('c0000000-0000-4000-8000-' || lpad(to_hex(command), 12, '0'))::uuid,
			1000 * command + (random() * 999)::int) $$});
my $file = PostgreSQL::Test::Utils::tempdir() . '/commands.sql';
append_to_file($file, join('', map { "\\set $_ random(1, 60)\n" } 'a' .. 'd') . "BEGIN;\n"
	  . join('', map { "SELECT place_and_tell(:$_);\n" } 'a' .. 'd') . "COMMIT;\n");
for my $isolation ('read committed', 'repeatable read', 'serializable')
{
	start_over($isolation);
	ask('TRUNCATE told');
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=' . $isolation =~ s/ /\\ /r;
	my ($said, $errors) = run_command([ 'pgbench', '--no-vacuum', '--client=12', '--jobs=2', '--transactions=15',
		'--max-tries=10000',
			"--file=$file", $node->connstr('postgres') ]);
	like($said, qr{processed: 180/180\n}, "$isolation: all transactions succeed, and all errors can be retried")
	  or diag($errors);
	is(ask('SELECT count(*), count(*) - count(DISTINCT command), count(*) - count(DISTINCT entity)
			FROM (SELECT DISTINCT command, entity FROM told) t'),
		ask('SELECT count(*), 0, 0 FROM orders'),
		"$isolation: each command made one order, and all clients got the same entities");
	is(ask('SELECT count(*) FROM orders FULL JOIN told ON id = entity WHERE id IS NULL OR entity IS NULL'),
		0, "$isolation: the clients got the ids of these orders");
}
done_testing();
