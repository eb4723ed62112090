# Dumps by a superuser and by the role that installed the extension are restored by
# either, with the contents of the tables, the high-water marks and the rights.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use InUse;
use Server;

my $node = start_server('restore');

my $superuser = ask('SELECT current_user');
my $backup = $node->backup_dir;
ask("CREATE ROLE $_ LOGIN") for qw(installer application auditor stranger);

sub as { my ($role, $database, $query) = @_; return outcome($query, user => $role, database => $database) }

# A database in which the installer may create the extension
sub new_database { ask("CREATE DATABASE $_[0]; GRANT CREATE ON DATABASE $_[0] TO installer") }

# The error messages of a program without hints and positions: each message once,
# with its count
sub messages
{
	my (undef, $errors) = run_command([@_]);
	my %count;

	$count{$1}++ while $errors =~ /ERROR:  ([^\n]*)/g;
	return join("\n", map { "$count{$_} $_" } sort keys %count);
}

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my @sequences = map { "${_}_ticker" } @Functions::tickers;

new_database('shop');
is( as('installer', 'shop', qq{
		CREATE EXTENSION idgen;
		CREATE SCHEMA hers;
		SELECT FROM idgen.create_id_domain('hers.invoice_id', 'inv');
		SELECT FROM idgen.create_once($command, $entity, 'order', '{"customer": 7}');
		SELECT FROM idgen.create_once_bigint(idgen.uuid_v4(), 42);
		SELECT FROM idgen.uuid_v7_ordered();
		GRANT SELECT, INSERT, DELETE ON idgen.creation_identifiers TO application;
		GRANT SELECT (command_id, created_at) ON idgen.creation_identifiers TO auditor;
		GRANT SELECT (prefix, domain) ON idgen.id_prefixes TO application;
		GRANT SELECT, UPDATE ON idgen.snowflake_ticker TO application}) =~ s/\n//gr,
	'', 'the installer uses the extension and grants rights');
ask(join('; ', map { "SELECT setval('idgen.$_', last_value + 1) FROM idgen.$_" } @sequences), 'shop');

sub uses_grants
{
	my ($database, $when) = @_;

	for my $call (
		'SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)',
		qq{SELECT NOT created FROM idgen.create_once($command, $entity, 'order', '{"customer": 7}')},
		'SELECT idgen.purge_creations() = 0',
		q{SELECT domain IS NOT NULL FROM idgen.parse_prefixed_id('inv_1')},
		q{SELECT setval('idgen.snowflake_ticker', last_value) > 0 FROM idgen.snowflake_ticker})
	{
		is(as('application', $database, $call), 't', "$when, a role with grants can run: $call");
	}
	is(as('application', $database, 'TRUNCATE idgen.creation_identifiers'), '42501', "$when, TRUNCATE is rejected");
	is(as('stranger', $database, "SELECT idgen.create_once($command, $entity)"), '42501', "$when, a role without grants is rejected");
}
uses_grants('shop', 'granted');

my $contents = q{
	SELECT * FROM idgen.creation_identifiers ORDER BY 1;
	SELECT prefix, domain FROM idgen.id_prefixes ORDER BY 1;
	SELECT layout, reserved_value FROM idgen.tickers ORDER BY 1};
my $contents_before = ask($contents, 'shop');
my $rights_before = ask($InUse::rights, 'shop');

my @dumps = ("$superuser.plain", "$superuser.custom", 'installer.plain', 'installer.custom');
for my $dump (@dumps)
{
	my ($role, $format) = split /\./, $dump;
	$node->command_ok(
		[ 'pg_dump', '--username', $role, "--format=$format", "--file=$backup/$dump", $node->connstr('shop') ],
		"$role can dump, $format");
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
	is(ask($contents, $database), $contents_before, "$when, the contents are the same");
	is(ask($InUse::rights, $database), $rights_before, "$when, the rights are the same");
	uses_grants($database, $when);
	ask('TRUNCATE idgen.creation_identifiers', $database);
}

# A restore by a superuser prints no errors, whichever role made the dump.
for my $dump (@dumps)
{
	my $database = $dump =~ s/\W/_/gr;

	new_database($database);
	is(restore($superuser, $database, $dump), '', "a superuser restores $dump without errors");
	is_restored($database, "restored from $dump");
	next if $dump =~ /plain$/;
	is(restore($superuser, $database, $dump, '--clean', '--if-exists'), '', "a superuser restores $dump over itself without errors");
	is_restored($database, "restored over itself from $dump");
}

# A restore by the installer prints errors for the rights that the installer has
# already, as docs/operations.md says. With these errors, pg_restore skips grants to
# other roles on the same object, psql does not. One is for each table and sequence.
my $rights_it_has = (2 + @sequences) . ' grant options cannot be granted back to your own grantor';
system_or_bail('pg_restore', "--file=$backup/restored.plain", "$backup/installer.custom");
for my $case (
	[ 'installer.plain', [], $rights_it_has ],
	[ 'restored.plain', [], $rights_it_has ],
	[ 'installer.custom', [], $rights_it_has ],
	[ 'installer.custom', ['--no-privileges'], '' ])
{
	my ($dump, $options, $errors) = @$case;
	my $what = join(' ', $dump, @$options);
	my $database = "by_installer_" . $what =~ s/\W/_/gr;
	my $others = qr/^\w+\|\w*\|installer\|(application|auditor)\|.*\n?/m;

	new_database($database);
	ask('GRANT CREATE ON SCHEMA public TO installer', $database);
	is(restore('installer', $database, $dump, @$options), $errors, "the installer restores $what, with the documented errors");
	if ($dump =~ /plain$/)
	{
		is_restored($database, "restored by the installer, $what");
		next;
	}
	is(ask($contents, $database), $contents_before, "$what: the contents are the same");
	is(ask($InUse::rights, $database) =~ s/$others//gr, $rights_before =~ s/$others//gr, "$what: the installer's rights are the same");

	is(restore('installer', $database, $dump, '--clean', @$options), $errors, "$what, over itself, likewise");
	is(ask($contents, $database), $contents_before, "$what, over itself: the contents are the same");
}

done_testing();
