# See t/003_generators.pl.
use strict;
use warnings;
use lib 'generators';
use Combs qw(hmac_comb short_comb);

while (my $line = <STDIN>)
{
	chomp $line;
	my ($name, $key, $area, $period, $prefix, $ms, $random) = split /\t/, $line, -1;
	$_ = pack 'H*', $_ for $key, $random;
	print $name eq 'short' ? short_comb($ms, $random, $period, $prefix)
	  : $name eq 'hmac' ? hmac_comb($key, $area eq '\N' ? undef : $area, $ms, $random, $period)
	  : short_comb() . ' ' . hmac_comb($key, $area), "\n";
}
