# Two servers that share tables, as docs/scaling.md describes them: as foreign partitions
# of postgres_fdw, in which each server inserts, and as independent servers among which the
# client chooses by a hash of the key. No identifier repeats over both.

use Digest::SHA qw(sha256_hex);
use Page;
use Server qw(append_to_file outcome run_command start_server);
use Test::More;

my @places = ('east', 'west');		# the shards 0 and 1
my $page = Page->new('scaling');
my %node_of;

my $conf = "idgen.launch_id = 101\nmax_connections = 40\ntimezone = 'UTC'\nidgen.node_id = ";
$node_of{ $places[$_] } = start_server($places[$_], $conf . (1 + $_)) for 0, 1;
my ($east, $west) = @node_of{@places};

plan skip_all => 'postgres_fdw is not installed'
  if $east->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0';

sub ask { my ($node, $query) = @_; return $node->safe_psql('postgres', $query) }

sub sqlstate { my ($node, $query) = @_; return outcome($query, node => $node) }

# --- Foreign partitions -----------------------------------------------------
my ($create, $ranges) = $page->blocks('Shards by postgres_fdw');

# The block of the page for the east, or with local and foreign partitions exchanged.
sub for_place
{
	my ($place, $block) = @_;
	my $other = $node_of{ $place eq 'east' ? 'west' : 'east' };
	if ($place eq 'west')
	{
		$block =~ s/CREATE FOREIGN TABLE (\w+) (PARTITION OF \w+)(.*?) SERVER west;/CREATE TABLE $1 $2 (PRIMARY KEY (id))$3;/gs;
		$block =~ s/CREATE TABLE (\w+_east) (PARTITION OF \w+) \(PRIMARY KEY \(id\)\)(.*?);/CREATE FOREIGN TABLE $1 $2$3 SERVER east;/gs;
		$block =~ s/SERVER west/SERVER east/g;
	}
	return $block =~ s/host '[^']+', dbname 'app'/sprintf q{host '%s', port '%s', dbname 'postgres'}, $other->host, $other->port/er;
}
my $payments = substr($create, index($create, 'CREATE TABLE')) =~ s/orders/payments/gr
  =~ s/bigint DEFAULT idgen.snowflake/uuid DEFAULT idgen.short_comb/r;
ask($node_of{$_}, for_place($_, $create . $payments)) for @places;

# Both servers insert at the same time; half of the rows are for the other one.
my $script = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';
append_to_file($script, qq{INSERT INTO $_ (note) SELECT :place FROM generate_series(1, 10);\n}) for 'orders', 'payments';
my @running = map {
	IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=4', '--transactions=25', "--define=place='$_'", "--file=$script",
			$node_of{$_}->connstr('postgres') ], '>', '/dev/null', '2>', \my $errors)
} @places;
$_->finish or die 'pgbench failed' for @running;

for my $table ('orders', 'payments')
{
	is(ask($_, "SELECT count(*), count(DISTINCT id) FROM $table"), '2000|2000', "$table: all rows exist, no key repeats") for $east, $west;
	# within eight standard deviations, which chance exceeds once in 10^15
	cmp_ok(abs(ask($east, "SELECT count(*) FROM ${table}_east") - 1000), '<', 179, "$table: the hash distributes the keys evenly");
}
is( ask($east, 'SELECT note, idgen.snowflake_node(id), count(*) FROM orders GROUP BY 1, 2 ORDER BY 1'),
	"east|1|1000\nwest|2|1000", 'the default is evaluated on the server that runs the statement');
is(ask($west, "SELECT count(*) > 0 FROM orders_west WHERE note = 'east'"), 't', 'also for rows that it sends to the other one');

# Defaults of foreign tables that are not partitions
ask($west, 'CREATE TABLE logs (id bigint PRIMARY KEY DEFAULT idgen.snowflake(), note text)');
ask($east, q{CREATE FOREIGN TABLE logs (id bigint, note text) SERVER west;
	CREATE FOREIGN TABLE notes (note text) SERVER west OPTIONS (table_name 'logs')});
is(sqlstate($east, q{INSERT INTO logs (note) VALUES ('null')}), '23502', 'a foreign table without DEFAULT sends NULL');
ask($east, q{INSERT INTO notes VALUES ('remote')});
is(ask($west, 'SELECT idgen.snowflake_node(id) FROM logs'), '2', 'the remote default is evaluated for a column that is not sent');

