# The advisor on a server at work: who may ask, how much it reads, that it can
# be cancelled, that it reads where nothing can be written, and that what it
# estimates is what a full count finds.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 1_000_000;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# checkpoints come when the test asks for them; no statistics change behind it
$primary->append_conf('postgresql.conf', q{
	autovacuum = off
	checkpoint_timeout = 1h
	max_wal_size = 10GB
	fsync = off});
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $version = $primary->safe_psql('postgres', 'SHOW server_version_num');

sub outcome
{
	my ($node, $query, $role) = @_;
	my ($found, $errors);

	$node->psql(
		'postgres', $query,
		stdout => \$found,
		stderr => \$errors,
		extra_params => [ '--set=VERBOSITY=sqlstate', $role ? ('--username', $role) : () ]);
	return $errors =~ /ERROR:  (\w{5})/ ? $1 : $found;
}

$primary->safe_psql(
	'postgres', qq{
	CREATE EXTENSION idgen_advisor CASCADE;
	CREATE TABLE v4 (id uuid PRIMARY KEY, note int);
	INSERT INTO v4 SELECT idgen.uuid_v4(), i FROM generate_series(1, $rows) i;
	CREATE TABLE v7 (id uuid PRIMARY KEY, note int);
	INSERT INTO v7 SELECT idgen.uuid_v7(), i FROM generate_series(1, $rows / 10) i;
	CREATE UNLOGGED TABLE unlogged (id uuid PRIMARY KEY)});

# What it reads: a few pages for each of the newest rows, and some hundred more,
# of which the million rows have eleven thousand
for my $newest (100, 2000)
{
	my $report = "SELECT key_kind FROM idgen.index_report('v4_pkey', $newest)";
	my ($hit, $read) = outcome($primary, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) $report")
	  =~ /"Shared Hit Blocks": (\d+),\s+"Shared Read Blocks": (\d+)/ or die 'no buffers';

	is(outcome($primary, $report), 'random (UUID v4)', "random keys, by the newest $newest of a million rows");
	cmp_ok($hit + $read, '<', 1000 + 4 * $newest, 'by reading ' . ($hit + $read) . ' pages');
}

# It can be cancelled, among the index's pages as among the rows: until it is
# done within the timeout, whatever that takes
my ($cancelled, $report) = (0, '');
for (my $timeout = 1; $report !~ /random/; $timeout *= 2)
{
	$report = outcome($primary, "SET statement_timeout = $timeout; SELECT key_kind FROM idgen.index_report('v4_pkey', 100000)");
	last unless $report eq '57014';
	$cancelled++;
}
is($report, 'random (UUID v4)', 'in the end, it is done');
cmp_ok($cancelled, '>', 0, "until then, it can be cancelled: $cancelled times");

# Estimates, and a full count
SKIP:
{
	skip 'pgstattuple is not there', 6
	  unless $primary->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'});

	$primary->safe_psql('postgres', 'CREATE EXTENSION pgstattuple');
	for my $table ('v4', 'v7')
	{
		my ($pages, $density, $fragmentation) = split /\|/, $primary->safe_psql(
			'postgres', qq{
			SELECT r.leaf_pages / s.leaf_pages::float8, r.leaf_density - s.avg_leaf_density, r.fragmentation - s.leaf_fragmentation
			FROM idgen.index_report('$table') r, pgstatindex('${table}_pkey') s});

		cmp_ok(abs($pages - 1), '<', 0.02, "leaf pages of $table: 1 to $pages");
		cmp_ok(abs($density), '<', 4, "density of $table: off by $density");
		cmp_ok(abs($fragmentation), '<', 12, "fragmentation of $table: off by $fragmentation");
	}
}

