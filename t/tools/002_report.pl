# The report of the laboratory: of a complete run, and of interrupted runs. The
# figures are invented by t/lib/sample_report.py.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(gnuplot python3))
{
	plan skip_all => "no $program"
	  unless eval { IPC::Run::run([ $program, '--version' ], '>', \my $out, '2>', \my $err) };
}

my $here = dirname(__FILE__);
my $tmp = PostgreSQL::Test::Utils::tempdir();
my $head = "scene,key,series,x,repetition,metric,value\n";

sub report
{
	my @arguments = @_;
	my ($stdout, $stderr);
	my $ok = IPC::Run::run([ "$here/../../bench/lab/report.py", @arguments ], '<', \undef, '>', \$stdout, '2>', \$stderr);
	return ($ok, $stdout, $stderr);
}

sub folder
{
	my ($name, %files) = @_;
	mkdir "$tmp/$name" or die $!;
	append_to_file("$tmp/$name/$_", $files{$_}) for keys %files;
	return "$tmp/$name";
}

# Check that pictures are XML, have a title and a description, and define each id once
# and all ids to which they refer.
my $check_svg = <<'PYTHON';
import re, sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    svg = tree.fromstring(text)
    for name, least in (("title", 20), ("desc", 40)):
        found = svg.findall("{http://www.w3.org/2000/svg}" + name)
        assert len(found) == 1 and len(found[0].text) > least, f"{path}: no {name} that describes it"
    assert text.count("<title>") == 1, f"{path}: more than one title"
    ids = [item.get("id") for item in svg.iter() if item.get("id")]
    assert len(ids) == len(set(ids)), f"{path}: a duplicate id"
    wanted = set(re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text))
    assert wanted <= set(ids), f"{path}: {wanted - set(ids)}"
PYTHON

