# Partitions by a uuid_v7() (other keys: sql/within.sql, sql/within_numbers.sql), by creation
# time, and with pg_partman 5.2 or later, where it is installed. Every row is in the
# partition of its time, and a query reads no other. The SQL is that of docs/recipes.md.

use Page;
use Server;

start_server('partitions', "autovacuum = off\ntimezone = 'UTC'");
my $recipe = Page->new('recipes');

# --- Declarative partitions -------------------------------------------------
my ($create) = $recipe->blocks('Partitions by time');
my ($tables, $explain) = $create =~ /^(.*)^(EXPLAIN.*)/ms;

is( ask($tables),
	"measurements_2026_10|2026-10-31 23:59:59.999+00|3.5\nmeasurements_2026_11|2026-11-01 00:00:00+00|3.4",
	'the bounds are half-open: a row is in the partition of its millisecond');
is( ask($explain) =~ s/^/ /mgr =~ s/^ +(Recheck|Index|Filter|->  Bitmap Index).*\n?//mgr =~ s/\s+$//r,
	($recipe->section('Partitions by time') =~ /^```text\n(.*?)^```/ms)[0] =~ s/\s+$//r,
	'a query for a range of time has the plan of the page');

is($recipe->outcome('INSERT INTO measurements VALUES (gen_random_uuid())'), '23514 measurements_id_check',
	'a random key is refused');
# Row-level security and views with security_barrier do not keep a range from the index.
ask(q{CREATE ROLE reader; CREATE TABLE guarded (id uuid PRIMARY KEY, ulid text COLLATE "C" UNIQUE, owner name);
	GRANT SELECT ON guarded TO reader;
	ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON guarded USING (owner = current_user);
	CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM guarded WHERE owner = current_user;
	GRANT SELECT ON barrier TO reader});
for my $range (map { "idgen.$_, now() - interval '1 hour')" } 'uuid_v7_within(id', 'ulid_within(ulid')
{
	for my $select (map { "EXPLAIN (COSTS OFF) SELECT * FROM $_" } 'guarded', 'barrier')
	{
		my $plan = ask("SET enable_seqscan = off; SET ROLE reader; $select WHERE $range");
		like($plan, qr/\A(?!.*Subquery Scan).*Index Cond: .*_floor\(/s, "$range is an index condition: $select");
	}
}

# --- Partitions by creation time --------------------------------------------
my ($shipments) = $recipe->blocks('Partitions by creation time');

ask($shipments);
like(ask($shipments =~ /^(EXPLAIN .*)/ms), qr/\A(?!.*(_2026_10|_default)).*shipments_2026_11/s,
	'created_near: a query for an id reads only its partition');

# 365 partitions of a day, and rows of clients whose clocks are wrong by up to 15 minutes
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

	# The page has version 7. The same for ULIDs, with the functions that it names
	my ($visits, $calls) = $recipe->blocks('pg_partman');
	my ($encoder, $decoder) = $recipe->prose('pg_partman') =~ /are `(.*?)` and `(.*?)`/;
	my ($once, $setup, $retention) = $visits =~ /^(.*?)^(CREATE TABLE.*?)^(UPDATE.*)/ms;
	my $clicks = $setup =~ s/public\.visits/public.clicks/gr =~ s/id uuid/id text COLLATE "C"/r
	  =~ s/idgen\.uuid_v7\(\)/idgen.ulid()/r
	  =~ s/idgen\.uuid_v7_floor/$encoder/r =~ s/idgen\.uuid_text_timestamp/$decoder/r;
	my ($maintain, $move_default) = $calls =~ /^(CALL.*?)^(SELECT.*)/ms;
	my $maintain_both = $retention =~ s/= 'public\.visits'/IN ('public.visits', 'public.clicks')/r . $maintain;
	my %time_of = (visits => 'idgen.uuid_timestamp(id)', clicks => 'idgen.ulid_timestamp(id)');
	my %id_at = (visits => 'idgen.uuid_v7(instant)', clicks => 'idgen.ulid_from_uuid(idgen.uuid_v7(instant))');

	# The rows that are not in the partition whose name is their day, and the days of the partitions
	my $misplaced = sub {
		my ($table) = @_;
		ask("SELECT count(*) FROM $table
			WHERE tableoid::regclass::text
				NOT IN ('${table}_default', '${table}_p' || to_char($time_of{$table}, 'YYYYMMDD'))");
	};
	my $days = sub {
		split /\n/, ask("SELECT right(relid::text, 8) FROM pg_partition_tree('$_[0]')
			WHERE isleaf AND relid::text !~ 'default' ORDER BY 1");
	};

	ask("BEGIN; $once $setup $clicks COMMIT");    # on one day
	my $today = ask(q{SELECT date '} . ($days->('visits'))[-1] . q{' - 2});

	# The day some days from that on which the partitions were made
	my $day = sub { return ask("SELECT to_char(date '$today' + $_[0], 'YYYYMMDD')") };
	for my $table (qw(visits clicks))
	{
		is(join(' ', $days->($table)), join(' ', map { $day->($_) } -3 .. 2),
			"$table: partitions from three days ago to two days ahead");

		# Rows of a month: some are before or behind all partitions.
		ask(qq{INSERT INTO $table SELECT $id_at{$table} FROM generate_series(0, 719) i, LATERAL
			(SELECT timestamptz '$today' - interval '15 days' + i * interval '1 hour' AS instant) s});
		is($misplaced->($table), 0, "$table: each row is in the partition of its day, or in the default one");
		is(ask("SELECT count(*) FROM ${table}_default"), 24 * 24, "$table: with those for which there is no partition");
	}

  SKIP:
	{
		skip 'partition_data_time() knows uuid and text from pg_partman 5.3 on', 1 unless at_least(3);

		for my $table (qw(visits clicks))
		{
			my $statement = $move_default =~ s/visits/$table/r;
			my $calls = 0;

			# until there is nothing left to move, as the page says
			while (ask($statement) > 0) { die 'it does not end' if ++$calls > 100 }
			is(ask("SELECT count(*) FROM ONLY ${table}_default"), 0, "$table: the default partition is emptied");
			is($misplaced->($table), 0, "$table: each row is in the partition of its day");
			is(ask("SELECT count(*) FROM $table"), 30 * 24, "$table: none is lost");
			is(join(' ', $days->($table)), join(' ', map { $day->($_) } -15 .. 14),
				"$table: there is a partition for each day");
		}
	}
	ask("DELETE FROM ${_}_default") for qw(visits clicks);

	# What the maintenance has to do is set by data: more partitions ahead, and rows
	# older than the retention.
	$maintain_both =~ s/'30 days'/'2 days'/ or die;
	ask('UPDATE partman.part_config SET premake = 20');
	ask($maintain_both);
	for my $table (qw(visits clicks))
	{
		my @days = $days->($table);

		# the day may have changed since
		like($days[0], qr/^(@{[ join '|', map { $day->($_) } -2 .. 0 ]})$/, "$table: old partitions are dropped");
		is(ask("SELECT count(*) FROM pg_class WHERE relname ~ '^${table}_p' AND relkind = 'r'"), scalar @days,
			"$table: they are dropped, not only detached");
		cmp_ok($days[-1], 'ge', $day->(20), "$table: new ones are made ahead");
		is(ask("INSERT INTO $table DEFAULT VALUES RETURNING tableoid::regclass::text ~ '_p\\d+\$'"), 't',
			"$table: a new row has its partition");
	}
}

done_testing();
