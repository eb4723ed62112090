# The recipes of docs/recipes.md do what the page says. The SQL is that of the
# page. t/062_keys_in_use.pl has the tables with foreign keys.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = Page->new('recipes');
my $node = PostgreSQL::Test::Cluster->new('recipes');
$node->init;
$node->append_conf('postgresql.conf', q{
max_connections = 60
max_prepared_transactions = 1
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen; CREATE DATABASE other');

# Paste a block into psql: what it prints, and the errors and messages.
sub paste
{
	my ($sql, %options) = @_;
	my ($stdout, $stderr);

	local $ENV{PGOPTIONS} = $options{options} // '';
	$node->psql('postgres', $sql,
		on_error_stop => 0,
		stdout => \$stdout,
		stderr => \$stderr,
		extra_params => [ '--set=VERBOSITY=verbose' ]);
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $sql =~ /-- error (\w{5})/g ], "$options{name}: the errors are those announced")
	  or diag($stderr);
	return ($stdout, $stderr);
}

# What a statement returns, or "SQLSTATE constraint"
sub outcome
{
	my ($sql) = @_;
	my ($stdout, $stderr);

	$node->psql('postgres', $sql, stdout => \$stdout, stderr => \$stderr, on_error_stop => 1, extra_params => [ '--set=VERBOSITY=verbose' ]);
	return $stdout unless $stderr =~ /ERROR:  (\w{5})/;
	my $sqlstate = $1;
	return $sqlstate . ($stderr =~ /CONSTRAINT NAME:  (\S+)/ ? " $1" : '');
}

# The statement that a section prepares
sub prepared
{
	my ($heading) = @_;

	return (join('', $page->blocks($heading)) =~ /^(PREPARE.*?;)/ms)[0] // die 'nothing is prepared';
}

sub query { return $node->safe_psql('postgres', @_) }

sub session
{
	my (%where) = @_;
	my $session = Client->connect($node, %where);

	$session->wait and die 'no session';
	return $session;
}

my $zero = '00000000-0000-0000-0000-000000000000';

# --- HTTP idempotency keys --------------------------------------------------

sub payment
{
	my ($key, %with) = @_;
	my $tenant = $with{tenant} // 1;
	my $amount = $with{amount} // 100;
	my $proposed = $with{proposed} // 'idgen.short_comb()';

	return "SELECT answer->>'id', created FROM create_payment('5ca1ab1e-0000-4000-8000-00000000000$tenant', '$key', $amount, $proposed)";
}

