# The playground in Chromium, which chromedriver controls by the WebDriver protocol, and
# in node; and its statements on a real server, which writes the same WAL.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use HTTP::Tiny;
use JSON::PP;
use List::Util qw(sum);
use MIME::Base64 qw(decode_base64);
use Server;

my $tmp = PostgreSQL::Test::Utils::tempdir();
my $playground = "$tmp/playground";
system_or_bail('cp', '-r', map("$FindBin::RealBin/../../$_", qw(playground portable)), $tmp);
eval { run_command([ $_, '--version' ]); 1 } or plan skip_all => "no $_" for qw(npm chromedriver);
my ($log, $why) = run_command([ qw(npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix), $playground ]);
-e "$playground/node_modules/\@electric-sql" or plan skip_all => "npm ci cannot install PGlite: $why";
system_or_bail(qw(npm run --silent build --prefix), $playground);

my ($timeout, @started) = $PostgreSQL::Test::Utils::timeout_default;
END { my $status = $?; $_->kill_kill for @started; $? = $status }

# Start a program, and return the port that it prints.
sub start
{
	my ($port, @command) = @_;
	push @started, IPC::Run::start(\@command, '>', \my $stdout, '2>', \my $stderr, IPC::Run::timeout($timeout));
	$started[-1]->pump until $stdout =~ $port;
	return $1;
}

# --- the same steps in node and on a server ------------------------------------
my @module = ('node', "$playground/build/playground.mjs");
my $settings = 'rows=40000&years=1';
my %measured = map { $_->{key} => $_ } map { decode_json($_) } split /\n/, (run_command([ @module, 'measure', $settings ]))[0];
is_deeply([ sort keys %measured ], [qw(keyed_comb random short_comb uuid_v7)], 'node measures four keys');
cmp_ok($measured{random}{pages}, '>', 5 * $measured{$_}{pages}, "$_ touches fewer pages than random keys") for qw(keyed_comb uuid_v7);

# as PGlite: with checksums, which version 18 has by default, and nothing in the background
my $node = init_server('real', "autovacuum = off\nmax_wal_size = 8GB\ncheckpoint_timeout = 1d", extra => ['--data-checksums']);
$node->start;
$node->command_ok([ qw(psql -Xq -v ON_ERROR_STOP=1 -f), "$tmp/portable/uuids.sql", $node->connstr('postgres') ], 'a server has the same functions');
my @wal = ask((run_command([ @module, 'sql', $settings ]))[0]) =~ /^(\d+\.\d+)$/mg;
my $intervals = @wal / 4;
for my $key (qw(random uuid_v7 short_comb keyed_comb))
{
	my ($real, $wasm) = (sum(splice(@wal, 0, $intervals)) / $intervals, $measured{$key}{wal});
	ok(abs($wasm / $real - 1) < 0.1, sprintf('%s: %.0f bytes of WAL a row in WebAssembly, and about as many (%.0f) on the server', $key, $wasm, $real));
}

