# The SQL in the documents does what they say: each block is pasted into psql,
# on a database like one in use, and fails only where its text says so.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = dirname(__FILE__) . '/../..';

# What cannot be pasted: a form to fill in, and what t/025_cron does with pg_cron.
my $not_for_pasting = qr/create_once\(command_id, proposed_id|cron\.schedule/;

# The errors that a block shows, by words that are in it.
my @refused = (
	[ qr/refused, and it says why/ => '23514' ],
	[ qr/refused: of another type/ => '23514' ]);

my $node = PostgreSQL::Test::Cluster->new('documents');
$node->init;
$node->start;

# Each document has a database of its own, with keys of all sorts, some of
# which the advisor does not read, and what the blocks name.
sub prepare
{
	my ($database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
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
		ANALYZE});
	# in the tour, the reader makes it
	$node->safe_psql($database, 'CREATE TABLE orders (id bigint PRIMARY KEY); CREATE TABLE tickets (id bigint PRIMARY KEY)') unless $database eq 'readme';
}

$node->safe_psql('postgres', "CREATE ROLE $_") for qw(app janitor developer);

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
		extra_params => [ '--set=VERBOSITY=verbose' ]);
	my @expected = map { $session =~ $_->[0] ? $_->[1] : () } @refused;
	is_deeply([ $stderr =~ /ERROR:  (\w{5})/g ], \@expected, "$name: the errors are those that it tells of")
	  or diag($stderr);
	unlike($stderr, qr/WARNING/, "$name: and no warnings");
	$pasted{$name} = $stdout;
}
is_deeply([ sort keys %pasted ], [qw(README operations replication tickers)], 'the documents that have SQL');

# Some of what they show
like($pasted{README}, qr/^[0-9a-f-]{36}\|t\n[0-9a-f-]{36}\|t\nf$/m, 'README: the database knows its own keys from random ones');
like($pasted{README}, qr/^([0-9a-f-]{36})\|t\n\1\|f$/m, 'README: a command that is sent twice creates once');
like($pasted{README}, qr/^acct_[0-9a-z]{25}$/m, 'README: an id says what it is of');
like($pasted{README}, qr/^\d+\|[^|]+\|1$/m, 'README: a snowflake says when and where');
like($pasted{README}, qr/^unknown \(too few rows\)\|/m, 'README: the advisor answers');
like($pasted{operations}, qr/^part_pkey\|short COMB\|1000\|/m, 'operations: so it does for all keys');
unlike($pasted{operations}, qr/^(days|numbers|notes|parts)_pkey/m, 'operations: but for those that it does not read');

done_testing();
