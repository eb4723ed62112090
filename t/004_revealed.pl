# Verify what identifiers reveal to an outsider, as stated in docs/security.md: the time, the number of bits that remain
# to be guessed, and what several identifiers reveal together. All clock values are passed as arguments, and the secret
# key of hmac_comb() is known, so the counts are the same in each run.

use Functions;
use KeyedPrefix;
use Page;
use Server;

my $node = Functions::add_key(init_server('revealed', "shared_preload_libraries = 'idgen'\nidgen.node_id = 5\n"
	  . "idgen.launch_id = 7\ntimezone = 'UTC'\nautovacuum = off"));
$node->start;
ask('CREATE EXTENSION idgen; CREATE SEQUENCE numbers');
my $page = Page->new('security');
my $noon = '2026-11-20 12:00:00+00';

# --- The table of identifiers ---------------------------------------------------------
# Generate the given number of identifiers, and then 100 more in one transaction. Return the bits of these 100 as 0, 1,
# or ? for a bit that varies. (A random bit has the same value in all 100 identifiers with a probability of 2^-99.)
sub bits
{
	my ($call, $after) = @_;
	$after //= 0;
	my ($and, $or) = split /\|/, ask("SELECT bit_and(b), bit_or(b) FROM (
		SELECT ('x' || replace(id::text, '-', ''))::bit(128) AS b
		FROM (SELECT n, $call AS id FROM generate_series(1, $after + 100) n OFFSET 0) made WHERE n > $after) s");
	return join '', map { substr($and, $_, 1) eq substr($or, $_, 1) ? substr($and, $_, 1) : '?' } 0 .. 127;
}

my %call = (
	uuid_v4 => 'idgen.uuid_v4()',
	keyed_comb => q{idgen.keyed_comb('orders', clock => CLOCK)},
	hmac_comb => q{idgen.hmac_comb_at(CLOCK, 'orders')},
	short_comb => 'idgen.short_comb(clock => CLOCK)',
	short_suffix_comb => 'idgen.short_suffix_comb(clock => CLOCK)',
	sequence_comb => q{idgen.sequence_comb('numbers')},
	ulid => 'idgen.ulid_to_uuid(idgen.ulid(CLOCK))',
	typeid => q{idgen.typeid_to_uuid(idgen.typeid('user', CLOCK))},
	map { $_ => "idgen.$_(CLOCK)" } qw(comb suffix_comb uuid_v7 uuid_v1 uuid_v6 lambert_comb));

sub call
{
	my ($function, $later) = @_;
	my $clock = "timestamptz '$noon' + interval '$later'";
	return $call{$function} =~ s/CLOCK/$clock/r;
}

# Each resolution on the page has an interval after which the known bits must be the same, and one after which they must
# differ. If identifiers reveal no time, there is no second interval. (Timestamps have a resolution of a microsecond.)
my %resolution = (
	'no' => ['1000 days'],
	'to the millisecond' => [ '0.4 ms', '1 ms' ],
	'to 0.25 µs' => [ '0', '1 us' ],
	'to 100 ns' => [ '0', '1 us' ],
	'the minute, modulo 45.5 days' => [ '65536 minutes', '1 minute' ]);

