# tools/rekey.sh changes the keys of five tables while an old application, a new one, and
# both use them: no transaction fails, and each reference has the two keys of one row.
# IDGEN_REKEY_ROWS=1000000 for the rows of the parent and of two referring tables.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use Rekey;
use Server;

my $node = start_server('rekey', "idgen.node_id = 1\nmax_connections = 60\nlog_statement = none");
my $rows = $ENV{IDGEN_REKEY_ROWS} // 20_000;

sub step { my ($database, @arguments) = @_; return Rekey::command_is($node, $database, undef, "$database: $arguments[0]", @arguments) }

sub references
{
	my ($database) = @_;
	return $node->safe_psql($database, q{
		SELECT string_agg(conrelid::regclass || ' ' || pg_get_constraintdef(oid), '; ' ORDER BY conrelid::regclass::text, conname)
		FROM pg_constraint WHERE contype IN ('p', 'f') AND (conrelid = 'parcels'::regclass OR confrelid = 'parcels'::regclass)});
}

# The way from "plan" to "switch"; returns both applications, which are running.
sub change
{
	my ($database, $key, $reference, $protocol, @plan) = @_;
	Rekey::create($node, $database, $key, $reference, $rows);
	my $before = Rekey::schema($node, $database);
	my $constraints = references($database);
	my $old = Rekey::start($node, $database, 'old', 'id', $protocol, $rows);

	Rekey::wait_for($node, $database, 50);
	step($database, 'plan', 'parcels', @plan);
	step($database, 'run');
	is(Rekey::mismatches($node, $database), 0, "$database: each reference has both keys of one parcel");
	my $new = Rekey::start($node, $database, 'new', 'id_new', $protocol, $rows);
	Rekey::wait_for($node, $database, 100);
	Rekey::command_is($node, $database, qr/not verified/, "$database: no switch before verify", 'switch');
	step($database, 'verify');
	step($database, 'switch');
	Rekey::wait_for($node, $database, 100);
	like(references($database), qr/parcels PRIMARY KEY \(id_new\)/, "$database: the primary key is the new one");
	is(Rekey::mismatches($node, $database), 0, "$database: also of what both applications have written");
	return ($old, $new, $before, $constraints);
}

# --- bigserial to uuid, to the end ------------------------------------------
{
	my ($old, $new, $before, $constraints) = change('serial_to_uuid', 'bigserial', 'bigint', 'prepared',
		'--type', 'uuid', '--value', 'idgen.uuid_v7(created_at)', '--default', 'idgen.uuid_v7()');
	my $done = Rekey::stop($old);

	is($node->safe_psql('serial_to_uuid', q{SELECT bool_and(idgen.uuid_timestamp(id_new) = date_trunc('milliseconds', created_at)) FROM parcels WHERE note IS NULL}),
		't', 'old rows have keys of their times');
	step('serial_to_uuid', 'finish');
	Rekey::wait_for($node, 'serial_to_uuid', 50);
	$done += Rekey::stop($new);
	note("$done transactions");
	is(references('serial_to_uuid'), $constraints =~ s/\((\w*(?:id|replaces))\)/($1_new)/gr, 'the constraints are those of the new columns, with their actions');
	is(Rekey::leftovers($node, 'serial_to_uuid'), '', 'nothing of the run is left');
}

# --- Random uuids, and back --------------------------------------------------
{
	my ($old, $new, $before, $constraints) = change('uuid_and_back', 'uuid DEFAULT gen_random_uuid()', 'uuid', 'extended',
		'--type', 'uuid', '--value', 'idgen.short_comb()', '--default', 'idgen.short_comb()');

	Rekey::stop($new);
	step('uuid_and_back', 'back');
	is(references('uuid_and_back') =~ s/ NOT VALID//gr, $constraints, 'after back, the constraints are the old ones');
	step('uuid_and_back', 'run');
	is(Rekey::mismatches($node, 'uuid_and_back'), 0, 'a second run completes the new keys again');
	step('uuid_and_back', 'abandon');
	Rekey::wait_for($node, 'uuid_and_back', 50);
	Rekey::stop($old);
	is(Rekey::schema($node, 'uuid_and_back'), $before, 'after abandon, the schema is as before');
	is(Rekey::leftovers($node, 'uuid_and_back'), '', 'nothing of the run is left');
}

# --- int to bigint, with keys beyond the old type ----------------------------
{
	my ($old, $new, $before) = change('int_to_bigint', 'int GENERATED ALWAYS AS IDENTITY', 'int', 'simple', '--type', 'bigint');
	my $ask = sub { return $node->safe_psql('int_to_bigint', $_[0]) };

	Rekey::stop($new);
	step('int_to_bigint', $_) for qw(back run verify switch);
	step('int_to_bigint', 'rename');
	Rekey::wait_for($node, 'int_to_bigint', 50);
	Rekey::stop($old);
	$ask->(q{SELECT setval('parcels_id_seq', 2147483646)});
	is($ask->(q{INSERT INTO parcels DEFAULT VALUES; INSERT INTO parcels DEFAULT VALUES;
				INSERT INTO scans (parcel_id) SELECT id FROM parcels WHERE id > 2147483646;
				SELECT p.id, p.id_new, s.parcel_id, s.parcel_id_new FROM parcels p JOIN scans s ON s.parcel_id = p.id WHERE p.id > 2147483646 ORDER BY 1}),
		"2147483647|2147483647|2147483647|2147483647\n2147483648||2147483648|", 'one sequence; beyond the old type, the old columns are NULL');
	step('int_to_bigint', 'back');
	Rekey::command_is($node, 'int_to_bigint', qr/keys beyond the old type/, 'then there is no way back', 'back');
	step('int_to_bigint', 'verify');
	step('int_to_bigint', 'rename');
	step('int_to_bigint', 'finish');
	is(Rekey::schema($node, 'int_to_bigint') =~ s/\b(id|parcel_id|other_id|replaces) bigint\b/$1 integer/gr,
		$before =~ s/\b(id|parcel_id|other_id|replaces) bigint\b/$1 integer/gr, 'the schema is as before, but for the type');
	is(Rekey::leftovers($node, 'int_to_bigint'), '', 'nothing of the run is left');
}

done_testing();
