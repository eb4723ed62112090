package ShortComb;

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes 'time';

our @EXPORT_OK = ('short_comb');

# A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number
# of the period, by default the minute modulo 65536.
sub short_comb
{
	my ($unix_ms, $random, $period_ms, $prefix_bytes) = @_;
	$prefix_bytes //= 2;

	my @bytes = unpack 'C16', $random // random_bytes();
	my $period = pack 'Q>', int(($unix_ms // time * 1000) / ($period_ms // 60_000));
	@bytes[ 0 .. $prefix_bytes - 1 ] = unpack 'C*', substr $period, -$prefix_bytes;
	$bytes[6] = $bytes[6] & 0x0f | 0x40;
	$bytes[8] = $bytes[8] & 0x3f | 0x80;
	return join '-', unpack 'H8 H4 H4 H4 H12', pack 'C16', @bytes;
}

sub random_bytes
{
	open my $source, '<:raw', '/dev/urandom' or die "could not open /dev/urandom: $!\n";
	read($source, my $random, 16) == 16 or die "could not read /dev/urandom\n";
	return $random;
}

1;
