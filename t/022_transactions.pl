# Verify create_once() in prepared transactions, with and without crashes. A transaction that is rolled back has no
# effect, and each command creates one order, however often it is repeated. (sql/creation_transactions.sql tests
# savepoints, specs/create_once*.spec and t/024 test waits, isolation levels and deadlocks, and t/033 tests timeouts.)

use Server;
use Tickers;

my $node = start_server('careful', $settings . 'max_prepared_transactions = 20');

# place_order() creates an order once and returns the result of the command.
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

# Run one transaction for each outcome, with and without crashes.
for my $crash ('no crash', 'a crash')
{
	my %name = (commit => 1, 'roll back' => 2, 'take back' => 3);
	my $crash_now = sub {
		return if $crash eq 'no crash';
		$node->stop('immediate');
		$node->start;
		($control, $one, $two) = map { session() } 1 .. 3;
	};

	$control->ask('TRUNCATE idgen.creation_identifiers, orders');
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
	is($control->ask(q{SELECT right(command_id::text, 1), entity_number, count(id)
			FROM idgen.creation_identifiers LEFT JOIN orders ON command = command_id AND id = entity_number
			GROUP BY 1, 2 ORDER BY 1; SELECT count(*) FROM orders}),
		"1|1|1\n2|22|1\n3|33|1\n9|99|1\n4", "$crash: one order each");
}

done_testing();
