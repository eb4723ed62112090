# The portable edition is installed by a role without privileges, installed again in a
# database in use, called by JDBC, removed, and left for the extension by dump and
# restore. t/070_portable_results.pl compares its results; sql/ and specs/ test it as
# they test the extension (make portable-installcheck).

use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use Server;

my $folder = "$FindBin::RealBin/../portable";
my @files = map { "$folder/$_.sql" } qw(uuids text_ids create_once);

my $node = init_server('portable', "timezone = 'UTC'\nautovacuum = off");
$node->start;
ask('CREATE ROLE "Installer" LOGIN; CREATE ROLE app LOGIN; CREATE ROLE other LOGIN');

sub create_database
{
	my ($name) = @_;
	ask(qq{CREATE DATABASE $name TEMPLATE template0; GRANT CREATE ON DATABASE $name TO "Installer", other});
	ask('GRANT CREATE ON SCHEMA public TO "Installer"', $name);
}

sub as_installer { my ($database, $sql) = @_; return $node->safe_psql($database, $sql, extra_params => [ '-U', 'Installer' ]) }

# Run psql as the installer, who is no superuser; return its messages.
sub run_psql
{
	my ($database, @arguments) = @_;
	return (run_command([ qw(psql -Xq -v ON_ERROR_STOP=1 -o /dev/null -U Installer -d), $node->connstr($database), @arguments ]))[1];
}

sub install { my ($database, @some) = @_; return run_psql($database, map { ('-f', $_) } @some ? @some : @files) }

my $objects = q{SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid), (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid) FROM pg_namespace n WHERE nspname = 'idgen'};

# --- Installation -----------------------------------------------------------
for my $set ('uuids', 'create_once', 'uuids text_ids', 'create_once uuids text_ids')
{
	my @names = split / /, $set;
	my $database = "only_$set" =~ tr/ /_/r;
	my $made = "$objects; SELECT nspacl FROM pg_namespace WHERE nspname = 'idgen'";
	create_database($database);
	is(install($database, map { "$folder/$_.sql" } @names), '', "a role with CREATE on the database installs $set");
	my $before = $node->safe_psql($database, $made);
	is(install($database, map { "$folder/$_.sql" } @names), '', 'and again');
	is($node->safe_psql($database, $made), $before, 'with nothing new');
	is($node->safe_psql($database, q{SELECT string_agg(file || ' ' || version, ', ') FROM idgen.portable_version()}),
		join(', ', map { "$_ 1.0" } sort @names), 'portable_version() tells what is installed');
}

create_database($_) for 'p', 'c';
like(install('p', "$folder/text_ids.sql"), qr/uuids\.sql is not installed/, 'text_ids requires uuids.sql');
as_installer('c', 'CREATE EXTENSION idgen');
like(install('c', $_), qr/extension "idgen" is installed/, "$_ does not mix with the extension") for @files;

# a failure in the last function, without a transaction and without ON_ERROR_STOP
my $broken = PostgreSQL::Test::Utils::tempdir() . '/broken.sql';
append_to_file($broken, slurp_file($files[0]) =~ s/(.*COMMENT ON FUNCTION idgen\.)\w+/$1missing/sr);
like(run_psql('p', '-v', 'ON_ERROR_STOP=0', '-f', $broken), qr/function idgen\.missing.* does not exist/, 'a file that fails');
is($node->safe_psql('p', $objects), '', 'creates nothing');

# into an empty schema of the installer
create_database('empty');
as_installer('empty', 'CREATE SCHEMA idgen');
is(install('empty', $files[2]), '', 'the schema of the installer can exist');
is($node->safe_psql('empty', 'SELECT file, version FROM idgen.portable_version()'), 'create_once|1.0', 'and then has portable_version(), too');
is(run_psql('empty', '-f', "$folder/drop.sql"), '', 'drop.sql knows it');
is($node->safe_psql('empty', $objects), '', 'and removes all');

# in a transaction of the caller
my $all = join '', map { slurp_file($_) } @files;
is(as_installer('p', "SET search_path = public; BEGIN; $all ROLLBACK; SHOW search_path"), 'public', 'the files keep search_path');
is($node->safe_psql('p', $objects), '', 'and do not end the transaction of the caller');
is(as_installer('p', qq{
		SET search_path = public; BEGIN; SET LOCAL search_path = pg_catalog; $all SHOW search_path; COMMIT;
		SHOW search_path}),
	"pg_catalog\npublic", 'which has its settings, and the session its own again afterwards');

