# The comparison on a user's own server: it measures every key in both scenes,
# and leaves nothing behind, whether it ends or is interrupted.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $bench = dirname(__FILE__) . '/../bench';
my $out = PostgreSQL::Test::Utils::tempdir() . '/out';

my $node = PostgreSQL::Test::Cluster->new('server');
$node->init;
$node->start;

plan skip_all => 'no pgstattuple on this server'
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pgstattuple'}) == 0;

$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGDATABASE} = 'postgres';

# what there is besides what the server came with
my $left = q{
	SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
	UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema')
	UNION ALL SELECT 'session ' || query FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
	ORDER BY 1};

my @size = qw(--rows 20000 --inserts 300 --bulk-rows 20000 --bulk-inserts 2000 --reads 100);
my ($stdout, $stderr);
ok( IPC::Run::run([ "$bench/run.sh", '--server', @size, '--out', $out ], '<', \undef, '>', \$stdout, '2>', \$stderr),
	'the comparison runs') or diag $stderr;

my @rows = map { [ split /,/ ] } split /\n/, slurp_file("$out/results.csv");
my $header = shift @rows;
my %column = map { $header->[$_] => $_ } 0 .. $#$header;
my @keys = qw(bigint gen_random_uuid uuid_v4 uuid_v7 comb short_comb short_comb_run);
my %row = map { ("$_->[0] $_->[1]" => $_) } @rows;

is_deeply(
	[ sort keys %row ],
	[ sort map { my $key = $_; map { "$_ $key" } qw(steady bulk) } @keys ],
	'every key is measured in both scenes');
sub figure { my ($row, $name) = @_; return $row{$row}->[ $column{$name} ] }

is(figure('steady short_comb', 'history_rows'), 20000, 'after a history');
is(figure('steady short_comb', 'inserted_rows'), 300, 'row by row');
is(figure('bulk short_comb', 'inserted_rows'), 2000, 'and in bulk');
cmp_ok(figure('steady bigint', 'wal_bytes_per_row'), '>', 100, 'a row writes WAL');
cmp_ok(figure('steady bigint', 'wal_bytes_per_row'), '<', 1000, 'but not pages, with a bigint key');
is(figure('steady bigint', 'wal_vs_bigint'), '1.000', 'a bigint costs as much as a bigint');
cmp_ok(figure('steady gen_random_uuid', 'fpi_per_row'), '>', 5 * figure('steady short_comb', 'fpi_per_row'),
	'random keys write more pages than short COMBs');
cmp_ok(figure('bulk short_comb', 'fpi_per_row'), '>', 2 * figure('bulk short_comb_run', 'fpi_per_row'),
	'and within a minute, short COMBs without runs more than with them');
like($stdout, qr/^\| `idgen\.short_comb\(run_length => 1024\)` \| \d+ \|/m, 'the result is a Markdown table');
like(slurp_file("$out/results.md"), qr/\| full_page_writes \| on \|/, 'with the settings of the server');
is($node->safe_psql('postgres', $left), '', 'nothing is left behind');

# Interrupted while it works
for my $signal (qw(TERM INT HUP))
{
	($stdout, $stderr) = ('', '');
	my $run = IPC::Run::start([ "$bench/run.sh", '--server', '--rows', 5000000, '--out', "$out.$signal" ],
		'<', \undef, '>', \$stdout, '2>', \$stderr);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ 'INSERT INTO idgen_bench' AND pid <> pg_backend_pid()})
	  or die "run.sh does not work: $stderr";
	$run->signal($signal);
	$run->finish;
	isnt($run->result(0), 0, "$signal: the comparison says that it was interrupted");
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($left) l"), "$signal: nothing is left behind");
	ok(!-e "$out.$signal", "$signal: not even an empty folder");
}

# What was there before stays
$node->safe_psql('postgres', 'CREATE EXTENSION idgen; CREATE EXTENSION pgstattuple');
my $before = $node->safe_psql('postgres', $left);
ok( IPC::Run::run([ "$bench/run.sh", '--server', '--quiet', '--csv', '--scene', 'bulk', '--keys', 'comb', @size, '--out', $out ],
		'<', \undef, '>', \$stdout, '2>', \$stderr),
	'with the extensions there');
is($node->safe_psql('postgres', $left), $before, 'they stay');
like($stdout, qr/^bulk,comb,/m, '--csv prints the CSV');
is($stderr, '', '--quiet is quiet');

$node->stop;
done_testing();
