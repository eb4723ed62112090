# Verify the documents. SQL blocks can be pasted into psql, and raise only the errors that they announce ("error
# 23514"). Links lead to an existing file and heading. docs/reference.md and the advisor's page document every SQL
# object, with its actual signature and columns, and with the results that the examples return ("-- →").

use File::Basename qw(dirname);
use Functions;
use Page;
use Server;

my $page = slurp_file("docs/reference.md") . slurp_file("contrib/advisor/README.md");

$ENV{PGTZ} = 'UTC';
my $node = Functions::add_key(init_server('documents', 'idgen.node_id = 1'));
$node->start;
ask('CREATE EXTENSION idgen_advisor CASCADE; CREATE ROLE newcomer LOGIN');
ask("CREATE ROLE $_") for qw(janitor developer tenant_1 tenant_2);

# --- Functions ---------------------------------------------------------------
# A signature has the form "name(arguments) → result", in a block of type "text". "as other" stands for all arguments,
# or the first columns, of the function other(). Each signature is used to create a function in the schema "manual", so
# the page can write types and defaults in any form that the server accepts.
my $signatures = join "\n", $page =~ /^```text\n(.*?)^```/msg;
$signatures =~ s/\n +/ /g;
my $create = 'CREATE SCHEMA manual; SET check_function_bodies = off; SET search_path = idgen, pg_catalog;';
my (@documented, %arguments_of, %columns_of);
for ($signatures =~ /^.+$/mg)
{
	my ($name, $arguments, $result) = /^(\w+)\((.*)\) → (.*)$/ or die "not a signature: $_";
	$arguments_of{$name} = $arguments =~ s/^as (\w+)$/$arguments_of{$1}/r;
	$arguments = $arguments_of{$name};
	if ($result =~ /^(SETOF )?\((.*)\)$/)
	{
		$result = ($1 // '') . 'record';
		$columns_of{$name} = $2 =~ s/^as (\w+)/$columns_of{$1}/r;
		$arguments = join ', ', grep { $_ ne '' } $arguments, map { "OUT $_" } split /, /, $columns_of{$name};
	}
	$create .= "\nCREATE FUNCTION manual.$name($arguments) RETURNS $result LANGUAGE plpgsql AS '';";
	push @documented, $name;
}
ask($create);
my $signatures_of = q{
	SELECT proname || '(' || pg_get_function_arguments(oid) || ') → ' || pg_get_function_result(oid)
	FROM pg_proc WHERE pronamespace = '%s'::regnamespace AND proname !~ '^internal_' ORDER BY proname COLLATE "C"};
my @real = split /\n/, ask(sprintf $signatures_of, 'idgen');
my @written = split /\n/, ask(sprintf $signatures_of, 'manual');
cmp_ok(scalar @real, '>', 100, 'there are functions');
is_deeply(\@written, \@real, 'every function is documented, with its signature, except those that are internal');

# The SQLSTATEs in t/lib/Functions.pm must be in the function's section, or in the text before the sections of its kind.
# This does not apply to the SQLSTATEs that all functions raise. t/003_properties.pl compares the list with the errors
# that a function raises.
my (%section_of, $intro);
for my $section (split /^(?=##)/m, $page)
{
	$intro = $section if $section !~ /^###/;
	$section_of{$_} = "$intro$section" for map { /^(\w+)\(/mg } $section =~ /^```text\n(.*?)^```/msg;
}
for my $function (grep { $_->{kind} ne 'advisor' } @Functions::functions)
{
	my ($name, @errors) = ($function->{name}, grep { !/^22(?:004|008|023|P02)$/ } @{ $function->{errors} });
	is_deeply([ grep { ($section_of{$name} // '') !~ /\b$_\b/ } @errors ], [],
		"$name: its section has the errors @errors") if @errors;
}

# The table in docs/choosing.md must have a row for each generator.
my $rows = join "\n", map { $_->[0] } Page->new('choosing')->table('All keys');
my @generators = map { $_->{name} } grep { $_->{kind} =~ /^(generator|ticker)$/
  || $_->{name} eq 'hmac_comb' } @Functions::functions;
is_deeply([ grep { $rows !~ /`$_\(/ } @generators ], [], 'docs/choosing.md has each generator');

# A test or the page must contain the result of each reader for identifiers of other schemes. Exceptions are functions
# that convert any uuid or number to another form, and functions that do not take identifiers.
my $tried = slurp_file('sql/other_schemes.sql') . slurp_file('sql/keys.sql')
  . Page->new('reference')->section('Identifiers of other schemes');
my $others = qr/^(?:uuid_(?:variant|v5|to_base|smaller|larger)|min|max|bigint_to_base|prefixed_id_from_uuid
	|typeid_from_uuid|ulid_from_uuid|create_id_domain|internal_\w+|is_recent_hmac_comb)$/x;
is_deeply([ grep { $tried !~ /\b$_\b/ && !/$others/ } map { $_->{name} }
		grep { $_->{kind} =~ /^(reader|key|prefixes)$/ && $_->{signature} =~ /\((uuid|text|int8)\b/
		  && $_->{name} ne 'hmac_comb' }
		@Functions::functions ], [], 'each reader was given identifiers of other schemes');

my $called_early = qr/^is_(?:ulid|object_id)$/;    # The ranges of text identifiers use them.
for my $script (glob 'idgen--*.sql')
{
	my @in_script = grep { !/^internal_|$called_early/ }
	  slurp_file($script) =~ /^CREATE (?:FUNCTION|AGGREGATE) idgen\.(\w+)/mg;
	my %is_in_script = map { $_ => 1 } @in_script;
	is_deeply(\@in_script, [ grep { $is_in_script{$_} && !/$called_early/ } @documented ],
		"$script has the order of the page");
}

# --- Tables, views, sequences and settings -----------------------------------
my %columns;
while ($page =~ /^### (?:Table|View) `(\w+)`\n(.*?)(?=^#|\z)/msg)
{
	my ($relation, $section) = ($1, $2);
	$columns{$relation} = join ', ', map { /^- `(\w+)` (\w+)/ ? "$1 $2" : () } split /\n/, $section;
}
my %real_columns = map { split /\|/ } split /\n/, ask(q{
	SELECT relname, string_agg(attname || ' ' || replace(atttypid::regtype::text, 'timestamp with time zone',
		'timestamptz'), ', ' ORDER BY attnum)
	FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
	WHERE relnamespace = 'idgen'::regnamespace AND relkind IN ('r', 'v') GROUP BY relname});
is_deeply(\%columns, \%real_columns, 'every table and view is documented, with its columns');

like($page, qr/`$_`/, "sequence $_ is documented")
  for split /\n/, ask(q{SELECT relname FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'S'});
my @settings = $page =~ /^- `(idgen\.\w+)`: /mg;
is(join("\n", sort @settings),
	ask(q{LOAD 'idgen'; SELECT name FROM pg_settings WHERE name LIKE 'idgen.%' ORDER BY name COLLATE "C"}),
	'every setting is documented');

# --- SQL in all documents --------------------------------------------------------
# These blocks cannot be pasted. Some are statements of drivers, which contrib/clients/t/002_parameters.pl tests. The
# others need other roles, extensions or servers, and are tested by t/055_tenants.pl, t/060_recipes.pl,
# t/061_partitions.pl, t/080_citus.pl and t/081_shards.pl. The pages for operators are pasted whole, with their shell
# commands, by t/057_pasted_pages.pl and t/058_failover.pl.
my $not_for_pasting = qr/create_once\(\$1,|check_recent_uuid_v7\(\$1,|create_for_tenant|partman\.
	|pg_dist_|FOREIGN\ TABLE|ALTER\ SUBSCRIPTION/x;
my $for_operators = qr/^docs\/(?:backup|failover|install|running|upgrade)\.md$/;

# Each document has its own database, which contains the tables that the blocks name. These have keys of several types,
# some of which the advisor does not support. The README's database is empty.
my $in_use = q{
	CREATE EXTENSION idgen_advisor CASCADE;
	CREATE TABLE days (day date PRIMARY KEY);
	CREATE TABLE pairs (a int, b text, PRIMARY KEY (a, b));
	CREATE TABLE numbers (id numeric PRIMARY KEY);
	CREATE TABLE parts (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
	CREATE TABLE part PARTITION OF parts DEFAULT;
	INSERT INTO part SELECT idgen.short_comb() FROM generate_series(1, 1000);
	CREATE UNLOGGED TABLE notes (id uuid PRIMARY KEY);
	CREATE TABLE orders (id bigint PRIMARY KEY);
	CREATE TABLE deliveries (id bigint PRIMARY KEY);
	CREATE TABLE tickets (id bigint PRIMARY KEY);
	ANALYZE};

# This query returns calls of the page's functions that run with their owner's privileges.
my $definer_calls = q{SELECT format('%s(%s)', p.oid::regproc, concat_ws(', ', VARIADIC
		(SELECT array_agg('NULL::' || format_type(t, NULL)) FROM unnest(proargtypes) t)))
	FROM pg_proc p WHERE prosecdef
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')};
ask('CREATE ROLE stranger');
my $definers = 0;

my %pasted;			# the output of psql for each page
for my $path ("README.md", grep { !/$for_operators/ } glob "{docs/*,contrib/*/README}.md")
{
	my ($name) = $path =~ m{(\w+)(?:/README)?\.md$};
	my $is_readme = $name eq 'README';
	my $session = join "\n", grep { !/$not_for_pasting/ } slurp_file($path) =~ /^```sql\n(.*?)^```/msg;
	next if $session eq '';
	ask("CREATE DATABASE \L$name" . ($is_readme ? ' OWNER newcomer' : ''));
	ask($in_use, lc $name) if !$is_readme;
	($pasted{$name}, my $stderr) = psql_said("\\set ON_ERROR_STOP off\n$session", database => lc $name,
		$is_readme ? (user => 'newcomer') : ());
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $session =~ /-- error (\w{5})/g ],
		"$name: the SQL raises the errors that it announces")
	  or diag($stderr);
	unlike($stderr, qr/WARNING/, "$name: and no warnings");

	# (t/055_tenants.pl tests the function in docs/security.md.)
	for my $call (split /\n/, ask($definer_calls, lc $name))
	{
		is(outcome("SET ROLE stranger; SELECT $call", database => lc $name), '42501', "$name: not for PUBLIC: $call");
		$definers++;
	}
}
is_deeply([ grep { !exists $pasted{$_} } qw(README recipes scaling tickers) ], [],
	'SQL was found in all documents that contain it');
cmp_ok($definers, '>=', 3, 'pages have functions that run with the privileges of their owner');

# The README's transaction creates an order once, and leaves no command without an order.
{
	my ($id, $transaction) = Page->new('./README.md')->blocks('Commands that are safe to repeat');
	my $late = q{SELECT idgen.uuid_v7(now() - interval '25 hours') AS command_id \gset};
	my ($created, $errors) = psql_said("\\set ON_ERROR_STOP off\n"
		  . join("\n", $id, map({ ($transaction, '\echo :created') } 1, 2), $late, $transaction),
		database => 'readme', user => 'newcomer');
	is($created, "t\nf", 'README: a repeated transaction creates nothing');
	is(join(' ', $errors =~ /ERROR:  (\w{5})/g), '23514', 'README: ... and a late one fails');
	is(ask('SELECT count(*), count(o.id) FROM idgen.creation_identifiers LEFT JOIN orders o ON o.id = entity_id',
		'readme'), '2|2', 'README: each command has an order');
}

# The table of predictions must contain the results of the call beside it.
{
	my $model = Page->new('performance');
	my ($heading) = grep { $_ ne '' } $model->headings;
	my $prose = $model->prose($heading);
	my ($call) = $prose =~ /`(expected_key_cost\(kind, [^`]*\))`/;
	my %period;
	@period{qw(short_comb keyed_comb)} =
	  $prose =~ /is (\d+ \* rate) for short COMBs, and (\d+ \* rate) for keyed COMBs/;
	my ($head, undef, @rows) = $model->table($heading);
	is(scalar @rows, 2, 'docs/performance.md has predictions for two rates');
	for my $row (@rows)
	{
		my ($rate) = $row->[0] =~ s/,//r =~ /^(\d+) /;
		my @returned = map {
			my ($kind, $prefix_bytes) = (/^(\w+)/, /three/ ? 3 : 2);
			my %value = (kind => "'$kind'", rows_per_period => $period{$kind} // 'NULL', prefix_bytes => $prefix_bytes);
			ask("SELECT to_char(round(image_bytes_per_row + record_bytes_per_row), 'FM9,999') FROM idgen."
				  . $call =~ s/\b(kind|rows_per_period|prefix_bytes)\b/$value{$1}/gr =~ s/\brate\b/$rate/gr);
		} @$head[ 1 .. $#$head ];
		is("@returned", "@$row[1 .. $#$row]", "docs/performance.md: the predictions for $rate rows a second");
	}
}

# The output must contain the results that the reference shows, in the same order. It may also contain other results.
my @shown = map { s/ \| /|/gr } $page =~ /^-- → (.*)$/mg;
my @missing = @shown;
for (split /\n/, "$pasted{reference}\n$pasted{advisor}") { shift @missing if @missing && $_ eq $missing[0] }
cmp_ok(scalar @shown, '>=', 15, 'there are results');
is_deeply(\@missing, [], 'the examples print the results that are shown');

# --- Links ----------------------------------------------------------------------
# Return the text of a document without its code.
sub prose { return slurp_file(shift) =~ s/^```.*?^```//msgr }

# Return the anchors that GitHub creates for the headings of a document.
sub anchors
{
	my %seen;
	return map {
		my $anchor = lc($_) =~ s/[^\w -]//gr =~ tr/ /-/r;
		$anchor . ($seen{$anchor}++ ? '-' . ($seen{$anchor} - 1) : '');
	} prose(shift) =~ /^#+ +(.*\S)/mg;
}

for my $path (map { glob "$_*.md" } '', qw(docs/ docs/report/ t/ bench/ bench/lab/ contrib/*/ dev/*/))
{
	my @links = grep { !/^\w+:/ } prose($path) =~ s/`[^`\n]*`//gr =~ /\]\(([^)\s]+)\)/g;
	my @dead = grep {
		my ($file, $anchor) = /^([^#]*)#?(.*)$/;
		my $target = $file eq '' ? $path : dirname($path) . "/$file";
		!-e $target || $anchor ne '' && !grep { $_ eq $anchor } anchors($target);
	} @links;
	is("@dead", '', "$path: every link leads to a file and a heading");
}

done_testing();
