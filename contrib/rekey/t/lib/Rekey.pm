# Tables whose keys are changed by rekey.sh, an application that uses them, and its witnesses: each row
# has its key or reference as text, too, in a column that rekey does not know.
#
#   $Rekey::node = start_server('rekey');
#   Rekey::create('shop', 'serial', 'int', 1000);    # database, type of the key and of references, rows

package Rekey;

use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use Server;

our @EXPORT = qw(succeeds fails ends);
our $node;
our $root = dirname(__FILE__) . '/../..';
my $folder = PostgreSQL::Test::Utils::tempdir();
my @loads;

# A command that has not ended yet
sub start_command
{
	my ($database, @arguments) = @_;
	my $driver = { said => '' };
	local @ENV{qw(PGHOST PGPORT PGDATABASE PGOPTIONS)} = ($node->host, $node->port, $database, '');
	$driver->{harness} = IPC::Run::start([ "$root/rekey.sh", @arguments ], '<', '/dev/null', '>&', \$driver->{said});
	return $driver;
}

# Has a command succeeded? And what has it said?
sub command
{
	my $driver = start_command(@_);
	return ($driver->{harness}->finish, $driver->{said});
}

# Commands, each a name or a list
sub succeeds
{
	my ($database, @commands) = @_;
	for (map { ref ? $_ : [$_] } @commands)
	{
		my ($succeeded, $said) = command($database, @$_);
		ok($succeeded, "$database: $_->[0]") or diag("@$_: $said");
		note($1) while $said =~ /(.*waiting.*|.*locked for \d{3,}.*)/g;
	}
}

sub fails
{
	my ($database, $message, $name, @command) = @_;
	my ($succeeded, $said) = command($database, @command);
	ok(!$succeeded && $said =~ $message, "$database: $name") or diag("@command: $said");
}

# "finish" or "abandon", which leave nothing
sub ends
{
	my ($database, $command) = @_;
	succeeds($database, $command);
	is(ask(q{SELECT relname FROM pg_class WHERE relname ~ '_rekey$' UNION ALL SELECT conname FROM pg_constraint
		WHERE conname ~ '_rekey'
		UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ 'rekey' UNION ALL SELECT proname FROM pg_proc
			WHERE proname ~ '^~rekey'
		UNION ALL SELECT attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
			WHERE attname ~ 'rekey' AND relkind = 'r' AND NOT attisdropped UNION ALL SELECT col FROM rekey.columns
		UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid}, $database), '',
			"$database: $command leaves nothing");
}

sub install { my ($database) = @_; return ask(slurp_file("$root/rekey.sql"), $database) }

sub new_database
{
	my ($database, $sql) = @_;
	ask("CREATE DATABASE $database");
	install($database);
	ask($sql, $database);
	return $database;
}

# 27 rows of other tables refer to 10 parcels; "log" refers without a foreign key.
sub create
{
	my ($database, $key, $reference, $rows) = @_;
	new_database($database, qq{
		CREATE SEQUENCE done;
		CREATE TABLE parcels (id $key PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), note text,
			replaces $reference CONSTRAINT replaced REFERENCES parcels ON DELETE SET NULL, w text, w_replaces text);
		CREATE TABLE scans (id bigserial PRIMARY KEY, place text, w text, parcel_id $reference NOT NULL
			REFERENCES parcels ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE CHECK (parcel_id IS NOT NULL));
		CREATE TABLE claims (id bigserial PRIMARY KEY, amount numeric, w text,
			parcel_id $reference REFERENCES parcels ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
		CREATE TABLE pairs (parcel_id $reference NOT NULL REFERENCES parcels ON DELETE CASCADE,
			other_id $reference REFERENCES parcels ON DELETE CASCADE, label text, w text,
			PRIMARY KEY (parcel_id, other_id), UNIQUE (label, parcel_id, other_id));
		CREATE TABLE log (parcel_id $reference, other_id $reference, w text);
		ALTER TABLE log ADD FOREIGN KEY (parcel_id, other_id) REFERENCES pairs ON DELETE CASCADE;
		CREATE INDEX "scans' index" ON scans (parcel_id DESC NULLS LAST, place COLLATE "C" text_pattern_ops) INCLUDE (id) WHERE place <> 'x%';
		CREATE INDEX ON claims (lower(amount::text), parcel_id); CREATE INDEX ON scans (parcel_id);
			CREATE INDEX ON parcels (created_at);
		CREATE INDEX ON claims (parcel_id); CREATE INDEX ON pairs (other_id); CREATE INDEX ON parcels (replaces);
		CREATE INDEX ON claims ((parcel_id::text)); CREATE INDEX ON log (parcel_id, other_id);
		GRANT UPDATE (parcel_id) ON claims TO PUBLIC; COMMENT ON COLUMN pairs.other_id IS 'other';
		INSERT INTO parcels (created_at) SELECT now() - i * interval '1 minute' FROM generate_series($rows, 1, -1) i;
		CREATE TEMP TABLE of AS SELECT id, row_number() OVER () AS n FROM parcels;
		UPDATE parcels p SET w = p.id, replaces = r.id, w_replaces = r.id FROM (SELECT id FROM of WHERE n = 1) r
			WHERE p.id IN (SELECT id FROM of WHERE n % 10 = 0);
		UPDATE parcels SET w = id WHERE w IS NULL;
		INSERT INTO scans (place, parcel_id, w) SELECT 'old', id, id FROM of;
		INSERT INTO claims (parcel_id, w) SELECT id, id FROM (SELECT CASE WHEN n % 10 > 0 THEN id END AS id FROM of) o;
		INSERT INTO pairs SELECT a.id, b.id, 'old', concat(a.id, b.id) FROM of a JOIN of b ON b.n = $rows + 1 - a.n
			WHERE a.n % 10 < 7;
		INSERT INTO log SELECT parcel_id, other_id, w FROM pairs LIMIT $rows / 10;
		VACUUM ANALYZE});
}

