# Scripts that start a cluster of their own. The demonstration gives each request the
# expected verdict, and removes its cluster. The scripts of the laboratory that time
# functions, with few calls: each prints its tables of figures, and no message of a
# program that it uses.

use Server;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my $lab = "bench/lab";

my ($stdout, $stderr) = run_command(["scripts/demo.sh"]);
is($?, 0, 'the demonstration succeeds') or diag $stdout, $stderr;
my %verdicts;
$verdicts{$1}++ while $stdout =~ /^ +\d+ \| [^|]*\| (created|replayed|refused) +\|/gm;
is_deeply(\%verdicts, { created => 6, replayed => 1, refused => 8 }, 'the fifteen requests have the expected verdicts');
is(scalar(() = $stdout =~ /^ (?:line|order|recorded)[^|]*\| +\d+ \| +\d+ \| t *$/gm), 5, 'all comparisons with the expected results hold');
my ($folder) = $stdout =~ m{^ok, in (/tmp/idgen\.\w+)$}m;
ok(defined $folder && !-e $folder, 'the folder of the cluster is removed');

# name, options, and the beginning of a row of each table
for (
	[ 'functions', [qw(--calls 100 --rounds 1 --memory-calls 100 --edition-calls 100)],
		'`idgen.short_comb()`', '`idgen.snowflake()`', '`idgen.permute(', '`idgen.uuid_to_base(', '`idgen.create_once(request), replay`' ],
	[ 'throughput', [qw(--clients 1,2 --seconds 1 --rounds 1)], '`idgen.snowflake()`' ],
	[ 'create_once', [qw(--transactions 10 --rounds 1 --known 100)], 'first call, create_once()' ])
{
	my ($name, $options, @rows) = @$_;
	($stdout, $stderr) = run_command([ "$lab/$name.sh", @$options ]);
	is($?, 0, "$name.sh succeeds");
	is(join('', grep { !/^\[\d+:\d\d\] / } split /^/m, $stderr), '', "$name.sh prints only its progress");

	for my $row (@rows)
	{
		my ($figures) = $stdout =~ /^\| \Q$row\E[^|]*\|(.*)\|$/m;
		like($figures // 'no row', qr/^[-\d., |]*\d[-\d., |]*$/, "$name.sh: the figures of $row");
	}
}

# The long run, for a second: its raw numbers are kept, and a run that is there is not repeated.
my $out = PostgreSQL::Test::Utils::tempdir() . '/long';
my @long = ("$lab/long.sh", qw(--seconds 2 --interval 1 --rows 2000 --clients 2 --configurations on_2 --out),
	$out, '--keys', 'bigint_and_uuid,short_comb');
for my $time (1, 2)
{
	($stdout, $stderr) = run_command(\@long);
	is($?, 0, "long.sh succeeds, time $time") or diag $stderr;
	like($stderr, qr/^\[\d+:\d\d\] memory: (?:cgroup|direct I\/O|not limited)/m, 'it says how the memory is limited') if $time == 1;
	is(scalar(() = $stderr =~ /: is there already$/mg), $time == 1 ? 0 : 2, 'what is there already is not measured again');
	my $text = slurp_file("$out/short_comb.on_2.1/measurements.csv");
	like($text, qr/^long,short_comb,synchronous_commit on; 2 secondary indexes,,1,$_,\d/m, "it measures $_")
	  for qw(rows_per_s latency_p50_ms latency_p999_ms wal_bytes_per_row reads_per_row heap_reads_per_row checkpoint_bytes backend_bytes index_bytes heap_bytes);
}

done_testing();
