# Stories of a server whose clock a test sets: in each story, the functions on a
# ticker return values that are greater than all before, so that none is repeated.
#
#   TickerStory::skip_without_faketime();
#   my $node = new_server('first', '+0');      # the server of the stories
#   new_database('shop');
#   begin_story('a session', make('shop'));
#   check_continues('another one', make('shop', 100));
#
# libfaketime gives each server a clock that the test sets through a file. (Debian,
# Ubuntu: the package faketime.)

package TickerStory;

use strict;
use warnings;
use Exporter 'import';
use HandedOut;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(@functions $five $many $greatest set_clock start_with_clock new_server values_query begin_story
  check_continues make make_many background_make crash_and_set_back right_clock new_database);

our @functions = qw(snowflake trace_id js_id decimal_id uuid_v7_ordered);
our $five = join(', ', map { "idgen.$_()" } @functions);

my ($libfaketime) = glob('/usr/lib/*/faketime/libfaketime.so.1'
	  . ' /usr/lib*/faketime/libfaketime.so.1');
my $scratch;
my $node;

# The file with the clock of a server
sub _clock_file
{
	my ($server) = @_;

	$scratch //= PostgreSQL::Test::Utils::tempdir();
	return "$scratch/" . $server->name;
}

sub skip_without_faketime
{
	plan skip_all => 'libfaketime is not installed' unless $libfaketime;
}

# Set the clock of a server, as an offset to the real one
sub set_clock
{
	my ($node, $clock) = @_;
	my $file = _clock_file($node);

	append_to_file("$file.new", "$clock\n");
	rename "$file.new", $file or die "rename: $!";
}

sub start_with_clock
{
	my ($node, $clock) = @_;
	local %ENV = (
		%ENV,
		LD_PRELOAD => $libfaketime,
		FAKETIME_TIMESTAMP_FILE => _clock_file($node),
		FAKETIME_NO_CACHE => 1,
		FAKETIME_DONT_FAKE_MONOTONIC => 1);

	set_clock($node, $clock);
	$node->start;
}

# Start a server; the first one is that of the functions below.
sub new_server
{
	my ($name, $clock) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);

	$server->init;
	$server->append_conf('postgresql.conf', q{
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

sub values_query
{
	my ($count) = @_;

	return "SELECT $padded FROM generate_series(1, " . ($count || 1) . ')';
}

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

sub make
{
	my ($database, $count, $server) = @_;

	return ($server || $node)->safe_psql($database, values_query($count));
}

# Many values with small reservations, so that each high-water mark was moved
our $many = 'SET idgen.reserve_ahead = 2; SELECT count(idgen.js_id()) FROM generate_series(1, 150000)';

sub make_many
{
	my ($database) = @_;

	return $node->safe_psql($database, "$many; " . values_query(100));
}

sub background_make
{
	my ($session, $count) = @_;
	my $rows = $session->query_safe(values_query($count));

	return $rows;
}

# Crash the server and restart it with its clock an hour behind.
sub crash_and_set_back
{
	my (@sessions) = @_;

	$node->stop('immediate');
	$_->{run}->finish for @sessions;
	start_with_clock($node, '-1h');
}

sub right_clock
{
	set_clock($node, '+0');
}

sub new_database
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION idgen');
}

1;
