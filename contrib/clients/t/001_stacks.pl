# Verify that each stack's template works as described in contrib/clients/README.md. The programs in programs.txt only
# import the template and answer commands. All assertions are in this file.

use lib 'contrib/clients/t/lib';
use Page;
use Program;
use Server;

my $uuid = qr/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

my $node = Program::start_server('stacks');
ask('CREATE EXTENSION idgen');
my ($waiters) = map { /^(SELECT pid, pg_blocking_pids.*?;)/ms } Page->new('running')->blocks('Monitoring');
my %keepalives;
for (Page->new("$Program::folder/README.md")->table('Connections'))
{
	my ($names, $keepalives) = @$_;
	$keepalives{$_} = $keepalives =~ /`(.*?)`/ ? $1 : undef for $names =~ m{\((\S+)/\)}g;
}
my $idle_sessions;

# Check that an answer is an error with SQLSTATE 23514 for this constraint. If the driver has no field for the
# constraint, check the message.
my %message = (not_today => 'not_today', creation_identifiers_same_command => 'already used for a different command',
	map { $_ => 'outside the accepted time window' } qw(invoices_id_is_recent check_recent_uuid_v7));

sub is_refused
{
	my ($answer, $constraint, $name) = @_;
	my ($outcome, $sqlstate, $field, $message) = @$answer;
	my $is_of_constraint = $field ? $field eq $constraint : ($message // '') =~ /$message{$constraint}/;
	ok($outcome eq 'error' && $sqlstate eq '23514' && $is_of_constraint, $name) or diag("answer: @$answer");
}

for my $stack (Program::all('stack'))
{
	my $can_run = $stack->can_run;
	subtest $stack->{name} => sub {
		plan skip_all => "the runtime is not installed: $stack->{packages}" if !$can_run;
		eval { test_stack($stack); 1 } or fail($@);
	};
}

sub test_stack
{
	my ($stack) = @_;
	$stack->create_database;
	my $in = sub { return ask($_[0], $stack->{database}) };
	my $program = $stack->start;
	is_deeply([ $program->ask('diff') ], ['ok'], 'the next migration is empty') if $stack->{has}{diff};

	my @rows = keys_of_both($program, $in);
	lists($stack, $in);
	create_once($program, $in);
	lost_host($stack, $in);
	is(in_flight($stack, $in, 'create_once', 'in flight'),
		$in->("SELECT string_agg(id::text, ' ') FROM orders WHERE note = 'in flight'"), '... and one order is created');
	own_keys($program, $in, @rows);
	children($stack, $program, $in, $rows[0]) if $stack->{has}{children};
	is($program->end, 0, 'the program ends well');
	keepalives($stack);
	cut_wires($stack, $in) if $stack->{has}{wires} && defined $ENV{IDGEN_CLIENT_NAMES};
}

# The server generates the key of an order, and the application generates the key of its invoice.
sub keys_of_both
{
	my ($program, $in) = @_;
	my ($order, $invoice) = $program->results('order_with_invoice', 'a book');
	like($order, $uuid, 'parent and child in one unit of work: the key is read back');
	is($in->("SELECT i.id FROM orders o JOIN invoices i ON order_id = o.id WHERE o.id = '$order' AND note = 'a book'"),
		$invoice, '... and is that of the row, which has its child');

	my @ids = $program->results('bulk', 'in bulk', 50);
	is($in->("SELECT count(*) FROM orders WHERE note = 'in bulk' AND id = ANY ('{" . join(',', @ids) . "}')"),
		50, 'bulk insert: the keys are read back');
	is($in->('SELECT count(*) FROM orders WHERE idgen.uuid_version(id) = 4'), 51, '... and no others are there');
	return ($order, $invoice) if !$program->{has}{fixture};

	my ($of_fixture) = $program->results('fixture', 'of a fixture');
	is($in->("SELECT id FROM orders WHERE note = 'of a fixture'"), $of_fixture, 'an order of a fixture gets a key');
	return ($order, $invoice);
}

sub create_once
{
	my ($program, $in) = @_;
	my ($command) = my @commands = map { $program->results('new_command') } 1 .. 3;
	is($in->("SELECT count(DISTINCT id) FROM unnest('{" . join(',', @commands) . "}'::uuid[]) id
		WHERE idgen.is_recent_uuid_v7(id)"), 3, 'create once: command ids are different UUIDs of version 7');

	# The INSERT fails, so no effect of the first attempt may remain.
	$in->("ALTER TABLE orders ADD CONSTRAINT not_today CHECK (note <> 'once')");
	is_refused([ $program->ask('create_once', $command, 'once') ], 'not_today', 'create once: the INSERT fails');
	$in->('ALTER TABLE orders DROP CONSTRAINT not_today');

	my ($id, $note) = $program->results('create_once', $command, 'once');
	is($note, 'once', 'create once: the row is the answer');
	is($in->("SELECT entity_id FROM idgen.creation_identifiers WHERE command_id = '$command'"), $id,
		'... with its key');
	is_deeply([ $program->ask('create_once', $command, 'once') ], [ 'ok', $id, 'once' ], '... also for a retry');
	is_refused([ $program->ask('create_once', $command, 'other') ], 'creation_identifiers_same_command',
		'... and another body is refused');
	is($in->("SELECT string_agg(id::text, ' ') FROM orders WHERE note IN ('once', 'other')"), $id,
		'... one row was created');

	if ($program->{has}{unsafe})
	{
		is(($program->ask('unsafe', $commands[1], 'unsafe'))[0], 'error', 'an unsafe transaction is refused');
		is($in->("SELECT count(*) FROM orders WHERE note = 'unsafe'"), 0, '... without a row');
	}

	# Meanwhile, its command may have been purged.
	my $late = $in->(q{SELECT idgen.uuid_v7(now() - interval '1 day 1 minute')});
	is_refused([ $program->ask('create_once', $late, 'late') ], 'check_recent_uuid_v7', 'a late command id is refused');
	is($in->("SELECT count(*) FROM idgen.creation_identifiers WHERE command_id = '$late'"), 0, '... and not recorded');
	my $yesterday = $in->(q{SELECT idgen.uuid_v7(now() - interval '23 hours')});
	is(($program->ask('create_once', $yesterday, 'in time'))[0], 'ok', '... but not one of yesterday');
}

# Each foreign key has an index. A list of orders that is read page by page returns each order once, even if orders were
# created at the same time, and uses the index.
sub lists
{
	my ($stack, $in) = @_;
	is($in->(q{SELECT count(*) > 0, string_agg(conrelid::regclass || '.' || attname, ', ') FILTER (WHERE NOT EXISTS
			(SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = attnum))
		FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
		WHERE contype = 'f' AND connamespace = 'public'::regnamespace}), 't|', 'no foreign key is without an index');

	my $database = "ALTER DATABASE $stack->{database}";
	$in->("$database SET session_preload_libraries = auto_explain; $database SET auto_explain.log_min_duration = 0;
		$database SET enable_seqscan = off; $database SET enable_bitmapscan = off");
	my $program = $stack->start;
	my $log_before = -s $node->logfile;
	my @ids = $program->results('pages', 7);
	is("@ids", $in->(q{SELECT string_agg(id::text, ' ' ORDER BY created_at DESC, id DESC) FROM orders
		HAVING count(*) - count(DISTINCT created_at) >= 49}), 'a list, page by page');
	$in->("$database RESET ALL");
	$program->end;
	my (undef, @plans) = split /ms  plan:\n/, slurp_file($node->logfile, $log_before);
	my $expected = qr/\tLimit .*\n\t  ->  Index Scan Backward using \w+ on orders .*\n\t +Index Cond: .*created_at/;
	cmp_ok(scalar(grep { /$expected/ } @plans), '>=', int(@ids / 7), '... each but the first begins in the index')
	  or diag("plans: @plans");
}

# The host of a client fails while its transaction, which has recorded the command, is idle. A retry does not wait for
# this transaction, and succeeds after the server has ended the session.
sub lost_host
{
	my ($stack, $in) = @_;
	my $role = "ALTER ROLE app IN DATABASE $stack->{database}";
	$in->("$role RESET ALL");    # return to the settings in setup.sql
	my $program = $stack->start;
	my ($command) = $program->results('new_command');
	my $first = session(database => $stack->{database}, user => 'app');
	$first->ask("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
		SELECT idgen.create_once('$command', idgen.uuid_v4(), 'create')");
	is(join(' ', ($program->ask('create_once', $command, 'once more'))[ 0, 1 ]), 'error 55P03',
		'a lost host: a retry does not wait for its session');

	# Ending the session takes ten seconds, so only one stack waits for it.
	$first->ask($idle_sessions++ ? 'ROLLBACK' : 'SET LOCAL idle_in_transaction_session_timeout TO DEFAULT');
	my @answer;
	ok(wait_until(sub { @answer = $program->ask('create_once', $command, 'once more'); $answer[0] eq 'ok' }),
		'... and one after its end succeeds')
	  or diag("answer: @answer");
	is($in->(q{SELECT string_agg(id::text, ' ') FROM orders WHERE note = 'once more'}), $answer[1],
		'... with the only order');
	$first->quit;
	$program->end;
	$in->("$role SET $_ = 0") for 'lock_timeout', 'idle_in_transaction_session_timeout';
}

# Four processes send the same command while another session has an uncommitted record of it. All of them wait for that
# session, which then rolls back.
sub in_flight
{
	my ($stack, $in, $task, @words) = @_;
	my @programs = map { $stack->start } 1 .. 4;
	my ($command) = $programs[0]->results('new_command');
	my $first = session(database => $stack->{database});
	$first->ask("BEGIN; SELECT idgen.create_once('$command', idgen.uuid_v4(), 'create')");

	$_->send($task, $command, @words) for @programs;
	my $blocked_by_first = qr/^\d+\|\{$first->{pid}\}\|/m;
	ok(wait_until(sub { 4 == (() = $in->($waiters) =~ /$blocked_by_first/g) }), 'in flight: four wait');
	$first->ask('ROLLBACK');

	my @answers = map { [ $_->answer ] } @programs;
	my ($id) = $in->("SELECT entity_id FROM idgen.creation_identifiers WHERE command_id = '$command'");
	my @expected = ('ok', $id, grep { !/$uuid/ } @words);
	is_deeply(\@answers, [ map { \@expected } @programs ], '... and get the same answer');
	$_->end for @programs;
	return $id;
}

# Create an invoice and its lines. The application generates all of their keys.
sub children
{
	my ($stack, $program, $in, $order) = @_;
	my ($command) = $program->results('new_command');
	my $lines = "SELECT string_agg(concat_ws(' ', invoice_id, item), ', ' ORDER BY item) FROM lines";

	# The first attempt is rolled back after the command was recorded. The server's log contains the id that it
	# proposed.
	$in->("ALTER TABLE lines ADD CONSTRAINT not_today CHECK (item <> 'pen')");
	my $log_before = -s $node->logfile;
	is_refused([ $program->ask('children', $command, $order, 'ink', 'pen') ], 'not_today', 'with lines: one fails');
	my ($first) = slurp_file($node->logfile, $log_before) =~ /Failing row contains \(\S+, (\S+), pen\)/;
	like($first, $uuid, '... after the invoice got a key');
	$in->('ALTER TABLE lines DROP CONSTRAINT not_today');

	my ($id, @items) = $program->results('children', $command, $order, 'ink', 'pen');
	isnt($id, $first, '... and the next attempt proposes another one');
	is($in->($lines), "$id ink, $id pen", '... with which the lines are created');
	is_deeply([ $program->ask('children', $command, $order, 'ink', 'pen') ], [ 'ok', $id, 'ink', 'pen' ],
		'... which a retry returns');
	is_refused([ $program->ask('children', $command, $order, 'ink') ], 'creation_identifiers_same_command',
		'... but not for other lines');
	is($in->($lines), "$id ink, $id pen", '... and no others are created');
	my $other = in_flight($stack, $in, 'children', $order, 'nib', 'quill');
	is($in->("$lines WHERE invoice_id <> '$id'"), "$other nib, $other quill", '... and the lines are created once');
}

# The server checks the keys of invoices, which the application generates.
sub own_keys
{
	my ($program, $in, $order, $id) = @_;
	is($in->(q{SELECT count(*) FROM pg_trigger JOIN pg_attribute ON attrelid = tgrelid WHERE attname = 'id'
		AND NOT atthasdef AND tgrelid = 'invoices'::regclass AND tgfoid = 'idgen.check_recent_hmac_id'::regproc}), 1,
		'keys of the application are checked, and the server makes none');
	my $folder = "$Program::folder/$program->{name}";
	is(`grep -rlIE '$Program::id_key|\\\\x0f\\\\x1e' $folder`, '', '... no file contains the secret');

	# A retry after a lost answer succeeds or reports a duplicate, even when the key is no longer recent.
	my $old = $in->(qq{SET session_replication_role = replica; INSERT INTO invoices (id, order_id)
		VALUES (idgen.hmac_comb_at(now() - interval '1 day', 'invoices'), '$order') RETURNING id});
	my $new = $in->(q{SELECT idgen.hmac_comb('invoices')});
	is(($program->ask('insert_invoice', $new, $order))[0], 'ok', 'an INSERT with a key');
	for ([ $new, 'its retry' ], [ $id, 'one of an invoice with its order' ], [ $old, 'one a day later' ])
	{
		my ($key, $what) = @$_;
		my ($outcome, $sqlstate) = my @answer = $program->ask('insert_invoice', $key, $order);
		ok($outcome eq 'ok' || $sqlstate eq '23505', "$what meets the row") or diag("answer: @answer");
	}
	for my $other (q{hmac_comb('orders')}, q{hmac_comb_at(now() - interval '1 day', 'invoices')})
	{
		is_refused([ $program->ask('insert_invoice', $in->("SELECT idgen.$other"), $order) ],
			'invoices_id_is_recent', "a new row with the key $other is refused");
	}
	is($in->("SELECT string_agg(id::text, ' ' ORDER BY id) FROM invoices WHERE order_id = '$order'"),
		join(' ', sort $id, $old, $new), '... the three rows stay the only ones');
}

# Both ends of a connection send keepalives after some seconds without data, instead of after two hours. JDBC can turn
# keepalives on, but cannot set their interval.
sub keepalives
{
	my ($stack) = @_;
	my $program = bless { %$stack, setting => $keepalives{ $stack->{name} } }, 'Program';
	my $process = $program->start;
	my $port = sprintf '%04X', $node->port;
	my %limit = (client => $stack->{name} eq 'jdbc' ? 2 * 60 * 60 : 15, server => 10);
	my @ends;
	for my $end ('client', 'server')
	{
		my $addresses = $end eq 'server' ? qr/\w+:$port \w+:\w+/ : qr/\w+:\w+ \w+:$port/;
		ok(wait_until(sub {
			$process->results('bulk', 'keepalives', 1) if !@ends;    # a pool closes unused connections
			# State 01 means "established". Timer 02 is the keepalive timer, followed by the hundredths of a second
			# until it expires.
			@ends = grep { s/^ *\d+: $addresses 01 \S+ // }
			  map { split /\n/, slurp_file("/proc/net/$_") } 'tcp', 'tcp6';
			return @ends && !grep { !/^02:(\w+)/ || hex($1) > 100 * $limit{$end} } @ends;
		}), "the $end sends keepalives") or diag("ends: @ends");
	}
	$process->end;
}

# Each command creates one order, and the program answers with this order, even if the connection is cut at any packet.
# This takes half a minute per stack.
sub cut_wires
{
	my ($stack, $in) = @_;
	my %environment = $stack->environment;
	my ($stdout) = do
	{
		local @ENV{ keys %environment } = values %environment;
		run_command([ $stack->in_folder("exec t/cut_wires.py '$stack->{command}'") ]);
	};
	my @lines = map { [ split / / ] } split /\n/, $stdout;
	my ($cuts, $lost_completions, $in_a_row) = $stdout =~ /^(\d+) (\d+) (\d+)$/m ? @{ pop @lines } : (0, 0, 0);
	ok($lost_completions && $in_a_row, "$cuts cuts, $in_a_row times three in a row")
	  or return diag(slurp_file($stack->{log}));

	# A session whose connection was cut may still be working.
	ok(wait_until(sub { $in->(q{SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND usename = 'app'}) == 0 }), '... all sessions have ended');
	my $answers = join ', ', map { "('$_->[0]', uuid '$_->[1]')" } @lines;
	is($in->("SELECT count(*) FILTER (WHERE n > 1), count(*) FILTER (WHERE NOT answered) FROM (
		SELECT count(orders), bool_or(id = answer) IS TRUE FROM (VALUES $answers) v (command, answer)
			LEFT JOIN orders ON note = command GROUP BY command) _ (n, answered)"),
		'0|0', '... no order is there twice, and none is lost');
}

done_testing();
