# Roles, databases and objects of any name: a role installs the extension, uses it, grants rights, dumps and restores,
# as does a superuser whose name is as unusual, and drops the extension. The server does not substitute some of these
# names for its macro in an extension's script.

use Functions;
use Server;

my $node = start_server('names', 'autovacuum = off');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
my $has_advisor = Functions::install($node, 'postgres');

# Rights, without those of owners
my $of_relations = q{
	FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'idgen'::regnamespace AND grantee <> relowner};
my $rights = qq{
	SELECT relname, '', grantee::regrole, privilege_type, is_grantable $of_relations
	UNION ALL
	SELECT relname, attname, grantee::regrole, privilege_type, is_grantable
	FROM pg_class c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) WHERE relnamespace = 'idgen'::regnamespace
	ORDER BY 1, 2, 3, 4};
my $rights_of_kinds = qq{
	SELECT relkind, grantee::regrole,
		string_agg(DISTINCT privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ')
	$of_relations GROUP BY 1, 2 ORDER BY 1};
my $defaults = 'SELECT defaclobjtype, defaclnamespace, unnest(defaclacl)::text FROM pg_default_acl ORDER BY 1, 2, 3';

for my $name (@unusual_names)
{
	my ($role, $app, $dba, $schema, $table, $domain) =
	  map { ident($_) } $name, "$name app", "$name dba", "$name schema", "$name table", "$name domain";
	my $domain_name = literal("$schema.$domain");
	my ($restored, $again) = map { "$name $_" } 'restored', 'again';
	my $as = sub {
		my ($suffix, $sql, $database) = @_;
		return outcome($sql, user => "$name$suffix", database => $database // $name);
	};
	my $contents = qq{
		SELECT * FROM $schema.$table;
		SELECT * FROM idgen.creation_identifiers;
		SELECT * FROM idgen.id_prefixes;
		SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'idgen' ORDER BY 1};
	ask("CREATE ROLE $role LOGIN; CREATE ROLE $app LOGIN; CREATE ROLE $dba LOGIN SUPERUSER");
	ask("CREATE DATABASE ${\ident($_)} OWNER $role") for $name, $again;
	ask("CREATE DATABASE ${\ident($restored)}");

	# default privileges of the superuser, which the script takes back and grants again
	my @kinds = qw(TABLES SEQUENCES FUNCTIONS SCHEMAS);
	ask("ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO $app WITH GRANT OPTION", $name) for @kinds;
	my $defaults_before = ask($defaults, $name);
	is($as->('', 'CREATE EXTENSION idgen'), '', "$name installs the extension");
	is(ask($defaults, $name), $defaults_before, '... and the default privileges are the same');
	my $regrole = ask("SELECT ${\literal($role)}::regrole");
	is(ask($rights_of_kinds, $name), "S|$regrole|SELECT* UPDATE*\nr|$regrole|DELETE* INSERT* SELECT* TRUNCATE* UPDATE*",
		'... with the rights of an installer');
	ask("ALTER DEFAULT PRIVILEGES REVOKE ALL ON $_ FROM $app", $name) for @kinds;

	is( $as->('', qq{
			CREATE SCHEMA $schema;
			GRANT USAGE ON SCHEMA $schema TO $app;
			CREATE SEQUENCE $schema.$role;
			CREATE TABLE $schema.$table (
				$role uuid PRIMARY KEY DEFAULT idgen.short_comb(),
				"by area" uuid DEFAULT idgen.keyed_comb(area => ${\literal($name)}),
				"by sequence" uuid DEFAULT idgen.sequence_comb(${\literal("$schema.$role")}));
			CREATE TRIGGER $role BEFORE INSERT OR UPDATE OF $role ON $schema.$table FOR EACH ROW
				EXECUTE FUNCTION idgen.check_recent_id(${\literal($name)}, 'short_comb', 'tolerance=1 hour');
			INSERT INTO $schema.$table DEFAULT VALUES;
			SELECT idgen.create_id_domain($domain_name, 'acct')::text = $domain_name;
			SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v4(),
				${\literal($name)}, jsonb_build_object(${\literal($name)}, 1));
			SELECT idgen.uuid_v7_ordered() IS NULL;
			GRANT SELECT, INSERT (command_id, command_name, entity_id, entity_number, request_hash)
				ON idgen.creation_identifiers TO $app;
			GRANT SELECT ON idgen.id_prefixes TO $app;
			GRANT SELECT, UPDATE ON idgen.snowflake_mark TO $app}),
		"t\nt\nf", '... uses it, and grants rights');
	my $old = "INSERT INTO $schema.$table ($role) VALUES (idgen.short_comb(clock => now() - interval '1 day'))";
	is_deeply([ errors($old, database => $name) =~ /^(?:SCHEMA|TABLE|COLUMN|CONSTRAINT) NAME:  (.*)$/mg ],
		[ "$name schema", "$name table", $name, $name ], 'an error carries the names');
	my $can_use = sub {
		my ($database, $when) = @_;
		is($as->(' app', 'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)', $database), 't',
			"$when, the application can record");
		is($as->(' app', q{SELECT domain::text FROM idgen.parse_prefixed_id('acct_1')}, $database), "$schema.$domain",
			"$when, it finds the domain");
	};
	SKIP:
	{
		skip 'idgen_advisor is not installed', 2 if !$has_advisor;
		my $report = "SELECT rows FROM idgen.index_report(${\literal(qq{$schema.$table})})";
		is($as->('', "CREATE EXTENSION idgen_advisor; $report"), '1', 'the advisor reads the index');
		is($as->('', q{SELECT count(*) FROM idgen.index_reports(0) WHERE advice LIKE 'not read%'}), '0',
			'... and all others');
	}
	my $contents_before = ask($contents, $name);
	my $rights_before = ask($rights, $name);
	$can_use->($name, 'granted');
	$as->('', q{DELETE FROM idgen.creation_identifiers WHERE command_name = ''});

	$node->command_ok([ 'pg_dump', '-Fc', '-U', $name, '-f', $dump, '-d', $node->connstr($name) ], "$name can dump");
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-U', "$name dba", '-d', $node->connstr($restored), $dump ],
		"$name dba, a superuser, can restore");
	is(ask($contents, $restored), $contents_before, '... with contents');
	is(ask($rights, $restored), $rights_before, '... and rights');
	$can_use->($restored, 'restored');
	is($as->(' dba', 'DROP EXTENSION idgen CASCADE; CREATE EXTENSION idgen', $restored), '',
		"$name dba can drop the extension, and create it");
	is(ask($rights, $restored), '', '... without grants to itself');

	my ($out, $errors) = run_command([ 'pg_restore', '-U', $name, '-d', $node->connstr($again), $dump ]);
	my @others = grep { $_ ne 'grant options cannot be granted back to your own grantor' } $errors =~ /ERROR:  (.*)$/mg;
	is("@others", '', "$name can restore, with the documented errors");
	is(ask($contents, $again), $contents_before, '... with contents');
	is($as->('', q{DROP EXTENSION idgen CASCADE; SELECT to_regnamespace('idgen') IS NULL}), 't',
		"$name can drop the extension");
	is(ask($defaults, $name), '', 'no default privileges remain');
}

done_testing();
