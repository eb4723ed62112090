# Verify the pgbench scripts of bench/. Each can be run manually after setup.sql, and compare.sh prints one table, both
# on a given server and on a private cluster.

use File::Basename qw(basename);
use Functions;
use Server;

my $bench = "bench";
my @keys = sort map { basename($_, '.pgbench') } glob "$bench/*.pgbench";

# There must be no other checkpoints, and nothing else may write WAL.
my $node = Functions::add_key(
	init_server('server',
		"idgen.node_id = 1\nautovacuum = off\ncheckpoint_timeout = 1h\nwal_consistency_checking = ''"));
$node->start;
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');

# Run the scripts manually.
my $setup = [ 'psql', '-X', '-q', '-v', 'rows=1000', '-f', "$bench/setup.sql" ];
command_ok($setup, 'setup.sql creates the tables');
command_ok($setup, 'setup.sql replaces the tables');
is_deeply([ split /\n/, ask(q{SELECT tablename FROM pg_tables
		WHERE schemaname = 'idgen_bench' ORDER BY tablename COLLATE "C"}) ],
	\@keys, 'there is a table for each script');
for my $key (@keys)
{
	like(slurp_file("$bench/$key.pgbench"), qr/^-- $key: /, "$key: the script begins with a description");
	command_ok([ 'pgbench', '-n', '-t', 3, '-f', "$bench/$key.pgbench" ], "$key: the script runs with pgbench");
	is(ask("SELECT count(*) FROM idgen_bench.$key"), 1003, "$key: it inserts a row in each transaction");
}
is(ask(q{SELECT count(*) FROM (
		SELECT id < lag(id) OVER (ORDER BY payload) AS descends FROM idgen_bench.uuid_v7 WHERE payload > 0) pairs
		WHERE descends}),
	0, 'the history is in the order of time');
ask('SET client_min_messages = warning; DROP SCHEMA idgen_bench CASCADE; DROP EXTENSION idgen');

my @compare = ("$bench/compare.sh", qw(--rows 10000 --rows-per-checkpoint 200 --clients 2 --rounds 1));
my ($stdout, $stderr);
sub compare { ($stdout, $stderr) = run_command([ @compare, @_ ]); return $? == 0 }

# Check that there is a row of figures for each of the keys, in order, with the ratios to random keys.
sub check_table
{
	my ($where, @expected) = @_;
	my %rows = map { $_->[0] => $_ } map { [ map { s/^ +| +$//gr } (split /\|/)[ 1 .. 9 ] ] }
	  $stdout =~ /^(\| \w.*)$/mg;
	is_deeply([ $stdout =~ /^\| (\w+) +\| \d+ +\| \d+\.\d{3} +\| \d+ +\| \d+\.\d +\|(?: (?:\d+\.\d\d|-|~) +\|){4}$/mg ],
		\@expected, "$where: one row of figures for each key, in order");
	is($rows{random}[7], '1.00', "$where: random is compared with itself");
	cmp_ok($rows{random}[1], '>', 2 * $rows{keyed_comb}[1], "$where: random keys write more WAL than keyed COMBs");
	cmp_ok($rows{random}[2], '>', 3 * $rows{keyed_comb}[2], "$where: because of full-page images");
}

ok(compare('--server'), 'compare.sh runs on a given server') or diag $stderr;
check_table('a given server',
	qw(bigint random keyed_comb short_comb short_comb_run comb uuid_v7 masked snowflake ulid));
my $left = q{SELECT extname FROM pg_extension WHERE extname <> 'plpgsql'
	UNION ALL SELECT nspname FROM pg_namespace WHERE nspname ~ '^idgen'};
is(ask($left), '', 'nothing is left on the server');

# Omit the setting that a key requires.
$node->append_conf('postgresql.conf', 'idgen.node_id = -1');
$node->reload;
ok(compare('--server', '--keys', 'bigint,uuid_v7', '--rounds', 3, '--rate', 1000, '--days', 2),
	'with three rounds, a rate and days') or diag $stderr;
like($stdout, qr/^10,000 rows of 2 days in each table, then 3 rounds of 200 rows after a checkpoint, .* 1000 rows\/s,/m,
	'the conditions are printed');
like($stdout, qr/^\| uuid_v7 +\| \d+ \(\d+-\d+\) +\|.* (\d\.\d\d|~) +\| - +\|/m,
	'a figure has its range, and a ratio to a key that was not measured is left out');
command_fails_like([ @compare, qw(--server --keys snowflake) ], qr/idgen\.node_id.*snowflake could not be measured/s,
	'a key that the server cannot generate is an error that names the reason');
ok(compare('--server', '--rows', 1000), 'without --keys, such a key is left out') or diag $stderr;
unlike($stdout, qr/^\| snowflake/m, 'it has no row');
command_fails_like([ @compare, '--keys', 'bigint,unknown' ], qr/there is no script unknown\.pgbench/,
	'a key without a script is an error');

# Interrupt compare.sh. A shell's background job and its children ignore the signal by default.
$SIG{INT} = 'DEFAULT';
my $run = IPC::Run::start([ @compare, qw(--server --rows 300000000 --keys random) ],
	'<', \undef, '>', \$stdout, '2>', \$stderr, IPC::Run::timeout(600));
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity
	WHERE query ~ '^INSERT INTO idgen_bench'}) or die "compare.sh does not insert rows: $stderr";
$run->signal('INT');
$run->finish;
isnt($run->result(0), 0, 'the exit status reports the interruption');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($left UNION ALL SELECT query FROM pg_stat_activity
	WHERE application_name ~ '^idgen_bench') rest"), 'an interrupted run leaves nothing on the server');
$node->stop;

# Use a private cluster.
delete @ENV{qw(PGHOST PGPORT PGDATABASE)};
SKIP:
{
	skip 'PG_CONFIG is not set', 5 unless $ENV{PG_CONFIG};
	ok(compare('--keys', 'random,keyed_comb,masked'), 'compare.sh runs on a private cluster') or diag $stderr;
	check_table('a private cluster', qw(random keyed_comb masked));
}

done_testing();
