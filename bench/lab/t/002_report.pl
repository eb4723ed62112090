# Verify the report of the laboratory: its tables and pictures for complete and incomplete runs, the same output for the
# same input, and clear messages.

use Server;

plan skip_all => 'no python3' unless $python;

my $has_matplotlib = has_matplotlib();
my $tmp = PostgreSQL::Test::Utils::tempdir();
my $head = "scene,key,series,x,repetition,metric,value\n";

# Return whether report.py has written a report, and its messages.
sub report
{
	my (undef, $stderr) = run_command([ "bench/lab/report.py", @_ ]);
	return ($? == 0, $stderr);
}

sub folder
{
	my ($name, %files) = @_;
	mkdir "$tmp/$name" or die $!;
	append_to_file("$tmp/$name/$_", $files{$_}) for keys %files;
	return "$tmp/$name";
}

# Check that the pictures are XML and have a title and a description.
my $check_svg = <<'PYTHON';
import sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    svg = tree.parse(path).getroot()
    for name, least in (("title", 20), ("desc", 40)):
        found = svg.findall("{http://www.w3.org/2000/svg}" + name)
        assert len(found) == 1 and len(found[0].text) > least, f"{path}: no {name} that describes it"
PYTHON

# Check that there is a report whose folder contains exactly these pictures. Return the report and the messages.
sub check_report
{
	my ($name, $expected, $out, @arguments) = @_;
	my ($ok, $stderr) = report(@arguments);
	ok($ok, "$name has a report") or diag $stderr;
	$expected = [] if !$has_matplotlib;
	my @pictures = glob "$out/*.svg";
	my $markdown = slurp_file("$out/report.md");
	is_deeply([ sort map { s{.*/(.*)\.svg}{$1}r } @pictures ], $expected, "$name: the pictures");
	is((run_command([ $python, '-c', $check_svg, @pictures ]))[1], '', "$name: the pictures have titles");
	like($markdown, qr/\($_\.svg\)/, "$name: the report shows $_") for @$expected;
	unlike(join('', $markdown, map { slurp_file($_) } @pictures), qr/\b(?:nan|inf|None|NaN)\b/,
		"$name: no number is missing or infinite");
	return ($markdown, $stderr);
}

my $all = "$tmp/both/run";
system_or_bail($python, "bench/lab/t/lib/sample_report.py", $all);
my ($markdown, $stderr) = check_report('a complete run', [qw(age heat rates)], "$tmp/one", $all, '--out', "$tmp/one");
is($stderr, $has_matplotlib ? '' : "report.py: no pictures: matplotlib is missing (Debian: python3-matplotlib)",
	'without other warnings');

