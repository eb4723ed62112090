# Domains of prefixed ids go through pg_dump and come back with their
# prefixes; a prefix whose domain was dropped stays behind.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('server');
$node->init;
$node->start;
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';

$node->safe_psql('postgres', 'CREATE DATABASE source');
$node->safe_psql('source', q{
	CREATE EXTENSION idgen;
	CREATE SCHEMA "My Types";
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_id_domain('"My Types"."Invoice Id"', 'inv');
	SELECT idgen.create_id_domain('gone_id', 'gone');
	DROP DOMAIN gone_id;
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'), invoice "My Types"."Invoice Id");
	INSERT INTO account VALUES ('acct_3e6wlko0bp8e7c9916hklbnd', 'inv_1'), (DEFAULT, NULL)});

my $before = $node->safe_psql('source', 'SELECT * FROM account ORDER BY id');

for my $format (qw(plain custom))
{
	$node->safe_psql('postgres', 'CREATE DATABASE target');
	$node->command_ok([ 'pg_dump', "--format=$format", "--file=$dump.$format", '--dbname', $node->connstr('source') ],
		"$format: dumped");
	if ($format eq 'plain')
	{
		$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.plain", $node->connstr('target') ],
			"$format: restored");
	}
	else
	{
		$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr('target'), "$dump.custom" ],
			"$format: restored");
	}

	is($node->safe_psql('target', 'SELECT * FROM account ORDER BY id'), $before, "$format: the rows are back");
	is( $node->safe_psql('target', 'SELECT prefix, domain FROM idgen.id_prefixes ORDER BY prefix'),
		qq{acct|account_id\ninv|"My Types"."Invoice Id"},
		"$format: so are the prefixes of domains that exist, and no other");
	is( $node->safe_psql('target', q{SELECT * FROM idgen.parse_prefixed_id('inv_1')}),
		'"My Types"."Invoice Id"|inv|00000000-0000-0000-0000-000000000001',
		"$format: a prefixed id is parsed");

	my (undef, undef, $errors) = $node->psql('target', q{INSERT INTO account VALUES ('inv_1')});
	like($errors, qr/prefixed id has the prefix "inv", not "acct"/, "$format: the domain refuses another type's id");
	(undef, undef, $errors) = $node->psql('target', q{SELECT idgen.create_id_domain('another', 'inv')});
	like($errors, qr/duplicate key value.*\n.*\(prefix\)=\(inv\) already exists/, "$format: a prefix stays taken");
	is($node->safe_psql('target', q{SELECT idgen.create_id_domain('gone_id', 'gone')}), 'gone_id', "$format: a freed prefix is free");

	$node->safe_psql('postgres', 'DROP DATABASE target');
}

# Two sessions that want one prefix: the second waits, and is refused or gets it.
for my $end (qw(COMMIT ROLLBACK))
{
	my $first = $node->background_psql('source', on_error_stop => 0);
	$first->query_safe(qq{BEGIN; SELECT idgen.create_id_domain('race_one', 'race')});
	my $second = $node->background_psql('source', on_error_stop => 0);
	$second->query_until(qr/asked/, qq{\\echo asked\nSELECT idgen.create_id_domain('race_two', 'race');\n});
	$node->poll_query_until('source', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%race_two%'})
	  or die 'the second session does not wait';
	$first->query_safe($end);
	$first->quit;
	$second->quit;
	is( $node->safe_psql('source', q{SELECT domain FROM idgen.id_prefixes WHERE prefix = 'race'}),
		$end eq 'COMMIT' ? 'race_one' : 'race_two',
		"$end: the prefix belongs to one domain");
	$node->safe_psql('source', 'DROP DOMAIN IF EXISTS race_one, race_two; DELETE FROM idgen.id_prefixes WHERE prefix = \'race\'');
}

$node->stop;
done_testing();