my %shown;
for my $row ($page->table('What each kind reveals to an outsider'))
{
	my ($names, $time, undef, $unknown) = @$row;
	my $count = ($unknown =~ /^(\d+)/)[0];
	for my $function (grep { exists $call{$_} } $names =~ /`(\w+)\(/g)
	{
		$shown{$function} = 1;
		my $bits = bits(call($function, '0'));
		is($bits =~ tr/?//, $count, "$function(): $count bits are unknown");
		next if $time eq '[not by itself](#keyed-combs)' || $function eq 'sequence_comb';
		my ($same, $other) = @{ $resolution{$time} // die "unknown: $time" };
		is(bits(call($function, $same)), $bits, "$function(): the others are the same at a clock $same later");
		isnt(bits(call($function, $other)), $bits, "$function(): and not at one $other later") if defined $other;
	}
}
is_deeply([ sort keys %shown ], [ sort keys %call ], 'the table has these functions');

for ([ 'short_comb', 128, 'minute' ], [ 'keyed_comb', 8192, 'five minutes' ], [ 'hmac_comb', 8192, 'five minutes' ])
{
	my ($function, $alone, $period) = @$_;
	my $call = call($function, '1 day');
	is(bits($call, $alone - 100) =~ tr/?//, $function eq 'short_comb' ? 106 : 90,
		"$function(): the first $alone keys of a session in a $period are no run");
	is(bits($call, $alone) =~ tr/?//, 74, "$function(): in a run, 74 bits are unknown");
}
is( ask("SELECT block, count(DISTINCT first_48_bits) FROM (
			SELECT (n - 1) / 8192 AS block, left(id::text, 13) AS first_48_bits
			FROM (SELECT n, idgen.keyed_comb('bulk', clock => '$noon') AS id
				FROM generate_series(1, 4 * 8192) n OFFSET 0) made) s
		WHERE block > 0 GROUP BY 1 ORDER BY 1"),
	"1|1\n2|1\n3|1", 'keyed_comb(): from the 8,193rd key on, each 8,192 keys share 48 bits');

ask('ALTER SEQUENCE numbers RESTART 65000');
is(ask(q{SELECT left(idgen.sequence_comb('numbers')::text, 4) AS prefix, count(*) FROM generate_series(1, 65536)
	GROUP BY 1 ORDER BY 1}), "0000|537\n0001|64999", 'sequence_comb(): the block of 65,536 rows');
ask('ALTER SEQUENCE numbers RESTART 1');
my $first_block = bits($call{sequence_comb});
ask('ALTER SEQUENCE numbers RESTART ' . (1 + 65536 * 65536));
is(bits($call{sequence_comb}), $first_block, '... modulo 65,536');
is(ask("SELECT idgen.short_comb_timestamp(idgen.short_comb(clock => c), clock => c + interval '45 days')
	= date_trunc('minute', c) FROM (SELECT timestamptz '$noon' + interval '17 s') AS t (c)"), 't',
	'short_comb(): the minute, if the age is known to within 45.5 days');
is(sprintf('%.1f %.0f', 65536 / 24 / 60, 2**25 / 24 / 60 / 60), '45.5 388', 'the cycles of minutes and of trace_id()');

# Functions that use a ticker return consecutive numbers while they are ahead of the clock. The node number causes a gap
# between the values of consecutive ticks.
for my $ticker (qw(snowflake js_id trace_id uuid_v7_ordered))
{
	my $is_uuid = $ticker eq 'uuid_v7_ordered';
	my ($number, $node_number) = $is_uuid
	  ? (q{('x' || left(replace(id::text, '-', ''), 12) || substr(id::text, 16, 3))::bit(60)::bigint}, 'NULL')
	  : ('id', "idgen.${ticker}_node(id)");
	ask("SELECT setval('idgen.${ticker}_mark', (extract(epoch FROM now())::bigint + 3600) << 28)");
	is( ask("SELECT count(*) FILTER (WHERE number - before = 1) >= 998, string_agg(DISTINCT node::text, ' ') FROM (
			SELECT $number AS number, lag($number) OVER (ORDER BY n) AS before, $node_number AS node
			FROM (SELECT n, idgen.$ticker() AS id FROM generate_series(1, 1000) n OFFSET 0) made) s"),
		$is_uuid ? 't|' : 't|5',
		"$ticker(): consecutive numbers" . ($is_uuid ? '' : ', and the node'));
}
is( ask(q{SELECT count(*) FROM (SELECT idgen.js_id() >> 21 AS second FROM generate_series(1, 200000)) made
		GROUP BY second ORDER BY 1 DESC LIMIT 1}),
	65536, 'js_id(): 65,536 values a second');
is( ask(q{SELECT count(DISTINCT counter - n), count(DISTINCT generator), min(launch_id)
		FROM (SELECT n, idgen.decimal_id() AS id FROM generate_series(1, 1000) n OFFSET 0) made,
			idgen.decimal_id_parts(id)}),
	'1|1|7', 'decimal_id(): consecutive numbers, and the launch');
is( ask(q{SELECT count(DISTINCT substr(id, 9, 10)), count(DISTINCT (('x' || right(id, 6))::bit(24)::int - n) & 16777215)
		FROM (SELECT n, idgen.object_id() AS id FROM generate_series(1, 1000) n OFFSET 0) made}),
	'1|1', 'object_id(): the session, and consecutive numbers');
is( ask(q{SELECT count(*) FILTER (WHERE low - before <> 1) FROM (
			SELECT low, lag(low) OVER same AS before FROM (
				SELECT n, left(id, 10) AS ms, ('x' || right(idgen.ulid_to_uuid(id)::text, 12))::bit(48)::bigint AS low
				FROM (SELECT n, idgen.ulid() AS id FROM generate_series(1, 10000) n OFFSET 0) made) s
			WINDOW same AS (PARTITION BY ms ORDER BY n)) t}),
	'0', 'ulid(): consecutive within a millisecond of a session');
my $second = ask("SELECT idgen.object_id('$noon')");
is(ask("SELECT idgen.object_id_timestamp('$second') = '$noon'"), 't', 'object_id(): the second');

# --- The table of probabilities --------------------------------------------------------
# Each entry corresponds to a line of the page's table. It contains the number of rows that share a prefix or a time,
# the number of such groups in 100 years, and the number of bits that differ within a group.
sub log2 { return log($_[0]) / log(2) }
my $minutes = 100 * 365.25 * 24 * 60;
my %of = (
	'`uuid_v4()`' => sub { my $n = shift; return [ $n, 1, 122 ] },
	'`short_comb()`' => sub { my $n = shift; return [ $n * $minutes / 65536, 65536, 106 ] },
	'in runs of 4,096' => sub { my $n = shift; return [ 4096, $n * $minutes / 4096, 74 ] },
	'`keyed_comb()`' => sub { my $n = shift; return [ 5 * $n, $minutes / 5, 90 ] },
	'in runs of 8,192' => sub { my $n = shift; return [ 8192, $n * $minutes / 8192, 74 ] },
	# Version 7 timestamps divide a millisecond into 4,096 parts, most of which have no row.
	'`uuid_v7()` of several sessions' =>
	  sub { my $n = shift; return [ 1, 0, 62 ], [ $n / 4096e3, 60 * $minutes * 4096e3, 62 ] });
my $guesses = log2(1e6 * 365.25 * 24 * 60 * 60);
is(sprintf('%.0f', $guesses), 45, 'a year of a million guesses a second');
my $seen = 0;
for my $row ($page->table('How hard an identifier is to guess, and how likely two are equal'))
{
	my ($names, $rows, @probabilities) = @$row;
	my ($base, $exponent) = $rows =~ /^([\d,]+)(?:\^(\d+))? / or next;
	my $n = ($base =~ tr/,//dr)**($exponent // 1);
	my @columns = map { [ split /; / ] } @probabilities;
	for my $name (split /; /, $names)
	{
		my @cases = ($of{$name} // die "unknown: $name")->($n);
		my ($of_time, undef, $bits) = @{ $cases[0] };
		is(shift @{ $columns[0] }, sprintf('2^%.0f', log2($of_time) + $guesses - $bits), "$name, $rows: guessed");
		($of_time, my $times, $bits) = @{ $cases[-1] };
		is(shift @{ $columns[1] }, sprintf('2^%.0f', 2 * log2($of_time) - ($bits + 1) + log2($times)),
			"$name, $rows: equal");
		$seen++;
	}
}
is($seen, keys %of, 'the table has these rows');

# --- Keyed COMBs -------------------------------------------------------------------------
# An outsider who obtains a key every five minutes for a hundred days can date the keys of others.
ask(q{
	CREATE TABLE own AS SELECT t, t::date AS day, left(idgen.hmac_comb_at(t, 'users')::text, 8) AS prefix
		FROM generate_series(timestamptz '2026-08-01 00:01', '2026-11-08 23:59', '5 minutes') t;
	CREATE TABLE others AS SELECT t, t::date AS day, left(idgen.hmac_comb_at(t, 'users')::text, 8) AS prefix
		FROM generate_series(timestamptz '2026-08-01 00:04', '2026-11-08 23:59', '5 minutes') t});
is( ask(q{SELECT bool_and(has_own), round(100.0 * count(*) FILTER (WHERE candidates = 1) / count(*)), max(candidates)
		FROM (SELECT others.t, count(*) AS candidates, bool_or(others.t - own.t = '3 minutes') AS has_own
			FROM others LEFT JOIN own USING (day, prefix) GROUP BY 1) s}),
	't|96|3', 'a key each five minutes of a day dates 96 % of the others to five minutes, the rest to two or three');
is( ask(q{SELECT count(*) FROM own
		WHERE left(prefix, 6) IN (SELECT left(idgen.hmac_comb_at(t, 'orders')::text, 6) FROM own)}),
	'0', 'areas are unrelated');

# The outsider guesses the hour of the day from the number of keys that share a prefix. The keys are generated at a
# constant rate, or at a rate that peaks at noon. The guess is the hour whose expected number is closest to the observed
# number. An hour before noon has the same expected number as the corresponding hour after noon.
ask(q{
	SELECT setseed(0.5);
	CREATE TABLE counts AS
	SELECT swing, min(hour) % 24 AS hour, count(*) AS keys
	FROM (
		SELECT swing, hour,
			left(idgen.hmac_comb_at(timestamptz '2026-11-01' + hour * interval '1 hour', 'orders')::text, 6) AS prefix
		FROM (VALUES (0.0::float8), (0.8)) s (swing), generate_series(0, 719) hour,
			LATERAL (SELECT random() AS u FROM generate_series(1, 1200 + 0 * hour)) r
		WHERE random() < (1 - swing * cos(2 * pi() * (hour + u) / 24)) / 1.8) made
	GROUP BY swing, prefix});
my ($even, $profile) = map { /(\d+)$/ } split /\n/, ask(q{
	SELECT swing, round(100.0 * count(*) FILTER (WHERE guess IN (hour, 23 - hour)) / count(*))
	FROM counts, LATERAL (
		SELECT h AS guess
		FROM generate_series(0, 11) h,
			LATERAL (SELECT (sin(2 * pi() * (h + 1) / 24) - sin(2 * pi() * h / 24)) * 12 / pi()) mean (cosine)
		ORDER BY abs(keys - 1200 / 1.8 * (1 - 0.8 * cosine)) LIMIT 1) g
	GROUP BY 1 ORDER BY 1});
cmp_ok($profile, '>=', 98, "counts of keys leave two hours of the day: for $profile % of the periods");
cmp_ok($even, '<=', 14, "at an even rate, $even %, as by chance");

# The server's shared memory contains the secret.
SKIP:
{
	my ($start) = map { m{^([0-9a-f]+)-\S+ rw-s .*/(?:dev/zero|anon_hugepage)} } split /\n/,
	  -r '/proc/self/maps' ? ask(q{SELECT pg_read_file('/proc/self/maps')}) : '';
	skip 'the map of the memory is unknown', 1 if !defined $start;
	ask('CREATE ROLE reader LOGIN IN ROLE pg_read_server_files;
		GRANT EXECUTE ON FUNCTION pg_read_binary_file(text, bigint, bigint) TO reader');
	my $offset = ask(q{SELECT off FROM pg_shmem_allocations WHERE name LIKE 'idgen keyed%'});
	my $secret = outcome("SELECT encode(pg_read_binary_file('/proc/self/mem',
		('x' || lpad('$start', 16, '0'))::bit(64)::bigint + $offset, 16), 'hex')", user => 'reader');
	my $database = ask(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
	is(ask(q{SELECT left(idgen.keyed_comb('orders', clock => 'epoch')::text, 8)}),
		keyed_prefix(server_key(pack('H*', $secret), $database, 1), 'orders', 3600_000, 0),
		'a role that may call pg_read_binary_file() on server files reads the secret of keyed_comb()');
}

# --- Masks and checks --------------------------------------------------------------------
my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};
is(ask("SELECT count(DISTINCT idgen.mask_uuid_v7($v7)) FROM generate_series(1, 2)"), '1',
	'equal UUIDs have equal masks');
is(bits("idgen.mask_uuid_v7(overlay($v7 PLACING lpad(to_hex(n), 4, '0') FROM 33)::uuid)") =~ tr/?//, 122,
	'of a mask, each of the 122 bits depends on the last bits of the UUID');
is( ask(q{SELECT abs(corr(i, result)) < 0.02, max(result) > 990000
		FROM generate_series(1, 10000) i, LATERAL (SELECT idgen.permute(i, 'orders', 1000000) AS result) p}),
	't|t', 'the result of permute() shows neither order nor number');
is( ask("SELECT bool_and(idgen.is_recent_short_comb(idgen.short_comb(clock => c - age * interval '65536 minutes'),
			'10 minutes', clock => c))
		FROM (SELECT timestamptz '$noon') t (c), (VALUES (0), (1), (10)) a (age)"),
	't', 'a check accepts short COMBs that are whole cycles old');
is(ask("SELECT count(*) FROM generate_series(0, 65535) i WHERE idgen.is_recent_short_comb(
	(lpad(to_hex(i), 4, '0') || '0000-0000-4000-8000-000000000000')::uuid, '10 minutes', clock => '$noon')"), '21',
	'and 21 of the 65,536 prefixes of random UUIDs');
done_testing();
