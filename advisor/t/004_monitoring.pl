# The queries of docs/operations.md for monitoring, by the role that the page creates.

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";
use Page;
use Server;

my $node = init_server('monitoring');
$node->start;
ask(q{
	CREATE EXTENSION idgen_advisor CASCADE;
	CREATE ROLE app LOGIN;
	GRANT CREATE ON DATABASE postgres TO app;
	REVOKE ALL ON SCHEMA public FROM PUBLIC});
ask(q{
	SET ROLE app;
	CREATE SCHEMA hidden;
	CREATE TABLE hidden.rows (id uuid PRIMARY KEY);
	INSERT INTO hidden.rows SELECT gen_random_uuid() FROM generate_series(1, 400000)});
ask(q{CREATE TABLE shown (id uuid PRIMARY KEY); INSERT INTO shown SELECT gen_random_uuid() FROM generate_series(1, 400000)});

my ($setup, $queries, $wal) = Page->new('operations')->blocks('Monitoring');
ask($setup);
my ($out, $errors) = psql_said("\\set ON_ERROR_STOP off\n$queries", user => 'monitor');
is($errors, '', 'each query works for the role');
like($out, qr/^idgen\.node_id\|/m, 'it sees the settings');
like($out, qr/^shown_pkey\|.*\|1$/m, 'it sees how many indexes it cannot read');
like($out, qr/^hidden\.rows_pkey\|.*not read: permission denied for schema hidden\|1$/m, '... and which');
is(ask('SELECT count(*) FROM idgen.index_reports(0) WHERE index_name < 16384'), '0', 'without those of system catalogs');
is(outcome('TABLE shown', user => 'monitor'), '42501', 'and reads no rows');

done_testing();
