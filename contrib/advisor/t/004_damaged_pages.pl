# index_report() on pages whose bytes are random: an error that names the relation and
# the block, and never the end of the server. dev/test-sanitized.sh runs it, too.

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Server;

my $seeds = 100;
my $header = 24;

# damaged pages are read, also on servers with checksums
my $node = init_server('damaged', "autovacuum = off\nignore_checksum_failure = on\nfull_page_writes = off");
$node->start;
ask(q{
	CREATE EXTENSION idgen_advisor CASCADE;
	SET client_min_messages = error;
	CREATE PROCEDURE make(t text, n int) LANGUAGE plpgsql AS $$
	DECLARE
		columns text := (ARRAY['(id)', '(word) INCLUDE (note)', '(few)', '(word, id)', '(number, few)'])[n % 5 + 1];
	BEGIN
		EXECUTE format('CREATE TABLE %I (id uuid, word text, few int, number numeric, note text)', t);
		EXECUTE format('INSERT INTO %I SELECT md5(i::text)::uuid, md5(i::text), i & 63, CASE WHEN i & 3 > 0 THEN i END,
			repeat(''x'', i & 15) FROM generate_series(1, 1200) i', t);
		EXECUTE format('CREATE INDEX %I ON %I %s', t || '_k', t, columns);
	END $$});
my @kinds = ('lines', 'rows', 'index', 'table');
ask("DO \$\$ BEGIN FOR n IN 1..$seeds LOOP " . join('', map { "CALL make('$_' || n, n); " } @kinds) . 'END LOOP; END $$');

# "lines" and "rows": the line pointers of a page of the index or of the table; "index"
# and "table": some bytes anywhere behind the header
my %file = map { split /\|/ } split /\n/, ask('SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relnamespace = $$public$$::regnamespace');
my %damaged;
$node->stop;
for my $kind (@kinds)
{
	for my $seed (1 .. $seeds)
	{
		my $relation = $kind . $seed . ($kind =~ /lines|index/ ? '_k' : '');
		my $path = $node->data_dir . "/$file{$relation}";

		srand($seed);
		# the first block of an index is the metapage
		my $first = $relation =~ /_k/ ? 1 : 0;
		my $block = $first + int rand(-s $path) / 8192 - $first;
		open my $pages, '+<:raw', $path or die $path;
		sysseek $pages, $block * 8192, 0;
		sysread $pages, my $page, 8192;
		my $end = unpack 'x12 S', $page;
		if ($kind =~ /lines|rows/)
		{
			substr($page, $_, 1) = chr int rand 256 for $header .. $end - 1;
		}
		else
		{
			my $special = unpack 'x16 S', $page;
			substr($page, $header + int rand $special - $header, 1) = chr int rand 256 for 0 .. 1 + 4 ** ($seed % 6);
		}
		sysseek $pages, $block * 8192, 0;
		syswrite $pages, $page;
		close $pages;
		$damaged{"$kind$seed"} = qr/^XX00[12]: relation "$relation" contains a corrupted page at block $block$/;
	}
}

$node->start;
my $server = ask('SELECT pg_postmaster_start_time(), min(backend_start) FROM pg_stat_activity WHERE backend_type = $$checkpointer$$');
ask(q{
	CREATE FUNCTION report(index text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT placement FROM idgen.index_report(index::regclass));
	EXCEPTION WHEN OTHERS THEN
		RETURN format('%s: %s', SQLSTATE, SQLERRM);
	END $$});
for my $kind (@kinds)
{
	my ($said) = psql_said("SET client_min_messages = error; SELECT n, report('$kind' || n || '_k') FROM generate_series(1, $seeds) n");
	my %said = map { split /\|/, $_, 2 } split /\n/, $said;

	is(keys %said, $seeds, "$kind: $seeds reports");
	is(join("\n", map { "$_: $said{$_}" } grep { $said{$_} !~ $damaged{"$kind$_"} } sort { $a <=> $b } keys %said), '',
		"$kind: each is an error that names relation and block") if $kind =~ /lines|rows/;
	cmp_ok(scalar(grep { /corrupted page/ } values %said), '>', $seeds / 4, "$kind: damage is noticed") if $kind =~ /index|table/;
}
is(ask('SELECT pg_postmaster_start_time(), min(backend_start) FROM pg_stat_activity WHERE backend_type = $$checkpointer$$'),
	$server, 'no server process ended');

done_testing();
