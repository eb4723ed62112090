# idgen on Citus, if it is installed (dev/test-citus.sh): all nodes accept clients
# and evaluate defaults, so each needs a number. The statements are those of the pages.

use strict;
use warnings;
use Citus;
use Client;
use Page;
use Test::More;

my ($set_number_of_this_node) = Page->new('recipes')->blocks('Node numbers in containers');
my $shards = 8;

start_cluster();

# --- Node numbers -------------------------------------------------------------
is(ask($nodes[0], $find_faults), 'not set|' . addresses(@nodes), 'the query finds nodes without a number');
set_numbers($nodes[0], $set_numbers);
is(everywhere('SELECT idgen.snowflake_node(idgen.snowflake())'), '1 2 3', 'each node gets a number by its group');
is(ask($nodes[0], $find_faults), '', 'the query finds no fault');
ask($nodes[0], 'ALTER DATABASE postgres SET idgen.node_id = 7');
is(ask($nodes[0], $find_faults), '7|' . addresses(@nodes), 'ALTER DATABASE gives its number to all nodes, which the query finds');
ask($nodes[0], 'ALTER DATABASE postgres RESET idgen.node_id');

# --- Default keys -------------------------------------------------------------
# "id" is unique by constraint, "made_by" is not, and names the node that evaluated the defaults.
my %columns = (
	short_comb => [ 'uuid', 'idgen.short_comb()' ],
	uuid_v7 => [ 'uuid', 'idgen.uuid_v7()' ],
	snowflake => [ 'bigint', 'idgen.snowflake()' ],
	prefixed_id => [ 'account_id', q{idgen.prefixed_id('acct')} ],
	typeid => [ 'text COLLATE "C"', q{idgen.typeid('user')} ]);
my @keys = sort keys %columns;

ask($nodes[0], q{SELECT idgen.create_id_domain('account_id', 'acct')});
for my $key (@keys)
{
	my ($type, $default) = @{ $columns{$key} };
	ask($nodes[0], qq{
		CREATE TABLE $key (id $type PRIMARY KEY DEFAULT $default, made_by bigint DEFAULT idgen.snowflake(), sender int);
		CREATE TABLE line_of_$key (id $type, n int, made_by bigint DEFAULT idgen.snowflake());
		SELECT create_distributed_table('$key', 'id'), create_distributed_table('line_of_$key', 'id', colocate_with => '$key')});
}

# 100,000 rows by 8 sessions at the same time
my @sessions = map { Client->connect($nodes[ $_ % 3 ]) } 0 .. 7;
my $errors = join('', map { $_->wait } @sessions);
for my $key ((@keys) x 5)
{
	$sessions[$_]->send("INSERT INTO $key (sender) SELECT 1 + $_ % 3 FROM generate_series(1, 500)") for 0 .. 7;
	$errors .= join('', map { $_->wait } @sessions);
}
$_->quit for @sessions;
is($errors, '', '8 sessions insert rows through all nodes');

my $rows = '(' . join(' UNION ALL ', map { "SELECT made_by, sender FROM $_" } @keys) . ') r';
is(ask($nodes[0], "SELECT count(*), count(*) - count(DISTINCT made_by) FROM $rows"), '100000|0', 'no identifier repeats');
is( ask($nodes[0], "SELECT sender, idgen.snowflake_node(made_by), count(*) FROM $rows GROUP BY 1, 2 ORDER BY 1, 2"),
	"1|1|37500\n2|2|37500\n3|3|25000", 'the node that receives the rows evaluates their defaults');

for my $key (@keys)
{
	my $type = $columns{$key}[0];
	for my $number (1 .. 3)
	{
		my $id = ":'id'::$type";
		is( ask($nodes[ $number - 1 ], qq{
				INSERT INTO $key DEFAULT VALUES RETURNING id \\gset
				INSERT INTO $key (id) VALUES ($id) ON CONFLICT (id) DO NOTHING;
				INSERT INTO $key (id) VALUES ($id) ON CONFLICT (id) DO UPDATE SET sender = 10 RETURNING sender;
				SELECT count(*) FROM $key WHERE id = $id;
				COPY $key (sender) FROM stdin;\n} . "20$number\n" x 100 . qq{\\.
				SELECT count(*), min(idgen.snowflake_node(made_by)), max(idgen.snowflake_node(made_by)) FROM $key WHERE sender = 20$number}),
			"10\n1\n100|$number|$number", "$key through node $number: RETURNING, ON CONFLICT and COPY");
	}

	ask($nodes[0], "INSERT INTO line_of_$key (id, n) SELECT id, n FROM $key, generate_series(1, 2) n");
	my $join = "FROM $key k JOIN line_of_$key l USING (id)";
	is( ask($nodes[1], "SELECT count(*), count(DISTINCT l.made_by), min(idgen.snowflake_node(l.made_by)), max(idgen.snowflake_node(l.made_by)) $join"),
		'40606|40606|2|3', "$key: INSERT ... SELECT from a distributed table evaluates defaults where its rows are");
	like(ask($nodes[1], "EXPLAIN SELECT count(*) $join"), qr/Task Count: $shards\n/, "$key: co-located tables are joined within their shards");
}

