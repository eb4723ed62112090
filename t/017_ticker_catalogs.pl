# Verify that functions that use a ticker keep working while other sessions replace the ticker's sequence, lock the
# catalogs that a call reads, and send invalidations. The server does not crash, no session waits forever, and no value
# is repeated. (dev/test-assertions.sh tests lookups with empty caches.)

use Server;

my $node = start_server('catalogs', "idgen.node_id = 7\nidgen.launch_id = 42\nautovacuum = off");
my $started = ask('SELECT pg_postmaster_start_time()');
my $watching = session();
my $last = 0;

# Check that the value is greater than all previous values.
sub continues
{
	my ($value, $name) = @_;
	cmp_ok($value =~ /^\d+$/ ? $value : -1, '>', $last, $name) or diag($value);
	$last = $value;
}

my $call = 'SELECT idgen.snowflake()';
my $mark = 'idgen.snowflake_mark';

# --- The sequence is replaced while a session waits for its lock -------------
my %replacements = (
	renamed => "ALTER SEQUENCE $mark RENAME TO gone; CREATE SEQUENCE $mark",
	dropped => "ALTER EXTENSION idgen DROP SEQUENCE $mark; DROP SEQUENCE $mark; CREATE SEQUENCE $mark",
	altered => "ALTER SEQUENCE $mark RESTART", granted => "GRANT SELECT ON $mark TO PUBLIC; LOCK TABLE pg_class");
for my $how (sort keys %replacements)
{
	my ($replacing, $waiting) = (session(), session());
	$replacing->ask("BEGIN; $replacements{$how}; SELECT 1");
	$waiting->send_blocked($watching, $call) if $how ne 'granted';
	$waiting->send($call) if $how eq 'granted';
	$replacing->ask('COMMIT');
	continues($waiting->answer, "$how: the waiting session continues");
	is(ask("SELECT to_timestamp(last_value >> 28) > clock_timestamp() FROM $mark"), 't',
		"$how: the sequence has a mark");
	$_->quit for $replacing, $waiting;
}

# decimal_id() also takes its number from the new sequence.
my ($replacing, $waiting) = (session(), session());
$replacing->ask('BEGIN; ALTER SEQUENCE idgen.decimal_id_counter RENAME TO gone_counter;
	CREATE SEQUENCE idgen.decimal_id_counter START 1000');
$waiting->send_blocked($watching, 'SELECT counter FROM idgen.decimal_id_parts(idgen.decimal_id())');
$replacing->ask('COMMIT');
is($waiting->answer, '1000', 'decimal_id() does not continue with a sequence that was renamed');
$_->quit for $replacing, $waiting;

# --- Invalidations arrive inside the call ----------------------------------------
# The caller must read a catalog row that has changed. It waits for another session, which has locked the catalog, as
# VACUUM FULL does.
my ($app, $admin, $migration) = map { session() } 1 .. 3;
my $superuser = ask('SELECT rolname FROM pg_roles WHERE oid = 10');
ask('CREATE ROLE app');
$app->ask("SET ROLE app; PREPARE call AS $call");
for my $function ('snowflake', 'trace_id', 'js_id', 'uuid_v7_ordered')
{
	my $on = "idgen.${function}_mark";
	$app->ask("SELECT idgen.$function()");
	$admin->ask("GRANT SELECT ON $on TO app; REVOKE SELECT ON $on FROM app;
		ALTER ROLE $superuser VALID UNTIL 'infinity'");
	$admin->ask('BEGIN; LOCK TABLE pg_authid');
	$app->send_blocked($admin, "SELECT idgen.$function() IS NOT NULL");
	$admin->ask("GRANT SELECT ON $on TO app; COMMIT");
	is($app->answer, 't', "$function: a GRANT during the look-up of a role");
}

# The queue of invalidation messages overflows. The session therefore loses messages and resets all its caches.
$migration->ask(q{BEGIN; DO $$ BEGIN FOR i IN 1 .. 4000 LOOP
	EXECUTE format('CREATE FUNCTION f_%s() RETURNS int LANGUAGE sql AS ''SELECT 1''', i); END LOOP; END $$});
continues($app->ask('EXECUTE call'), 'a session that has used the function');
$admin->ask($_) for "ALTER SEQUENCE $mark CACHE 1", 'VACUUM FULL pg_class', 'BEGIN; LOCK TABLE pg_class';
$app->send('EXECUTE call');
$admin->poll(q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'pg_class'::regclass});
is($migration->ask('COMMIT'), '', 'a migration ends meanwhile');
$admin->ask('COMMIT');
continues($app->answer, 'the session continues');
$_->quit for $app, $admin, $migration;

# --- The catalog is locked -----------------------------------------------------
# A session reads pg_sequence, as pg_dump does, and VACUUM FULL waits for that session. A new session has to wait for
# both of them when it looks up the sequence. Sessions that are already connected continue, although they also use the
# sequence.
my ($reader, $connected, $vacuum, $new, $impatient, $ended) = map { session() } 1 .. 6;
continues($connected->ask($call), 'a session');
$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_sequence');
$vacuum->send_blocked($watching, 'VACUUM FULL pg_sequence');
$new->send_blocked($watching, $call);
continues($connected->ask('SELECT max(idgen.snowflake()) FROM generate_series(1, 12 * 1000 * 4096)'),
	'it renews the mark');
# The reader would be part of a deadlock if the new session held a lock.
continues($reader->ask($call), 'as does the session for which all others wait');

is($impatient->ask_within(q{statement_timeout = '100ms'}, $call), '57014',
	'statement_timeout ends the wait of another one');
$ended->send_blocked($watching, $call);
$watching->ask("SELECT pg_terminate_backend($ended->{pid})");
is($ended->wait, '57P01', 'a waiting session can be terminated');

$reader->ask('COMMIT');
continues($new->answer, 'the new session continues');
is($vacuum->answer, '', 'VACUUM FULL ends');

# --- Another schema replaces idgen, and is rolled back ------------------------
my $swapping = session();
ask(q{CREATE SCHEMA spare; CREATE SEQUENCE spare.snowflake_mark;
	SELECT setval('spare.snowflake_mark', (extract(epoch FROM now())::bigint + 3600) << 28)});
$swapping->ask($_) for 'BEGIN', 'ALTER SCHEMA idgen RENAME TO away', 'ALTER SCHEMA spare RENAME TO idgen';
continues($swapping->ask('SELECT away.snowflake()'), 'the sequence of another schema, an hour ahead');
$swapping->ask('ROLLBACK');
continues($swapping->ask($call), 'and after the rollback');

is(ask('SELECT pg_postmaster_start_time()'), $started, 'the server did not restart');
unlike(slurp_file($node->logfile), qr/PANIC|was terminated by signal/, 'no session crashed');
$node->stop('immediate');
$node->start;
continues(ask($call), 'after a crash, the values are greater than all before');
done_testing();
