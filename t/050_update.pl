# ALTER EXTENSION idgen UPDATE to a version that adds a function, a parameter
# and a column and replaces a function: a database in use keeps its contents and continues to work, also in
# sessions that are open during the update; so does a database that stays at the
# old version, with the same library. The updated one is dumped and restored.
#
# The update script is an example: it may run as a superuser, so it trusts nothing
# that other roles could have put on the tables.

use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Basename qw(dirname);
use InUse;
use PostgreSQL::Test::Cluster;
use Server;

# The new version is installed into a copy of the server: its programs, which find
# their files relative to their own location, and links to its files.
my $copy = PostgreSQL::Test::Utils::tempdir() . '/server';
my %original;
for my $folder ('bindir', 'sharedir', 'pkglibdir')
{
	($original{$folder}) = run_command([ 'pg_config', "--$folder" ]);
	system_or_bail('mkdir', '-p', "$copy$original{$folder}");
	system_or_bail('cp', $folder eq 'bindir' ? '-r' : '-rs', "$original{$folder}/.", "$copy$original{$folder}");
}
my $extension = "$copy$original{sharedir}/extension";

my $node = PostgreSQL::Test::Cluster->new('updated', install_path => dirname("$copy$original{bindir}"));
$node->init;
$node->start;

InUse::create($node, 'shop');
InUse::create($node, 'old_shop');

# The result of a query by the role of the application in a new session
sub as_app { my ($database, $query) = @_; return outcome("SET ROLE app; $query", node => $node, database => $database) }

# Sessions that have used all functions before the update
my %session = map { $_ => session(node => $node, database => $_) } 'shop', 'old_shop';
for my $session (values %session)
{
	$session->ask('SET ROLE app');
	$session->ask('SELECT idgen.snowflake(), idgen.typeid($$order$$)');
	$session->ask(q{SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v7(), 'order', '{"lines": [1, 2.5], "customer": 7}')});
	die $session->{message} if $session->{sqlstate};
}

sub versions
{
	return $node->safe_psql($_[0],
		q{SELECT extversion FROM pg_extension WHERE extname = 'idgen';
		  SELECT default_version FROM pg_available_extensions WHERE name = 'idgen'});
}

is(versions('shop'), "1.0\n1.0", 'version 1.0 is the only one');

# Install the new version.
append_to_file("$extension/idgen--1.0--1.0.1.sql", q{
\echo Use "ALTER EXTENSION idgen UPDATE TO '1.0.1'" to load this file. \quit

-- Where another role owns an object, because an earlier version or a superuser
-- gave it away, take it back; that role keeps its rights by grants.
DO $$
DECLARE
    object pg_catalog.record;
BEGIN
    ALTER SCHEMA idgen OWNER TO CURRENT_USER;
    FOR object IN
        SELECT c.oid::pg_catalog.regclass AS name, c.relkind OPERATOR(pg_catalog.=) 'S' AS is_sequence, r.rolname AS owner
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner
        WHERE c.relnamespace OPERATOR(pg_catalog.=) 'idgen'::pg_catalog.regnamespace
          AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,v,S}'::pg_catalog."char"[])
          AND r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER AND NOT r.rolsuper
    LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO CURRENT_USER', object.name);
        EXECUTE pg_catalog.format('GRANT %s ON %s TO %I WITH GRANT OPTION',
            CASE WHEN object.is_sequence THEN 'SELECT, UPDATE' ELSE 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE' END,
            object.name, object.owner);
    END LOOP;
END
$$;

CREATE FUNCTION idgen.entity_of(command_id uuid) RETURNS uuid
    LANGUAGE SQL STABLE PARALLEL SAFE STRICT
    BEGIN ATOMIC
        SELECT c.entity_id FROM idgen.creation_identifiers c
        WHERE c.command_id OPERATOR(pg_catalog.=) entity_of.command_id;
    END;

-- a function of the library that is there
CREATE FUNCTION idgen.random_id() RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE STRICT
    AS 'MODULE_PATHNAME', 'idgen_uuid_v4';

-- ordered over all sessions now
CREATE OR REPLACE FUNCTION idgen.typeid(prefix text DEFAULT '', clock timestamptz DEFAULT NULL) RETURNS text
    LANGUAGE SQL VOLATILE PARALLEL SAFE
    RETURN idgen.typeid_from_uuid(prefix, idgen.uuid_v7_ordered());

-- The default is a constant, so that no row is touched: an INSERT, UPDATE or
-- DELETE, or a rewrite of the table, would run other roles' triggers, rules and
-- expressions in indexes and constraints, as a superuser.
ALTER TABLE idgen.creation_identifiers ADD COLUMN note text NOT NULL DEFAULT 'none';

-- Another parameter: the old function keeps its dependents under another name. With
-- CREATE OR REPLACE, there would be two, and idgen.short_comb() would be ambiguous.
ALTER FUNCTION idgen.short_comb(interval, int, int, timestamptz) RENAME TO short_comb_1_0;
CREATE FUNCTION idgen.short_comb(
    period interval DEFAULT '1 minute',
    prefix_bytes int DEFAULT 2,
    run_length int DEFAULT NULL,
    clock timestamptz DEFAULT NULL,
    note text DEFAULT ''
) RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'idgen_short_comb';
});
my $control = slurp_file("$extension/idgen.control");
$control =~ s/^default_version = '1\.0'$/default_version = '1.0.1'/m or die 'no default version';
unlink "$extension/idgen.control" or die "unlink: $!";
append_to_file("$extension/idgen.control", $control);

