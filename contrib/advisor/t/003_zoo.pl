# Verify the predictions of index_report() for tables that were not prepared for it, and the predictions of
# expected_key_cost(). They are compared with measurements: the full-page images and the WAL caused by the next rows,
# the leaf density, the size, and the space that REINDEX saves. Finally, index_wal() is compared with pg_waldump.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use List::Util qw(sum);
use Server;

my $rows = 40_000;
my $next = 1000;

# There are no checkpoints, vacuums or statistics except the test's own.
my $node = start_server('zoo',
	"autovacuum = off\ncheckpoint_timeout = 1h\nmax_wal_size = 10GB\nwal_writer_delay = 1s\n" .
	  "wal_consistency_checking = ''",
	allows_streaming => 1);
plan skip_all => 'pg_walinspect or pgstattuple is not installed'
  unless ask(q{SELECT count(*) = 2 FROM pg_available_extensions WHERE name IN ('pg_walinspect', 'pgstattuple')}) eq 't';
ask(q{
	CREATE EXTENSION idgen_advisor;
	CREATE SCHEMA inspect;
	CREATE EXTENSION pg_walinspect SCHEMA inspect;
	CREATE EXTENSION pgstattuple;
	CREATE SEQUENCE blocks;
	CREATE TABLE parents (id int PRIMARY KEY);
	INSERT INTO parents SELECT generate_series(0, 99)});

# Return the statement that inserts rows. In the expression, i is the row's number, and "at" is the row's time (a
# hundred rows per second).
sub insertion
{
	my ($table, $expression, $first, $last) = @_;

	return qq{INSERT INTO $table SELECT i, $expression, i % 100, repeat('x', i % 30) FROM
		(SELECT i, timestamptz '2026-03-01 12:00:00+00' + i * interval '10 ms' AS at
			FROM generate_series($first, $last) i OFFSET 0) s};
}