is(run_psql('p', '-c', $all), '', 'all is installed in one call');
SKIP: {
	skip 'PostgreSQL 19 has no other string literals', 1 if ask('SHOW server_version_num') >= 190000;
	is(run_psql('p', '-c', "SET standard_conforming_strings = off; SET escape_string_warning = off; $all"), '', 'and again with standard_conforming_strings = off');
}

# --- A schema that others can change -----------------------------------------
for (
	[ 'of another role', 'SET ROLE other; CREATE SCHEMA idgen' ],
	[ 'where default privileges let others create', 'ALTER DEFAULT PRIVILEGES FOR ROLE "Installer" GRANT CREATE ON SCHEMAS TO app' ],
	[ 'where others may create', 'SET ROLE "Installer"; CREATE SCHEMA idgen; GRANT CREATE ON SCHEMA idgen TO PUBLIC' ],
	[ 'with a function of another role', q{CREATE SCHEMA idgen AUTHORIZATION "Installer"; CREATE FUNCTION idgen.f() RETURNS int LANGUAGE sql AS 'SELECT 1'} ],
	[ 'with a table of another role', q{CREATE SCHEMA idgen AUTHORIZATION "Installer"; CREATE TABLE idgen.creation_identifiers (command_id uuid)} ])
{
	my ($schema, $sql) = @$_;
	create_database('taken');
	ask($sql, 'taken');
	my $before = ask($objects, 'taken');
	like(install('taken', $_), qr/schema "idgen" is not only yours/, "a schema $schema is refused") for @files[ 0, 2 ];
	is(ask($objects, 'taken'), $before, 'and nothing is created');
	ask('DROP DATABASE taken');
}

# another role makes the schema after the installer has looked for it
create_database('taken');
my $other = session(database => 'taken', user => 'other');
$other->ask('BEGIN; CREATE SCHEMA idgen');
my $installer = IPC::Run::start([ qw(psql -Xq -1 -v ON_ERROR_STOP=1 -U Installer -f), $files[0], '-d', $node->connstr('taken') ],
	'>', '/dev/null', '2>', \my $err);
session()->poll(q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'Installer' AND wait_event_type = 'Lock')});
$other->ask('COMMIT');
$installer->finish;
like($err, qr/duplicate key value violates unique constraint|already exists/, 'a schema that appears meanwhile is an error');
$other->quit;

