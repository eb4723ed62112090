# Verify the rights of the roles that create and use the extension. The role that creates the extension needs only
# CREATE on the database. It can use the extension and grant rights on it, but cannot make other roles run its code.
# Without grants, no role can access recorded commands, prefixes or the tickers' high-water marks.

use Functions;
use InUse;
use Server;

my $node = start_server('rights');
my $superuser = ask('SELECT current_user');
ask("CREATE ROLE $_ LOGIN") for qw(installer application janitor stranger);
ask('CREATE DATABASE closed; CREATE DATABASE shop; GRANT CREATE ON DATABASE shop TO installer');

sub as { return outcome($_[1], user => $_[0], database => 'shop') }
sub in_shop { return ask($_[0], 'shop') }
sub is_refused { my ($role, @statements) = @_; is(as($role, $_), '42501', "$role, rejected: $_") for @statements }
sub can_run { my ($role, @calls) = @_; is(as($role, $_), 't', "$role can run: $_") for @calls }

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my $table = 'idgen.creation_identifiers';
my @tables = qw(creation_identifiers id_prefixes);
my @sequences = @Functions::sequences;

# --- Ownership ---------------------------------------------------------------
is(outcome('CREATE EXTENSION idgen', user => 'installer', database => 'closed'), '42501',
	'CREATE EXTENSION requires CREATE on the database');
is(as('installer', 'CREATE EXTENSION idgen'), '', 'which suffices');
is( in_shop(q{
		SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(typowner) FROM pg_type WHERE typnamespace = 'idgen'::regnamespace
		UNION SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'idgen'}),
	$superuser, 'the superuser owns the schema and everything in it');
is( in_shop(q{
		SELECT relkind, grantee::regrole, string_agg(DISTINCT privilege_type
		  || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ')
		FROM pg_class c, aclexplode(relacl) a
		WHERE relnamespace = 'idgen'::regnamespace AND grantee <> relowner GROUP BY 1, 2 ORDER BY 1}),
	"S|installer|SELECT* UPDATE*\nr|installer|DELETE* INSERT* SELECT* TRUNCATE* UPDATE*",
	'the installer has rights with grant option, and no role has other rights');
is(in_shop(q{SELECT count(*) FROM pg_default_acl}), '0', 'no default privileges remain');
is( in_shop(q{SELECT reloptions FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass}),
	'{autovacuum_vacuum_scale_factor=0.02}', 'creation_identifiers has its autovacuum setting');

# --- Without rights ------------------------------------------------------------
# (sql/install.sql tests rights on tables, and t/041_search_path.pl tests rights on each function.)

# Roles without rights can advance the sequences only by generating identifiers.
my $marks = join(' UNION ALL ', map { "SELECT '$_', last_value, is_called FROM idgen.$_" } @sequences);
is(in_shop("SELECT count(*) FROM ($marks) m"), scalar @sequences, 'each generator has a sequence');
can_run('stranger', 'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())');
my $before = in_shop($marks);
like($before, qr/^uuid_v7_ordered_mark\|\d{15,}\|t$/m, 'the call moved the high-water mark');
is_refused('stranger', map { "SELECT idgen.sequence_comb('idgen.$_')" } @sequences);
is(as('stranger', "SELECT string_agg(last_value::text, ' ') FROM pg_sequences WHERE schemaname = 'idgen'"), '',
	'pg_sequences does not show their values');
is(in_shop($marks), $before, 'the sequences have not changed');

# --- Grants ------------------------------------------------------------------------
is(as('installer', "GRANT SELECT, INSERT ON $table TO application; GRANT SELECT, DELETE ON $table TO janitor"),
	'', 'the installer grants rights');
for (
	[ application => "SELECT created FROM idgen.create_once($command, $entity, '')", 't' ],
	[ application => "SELECT created FROM idgen.create_once($command, idgen.uuid_v4(), '')", 'f' ],
	[ application => "SELECT count(*) FROM idgen.creation_identifiers WHERE command_id = $command", 1 ],
	[ application => "SELECT idgen.forget_creation($command)", 42501 ],
	[ application => q{SELECT idgen.purge_creations('3 days')}, 42501 ],
	[ janitor => q{SELECT * FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, '')}, 42501 ],
	[ janitor => q{SELECT idgen.purge_creations('3 days')}, 0 ],
	[ janitor => 'SELECT idgen.trim_creations(0)', 1 ],
	[ janitor => "SELECT idgen.forget_creation($command)", 'f' ])
{
	my ($role, $call, $result) = @$_;
	my $rights = $role eq 'janitor' ? 'SELECT and DELETE' : 'SELECT and INSERT';
	is(as($role, $call), $result, $result eq 42501 ? "$rights do not suffice: $call" : "$rights suffice: $call");
}

