# The programs of clients/ whose runtime is installed work, the known answers of their
# generators are those of the server, and the errors that docs/clients.md tells
# applications to expect are those that it reports, with SQLSTATE and constraint name.

use Page;
use Server;

my $clients = "clients";
my $page = Page->new('clients');

# the drivers connect by TCP
my $node = start_server('clients', "listen_addresses = '127.0.0.1'");
ask('CREATE DATABASE clients');
$node->command_ok([ 'psql', '-XqAt', '-d', $node->connstr('clients'), '-f', "$clients/setup.sql" ], 'the tables are made');

# --- known answers: the prefix, the version and the variant are those of both editions
my ($head, @vectors) = split /\n/, slurp_file("$clients/short_comb_vectors.csv");
is(scalar @vectors, 40, 'there are known answers');
my %known = map { $_ => 1 } @vectors;
my ($shown) = Page->new('short-comb')->blocks('Test vectors', 'text');
is_deeply([ grep { !$known{$_} } split /\n/, $shown // 'none' ], [], 'those of the specification are among them');
ask('CREATE DATABASE portable');
ask(slurp_file("$clients/../portable/uuids.sql"), 'portable');
for my $edition (qw(clients portable))
{
	my $wrong = '';
	for (@vectors)
	{
		my ($period, $bytes, $ms, $random, $id) = split /,/;
		my $same = ask(qq{
			SELECT substr(uuid_send('$id'), 1, $bytes) = substr(uuid_send(made), 1, $bytes) AND idgen.uuid_version('$id') = idgen.uuid_version(made)
				AND idgen.uuid_variant('$id') = idgen.uuid_variant(made) AND right(replace('$id', '-', ''), 15) = right('$random', 15)
			FROM idgen.short_comb($period * interval '1 ms', $bytes, clock => timestamptz '1970-01-01 00:00+00' + $ms * interval '1 ms') made}, $edition);
		$wrong .= "$_: $same\n" if $same ne 't';
	}
	is($wrong, '', "$edition: prefix, version and variant are the server's, and the end is random");
}

# --- the programs -------------------------------------------------------------
{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ('127.0.0.1', $node->port, 'app', 'clients');
	my ($stdout, $stderr) = run_command(["$clients/run.sh"]);
	is($?, 0, 'the programs end well');
	like($stdout, qr/^\d+ passed, 0 failed/m, 'none fails') or diag $stdout, $stderr;

	# the page names the versions: those of npm, and of Debian 12
	my $is_debian_12 = slurp_file('/etc/debian_version') =~ /^12/;
	my %stack = map { $_->[0] =~ m{\(\.\./clients/(\S+)\)(.*)} ? (lc $1 => $2) : () } $page->table('Tasks by stack');
	while ($stdout =~ /^# (\S+): (\S+) (\d+\.\d+)/mg)
	{
		my ($name, $package, $version) = ($1, $2, $3);
		my ($file) = grep { /^\Q$name\E/ } keys %stack;

		like($stack{ $file // '' } // 'no row', qr/ \Q$version\E\b/, "the page has the version of $name")
		  if $name !~ /^(csharp|rust)$/ && $package =~ ($is_debian_12 ? qr/./ : qr/^npm:/);
	}
}

# --- errors -------------------------------------------------------------------
# the rows of the page's table: [SQLSTATEs], [names in code font] of the next column
my (undef, undef, @rows) = $page->table('Errors seen by the application');
my @errors = map { [ [ split /, /, $_->[0] ], [ $_->[1] =~ /`(\w+)`/g ] ] } @rows;

# The server's errors. Those of states that no statement brings about are raised
# in other tests, or never.
my @elsewhere = ('53400', '2200H', 'XX000', '22021', '22P05', 'F0000', '58P01');

ask(q{
	CREATE TABLE orders (id uuid PRIMARY KEY, number int, made uuid GENERATED ALWAYS AS (id) STORED);
	CREATE TRIGGER orders_id_is_recent BEFORE INSERT ON orders
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'short_comb');
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_once('018f0000-0000-7000-8000-000000000001', idgen.uuid_v7(), 'create order')});

# A statement in a session of its own, while this one is in a transaction.
sub meanwhile
{
	my $statement = shift;
	return sprintf q{\! psql -X -q -v VERBOSITY=verbose -d "%s" -c "%s"} . "\n", $node->connstr('postgres'), $statement;
}

my $known_command = q{'018f0000-0000-7000-8000-000000000001', idgen.uuid_v7()};
my $new_command = q{'018f0000-0000-7000-8000-000000000002', '018f0000-0000-7000-8000-000000000003'};
my $checked_at = q{CREATE TRIGGER other BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id};

for (
	[ '23514', 'orders_id_is_recent', q{INSERT INTO orders VALUES (idgen.short_comb(clock => now() - interval '1 day'))} ],
	(map { [ '23514', "check_recent_$_", "SELECT idgen.check_recent_$_('018f0000-0000-7000-8000-000000000001')" ] }
		  qw(short_comb comb uuid_v7)),
	[ '23514', 'prefixed_id_check', q{SELECT idgen.prefixed_id('order')::account_id} ],
	[ '23514', '', q{SELECT idgen.prefixed_id_to_uuid(idgen.prefixed_id('order'), 'acct')} ],
	[ '22P02', '', q{SELECT idgen.prefixed_id_to_uuid('acct')} ],
	[ '23514', 'creation_identifiers_same_command', "SELECT idgen.create_once($known_command, 'create invoice')" ],
	[ '23505', 'orders_pkey', q{WITH new AS (SELECT idgen.short_comb() AS id) INSERT INTO orders SELECT id FROM new, generate_series(1, 2)} ],
	[ '23505', 'id_prefixes_pkey', q{SELECT idgen.create_id_domain('other_id', 'acct')} ],
	[ '22003', '', q{SELECT idgen.create_once(idgen.uuid_v7(), idgen.uuid_v7(), '', '1e1000')} ],
	[ '40001', '', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n"
			. meanwhile("SELECT idgen.create_once($new_command)") . "SELECT idgen.create_once($new_command)" ],
	[ '55P03', '', "BEGIN; SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7());\n"
			. meanwhile(q{SET lock_timeout = 1; SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7())}) ],
	[ '57014', '', "BEGIN; SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7());\n"
			. meanwhile(q{SET statement_timeout = 1; SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7())}) ],
	[ '25006', '', q{BEGIN READ ONLY; SELECT idgen.create_once('018f0000-0000-7000-8000-000000000005', idgen.uuid_v7())} ],
	[ '25006', '', q{BEGIN READ ONLY; SELECT idgen.uuid_v7_ordered()} ],
	[ '22004', '', q{SELECT idgen.create_once(NULL, idgen.uuid_v7())} ],
	[ '22008', '', q{SELECT idgen.uuid_v7('1900-01-01')} ],
	[ '22023', '', q{SELECT idgen.short_comb('1 month')} ],
	[ '22000', '', q{SELECT idgen.remember_command(ARRAY[ARRAY[idgen.uuid_v7()]], idgen.uuid_v7())} ],
	[ '22003', '', q{SELECT idgen.bigint_from_base('zzzzzzzzzzzzz', 36)} ],
	[ '42704', '', q{SELECT idgen.ticker_state('sunflower')} ],
	[ '42703', '', "BEGIN; $checked_at('key', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '42804', '', "BEGIN; $checked_at('number', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '0A000', '', "BEGIN; $checked_at('made', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '22007', '', "BEGIN; $checked_at('id', 'comb', 'tolerance=soon'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '22023', '', "BEGIN; $checked_at('id', 'comb', 'soon'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '42704', '', "BEGIN; $checked_at('id', 'serial'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '39P01', '', q{BEGIN; CREATE TRIGGER other AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('id', 'comb');
		INSERT INTO orders VALUES (idgen.short_comb())} ],
	[ '42501', '', "SET ROLE app; SELECT idgen.create_once($known_command)" ],
	[ '55000', '', q{SELECT idgen.snowflake()} ],
	[ '42P06', '', q{BEGIN; SET client_min_messages = error; DROP EXTENSION idgen CASCADE; CREATE SCHEMA idgen; CREATE EXTENSION idgen} ],
	[ '42P01', '', q{BEGIN; ALTER SEQUENCE idgen.uuid_v7_ordered_ticker RENAME TO other; SELECT idgen.uuid_v7_ordered()} ])
{
	my ($sqlstate, $constraint, $statement) = @$_;
	my $stderr = errors($statement);
	my ($state) = $stderr =~ /ERROR:  (\w{5}): /;
	my ($name) = $stderr =~ /^CONSTRAINT NAME:  (.*)/m;
	is(($state // 'none') . ' ' . ($name // ''), "$sqlstate $constraint", "the server reports $sqlstate $constraint") or diag($stderr);

	my @rows = grep {
		my ($states, $names) = @$_;
		(grep { $_ eq $sqlstate } @$states) && ($constraint eq '' ? !@$names : grep { $_ eq $constraint } @$names)
	} @errors;
	isnt(scalar @rows, 0, '... and the page has a row of it');
	$_->[2]{"$sqlstate $constraint"} = 1 for @rows;
}

# and each row was seen
my @unseen;
for (@errors)
{
	my ($states, $names, $seen) = @$_;
	for my $state (@$states)
	{
		next if grep { $_ eq $state } @elsewhere;
		push @unseen, grep { !$seen->{$_} } map { "$state $_" } @$names ? @$names : '';
	}
}
is_deeply(\@unseen, [], 'the page has no error that the server does not report');

done_testing();
