# 64 clients send creation commands, each command one to five times from different
# clients, while sessions are terminated and cancelled and clients disconnect, all
# at random. A client without an answer sends the command again. In the end each
# command has made exactly one order, and all its senders got that order.
#
# IDGEN_LOAD_SECONDS: duration, 15 seconds by default; the test runs longer until
# there were enough faults. t/071_portable_load.pl runs it with the portable edition.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use Digest::MD5 qw(md5_hex);
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $seconds = $ENV{IDGEN_LOAD_SECONDS} || 15;
my $number_of_clients = 64;

my $node = PostgreSQL::Test::Cluster->new('shop');
$node->init;
$node->append_conf('postgresql.conf', q{
max_connections = 200
deadlock_timeout = 100ms
log_statement = none
log_min_messages = panic
log_min_error_statement = panic
});
$node->start;

# Only create_once() prevents a second order for a command.
$node->safe_psql('postgres',
	$ENV{IDGEN_PORTABLE} ? join('', 'BEGIN;', (map { slurp_file("$FindBin::RealBin/../portable/$_.sql") } qw(uuids create_once)), 'COMMIT') : 'CREATE EXTENSION idgen');
$node->safe_psql('postgres', 'CREATE TABLE orders (id uuid, command uuid, amount int)');

# --- The clients ------------------------------------------------------------

my (@queue, %told, %count);
my ($commands, $ending) = (0, 0);

# Add new commands, each as often as it will be sent.
sub more_commands
{
	my @sends;

	for (1 .. 100)
	{
		my $command = sprintf('c0000000-0000-4000-8000-%012x', ++$commands);
		push @sends, ($command) x (1 + int rand 5);
	}
	push @queue, shuffle(@sends);
}

my @isolation = (('READ COMMITTED') x 4, 'REPEATABLE READ', 'SERIALIZABLE');

# A client sends its next command: as one statement, or as a transaction that
# reads the answer before it makes the order. A client without a session connects
# first.
sub send_next
{
	my ($client) = @_;

	if (!$client->{session})
	{
		$client->{session} = Client->connect($node) or die 'the server does not accept connections';
		$client->{doing} = 'connect';
		return;
	}
	if (!$client->{command})
	{
		more_commands() if @queue < 200 && !$ending;
		$client->{command} = shift @queue or return;
	}

	my $call = "idgen.create_once('$client->{command}', idgen.uuid_v7(), 'order', '{\"amount\": 1}')";

	$count{sends}++;
	if (rand() < 0.5)
	{
		$client->{doing} = 'statement';
		$client->{session}->send(
			"WITH o AS (SELECT * FROM $call),
			 i AS (INSERT INTO orders SELECT entity_id, '$client->{command}', 1 FROM o WHERE created)
			 SELECT entity_id, created FROM o");
	}
	else
	{
		$client->{doing} = 'begin';
		$client->{session}->send("BEGIN ISOLATION LEVEL $isolation[rand @isolation]; SELECT * FROM $call");
	}
}

sub handle
{
	my ($client) = @_;
	my $session = $client->{session};
	my $doing = $client->{doing};

	if ($session->{gone})
	{
		$count{'sessions lost'}++;
		$client->{session} = undef;
	}
	elsif ($session->{sqlstate})
	{
		$count{"error $session->{sqlstate}"}++;
		$client->{doing} = 'recover';
		$session->send('ROLLBACK');
		return;
	}
	elsif ($doing eq 'begin')
	{
		my ($id, $created) = @{ $session->{rows}[0] };

		$client->{answer} = [ $id, $created ];
		$client->{doing} = 'end';
		$session->send($created eq 't'
			? "INSERT INTO orders VALUES ('$id', '$client->{command}', 1); COMMIT" : 'COMMIT');
		return;
	}
	elsif ($doing eq 'statement' || $doing eq 'end')
	{
		my ($id, $created) = $doing eq 'end' ? @{ $client->{answer} } : @{ $session->{rows}[0] };

		$told{ $client->{command} }{$id}++;
		$count{answers}++;
		$count{ $created eq 't' ? 'created' : 'replays' }++;
		$client->{command} = undef;
	}
	send_next($client);
}

my @clients = map { {} } 1 .. $number_of_clients;
my $control = Client->connect($node);
$control->wait;
send_next($_) for @clients;

# --- Faults -----------------------------------------------------------------

# Every few milliseconds, a fault for a random busy client
sub accident
{
	my @at_work = grep { $_->{session} && $_->{session}->is_busy && $_->{session}{pid} } @clients or return;
	my $client = $at_work[ rand @at_work ];
	my $what = rand 3;

	if ($what < 1)
	{
		$count{terminated}++ if $control->ask("SELECT pg_terminate_backend($client->{session}{pid})") eq 't';
	}
	elsif ($what < 2)
	{
		$count{cancelled}++ if $control->ask("SELECT pg_cancel_backend($client->{session}{pid})") eq 't';
	}
	else
	{
		$count{vanished}++;
		$client->{session}->disconnect;
		$client->{session} = undef;
		send_next($client);
	}
}

my $end = time + $seconds;
my $next_accident = time;
my @wanted = qw(terminated cancelled vanished replays);
my $deadline = $end + $PostgreSQL::Test::Utils::timeout_default;

while (1)
{
	my @sessions = grep { defined $_ } map { $_->{session} } @clients;

	$ending = time >= $end && !grep { ($count{$_} // 0) <= 10 } @wanted;
	last if $ending && !@queue && !grep { $_->is_busy } @sessions;
	die 'they do not come to an end' if time > $deadline;

	if (!$ending && time >= $next_accident)
	{
		accident();
		$next_accident = time + rand 0.02;
	}
	my %done = map { $_ => 1 } Client::wait_for_any(\@sessions, 0.01);
	handle($_) for grep { $_->{session} && $done{ $_->{session} } } @clients;

	# clients that found nothing to do continue
	send_next($_) for grep { @queue && $_->{session} && !$_->{session}->is_busy } @clients;
}

# --- Results ----------------------------------------------------------------

my $orders = $control->ask('SELECT count(*) FROM orders');
is($orders, $commands, "$commands commands made $commands orders");
is($control->ask('SELECT count(DISTINCT command) FROM orders'), $commands, 'one order for each command');
is($control->ask('SELECT count(DISTINCT id) FROM orders'), $commands, 'each order has its own id');
is( $control->ask(q{SELECT count(*) FROM orders FULL JOIN idgen.creation_identifiers ON command_id = command AND entity_id = id
		WHERE command IS NULL OR command_id IS NULL}),
	'0', 'it is the id that is recorded');
is(scalar keys %told, $commands, 'each command was answered');
is(join(' ', grep { keys %{ $told{$_} } != 1 } sort keys %told), '', 'all senders of a command got the same id');
is( $control->ask('SELECT md5(string_agg(command || $$ $$ || id, $$ $$ ORDER BY command)) FROM orders'),
	md5_hex(join(' ', map { "$_ " . (keys %{ $told{$_} })[0] } sort keys %told)), 'it is the id of the order');
is( join(' ', map { s/error //r } grep { /^error/ && !/ (40001|40P01|57014)$/ } sort keys %count),
	'', 'all errors can be retried');
cmp_ok($count{$_} // 0, '>', 10, "$_: $count{$_}") for @wanted;

diag("figures: $number_of_clients clients, $seconds seconds: $commands commands, " . join(', ', map { "$count{$_} $_" } sort keys %count)
	  . ", $orders orders");
$_->quit for grep { defined $_ } map { $_->{session} } @clients;
$node->stop;
done_testing();
