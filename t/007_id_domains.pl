# pg_dump and restore keep domains of prefixed ids and their registered prefixes,
# except prefixes whose domain was dropped.

use Server;

my $node = start_server('server');

ask('CREATE DATABASE source');
$node->safe_psql('source', q{
	CREATE EXTENSION idgen;
	CREATE SCHEMA "My Types";
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_id_domain('"My Types"."Invoice Id"', 'inv');
	SELECT idgen.create_id_domain('gone_id', 'gone');
	DROP DOMAIN gone_id;
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'), invoice "My Types"."Invoice Id");
	INSERT INTO account VALUES ('acct_03e6wlko0bp8e7c9916hklbnd', 'inv_03e6wlko0bp8e7c9916hklbnd'), (DEFAULT, NULL)});

my $before = $node->safe_psql('source', 'SELECT * FROM account ORDER BY id');

for my $format (qw(plain custom))
{
	dump_and_restore($format, 'source', 'target');
	is($node->safe_psql('target', 'SELECT * FROM account ORDER BY id'), $before, "$format: the rows are restored");
	is( $node->safe_psql('target', 'SELECT prefix, domain FROM idgen.id_prefixes ORDER BY prefix'),
		qq{acct|account_id\ninv|"My Types"."Invoice Id"},
		"$format: the prefixes of existing domains are restored, no others");
	is( $node->safe_psql('target', q{SELECT * FROM idgen.parse_prefixed_id('inv_1')}),
		'"My Types"."Invoice Id"|inv|00000000-0000-0000-0000-000000000001',
		"$format: parse_prefixed_id() finds the domain");

	for my $id ('inv_03e6wlko0bp8e7c9916hklbnd', 'acct_1', 'acct_03E6WLKO0BP8E7C9916HKLBND')
	{
		like(errors("INSERT INTO account VALUES ('$id')", database => 'target'),
			qr/ERROR:  23514: value for domain account_id violates check constraint "prefixed_id_check"$/m, "$format: the domain rejects $id");
	}
	like(errors(q{SELECT idgen.create_id_domain('another', 'inv')}, database => 'target'),
		qr/ERROR:  23505: prefix "inv" is already in use\nDETAIL:  The prefix belongs to domain "My Types"."Invoice Id".$/m, "$format: a prefix stays taken");
	is($node->safe_psql('target', q{SELECT idgen.create_id_domain('gone_id', 'gone')}), 'gone_id', "$format: the prefix of a dropped domain is available");

	ask('DROP DATABASE target');
}

# Two sessions register one prefix: the second waits for the first.
my $named = qr/ERROR:  23505: prefix "race" is already in use\nDETAIL:  The prefix belongs to domain race_one\.\n(LOCATION.*\n)?.*CONSTRAINT NAME:  id_prefixes_pkey/s;
for my $case ([ 'COMMIT', 'read committed', qr/$named/ ], [ 'ROLLBACK', 'read committed', qr/^$/ ],
	[ 'COMMIT', 'repeatable read', qr/ERROR:  40001: / ], [ 'ROLLBACK', 'serializable', qr/^$/ ])
{
	my ($end, $isolation, $said) = @$case;
	my $first = $node->background_psql('source', on_error_stop => 0);
	$first->query_safe(qq{BEGIN; SELECT idgen.create_id_domain('race_one', 'race')});
	my $second = $node->background_psql('source', on_error_stop => 0);
	$second->query_until(qr/asked/, qq{\\set VERBOSITY verbose\nSET default_transaction_isolation = '$isolation';\n\\echo asked\nSELECT idgen.create_id_domain('race_two', 'race');\n});
	$node->poll_query_until('source', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%race_two%'})
	  or die 'the second session does not wait';
	$first->query_safe($end);
	$first->quit;
	$second->quit;
	like($second->{stderr}, $said, "$end, $isolation: the result of the second session");
	is( $node->safe_psql('source', q{SELECT domain FROM idgen.id_prefixes WHERE prefix = 'race'}),
		$end eq 'COMMIT' ? 'race_one' : 'race_two',
		"$end, $isolation: the prefix belongs to one domain");
	$node->safe_psql('source', 'DROP DOMAIN IF EXISTS race_one, race_two; DELETE FROM idgen.id_prefixes WHERE prefix = \'race\'');
}

done_testing();
