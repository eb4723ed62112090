# Masked UUIDs and permuted numbers: against known answers and a program that
# was written from the definitions, as permutations, and under keys that come
# from a file which only the server may read.

use strict;
use warnings;

use File::Basename qw(dirname);
use FindBin;
use IPC::Run;
use lib "$FindBin::RealBin/lib";
use Client;
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my %key = (
	default => '000102030405060708090a0b0c0d0e0f',
	published => 'efcdab89674523011032547698badcfe',
	orders => 'C0FFEE00c0ffee11c0ffee22c0ffee33',
	other => 'fedcba98765432100123456789abcdef');

my $node = PostgreSQL::Test::Cluster->new('server');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', 'idgen.mask_key_file = mask_keys');
my $file = $node->data_dir . '/mask_keys';

# Replace the key file.
sub write_keys
{
	my ($content, $mode) = @_;

	unlink $file;
	append_to_file($file, $content);
	chmod $mode // 0600, $file or die;
}

# A role that may do nothing but call the functions.
sub outcome
{
	my ($query, %how) = @_;
	my ($rows, $errors) = ('', '');

	($how{node} // $node)->psql(
		$how{database} // 'postgres', $query,
		stdout => \$rows,
		stderr => \$errors,
		extra_params => [ '-U', $how{role} // 'caller', '--set=VERBOSITY=verbose' ]);
	return $rows if $errors !~ s/^.*?ERROR:  //s;
	return $errors =~ s/\n?LOCATION:.*//sr;
}

my $all_keys = "# name, key\n\n\t " . join('', map { "$_  $key{$_} \t# of a test\r\n" } sort keys %key) . "gr\303\274n $key{other}\n#";
write_keys($all_keys);
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	CREATE ROLE caller LOGIN});

# ---------------------------------------------------------------------------
# Answers
# ---------------------------------------------------------------------------

