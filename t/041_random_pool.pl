# The pool of random bits, as seen in the memory of the server's processes: it is
# erased as it is used, and never shared between processes.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

my $node = start_server('secrets', 'log_statement = none');

# The memory of a process from an address on
sub memory_at
{
	my ($pid, $address, $mode) = @_;
	open my $memory, $mode // '<:raw', "/proc/$pid/mem" or die "cannot open the memory of $pid: $!";
	sysseek($memory, $address, 0) or die $!;
	return $memory;
}

sub peek
{
	my ($pid, $address, $length) = @_;
	sysread(memory_at($pid, $address), my $bytes, $length) == $length or die "cannot read the memory of $pid: $!";
	return $bytes;
}

sub count_values { return scalar grep { $_ } unpack('Q*', $_[0]) }

# The addresses of a byte string in memory
sub places
{
	my ($bytes, @memory) = @_;
	my @places;
	for my $region (@memory)
	{
		my $at = -1;
		push @places, $region->[0] + $at while ($at = index($region->[2], $bytes, $at + 1)) >= 0;
	}
	return @places;
}

my $little_endian = unpack('C', pack('S', 1));

# The two 64-bit values of the pool that a version 4 uuid was made from: 60 bits of
# the first surround the version, 62 bits of the second follow the variant.
# Returns the seven bytes of each that are completely known. The compiler chooses
# which of the two is taken from the pool first.
my $second_first = 0;

sub pool_values
{
	my ($uuid) = @_;
	no warnings 'portable';
	$uuid =~ s/-//g;
	my @values = (hex(substr($uuid, 0, 12) . substr($uuid, 13, 3)) << 4, hex(substr($uuid, 16)) << 2);
	@values = reverse @values if $second_first;
	return map { substr(pack('Q', $_), $little_endian, 7) } @values;
}

sub without_stack { return grep { $_->[1] !~ /^\[(stack|v)/ } @_ }

my $make = 'SELECT idgen.uuid_v4() FROM generate_series';
my $pool_size = 512;

my $session = session();
my $pid = $session->{pid};
$session->ask('SELECT idgen.uuid_v4()');
my @before = without_stack(private_memory($pid));

SKIP:
{
	skip "the memory of the server's processes cannot be read here", 1 if !grep { length $_->[2] } @before;

	my @made = split /\n/, $session->ask("$make(1, 60)");
	my @after = without_stack(private_memory($pid));
	my ($one, $two) = map { (places($_, @before))[0] } pool_values($made[0]);
	$second_first = defined $one && defined $two && $two < $one;
	my @values = map { pool_values($_) } @made;
	my @places = map { [ places($_, @before) ] } @values;

	is(scalar @values, 120, '60 identifiers were made from 120 values of the pool');
	is(scalar(grep { @$_ == 1 } @places), 120, 'each value was in the memory of the process before, once');
	my $first = $places[0][0] - $little_endian;
	my $pool = $first - 2 * 8;
	is_deeply([ map { $_->[0] - $little_endian } @places ], [ map { $first + 8 * $_ } 0 .. 119 ], 'the values are adjacent');
	is(scalar(grep { places($_, @after) } @values), 0, 'no used value remains in memory');
	is(count_values(peek($pid, $pool, 122 * 8)), 0, 'used values are replaced by zeros');
	my $rest = peek($pid, $pool + 122 * 8, ($pool_size - 122) * 8);
	is(scalar(grep { places($_, @before) == 1 } unpack '(a8)*', $rest), $pool_size - 122, 'the unused values are unchanged');

	@made = split /\n/, $session->ask("$make(1, 195)");
	is_deeply([ map { unpack 'H*', $_ } map { pool_values($_) } @made ],
		[ map { unpack 'H*', substr($rest, 8 * $_ + $little_endian, 7) } 0 .. 389 ],
		'the unused values are used next, to the last one');
	is(count_values(peek($pid, $pool, $pool_size * 8)), 0, 'then the pool contains zeros only');
	$session->ask('SELECT idgen.uuid_v4()');
	my $second = peek($pid, $pool, $pool_size * 8);
	is(count_values(substr($second, 0, 16)), 0, 'the next identifier takes two values of a new pool');
	is(count_values($second), $pool_size - 2, 'the rest of the new pool is filled');

	# A forked process would have a copy of this pool and another process ID. To
	# simulate it, change the owner that is stored next to the pool; the symbol
	# table of the library contains its address.
	my ($library) = map { $_->[1] } grep { $_->[1] =~ m{/idgen\.so$} } @after;
	my $symbols = `nm '$library' 2>/dev/null` // '';
	my %symbol = map { /^(\w+) [bBdD] (pool\w*)$/ ? ($2 => hex $1) : () } split /\n/, $symbols;

	SKIP:
	{
		skip 'nm does not show the address of the pool', 1 if !defined $symbol{pool};
		ok(defined $symbol{pool_owner}, 'the library stores the owner of the pool') or skip 'there is no owner', 1;

		my $owner = $pool + $symbol{pool_owner} - $symbol{pool};
		is(unpack('i', peek($pid, $owner, 4)), $pid, 'the owner of the pool is the process');
		syswrite(memory_at($pid, $owner, '+<:raw'), pack('i', 1)) == 4 or die "cannot write the memory of $pid: $!";
		@made = split /\n/, $session->ask("$make(1, 5)");
		my @unused = map { substr($second, 8 * $_ + $little_endian, 7) } 2 .. $pool_size - 1;
		my %unused = map { $_ => 1 } @unused;
		is(scalar(grep { $unused{$_} } map { pool_values($_) } @made), 0, 'values of a pool of another process are not used');
		is(unpack('i', peek($pid, $owner, 4)), $pid, 'the process filled a pool of its own');
		@after = without_stack(private_memory($pid));
		is(scalar(grep { places($_, @after) } @unused), 0, 'the values of the other pool are erased');
	}
	$session->quit;

	# Loaded by the postmaster, the pool has the same address in all processes.
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	$node->restart;
	$session = session();
	$pid = $session->{pid};
	my ($other, $idle) = (session(), session());
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	$session->ask('SELECT idgen.uuid_v4()');
	@before = without_stack(private_memory($pid));
	my ($value) = pool_values($session->ask('SELECT idgen.uuid_v4()'));
	$pool = (places($value, @before))[0] - $little_endian - 2 * 8;
	$other->ask($_) for "$make(1, 2)";

	my @pools = map { peek($_, $pool, $pool_size * 8) } $pid, $other->{pid}, $idle->{pid}, $postmaster;
	is(count_values($_), $pool_size - 4, 'shared_preload_libraries: a session has a pool') for @pools[ 0, 1 ];
	my %different = map { $_ => 1 } map { unpack('(a8)*', substr($_, 4 * 8)) } @pools[ 0, 1 ];
	is(scalar keys %different, 2 * ($pool_size - 4), 'shared_preload_libraries: all values of both differ');
	is(count_values($pools[2]), 0, 'shared_preload_libraries: a session that made no identifier has no pool');
	is(count_values($pools[3]), 0, 'shared_preload_libraries: the postmaster has no pool');
	$_->quit for $other, $idle;
}

$session->quit;
done_testing();
