# Verify that "Work outside the database" in docs/recipes.md works as described. The tests cover each state, two workers
# that both believe that they hold the lease, claims whose rows are lost or purged, and a load of eight workers, which
# are killed at each step or continue after another worker has taken over. Each command has one answer, and one effect
# at a provider that honors keys. The application's role makes all claims and records all answers.

use Load;
use Page;
use Server;

my $heading = 'Work outside the database';
my $tenants = '5ca1ab1e-0000-4000-8000-00000000000';
my $commands = 200;

my $node = start_server('outside', "max_connections = 60\nlog_statement = none");
my $recipe = Page->new('recipes');
ask('CREATE ROLE janitor LOGIN');
$recipe->paste($_) for 'Creating once, and returning the row', 'HTTP idempotency keys';
my ($shown) = $recipe->paste($heading);
like($shown, qr/^claimed\|.*\nin progress\|/m, 'the page shows a claim, and a second request');
my $prepared = $recipe->prepared($heading);
# On a slow machine, the time between two statements may be longer than on the page.
ask('TRUNCATE charges; ALTER ROLE app RESET idle_in_transaction_session_timeout');

# The providers commit their effects, whatever happens to the caller. A provider that honors keys returns no answer
# while another call with the same key is running, and repeats the answer of an earlier call.
ask('CREATE DATABASE provider');
ask(q{
	CREATE TABLE effects (key uuid, reference uuid, honoured bool,
		answer jsonb DEFAULT jsonb_build_object('paid', gen_random_uuid()));
	CREATE FUNCTION pay(used_key uuid, reference uuid, honours bool, OUT answer jsonb) LANGUAGE plpgsql AS $$
	BEGIN
		IF honours THEN
			IF NOT pg_try_advisory_xact_lock(hashtextextended(used_key::text, 0)) THEN
				RETURN;
			END IF;
			SELECT e.answer INTO answer FROM effects e WHERE e.key = used_key AND honoured;
		END IF;
		IF answer IS NULL THEN
			INSERT INTO effects VALUES (used_key, reference, honours) RETURNING effects.answer INTO answer;
		END IF;
	END $$}, 'provider');

# Return a new key, and the key as an SQL literal.
sub new_key { my ($age) = @_; return "'" . ask("SELECT idgen.uuid_v7(now() - interval '@{[ $age // '0 s' ]}')") . "'" }

sub claim
{
	my ($key, %with) = (shift, tenant => 1, amount => 100, lease => '1 hour', @_);
	return "claim_charge('$tenants$with{tenant}', $key, $with{amount}, '$with{lease}')";
}

# Return the state and fence of a request, or its error.
sub state_sql { return 'SELECT state, fence FROM ' . claim(@_) }
sub state_of { return $recipe->outcome(state_sql(@_), user => 'app') }

# Return a new key, and the charge that it claims.
sub new_charge
{
	my $key = new_key();
	return ($key, "'" . ask('SELECT charge FROM ' . claim($key, @_)) . "'");
}

# Execute one of the page's statements as a role, and return the number of rows that it changes.
sub changed_by
{
	my ($user, $statement, @values) = @_;
	my $values = @values ? '(' . join(', ', @values) . ')' : '';
	return $recipe->outcome("$prepared EXECUTE $statement$values;\n\\echo :ROW_COUNT", user => $user);
}
sub changed { return changed_by('app', @_) }

my ($one, $two) = map { session(user => 'app') } 1 .. 2;

# --- The states -----------------------------------------------------------------------------
{
	my ($key, $charge) = new_charge();
	is($charge, ask("SELECT quote_literal(idgen.named_uuid_v7(idgen.uuid_timestamp($key), '${tenants}1', $key))"),
		'the charge is derived from tenant and key, and has the key\'s time');
	is(state_of($key, amount => '100.00'), 'in progress|', 'the same request is in progress');
	is(ask('SELECT seconds BETWEEN 3000 AND 3600 FROM ' . claim($key)), 't', '... with the seconds to wait');
	is(state_of($key, amount => 100.01, lease => '0 s'), 'other request|', 'another body is another request');
	is(state_of($key, tenant => 2), 'claimed|1', 'another tenant has other charges');
	my $second = new_key();
	is(state_of($second, amount => -1), '23514 payment_amount_check', 'an invalid request');
	is(state_of($second), 'claimed|1', '... does not bind its key');
	is(changed('answer_charge', $charge, 1, 'NULL'), 0, 'no answer is stored');
	is(changed('answer_charge', $charge, 1, q{'{"paid": 1}'}), 1, 'an answer is');
	is(ask('SELECT state, answer FROM ' . claim($key)), 'answered|{"paid": 1}', '... and returned');
	is(state_of($key, amount => 7), 'other request|', '... but not to another request');
	is(outcome('BEGIN READ ONLY; ' . state_sql($key)), '25006', 'not in a read-only transaction');
}

