# What the advisor advises for tables that it has not seen, and what index_reports() says
# of all indexes: WAL a day by the server's statistics, compared with index_wal(), and the
# reason where it is not known.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Server;

my $node = start_server('advice',
	"autovacuum = off\ncheckpoint_timeout=1h\nmax_wal_size=10GB\nwal_keep_size=4GB\nwal_consistency_checking = ''");
ask('CREATE EXTENSION idgen_advisor');

# --- advice -------------------------------------------------------------------------
my ($rows, $v4) = (40_000, 'gen_random_uuid()');
my $keys = qr/keys of idgen\.keyed_comb\(\) or idgen\.uuid_v7\(\)/;
my $change = qr/^The newest \d+ rows are on \d+ leaf pages, and $keys would be on few\.$/;
my $secret = qr/would be on few\. If the values are secrets, such as tokens, they must stay random\.$/;
my $sparse = qr/^The leaf pages are only \d+ % full, and REINDEX INDEX CONCURRENTLY would save/;
my $empty = qr/^Most pages contain no rows any more, and REINDEX INDEX CONCURRENTLY would save about (?:\d+ [kM]B) of/;
my $none = qr/^$/;
sub filled { my ($values) = @_; return "INSERT INTO %t SELECT $values FROM generate_series(1, $rows) i" }

# short COMBs, 1 row in 2 minutes, of which the newest 21,600 are kept: 30 of the 45.5 days of a cycle
my @settled = map { my $first = 2160 * $_;
	(qq{INSERT INTO %t SELECT idgen.short_comb(run_length => 1, clock => 'epoch'::timestamptz + i * interval '2 min'), i
		FROM generate_series($first, $first + 2159) i},
		"DELETE FROM %t WHERE i < $first - 19440", 'VACUUM %t') } 0 .. 49;