# https://github.com/stateless-me/uuidv47, README
is(outcome(q{SELECT idgen.mask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', 'published')}),
	'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f', 'the published example of UUIDv47');
is(outcome(q{SELECT idgen.unmask_uuid_v7('2463c780-7fca-4def-8c3f-7b1a2c4d5e6f', 'published')}),
	'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f', 'and back');

my $python = (grep { -x "$_/python3" } split /:/, $ENV{PATH})[0];
SKIP:
{
	skip 'no python3', 8 if !defined $python;
	my $program = dirname(__FILE__) . '/lib/mask.py';

	for my $name (sort keys %key)
	{
		my ($given, $expected);
		my $sets = q{'{2,3,4,5,31,1000,999999999,4294967296,4294967297,9007199254740991,9223372036854775806,9223372036854775807}'::bigint[]};

		$given = $node->safe_psql('postgres', q{
			SELECT idgen.uuid_v7(clock => '1970-01-01'::timestamptz + i * i * interval '5 days') FROM generate_series(0, 700) i
			UNION ALL SELECT '00000000-0000-7000-8000-000000000000' UNION ALL SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff'});
		IPC::Run::run([ "$python/python3", $program, 'uuid', $key{$name} ], '<', \$given, '>', \$expected) or die;
		is($node->safe_psql('postgres', "SELECT idgen.mask_uuid_v7(id::uuid, '$name') FROM regexp_split_to_table('$given', E'\\n') id"),
			$expected =~ s/\n\z//r, "key $name: UUIDs are masked by the definition");

		$given = $node->safe_psql('postgres', qq{
			SELECT DISTINCT i, g FROM unnest($sets) g,
				LATERAL unnest(ARRAY[1, 2, g - 1, g] || ARRAY(SELECT 1 + trunc(g * random() * 0.999)::bigint FROM generate_series(1, 40))) i}) =~ s/\|/ /gr;
		IPC::Run::run([ "$python/python3", $program, 'number', $key{$name} ], '<', \$given, '>', \$expected) or die;
		is($node->safe_psql('postgres', "SELECT idgen.permute(split_part(n, ' ', 1)::bigint, split_part(n, ' ', 2)::bigint, '$name') FROM regexp_split_to_table('$given', E'\\n') n"),
			$expected =~ s/\n\z//r, "key $name: numbers are permuted by the definition");
	}
}

# What a mask keeps and what it hides
is($node->safe_psql('postgres', q{
	SELECT count(*), count(DISTINCT masked),
		bool_and(idgen.uuid_version(masked) = 4 AND idgen.uuid_variant(masked) = 'RFC 9562'),
		bool_and(idgen.unmask_uuid_v7(masked) = id),
		bool_and(right(masked::text, 21) = right(id::text, 21) AND substr(masked::text, 16, 3) = substr(id::text, 16, 3)),
		bool_or(idgen.mask_uuid_v7(id, 'other') = masked)
	FROM (SELECT id, idgen.mask_uuid_v7(id) AS masked FROM (SELECT idgen.uuid_v7() AS id FROM generate_series(1, 10000)) made) made}),
	'10000|10000|t|t|t|f', 'a masked version 7 is a version 4 with the same random bits, and comes back');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(1, 10000), LATERAL (SELECT idgen.uuid_v4() AS id) made
	WHERE idgen.mask_uuid_v7(idgen.unmask_uuid_v7(id)) = id}), 10000, 'every version 4 has a version 7');
# of 48 bits, of which adjacent identifiers share nearly all, half differ
my $changed = $node->safe_psql('postgres', q{
	SELECT avg(bit_count(('x' || left(replace(one::text, '-', ''), 12))::bit(48) # ('x' || left(replace(two::text, '-', ''), 12))::bit(48)))
	FROM (SELECT idgen.mask_uuid_v7(id) AS one, lead(idgen.mask_uuid_v7(id)) OVER (ORDER BY id) AS two
		FROM (SELECT idgen.uuid_v7() AS id FROM generate_series(1, 20000)) made) pairs WHERE two IS NOT NULL});
cmp_ok(abs($changed - 24), '<', 0.3, 'masked times of adjacent identifiers have nothing in common');

# ---------------------------------------------------------------------------
# Permutations
# ---------------------------------------------------------------------------

is($node->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(2, 2000) g,
		LATERAL (SELECT count(DISTINCT p), min(p), max(p), bool_and(idgen.unpermute(p, g) = i) AS back
			FROM generate_series(1, g) i, LATERAL (SELECT idgen.permute(i, g) AS p) permuted) numbers
	WHERE count = g AND min = 1 AND max = g AND back}), 1999, 'every size from 2 to 2000 is permuted');
is($node->safe_psql('postgres', qq{
	SELECT count(DISTINCT p), min(p), max(p) FROM generate_series(1, 1 << 20) i, LATERAL (SELECT idgen.permute(i, 1 << 20, '$_') AS p) permuted}),
	'1048576|1|1048576', "and 2^20 numbers, with the key $_") for qw(default orders other);
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM generate_series(1, 40000) i,
		LATERAL (SELECT 2 + (random() * ((1::bigint << (1 + i % 62)) - 1))::bigint AS g) sizes,
		LATERAL (SELECT least(g, 1 + (random() * g)::bigint) AS id) numbers,
		LATERAL (SELECT idgen.permute(id, g) AS p) permuted
	WHERE p BETWEEN 1 AND g AND idgen.unpermute(p, g) = id AND idgen.permute(idgen.unpermute(id, g), g) = id}),
	40000, 'random numbers below random limits come back');
is($node->safe_psql('postgres', q{
	SELECT bool_and(idgen.unpermute(idgen.permute(id)) = id) FROM unnest('{1,2,9223372036854775806,9223372036854775807}'::bigint[]) id}), 't', 'the ends of bigint');
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT idgen.permute(7, 1000000007, name)), count(DISTINCT idgen.permute(7, 1000000000 + i)) > 95
	FROM unnest('{default,orders,other,published}'::text[]) name, generate_series(1, 100) i}), '4|t', 'the key and the greatest number matter');

