# Verify docs/failover.md and the settings in docs/install.md on three servers under load, whose node numbers are in a
# file on each host. The primary is killed, a standby is promoted, and pg_rewind turns the old primary into a standby.
# Then the new primary is killed, and the old one is promoted again. Each server always generates identifiers with its
# own number, no identifier is returned twice, and each command has one order. Node numbers in the data directory are
# copied to other servers.

use Load;
use Page;
use PostgreSQL::Test::Cluster;
use Server;

my $page = Page->new('failover');
my ($host_file) = (Page->new('install')->blocks('Settings', 'sh'))[0] =~ /END'\n(.*)END\n/s;
my %number_of = (a => 11, b => 12, c => 13, d => 14);
my %node;

# The servers share this machine. A path relative to the data directory stands in for a file on a separate host.
sub make_host_file
{
	my ($name) = @_;
	append_to_file($node{$name}->basedir . '/idgen.conf',
		$host_file =~ s/^idgen\.(?:node|launch)_id = \K\d+/$number_of{$name}/mgr);
}

sub make_standby
{
	my ($name, $primary) = @_;
	$node{$name} = PostgreSQL::Test::Cluster->new($name);
	$node{$name}->init_from_backup($node{$primary}, "for_$name", has_streaming => 1);
}

# Execute a shell block of the page, with the addresses of the test's servers.
sub paste
{
	my ($name, $text) = @_;
	local $ENV{PGDATA} = $node{a}->data_dir;
	my $services = PostgreSQL::Test::Utils::tempdir() . '/services';
	append_to_file($services, join '', map { "[$_]\nhost=" . $node{$_}->host . "\nport=" . $node{$_}->port . "\n" }
		  grep { $node{$_} } sort keys %number_of);
	local $ENV{PGSERVICEFILE} = $services;
	$text =~ s/-h ("\$host"|\w+) -d (\w+)/-d "service=$1 dbname=$2"/g;
	$text =~ s/host=(\w+) dbname=\w+/$node{$1}->connstr('postgres')/e;
	my ($stdout, $stderr) = run_command([ 'sh', '-ec', $text ]);
	is($?, 0, "$name succeeds") or diag("$text\n$stderr");
	return $stdout;
}

# Make a server follow another server as its standby.
sub follow
{
	my ($name, $primary) = @_;
	$node{$name}->append_conf('postgresql.conf',
		"primary_conninfo = '" . $node{$primary}->connstr =~ s/'/''/gr . " application_name=$name'");
	$node{$name}->reload if -e $node{$name}->data_dir . '/postmaster.pid';
}

$node{a} = init_server('a', "include '../idgen.conf'\nwal_log_hints = on\nwal_keep_size = 1GB\nautovacuum = off",
	allows_streaming => 1);
make_host_file('a');
$node{a}->start;
ask(q{
	CREATE EXTENSION idgen;
	CREATE TABLE events (id bigint PRIMARY KEY DEFAULT idgen.snowflake(), number uuid DEFAULT idgen.uuid_v7());
	CREATE DATABASE shop});
ask('CREATE EXTENSION idgen', 'shop');
for my $name ('b', 'c')
{
	$node{a}->backup("for_$name");
	make_standby($name, 'a');
	is($node{$name}->start(fail_ok => 1), 0, "without the file of the host, $name does not start");
	like(slurp_file($node{$name}->logfile), qr/could not open configuration file ".*\/idgen\.conf"/,
		'... and says why');
	make_host_file($name);
	follow('c', 'b') if $name eq 'c';
	$node{$name}->start;
}

my ($check) = $page->blocks('Check each server', 'sh');
my $checked = paste('the check', $check);
like($checked, qr/^$_\|t\n(?:idgen\..*\n)*idgen\.node_id\|$number_of{$_}\|.*idgen\.conf$/m, "$_ has its number")
  for 'a', 'b', 'c';

# Make commits wait for the only standby that is connected, so that it can be promoted without a loss. The third server
# follows this standby. If it followed the primary, it could receive more WAL than the standby, and could then no longer
# follow the standby.
sub make_synchronous
{
	my ($primary) = @_;
	$node{$primary}->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '*'});
	$node{$primary}->reload;
	ok($node{$primary}->poll_query_until('postgres', q{
			SELECT count(*) = 1 AND bool_and(application_name <> 'c' AND sync_state = 'sync' AND state = 'streaming')
			FROM pg_stat_replication}),
		"the standby of $primary is synchronous");
}

