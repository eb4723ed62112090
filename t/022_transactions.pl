# create_once() and the histories within transactions: after savepoints, in
# exception blocks and cursors, prepared for two-phase commit. Rolled back commands
# leave nothing. (Isolation levels and deadlocks: 027_isolation.pl.)

use FindBin;
use lib "$FindBin::RealBin/lib";
use Orders;
use Server;

my $node = new_shop('careful');
my $control = session();
my $one = session();
my $two = session();

# The number of each command's entity, and of its orders
sub all_orders
{
	return $control->ask(q{
		SELECT string_agg(ltrim(right(c.command_id::text, 12), '0') || '=' || entity_number || ':'
			|| (SELECT count(*) FROM orders o WHERE o.command = command_id AND o.id = entity_number), ' ' ORDER BY command_id)
		FROM idgen.creation_identifiers c});
}

sub begin_story
{
	my ($name) = @_;

	note "--- $name";
	$control->ask('TRUNCATE idgen.creation_identifiers, orders');
}

# --- Savepoints -------------------------------------------------------------

begin_story('savepoints');
$one->ask('BEGIN');
is($one->ask(place(1, 10)), '10', 'a command is recorded');
$one->ask('SAVEPOINT s');
is($one->ask(place(1, 11)), '10', 'it is known after a savepoint');
is($one->ask(place(2, 20)), '20', 'another command is recorded after the savepoint');
is($one->ask(place(2, 21)), '20', 'it is known in the same transaction');
$one->ask('ROLLBACK TO s');
is($one->ask(place(2, 22)), '22', 'it is not known after ROLLBACK TO');
$one->ask('SAVEPOINT t');
is($one->ask(place(3, 30)), '30', 'a third command is recorded');
$one->ask('RELEASE t');
$one->ask('SAVEPOINT u');
$one->ask(sprintf("SELECT idgen.forget_creation('%s')", command(3)));
is($one->ask(place(3, 31)), '31', 'after forget_creation(), it is recorded again');
$one->ask('ROLLBACK TO u');
is($one->ask(place(3, 32)), '30', 'unless forget_creation() is rolled back');
$one->ask('COMMIT');
is(all_orders(), '1=10:1 2=22:1 3=30:1', 'commands that were not rolled back remain');

# A transaction rolls back to a savepoint while another session waits for it.
for my $story ([ 'ROLLBACK TO s', '50:1', '50' ], [ 'RELEASE s', '40:1', '40' ])
{
	my ($end, $left, $answer) = @$story;

	begin_story("a waiting session, and $end");
	$one->ask('BEGIN; SAVEPOINT s');
	$one->ask(place(4, 40));
	$two->send(place(4, 50));
	$control->poll_waiting($two);
	$one->ask($end);
	if ($end eq 'RELEASE s')
	{
		$control->poll_waiting($two);
		$one->ask('COMMIT');
	}
	is($two->answer, $answer, "$end: the waiting session records the command, or gets the entity");
	is($one->ask('COMMIT'), '', "$end: the first session continues");
	is(all_orders(), "4=$left", "$end: one order");
}

# The first session is terminated while another one waits.
begin_story('a lost session');
my $lost = session();
$lost->ask('BEGIN; ' . place(4, 40));
$two->send(place(4, 50));
$control->poll_waiting($two);
$control->ask("SELECT pg_terminate_backend($lost->{pid})");
is($two->answer, '50', 'the waiting session records the command of a terminated one');

# A timeout ends the wait, and the transaction continues after its savepoint.
begin_story('a timeout in a transaction');
$one->ask('BEGIN; ' . place(4, 40));
$two->ask('BEGIN; ' . place(5, 50) . '; SAVEPOINT s');
is($two->ask("SET LOCAL lock_timeout = '50ms'; " . place(4, 41)), '55P03', 'lock_timeout ends a wait within a transaction');
$two->ask('ROLLBACK TO s; ' . place(6, 60) . '; COMMIT');
$one->ask('ROLLBACK');
is(all_orders(), '5=50:1 6=60:1', 'the cancelled call and what was rolled back recorded nothing');
is($two->ask(place(4, 70)), '70', 'which can be recorded then');