# Each row: [ name, placement, type, expression, { index => columns, unique => 0, after => statements, unlogged => 1,
# intervals => number of measured checkpoint intervals, within => relative tolerance } ]
my $v4 = 'gen_random_uuid()';
my $v7 = 'idgen.uuid_v7(at)';
my @zoo = (
	[ 'identity', 'ordered', 'bigint', 'i' ],
	[ 'version 4', 'scattered', 'uuid', $v4 ],
	[ 'version 7', 'ordered', 'uuid', $v7 ],
	# New keys ascend between older keys: version 1 UUIDs at one row per 100 ms, in cycles of 7 minutes; short COMBs
	# over 8 and 32 cycles; and numbers in rounds.
	[ 'version 1', 'local', 'uuid', q{idgen.uuid_v1('epoch'::timestamptz + i * interval '100 ms')},
		{ within => 0.25 } ],
	[ 'a short COMB of a year', 'local', 'uuid',
		q{idgen.short_comb(run_length => 1, clock => 'epoch'::timestamptz + i * interval '786 s')},
		{ within => 0.25 } ],
	[ 'a short COMB of four years', 'local|mixed', 'uuid',
		q{idgen.short_comb(run_length => 1, clock => 'epoch'::timestamptz + i * interval '3144 s')},
		{ within => 0.25 } ],
	[ 'rounds', 'local|mixed', 'bigint', 'i % 400 * 1000 + i / 400', { within => 0.25 } ],
	[ 'sequential-uuids: blocks of a sequence', 'scattered|mixed', 'uuid', q{idgen.sequence_comb('blocks')} ],
	[ 'keyed COMB', 'local', 'uuid', q{idgen.keyed_comb('zoo', clock => at)} ],
	[ 'SQL Server order', 'scattered', 'uuid', 'idgen.suffix_comb(at)' ],
	[ 'UUID as text', 'scattered', 'text', "$v4\::text" ],
	[ 'composite of version 4', 'scattered', 'uuid', $v4, { index => '(t, k)' } ],
	# The 100 values of the index's first column get new rows at the same rate, so their leaf pages split at the same
	# time.
	[ 'composite of version 7', 'local|mixed', 'uuid', $v7, { index => '(t, k)', intervals => 15 } ],
	[ 'composite of 16 numbers and an ordered one', 'local', 'int', 'hashint4(i) & 15', { index => '(k, i)' } ],
	[ 'foreign key', 'scattered', 'int REFERENCES parents', 'i * 37 % 100', { unique => 0 } ],
	[ 'half of version 4', 'mixed', 'uuid', "CASE WHEN i % 2 = 0 THEN $v4 ELSE $v7 END" ],
	[ 'changed to version 7', 'ordered', 'uuid', "CASE WHEN i <= $rows - 2000 THEN $v4 ELSE $v7 END" ],
	[ 'updated', 'ordered', 'bigint', 'i',
		{ after => q{UPDATE %t SET k = k WHERE i % 80 = 0; UPDATE %t SET note = note || 'y' WHERE i % 81 = 0} } ],
	[ 'fillfactor 45', 'scattered', 'uuid', $v4,
		{ index => '(k) WITH (fillfactor = 45)', after => 'REINDEX INDEX %i' } ],
	[ 'restored', 'scattered', 'uuid', $v4,
		{ after => 'CREATE TABLE r AS TABLE %t; TRUNCATE %t; DROP INDEX %i; INSERT INTO %t TABLE r;
			CREATE UNIQUE INDEX %i ON %t (k); DROP TABLE r' } ],
	[ 'after deletes', 'scattered', 'uuid', $v4, { after => 'DELETE FROM %t WHERE i % 3 <> 0; VACUUM %t' } ],
	[ 'old rows deleted, and their room filled', 'ordered', 'bigint', 'i', { last => 45_000,
		after => 'DELETE FROM %t WHERE i <= 20000; VACUUM %t;
			INSERT INTO %t SELECT i, i, i % 100 FROM generate_series(40001, 45000) i' } ],
	[ 'partial', 'unknown', 'uuid', $v4, { index => '(k) WHERE i % 8 = 0' } ],
	[ 'ordered in the middle', 'ordered', 'bigint',
		'CASE WHEN i < 20000 AND i % 2 = 0 THEN i + 1000000000 ELSE i END' ],
	[ 'unlogged', 'scattered', 'uuid', $v4, { unlogged => 1 } ],
	[ 'expression', 'unknown', 'text', 'md5(i::text)', { index => '(upper(k))' } ],);

sub near
{
	my ($predicted, $measured, $relative, $absolute) = @_;
	return abs($predicted - $measured) <= $relative * $measured + $absolute;
}

# Return, for the index, the number of full-page images and the bytes of WAL, both per row. They are measured after the
# first $count rows, in the given number of checkpoint intervals of $n rows. By default, the intervals have 4,000 rows
# in total.
sub measure
{
	my ($table, $index, $expression, $count, $n, $intervals) = @_;
	$intervals //= $n < 4000 ? 4000 / $n : 1;
	my @found = map { [ split /\|/ ] } split /\n/, ask(join '', map {
		"CHECKPOINT; SELECT pg_current_wal_flush_lsn() AS start \\gset\n" .
		insertion($table, $expression, $count + $_ * $n + 1, $count + ($_ + 1) * $n) .
		"; SELECT images, bytes FROM idgen.index_wal(:'start', pg_current_wal_flush_lsn())
			WHERE index_name = '$index'::regclass;"
	} 0 .. $intervals - 1);
	return map { my $column = $_; sum(0, map { $_->[$column] } @found) / $intervals / $n } 0, 1;
}

my $number = 0;
for my $animal (@zoo)
{
	my ($title, $placement, $type, $expression, $how) = @$animal;
	my ($table, $index) = ('zoo' . ++$number, "zoo${number}_k");
	my $last = $how->{last} // $rows;
	my $unlogged = $how->{unlogged} ? 'UNLOGGED' : '';
	my $unique = $how->{unique} // 1 ? 'UNIQUE' : '';

	ask("CREATE $unlogged TABLE $table (i int, k $type, t int, note text); CREATE $unique INDEX $index ON $table " .
		($how->{index} // '(k)'));
	# Use transactions of different sizes.
	ask(insertion($table, $expression, 1, $rows - 3000));
	ask(insertion($table, $expression, $rows - 3000 + 500 * $_ + 1, $rows - 2500 + 500 * $_)) for 0 .. 5;
	ask($how->{after} =~ s/%t/$table/gr =~ s/%i/$index/gr) if $how->{after};

	my ($found, $images, $wal, $density, $size) = split /\|/, ask(
		qq{SELECT placement, images_per_row, wal_per_row, 100 * r.leaf_density - s.avg_leaf_density,
			r.index_bytes - s.index_size
		FROM idgen.index_report('$index', $next) r, pgstatindex('$index') s});
	like($found, qr/^(?:$placement)$/, "$title: $found");
	cmp_ok(abs($density), '<', 1, "$title: density (difference $density)");
	is($size, 0, "$title: size");

	my ($measured_images, $measured_wal) = measure($table, $index, $expression, $last, $next, $how->{intervals} // 1);
	if ($found eq 'unknown')
	{
		is("$images$wal", '', "$title: no images and no WAL are predicted");
	}
	else
	{
		my $within = $how->{within} // 0.2;
		ok(near($images, $measured_images, $within, 0.003),
			sprintf '%s: %.3f images a row, measured %.3f', $title, $images, $measured_images);
		ok(near($wal, $measured_wal, $within, 10),
			sprintf '%s: %.0f bytes of WAL a row, measured %.0f', $title, $wal, $measured_wal);
	}

	my ($saves, $before) = split /\|/, ask("SELECT reindex_saves_bytes, index_bytes FROM idgen.index_report('$index')");
	ask("REINDEX INDEX $index");
	my $saved = $before - ask("SELECT pg_relation_size('$index')");
	$saved = 0 if $saved < 0;
	ok(near($saves, $saved, 0.1, 6 * 8192), "$title: REINDEX would save $saves of $before bytes, saved $saved");
}

# Create other kinds of indexes, most of which the report cannot judge. Some are not B-trees, and one is invalid.
ask(qq{CREATE DOMAIN key AS uuid;
	CREATE TABLE kinds (id key, file name, bytes bytea, range int4range, ids uuid[], i int,
		g uuid GENERATED ALWAYS AS (md5(i::text)::uuid) STORED, EXCLUDE USING btree (id WITH =));
	INSERT INTO kinds SELECT u, u, uuid_send(u), int4range(i, i + 1), ARRAY[u], i
		FROM (SELECT i, $v4 AS u FROM generate_series(1, 20000) i) v;
	CREATE UNIQUE INDEX ON kinds (id DESC NULLS LAST);
	CREATE UNIQUE INDEX ON kinds (id NULLS FIRST) INCLUDE (i);
	CREATE UNIQUE INDEX ON kinds (file COLLATE "POSIX");
	CREATE UNIQUE INDEX ON kinds (bytes);
	CREATE UNIQUE INDEX ON kinds (range);
	CREATE UNIQUE INDEX ON kinds (ids);
	CREATE UNIQUE INDEX ON kinds (g) NULLS NOT DISTINCT;
	CREATE UNIQUE INDEX ON kinds (id, (i + 1));
	CREATE INDEX ON kinds USING hash (id);
	CREATE INDEX ON kinds USING brin (id);
	CREATE INDEX ON kinds USING gist (range);
	CREATE INDEX ON kinds USING gin (ids);
	CREATE INDEX invalid ON kinds (i);
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'invalid'::regclass;
	CREATE TABLE parted (id uuid PRIMARY KEY) PARTITION BY HASH (id);
	CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
	INSERT INTO parted SELECT id FROM kinds;
	CREATE MATERIALIZED VIEW copied AS TABLE kinds;
	CREATE UNIQUE INDEX ON copied (id)});
my $temporary = session();
$temporary->ask("CREATE TEMPORARY TABLE passing (id uuid PRIMARY KEY); INSERT INTO passing SELECT id FROM kinds");

# If there is no advice, "reason" must be set. If the savings are unknown, "unknown_reason" must be set.
is(ask(q{SELECT string_agg(DISTINCT index_name::text, ' ') FILTER (WHERE advice IS NULL AND reason IS NULL),
		string_agg(DISTINCT index_name::text, ' ')
			FILTER (WHERE keyed_comb_saves_wal_per_day IS NULL AND unknown_reason IS NULL), count(*) > 150
	FROM idgen.index_reports(0, catalogs => true, min_age => '0')}), '||t', 'nothing is unknown without a reason');
$temporary->quit;

# Check a standby. (t/046_lagging_standby.pl tests its report.)
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $late = ask('SELECT pg_current_wal_flush_lsn()');
ask('CREATE TABLE late AS SELECT generate_series(1, 1000) i');
$node->wait_for_catchup($standby);
my $unlogged = ask(q{SELECT oid FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r'});
is(outcome("SELECT advice FROM idgen.index_reports(0) WHERE table_name = $unlogged", node => $standby),
	'not read: cannot access temporary or unlogged relations during recovery', 'a standby has no unlogged table');
is(outcome("SELECT idgen.index_report(indexrelid) FROM pg_index WHERE indrelid = $unlogged", node => $standby),
	'0A000', 'which is an error');
is(outcome(qq{SELECT records > 0 FROM idgen.index_wal('$late', 'FFFFFFFF/FFFFFFFF')
	WHERE table_name = 'late'::regclass}, node => $standby), 't', 'it has the WAL that it has received')
  if ask('SHOW server_version_num') >= 160000;
$standby->stop;

# Compare the records and images of each relation in index_wal() and pg_waldump.
ask('CREATE TABLE billed (id uuid PRIMARY KEY, number int UNIQUE, word text);
	CREATE INDEX billed_word ON billed (word)');
ask(q{INSERT INTO billed SELECT gen_random_uuid(), i, md5(i::text) FROM generate_series(1, 20000) i});
my ($from, $to) = split /\n/, ask(q{CHECKPOINT; SELECT pg_current_wal_flush_lsn();
	INSERT INTO billed SELECT gen_random_uuid(), i, md5(i::text) FROM generate_series(20001, 25000) i;
	DELETE FROM billed WHERE number < 1000; UPDATE billed SET word = '' WHERE number < 2000;
	SELECT pg_current_wal_flush_lsn()});
my ($dump, $errors) =
  run_command([ 'pg_waldump', '--path', $node->data_dir . '/pg_wal', '--start', $from, '--end', $to ]);
my (%records, %bytes, %images);
for my $line (split /\n/, $dump)
{
	my ($length) = $line =~ m{len \(rec/tot\):\s*\d+/\s*(\d+)} or next;
	my ($file) = $line =~ m{blkref #\d+: rel \d+/\d+/(\d+)} or next;

	$records{$file}++;
	$bytes{$file} += $length;
	$images{$file} += () = $line =~ /FPW/g;
}
for my $relation ('billed', 'billed_pkey', 'billed_number_key', 'billed_word')
{
	my ($file, $records, $bytes, $images, $table) = split /\|/, ask(
		"SELECT pg_relation_filenode('$relation'), records, bytes, images, table_name
			FROM idgen.index_wal('$from', '$to')
		WHERE coalesce(index_name, table_name) = '$relation'::regclass");

	is("$records|$bytes|$images", "$records{$file}|$bytes{$file}|$images{$file}",
		"index_wal() of $relation: records|bytes|images as pg_waldump");
	is($table, 'billed', 'its table');
}
cmp_ok(abs(ask("SELECT sum(share) FROM idgen.index_wal('$from', '$to')") - 1), '<', 0.0001,
	'the shares are those of the whole');
is(ask("SELECT array_agg(bytes ORDER BY bytes DESC) = array_agg(bytes) FROM idgen.index_wal('$from', '$to')"), 't',
	'the largest is the first');
is(outcome("SELECT idgen.index_wal('$to', '$from')"), '22023', 'index_wal() from a later position');
is(outcome("SELECT idgen.index_wal('$from', pg_current_wal_insert_lsn() + 1000000)"), '22023',
	'to a position after the end');
is(outcome("SELECT idgen.index_wal('0/1000028', '$to')"), '58P01', 'from a position whose WAL was removed');

# index_wal() waits for WAL that is not flushed yet. After a WAL switch, there is only a page header.
for my $to ('pg_current_wal_insert_lsn()', q{'FFFFFFFF/FFFFFFFF'})
{
	is( ask(qq{CREATE TABLE unflushed (i int);
			SET synchronous_commit = off;
			SELECT pg_current_wal_insert_lsn() AS from_lsn \\gset
			INSERT INTO unflushed SELECT generate_series(1, 3000);
			SELECT records FROM idgen.index_wal(:'from_lsn', $to) WHERE table_name = 'unflushed'::regclass;
			DROP TABLE unflushed}), 3000, "asynchronous commit: all records, to $to");
}
# A long record may be flushed only partially. The counts exclude catalogs, because any session can prune their pages.
my $flushed = ask(q{SET synchronous_commit = on; CREATE TABLE before (); SELECT pg_current_wal_flush_lsn()});
ask(q{SELECT FROM pg_logical_emit_message(false, '', repeat('x', 100000))});
wait_until(sub { ask("SELECT pg_current_wal_flush_lsn() > '$flushed'") eq 't' });
is(ask("SELECT count(*) FROM idgen.index_wal('$flushed', pg_current_wal_flush_lsn()) WHERE table_name >= 16384"), '0',
	'no record is complete');
is(ask(q{SELECT FROM pg_switch_wal();
	SELECT count(*) FROM idgen.index_wal(pg_current_wal_insert_lsn(), 'FFFFFFFF/FFFFFFFF') WHERE table_name >= 16384}),
	'0', 'after a switch');
is(outcome(q{BEGIN; DROP EXTENSION pg_walinspect; SELECT idgen.index_wal('0/1', '0/2')}), '55000',
	'without pg_walinspect');
is(outcome("SET ROLE pg_read_all_data; SELECT idgen.index_wal('$from', '$to')"), '42501', 'without its rights');

# Fill a table, and compare its density and size with the prediction of expected_key_cost(ARGUMENTS). Measurements vary
# from run to run, with a standard deviation of up to 2 %. For keyed COMBs at 5 rows per minute, their average is 93 %
# of the prediction.
sub fill
{
	my ($title, $type, $expression, $count, $arguments) = @_;
	ask("DROP TABLE IF EXISTS planned; CREATE TABLE planned (i int, k $type PRIMARY KEY, t int, note text)");
	ask(insertion('planned', $expression, 1, $count));
	my ($density, $expected_density, $size, $expected_size) = split /\|/, ask(qq{
		SELECT s.avg_leaf_density, 100 * c.leaf_density, s.index_size, c.index_bytes
		FROM pgstatindex('planned_pkey') s, idgen.expected_key_cost($arguments) c});
	ok(near($expected_density, $density, 0.15, 0) && near($expected_size, $size, 0.15, 0),
		"$title: $expected_density % of $expected_size are predicted, $density % of $size measured");
}
fill(@$_) for (
	[ 'bigint', 'bigint', 'i', 100_000, q{'ordered', 100000, 1000, key_bytes => 8} ],
	[ 'ulid()', 'text COLLATE "C"', 'idgen.ulid()', 100_000, q{'ordered', 100000, 1000, key_bytes => 27} ],
	[ 'more of version 4 than a simulation has', 'uuid', $v4, 210_000, q{'random', 210000, 1000} ],
	[ 'one full leaf page', 'uuid', $v4, 290, q{'random', 290, 1000} ],
	[ 'UUIDs as text', 'text COLLATE "C"', "$v4\::text", 100_000, q{'random', 100000, 1000, key_bytes => 37} ],
	map {
		[ "keyed_comb(), $_ rows a twelfth", 'uuid',
			"idgen.keyed_comb('planned', clock => 'epoch'::timestamptz + i / $_ * interval '5 minutes')", 120_000,
			"'keyed_comb', 120000, 1000, 12 * $_" ]
	} 3, 20, 100, 200, 1000, 10_000);

# Fill a table with short COMBs. $place is the position of the last short COMB in the cycle.
sub fill_short_comb
{
	my ($title, $rows, $period_rows, $prefix_bytes, $place) = @_;
	my $first = $place - $rows;
	# Move the times by whole cycles, so that no row is before 1970.
	$first += $period_rows * 256**$prefix_bytes while $first < 0;
	my $expression = "idgen.short_comb('1 minute', $prefix_bytes, 1,
		'epoch'::timestamptz + (i + $first) / $period_rows * interval '1 minute')";
	fill("short_comb(), $title", 'uuid', $expression, $rows,
		"'short_comb', $rows, 1000, $period_rows, $prefix_bytes, rows_in_cycle => $place");
	return $expression;
}
fill_short_comb(@$_) for (
	# The first case ends before the prefixes repeat, and the second one after that.
	map({ [ "$_ rows a period, first cycle", 120_000, $_, 2, 130_000 ],
			[ "$_ rows a period, begun again", 120_000, $_, 2, 110_000 ] } 3, 100, 1000),
	[ '10000 rows a period', 200_000, 10_000, 2, 50_000_000 ],
	[ 'an hour with one prefix byte', 420_000, 1380, 1, 138_000 ],
	[ '469 cycles', 120_000, 1, 1, 128 ]);

# For a table with random keys, index_report() predicts the cost of keyed COMBs. Compare the predictions with
# measurements. Each case has the rows per minute, the minutes between two checkpoints, and the number of intervals. An
# hour has 1.07 times as many rows as this rate implies, so that the checkpoints are spread over the whole hour.
ask('CREATE TABLE others (i int, k uuid PRIMARY KEY, t int, note text)');
ask(insertion('others', $v4, 1, 60_000));
for ([ 1, 60, 60 ], [ 5, 30, 60 ], [ 20, 5, 100 ], [ 20, 60, 15 ], [ 50, 30, 15 ], [ 200, 5, 40 ])
{
	my ($rate, $minutes, $intervals) = @$_;
	my $n = $rate * $minutes;
	my $at = "'epoch'::timestamptz + i * interval '1 minute' / ($rate * 1.07)";
	my $expression = "idgen.keyed_comb('planned', clock => $at)";

	fill("keyed_comb(), $rate rows a minute", 'uuid', $expression, 60_000, "'keyed_comb', 60000, $n, 64.2 * $rate");
	my ($images, $wal) = measure('planned', 'planned_pkey', $expression, 60_000, $n, $intervals);
	my $expected = ask("SELECT keyed_comb_wal_per_row
			FROM idgen.index_report('others', $n, checkpoint => interval '$minutes minutes' / 1.07)");
	cmp_ok(abs($expected / $wal - 1), '<', 0.2,
		"... a checkpoint every $minutes minutes: $expected bytes of WAL a row, measured $wal");
}

# Check expected_key_cost() with 10, 100 and 500 rows per checkpoint. For short COMBs, the case also has the rows per
# minute, the prefix bytes, and the position of the last row in the cycle.
for (
	[ 'ordered' ], [ 'random' ], [ 'short_comb', 20, 2, 60_000 ], [ 'short_comb', 20, 2, 30_000 ],
	[ 'short_comb', 200, 2, 30_000 ], [ 'short_comb', 60, 1, 13_920 ], [ 'short_comb', 5, 1, 1120 ])
{
	my ($kind, $rate, $bytes, $place) = @$_;
	my ($title, $count) = (join(', ', @$_), 60_000);
	my $expression = $kind eq 'ordered' ? $v7 : $v4;
	if ($rate) { $expression = fill_short_comb("$rate rows a minute", $count, $rate, $bytes, $place) }
	else { fill($kind, 'uuid', $expression, $count, "'$kind', $count, 1000") }

	for my $n (10, 100, 500)
	{
		my ($images, $wal) = measure('planned', 'planned_pkey', $expression, $count, $n);
		my $of_comb = $rate
		  ? ", $rate, $bytes, rows_in_cycle => mod($place + $count - 58000, ($rate * 256 ^ $bytes)::numeric)" : '';
		my ($expected, $expected_wal) = split /\|/, ask(
			"SELECT images_per_row, image_bytes_per_row + record_bytes_per_row
				FROM idgen.expected_key_cost('$kind', $count + 2000, $n$of_comb)");

		ok(near($expected, $images, 0.2, 0.003),
			"expected_key_cost() of $title, $n rows a checkpoint: $expected images, measured $images");
		ok(near($expected_wal, $wal, 0.2, 10), "its WAL: $expected_wal, measured $wal");
		$count += 4000;
	}
}

done_testing();
