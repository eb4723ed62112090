# Verify that, for pages with random bytes, index_report() raises an error that names the relation and the block, and
# never crashes the server. (dev/test-sanitized.sh runs this test, too.)

use FindBin;
use lib "$FindBin::RealBin/../../../t/lib";
use Server;

# The server must read damaged pages, even if checksums are enabled.
my $node = init_server('damaged', "autovacuum = off\nignore_checksum_failure = on");
$node->start;

# There are four tables for each seed. In "lines" and "rows", the line pointers of a page of the index or the table are
# damaged. In "index" and "table", some bytes anywhere in a page are damaged.
my ($seeds, $header, @kinds) = (100, 24, qw(lines rows index table));
ask(qq{
	CREATE EXTENSION idgen_advisor CASCADE;
	SELECT format('CREATE TABLE %I (id uuid, word text, few int, number numeric, note text)', kind || n),
		format('INSERT INTO %I
			SELECT md5(i::text)::uuid, md5(i::text), i & 63, CASE WHEN i & 3 > 0 THEN i END, repeat(''x'', i & 15)
			FROM generate_series(1, 1200) i', kind || n),
		format('CREATE INDEX %I ON %I %s', kind || n || '_k', kind || n,
			('{(id),"(word) INCLUDE (note)",(few),"(word, id)","(number, few)"}'::text[])[n % 5 + 1])
	FROM unnest('{@{[ join ',', @kinds ]}}'::text[]) kind, generate_series(1, $seeds) n
	\\gexec
	CREATE TABLE wide AS SELECT idgen.uuid_v4() AS id;
	CREATE INDEX wide_k ON wide (id);
	CREATE TABLE flags (word text, few int, id uuid);
	INSERT INTO flags SELECT 'word', i, idgen.uuid_v7() FROM generate_series(1, 6000) i;
	CREATE INDEX flags_k ON flags (id);
	CREATE TRIGGER flags_id_is_recent BEFORE INSERT ON flags
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'uuid_v7');
	CREATE FUNCTION report(index text) RETURNS text LANGUAGE plpgsql AS \$\$
	BEGIN
		RETURN (SELECT placement FROM idgen.index_report(index::regclass));
	EXCEPTION WHEN OTHERS THEN
		RETURN format('%s: %s', SQLSTATE, SQLERRM);
	END \$\$});
my %file = map { split /\|/ } split /\n/,
	ask('SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relnamespace = $$public$$::regnamespace');
my %expected;
$node->stop;

# Replace a block of a relation, or its last block, by what a function returns for it.
sub damage
{
	my ($relation, $block, $change) = @_;
	my $path = $node->data_dir . "/$file{$relation}";
	$block //= (-s $path) / 8192 - 1;
	open my $pages, '+<:raw', $path or die $path;
	sysseek $pages, $block * 8192, 0;
	sysread $pages, my $page, 8192;
	$page = $change->($page);
	sysseek $pages, $block * 8192, 0;
	syswrite $pages, $page;
	close $pages;
}

for my $kind (@kinds)
{
	for my $seed (1 .. $seeds)
	{
		srand($seed);
		# Do not damage the metapage.
		my $is_index = $kind =~ /lines|index/;
		my $relation = $kind . $seed . ($is_index ? '_k' : '');
		my $path = $node->data_dir . "/$file{$relation}";
		my $block = $is_index + int rand((-s $path) / 8192 - $is_index);

		damage($relation, $block, sub {
			my ($page) = @_;
			my ($lower, $special) = unpack 'x12 S x2 S', $page;
			my @damaged = $kind =~ /lines|rows/ ? $header .. $lower - 1
			  : map { $header + int rand $special - $header } 0 .. 4**($seed % 6);
			substr($page, $_, 1) = chr int rand 256 for @damaged;
			return $page;
		});
		$expected{"$kind$seed"} = qr/^XX00[12]: relation "$relation" contains a corrupted page at block $block$/;
	}
}

# The only tuple of the index is longer than any index tuple. A flag of the newest row is missing.
damage('wide_k', 1, sub {
	my ($page) = @_;
	my ($size, $begin) = (6000, 8176 - 6000);
	substr($page, 12, 4) = pack 'SS', $header + 4, $begin;
	substr($page, $header, 4) = pack 'L', $begin | 1 << 15 | $size << 17;
	substr($page, $begin, 8) = pack 'x6 S', $size;
	return $page;
});
damage('flags', undef, sub {
	my ($page) = @_;
	my ($lower) = unpack 'x12 S', $page;
	my $infomask = (unpack("x$lower X4 L", $page) & 0x7fff) + 20;
	substr($page, $infomask, 2) = pack 'S', unpack("x$infomask S", $page) & ~2;
	return $page;
});

$node->start;
my $checkpointer = 'SELECT backend_start FROM pg_stat_activity WHERE backend_type = $$checkpointer$$';
my $server = ask($checkpointer);
for my $kind (@kinds)
{
	my ($said) = psql_said("SET client_min_messages = error;
		SELECT n, report('$kind' || n || '_k') FROM generate_series(1, $seeds) n");
	my %said = map { split /\|/, $_, 2 } split /\n/, $said;
	my @others = map { "$_: $said{$_}" } grep { $said{$_} !~ $expected{"$kind$_"} } sort { $a <=> $b } keys %said;

	is(keys %said, $seeds, "$kind: $seeds reports");
	cmp_ok(@others, '<=', $kind =~ /lines|rows/ ? 0 : $seeds / 2, "$kind: errors that name relation and block")
	  or diag(join "\n", @others);
}
is(ask(q{SELECT report('wide_k')}), 'XX002: relation "wide_k" contains a corrupted page at block 1',
	'a tuple is too long');
is(outcome(q{SELECT placement FROM idgen.index_report('flags_k', 1000);
	INSERT INTO flags VALUES ('x', 7, idgen.uuid_v7())}), 'ordered', 'the flag of a row is missing');
is(ask($checkpointer), $server, 'no server process ended');

done_testing();
