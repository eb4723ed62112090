# The documents: each SQL block can be pasted into psql, in a database like one
# in use, and raises only the errors that its comments announce ("error 23514"); that
# of the README as the database's owner. Every relative link leads to a file, and to a
# heading in it.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use File::Basename qw(dirname);
use Functions;
use Server;

my $folder = "$FindBin::RealBin/../..";

# Blocks that cannot be pasted: a template, those for other extensions, which
# t/025_cron.pl, t/061_partitions.pl, t/066_changed_keys.pl, t/080_citus.pl and
# t/082_pgtle.pl cover, and
# those for several servers, which t/081_shards.pl covers.
my $not_for_pasting = qr/create_once\(command_id, proposed_id|cron\.schedule|partman\.|pgtle\.|pg_dist_|FOREIGN TABLE/;

my $node = init_server('documents');
Functions::add_mask_key($node);
$node->start;

# Each document has its own database, which contains keys of several types, some
# of which the advisor does not support, and the tables that the blocks name.
sub prepare
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database" . ($database eq 'readme' ? ' OWNER newcomer' : ''));
	return if $database eq 'readme';
	$node->safe_psql(
		$database, q{
		CREATE EXTENSION idgen_advisor CASCADE;
		CREATE TABLE days (day date PRIMARY KEY);
		CREATE TABLE pairs (a int, b text, PRIMARY KEY (a, b));
		CREATE TABLE numbers (id numeric PRIMARY KEY);
		CREATE TABLE parts (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE part PARTITION OF parts DEFAULT;
		INSERT INTO part SELECT idgen.short_comb() FROM generate_series(1, 1000);
		CREATE UNLOGGED TABLE notes (id uuid PRIMARY KEY);
		CREATE TABLE orders (id bigint PRIMARY KEY);
		CREATE TABLE tickets (id bigint PRIMARY KEY);
		ANALYZE});
}

ask("CREATE ROLE $_") for qw(app janitor developer);
ask('CREATE ROLE newcomer LOGIN');

my %pasted;			# what psql printed
for my $path ("$folder/README.md", glob "$folder/docs/*.md")
{
	my ($name) = $path =~ m{(\w+)\.md$};
	my $session = join "\n", grep { !/$not_for_pasting/ } slurp_file($path) =~ /^```sql\n(.*?)^```/msg;
	my ($stdout, $stderr);

	next if $session eq '';
	prepare(lc $name);
	$node->psql(lc $name, $session,
		on_error_stop => 0,
		stdout => \$stdout,
		stderr => \$stderr,
		extra_params => [ '--set=VERBOSITY=verbose', $name eq 'README' ? ('-U', 'newcomer') : () ]);
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], [ $session =~ /-- error (\w{5})/g ], "$name: the SQL raises the errors that it announces")
	  or diag($stderr);
	unlike($stderr, qr/WARNING/, "$name: and no warnings");
	$pasted{$name} = $stdout;
}
is_deeply([ grep { !exists $pasted{$_} } qw(README choosing operations recipes scaling tickers) ], [], 'SQL was found in all documents that contain it');

# Some of the results
like($pasted{README}, qr/^([0-9a-f-]{36})\|t\n\1\|f$/m, 'README: a command that is sent twice creates once');
like($pasted{README}, qr/^1\naccount_id\nacct_/m, 'README: a time range contains its row');
like($pasted{README}, qr/^acct_[0-9a-z]{25}$/m, 'README: a prefixed id');
like($pasted{choosing}, qr/^orders_pkey\|orders\|id\|/m, 'choosing: the advisor reports on an index');
like($pasted{operations}, qr/^part_pkey\|\d+ kB\|/m, 'operations: the advisor reports on all indexes');

# The text of a document without its code.
sub prose
{
	my $text = slurp_file(shift);

	$text =~ s/^```.*?^```//msg;
	return $text;
}

# The anchors that GitHub gives to the headings of a document.
sub anchors
{
	my %seen;

	return map {
		my $anchor = lc;
		$anchor =~ s/[^\w -]//g;
		$anchor =~ tr/ /-/;
		$anchor . ($seen{$anchor}++ ? '-' . ($seen{$anchor} - 1) : '');
	} prose(shift) =~ /^#+ +(.*\S)/mg;
}

for my $path (map { glob "$folder/$_*.md" } '', qw(docs/ docs/report/ t/ bench/ bench/lab/ clients/))
{
	my $text = prose($path);
	my @dead;

	$text =~ s/`[^`\n]*`//g;
	for my $link ($text =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ /^\w+:/;
		my ($file, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my $target = $file eq '' ? $path : dirname($path) . "/$file";
		push @dead, $link
		  unless -e $target && ($anchor eq '' || grep { $_ eq $anchor } anchors($target));
	}
	is("@dead", '', substr($path, 1 + length $folder) . ': every link leads to a file and a heading');
}

done_testing();
