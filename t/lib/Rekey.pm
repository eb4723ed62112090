# Tables whose keys are changed by tools/rekey.sh, and an application that uses them.
#
#   Rekey::create('shop', 'bigserial', 'bigint', 1000);    # database, type of the key and of references, rows
#   my $load = Rekey::start('shop', 'old', 'id', 'prepared');
#   my ($succeeded, $said) = Rekey::command('shop', 'run');
#   Rekey::stop($load);

package Rekey;

use strict;
use warnings;
use File::Basename qw(dirname);
use Server;

our $root = dirname(__FILE__) . '/../..';
my $folder = PostgreSQL::Test::Utils::tempdir();
my (%environment, @loads);

# The driver's arguments in a database of the given server
sub driver
{
	my ($node, $database, @arguments) = @_;
	%environment = (PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => $database, PGOPTIONS => '');
	return ("$root/tools/rekey.sh", @arguments);
}

sub command
{
	my ($node, $database, @arguments) = @_;
	my @driver = driver($node, $database, @arguments);
	my $said;
	local @ENV{ keys %environment } = values %environment;
	my $succeeded = IPC::Run::run(\@driver, '<', '/dev/null', '>&', \$said);

	return ($succeeded, $said);
}

# Succeeds, or fails with this message
sub command_is
{
	my ($node, $database, $error, $name, @arguments) = @_;
	my ($succeeded, $said) = command($node, $database, @arguments);

	return (defined $error ? like($said, $error, $name) && ok(!$succeeded, "$name: it fails") : ok($succeeded, $name))
	  || diag("@arguments: $said");
}

# A command that goes on
sub start_command
{
	my ($node, $database, @arguments) = @_;
	my $driver = { said => '' };
	my @driver = driver($node, $database, @arguments);
	local @ENV{ keys %environment } = values %environment;
	$driver->{harness} = IPC::Run::start(\@driver, '<', '/dev/null', '>&', \$driver->{said});

	return $driver;
}

# 27 rows of other tables refer to 10 parcels.
sub create
{
	my ($node, $database, $key, $reference, $rows) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, q{CREATE EXTENSION idgen; CREATE SEQUENCE done});
	install($node, $database);
	$node->safe_psql($database, qq{
		CREATE TABLE parcels (id $key PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), note text,
			replaces $reference REFERENCES parcels ON DELETE SET NULL);
		CREATE TABLE scans (id bigserial PRIMARY KEY, place text,
			parcel_id $reference NOT NULL REFERENCES parcels ON DELETE CASCADE ON UPDATE CASCADE CHECK (parcel_id IS NOT NULL));
		CREATE TABLE claims (id bigserial PRIMARY KEY, amount numeric, parcel_id $reference REFERENCES parcels ON DELETE SET NULL);
		CREATE TABLE pairs (parcel_id $reference NOT NULL REFERENCES parcels ON DELETE CASCADE,
			other_id $reference REFERENCES parcels ON DELETE CASCADE, label text, PRIMARY KEY (parcel_id, other_id), UNIQUE (label, parcel_id, other_id));
		CREATE INDEX "scans' index" ON scans (parcel_id DESC NULLS LAST, place COLLATE "C" text_pattern_ops) INCLUDE (id) WHERE place <> 'x%';
		CREATE INDEX ON parcels (created_at);
		CREATE INDEX ON claims (lower(amount::text), parcel_id);
		GRANT UPDATE (parcel_id) ON claims TO PUBLIC;
		INSERT INTO parcels (created_at) SELECT now() - i * interval '1 minute' FROM generate_series($rows, 1, -1) i;
		CREATE TEMP TABLE of AS SELECT id, row_number() OVER () AS n FROM parcels;
		UPDATE parcels SET replaces = (SELECT id FROM of WHERE n = 1) WHERE id IN (SELECT id FROM of WHERE n % 10 = 0);
		INSERT INTO scans (place, parcel_id) SELECT 'old', id FROM of;
		INSERT INTO claims (parcel_id) SELECT CASE WHEN n % 10 > 0 THEN id END FROM of;
		INSERT INTO pairs SELECT a.id, b.id, 'old' FROM of a JOIN of b ON b.n = $rows + 1 - a.n WHERE a.n % 10 < 7;
		VACUUM ANALYZE});
}

