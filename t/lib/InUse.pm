# This module creates a database that uses every part of idgen that stores something: keys of all kinds, recorded
# commands, an id domain, rights, settings, and the tickers' high-water marks. Tests use it to check that an operation
# preserves all of these.
#
#   InUse::create($node, 'shop');
#   my $before = InUse::contents($node, 'shop');
#   ...
#   is(InUse::contents($node, 'shop'), $before, 'the contents are the same');
#   InUse::check_works($node, 'shop', 'afterwards');

package InUse;
use strict;
use warnings;
use Server;
use Test::More;

# Each function has an expression that increases with each new value. Since trace_id() wraps around every 388 days, its
# expression is the distance from the first value.
my %ordered = (
	snowflake => 'id',
	uuid_v7_ordered => 'event::text COLLATE "C"',
	trace_id => '(trace - (SELECT trace FROM orders
		ORDER BY id LIMIT 1)::numeric + 9223372036854775808) % 9223372036854775808',
	js_id => 'page',
	decimal_id => 'ticket');
my $rows = 2000;
my $node_id = 21;
my $epoch = '2024-01-01 00:00:00+00';
my $request = q{'{"customer": 7, "lines": [1, 2.50]}'};

# Settings for a server whose databases have no settings of their own
our $settings = "idgen.node_id = $node_id\nidgen.launch_id = 12345\n";

# This query returns all rights on idgen's relations, their columns and idgen's functions, except default rights.
our $rights = q{
	SELECT relname, '', a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
	FROM pg_class, aclexplode(relacl) a WHERE relnamespace = 'idgen'::regnamespace
	UNION ALL
	SELECT relname, attname, a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
	FROM pg_class c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) a
		WHERE relnamespace = 'idgen'::regnamespace
	UNION ALL
	SELECT proname, '', a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
	FROM pg_proc, aclexplode(proacl) a
	WHERE pronamespace = 'idgen'::regnamespace
	ORDER BY 1, 2, 3, 4, 5};

sub _fill { return "SET ROLE app; INSERT INTO orders (round) SELECT $_[0] FROM generate_series(1, $rows)" }

# Create the extension in the given version, or in the default version. The database's owner, who is not a superuser,
# also owns the extension. The settings are stored with the database, unless the server already has them.
sub create
{
	my ($node, $database, %params) = @_;
	my $version = $params{version} ? "VERSION '$params{version}'" : '';
	$node->safe_psql('postgres', q{
		SELECT format('CREATE ROLE %I', name) FROM unnest('{shopkeeper,app,auditor}'::name[]) name
		WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec});
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER shopkeeper");
	$node->safe_psql('postgres',
		"ALTER DATABASE $database SET idgen.node_id = $node_id; ALTER DATABASE $database SET idgen.launch_id = 12345")
	  unless $params{server_has_settings};
	$node->safe_psql($database, qq{
		GRANT CREATE ON SCHEMA public TO shopkeeper;
		SET ROLE shopkeeper;
		CREATE EXTENSION idgen $version;
		GRANT SELECT, INSERT ON idgen.creation_identifiers TO app;
		GRANT SELECT (command_id, created_at) ON idgen.creation_identifiers TO auditor;
		GRANT SELECT ON idgen.id_prefixes TO app;
		SELECT idgen.create_id_domain('account_id', 'acct');
		CREATE TABLE orders (
			id bigint PRIMARY KEY DEFAULT idgen.snowflake('$epoch'),
			event uuid NOT NULL UNIQUE DEFAULT idgen.uuid_v7_ordered(),
			trace bigint NOT NULL UNIQUE DEFAULT idgen.trace_id(),
			page bigint NOT NULL UNIQUE DEFAULT idgen.js_id('$epoch'),
			ticket bigint NOT NULL UNIQUE DEFAULT idgen.decimal_id(),
			public_id uuid NOT NULL UNIQUE DEFAULT idgen.short_comb(),
			document text COLLATE "C" NOT NULL UNIQUE DEFAULT idgen.object_id(),
			account account_id NOT NULL UNIQUE
				DEFAULT idgen.prefixed_id_from_uuid('acct', idgen.keyed_comb('accounts')),
			type_id text COLLATE "C" NOT NULL UNIQUE DEFAULT idgen.typeid('order'),
			round int NOT NULL,
			CHECK (idgen.uuid_version(public_id) = 4));
		CREATE INDEX orders_document_hash ON orders USING hash (document);
		CREATE INDEX orders_event_time ON orders (idgen.uuid_timestamp(event));
		CREATE TRIGGER orders_public_id BEFORE INSERT ON orders
			FOR EACH ROW EXECUTE FUNCTION idgen.check_recent_id('public_id', 'short_comb', 'tolerance=10 minutes');
		GRANT SELECT, INSERT ON orders TO app;
		RESET ROLE;
		REVOKE EXECUTE ON FUNCTION idgen.uuid_v1(timestamptz) FROM PUBLIC;
		REVOKE EXECUTE ON FUNCTION idgen.typeid(text, timestamptz) FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION idgen.typeid(text, timestamptz) TO app;
		SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a',
			'e0000000-0000-4000-8000-00000000000a'::uuid, 'order', $request);
		SELECT idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 42, 'invoice');
		SELECT idgen.create_once_text('c0000000-0000-4000-8000-00000000000c', idgen.object_id(), 'document')});
	$node->safe_psql($database, _fill(1));
}

