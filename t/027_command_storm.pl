# Verify that create_once() executes no command twice, even though recorded commands are purged. This requires that each
# command id is a checked version 7 UUID, and that commands are kept for longer than past_tolerance + future_tolerance +
# the longest transaction + the longest statement + the clock error. If they are kept for a shorter time, some commands
# are executed twice. The server's clock stands still except when the test sets it, so no result depends on the speed of
# the machine.

use FakeClock;
use List::Util qw(sum);
use Load;
use Page;
use Server;

FakeClock::skip_all_without();

my $clock = FakeClock->new('standing');
my $node = init_server('storm', "max_connections = 40\nlog_statement = none");
$clock->start($node);
ask(q{
	CREATE EXTENSION idgen;
	CREATE TABLE effects (command uuid NOT NULL, entity uuid NOT NULL);
	CREATE FUNCTION effects_twice() RETURNS bigint LANGUAGE sql
		RETURN (SELECT count(*) - count(DISTINCT command) FROM effects)});
my ($control, $first, $retry);
sub open_sessions { ($control, $first, $retry) = map { session() } 1 .. 3 }
open_sessions();

# The terms of the rule, in seconds
my %terms = (past_tolerance => 100, future_tolerance => 50, transaction => 40, statement => 30, clock_error => 20);
my $sum = sum values %terms;
my $begin = 1_800_000_000;

sub at { my ($seconds) = @_; $clock->stand_still_at($begin + $seconds) }
sub id_of { my ($seconds) = @_; return "idgen.named_uuid_v7(to_timestamp($begin + $seconds),
	'5ca1ab1e-0000-4000-8000-000000000001', '')" }

# Return a statement that creates the command's entity once and returns whether it did. The arguments are the command's
# id, the tolerances, a clock, and a FROM item that is evaluated first.
sub attempt
{
	my ($id, %with) = @_;
	my $clock_argument = $with{clock} ? ", clock => $with{clock}" : '';
	return "WITH o AS (SELECT id, o.* FROM @{[ $with{after} // '(SELECT 1)' ]} w, LATERAL (SELECT $id AS id OFFSET 0) i,
			idgen.create_once(idgen.check_recent_uuid_v7(id, past_tolerance => '$with{past_tolerance} s',
				future_tolerance => '$with{future_tolerance} s'$clock_argument), idgen.uuid_v4(), 'order') o),
		e AS (INSERT INTO effects SELECT id, entity_id FROM o WHERE created)
		SELECT created FROM o";
}

# --- The worst case --------------------------------------------------------------------
# The first transaction begins at 0. Just before its end, it creates an entity for an id that is as far ahead of the
# clock as possible. The last statement that the check accepts starts and waits. While it waits, the clock is ahead by
# the maximum error, and commands are purged. Return what the retry returns.
sub retry_after_purge
{
	my ($keep) = @_;
	$control->ask('TRUNCATE effects, idgen.creation_identifiers');
	my $id = id_of($terms{transaction} + $terms{future_tolerance});
	my $last = $terms{transaction} + $terms{future_tolerance} + $terms{past_tolerance};

	at(0);
	$first->ask('BEGIN');
	at($terms{transaction});
	is($first->ask(attempt($id, %terms)), 't', "kept for $keep s: the first attempt creates");
	$first->ask('COMMIT');

	at($last);
	$control->ask('SELECT pg_advisory_lock(1)');
	$retry->send_blocked($control,
		attempt($id, %terms, after => '(SELECT pg_advisory_xact_lock(1))'));
	at($last + $terms{statement} + $terms{clock_error});
	$control->ask("SELECT idgen.purge_creations('$keep s')");
	at($last + $terms{statement});
	$control->ask('SELECT pg_advisory_unlock(1)');
	my $answer = $retry->answer;
	is($first->ask(attempt($id, %terms)), '23514', "kept for $keep s: a later attempt is refused");
	return $answer . ' ' . $control->ask('SELECT effects_twice()');
}

my ($rule) = Page->new('running')->section('Purge') =~ /^ +keep > (.*)/m;
is($rule, 'past_tolerance + future_tolerance + the longest transaction + the longest statement '
	. '+ the error of the clocks', 'docs/running.md states these terms');
is(retry_after_purge($sum), 'f 0', 'kept for the sum of all terms: the retry finds the command');
is(retry_after_purge($sum - 0.001), 't 1', 'kept for 1 ms less: the command is executed twice');
is(retry_after_purge($sum - $terms{$_}), 't 1', "without the term \"$_\": the command is executed twice")
  for sort keys %terms;

