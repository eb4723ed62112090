# The pgbench scripts of bench/: each runs by hand after setup.sql, and compare.sh
# prints one table, on a given server and on a private cluster.

use File::Basename qw(basename);
use Functions;
use Server;

my $bench = "bench";
my @keys = sort map { basename($_, '.pgbench') } glob "$bench/*.pgbench";
my %of_laboratory = map { $_ => 1 } slurp_file("$bench/lab/keys.txt") =~ /^(\w+) +\|/mg;

# no other checkpoints, and nothing else that writes WAL
my $node = Functions::add_key(
	init_server('server',
		"idgen.node_id = 1\nautovacuum = off\ncheckpoint_timeout = 1h\nwal_consistency_checking = ''"));
$node->start;
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');

# By hand
my $setup = [ 'psql', '-X', '-q', '-v', 'rows=1000', '-f', "$bench/setup.sql" ];
command_ok($setup, 'setup.sql creates the tables');
command_ok($setup, 'setup.sql replaces the tables');
is_deeply(
	[ split /\n/, ask(q{SELECT tablename FROM pg_tables
		WHERE schemaname = 'idgen_bench' ORDER BY tablename COLLATE "C"}) ],
	\@keys, 'there is a table for each script');
for my $key (@keys)
{
	# the key that "masked" stores is that of "uuid_v7"
	ok($of_laboratory{$key}, "$key: the laboratory has the key") if $key ne 'masked';
	like(slurp_file("$bench/$key.pgbench"), qr/^-- $key: /, "$key: the script begins with a description");
	command_ok([ 'pgbench', '-n', '-t', 3, '-f', "$bench/$key.pgbench" ], "$key: the script runs with pgbench");
	is(ask("SELECT count(*) FROM idgen_bench.$key"), 1003, "$key: it inserts a row in each transaction");
}

# The rows of the history are in the order of their time
is(ask(q{SELECT count(*) FROM (
		SELECT id < lag(id) OVER (ORDER BY payload) AS descends FROM idgen_bench.uuid_v7 WHERE payload > 0) pairs
		WHERE descends}),
	0, 'the history is in the order of time');
ask('SET client_min_messages = warning; DROP SCHEMA idgen_bench CASCADE; DROP EXTENSION idgen');

my @compare = ("$bench/compare.sh", qw(--rows 20000 --rows-per-checkpoint 200 --clients 2 --rounds 1));
my ($stdout, $stderr);
sub compare { ($stdout, $stderr) = run_command([ @compare, @_ ]); return $? == 0 }

# The cells of each key's row, by the heading of the column
sub rows_of
{
	my ($head, $rule, @rows) =
	  map { [ map { s/^ +| +$//gr } (split /\|/)[ 1 .. 9 ] ] } grep { /^\|/ } split /\n/, $_[0];
	return map { my %row; @row{@$head} = @$_; ($row{key} => \%row) } @rows;
}

sub check_table
{
	my ($where, @expected) = @_;
	my %rows = rows_of($stdout);
	is_deeply([ $stdout =~ /^\| (\w+) +\| \d+ +\| \d+\.\d{3} +\| \d+ +\| \d+\.\d +\|(?: (?:\d+\.\d\d|-|~) +\|){4}$/mg ],
		\@expected, "$where: one row of figures for each key, in order");
	is($rows{bigint}{'WAL : bigint'}, '1.00', "$where: bigint is compared with itself");
	is($rows{random}{'rows : random'}, '1.00', "$where: random is compared with itself");
	cmp_ok($rows{random}{'WAL bytes/row'}, '>', 2 * $rows{bigint}{'WAL bytes/row'},
		"$where: random keys write more WAL");
	cmp_ok($rows{random}{'images/row'}, '>', 5 * $rows{bigint}{'images/row'}, "$where: because of full-page images");
}

# On a given server
ok(compare('--server'), 'compare.sh runs on a given server') or diag $stderr;
check_table('a given server',
	qw(bigint random keyed_comb short_comb short_comb_run comb uuid_v7 masked snowflake ulid));
is(ask(q{
		SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'
		UNION ALL SELECT nspname FROM pg_namespace WHERE nspname ~ '^idgen'}), '', 'nothing is left on the server');

# The same case in the laboratory. With one session, the same rows, history and checkpoint, both count the same
# WAL, whatever the speed; with checksums, nearly, since it also has images of pages whose hint bits changed.
SKIP:
{
	my @keys = qw(bigint random keyed_comb short_comb short_comb_run comb uuid_v7 snowflake ulid);
	skip 'no pgstattuple on this server', 3
	  if ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'}) == 0;
	my $out = PostgreSQL::Test::Utils::tempdir() . '/laboratory';

	ok(compare(qw(--server --rows-per-checkpoint 5000 --clients 1)), 'compare.sh measures a case') or diag $stderr;
	command_ok([ "$bench/lab/run.sh",
		qw(--server --quiet --no-report --scene steady --repetitions 1 --steady.rows 20000 --steady.inserts 5000),
		'--keys', join(',', @keys), '--out', $out ], 'the laboratory measures the same case');
	my %rows = rows_of($stdout);
	my %laboratory = slurp_file("$out/measurements.csv") =~ /^steady,(\w+),,,1,wal_bytes_per_row,(.*)$/mg;
	my %ratio = map { $_ => sprintf '%.3f', $laboratory{$_} / $rows{$_}{'WAL bytes/row'} } @keys;
	note join ', ', map { "$_ $ratio{$_}" } @keys;
	is_deeply([ grep { abs($ratio{$_} - 1) > 0.1 } @keys ], [],
		'they agree within 10 % on the WAL of a row of each key');
}

# Without the setting that a key requires
$node->append_conf('postgresql.conf', 'idgen.node_id = -1');
$node->reload;
ok(compare('--server', '--keys', 'uuid_v7,random'), 'with two keys') or diag $stderr;
like($stdout, qr/^\| uuid_v7 .* - +\| +0\.\d\d +\|.*\n\| random /m,
	'a ratio to a key that was not measured is left out');
ok(compare('--server', '--keys', 'bigint,random', '--rounds', 3, '--rate', 1000, '--days', 2),
	'with three rounds, a rate and days') or diag $stderr;
like($stdout, qr/^20,000 rows of 2 days in each table, then 3 rounds of 200 rows after a checkpoint, .* 1000 rows\/s,/m,
	'the conditions are printed');
like($stdout, qr/^\| random +\| \d+ \(\d+-\d+\) +\| \d+\.\d{3} +\| \d+ \(\d+-\d+\) +\|/m, 'each figure has its range');
command_fails_like([ @compare, qw(--server --keys snowflake) ], qr/idgen\.node_id.*snowflake could not be measured/s,
	'a key that the server cannot generate is an error that names the reason');
ok(compare('--server'), 'without --keys, such a key is left out') or diag $stderr;
unlike($stdout, qr/^\| snowflake/m, 'it has no row');
command_fails_like([ @compare, '--keys', 'bigint,unknown' ], qr/there is no script unknown\.pgbench/,
	'a key without a script is an error');
$node->stop;

# On a private cluster
delete @ENV{qw(PGHOST PGPORT PGDATABASE)};
SKIP:
{
	skip 'PG_CONFIG is not set', 6 unless $ENV{PG_CONFIG};
	ok(compare('--keys', 'bigint,random,masked'), 'compare.sh runs on a private cluster') or diag $stderr;
	check_table('a private cluster', qw(bigint random masked));
}

done_testing();
