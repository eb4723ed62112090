# Verify that generators raise an error where they cannot write, and that a promoted standby returns only values greater
# than all previous values. The standby's clock is behind, and the standby lacks the last WAL of the primary. The test
# repeats this check after a crash of the standby.

use FakeClock;
use Load;
use PostgreSQL::Test::Cluster;
use Server;
use Tickers;

my $hour = 3600;
FakeClock::skip_all_without();
my $clock = FakeClock->new('primary');
my $primary = init_server('primary', "$settings\njit = off", allows_streaming => 1);
$clock->start($primary);
ask('CREATE EXTENSION idgen');
$primary->backup('base');

# Start a standby whose clock is an hour behind.
sub start_standby
{
	my ($name) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	FakeClock::start_behind($standby, $hour);
	FakeClock::check_behind($standby, $hour, "$name: its clock is behind");
	return $standby;
}
my $second = start_standby('second');

# --- Read-only transactions and standbys ---------------------------------------
my $marks = q{SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'idgen' ORDER BY 1};
my $unused = ask($marks);
for my $function (@functions, 'decimal_id')
{
	my $error = qr/ERROR:  25006: cannot execute $function\(\) in a read-only transaction/;
	like(errors("$_; SELECT idgen.$function()"), $error, "$function: $_") for
	  'BEGIN READ ONLY', 'SET default_transaction_read_only = on', "SELECT idgen.$function(); BEGIN READ ONLY";
	like(errors("SELECT idgen.$function()", node => $second),
		qr/ERROR:  25006: cannot execute $function\(\) during recovery/, "$function: on a standby");
}
isnt(ask($marks), $unused, 'calls reserve values');

# --- The primary fails under load ----------------------------------------------
my $load = Load->new($primary, take => 4);

$load->work(10);
ok($second->poll_query_until('postgres', "SELECT count(last_value) = 5 FROM ($marks) m"), 'the standby has the marks');
$load->work(10);
$primary->stop('immediate');
$load->lose_all;
$second->promote;
$load->{node} = $second;
$load->work(10);
$second->stop('immediate');
$load->lose_all;
FakeClock::start_behind($second, 2 * $hour);
$load->work(10);
$load->check;

# --- The standby is disconnected first -------------------------------------------
# The clock stands still, so the values use up the reserved seconds (65,536 values of js_id() per second). The function
# reserves more seconds before it has used up the first ones, and it uses less than half of the additional seconds.
$clock->stand_still_at(int(time) + 600);
$clock->start($primary);
ask('SELECT count(idgen.js_id()) FROM generate_series(1, 700000)');
begin_scenario('the primary', take('postgres', 100));
my $third = start_standby('third');
ok($third->poll_query_until('postgres', $marks, ask($marks)), 'the standby has the marks');
$third->append_conf('postgresql.conf', "primary_conninfo = ''");
$third->reload;
ok($primary->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication'), 'it is disconnected');
ask('SELECT count(idgen.js_id()) FROM generate_series(1, 300000)');
continues('the primary, later', take('postgres', 100));
$primary->stop('immediate');
$third->promote;
continues('the promoted standby', $third->safe_psql('postgres', values_query(100)));
$third->stop('immediate');
FakeClock::start_behind($third, 2 * $hour);
continues('and after a crash', $third->safe_psql('postgres', values_query(100)));
done_testing();
