# Generate version 4 COMBs as idgen does.

package Combs;
use strict;
use warnings;
use Digest::SHA 'hmac_sha256';
use Exporter 'import';
use Time::HiRes 'time';

our @EXPORT_OK = qw(hmac_comb short_comb);

# Return a COMB that begins with an HMAC of the hour and of its twelfth. The server's key file has the same 16-byte key.
# The area consists of bytes in UTF-8.
sub hmac_comb
{
	my ($key, $area, $unix_ms, $random, $period_ms) = @_;
	$unix_ms //= int(time * 1000);
	$period_ms //= 3_600_000;
	die "the key of hmac_comb() must have 16 bytes\n" if length $key != 16;
	die "an area must have at most 63 bytes\n" if !defined $area || length $area > 63;
	my $hash = sub { hmac_sha256("$_[0] $period_ms " . period_number($_[1], $period_ms) . " $area", $key) };
	return stamp($random, substr($hash->(1, $unix_ms), 0, 3) . substr($hash->(2, $unix_ms * 12), 0, 1));
}

# Return a COMB that begins with the number of the period, by default the minute modulo 65536.
sub short_comb
{
	my ($unix_ms, $random, $period_ms, $prefix_bytes) = @_;
	my $period = pack 'q>', period_number($unix_ms // time * 1000, $period_ms // 60_000);
	return stamp($random, substr $period, -($prefix_bytes // 2));
}

# Return the quotient, rounded down. Floating-point division would be inexact, and its result would have an exponent
# from 1e15 on.
sub period_number
{
	use integer;
	my ($ms, $period_ms) = @_;
	return $ms / $period_ms - ($ms % $period_ms < 0 ? 1 : 0);
}

sub stamp
{
	my ($random, $prefix) = @_;
	my @bytes = unpack 'C*', $prefix . substr $random // random_bytes(), length $prefix;
	die "a COMB must have 16 bytes\n" if @bytes != 16;
	$bytes[6] = $bytes[6] & 0x0f | 0x40;    # version 4
	$bytes[8] = $bytes[8] & 0x3f | 0x80;    # variant of RFC 9562
	return join '-', unpack 'H8 H4 H4 H4 H12', pack 'C16', @bytes;
}

sub random_bytes
{
	open my $source, '<:raw', '/dev/urandom' or die "could not open /dev/urandom: $!\n";
	read($source, my $random, 16) == 16 or die "could not read /dev/urandom\n";
	return $random;
}

1;
