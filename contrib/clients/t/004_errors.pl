# The errors that contrib/clients/README.md tells applications to expect are those that the server reports, with SQLSTATE
# and constraint name.

use Page;
use Server;

my $page = Page->new('contrib/clients/README.md');
my $node = start_server('errors');
ask('CREATE ROLE app');
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
