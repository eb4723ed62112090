# Each command creates its order once, and is answered with it, while the connection is cut at each packet.

use lib 'contrib/clients/t/lib';
use Program;
use Server;

plan skip_all => 'contrib/clients/test-clients.sh runs it' if !defined $ENV{IDGEN_CLIENT_NAMES};

Program::start_server('wires');

# The orders of each command, and its answer: [number of orders, whether the answer is one of them]
sub orders_of
{
	my ($stack, @options) = @_;
	my %environment = $stack->environment;
	local @ENV{ keys %environment } = values %environment;
	my ($stdout) = run_command([ $stack->in_folder("exec t/cut_wires.py @options '$stack->{command}'") ]);
	my @lines = map { [ split / / ] } split /\n/, $stdout;
	my ($cuts, $lost_completions, $in_a_row) = $stdout =~ /^(\d+) (\d+) (\d+)$/m ? @{ pop @lines } : (0, 0, 0);
	ok($lost_completions && $in_a_row, "@options $stack->{name}: $cuts cuts, $in_a_row times three in a row")
	  or return diag(slurp_file($stack->{log}));

	# a session whose connection was cut may still work
	my $others = "SELECT count(*) FROM pg_stat_activity WHERE datname = '$stack->{database}' AND usename = 'app'";
	wait_until(sub { ask($others) == 0 });
	my $answers = join ', ', map { "('$_->[0]', uuid '$_->[1]')" } @lines;
	return ask("SELECT count(*) FILTER (WHERE n > 1), count(*) FILTER (WHERE NOT answered) FROM (
		SELECT count(orders), bool_or(id = answer) IS TRUE FROM (VALUES $answers) v (command, answer)
			LEFT JOIN orders ON note = command GROUP BY command) _ (n, answered)", $stack->{database});
}

for my $stack (Program::all('wires'))
{
	next if !$stack->can_run;
	$stack->create_database;
	is(orders_of($stack), '0|0', "$stack->{name}: no order is there twice, and none is lost");
	next if $stack->{name} ne 'node-pg';
	like(orders_of($stack, '--new-command-id'), qr/^[1-9]\d*\|0$/, '... with a new command id in each retry, some are');
}
done_testing();
