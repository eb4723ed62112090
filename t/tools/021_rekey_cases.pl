# tools/rekey.sql: what plan() refuses, with its name, and what is carried.

use Rekey;
use Server;

my $node = $Rekey::node = start_server('rekey_cases', "max_connections = 40\nwal_level = logical");
my $tables = q{
	CREATE TABLE p (id bigserial PRIMARY KEY, note text, created_at timestamptz DEFAULT now());
	CREATE TABLE c (id bigserial PRIMARY KEY, p_id bigint NOT NULL CONSTRAINT fk REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE, s text);
	INSERT INTO p SELECT FROM generate_series(1, 100);
	INSERT INTO c (p_id, s) SELECT id, 'x' FROM p;};

ask('CREATE ROLE app; CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE other');
Rekey::install('postgres');
ask('GRANT ALL ON SCHEMA rekey TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rekey TO owner');

# No other role can write the statements that an owner's command executes.
ask('CREATE DATABASE acl');
ask('ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO app; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC', 'acl');
Rekey::install('acl');
is(ask(q{SELECT has_schema_privilege('app', 'rekey', 'USAGE'), has_table_privilege('app', 'rekey.steps', 'UPDATE')}, 'acl'), 'f|f',
	'default privileges give no right to other roles');

# --- Refused -----------------------------------------------------------------
# What plan() says of table p after the statements, in a transaction with both tables

my $refused = <<'END';
deferrable foreign key: work.c: fk <= ALTER TABLE c ALTER CONSTRAINT fk DEFERRABLE
SET DEFAULT, or with columns to set: work.c: q <= ALTER TABLE c ADD q bigint CONSTRAINT q REFERENCES p ON DELETE SET DEFAULT
SET DEFAULT, or with columns to set: work.c: q <= ALTER TABLE c ADD q bigint, ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES p ON DELETE SET NULL (q)
dependent object: constraint q on table work.c
	<= ALTER TABLE p ADD UNIQUE (id, note); ALTER TABLE c ADD CONSTRAINT q FOREIGN KEY (p_id, s) REFERENCES p (id, note) NOT VALID
dependent object: constraint d on table work.d <= ALTER TABLE c ADD UNIQUE (p_id); CREATE TABLE d (p_id bigint CONSTRAINT d REFERENCES c (p_id))
dependent object: constraint d on table work.c
	<= CREATE TABLE d (id bigint PRIMARY KEY); ALTER TABLE c ADD CONSTRAINT d FOREIGN KEY (p_id) REFERENCES d NOT VALID
the key is itself a foreign key: work.p.id
	<= CREATE TABLE d (id bigint PRIMARY KEY); ALTER TABLE p ADD CONSTRAINT d FOREIGN KEY (id) REFERENCES d NOT VALID
foreign key by another unique index: work.c: fk <= ALTER TABLE c DROP CONSTRAINT fk; ALTER TABLE p DROP CONSTRAINT p_pkey;
	ALTER TABLE p ADD UNIQUE (id); ALTER TABLE p ADD PRIMARY KEY (id); ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES p (id)
temporary table: pg_temp_\d+.p <= CREATE TEMP TABLE p (id bigserial PRIMARY KEY)
no right to create in the schema of: work.c <= AS_OWNER; RESET SESSION AUTHORIZATION; REVOKE CREATE ON SCHEMA work FROM owner;
	SET SESSION AUTHORIZATION owner
subscription: work.c <= SET allow_system_table_mods = on; INSERT INTO pg_subscription_rel VALUES (0, 'c'::regclass, 'r')
security label of column: work.c.p_id
	<= SET allow_system_table_mods = on; INSERT INTO pg_seclabel VALUES ('c'::regclass, 'pg_class'::regclass, 2, 'selinux', '')
invalid index: work.p_pkey <= SET allow_system_table_mods = on; UPDATE pg_index SET indisvalid = false WHERE indrelid = 'p'::regclass
publication .*: work.c: pub <= CREATE PUBLICATION pub FOR TABLE c
publication .*: work.c: pub <= CREATE PUBLICATION pub FOR TABLE c, p; ALTER TABLE p REPLICA IDENTITY FULL
	<= 'uuid', 'gen_random_uuid()', 'gen_random_uuid()', options => '{"publications_ok": true}'
row-level security is forced: work.p <= ALTER TABLE p FORCE ROW LEVEL SECURITY
replica identity by an index: work.c <= ALTER TABLE c REPLICA IDENTITY USING INDEX c_pkey
name in use: work.p: ~rekey_after <= CREATE TRIGGER "~rekey_after" AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION f()
trigger whose function another role owns.*: work.c: t
	<= INT4; CREATE TRIGGER t BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION f(); AS_OWNER <= 'bigint'
trigger whose function may not be executed.*: work.c: t
	<= CREATE TRIGGER t AFTER UPDATE OF p_id ON c FOR EACH ROW EXECUTE FUNCTION f(); REVOKE ALL ON FUNCTION f() FROM PUBLIC; AS_OWNER
trigger that fires after "~rekey": work.c: ~z <= CREATE TRIGGER "~z" BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION f()
trigger that fires for each row \(--fire-triggers\): work.c: t <= CREATE TRIGGER t AFTER UPDATE ON c FOR EACH ROW EXECUTE FUNCTION f()
dependent object: trigger t on table work.c <= CREATE TRIGGER t BEFORE UPDATE OF s ON c FOR EACH ROW WHEN (NEW.p_id > 5) EXECUTE FUNCTION f()
inheritance: work.p <= CREATE TABLE d () INHERITS (p)
not an ordinary table: work.d <= CREATE TABLE d (p_id bigint REFERENCES p) PARTITION BY LIST (p_id); CREATE TABLE d1 PARTITION OF d DEFAULT
not an ordinary table: work.d <= CREATE TYPE r AS (p_id bigint); CREATE TABLE d OF r (FOREIGN KEY (p_id) REFERENCES p)
index on which the table is clustered: work.p_pkey <= ALTER TABLE p CLUSTER ON p_pkey
index of access method spgist: work.i
	<= ALTER TABLE c DROP CONSTRAINT fk, ALTER p_id TYPE text; ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE text;
	ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p; CREATE INDEX i ON c USING spgist (p_id)
