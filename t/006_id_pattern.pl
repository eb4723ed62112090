# TraceId and DecimalId as the pattern "ID generation" defines them, by its table of
# bits and its table of decimal places; js_id within JavaScript's safe integers. (The
# functions that read them: t/003_properties.pl and sql/int_ids.sql.)

use Server;

my $node = start_server('server', q{
idgen.node_id = 54321
idgen.launch_id = 65
});

# From the high end: 1 bit reserved, 25 timestamp, 16 node_no, 22 counter. The first
# call of a session starts the counters at 1. The clock may advance by a second while
# the rows are generated, and then counters begin at 1 again.
is( ask(q{
		SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS before \gset
		CREATE TABLE trace AS
			SELECT i, id, ((id >> 38) - :before) & ((1 << 25) - 1) AS seconds,
				(id >> 22) & 65535 AS node, id & 4194303 AS counter
			FROM (SELECT i, idgen.trace_id() AS id FROM generate_series(1, 10000) i OFFSET 0) made;
		SELECT count(*) FILTER (WHERE id > 0) AS positive,
			count(*) FILTER (WHERE node = 54321) AS node_is_setting,
			count(*) FILTER (WHERE seconds <= extract(epoch FROM clock_timestamp()) - :before) AS is_clock,
			count(*) FILTER (WHERE seconds >= last_seconds) AS rises,
			count(*) FILTER (WHERE counter = number) AS "counter is 1, 2, 3 ... in each second"
		FROM (SELECT *, lag(seconds, 1, 0::bigint) OVER (ORDER BY i) AS last_seconds,
				row_number() OVER (PARTITION BY seconds ORDER BY i) AS number
			  FROM trace) t}),
	join('|', (10000) x 5), 'TraceId: 10000 values conform to the definition');

# cc*ggggglllll: counter, generator_id, launch_id
sub decimal_ids { my ($count) = @_; return ask("SELECT idgen.decimal_id() FROM generate_series(1, $count)") }

is( decimal_ids(10000),
	join("\n", map { "${_}0000000065" } 1 .. 10000),
	'DecimalId: counter is 1, 2, 3 ..., generator_id 0, launch_id the setting');

# more values than are reserved at once
ask('SELECT count(idgen.decimal_id()) FROM generate_series(1, 2500000)');
is(decimal_ids(1), '25100010000000065', 'DecimalId: no counter value is skipped');

ask(q{SELECT setval('idgen.decimal_id_ticker', 922337202 - 4)});
is( decimal_ids(10),
	join("\n", (map { "${_}0000000065" } 922337198 .. 922337202), map { "${_}0000100065" } 1 .. 5),
	'DecimalId: after its last value, the counter starts again with the next generator_id');

ask('ALTER DATABASE postgres SET idgen.node_id = 31');
is( ask(q{SELECT count(*) FROM (SELECT idgen.js_id() AS id FROM generate_series(1, 10000)) made
		  WHERE id BETWEEN 1 AND 9007199254740991 AND id::float8::bigint = id}),
	'10000', 'js_id: double precision represents all values exactly');

done_testing();
