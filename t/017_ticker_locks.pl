# Sessions that wait for locks while they renew a ticker's high-water mark: for the
# sequence, which another transaction replaces meanwhile, or for the catalog
# pg_sequence. No session waits for such a session without end, and no value is
# repeated.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('locks');
$node->init;
$node->append_conf('postgresql.conf', q{
idgen.node_id = 7
idgen.launch_id = 42
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION idgen');

# The counter of decimal_id(), as a line of its own
my $counter = 'SELECT (idgen.decimal_id_parts(idgen.decimal_id())).counter';

# more than are reserved at a time
my $use_up = 'SELECT count(idgen.decimal_id()) FROM generate_series(1, 4100000)';

sub ask { return $node->safe_psql('postgres', @_) }

sub session { return $node->background_psql('postgres', on_error_stop => 0) }

# Wait for a condition, without a new session, which might wait for the catalog
my $watching;

sub wait_until
{
	my ($condition) = @_;
	my $attempts = 100 * $PostgreSQL::Test::Utils::timeout_default;

	while ($attempts-- > 0)
	{
		return 1 if $watching->query_safe("SELECT $condition") eq 't';
		usleep(10_000);
	}
	return 0;
}

# Start a statement that has to wait for a lock; return when it waits.
sub start_waiting
{
	my ($session, $statement) = @_;
	my $pid = $session->query_safe('SELECT pg_backend_pid()');

	$session->query_until(qr/begins/, "\\echo begins\n$statement;\n");
	wait_until("EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)")
	  or die "does not wait: $statement";
}

sub answer
{
	my ($session) = @_;
	my $rows = $session->query('\echo');

	$rows =~ s/\s+$//;
	return $rows;
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

	$replacing->query_safe("BEGIN; $replacements{$how}; CREATE SEQUENCE idgen.decimal_id_ticker");
	start_waiting($waiting, $counter);
	$replacing->query_safe('COMMIT');
	my $value = answer($waiting);
	is($waiting->{stderr}, '', "$how: the waiting session gets no error");
	cmp_ok($value || 0, '>', $last, "$how: its value is greater than all before");
	cmp_ok(ask('SELECT last_value FROM idgen.decimal_id_ticker'), '>', $value || 0, "$how: the new sequence has the high-water mark");
	$last = $value || $last;

	$node->stop('immediate');
	$_->{run}->finish for $replacing, $waiting, $watching;
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
my $ended_pid = $ended->query_safe('SELECT pg_backend_pid()');
$connected->query_safe($counter);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_sequence');
start_waiting($vacuum, 'VACUUM FULL pg_sequence');
start_waiting($new, $counter);
is($connected->query_safe($use_up), 4100000, 'a connected session does not wait for a new one that waits');
# the reader would be part of a deadlock if the new session held a lock
like($reader->query_safe($counter), qr/^\d+$/, 'nor does the session for which all others wait');

$impatient->query("SET statement_timeout = '100ms'; $counter");
like($impatient->{stderr}, qr/canceling statement due to statement timeout/, 'statement_timeout ends the wait of another new session');
start_waiting($ended, $counter);
$watching->query_safe("SELECT pg_terminate_backend($ended_pid)");
ok(wait_until("count(*) = 0 FROM pg_stat_activity WHERE pid = $ended_pid"),
	'a waiting session can be terminated');
$ended->{run}->finish;

$reader->query_safe('COMMIT');
like(answer($new), qr/^\d+$/, 'the new session continues');
answer($vacuum);
is($vacuum->{stderr}, '', 'VACUUM FULL ends');

# A session that has rebuilt the catalog, for which a new session waits, calls the
# function itself. A fast shutdown ends all.
$new->quit;
$new = session();
$reader->query_safe('BEGIN; REINDEX TABLE pg_sequence');
start_waiting($new, $counter);
$reader->query_until(qr/begins/, "\\echo begins\n$use_up;\n");
ok( wait_until(q{count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%4100000%'}),
	'the session that locked the catalog is not blocked');
$node->stop('fast');
ok(!-e $node->data_dir . '/postmaster.pid', 'a fast shutdown ends');
$_->{run}->finish for $reader, $connected, $vacuum, $new, $impatient, $watching;

done_testing();