for (
	[ 'random keys', 'id uuid PRIMARY KEY', $change, filled($v4) ],
	[ 'random keys and a time', 'id uuid, at timestamptz, PRIMARY KEY (id, at)', $change, filled("$v4, now()") ],
	[ 'random keys and a number', 'id uuid, number int, PRIMARY KEY (id, number)', $none, filled("$v4, i") ],
	[ 'random keys on few pages', 'id uuid PRIMARY KEY', $none,
		"INSERT INTO %t SELECT $v4 FROM generate_series(1, 10000)" ],
	[ 'random values that are not unique', 'id uuid', $none, 'CREATE INDEX ON %t (id)', filled($v4) ],
	[ 'random keys of another table', 'id uuid UNIQUE', $none, filled($v4),
		'CREATE TABLE others AS TABLE %t',
		'ALTER TABLE others ADD UNIQUE (id); ALTER TABLE %t ADD FOREIGN KEY (id) REFERENCES others (id)' ],
	[ 'random keys, not in the WAL', 'id uuid PRIMARY KEY', $none, 'ALTER TABLE %t SET UNLOGGED', filled($v4) ],
	[ 'texts', 'id text COLLATE "C" PRIMARY KEY', $none, filled('md5(i::text)') ],
	[ 'secret tokens', 'token uuid UNIQUE', $secret, filled($v4) ],
	[ 'version 7, loaded in another order', 'id uuid PRIMARY KEY', $none,
		filled(q{idgen.uuid_v7('2026-01-01+00'::timestamptz + random() * interval '1 year')}) ],
	[ 'version 5', 'id uuid PRIMARY KEY', $none,
		filled(q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', i::text)}) ],
	[ 'random keys, most of them deleted', 'id uuid PRIMARY KEY, i int', $sparse, filled("$v4, i"),
		'DELETE FROM %t WHERE i % 4 <> 0', 'VACUUM %t' ],
	[ 'a queue, purged', 'id bigint PRIMARY KEY', $empty, filled('i'), 'DELETE FROM %t WHERE id < 39000', 'VACUUM %t' ],
	[ 'short COMBs that are deleted after some time', 'id uuid PRIMARY KEY, i int', $none, @settled ])
{
	my ($title, $columns, $advice, @statements) = @$_;
	ask(join(';', 'DROP TABLE IF EXISTS zoo', "CREATE TABLE zoo ($columns)", map { s/%t/zoo/gr } @statements));
	my ($density, $said) = split /\|/, ask(
		"SELECT round(100 * leaf_density), coalesce(advice, '') FROM pg_index, idgen.index_report(indexrelid)
			WHERE indrelid = 'zoo'::regclass"), -1;
	like($said, $advice, "$title: advice (density $density %)");
	cmp_ok($density, '<', 58, '... at a density that REINDEX would raise for some time only')
	  if $title =~ /^short COMBs/;
}

# --- WAL a day ----------------------------------------------------------------------
my $named = ask('SHOW server_version_num') >= 170000 ? 'checkpointer' : 'bgwriter';
my $begin = "SELECT pg_stat_reset(), pg_stat_reset_shared('$named')";
my $reports = q{idgen.index_reports(0, min_age => '0')};
sub report { return ask("SELECT $_[0] FROM $reports WHERE index_name = '$_[1]'::regclass") }

ask("CREATE TABLE idle (id int PRIMARY KEY); $begin");
like(report('concat_ws($$|$$, rows_per_day, rows_per_checkpoint, wal_per_day, unknown_reason)', 'idle_pkey'),
	qr/^fewer than 3 checkpoints since/, 'too few checkpoints: no rates, and the reason');

my ($n, %values) = (2000, random => $v4, seven => 'idgen.uuid_v7(at)', keyed => 'idgen.keyed_comb()',
	short => 'idgen.short_comb(run_length => 1, clock => at)', text => 'md5(i::text)');
sub insert
{
	my ($from, $to) = @_;
	return map { "INSERT INTO $_ SELECT $values{$_} FROM (SELECT i, 'epoch'::timestamptz + i * interval '30 ms' AS at
		FROM generate_series($from, $to - 1) i OFFSET 0) s" } sort keys %values;
}
ask(join ';', (map { 'CREATE TABLE ' . $_ . ' (id ' . (/text/ ? 'text' : 'uuid') . ' PRIMARY KEY)' } keys %values),
	insert(0, $rows), 'VACUUM ANALYZE');
ask('CREATE EXTENSION pg_walinspect');
my $from = ask('CHECKPOINT; SELECT pg_current_wal_insert_lsn()');
ask($begin);
ask(join ';', insert($rows + $_ * $n, $rows + ($_ + 1) * $n), 'CHECKPOINT') for 0 .. 4;
# the server counts the last checkpoint and the last rows a little later
wait_until(sub { abs(report('rows_per_checkpoint', 'random_pkey') / $n - 1) < 0.1 });
for my $index (map { "${_}_pkey" } sort keys %values)
{
	my ($per_checkpoint, $per_row, $keyed, $saved, $same) = split /\|/, report(
		'rows_per_checkpoint, wal_per_row, keyed_comb_wal_per_row, keyed_comb_saves_wal_per_day > 0,
			abs(wal_per_day - wal_per_row * rows_per_day) <= 1',
		$index), -1;
	my $measured = ask("SELECT bytes / (5.0 * $n) FROM idgen.index_wal('$from', pg_current_wal_flush_lsn())
		WHERE index_name = '$index'::regclass");

	cmp_ok(abs($per_checkpoint / $n - 1), '<', 0.25, "$index: $per_checkpoint rows of the table a checkpoint");
	cmp_ok(abs($per_row / $measured - 1), '<', 0.25,
		"$index: $per_row bytes of WAL for a row of the table, measured $measured");
	is($same, 't', '... and that of a day is that of its rows');
	# the model, without the table's own pages
	cmp_ok(abs($keyed / $measured - 1), '<', 0.5, "keyed_comb(): $keyed bytes are expected with it")
	  if $index eq 'keyed_pkey';
	is($saved, 't', "$index: keyed_comb() would save WAL") if $index eq 'random_pkey';
	is($saved, '', "$index: a key that cannot change has no such figure") if $index =~ /seven|text/;
}
like(report('unknown_reason', 'idle_pkey'), qr/^no rows were inserted since/, 'a table without inserts: the reason');
is(ask("SELECT wal_per_day, unknown_reason FROM idgen.index_reports(0) WHERE index_name = 'random_pkey'::regclass"),
	'|the statistics are younger than 01:00:00', 'a load of some seconds: no rates, and the reason');
is(report('rates_since = (SELECT stats_reset FROM pg_stat_database WHERE datname = current_database())', 'random_pkey'),
	't', 'the rates are those since the statistics were reset');

# --- locks and catalogs -----------------------------------------------------------------
my $session = session();
$session->ask('BEGIN; LOCK TABLE random');
is(ask(q{SELECT advice, table_name FROM idgen.index_reports(0) WHERE advice LIKE 'not read%'}),
	'not read: canceling statement due to lock timeout|random',
	'a locked table is not waited for, and all others are reported');
$session->quit;
is(ask('SELECT count(*) > 100 FROM idgen.index_reports(0, catalogs => true)'), 't',
	'catalogs are reported if asked for');

is(ask(in_parallel("SELECT count(DISTINCT table_name) > 0 FROM idgen.$_, random")), 't',
	"$_ in a query of a large table")
  for ('index_reports(0)', "index_wal('$from', pg_current_wal_flush_lsn())");

done_testing();
