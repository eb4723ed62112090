# Records the values that the functions on a ticker return, and checks that none
# is returned twice.
#
# Clients fetch values endlessly and write them to files as they receive them, so
# that a value counts whether or not its transaction commits or the server
# crashes.
#
#   my $handed_out = HandedOut->new;
#   $handed_out->clients_begin('before', $node);    # clients fetch values
#   $handed_out->wait_for_more;                     # until each has some more
#   $handed_out->clients_end;                       # after the server has stopped
#   $handed_out->check_never_twice;
#   number('trace_id', $value);                     # a number that increases

package HandedOut;

use strict;
use warnings;
use Exporter 'import';
use Functions;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT_OK = qw(number);
our @functions = @Functions::tickers;

# A line is the function's name, a tab and the value.
sub _each_function { my ($statement) = @_; return join('', map { $statement =~ s/FUNCTION/$_/gr } @functions) }

my $copy = _each_function("COPY (SELECT 'FUNCTION', idgen.FUNCTION() FROM generate_series(1, ROWS)) TO STDOUT;\n");
my ($fifty, $thousand) = map { $copy =~ s/ROWS/$_/gr } 50, 1000;

# No transaction has changes to commit, so that only the tickers flush WAL.
my $single = _each_function("SELECT 'FUNCTION', idgen.FUNCTION();\n");
my $rolled_back = 'BEGIN;' . $single x 20 . "SAVEPOINT before; $single ROLLBACK TO before; $single ROLLBACK;";
my %clients = (
	'one at a time' => $single x 100,
	'in transactions' => $rolled_back x 10,
	'in a transaction that stays open' => 'BEGIN;' . $fifty x 1000,
	'many at a time' => $thousand x 20);

# Settings of a server, with which all of the functions work
our $settings = q{
idgen.node_id = 21
idgen.launch_id = 12345
log_statement = none
autovacuum = off
# recovery compares each page that it restores with the original
wal_consistency_checking = 'generic, sequence'
};

sub new
{
	my ($class) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();

	for my $client (keys %clients)
	{
		append_to_file("$folder/$client.once.sql", $clients{$client});
		append_to_file("$folder/$client.sql", "$clients{$client}\n\\i '$folder/$client.sql'\n");
	}
	return bless { folder => $folder, phases => [], waited_for => 0 }, $class;
}

# Begin a phase: its values must be greater than those of the phases before.
sub begin_phase
{
	my ($self, $name) = @_;

	push @{ $self->{phases} }, { name => $name, files => {}, running => [] };
	return $self->{phases}[-1];
}

# Start the clients. Each one repeats its script, or runs it once: all clients
# together then fetch 70320 values of each function.
sub clients_begin
{
	my ($self, $name, $node, %how) = @_;
	my $phase = $self->begin_phase($name);

	for my $client (sort keys %clients)
	{
		my $file = $phase->{files}{$client} = "$self->{folder}/$client." . @{ $self->{phases} };
		my @psql = ('psql', '--no-psqlrc', '--quiet', '--tuples-only', '--no-align', "--field-separator=\t",
			'--dbname=' . $node->connstr('postgres') . ' application_name=handed_out',
			"--file=$self->{folder}/$client" . ($how{once} ? '.once.sql' : '.sql'));

		push @{ $phase->{running} }, IPC::Run::start(\@psql, '>', $file, '2>', "$file.errors");
	}
}

# Count the values of each function in the complete lines that were appended to a file
# since the last count, beginning at the offset $count->{from}.
sub _count_on
{
	my ($count) = @_;
	my $size = (-s $count->{file}) - $count->{from};

	# not to its end: the clients write faster than Perl reads lines
	open my $file, '<', $count->{file} or die "$count->{file}: $!";
	seek($file, $count->{from}, 0);
	read($file, my $text, $size);
	$text =~ s/[^\n]*\z//;
	$count->{from} += length $text;
	$count->{$1}++ while $text =~ /^(\w+)/mg;
	return $count;
}