# Limits
my ($id, $other_id) = map { ask($east, "SELECT min(id) FROM orders_$_") } @places;
is(ask($east, "INSERT INTO orders (id) VALUES ($id), ($other_id) ON CONFLICT DO NOTHING RETURNING id"), '', 'ON CONFLICT DO NOTHING works');
for (
	[ 'a local partition rejects a key of another shard', $west, "INSERT INTO orders_west (id) VALUES ($id)", '23514' ],
	[ 'also if another server sends it', $east, "INSERT INTO orders_west (id) VALUES ($id)", '23514' ],
	[ 'a repeated key is an error on each shard', $east, "INSERT INTO orders (id) VALUES ($other_id)", '23505' ],
	[ 'ON CONFLICT (id) does not work', $east, "INSERT INTO orders (id) VALUES ($id) ON CONFLICT (id) DO NOTHING", '42P10' ],
	[ 'there is no primary key over the shards', $east, 'ALTER TABLE orders ADD PRIMARY KEY (id)', '42809' ],
	[ 'no UPDATE moves a row from a foreign partition', $east, "UPDATE orders_west SET id = $id WHERE id = $other_id", '23514' ],
	[ 'nor to one that it also reads', $east, "UPDATE orders SET id = $other_id WHERE id + 0 = $id", '0A000' ])
{
	is(sqlstate(@$_[ 1, 2 ]), $_->[3], $_->[0]);
}

my $local_key = q{SELECT id FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, 64)) s
	WHERE satisfies_hash_partition('orders'::regclass, 2, 0, id) LIMIT 1};
is( ask($east, "WITH command AS (SELECT * FROM idgen.create_once_bigint(idgen.uuid_v7(), ($local_key)))
	INSERT INTO orders SELECT entity_number FROM command WHERE created RETURNING tableoid::regclass"), 'orders_east',
	'a command creates its entity in the local partition');

# --- Ranges of time ---------------------------------------------------------
ask($node_of{$_}, for_place($_, $ranges)) for @places;
ask($east, q{INSERT INTO measurements (id) SELECT idgen.uuid_v7(t)
	FROM generate_series('2026-10-01'::timestamptz, '2026-11-02', '1 hour') t; ANALYZE measurements_east});
ask($west, 'ANALYZE measurements_west');

sub remote_sql { return $_[0] =~ /Remote SQL: (.*)/ ? $1 : '' }

my $bound = q{'[0-9a-f-]{36}'(?:::uuid)?};
sub plan_within { return ask($east, "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM measurements WHERE idgen.uuid_v7_within(id, $_[0])") }
my $computed_bounds = q{(SELECT now() - interval '1 day'), (SELECT now())};
my ($constant, $computed) = map { plan_within($_) } q{'2026-10-01 00:00:00+00', '2026-10-02 00:00:00+00'}, $computed_bounds;
unlike($constant, qr/measurements_east/, 'a range of time reads only its shard');
like(remote_sql($constant), qr/WHERE \(\(id >= $bound\)\) AND \(\(id < $bound\)\) AND \(idgen\.internal_is_version\(id, 7\)\)$/,
	'which is asked for constant bounds and the version');
like(ask($west, 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) ' . remote_sql($constant)),
	qr/Index Cond: \(\(id >= .*\) AND \(id < .*\)\)/, 'and uses its index');
like(remote_sql($computed), qr/WHERE .*\(\(id >= idgen\.uuid_v7_floor\(\$1/, 'bounds that are computed are sent, too');
is( ask($east, q{SELECT count(*) FROM measurements
		WHERE idgen.uuid_v7_within(id, (SELECT '2026-10-31'::timestamptz), (SELECT '2026-11-02'::timestamptz))}),
	'48', 'a range over both shards has the rows of both');
unlike(remote_sql(plan_within($_)), qr/^$|id [<>]/, "bounds that are not a SELECT as a whole are not: $_")
  for q{'2026-10-01'::timestamptz + (now() - now()), now()}, q{(SELECT now()) - interval '60 days', (SELECT now()) + interval '60 days'};
ask($east, 'ALTER SERVER west OPTIONS (DROP extensions)');
unlike(remote_sql(plan_within($computed_bounds)), qr/^$|WHERE/, 'nor are computed ones without the option "extensions"');

# --- Independent servers ----------------------------------------------------
my ($tables) = $page->blocks('Shards chosen by the client');
ask($east, $tables);
ask($west, $tables =~ s/, 2\) = 0/, 2) = 1/gr);

sub shard_of { return hex(substr(sha256_hex(shift), 0, 8)) % 2 }

# No two snowflakes of a millisecond, as long as no other session takes any
my $calm_ids = 'SELECT idgen.snowflake() FROM generate_series(1, 501) i, pg_sleep(0.002 + 0 * i) OFFSET 1';
my %keys = (
	visits => [ map { split /\n/, ask($_, $calm_ids) } $east, $west ],
	accounts => [ map { split /\n/, ask($_, q{
		SELECT CASE WHEN i % 2 = 0 THEN idgen.short_comb() ELSE idgen.uuid_v7() END FROM generate_series(1, 500) i}) } $east, $west ]);
for my $table (sort keys %keys)
{
	my %distinct = map { $_ => 1 } @{ $keys{$table} };
	my @of_shard = ([], []);
	push @{ $of_shard[ shard_of($_) ] }, "('$_')" for keys %distinct;
	ask($node_of{ $places[$_] }, "INSERT INTO $table (id) VALUES " . join(', ', @{ $of_shard[$_] })) for 0, 1;
	is(scalar keys %distinct, 1000, "$table: no key repeats over the servers");
	cmp_ok(abs(@{ $of_shard[0] } - 500), '<', 126, "$table: the hash distributes them evenly");
	is(sqlstate($east, "INSERT INTO $table (id) VALUES $of_shard[1][0]"), '23514', "$table: a key on the wrong server is an error");
}
is(scalar(grep { $_ % 2 } @{ $keys{visits} }), 0, 'the same keys modulo 2 are all on one server');
is( ask($east, q{SELECT count(DISTINCT id % 2) FROM (SELECT idgen.decimal_id() AS id FROM generate_series(1, 100)) s}),
	'1', 'so are decimal_ids');

# The node number as the shard: each server's default makes keys that stay there.
is_deeply([ map { ask($_, q{CREATE TABLE visits_by_node (id bigint PRIMARY KEY DEFAULT idgen.snowflake());
		INSERT INTO visits_by_node SELECT FROM generate_series(1, 100); SELECT DISTINCT (id >> 12) & 1023 FROM visits_by_node}) } $east, $west ],
	[ 1, 2 ], 'the node number of a key is its server');

# Clients send the same commands, each with entities of its own, which have the shard of the command.
my ($new_key) = $tables =~ /^(SELECT id FROM .*);/m;
my @commands = split /\n/, ask($west, 'SELECT idgen.uuid_v7() FROM generate_series(1, 100)');

sub create
{
	my ($shard, $command) = @_;
	return "WITH command AS (SELECT * FROM idgen.create_once('$command', (" . $new_key =~ s/= 0/= $shard/r . qq{))),
		created AS (INSERT INTO accounts (id, note) SELECT entity_id, '$command' FROM command WHERE created)
		SELECT '$command', entity_id FROM command;\n};
}