# What it costs, by the rates that the server measured: three checkpoints,
# each after a thousand rows. What sessions of before have counted comes with
# their end.
$primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'});
$primary->safe_psql('postgres', 'SELECT pg_stat_reset(), pg_stat_reset_shared(' . ($version < 170000 ? q{'bgwriter'} : q{'checkpointer'}) . ')');
is(outcome($primary, "SELECT rows_per_second IS NULL, page_images_per_row IS NULL FROM idgen.index_report('v4')"), 't|t', 'without rates, no costs');
for my $round (1 .. 3)
{
	$primary->safe_psql('postgres', "INSERT INTO $_ SELECT idgen.uuid_$_(), i FROM generate_series(1, 1000) i") for ('v4', 'v7');
	$primary->safe_psql('postgres', 'CHECKPOINT');
}
$primary->poll_query_until('postgres', q{SELECT pg_stat_get_tuples_inserted('v4'::regclass) = 3000 AND pg_stat_get_tuples_inserted('v7'::regclass) = 3000});
# the checkpointer tells its count a moment after
my $checkpoints = $version < 170000 ? 'pg_stat_get_bgwriter_requested_checkpoints()' : 'pg_stat_get_checkpointer_num_requested()';
$primary->poll_query_until('postgres', "SELECT $checkpoints = 3");
my ($per_checkpoint, $images, $leaves, $advice) = split /\|/, $primary->safe_psql('postgres',
	q{SELECT rows_per_checkpoint, page_images_per_row, leaf_pages, advice FROM idgen.index_report('v4')});
cmp_ok(abs($per_checkpoint - 1000), '<', 50, "a thousand rows between checkpoints ($per_checkpoint)");
# the share of leaves that are met, summed over their fills, as in docs/performance.md
my $expected = 0;
for my $fill (map { 0.5 + ($_ + 0.5) / 64 } 0 .. 31)
{
	$expected += $leaves / 64 / $fill**2 * (1 - exp(-$per_checkpoint * $fill / ($leaves * log(2)))) / $per_checkpoint;
}
cmp_ok(abs($images / $expected - 1), '<', 0.001, "the full-page images of a row ($images)");
like($advice, qr/^Random keys: each insert meets another leaf page \(0\.[89]\d full-page images a row\)\. New rows with short_comb\(\)/, 'and the advice names them');
($images, $advice) = split /\|/, $primary->safe_psql('postgres', q{SELECT page_images_per_row, advice FROM idgen.index_report('v7')});
cmp_ok($images, '<', 0.005, "ordered keys cost next to none ($images)");
is($advice, 'Keys are time-ordered: nothing to gain.', 'and need no advice');

# Rights
$primary->safe_psql(
	'postgres', q{
	CREATE ROLE reader LOGIN;
	CREATE ROLE id_reader LOGIN;
	CREATE ROLE note_reader LOGIN;
	CREATE ROLE monitor LOGIN IN ROLE pg_stat_scan_tables;
	CREATE ROLE stranger LOGIN;
	GRANT SELECT ON v7 TO reader;
	GRANT SELECT (id) ON v7 TO id_reader;
	GRANT SELECT (note) ON v7 TO note_reader;
	CREATE INDEX v7_part ON v7 (id) WHERE note > 0;
	CREATE INDEX v7_turned ON v7 ((idgen.prefix_to_suffix(id)))});
my $ask = "SELECT key_kind FROM idgen.index_report('v7_pkey')";
is(outcome($primary, $ask, 'reader'), 'UUID v7', 'who reads the table may ask');
is(outcome($primary, "SELECT key_kind FROM idgen.index_report('v7')", 'reader'), 'UUID v7', 'also by its name');
is(outcome($primary, $ask, 'id_reader'), 'UUID v7', 'who reads the column, too');
is(outcome($primary, $ask, 'monitor'), 'UUID v7', 'and who may scan tables for statistics');
is(outcome($primary, $ask, 'note_reader'), '42501', 'not who reads another column');
is(outcome($primary, $ask, 'stranger'), '42501', 'nor who reads nothing');
is(outcome($primary, "SELECT key_kind FROM idgen.index_report('v7_part')", 'id_reader'), '42501', 'a predicate is of more than one column');
is(outcome($primary, "SELECT key_kind FROM idgen.index_report('v7_turned')", 'id_reader'), '42501', 'and an expression of any');
$primary->safe_psql(
	'postgres', q{
	ALTER TABLE v7 ENABLE ROW LEVEL SECURITY;
	CREATE POLICY few ON v7 USING (note > 10)});
is(outcome($primary, $ask, 'reader'), '42501', 'who sees some rows only may not ask');
is(outcome($primary, $ask, 'monitor'), 'UUID v7', 'but who monitors');
is(outcome($primary, $ask), 'UUID v7', 'and the owner');
$primary->safe_psql('postgres', 'ALTER TABLE v7 DISABLE ROW LEVEL SECURITY; DROP INDEX v7_part, v7_turned');

