# From other keys, extensions and databases to idgen's, and node numbers in containers,
# as docs/recipes.md has them.

use Page;
use Server;

my $node = start_server('changed_keys', 'autovacuum = off');
my $recipe = Page->new('recipes');

# --- Random keys, bigserial, identity -----------------------------------------
my ($change) = $recipe->section('Changing the keys of a table in use') =~ /`ALTER TABLE … (.*?)`/;
my $file = q{SELECT pg_relation_filenode('sessions')};

ask('CREATE TABLE sessions (id uuid PRIMARY KEY DEFAULT gen_random_uuid());
	INSERT INTO sessions SELECT gen_random_uuid() FROM generate_series(1, 1000)');
my $before = ask($file);
my $id = ask("ALTER TABLE sessions $change; INSERT INTO sessions DEFAULT VALUES RETURNING id");
is(ask($file), $before, 'a changed default rewrites nothing');
is(ask('SELECT count(*) FROM sessions'), 1001, 'old keys stay');
is(ask("SELECT idgen.is_recent_short_comb('$id', '1 day')"), 't', 'a new one is a short COMB');

# A second, public column of a table in use
my @public = split /(?<=;)\n/, ($recipe->blocks('A bigint inside, a uuid outside'))[1];
my $of_tickets = q{SELECT pg_relation_filenode('tickets')};
ask($_) for @public[ 0 .. 1 ];
$before = ask($of_tickets);
ask($_) for @public[ 2 .. $#public ];
is(ask($of_tickets), $before, 'a second column rewrites nothing');
is(ask(q{INSERT INTO tickets (note) VALUES ('new'); SELECT count(DISTINCT public_id), bool_and(
	idgen.is_recent_short_comb(public_id, '1 day')) FROM tickets}), '1001|t', 'old and new rows have ids');
is(outcome($_), '23514', $_) for 'INSERT INTO tickets (public_id) VALUES (NULL)';

my $settings = 'SET idgen.node_id = 1;';
my ($stdout) = $recipe->paste('From bigserial or identity');
is( ask(q{SELECT count(DISTINCT id),
			bool_and(idgen.snowflake_timestamp(id) = created_at AND idgen.snowflake_node(id) = 1023) FROM receipts}),
	'3000|t', 'rows that exist get snowflakes of their creation time');
my ($is_below, $key) = split /\n/, $stdout;

is($is_below, 't', 'the key of a bigserial is below the next snowflake');
cmp_ok($key, '>', 1000, 'the next key is a snowflake');
is(ask("SELECT idgen.snowflake_node($key)"), 1, 'of this server');

my $far = ($recipe->blocks('From bigserial or identity'))[0] =~ s/invoices/far/gr =~ s/bigserial/bigint GENERATED ALWAYS AS IDENTITY/r;
my $greatest = $far =~ s/DEFAULT VALUES;/OVERRIDING SYSTEM VALUE VALUES (9223372036854775807);/r;
like($recipe->outcome($greatest =~ s/^ALTER.*/ROLLBACK;/msr), qr/^f/, 'the greatest key is not');
is(ask(q{SELECT attidentity FROM pg_attribute WHERE attrelid = 'far'::regclass AND attname = 'id'}), 'a', 'and the identity stays');
ask('DROP TABLE far');
like($recipe->outcome($far), qr/^t\n\d{15,}$/, 'a table with an identity column gets snowflakes');
ask("CREATE TABLE narrow (id serial PRIMARY KEY); ALTER TABLE narrow ALTER id SET DEFAULT idgen.snowflake()");
is($recipe->outcome("$settings INSERT INTO narrow DEFAULT VALUES"), '22003', 'in a column of four bytes, they are an error');

# --- Coming from another extension ------------------------------------------
my %named = map { $_ => 1 } map { ($_->[1] // '') =~ /\b([a-z_0-9]+)\(/g } $recipe->table('Coming from another extension');

delete @named{qw(clock_timestamp make_interval to_timestamp extract)};
cmp_ok(scalar keys %named, '>', 20, 'the page names functions');
my %exists = map { $_ => 1 } split /\n/, ask(q{SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace});
is(join(' ', grep { !$exists{$_} } sort keys %named), '', 'and all exist');

# Values of other extensions, from their documents
my $foreign = $recipe->section('Coming from another extension');
my ($bound_of_ulids) = $foreign =~ /`id >= (ulid_to_uuid\(.*?)`/;
my ($bound_of_ordered, $time_of_ordered) = $foreign =~ /`id >= (comb_floor\(to_.*?)`, time: `(.*?)`/;
s/\b(?=(ulid|comb)_)/idgen./g for $bound_of_ulids, $bound_of_ordered, $time_of_ordered;
# as ramsey/uuid makes them: the digits of the seconds and five more, as a number of 48 bits
my $ordered = join '-', unpack 'A8 A4', sprintf '%012x', '1700000000' . '12345';
ask('CREATE TYPE typeid AS (type varchar(63), uuid uuid)');
for (
	[ 'pg_uuidv7: the same time and bound',
		q{idgen.uuid_timestamp('018570bb-4a7d-7c7e-8df4-6d47afd8c8fc'), idgen.uuid_v7_floor('2023-01-02 04:26:40.637+00')},
		'2023-01-02 04:26:40.637+00|018570bb-4a7d-7000-8000-000000000000' ],
	[ 'pg_uuidv7: the same time without a time zone', q{
		idgen.uuid_v7('2023-01-02 04:26:40.637'::timestamp AT TIME ZONE 'UTC')::text LIKE '018570bb-4a7d-7%',
		idgen.uuid_timestamp('018570bb-4a7d-7000-8000-000000000000') AT TIME ZONE 'UTC'}, 't|2023-01-02 04:26:40.637' ],
	[ 'pgEdge: the same time, and the node of an early release', q{
		idgen.snowflake_timestamp(136169504773242881, '2023-01-01 00:00:00+00'), 136169504773242881 & 1023, (136169504773242881 >> 10) & 4095},
		'2024-01-11 18:08:59.845+00|1|0' ],
	[ 'typeid-sql: the same text', q{idgen.typeid_prefix(id), idgen.typeid_from_uuid('member', idgen.typeid_to_uuid(id)) = id
		FROM (VALUES ('member_01h455vb4pex5vsknk084sn02q')) v(id)}, 'member|t' ],
	[ 'typeid-sql: a composite value is shown', q{idgen.typeid_from_uuid((id).type, (id).uuid)
		FROM (VALUES (('member', '01890a5d-ac96-774b-bcce-b302099a8057')::typeid)) v(id)}, 'member_01h455vb4pex5vsknk084sn02q' ],
	[ 'TimescaleDB: the same bound and time', q{idgen.uuid_v7_floor('2025-09-04 11:01:00+02'),
		idgen.uuid_timestamp('019913ce-f124-7835-96c7-a2df691caa98') = '2025-09-04 10:19:13.316+02'}, '019913f5-30e0-7000-8000-000000000000|t' ],
	[ 'ULIDs as uuid: the bound is the first of the millisecond', qq{
		$bound_of_ulids <= idgen.ulid_to_uuid('01HF4PQWFZ0000000000000000'),
		$bound_of_ulids > idgen.ulid_to_uuid('01HF4PQWFYZZZZZZZZZZZZZZZZ')
		FROM (VALUES (idgen.ulid_timestamp('01HF4PQWFZ0123456789ABCDEF'))) s(start)}, 't|t' ],
	[ 'Laravel: the bound is the first UUID of the time', qq{
		count(*) FILTER (WHERE id >= $bound_of_ordered), count(*), min($time_of_ordered)
		FROM (VALUES ('$ordered-4abc-9def-0123456789ab'::uuid)) v(id),
			(VALUES (timestamptz '2023-11-14 22:13:20.12345+00'), ('2023-11-14 22:13:20.12346+00')) s(start)},
		'1|2|2023-11-14 22:13:20.12345+00' ],
	[ 'sequential-uuids: the same prefix', q{left(idgen.short_comb(make_interval(secs => 60), clock => at)::text, 4)
		= lpad(to_hex((extract(epoch FROM at) / 60)::bigint % 65536), 4, '0') FROM (VALUES (timestamptz '2026-11-20 03:44:00+00')) v(at)}, 't' ],
	$node->pg_version < 18 ? () : [ 'PostgreSQL 18: the same time and version', q{
		bool_and(uuid_extract_timestamp(id) = idgen.uuid_timestamp(id) AND uuid_extract_version(id) = idgen.uuid_version(id))
		FROM (SELECT uuidv7() UNION ALL SELECT idgen.uuid_v7() FROM generate_series(1, 100)) v(id)}, 't' ])
{
	my ($name, $expressions, $expected) = @$_;
	is(ask("SET timezone = 'UTC'; SELECT $expressions"), $expected, $name);
}

SKIP:
{
	skip 'uuid-ossp is not installed', 1 if ask(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'uuid-ossp'}) == 0;
	is( ask(q{CREATE EXTENSION "uuid-ossp";
		SELECT bool_and(uuid_generate_v5(uuid_ns_url(), n) = idgen.uuid_v5('6ba7b811-9dad-11d1-80b4-00c04fd430c8', n))
		FROM (SELECT 'https://example.com/' || i FROM generate_series(1, 100) i) v(n)}), 't', 'uuid-ossp: the same name-based uuids');
}

# --- From another database: the table's expressions give its examples --------------------
my %functions_of = map { $_ => 1 } split /\n/, ask(q{SELECT proname FROM pg_proc WHERE pronamespace = 'idgen'::regnamespace});
my ($columns, undef, @rows) = $recipe->table('From another database');
cmp_ok(scalar @rows, '>=', 15, 'the page has other databases');
for (@rows)
{
	my ($there, $expression, $example) = @$_;
	my ($input, $expected) = $example =~ /^`(.*?)` → `(.*?)`$/ or die "no example: $example";
	my ($type) = $expression =~ /\bid >>/ ? 'bigint' : $input =~ /-/ ? 'uuid' : 'text';
	$expression =~ s/^`|`$|\\//g;
	$expression =~ s/\b(\w+)(?=\()/$functions_of{$1} ? "idgen.$1" : $1/ge;
	is(ask("SET timezone = 'UTC'; SELECT $expression FROM (VALUES ($type '$input')) v(@{[ $expression =~ /\bhex\b/ ? 'hex' : 'id' ]})"),
		$expected, "$there: $input");
}

# --- Node numbers in containers ---------------------------------------------
my $heading = 'Node numbers in containers';
my ($command) = $recipe->blocks($heading, 'sh');
my $folder = PostgreSQL::Test::Utils::tempdir();

# The image's entry point ends with the command that it is given.
append_to_file("$folder/docker-entrypoint.sh", qq{#!/bin/sh\necho "\$@"\n});
chmod 0755, "$folder/docker-entrypoint.sh";
is(`PATH=$folder:\$PATH HOSTNAME=db-3 sh -c '$command'`, "postgres -c idgen.node_id=3\n", 'a pod gets its ordinal');
like($recipe->section($heading), qr/`\$\(\(100 \+ \$\{HOSTNAME##\*-\}\)\)`/, 'the page has another first number');
is(`HOSTNAME=db-17 sh -c 'echo \$((100 + \${HOSTNAME##*-}))'`, "117\n", 'which is added');

# A table takes the place of that of Citus.
ask('CREATE TABLE pg_dist_local_group (groupid int); INSERT INTO pg_dist_local_group VALUES (7)');
$recipe->paste($heading);
ok($node->poll_query_until('postgres', 'SELECT idgen.snowflake_node(idgen.snowflake()) = 8'), 'a node of Citus gets a number by its group');

# The command line takes precedence. The server is stopped whatever it says.
$node->stop;
system_or_bail('pg_ctl', '--pgdata', $node->data_dir, '--wait', '--silent', '--log', $node->logfile, '--options', '-c idgen.node_id=3', 'start');
my $number = eval { ask('SELECT idgen.snowflake_node(idgen.snowflake())') };
system_or_bail('pg_ctl', '--pgdata', $node->data_dir, '--wait', '--silent', '--mode', 'fast', 'stop');
is($number, 3, 'a server gets the number of its command line');

done_testing();
