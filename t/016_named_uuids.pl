# Verify that uuid_v5() and named_uuid_v7() return what a program computes from their definitions in docs/reference.md,
# in every server encoding.

use utf8;
use Digest::SHA qw(sha1 sha256);
use Encode qw(encode);
use Server;

my $seed = $ENV{IDGEN_SEED} // int(rand(2**31));
note("IDGEN_SEED=$seed");
srand($seed);
start_server('named');
$ENV{PGCLIENTENCODING} = 'UTF8';

# Replace the version and the variant in the first 128 bits of a hash.
sub stamped
{
	my ($hash, $version) = @_;
	my @bytes = unpack 'C16', $hash;
	$bytes[6] = $version << 4 | $bytes[6] & 0x0f;
	$bytes[8] = 0x80 | $bytes[8] & 0x3f;
	return join '-', unpack 'A8 A4 A4 A4 A12', join '', map { sprintf '%02x', $_ } @bytes;
}

# In version 7, the first 12 bits of the hash follow the version, and the first 62 bits of its second half follow the
# variant.
sub named_uuid_v7
{
	my ($us, $namespace, $name) = @_;
	use integer;
	my $ms = $us / 1000;
	my ($high, $low) = map { unpack 'Q>', $_ } unpack 'a8 a8', sha256(pack('H32', $namespace) . $name);
	no integer;    # unsigned shifts
	return stamped(pack('Q> Q>', $ms << 16 | $high >> 52, $low >> 2), 7);
}

sub uuid_v5
{
	my (undef, $namespace, $name) = @_;
	return stamped(sha1(pack('H32', $namespace) . $name), 5);
}

sub in_days { use integer; return ($_[0] / 86_400_000_000, $_[0] % 86_400_000_000) }

# There is one database for each encoding. The names consist of characters that exist in the encoding.
my %characters = (UTF8 => 'aé€表😀', LATIN1 => 'aéÿ', LATIN9 => 'aé€', EUC_JP => 'aソ表', SQL_ASCII => 'aé€表😀');
for my $encoding (sort keys %characters)
{
	add_database($encoding, $encoding);
	my @characters = split //, $characters{$encoding};
	# Some numbers of microseconds are not whole milliseconds. 281474976710656000 us is the end of the range.
	my @cases = map {
		my $us = $_;
		my $name = join '', map { $characters[ rand @characters ] } 1 .. int 2**rand(10);
		[ $us, join('', map { sprintf '%04x', int rand 65536 } 1 .. 8), encode('UTF-8', $name) ];
	} 0, 999, 1000, 281474976710655000, 281474976710655999, map { int rand 281474976710656000 } 1 .. 1000;
	my $values = join ', ', map { sprintf "(%d, %d, '%s', '%s')", in_days($_->[0]), @$_[ 1, 2 ] } @cases;
	is(ask(qq{SELECT idgen.uuid_v5(namespace, name), idgen.named_uuid_v7(
				(date '1970-01-01' + days)::timestamp AT TIME ZONE 'UTC' + us * interval '1 us', namespace, name)
			FROM (VALUES $values) v (days, us, id, name), CAST(id AS uuid) namespace}, lc $encoding),
		join("\n", map { join '|', uuid_v5(@$_), named_uuid_v7(@$_) } @cases),
		"$encoding: " . @cases . ' times, namespaces and names');
}

# Pass bytes that are not valid UTF-8 in a database without an encoding.
is(outcome("SELECT idgen.$_, E'\\xe9')", database => 'sql_ascii'), '22021', "$_, ...): bytes that are not UTF-8")
  for map { "$_'6ba7b810-9dad-11d1-80b4-00c04fd430c8'" } 'uuid_v5(', "named_uuid_v7('2026-01-01', ";
done_testing();
