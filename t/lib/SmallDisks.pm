# This module provides small disks that a test can fill. They are tmpfs file systems in their own namespace, which does
# not require root.
#
#   use SmallDisks (data => 160, wal => 40);    # megabytes; before Test::More
#   plan skip_all => '...' unless SmallDisks::folder();
#   ... SmallDisks::folder() . '/data' ...
#
# The test is restarted in the namespace, where it first runs as root to mount the disks. It then continues as the
# calling user, because a server cannot run as root.

package SmallDisks;
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp;

sub folder { return $ENV{IDGEN_SMALL_DISKS} }

sub import
{
	my ($class, %megabytes) = @_;
	# Do nothing for perl -c, which sets $^C.
	return if !%megabytes || folder() || $^C;

	my $disks = File::Temp::tempdir('idgen_disks_XXXX', TMPDIR => 1, CLEANUP => 1);
	my $mount = join(' && ',
		map { "mkdir -p $disks/$_ && mount -t tmpfs -o size=$megabytes{$_}m,mode=700 $_ $disks/$_" }
		  sort keys %megabytes);
	my ($user, $group) = ($<, (split ' ', $()[0]);
	my @start = ('unshare', '--map-root-user', '--mount', 'sh', '-c',
		"ulimit -c 0; $mount && exec unshare --user --map-user=$user --map-group=$group \"\$@\"", 'sh');

	return if system('sh', '-c', '"$@" 2>/dev/null', 'sh', @start, 'true') != 0;

	local $ENV{IDGEN_SMALL_DISKS} = $disks;
	my $status = system(@start, $^X, (map { "-I$_" } @INC), abs_path($0));
	exit($status == 0 ? 0 : $status >> 8 || 1);
}
1;
