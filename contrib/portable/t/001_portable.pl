# Verify that the portable edition can be installed by a role without privileges, installed again in a database in use,
# removed, and restored, and that a database can switch from it to the extension. (t/005_portable_names.pl tests names;
# t/004_portable_results.pl and "make -C contrib/portable installcheck" test results.)

use Page;
use Server;

my @files = map { "contrib/portable/$_.sql" } qw(uuids checks text_ids create_once);

my $node = init_server('portable', "timezone = 'UTC'\nautovacuum = off");
$node->start;
ask('CREATE ROLE "Installer" LOGIN; CREATE ROLE app LOGIN; CREATE ROLE other LOGIN');

sub create_database
{
	my ($name) = @_;
	ask(qq{CREATE DATABASE $name TEMPLATE template0; GRANT CREATE ON DATABASE $name TO "Installer", other});
	ask('GRANT CREATE ON SCHEMA public TO "Installer"', $name);
}

sub as_installer
{
	my ($database, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', 'Installer' ]);
}

# Run psql as the installer, a role that is not a superuser, and return its messages.
sub run_psql
{
	my ($database, @arguments) = @_;
	my @psql = qw(psql -Xq -v ON_ERROR_STOP=1 -o /dev/null -U Installer -d);
	return (run_command([ @psql, $node->connstr($database), @arguments ]))[1];
}

sub install { my ($database, @some) = @_; return run_psql($database, map { ('-f', $_) } @some ? @some : @files) }

my $objects = q{SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = n.oid),
	(SELECT count(*) FROM pg_class WHERE relnamespace = n.oid)
	FROM pg_namespace n WHERE nspname = 'idgen'};

# --- Installation -----------------------------------------------------------
for my $set ('uuids', 'uuids create_once', 'uuids text_ids create_once checks')
{
	my @names = split / /, $set;
	my @some = map { "contrib/portable/$_.sql" } @names;
	my $database = "only_$set" =~ tr/ /_/r;
	my $made = "$objects; SELECT nspacl FROM pg_namespace WHERE nspname = 'idgen'";
	create_database($database);
	as_installer($database, 'CREATE SCHEMA idgen') if $set eq 'uuids';
	is(install($database, @some), '', "a role with CREATE on the database installs $set");
	my $before = ask($made, $database);
	is(install($database, @some), '', 'and again');
	is(ask("$made; SELECT file, version FROM idgen.portable_version()", $database),
		join("\n", $before, map { "$_|1.0" } sort @names), 'with nothing new, as portable_version() shows');
}

create_database($_) for 'p', 'c';
like(install('p', $_), qr/uuids\.sql is not installed/, "$_ requires uuids.sql") for @files[ 1 .. 3 ];
as_installer('c', 'CREATE EXTENSION idgen');
like(install('c', $files[0]), qr/extension "idgen" is installed/, 'it does not mix with the extension');
like(install('c', $_), qr/uuids\.sql is not installed/, "nor does $_") for @files[ 1 .. 3 ];

# Make the last function fail, without a transaction and without ON_ERROR_STOP.
my $broken = slurp_file($files[0]) =~ s/(.*COMMENT ON FUNCTION idgen\.)\w+/$1missing/sr;
like(run_psql('p', '-v', 'ON_ERROR_STOP=0', '-c', $broken), qr/function idgen\.missing.* does not exist/,
	'a file that fails');
is(ask($objects, 'p'), '', 'creates nothing');

