# tools/rekey.sql: what plan() refuses, with its name, and what is carried.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use Rekey;
use Server;

my $node = start_server('rekey_cases', "max_connections = 40\nwal_level = logical");
my $version = ask('SHOW server_version_num');
my $uuid = q{'uuid', 'gen_random_uuid()', 'gen_random_uuid()'};
my $tables = q{
	CREATE TABLE p (id bigserial PRIMARY KEY, note text, created_at timestamptz DEFAULT now());
	CREATE TABLE c (id bigserial PRIMARY KEY, p_id bigint NOT NULL CONSTRAINT fk REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE, s text);
	INSERT INTO p SELECT FROM generate_series(1, 100);
	INSERT INTO c (p_id, s) SELECT id, 'x' FROM p;};

ask(q{CREATE ROLE app; CREATE ROLE owner; CREATE ROLE other});
Rekey::install($node, 'postgres');
ask('GRANT ALL ON SCHEMA rekey TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rekey TO owner');

# --- Refused -----------------------------------------------------------------

# Plan the change of table p, with two tables, and statements before; the detail must match.
sub refused
{
	my ($name, $sql, $detail, $arguments) = @_;
	$arguments //= $uuid;
	my $errors = errors("BEGIN; CREATE SCHEMA work; SET search_path = work; $tables $sql; SELECT count(*) FROM rekey.plan('p', $arguments); ROLLBACK");

	like($errors, $detail, "refused: $name");
}