# For bigint, the values are 171 times 1.04, 0.97 and 0.99.
like($markdown, qr/^\| 200 rows a minute \| 0 \| 171 \(166–178\) \| 4,104 \(/m, 'the mean, and its range');
like($markdown, qr/^\| rows \| new rows \| `bigint` .* \| `mine` \| random : keyed_comb \|/m,
	'columns of keys, ratios');
like($markdown, qr/^\| 20 rows a minute \| 5,000 \| .* \| 19\.2 \| 1\.19 \|$/m, 'ratios of means');
like($markdown, qr/^\| usual, 5 years, VACUUM \|  \| 171 /m, 'a point without x');
like($markdown, qr/^\| `mine` \| uuid \| `f\('a\\\|b', "x" < 3 && true\)` \|$/m, 'special characters are escaped');
like($markdown, qr/^\| `random` \| 200 \| 50 of 50 pages \|$/m, 'heat: rows and pages');
like($markdown, qr/CPU time in the fastest round.*?^\| first call \| 288,000 \| 38\.8 \| /ms,
	'the shortest of CPU times');
my @headings = $markdown =~ /^## (.*)/mg;
my %scenes = map { $_ => 1 } slurp_file("$all/measurements.csv") =~ /^(?!scene)(\w+),/mg;
is(scalar @headings, 1 + keys %scenes, 'a section for each scene, and one for the keys');
my $picture = qr/!\[.*\]\(.*\)|No picture: .*/;
like($markdown, qr/conditions are: 2031-02-03; PostgreSQL 15\.20; 2 cores; 8\.0 GB of memory; full_page_writes on\.$/m,
	'the common conditions');
my $conditions = qr/Conditions: shared_buffers (?:4|256)MB.* Run: `bench\/lab\/run\.sh --quick`\./;
like($markdown, qr/^## \Q$_\E\n\n[A-Z].*\.\n\n(?:$picture\n\n)?$conditions\n\n(?:\*\*.*\*\*\n\n)?\| /m,
	"$_: the text, the picture, the conditions, the table")
  for grep { $_ ne 'Keys' } @headings;
like($markdown, qr/^Conditions: shared_buffers 4MB\. .*^Conditions: shared_buffers 256MB; rows 300,000\. /ms,
	'the conditions of a scene');
my ($rates) = $markdown =~ /^(## Slow tables.*?)^## /ms;
like($rates, qr/WAL.* 5 minutes \| 1 .* 30 minutes \| 1 .*Index.* 5 minutes \| 1 /s, 'a row for each series');
unlike($rates, qr/Index, .* 30 minutes/s, 'except those that repeat others');

# Read the same input from subfolders, and store it.
report("$tmp/both", '--out', "$tmp/three");
ok(slurp_file("$tmp/three/$_") eq slurp_file("$tmp/one/$_"), "$_ is the same in the second report")
  for map { s{.*/}{}r } glob "$tmp/one/*";
report("$tmp/both", '--store', folder('stored') . '/sample.csv');
my $out = "$tmp/four";
my ($of_stored) = check_report('a stored run', [qw(age heat rates)], $out, "$tmp/stored", '--out', $out);
my $link = ' ([sample.csv](runs/sample.csv))';
ok($of_stored =~ s/\Q$link\E//gr eq $markdown, 'the report of a stored run is the same, but for its name');
like($of_stored, qr/^Conditions: .* Run: `bench\/lab\/run\.sh --quick`\Q$link\E\.$/m, 'which the conditions name');

# Add a run of another version.
my $sample = slurp_file("$tmp/stored/sample.csv");
my $two = folder('two', 'a.csv' => $sample, 'b.csv' => $sample =~ s/15\.20/18.6/r);
report($two);
my $report = slurp_file("$two/report.md");
like($report, qr/^\| 200 rows a minute \| 0 \|.*^\| 200 rows a minute, PostgreSQL 18 \| 0 \|/ms,
	'a run of another version has rows of its own');
like($report, qr/^Conditions: shared_buffers .* Run: .*\n\nConditions: PostgreSQL 18\.6; shared_buffers .* Run: /m,
	'... and conditions');

# Add a run that has only the second of two series.
my $index = join '', map { "rates,uuid_v7,a checkpoint every 30 minutes,$_,1,index_bytes_per_row,40\n" } 1, 20;
$report = folder('series', 'measurements.csv' => $head . $index);
report($report);
like(slurp_file("$report/report.md"), qr/^\| a checkpoint every 30 minutes \| 20 \| 40/m,
	'a series without others is shown');

# Check the ratios that the report states for given measurements of keyed COMBs and version 7 UUIDs.
for (
	[ 'bytes', 'wal_bytes_per_row', [ 110, 130 ], [ 100, 110 ], '1.14' ],
	[ 'times whose ranges touch', 'rows_per_s', [ 110, 130 ], [ 100, 110 ], '~' ],
	[ 'times whose ranges do not touch', 'rows_per_s', [ 111, 131 ], [ 100, 110 ], '1.15' ],
	[ 'zero', 'wal_bytes_per_row', [1], [0], '–' ])
{
	my ($name, $metric, $keyed, $v7, $expected) = @$_;
	my @lines = ((map { "keyed_comb,usual,8,1,$metric,$_" } @$keyed), map { "uuid_v7,usual,8,1,$metric,$_" } @$v7);
	my $folder = folder("ratio of $name", 'measurements.csv' => $head . join '', map { "speed,$_\n" } @lines);
	report($folder);
	like(slurp_file("$folder/report.md"), qr/ \| \Q$expected\E \|$/m, "ratio of $name");
}

# Each point must have a tick.
SKIP:
{
	skip 'no matplotlib', 1 unless $has_matplotlib;
	my $svg = slurp_file("$tmp/one/rates.svg");
	# matplotlib names the text of each path in a comment
	my @texts = $svg =~ /<!-- (.*?) -->/g;
	like(join(' ', grep { /^\d+$/ } @texts), qr/\b1 20 200\b/, 'rates: a tick at each point');
}

# An interrupted run leaves one point of a scene and an incomplete line. One of its values is zero, which a logarithmic
# scale cannot show.
my $cut = folder('cut', 'measurements.csv' => "${head}age,random,20,0,1,wal_bytes_per_row,0\nage,random,20,1,1,wal_b",
	'touches.csv' => "key,row,block,blocks,position\n");
(undef, $stderr) = check_report('an interrupted run', [], $cut, $cut);
like($stderr, qr/measurements\.csv: the last line is incomplete/, 'a warning about the incomplete line');

# Report runs without measurements.
my ($ok, $message) = report(folder('header', 'measurements.csv' => $head));
ok(!$ok && !-e "$tmp/header/report.md", 'without measurements, there is no report');
like($message, qr/nothing was measured in \Q$tmp\E\/header/, 'the error message');

done_testing();
