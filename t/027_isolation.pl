# create_once() in deadlocks and under each isolation level: each command creates one
# entity, however often it is repeated.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use List::Util qw(shuffle);
use Orders;
use Server;

my $node = new_shop('contended');
my $control = session();

# Many sessions issue the same commands at the same time, in transactions with
# several commands in random order: some wait, some deadlock, some cannot be
# serialized. Each transaction is retried until it succeeds. One session takes its
# snapshot first and runs last.
my (%retries, %tries, %orders);
sub contend
{
	my ($isolation) = @_;
	my @clients = map { { session => session(), todo => [] } } 1 .. 12;
	my $commands = 60;

	$control->ask('TRUNCATE idgen.creation_identifiers, orders');
	for my $client (@clients)
	{
		my @names = shuffle(1 .. $commands);

		push @{ $client->{todo} }, [ splice(@names, 0, 4) ] for 1 .. 15;
	}

	my $go = sub {
		my ($client) = @_;
		my $names = $client->{todo}[0] or return;

		$tries{$isolation}++;
		$client->{session}->send("BEGIN ISOLATION LEVEL $isolation; "
			  . join('; ', map { place($_, 1000 * $_ + int rand 1000) } @$names) . '; COMMIT');
	};

	my %told;
	my ($late, @others) = @clients;
	$late->{session}->ask("BEGIN ISOLATION LEVEL $isolation; SELECT FROM orders");
	$go->($_) for @others;
	while (1)
	{
		my @busy = grep { $_->{session}->is_busy } @clients;

		if (!@busy)
		{
			last if !@{ $late->{todo} };
			$go->($late);
			next;
		}
		my %done = map { $_ => 1 } Client::wait_for_any([ map { $_->{session} } @busy ], $PostgreSQL::Test::Utils::timeout_default);
		%done or die 'sessions wait forever';
		for my $client (grep { $done{ $_->{session} } } @busy)
		{
			my $session = $client->{session};

			if ($session->{sqlstate})
			{
				$retries{$isolation}{ $session->{sqlstate} }++;
				$session->ask('ROLLBACK');
			}
			else
			{
				my $names = shift @{ $client->{todo} };

				$told{ $names->[$_] }{ $session->{rows}[$_][0] } = 1 for 0 .. $#$names;
			}
			$go->($client);
		}
	}
	is(scalar(keys %told), $commands, "$isolation: all commands were executed");
	is(join(' ', grep { keys %{ $told{$_} } != 1 } sort keys %told), '', "$isolation: all clients got the same entities");
	is( $control->ask('SELECT count(*), count(DISTINCT command), count(DISTINCT id) FROM orders'),
		"$commands|$commands|$commands", "$isolation: each command made one order");
	is( join(' ', sort { $a <=> $b } map { (keys %$_)[0] } values %told),
		$control->ask('SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM orders'), "$isolation: the clients got the ids of these orders");
	is(join(' ', grep { !/^(40001|40P01)$/ } sort keys %{ $retries{$isolation} }), '', "$isolation: all errors can be retried");
	$orders{$isolation} = $control->ask('SELECT count(*) FROM orders');
	$_->{session}->quit for @clients;
}

contend($_) for 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE';
cmp_ok($retries{'REPEATABLE READ'}{'40001'} // 0, '>', 0, 'REPEATABLE READ: some transactions were retried');
cmp_ok($retries{'SERIALIZABLE'}{'40001'} // 0, '>', 0, 'SERIALIZABLE: some transactions were retried');

diag('figures: ' . join('; ', map {
	my $isolation = $_;
	"$isolation: 60 commands by 12 sessions, $tries{$isolation} transactions, "
	  . join('', map { "$retries{$isolation}{$_} times $_, " } sort keys %{ $retries{$isolation} }) . "$orders{$isolation} orders"
} 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'));

done_testing();
