# Verify that the server reports the errors in contrib/clients/README.md, with these SQLSTATEs and constraint names.

use Functions;
use Page;
use Server;

# The elements have the form "SQLSTATE constraint". They combine each SQLSTATE in a row with each name in code font in
# the row's next column.
my (undef, undef, @rows) = Page->new('contrib/clients/README.md')->table('Errors seen by the application');
my %on_page;
for (@rows)
{
	my ($states, $names) = @$_;
	for my $state (split /, /, $states) { $on_page{"$state $_"} = 1 for $names =~ /`/ ? $names =~ /`(\w+)`/g : '' }
}

my $node = Functions::add_key(init_server('errors'));
$node->start;
ask(q{
	CREATE EXTENSION idgen;
	CREATE TABLE invoices (id uuid PRIMARY KEY);
	CREATE TRIGGER invoices_id_is_recent BEFORE INSERT ON invoices
		FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=invoices');
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_once('018f0000-0000-7000-8000-000000000001', idgen.uuid_v7(), 'create order')});

# Return a command that executes a statement in another session, while this session is in a transaction.
sub meanwhile
{
	return sprintf qq{\\! psql -X -q -v VERBOSITY=verbose -d "%s" -c "%s"\n}, $node->connstr('postgres'), shift;
}

my $known = q{'018f0000-0000-7000-8000-000000000001', idgen.uuid_v7()};
my $new = q{'018f0000-0000-7000-8000-000000000002', '018f0000-0000-7000-8000-000000000003'};
my $create_new = "SELECT idgen.create_once($new, 'create')";
my $blocking = q{SELECT idgen.create_once('018f0000-0000-7000-8000-000000000004', idgen.uuid_v7(), 'create')};

for (
	[ '23514', 'invoices_id_is_recent', q{INSERT INTO invoices VALUES (idgen.hmac_comb('orders'))} ],
	(map { [ '23514', "check_recent_$_", "SELECT idgen.check_recent_$_('018f0000-0000-7000-8000-000000000001')" ] }
		  qw(short_comb comb uuid_v7)),
	[ '23514', 'creation_identifiers_same_command', "SELECT idgen.create_once($known, 'create invoice')" ],
	[ '23514', 'prefixed_id_check', q{SELECT idgen.prefixed_id_from_uuid('order', idgen.uuid_v4())::account_id} ],
	[ '22000', '', q{SELECT idgen.remember_command(ARRAY[ARRAY[idgen.uuid_v7()]], idgen.uuid_v7())} ],
	[ '22003', '', q{SELECT idgen.create_once(idgen.uuid_v7(), idgen.uuid_v7(), 'create', '1e1000')} ],
	[ '22P02', '', q{SELECT idgen.prefixed_id_to_uuid('acct')} ],
	[ '23514', '', q{SELECT idgen.prefixed_id_to_uuid(idgen.prefixed_id_from_uuid('order', idgen.uuid_v4()), 'acct')} ],
	[ '23505', 'invoices_pkey', q{WITH new AS (SELECT idgen.hmac_comb('invoices') AS id)
		INSERT INTO invoices SELECT id FROM new, generate_series(1, 2)} ],
	[ '40001', '', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\n" . meanwhile($create_new) . $create_new ],
	[ '55P03', '', "BEGIN; $blocking;\n" . meanwhile("SET lock_timeout = 1; $blocking") ],
	[ '57014', '', "BEGIN; $blocking;\n" . meanwhile("SET statement_timeout = 1; $blocking") ],
	[ '25006', '', "BEGIN READ ONLY; $blocking" ])
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
