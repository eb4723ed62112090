# Verify that a dump is restored with all contents, rights, triggers, defaults and materialized views, regardless of the
# names of roles and objects. All formats are tested, with restores by superusers and, as docs/backup.md describes,
# by an installer that is not a superuser. If OLD_BINDIR is set (by dev/test-upgrade.sh), the dumps are made on an older
# server.

use Functions;
use File::Basename qw(dirname);
use Page;
use Server;

# $node is the server to which dumps are restored. They are made on $source, which may have an older version.
my $node = Functions::add_key(init_server('restore'));
my $source = $node;
if (defined $ENV{OLD_BINDIR})
{
	$source = PostgreSQL::Test::Cluster->new('old', install_path => dirname($ENV{OLD_BINDIR}));
	$source->init;
	Functions::add_key($source)->start;
	note 'from ' . $source->safe_psql('postgres', 'SELECT version()');
}
$node->start;
note 'to ' . ask('SELECT version()');

my $backup = $node->backup_dir;
# In an extension's script, the server does not substitute some of these names for @extowner@.
my $installer = q{a"b'c\d$e ü};
my $superuser = "$installer dba";
my ($role, $dba, $schema, $domain, $table) = map { ident("$installer$_") } '', ' dba', ' schema', ' domain', ' table';
my ($role_text, $domain_text, $table_text) = map { literal($_) } $installer, "$schema.$domain", "$schema.$table";
my $bootstrap = ask('SELECT current_user');
my @roles = ($role, qw(application auditor reader stranger other));
$_->safe_psql('postgres', join '; ', "CREATE ROLE $dba SUPERUSER LOGIN", map({ "CREATE ROLE $_ LOGIN" } @roles),
	'GRANT pg_read_all_data TO reader')
  for $node == $source ? $node : ($node, $source);

sub as
{
	my ($role, $database, $sql, $on) = @_;
	return outcome($sql, user => $role, database => $database, node => $on);
}
sub as_installer { my ($sql) = @_; return as($installer, 'shop', $sql, $source) }
sub in_shop { my ($sql) = @_; return $source->safe_psql('shop', $sql) }

# Create a database in which the given roles may create the extension and tables.
sub new_database
{
	my ($on, $name, @roles) = @_;
	my $roles = join ', ', @roles;
	$on->safe_psql('postgres', "CREATE DATABASE $name");
	$on->safe_psql($name, "GRANT CREATE ON DATABASE $name TO $roles; GRANT CREATE ON SCHEMA public TO $roles");
}

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my @sequences = @Functions::sequences;

# --- A database in use ----------------------------------------------------------------------
new_database($source, 'shop', $role);
# The extension's script revokes these default privileges, and grants them again.
my @kinds = qw(TABLES SEQUENCES FUNCTIONS SCHEMAS);
my $defaults = 'SELECT defaclobjtype, defaclnamespace, unnest(defaclacl)::text FROM pg_default_acl ORDER BY 1, 2, 3';
in_shop("ALTER DEFAULT PRIVILEGES GRANT ALL ON $_ TO $dba WITH GRANT OPTION") for @kinds;
my $defaults_before = in_shop($defaults);
is(as_installer('CREATE EXTENSION idgen'), '', 'the installer creates the extension');
is(in_shop($defaults), $defaults_before, '... and the default privileges are the same');
in_shop("ALTER DEFAULT PRIVILEGES REVOKE ALL ON $_ FROM $dba") for @kinds;

# Superusers grant and revoke these rights on functions.
my $of_superusers = join('; ', "GRANT EXECUTE ON FUNCTION idgen.permute TO $role WITH GRANT OPTION",
	map({ "GRANT EXECUTE ON FUNCTION idgen.$_ TO application, $role" } grep { $_ ne 'permute' } @Functions::of_keys),
	'REVOKE EXECUTE ON FUNCTION idgen.object_id FROM PUBLIC');
in_shop($of_superusers);
is( as_installer(qq{
		CREATE SCHEMA $schema;
		CREATE SEQUENCE $schema.$role;
		CREATE TABLE $schema.$table (
			$role uuid PRIMARY KEY DEFAULT idgen.short_comb(),
			"by area" uuid DEFAULT idgen.keyed_comb($role_text),
			"by sequence" uuid DEFAULT idgen.sequence_comb(${\literal("$schema.$role")}),
			"by key" uuid DEFAULT idgen.hmac_comb('shop'),
			permuted bigint DEFAULT idgen.permute(7, 'shop') CHECK (permuted <> idgen.permute(8, 'shop')),
			"by time" uuid DEFAULT idgen.uuid_v7(),
			made timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp("by time")) STORED);
		CREATE INDEX ON $schema.$table (idgen.uuid_to_base($role, 58));
		CREATE TRIGGER $role BEFORE INSERT OR UPDATE OF $role ON $schema.$table FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_id($role_text, 'short_comb', 'tolerance=1 hour');
		CREATE TRIGGER "by key" BEFORE INSERT OR UPDATE OF "by key" ON $schema.$table FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_hmac_id('by key', 'area=shop');
		INSERT INTO $schema.$table DEFAULT VALUES;
		CREATE VIEW $schema.masks AS SELECT idgen.mask_uuid_v7(idgen.uuid_v7_floor('2026-01-01')) AS mask;
		CREATE MATERIALIZED VIEW $schema.kept AS SELECT mask, idgen.unmask_uuid_v7(mask) FROM $schema.masks;
		SELECT FROM idgen.create_id_domain($domain_text, 'inv');
		SELECT FROM idgen.create_once($command, $entity, 'order', '{"customer": 7}');
		SELECT FROM idgen.create_once_bigint(idgen.uuid_v4(), 42, 'order');
		SELECT FROM idgen.create_once_text(idgen.uuid_v4(), 'forty-two', 'order');
		SELECT FROM idgen.uuid_v7_ordered();
		GRANT SELECT, INSERT, DELETE ON idgen.creation_identifiers TO application;
		GRANT SELECT (command_id, created_at) ON idgen.creation_identifiers TO auditor;
		GRANT SELECT (prefix, domain) ON idgen.id_prefixes TO application;
		GRANT SELECT, UPDATE ON idgen.snowflake_mark TO application;
		GRANT EXECUTE ON FUNCTION idgen.permute TO application, auditor;
		ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO auditor;
		ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC}) =~ s/\n//gr,
	'', '... uses it, and grants rights');

