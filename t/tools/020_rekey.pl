# tools/rekey.sh changes the keys of five tables while an old application, a new one, and
# both use them: no transaction fails, and each reference has the two keys of one row.
# Databases and tables belong to a role that is no superuser.
# IDGEN_REKEY_ROWS=20000 for the rows of the parent and of two referring tables: 270,000, 1 million in four tables.

use Rekey;
use Server;

my $node = $Rekey::node = start_server('rekey', "max_connections = 60\nlog_statement = none\nwal_level = replica\nmax_wal_size = 4GB");
my $rows = $ENV{IDGEN_REKEY_ROWS} // 270_000;

ask('CREATE ROLE owner LOGIN CREATEDB');
$ENV{PGUSER} = 'owner';

sub references
{
	return ask(q{SELECT string_agg(conrelid::regclass || ' ' || pg_get_constraintdef(oid), '; ' ORDER BY conrelid::regclass::text, conname)
		FROM pg_constraint WHERE contype IN ('p', 'f') AND (conrelid = 'parcels'::regclass OR confrelid = 'parcels'::regclass)}, $_[0]);
}

# WAL, heap and indexes in bytes, rows
sub sizes
{
	return split /\|/, ask(q{SELECT pg_current_wal_lsn() - '0/0', sum(pg_relation_size(oid)), sum(pg_indexes_size(oid)),
		sum(reltuples) FROM pg_class WHERE relname IN ('parcels', 'scans', 'claims', 'pairs')}, $_[0]);
}

# The way from "plan" to "switch"; returns both applications, which are running, the schema and the constraints before.
sub change
{
	my ($database, $key, $reference, $protocol, @plan) = @_;
	Rekey::create($database, $key, $reference, $rows);
	my @was = (Rekey::schema($database), references($database));
	my $old = Rekey::start($database, 'old', 'id', $protocol, $rows);

	Rekey::wait_for($database, 50);
	succeeds($database, [ 'plan', 'parcels', @plan ]);
	my @before = (time, sizes($database));
	succeeds($database, 'run');
	my @after = (time, sizes($database));
	note(sprintf '%s: %d s, %d bytes of WAL a row, heap %d to %d MB, indexes %d to %d MB', $database, $after[0] - $before[0],
		($after[1] - $before[1]) / $before[4], map { $_ / 2**20 } $before[2], $after[2], $before[3], $after[3]);
	Rekey::keys_are_equal($database);
	my $new = Rekey::start($database, 'new', 'id_new', $protocol, $rows);
	Rekey::wait_for($database, 100);
	fails($database, qr/not verified/, 'no switch before verify', 'switch');
	succeeds($database, qw(verify switch));
	Rekey::wait_for($database, 100);
	like(references($database), qr/parcels PRIMARY KEY \(id_new\)/, "$database: the primary key is the new one");
	Rekey::keys_are_equal($database);    # also what both applications have written
	return ($old, $new, @was);
}

# --- bigserial to uuid, to the end ------------------------------------------
{
	my ($old, $new, $schema, $constraints) = change('serial_to_uuid', 'bigserial', 'bigint', 'prepared',
		'--type', 'uuid', '--value', 'idgen.uuid_v7(created_at)', '--default', 'idgen.uuid_v7()');
	my $done = Rekey::stop($old);

	is(ask(q{SELECT bool_and(idgen.uuid_timestamp(id_new) = date_trunc('milliseconds', created_at)) FROM parcels WHERE note IS NULL},
			'serial_to_uuid'), 't', 'old rows have keys of their times');
	ends('serial_to_uuid', 'finish');
	Rekey::wait_for('serial_to_uuid', 50);
	$done += Rekey::stop($new);
	note("$done transactions");
	is(references('serial_to_uuid'), $constraints =~ s/\((\w*(?:id|replaces))\)/($1_new)/gr,
		'the constraints are those of the new columns, with their actions');
}

