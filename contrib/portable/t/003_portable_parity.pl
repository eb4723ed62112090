# Verify that the portable edition has the same functions and table as the extension, and that its triggers and hashes
# produce the same results, even in a different encoding. The test also checks the known differences.

use Digest::SHA qw(hmac_sha256);
use Encode qw(encode_utf8);
use KeyedPrefix;
use Server;

my $portable = join '', map { slurp_file("contrib/portable/$_.sql") } qw(uuids checks text_ids create_once);
init_server('portable', "timezone = 'UTC'\nautovacuum = off")->start;

# "c" and "latin_c" have the extension, and "p" and "latin_p" have the portable edition.
for ([ c => 'CREATE EXTENSION idgen' ], [ p => $portable ])
{
	my ($edition, $install) = @$_;
	ask("CREATE DATABASE $edition ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0");
	ask("CREATE DATABASE latin_$edition ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
	ask("SET client_encoding = UTF8; $install", $_) for $edition, "latin_$edition";
}

# --- The same functions and table -------------------------------------------
my $functions = q{
	SELECT p.oid::regprocedure, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), prokind, provolatile,
		CASE WHEN proname <> 'keyed_comb' THEN proparallel END, proisstrict,
		obj_description(p.oid, 'pg_proc') IS NOT NULL
	FROM pg_proc p WHERE pronamespace = 'idgen'::regnamespace AND proname !~ '^(portable|internal)_' ORDER BY 1};
my ($c, $p) = map { +{ map { /^idgen\.(\w+)/ => $_ } split /\n/, ask($functions, $_) } } 'c', 'p';

