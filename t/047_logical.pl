# Two servers that write replicate to each other. Each makes identifiers under
# its own node id, and what arrives keeps those that it has: defaults are not
# evaluated again, tickers stay where they are. Commands are replicated like
# any rows, and so meet where both servers took one.

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %number_of = (east => 1, west => 2);
my %other = (east => 'west', west => 'east');
my %node_of;

# Every kind of column there is: a ticker's, the rest, and an id domain
my $columns = q{
	id bigint PRIMARY KEY DEFAULT idgen.snowflake(),
	js_id bigint UNIQUE DEFAULT idgen.js_id(),
	decimal_id bigint UNIQUE DEFAULT idgen.decimal_id(),
	ordered uuid UNIQUE DEFAULT idgen.uuid_v7_ordered(),
	short uuid UNIQUE DEFAULT idgen.short_comb(),
	ulid text COLLATE "C" UNIQUE DEFAULT idgen.ulid(),
	object text COLLATE "C" UNIQUE DEFAULT idgen.object_id(),
	account account_id UNIQUE DEFAULT idgen.prefixed_id('acct'),
	note text};

for my $place ('east', 'west')
{
	my $node = PostgreSQL::Test::Cluster->new($place);

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', qq{
idgen.node_id = $number_of{$place}
idgen.launch_id = 10$number_of{$place}
max_connections = 30
max_logical_replication_workers = 10
log_statement = none
});
	$node->start;
	$node->safe_psql('postgres', qq{
		CREATE EXTENSION idgen;
		SELECT idgen.create_id_domain('account_id', 'acct');
		CREATE TABLE of_east ($columns);
		CREATE TABLE of_west ($columns);
		CREATE TABLE keyed (id text COLLATE "C" PRIMARY KEY, account account_id, note text);
		CREATE TABLE checked (id uuid PRIMARY KEY, note text)});
	$node_of{$place} = $node;
}
my ($east, $west) = @node_of{ 'east', 'west' };
my $version = $east->safe_psql('postgres', 'SHOW server_version_num');

sub ask
{
	my ($node, $query) = @_;

	return $node->safe_psql('postgres', $query);
}

sub subscribe
{
	my ($subscriber, $publisher, $name, $options, $wait) = @_;

	ask($subscriber, "CREATE SUBSCRIPTION $name CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION $name WITH ($options)");
	$subscriber->wait_for_subscription_sync($publisher, $name);
}

sub same_rows
{
	my ($table, $count, $name) = @_;
	my $digest = "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY id::text)) FROM $table t";
	my $here = ask($east, $digest);

	like($here, qr/^$count\|/, "$name: all $count rows are there");
	is(ask($west, $digest), $here, "$name: and the same on both servers");
}

# --- One way each -----------------------------------------------------------

# Some rows are there before, for the initial copy: as text to the west, and
# binary to the east, which all versions apply and those from 16 on copy.
for my $place ('east', 'west')
{
	ask($node_of{$place}, "INSERT INTO of_$place (note) SELECT 'before' FROM generate_series(1, 500)");
	ask($node_of{$place}, "CREATE PUBLICATION of_$place FOR TABLE of_$place");
}
my $marks = q{SELECT string_agg(layout || ' ' || coalesce(last_value::text, 'none'), ' ' ORDER BY layout) FROM idgen.tickers};
my %marks_before = map { $_ => ask($node_of{$_}, $marks) } keys %node_of;
subscribe($west, $east, 'of_east', 'streaming = on');
subscribe($east, $west, 'of_west', 'binary = true');
for my $place ('east', 'west')
{
	same_rows("of_$place", 500, "$place, copied");
	is(ask($node_of{$place}, $marks), $marks_before{$place}, "$place: what arrives moves no ticker");
}

# Both at once, and each changes its rows, too
my $folder = PostgreSQL::Test::Utils::tempdir();

sub start_load
{
	my ($place, $table) = @_;

	append_to_file("$folder/$place.$table.sql",
		"INSERT INTO $table (note) SELECT '$place' FROM generate_series(1, 10);\n");
	return IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--transactions=50', "--file=$folder/$place.$table.sql",
			$node_of{$place}->connstr('postgres') ],
		'>', '/dev/null', '2>', \my $errors);
}

my @running = map { start_load($_, "of_$_") } 'east', 'west';
$_->finish or die 'pgbench failed' for @running;
for my $place ('east', 'west')
{
	ask($node_of{$place}, "UPDATE of_$place SET note = 'changed' WHERE note = 'before'");
	$node_of{$place}->wait_for_catchup("of_$place");
	same_rows("of_$place", 2500, "$place, streamed");
}
my @values = qw(id js_id decimal_id ordered short ulid object account);
is( ask($east, 'SELECT ' . join(', ', map { "count(DISTINCT $_)" } @values) . ' FROM (SELECT * FROM of_east UNION ALL SELECT * FROM of_west) t'),
	join('|', (5000) x @values), 'no identifier was made by both');