my @refused = (
	[ 'deferrable foreign key', 'ALTER TABLE c ALTER CONSTRAINT fk DEFERRABLE', qr/deferrable foreign key: work\.c: fk/ ],
	[ 'foreign key that is not valid', 'ALTER TABLE c DROP CONSTRAINT fk, ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES p NOT VALID', qr/not valid \(VALIDATE CONSTRAINT\): work\.c: fk/ ],
	[ 'SET DEFAULT', 'ALTER TABLE c ADD q bigint CONSTRAINT q REFERENCES p ON DELETE SET DEFAULT', qr/SET DEFAULT, or with columns to set: work\.c: q/ ],
	[ 'SET NULL of columns', 'ALTER TABLE c ADD q bigint, ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES p ON DELETE SET NULL (q)', qr/SET DEFAULT, or with columns to set: work\.c: q/ ],
	[ 'foreign key of several columns', 'ALTER TABLE p ADD UNIQUE (id, note); ALTER TABLE c ADD CONSTRAINT q FOREIGN KEY (p_id, s) REFERENCES p (id, note) NOT VALID', qr/foreign key that is not in the plan: work\.c: q/ ],
	[ 'reference to a referring column', 'ALTER TABLE c ADD UNIQUE (p_id); CREATE TABLE d (p_id bigint CONSTRAINT d REFERENCES c (p_id))', qr/dependent object: constraint d on table work\.d/ ],
	[ 'column that refers to two tables', 'CREATE TABLE d (id bigint PRIMARY KEY); ALTER TABLE c ADD CONSTRAINT d FOREIGN KEY (p_id) REFERENCES d NOT VALID', qr/dependent object: constraint d on table work\.c/ ],
	[ 'key that is a foreign key', 'CREATE TABLE d (id bigint PRIMARY KEY); ALTER TABLE p ADD CONSTRAINT d FOREIGN KEY (id) REFERENCES d NOT VALID', qr/the key is itself a foreign key: work\.p: d/ ],
	[ 'published table', 'CREATE PUBLICATION pub FOR TABLE c', qr/publication .*: work\.c: pub/ ],
	[ 'forced row-level security', 'ALTER TABLE p FORCE ROW LEVEL SECURITY', qr/row-level security is forced: work\.p/ ],
	[ 'replica identity by an index', 'ALTER TABLE c REPLICA IDENTITY USING INDEX c_pkey', qr/replica identity by an index: work\.c/ ],
	[ 'trigger that sorts last', q{CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER "~z" BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION f()},
		qr/trigger that fires after "~rekey": work\.c: ~z/ ],
	[ 'trigger for each updated row', q{CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER t AFTER UPDATE ON c FOR EACH ROW EXECUTE FUNCTION f()},
		qr/trigger that fires for each row \(--fire-triggers, or --replica-role\): work\.c: t/ ],
	[ 'trigger with a condition on the column', q{CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER t BEFORE UPDATE OF s ON c FOR EACH ROW WHEN (NEW.p_id > 5) EXECUTE FUNCTION f()}, qr/dependent object: trigger t on table work\.c/ ],
	[ 'inheritance', 'CREATE TABLE d () INHERITS (p)', qr/inheritance: work\.p/ ],
	[ 'partitions', 'CREATE TABLE d (p_id bigint REFERENCES p) PARTITION BY LIST (p_id); CREATE TABLE d1 PARTITION OF d DEFAULT', qr/not an ordinary table: work\.d/ ],
	[ 'index with an expression', 'CREATE INDEX i ON c ((p_id + 1))', qr/index with an expression or a predicate of the column: work\.i/ ],
	[ 'index with a predicate', 'CREATE INDEX i ON c (s) WHERE p_id > 5', qr/index with an expression or a predicate of the column: work\.i/ ],
	[ 'operator class', 'CREATE OPERATOR CLASS o FOR TYPE bigint USING btree AS OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >, FUNCTION 1 btint8cmp(bigint, bigint); CREATE INDEX i ON c (p_id o)',
		qr/operator class or parameters of its own: work\.i/ ],
	[ 'deferrable unique constraint', 'ALTER TABLE c ADD CONSTRAINT u UNIQUE (p_id) DEFERRABLE', qr/deferrable unique constraint: work\.u/ ],
	[ 'exclusion constraint', 'ALTER TABLE c ADD CONSTRAINT x EXCLUDE USING btree (p_id WITH =)', qr/exclusion constraint: work\.x/ ],
	[ 'generated column', 'ALTER TABLE c ADD g bigint GENERATED ALWAYS AS (p_id + 1) STORED', qr/dependent object: .*column g of table work\.c/ ],
	[ 'check constraint', 'ALTER TABLE c ADD q bigint, ADD CONSTRAINT k CHECK (p_id <> q)', qr/dependent object: constraint k on table work\.c/ ],
	[ 'statistics object', 'CREATE STATISTICS st ON p_id, s FROM c', qr/dependent object: statistics object work\.st/ ],
	[ 'view', 'CREATE VIEW v AS SELECT id FROM p', qr/dependent object: rule _RETURN on view work\.v/ ],
	[ 'view of rows', 'CREATE VIEW v AS SELECT p FROM p', qr/dependent object: rule _RETURN on view work\.v/ ],
	[ 'rule', 'CREATE RULE r AS ON DELETE TO p DO NOTHING', qr/rule: work\.p: r/ ],
	[ 'policy', 'CREATE POLICY y ON c USING (p_id > 1)', qr/dependent object: policy y on table work\.c/ ],
	[ 'column of the type of the rows', 'CREATE TABLE d (q p)', qr/dependent object: .*table work\.d/ ],
	[ 'sequence with two users', q{CREATE TABLE d (id bigint DEFAULT nextval('p_id_seq'))}, qr/sequence with other users: default value for column id of table work\.d/ ],
	[ 'default of a referring column', 'ALTER TABLE c ALTER p_id SET DEFAULT 1', qr/default of a referring column: work\.c\.p_id/ ],
	[ 'key without a default', 'ALTER TABLE p ALTER id DROP DEFAULT', qr/key without a default .*: work\.p\.id/ ],
	[ 'key of another type', 'CREATE DOMAIN num AS bigint; ALTER TABLE p ALTER id TYPE num', qr/type of column: work\.p\.id/ ],
	[ 'table of an extension', 'ALTER EXTENSION plpgsql ADD TABLE c', qr/table of an extension: work\.c/ ],
	[ 'name in use', 'ALTER TABLE c ADD p_id_new int', qr/name in use, or too long: work\.c\.p_id_new/ ],
	[ 'name of 63 bytes', 'ALTER TABLE c RENAME p_id TO ' . 'p' x 63, qr/name in use, or too long: work\.c\.ppp/ ],
	[ 'no ownership', 'ALTER TABLE c OWNER TO other; ALTER TABLE p OWNER TO owner; GRANT ALL ON SCHEMA work TO owner; SET ROLE owner', qr/not an owner of the table: work\.c/ ],
	[ 'no primary key', 'ALTER TABLE c DROP CONSTRAINT fk; ALTER TABLE p DROP CONSTRAINT p_pkey', qr/table work\.p has no primary key of one column/ ],
	[ 'function without its schema', '', qr/function uuid_v7\(\) does not exist/, q{'uuid', 'uuid_v7()', 'gen_random_uuid()'} ],
	[ 'value of another type', '', qr/cannot cast type/, q{'uuid', 'id', 'gen_random_uuid()'} ],
	[ 'no default', '', qr/a default is required/, q{'uuid', 'gen_random_uuid()'} ],
	[ 'no value', '', qr/a value is required/, q{'uuid'} ],
	[ 'the same type', '', qr/a value is required/, q{'bigint'} ],
	[ 'too little space', '', qr/the change needs about \d+ bytes/, qq{$uuid, options => '{"max_bytes": 1000}'} ],
	$version >= 180000
	? ([ 'foreign key that is not enforced', 'ALTER TABLE c ADD q bigint, ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES p NOT ENFORCED', qr/not enforced, or with PERIOD: work\.c: q/ ])
	: ());

