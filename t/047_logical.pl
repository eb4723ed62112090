# Verify idgen on two servers that replicate to each other, as described in docs/replication.md. The subscriber does not
# evaluate defaults again, and replicated rows do not advance tickers. If both servers record the same command, the two
# records conflict, and the page's statements keep one of them.

use Page;
use Server qw(outcome slurp_file start_server);
use Test::More;

my %number_of = (east => 1, west => 2);
my ($east, $west) = map {
	start_server($_, "idgen.node_id = $number_of{$_}\nidgen.launch_id = 10$number_of{$_}\nlog_statement = none
		max_logical_replication_workers = 10\nmax_worker_processes = 20\n", allows_streaming => 'logical')
} 'east', 'west';
my $page = Page->new('replication');

sub ask { my ($node, $query, $database) = @_; return $node->safe_psql($database // 'postgres', $query) }

my $version = ask($east, 'SHOW server_version_num');

sub subscribe
{
	my ($subscriber, $publisher, $name, $options, $database) = @_;
	my $connection = $publisher->connstr($database // 'postgres') =~ s/'/''/gr;
	ask($subscriber, "CREATE SUBSCRIPTION $name CONNECTION '$connection' PUBLICATION $name WITH ($options)", $database);
	$subscriber->wait_for_subscription_sync($publisher, $name, $database);
}

# --- Rows ------------------------------------------------------------------------
# The columns have defaults that use tickers and other generators, and one column has an id domain. One column has a
# default on the subscriber only.
my %columns = (
	id => 'snowflake()', js_id => 'js_id()', decimal_id => 'decimal_id()', ordered => 'uuid_v7_ordered()',
	object => 'object_id()', account => q{prefixed_id_from_uuid('acct', idgen.uuid_v4())});
my %type_of = (ordered => 'uuid', object => 'text COLLATE "C"', account => 'account_id');
my $table = join ', ', map { "$_ @{[$type_of{$_} // 'bigint']} UNIQUE DEFAULT idgen.$columns{$_}" } sort keys %columns;
for my $node ($east, $west)
{
	ask($node, qq{
		SELECT idgen.create_id_domain('account_id', 'acct');
		CREATE TABLE rows ($table, checked uuid DEFAULT idgen.uuid_v7(), note text, PRIMARY KEY (account, object));
		CREATE TRIGGER check_id BEFORE INSERT ON rows FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_id('checked', 'uuid_v7')});
}
ask($west, 'ALTER TABLE rows ADD arrived bigint DEFAULT idgen.snowflake()');
my $insert = 'INSERT INTO rows (note) SELECT $$%s$$ FROM generate_series(1, 500)';
my $marks = q{SELECT string_agg(sequencename || ' ' || coalesce(last_value, 0), ' ') FROM pg_sequences
	WHERE schemaname = 'idgen' AND sequencename <> 'snowflake_mark'};
my $rows = 'SELECT count(*), md5(string_agg(format($$%s %s %s %s %s %s %s %s$$, account, decimal_id, id, js_id, object,
	ordered, 	checked, note), $$ $$ ORDER BY id)) FROM rows';
my $marks_of_west = ask($west, $marks);
ask($east, sprintf("$insert; CREATE PUBLICATION rows FOR TABLE rows", 'copied'));
subscribe($west, $east, 'rows', $version < 160000 ? 'streaming = on' : 'binary = true, streaming = on');
ask($east, sprintf($insert, 'streamed') . q{;
	UPDATE rows SET note = 'changed' WHERE note = 'copied';
	ALTER TABLE rows DISABLE TRIGGER check_id;
	INSERT INTO rows (checked, note) VALUES (idgen.uuid_v7('2020-01-01'), 'old')});
$east->wait_for_catchup('rows');
is(ask($west, $rows), ask($east, $rows), 'the rows are the same on both servers');
is(ask($west, $marks), $marks_of_west, 'and do not move a ticker');
is(ask($west, 'SELECT count(DISTINCT arrived), min(idgen.snowflake_node(arrived)),
	max(idgen.snowflake_node(id)) FROM rows'),
	'1001|2|1', 'but the subscriber evaluates the default of a column that only it has');
is(outcome(q{INSERT INTO rows (checked) VALUES (idgen.uuid_v7('2020-01-01'))}, node => $west), '23514',
	'the trigger refuses a row from a client that it lets pass as a replicated one');

# --- Both directions --------------------------------------------------------------
# Before each server receives the other server's rows, it executes one more statement. Then both execute the same
# command, each with its own entity.
SKIP:
{
	skip 'both directions require PostgreSQL 16', 1 if $version < 160000;

	my %on = (a => $east, b => $west);
	my %other = (a => 'b', b => 'a');
	my %id = (a => 1, b => 2);
	my $command = q{'c0000000-0000-4000-8000-000000000001'};
	my $is_state = sub {
		my ($place, $expected, $name) = @_;
		is(ask($on{$place}, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM orders;
			SELECT entity_number FROM idgen.creation_identifiers WHERE command_id = $command", 'two_way'), $expected,
				$name);
	};
	for my $place ('a', 'b')
	{
		ask($on{$place}, 'CREATE DATABASE two_way');
		ask($on{$place}, "CREATE EXTENSION idgen; CREATE TABLE orders (id bigint PRIMARY KEY);
			CREATE PUBLICATION from_$place FOR TABLE orders, idgen.creation_identifiers", 'two_way');
	}
	subscribe($on{$_}, $on{ $other{$_} }, "from_$other{$_}", 'origin = none, copy_data = false', 'two_way') for 'a',
		'b';
	ask($on{$_}, "ALTER SUBSCRIPTION from_$other{$_} DISABLE", 'two_way') for 'a', 'b';
	ask($on{$_}, "INSERT INTO orders VALUES (10 + $id{$_});
		INSERT INTO orders SELECT entity_number FROM idgen.create_once_bigint($command, $id{$_}, 'order')
			WHERE created",
			'two_way') for 'a', 'b';
	ask($on{$_}, "ALTER SUBSCRIPTION from_$other{$_} ENABLE", 'two_way') for 'a', 'b';
	$_->wait_for_log(qr/finished at [0-9A-F]+\/[0-9A-F]+/) for $east, $west;
	$is_state->('a', "1 11 12\n1", 'a has its entity');
	$is_state->('b', "2 11 12\n2", 'b has another one, and replication stops');

	my ($skip, $remove) = $page->blocks('A command that two servers executed');
	my ($position) = slurp_file($east->logfile) =~ /finished at ([0-9A-F]+\/[0-9A-F]+)/;
	ask($east, $skip =~ s/lsn = '.*?'/lsn = '$position'/r, 'two_way');
	ask($west, $remove, 'two_way');
	$on{$_}->wait_for_catchup("from_$_") for 'a', 'b';
	$is_state->($_, "1 11 12\n1", "$_ has the entity of a") for 'a', 'b';
	is(ask($on{$_}, "SELECT * FROM idgen.create_once_bigint($command, 3, 'order')", 'two_way'), '1|f',
		"$_ answers a retry with it") for 'a', 'b';
	ask($on{$_}, "INSERT INTO orders VALUES (20 + $id{$_})", 'two_way') for 'a', 'b';
	$on{$_}->wait_for_catchup("from_$_") for 'a', 'b';
	$is_state->($_, "1 11 12 21 22\n1", "$_ receives later rows") for 'a', 'b';
	is(ask($west, q{SELECT count(*) FROM pg_replication_origin WHERE roname = 'repair'}, 'two_way'), '0',
		'nothing is left of the repair');
}

# --- Commands ---------------------------------------------------------------
my $command = q{'c0000000-0000-4000-8000-000000000001'};

sub create_once { return ask($_[0], "SELECT * FROM idgen.create_once_bigint($command, $_[1], 'order')") }

ask($east, 'CREATE PUBLICATION commands FOR TABLE idgen.creation_identifiers');
subscribe($west, $east, 'commands', 'copy_data = false');
is(create_once($east, 1), '1|t', 'a command is recorded in the east');
$east->wait_for_catchup('commands');
is(create_once($west, 2), '1|f', 'repeated in the west, it is known there');
ask($east, "SELECT idgen.forget_creation($command)");
$east->wait_for_catchup('commands');
is(create_once($west, 3), '3|t', 'forget_creation() is replicated');

# The command reaches the west before the row from the east does. Both servers record the command, so the row cannot be
# applied until the west deletes its own record.
my $log_before = -s $west->logfile;
is(create_once($east, 4), '4|t', 'sent to both servers before it is replicated, both record it');
$west->wait_for_log(qr/(violates unique constraint|already exists in unique index) "creation_identifiers_pkey"/,
	$log_before);
is(ask($west, "SELECT idgen.forget_creation($command)"), 't', 'replication stops until one of them is deleted');
$east->wait_for_catchup('commands');
is(create_once($west, 5), '4|f', 'replication continues with the other one');

# --- All tables -------------------------------------------------------------
# A publication FOR ALL TABLES includes the table of prefixes, whose rows refer to domains that must exist on the
# subscriber.
for my $node ($east, $west)
{
	ask($node, 'CREATE DATABASE whole');
	ask($node, q{CREATE EXTENSION idgen; SELECT idgen.create_id_domain('user_id', 'user')}, 'whole');
}
ask($east, q{SELECT idgen.create_once_bigint(idgen.uuid_v4(), 1, 'order');
	CREATE PUBLICATION whole FOR ALL TABLES}, 'whole');
my ($domain) = $page->section('Logical replication') =~ /`(CREATE DOMAIN.*?\))`/s;
ask($west, 'DELETE FROM idgen.id_prefixes; ' . $domain =~ s/account_id/team_id/r =~ s/acct/team/r, 'whole');
subscribe($west, $east, 'whole', 'copy_data = true', 'whole');
ask($east, q{SELECT idgen.create_id_domain('team_id', 'team')}, 'whole');
$east->wait_for_catchup('whole');
is(ask($west, 'SELECT domain FROM idgen.id_prefixes ORDER BY 1; SELECT count(*) FROM idgen.creation_identifiers',
	'whole'),
	"user_id\nteam_id\n1", 'if all tables are replicated, prefixes and commands are known');

# --- Takeover ---------------------------------------------------------------
# The west replaces the east, as in an upgrade. It receives the values of the east's sequences, and may then use the
# east's node id.
ask($west, "DROP SUBSCRIPTION $_") for 'rows', 'commands';
my $tickers = 'SELECT idgen.snowflake(), idgen.js_id(), idgen.decimal_id(), idgen.trace_id(), idgen.uuid_v7_ordered()';
my @last = split /\|/, ask($east, $tickers);
my $take_over = ask($east, $page->blocks('Replacing the publisher'));
is(scalar(() = $take_over =~ /setval/g), 5, 'the east prints a call for each sequence');
ask($west, $take_over);
my @next = split /\|/, ask($west, "SET idgen.node_id = 1; SET idgen.launch_id = 101; $tickers");
cmp_ok($next[$_], '>', $last[$_], "the west continues above $last[$_]") for 0 .. 2;
cmp_ok(($next[3] - $last[3]) % (1 << 62), '<', 1 << 61, 'trace_id() continues above the east');
cmp_ok($next[4], 'gt', $last[4], 'uuid_v7_ordered() continues above the east');

done_testing();