index with an expression or a predicate of the column: work.i <= CREATE INDEX i ON c ((p_id + 1))
index with an expression or a predicate of the column: work.i <= CREATE INDEX i ON c (s) WHERE p_id > 5
index with an expression or a predicate of the column: work.i <= CREATE INDEX i ON c (s) WHERE p_id IS NULL OR c IS NULL
unique index that counts NULLs.*: work.i <= INT4; CREATE UNIQUE INDEX i ON c (s) WHERE p_id IS NULL <= 'bigint'
unique index that counts NULLs.*: work.i <= INT4; CREATE UNIQUE INDEX i ON c (p_id) NULLS NOT DISTINCT <= 'bigint'
operator class, collation or parameters of its own: work.i
	<= CREATE OPERATOR CLASS o FOR TYPE bigint USING btree AS OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >,
	FUNCTION 1 btint8cmp(bigint, bigint); CREATE INDEX i ON c (p_id o)
operator class, collation or parameters of its own: work.i
	<= ALTER TABLE c DROP CONSTRAINT fk, ALTER p_id TYPE text; ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE text;
	ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p; CREATE INDEX i ON c (p_id COLLATE "C")
TRIGGER right .*: work.p$ <= ALTER TABLE p ADD q bigint REFERENCES p; GRANT TRIGGER ON p, c TO app
index that a foreign key requires: work.u
	<= DELETE FROM c; ALTER TABLE c ADD CONSTRAINT u UNIQUE (s) INCLUDE (p_id); CREATE TABLE d (s text REFERENCES c (s))
deferrable unique constraint: work.u <= ALTER TABLE c ADD CONSTRAINT u UNIQUE (p_id) DEFERRABLE
dependent object: constraint x on table work.c <= ALTER TABLE c ADD CONSTRAINT x EXCLUDE USING btree (p_id WITH =)
dependent object: .*column g of table work.c <= ALTER TABLE c ADD g bigint GENERATED ALWAYS AS (p_id + 1) STORED
dependent object: constraint k on table work.c <= ALTER TABLE c ADD q bigint, ADD CONSTRAINT k CHECK (p_id <> q)
dependent object: constraint k on table work.c <= INT4; ALTER TABLE c ALTER p_id TYPE int2, ADD CONSTRAINT k CHECK (p_id % 2 >= 0) <= 'bigint'
dependent object: constraint k on table work.c <= ALTER TABLE c ADD CONSTRAINT k CHECK (p_id IS NULL OR p_id <> 500)
dependent object: constraint k on table work.c <= ALTER TABLE c ADD CONSTRAINT k CHECK (p_id IS NOT NULL) NOT VALID
dependent object: constraint k on table work.c <= ALTER TABLE c ADD CONSTRAINT k CHECK (p_id IS NOT NULL) NO INHERIT
dependent object: rule _RETURN on view work.v <= CREATE VIEW v AS SELECT p FROM p
dependent object: rule _RETURN on view work.v <= CREATE VIEW v AS SELECT id, note FROM p GROUP BY id
	<= 'uuid', 'gen_random_uuid()', 'gen_random_uuid()', options => '{"dependents_ok": true}'
dependent object: rule _RETURN .*\ndependent object: statistics object <= CREATE VIEW v AS SELECT id FROM p; CREATE STATISTICS st ON p_id, s FROM c
dependent object: rule r on table work.p <= CREATE RULE r AS ON DELETE TO p DO NOTHING
	<= 'uuid', 'gen_random_uuid()', 'gen_random_uuid()', options => '{"dependents_ok": true}'
dependent object: policy y on table work.c <= CREATE POLICY y ON c USING (p_id > 1)
dependent object: .*table work.d <= CREATE TABLE d (q p)
sequence with other users: default value for column id of table work.d <= CREATE TABLE d (id bigint DEFAULT nextval('p_id_seq'))
sequence with other users: default value for column q of table work.p <= ALTER TABLE p ADD q bigint DEFAULT nextval('p_id_seq')
default of the key is not nextval\(\) .*: work.p.id <= INT4; ALTER TABLE p ALTER id SET DEFAULT nextval('p_id_seq') * 10 <= 'bigint'
default of the key is not nextval\(\) .*: work.p.id <= INT4; ALTER SEQUENCE p_id_seq OWNED BY NONE <= 'bigint'
reference to the own table that is NOT NULL: work.p.q <= ALTER TABLE p ADD q bigint NOT NULL DEFAULT 1 REFERENCES p
own table whose being NULL .*: work.p.q <= ALTER TABLE p ADD q bigint REFERENCES p CHECK (note IS NULL OR q IS NOT NULL)
own table whose being NULL .*: work.p.q <= ALTER TABLE p ADD q bigint REFERENCES p; CREATE UNIQUE INDEX ON p (note) WHERE q IS NULL
two foreign keys of column: work.c.p_id <= ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p
n_distinct of column: work.c.p_id <= ALTER TABLE c ALTER p_id SET (n_distinct = 5)
foreign key that is not enforced: work.c: fk <= ALTER TABLE c DISABLE TRIGGER ALL
dependent object: default value for column p_id of table work.c <= ALTER TABLE c ALTER p_id SET DEFAULT 1
dependent object: sequence work.c_p_id_seq <= ALTER TABLE c ALTER p_id ADD GENERATED ALWAYS AS IDENTITY
key without a default .*: work.p.id <= ALTER TABLE p ALTER id DROP DEFAULT
type of column: work.p.id <= CREATE DOMAIN num AS bigint; ALTER TABLE p ALTER id TYPE num
collation of column: work.c.p_id <= ALTER TABLE c DROP CONSTRAINT fk, ALTER p_id TYPE text COLLATE "POSIX";
	ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE text COLLATE "C"; ALTER TABLE c ADD FOREIGN KEY (p_id) REFERENCES p