# --- the page ---------------------------------------------------------------------
my $url = start(qr{^(http://\S+)}, @module, 'serve', 0);
my $at = 'http://127.0.0.1:' . start(qr/started successfully on port (\d+)/, qw(chromedriver --port=0)) . '/session';
my $http = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => $timeout);

# Send a command, and return the value of its result.
sub command
{
	my ($path, $parameters) = @_;
	my $answer = $http->post($at . $path, { content => encode_json($parameters) });
	die "$path: $answer->{content}" unless $answer->{success};
	return decode_json($answer->{content})->{value};
}

sub js { return command('/execute/sync', { script => shift, args => [@_] }) }
sub devtools { return command('/goog/cdp/execute', { cmd => $_[0], params => $_[1] }) }

# Wait for a status or an error.
sub status_becomes
{
	my ($expected, $name) = @_;
	my ($status, $attempts) = ('', 10 * $timeout);
	my $script = 'return document.querySelector("#status").textContent + document.querySelector("#error").textContent';
	select undef, undef, undef, 0.1 while ($status = js($script)) !~ $expected && --$attempts;
	like($status, $expected, $name);
}

# Run with these settings, which a link contains.
sub run_with
{
	command('/url', { url => "$url#" . shift });
	status_becomes(qr/ready|Measured|Stopped|error/, 'the page is ready');
	js('onhashchange(); document.querySelector("form").requestSubmit()');
}

my @options = (qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking
	  --disable-component-update), "--user-data-dir=$tmp/profile", '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1');
my $session = command('', { capabilities => { alwaysMatch => { 'goog:chromeOptions' => { args => \@options } } } });
$at .= "/$session->{sessionId}";

my $mine = 'CREATE TABLE mine (number int GENERATED ALWAYS AS IDENTITY, key uuid PRIMARY KEY, at date NOT NULL, n numeric(3,1) NOT NULL)';
run_with("rows=20000&years=0&sql=$mine");
status_becomes(qr/^Measured in this browser by PostgreSQL/, 'a table of the visitor, by a link');
is(js('return [...document.querySelectorAll("#bars table")].map((table) => table.rows.length).join()'), '4,4,4', 'three measurements of four keys');
is(js('return [...document.querySelectorAll("canvas")].filter((c) => c.getContext("2d").getImageData(0, 0, 600, 220).data.some(Boolean)).length'),
	4, 'four pictures are drawn');
unlike(js('return document.body.textContent'), qr/NaN|undefined/, 'there are all figures');
like(js('return document.querySelector("#link").href'), qr/rows=20000.*years=0/, 'the link has the settings');

for my $scheme (qw(light dark))
{
	for my $width (360, 1600)
	{
		devtools('Emulation.setDeviceMetricsOverride', { width => $width, height => 900, deviceScaleFactor => 1, mobile => \0 });
		devtools('Emulation.setEmulatedMedia', { features => [ { name => 'prefers-color-scheme', value => $scheme } ] });
		cmp_ok(js('return document.documentElement.scrollWidth'), '<=', $width, "$scheme: nothing is wider than $width pixels");
		append_to_file("$PostgreSQL::Test::Utils::log_path/playground_${scheme}_$width.png",
			decode_base64(devtools('Page.captureScreenshot', { captureBeyondViewport => \1 })->{data}));
	}
	is_deeply(js(<<'JAVASCRIPT'), [], "$scheme: the contrast of all text is at least 4.5 (WCAG AA)");
const light = (color) => color.match(/[\d.]+/g).slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
const own = (element) => getComputedStyle(element).backgroundColor
const ground = (element) => own(element) === 'rgba(0, 0, 0, 0)' ? ground(element.parentElement) : own(element)
return [...document.body.querySelectorAll('*')].filter((element) => element.innerText).filter((element) => {
  const [low, high] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05) < 4.5 }).map((element) => element.outerHTML.slice(0, 80))
JAVASCRIPT
}

run_with('sql=CREATE TABEL orders (id uuid PRIMARY KEY)');
status_becomes(qr/ERROR:  syntax error at or near "TABEL" \(SQLSTATE 42601\)/, 'wrong SQL: the error of the server');
run_with('rows=100');
status_becomes(qr/at least 17000 rows must be loaded/, 'settings that cannot be measured');
run_with('rows=1000000&years=0');
status_becomes(qr/random\S+ \S+ of/, 'the page shows the progress');
js('document.querySelector("button[type=button]").click()');
status_becomes(qr/^Stopped/, 'a run is stopped');
run_with('sql=CREATE TABLE t (id uuid PRIMARY KEY); SELECT count(*) FROM generate_series(1, 1e12::bigint)');
js('document.querySelector("button[type=button]").click()');
status_becomes(qr/is ready/, 'a statement without end is stopped, and the server is another one');

(shift @started)->kill_kill;
run_with('rows=20000&years=0');
status_becomes(qr/^Measured/, 'the page needs no web server any more');

done_testing();
