# rekey.sql: what plan() refuses, with its name, and what is carried or survives.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Rekey;
use Server;

my $node = $Rekey::node = init_server('rekey_cases',
	"max_connections = 40\nwal_level = logical\nmax_prepared_transactions = 2\n"
	. "shared_preload_libraries = pg_stat_statements\nautovacuum_naptime = 1", allows_streaming => 1);
$node->start;
my $tables = q{
	CREATE TABLE p (id serial PRIMARY KEY, note text);
	CREATE TABLE c (id bigserial PRIMARY KEY, p_id int NOT NULL CONSTRAINT fk
		REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE, s text);
	INSERT INTO p SELECT FROM generate_series(1, 100);
	INSERT INTO c (p_id, s) SELECT id, 'x' FROM p;};
my @plan = qw(plan p.id --type bigint);

ask('CREATE ROLE app LOGIN; CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE other');
Rekey::install('postgres');

# --- Refused -----------------------------------------------------------------
# What plan() says of p.id after the statements, in a transaction with both tables

my $refused = <<'END';
owner is not the role of the session.*: work.c$ <= ALTER TABLE c OWNER TO other
owner is .* by SET ROLE of a superuser: work.c$ <= GRANT ALL ON SCHEMA rekey, work TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rekey TO owner;
	ALTER TABLE c OWNER TO owner; ALTER TABLE p OWNER TO owner; SET ROLE owner
table of another role: work.c: d
	<= CREATE TABLE d (id bigint PRIMARY KEY); ALTER TABLE d OWNER TO other;
		ALTER TABLE c ADD CONSTRAINT d FOREIGN KEY (p_id) REFERENCES d NOT VALID
foreign key of a partitioned table: work.d: k.*not an ordinary table: work.d
	<= CREATE TABLE d (p_id int CONSTRAINT k REFERENCES p) PARTITION BY LIST (p_id);
		CREATE TABLE d1 PARTITION OF d DEFAULT
inheritance: work.p <= CREATE TABLE d () INHERITS (p)
extension: work.c <= ALTER EXTENSION plpgsql ADD TABLE c
trigger "~rekey" with another function: work.c <= CREATE TRIGGER "~rekey" BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION f()
several sequences of: work.p.id <= CREATE SEQUENCE s OWNED BY p.id
rule: work.p <= CREATE RULE r AS ON DELETE TO p DO NOTHING
subscription: work.c <= SET allow_system_table_mods = on; INSERT INTO pg_subscription_rel VALUES (0, 'c'::regclass, 'r')
publication: work.c <= CREATE PUBLICATION pub FOR TABLE c
whole row in an index or CHECK: work.c <= ALTER TABLE c ADD CHECK (c IS NOT NULL)
whole row in an index or CHECK: work.c
	<= CREATE FUNCTION h(c) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE INDEX ON c (h(c))
stored rows of the row type of: work.p <= CREATE TABLE d (q p)
stored rows of the row type of: work.p <= CREATE TABLE d (q p[])
stored rows of the row type of: work.p <= CREATE DOMAIN d AS p
type of column: work.c.p_id <= CREATE DOMAIN num AS int; ALTER TABLE c ALTER p_id TYPE num
security label: work.c.p_id
	<= SET allow_system_table_mods = on; INSERT INTO pg_seclabel VALUES ('c'::regclass, 'pg_class'::regclass, 2,
		'selinux', '')
name in use, or too long: work.c.p_id <= ALTER TABLE c ADD p_id_rekey int
name in use, or too long: work.c.ppp <= DO $$ BEGIN EXECUTE 'ALTER TABLE c RENAME p_id TO ' || repeat('p', 63); END $$
name in use: p_pkey_rekey <= CREATE TABLE p_pkey_rekey ()
name in use: fk_rekey <= ALTER TABLE c ADD CONSTRAINT fk_rekey CHECK (s > '')
dependent object: constraint x <= ALTER TABLE c ADD CONSTRAINT x EXCLUDE USING btree (p_id WITH =)
exclusion constraint: work.c: x <= ALTER TABLE c ADD CONSTRAINT x EXCLUDE USING btree (id WITH =) WHERE (p_id > 0)
deferrable unique constraint: work.c: u <= ALTER TABLE c ADD CONSTRAINT u UNIQUE (p_id) DEFERRABLE
constraint that is not enforced: work.c: fk <= ALTER TABLE c DISABLE TRIGGER ALL
trigger that fires after "~rekey": work.c: ~z <= CREATE TRIGGER "~z" BEFORE INSERT ON c FOR EACH ROW EXECUTE FUNCTION f()
trigger whose function copies whole rows: work.c: t <= CREATE TABLE h AS SELECT * FROM c; CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql
	AS 'BEGIN INSERT INTO h SELECT NEW.*; RETURN NEW; END'; CREATE TRIGGER t AFTER INSERT ON c
		FOR EACH ROW EXECUTE FUNCTION g()