# Install in the caller's transaction. The caller's settings must not change.
my $all = join '', map { slurp_file($_) } @files;
is(as_installer('p', "SET search_path = public; BEGIN; SET LOCAL search_path = pg_catalog; $all SHOW search_path;
	ROLLBACK; SHOW search_path"),
	"pg_catalog\npublic", 'the files keep search_path');
is(ask($objects, 'p'), '', 'and do not end the transaction of the caller');

is(run_psql('p', '-c', $all), '', 'all is installed in one call');
SKIP: {
	skip 'PostgreSQL 19 has no other string literals', 1 if ask('SHOW server_version_num') >= 190000;
	is(run_psql('p', '-c', "SET standard_conforming_strings = off; SET escape_string_warning = off; $all"), '',
		'and again with standard_conforming_strings = off');
}

# --- A schema that others can change -----------------------------------------
my $own = 'CREATE SCHEMA idgen AUTHORIZATION "Installer"';
my $reached = q{CREATE FUNCTION idgen.portable_require_own_schema() RETURNS void
	LANGUAGE plpgsql AS $$ BEGIN RAISE 'reached'; END $$};
for (
	[ 'of another role', "SET ROLE other; CREATE SCHEMA idgen; $reached; GRANT ALL ON SCHEMA idgen TO PUBLIC" ],
	[ 'where default privileges let others create',
		'ALTER DEFAULT PRIVILEGES FOR ROLE "Installer", CURRENT_USER GRANT CREATE ON SCHEMAS TO app' ],
	[ 'where others may create', "$own; GRANT CREATE ON SCHEMA idgen TO PUBLIC" ],
	[ 'with a function of another role', "$own; CREATE FUNCTION idgen.f() RETURNS int LANGUAGE sql AS 'SELECT 1'" ],
	[ 'with a table of another role', "$own; CREATE TABLE idgen.creation_identifiers (command_id uuid)" ])
{
	my ($schema, $sql) = @$_;
	create_database('taken');
	ask($sql, 'taken');
	my $before = ask($objects, 'taken');
	like(install('taken', $files[0]), qr/schema "idgen" is not only yours|must be owner/,
		"a schema $schema is refused");
	like(errors(slurp_file($_), database => 'taken'), qr/is not only yours|uuids\.sql is not installed by this role/,
		"... for a superuser by $_") for @files;
	is(ask($objects, 'taken'), $before, '... and nothing is created');
	ask('DROP DATABASE taken');
}
as_installer('p', 'GRANT CREATE ON SCHEMA idgen TO app');
like(install('p', $_), qr/schema "idgen" is not only yours/, "$_ refuses the schema later") for @files;
as_installer('p', 'REVOKE CREATE ON SCHEMA idgen FROM app');

# Another role creates the schema after the installer has checked that it does not exist.
create_database('taken');
my ($other, $installer) = map { session(database => 'taken', user => $_) } 'other', 'Installer';
$other->ask('BEGIN; CREATE SCHEMA idgen');
$installer->send_blocked(session(), slurp_file($files[0]));
$other->ask('COMMIT');
like($installer->answer, qr/^(23505|42P06)$/, 'a schema that appears meanwhile is an error');

# --- Installing again -------------------------------------------------------
my $session = session(database => 'p', user => 'Installer');
$session->ask(q{BEGIN;
	SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', idgen.short_comb(), 'order');
	SELECT * FROM idgen.forget_creation('c0000000-0000-4000-8000-000000000002')});
is($session->{sqlstate}, undef, 'a transaction has used create_once()');
{
	local $ENV{PGOPTIONS} = '-c lock_timeout=1ms';
	is(install('p'), '', 'an upgrade waits for no transaction that uses create_once()');
}
$session->quit;

create_database('silent');
ask('ALTER DEFAULT PRIVILEGES FOR ROLE "Installer" REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', 'silent');
install('silent');
ask('REVOKE USAGE ON SCHEMA idgen FROM PUBLIC', 'silent');
is(install('silent'), '', 'an upgrade');
my $call = q{SELECT idgen.prefixed_id_from_uuid('a', idgen.short_comb())};
is(outcome("GRANT USAGE ON SCHEMA idgen TO app; SET ROLE app; $call", database => 'silent'), '42501',
	'default privileges of the installer apply to the functions');
is(outcome("REVOKE USAGE ON SCHEMA idgen FROM app; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen TO app;
	SET ROLE app; $call", database => 'silent'), '42501', '... and grants no USAGE');
is(errors("GRANT USAGE ON SCHEMA idgen TO app; SET ROLE app; $call", database => 'silent'), '',
	'GRANT EXECUTE ON ALL FUNCTIONS is enough');

# Each file is a single statement, which drivers send in one message.
$node->command_ok([ qw(pgbench -n -t 1 -M extended -U Installer -f), $_, $node->connstr('silent') ],
	"$_ by the extended protocol") for @files;

# --- Removal ----------------------------------------------------------------
as_installer('p', q{
	CREATE TABLE notes (id uuid DEFAULT idgen.short_comb(),
		at timestamptz CONSTRAINT near CHECK (idgen.created_near(id, at)));
	CREATE FUNCTION idgen.comb(text) RETURNS int LANGUAGE sql AS 'SELECT 1'});
my $drop = 'contrib/portable/drop.sql';
my $before = ask($objects, 'p');
like(run_psql('p', '-f', $drop),
	qr/default value for column id of table public\.notes.*constraint near on table public\.notes/s,
	'what is in use is not removed, and named');
is(ask($objects, 'p'), $before, 'and nothing has changed');

ask('DROP TABLE notes', 'p');
like(errors(slurp_file($drop), database => 'p'),
	qr/NOTICE:  00000: schema "idgen" contains other objects and stays/,
	'a superuser removes it, and the objects of the user stay');
is(ask("SELECT idgen.comb('mine'); $objects", 'p'), "1\n1|0", 'the rest is removed');
is(run_psql($_, '-f', $drop), '', 'its owner removes it, and some of the files, too')
  for 'only_uuids_text_ids_create_once_checks', 'only_uuids';
is(ask($objects, 'only_uuids'), '', 'with its schema');
like(run_psql($_, '-f', $drop), qr/NOTICE: .* is not installed, skipping/,
	'a second removal does nothing, and none touches the extension')
  for 'only_uuids', 'c';

# --- Restores, and the secret of keyed_comb() --------------------------------
create_database('source');
install('source');
as_installer('source', q{
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'), n int);
	INSERT INTO orders (n) VALUES (1)});

# Run commands with the connection strings OLD and NEW of two databases, and return the errors.
sub move
{
	my ($from, $to, $user, @commands) = @_;
	local $ENV{OLD} = $node->connstr($from) . $user;
	local $ENV{NEW} = $node->connstr($to) . $user;
	return join '', map { (run_command([ 'bash', '-e', '-o', 'pipefail', '-c', $_ ]))[1] } @commands;
}

# Dump "source" with each list of options, and restore all dumps into one database.
sub refresh
{
	my ($database, @dumps) = @_;
	return move('source', $database, '', map { "pg_dump $_ -d \"\$OLD user=Installer\" |
		psql -X -q -v ON_ERROR_STOP=1 --single-transaction -o /dev/null -d \"\$NEW\"" } @dumps);
}
my $secret = 'SELECT secret FROM idgen.portable_secret';
my $insert = 'INSERT INTO orders (n) VALUES (2)';
my $rows = 'SELECT count(*) FROM orders';
my $no_secret = q{--exclude-table-data='idgen.*'};
my $of_source = ask($secret, 'source');

for ([ 'schema only', [ '--schema-only' ], 0 ], [ 'all but the data of idgen', [ $no_secret ], 1 ],
	[ 'schema only, then data without that of idgen', [ '--schema-only', "--data-only $no_secret" ], 1 ])
{
	my ($name, $dumps, $orders) = @$_;
	create_database('target');
	is(refresh('target', @$dumps), '', "restored: $name");
	like(errors($insert, database => 'target', user => 'Installer'),
		qr/55000: .*portable_secret" is empty\n.*HINT:  Run uuids\.sql again/s, 'keyed_comb() asks for a secret');
	is(install('target', $files[0]), '', 'the file runs again');
	as_installer('target', $insert);
	is(ask($rows, 'target'), $orders + 1, 'then rows have keys');
	isnt(ask($secret, 'target'), $of_source, 'with a secret of the new database');
	ask('DROP DATABASE target');
}

create_database('target');
is(refresh('target', '--schema-only', '--data-only'), '', 'restored: schema only, then data');
as_installer('target', $insert);
is(ask("$rows; $secret", 'target'), "2\n$of_source", 'rows have keys, and the secret is that of the source');
ask('DROP DATABASE target');

# Restore into a database that already has the edition and its own secret.
create_database('target');
install('target');
my $kept = ask($secret, 'target');
is(refresh('target', '--exclude-schema=idgen'), '',
	'restored: all but the schema idgen, into a database that has the edition');
ask('TRUNCATE orders', 'target');
is(refresh('target', "--data-only --disable-triggers $no_secret"), '', 'restored: data only, as docs/recipes.md does');
ask('TRUNCATE orders', 'target');
like(refresh('target', '--data-only'), qr/duplicate key value violates unique constraint "portable_secret_pkey"/,
	'without it, the restore fails');
as_installer('target', $insert);
is(ask("$rows; $secret", 'target'), "1\n$kept", 'wholly, and rows have keys, still with its own secret');

# --- Change to the extension ------------------------------------------------
create_database('old');
install('old');
as_installer('old', q{
	CREATE DOMAIN account_id AS text COLLATE "C" CHECK (idgen.is_prefixed_id(VALUE, 'acct'));
	CREATE DOMAIN key AS uuid DEFAULT idgen.short_comb('30 seconds', 3) CHECK (idgen.uuid_version(VALUE) = 4);
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT
		idgen.prefixed_id_from_uuid('acct', idgen.keyed_comb('accounts')), at timestamptz DEFAULT now());
	CREATE TABLE orders (id uuid DEFAULT idgen.uuid_v7() PRIMARY KEY, k key,
		client uuid CONSTRAINT from_client CHECK (idgen.is_recent_uuid_v7(client)),
		CONSTRAINT ordered CHECK (idgen.uuid_timestamp(id) > '2020-01-01 00:00+00'),
		typed text DEFAULT idgen.typeid('user'),
		made timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED);
	CREATE INDEX orders_by_time ON orders (idgen.uuid_timestamp(id));
	CREATE VIEW newest AS SELECT idgen.uuid_timestamp(id) AS at FROM orders ORDER BY id DESC LIMIT 1;
	CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON orders FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
	CREATE POLICY recent ON orders TO app USING (idgen.uuid_timestamp(id) > '2021-01-01 00:00+00');
	CREATE TABLE parts (id uuid DEFAULT idgen.comb() CHECK (idgen.uuid_version(id) = 4), client uuid)
		PARTITION BY RANGE (id);
	CREATE TABLE part PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
	CREATE FUNCTION place(command uuid) RETURNS boolean LANGUAGE sql AS
		$$SELECT created FROM idgen.create_once(command, idgen.uuid_v7(), 'order', '{"a": [1, 2.50]}')$$;
	GRANT SELECT, INSERT ON orders, account TO app;
	GRANT SELECT (id), UPDATE (client) ON parts TO app;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
	CREATE TABLE bills (command uuid REFERENCES idgen.creation_identifiers, n int);
	INSERT INTO account SELECT FROM generate_series(1, 100);
	INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3) FROM generate_series(1, 100);
	INSERT INTO orders (client) VALUES (idgen.uuid_v7());
	INSERT INTO parts SELECT FROM generate_series(1, 100);
	SELECT count(place(md5(n::text)::uuid)) FROM generate_series(1, 1000) n;
	SELECT idgen.create_once_text(md5('note')::uuid, idgen.typeid('note'), 'note');
	INSERT INTO bills VALUES (md5('1')::uuid, 1)});

# Return the sorted lines of a dump and of two relations. Their original order depends on the edition.
sub state_of
{
	my ($database) = @_;
	my ($dump) = run_command([ 'pg_dump', '--schema=public', '-d', $node->connstr($database) ]);
	return [ sort grep { !/^\\(un)?restrict / } split /\n/,
		"$dump\n" . ask('TABLE idgen.creation_identifiers; TABLE newest', $database) ];
}
my $state = state_of('old');
cmp_ok(scalar @$state, '>', 1000, 'the database is in use');

# Use the commands in contrib/portable/README.md.
my ($commands) = Page->new('contrib/portable/README.md')->blocks('Change to the extension', 'sh');
my ($create, @steps) = split /\n/, $commands;
create_database('new');
is(move('old', 'new', ' user=Installer', $create), '', 'the extension is created');
ask('GRANT INSERT, REFERENCES ON idgen.creation_identifiers TO "Installer"', 'new');
unlike(move('old', 'new', ' user=Installer', @steps), qr/ERROR|FATAL|error:/, 'the owner restores the database');
is_deeply(state_of('new'), $state, 'with rows, defaults, constraints, triggers, views, policies and privileges');

create_database('back');
install('back');
$steps[1] =~ s/--exclude/-e plpgsql --exclude/;
is(move('new', 'back', '', @steps), '', 'a database returns to the portable edition');
is_deeply(state_of('back'), $state, 'with all that it has');
is(ask(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND proname LIKE 'portable%';
	SELECT place(md5('1')::uuid), place(md5('new')::uuid)}, 'new'),
	"0\nf|t",
	'all functions are the extension\'s, and a recorded command is replayed, with the same hash of the request');
is(outcome(q{INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3); INSERT INTO account DEFAULT VALUES;
	INSERT INTO account VALUES ('acct_1')}, database => 'new'), '23514', 'defaults work, and the domain checks');

done_testing();