# Of 63 output bits, half differ between neighbours, and each of them does.
my ($mean, $least, $most) = split /\|/, $node->safe_psql('postgres', q{
	SELECT avg(bit_count(d)), (SELECT min(n) || '|' || max(n) FROM (
		SELECT avg(get_bit(d, 63 - b)) AS n FROM differences, generate_series(0, 62) b GROUP BY b) bits)
	FROM differences} =~ s/^/WITH differences AS MATERIALIZED (
		SELECT (idgen.permute(i) # idgen.permute(i + 1))::bit(64) AS d FROM generate_series(1, 40000) i)/r);
cmp_ok(abs($mean - 31.5), '<', 0.2, 'neighbours differ in half of the bits');
cmp_ok($least, '>', 0.48, 'each bit differs for half of them');
cmp_ok($most, '<', 0.52, 'and no more');

# ---------------------------------------------------------------------------
# Bad arguments
# ---------------------------------------------------------------------------

my $v4 = q{'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'};
my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};

for (
	[ "mask_uuid_v7($v4)", "22023: uuid is not of version 7\nDETAIL:  The uuid is 2463c780-7fca-4def-8c3f-7b1a2c4d5e6f, of version 4." ],
	[ "unmask_uuid_v7($v7)", "22023: uuid is not of version 4\nDETAIL:  The uuid is 018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f, of version 7." ],
	# version 7 of another variant
	[ q{mask_uuid_v7('018f2d9f-9a2a-7def-cc3f-7b1a2c4d5e6f')}, "22023: uuid is not of version 7\nDETAIL:  The uuid is 018f2d9f-9a2a-7def-cc3f-7b1a2c4d5e6f, of variant Microsoft." ],
	[ 'permute(0)', "22003: id must be between 1 and 9223372036854775807\nDETAIL:  The value is 0." ],
	[ 'permute(-9223372036854775808)', "22003: id must be between 1 and 9223372036854775807\nDETAIL:  The value is -9223372036854775808." ],
	[ 'permute(11, 10)', "22003: id must be between 1 and 10\nDETAIL:  The value is 11." ],
	[ 'unpermute(11, 10)', "22003: id must be between 1 and 10\nDETAIL:  The value is 11." ],
	[ 'permute(1, 1)', "22023: max_value must be at least 2\nDETAIL:  The value is 1." ],
	[ 'unpermute(1, -9223372036854775808)', "22023: max_value must be at least 2\nDETAIL:  The value is -9223372036854775808." ],
	[ q{permute(1, key_name => 'none')}, qq{42704: mask key "none" does not exist\nHINT:  Add it to the file that idgen.mask_key_file names, and reload the configuration.} ],
	[ q{permute(1, key_name => '')}, qq{42704: mask key "" does not exist\nHINT:  Add it to the file that idgen.mask_key_file names, and reload the configuration.} ],
	[ q{permute(1, key_name => 'defaul')}, qq{42704: mask key "defaul" does not exist\nHINT:  Add it to the file that idgen.mask_key_file names, and reload the configuration.} ],
	[ q{mask_uuid_v7(NULL, 'none')}, '' ],
	[ q{permute(NULL, 1, 'none')}, '' ],
	[ 'permute(5, NULL)', '22004: max_value must not be null' ],
	[ 'unpermute(5, key_name => NULL)', '22004: key_name must not be null' ],
	[ "mask_uuid_v7($v7, NULL)", '22004: key_name must not be null' ],
	[ "unmask_uuid_v7($v4, NULL)", '22004: key_name must not be null' ])
{
	my ($call, $expected) = @$_;
	is(outcome("SELECT idgen.$call"), $expected, $call);
}
like(outcome("SELECT idgen.permute(1, key_name => repeat('x', 100000000))"), qr/^42704: mask key "x{96}" does not exist/, 'of a name of 100 MB, a message shows the first bytes');

# Names are bytes, which messages show in the client's encoding.
my %shown = (UTF8 => 47, LATIN1 => 95);
for my $encoding (sort keys %shown)
{
	$node->safe_psql('postgres', qq{CREATE DATABASE "in_$encoding" ENCODING '$encoding' LOCALE 'C' TEMPLATE template0});
	$node->safe_psql("in_$encoding", 'CREATE EXTENSION idgen');
	my $in_encoding = sub { return outcome("SET client_encoding = 'UTF8'; SELECT idgen.permute(1, key_name => $_[0])", database => "in_$encoding") };
	like($in_encoding->(q{'x' || repeat(chr(252), 1000)}), qr/^42704: mask key "x(\303\274){$shown{$encoding}}" does not exist\n/,
		"$encoding: a message shows whole characters of a name");
	my $found = $in_encoding->(q{'gr' || chr(252) || 'n'});
	if ($encoding eq 'UTF8') { is($found, outcome("SELECT idgen.permute(1, key_name => 'other')"), 'UTF8: a name that is not ASCII') }
	else { like($found, qr/^42704: mask key "gr\303\274n" does not exist\n/, "$encoding: the same characters in other bytes are another name") }
}

# ---------------------------------------------------------------------------
# Where the functions are used
# ---------------------------------------------------------------------------

$node->safe_psql(
	'postgres', q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT idgen.uuid_v7(), number bigint GENERATED ALWAYS AS IDENTITY UNIQUE);
	INSERT INTO events SELECT FROM generate_series(1, 5000);
	ANALYZE events});
