# Every value that the functions on a ticker hand out, and whether one of them
# was handed out twice.
#
# Clients fetch values without end and write them to files as they get them,
# so that a value counts whatever becomes of its transaction and of the server.
#
#   my $handed_out = HandedOut->new;
#   $handed_out->clients_begin('before', $node);    # values are fetched
#   $handed_out->wait_for_more;                     # by every client
#   $handed_out->clients_end;                       # the server ended them
#   $handed_out->check_never_twice;
#   HandedOut::number('trace_id', $value);          # to compare it by

package HandedOut;

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @functions = qw(snowflake trace_id js_id decimal_id uuid_v7_ordered);

# A line is the function's name, a tab and the value.
sub _each_function
{
	my ($statement) = @_;

	return join('', map { $statement =~ s/FUNCTION/$_/gr } @functions);
}

sub _copy
{
	my ($rows) = @_;

	return _each_function("COPY (SELECT 'FUNCTION', idgen.FUNCTION() FROM generate_series(1, $rows)) TO STDOUT;\n");
}

# No transaction has anything to commit, so that the server flushes no WAL but
# what a ticker flushes.
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

# What a node needs so that all of the functions work.
sub configure
{
	my ($node) = @_;

	$node->append_conf('postgresql.conf', q{
idgen.node_id = 21
idgen.launch_id = 12345
log_statement = none
autovacuum = off
# recovery compares each page that it puts together with the one that was
wal_consistency_checking = 'generic, sequence'
});
}

sub _script
{
	my ($self, $client) = @_;

	return "$self->{folder}/$client.sql" =~ s/ /_/gr;
}

# Values from now on are greater than those before.
sub begin_phase
{
	my ($self, $name) = @_;
	my $phase = { name => $name, files => {}, running => [] };

	push @{ $self->{phases} }, $phase;
	return $phase;
}

# Each client runs its script again and again, or once: that gives them 70310
# values of each function, all together.
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

# Count the values of each function in what has come to a file since the last
# count, or since the time that it was so long.
sub _count_on
{
	my ($count) = @_;
	my $size = (-s $count->{file}) - $count->{from};

	open my $file, '<', $count->{file} or die "$count->{file}: $!";
	seek($file, $count->{from}, 0);
	read($file, my $text, $size);
	close $file;

	# a line is there when its end is
	$text =~ s/[^\n]*\z//;
	$count->{from} += length $text;
	# each name has a letter that no other name and no value has, and there are
	# millions of lines
	$count->{snowflake} += $text =~ tr/k//;
	$count->{trace_id} += $text =~ tr/t//;
	$count->{js_id} += $text =~ tr/j//;
	$count->{decimal_id} += $text =~ tr/m//;
	$count->{uuid_v7_ordered} += $text =~ tr/v//;
	return $count;
}

# No more values of a function than these were handed out: those that are
# written, and those that each client may have on the way, of one statement and
# in its buffer.
sub at_most
{
	my ($self, $function) = @_;
	my $most = 0;

	for my $file (map { values %{ $_->{files} } } @{ $self->{phases} })
	{
		$self->{counts}{$file} //= { file => $file, from => 0 };
		$most += 2_000 + _count_on($self->{counts}{$file})->{$function};
	}
	return $most;
}

# Until each client has got some more values of each function, from now on or, the
# first time in a phase, from its beginning on
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

# To be called when the server ended their sessions.
sub clients_end
{
	my ($self) = @_;

	$_->finish for @{ $self->{phases}[-1]{running} };
}

# The same where the server goes on.
sub clients_terminate
{
	my ($self, $node) = @_;

	$node->safe_psql('postgres',
		q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'handed_out'});
	$self->clients_end;
}

# Values that somebody else got, each with its function's name and a tab, as
# one more client of the phase
sub record
{
	my ($self, $values) = @_;
	my $phase = $self->{phases}[-1];
	my $client = 'client ' . (1 + keys %{ $phase->{files} });
	my $file = "$self->{folder}/phase." . @{ $self->{phases} } . ".$client.out";

	append_to_file($file, "$values\n");
	$phase->{files}{$client} = $file;
}

# A value without what tells no two of them apart, as a number that is greater
# for each one that comes after it
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
		# they begin again every 388 days
		$trace_id_start //= $value;
		return ($value + (1 << 62) - $trace_id_start) % (1 << 63);
	}
	return $value;
}

# Tell of the first one, and of how many there are.
sub _none
{
	my ($found, $name) = @_;
	my $first = @$found ? ": $found->[0]" : '';

	is(@$found . $first, '0', $name);
}

# Each function handed out as many values as were waited for, and none of them
# twice, and each client's and each phase's are greater than those before.
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
		cmp_ok($count{$function}, '>=', $self->{waited_for}, "$function: $count{$function} values were handed out");
		_none($repeated{$function} // [], "$function: none of them twice");
		_none($client_falls{$function} // [], "$function: each one greater than its client's last");
		_none($phase_falls{$function} // [], "$function: and than all of the time before");
	}
}

1;