# --- Installing again -------------------------------------------------------
my $session = session(database => 'p', user => 'Installer');
$session->ask(q{BEGIN; SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', idgen.short_comb())});
$session->ask(q{SELECT * FROM idgen.forget_creation('c0000000-0000-4000-8000-000000000002')});
is($session->{status}, 'T', 'a transaction has used create_once()');
{
	local $ENV{PGOPTIONS} = '-c lock_timeout=1ms';
	is(install('p'), '', 'an upgrade waits for no transaction that uses create_once()');
}
$session->quit;

$node->safe_psql('p', 'REVOKE USAGE ON SCHEMA idgen FROM PUBLIC; REVOKE EXECUTE ON FUNCTION idgen.uuid_v7(timestamptz) FROM PUBLIC');
install('p');
is($node->safe_psql('p', q{SELECT has_schema_privilege('app', 'idgen', 'USAGE'), has_function_privilege('app', 'idgen.uuid_v7(timestamptz)', 'EXECUTE')}), 'f|f', 'an upgrade grants nothing');
$node->safe_psql('p', 'GRANT USAGE ON SCHEMA idgen TO PUBLIC; GRANT EXECUTE ON FUNCTION idgen.uuid_v7(timestamptz) TO PUBLIC');

create_database('silent');
$node->safe_psql('silent', 'ALTER DEFAULT PRIVILEGES FOR ROLE "Installer" REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC');
install('silent');
my $call = q{SELECT idgen.short_comb(), idgen.prefixed_id('a')};
is(outcome($call, database => 'silent', user => 'app'), '42501', 'default privileges of the installer apply to the functions');
$node->safe_psql('silent', 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen TO app');
is(errors($call, database => 'silent', user => 'app'), '', 'GRANT EXECUTE ON ALL FUNCTIONS is enough');

# --- The trigger ------------------------------------------------------------
$node->safe_psql('p', q{
	CREATE TABLE made (id uuid PRIMARY KEY, "Key" uuid, n int);
	INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
	CREATE TRIGGER near BEFORE INSERT OR UPDATE OF id ON made FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	CREATE TRIGGER hourly BEFORE INSERT OR UPDATE ON made FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('Key', 'short_comb', 'period=1 hour', 'prefix_bytes=1');
	GRANT INSERT, SELECT (n) ON made TO app});

my $is_old = '23514 | near';
my $repeated = q{INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')};
for (
	[ 'new identifiers pass', q{INSERT INTO made VALUES (idgen.uuid_v7(), idgen.short_comb('1 hour', 1))}, '' ],
	[ 'an old one is refused', q{INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e')}, $is_old ],
	[ 'the other trigger refuses', q{INSERT INTO made VALUES (idgen.uuid_v7(), 'ffffffff-0000-7000-8000-000000000000')},
		q{23514 | hourly} ],
	[ 'a repeated INSERT reaches the unique index', $repeated, '23505 | made_pkey' ],
	[ 'and ON CONFLICT', "$repeated ON CONFLICT (id) DO UPDATE SET n = 2", '' ],
	[ 'a role that cannot read the column does not see the row', $repeated, $is_old, user => 'app' ],
	[ 'an unchanged identifier passes', 'UPDATE made SET n = 3, id = id', '' ],
	[ 'a changed one is checked', q{UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'}, $is_old ],
	[ 'and NULL passes', 'INSERT INTO made VALUES (idgen.uuid_v7(), NULL)', '' ])
{
	my ($name, $statement, $failure, @as) = @$_;
	my $errors = errors($statement, database => 'p', @as);

	# the SQLSTATE and constraint, or nothing
	is(join(' | ', map { $errors =~ $_ } qr/ERROR:  (\w+)/, qr/CONSTRAINT NAME:  (\w+)/), $failure, $name);
}
$node->safe_psql('p', 'DROP TABLE made');

# --- JDBC -------------------------------------------------------------------
SKIP:
{
	my $jar = '/usr/share/java/postgresql.jar';
	skip 'no java, or no pgjdbc (libpostgresql-jdbc-java)', 2 if !-e $jar || system('java -version >/dev/null 2>&1') != 0;

	create_database('jdbc');
	my $java = PostgreSQL::Test::Utils::tempdir() . '/Install.java';
	append_to_file($java, q{
		import java.nio.file.*; import java.sql.*;
		class Install { public static void main(String[] a) throws Exception {
			for (boolean auto : new boolean[] {true, false})
				try (var c = DriverManager.getConnection(a[0])) {
					c.setAutoCommit(auto);
					for (int i = 1; i < a.length; i++) try (var s = c.createStatement()) { s.execute(Files.readString(Path.of(a[i]))); }
					if (!auto) c.commit();
				} } }});
	$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
	$node->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
	$node->restart;
	my ($stdout, $stderr) = run_command([ 'java', '-cp', $jar, $java, 'jdbc:postgresql://127.0.0.1:' . $node->port . '/jdbc?user=Installer', @files ]);
	is($stderr, '', 'pgjdbc installs the files, with and without autocommit');
	is($node->safe_psql('jdbc', $objects), $node->safe_psql('p', $objects), 'completely');
}

# --- Removal ----------------------------------------------------------------
as_installer('p', q{CREATE TABLE notes (id uuid DEFAULT idgen.short_comb(), at timestamptz CONSTRAINT near CHECK (idgen.created_near(id, at)));
	CREATE FUNCTION idgen.comb(text) RETURNS int LANGUAGE sql AS 'SELECT 1'});
my $before = $node->safe_psql('p', $objects);
my $refusal = run_psql('p', '-f', "$folder/drop.sql");
like($refusal, qr/default value for column id of table public\.notes depends on function idgen\.short_comb/, 'what is in use is not removed, and named');
like($refusal, qr/constraint near on table public\.notes/, 'all of it');
is($node->safe_psql('p', $objects), $before, 'and nothing has changed');

# functions of another role on the search_path of the database
$node->safe_psql('p', q{
	DROP TABLE notes;
	GRANT CREATE ON DATABASE p TO other;
	SET ROLE other;
	CREATE SCHEMA evil; CREATE TABLE evil.used (t text); GRANT ALL ON SCHEMA evil TO PUBLIC; GRANT ALL ON evil.used TO PUBLIC;
	CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO evil.used VALUES ('current_setting'); RETURN pg_catalog.current_setting($1); END$$;
	CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO evil.used VALUES ('set_config'); RETURN pg_catalog.set_config($1, $2, $3); END$$;
	CREATE FUNCTION evil.to_regprocedure(text) RETURNS regprocedure LANGUAGE plpgsql AS $$BEGIN INSERT INTO evil.used VALUES ('to_regprocedure'); RETURN NULL; END$$;
	CREATE FUNCTION evil.concat(text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO evil.used VALUES ('||'); RETURN 'x'; END$$;
	CREATE OPERATOR evil.|| (FUNCTION = evil.concat, LEFTARG = text, RIGHTARG = text);
	CREATE FUNCTION evil.differ(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO evil.used VALUES ('<>'); RETURN false; END$$;
	CREATE OPERATOR evil.<> (FUNCTION = evil.differ, LEFTARG = text, RIGHTARG = text);
	CREATE FUNCTION evil.make_interval(days int, secs float8) RETURNS interval LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RAISE 'evil.make_interval() called'; END$$;
	RESET ROLE;
	ALTER DATABASE p SET search_path = evil, pg_catalog});
is(install('p'), '', 'the files replace the functions where search_path has others');
is(outcome(q{SELECT idgen.uuid_timestamp('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')}, database => 'p'), '2022-02-22 19:22:22+00', 'and resolve no name there');
like(errors(slurp_file("$folder/drop.sql"), database => 'p'),
	qr/NOTICE:  00000: schema "idgen" contains other objects and stays/, 'a superuser removes it, and the objects of the user stay');
is($node->safe_psql('p', 'SELECT string_agg(t, pg_catalog.chr(32)) FROM evil.used'), '', 'no function of the search_path of the database is called');
$node->safe_psql('p', 'ALTER DATABASE p RESET search_path');
is($node->safe_psql('p', "SELECT idgen.comb('mine'); $objects"), "1\n1|0", 'the rest is removed');
is(run_psql('only_create_once_uuids_text_ids', '-f', "$folder/drop.sql"), '', 'its owner removes it');
is($node->safe_psql('only_create_once_uuids_text_ids', $objects), '', 'with its schema');
is(run_psql('only_create_once', '-f', "$folder/drop.sql"), '', 'one file alone is removed, too');
like(run_psql('only_create_once', '-f', "$folder/drop.sql"), qr/NOTICE:  the portable edition of idgen is not installed, skipping/, 'a second removal does nothing');
like(run_psql('c', '-f', "$folder/drop.sql"), qr/is not installed, skipping/, 'nor does it touch the extension');

# --- Leaving for the extension ----------------------------------------------
create_database('old');
install('old');
as_installer('old', q{
	CREATE DOMAIN account_id AS text COLLATE "C" CHECK (idgen.is_prefixed_id(VALUE, 'acct'));
	CREATE DOMAIN key AS uuid DEFAULT idgen.short_comb('30 seconds', 3) CHECK (idgen.uuid_version(VALUE) = 4);
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'), at timestamptz DEFAULT now());
	CREATE TABLE orders (id uuid DEFAULT idgen.uuid_v7() PRIMARY KEY, k key, client uuid CONSTRAINT from_client CHECK (idgen.is_recent_uuid_v7(client)),
		CONSTRAINT ordered CHECK (idgen.uuid_timestamp(id) > '2020-01-01 00:00+00'), typed text DEFAULT idgen.typeid('user'),
		made timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED);
	CREATE INDEX orders_by_time ON orders (idgen.uuid_timestamp(id));
	CREATE VIEW newest AS SELECT idgen.uuid_timestamp(id) AS at FROM orders ORDER BY id DESC LIMIT 1;
	CREATE MATERIALIZED VIEW stored AS SELECT idgen.uuid_timestamp(id) AS at FROM orders;
	CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
	CREATE POLICY recent ON orders TO app USING (idgen.uuid_timestamp(id) > '2021-01-01 00:00+00');
	CREATE TABLE parts (id uuid DEFAULT idgen.comb() CHECK (idgen.uuid_version(id) = 4), client uuid) PARTITION BY RANGE (id);
	CREATE TABLE part PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
	CREATE FUNCTION place(command uuid) RETURNS boolean LANGUAGE sql AS $$SELECT created FROM idgen.create_once(command, idgen.uuid_v7(), 'order', '{"a": [1, 2.50]}')$$;
	GRANT SELECT, INSERT ON orders, account TO app;
	GRANT SELECT (id), UPDATE (client) ON parts TO app;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
	CREATE TABLE bills (command uuid REFERENCES idgen.creation_identifiers, n int);
	INSERT INTO account SELECT FROM generate_series(1, 100);
	INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3) FROM generate_series(1, 100);
	INSERT INTO orders (client) VALUES (idgen.uuid_v7());
	INSERT INTO parts SELECT FROM generate_series(1, 100);
	REFRESH MATERIALIZED VIEW stored;
	SELECT count(place(md5(n::text)::uuid)) FROM generate_series(1, 1000) n;
	INSERT INTO bills VALUES (md5('1')::uuid, 1)});

my $state = join '', (map { "SELECT '$_', count(*), md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM $_ t;" } qw(idgen.creation_identifiers account orders parts newest stored)), q{
	SELECT adrelid::regclass::text, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE pg_get_expr(adbin, adrelid) LIKE '%idgen%' AND adrelid::regclass::text !~ 'idgen' ORDER BY 1, 2;
	SELECT typname, pg_get_expr(typdefaultbin, 0) FROM pg_type WHERE typname IN ('key', 'account_id') ORDER BY 1;
	SELECT conrelid::regclass, contypid::regtype, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY conname, conrelid::regclass::text;
	SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2;
	SELECT polname, pg_get_expr(polqual, polrelid), polroles::regrole[] FROM pg_policy;
	SELECT pg_get_indexdef('orders_by_time'::regclass), pg_get_viewdef('newest'::regclass), pg_get_viewdef('stored'::regclass);
	SELECT relname, attname, attacl FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attacl IS NOT NULL AND relnamespace = 'public'::regnamespace ORDER BY 1, 2;
	SELECT relname, relowner::regrole, relacl, relrowsecurity FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') ORDER BY 1};
$before = $node->safe_psql('old', $state);

# the way of docs/portable.md, whose commands are these
my ($way, $back) = Page->new('portable')->blocks('Change to the extension', 'sh');
my @steps = split /\n/, $way;
for ([ 'new', 'a superuser', '' ], [ 'new_owned', 'the owner of the objects', ' user=Installer' ])
{
	my ($database, $who, $user) = @$_;
	my $errors = '';
	create_database($database);
	local $ENV{OLD} = $node->connstr('old') . $user;
	local $ENV{NEW} = $node->connstr($database) . $user;
	for my $step (@steps)
	{
		$errors .= (run_command([ 'bash', '-e', '-o', 'pipefail', '-c', $step ]))[1];
		$node->safe_psql($database, 'GRANT INSERT, REFERENCES ON idgen.creation_identifiers TO "Installer"') if $step eq $steps[0] && $user;
	}
	unlike($errors, qr/ERROR|FATAL|error:/, "$who restores a database on a server with the extension");
	is($node->safe_psql($database, $state), $before, 'with all rows, defaults, constraints, triggers, indexes, views, policies and privileges');
}

create_database('back');
{
	local $ENV{OLD} = $node->connstr('back');
	local $ENV{NEW} = $node->connstr('new');
	my (undef, $errors) = run_command([ 'bash', '-e', '-o', 'pipefail', '-c', "cd '$folder/..'; $back" ]);
	is($errors, '', 'a database returns to the portable edition');
	is($node->safe_psql('back', $state), $before, 'with all that it has');
}
is($node->safe_psql('new', q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c') AND proname LIKE 'portable%'; SELECT extname FROM pg_extension WHERE extname = 'idgen'}), "0\nidgen", 'whose functions are those of the extension');
is($node->safe_psql('new', q{SELECT place(md5('1')::uuid), place(md5('new')::uuid)}), 'f|t', 'a command that was recorded before is replayed, with the same hash of the request');
$node->safe_psql('new', q{INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3); INSERT INTO account DEFAULT VALUES; INSERT INTO parts DEFAULT VALUES});
is(outcome(q{INSERT INTO account VALUES ('acct_1')}, database => 'new'), '23514', 'the domain checks');

done_testing();
