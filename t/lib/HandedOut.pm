# Records the identifiers that sessions got, and checks that none was returned twice and that those of functions on a
# ticker increase. An identifier counts whether or not its transaction commits or the server crashes.
#
#   my $handed_out = HandedOut->new('snowflake', 'uuid_v4');
#   $handed_out->see($session, $rows);   # rows of one identifier of each function
#   $handed_out->begin_phase;            # all that follow exceed those before
#   $handed_out->check;
#   number('trace_id', $value);          # a number that increases

package HandedOut;
use strict;
use warnings;
use Exporter 'import';
use Functions;
use List::Util qw(max);
use Test::More;

our @EXPORT_OK = qw(number);
our @functions = @Functions::tickers;
my %on_ticker = map { $_ => 1 } @functions;

# Settings of a server with which all of the functions work; recovery compares each page that it restores with the original.
our $settings = join "\n", 'idgen.node_id = 21', 'idgen.launch_id = 12345', 'log_statement = none', 'autovacuum = off',
  "wal_consistency_checking = 'generic, sequence'", '';

sub new { my ($class, @of) = @_; return bless { functions => \@of, max => {}, before => {}, repeated => [], fallen => [] }, $class }

# Record the rows that a session got, in the order of calls: of all functions, or of the given ones.
sub see
{
	my ($self, $session, $rows, @of) = @_;
	my @functions = @of ? @of : @{ $self->{functions} };
	for my $row (@$rows)
	{
		for my $i (0 .. $#$row)
		{
			my ($function, $value) = ($functions[$i], $row->[$i]);
			my $number = $on_ticker{$function} ? number($function, $value) : $value;
			push @{ $self->{repeated} }, "$function: $value" if $self->{seen}{$function}{$number}++;
			next unless $on_ticker{$function};

			my $before = max($self->{before}{$function} // -1, $session->{last}{$function} // -1);
			push @{ $self->{fallen} }, "$function: $value" if $number <= $before;
			$session->{last}{$function} = $number;
			$self->{max}{$function} = max($number, $self->{max}{$function} // -1);
		}
	}
}

sub begin_phase { my ($self) = @_; $self->{before} = { %{ $self->{max} } } }

# The number of different identifiers of a function
sub count { my ($self, $function) = @_; return scalar keys %{ $self->{seen}{$function} } }

sub check
{
	my ($self) = @_;
	none($self->{repeated}, 'no identifier was returned twice, including rolled back ones');
	none($self->{fallen}, 'identifiers on a ticker exceed all before in the session or before a fault');
}

# The increasing part of a value as a number that is greater for each later value
my $trace_id_start;

sub number
{
	my ($function, $value) = @_;
	no warnings 'portable';
	return hex($value =~ s/^(.{8})-(.{4})-7(.{3})-.*/$1$2$3/r) if $function eq 'uuid_v7_ordered';
	return $value if $function ne 'trace_id';
	# the values wrap around every 388 days
	$trace_id_start //= $value;
	return ($value + (1 << 62) - $trace_id_start) % (1 << 63);
}

# Report the number of findings, and the first one.
sub none
{
	my ($found, $name) = @_;
	is(@$found . (@$found ? ": $found->[0]" : ''), '0', $name);
}
1;
