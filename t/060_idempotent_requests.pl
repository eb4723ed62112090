# HTTP requests with idempotency keys: repeated, concurrent, rolled back and of other tenants;
# INSERTs that a client repeats, with its own key; PostgreSQL 19's ON CONFLICT DO SELECT; keys of
# fixtures, imports and offline clients. The SQL is that of docs/recipes.md.

use Page;
use Server;

start_server('requests', 'autovacuum = off');
my $recipe = Page->new('recipes');
my $control = session();

# --- Creating once, and returning the row ------------------------------------
{
	my $heading = 'Creating once, and returning the row';
	my ($one, $two) = map { session() } 1 .. 2;
	my ($readme) = Page->new('./README.md')->blocks('More examples');
	my ($statement) = $readme =~ /^PREPARE create_order.*? AS\n(.*?);/ms;
	my $joined = $statement =~ s/(INSERT.*created)/$1 RETURNING */r
	  =~ s/SELECT entity_id, created FROM command/SELECT created, coalesce(i.id, o.id) FROM command c
		LEFT JOIN inserted i ON i.id = entity_id LEFT JOIN orders o ON o.id = entity_id/r;
	my $command = q{'018f0000-0000-7000-8000-00000000000%d', 'first'};

	$recipe->paste($heading);
	ask('CREATE TABLE orders (id uuid PRIMARY KEY, note text)');
	for ($one, $two)
	{
		$_->ask($recipe->prepared($heading));
		$_->ask("PREPARE create_order(uuid, text) AS $joined");
		die $_->{message} if $_->{sqlstate};
	}

	# the pages' statements, with a second request that waits for the first
	my $call = sprintf "create_booking($command)", 1;
	$one->ask('BEGIN');
	my ($id, $created) = split /\|/, $one->ask("EXECUTE $call");
	is($created, 't', 'the first request is to create');
	is($one->ask("EXECUTE insert_booking('$id', 'first')"), "$id|first", '... and returns its row');
	$two->ask('BEGIN');
	$two->send("EXECUTE $call");
	ok($control->poll_waiting($two), 'the second request waits');
	$one->ask('COMMIT');
	is($two->answer, "$id|f", '... and gets the id');
	is($two->ask("EXECUTE find_booking('$id')"), "$id|first", '... and the row, in a second statement');
	$two->ask('COMMIT');

	# a join in the same statement
	$call = sprintf "create_order($command)", 2;
	$one->ask('BEGIN');
	like($one->ask("EXECUTE $call"), qr/^t\|[0-9a-f-]{36}$/, 'a join in the same statement has the row of the first request');
	$two->send("EXECUTE $call");
	ok($control->poll_waiting($two), 'the second request waits');
	$one->ask('COMMIT');
	is($two->answer, 'f|', '... and finds no row: its snapshot is older');
}

sub payment
{
	my ($key, %with) = @_;
	my $tenant = $with{tenant} // 1;
	my $amount = $with{amount} // 100;
	my $proposed = $with{proposed} // 'idgen.short_comb()';
	return "SELECT answer->>'id', created FROM create_payment('5ca1ab1e-0000-4000-8000-00000000000$tenant', '$key', $amount, $proposed)";
}

