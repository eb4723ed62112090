# The list of docs/recipes.md has each row once, in JavaScript and Python, also where a thousand rows are of one
# millisecond. JavaScript rounds numbers in JSON that are not sent as text.

use Cwd;
use Page;
use Server;

my $node = start_server('lists', "listen_addresses = '127.0.0.1'\nidgen.node_id = 1");
my $recipe = Page->new('recipes');
my $heading = 'A list, page by page';
my $folder = getcwd . '/contrib/clients';
my $work = PostgreSQL::Test::Utils::tempdir();
my ($clients) = grep { -d "$_/node_modules" } $folder,
  glob(($ENV{IDGEN_CLIENTS} // ($ENV{XDG_CACHE_HOME} // '/var/cache') . '/idgen-clients') . '/*');
my $has_psycopg = system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0;

$recipe->paste($heading);
my ($query) = $recipe->prepared($heading) =~ /\bAS\n(.*);/s;
my $rows = q{SELECT idgen.keyed_comb(), timestamptz '2026-11-20 03:44:00.123+00' + (i % 400) * interval '1 us', i
	FROM generate_series(1, 1000) i};
ask("INSERT INTO articles $rows");
ask("CREATE TABLE precise (id uuid PRIMARY KEY, created_at timestamptz, title text); INSERT INTO precise $rows");
is(ask('SELECT count(DISTINCT created_at) FROM articles; SELECT count(DISTINCT created_at) FROM precise'), "1\n400",
	'a thousand rows are of one millisecond');
like($recipe->plan_of($heading, q{next_page('2026-11-20',
	'ffffffff-ffff-ffff-ffff-ffffffffffff')}, 'enable_seqscan = off',
		'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan'),
	qr/^Limit\n +->  Index Scan Backward using \w+.*\n +Index Cond: \(ROW\(created_at, id\) < ROW\(\$1, \$2\)\)\z/,
	'a page is read from the index, without a sort');

my $precise = $query =~ s/FROM articles/FROM precise/r;
my $as_text = $precise =~ s/id, created_at, title/id, created_at::text, title/r
  =~ s/ORDER BY created_at/ORDER BY precise.created_at/r;
local @ENV{qw(PGHOST PGPORT PGDATABASE PGUSER)} = ('127.0.0.1', $node->port, 'postgres', (getpwuid $<)[0]);
for ([ 'JavaScript', defined $clients, "$work/pages.mjs" ], [ 'Python', $has_psycopg, "$folder/t/lib/pages.py" ])
{
	my ($language, $is_installed, $program) = @$_;
  SKIP:
	{
		skip "$language has no driver", 3 if !$is_installed;
		my @command = ('/usr/bin/python3', $program);
		if ($language eq 'JavaScript')
		{
			system_or_bail('cp', "$folder/t/lib/pages.mjs", $work);
			symlink "$clients/node_modules", "$work/node_modules";
			@command = ('node', $program);
		}
		my $read = sub { my ($rows, $errors) = run_command([ @command, shift ]); return $rows || $errors };
		is($read->($query), '1000 rows, 1000 ids', "$language reads each row once");
		is($read->($as_text), '1000 rows, 1000 ids', "$language: also microseconds, as text");
		like($read->($precise), $language eq 'Python' ? qr/^1000 rows, 1000 ids$/ : qr/^2\d rows/,
			"$language: what a position in microseconds does");
	}
}

SKIP:
{
	skip 'node is not installed', 1 if system('node --version >/dev/null 2>&1') != 0;
	my ($number, $text, $json) = split /\|/, ask(q{
		SELECT id, id::text, json_build_object('number', id, 'text', id::text)
		FROM (SELECT idgen.snowflake() | 1 AS id) s});
	my $parse = 'const o = JSON.parse(process.argv[1]); `${o.text} ${BigInt(o.number) - BigInt(o.text)}`';
	my ($said) = run_command([ 'node', '-p', $parse, $json ]);
	like($said, qr/^$text -?[1-9]\d*$/, 'JSON.parse() rounds a number, not a text');
}

done_testing();
