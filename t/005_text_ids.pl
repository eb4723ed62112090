# Text identifiers in a UTF8 database: error messages count characters, not bytes, and
# the order of text is the order of uuids in COLLATE "C" but not in every collation.
# Dumps keep domains of prefixed ids and their registered prefixes, except prefixes whose
# domain was dropped; of two sessions that register one prefix, one succeeds.

use FindBin;
use utf8;
use Server;

my $node = start_server('server');
add_database('utf8', 'UTF8');
ask(q{SELECT idgen.create_id_domain('account_id', 'acct')}, 'utf8');

# --- Messages ---------------------------------------------------------------

# U&'\00E4' is a character of two bytes, U&'\+01F600' is one of four.
for my $case (
	[ q{uuid_from_base('12ä', 36)} => 'Invalid character at position 3; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('1', 12) || repeat('ä', 13), 36)} => 'Invalid character at position 13; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('1', 24) || '😀', 36)} => 'Invalid character at position 25; a digit of base 36 is expected.' ],
	[ q{uuid_from_base(repeat('😀', 26), 36)} => 'At most 25 characters are allowed.' ],
	[ q{bigint_from_base('ää', 62)} => 'Invalid character at position 1; a digit of base 62 is expected.' ],
	[ q{ulid_to_uuid(repeat('ä', 13))} => 'Invalid character at position 1; a digit of base 32 is expected.' ],
	[ q{ulid_to_uuid('01ARZ3NDEKä')} => 'Invalid character at position 11; a digit of base 32 is expected.' ],
	[ q{ulid_to_uuid(repeat('😀', 27))} => 'At most 26 characters are allowed.' ],
	[ q{typeid_to_uuid('usär_' || repeat('0', 26))} => 'Invalid character at position 3; a prefix must consist of lower-case letters and underscores.' ],
	[ q{typeid_to_uuid('user_' || repeat('ä', 13))} => 'Invalid character at position 6; a digit of base 32 is expected.' ],
	[ q{typeid_to_uuid('user_' || repeat('ä', 60))} => 'Invalid character at position 6; a digit of base 32 is expected.' ],
	[ q{typeid_to_uuid(repeat('😀', 91))} => 'At most 90 characters are allowed.' ],
	[ q{prefixed_id_to_uuid('acct_1ä')} => 'Invalid character at position 7; a digit of base 36 is expected.' ],
	[ q{prefixed_id_to_uuid('äcct_1')} => 'Invalid character at position 1; a prefix must begin with a lower-case letter.' ],
	[ q{prefixed_id_to_uuid('a' || repeat('ä', 40) || '_1')} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ],
	[ q{prefixed_id_to_uuid(repeat('ä', 40))} => 'An underscore must separate the prefix from the digits.' ],
	[ q{prefixed_id_to_uuid(repeat('😀', 90))} => 'At most 89 characters are allowed.' ],
	[ q{prefixed_id('a' || repeat('ä', 40))} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ],
	[ q{prefixed_id('a' || repeat('ä', 31))} => 'Invalid character at position 2; a prefix must consist of lower-case letters, digits and underscores.' ])
{
	my ($call, $detail) = @$case;

	# psql takes bytes
	utf8::encode(my $query = "SET client_encoding = UTF8; SELECT idgen.$call");
	utf8::encode(my $name = $call);
	like(errors($query, database => 'utf8'), qr/^DETAIL:  \Q$detail\E$/m, $name);
}
utf8::encode(my $query = q{SET client_encoding = UTF8; SELECT idgen.is_prefixed_id('acct_' || repeat('ä', 12) || '1', 'acct'), idgen.is_prefixed_id('äcc_3e6wlko0bp8e7c9916hklbnd', 'acct')});
is(ask($query, 'utf8'), 'f|f', 'is_prefixed_id() rejects characters of two bytes');

# --- Order ------------------------------------------------------------------

# In Estonian, z sorts between s and t.
ask('CREATE TABLE sample AS SELECT md5(n::text)::uuid AS id FROM generate_series(1, 2000) n', 'utf8');
SKIP:
{
	skip 'the server has no ICU collations', 15
	  if ask(q{SELECT count(*) FROM pg_collation WHERE collname = 'et-x-icu'}, 'utf8') == 0;

	for my $name ((map { "uuid_to_base(id, $_)" } 32, 36, 58, 62), 'ulid_from_uuid(id)', q{typeid_from_uuid('user', id)}, q{prefixed_id('acct', id)})
	{
		for my $collation ('et-x-icu', 'C')
		{
			is( ask(qq{
					SELECT count(*) FILTER (WHERE text COLLATE "$collation" <= previous COLLATE "$collation") = 0
					FROM (SELECT text, lag(text) OVER (ORDER BY id) AS previous
						  FROM (SELECT id, idgen.$name AS text FROM sample) t) s}, 'utf8'),
				$collation eq 'C' ? 't' : 'f',
				"$name is " . ($collation eq 'C' ? '' : 'not ') . "in the order of uuids in collation $collation");
		}
	}

	# the collation of a domain overrides that of the database
	is( ask(q{
			CREATE TABLE account (id account_id PRIMARY KEY, uuid uuid);
			INSERT INTO account SELECT idgen.prefixed_id('acct', id), id FROM sample;
			SELECT array_agg(uuid ORDER BY id) = array_agg(uuid ORDER BY uuid) FROM account}, 'utf8'),
		't', 'an id domain is in the order of uuids');
}