{
	my ($stdout) = $recipe->paste('HTTP idempotency keys');
	like($stdout, qr/^(\{.*"status": "accepted"\})\|t\n\1\|f$/m, 'a repeated request gets the first answer');
	is($recipe->outcome(payment('order 4711, first try', amount => 999)), '23514 creation_identifiers_same_command',
		'a reused key is named by the constraint');
	is($recipe->outcome(payment('') =~ s/''/NULL/r), '23514 idempotency_key_check', 'and a missing one');
	is($recipe->outcome(payment($_)), '23514 idempotency_key_check', 'refused: a key of ' . length($_) . ' characters') for '', 'k' x 256;
	is($recipe->outcome(payment('bad', amount => $_)), '23514 payment_amount_check', "refused: the amount $_")
	  for qw(NULL 0 -1 'NaN' 'Infinity' 1e12 0.001 1e131071);
	like($recipe->outcome(payment('good', amount => $_)), $_ eq '1.5' ? qr/\|t$/ : qr/\|f$/, "accepted: the amount $_") for qw(1.5 1.500 15e-1);
	like($recipe->outcome(payment('k' x 255)), qr/\|t$/, 'a key of 255 characters is not');
	like($recipe->outcome(payment('k' x 254)), qr/\|t$/, 'and each character counts');
	is($recipe->outcome(payment('k' x 255, amount => 7)), '23514 creation_identifiers_same_command', 'a key for another request is refused');
	like($recipe->outcome(payment('k' x 255, tenant => 2, amount => 7)), qr/\|t$/, 'another tenant may use it');

	# A request that is still running
	my ($one, $two) = map { session() } 1 .. 2;
	$one->ask('BEGIN');
	like($one->ask(payment('running')), qr/\|t$/, 'a request runs');
	my $first = $one->answer;
	is($two->ask(payment('running')), '55P03', 'a repeated one that waits ends with 55P03');
	like($two->ask(payment('another')), qr/\|t$/, 'one with another key does not wait');
	$one->ask('COMMIT');
	is($two->ask(payment('running')), $first =~ s/t$/f/r, 'it gets the first answer when that is there');

	# A first attempt that is rolled back, as by a crash before the commit
	my $old = q{idgen.short_comb(clock => now() - interval '1 hour')};
	$one->ask('BEGIN');
	my $lost = $one->ask(payment('rolled back'));
	$one->ask('ROLLBACK');
	is($recipe->outcome(payment('rolled back', proposed => $old)), '23514 payments_id_is_recent', 'then a repeated request with an old proposed id is refused');
	like($recipe->outcome(payment('rolled back')), qr/^(?!\Q$lost\E).*\|t$/, 'with a new one it is done, with another payment id');
	like($recipe->outcome(payment('rolled back', proposed => $old)), qr/\|f$/, 'once done, the proposed id is not used');
	is(ask('SELECT count(*) FROM payments'), 8, 'each request made one payment');

	# Another tenant that guesses the key, and a role with the page's rights
	my $command = "idgen.create_once(idgen.uuid_v5('5ca1ab1e-0000-4000-8000-000000000001', 'good'), idgen.short_comb(), 'create payment',";
	is($recipe->outcome("SELECT * FROM $command '$_')"), '23514 creation_identifiers_same_command',
		'another tenant gets no answer for a guessed command id')
	  for '{"amount": 1.5}', '{"tenant": "5ca1ab1e-0000-4000-8000-000000000002", "amount": 1.5}';
	like($recipe->outcome('SET ROLE payment_service; ' . payment('by the service')), qr/\|t$/, 'the rights suffice for a payment');
	like($recipe->outcome('SET ROLE payment_service; ' . payment('by the service')), qr/\|f$/, 'and for a repeated request');
	is($recipe->outcome("SET ROLE payment_service; DELETE FROM $_"), '42501', "but not for DELETE FROM $_")
	  for 'payments', 'idgen.creation_identifiers';

	# A payment that was deleted
	my $delete = q{DELETE FROM payments WHERE tenant = '5ca1ab1e-0000-4000-8000-000000000001' AND amount = 1.5 RETURNING id};
	my $deleted = ask($delete);
	is($recipe->outcome(payment('good', amount => 1.5)), '|f', 'the answer of a deleted payment is empty');
	is(ask("SELECT idgen.forget_creation_of('$deleted')"), 1, 'its command can be forgotten');
	like($recipe->outcome(payment('good', amount => 1.5)), qr/\|t$/, 'and then it is created again');

	my ($one_key, $other) = map { my ($tenant, $key) = @$_;
		ask("SELECT idgen.uuid_v5(idgen.uuid_v5('00000000-0000-0000-0000-000000000000', '$tenant'), '$key')") } [ 'a', 'bc' ], [ 'ab', 'c' ];
	isnt($one_key, $other, 'a tenant that is a text and a key are not run together');
}

# --- INSERTs that a client repeats ----------------------------------------------
my $heading = 'A client that repeats its INSERT';

{
	my $old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
	my $create = $recipe->prepared($heading);
	$recipe->paste($heading);
	my $id = ask('SELECT idgen.uuid_v7()');
	is($recipe->outcome("$create EXECUTE create_report('$id', 'one'); EXECUTE create_report('$id', 'two'); SELECT body FROM reports"), 'one',
		'a repeated INSERT changes nothing');
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '23514 reports_id_is_recent', 'a late repetition of what was rolled back is refused');
	ask("ALTER TABLE reports DISABLE TRIGGER reports_id_is_recent; INSERT INTO reports VALUES ('$old', 'then'); ALTER TABLE reports ENABLE TRIGGER reports_id_is_recent");
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '', 'a late repetition of what was committed succeeds');
	is(ask("SELECT body FROM reports WHERE id = '$old'"), 'then', 'and changes nothing');
}

