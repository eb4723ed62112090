# Verify the partitions in docs/recipes.md: by uuid_v7(), by creation time, and with pg_partman 5.2 or later, if it is
# installed. Every row is in the partition for its time, and a query reads no other partition. (sql/within.sql and
# sql/within_numbers.sql test partitions by other keys.)

use Page;
use Server;

start_server('partitions', "autovacuum = off\ntimezone = 'UTC'");
my $recipe = Page->new('recipes');

# --- Declarative partitions -------------------------------------------------
my ($create) = $recipe->blocks('Partitions by time');
my ($tables, $explain) = $create =~ /^(.*)^(EXPLAIN.*)/ms;

is( ask($tables . q{INSERT INTO measurements VALUES (idgen.uuid_v7('2026-10-31 23:59:59.999+00'), 3.5),
			(idgen.uuid_v7('2026-11-01 00:00:00+00'), 3.4);
		SELECT tableoid::regclass, idgen.uuid_timestamp(id), celsius FROM measurements ORDER BY id}),
	"measurements_2026_10|2026-10-31 23:59:59.999+00|3.5\nmeasurements_2026_11|2026-11-01 00:00:00+00|3.4",
	'the bounds are half-open: a row is in the partition of its millisecond');
is(join(' ', ask($explain) =~ /Scan on (\w+) measurements/g), 'measurements_2026_11',
	'a query for a range of time reads one partition');

like(ask(q{EXPLAIN SELECT FROM measurements WHERE idgen.uuid_timestamp(id) >= '2026-11-01'}),
	qr/measurements_2026_10.*measurements_2026_11/s, 'a condition on uuid_timestamp() reads all partitions');

is($recipe->outcome('INSERT INTO measurements VALUES (gen_random_uuid())'), '23514 measurements_id_check',
	'a random key is refused');

# --- Partitions by creation time --------------------------------------------
my ($shipments) = $recipe->blocks('Partitions by creation time');

ask($shipments);
like(ask($shipments =~ /^(EXPLAIN .*)/ms), qr/\A(?!.*(_2026_10|_default)).*shipments_2026_11/s,
	'created_near: a query for an id reads only its partition');

# There are 365 daily partitions. The rows come from clients whose clocks are wrong by up to 15 minutes.
ask(q{
	DROP TABLE shipments_2026_10, shipments_2026_11, shipments_default;
	SELECT format('CREATE TABLE shipments_%s PARTITION OF shipments FOR VALUES FROM (%L) TO (%L)',
		day, start, start + 1)
	FROM generate_series(1, 365) day, LATERAL (SELECT current_date + day - 183 AS start) s \gexec
	CREATE TABLE sent (id uuid, stored boolean);
	DO $$
	DECLARE
		id uuid;
	BEGIN
		FOR second IN -900 .. 900 LOOP
			id := idgen.uuid_v7(clock_timestamp() + make_interval(secs => second));
			BEGIN
				INSERT INTO shipments VALUES (id, clock_timestamp());
				INSERT INTO sent VALUES (id, true);
			EXCEPTION WHEN check_violation THEN
				INSERT INTO sent VALUES (id, false);
			END;
		END LOOP;
	END $$});
is( ask(q{SELECT count(*), count(*) FILTER (WHERE stored <> (o.id IS NOT NULL)),
			count(*) FILTER (WHERE stored) > 1000, bool_and(stored)
		FROM sent s LEFT JOIN shipments o ON o.id = s.id AND idgen.created_near(s.id, o.created_at)}),
	'1801|0|t|f', 'created_near: of 1,801 rows, no stored one is missed');
ask('ANALYZE shipments');

for ([ '12:00', 1 ], [ '00:00', 2 ])
{
	my ($at, $expected) = @$_;
	my $id = ask("SELECT idgen.uuid_v7(current_date + time '$at')");
	my $find = sub { return "SELECT * FROM shipments WHERE id = $_[0] AND idgen.created_near($_[0], created_at)" };
	my %plan = (
		constant => ask('EXPLAIN (COSTS OFF) ' . $find->("'$id'")),
		generic => ask('SET plan_cache_mode = force_generic_plan; PREPARE find(uuid) AS '
			  . $find->('$1') . "; EXPLAIN (COSTS OFF) EXECUTE find('$id')"));
	is(scalar(() = $plan{$_} =~ /Scan/g), $expected,
		"created_near, $_: partitions of 365 that are read at $at: $expected") for sort keys %plan;
	like($plan{generic}, qr/Subplans Removed: @{[ 365 - $expected ]}/,
		"created_near, generic: the others are removed when the query begins, $at");
}

