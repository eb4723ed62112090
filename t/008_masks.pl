# Verify masked UUIDs and permuted numbers against known answers and against a separate program written from the
# definitions. Also verify that permute() is a permutation for many sizes.

use IPC::Run;
use Masks;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};

# --- Answers ------------------------------------------------------------------
# Each vector of docs/masks.md contains either a key, a version 7 UUID and its mask, or a key and the area, max_value,
# id and result of permute().
my @vectors = map { [ split /,/ ] } slurp_file('docs/masks.md') =~ /^([0-9a-f]{32},.*)$/mg;
is(join(' ', map { scalar @$_ } @vectors), '3 3 3 3 5 5 5', 'the page has vectors');
for my $vector (@vectors)
{
	my ($key, @values) = @$vector;
	my ($name) = grep { lc $Masks::key{$_} eq $key } keys %Masks::key or die "no key $key";
	my ($there, $back, $id, $result) = @values == 2
	  ? ("mask_uuid_v7('$values[0]', '$name')", "unmask_uuid_v7('$values[1]', '$name')", @values)
	  : (map({ "$_->[0]($_->[1], '$values[0]', $values[1], '$name')" }
			[ 'permute', $values[2] ], [ 'unpermute', $values[3] ]), @values[ 2, 3 ]);
	is($masks->outcome("SELECT idgen.$there, idgen.$back"), "$result|$id", "$there, and back");
}
is($masks->outcome(q{SELECT idgen.permute(1, 'orders')}), (grep { $_->[1] eq 'orders' } @vectors)[0][4],
	'the default of max_value is that of the vectors');

