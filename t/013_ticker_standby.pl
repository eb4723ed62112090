# Where functions on a ticker cannot write, they are refused. A standby that
# takes over, with its clock behind, goes on above all that was handed out:
# also without the last of what the primary wrote.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use FakeClock;
use HandedOut;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'libfaketime is not installed' unless FakeClock::is_installed();

my $hour = 3600;
my $handed_out = HandedOut->new;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
HandedOut::configure($primary);
$primary->append_conf('postgresql.conf', q{
idgen.reserve_ahead = 30
jit = off
});
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION idgen');
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

# Where nothing can be written
sub check_refused
{
	my ($node, $before, $hint, $where) = @_;

	for my $function (@HandedOut::functions)
	{
		my $errors;

		$node->psql(
			'postgres', "$before SELECT idgen.$function()" =~ s/FUNCTION/$function/r,
			stderr => \$errors,
			extra_params => [ '--set=VERBOSITY=verbose' ]);
		like($errors, qr/ERROR:  25006: .*$function\(\).*HINT:  \Q$hint\E/s, "$where: $function is refused");
	}
}

sub check_read_only
{
	my ($when) = @_;
	my $hint = 'Call it in a read-write transaction.';

	check_refused($primary, 'BEGIN READ ONLY;', $hint, "$when, a read-only transaction");
	check_refused($primary, 'SET default_transaction_read_only = on;', $hint, "$when, default_transaction_read_only");
}

sub tickers
{
	my ($node, $columns) = @_;

	return $node->safe_psql('postgres', "SELECT layout, $columns FROM idgen.tickers ORDER BY layout");
}

check_read_only('nothing made yet');
is(tickers($primary, 'last_value, reserved_value'),
	join("\n", map { "$_||" } sort @HandedOut::functions), 'and reserves nothing');

$handed_out->clients_begin('the primary', $primary);
$handed_out->wait_for_more;
$handed_out->clients_terminate($primary);
check_read_only('some made');
check_refused($primary, 'SELECT idgen.FUNCTION(); BEGIN READ ONLY;',
	'Call it in a read-write transaction.', 'a session that made one, a read-only transaction');

for my $standby ($second, $third)
{
	my $name = $standby->name;

	ok( $standby->poll_query_until(
			'postgres', 'SELECT layout, last_value, reserved_value FROM idgen.tickers ORDER BY layout',
			tickers($primary, 'NULL, reserved_value')),
		"the $name knows what the primary reserved");
	check_refused($standby, '', 'Call it on the primary.', "the $name, a hot standby");
}
FakeClock::check_behind($second, $hour, 'the clock of the second is an hour behind');
FakeClock::check_behind($third, 2 * $hour, 'that of the third is two hours behind');

# Until a standby streams, and knows what is reserved by now
sub wait_for_standby
{
	my ($from, $standby) = @_;
	my $reserved = $from->safe_psql('postgres', q{SELECT string_agg(format('(%L, %s)', layout, reserved_value), ', ') FROM idgen.tickers});

	ok( $from->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'})
		  && $standby->poll_query_until('postgres',
			qq{SELECT bool_and(reserved_value >= by_now) FROM idgen.tickers JOIN (VALUES $reserved) r (layout, by_now) USING (layout)}),
		$standby->name . ' knows what ' . $from->name . ' has reserved');
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

# The next one is lost, too, but its standby was cut off before. From then on,
# half of what is reserved at once may be handed out: of js_id, 983040. More
# than that is handed out before, which makes the second reserve in time, and
# less afterwards: half a million, and what clients get that come to an end.
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
ok($second->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication'), 'the third is cut off');

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