trigger that the fill would fire \(--fire.*: work.c: t <= ALTER FUNCTION f() OWNER TO owner; AS_OWNER;
	CREATE TRIGGER t BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION f()
trigger that the fill would fire \(--fire.*: work.c: t <= CREATE TRIGGER t BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION f();
	ALTER TABLE c ENABLE REPLICA TRIGGER t
dependent object: .*column g of table work.c <= ALTER TABLE c ADD g bigint GENERATED ALWAYS AS (p_id + 1) STORED
dependent object: policy y on table work.c <= CREATE POLICY y ON c USING (p_id > 1)
dependent object: statistics object <= CREATE STATISTICS st ON p_id, s FROM c
dependent object: function work.g\(\) <= CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT max(p_id) FROM c; END
function int4abs\(bigint\) does not exist <= ALTER TABLE c ADD CHECK (int4abs(p_id) > 0)
its type cannot become bigint: work.p.no <= SELECT <= '{p}', '{no}', 'bigint', false
its type cannot become bigint: work.p.note <= SELECT <= '{p}', '{note}', 'bigint', false
another type is planned.*: work.d.id <= CREATE TABLE d (id smallint); SELECT FROM rekey.plan('{d}', '{id}', 'integer', false)
	<= '{d}', '{id}', 'bigint', false
type of column: work.d.id <= CREATE TABLE d (id int) <= '{d}', '{id}', 'uuid', false
type of column: work.d.id <= CREATE TABLE d (id uuid) <= '{d}', '{id}', 'uuid', false
keys are not changed to text <= SELECT <= '{p}', '{id}', 'text', false
1 values are not uuids.*SELECT \* FROM ONLY work.c WHERE s <= INSERT INTO p (id) VALUES (0); INSERT INTO c (p_id, s)
	VALUES (0, gen_random_uuid()), (0, NULL); DELETE FROM c WHERE p_id > 0 AND s <> 'x' OR id > 1 AND p_id > 0 <= '{c}', '{s}', 'uuid', false
END
$refused .= <<'END' if ask('SHOW server_version_num') >= 180000;
constraint that is not enforced.*: work.c: q <= ALTER TABLE c ADD q int, ADD CONSTRAINT q FOREIGN KEY (q) REFERENCES p NOT ENFORCED
END
$refused =~ s/\n\t/ /g;
for (split /\n/, $refused)
{
	my ($detail, $sql, $arguments) = split / <= /,
	  s/AS_OWNER/GRANT ALL ON SCHEMA rekey, work TO owner; GRANT ALL ON ALL TABLES IN SCHEMA rekey TO owner;
		ALTER TABLE c OWNER TO owner;
		ALTER TABLE p OWNER TO owner; SET SESSION AUTHORIZATION owner/r;
	$arguments //= q{'{p}', '{id}', 'bigint', false};
	like(errors("BEGIN; CREATE SCHEMA work; SET search_path = work; $tables
		CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		$sql; SELECT count(*) FROM rekey.plan($arguments); ROLLBACK"), qr/$detail/ms, "refused: $detail");
}
is(ask('SELECT count(*) FROM rekey.columns'), 0, 'what is refused leaves nothing');

# --- Carried -----------------------------------------------------------------

# A database with the two tables and these statements, after these commands
sub carried
{
	my ($database, $sql, @commands) = @_;
	Rekey::new_database($database, "$tables $sql");
	succeeds($database, @commands);
	return $database;
}

# Statements, each with its rows or SQLSTATE, after which all mirrors must be equal
sub statements
{
	my ($database, @cases) = @_;
	for (@cases)
	{
		my ($sql, $outcome, $name) = @$_;
		is(outcome("\\set ON_ERROR_STOP 0\n$sql", database => $database), $outcome, "$database: $name");
		is(ask('SELECT (SELECT count(*) FROM p WHERE id <> id_rekey) + (SELECT count(*) FROM c WHERE p_id <> p_id_rekey
			OR t IS DISTINCT FROM t_rekey)', $database), 0, "$name: the mirrors are equal");
	}
}

# What other roles may do in the meantime: nothing more than before, with search paths, default privileges and objects
# of their own
ask('CREATE DATABASE statements');
ask(q{ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO app; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC;
	ALTER DEFAULT PRIVILEGES
	GRANT ALL ON SEQUENCES TO app; GRANT CREATE ON SCHEMA public TO app;
		ALTER DATABASE statements SET search_path = hostile, public}, 'statements');
Rekey::install('statements');
is(ask(q{SELECT has_schema_privilege('app', 'rekey', 'USAGE'), has_table_privilege('app', 'rekey.columns',
	'UPDATE')}, 'statements'), 'f|f',
	'default privileges give no right to other roles');
my $database = 'statements';
ask("SET search_path = public; $tables" . q{ALTER TABLE c ADD t int CONSTRAINT t REFERENCES p ON DELETE SET NULL;
	REVOKE ALL ON c, p, p_id_seq FROM app;
	ALTER TABLE p ALTER id DROP DEFAULT; DROP SEQUENCE p_id_seq;
		ALTER TABLE p ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START 101 MAXVALUE 32767);
	REVOKE ALL ON SEQUENCE p_id_seq FROM app; COMMENT ON SEQUENCE p_id_seq IS 'numbers';
		GRANT USAGE ON SEQUENCE p_id_seq TO other;
	GRANT INSERT (p_id, s), UPDATE (p_id), SELECT ON c TO app; GRANT USAGE ON SEQUENCE c_id_seq TO app;
		CREATE TABLE ran (as_role text);
	GRANT INSERT ON ran TO PUBLIC; CREATE TABLE a (id varchar(36) PRIMARY KEY);
		INSERT INTO a SELECT gen_random_uuid(); CREATE VIEW v WITH (security_barrier) AS SELECT id AS number, note
		FROM p; GRANT SELECT ON v TO other;
	REVOKE ALL ON v FROM app; COMMENT ON VIEW v IS 'of v'; CREATE VIEW w AS SELECT max(number) FROM v;
	REVOKE ALL ON w FROM app, CURRENT_USER;
	CREATE SCHEMA hostile AUTHORIZATION app; SET ROLE app; CREATE FUNCTION hostile.eq(a anyelement, b anyelement)
		RETURNS boolean LANGUAGE sql
		AS 'INSERT INTO public.ran VALUES (current_user) RETURNING true';
	CREATE OPERATOR hostile.= (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = hostile.eq);
	CREATE FUNCTION hostile.eq(varchar, varchar)
		RETURNS boolean LANGUAGE sql AS 'INSERT INTO public.ran VALUES (current_user) RETURNING true';
	CREATE OPERATOR hostile.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = hostile.eq);
	CREATE FUNCTION hostile.format(text, anyelement)
		RETURNS text LANGUAGE sql AS 'INSERT INTO public.ran VALUES (current_user) RETURNING NULL::text';
	CREATE FUNCTION hostile.has_parameter_privilege(text, text) RETURNS boolean LANGUAGE sql
		AS 'INSERT INTO public.ran VALUES (current_user) RETURNING true'}, $database);
succeeds($database, [qw(plan public.p.id --type bigint)], [qw(plan public.a.id --type uuid)], 'run');
statements($database,
	[ q{SET ROLE app; INSERT INTO c (p_id) VALUES (7)}, '',
		'a role with rights on columns, and a hostile search_path' ],
	[ q{SET ROLE app; UPDATE c SET p_id_rekey = 8}, '42501', 'it has none on the mirror' ],
	[ q{SET ROLE app; CREATE TABLE x (id int); CREATE TRIGGER x BEFORE INSERT ON x FOR EACH ROW EXECUTE FUNCTION
		FUNCTION()}=~ s/FUNCTION\(\)/ask(q{SELECT tgfoid::regproc FROM pg_trigger WHERE tgname = '~rekey' LIMIT 1},
			$database) . '()'/re,
		'42501', 'nor on the function' ],
	[ q{SELECT DISTINCT prosecdef, proconfig FROM pg_proc WHERE proname ~ '^~rekey'},
		'f|{"search_path=pg_catalog, pg_temp"}', 'which has its rights' ],
	[ 'INSERT INTO c (p_id) VALUES (1), (2)', '', 'values' ],
	[ 'INSERT INTO c (p_id, p_id_rekey) VALUES (1, 2)', '22023', 'a mirror that differs' ],
	[ 'UPDATE c SET s = $$y$$, p_id_rekey = NULL WHERE id = 3; SELECT p_id FROM c WHERE id = 3', '3',
		'a row that is written back as it was before the fill' ],
	[ q{CREATE TABLE inbox (); CREATE FUNCTION write_back() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN UPDATE c SET s = $$y$$, p_id_rekey = NULL WHERE id = 4; RETURN NULL; END';
		CREATE TRIGGER t AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION write_back();
		INSERT INTO inbox DEFAULT VALUES; SELECT p_id FROM c WHERE id = 4}, '4', 'the same, by a trigger' ],
	[ 'INSERT INTO c (p_id) VALUES (-1)', '23503', 'no parent' ],
	[ 'SET session_replication_role = replica; INSERT INTO c (p_id) VALUES (5)', '',
		'a session that fires no ordinary triggers' ],
	[ 'UPDATE p SET id = 1000 WHERE id = 11; SELECT count(*) FROM c WHERE p_id = 1000', '1', 'ON UPDATE CASCADE' ],
	[ 'ALTER TABLE c DROP CONSTRAINT fk, ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES p ON UPDATE CASCADE
		ON DELETE CASCADE; UPDATE p SET id = 1001 WHERE id = 12; SELECT count(*) FROM c WHERE p_id = 1001', '1',
		'ON UPDATE CASCADE, first by the copy' ],
	[ 'UPDATE c SET t = 13 WHERE p_id = 14; DELETE FROM p WHERE id = 13; SELECT t FROM c WHERE p_id = 14', '',
		'ON DELETE SET NULL' ],
	[ 'WITH o AS (INSERT INTO p (id) VALUES (900)), i AS (INSERT INTO c (p_id, s) VALUES (900, $$b$$)) SELECT 1',
		'1', 'parent and child in one statement' ],
	[ 'INSERT INTO c (id, p_id) VALUES (1, 20) ON CONFLICT (id) DO UPDATE SET p_id = excluded.p_id + 1', '',
		'ON CONFLICT DO UPDATE' ],
	[ 'MERGE INTO c USING p ON c.id = p.id WHEN MATCHED AND p.id BETWEEN 30 AND 40 THEN UPDATE SET p_id = 30
		WHEN NOT MATCHED THEN INSERT (p_id) VALUES (p.id)', '', 'MERGE' ],
	[ 'BEGIN; INSERT INTO c (p_id) VALUES (30); TRUNCATE c', '55006', 'documented: TRUNCATE after a write' ],
	[ 'ALTER TABLE c DROP COLUMN p_id', '2BP01', 'the column cannot be dropped' ],
	[ 'ALTER TABLE c ALTER p_id TYPE bigint', '0A000', 'nor changed' ]);
fails($database, qr/view \(--views\): public\.v\nview \(--views\): public\.w/, 'views stop it', 'switch');
succeeds($database, [qw(switch --views)]);
is(ask(q{SELECT count(*) FROM ran}, $database), 0, 'nothing of another role was executed');
is(ask(q{SELECT obj_description('v'::regclass), obj_description('p_id_seq'::regclass), has_table_privilege('other',
	'v', 'SELECT'),
		has_table_privilege('app', 'v', 'SELECT'), has_sequence_privilege('other', 'p_id_seq', 'USAGE'),
			has_sequence_privilege('app', 'p_id_seq', 'USAGE'),
		(SELECT reloptions FROM pg_class WHERE relname = 'v'), (SELECT format_type(atttypid, -1) FROM pg_attribute
			WHERE attrelid = 'w'::regclass AND attnum = 1),
		(SELECT relacl FROM pg_class WHERE relname = 'w'), (SELECT max_value FROM pg_sequences
			WHERE sequencename = 'p_id_seq'),
		has_column_privilege('app', 'c', 'p_id', 'UPDATE'), has_column_privilege('app', 'c', 'p_id_rekey',
			'UPDATE')}, $database),
	'of v|numbers|t|f|t|f|{security_barrier=true}|bigint|{}|32767|t|t',
		'views and sequences keep their privileges and comments');
statements($database,
	[ q{INSERT INTO c VALUES (5000, 7, 'x')}, '22023', 'documented: INSERT without columns' ],
	[ q{COPY p FROM PROGRAM 'echo 999,x' WITH (FORMAT csv)}, '22P04', 'documented: COPY without columns' ],
	[ 'INSERT INTO p (note) VALUES ($$x$$) RETURNING id > 100', 't', 'the sequence continues' ]);
fails($database, qr/view \(--views\)/, 'views stop the way back, too', 'back');
succeeds($database, [qw(back --views)], [qw(switch --views)]);
ends($database, 'finish');

# A copy that is before the original: it has no action, so that a row is not checked before the cascade has reached it, nor
# updated twice. Actions that set other columns, too, or the default; a switch that is killed before its last step.
my @actions = map { "ALTER TABLE e ADD CONSTRAINT $_->[0] FOREIGN KEY $_->[1]" }
	[ n => '(p_id) REFERENCES p ON DELETE SET NULL ON UPDATE CASCADE' ],
	[ m => '(q_id, note) REFERENCES p (id, note) ON DELETE SET NULL ON UPDATE CASCADE' ],
	[ q => '(r_id) REFERENCES p ON DELETE SET DEFAULT' ];
$database = carried('actions', q{CREATE TABLE d (id int PRIMARY KEY, c_id bigint REFERENCES c ON DELETE CASCADE);
	CREATE TABLE e (id int PRIMARY KEY, d_id int REFERENCES d ON DELETE CASCADE, p_id int, q_id int, note text,
		r_id int DEFAULT 9, times int DEFAULT 0, g int GENERATED ALWAYS AS (id + 1) STORED);
	CREATE FUNCTION times() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.times := OLD.times + 1; RETURN NEW; END';
	CREATE TRIGGER times BEFORE UPDATE ON e FOR EACH ROW EXECUTE FUNCTION times();
	UPDATE p SET note = 'n'; ALTER TABLE p ADD UNIQUE (id, note);
	INSERT INTO d VALUES (1, 1); INSERT INTO e VALUES (1, 1, 1, NULL, NULL, 9), (2, NULL, 1, NULL, NULL, 9),
		(3, NULL, 2, NULL, NULL, 9), (4, NULL, 3, 3, 'n', 9), (5, NULL, NULL, 4, 'n', 5);} . join(';', @actions), \@plan, 'run');
ask(join(';', 'ALTER TABLE e DROP CONSTRAINT n, DROP CONSTRAINT m, DROP CONSTRAINT q', @actions), $database);
my $act = sub { return ask("$_[0]; SELECT id, p_id, q_id, note, r_id, times FROM e ORDER BY 1", $database) };
is($act->('DELETE FROM p WHERE id = 1'), "2||||9|1\n3|2|||9|0\n4|3|3|n|9|0\n5||4|n|5|0", 'SET NULL beside a cascade');
is($act->('UPDATE p SET id = 200 WHERE id = 2'), "2||||9|1\n3|200|||9|1\n4|3|3|n|9|0\n5||4|n|5|0",
	'the triggers of a cascade fire once');
is($act->('DELETE FROM p WHERE id IN (4, 5)'), "2||||9|1\n3|200|||9|1\n4|3|3|n|9|0\n5||||9|2",
	'SET NULL of another column, and SET DEFAULT');
succeeds($database, 'switch', 'back', 'run');
my @steps = split /\n+(?=[A-Z])/, ask(q{SET search_path = pg_catalog; SELECT rekey.script('switch', false)}, $database);
ask(join(";\n", 'SET search_path = pg_catalog', grep { !/VALIDATE.* [nmq]$/ } @steps), $database);
is($act->(q{UPDATE p SET note = 'o' WHERE id = 3; UPDATE p SET id = 300 WHERE id = 3}),
	"2||||9|1\n3|200|||9|1\n4|300|300|o|9|3\n5||||9|2", 'after the switch, too');
ends($database, 'finish');
is(ask('SELECT count(*) FROM pg_constraint WHERE NOT convalidated OR condeferrable', $database), 0,
	'finish validates the foreign keys');

# The advice of plan
$database = carried('advice', q{CREATE EXTENSION pg_stat_statements; INSERT INTO p VALUES (200, 'x');
	COPY c TO '/dev/null'; SELECT setval('p_id_seq', 1073741824);
	CREATE FUNCTION named() RETURNS bigint LANGUAGE sql AS 'SELECT max(id) FROM p'; CREATE TABLE l (p_id int);
		CREATE TABLE n (q bigint REFERENCES p);
	CREATE MATERIALIZED VIEW m AS SELECT id FROM p});
my $said = (Rekey::command($database, @plan))[1];
like($said, $_, "plan says: $_") for qr/^public\.c: p_id integer -> bigint; about \d+ rows; heap \d/m,
	qr/these columns are the last ones of their tables\. INSERT/,
	qr/^Without column names: INSERT INTO p VALUES/m, qr/50\.0 % of integer/,
		qr/Function public\.named\(\) names public\.p,/,
	qr/Name it, too: public\.l\.p_id/, qr/drop view public\.m by hand/, qr/0A000/;
fails($database, qr/view to be dropped by hand: public\.m/, 'a materialized view stops it', qw(switch --views));
ask('DROP MATERIALIZED VIEW m', $database);
succeeds($database, 'run', [qw(plan p.id l.p_id --type bigint)], 'switch');    # plan again takes what was added
is(ask(q{SELECT type FROM rekey.pairs WHERE tbl = 'l'::regclass}, $database), 'bigint',
	'also a reference without a foreign key');
ends($database, 'finish');

# A snapshot of a physical standby stops the switch, not the run.
$database = carried('standby', 'CREATE TABLE l (p_id int); INSERT INTO l SELECT generate_series(1, 1000)',
	[qw(plan l.p_id --type bigint)]);
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('rekey_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_receiver_status_interval = 1");
$standby->start;
my $reader = session(node => $standby, database => $database);
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->poll_query_until($database, 'SELECT count(backend_xmin) = 1 FROM pg_stat_replication') or die;
succeeds($database, 'run');
$node->wait_for_catchup($standby);
fails($database, qr/rekey_standby has a snapshot that is older than the fill/, 'a snapshot of a standby stops it',
	'switch');
is($reader->ask('SELECT count(p_id) FROM l; COMMIT'), 1000, 'which reads all values');
ok($node->poll_query_until($database, 'SELECT NOT EXISTS (SELECT FROM rekey.missing)'), 'then nothing is missing');
succeeds($database, 'switch');
$node->wait_for_catchup($standby);
is($reader->ask('SELECT count(p_id), min(pg_typeof(p_id)::text) FROM l'), '1000|bigint',
	'and a new snapshot reads all values');
$reader->quit;
ends($database, 'finish');
$standby->stop;

# Names, conditions, comments, statistics; uuids in char(36), and back
ask(q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''});
$database = carried('names', q{ALTER TABLE c DROP CONSTRAINT fk, ALTER p_id TYPE char(36) USING gen_random_uuid();
	ALTER TABLE p ALTER id DROP DEFAULT, ALTER id TYPE char(36) USING gen_random_uuid();
		UPDATE c SET p_id = (SELECT min(id) FROM p);
	ALTER TABLE p ALTER id SET DEFAULT gen_random_uuid()::text;
		ALTER TABLE p RENAME TO "p '%"" p"; ALTER TABLE c RENAME p_id TO "p_id %s"; ALTER TABLE c ADD q char(36);
	CREATE SCHEMA "A b";
		ALTER TABLE "p '%"" p" SET SCHEMA "A b"; DO $$ BEGIN EXECUTE format('ALTER TABLE c ADD CONSTRAINT %I FOREIGN KEY ("p_id %%s")
		REFERENCES "A b"."p ''%%"" p"', repeat('f', 63)); EXECUTE format('CREATE INDEX %1$I ON c ("p_id %%s");
		ALTER TABLE c CLUSTER ON %1$I', repeat('i', 63)); END $$;
	ALTER TABLE c ADD CONSTRAINT q FOREIGN KEY (q)
		REFERENCES "A b"."p '%"" p" NOT VALID, ADD at timestamptz, ADD f float8;
	ALTER TABLE c ADD CONSTRAINT at CHECK (at > '2024-01-02 00:00+00' AND f > float8 '0.123456789' OR q IS NULL);
	ALTER DATABASE names SET datestyle = 'SQL, DMY'; ALTER DATABASE names SET timezone = 'Asia/Kolkata';
	ALTER DATABASE names SET extra_float_digits = -14; ALTER TABLE c ADD CONSTRAINT k CHECK ("p_id %s" = q OR q IS NULL OR s > 'a');
	ALTER TABLE "A b"."p '%"" p" REPLICA IDENTITY USING INDEX p_pkey;
	CREATE UNIQUE INDEX i ON c (id DESC, q,
		s COLLATE "C") INCLUDE ("p_id %s") NULLS NOT DISTINCT WITH (fillfactor=70) TABLESPACE other
	WHERE q IS NOT NULL AND s <> ' WHERE '; ALTER TABLE c ALTER q SET STATISTICS 7, ALTER q SET (n_distinct = 5);
	CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER touch BEFORE UPDATE OF q ON c FOR EACH ROW
	WHEN (NEW.q IS NULL) EXECUTE FUNCTION touch(); ALTER TABLE c DISABLE TRIGGER touch;
		COMMENT ON TRIGGER touch ON c IS 'of touch';
	COMMENT ON INDEX i IS 'of i'; COMMENT ON CONSTRAINT k ON c IS 'of k'; COMMENT ON CONSTRAINT q ON c IS 'of q';
		COMMENT ON CONSTRAINT p_pkey ON "A b"."p '%"" p" IS 'of p'});
my $before = Rekey::schema($database);
my @of_names = ('plan', q{"A b"."p '%"" p"."id"}, qw(--type uuid));
succeeds($database, \@of_names, qw(switch finish));
is(Rekey::schema($database) =~ s/\(\((gen_random_uuid\(\))\)::text\)::uuid/($1)::text/r,
	$before =~ s/character\(36\)/uuid/gr =~ s/ NOT VALID//r, 'names, conditions and comments are kept');

# --- Faults of data, of other sessions and of hands -----------------------------

my $is_waiting = q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rekey'
	AND datname = current_database() AND %s)};
my $good = q{SELECT (SELECT count(*) FROM c WHERE p_id NOT IN (SELECT id FROM p)), (SELECT count(*) FROM c),
	pg_typeof(p_id) FROM c LIMIT 1};

# A dump is restored in each state, and the work continues there.
for my $case ([ 'planned' ], [ 'complete', 'run' ], [ 'exchanged', 'switch' ])
{
	my ($state, @commands) = @$case;
	$database = carried($state, q{CREATE TABLE a AS SELECT gen_random_uuid()::text AS id;
		ALTER TABLE a ADD UNIQUE (id)}, \@plan, @commands);
	dump_and_restore($state eq 'planned' ? 'custom' : 'plain', $database, "r_$state");
	is(Rekey::schema("r_$state"), Rekey::schema($database), "$state: a dump has the same");
	succeeds("r_$state", $state eq 'exchanged' ? 'back' : 'run', 'switch');
	ends("r_$state", 'finish');
	is(ask($good, "r_$state"), '0|100|bigint', "$state: the copy is carried");
	ends($database, $state eq 'exchanged' ? 'finish' : 'abandon');
}

# The schema is dropped, and loaded again: the tables can be written, and the run continues.
$database = carried('dropped', '', \@plan, 'run');
ask('DROP SCHEMA rekey CASCADE; INSERT INTO p DEFAULT VALUES; INSERT INTO c (p_id) VALUES (101)', $database);
Rekey::install($database);
succeeds($database, \@plan, 'switch');
ask('DROP SCHEMA rekey CASCADE; INSERT INTO p DEFAULT VALUES; INSERT INTO c (p_id) VALUES (102)', $database);
is(ask($good, $database), '0|102|bigint', 'the tables can be written, and are carried');
Rekey::install($database);
fails($database, qr/its type cannot become bigint/, 'then the rest is dropped by hand', @plan);

# Columns and tables are dropped, renamed and moved by hand; a trigger is disabled, or lost
$database = carried('hands', q{ALTER TABLE c ADD t int REFERENCES p; CREATE TABLE d (p_id int REFERENCES p)}, \@plan,
	'run');
ask(q{DROP TABLE d; ALTER TABLE c DISABLE TRIGGER "~rekey"}, $database);
is(outcome('UPDATE c SET p_id = 9 WHERE p_id = 8', database => $database), '23514',
	'without the trigger, a mirror that differs is refused');
ask(q{ALTER TABLE c DROP COLUMN t CASCADE; CREATE SCHEMA s; ALTER TABLE p SET SCHEMA s; ALTER TABLE s.p RENAME TO q;
	ALTER SEQUENCE s.p_id_seq RENAME TO qs;
	ALTER TABLE s.q RENAME CONSTRAINT p_pkey TO pk; CREATE INDEX added ON c (p_id, s);
		ALTER TABLE c ALTER p_id DROP NOT NULL}, $database);
like((Rekey::command($database, 'status'))[1], qr/c\.t: no such column.*next: run/s, 'status names what is missing');
fails($database, qr/no such column.*: public\.c\.t/, 'a column that is gone is named', 'switch');
ends($database, 'abandon');
succeeds($database, [qw(plan s.q.id --type bigint)], 'switch');
ask('ALTER TABLE c DROP COLUMN p_id CASCADE', $database);
ends($database, 'finish');
is(ask(q{INSERT INTO s.q DEFAULT VALUES; INSERT INTO c (s) VALUES ('y'); SELECT pg_typeof(id) FROM s.q LIMIT 1},
	$database), 'bigint', 'and the rest is carried');
$database = carried('renamed', '', \@plan, 'run');
ask('ALTER TABLE c RENAME p_id TO q_id', $database);
fails($database, qr/no such column.*: public\.c\.p_id/, 'a column that was renamed is named', 'switch');
ends($database, 'abandon');
succeeds($database, \@plan);
ask('DROP TABLE p, c; CREATE TABLE p (id int PRIMARY KEY)', $database);
succeeds($database, \@plan);    # tables that were dropped are forgotten

# Originals of copies are dropped; a column has the new type by hand; a sequence is beyond the old type
$database = carried('originals', 'CREATE INDEX i ON c (p_id); ALTER TABLE c ADD CONSTRAINT k CHECK (p_id > 0)', \@plan,
	'run');
ask('DROP INDEX i; ALTER TABLE c DROP CONSTRAINT k, DROP CONSTRAINT fk', $database);
fails($database, qr/: public.c: fk_rekey\n.*: public.c: i_rekey\n.*: public.c: k_rekey/,
	'copies without their originals are named', 'switch');
ask('DROP INDEX i_rekey; ALTER TABLE c DROP CONSTRAINT k_rekey, DROP CONSTRAINT fk_rekey', $database);
succeeds($database, 'switch');
ask(q{SELECT setval('p_id_seq', 2147483648)}, $database);
fails($database, qr/its sequence is beyond the old type/, 'then there is no way back', 'back');
is(outcome('INSERT INTO p DEFAULT VALUES', database => $database), '', 'but new values');
ends($database, 'finish');
$database = carried('by_hand', '', \@plan);
ask('ALTER TABLE c ALTER p_id TYPE bigint', $database);
fails($database, qr/changed by hand \(abandon\): public.c.p_id/, 'not the other way round', 'run');
ends($database, 'abandon');

# A privilege that another role has granted
$database = carried('granted', 'GRANT SELECT (id) ON p TO app WITH GRANT OPTION; SET ROLE app;
	GRANT SELECT (id) ON p TO other', \@plan);
fails($database, qr/privileges of public\.p were granted by another role/, 'it would become the owner\'s', 'run');
ends($database, 'abandon');

# A schema of another role, whose functions are not called
ask('CREATE DATABASE foreign_schema');
ask('SET ROLE app; RESET ROLE; CREATE SCHEMA rekey AUTHORIZATION app', 'foreign_schema');
fails('foreign_schema', qr/schema rekey does not exist, or belongs to another role/,
	'functions of another role are not called', 'status');

# A text that is no uuid arrives, and one in upper case
$database = carried('late', q{CREATE TABLE a (id text PRIMARY KEY); INSERT INTO a SELECT gen_random_uuid();
	CREATE TABLE b (a_id text REFERENCES a)}, [qw(plan a.id --type uuid)]);
ask(q{INSERT INTO a VALUES ('legacy-1')}, $database);
fails($database, qr/invalid input syntax for type uuid: "legacy-1"/, 'a value that is no uuid is named', 'run');
ask(q{DELETE FROM a WHERE id = 'legacy-1'}, $database);
succeeds($database, 'run');
is(outcome(q{INSERT INTO a VALUES ('legacy-1')}, database => $database), '22P02', 'then none can be inserted');
ask(q{INSERT INTO a VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'); INSERT INTO b VALUES ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')}, $database);
succeeds($database, 'switch');
ask('UPDATE b SET a_id = a_id', $database);
succeeds($database, 'back');
is(ask('SELECT a_id FROM a JOIN b ON a_id = id', $database), 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
	'a text in upper case is in lower case, with its references, also after back');
ends($database, 'abandon');

# A snapshot that is older than the fill must not read NULL after the switch.
$database = carried('snapshots', q{CREATE TABLE l (p_id int); INSERT INTO l SELECT generate_series(1, 1000)},
	[qw(plan l.p_id --type bigint)]);
$reader = session(database => $database);
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $driver = Rekey::start_command($database, 'run');
ok($node->poll_query_until($database, sprintf $is_waiting, q{query ~ 'snapshots' AND wait_event_type = 'Lock'}),
	'the run waits for an old snapshot');
is($reader->ask('SELECT count(p_id) FROM l; COMMIT'), 1000, 'which reads all values');
ok($driver->{harness}->finish, 'then it ends');
$reader->quit;
succeeds($database, 'switch');
ends($database, 'finish');

# Locks of others: a reader, a prepared transaction, autovacuum; a second driver; an event trigger
$database = carried('locks', q{CREATE TABLE ddl (tag text); CREATE FUNCTION note()
	RETURNS event_trigger LANGUAGE plpgsql AS
	'BEGIN INSERT INTO public.ddl VALUES (tg_tag); END';
		CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION note(); ALTER TABLE c SET
	(autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 0,
		autovacuum_vacuum_scale_factor = 0);
	INSERT INTO c (p_id, s) SELECT 1, repeat('x', 100) FROM generate_series(1, 20000); UPDATE c SET s = 'y'}, \@plan);
ok($node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_stat_activity
	WHERE backend_type = 'autovacuum worker' AND query ~ 'public\.c')}), 'autovacuum works');
succeeds($database, 'run');
ask('ALTER TABLE c RESET (autovacuum_vacuum_cost_delay, autovacuum_vacuum_cost_limit)', $database);
my $holder = session(database => $database);
$holder->ask('BEGIN; SELECT FROM c LIMIT 1');
$driver = Rekey::start_command($database, 'switch');
$driver->{harness}->pump until $driver->{said} =~ /waiting for a lock: (.*)/ || !$driver->{harness}->pumpable;
like($1 // '', qr/process \d+ \(.*idle in transaction/, 'the holder of a lock is named');
ask('INSERT INTO c (p_id) VALUES (3)', $database);
fails($database, qr/another process works: \d+/, 'a second driver is refused', @$_) for [ 'run' ], \@plan;
$holder->ask(q{PREPARE TRANSACTION 'kept'});
$driver->{said} = '';
$driver->{harness}->pump until $driver->{said} =~ /waiting for a lock: a prepared/ || !$driver->{harness}->pumpable;
like($driver->{said}, qr/a prepared transaction/, 'a prepared transaction, too');
ask(q{COMMIT PREPARED 'kept'}, $database);
$holder->quit;
ok($driver->{harness}->finish, 'then the switch is made') or diag($driver->{said});
ends($database, 'finish');
ok(ask(q{SELECT count(*) FROM ddl WHERE tag = 'ALTER TABLE'}, $database) > 10, 'event triggers have seen it');

# An owner that is no superuser: triggers of the tables, which may fire by consent, those of a role that has the right to
# create some, a view of what it may not lock, and SELECT * by rights on columns
{
	local $ENV{PGUSER} = 'owner';
	$database = carried('fired', q{ALTER TABLE c ADD touched int DEFAULT 0; CREATE TABLE one AS SELECT 1 AS n;
		CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
			IF NEW.s <> ''stop'' THEN NEW.touched := (SELECT NEW.touched + n FROM one); RETURN NEW; END IF;
			RETURN NULL; END';
		CREATE TRIGGER touch BEFORE UPDATE ON c FOR EACH ROW EXECUTE FUNCTION touch();
		CREATE VIEW v AS SELECT id, relname FROM p LEFT JOIN pg_class ON relname = note;
		GRANT SELECT (id, note) ON p TO app; GRANT TRIGGER ON c TO app; GRANT REFERENCES ON p TO app;
		CREATE SCHEMA app; GRANT ALL ON SCHEMA app TO app}, [ @plan, '--fire-triggers' ], 'run');
	is(ask('SELECT sum(touched) FROM c', $database), 100,
		'triggers fire with consent, with the search_path of the role');
	my $as_app = sub { delete local $ENV{PGUSER}; return ask("SET ROLE app; $_[0]", $database) };
	is($as_app->('SELECT * FROM p WHERE id = 1'), '1||1', 'SELECT * by rights on columns');
	$as_app->(q{CREATE FUNCTION app.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER f BEFORE UPDATE OF p_id_rekey ON c FOR EACH ROW EXECUTE FUNCTION app.f()});
	my $foreign = qr/trigger f on public.c could call a function of another role/;
	fails($database, $foreign, 'which the fill does not fire', 'run');
	ask('DROP TRIGGER f ON c', $database);
	$as_app->(q{CREATE FUNCTION app.g(int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
		CREATE TRIGGER f BEFORE UPDATE ON c FOR EACH ROW WHEN (app.g(NEW.p_id))
			EXECUTE FUNCTION suppress_redundant_updates_trigger()});
	fails($database, $foreign, 'nor one with such a condition', 'run');
	ask('DROP TRIGGER f ON c', $database);
	$as_app->('CREATE TABLE app.d (p_id bigint REFERENCES p)');
	fails($database, qr/table of another role: app.d: d_p_id_fkey/, 'nor is a table of another role changed', 'switch');
	ends($database, 'abandon');    # without a lock on it
	$as_app->('ALTER TABLE app.d DROP CONSTRAINT d_p_id_fkey');
	succeeds($database, [ @plan, '--fire-triggers' ], [qw(switch --views)]);
	$as_app->('ALTER TABLE app.d ADD FOREIGN KEY (p_id) REFERENCES p');
	ends($database, 'finish');
}
done_testing();
