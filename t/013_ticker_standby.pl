# Functions on a ticker are rejected where they cannot write. A promoted standby, even with its clock behind and
# without the last WAL of the primary, continues above all values returned before.

use FakeClock;
use HandedOut;
use MixedLoad;
use PostgreSQL::Test::Cluster;
use Server;

FakeClock::skip_all_without();

my $hour = 3600;

my $primary = start_server('primary', $HandedOut::settings . "idgen.reserve_ahead = 30\njit = off", allows_streaming => 1);
my $load = MixedLoad->new($primary, inserting => 0, taking => 4, creating => 0);
$primary->backup('base');

sub start_standby
{
	my ($name, $upstream, $behind) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, 'base');
	$standby->enable_streaming($upstream);
	FakeClock::start_behind($standby, $behind);
	return $standby;
}

my $second = start_standby('second', $primary, $hour);
my $third = start_standby('third', $second, 2 * $hour);

# Check the error where nothing can be written.
sub check_refused
{
	my ($node, $hint, $where, $before) = @_;
	for my $function (@HandedOut::functions)
	{
		like(errors(($before // '') =~ s/FUNCTION/$function/r . "SELECT idgen.$function()", node => $node),
			qr/ERROR:  25006: .*$function\(\).*HINT:  \Q$hint\E/s, "$where: $function is rejected");
	}
}

my $hint = 'Call it in a read-write transaction.';
my @read_only = ('BEGIN READ ONLY; ', 'SET default_transaction_read_only = on; ');
sub tickers { my ($columns) = @_; return ask("SELECT ticker, $columns FROM idgen.tickers ORDER BY ticker") }

check_refused($primary, $hint, "no values yet, $_", $_) for @read_only;
is(tickers('last_value, reserved_value'), join("\n", map { "$_||" } sort @HandedOut::functions), 'rejected calls reserve nothing');
$load->take_more;
$load->finish;
check_refused($primary, $hint, "after some values, $_", $_) for @read_only, 'SELECT idgen.FUNCTION(); BEGIN READ ONLY; ';

for my $standby ($second, $third)
{
	my $name = $standby->name;
	ok($standby->poll_query_until('postgres', 'SELECT ticker, last_value, reserved_value FROM idgen.tickers ORDER BY ticker',
			tickers('NULL, reserved_value')), "the $name has the primary's reservations");
	check_refused($standby, 'Call it on the primary.', "the $name, a hot standby");
}
FakeClock::check_behind($second, $hour, 'the clock of the second server is an hour behind');
FakeClock::check_behind($third, 2 * $hour, 'the clock of the third server is two hours behind');

# Wait until a standby streams and has the current reservations.
sub wait_for_standby
{
	my ($from, $standby) = @_;
	my $reserved = $from->safe_psql('postgres', q{SELECT string_agg(format('(%L, %s)', ticker, reserved_value), ', ') FROM idgen.tickers});
	ok($from->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'})
		  && $standby->poll_query_until('postgres',
			qq{SELECT bool_and(reserved_value >= by_now) FROM idgen.tickers JOIN (VALUES $reserved) r (ticker, by_now) USING (ticker)}),
		$standby->name . ' has the reservations of ' . $from->name);
}

# The primary is lost under load.
$load->take_more;
wait_for_standby($primary, $second);
$load->take_more;
$primary->stop('immediate');
$load->lose_all;
$second->promote;
$load->{node} = $second;
$load->take_more;
wait_for_standby($second, $third);

# The second server is lost, too, but its standby was disconnected before. From then on, half of a reservation may be
# used: of js_id, 983040 values. More than that is used before, so that the second server reserves in time; less
# afterwards: half a million, and those of a hundred statements of each client.
sub make_js_ids
{
	my ($count) = @_;
	my $last = $second->safe_psql('postgres', "SELECT max(idgen.js_id()) FROM generate_series(1, $count)");
	$load->{handed_out}->see({}, [ [$last] ], 'js_id');
}

make_js_ids(1_500_000);
$load->finish;
wait_for_standby($second, $third);
$third->append_conf('postgresql.conf', "primary_conninfo = ''");
$third->reload;
ok($second->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication'), 'the third server is disconnected');

make_js_ids(500_000);
my $rounds = 0;
$load->run_until(sub { $rounds++ == 100 });
$second->stop('immediate');
$load->lose_all;

$third->promote;
$load->{node} = $third;
$load->take_more;

$load->{handed_out}->check;
done_testing();
