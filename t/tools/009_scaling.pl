# The figures of docs/scaling.md: limits of the layouts, random bits of the keys, and
# the ranges into which keys of one second fall on an engine that shards by range.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('scaling');
$node->init;
$node->append_conf('postgresql.conf', q{timezone = 'UTC'});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

# From the greatest identifier of each layout
is($node->safe_psql('postgres', q{
	SELECT l.* FROM (VALUES (9223372036854775807, 9007199254740991)) greatest (id, js_id), LATERAL (VALUES
		('snowflake', idgen.snowflake_node(id) + 1, (idgen.snowflake_counter(id) + 1) * 1000, (idgen.snowflake_timestamp(id) + interval '1 ms')::text),
		('js_id', idgen.js_id_node(js_id) + 1, idgen.js_id_counter(js_id) + 1, (idgen.js_id_timestamp(js_id) + interval '1 s')::text),
		('trace_id', idgen.trace_id_node(id) + 1, idgen.trace_id_counter(id),
			'every ' || round(9223372036854775807 / ((idgen.trace_id_node(id) + 1) * (idgen.trace_id_counter(id) + 1.0)) / 86400, 1) || ' days')) l}),
	"snowflake|1024|4096000|2089-09-06 15:47:35.552+00\njs_id|32|65536|2156-02-07 06:28:16+00\ntrace_id|65536|4194303|every 388.4 days", 'nodes, rates and end dates');
is( $node->safe_psql('postgres', 'SELECT p.launch, p.counter * (p.generator + 1::bigint) FROM idgen.decimal_id_parts(9223372029999999999) p'),
	'99999|92233720200000', 'launch numbers of decimal_id(), and identifiers of each');

# A thousand keys of each kind, with the given time between them
sub thousand_keys
{
	my ($interval) = @_;
	my $clock = "clock => '2026-01-01 00:00:00+00'::timestamptz + i * interval '$interval'";

	return join(' UNION ALL ',
		map { my ($function, $argument) = @$_; "SELECT '$function' AS key, ('x' || replace(idgen.$function($argument)::text, '-', ''))::bit(128) AS bits FROM generate_series(1, 1000) i" }
		  [ 'uuid_v4', '' ], [ 'short_comb', $clock ], [ 'comb', $clock ], [ 'uuid_v7', $clock ]);
}

is( $node->safe_psql('postgres', 'SELECT key, bit_count(bit_or(bits) # bit_and(bits)) FROM (' . thousand_keys('0') . ') k GROUP BY key ORDER BY key'),
	"comb|74\nshort_comb|106\nuuid_v4|122\nuuid_v7|62", 'the random bits of the keys');
is( $node->safe_psql('postgres', 'SELECT key, count(DISTINCT bits::bit(6)) FROM (' . thousand_keys('1 ms') . ') k GROUP BY key ORDER BY key'),
	"comb|1\nshort_comb|1\nuuid_v4|64\nuuid_v7|1", 'in one second, keys with a time fall into one of 64 ranges, random ones into all');

$node->stop;
done_testing();
