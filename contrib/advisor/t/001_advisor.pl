# Verify index_report() on a server in use: the privileges that it requires, the number of pages that it reads,
# cancellation, and the accuracy of its estimates. The test also executes the monitoring queries in docs/running.md,
# and installs, dumps and restores the extension.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Page;
use Server;

my $rows = 1_000_000;
my $node = init_server('advisor', "autovacuum = off\ncheckpoint_timeout = 1h\nmax_wal_size = 10GB");
$node->start;

sub placement
{
	my ($index, $role) = @_;
	return outcome("SELECT placement FROM idgen.index_report('$index')", user => $role);
}

ask(qq{
	CREATE EXTENSION idgen_advisor CASCADE;
	CREATE TABLE v4 (id uuid PRIMARY KEY, note int);
	INSERT INTO v4 SELECT idgen.uuid_v4(), i FROM generate_series(1, $rows) i;
	CREATE TABLE v7 (id uuid PRIMARY KEY, note int);
	INSERT INTO v7 SELECT idgen.uuid_v7(), i FROM generate_series(1, $rows / 10) i});

# The report reads up to 2,000 of the million-row table's 11,000 pages, and some catalog pages. The first call in a
# session reads more catalog pages, so measure the second one.
my $measure = q{SELECT placement FROM idgen.index_report('v4_pkey')};
my ($hit, $read) = outcome("$measure;
	EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) $measure")
  =~ /"Shared Hit Blocks": (\d+),\s+"Shared Read Blocks": (\d+)/ or die 'no buffers';
is(outcome($measure), 'scattered', 'a report on a million rows');
cmp_ok($hit + $read, '<', 2100, 'reads ' . ($hit + $read) . ' pages');

# A report can be canceled while it reads pages and rows. The timeout is doubled until the report finishes in time.
my ($canceled, $report) = (-1, '57014');
for (my $timeout = 1; $report eq '57014'; $timeout *= 2)
{
	$report = outcome("SET statement_timeout = $timeout; $measure");
	$canceled++;
}
is($report, 'scattered', 'a report is finished in the end');
cmp_ok($canceled, '>', 0, "a report can be canceled: $canceled times");

