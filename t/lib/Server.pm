# This module starts a server with the extension for a test, and provides functions that return the results of its
# sessions. It turns on strict and warnings, and exports everything that Test::More and PostgreSQL::Test::Utils export.
#
#   my $node = start_server('shop', 'max_connections = 60');
#   ask('SELECT 1');                              # rows; an error ends the test
#   outcome('SELECT 1/0', user => 'app');         # rows, or the SQLSTATE of the first error
#   errors('SELECT 1/0', database => 'other');    # psql's messages, with all fields
#   session(user => 'app')->ask('SELECT 1');      # a session that stays open, see Session.pm
#
# All of these functions use the first server that was started, unless a "node" is given.

package Server;
use strict;
use warnings;
use Exporter ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = (qw(init_server start_server ask psql_said errors outcome session in_parallel settings_reach_workers
	  add_database wait_until kill_postmaster start_again dump_and_restore build_library
	  copy_of_server private_memory $python has_matplotlib @unusual_names ident literal),
	@PostgreSQL::Test::Utils::EXPORT, @Test::More::EXPORT);

our ($python) = grep { -x } map { "$_/python3" } split /:/, $ENV{PATH};
my ($first, @servers);

# Return whether matplotlib is installed for the Python that runs report.py.
sub has_matplotlib { run_command([ '/usr/bin/python3', '-c', 'import matplotlib' ]); return $? == 0 }