table of an extension: work.c <= ALTER EXTENSION plpgsql ADD TABLE c
function int4abs\(bigint\) does not exist <= INT4; ALTER TABLE c ADD CHECK (int4abs(p_id) > 0) <= 'bigint'
name in use, or too long: work.c.p_id_new <= ALTER TABLE c ADD p_id_new int
name in use, or too long: work.c.p_id_new <= ALTER TABLE c ADD "~rekey" int
name in use, or too long: work.c.ppp <= DO $$ BEGIN EXECUTE 'ALTER TABLE c RENAME p_id TO ' || repeat('p', 63); END $$
name in use: work.c: rekey_NEXT_0 <= ALTER TABLE c RENAME CONSTRAINT fk TO rekey_NEXT_0
not owned by the current role: work.c <= ALTER TABLE c OWNER TO other
not owned by the current role: work.c <= AS_OWNER; RESET SESSION AUTHORIZATION
by SET ROLE of a superuser.*: work.c <= AS_OWNER; RESET SESSION AUTHORIZATION; SET ROLE owner
table work.p has no primary key of one column <= ALTER TABLE c DROP CONSTRAINT fk; ALTER TABLE p DROP CONSTRAINT p_pkey
function uuid_v7\(\) does not exist <= SELECT <= 'uuid', 'uuid_v7()', 'gen_random_uuid()'
column "g" does not exist <= ALTER TABLE p ADD g text GENERATED ALWAYS AS (note || 'x') STORED <= 'uuid', 'md5(g)::uuid', 'gen_random_uuid()'
function no\(\) does not exist <= ALTER TABLE p ALTER id DROP DEFAULT <= 'uuid', 'gen_random_uuid()', 'gen_random_uuid()', old_default => 'no()'
column "ctid" does not exist <= SELECT <= 'text', 'ctid::text', 'gen_random_uuid()::text'
collation of column: work.p.id
	<= ALTER TABLE c DROP CONSTRAINT fk; ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE text COLLATE "C" <= 'text', 'id', 'gen_random_uuid()::text'
