# The portable edition against the extension: the same functions and table, and the same
# results in another encoding and with a clock before 1970. t/070_portable_results.pl
# compares results for random values.

use FindBin;
use lib "$FindBin::RealBin/lib";
use FakeClock;
use Server;

my $folder = "$FindBin::RealBin/../portable";
my $portable = join '', map { slurp_file("$folder/$_.sql") } qw(uuids text_ids create_once);
my $node = init_server('portable', "timezone = 'UTC'\nautovacuum = off");
$node->start;

# "c" and "latin_c" have the extension, "p" and "latin_p" the portable edition.
my %install = (c => 'CREATE EXTENSION idgen', p => $portable);
for my $edition (sort keys %install)
{
	ask("CREATE DATABASE $edition ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0");
	ask("CREATE DATABASE latin_$edition ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
	ask("SET client_encoding = UTF8; $install{$edition}", $_) for $edition, "latin_$edition";
}

# The same query in both editions; of the rows, the first that differs is reported
sub is_same
{
	my ($query, $name) = @_;
	is_deeply(map({ [ split /\n/, ask($query, $_) ] } 'p', 'c'), $name);
}

# --- The same functions and table -------------------------------------------
my $functions = q{
	SELECT p.oid::regprocedure || ' | ' || pg_get_function_arguments(p.oid) || ' | ' || pg_get_function_result(p.oid) || ' | '
		|| prokind::text || provolatile::text || proparallel::text || proisstrict::text || ' | ' || (obj_description(p.oid, 'pg_proc') IS NOT NULL)
	FROM pg_proc p WHERE pronamespace = 'idgen'::regnamespace AND proname NOT LIKE 'portable\_%' ORDER BY 1};
my ($c, $p) = map { +{ map { /^idgen\.(\w+)/ => $_ } split /\n/, ask($functions, $_) } } 'c', 'p';

is_deeply([ map { $p->{$_} } sort keys %$p ], [ map { $c->{$_} // "no $_" } sort keys %$p ],
	'signatures, defaults, results and marks are those of the extension, and all have comments');
my $missing = join ' ', grep { !$p->{$_} } sort keys %$c;
my ($listed) = slurp_file("$folder/../docs/portable.md") =~ /Not included:\n\n(.*?)\n\n/s;
is(join(' ', sort($listed =~ /`(\w+)`/g)), $missing, 'docs/portable.md lists the functions that are missing');

is_same(q{
	SELECT attname, atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attrelid = 'idgen.creation_identifiers'::regclass AND attnum > 0 ORDER BY attnum;
	SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'idgen.creation_identifiers'::regclass ORDER BY 1;
	SELECT reloptions, has_table_privilege('public', oid, 'SELECT, INSERT, UPDATE, DELETE') FROM pg_class WHERE oid = 'idgen.creation_identifiers'::regclass},
	'the table is that of the extension');

# --- Another encoding -------------------------------------------------------
# the hash is that of the text in UTF-8, and of the keys in its order
my @hashes = map {
	ask(qq{SET client_encoding = UTF8;
		SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000e', '00000000-0000-4000-8000-000000000000', 'n\xC3\xA9', '{"\xC3\xA9": "\xC3\xBC", "zz": 1, "yyy": "\xC3\x9F"}');
		SELECT request_hash FROM idgen.creation_identifiers WHERE command_id = 'c0000000-0000-4000-8000-00000000000e'}, $_)
} qw(latin_c latin_p c p);
like($hashes[0], qr/^t\n-?\d+$/, 'a request is recorded in LATIN1');
is_deeply([ @hashes[ 1 .. 3 ] ], [ ($hashes[0]) x 3 ], 'its hash is that of the extension, and of UTF-8');

# --- The column of a trigger -------------------------------------------------
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
	CREATE TEMP TABLE made (k uuid, "Key" uuid, d pg_temp.narrow_key, t text, id uuid, g uuid GENERATED ALWAYS AS (id) STORED)};
for my $change ('SELECT', 'ALTER TABLE made DROP COLUMN k', 'ALTER TABLE made ADD COLUMN k uuid', 'ALTER TABLE made DROP COLUMN "Key"',
	'ALTER TABLE made RENAME COLUMN k TO "Key"', 'ALTER TABLE made ADD COLUMN k uuid', 'ALTER TABLE made DROP COLUMN d, ADD COLUMN d uuid')
{
	$session .= ";\n$change";
	for my $column (qw(k Key d t id g missing))
	{
		for my $arguments ('', ", 'past_tolerance=1 hour', 'future_tolerance=2 hours'")
		{
			$session .= ";\nCREATE OR REPLACE TRIGGER checked BEFORE INSERT ON made FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('$column', 'uuid_v7'$arguments)";
			$session .= qq{;\nSELECT '$column', pg_temp.result('INSERT INTO made ("$column") VALUES ($_)')} for 'NULL', 'idgen.uuid_v7()', q{''017f22e2-79b0-4cc3-98c4-dc0c0c07398f''};
		}
	}
}
is_same($session, 'a trigger reads its column by name, and finds the same fault');
is(scalar(() = ask($session, 'p') =~ /\|23514 \| /g), 50, 'it refuses the identifier in each column');

# the indexes of the table to which a repeated INSERT is left
$session = q{
	CREATE FUNCTION pg_temp.state(statement text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE statement;
		RETURN 'inserted';
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END $$;
	CREATE TABLE pg_temp.kept (id uuid, n int);
	INSERT INTO kept VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1);
	CREATE TRIGGER check_id BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7')};
for my $index ('UNIQUE INDEX i ON kept (id)', 'INDEX i ON kept (id)', 'UNIQUE INDEX i ON kept (n)', 'UNIQUE INDEX i ON kept (n, id)', 'UNIQUE INDEX i ON kept (id, n)',
	'UNIQUE INDEX i ON kept (id) INCLUDE (n)', 'UNIQUE INDEX i ON kept (id) WHERE n > 0')
{
	$session .= ";\nCREATE $index; SELECT pg_temp.state('INSERT INTO kept VALUES (''017f22e2-79b0-7cc3-98c4-dc0c0c07398f'', $_)'); DROP INDEX i" for 1, 2;
}
is_same($session, 'a trigger leaves a repeated INSERT to the same indexes');

$session .= '; DELETE FROM kept';
$session .= "; CREATE OR REPLACE TRIGGER check_id $_ EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7')"
  . q{; SELECT pg_temp.state('INSERT INTO kept VALUES (idgen.uuid_v7())'), pg_temp.state('DELETE FROM kept')}
  for 'AFTER INSERT ON kept FOR EACH ROW', 'BEFORE INSERT ON kept FOR EACH STATEMENT', 'BEFORE INSERT OR DELETE ON kept FOR EACH ROW';
is_same($session, 'a trigger is BEFORE INSERT or UPDATE, and for each row');
like(ask($session, 'p'), qr/^39P01\|inserted\n39P01\|inserted\ninserted\|39P01$/m, 'or raises an error');

# --- Commands ----------------------------------------------------------------
my $command = q{SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-00000000000f', 'e0000000-0000-4000-8000-00000000000f', 'order')};
is_same("BEGIN; $command; ALTER TABLE idgen.creation_identifiers ALTER command_name TYPE varchar; $command; ROLLBACK", 'the name of a command can be of another type');

my $request = q{'{"1.50": "2.0", "b\\"3.0": [1.50, 2.0, 0.0, 10.010, -4.000, "5.0\\\\", 6.0], "\\\\\\"7.0": "8.00\\" 9.0", "c": 100}'};
is_same("BEGIN; SELECT created FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000f', 1, 'order', $request); SELECT request_hash FROM idgen.creation_identifiers; ROLLBACK",
	'the hash ignores the zeros at the end of fractions, and no others');

# Citus refuses the DELETE of no row by an array that is NULL
is(ask(q{BEGIN;
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'DELETE'; END $$;
	CREATE TRIGGER refuse BEFORE DELETE ON idgen.creation_identifiers EXECUTE FUNCTION refuse();
	SELECT idgen.purge_creations(), idgen.trim_creations(1000); ROLLBACK}, 'p'), '0|0', 'where nothing is to be deleted, nothing is');

# if the time were quadratic, the ratio would be 64
ask(q{CREATE FUNCTION seconds(numbers int, OUT s numeric) LANGUAGE plpgsql AS $$
	DECLARE
		request jsonb := ('[' || repeat('0,', numbers) || '1.50]')::jsonb;
		start timestamptz;
	BEGIN
		FOR n IN 1 .. 3 LOOP
			start := clock_timestamp();
			PERFORM idgen.portable_request_hash(request);
			s := least(s, extract(epoch FROM clock_timestamp() - start));
		END LOOP;
	END $$}, 'p');
my $ratio;		# on a busy machine, some are too great by chance
for (1 .. 10)
{
	last if ($ratio = ask('SELECT seconds(400000) / seconds(50000)', 'p')) < 24;
}
cmp_ok($ratio, '<', 24, 'the time of a hash is linear in the numbers of a request');

# --- What is different ------------------------------------------------------
like(errors('SELECT idgen.short_comb(run_length => 2)', database => 'p'), qr/0A000: run_length must be 1/, 'a run of short COMBs is refused');

# the secret of keyed_comb()
my $secret = ask('SELECT secret FROM idgen.portable_secret', 'p');
like($secret, qr/^\\x[0-9a-f]{64}$/, 'keyed_comb() has a secret of 32 bytes');
$node->command_ok([ 'psql', '-XqAt', '-d', $node->connstr('p'), '-f', "$FindBin::RealBin/../portable/uuids.sql" ], 'the file runs again');
is(ask('SELECT secret FROM idgen.portable_secret', 'p'), $secret, 'and keeps the secret');
ask('CREATE ROLE stranger LOGIN');
is(outcome('SELECT idgen.uuid_version(idgen.keyed_comb())', database => 'p', user => 'stranger'), 4, 'every role can call it');
is(outcome('SELECT FROM idgen.portable_secret', database => 'p', user => 'stranger'), '42501', 'and not read the secret');
my $given = q{SELECT left(idgen.keyed_comb('365250 days', clock => '2026-11-20 03:44:00+00')::text, 8)};
ask('CREATE DATABASE copy TEMPLATE p');
isnt(ask($given, 'copy'), ask($given, 'p'), 'a copy of a database has other prefixes');
my $hash = q{left(encode(sha256(secret || sha256(textsend('p')) || sha256(textsend('a')) || int8send(300000) || int8send(5938929) || '\x01'), 'hex'), 8) FROM idgen.portable_secret};
is(ask(q{SELECT left(idgen.keyed_comb(area => 'a', clock => to_timestamp(300.0 * 5938929))::text, 8)}, 'p'), ask("SELECT $hash", 'p'), 'prefixes are those of the definition');

# the random bits of a ULID that is made of uuids: each is set in half of them
is(ask(q{
		SELECT count(*) FILTER (WHERE abs(ones - 2500) > 6 * sqrt(5000) / 2)
		FROM (SELECT sum(get_bit(uuid_send(idgen.ulid_to_uuid(id)), bit)) AS ones
			  FROM (SELECT idgen.ulid() AS id FROM generate_series(1, 5000) OFFSET 0) s, generate_series(48, 127) bit GROUP BY bit) t}, 'p'),
	'0', 'all 80 bits of a ULID are random');

# --- A clock before 1970 ----------------------------------------------------
# the result of each expression, or its SQLSTATE
my @calls = map { s/^\s+//r } grep { /\S/ } split /\n/, q{
	idgen.uuid_v7()
	idgen.comb()
	idgen.ulid()
	idgen.typeid('user')
	substr(idgen.short_comb()::text, 1, 4)
	substr(idgen.short_comb('7 hours', 3)::text, 1, 6)
	substr(idgen.prefixed_id('acct'), 1, 6)
	idgen.short_comb_timestamp('ffff1111-1111-4111-8111-111111111111')
	idgen.short_comb_timestamp(idgen.short_comb())
	idgen.is_recent_short_comb(idgen.short_comb())
	idgen.is_recent_short_comb('00001111-1111-4111-8111-111111111111', '2 days')
	idgen.is_recent_comb('000000000000-4000-8000-000000000000', '2 days')
	idgen.is_recent_uuid_v7('00000000-0000-7000-8000-000000000000', '2 days')
	idgen.is_recent_uuid_v7('00000000-0000-7000-8000-000000000000', '1 minute')
	idgen.check_recent_short_comb('0fff1111-1111-4111-8111-111111111111')
	idgen.check_recent_uuid_v7('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
	(SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', 'e0000000-0000-4000-8000-000000000001'))
	idgen.purge_creations('0')
	(SELECT created_at FROM idgen.creation_identifiers WHERE command_id = 'c0000000-0000-4000-8000-000000000001')
};

SKIP:
{
	skip 'libfaketime is not installed', @calls + 1 if !FakeClock::is_installed();

	$node->stop;
	FakeClock::start_still($node, -86400);
	is(ask('SELECT clock_timestamp()', 'p'), '1969-12-31 00:00:00+00', 'the clock is before 1970');
	for my $call (@calls)
	{
		my ($c, $p) = map { [ psql_said("\\set VERBOSITY sqlstate\nSELECT $call", database => $_) ] } 'c', 'p';
		is_deeply($p, $c, "with this clock: $call");
	}
}

done_testing();