# The code of others: an index owner's functions do not run as the caller. Hers
# raise TRAP0 for every role but herself.
$primary->safe_psql('postgres', 'CREATE ROLE attacker LOGIN; GRANT CREATE ON DATABASE postgres TO attacker');
is( outcome(
		$primary, q{
		SET client_min_messages = warning;
		CREATE SCHEMA hers;
		GRANT USAGE ON SCHEMA hers TO id_reader;
		CREATE FUNCTION hers.trap(a int DEFAULT 0, b int DEFAULT 0) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
		BEGIN
			IF current_user <> 'attacker' THEN
				RAISE EXCEPTION 'run as %', current_user USING ERRCODE = 'TRAP0';
			END IF;
			RETURN btint4cmp(a, b);
		END $$;
		CREATE FUNCTION hers.less(a int, b int) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN hers.trap(a, b) < 0;
		CREATE FUNCTION hers.equal(a int, b int) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN hers.trap(a, b) = 0;
		CREATE OPERATOR hers.< (LEFTARG = int, RIGHTARG = int, FUNCTION = hers.less);
		CREATE OPERATOR hers.= (LEFTARG = int, RIGHTARG = int, FUNCTION = hers.equal);
		CREATE TYPE hers.pair AS (a int, b int);
		CREATE FUNCTION hers.trap(a hers.pair, b hers.pair) RETURNS int IMMUTABLE LANGUAGE sql RETURN hers.trap(a.a, b.a);
		CREATE FUNCTION hers.less(a hers.pair, b hers.pair) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN hers.trap(a, b) < 0;
		CREATE FUNCTION hers.equal(a hers.pair, b hers.pair) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN hers.trap(a, b) = 0;
		CREATE OPERATOR hers.< (LEFTARG = hers.pair, RIGHTARG = hers.pair, FUNCTION = hers.less);
		CREATE OPERATOR hers.= (LEFTARG = hers.pair, RIGHTARG = hers.pair, FUNCTION = hers.equal);
		CREATE TYPE hers.mood AS ENUM ('happy', 'sad')}, 'attacker'),
	'', 'a role with CREATE on the database sets traps');
# a superuser who makes operator classes of them helps
$primary->safe_psql(
	'postgres', q{
	CREATE OPERATOR CLASS hers.int_ops FOR TYPE int USING btree AS
		OPERATOR 1 hers.<, OPERATOR 3 hers.=, FUNCTION 1 hers.trap(int, int);
	CREATE OPERATOR CLASS hers.pair_ops DEFAULT FOR TYPE hers.pair USING btree AS
		OPERATOR 1 hers.<, OPERATOR 3 hers.=, FUNCTION 1 hers.trap(hers.pair, hers.pair)});
for my $case (
	[ 'a predicate', '(id) WHERE hers.trap() = 0', 'integer, sequential|f', '42501' ],
	[ 'an expression', '((hers.trap()))', '0A000', '42501' ],
	[ 'an expression behind a column', '(id, (hers.trap()))', '0A000', '0A000' ],
	[ 'an operator class', '(id hers.int_ops)', '0A000', '0A000' ],
	[ 'an operator class behind a column', '(id, note hers.int_ops)', 'integer, sequential|t', 'integer, sequential|t' ],
	[ 'the operator class of a type', '(id, p)', 'integer, sequential|t', 'integer, sequential|t' ],
	[ 'that of a type in an array', '(id, ps)', 'integer, sequential|t', 'integer, sequential|t' ],
	[ 'nothing', '(id, m, note) INCLUDE (p)', 'integer, sequential|f', 'integer, sequential|f' ])
{
	my ($what, $index, $superuser, $reader) = @$case;

	is( outcome(
			$primary, qq{
			SET client_min_messages = warning;
			DROP TABLE IF EXISTS hers.t;
			CREATE TABLE hers.t (id int, note int, m hers.mood, p hers.pair, ps hers.pair[]);
			INSERT INTO hers.t SELECT i / 2, i, 'sad', (1, i)::hers.pair, ARRAY[(1, i)::hers.pair] FROM generate_series(1, 1000) i;
			GRANT SELECT (id) ON hers.t TO id_reader;
			CREATE INDEX i ON hers.t $index}, 'attacker'),
		'', "a trap in $what");
	my $ask_her = q{SELECT key_kind, newest_leaf_share IS NULL FROM idgen.index_report('hers.i')};
	is(outcome($primary, $ask_her), $superuser, 'a superuser does not run it');
	is(outcome($primary, $ask_her, 'id_reader'), $reader, 'nor does a reader of the column');
	is(outcome($primary, 'SELECT FROM hers.t WHERE id = 7 ORDER BY id'), 'TRAP0', 'where a query does')
	  if $what eq 'a predicate' || $what eq 'an expression';
}

