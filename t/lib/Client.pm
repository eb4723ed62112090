# Client sessions, any number of them driven by one process. They implement the
# protocol themselves, over the server's Unix-domain socket, so that a test can end
# a session at any moment, from either side, and knows every answer received before.
#
#   my $client = Client->connect($node) or die;   # undef: connection refused
#   $client->send('SELECT ...');
#   for my $done (Client::wait_for_any([$client, ...], 1)) { $done->{rows} ... }
#   $client->ask('SELECT ...');                   # send and wait
#   $client->disconnect;                          # without a Terminate message
#
# When a statement is done, {rows} has its rows, {sqlstate} its error or undef, {status} is I, T or E (no transaction,
# in a transaction, in a failed transaction), and {gone} is whether the session has ended.

package Client;
use strict;
use warnings;
use IO::Select;
use PostgreSQL::Test::Utils;
use Socket qw(PF_UNIX SOCK_STREAM pack_sockaddr_un);
use Time::HiRes qw(time usleep);

# Writing to a closed socket must not end the test.
$SIG{PIPE} = 'IGNORE';

# Connect to a node, or to a host (the socket directory) and a port.
sub connect
{
	my ($class, $node, %where) = @_;
	my $host = $where{host} // $node->host;
	my $port = $where{port} // $node->port;
	my %startup = (user => $where{user} // (getpwuid($<))[0], database => $where{database} // 'postgres',
		application_name => 'client', client_encoding => 'UTF8', $where{options} ? (options => $where{options}) : ());
	socket(my $socket, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
	CORE::connect($socket, pack_sockaddr_un("$host/.s.PGSQL.$port")) or return;
	$socket->blocking(0);

	my $self = bless { socket => $socket, input => '', gone => 0 }, $class;
	$self->_begin;
	$self->_write(pack('N', 3 << 16) . join('', map { "$_\0$startup{$_}\0" } sort keys %startup) . "\0", '');
	return $self;
}

sub _begin { my ($self) = @_; @$self{qw(busy rows sqlstate message detail hint constraint)} = (1, []) }

sub _write
{
	my ($self, $body, $type) = @_;
	my $output = $type . pack('N', 4 + length $body) . $body;
	while (length $output)
	{
		my $written = syswrite($self->{socket}, $output);
		if (defined $written) { substr($output, 0, $written) = '' }
		elsif ($!{EAGAIN}) { IO::Select->new($self->{socket})->can_write(1) }
		else { last }    # what the server said before is read yet
	}
}

# Send one or more statements; wait_for_any() returns when they are done.
sub send
{
	my ($self, $sql) = @_;
	die 'the client is busy' if $self->{busy};
	$self->_begin;
	$self->_write("$sql\0", 'Q');
}

sub is_busy { return $_[0]->{busy} && !$_[0]->{gone} }

# The columns of a row, each of which follows its length; -1 is NULL.
sub _columns
{
	my ($body) = @_;
	my @columns;
	while (length $body)
	{
		my $length = unpack('l>', substr($body, 0, 4, ''));
		push @columns, $length < 0 ? undef : substr($body, 0, $length, '');
	}
	return @columns;
}

# Read what has arrived; return whether the statement or the session is done.
sub _receive
{
	my ($self) = @_;
	my $count;
	do { $count = sysread($self->{socket}, $self->{input}, 65536, length $self->{input}) } while $count;
	$self->{gone} = 1 if defined $count || !($!{EAGAIN} || $!{EINTR});

	# input after the end of this statement belongs to the next one
	while ($self->{busy} && length $self->{input} >= 5)
	{
		my ($type, $length) = unpack('a N', $self->{input});
		last if length $self->{input} < $length + 1;
		my $body = substr(substr($self->{input}, 0, $length + 1, ''), 5);
		if ($type eq 'D') { push @{ $self->{rows} }, [ _columns(substr($body, 2)) ] }
		elsif ($type eq 'E')
		{
			my %field = map { substr($_, 0, 1) => substr($_, 1) } split /\0/, $body;
			@$self{qw(sqlstate message detail hint constraint)} = @field{qw(C M D H n)} if !defined $self->{sqlstate};
		}
		elsif ($type eq 'K') { $self->{pid} = unpack('N', $body) }
		elsif ($type eq 'R') { die 'the server asks for a password' if unpack('N', $body) != 0 }
		elsif ($type eq 'Z') { @$self{qw(status busy)} = ($body, 0) }
	}
	close $self->{socket} if $self->{gone};
	return $self->{gone} || !$self->{busy};
}

# Wait for at most the given number of seconds; return the busy clients that got an answer or lost their session.
sub wait_for_any
{
	my ($clients, $seconds) = @_;
	my %of_socket = map { fileno($_->{socket}) => $_ } grep { $_->is_busy } @$clients;
	my $until = time + $seconds;
	my @done;
	return unless %of_socket;
	my $select = IO::Select->new(map { $_->{socket} } values %of_socket);
	until (@done)
	{
		my $left = $until - time;
		push @done, grep { $_->_receive } map { $of_socket{ fileno $_ } } $select->can_read($left > 0 ? $left : 0);
		last if $left <= 0;
	}
	return @done;
}

# Wait until the statement is done, and return its error.
sub wait
{
	my ($self) = @_;
	!$self->is_busy || wait_for_any([$self], $PostgreSQL::Test::Utils::timeout_default) or die 'no answer';
	return $self->{sqlstate} // ($self->{gone} ? 'gone' : '');
}

# Send a statement; return its rows like psql -At, or the SQLSTATE, or "gone".
sub ask
{
	my ($self, $sql) = @_;
	$self->wait if $self->is_busy;
	return 'gone' if $self->{gone};
	$self->send($sql);
	return $self->answer;
}

sub answer
{
	my ($self) = @_;
	my $error = $self->wait;
	return $error ne '' ? $error : join("\n", map { join('|', map { $_ // '' } @$_) } @{ $self->{rows} });
}

# Ask until the answer is "t".
sub poll
{
	my ($self, $query) = @_;
	my $until = time + $PostgreSQL::Test::Utils::timeout_default;
	until ($self->ask($query) eq 't')
	{
		die "never became true: $query" if time > $until;
		usleep(10_000);
	}
	return 1;
}

# Wait until the given session waits for a lock, or for another event.
sub poll_waiting
{
	my ($self, $session, $event) = @_;
	return $self->poll("SELECT wait_event_type = '@{[$event // 'Lock']}' FROM pg_stat_activity WHERE pid = $session->{pid}");
}

# Send a statement that has to wait; return when the other session sees that.
sub send_blocked { my ($self, $observer, $sql, $event) = @_; $self->send($sql); return $observer->poll_waiting($self, $event) }

# Close the client's end of the session without notice.
sub disconnect
{
	my ($self) = @_;
	close $self->{socket} unless $self->{gone};
	$self->{gone} = 1;
	$self->{busy} = 0;
}

sub quit { my ($self) = @_; $self->_write('', 'X') unless $self->{gone}; $self->disconnect }
1;
