# The role that installs the extension needs nothing but CREATE on the
# database. It can use and grant everything, but cannot make others run its
# code: it owns neither the tables, nor the sequences, nor the view, nor the
# schema, even one that it made before. Dumps by a superuser and by the
# installer, restored by either.

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('installer');
$node->init;
$node->start;

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $backup = $node->backup_dir;

$node->safe_psql(
	'postgres', q{
	CREATE ROLE installer LOGIN;
	CREATE ROLE application LOGIN;
	CREATE ROLE stranger LOGIN});

sub new_database
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database; GRANT CREATE ON DATABASE $database TO installer");
}

# A role's rows, or the SQLSTATE of its first error
sub as_role
{
	my ($role, $database, $query) = @_;
	my ($rows, $errors);

	$node->psql(
		$database, $query,
		stdout => \$rows,
		stderr => \$errors,
		extra_params => [ '--username', $role, '--set=VERBOSITY=sqlstate' ]);
	die "$role cannot connect: $errors" if $errors =~ /^psql: error/m;
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows;
}

# What a program prints on standard error, without its hints and positions:
# the messages, each once, with the number of times
sub messages
{
	my ($program, @arguments) = @_;
	my $errors;
	my %count;

	IPC::Run::run([ $program, @arguments ], '>', '/dev/null', '2>', \$errors);
	$count{$1}++ while $errors =~ /ERROR:  ([^\n]*)/g;
	return join("\n", map { "$count{$_} $_" } sort keys %count);
}

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my @tables = qw(creation_identifiers id_prefixes);
my @sequences = map { "${_}_ticker" } qw(snowflake trace_id js_id decimal_id uuid_v7_ordered);

# --- Installed ---------------------------------------------------------------

new_database('shop');
is(as_role('installer', 'shop', 'CREATE EXTENSION idgen'), '', 'a role with CREATE on the database installs');
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
	'the installer has rights that it may grant');
is( $node->safe_psql('shop', q{SELECT count(*) FROM pg_default_acl}), '0', 'no default privileges are left behind');
is( $node->safe_psql('shop', q{SELECT reloptions FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass}),
	'{autovacuum_vacuum_scale_factor=0.02}', 'autovacuum comes soon to the recorded commands');

# Code of the installer's, which raises an error where it runs as another role
as_role('installer', 'shop', q{
	CREATE SCHEMA hers;
	GRANT USAGE ON SCHEMA hers TO PUBLIC;
	CREATE FUNCTION hers.spy(anyelement) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF current_user <> 'installer' THEN
			RAISE EXCEPTION 'trapped %', current_user USING ERRCODE = 'TRAP0';
		END IF;
		RETURN 1;
	END $$;
	CREATE FUNCTION hers.spring() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM hers.spy(1);
		RETURN NEW;
	END $$;
	CREATE TABLE hers.bait (prefix text);
	CREATE INDEX ON hers.bait (prefix) WHERE hers.spy(1) = 1;
	GRANT SELECT ON hers.bait TO PUBLIC});
is(as_role($superuser, 'shop', q{EXPLAIN SELECT FROM hers.bait WHERE prefix = 'a'}), 'TRAP0', 'the trap works');

# --- Attacks of the installer ------------------------------------------------

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
			"CREATE TRIGGER hers BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION hers.spring()",
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
	'CREATE TRIGGER hers INSTEAD OF INSERT ON idgen.tickers FOR EACH ROW EXECUTE FUNCTION hers.spring()',
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
	is(as_role('installer', 'shop', $attack), '42501', "refused: $attack");
}
as_role('installer', 'shop', 'GRANT ALL ON SCHEMA idgen TO installer');
is( $node->safe_psql('shop', q{SELECT has_schema_privilege('installer', 'idgen', 'CREATE')}),
	'f', 'the installer does not grant itself the schema');

# A more powerful caller runs none of it.
for my $call (
	"SELECT created FROM idgen.create_once($command, $entity)",
	"SELECT NOT created FROM idgen.create_once($command, $entity)",
	"SELECT count(*) = 1 FROM idgen.find_creation($command)",
	q{SELECT idgen.create_id_domain('account_id', 'acct')::text = 'account_id'},
	q{SELECT domain::text = 'account_id' FROM idgen.parse_prefixed_id('acct_1')},
	'SELECT count(*) = 5 FROM idgen.tickers',
	'SELECT idgen.purge_creations() = 0')
{
	is(as_role($superuser, 'shop', $call), 't', "a superuser runs: $call");
}
$node->command_ok([ 'pg_dump', '--format=custom', "--file=$backup/after_attacks", $node->connstr('shop') ],
	'a superuser dumps the database');

