# A PgBouncer in front of a server: clients share its sessions, one transaction at a time.
#
#   my $pool = Pool->new($node, 3, 'postgres', 'app');      # three sessions for each of these roles, without passwords
#   session(node => $pool->{node})->ask('SELECT 1');        # the server as the clients of PgBouncer see it
#   $pool->stop;

package Pool;
use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Server ();

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/bin';

sub is_installed { return defined $pgbouncer }

# Can it prepare statements?
sub prepares { return `$pgbouncer --version` =~ /PgBouncer (\d+)\.(\d+)/ && $1 * 100 + $2 >= 121 }

sub new
{
	my ($class, $node, $size, @roles) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $socket = PostgreSQL::Test::Utils::tempdir_short();
	my $prepared = prepares() ? "max_prepared_statements = 20\n" : '';

	append_to_file("$folder/users", join '', map { qq{"$_" ""\n} } @roles);
	append_to_file("$folder/pgbouncer.ini", qq{
[databases]
* = host=@{[$node->host]} port=@{[$node->port]}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $socket
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = $size
max_client_conn = 200
logfile = $folder/pgbouncer.log
pidfile = $folder/pgbouncer.pid
$prepared});
	my $process = IPC::Run::start([ $pgbouncer, '--quiet', "$folder/pgbouncer.ini" ], '>', '/dev/null', '2>',
		"$folder/errors");
	my $self = bless { process => $process, node => bless({ %$node, _host => $socket, _port => 6432 }, ref $node) }, $class;
	# (without standard input, which a psql that cannot connect does not read)
	Server::wait_until(sub { run_log([ 'psql', '-X', '-d', $self->{node}->connstr('postgres'), '-c', 'SELECT 1' ]) })
	  or die 'pgbouncer does not start: ' . slurp_file("$folder/errors");
	return $self;
}

sub stop { my ($self) = @_; $self->{process}->signal('TERM'); $self->{process}->finish; return }
1;
