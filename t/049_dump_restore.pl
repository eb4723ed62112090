# pg_dump and restore keep the recorded commands, and the rights on them, but not
# what was added to the table. Therefore tenants are separated by a function, whose
# SQL is that of docs/security.md. (Keys in use, and retries after a restore:
# 050_update.pl; rights of the roles that dump and restore: 042_restore.pl.)

use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use Server;

my $node = start_server('dumped');

# Two tenants, of which neither sees the other's commands
ask(q{
	CREATE ROLE application LOGIN;
	CREATE ROLE auditor;
	CREATE ROLE tenant_1 LOGIN;
	CREATE ROLE tenant_2 LOGIN;
	CREATE DATABASE source});
$node->safe_psql('source', $_) for q{
	CREATE EXTENSION idgen;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO application;
	GRANT SELECT (command_id, created_at) ON idgen.creation_identifiers TO auditor;
	SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', 'e0000000-0000-4000-8000-00000000000a'::uuid, 'order', '{"customer": 7}');
	SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 42, 'invoice');
	SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000c', 'e0000000-0000-4000-8000-00000000000c'::uuid)},
  Page->new('security')->blocks('Commands of several tenants');

# What was added to the table, and is not dumped
$node->safe_psql('source', q{
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
my $count = 'SELECT count(*) FROM idgen.creation_identifiers';
is(outcome($count, user => 'application', database => 'source'), '0', 'a policy hides rows');

# The call of a tenant, with an entity of its own
sub create { return "SELECT * FROM create_for_tenant('c0000000-0000-4000-8000-0000000000aa', 'e0000000-0000-4000-8000-00000000000$_[0]', 'order', '{}')" }

sub check_tenants
{
	my ($database, $when) = @_;
	my $gets = sub { my ($role, $query) = @_; return outcome($query // create(2), user => $role, database => $database) };

	is($gets->('tenant_1'), 'e0000000-0000-4000-8000-000000000001|f', "$when: a tenant gets the answer to its command");
	is($gets->('tenant_2'), '23514', "$when: another tenant does not");
	is($gets->($_, 'SELECT FROM idgen.creation_identifiers'), '42501', "$when: $_ cannot read the table") for 'tenant_1', 'tenant_2';
	is($gets->('application'), '42501', "$when: another role cannot call the function");
}
is(outcome(create(1), user => 'tenant_1', database => 'source'), '42501', 'the policy stops the function, too');
$node->safe_psql('source', 'CREATE POLICY function ON idgen.creation_identifiers TO commands USING (true)');
is(outcome(create(1), user => 'tenant_1', database => 'source'),
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

like($rows_before, qr/^c0.*a\|order\|e0.*a\|\|-?\d+\|.*\nc0.*b\|invoice\|\|42\|\|.*\nc0.*c\|\|e0.*c\|\|\|[^\n]*\nc0.*aa\|order\|e0.*1\|\|[^\n]*$/,
	'the commands are recorded');
is( $grants_before,
	"application|INSERT\napplication|SELECT\nauditor|command_id SELECT\nauditor|created_at SELECT\ncommands|INSERT\ncommands|SELECT",
	'three roles have rights on them');

for my $format ('plain', 'custom')
{
	my $database = "restored_$format";

	dump_and_restore($format, 'source', $database);
	is($node->safe_psql($database, $rows), $rows_before, "$format: the commands are restored");
	is($node->safe_psql($database, $grants), $grants_before, "$format: the grants are restored");

	# as docs/security.md and docs/operations.md warn; PostgreSQL 18 dumps publications of such tables
	is($node->safe_psql($database, $added), join("\n", ('f') x 6, ask('SHOW server_version_num') >= 180000 ? 't' : 'f'), "$format: the additions to the table are lost");
	is(outcome($count, user => 'application', database => $database), '4', "$format: a role with rights reads the rows that the policy hid");
	check_tenants($database, $format);
}

done_testing();
