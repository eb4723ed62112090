# The portable edition against the extension: the same functions and table, verdicts of
# triggers and hashes, also in another encoding; and what is different.

use OtherSchemes;
use Server;

my $portable = join '', map { slurp_file("contrib/portable/$_.sql") } qw(uuids text_ids create_once);
init_server('portable', "timezone = 'UTC'\nautovacuum = off")->start;

# "c" and "latin_c" have the extension, "p" and "latin_p" the portable edition.
for ([ c => 'CREATE EXTENSION idgen' ], [ p => $portable ])
{
	my ($edition, $install) = @$_;
	ask("CREATE DATABASE $edition ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0");
	ask("CREATE DATABASE latin_$edition ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
	ask("SET client_encoding = UTF8; $install", $_) for $edition, "latin_$edition";
}

# The same query in both editions; of the rows, the first that differs is reported
sub is_same
{
	my ($query, $name) = @_;
	is_deeply(map({ [ split /\n/, ask($query, $_) ] } 'p', 'c'), $name);
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
my $missing = join ' ', grep { !$p->{$_} } sort keys %$c;
my ($listed) = slurp_file('contrib/portable/README.md') =~ /Not included:\n\n(.*?)\n\n/s;
is(join(' ', sort($listed =~ /`(\w+)`/g)), $missing, 'contrib/portable/README.md lists the functions that are missing');

OtherSchemes::check('p');

is_same(q{
	SELECT attname, atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attrelid = 'idgen.creation_identifiers'::regclass AND attnum > 0 ORDER BY attnum;
	SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
		WHERE conrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT reloptions, has_table_privilege('public', oid, 'SELECT, INSERT, UPDATE, DELETE')
	FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass}, 'the table is that of the extension');

# --- Hashes of requests -----------------------------------------------------
# of the text in UTF-8, and of the keys in its order
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

my $create = q{SELECT created FROM idgen.create_once(
	'c0000000-0000-4000-8000-00000000000f', 'e0000000-0000-4000-8000-00000000000f', 'order')};
is_same("BEGIN; $create; ALTER TABLE idgen.creation_identifiers ALTER command_name TYPE varchar; $create; ROLLBACK",
	'the name of a command can be of another type');

# Citus refuses the DELETE of no row by an array that is NULL
is(ask(q{BEGIN;
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'DELETE'; END $$;
	CREATE TRIGGER refuse BEFORE DELETE ON idgen.creation_identifiers EXECUTE FUNCTION refuse();
	SELECT idgen.purge_creations(), idgen.trim_creations(1000); ROLLBACK}, 'p'), '0|0',
	'where nothing is to be deleted, nothing is');

# --- Triggers ----------------------------------------------------------------
# In one session, the trigger is for one column after the other, while columns come and
# go. The value of another version is refused only if the trigger reads its column.
my $session = q{
	SET client_min_messages = warning;
	CREATE FUNCTION pg_temp.result(statement text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE t text; c text; n text;
	BEGIN
		EXECUTE statement;
		RETURN 'done';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS t = TABLE_NAME, c = COLUMN_NAME, n = CONSTRAINT_NAME;
		RETURN concat_ws(' | ', SQLSTATE, t, c, n);
	END $$;
	CREATE DOMAIN pg_temp.key AS uuid;
	CREATE DOMAIN pg_temp.narrow_key AS pg_temp.key;
	CREATE TEMP TABLE made (k uuid, "Key" uuid, d pg_temp.narrow_key, t text, id uuid,
		g uuid GENERATED ALWAYS AS (id) STORED);
	CREATE TEMP TABLE kept AS SELECT uuid '017f22e2-79b0-7cc3-98c4-dc0c0c07398f' AS id, 1 AS n};

sub insert_after
{
	my ($table, $column, $timing, $arguments, @values) = @_;
	return ";\nCREATE OR REPLACE TRIGGER checked $timing
		EXECUTE FUNCTION idgen.check_recent_id('$column', 'uuid_v7'$arguments)"
	  . join '', map { qq{;\nSELECT '$column', pg_temp.result('INSERT INTO $table ("$column") VALUES ($_)')} } @values;
}
for my $change ('SELECT', 'ALTER TABLE made DROP COLUMN k', 'ALTER TABLE made ADD COLUMN k uuid',
	'ALTER TABLE made DROP COLUMN "Key"', 'ALTER TABLE made RENAME COLUMN k TO "Key"',
	'ALTER TABLE made ADD COLUMN k uuid', 'ALTER TABLE made DROP COLUMN d, ADD COLUMN d uuid')
{
	$session .= ";\n$change";
	for my $column (qw(k Key d t id g missing))
	{
		$session .= insert_after('made', $column, 'BEFORE INSERT ON made FOR EACH ROW', $_,
			'NULL', 'idgen.uuid_v7()', q{''017f22e2-79b0-4cc3-98c4-dc0c0c07398f''})
		  for '', ", 'past_tolerance=1 hour', 'future_tolerance=2 hours'";
	}
}
is_same($session, 'a trigger reads its column by name, and finds the same fault');
is(scalar(() = ask($session, 'p') =~ /\|23514 \| /g), 50, 'it refuses the identifier in each column');

# the indexes of the table to which a repeated INSERT is left
$session .= ";\nCREATE $_" . insert_after('kept', 'id', 'BEFORE INSERT ON kept FOR EACH ROW', '',
	q{''017f22e2-79b0-7cc3-98c4-dc0c0c07398f''})
  . '; DROP INDEX i'
  for 'UNIQUE INDEX i ON kept (id)', 'INDEX i ON kept (id)', 'UNIQUE INDEX i ON kept (n)',
  'UNIQUE INDEX i ON kept (n, id)', 'UNIQUE INDEX i ON kept (id, n)', 'UNIQUE INDEX i ON kept (id) INCLUDE (n)',
  'UNIQUE INDEX i ON kept (id) WHERE n > 0';
is_same($session, 'a trigger leaves a repeated INSERT to the same indexes');

$session .= insert_after('kept', 'id', $_, '', 'idgen.uuid_v7()') . q{; SELECT pg_temp.result('DELETE FROM kept')}
  for 'AFTER INSERT ON kept FOR EACH ROW', 'BEFORE INSERT ON kept FOR EACH STATEMENT',
  'BEFORE INSERT OR DELETE ON kept FOR EACH ROW';
is_same($session, 'a trigger is BEFORE INSERT or UPDATE, and for each row');
is(join(' ', (ask($session, 'p') =~ /\b(39P01|done)\b/g)[ -6 .. -1 ]), '39P01 done 39P01 done done 39P01',
	'or raises an error');

# Two triggers, and a role that may not read the column: there, the extension sees the row.
ask(q{
	CREATE ROLE app LOGIN;
	CREATE TABLE made (id uuid PRIMARY KEY, "Key" uuid, n int);
	INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
	CREATE TRIGGER near BEFORE INSERT OR UPDATE OF id ON made
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	CREATE TRIGGER hourly BEFORE INSERT OR UPDATE ON made
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('Key', 'short_comb', 'period=1 hour', 'prefix_bytes=1');
	GRANT INSERT, SELECT (n) ON made TO app}, 'p');
my $repeated = q{INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')};
for (
	[ 'new identifiers pass', q{INSERT INTO made VALUES (idgen.uuid_v7(), idgen.short_comb('1 hour', 1))}, '' ],
	[ 'an old one is refused', q{INSERT INTO made VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398e')}, '23514 near' ],
	[ 'the other trigger refuses', q{INSERT INTO made VALUES (idgen.uuid_v7(), 'ffffffff-0000-7000-8000-000000000000')},
		'23514 hourly' ],
	[ 'a repeated INSERT reaches the unique index', $repeated, '23505 made_pkey' ],
	[ 'and ON CONFLICT', "$repeated ON CONFLICT (id) DO UPDATE SET n = 2", '' ],
	[ 'a role that cannot read the column does not see the row', $repeated, '23514 near', user => 'app' ],
	[ 'an unchanged identifier passes', 'UPDATE made SET n = 3, id = id', '' ],
	[ 'a changed one is checked', q{UPDATE made SET id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398e'}, '23514 near' ],
	[ 'and NULL passes', 'INSERT INTO made VALUES (idgen.uuid_v7(), NULL)', '' ])
{
	my ($name, $statement, $failure, @as) = @$_;
	my $errors = errors($statement, database => 'p', @as);
	is(join(' ', map { $errors =~ $_ } qr/ERROR:  (\w+)/, qr/CONSTRAINT NAME:  (\w+)/), $failure, $name);
}

# --- What is different ------------------------------------------------------
is(outcome('SELECT idgen.short_comb(run_length => 2)', database => 'p'), '0A000', 'a run of short COMBs is refused');

# --- keyed_comb(): its secret, and the prefix that a session keeps ----------
is(ask(q{SELECT proparallel FROM pg_proc WHERE oid = 'idgen.keyed_comb'::regproc}, 'p'), 'u',
	'keyed_comb() is parallel unsafe');
my $secret = ask('SELECT secret FROM idgen.portable_secret', 'p');
like($secret, qr/^\\x[0-9a-f]{64}$/, 'it has a secret of 32 bytes');
ask(slurp_file('contrib/portable/uuids.sql'), 'p');
is(ask('SELECT secret FROM idgen.portable_secret', 'p'), $secret, 'the file keeps it when it runs again');
is(outcome("INSERT INTO idgen.portable_secret (secret) VALUES ('$secret')", database => 'p'), '23505',
	'a second one is not possible');
is(outcome("INSERT INTO idgen.portable_secret VALUES (false, '$secret')", database => 'p'), '23514',
	'nor with another key');
my $as_app = 'SET ROLE app';
is(outcome('SELECT idgen.uuid_version(idgen.keyed_comb())', database => 'p', user => 'app'), 4,
	'every role can call the function');
is(outcome('SELECT FROM idgen.portable_secret', database => 'p', user => 'app'), '42501', 'and not read the secret');
my $given = q{SELECT left(idgen.keyed_comb('365250 days', clock => '2026-11-20 03:44:00+00')::text, 8)};
ask('CREATE DATABASE copy TEMPLATE p');
isnt(ask($given, 'copy'), ask($given, 'p'), 'a copy of a database has other prefixes');

# The prefix by its definition: twelfths of the period, one domain for the current time and one for given clocks
sub defined_prefix
{
	my ($period_ms, $twelfth, $area, $given) = @_;
	return qq{(SELECT left(encode(sha256(secret || sha256(textsend('p')) || sha256(textsend('$area'))
		|| int8send($period_ms) || int8send($twelfth) || '\\x0$given'), 'hex'), 8) FROM idgen.portable_secret)};
}
is(ask(q{SELECT left(idgen.keyed_comb(area => 'a', clock => to_timestamp(300.0 * 5938929))::text, 8) = }
		. defined_prefix(3600000, 5938929, 'a', 1), 'p'), 't', 'prefixes of a given clock are those of the definition');
my ($year, $period) = (365250, 365250 * 86400000);
my $twelfth = "floor(extract(epoch FROM now()) * 1000 / ($period / 12))::bigint";
is(ask(qq{SELECT left(idgen.keyed_comb('$year days', 'a')::text, 8) = }
		. defined_prefix($period, $twelfth, 'a', 0), 'p'), 't', 'so are those of the current time');

# In one session, the prefix changes with area and period, and a call with a clock does not replace it.
my @calls = ("'$year days'", "'$year days', 'a'", "'$year days', 'b'",
	"'$year days', clock => now()", "'200000 days', 'b'");
my $all = 'SELECT concat_ws($$ $$, ' . join(', ', map { "left(idgen.keyed_comb($_)::text, 8)" } @calls) . ')';
my @rows = split /\n/, ask("$all FROM generate_series(1, 3)", 'p');
is(scalar(keys %{ { map { $_ => 1 } split / /, $rows[0] } }), @calls, 'areas and periods have prefixes of their own');
is_deeply([ @rows[ 1, 2 ] ], [ @rows[ 0, 0 ] ], 'to which the session returns');
is(ask("BEGIN; $all; RESET ALL; $all; ROLLBACK; DISCARD ALL; $all", 'p'), join("\n", ($rows[0]) x 3),
	'also after RESET and ROLLBACK');

my $kept = 'current_setting($$idgen_portable.prefix$$)';
# A session that writes the setting chooses the place of its own keys.
my $written = qq{SELECT idgen.keyed_comb('$year days') IS NULL;
	SELECT set_config('idgen_portable.prefix', '%s' || substr($kept, 9), false) IS NULL};
like(ask(sprintf($written, 'deadbeef') . "; SELECT idgen.keyed_comb('$year days')", 'p'),
	qr/^deadbeef-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/m,
	'a prefix that the session writes is that of its keys');
is(outcome(sprintf($written, $_) . "; SELECT idgen.keyed_comb('$year days')", database => 'p'), '22P02',
	"one of '$_' is no key")
  for '{eadbeef', 'de-dbeef';
my $now = ask("SELECT $twelfth", 'p');
for my $setting ('', 'x', "deadbeef$period", map { "deadbeef$_" } "$period " . ($now - 1) . ' a',
	"$period $now b", "1 $now a")
{
	is(ask("SET idgen_portable.prefix = '$setting'; SELECT left(idgen.keyed_comb('$year days', 'a')::text, 8)", 'p'),
		(split / /, $rows[0])[1], "a setting of '$setting' is not used");
}

# A caller with hostile objects on its path: none of them is reached.
ask(q{CREATE SCHEMA hostile AUTHORIZATION app}, 'p');
my @hostile = map { "CREATE FUNCTION hostile.$_ LANGUAGE plpgsql AS \$f\$ BEGIN RAISE 'reached'; END \$f\$" }
	'substr(text, int) RETURNS text', '"left"(text, int) RETURNS text',
	'current_setting(text, boolean) RETURNS text', 'gen_random_uuid() RETURNS uuid',
	'clock_timestamp() RETURNS timestamptz', 'set_config(text, text, boolean) RETURNS text',
	'sha256(bytea) RETURNS bytea',
	'current_database() RETURNS name', 'same(text, text) RETURNS boolean', 'glued(text, text) RETURNS text',
	'glued(text, bigint) RETURNS text',
	'glued(bytea, bytea) RETURNS bytea';
ask(join('; ', $as_app, @hostile,
	'CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.same)',
	map({ "CREATE OPERATOR hostile.|| (LEFTARG = $_->[0], RIGHTARG = $_->[1], FUNCTION = hostile.glued)" }
		[qw(text text)], [qw(text bigint)], [qw(bytea bytea)]),
	'CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (false)',
	'CREATE DOMAIN hostile.uuid AS pg_catalog.uuid CHECK (false)',
	'CREATE DOMAIN hostile.bigint AS pg_catalog.int8 CHECK (false)'), 'p');
my $hostile_path = 'SET search_path = hostile, pg_catalog';
my $unqualified = q{SELECT idgen.keyed_comb('365250 days', 'a')};
like(errors("$hostile_path; SELECT clock_timestamp()", database => 'p', user => 'app'), qr/reached/,
	'a caller has objects of its own on its path');
is(substr(ask("$as_app; $hostile_path; $unqualified; $unqualified", 'p'), 37, 8), (split / /, $rows[0])[1],
	'keyed_comb() reaches none of them');

# A role that calls the internal function, too, learns the current prefix of an area, and no other time's.
my $direct = "SELECT idgen.portable_keyed_prefix($period, 'a', NULL)";
is(ask("$as_app; $direct", 'p'), (split / /, $rows[0])[1],
	'the function that reads the secret returns the current prefix');
my @others = map { ask('SELECT ' . defined_prefix($period, "$twelfth + $_", 'a', 0), 'p') } -1, 1;
my %learnt = map { $_ => 1 } split /\n/, ask("$as_app;
	SELECT idgen.portable_keyed_prefix($period, 'a', now() + n * interval '$year days' / 12)
	FROM generate_series(-2, 2) n", 'p');
ok(!grep({ $learnt{$_} } @others), 'a given clock gives no prefix of another time');
is_deeply([ map { outcome("SELECT idgen.portable_keyed_prefix($_)", database => 'p', user => 'app') }
		"NULL, 'a', NULL", "1, NULL, NULL", "1, repeat('a', 64), NULL", "1, 'a', 'infinity'" ],
	[qw(55000 22004 22023 22008)], 'other arguments are errors');

# The prefix is kept: 3 times gen_random_uuid(), and 13 times if each call computed it. The ratio
# is that of the best of rounds that alternate in one session, which load can only make worse
my $ratio = ask(q{
	CREATE FUNCTION ms(call text) RETURNS float8 LANGUAGE plpgsql AS $$
	DECLARE start timestamptz := clock_timestamp(); n bigint;
	BEGIN
		EXECUTE format('SELECT count(%s) FROM generate_series(1, 500)', call) INTO n;
		RETURN extract(epoch FROM clock_timestamp() - start) * 1000;
	END $$;
	CREATE FUNCTION ratio() RETURNS float8 LANGUAGE plpgsql AS $$
	DECLARE of_row float8; random float8; keyed float8;
	BEGIN
		FOR i IN 1 .. 2000 LOOP
			of_row := least(of_row, ms('pg_backend_pid()'));
			random := least(random, ms('gen_random_uuid()'));
			keyed := least(keyed, ms('idgen.keyed_comb(area => $a$orders$a$)'));
			EXIT WHEN i >= 40 AND keyed - of_row < 8 * (random - of_row);
		END LOOP;
		RETURN (keyed - of_row) / (random - of_row);
	END $$;
	SELECT ratio()}, 'p');
cmp_ok($ratio, '<', 8, 'keyed_comb() keeps its prefix');
diag(sprintf 'keyed_comb() costs %.1f times gen_random_uuid()', $ratio);

# the random bits of a ULID that is made of uuids: each is set in half of them
is(ask(q{
		SELECT count(*) FILTER (WHERE abs(ones - 2500) > 6 * sqrt(5000) / 2)
		FROM (SELECT sum(get_bit(uuid_send(idgen.ulid_to_uuid(id)), bit)) AS ones
			  FROM (SELECT idgen.ulid() AS id FROM generate_series(1, 5000) OFFSET 0) s, generate_series(48, 127) bit
			  GROUP BY bit) t}, 'p'),
	'0', 'all 80 bits of a ULID are random');

done_testing();