keys of type character varying are not supported <= SELECT <= 'varchar', 'id', 'md5(random()::text)'
cannot cast type <= SELECT <= 'uuid', 'id', 'gen_random_uuid()'
a default is required <= SELECT <= 'uuid', 'gen_random_uuid()'
a value is required <= SELECT <= 'uuid'
a value is required <= SELECT <= 'bigint'
the change needs about \d+ bytes <= SELECT <= 'uuid', 'gen_random_uuid()', 'gen_random_uuid()', options => '{"max_bytes": 1000}'
END
$refused .= <<'END' if ask('SHOW server_version_num') >= 180000;
not enforced: work.c: q <= ALTER TABLE c ADD q bigint, ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES p NOT ENFORCED
dependent object: constraint k on table work.c <= ALTER TABLE c ADD CONSTRAINT k CHECK (p_id IS NOT NULL) NOT ENFORCED
dependent object: constraint k on table work.c <= ALTER TABLE c ADD q bigint REFERENCES p, ADD CONSTRAINT k NOT NULL q NOT VALID
END
$refused =~ s/\n\t/ /g;
for (split /\n/, $refused)
{
	my ($detail, $sql, $arguments) = split / <= /, s/NEXT/ask('SELECT last_value + 1 FROM rekey.runs_run_seq')/gre
	  =~ s/INT4/ALTER TABLE p ALTER id TYPE int; ALTER SEQUENCE p_id_seq AS int; ALTER TABLE c ALTER p_id TYPE int/r
	  =~ s/AS_OWNER/ALTER TABLE c OWNER TO owner; ALTER TABLE p OWNER TO owner; GRANT ALL ON SCHEMA work TO owner; SET SESSION AUTHORIZATION owner/r;
	$arguments //= q{'uuid', 'gen_random_uuid()', 'gen_random_uuid()'};
	like(errors("BEGIN; CREATE SCHEMA work; SET search_path = work; $tables
		CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		$sql; SELECT count(*) FROM rekey.plan('p', $arguments); ROLLBACK"), qr/$detail/ms, "refused: $detail");
}
is(ask('SELECT count(*) FROM rekey.runs'), 0, 'what is refused leaves nothing');

# --- Carried -----------------------------------------------------------------
my @to_uuid = ('--type', 'uuid', '--value', 'gen_random_uuid()', '--default', 'gen_random_uuid()');
my @plan = ('plan', 'p', @to_uuid);

# A database with the two tables and these statements, after these commands
sub carried
{
	my ($database, $sql, @commands) = @_;

	ask("CREATE DATABASE $database");
	Rekey::install($database);
	ask("$tables $sql", $database);
	succeeds($database, @commands);
	return $database;
}

# Statements, each with its rows or SQLSTATE, after which all keys must be equal
sub statements
{
	my ($database, $differ, @cases) = @_;
	for (@cases)
	{
		my ($sql, $outcome, $name) = @$_;
		is(outcome("\\set ON_ERROR_STOP 0\n$sql", database => $database), $outcome, "$database: $name");
		is(ask($differ, $database), 0, "$name: the keys are equal");
	}
}

# What statements may do, and what they may not: also with other rights and search paths
my $database = carried('statements', q{ALTER TABLE c ADD t bigint CONSTRAINT t REFERENCES p ON DELETE SET NULL, ADD u bigint;
	CREATE TABLE d (orders_id bigint CONSTRAINT fk REFERENCES p); CREATE FUNCTION late() RETURNS trigger
		LANGUAGE plpgsql AS 'BEGIN IF NEW.s = ''three'' THEN NEW.p_id := 3; END IF; RETURN NEW; END';
	CREATE TRIGGER zz BEFORE INSERT OR UPDATE OF s ON c FOR EACH ROW EXECUTE FUNCTION late();
	GRANT INSERT, UPDATE (p_id) ON c TO app; GRANT USAGE ON SEQUENCE c_id_seq TO app;
	ALTER TABLE p ENABLE ROW LEVEL SECURITY; CREATE SCHEMA hostile; CREATE TABLE hostile.p (id bigint, id_new uuid);
	INSERT INTO hostile.p VALUES (1, NULL), (2, NULL); GRANT ALL ON SCHEMA hostile TO app;
	CREATE FUNCTION hostile.eq(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE OPERATOR hostile.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.eq)}, \@plan, 'run');
my $two = q{(SELECT id_new FROM p WHERE id = 2)};
statements($database, 'SELECT count(*) FROM c LEFT JOIN p ON p.id = c.p_id WHERE c.p_id_new IS DISTINCT FROM p.id_new
		UNION SELECT count(*) FROM c LEFT JOIN p ON p.id = t WHERE t_new IS DISTINCT FROM id_new
		UNION SELECT count(*) FROM d WHERE (orders_id IS NULL) <> (orders_id_new IS NULL)',
	[ q{SET ROLE app; SET search_path = hostile, pg_catalog; INSERT INTO public.c (p_id) VALUES (7)}, '',
		'a role without rights on the parent, under row-level security and with a hostile search_path' ],
	[ 'SET ROLE app; UPDATE c SET p_id_new = NULL', '23502', 'privileges of columns are copied' ],
	[ 'SET ROLE app; SELECT rekey.keep_1_1()', '42501', 'the functions are not public' ],
	[ q{SELECT bool_and(prosecdef AND proconfig = '{"search_path=pg_catalog, pg_temp"}') FROM pg_proc WHERE proname ~ '^keep'}, 't',
		'the functions have a fixed search_path' ],
	[ q{INSERT INTO c (p_id) VALUES (1), (2)}, '', 'old keys' ],
	[ qq{INSERT INTO c (p_id_new) VALUES ($two)}, '', 'new keys' ],
	[ qq{INSERT INTO c (p_id, p_id_new) VALUES (2, $two)}, '', 'both keys' ],
	[ qq{INSERT INTO c (p_id, p_id_new) VALUES (1, $two)}, '22023', 'both keys, of different rows' ],
	[ qq{UPDATE c SET p_id = 1, p_id_new = $two WHERE id = 3}, '22023', 'changed to different rows' ],
	[ q{INSERT INTO c (p_id) VALUES (-1)}, '23503', 'no parent' ],
	[ q{DO $$ DECLARE k text; BEGIN INSERT INTO c (p_id) VALUES (-1); EXCEPTION WHEN foreign_key_violation THEN
		GET STACKED DIAGNOSTICS k = CONSTRAINT_NAME; ASSERT k = 'fk', k; END $$}, '', 'the error has the name of the foreign key' ],
	[ q{INSERT INTO c (p_id_new) VALUES (gen_random_uuid())}, '23503', 'no parent of a new key' ],
	[ q{BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO c (p_id) VALUES (-1)}, '40001', 'a parent that a snapshot may not see' ],
	[ q{INSERT INTO c (p_id, s) VALUES (1, 'three')}, '', 'a trigger that changes the key' ],
	[ q{UPDATE c SET s = 'three' WHERE id = 9}, '', 'at an update of another column' ],
	[ q{SELECT p_id FROM c WHERE s = 'three'}, "3\n3", 'the trigger has changed them' ],
	[ q{SET session_replication_role = replica; INSERT INTO c (p_id) VALUES (5)}, '', 'a session that fires no ordinary triggers' ],
	[ q{INSERT INTO d (orders_id) VALUES (1), (NULL); UPDATE d SET orders_id = 2; UPDATE d SET orders_id_new = NULL}, '',
		'two tables with one name of a foreign key' ],
	[ q{UPDATE p SET id = 1000 WHERE id = 11}, '', 'ON UPDATE CASCADE of the old key' ],
	[ q{UPDATE p SET id_new = gen_random_uuid() WHERE id = 12}, '', 'and of the new one' ],
	[ q{UPDATE c SET t = 13 WHERE p_id = 14; DELETE FROM p WHERE id = 13}, '', 'ON DELETE SET NULL and CASCADE' ],
	[ q{INSERT INTO c (id, p_id) VALUES (1, 20) ON CONFLICT (id) DO UPDATE SET p_id = excluded.p_id + 1}, '', 'ON CONFLICT DO UPDATE' ],
	[ q{MERGE INTO c USING p ON c.id = p.id WHEN MATCHED AND p.id BETWEEN 30 AND 40 THEN UPDATE SET p_id = 30
		WHEN NOT MATCHED THEN INSERT (p_id) VALUES (p.id)}, '', 'MERGE' ],
	[ q{INSERT INTO p VALUES (DEFAULT, 'without columns')}, '', 'INSERT without columns' ],
	[ q{COPY c (p_id) FROM PROGRAM 'echo 1'}, '', 'COPY' ],
	[ q{COPY c FROM PROGRAM 'echo 999,1,x' WITH (FORMAT csv)}, '22P04', 'documented: COPY without columns' ],
	[ q{CREATE TEMP TABLE w AS SELECT * FROM p WHERE id = 50; UPDATE w SET id = 500; INSERT INTO p SELECT * FROM w}, '23505',
		'documented: a copied row has both keys' ]);

# A dump of this, in SQL, is restored, but its run is not that of the copy.
dump_and_restore('plain', $database, 'restored');
is(Rekey::schema('restored'), Rekey::schema($database), 'a dump is restored with the new columns and triggers');
fails('restored', qr/of another database/, 'a run of the copied database', 'abandon');

# Wider integers: of a key and of references that are wide already, by an identity from which other sessions take numbers
$database = carried('numbers', q{ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE int; DROP SEQUENCE p_id_seq;
	ALTER TABLE p ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START 101); COMMENT ON SEQUENCE p_id_seq IS 'numbers';
	CREATE FUNCTION slug() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.note := ''p'' || NEW.id; RETURN NEW; END';
	CREATE TRIGGER slug BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION slug(); CREATE TABLE taken (n bigint);
	GRANT USAGE ON SEQUENCE p_id_seq TO other; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO app},
	[ 'plan', 'p', '--type', 'bigint' ], 'abandon');
like((Rekey::command($database, 'plan', 'p', '--type', 'bigint'))[1], qr/pg_default +\| \d+ kB +\| \d+ [kMGT]B\n +WAL +\| \d+ kB +\| \d+ [kMGT]B\n/,
	'plan prints the free space beside what it needs');
my $take = PostgreSQL::Test::Utils::tempdir() . '/take.sql';
append_to_file($take, "INSERT INTO taken SELECT nextval('p_id_seq') FROM generate_series(1, 20);\n");
my $takes = IPC::Run::start([ qw(pgbench -n -c 3 -T 1000 -f), $take, $node->connstr($database) ], '>&', \my $output);
ok($node->poll_query_until($database, 'SELECT count(*) > 100 FROM taken'), 'numbers are taken');
succeeds($database, 'run');
$takes->kill_kill;
ask('ALTER TABLE p DISABLE TRIGGER "!rekey"', $database);
succeeds($database, 'verify');
fails($database, qr/not complete: triggers of public\.p/, 'the trigger that gives numbers is disabled', 'switch');
ask('ALTER TABLE p ENABLE ALWAYS TRIGGER "!rekey"', $database);
my $twice = q{INSERT INTO taken SELECT nextval('p_id_seq'); SELECT n FROM taken GROUP BY n HAVING count(*) > 1};
is(ask($twice, $database), '', 'no number is taken twice');
succeeds($database, qw(verify switch));
statements($database, 'SELECT count(*) FROM c LEFT JOIN p ON p.id_new = p_id_new WHERE p_id IS DISTINCT FROM p.id',
	[ q{INSERT INTO p DEFAULT VALUES RETURNING note = 'p' || id AND id = id_new}, 't', 'the triggers of the table see the number' ],
	[ 'UPDATE p SET id_new = 3000000000 WHERE id = 3', '55000', 'a key does not move beyond the old type' ],
	[ 'UPDATE p SET id_new = 5000 WHERE id = 4; INSERT INTO p (id_new) VALUES (3000000000); INSERT INTO c (p_id_new) VALUES (3000000000)', '',
		'but new ones are there' ]);
ends($database, 'finish');
is(ask(q{SELECT obj_description('p_id_seq'::regclass), attidentity, has_sequence_privilege('app', 'p_id_seq', 'UPDATE'),
			has_sequence_privilege('other', 'p_id_seq', 'USAGE') FROM pg_attribute WHERE attname = 'id_new' AND attrelid = 'p'::regclass}, $database)
	  . ask($twice, $database), 'numbers|d|f|t', 'the sequence has its comment, its privileges and its value');
carried('plain', 'ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE int', [ 'plan', 'p', '--type', 'bigint' ],
	qw(run verify switch back run verify switch finish));

# References of a table to itself, which is called "new" as the variable of triggers; its child refers by a column that it has, too
my $new = q{'00000000-0000-4000-8000-00000000000};
$database = carried('self', 'ALTER TABLE p ADD q bigint REFERENCES p ON UPDATE CASCADE, ADD p_id bigint DEFAULT 7;
	UPDATE p SET q = 101 - id WHERE id > 5; ALTER TABLE p RENAME TO new', [ 'plan', 'new', @to_uuid ], 'run');
statements($database, 'SELECT count(*) FROM c LEFT JOIN new p ON p.id = c.p_id WHERE c.p_id_new IS DISTINCT FROM p.id_new
		UNION SELECT count(*) FROM new p LEFT JOIN new q ON q.id = p.q WHERE p.q_new IS DISTINCT FROM q.id_new',
	[ 'INSERT INTO c (p_id) VALUES (5); UPDATE c SET p_id = 6 WHERE id = 1', '', 'a reference of another table' ],
	[ 'INSERT INTO new (id, q) VALUES (200, 200)', '', 'the own row' ],
	[ 'INSERT INTO new (id, q) VALUES (201, 202), (202, 203), (203, 201)', '', 'later rows of the statement' ],
	[ "INSERT INTO new (id_new, q_new) VALUES (${new}1', ${new}1'), (${new}2', ${new}3'), (${new}3', ${new}1')", '', 'by new keys' ],
	[ 'UPDATE new SET id = 300, q = 300 WHERE id = 200', '', 'the own row changed' ],
	[ 'UPDATE new SET id = 301 WHERE id = 201', '', 'cascaded' ],
	[ 'UPDATE new SET id = id + 1000, q = q + 1000', '', 'all keys and references moved' ],
	[ 'INSERT INTO new (q) VALUES (-5)', '23503', 'no parent' ],
	[ "INSERT INTO new (q_new) VALUES (${new}9')", '23503', 'no parent of a new key' ],
	[ "INSERT INTO new (id, q, q_new) VALUES (400, 7, ${new}1')", '22023', 'two different rows' ]);

# A trigger that keeps a reference to a later row from being completed
$database = carried('kept', q{ALTER TABLE p ADD q bigint REFERENCES p; CREATE TRIGGER redundant BEFORE UPDATE ON p FOR EACH ROW
	EXECUTE FUNCTION suppress_redundant_updates_trigger()}, [ @plan, '--fire-triggers' ], 'run');
statements($database, 'SELECT count(*) FROM p WHERE (q IS NULL) <> (q_new IS NULL)',
	[ 'INSERT INTO p (id, q) VALUES (200, 201), (201, 200)', '09000', 'is an error' ]);

# A transaction with an older snapshot refers to a row whose new key it cannot see.
$database = carried('old_snapshot', 'ALTER TABLE p ADD q bigint REFERENCES p', \@plan);
my $reader = session(database => $database);
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1');
my $build = Rekey::start_command($database, 'run');
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)}), 'an index awaits it');
$reader->ask('INSERT INTO p (q) VALUES (5); COMMIT');
$reader->quit;
ok($build->{harness}->finish, 'then the run is completed') or diag($build->{said});
succeeds($database, 'verify');