refused(@$_) for @refused;

# All at once
like(errors("BEGIN; CREATE SCHEMA work; SET search_path = work; $tables CREATE VIEW v AS SELECT id FROM p; CREATE STATISTICS st ON p_id, s FROM c; SELECT rekey.plan('p', $uuid)"),
	qr/DETAIL:  dependent object: rule.*\ndependent object: statistics object/, 'the list is complete');
is(ask('SELECT count(*) FROM rekey.runs'), 0, 'what is refused leaves nothing');

# --- Carried -----------------------------------------------------------------

# A database with the two tables, statements, and the commands
sub carried
{
	my ($name, $sql, $plan, @commands) = @_;
	(my $database = "c_$name") =~ s/\W+/_/g;
	ask("CREATE DATABASE $database");
	Rekey::install($node, $database);
	ask("$tables $sql", $database);
	Rekey::command_is($node, $database, undef, "carried: $name: plan", 'plan', 'p',
		'--type', 'uuid', '--value', 'gen_random_uuid()', '--default', 'gen_random_uuid()', @$plan);
	Rekey::command_is($node, $database, undef, "$name: $_", split / /) for @commands ? @commands : 'run';
	return $database;
}

my $differ = 'SELECT count(*) FROM c LEFT JOIN p ON p.id = p_id WHERE p_id_new IS DISTINCT FROM id_new';
my $database;

# Rights and search paths
$database = carried('rights', q{GRANT INSERT, UPDATE (p_id) ON c TO app; GRANT USAGE ON SEQUENCE c_id_seq TO app; ALTER TABLE p ENABLE ROW LEVEL SECURITY;
	CREATE SCHEMA hostile; CREATE TABLE hostile.p (id bigint, id_new uuid); INSERT INTO hostile.p VALUES (1, NULL), (2, NULL); GRANT ALL ON SCHEMA hostile TO app;
	CREATE FUNCTION hostile.eq(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE OPERATOR hostile.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.eq)});
is(outcome(q{SET ROLE app; SET search_path = hostile, pg_catalog; INSERT INTO public.c (p_id) VALUES (7)}, database => $database), '',
	'a role without rights on the parent, under row-level security and with a hostile search_path, inserts');
is(ask($differ, $database), 0, 'and its row has both keys');
is(outcome('SET ROLE app; UPDATE c SET p_id_new = NULL', database => $database), '23502', 'privileges of columns are copied');
is(outcome('SET ROLE app; SELECT rekey.keep_1_1()', database => $database), '42501', 'the functions are not public');
is(ask(q{SELECT bool_and(prosecdef AND proconfig = '{"search_path=pg_catalog, pg_temp"}') FROM pg_proc WHERE proname ~ '^keep'}, $database), 't', 'they have a fixed search_path');

# What statements may do, and what they may not
$database = carried('statements', q{ALTER TABLE c ADD t bigint CONSTRAINT t REFERENCES p ON DELETE SET NULL; CREATE TABLE d (orders_id bigint CONSTRAINT fk REFERENCES p);
	ALTER TABLE c ADD u bigint; CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.s = ''three'' THEN NEW.p_id := 3; END IF; RETURN NEW; END';
	CREATE TRIGGER zz BEFORE INSERT OR UPDATE OF s ON c FOR EACH ROW EXECUTE FUNCTION late()}, []);
