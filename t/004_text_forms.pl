# Text forms and timestamps compared with an independent implementation, in Python.

use Server;

plan skip_all => 'no python3' unless defined $python;

my $client = "$python t/lib/client.py";
my $node = start_server('server');
my $file = PostgreSQL::Test::Utils::tempdir() . '/ids';

# --- Text ---------------------------------------------------------------------

system("$client forms > $file.forms") == 0 or die 'Python failed';
is( ask(qq{
		CREATE TABLE forms (id uuid, b16 text, b32 text, b36 text, b58 text, b62 text,
			prefixed text, typeid text, ulid text);
		\\copy forms FROM '$file.forms'
		SELECT count(*), count(*) FILTER (WHERE
				(idgen.uuid_from_base(b16, 16), idgen.uuid_from_base(b32, 32), idgen.uuid_from_base(b36, 36),
				 idgen.uuid_from_base(b58, 58), idgen.uuid_from_base(b62, 62),
				 idgen.prefixed_id_to_uuid(prefixed, 'line_item'),
				 idgen.typeid_to_uuid(typeid), idgen.typeid_prefix(typeid), idgen.ulid_to_uuid(ulid))
				= (id, id, id, id, id, id, id, 'line_item', id)) AS read,
			count(*) FILTER (WHERE
				(idgen.uuid_to_base(id, 16), idgen.uuid_to_base(id, 32), idgen.uuid_to_base(id, 36),
				 idgen.uuid_to_base(id, 58), idgen.uuid_to_base(id, 62), idgen.prefixed_id('line_item', id),
				 idgen.typeid_from_uuid('line_item', id), idgen.ulid_from_uuid(id))
				= (b16, b32, b36, b58, b62, prefixed, typeid, ulid)) AS written
		FROM forms}),
	'10386|10386|10386', 'the server reads what Python writes, and writes the same');

# --- Timestamps ---------------------------------------------------------------

# the server's version 1, and versions 6 and 13 converted to it
ask(q{
	CREATE TABLE made AS SELECT n,
		CASE n % 3 WHEN 0 THEN idgen.uuid_v1() WHEN 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v6())
				   ELSE idgen.lambert_comb_to_uuid_v1(idgen.lambert_comb()) END AS id
	FROM generate_series(1, 10000) n});
ask("\\copy (SELECT id FROM made ORDER BY n) TO '$file.v1'");
system("$client times < $file.v1 > $file.times") == 0 or die 'Python failed';
is( ask(qq{
		CREATE TABLE times (n int GENERATED ALWAYS AS IDENTITY, id uuid, version_1 bool, ticks bigint);
		\\copy times (id, version_1, ticks) FROM '$file.times'
		SELECT count(*), count(*) FILTER (WHERE version_1),
			count(*) FILTER (WHERE extract(epoch FROM idgen.uuid_timestamp(id)) * 1000000
								   = ticks / 10 - 12219292800000000) AS same_time,
			count(*) FILTER (WHERE n <= 10000 AND ticks > last_ticks) AS rising
		FROM (SELECT *, lag(ticks, 1, 0::bigint) OVER (ORDER BY n) AS last_ticks FROM times) t}),
	'11000|11000|11000|10000', 'Python and the server read the same, and the ticks increase');

# the limits of the timestamp field
is( ask(q{
		SELECT string_agg(idgen.uuid_v1_to_v6(id)::text, ' ' ORDER BY id)
		FROM (VALUES ('ffffffff-ffff-1fff-bfff-ffffffffffff'::uuid), ('00000000-0000-1000-8000-000000000000')) v (id)}),
	'00000000-0000-6000-8000-000000000000 ffffffff-ffff-6fff-bfff-ffffffffffff',
	'the limits of the timestamp field');

done_testing();
