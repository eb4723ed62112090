# Verify the administrator's tasks in docs/backup.md, docs/running.md, docs/upgrade.md and docs/security.md, with the
# statements on these pages: restores of parts of a database, a new installer, what an installer can do, purges
# (including a purge while the clock is ahead), and a crash without synchronous_commit. (t/042_restore.pl tests whole
# dumps, t/005_text_ids.pl the prefixes in dumps, and t/057_pasted_pages.pl pastes whole pages.)

use FakeClock;
use InUse;
use Page;
use Server;

my ($running, $upgrade) = map { Page->new($_) } 'running', 'upgrade';
my $backup = slurp_file('docs/backup.md');
my $node = init_server('operations', undef, allows_streaming => 1);
my $clock = FakeClock->new('operations') if FakeClock::is_installed();
$clock ? $clock->start($node) : $node->start;
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
ask("CREATE ROLE $_ LOGIN") for qw(installer new_installer app auditor);

sub as { my ($role, $database, $query) = @_; return outcome($query, user => $role, database => $database) }

# Return the error messages of a program.
sub messages { return join("\n", (run_command([@_]))[1] =~ /ERROR:  ([^\n]*)/g) }
sub new_database { ask("DROP DATABASE IF EXISTS $_[0]"); ask("CREATE DATABASE $_[0] OWNER installer") }

sub dump_of
{
	my ($database, @options) = @_;
	system_or_bail('pg_dump', '-Fc', '-f', $dump, @options, '-d', $node->connstr($database));
}

sub restore
{
	my ($database, @options) = @_;
	return messages('pg_restore', @options, '-d', $node->connstr($database), $dump);
}