my $two = q{(SELECT id_new FROM p WHERE id = 2)};
for my $case (
	[ q{INSERT INTO c (p_id) VALUES (1), (2)}, '', 'old keys' ],
	[ qq{INSERT INTO c (p_id_new) VALUES ($two)}, '', 'new keys' ],
	[ qq{INSERT INTO c (p_id, p_id_new) VALUES (2, $two)}, '', 'both keys' ],
	[ qq{INSERT INTO c (p_id, p_id_new) VALUES (1, $two)}, '22023', 'both keys, of different rows' ],
	[ qq{UPDATE c SET p_id = 1, p_id_new = $two WHERE id = 3}, '22023', 'changed to different rows' ],
	[ q{INSERT INTO c (p_id) VALUES (-1)}, '23503', 'no parent' ],
	[ q{INSERT INTO c (p_id_new) VALUES (gen_random_uuid())}, '23503', 'no parent of a new key' ],
	[ q{BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO c (p_id) VALUES (-1)}, '40001', 'a parent that a snapshot may not see' ],
	[ q{INSERT INTO c (p_id, s) VALUES (1, 'three')}, '', 'a trigger that changes the key' ],
	[ q{UPDATE c SET s = 'three' WHERE id = 9}, '', 'at an update of another column' ],
	[ q{SET session_replication_role = replica; INSERT INTO c (p_id) VALUES (5)}, '', 'a session that fires no ordinary triggers' ],
	[ q{INSERT INTO d (orders_id) VALUES (1), (NULL); UPDATE d SET orders_id = 2; UPDATE d SET orders_id_new = NULL}, '', 'two tables with one name of a foreign key' ],
	[ q{UPDATE p SET id = 1000 WHERE id = 11}, '', 'ON UPDATE CASCADE of the old key' ],
	[ q{UPDATE p SET id_new = gen_random_uuid() WHERE id = 12}, '', 'and of the new one' ],
	[ q{UPDATE c SET t = 13 WHERE p_id = 14; DELETE FROM p WHERE id = 13}, '', 'ON DELETE SET NULL and CASCADE' ],
	[ q{INSERT INTO c (id, p_id) VALUES (1, 20) ON CONFLICT (id) DO UPDATE SET p_id = excluded.p_id + 1}, '', 'ON CONFLICT DO UPDATE' ],
	[ q{MERGE INTO c USING p ON c.id = p.id WHEN MATCHED AND p.id BETWEEN 30 AND 40 THEN UPDATE SET p_id = 30 WHEN NOT MATCHED THEN INSERT (p_id) VALUES (p.id)}, '', 'MERGE' ],
	[ q{INSERT INTO p VALUES (DEFAULT, 'without columns')}, '', 'INSERT without columns' ],
	[ q{COPY c (p_id) FROM PROGRAM 'echo 1'}, '', 'COPY' ],
	[ q{COPY c FROM PROGRAM 'echo 999,1,x' WITH (FORMAT csv)}, '22P04', 'documented: COPY without columns' ],
	[ q{CREATE TEMP TABLE w AS SELECT * FROM p WHERE id = 50; UPDATE w SET id = 500; INSERT INTO p SELECT * FROM w}, '23505', 'documented: a copied row has both keys' ])
{
	my ($sql, $outcome, $name) = @$case;
	is(outcome("\\set ON_ERROR_STOP 0\n$sql", database => $database), $outcome, "statement: $name");
	is(ask("$differ UNION SELECT count(*) FROM c LEFT JOIN p ON p.id = t WHERE t_new IS DISTINCT FROM id_new UNION SELECT count(*) FROM d WHERE (orders_id IS NULL) <> (orders_id_new IS NULL)", $database),
		0, "$name: the keys are equal");
}
is(ask(q{SELECT p_id FROM c WHERE s = 'three'}, $database), "3\n3", 'the trigger has changed them');

