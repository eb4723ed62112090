# The owner replaces the table of recorded commands by one of another shape, or the
# extension by a new one, while a session has saved plans.

use Server;

my $node = start_server('replaced');
my $superuser = ask('CREATE ROLE application LOGIN; SELECT current_user');

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my $table = 'idgen.creation_identifiers';

sub as { return outcome($_[1], user => $_[0]) }

ask("INSERT INTO $table (command_id, entity_number, created_at) VALUES ('c0000000-0000-4000-8000-00000000000b', 1, '2001-01-01')");

# The extension is dropped and created in a session that has saved plans.
is( as($superuser, "
		SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity);
		SELECT idgen.purge_creations(), idgen.trim_creations(1000);
		DROP EXTENSION idgen;
		CREATE EXTENSION idgen;
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity);
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', idgen.uuid_v4());
		SELECT idgen.purge_creations(), idgen.trim_creations(0)"),
	"t\n1|0\n"
	  . "e0000000-0000-4000-8000-00000000000a|t\n"
	  . "e0000000-0000-4000-8000-00000000000a|f\n0|1",
	'a session continues after the extension was dropped and created');

# A superuser may replace the table by one of another shape.
as($superuser, "
	ALTER EXTENSION idgen DROP TABLE $table;
	ALTER TABLE $table RENAME TO made;
	CREATE TABLE idgen.template (LIKE idgen.made INCLUDING DEFAULTS INCLUDING CONSTRAINTS)");

my $replay = "SELECT entity_id, created FROM idgen.create_once($command, $entity)";
my $row = "e0000000-0000-4000-8000-00000000000a";
my $columns = 'command_id, command_name, entity_id, entity_number, request_hash';
for my $case (
	[ 'partitioned', "$row|t\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id)) PARTITION BY HASH (command_id);
		CREATE TABLE idgen.part PARTITION OF $table FOR VALUES WITH (MODULUS 1, REMAINDER 0)" ],
	[ 'with a child that has the row', "$row|f\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id));
		CREATE TABLE idgen.child () INHERITS ($table);
		INSERT INTO idgen.child (command_id, entity_id) VALUES ($command, $entity)" ],
	[ 'in another order', "$row|t\n$row|f", "
		CREATE TABLE $table (created_at timestamptz DEFAULT now(), request_hash bigint, entity_number bigint,
			entity_id uuid, command_name text, command_id uuid PRIMARY KEY)" ],
	[ 'with another primary key', "$row|t\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, UNIQUE (command_id), id serial PRIMARY KEY)" ],
	[ 'with a name that is null', "$row|f\n$row|f", "
		CREATE TABLE $table (LIKE idgen.template INCLUDING ALL, PRIMARY KEY (command_id));
		ALTER TABLE $table ALTER command_name DROP NOT NULL;
		INSERT INTO $table (command_id, command_name, entity_id) VALUES ($command, NULL, $entity)" ],
	[ 'with a number for the uuid', '42846', "
		CREATE TABLE $table (command_id uuid PRIMARY KEY, command_name text, entity_id bigint, entity_number bigint, request_hash bigint);
		INSERT INTO $table VALUES ($command, '', 4711)" ],
	[ 'with a number for the name', '23514', "
		CREATE TABLE $table (command_id uuid PRIMARY KEY, command_name oid, entity_id uuid, entity_number bigint, request_hash bigint);
		INSERT INTO $table VALUES ($command, 4711, $entity)" ])
{
	my ($what, $expected, $create) = @$case;

	as($superuser, "DROP TABLE IF EXISTS $table CASCADE; $create;
		GRANT SELECT ($columns), INSERT ON $table TO application;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA idgen TO application");
	is(as($superuser, "$replay; $replay"), $expected, "replaced table, $what");
	is(as('application', $replay), $expected =~ s/.*\n//r, "replaced table, $what, with column privileges");
}

done_testing();