# --- Domains ----------------------------------------------------------------

add_database('source');
ask(q{
	CREATE SCHEMA "My Types";
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_id_domain('"My Types"."Invoice Id"', 'inv');
	SELECT idgen.create_id_domain('gone_id', 'gone');
	DROP DOMAIN gone_id;
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id('acct'), invoice "My Types"."Invoice Id");
	INSERT INTO account VALUES ('acct_03e6wlko0bp8e7c9916hklbnd', 'inv_03e6wlko0bp8e7c9916hklbnd'), (DEFAULT, NULL)}, 'source');
my $before = ask('SELECT * FROM account ORDER BY id', 'source');

# A session that stays open has registered types of its temporary schema.
my $temporary = session(database => 'source');
$temporary->ask(q{CREATE TEMP TABLE mine (); CREATE DOMAIN pg_temp.own AS text});
is($temporary->ask(q{INSERT INTO idgen.id_prefixes VALUES ('mine', 'mine'), ('own', 'pg_temp.own')}), '', 'types of a temporary schema are registered');

for my $format (qw(plain custom))
{
	dump_and_restore($format, 'source', 'target');
	is(ask('SELECT * FROM account ORDER BY id', 'target'), $before, "$format: the rows are restored");
	is( ask('SELECT prefix, domain FROM idgen.id_prefixes ORDER BY prefix', 'target'),
		qq{acct|account_id\ninv|"My Types"."Invoice Id"},
		"$format: the prefixes of existing domains that are not temporary are restored, no others");
	is( ask(q{SELECT * FROM idgen.parse_prefixed_id('inv_1')}, 'target'),
		'"My Types"."Invoice Id"|inv|00000000-0000-0000-0000-000000000001',
		"$format: parse_prefixed_id() finds the domain");

	like(errors("INSERT INTO account VALUES ('$_')", database => 'target'),
		qr/ERROR:  23514: value for domain account_id violates check constraint "prefixed_id_check"$/m,
		"$format: the domain rejects $_")
	  for 'inv_03e6wlko0bp8e7c9916hklbnd', 'acct_1', 'acct_03E6WLKO0BP8E7C9916HKLBND';
	like(errors(q{SELECT idgen.create_id_domain('another', 'inv')}, database => 'target'),
		qr/ERROR:  23505: prefix "inv" is already in use\nDETAIL:  The prefix belongs to domain "My Types"."Invoice Id".$/m, "$format: a prefix stays taken");
	is( ask(q{SELECT idgen.create_id_domain('gone_id', 'gone')}, 'target'),
		'gone_id', "$format: the prefix of a dropped domain is available");

	ask('DROP DATABASE target');
}

# A dump without rows loses the prefixes; the statement of the page registers them again.
my ($repair) = grep { /INSERT INTO idgen.id_prefixes/ } map { s/^  //mgr } slurp_file("$FindBin::RealBin/../docs/operations.md") =~ /^  ```sql\n(.*?)^  ```/msg;
my $prefixes = 'SELECT prefix, domain::text FROM idgen.id_prefixes JOIN pg_type t ON t.oid = domain ORDER BY prefix COLLATE "C"';
my $structure = PostgreSQL::Test::Utils::tempdir() . '/structure.sql';
ask('CREATE DATABASE structure');
command_ok([ 'pg_dump', '--schema-only', "--file=$structure", $node->connstr('source') ], 'the structure is dumped');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $structure, '-d', $node->connstr('structure') ], '... and restored');
is(ask($prefixes, 'structure'), '', 'it has no prefixes');
ask($repair, 'structure');
is(ask($prefixes, 'structure'), qq{acct|account_id\ninv|"My Types"."Invoice Id"}, 'the statement of the page registers those of its domains');

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
	is( ask(q{SELECT domain FROM idgen.id_prefixes WHERE prefix = 'race'}, 'source'),
		$end eq 'COMMIT' ? 'race_one' : 'race_two',
		"$end, $isolation: the prefix belongs to one domain");
	ask(q{DROP DOMAIN IF EXISTS race_one, race_two; DELETE FROM idgen.id_prefixes WHERE prefix = 'race'}, 'source');
}

# A policy hides the row of the prefix.
ask(q{
	CREATE ROLE newcomer LOGIN;
	GRANT CREATE ON SCHEMA public TO newcomer;
	GRANT SELECT, INSERT, DELETE ON idgen.id_prefixes TO newcomer;
	ALTER TABLE idgen.id_prefixes ENABLE ROW LEVEL SECURITY;
	CREATE POLICY others ON idgen.id_prefixes USING (domain <> 'account_id'::regtype) WITH CHECK (true)}, 'source');
like(errors(q{SELECT idgen.create_id_domain('taken', 'acct')}, database => 'source', user => 'newcomer'),
	qr/ERROR:  23505: prefix "acct" is already in use\n(?!DETAIL)/, 'the domain of a hidden row is not named');

done_testing();
