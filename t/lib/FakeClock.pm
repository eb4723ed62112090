# This module provides a fake clock for a server. The test can change it while the server runs.
#
# libfaketime is preloaded into the server's processes, and reads the time from a file. (On Debian and Ubuntu, it is in
# the package faketime.)
#
# Each time the clock is read, libfaketime opens the file, and allocates memory for it. The server's SIGALRM handler
# also reads the clock. If a timer, such as the one for statement_timeout, fires while the clock is read, malloc() may
# abort, or fopen() may wait for itself. For calls that read the clock constantly, use start_behind() or start_still(),
# which need no file, or use no fake clock.

package FakeClock;
use strict;
use warnings;
use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my ($libfaketime) = glob('/usr/lib/*/faketime/libfaketime.so.1 /usr/lib*/faketime/libfaketime.so.1');

sub is_installed { return defined $libfaketime }
sub skip_all_without { plan skip_all => 'libfaketime is not installed' unless is_installed() }

sub new
{
	my ($class, $name) = @_;
	my $self = bless { file => PostgreSQL::Test::Utils::tempdir() . "/$name.clock" }, $class;
	$self->run_ahead_by(0);
	return $self;
}

sub _set
{
	my ($self, $time) = @_;
	PostgreSQL::Test::Utils::append_to_file("$self->{file}.new", "$time\n");
	rename "$self->{file}.new", $self->{file} or die "rename: $!";
}

# Set the clock ahead of the real clock by the given number of seconds, or behind it if the number is negative.
sub run_ahead_by { my ($self, $seconds) = @_; $self->_set(sprintf('%+d', $seconds)) }

# Stop the clock at the given Unix time in seconds.
sub stand_still_at { my ($self, $instant) = @_; $self->_set(_still($instant)) }
sub _still { my ($instant) = @_; return strftime('%Y-%m-%d %H:%M:%S', gmtime($instant)) }

# Start a node with this clock.
sub start
{
	my ($self, $node, %params) = @_;
	return _start_with($node, \%params, FAKETIME_TIMESTAMP_FILE => $self->{file}, FAKETIME_NO_CACHE => 1);
}

# Start a node whose clock is always behind by the given number of seconds, or always stands still. Reading this clock
# needs no file and takes little time.
sub start_behind { my ($node, $seconds) = @_; return _start_with($node, {}, FAKETIME => "-$seconds") }
sub start_still { my ($node, $instant) = @_; return _start_with($node, {}, FAKETIME => _still($instant)) }

# Check that the server's clock is behind by the given number of seconds.
sub check_behind
{
	my ($node, $seconds, $name) = @_;
	my $before = time;
	my $clock = $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())') + $seconds;
	my $after = time;
	ok($before <= $clock && $clock <= $after, $name) or diag("$clock, between $before and $after");
}

sub _start_with
{
	my ($node, $params, %faketime) = @_;
	local %ENV = (%ENV, %faketime, LD_PRELOAD => $libfaketime, FAKETIME_DONT_FAKE_MONOTONIC => 1, TZ => 'UTC');

	return $node->start(%$params);
}
1;
