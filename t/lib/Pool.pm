# This module starts PgBouncer in front of a server, in transaction mode. Each combination of database and role has
# three sessions, or the number given by "size".
#
#   my $pool = Pool->new($node, [ 'app', 'stranger' ], prepared => 20) or skip 'pgbouncer is not installed';
#   $pool->{node};        # the node for clients of PgBouncer, by its socket; $pool->{port} is also the TCP port
#   $pool->{prepared};    # maximum number of prepared statements per client; 0 before version 1.21, or by default
#   $pool->stop;

package Pool;
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Server ();

sub new
{
	my ($class, $node, $roles, %options) = @_;
	my ($program) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/bin';
	return if !$program;

	my $knows_prepared = `$program --version` =~ /PgBouncer (\d+)\.(\d+)/ && $1 * 100 + $2 >= 121;
	my $prepared = $knows_prepared ? $options{prepared} // 0 : 0;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $socket = PostgreSQL::Test::Utils::tempdir_short();
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	append_to_file("$folder/users", join '', map { qq{"$_" ""\n} } @$roles);
	append_to_file("$folder/pgbouncer.ini", qq{
[databases]
* = host=@{[$node->host]} port=@{[$node->port]}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir = $socket
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = @{[$options{size} // 3]}
max_client_conn = 200
logfile = $folder/pgbouncer.log
pidfile = $folder/pgbouncer.pid
ignore_startup_parameters = extra_float_digits
} . ($knows_prepared ? "max_prepared_statements = $prepared\n" : ''));
	my $process = IPC::Run::start([ $program, '--quiet', "$folder/pgbouncer.ini" ], '>', '/dev/null', '2>',
		"$folder/errors");
	my $pool = bless { process => $process, prepared => $prepared, port => $port,
		node => bless { %$node, _host => $socket, _port => $port }, ref $node };

	# Run psql without standard input, because a psql that cannot connect does not read it.
	my @try = ('psql', '-X', '-d', $pool->{node}->connstr('postgres'), '-U', $roles->[0], '-c', 'SELECT 1');
	Server::wait_until(sub { run_log(\@try) }) or die 'pgbouncer does not start: ' . slurp_file("$folder/errors");
	return $pool;
}

sub stop { my ($self) = @_; $self->{process}->signal('TERM'); $self->{process}->finish; return }
1;
