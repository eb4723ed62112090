# Verify ALTER EXTENSION idgen UPDATE in the order of docs/upgrade.md. The update runs all update scripts since version
# 1.0, and a script that this test creates together with a new library. They add the C functions of the guide in
# CONTRIBUTING.md, an SQL function, a parameter and a column, and they replace a function. After the update, a database
# in use and its open sessions must continue to work. A database that stays at version 1.0 must continue to work with
# the new library, and it must be possible to restore its dump at the new version, and at version 1.0 with the old
# files.

use File::Basename qw(basename);
use InUse;
use Page;
use Server;

# The new version is installed into a copy of the server.
my ($copy, $libraries, $extension) = copy_of_server();
my $node = PostgreSQL::Test::Cluster->new('updated', install_path => $copy);
$node->init;
$node->start;
my $preloaded = PostgreSQL::Test::Cluster->new('preloaded', install_path => $copy);
$preloaded->init;
$preloaded->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
$preloaded->start;
$preloaded->safe_psql('postgres', "CREATE EXTENSION idgen VERSION '1.0'");

# There is no other base script, so CREATE EXTENSION also runs all update scripts.
is_deeply([ grep { !/--.*--/ } map { basename($_) } glob "$extension/idgen--*.sql" ], ['idgen--1.0.sql'],
	'the base script is that of 1.0');

InUse::create($node, $_, version => '1.0') for 'shop', 'old_shop';

# Run a query as the application's role in a new session, and return its result.
sub as_app { my ($database, $query) = @_; return outcome("SET ROLE app; $query", node => $node, database => $database) }

# These sessions have used all functions before the update.
my %session = map { $_ => session(node => $node, database => $_) } 'shop', 'old_shop';
for my $session (values %session)
{
	$session->ask(q{SET ROLE app; SELECT idgen.snowflake(), idgen.typeid('order');
		SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v7(), 'order',
			'{"lines": [1, 2.5], "customer": 7}')});
	die $session->{message} if $session->{sqlstate};
}

