# A PgBouncer in front of a server: clients share its sessions, one transaction at a time.
#
#   my $pool = Pool->new($node, 3, 'postgres', 'app');      # three sessions for each of these roles, without passwords
#   session(node => $pool->{node})->ask('SELECT 1');        # the server as the clients of PgBouncer see it
#   $pool->{port};                                          # of TCP, on 127.0.0.1
#   $pool->stop;

package Pool;
use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Server ();

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/bin';

# How many prepared statements of a client it supports, from version 1.21 on
our $max_prepared_statements = 20;

sub is_installed { return defined $pgbouncer }

# Can it prepare statements?
sub prepares { return `$pgbouncer --version` =~ /PgBouncer (\d+)\.(\d+)/ && $1 * 100 + $2 >= 121 }

sub new
{
	my ($class, $node, $size, @roles) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $socket = PostgreSQL::Test::Utils::tempdir_short();
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $prepared = prepares() ? "max_prepared_statements = $max_prepared_statements\n" : '';

	append_to_file("$folder/users", join '', map { qq{"$_" ""\n} } @roles);
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
default_pool_size = $size
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
logfile = $folder/pgbouncer.log
pidfile = $folder/pgbouncer.pid
$prepared});
	my $process = IPC::Run::start([ $pgbouncer, '--quiet', "$folder/pgbouncer.ini" ], '>', '/dev/null', '2>',
		"$folder/errors");
	my $self = bless { process => $process, port => $port,
		node => bless({ %$node, _host => $socket, _port => $port }, ref $node) }, $class;
	# (without standard input, which a psql that cannot connect does not read)
	Server::wait_until(sub { run_log([ 'psql', '-X', '-d', $self->{node}->connstr('postgres'), '-U', $roles[0],
		'-c', 'SELECT 1' ]) })
	  or die 'pgbouncer does not start: ' . slurp_file("$folder/errors");
	return $self;
}

sub stop { my ($self) = @_; $self->{process}->signal('TERM'); $self->{process}->finish; return }
1;