# --- What the installer can do -----------------------------------------------

for my $call (
	'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)',
	"SELECT NOT created FROM idgen.create_once($command, $entity)",
	'SELECT idgen.trim_creations(1000) = 0',
	'SELECT idgen.purge_creations() = 0',
	'SELECT idgen.forget_creation(idgen.uuid_v4()) = false',
	q{SELECT idgen.create_id_domain('hers.invoice_id', 'inv')::text = 'hers.invoice_id'},
	q{SELECT domain::text = 'hers.invoice_id' FROM idgen.parse_prefixed_id('inv_1')},
	(map { "SELECT setval('idgen.$_', last_value + 1) > 0 FROM idgen.$_" } @sequences),
	'SELECT count(*) = 5 FROM idgen.tickers',
	'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())')
{
	is(as_role('installer', 'shop', $call), 't', "the installer runs: $call");
}
is( as_role('installer', 'shop', q{
		GRANT SELECT, INSERT, DELETE ON idgen.creation_identifiers TO application;
		GRANT SELECT (prefix, domain) ON idgen.id_prefixes TO application;
		GRANT SELECT, UPDATE ON idgen.snowflake_ticker TO application}),
	'', 'the installer grants');
sub uses_grants
{
	my ($database, $when) = @_;

	for my $call (
		'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)',
		"SELECT NOT created FROM idgen.create_once($command, $entity)",
		'SELECT idgen.purge_creations() = 0',
		q{SELECT domain IS NOT NULL FROM idgen.parse_prefixed_id('inv_1')},
		q{SELECT setval('idgen.snowflake_ticker', last_value) > 0 FROM idgen.snowflake_ticker})
	{
		is(as_role('application', $database, $call), 't', "$when, a grantee runs: $call");
	}
	is(as_role('application', $database, 'TRUNCATE idgen.creation_identifiers'), '42501', "$when, and nothing else");
	is(as_role('stranger', $database, "SELECT idgen.create_once($command, $entity)"), '42501', "$when, without grants nobody does");
}
uses_grants('shop', 'granted');

# --- Dumped and restored -----------------------------------------------------

$node->safe_psql('shop', q{DROP TABLE hers.bait; DROP DOMAIN account_id; DELETE FROM idgen.id_prefixes WHERE prefix = 'acct'});
my $contents = q{
	SELECT command_id, entity_id, entity_number FROM idgen.creation_identifiers ORDER BY 1;
	SELECT prefix, domain FROM idgen.id_prefixes ORDER BY 1;
	SELECT layout, reserved_value FROM idgen.tickers ORDER BY 1};
my $rights = q{
	SELECT relname, '', a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
	FROM pg_class, aclexplode(relacl) a WHERE relnamespace = 'idgen'::regnamespace
	UNION ALL
	SELECT relname, attname, a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
	FROM pg_class c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) a WHERE relnamespace = 'idgen'::regnamespace
	ORDER BY 1, 2, 3, 4, 5};
my $contents_before = $node->safe_psql('shop', $contents);
my $rights_before = $node->safe_psql('shop', $rights);

for my $role ($superuser, 'installer')
{
	for my $format ('plain', 'custom')
	{
		$node->command_ok(
			[ 'pg_dump', '--username', $role, "--format=$format", "--file=$backup/$role.$format", $node->connstr('shop') ],
			"$role dumps, $format");
	}
}

sub restore
{
	my ($role, $database, $dump, @options) = @_;

	return $dump =~ /plain$/
	  ? messages('psql', '--no-psqlrc', '--username', $role, '--file', "$backup/$dump", $node->connstr($database))
	  : messages('pg_restore', '--username', $role, @options, '--dbname', $node->connstr($database), "$backup/$dump");
}

sub is_restored
{
	my ($database, $when) = @_;

	is($node->safe_psql($database, $contents), $contents_before, "$when, everything is there");
	is($node->safe_psql($database, $rights), $rights_before, "$when, with all rights");
	uses_grants($database, $when);
	$node->safe_psql($database, 'TRUNCATE idgen.creation_identifiers');
}

# A superuser's restore prints nothing, whoever dumped.
for my $dump ("$superuser.plain", "$superuser.custom", 'installer.plain', 'installer.custom')
{
	my $database = $dump =~ s/\W/_/gr;

	new_database($database);
	is(restore($superuser, $database, $dump), '', "a superuser restores $dump without an error");
	is_restored($database, "restored from $dump");
	next if $dump =~ /plain$/;
	is(restore($superuser, $database, $dump, '--clean', '--if-exists'), '', 'and again, over itself');
	is_restored($database, "restored over itself from $dump");
}

