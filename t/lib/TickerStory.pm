# Stories of a server whose clock a test sets: in each story, the functions on a
# ticker return values that are greater than all before, so that none is repeated.
#
#   my $node = new_server('first', 0);         # the server of the stories
#   new_database('shop');
#   begin_story('a session', make('shop'));
#   check_continues('another one', make('shop', 100));
#
# Clocks are seconds ahead of the real one. These tests are skipped without libfaketime.

package TickerStory;

use strict;
use warnings;
use Exporter 'import';
use FakeClock;
use HandedOut;
use Server ();
use Test::More;

our @EXPORT = qw(@functions $five $many $greatest set_clock start_with_clock new_server values_query begin_story
  check_continues make make_many background_make crash_and_set_back right_clock new_database);

our @functions = @HandedOut::functions;
our $five = join(', ', map { "idgen.$_()" } @functions);

my ($node, %clock_of);

sub set_clock
{
	my ($node, $seconds) = @_;

	($clock_of{ $node->name } //= FakeClock->new($node->name))->run_ahead_by($seconds);
}

sub start_with_clock
{
	my ($node, $seconds) = @_;

	set_clock($node, $seconds);
	$clock_of{ $node->name }->start($node);
}

# Start a server; the first one is that of the functions below.
sub new_server
{
	my ($name, $clock) = @_;

	FakeClock::skip_all_without();
	my $server = Server::init_server($name, q{
log_statement = none
max_connections = 60
# recovery compares each page that it restores with the original
wal_consistency_checking = 'generic, sequence'
idgen.node_id = 7
idgen.launch_id = 42
});
	start_with_clock($server, $clock);
	$node //= $server;
	return $server;
}

# The values of a session, one of each function or the given number, in the order
# of calls; or the first and the last one if they increase. Numbers are padded with
# zeros so that text sorts as the values do.
my $padded = join(', ', map { $_ eq 'uuid_v7_ordered' ? "idgen.$_()::text" : "lpad(idgen.$_()::text, 19, '0')" } @functions);

sub values_query { my ($count) = @_; return "SELECT $padded FROM generate_series(1, " . ($count || 1) . ')' }

our $greatest;

# Begin a story with the first values of a session
sub begin_story
{
	my ($name, @rows) = @_;

	note "--- $name";
	$greatest = undef;
	check_continues($name, @rows);
}

# Check that rows of five values are greater than all values of the story so far.
sub check_continues
{
	my ($name, $output) = @_;
	my @falls;
	my $rows = 0;

	for my $row (split /\n/, $output)
	{
		next unless $row =~ /\|/;
		my @value = split /\|/, $row;
		$rows++;
		for my $i (0 .. $#functions)
		{
			push @falls, "$functions[$i]: $value[$i] after $greatest->[$i]"
			  if $greatest && HandedOut::number($functions[$i], $value[$i]) <= HandedOut::number($functions[$i], $greatest->[$i]);
		}
		$greatest = \@value;
	}
	cmp_ok($rows, '>', 0, "$name: values were returned");
	is(join("\n", @falls[ 0 .. ($#falls < 4 ? $#falls : 4) ]), '', "$name: values are greater than all before");
}

sub make { my ($database, $count, $server) = @_; return ($server || $node)->safe_psql($database, values_query($count)) }

# Many values with small reservations, so that each high-water mark was moved
our $many = 'SET idgen.reserve_ahead = 2; SELECT count(idgen.js_id()) FROM generate_series(1, 150000)';

sub make_many { my ($database) = @_; return $node->safe_psql($database, "$many; " . values_query(100)) }

sub background_make { my ($session, $count) = @_; return $session->query_safe(values_query($count)) }

# Crash the server and restart it with its clock an hour behind.
sub crash_and_set_back
{
	my (@sessions) = @_;

	$node->stop('immediate');
	$_->{run}->finish for @sessions;
	start_with_clock($node, -3600);
}

sub right_clock { set_clock($node, 0) }

sub new_database
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION idgen');
}

1;
