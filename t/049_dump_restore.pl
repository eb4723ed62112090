# pg_dump and restore keep the recorded commands, and the rights on them, but not
# what was added to the table. Therefore tenants are separated by a function, whose
# SQL is that of docs/security.md.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dumped');
$node->init;
$node->start;

my $request = q{'{"customer": 7, "lines": [1, 2.50]}'};

$node->safe_psql('postgres', 'CREATE ROLE application LOGIN; CREATE ROLE auditor; CREATE DATABASE source');
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

# Two tenants, of which neither sees the other's commands
$node->safe_psql('postgres', 'CREATE ROLE tenant_1 LOGIN; CREATE ROLE tenant_2 LOGIN');
$node->safe_psql('source', $_) for Page->new('security')->blocks('Commands of several tenants');

# What was added to the table, and is not dumped
$node->safe_psql(
	'source', q{
	ALTER TABLE idgen.creation_identifiers ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own_rows ON idgen.creation_identifiers USING (command_name = current_user);
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER added BEFORE INSERT ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION nothing();
	CREATE INDEX added ON idgen.creation_identifiers (command_name);
	ALTER TABLE idgen.creation_identifiers ADD CONSTRAINT added CHECK (command_name <> 'x');
	ALTER TABLE idgen.creation_identifiers SET (fillfactor = 55);
	CREATE PUBLICATION commands FOR TABLE idgen.creation_identifiers});
my $added = q{
	SELECT relrowsecurity FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass
	UNION ALL SELECT EXISTS (SELECT FROM pg_policy)
	UNION ALL SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'added')
	UNION ALL SELECT to_regclass('idgen.added') IS NOT NULL
	UNION ALL SELECT EXISTS (SELECT FROM pg_constraint WHERE conname = 'added')
	UNION ALL SELECT EXISTS (SELECT FROM pg_class WHERE 'fillfactor=55' = ANY (reloptions))
	UNION ALL SELECT EXISTS (SELECT FROM pg_publication_tables)};
is($node->safe_psql('source', $added), join("\n", ('t') x 7), 'the table has additions');
is(visible('source', 'application'), '0', 'a policy hides rows');

# The number of rows that a role with rights reads
sub visible
{
	my ($database, $role) = @_;

	return $node->safe_psql($database, "SET ROLE $role; SELECT count(*) FROM idgen.creation_identifiers");
}

# What a tenant gets for a command, or the SQLSTATE
sub as_tenant
{
	my ($database, $tenant, $call) = @_;

	$node->psql($database, $call,
		stdout => \my $rows,
		stderr => \my $errors,
		extra_params => [ '--set=VERBOSITY=sqlstate', '--username', $tenant ]);
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows;
}

sub check_tenants
{
	my ($database, $when) = @_;
	my $call = sub { "SELECT * FROM create_for_tenant('c0000000-0000-4000-8000-0000000000aa', 'e0000000-0000-4000-8000-0000000000$_[0]', 'order', '{}')" };

	is(as_tenant($database, 'tenant_1', $call->('02')), 'e0000000-0000-4000-8000-000000000001|f', "$when: a tenant gets the answer to its command");
	is(as_tenant($database, 'tenant_2', $call->('02')), '23514', "$when: another tenant does not");
	is(as_tenant($database, $_, 'SELECT FROM idgen.creation_identifiers'), '42501', "$when: $_ cannot read the table") for 'tenant_1', 'tenant_2';
	is(as_tenant($database, 'application', $call->('02')), '42501', "$when: another role cannot call the function");
}
is(as_tenant('source', 'tenant_1', q{SELECT * FROM create_for_tenant('c0000000-0000-4000-8000-0000000000aa', 'e0000000-0000-4000-8000-000000000001', 'order', '{}')}),
	'42501', 'the policy stops the function, too');
$node->safe_psql('source', 'CREATE POLICY function ON idgen.creation_identifiers TO commands USING (true)');
is(as_tenant('source', 'tenant_1', q{SELECT * FROM create_for_tenant('c0000000-0000-4000-8000-0000000000aa', 'e0000000-0000-4000-8000-000000000001', 'order', '{}')}),
	'e0000000-0000-4000-8000-000000000001|t', 'a tenant creates an entity');
check_tenants('source', 'before');

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

like($rows_before, qr/^c0.*a\|order\|e0.*a\|\|-?\d+\|.*\nc0.*b\|invoice\|\|42\|\|.*\nc0.*c\|\|e0.*c\|\|\|[^\n]*\nc0.*aa\|order\|e0.*1\|\|[^\n]*$/,
	'the commands are recorded');
is( $grants_before,
	"application|INSERT\napplication|SELECT\nauditor|command_id SELECT\nauditor|created_at SELECT\ncommands|INSERT\ncommands|SELECT",
	'three roles have rights on them');

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

	# as docs/security.md and docs/operations.md warn
	is($node->safe_psql($database, $added), join("\n", ('f') x 7), "$format: the additions to the table are lost");
	is(visible($database, 'application'), '4', "$format: a role with rights reads the rows that the policy hid");
	check_tenants($database, $format);

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
		'23514', "$format: another request is an error");

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
