# This module calls the functions that use a ticker, whose values increase across all sessions.
#
#   begin_scenario('a session', take('shop'));            # the first values of a session in a database
#   continues('another one', take('shop', 100));          # later values must be greater than all before

package Tickers;
use strict;
use warnings;
use Exporter 'import';
use Functions;
use Server qw(ask is);
use Test::More;

our @EXPORT = qw($settings @functions $greatest number for_marks set_marks values_query take begin_scenario continues);

our @functions = @Functions::tickers;
our $greatest;

# With these settings, all of the functions work. Recovery compares each page that it restores with the original page.
our $settings = join "\n", 'idgen.node_id = 21', 'idgen.launch_id = 12345', 'log_statement = none', 'autovacuum = off',
  "wal_consistency_checking = 'generic, sequence'", '';

# Return the increasing part of a value as a number. The values of trace_id() wrap around every 388 days.
my $trace_id_start;

sub number
{
	my ($function, $value) = @_;
	no warnings 'portable';
	return hex($value =~ s/^(.{8})-(.{4})-7(.{3})-.*/$1$2$3/r) if $function eq 'uuid_v7_ordered';
	return $value if $function ne 'trace_id';
	$trace_id_start //= $value;
	return ($value + (1 << 62) - $trace_id_start) % (1 << 63);
}

# Return the statement once for each function, with MARK replaced by the function's sequence.
sub for_marks { my ($sql) = @_; return join('; ', map { $sql =~ s/MARK/idgen.${_}_mark/gr } @functions) }

# Set the high-water marks to the given number of seconds ahead of the real clock, as if another server had written
# them.
sub set_marks
{
	my ($seconds, $database) = @_;
	ask(for_marks("SELECT setval('MARK', " . (time + $seconds) . '::bigint << 28)'), $database);
}

sub values_query
{
	my ($count) = @_;
	return 'SELECT ' . join(', ', map { "idgen.$_()" } @functions) . ' FROM generate_series(1, ' . ($count || 1) . ')';
}

# Return one value or the given number of values, in the order of calls, from a session or from a new session in a
# database.
sub take
{
	my ($where, $count) = @_;
	return ref $where ? $where->ask(values_query($count)) : ask(values_query($count), $where);
}

sub begin_scenario
{
	my ($name, $output) = @_;
	note "--- $name";
	$greatest = undef;
	continues($name, $output);
}

# Check that the values in the given rows are greater than all previous values of the scenario.
sub continues
{
	my ($name, $output) = @_;
	my @rows = grep { /\|/ } split /\n/, $output;
	my @falls = @rows ? () : 'no values';
	for my $row (@rows)
	{
		my @value = split /\|/, $row;
		push @falls, map { "$functions[$_]: $value[$_] after $greatest->[$_]" } grep {
			number($functions[$_], $value[$_]) <= number($functions[$_], $greatest->[$_])
		} $greatest ? 0 .. $#functions : ();
		$greatest = \@value;
	}
	is(@falls ? $falls[0] : '', '', "$name: values are greater than all before");
}
1;