# --- pg_partman -------------------------------------------------------------
my ($version) = split /\n/, ask(q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'});
my ($major, $minor) = ($version // 0) =~ /^(\d+)(?:\.(\d+))?/;

sub at_least { return $major > 5 || $major == 5 && $minor >= shift }

SKIP:
{
	skip 'pg_partman 5.2 or later is not installed', 1 unless at_least(2);
	note("pg_partman $version");

	my ($visits, $calls) = $recipe->blocks('pg_partman');
	my ($setup, $retention) = $visits =~ /^(.*?)^(UPDATE.*)/ms;
	my ($maintain, $move_default) = $calls =~ /^(CALL.*?)^(SELECT.*)/ms;

	# The number of rows that are not in the partition named after their day, and the days of all partitions
	my $misplaced = q{SELECT count(*) FROM visits
		WHERE tableoid::regclass::text NOT IN ('visits_default',
			'visits_p' || to_char(idgen.uuid_timestamp(id), 'YYYYMMDD'))};
	my $days = q{SELECT string_agg(right(relid::text, 8), ' ' ORDER BY relid::text) FROM pg_partition_tree('visits')
		WHERE isleaf AND relid::text !~ 'default'};

	ask("BEGIN; $setup COMMIT");    # The date does not change within the transaction.
	my ($first) = split / /, ask($days);

	# Return days, counted from the day on which the partitions were created.
	my $days_from = sub { return ask("SELECT string_agg(to_char(date '$first' + 3 + i, 'YYYYMMDD'), ' ')
		FROM generate_series($_[0], $_[1]) i") };
	is(ask($days), $days_from->(-3, 2), 'partitions from three days ago to two days ahead');

	# Insert rows for a month. Some are before or after the range of all partitions.
	ask(qq{INSERT INTO visits SELECT idgen.uuid_v7(timestamptz '$first' - interval '12 days' + i * interval '1 hour')
		FROM generate_series(0, 719) i});
	is(ask($misplaced), 0, 'each row is in the partition of its day, or in the default one');
	is(ask('SELECT count(*) FROM visits_default'), 24 * 24, 'with those for which there is no partition');

  SKIP:
	{
		skip 'partition_data_time() knows uuid and text from pg_partman 5.3 on', 1 unless at_least(3);

		# Repeat the statement until there are no rows left to move, as the page describes.
		wait_until(sub { ask($move_default) == 0 }) or die 'it does not end';
		is(ask("SELECT count(*) FROM ONLY visits_default; $misplaced; SELECT count(*) FROM visits"), "0\n0\n720",
			'the default partition is emptied, and no row is lost');
		is(ask($days), $days_from->(-15, 14), 'there is a partition for each day');
	}
	ask('DELETE FROM visits_default');

	# Configure more partitions in advance and a shorter retention, so that maintenance must create and drop partitions.
	$retention =~ s/'30 days'/'2 days'/ or die;
	ask("UPDATE partman.part_config SET premake = 20; $retention");
	ask($maintain);
	my @days = split / /, ask($days);
	cmp_ok($days[0], 'ge', $days_from->(-2, -2), 'old partitions are dropped');
	cmp_ok($days[-1], 'ge', $days_from->(20, 20), 'new ones are made ahead');
	is(ask(q{INSERT INTO visits DEFAULT VALUES RETURNING tableoid::regclass::text ~ '_p\d+$'}), 't',
		'a new row has its partition');

	# Partition by ULIDs with the functions that the page names.
	my ($encoder, $decoder) = $recipe->section('pg_partman') =~ /are `(idgen\.ulid\w+)`\s+and\s+`(.*?)`/;
	my ($clicks) = $setup =~ /(CREATE TABLE.*)/s;
	ask($clicks =~ s/public\.visits/public.clicks/gr =~ s/id uuid/id text COLLATE "C"/r
	  =~ s/idgen\.uuid_v7\(\)/idgen.ulid()/r
		  =~ s/idgen\.uuid_v7_floor/$encoder/r =~ s/idgen\.uuid_text_timestamp/$decoder/r);
	is(ask(q{INSERT INTO clicks DEFAULT VALUES
		RETURNING tableoid::regclass::text = 'clicks_p' || to_char(idgen.ulid_timestamp(id), 'YYYYMMDD')}),
		't', 'a row with a ULID, too');
}

done_testing();