$Load::scripts{event} = [ 'INSERT INTO events DEFAULT VALUES RETURNING id', ':make;' ];
my $load = Load->new($node{a}, event => 3, create => 3);
my @phases;    # the primary in each phase of the load

sub work_on { my ($name) = @_; $load->{node} = $node{$name}; $phases[ $load->{phase} ] = $name; $load->work(50, 'event',
	'create') }

# --- The first failover ------------------------------------------------------------------------------
make_synchronous('a');
work_on('a');
kill_postmaster($node{a});
$load->lose_all;
my ($promote) = $page->blocks('Promote a standby', 'sh');
paste('the promotion of b', $promote);
work_on('b');

# --- The old primary returns ----------------------------------------------------------------------------
# pg_rewind replaces the settings that ALTER SYSTEM has made on server a with those of server b.
$node{b}->safe_psql('postgres', q{LOAD 'idgen'; ALTER SYSTEM SET idgen.launch_id = 77});
$node{a}->append_conf('postgresql.auto.conf', 'idgen.launch_id = 66');
my ($rewind) = $page->blocks('Bring the old primary back', 'sh');
paste('pg_rewind', $rewind);
my $brought = slurp_file($node{a}->data_dir . '/postgresql.auto.conf');
like($brought, qr/^idgen\.launch_id = '?77/m, 'pg_rewind brings what ALTER SYSTEM has set on the other server');
unlike($brought, qr/66/, '... and loses what it has set here');
for my $name ('a', 'b')
{
	my $file = $node{$name}->data_dir . '/postgresql.auto.conf';
	my $rest = slurp_file($file) =~ s/^idgen\..*\n//mgr;
	unlink $file;
	append_to_file($file, $rest);
}
like(slurp_file($node{a}->data_dir . '/postgresql.conf'), qr/^port = ${\$node{b}->port}$/m,
	'... as well as postgresql.conf');
$node{a}->append_conf('postgresql.conf', 'port = ' . $node{a}->port);    # the servers share this machine
$node{a}->start;
$node{b}->reload;
follow('c', 'a');
make_synchronous('b');
work_on('b');

# --- The second failover ----------------------------------------------------------------------------------
kill_postmaster($node{b});
$load->lose_all;
paste('the promotion of a', $promote =~ s/-h b/-h a/r);
work_on('a');
$node{a}->wait_for_catchup('c');

# --- Results --------------------------------------------------------------------------------------------
$load->check;
my (%times, %wrong);
for my $phase (0 .. $load->{phase})
{
	my $name = $phases[$phase] // next;
	my @ids = grep { /^\d+$/ } map { @$_ } $load->_outputs('event', $phase);
	cmp_ok(scalar @ids, '>=', 150, "$name: it has inserted under load");
	$times{$_}++ for @ids;
	my $numbers = $node{a}->safe_psql('postgres', "SELECT string_agg(DISTINCT idgen.snowflake_node(id)::text, ' ')
		FROM unnest('{" . join(',', @ids) . "}'::bigint[]) id");
	is($numbers, $number_of{$name}, "... with the number $number_of{$name}");
}
is(join(' ', grep { $times{$_} > 1 } keys %times), '', 'no identifier was returned twice');
my $count = 'SELECT count(*) FROM events; SELECT count(*) FROM orders';
is($node{c}->safe_psql('postgres', $count), $node{a}->safe_psql('postgres', $count), 'the third server has all rows');

# --- A new standby -----------------------------------------------------------------------------------------
$node{a}->backup('for_d');
make_standby('d', 'a');
make_host_file('d');
$node{d}->start;
is($node{d}->safe_psql('postgres', 'SELECT idgen.uuid_v7() IS NOT NULL; SHOW idgen.node_id'), "t\n$number_of{d}",
	'a new standby has its number');
$node{$_}->stop for qw(d c a);
done_testing();
