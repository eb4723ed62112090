# The programs of contrib/clients/ whose runtime is installed work, the known answers of their
# generators are those of the server, and the errors that contrib/clients/README.md tells
# applications to expect are those that it reports, with SQLSTATE and constraint name.

use Page;
use Server;

my $clients = "contrib/clients";
my $page = Page->new('contrib/clients/README.md');

# the drivers connect by TCP
my $node = start_server('clients', "listen_addresses = '127.0.0.1'");
ask('CREATE DATABASE clients');
$node->command_ok([ 'psql', '-XqAt', '-d', $node->connstr('clients'), '-f', "$clients/setup.sql" ],
	'the tables are made');

# --- known answers: the prefix, the version and the variant are those of both editions
my ($head, @vectors) = split /\n/, slurp_file("$clients/short_comb_vectors.csv");
is(scalar @vectors, 40, 'there are known answers');
my %known = map { $_ => 1 } @vectors;
my ($shown) = Page->new('short-comb')->blocks('Test vectors', 'text');
is_deeply([ grep { !$known{$_} } split /\n/, $shown // 'none' ], [], 'those of the specification are among them');
my @editions = ('clients');
if (-e 'contrib/portable/uuids.sql')
{
	push @editions, 'portable';
	ask('CREATE DATABASE portable');
	ask(slurp_file('contrib/portable/uuids.sql'), 'portable');
}
my $values = join ', ', map { '(' . s/(\w+),([\w-]+)$/'$1', uuid '$2'/r . ')' } @vectors;
for my $edition (@editions)
{
	is(ask(qq{
		SELECT id FROM (VALUES $values) v (period, bytes, ms, random, id),
			idgen.short_comb(period * interval '1 ms', bytes,
				clock => timestamptz '1970-01-01 00:00+00' + ms * interval '1 ms') made
		WHERE (substr(uuid_send(id), 1, bytes), idgen.uuid_version(id), idgen.uuid_variant(id),
			right(replace(id::text, '-', ''), 15))
			IS DISTINCT FROM (substr(uuid_send(made), 1, bytes), idgen.uuid_version(made), idgen.uuid_variant(made),
			right(random, 15))}, $edition),
		'', "$edition: prefix, version and variant are the server's, and the end is random");
}

# --- the programs -------------------------------------------------------------
{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ('127.0.0.1', $node->port, 'app', 'clients');
	my ($stdout, $stderr) = run_command(["$clients/run.sh"]);
	is($?, 0, 'the programs end well');
	like($stdout, qr/^\d+ passed, 0 failed/m, 'none fails') or diag $stdout, $stderr;

	# the page names the versions: those of npm, and of Debian 12
	my $is_debian_12 = slurp_file('/etc/debian_version') =~ /^12/;
	my %stack = map { $_->[0] =~ m{\(([^)/.][^)]*)\)(.*)} ? (lc $1 => $2) : () } $page->table('Tasks by stack');
	while ($stdout =~ /^# (\S+): (\S+) (\d+\.\d+)/mg)
	{
		my ($name, $package, $version) = ($1, $2, $3);
		my ($file) = grep { /^\Q$name\E/ } keys %stack;

		like($stack{ $file // '' } // 'no row', qr/ \Q$version\E\b/, "the page has the version of $name")
		  if $name !~ /^(csharp|rust)$/ && $package =~ ($is_debian_12 ? qr/./ : qr/^npm:/);
	}
}

# --- errors -------------------------------------------------------------------
# Those of the page's table, each as "SQLSTATE constraint": all combinations of the SQLSTATEs
# of a row and the names in code font of its next column
my (undef, undef, @rows) = $page->table('Errors seen by the application');
my %on_page;
for (@rows)
{
	my ($states, $names) = @$_;
	for my $state (split /, /, $states) { $on_page{"$state $_"} = 1 for $names =~ /`/ ? $names =~ /`(\w+)`/g : '' }
}
# Other tests raise these, or none does.
delete @on_page{ map { "$_ " } qw(2200H XX000 22021 22P05 F0000 58P01) };

ask(q{
	CREATE TABLE drafts (id uuid PRIMARY KEY, number int, made uuid GENERATED ALWAYS AS (id) STORED);
	CREATE TRIGGER drafts_id_is_recent BEFORE INSERT ON drafts
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_once('018f0000-0000-7000-8000-000000000001', idgen.uuid_v7(), 'create order')});

# A statement in a session of its own, while this one is in a transaction.
sub meanwhile
{
	return sprintf qq{\\! psql -X -q -v VERBOSITY=verbose -d "%s" -c "%s"\n}, $node->connstr('postgres'), shift;
}

my $known_command = q{'018f0000-0000-7000-8000-000000000001', idgen.uuid_v7()};
my $new_command = q{'018f0000-0000-7000-8000-000000000002', '018f0000-0000-7000-8000-000000000003'};
my $blocking = q{SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7())};
my $insert = 'INSERT INTO drafts VALUES (idgen.short_comb())';

for (
	[ '23514', 'drafts_id_is_recent',
		q{INSERT INTO drafts VALUES (idgen.short_comb(clock => now() - interval '1 day'))} ],
	(map { [ '23514', "check_recent_$_", "SELECT idgen.check_recent_$_('018f0000-0000-7000-8000-000000000001')" ] }
		  qw(short_comb comb uuid_v7)),
	[ '23514', 'prefixed_id_check', q{SELECT idgen.prefixed_id('order')::account_id} ],
	[ '23514', '', q{SELECT idgen.prefixed_id_to_uuid(idgen.prefixed_id('order'), 'acct')} ],
	[ '22P02', '', q{SELECT idgen.prefixed_id_to_uuid('acct')} ],
	[ '23514', 'creation_identifiers_same_command', "SELECT idgen.create_once($known_command, 'create invoice')" ],
	[ '23505', 'drafts_pkey',
		q{WITH new AS (SELECT idgen.short_comb() AS id) INSERT INTO drafts SELECT id FROM new, generate_series(1, 2)} ],
	[ '23505', 'id_prefixes_pkey', q{SELECT idgen.create_id_domain('other_id', 'acct')} ],
	[ '22003', '', q{SELECT idgen.create_once(idgen.uuid_v7(), idgen.uuid_v7(), '', '1e1000')} ],
	[ '40001', '', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n"
			. meanwhile("SELECT idgen.create_once($new_command)") . "SELECT idgen.create_once($new_command)" ],
	[ '55P03', '', "BEGIN; $blocking;\n" . meanwhile("SET lock_timeout = 1; $blocking") ],
	[ '57014', '', "BEGIN; $blocking;\n" . meanwhile("SET statement_timeout = 1; $blocking") ],
	[ '25006', '', q{BEGIN READ ONLY;
		SELECT idgen.create_once('018f0000-0000-7000-8000-000000000005', idgen.uuid_v7())} ],
	[ '25006', '', q{BEGIN READ ONLY; SELECT idgen.uuid_v7_ordered()} ],
	[ '22004', '', q{SELECT idgen.create_once(NULL, idgen.uuid_v7())} ],
	[ '22008', '', q{SELECT idgen.uuid_v7('1900-01-01')} ],
	[ '22023', '', q{SELECT idgen.short_comb('1 month')} ],
	[ '22000', '', q{SELECT idgen.remember_command(ARRAY[ARRAY[idgen.uuid_v7()]], idgen.uuid_v7())} ],
	[ '22003', '', q{SELECT idgen.bigint_from_base('zzzzzzzzzzzzz', 36)} ],
	(map {
			my ($state, $event, $arguments) = @$_;
			[ $state, '', "BEGIN; CREATE TRIGGER other $event INSERT ON drafts
				FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id($arguments); $insert" ]
		} [ '42703', 'BEFORE', q{'key', 'comb'} ], [ '42804', 'BEFORE', q{'number', 'comb'} ],
		[ '0A000', 'BEFORE', q{'made', 'comb'} ],
		[ '22007', 'BEFORE', q{'id', 'comb', 'tolerance=soon'} ], [ '22023', 'BEFORE', q{'id', 'comb', 'soon'} ],
		[ '42704', 'BEFORE', q{'id', 'serial'} ], [ '39P01', 'AFTER', q{'id', 'comb'} ]),
	[ '42501', '', "SET ROLE app; SELECT idgen.create_once($known_command)" ],
	[ '55000', '', q{SELECT idgen.snowflake()} ],
	[ '42809', '', "BEGIN; ALTER TABLE idgen.creation_identifiers SET UNLOGGED; $blocking" ],
	[ '42P06', '', q{BEGIN; SET client_min_messages = error; DROP EXTENSION idgen CASCADE; CREATE SCHEMA idgen;
		CREATE EXTENSION idgen} ],
	[ '42P01', '', q{BEGIN; ALTER SEQUENCE idgen.uuid_v7_ordered_mark RENAME TO other;
		SELECT idgen.uuid_v7_ordered()} ])
{
	my ($sqlstate, $constraint, $statement) = @$_;
	my $stderr = errors($statement);
	my ($state) = $stderr =~ /ERROR:  (\w{5}): /;
	my ($name) = $stderr =~ /^CONSTRAINT NAME:  (.*)/m;
	is(($state // 'none') . ' ' . ($name // ''), "$sqlstate $constraint", "the server reports $sqlstate $constraint")
	  or diag($stderr);
	ok($on_page{"$sqlstate $constraint"}++, '... and the page has a row of it');
}
is_deeply([ grep { $on_page{$_} == 1 } sort keys %on_page ], [],
	'the page has no error that the server does not report');

done_testing();
