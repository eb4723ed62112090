# The pictures of the laboratory's report in a browser, Debian's chromium, which
# chromedriver controls by the WebDriver protocol: no text is cut or overlaps another,
# whichever of the usual fonts the browser takes. Screenshots are among the logs of
# the test. The stored pictures of docs/report are examined, too.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use File::Basename qw(basename dirname);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Server;

my @fonts = ('DejaVu Sans', 'Liberation Sans', 'Noto Sans');
eval { run_command([ $_, '--version' ]); 1 } or plan skip_all => "no $_" for qw(chromedriver python3 fc-list);

my $sources = "$FindBin::RealBin/../..";
my $tmp = PostgreSQL::Test::Utils::tempdir();
system_or_bail('python3', "$sources/t/lib/sample_report.py", "$tmp/run");
system_or_bail("$sources/bench/lab/report.py", "$tmp/run", '--out', "$tmp/out");

# --- the browser ------------------------------------------------------------
my $deadline = IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
my $driver = IPC::Run::start([ 'chromedriver', '--port=0' ], '>', \my $stdout, '2>', \my $stderr, $deadline);
$driver->pump until $stdout =~ /started successfully on port (\d+)/;
my $at = "http://127.0.0.1:$1/session";
my $http = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => $PostgreSQL::Test::Utils::timeout_default);

# Send a command, and return the value of its result.
sub command
{
	my ($path, $parameters) = @_;
	my $answer = $http->post($at . $path, { content => encode_json($parameters) });
	die "$path: $answer->{content}" unless $answer->{success};
	return decode_json($answer->{content})->{value};
}

my @options = (qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run), "--window-size=820,1000",
	"--user-data-dir=$tmp/profile", '--host-resolver-rules=MAP * ~NOTFOUND');
my $session = command('', { capabilities => { alwaysMatch => { 'goog:chromeOptions' => { args => \@options } } } });
$at .= "/$session->{sessionId}";
END { if ($driver) { my $status = $?; $http->delete($at); $driver->kill_kill; $? = $status } }
note "$session->{capabilities}{browserName} $session->{capabilities}{browserVersion}";

# --- what is wrong with a picture ---------------------------------------------
my $examine = <<'JAVASCRIPT';
const svg = document.documentElement, faults = [], view = svg.viewBox.baseVal;
svg.setAttribute('font-family', arguments[0]);
const boxes = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBBox() }));
if (boxes.length === 0) faults.push('no text');
boxes.forEach(({ text, box }, i) => {
	if (box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height)
		faults.push(`cut: ${text}`);
	// the box of a line has some room above and below the letters
	const inset = box.height * 0.12;
	for (const other of boxes.slice(i + 1))
		if (box.x < other.box.x + other.box.width && other.box.x < box.x + box.width
			&& box.y + inset < other.box.y + other.box.height - inset && other.box.y + inset < box.y + box.height - inset)
			faults.push(`overlap: ${text}, ${other.text}`);
});
return faults;
JAVASCRIPT

sub faults
{
	my ($path, $font) = @_;
	command('/url', { url => "file://$path" });
	return command('/execute/sync', { script => $examine, args => [$font] });
}

my @pictures = (glob("$tmp/out/*.svg"), glob("$sources/docs/report/*.svg"));
for my $font (@fonts)
{
	SKIP:
	{
		skip "no font $font", scalar @pictures unless IPC::Run::run([ 'fc-list', '-q', $font ]);
		for my $picture (@pictures)
		{
			my $name = basename(dirname($picture)) . '/' . basename($picture, '.svg');
			is_deeply(faults($picture, $font), [], "$name: no text is cut or overlaps another in $font");
			my $png = decode_base64($http->get("$at/screenshot")->{content} =~ /"([A-Za-z0-9+\/=]{100,})"/ ? $1 : '');
			append_to_file("$PostgreSQL::Test::Utils::log_path/" . ($name =~ tr{/}{_}r) . "_$font.png", $png);
		}
	}
}

# --- each fault is found ------------------------------------------------------
my $svg = slurp_file("$tmp/out/curve.svg");
for (
	[ 'long', sub { s{>random [^<]*<}{>a label that is far too long for the place it has<} }, qr/^cut: a label/ ],
	[ 'near', sub { s{(<text x="[\d.]+" y="[\d.]+"[^>]*)>10,000<}{$1>10,000</text>$1>100<} }, qr/^overlap: 10,000, 100$/ ],
	[ 'empty', sub { s{<text.*?</text>}{}gs }, qr/^no text$/ ])
{
	my ($name, $break, $fault) = @$_;
	local $_ = $svg;
	$break->();
	append_to_file("$tmp/$name.svg", $_);
	ok((grep { /$fault/ } @{ faults("$tmp/$name.svg", 'sans-serif') }), "a broken picture: $fault is found");
}

done_testing();