# An upper limit of the values of a function that were returned: those written to
# files, and those that each client may not have written yet, which are at most
# one statement and one buffer.
sub at_most
{
	my ($self, $function) = @_;
	my $most = 0;

	for my $file (map { values %{ $_->{files} } } @{ $self->{phases} })
	{
		my $count = $self->{counts}{$file} //= { file => $file, from => 0 };

		$most += 2_000 + (_count_on($count)->{$function} // 0);
	}
	return $most;
}

# Wait until each client has fetched some more values of each function, counted from
# now on, or for the first call in a phase, from the beginning of the phase.
my $some = 50;

sub wait_for_more
{
	my ($self) = @_;
	my $phase = $self->{phases}[-1];
	my $later = $phase->{waited}++;
	my $attempts = 100 * $PostgreSQL::Test::Utils::timeout_default;

	for my $client (sort keys %clients)
	{
		my $file = $phase->{files}{$client};
		my $count = { file => $file, from => $later ? -s $file : 0 };

		while (grep { ($count->{$_} // 0) < $some } @functions)
		{
			die "no values for the client $client: " . slurp_file("$file.errors") if $attempts-- <= 0;
			usleep(10_000);
			_count_on($count);
		}
		$self->{waited_for} += $some;
	}
}

# Wait for the clients' end after the server has ended their sessions.
sub clients_end { my ($self) = @_; $_->finish for @{ $self->{phases}[-1]{running} } }

# End the clients of a server that keeps running.
sub clients_terminate
{
	my ($self, $node) = @_;

	$node->safe_psql('postgres',
		q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'handed_out'});
	$self->clients_end;
}

# Record values that the test itself fetched, each as function name, tab and value,
# as those of one more client of the phase.
sub record
{
	my ($self, $values) = @_;
	my $files = $self->{phases}[-1]{files};
	my $client = 'client ' . (1 + keys %$files);

	$files->{$client} = "$self->{folder}/$client." . @{ $self->{phases} };
	append_to_file($files->{$client}, "$values\n");
}

# The increasing part of a value as a number that is greater for each later value
my $trace_id_start;

sub number
{
	my ($function, $value) = @_;

	if ($function eq 'uuid_v7_ordered')
	{
		no warnings 'portable';

		return hex($value =~ s/^(.{8})-(.{4})-7(.{3})-.*/$1$2$3/r);
	}
	if ($function eq 'trace_id')
	{
		# the values wrap around every 388 days
		$trace_id_start //= $value;
		return ($value + (1 << 62) - $trace_id_start) % (1 << 63);
	}
	return $value;
}

# Report the number of findings, and the first one.
sub none
{
	my ($found, $name) = @_;
	my $first = @$found ? ": $found->[0]" : '';

	is(@$found . $first, '0', $name);
}

# Check that each function returned at least the number of values waited for, that
# no value was returned twice, and that values increase for each client and from
# phase to phase.
sub check_never_twice
{
	my ($self) = @_;
	my (%count, %seen, %before, %found);
	my ($twice, $falls) = ('no value was returned twice', 'values increase for each client');
	my $falls_behind = 'values exceed those of earlier phases';

	for my $phase (@{ $self->{phases} })
	{
		my %max = %before;

		for my $client (sort keys %{ $phase->{files} })
		{
			my %last;

			open my $file, '<', $phase->{files}{$client} or die "$client: $!";
			while (my $line = <$file>)
			{
				my ($function, $value) = $line =~ /^(\w+)\t(\S+)\n/ or next;
				my $number = number($function, $value);
				my @wrong = (
					$seen{$function}{$number}++ ? $twice : (),
					$number <= ($last{$function} // -1) ? $falls : (),
					$number <= ($before{$function} // -1) ? $falls_behind : ());

				push @{ $found{$function}{$_} }, "$value ($phase->{name}, $client)" for @wrong;
				$count{$function}++;
				$last{$function} = $number;
				$max{$function} = $number if $number > ($max{$function} // -1);
			}
		}
		%before = %max;
	}

	for my $function (@functions)
	{
		cmp_ok($count{$function}, '>=', $self->{waited_for}, "$function: $count{$function} values were returned");
		none($found{$function}{$_} // [], "$function: $_") for $twice, $falls, $falls_behind;
	}
}

1;
