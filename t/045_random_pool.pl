# Verify the pool of random bits in the memory of the server's processes. Random bits are erased when they are used, and
# no process is forked with a filled pool.

use Server;

my $node = start_server('secrets', 'log_statement = none');
my $little_endian = unpack('C', pack('S', 1));

# Return the memory of a process except its stack, where results may remain.
sub memory { return grep { $_->[1] !~ /^\[(stack|v)/ } private_memory($_[0]{pid}) }

# Return the addresses of a byte string in memory.
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

# Return the 64-bit numbers at and after an address that places() returned.
sub numbers_at
{
	my ($pid, $place, $count) = @_;
	open my $memory, '<:raw', "/proc/$pid/mem" or die "cannot open the memory of $pid: $!";
	sysseek($memory, $place - $little_endian, 0) or die $!;
	sysread($memory, my $bytes, 8 * $count) == 8 * $count or die "cannot read the memory of $pid: $!";
	return unpack 'Q*', $bytes;
}

# Generate identifiers, and return the pool's values that were used. Each identifier contains two values: 60 bits of one
# surround the version, and 62 bits of the other follow the variant. Seven bytes of each value are completely known.
sub make
{
	my ($session, $count) = @_;
	no warnings 'portable';
	return map { substr(pack('Q', $_), $little_endian, 7) }
	  map { s/-//gr =~ /^(.{12}).(.{3})(.{16})$/ ? (hex("$1$2") << 4, hex($3) << 2) : die }
	  split /\n/, $session->ask("SELECT idgen.uuid_v4() FROM generate_series(1, $count)");
}

my $session = session();
make($session, 1);
my @before = memory($session);
plan skip_all => "the memory of the server's processes cannot be read here" if !grep { length $_->[2] } @before;

# A pool consists of 512 values.
my @made = make($session, 60);
is(scalar(grep { places($_, @before) == 1 } @made), 120,
	'60 identifiers were made from 120 values that were in memory before, once');
my @after = memory($session);
is(scalar(grep { places($_, @after) } @made), 0, 'none of them remains in memory');
push @made, make($session, 195);
my @places = sort { $a <=> $b } map { places($_, @before) } @made;
is_deeply([ map { $_ - $places[0] } @places ], [ map { 8 * $_ } 0 .. 509 ],
	'the unused values beside them are used next, to the last one');
is(scalar(grep { $_ } numbers_at($session->{pid}, $places[0], 510)), 0, 'then the pool contains zeros only');
make($session, 1);
is(scalar(grep { $_ } numbers_at($session->{pid}, $places[0], 510)), 510, 'and is filled for the next identifier');
$session->quit;

# If the postmaster loads the library, the pool has the same address in all processes, and is empty when they are
# forked.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
$node->restart;
my ($first, $other, $idle) = map { session() } 1 .. 3;
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
make($_, 1) for $first, $other;
my @memory = memory($first);
my ($place) = places((make($first, 1))[0], @memory);
my ($in_first, $in_other, $in_idle, $in_postmaster) = map { [ numbers_at($_, $place + 16, 500) ] }
  map({ $_->{pid} } $first, $other, $idle), $postmaster;
is_deeply([ grep { $_ } @$in_postmaster, @$in_idle ], [],
	'the postmaster and a session that made no identifier have no pool');
my %different = map { $_ => 1 } @$in_first, @$in_other;
is(scalar keys %different, 1000, 'sessions that did have pools of their own');
$_->quit for $first, $other, $idle;

# If another library generates an identifier in the postmaster, the call raises an error, so that no session inherits
# the generator's state.
SKIP:
{
	my $library = build_library('postmaster_generates', q{
	LOCAL_FCINFO(call, 1);
	PGFunction	generate = (PGFunction) load_external_function("idgen", getenv("GENERATOR"), true, NULL);

	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0].isnull = true;
	generate(call);
}) or skip 'no compiler';
	$node->stop;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$library'");
	for my $generator ('uuid_v4', 'uuid_v7', 'uuid_v6', 'comb', 'ulid', 'object_id')
	{
		local $ENV{GENERATOR} = "idgen_$generator";
		my $length = -s $node->logfile;
		ok(!$node->start(fail_ok => 1), "$generator in the postmaster: the server does not start");
		like(slurp_file($node->logfile, $length), qr/FATAL:  identifiers cannot be generated in the postmaster/,
			"$generator: it says why");
	}
	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'idgen'");
	$node->start;
}
done_testing();
