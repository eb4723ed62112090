# The benchmark's report: from all of a run, and from what an interrupted run has
# left. The figures are made up by lib/sample_report.py.

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

# What can be read as XML, and what it names: every id once, and no id that is not there.
my $check_svg = <<'PYTHON';
import re, sys, xml.etree.ElementTree as tree
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    ids = [item.get("id") for item in tree.fromstring(text).iter() if item.get("id")]
    assert len(ids) == len(set(ids)), f"{path}: an id twice"
    wanted = set(re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text))
    assert wanted <= set(ids), f"{path}: {wanted - set(ids)}"
PYTHON

sub pictures_are_well
{
	my ($out, $name, @expected) = @_;
	my @pictures = glob "$out/*.svg";
	is_deeply([ sort map { s{.*/(.*)\.svg}{$1}r } @pictures ], [ sort @expected ], "$name: the pictures");
	my $err;
	ok(IPC::Run::run([ 'python3', '-c', $check_svg, @pictures ], '2>', \$err), "$name: they are well-formed") or diag $err;

	my $html = slurp_file("$out/report.html");
	my $markdown = slurp_file("$out/report.md");
	is(scalar(() = $html =~ /<svg /g), scalar(@pictures), "$name: all are in the page");
	like($markdown, qr/\($_\.svg\)/, "$name: the text shows $_") for @expected;
	my %ids;
	$ids{$_}++ for $html =~ /\sid=["']([^"']+)/g;
	is_deeply([ grep { $ids{$_} > 1 } keys %ids ], [], "$name: the pictures in the page have no id in common");
	(my $outside = $html) =~ s{xmlns="http://www\.w3\.org/2000/svg"}{}g;
	unlike($outside, qr{https?://|<script|<link|\@import|\bsrc=|\bhref="(?!#)}, "$name: the page needs nothing from outside");
	unlike("$html$markdown", qr/\b(?:nan|inf|None|NaN)\b/, "$name: no number that is none");
}

# Everything
my $all = "$tmp/all";
system_or_bail('python3', "$here/../lib/sample_report.py", $all);
my ($ok, $stdout, $stderr) = report($all, '--out', "$tmp/one");
ok($ok, 'a whole run has a report') or diag $stderr;
is($stderr, '', 'without complaints');
pictures_are_well("$tmp/one", 'a whole run',
	qw(bulk bulk-wal checkpoint clients delete heat outgrow period read steady steady-wal wrap));

# sample.py gives bigint 175, 170 and 171 bytes a row, gen_random_uuid() 4104, 4275 and 4000
my $markdown = slurp_file("$tmp/one/report.md");
like($markdown, qr/^\| `bigint` \|.* \| 171 \(170–175\) \| 1\.00 \| 0\.042 \|/m, 'the median, its spread and the ratios');
like($markdown, qr/^\| `gen_random_uuid` \|.* \| 4,104 \(4,000–4,275\) \| 24\.0 \| 1\.00 \|/m, 'also of random keys');
like($markdown, qr/^- WAL, times that of `bigint`: `gen_random_uuid` 24\.0, /m, 'and in words');
like(slurp_file("$tmp/one/steady.svg"), qr{<text>4,104</text>}, 'and in the picture');
like($stdout, qr/^## Steady\n\n\| key \| rows\/s \|.*\n\|---.*\n\| `bigint identity` \| \d+ \|[^|]*\| 171 \|.*\| 1\.000 \| 0\.042 \|/m,
	'the summary on stdout');
like($stdout, qr/^## Bulk$/m, 'is of both scenes');
like($markdown, qr/^\| `pg_ulid` \| uuid \| `f\('a\\\|b', "x" < 3 && true\)` \|$/m, 'a key with signs that a table knows');
like(slurp_file("$tmp/one/report.html"), qr/f\(&#x27;a\|b&#x27;, &quot;x&quot; &lt; 3 &amp;&amp; true\)/, 'or HTML');
like($markdown, qr/^\| `command` \| run\.sh --quick/m, 'the settings');

# The same once more
($ok) = report($all, '--out', "$tmp/two");
ok($ok, 'a second time');
is(slurp_file("$tmp/two/$_"), slurp_file("$tmp/one/$_"), "$_ is the same")
  for map { s{.*/}{}r } glob "$tmp/one/*";

# Interrupted: one scene, a key that was not reached, a line that is cut off
my $cut = folder('cut',
	'measurements.csv' => $head
	  . "steady,bigint,,,1,wal_bytes_per_row,170\nsteady,short_comb,,,1,wal_bytes_per_row,204\n"
	  . "steady,short_comb,,,2,wal_bytes_per_row,",
	'keys.csv' => "key,label,type\nbigint,bigint identity,bigint\ngen_random_uuid,gen_random_uuid(),uuid\nshort_comb,idgen.short_comb(),uuid\n",
	'touches.csv' => "key,row,block,blocks,position\n",
	'settings.csv' => "name,value\n");
($ok, $stdout, $stderr) = report($cut);
ok($ok, 'an interrupted run has a report') or diag $stderr;
pictures_are_well($cut, 'an interrupted run', 'steady');
like($stderr, qr/measurements\.csv: the last line is cut off/, 'the line that is cut off is said');
like($stdout, qr/^\| `idgen\.short_comb\(\)` \| 204 \| 1\.200 \| - \|$/m, 'the ratio to a key that is missing is left out');
unlike(slurp_file("$cut/report.md"), qr/gen_random_uuid` \|/, 'and so is the key');

# One point of each sweep, and one file only; and zeros, which logarithmic scales have not
my $points = folder('points', 'measurements.csv' => $head . "checkpoint,mine,,0,1,wal_bytes_per_row,0\nclients,bigint,,0,1,wal_bytes_per_row,0\n" . join '',
	map { "$_,1,wal_bytes_per_row,200\n" } 'outgrow,bigint,,0.25', 'checkpoint,mine,,1000', 'clients,bigint,,1', 'delete,bigint,,0',
	'wrap,short_comb,lap 1,0', 'period,short_comb,run_length=1 rate=100,1', 'period,short_comb,other,60', 'read,bigint,recent,');
($ok, $stdout, $stderr) = report($points);
ok($ok, 'single points have a report') or diag $stderr;
pictures_are_well($points, 'single points', qw(checkpoint clients outgrow period wrap));

# Only the touches
my $touches = folder('touches',
	'measurements.csv' => $head,
	'touches.csv' => "key,row,block,blocks,position\nbigint,0,7,9,0.9\nbigint,0.5,7,9,0.9\nbigint,1,8,9,1\n");
($ok, $stdout, $stderr) = report($touches);
ok($ok, 'touches alone have a report') or diag $stderr;
pictures_are_well($touches, 'touches', 'heat');
like(slurp_file("$touches/report.md"), qr/^\| `bigint` \| 3 \| 2 \|/m, 'rows and pages are counted');

# Nothing
for ([ 'an empty folder', folder('empty') ], [ 'a header', folder('header', 'measurements.csv' => $head) ], [ 'no folder', "$tmp/none" ])
{
	my ($name, $folder) = @$_;
	($ok, $stdout, $stderr) = report($folder);
	ok(!$ok, "$name has no report");
	is($stdout, '', "$name: nothing on stdout");
	like($stderr, qr/nothing was measured in \Q$folder\E/, "$name: it says so");
	ok(!-e "$folder/report.html", "$name: no page");
}

done_testing();
