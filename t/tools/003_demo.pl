# The demonstration gives each request the expected verdict, and removes its cluster.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my $demo = dirname(__FILE__) . '/../../scripts/demo.sh';
my ($stdout, $stderr);

ok(IPC::Run::run([ $demo ], '<', \undef, '>', \$stdout, '2>', \$stderr), 'the demonstration succeeds')
  or diag $stdout, $stderr;

my %verdicts;
$verdicts{$1}++ while $stdout =~ /^ +\d+ \| [^|]*\| (created|replayed|refused) +\|/gm;
is_deeply(\%verdicts, { created => 6, replayed => 1, refused => 8 }, 'the fifteen requests have the expected verdicts');
is(scalar(() = $stdout =~ /^ (?:line|order|recorded)[^|]*\| +\d+ \| +\d+ \| t *$/gm), 5, 'all comparisons with the expected results hold');
my ($folder) = $stdout =~ m{^ok, in (/tmp/idgen\.\w+)$}m;
ok(defined $folder && !-e $folder, 'the folder of the cluster is removed');

done_testing();
