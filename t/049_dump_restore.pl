# pg_dump and restore keep the recorded commands and the rights on them (042_restore.pl),
# but not what was added to the table. Therefore tenants are separated by a function, whose
# SQL is that of docs/security.md. (Keys in use, and retries after a restore: 050_update.pl.)

use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use Server;

my $node = start_server('dumped');

# Two tenants, of which neither sees the other's commands
ask(q{
	CREATE ROLE application LOGIN;
	CREATE ROLE tenant_1 LOGIN;
	CREATE ROLE tenant_2 LOGIN;
	CREATE DATABASE source});
$node->safe_psql('source', $_) for q{
	CREATE EXTENSION idgen;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO application;
	SELECT idgen.create_once_bigint(md5(n::text)::uuid, n) FROM generate_series(1, 3) n},
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

for my $format ('plain', 'custom')
{
	my $database = "restored_$format";

	dump_and_restore($format, 'source', $database);
	# as docs/security.md and docs/operations.md warn; PostgreSQL 18 dumps publications of such tables
	is(ask($added, $database), join("\n", ('f') x 6, ask('SHOW server_version_num') >= 180000 ? 't' : 'f'), "$format: the additions to the table are lost");
	is(outcome($count, user => 'application', database => $database), '4', "$format: a role with rights reads the rows that the policy hid");
	check_tenants($database, $format);
}

done_testing();
