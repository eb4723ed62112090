# The report of the laboratory in a browser, Debian's chromium, which chromedriver
# controls by the WebDriver protocol: it makes no requests and no errors, is
# accessible, fits into narrow and wide windows, and prints. Screenshots are among
# the logs of the test.

use strict;
use warnings;

use File::Basename qw(dirname);
use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(chromedriver gnuplot python3))
{
	plan skip_all => "no $program"
	  unless eval { IPC::Run::run([ $program, '--version' ], '>', \my $out, '2>', \my $err) };
}

my $here = dirname(__FILE__);
my $tmp = PostgreSQL::Test::Utils::tempdir();
system_or_bail('python3', "$here/../lib/sample_report.py", "$tmp/run");
system_or_bail("$here/../../bench/lab/report.py", "$tmp/run", '--out', $tmp);
my $report = slurp_file("$tmp/report.html");

# --- the browser ------------------------------------------------------------

my $deadline = IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
my $driver = IPC::Run::start([ 'chromedriver', '--port=0' ], '>', \my $stdout, '2>', \my $stderr, $deadline);
$driver->pump until $stdout =~ /started successfully on port (\d+)/;
my $at = "http://127.0.0.1:$1/session";
my $http = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => $PostgreSQL::Test::Utils::timeout_default);

# Send a command, and return the value of its result.
sub answer
{
	my ($path, $parameters) = @_;
	my $answer = $http->post($at . $path, { content => encode_json($parameters) });
	die "$path: $answer->{content}" unless $answer->{success};
	return $answer->{content};
}
sub command { return decode_json(answer(@_))->{value} }
# The same for a file; JSON::PP takes its time over a long text.
sub file_of { return decode_base64((answer(@_) =~ /"([A-Za-z0-9+\/=]{100,})"/)[0]) }

sub devtools { my ($name, %parameters) = @_; return command('/goog/cdp/execute', { cmd => $name, params => \%parameters }) }

my @options = (
	qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
	  --disable-background-networking --disable-component-update --disable-sync),
	"--user-data-dir=$tmp/profile", '--host-resolver-rules=MAP * ~NOTFOUND');
my $session = command('', { capabilities => { alwaysMatch => {
	'goog:chromeOptions' => { args => \@options },
	'goog:loggingPrefs' => { browser => 'ALL', performance => 'ALL' } } } });
$at .= "/$session->{sessionId}";
END { if ($driver) { my $status = $?; $http->delete($at); $driver->kill_kill; $? = $status } }
# without the requests of its first page
command('/url', { url => 'about:blank' });
command('/se/log', { type => 'performance' });
note "$session->{capabilities}{browserName} $session->{capabilities}{browserVersion}";

# --- what is wrong with a page ------------------------------------------------

my $examine = <<'JAVASCRIPT';
const faults = [], all = (path) => [...document.querySelectorAll(path)];
let level = 0;
for (const heading of all('h1, h2, h3, h4, h5, h6')) {
	const own = Number(heading.tagName[1]);
	if (own > level + 1 || (own === 1 && level > 0)) faults.push(`h${own} after h${level}: ${heading.textContent}`);
	level = own;
}
for (const table of all('table')) {
	const width = table.rows[0].cells.length;
	if (![...table.rows[0].cells].every((cell) => cell.matches('thead th[scope=col]'))) faults.push('a column without a header');
	for (const row of [...table.rows].slice(1))
	{
		if (!row.cells[0].matches('th[scope=row]')) faults.push(`a row without a header: ${row.textContent}`);
		if (row.cells.length !== width) faults.push(`a row of another length: ${row.textContent}`);
	}
}
for (const link of all('a'))
	if (!link.hash || !document.getElementById(link.hash.slice(1))) faults.push(`the link to ${link.href}`);
for (const text of all('svg text')) {
	const svg = text.ownerSVGElement, size = parseFloat(getComputedStyle(text).fontSize) * svg.clientWidth / svg.viewBox.baseVal.width;
	if (size < 9) { faults.push(`text of ${size} pixels`); break; }
}
if (document.documentElement.scrollWidth > innerWidth)
	faults.push(`a page of ${document.documentElement.scrollWidth} pixels in a window of ${innerWidth}`);
return faults;
JAVASCRIPT