like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id = idgen.unmask_uuid_v7($v4)"),
	qr/Index Scan using events_pkey.*Index Cond: \(id = idgen.unmask_uuid_v7/s, 'a lookup by a masked UUID uses the index');
like($node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT * FROM events WHERE number = idgen.unpermute(12345)'),
	qr/Index Scan using events_number_key.*Index Cond: \(number = idgen.unpermute/s, 'and one by a permuted number');
my $workers = q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;};
my $query = 'SELECT count(DISTINCT idgen.mask_uuid_v7(id)), sum(idgen.permute(number)::numeric) FROM events WHERE idgen.permute(number) > 0';
like($node->safe_psql('postgres', "$workers EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query"), qr/Workers Launched: [12]/, 'in parallel workers');
is($node->safe_psql('postgres', "$workers $query"), $node->safe_psql('postgres', $query), 'with the same results');

# The patterns of docs/masking.md, by a role that has no right on the tables
$node->safe_psql('postgres', 'CREATE DATABASE masking');
$node->safe_psql('masking', 'CREATE EXTENSION idgen');
my $page = Page->new('masking');
my @headings = ('A table behind a view', 'A client that brings the identifier', 'Replacing the key', 'Numbers', 'Roles that write SQL');

# Paste the blocks of a section into psql
sub paste
{
	my ($heading) = @_;
	my $sql = join "\n", $page->blocks($heading);
	my $errors = '';

	$node->psql('masking', $sql, on_error_stop => 0, stderr => \$errors, extra_params => ['--set=VERBOSITY=verbose']);
	is_deeply([ $errors =~ /ERROR:  (\w{5})/g ], [ $sql =~ /-- error (\w{5})/g ], "$heading: the errors are those announced") or diag($errors);
}

