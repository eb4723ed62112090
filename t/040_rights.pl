# Rights: a role without superuser rights installs the extension and grants
# rights; without them, no role can access the recorded commands, the prefixes and
# the tickers' high-water marks. (Rights on each function: 041_search_path.pl;
# settings: 043_settings.pl.)

use FindBin;
use lib "$FindBin::RealBin/lib";
use Functions;
use Server;

my $node = start_server('rights');

ask(q{
	CREATE ROLE installer LOGIN;
	CREATE ROLE application LOGIN;
	CREATE ROLE janitor LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE DATABASE shop;
	CREATE DATABASE closed;
	GRANT CREATE ON DATABASE shop TO installer});

sub as { return outcome($_[1], user => $_[0], database => 'shop') }

my $command = q{'c0000000-0000-4000-8000-00000000000a'};
my $entity = q{'e0000000-0000-4000-8000-00000000000a'::uuid};
my $table = 'idgen.creation_identifiers';

# Installing
is(outcome('CREATE EXTENSION idgen', user => 'installer', database => 'closed'), '42501', 'CREATE EXTENSION requires CREATE on the database');
is(as('installer', 'CREATE EXTENSION idgen'), '', 'which suffices');

# Without rights on tables. 041_search_path.pl calls each function.
for my $refused (
	"INSERT INTO $table (command_id, entity_number) VALUES ($command, 1)",
	"UPDATE $table SET entity_number = 1",
	"CREATE TABLE idgen.mine ()",
	"INSERT INTO idgen.id_prefixes VALUES ('mine', 'text')",
	"UPDATE idgen.id_prefixes SET prefix = 'mine'",
	(map {
		my $relation = "idgen.$_";
		("SELECT count(*) FROM $relation", "DELETE FROM $relation", "TRUNCATE $relation",
			"BEGIN; LOCK TABLE $relation IN ACCESS SHARE MODE", "ALTER TABLE $relation OWNER TO stranger",
			"ALTER TABLE $relation ADD mine int", "DROP TABLE $relation", "CREATE INDEX ON $relation ((1))",
			"COPY $relation TO STDOUT", "COPY $relation FROM '/dev/null'",
			"CREATE TRIGGER mine BEFORE INSERT ON $relation EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"GRANT SELECT ON $relation TO stranger")
	} qw(creation_identifiers id_prefixes)))
{
	is(as('stranger', $refused), '42501', "without rights, rejected: $refused");
}

# The tickers' high-water marks: roles without rights move them only by generating
# identifiers.
my @tickers = map { "${_}_ticker" } @Functions::tickers;
my $marks = join(' UNION ALL ', map { "SELECT '$_', last_value, is_called FROM idgen.$_" } @tickers);
is($node->safe_psql('shop', "SELECT count(*) FROM ($marks) m"), scalar @tickers, 'each ticker has a high-water mark');
is(as('stranger', 'SELECT idgen.is_recent_uuid_v7(idgen.uuid_v7_ordered())'), 't', 'a role without rights can call a function on a ticker');
is( as('stranger', q{SELECT string_agg(layout, ' ' ORDER BY layout) FROM idgen.tickers WHERE last_value IS NULL OR last_value < reserved_value}),
	join(' ', sort @Functions::tickers), 'and read the view idgen.tickers');
my $before = $node->safe_psql('shop', $marks);
like($before, qr/^uuid_v7_ordered_ticker\|\d{15,}\|t$/m, 'which moved its high-water mark');
for my $ticker (@tickers)
{
	for my $refused (
		"SELECT nextval('idgen.$ticker')", "SELECT setval('idgen.$ticker', 1)",
		"SELECT setval('idgen.$ticker', 1, false)", "SELECT currval('idgen.$ticker')",
		"SELECT * FROM idgen.$ticker", "SELECT idgen.sequence_comb('idgen.$ticker')",
		"ALTER SEQUENCE idgen.$ticker RESTART", "ALTER SEQUENCE idgen.$ticker OWNER TO stranger",
		"DROP SEQUENCE idgen.$ticker", "GRANT USAGE ON SEQUENCE idgen.$ticker TO stranger")
	{
		is(as('stranger', $refused), '42501', "without rights, rejected: $refused");
	}
	is(as('stranger', "SELECT last_value FROM pg_sequences WHERE sequencename = '$ticker'"), '', "without rights, not visible in pg_sequences: $ticker");
}
is($node->safe_psql('shop', $marks), $before, 'the high-water marks have not changed');

# The installer grants rights.
is(as('installer', "GRANT SELECT, INSERT ON $table TO application;
						 GRANT SELECT, DELETE ON $table TO janitor"), '', 'the installer grants rights');
is(as('application', "SELECT * FROM idgen.create_once($command, $entity)"),
	'e0000000-0000-4000-8000-00000000000a|t', 'create_once() works with SELECT and INSERT');
is(as('application', "SELECT * FROM idgen.create_once($command, idgen.uuid_v4())"),
	'e0000000-0000-4000-8000-00000000000a|f', 'create_once() finds a recorded command with SELECT and INSERT');
is(as('application', "SELECT count(*) FROM idgen.find_creation($command)"), '1', 'find_creation() works with SELECT and INSERT');
is(as('application', "SELECT idgen.forget_creation($command)"), '42501', 'forget_creation() requires DELETE');
is(as('application', 'SELECT idgen.purge_creations()'), '42501', 'purge_creations() requires DELETE');
is(as('janitor', "SELECT * FROM idgen.create_once_bigint(idgen.uuid_v4(), 1)"), '42501', 'create_once_bigint() requires INSERT');
is(as('janitor', "SELECT idgen.purge_creations()"), '0', 'purge_creations() works with SELECT and DELETE');
is(as('janitor', "SELECT idgen.trim_creations(0)"), '1', 'trim_creations() works with SELECT and DELETE');
is(as('janitor', "SELECT idgen.forget_creation($command)"), 'f', 'forget_creation() works with SELECT and DELETE');

# Row security: a policy that hides a recorded command causes an error instead of
# endless retries. The policy depends on the time, so that a new command is
# visible in its own session.
$node->safe_psql(
	'shop', qq{
	DELETE FROM $table;
	INSERT INTO $table VALUES ($command, '', $entity, NULL, NULL, '2001-01-01');
	ALTER TABLE $table ENABLE ROW LEVEL SECURITY;
	CREATE POLICY recent ON $table FOR SELECT USING (created_at > '2020-01-01');
	CREATE POLICY anything ON $table FOR INSERT WITH CHECK (true);
	CREATE POLICY deletable ON $table FOR DELETE USING (true)});
like( errors("SELECT idgen.create_once($command, $entity)", user => 'application', database => 'shop'),
	qr/ERROR:  \w+: could not find or record command id "c0000000-0000-4000-8000-00000000000a"\n.*HINT:  A row-level security policy/s,
	'a hidden command is an error whose hint names row security');
is(as('application', "SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $entity)"),
	't', 'other commands are recorded');
is(as('application', "SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000b', $entity)"),
	'f', 'and found');
is(as('janitor', 'SELECT idgen.purge_creations()'), '0', 'purge_creations() obeys the policy');
is(as('application', "SELECT count(*) FROM idgen.find_creation($command)"), '0', 'find_creation() obeys the policy');
$node->safe_psql('shop', "DROP POLICY anything ON $table");
is(as('application', "SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000c', 1)"),
	'42501', 'create_once() obeys an INSERT policy');
$node->safe_psql('shop', "ALTER TABLE $table DISABLE ROW LEVEL SECURITY");

# The trigger needs no rights: a role that may only insert gets 23514 for an old
# identifier, and 23505 if the table has it.
$node->safe_psql(
	'shop', q{
	CREATE TABLE public.orders (id uuid PRIMARY KEY);
	INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000000');
	CREATE TRIGGER orders_id BEFORE INSERT ON public.orders
		FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb', '1 hour', '1 day', '6');
	ALTER TABLE public.orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	CREATE POLICY inserts ON public.orders FOR INSERT WITH CHECK (true);
	GRANT INSERT ON public.orders TO PUBLIC});
is(as('stranger', q{INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000001')}), '23514', 'the trigger rejects an old identifier');
is(as('stranger', q{INSERT INTO public.orders VALUES ('00000000-0000-4000-8000-000000000000')}), '23505', 'the unique index rejects one that the table has');
is(as('stranger', 'SELECT FROM public.orders'), '42501', 'the role cannot read the table');

done_testing();