# --- Two workers that both believe that they hold the lease ---------------------------------
{
	my ($key, $charge) = new_charge(lease => '0 s');
	is(state_of($key), 'claimed|2', 'the second worker takes over');
	is(changed('answer_charge', $charge, @$_[ 0, 1 ]), $_->[2], "fence $_->[0], answer $_->[1]: $_->[2] rows")
	  for [ 1, q{'"late"'}, 0 ], [ 2, q{'"paid"'}, 1 ], [ 2, q{'"paid"'}, 1 ], [ 2, q{'"other"'}, 0 ],
	  [ 1, q{'"late"'}, 0 ], [ 1, q{'"paid"'}, 0 ];

	($key, $charge) = new_charge();
	is(changed('extend_lease', $charge, 1, q{'0 s'}), 1, 'a worker ends its lease');
	is(state_of($key, lease => '1 s'), 'claimed|2', '... and another one claims');
	is(changed('extend_lease', $charge, 1, q{'0 s'}), 0, 'the first worker cannot end the lease of the second');
	is(changed('extend_lease', $charge, 2, q{'1 hour'}), 1, '... which extends it');
	is(ask('SELECT state, seconds > 3000 FROM ' . claim($key)), 'in progress|t', '... by an hour');
}

# --- Charges whose time has passed, and rows that are lost ----------------------------------
{
	# Each key is a day old or older. Its charge, which the worker claimed when the key was new, has no answer.
	ask('TRUNCATE charges');
	my @unknown = map { new_key($_) } '4 days', '25 hours', '23 hours 1 minute';
	my $too_old = '23514 check_recent_uuid_v7';
	my $store = sub { ask("INSERT INTO charges (id, tenant, amount, leased_until, answer) VALUES (idgen.named_uuid_v7(
		idgen.uuid_timestamp($_[0]), '${tenants}1', $_[0]), '${tenants}1', 100, now() - interval '1 s', $_[1])
		RETURNING id") };
	my @charges = map { $store->($_, 'NULL') } @unknown;
	my @answered = map { $store->(new_key($_), q{'{}'}) } '4 days', '25 hours';
	my ($recent) = map { $store->(new_key($_), 'NULL') } '22 hours';
	is(state_of($_), $too_old, 'no request claims a charge after its time') for @unknown;
	is($recipe->outcome("$prepared EXECUTE unknown_charges", user => 'app'),
		join("\n", map { "$_|${tenants}1|100|1" } @charges), '... a query finds them');
	is(changed_by('janitor', 'purge_charges'), 1, 'the purge deletes an old charge that was answered');
	is(ask("SELECT count(*) FROM charges"), @charges + 2, '... and leaves the others');
	my $find = sub { changed('find_charge', "'${tenants}1'", $_[0]) };
	is($find->($unknown[0]), "\n1", '... and the client finds its charge without an answer');
	is(changed('answer_charge', "'$charges[0]'", 1, q{'{"asked": "provider"}'}), 1, 'an operator stores an answer');
	is($find->($unknown[0]), qq({"asked": "provider"}\n1), '... which the client finds');
	is(changed_by('janitor', 'purge_charges'), 1, '... then its row is purged');

	my $key = new_key('22 hours 59 minutes');
	is(state_of($key), 'claimed|1', 'just before, a request claims');
	ask(q{TRUNCATE charges; SELECT idgen.purge_creations('0')});
	is(state_of($_), $too_old, 'even if all rows are lost, no request claims an old charge') for @unknown;

	# The row is lost after the call.
	($key, my $charge) = new_charge();
	my $paid = ask("SELECT pay($charge, $charge, true)", 'provider');
	ask('TRUNCATE charges');
	my ($again) = split /\|/, ask('SELECT charge FROM ' . claim($key));
	is(ask("SELECT pay('$again', '$again', true); SELECT count(*) FROM effects", 'provider'), "$paid\n1",
		'the next claim of a lost row has the same key and reference, so that nothing is paid twice');
}

