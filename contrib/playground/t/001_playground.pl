# Verify the playground in Chromium, which chromedriver controls by the WebDriver protocol, and in Node.js. The test
# also executes the playground's statements on a real server, which must write the same amount of WAL.

use HTTP::Tiny;
use JSON::PP;
use List::Util qw(sum);
use Server;

my $tmp = PostgreSQL::Test::Utils::tempdir();
my $playground = "$tmp/playground";
system_or_bail(qw(cp -r contrib/playground contrib/portable), $tmp);
eval { run_command([ $_, '--version' ]); 1 } or plan skip_all => "no $_" for qw(npm chromedriver);
my @npm = (qw(npm --silent --prefix), $playground);
-d "$playground/node_modules" or run_command([ @npm, qw(ci --ignore-scripts --no-audit) ]);
-d "$playground/node_modules" or plan skip_all => 'npm ci cannot install PGlite';
system_or_bail(@npm, qw(run build));

my ($at, $http, $timeout, @started) = (undef, undef, $PostgreSQL::Test::Utils::timeout_default);
# The browser terminates with its session, not with chromedriver.
END { my $status = $?; $http->delete($at) if ($at // '') =~ m{session/}; $_->kill_kill for @started; $? = $status }

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
my @measured = map { decode_json($_) } split /\n/, (run_command([ @module, 'measure', $settings ]))[0];
my %pages = map { $_->{key} => $_->{pages} } @measured;
is_deeply([ map { $_->{key} } @measured ], [qw(gen_random_uuid uuid_v7 short_comb keyed_comb)],
	'node measures four keys');
cmp_ok($pages{gen_random_uuid}, '>', 5 * $pages{$_}, "$_ touches fewer pages than random keys")
  for qw(keyed_comb uuid_v7);

# Use the configuration of PGlite: checksums, which are the default in PostgreSQL 18, and no background activity.
init_server('real', "autovacuum = off\nmax_wal_size = 8GB\ncheckpoint_timeout = 1d\nwal_consistency_checking = ''",
	extra => ['--data-checksums'])->start;
my ($script) = run_command([ @module, 'sql', $settings ]);
my @wal = ask(slurp_file("$tmp/portable/uuids.sql") . $script) =~ /^(\d+\.\d+)$/mg;
my $intervals = @wal / 4;
for (@measured)
{
	my $real = sum(splice(@wal, 0, $intervals)) / $intervals;
	cmp_ok(abs($_->{wal} / $real - 1), '<', 0.1,
		sprintf('%s: %.0f bytes of WAL a row, %.0f on a server', $_->{key}, $_->{wal}, $real));
}

# Tables that cannot be filled are rejected before any row is inserted.
for (
	[ 'a uuid, b int, PRIMARY KEY (a, b)', qr/the primary key of table "t" is not a single column of type uuid$/m ],
	[ 'a uuid PRIMARY KEY, b interval NOT NULL, c inet NOT NULL',
		qr/no value for the NOT NULL columns: b interval, c inet$/m ],
	[ q{a uuid PRIMARY KEY, b interval NOT NULL DEFAULT '1 s', c mood NOT NULL, d point}, qr/^$/ ])
{
	my ($columns, $message) = @$_;
	my $sql = "CREATE TYPE mood AS ENUM ('sad'); CREATE TABLE t ($columns)";
	my ($statements) = run_command([ @module, 'sql', "rows=2000&minute=10&years=0&sql=$sql" ]);

	like(errors($statements, options => '-c client_min_messages=error'), $message, "a table with ($columns)");
}

# --- the page ---------------------------------------------------------------------
my $url = start(qr{^(http://\S+)}, @module, 'serve', 0);
$at = 'http://127.0.0.1:' . start(qr/started successfully on port (\d+)/, qw(chromedriver --port=0)) . '/session';
$http = HTTP::Tiny->new(proxy => undef, http_proxy => undef, timeout => $timeout);

# Send a command, and return the value of its result.
sub command
{
	my ($path, $parameters) = @_;
	my $answer = $http->post($at . $path, { content => encode_json($parameters) });
	die "$path: $answer->{content}" unless $answer->{success};
	return decode_json($answer->{content})->{value};
}

sub js
{
	return command('/execute/sync', { args => [], script => <<'JAVASCRIPT' . shift });
const all = (selector) => [...document.querySelectorAll(selector)]
const painted = (canvas) => canvas.getContext('2d').getImageData(0, 0, 600, 220).data.some(Boolean)
JAVASCRIPT
}

sub devtools { return command('/goog/cdp/execute', { cmd => shift, params => {@_} }) }
sub media { return devtools('Emulation.setEmulatedMedia', features => [ { name => "prefers-$_[0]", value => $_[1] } ]) }

# Wait until the status, the error and the last caption match. They are followed by "true" if the last picture is
# painted, and otherwise by "false".
sub becomes
{
	my ($expected, $name, $said, $attempts) = (@_, '', 10 * $timeout);
	my $script = 'return all("#status, #error, figure:last-child figcaption").map((part) => part.innerText).join("")
		+ all("canvas").map(painted).at(-1)';
	select undef, undef, undef, 0.1 while ($said = js($script)) !~ $expected && --$attempts;
	like($said, $expected, $name);
}

# Press the given keys together. Return the control that then has the focus, and its outline.
sub press
{
	my @keys = ((map +{ type => 'keyDown', value => $_ }, @_), map +{ type => 'keyUp', value => $_ }, reverse @_);
	command('/actions', { actions => [ { type => 'key', id => 'keyboard', actions => \@keys } ] });
	return js('const focus = document.activeElement;
		return `${focus.name || focus.id} ${getComputedStyle(focus).outlineStyle}`');
}

sub open_link { command('/url', { url => "$url#" . shift }); js('onhashchange()') }
sub run_with { open_link(@_); js('document.forms[0].requestSubmit()') }

my @options = (qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run),
	'--disable-background-networking', "--user-data-dir=$tmp/profile",
	'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1');
$at .= '/' .
	command('', { capabilities => { alwaysMatch => { 'goog:chromeOptions' => { args => \@options } } } })->{sessionId};

# Check the keyboard, during a run that takes longer than this part of the test.
my ($tab, $enter, $shift) = ("\x{E004}", "\x{E007}", "\x{E008}");
open_link('rows=1000000&years=0');
becomes(qr/is ready/, 'the page is ready');
media('reduced-motion', 'reduce');
is(join(', ', map { press($tab) } 1 .. 6),
	'sql solid, minute solid, rows solid, checkpoint solid, years solid, run solid',
	'the tab key reaches the controls, and an outline shows which');
is(press($enter), 'stop solid', 'Enter starts a run');
becomes(qr/gen_random\S+ \S+ of \S+ rowsfalse$/,
	'the page shows the progress; with reduced motion, it draws no unfinished picture');
media('reduced-motion', 'no-preference');
becomes(qr/of \S+ rowstrue$/, 'without, it does');
is(press($shift, $tab), 'years solid', 'back to a field');
press('5');
like(js('return link.href'), qr/rows=1000000.*years=5/, 'the page answers during a run, and its link has the settings');
is(press($tab) . press($enter), 'stop solid' . 'run solid', 'to the stop button');
becomes(qr/^Stopped|is ready/, 'a run is stopped');

run_with('sql=CREATE TABEL orders (id uuid PRIMARY KEY)');
becomes(qr/ERROR:  syntax error at or near "TABEL" \(SQLSTATE 42601\)/, 'wrong SQL: the error of the server');
run_with('rows=100');
becomes(qr/at least 17000 rows must be loaded/, 'settings that cannot be measured, before they are run');
is(js('return document.forms[0].elements.rows.validity.customError && !all("#run")[0].disabled'), 1,
	'... and they are not');
run_with('sql=CREATE TABLE t (id uuid PRIMARY KEY); SELECT count(*) FROM generate_series(1, 1e12::bigint)');
js('all("#stop")[0].click()');
becomes(qr/is ready/, 'a statement without end is stopped, and the server is another one');

# Check a table that the visitor defines in a link, with each color scheme and page width.
run_with('rows=20000&years=0&sql=CREATE TABLE t '
  . '(i int GENERATED ALWAYS AS IDENTITY, key uuid PRIMARY KEY, at date, n numeric(3,1) NOT NULL)');
becomes(qr/^Measured in this browser by PostgreSQL/, 'a table of the visitor');
is_deeply(js('return [all("table").length, all("td").length, all("canvas").filter(painted).length,
	document.body.innerText.match(/NaN|undef/)]'),
	[ 3, 12, 4, undef ], 'three measurements of four keys, all with their figures, and four pictures');
for my $scheme (qw(light dark))
{
	media('color-scheme', $scheme);
	for my $width (360, 1600)
	{
		devtools('Emulation.setDeviceMetricsOverride', width => $width, height => 900,
			deviceScaleFactor => 1, mobile => \0);
		cmp_ok(js('return document.documentElement.scrollWidth'), '<=', $width,
			"$scheme: nothing is wider than $width pixels");
	}
	is_deeply(js(<<'JAVASCRIPT'), [], "$scheme: the contrast of text is at least 4.5, and of all else 3 (WCAG AA)");
const light = (color) => color.match(/[\d.]+/g).slice(0, 3)
  .map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
const ground = (element) => getComputedStyle(element).backgroundColor.replace('rgba(0, 0, 0, 0)', '')
  || ground(element.parentElement)
const faint = (element, color, least) => {
  const ratio = (light(getComputedStyle(element)[color]) + 0.05) / (light(ground(element)) + 0.05)
  return Math.max(ratio, 1 / ratio) < least
}
return all('body *').filter((element) => (element.innerText || element.value) && faint(element, 'color', 4.5)
  || element.matches('textarea, input, #stop, canvas') && faint(element, 'borderColor', 3)
  || element.matches('canvas') && (faint(element, 'color', 3) || faint(element, 'outlineColor', 3)))
  .map((element) => element.outerHTML)
JAVASCRIPT
}

(shift @started)->kill_kill;
run_with('');
becomes(qr/^Measured/, 'the default, without a web server');

done_testing();
