# docs/scaling.md: its tables are the results of its queries, keys have the random
# bits that it names, and those that begin with the time fall into one range of an
# engine that shards by range.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = Page->new('scaling');
my $node = PostgreSQL::Test::Cluster->new('scaling');
$node->init;
$node->append_conf('postgresql.conf', q{timezone = 'UTC'});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen_advisor CASCADE');

my ($limits, $costs) = ('Nodes, rates and end dates', 'A billion rows a day');

# Check that a section has a table with the result of a query.
sub is_shown
{
	my ($section, $query, $name) = @_;
	my $table = join "\n", map { s/ +/ /gr } map { '| ' . join(' | ', split /\|/) . ' |' } split /\n/, $node->safe_psql('postgres', $query);

	like($page->section($section) =~ tr/`//dr, qr/^\|[-:|]+\|\n\Q$table\E\n/m, $name)
	  or diag("The page should show:\n$table");
}

# From the greatest identifier of each layout
is_shown($limits, q{
	SELECT l.* FROM (VALUES (9223372036854775807, 9007199254740991)) greatest (id, js_id), LATERAL (VALUES
		('snowflake', idgen.snowflake_node(id) + 1, (idgen.snowflake_counter(id) + 1) * 1000, (idgen.snowflake_timestamp(id) + interval '1 ms')::text),
		('js_id', idgen.js_id_node(js_id) + 1, idgen.js_id_counter(js_id) + 1, (idgen.js_id_timestamp(js_id) + interval '1 s')::text),
		('trace_id', idgen.trace_id_node(id) + 1, idgen.trace_id_counter(id),
			'every ' || round(9223372036854775807 / ((idgen.trace_id_node(id) + 1) * (idgen.trace_id_counter(id) + 1.0)) / 86400, 1) || ' days')) l}, 'the limits are those of the layouts');
is_shown($limits, $page->blocks($limits), 'the probabilities are computed');
my ($cost_query) = $page->blocks($costs);
is_shown($costs, $cost_query, 'the costs are computed');
is_shown($costs, $cost_query =~ s/11574/11574 \/ 16.0/gr =~ s/(?<=index_rows => )/1 \/ 16.0 * /r =~ s/(?=c\.index_bytes)/16 * /r, 'they are the same on each of 16 shards');
like($page->section($limits),
	qr/99999 launch numbers.* each has 92,233,720,200,000 identifiers/s, 'the limits of decimal_id()');
is( $node->safe_psql('postgres', 'SELECT p.launch, p.counter * (p.generator + 1::bigint) FROM idgen.decimal_id_parts(9223372029999999999) p'),
	'99999|92233720200000', 'are those of its layout');

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
	join("\n", sort map { join '|', @$_[0, 1] } grep { $_->[0] =~ /^(uuid_v[47]|(short_)?comb)$/ } map { [ map { tr/`//dr } @$_ ] } $page->table($limits)),
	'the random bits are those of the keys');
is( $node->safe_psql('postgres', 'SELECT key, count(DISTINCT bits::bit(6)) FROM (' . thousand_keys('1 ms') . ') k GROUP BY key ORDER BY key'),
	"comb|1\nshort_comb|1\nuuid_v4|64\nuuid_v7|1", 'in one second, keys with a time fall into one of 64 ranges, random ones into all');

$node->stop;
done_testing();
