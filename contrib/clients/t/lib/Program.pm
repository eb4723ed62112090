# This module runs the programs in contrib/clients/programs.txt, which describes the format of its lines. If
# IDGEN_CLIENT_NAMES is set, the programs that it names must run. If it is set but empty, all programs must run.
#
#   for my $stack (Program::all('stack')) { $stack->{name} }
#   skip(...) if !$stack->can_run;                    # its runtime is missing; else builds the program
#   Program::start_server('name'); $stack->create_database;
#   my $process = $stack->start;
#   my ($outcome, @words) = $process->ask('insert', 'a book');
#   $process->send('insert', 'a book'); $process->answer; $process->end;
#
# {port} is the port of the pooler, if the program connects to one, and {setting} is the program's POOL_SETTING.

package Program;
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use IO::Handle;
use IPC::Open2;
use PostgreSQL::Test::Utils ();
use Server ();
use Test::More ();

# The key "shared" of the server's key file. Applications that generate keys have it in their settings.
our $id_key = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
our $folder = 'contrib/clients';
my $node;

sub all
{
	my ($task) = @_;
	my $wanted = $ENV{IDGEN_CLIENT_NAMES} // '';
	my @programs;
	for my $line (PostgreSQL::Test::Utils::slurp_file("$folder/programs.txt") =~ /^[a-z].*/mg)
	{
		my %program;
		@program{qw(name tasks runtime packages build command)} = split / +\| +/, $line;
		$program{log} = "$PostgreSQL::Test::Utils::log_path/client_$program{name}.log";
		$program{has} = { map { $_ => 1 } split / /, $program{tasks} };
		push @programs, bless \%program if $program{has}{$task} && ($wanted eq '' || " $wanted " =~ / $program{name} /);
	}
	return @programs;
}

# Use the packages of package-lock.json that test-clients.sh has installed. Return whether there are any packages.
sub link_npm_packages
{
	my $cache = $ENV{IDGEN_CLIENTS} // ($ENV{XDG_CACHE_HOME} // '/var/cache') . '/idgen-clients';
	my $lock = substr sha256_hex(PostgreSQL::Test::Utils::slurp_file("$folder/package-lock.json")), 0, 16;

	symlink "$cache/$lock/node_modules", "$folder/node_modules"
	  if -d "$cache/$lock/node_modules" && !-e "$folder/node_modules";
	return -d "$folder/node_modules";
}

# Return the arguments that run a command with sh in a copy of the folder.
sub in_folder { my ($self, $command) = @_; return ('sh', '-c', "cd $folder && exec 2>>'$self->{log}' && $command") }

# Build the program, and return whether it can run. A failed build is a failure of the test. A missing runtime is a
# failure only if IDGEN_CLIENT_NAMES is set.
sub can_run
{
	my ($self) = @_;
	link_npm_packages();
	if (system($self->in_folder("{ $self->{runtime}; } >&2")) == 0)
	{
		return 1 if system($self->in_folder("mkdir -p build && { $self->{build}; } >&2")) == 0;
		Test::More::fail("$self->{name} is built: " . PostgreSQL::Test::Utils::slurp_file($self->{log}));
	}
	elsif (defined $ENV{IDGEN_CLIENT_NAMES}) { Test::More::fail("$self->{name} has its runtime: $self->{packages}") }
	return 0;
}

# Start a server that the drivers reach by TCP, with the applications' key.
sub start_server
{
	my ($name) = @_;
	$node = Server::init_server($name, "listen_addresses = '127.0.0.1'\nidgen.key_file = idgen_keys");
	my $key_file = $node->data_dir . '/idgen_keys';
	PostgreSQL::Test::Utils::append_to_file($key_file, "shared $id_key\n");
	chmod 0600, $key_file or die "chmod $key_file: $!";
	$node->start;
	Server::ask('CREATE ROLE app LOGIN');
	return $node;
}

# Create a database with the tables of the stack's migrations, or of migration.sql.
sub create_database
{
	my ($self) = @_;
	$self->{database} = $self->{name} =~ s/\W/_/gr;
	Server::ask("CREATE DATABASE $self->{database} OWNER app");
	Server::ask(PostgreSQL::Test::Utils::slurp_file("$folder/setup.sql"), $self->{database});
	# A slow machine must not reach the timeouts. Another test resets these settings.
	Server::ask("ALTER ROLE app IN DATABASE $self->{database} SET $_ = 0")
	  for 'lock_timeout', 'idle_in_transaction_session_timeout';
	if (!$self->{has}{migrate})
	{
		my $migration = PostgreSQL::Test::Utils::slurp_file("$folder/migration.sql");
		return Server::ask("SET ROLE app; $migration", $self->{database});
	}
	my $process = $self->start;
	$process->results('migrate');
	$process->end;
}

sub environment
{
	my ($self) = @_;
	my ($port, $database) = ($self->{port} // $node->port, $self->{database} // 'postgres');
	return (defined $self->{setting} ? (POOL_SETTING => $self->{setting}) : (),
		PGHOST => '127.0.0.1', PGPORT => $port, PGUSER => 'app', PGDATABASE => $database,
		DATABASE_URL => "postgresql://app\@127.0.0.1:$port/$database", ID_KEY => $id_key);
}

sub start
{
	my ($self) = @_;
	my %environment = $self->environment;
	local @ENV{ keys %environment } = values %environment;
	my $process = bless {%$self};
	$process->{pid} = open2(@$process{qw(output input)}, $self->in_folder("exec $self->{command}"));
	return $process;
}

sub send { my ($self, @words) = @_; print { $self->{input} } join("\t", @words) . "\n"; $self->{input}->flush }

# Wait for a line that begins with "ok" or "error", and return its fields. Libraries may print other lines.
sub answer
{
	my ($self) = @_;
	my $line;
	local $SIG{ALRM} = sub { die "no answer; see $self->{log}\n" };
	alarm $PostgreSQL::Test::Utils::timeout_default;
	do { $line = readline $self->{output} } until !defined $line || $line =~ /^(ok|error)\b/;
	alarm 0;
	die 'the program has ended: ' . PostgreSQL::Test::Utils::slurp_file($self->{log}) if !defined $line;
	chomp $line;
	return split /\t/, $line, -1;
}

sub ask { my ($self, @words) = @_; $self->send(@words); return $self->answer }

# Send a command, and return the words after "ok".
sub results
{
	my ($self, @words) = @_;
	my ($outcome, @results) = $self->ask(@words);
	die "$words[0]: @results\n" if $outcome ne 'ok';
	return @results;
}

# Wait until the program has ended, and return its exit status.
sub end { my ($self) = @_; close $self->{input}; waitpid $self->{pid}, 0; return $? }

1;
