# The report of the laboratory: tables and pictures of a complete run and of parts of
# one, the same output for the same input, and clear messages.

use Server;

plan skip_all => 'no python3' unless $python;

# the Python of report.py
run_command([ '/usr/bin/python3', '-c', 'import matplotlib' ]);
my $has_matplotlib = $? == 0;
my $tmp = PostgreSQL::Test::Utils::tempdir();
my $head = "scene,key,series,x,repetition,metric,value\n";

# Whether there is a report, what is printed, and the messages
sub report
{
	my ($stdout, $stderr) = run_command([ "bench/lab/report.py", @_ ]);
	return ($? == 0, $stdout, $stderr);
}

sub folder
{
	my ($name, %files) = @_;
	mkdir "$tmp/$name" or die $!;
	append_to_file("$tmp/$name/$_", $files{$_}) for keys %files;
	return "$tmp/$name";
}

# Check that pictures are XML, and have a title and a description.
my $check_svg = <<'PYTHON';
import sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    svg = tree.parse(path).getroot()
    for name, least in (("title", 20), ("desc", 40)):
        found = svg.findall("{http://www.w3.org/2000/svg}" + name)
        assert len(found) == 1 and len(found[0].text) > least, f"{path}: no {name} that describes it"
PYTHON

# Check that there is a report, and these pictures in its folder; return what is printed, and the messages.
sub check_report
{
	my ($name, $expected, $out, @arguments) = @_;
	my ($ok, $stdout, $stderr) = report(@arguments);
	ok($ok, "$name has a report") or diag $stderr;
	$expected = [] if !$has_matplotlib;
	my @pictures = glob "$out/*.svg";
	my $markdown = slurp_file("$out/report.md");
	is_deeply([ sort map { s{.*/(.*)\.svg}{$1}r } @pictures ], $expected, "$name: the pictures");
	is((run_command([ $python, '-c', $check_svg, @pictures ]))[1], '',
		"$name: the pictures are well-formed and have titles");
	like($markdown, qr/\($_\.svg\)/, "$name: the report shows $_") for @$expected;
	unlike(join('', $markdown, map { slurp_file($_) } @pictures), qr/\b(?:nan|inf|None|NaN)\b/,
		"$name: no number is missing or infinite");
	return ($stdout, $stderr);
}

my $all = "$tmp/both/run";
system_or_bail($python, "bench/lab/t/lib/sample_report.py", $all);
my ($stdout, $stderr) = check_report('a complete run', [qw(age curve heat long rates steady)], "$tmp/one", $all,
	'--out', "$tmp/one");
is($stderr, $has_matplotlib ? '' : "report.py: no pictures: matplotlib is missing (Debian: python3-matplotlib)",
	'without other warnings');

# sample_report.py gives bigint 175, 170 and 171 bytes a row, random 4104, 4275 and 4000
my $markdown = slurp_file("$tmp/one/report.md");
like($markdown, qr/^\| `bigint` \| 171 \(170–175\) \| 1 \| 0\.042 \|/m, 'the median, its spread and the ratios');
like($markdown, qr/^\| rows between checkpoints \| 1,000 \| .*\n(?:\|.*\n)+\| `random` : `short_comb` \| [\d.]+ \|/m,
	'the curve has the ratios of each point');