# The first session rolls back while many wait: one of them is next.
begin_story('a queue');
my @queue = map { session() } 1 .. 8;
$one->ask('BEGIN');
$one->ask(place(5, 50));
for my $i (0 .. $#queue)
{
	$queue[$i]->send(place(5, 51 + $i));
	$control->poll_waiting($queue[$i]);
}
$one->ask('ROLLBACK');
my %answers = map { $_->answer => 1 } @queue;
is(scalar keys %answers, 1, 'one of eight waiting sessions records the command, and all get its entity');
is(all_orders(), '5=' . (keys %answers)[0] . ':1', 'one order exists');

# --- PL/pgSQL ---------------------------------------------------------------

begin_story('exception blocks');
is( $control->ask(sprintf(q{
		DO $$
		BEGIN
			PERFORM place_order('%s', 1);
			BEGIN
				PERFORM place_order('%s', 2);
				PERFORM 1 / 0;
			EXCEPTION WHEN division_by_zero THEN
				IF place_order('%s', 3) <> 3 THEN RAISE 'the command still exists'; END IF;
			END;
			BEGIN
				PERFORM idgen.create_once_bigint('%s', 4, 'another command');
				RAISE 'another command was accepted';
			EXCEPTION WHEN check_violation THEN
				IF place_order('%s', 5) <> 1 THEN RAISE 'the first command is lost'; END IF;
			END;
		END $$}, map { command($_) } 6, 7, 7, 6, 6)),
	'', 'an exception rolls back its block only');
is(all_orders(), '6=1:1 7=3:1', 'the same after commit');
is( $control->ask(sprintf(q{
		DO $$
		BEGIN
			FOR i IN 1 .. 20 LOOP
				PERFORM place_order(('c0000000-0000-4000-8000-' || lpad(to_hex(256 + i), 12, '0'))::uuid, i);
				IF i %% 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
			END LOOP;
		END $$})),
	'', 'a procedure with COMMIT and ROLLBACK');
is($control->ask(q{SELECT count(*), sum(id) FROM orders WHERE id % 2 = 1 AND command::text LIKE '%-0000000001__'}), '10|100', 'a procedure keeps the orders that it committed');
is($control->ask(q{SELECT count(*) FROM idgen.creation_identifiers WHERE command_id::text LIKE '%-0000000001__'}), '10', 'only committed commands are recorded');

begin_story('cursors');
$one->ask(q{BEGIN; DECLARE c CURSOR FOR
	SELECT entity_number, created, idgen.snowflake() FROM generate_series(1, 1000) i,
	LATERAL idgen.create_once_bigint(('c0000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, i::bigint)});
is($one->ask('FETCH 3 FROM c') =~ s/\|\d+$//mgr, "1|t\n2|t\n3|t", 'a cursor records commands as it is fetched');
$one->ask('SAVEPOINT s');
is($one->ask('FETCH 2 FROM c') =~ s/\|\d+$//mgr, "4|t\n5|t", 'also after a savepoint');
$one->ask('ROLLBACK TO s; CLOSE c; COMMIT');
is($control->ask('SELECT string_agg(entity_number::text, $$ $$ ORDER BY entity_number) FROM idgen.creation_identifiers'), '1 2 3', 'commands fetched and not rolled back are recorded');

# --- Histories --------------------------------------------------------------

begin_story('histories');
$control->ask('INSERT INTO orders (id) VALUES (1)');
sub remember
{
	my ($name) = @_;
	my $command = command($name);

	return "UPDATE orders SET history = idgen.remember_command(history, '$command', 3)
			WHERE id = 1 AND NOT idgen.has_command(history, '$command') RETURNING array_length(history, 1)";
}
is($one->ask('BEGIN; ' . remember(1)), '1', 'a command is remembered');
$one->ask('SAVEPOINT s');
is($one->ask(remember(2)), '2', 'another command is remembered');
$one->ask('ROLLBACK TO s');
$two->send(remember(1));
$control->poll_waiting($two);
is($one->ask(remember(2)), '2', 'again after ROLLBACK TO');
$one->ask('COMMIT');
is($two->answer, '', 'a retry that waited changes nothing');
is($two->ask(remember(3)), '3', 'a new command is remembered');
is($two->ask(remember(4)), '3', 'the oldest command is dropped');
is($control->ask(q{SELECT string_agg(right(h::text, 1), ' ') FROM orders, unnest(history) h}), '2 3 4', 'the history has the newest three commands');

# --- Two-phase commit -------------------------------------------------------

# One transaction for each outcome, with and without crashes
for my $crash ('no crash', 'a crash')
{
	begin_story("two-phase commit, $crash");
	for my $fate ('commit', 'roll back', 'take back')
	{
		my $name = { commit => 1, 'roll back' => 2, 'take back' => 3 }->{$fate};

		$one->ask('BEGIN; SAVEPOINT s; ' . place(9, 9) . '; ROLLBACK TO s');
		is($one->ask(place($name, $name)), $name, "$crash, $fate: a command is recorded");
		is($one->ask("SELECT idgen.snowflake() > 0; PREPARE TRANSACTION '$fate'"), 't', "$crash, $fate: the transaction is prepared");
	}
	is($two->ask("SET lock_timeout = '50ms'; " . place(1, 11)), '55P03', "$crash: a retry waits for the prepared transaction");
	is($two->ask(place(9, 99)), '99', "$crash: a retry does not wait for a command rolled back before");

	if ($crash ne 'no crash')
	{
		$node->stop('immediate');
		$node->start;
		($control, $one, $two) = map { session() } 1 .. 3;
		@queue = ();
		is($two->ask("SET lock_timeout = '50ms'; " . place(1, 11)), '55P03', "$crash: a retry still waits");
	}
	$two->ask('RESET lock_timeout');
	$one->send(place(1, 13));
	$control->poll_waiting($one);
	is($control->ask("COMMIT PREPARED 'commit'"), '', "$crash: COMMIT PREPARED while a session waits");
	is($one->answer, '1', "$crash: the waiting session gets the entity");
	is($control->ask("ROLLBACK PREPARED 'roll back'"), '', "$crash: ROLLBACK PREPARED");
	$two->send(place(3, 33));
	$control->poll_waiting($two);
	is($control->ask("ROLLBACK PREPARED 'take back'"), '', "$crash: ROLLBACK PREPARED while a session waits");
	is($two->answer, '33', "$crash: the waiting session records the command");
	if ($crash ne 'no crash')
	{
		$node->stop('immediate');
		$node->start;
		($control, $one, $two) = map { session() } 1 .. 3;
	}
	is($two->ask(place(1, 12)), '1', "$crash: the committed command returns its entity");
	is($two->ask(place(2, 22)), '22', "$crash: the command rolled back is recorded again");
	is(all_orders(), '1=1:1 2=22:1 3=33:1 9=99:1', "$crash: one order each");
}

done_testing();
