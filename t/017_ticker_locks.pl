# Sessions that wait for locks while they renew a ticker's high-water mark: for the sequence, which another
# transaction replaces meanwhile, or for the catalog pg_sequence. No session waits for such a session without end, and
# no value is repeated.

use Server;

my $node = start_server('locks', "idgen.node_id = 7\nidgen.launch_id = 42\nautovacuum = off");

# The counter of decimal_id(), as a line of its own
my $counter = 'SELECT (idgen.decimal_id_parts(idgen.decimal_id())).counter';

# more than are reserved at a time
my $use_up = 'SELECT count(idgen.decimal_id()) FROM generate_series(1, 4100000)';

# --- The sequence is replaced while a session waits for its lock -------------
my %replacements = (
	renamed => 'ALTER SEQUENCE idgen.decimal_id_ticker RENAME TO gone',
	dropped => 'ALTER EXTENSION idgen DROP SEQUENCE idgen.decimal_id_ticker; DROP SEQUENCE idgen.decimal_id_ticker');
my $last = ask($counter);

for my $how (sort keys %replacements)
{
	my ($replacing, $waiting) = (session(), session());
	$replacing->ask("BEGIN; $replacements{$how}; CREATE SEQUENCE idgen.decimal_id_ticker");
	$waiting->send_blocked(session(), $counter);
	$replacing->ask('COMMIT');
	is($waiting->wait, '', "$how: the waiting session gets no error");
	my $value = $waiting->answer;
	cmp_ok($value, '>', $last, "$how: its value is greater than all before");
	cmp_ok(ask('SELECT last_value FROM idgen.decimal_id_ticker'), '>', $value, "$how: the new sequence has the high-water mark");

	$node->stop('immediate');
	$node->start;
	$last = ask($counter);
	cmp_ok($last, '>', $value, "$how: after a crash, values are greater than all before");
	ask('DROP SEQUENCE IF EXISTS idgen.gone') if $how eq 'dropped';
}

# A sequence with a greater value is moved to its place: its value is that of one transaction only.
my ($moving, $other) = (session(), session());
$other->ask($counter);
$moving->ask("CREATE SEQUENCE decimal_id_ticker; SELECT setval('decimal_id_ticker', 100000000)");
my $moved = $moving->ask("BEGIN; ALTER SEQUENCE idgen.decimal_id_ticker RENAME TO replaced;
	ALTER SEQUENCE decimal_id_ticker SET SCHEMA idgen; $counter");
is($moved, 100000000, 'moved: the transaction continues at its value');
is($other->ask("SET statement_timeout = '100ms'; $counter"), '57014', 'moved: another session waits for the end of the transaction');
$moving->ask('ROLLBACK');

# It is altered between the start of a statement, in a session that has used the ticker, and the call.
my ($caller, $holder) = (session(), session());
$caller->ask($counter);
$holder->ask('SELECT pg_advisory_lock(1)');
$caller->send_blocked($holder, 'SELECT pg_advisory_lock(1), idgen.decimal_id()');
$holder->ask('ALTER SEQUENCE idgen.decimal_id_ticker CACHE 1');
$holder->ask('SELECT pg_advisory_unlock(1)');
like($caller->answer, qr/^\|\d+$/, 'altered: the statement continues');

# --- The catalog is locked ---------------------------------------------------
# A reader of pg_sequence, such as pg_dump, and VACUUM FULL, which waits for it: a new session has to wait for both
# when it looks the sequence up. Sessions that are connected continue, though they have to renew the high-water mark.
# (A new session that watches the others might wait for the catalog.)
my ($reader, $connected, $vacuum, $new, $impatient, $ended, $watching) = map { session() } 1 .. 7;
$connected->ask($counter);
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_sequence');
$vacuum->send_blocked($watching, 'VACUUM FULL pg_sequence');
$new->send_blocked($watching, $counter);
is($connected->ask($use_up), 4100000, 'a connected session does not wait for a new one that waits');
# the reader would be part of a deadlock if the new session held a lock
like($reader->ask($counter), qr/^\d+$/, 'nor does the session for which all others wait');

is($impatient->ask("SET statement_timeout = '100ms'; $counter"), '57014', 'statement_timeout ends the wait of another new session');
$ended->send_blocked($watching, $counter);
$watching->ask("SELECT pg_terminate_backend($ended->{pid})");
is($ended->wait, '57P01', 'a waiting session can be terminated');

$reader->ask('COMMIT');
like($new->answer, qr/^\d+$/, 'the new session continues');
is($vacuum->answer, '', 'VACUUM FULL ends');

# A session that has rebuilt the catalog, for which a new session waits, calls the
# function itself. A fast shutdown ends all.
$new = session();
$reader->ask('BEGIN; REINDEX TABLE pg_sequence');
$new->send_blocked($watching, $counter);
is($reader->ask($use_up), 4100000, 'the session that locked the catalog is not blocked');
$node->stop('fast');
ok(!-e $node->data_dir . '/postmaster.pid', 'a fast shutdown ends');
done_testing();