# --- Prefixes -------------------------------------------------------------------
my $prefixes = q{SELECT string_agg(prefix || ' ' || domain, ', ' ORDER BY prefix) FROM idgen.id_prefixes};
my ($exclude) = $backup =~ /(--exclude-table-data=\S+?)`/;
my ($register) = $backup =~ /(INSERT INTO idgen.id_prefixes.*?;)/s;
ask('CREATE DATABASE source');
ask(q{
	CREATE EXTENSION idgen;
	CREATE SCHEMA app;
	CREATE SCHEMA staging;
	SELECT idgen.create_id_domain('app.account_id', 'acct'), idgen.create_id_domain('staging.trial_id', 'trial');
	CREATE TABLE app.accounts (
		id app.account_id PRIMARY KEY DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()));
	INSERT INTO app.accounts DEFAULT VALUES}, 'source');

dump_of('source', '-Nstaging');
new_database('target');
like(restore('target'), qr/^schema "staging" does not exist\z/,
	'without the schema of a domain, the prefixes cannot be copied');
is(ask($prefixes, 'target'), '', '... none of them');
new_database('target');
restore('target', '--single-transaction');
is(ask(q{SELECT to_regclass('app.accounts')}, 'target'), '', '... and in a single transaction nothing is restored');
dump_of('source', '-Nstaging', $exclude);
new_database('target');
is(restore('target', '--single-transaction'), '', "$exclude: restored");
is(ask("$register $prefixes; SELECT count(*) FROM app.accounts", 'target'), "acct app.account_id\n1",
	'... with the prefix of the domain that is there, and the rows');

# Restore the structure or create it with migrations, and then restore the rows.
dump_of('source');
new_database('target');
is(restore('target', '--schema-only'), '', 'the structure is restored');
ask($register, 'target');
like(restore('target', '--data-only'), qr/^duplicate key value violates unique constraint "id_prefixes_pkey"\z/,
	'after it, the prefixes cannot be copied');
dump_of('source', $exclude);
ask('TRUNCATE app.accounts', 'target');
is(restore('target', '--data-only', '--single-transaction'), '', 'without them, the rows are restored');
is(ask($prefixes, 'target'), 'acct app.account_id, trial staging.trial_id', 'beside the prefixes that are there');

# Staging is refreshed without idgen's rows, as described in docs/recipes.md.
my ($options) = Page->new('recipes')->prose('Tests, fixtures, imports, offline clients')
  =~ /`pg_dump (--data-only .*?)`/;
ask('TRUNCATE app.accounts; SELECT idgen.create_once_bigint(idgen.uuid_v4(), 8, $$order$$)', 'target');
dump_of('source', map { tr/'//dr } split / /, $options);
is(restore('target', '--single-transaction'), '', "staging is refreshed by pg_dump $options");
is(ask('SELECT entity_number FROM idgen.creation_identifiers; SELECT count(*) FROM app.accounts', 'target'), "8\n1",
	'with the rows, and its own commands');

# --- A schema, and data only ----------------------------------------------------------
new_database('parts');
is(as('installer', 'parts', q{
		CREATE EXTENSION idgen;
		CREATE SCHEMA app;
		CREATE TABLE app.brought (id uuid PRIMARY KEY);
		INSERT INTO app.brought VALUES (idgen.uuid_v7('2020-01-01'));
		CREATE TRIGGER brought_id BEFORE INSERT ON app.brought
			FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
		SELECT FROM idgen.create_once_bigint(idgen.uuid_v4(), 7, 'order'), idgen.uuid_v7_ordered();
		GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
		GRANT SELECT (command_id) ON idgen.creation_identifiers TO auditor}) =~ s/\n//gr, '', 'the installer grants');
ask('GRANT EXECUTE ON FUNCTION idgen.permute TO app; REVOKE EXECUTE ON FUNCTION idgen.uuid_v7 FROM PUBLIC', 'parts');
my $state = 'SELECT id, entity_number, last_value
	FROM app.brought, idgen.creation_identifiers, idgen.uuid_v7_ordered_mark';
my ($parts, $rights_of_parts) = map { ask($_, 'parts') } $state, $InUse::rights;

new_database('target');
dump_of('parts', '-napp');
is(restore('target'), 'schema "idgen" does not exist', 'a dump of a schema lacks the extension');
new_database('target');
dump_of('parts', '-napp', '-eidgen');
is(restore('target'), '', 'with -e idgen, it is restored');
is(ask($state, 'target'), $parts, '... with commands and marks');
is(ask($InUse::rights, 'target'), $rights_of_parts, '... and rights');
new_database('chosen');
dump_of('parts');
like(restore('chosen', '-napp', '-nidgen'), qr/schema "idgen" does not exist/,
	'pg_restore -n leaves out the extension');
is(as('installer', 'chosen', 'CREATE EXTENSION idgen'), '', '... and into a database that has it');
restore('chosen', '-napp', '-nidgen');
unlike(ask($InUse::rights, 'chosen'), qr/\|app\|/, '... restores no rights');
ask('DELETE FROM app.brought; DELETE FROM idgen.creation_identifiers', 'target');
like(restore('target', '--data-only'), qr/time window/, 'the trigger refuses old rows of a restore of data');
ask(q{
	DELETE FROM idgen.creation_identifiers;
	SELECT FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000009', 9, 'order')}, 'target');
is(restore('target', '--data-only', '--disable-triggers'), '', 'with --disable-triggers, it does not');
ask('DELETE FROM idgen.creation_identifiers WHERE entity_number = 9', 'target');
is(ask($state, 'target'), $parts, '... and the commands are added to those that exist');
ask(q{SELECT FROM idgen.create_once_bigint(idgen.uuid_v4(), 8, 'order')}, 'parts');
ask('DELETE FROM app.brought', 'target');
dump_of('parts');
like(restore('target', '--data-only', '--disable-triggers'), qr/"creation_identifiers_pkey"/,
	'... unless one of them exists');
is(ask('SELECT entity_number FROM idgen.creation_identifiers', 'target'), '7', '... and then none is restored');

# --- The node number of a copied database ------------------------------------------------
ask('LOAD $$idgen$$; ALTER DATABASE parts SET idgen.node_id = 7; ALTER SYSTEM SET idgen.launch_id = 8');
my $node_id = qr/ALTER DATABASE parts SET "?idgen\.node_id"? TO '7'/;
my @programs = Page->new('install')->prose('Settings') =~ /`(pg_dump\S*(?: --create)?)`/g;
is(join(', ', @programs), 'pg_dump --create, pg_dumpall', 'the page names the programs that copy a number');
$node->command_like([ split(/ /, $_), '--dbname', $node->connstr('parts') ], $node_id,
	"$_ contains the number of a database")
  for @programs;
unlike((run_command([ 'pg_dump', $node->connstr('parts') ]))[0], $node_id, '... but pg_dump alone does not');
$node->backup('copy');
like(slurp_file($node->backup_dir . '/copy/postgresql.auto.conf'), qr/^idgen\.launch_id = '8'$/m,
	'a base backup contains that of ALTER SYSTEM');

# --- A single table ----------------------------------------------------------------
my ($forget) = $backup =~ /(DELETE FROM idgen.creation_identifiers.*?;)/s;
sub order
{
	return qq{
		WITH c AS (SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-00000000000$_[0]', idgen.uuid_v4(),
			'create order')),
			o AS (INSERT INTO orders SELECT entity_id FROM c WHERE created)
		SELECT created FROM c};
}
new_database('shop');
ask('CREATE EXTENSION idgen; CREATE TABLE orders (id uuid PRIMARY KEY); ' . order(1), 'shop');
dump_of('shop', '-torders');
is(ask(order(2), 'shop'), 't', 'an order after the dump');
is(restore('shop', '--clean', '--single-transaction'), '', 'the table is set back');
is(ask(order(2) . '; SELECT count(*) FROM orders', 'shop'), "f\n1", 'a retry is answered without a row');
is(ask("$forget " . order(2) . ';' . order(1) . '; SELECT count(*) FROM orders', 'shop'), "t\nf\n2",
	'the statement of the page removes this command only');

# --- Replacing the installer --------------------------------------------------------
# The former installer has installed the extension in two databases of the server.
my $grants = q{
	GRANT SELECT, INSERT (command_id, command_name, entity_id, entity_number, entity_text, request_hash)
		ON idgen.creation_identifiers TO app};
my $may = q{
	SELECT created, has_function_privilege('idgen.permute(bigint,text,bigint,text)', 'EXECUTE')
	FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')};
new_database($_) for 'masked', 'second';
ask("ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO app", 'masked') for qw(TABLES SEQUENCES FUNCTIONS);
is(as('installer', 'masked', "CREATE EXTENSION idgen; $grants"), '', 'the installer grants');
ask('GRANT EXECUTE ON FUNCTION idgen.permute TO app, installer', 'masked');
is(as('app', 'masked', $may), 't|t', 'the application may call the functions');
my ($replace) = $upgrade->blocks('Replacing the installer');
my ($drop_role) = $upgrade->section('Replacing the installer') =~ /`(DROP ROLE installer)`/;
my $by_postgresql = ($replace =~ /^(REASSIGN.*?)\nCOMMIT/ms)[0] . $drop_role;
my $owner = q{SELECT extowner::regrole FROM pg_extension WHERE extname = 'idgen'};
ask("DROP DATABASE $_") for qw(target parts chosen);
is(as('installer', 'second', "CREATE EXTENSION idgen; $grants"), '', 'the installer has another database');
like(errors("BEGIN; $by_postgresql", database => 'masked'),
	qr/2BP01: role "installer" cannot be dropped.*privileges for column/s, 'without the grants, DROP ROLE fails');
is(outcome('BEGIN; ' . ($by_postgresql =~ s/DROP ROLE.*//sr) . "; SET ROLE app; $may", database => 'masked'), '42501',
	'and the rights of the application are gone');
is(errors($replace, database => 'masked'), '', 'the statements of the page replace the installer');
is(ask($owner, 'masked'), 'new_installer', 'who does not own the extension any more');
is(ask(q{SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'second'}) . ' ' . ask($owner, 'second'),
	'new_installer installer', '... nor the other database, but the extension in it');
is(ask(q{SELECT has_database_privilege('installer', 'second', 'CREATE')}), 'f', '... without the right to update it');
like(errors($drop_role), qr/2BP01: role "installer" cannot be dropped.*in database second/s,
	'... so that it cannot be dropped');
is(errors($replace, database => 'second'), '', 'the statements replace it there, too');
is(errors($drop_role), '', '... and it is dropped');
is(ask($owner, 'second'), 'new_installer', 'the new installer owns both extensions');
is(as('app', 'masked', $may), 't|t', 'the application lost nothing');
is(as('app', 'second', q{SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')}), 't',
	'... in both databases');
is(ask(q{SELECT has_function_privilege('new_installer', 'idgen.permute(bigint,text,bigint,text)', 'EXECUTE')},
	'masked'),
	'f', 'the new installer did not get what a superuser granted to the former one');
dump_of('masked');
ask('CREATE DATABASE replaced');
is(restore('replaced', '--single-transaction'), '', 'and a dump names no role that is gone');
is(as('app', 'replaced', $may), 't|t', 'the application has its rights after a restore');
sub dump_of_upgrade { return (run_command([ 'pg_dump', '--binary-upgrade', '--schema-only',
	$node->connstr($_[0]) ]))[0] }
unlike(dump_of_upgrade('masked'), qr/"\d+"/, 'nor does that of pg_upgrade');

# If a superuser installs the extension, the superuser's privilege on the schema is also recorded.
ask("CREATE ROLE administrator SUPERUSER LOGIN; CREATE DATABASE hers");
is(as('administrator', 'hers', 'CREATE EXTENSION idgen'), '', 'a superuser installs');
ask('REASSIGN OWNED BY administrator TO CURRENT_USER; DROP OWNED BY administrator; DROP ROLE administrator', 'hers');
is(dump_of_upgrade('hers') =~ /"\d+"/ ? 1 : 0, ask('SHOW server_version_num') < 170000 ? 1 : 0,
	'before PostgreSQL 17, dumps name a superuser who is gone');
is(as('new_installer', 'masked', $_), 't', "the new one can run $_") for
	q{SELECT idgen.create_id_domain('invoice_id', 'inv') IS NOT NULL},
	'SELECT count(*) > 0 FROM idgen.creation_identifiers',
	'GRANT SELECT ON idgen.id_prefixes TO app; SELECT true',
	'ALTER EXTENSION idgen UPDATE; SELECT true',
	'REVOKE ALL ON idgen.creation_identifiers FROM app; SELECT true';
is(as('app', 'masked', $may), '42501', 'and revoke what was granted');

# --- What an installer can do, as described in docs/security.md ------------------------
ask(q{
	CREATE TABLE uses (
		id uuid DEFAULT idgen.keyed_comb('uses'),
		made timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED);
	CREATE INDEX by_time ON uses (idgen.uuid_timestamp(id));
	CREATE TRIGGER uses_id BEFORE INSERT ON uses FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');
	CREATE VIEW shown AS SELECT idgen.uuid_to_base(id, 58) FROM uses;
	CREATE TABLE others (id uuid DEFAULT idgen.uuid_v7());
	SELECT idgen.create_id_domain('user_id', 'user')}, 'masked');
is(as('new_installer', 'masked', q{BEGIN; DROP EXTENSION idgen CASCADE;
		SELECT string_agg(relation::regclass::text, ' ' ORDER BY relation::regclass::text) FROM pg_locks
		WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relation::regclass::text IN ('others',
			'uses')}),
	'others uses', 'with CASCADE, all tables that use it are locked');
is(as('new_installer', 'masked', 'DROP OWNED BY new_installer CASCADE'), '', 'CASCADE, as DROP OWNED does');
is(ask(q{
		SELECT string_agg(attname, ' ' ORDER BY attnum), count(*) FILTER (WHERE atthasdef), to_regclass('by_time'),
			to_regclass('shown')
		FROM pg_attribute WHERE attrelid = 'uses'::regclass AND attnum > 0 AND NOT attisdropped}, 'masked'),
	'id|0||', 'the default, the generated column, the index and the view are gone');
is(ask(q{INSERT INTO uses VALUES (gen_random_uuid()); SELECT 'anything'::user_id}, 'masked'), 'anything',
	'... and the trigger, and the constraint of the domain');

# --- Messages ----------------------------------------------------------------------------
# PostgreSQL 18 and later omit "$libdir/" from the message.
my ($no_library) = grep { /libdir/ } map { $_->[0] } $running->table('Troubleshooting');
is($no_library, '58P01, `could not access file "$libdir/idgen"`, or `"idgen"`',
	'the page has the message of a missing library');
like(errors(q{CREATE FUNCTION gone() RETURNS uuid LANGUAGE c AS '$libdir/idgen_gone'}),
	qr/ERROR:  58P01: could not access file "(\$libdir\/)?idgen_gone"/, 'which is that of the server');

my ($no_function) = grep { /function/ } map { $_->[0] } $running->table('Troubleshooting');
like(errors(q{CREATE FUNCTION gone() RETURNS uuid LANGUAGE c AS '$libdir/idgen', 'idgen_gone'}),
	qr/ERROR:  42883: could not find function "idgen_gone" in file ".*idgen\.so"/, 'a library without a function');
is($no_function, '42883, `could not find function "…" in file "…/idgen.so"`', '... is in the page');

# --- Purges ---------------------------------------------------------------------------
my $good = q{
	SELECT entity_number, created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000002', 2, 'good')};
ask("TRUNCATE idgen.creation_identifiers; SELECT FROM generate_series(1, 5000) n,
	idgen.create_once_bigint(gen_random_uuid(), n, 'import orders'); $good", 'source');
is(ask("SELECT idgen.purge_creations('0', 'import orders')", 'source'), '5000', 'commands are purged by their name');
# This query returns the sizes of the table's indexes and of the table.
my $sizes = q{SELECT pg_indexes_size(oid), pg_table_size(oid) FROM pg_class WHERE relname = 'creation_identifiers'};
ask('VACUUM (TRUNCATE off) idgen.creation_identifiers', 'source');
my @purged = split /\|/, ask($sizes, 'source');
ask($running->prose('Purge') =~ /`(REINDEX .*?)`/, 'source');
my @reindexed = split /\|/, ask($sizes, 'source');
cmp_ok($reindexed[0], '<', $purged[0] / 2, '... REINDEX makes the indexes smaller');
is($reindexed[1], $purged[1], '... but not the table');
is(ask($good, 'source'), '2|f', '... the others stay');

# The job's loop does not end early if another session has deleted some commands of a batch.
my ($loop) = ($running->blocks('Purge'))[2] =~ /\$job\$\n(.*)\$job\$/s;
ask(q{
	INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
	SELECT ('c0000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, 'create order', i, now() - interval '73 hours'
	FROM generate_series(1, 25000) i}, 'source');
my ($deleting, $purging, $observing) = map { session(database => 'source') } 1 .. 3;
$deleting->ask(q{BEGIN; SELECT idgen.forget_creation('c0000000-0000-7000-8000-000000000001')});
$purging->send_blocked($observing, $loop);
$deleting->ask('COMMIT');
is($purging->answer, '', 'the loop of the page purges beside another session');
is(ask(q{SELECT count(*) FROM idgen.creation_identifiers WHERE command_name = 'create order'}, 'source'), '0',
	'... all old commands');

# --- Waiting retries --------------------------------------------------------------------
my ($limits) = $running->blocks('Recorded commands');
my ($waiters) = ($running->blocks('Monitoring'))[1] =~ /(SELECT pid, pg_blocking_pids.*?;)/s;
sub app_session
{
	my ($idle_timeout, $lock_timeout) = @_;
	ask($limits =~ s/(idle_in_\w+ =) '10s'/$1 $idle_timeout/r =~ s/(lock_timeout =) '2s'/$1 $lock_timeout/r);
	return session(user => 'app', database => 'source');
}
sub order_of
{
	return "SELECT created FROM idgen.create_once_bigint('c0000000-0000-7000-8000-00000000001$_[0]', 7, 'order')";
}
ask('GRANT SELECT, INSERT ON idgen.creation_identifiers TO app', 'source');
my $lost = app_session(0, 0);
my $waiting = app_session(0, 0);
my $limited = app_session(0, q{'200ms'});
is($lost->ask('BEGIN; ' . order_of(1)), 't', 'a session has sent a command, and not committed');
is($limited->ask(order_of(1)), '55P03', 'with the lock_timeout of the page, a retry gives up');
$waiting->send_blocked($observing, order_of(1));
like(ask($waiters, 'source'), qr/^$waiting->{pid}\|\{$lost->{pid}\}\|[^|]*\|SELECT created [^|]*\z/,
	'... without it, the monitoring shows the retry');
$lost->ask('ROLLBACK');
is($waiting->answer, 't', '... which then executes the command');
my $idle = app_session(q{'1s'}, 0);
is($idle->ask('BEGIN; ' . order_of(2)), 't', 'a session is idle in its transaction');
is($waiting->ask(order_of(2)), 't', '... until the timeout of the page ends it');
$_->quit for $deleting, $purging, $observing, $lost, $waiting, $limited, $idle;

SKIP:
{
	skip 'libfaketime is not installed', 7 if !$clock;
	my $new = q{SELECT idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')};
	ask("TRUNCATE idgen.creation_identifiers; $new", 'source');
	is(ask(q{SELECT idgen.purge_creations('3 days')}, 'source'), '0', 'a new command is not purged');
	$clock->run_ahead_by(4 * 86400);
	is(ask('SELECT idgen.trim_creations(1000)', 'source'), '0', 'while the clock is ahead, trim_creations() keeps it');
	is(ask(q{SELECT idgen.purge_creations('3 days')}, 'source'), '1', 'and purge_creations() does not');

	$clock->run_ahead_by(365 * 86400);
	ask($new, 'source');
	$clock->run_ahead_by(0);
	my ($old) = ($running->blocks('Monitoring'))[1] =~ /(SELECT command_name, count.*?;)/s;
	is(ask($old, 'source'), '', 'a command that was recorded while the clock was ahead is not old');
	is(ask(q{SELECT idgen.purge_creations('3 days')}, 'source'), '0', '... and is kept');
	$clock->run_ahead_by(369 * 86400);
	like(ask($old, 'source'), qr/^order\|1\|/, 'the monitoring shows an old command');
	is(ask(q{SELECT idgen.purge_creations('3 days')}, 'source'), '1', '... which is purged');
}

# --- A crash --------------------------------------------------------------------------------
# Commits are not flushed for ten seconds unless a transaction requests a flush. An unlogged table is rejected, because
# a crash would empty it.
$clock->run_ahead_by(0) if $clock;
$node->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = 10s");
$node->reload;
my $retry = q{
	SELECT entity_number, created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000001', 9, 'order')};
my ($flushed) = $running->prose('Recorded commands') =~ /`(SET LOCAL .*?)`/;
is(ask("BEGIN; $flushed; " . ($retry =~ s/9,/8,/r) . '; COMMIT', 'source'), '8|t', "recorded after $flushed");
kill_postmaster($node);
start_again($node);
is(ask($retry, 'source'), '8|f', 'after a crash, it is known');
my $session = session(database => 'source');
is($session->ask($retry), '8|f', 'and by a session');
ask('ALTER TABLE idgen.creation_identifiers SET UNLOGGED', 'source');
is($session->ask($retry), '8|f', 'which answers from an unlogged table');
my $record = q{SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')};
is($session->ask($record), '42809', 'but records nothing there');
ok((grep { $_->[0] eq "42809, `$session->{message}`" } $running->table('Troubleshooting')),
	'... with the message of the page');
ask('ALTER TABLE idgen.creation_identifiers SET LOGGED', 'source');
is($session->ask($record), 't', 'until it is logged');

# A SERIALIZABLE call inserts without searching first, so it waits only during the insertion.
my ($altering, $watching) = map { session(database => 'source') } 1 .. 2;
$altering->ask('BEGIN; ALTER TABLE idgen.creation_identifiers SET UNLOGGED');
$session->ask('SET default_transaction_isolation = serializable');
$session->send_blocked($watching, q{SELECT idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')});
$altering->ask('COMMIT');
is($session->answer, '42809', 'nor while it waits for a table that becomes unlogged');
$_->quit for $session, $altering, $watching;

done_testing();
