# More tickers than shared memory has room for. A database without connections gives
# up its place to another one, and continues after its last value when it is used
# again.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;
use TickerStory;

my $node = new_server('first', 0);
plan skip_all => 'there is room for thousands' if ask('SHOW server_version_num') >= 170000;

# each database begins with the high-water marks of this one
new_database('model');
make('model');
my $inherited = $node->safe_psql('model', 'SELECT max(reserved_until) FROM idgen.tickers');

ask("CREATE DATABASE shop_$_ TEMPLATE model") for 1 .. 30;
begin_story('the first of 30 databases', make('shop_1'));
$node->safe_psql("shop_$_", "SELECT $five") for 2 .. 29;
my ($mark, $first) = split /\n/, $node->safe_psql('shop_30',
	q{SELECT coalesce(reserved_value, 1) FROM idgen.ticker_state('decimal_id'); SELECT counter FROM idgen.decimal_id_parts(idgen.decimal_id())});
is($first, $mark, 'in the place of another database, a ticker begins with its own high-water mark');
is( scalar(() = slurp_file($node->logfile) =~ /WARNING:  tickers of databases without sessions are removed from memory/g),
	1, 'one warning is issued');
is( $node->safe_psql('shop_2', q{SELECT string_agg((last_value IS NOT NULL)::text, ' ') FROM idgen.tickers}),
	'true true true true true', 'the view has the last values of evicted tickers');

# Two databases take turns in short connections, with 28 others between them, so that
# both are evicted each time.
my %counters;
for my $round (1 .. 3)
{
	for my $database (map { "shop_$_" } 1 .. 30)
	{
		push @{ $counters{$database} },
		  $node->safe_psql($database, "SELECT $five; SELECT (idgen.decimal_id_parts(idgen.decimal_id())).counter") =~ /^(\d+)\s*\z/m;
	}
}
is( join(' ', grep { my @counter = @{ $counters{$_} }; $counter[1] != $counter[0] + 2 || $counter[2] != $counter[1] + 2 } sort keys %counters),
	'', 'evicted tickers continue after their last value');
is( join('', map {
			$node->safe_psql("shop_$_", "SELECT layout FROM idgen.tickers WHERE last_time > greatest(now(), '$inherited') + interval '1 s'")
		} 1 .. 30),
	'', 'no ticker is ahead of the clock because of it');
check_continues('the first database after 29 others', make('shop_1'));

# an evicted ticker continues above its high-water mark after a crash
$node->stop('immediate');
start_with_clock($node, -3600);
check_continues('after a crash, the clock behind', make('shop_1'));
right_clock();

# 25 databases and 3 functions of another one, with sessions that stay connected
my %session = map { $_ => $node->background_psql("shop_$_", on_error_stop => 0) } 1 .. 26;
$session{$_}->query_safe("SELECT $five") for 1 .. 25;
my $last = $session{26};
$last->query_safe('SELECT idgen.decimal_id(), idgen.js_id(), idgen.snowflake()');
$last->query('SELECT idgen.trace_id()');
like($last->{stderr}, qr/ERROR:  too many databases .*\n.*The limit is 128.*\n.*shared_preload_libraries/,
	'too many databases at the same time are an error');
$last->{stderr} = '';

# A database is dropped. In one statement, the last session takes one of its
# five places and then asks for another; meanwhile a new database with the same
# OID uses the other four.
my $oid = ask(q{SELECT oid FROM pg_database WHERE datname = 'shop_1'});
my $holder = $node->background_psql('shop_26');
$holder->query_safe('SELECT pg_advisory_lock(1)');
(delete $session{1})->quit;
ask('DROP DATABASE shop_1');
$last->query_until(qr/begins/,
	"\\echo begins\nSELECT 'made', idgen.trace_id(), pg_advisory_lock(1), idgen.uuid_v7_ordered();\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted})
  or die 'the statement does not wait';
ask("CREATE DATABASE reborn TEMPLATE model OID $oid");
my @reborn = map { $node->background_psql('reborn') } 1 .. 2;
my @made = map { $reborn[0]->query_safe('SELECT idgen.decimal_id()') } 1 .. 3;
$reborn[0]->query_safe('SELECT idgen.js_id(), idgen.trace_id()');
$holder->query_safe('SELECT pg_advisory_unlock(1)');
$last->query('\echo');
like($last->{stderr}, qr/ERROR:  too many databases/, 'the places of a connected database are not reused');
$last->{stderr} = '';
push @made, map { $_->query_safe('SELECT idgen.decimal_id()') } (@reborn) x 3;
is(join(' ', @made), join(' ', sort { $a <=> $b } @made), 'the sessions of that database share one ticker');
$_->quit for values %session, $holder, @reborn;

# 26 databases at the same time
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
start_with_clock($node, 0);
my @sessions = map { $node->background_psql("shop_$_", on_error_stop => 0) } 2 .. 27;
$_->query("SELECT $five") for @sessions;
is(join('', map { $_->{stderr} } @sessions), '', 'loaded by the postmaster, the library has room for more');
$_->quit for @sessions;

done_testing();