is(versions('shop'), "1.0\n1.0.1", 'version 1.0.1 is available');
InUse::check_works($node, 'shop', 'with the new files installed');

my $before = InUse::contents($node, 'shop');
like($before, qr/^orders\|4000\|\w{32}\nby index\|4000\n(?:c0.*\n){2}acct\|account_id\n(?:\w+\|\d+\n){5}idgen\.launch_id=12345\n/m,
	'the database is in use');
is(as_app('shop', 'ALTER EXTENSION idgen UPDATE'), '42501', 'the update requires ownership of the extension');
$node->safe_psql('shop', 'SET ROLE shopkeeper; ALTER EXTENSION idgen UPDATE');
is(versions('shop'), "1.0.1\n1.0.1", 'the owner of the extension can update it');
is(versions('old_shop'), "1.0\n1.0.1", 'another database stays at the old version');

is(InUse::contents($node, 'shop'), $before, 'the update keeps the contents');

my $retry = q{SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 43, 'invoice')};

# Check the new objects in a new session or one that began before the update.
sub check_new_version
{
	my ($name, $ask) = @_;
	is($ask->(q{SELECT idgen.entity_of('c0000000-0000-4000-8000-00000000000a')}),
		'e0000000-0000-4000-8000-00000000000a', "$name: the new function");
	is($ask->('SELECT idgen.uuid_version(idgen.random_id())'), '4', "$name: the new function in C");
	is( $ask->(q{SELECT idgen.uuid_v7_ordered() < idgen.typeid_to_uuid(idgen.typeid('order'))
		AND idgen.typeid_to_uuid(idgen.typeid('order')) < idgen.uuid_v7_ordered()}),
		't', "$name: the replaced function");
	is( $ask->(q{SELECT entity_number, note FROM idgen.creation_identifiers WHERE command_id = 'c0000000-0000-4000-8000-00000000000b'}),
		'42|none', "$name: the new column");
	is($ask->($retry), '42|f', "$name: a retry returns the recorded number");
	is( $ask->(q{SELECT idgen.is_recent_short_comb(idgen.short_comb()) AND idgen.is_recent_short_comb(idgen.short_comb('1 minute', 2, note => 'x'))}),
		't', "$name: the new parameter");
	is( $ask->(q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d JOIN pg_attribute a ON attrelid = adrelid AND attnum = adnum
		WHERE adrelid = 'orders'::regclass AND attname = 'public_id'}),
		'idgen.short_comb_1_0()', "$name: the column has the function that it had");
}

# so that the grant is the only reason that typeid() works
$node->safe_psql('shop', q{SELECT setval('idgen.uuid_v7_ordered_ticker', last_value + (3600000 << 12)) FROM idgen.uuid_v7_ordered_ticker});
check_new_version('a new session', sub { as_app('shop', @_) });
check_new_version('an old session', sub { $session{shop}->ask(@_) });
InUse::check_works($node, 'shop', 'updated');

