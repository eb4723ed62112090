# Sessions that wait for locks while they renew a ticker's high-water mark: for the
# sequence, which another transaction replaces meanwhile, or for the catalog
# pg_sequence. No session waits for such a session without end, and no value is
# repeated.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Server;

my $node = start_server('locks', q{
idgen.node_id = 7
idgen.launch_id = 42
autovacuum = off
});

# The counter of decimal_id(), as a line of its own
my $counter = 'SELECT (idgen.decimal_id_parts(idgen.decimal_id())).counter';

# more than are reserved at a time
my $use_up = 'SELECT count(idgen.decimal_id()) FROM generate_series(1, 4100000)';

# A session that watches the others: a new one might wait for the catalog
my $watching;

# Start a statement that has to wait for a lock; return when it waits.
sub start_waiting
{
	my ($session, $statement) = @_;

	$session->send($statement);
	$watching->poll_waiting($session);
}

# --- The sequence is replaced while a session waits for its lock -------------

my %replacements = (
	renamed => 'ALTER SEQUENCE idgen.decimal_id_ticker RENAME TO gone',
	dropped => 'ALTER EXTENSION idgen DROP SEQUENCE idgen.decimal_id_ticker; DROP SEQUENCE idgen.decimal_id_ticker');
my $last = ask($counter);

for my $how (sort keys %replacements)
{
	my $replacing = session();
	my $waiting = session();
	$watching = session();

	$replacing->ask("BEGIN; $replacements{$how}; CREATE SEQUENCE idgen.decimal_id_ticker");
	start_waiting($waiting, $counter);
	$replacing->ask('COMMIT');
	my $value = $waiting->answer;
	is($waiting->{sqlstate}, undef, "$how: the waiting session gets no error");
	cmp_ok($value || 0, '>', $last, "$how: its value is greater than all before");
	cmp_ok(ask('SELECT last_value FROM idgen.decimal_id_ticker'), '>', $value || 0, "$how: the new sequence has the high-water mark");
	$last = $value || $last;

	$node->stop('immediate');
	$node->start;
	$value = ask($counter);
	cmp_ok($value, '>', $last, "$how: after a crash, values are greater than all before");
	$last = $value;
	ask('DROP SEQUENCE IF EXISTS idgen.gone') if $how eq 'dropped';
}

# --- The catalog is locked ---------------------------------------------------

# A reader of pg_sequence, such as pg_dump, and VACUUM FULL, which waits for it: a
# new session has to wait for both when it looks the sequence up. Sessions that are
# connected continue, though they have to renew the high-water mark.
my ($reader, $connected, $vacuum, $new, $impatient, $ended) = map { session() } 1 .. 6;
$watching = session();
$connected->ask($counter);
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_sequence');
start_waiting($vacuum, 'VACUUM FULL pg_sequence');
start_waiting($new, $counter);
is($connected->ask($use_up), 4100000, 'a connected session does not wait for a new one that waits');
# the reader would be part of a deadlock if the new session held a lock
like($reader->ask($counter), qr/^\d+$/, 'nor does the session for which all others wait');

is($impatient->ask("SET statement_timeout = '100ms'; $counter"), '57014', 'statement_timeout ends the wait of another new session');
start_waiting($ended, $counter);
$watching->ask("SELECT pg_terminate_backend($ended->{pid})");
ok($watching->poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $ended->{pid}"),
	'a waiting session can be terminated');

$reader->ask('COMMIT');
like($new->answer, qr/^\d+$/, 'the new session continues');
is($vacuum->answer, '', 'VACUUM FULL ends');

# A session that has rebuilt the catalog, for which a new session waits, calls the
# function itself. A fast shutdown ends all.
$new->quit;
$new = session();
$reader->ask('BEGIN; REINDEX TABLE pg_sequence');
start_waiting($new, $counter);
$reader->send($use_up);
ok( $watching->poll(q{SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%4100000%'}),
	'the session that locked the catalog is not blocked');
$node->stop('fast');
ok(!-e $node->data_dir . '/postmaster.pid', 'a fast shutdown ends');

done_testing();