# --- Random uuids to keyed ones, and back --------------------------------------------------
{
	my ($old, $new, $schema, $constraints) = change('uuid_and_back', 'uuid DEFAULT gen_random_uuid()', 'uuid', 'extended',
		'--type', 'uuid', '--value', 'idgen.keyed_comb(clock => created_at)', '--default', 'idgen.keyed_comb()');

	Rekey::stop($new);
	succeeds('uuid_and_back', 'back');
	is(references('uuid_and_back') =~ s/ NOT VALID//gr, $constraints, 'after back, the constraints are the old ones');
	succeeds('uuid_and_back', 'run');
	Rekey::keys_are_equal('uuid_and_back');    # a second run completes the new keys again
	ends('uuid_and_back', 'abandon');
	Rekey::wait_for('uuid_and_back', 50);
	Rekey::stop($old);
	is(Rekey::schema('uuid_and_back'), $schema, 'after abandon, the schema is as before');
}

# --- int to bigint, with keys beyond the old type ----------------------------
{
	my ($old, $new, $schema) = change('int_to_bigint', 'int GENERATED ALWAYS AS IDENTITY', 'int', 'simple', '--type', 'bigint');
	my $ask = sub { return ask($_[0], 'int_to_bigint') };

	Rekey::stop($new);
	succeeds('int_to_bigint', qw(back run verify switch));
	# the sessions of the old application have plans of this function, by the types before
	$ask->(q{CREATE TABLE moves (claim bigint, parcel bigint); CREATE FUNCTION note_move() RETURNS trigger
		LANGUAGE plpgsql AS 'BEGIN INSERT INTO moves VALUES (NEW.id, NEW.parcel_id); RETURN NEW; END';
		CREATE TRIGGER moved AFTER UPDATE OF parcel_id ON claims FOR EACH ROW EXECUTE FUNCTION note_move()});
	$node->poll_query_until('int_to_bigint', 'SELECT count(*) > 10 FROM moves') or die;
	succeeds('int_to_bigint', 'rename');
	my $moves = $ask->('SELECT count(*) FROM moves');
	$node->poll_query_until('int_to_bigint', "SELECT count(*) > $moves + 10 FROM moves") or die;
	Rekey::stop($old);
	$ask->(q{SELECT setval('parcels_id_seq', 2147483646)});
	is($ask->(q{INSERT INTO parcels DEFAULT VALUES; INSERT INTO parcels DEFAULT VALUES;
				INSERT INTO scans (parcel_id) SELECT id FROM parcels WHERE id > 2147483646;
				UPDATE claims SET parcel_id = 2147483648 WHERE id = 1; DELETE FROM moves WHERE claim > 1 OR parcel < 2147483648;
				SELECT p.id, p.id_new, s.parcel_id, s.parcel_id_new FROM parcels p JOIN scans s ON s.parcel_id = p.id WHERE p.id > 2147483646 ORDER BY 1}),
		"2147483647|2147483647|2147483647|2147483647\n2147483648||2147483648|", 'one sequence; beyond the old type, the old columns are NULL');
	is($ask->('SELECT * FROM moves; DROP TABLE moves; DROP FUNCTION note_move CASCADE'), '1|2147483648', 'the trigger has the new type');
	succeeds('int_to_bigint', 'back');
	fails('int_to_bigint', qr/keys beyond the old type/, 'then there is no way back', 'back');
	succeeds('int_to_bigint', 'verify');
	$ask->('DELETE FROM parcels WHERE id_new = 2147483648');
	fails('int_to_bigint', qr/last value of the sequence is beyond the old type.*setval/s, 'nor if only the sequence is beyond', 'back');
	succeeds('int_to_bigint', 'rename');
	ends('int_to_bigint', 'finish');
	# from version 18 on, the new columns have NOT NULL constraints of their own names
	is(Rekey::schema('int_to_bigint') =~ s/\b(id|parcel_id|other_id|replaces) bigint\b/$1 integer/gr =~ s/CONSTRAINT \w+_new_not_null //gr,
		$schema =~ s/\b(id|parcel_id|other_id|replaces) bigint\b/$1 integer/gr, 'the schema is as before, but for the type');
}

done_testing();
