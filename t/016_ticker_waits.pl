# Sessions that wait for a ticker's sequence while the clock advances: the value that each of them then
# returns is of the present time, although the others have written high-water marks meanwhile.

use FakeClock;
use Server;

FakeClock::skip_all_without();

my $node = init_server('waits', "idgen.node_id = 1\nmax_connections = 60");
my $clock = FakeClock->new('waits');
my $begin = 1_800_000_000;
$clock->stand_still_at($begin);
$clock->start($node);
ask('CREATE EXTENSION idgen');
for my $function (qw(snowflake trace_id js_id))
{
	ask("SELECT idgen.$function()");
	my ($owner, @waiting) = map { session() } 1 .. 31;
	$owner->ask("BEGIN; ALTER SEQUENCE idgen.${function}_mark CACHE 1");
	$_->send_blocked($owner, "SELECT extract(epoch FROM idgen.${function}_timestamp(idgen.$function()))::bigint")
	  for @waiting;
	$clock->stand_still_at($begin += 60);
	$owner->ask('COMMIT');
	my %seconds = map { $_->answer => 1 } @waiting;
	is(join(' ', sort keys %seconds), $begin, "$function: no session raises the ticker above the marks of the others");
	$_->quit for $owner, @waiting;
}

done_testing();
