# Verify that a JavaScript program reads each row of the list in docs/recipes.md exactly once, even if a thousand rows
# were created in the same millisecond. JavaScript rounds times, and it rounds numbers in JSON unless they are sent as
# text.

use lib 'contrib/clients/t/lib';
use Page;
use Program;
use Server;

my ($stack) = grep { $_->{name} eq 'node-pg' } Program::all('stack');
plan skip_all => 'node or its driver is not installed' if !$stack || !$stack->can_run;
Program::start_server('lists');
ask('CREATE EXTENSION idgen; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO app');

my $recipe = Page->new('recipes');
my $heading = 'A list, page by page';
$recipe->paste($heading);
my ($query) = $recipe->prepared($heading) =~ /\bAS\n(.*?);/s;
my $rows = q{SELECT idgen.keyed_comb('articles'),
		timestamptz '2026-11-20 03:44:00.123+00' + (i % 400) * interval '1 us', i
	FROM generate_series(1, 1000) i};
ask("INSERT INTO articles $rows");
ask("CREATE TABLE precise (id uuid PRIMARY KEY, created_at timestamptz, title text); INSERT INTO precise $rows");
is(ask('SELECT count(DISTINCT created_at) FROM articles; SELECT count(DISTINCT created_at) FROM precise'), "1\n400",
	'a thousand rows are of one millisecond');
like($recipe->plan_of($heading, q{next_page('2026-11-20', 'ffffffff-ffff-ffff-ffff-ffffffffffff')},
		'enable_seqscan = off', 'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan'),
	qr/^Limit\n +->  Index Scan Backward using \w+.*\n +Index Cond: \(ROW\(created_at, id\) < ROW\(\$1, \$2\)\)\z/,
	'a page is read from the index, without a sort');

my %environment = $stack->environment;
local @ENV{ keys %environment } = values %environment;
sub run_in_node { return (run_command([ $stack->in_folder("exec node $_[0]") ]))[0] }
my $precise = $query =~ s/FROM articles/FROM precise/r;
my $as_text = $precise =~ s/created_at, title/created_at::text, title/r =~ s/BY created_at/BY precise.created_at/r;
is(run_in_node("t/lib/pages.mjs '$query'"), '1000 rows, 1000 ids', 'each row is read once');
is(run_in_node("t/lib/pages.mjs '$as_text'"), '1000 rows, 1000 ids', '... also with microseconds, as text');
like(run_in_node("t/lib/pages.mjs '$precise'"), qr/^2\d rows/, '... but a Date drops microseconds');

my $number = ask(q{SELECT idgen.snowflake_floor('2026-11-20 00:00Z') | 1});
my $parse = qq{-p 'const o = JSON.parse(`{"number": $number, "text": "$number"}`); [o.text, BigInt(o.number)].join()'};
like(run_in_node($parse), qr/^$number,(?!$number)/, 'JSON.parse() rounds a number, not a text');

done_testing();