{
	my ($stdout, $stderr) = paste($page->blocks('HTTP idempotency keys'), name => 'idempotency keys');
	like($stdout, qr/^(\{.*"status": "accepted"\})\|t\n\1\|f$/m, 'a repeated request gets the first answer');
	is_deeply([ $stderr =~ /CONSTRAINT NAME:  (\S+)/g ], [qw(creation_identifiers_same_command idempotency_key_check payment_amount_check)],
		'a reused key, a missing one and a bad amount are told apart by the constraint');

	is(outcome(payment($_)), '23514 idempotency_key_check', 'refused: a key of ' . length($_) . ' characters') for '', 'k' x 256;
	is(outcome(payment('bad', amount => $_)), '23514 payment_amount_check', "refused: the amount $_")
	  for qw(NULL 0 -1 'NaN' 'Infinity' 1e12 0.001 1e131071);
	like(outcome(payment('good', amount => $_)), $_ eq '1.5' ? qr/\|t$/ : qr/\|f$/, "accepted: the amount $_") for qw(1.5 1.500 15e-1);
	like(outcome(payment('k' x 255)), qr/\|t$/, 'a key of 255 characters is not');
	like(outcome(payment('k' x 254)), qr/\|t$/, 'and each character counts');
	is(outcome(payment('k' x 255, amount => 7)), '23514 creation_identifiers_same_command', 'a key for another request is refused');
	like(outcome(payment('k' x 255, tenant => 2, amount => 7)), qr/\|t$/, 'another tenant may use it');

	# A request that is still running
	my ($one, $two) = map { session() } 1 .. 2;
	$one->ask('BEGIN');
	like($one->ask(payment('running')), qr/\|t$/, 'a request runs');
	my $first = $one->answer;
	is($two->ask(payment('running')), '55P03', 'a repeated one that waits ends with 55P03');
	like($two->ask(payment('another')), qr/\|t$/, 'one with another key does not wait');
	$one->ask('COMMIT');
	is($two->ask(payment('running')), $first =~ s/t$/f/r, 'it gets the first answer when that is there');

	# A first attempt that is rolled back
	my $old = q{idgen.short_comb(clock => now() - interval '1 hour')};
	$one->ask('BEGIN');
	$one->ask(payment('rolled back'));
	$one->ask('ROLLBACK');
	is(outcome(payment('rolled back', proposed => $old)), '23514 check_id', 'then a repeated request with an old proposed id is refused');
	like(outcome(payment('rolled back')), qr/\|t$/, 'with a new one it is done');
	like(outcome(payment('rolled back', proposed => $old)), qr/\|f$/, 'once done, the proposed id is not used');
	is(query('SELECT count(*) FROM payments'), 8, 'each request made one payment');

	# Another tenant that guesses the key, and a role with the page's rights
	my $command = "idgen.create_once(idgen.uuid_v5('5ca1ab1e-0000-4000-8000-000000000001', 'good'), idgen.short_comb(), 'create payment',";
	is(outcome("SELECT * FROM $command '$_')"), '23514 creation_identifiers_same_command', 'another tenant gets no answer for a guessed command id')
	  for '{"amount": 1.5}', '{"tenant": "5ca1ab1e-0000-4000-8000-000000000002", "amount": 1.5}';
	like(outcome('SET ROLE payment_service; ' . payment('by the service')), qr/\|t$/, 'the rights suffice for a payment');
	like(outcome('SET ROLE payment_service; ' . payment('by the service')), qr/\|f$/, 'and for a repeated request');
	is(outcome("SET ROLE payment_service; $_"), '42501', "but not for: $_") for 'DELETE FROM payments', 'DELETE FROM idgen.creation_identifiers';

	# A payment that was deleted
	my $delete = q{DELETE FROM payments WHERE tenant = '5ca1ab1e-0000-4000-8000-000000000001' AND amount = 1.5 RETURNING id};
	my $deleted = query($delete);
	is(outcome(payment('good', amount => 1.5)), '|f', 'the answer of a deleted payment is empty');
	is(query("SELECT idgen.forget_creation_of('$deleted')"), 1, 'its command can be forgotten');
	like(outcome(payment('good', amount => 1.5)), qr/\|t$/, 'and then it is created again');

	# A crash between the call of a service and the commit
	my %service;
	my $attempt = sub {
		my ($session) = @_;

		$session->ask('BEGIN');
		my $answer = $session->ask(payment('crash'));
		$service{ $session->ask("SELECT idgen.uuid_v5('5ca1ab1e-0000-4000-8000-000000000001', 'crash')") }++;
		return $answer;
	};
	my $lost = $attempt->($one);
	query("SELECT pg_terminate_backend($one->{pid}, 60000)");
	is(query("SELECT count(*) FROM payments WHERE id = '" . ($lost =~ s/\|.*//r) . "'"), 0, 'the first attempt crashes before its commit');
	my $kept = $attempt->($two);
	$two->ask('COMMIT');
	like($kept, qr/\|t$/, 'the second one creates the payment');
	isnt($kept, $lost, 'with another id');
	is_deeply([ values %service ], [2], 'but the service gets the same idempotency key');

	# The lease
	my $lease = ($page->blocks('Calls to other services'))[0];
	paste($lease, name => 'lease');
	$lease = join '', $lease =~ /^(PREPARE.*?;)/msg;
	my ($id) = split /\|/, outcome(payment('leased'));
	my @workers = map { session() } 1 .. 2;
	$_->ask("SET ROLE payment_service; $lease") for @workers;
	my $take = sub { return $_[0]->ask("EXECUTE take_lease('$id', '$_[1]')") };
	my $record = sub { return $_[0]->ask("EXECUTE record_receipt('$id', $_[1], 'receipt $_[1]')") };
	$workers[0]->ask('BEGIN');
	is($take->($workers[0], '1 hour'), 1, 'a worker takes a lease');
	$workers[1]->send("EXECUTE take_lease('$id', '1 hour')");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $workers[1]{pid}");
	$workers[0]->ask('COMMIT');
	is($workers[1]->answer, '', 'another one, which waited for it, gets none');
	query("UPDATE payments SET leased_until = clock_timestamp() - interval '1 second' WHERE id = '$id'");
	is($take->($workers[1], '1 hour'), 2, 'when it has ended, it takes over');
	is($record->($workers[0], 1), '', 'the result of the first one changes nothing');
	is($record->($workers[1], 2), $id, 'that of the second is recorded');
	is($record->($workers[1], 2), '', 'once');
	query("UPDATE payments SET leased_until = clock_timestamp() - interval '1 second' WHERE id = '$id'");
	is($take->($workers[0], '1 hour'), '', 'then nobody gets a lease');
	is(query("SELECT receipt FROM payments WHERE id = '$id'"), 'receipt 2', 'and the receipt stays');
	$_->quit for @workers, $two;

	is( query("SELECT idgen.uuid_v5(idgen.uuid_v5('$zero', 'a'), 'bc') = idgen.uuid_v5(idgen.uuid_v5('$zero', 'ab'), 'c')"),
		'f', 'a tenant that is a text and a key are not run together');
}

# What PostgREST does for a POST: it sets the request, and calls the function.
sub post
{
	my ($session, %request) = @_;
	my $headers = exists $request{key} ? "{\"idempotency-key\": \"$request{key}\"}" : '{}';
	my $tenant = $request{tenant} // 1;
	my $method = $request{method} // 'POST';

	$session->ask('ROLLBACK');
	$session->ask("BEGIN; SELECT set_config('request.method', '$method', true), set_config('request.path', '/bookings', true),
		set_config('request.headers', '$headers', true), set_config('role', 'booking_user', true),
		set_config('request.jwt.claims', '{\"tenant\": \"5ca1ab1e-0000-4000-8000-00000000000$tenant\"}', true)");
	my $answer = $session->ask('SELECT record_request()');
	return $answer if $answer ne '' || $method ne 'POST';
	return $session->ask('INSERT INTO bookings (seats) VALUES (2) RETURNING id');
}

{
	paste($page->blocks('PostgREST'), name => 'PostgREST');
	my ($one, $two) = map { session() } 1 .. 2;

	my $id = post($one, key => 'first');
	is(post($two, key => 'first'), 'PGRST', 'a repeated request does not wait for long');
	like($two->{message}, qr/still running/, 'it is told that the first is running');
	like(post($two, key => 'first', tenant => 2), qr/^[0-9a-f-]{36}$/, "another tenant's does not wait");
	$two->ask('COMMIT');
	$one->ask('COMMIT');
	is(post($two, key => 'first'), 'PGRST', 'a repeated request ends');
	is($two->{detail}, "{\"status\" : 303, \"headers\" : {\"Location\" : \"/bookings?id=eq.$id\"}}", 'with the address of the first row');
	is(post($two), 'P0001', 'a request without a key is refused');
	is(post($two, key => 'k' x 256), 'P0001', 'and one with a long key');
	is(post($two, method => 'PATCH'), '', 'other requests need no key');
	is($two->ask('SELECT id FROM bookings'), $id, 'a tenant sees its own rows');
	is($two->ask("INSERT INTO bookings (id, seats) VALUES ('$zero', 2)"), '42501', 'the user cannot choose the id');
	post($two, method => 'PATCH');
	is($two->ask("INSERT INTO bookings (seats) VALUES (2)"), '23502', 'nor insert without a recorded request');
	$two->ask('ROLLBACK');

	# A request whose INSERT fails leaves nothing.
	post($one, key => 'fails');
	is($one->ask('INSERT INTO bookings (seats) VALUES (3)'), '23505', 'a request makes one row');
	$one->ask('ROLLBACK');
	like(post($one, key => 'fails'), qr/^[0-9a-f-]{36}$/, 'what was rolled back can be repeated');
	$one->ask('COMMIT');
	is(query('SELECT count(*), count(DISTINCT tenant) FROM bookings'), '3|2', 'each request made one booking');
	$_->quit for $one, $two;
}

# --- A client that repeats its INSERT ---------------------------------------

{
	my $heading = 'A client that repeats its INSERT';
	my $old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
	my $create = prepared($heading);

	paste($page->blocks($heading), name => 'repeated INSERT');
	my $id = query('SELECT idgen.uuid_v7()');
	is(outcome("$create EXECUTE create_report('$id', 'one'); EXECUTE create_report('$id', 'two'); SELECT body FROM reports"), 'one', 'a repeated INSERT changes nothing');
	is(outcome("$create EXECUTE create_report('$old', 'late')"), '23514 check_id', 'a late repetition of what was rolled back is refused');
	query("ALTER TABLE reports DISABLE TRIGGER check_id; INSERT INTO reports VALUES ('$old', 'then'); ALTER TABLE reports ENABLE TRIGGER check_id");
	is(outcome("$create EXECUTE create_report('$old', 'late')"), '', 'a late repetition of what was committed succeeds');
	is(query("SELECT body FROM reports WHERE id = '$old'"), 'then', 'and changes nothing');
}

# --- An event feed that loses nothing ---------------------------------------

# A reader of the feed knows which events it got, in a session where the page's
# query is prepared.
sub reader
{
	my ($kind) = @_;
	my $session = session();

	$session->ask("PREPARE naive(uuid) AS SELECT id, id FROM events WHERE id > \$1 ORDER BY id LIMIT 1000");
	$session->ask(prepared('An event feed that loses nothing'));
	die $session->{message} if $session->{sqlstate};
	return { kind => $kind, session => $session, position => $kind eq 'naive' ? [ '', $zero ] : [ 0, $zero ], got => [] };
}

sub read_events
{
	my ($reader) = @_;
	my $session = $reader->{session};

	do
	{
		my ($transaction, $id) = @{ $reader->{position} };

		$session->ask($reader->{kind} eq 'naive' ? "EXECUTE naive('$id')" : "EXECUTE next_events('$transaction', '$id')");
		die $session->{message} if $session->{sqlstate};
		for my $row (@{ $session->{rows} })
		{
			$reader->{position} = [ @$row[0, 1] ];
			push @{ $reader->{got} }, $row->[1];
		}
	} while (@{ $session->{rows} });
	return scalar @{ $reader->{got} };
}

# The events that the reader did not get, and those that it got again
sub lost
{
	my ($reader) = @_;
	my %left = map { $_ => 1 } split /\n/, query('SELECT id FROM events');
	my $twice = 0;

	delete $left{$_} or $twice++ for @{ $reader->{got} };
	return scalar(keys %left) . " lost, $twice twice";
}

my $insert = q{INSERT INTO events (body) VALUES ('{}')};

{
	my ($stdout) = paste($page->blocks('An event feed that loses nothing'), name => 'event feed');
	like($stdout, qr/^\d+\|[0-9a-f-]{36}\|\{"note": "one"\}$/m, 'the page shows an event');
	query('TRUNCATE events');

	# 32 writers insert in turn, and commit in the opposite order.
	my @writers = map { session() } 1 .. 32;
	my @readers = my ($naive, $settled) = map { reader($_) } qw(naive settled);
	for my $writer (@writers)
	{
		$writer->ask('BEGIN');
		$writer->ask($insert);
		read_events($_) for @readers;
	}
	for my $writer (reverse @writers)
	{
		is($settled->{got}[0], undef, 'nothing is read while the oldest writer runs') if $writer == $writers[0];
		$writer->ask('COMMIT');
		read_events($_) for @readers;
	}
	is(lost($naive), '31 lost, 0 twice', 'id > last loses the events of transactions that commit late');
	is(lost($settled), '0 lost, 0 twice', 'the recipe loses none');

	# The same in 32 transactions each, of which some are rolled back, in any order
	my $transactions = 32;
	my %todo;
	my $next = sub {
		my ($writer) = @_;
		my $todo = $todo{$writer} //= { left => $transactions, statements => [] };

		die "$writer->{sqlstate}: $writer->{message}" if $writer->{sqlstate};
		if (!@{ $todo->{statements} })
		{
			return if $todo->{left}-- <= 0;
			push @{ $todo->{statements} }, 'BEGIN', ($insert) x (1 + int rand 3);
			push @{ $todo->{statements} }, 'SAVEPOINT s', $insert, (rand() < .5 ? 'ROLLBACK TO s' : 'RELEASE s') if rand() < .3;
			push @{ $todo->{statements} }, rand() < .1 ? 'ROLLBACK' : 'COMMIT';
		}
		$writer->send(shift @{ $todo->{statements} });
	};
	my $replies = 0;
	my $until = 0;

	$next->($_) for @writers;
	while (grep { $_->is_busy } @writers)
	{
		my @done = Client::wait_for_any(\@writers, $PostgreSQL::Test::Utils::timeout_default) or die 'no answer';

		$next->($_) for @done;
		$replies += @done;
		if ($replies >= $until)
		{
			read_events($_) for @readers;
			$until = $replies + 20;
		}
	}
	read_events($_) for @readers;
	is(scalar(grep { $_->{left} < 0 } values %todo), 32, 'all writers have done their transactions');
	is(lost($settled), '0 lost, 0 twice', '32 concurrent writers: the recipe loses none, and reads none twice');
	cmp_ok(scalar @{ $settled->{got} }, '>', 32, 'there were events');
	is( query(q{SELECT string_agg(id::text, ' ' ORDER BY transaction, id) FROM events}),
		join(' ', @{ $settled->{got} }), 'they come in the order of transaction and id');
	note('id > last: ' . lost($naive) . ' of ' . query('SELECT count(*) FROM events'));
	$_->quit for @writers;

	# What delays a reader
	my $other = session(database => 'other');
	my $before = @{ $settled->{got} };
	$other->ask('BEGIN; SELECT pg_current_xact_id()');
	query($insert);
	is(read_events($settled), $before, 'a transaction in another database delays the reader');
	is(query('SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL'), 1, 'and is shown');
	$other->ask("PREPARE TRANSACTION 'forgotten'");
	is(read_events($settled), $before, 'a prepared one, too');
	is(query('SELECT count(*) FROM pg_prepared_xacts'), 1, 'and is shown');
	$other->ask("ROLLBACK PREPARED 'forgotten'");
	is(read_events($settled), $before + 1, 'then the reader gets it');

	my $plan = query('SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan; '
		  . prepared('An event feed that loses nothing') . " EXPLAIN (COSTS OFF) EXECUTE next_events('0', '$zero')");
	like($plan, qr/Index Scan using events_transaction_id_idx.*Index Cond: (?=.*ROW\(\$1, \$2\))(?=.*pg_snapshot_xmin)/s, 'the query uses the index')
	  and unlike($plan, qr/Filter|Sort/, 'for all of it');

	# Old events are deleted below a position.
	my ($transaction, $id) = @{ $settled->{position} };
	query("DELETE FROM events WHERE (transaction, id) <= ('$transaction', '$id')");
	is(query('SELECT count(*) FROM events'), 0, 'what was read can be deleted');
	$_->{session}->quit for @readers;
	$other->quit;
}

# --- Store a uuid, show a prefixed id ---------------------------------------

{
	my $heading = 'Store a uuid, show a prefixed id';
	my ($lookup, $generated, $sizes) = $page->blocks($heading);
	my $id = 'cust_03cu7ltbh43kmxopehhx215t7';

	my ($stdout) = paste($lookup, name => 'prefixed ids');
	is($stdout, "$id|one", 'a row is found by its text');
	query(q{INSERT INTO customers (name) SELECT 'other' FROM generate_series(1, 1000); ANALYZE customers});
	for my $mode (qw(force_custom_plan force_generic_plan))
	{
		like(
			query("SET plan_cache_mode = $mode; " . prepared($heading) . " EXPLAIN (COSTS OFF) EXECUTE find_customer('$id')"),
			qr/Index Scan using customers_pkey/, "with the index ($mode)");
	}
	like(query("EXPLAIN (COSTS OFF) SELECT FROM shown_customers WHERE public_id = '$id'"),
		qr/^Seq Scan on customers/, 'a condition on the shown column reads the table');
	($stdout) = paste($generated, name => 'generated column');
	is($stdout, 'one', 'a row is found by the generated column');
	query('ANALYZE customers');
	like(query("EXPLAIN (COSTS OFF) SELECT FROM customers WHERE shown_id = '$id'"),
		qr/customers_shown_id_key/, 'with its index');
	is(outcome(q{CREATE TABLE shown (id uuid, shown text GENERATED ALWAYS AS (idgen.prefixed_id('cust', id)) VIRTUAL)}),
		query('SHOW server_version_num') >= 180000 ? '0A000' : '42601', 'a virtual column cannot call the function');

	# The sizes are those that the page shows.
	($stdout) = paste($sizes, name => 'sizes');
	my %measured = $stdout =~ /^(\w+_ids)\|(\d+\|\d+)$/mg;
	my %row = map { $_->[0] => $_ } $page->table($heading);
	my %name = (
		plain_ids => 'uuid, shown by a view',
		both_ids => 'uuid and a generated column with an index',
		text_ids => 'text in a domain of `create_id_domain()`');
	for my $table (sort keys %name)
	{
		my @shown = map { tr/,//dr } @{ $row{ $name{$table} } }[ 1, 2 ];
		my @found = split /\|/, $measured{$table};

		is(scalar(grep { abs($found[$_] / $shown[$_] - 1) > 0.03 } 0, 1), 0, "$name{$table}: the sizes are those of the page")
		  or diag("page @shown, measured @found");
	}
}

# --- Changing the keys of a table in use ------------------------------------

sub file_of { return query("SELECT pg_relation_filenode('$_[0]')") }

{
	my ($create, $change) = split /^(?=ALTER)/m, ($page->blocks('From random keys'))[0];

	paste($create, name => 'random keys');
	my $file = file_of('sessions');
	my ($id) = paste($change, name => 'changed from random keys');
	is(file_of('sessions'), $file, 'a changed default rewrites nothing');
	is(query('SELECT count(*) FROM sessions'), 1001, 'old keys stay');
	is(query("SELECT idgen.is_recent_short_comb('$id', '1 day')"), 't', 'a new one is a short COMB');
}
{
	my ($stdout, $stderr) = paste($page->blocks('From bigserial or identity'), name => 'bigserial');
	my $settings = 'SET idgen.node_id = 1; ';

	cmp_ok($stdout, '>', 1000, 'the next key is a snowflake');
	is(query("SELECT idgen.snowflake_node($stdout)"), 1, 'of this server');
	like($stderr, qr/column "id" of table "receipts" is of type integer/, 'a column of four bytes is refused');
	is(query(q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'receipts'::regclass}), q{nextval('receipts_id_seq'::regclass)}, 'and not changed');

	query('CREATE TABLE far (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY); INSERT INTO far OVERRIDING SYSTEM VALUE VALUES (9223372036854775807)');
	is(outcome("$settings CALL change_to_snowflake('far', 'id')"), '22003', 'so is one with keys above the next snowflake');
	is(query(q{SELECT attidentity FROM pg_attribute WHERE attrelid = 'far'::regclass AND attname = 'id'}), 'a', 'which keeps its identity');
	query('TRUNCATE far');
	is(outcome("$settings CALL change_to_snowflake('far', 'id')"), '', 'an empty table with an identity column is changed');
	is(query("$settings INSERT INTO far DEFAULT VALUES RETURNING id > 1000000"), 't', 'and gets snowflakes');
	is(outcome("$settings CALL change_to_snowflake('far', 'di')"), '42703', 'a column that does not exist is an error');
}

# --- Coming from another extension ------------------------------------------

{
	my %named = map { $_ => 1 } map { ($_->[2] // '') =~ /\b([a-z_0-9]+)\((?!MD5)/g } $page->table('Coming from another extension');

	delete @named{qw(clock_timestamp make_interval)};
	cmp_ok(scalar keys %named, '>', 20, 'the page names functions');
	is( join(' ', grep { query("SELECT count(*) FROM pg_proc WHERE proname = '$_' AND pronamespace = 'idgen'::regnamespace") == 0 } sort keys %named),
		'', 'and all exist');

	# Values of other extensions, from their documents
	is( query(q{SET timezone = 'UTC'; SELECT idgen.uuid_timestamp('018570bb-4a7d-7c7e-8df4-6d47afd8c8fc'), idgen.uuid_v7_floor('2023-01-02 04:26:40.637+00')}),
		'2023-01-02 04:26:40.637+00|018570bb-4a7d-7000-8000-000000000000', 'pg_uuidv7: the same time and bound');
	is( query(q{SET timezone = 'UTC'; SELECT idgen.snowflake_timestamp(136169504773242881, '2023-01-01 00:00:00+00'), 136169504773242881 & 1023, (136169504773242881 >> 10) & 4095}),
		'2024-01-11 18:08:59.845+00|1|0', 'pgEdge: the same time, and the node of an early release');
	is( query(q{SELECT idgen.typeid_prefix(id), idgen.typeid_from_uuid('member', idgen.typeid_to_uuid(id)) = id FROM (VALUES ('member_01h455vb4pex5vsknk084sn02q')) v(id)}),
		'member|t', 'typeid-sql: the same text');
	is(query(q{SELECT left(idgen.short_comb(make_interval(secs => 60), clock => '2026-11-20 03:44:00+00')::text, 4) = lpad(to_hex((extract(epoch FROM timestamptz '2026-11-20 03:44:00+00') / 60)::bigint % 65536), 4, '0')}),
		't', 'sequential-uuids: the same prefix');

  SKIP:
	{
		skip 'uuid-ossp is not installed', 1 if query(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'uuid-ossp'}) == 0;
		is( query(q{CREATE EXTENSION "uuid-ossp"; SELECT bool_and(uuid_generate_v5(uuid_ns_url(), n) = idgen.uuid_v5('6ba7b811-9dad-11d1-80b4-00c04fd430c8', n)) FROM (SELECT 'https://example.com/' || i FROM generate_series(1, 100) i) v(n)}),
			't', 'uuid-ossp: the same name-based uuids');
	}
  SKIP:
	{
		skip 'uuidv7() is there from PostgreSQL 18 on', 1 if query('SHOW server_version_num') < 180000;
		is( query(q{SELECT bool_and(uuid_extract_timestamp(id) = idgen.uuid_timestamp(id) AND uuid_extract_version(id) = idgen.uuid_version(id)) FROM (SELECT uuidv7() UNION ALL SELECT idgen.uuid_v7() FROM generate_series(1, 100)) v(id)}),
			't', 'PostgreSQL 18: the same time and version');
	}
}

# --- Node numbers in containers ---------------------------------------------

{
	my $heading = 'Node numbers in containers';
	my ($command) = $page->blocks($heading, 'sh');
	my $folder = PostgreSQL::Test::Utils::tempdir();

	# The image's entry point ends with the command that it is given.
	append_to_file("$folder/docker-entrypoint.sh", qq{#!/bin/sh\necho "\$@"\n});
	chmod 0755, "$folder/docker-entrypoint.sh";
	is(`PATH=$folder:\$PATH HOSTNAME=db-3 sh -c '$command'`, "postgres -c idgen.node_id=3\n", 'a pod gets its ordinal');
	like($page->section($heading), qr/`\$\(\(100 \+ \$\{HOSTNAME##\*-\}\)\)`/, 'the page has another first number');
	is(`HOSTNAME=db-17 sh -c 'echo \$((100 + \${HOSTNAME##*-}))'`, "117\n", 'which is added');

	# A table takes the place of that of Citus.
	query('CREATE TABLE pg_dist_local_group (groupid int); INSERT INTO pg_dist_local_group VALUES (7)');
	paste($page->blocks($heading), name => 'Citus');
	ok($node->poll_query_until('postgres', 'SELECT idgen.snowflake_node(idgen.snowflake()) = 8'), 'a node of Citus gets a number by its group');

	# The command line takes precedence. The server is stopped whatever it says.
	$node->stop;
	system_or_bail('pg_ctl', '--pgdata', $node->data_dir, '--wait', '--silent', '--log', $node->logfile, '--options', '-c idgen.node_id=3', 'start');
	my $number = eval { query('SELECT idgen.snowflake_node(idgen.snowflake())') };
	system_or_bail('pg_ctl', '--pgdata', $node->data_dir, '--wait', '--silent', '--mode', 'fast', 'stop');
	is($number, 3, 'a server gets the number of its command line');
}

done_testing();
