# docs/reference.md documents every SQL object of the extensions: functions with
# the signatures that they have, the columns of tables and views, sequences and
# settings. The install script has the order of the page, and the examples have
# the results that the page shows ("-- →").

use FindBin;
use lib "$FindBin::RealBin/../lib";
use Server;

my $folder = "$FindBin::RealBin/../..";
my $page = slurp_file("$folder/docs/reference.md");
my $script = slurp_file("$folder/idgen--1.0.sql");

$ENV{PGTZ} = 'UTC';
my $node = start_server('reference');
ask("CREATE ROLE $_") for qw(app janitor developer);
ask('CREATE EXTENSION idgen_advisor');

# --- Functions ---------------------------------------------------------------

# A signature is "name(arguments) → result", in a block of "text". The server
# reads each as that of a function in the schema "manual", so that types and
# defaults can be written in any way that it accepts.
my $signatures = join "\n", $page =~ /^```text\n(.*?)^```/msg;
$signatures =~ s/\n +/ /g;
my @documented = map {
	my ($name, $arguments, $result) = /^(\w+)\((.*)\) → (.*)$/ or die "not a signature: $_";
	{ name => $name, arguments => $arguments, result => $result }
} $signatures =~ /^.+$/mg;

for my $function (@documented)
{
	my ($arguments, $result) = ($function->{arguments}, $function->{result});

	if ($result =~ /^(SETOF )?\((.*)\)$/)
	{
		$result = ($1 // '') . 'record';
		$arguments = join ', ', grep { $_ ne '' } $arguments, map { "OUT $_" } split /, /, $2;
	}
	$function->{sql} = "CREATE FUNCTION manual.$function->{name}($arguments) RETURNS $result LANGUAGE plpgsql AS '';";
}
ask(join "\n", 'CREATE SCHEMA manual; SET check_function_bodies = off; SET search_path = idgen, pg_catalog;', map { $_->{sql} } @documented);
my $signatures_of = q{
	SELECT proname || '(' || pg_get_function_arguments(oid) || ') → ' || pg_get_function_result(oid)
	FROM pg_proc WHERE pronamespace = '%s'::regnamespace ORDER BY proname COLLATE "C"};
my @real = split /\n/, ask(sprintf $signatures_of, 'idgen');
my @written = split /\n/, ask(sprintf $signatures_of, 'manual');
cmp_ok(scalar @real, '>', 100, 'there are functions');
is_deeply(\@written, \@real, 'every function is documented, with its signature');

# The advisor has a script of its own.
my ($advisor) = grep { $documented[$_]{name} eq 'index_report' } 0 .. $#documented;
my %place = map { $documented[$_]{name} => $_ } 0 .. $advisor - 1;
my @in_script = grep { exists $place{$_} } $script =~ /^CREATE (?:FUNCTION|AGGREGATE) idgen\.(\w+)/mg;
is_deeply(\@in_script, [ sort { $place{$a} <=> $place{$b} } @in_script ], 'the install script has the order of the page');

# --- Tables, views, sequences and settings -----------------------------------

my %columns;
while ($page =~ /^### (?:Table|View) `(\w+)`\n(.*?)(?=^#|\z)/msg)
{
	my ($relation, $section) = ($1, $2);
	$columns{$relation} = join ', ', map { "$_->[0] $_->[1]" } map { [ /^\| `(\w+)` \| (\w+) \|/ ] } grep { /^\| `\w+` \| \w+ \|/ } split /\n/, $section;
}
my %real_columns = map { split /\|/ } split /\n/, ask(q{
	SELECT relname, string_agg(attname || ' ' || CASE atttypid WHEN 'timestamptz'::regtype THEN 'timestamptz' ELSE atttypid::regtype::text END, ', ' ORDER BY attnum)
	FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
	WHERE relnamespace = 'idgen'::regnamespace AND relkind IN ('r', 'v') GROUP BY relname});
is_deeply(\%columns, \%real_columns, 'every table and view is documented, with its columns');

for my $sequence (split /\n/, ask(q{SELECT relname FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'S'}))
{
	like($page, qr/`$sequence`/, "sequence $sequence is documented");
}
my @settings = $page =~ /^\| `(idgen\.\w+)` \|/mg;
is(join("\n", sort @settings), ask(q{LOAD 'idgen'; SELECT name FROM pg_settings WHERE name LIKE 'idgen.%' ORDER BY name COLLATE "C"}),
	'every setting is documented');

# --- Examples ----------------------------------------------------------------

my $session = join "\n", $page =~ /^```sql\n(.*?)^```/msg;
my ($printed, $errors);
$node->psql('postgres', $session, stdout => \$printed, stderr => \$errors);
is($errors, '', 'the examples run');
# the results, in the order of the examples, among those that are not shown
my @shown = map { s/ \| /|/gr } $session =~ /^-- → (.*)$/mg;
my @missing = @shown;
for my $line (split /\n/, $printed)
{
	shift @missing if @missing && $line eq $missing[0];
}
cmp_ok(scalar @shown, '>', 20, 'there are results');
is_deeply(\@missing, [], 'the examples print the results that are shown');

done_testing();
