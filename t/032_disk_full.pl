# Verify the extension under a mixed load while a disk is full: first the data disk, and then the WAL disk. A failed
# write raises an error or shuts down the server. Identifiers that need no disk space can still be generated.
# Afterwards, no value is repeated, nothing is lost, and each command has created one order.

use SmallDisks (data => 160, wal => 40);
use List::Util qw(sum0);
use Load;
use Page;
use PostgreSQL::Test::Cluster;
use Server;
use Tickers;

my $disks = SmallDisks::folder() or plan skip_all => 'no disks can be mounted in a namespace of its own';

my $node = PostgreSQL::Test::Cluster->new('full');
mkdir "$disks/data/pgdata", 0700 or die "mkdir: $!";
symlink "$disks/data/pgdata", $node->data_dir or die "symlink: $!";
$node->init(extra => [ '--waldir', "$disks/wal/pg_wal", '--wal-segsize', '1' ]);
$node->append_conf('postgresql.conf', join("\n", $settings, 'restart_after_crash = on',
		'max_connections = 30', 'wal_level = replica', 'shared_buffers = 16MB', 'min_wal_size = 2MB',
			'max_wal_size = 20MB', 'checkpoint_timeout = 1h'));
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

my $load = Load->new($node, insert => 4, take => 2, create => 6);

# Write until the disk is full.
sub fill_disk
{
	my ($disk) = @_;
	my $block = "\0" x 4096;
	open my $file, '>', "$disks/$disk/filler" or die "open: $!";
	1 while (syswrite($file, $block) // 0) > 0;
	die "write: $!" unless $!{ENOSPC};
	close $file;
}

sub make_room { unlink "$disks/$_[0]/filler" or die "unlink: $!" }
sub count_of { return $load->errors->{ $_[0] } // 0 }
sub taken { return sum0($load->rows('take')) }

$load->work(20);

# --- The data ---------------------------------------------------------------
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

for my $time (1 .. 3)
{
	my ($full, $taken) = (count_of('53100'), taken());
	# Perform a checkpoint now to avoid one while the disk is full. A checkpoint that cannot write a file terminates all
	# sessions.
	$node->safe_psql('postgres', 'CHECKPOINT');
	fill_disk('data');
	$load->run_until(sub { count_of('53100') >= $full + 50 && taken() >= $taken + 2000 });
	make_room('data');
	$load->work(20);
	cmp_ok(taken() - $taken, '>=', 2000, "time $time: without disk space for rows, identifiers are available");
}
is(join(' ', grep { $_ ne '53100' } sort keys %{ $load->errors }), '',
	'all errors are 53100, and no session was lost');
my ($message) = map { $_->[0] =~ /^53100, `(.*)`/ } Page->new('running')->table('Troubleshooting')
  or die 'not on the page';
my $pattern = join '.*', map { quotemeta } split /…/, $message;
like(slurp_file($node->logfile), qr/ERROR:  $pattern/,
	'... of files that cannot grow, as docs/running.md describes');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server did not restart');

# --- The WAL ----------------------------------------------------------------
for my $time (1 .. 3)
{
	my $log_size = -s $node->logfile;
	my $panicked = sub { slurp_file($node->logfile, $log_size) =~ /PANIC: .*No space left on device/ };
	# Keep checkpoints from recycling WAL segments, because the server could continue to write to recycled segments
	# forever.
	$node->safe_psql('postgres', "SELECT pg_create_physical_replication_slot('held', true)");
	fill_disk('wal');
	$load->run_until($panicked);
	$load->lose_all;
	ok($panicked->(), "time $time: without disk space for WAL, the server shuts down");
	make_room('wal');

	# By now, the server may already have shut down.
	$node->stop('immediate', fail_ok => 1);
	start_again($node);
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('held')");
	$load->work(20);
}

is(join(' ', grep { !/^(53100|57P01|57P02|57P03|53300|connection to .*)$/ } sort keys %{ $load->errors }),
	'', 'clients met no errors other than shutdown and refused connections');
$load->check;

$node->stop;
done_testing();
