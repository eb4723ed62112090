# Stories of a server whose clock a test sets: in each story, the functions that follow the clock return values that are
# greater than all before, so that none is repeated.
#
#   my $node = new_server('first', 0);         # the server of the stories
#   begin_story('a session', make('shop'));
#   check_continues('another one', make('shop', 100));
#   check_crash('shop');
#
# Clocks are seconds ahead of the real one. These tests are skipped without libfaketime.

package TickerStory;
use strict;
use warnings;
use Exporter 'import';
use FakeClock;
use HandedOut qw(number);
use Server qw(ask);
use Test::More;

our @EXPORT = qw(@functions $greatest set_clock start_with_clock new_server on_marks set_marks values_query make
  begin_story check_continues check_crash);

our @functions = @HandedOut::functions;
our $greatest;

my ($node, %clock_of);

sub set_clock
{
	my ($node, $seconds) = @_;
	($clock_of{ $node->name } //= FakeClock->new($node->name))->run_ahead_by($seconds);
}

sub start_with_clock { my ($node, $seconds) = @_; set_clock($node, $seconds); $clock_of{ $node->name }->start($node) }

# Start a server; the first one is that of the functions below.
sub new_server
{
	my ($name, $clock, %init) = @_;
	FakeClock::skip_all_without();
	my $server = Server::init_server($name, "$HandedOut::settings\nmax_prepared_transactions = 5\n", %init);
	start_with_clock($server, $clock);
	$node //= $server;
	return $server;
}

# A statement for the sequence of each function, MARK
sub on_marks { my ($sql) = @_; return join('; ', map { $sql =~ s/MARK/idgen.${_}_mark/gr } @functions) }

# Set the high-water marks to some seconds ahead of the real clock, as another server's.
sub set_marks
{
	my ($seconds, $database) = @_;
	ask(on_marks("SELECT setval('MARK', " . (time + $seconds) . '::bigint << 28)'), $database);
}

# The values of a session, or of a new one in a database: one or the given number, in the order of calls
sub values_query
{
	my ($count) = @_;
	return 'SELECT ' . join(', ', map { "idgen.$_()" } @functions) . ' FROM generate_series(1, ' . ($count || 1) . ')';
}

sub make
{
	my ($where, $count) = @_;
	return ref $where ? $where->ask(values_query($count)) : ask(values_query($count), $where);
}

# Begin a story with the first values of a session
sub begin_story
{
	my ($name, $output) = @_;
	note "--- $name";
	$greatest = undef;
	check_continues($name, $output);
}

# Check that rows of values are greater than all values of the story so far.
sub check_continues
{
	my ($name, $output) = @_;
	my @rows = grep { /\|/ } split /\n/, $output;
	my @falls;
	for my $row (@rows)
	{
		my @value = split /\|/, $row;
		push @falls, map { "$functions[$_]: $value[$_] after $greatest->[$_]" } grep {
			number($functions[$_], $value[$_]) <= number($functions[$_], $greatest->[$_])
		} $greatest ? 0 .. $#functions : ();
		$greatest = \@value;
	}
	cmp_ok(scalar @rows, '>', 0, "$name: values were returned");
	HandedOut::none(\@falls, "$name: values are greater than all before");
}

# Crash the server, restart it with its clock an hour behind, and check the values of a new session there. Then the
# clock is right again.
sub check_crash
{
	my ($database) = @_;
	$node->stop('immediate');
	start_with_clock($node, -3600);
	check_continues('after a crash, the clock behind', make($database, 100));
	set_clock($node, 0);
}
1;
