# Verify that the recipes in docs/recipes.md and docs/migrating.md, and the node numbers for containers in
# docs/scaling.md, work as described. (t/090_reference.pl pastes the recipes, contrib/clients/t tests lists and drivers,
# and t/061_partitions.pl tests partitions.)

use Functions;
use Page;
use Server;

my $node = Functions::add_key(init_server('recipes',
	"autovacuum = off\nmax_prepared_transactions = 1\nidgen.node_id = 1"));
$node->start;
my $recipe = Page->new('recipes');
my $migrating = Page->new('migrating');

# --- Recipes run as the role that created the extension, unless the section names a superuser -----
ask('CREATE ROLE installer LOGIN CREATEROLE; CREATE DATABASE owned OWNER installer');
my $privileged = '';
for ([ '', '' ], map { my $page = $_; map { [ $page, $_ ] } $page->headings } $recipe, $migrating)
{
	my ($page, $heading) = @$_;
	my $sql = $heading eq '' ? 'CREATE EXTENSION idgen' : join "\n", eval { $page->blocks($heading) };
	my (undef, $errors) = psql_said("\\set ON_ERROR_STOP off\n$sql", database => 'owned', user => 'installer');
	# Check only recipes that fail with 42501, or because a parameter that only a superuser can set is missing.
	# pg_partman before version 5 requires a superuser.
	next if $errors !~ /(?:ERROR|WARNING):  42501|ERROR:  55000/ || $heading eq 'pg_partman';
	$privileged .= "$heading, ";
	like($page->section($heading), qr/superuser/, "$heading: needs a superuser, and says so") or diag($errors);
}
is($privileged, 'Keys that applications make, Replacing a secret key, ',
	'the other recipes need none');
ask('DROP DATABASE owned');
ask('DROP ROLE loader, clerk, app');

# The role that purges is created on another page.
ask('CREATE EXTENSION idgen;'
	  . (Page->new('running')->section('Purge') =~ /^(CREATE ROLE janitor.*?TO janitor;)/ms)[0]);
my ($control, $one, $two) = map { session() } 1 .. 3;
my $zero = '00000000-0000-0000-0000-000000000000';

# --- Creating once, and returning the row ---------------------------------------------------
my $once = 'Creating once, and returning the row';
$recipe->paste($once);
# On a slow machine, the time between two statements may be longer than on the page.
my @app = map { session(user => 'app', options => '-c idle_in_transaction_session_timeout=0') } 1 .. 2;

# Return a version 7 UUID of the given age, and a time of the given age, as literals.
sub new_key { return "'" . ask('SELECT idgen.uuid_v7(' . new_time(@_) . ')') . "'" }
sub new_time { my ($age) = @_; return "'" . ask("SELECT clock_timestamp() - interval '@{[ $age // '0 s' ]}'") . "'" }

# Return the outcome of a statement of the application's role.
sub in_app { my ($sql) = @_; return $recipe->outcome($sql, user => 'app') }

