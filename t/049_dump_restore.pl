# pg_dump and restore keep the recorded commands, and the rights on them.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dumped');
$node->init;
$node->start;

my $request = q{'{"customer": 7, "lines": [1, 2.50]}'};

$node->safe_psql('postgres', 'CREATE ROLE application; CREATE ROLE auditor; CREATE DATABASE source');
$node->safe_psql(
	'source', qq{
	CREATE EXTENSION idgen;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO application;
	GRANT SELECT (command_id, created_at) ON idgen.creation_identifiers TO auditor;

	CREATE TABLE orders (
		id uuid PRIMARY KEY DEFAULT idgen.short_comb(run_length => 64),
		event uuid NOT NULL DEFAULT idgen.uuid_v7(),
		document text COLLATE "C" UNIQUE DEFAULT idgen.object_id(),
		CHECK (idgen.uuid_version(event) = 7));
	CREATE TRIGGER orders_id BEFORE INSERT ON orders
		FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb', '10 minutes');
	INSERT INTO orders DEFAULT VALUES;

	SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', 'e0000000-0000-4000-8000-00000000000a'::uuid, 'order', $request);
	SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 42, 'invoice');
	SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000c', 'e0000000-0000-4000-8000-00000000000c'::uuid)});

# All commands, in a fixed order and with timestamps in a fixed form
my $rows = q{
	SET timezone = 'UTC';
	SELECT * FROM idgen.creation_identifiers ORDER BY command_id};
my $grants = q{
	SELECT grantee, privilege_type FROM information_schema.role_table_grants
		WHERE table_schema = 'idgen' AND grantee <> 'postgres' AND grantee NOT IN (current_user, 'PUBLIC')
	UNION ALL
	SELECT grantee, column_name || ' ' || privilege_type FROM information_schema.role_column_grants
		WHERE table_schema = 'idgen' AND grantee = 'auditor'
	ORDER BY 1, 2};
my $rows_before = $node->safe_psql('source', $rows);
my $grants_before = $node->safe_psql('source', $grants);
my $orders_before = $node->safe_psql('source', 'SELECT * FROM orders');

like($rows_before, qr/^c0.*a\|order\|e0.*a\|\|-?\d+\|.*\nc0.*b\|invoice\|\|42\|\|.*\nc0.*c\|\|e0.*c\|\|\|[^\n]*$/,
	'three commands are recorded');
is( $grants_before,
	"application|INSERT\napplication|SELECT\nauditor|command_id SELECT\nauditor|created_at SELECT",
	'two roles have rights on them');

sub sqlstate_of
{
	my ($database, $query) = @_;
	my $errors;

	$node->psql($database, $query,
		stderr => \$errors, extra_params => [ '--set=VERBOSITY=sqlstate' ]);
	return $errors =~ /ERROR:  (\w{5})$/ ? $1 : "no error: $errors";
}

my $backup = $node->backup_dir;
mkdir $backup;

for my $format ('plain', 'custom')
{
	my $database = "restored_$format";
	my $file = "$backup/$format.dump";

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->command_ok([ 'pg_dump', "--format=$format", '--file', $file, $node->connstr('source') ],
		"$format: dumped");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--output=/dev/null', '--file', $file, $node->connstr($database) ]
		: [ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr($database), $file ],
		"$format: restored");

	is($node->safe_psql($database, $rows), $rows_before, "$format: the commands are restored");
	is($node->safe_psql($database, $grants), $grants_before, "$format: the grants are restored");
	is($node->safe_psql($database, 'SELECT * FROM orders'), $orders_before, "$format: the orders are restored");

	# a retry whose request has another text form
	is( $node->safe_psql($database,
			q{SET ROLE application;
			  SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v7(), 'order',
				'{"lines": [1.0, 2.5], "customer": 7}')}),
		'e0000000-0000-4000-8000-00000000000a|f',
		"$format: a retry returns the recorded uuid");
	is( $node->safe_psql($database,
			q{SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 43, 'invoice')}),
		'42|f', "$format: a retry returns the recorded number");
	is( sqlstate_of($database,
			q{SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v7(), 'order', '{"customer": 8}')}),
		'23505', "$format: another request is an error");

	is( $node->safe_psql($database,
			q{INSERT INTO orders DEFAULT VALUES RETURNING idgen.is_recent_short_comb(id), idgen.is_recent_uuid_v7(event), document IS NOT NULL}),
		't|t|t', "$format: the defaults work");
	is( sqlstate_of($database,
			q{INSERT INTO orders (id) VALUES (idgen.short_comb(clock => now() - interval '11 minutes'))}),
		'23514', "$format: the trigger works");
}

# --clean drops and creates all objects, including the extension and its rows.
$node->safe_psql('restored_custom', 'TRUNCATE idgen.creation_identifiers');
$node->command_ok(
	[ 'pg_restore', '--clean', '--if-exists', '--exit-on-error', '--dbname', $node->connstr('restored_custom'), "$backup/custom.dump" ],
	'restored over the same database');
is($node->safe_psql('restored_custom', $rows), $rows_before, 'the commands are restored with --clean');

$node->stop;
done_testing();