SKIP:
{
	skip 'no python3', 12 if !defined $python;
	my $sets = q{'{2,3,4,5,31,1000,999999999,4294967296,4294967297,9007199254740991,
		9223372036854775806,9223372036854775807}'};
	for my $name (sort keys %Masks::key)
	{
		my $count = $name eq 'default' ? 10_000 : 100;
		# Each row contains the function's name in the program, the corresponding SQL call for line n of the input, and
		# a query that returns the input.
		for (
			[ 'mask', 'idgen.mask_uuid_v7(n::uuid, NAME)',
				"SELECT overlay(idgen.uuid_v4()::text PLACING '7' FROM 15) FROM generate_series(1, $count)
				UNION ALL VALUES ('00000000-0000-7000-8000-000000000000'), ('ffffffff-ffff-7fff-bfff-ffffffffffff')" ],
			[ 'unmask', 'idgen.unmask_uuid_v7(n::uuid, NAME)',
			"SELECT idgen.uuid_v4() FROM generate_series(1, $count)" ],
			[ 'permute', q{idgen.permute(split_part(n, ' ', 1)::bigint, split_part(n, ' ', 3),
				split_part(n, ' ', 2)::bigint, NAME)},
				qq{SELECT DISTINCT i || ' ' || g
				  || ' ' || CASE i % 2 WHEN 0 THEN left('a-name-of-32-bytes-or-a-bit-less', (i % 33)::int) ELSE '' END
				FROM unnest($sets\::bigint[]) g, LATERAL unnest(ARRAY[1, 2, g - 1, g]
					|| ARRAY(SELECT 1 + trunc(g * random() * 0.999)::bigint FROM generate_series(1, 40))) i} ])
		{
			my ($function, $call, $query) = @$_;
			my $given = ask($query);
			IPC::Run::run([ $python, 't/lib/mask.py', $function, $Masks::key{$name} ],
				'<', \$given, '>', \my $expected) or die;
			is(ask("SELECT $call FROM regexp_split_to_table('$given', E'\\n') n" =~ s/NAME/'$name'/r),
				$expected =~ s/\n\z//r, "key $name: $function by the definition");
		}
	}
}

# --- Permutations -------------------------------------------------------------
is(ask(q{
	SELECT count(*) FROM generate_series(2, 2000) g,
		LATERAL (SELECT count(DISTINCT p), min(p), max(p), bool_and(idgen.unpermute(p, '', g) = i) AS back
			FROM generate_series(1, g) i, LATERAL (SELECT idgen.permute(i, '', g) AS p) permuted) numbers
	WHERE count = g AND min = 1 AND max = g AND back}), 1999, 'every size from 2 to 2000 is permuted');

# --- Text arguments (others: sql/keys.sql) ------------------------------------
my $v4 = q{'2463c780-7fca-4def-8c3f-7b1a2c4d5e6f'};
my $long = "22023: area is too long\nDETAIL:  The area has more than 63 bytes in UTF-8.";
like($masks->outcome("SELECT idgen.permute(1, 'a', key_name => repeat('x', 100000000))"),
	qr/^42704: key "x{96}" does not exist/, 'of a name of 100 MB, a message shows the first bytes');

# Key names are byte strings. Messages contain them in the client's encoding.
for ([ UTF8 => 47, qr/^\Q@{[ $masks->outcome(q{SELECT idgen.permute(1, 'a', key_name => 'other')}) ]}\E$/ ],
	[ LATIN1 => 95, qr/^42704: key "gr\303\274n" does not exist\n/ ])
{
	my ($encoding, $shown, $found) = @$_;
	add_database("in_$encoding", $encoding);
	ask($Masks::grant, lc "in_$encoding");
	my $in_encoding = sub {
		return $masks->outcome("SET client_encoding = 'UTF8'; SELECT idgen.permute(1, 'a', key_name => $_[0])",
			database => lc "in_$encoding");
	};
	like($in_encoding->(q{'x' || repeat(chr(252), 1000)}), qr/^42704: key "x(\303\274){$shown}" does not exist\n/,
		"$encoding: a message shows whole characters of a name");
	like($in_encoding->(q{'gr' || chr(252) || 'n'}), $found, "$encoding: the name that is not ASCII is one of UTF-8");
}

# An area is text, and yields the same result in every encoding. One of the encodings has no conversion to UTF-8.
my $permuted = q{SELECT idgen.permute(5, 'gr' || chr(252) || 'n', 999999)};
is($masks->outcome($permuted, database => 'in_latin1'), $masks->outcome($permuted, database => 'in_utf8'),
	'an area is hashed in UTF-8 in each encoding');
for my $database ('in_latin1', 'in_utf8')
{
	my ($fits, $too_long) = map { $masks->outcome("SELECT idgen.permute(5, repeat(chr(252), $_)) > 0",
			database => $database) } 31, 32;
	is("$fits $too_long", "t $long", "$database: of an area, the bytes in UTF-8 count");
}
SKIP:
{
	skip 'there is no MULE_INTERNAL', 2 if ask(q{SELECT pg_char_to_encoding('MULE_INTERNAL')}) < 0;
	add_database('mule', 'MULE_INTERNAL');
	ask($Masks::grant, 'mule');
	my $answers = sub {
		my $area = shift;
		return map { $masks->outcome("SELECT $_", database => 'mule', user => ask('SELECT current_user')) }
		  "idgen.permute(1, $area) > 0", "idgen.keyed_comb($area) IS NULL", "idgen.uuid_v5($v4, $area) IS NULL",
		  "idgen.named_uuid_v7('2026-01-01', $v4, $area) IS NULL",
		  "idgen.hmac_comb($area, 'default') IS NULL", "created FROM idgen.create_once(idgen.uuid_v4(), idgen.uuid_v4(),
			'order', jsonb_build_array($area))";
	};
	is_deeply([ $answers->(q{'orders'}) ], [qw(t f f f f t)], 'MULE_INTERNAL: texts in ASCII need no conversion');
	is((grep { /^42883/ } $answers->(q{E'\\x81\\xfc'})), 6, '... which does not exist for others');
}

done_testing();