# Open a page in windows of both widths, and return what is wrong with it.
my $pictures;
sub faults
{
	my ($name, $html) = @_;
	my $path = "$tmp/$name.html";
	my @faults;

	append_to_file($path, $html);
	for my $width (400, 1400)
	{
		devtools('Emulation.setDeviceMetricsOverride', width => $width, height => 900, deviceScaleFactor => 1, mobile => JSON::PP::false);
		command('/url', { url => "file://$path" });
		push @faults, @{ command('/execute/sync', { script => $examine, args => [] }) };
	}
	my $root = devtools('DOM.getDocument', depth => 0)->{root}{nodeId};
	my @pictures = grep { !$_->{ignored} } @{ devtools('Accessibility.queryAXTree', nodeId => $root, role => 'image')->{nodes} };
	for my $part (qw(name description))
	{
		push @faults, map { "a picture without a $part" } grep { !$_->{$part}{value} } @pictures;
	}
	push @faults, map { "console: $_->{message}" } @{ command('/se/log', { type => 'browser' }) };
	for my $event (grep { /"Network\.requestWillBeSent"/ } map { $_->{message} } @{ command('/se/log', { type => 'performance' }) })
	{
		my $url = decode_json($event)->{message}{params}{request}{url};
		push @faults, "a request to $url" unless $url eq "file://$path";
	}
	$pictures = @pictures;
	return @faults;
}

is_deeply([ faults('whole', $report) ], [], 'nothing is wrong with the report in windows of 400 and 1,400 pixels');
is($pictures, scalar(my @files = glob "$tmp/*.svg"), 'all pictures are images for a screen reader');

for my $width (400, 1400)
{
	devtools('Emulation.setDeviceMetricsOverride', width => $width, height => 900, deviceScaleFactor => 1, mobile => JSON::PP::false);
	my $png = file_of('/goog/cdp/execute', { cmd => 'Page.captureScreenshot', params => { captureBeyondViewport => JSON::PP::true } });
	like($png, qr/^\x89PNG/, "a screenshot of $width pixels");
	append_to_file("$PostgreSQL::Test::Utils::log_path/report_$width.png", $png);
}
my $pdf = file_of('/print', {});
like($pdf, qr/^%PDF-/, 'the report prints to PDF');
cmp_ok(scalar(() = $pdf =~ m{/Type */Page\b}g), '>', 5, 'several pages');

# --- each fault is found ------------------------------------------------------

my $policy = qr{<meta http-equiv="Content-Security-Policy"[^>]*>};
my $foreign = '<img alt="" src="http://host.invalid/a.png">';
my %broken = (
	# what to break, and the fault that must be found
	'with the policy' => [
		[ sub { s{<h3>(.*?)</h3>}{<h4>$1</h4>} }, qr/^h4 after h2: / ],
		[ sub { s{<h2[^>]*>Settings</h2>}{<h1>Settings</h1>} }, qr/^h1 after h\d: Settings$/ ],
		[ sub { s/ scope="col"// }, qr/^a column without a header$/ ],
		[ sub { s/ scope="row"// }, qr/^a row without a header: / ],
		[ sub { s{<td>.*?</td>}{} }, qr/^a row of another length: / ],
		[ sub { s/href="#[^"]+/href="#nowhere/ }, qr/^the link to .*#nowhere$/ ],
		[ sub { s/min-width: \d+px/min-width: 0/ }, qr/^text of \d/ ],
		[ sub { s/<div class="wide/<div class="/g }, qr/^a page of \d+ pixels in a window of 400$/ ],
		[ sub { s{(<svg.*?)<title>[^<]*</title>}{$1}s }, qr/^a picture without a name$/ ],
		[ sub { s{(.*)<desc>[^<]*</desc>}{$1}s }, qr/^a picture without a description$/ ],
		[ sub { s{</body>}{<script>1</script></body>} }, qr/^console: .*inline script/i ],
		[ sub { s{</body>}{$foreign</body>} }, qr{^console: .*http://host\.invalid/a\.png} ],
	],
	'without the policy' => [
		[ sub { s{$policy}{} and s{</body>}{<script>gone()</script></body>} }, qr/^console: .*gone is not defined/ ],
		[ sub { s{</body>}{$foreign</body>} }, qr{^a request to http://host\.invalid/a\.png$} ],
	]);
for my $name (sort keys %broken)
{
	my $html = $report;
	for my $part (@{ $broken{$name} }) { $part->[0]->() for $html }
	my @found = faults($name, $html);
	for my $fault (map { $_->[1] } @{ $broken{$name} })
	{
		ok((grep { /$fault/ } @found), "a broken page $name: $fault is found") or diag explain \@found;
	}
}

done_testing();
