# The demonstration holds what it tells, and leaves nothing behind.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'PG_CONFIG does not say which server to demonstrate' unless $ENV{PG_CONFIG};

my $demo = dirname(__FILE__) . '/../../scripts/demo.sh';
my ($stdout, $stderr);

ok(IPC::Run::run([ $demo, '--quick' ], '<', \undef, '>', \$stdout, '2>', \$stderr), 'the demonstration ends well')
  or diag $stdout, $stderr;

my %verdicts;
$verdicts{$1}++ while $stdout =~ /^ +\d+ \| [^|]*\| (created|replayed|refused) +\|/gm;
is_deeply(\%verdicts, { created => 6, replayed => 1, refused => 8 }, 'each of the fifteen requests has its verdict');
is(scalar(() = $stdout =~ /^ (?:lines|line|orders|recorded)[^|]*\| +\d+ \| +\d+ \| t *$/gm), 9, 'everything is accounted for');
my ($folder) = $stdout =~ m{^ok, in (/tmp/idgen\.\w+)$}m;
ok(defined $folder && !-e $folder, 'nothing is left behind');

done_testing();
