# Scripts that start a cluster of their own: the demonstration, the script of the laboratory
# that times functions, with few calls, and the one that inserts for minutes, here for seconds.

use Server;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my $lab = "bench/lab";

my ($stdout, $stderr) = run_command(["scripts/demo.sh"]);
is($?, 0, 'the demonstration succeeds') or diag $stdout, $stderr;
my %verdicts;
$verdicts{$1}++ while $stdout =~ /^ +\d+ \| [^|]*\| (created|replayed|refused) +\|/gm;
is_deeply(\%verdicts, { created => 6, replayed => 1, refused => 8 }, 'the fifteen requests have the expected verdicts');
like($stdout, qr/^ +15 \| +1 \| +6 \| +6 \| +6$/m, 'orders and recorded commands are as expected');
my ($folder) = $stdout =~ m{^ok, in (/tmp/idgen\.\w+)$}m;
ok(defined $folder && !-e $folder, 'the folder of the cluster is removed');

($stdout, $stderr) = run_command([ "$lab/functions.sh", qw(--calls 100 --rounds 1) ]);
is($?, 0, 'functions.sh succeeds');
is(join('', grep { !/^\[\d+:\d\d\] / } split /^/m, $stderr), '', 'functions.sh prints only its progress');
for my $row ('idgen.short_comb()`', 'idgen.snowflake()`', 'idgen.permute(', 'idgen.uuid_to_base(')		# of each table
{
	my ($figures) = $stdout =~ /^\| `\Q$row\E[^|]*\|(.*)\|$/m;
	like($figures // 'no row', qr/^[-\d., |]*\d[-\d., |]*$/, "functions.sh: the figures of $row");
}

# The long run, for seconds: a later part loads no table again and repeats nothing, and its keys have the opposite
# order.
my $folder_of = PostgreSQL::Test::Utils::tempdir();
my @long = ("$lab/long.sh", qw(--seconds 2 --interval 1 --rows 2000 --clients 2 --memory 64 --configurations on_2),
	'--keys', 'bigint_and_uuid,short_comb',
	'--out', "$folder_of/out", '--loaded', "$folder_of/loaded");
for ([ '--round', 1 ], [ '--rounds', 2 ])
{
	($stdout, $stderr) = run_command([ @long, @$_ ]);
	is($?, 0, "long.sh succeeds with @$_") or diag $stderr;
	like($stderr, qr/^\[\d+:\d\d\] memory: (?:direct I\/O|not limited)/m, 'it says how the memory is limited');
	my @steps = $stderr =~ /^\[\d+:\d\d\] (\w+(?:: loading 2,000|.*, round \d: (?:\d+|is there already)))/mg;
	s/(\w+).*?(loading|round \d|is there already)(?:: \d+|.*)$/$1 $2/ for @steps;
	is(join(', ', @steps), $_->[0] eq '--round'
		  ? 'bigint_and_uuid loading, bigint_and_uuid round 1, short_comb loading, short_comb round 1'
		  : 'bigint_and_uuid round 1, short_comb round 1, short_comb round 2, bigint_and_uuid round 2', 'its steps');
}
for my $round (1, 2)
{
	my $text = slurp_file("$folder_of/out/short_comb.on_2.$round/measurements.csv");
	like($text, qr/^long,short_comb,synchronous_commit on; 2 secondary indexes,,$round,$_,-?\d/m,
		"round $round measures $_")
	  for qw(rows_per_s latency_p50_ms latency_p999_ms wal_bytes_per_row reads_per_row heap_reads_per_row
	  checkpoint_bytes backend_bytes index_bytes heap_bytes replica_lag_ms);
}
($stdout, $stderr) = run_command([ "$lab/report.py", "$folder_of/out" ]);
like(slurp_file("$folder_of/out/report.md"),
	qr/^\| `short_comb` \|.*^\| `bigint_and_uuid` \|.*Lag of the replica, ms/ms,
	'report.py reports it') or diag $stderr;

done_testing();
