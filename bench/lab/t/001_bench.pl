# The laboratory on a given server: every scene measures every key, writes its
# files, and removes everything else, whether it ends or is interrupted.

use Functions;
use Server;

my $bench = "bench/lab";
my $out = PostgreSQL::Test::Utils::tempdir() . '/out';

# no other checkpoints, and nothing else that writes WAL
my $node = Functions::add_key(init_server('server', q{
idgen.node_id = 1
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 10GB
wal_consistency_checking = ''
}));
$node->start;

plan skip_all => 'no pgstattuple on this server'
  if ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'}) == 0;

@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
my $version = ask(q{SHOW server_version_num});
my $walinspect = ask(q{SELECT count(*) FROM pg_available_extensions
	WHERE name IN ('pg_walinspect', 'pageinspect')}) == 2;

# the extensions, schemas and sessions that a new server does not have
my $left = q{
	SELECT 'extension ' || extname AS what FROM pg_extension WHERE extname <> 'plpgsql'
	UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname !~ '^(pg_|public$|information_schema$)'
	UNION ALL SELECT 'session ' || query FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
	ORDER BY 1};

# What is left when the sessions have ended.  The one that finds this may still be there.
sub what_is_left
{
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM ($left) l WHERE what ~ '^session ')") or die;
	return ask("SELECT what FROM ($left) l WHERE what !~ '^session '");
}

my @laboratory = ("$bench/run.sh", '--server', '--no-report');
my ($stdout, $stderr);
sub laboratory { ($stdout, $stderr) = run_command([ @laboratory, @_ ]); return $? == 0 }

# The lines of a CSV file, without the header, each as a list
sub lines_of { my (undef, @lines) = split /\n/, slurp_file($_[0]); return map { [ split /,/, $_, -1 ] } @lines }

my %measured;
sub read_measurements
{
	%measured = ();
	push @{ $measured{"$_->[0] $_->[1]"}{ $_->[5] }{"$_->[2],$_->[3]"} }, $_->[6]
	  for lines_of("$_[0]/measurements.csv");
}

