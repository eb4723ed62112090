# The event feed of docs/recipes.md loses nothing under 32 concurrent writers, reads
# nothing twice, and waits for transactions in other databases.

use Page;
use Server;

start_server('event_feed', "autovacuum = off\nmax_connections = 60\nmax_prepared_transactions = 1");
my $recipe = Page->new('recipes');
ask('CREATE DATABASE other');

my $zero = '00000000-0000-0000-0000-000000000000';

# A reader of the feed knows which events it got, in a session where the page's
# query is prepared.
sub reader
{
	my ($statement) = @_;
	my $session = session();
	$session->ask('PREPARE naive(bigint, uuid) AS SELECT $1, id FROM events WHERE id > $2 ORDER BY id LIMIT 1000');
	$session->ask($recipe->prepared('An event feed that loses nothing'));
	die $session->{message} if $session->{sqlstate};
	return { statement => $statement, session => $session, position => [ 0, $zero ], got => [] };
}

sub read_events
{
	my ($reader) = @_;
	my $session = $reader->{session};
	$session->ask(sprintf "EXECUTE $reader->{statement}('%s', '%s')", @{ $reader->{position} });
	die $session->{message} if $session->{sqlstate};
	for my $row (@{ $session->{rows} })
	{
		$reader->{position} = [ @$row[0, 1] ];
		push @{ $reader->{got} }, $row->[1];
	}
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

is(ask(q{SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'events'::regclass AND attname = 'transaction'}), 'bigint',
	'no column has a type that ORMs do not know');

# 32 writers insert one or two events in turn, and end in the opposite order, four of them, the
# last writer included, with ROLLBACK. Of the 44 events that stay, those of the last but one are
# committed first and have the greatest ids.
my @writers = map { session() } 1 .. 32;
my @readers = my ($naive, $settled) = map { reader($_) } qw(naive next_events);
for my $n (0 .. 31)
{
	$writers[$n]->ask("BEGIN; $insert; SAVEPOINT s; $insert; " . ($n % 2 ? 'ROLLBACK TO s' : 'RELEASE s'));
	read_events($_) for @readers;
}
for my $n (reverse 0 .. 31)
{
	is($settled->{got}[0], undef, 'nothing is read while the oldest writer runs') if $n == 0;
	$writers[$n]->ask($n % 8 == 7 ? 'ROLLBACK' : 'COMMIT');
	read_events($_) for @readers;
}
is(lost($naive), '42 lost, 0 twice', 'id > last loses the events of transactions that commit late');
is(lost($settled), '0 lost, 0 twice', 'the recipe loses none');
is(ask(q{SELECT string_agg(id::text, ' ' ORDER BY transaction, id) FROM events}), join(' ', @{ $settled->{got} }),
	'they come in the order of transaction and id');

# What delays a reader
my $other = session(database => 'other');
my $before = @{ $settled->{got} };
$other->ask('BEGIN; SELECT pg_current_xact_id()');
ask($insert);
is(read_events($settled), $before, 'a transaction in another database delays the reader');
$other->ask("PREPARE TRANSACTION 'forgotten'");
is(read_events($settled), $before, 'a prepared one, too');
$other->ask("ROLLBACK PREPARED 'forgotten'");
is(read_events($settled), $before + 1, 'then the reader gets it');

my $plan = $recipe->plan_of('An event feed that loses nothing', "next_events(0, '$zero')",
	'enable_seqscan = off', 'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan');
like($plan, qr/Index Scan using events_transaction_id_idx.*Index Cond: (?=.*ROW\(\$1, \$2\))(?=.*pg_snapshot_xmin)/s,
	'the query uses the index')
  and unlike($plan, qr/Filter|Sort/, 'for all of it');

my ($transaction, $id) = @{ $settled->{position} };
ask("DELETE FROM events WHERE (transaction, id) <= ('$transaction', '$id')");
is(ask('SELECT count(*) FROM events'), 0, 'what was read can be deleted');

done_testing();
