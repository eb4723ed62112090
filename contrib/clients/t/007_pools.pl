# Verify that each stack's template works through PgBouncer in transaction mode, with the settings on the clients' page.
# PgBouncer does not support prepared statements here, as in versions before 1.21 or with max_prepared_statements = 0.
# Four processes of each stack share two server sessions, so two processes prepare statements in the same session.

use lib 'contrib/clients/t/lib';
use Page;
use Pool;
use Program;
use Server;

my $node = Program::start_server('pools');
ask('CREATE EXTENSION idgen');
my $pool = Pool->new($node, ['app'], size => 2) or plan skip_all => 'pgbouncer is not installed';

# If a stack has settings, they are the strings in code font in the last column of its row.
my %settings;
for (Page->new('contrib/clients/README.md')->table('Connections'))
{
	my ($names, undef, $settings) = @$_;
	$settings{$_} = [ $settings =~ /`(.*?)`/g ] for $names =~ m{\((\S+)/\)}g;
}
is(join(' ', sort keys %settings), join(' ', sort map { $_->{name} } Program::all('stack')), 'the page has all stacks')
  if ($ENV{IDGEN_CLIENT_NAMES} // '') eq '';

for my $stack (Program::all('stack'))
{
	next if !$stack->can_run;
	$stack->create_database;
	$stack->{port} = $pool->{port};
	my @settings = @{ $settings{ $stack->{name} } };
	for my $setting (@settings ? @settings : undef)
	{
		$stack->{setting} = $setting;
		subtest "$stack->{name} " . ($setting // '') => sub { eval { work($stack); 1 } or fail($@) };
	}
}

# In each round, all processes send one command of each kind at the same time.
sub work
{
	my ($stack) = @_;
	my @programs = map { $stack->start } 1 .. 4;
	my ($rounds, @errors, %orders) = (8);
	my $order = ($programs[0]->results('order_with_invoice', 'first'))[0];
	for my $round (1 .. $rounds)
	{
		# In each of two pairs, both processes send the same command.
		my @ids = split /\n/, ask('SELECT idgen.uuid_v7() FROM generate_series(1, 2);
			SELECT idgen.hmac_comb($$invoices$$) FROM generate_series(1, 4)');
		for my $words (
			sub { return 'create_once', $ids[ $_[0] % 2 ], $ids[ $_[0] % 2 ] },
			sub { return 'order_with_invoice', "$round $_[0]" },
			sub { return 'bulk', 'bulk', 5 },
			sub { return 'insert_invoice', $ids[ 2 + $_[0] ], $order })
		{
			$programs[$_]->send($words->($_)) for 0 .. $#programs;
			my @answers = map { [ $_->answer ] } @programs;
			push @errors, map { "@$_" } grep { $_->[0] ne 'ok' } @answers;
			next if ($words->(0))[0] ne 'create_once';
			$orders{ $_->[2] // '' }{ $_->[1] }++ for @answers;
		}
	}
	is(join("\n", @errors), '', 'no command fails');
	is(join(' ', map { join ',', values %$_ } values %orders), join(' ', (2) x (2 * $rounds)),
		'each pair gets the same order');
	is(ask('SELECT count(*) FROM orders WHERE note = ANY (string_to_array($$' . join(',', keys %orders) . '$$, $$,$$))',
		$stack->{database}), 2 * $rounds, '... which is there once');
	# (The session that created the tables may still exist.)
	ok(wait_until(sub { ask("SELECT count(*) <= 2 FROM pg_stat_activity
		WHERE datname = '$stack->{database}' AND usename = 'app'") eq 't' }), 'they share two sessions');
	is($_->end, 0, 'a process ends well') for @programs;
}

$pool->stop;
done_testing();
