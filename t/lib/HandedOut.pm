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
#   HandedOut::number('trace_id', $value);          # a number that increases

package HandedOut;

use strict;
use warnings;
use Functions;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @functions = @Functions::tickers;

# A line is the function's name, a tab and the value.
sub _each_function { my ($statement) = @_; return join('', map { $statement =~ s/FUNCTION/$_/gr } @functions) }

sub _copy
{
	my ($rows) = @_;

	return _each_function("COPY (SELECT 'FUNCTION', idgen.FUNCTION() FROM generate_series(1, $rows)) TO STDOUT;\n");
}

# No transaction has changes to commit, so that only the tickers flush WAL.
my $single = _each_function("SELECT 'FUNCTION', idgen.FUNCTION();\n");
my %clients = (
	'one at a time' => $single x 100,
	'in transactions' => join('', ("BEGIN;\n" . $single x 20 . "SAVEPOINT before;\n$single" . "ROLLBACK TO before;\n$single" . "ROLLBACK;\n") x 10),
	'in a transaction that stays open' => "BEGIN;\n" . _copy(50) x 1000,
	'many at a time' => _copy(1000) x 20);

sub new
{
	my ($class) = @_;
	my $self = bless { folder => PostgreSQL::Test::Utils::tempdir(), phases => [], waited_for => 0 }, $class;

	while (my ($name, $script) = each %clients)
	{
		my $file = $self->_script($name);

		append_to_file($file, "$script\\i '$file'\n");
		append_to_file("$file.once", $script);
	}
	return $self;
}

# Settings of a server, with which all of the functions work
our $settings = q{
idgen.node_id = 21
idgen.launch_id = 12345
log_statement = none
autovacuum = off
# recovery compares each page that it restores with the original
wal_consistency_checking = 'generic, sequence'
};

sub _script { my ($self, $client) = @_; return "$self->{folder}/$client.sql" =~ s/ /_/gr }

# Begin a phase: its values must be greater than those of the phases before.
sub begin_phase
{
	my ($self, $name) = @_;
	my $phase = { name => $name, files => {}, running => [] };

	push @{ $self->{phases} }, $phase;
	return $phase;
}

# Start the clients. Each one repeats its script, or runs it once: all clients
# together then fetch 70310 values of each function.
sub clients_begin
{
	my ($self, $name, $node, %how) = @_;
	my $end = $how{once} ? '.once' : '';
	my $phase = $self->begin_phase($name);

	for my $client (sort keys %clients)
	{
		my $file = $self->_script($client) . '.' . @{ $self->{phases} } . '.out';

		push @{ $phase->{running} },
		  IPC::Run::start(
			[
				'psql', '--no-psqlrc', '--quiet', '--tuples-only', '--no-align',
				"--field-separator=\t", '--dbname=' . $node->connstr('postgres') . ' application_name=handed_out',
				'--file=' . $self->_script($client) . $end
			],
			'>', $file, '2>', "$file.errors");
		$phase->{files}{$client} = $file;
	}
}

# Count the values of each function that were appended to a file since the last
# count, beginning at the offset $count->{from}.
sub _count_on
{
	my ($count) = @_;
	my $size = (-s $count->{file}) - $count->{from};

	open my $file, '<', $count->{file} or die "$count->{file}: $!";
	seek($file, $count->{from}, 0);
	read($file, my $text, $size);
	close $file;

	# only complete lines count
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
		$self->{counts}{$file} //= { file => $file, from => 0 };
		$most += 2_000 + _count_on($self->{counts}{$file})->{$function} // 0;
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
	my $files = $phase->{files};
	my $later = $phase->{waited}++;
	my $attempts = 100 * $PostgreSQL::Test::Utils::timeout_default;

	for my $count (map { { client => $_, file => $files->{$_}, from => $later ? -s $files->{$_} : 0, map { $_ => 0 } @functions } } sort keys %clients)
	{
		while (my @few = grep { $count->{$_} < $some } @functions)
		{
			die "no values of $few[0] for the client $count->{client}: " . slurp_file("$count->{file}.errors")
			  if $attempts-- <= 0;
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
	my $phase = $self->{phases}[-1];
	my $client = 'client ' . (1 + keys %{ $phase->{files} });
	my $file = "$self->{folder}/phase." . @{ $self->{phases} } . ".$client.out";

	append_to_file($file, "$values\n");
	$phase->{files}{$client} = $file;
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
	my (%count, %seen, %last_phase_max, %repeated, %client_falls, %phase_falls);

	for my $phase (@{ $self->{phases} })
	{
		my %max = %last_phase_max;

		for my $client (sort keys %{ $phase->{files} })
		{
			my $where = "$phase->{name}, $client";
			my %last;

			open my $file, '<', $phase->{files}{$client} or die "$client: $!";
			while (my $line = <$file>)
			{
				my ($function, $value) = $line =~ /^(\w+)\t(\S+)\n/ or next;
				my $number = number($function, $value);

				$count{$function}++;
				push @{ $repeated{$function} }, "$value ($where)"
				  if $seen{$function}{$number}++;
				push @{ $client_falls{$function} }, "$value ($where)"
				  if defined $last{$function} && $number <= $last{$function};
				push @{ $phase_falls{$function} }, "$value ($where)"
				  if defined $last_phase_max{$function} && $number <= $last_phase_max{$function};
				$last{$function} = $number;
				$max{$function} = $number if $number > ($max{$function} // -1);
			}
			close $file;
		}
		%last_phase_max = %max;
	}

	for my $function (@functions)
	{
		cmp_ok($count{$function}, '>=', $self->{waited_for}, "$function: $count{$function} values were returned");
		none($repeated{$function} // [], "$function: no value was returned twice");
		none($client_falls{$function} // [], "$function: values increase for each client");
		none($phase_falls{$function} // [], "$function: values exceed those of earlier phases");
	}
}

1;