# A schema is closed, whatever the rights on its tables
my $hidden = $primary->safe_psql('postgres', q{
	CREATE TABLE hers.hidden (id uuid PRIMARY KEY);
	REVOKE ALL ON SCHEMA hers FROM PUBLIC;
	GRANT SELECT ON hers.hidden TO reader;
	GRANT USAGE ON SCHEMA hers TO note_reader;
	SELECT 'hers.hidden'::regclass::oid, 'hers.hidden_pkey'::regclass::oid});
is(outcome($primary, 'SELECT idgen.index_report(' . $primary->safe_psql('postgres', q{SELECT 'hers.t'::regclass::oid}) . ')', 'reader'),
	'42501', 'without USAGE on the schema, a role does not learn that a table has no primary key');
for my $oid (split /\|/, $hidden)
{
	my $ask_hidden = "SELECT key_kind FROM idgen.index_report($oid)";

	is(outcome($primary, $ask_hidden, 'reader'), '42501', 'nor may a reader of the table ask');
	is(outcome($primary, $ask_hidden, 'monitor'), '42501', 'nor may who monitors');
	is(outcome($primary, $ask_hidden, 'note_reader'), '42501', 'USAGE alone is not enough');
	is(outcome($primary, $ask_hidden), 'unknown (too few rows)', 'a superuser may');
}
$primary->safe_psql('postgres', 'GRANT USAGE ON SCHEMA hers TO reader');
is(outcome($primary, "SELECT key_kind FROM idgen.index_report('hers.hidden')", 'reader'), 'unknown (too few rows)', 'with it, the reader may');

# Nothing is written
is(outcome($primary, "BEGIN READ ONLY; $ask"), 'UUID v7', 'in a read-only transaction');
$primary->wait_for_catchup($standby);
is(outcome($standby, $ask), 'UUID v7', 'on a standby');
is(outcome($standby, "SELECT page_images_per_row IS NULL FROM idgen.index_report('v7_pkey')"), 't', 'which counts no inserts');
is(outcome($standby, "SELECT key_kind FROM idgen.index_report('unlogged')"), '0A000', 'and has no unlogged tables');

# Another session's temporary table
my $session = $primary->background_psql('postgres');
$session->query_safe('CREATE TEMPORARY TABLE passing (id uuid PRIMARY KEY)');
my $temporary = $primary->safe_psql('postgres', q{SELECT oid FROM pg_class WHERE relname = 'passing_pkey'});
is(outcome($primary, "SELECT idgen.index_report($temporary)"), '0A000', 'a temporary table is for its own session');
$session->quit;

# While rows come and go, and pages with them
$primary->safe_psql('postgres', 'CREATE TABLE busy (id uuid PRIMARY KEY); INSERT INTO busy SELECT idgen.short_comb() FROM generate_series(1, 20000)');
$primary->pgbench(
	'--no-vacuum --client=4 --transactions=60',
	0,
	[qr/processed: 240\/240/],
	[qr/^$/],
	'reports beside inserts, deletes and VACUUM',
	{
		'020_insert@4' => q{INSERT INTO busy SELECT idgen.short_comb('1 second') FROM generate_series(1, 500);},
		'020_delete@3' => q{DELETE FROM busy WHERE id IN (SELECT id FROM busy ORDER BY id LIMIT 2000 FOR UPDATE SKIP LOCKED);},
		'020_vacuum@1' => q{VACUUM busy;},
		'020_report@4' => q{SELECT 1 / (key_kind IS NOT NULL)::int FROM idgen.index_report('busy', 500);}
	});

$standby->stop;
$primary->stop;
done_testing();