my $old = "INSERT INTO $schema.$table ($role) VALUES (idgen.short_comb(clock => now() - interval '1 day'))";
is_deeply([ errors($old, database => 'shop', node => $source) =~ /^(?:SCHEMA|TABLE|COLUMN|CONSTRAINT) NAME:  (.*)$/mg ],
	[ "$installer schema", "$installer table", $installer, $installer ], 'an error carries the names');
SKIP:
{
	skip 'idgen_advisor is not installed', 1
	  if !ask(q{SELECT 1 FROM pg_available_extensions WHERE name = 'idgen_advisor'});
	is(as_installer("BEGIN; CREATE EXTENSION idgen_advisor; SELECT rows FROM idgen.index_report($table_text);
		SELECT count(*) FROM idgen.index_reports(0) WHERE advice LIKE 'not read%'"),
		"1\n0", 'the advisor reads the index');
}
in_shop(join('; ', map { "SELECT setval('idgen.$_', last_value + 1) FROM idgen.$_" } @sequences));

# --- Comparison with a restored database ------------------------------------------------------
# Only rights that differ from the default rights are compared, because the default rights depend on the server's
# version.
my $everything = qq{
	SET search_path = pg_catalog;
	SET timezone = 'UTC';
	WITH objects (class, object, part, owner, rights, usual) AS (
		SELECT 'pg_class'::regclass, oid, 0, relowner, relacl,
			acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)
			FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'S')
		UNION ALL SELECT 'pg_class'::regclass, attrelid, attnum, 0, attacl, acldefault('c', 0)
			FROM pg_attribute WHERE attacl IS NOT NULL
		UNION ALL SELECT 'pg_proc'::regclass, oid, 0, proowner, proacl, acldefault('f', proowner) FROM pg_proc
		UNION ALL SELECT 'pg_type'::regclass, oid, 0, typowner, typacl, acldefault('T', typowner) FROM pg_type
		UNION ALL SELECT 'pg_namespace'::regclass, oid, 0, nspowner, nspacl, acldefault('n', nspowner)
			FROM pg_namespace
		UNION ALL SELECT 'pg_default_acl'::regclass, oid, 0, defaclrole, defaclacl,
			acldefault(CASE defaclobjtype WHEN 'S' THEN 's' ELSE defaclobjtype END, defaclrole) FROM pg_default_acl)
	SELECT pg_describe_object(class, object, part), owner::regrole, sign, grantor::regrole, grantee::regrole,
		privilege_type, is_grantable
	FROM objects LEFT JOIN LATERAL (
		(SELECT 'has', * FROM aclexplode(coalesce(rights, usual)) EXCEPT SELECT 'has', * FROM aclexplode(usual))
		UNION ALL
		(SELECT 'lacks', * FROM aclexplode(usual) EXCEPT SELECT 'lacks', * FROM aclexplode(coalesce(rights, usual)))
	) a (sign, grantor, grantee, privilege_type, is_grantable) ON true
	WHERE object >= 16384 OR object = 'public'::regnamespace;
	SELECT tgrelid::regclass, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal;
	SELECT adrelid::regclass, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef;
	SELECT conrelid::regclass, contypid::regtype, conname, pg_get_constraintdef(oid)
		FROM pg_constraint WHERE oid >= 16384 AND contype <> 'n';
	SELECT pg_get_indexdef(indexrelid) FROM pg_index
		WHERE indexrelid >= 16384 AND indrelid::regclass::text NOT LIKE 'pg_toast.%';
	SELECT extname, extversion FROM pg_extension;
	SELECT 'row', * FROM $schema.$table;
	SELECT 'masked', * FROM $schema.masks;
	SELECT 'kept', * FROM $schema.kept;
	SELECT 'command', * FROM idgen.creation_identifiers;
	SELECT 'prefix', prefix, domain FROM idgen.id_prefixes;
	SELECT sequencename, last_value FROM pg_sequences WHERE schemaname IN ('idgen', ${\literal("$installer schema")})};
