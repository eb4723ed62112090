# The keys of a table and of two tables that refer to it change while pgbench runs
# an old and a new application: "Tables with foreign keys" of docs/recipes.md, whose
# SQL this is. No transaction fails, all rows have both keys, and the change waits
# for an idle transaction without making the application wait.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use Server;

my $page = Page->new('recipes');
my $heading = 'Tables with foreign keys';
my ($tables, $procedures, $parent, $children, $primary_key, $end) = $page->blocks($heading);
my ($way_back) = $page->blocks($heading, 'text');

my $node = start_server('keys_in_use', "idgen.node_id = 1\nlog_statement = none");

# What an application does: a parcel with its children, which are found by the
# parcel's key and deleted with it; and a scan of an older parcel, child before parent.
my $folder = PostgreSQL::Test::Utils::tempdir();

sub application
{
	my ($name, $key) = @_;
	append_to_file("$folder/$name.sql", qq{
\\set many random(1, 3)
\\set place random(0, 900)
BEGIN;
INSERT INTO parcels DEFAULT VALUES RETURNING $key AS parcel \\gset
INSERT INTO scans (place, parcel_$key) SELECT '$name', :parcel FROM generate_series(1, :many);
INSERT INTO claims (parcel_$key) VALUES (:parcel);
END;
UPDATE claims SET amount = 1 WHERE parcel_$key = :parcel;
\\if :many = 3
DELETE FROM parcels WHERE $key = :parcel;
\\else
SELECT $key AS older FROM parcels WHERE created_at < now() - interval '30 minutes' LIMIT 1 OFFSET :place \\gset
BEGIN;
INSERT INTO scans (place, parcel_$key) VALUES ('$name', :older);
UPDATE claims SET parcel_$key = :parcel WHERE parcel_$key = :older;
UPDATE claims SET parcel_$key = NULL WHERE parcel_$key = :parcel AND amount = 1;
UPDATE parcels SET note = '$name' WHERE $key = :older;
END;
\\endif
});
	return "$folder/$name.sql";
}

sub start
{
	my ($database, $name, $script, $clients) = @_;
	my $load = { out => '', name => $name };
	$load->{harness} = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', "--client=$clients", '--jobs=1', '--protocol=prepared', '--time=100000', '--rate=200', "--file=$script", $node->connstr($database) ],
		'>&', \$load->{out}, IPC::Run::timeout(2 * $PostgreSQL::Test::Utils::timeout_default));
	return $load;
}

