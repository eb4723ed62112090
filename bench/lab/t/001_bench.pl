# Verify the laboratory with small sizes. Every scene must make its measurements, and everything except the results must
# be removed, even if the run is interrupted.

use Server;

plan skip_all => 'PG_CONFIG is not set' unless $ENV{PG_CONFIG};

my $run = 'bench/lab/run.sh';
my $out = PostgreSQL::Test::Utils::tempdir() . '/out';
my $sizes = q{
	--usual.tables usual --usual.rows 3000,6000 --usual.inserts 200 --usual.commits 1:on
	--usual.settings full_page_writes=off
	--change.rows 10000 --change.inserts 500 --change.rates 100 --change.minutes 10 --change.added 5000
	--age.rates 100 --age.years 0.5 --age.minutes 60 --age.places 3 --rates.rows 5000 --rates.rates 20
	--rates.minutes 30 --rates.places 2 --speed.rows 2000 --speed.tables usual --speed.sessions 2 --speed.seconds 1
	--replay.tables narrow --replay.rows 4000 --replay.inserts 2000 --bulk.rows 5000 --bulk.inserts 8000
	--delete.rows 2000 --delete.windows 2 --delete.steps 2 --tenants.rows 10000 --tenants.tenants 1,100
	--tenants.inserts 500 --tenants.places 1 --orders.rows 5000 --orders.inserts 200
	--areas.rows 5000 --areas.tenants 1,100 --areas.inserts 200 --areas.places 1 --lists.rows 5000
	--lists.inserts 200 --lists.places 1 --heat.rows 20000};

# The report requires matplotlib.
my $has_matplotlib = has_matplotlib();
my @quick = ($run, qw(--quick --keys), 'random,keyed_comb', $has_matplotlib ? () : '--no-report');
my ($stdout, $stderr) = run_command([ @quick, split(' ', $sizes), '--out', $out ]);
is($?, 0, 'every scene runs') or diag $stderr;
my ($folder) = $stderr =~ m{ in (/tmp/idgen\.\w+)$}m;

# Check that the cluster's folder and processes no longer exist.
sub is_removed
{
	my ($name) = @_;
	ok(defined $folder && !-e $folder, "$name: the cluster is removed");
	is((run_command([ 'pgrep', '-f', $folder ]))[0], '', "$name: and its processes have ended");
}
is_removed('a run');

# The means have the form $mean{scene}{series,x}{metric}{key}.
my (%mean, %count);
sub read_measurements
{
	(%mean, %count) = ();
	for (grep { !/^scene,/ } split /\n/, slurp_file("$_[0]/measurements.csv"))
	{
		my ($scene, $key, $at, $metric, $value) = /^(\w+),(\w+),"(.*?",[\d.]*),\d+,(\w+),(-?[\d.]+(?:e-?\d+)?)$/
		  or die "malformed: $_";
		$at =~ s/"//;
		my $count = ++$count{"$scene $at $metric $key"};
		$_ += ($value - $_) / $count for $mean{$scene}{$at}{$metric}{$key};
	}
}
read_measurements($out);
my ($list) = (run_command([ $run, '--help' ]))[0] =~ /by default all: (.*?)\n +--quick/s;
is_deeply([ sort keys %mean ], [ sort $list =~ /\w+/g ], 'every scene has measurements');

