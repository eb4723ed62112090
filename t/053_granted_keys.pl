# Verify what EXECUTE on a function that uses secret keys allows, and how a role can obtain this right, as described in
# docs/security.md: by grants, templates, dumps, and functions of a superuser.

use Functions;
use Page;
use Server;

my $node = Functions::add_key(init_server('granted', 'autovacuum = off'));
$node->start;
ask('CREATE EXTENSION idgen; CREATE ROLE app LOGIN; CREATE ROLE tenant LOGIN CREATEDB');
sub app { return outcome($_[0], user => 'app') }

# --- What the rights allow ------------------------------------------------------------
my @areas = ([ 'orders', 'shared' ], [ 'bills', 'app' ]);
ask("CREATE TABLE $_->[0] (id uuid PRIMARY KEY); GRANT SELECT, INSERT ON $_->[0] TO app;
	CREATE TRIGGER check_id BEFORE INSERT ON $_->[0] FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=$_->[0]', 'key_name=$_->[1]')") for @areas;
my $guessed = ask(q{SELECT idgen.mask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f')});
my $number = ask(q{SELECT idgen.permute(4711, 'bills', 1000000)});
my $old = ask(q{SELECT idgen.hmac_comb_at('2026-01-01', 'orders')});
my %use = (
	hmac_comb => [ map { "INSERT INTO $_->[0] VALUES (idgen.hmac_comb('$_->[0]', '$_->[1]')) RETURNING 't'" } @areas ],
	hmac_comb_at => ["SELECT left(idgen.hmac_comb_at('2026-01-01', 'orders')::text, 8) = left('$old', 8)"],
	is_recent_hmac_comb => ["SELECT idgen.is_recent_hmac_comb('$old', 'orders', clock => '2026-01-01')"],
	mask_uuid_v7 => ["SELECT idgen.mask_uuid_v7('018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f') = '$guessed'"],
	unmask_uuid_v7 => ["SELECT idgen.unmask_uuid_v7('$guessed') = '018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'"],
	permute => ["SELECT i = 4711 FROM generate_series(1, 10000) i WHERE idgen.permute(i, 'bills', 1000000) = $number"],
	unpermute => ["SELECT idgen.unpermute($number, 'bills', 1000000) = 4711"]);
for my $function (sort keys %use)
{
	for my $sql (@{ $use{$function} })
	{
		is(app($sql), '42501', "without the right: $sql");
		ask("GRANT EXECUTE ON FUNCTION idgen.$function TO app");
		is(app($sql), 't', "... with EXECUTE on $function()");
		ask("REVOKE EXECUTE ON FUNCTION idgen.$function FROM app");
	}
}
# With a period of 1,000 years, the prefix does not change while the test runs.
ask('GRANT EXECUTE ON FUNCTION idgen.hmac_comb TO app');
is(app(q{SELECT left(idgen.hmac_comb('orders', period => '365250 days')::text, 8)}),
	ask(q{SELECT left(idgen.hmac_comb('orders', period => '365250 days')::text, 8)}),
	'hmac_comb(): a key of the role has the prefix of those that others generate meanwhile');
ask('REVOKE EXECUTE ON FUNCTION idgen.hmac_comb FROM app');

# The function in docs/recipes.md allows only one area and one key.
ask((Page->new('recipes')->blocks('Keys that applications make'))[1] =~ /(CREATE FUNCTION.*?FROM PUBLIC;)/s);
is(app('SELECT new_basket_id()'), '42501', 'without the right: a function of the superuser');
ask('GRANT EXECUTE ON FUNCTION new_basket_id TO app');
is(app(q{SELECT left(new_basket_id()::text, 0) || 'made'}), 'made', 'a function of the superuser makes keys');
is(app(q{SELECT idgen.hmac_comb('orders')}), '42501', '... of its area only');

# --- Ways to obtain the right -------------------------------------------------------------
my $unmask = "SELECT idgen.unmask_uuid_v7('$guessed') IS NOT NULL";
sub tenant { my ($database, $sql) = @_; return outcome($sql, user => 'tenant', database => $database) }

# A superuser's grant on all functions includes those that use keys. An installer's grant does not.
for ([ installer => '42501' ], [ superuser => 't' ])
{
	my ($who, $result) = @$_;
	tenant('postgres', "CREATE DATABASE by_$who");
	tenant("by_$who", 'CREATE EXTENSION idgen');
	my $grant = 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen TO tenant';
	$who eq 'installer' ? tenant("by_$who", $grant) : ask($grant, "by_$who");
	is(tenant("by_$who", $unmask), $result, "GRANT … ON ALL FUNCTIONS by $who");
}

# A template can contain grants.
like(Page->new('security')->prose('Keys of the server'), qr/from a template has the template's grants/, 'on the page');
ask('CREATE DATABASE model IS_TEMPLATE true');
ask('CREATE EXTENSION idgen; GRANT EXECUTE ON FUNCTION idgen.unmask_uuid_v7 TO PUBLIC', 'model');
is(tenant('postgres', 'CREATE DATABASE copy TEMPLATE model'), '', 'a tenant copies a template');
is(tenant('copy', $unmask), 't', '... with the grants in it');

# A tenant's dump is restored into databases that have the extension. In the dump, the tenant's own schema idgen
# contains a function that has the name of one of the extension's functions.
tenant('postgres', 'CREATE DATABASE theirs');
tenant('theirs', q{
	CREATE SCHEMA idgen;
	CREATE FUNCTION idgen.unmask_uuid_v7(masked uuid, key_name text DEFAULT 'default') RETURNS uuid
		LANGUAGE sql RETURN masked;
	GRANT EXECUTE ON FUNCTION idgen.unmask_uuid_v7 TO tenant});
my ($dump) = run_command([ 'pg_dump', $node->connstr('theirs') ]);
for ([ carelessly => 't', on_error_stop => 0 ], [ strictly => '42501' ],
	[ by_tenant => '42501', on_error_stop => 0, user => 'tenant' ])
{
	my ($how, $result, %options) = @$_;
	tenant('postgres', "CREATE DATABASE $how");
	ask('CREATE EXTENSION idgen', $how);
	like((psql_said($dump, database => $how, %options))[1], qr/ERROR:  42P06: schema "idgen" already exists/,
		"$how: the dump has an error");
	is(tenant($how, $unmask), $result, '... and ' . ($result eq 't' ? 'gives the tenant the right' : 'gives no right'));
}

# A superuser's function has a quoted body. The owner of the function's database has installed the extension.
tenant('postgres', 'CREATE DATABASE installed');
tenant('installed', 'CREATE EXTENSION idgen');
ask(q{
	CREATE FUNCTION quoted() RETURNS uuid LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
		AS $$ SELECT idgen.hmac_comb('baskets') $$;
	CREATE FUNCTION atomic() RETURNS uuid LANGUAGE sql SECURITY DEFINER
		BEGIN ATOMIC SELECT idgen.hmac_comb('baskets'); END}, 'installed');
is(tenant('installed', q{
	DROP EXTENSION idgen CASCADE;
	CREATE SCHEMA idgen;
	CREATE TABLE callers AS SELECT current_user AS name LIMIT 0;
	CREATE FUNCTION idgen.hmac_comb(area text) RETURNS uuid LANGUAGE plpgsql
		AS 'BEGIN INSERT INTO public.callers VALUES (current_user); RETURN NULL; END';
	SELECT atomic()}), '42883', 'an installer who drops the extension drops a function with a body BEGIN ATOMIC');
is(tenant('installed', 'SELECT quoted(); TABLE callers'), "\n" . ask('SELECT current_user'),
	'but replaces what one with a quoted body calls as the superuser');

# A trigger continues to work after REVOKE. If a superuser creates it on a partitioned table, the owner of the table
# needs EXECUTE to add a partition.
my $trigger = q{CREATE TRIGGER check_id BEFORE INSERT ON %s FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=orders')};
my $execute = 'EXECUTE ON FUNCTION idgen.check_recent_hmac_id';
my $recent = ask(q{SELECT idgen.hmac_comb('orders')});
tenant('theirs', 'DROP SCHEMA idgen CASCADE');
ask("CREATE EXTENSION idgen; GRANT $execute TO tenant", 'theirs');
is(tenant('theirs', 'CREATE TABLE mine (id uuid); ' . sprintf $trigger, 'mine'), '', 'a tenant creates a trigger');
ask("REVOKE $execute FROM tenant", 'theirs');
is(tenant('theirs', "INSERT INTO mine VALUES ('$old')"), '23514', '... which after REVOKE refuses an old key');
is(tenant('theirs', "INSERT INTO mine VALUES ('$recent') RETURNING 't'"), 't', '... and accepts a recent one');
tenant('theirs', q{CREATE TABLE parts (id uuid) PARTITION BY HASH (id);
	CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0)});
ask(sprintf($trigger, 'parts'), 'theirs');
my $add = 'CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1)';
is(tenant('theirs', $add), '42501', 'the owner of a partitioned table with such a trigger adds no partition');
ask("GRANT $execute TO tenant", 'theirs');
is(tenant('theirs', $add), '', '... without EXECUTE');

done_testing();