# Compare the estimates from a sample with a full count.
SKIP:
{
	skip 'pgstattuple is not installed', 1
	  unless outcome(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'});
	is(ask(q{CREATE EXTENSION pgstattuple;
		SELECT abs(r.leaf_pages / s.leaf_pages::float8 - 1) < 0.02, abs(100 * r.leaf_density - s.avg_leaf_density) < 4
		FROM idgen.index_report('v4') r, pgstatindex('v4_pkey') s}), 't|t', 'leaf pages and density are those counted');
}

# Check which privileges a report requires.
ask(q{
	CREATE ROLE reader LOGIN;
	CREATE ROLE id_reader LOGIN;
	CREATE ROLE note_reader LOGIN;
	CREATE ROLE scanner LOGIN IN ROLE pg_stat_scan_tables;
	CREATE ROLE stranger LOGIN;
	GRANT SELECT ON v7 TO reader;
	GRANT SELECT (id) ON v7 TO id_reader;
	GRANT SELECT (note) ON v7 TO note_reader;
	CREATE INDEX v7_part ON v7 (id) WHERE note > 0;
	CREATE INDEX v7_turned ON v7 ((idgen.comb_to_suffix_comb(id)))});
for (
	[ 'SELECT on the table', 'reader', 'v7_pkey', 'ordered' ], [ '... for its name', 'reader', 'v7', 'ordered' ],
	[ 'SELECT on the column', 'id_reader', 'v7_pkey', 'ordered' ],
	[ '... for a partial index', 'id_reader', 'v7_part', '42501' ],
	[ '... for one on an expression', 'id_reader', 'v7_turned', '42501' ],
	[ 'SELECT on another column', 'note_reader', 'v7_pkey', '42501' ], [ 'no right', 'stranger', 'v7_pkey', '42501' ],
	[ 'pg_stat_scan_tables', 'scanner', 'v7_pkey', 'ordered' ])
{
	my ($right, $role, $index, $outcome) = @$_;
	is(placement($index, $role), $outcome, "a role with $right: $outcome");
}
ask('ALTER TABLE v7 ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON v7 USING (note > 10)');
is_deeply([ map { placement('v7_pkey', $_) } 'reader', 'scanner', undef ], [qw(42501 ordered ordered)],
	'a policy that hides rows stops a role with SELECT, but neither pg_stat_scan_tables nor the owner');
is(outcome(q{BEGIN READ ONLY; SELECT placement FROM idgen.index_report('v7')}), 'ordered',
	'in a read-only transaction');

# Functions of the index's owner are not executed with the privileges of the caller. The functions of the role
# "attacker" raise TRAP0 for every other role.
ask('CREATE ROLE attacker LOGIN; GRANT CREATE ON DATABASE postgres TO attacker');
is(outcome(q{
		CREATE SCHEMA hers;
		GRANT USAGE ON SCHEMA hers TO id_reader;
		CREATE TYPE hers.mood AS ENUM ('happy', 'sad');
		CREATE TYPE hers.pair AS (a int, b int);
		CREATE FUNCTION hers.trap(a hers.pair DEFAULT NULL, b hers.pair DEFAULT NULL) RETURNS int
			IMMUTABLE LANGUAGE plpgsql AS $$
		BEGIN
			IF current_user <> 'attacker' THEN
				RAISE EXCEPTION 'run as %', current_user USING ERRCODE = 'TRAP0';
			END IF;
			RETURN coalesce(btint4cmp((a).a, (b).a), 0);
		END $$;
		CREATE FUNCTION hers.less(hers.pair, hers.pair) RETURNS boolean IMMUTABLE
			LANGUAGE sql RETURN hers.trap($1, $2) < 0;
		CREATE FUNCTION hers.equal(hers.pair, hers.pair) RETURNS boolean IMMUTABLE
			LANGUAGE sql RETURN hers.trap($1, $2) = 0;
		CREATE OPERATOR hers.< (LEFTARG = hers.pair, RIGHTARG = hers.pair, FUNCTION = hers.less);
		CREATE OPERATOR hers.= (LEFTARG = hers.pair, RIGHTARG = hers.pair, FUNCTION = hers.equal)},
		user => 'attacker'),
	'', 'a role with CREATE on the database makes the functions');
# Only a superuser can create operator classes.
ask(q{CREATE OPERATOR CLASS hers.pair_ops DEFAULT FOR TYPE hers.pair USING btree AS
	OPERATOR 1 hers.<, OPERATOR 3 hers.=, FUNCTION 1 hers.trap(hers.pair, hers.pair)});
for my $case (
	[ 'a predicate', '(id) WHERE hers.trap() = 0', 'unknown', '42501' ],
	[ 'an expression behind a column', '(id, (hers.trap()))', 'unknown', '42501' ],
	[ 'the operator class of a type', '(id, p)', 'unknown', '42501' ],
	[ 'that of a type in an array', '(id, ps)', 'unknown', '42501' ],
	[ 'no function', '(id, m) INCLUDE (p)', 'ordered', '42501' ],
	[ 'one column', '(id) INCLUDE (p)', 'ordered', 'ordered' ])
{
	my ($what, $index, $superuser, $reader) = @$case;
	is(outcome(qq{
			SET client_min_messages = warning;
			DROP TABLE IF EXISTS hers.t;
			CREATE TABLE hers.t (id int, m hers.mood, p hers.pair, ps hers.pair[]);
			INSERT INTO hers.t SELECT i / 2, 'sad', (1, i)::hers.pair, ARRAY[(1, i)::hers.pair]
				FROM generate_series(1, 3000) i;
			GRANT SELECT (id) ON hers.t TO id_reader;
			CREATE INDEX i ON hers.t $index}, user => 'attacker'),
		'', "an index with $what");
	is(placement('hers.i'), $superuser, 'a superuser does not run the function');
	is(placement('hers.i', 'id_reader'), $reader, 'a role with SELECT on the first column does not either');
	is(outcome('SELECT FROM hers.t WHERE id = 7 ORDER BY id'), 'TRAP0', 'a query runs it') if $what =~ /predicate/;
}

# USAGE on the schema is required in addition to privileges on its tables. No error reveals whether there is a key.
my @hidden = split /\|/, ask(q{
	CREATE TABLE hers.hidden (id uuid PRIMARY KEY);
	REVOKE ALL ON SCHEMA hers FROM PUBLIC;
	GRANT SELECT ON hers.hidden TO reader;
	GRANT USAGE ON SCHEMA hers TO note_reader;
	SELECT 'hers.t'::regclass::oid, 'hers.hidden'::regclass::oid, 'hers.hidden_pkey'::regclass::oid});
for my $role ('reader', 'scanner', 'note_reader')
{
	is_deeply([ map { placement($_, $role) } @hidden[ 1, 2 ] ], [ ('42501') x 2 ], "$role lacks USAGE, or SELECT");
}
is(placement($hidden[0], 'reader'), '42501', 'a role does not learn that a table has no primary key');
ask('GRANT USAGE ON SCHEMA hers TO reader');
is(placement('hers.hidden', 'reader'), 'unknown', 'a role with USAGE and SELECT can');

# Check the temporary table of another session.
my $session = session();
$session->ask('CREATE TEMPORARY TABLE passing (id uuid PRIMARY KEY)');
is(placement(outcome(q{SELECT oid FROM pg_class WHERE relname = 'passing_pkey'})), '0A000',
	'a temporary table of another session is an error');
$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; TABLE passing');
ask('CREATE TABLE newer (id int PRIMARY KEY)');
like($session->ask(q{SELECT idgen.index_report('newer')}), qr/^55000$/,
	'an index that is newer than the snapshot is an error');

# Check relations that another session is creating: the report waits for its transaction.
my @fresh = $session->ask(q{ROLLBACK;
	BEGIN; CREATE TABLE fresh (id int PRIMARY KEY, note int); CREATE INDEX ON fresh (note);
	SELECT 'fresh'::regclass::oid, 'fresh_pkey'::regclass::oid, 'fresh_note_idx'::regclass::oid}) =~ /(\d+)/g;
my @waiting = map { session(user => 'reader') } @fresh;
my $control = session();
$waiting[$_]->send_blocked($control, "SELECT idgen.index_report($fresh[$_])") for 0 .. $#fresh;
$session->ask('COMMIT');
is(join(' ', map { $_->answer } @waiting), '42809 42P01 42P01', 'relations that are being created are errors');
is(placement($fresh[2]), 'unknown', '... and later they are not');
$_->quit for @waiting, $control;
$session->quit;

# Check reports during concurrent inserts, deletions and VACUUM.
ask('CREATE TABLE busy (id uuid PRIMARY KEY);
	INSERT INTO busy SELECT idgen.short_comb() FROM generate_series(1, 20000)');
$node->pgbench(
	'--no-vacuum --client=4 --transactions=60',
	0,
	[qr/processed: 240\/240/],
	[qr/^$/],
	'reports during inserts, deletions and VACUUM',
	{
		'020_insert@4' => q{INSERT INTO busy SELECT idgen.short_comb('1 second') FROM generate_series(1, 500);},
		'020_delete@3' => q{DELETE FROM busy
			WHERE id IN (SELECT id FROM busy ORDER BY id LIMIT 2000 FOR UPDATE SKIP LOCKED);},
		'020_vacuum@1' => q{VACUUM busy;},
		'020_report@4' => q{SELECT 1 / (placement IS NOT NULL)::int FROM idgen.index_report('busy', 500);}
	});

# Execute the monitoring queries in docs/running.md as the role that the page creates.
ask(q{
	REVOKE ALL ON SCHEMA public FROM PUBLIC;
	CREATE SCHEMA hidden;
	CREATE TABLE hidden.rows (id uuid PRIMARY KEY);
	INSERT INTO hidden.rows SELECT idgen.uuid_v4() FROM generate_series(1, 400000)});
my ($setup, $queries) = Page->new('running')->blocks('Monitoring');
ask($setup);
my ($said, $errors) = psql_said("\\set ON_ERROR_STOP off\n$queries", user => 'monitor');
is($errors, '', 'each query works for the role that monitors');
like($said, qr/^v4_pkey\|.*\|1$/m, 'it sees how many indexes it cannot read');
like($said, qr/^hidden\.rows_pkey\|.*not read: permission denied for schema hidden\|1$/m, '... and which');
is(ask('SELECT count(*) FROM idgen.index_reports(0) WHERE index_name < 16384'), '0',
	'without those of system catalogs');
is(outcome('TABLE v4', user => 'monitor'), '42501', 'and reads no rows');

# Both extensions are trusted. idgen does not need the files of idgen_advisor.
ask(q{
	CREATE DATABASE owned;
	CREATE ROLE installer LOGIN;
	GRANT CREATE ON DATABASE owned TO installer});
my $extensions = q{SELECT string_agg(extname, ' ' ORDER BY extname COLLATE "C") FROM pg_extension
	WHERE extname LIKE 'idgen%'};
my $used = q{SELECT r.placement, (idgen.expected_key_cost('random', 1000000, 1000)).images_per_row > 0, p.key
	FROM idgen.index_report('things') r, idgen.key_plan(100, '1 day') p WHERE p.recommended};

sub in_owned { my ($sql) = @_; return outcome($sql, user => 'installer', database => 'owned') }

is(in_owned('CREATE EXTENSION idgen_advisor'), '42704', 'idgen_advisor requires idgen');
is(in_owned("CREATE EXTENSION idgen; $extensions"), 'idgen', 'a role with CREATE on the database creates idgen alone');
is(in_owned("CREATE EXTENSION idgen_advisor; DROP EXTENSION idgen_advisor, idgen;
	CREATE EXTENSION idgen_advisor CASCADE; $extensions"), 'idgen idgen_advisor',
	'it creates and drops idgen_advisor, and creates both with CASCADE');
my $members = q{FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	JOIN pg_extension e ON d.refobjid = e.oid WHERE d.deptype = 'e' AND extname = 'idgen_advisor'};
is(in_owned("SELECT count(*), count(obj_description(p.oid, 'pg_proc')) $members"), '11|11',
	'all functions have comments');
is(in_owned(q{SELECT format('PREPARE %I AS SELECT idgen.%1$I(%s)', proname,
		(SELECT string_agg('$' || n, ', ') FROM generate_series(1, pronargs) n))} . " $members \\gexec"),
	'', 'a client can call each with parameters that have no type');

ask('CREATE TABLE things (id uuid PRIMARY KEY); INSERT INTO things SELECT idgen.uuid_v7() FROM generate_series(1, 200)',
	'owned');
dump_and_restore('plain', 'owned', 'restored');
is(ask($used, 'restored'), 'unknown|t|keyed_comb()', 'the functions work in the restored database');
is(in_owned('DROP EXTENSION idgen'), '2BP01', 'idgen is not dropped while idgen_advisor requires it');
is(in_owned("DROP EXTENSION idgen CASCADE; $extensions"), '', 'with CASCADE it is');

done_testing();