# These names of roles and objects are legal, but need quotation marks or escapes in some contexts. The functions
# convert names to SQL identifiers and literals.
our @unusual_names = ('svc$app', q{o'brien@example.org}, 'a"b', 'a\b', 'Ünal');
sub ident { return '"' . $_[0] =~ s/"/""/gr . '"' }
sub literal { return q{E'} . $_[0] =~ s/(['\\])/\\$1/gr . q{'} }

sub import
{
	strict->import;
	warnings->import;
	goto &Exporter::import;
}

# Create a server, but do not start it yet.
sub init_server
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => delete $init{install_path});
	$node->init(%init);
	$node->append_conf('postgresql.conf', $conf) if defined $conf;
	$first //= $node;
	push @servers, $node;
	return $node;
}

sub start_server
{
	my $node = init_server(@_);
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION idgen');
	return $node;
}

# Create a database with the extension, in the given encoding if there is one.
sub add_database
{
	my ($database, $encoding) = @_;
	my $options = defined $encoding ? "ENCODING '$encoding' LOCALE 'C' TEMPLATE template0" : '';
	ask("CREATE DATABASE $database $options");
	ask('CREATE EXTENSION idgen', lc $database);
}

# Before versions 15.9 and 16.5, a library that a parallel worker loads first keeps the defaults of its settings there.
sub settings_reach_workers
{
	my $version = $first->pg_version;
	return $version >= 16 ? $version >= '16.5' : $version >= '15.9';
}

sub ask { my ($sql, $database) = @_; return $first->safe_psql($database // 'postgres', $sql) }

# Return what psql prints: rows and messages. Options are set in the connection. With on_error_stop => 0, psql continues
# after an error.
sub psql_said
{
	my ($sql, %how) = @_;
	my ($rows, $errors);
	local $ENV{PGOPTIONS} = $how{options} // '';
	($how{node} // $first)->psql(
		$how{database} // 'postgres', $sql,
		stdout => \$rows, stderr => \$errors, on_error_stop => $how{on_error_stop},
		extra_params => [ '--set=VERBOSITY=verbose', defined $how{user} ? ('--username', $how{user}) : () ]);
	die "no connection: $errors" if $errors =~ /^psql: error/m;
	return ($rows, $errors);
}

sub errors { return (psql_said(@_))[1] }
sub outcome { my ($rows, $errors) = psql_said(@_); return $errors =~ /ERROR:  (\w{5})/ ? $1 : $rows }

sub session
{
	my (%where) = @_;
	return Session->new($where{node} // $first, %where);
}

# Build a library with the given body of _PG_init(). Return its name, or nothing if there is no compiler.
sub build_library
{
	my ($name, $body) = @_;
	my ($cc, $headers) = map { (run_command([ $ENV{PG_CONFIG} // 'pg_config', $_ ]))[0] } '--cc',
	  '--includedir-server';
	return if system("$cc --version") != 0;
	my $library = PostgreSQL::Test::Utils::tempdir() . "/$name";
	append_to_file("$library.c", qq{
#include "postgres.h"
#include "fmgr.h"
#include "utils/guc.h"
PG_MODULE_MAGIC;
extern PGDLLEXPORT void _PG_init(void);
void
_PG_init(void)
{
$body}
});
	system_or_bail('sh', '-c', "$cc -shared -fPIC -I$headers -o $library.so $library.c");
	return $library;
}

# Copy the server's installation: the programs themselves, because they find their files relative to their own location,
# and links to all other files. Return the install_path of nodes that use it, and its folders of libraries and
# extensions.
sub copy_of_server
{
	my $copy = PostgreSQL::Test::Utils::tempdir() . '/server';
	my %folder;
	for my $name ('bindir', 'sharedir', 'pkglibdir')
	{
		my ($original) = run_command([ 'pg_config', "--$name" ]);
		$folder{$name} = "$copy$original";
		system_or_bail('mkdir', '-p', $folder{$name});
		system_or_bail('cp', $name eq 'bindir' ? '-r' : '-rs', "$original/.", $folder{$name});
	}
	return ($folder{bindir} =~ s{/[^/]+$}{}r, $folder{pkglibdir}, "$folder{sharedir}/extension");
}

# Settings for a plan that only parallel workers execute
our $in_parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; '
  . 'SET parallel_leader_participation = off';

sub in_parallel { return "$in_parallel; $_[0]" }

# Wait until a condition is true, for at most the default timeout of tests. Return whether it is true.
sub wait_until
{
	my ($condition) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	until ($condition->())
	{
		return if time > $end;
		usleep(20_000);
	}
	return 1;
}

# Kill the postmaster with SIGKILL. Its children exit when they notice this. Until then, a new postmaster cannot start.
sub kill_postmaster
{
	my ($node) = @_;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	$node->kill9;
	wait_until(sub { !kill(0, $postmaster) });
}

# Start a server as soon as possible, by $node->start or by the given method.
sub start_again
{
	my ($node, $start) = @_;
	wait_until($start // sub { $node->start(fail_ok => 1) });
}

# Dump a database with the given options, in "plain" or "custom" format, and restore it into another database.
sub dump_and_restore
{
	my ($format, $from, $to, @options) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
	$first->safe_psql('postgres', "CREATE DATABASE $to");
	$first->command_ok([ 'pg_dump', "--format=$format", "--file=$file", @options, $first->connstr($from) ],
		"$format: dumped");
	$first->command_ok(
		$format eq 'plain'
		? [ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--output=/dev/null', "--file=$file",
			$first->connstr($to) ]
		: [ 'pg_restore', '--exit-on-error', '--dbname', $first->connstr($to), $file ],
		"$format: restored");
}

# Return the writable private memory of a process as a list of [first address, name of the mapping, bytes]. The list is
# empty if the memory cannot be read.
sub private_memory
{
	my ($pid) = @_;
	my @regions;
	open my $maps, '<', "/proc/$pid/maps" or return;
	open my $memory, '<:raw', "/proc/$pid/mem" or return;
	while (my $line = <$maps>)
	{
		my ($from, $to, $mode, $name) = $line =~ /^(\w+)-(\w+) (\S+) \S+ \S+ \d+\s*(.*)$/;
		my $bytes = '';
		next if $mode !~ /^rw.p/;
		no warnings 'portable';
		($from, $to) = (hex $from, hex $to);
		sysseek($memory, $from, 0) or next;
		while (length $bytes < $to - $from) { sysread($memory, $bytes, $to - $from - length $bytes,
			length $bytes) or last }
		push @regions, [ $from, $name, $bytes ];
	}
	return @regions;
}

# Shut down the servers cleanly at the end of the test.
END
{
	my $status = $?;
	$_->stop for $status == 0 ? @servers : ();
	$? = $status;
}
1;
