# Verify the advice for tables other than those in 003_zoo.pl, and the reports of index_reports() on all indexes. The
# daily WAL, which is computed from the server's statistics, is compared with index_wal(). If the daily WAL is unknown,
# the report must contain the reason.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Page;
use Server;

my $node = start_server('advice',
	"autovacuum = off\ncheckpoint_timeout=1h\nmax_wal_size=10GB\nwal_keep_size=4GB\nwal_consistency_checking = ''");
ask('CREATE EXTENSION idgen_advisor; CREATE DOMAIN uuid_text AS varchar(36);
	CREATE DOMAIN checked AS uuid CHECK (idgen.uuid_version(VALUE) = 4); CREATE DOMAIN nested AS checked;
	SELECT idgen.create_id_domain(\'acct_2\', \'acct_2\')');

# --- advice -------------------------------------------------------------------------
my ($rows, $v4) = (40_000, 'gen_random_uuid()');
my $new = qr/The newest \d+ rows are on \d+ leaf pages, and keys of/;
my $change = qr/^$new idgen\.keyed_comb\('zoo'\) or idgen\.uuid_v7\(\) would be on few\.$/;
my $change_text = qr/^$new idgen\.keyed_comb\('zoo'\)::text or idgen\.uuid_v7\(\)::text would be on few\.$/;
my $newest = qr/^The newest \d+ rows are on \d+ leaf pages, and/;
sub prefixed { return "idgen.prefixed_id_from_uuid('$_[0]', $_[1])" }
sub change_prefixed
{
	my ($condition) = @_;
	# Without the prefix itself, because members of pg_stat_scan_tables must not see parts of values.
	my @keys = map { "idgen.prefixed_id_from_uuid(prefix, $_)" } q{idgen.keyed_comb('zoo')}, 'idgen.uuid_v7()';
	return qr/$newest \Qkeys of $keys[0] or $keys[1]$condition would be on few.\E$/;
}
my $secret = qr/would be on few\. If the values are secrets, such as tokens, they must stay random\.$/;
my $sparse = qr/^The leaf pages are only \d+ % full, and REINDEX INDEX CONCURRENTLY would save/;
my $empty = qr/^Most pages contain no rows any more, and REINDEX INDEX CONCURRENTLY would save about (?:\d+ [kM]B) of/;
my $none = qr/^$/;
sub filled { my ($values) = @_; return "INSERT INTO %t SELECT $values FROM generate_series(1, $rows) i" }

# Short COMBs at 1 row per 2 minutes, of which the newest 21,600 are kept. They cover 30 of the 45.5 days of a cycle.
my @settled = map { my $first = 2160 * $_;
	(qq{INSERT INTO %t SELECT idgen.short_comb(run_length => 1, clock => 'epoch'::timestamptz + i * interval '2 min'), i
		FROM generate_series($first, $first + 2159) i},
		"DELETE FROM %t WHERE i < $first - 19440", 'VACUUM %t') } 0 .. 49;


# Each case: title, columns, advice or the reason why there is none, statements
for (
	[ 'random keys', 'id uuid PRIMARY KEY', $change, filled($v4) ],
	[ 'random keys and a time', 'id uuid, at timestamptz, PRIMARY KEY (id, at)', $change, filled("$v4, now()") ],
	[ 'random keys and a number', 'id uuid, number int, PRIMARY KEY (id, number)',
		'its first column is not unique, alone or with a time', filled("$v4, i") ],
	[ 'random keys on few pages', 'id uuid PRIMARY KEY', 'the index has at most 100 pages',
		"INSERT INTO %t SELECT $v4 FROM generate_series(1, 10000)" ],
	[ 'random values that are not unique', 'id uuid', 'its first column is not unique, alone or with a time',
		'CREATE INDEX ON %t (id)', filled($v4) ],
	[ 'random keys of another table', 'id uuid UNIQUE',
		'its first column is a foreign key, whose values are those of public.others', filled($v4),
		'CREATE TABLE others AS TABLE %t',
		'ALTER TABLE others ADD UNIQUE (id); ALTER TABLE %t ADD FOREIGN KEY (id) REFERENCES others (id)' ],
	[ 'random keys, not in the WAL', 'id uuid PRIMARY KEY', 'the index is not in the WAL',
		'ALTER TABLE %t SET UNLOGGED', filled($v4) ],
	[ 'random keys, and a check of the minute', 'id uuid PRIMARY KEY',
		qr/$newest keys that trigger recent accepts would be on few\.$/, filled($v4),
		q{CREATE TRIGGER recent BEFORE INSERT ON %t FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb')} ],
	[ 'random keys, and a check with a key', q{"Über\id" uuid PRIMARY KEY},
		qr/$newest keys that trigger "Recent" accepts would be on few\.$/, filled($v4),
		q{CREATE TRIGGER "Recent" BEFORE INSERT ON %t FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_hmac_id('Über\id', 'area=zoo')} ],
	[ 'random keys, and checks that do not apply', 'id uuid PRIMARY KEY, id2 uuid', $change, filled($v4),
		q{CREATE TRIGGER recent BEFORE INSERT ON %t FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_id('id2', 'short_comb')},
		q{CREATE TRIGGER disabled BEFORE INSERT ON %t FOR EACH ROW
			EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb')},
		'ALTER TABLE %t DISABLE TRIGGER disabled' ],
	[ 'random keys, and a CHECK', 'id uuid PRIMARY KEY CHECK (idgen.uuid_version(id) = 4)',
		qr/keys of idgen\.keyed_comb\('zoo'\) or idgen\.uuid_v7\(\), if accepted by constraint zoo_id_check, would/,
		filled($v4) ],
	[ 'random keys of a domain over a domain with a CHECK', 'id nested PRIMARY KEY',
		qr/, if accepted by constraint checked_check, would/, filled($v4) ],
	[ 'a tenant and random keys', 'tenant int DEFAULT 1, id uuid, PRIMARY KEY (tenant, id)',
		qr/$newest those of a primary key \(id\) with keys of idgen\.keyed_comb\('zoo'\) or/,
		filled("i * 7919 % 1000, $v4") ],
	[ 'a tenant that is a foreign key, and random keys', 'tenant uuid, id uuid, PRIMARY KEY (tenant, id)',
		qr/$newest those of a primary key \(id\) with keys of idgen\.keyed_comb\('zoo'\) or/, filled("$v4, $v4"),
		'CREATE TABLE tenants AS TABLE %t; ALTER TABLE tenants ADD PRIMARY KEY (tenant)',
		'ALTER TABLE %t ADD FOREIGN KEY (tenant) REFERENCES tenants' ],
	[ 'two foreign keys', 'tenant uuid, id uuid, PRIMARY KEY (tenant, id)',
		'its first column is a foreign key, whose values are those of public.tenants', 'INSERT INTO %t TABLE tenants',
		'ALTER TABLE tenants ADD UNIQUE (id); ALTER TABLE %t ADD FOREIGN KEY (tenant) REFERENCES tenants,
			ADD FOREIGN KEY (id) REFERENCES tenants (id)' ],
	[ 'random prefixed ids', 'id text PRIMARY KEY', change_prefixed(''),
		filled(prefixed('acct', $v4)) ],
	[ 'a domain of prefixed ids', 'id acct_2 PRIMARY KEY',
		change_prefixed(', if accepted by constraint prefixed_id_check,'),
		filled(prefixed('acct_2', $v4)) ],
	[ 'ids with two prefixes', 'id text PRIMARY KEY', 'its first column contains other values than UUIDs',
		filled("CASE i WHEN 5 THEN @{[ prefixed('user', $v4) ]} ELSE @{[ prefixed('acct', $v4) ]} END") ],
	[ 'ids with a prefix that idgen does not accept', 'id text PRIMARY KEY',
		'its first column contains other values than UUIDs', filled("'100%_' || @{[ prefixed('acct', $v4) ]}") ],
	[ 'ids with a prefix that ends with an underscore', 'id text PRIMARY KEY',
		'its first column contains other values than UUIDs',
		filled("replace(@{[ prefixed('acct', $v4) ]}, '_', '__')") ],
	[ 'prefixed ids and a UUID', 'id text PRIMARY KEY', 'its first column contains other values than UUIDs',
		filled("CASE i WHEN 5 THEN $v4\::text ELSE @{[ prefixed('acct', $v4) ]} END") ],
	[ 'texts', 'id text COLLATE "C" PRIMARY KEY', 'its first column contains other values than UUIDs',
		filled('md5(i::text)') ],
	[ 'texts of UUIDs', 'id text PRIMARY KEY', $change_text, filled("$v4\::text") ],
	[ 'varchar(36) of UUIDs', 'id varchar(36) PRIMARY KEY', $change_text, filled($v4) ],
	[ 'char(36) of UUIDs', 'id char(36) PRIMARY KEY', $change_text, filled($v4) ],
	[ 'a domain of UUIDs', 'id uuid_text PRIMARY KEY', $change_text, filled($v4) ],
	[ 'texts of UUIDs but one', 'id text PRIMARY KEY', 'its first column contains other values than UUIDs',
		filled("CASE i WHEN 5 THEN 'admin' ELSE $v4\::text END") ],
	[ 'texts of UUIDs in capitals', 'id text PRIMARY KEY', 'its first column contains other values than UUIDs',
		filled("upper($v4\::text)") ],
	[ 'texts of version 7', 'id text PRIMARY KEY', 'its keys are UUIDs of version 7, which are ordered',
		filled(q{idgen.uuid_v7('2026-01-01+00'::timestamptz + random() * interval '1 year')}) ],
	[ 'secret tokens', 'token uuid UNIQUE', $secret, filled($v4) ],
	[ 'version 7, loaded in another order', 'id uuid PRIMARY KEY', 'its keys are UUIDs of version 7, which are ordered',
		filled(q{idgen.uuid_v7('2026-01-01+00'::timestamptz + random() * interval '1 year')}) ],
	[ 'version 5', 'id uuid PRIMARY KEY', 'its keys are UUIDs of version 5, which are computed from names',
		filled(q{idgen.uuid_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', i::text)}) ],
	[ 'random keys, most of them deleted', 'id uuid PRIMARY KEY, i int', qr/$sparse .*\. $new/, filled("$v4, i"),
		'DELETE FROM %t WHERE i % 4 <> 0', 'VACUUM %t' ],
	[ 'a queue, purged', 'id bigint PRIMARY KEY', $empty, filled('i'), 'DELETE FROM %t WHERE id < 39000', 'VACUUM %t' ],
	[ 'no rows', 'id uuid PRIMARY KEY', 'the sample contains no keys' ],
	[ 'NULL only', 'id uuid UNIQUE', 'the sample contains no keys', filled('NULL::uuid') ],
	[ 'updated rows', 'id uuid PRIMARY KEY, i int', 'it is not known where the newest rows are',
		'ALTER TABLE %t SET (fillfactor = 40)', filled("$v4, i"), 'UPDATE %t SET i = 0', 'VACUUM %t' ],
	[ 'an expression', 'id uuid', 'its first column is an expression',
		'CREATE INDEX ON %t ((id::text))', filled($v4) ],
	[ 'a part of the rows', 'id uuid', 'it is a partial index', 'CREATE UNIQUE INDEX ON %t (id) WHERE id IS NOT NULL',
		filled($v4) ],
	[ 'a part of the rows, without UUIDs', 'id bigint', 'it is a partial index',
		'CREATE INDEX ON %t (id) WHERE id > 5', filled('i') ],
	[ 'a generated column', 'i int, id uuid GENERATED ALWAYS AS (md5(i::text)::uuid) STORED UNIQUE',
		'its first column is generated', filled('i')],
	[ 'half of version 7', 'id uuid PRIMARY KEY', 'a part of the newest rows is on few leaf pages',
		filled($v4), "INSERT INTO %t SELECT CASE i % 2 WHEN 0 THEN $v4 ELSE idgen.uuid_v7() END
			FROM generate_series(1, 2000) i" ],
	[ 'short COMBs that are deleted after some time', 'id uuid PRIMARY KEY, i int',
		'the newest rows are on few leaf pages', @settled ],
	# Functions of other extensions are not executed, not even to compare keys.
	ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'}) ?
	  [ 'citext of UUIDs', 'id text', 'it is not known where the newest rows are', 'CREATE EXTENSION citext',
		'ALTER TABLE %t ALTER id TYPE citext, ADD PRIMARY KEY (id)', filled("$v4\::text") ] : ())
{
	my ($title, $columns, $expected, @statements) = @$_;
	ask(join(';', 'DROP TABLE IF EXISTS zoo', "CREATE TABLE zoo ($columns)", map { s/%t/zoo/gr } @statements));
	my ($density, $advice, $reason) = split /\|/, ask(
		"SELECT round(100 * leaf_density), coalesce(advice, ''), coalesce(reason, '')
			FROM pg_index, idgen.index_report(indexrelid) WHERE indrelid = 'zoo'::regclass"), -1;
	if (ref $expected)
	{
		like($advice, $expected, "$title: advice (density $density %)");
	}
	else
	{
		is("$advice|$reason", "|$expected", "$title: no advice, but a reason (density $density %)");
	}
	if ($columns =~ /^id [^,]*(?:$|, id2)|DEFAULT 1/ && $advice =~ /keys of (idgen.*?) or idgen/)
	{
		my $default = $1 =~ s/\(prefix,/('acct_2',/r;
		is(outcome("ALTER TABLE zoo ALTER id SET DEFAULT $default; INSERT INTO zoo DEFAULT VALUES"), '',
			"$title: the table accepts the advised default");
	}
	cmp_ok($density, '<', 58, '... at a density that REINDEX would raise for some time only')
	  if $title =~ /^short COMBs/;
}

ask("CREATE MATERIALIZED VIEW copied AS SELECT $v4 AS id FROM generate_series(1, $rows); CREATE INDEX ON copied (id)");
is(ask(q{SELECT advice, reason FROM idgen.index_report('copied_id_idx')}),
	'|it is an index of a materialized view', 'a materialized view has no defaults');

# Check the advice for the table of recorded commands, whose values come from clients and callers, and for tables of
# other extensions.
my $commands = 'idgen.creation_identifiers';
sub commands_report { return ask("SELECT advice, reason FROM idgen.index_report('${commands}_$_[0]')") }
sub record
{
	my ($ids, $id) = @_;
	ask("TRUNCATE $commands; INSERT INTO $commands (command_id, command_name, entity_id, entity_number, entity_text)
		SELECT $ids, 'order', CASE i % 3 WHEN 0 THEN $id END, CASE i % 3 WHEN 1 THEN (random() * 1e15)::bigint END,
			CASE i % 3 WHEN 2 THEN md5(i::text) END FROM generate_series(1, 3 * $rows) i");
}
record($v4, $v4);
like(commands_report('pkey'),
	qr/$newest command ids of version 7, from clients or idgen\.named_uuid_v7\(\), would be on few\.\|$/,
	'random command ids: advice for clients');
like(commands_report($_), qr/$newest proposed ids from idgen\.keyed_comb\(\) or a sequence would be on few\.\|$/,
	"$_: advice for callers") for 'entity_id', 'entity_number', 'entity_text';
is(commands_report('created_at'), '|its table belongs to the extension idgen', 'the time of the commands: no advice');
record('idgen.uuid_v7()', q{idgen.keyed_comb('zoo')});
is(commands_report($_), '|the newest rows are on few leaf pages', "$_: local ids, no advice") for 'pkey', 'entity_id';
ask("DROP TABLE zoo; CREATE TABLE zoo (id uuid PRIMARY KEY);
	INSERT INTO zoo SELECT $v4 FROM generate_series(1, $rows)");
is(ask(q{BEGIN; ALTER EXTENSION idgen_advisor ADD TABLE zoo; SELECT advice, reason FROM idgen.index_report('zoo')}),
	'|its table belongs to the extension idgen_advisor', 'a table of an extension: no advice');

# A role that may create functions in the schema cannot make callers of the advisor execute them.
my $overload = 'idgen.expected_key_cost(kind text, index_rows float8, rows_per_checkpoint numeric,
	rows_per_period float8, key_bytes int, OUT image_bytes_per_row float8, OUT record_bytes_per_row float8)';
ask("CREATE FUNCTION $overload LANGUAGE plpgsql AS \$\$BEGIN RAISE 'executed'; END\$\$");
like(outcome(q{SELECT keyed_comb_wal_per_row FROM idgen.index_report('zoo', 1000)}), qr/^\d+/,
	'an overload with the types of the arguments is not executed');
ask("DROP FUNCTION $overload");

# Check the advised default. The area is the name of the table, not the name of a partition. It begins with the schema,
# unless that is public or the area would be too long.
my $table = ident(q{O'Hara\orders});
for my $schema ('public', 'shop', 's' x 60)
{
	my $area = $schema eq 'shop' ? 'shop.' : '';
	my $default = qr/idgen\.keyed_comb\(E'${area}O''Hara\\\\orders'\)::text/;
	ask("CREATE SCHEMA IF NOT EXISTS $schema; SET search_path = $schema;
		CREATE TABLE $table (id text PRIMARY KEY) PARTITION BY HASH (id);
		CREATE TABLE part PARTITION OF $table FOR VALUES WITH (MODULUS 1, REMAINDER 0);
		INSERT INTO $table SELECT $v4 FROM generate_series(1, $rows) i");
	my ($advised) = ask("SELECT advice FROM idgen.index_report('$schema.part_pkey')") =~ /keys of ($default) or/;
	is(outcome("SET search_path = $schema; ALTER TABLE $table ALTER id SET DEFAULT $advised;
		INSERT INTO $table DEFAULT VALUES"), '', "a partition of texts in $schema: the advised default");
}

# Check the advice for each of several indexes of a table. With this number of rows, an index on an int has more than
# 100 pages even on 32-bit platforms.
my $saved = qr/serves the same searches; without this one, \d+ \wB and all of its WAL would be saved/;
my $same = sub { qr/^Index public\.$_[0] $saved\.$/ };
ask("DROP TABLE zoo;
	CREATE TABLE zoo (id uuid CONSTRAINT pk PRIMARY KEY, tenant int, day date);
	CREATE TABLE lines (id uuid, tenant int);
	INSERT INTO zoo SELECT $v4, i, '2026-01-01' FROM generate_series(1, 60000) i");
for (
	[ 'CREATE UNIQUE INDEX %i ON zoo (id)', $same->('pk') ],
	[ 'CREATE INDEX %i ON zoo (id)', $same->('pk') ],
	[ 'ALTER TABLE zoo ADD CONSTRAINT %i UNIQUE (id)', $same->('pk') ],
	[ 'CREATE INDEX %i ON zoo (id, tenant)', $same->('pk') ],
	[ 'CREATE UNIQUE INDEX %i ON zoo (id, tenant)', $same->('pk') ],
	[ 'CREATE UNIQUE INDEX a ON zoo (tenant, id); CREATE INDEX %i ON zoo (tenant)', $same->('a') ],
	[ 'CREATE INDEX a ON zoo (tenant, day); CREATE INDEX %i ON zoo (tenant, day)', $same->('a') ],
	[ 'CREATE INDEX %i ON zoo (tenant, day); ALTER TABLE zoo ADD CONSTRAINT a UNIQUE (tenant, day, id)', $same->('a') ],
	[ 'CREATE INDEX a ON zoo (tenant, day); CREATE INDEX %i ON zoo (tenant)', $same->('a') ],
	[ 'CREATE INDEX a ON zoo (tenant, day); CREATE INDEX %i ON zoo (tenant, id)' ],
	[ 'CREATE INDEX a ON zoo (tenant DESC, day); CREATE INDEX %i ON zoo (tenant)' ],
	[ 'CREATE INDEX a ON zoo (tenant) WHERE tenant > 5; CREATE INDEX %i ON zoo (tenant)' ],
	[ 'CREATE INDEX a ON zoo USING hash (id); CREATE INDEX %i ON zoo (tenant)' ],
	[ 'CREATE INDEX %i ON zoo (id) INCLUDE (tenant)' ],
	[ 'CREATE INDEX a ON zoo (tenant, day); ALTER TABLE zoo ADD CONSTRAINT %i EXCLUDE USING btree (tenant WITH =)' ],
	# the index of a partition cannot be dropped alone
	[ 'CREATE INDEX %i ON zoo (tenant); CREATE INDEX a ON zoo (tenant, day);
		CREATE TABLE parted (LIKE zoo) PARTITION BY LIST (tenant); CREATE INDEX ON parted (tenant);
		ALTER TABLE parted ATTACH PARTITION zoo DEFAULT' ],
	[ 'CREATE UNIQUE INDEX %i ON zoo (id, tenant);
		ALTER TABLE lines ADD CONSTRAINT a FOREIGN KEY (id, tenant) REFERENCES zoo (id, tenant)' ],
	[ 'CREATE UNIQUE INDEX %i ON zoo (tenant, id) NULLS NOT DISTINCT; CREATE UNIQUE INDEX a ON zoo (tenant, id)' ],
	[ 'ALTER TABLE zoo ADD CONSTRAINT a UNIQUE (tenant, id) DEFERRABLE; CREATE UNIQUE INDEX %i ON zoo (tenant, id)' ])
{
	my ($create, $advice) = @$_;
	my $said = ask("BEGIN; " . $create =~ s/%i/b/gr . "; SELECT advice FROM idgen.index_report('b')");
	$advice ? like($said, $advice, $create) : unlike($said, $saved, "$create: not superfluous");
}

is(ask("BEGIN; CREATE INDEX b ON zoo (id, tenant);
	SELECT keyed_comb_wal_per_row < wal_per_row FROM idgen.index_report('b', 1000)"),
	't', 'other indexes that begin with the key have a figure for another default, too');

my ($v7) = grep { $_->[0] =~ /`uuid_v7\(\)`/ } Page->new('security')->table('What each kind reveals to an outsider');
is(ask(q{SELECT reveals FROM idgen.key_plan(1, '1 day') WHERE key = 'uuid_v7()'}),
	'the creation time ' . $v7->[1] =~ s/[^ -~]+/u/r, 'key_plan() agrees with docs/security.md');

# --- WAL per day ----------------------------------------------------------------------
my $named = ask('SHOW server_version_num') >= 170000 ? 'checkpointer' : 'bgwriter';
my $begin = "SELECT pg_stat_reset(), pg_stat_reset_shared('$named')";
my $reports = q{idgen.index_reports(0, min_age => '0')};
sub report { return ask("SELECT $_[0] FROM $reports WHERE index_name = '$_[1]'::regclass") }

ask("CREATE TABLE idle (id int PRIMARY KEY); $begin");
like(report('concat_ws($$|$$, rows_per_day, rows_per_checkpoint, wal_per_day, unknown_reason)', 'idle_pkey'),
	qr/^fewer than 3 checkpoints since/, 'too few checkpoints: no rates, and the reason');

# The newest rows of keyed COMBs are in the middle of a twelfth. In the chosen area, each twelfth has its own prefix. In
# one of 20 areas, two of the six twelfths have the same prefix, so the newest rows would be among older rows.
my $area = ask(q{SELECT area FROM generate_series(1, 100) area, LATERAL (
		SELECT count(DISTINCT left(idgen.keyed_comb(area::text, clock => at)::text, 8)) AS prefixes
		FROM generate_series('epoch'::timestamptz, 'epoch'::timestamptz + '25 min', '5 min') at) s
	WHERE prefixes = 6 LIMIT 1});
my $keyed = qq{idgen.keyed_comb('$area', clock => at + interval '3 min')};
my ($n, %values) = (2000, random => $v4, seven => 'idgen.uuid_v7(at)', keyed => $keyed,
	random_text => "$v4\::text", keyed_text => "$keyed\::text",
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
record($v4, $v4);
ask(join ';', insert($rows + $_ * $n, $rows + ($_ + 1) * $n), 'CHECKPOINT') for 0 .. 4;
# The server counts the last checkpoint and the last rows with some delay.
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
	# The model does not include the table's own pages.
	cmp_ok(abs($keyed / $measured - 1), '<', 0.5, "keyed_comb(): $keyed bytes are expected with it")
	  if $index =~ /^keyed/;
	is($saved, 't', "$index: keyed_comb() would save WAL") if $index =~ /^random/;
	is($saved, '', "$index: a key that cannot change has no such figure") if $index =~ /^seven|^text/;
}
is(report('unknown_reason', 'idgen.creation_identifiers_entity_id'),
	'the server does not count the rows of a partial index', 'a partial index: the reason');
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
