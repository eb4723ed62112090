# The leaf density and the size of an index that expected_key_cost() predicts,
# compared with those of indexes that were filled with such keys.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Server;

start_server('index_size', "autovacuum = off\nmax_wal_size = 10GB");
plan skip_all => 'pgstattuple is not installed'
  unless ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'});
ask('CREATE EXTENSION idgen_advisor; CREATE EXTENSION pgstattuple');

# Density and size as measured, and as predicted by expected_key_cost(ARGUMENTS)
sub compare
{
	my ($title, $type, $expression, $rows, $arguments) = @_;
	my ($density, $predicted_density, $bytes, $predicted_bytes) = split /\|/, ask(qq{
		SET client_min_messages = warning;
		DROP TABLE IF EXISTS keys;
		CREATE UNLOGGED TABLE keys (id $type PRIMARY KEY);
		INSERT INTO keys SELECT $expression FROM generate_series(0, $rows - 1) i;
		SELECT s.avg_leaf_density, 100 * c.leaf_density, s.index_size, c.index_bytes
		FROM pgstatindex('keys_pkey') s, idgen.expected_key_cost($arguments) c});
	ok(abs($predicted_density / $density - 1) < 0.1 && abs($predicted_bytes / $bytes - 1) < 0.1,
		sprintf '%s: %.1f %% of %.2f MiB, predicted %.1f %% of %.2f MiB',
		$title, $density, $bytes / 2**20, $predicted_density, $predicted_bytes / 2**20);
}

# Rows of simulated time: rows_in_cycle is the number of rows since the prefixes
# began with 0, for the last row.
sub compare_short_comb
{
	my ($title, $rows, $period_rows, $prefix_bytes, $run_length, $rows_in_cycle) = @_;
	my $first = $rows_in_cycle - $rows;

	# as many entire cycles later that no row is before 1970
	$first += $period_rows * 256**$prefix_bytes while $first < 0;
	compare(
		$title, 'uuid',
		"idgen.short_comb('1 minute', $prefix_bytes, $run_length,
			'epoch'::timestamptz + (i + $first) / $period_rows * interval '1 minute')",
		$rows,
		"'short_comb', $rows, 1000, $period_rows, $prefix_bytes, $run_length, rows_in_cycle => $rows_in_cycle");
}

compare(@$_) for (
	[ 'bigint', 'bigint', 'i', 100_000, q{'ordered', 100000, 1000, key_bytes => 8} ],
	[ 'uuid_v7()', 'uuid', 'idgen.uuid_v7()', 100_000, q{'ordered', 100000, 1000} ],
	[ 'ulid()', 'text COLLATE "C"', 'idgen.ulid()', 100_000, q{'ordered', 100000, 1000, key_bytes => 27} ],
	[ 'uuid_v4()', 'uuid', 'idgen.uuid_v4()', 200_000, q{'random', 200000, 1000} ],
	[ 'more of them than a simulation has', 'uuid', 'idgen.uuid_v4()', 420_000, q{'random', 420000, 1000} ],
	[ 'one full leaf page', 'uuid', 'idgen.uuid_v4()', 290, q{'random', 290, 1000} ],
	[ 'UUIDs as text', 'text COLLATE "C"', 'idgen.uuid_v4()::text', 100_000,
		q{'random', 100000, 1000, key_bytes => 37} ],
	[ 'random bigint', 'bigint', 'hashint8extended(i, 0)', 200_000, q{'random', 200000, 1000, key_bytes => 8} ],);

# keyed COMBs, by the rows of a prefix: all of a period, if they are few, or those of a twelfth
compare("keyed_comb(), $_ rows a prefix", 'uuid',
	"idgen.keyed_comb(clock => 'epoch'::timestamptz + i / $_ * interval '5 minutes')", 120_000,
	"'keyed_comb', 120000, 1000, $_ * CASE WHEN $_ > 512 THEN 12 ELSE 1 END")
  for 3, 20, 100, 300, 1000, 10_000;

my ($minute, $hour) = (23, 23 * 60);
compare_short_comb(@$_) for (
	# before the prefixes begin again, and after they did so
	map({
			[ "$_ rows a period, first cycle", 120_000, $_, 2, 1, 130_000 ],
			[ "$_ rows a period, begun again", 120_000, $_, 2, 1, 110_000 ] }
		3, 10, 100, 1000),
	[ '10000 rows a period', 200_000, 10_000, 2, 1, 50_000_000 ],
	[ '100000 rows a period', 200_000, 100_000, 2, 1, 50_000_000 ],
	# 30 days of 23 rows a minute
	[ 'a minute of 23 rows', 120_000, $minute, 2, 1, 100_000 ],
	[ 'ten minutes', 120_000, $minute * 10, 2, 1, $minute * 10 * 40_000 ],
	[ 'an hour', 150_000, $hour, 2, 1, $hour * 40_000 ],
	[ 'an hour with one prefix byte', 420_000, $hour, 1, 1, $hour * 100 ],
	# many cycles
	[ '469 cycles', 120_000, 1, 1, 1, 128 ],
	# runs
	[ 'runs of 16', 120_000, 1000, 2, 16, 1_000_000 ],
	[ 'runs of 64', 120_000, 50, 2, 64, 100_000 ],
	[ 'runs of 1024', 120_000, 20_000, 2, 1024, 1_000_000 ],);

done_testing();
