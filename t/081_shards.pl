# Verify two servers that share tables, as described in docs/scaling.md. In the first setup, the tables have foreign
# partitions (postgres_fdw), and each server inserts rows. In the second setup, the servers are independent, and the
# client chooses a server by a hash of the key. No identifier occurs on both servers.

use Digest::SHA qw(sha256_hex);
use Page;
use Server qw(append_to_file outcome run_command slurp_file start_server);
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
my ($create, $ranges) = $page->blocks('Shards with postgres_fdw');

# Return the page's block for the east, or, for the west, the same block with local and foreign partitions exchanged.
sub for_place
{
	my ($place, $block) = @_;
	my $other = $node_of{ $place eq 'east' ? 'west' : 'east' };
	if ($place eq 'west')
	{
		$block =~ s/CREATE FOREIGN (TABLE \w+ PARTITION OF \w+)(.*?) SERVER west;/CREATE $1 (PRIMARY KEY (id))$2;/gs;
		$block =~ s/CREATE (TABLE \w+_east PARTITION OF \w+) \(PRIMARY KEY .*?\)\)(.*?);/
		  CREATE FOREIGN $1$2 SERVER east;/gs;
		$block =~ s/SERVER west/SERVER east/g;
	}
	my $options = sprintf q{host '%s', port '%s', dbname 'postgres'}, $other->host, $other->port;
	return $block =~ s/host '[^']+', dbname 'app'/$options/r;
}

# The page's role "app" connects to the other server by its password.
my ($password) = $create =~ /password '([^']+)'/;
for (@places)
{
	my $node = $node_of{$_};
	ask($node, "CREATE ROLE app LOGIN PASSWORD '$password'");
	my $hba = $node->data_dir . '/pg_hba.conf';
	my $others = slurp_file($hba);
	unlink $hba;
	append_to_file($hba, "local all app scram-sha-256\n$others");
	$node->reload;
}
for (@places)
{
	ask($node_of{$_}, for_place($_, $create));
	ask($node_of{$_}, 'GRANT ALL ON ALL TABLES IN SCHEMA public TO app; CREATE USER MAPPING FOR CURRENT_USER SERVER '
		. ($_ eq 'east' ? 'west' : 'east'));
}
is(sqlstate($east, q{SET ROLE app; INSERT INTO orders (note) SELECT 'of app' FROM generate_series(1, 100)}), '',
	'a role without superuser inserts into both partitions');
is(ask($east, 'SELECT count(*) > 0 FROM orders_west'), 't', 'the other one, too');
ask($east, 'SET ROLE app; DELETE FROM orders');
ask($_, 'INSERT INTO orders (note) SELECT $$' . $_->name . '$$ FROM generate_series(1, 100)') for $east, $west;
is(ask($_, 'SELECT note, idgen.snowflake_node(id), count(*) FROM orders GROUP BY 1, 2 ORDER BY 1'),
	"east|1|100\nwest|2|100", 'the default is evaluated on the server that runs the statement') for $east, $west;
is(ask($west, q{SELECT count(*) > 0 FROM orders_west WHERE note = 'east'}), 't',
	'also for rows that it sends to the other one');

my ($id, $other_id) = map { ask($east, "SELECT min(id) FROM orders_$_") } @places;
is(ask($east, "INSERT INTO orders (id) VALUES ($id), ($other_id) ON CONFLICT DO NOTHING RETURNING id"), '',
	'ON CONFLICT DO NOTHING works');
for (
	[ 'a local partition rejects a key of another shard', $west, "INSERT INTO orders_west (id) VALUES ($id)", '23514' ],
	[ 'also if another server sends it', $east, "INSERT INTO orders_west (id) VALUES ($id)", '23514' ],
	[ 'a repeated key is an error on each shard', $east, "INSERT INTO orders (id) VALUES ($other_id)", '23505' ],
	[ 'ON CONFLICT (id) does not work', $east, "INSERT INTO orders (id) VALUES ($id) ON CONFLICT (id) DO NOTHING",
		'42P10' ])
{
	is(sqlstate(@$_[ 1, 2 ]), $_->[3], $_->[0]);
}

my $local_key = q{SELECT id FROM (SELECT idgen.snowflake() AS id FROM generate_series(1, 64)) s
	WHERE satisfies_hash_partition('orders'::regclass, 2, 0, id) LIMIT 1};
