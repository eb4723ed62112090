# The role that creates the extension needs only CREATE on the database. It can use
# the extension and grant rights on it, but cannot make other roles run its code:
# it owns neither the tables, nor the sequences, nor the view, nor the schema.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use InUse;
use Server;

my $node = start_server('installer');

my $superuser = ask('SELECT current_user');

ask("CREATE ROLE $_ LOGIN") for qw(installer application stranger);

sub as { my ($role, $database, $query) = @_; return outcome($query, user => $role, database => $database) }

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my @tables = qw(creation_identifiers id_prefixes);
my @sequences = map { "${_}_ticker" } @Functions::tickers;

# --- Ownership ---------------------------------------------------------------

ask('CREATE DATABASE shop; GRANT CREATE ON DATABASE shop TO installer');
is(as('installer', 'shop', 'CREATE EXTENSION idgen'), '', 'a role with CREATE on the database can create the extension');
is( $node->safe_psql('shop', q{
		SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(typowner) FROM pg_type WHERE typnamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'idgen'}),
	$superuser, 'the superuser owns the schema and everything in it');
is( $node->safe_psql('shop', q{
		SELECT relkind, string_agg(DISTINCT privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ')
		FROM pg_class c, aclexplode(relacl) a
		WHERE relnamespace = 'idgen'::regnamespace AND grantee = 'installer'::regrole GROUP BY 1 ORDER BY 1}),
	"S|SELECT* UPDATE*\nr|DELETE* INSERT* SELECT* TRUNCATE* UPDATE*",
	'the installer has rights with grant option');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_default_acl}), '0', 'no default privileges remain');
is( $node->safe_psql('shop', q{SELECT reloptions FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass}),
	'{autovacuum_vacuum_scale_factor=0.02}', 'creation_identifiers has its autovacuum setting');

# Code of the installer, which raises an error when another role runs it
as('installer', 'shop', q{
	CREATE SCHEMA hers;
	GRANT USAGE ON SCHEMA hers TO PUBLIC;
	CREATE FUNCTION hers.spy(anyelement) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF current_user <> 'installer' THEN
			RAISE EXCEPTION 'trapped %', current_user USING ERRCODE = 'TRAP0';
		END IF;
		RETURN 1;
	END $$;
	CREATE FUNCTION hers.trap() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM hers.spy(1);
		RETURN NEW;
	END $$;
	CREATE TABLE hers.bait (prefix text);
	CREATE INDEX ON hers.bait (prefix) WHERE hers.spy(1) = 1;
	GRANT SELECT ON hers.bait TO PUBLIC});
is(as($superuser, 'shop', q{EXPLAIN SELECT FROM hers.bait WHERE prefix = 'a'}), 'TRAP0', 'a superuser who reads a view of the installer runs the trap');

# --- Attacks by the installer ------------------------------------------------

