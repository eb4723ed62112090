# A clock for a server that the test sets, also while the server runs.
#
# libfaketime gives it to the server's processes; they read it from a file.
# (Debian, Ubuntu: the package faketime.)

package FakeClock;

use strict;
use warnings;
use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my ($libfaketime) = glob('/usr/lib/*/faketime/libfaketime.so.1'
	  . ' /usr/lib*/faketime/libfaketime.so.1');

sub is_installed { return defined $libfaketime }

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

# Seconds ahead of the real clock, or behind it
sub run_ahead_by
{
	my ($self, $seconds) = @_;

	$self->_set(sprintf('%+d', $seconds));
}

# Unix seconds
sub stand_still_at
{
	my ($self, $instant) = @_;

	$self->_set(_still($instant));
}

sub _still
{
	my ($instant) = @_;

	return strftime('%Y-%m-%d %H:%M:%S', gmtime($instant));
}

# Start a node that has this clock.
sub start
{
	my ($self, $node, %params) = @_;

	return _start_with(
		$node, \%params,
		FAKETIME_TIMESTAMP_FILE => $self->{file},
		FAKETIME_NO_CACHE => 1);
}

# Start a node whose clock is always behind by so many seconds, or always stands
# still. Reading that takes no file, and little time.
sub start_behind
{
	my ($node, $seconds) = @_;

	return _start_with($node, {}, FAKETIME => "-$seconds");
}

# That it is: the time that it says is one between now and then
sub check_behind
{
	my ($node, $seconds, $name) = @_;
	my $before = time;
	my $clock = $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())') + $seconds;
	my $after = time;

	ok($before <= $clock && $clock <= $after, $name) or diag("$clock, between $before and $after");
}

sub start_still
{
	my ($node, $instant) = @_;

	return _start_with($node, {}, FAKETIME => _still($instant));
}

sub _start_with
{
	my ($node, $params, %faketime) = @_;
	local %ENV = (
		%ENV,
		%faketime,
		LD_PRELOAD => $libfaketime,
		FAKETIME_DONT_FAKE_MONOTONIC => 1,
		TZ => 'UTC');

	return $node->start(%$params);
}

1;
