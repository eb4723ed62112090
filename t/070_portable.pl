# The portable edition against the C edition: both have the same functions, with the
# same results and errors for 100,000 random values. The portable one is installed by
# a role without privileges, upgraded in a database in use, removed, registered for
# pg_tle, and changed to the extension. sql/ and specs/ test it as they test the
# extension (make portable-installcheck).
#
# IDGEN_SEED=N repeats the values of a run; IDGEN_VALUES is their number.

use strict;
use warnings;
use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{IDGEN_SEED} || int rand 1_000_000;
my $values = $ENV{IDGEN_VALUES} || 100_000;
my $folder = dirname(__FILE__) . '/../portable';

my $node = PostgreSQL::Test::Cluster->new('portable');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'\ndatestyle = 'ISO, YMD'\nautovacuum = off
# functions that are marked as parallel safe run in parallel
min_parallel_table_scan_size = 0
parallel_setup_cost = 0");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE "Installer" LOGIN; CREATE ROLE app LOGIN');

sub create_database
{
	my ($name) = @_;

	$node->safe_psql('postgres',
		"CREATE DATABASE $name ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0; GRANT CREATE ON DATABASE $name TO \"Installer\"");
	$node->safe_psql($name, 'GRANT CREATE ON SCHEMA public TO "Installer"');
	return;
}

# Run a file of portable/ as the installer, who is no superuser; return its messages.
sub run_file
{
	my ($database, $file, %option) = @_;
	my ($stdout, $stderr);

	IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', $option{role} // 'Installer', '-d', $node->connstr($database), '-f', "$folder/$file" ],
		'>', \$stdout, '2>', \$stderr);
	return $stderr;
}

create_database($_) for 'c', 'p';
$node->safe_psql('c', 'CREATE EXTENSION idgen', extra_params => [ '-U', 'Installer' ]);
is(run_file('p', 'idgen-portable.sql'), '', 'a role with CREATE on the database installs the portable edition');
is(run_file('p', 'idgen-portable.sql'), '', 'and again');
like(run_file('c', 'idgen-portable.sql'), qr/extension "idgen" is installed/, 'it does not mix with the extension');

# --- The same functions and tables ------------------------------------------

my $functions = q{
	SELECT p.oid::regprocedure || ' | ' || pg_get_function_arguments(p.oid) || ' | ' || pg_get_function_result(p.oid)
		|| ' | ' || prokind::text || provolatile::text || proparallel::text || ' | ' || (obj_description(p.oid, 'pg_proc') IS NOT NULL)
	FROM pg_proc p WHERE pronamespace = 'idgen'::regnamespace AND proname NOT LIKE 'portable\_%' ORDER BY 1};
my %c = map { /^idgen\.(\w+)/ => $_ } split /\n/, $node->safe_psql('c', $functions);
my %p = map { /^idgen\.(\w+)/ => $_ } split /\n/, $node->safe_psql('p', $functions);

