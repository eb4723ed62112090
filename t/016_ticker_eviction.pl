# More tickers than shared memory has room for. A database without connections gives up its place to another one, and
# continues after its last value when it is used again.

use Server;
use TickerStory;

my $node = new_server('first', 0);
plan skip_all => 'there is room for thousands' if ask('SHOW server_version_num') >= 170000;

# each database begins with the high-water marks of this one
add_database('model');
make('model');
my $inherited = ask('SELECT max(reserved_until) FROM idgen.tickers', 'model');

ask("CREATE DATABASE shop_$_ TEMPLATE model") for 1 .. 30;
begin_story('the first of 30 databases', make('shop_1'));
make("shop_$_") for 2 .. 29;
my ($mark, $first) = split /\n/, ask(q{
	SELECT coalesce(reserved_value, 1) FROM idgen.ticker_state('decimal_id');
	SELECT counter FROM idgen.decimal_id_parts(idgen.decimal_id())}, 'shop_30');
is($first, $mark, 'in the place of another database, a ticker begins with its own high-water mark');
is(scalar(() = slurp_file($node->logfile) =~ /WARNING:  tickers of databases without sessions are removed from memory/g),
	1, 'one warning is issued');
is(ask('SELECT count(last_value) FROM idgen.tickers', 'shop_2'), 5, 'the view has the last values of evicted tickers');

# Two databases take turns in short connections, with 28 others between them, so that both are evicted each time.
my %counters;
for my $database ((map { "shop_$_" } 1 .. 30) x 3)
{
	my $said = ask("SELECT counter FROM idgen.decimal_id_parts(idgen.decimal_id()); SELECT $five", $database);
	push @{ $counters{$database} }, $said =~ /^(\d+)$/m;
}
is(join(' ', grep { my ($one, $two, $three) = @{ $counters{$_} }; $two != $one + 2 || $three != $two + 2 } keys %counters),
	'', 'evicted tickers continue after their last value');
my $ahead = "SELECT ticker FROM idgen.tickers WHERE last_time > greatest(now(), '$inherited') + interval '1 s'";
is(join('', map { ask($ahead, $_) } keys %counters), '', 'no ticker is ahead of the clock because of it');
check_continues('the first database after 29 others', make('shop_1'));

# an evicted ticker continues above its high-water mark after a crash
check_crash('shop_1', 1);

# 25 databases and 3 functions of another one, with sessions that stay connected
my %session = map { $_ => session(database => "shop_$_") } 1 .. 26;
make($session{$_}) for 1 .. 25;
my $last = $session{26};
$last->ask('SELECT idgen.decimal_id(), idgen.js_id(), idgen.snowflake()');
is($last->ask('SELECT idgen.trace_id()'), '53400', 'too many databases at the same time are an error');
like("@$last{qw(message detail hint)}", qr/^too many databases .*The limit is 128.*shared_preload_libraries/,
	'which says what helps');

# A database is dropped. In one statement, the last session takes one of its five places and then asks for another;
# meanwhile a new database with the same OID uses the other four.
my $oid = ask(q{SELECT oid FROM pg_database WHERE datname = 'shop_1'});
my $holder = session(database => 'shop_26');
$holder->ask('SELECT pg_advisory_lock(1)');
(delete $session{1})->quit;
ask('DROP DATABASE shop_1');
$last->send_blocked($holder, q{SELECT 'made', idgen.trace_id(), pg_advisory_lock(1), idgen.uuid_v7_ordered()});
ask("CREATE DATABASE reborn TEMPLATE model OID $oid");
my @reborn = map { session(database => 'reborn') } 1 .. 2;
my @made = map { $reborn[0]->ask('SELECT idgen.decimal_id()') } 1 .. 3;
$reborn[0]->ask('SELECT idgen.js_id(), idgen.trace_id()');
$holder->ask('SELECT pg_advisory_unlock(1)');
is($last->wait, '53400', 'the places of a connected database are not reused');
push @made, map { $_->ask('SELECT idgen.decimal_id()') } (@reborn) x 3;
is(join(' ', @made), join(' ', sort { $a <=> $b } @made), 'the sessions of that database share one ticker');
$_->quit for values %session, $holder, @reborn;

# 26 databases at the same time
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
start_with_clock($node, 0);
my @sessions = map { session(database => "shop_$_") } 2 .. 27;
is(scalar(grep { make($_) =~ /\|/ } @sessions), 26, 'loaded by the postmaster, the library has room for more');
done_testing();