# The installer's prints errors on what the superuser owns, and on the rights
# that the installer has already, as docs/operations.md says. With these rights,
# pg_restore gives up the grants to others on the same object, psql does not.
my $no_owner = '(must be member of role|must be able to SET ROLE) "' . $superuser . '"';
my $owned = 'must be owner of schema idgen';
my $exists = 'schema "idgen" already exists';
my $rights_it_has = 'grant options cannot be granted back to your own grantor';
system_or_bail('pg_restore', "--file=$backup/restored.plain", "$backup/installer.custom");
for my $case (
	[ 'installer.plain', [], "7 $rights_it_has\n1 $no_owner" ],
	[ 'restored.plain', [], "7 $rights_it_has\n1 $no_owner" ],
	[ 'installer.custom', [], "7 $rights_it_has\n1 $no_owner" ],
	[ 'installer.custom', ['--no-owner'], "7 $rights_it_has" ],
	[ 'installer.custom', [ '--no-owner', '--no-privileges' ], '' ])
{
	my ($dump, $options, $errors) = @$case;
	my $what = join(' ', $dump, @$options);
	my $database = "by_installer_" . $what =~ s/\W/_/gr;
	my $others = qr/^\w+\|\w*\|installer\|application\|.*\n?/m;

	new_database($database);
	$node->safe_psql($database, 'GRANT CREATE ON SCHEMA public TO installer');
	like(restore('installer', $database, $dump, @$options), qr/^$errors$/, "the installer restores $what, with the errors that it prints");
	if ($dump =~ /plain$/)
	{
		is_restored($database, "restored by the installer, $what");
		next;
	}
	is($node->safe_psql($database, $contents), $contents_before, "$what: everything is there");
	is($node->safe_psql($database, $rights) =~ s/$others//gr, $rights_before =~ s/$others//gr, "$what: and the installer's rights");

	like(restore('installer', $database, $dump, '--clean', @$options),
		(grep { $_ eq '--no-privileges' } @$options) ? qr/^2 $owned\n1 $exists$/ : qr/^7 $rights_it_has\n2 $owned\n1 $exists$/, "$what, over itself");
	is($node->safe_psql($database, $contents), $contents_before, "$what, over itself: everything is there");
}

# --- Dropped and created -----------------------------------------------------

my $schema = q{
	SELECT pg_get_userbyid(nspowner), string_agg(grantee::regrole || '=' || privilege_type, ' ' ORDER BY grantee, privilege_type)
	FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'idgen' GROUP BY nspowner};
my $schema_made = $node->safe_psql('shop', $schema);
is($schema_made, "$superuser|-=USAGE $superuser=CREATE $superuser=USAGE", 'the schema is for the superuser to create in');
is(as_role('installer', 'shop', 'DROP DOMAIN hers.invoice_id; DROP EXTENSION idgen'), '', 'the installer drops the extension');
is(as_role('installer', 'shop', 'CREATE TABLE idgen.mine ()'), '42501', 'which leaves the schema to the superuser');
is(as_role('installer', 'shop', 'DROP SCHEMA idgen'), '42501', 'which it cannot drop');
as_role('stranger', 'shop', 'ALTER DEFAULT PRIVILEGES IN SCHEMA idgen GRANT ALL ON TABLES TO PUBLIC');
is(as_role('installer', 'shop', 'CREATE EXTENSION idgen'), '', 'the installer creates it again');
is($node->safe_psql('shop', $schema), $schema_made, 'in the same schema');
is( $node->safe_psql('shop', $rights), $rights_before =~ s/^\w+\|\w*\|installer\|.*\n?//gmr, 'with the same rights of its own');
is(as_role('installer', 'shop', "SELECT created FROM idgen.create_once($command, $entity)"), 't', 'and uses it');
is(as_role('stranger', 'shop', "SELECT idgen.create_once($command, $entity)"), '42501', 'alone');

# A superuser's extension has nothing of other roles.
$node->safe_psql('shop', 'DROP EXTENSION idgen; CREATE EXTENSION idgen');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relacl IS NOT NULL AND relkind <> 'v'}),
	'0', 'a superuser who installs grants nothing to itself');

# --- A schema that was there before ------------------------------------------