is($session{old_shop}->ask($retry), '42|f', 'a session at the old version continues');
InUse::check_works($node, 'old_shop', 'at the old version with the new library');
is(as_app('old_shop', 'SELECT idgen.random_id()'), '42883', 'the old version does not have the new function');
$_->quit for values %session;

my $backup = $node->backup_dir;
mkdir $backup;
for my $database ('shop', 'old_shop')
{
	my $contents = InUse::contents($node, $database);
	$node->command_ok([ 'pg_dump', '--create', '--format=custom', "--file=$backup/$database", $node->connstr($database) ],
		"$database: dumped");
	$node->safe_psql('postgres', "DROP DATABASE $database");
	$node->command_ok([ 'pg_restore', '--create', '--exit-on-error', '--dbname', $node->connstr('postgres'), "$backup/$database" ],
		"$database: restored");
	is(versions($database), "1.0.1\n1.0.1", "$database: it is at the new version");
	is(InUse::contents($node, $database), $contents, "$database: the contents are the same");
	check_new_version($database, sub { as_app($database, @_) }) if $database eq 'shop';
	InUse::check_works($node, $database, "$database, restored");
}

# A role that owns the tables, as installers did in development versions, has put
# its own code on them. The update takes ownership and runs none of that code.
$node->safe_psql('postgres', 'CREATE ROLE installer; CREATE DATABASE owned; GRANT CREATE ON DATABASE owned TO installer');
$node->safe_psql('owned', q{
	CREATE EXTENSION idgen VERSION '1.0';
	SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000a', 1);
	ALTER SCHEMA idgen OWNER TO installer;
	ALTER TABLE idgen.creation_identifiers OWNER TO installer;
	ALTER TABLE idgen.snowflake_ticker OWNER TO installer;
	ALTER TABLE idgen.tickers OWNER TO installer;
	SET SESSION AUTHORIZATION installer;
	CREATE SCHEMA hers;
	CREATE FUNCTION hers.spy() RETURNS int IMMUTABLE LANGUAGE plpgsql AS
		$$ BEGIN IF current_user <> 'installer' THEN RAISE EXCEPTION 'trapped'; END IF; RETURN 1; END $$;
	CREATE FUNCTION hers.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN hers.spy(); END';
	CREATE TRIGGER hers BEFORE INSERT OR UPDATE OR DELETE ON idgen.creation_identifiers FOR EACH ROW EXECUTE FUNCTION hers.trap();
	ALTER TABLE idgen.creation_identifiers ENABLE ALWAYS TRIGGER hers;
	CREATE INDEX ON idgen.creation_identifiers (command_id) WHERE hers.spy() = 1;
	ALTER TABLE idgen.creation_identifiers ADD CHECK (hers.spy() = 1);
	CREATE POLICY hers ON idgen.creation_identifiers USING (hers.spy() = 1)});
my $superuser = $node->safe_psql('owned', 'SELECT current_user');
$node->safe_psql('owned', 'ALTER EXTENSION idgen UPDATE');
is($node->safe_psql('owned', q{
	SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace
	UNION SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'idgen'}),
	$superuser, 'the update takes ownership of the tables, sequences, view and schema');
is(outcome(q{UPDATE idgen.creation_identifiers SET note = 'new'}, node => $node, database => 'owned'),
	'P0001', "the other role's code would run on UPDATE");
is($node->safe_psql('owned', q{SET ROLE installer; SELECT setval('idgen.snowflake_ticker', 1); SELECT count(*) FROM idgen.creation_identifiers}),
	"1\n1", 'the other role keeps its rights');

$node->safe_psql('postgres', 'CREATE EXTENSION idgen');
is(versions('postgres'), "1.0.1\n1.0.1", 'CREATE EXTENSION installs the new version');
is($node->safe_psql('postgres', q{SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid = 'idgen.creation_identifiers'::regclass AND attnum > 0}),
	'command_id command_name entity_id entity_number request_hash created_at note', 'with the new column');

$node->stop;
done_testing();
