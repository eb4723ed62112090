# Text forms and timestamps compared with independent implementations: Python's
# uuid and int(..., 36), if Python is installed, and Perl's bignum.

use strict;
use warnings;

use File::Basename qw(dirname);
use Math::BigInt;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = dirname(__FILE__) . '/lib';
my $python = (grep { -x "$_/python3" } split /:/, $ENV{PATH})[0];

my $node = PostgreSQL::Test::Cluster->new('server');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

my $file = PostgreSQL::Test::Utils::tempdir() . '/ids';

# 10,000 random values and boundary values: no bits, all bits, each single bit,
# and the neighbours of these values
my $forms = q{
	SELECT id, idgen.uuid_to_base(id, 16), idgen.uuid_to_base(id, 32), idgen.uuid_to_base(id, 36), idgen.uuid_to_base(id, 58),
	       idgen.uuid_to_base(id, 62), idgen.prefixed_id('line_item', id), idgen.typeid_from_uuid('line_item', id),
	       idgen.ulid_from_uuid(id)
	FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 10000)
	      UNION ALL
	      SELECT ids FROM (
	          SELECT unnest(ARRAY[
	              (repeat('0', 32 - length(h)) || h)::uuid,
	              (repeat('0', n) || repeat('f', 32 - n))::uuid,
	              (repeat('f', n) || repeat('0', 32 - n))::uuid]) AS ids
	          FROM generate_series(0, 31) n, unnest('{1,2,4,8}'::text[]) d,
	               LATERAL (SELECT d || repeat('0', n) AS h) x) edges
	      UNION ALL VALUES ('00000000-0000-0000-0000-000000000000'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff')) s};

my $written = $node->safe_psql('postgres', "COPY ($forms) TO STDOUT");
my @lines = split /\n/, $written;
cmp_ok(scalar(@lines), '>', 10300, 'random values and boundary values');

# --- Perl: read the server's output as big integers --------------------------

my %alphabet = (
	2 => join('', 0 .. 9, 'A' .. 'H', 'J', 'K', 'M', 'N', 'P' .. 'T', 'V' .. 'Z'),
	3 => join('', 0 .. 9, 'a' .. 'z'),
	4 => join('', 1 .. 9, 'A' .. 'H', 'J' .. 'N', 'P' .. 'Z', 'a' .. 'k', 'm' .. 'z'),
	5 => join('', 0 .. 9, 'A' .. 'Z', 'a' .. 'z'));
my %width = (2 => 26, 3 => 25, 4 => 22, 5 => 22);

# Conversions in Perl are slow: check all boundary values and 1,000 others.
my $wrong = 0;
for my $line (@lines[ 9_000 .. $#lines ])
{
	my @form = split /\t/, $line;
	my $number = Math::BigInt->from_hex($form[0] =~ s/-//gr);

	$wrong++ if $form[1] ne $form[0] =~ s/-//gr;
	for my $column (sort keys %alphabet)
	{
		my $zero = substr($alphabet{$column}, 0, 1);
		my $digits = $number->to_base(length $alphabet{$column}, $alphabet{$column});
		$digits = $zero x ($width{$column} - length $digits) . $digits;
		$wrong++ if $digits ne $form[$column];
	}
	$wrong++ if $form[6] ne "line_item_$form[3]";
	$wrong++ if $form[7] ne 'line_item_' . lc $form[2];
	$wrong++ if $form[8] ne $form[2];
}
is($wrong, 0, 'Perl writes each form as the server does');

# --- Python ------------------------------------------------------------------

SKIP:
{
	skip 'no python3', 6 unless defined $python;
	$python .= '/python3';

	PostgreSQL::Test::Utils::append_to_file($file, "$written\n");
	is(`$python $clients/client.py check < $file`,
		scalar(@lines) . " lines, 0 wrong\n",
		'Python reads what the server writes');

	# the other direction: the server reads what Python writes
	system("$python $clients/client.py make 10000 > $file.made") == 0 or die;
	$node->safe_psql('postgres', q{
		CREATE TABLE made (id uuid, b16 text, b32 text, b36 text, b58 text, b62 text, prefixed text, typeid text, ulid text)});
	$node->safe_psql('postgres', "\\copy made FROM '$file.made'");
	is( $node->safe_psql('postgres', q{
			SELECT count(*),
			       count(*) FILTER (WHERE idgen.uuid_from_base(b16, 16) = id AND idgen.uuid_from_base(b32, 32) = id
			                          AND idgen.uuid_from_base(b36, 36) = id AND idgen.uuid_from_base(b58, 58) = id
			                          AND idgen.uuid_from_base(b62, 62) = id AND idgen.prefixed_id_to_uuid(prefixed, 'line_item') = id
			                          AND idgen.typeid_to_uuid(typeid) = id AND idgen.typeid_prefix(typeid) = 'line_item'
			                          AND idgen.ulid_to_uuid(ulid) = id)
			FROM made}),
		'10386|10386',
		'the server reads what Python writes');
	is( $node->safe_psql('postgres', q{
			SELECT count(*) FROM made
			WHERE idgen.uuid_to_base(id, 16) <> b16 OR idgen.uuid_to_base(id, 32) <> b32 OR idgen.uuid_to_base(id, 36) <> b36
			   OR idgen.uuid_to_base(id, 58) <> b58 OR idgen.uuid_to_base(id, 62) <> b62}),
		'0',
		'the server writes it as Python does');

	# timestamps: the server's version 1, and versions 6 and 13 converted to it
	$node->safe_psql('postgres', q{
		CREATE TABLE times AS
		SELECT n, CASE n % 3 WHEN 0 THEN idgen.uuid_v1() WHEN 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v6())
		                     ELSE idgen.lambert_comb_to_uuid_v1(idgen.lambert_comb()) END AS id
		FROM generate_series(1, 10000) n});
	$node->safe_psql('postgres', "\\copy (SELECT id FROM times ORDER BY n) TO '$file.v1'");
	my ($ours, $theirs) = split /^made\n/m, `$python $clients/times.py < $file.v1`;
	my ($last, $increasing, $good) = (0, 0, 0);
	for (split /\n/, $ours)
	{
		my (undef, $version, $variant, $ticks) = split /\t/;
		$good++ if $version == 1 && $variant eq 'True';
		$increasing++ if $ticks > $last;
		$last = $ticks;
	}
	is("$good good, $increasing increasing", '10000 good, 10000 increasing',
		'Python reads the version, the variant and increasing ticks');

	my $values = join ', ', map { my ($id, $ticks) = split /\t/; "('$id'::uuid, $ticks)" } split /\n/, $theirs;
	is( $node->safe_psql('postgres', qq{
			SELECT count(*), count(*) FILTER (WHERE extract(epoch FROM idgen.uuid_timestamp(id)) * 1000000 = ticks / 10 - 12219292800000000)
			FROM (VALUES $values) v (id, ticks)}),
		'1000|1000',
		"the server reads the timestamp of Python's version 1");

	# the limits of the timestamp field
	is( $node->safe_psql('postgres', q{
			SELECT string_agg(idgen.uuid_v1_to_v6(id)::text, ' ' ORDER BY id)
			FROM (VALUES ('ffffffff-ffff-1fff-bfff-ffffffffffff'::uuid), ('00000000-0000-1000-8000-000000000000')) v (id)}),
		'00000000-0000-6000-8000-000000000000 ffffffff-ffff-6fff-bfff-ffffffffffff',
		'the limits of the timestamp field');
}

$node->stop;
done_testing();