# What psql prints for a statement with a section's prepared ones: rows, and the command's tag
sub tags
{
	my ($heading, $sql) = @_;
	my $prepared = join '', map { /^(PREPARE.*?;)/msg } $page->blocks($heading);

	# safe_psql is quiet, and shows no tags
	my ($rows, $errors) = ('', '');
	IPC::Run::run([ 'psql', '-XAt', '-d', $node->connstr('masking'), '-v', 'VERBOSITY=sqlstate', '-c', $prepared, '-c', $sql ], '>', \$rows, '2>', \$errors);
	chomp(my $answer = ($rows =~ s/^PREPARE\n//gmr) . $errors);
	return $answer;
}

paste($_) for @headings[ 0, 3, 4 ];
$node->safe_psql(
	'masking', q{
	INSERT INTO parcels (receiver) SELECT i FROM generate_series(1, 1000) i;
	REVOKE EXECUTE ON FUNCTION parcel_by_id FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION parcel_by_id TO caller});
is($node->safe_psql('masking', q{
	SELECT count(*), bool_and(idgen.uuid_version(p.id) = 4), count(idgen.uuid_timestamp(p.id)), bool_and(p.id <> s.id)
	FROM parcels p JOIN parcels_stored s USING (receiver)}), '1001|t|0|t', 'the view shows identifiers of version 4, without a time');
my $correlation = $node->safe_psql('masking', q{
	SELECT corr(stored, shown) FROM (
		SELECT rank() OVER (ORDER BY id) AS stored, rank() OVER (ORDER BY idgen.mask_uuid_v7(id)) AS shown FROM parcels_stored) ranks});
cmp_ok(abs($correlation), '<', 0.2, 'whose order is not that of their creation');
is($node->safe_psql('masking', q{SELECT max(number) > 900000000, min(number) > 100, corr(number, amount::int) BETWEEN -0.4 AND 0.4 FROM invoices}), 't|t|t',
	'and numbers that say nothing about how many there are');
my $known = $node->safe_psql('masking', q{SELECT id FROM parcels WHERE receiver = '7'});
is(outcome("SELECT receiver FROM parcel_by_id('$known')", database => 'masking'), '7', 'a lookup by the masked identifier');
like(outcome("SELECT $_", database => 'masking'), qr/^42501: permission denied/, "but not: $_")
  for "idgen.unmask_uuid_v7('$known')", "idgen.mask_uuid_v7($v7)", 'id FROM parcels', 'number FROM invoices';

# Writes through the view, and by the masked identifier
my $unknown = $node->safe_psql('masking', 'SELECT idgen.mask_uuid_v7(idgen.uuid_v7_ms())');
for (
	[ "UPDATE parcels SET receiver = 'seven' WHERE id = '$known' RETURNING id", "$known\nUPDATE 1" ],
	[ "UPDATE parcels SET receiver = 'none' WHERE id = '$unknown'", 'UPDATE 0' ],
	[ q{DELETE FROM parcels WHERE receiver = '8'}, 'DELETE 1' ],
	[ "DELETE FROM parcels WHERE id = '$unknown'", 'DELETE 0' ],
	[ "UPDATE parcels SET id = '$unknown' WHERE id = '$known'", 'ERROR:  0A000' ],
	[ "EXECUTE find_parcel('$known')", 'seven' ],
	[ "EXECUTE change_parcel('$known', '7')", 'UPDATE 1' ],
	[ "EXECUTE change_parcel('$unknown', '7')", 'UPDATE 0' ],
	[ "EXECUTE delete_parcel('$unknown')", 'DELETE 0' ])
{
	my ($sql, $expected) = @$_;
	is(tags('A table behind a view', $sql), $expected, $sql =~ s/'[0-9a-f-]{36}'/…/gr);
}
is($node->safe_psql('masking', qq{SELECT receiver, idgen.mask_uuid_v7(id) = '$known' FROM parcels_stored WHERE receiver IN ('7', '8', 'seven')}), '7|t', 'writes go to the rows');

# Two sessions that write the same row
{
	my @writers = map { Client->connect($node, database => 'masking') } 1 .. 2;
	$_->wait for @writers;
	my $row = $node->safe_psql('masking', q{SELECT id FROM parcels WHERE receiver = '9'});
	$writers[0]->ask("BEGIN; DELETE FROM parcels WHERE receiver = '9'");
	$writers[1]->send("UPDATE parcels SET receiver = 'nine' WHERE id = '$row' RETURNING id");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $writers[1]{pid}");
	$writers[0]->ask('COMMIT');
	is($writers[1]->answer, '', 'an UPDATE that waited for a DELETE of the row finds none');
	$_->quit for @writers;
}

paste($headings[1]);
my $insert = "EXECUTE create_parcel('$unknown', 'Hopper')";
is(tags($headings[1], $insert), 'INSERT 0 1', 'a client brings the identifier that it was given');
is(tags($headings[1], $insert), 'INSERT 0 0', 'and repeats its INSERT');
is($node->safe_psql('masking', "SELECT receiver FROM parcels WHERE id = '$unknown'"), 'Hopper', 'the row has it');
my $late = $node->safe_psql('masking', q{SELECT idgen.mask_uuid_v7(idgen.uuid_v7_ms(now() - interval '2 hours'))});
is(tags($headings[1], "EXECUTE create_parcel($_, 'late')"), 'ERROR:  23514', 'refused: one that was given long ago, or by nobody') for "'$late'", $v4;

write_keys($all_keys . "\nv2 $key{orders}\n");
$node->reload;
paste($headings[2]);
my $shown = $node->safe_psql('masking', q{SELECT id FROM parcels WHERE receiver = '7'});
isnt($shown, $known, 'with a new key, the view shows another identifier');
is(tags($headings[2], "EXECUTE find_parcel_by_either_key('$_')"), '7', 'and the row is found by both') for $shown, $known;
is(tags('A table behind a view', "UPDATE parcels SET receiver = 'seven' WHERE id = '$_'"), $_ eq $shown ? 'UPDATE 1' : 'UPDATE 0', 'writes answer the truth') for $known, $shown;
is($node->safe_psql('masking', qq{SELECT receiver FROM parcels WHERE id = '$shown'}), 'seven', 'and are done');
$node->safe_psql('masking', 'ANALYZE parcels_stored');
my %statements = (
	'A table behind a view' => [ "find_parcel('$known')", "change_parcel('$known', '7')", "delete_parcel('$known')" ],
	'Replacing the key' => ["find_parcel_by_either_key('$known')"]);
for my $heading (sort keys %statements)
{
	like(tags($heading, "EXPLAIN (COSTS OFF) EXECUTE $_"), qr/parcels_stored_pkey.*Index Cond|Bitmap Index Scan on parcels_stored_pkey/s, s/\(.*//r . ' uses the primary key')
	  for @{ $statements{$heading} };
}

# ---------------------------------------------------------------------------
# The setting
# ---------------------------------------------------------------------------

my $permuted = outcome('SELECT idgen.permute(1)');
{
	my ($rows, $errors) = ('', '');
	$node->psql('postgres', q{SET idgen.mask_key_file = 'postgresql.conf'; SELECT idgen.permute(1)}, stdout => \$rows, stderr => \$errors, extra_params => [ '-U', 'caller' ]);
	like($errors, qr/permission denied to set parameter "idgen.mask_key_file"/, 'a role cannot name another file before the library is loaded');
	$node->psql('postgres', q{SET idgen.mask_key_file = 'postgresql.conf'; SELECT idgen.permute(1)}, stdout => \$rows, stderr => \$errors);
	is($rows, $permuted, 'nor can a superuser in a session: the file of the configuration is read');
	like($errors, qr/WARNING.*parameter "idgen.mask_key_file" cannot be changed now/, 'with a warning');
	$node->psql('postgres', q{LOAD 'idgen'; SET idgen.mask_key_file = 'postgresql.conf'}, stderr => \$errors);
	like($errors, qr/ERROR.*parameter "idgen.mask_key_file" cannot be changed now/, 'nor after the library is loaded');

	# the server accepts it for a database while the library is not loaded
	$node->safe_psql('postgres', q{ALTER DATABASE "in_UTF8" SET idgen.mask_key_file = 'postgresql.conf'});
	is(outcome('SELECT idgen.permute(1)', database => 'in_UTF8'),
		"55000: idgen.mask_key_file is not set\n"
		  . "DETAIL:  Only the server's configuration can set it. A value of ALTER DATABASE, ALTER ROLE or the connection hides that of the configuration, and is ignored.\n"
		  . 'HINT:  Set it in postgresql.conf to the name of a file that only the database user can read, and reload the configuration.',
		'nor the setting of a database, as the message says');
	$node->safe_psql('postgres', q{ALTER DATABASE "in_UTF8" RESET idgen.mask_key_file});
	is(outcome('SELECT idgen.permute(1)', database => 'in_UTF8'), $permuted, 'which can be reset');
}

# ---------------------------------------------------------------------------
# The key file
# ---------------------------------------------------------------------------

# From here on, all that a session can log
$node->safe_psql('postgres', "ALTER ROLE ALL SET $_")
  for 'log_min_messages = debug5', 'log_error_verbosity = verbose', 'debug_print_parse = on', 'debug_print_plan = on';
my $session = Client->connect($node);
$session->wait;
my $pid = $session->ask('SELECT pg_backend_pid()');
my $in_session = sub { return $session->ask($_[0] // 'SELECT idgen.permute(1)') };
is($in_session->(), $permuted, 'a session reads the keys');

# A session learns of a reload between two commands.
sub wait_for_change
{
	my ($former) = @_;

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if $in_session->() ne $former;
		usleep(100_000);
	}
}

# All that the file may not be, in new sessions
my $long = 'x' x 64;
for (
	[ "default 000102030405060708090a0b0c0d0e0f\ndefault $key{other}\n", 'invalid line 2 in mask key file "mask_keys"', 'The name occurs twice.' ],
	[ "default 000102030405060708090a0b0c0d0e0\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0g\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0f0\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "\n\n000102030405060708090a0b0c0d0e0f", 'invalid line 3 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default # 000102030405060708090a0b0c0d0e0f", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0f 0f", 'invalid line 1 in mask key file "mask_keys"', 'There is text after the key.' ],
	[ "$long 000102030405060708090a0b0c0d0e0f", 'invalid line 1 in mask key file "mask_keys"', 'The name is longer than 63 bytes.' ],
	[ "default 000102030405060708090a0b0c0d0e0f\0", 'mask key file "mask_keys" contains a zero byte', undef ],
	[ '#' x (1024 * 1024 + 1), 'mask key file "mask_keys" is too large', 'At most 1048576 bytes are allowed.' ],
	[ '', undef, undef ])
{
	my ($content, $message, $detail) = @$_;
	my $expected = defined $message ? "F0000: $message" . (defined $detail ? "\nDETAIL:  $detail" : '') :
	  qq{42704: mask key "default" does not exist\nHINT:  Add it to the file that idgen.mask_key_file names, and reload the configuration.};

	write_keys($content);
	is(outcome('SELECT idgen.permute(1)'), $expected, 'refused: ' . ($detail // $message // 'an empty file'));
}
my $private = "DETAIL:  The file must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) or less if owned by root.";
for my $mode (0640, 0660, 0604, 0602, 0601, 0610)
{
	write_keys($all_keys, $mode);
	is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, sprintf('refused: mode %04o', $mode));
}
write_keys($all_keys, 0400);
is(outcome('SELECT idgen.permute(1)'), $permuted, 'a file without write permission is read');
unlink $file;
is(outcome('SELECT idgen.permute(1)'), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'refused: a missing file');
mkdir $file or die;
is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" is not a regular file}, 'refused: a folder');
rmdir $file or die;
system_or_bail('mkfifo', '-m', '600', $file);
is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" is not a regular file}, 'refused: a named pipe');

# The size of this file is 0, so that it seems to have grown.
sub link_to
{
	my ($target) = @_;

	unlink $file;
	symlink $target, $file or die;
}
link_to('/proc/self/environ');
is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" changed while it was read}, 'refused: a file that is longer than its size');
link_to('mask_keys.target');
append_to_file("$file.target", $all_keys);
chmod 0644, "$file.target" or die;
is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, 'of a symbolic link, the permissions of the file count');
chmod 0600, "$file.target" or die;
is(outcome('SELECT idgen.permute(1)'), $permuted, 'and it is read');
link_to('/etc/passwd');
is(outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, 'refused: a file of root that all can read');
SKIP:
{
	skip 'only root can make files of other users', 3 if !-e "$ENV{TESTDIR}/mask_keys.root.640";
	for (
		[ 'root.640', $permuted ],
		[ 'root.660', qq{F0000: mask key file "mask_keys" has group or world access\n$private} ],
		[ 'daemon.640', 'F0000: mask key file "mask_keys" must be owned by the database user or root' ])
	{
		my ($which, $expected) = @$_;
		link_to("$ENV{TESTDIR}/mask_keys.$which");
		is(outcome('SELECT idgen.permute(1)'), $expected, "a file of another user: $which");
	}
}

is($in_session->(), $permuted, 'the session has its keys until the next reload');
write_keys("default $key{other}\nsecond $key{default}");
$node->reload;
wait_for_change($permuted);
is($in_session->(), outcome('SELECT idgen.permute(1)'), 'and then the new ones');
is($in_session->(q{SELECT idgen.permute(1, key_name => 'second')}), $permuted, 'also one that has moved to another name');

# ---------------------------------------------------------------------------
# Keys stay in the server
# ---------------------------------------------------------------------------

# Is a key in the memory of a process?  Undefined if that cannot be read.
sub is_in_memory
{
	my ($process, $bytes) = @_;

	open my $maps, '<', "/proc/$process/maps" or return;
	open my $memory, '<:raw', "/proc/$process/mem" or return;
	while (my $line = <$maps>)
	{
		my ($from, $to) = $line =~ /^(\w+)-(\w+) rw.p/ or next;
		no warnings 'portable';
		my ($content, $length) = ('', hex($to) - hex($from));
		sysseek($memory, hex $from, 0) or next;
		while (length $content < $length) { sysread($memory, $content, $length - length $content, length $content) or last }
		return 1 if index($content, $bytes) >= 0;
	}
	return 0;
}

# many, so that the next keys are not put in the same place
write_keys(join('', map { "key$_ $key{other}\n" } 1 .. 300) . "default $key{published}\n");
my $former = $in_session->();
$node->reload;
wait_for_change($former);
write_keys("default $key{orders}\n");
my $before = $in_session->();
$node->reload;
wait_for_change($before);
my $before_orders = $in_session->();
my $many = join('', map { "key$_ $key{other}\n" } 1 .. 300);
my @broken = (
	[ "$many$key{other} default", 'a bad line at the end' ],
	[ "${many}key7 $key{other}", 'a name twice' ],
	[ "$many$key{other}\0", 'a zero byte' ]);
SKIP:
{
	my $raw = sub { pack 'H*', $key{ $_[0] } };
	my @texts = qw(orders other published default);
	skip "the memory of the server's processes cannot be read here", 5 + 3 * @broken + 2 * @texts if !is_in_memory($pid, $raw->('orders'));
	pass('the key in use is in memory');
	ok(!is_in_memory($pid, substr($raw->('other'), $_, 8)), "bytes $_ to @{[$_ + 7]} of the one before are not") for 0, 8;
	ok(!is_in_memory($pid, $key{$_}), "nor is the line of key $_") for @texts;

	# A file that is refused
	for (@broken)
	{
		my ($content, $title) = @$_;
		my $previous = $in_session->();

		write_keys($content);
		$node->reload;
		wait_for_change($previous);
		is($in_session->(), 'F0000', "$title: the session has no key");
		ok(!is_in_memory($pid, $raw->($_)), "$title: nor $_ in memory") for qw(orders other);
		write_keys("default $key{orders}\n");
		$in_session->();
	}
	ok(!is_in_memory($pid, $key{$_}), "nor the line of key $_") for @texts;
	is($in_session->(), $before_orders, 'the next call reads a file that was repaired');
	is($in_session->('RESET ALL; SELECT idgen.permute(1)'), $before_orders, 'RESET ALL keeps the keys');
}
my $log = slurp_file($node->logfile);
my $shown = $node->safe_psql('postgres', q{LOAD 'idgen'; SELECT * FROM pg_settings WHERE name LIKE 'idgen%'; SELECT * FROM pg_file_settings; SELECT * FROM pg_stat_activity});
ok(index(lc "$log$shown", lc substr $key{$_}, 0, 12) < 0, "key $_ is in no message and no setting") for sort keys %key;
$session->quit;
$node->safe_psql('postgres', "ALTER ROLE ALL RESET ALL");

# ---------------------------------------------------------------------------
# Parallel workers, and a library that is loaded at the server's start
# ---------------------------------------------------------------------------

$node->safe_psql(
	'postgres', q{
	GRANT SELECT ON events TO caller;
	CREATE FUNCTION permute_in(n bigint, leader int) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
	BEGIN
		RETURN idgen.permute(n) || CASE WHEN pg_backend_pid() <> leader THEN ' in a worker' ELSE ' in its leader' END;
	END $$});

# The planner of the leader does not load the library.
sub first_in_worker
{
	my $client = Client->connect($node, user => 'caller');

	$client->wait;
	$client->ask($workers);
	my $leader = $client->ask('SELECT pg_backend_pid()');
	my $answer = $client->ask("SELECT DISTINCT answer FROM (SELECT permute_in(1, $leader) AS answer FROM events OFFSET 0) s");
	$client->quit;
	return $answer;
}

write_keys($all_keys);
is(first_in_worker(), "$permuted in a worker", 'a worker that is the first to load the library reads the keys');
write_keys("default none\n");
is(first_in_worker(), 'F0000', 'and fails as its leader would');

$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
unlink $file;
$node->restart;
is(outcome('SELECT idgen.permute(1)'), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'the server starts with the library, but without the file');
write_keys($all_keys);
is(outcome('SELECT idgen.permute(1)'), $permuted, 'sessions read it when they need it');
is(first_in_worker(), "$permuted in a worker", 'and so do workers');
write_keys("default $key{other}\n");
isnt(outcome('SELECT idgen.permute(1)'), $permuted, 'a new session inherits no keys');
$node->reload;
is(outcome('SELECT idgen.permute(1)'), outcome('SELECT idgen.permute(1)'), 'also after a reload');
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
# the bytes from 0 to 15, the default key, are in the data of libraries
is(is_in_memory($postmaster, pack 'H*', $key{$_}) // 0, 0, "the postmaster does not have key $_") for grep { $_ ne 'default' } sort keys %key;

# ---------------------------------------------------------------------------
# A command line that names the file
# ---------------------------------------------------------------------------

sub start_with
{
	my (@options) = @_;

	$node->stop;
	system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, @options, 'start');
	$node->_update_pid(1);
}

write_keys($all_keys);
start_with('-o', '-c idgen.mask_key_file=mask_keys');
$session = Client->connect($node);
$session->wait;
is($in_session->(), $permuted, 'a session reads the keys of a file that the command line names');
write_keys("default $key{other}\n");
$node->reload;
wait_for_change($permuted);
is($in_session->(), outcome('SELECT idgen.permute(1)'), 'and reads them again after a reload');
$session->quit;

# ---------------------------------------------------------------------------
# Copies
# ---------------------------------------------------------------------------

write_keys($all_keys);
start_with();
is(outcome('SELECT idgen.permute(1)'), $permuted, 'the first keys again');
unlike($node->safe_psql('postgres', 'SELECT 1') . `pg_dumpall -h @{[$node->host]} -p @{[$node->port]}`, qr/mask_keys|$key{default}/, 'a dump has neither the file nor its name');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
my $copy = $standby->data_dir . '/mask_keys';
unlink $copy;
$standby->start;
is(outcome('SELECT idgen.permute(1)', node => $standby), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'a standby needs the file');
append_to_file($copy, $all_keys);
chmod 0600, $copy;
is(outcome('SELECT idgen.permute(1)', node => $standby), $permuted, 'with it, it answers as the primary does');
is(outcome("SELECT idgen.unmask_uuid_v7(idgen.mask_uuid_v7($v7)) = $v7", node => $standby), 't', 'in both directions');

$standby->stop;
$node->stop;
done_testing();