# Another role made the schema, and put objects into it: refused, and none of
# its operators and functions runs before that.
new_database('premade');
for my $object (
	'FUNCTION idgen.index_report(text) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
	'FUNCTION idgen.purge_creations(interval, int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
	'TABLE idgen.t ()', 'SEQUENCE idgen.s', 'VIEW idgen.v AS SELECT 1', 'TYPE idgen.t AS ENUM ()', 'DOMAIN idgen.d AS int',
	'COLLATION idgen.c FROM "C"', 'TEXT SEARCH DICTIONARY idgen.d (TEMPLATE = simple)')
{
	is(as_role('installer', 'premade', "CREATE SCHEMA idgen; CREATE $object"), '', "a schema with $object");
	for my $role ($superuser, 'installer')
	{
		is(as_role($role, 'premade', 'CREATE EXTENSION idgen'), '55000', "$role does not create the extension there");
	}
	is(as_role('installer', 'premade', 'DROP SCHEMA idgen CASCADE'), '', 'it is the same as before');
}
as_role('installer', 'premade', q{
	CREATE SCHEMA idgen;
	DO $do$
	DECLARE
		f regprocedure;
		o record;
	BEGIN
		FOR f IN
			SELECT oid FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
			AND proname IN ('pg_describe_object', 'format', 'oideq', 'oidne', 'nameeq', 'namene', 'texteq', 'textne', 'now', 'unnest')
			AND provariadic = 0
		LOOP
			EXECUTE format($$ CREATE FUNCTION idgen.%s RETURNS %s LANGUAGE plpgsql
				AS 'BEGIN RAISE EXCEPTION ''trapped'' USING ERRCODE = ''TRAP0''; END' $$,
				f::text, (SELECT prorettype::regtype FROM pg_proc WHERE oid = f));
		END LOOP;
		FOR o IN
			SELECT DISTINCT oprname AS name, l.typ AS l, r.typ AS r
			FROM pg_operator, unnest('{oid,regclass,regnamespace,name,text,int4,"\"char\""}'::text[]) l(typ),
				unnest('{oid,regclass,regnamespace,name,text,int4,"\"char\""}'::text[]) r(typ)
			WHERE oprname IN ('=', '<>')
		LOOP
			EXECUTE format($$ CREATE FUNCTION idgen.%I(%s, %s) RETURNS bool LANGUAGE plpgsql
				AS 'BEGIN RAISE EXCEPTION ''trapped'' USING ERRCODE = ''TRAP0''; END' $$, o.name, o.l, o.r);
			EXECUTE format($$ CREATE OPERATOR idgen.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = idgen.%I) $$, o.name, o.l, o.r, o.name);
		END LOOP;
	END $do$});
is(as_role($superuser, 'premade', q{SET search_path = idgen; SELECT 1::oid = 'pg_class'::regclass}), 'TRAP0', 'operators that spring');
my $refusal;
$node->psql('premade', 'CREATE EXTENSION idgen', stderr => \$refusal);
like($refusal, qr/ERROR:  schema "idgen" is not empty\nDETAIL:  It contains (function|operator) .*\.\nHINT:  Drop the schema, then create the extension again\.\n/,
	'the refusal says what is there, and what to do');
is(as_role('installer', 'premade', 'DROP SCHEMA idgen CASCADE'), '', 'all that is dropped');

# An empty one is taken over, with all that was granted on it gone.
for my $role ($superuser, 'installer')
{
	for my $grants (
		'',
		'REVOKE ALL ON SCHEMA idgen FROM installer',
		q{GRANT ALL ON SCHEMA idgen TO PUBLIC; GRANT ALL ON SCHEMA idgen TO application, "a ""strange"" role" WITH GRANT OPTION;
		  SET SESSION AUTHORIZATION application; GRANT ALL ON SCHEMA idgen TO stranger WITH GRANT OPTION;
		  SET SESSION AUTHORIZATION stranger; GRANT ALL ON SCHEMA idgen TO installer})
	{
		$node->safe_psql('premade', qq{
			DO \$\$ BEGIN CREATE ROLE "a ""strange"" role"; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
			SET SESSION AUTHORIZATION installer; CREATE SCHEMA idgen; $grants});
		is(as_role($role, 'premade', 'CREATE EXTENSION idgen'), '', "$role creates the extension in a schema that the installer made: $grants");
		is(as_role($_, 'premade', 'CREATE TABLE idgen.mine ()'), '42501', "and $_ cannot create there") for 'installer', 'application', 'stranger';
		is( $node->safe_psql('premade', q{SELECT pg_get_userbyid(nspowner), bool_and(grantee = nspowner OR grantee = 0 AND privilege_type = 'USAGE')
			FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'idgen' GROUP BY nspowner}),
			"$superuser|t", 'it is the superuser\'s, and the rights that were granted on it are gone');
		is(as_role('stranger', 'premade', 'SELECT idgen.uuid_version(idgen.uuid_v4())'), '4', 'it is for everybody to use');
		$node->safe_psql('premade', 'DROP EXTENSION idgen; DROP SCHEMA idgen');
	}
}

$node->stop;
done_testing();