my %entities;
for my $shard (0, 1, 0, 1)
{
	my $statements = join '', map { create($shard, $_) } grep { shard_of($_) == $shard } @commands;
	$entities{ $_->[0] }{ $_->[1] }++ for map { [ split /\|/ ] } split /\n/, ask($node_of{ $places[$shard] }, $statements);
}
is_deeply([ map { values %{ $entities{$_} } } @commands ], [ (2) x @commands ], 'all clients get the same entity for a command');

sub count_entities { return ask($east, 'SELECT count(note) FROM accounts') + ask($west, 'SELECT count(note) FROM accounts') }

is(count_entities(), @commands, 'each command created one entity');
my $wrong_shard = 1 - shard_of($commands[0]);
ask($node_of{ $places[$wrong_shard] }, create($wrong_shard, $commands[0]));
is(count_entities(), 1 + @commands, 'a command that is sent to the wrong server creates a second one');

# --- Node numbers -----------------------------------------------------------
# (Two nodes at the same time: t/010_ticker_sessions.pl.)
my ($loop) = $page->blocks('Node numbers', 'sh');
$loop =~ s/for host in .*;/sprintf 'for port in %s %s;', $east->port, $west->port/e;
$loop =~ s/-h "\$host" -d app/sprintf q{-h '%s' -p $port -d postgres}, $east->host/e;

sub repeated_numbers { return (run_command([ 'sh', '-c', $loop ]))[0] }

is(repeated_numbers(), '', 'the loop of the page finds no number that two servers have');
$west->append_conf('postgresql.conf', 'idgen.node_id = 1');
$west->reload;
$west->poll_query_until('postgres', q{SELECT current_setting('idgen.node_id') = '1'}) or die 'not reloaded';
is(repeated_numbers(), '1', 'and finds one that they have');

done_testing();
