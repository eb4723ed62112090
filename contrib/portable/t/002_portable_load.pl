# Run t/024_creation_load.pl with the portable edition and five seconds of load.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;		# contains INIT blocks
use PostgreSQL::Test::Utils;

$ENV{IDGEN_PORTABLE} = 1;
$ENV{IDGEN_LOAD_SECONDS} ||= 5;
do "./t/024_creation_load.pl" or die $@ || $!;