# --- One long statement -----------------------------------------------------------------
# Within one CALL or DO, the clock of the check is the start of the statement, unless the caller passes another one.
for my $statement ('DO', 'CALL')
{
	for my $case ([ undef, '', '1', 'the clock stands still, so the command is executed twice' ],
		[ 'clock_timestamp()', '23514', '0', 'clock => clock_timestamp() refuses the command' ])
	{
		my ($clock_argument, $answer, $twice, $name) = @$case;
		my $attempt = attempt(id_of(0), %terms, clock => $clock_argument);
		my $body = "\$body\$ BEGIN
			EXECUTE \$sql\$$attempt\$sql\$; COMMIT; PERFORM pg_advisory_lock(1); EXECUTE \$sql\$$attempt\$sql\$;
			END \$body\$";
		at(0);
		$control->ask("TRUNCATE effects, idgen.creation_identifiers; SELECT pg_advisory_lock(1);
			CREATE OR REPLACE PROCEDURE attempt_twice() LANGUAGE plpgsql AS $body");
		$retry->send_blocked($control, $statement eq 'DO' ? "DO $body" : 'CALL attempt_twice()');
		at($sum + 1);
		is($control->ask("SELECT idgen.purge_creations('$sum s')"), '1', "$statement: its first attempt is purged");
		$control->ask('SELECT pg_advisory_unlock(1)');
		is($retry->answer, $answer, "$statement: $name");
		is($control->ask('SELECT pg_advisory_unlock_all(); SELECT effects_twice()'), "\n$twice",
			"$statement: commands executed twice");
		$retry->ask('SELECT pg_advisory_unlock_all()');
	}
}

# --- Scopes ---------------------------------------------------------------------------------
# The clients of two tenants send the same version 7 UUID.
my $key = q{'018f0000-0000-7000-8000-000000000001'::uuid};
my @answers = map { $control->ask("SELECT * FROM idgen.create_once(idgen.named_uuid_v7(idgen.uuid_timestamp($key),
	'c0000000-0000-4000-8000-00000000000$_', $key\::text), idgen.uuid_v4(), 'order')") } 1, 2, 1, 2;
is(join(' ', map { /\|(.)/ } @answers), 't t f f', 'two tenants send the same id: each creates an entity once');
isnt($answers[0], $answers[1], '... and these are two entities');

# --- The storm ------------------------------------------------------------------------------
# Clients attempt commands of all ages at different isolation levels, and roll back some of their transactions. The
# clock advances by one to three seconds at a time, and is ahead by up to five seconds. A transaction includes at most
# one of these steps. The clock can be wrong at the first attempt and during the purge.
my $error = 5;
my %storm = (past_tolerance => 20, future_tolerance => 10, transaction => 3, statement => 3, clock_error => 2 * $error);
my $attempt = attempt("idgen.named_uuid_v7(to_timestamp(floor(extract(epoch FROM statement_timestamp())
		+ (random() * 40)::int - 25)), '5ca1ab1e-0000-4000-8000-000000000001', (random() * 3)::int::text)",
	%storm) =~ s/\s+/ /gr;
my $savepoint = 'SAVEPOINT s; :make; ROLLBACK TO s;';
@Load::scripts{qw(attempt purge)} = (
	[ $attempt, ":make;\nBEGIN; :make; COMMIT;\nBEGIN; $savepoint :make; COMMIT;\nBEGIN; :make; ROLLBACK;" ],
	[ q{SELECT idgen.purge_creations(current_setting('storm.keep')::interval)}, ':make;' ]);
my %fault = (terminated => 'pg_terminate_backend(pid)', cancelled => 'pg_cancel_backend(pid)');
my %count = (terminated => 0, cancelled => 0, killed => 0);
my ($load, $now, $instant) = (undef, 0, 0);

# Begin with an empty table. Commands are kept for the given number of seconds.
sub start_storm
{
	my ($keep) = @_;
	$control->ask("TRUNCATE effects, idgen.creation_identifiers;
		ALTER DATABASE postgres SET storm.keep = '$keep s'");
	at($instant = $now += 1000);
	$load = Load->new($node, attempt => 4, purge => 1,
		isolation => [ 'repeatable read', 'read committed', 'serializable' ]);
}

# Let all clients work, wait until all transactions that began before the last step have ended, and set the clock.
sub step_clock
{
	my $old = "application_name = 'load' AND xact_start <> to_timestamp($begin + $instant)";
	$load->work(2, 'attempt', 'purge');
	$load->run_until(sub { $control->ask("SELECT count(*) FROM pg_stat_activity WHERE $old") eq '0' });
	my $last = $instant;
	$now += 1 + int rand 3;
	do { $instant = $now + int rand $error + 1 } while $instant == $last;
	at($instant);
}

# Terminate or cancel a random session, or kill a random client.
sub cause_fault
{
	my $what = (sort keys %count)[ rand 3 ];
	my $victim = "FROM pg_stat_activity WHERE application_name = 'load' AND state <> 'idle' ORDER BY random() LIMIT 1";
	$count{$what}++ if $fault{$what} ? $control->ask("SELECT $fault{$what} $victim") eq 't' : $load->kill_client;
}

start_storm(1 + sum values %storm);
my $purged = q{FROM effects LEFT JOIN idgen.creation_identifiers ON command = command_id WHERE command_id IS NULL};
for my $crash (1 .. 3)
{
	while ($control->ask("SELECT count(*) < 300 * $crash $purged") eq 't' || grep { $_ < 3 * $crash } values %count)
	{
		step_clock();
		cause_fault() if rand() < 0.3;
	}
	$crash == 2 ? kill_postmaster($node) : $node->stop('immediate');
	$load->lose_all;
	start_again($node, sub { $clock->start($node, fail_ok => 1) });
	open_sessions();
}
$load->finish;
is($control->ask('SELECT effects_twice()'), '0', 'in the storm, no command is executed twice');
is($control->ask(q{SELECT count(*) FROM idgen.creation_identifiers c
	LEFT JOIN effects ON (command, entity) = (command_id, entity_id) WHERE command IS NULL}), '0',
	'each recorded command has its effect');
my %errors = %{ $load->errors };
# A canceled SAVEPOINT does not exist (3B001).
is(join(' ', grep { !/^(23514|25P02|3B001|40001|57014|57P0[1-3]|53300|connection to .*)$/ } sort keys %errors), '',
	'clients met no other errors');
cmp_ok($errors{23514}, '>', 0, 'attempts are refused');

start_storm($storm{past_tolerance});
my $twice = 0;
for (my $step = 0; $step < 1000 && $twice == 0; $step++)
{
	step_clock();
	$twice = $control->ask('SELECT effects_twice()');
}
$load->finish;
cmp_ok($twice, '>', 0, 'if commands are kept for past_tolerance only, some are executed twice');
done_testing();
