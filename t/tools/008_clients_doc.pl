# docs/clients.md leads to the programs and generators of clients/, and shows known
# answers that the generators are tested with. Its table of errors contains each
# SQLSTATE of the reference, and the constraint names that the server reports.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = dirname(__FILE__) . '/../..';
my $page = slurp_file("$folder/docs/clients.md");

my @generators = map { substr $_, 1 + length $folder }
  grep { /short_?comb\.\w+$/i && !/\.txt$/ } glob "$folder/clients/{*,*/*}";
cmp_ok(scalar @generators, '>=', 7, 'there are generators in seven languages');
is_deeply([ grep { index($page, "](../$_)") < 0 } @generators ], [], 'the page leads to every generator');

my ($answers) = $page =~ /^```text\n(\d+ [0-9a-f]{32} .*?)^```/ms;
my %known = map { $_ => 1 } map { split /\n/, slurp_file("$folder/clients/$_") } 'short_comb.txt', 'short_comb_periods.txt';
cmp_ok(scalar(my @shown = split /\n/, $answers // ''), '>=', 3, 'the page shows known answers');
is_deeply([ grep { !$known{$_} } @shown ], [], 'which are those that the generators are tested with');

# Each program but the bare generators is in the table.
my @programs = map { /^[a-z]/ && !/^\S+ *\| generator/ && /\b([\w\/-]+\.(?:mjs|py|java|rb|php|pl))\b/ ? $1 : () }
  split /\n/, slurp_file("$folder/clients/programs.txt");
cmp_ok(scalar @programs, '>=', 12, 'there are programs');
is_deeply([ grep { index($page, "](../clients/$_)") < 0 } @programs ], [], 'and the page has them');

# The rows of a table of errors: [SQLSTATEs], [names in code font] of the next column.
sub error_table
{
	my ($text, $heading) = @_;

	my ($section) = $text =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms;
	my ($table) = $section =~ /^(\| SQLSTATE .*?\n)(?!\|)/ms;
	my @rows = map { [ (split /\s*\|\s*/)[ 1, 2 ] ] } split /\n/, $table;
	return map { [ [ split /, /, $_->[0] ], [ $_->[1] =~ /`(\w+)`/g ] ] } @rows[ 2 .. $#rows ];
}

my @errors = error_table($page, 'Errors seen by the application');
my %in_page = map { $_ => 1 } map { @{ $_->[0] } } @errors;

my ($reference) = slurp_file("$folder/docs/reference.md") =~ /(.*)^## Advisor /ms;
$reference =~ s/^```.*?^```//msg;
my %in_reference = map { $_ => 1 } $reference =~ /\b([0-5F][0-9A-Z]{4})(?=[,:;)]| (?:with|for|if|in|and) )/g;
cmp_ok(scalar keys %in_reference, '>=', 20, 'the reference has SQLSTATEs');
is_deeply([ grep { !$in_page{$_} } sort keys %in_reference ], [], 'the page has each of them');

# The server's errors. Those of states that no statement brings about are raised
# in other tests, or never.
my @elsewhere = ('53400', '2200H', 'XX000', '22021', '22P05', 'F0000', '58P01');

my $node = PostgreSQL::Test::Cluster->new('errors');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION idgen;
	CREATE ROLE app;
	CREATE TABLE orders (id uuid PRIMARY KEY, number int, made uuid GENERATED ALWAYS AS (id) STORED);
	CREATE TRIGGER orders_id_is_recent BEFORE INSERT ON orders
		FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'short_comb');
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
my $checked_at = q{CREATE TRIGGER other BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert};

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
	[ '2202E', '', q{SELECT idgen.remember_command(ARRAY[ARRAY[idgen.uuid_v7()]], idgen.uuid_v7())} ],
	[ '22003', '', q{SELECT idgen.raise_decimal_id(0)} ],
	[ '42704', '', q{SELECT idgen.ticker_state('sunflower')} ],
	[ '42703', '', "BEGIN; $checked_at('key', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '42804', '', "BEGIN; $checked_at('number', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '0A000', '', "BEGIN; $checked_at('made', 'comb'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '22007', '', "BEGIN; $checked_at('id', 'comb', 'soon'); INSERT INTO orders VALUES (idgen.short_comb())" ],
	[ '39P01', '', q{BEGIN; CREATE TRIGGER other AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION idgen.check_on_insert('id', 'comb');
		INSERT INTO orders VALUES (idgen.short_comb())} ],
	[ '42501', '', "SET ROLE app; SELECT idgen.create_once($known_command)" ],
	[ '55000', '', q{SELECT idgen.snowflake()} ],
	[ '42P06', '', q{BEGIN; SET client_min_messages = error; DROP EXTENSION idgen CASCADE; CREATE SCHEMA idgen; CREATE EXTENSION idgen} ],
	[ '42P01', '', q{BEGIN; ALTER SEQUENCE idgen.uuid_v7_ordered_ticker RENAME TO other; SELECT idgen.uuid_v7_ordered()} ])
{
	my ($sqlstate, $constraint, $statement) = @$_;
	my ($stdout, $stderr);

	$node->psql('postgres', $statement,
		stdout => \$stdout,
		stderr => \$stderr,
		extra_params => [ '--set=VERBOSITY=verbose' ]);
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