# Return the lines of objects that existed before the update. Each line begins with the name of its object.
sub of_old_objects
{
	my ($before, $lines) = @_;
	my %is_old = map { s/\|.*//r => 1 } split /\n/, $before;
	return join "\n", grep { $is_old{s/\|.*//r} } split /\n/, $lines;
}

sub versions { return $node->safe_psql($_[0],
	q{SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'idgen'}) }

my $control = slurp_file("$extension/idgen.control");
my ($version) = $control =~ /^default_version = '(.*)'$/m or die 'no default version';
my $new = "$version.1";
my ($first, $second, $last) = slurp_file("$extension/idgen--1.0.sql") =~ /^(DO \$\$\n.*?^END \$\$;\n)/msg;
my $guide = Page->new('./CONTRIBUTING.md');
my ($code) = $guide->blocks('Add an identifier scheme', 'c');
my ($functions) = grep { /^CREATE FUNCTION/ } $guide->blocks('Add an identifier scheme', 'text');
my $script = qq{
\\echo Use "ALTER EXTENSION idgen UPDATE" to load this file. \\quit

$first
SET LOCAL default_tablespace = '';

$second
$functions} . q{
CREATE FUNCTION idgen.entity_of(command_id uuid) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT c.entity_id FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) entity_of.command_id;
    END;

-- The values of typeid() now increase across all sessions.
CREATE OR REPLACE FUNCTION idgen.typeid(prefix text DEFAULT '', clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7_ordered());

-- The default is a constant, so that no row is changed. An INSERT, UPDATE or DELETE, or a rewrite of the table, would
-- run triggers and index expressions as a superuser.
ALTER TABLE idgen.creation_identifiers ADD COLUMN note text NOT NULL DEFAULT 'none';

-- Add a parameter. The published signature stays, because dumps grant rights on it and column defaults use it. The new
-- function has more arguments, none of them with a default, so that no call is ambiguous. A function that uses keys has
-- a new name, so that GRANT statements without arguments are not ambiguous.
CREATE FUNCTION idgen.short_comb(period interval, prefix_bytes int, run_length int, clock timestamptz, note text)
    RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb';
CREATE FUNCTION idgen.hmac_comb_with_note(area text, key_name text, period interval, note text) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'idgen_hmac_comb';
REVOKE EXECUTE ON FUNCTION idgen.hmac_comb_with_note FROM PUBLIC;

CREATE TABLE idgen.notes (note text);
} . $last;

# Build the library of the new version.
my $build = PostgreSQL::Test::Utils::tempdir() . '/build';
mkdir $build;
system_or_bail('cp', '-rp', 'src', 'Makefile', 'exports.txt', 'idgen.control', $build);
append_to_file("$build/src/timeflake.c", $code);
system_or_bail('make', '-s', '-C', $build, 'idgen.so', 'with_llvm=no', "PG_CONFIG=$ENV{PG_CONFIG}");

# Install the new files or the old files. Like "make install", replace files and do not write into them.
my %files = (
	"$libraries/idgen.so" => [ map { slurp_file($_) } "$libraries/idgen.so", "$build/idgen.so" ],
	"$extension/idgen.control" => [ $control, $control =~ s/^default_version = .*$/default_version = '$new'/mr ],
	"$extension/idgen--$version--$new.sql" => [ undef, $script ]);

sub install_files
{
	my ($is_new) = @_;
	for my $path (sort keys %files)
	{
		unlink $path;
		my $content = $files{$path}[$is_new];
		append_to_file($path, $content) if defined $content;
		chmod 0755, $path if $path =~ /\.so$/;
	}
}
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
my $contents_of_old = InUse::contents($node, 'old_shop');
$node->command_ok([ 'pg_dump', '--format=custom', "--file=$dump.old", $node->connstr('old_shop') ], 'dumped at 1.0');

install_files(1);
is(versions('shop'), "1.0|$new", 'the new version is available');
InUse::check_works($node, 'shop', 'with the new files installed');
install_files(0);
InUse::check_works($node, 'shop', 'before the update, with the old files again');
install_files(1);

# --- Sessions with the old library ------------------------------------------------------------------
my ($no_function) = grep { /could not find function/ } map { $_->[0] } Page->new('running')->table('Troubleshooting');
my ($sqlstate, $first_part, $last_part) = $no_function =~ /^(\w{5}), `(.*)…" in file "…(.*)`$/;
my $update = 'ALTER EXTENSION idgen UPDATE';

sub is_old_library
{
	my ($errors, $name) = @_;
	like($errors, qr/ERROR:  $sqlstate: \Q$first_part\Eidgen_timeflake" in file ".*\Q$last_part\E/, $name);
}
$session{shop}->ask('RESET ROLE');
is($session{shop}->ask($update), $sqlstate, 'in a session with the old library, the update fails');
is_old_library($session{shop}{errors}, '... with the message of the page');
$session{shop}->ask('SET ROLE app');
is_old_library(errors($update, node => $preloaded), 'if the library is preloaded, it fails in a new session, too');
$preloaded->safe_psql('postgres', 'CREATE DATABASE another');
is_old_library(errors('CREATE EXTENSION idgen', node => $preloaded, database => 'another'),
	'... as does CREATE EXTENSION in another database');
like((run_command([ 'pg_restore', '--dbname', $preloaded->connstr('another'), "$dump.old" ]))[1],
	qr/could not find function/, '... and a restore');
$preloaded->restart;
($update) = map { s/;//r } (grep { $_->[1] eq 'sql' } Page->new('upgrade')->blocks_in_order)[0][2] =~ s/\n//gr;
is(outcome("$update; SELECT idgen.timeflake() IS NOT NULL", node => $preloaded), 't', 'after a restart, it succeeds');
is(outcome('CREATE EXTENSION idgen; SELECT idgen.timeflake() IS NOT NULL', node => $preloaded, database => 'another'),
	't', '... as does CREATE EXTENSION');

$node->safe_psql('shop', "ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO auditor") for 'TABLES', 'FUNCTIONS';
my $before = InUse::contents($node, 'shop');
is(as_app('shop', $update), '42501', 'the update requires ownership of the extension');
$node->safe_psql('shop', "SET ROLE shopkeeper; $update");
is(versions('shop'), "$new|$new", 'the owner of the extension can update it');
is(versions('old_shop'), "1.0|$new", 'another database stays at the old version');

is(of_old_objects($before, InUse::contents($node, 'shop')), $before, 'the update keeps the contents');
is($node->safe_psql('shop', q{
		SELECT has_table_privilege('auditor', 'idgen.notes', 'SELECT'),
			has_table_privilege('shopkeeper', 'idgen.notes', 'SELECT WITH GRANT OPTION'),
			(SELECT proacl FROM pg_proc WHERE proname = 'entity_of')}),
	'f|t|', 'of the new objects, only the installer has rights');

my $retry = q{SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 43, 'invoice')};

# Check the new objects in a new session or in a session that began before the update.
sub check_new_version
{
	my ($name, $ask) = @_;
	for (
		[ 'the new function', q{SELECT idgen.entity_of('c0000000-0000-4000-8000-00000000000a')},
		'e0000000-0000-4000-8000-00000000000a' ],
		[ 'the replaced function', q{SELECT idgen.uuid_v7_ordered() < idgen.typeid_to_uuid(idgen.typeid('order'))
			AND idgen.typeid_to_uuid(idgen.typeid('order')) < idgen.uuid_v7_ordered()}, 't' ],
		[ 'the new column', 'SELECT note FROM idgen.creation_identifiers WHERE entity_number = 42', 'none' ],
		[ 'a retry returns the recorded number', $retry, '42|f' ],
		[ 'the new parameter', q{SELECT bool_and(idgen.is_recent_short_comb(id)) FROM (VALUES (idgen.short_comb()),
			(idgen.short_comb('1 minute')), (idgen.short_comb('1 minute', 2, clock => now())),
			(idgen.short_comb('1 minute', 2, NULL, NULL)), (idgen.short_comb('1 minute', 2, NULL, NULL, 'x'))) v (id)},
			't' ])
	{
		is($ask->($_->[1]), $_->[2], "$name: $_->[0]");
	}
}

# Advance the mark by an hour. The old typeid(), which follows the clock, would then violate the order.
$node->safe_psql('shop', q{SELECT setval('idgen.uuid_v7_ordered_mark', last_value + (3600::bigint << 28))
	FROM idgen.uuid_v7_ordered_mark});
check_new_version('a new session', sub { as_app('shop', @_) });
check_new_version('an old session', sub { $session{shop}->ask(@_) });
is(as_app('shop', 'SELECT idgen.timeflake() IS NOT NULL'), 't', 'a new session: the new function in C');
is($session{shop}->ask('SELECT idgen.timeflake()'), $sqlstate, '... which an old session does not find');
InUse::check_works($node, 'shop', 'updated');

is($session{old_shop}->ask($retry), '42|f', 'a session at the old version continues');
InUse::check_works($node, 'old_shop', 'at version 1.0 with the library');
is(as_app('old_shop', 'SELECT idgen.entity_of(NULL)'), '42883', 'the old version does not have the new function');
$_->quit for values %session;

# A dump of version 1.0 is restored on a server whose default version is the new one. Every right and every default must
# be restored.
$node->safe_psql('old_shop', q{
	REVOKE EXECUTE ON FUNCTION idgen.short_comb FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION idgen.short_comb, idgen.hmac_comb, idgen.check_recent_hmac_id TO app;
	CREATE TABLE lines (id uuid DEFAULT idgen.hmac_comb('lines'), number uuid DEFAULT idgen.short_comb('1 hour'));
	CREATE TRIGGER lines_id BEFORE INSERT ON lines FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=lines');
	CREATE VIEW shown AS SELECT idgen.short_comb(clock => now()) AS id});
my $kept = q{
	SELECT p.oid::regprocedure, a.grantee::regrole, a.privilege_type
		FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
		WHERE pronamespace = 'idgen'::regnamespace ORDER BY p.oid::regprocedure::text COLLATE "C", 2, 3;
	SELECT adrelid::regclass, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef
		WHERE adrelid <> 'idgen.creation_identifiers'::regclass ORDER BY adrelid::regclass::text COLLATE "C", 2;
	SELECT pg_get_viewdef('shown'::regclass), pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'lines_id'};
my $kept_before = $node->safe_psql('old_shop', $kept);
my $contents = InUse::contents($node, 'old_shop');
$node->command_ok([ 'pg_dump', '--create', '--format=custom', "--file=$dump", $node->connstr('old_shop') ], 'dumped');
$node->safe_psql('postgres', 'DROP DATABASE old_shop');
$node->command_ok([ 'pg_restore', '--create', '--exit-on-error', '--dbname', $node->connstr('postgres'), $dump ],
	'restored');
is(versions('old_shop'), "$new|$new", 'a restored database is at the new version');
is(of_old_objects($contents, InUse::contents($node, 'old_shop')), $contents, '... with the same contents');
is(of_old_objects($kept_before, $node->safe_psql('old_shop', $kept)), $kept_before,
	'... every right on a function, and every default');
is(outcome('GRANT EXECUTE ON FUNCTION idgen.hmac_comb TO app', node => $node, database => 'old_shop'), '',
	'... and the GRANT of docs/recipes.md, which does not name the arguments, still succeeds');
InUse::check_works($node, 'old_shop', 'restored');

# --- Back to the old version after the update --------------------------------------------------------
install_files(0);
$node->restart;
$node->safe_psql('postgres', 'DROP DATABASE old_shop');
$node->safe_psql('postgres', 'CREATE DATABASE old_shop OWNER shopkeeper');
$node->safe_psql('postgres', "ALTER DATABASE old_shop SET $_") for split /\n/, $InUse::settings;
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('old_shop'), "$dump.old" ],
	'with the old files, a dump from before the update is restored');
is(versions('old_shop'), '1.0|1.0', '... at version 1.0');
is(InUse::contents($node, 'old_shop'), $contents_of_old, '... with its contents');
InUse::check_works($node, 'old_shop', 'back at 1.0');
$_->stop for $node, $preloaded;
done_testing();