for my $key ('uuid_v7', 'snowflake')
{
	my $plan = ask($nodes[0], qq{SET citus.explain_all_tasks = on;
		EXPLAIN SELECT FROM $key WHERE idgen.${key}_within(id, now() - interval '3 days', now() - interval '2 days')});

	is(scalar(() = $plan =~ /Index Cond: \(\(id >= .*\) AND \(id < .*\)\)/g), $shards, "${key}_within() is an index condition in each shard");
}

# --- Prefixes and domains -----------------------------------------------------
my $parse = q{SELECT coalesce(domain::text, 'none') FROM idgen.parse_prefixed_id('acct_0')};
is(everywhere($parse), 'account_id none none', 'create_id_domain() registers the prefix on the coordinator only');
ask($nodes[0], q{SELECT run_command_on_workers($$INSERT INTO idgen.id_prefixes VALUES ('acct', 'account_id')$$)});
is(everywhere($parse), 'account_id account_id account_id', 'a statement registers it on the workers');

my $account = ask($nodes[0], 'SELECT min(id) FROM prefixed_id');
is(ask($nodes[0], "SELECT count(*) FROM prefixed_id WHERE id = '$account'"), 0,
	'Citus does not find a constant in a distribution column of a domain');
like(error_of($nodes[0], "INSERT INTO prefixed_id VALUES ('$account', 1, 1)"), qr/Cannot coerce text to account_id/, 'and does not insert it');
ask($nodes[0], q{
	CREATE TABLE accounts (id text COLLATE "C" PRIMARY KEY DEFAULT idgen.prefixed_id('acct') CHECK (idgen.is_prefixed_id(id, 'acct')),
		parent account_id);
	SELECT create_distributed_table('accounts', 'id')});
