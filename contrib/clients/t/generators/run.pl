# The generators of Perl, see t/003_generators.pl
use strict;
use warnings;
use lib 'generators';
use HmacComb 'hmac_comb';
use ShortComb 'short_comb';

my %generators = (
	short => sub { my ($period, $prefix, $ms, $random) = @_; short_comb($ms, pack('H*', $random), $period, $prefix) },
	hmac => sub { my ($key, $area, $period, $ms, $random) = @_;
		hmac_comb(pack('H*', $key), $area, $ms, pack('H*', $random), $period) },
	now => sub { my ($key, $area) = @_; short_comb() . ' ' . hmac_comb(pack('H*', $key), $area) });
while (my $line = <STDIN>)
{
	chomp $line;
	my ($name, @words) = split /\t/, $line;
	print $generators{$name}->(@words), "\n";
}
