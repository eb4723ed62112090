# Verify scripts that start their own cluster: the demonstration, and the timing of functions, with few calls.

use Server;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my ($stdout, $stderr) = run_command(["scripts/demo.sh"]);
is($?, 0, 'the demonstration succeeds') or diag $stdout, $stderr;
my %outcomes;
$outcomes{$1}++ while $stdout =~ /^ +\d+ \| [^|]*\| (created|replayed|refused) +\|/gm;
is_deeply(\%outcomes, { created => 6, replayed => 1, refused => 9 }, 'the sixteen requests have the expected outcomes');
like($stdout, qr/^ +16 \| +1 \| +6 \| +6 \| +6$/m, 'orders and recorded commands are as expected');
like($stdout, qr/^ +800 \| +5\n.*^ +0 \| +0\n/ms, 'another default saves the pages of the WAL');
my ($folder) = $stdout =~ m{^ok, in (/tmp/idgen\.\w+)$}m;
ok(defined $folder && !-e $folder, 'the folder of the cluster is removed');

($stdout, $stderr) = run_command([ "bench/lab/functions.sh", qw(--calls 100 --rounds 1) ]);
is($?, 0, 'functions.sh succeeds');
is(join('', grep { !/^\[\d+:\d\d\] / } split /^/m, $stderr), '', 'functions.sh prints only its progress');
like($stdout, qr/^\| `\Q$_\E \| -?[\d.]+ \|$/m, "functions.sh: a figure of $_")
  for "nextval('idgen_bench.numbers')`", "idgen.keyed_comb('orders')`", 'idgen.snowflake()`',
  "idgen.permute(number, 'orders')`";

done_testing();