# It queues for a row that stays locked, which others may lock all the time.
$database = carried('locked', '', \@plan);
ask('SET search_path = pg_catalog; CALL rekey.under_lock(1)', $database);
my $keeper = session(database => $database);
$keeper->ask('BEGIN; SELECT FROM p WHERE id = 1 FOR UPDATE');
my $queued = Rekey::start_command($database, 'run');
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey'
	AND wait_event = 'transactionid')}), 'it waits for a locked row');
$keeper->quit;
ok($queued->{harness}->finish, 'then the run is completed') or diag($queued->{said});

# A transaction refers to a row whose new key is not set yet, and is committed later.
$database = carried('late', 'ALTER TABLE p ADD q bigint REFERENCES p', \@plan);
my ($locker, $writer) = map { session(database => $database) } 1 .. 2;
$locker->ask(q{BEGIN; SELECT FROM rekey.steps WHERE what LIKE 'fill keys%' FOR UPDATE});    # the rows are filled, not committed
my $late = Rekey::start_command($database, 'run');
my $waits = q{SELECT EXISTS (SELECT FROM rekey.steps WHERE %s AND done_at IS NOT NULL)
	AND EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey' AND wait_event_type = 'Lock')};
ok($node->poll_query_until($database, sprintf $waits, 'n = 1'), 'all rows are filled, but not committed');
$writer->ask('BEGIN; INSERT INTO p (q) VALUES (1)');
$locker->ask('COMMIT');
ok($node->poll_query_until($database, sprintf $waits, q{what LIKE 'fill keys%'}), 'then they are, and the run waits');
$writer->ask('COMMIT');
ok($late->{harness}->finish, 'it is completed') or diag($late->{said});
is(ask('SELECT q_new = (SELECT id_new FROM p WHERE id = 1) FROM p WHERE q = 1', $database), 't', 'the reference has both keys');
$_->quit for $locker, $writer;

# Triggers of the tables
my $touch = q{ALTER TABLE c ADD touched int DEFAULT 0; CREATE TABLE one AS SELECT 1 AS n; CREATE FUNCTION touch() RETURNS trigger
	LANGUAGE plpgsql AS 'BEGIN NEW.touched := (SELECT NEW.touched + n FROM one); RETURN NEW; END';
	CREATE FUNCTION format(text, bigint, tid) RETURNS text IMMUTABLE RETURN (1 / 0)::text;
	CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON c DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION touch();
	CREATE TRIGGER touch BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION touch()};
is(ask('SELECT sum(touched) FROM c', carried('fired', $touch, [ @plan, '--fire-triggers' ], 'run')), 100, 'triggers fire with consent');
# and one that was created while rows are filled, or that prevents it
$database = carried('added', q{INSERT INTO c (p_id, s) SELECT 1 + i % 100, repeat('x', 100) FROM generate_series(1, 5000) i}, \@plan);
($locker, $writer) = map { session(database => $database) } 1 .. 2;
$locker->ask(q{BEGIN; SELECT FROM rekey.steps WHERE what LIKE 'fill references%' FOR UPDATE});
$late = Rekey::start_command($database, 'run');
ok($node->poll_query_until($database, sprintf $waits, q{what LIKE 'add % public.c,%'}), 'the first pages are filled, but not committed');
$writer->send_blocked($locker, 'CREATE TRIGGER t BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()');
$locker->ask('COMMIT');
ok(!$late->{harness}->finish && $late->{said} =~ /trigger that fires for each row.*: public\.c: t$/m, 'a new trigger stops it')
  or diag($late->{said});
$_->quit for $locker, $writer;
ends($database, 'abandon');
$database = carried('prevented', q{CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.id = 50 THEN RETURN NULL; END IF;
	RETURN NEW; END'; CREATE TRIGGER stop BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION stop()}, [ @plan, '--fire-triggers' ]);
fails($database, qr/a trigger prevents the update of "p_id" = 50/, 'a row that a trigger protects is named', 'run');
ask('DROP TABLE p CASCADE; DROP TABLE c', $database);
ends($database, 'abandon');    # also of tables that are gone
$database = carried('warned', $touch =~ s/ ON c/ ON p/gr . q{; ALTER TABLE p ADD q bigint REFERENCES p, ADD touched int;
	CREATE FUNCTION named() RETURNS bigint LANGUAGE sql AS 'SELECT max(id) FROM p'}, [ @plan, '--fire-triggers' ]);
is(ask(q{SELECT string_agg(w, E'\n' ORDER BY w COLLATE "C") FROM rekey.warnings() w}, $database) =~ s/public\.//gr, <<'END' =~ s/\n$//r, 'warnings');
function named() names id and p in its text
trigger late on p, for a row that refers to a later one of its statement, fires with search_path pg_catalog: ALTER FUNCTION touch() SET search_path
trigger touch on p, for a row that refers to a later one of its statement, fires with search_path pg_catalog: ALTER FUNCTION touch() SET search_path
END
$database = carried('update_of', $touch =~ s/UPDATE ON/UPDATE OF p_id ON/gr, \@plan, qw(run verify switch finish));
is(ask('SELECT sum(touched) FROM c', $database), 0, 'a trigger "UPDATE OF column" does not fire');
is(ask('UPDATE c SET s = s; UPDATE c SET p_id_new = p_id_new WHERE id < 3; SELECT sum(touched) FROM c', $database),
	2, 'at the end, it is one of the new column');

# Names, conditions of the columns, comments; a foreign key that is not valid yet
ask(q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''});
$database = carried('names', q{ALTER TABLE p RENAME TO "p '%"" p"; ALTER TABLE c RENAME p_id TO "p_id %s"; ALTER TABLE c ADD q bigint;
	DO $$ BEGIN EXECUTE 'ALTER TABLE c RENAME CONSTRAINT fk TO ' || repeat('f', 63);
		EXECUTE format('CREATE INDEX %I ON c ("p_id %%s")', repeat('i', 63)); END $$;
	ALTER TABLE c ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES "p '%"" p" NOT VALID, ADD CONSTRAINT k CHECK ("p_id %s" = q OR q IS NULL OR s > 'a');
	CREATE UNIQUE INDEX i ON c (id DESC, q, s COLLATE "C") INCLUDE ("p_id %s") NULLS NOT DISTINCT WITH (fillfactor=70) TABLESPACE other
	WHERE q IS NOT NULL AND s <> ' WHERE '; ALTER TABLE c ALTER q SET STATISTICS 7;
	ALTER TABLE "p '%"" p" ADD UNIQUE (note); ALTER TABLE c ADD FOREIGN KEY (s) REFERENCES "p '%"" p" (note) DEFERRABLE NOT VALID;
	CREATE SCHEMA "A b"; ALTER TABLE "p '%"" p" SET SCHEMA "A b";
	COMMENT ON INDEX i IS 'of i'; COMMENT ON CONSTRAINT k ON c IS 'of k'; COMMENT ON CONSTRAINT q ON c IS 'of q';
	COMMENT ON CONSTRAINT p_pkey ON "A b"."p '%"" p" IS 'of p'}, [ 'plan', q{"A b"."p '%"" p"}, @to_uuid ], qw(run verify switch finish));
is(ask(q{SELECT count(*) FROM pg_class, pg_constraint WHERE relname = repeat('i', 63) AND conname = repeat('f', 63)}, $database),
	1, 'names of 63 bytes are kept');
is(ask(q{SELECT pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname IN ('q', 'k', 'p_pkey')
	UNION SELECT pg_get_indexdef('i'::regclass), tablespace || ', ' || obj_description('i'::regclass, 'pg_class') FROM pg_indexes WHERE indexname = 'i'
	UNION SELECT 'statistics', attstattarget::text FROM pg_attribute WHERE attname = 'q_new' AND attrelid = 'c'::regclass ORDER BY 1}, $database),
	<<'END' =~ s/\\?\n(WHERE|\z)/$1/gr,
CHECK ((("p_id %s_new" = q_new) OR (q_new IS NULL) OR (s > 'a'::text)))|of k
CREATE UNIQUE INDEX i ON public.c USING btree (id DESC, q_new, s COLLATE "C") INCLUDE ("p_id %s_new") NULLS NOT DISTINCT WITH (fillfactor='70') \
WHERE ((q_new IS NOT NULL) AND (s <> ' WHERE '::text))|other, of i
FOREIGN KEY (q_new) REFERENCES "A b"."p '%"" p"(id_new)|of q
PRIMARY KEY (id_new)|of p
statistics|7
END
	'conditions are those of the new columns, with their comments, and the foreign key is valid');

# Text to uuid, and the whole way as the tables' owner, who is no superuser
{
	local $ENV{PGUSER} = 'owner';
	$database = carried('owned', q{ALTER TABLE c DROP CONSTRAINT fk, ALTER p_id TYPE text USING 'p' || p_id;
		ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE text USING 'p' || id;
		ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES p; ALTER TABLE p ENABLE ROW LEVEL SECURITY; CREATE INDEX ON c (p_id)});
	my $before = Rekey::schema($database);
	my @by_text = ('plan', 'p', @to_uuid[ 0, 1 ], '--value', 'md5(id)::uuid', @to_uuid[ 4, 5 ], '--old-default', 'gen_random_uuid()::text');
	succeeds($database, \@by_text, qw(run abandon));
	like((Rekey::command($database, @by_text))[1], qr/WAL +\| \d+ \wB +\| unknown: .*external program/, 'the owner may not see the free space');
	succeeds($database, 'abandon');
	is(Rekey::schema($database), $before, 'after abandon, the schema is as before');
	succeeds($database, \@by_text, qw(run verify switch back run verify switch));
	is(ask('INSERT INTO p (id_new) VALUES (DEFAULT); SELECT count(*) FROM c JOIN p ON p.id = p_id WHERE p_id_new = id_new AND id_new = md5(p.id)::uuid',
			$database), 100, 'text keys are changed by their owner');
	ends($database, 'finish');
}

# --- Faults of data and of other sessions --------------------------------------

# A value that is NULL, or not unique; a reference without its row
for my $case (
	[ 'null', 'nullif(id, 77)::text', qr/the value of the new key is null: "id" = 77, ctid/ ],
	[ 'duplicate', '(id / 2)::text', qr/the new key is not unique: \d+, rows with "id" = \d+, \d+/ ],
	[ 'orphan', 'id::text', qr/violates foreign key constraint "fk".*\(p_id\)=\(-5\)/s ])
{
	my ($name, $value, $message) = @$case;
	$database = carried("v_$name", $name eq 'orphan' ? q{SET session_replication_role = replica; INSERT INTO c (p_id) VALUES (-5);
		ALTER TABLE c DROP CONSTRAINT fk; ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES p NOT VALID} : '',
		[ 'plan', 'p', '--type', 'text', '--value', $value, '--default', 'gen_random_uuid()::text' ]);
	Rekey::command($database, 'run');
	fails($database, $message, 'an error names the rows', 'run');
	ends($database, 'abandon');
}

# Two commands at once: the second one knows the state that the first one has left.
$database = carried('two', '', \@plan, qw(run verify));
my $blocker = session(database => $database);
$blocker->ask('BEGIN; SELECT FROM p');
my @drivers = Rekey::start_command($database, 'switch');
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory')}), 'switch waits');
push @drivers, Rekey::start_command($database, 'abandon');
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query ~ 'begin_command' AND state = 'active'
	AND pid <> pg_backend_pid())}), 'abandon waits for it');