# Self references
$database = carried('self_references', 'ALTER TABLE p ADD q bigint REFERENCES p ON UPDATE CASCADE; UPDATE p SET q = 101 - id WHERE id > 5', []);
my $new = q{'00000000-0000-4000-8000-00000000000};
for my $case (
	[ 'INSERT INTO p (id, q) VALUES (200, 200)', '', 'the own row' ],
	[ 'INSERT INTO p (id, q) VALUES (201, 202), (202, 203), (203, 201)', '', 'later rows of the statement' ],
	[ "INSERT INTO p (id_new, q_new) VALUES (${new}1', ${new}1'), (${new}2', ${new}3'), (${new}3', ${new}1')", '', 'by new keys' ],
	[ 'UPDATE p SET id = 300, q = 300 WHERE id = 200', '', 'the own row changed' ],
	[ 'UPDATE p SET id = 301 WHERE id = 201', '', 'cascaded' ],
	[ 'INSERT INTO p (q) VALUES (-5)', '23503', 'no parent' ],
	[ "INSERT INTO p (q_new) VALUES (${new}9')", '23503', 'no parent of a new key' ],
	[ "INSERT INTO p (id, q, q_new) VALUES (400, 7, ${new}1')", '22023', 'two different rows' ])
{
	my ($sql, $outcome, $name) = @$case;
	is(outcome($sql, database => $database), $outcome, "self reference: $name");
	is(ask('SELECT count(*) FROM p LEFT JOIN p q ON q.id = p.q WHERE p.q_new IS DISTINCT FROM q.id_new', $database), 0, "$name: the keys are equal");
}

# A transaction refers to a row whose new key is not set yet, and is committed later.
$database = 'c_late';
ask("CREATE DATABASE $database");
Rekey::install($node, $database);
ask("$tables ALTER TABLE p ADD q bigint REFERENCES p", $database);
Rekey::command_is($node, $database, undef, 'late: plan', 'plan', 'p', '--type', 'uuid', '--value', 'gen_random_uuid()', '--default', 'gen_random_uuid()');
my ($locker, $writer) = map { session(database => $database) } 1 .. 2;
$locker->ask(q{BEGIN; SELECT FROM rekey.steps WHERE what LIKE 'fill keys%' FOR UPDATE});    # the rows are filled, not committed
my $late = Rekey::start_command($node, $database, 'run');
my $waits = q{SELECT EXISTS (SELECT FROM rekey.steps WHERE %s AND done_at IS NOT NULL)
	AND EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey' AND wait_event_type = 'Lock')};
ok($node->poll_query_until($database, sprintf $waits, 'n = 1'), 'all rows are filled, but not committed');
$writer->ask('BEGIN; INSERT INTO p (q) VALUES (1)');
$locker->ask('COMMIT');
ok($node->poll_query_until($database, sprintf $waits, q{what LIKE 'fill keys%'}), 'then they are, and the run waits');
$writer->ask('COMMIT');
ok($late->{harness}->finish, 'it is completed') or diag($late->{said});
is(ask('SELECT count(*) FROM p LEFT JOIN p q ON q.id = p.q WHERE p.q_new IS DISTINCT FROM q.id_new', $database), 0, 'the reference has both keys');
$_->quit for $locker, $writer;

# Triggers of the tables
my $touch = q{ALTER TABLE c ADD touched int DEFAULT 0; CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched := NEW.touched + 1; RETURN NEW; END';
	CREATE TRIGGER touch BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION touch()};
is(ask('SELECT sum(touched) FROM c', carried('fired', $touch, ['--fire-triggers'])), 100, 'triggers fire with consent');
is(ask('SELECT sum(touched) FROM c', carried('replica', $touch, ['--replica-role'])), 0, 'or not, by session_replication_role');
is(ask('SELECT sum(touched) FROM c', carried('update_of', $touch =~ s/UPDATE ON/UPDATE OF p_id ON/r, [], 'run', 'verify', 'switch', 'finish')), 0, 'a trigger "UPDATE OF column" does not fire');
is(ask('UPDATE c SET s = s; UPDATE c SET p_id_new = p_id_new WHERE id < 3; SELECT sum(touched) FROM c', 'c_update_of'), 2, 'at the end, it is one of the new column');

# Names, keys without defaults
$database = carried('names', 'ALTER TABLE p RENAME TO "' . q{p '%"" p} . '"; ALTER TABLE c RENAME p_id TO "p_id %s"; ALTER TABLE c RENAME CONSTRAINT fk TO "' . 'f' x 63 . '"; CREATE INDEX "' . 'i' x 63 . '" ON c ("p_id %s");
	ALTER TABLE "' . q{p '%"" p} . '" RENAME TO p', [], qw(run verify switch finish));
is(ask(q{SELECT relname = repeat('i', 63) AND conname = repeat('f', 63) FROM pg_class, pg_constraint WHERE relname ~ '^iii' AND conname ~ '^fff'}, $database), 't', 'names of 63 bytes are kept');

# --- Faults of data and of other sessions --------------------------------------

# A value that is NULL, or not unique
for my $case ([ 'null', 'nullif(id, 77)::text', qr/the value of the new key is null for "id" = 77, ctid/ ], [ 'duplicate', '(id / 2)::text', qr/the new key is not unique: "id_new" = \d+, rows with "id" = \d+, \d+/ ])
{
	my ($name, $value, $message) = @$case;
	$database = "v_$name";
	ask("CREATE DATABASE $database");
	Rekey::install($node, $database);
	ask($tables, $database);
	Rekey::command($node, $database, 'plan', 'p', '--type', 'text', '--value', $value, '--default', 'gen_random_uuid()::text');
	Rekey::command($node, $database, 'run');
	Rekey::command_is($node, $database, $message, "$name: an error names the rows", 'run');
	Rekey::command_is($node, $database, undef, "$name: the run can be abandoned", 'abandon');
	is(Rekey::leftovers($node, $database), '', "$name: nothing is left");
}

# Catalog changes between the commands
$database = carried('changes', '', []);
ask('CREATE INDEX added ON c (p_id)', $database);
Rekey::command_is($node, $database, undef, 'verified', 'verify');
Rekey::command_is($node, $database, qr/the catalog is not what it was.*now: CREATE INDEX added/s, 'an index that was added stops the switch', 'switch');
ask('DROP INDEX added; CREATE TABLE e (p_id bigint REFERENCES p)', $database);
Rekey::command_is($node, $database, qr/foreign key that is not in the plan: public\.e/, 'so does a foreign key', 'switch');
ask('DROP TABLE e; ALTER TABLE c DISABLE TRIGGER "~rekey"', $database);
Rekey::command_is($node, $database, qr/the new keys are not complete.*trigger of public\.c/s, 'and a trigger that was disabled', 'switch');
ask('ALTER TABLE c ENABLE ALWAYS TRIGGER "~rekey"; UPDATE c SET s = s', $database);
ask('ALTER TABLE c DISABLE TRIGGER "~rekey"; UPDATE c SET p_id = 9 WHERE p_id = 8; ALTER TABLE c ENABLE ALWAYS TRIGGER "~rekey"', $database);
Rekey::command_is($node, $database, qr/old and new keys differ/, 'verify finds a reference that differs', 'verify');
ask('UPDATE c SET p_id_new = (SELECT id_new FROM p WHERE p.id = p_id) WHERE p_id = 9', $database);

# A lock that another session holds; a second driver
my $holder = session(database => $database);
Rekey::command_is($node, $database, undef, 'equal again', 'verify');
$holder->ask('BEGIN; SELECT * FROM c');
my $waiting = Rekey::start_command($node, $database, 'switch');
my $pid = $holder->ask('SELECT pg_backend_pid()') && $holder->{rows}[0][0];
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'rekey' AND locktype = 'advisory' AND granted)}), 'a driver waits');
Rekey::command_is($node, $database, qr/worked on by process \d+/, 'a second one is refused', 'run');
ask('INSERT INTO c (p_id) VALUES (3)', $database);
$waiting->{harness}->pump until $waiting->{said} =~ /waiting for switch: (.*)/ || !$waiting->{harness}->pumpable;
like($1 // '', qr/process \d+ \(.*idle in transaction/, 'the holder is named');
$holder->ask('COMMIT');
ok($waiting->{harness}->finish, 'then the switch is made');
$holder->quit;
Rekey::command_is($node, $database, undef, 'and finished', 'finish');
is(outcome(q{INSERT INTO p (id_new) VALUES (gen_random_uuid()) ON CONFLICT ON CONSTRAINT p_pkey DO NOTHING}, database => $database), '', 'the primary key has its old name');

done_testing();