# Each row is a scene, its measurements, and the ratios of random keys to keyed COMBs.
for (
	[ 'usual', 'usual, 5 years, 1 a commit, on,200', 'wal_bytes_per_row', 1 ],
	[ 'usual', 'usual, 5 years, 1 a commit, on,200', 'written_bytes_per_row', 1 ],
	[ 'usual', 'usual, 5 years, VACUUM,', 'wal_bytes_per_row', 0 ],
	[ 'change', 'one INSERT,500', 'index_wal_bytes_per_row', 1.5 ],
	[ 'change', 'one INSERT,500', 'index_images_per_row', 2 ],
	[ 'change', '100 rows a minute,1000', 'wal_bytes_per_row', 1 ],
	[ 'change', '100 rows a minute,5000', 'growth_bytes_per_row', 0 ],
	[ 'age', '100 rows a minute,0.5', 'wal_bytes_per_row', 2 ],
	[ 'rates', 'a checkpoint every 30 minutes,20', 'wal_bytes_per_row', 1 ],
	[ 'rates', 'a checkpoint every 30 minutes,20', 'index_bytes_per_row', 0 ],
	[ 'speed', 'usual, synchronous_commit on,2', 'rows_per_s', 0 ],
	[ 'replay', 'narrow,2000', 'wal_bytes_per_row', 1 ],
	[ 'bulk', '8 sessions,', 'wal_bytes_per_row', 1 ],
	[ 'delete', '20 rows a minute,2', 'leaf_density', 0 ],
	[ 'tenants', 'tenants: 1,500', 'wal_bytes_per_row', 1.5 ],
	[ 'orders', 'an order with its lines,', 'wal_bytes_per_row', 1.5 ],
	[ 'orders', 'an order with its lines,', 'newest_blocks', 1.5 ],
	[ 'areas', ',1', 'wal_bytes_per_row', 1.5 ],
	[ 'lists', ',', 'wal_bytes_per_row', 1 ],
	[ 'lists', ',', 'table_bytes_per_row', 0 ],
	[ 'commands', 'first call,20000', 'fpi_per_row', 2 ],
	[ 'commands', 'first call,20000', 'wal_bytes_per_row', 2 ],
	[ 'commands', 'first call,20000', 'cpu_us_per_row', 0 ],
	[ 'commands', 'first call,20000', 'index_mb', 0 ],
	[ 'commands', 'repetition,20000', 'cpu_us_per_row', 0 ],
	[ 'commands', 'first call beside a purge,20000', 'wal_bytes_per_row', 2 ],
	[ 'commands', 'VACUUM of purged commands,20000', 'wal_bytes_per_row', 2 ],
	[ 'entities', 'with its index,20000', 'wal_bytes_per_row', 2 ],
	[ 'entities', 'without its index,20000', 'wal_bytes_per_row', 0 ])
{
	my ($scene, $at, $metric, $least) = @$_;
	my ($random, $keyed) = map { $mean{$scene}{$at}{$metric}{$_} // 0 } qw(random keyed_comb);
	cmp_ok($random, '>', $least * $keyed, "$scene, $at: $metric") if $least;
	cmp_ok($keyed, '>', 0, "$scene, $at: $metric of keyed COMBs");
}
cmp_ok($mean{change}{'one INSERT,500'}{index_wal_bytes_per_row}{random}, '<',
	$mean{change}{'one INSERT,500'}{wal_bytes_per_row}{random}, 'change: the index writes a part of the WAL');
is($count{"age 100 rows a minute,0.5 wal_bytes_per_row random"}, 3, 'age: a measurement of each place');
cmp_ok($mean{usual}{'usual, new, 1 a commit, on,200'}{written_bytes_per_row}{keyed_comb}, '>', 8192,
	'usual: each commit writes a block of WAL');
my $off = $mean{usual}{'usual, 5 years, full_page_writes off,200'};
is($off->{fpi_per_row}{random}, 0, 'usual: no images with full_page_writes off');
cmp_ok($off->{written_bytes_per_row}{random}, '>', 4096, 'usual: but pages are written');
ok(exists $mean{replay}{'narrow,2000'}{replay_s}{random}, 'replay: the log has the time');
ok(exists $mean{bulk}{'12 areas,'}{wal_bytes_per_row}{keyed_comb}, 'bulk: several areas');
cmp_ok($mean{delete}{'20 rows a minute,2'}{index_bytes_per_row}{random}, '<',
	3 * $mean{delete}{'20 rows a minute,0'}{index_bytes_per_row}{random}, 'delete: the index does not keep growing');
cmp_ok($mean{tenants}{'tenants: 100,500'}{wal_bytes_per_row}{keyed_comb}, '>',
	1.5 * $mean{tenants}{'tenants: 1,500'}{wal_bytes_per_row}{keyed_comb}, 'tenants: each has its own place');
cmp_ok($mean{areas}{',100'}{wal_bytes_per_row}{keyed_comb}, '>',
	1.5 * $mean{areas}{',1'}{wal_bytes_per_row}{keyed_comb}, 'areas: each has its own place');
my ($call, $repetition) = map { $mean{commands}{"$_,20000"}{wal_bytes_per_row}{random} } 'first call', 'repetition';
# If checksums are enabled, setting hint bits during a repetition writes images of one or two pages.
cmp_ok($repetition, '<', $call / 5, 'commands: a repetition writes hardly anything');
my ($with, $without) = map { $mean{entities}{"$_ its index,20000"}{wal_bytes_per_row}{random} } 'with', 'without';
cmp_ok($with, '>', 2 * $without, 'entities: the index of random ids writes most of the WAL');

my %pages;
$pages{ $_->[0] }{ $_->[2] } = 1 for map { [ split /,/ ] } split /\n/, slurp_file("$out/touches.csv");
is(scalar(() = slurp_file("$out/touches.csv") =~ /^random,/mg), 1800, 'heat: a line for each row of three hours');
cmp_ok(scalar keys %{ $pages{random} }, '>', 1.5 * keys %{ $pages{keyed_comb} }, 'heat: keyed COMBs go to few pages');
like(slurp_file("$out/settings.csv"), qr/^full_page_writes,on\n.*^age.rates,"100"$/ms,
	'settings.csv has settings and sizes');
like(slurp_file("$out/keys.csv"), qr/^keyed_comb,"idgen\.keyed_comb\('rows'\)",uuid$/m,
	'keys.csv has the keys and their expressions');
SKIP:
{
	skip 'no matplotlib', 1 unless $has_matplotlib;
	like(slurp_file("$out/report.md"), qr/^## A usual table\n/m, 'there is a report');
}

# Interrupt a run after it has measured a scene.
($stdout, $stderr) = ('', '');
my @long = split ' ', '--no-report --scene heat,bulk --keys random --heat.rows 1000 --bulk.rows 300000000';
# A background job ignores SIGINT, and the script would inherit this.
local $SIG{INT} = 'DEFAULT';
my $interrupted = IPC::Run::start([ $run, @long, '--out', "$out.cut" ],
	'<', \undef, '>', \$stdout, '2>', \$stderr, IPC::Run::timeout(600));
$interrupted->pump until $stderr =~ /bulk, random: loading/;
$interrupted->signal('INT');
$interrupted->finish;
isnt($interrupted->result(0), 0, 'the exit status reports an interruption');
($folder) = $stderr =~ m{ in (/tmp/idgen\.\w+)$}m;
is_removed('an interrupted run');
read_measurements("$out.cut");
is_deeply([ keys %mean ], ['heat'], 'the measurements are kept');
like($stderr, qr/interrupted; the measurements so far are in \Q$out.cut\E$/m, 'a message names their folder');

command_fails_like([ $run, '--keys', 'random,mine' ], qr/unknown key "mine"; the keys are: bigint random /,
	'an unknown key is an error');
command_fails_like([ $run, '--age.rates', '20,x' ], qr/--age\.rates requires numbers/, 'a size must be a number');
command_fails_like([ $run, '--scene', 'usual,mine' ], qr/unknown scene "mine"/, 'and an unknown scene');
command_fails_like([ $run, '--out', $out ], qr/already contains measurements/, 'results are not overwritten');

done_testing();
