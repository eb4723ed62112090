# Roles and objects of any name: a role installs the files, uses them and grants rights; it and a superuser dump and
# restore the database; the role removes the functions.

use Server;

my @files = map { "contrib/portable/$_.sql" } qw(uuids text_ids create_once);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
my $node = init_server('names', 'autovacuum = off');
$node->start;

for my $name (@unusual_names)
{
	my ($role, $app, $dba, $schema, $table) = map { ident($_) } $name, "$name app", "$name dba", "$name s", "$name t";
	my ($restored, $again) = map { "$name $_" } 'restored', 'again';
	my $as = sub { my ($suffix, $sql, $database) = @_; return outcome($sql, user => "$name$suffix", database => $database // $name) };
	my $run = sub {
		my ($program, $user, $database, @arguments) = @_;
		return (run_command([ $program, '-U', $user, '-d', $node->connstr($database), @arguments ]))[1];
	};
	my $psql = sub { return $run->('psql', $name, $name, qw(-Xq -v ON_ERROR_STOP=1 -o /dev/null), map { ('-f', $_) } @_) };
	my $contents = "SELECT * FROM $schema.$table; SELECT * FROM idgen.creation_identifiers; SELECT * FROM idgen.portable_secret;
		SELECT relname, relowner::regrole, coalesce(relacl, acldefault('r', relowner)) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'r' ORDER BY 1";
	ask("CREATE ROLE $_ LOGIN") for $role, $app;
	ask("CREATE ROLE $dba LOGIN SUPERUSER; CREATE DATABASE $role OWNER $role; CREATE DATABASE ${\ident($again)} OWNER $role; CREATE DATABASE ${\ident($restored)}");

	# the files revoke what default privileges show of the secret
	ask("ALTER DEFAULT PRIVILEGES FOR ROLE $role GRANT SELECT ON TABLES TO $app, $dba", $name);
	is($psql->(@files), '', "$name installs the files");
	ask("ALTER DEFAULT PRIVILEGES FOR ROLE $role REVOKE SELECT ON TABLES FROM $app, $dba", $name);
	is($as->(' app', 'SELECT FROM idgen.portable_secret'), '42501', '... and the secret is not shown');
	is($psql->(@files), '', '... and again');
	is($as->('', qq{
			CREATE SCHEMA $schema;
			CREATE TABLE $schema.$table ($role uuid PRIMARY KEY DEFAULT idgen.short_comb(), "by area" uuid DEFAULT idgen.keyed_comb(area => ${\literal($name)}));
			CREATE TRIGGER $role BEFORE INSERT OR UPDATE OF $role ON $schema.$table
				FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id(${\literal($name)}, 'short_comb', 'tolerance=1 hour');
			INSERT INTO $schema.$table DEFAULT VALUES;
			GRANT SELECT, INSERT ON idgen.creation_identifiers TO $app;
			SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.keyed_comb(), ${\literal($name)}, jsonb_build_object(${\literal($name)}, 1))}),
		't', '... and uses them');
	# a repeated INSERT of an old identifier reaches the unique index, which a statement with all the names finds
	my $insert = "INSERT INTO $schema.$table ($role) VALUES (idgen.short_comb(clock => now() - interval '1 day'))";
	like(errors($insert, database => $name), qr/ERROR:  23514.*SCHEMA NAME:  \Q$name s\E\nTABLE NAME:  \Q$name t\E\nCOLUMN NAME:  \Q$name\E\nCONSTRAINT NAME:  \Q$name\E\n/s, 'an error carries the names');
	my $known = q{'00000000-0000-4000-8000-000000000001'};
	is($as->('', "ALTER TABLE $schema.$table DISABLE TRIGGER $role; INSERT INTO $schema.$table ($role) VALUES ($known); ALTER TABLE $schema.$table ENABLE TRIGGER $role; INSERT INTO $schema.$table ($role) VALUES ($known)"),
		'23505', 'the identifier of a row is found');

	my $contents_before = ask($contents, $name);
	is($as->(' app', 'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v7(), 1)'), 't', 'the application can record');
	$as->('', q{DELETE FROM idgen.creation_identifiers WHERE command_name = ''});
	is($run->('pg_dump', $name, $name, '-Fc', '-f', $dump), '', "$name can dump");
	is($run->('pg_restore', "$name dba", $restored, '--exit-on-error', $dump), '', "$name dba, a superuser, can restore");
	is($run->('pg_restore', $name, $again, '--exit-on-error', $dump), '', "$name can restore");
	is(ask($contents, $_), $contents_before, "$_: the contents and rights are the same") for $restored, $again;
	is($as->(' app', 'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v7(), 1)', $restored), 't', 'the application can record');

	is($as->('', "DROP SCHEMA $schema CASCADE"), '', "$name leaves");
	is($psql->('contrib/portable/drop.sql'), '', '... with drop.sql');
	is(ask(q{SELECT to_regnamespace('idgen')}, $name), '', '... and nothing stays');
}

done_testing();