my @headings = $markdown =~ /^## (.*)/mg;
is_deeply([ $markdown =~ /^- \[(.*)\]\(#/mg ], \@headings, 'the report lists its contents');
is($headings[1], 'WAL over the age of the table', 'the age is first');
my $picture = qr/!\[.*\]\(.*\)|No picture: .*/;
my $conditions = qr/Conditions: .*PostgreSQL 15\.20; 2 cores; .*/;
for my $scene (grep { !/^(Keys|All keys|Model and measurement)$/ } @headings)
{
	like($markdown,
		qr/^## \Q$scene\E\n\n[A-Z].*\.\n\n(?:$picture\n\n)?$conditions\n\n(?:\*\*.*\*\*\n\n)?\| /m,
		"$scene: the caption, the picture, the conditions, the table");
}
like($markdown, qr/^Conditions: .*shared_buffers 256MB;.* rows 5,000,000\. Run: /m,
	'the conditions have the memory and the sizes of the scene');
like($markdown, qr/^\| key \| Throughput, rows\/s .*Latency, p50, ms \| p99, ms \| p99\.9, ms/m,
	'a long run has rates and latencies');

# disk, backup and orders: series are rows, a unit is stated once, and blocks are whole
like($markdown, qr/^\| `random` full_page_writes off \| /m, 'disk has a row for each key and setting');
like($markdown, qr/^VACUUM, a deleted row:\n\n\| key \| WAL, bytes\/row \| /m, 'and a table of VACUUM');
like($markdown, qr/^\*\*Incremental .*, MiB\*\*\n\n(?:\|.*\n)+\| `random` \| 9\.16 \(8\.88–9\.34\) \| /m,
	'an incremental backup in MiB');
like($markdown, qr/^\| key \| WAL of an order, bytes \| .*, blocks \| Correlation of the key \|$/m, 'orders has units');
like($markdown, qr/^\| `bigint` \| 1,240 \(1,203–1,265\) \| 500 \(485–510\) \| 12 \| 15 \| 0\.041 \(/m,
	'orders has a row for each key');

# The keys of the report
my ($tables, $summary) = split /^## All keys\n/m, $markdown;
like($summary, qr/\A\nThe scenes .*\n\n### Steady\n\n(?:\|.*\n)+\| `ulid` \| \d+ \(/, 'a summary has all keys');
unlike($tables, qr/^\| `ulid` \| \d+ \(/m, 'which the tables do not have');
like($tables, qr/^\| `pg_ulid` \| \d+ \(/m, 'but the keys of the user');
like($markdown, qr/^\| `pg_ulid` \| uuid \| `f\('a\\\|b', "x" < 3 && true\)` \|$/m, 'special characters are escaped');
report($all, '--out', "$tmp/two", '--keys', 'ulid,comb');
($tables) = split /^## All keys\n/m, slurp_file("$tmp/two/report.md");
is_deeply([ $tables =~ /^\| `(\w+)` \| [\d,]+ \(/mg ], [ ('comb', 'ulid') x 2 ], 'two keys');
(my $ok, undef, $stderr) = report($all, '--out', "$tmp/none", '--keys', 'ulid,lambert_comb');
ok(!$ok, 'a key that was not measured is an error');
like($stderr, qr/key lambert_comb was not measured; the keys are: bigint, random, /, 'which lists the keys');

(undef, $stdout) = report($all, '--summary');
like($stdout, qr/^## Steady\n\n\| key \| WAL, bytes.*\n\|---.*\n\| `bigint` \| 171 \(170–175\) \| 1 \| 0\.042 \|/m,
	'the tables of steady');
like($stdout, qr/^## Bulk$/m, 'and of bulk');
ok(!-e "$all/report.md", 'and no report');

# The same input again, in folders of a folder
report("$tmp/both", '--out', "$tmp/three");
ok(slurp_file("$tmp/three/$_") eq slurp_file("$tmp/one/$_"), "$_ is the same in the second report")
  for map { s{.*/}{}r } glob "$tmp/one/*";

# A stored run has the same report, which names its file
report("$tmp/both", '--store', folder('stored') . '/sample.csv');
check_report('a stored run', [qw(age curve heat long rates steady)], "$tmp/four", "$tmp/stored", '--out', "$tmp/four");
my $link = ' ([sample.csv](runs/sample.csv))';
my $of_stored = slurp_file("$tmp/four/report.md");
ok($of_stored =~ s/\Q$link\E//gr eq slurp_file("$tmp/one/report.md"),
	'the report of a stored run is the same, but for its name');
like($of_stored, qr/^Conditions: .* Run: `bench\/lab\/run\.sh --quick .*`\Q$link\E\.$/m,
	'the conditions name the run and its command');

# Which ratios are stated: repetitions of random and of short_comb
for (
	[ 'the ranges overlap', 'wal_bytes_per_row', [ 109, 119, 120 ], [ 100, 100, 110 ], '~' ],
	[ 'the ranges touch', 'wal_bytes_per_row', [ 110, 119, 120 ], [ 100, 100, 110 ], '~' ],
	[ 'the ranges do not touch', 'wal_bytes_per_row', [ 111, 119, 120 ], [ 100, 100, 110 ], '0.840' ],
	[ 'one repetition of bytes', 'wal_bytes_per_row', [199], [100], '0.503' ],
	[ 'one repetition of a time', 'rows_per_s', [199], [100], '–' ],
	[ 'zero', 'wal_bytes_per_row', [0], [1], '–' ])
{
	my ($name, $metric, $random, $short_comb, $expected) = @$_;
	my $measurements = $head;
	for ([ 'random', @$random ], [ 'short_comb', @$short_comb ])
	{
		my ($key, @values) = @$_;
		$measurements .= "long,$key,insert,,$_,$metric,$values[ $_ - 1 ]\nsteady,$key,,,$_,$metric,$values[ $_ - 1 ]\n"
		  for 1 .. @values;
	}
	my $folder = folder("ratio $name", 'measurements.csv' => $measurements);
	report($folder);
	like(slurp_file("$folder/report.md"), qr/^\| `short_comb` \| [^|]+ \| \Q$expected\E \|$/m, "ratios: $name");
}

# The text of the pictures needs no font; each point has a tick, and the legend has the last medians
SKIP:
{
	skip 'no matplotlib', 4 unless $has_matplotlib;
	my $svg = slurp_file("$tmp/one/curve.svg");
	unlike($svg, qr/<text|fill: ?#fff|fill: white/, 'curve: text is drawn as paths on a transparent ground');
	# matplotlib names the text of each path in a comment
	my @texts = $svg =~ /<!-- (.*?) -->/g;
	is_deeply([ grep { /^[\d.]+[kM]$/ } @texts ], [qw(1k 5k 10k 30k 100k 300k 1M)], 'curve: a tick at each point');
	like(join("\n", @texts), qr/^random 1,\d+$/m, 'curve: the legend has medians');
	@texts = slurp_file("$tmp/one/rates.svg") =~ /<!-- (.*?) -->/g;
	is_deeply([ map { /^(\w+): WAL/ ? $1 : /^a checkpoint every (\d+)/ ? $1 : () } @texts ],
		[ map { ($_, 5, 30) } qw(bigint random uuid_v7 short_comb short_comb_run pg_ulid) ],
		'rates: of each key, a line for each interval');
}

# Without matplotlib, the report says so
{
	local $ENV{PYTHONPATH} = folder('matplotlib', 'matplotlib.py' => 'raise ImportError');
	($ok, undef, $stderr) = report("$tmp/both", '--out', "$tmp/plain");
}
ok($ok && !(glob "$tmp/plain/*.svg"), 'without matplotlib, there is a report without pictures');
like($stderr, qr/no pictures: matplotlib is missing \(Debian: python3-matplotlib\)/, 'a warning says so');
like(slurp_file("$tmp/plain/report.md"), qr/^No picture: matplotlib is missing \(Debian: python3-matplotlib\)\.$/m,
	'and the report');

# An interrupted run: one scene, a key that was not measured, an incomplete line
my $cut = folder('cut',
	'measurements.csv' => $head
	  . "steady,bigint,,,1,wal_bytes_per_row,170\nsteady,short_comb,,,1,wal_bytes_per_row,204\n"
	  . "steady,short_comb,,,2,wal_bytes_per_row,",
	'keys.csv' => "key,label,type\nbigint,bigint identity,bigint\n"
	  . "random,gen_random_uuid(),uuid\nshort_comb,idgen.short_comb(),uuid\n",
	'touches.csv' => "key,row,block,blocks,position\n");
($stdout, $stderr) = check_report('an interrupted run', ['steady'], $cut, $cut);
like($stderr, qr/measurements\.csv: the last line is incomplete/, 'a warning about the incomplete line');
unlike(slurp_file("$cut/report.md"), qr/random` \|/, 'the missing key is left out');

# One point of each sweep, and zeros, which a logarithmic scale cannot show
my $points = folder('points', 'measurements.csv' => $head . "curve,mine,,0,1,wal_bytes_per_row,0\n" . join '',
	map { "$_,1,wal_bytes_per_row,200\n" } 'curve,mine,,1000', 'delete,bigint,,0', 'changeover,random,unchanged,10');
check_report('single points', [], $points, $points);

# Only touches.csv
my $touches = folder('touches',
	'touches.csv' => "key,row,block,blocks,position\nbigint,0,7,9,0.9\nbigint,0.5,7,9,0.9\nbigint,1,8,9,1\n");
check_report('touches.csv alone', ['heat'], $touches, $touches);
like(slurp_file("$touches/report.md"), qr/^\| `bigint` \| 3 \| 2 pages \|/m, 'rows and pages are counted');

# Nothing
for ([ 'an empty folder', folder('empty') ], [ 'a header', folder('header', 'measurements.csv' => $head) ],
	[ 'no folder', "$tmp/nowhere" ])
{
	my ($name, $folder) = @$_;
	($ok, undef, $stderr) = report($folder);
	ok(!$ok && !-e "$folder/report.md", "$name has no report");
	like($stderr, qr/nothing was measured in \Q$folder\E/, "$name: the error message");
}

done_testing();
