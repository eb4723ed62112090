# Each SQL statement of README, recipes, masks and contrib/clients/README.md works as a driver sends it. The drivers
# that are installed execute each page from its beginning, in a transaction that is rolled
# back: PREPARE and EXECUTE as parameterised statements, and the values of other queries
# as parameters; without types, or with those of Java (JDBC without stringtype=unspecified).
# The outcome must be that of the page: success, or the error that it announces.

use lib 'contrib/clients/t/lib';
use Cwd;
use Functions;
use Program;
use Server;

my $folder = getcwd;
my $programs = "contrib/clients/t/lib";

my $node = Functions::add_key(init_server('drivers', "listen_addresses = '127.0.0.1'\nidgen.node_id = 1"));
$node->start;
ask('CREATE EXTENSION idgen');
my $masked = ask('SELECT idgen.mask_uuid_v7(idgen.uuid_v7())');
# for the parameters of a PREPARE that the page does not execute
my %value = (text => 'cust_03cu7ltbh43kmxopehhx215t7', interval => '1 hour',
	jsonb => '{"note": "cust_03cu7ltbh43kmxopehhx215t7"}',
	'timestamp with time zone' => '2026-11-20T00:00:00Z', bigint => 1, integer => 1, numeric => 5,
	uuid => ask('SELECT idgen.uuid_v7()'));

my $work = PostgreSQL::Test::Utils::tempdir();
my $jar = '/usr/share/java/postgresql.jar';
my @drivers = (
	[ 'node-pg', scalar(Program::link_npm_packages()), 'true', "node $programs/run.mjs" ],
	[ 'psycopg', system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0, 'true',
		"/usr/bin/python3 $programs/run.py" ],
	[ 'PDO', system(q{php -r 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);' 2>/dev/null}) == 0, 'true',
		"php $programs/run.php" ],
	[ 'JDBC', -e $jar, "javac -d $work -cp $jar $programs/Run.java", "java -cp $work:$jar Run" ],
	[ 'JDBC, stringtype=unspecified', -e $jar, 'true', "java -cp $work:$jar Run", 'unspecified' ]);

my $language = $node->pg_version >= 19 ? qr/(?:sql|text(?=\nPREPARE))/ : 'sql';
# Literals that an application sends as parameters: not those with a type name, of generate_series(), or of a mask of
# bits
my $string = qr/'(?:[^']|'')*'/;
my $other = qr/interval $string|generate_series\(.*?\)|\(\d+ << \d+\)/;
my $literal = qr/(?:$other)(*SKIP)(*FAIL)|$string|(?:^|(?<=[(, ]))-?\d+(?:\.\d+)?(?=[,) ]|$)/;
my $part = qr/$string|(\$\w*\$).*?\g{-1}|BEGIN ATOMIC.*?\bEND(?=;)|--\N*|[^;]/s;

for my $path ('README.md', 'docs/recipes.md', 'docs/masks.md', 'contrib/clients/README.md')
{
	my ($page) = lc($path) =~ m{(\w+)(?:/readme)?\.md};
	my $text = slurp_file("$folder/$path") =~ s/^### pg_partman.*//msr;    # t/061_partitions.pl
	my $sql = join "\n", $text =~ /^ *```$language\n(.*?)^ *```/msg,
		map { "$_;" } $text =~ /`((?:SELECT|INSERT|UPDATE|DELETE) [^`]*)`/g;
	my ($script, %prepared, @lines) = "\\set ON_ERROR_ROLLBACK on\nBEGIN;\n";

	while ($sql =~ /\G\s*($part+?);(?:[ \t]*-- error (\w{5})\N*)?/g)
	{
		my ($outcome, $written) = ($3 // 'ok', $1);
		my $statement = $written =~ s/--\N*//gr =~ s/\s+/ /gr =~ s/^ //r;
		my $is_run = $statement !~ /\$1/ || $statement =~ /^PREPARE/;
		my @values;

		next if $statement =~ /^(BEGIN|COMMIT|LOAD)\b|CONCURRENTLY|\\g|pg_reload_conf/;    # not sent by applications
		if ($statement =~ s/^PREPARE (\w+)\(.*?\) AS //) { $prepared{$1} = $statement }
		elsif ($statement =~ /^EXECUTE (\w+)\((.*)\)/)
		{
			$statement = $prepared{$1};
			@values = $2 =~ /$literal/g;
		}
		elsif ($is_run && ($statement =~ s/^EXPLAIN \(.*?\) // || $statement =~ /^(SELECT|INSERT|UPDATE|DELETE|WITH) /))
		{
			$statement =~ s/$literal/push @values, $&; '$' . @values/ge;
		}
		my $name = @lines . ' ' . substr $statement, 0, 50;
		$script .= "PREPARE untyped AS $statement;\nSELECT 'types of " . @lines . q{: ' || array_to_string(
			ARRAY(SELECT format_type(coalesce(nullif(typbasetype, 0), t), NULL)
				FROM unnest(parameter_types) WITH ORDINALITY AS p (t, i) JOIN pg_type ON oid = t ORDER BY i), '|')
			FROM pg_prepared_statements WHERE name = 'untyped'; DEALLOCATE untyped;} . "\n"
		  if $statement =~ /\$1/;
		$script .= "$written;\n" if $is_run;
		push @lines,
		  { name => $name, outcome => $outcome, values => [ map { s/^'(.*)'$/$1/sr } @values ], sql => $statement };
	}

	ask("CREATE DATABASE $page");
	ask('CREATE EXTENSION idgen', $page) if $sql !~ /^CREATE EXTENSION idgen/m;
	ask('CREATE TABLE orders (id uuid PRIMARY KEY, note text)', $page) if $page eq 'clients';
	my ($said, $errors) = psql_said("$script ROLLBACK", database => $page, on_error_stop => 0);
	$lines[$1]{types} = $2 while $said =~ /^types of (\d+): (.+)$/mg;
	my @with_parameters = grep { $_->{sql} =~ /\$1/ } @lines;
	is_deeply([ map { $_->{name} } grep { !$_->{types} && $_->{outcome} eq 'ok' } @with_parameters ], [],
		"$page: " . @with_parameters . ' statements with parameters are prepared without types') or diag($errors);

	my $file = "$work/$page";
	for (@lines)
	{
		my $sql = $_->{sql};
		my @values = @{ $_->{values} };
		# a statement that fails when it is prepared has no types
		my @types = $_->{types} ? split /\|/, $_->{types} : map { /^\w{8}-/ ? 'uuid' : 'text' } @values;

		@values = map {
				/uuid/ && $sql =~ /unmask/ ? $masked
			  : $value{$_} // die "no value of type $_" } @types
		  if !@values;
		PostgreSQL::Test::Utils::append_to_file($file,
			join("\t", $_->{name}, join('|', @types), join('|', @values), $sql) . "\n");
	}
	local @ENV{qw(PGHOST PGPORT PGDATABASE PGUSER)} = ('127.0.0.1', $node->port, $page, (getpwuid $<)[0]);
	for (@drivers)
	{
		my ($driver, $is_installed, $build, $command, @option) = @$_;
		SKIP:
		{
			skip "$driver is not installed", 1 if !$is_installed;
			my ($stdout, $stderr) =
			  run_command([ 'sh', '-c', "($build) >&2 && $command \"\$@\"", 'sh', $file, @option ]);
			is_deeply([ split /\n/, $stdout ], [ map { "$_->{outcome} $_->{name}" } @lines ],
				"$page: $driver executes " . @lines . ' statements')
			  or diag($stderr);
		}
	}
}
done_testing();