is( ask($east, "WITH command AS (SELECT * FROM idgen.create_once_bigint(idgen.uuid_v7(), ($local_key), 'order'))
	INSERT INTO orders SELECT entity_number FROM command WHERE created RETURNING tableoid::regclass"), 'orders_east',
	'a command creates its entity in the local partition');

# --- Ranges of time ---------------------------------------------------------
ask($node_of{$_}, for_place($_, $ranges)) for @places;
ask($east, q{INSERT INTO measurements (id) SELECT idgen.uuid_v7(t)
	FROM generate_series('2026-10-01'::timestamptz, '2026-11-02', '1 hour') t; ANALYZE measurements_east});
ask($west, 'ANALYZE measurements_west');

sub remote_sql { return $_[0] =~ /Remote SQL: (.*)/ ? $1 : '' }

my $bound = q{'[0-9a-f-]{36}'(?:::uuid)?};
sub plan_within { return ask($east, "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM measurements
	WHERE idgen.uuid_v7_within(id, $_[0])") }
my $computed_bounds = q{(SELECT now() - interval '1 day'), (SELECT now())};
my ($constant, $computed) = map { plan_within($_) } q{'2026-10-01 00:00:00+00', '2026-10-02 00:00:00+00'},
	$computed_bounds;
unlike($constant, qr/measurements_east/, 'a range of time reads only its shard');
like(remote_sql($constant),
	qr/WHERE \(\(id >= $bound\)\) AND \(\(id < $bound\)\) AND \(idgen\.internal_is_version\(id, 7\)\)$/,
	'which is asked for constant bounds and the version');
like(ask($west, 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) ' . remote_sql($constant)),
	qr/Index Cond: \(\(id >= .*\) AND \(id < .*\)\)/, 'and uses its index');
like(remote_sql($computed), qr/WHERE .*\(\(id >= idgen\.uuid_v7_floor\(\$1/, 'bounds that are computed are sent, too');
is( ask($east, q{SELECT count(*) FROM measurements
		WHERE idgen.uuid_v7_within(id, (SELECT '2026-10-31'::timestamptz), (SELECT '2026-11-02'::timestamptz))}),
	'48', 'a range over both shards has the rows of both');
unlike(remote_sql(plan_within($_)), qr/^$|id [<>]/, "bounds that are not a SELECT as a whole are not: $_")
  for q{'2026-10-01'::timestamptz + (now() - now()), now()},
	q{(SELECT now()) - interval '60 days', (SELECT now()) + interval '60 days'};

# --- Independent servers ----------------------------------------------------
my ($tables) = $page->blocks('Shards chosen by the client');
ask($east, $tables);
ask($west, $tables =~ s/, 2\) = 0/, 2) = 1/gr);

sub shard_of { return hex(substr(sha256_hex(shift), 0, 8)) % 2 }

for my $key ('visits snowflake', 'accounts uuid_v7')
{
	my ($table, $function) = split / /, $key;
	my @ids = split /\n/, ask($east, "SELECT idgen.$function() FROM generate_series(1, 100)");
	my ($here, $there) = map { my $shard = $_; [ map { "('$_')" } grep { shard_of($_) == $shard } @ids ] } 0, 1;
	ask($east, "INSERT INTO $table (id) VALUES " . join(', ', @$here));
	ask($west, "INSERT INTO $table (id) VALUES " . join(', ', @$there));
	is(sqlstate($east, "INSERT INTO $table (id) VALUES $there->[0]"), '23514',
		"$table: a key on the wrong server is an error");
}

# Several clients send the same commands, each with its own entities. The entities are on the same shard as the command.
my ($new_key) = $tables =~ /^(SELECT id FROM .*?);/ms;
my @commands = split /\n/, ask($west, 'SELECT idgen.uuid_v7() FROM generate_series(1, 20)');
my %entities;
for my $command (@commands, @commands)
{
	my $shard = shard_of($command);
	my $entity = ask($node_of{ $places[$shard] }, "SELECT entity_id FROM idgen.create_once('$command', ("
		  . $new_key =~ s/= 0/= $shard/r . q{), 'order')});
	is(shard_of($entity), $shard, 'the entity has the shard of its command') if !$entities{$command};
	$entities{$command}{$entity}++;
}
is_deeply([ map { values %{ $entities{$_} } } @commands ], [ (2) x @commands ],
	'all clients get the same entity for a command');

# --- Node numbers -----------------------------------------------------------
# (t/010_ticker_sessions.pl tests two nodes at the same time.)
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