# Return the contents of the database as text, without generating identifiers.
sub contents
{
	my ($node, $database) = @_;
	my $contents = $node->safe_psql($database, q{
		SET timezone = 'UTC';
		SELECT 'orders', count(*), md5(string_agg(o::text, ' ' ORDER BY id)) FROM orders o;
		SELECT 'by index', count(*) FROM orders o WHERE EXISTS (SELECT FROM orders i WHERE i.document = o.document);
		SELECT command_id, command_name, entity_id, entity_number, entity_text, request_hash, created_at
			FROM idgen.creation_identifiers ORDER BY 1;
		SELECT prefix, domain FROM idgen.id_prefixes;
		SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'idgen' ORDER BY 1;
		SELECT unnest(setconfig) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
			WHERE datname = current_database() ORDER BY 1;
		SELECT c.relname, a.grantee::regrole, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
			WHERE c.relnamespace = 'idgen'::regnamespace AND a.grantee <> c.relowner
				ORDER BY c.relname, a.grantee::regrole::text, a.privilege_type;
		SELECT t.attrelid::regclass, t.attname, a.grantee::regrole, a.privilege_type
			FROM pg_attribute t, aclexplode(t.attacl) a
			WHERE t.attrelid = 'idgen.creation_identifiers'::regclass ORDER BY t.attnum;
		SELECT has_function_privilege(role, f, 'EXECUTE') FROM (VALUES ('app', 'idgen.uuid_v1(timestamptz)'),
			('app', 'idgen.typeid(text, timestamptz)'), ('auditor', 'idgen.typeid(text, timestamptz)')) v (role, f)});
	$contents =~ /^orders\|\d+\|\w{32}\nby index\|\d+\n(?:c0.*\n){3}acct\|account_id\n(?:\w+\|\d+\n){5}/m
	  or die "not in use: $contents";
	return $contents;
}

# Check that the database still works, and that new identifiers are greater than all previous ones.
sub check_works
{
	my ($node, $database, $when) = @_;
	my $round = 1 + $node->safe_psql($database, 'SELECT max(round) FROM orders');
	$node->safe_psql($database, _fill($round));
	for my $case (
		# The request is equal to the recorded one, but is written differently.
		[ 'a retry returns the recorded uuid',
			q{SET ROLE app; SELECT * FROM idgen.create_once('c0000000-0000-4000-8000-00000000000a',
			idgen.uuid_v7(), 'order', '{"lines": [1.0, 2.5], "customer": 7}')},
			'e0000000-0000-4000-8000-00000000000a|f' ],
		[ 'a retry returns the recorded number',
			q{SELECT * FROM idgen.create_once_bigint('c0000000-0000-4000-8000-00000000000b', 43, 'invoice')}, '42|f' ],
		[ "$rows more rows with new keys", "SELECT count(*) FROM orders WHERE round = $round", $rows ],
		(map { [ "$_ is greater than all before", "SELECT min($ordered{$_}) FILTER (WHERE round = $round)
			> max($ordered{$_}) FILTER (WHERE round < $round) FROM orders", 't' ] } sort keys %ordered),
		[ 'with the same node and epoch', "SELECT bool_and(idgen.snowflake_node(id) = $node_id),
			bool_and(abs(extract(epoch FROM idgen.snowflake_timestamp(id, '$epoch') - clock_timestamp())) < 7200)
			FROM orders WHERE round = $round", 't|t' ],
		[ q{the accounts' prefix names their domain},
			q{SET ROLE app; SELECT DISTINCT domain, prefix FROM orders, idgen.parse_prefixed_id(account)},
			'account_id|acct' ],
		[ 'another request is an error',
			q{SELECT idgen.create_once('c0000000-0000-4000-8000-00000000000a', idgen.uuid_v7(), 'order', '8')},
			'23514' ],
		[ 'another prefix is an error', q{INSERT INTO orders (round, account)
			VALUES (0, idgen.prefixed_id_from_uuid('x', gen_random_uuid()))}, '23514' ],
		[ 'a prefix in use is an error', q{SELECT idgen.create_id_domain('other_id', 'acct')}, '23505' ],
		[ 'an old key is an error',
			q{INSERT INTO orders (round, public_id) VALUES (0,
				idgen.short_comb(clock => now() - interval '11 minutes'))}, '23514' ],
		[ 'revoked EXECUTE is an error', 'SET ROLE app; SELECT idgen.uuid_v1()', '42501' ],
		[ 'a column without grant is an error', 'SET ROLE auditor; SELECT entity_id FROM idgen.creation_identifiers',
		'42501' ])
	{
		my ($name, $statement, $expected) = @$case;
		is(outcome($statement, node => $node, database => $database), $expected, "$when: $name");
	}
}
1;