is_deeply([ map { $p->{$_} } sort keys %$p ], [ map { $c->{$_} // "no $_" } sort keys %$p ],
	'signatures, defaults, results and marks are those of the extension, and all have comments');
# Check identifiers of other schemes. sql/other_schemes.sql omits the functions that do not exist.
my ($of_c, $of_p) = map { [ split /\n/, ask(slurp_file('sql/other_schemes.sql'), $_) ] } 'c', 'p';
my %of_c = map { $_ => 1 } @$of_c;
cmp_ok(scalar @$of_p, '>', 25, 'readers are given identifiers of other schemes');
is_deeply([ grep { !$of_c{$_} } @$of_p ], [], 'and return what those of the extension do');

my $table = q{
	SELECT attname, atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attrelid = 'idgen.creation_identifiers'::regclass AND attnum > 0 ORDER BY attnum;
	SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
		WHERE conrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT reloptions, has_table_privilege('public', oid, 'SELECT, INSERT, UPDATE, DELETE')
	FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass};
is_deeply(map({ [ split /\n/, ask($table, $_) ] } 'p', 'c'), 'the table is that of the extension');

# --- Hashes of requests -----------------------------------------------------
# The text is hashed in UTF-8, with the keys in UTF-8 order.
sub hash_of
{
	my ($request, $database) = @_;
	return ask(qq{SET client_encoding = UTF8; BEGIN;
		SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000e', 1, 'n\xC3\xA9', $request);
		SELECT request_hash FROM idgen.creation_identifiers; ROLLBACK}, $database);
}
my $umlauts = qq('{"\xC3\xA9": "\xC3\xBC", "zz": 1, "yyy": "\xC3\x9F"}');
my @hashes = map { hash_of($umlauts, $_) } qw(latin_c latin_p c p);
like($hashes[0], qr/^t\n-?\d+$/, 'a request is recorded in LATIN1');
is_deeply([ @hashes[ 1 .. 3 ] ], [ ($hashes[0]) x 3 ], 'its hash is that of the extension, and of UTF-8');
my $long = q{('[' || repeat('0,', 400000) || '1.50]')::jsonb};
is(hash_of($long, 'p'), hash_of($long, 'c'), 'so is that of 800 kB of numbers');

# Citus rejects a DELETE whose array of ids is NULL, so there must be no DELETE if there are no rows to delete.
is(ask(q{BEGIN;
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'DELETE'; END $$;
	CREATE TRIGGER refuse BEFORE DELETE ON idgen.creation_identifiers EXECUTE FUNCTION refuse();
	SELECT idgen.purge_creations('24 hours'), idgen.trim_creations(1000); ROLLBACK}, 'p'), '0|0',
	'where nothing is to be deleted, nothing is');

# --- A rule that is dropped: the session keeps the plan without the INSERT ------
my $create = q{SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000f', gen_random_uuid(), 'n')};
for ([ c => ['42501'], "t\nf" ], [ p => [ '42501', '42501' ], 't' ])
{
	my ($edition, $errors, $rows) = @$_;
	my ($stdout, $stderr) = psql_said(qq{BEGIN;
		CREATE RULE nothing AS ON INSERT TO idgen.creation_identifiers DO INSTEAD NOTHING;
		\\set ON_ERROR_ROLLBACK on
		$create; DROP RULE nothing ON idgen.creation_identifiers; $create; DISCARD PLANS; $create; ROLLBACK},
		database => $edition, on_error_stop => 0);
	is_deeply([ [ $stderr =~ /ERROR:  (\w{5})/g ], $stdout ], [ $errors, $rows ],
		"$edition: create_once() after a rule, after it is dropped, and after DISCARD PLANS");
}

# --- A trigger, besides sql/trigger_rows.sql: the extension sees the row as the table's owner ---
ask(q{
	CREATE ROLE app LOGIN;
	CREATE TABLE made (id uuid PRIMARY KEY, n int);
	INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
	CREATE TRIGGER near BEFORE INSERT OR UPDATE OF id ON made
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	GRANT INSERT, SELECT (n) ON made TO app}, 'p');
my $repeated = q{INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')};
is(outcome($repeated, database => 'p'), '23505', 'a repeated INSERT reaches the unique index');
is(outcome($repeated, database => 'p', user => 'app'), '23514', 'that of a role that cannot read the column does not');

# --- keyed_comb(): its secret, its format, and the prefixes that a session keeps ------
my $secret = ask('SELECT secret FROM idgen.portable_secret', 'p');
like($secret, qr/^\\x[0-9a-f]{32}$/, 'it has a secret of 16 bytes');
ask(slurp_file('contrib/portable/uuids.sql'), 'p');
is(ask('SELECT secret FROM idgen.portable_secret', 'p'), $secret, 'the file keeps it when it runs again');
is(outcome("INSERT INTO idgen.portable_secret VALUES ($_->[0], '$secret')", database => 'p'), $_->[1],
	'a second one is not possible') for [ 'true', '23505' ], [ 'false', '23514' ];
is(outcome('SELECT FROM idgen.portable_secret', database => 'p', user => 'app'), '42501',
	'a role that is not its owner cannot read it');

# Each known answer consists of a key, an area, a period and a Unix time in ms, and the prefix.
my $key = pack 'C*', 0 .. 15;
my $secret_is = q{SET client_encoding = UTF8; UPDATE idgen.portable_secret SET secret = '\x} . unpack('H*',
	$key) . q{'};
my $prefix_at = q{left(idgen.keyed_comb('%s', %s * interval '1 ms', (SELECT timestamptz '1970-01-01 00:00+00'
	+ make_interval(days => (ms / 86400000)::int, secs => ms %% 86400000 / 1000.0) FROM (SELECT %s ms) t))::text, 8)};
SKIP:
{
	my $file = 'contrib/clients/hmac_comb_vectors.csv';
	skip "$file is not here", 2 if !-e $file;
	my (undef, @vectors) = map { [ split /,/ ] } split /\n/, slurp_file($file);
	my @calls = map { sprintf "SELECT $prefix_at", @$_[ 1 .. 3 ] } @vectors;
	is_deeply([ split /\n/, ask(join('; ', $secret_is, @calls), $_) ], [ map { $_->[4] } @vectors ],
		"$_: prefixes are those of " . @vectors . ' known answers')
	  for 'p', 'latin_p';
}

# Compare prefixes with the definition, from 4713 BC to 294276, for periods from 1 ms to 1,000 years.
my @areas = ('', 'a', 'a b', q{"$area$" \\ it's}, "n\xE9\x{20AC}", 'x' x 63);
my @cases = map { my $period = $_; map { [ $areas[ rand @areas ], $period, $_ ] }
	  0, -1, -3_600_001, -210_866_803_200_000, 253_402_300_799_999, 9_224_318_015_999_999,
		map { int rand 2e12 } 1 .. 6 }
  1, 7, 11, 12, 13, 60_000, 3_600_000, 365_250 * 86_400_000;
is_deeply([ split /\n/, ask(join('; ', $secret_is,
			map { sprintf "SELECT $prefix_at", encode_utf8($_->[0] =~ s/'/''/gr), @$_[ 1, 2 ] } @cases), 'p') ],
	[ map { keyed_prefix($key, @$_) } @cases ], 'prefixes are those of the definition');

# If a role cannot read the secret, a call with a clock uses another key, so that the role cannot date the keys of
# others.
my ($year, $period) = (365250, 365250 * 86400000);
my @years = map { 1000 * time + $_ * $period / 12 } -1 .. 1;
is_deeply([ split /\n/, outcome(join('; ', map { sprintf "SELECT $prefix_at", 'a', $period, $_ } @years),
			database => 'p', user => 'app') ],
	[ map { keyed_prefix(hmac_sha256('clock', $key), 'a', $period, $_) } @years ],
	'a role that cannot read the secret has other prefixes by a clock');
my $live = "SELECT left(idgen.keyed_comb('a', '$year days')::text, 8)";
my $expected = keyed_prefix($key, 'a', $period, 1000 * time);
is(outcome($live, database => 'p', user => 'app'), $expected, '... and those of all roles now');
is_deeply([ map { outcome("SELECT idgen.keyed_comb($_)", database => 'p', user => 'app') }
		'', 'NULL', "'a', NULL", "repeat('x', 64)", "'a', clock => 'infinity'", "'a', '0.5 ms'", "'a', '1 month'" ],
	[qw(42883 22004 22004 22023 22008 22023 22023)], 'other arguments are errors');
my $long_area = qq{SET client_encoding = UTF8; SELECT length(idgen.keyed_comb(repeat('\xC3\xA9', %s))::text)};
for my $database ('latin_c', 'latin_p')
{
	is_deeply([ map { outcome(sprintf($long_area, $_), database => $database) } 31, 32 ], [ 36, '22023' ],
		"$database: the bytes of an area are counted in UTF-8");
}

# In one session, the prefix changes with area and period. A call with a clock does not replace the stored prefix.
my @calls = ("'', '$year days'", "'a', '$year days'", "'b', '$year days'",
	"'', '$year days', '2300-01-01'", "'b', '200000 days'");
my $all = 'SELECT concat_ws($$ $$, ' . join(', ', map { "left(idgen.keyed_comb($_)::text, 8)" } @calls) . ')';
my @rows = split /\n/, ask("$all FROM generate_series(1, 3)", 'p');
is(scalar(keys %{ { map { $_ => 1 } split / /, $rows[0] } }), @calls, 'areas and periods have prefixes of their own');
is_deeply([ @rows[ 1, 2 ] ], [ @rows[ 0, 0 ] ], 'to which the session returns');
is(ask("BEGIN; $all; RESET ALL; $all; ROLLBACK; DISCARD ALL; $all", 'p'), join("\n", ($rows[0]) x 3),
	'also after RESET and ROLLBACK');
is(ask(q{SET track_functions = 'pl'; BEGIN;
	SELECT count(idgen.keyed_comb(i % 3 || 'area', '365250 days')) FROM generate_series(1, 3000) i;
	SELECT pg_stat_get_xact_function_calls('idgen.portable_current_prefix'::regproc) < 100; COMMIT}, 'p'), "3000\nt",
	'it computes few of the prefixes that it keeps');

# A session that writes the setting chooses only the prefix of its own keys.
my $setting = q{'idgen_portable.prefix_' || (hashtext('a') & 255)};
my $kept = "current_setting($setting)";
my $written = "$live; SELECT set_config($setting, '%s' || substr($kept, 9), false) IS NULL; $live";
like(ask(sprintf($written, 'deadbeef'), 'p'), qr/\ndeadbeef$/, 'a prefix that the session writes is that of its keys');
is(outcome(sprintf($written, $_), database => 'p'), '22P02', "one of '$_' is no key") for '{eadbeef', 'de-dbeef';
my $twelfth = int(12000 * time / $period);
for my $value ('', 'x', map { "deadbeef$_" } $twelfth, $twelfth - 1 . " $period a", "$twelfth $period b",
	"$twelfth 1 a", "$twelfth $period A")
{
	is(ask("SELECT set_config($setting, '$value', false) IS NULL; $live", 'p'), "f\n$expected",
		"a setting of '$value' is not used");
}
ask('DELETE FROM idgen.portable_secret', 'p');
is(outcome($_, database => 'p', user => 'app'), '55000', 'without the secret, a call is an error')
  for $live, q{SELECT idgen.keyed_comb('a', clock => now())};
is(outcome('SELECT idgen.short_comb(run_length => 2)', database => 'p'), '0A000', 'a run of short COMBs is refused');

# The portable edition takes the random bits of a ULID from uuids. Each bit must be set in about half of the ULIDs.
is(ask(q{
		SELECT count(*) FILTER (WHERE abs(ones - 2500) > 6 * sqrt(5000) / 2)
		FROM (SELECT sum(get_bit(uuid_send(idgen.ulid_to_uuid(id)), bit)) AS ones
			  FROM (SELECT idgen.ulid() AS id FROM generate_series(1, 5000) OFFSET 0) s, generate_series(48, 127) bit
			  GROUP BY bit) t}, 'p'),
	'0', 'all 80 bits of a ULID are random');

done_testing();