# SIGALRM is the end of pgbench's time: each client finishes its transaction.
sub stop
{
	my ($load) = @_;
	$load->{harness}->signal('ALRM');
	my $ended = $load->{harness}->finish;
	my ($processed) = $load->{out} =~ /actually processed: (\d+)/;
	ok($ended, "$load->{name}: no client was aborted") or diag($load->{out});
	like($load->{out}, qr/number of failed transactions: 0 /, "$load->{name}: none of " . ($processed // 0) . ' transactions failed');
	return $processed // 0;
}

# Wait until the applications have inserted that many parcels more.
sub wait_for_parcels
{
	my ($database, $many) = @_;
	my $from = ask('SELECT last_value FROM parcel_counter', $database);
	$node->poll_query_until($database, "SELECT last_value >= $from + $many FROM parcel_counter") or die 'the applications make no progress';
}

sub change_keys
{
	my ($database, %with) = @_;
	my $substitute = sub { my ($sql) = @_; $with{substitute}->() for $sql; return $sql };
	my $query = sub { return $node->safe_psql($database, @_) };
	my $messages = '';
	my $processed = 0;

	# Each block is pasted while the applications go on.
	my $run = sub {
		my ($sql, $what) = @_;
		my $stderr = errors($substitute->($sql), database => $database, options => '-c client_min_messages=debug1');
		unlike($stderr, qr/ERROR:  |FATAL:  /, "$database: $what");
		$messages .= $stderr;
		wait_for_parcels($database, 100);
	};

	ask("CREATE DATABASE $database");
	$query->('CREATE EXTENSION idgen; CREATE SEQUENCE parcel_counter');
	$query->($substitute->($tables) . $procedures);
	$query->(q{CREATE FUNCTION count_parcel() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''parcel_counter''); RETURN NEW; END';
		CREATE TRIGGER count_parcel BEFORE INSERT ON parcels FOR EACH ROW EXECUTE FUNCTION count_parcel(); SELECT nextval('parcel_counter')});
	my $file = $query->(q{SELECT pg_relation_filenode('parcels')});
	$query->('CREATE TABLE old_keys AS SELECT id FROM parcels');

	my $old = start($database, "$database, old application", $with{old}, 4);
	wait_for_parcels($database, 100);

	# An idle transaction that has used a table
	my $idle = session(database => $database);
	$idle->ask('BEGIN; LOCK TABLE parcels IN ACCESS SHARE MODE');
	my $change = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr($database), '-c', "CALL with_locks('parcels', 'SELECT 1')" ],
		'>', '/dev/null', '2>', \my $errors);
	$node->poll_query_until($database, q{SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock')});
	wait_for_parcels($database, 200);
	is($query->(q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL with_locks%' AND pid <> pg_backend_pid()}), 1,
		"$database: a change waits for an idle transaction, the application does not");
	$idle->ask('COMMIT');
	$idle->quit;
	$change->finish;
	like($errors, qr/NOTICE:  attempt \d+: [\d.]+ ms/, "$database: then it is made") and note($errors);

	$run->($parent, 'the parent has new keys');
	is($query->(q{SELECT pg_relation_filenode('parcels')}), $file, "$database: it was not rewritten");
	is($query->($with{filled}), 't', "$database: old rows have the keys that were asked for");
	$run->($children, 'the children refer to them');
	my $new = start($database, "$database, new application", $with{new}, 4);
	$node->poll_query_until($database, q{SELECT count(*) >= 100 FROM scans WHERE place = 'new'}) or die 'the new application makes no progress';
	$run->($primary_key, 'the primary key is the new one');
	like($messages, qr/existing constraints on column "$_" are sufficient to prove/, "$database: SET NOT NULL of $_ reads no rows")
	  for qw(parcels.uid scans.parcel_uid);
	is( $query->(q{SELECT string_agg(pg_get_constraintdef(oid), '; ' ORDER BY conname) FROM pg_constraint WHERE conrelid = 'parcels'::regclass AND contype = 'p'}),
		'PRIMARY KEY (uid)', "$database: on the new column");

	# Each transaction of pgbench inserts one parcel.
	my $least = $with{least} // 500;
	$node->poll_query_until($database, "SELECT last_value > $least FROM parcel_counter") or die 'the applications make no progress';
	is( $query->(q{
			SELECT (SELECT count(*) FROM parcels WHERE id IS NULL OR uid IS NULL),
				   (SELECT count(*) FROM scans c LEFT JOIN parcels p ON p.id = c.parcel_id AND p.uid = c.parcel_uid WHERE p.id IS NULL),
				   (SELECT count(*) FROM claims c LEFT JOIN parcels p ON p.id = c.parcel_id AND p.uid = c.parcel_uid
					WHERE p.id IS NULL AND (c.parcel_id, c.parcel_uid) IS DISTINCT FROM (NULL, NULL)),
				   (SELECT count(*) FROM old_keys LEFT JOIN parcels p USING (id) WHERE p.uid IS NULL)}),
		'0|0|0|0', "$database: no row is lost, each has both keys, and they are of one parcel");

	my $finished = $with{back} ? $old : $new;
	$processed += stop($with{back} ? $new : $old);
	$run->($with{back} ? $way_back : $end, $with{back} ? 'the way back' : 'the old columns are gone');
	$processed += stop($finished);
	cmp_ok($processed, '>=', $least, "$database: $processed transactions in all");
	is( $query->(q{SELECT string_agg(conrelid::regclass || ' ' || pg_get_constraintdef(oid), '; ' ORDER BY conname)
				   FROM pg_constraint WHERE contype IN ('p', 'f') AND (conrelid = 'parcels'::regclass OR confrelid = 'parcels'::regclass)}),
		$with{back}
		? 'claims FOREIGN KEY (parcel_id) REFERENCES parcels(id) ON DELETE SET NULL; parcels PRIMARY KEY (id); scans FOREIGN KEY (parcel_id) REFERENCES parcels(id) ON DELETE CASCADE'
		: 'claims FOREIGN KEY (parcel_uid) REFERENCES parcels(uid) ON DELETE SET NULL; parcels PRIMARY KEY (uid); scans FOREIGN KEY (parcel_uid) REFERENCES parcels(uid) ON DELETE CASCADE',
		"$database: the constraints are those of one key");

	my @locked = sort { $a <=> $b } $messages =~ /NOTICE:  \w+: attempt \d+: ([\d.]+) ms/g;
	is(scalar @locked, 6, "$database: six changes under locks");
	note("$database: locks requested and held for at most $locked[-1] ms");
}

my %application = (old => application('old', 'id'), new => application('new', 'uid'));

change_keys('from_bigserial',
	%application,
	least => 2000,
	substitute => sub { },
	filled => q{SELECT bool_and(idgen.uuid_timestamp(uid) = date_trunc('milliseconds', created_at)) FROM parcels JOIN old_keys USING (id)});

change_keys('from_random_uuids',
	%application,
	back => 1,
	substitute => sub { s/id bigserial PRIMARY KEY, created_at/id uuid PRIMARY KEY DEFAULT gen_random_uuid(), created_at/; s/parcel_id bigint/parcel_id uuid/g; s/idgen\.uuid_v7\((created_at)?\)/idgen.short_comb()/g },
	filled => q{SELECT bool_and(idgen.is_recent_short_comb(uid, '1 day')) FROM parcels});

change_keys('from_serial',
	%application,
	substitute => sub { s/id bigserial PRIMARY KEY, created_at/id serial PRIMARY KEY, created_at/; s/parcel_id bigint/parcel_id int/g; s/uid uuid/uid bigint/g; s/DEFAULT idgen\.uuid_v7\(\)/DEFAULT idgen.snowflake()/; s/'idgen\.uuid_v7\(created_at\)'/'id'/ },
	filled => q{SELECT bool_and(uid = id) FROM parcels JOIN old_keys USING (id)});

like(errors('CREATE TABLE t (a int); PREPARE p AS SELECT * FROM t; EXECUTE p; ALTER TABLE t ADD b int; EXECUTE p'),
	qr/cached plan must not change result type/, 'a prepared SELECT * fails after ADD COLUMN');

done_testing();
