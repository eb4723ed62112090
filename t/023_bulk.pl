# Verify create_once() with a very large number of commands in one statement and in one transaction. Its saved plans
# must suit a table that grows, and no call may leak memory.

use Page;
use Server;

start_server('bulk', "autovacuum = off\nlog_statement = none\nshared_buffers = 32MB");

# Check the plans. According to its statistics, the table has one row, for which a sequential scan is the least
# expensive plan. With such a plan, each of the last calls would read 50,000 rows.
my $scans = q{FROM pg_stat_xact_user_tables WHERE relid = 'idgen.creation_identifiers'::regclass};
is(ask(qq{
	SELECT FROM idgen.create_once_bigint(idgen.uuid_v4(), 0, 'order');
	VACUUM ANALYZE idgen.creation_identifiers;
	CREATE TABLE command (n int PRIMARY KEY, id uuid);
	BEGIN;
	INSERT INTO command SELECT i, idgen.uuid_v7() FROM generate_series(1, 50000) i;
	SELECT seq_scan AS before $scans \\gset
	SELECT 'created', count(*) FROM command, idgen.create_once_bigint(id, n, 'order') o WHERE o.created;
	SELECT 'again', count(*) FROM command, idgen.create_once_bigint(id, 0, 'order')
		WHERE entity_number = n AND NOT created;
	SELECT 'forgotten', count(*) FILTER (WHERE idgen.forget_creation(id)) FROM command WHERE n <= 1000;
	SELECT 'by entity', sum(idgen.forget_creation_of_bigint(n, 'order')) FROM command WHERE n BETWEEN 1001 AND 2000;
	SELECT 'of an earlier transaction', idgen.purge_creations('0', batch_size => 1000);
	SELECT 'scans', seq_scan - :before $scans;
	SELECT 'left', count(*) FROM idgen.creation_identifiers;
	COMMIT}),
	join("\n", 'created|50000', 'again|50000', 'forgotten|1000', 'by entity|1000', 'of an earlier transaction|1',
	'scans|0', 'left|48000'),
	'50000 commands of one transaction, whose table is never scanned sequentially');

# Check the memory. One statement samples the total size of the backend's memory contexts several times. The first
# samples are ignored, because the session fills its caches during these calls.
ask(q{
	CREATE SEQUENCE numbers;
	CREATE FUNCTION memory() RETURNS bigint LANGUAGE plpgsql VOLATILE
		AS 'BEGIN RETURN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts); END'});

sub growth
{
	my ($call, $count, $setup) = @_;
	return ask(($setup || '') . qq{
		SET work_mem = '64kB';
		SELECT max(bytes) FILTER (WHERE i > $count / 2) - min(bytes) FILTER (WHERE i > $count / 5)
		FROM (SELECT i, ($call) IS NULL AS no_answer,
				CASE WHEN i % ($count / 20) = 0 THEN memory() END AS bytes
			  FROM (SELECT generate_series(1, $count) AS i) s
			  OFFSET 0) t
		WHERE NOT no_answer});
}

# The limit is less than one byte per call. The next check verifies that the measurement works.
my $flat = 16 * 1024;
cmp_ok(growth('pg_try_advisory_lock(i)', 4000), '>', $flat, 'four thousand session locks count as growth');

sub check_flat { my ($name, @calls) = @_; my $bytes = growth(@calls); ok(length $bytes && $bytes < $flat,
	$name) or diag("growth is $bytes bytes") }

check_flat("300000 calls leave no memory behind: $_", $_, 300000) for
	(map { "idgen.$_()" } qw(uuid_v4 uuid_v7 comb short_comb lambert_comb suffix_comb)),
	q{idgen.short_comb(period => make_interval(secs => i % 20 + 1), run_length => 100)},
	'idgen.check_recent_short_comb(idgen.short_comb())', 'idgen.is_recent_comb(idgen.comb())',
	'idgen.object_id_timestamp(idgen.object_id())', q{idgen.sequence_comb('numbers')},
	'idgen.uuid_timestamp(idgen.uuid_v7())', 'idgen.uuid_from_base(idgen.uuid_to_base(idgen.uuid_v7(), 58), 58)',
	q{idgen.prefixed_id_to_uuid(idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()), 'acct')},
	q{idgen.is_prefixed_id(idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()), 'acct')
		AND NOT idgen.is_prefixed_id(repeat('!', 30), 'acct')},
	q{idgen.remember_command(array_fill(idgen.uuid_v4(), ARRAY[20]), idgen.uuid_v4())};
my $replay = q{idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000a', 1, 'order',
	jsonb_build_object('n', 1, 'lines', '[1, 2.50]'::jsonb))};
check_flat('30000 answers leave no memory behind', $replay, 30000, "SELECT FROM $replay;");
check_flat('30000 records leave no memory behind', q{idgen.create_once_bigint(idgen.uuid_v7(), i, 'order', '[1]')},
	30000);

check_flat('4000 statements that a rule removes leave no plans behind', 'idgen.forget_creation(idgen.uuid_v4())', 4000,
	'BEGIN; CREATE RULE kept AS ON DELETE TO idgen.creation_identifiers DO INSTEAD NOTHING;');

# Deleting more commands in one call must not take more memory. A trigger samples the memory after each DELETE that a
# call executes.
ask(q{
	CREATE TABLE sample (n serial, bytes bigint);
	CREATE FUNCTION take_sample() RETURNS trigger LANGUAGE plpgsql
		AS 'BEGIN INSERT INTO sample (bytes) VALUES (memory()); RETURN NULL; END';
	CREATE TRIGGER take_sample AFTER DELETE ON idgen.creation_identifiers EXECUTE FUNCTION take_sample()});
for my $call (q{purge_creations('0', batch_size => 1000000)}, 'trim_creations(0, batch_size => 1000000)')
{
	my ($forgotten, $samples, $growth) = split /\||\n/, ask(qq{
		TRUNCATE idgen.creation_identifiers;
		TRUNCATE sample RESTART IDENTITY;
		INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number)
			SELECT idgen.uuid_v4(), 'order', i FROM generate_series(1, 50000) i;
		SET work_mem = '64kB';
		SELECT idgen.$call;
		SELECT count(*), max(bytes) FILTER (WHERE n > 25) - max(bytes) FILTER (WHERE n <= 25) FROM sample});

	is($forgotten, '50000', "$call deletes all commands");
	cmp_ok($samples, '>=', 50, 'in batches');
	cmp_ok($growth, '<', $flat, 'without a memory leak');
}

# A purge by name also reads the commands that have other names, unless the index shown on the page exists.
my ($index) = Page->new('reference')->blocks('forget_creation, purge_creations, trim_creations');
for my $expected ("0\n5000", "0\n0")
{
	for my $call (q{purge_creations('0', 'import')}, q{trim_creations(0, 'import')})
	{
		my $read = ask(qq{TRUNCATE idgen.creation_identifiers; BEGIN;
			INSERT INTO idgen.creation_identifiers (command_id, command_name, entity_number, created_at)
				SELECT idgen.uuid_v4(), 'order', i, '2026-01-01' FROM generate_series(1, 5000) i;
			SELECT idgen.$call;
			SELECT idx_tup_fetch $scans; ROLLBACK});
		is($read, $expected, "$call: how many commands are read");
	}
	ask($index) if $expected =~ /5000/;
}
done_testing();