$blocker->quit;
$_->{harness}->finish for @drivers;
like($drivers[1]{said}, qr/abandon is not possible: run 1 is switched/, 'abandon after switch');
ends($database, 'finish');

# Catalog changes between the commands
$database = carried('changes', '', \@plan, qw(run verify));
for my $case (
	[ 'CREATE INDEX added ON c (p_id)', 'DROP INDEX added', qr/not in the plan: CREATE INDEX added/, 'an index that was added' ],
	[ 'CREATE TABLE e (p_id bigint REFERENCES p)', 'DROP TABLE e', qr/dependent object: constraint .* on table public\.e/, 'a foreign key' ],
	[ 'ALTER TABLE c ALTER p_id DROP NOT NULL', 'ALTER TABLE c ALTER p_id SET NOT NULL', qr/only in the plan: column public\.c\.p_id bigint t/,
		'a property that was dropped' ],
	[ 'ALTER TABLE c DISABLE TRIGGER "~rekey"', 'ALTER TABLE c ENABLE ALWAYS TRIGGER "~rekey"', qr/not complete: triggers of public\.c/,
		'a trigger that was disabled' ],
	[ 'ALTER TABLE c DROP CONSTRAINT rekey_1_1_set', 'ALTER TABLE c ADD CONSTRAINT rekey_1_1_set CHECK (p_id_new IS NOT NULL)',
		qr/not complete: NOT NULL of p_id_new/, 'a constraint that was dropped' ])
{
	my ($change, $undo, $message, $name) = @$case;
	ask($change, $database);
	fails($database, $message, "$name stops the switch", 'switch');
	ask($undo, $database);
}
ask('ALTER TABLE c DISABLE TRIGGER "~rekey"; UPDATE c SET p_id = 9 WHERE p_id = 8; ALTER TABLE c ENABLE ALWAYS TRIGGER "~rekey"', $database);
fails($database, qr/p_id_new: 100 rows, 1 wrong.*old and new keys differ/s, 'verify finds a reference that differs', 'verify');
fails($database, qr/not verified/, 'then there is no switch', 'switch');
ask('UPDATE c SET p_id_new = (SELECT id_new FROM p WHERE p.id = p_id) WHERE p_id = 9', $database);

