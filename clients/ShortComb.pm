package ShortComb;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = ('short_comb');

# A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4.
sub short_comb
{
	my ($time, $random) = @_;

	my @bytes = unpack 'C16', $random // random_bytes();
	@bytes[0, 1] = unpack 'C2', pack 'n', int(($time // time) / 60) % 65536;
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