for my $attack (
	# on the tables
	(map {
		my $table = "idgen.$_";
		my $column = $_ eq 'id_prefixes' ? 'prefix' : 'command_id';
		("CREATE INDEX ON $table ($column) WHERE hers.spy(1) = 1",
			"CREATE INDEX ON $table (hers.spy($column))",
			"CREATE STATISTICS hers.s ON (hers.spy($column)), ($column) FROM $table",
			"ALTER TABLE $table RENAME COLUMN $column TO other",
			"ALTER TABLE $table ADD COLUMN more int DEFAULT hers.spy(1)",
			"ALTER TABLE $table ALTER COLUMN $column SET DEFAULT hers.spy(1)",
			"ALTER TABLE $table ALTER COLUMN $column TYPE text USING hers.spy($column)",
			"ALTER TABLE $table ADD CHECK (hers.spy(1) = 1)",
			"ALTER TABLE $table ENABLE ROW LEVEL SECURITY",
			"CREATE POLICY hers ON $table USING (hers.spy(1) = 1)",
			"CREATE TRIGGER hers BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION hers.trap()",
			"CREATE RULE hers AS ON INSERT TO $table DO ALSO SELECT hers.spy(1)",
			"CREATE TABLE hers.child () INHERITS ($table)",
			"CREATE TABLE hers.referring (id " . ($_ eq 'id_prefixes' ? 'text' : 'uuid') . " REFERENCES $table)",
			"CREATE PUBLICATION hers FOR TABLE $table",
			"ALTER TABLE $table SET (autovacuum_enabled = off)",
			"ALTER TABLE $table SET UNLOGGED",
			"ALTER TABLE $table RENAME TO other",
			"ALTER TABLE $table SET SCHEMA hers",
			"ALTER TABLE $table OWNER TO installer",
			"ALTER EXTENSION idgen DROP TABLE $table",
			"DROP TABLE $table CASCADE")
	} @tables),
	# on the view
	'CREATE OR REPLACE VIEW idgen.tickers AS SELECT hers.spy(1)',
	'CREATE RULE hers AS ON INSERT TO idgen.tickers DO INSTEAD SELECT hers.spy(1)',
	'CREATE TRIGGER hers INSTEAD OF INSERT ON idgen.tickers FOR EACH ROW EXECUTE FUNCTION hers.trap()',
	'ALTER VIEW idgen.tickers ALTER COLUMN layout SET DEFAULT hers.spy(1)',
	'ALTER VIEW idgen.tickers RENAME TO other',
	'DROP VIEW idgen.tickers',
	# on the sequences
	(map {
		("ALTER SEQUENCE idgen.$_ RESTART", "ALTER SEQUENCE idgen.$_ INCREMENT -1 CYCLE",
			"ALTER SEQUENCE idgen.$_ OWNED BY hers.bait.prefix", "ALTER SEQUENCE idgen.$_ RENAME TO other",
			"ALTER EXTENSION idgen DROP SEQUENCE idgen.$_", "DROP SEQUENCE idgen.$_")
	} @sequences),
	# on the functions
	q{CREATE OR REPLACE FUNCTION idgen.uuid_v4() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'},
	q{CREATE FUNCTION idgen.index_report(text) RETURNS int LANGUAGE sql AS 'SELECT hers.spy(1)'},
	q{CREATE FUNCTION idgen.purge_creations(interval, int) RETURNS int LANGUAGE sql AS 'SELECT hers.spy(1)'},
	'ALTER FUNCTION idgen.uuid_v4() SET SCHEMA hers',
	'ALTER FUNCTION idgen.uuid_v4() SECURITY DEFINER',
	'ALTER FUNCTION hers.spy(anyelement) SET SCHEMA idgen',
	# and on the schema
	'CREATE TABLE idgen.more ()',
	'CREATE OPERATOR idgen.= (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)',
	'ALTER SCHEMA idgen RENAME TO other',
	'ALTER SCHEMA idgen OWNER TO installer',
	'DROP SCHEMA idgen CASCADE')
{
	is(as('installer', 'shop', $attack), '42501', "rejected: $attack");
}
as('installer', 'shop', 'GRANT ALL ON SCHEMA idgen TO installer');
is( $node->safe_psql('shop', q{SELECT has_schema_privilege('installer', 'idgen', 'CREATE')}),
	'f', 'the installer cannot grant itself CREATE on the schema');

# A superuser runs none of the installer's code.
for my $call (
	"SELECT created FROM idgen.create_once($command, $entity)",
	"SELECT NOT created FROM idgen.create_once($command, $entity)",
	"SELECT count(*) = 1 FROM idgen.find_creation($command)",
	q{SELECT idgen.create_id_domain('account_id', 'acct')::text = 'account_id'},
	q{SELECT domain::text = 'account_id' FROM idgen.parse_prefixed_id('acct_1')},
	'SELECT count(*) = ' . @Functions::tickers . ' FROM idgen.tickers',
	'SELECT idgen.purge_creations() = 0')
{
	is(as($superuser, 'shop', $call), 't', "a superuser can run: $call");
}
$node->command_ok([ 'pg_dump', '--format=custom', '--file=' . $node->backup_dir . '/after_attacks', $node->connstr('shop') ],
	'a superuser can dump the database');

# --- Rights of the installer -------------------------------------------------

for my $call (
	'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)',
	"SELECT NOT created FROM idgen.create_once($command, $entity)",
	'SELECT idgen.trim_creations(1000) = 0',
	'SELECT idgen.purge_creations() = 0',
	'SELECT idgen.forget_creation(idgen.uuid_v4()) = false',
	q{SELECT idgen.create_id_domain('hers.invoice_id', 'inv')::text = 'hers.invoice_id'},
	q{SELECT domain::text = 'hers.invoice_id' FROM idgen.parse_prefixed_id('inv_1')},
	(map { "SELECT setval('idgen.$_', last_value + 1) > 0 FROM idgen.$_" } @sequences),
	'SELECT count(*) = ' . @Functions::tickers . ' FROM idgen.tickers',
	'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())')
{
	is(as('installer', 'shop', $call), 't', "the installer can run: $call");
}
is( as('installer', 'shop', q{
		GRANT SELECT, INSERT, DELETE ON idgen.creation_identifiers TO application;
		GRANT SELECT (prefix, domain) ON idgen.id_prefixes TO application;
		GRANT SELECT, UPDATE ON idgen.snowflake_ticker TO application}),
	'', 'the installer can grant rights');

$node->safe_psql('shop', 'DROP DOMAIN account_id');
my $rights_before = $node->safe_psql('shop', $InUse::rights);

# --- DROP and CREATE EXTENSION -----------------------------------------------

my $schema = q{
	SELECT pg_get_userbyid(nspowner), string_agg(grantee::regrole || '=' || privilege_type, ' ' ORDER BY grantee, privilege_type)
	FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'idgen' GROUP BY nspowner};
my $schema_made = $node->safe_psql('shop', $schema);
is($schema_made, "$superuser|-=USAGE $superuser=CREATE $superuser=USAGE", 'only the superuser has CREATE on the schema');
is(as('installer', 'shop', 'DROP DOMAIN hers.invoice_id; DROP EXTENSION idgen'), '', 'the installer can drop the extension');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'idgen'}), '0', 'the schema is dropped with it');
is(as('stranger', 'shop', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC'), '', 'another role has default privileges');
is(as('installer', 'shop', 'CREATE EXTENSION idgen'), '', 'the installer can create the extension again');
is($node->safe_psql('shop', $schema), $schema_made, 'the schema has the same owner and rights');
is($node->safe_psql('shop', $InUse::rights), $rights_before =~ s/^\w+\|\w*\|installer\|.*\n?//gmr, 'the installer has the same rights');
is(as('installer', 'shop', "SELECT created FROM idgen.create_once($command, $entity)"), 't', 'the installer can call create_once()');
is(as('stranger', 'shop', "SELECT idgen.create_once($command, $entity)"), '42501', 'alone');

# The extension of a superuser has no grants to other roles.
$node->safe_psql('shop', 'DROP EXTENSION idgen; CREATE EXTENSION idgen');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relacl IS NOT NULL AND relkind <> 'v'}),
	'0', 'an installation by a superuser makes no grants to itself');

is(as($superuser, 'shop', 'DROP EXTENSION idgen; CREATE EXTENSION idgen SCHEMA public'), '0A000', 'another schema is rejected');
is(as($superuser, 'shop', 'CREATE EXTENSION idgen; ALTER EXTENSION idgen SET SCHEMA public'), '0A000', 'also later');

done_testing();