# A lock that another session holds; a second driver
my $holder = session(database => $database);
succeeds($database, 'verify');
$holder->ask('BEGIN; SELECT * FROM c');
my $waiting = Rekey::start_command($database, 'switch');
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
	WHERE application_name = 'rekey' AND locktype = 'advisory' AND granted)}), 'a driver waits');
fails($database, qr/worked on by process \d+/, 'a second one is refused', 'run');
ask('INSERT INTO c (p_id) VALUES (3)', $database);
$waiting->{harness}->pump until $waiting->{said} =~ /waiting for switch: (.*)/ || !$waiting->{harness}->pumpable;
like($1 // '', qr/process \d+ \(.*idle in transaction/, 'the holder is named');
$holder->ask('COMMIT');
ok($waiting->{harness}->finish, 'then the switch is made');
$holder->quit;
ask('CREATE UNIQUE INDEX added ON c (p_id, s, id); ALTER TABLE c ADD CONSTRAINT k CHECK (p_id IS NOT NULL)', $database);
fails($database, qr/constraint k on table public\.c .*not in the plan: public\.added/s, 'what finish would drop stops it', 'finish');
ask('DROP INDEX added; ALTER TABLE c DROP CONSTRAINT k; ALTER TABLE c DISABLE TRIGGER USER; UPDATE c SET p_id = 7 WHERE p_id = 20', $database);
fails($database, qr/not complete: triggers of public\.c/, 'a trigger that was disabled stops it', 'finish');
ask('ALTER TABLE c ENABLE ALWAYS TRIGGER "~rekey"', $database);
fails($database, qr/old and new keys differ/, 'what was written without it stops it', 'finish');
ask('UPDATE c SET p_id_new = (SELECT id_new FROM p WHERE id = 7) WHERE p_id = 7', $database);
ends($database, 'finish');
is(outcome(q{INSERT INTO p (id_new) VALUES (gen_random_uuid()) ON CONFLICT ON CONSTRAINT p_pkey DO NOTHING}, database => $database),
	'', 'the primary key has its old name');
fails($database, qr/no run is active/, 'then there is no run', 'run');

done_testing();
