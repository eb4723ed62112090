# Verify that an administrator can paste the pages install.md, running.md, backup.md and upgrade.md in docs/ from top to
# bottom, shell commands and SQL, on the server from which each page starts. No command fails, except with errors that
# the page calls harmless, and the result is what the page promises. (t/058_failover.pl pastes failover.md.)

use Page;
use Server;

my $home = PostgreSQL::Test::Utils::tempdir();
my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
my $has_cron = -e "$sharedir/extension/pg_cron.control";
my $has_advisor = -e "$sharedir/extension/idgen_advisor.control";

# Paste the blocks of a page into a shell and a psql session. A hash contains code to run before the blocks of a
# section.
sub paste_page
{
	my ($node, $page, %before) = @_;
	local %ENV = (%ENV, HOME => $home, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres');
	my $session = session(node => $node, database => 'shop');
	my ($harmless) = slurp_file("docs/$page.md") =~ /errors (`[^.]*?) are harmless/s;
	my $ignored = join '|', 'NOTICE', map { quotemeta s/\s+/ /gr } ($harmless // '') =~ /`(.+?)(?: …)?`/gs;
	for my $block (Page->new($page)->blocks_in_order)
	{
		my ($section, $language, $text) = @$block;
		(delete $before{$section} // sub { })->();
		next if $text =~ /pg_cron/ && !$has_cron;
		$text =~ s/^CREATE EXTENSION IF NOT EXISTS idgen_advisor;\n|^-- the ten greatest.*//msg if !$has_advisor;
		$text =~ s{/etc/postgresql/}{$home/}g;
		$text =~ s{/var/lib/postgresql/}{$home/}g;
		my $name = "$page.md, $section: " . ($text =~ /^(.{1,50})/)[0];
		if ($language eq 'sh')
		{
			my $errors = (run_command([ 'sh', '-ec', "cd $home\n$text" ]))[1];
			is(join("\n", grep { !/$ignored/ } split /\n/, $errors), '', $name);
			is($?, 0, '... succeeds');
		}
		else { $session->ask($text); unlike($session->{errors}, qr/ERROR|WARNING/, $name) }
	}
	$session->quit;
	is_deeply([ keys %before ], [], "$page.md has the sections");
}

# Start a server with the database "shop", and with the superuser that the pages name.
sub start_shop
{
	my ($name, $conf, $sql) = @_;
	my $node = init_server($name, $conf);
	$node->start;
	$node->safe_psql('postgres', q{
		SELECT 'CREATE ROLE postgres SUPERUSER LOGIN' WHERE to_regrole('postgres') IS NULL \gexec
		CREATE ROLE installer LOGIN;
		CREATE ROLE app LOGIN;
		CREATE DATABASE shop OWNER installer});
	$node->safe_psql('shop', $sql) if defined $sql;
	return $node;
}

# --- Installation -------------------------------------------------------------------------------
my $node = start_shop('installed');
paste_page($node, 'install');
is($node->safe_psql('shop', q{
		SELECT idgen.snowflake_node(idgen.snowflake()), idgen.hmac_comb('x') IS NOT NULL,
			idgen.permute(1, '') IS NOT NULL;
		SELECT name, sourcefile FROM pg_settings WHERE name LIKE 'idgen.%' AND sourcefile IS NOT NULL ORDER BY 1}),
	"1|t|t\n" . join("\n", map { "idgen.$_|$home/idgen.conf" } qw(key_file launch_id node_id)),
	'the server has its number and keys, from the file of the host');
$node->stop;

# --- Running --------------------------------------------------------------------------------------
my $preloaded = "shared_preload_libraries = 'idgen, pg_cron'\ncron.use_background_workers = on";
$node = start_shop('running', $has_cron ? $preloaded : '', 'CREATE EXTENSION idgen');
paste_page($node, 'running');
is($node->safe_psql('postgres', 'SELECT jobname, database, username FROM cron.job'), 'purge|shop|janitor',
	'the purge is scheduled')
  if $has_cron;
is($node->safe_psql('shop', 'SHOW lock_timeout; SHOW idle_in_transaction_session_timeout',
		extra_params => [ '--username', 'app' ]), "2s\n10s", 'the application does not wait for long');
$node->stop;

# --- Backup ---------------------------------------------------------------------------------------
my $used = q{
	SET ROLE installer;
	CREATE EXTENSION idgen;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT idgen.keyed_comb('orders'));
	CREATE TABLE drafts (
		id uuid PRIMARY KEY,
		created_at timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED);
	CREATE TRIGGER drafts_id_is_recent BEFORE INSERT OR UPDATE OF id ON drafts
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7', 'tolerance=10 minutes');
	CREATE INDEX drafts_by_text ON drafts (idgen.uuid_to_base(id, 58));
	SELECT idgen.create_id_domain('account_id', 'acct');
	CREATE TABLE accounts (id account_id PRIMARY KEY);
	CREATE VIEW versions AS SELECT id, idgen.uuid_version(id) FROM orders;
	GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
	INSERT INTO orders DEFAULT VALUES;
	INSERT INTO drafts VALUES (idgen.uuid_v7());
	INSERT INTO accounts SELECT idgen.prefixed_id_from_uuid('acct', idgen.keyed_comb('accounts'));
	SELECT idgen.create_once(idgen.uuid_v7(), id, 'create order') FROM orders;
	SELECT idgen.uuid_v7_ordered();
	RESET ROLE;
	GRANT EXECUTE ON FUNCTION idgen.permute TO app};
my $contents = q{
	SELECT * FROM orders; SELECT * FROM drafts; SELECT * FROM accounts; SELECT * FROM versions;
	SELECT * FROM idgen.creation_identifiers; SELECT prefix, domain FROM idgen.id_prefixes;
	SELECT last_value FROM idgen.uuid_v7_ordered_mark};
sub schema_of { return (run_command([ 'pg_dump', '--schema-only', $node->connstr($_[0]) ]))[0] =~ s/^\\.*//mgr }

$node = start_shop('saved', undef, $used);
my ($before, $schema) = ($node->safe_psql('shop', $contents), schema_of('shop'));
my $ordered;
paste_page($node, 'backup', 'After DROP EXTENSION CASCADE' => sub {
	is($node->safe_psql('restored', $contents), $before, 'the database is restored');
	is(schema_of('restored'), $schema, '... with all objects and grants');
	$ordered = $node->safe_psql('shop', 'SELECT idgen.uuid_v7_ordered()');
	$node->safe_psql('shop', 'DROP EXTENSION idgen CASCADE');
	is(outcome('INSERT INTO orders DEFAULT VALUES', node => $node, database => 'shop'), '23502',
		'without the extension, a key is missing');
	is(outcome('SELECT idgen.uuid_v7()', node => $node, database => 'shop'), '3F000', '... and so is the schema');
	is(outcome(q{INSERT INTO drafts VALUES (gen_random_uuid()); DELETE FROM drafts WHERE id NOT IN (
			SELECT id FROM drafts LIMIT 1); SELECT 'garbage'::account_id}, node => $node, database => 'shop'),
		'garbage', '... but any value is accepted');
});
# Repeat the statements that the page only mentions.
my $script = (run_command([ 'pg_restore', '-f', '-', "$home/shop.dump" ]))[0];
$node->safe_psql('shop', "SET ROLE installer; $_")
  for grep { /idgen\./ } $script =~ /^(CREATE (?:INDEX|TRIGGER|VIEW)\b[^;]*;)/mg;
is(schema_of('shop'), $schema, 'after the repair, the database has all objects and grants');
is($node->safe_psql('shop', $contents), $before, '... and contents');
cmp_ok($node->safe_psql('shop', 'SELECT idgen.uuid_v7_ordered()'), 'gt', $ordered, '... and continues');
is($node->safe_psql('by_installer', $contents), $before, 'the installer has restored the dump');
$node->stop;

# --- Upgrade, and leaving -----------------------------------------------------------------------------
$node = start_shop('left', 'idgen.node_id = 1', $used . q{;
	DROP VIEW versions;
	DROP TABLE orders;
	DROP INDEX drafts_by_text;
	CREATE ROLE new_installer LOGIN;
	CREATE TABLE events (id bigint PRIMARY KEY DEFAULT idgen.snowflake())});
paste_page($node, 'upgrade');
is($node->safe_psql('shop', q{
		SELECT count(*) FROM pg_extension WHERE extname = 'idgen';
		SELECT count(*) FROM recorded_commands;
		INSERT INTO drafts DEFAULT VALUES;
		INSERT INTO events DEFAULT VALUES;
		INSERT INTO accounts DEFAULT VALUES}), "0\n1", 'idgen is gone, but not the commands');
$node->stop;
done_testing();