# The value of a metric in the first repetition
sub value { my ($which, $metric, $at) = @_; return $measured{$which}{$metric}{ $at // ',' }[0] }

my @size = split ' ', q{
	--steady.rows 20000 --steady.inserts 300 --bulk.rows 20000 --bulk.inserts 2000
	--curve.rows 20000 --curve.inserts 100,2000
	--delete.rows 2000 --delete.rates 20 --delete.windows 2 --delete.steps 2
	--age.years 0,0.25 --age.rates 100 --age.minutes 60
	--rates.rows 5000 --rates.rates 20,100 --rates.minutes 5,30
	--tenants.rows 20000 --tenants.tenants 1,100 --tenants.inserts 500
	--reindex.rows 20000 --reindex.rates 20 --reindex.inserts 4000
	--disk.rows 20000 --disk.inserts 300,1000 --orders.rows 20000 --orders.delay 10 --orders.inserts 200
	--changeover.rows 20000 --changeover.inserts 4000 --changeover.steps 2};

ok(laboratory('--scene', 'steady', '--repetitions', 1, @size, '--out', "$out.keys"),
	'the laboratory runs with all keys') or diag $stderr;
my @without = ($version < 180000 ? 'uuidv7' : (), 'decimal_id');
is_deeply([ $stderr =~ /without (\w+):/g ], \@without, 'only keys that the server lacks are left out');
my @keys = grep { my $key = $_; !grep { $_ eq $key } @without } slurp_file("$bench/keys.txt") =~ /^(\w+) +\|/mg;
like($stderr, qr/without decimal_id: idgen\.launch_id/, 'a key that cannot be generated is left out, with the reason');
is_deeply([ sort map { $_->[0] } lines_of("$out.keys/keys.csv") ], [ sort @keys ], 'keys.csv lists all others');
read_measurements("$out.keys");
is_deeply([ sort keys %measured ], [ sort map { "steady $_" } @keys ], 'all others are measured');
command_fails_like([ @laboratory, '--keys', 'bigint,decimal_id', '--out', "$out.no" ],
	qr/this server cannot generate decimal_id: idgen\.launch_id/,
	'such a key in --keys is an error that names the reason');
ok(!-e "$out.no", 'and no folder is left');

@keys = qw(bigint random short_comb uuid_v7 object_id);
my @mine = ('--key', 'mine=uuid:idgen.comb(clock => moment)');
ok(laboratory('--repetitions', 1, '--keys', join(',', @keys), @mine, @size, '--out', $out),
	'every scene runs') or diag $stderr;
push @keys, 'mine';
is((split /\n/, slurp_file("$out/measurements.csv"))[0], 'scene,key,series,x,repetition,metric,value', 'the header');
is(scalar(grep { @$_ != 7 || $_->[6] !~ /^-?\d+(\.\d+)?(e-?\d+)?$/ } lines_of("$out/measurements.csv")), 0,
	'every value is a number');
like($stderr, qr/step 1\/(\d+): curve, bigint: .*step \1\/\1: changeover, changeover: /s, 'progress reports the steps');
read_measurements($out);
my @expected = map { "changeover $_" } qw(random short_comb uuid_v7 mine);
my @scenes = qw(curve age rates disk tenants steady bulk delete reindex);
push @expected, map { my $key = $_; map { "$_ $key" } @scenes } @keys;
push @expected, map { "orders $_" } grep { $_ ne 'bigint' } @keys;
is_deeply([ sort keys %measured ], [ sort @expected ], 'every key is in every scene that measures its type');
sub series { my ($which, $metric) = @_; return [ sort keys %{ $measured{$which}{$metric} } ] }
for (
	[ 'rows between two checkpoints', 'curve mine', 'wal_bytes_per_row', ',100', ',2000' ],
	[ 'windows', 'delete mine', 'index_bytes_per_row', map { "20 rows a minute,$_" } 0 .. 2 ],
	[ 'years', 'age mine', 'wal_bytes_per_row', map { "100 rows a minute,$_" } 0, 0.25 ],
	[ 'rows a minute', 'rates mine', 'wal_bytes_per_row',
		map { ("a checkpoint every $_ minutes,100", "a checkpoint every $_ minutes,20") } 30, 5 ],
	[ 'tenants', 'tenants mine', 'wal_bytes_per_row', 'tenants: 1,500', 'tenants: 100,500' ],
	[ 'before and after', 'reindex mine', 'growth_bytes_per_row',
		'after REINDEX to 70 %,20', 'after REINDEX to 90 %,20', 'before,20' ],
	[ 'rows between two checkpoints, and VACUUM', 'disk mine', 'wal_bytes_per_row', ',1000', ',300', 'VACUUM,' ],
	[ 'repetitions', 'orders mine', 'wal_bytes_per_payment', ',' ],
	[ 'rows since the change', 'changeover mine', 'index_bytes', 'changed,0', 'changed,2000', 'changed,4000' ],
	[ 'beside random keys', 'changeover random', 'growth_bytes_per_row', 'unchanged,2000', 'unchanged,4000' ],
	[ 'beside a table that was ordered from the start', 'changeover uuid_v7', 'growth_bytes_per_row',
		map { ("$_,2000", "$_,4000") } 'changed', 'from the start' ])
{
	my ($name, $which, $metric, @points) = @$_;
	is_deeply(series($which, $metric), \@points, "$which: $name");
}
is(scalar(@{ $measured{'age mine'}{wal_bytes_per_row}{'100 rows a minute,0.25'} }), 6, 'age: six places');

is(value('steady short_comb', 'index_rows'), 20015, 'steady: rows of the history and the warm-up');
is(value('steady short_comb', 'inserted_rows'), 300, 'steady: rows inserted one a transaction');
is(value('bulk short_comb', 'inserted_rows'), 2000, 'bulk: rows inserted at once');
cmp_ok(value('bulk short_comb', 'fpi_per_row'), '>', 2 * value('bulk uuid_v7', 'fpi_per_row'),
	'within a minute, short COMBs write more than ordered keys');
my @wal = map { value('curve random', 'wal_bytes_per_row', $_) } ',100', ',2000';
cmp_ok($wal[0], '>', 2 * $wal[1], 'with more rows after a checkpoint, each writes less WAL');
is(value('curve random', 'index_rows', $_), 20000, "curve: the table is loaded again for each point ($_)")
  for ',100', ',2000';
my @bytes = map { value('delete random', 'index_bytes_per_row', "20 rows a minute,$_") } 0, 2;
cmp_ok($bytes[1], '<', 2 * $bytes[0], 'with deletes and VACUUM, the index does not keep growing');
my @tenants = map { value('tenants uuid_v7', 'wal_bytes_per_row', "tenants: $_,500") } 1, 100;
cmp_ok($tenants[1], '>', 2 * $tenants[0], 'tenants: in a key (tenant, id), each tenant has its own place in the index');
my @reindexed = map { value('reindex random', 'growth_bytes_per_row', "after REINDEX to $_ %,20") } 90, 70;
cmp_ok($reindexed[0], '>', 1.5 * $reindexed[1],
	'reindex: full pages are split by random keys, and those with space are not');
# a short prefix has two cycles more in the second measurement
sub wal_at { return value("age $_[0]", 'wal_bytes_per_row', "100 rows a minute,$_[1]") }
cmp_ok(wal_at('short_comb', 0.25), '>', wal_at('short_comb', 0) + 20, 'each cycle of the prefix adds WAL');
cmp_ok(abs(wal_at('uuid_v7', 0.25) - wal_at('uuid_v7', 0)), '<', 60, 'but not to ordered keys');

cmp_ok(value('changeover random', 'fpi_per_row', 'unchanged,4000'), '>',
	5 * value("changeover $_", 'fpi_per_row', 'changed,4000'),
	"changeover: with $_, new rows no longer write a page each") for qw(uuid_v7 mine);
# ascending keys in the middle of the index split leaves in halves
my @growth = map { value('changeover uuid_v7', 'growth_bytes_per_row', "$_,4000") } 'changed', 'from the start';
cmp_ok($growth[0], '>', 1.5 * $growth[1], 'changeover: the index grows more than that of a table with ordered keys');
for my $key (qw(random short_comb uuid_v7))
{
	my @off = grep {
		my $predicted = value("changeover $key", 'predicted_wal_bytes_per_row', $_);
		abs($predicted / value("changeover $key", 'wal_bytes_per_row', $_) - 1) > 0.15
	} @{ series("changeover $key", 'wal_bytes_per_row') };
	is("@off", '', "changeover: the WAL of $key is as predicted");
}

for (qw(wal_bytes_per_order wal_bytes_per_payment))
{
	cmp_ok(value('orders random', $_), '>', 2 * value('orders uuid_v7', $_), "orders: random keys write more ($_)");
}
cmp_ok(value('orders uuid_v7', 'correlation'), '>', 0.99, 'orders: the correlation of ordered keys');
cmp_ok(abs(value('orders random', 'correlation')), '<', 0.2, 'orders: and of random ones');
my @vacuum = map { value("disk $_", 'wal_bytes_per_row', 'VACUUM,') } qw(random uuid_v7);
cmp_ok($vacuum[0], '>', 3 * $vacuum[1],
	'disk: after a delete by time, VACUUM changes pages anywhere in an index of random keys');

SKIP:
{
	skip 'no pg_walinspect', 2 * @keys unless exists $measured{'disk random'}{disk_bytes_per_row};
	for my $key (@keys)
	{
		my ($wal, $pages, $disk) =
		  map { value("disk $key", $_, ',1000') } qw(wal_bytes_per_row changed_pages disk_bytes_per_row);
		cmp_ok(abs($wal + $pages * 8.192 - $disk), '<', 0.01, "disk: WAL and changed pages of $key");
		# table and index, and a leaf of 8 kB has room for 406 bigints or 100 texts
		cmp_ok($pages, $key eq 'random' ? '>' : '<', 60, "disk: changed pages of $key");
	}
}

SKIP:
{
	skip 'no pg_walinspect, or no pageinspect', 3 unless $walinspect;
	my %strip;
	push @{ $strip{ $_->[0] } }, $_ for lines_of("$out/touches.csv");
	is_deeply([ sort keys %strip ], [ sort @keys ], 'touches.csv has the keys');
	is(scalar(@{ $strip{bigint} }), 300, 'touches.csv has a line for each row');
	is_deeply([ map { $_->[4] > 0.95 ? () : $_ } @{ $strip{bigint} } ], [],
		'a bigint goes to the right end of the index');
}

my %setting = map { $_->[0] => $_->[1] } lines_of("$out/settings.csv");
is_deeply([ @setting{qw(full_page_writes steady.rows server)} ], [ 'on', '"20000"', 'given' ],
	'settings.csv has settings, sizes and the kind of server');
my $of_mine = qr/mine,"idgen.comb\(clock => clock_timestamp\(\)\)","uuid"/;
like(slurp_file("$out/keys.csv"), qr/^key,label,type\nbigint,"bigint identity","bigint"\n.*^$of_mine$/ms,
	'keys.csv has the keys and their expressions');
like($stdout, qr/^\| `short_comb` \| [\d.,]+ \| [\d.]+ \|/m, 'a Markdown table is printed');
is(what_is_left(), '', 'nothing is left on the server');

# a background job of a shell ignores these signals, and its children inherit that
$SIG{$_} = 'DEFAULT' for qw(TERM INT HUP);

# Interrupted during a measurement
for my $signal (qw(TERM INT HUP))
{
	# with INT, after a scene was measured
	my @rows = $signal eq 'INT' ? (@size, '--bulk.rows', 5000000, '--scene', 'steady,bulk')
	  : ('--steady.rows', 5000000, '--scene', 'steady');
	($stdout, $stderr) = ('', '');
	my $run = IPC::Run::start([ @laboratory, '--keys', 'short_comb', @rows, '--out', "$out.$signal" ],
		'<', \undef, '>', \$stdout, '2>', \$stderr);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity
		WHERE query ~ 'INSERT INTO idgen_bench.*generate_series\(1, 5000000\D' AND now() - query_start > '0.1 s'})
	  or die "run.sh does not insert rows: $stderr";
	$run->signal($signal);
	$run->finish;
	isnt($run->result(0), 0, "$signal: the exit status reports the interruption");
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($left) l"),
		"$signal: nothing is left on the server");
	if ($signal eq 'INT')
	{
		read_measurements("$out.$signal");
		is(value('steady short_comb', 'inserted_rows'), 300, "$signal: the measurements are kept");
		like($stderr, qr/interrupted; the measurements so far are in /, "$signal: a message names their folder");
	}
	else { ok(!-e "$out.$signal", "$signal: no empty folder is left") }
}

