# Text forms and timestamps compared with an independent implementation, in Python.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

plan skip_all => 'no python3' unless defined $python;

my $clients = "$FindBin::RealBin/lib";
my $node = start_server('server');
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

my $written = ask("COPY ($forms) TO STDOUT");
my @lines = split /\n/, $written;
cmp_ok(scalar(@lines), '>', 10300, 'random values and boundary values');

# --- Text ---------------------------------------------------------------------

append_to_file($file, "$written\n");
is(`$python $clients/client.py check < $file`,
	scalar(@lines) . " lines, 0 wrong\n",
	'Python reads what the server writes');

# the other direction: the server reads what Python writes
system("$python $clients/client.py make 10000 > $file.made") == 0 or die;
ask(q{
	CREATE TABLE made (id uuid, b16 text, b32 text, b36 text, b58 text, b62 text, prefixed text, typeid text, ulid text)});
ask("\\copy made FROM '$file.made'");
is( ask(q{
		SELECT count(*),
		       count(*) FILTER (WHERE idgen.uuid_from_base(b16, 16) = id AND idgen.uuid_from_base(b32, 32) = id
		                          AND idgen.uuid_from_base(b36, 36) = id AND idgen.uuid_from_base(b58, 58) = id
		                          AND idgen.uuid_from_base(b62, 62) = id AND idgen.prefixed_id_to_uuid(prefixed, 'line_item') = id
		                          AND idgen.typeid_to_uuid(typeid) = id AND idgen.typeid_prefix(typeid) = 'line_item'
		                          AND idgen.ulid_to_uuid(ulid) = id)
		FROM made}),
	'10386|10386',
	'the server reads what Python writes');
is( ask(q{
		SELECT count(*) FROM made
		WHERE idgen.uuid_to_base(id, 16) <> b16 OR idgen.uuid_to_base(id, 32) <> b32 OR idgen.uuid_to_base(id, 36) <> b36
		   OR idgen.uuid_to_base(id, 58) <> b58 OR idgen.uuid_to_base(id, 62) <> b62 OR idgen.prefixed_id('line_item', id) <> prefixed
		   OR idgen.typeid_from_uuid('line_item', id) <> typeid OR idgen.ulid_from_uuid(id) <> ulid}),
	'0',
	'the server writes it as Python does');

# timestamps: the server's version 1, and versions 6 and 13 converted to it
ask(q{
	CREATE TABLE times AS
	SELECT n, CASE n % 3 WHEN 0 THEN idgen.uuid_v1() WHEN 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v6())
	                     ELSE idgen.lambert_comb_to_uuid_v1(idgen.lambert_comb()) END AS id
	FROM generate_series(1, 10000) n});
ask("\\copy (SELECT id FROM times ORDER BY n) TO '$file.v1'");
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
is( ask(qq{
		SELECT count(*), count(*) FILTER (WHERE extract(epoch FROM idgen.uuid_timestamp(id)) * 1000000 = ticks / 10 - 12219292800000000)
		FROM (VALUES $values) v (id, ticks)}),
	'1000|1000',
	"the server reads the timestamp of Python's version 1");

# the limits of the timestamp field
is( ask(q{
		SELECT string_agg(idgen.uuid_v1_to_v6(id)::text, ' ' ORDER BY id)
		FROM (VALUES ('ffffffff-ffff-1fff-bfff-ffffffffffff'::uuid), ('00000000-0000-1000-8000-000000000000')) v (id)}),
	'00000000-0000-6000-8000-000000000000 ffffffff-ffff-6fff-bfff-ffffffffffff',
	'the limits of the timestamp field');

done_testing();
