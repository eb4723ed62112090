# Identifiers are laid out as other programs and definitions have them: text forms and timestamps as an independent
# implementation in Python reads and writes them, TraceId and DecimalId as the pattern "ID generation" defines them. (The
# functions that read numbers, js_id within JavaScript's safe integers: t/003_properties.pl, sql/int_ids.sql.)

use Server;

start_server('server', "idgen.node_id = 54321\nidgen.launch_id = 65");

SKIP:
{
	skip 'no python3', 2 unless defined $python;
	my $client = "$python t/lib/client.py";
	my $file = PostgreSQL::Test::Utils::tempdir() . '/ids';
	system("$client forms > $file.forms") == 0 or die 'Python failed';
	is(ask(qq{
			CREATE TABLE forms (id uuid, b16 text, b32 text, b36 text, b58 text, b62 text, prefixed text, typeid text, ulid text);
			\\copy forms FROM '$file.forms'
			SELECT count(*), count(*) FILTER (WHERE
					(idgen.uuid_from_base(b16, 16), idgen.uuid_from_base(b32, 32), idgen.uuid_from_base(b36, 36),
					 idgen.uuid_from_base(b58, 58), idgen.uuid_from_base(b62, 62), idgen.prefixed_id_to_uuid(prefixed, 'line_item'),
					 idgen.typeid_to_uuid(typeid), idgen.typeid_prefix(typeid), idgen.ulid_to_uuid(ulid))
					= (id, id, id, id, id, id, id, 'line_item', id)) AS read,
				count(*) FILTER (WHERE
					(idgen.uuid_to_base(id, 16), idgen.uuid_to_base(id, 32), idgen.uuid_to_base(id, 36),
					 idgen.uuid_to_base(id, 58), idgen.uuid_to_base(id, 62), idgen.prefixed_id('line_item', id),
					 idgen.typeid_from_uuid('line_item', id), idgen.ulid_from_uuid(id))
					= (b16, b32, b36, b58, b62, prefixed, typeid, ulid)) AS written
			FROM forms}), '10386|10386|10386', 'the server reads what Python writes, and writes the same');

	# the server's version 1, and versions 6 and 13 converted to it
	ask(qq{
		CREATE TABLE made AS SELECT n, CASE n % 3 WHEN 0 THEN idgen.uuid_v1() WHEN 1 THEN idgen.uuid_v6_to_v1(idgen.uuid_v6())
			ELSE idgen.lambert_comb_to_uuid_v1(idgen.lambert_comb()) END AS id FROM generate_series(1, 10000) n;
		\\copy (SELECT id FROM made ORDER BY n) TO '$file.v1'});
	system("$client times < $file.v1 > $file.times") == 0 or die 'Python failed';
	is(ask(qq{
			CREATE TABLE times (n int GENERATED ALWAYS AS IDENTITY, id uuid, version_1 bool, ticks bigint);
			\\copy times (id, version_1, ticks) FROM '$file.times'
			SELECT count(*), count(*) FILTER (WHERE version_1),
				count(*) FILTER (WHERE extract(epoch FROM idgen.uuid_timestamp(id)) * 1000000 = ticks / 10 - 12219292800000000),
				count(*) FILTER (WHERE n <= 10000 AND ticks > last_ticks)
			FROM (SELECT *, lag(ticks, 1, 0::bigint) OVER (ORDER BY n) AS last_ticks FROM times) t}),
		'11000|11000|11000|10000', 'Python and the server read the same, and the ticks increase');
}

is(ask(q{SELECT string_agg(idgen.uuid_v1_to_v6(id)::text, ' ' ORDER BY id)
		FROM (VALUES ('ffffffff-ffff-1fff-bfff-ffffffffffff'::uuid), ('00000000-0000-1000-8000-000000000000')) v (id)}),
	'00000000-0000-6000-8000-000000000000 ffffffff-ffff-6fff-bfff-ffffffffffff', 'the limits of the timestamp field');

# From the high end: 1 bit reserved, 25 timestamp, 16 node_no, 22 counter. The first call of a session starts the
# counters at 1. If the clock advances by a second while the rows are generated, counters begin at 1 again.
is(ask(q{
		SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS before \gset
		CREATE TABLE trace AS
			SELECT i, id, ((id >> 38) - :before) & ((1 << 25) - 1) AS seconds, (id >> 22) & 65535 AS node, id & 4194303 AS counter
			FROM (SELECT i, idgen.trace_id() AS id FROM generate_series(1, 10000) i OFFSET 0) made;
		SELECT count(*) FILTER (WHERE id > 0), count(*) FILTER (WHERE node = 54321),
			count(*) FILTER (WHERE seconds BETWEEN last_seconds AND extract(epoch FROM clock_timestamp()) - :before),
			count(*) FILTER (WHERE counter = number)
		FROM (SELECT *, lag(seconds, 1, 0::bigint) OVER (ORDER BY i) AS last_seconds,
				row_number() OVER (PARTITION BY seconds ORDER BY i) AS number
			FROM trace) t}),
	join('|', (10000) x 4), 'TraceId: positive, the node, a rising clock, counter 1, 2, 3 ... in each second');

# cc*ggggglllll: counter, generator_id, launch_id
sub decimal_ids { my ($count) = @_; return ask("SELECT idgen.decimal_id() FROM generate_series(1, $count)") }

is(decimal_ids(10000), join("\n", map { "${_}0000000065" } 1 .. 10000),
	'DecimalId: counter is 1, 2, 3 ..., generator_id 0, launch_id the setting');
ask('SELECT count(idgen.decimal_id()) FROM generate_series(1, 2500000)');
is(decimal_ids(1), '25100010000000065', 'DecimalId: no counter value is skipped');
ask(q{SELECT setval('idgen.decimal_id_counter', 922337202 - 5)});
is(decimal_ids(10), join("\n", (map { "${_}0000000065" } 922337198 .. 922337202), map { "${_}0000100065" } 1 .. 5),
	'DecimalId: after its last value, the counter starts again with the next generator_id');
done_testing();