is( ask($east, q{SELECT string_agg(DISTINCT idgen.snowflake_node(id) || ' ' || (idgen.decimal_id_parts(decimal_id)).launch, ', ') FROM of_west}),
	'2 102', 'and each tells who made it');

# --- Both ways in one table -------------------------------------------------

SKIP:
{
	skip 'two ways need PostgreSQL 16', 5 if $version < 160000;

	ask($_, "CREATE TABLE shared ($columns); CREATE PUBLICATION shared_from_" . $_->name . ' FOR TABLE shared') for $east, $west;
	for my $place ('east', 'west')
	{
		subscribe($node_of{$place}, $node_of{ $other{$place} }, "shared_from_$other{$place}", 'origin = none, copy_data = false');
	}
	@running = map { start_load($_, 'shared') } 'east', 'west';
	$_->finish or die 'pgbench failed' for @running;
	$node_of{$_}->wait_for_catchup("shared_from_$_") for 'east', 'west';
	same_rows('shared', 4000, 'both ways');
	is( ask($west, q{SELECT string_agg(node || ' ' || rows, ', ' ORDER BY node)
			FROM (SELECT idgen.snowflake_node(id) AS node, count(*) AS rows FROM shared GROUP BY 1) s}),
		'1 2000, 2 2000', 'both ways: half of each');
	for my $node ($east, $west)
	{
		is( ask($node, q{SELECT coalesce(sum(apply_error_count), 0) FROM pg_stat_subscription_stats}),
			'0', $node->name . ' had nothing to refuse');
	}
}

# --- Columns that only the subscriber has -----------------------------------

# Those get their defaults there, under its own node id.
ask($east, 'CREATE TABLE wide (id bigint PRIMARY KEY DEFAULT idgen.snowflake()); CREATE PUBLICATION wide FOR TABLE wide');
ask($west, 'CREATE TABLE wide (id bigint PRIMARY KEY, arrived bigint DEFAULT idgen.snowflake(), tag uuid DEFAULT idgen.uuid_v7_ordered())');
subscribe($west, $east, 'wide', 'copy_data = false');
ask($east, 'INSERT INTO wide SELECT FROM generate_series(1, 100)');
$east->wait_for_catchup('wide');
is( ask($west, q{SELECT count(*), count(DISTINCT arrived), count(DISTINCT tag), min(idgen.snowflake_node(id)), min(idgen.snowflake_node(arrived)) FROM wide}),
	'100|100|100|1|2', 'a column that only the subscriber has gets its default there');

# --- Text as a key, a domain, and the trigger ------------------------------------

ask($east, 'CREATE PUBLICATION kinds FOR TABLE keyed, checked');
ask($west, q{CREATE TRIGGER check_id BEFORE INSERT ON checked FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'uuid_v7')});
ask($east, q{INSERT INTO keyed SELECT idgen.object_id(), idgen.prefixed_id('acct'), 'copied' FROM generate_series(1, 100)});
subscribe($west, $east, 'kinds', 'binary = true');
ask($east, q{
	INSERT INTO keyed SELECT idgen.object_id(), idgen.prefixed_id('acct'), 'streamed' FROM generate_series(1, 100);
	UPDATE keyed SET note = 'changed' WHERE note = 'copied';
	DELETE FROM keyed WHERE note = 'streamed';
	INSERT INTO checked VALUES (idgen.uuid_v7('2020-01-01'), 'old')});
$east->wait_for_catchup('kinds');
same_rows('keyed', 100, 'an ObjectId as a key');
is(ask($west, 'SELECT note, count(*) FROM keyed GROUP BY note'), 'changed|100', 'rows are found by it, to change and to delete them');
same_rows('checked', 1, 'the trigger asks clients, not the replication: an old row');
isnt($west->psql('postgres', q{INSERT INTO checked VALUES (idgen.uuid_v7('2020-01-01'), 'old')}), 0, 'but from a client it is refused');

# --- Commands ---------------------------------------------------------------

my $command = q{'c0000000-0000-4000-8000-000000000001'};

sub create_once
{
	my ($node, $entity) = @_;

	return ask($node, "SELECT * FROM idgen.create_once_bigint($command, $entity)");
}

