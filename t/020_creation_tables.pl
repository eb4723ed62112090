# Verify that recorded commands are read and written only through the executor. A distributed table, or a table with
# different columns or indexes, therefore works like the one that the extension creates. A partitioned table or a view
# is rejected, because dumps do not include its rows. A session with saved plans continues to work after the extension
# is dropped and re-created.

use Server;

my $node = start_server('tables');

my $table = 'idgen.creation_identifiers';
my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $row = 'e0000000-0000-4000-8000-00000000000a';
my $entity = "'$row'::uuid";
my $replay = "SELECT created FROM idgen.create_once_bigint($command, 1, '')";
ask('CREATE ROLE application LOGIN');

# --- Plans --------------------------------------------------------------------
# Return the answer of a call and the commands that it executes on the table, as reported by auto_explain.
sub executed
{
	my ($call) = @_;
	my ($answer, $notices) = psql_said("LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;
		SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice; $call");
	return join(' ', $answer, $notices =~ /^Query Text: (\w+) .*$table/mg);
}

is(executed($replay), 't SELECT INSERT', 'a first call executes SELECT and INSERT');
is(executed($replay), 'f SELECT', 'a replay executes SELECT only');
is(executed("BEGIN READ ONLY; $replay"), 'f SELECT', 'as in a read-only transaction');
is(executed("BEGIN ISOLATION LEVEL SERIALIZABLE; $replay"), 'f INSERT SELECT',
	'a serializable replay executes INSERT, then SELECT');

is(ask("
		TRUNCATE $table;
		INSERT INTO $table (command_id, command_name, entity_number, created_at) VALUES ($command, '', 1, '2001-01-01');
		SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity, '');
		SELECT idgen.purge_creations('24 hours'), idgen.trim_creations(1000);
		DROP EXTENSION idgen;
		CREATE EXTENSION idgen;
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', $entity, '');
		SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000d', idgen.uuid_v4(), '');
		SELECT idgen.purge_creations('24 hours'), idgen.trim_creations(0)"),
	"t\n1|0\n$row|t\n$row|f\n0|1", 'a session continues after the extension was dropped and created');

# --- Tables of other shapes ---------------------------------------------------
# These statements execute all operations on recorded commands. Their results are listed below. Of the 2,600 commands,
# 2,500 are old, which is more than one batch.
my $operations = qq{
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 1, 'order', '[1]');
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 2, 'order', '[1.0]');
	BEGIN READ ONLY;
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 3, 'order', '[1]');
	COMMIT;
	SELECT idgen.create_once_bigint($command, 4, 'invoice');
	SELECT command_name, entity_number FROM idgen.creation_identifiers WHERE command_id = $command;
	SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $command\::uuid, '');
	SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', idgen.uuid_v4(), '');
	SELECT idgen.forget_creation($command), idgen.forget_creation($command);
	SELECT idgen.forget_creation_of($command\::uuid), idgen.forget_creation_of($command\::uuid);
	SELECT count(*) FROM generate_series(1, 2600) i, idgen.create_once_bigint(md5(i::text)::uuid, i::bigint, '')
		WHERE created;
	SELECT count(*) FROM generate_series(1, 2600) i, idgen.create_once_bigint(md5(i::text)::uuid, 0::bigint, '')
		WHERE entity_number = i;
	SELECT sum(idgen.forget_creation_of_bigint(i, '')) FROM generate_series(1, 10) i;
	UPDATE $table SET created_at = created_at - (2600 - entity_number) * interval '1 minute'
		- CASE WHEN entity_number <= 2510 THEN interval '1 day' ELSE interval '0' END;
	SELECT idgen.purge_creations('1 day', batch_size => 1500);
	SELECT count(*), min(entity_number), max(entity_number) FROM $table;
	SELECT idgen.purge_creations('1 day', batch_size => 1500), idgen.purge_creations('1 day');
	SELECT idgen.trim_creations(80, 'another'), idgen.trim_creations(80), idgen.trim_creations(80, '');
	SELECT count(*), min(entity_number), max(entity_number) FROM $table;
	SELECT idgen.trim_creations(0)};