is_deeply([ map { $p{$_} } sort keys %p ], [ map { $c{$_} // "no $_" } sort keys %p ],
	'signatures, defaults, results, volatility and parallel safety are those of the extension, and all have comments');
my $missing = join ' ', grep { !$p{$_} } sort keys %c;
my ($listed) = slurp_file("$folder/../docs/portable.md") =~ /Not included:\n\n(.*?)\n\n/s;
is(join(' ', sort($listed =~ /`(\w+)`/g)), $missing, 'docs/portable.md lists the functions that are missing');

my $tables = q{
	SELECT attrelid::regclass, attname, atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attrelid IN ('idgen.creation_identifiers'::regclass, 'idgen.id_prefixes'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
	SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid IN ('idgen.creation_identifiers'::regclass, 'idgen.id_prefixes'::regclass) ORDER BY 1;
	SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'idgen'::regnamespace ORDER BY 1;
	SELECT relname, reloptions, has_table_privilege('public', oid, 'SELECT, INSERT, UPDATE, DELETE') FROM pg_class WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'r' ORDER BY 1};
is($node->safe_psql('p', $tables), $node->safe_psql('c', $tables), 'the tables are those of the extension');

# --- The same results -------------------------------------------------------

note("IDGEN_SEED=$seed");

# Random values, the same in both databases. Every third instant is one of the uuid,
# so that checks and ranges have both results.
my $samples = qq{
	CREATE FUNCTION number(n int, salt text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
		\$\$SELECT ('x' || md5('$seed ' || salt || n))::bit(60)::bigint\$\$;
	-- up to 32 digits, of 16 successive ones of the alphabet
	CREATE FUNCTION digits(n int, salt text, alphabet text, length int) RETURNS text LANGUAGE sql IMMUTABLE AS
		\$\$SELECT left(translate(md5('$seed ' || salt || n), '0123456789abcdef', substr(repeat(alphabet, 16), 1 + n % length(alphabet), 16)), length)\$\$;
	CREATE TABLE sample AS
	SELECT n, stamped AS id, md5('$seed other' || n)::uuid AS other,
		CASE WHEN n % 3 = 0 AND first_48 < 253402300800000 THEN timestamptz '1970-01-01 00:00+00' + first_48 * interval '1 ms' + (number(n, 'd') % 1200000000 - 600000000) * interval '1 us'
			 WHEN n % 3 = 1 THEN timestamptz '1971-01-01 00:00+00' + number(n, 'a') % 281400000000000000 * interval '1 us'
			 ELSE timestamptz '1971-01-01 00:00+00' + number(n, 'a') % 2500000000000000 * interval '1 us' END AS at,
		timestamptz '1971-01-01 00:00+00' + number(n, 'b') % 281400000000000000 * interval '1 us' AS stop,
		(1 + number(n, 'p') % 100000) * CASE n % 4 WHEN 0 THEN interval '1 ms' WHEN 1 THEN interval '1 s' WHEN 2 THEN interval '1 minute' ELSE interval '1 hour' END AS period,
		(1 + number(n, 'y') % 6)::int AS bytes,
		number(n, 't') % 86400000000 * interval '1 us' AS tolerance,
		digits(n, 'n', 'ab c\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80/.:0', (number(n, 'l') % 20)::int) AS name,
		digits(n, '36', '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 1 + (number(n, 'l36') % 24)::int) AS base_36,
		'a' || coalesce(digits(n, 'x', 'az09_', (number(n, 'lx') % 20)::int), '') || 'z' AS prefix,
		'b' || coalesce(digits(n, 'x', 'az_', (number(n, 'ly') % 20)::int), '') || 'y' AS letters,
		digits(n, '8', '01234567', 1) || digits(n, '32', '0123456789abcdefghjkmnpqrstvwxyz', 25) AS base_32,
		jsonb_build_object(md5('k' || n), number(n, 'j') / 1000.0, 'b', jsonb_build_array(n % 7 = 0, NULL, md5('v' || n), number(n, 'e')::float8 * 1e-30, '[]'::jsonb),
						   repeat('w', n % 9), CASE n % 3 WHEN 0 THEN to_jsonb(stamped::text) WHEN 1 THEN '{"x": {"y": [1.50, -0]}}' ELSE '[[], {}]' END) AS request,
		ARRAY[stamped, md5('$seed h' || n)::uuid, NULL, md5('$seed other' || n / 2 * 2)::uuid] AS history
	FROM (SELECT n, ('x' || left(md5('$seed ' || n), 12))::bit(48)::bigint AS first_48,
				 CASE WHEN n % 4 = 0 THEN raw ELSE overlay(overlay(raw PLACING substr('1467d', 1 + n % 5, 1) FROM 15) PLACING '9' FROM 20) END::uuid AS stamped
		  FROM (SELECT n, md5('$seed ' || n)::uuid::text AS raw FROM generate_series(1, $values) n) r) s};

# Each takes values that are valid for it.
my @results = map { s/^\s+//r } grep { /\S/ } split /\n/, q{
	uuid_v5(id, name)
	uuid_version(id)
	uuid_variant(id)
	uuid_timestamp(id)
	uuid_text_timestamp(id::text)
	comb_timestamp(id)
	short_comb_timestamp(id, at, period, bytes)
	short_comb_timestamp(id, at)
	uuid_v7_floor(at)
	uuid_v7_ceil(at)
	comb_floor(at)
	comb_ceil(at)
	ulid_floor(at)
	ulid_ceil(at)
	uuid_v7_within(id, at, stop)
	comb_within(id, at - interval '1 hour', stop)
	ulid_within(upper(base_32) COLLATE "C", at, stop)
	substr(idgen.uuid_v7(at)::text, 1, 18)
	substr(idgen.comb(at)::text, 1, 15)
	left(replace(idgen.short_comb(period, bytes, clock => at)::text, '-', ''), 2 * bytes)
	is_uuid(id::text)
	is_uuid(id::text, n % 16)
	is_uuid(name || base_36)
	is_recent_short_comb(id, clock => at)
	is_recent_short_comb(id, interval '5 days', at)
	is_recent_short_comb(id, NULL, at, period, bytes)
	is_recent_short_comb(id, NULL, at, period, bytes, period * 20, period * 30)
	is_recent_comb(id, clock => at)
	is_recent_comb(id, tolerance, at, future_tolerance => tolerance / 2)
	is_recent_uuid_v7(id, clock => at)
	is_recent_uuid_v7(id, tolerance, at, past_tolerance => tolerance / 2)
	uuid_to_base(id, 36)
	uuid_from_base(base_36, 36)
	prefixed_id(prefix, id)
	prefixed_id_to_uuid(prefix || '_' || base_36)
	prefixed_id_to_uuid(prefix || '_' || base_36, prefix)
	prefixed_id_prefix(prefix || '_' || base_36)
	is_prefixed_id(prefix || '_' || base_36, prefix)
	is_prefixed_id(prefix || '_' || substr(base_32, 2), prefix)
	typeid_from_uuid(letters, id)
	typeid_to_uuid(letters || '_' || base_32)
	typeid_prefix(letters || '_' || base_32)
	ulid_to_uuid(upper(base_32))
	ulid_from_uuid(id)
	ulid_timestamp(base_32)
	uuid_smaller(id, other)
	uuid_larger(id, other)
	remember_command(history, id, n % 4)
	remember_command(history, other, n % 6)
	has_command(history, other)
};
# with the hash of the request, which both record
push @results, '(SELECT entity_number || $$ $$ || created FROM idgen.create_once_bigint(other, n, name, request))',
  '(SELECT command_name || request_hash FROM idgen.find_creation(other))',
  '(SELECT min(request_hash) FROM idgen.creation_identifiers WHERE n = 1)';
push @results, map { "(SELECT idgen.$_(id) FROM sample i WHERE i.n % 100 = sample.n AND sample.n < 100)" } 'min', 'max';

# Each is also called with invalid values; its SQLSTATE, message, DETAIL and HINT count.
my @errors = map { s/^\s+//r } grep { /\S/ } split /\n/, q{
	is_recent_short_comb(odd_id, odd_interval, odd_at, odd_period, odd_bytes)
	is_recent_uuid_v7(odd_id, odd_interval)
	check_recent_short_comb(odd_id, odd_interval, at, period, bytes)
	check_recent_short_comb(odd_id, clock => at)
	check_recent_comb(odd_id, odd_interval, odd_at)
	check_recent_uuid_v7(odd_id, odd_interval, odd_at)
	check_recent_uuid_v7(odd_id, tolerance, at)
	short_comb_timestamp(odd_id, odd_at, odd_period, odd_bytes)
	uuid_v7_floor(odd_at)
	comb_ceil(odd_at)
	ulid_floor(odd_at)
	left(idgen.uuid_v7(odd_at)::text, 18)
	left(idgen.comb(odd_at)::text, 13)
	left(idgen.short_comb(odd_period, odd_bytes, clock => odd_at)::text, 2)
	uuid_text_timestamp(odd_text)
	is_uuid(odd_text, odd_bytes)
	uuid_from_base(odd_text, 36)
	prefixed_id(odd_text, id)
	prefixed_id_to_uuid(odd_text)
	prefixed_id_to_uuid(odd_text, odd_prefix)
	prefixed_id_prefix(odd_text)
	is_prefixed_id(odd_text, odd_prefix)
	parse_prefixed_id(odd_text)
	typeid_from_uuid(odd_prefix, id)
	typeid_to_uuid(odd_text)
	typeid_prefix(odd_text)
	ulid_to_uuid(odd_text)
	ulid_timestamp(odd_text)
	remember_command(history, NULL, odd_bytes)
	remember_command(history, other, odd_bytes)
	purge_creations(odd_interval, odd_bytes)
	trim_creations(odd_bytes)
	create_once_bigint(other, 1, odd_text, request)
	create_once(other, id, name)
};
# One of the numbers and times is invalid in each row.
my $odd_samples = q{
	CREATE TABLE odd AS
	SELECT s.*,
		CASE WHEN n % 11 <> 0 THEN s.id END AS odd_id,
		CASE WHEN n % 4 <> 0 THEN s.at ELSE (ARRAY['infinity', '-infinity', '1969-12-31 23:59:59.999999+00', '10889-08-02 05:31:50.656+00', '4714-11-24 00:00+00 BC', '294000-12-31 23:59+00', '0001-06-01 00:00+00'])[1 + number(n, 'oa') % 7]::timestamptz END AS odd_at,
		CASE WHEN n % 4 <> 1 THEN '0' ELSE (ARRAY['-1 us', '1 mon', '1 year -12 mons', '0', '106751991 days', '2147483647 days', '-1 day 24:00:00.000001', NULL, s.tolerance::text, '1 day -1 hour', '45 days'])[1 + number(n, 'oi') % 11]::interval END AS odd_interval,
		CASE WHEN n % 4 <> 2 THEN s.period ELSE (ARRAY['0', '-1 s', '1 mon', '1 us', '365250 days', '365251 days', '1.5 ms', NULL, '1 ms', '2147483647 days'])[1 + number(n, 'op') % 10]::interval END AS odd_period,
		CASE WHEN n % 4 <> 3 THEN s.bytes ELSE (ARRAY[0, 7, -1, NULL, 2147483647, -2147483648, 3])[1 + number(n, 'ob') % 7] END AS odd_bytes,
		CASE number(n, 'ot') % 9
			WHEN 0 THEN letters || '_' || base_32 WHEN 1 THEN overlay(letters || '_' || base_32 PLACING digits(n, 'z', '_-!AZaz09 ~' || chr(233), 1) FROM 1 + (number(n, 'zz') % 30)::int)
			WHEN 2 THEN prefix || '_' || base_36 WHEN 3 THEN overlay(prefix || '_' || base_36 PLACING digits(n, 'z', '_-!AZaz09 ~' || chr(233), 1) FROM 1 + (number(n, 'zz') % 30)::int)
			WHEN 4 THEN overlay(base_32 PLACING digits(n, 'z', '_-!AZaz09 uilo~' || chr(233), 1) FROM 1 + (number(n, 'zz') % 28)::int)
			WHEN 5 THEN overlay(id::text PLACING digits(n, 'z', '_-!AZaz09 ~{}' || chr(233), 1) FROM 1 + (number(n, 'zz') % 36)::int)
			WHEN 6 THEN coalesce(digits(n, 'q', '_aZ09 -!' || chr(8364), (number(n, 'lq') % 33)::int), '') WHEN 7 THEN repeat('z', (number(n, 'lq') % 70)::int) ELSE NULL END AS odd_text,
		CASE number(n, 'oo') % 5 WHEN 0 THEN prefix WHEN 1 THEN letters WHEN 2 THEN coalesce(digits(n, 'oq', '_aZ09 -', (number(n, 'ol') % 8)::int), '') WHEN 3 THEN NULL ELSE repeat('a', 62 + (number(n, 'ol') % 4)::int) END AS odd_prefix
	FROM sample s WHERE n <= 3000};

# For each call, a function that returns its error as text, and one whose arguments are
# constants, which the planner evaluates
sub try_functions
{
	my ($k, $text) = (0, '');

	for my $call (@errors)
	{
		my $expression = $call =~ /^left/ ? $call : "idgen.$call";
		my $query = "SELECT ($expression)::text FROM (SELECT (\$1).*) s";
		for my $form ("result := ($query)", "EXECUTE \$q\$$query\$q\$ INTO result USING \$1")
		{
			$text .= "CREATE FUNCTION try_" . $k++ . "(odd) RETURNS text LANGUAGE plpgsql AS \$f\$
				DECLARE result text; m text; d text; h text; c text;
				BEGIN
					$form;
					RETURN result;
				EXCEPTION WHEN OTHERS THEN
					GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT, c = CONSTRAINT_NAME;
					RETURN '!' || concat_ws(' | ', SQLSTATE, m, d, h, c);
				END \$f\$;\n";
		}
	}
	return $text;
}

for my $database ('c', 'p')
{
	$node->safe_psql($database, "BEGIN; $samples; $odd_samples;" . try_functions() . 'COMMIT; VACUUM ANALYZE sample; VACUUM ANALYZE odd');
}
is($node->safe_psql('p', "SELECT md5(string_agg(s::text, ' ' ORDER BY n)) FROM odd s"), $node->safe_psql('c', "SELECT md5(string_agg(s::text, ' ' ORDER BY n)) FROM odd s"), 'the values are the same');

# Compare an expression over a table; report the first row with different results.
sub agree
{
	my ($table, $expression, $title) = @_;
	my $md5 = "SELECT count(r) || ' ' || count(DISTINCT r) || ' ' || md5(string_agg(n || coalesce(r, '-'), ' ' ORDER BY n)) FROM (SELECT n, ($expression)::text AS r FROM $table OFFSET 0) s";
	my ($of_c, $of_p) = map { my ($out, $err); $node->psql($_, $md5, stdout => \$out, stderr => \$err); $out . $err } 'c', 'p';

	is($of_p, $of_c, $title) and return;
	return if $of_p =~ /ERROR/;
	my ($c, $p) = map { [ split /\n/, $node->safe_psql($_, "SELECT n, replace(coalesce(($expression)::text, 'NULL'), E'\\n', ' ') FROM $table ORDER BY n") ] } 'c', 'p';
	my @different = grep { $c->[$_] ne $p->[$_] } 0 .. $#$c;
	return unless @different;
	my ($n) = $c->[ $different[0] ] =~ /^(\d+)/;
	diag(@different . " differ, first:\n  C        $c->[$different[0]]\n  portable $p->[$different[0]]\n  row " . $node->safe_psql('c', "SELECT s FROM $table s WHERE n = $n"));
	return;
}

agree('sample', /^(?:\(|left|substr)/ ? $_ : "idgen.$_", "$values values: $_") for @results;
for my $k (0 .. $#errors)
{
	agree('odd', 'try_' . 2 * $k . '(odd)', "invalid values: $errors[$k]");
	agree('odd', 'CASE WHEN n <= 500 THEN try_' . (2 * $k + 1) . '(odd) END', "invalid constants: $errors[$k]");
}

# --- What is different ------------------------------------------------------

my $stderr;
$node->psql('p', 'SELECT idgen.short_comb(run_length => 2)', stderr => \$stderr, extra_params => [ '--set=VERBOSITY=verbose' ]);
like($stderr, qr/0A000: run_length must be 1/, 'a run of short COMBs is refused');

# the random bits of a ULID that is made of uuids: each is set in half of them
is($node->safe_psql('p', q{
		SELECT count(*) FILTER (WHERE abs(ones - 2500) > 6 * sqrt(5000) / 2)
		FROM (SELECT sum(get_bit(uuid_send(idgen.ulid_to_uuid(id)), bit)) AS ones
			  FROM (SELECT idgen.ulid() AS id FROM generate_series(1, 5000) OFFSET 0) s, generate_series(48, 127) bit GROUP BY bit) t}),
	'0', 'all 80 bits of a ULID are random');

$node->safe_psql('p', q{
	CREATE TABLE checked (id uuid);
	CREATE TRIGGER check_id BEFORE INSERT ON checked FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb')});
is($node->psql('p', q{SET idgen.clock = '2022-03-18 03:44:00+00'; INSERT INTO checked VALUES (idgen.short_comb(clock => '2022-03-18 03:44:00+00'))}, on_error_stop => 1),
	3, 'the trigger does not read a setting that every role can set');
is($node->psql('p', q{INSERT INTO checked VALUES (idgen.short_comb())}), 0, 'it reads the wall clock');

# --- A database in use ------------------------------------------------------

sub use_it
{
	my ($database) = @_;

	create_database($database);
	run_file($database, 'idgen-portable.sql');
	$node->safe_psql(
		$database, q{
		SELECT idgen.create_id_domain('account_id', 'acct');
		CREATE DOMAIN key AS uuid DEFAULT idgen.short_comb('30 seconds', 3) CHECK (idgen.uuid_version(VALUE) = 4);
		CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'), at timestamptz DEFAULT now());
		CREATE TABLE orders (id uuid DEFAULT idgen.uuid_v7() PRIMARY KEY, k key, client uuid CONSTRAINT from_client CHECK (idgen.is_recent_uuid_v7(client)),
			CONSTRAINT ordered CHECK (idgen.uuid_timestamp(id) > '2020-01-01 00:00+00'), typed text DEFAULT idgen.typeid('user'));
		ALTER TABLE orders ADD CONSTRAINT is_typed CHECK (idgen.typeid_prefix(typed) = 'user') NOT VALID;
		CREATE INDEX orders_by_time ON orders (idgen.uuid_timestamp(id));
		CREATE VIEW newest WITH (security_barrier) AS SELECT idgen.max(id) AS id FROM orders;
		CREATE TRIGGER check_id BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'uuid_v7');
		CREATE TRIGGER check_k BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('k', 'short_comb', '', '30 seconds', '3');
		ALTER TABLE orders DISABLE TRIGGER check_k;
		COMMENT ON TRIGGER check_id ON orders IS 'kept';
		CREATE TABLE parts (id uuid DEFAULT idgen.uuid_v7() CHECK (idgen.uuid_version(id) = 7), client uuid) PARTITION BY RANGE (id);
		CREATE TABLE part PARTITION OF parts DEFAULT;
		ALTER TABLE part ALTER client SET DEFAULT idgen.comb();
		CREATE TRIGGER check_id BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'uuid_v7');
		INSERT INTO account DEFAULT VALUES;
		INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3) FROM generate_series(1, 100);
		INSERT INTO orders (client) VALUES (idgen.uuid_v7());
		INSERT INTO parts DEFAULT VALUES;
		GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
		GRANT SELECT ON idgen.id_prefixes TO PUBLIC;
		CREATE FUNCTION place(command uuid) RETURNS boolean LANGUAGE sql AS $$SELECT created FROM idgen.create_once(command, idgen.uuid_v7(), 'order', '{"a": [1, 2.50]}')$$;
		GRANT INSERT ON orders TO app;
		SELECT count(place(md5(n::text)::uuid)) FROM generate_series(1, 1000) n}, extra_params => [ '-U', 'Installer' ]);
	# before version 17, the expression of a generated column cannot change
	$node->safe_psql($database, 'CREATE TABLE made (id uuid, at timestamptz GENERATED ALWAYS AS (idgen.uuid_timestamp(id)) STORED)', extra_params => [ '-U', 'Installer' ])
	  if $node->pg_version >= 17;
	return;
}

# What must stay the same
my $state = q{
	SELECT md5(string_agg(c::text, ' ' ORDER BY command_id)) FROM idgen.creation_identifiers c;
	SELECT * FROM idgen.id_prefixes;
	SELECT md5(string_agg(o::text, ' ' ORDER BY id)) FROM orders o;
	SELECT adrelid::regclass::text, adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE pg_get_expr(adbin, adrelid) LIKE '%idgen%' ORDER BY 1, 2;
	SELECT typname, pg_get_expr(typdefaultbin, 0) FROM pg_type WHERE typname IN ('key', 'account_id');
	SELECT conrelid::regclass, contypid::regtype, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace ORDER BY conname, conrelid::regclass::text;
	SELECT tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger') FROM pg_trigger ORDER BY 1, 2;
	SELECT pg_get_indexdef('orders_by_time'::regclass), pg_get_viewdef('newest'::regclass), reloptions FROM pg_class WHERE relname = 'newest';
	SELECT relname, g.grantee::regrole, privilege_type FROM pg_class, aclexplode(relacl) g WHERE relnamespace = 'idgen'::regnamespace AND relkind = 'r' AND g.grantee <> relowner AND pg_get_userbyid(g.grantee) <> 'Installer' ORDER BY 1, 2, 3};

use_it('upgraded');
my $before = $node->safe_psql('upgraded', $state);
is(run_file('upgraded', 'idgen-portable.sql'), '', 'the file runs again in a database in use');
is($node->safe_psql('upgraded', $state), $before, 'and changes no data and nothing that uses it');

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
my $restored = '';
IPC::Run::run([ 'pg_dump', '-d', $node->connstr('upgraded') ], '|', [ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored') ],
	'2>', \$restored);
is($restored, '', 'a dump of the database is restored');
is($node->safe_psql('restored', $state), $before, 'with all that uses idgen');

# --- Removal ----------------------------------------------------------------

like(run_file('upgraded', 'idgen-portable-drop.sql'), qr/other objects use the portable edition.*constraint prefixed_id_check/s, 'what is in use is not removed');
is($node->safe_psql('upgraded', $state), $before, 'and nothing has changed');
$node->safe_psql('p', q{DROP TABLE sample, odd, checked CASCADE; CREATE FUNCTION idgen.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'});
like(run_file('p', 'idgen-portable-drop.sql', role => 'postgres'), qr/NOTICE:  schema "idgen" contains other objects and stays/, 'objects of the user stay');
is($node->safe_psql('p', "SELECT idgen.mine(), (SELECT count(*) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace), (SELECT count(*) FROM pg_class WHERE relnamespace = 'idgen'::regnamespace)"),
	'1|1|0', 'the rest is removed');
$node->safe_psql('p', 'DROP SCHEMA idgen CASCADE');
run_file('p', 'idgen-portable.sql');
is(run_file('p', 'idgen-portable-drop.sql'), '', 'its owner removes it');
is($node->safe_psql('p', "SELECT to_regnamespace('idgen') IS NULL"), 't', 'with its schema');
like(run_file('p', 'idgen-portable-drop.sql'), qr/NOTICE:  the portable edition of idgen is not installed, skipping/, 'a second removal does nothing');
like(run_file('c', 'idgen-portable-drop.sql'), qr/idgen is installed as an extension/, 'nor does it touch the extension');

# --- Change to the extension ------------------------------------------------

use_it('changed');
$before = $node->safe_psql('changed', $state);

# this session has plans of the portable functions, and retries a command during the change
my $session = $node->background_psql('changed', on_error_stop => 0, extra_params => [ '-U', 'app' ]);
$session->query_safe(q{PREPARE place (uuid) AS SELECT created FROM idgen.create_once($1, '919108f7-52d1-4320-9bac-f847db4148a8'::uuid, 'order', '{"a": [1, 2.5]}')});
is($session->query_safe(q{EXECUTE place (md5('1')::uuid)}), 'f', 'a recorded command is replayed');

my $change = $node->background_psql('changed', extra_params => [ '-U', 'Installer' ]);
$change->query_safe('BEGIN;' . slurp_file("$folder/change-to-c.sql"));
$session->query_until(qr/began/, "\\echo began\nEXECUTE place (md5('new')::uuid);\n");
$node->poll_query_until('changed', q{SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)}) or die 'the session does not wait';
$change->query_safe('COMMIT');
$change->quit;
# the functions that it was calling are dropped
$session->query('SELECT 1');
$session->query(q{EXECUTE place (md5('new')::uuid)});
is($session->query(q{EXECUTE place (md5('new')::uuid)}), 'f', 'a command that arrives during the change is recorded when it is sent again');
is($session->query(q{EXECUTE place (md5('2')::uuid)}), 'f', 'and what was recorded before the change is replayed, with the same hash of the request');
is($node->safe_psql('changed', q{SELECT count(*) FROM idgen.creation_identifiers WHERE command_id = md5('new')::uuid}), '1', 'by the extension');
$session->quit;
$node->safe_psql('changed', q{DELETE FROM idgen.creation_identifiers WHERE command_id = md5('new')::uuid});

is($node->safe_psql('changed', q{SELECT extversion FROM pg_extension WHERE extname = 'idgen'; SELECT to_regnamespace('idgen_portable') IS NULL}), "1.0\nt", 'the extension has taken the place of the portable edition');
is($node->safe_psql('changed', $state), $before, 'commands, prefixes, defaults, constraints, triggers, index, view and privileges are kept');
$node->safe_psql('changed', q{INSERT INTO orders (k) SELECT idgen.short_comb('30 seconds', 3); INSERT INTO account DEFAULT VALUES; INSERT INTO parts DEFAULT VALUES; SELECT idgen.snowflake_floor(now())}, extra_params => [ '-U', 'Installer' ]);
isnt($node->psql('changed', q{INSERT INTO account VALUES ('acct_1')}), 0, 'the domain checks');
is($node->safe_psql('changed', q{SELECT string_agg(DISTINCT refobjid::regproc::text, ' ') FROM pg_depend WHERE classid = 'pg_attrdef'::regclass AND refclassid = 'pg_proc'::regclass AND refobjid::regproc::text = 'idgen.uuid_timestamp'}),
	$node->pg_version >= 17 ? 'idgen.uuid_timestamp' : '', 'a generated column, from version 17 on, has the function of the extension');
like(run_file('changed', 'change-to-c.sql'), qr/extension "idgen" is already installed/, 'a second change is refused');
is($node->safe_psql('changed', 'DROP EXTENSION idgen CASCADE; SELECT count(*) FROM orders'), '102', 'nothing else depends on the portable edition');

# a dependent object of another kind: nothing changes
$node->safe_psql('upgraded', q{CREATE MATERIALIZED VIEW stored AS SELECT idgen.uuid_timestamp(id) FROM orders}, extra_params => [ '-U', 'Installer' ]);
$before = $node->safe_psql('upgraded', $state);
like(run_file('upgraded', 'change-to-c.sql'), qr/other objects use the portable edition of idgen\nDETAIL:  They are: rule _RETURN on materialized view public\.stored\./, 'what the change does not know is an error');
is($node->safe_psql('upgraded', $state), $before, 'and nothing has changed');
$node->psql('upgraded', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;' . slurp_file("$folder/change-to-c.sql"), stderr => \$stderr);
like($stderr, qr/the change requires the isolation level READ COMMITTED/, 'another isolation level is refused');
$node->safe_psql('upgraded', 'BEGIN; DROP MATERIALIZED VIEW stored;' . slurp_file("$folder/change-to-c.sql") . 'COMMIT', extra_params => [ '-U', 'Installer' ]);
is($node->safe_psql('upgraded', $state), $before, 'in a transaction that drops it before, the change succeeds');

# --- pg_tle -----------------------------------------------------------------

# pg_tle is not there: a function of its name stores the script
create_database('tle');
$node->safe_psql('tle', q{
	CREATE SCHEMA pgtle;
	CREATE TABLE pgtle.stored (name text, version text, script text);
	CREATE FUNCTION pgtle.install_extension(name text, version text, description text, ext text, requires text[] DEFAULT NULL) RETURNS boolean LANGUAGE sql AS
		'INSERT INTO pgtle.stored VALUES (name, version, ext) RETURNING true'});
system_or_bail('env', '-C', $folder, 'psql', '-X', '-q', '-o', '/dev/null', '-d', $node->connstr('tle'), '-f', 'pgtle.sql');
my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
SKIP:
{
	skip 'the folder of extensions is not writable', 3 if !-w "$sharedir/extension";
	append_to_file("$sharedir/extension/idgen_portable.control", "trusted = true\nsuperuser = true\n");
	append_to_file("$sharedir/extension/idgen_portable--1.0.sql", $node->safe_psql('tle', 'SELECT script FROM pgtle.stored'));
	$node->safe_psql('tle', q{CREATE EXTENSION idgen_portable VERSION '1.0';
		SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', idgen.short_comb())});
	is($node->safe_psql('tle', "SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen_portable') AND classid = 'pg_proc'::regclass"),
		$node->safe_psql('tle', "SELECT count(*) FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace"), 'the script that is registered with pg_tle makes an extension of all functions');
	my ($stdout) = run_command([ 'pg_dump', '-d', $node->connstr('tle'), '--data-only' ]);
	like($stdout, qr/^c0000000-0000-4000-8000-000000000001\t/m, 'whose recorded commands are dumped');
	run_file('tle', 'change-to-c.sql', role => 'postgres');
	is($node->safe_psql('tle', "SELECT string_agg(extname, ' ') FROM pg_extension WHERE extname LIKE 'idgen%'; SELECT created FROM idgen.create_once('c0000000-0000-4000-8000-000000000001', idgen.short_comb())"),
		"idgen\nf", 'and which can be changed to the extension, too');
	unlink "$sharedir/extension/idgen_portable.control", "$sharedir/extension/idgen_portable--1.0.sql";
}

$node->stop;
done_testing();
