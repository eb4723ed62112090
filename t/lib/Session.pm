# This module runs a psql session that stays open (PostgreSQL::Test::BackgroundPsql). The test does not have to wait for
# the session's statements, and they may fail.
#
#   my $session = Session->new($node, user => 'app', database => 'shop', options => '-c x=1');
#   $session->ask('SELECT ...');            # rows as psql prints them, or the SQLSTATE of the first error, or "gone"
#   $session->ask_within(q{lock_timeout = '50ms'}, 'SELECT ...');
#   $session->send('SELECT ...');           # without waiting
#   $session->answer;                       # its result
#   $session->send_blocked($observer, 'SELECT ...');    # wait until the observer sees that it waits for a lock
#   $session->disconnect;                   # without a Terminate message
#
# {pid} is the process ID of the session's backend. {sqlstate} and {message} belong to the first error. {errors}
# contains all messages of psql. {rows} are lists of columns. {gone} is set when the session has ended.

package Session;
use strict;
use warnings;
use Time::HiRes qw(time usleep);

# Writing to a psql that has ended must not end the test.
$SIG{PIPE} = 'IGNORE';

sub new
{
	my ($class, $node, %where) = @_;
	local $ENV{PGOPTIONS} = $where{options} // '';
	my $psql = $node->background_psql(
		$where{database} // 'postgres',
		on_error_stop => 0,
		extra_params => [ '--set=VERBOSITY=verbose', defined $where{user} ? ('--username', $where{user}) : () ]);
	my $self = bless { psql => $psql, number => 0 }, $class;
	$self->{pid} = $self->ask('SELECT pg_backend_pid()');
	return $self;
}

sub send
{
	my ($self, $sql) = @_;
	my $psql = $self->{psql};
	my $end = 'end of statement ' . ++$self->{number};
	$psql->{timeout}->start;
	@$psql{qw(stdout stderr)} = ('', '');
	$self->{busy} = 1;
	$psql->{stdin} .= "$sql\n;\n\\echo '$end'\n\\warn '$end'\n";
	$self->_pump('pump_nb');
	return;
}

# Exchange input and output with psql, which may have ended.
sub _pump
{
	my ($self, $how) = @_;
	my $psql = $self->{psql};
	$self->{gone} = 1, return if !$psql->{run}->pumpable;
	return if eval { $psql->{run}->$how; 1 };
	die $@ if $@ =~ /timeout/;
	$psql->{stdin} = '';
	return;
}

# Wait until the statement is complete. Return the SQLSTATE of its first error, "gone", or ''.
sub wait
{
	my ($self) = @_;
	my $psql = $self->{psql};
	my $end = qr/end of statement $self->{number}\n/;
	while ($self->{busy})
	{
		$self->{busy} = !($self->{gone} || $psql->{stdout} =~ $end && $psql->{stderr} =~ $end);
		$self->_pump('pump') if $self->{busy};
	}
	s/$end// for @$psql{qw(stdout stderr)};
	@$self{qw(sqlstate message)} = $psql->{stderr} =~ /(?:ERROR|FATAL):  (\w{5}): (.*)/;
	$self->{errors} = $psql->{stderr};
	$self->{rows} = [ map { [ split /\|/, $_, -1 ] } split /\n/, $psql->{stdout} ];
	return $self->{sqlstate} // ($self->{gone} ? 'gone' : '');
}

sub answer
{
	my ($self) = @_;
	my $error = $self->wait;
	return $error ne '' ? $error : $self->{psql}{stdout} =~ s/\n\z//r;
}

sub ask { my ($self, $sql) = @_; $self->send($sql); return $self->answer }

# Execute the statement in a transaction with a timeout. An error also resets the timeout, because the next statement
# may need more time on a slow machine.
sub ask_within { my ($self, $timeout, $sql) = @_; return $self->ask("BEGIN; SET LOCAL $timeout; $sql;\nROLLBACK") }

# Repeat the query until the answer is "t".
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
	return $self->poll("SELECT wait_event_type = '@{[$event // 'Lock']}' FROM pg_stat_activity
		WHERE pid = $session->{pid}");
}

sub send_blocked { my ($self, $observer, $sql, $event) = @_; $self->send($sql); return $observer->poll_waiting($self,
	$event) }

# Terminate psql without notifying the server.
sub disconnect { my ($self) = @_; $self->{psql}{run}->kill_kill; $self->{gone} = 1; return }

sub quit { my ($self) = @_; eval { $self->{psql}->quit }; return }
1;
