# Verify text identifiers in a UTF8 database. Text identifiers sort in the order of their uuids with COLLATE "C", but
# not with every collation. Dumps contain the domains of prefixed ids and their registered prefixes, but no prefix whose
# domain is not in the dump (t/049_operations.pl tests partial dumps). If two sessions register the same prefix, only
# one succeeds.

use Server;

my $node = start_server('server');
add_database('utf8', 'UTF8');
ask(q{SELECT idgen.create_id_domain('account_id', 'acct')}, 'utf8');

# --- Order ------------------------------------------------------------------
# The Estonian alphabet has z between s and t.
ask('CREATE TABLE sample AS SELECT md5(n::text)::uuid AS id FROM generate_series(1, 2000) n', 'utf8');
SKIP:
{
	skip 'the server has no ICU collations', 9 if ask(q{SELECT count(*) FROM pg_collation WHERE collname = 'et-x-icu'},
		'utf8') == 0;

	for my $name ((map { "uuid_to_base(id, $_)" } 32, 36, 58, 62), 'ulid_from_uuid(id)',
		q{typeid_from_uuid('user', id)},
		q{prefixed_id_from_uuid('acct', id)})
	{
		my ($in_c, $in_estonian) =
		  map { qq{count(*) FILTER (WHERE text COLLATE "$_" <= previous COLLATE "$_") = 0} } 'C', 'et-x-icu';
		is(ask(qq{SELECT $in_c, $in_estonian
				FROM (SELECT idgen.$name AS text, lag(idgen.$name) OVER (ORDER BY id) AS previous FROM sample) s},
					'utf8'),
			't|f', "$name is in the order of uuids in collation C, not in et-x-icu");
	}
	# A range selects by time, regardless of the collation. The Danish collation sorts aa after z.
	is(ask(q{
			SELECT count(*) FILTER (WHERE ulid < '01JZ' IS DISTINCT FROM ulid COLLATE "C" < '01JZ') > 0,
				count(*) FILTER (WHERE object_id < '66b0' IS DISTINCT FROM object_id COLLATE "C" < '66b0') > 0,
				count(*) FILTER (WHERE idgen.ulid_within(ulid, '-infinity', at) OR NOT idgen.ulid_within(ulid, at)
					OR idgen.object_id_within(object_id, '-infinity', at) OR NOT idgen.object_id_within(object_id, at))
			FROM (SELECT at, idgen.ulid(at) COLLATE "et-x-icu" AS ulid,
				idgen.object_id(at) COLLATE "da-x-icu" AS object_id
				FROM generate_series(timestamptz '2024-01-01 00:00+00', '2026-01-01 00:00+00', '1 hour') at) s},
					'utf8'),
		't|t|0', 'ranges of texts do not depend on the collation of the column');
	# The collation of a domain overrides the database's collation.
	is(ask(q{
			CREATE TABLE account (id account_id PRIMARY KEY, uuid uuid);
			INSERT INTO account SELECT idgen.prefixed_id_from_uuid('acct', id), id FROM sample;
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
	CREATE TABLE account (id account_id PRIMARY KEY DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.uuid_v4()),
		invoice "My Types"."Invoice Id");
	INSERT INTO account VALUES ('acct_03e6wlko0bp8e7c9916hklbnd', 'inv_03e6wlko0bp8e7c9916hklbnd'), (DEFAULT, NULL)},
		'source');
my $prefixes = 'SELECT prefix, domain FROM idgen.id_prefixes ORDER BY prefix COLLATE "C"';

# A session that stays open registers types in its temporary schema.
my $temporary = session(database => 'source');
$temporary->ask(q{CREATE TEMP TABLE mine (); CREATE DOMAIN pg_temp.own AS text});
is($temporary->ask(q{INSERT INTO idgen.id_prefixes VALUES ('mine', 'mine'), ('own', 'pg_temp.own')}), '',
	'types of a temporary schema are registered');

# A dump does not contain the member objects of an extension. The extension's script creates them, and may register
# their prefixes.
ask(q{SELECT idgen.create_id_domain('member_id', 'member'); ALTER EXTENSION plpgsql ADD DOMAIN member_id}, 'source');

dump_and_restore('custom', 'source', 'target');
is(ask('SELECT * FROM account ORDER BY id', 'target'), ask('SELECT * FROM account ORDER BY id', 'source'),
	'the rows are restored');
is(ask($prefixes, 'target'), qq{acct|account_id\ninv|"My Types"."Invoice Id"},
	'the prefixes of domains in the dump are restored, no others');
is(ask(q{SELECT * FROM idgen.parse_prefixed_id('inv_1')}, 'target'),
	'"My Types"."Invoice Id"|inv|00000000-0000-0000-0000-000000000001', 'parse_prefixed_id() finds the domain');

# Two sessions register the same prefix. The second one waits for the first.
my $named = qr/23505:\ prefix\ "race"\ is\ already\ in\ use\n
	DETAIL:\ \ The\ prefix\ belongs\ to\ domain\ race_one\.\n.*CONSTRAINT\ NAME:\ \ id_prefixes_pkey\n/xs;
for my $case ([ 'COMMIT', 'read committed', $named ], [ 'ROLLBACK', 'read committed', qr/^race_two/ ],
	[ 'COMMIT', 'repeatable read', qr/ERROR:  40001/ ], [ 'ROLLBACK', 'serializable', qr/^race_two/ ])
{
	my ($end, $isolation, $said) = @$case;
	my ($first, $second, $observer) = map { session(database => 'source') } 1 .. 3;
	$first->ask(q{BEGIN; SELECT idgen.create_id_domain('race_one', 'race')});
	$second->ask("SET default_transaction_isolation = '$isolation'");
	$second->send_blocked($observer, q{SELECT idgen.create_id_domain('race_two', 'race')});
	$first->ask($end);
	like($second->answer . $second->{errors}, $said, "$end, $isolation: the result of the second session");
	is(ask(q{SELECT domain FROM idgen.id_prefixes WHERE prefix = 'race'}, 'source'),
		$end eq 'COMMIT' ? 'race_one' : 'race_two', "$end, $isolation: the prefix belongs to one domain");
	ask(q{DROP DOMAIN IF EXISTS race_one, race_two; DELETE FROM idgen.id_prefixes WHERE prefix = 'race'}, 'source');
	$_->quit for $first, $second, $observer;
}

# In the snapshot of a transaction, the prefix still belongs to a domain that another session has dropped.
my ($reading, $dropping) = map { session(database => 'source') } 1 .. 2;
$dropping->ask(q{SELECT idgen.create_id_domain('dropped', 'dropped')});
$reading->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$dropping->ask('DROP DOMAIN dropped');
is($reading->ask(q{SELECT idgen.create_id_domain('again', 'dropped')}), '23505', 'the prefix is in use');
is($reading->ask(q{ROLLBACK; SELECT idgen.create_id_domain('again', 'dropped')}), 'again', '... until the rollback');
$_->quit for $reading, $dropping;

# A row-level security policy hides the prefix's row.
ask(q{
	CREATE ROLE newcomer LOGIN;
	GRANT CREATE ON SCHEMA public TO newcomer;
	GRANT SELECT, INSERT, DELETE ON idgen.id_prefixes TO newcomer;
	ALTER TABLE idgen.id_prefixes ENABLE ROW LEVEL SECURITY;
	CREATE POLICY others ON idgen.id_prefixes USING (domain <> 'account_id'::regtype) WITH CHECK (true)}, 'source');
like(errors(q{SELECT idgen.create_id_domain('taken', 'acct')}, database => 'source', user => 'newcomer'),
	qr/ERROR:  23505: prefix "acct" is already in use\n(?!DETAIL)/, 'the domain of a hidden row is not named');
done_testing();
