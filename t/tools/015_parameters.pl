# Each statement that README and the manual show as PREPARE works as the parameterised
# statement of a driver: prepared without types, and executed by the drivers that are
# installed, with typed parameters (JDBC) and with texts (the others, and JDBC with
# stringtype=unspecified).

use FindBin;
use lib "$FindBin::RealBin/../lib";
use Functions;
use Server;

my $folder = "$FindBin::RealBin/../..";
my $programs = "$FindBin::RealBin/../lib/statements";
my %value = (text => 'cust_03cu7ltbh43kmxopehhx215t7', interval => '1 hour',
	timestamptz => '2026-11-20T00:00:00Z', bigint => 1, int => 1, numeric => 5);

my $node = init_server('drivers', "listen_addresses = '127.0.0.1'\nidgen.node_id = 1");
Functions::add_mask_key($node);
$node->start;
ask('CREATE EXTENSION idgen');
$value{uuid} = ask('SELECT idgen.uuid_v7()');    # recent
my $masked = ask('SELECT idgen.mask_uuid_v7(idgen.uuid_v7())');

my ($clients) = grep { -d "$_/node_modules" } "$folder/clients",
  glob(($ENV{IDGEN_CLIENTS} // ($ENV{XDG_CACHE_HOME} // '/var/cache') . '/idgen-clients') . '/*');
my $work = PostgreSQL::Test::Utils::tempdir();
my $jar = '/usr/share/java/postgresql.jar';
my @drivers = (
	[ 'node-pg', defined $clients, "cp $programs/run.mjs $work && ln -sfn $clients/node_modules $work/node_modules", "node $work/run.mjs" ],
	[ 'psycopg', system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0, 'true', "/usr/bin/python3 $programs/run.py" ],
	[ 'PDO', system(q{php -r 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);' 2>/dev/null}) == 0, 'true', "php $programs/run.php" ],
	[ 'JDBC', -e $jar, "javac -d $work -cp $jar $programs/Run.java", "java -cp $work:$jar Run" ],
	[ 'JDBC, stringtype=unspecified', -e $jar, 'true', "java -cp $work:$jar Run", 'unspecified' ],
	[ 'pgx', -d '/usr/share/gocode/src/github.com/jackc/pgx/v4',
		"cd $programs && GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$work/go go build -o $work/pgx ./pgx", "$work/pgx" ]);

my %texts = ("$folder/README.md" => 'README', map { ($_ => m{(\w+)\.md$}) } "$folder/docs/recipes.md", "$folder/docs/operations.md");
for my $path (sort keys %texts)
{
	my $name = lc $texts{$path};
	my $sql = join "\n", slurp_file($path) =~ /^```sql\n(.*?)^```/msg;
	my %seen;
	my @statements = map { [ @$_[ 0, 1 ], $_->[2] =~ s/--.*//gr =~ s/\s+/ /gr ] } grep { !$seen{ $_->[0] }++ }
	  map { [/PREPARE (\w+)\((.*?)\) AS(.*)/s] } $sql =~ /^(PREPARE \w+\(.*?\) AS.*?);/msg;
	next if !@statements;

	ask("CREATE DATABASE $name");
	psql_said("CREATE EXTENSION idgen; $sql", database => $name, on_error_stop => 0);
	is(errors(join("\n", map { "PREPARE without_types AS $_->[2]; DEALLOCATE without_types;" } @statements), database => $name), '',
		"$name: " . scalar(@statements) . ' statements are prepared without types');

	my ($file, $lines) = ("$work/$name", '');
	for (@statements)
	{
		my ($statement, $types, $body) = @$_;
		my @values = map { $_ eq 'uuid' && $body =~ /unmask/ ? $masked : $value{$_} // die "no value of type $_" } split /, */, $types;
		$lines .= join("\t", $statement, $types, join('|', @values), $body) . "\n";
	}
	PostgreSQL::Test::Utils::append_to_file($file, $lines);
	local @ENV{qw(PGHOST PGPORT PGDATABASE PGUSER)} = ('127.0.0.1', $node->port, $name, (getpwuid $<)[0]);
	for (@drivers)
	{
		my ($driver, $is_installed, $build, $command, @option) = @$_;
		SKIP:
		{
			skip "$driver is not installed", 1 if !$is_installed;
			my ($stdout, $stderr) = run_command([ 'sh', '-c', "($build) >&2 && $command \"\$@\"", 'sh', $file, @option ]);
			is_deeply([ split /\n/, $stdout ], [ map { "ok $_->[0]" } @statements ], "$name: $driver executes them") or diag($stderr);
		}
	}
}
done_testing();