# Record that a command of four days ago created a row, which has the next id. Then run the page's purge.
sub forget_after_purge
{
	my ($command, $name) = @_;
	ask("INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_id, created_at)
		VALUES ($command, '$name', idgen.uuid_v4(), now() - interval '4 days')");
	my ($purge) = $recipe->prose($once) =~ /`(SELECT idgen\.purge_creations\(.*?\))`/;
	is($recipe->outcome($purge, user => 'janitor'), 1, "$name: the purge deletes a command of four days ago");
}

{
	$_->ask($recipe->prepared($once)) for $one, $two, @app;
	my $command = new_key();
	my $call = "EXECUTE create_booking($command, 'first')";
	$app[0]->ask('BEGIN');
	my ($id, $created) = split /\|/, $app[0]->ask($call);
	is($created, 't', 'the first request is to create');
	is($app[0]->ask("EXECUTE insert_booking('$id', 'first')"), "$id|first", '... and returns its row');
	is($app[1]->ask($call), '55P03', 'a retry waits no longer than lock_timeout');

	# Send a second request, first as one statement that waits for the first request, and then as two statements.
	$two->send(qq{SELECT created, b.id FROM idgen.create_once($command, idgen.uuid_v4(), 'create booking',
		'{"note": "first"}') LEFT JOIN bookings b ON b.id = entity_id});
	ok($control->poll_waiting($two), 'the second request waits');
	$app[0]->ask('COMMIT');
	is($two->answer, 'f|', '... and finds no row in the same statement: its snapshot is older');
	is($app[1]->ask("BEGIN; $call"), "$id|f", '... but the id');
	is($app[1]->ask("EXECUTE find_booking('$id')"), "$id|first", '... and the row, in a second statement');
	$app[1]->ask('COMMIT');

	# The application's host disappears: its session stays idle in the transaction.
	my $lost = session(user => 'app');
	my $limit = 'idle_in_transaction_session_timeout';
	is($lost->ask("SHOW $limit"), '10s', 'an idle transaction ends after ten seconds');
	$call = "EXECUTE create_booking(@{[ new_key() ]}, 'lost')";
	like($lost->ask($recipe->prepared($once) . "BEGIN; $call"), qr/\|t$/, 'a first attempt');
	$lost->send("SET LOCAL $limit = '1ms'");
	ok(wait_until(sub { $app[1]->ask($call) =~ /\|t$/ }), '... and when its session has been ended, a retry succeeds');

	is($app[1]->ask("EXECUTE create_booking(@{[ new_key($_->[0]) ]}, 'aged')") =~ s/^[0-9a-f-]{36}//r, $_->[1],
		"a command id of $_->[0] ago: $_->[1]")
	  for [ '23 hours', '|t' ], [ '-9 minutes', '|t' ], [ '25 hours', '23514' ], [ '-11 minutes', '23514' ];
	my $old = new_key('4 days');
	forget_after_purge($old, 'create booking');
	is(in_app($recipe->prepared($once) . "EXECUTE create_booking($old, 'late')"), '23514 check_recent_uuid_v7',
		'... and its retry is an error');

	# Check the page's retention rule for all of its commands. The additional six hours allow for long statements and
	# clock errors.
	my $page = slurp_file('docs/recipes.md');
	my ($keep) = $page =~ /purge_creations\('(.*?)'\)/;
	my ($future) = $page =~ /future_tolerance => '(.*?)'/;
	my @past = $page =~ /(?:past_tolerance => |recent_command\(tenant, key, )'(.*?)'/g;
	is(scalar @past, 4, 'the page has four past tolerances');
	is(ask("SELECT interval '$_' + interval '$future' + interval '6 hours' < interval '$keep'"), 't',
		"... of which $_ and $future are less than $keep")
	  for @past;
}

# --- HTTP idempotency keys ------------------------------------------------------------------
my $tenants = '5ca1ab1e-0000-4000-8000-00000000000';

sub payment
{
	my ($key, %with) = (shift, tenant => "'${tenants}1'", amount => 100, @_);
	return "SELECT answer->>'id', created FROM create_payment($with{tenant}, $key, $with{amount})";
}
sub pay { return in_app(payment(@_)) }

{
	my $heading = 'HTTP idempotency keys';
	my ($stdout) = $recipe->paste($heading);
	like($stdout, qr/^(\{.*"status": "accepted"\})\|t\n\1\|f$/m, 'a repeated request gets the first answer');

	# The page maps an error's SQLSTATE or constraint to a status.
	my %status;
	for ($recipe->section($heading) =~ /^- (\d{3} for .*?)[;.]\n(?=- |\n)/msg)
	{
		my ($status, $errors) = /^(\d{3}) for (.*?):/s;
		$status{$_} = $status for $errors =~ /\b(\d\w{4})\b/g, $errors =~ /`(\w+)`/g;
	}
	my $prepared = $recipe->prepared($heading);
	my $status_of = sub {
		my ($error, $key) = @_;
		my $name = $error =~ s/^23514 //r;
		$name = 'is_ahead' if $name eq 'check_recent_uuid_v7' && in_app("$prepared EXECUTE is_ahead($key)") eq 't';
		return $status{$name} // $status{other};
	};
	($status{other}) = $recipe->section($heading) =~ /^- (\d{3}) for other errors, such as 22004/m;

	my $key = new_key();
	like(pay($key), qr/\|t$/, 'the role of the application creates a payment');
	my $last = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
	for (
		[ 400, 'the key', map { [ $_ ] } q{'order 4711'}, q{''}, 'NULL', q{E'\xff'}, 'idgen.uuid_v4()', "'$zero'",
			q{'01932f1e-6b80-7abc-cdef-0123456789ab'} ],
		[ 400, 'the amount', map { [ $key, amount => $_ ] } qw(NULL 0 -1 'NaN' 'Infinity' 1e12 0.001 1e131071 'a'
			'1e200000') ],
		[ 409, 'the key', map { [ $_ ] } new_key('-11 minutes'), "'$last'" ],
		[ 410, 'the key', map { [ $_ ] } new_key('25 hours'), q{'00000000-0000-7000-8000-000000000000'} ],
		[ 422, 'the amount', [ $key, amount => 999 ] ],
		[ 500, 'the tenant', [ $key, tenant => 'NULL' ] ])
	{
		my ($expected, $what, @requests) = @$_;
		for (@requests)
		{
			my $error = pay(@$_);
			is($status_of->($error, $_->[0]), $expected, "$what: $expected for $error: @$_");
		}
	}
	my $good = new_key();
	like(pay($good, amount => $_), $_ eq '1.5' ? qr/\|t$/ : qr/\|f$/, "accepted: the amount $_")
	  for qw(1.5 1.500 15e-1);
	like(pay($good, tenant => "'${tenants}2'", amount => 7), qr/\|t$/, 'another tenant may use the same key');

	$key = new_key();
	$app[0]->ask('BEGIN');
	like($app[0]->ask(payment($key)), qr/\|t$/, 'a request runs');
	my $first = $app[0]->answer;
	is($status_of->($app[1]->ask(payment($key))), 409, 'a repeated one that waits ends with 55P03');
	my $cancel = "EXECUTE cancel_payment('${tenants}1', $key)";
	$app[1]->ask($prepared);
	is($app[1]->ask($cancel), '55P03', '... and it cannot be canceled');
	$app[0]->ask('COMMIT');
	is($app[1]->ask($cancel), '23514', '... not even later');
	is($app[1]->ask(payment($key)), $first =~ s/t$/f/r, '... and later gets the answer');

	# Roll back a first attempt, as a crash before the commit would.
	$key = new_key();
	$app[0]->ask('BEGIN');
	my $lost = $app[0]->ask(payment($key));
	$app[0]->ask('ROLLBACK');
	like(pay($key), qr/^(?!\Q$lost\E).*\|t$/, 'a retry of a request that was rolled back makes its payment');
	my $unsent = new_key();
	is($app[1]->ask("EXECUTE cancel_payment('${tenants}1', $unsent)"), 't', 'a payment that was not made is canceled');
	is($status_of->(pay($unsent)), 422, '... and its request, if it still arrives, makes none');
	is(ask('SELECT count(*) FROM payments'), 6, 'each request made one payment');

	my $command = "idgen.create_once(recent_command('${tenants}1', $good, '1 day'), idgen.uuid_v4(), 'create payment',";
	is(in_app("SELECT * FROM $command '$_')"), '23514 creation_identifiers_same_command', "a guessed command id: $_")
	  for '{"amount": 1.5}', qq({"tenant": "${tenants}2", "amount": 1.5});
	ask("DELETE FROM payments WHERE tenant = '${tenants}1' AND amount = 1.5");
	is(pay($good, amount => 1.5), '|f', 'the answer of a deleted payment is empty');

	my $old = new_key('4 days');
	forget_after_purge("idgen.named_uuid_v7(idgen.uuid_timestamp($old), '${tenants}1', $old)", 'create payment');
	is($status_of->(pay($old), $old), 410, '... and its retry makes no second payment');
	ask("INSERT INTO payments VALUES (idgen.uuid_v4(), command_of('${tenants}1', $old), '${tenants}1', 5, '5')");
	is(in_app("$prepared EXECUTE find_payment('${tenants}$_->[0]', upper($old)::uuid)"), $_->[1],
		"tenant $_->[0] looks for its payment: '$_->[1]'")
	  for [ 1, '5' ], [ 2, '' ];

	# These keys contain no time.
	my ($derived, $check) = $recipe->prose($heading) =~ /use `(.*?)` as the command id.*?`(CHECK .*?)`/;
	my ($function) = ($recipe->blocks($heading))[0] =~ /(CREATE FUNCTION create_payment.*)/s;
	$function =~ s/\bcreate_payment\b/create_other/;
	$function =~ s/\bidempotency_key\b/other_key/;
	$function =~ s/recent_command\(.*?\)/$derived/;
	ask("CREATE DOMAIN other_key AS text $check; $function");
	my $other = sub { return in_app(payment("'$_[0]'") =~ s/create_payment/create_other/r) };
	like($other->('order 4711'), qr/\|$_$/, "a key without a time: $_") for qw(t f);
	is($other->($_), '23514 other_key_check', 'refused: a key of ' . length($_) . ' characters') for '', 'k' x 256;
	like($other->('k' x $_), qr/\|t$/, "accepted: a key of $_ characters, all of which count") for 254, 255;
	ask(q{SELECT idgen.purge_creations('0')});
	is($other->('order 4711'), '23505 payments_command_id_key', 'a retry after the purge makes no second payment');
}

# --- Webhooks and queues --------------------------------------------------------------------
{
	my $heading = 'Webhooks and queues';
	my ($sender, $other) = map { "'${tenants}$_'" } 8, 9;
	my $prepare = $recipe->prepared($heading);
	$recipe->paste($heading);
	$_->ask($prepare) for @app;

	# Deliver events, and return the numbers of their deposits. The age of an event is that of its first delivery.
	my %time;
	my $handle = sub {
		my ($event, %with) = (shift, sender => $sender, age => '0 s', @_);
		my $time = $with{time} // ($time{$event} //= new_time($with{age}));
		return "EXECUTE handle_event($time, $with{sender}, '$event', 1)";
	};
	my $deposits = sub { return ask("SELECT string_agg(event || ' ' || n, ', ' ORDER BY event)
		FROM (SELECT event, count(*) AS n FROM deposits GROUP BY 1) d") };
	my $deliver = sub { return in_app($prepare . $handle->(@_)) };

	is(join(' ', map { $deliver->($_) } 'a', 'b', 'a', 'c', 'b', 'a'), '     ', 'deliveries in any order succeed');
	is($deposits->(), 'a 1, b 1, c 1', '... and each event has one effect');
	is($deliver->('d', age => '47 hours') . $deliver->('d'), '', 'so do late ones');
	is($deposits->(), 'a 1, b 1, c 1, d 1', '... with one effect');

	$app[0]->ask('BEGIN; ' . $handle->('two'));
	is($app[1]->ask($handle->('two')), '55P03', 'of two workers at once, one fails');
	$app[0]->ask('COMMIT');
	is($app[1]->ask($handle->('two')), '', '... and a later delivery succeeds');
	$app[0]->ask('BEGIN; ' . $handle->('undone'));
	$app[0]->ask('ROLLBACK');
	is($app[1]->ask($handle->('undone')), '', 'as does one after a rollback');
	is($deposits->(), 'a 1, b 1, c 1, d 1, two 1, undone 1', 'each event has one effect');

	ask('TRUNCATE deposits');
	my $old = new_time('4 days');
	forget_after_purge("idgen.named_uuid_v7($old, $sender, 'old')", 'handle event');
	is($deliver->('old', time => $old), '23514 check_recent_uuid_v7', '... and a redelivery is refused');
	is($deliver->('early', age => '-11 minutes'), '23514 check_recent_uuid_v7', 'so is an event from the future');
	is($deliver->('bad', time => $_->[0]), $_->[1], "the time $_->[0]: $_->[1]")
	  for [ 'NULL', '22004' ], [ q{'infinity'}, '22008' ], [ q{'1969-12-31'}, '22008' ];
	is($deliver->('same') . $deliver->('same', sender => $other), '', 'two senders have the same id and time');
	$deliver->('delivery', time => 'clock_timestamp()') for 1 .. 2;
	is($deposits->(), 'delivery 2, same 2', '... which are two events, as are two deliveries with their own times');
	my ($refused) = $recipe->section($heading) =~ /^- 200 for 23514 with `(\w+)`/m;
	is($refused, 'check_recent_uuid_v7', 'the page names the constraint');
}

# --- A client that repeats its INSERT -------------------------------------------------------
{
	my $heading = 'A client that repeats its INSERT';
	my $old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
	my $create = $recipe->prepared($heading);
	$recipe->paste($heading);
	my $id = ask('SELECT idgen.uuid_v7()');
	is($recipe->outcome("$create EXECUTE create_report('$id', 'one'); EXECUTE create_report('$id',
		'two'); SELECT body FROM reports"), 'one',
		'a repeated INSERT changes nothing');
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '23514 reports_id_is_recent',
		'a late repetition of what was rolled back is refused');
	ask("ALTER TABLE reports DISABLE TRIGGER reports_id_is_recent; INSERT INTO reports VALUES ('$old', 'then');
		ALTER TABLE reports ENABLE TRIGGER reports_id_is_recent");
	is($recipe->outcome("$create EXECUTE create_report('$old', 'late')"), '',
		'a late repetition of what was committed succeeds');
	is(ask("SELECT body FROM reports WHERE id = '$old'"), 'then', 'and changes nothing');
}

# --- Keys that applications make (replacement of a key: contrib/clients/t/005_keys.pl) -------------------------
{
	my $heading = 'Keys that applications make';
	my $insert = 'SET ROLE clerk; INSERT INTO baskets (note) VALUES (1)';
	$recipe->paste($heading, 0);
	is($recipe->outcome($insert), '', 'a role with EXECUTE inserts with the default');
	$recipe->paste($heading, 1);
	is($recipe->outcome($insert), '', 'and one without by the function');
	is($recipe->outcome(q{SET ROLE clerk; SELECT idgen.hmac_comb('baskets')}), '42501', 'which gives no other keys');

	# (t/009_key_file.pl raises these errors.)
	my ($fails) = $recipe->prose($heading) =~ /(Each INSERT fails .*?\.) /;
	is(join(' ', $fails =~ /\((\w{5})\)/g), '55000 58P01 42704', 'the errors without the setting, the file, the key');
}

# --- Tests, fixtures, imports, offline clients: rejections by check_recent_id(), and exceptions ---------------
{
	my $heading = 'Tests, fixtures, imports, offline clients';
	$recipe->paste($heading);
	my ($past) = $recipe->prose($heading) =~ /'(past_tolerance=.*?)'/;
	ask("CREATE TABLE inspections (id uuid PRIMARY KEY, note text);
		CREATE TRIGGER inspections_id_is_recent BEFORE INSERT ON inspections
			FOR EACH ROW EXECUTE FUNCTION
				idgen.check_recent_id('id', 'short_comb', '$past', 'future_tolerance=5 minutes');
		GRANT INSERT ON reports, inspections TO app; GRANT loader TO app");
	my $fixture = q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'orders.one')};
	my $old = q{idgen.uuid_v7('2001-01-01 00:00:00+00')};
	my $ago = q{idgen.short_comb(clock => now() - interval '%s')};
	for (
		[ 'app', 'reports', $fixture, '23514' ], [ 'app', 'reports', $old, '23514' ],
		[ 'loader', 'reports', $fixture, 'stored' ], [ 'loader', 'reports', $old, 'stored' ],
		[ 'app', 'reports', 'idgen.uuid_v7()', 'stored' ],
		[ 'app', 'inspections', sprintf($ago, '2 days 23 hours'), 'stored' ],
		[ 'app', 'inspections', sprintf($ago, '3 days 2 minutes'), '23514' ],
		[ 'app', 'inspections', sprintf($ago, '-10 minutes'), '23514' ])
	{
		my ($role, $table, $id, $expected) = @$_;
		is(outcome("SET ROLE $role; INSERT INTO $table VALUES ($id, 'a row')") || 'stored', $expected,
			"$role, $table, $id: $expected");
	}
	is(outcome("SELECT idgen.check_recent_uuid_v7($old, clock => '2001-01-01 00:05:00+00') IS NOT NULL"), 't',
		'a late batch is checked against its own time');
	is(ask(q{
		SELECT count(*) FROM generate_series(0, 65535) prefix
		WHERE idgen.is_recent_short_comb((lpad(to_hex(prefix), 4, '0') || '000000004000' || '8000000000000000')::uuid,
			past_tolerance => '3 days', future_tolerance => '5 minutes', clock => '2026-11-20 03:44:30+00')}),
		3 * 24 * 60 + 5 + 1, 'as many prefixes pass as docs/short-comb.md says');
}

# --- An event feed that loses nothing -------------------------------------------------------
my $feed = 'An event feed that loses nothing';
my $reader = session();

# Execute a query for the events after the given position, and return the transaction and id of each event.
sub events
{
	my ($statement, @position) = @_;
	$reader->ask(sprintf 'EXECUTE %s(%s, %s)', $statement, @position);
	die $reader->{message} if $reader->{sqlstate};
	return map { [ @$_[ 0, 1 ] ] } @{ $reader->{rows} };
}

{
	my $insert = q{INSERT INTO events (body) VALUES ('{}')};
	my ($stdout) = $recipe->paste($feed);
	like($stdout, qr/^\d+\|\d+\|\{"note": "one"\}$/m, 'the page shows an event');
	is(ask('SELECT pg_typeof(transaction) FROM events'), 'bigint',
		'no column has a type that ORMs do not know');
	ask('TRUNCATE events');

	$reader->ask($recipe->prepared($feed)
		. 'PREPARE naive(bigint, bigint) AS SELECT $1, id FROM events WHERE id > $2 ORDER BY id;');

	# The first transaction inserts both the first event and the last event, and is committed last.
	$one->ask("BEGIN; $insert");
	$two->ask($insert);
	my ($early) = events('naive', 0, 0);
	is(scalar events('next_events', 0, 0), 0, 'nothing is read while the oldest writer runs');
	$one->ask("SAVEPOINT s; $insert; RELEASE s; SAVEPOINT s; $insert; ROLLBACK TO s; COMMIT");
	is(scalar events('naive', @$early), 1, 'id > last loses the event of a transaction that commits late');
	my @settled = events('next_events', 0, 0);
	is(join(' ', map { $_->[1] } @settled),
		ask(q{SELECT string_agg(id::text, ' ' ORDER BY transaction, id) FROM events}),
		'the recipe loses none: they come in the order of transaction and id');
	is_deeply([ events('next_events', @{ $settled[0] }) ], [ @settled[ 1, 2 ] ], 'a reader continues at its position');

	ask('CREATE DATABASE other');
	my $other = session(database => 'other');
	my $last = $settled[-1];
	$other->ask('BEGIN; SELECT pg_current_xact_id()');
	ask($insert);
	is(scalar events('next_events', @$last), 0, 'a transaction in another database delays the reader');
	$other->ask("PREPARE TRANSACTION 'forgotten'");
	is(scalar events('next_events', @$last), 0, 'a prepared one, too');
	$other->ask("ROLLBACK PREPARED 'forgotten'");
	($last) = events('next_events', @$last);
	ok($last, 'then the reader gets it');

	my $plan = $recipe->plan_of($feed, 'next_events(0, 0)',
		'enable_seqscan = off', 'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan');
	like($plan, qr/Index Scan using events_pkey.*Cond: (?=.*ROW\(\$1, \$2\))(?=.*pg_snapshot_xmin)/s,
		'the query uses the index')
	  and unlike($plan, qr/Filter|Sort/, 'for all of it');

	my ($delete) = $recipe->prose($feed) =~ /`(DELETE .*?)`/;
	ask(sprintf "PREPARE remove AS $delete; EXECUTE remove(%s, %s)", @$last);
	is(ask('SELECT count(*) FROM events'), 0, 'what was read can be deleted');
}

# --- Store a uuid, show a prefixed id -------------------------------------------------------
{
	my $heading = 'Store a uuid, show a prefixed id';
	my $id = 'cust_03cu7ltbh43kmxopehhx215t7';
	my $execute = $recipe->prepared($heading) . 'EXECUTE find_customer';

	$recipe->paste($heading);
	ask(q{INSERT INTO customers (name) SELECT 'other' FROM generate_series(1, 1000); ANALYZE customers});
	like($recipe->plan_of($heading, "find_customer('$id')",
		"plan_cache_mode = force_${_}_plan"), qr/Index Scan using customers_pkey/,
		"a customer is found by the index, $_ plan")
	  for qw(custom generic);
	is($recipe->outcome("SET plan_cache_mode = force_generic_plan; $execute($_)"), '', "no customer: $_")
	  for q{'cust_-'}, q{'acct_03cu7ltbh43kmxopehhx215t7'}, 'NULL', q{''};
	is($recipe->outcome("SET plan_cache_mode = force_generic_plan; $execute('$id')"), "$id|one",
		'a valid id finds its row');
	like(ask("EXPLAIN (COSTS OFF) SELECT FROM shown_customers WHERE public_id = '$id'"), qr/^Seq Scan on customers/,
		'a condition on the prefixed id reads the whole table');

	# Malformed ids raise an error. An additional condition with AND does not prevent this, because AND does not
	# determine the order of evaluation.
	is($recipe->outcome("SELECT FROM customers WHERE id = $_->[0]"), $_->[1], "$_->[0]: $_->[1]")
	  for [ q{idgen.prefixed_id_to_uuid('cust_-', 'cust') AND idgen.is_prefixed_id('cust_-', 'cust')}, '22P02' ],
	  [ q{idgen.prefixed_id_to_uuid('acct_03cu7ltbh43kmxopehhx215t7', 'cust')}, '23514' ];
}

# --- Store a uuid, show a prefixed id: ids that clients generate ------------------------------------
{
	my $create = $recipe->prepared('Store a uuid, show a prefixed id') . 'EXECUTE create_supplier';
	my $new = ask(q{SELECT idgen.prefixed_id_from_uuid('supp', idgen.short_comb())});
	my $old = ask(q{SELECT idgen.prefixed_id_from_uuid('supp', idgen.short_comb(clock => now() - interval '1 hour'))});
	is($recipe->outcome("$create('$new', 'one')"), '', "a client's id is stored, twice") for 1, 2;
	is(ask(q{SELECT idgen.prefixed_id_from_uuid('supp', id), name FROM suppliers}), "$new|one", '... as one row');
	is($recipe->outcome("$create('$old', 'late')"), '23514 suppliers_id_is_recent', 'an old id is rejected');
	is($recipe->outcome("$create('@{[$new =~ s/^supp/cust/r]}', 'other')"), '23514', 'so is another prefix');
}

# --- A list without a timestamp ---------------------------------------------------------------
{
	my $heading = 'A list without a timestamp';
	my $prepared = $recipe->prepared($heading);
	$recipe->paste($heading);
	ask(q{INSERT INTO posts SELECT idgen.uuid_v7(now() - n * interval '1 minute'), n FROM generate_series(1, 45) n});
	my ($rows, $last, @titles) = ask("$prepared EXECUTE newest_posts");
	while ($rows ne '')
	{
		for (split /\n/, $rows) { ($last, my $title) = split /\|/; push @titles, $title }
		like($last, qr/^.{14}4/, 'a page shows masked ids');
		$rows = ask("$prepared EXECUTE next_posts('$last')");
	}
	is("@titles", join(' ', 1 .. 45), 'the pages contain all rows, the newest first');
	my $plan = $recipe->plan_of($heading, "next_posts('$last')", 'enable_seqscan = off', 'enable_bitmapscan = off',
		'plan_cache_mode = force_generic_plan');
	like($plan, qr/Index Scan Backward using posts_pkey.*Index Cond/s, 'a page uses the primary key');
	unlike($plan, qr/Filter|Sort/, 'for all of it');
}

# --- An area for each tenant --------------------------------------------------------------------
{
	my $heading = 'An area for each tenant';
	my ($stdout) = $recipe->paste($heading);
	like($stdout, qr/^[0-9a-f-]{36}$/m, 'a tenant inserts a row');
	is($recipe->outcome('INSERT INTO parcels DEFAULT VALUES'), '42704', 'without a tenant, there is no key');
	ask("BEGIN; SET LOCAL app.tenant = '$_'; INSERT INTO parcels SELECT FROM generate_series(1, 20); COMMIT")
	  for 1 .. 50;
	# While the test runs, a new interval of five minutes can begin.
	is(ask(q{SELECT max(tenants) FROM
			(SELECT count(DISTINCT tenant) AS tenants FROM parcels GROUP BY left(id::text, 8)) s}),
		'1', 'no two tenants have keys with the same prefix');
	cmp_ok(ask(q{SELECT max(prefixes) FROM
			(SELECT count(DISTINCT left(id::text, 8)) AS prefixes FROM parcels GROUP BY tenant) s}),
		'<=', 2, 'the keys of a tenant have the same prefix, or, in a new interval, two');
}

# --- Rows that move to another partition ----------------------------------------------------
{
	my $old = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
	$recipe->paste('Rows that move to another partition');
	ask("ALTER TABLE jobs_open DISABLE TRIGGER USER; INSERT INTO jobs VALUES ('$old');
		ALTER TABLE jobs_open ENABLE TRIGGER USER");
	is($recipe->outcome('INSERT INTO jobs VALUES (idgen.uuid_v4())'), '23514 jobs_id_is_recent',
		'new rows are checked');
	my $move = "UPDATE jobs SET state = 'done'";
	my $on_table = ($recipe->section('Rows that move to another partition') =~ /^(CREATE TRIGGER.*?;)/ms)[0];
	like(errors('BEGIN; DROP TRIGGER jobs_id_is_recent ON jobs_open;' . $on_table =~ s/ON jobs_open/ON jobs/r . $move),
		qr/23514.*DETAIL: .*so the trigger cannot find existing rows.*CONSTRAINT NAME:  jobs_id_is_recent/s,
		'with the trigger on the table, an old row cannot move');
	is($recipe->outcome("$move; SELECT state FROM jobs"), 'done', '... but with that on its partition, it can');
}

# --- Changing the keys of a table in use ----------------------------------------------------
{
	my ($change) = $migrating->prose('Changing the keys of a table in use') =~ /`ALTER TABLE orders (.*?)`/;
	my $file = q{SELECT pg_relation_filenode('sessions')};
	ask('CREATE TABLE sessions (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
		INSERT INTO sessions SELECT gen_random_uuid() FROM generate_series(1, 1000)');
	my $before = ask($file);
	ask("ALTER TABLE sessions $change; INSERT INTO sessions SELECT FROM generate_series(1, 10)");
	is(ask("$file; SELECT count(*), count(DISTINCT left(id::text, 8)) FROM sessions"), "$before\n1010|1001",
		'a changed default rewrites nothing, and new keys are keyed COMBs');

	# This query returns the tables that have the new default.
	my $connection = join ', ', map { "$_ '" . $node->$_ . "'" } 'host', 'port';
	ask(qq{
		CREATE TABLE devices (id uuid NOT NULL DEFAULT gen_random_uuid(), part int) PARTITION BY LIST (part);
		CREATE TABLE devices_1 PARTITION OF devices FOR VALUES IN (1);
		CREATE TABLE devices_2 (LIKE devices INCLUDING DEFAULTS);
		CREATE VIEW visible_devices AS TABLE devices;
		ALTER VIEW visible_devices ALTER id SET DEFAULT gen_random_uuid();
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($connection, dbname 'postgres');
		CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
		CREATE FOREIGN TABLE foreign_devices (id uuid, part int) SERVER itself OPTIONS (table_name 'devices');
		ALTER TABLE devices $change;
		ALTER TABLE devices ATTACH PARTITION devices_2 FOR VALUES IN (2)});
	is(ask(q{SELECT adrelid::regclass || CASE WHEN pg_get_expr(adbin, adrelid) ~ 'keyed_comb' THEN ' has it' ELSE '' END
			FROM pg_attrdef WHERE adrelid::regclass::text ~ 'devices' ORDER BY 1}),
		"devices has it\ndevices_1 has it\ndevices_2\nvisible_devices",
		'partitions that are attached later, and views, keep their default');
	is(outcome('INSERT INTO foreign_devices (part) VALUES (1)'), '23502', 'a foreign table without one inserts NULL');

	my $bigserial = 'From bigserial or identity';
	my ($node_id, $is_below, $key) = split /\n/, ($migrating->paste($bigserial))[0];
	is($node_id, '1', 'the server has its number');
	is($is_below, 't', 'the key of a bigserial is below the next snowflake');
	cmp_ok($key, '>', 1000, 'the next key is a snowflake');
	my $far = ($migrating->blocks($bigserial))[0] =~ s/invoices/far/gr
	  =~ s/bigserial/bigint GENERATED ALWAYS AS IDENTITY/r;
	my $greatest = $far =~ s/DEFAULT VALUES;/OVERRIDING SYSTEM VALUE VALUES (9223372036854775807);/r;
	like($migrating->outcome($greatest =~ s/^ALTER.*/ROLLBACK;/msr), qr/^1\nf/, 'the greatest key is not');
	ask('DROP TABLE far');
	like($migrating->outcome($far), qr/^1\nt\n\d{15,}$/, 'a table with an identity column gets snowflakes');

	my $existing = $migrating->prose('Keys for existing rows');
	my ($n, $new_key) = $existing =~ /let n be `(.*?)`, and store `(.*?)`/;
	is( ask(qq{
		CREATE TABLE visits AS SELECT i AS id, timestamptz '2026-11-20 03:44+00' + i / 3 * interval '1 us' AS created_at
			FROM generate_series(1, 3000) i;
		SELECT count(*) FROM (SELECT key, lag(key) OVER (ORDER BY n) AS last FROM (
			SELECT n, idgen.$new_key AS key FROM (SELECT *, $n AS n FROM visits) v) k) l WHERE key > last}),
		2999, 'UUIDs have the order of rows whose timestamps are equal or differ by 1 us');
	# Write keys in batches of 100 rows with equal timestamps.
	my $displaced = 'SELECT count(*) FROM (SELECT key < lag(key) OVER (ORDER BY id) AS less FROM old_visits) v
		WHERE less';
	my $keys = sub { return "SELECT id, idgen.$new_key AS key FROM (SELECT *, $n AS n FROM old_visits $_[0]) v" };
	my $write = sub {
		my ($keys_where) = @_;
		return join '; ', map { 'UPDATE old_visits v SET key = k.key FROM ('
			  . $keys_where->("WHERE (id - 1) / 100 = $_") . ') k WHERE k.id = v.id' } 0 .. 9;
	};
	ask(q{CREATE TABLE old_visits AS SELECT id, timestamptz '2026-11-20 03:44+00' AS created_at, NULL::uuid AS key
		FROM generate_series(1, 1000) id});
	cmp_ok(ask($write->($keys) . "; $displaced"), '>', 0, 'keys that are computed batch by batch are not in order');
	ask('CREATE TABLE keys AS ' . $keys->(''));
	is(ask($write->(sub { "SELECT * FROM keys $_[0]" }) . "; $displaced"), '0',
		'... but those that are computed in one query are');
	my ($default) = Page->new('masks')->prose('Masked numbers') =~ /`(DEFAULT .*?)`/;
	$default = $default =~ s/999999999/2000/r =~ s/bill_numbers/invoices_id_seq/r;
	is( ask("ALTER TABLE invoices ALTER id SET $default; DELETE FROM invoices;
			INSERT INTO invoices SELECT FROM generate_series(1, 100); SELECT count(*), min(id) > 2000 FROM invoices"),
		'100|t', 'numbers of permute() begin after those of the existing rows');
}

# --- From another extension, from another database ------------------------------------------
my %exists = map { $_ => 1 } split /\n/, ask(q{SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace});

# Return an expression from the page, with the schema before the names of idgen's functions.
sub qualified { return $_[0] =~ s/^`|`$//gr =~ s/\b(\w+)(?=\()/$exists{$1} ? "idgen.$1" : $1/ger }

# Return the result of an expression for a value.
sub value
{
	my ($expression, $type, $value, $column) = @_;
	$column //= $expression =~ /\bhex\b(?!')/ ? 'hex' : 'id';
	return ask("SET timezone = 'UTC'; SELECT @{[ qualified($expression) ]} FROM (VALUES ($type '$value')) v($column)");
}

my @extensions = $migrating->table('From another extension');

# Return the page's replacement for a function of another extension.
sub here
{
	my ($there) = @_;
	return (map { $_->[1] } grep { $_->[0] =~ /\Q$there\E/ } @extensions)[0];
}

{
	my $section = $migrating->prose('From another extension');
	my %named = map { $_ => 1 } map { ($_->[1] // '') =~ /\b([a-z_0-9]+)\(/g } @extensions;
	delete @named{ split /\n/, ask('SELECT proname FROM pg_proc WHERE pronamespace = 11') };
	cmp_ok(scalar keys %named, '>', 15, 'the page names functions');
	is(join(' ', grep { !$exists{$_} } sort keys %named), '', 'and all exist');

	my $descending = sub { return ask("SELECT count(*) FROM (SELECT id < lag(id) OVER (ORDER BY i) AS less
			FROM (SELECT i, $_[0] AS id FROM generate_series(1, 1000) i) v) w WHERE less") };
	cmp_ok($descending->("idgen.uuid_v7('2026-11-20')"), '>', 300, 'uuid_v7() of one instant: in random order');
	is(outcome(q{SELECT idgen.uuid_v7('1969-12-31')}), '22008', 'an instant before 1970 is an error');
	is(ask(q{SELECT idgen.uuid_v7_floor('1969-12-31')}), '00000000-0000-7000-8000-000000000000',
		'... and its floor is the smallest');
	if ($node->pg_version >= 18)
	{
		is(ask(q{SELECT bool_and(uuid_extract_timestamp(id) = idgen.uuid_timestamp(id)
				AND uuid_extract_version(id) = idgen.uuid_version(id))
				FROM (SELECT CASE i % 3 WHEN 0 THEN uuidv7() WHEN 1 THEN idgen.uuid_v7() ELSE idgen.uuid_v1() END
					FROM generate_series(1, 300) i) v(id)}), 't', 'PostgreSQL 18 reads the same');
		is($descending->("uuidv7('1 hour')"), 0, 'uuidv7(shift) is increasing');
		is(outcome(q{SELECT uuidv7('-60 years')}), '22008', 'uuidv7(shift): an instant before 1970 is an error, too');
		is(ask('SELECT uuidv7(NULL) IS NULL'), 't', 'uuidv7(NULL) is NULL');
	}

	# These projects published the following values.
	my ($twitter, $discord) = map { here('Twitter') =~ s/`, epochs.*//r =~ s/epoch/'$_'/r }
	  here('Twitter') =~ /(\d{4}-\S+ \S+\+00)/g;
	my $pgedge = (here('pgEdge') =~ /, `(.*)`/)[0];
	my ($node_of_1_0, $counter_of_1_0) = $section =~ /before, node `(.*?)`, counter `(.*?)`/;
	my ($shard, $counter) = $section =~ /shard `(.*?)`, counter `(.*?)`/;
	my $instagram = (1000 << 23) + (5 << 10) + 7;
	for (
		# RFC 9562, appendix A.2, and PostgreSQL's contrib/uuid-ossp/expected/uuid_ossp.out
		[ here('uuid_generate_v3'), uuid => "6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com",
			'5df41881-3aed-3515-88a7-2f4a814cf09e', 'namespace, name' ],
		[ here('uuid_generate_v3'), uuid => "6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.widgets.com",
			'3d813cbb-47fb-32ba-91df-831e1593ac29', 'namespace, name' ],
		# pg_uuidv7, test/expected/003_*.out and 004_*.out
		[ here('uuid_timestamptz_to_v7(instant, true)'), timestamptz => '2023-01-02 04:26:40.637+00',
			'018570bb-4a7d-7000-8000-000000000000', 'instant' ],
		[ here('uuid_v7_to_timestamptz'), uuid => '018570bb-4a7d-7000-8000-000000000000',
			'2023-01-02 04:26:40.637+00' ],
		# The value in TimescaleDB's reference is 1 us smaller, because it predates the fix for TimescaleDB issue 8875
		# in version 2.23.1.
		[ here('to_uuidv7_boundary'), timestamptz => '2025-09-04 11:01+02', '019913f5-30e0-7000-8000-000000000000',
			'instant' ],
		[ here('uuid_timestamp_micros'), uuid => '019913ce-f124-7835-96c7-a2df691caa98',
			'2025-09-04 08:19:13.316513+00' ],
		# pgx_ulid, src/lib.rs
		[ 'ulid_to_uuid(id)', text => '01GV5PA9EQG7D82Q3Y4PKBZSYV', '0186cb65-25d7-81da-815c-7e25a6bfe7db' ],
		[ (here('pgx_ulid') =~ /`id >= (.*?)`/)[0], timestamptz => '2023-03-10 12:00:49.111+00',
			'0186cb65-25d7-0000-0000-000000000000', 'start' ],
		# pgEdge, docs/snowflake_functions.md, an identifier of version 1.0
		[ $pgedge, bigint => '136169504773242881', '2024-01-11 18:08:59.845+00' ],
		[ $node_of_1_0, bigint => '136169504773242881', 1 ], [ $counter_of_1_0, bigint => '136169504773242881', 0 ],
		# Perl's Twitter::ID
		[ $twitter, bigint => '474971393852182528', '2014-06-06 17:49:39.493+00' ],
		[ 'snowflake_node(id)', bigint => '474971393852182528', 129 ],
		# twilight_util::snowflake, and the npm package discord-snowflake
		[ $discord, bigint => '105484726235607040', '2015-10-19 01:58:38.546+00' ],
		[ 'snowflake_node(id)', bigint => '90339695967350784', 3 ],
		# This value is computed as in "Sharding & IDs at Instagram", for a second after the epoch and shard 5.
		[ here('Instagram'), bigint => $instagram, '2011-08-24 21:07:02.721+00' ],
		[ $shard, bigint => $instagram, 5 ], [ $counter, bigint => $instagram, 7 ])
	{
		my ($expression, $type, $value, $expected, $column) = @$_;
		is(value($expression, $type, $value, $column), $expected, "$expression: $value");
	}

	my ($time_of, $boundary) = map { qualified(here($_)) } 'uuid_timestamp_micros', 'to_uuidv7_boundary';
	is( ask(qq{SELECT count(*) FROM (SELECT instant, idgen.uuid_v7(instant) AS id FROM (
				SELECT timestamptz '2025-10-31 19:34:54.1+00' + i * interval '1 us' FROM generate_series(0, 2999) i
			) v(instant)) v WHERE instant = $time_of AND left(id::text, 18) = left(($boundary)::text, 18)}),
		3000, 'TimescaleDB: the microseconds are exact');

	# This is how ramsey/uuid generates these UUIDs: the digits of the seconds and five more digits form a 48-bit
	# number.
	my ($bound, $time) = $section =~ /`id >= (rpad\(.*?)`, time: `(.*?)`/;
	my $ordered = join '-', unpack 'A8 A4', sprintf '%012x', '1700000000' . '12345';
	is(value($bound, 'timestamptz', '2023-11-14 22:13:20.123459+00', 'start'), "$ordered-0000-0000-000000000000",
		'Laravel: the bound');
	is(value($time, 'uuid', "$ordered-4abc-9def-0123456789ab"), '2023-11-14 22:13:20.12345+00', 'Laravel: the time');

  SKIP:
	{
		skip 'uuid-ossp is not installed', 1
		  if ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'uuid-ossp'}) == 0;
		my $version_3 = qualified(here('uuid_generate_v3'));
		is( ask(qq{CREATE EXTENSION "uuid-ossp";
			SELECT bool_and(uuid_generate_v5(namespace, name) = idgen.uuid_v5(namespace, name)
				AND uuid_generate_v3(namespace, name) = $version_3)
			FROM (SELECT uuid_ns_url(), 'https://example.com/' || i FROM generate_series(1, 100) i)
				v(namespace, name)}),
			't', 'uuid-ossp: the same name-based uuids');
	}
}

# Each expression in the tables returns the example beside it. The examples for base64url, NHibernate, SequentialGuid,
# TSID, xid and KSUID were taken from taskcluster/slugid.py (test.py), NHibernate (its test of GuidCombGenerator),
# aspnetboilerplate (issue 948 of 2016-03-27), tsid-ts (README.md; the time follows from its definition, as does that of
# Mastodon), rs/xid (id_test.go) and segmentio/ksuid (README.md).
{
	my @rows = grep { ($_->[2] // '') =~ /→/ } $migrating->table('From another database');
	my ($mastodon) = (grep { $_->[0] =~ /Mastodon/ } @rows)[0][0] =~ /`id >= (.*?)`/;
	is(value($mastodon, 'timestamptz', '2026-11-20 03:44:00.123+00', 'start'), 1795146240123 << 16,
		'Mastodon: the bound');
	is(scalar @rows, 17, 'the page has other databases');
	for (@rows)
	{
		my ($there, $expression, $example) = @$_;
		my ($value, $expected) = $example =~ /^`(.*?)` → `(.*?)`$/;
		my ($type) = $expression =~ /\bid >>/ ? 'bigint' : $value =~ /(-\w+){4}/ ? 'uuid' : 'text';
		is(value($expression, $type, $value), $expected, "$there: $value");
		is(value($expression =~ s/2014-09-01/2025-01-01/r, $type, '99751689392947207'), '2026-11-20 03:44:00.12+00',
			'Sonyflake 2') if $there =~ /2: epoch 2025-01-01/;
	}
}

# --- Node numbers in containers -------------------------------------------------------------
{
	my $scaling = Page->new('scaling');
	my ($command) = $scaling->blocks('In containers', 'sh');
	my $folder = PostgreSQL::Test::Utils::tempdir();

	# The image's entry point executes the command that it is given.
	append_to_file("$folder/docker-entrypoint.sh", qq{#!/bin/sh\necho "\$@"\n});
	chmod 0755, "$folder/docker-entrypoint.sh";
	is(`PATH=$folder:\$PATH HOSTNAME=db-3 sh -c '$command'`, "postgres -c idgen.node_id=3\n", 'a pod gets its ordinal');
}

done_testing();
