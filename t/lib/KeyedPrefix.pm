# Compute the prefix of a keyed COMB as docs/keyed-comb.md defines it, independently of the extension's code.

package KeyedPrefix;
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256 hmac_sha256_hex);
use Encode qw(encode_utf8);
use Exporter qw(import);

our @EXPORT = qw(keyed_prefix server_key);

sub floor_div
{
	my ($dividend, $divisor) = @_;
	use integer;
	return $dividend / $divisor - ($dividend % $divisor < 0 ? 1 : 0);
}

# The key is given as bytes, the area as characters, and the period and time in milliseconds.
sub keyed_prefix
{
	my ($key, $area, $period, $ms) = @_;
	my $hash = sub { return hmac_sha256_hex(encode_utf8("$_[0] $period $_[1] $area"), $key) };
	return substr($hash->(1, floor_div($ms, $period)), 0, 6) . substr($hash->(2, floor_div(12 * $ms, $period)), 0, 2);
}

# Return the key of keyed_comb() in a database with the given OID.
sub server_key
{
	my ($secret, $database, $clock_is_given) = @_;
	return hmac_sha256($database . ($clock_is_given ? ' clock' : ''), $secret);
}
1;
