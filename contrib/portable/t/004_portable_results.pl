# Verify that the portable edition and the extension return the same results and SQLSTATEs for random values, even with
# hostile settings, in parallel, and with a nondeterministic collation. Set IDGEN_SEED to repeat the values of a run,
# and IDGEN_VALUES to change their number.

use Server;

my $seed = $ENV{IDGEN_SEED} || int rand 1_000_000;
my $values = $ENV{IDGEN_VALUES} || 600;

my $node = init_server('portable', "timezone = 'UTC'\ndatestyle = 'ISO, YMD'\nautovacuum = off");
$node->start;
sub both { my ($sql) = @_; return map { ask($sql, $_) } 'c', 'p' }
ask("CREATE DATABASE $_ ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0") for 'c', 'p';
ask('CREATE EXTENSION idgen', 'c');
ask(join('', map { slurp_file("contrib/portable/$_.sql") } qw(uuids checks text_ids create_once)), 'p');

# --- The same results -------------------------------------------------------
note("IDGEN_SEED=$seed");

# The random values are the same in both databases. Every third timestamp is close to the time in the uuid, so that
# checks and ranges return both true and false.
my $samples = qq{
	CREATE FUNCTION number(n int, salt text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
		\$\$SELECT ('x' || md5('$seed ' || salt || n))::bit(60)::bigint\$\$;
	-- Return up to 32 digits, which are taken from 16 successive characters of the alphabet.
	CREATE FUNCTION digits(n int, salt text, alphabet text, length int) RETURNS text LANGUAGE sql IMMUTABLE AS
		\$\$SELECT left(translate(md5('$seed ' || salt || n), '0123456789abcdef',
						substr(repeat(alphabet, 16), 1 + n % length(alphabet), 16)), length)\$\$;
	CREATE TABLE sample AS
	SELECT n, stamped AS id, md5('$seed other' || n)::uuid AS other,
		CASE WHEN n % 3 = 0 AND first_48 < 253402300800000
			 THEN timestamptz '1970-01-01 00:00+00' + first_48 * interval '1 ms'
				+ (number(n, 'd') % 1200000000 - 600000000) * interval '1 us'
			 ELSE timestamptz '1971-01-01 00:00+00'
				+ number(n, 'a') % CASE WHEN n % 3 = 1 THEN 281400000000000000 ELSE 2500000000000000 END
				  * interval '1 us' END AS at,
		timestamptz '1971-01-01 00:00+00' + number(n, 'b') % 281400000000000000 * interval '1 us' AS stop,
		(1 + number(n, 'p') % 100000) * ('{1 ms,1 s,1 minute,1 hour}'::interval[])[1 + n % 4] AS period,
		(1 + number(n, 'y') % 6)::int AS bytes,
		number(n, 't') % 86400000000 * interval '1 us' AS tolerance,
		digits(n, 'n', 'ab c\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80/.:0', (number(n, 'l') % 20)::int) AS name,
		digits(n, '36', '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
			1 + (number(n, 'l36') % 24)::int) AS base_36,
		'a' || coalesce(digits(n, 'x', 'az09_', (number(n, 'lx') % 20)::int), '') || 'z' AS prefix,
		'b' || coalesce(digits(n, 'x', 'az_', (number(n, 'ly') % 20)::int), '') || 'y' AS letters,
		digits(n, '8', '01234567', 1) || digits(n, '32', '0123456789abcdefghjkmnpqrstvwxyz', 25) AS base_32,
		jsonb_build_object(chr(233) || n, E'\\t\\u0001\\\\"' || chr(8364), md5('k' || n), number(n, 'j') / 1000.0,
			'b', jsonb_build_array(n % 7 = 0, NULL, md5('v' || n), number(n, 'e')::float8 * 1e-30, '[]'::jsonb),
			repeat('w', n % 9), CASE n % 3 WHEN 0 THEN to_jsonb(stamped::text)
										WHEN 1 THEN '{"x": {"y": [1.50, -0]}}' ELSE '[[], {}]' END) AS request,
		ARRAY[stamped, md5('$seed h' || n)::uuid, NULL, md5('$seed other' || n / 2 * 2)::uuid] AS history
	FROM (SELECT n, ('x' || left(md5('$seed ' || n), 12))::bit(48)::bigint AS first_48,
				 CASE WHEN n % 4 = 0 THEN raw
					  ELSE overlay(overlay(raw PLACING substr('1467d', 1 + n % 5, 1) FROM 15)
								   PLACING '9' FROM 20) END::uuid AS stamped
		  FROM (SELECT n, md5('$seed ' || n)::uuid::text AS raw FROM generate_series(1, $values) n) r) s};

# These calls have valid arguments.
my @results = map { s/^\s+//r } grep { /\S/ } split /\n/, q{
	uuid_text_timestamp(id::text)
	short_comb_timestamp(id, period, bytes, at)
	short_comb_timestamp(id, clock => at)
	uuid_v7_within(id, at, stop)
	comb_within(id, at - interval '1 hour', stop)
	ulid_within(upper(base_32) COLLATE "C", at, stop)
	ulid_within(base_32 COLLATE "C", at)
	substr(idgen.uuid_v7(at)::text, 1, 18)
	named_uuid_v7(at, id, name)
	substr(idgen.comb(at)::text, 1, 15)
	left(replace(idgen.short_comb(period, bytes, clock => at)::text, '-', ''), 2 * bytes)
	is_uuid(id::text)
	is_uuid(id::text, n % 16)
	is_recent_short_comb(id, clock => at)
	is_recent_short_comb(id, interval '5 days', clock => at)
	is_recent_short_comb(id, period * 10, period => period, prefix_bytes => bytes, clock => at)
	is_recent_short_comb(id, '0', period * 20, period * 30, period, bytes, at)
	is_recent_comb(id, tolerance, clock => at, future_tolerance => tolerance / 2)
	is_recent_uuid_v7(id, tolerance, clock => at, past_tolerance => tolerance / 2)
	uuid_from_base(base_36, 36)
	uuid_from_base(idgen.uuid_to_base(id, 62), 62)
	prefixed_id_from_uuid(prefix, id)
	prefixed_id_to_uuid(prefix || '_' || base_36, prefix)
	is_prefixed_id(prefix || '_' || base_36, prefix)
	is_prefixed_id(prefix || '_' || substr(base_32, 2), prefix)
	typeid_from_uuid(letters, id)
	is_typeid(letters || '_' || base_32, CASE WHEN n % 2 = 0 THEN letters ELSE 'x' END)
	created_near(id, at, tolerance)
	created_near(id, at)
};
push @results, map({ "uuid_to_base(id, $_)" } 16, 32, 36, 58, 62), map({ "${_}_floor(at)" } qw(uuid_v7 comb ulid)),
  map({ "$_(prefix || '_' || base_36)" } qw(prefixed_id_to_uuid prefixed_id_prefix)),
  map({ "$_(letters || '_' || base_32)" } qw(typeid_to_uuid typeid_prefix is_typeid)),
  map({ ("$_(base_32)", "$_(upper(base_32))") } qw(ulid_to_uuid ulid_timestamp is_ulid)),
  map { "$_(id)" } qw(uuid_version uuid_variant uuid_timestamp comb_timestamp ulid_from_uuid);
# The hash of the request is also compared, because both editions record it.
push @results, '(SELECT entity_number || $$ $$ || created FROM idgen.create_once_bigint(other, n, name, request))',
  '(SELECT entity_text || $$ $$ || created FROM idgen.create_once_text(id, letters, name, request))',
  '(SELECT idgen.forget_creation_of_text(letters, name))',
  '(SELECT command_name || request_hash || entity_number FROM idgen.creation_identifiers WHERE command_id = other)',
  '(SELECT min(request_hash) FROM idgen.creation_identifiers WHERE n = 1)';

# Each function is also called with invalid values. Its SQLSTATE and constraint name are compared.
my @errors = map { s/^\s+//r } grep { /\S/ } split /\n/, q{
	is_recent_short_comb(odd_id, odd_interval, period => odd_period, prefix_bytes => odd_bytes, clock => odd_at)
	is_recent_comb(odd_id, tolerance, odd_interval, odd_interval, odd_at)
	is_recent_uuid_v7(odd_id, odd_interval)
	check_recent_short_comb(odd_id, odd_interval, period => period, prefix_bytes => bytes, clock => at)
	check_recent_short_comb(odd_id, clock => at)
	check_recent_comb(odd_id, odd_interval, clock => odd_at)
	check_recent_uuid_v7(odd_id, odd_interval, clock => odd_at)
	created_near(odd_id, at, odd_interval)
	short_comb_timestamp(odd_id, odd_period, odd_bytes, odd_at)
	left(idgen.uuid_v7(odd_at)::text, 18)
	named_uuid_v7(odd_at, odd_id, odd_text)
	left(idgen.comb(odd_at)::text, 13)
	left(idgen.short_comb(odd_period, odd_bytes, clock => odd_at)::text, 2)
	is_uuid(odd_text, odd_bytes)
	uuid_from_base(odd_text, 36)
	uuid_from_base(odd_text, odd_base)
	uuid_to_base(odd_id, odd_base)
	prefixed_id_from_uuid(odd_text, odd_id)
	typeid_from_uuid(odd_prefix, id)
	purge_creations(odd_interval, batch_size => odd_bytes)
	trim_creations(odd_bytes)
	create_once_bigint(other, 1, odd_text, request)
	create_once(other, id, name, odd_request)
	create_once_text(other, repeat(odd_text, 9), name)
	create_once(NULL, id, name)
	create_once(other, NULL, name)
	create_once_bigint(other, 1, NULL)
};
push @errors, 'uuid_v7_floor(odd_at)', 'ulid_floor(odd_at)',
  map({ "$_(odd_text, odd_prefix)" } qw(prefixed_id_to_uuid is_prefixed_id is_typeid)),
  map { "$_(odd_text)" } qw(uuid_text_timestamp prefixed_id_to_uuid prefixed_id_prefix typeid_to_uuid typeid_prefix
	is_typeid ulid_to_uuid ulid_timestamp is_ulid);
# In each row, one of the numbers and times is invalid.
my $odd_samples = q{
	CREATE FUNCTION one_of(n int, salt text, VARIADIC choices text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
		$$SELECT choices[1 + number(n, salt) % cardinality(choices)]$$;
	CREATE FUNCTION damaged(n int, of text) RETURNS text LANGUAGE sql IMMUTABLE AS
		$$SELECT overlay(of PLACING digits(n, 'z', '_-!AZaz09 uilo~{}' || chr(233), 1)
			FROM 1 + (number(n, 'zz') % 36)::int)$$;
	CREATE TABLE odd AS
	SELECT s.*,
		CASE WHEN n % 11 <> 0 THEN s.id END AS odd_id,
		CASE WHEN n % 4 <> 0 THEN s.at
			 ELSE one_of(n, 'oa', 'infinity', '-infinity', '1969-12-31 23:59:59.999999+00',
						 '10889-08-02 05:31:50.656+00', '4714-11-24 00:00+00 BC', '294000-12-31 23:59+00',
						 '294276-12-31 23:59:59.999999+00', '0001-06-01 00:00+00')::timestamptz END AS odd_at,
		CASE WHEN n % 4 <> 1 THEN '0'
			 ELSE one_of(n, 'oi', '-1 us', '1 mon', '1 year -12 mons', '0', '106751991 days', '2147483647 days',
						 '-1 day 24:00:00.000001', NULL, s.tolerance::text, '1 day -1 hour',
						 '45 days')::interval END AS odd_interval,
		CASE WHEN n % 4 <> 2 THEN s.period
			 ELSE one_of(n, 'op', '0', '-1 s', '1 mon', '1 us', '365250 days', '365251 days', '1.5 ms', NULL, '1 ms',
						 '2147483647 days')::interval END AS odd_period,
		CASE WHEN n % 4 <> 3 THEN s.bytes
			 ELSE one_of(n, 'ob', '0', '7', '-1', NULL, '2147483647', '-2147483648', '3')::int END AS odd_bytes,
		one_of(n, 'ot', letters || '_' || base_32, damaged(n, letters || '_' || base_32), prefix || '_' || base_36,
			   damaged(n, prefix || '_' || base_36), damaged(n, base_32), damaged(n, id::text),
			   coalesce(digits(n, 'q', '_aZ09 -!' || chr(8364), (number(n, 'lq') % 33)::int), ''),
			   repeat('z', (number(n, 'lq') % 70)::int), NULL) AS odd_text,
		one_of(n, 'obase', '16', '32', '36', '58', '62', '10', '0', '-1', NULL)::int AS odd_base,
		one_of(n, 'or', '1e999', '-1e1000', '{"a": [1e131071]}', '1e-1000', '1e-1001', '0.00', '[1.0, -0, 1e2]',
			   NULL)::jsonb AS odd_request,
		one_of(n, 'oo', prefix, letters, coalesce(digits(n, 'oq', '_aZ09 -', (number(n, 'ol') % 8)::int), ''), NULL,
			   repeat('a', 62 + (number(n, 'ol') % 4)::int)) AS odd_prefix
	FROM sample s WHERE n <= 600};

# For each call, create two functions that return its error as text. In the second one, the call's arguments are
# constants, so the planner evaluates the call.
my ($k, $try_functions) = (0, '');
for my $call (@errors)
{
	my $query = 'SELECT (' . qualified($call) . ')::text FROM (SELECT ($1).*) s';
	for my $form ("result := ($query)", "EXECUTE \$q\$$query\$q\$ INTO result USING \$1")
	{
		$try_functions .= "CREATE FUNCTION try_" . $k++ . "(odd) RETURNS text LANGUAGE plpgsql AS \$f\$
			DECLARE result text; c text;
			BEGIN
				$form;
				RETURN result;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS c = CONSTRAINT_NAME;
				RETURN concat_ws(' ', '!', SQLSTATE, c);
			END \$f\$;\n";
	}
}
both("BEGIN; $samples; $odd_samples; $try_functions COMMIT; VACUUM ANALYZE sample; VACUUM ANALYZE odd");
my ($in_c, $in_p) = both(q{SELECT md5(string_agg(s::text, ' ' ORDER BY n)) FROM odd s});
is($in_p, $in_c, 'the values are the same');

# Compare expressions, each given as [table, expression, title], in one session with the given options. Report the rows
# whose results differ.
my $options = '';

sub agree
{
	my @cases = @_;
	my $script = join '',
	  map { "\\echo @@\nSELECT n, replace(($_->[1])::text, chr(10), ' ') FROM $_->[0] ORDER BY n;\n" } @cases;
	my %results;
	for my $database ('c', 'p')
	{
		local $ENV{PGOPTIONS} = $options;
		IPC::Run::run(
			[ 'psql', '-XAtq', '-P', 'null=NULL', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr($database) ],
			'<', \$script, '>&', \my $out);
		(undef, @{ $results{$database} }) = split /^@@\n/m, $out, -1;
	}
	for (@cases)
	{
		my ($c, $p) = map { [ split /\n/, shift @{ $results{$_} } ] } 'c', 'p';
		my @different = grep { ($c->[$_] // '') ne ($p->[$_] // '') } 0 .. ($#$c > $#$p ? $#$c : $#$p);
		ok(@$c && !@different, $_->[2])
		  or diag(@different . " rows differ, first:\n",
			map { "  C        $c->[$_]\n  portable $p->[$_]\n" } @different ? $different[0] : 0);
	}
}

sub qualified { my ($call) = @_; return $call =~ /^(?:\(|left|substr)/ ? $call : "idgen.$call" }

agree((map { [ 'sample', qualified($_), "$values values: $_" ] } @results),
	(map { [ 'odd', 'try_' . 2 * $_ . '(odd)', "invalid values: $errors[$_]" ],
		   [ 'odd', 'CASE WHEN n <= 100 THEN try_' . (2 * $_ + 1) . '(odd) END', "invalid constants: $errors[$_]" ]
	} 0 .. $#errors));
agree([ 'generate_series(1, 10000) n', q{idgen.named_uuid_v7(timestamptz '1970-01-01 00:00+00'
		+ number(n, 'v') % 281474976710656000 * interval '1 us', md5('v' || n)::uuid,
		digits(n, 'v', 'ab c' || chr(233) || chr(8364) || chr(128512) || '.:0', (number(n, 'lv') % 33)::int))},
	'10000 times, namespaces and names: named_uuid_v7()' ]);

# --- Settings of the session ------------------------------------------------
$options = join ' ', map { "-c $_" } 'DateStyle=SQL,DMY', 'IntervalStyle=sql_standard', 'TimeZone=America/St_Johns',
  'bytea_output=escape', 'extra_float_digits=-15', 'transform_null_equals=on', 'quote_all_identifiers=on',
  ask('SHOW server_version_num') >= 190000 ? () : ('standard_conforming_strings=off', 'escape_string_warning=off');
agree((map { [ '(SELECT * FROM sample WHERE n <= 100) sample', qualified($_), "hostile settings: $_" ] } @results),
	(map { [ '(SELECT * FROM odd WHERE n <= 100) odd', 'try_' . 2 * $_ . '(odd)',
			   "hostile settings, invalid values: $errors[$_]" ] } 0 .. $#errors));

# Functions that are declared PARALLEL SAFE must run in parallel.
$options = '-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0';
agree(map { [ 'sample', qualified($_), "in parallel: $_" ] } grep { !/^\(/ } @results);
$options = '';

# --- Collations -------------------------------------------------------------
SKIP:
{
	my $ci = q{CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)};
	skip 'the server has no ICU', 1 if outcome($ci, database => 'p') ne '';
	ask($ci, 'c');
	my @texts = qw(name prefix letters base_32 base_36);
	my $collated = join ', ', map { "$_ COLLATE ci AS $_" } @texts;
	my $table = "(SELECT n, id, other, at, request, $collated FROM sample WHERE n <= 100) sample";
	my $any = join '|', @texts;
	agree(map { [ $table, qualified($_), "nondeterministic collation: $_" ] } grep { /\b(?:$any)\b/ } @results);
	my $create = q{SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000c',
		'00000000-0000-4000-8000-000000000000', name COLLATE ci) FROM unnest('{order,ORDER}'::text[]) name};
	is_deeply([ map { outcome($create, database => $_) } 'c', 'p' ], [ ('23514') x 2 ],
		'names that a collation considers equal differ');
	is(ask(q{SELECT count(DISTINCT left(idgen.keyed_comb(area COLLATE ci, '365250 days')::text, 8))
		FROM unnest('{a,A,a,A}'::text[]) area}, 'p'), '2', 'and areas');
}

done_testing();
