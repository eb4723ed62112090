# Verify roles and objects with unusual names. A role installs the files, uses the functions and grants rights. This
# role and a superuser dump and restore the database. Finally, the role removes the functions.

use Server;

my @files = map { "contrib/portable/$_.sql" } qw(uuids checks text_ids create_once);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
my $node = init_server('names', 'autovacuum = off');
$node->start;

for my $name (@unusual_names)
{
	my ($role, $app, $dba, $schema, $table) =
	  map { ident($_) } $name, "$name app", "$name dba", "$name schema", "$name table";
	my ($restored, $again) = map { "$name $_" } 'restored', 'again';
	my $as = sub {
		my ($suffix, $sql, $database) = @_;
		return outcome($sql, user => "$name$suffix", database => $database // $name);
	};
	my $run = sub {
		my ($program, $user, $database, @arguments) = @_;
		return (run_command([ $program, '-U', $user, '-d', $node->connstr($database), @arguments ]))[1];
	};
	my @psql = ('psql', $name, $name, qw(-Xq -v ON_ERROR_STOP=1 -o /dev/null));
	my $run_files = sub { return $run->(@psql, map { ('-f', $_) } @_) };
	my $contents = qq{
		SELECT * FROM $schema.$table;
		SELECT * FROM idgen.creation_identifiers;
		SELECT * FROM idgen.portable_secret;
		SELECT relname, relowner::regrole, coalesce(relacl, acldefault('r', relowner)) FROM pg_class
		WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'r' ORDER BY 1};
	ask("CREATE ROLE $role LOGIN; CREATE ROLE $app LOGIN; CREATE ROLE $dba LOGIN SUPERUSER");
	ask("CREATE DATABASE ${\ident($_)} OWNER $role") for $name, $again;
	ask("CREATE DATABASE ${\ident($restored)}");

	# Default privileges grant access to the secret, and the files revoke it.
	ask("ALTER DEFAULT PRIVILEGES FOR ROLE $role GRANT SELECT ON TABLES TO $app, $dba", $name);
	is($run_files->(@files), '', "$name installs the files");
	ask("ALTER DEFAULT PRIVILEGES FOR ROLE $role REVOKE SELECT ON TABLES FROM $app, $dba", $name);
	is($as->(' app', 'SELECT FROM idgen.portable_secret'), '42501', '... and the secret is not shown');
	is($run_files->(@files), '', '... and again');
	is( $as->('', qq{
			CREATE SCHEMA $schema;
			CREATE TABLE $schema.$table (
				$role uuid PRIMARY KEY DEFAULT idgen.short_comb(),
				"by area" uuid DEFAULT idgen.keyed_comb(${\literal($name)}));
			CREATE TRIGGER $role BEFORE INSERT OR UPDATE OF $role ON $schema.$table FOR EACH ROW
				EXECUTE FUNCTION idgen.check_recent_id(${\literal($name)}, 'short_comb', 'tolerance=1 hour');
			INSERT INTO $schema.$table DEFAULT VALUES;
			GRANT SELECT, INSERT ON idgen.creation_identifiers TO $app;
			SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.short_comb(),
				${\literal($name)}, jsonb_build_object(${\literal($name)}, 1))}),
		't', '... and uses them');
	my $old = ask("SELECT idgen.short_comb(clock => now() - interval '1 day')", $name);
	my $insert = "INSERT INTO $schema.$table ($role) VALUES ('$old')";
	is_deeply([ errors($insert, database => $name) =~ /^(?:SCHEMA|TABLE|COLUMN|CONSTRAINT) NAME:  (.*)$/mg ],
		[ "$name schema", "$name table", $name, $name ], 'an error carries the names');
	my ($disable, $enable) = map { "ALTER TABLE $schema.$table $_ TRIGGER $role" } 'DISABLE', 'ENABLE';
	is($as->('', "$disable; $insert; $enable; $insert"), '23505', 'the identifier of a row is found');

	my $contents_before = ask($contents, $name);
	my $record = q{SELECT created FROM idgen.create_once_text(idgen.uuid_v7(), idgen.ulid(), 'test')};
	is($as->(' app', $record), 't', 'the application can record');
	$as->('', q{DELETE FROM idgen.creation_identifiers WHERE command_name = 'test'});
	is($run->('pg_dump', $name, $name, '-Fc', '-f', $dump), '', "$name can dump");
	is($run->('pg_restore', "$name dba", $restored, '-e', $dump), '', "$name dba, a superuser, can restore");
	is($run->('pg_restore', $name, $again, '-e', $dump), '', "$name can restore");
	is(ask($contents, $_), $contents_before, "$_: the contents and rights are the same") for $restored, $again;
	is($as->(' app', $record, $restored), 't', 'the application can record');

	is($as->('', "DROP SCHEMA $schema CASCADE"), '', "$name leaves");
	is($run_files->('contrib/portable/drop.sql'), '', '... with drop.sql');
	is(ask(q{SELECT to_regnamespace('idgen')}, $name), '', '... and nothing stays');
}

done_testing();