sub check_pictures
{
	my ($out, $name, @expected) = @_;
	my @pictures = glob "$out/*.svg";
	is_deeply([ sort map { s{.*/(.*)\.svg}{$1}r } @pictures ], [ sort @expected ], "$name: the pictures");
	my $err;
	ok(IPC::Run::run([ 'python3', '-c', $check_svg, @pictures ], '2>', \$err), "$name: the pictures are well-formed and have titles") or diag $err;

	my $html = slurp_file("$out/report.html");
	my $markdown = slurp_file("$out/report.md");
	is(scalar(() = $html =~ /<svg /g), scalar(@pictures), "$name: the page contains all pictures");
	like($markdown, qr/\($_\.svg\)/, "$name: the Markdown file links to $_") for @expected;
	my %ids;
	$ids{$_}++ for $html =~ /\sid=["']([^"']+)/g;
	is_deeply([ grep { $ids{$_} > 1 } keys %ids ], [], "$name: the pictures in the page have no ids in common");
	(my $outside = $html) =~ s{xmlns="http://www\.w3\.org/2000/svg"}{}g;
	unlike($outside, qr{https?://|<script|<link|\@import|\bsrc=|\bhref="(?!#)}, "$name: the page is self-contained");
	unlike("$html$markdown", qr/\b(?:nan|inf|None|NaN)\b/, "$name: no number is missing or infinite");
}

# The list of conclusions
sub conclusions { return join "\n", slurp_file("$_[0]/report.md") =~ /^(- [^\[].*)/mg }

# A complete run
my $all = "$tmp/all";
system_or_bail('python3', "$here/../lib/sample_report.py", $all);
my ($ok, $stdout, $stderr) = report($all, '--out', "$tmp/one");
ok($ok, 'a complete run has a report') or diag $stderr;
is($stderr, '', 'without warnings');
check_pictures("$tmp/one", 'a complete run',
	qw(bulk changeover checkpoint clients contention delete heat masked memory outgrow period read serializable steady wrap));

# sample_report.py gives bigint 175, 170 and 171 bytes a row, random 4104, 4275 and 4000
my $markdown = slurp_file("$tmp/one/report.md");
like($markdown, qr/^\| `bigint` \|.* \| 171 \(170–175\) \| 1 \| 0\.042 \|/m, 'the median, its spread and the ratios');
like($markdown, qr/^\| `random` \|.* \| 4,104 \(4,000–4,275\) \| 24\.0 \| 1 \|/m, 'the same of random keys');
like($markdown, qr/^\| `snowflake` \|.* \| 174 \(171–175\) \| ~ \| 0\.042 \|/m, 'a difference within the spread has no ratio');
my @conclusions = (
	'- With one row a transaction, `random` writes 20.4 times as much WAL as `short_comb` (4,104 and 201 bytes/row).',
	'- With one row a transaction, `short_comb` writes 8.8 % more WAL than `uuid_v7` (201 and 185 bytes/row), '
	  . 'and the index of `short_comb` is 48 % larger than that of `uuid_v7` (189 and 128 MB).',
	'- While the index grows from 0.5× to 4× shared_buffers, and nothing else has it in memory, the throughput of `random` falls to 19 % '
	  . '(56,917 and 10,962 rows/s), the throughput of `short_comb` does not change measurably (61,135 and 62,479 rows/s), '
	  . 'and the throughput of `uuid_v7` does not change measurably (61,670 and 63,547 rows/s).');
is(conclusions("$tmp/one"), join("\n", @conclusions), 'the report begins with three conclusions');
my @headings = $markdown =~ /^## (.*)/mg;
is_deeply([ $markdown =~ /^- \[(.*)\]\(#/mg ], [ @headings[ 2 .. $#headings ] ], 'then it lists its contents');
for my $scene (grep { !/^(Conclusions|Contents|How to read the figures|All keys|Settings)$/ } @headings)
{
	my $picture = $scene eq 'Model and measurement' ? '' : '!\[.*\]\(.*\)\n\n';
	like($markdown, qr/^## \Q$scene\E\n\n[A-Z`].*\.\n\n$picture[A-Z`].*\.\n\n(?:### .*\n\n)?\| /m, "$scene: the sentence, the picture, the text, the table");
}
like($markdown, qr/^With up to 64 sessions, at most 69\.4 % of those that insert `bigint` or `uuid_v7` keys wait for a page, and more than half from 8 sessions on: the right edge of the index is the bottleneck\. With 64 sessions, `random` inserts 64 % more rows/m, 'contention finds the bottleneck');
like($markdown, qr/^\| `uuid_v7` \| changed \| before \| random \| 69\.8 \| 0\.4 \| Advice, with a comma, before the change\. \|$/m, 'changeover has the advice');
like($markdown, qr/the size of the index within 10 % for 60 of 60 measurements and the density of its leaf pages within 10 % for 60 of 60/, 'the model predicts sizes');

# The keys of the report
sub keys_of { return join ' ', slurp_file("$_[0]/report.md") =~ /^\| `(\w+)` \| \w+ \| `/mg }
is(keys_of("$tmp/one"), 'bigint random uuid_v7 short_comb short_comb_run snowflake pg_ulid masked', 'six keys, and those of the user and of a scene');
like($markdown, qr/^## All keys\n\nMedians .*\n\n### Steady\n\n(?:\|.*\n)+\| `idgen\.ulid\(\)` \| \d+ \| 196 \|/m, 'a summary has all keys');
report($all, '--out', "$tmp/every", '--keys', 'all');
unlike(slurp_file("$tmp/every/report.md"), qr/^## All keys/m, 'unless the report shows them');
is(keys_of("$tmp/every"), 'bigint random uuid_v4 uuid_v7 comb short_comb short_comb_run snowflake ulid pg_ulid masked', 'all keys');
my $named = folder('named', 'settings.csv' => "name,value\ncommand,run.sh --keys comb,ulid\n", map { $_ => slurp_file("$all/$_") } qw(measurements.csv keys.csv));
report($named);
is(keys_of($named), keys_of("$tmp/every"), 'the keys that the run named');
report($all, '--out', "$tmp/two", '--keys', 'ulid,comb');
is(keys_of("$tmp/two"), 'comb ulid', 'two keys');
is(conclusions("$tmp/two"), '- With one row a transaction, `ulid` writes 6.8 % more WAL than `comb` (196 and 184 bytes/row).
- With one row a transaction, `ulid` and `comb` have no measurable difference in the size of the index (131 and 128 MB).
- In a bulk load within one minute, `ulid` and `comb` have no measurable difference in WAL (166 and 163 bytes/row).', 'without the main keys, conclusions compare the extremes');
($ok, undef, $stderr) = report($all, '--out', "$tmp/none", '--keys', 'ulid,lambert_comb');
ok(!$ok, 'a key that was not measured is an error');
like($stderr, qr/key lambert_comb was not measured; the keys are: bigint, random, /, 'which lists the keys');
system_or_bail('rm', '-r', "$tmp/two");
($ok, $stdout, $stderr) = report($all, '--out', "$tmp/one");

like(slurp_file("$tmp/one/steady.svg"), qr{<text>4,104</text>}, 'the picture has the figures');
like($stdout, qr/^## Steady\n\n\| key \| rows\/s \|.*\n\|---.*\n\| `bigint identity` \| \d+ \| 171 \|.*\| 1\.000 \| 0\.042 \|/m,
	'the summary on stdout');
like($stdout, qr/^## Bulk$/m, 'the summary has both scenes');
like($markdown, qr/^\| `pg_ulid` \| uuid \| `f\('a\\\|b', "x" < 3 && true\)` \|$/m, 'special characters are escaped in Markdown');
like(slurp_file("$tmp/one/report.html"), qr/f\(&#x27;a\|b&#x27;, &quot;x&quot; &lt; 3 &amp;&amp; true\)/, 'special characters are escaped in HTML');
like($markdown, qr/^\| `command` \| run\.sh --quick/m, 'the report has the settings');

# Only the summary
my $summary = $stdout;
($ok, $stdout, $stderr) = report($all, '--summary');
ok($ok, 'only the summary') or diag $stderr;
is($stdout, $summary, 'the same table');
ok(!-e "$all/report.md", 'and no report');

# The same input again
($ok) = report($all, '--out', "$tmp/two");
ok($ok, 'a second report');
is(slurp_file("$tmp/two/$_"), slurp_file("$tmp/one/$_"), "$_ is the same in the second report")
  for map { s{.*/}{}r } glob "$tmp/one/*";

# Which differences are stated: repetitions of random and of short_comb
for (
	[ 'the medians are further apart than the ranges are wide', [ 116, 121, 111 ], [ 105, 100, 110 ], 'writes 10 % more WAL than' ],
	[ 'the medians are as far apart as the ranges are wide', [ 115, 121, 111 ], [ 105, 100, 110 ], undef ],
	[ 'the ranges overlap', [ 109, 119, 120 ], [ 100, 100, 110 ], undef ],
	[ 'the ranges touch', [ 110, 119, 120 ], [ 100, 100, 110 ], undef ],
	[ 'the ranges do not touch', [ 110.1, 119, 120 ], [ 100, 100, 110 ], 'writes 19 % more WAL than' ],
	[ 'less', [ 90, 90, 90 ], [ 100, 100, 100 ], 'writes 10 % less WAL than' ],
	[ 'equal figures', [ 100, 100, 100 ], [ 100, 100, 100 ], undef ],
	[ 'one repetition, less than twice', [199], [100], undef ],
	[ 'one repetition, twice', [200], [100], 'writes 2.00 times as much WAL as' ],
	[ 'one repetition, half', [100], [200], 'writes 50 % less WAL than' ],
	[ 'one repetition of one key', [150], [ 100, 100, 100 ], undef ],
	[ 'zeros', [0], [0], undef ],
	[ 'zero', [1], [0], 'writes more WAL than' ])
{
	my ($name, $random, $short_comb, $expected) = @$_;
	my %values = (random => $random, short_comb => $short_comb);
	my $folder = folder("differ $name", 'measurements.csv' => $head . join '', map { my $key = $_;
		map { "steady,$key,,,$_,wal_bytes_per_row,$values{$key}[ $_ - 1 ]\n" } 1 .. @{ $values{$key} } } sort keys %values);
	report($folder);
	$expected = $expected ? "`random` $expected `short_comb`" : '`random` and `short_comb` have no measurable difference in WAL';
	like(conclusions($folder), qr/^- With one row a transaction, \Q$expected\E \([\d.]+ and [\d.]+ bytes\/row\)\.$/m, "differences: $name");
	like(slurp_file("$folder/report.md"), qr/^\| `short_comb` \| [^|]+ \| ~ \|$/m, "$name: no ratio") if $expected =~ /no measurable/;
}

# Times of a single repetition are not compared; sharing a page is not judged by it
my $once = folder('once', 'measurements.csv' => $head . join '', map { "$_\n" }
	'read,random,recent,,1,us_per_row,100', 'read,short_comb,recent,,1,us_per_row,10',
	'contention,bigint,,8,1,page_wait_share,0.7', 'contention,bigint,,8,1,rows_per_s,100', 'contention,random,,8,1,rows_per_s,900');
report($once);
is(conclusions($once), '- With up to 8 sessions, at most 70.0 % of those that insert `bigint` keys wait for a page.
- With 8 sessions, `random` and `bigint` have no measurable difference in rows a second (900 and 100 rows/s).
- To look up the newest rows by their key, `random` and `short_comb` have no measurable difference in time (100 and 10.0 µs/row).', 'times of a single repetition');
my $few = folder('few', 'measurements.csv' => $head . join '', map { "contention,uuid_v7,,$_,page_wait_share,0.4\n" } '8,1', '8,2', '64,1', '64,2');
report($few);
is(conclusions($few), '- With up to 64 sessions, at most 40.0 % of those that insert `uuid_v7` keys wait for a page: the right edge of the index is not the bottleneck of this machine.', 'no bottleneck');

# An interrupted run: one scene, a key that was not measured, an incomplete line
my $cut = folder('cut',
	'measurements.csv' => $head
	  . "steady,bigint,,,1,wal_bytes_per_row,170\nsteady,short_comb,,,1,wal_bytes_per_row,204\n"
	  . "steady,short_comb,,,2,wal_bytes_per_row,",
	'keys.csv' => "key,label,type\nbigint,bigint identity,bigint\nrandom,gen_random_uuid(),uuid\nshort_comb,idgen.short_comb(),uuid\n",
	'touches.csv' => "key,row,block,blocks,position\n",
	'settings.csv' => "name,value\n");
($ok, $stdout, $stderr) = report($cut);
ok($ok, 'an interrupted run has a report') or diag $stderr;
check_pictures($cut, 'an interrupted run', 'steady');
like($stderr, qr/measurements\.csv: the last line is incomplete/, 'a warning about the incomplete line');
like($stdout, qr/^\| `idgen\.short_comb\(\)` \| 204 \| 1\.200 \| - \|$/m, 'a ratio to a missing key is left out');
unlike(slurp_file("$cut/report.md"), qr/random` \|/, 'the missing key is left out');

# One point of each sweep, one file only, and zeros, which a logarithmic scale cannot show
my $points = folder('points', 'measurements.csv' => $head . "checkpoint,mine,,0,1,wal_bytes_per_row,0\nclients,bigint,,0,1,wal_bytes_per_row,0\n" . join '',
	map { "$_,1,wal_bytes_per_row,200\n" } 'outgrow,bigint,,0.25', 'checkpoint,mine,,1000', 'clients,bigint,,1', 'delete,bigint,,0',
	'wrap,short_comb,cycle 1,0', 'period,short_comb,run_length=1 rate=100,1', 'period,short_comb,other,60', 'read,bigint,recent,');
($ok, $stdout, $stderr) = report($points);
ok($ok, 'single points have a report') or diag $stderr;
check_pictures($points, 'single points', qw(checkpoint clients outgrow period wrap));

# Only touches.csv
my $touches = folder('touches',
	'measurements.csv' => $head,
	'touches.csv' => "key,row,block,blocks,position\nbigint,0,7,9,0.9\nbigint,0.5,7,9,0.9\nbigint,1,8,9,1\n");
($ok, $stdout, $stderr) = report($touches);
ok($ok, 'touches.csv alone has a report') or diag $stderr;
check_pictures($touches, 'touches', 'heat');
like(slurp_file("$touches/report.md"), qr/^\| `bigint` \| 3 \| 2 \| 9 \|/m, 'rows and pages are counted');

# Nothing
for ([ 'an empty folder', folder('empty') ], [ 'a header', folder('header', 'measurements.csv' => $head) ], [ 'no folder', "$tmp/none" ])
{
	my ($name, $folder) = @$_;
	($ok, $stdout, $stderr) = report($folder);
	ok(!$ok, "$name has no report");
	is($stdout, '', "$name: nothing on stdout");
	like($stderr, qr/nothing was measured in \Q$folder\E/, "$name: the error message");
	ok(!-e "$folder/report.html", "$name: no report is written");
}

done_testing();