is( ask($nodes[1], "INSERT INTO accounts VALUES ('$account', '$account');
		SELECT count(*) FROM accounts WHERE id = '$account' AND parent = '$account'"),
	1, 'text with a check constraint as distribution column, and a domain as another column, need no cast');
like(error_of($nodes[1], "INSERT INTO accounts VALUES ('order_0')"), qr/23514.*accounts_id_check/, 'the check constraint refuses another prefix');
like(error_of($nodes[1], "INSERT INTO accounts (parent) VALUES ('order_0')"), qr/23514.*prefixed_id_check/, 'the domain does, too');
my $duplicate = error_of($nodes[0], "INSERT INTO accounts VALUES ('$account')");
ok($duplicate =~ /23505.*accounts_pkey_\d+/ && $duplicate !~ /CONSTRAINT NAME/, 'an error on another node has no constraint name');
like(error_of($nodes[0], "INSERT INTO accounts SELECT '$account'"), qr/XX000.*accounts_pkey_/, 'and in INSERT ... SELECT another SQLSTATE');

# --- Checks of clients' identifiers -------------------------------------------
my $trigger = q{CREATE TRIGGER check_id BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb')};
like(error_of($nodes[0], sprintf($trigger, 'short_comb')), qr/triggers are not supported on distributed tables/,
	'a distributed table has no triggers');
ask($nodes[0], 'CREATE TABLE checked (id uuid PRIMARY KEY);' . sprintf($trigger, 'checked'));
like(error_of($nodes[0], "SELECT create_$_"), qr/cannot distribute relation "checked" because it has triggers/, "a table with a trigger: create_$_")
  for q{distributed_table('checked', 'id')}, q{reference_table('checked')};

ask($nodes[0], 'CREATE DOMAIN recent_id AS uuid CONSTRAINT recent CHECK (idgen.is_recent_short_comb(VALUE))');
for my $case ([ 'idgen.check_recent_short_comb($1)', 'check_recent_short_comb' ], [ '$1::recent_id', 'recent' ])
{
	my ($value, $constraint) = @$case;
	my $insert = "PREPARE i(uuid) AS INSERT INTO short_comb (id) VALUES ($value) RETURNING 'inserted'; EXECUTE i";
	for my $node (@nodes)
	{
		is(ask($node, "$insert(idgen.short_comb())"), 'inserted', "$value accepts a new identifier on " . $node->name);
		like(error_of($node, "$insert(idgen.short_comb(clock => now() - interval '1 day'))"), qr/23514.*CONSTRAINT NAME:  $constraint\n/s,
			'and refuses an old one');
	}
}

# A table's constraint is evaluated again when a shard is copied.
ask($nodes[0], q{
	CREATE TABLE moved (id uuid PRIMARY KEY);
	SELECT create_distributed_table('moved', 'id', shard_count => 1, colocate_with => 'none');
	INSERT INTO moved VALUES (idgen.short_comb(clock => now() - interval '1 day'));
	ALTER TABLE moved ADD CONSTRAINT recent CHECK (idgen.is_recent_short_comb(id)) NOT VALID});
my $ports = $nodes[1]->port + $nodes[2]->port;
my $move = qq{SELECT citus_move_shard_placement(shardid, '127.0.0.1', nodeport, '127.0.0.1', $ports - nodeport, 'block_writes')
	FROM citus_shards WHERE table_name = 'moved'::regclass};
like(error_of($nodes[0], $move), qr/violates check constraint "recent"/, 'a shard with a row that no longer passes a check constraint cannot move');
ask($nodes[0], 'ALTER TABLE moved DROP CONSTRAINT recent');
# what the failed move left is removed in the background
$nodes[0]->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_dist_cleanup') or die 'the failed move is not cleaned up';
is(error_of($nodes[0], $move), 'no error', 'without the constraint it can');

# --- Columns that are added ---------------------------------------------------
ask($nodes[0], 'ALTER TABLE uuid_v7 ADD COLUMN added bigint DEFAULT idgen.snowflake()');
is( ask($nodes[0], 'SELECT count(*) - count(DISTINCT added), min(idgen.snowflake_node(added)), max(idgen.snowflake_node(added)) FROM uuid_v7'),
	'0|2|3', 'the workers evaluate the default of a new column');
like(error_of($nodes[0], 'UPDATE uuid_v7 SET added = idgen.snowflake()'), qr/0A000.*must not be VOLATILE/, 'UPDATE cannot call a generator');

my $copies = 'SELECT count(DISTINCT result) FROM run_command_on_all_nodes($$SELECT array_agg(c ORDER BY id) FROM countries c$$)';
ask($nodes[0], q{CREATE TABLE countries (id bigint PRIMARY KEY DEFAULT idgen.snowflake()); SELECT create_reference_table('countries')});
everywhere('INSERT INTO countries SELECT FROM generate_series(1, 10)');
ask($nodes[0], q{
	SELECT undistribute_table('countries');
	ALTER TABLE countries ADD COLUMN tag uuid DEFAULT idgen.short_comb();
	SELECT create_reference_table('countries')});
is(ask($nodes[0], $copies), 1, 'all nodes have the same rows of a reference table');
ask($nodes[0], 'ALTER TABLE countries ADD COLUMN another uuid DEFAULT idgen.short_comb()');
is(ask($nodes[0], $copies), 3, 'except for a new column, whose default each node evaluates');

# --- A new node, and shards that move to it -----------------------------------
my $before = ask($nodes[0], 'SELECT count(*) FROM snowflake');
my $inserted = 0;

# Execute a function while sessions on three nodes insert.
sub insert_during
{
	my ($function, $name) = @_;
	my $control = Client->connect($nodes[0]);
	my @inserting = map { Client->connect($nodes[ $_ % 3 ]) } 0 .. 5;
	my $failed = join('', map { $_->wait } $control, @inserting);
	$control->send("SELECT FROM $function");
	while ($control->is_busy)
	{
		$_->send('INSERT INTO snowflake DEFAULT VALUES') for grep { !$_->is_busy } @inserting;
		for my $done (grep { $_ != $control } Client::wait_for_any([ $control, @inserting ], 1))
		{
			$failed .= $done->wait;
			$inserted++;
		}
	}
	$inserted += grep { $_->is_busy } @inserting;
	is($failed . join('', map { $_->wait } $control, @inserting), '', $name);
	$_->quit for $control, @inserting;
}

start_node();
my $new = $nodes[3];
my $port = $new->port;
ask($new, 'CREATE EXTENSION citus');
insert_during("citus_add_node('127.0.0.1', $port)", 'sessions insert while a node is added');
insert_during(q{rebalance_table_shards(shard_transfer_mode => 'force_logical')}, 'and while shards move to it');
cmp_ok(ask($nodes[0], "SELECT count(*) FROM citus_shards WHERE nodeport = $port AND table_name = 'snowflake'::regclass"), '>', 0, 'it has shards');
is( ask($nodes[0], 'SELECT count(*), count(*) - count(DISTINCT made_by) FROM snowflake'),
	$before + $inserted . '|0', 'no row is lost, and no identifier repeats');

my $from_shards = 'INSERT INTO line_of_snowflake (id) SELECT id FROM snowflake';
like(error_of($new, 'INSERT INTO snowflake DEFAULT VALUES'), qr/55000.*idgen\.node_id is not set/, 'the new node does not generate snowflakes yet');
like(error_of($nodes[0], $from_shards), qr/idgen\.node_id is not set/, 'nor does INSERT ... SELECT from its shards');
is(ask($new, "INSERT INTO accounts DEFAULT VALUES RETURNING 'inserted'"), 'inserted', 'it generates keys that need no number');
is(ask($nodes[0], $find_faults), 'not set|' . addresses($new), 'the query finds it');
set_numbers($new, $set_number_of_this_node);
is(ask($new, 'INSERT INTO snowflake DEFAULT VALUES RETURNING idgen.snowflake_node(id)'), 4, 'it generates snowflakes when it has its number');
is(error_of($nodes[0], $from_shards), 'no error', 'so does INSERT ... SELECT');
is(ask($nodes[0], $find_faults), '', 'the query finds no fault');
set_numbers($nodes[0], $set_numbers);
is(ask($new, 'SELECT idgen.snowflake_node(idgen.snowflake())'), 4, 'both statements give it the same number');
done_testing();