# --- Open transactions ----------------------------------------------------------------------
{
	# Only a first claim makes other requests wait, and such a wait ends with 55P03.
	my $open = new_key();
	$one->ask('BEGIN; ' . state_sql($open));
	is($two->ask(state_sql($open)), '55P03', 'a first claim that is not committed');
	$one->ask('COMMIT');
	is(state_of($open), 'in progress|', '... and when it is');

	my ($taken) = new_charge(lease => '0 s');
	is($one->ask('BEGIN; ' . state_sql($taken)), 'claimed|2', 'a take-over that is not committed');
	is($recipe->outcome('SELECT state, seconds FROM ' . claim($taken), user => 'app'), 'in progress|1',
		'... delays no other request');
	$one->ask('COMMIT');

	my ($answered, $charge) = new_charge(lease => '0 s');
	$one->ask("$prepared BEGIN; EXECUTE answer_charge($charge, 1, '{}')");
	is(state_of($answered), 'in progress|', 'nor does an answer that is not committed');
	$one->ask('COMMIT');
	is(state_of($answered), 'answered|', '... which is returned when it is');

	(my $parent, $charge) = new_charge(lease => '0 s');
	ask('CREATE TABLE refunds (charge uuid REFERENCES charges); GRANT INSERT ON refunds TO app');
	$one->ask("BEGIN; INSERT INTO refunds VALUES ($charge)");
	is(state_of($parent), 'claimed|2', 'a new child row does not prevent a take-over');
	$one->ask('COMMIT');

	# Times do not depend on the start of the transaction.
	my $start = $one->ask('BEGIN; SELECT clock_timestamp()');
	my ($old, $charge_of_old) = new_charge(lease => '0 s');
	is($one->ask(state_sql($old)), 'claimed|2', 'in an old transaction: a take-over after the end of the lease');
	my $new = new_key();
	$one->ask(state_sql($new));
	is($one->ask("SELECT bool_and(leased_until > '$start'::timestamptz + '1 hour') FROM charges
		WHERE id IN ($charge_of_old, (SELECT charge FROM @{[ claim($new) ]}))"), 't', '... and leases that begin now');
	$one->ask('COMMIT');
}

# --- Under load -----------------------------------------------------------------------------
# These faults happen to the worker whose claim of a command is committed first. It is killed at a step, or it is late,
# which means that it waits until another worker has taken over and then continues. Every fifth claim is lost before its
# commit.
my @faults = qw(after_claim in_call after_call before_answer after_answer late_call late_answer none);
my $folder = PostgreSQL::Test::Utils::tempdir();
ask('TRUNCATE effects; GRANT ALL ON effects TO app', 'provider');
ask(q{
	TRUNCATE charges, refunds;
	CREATE SEQUENCE claims;
	CREATE TABLE keys AS SELECT n, idgen.uuid_v7() AS key FROM generate_series(1, COMMANDS) n;
	-- The table records the answers that workers received for commands, and the number of rows that their own answers
	-- changed. The number of a command is also its amount.
	CREATE TABLE told (n int, body numeric, state text, charge uuid, fence bigint, answer jsonb, fault text,
		stored int);
	CREATE INDEX ON told (n);
	-- Choose one of the first eight commands that have not been answered yet. Two of the workers choose only claimed
	-- commands, so that not all workers are late. Each lease of a command is longer than the previous one, so that
	-- answers are stored even on a slow machine.
	CREATE FUNCTION request(worker text, OUT n int, OUT body numeric, OUT lease interval, OUT level text) LANGUAGE sql
	BEGIN ATOMIC
		SELECT coalesce(n, 1), coalesce(n, 1) + CASE WHEN worker = 'retry' AND fence > 0 AND random() < 0.1 THEN 0.5
				ELSE 0 END, interval '0.1 s' * 2 ^ coalesce(fence, 0),
			(ARRAY['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])[1 + random() * 2]
		FROM pg_sleep(0.01) LEFT JOIN (
			SELECT n, fence FROM generate_series(1, COMMANDS) n LEFT JOIN charges ON amount = n
			WHERE (worker = 'first' OR fence > 0)
				AND NOT EXISTS (SELECT FROM told t WHERE t.n = n.n AND t.state = 'answered')
			ORDER BY n LIMIT 8) open ON true
		ORDER BY random() LIMIT 1;
	END;
	CREATE PROCEDURE wait_for_take_over(charge uuid, fence bigint, is_late bool) LANGUAGE plpgsql AS $$
	BEGIN
		WHILE is_late AND NOT EXISTS (SELECT FROM charges c WHERE c.id = charge AND c.fence > wait_for_take_over.fence)
		LOOP
			COMMIT;
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
	GRANT ALL ON keys, told, claims TO app} =~ s/COMMANDS/$commands/gr);

# Return the lines of a worker's script that kill the worker at a step. The script's variables have the names of the
# faults.
sub killed_at
{
	my ($step, $then) = (@_, '');
	return "\\if :$step\n\\set killed `echo $step >>$folder/kills; kill -9 \$PPID; $then`\n\\endif";
}
sub late_at { my ($step) = @_; return "CALL wait_for_take_over(:'charge', :fence, :'$step');" }

my $names = join ', ', map { "'$_'" } @faults;
my $variables = join ', ', map { "fault = '$_' AS $_" } 'before_claim', @faults;
my $call = q{psql -XAtq -h :'HOST' -p :'PORT' -d provider -c :'call'};
append_to_file("$folder/worker.sql", <<"END");
DEALLOCATE ALL;
$prepared
SELECT * FROM request(:'make') \\gset
\\set state none
BEGIN ISOLATION LEVEL :level;
WITH claim AS (SELECT c.* FROM keys, claim_charge('${tenants}1', key, :body, :'lease') c WHERE n = :n),
told AS (INSERT INTO told (n, body, state, charge, fence, answer, fault)
	SELECT :n, :body, state, charge, fence, answer,
		CASE WHEN state <> 'claimed' THEN 'none' WHEN nextval('claims') % 5 = 0 THEN 'before_claim'
			WHEN fence = 1 THEN (ARRAY[$names])[1 + :n % 8] ELSE 'none' END
	FROM claim RETURNING fault)
SELECT state, charge, coalesce(fence, 0) AS fence, $variables,
	format('SELECT %s FROM pay(%L, %L, true) honours, pay(%2\$L, %3\$L, false) ignores',
		CASE WHEN :n % 16 < 8 THEN 'honours' ELSE 'ignores' END, charge, charge) AS call FROM claim, told \\gset
@{[ killed_at('before_claim') ]}
COMMIT;
SELECT :'state' = 'claimed' AND NOT :'ERROR' AS claimed \\gset
\\if :claimed
	@{[ killed_at('after_claim') ]}
	@{[ late_at('late_call') ]}
	@{[ killed_at('in_call', $call) ]}
	\\set paid `$call`
	@{[ killed_at('after_call') ]}
	@{[ late_at('late_answer') ]}
	BEGIN ISOLATION LEVEL :level;
	EXECUTE answer_charge(:'charge', :fence, nullif(:'paid', '')::jsonb);
	\\set stored :ROW_COUNT
	@{[ killed_at('before_answer') ]}
	COMMIT;
	UPDATE told SET answer = nullif(:'paid', '')::jsonb, stored = CASE WHEN :'ERROR' THEN 0 ELSE :stored END
		WHERE charge = :'charge' AND fence = :fence AND state = 'claimed';
	@{[ killed_at('after_answer') ]}
\\endif
END
$Load::scripts{$_} = [ $_, "\\i $folder/worker.sql" ] for 'first', 'retry';

$ENV{PGUSER} = 'app';
my $load = Load->new($node, first => 6, retry => 2);
$load->run_until(sub { $one->ask(qq{
	SELECT count(DISTINCT n) FILTER (WHERE state = 'answered') = $commands
		AND count(stored) FILTER (WHERE fault LIKE 'late%') = $commands / 4
		AND count(*) FILTER (WHERE body > n) >= 10 FROM told}) eq 't' });
$load->finish;
delete $ENV{PGUSER};

my %kills;
$kills{$_}++ for split /\n/, slurp_file("$folder/kills");
cmp_ok(delete $kills{before_claim}, '>=', $commands / 5, 'workers were killed before their claims');
is_deeply(\%kills, { map { $_ => $commands / 8 } @faults[ 0 .. 4 ] }, '... and at each later step');
is(join(' ', grep { !/^(40001|55P03)$/ } sort keys %{ $load->errors }), '', 'all errors are those of the page');
is(ask(q{SELECT DISTINCT state FROM told WHERE body > n}), 'other request', 'another body is always another request');
is(ask(q{SELECT count(stored), sum(stored) FROM told WHERE fault LIKE 'late%'}), $commands / 4 . '|0',
	'late answers are refused');
is(ask(q{SELECT count(*), count(DISTINCT n), count(DISTINCT charge), count(DISTINCT answer)
		FROM (SELECT DISTINCT n, charge, answer FROM told WHERE state = 'answered' OR stored = 1) told;
		SELECT count(DISTINCT (n, charge)) FROM told WHERE charge IS NOT NULL}),
	join('|', ($commands) x 4) . "\n$commands", 'each command has one charge, and one answer');

# --- Effects --------------------------------------------------------------------------------
# After five of the faults, another worker calls the provider, which causes a second effect if the provider ignores
# keys.
my $several = 5 * $commands / 8;
my $ignored = '(SELECT key, count(*) AS effects FROM effects WHERE NOT honoured GROUP BY key) ignored';
# The last calls may still be running.
ok($node->poll_query_until('provider', qq{
	SELECT count(*) = $commands AND count(*) FILTER (WHERE effects > 1) >= $several
		AND (SELECT count(DISTINCT key) = $commands FROM effects WHERE honoured) FROM $ignored}),
	'... of commands with several effects at a provider that ignores keys');
is(ask('SELECT count(*), count(DISTINCT key), count(DISTINCT reference) FROM effects WHERE honoured', 'provider'),
	join('|', ($commands) x 3), 'a provider that honours keys has one effect of each');
note("commands by effects there:\n", ask("SELECT effects, count(*) FROM $ignored GROUP BY 1 ORDER BY 1", 'provider'));
done_testing();