sub install { my ($node, $database) = @_; $node->safe_psql($database, slurp_file("$root/tools/rekey.sql")) }

# What an application does, which knows the columns by the key's name: references to new
# and old parcels, upserts, changes and deletions
sub start
{
	my ($node, $database, $name, $id, $protocol, $rows) = @_;
	my $parcel = $protocol eq 'simple' ? "':parcel'" : ':parcel';
	my $older = $protocol eq 'simple' ? "':older'" : ':older';
	my $suffix = $id =~ s/^id//r;
	my $file = "$folder/$database.$name.sql";

	append_to_file($file, qq{
\\set many random(1, 4)
\\set place random(0, $rows - 10)
SELECT nextval('done');
SELECT $id AS older FROM parcels WHERE created_at < now() - interval '1 minute' * (:place + 5) ORDER BY created_at DESC LIMIT 1 \\gset
BEGIN;
INSERT INTO parcels (note) VALUES ('$name') RETURNING $id AS parcel \\gset
INSERT INTO scans (place, parcel_$id) SELECT '$name', $parcel FROM generate_series(1, :many);
INSERT INTO claims (parcel_$id) VALUES ($parcel);
INSERT INTO pairs (parcel_$id, other_$id, label) VALUES ($parcel, $parcel, '$name') ON CONFLICT (parcel_$id, other_$id) DO NOTHING;
END;
\\if :many = 4
DELETE FROM parcels WHERE $id = $parcel;
\\else
BEGIN;
UPDATE parcels SET note = '$name', replaces$suffix = $older WHERE $id = $parcel;
INSERT INTO scans (place, parcel_$id) VALUES ('$name', $older);
UPDATE claims SET amount = 1 WHERE parcel_$id = $parcel;
UPDATE claims SET parcel_$id = $older WHERE parcel_$id = $parcel;
INSERT INTO pairs (parcel_$id, other_$id, label) VALUES ($parcel, $older, '$name') ON CONFLICT (parcel_$id, other_$id) DO UPDATE SET label = 'again';
UPDATE scans SET place = '$name' WHERE parcel_$id = $older;
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
	my ($node, $database, $many) = @_;
	my $from = $node->safe_psql($database, 'SELECT last_value FROM done');

	$node->poll_query_until($database, "SELECT last_value >= $from + $many FROM done")
	  or die join "\n", 'the applications make no progress', map { $_->{out} } @loads;
}

# References that do not have the two keys of one parcel, and parcels without a key
sub mismatches
{
	my ($node, $database) = @_;
	my @references = ([ 'scans', 'parcel_id' ], [ 'claims', 'parcel_id' ], [ 'pairs', 'parcel_id' ], [ 'pairs', 'other_id' ], [ 'parcels', 'replaces' ]);

	return $node->safe_psql($database, 'SELECT (SELECT count(*) FROM parcels WHERE id_new IS NULL)' . join '', map { qq{
		+ (SELECT count(*) FROM $_->[0] c LEFT JOIN parcels p ON p.id_new = c.$_->[1]_new
		   WHERE (c.$_->[1]_new, c.$_->[1]) IS DISTINCT FROM (p.id_new, p.id))} } @references);
}

# The schema without that of the driver, whose columns are compared as a set: new ones are last
sub schema
{
	my ($node, $database) = @_;
	my ($dump, $errors) = run_command([ 'pg_dump', '--schema-only', '--exclude-schema=rekey', $node->connstr($database) ]);

	return join "\n", sort map { s/,$//r } grep { !/restrict|^--|^$/ } split /\n/, $dump;
}

# Objects that a run has left, and invalid indexes
sub leftovers
{
	my ($node, $database) = @_;

	return $node->safe_psql($database, q{
		SELECT relname FROM pg_class WHERE relname ~ '^rekey_\d' UNION ALL SELECT conname FROM pg_constraint WHERE conname ~ '^rekey_\d'
		UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ 'rekey' UNION ALL SELECT proname FROM pg_proc WHERE proname ~ '^keep_\d'
		UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid});
}

1;
