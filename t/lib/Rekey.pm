# Tables whose keys are changed by tools/rekey.sh, and an application that uses them.
#
#   $Rekey::node = start_server('rekey');
#   Rekey::create('shop', 'bigserial', 'bigint', 1000);    # database, type of the key and of references, rows

package Rekey;

use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use Server;

our @EXPORT = qw(succeeds fails ends);
our $node;
my $root = dirname(__FILE__) . '/../..';
my $folder = PostgreSQL::Test::Utils::tempdir();
my @loads;

# A command that goes on
sub start_command
{
	my ($database, @arguments) = @_;
	my $driver = { said => '' };
	local @ENV{qw(PGHOST PGPORT PGDATABASE PGOPTIONS)} = ($node->host, $node->port, $database, '');
	$driver->{harness} = IPC::Run::start([ "$root/tools/rekey.sh", @arguments ], '<', '/dev/null', '>&', \$driver->{said});

	return $driver;
}

# Has a command succeeded? And what has it said?
sub command
{
	my $driver = start_command(@_);
	my $succeeded = $driver->{harness}->finish;

	return ($succeeded, $driver->{said});
}

# Commands, each a name or a list
sub succeeds
{
	my ($database, @commands) = @_;

	for (map { ref ? $_ : [$_] } @commands)
	{
		my ($succeeded, $said) = command($database, @$_);
		ok($succeeded, "$database: $_->[0]") or diag("@$_: $said");
	}
}

sub fails
{
	my ($database, $message, $name, @command) = @_;
	my ($succeeded, $said) = command($database, @command);

	ok(!$succeeded && $said =~ $message, "$database: $name") or diag("@command: $said");
}

# "finish" or "abandon", which leave no object of the run and no invalid index
sub ends
{
	my ($database, $command) = @_;

	succeeds($database, $command);
	is(ask(q{SELECT relname FROM pg_class WHERE relname ~ '^rekey_\d' UNION ALL SELECT conname FROM pg_constraint WHERE conname ~ '^rekey_\d'
		UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ 'rekey' UNION ALL SELECT proname FROM pg_proc WHERE proname ~ '^keep_\d'
		UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid}, $database), '', "$database: $command leaves nothing");
}

# 27 rows of other tables refer to 10 parcels.
sub create
{
	my ($database, $key, $reference, $rows) = @_;

	add_database($database);
	install($database);
	ask(qq{
		CREATE SEQUENCE done;
		CREATE TABLE parcels (id $key PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), note text,
			replaces $reference REFERENCES parcels ON DELETE SET NULL);
		CREATE TABLE scans (id bigserial PRIMARY KEY, place text,
			parcel_id $reference NOT NULL REFERENCES parcels ON DELETE CASCADE ON UPDATE CASCADE CHECK (parcel_id IS NOT NULL));
		CREATE TABLE claims (id bigserial PRIMARY KEY, amount numeric, parcel_id $reference REFERENCES parcels ON DELETE SET NULL);
		CREATE TABLE pairs (parcel_id $reference NOT NULL REFERENCES parcels ON DELETE CASCADE,
			other_id $reference REFERENCES parcels ON DELETE CASCADE, label text, PRIMARY KEY (parcel_id, other_id), UNIQUE (label, parcel_id, other_id));
		CREATE INDEX "scans' index" ON scans (parcel_id DESC NULLS LAST, place COLLATE "C" text_pattern_ops) INCLUDE (id) WHERE place <> 'x%';
		CREATE INDEX ON parcels (created_at); CREATE INDEX ON claims (lower(amount::text), parcel_id); CREATE INDEX ON scans (parcel_id);
		CREATE INDEX ON claims (parcel_id); CREATE INDEX ON pairs (other_id); CREATE INDEX ON parcels (replaces);
		GRANT UPDATE (parcel_id) ON claims TO PUBLIC;
		INSERT INTO parcels (created_at) SELECT now() - i * interval '1 minute' FROM generate_series($rows, 1, -1) i;
		CREATE TEMP TABLE of AS SELECT id, row_number() OVER () AS n FROM parcels;
		UPDATE parcels SET replaces = (SELECT id FROM of WHERE n = 1) WHERE id IN (SELECT id FROM of WHERE n % 10 = 0);
		INSERT INTO scans (place, parcel_id) SELECT 'old', id FROM of;
		INSERT INTO claims (parcel_id) SELECT CASE WHEN n % 10 > 0 THEN id END FROM of;
		INSERT INTO pairs SELECT a.id, b.id, 'old' FROM of a JOIN of b ON b.n = $rows + 1 - a.n WHERE a.n % 10 < 7;
		VACUUM ANALYZE}, $database);
}

