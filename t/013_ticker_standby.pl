# Functions on a ticker are rejected where they cannot write. A promoted standby,
# even with its clock behind and without the last WAL of the primary, continues
# above all values returned before.

use FakeClock;
use HandedOut;
use PostgreSQL::Test::Cluster;
use Server;

FakeClock::skip_all_without();

my $hour = 3600;
my $handed_out = HandedOut->new;

my $primary = start_server('primary', $HandedOut::settings . "idgen.reserve_ahead = 30\njit = off", allows_streaming => 1);
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

# Check the error where nothing can be written
sub check_refused
{
	my ($node, $before, $hint, $where) = @_;

	for my $function (@HandedOut::functions)
	{
		like(errors("$before SELECT idgen.$function()" =~ s/FUNCTION/$function/r, node => $node),
			qr/ERROR:  25006: .*$function\(\).*HINT:  \Q$hint\E/s, "$where: $function is rejected");
	}
}

sub check_read_only
{
	my ($when) = @_;
	my $hint = 'Call it in a read-write transaction.';

	check_refused($primary, 'BEGIN READ ONLY;', $hint, "$when, a read-only transaction");
	check_refused($primary, 'SET default_transaction_read_only = on;', $hint, "$when, default_transaction_read_only");
}

sub tickers { my ($columns) = @_; return ask("SELECT layout, $columns FROM idgen.tickers ORDER BY layout") }

check_read_only('no values yet');
is(tickers('last_value, reserved_value'),
	join("\n", map { "$_||" } sort @HandedOut::functions), 'rejected calls reserve nothing');

$handed_out->clients_begin('the primary', $primary);
$handed_out->wait_for_more;
$handed_out->clients_terminate($primary);
check_read_only('after some values');
check_refused($primary, 'SELECT idgen.FUNCTION(); BEGIN READ ONLY;',
	'Call it in a read-write transaction.', 'a session that has called them, a read-only transaction');

for my $standby ($second, $third)
{
	my $name = $standby->name;

	ok( $standby->poll_query_until(
			'postgres', 'SELECT layout, last_value, reserved_value FROM idgen.tickers ORDER BY layout',
			tickers('NULL, reserved_value')),
		"the $name has the primary's reservations");
	check_refused($standby, '', 'Call it on the primary.', "the $name, a hot standby");
}
FakeClock::check_behind($second, $hour, 'the clock of the second server is an hour behind');
FakeClock::check_behind($third, 2 * $hour, 'the clock of the third server is two hours behind');

# Wait until a standby streams and has the current reservations
sub wait_for_standby
{
	my ($from, $standby) = @_;
	my $reserved = $from->safe_psql('postgres', q{SELECT string_agg(format('(%L, %s)', layout, reserved_value), ', ') FROM idgen.tickers});

	ok( $from->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'})
		  && $standby->poll_query_until('postgres',
			qq{SELECT bool_and(reserved_value >= by_now) FROM idgen.tickers JOIN (VALUES $reserved) r (layout, by_now) USING (layout)}),
		$standby->name . ' has the reservations of ' . $from->name);
}

# The primary is lost under load.
$handed_out->clients_begin('the primary, until lost', $primary);
$handed_out->wait_for_more;
wait_for_standby($primary, $second);
$handed_out->wait_for_more;
$primary->stop('immediate');
$handed_out->clients_end;
$second->promote;
$handed_out->clients_begin('the second', $second);
$handed_out->wait_for_more;
wait_for_standby($second, $third);

# The second server is lost, too, but its standby was disconnected before. From
# then on, half of a reservation may be used: of js_id, 983040 values. More than
# that is used before, so that the second server reserves in time; less
# afterwards: half a million, and the values of clients that run once.
sub make_js_ids
{
	my ($count) = @_;

	$handed_out->record($second->safe_psql('postgres',
			"SELECT E'js_id\\t' || max(idgen.js_id()) FROM generate_series(1, $count / 1000) a, generate_series(1, 1000) b"));
}

make_js_ids(1_500_000);
$handed_out->clients_terminate($second);
wait_for_standby($second, $third);
$third->append_conf('postgresql.conf', "primary_conninfo = ''");
$third->reload;
ok($second->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication'), 'the third server is disconnected');

$handed_out->clients_begin('the second, alone', $second, once => 1);
make_js_ids(500_000);
$handed_out->wait_for_more;
$second->stop('immediate');
$handed_out->clients_end;

$third->promote;
$handed_out->clients_begin('the third', $third);
$handed_out->wait_for_more;
$third->stop;
$handed_out->clients_end;

$handed_out->check_never_twice;
done_testing();
