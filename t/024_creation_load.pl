# Verify that each command creates exactly one order under load and faults. 64 clients send creation commands, each
# command about five times. Meanwhile, random sessions are terminated or canceled, and random clients are killed. All
# clients that sent the same command must have received the same order.
#
# IDGEN_LOAD_SECONDS sets the duration, which is 15 seconds by default. The test runs longer if too few faults have
# occurred. contrib/portable/t/002_portable_load.pl runs this test with the portable edition.

use Load;
use Server;
use Time::HiRes qw(time);

my $seconds = $ENV{IDGEN_LOAD_SECONDS} || 15;

my $node = init_server('shop', "max_connections = 200\ndeadlock_timeout = 100ms\nlog_statement = none\n"
	  . "log_min_messages = panic\nlog_min_error_statement = panic");
$node->start;
ask($ENV{IDGEN_PORTABLE} ? join('', map { slurp_file("contrib/portable/$_.sql") } qw(uuids create_once))
  : 'CREATE EXTENSION idgen');

my @isolation = (('read committed') x 4, 'repeatable read', 'serializable');
my $load = Load->new($node, create => 64, isolation => \@isolation);
my $control = session();
my %count = (terminated => 0, cancelled => 0, killed => 0);
my %fault = (terminated => 'pg_terminate_backend(pid)', cancelled => 'pg_cancel_backend(pid)');

# Cause a fault in a random busy session or client.
sub cause_fault
{
	my $what = (sort keys %count)[ rand 3 ];
	my $victim = "FROM pg_stat_activity WHERE application_name = 'load' AND state = 'active' ORDER BY random() LIMIT 1";
	$count{$what}++ if $fault{$what} ? $control->ask("SELECT $fault{$what} $victim") eq 't' : $load->kill_client;
}

my $end = time + $seconds;
$load->run_until(sub { cause_fault(); return time >= $end && !grep { $_ <= 10 } values %count }, $seconds);
$load->work(10);
$load->check;
my %errors = %{ $load->errors };
is(join(' ', grep { !/^(40001|40P01|57014|57P01|connection to .*)$/ } sort keys %errors), '',
	'all errors can be retried');
cmp_ok($count{$_}, '>', 10, "$_: $count{$_}") for sort keys %count;
done_testing();