sub install { my ($database) = @_; return ask(slurp_file("$root/tools/rekey.sql"), $database) }

# What an application does, which knows the columns by the key's name: references to new
# and old parcels, upserts, changes and deletions
sub start
{
	my ($database, $name, $id, $protocol, $rows) = @_;
	my $suffix = $id =~ s/^id//r;
	my $file = "$folder/$database.$name.sql";

	append_to_file($file, qq{
\\set many random(1, 4)
\\set place random(0, $rows - 10)
SELECT nextval('done');
SELECT $id AS older FROM parcels WHERE created_at < now() - interval '1 minute' * (:place + 5) ORDER BY created_at DESC LIMIT 1 \\gset
BEGIN;
INSERT INTO parcels (note) VALUES ('$name') RETURNING $id AS parcel \\gset
INSERT INTO scans (place, parcel_$id) SELECT '$name', :parcel FROM generate_series(1, :many);
INSERT INTO claims (parcel_$id) VALUES (:parcel);
INSERT INTO pairs (parcel_$id, other_$id, label) VALUES (:parcel, :parcel, '$name') ON CONFLICT (parcel_$id, other_$id) DO NOTHING;
END;
\\if :many = 4
DELETE FROM parcels WHERE $id = :parcel;
\\else
BEGIN;
UPDATE parcels SET note = '$name', replaces$suffix = :older WHERE $id = :parcel;
INSERT INTO scans (place, parcel_$id) VALUES ('$name', :older);
UPDATE claims SET amount = 1 WHERE parcel_$id = :parcel;
UPDATE claims SET parcel_$id = :older WHERE parcel_$id = :parcel;
INSERT INTO pairs (parcel_$id, other_$id, label) VALUES (:parcel, :older, '$name') ON CONFLICT (parcel_$id, other_$id) DO UPDATE SET label = 'again';
UPDATE scans SET place = '$name' WHERE parcel_$id = :older;
END;
\\endif
});
	my $load = { out => '', name => "$database, $name application, $protocol" };
	$load->{harness} = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--client=3', '--jobs=1', "--protocol=$protocol", '--time=100000', '--rate=100',
			"--file=$file", $node->connstr($database) ],
		'>&', \$load->{out}, IPC::Run::timeout(4 * $PostgreSQL::Test::Utils::timeout_default));
	$load->{harness}->pump_nb;
	push @loads, $load;
	return $load;
}

# SIGALRM is the end of pgbench's time: each client finishes its transaction.
sub stop
{
	my ($load) = @_;
	$load->{harness}->signal('ALRM');
	my $ended = $load->{harness}->finish;

	ok($ended && $load->{out} =~ /number of failed transactions: 0 /, "$load->{name}: no transaction failed") or diag($load->{out});
	return $load->{out} =~ /actually processed: (\d+)/ ? $1 : 0;
}

# Wait until the applications have begun that many transactions more.
sub wait_for
{
	my ($database, $many) = @_;
	my $from = ask('SELECT last_value FROM done', $database);

	$node->poll_query_until($database, "SELECT last_value >= $from + $many FROM done")
	  or die join "\n", 'the applications make no progress', map { $_->{out} } @loads;
}

# Each reference has the two keys of one parcel, and each parcel has a key.
sub keys_are_equal
{
	my ($database) = @_;
	my $wrong = 'SELECT (SELECT count(*) FROM parcels WHERE id_new IS NULL)';

	for (qw(scans.parcel_id claims.parcel_id pairs.parcel_id pairs.other_id parcels.replaces))
	{
		my ($table, $column) = split /\./;
		$wrong .= " + (SELECT count(*) FROM $table c LEFT JOIN parcels p ON p.id_new = c.${column}_new
			WHERE (c.${column}_new, c.$column) IS DISTINCT FROM (p.id_new, p.id))";
	}
	is(ask($wrong, $database), 0, "$database: each reference has both keys of one parcel");
}

# The schema without that of the driver, whose columns are compared as a set: new ones are last
sub schema
{
	my ($database) = @_;
	my ($dump, $errors) = run_command([ 'pg_dump', '--schema-only', '--exclude-schema=rekey', $node->connstr($database) ]);

	return join "\n", sort map { s/,$//r } grep { !/restrict|^--|^$/ } split /\n/, $dump;
}

1;