SKIP:
{
	skip 'ON CONFLICT DO SELECT is there from PostgreSQL 19 on', 8 if ask('SHOW server_version_num') < 190000;
	my ($find_or_create) = $recipe->blocks($heading, 'text');
	my ($one, $two) = map { session() } 1 .. 2;
	my $id = ask('SELECT idgen.uuid_v7()');

	$_->ask($find_or_create) for $one, $two;
	$one->ask('BEGIN');
	is($one->ask("EXECUTE find_or_create_report('$id', 'mine')"), 't', 'DO SELECT: the first one creates the row');
	$two->send("EXECUTE find_or_create_report('$id', 'other')");
	ok($control->poll_waiting($two), 'the second one waits');
	$one->ask('COMMIT');
	is($two->answer, 'f', 'and is told that the row is another');
	is($two->ask("EXECUTE find_or_create_report('$id', 'mine')"), 't', 'a repetition is told that it is its own');
	is(ask("SELECT body FROM reports WHERE id = '$id'"), 'mine', 'which is not changed');

	$two->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM reports');
	my $unseen = ask('SELECT idgen.uuid_v7()');
	$one->ask("EXECUTE find_or_create_report('$unseen', 'mine')");
	is($two->ask("EXECUTE find_or_create_report('$unseen', 'mine')"), '40001', 'REPEATABLE READ: a row that is not visible is 40001');
	$two->ask('ROLLBACK');

	ask('CREATE ROLE writer; GRANT INSERT ON reports TO writer');
	is($recipe->outcome("SET ROLE writer; $find_or_create EXECUTE find_or_create_report('$id', 'mine')"), '42501', 'it requires SELECT');
	ask('GRANT SELECT ON reports TO writer');
	is($recipe->outcome("SET ROLE writer; $find_or_create EXECUTE find_or_create_report('$id', 'mine')"), 't', 'which suffices');
}

# --- Tests, fixtures, imports, offline clients --------------------------------------
# What check_recent_id() refuses, and the ways past it. (Restores of data: t/042_restore.pl.)
my $title = 'Tests, fixtures, imports, offline clients';
$recipe->paste($title);
ask('CREATE ROLE app; GRANT INSERT ON reports, inspections TO app; GRANT loader TO app');

sub insert
{
	my ($role, $table, $id) = @_;
	return outcome("SET ROLE $role; INSERT INTO $table VALUES ($id, 'a row')") || 'stored';
}
my $fixture = q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'orders.one')};
my $old = q{idgen.uuid_v7('2001-01-01 00:00:00+00')};
is(insert('app', 'reports', $fixture), '23514', 'the name-based key of a fixture is refused');
is(insert('app', 'reports', $old), '23514', 'so is a key of a clock that a test has set');
is(insert('loader', 'reports', $fixture), 'stored', 'the loading role stores fixtures');
is(insert('loader', 'reports', $old), 'stored', '... and old keys');
is(insert('app', 'reports', 'idgen.uuid_v7()'), 'stored', 'the application stores new keys');
is(outcome("SELECT idgen.check_recent_uuid_v7($old, clock => '2001-01-01 00:05:00+00') IS NOT NULL"), 't',
	'a late batch is checked against its own time');

ask('ALTER TABLE reports DISABLE TRIGGER reports_id_is_recent');
is(insert('app', 'reports', q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'orders.two')}), 'stored',
	'so are fixtures while the trigger is disabled');

# clients that were offline
my $days_ago = q{idgen.short_comb(clock => now() - interval '%s')};
is(insert('app', 'inspections', sprintf $days_ago, '2 days 23 hours'), 'stored', 'a key of three days ago is stored');
is(insert('app', 'inspections', sprintf $days_ago, '3 days 2 minutes'), '23514', 'an older one is refused');
is(insert('app', 'inspections', q{idgen.short_comb(clock => now() + interval '10 minutes')}), '23514', '... as is one of the future');
my ($share) = $recipe->section($title) =~ /that ([\d,]+) of the 65,536 prefixes pass/;
is(ask(q{
	SELECT count(*) FROM generate_series(0, 65535) prefix
	WHERE idgen.is_recent_short_comb((lpad(to_hex(prefix), 4, '0') || '000000004000' || '8000000000000000')::uuid,
		past_tolerance => '3 days', future_tolerance => '5 minutes', clock => '2026-11-20 03:44:30+00')}),
	$share =~ s/,//r, 'as many prefixes pass as the page says');
done_testing();
