# Recorded commands are read and written through the executor only, so that a table
# of another shape, or a distributed table, works as well as the one that the
# extension creates.

use Server;

my $node = start_server('tables');

my $table = 'idgen.creation_identifiers';
my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $replay = "SELECT created FROM idgen.create_once_bigint($command, 1)";

# The plans that a call executes, as auto_explain reports them
sub executed
{
	my ($call) = @_;
	my ($answer, $notices);

	$node->psql(
		'postgres', qq{
		LOAD 'auto_explain';
		SET auto_explain.log_min_duration = 0;
		SET auto_explain.log_nested_statements = on;
		SET auto_explain.log_level = notice;
		$call},
		stdout => \$answer,
		stderr => \$notices);
	return join("\n", $answer, $notices =~ /^Query Text: (\w+) .*$table/mg);
}

is(executed($replay), "t\nSELECT\nINSERT", 'a first call executes SELECT and INSERT');
is(executed($replay), "f\nSELECT", 'a replay executes SELECT only');
is(executed("BEGIN READ ONLY; $replay"), "f\nSELECT", 'a replay in a read-only transaction executes SELECT only');
is(executed("BEGIN ISOLATION LEVEL SERIALIZABLE; $replay"), "f\nINSERT\nSELECT", 'a serializable replay executes INSERT, then SELECT');

# Every operation on recorded commands, and its result. Of 2600 commands, 2500 are
# old, which is more than one batch.
my $story = qq{
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 1, 'order', '[1]');
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 2, 'order', '[1.0]');
	BEGIN READ ONLY;
	SELECT entity_number, created FROM idgen.create_once_bigint($command, 3, 'order', '[1]');
	COMMIT;
	SELECT idgen.create_once_bigint($command, 4, 'invoice');
	SELECT command_name, entity_number FROM idgen.find_creation($command);
	SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $command\::uuid);
	SELECT entity_id, created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', idgen.uuid_v4());
	SELECT idgen.forget_creation($command), idgen.forget_creation($command);
	SELECT idgen.forget_creation_of($command\::uuid), idgen.forget_creation_of($command\::uuid);
	SELECT count(*) FROM generate_series(1, 2600) i, idgen.create_once_bigint(md5(i::text)::uuid, i::bigint) WHERE created;
	SELECT count(*) FROM generate_series(1, 2600) i, idgen.create_once_bigint(md5(i::text)::uuid, 0::bigint) WHERE entity_number = i;
	SELECT sum(idgen.forget_creation_of_bigint(i)) FROM generate_series(1, 10) i;
	UPDATE $table SET created_at = created_at - (2600 - entity_number) * interval '1 minute'
		- CASE WHEN entity_number <= 2510 THEN interval '1 day' ELSE interval '0' END;
	SELECT idgen.purge_creations('1 day', 1500);
	SELECT count(*), min(entity_number), max(entity_number) FROM $table;
	SELECT idgen.purge_creations('1 day', 1500), idgen.purge_creations('1 day');
	SELECT idgen.trim_creations(80, 'another'), idgen.trim_creations(80), idgen.trim_creations(80, '');
	SELECT count(*), min(entity_number), max(entity_number) FROM $table;
	SELECT idgen.trim_creations(0)};
my $answers = q{1|t
1|f
1|f
order|1
c0000000-0000-4000-8000-00000000000a|t
c0000000-0000-4000-8000-00000000000a|f
t|f
1|0
2600
2600
10
1500
1090|1511|2600
1000|0
0|10|0
80|2521|2600
80};
my $columns = q{command_name text NOT NULL, entity_id uuid, entity_number bigint, request_hash bigint,
	created_at timestamptz NOT NULL DEFAULT now()};

for my $case (
	[ 'as it was made', "ALTER TABLE idgen.made RENAME TO creation_identifiers" ],
	[ 'partitioned', "CREATE TABLE $table (LIKE idgen.made INCLUDING ALL) PARTITION BY HASH (command_id)",
		map { "CREATE TABLE idgen.part_$_ PARTITION OF $table FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 ],
	[ 'with nothing but a key', "CREATE TABLE $table (command_id uuid PRIMARY KEY, $columns)" ],
	[ 'whose key includes more', "CREATE TABLE $table (command_id uuid, $columns, PRIMARY KEY (command_id) INCLUDE (entity_id, command_name))" ],
	[ 'with a unique index for a key', "CREATE TABLE $table (serial bigserial PRIMARY KEY, $columns, command_id uuid)",
		"CREATE INDEX ON $table USING hash (command_id)", "CREATE UNIQUE INDEX ON $table (command_id)" ],
	[ 'behind a view', "CREATE TABLE idgen.kept (LIKE idgen.made INCLUDING ALL)", "CREATE VIEW $table AS SELECT * FROM idgen.kept" ])
{
	my ($what, @create) = @$case;
	my ($stdout, $stderr);

	ask('DROP DATABASE IF EXISTS other');
	ask('CREATE DATABASE other');
	$node->safe_psql('other', join(';', 'CREATE EXTENSION idgen', "ALTER TABLE $table RENAME TO made", @create));
	$node->psql('other', $story, stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	is($stdout, $answers, "all operations work on a table $what");
	is(join('|', $stderr =~ /ERROR:  (.*)/g),
		'command id "c0000000-0000-4000-8000-00000000000a" was already used for a different command', 'and refuses another command');
}

# A unique violation of another index is the owner's matter. Under row-level security,
# it cannot be told from one of REINDEX CONCURRENTLY (specs/create_once_reindex.spec).
ask("TRUNCATE $table; CREATE UNIQUE INDEX other ON $table (command_name);
	CREATE ROLE application; GRANT SELECT, INSERT ON $table TO application; CREATE POLICY anything ON $table USING (true);
	SELECT idgen.create_once_bigint(idgen.uuid_v4(), 1, 'one')");
for my $case ([ 'DISABLE', qr/ERROR:  23505: .*CONSTRAINT NAME:  other/s ], [ 'ENABLE', qr/ERROR:  40001: could not record command id .*"other"\./s ])
{
	like(errors("ALTER TABLE $table $case->[0] ROW LEVEL SECURITY; SET ROLE application; SELECT idgen.create_once_bigint($command, 2, 'one')"),
		$case->[1], "row-level security $case->[0]D: a unique violation of another index");
}
ask("DROP INDEX idgen.other; ALTER TABLE $table DISABLE ROW LEVEL SECURITY; TRUNCATE $table");

# A row without an entity, which the table's constraint prevents
ask("ALTER TABLE $table DROP CONSTRAINT creation_identifiers_one_entity; INSERT INTO $table (command_id) VALUES ($command)");
is(outcome($replay), 'XX001', 'a row without an entity is an error');

done_testing();
