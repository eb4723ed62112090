# The event feed of docs/recipes.md loses nothing under 32 concurrent writers, reads
# nothing twice, and waits for transactions in other databases.

use Page;
use Server;

my $node = start_server('event_feed', "autovacuum = off\nmax_connections = 60\nmax_prepared_transactions = 1");
my $recipe = Page->new('recipes');
ask('CREATE DATABASE other');

my $zero = '00000000-0000-0000-0000-000000000000';

# A reader of the feed knows which events it got, in a session where the page's
# query is prepared.
sub reader
{
	my ($statement) = @_;
	my $session = session();
	$session->ask('PREPARE naive(xid8, uuid) AS SELECT $1, id FROM events WHERE id > $2 ORDER BY id LIMIT 1000');
	$session->ask($recipe->prepared('An event feed that loses nothing'));
	die $session->{message} if $session->{sqlstate};
	return { statement => $statement, session => $session, position => [ 0, $zero ], got => [] };
}

sub read_events
{
	my ($reader) = @_;
	my $session = $reader->{session};
	do
	{
		$session->ask(sprintf "EXECUTE $reader->{statement}('%s', '%s')", @{ $reader->{position} });
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
	my %left = map { $_ => 1 } split /\n/, ask('SELECT id FROM events');
	my $twice = 0;
	delete $left{$_} or $twice++ for @{ $reader->{got} };
	return scalar(keys %left) . " lost, $twice twice";
}

my $insert = q{INSERT INTO events (body) VALUES ('{}')};

my ($stdout) = $recipe->paste('An event feed that loses nothing');
like($stdout, qr/^\d+\|[0-9a-f-]{36}\|\{"note": "one"\}$/m, 'the page shows an event');
ask('TRUNCATE events');

# 32 writers insert in turn, and commit in the opposite order.
my @writers = map { session() } 1 .. 32;
my @readers = my ($naive, $settled) = map { reader($_) } qw(naive next_events);
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

# The same with 32 transactions of each, of which some are rolled back, in any order
my $script = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';
append_to_file($script, join "\n", 'BEGIN;', "$insert;", '\set savepoint random(0, 2)', '\set rollback random(0, 9)',
	'\if :savepoint < 2', 'SAVEPOINT s;', "$insert;", '\if :savepoint', 'ROLLBACK TO s;', '\endif', '\endif',
	'\if :rollback', 'COMMIT;', '\else', 'ROLLBACK;', '\endif');
$_->quit for @writers;
my $load = IPC::Run::start([ qw(pgbench --no-vacuum --client=32 --transactions=32), "--file=$script", $node->connstr('postgres') ],
	'>', \my $out, '2>', \my $errors);
while ($load->pumpable)
{
	$load->pump_nb;
	read_events($_) for @readers;
}
$load->finish;
read_events($_) for @readers;
like($out, qr{processed: 1024/1024}, 'all writers have done their transactions') or diag($errors);
is(lost($settled), '0 lost, 0 twice', '32 concurrent writers: the recipe loses none, and reads none twice');
cmp_ok(scalar @{ $settled->{got} }, '>', 32, 'there were events');
is(ask(q{SELECT string_agg(id::text, ' ' ORDER BY transaction, id) FROM events}), join(' ', @{ $settled->{got} }),
	'they come in the order of transaction and id');
note('id > last: ' . lost($naive) . ' of ' . ask('SELECT count(*) FROM events'));

# What delays a reader
my $other = session(database => 'other');
my $before = @{ $settled->{got} };
$other->ask('BEGIN; SELECT pg_current_xact_id()');
ask($insert);
is(read_events($settled), $before, 'a transaction in another database delays the reader');
is(ask('SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL'), 1, 'and is shown');
$other->ask("PREPARE TRANSACTION 'forgotten'");
is(read_events($settled), $before, 'a prepared one, too');
is(ask('SELECT count(*) FROM pg_prepared_xacts'), 1, 'and is shown');
$other->ask("ROLLBACK PREPARED 'forgotten'");
is(read_events($settled), $before + 1, 'then the reader gets it');

my $plan = $recipe->plan_of('An event feed that loses nothing', "next_events('0', '$zero')",
	'enable_seqscan = off', 'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan');
like($plan, qr/Index Scan using events_transaction_id_idx.*Index Cond: (?=.*ROW\(\(\$1\)::xid8, \$2\))(?=.*pg_snapshot_xmin)/s,
	'the query uses the index')
  and unlike($plan, qr/Filter|Sort/, 'for all of it');

my ($transaction, $id) = @{ $settled->{position} };
ask("DELETE FROM events WHERE (transaction, id) <= ('$transaction', '$id')");
is(ask('SELECT count(*) FROM events'), 0, 'what was read can be deleted');
$_->{session}->quit for @readers;
$other->quit;

done_testing();