# Rows whose key or reference is not that of its witness
sub wrong
{
	my ($database) = @_;
	return ask(q{SELECT (SELECT count(*) FROM parcels WHERE (id::text, replaces::text) IS DISTINCT FROM (w, w_replaces))
		+ (SELECT count(*) FROM scans WHERE parcel_id::text IS DISTINCT FROM w) + (SELECT count(*) FROM claims
			WHERE parcel_id::text IS DISTINCT FROM w)
		+ (SELECT count(*) FROM pairs WHERE concat(parcel_id, other_id) <> w) + (SELECT count(*) FROM log
			WHERE concat(parcel_id, other_id) <> w)}, $database);
}

# What the application does: references to new and old parcels, upserts, changes and deletions
sub start
{
	my ($database, $protocol, $rows) = @_;
	my $file = "$folder/$database.sql";
	my $load = { out => '', name => "$database, $protocol" };

	append_to_file($file, qq{
\\set many random(1, 4)
\\set place random(0, $rows - 10)
SELECT nextval('done');
SELECT id AS older FROM parcels
	WHERE created_at < now() - interval '1 minute' * (:place + 5) ORDER BY created_at DESC LIMIT 1 \\gset
BEGIN;
INSERT INTO parcels (note) VALUES ('new') RETURNING id AS parcel \\gset
UPDATE parcels SET w = id WHERE id = :parcel;
INSERT INTO scans (parcel_id) SELECT id FROM parcels, generate_series(1, :many) WHERE id = :parcel;
UPDATE scans SET w = parcel_id WHERE parcel_id = :parcel;
INSERT INTO claims (parcel_id, w) SELECT id, id FROM parcels WHERE id = :parcel;
INSERT INTO pairs (parcel_id, other_id, label) VALUES (:parcel, :parcel, 'new') ON CONFLICT (parcel_id,
	other_id) DO NOTHING;
UPDATE pairs SET w = concat(parcel_id, other_id) WHERE parcel_id = :parcel;
INSERT INTO log (parcel_id, other_id, w) SELECT parcel_id, other_id, w FROM pairs WHERE parcel_id = :parcel;
END;
\\if :many = 4
BEGIN;
UPDATE claims SET w = NULL WHERE parcel_id = :parcel;
DELETE FROM parcels WHERE id = :parcel;
END;
\\else
BEGIN;
UPDATE parcels SET note = 'replaces', replaces = :older, w_replaces = (SELECT id FROM parcels WHERE id = :older)
	WHERE id = :parcel;
UPDATE claims SET parcel_id = :older, w = (SELECT id FROM parcels WHERE id = :older) WHERE parcel_id = :parcel;
INSERT INTO pairs (parcel_id, other_id, label) VALUES (:parcel, :parcel, 'new') ON CONFLICT (parcel_id,
	other_id) DO UPDATE SET label = 'again';
UPDATE scans SET place = 'again' WHERE parcel_id = :older;
END;
\\endif
}) if !-e $file;
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
	ok($ended && $load->{out} =~ /number of failed transactions: 0 /,
		"$load->{name}: no transaction failed") or diag($load->{out});
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

# The schema without that of the driver, whose columns are compared as a set: new ones are last
sub schema
{
	my ($database) = @_;
	my ($dump, $errors) = run_command([ 'pg_dump', '--schema-only', '--exclude-schema=rekey',
		$node->connstr($database) ]);
	return join "\n", sort map { s/,$//r } grep { !/restrict|^--|^$/ } split /\n/, $dump;
}

1;