my $before = in_shop($everything);
like($before, $_, "compared: $_") for qr/^function idgen\.permute\(.*\|has\|\Q$role\E\|auditor\|EXECUTE\|f$/m,
  qr/^function idgen\.object_id\(.*\|lacks\|.*\|-\|EXECUTE\|f$/m, qr/CREATE TRIGGER "by key" /, qr/^kept\|\w+-/m,
  qr/^column command_id of table idgen\.creation_identifiers\|.*\|\Q$role\E\|auditor\|SELECT\|f$/m;

# Return the lines that occur in only one of the two strings.
sub differences
{
	my ($before, $after) = map { { map { $_ => 1 } split /\n/ } } @_;
	return join "\n", map({ "missing: $_" } sort grep { !$after->{$_} } keys %$before),
	  map({ "new: $_" } sort grep { !$before->{$_} } keys %$after);
}

sub uses_grants
{
	my ($database, $on) = @_;
	is(as('application', $database, $_, $on), 't', "$database: a role with grants can run: $_") for
		q{SELECT created FROM idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order')},
		qq{SELECT NOT created FROM idgen.create_once($command, $entity, 'order', '{"customer": 7}')},
		q{SELECT idgen.purge_creations('3 days') = 0},
		q{SELECT domain IS NOT NULL FROM idgen.parse_prefixed_id('inv_1')},
		q{SELECT setval('idgen.snowflake_mark', last_value) > 0 FROM idgen.snowflake_mark},
		q{SELECT idgen.unpermute(idgen.permute(7, 'shop'), 'shop') = 7};
	is(as('application', $database, 'TRUNCATE idgen.creation_identifiers', $on), '42501',
		"$database: TRUNCATE is rejected");
	is(as('stranger', $database, "SELECT idgen.create_once($command, $entity, 'order')", $on), '42501',
		"$database: a role without grants is rejected");
}

sub is_restored
{
	my ($database, $owner) = @_;
	# A superuser that has restored the dump also owns the extension's objects.
	is(differences($before, ask($everything, $database) =~ s/\Q$dba/$bootstrap/gr), '',
		"$database: nothing is missing or new");
	is(ask(q{SELECT extowner::regrole FROM pg_extension WHERE extname = 'idgen'}, $database), $owner,
		"$database: the role that restored it owns the extension");
	uses_grants($database);
}

# --- Dumps, and restores by a superuser -----------------------------------------------------------
# Return the distinct error messages of a program. In the output of parallel processes, parts of other lines can precede
# a message.
sub messages
{
	my %messages = map { $_ => 1 } (run_command([@_]))[1] =~ /(?:ERROR:  |error: (?!.*ERROR:  ))(.*)/g;
	return join "\n", sort keys %messages;
}

my %by = (superuser => $superuser, installer => $installer, reader => 'reader');
sub dump_as
{
	my ($who, $format, @options) = @_;
	$node->command_ok([ 'pg_dump', '--username', $by{$who}, "--format=$format", @options,
		"--file=$backup/$who.$format", $source->connstr('shop') ], "$who dumps, $format");
}
for my $who ('superuser', 'installer')
{
	dump_as($who, 'plain');
	dump_as($who, 'custom');
	dump_as($who, 'directory', '--jobs=2');
}
dump_as('reader', 'custom');
$node->command_fails_like([ 'pg_dump', '--username', 'stranger', $source->connstr('shop') ],
	qr/error: .*(permission denied for|lack SELECT privilege on)/,
	'without SELECT on the tables and sequences, a role cannot');
uses_grants('shop', $source);

sub restore
{
	my ($format, $file, $database, $option) = @_;
	my @to = ('--username', $superuser, '--dbname', $node->connstr($database), $option);
	return messages($format eq 'plain' ? ('psql', '--no-psqlrc', @to, '--file') : ('pg_restore', @to), $file);
}

my @sections = map { "--section=$_" } qw(pre-data data post-data);
my @all = ([ 'plain', '--quiet' ], [ 'custom', '--single-transaction' ], [ 'directory', '--jobs=2' ],
	[ 'custom', @sections ]);
for (map({ [ 'superuser', @$_ ] } @all), map({ [ 'installer', @$_ ] } @all), [ 'reader', @{ $all[1] } ])
{
	my ($who, $format, @runs) = @$_;
	my $database = join('_', 'of', $who, $format, @runs) =~ s/\W+/_/gr;
	new_database($node, $database, $role);
	is(join('', map { restore($format, "$backup/$who.$format", $database, $_) } @runs), '', "$database: no errors");
	is_restored($database, $dba);
}

# --- Restores by an installer -------------------------------------------------------------------------
# These restores use the commands in docs/backup.md, and may raise only the errors that the page names.
my $page = Page->new('backup');
my $section = 'If the installer is not a superuser';
my ($commands) = map { s/^createdb.*\n//mr } $page->blocks($section, 'sh');
my ($harmless) = $page->prose($section) =~ /errors (`.*?) are harmless/;
my @harmless = $harmless =~ /`([a-z][^`]+?)(?: …)?`/g;
is(@harmless, 5, 'the page names five harmless errors');
my $not_harmless = join '', map { "(?!\Q$_\E)" } @harmless;

sub paste
{
	my ($commands, $who, $database, $file) = @_;
	local %ENV = (%ENV, INSTALLER => $who, SUPERUSER => $superuser, PGHOST => $node->host, PGPORT => $node->port);
	$commands =~ s/-U installer/-U "\$INSTALLER"/g;
	$commands =~ s/-U postgres/-U "\$SUPERUSER"/g;
	$commands =~ s/-d (?:by_installer|shop)/-d $database/g;
	$commands =~ s/\bshop\.dump/installer.$file/g;
	return messages('sh', '-c', "cd $backup && $commands");
}

# The commands of the page take these grants from the dump. If the dump is plain, or another role restores it, a
# superuser repeats them.
my ($query) = $page->section($section) =~ /(SELECT oid::regprocedure.*?;)/s;
is_deeply([ map { /^(?:idgen\.)?(\w+)/ } sort split /\n/, in_shop($query) ], [ sort @Functions::of_keys, 'object_id' ],
	'the query of the page shows the functions with rights');
append_to_file("$backup/of_superusers.sql", $of_superusers);

my $restore = qr/^pg_restore -f -.*\n/m;
my ($last) = $commands =~ /($restore)/;
my $repeated = $commands =~ s/^pg_restore -[lL].*\n//mgr =~ s/ functions/ of_superusers/r;
my %forms = (
	plain => [ 'plain', $repeated =~ s/pg_restore -f -/cat/r ],
	custom => [ 'custom', $commands ],
	directory => [ 'directory', $commands ],
	sections => [ 'custom', $commands =~ s/$restore/join '', map { $last =~ s!_restore!_restore $_!r } @sections/er ]);
for my $form (sort keys %forms)
{
	my ($format, $commands) = @{ $forms{$form} };
	my $database = "by_installer_$form";
	new_database($node, $database, $role);
	unlike(paste($commands, $installer, $database, $format), qr/^$not_harmless./m, "$database: errors are harmless");
	is_restored($database, $role);
}

# A trigger that a superuser created is missing, and the page's second query finds it.
my ($triggers) = $page->section($section) =~ /(SELECT tgrelid::regclass.*?;)/s;
new_database($source, 'recipe', $role);
is(as($installer, 'recipe', 'CREATE EXTENSION idgen; CREATE TABLE baskets (id uuid PRIMARY KEY)', $source), '',
	'recipe: a table of the installer');
$source->safe_psql('recipe', q{CREATE TRIGGER of_superuser BEFORE INSERT ON baskets FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=baskets')});
is($source->safe_psql('recipe', $triggers), 'baskets|of_superuser', '... has a trigger of a superuser');
$node->command_ok([ 'pg_dump', '--username', $installer, '--format=custom', "--file=$backup/installer.recipe",
	$source->connstr('recipe') ], '... is dumped by the installer');
new_database($node, 'recipe_restored', $role);
like(paste($commands =~ s/^psql -U postgres.*\n//mr, $installer, 'recipe_restored', 'recipe'),
	qr/^permission denied for function idgen\.check_recent_hmac_id$/m, '... and restored with the error of the page');
is(ask($triggers, 'recipe_restored'), '', '... without the trigger');

# In a database that already uses idgen, a restore with the list on the page does not change the values of sequences. A
# restore without the list sets them back.
my ($list) = $page->section('A part of a database') =~ /`(pg_restore -l [^`]+ >list)`/;
my $counter = 'SELECT last_value FROM idgen.decimal_id_counter';
my %counters = (kept => [ "$list; pg_restore -L list", 1000 ], set_back => [ 'pg_restore', in_shop($counter) ]);
for my $database (sort keys %counters)
{
	my ($commands, $value) = @{ $counters{$database} };
	new_database($node, $database, $role);
	ask(q{CREATE EXTENSION idgen; SELECT setval('idgen.decimal_id_counter', 1000)}, $database);
	is(paste("$commands -U postgres -d shop shop.dump", $installer, $database, 'custom'), '', "$database: no errors");
	is(ask($counter, $database), $value, '... the next value of decimal_id()');
}

# Another installer grants the same rights as the former installer.
sub rights_of_others
{
	my @rights = $_[0] =~ /^(\w+ idgen\..*\|(?:application|auditor|-)\|.*)/mg;
	return join "\n", sort map { s/^([^|]*)\|.*\|(has|lacks)\|.*\|(\w+\|\w+\|\w)$/$1 $2 $3/r } @rights;
}
new_database($node, 'by_another', 'other');
append_to_file("$backup/of_superusers.sql", '; ' . $of_superusers =~ s/\Q$role/other/gr);
like(paste($repeated =~ s/ -f -/ --no-owner -f -/r, 'other', 'by_another', 'custom'), qr/^\Q$harmless[-1]\E/m,
	'by_another: an error that the page names');
my $by_another = ask($everything, 'by_another');
my $of_others = rights_of_others($before);
like($of_others, qr/^table idgen\.creation_identifiers has application\|SELECT\|f$/m, 'other roles have rights');
is(rights_of_others($by_another), $of_others, 'by_another: ... and the same ones');
like($by_another, $_, "by_another: $_") for qr/CREATE TRIGGER "by key" /, qr/^kept\|\w+-/m;

done_testing();
