# Verify that readers return the values that snowflake(), js_id(), trace_id() and decimal_id() have put into an
# identifier, at both edges of each field: the first and the last tick, node, counter, generator and launch.
# (t/lib/properties.sql contains the edges of functions with a clock.)

use FakeClock;
use Server;
use Tickers;

FakeClock::skip_all_without();

# The clock stands still in the last second before the time field of trace_id() restarts.
my $second = (53 << 25) - 1;
my $node = init_server('edges', $settings);
FakeClock::start_still($node, $second);
ask('CREATE EXTENSION idgen');

# --- snowflake, js_id -------------------------------------------------------------
# Call the function until its next counter has the given value. Then choose the epoch so that the next identifier has
# the given tick.
my %fields_of = (snowflake => [ '1 ms', 2**41 - 1, 1023, 4095 ], js_id => [ '1 s', 2**32 - 1, 31, 65535 ]);
for my $function (sort keys %fields_of)
{
	my ($unit, $last_tick, $last_node, $last_counter) = @{ $fields_of{$function} };
	ask(qq{
		CREATE FUNCTION $function(tick bigint, node int, counter int, OUT id bigint, OUT parts text)
		LANGUAGE plpgsql AS \$\$
		DECLARE
			instant timestamptz;
			epoch timestamptz;
		BEGIN
			PERFORM set_config('idgen.node_id', node::text, false);
			LOOP
				id := idgen.$function();
				EXIT WHEN (idgen.${function}_counter(id) + 1) % ($last_counter + 1) = counter;
			END LOOP;
			instant := idgen.${function}_timestamp(id) + CASE counter WHEN 0 THEN interval '$unit' ELSE '0' END;
			epoch := instant - tick * interval '$unit';
			id := idgen.$function(epoch);
			parts := concat_ws(' ', idgen.${function}_timestamp(id, epoch) = instant,
				idgen.${function}_node(id), idgen.${function}_counter(id));
		END \$\$});
	for my $tick (0, $last_tick)
	{
		for my $of_node (0, $last_node)
		{
			for my $counter (0, $last_counter)
			{
				# 0 is not an identifier, so the function continues with 1.
				my $made = $tick || $of_node ? $counter : $counter || 1;
				my ($id, $parts) = split /\|/, ask("SELECT * FROM $function($tick, $of_node, $counter)");
				is($id, (($tick * ($last_node + 1)) + $of_node) * ($last_counter + 1) + $made,
					"$function: tick $tick, node $of_node, counter $counter");
				is($parts, "t $of_node $made", '... and read back');
			}
		}
	}
}

# --- trace_id -----------------------------------------------------------------------
# Generate values from the first counter of the last tick to the first counter of the first tick.
my $session = session();

sub trace_id
{
	my ($of_node, $calls) = @_;
	return $session->ask(qq{
		SET idgen.node_id = $of_node;
		SELECT concat_ws(' ', id, idgen.trace_id_timestamp(id) = to_timestamp($second), idgen.trace_id_node(id),
			idgen.trace_id_counter(id))
		FROM (SELECT max(idgen.trace_id()) FROM generate_series(1, $calls)) made (id)});
}
my $last_counter = 2**22 - 1;
my $last_tick = ((2**25 - 1) << 38) + 1;
is(trace_id(0, 1), "$last_tick t 0 1", 'trace_id: the first of the last tick');
is(trace_id(65535, $last_counter - 1), "9223372036854775807 t 65535 $last_counter", 'trace_id: the last of it');
$second++;
is(trace_id(0, 1), '1 t 0 1', 'trace_id: the first of the first tick');
my $last_of_first_tick = 2**38 - 1;
is(trace_id(65535, $last_counter - 1), "$last_of_first_tick t 65535 $last_counter", 'trace_id: the last of it');

# --- decimal_id -----------------------------------------------------------------------
for my $launch (0, 99999)
{
	for (
		# number, counter, generator
		[ 1, 1, 0 ], [ 922337202, 922337202, 0 ], [ 922337202 * 99999 + 1, 1, 99999 ],
		[ 922337202 * 100000, 922337202, 99999 ])
	{
		my ($number, $counter, $generator) = @$_;
		my $id = ($counter * 100000 + $generator) * 100000 + $launch;
		is(ask(qq{
			SELECT setval('idgen.decimal_id_counter', $number, false);
			SET idgen.launch_id = $launch;
			SELECT id, parts.* FROM (SELECT idgen.decimal_id() OFFSET 0) m (id), idgen.decimal_id_parts(id) parts})
			  =~ s/.*\n//r, "$id|$counter|$generator|$launch", "decimal_id: number $number, launch $launch");
	}
}
done_testing();
