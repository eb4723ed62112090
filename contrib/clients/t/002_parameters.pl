# Verify that the statements with parameters in README.md, the recipes and masks.md work as drivers send them. Most
# drivers send parameters without types; Java drivers send types, and send text as varchar. The statements on each page
# are executed, and raise only the errors that the page announces. (sql/callable.sql calls every function without
# types.)

use Functions;
use Server;

my $node = Functions::add_key(init_server('drivers', 'idgen.node_id = 1'));
$node->start;
ask('CREATE ROLE janitor');

# JDBC sends these types. The types listed here have a Java class, jsonb is sent without a type, and all other types are
# sent as varchar.
my %of_java = ((map { $_ => $_ } qw(uuid bigint int numeric timestamptz)), jsonb => 'unknown');
sub types_of_java { return join ', ', map { $of_java{$_} // 'varchar' } split /, /, shift }
my $language = $node->pg_version >= 19 ? qr/(?:sql|text(?=\nPREPARE))/ : 'sql';
# Applications do not send these statements, or other tests paste them.
my $other = qr/^LOAD|CONCURRENTLY|\\g|pg_reload_conf|index_report|pg_walinspect|partman/m;

for my $path ('README.md', 'docs/recipes.md', 'docs/masks.md')
{
	my ($page) = lc($path) =~ m{(\w+)(?:/readme)?\.md};
	my $text = slurp_file($path);
	my $sql = join "\n", grep({ !/$other/ } $text =~ /^ *```$language\n(.*?)^ *```/msg),
		map { "$_;" } $text =~ /`((?:SELECT|INSERT|UPDATE|DELETE) [^`]*)`/g;
	my @announced = $sql =~ /-- error (\w{5})/g;
	my $prepared = $sql =~ s/ *--.*//gmr;
	my $number = $prepared =~ s{^PREPARE (\w+)\((.*?)\) AS\b([^;]*);}{
		sprintf 'PREPARE java(%s) AS%s; DEALLOCATE java; PREPARE %s AS%s;', types_of_java($2), $3, $1, $3}gme || 0;
	# Also prepare statements that the page shows without PREPARE.
	my $driver_statement = qr/(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b[^;]*\$1/;
	$prepared =~ s/(?:\A|;\s*?\n)\K(?=$driver_statement)/'PREPARE "' . ++$number . '" AS '/ge;

	ask("CREATE DATABASE $page");
	ask('CREATE EXTENSION idgen', $page) if $sql !~ /^CREATE EXTENSION idgen/m;
	my (undef, $errors) = psql_said($prepared, database => $page, on_error_stop => 0);
	is_deeply([ $errors =~ /ERROR:  (\w{5})/g ], \@announced, "$page: $number statements") or diag($errors);
}
done_testing();
