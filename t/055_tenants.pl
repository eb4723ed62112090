# Verify that tenants can share the table of recorded commands through the function shown in docs/security.md. No tenant
# receives the answer to another tenant's command, blocks its id, or learns its name. This is also true after a restore,
# which loses policies and everything else that was added to the table.

use Page;
use Server;

my $node = start_server('tenants');
ask("CREATE ROLE $_ LOGIN") for qw(application tenant_1 tenant_2);
ask($_) for 'GRANT SELECT, INSERT ON idgen.creation_identifiers TO application', Page->new('security')->blocks(
	'Commands of several tenants');

sub as { my ($role, $database, $sql) = @_; return outcome($sql, user => $role, database => $database) }

# Add a policy, a trigger, an index and a publication to the table.
ask(q{
	SELECT idgen.create_once_bigint(md5(n::text)::uuid, n, 'order') FROM generate_series(1, 3) n;
	ALTER TABLE idgen.creation_identifiers ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own_rows ON idgen.creation_identifiers USING (command_name = current_user);
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER added BEFORE INSERT ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION nothing();
	CREATE INDEX added ON idgen.creation_identifiers (command_name);
	CREATE PUBLICATION commands FOR TABLE idgen.creation_identifiers});
my $added = q{SELECT concat_ws(' ',
	(SELECT relrowsecurity FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass),
	EXISTS (SELECT FROM pg_policy), EXISTS (SELECT FROM pg_trigger WHERE tgname = 'added'),
	to_regclass('idgen.added') IS NOT NULL, EXISTS (SELECT FROM pg_publication_tables))};
is(ask($added), 't t t t t', 'the table has additions');
my $count = 'SELECT count(*) FROM idgen.creation_identifiers';
is(as('application', 'postgres', $count), '0', 'a policy hides rows');

my @commands = map { ask('SELECT idgen.uuid_v7()') } 0 .. 2;

# Return a tenant's call with this command, for the tenant's own entity.
sub create
{
	my ($command, $entity, $name) = @_;
	return "SELECT * FROM create_for_tenant('$commands[$command]',
		'e0000000-0000-4000-8000-00000000000$entity', '@{[$name // 'order']}', '{}')";
}
sub entity { my ($number, $created) = @_; return "e0000000-0000-4000-8000-00000000000$number|$created" }

is(as('tenant_1', 'postgres', create(1, 1)), '42501', 'the policy stops the function, too');
ask('CREATE POLICY function ON idgen.creation_identifiers TO commands USING (true)');
is(as('tenant_1', 'postgres', create(1, 1)), entity(1, 't'), 'a tenant creates an entity');
is(as('tenant_2', 'postgres', create(2, 2)), entity(2, 't'), 'another one uses an id first');
my $late = ask(q{SELECT idgen.uuid_v7(now() - interval '25 hours')});
is(as('tenant_1', 'postgres', create(1, 1) =~ s/$commands[1]/$_/r), '23514', "not accepted: the command id $_")
  for $late, 'c0000000-0000-4000-8000-000000000001';

for my $database ('postgres', 'plain', 'custom')
{
	if ($database ne 'postgres')
	{
		dump_and_restore($database, 'postgres', $database);
		# As docs/backup.md warns, the additions are lost. Before PostgreSQL 18, the table's membership in publications
		# is lost, too.
		is(ask($added, $database), 'f f f f ' . (ask('SHOW server_version_num') >= 180000 ? 't' : 'f'),
			"$database: the additions to the table are lost");
		is(as('application', $database, $count), '5', "$database: a role with rights reads what the policy hid");
	}
	my $undo = sub { return "BEGIN; $_[0]; ROLLBACK" };
	is(as('tenant_1', $database, create(1, 3)), entity(1, 'f'), "$database: a tenant gets the answer to its command");
	is(as('tenant_1', $database, create(1, 3, 'other')), '23514', "$database: under the recorded name only");
	is(as('tenant_2', $database, $undo->(create(1, 3))), entity(3, 't'), "$database: another tenant does not get it");
	is(as('tenant_2', $database, $undo->(create(1, 3, 'other'))), entity(3, 't'), "$database: ... nor its name");
	is(as('tenant_1', $database, $undo->(create(2, 3))), entity(3, 't'), "$database: nor takes the id from the other");
	is(as($_, $database, 'SELECT FROM idgen.creation_identifiers'), '42501', "$database: $_ cannot read the table")
	  for 'tenant_1', 'tenant_2';
	is(as('application', $database, create(1, 3)), '42501', "$database: another role cannot call the function");
}

done_testing();