ask($east, 'CREATE PUBLICATION commands FOR TABLE idgen.creation_identifiers');
subscribe($west, $east, 'commands', 'copy_data = false');
is(create_once($east, 1), '1|t', 'a command is done in the east');
$east->wait_for_catchup('commands');
is(create_once($west, 2), '1|f', 'sent again to the west, it is known there');
ask($east, "SELECT idgen.forget_creation($command)");
$east->wait_for_catchup('commands');
is(create_once($west, 3), '3|t', 'what the one forgets, so does the other');

# It comes to the west before the east's row does: done twice, and the row
# cannot be applied until the west gives way.
is(create_once($east, 4), '4|t', 'sent to both before it is replicated, both do it');
$west->wait_for_log(qr/(violates unique constraint|already exists in unique index) "creation_identifiers_pkey"/);
ok(1 < ask($west, "WITH f AS (SELECT idgen.forget_creation($command)) SELECT 2 FROM f"), 'then the replication stops until one of them is forgotten');
$east->wait_for_catchup('commands');
is(create_once($west, 5), '4|f', 'and goes on with what the other one has');

# --- All tables -------------------------------------------------------------

# That includes the register of prefixes, whose rows name domains that the
# subscriber must have, but not their rows.
for my $node ($east, $west)
{
	ask($node, 'CREATE DATABASE whole');
	$node->safe_psql('whole', q{
		CREATE EXTENSION idgen;
		SELECT idgen.create_id_domain('user_id', 'user');
		CREATE TABLE users (id user_id PRIMARY KEY DEFAULT idgen.prefixed_id('user'))});
}
$east->safe_psql('whole', q{
	INSERT INTO users SELECT FROM generate_series(1, 10);
	SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-000000000001', 1);
	CREATE PUBLICATION whole FOR ALL TABLES});
$west->safe_psql('whole', 'DELETE FROM idgen.id_prefixes');
$west->safe_psql('whole', q{CREATE SUBSCRIPTION whole CONNECTION '} . $east->connstr . q{ dbname=whole' PUBLICATION whole});
$west->wait_for_subscription_sync($east, 'whole', 'whole');
$west->safe_psql('whole', q{CREATE DOMAIN team_id AS text COLLATE "C" CONSTRAINT prefixed_id_check CHECK (idgen.is_prefixed_id(VALUE, 'team'))});
$east->safe_psql('whole', q{SELECT idgen.create_id_domain('team_id', 'team')});
$east->wait_for_catchup('whole');
is( $west->safe_psql('whole', q{
		SELECT count(*), count(DISTINCT p.uuid), min(p.domain::text) FROM users, idgen.parse_prefixed_id(id) p;
		SELECT domain FROM idgen.parse_prefixed_id('team_1');
		SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-000000000001', 2)}),
	"10|10|user_id\nteam_id\n1|f", 'where all tables are replicated, prefixes and commands are known');

# --- The other one takes over -----------------------------------------------

# The west becomes the east, as in an upgrade: its tickers begin above the
# east's marks, and then it may have the east's node id.
ask($west, "DROP SUBSCRIPTION $_") for 'of_east', 'wide', 'kinds', 'commands', $version < 160000 ? () : 'shared_from_east';
my @last = split /\|/, ask($east, 'SELECT idgen.snowflake(), idgen.js_id(), idgen.decimal_id(), idgen.trace_id(), idgen.uuid_v7_ordered()');
my $take_over = ask($east, q{
	SELECT format('SELECT idgen.raise_ticker(%L, %s);', layout, reserved_value)
	FROM idgen.tickers WHERE reserved_value IS NOT NULL});
is(scalar(() = $take_over =~ /raise_ticker/g), 5, 'the east tells where its five tickers are');
ask($west, $take_over);
my @next = split /\|/, ask($west,
	q{SET idgen.node_id = 1; SET idgen.launch_id = 101; SELECT idgen.snowflake(), idgen.js_id(), idgen.decimal_id(), idgen.trace_id(), idgen.uuid_v7_ordered()});
cmp_ok($next[$_], '>', $last[$_], 'the west goes on above it: ' . $last[$_]) for 0 .. 2;
cmp_ok(($next[3] - $last[3]) % (1 << 62), '<', 1 << 61, 'trace_id(), too');
cmp_ok($next[4], 'gt', $last[4], 'and uuid_v7_ordered()');

diag('figures: 2 servers, 5000 rows of 8 identifiers' . ($version < 160000 ? '' : ', and 4000 in one table written by both,')
	  . ' replicated while both made them; a command done by both was told of, ' . ask($west, 'SELECT count(*) FROM idgen.creation_identifiers') . ' row is left');
$east->stop;
$west->stop;
done_testing();