# Extensions that existed before are kept
ask('CREATE EXTENSION idgen; CREATE EXTENSION pgstattuple');
my $before = what_is_left();
ok(laboratory('--quiet', '--scene', 'bulk', '--keys', 'comb', @size, '--out', "$out.there"),
	'the laboratory runs where the extensions exist');
is(what_is_left(), $before, 'the extensions are kept');
like(slurp_file("$out.there/measurements.csv"), qr/^bulk,comb,,,3,us_per_row,/m, 'there are three repetitions');
is($stderr, '', '--quiet prints no progress');

# A private cluster, of which the scenes also change settings and empty the memory
($stdout, $stderr) = run_command([ "$bench/run.sh", @size,
		qw(--no-report --repetitions 1 --scene), 'disk,backup,orders', '--keys', 'random,uuid_v7',
		qw(--disk.settings full_page_writes=off --backup.rows 60000 --backup.hours), '1,2', '--out', "$out.private" ]);
is($?, 0, 'a private cluster') or diag $stderr;
read_measurements("$out.private");
is(value('disk random', 'fpi_per_row', 'full_page_writes off,1000'), 0, 'disk: no images with full_page_writes off');
SKIP:
{
	skip 'no pg_walinspect', 1 unless exists $measured{'disk random'}{disk_bytes_per_row};
	cmp_ok(value('disk random', 'changed_pages', 'full_page_writes off,1000'), '>', 60,
		'disk: but as many changed pages');
}
for (qw(blocks_newest blocks_older blocks_by_key))
{
	cmp_ok(value('orders random', $_), '>', 2 * value('orders uuid_v7', $_), "orders: random keys read more ($_)");
}
if ($version < 170000) { like($stderr, qr/without the scene backup: it needs .* 17/, 'backup: not before version 17') }
else
{
	my @backup = map { my $key = $_; map { value("backup $key", 'incremental_bytes', ",$_") } 1, 2 } qw(uuid_v7 random);
	cmp_ok($backup[0], '<', $backup[1], 'backup: more in a second hour');
	cmp_ok($backup[2], '>', 4 * $backup[0], 'backup: an hour of random keys changes all pages');
}

done_testing();
