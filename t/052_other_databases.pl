# Verify what a tenant, a role with CREATEDB that owns a database, can do to the other databases of the server. The test
# calls all functions that have an effect beyond their database. docs/security.md names these functions.

use Functions;
use Page;
use Server;

my $node = Functions::add_key(init_server('others', "idgen.node_id = 5\nidgen.launch_id = 77\nautovacuum = off"));
$node->start;
ask('CREATE ROLE tenant LOGIN CREATEDB; CREATE ROLE clerk LOGIN');
my $has_advisor = Functions::install($node, 'postgres');
add_database('shop');
my $shop = ask(q{SELECT oid FROM pg_database WHERE datname = 'shop'});

# Run SQL as a role, in the tenant's database unless another database is given.
sub as { my ($role, $sql, $database) = @_; return outcome($sql, user => $role, database => $database // 'theirs') }

# The tenant chooses the OID of its database. With this OID, the database shares its tickers with the shop.
is(as('tenant', 'CREATE DATABASE theirs OID ' . ($shop + 64), 'postgres'), '', 'the tenant creates a database');
is(as('tenant', 'CREATE EXTENSION idgen'), '', '... and the extension in it');
ask('CREATE DATABASE beside OID ' . ($shop + 65));
ask('CREATE EXTENSION idgen', 'beside');

# --- The list ---------------------------------------------------------------------
my @of_advisor = $has_advisor ? qw(index_reports index_wal) : ();
my @reaching = sort @Functions::of_keys, @Functions::tickers, qw(keyed_comb decimal_id), @of_advisor;
my $section = join '', map { Page->new('security')->section($_) } 'Keys of the server', 'Other databases of the server';
like($section, qr/`$_\(\)`/, "docs/security.md names $_()") for @reaching;

# --- Keys ---------------------------------------------------------------------------
my %call = map { $_->{name} => Functions::call($_) } Functions::installed($node, 'postgres');
my $masked = ask('CREATE TABLE orders (id uuid DEFAULT idgen.uuid_v7(), amount int);
	INSERT INTO orders (amount) VALUES (1) RETURNING idgen.mask_uuid_v7(id)', 'shop');
my $unmask = "SELECT idgen.uuid_timestamp(idgen.unmask_uuid_v7('$masked'))";
as('tenant', q{
	CREATE TABLE mine (id uuid, n bigint DEFAULT idgen.permute(1, 'orders'));
	CREATE VIEW masks AS SELECT idgen.mask_uuid_v7(id) FROM mine;
	CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER RETURN idgen.permute(1, 'orders');
	INSERT INTO mine VALUES (gen_random_uuid(), 1)});
for my $name (@Functions::of_keys)
{
	my $use = $name =~ /_id$/
	  ? "CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW
		EXECUTE FUNCTION idgen.$name('id', 'area=orders', 'key_name=default')"
	  : "SELECT $call{$name}";
	is(as('tenant', $_), '42501', "the tenant cannot run: $_")
	  for $use, "GRANT EXECUTE ON FUNCTION idgen.$name TO tenant", "ALTER FUNCTION idgen.$name OWNER TO tenant",
	  "ALTER EXTENSION idgen DROP FUNCTION idgen.$name", "ALTER FUNCTION idgen.$name SECURITY DEFINER";
}
is(as('tenant', $_), '42501', "the tenant cannot run: $_")
  for $unmask, 'INSERT INTO mine DEFAULT VALUES', 'TABLE masks', 'SELECT definer()',
  "CREATE FUNCTION mine(uuid, text) RETURNS uuid LANGUAGE c AS '\$libdir/idgen', 'idgen_unmask_uuid_v7'",
  'CREATE OPERATOR @@@ (LEFTARG = uuid, RIGHTARG = text, FUNCTION = idgen.unmask_uuid_v7)',
  "CREATE AGGREGATE unmasked(text) (SFUNC = idgen.unmask_uuid_v7, STYPE = uuid, INITCOND = '$masked')";
is(as('tenant', q{DROP EXTENSION idgen CASCADE; CREATE EXTENSION idgen; SELECT idgen.permute(1, 'orders')}), '42501',
	'nor after it has installed it again');

# Only a superuser can grant EXECUTE to the tenant. The grant applies to all keys that the tenant's database can find.
ask("GRANT EXECUTE ON FUNCTION idgen.unmask_uuid_v7 TO tenant", 'theirs');
like(as('tenant', $unmask), qr/^\d{4}-/, 'with a grant of a superuser, the tenant reads a mask of the shop');
as('tenant', 'GRANT EXECUTE ON FUNCTION idgen.unmask_uuid_v7 TO clerk');
is(as('clerk', $unmask), '42501', '... but cannot grant the right to others');

# A superuser's function that uses one key must not call functions that the tenant creates in place of the extension's
# functions.
ask(q{
	CREATE FUNCTION permuted(n bigint) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
	BEGIN ATOMIC
		SELECT idgen.permute(n, 'orders', 1000, 'v2');
	END;
	GRANT EXECUTE ON FUNCTION permuted TO tenant}, 'theirs');
is(as('tenant', 'SELECT permuted(1) IS NULL'), 'f', 'the tenant can use a key by a function for it');
is(as('tenant', 'DROP EXTENSION idgen'), '2BP01', '... without which the extension cannot be dropped');
as('tenant', q{
	DROP EXTENSION idgen CASCADE;
	CREATE SCHEMA idgen;
	CREATE FUNCTION idgen.permute(bigint, text, bigint, text) RETURNS bigint
		LANGUAGE plpgsql AS 'BEGIN ALTER ROLE tenant SUPERUSER; RETURN 1; END'});
is(as('tenant', 'SELECT permuted(1)'), '42883', '... but with CASCADE, and then the function is gone');
is(as('tenant', 'DROP SCHEMA idgen CASCADE; CREATE EXTENSION idgen'), '', 'the tenant installs the extension again');
ask("GRANT EXECUTE ON FUNCTION idgen.unmask_uuid_v7 TO tenant", 'theirs');

# The key file restricts a key to databases by name, but the owner of a database can rename it.
append_to_file($node->data_dir . '/idgen_keys', "shops 00112233445566778899aabbccddeeff shop\n");
my $of_shop = $unmask =~ s/'\)\)/', 'shops'))/r;
like(ask($of_shop, 'shop'), qr/^\d+-/, 'a key of the shop');
is(as('tenant', $of_shop), '42704', '... is not found from the database of the tenant');
ask('ALTER DATABASE shop RENAME TO former');
as('tenant', 'ALTER DATABASE theirs RENAME TO shop', 'postgres');
like(as('tenant', $of_shop, 'shop'), qr/^\d+-/, '... unless the tenant gives it the name of the shop, which is free');
as('tenant', 'ALTER DATABASE shop RENAME TO theirs', 'postgres');
ask('ALTER DATABASE former RENAME TO shop');

# --- Tickers --------------------------------------------------------------------------
my $ahead = sub {
	return ask('SELECT extract(epoch FROM idgen.snowflake_timestamp(idgen.snowflake()))::bigint', $_[0]) - time;
};
# Without the node number, the values of a ticker are consecutive while they are ahead of the clock.
my $number = 'SELECT id >> 22 << 12 | (id & 4095) FROM idgen.snowflake() id';
my $set_mark = sub {
	return "SELECT setval('idgen.snowflake_mark', (extract(epoch FROM now())::bigint + $_[0]) << 28)";
};

my $before = ask('SELECT idgen.snowflake()', 'shop');
as('tenant', $set_mark->(72_000) . '; SELECT idgen.snowflake()');
cmp_ok($ahead->('shop'), '>', 70_000, 'the tenant sets its mark twenty hours ahead: then those of the shop are, too');
cmp_ok(ask('SELECT idgen.snowflake()', 'shop'), '>', $before, '... and none repeats');
cmp_ok(abs $ahead->('beside'), '<', 3600, 'those of a database with another OID modulo 64 are not');
my $first = as('tenant', $number);
ask('SELECT count(idgen.snowflake()) FROM generate_series(1, 5000)', 'shop');
my $then = as('tenant', $number);
cmp_ok($then - $first, '>=', 5000, 'the tenant learns how many identifiers the shop has generated');
cmp_ok($then - $first, '<=', 5010, '... exactly, while they are ahead of the clock');

# The tenant repeatedly raises the mark as far as the function allows. The shop must therefore wait, however slow the
# machine is.
my $waiting = session(database => 'shop');
my $pid = $waiting->{pid};
$waiting->send('SELECT count(*) FROM generate_series(1, 1e6) WHERE pg_sleep(0.01) IS NULL OR idgen.snowflake() > 0');
ok( wait_until(sub {
			as('tenant', $set_mark->(86_408) . "; SET statement_timeout = '1s'; SELECT idgen.snowflake()");
			return ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' }),
	'the tenant makes the sessions of the shop wait');
ask("SELECT pg_cancel_backend($pid)");
$waiting->answer;
is(as('tenant', 'SELECT idgen.uuid_v7_ordered() IS NULL, idgen.js_id() IS NULL, idgen.trace_id() IS NULL'), 'f|f|f',
	'the other tickers are not concerned');

# --- Shared memory ----------------------------------------------------------------------
# The prefixes of the tenant's keyed COMBs differ from the shop's, even at the same time and for the same area, with or
# without a clock.
for my $arguments (q{'orders'}, q{'orders', clock => '2026-01-01'})
{
	my $prefix = "SELECT left(idgen.keyed_comb($arguments)::text, 8)";
	my ($of_shop, $of_tenant, $of_shop_later) = (ask($prefix, 'shop'), as('tenant', $prefix), ask($prefix, 'shop'));
	ok($of_tenant ne $of_shop && $of_tenant ne $of_shop_later, "keyed_comb($arguments): another prefix than the shop");
}
my $at_clock = q{SELECT left(idgen.keyed_comb('orders', clock => '2026-01-01')::text, 8)};
my $of_dropped = ask($at_clock, 'beside');
ask('DROP DATABASE beside');
as('tenant', 'CREATE DATABASE again OID ' . ($shop + 65), 'postgres');
is(as('tenant', "CREATE EXTENSION idgen; $at_clock", 'again'), $of_dropped,
	'a database with the OID of a dropped one has its prefixes');

# --- Settings ---------------------------------------------------------------------------
is(as('tenant', 'SELECT launch_id FROM idgen.decimal_id_parts(idgen.decimal_id())'), '77',
	'decimal_id() reveals the launch of the server');
is(as('tenant', 'SELECT idgen.js_id_node(idgen.js_id())'), '5', '... and js_id() the node');

# --- WAL and statistics of the server -----------------------------------------------------
SKIP:
{
	skip 'idgen_advisor is not installed', 1 if !$has_advisor;
	as('tenant', 'CREATE EXTENSION idgen_advisor');
	my $others = 'SELECT count(*) FROM idgen.index_reports(0) WHERE table_name::oid NOT IN (SELECT oid FROM pg_class)';
	is(as('tenant', $others), '0', 'index_reports() names indexes of its database only');
}

done_testing();