my $answers = join("\n", qw(1|t 1|f 1|f order|1
	  c0000000-0000-4000-8000-00000000000a|t c0000000-0000-4000-8000-00000000000a|f
	  t|f 1|0 2600 2600 10 1500 1090|1511|2600 1000|0 0|10|0 80|2521|2600 80));
my $columns = q{command_name text NOT NULL, entity_id uuid, entity_number bigint, entity_text text, request_hash bigint,
	created_at timestamptz NOT NULL DEFAULT now()};
my $like = "CREATE TABLE $table (LIKE idgen.made INCLUDING ALL)";
my $works = "$row|t\n$row|f";
my $known = "$row|f\n$row|f";

# Each case has a name, the expected results of a call and its retry, and the statements that create the table.
for my $case (
	[ 'as it was made', $works, 'ALTER TABLE idgen.made RENAME TO creation_identifiers' ],
	[ 'partitioned', '42809', "$like PARTITION BY HASH (command_id)",
		"CREATE TABLE idgen.part PARTITION OF $table FOR VALUES WITH (MODULUS 1, REMAINDER 0)" ],
	[ 'whose key includes more', $works, "CREATE TABLE $table (command_id uuid, $columns)",
		"ALTER TABLE $table ADD PRIMARY KEY (command_id) INCLUDE (entity_id, command_name)" ],
	[ 'with a unique index for a key', $works,
	"CREATE TABLE $table (serial bigserial PRIMARY KEY, $columns, command_id uuid)",
		"CREATE INDEX ON $table USING hash (command_id)", "CREATE UNIQUE INDEX ON $table (command_id)" ],
	[ 'behind a view', '42809', 'CREATE TABLE idgen.kept (LIKE idgen.made INCLUDING ALL)',
		"CREATE VIEW $table AS SELECT * FROM idgen.kept" ],
	[ 'with a child that has the row', $known, $like, "CREATE TABLE idgen.child () INHERITS ($table)",
		"INSERT INTO idgen.child (command_id, command_name, entity_id) VALUES ($command, '', $entity)" ],
	[ 'with a name that is null', $known, $like, "ALTER TABLE $table ALTER command_name DROP NOT NULL",
		"INSERT INTO $table (command_id, command_name, entity_id) VALUES ($command, NULL, $entity)" ],
	[ 'whose trigger changes the entity', "$row|t\n11111111-0000-4000-8000-000000000000|f", $like, q{
		CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			NEW.entity_id := '11111111-0000-4000-8000-000000000000'; RETURN NEW; END $$},
		"CREATE TRIGGER changes BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION changes()" ],
	[ 'with a number for the uuid', '42846', $like, "ALTER TABLE $table DROP entity_id, ADD entity_id bigint",
		"INSERT INTO $table (command_id, command_name, entity_id) VALUES ($command, '', 4711)" ],
	[ 'with a number for the name', '23514', $like, "ALTER TABLE $table DROP command_name, ADD command_name oid",
		"INSERT INTO $table (command_id, command_name, entity_id) VALUES ($command, 4711, $entity)" ])
{
	my ($what, $expected, @create) = @$case;
	ask('DROP DATABASE IF EXISTS other');
	ask('CREATE DATABASE other');
	ask(join(';', 'CREATE EXTENSION idgen', "ALTER TABLE $table RENAME TO made", @create), 'other');
	if ($expected eq $works)
	{
		my ($stdout, $stderr) = psql_said($operations, database => 'other', on_error_stop => 0);
		is($stdout, $answers, "all operations work on a table $what");
		is(join(' ', $stderr =~ /ERROR:  (.*)/g),
			'23514: command id "c0000000-0000-4000-8000-00000000000a" was already used for a different command',
			'and refuses another command');
	}

	my $again = "SELECT entity_id, created FROM idgen.create_once($command, $entity, '')";
	my $used = 'command_id, command_name, entity_id, entity_number, entity_text, request_hash';
	ask("GRANT SELECT ($used), INSERT ($used) ON $table TO application;
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA idgen TO application", 'other');
	is(outcome("$again; $again", database => 'other'), $expected, "a command on a table $what");
	is(outcome($again, database => 'other', user => 'application'),
		$expected =~ s/.*\n//r, "its repetition on a table $what, with column privileges");
}
done_testing();
