# Roles, databases and objects of any name: a role installs the extension, uses it and drops it, and so does a superuser
# whose name is as unusual. The server does not substitute some of these names for its macro in an extension's script.
# (Dumps and grants: t/042_restore.pl.)

use Functions;
use Server;

my $node = start_server('names', 'autovacuum = off');
my $has_advisor = Functions::install($node, 'postgres');

my $rights_of_kinds = qq{
	SELECT relkind, grantee::regrole,
		string_agg(DISTINCT privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ')
	FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'idgen'::regnamespace AND grantee <> relowner
	GROUP BY 1, 2 ORDER BY 1};
my $defaults = 'SELECT defaclobjtype, defaclnamespace, unnest(defaclacl)::text FROM pg_default_acl ORDER BY 1, 2, 3';

for my $name (@unusual_names)
{
	my ($role, $app, $dba, $schema, $table, $domain) =
	  map { ident($_) } $name, "$name app", "$name dba", "$name schema", "$name table", "$name domain";
	my $domain_name = literal("$schema.$domain");
	my $of_dba = "$name of dba";
	my $as = sub {
		my ($suffix, $sql, $database) = @_;
		return outcome($sql, user => "$name$suffix", database => $database // $name);
	};
	ask("CREATE ROLE $role LOGIN; CREATE ROLE $app LOGIN; CREATE ROLE $dba LOGIN SUPERUSER");
	ask("CREATE DATABASE ${\ident($_)} OWNER $role") for $name, $of_dba;

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
			SELECT idgen.uuid_v7_ordered() IS NULL}),
		"t\nt\nf", '... and uses it');
	my $old = "INSERT INTO $schema.$table ($role) VALUES (idgen.short_comb(clock => now() - interval '1 day'))";
	is_deeply([ errors($old, database => $name) =~ /^(?:SCHEMA|TABLE|COLUMN|CONSTRAINT) NAME:  (.*)$/mg ],
		[ "$name schema", "$name table", $name, $name ], 'an error carries the names');
	SKIP:
	{
		skip 'idgen_advisor is not installed', 2 if !$has_advisor;
		my $report = "SELECT rows FROM idgen.index_report(${\literal(qq{$schema.$table})})";
		is($as->('', "CREATE EXTENSION idgen_advisor; $report"), '1', 'the advisor reads the index');
		is($as->('', q{SELECT count(*) FROM idgen.index_reports(0) WHERE advice LIKE 'not read%'}), '0',
			'... and all others');
	}
	is($as->(' dba', 'CREATE EXTENSION idgen', $of_dba), '', "$name dba, a superuser, installs it");
	is(ask($rights_of_kinds, $of_dba), '', '... without grants to itself');
	is($as->('', q{DROP EXTENSION idgen CASCADE; SELECT to_regnamespace('idgen') IS NULL}), 't',
		"$name can drop the extension");
	is(ask($defaults, $name), '', 'no default privileges remain');
}

done_testing();