# A row-level security policy that hides a recorded command causes an error instead of endless retries. The policy
# depends on the time, so a new command is visible in its own session.
in_shop(qq{
	DELETE FROM $table;
	INSERT INTO $table (command_id, command_name, entity_id, created_at) VALUES ($command, '', $entity, '2001-01-01');
	ALTER TABLE $table ENABLE ROW LEVEL SECURITY;
	CREATE POLICY recent ON $table FOR SELECT USING (created_at > '2020-01-01');
	CREATE POLICY anything ON $table FOR INSERT WITH CHECK (true)});
like( errors("SELECT idgen.create_once($command, $entity, '')", user => 'application', database => 'shop'),
	qr/could not find or record command id "c0{7}-[-0-9a-f]{27}"\n.*A row-level security policy.*, or a trigger/s,
	'a hidden command is an error whose hint names row security');
in_shop("DROP POLICY recent ON $table; DROP POLICY anything ON $table; ALTER TABLE $table DISABLE ROW LEVEL SECURITY;
	TRUNCATE $table");

# --- Attacks by the installer ------------------------------------------------
# The installer cannot attach code to the extension's objects, and therefore cannot make another role run such code.
as('installer', q{
	CREATE SCHEMA hers;
	GRANT USAGE ON SCHEMA hers TO PUBLIC;
	CREATE FUNCTION hers.spy(anyelement) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION hers.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'});

# The installer owns only the extension, and lacks the privileges TRIGGER, REFERENCES and CREATE.
is_refused('installer',
	(map {
		my ($table, $type) = ("idgen.$_", $_ eq 'id_prefixes' ? 'text' : 'uuid');
		("CREATE INDEX ON $table (hers.spy(1))",
			"CREATE POLICY hers ON $table USING (hers.spy(1) = 1)",
			"CREATE TRIGGER hers BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION hers.trap()",
			"CREATE RULE hers AS ON INSERT TO $table DO ALSO SELECT hers.spy(1)",
			"CREATE TABLE hers.child () INHERITS ($table)",
			"CREATE TABLE hers.referring (id $type REFERENCES $table)",
			"CREATE PUBLICATION hers FOR TABLE $table",
			"ALTER TABLE $table ADD CHECK (hers.spy(1) = 1)",
			"ALTER EXTENSION idgen DROP TABLE $table",
			"DROP TABLE $table CASCADE")
	} @tables),
	'CREATE VIEW idgen.hers AS SELECT hers.spy(1)',
	(map { ("ALTER SEQUENCE idgen.$_ INCREMENT -1 CYCLE", "ALTER EXTENSION idgen DROP SEQUENCE idgen.$_") } @sequences),
	q{CREATE OR REPLACE FUNCTION idgen.uuid_v4() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid'},
	q{CREATE FUNCTION idgen.purge_creations(interval, int) RETURNS int LANGUAGE sql AS 'SELECT hers.spy(1)'},
	'ALTER FUNCTION idgen.uuid_v4() SECURITY DEFINER', 'ALTER FUNCTION hers.spy(anyelement) SET SCHEMA idgen',
	'CREATE OPERATOR idgen.= (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)',
	'ALTER SCHEMA idgen RENAME TO other', 'DROP SCHEMA idgen CASCADE');
as('installer', 'GRANT ALL ON SCHEMA idgen TO installer');
is(in_shop(q{SELECT has_schema_privilege('installer', 'idgen', 'CREATE')}), 'f',
	'the installer cannot grant itself CREATE on the schema');

# --- Rights of the installer -------------------------------------------------
can_run('installer',
	q{SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, '')},
	"SELECT created FROM idgen.create_once($command, $entity, '')",
	"SELECT NOT created FROM idgen.create_once($command, $entity, '')",
	'SELECT idgen.trim_creations(1000) = 0',
	q{SELECT idgen.purge_creations('3 days') = 0},
	'SELECT idgen.forget_creation(idgen.uuid_v4()) = false',
	q{SELECT idgen.create_id_domain('hers.invoice_id', 'inv')::text = 'hers.invoice_id'},
	q{SELECT domain::text = 'hers.invoice_id' FROM idgen.parse_prefixed_id('inv_1')},
	(map { "SELECT setval('idgen.$_', last_value + 1) > 0 FROM idgen.$_" } @sequences),
	'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())');
is( as('installer', q{
		GRANT SELECT (prefix, domain) ON idgen.id_prefixes TO application;
		GRANT SELECT, UPDATE ON idgen.snowflake_mark TO application}),
	'', 'the installer can grant rights on the other objects');
my $rights_before = in_shop($InUse::rights);

# --- DROP and CREATE EXTENSION -----------------------------------------------
my $schema = q{
	SELECT pg_get_userbyid(nspowner), string_agg(grantee::regrole
	  || '=' || privilege_type, ' ' ORDER BY grantee, privilege_type)
	FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'idgen' GROUP BY nspowner};
my $schema_made = in_shop($schema);
is($schema_made, "$superuser|-=USAGE $superuser=CREATE $superuser=USAGE",
	'only the superuser has CREATE on the schema');

# Neither default privileges nor a default tablespace affects the script.
is(as('stranger', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC'), '', 'another role has default privileges');
my @kinds = qw(TABLES SEQUENCES SCHEMAS FUNCTIONS);
in_shop(join(';', 'SET allow_in_place_tablespaces = on', q{CREATE TABLESPACE elsewhere LOCATION ''},
	'GRANT CREATE ON TABLESPACE elsewhere TO PUBLIC',
	map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO PUBLIC, stranger, installer" } @kinds));
my $defaults = q{
	SELECT defaclnamespace, defaclobjtype, a.grantee::regrole, a.privilege_type
		FROM pg_default_acl, aclexplode(defaclacl) a
	ORDER BY 1, 2, 3, 4};
my $defaults_before = in_shop($defaults);
is(as('installer', q{DROP DOMAIN hers.invoice_id; DROP EXTENSION idgen; SELECT to_regnamespace('idgen') IS NULL;
	SET default_tablespace = elsewhere; CREATE EXTENSION idgen; CREATE TABLE hers.elsewhere ()}),
	't', 'the installer can drop the extension with its schema, and create it again');
is(in_shop($schema), $schema_made, 'the schema has the same rights');
is(in_shop($InUse::rights), $rights_before =~ s/^\w+\|\w*\|installer\|.*\n?//gmr, 'the installer has the same rights');
is(as('installer', "SELECT created FROM idgen.create_once($command, $entity, '')"), 't',
	'the installer can call create_once()');
is(as('stranger', "SELECT idgen.create_once($command, $entity, '')"), '42501', 'alone');
is(in_shop(q{SELECT string_agg(proname || ' ' || has_function_privilege('installer', oid, 'EXECUTE'),
	' ' ORDER BY proname) FROM pg_proc
	WHERE pronamespace = 'idgen'::regnamespace AND NOT has_function_privilege('stranger', oid, 'EXECUTE')}),
	join(' ', map { "$_ false" } @Functions::of_keys), 'nor does the installer get the functions of keys');
is(in_shop(q{SELECT string_agg(relname, ' ') FROM pg_class JOIN pg_tablespace t ON t.oid = reltablespace
	WHERE spcname = 'elsewhere'}),
	'elsewhere', 'only a table created afterwards is in the default tablespace');
is(in_shop($defaults), $defaults_before, 'the default privileges are the same');
is(in_shop(q{SELECT DISTINCT classoid::regclass FROM pg_init_privs
	WHERE privtype = 'e' AND initprivs::text LIKE '%installer%'}),
	'', 'and the rights of the installer are dumped');
in_shop("ALTER DEFAULT PRIVILEGES REVOKE ALL ON $_ FROM PUBLIC, stranger, installer") for @kinds;
in_shop('ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO stranger');
$defaults_before = in_shop($defaults);
is(as('installer', q{
		SET idgen_script.default_privileges = 'ALTER ROLE installer SUPERUSER';
		CREATE TEMP TABLE pg_default_acl AS SELECT oid, 10::oid AS defaclrole, 0::oid AS defaclnamespace,
			'r'::"char" AS defaclobjtype, '{installer=r/installer}'::aclitem[] AS defaclacl FROM pg_class;
		DROP EXTENSION idgen; CREATE EXTENSION idgen}),
	'', 'created again without EXECUTE for PUBLIC by default, by an installer who prepares the session');
is(in_shop(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'installer'}), 'f', 'who does not become a superuser');
is(in_shop($defaults), $defaults_before, 'the default privileges are the same');
is(as($_, 'SELECT idgen.uuid_v4()'), '42501', "and $_ cannot call the functions") for qw(installer stranger);
in_shop('ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
	ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM stranger');

in_shop('DROP EXTENSION idgen; CREATE EXTENSION idgen');
is(in_shop(q{SELECT count(*) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relacl IS NOT NULL
	AND relkind <> 'v'}),
	'0', 'an installation by a superuser makes no grants to itself');
is(in_shop(q{SELECT DISTINCT proacl FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace AND proacl IS NOT NULL}),
	"{$superuser=X/$superuser}", 'nor on the functions of masks');

is(as($superuser, 'ALTER EXTENSION idgen SET SCHEMA public'), '0A000', 'another schema is rejected');
is(as($superuser, 'DROP EXTENSION idgen; CREATE EXTENSION idgen SCHEMA public'), '0A000', 'also at first');

# --- An existing schema ------------------------------------------------------
# The installer tries to create, in the schema, a function that matches a superuser's call better than the extension's
# own function does.
my $overload = q{CREATE FUNCTION idgen.trim_creations(keep int) RETURNS bigint LANGUAGE sql RETURN 0};
my ($control, $attacker) = map { session(database => 'shop', user => $_) } $superuser, 'installer';

# The function is not committed yet.
$attacker->ask($_) for 'CREATE SCHEMA idgen', 'BEGIN', $overload;
is(as('installer', 'CREATE EXTENSION idgen'), '42P06', 'an existing schema with an uncommitted function is an error');
$attacker->ask('COMMIT');
$control->ask('DROP SCHEMA idgen CASCADE');
for my $owner ($superuser, 'installer')
{
	is(as($owner, 'CREATE SCHEMA idgen'), '', "an empty schema of $owner");
	is(as($_, 'CREATE EXTENSION idgen'), '42P06', "is an error for $_") for $superuser, 'installer';
	in_shop('DROP SCHEMA idgen');
}

# The schema belongs to an extension whose creation is not committed yet.
$control->ask($_) for 'BEGIN', 'CREATE EXTENSION idgen';
is(as('installer', $overload), '3F000', 'no other session sees the new schema before the commit');
$control->ask('COMMIT');
is(as('installer', $overload), '42501', 'nor can the installer create a function in it later');

done_testing();
