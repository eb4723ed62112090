# hmac_comb() and its checks: the keys are those of docs/keyed-comb.md, also of the program on that page; keys outside
# the window are refused; and no role that may not use a key learns a time by it, in no database.

use IPC::Run;
use KeyedPrefix;
use Server;

my %keys = (app => '5e1f0c00000000000000000000000001', former => '000102030405060708090a0b0c0d0e0f',
	theirs => 'ffeeddccbbaa99887766554433221100');
my $node = init_server('keys', "idgen.key_file = idgen_keys\ntimezone = 'UTC'\nautovacuum = off",
	allows_streaming => 1);
my $file = $node->data_dir . '/idgen_keys';

sub write_keys
{
	my ($content, $of) = @_;
	$of //= $file;
	unlink $of;
	append_to_file($of, $content);
	chmod 0600, $of or die "chmod: $!";
}
my $lines = "app $keys{app} postgres\nformer $keys{former}\ntheirs $keys{theirs} tenant # not ours\n";
write_keys($lines);
$node->start;
ask('CREATE EXTENSION idgen; CREATE ROLE evil LOGIN; CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN;
	GRANT CREATE ON SCHEMA public TO evil, owner');
my @of_keys = qw(hmac_comb is_recent_hmac_comb check_recent_hmac_comb check_recent_hmac_id);

# --- The definition ------------------------------------------------------------
# Borders of periods and twelfths, a millisecond around them; times before 1970 and near the end
my (@cases, @expected);
for my $period (1, 7, 100, 60_000, 3600_000, 86400_000)
{
	for my $base (-62_000_000_000_000, 0, 1795146240_000, 9_000_000_000_000_000)
	{
		my $start = KeyedPrefix::floor_div($base, $period) * $period;
		for my $twelfth (-12, -1, 0, 1, 5, 11, 12)
		{
			my $border = -KeyedPrefix::floor_div(-(12 * $start + $twelfth * $period), 12);
			for my $ms ($border - 1, $border, $border + 1)
			{
				my $area = ('', 'orders', "a b  c'", "gr\x{fc}\x{df}e \x{1f511}", 'x' x 63)[ @cases % 5 ];
				push @cases, [ $period, $ms, $area ];
				push @expected, keyed_prefix(pack('H*', $keys{app}), $area, $period, $ms);
			}
		}
	}
}
my $values = join ",\n", map { my ($p, $ms, $area) = @$_; "($p, $ms, '" . Encode::encode_utf8($area =~ s/'/''/gr)
  . "')" } @cases;
my $made = ask(qq{SELECT left(idgen.hmac_comb('app', period * interval '1 ms', area,
		(date '1970-01-01' + (ms / 86400000)::int)::timestamptz + ms % 86400000 * interval '1 ms')::text, 8)
	FROM (VALUES $values) v (period, ms, area)});
is($made, join("\n", @expected),
	scalar(@cases) . ' prefixes around the borders of periods are those of the definition');
add_database('latin1', 'LATIN1');
write_keys("$lines\napp $keys{app} latin1\n");
is(ask(q{SELECT left(idgen.hmac_comb('app', area => E'gr\\xfc\\xdfe', clock => 'epoch')::text, 8)}, 'latin1'),
	keyed_prefix(pack('H*', $keys{app}), "gr\x{fc}\x{df}e", 3600_000, 0),
	'an area is hashed in UTF-8 in each encoding');

SKIP:
{
	skip 'no python3', 1 if !defined $python;
	my ($program) = slurp_file('docs/keyed-comb.md') =~ /^```python\n(.*?)^```/ms;
	my @vectors = slurp_file('docs/keyed-comb.md') =~ /^([0-9a-f]{32},.*)$/mg;
	my $run = "$program\nimport sys\nfor line in sys.stdin:\n    key, area, period, ms, _ = line.split(',')\n"
	  . "    print(str(keyed_comb(bytes.fromhex(key), area, int(period), int(ms)))[:8])\n"
	  . "print(keyed_comb(bytes.fromhex('$keys{app}'), 'orders'))\n";
	my $input = join '', map { "$_\n" } @vectors;
	IPC::Run::run([ $python, '-c', $run ], '<', \$input, '>', \my $output) or die;
	my @lines = split /\n/, $output;
	my $id = pop @lines;
	is("@lines", join(' ', map { /,(\w+)$/ } @vectors), 'the program of the page has the vectors of the page');
	is(ask("SELECT idgen.is_recent_hmac_comb('$id', 'app', area => 'orders')"), 't', 'and the server accepts its keys');
}

# --- What a check accepts ----------------------------------------------------------
# (By random clocks and windows: t/003_properties.pl.)
my $accepted = ask(q{SELECT count(*) FILTER (WHERE idgen.is_recent_hmac_comb(idgen.uuid_v4(), 'app', '1 day'))
	FROM generate_series(1, 10000000)});
# Poisson, mean 1.34
cmp_ok($accepted, '<=', 16, 'of 10,000,000 random UUIDs, a window of two days accepts one or two');
is(ask(q{SELECT count(*) FILTER (WHERE idgen.is_recent_hmac_comb(idgen.hmac_comb('app', area => 'orders'), 'app',
	area => 'lines')),
	count(*) FILTER (WHERE idgen.is_recent_hmac_comb(idgen.hmac_comb('app', area => 'a'), 'former', area => 'a')),
	count(*) FILTER (WHERE idgen.is_recent_hmac_comb(idgen.uuid_v7(), 'app')) FROM generate_series(1, 1000)}),
	'0|0|0', 'keys of another area, of the same area under another key, and of version 7 are refused');
is(outcome(q{SELECT idgen.is_recent_hmac_comb(idgen.uuid_v4(), 'app', '32 hours')}), 'f', 'a window of 64 periods');
is(outcome(q{SELECT idgen.is_recent_hmac_comb(idgen.uuid_v4(), 'app', '32 hours 1 us')}), '22023', 'and no wider one');
my $stolen = ask(q{SELECT idgen.hmac_comb('app', area => 't', clock => now() - interval '30 days')});
my $refused = errors("SELECT idgen.check_recent_hmac_comb('$stolen', 'app', area => 't')");
my $instant = '[-0-9]+ [0-9:.]+\+00';
like($refused,
	qr/ERROR:  23514: .*\nDETAIL:  The prefix of identifier $stolen is not one of those from $instant to $instant\.\n/,
	'a refusal contains the identifier and the window, and no prefix');
like($refused,
	qr/\nHINT:  The program .* key "app", period 01:00:00 and area "t", .*\nCONSTRAINT NAME:  check_recent_hmac_comb\n/,
	'and what the program needs');

# --- Who learns something ----------------------------------------------------------
ask("GRANT EXECUTE ON FUNCTION @{[ join ', ', map { qq(idgen.$_) } @of_keys ]} TO owner;
	CREATE FUNCTION new_key() RETURNS uuid LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC SELECT idgen.hmac_comb('app',
		area => 't'); END");
my $trigger = q{CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON %s FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=t'%s)};
sub trigger_on { my ($table, $more) = @_; return sprintf $trigger, $table, $more // '' }
outcome('CREATE TABLE orders (id uuid PRIMARY KEY, n int); GRANT TRIGGER, INSERT, SELECT ON orders TO evil;
	GRANT INSERT, UPDATE, SELECT ON orders TO app', user => 'owner');
is(outcome($_->[0], user => 'evil'), '42501', $_->[1]) for (
	(map { [ "SELECT idgen.$_->[0]($_->[1])", "without the right: $_->[0]()" ] } [ 'hmac_comb', "'app'" ],
		[ 'is_recent_hmac_comb', "'$stolen', 'app'" ], [ 'check_recent_hmac_comb', "'$stolen', 'app'" ]),
	[ 'CREATE TABLE mine (id uuid); ' . trigger_on('mine'), 'a trigger on an own table' ],
	[ 'CREATE TEMP TABLE mine (id uuid); ' . trigger_on('mine'), 'on a temporary table' ],
	[ trigger_on('orders', ", 'past_tolerance=31 hours'"),
	'with the privilege TRIGGER on a table of a role that has the right' ],
	[ 'CREATE TABLE parts (id uuid) PARTITION BY HASH (id); ' . trigger_on('parts'), 'on a partitioned table' ],
	[ 'CREATE TABLE base (id uuid); CREATE VIEW v AS SELECT * FROM base; '
	. (trigger_on('v') =~ s/BEFORE INSERT OR UPDATE OF id/INSTEAD OF INSERT/r), 'INSTEAD OF, on a view' ]);
is(outcome("CREATE TEMP TABLE mine (id uuid); CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_id('id', 'hmac_comb'); INSERT INTO mine VALUES ('$stolen')", user => 'evil'),
	'42704', 'check_recent_id() has no such scheme');

is(outcome(trigger_on('orders'), user => 'owner'), '', 'a role that has the right makes a trigger');
my $insert = 'INSERT INTO orders (id) VALUES (new_key())';
for ([ 'a role without it', 'app' ], [ 'a role with TRIGGER', 'evil' ])
{
	my ($who, $role) = @$_;
	is(outcome($insert, user => $role), '', "$who inserts");
	is(outcome("INSERT INTO orders (id) VALUES ('$stolen')", user => $role), '23514',
		"$who: a key of another time is refused");
}
like(errors("COPY orders FROM STDIN;\n$stolen\t1\n\\.\n"), qr/23514/, 'COPY, too');
is(outcome("UPDATE orders SET n = 1", user => 'app'), '', 'an UPDATE of another column passes');
is(outcome("UPDATE orders SET id = '$stolen'", user => 'app'), '23514', 'one of the key does not');
ask("ALTER TABLE orders DISABLE TRIGGER check_id; INSERT INTO orders VALUES ('$stolen');
	ALTER TABLE orders ENABLE TRIGGER check_id");
is(outcome("INSERT INTO orders VALUES ('$stolen')", user => 'app'), '23505', 'a repeated INSERT meets the row');
is(outcome("INSERT INTO orders VALUES ('$stolen') ON CONFLICT DO NOTHING", user => 'app'), '', 'or does nothing');

ask('ALTER TABLE orders OWNER TO evil');
is(outcome($insert, user => 'app'), '', 'with another owner, INSERTs succeed');
is(outcome(trigger_on('orders', ", 'past_tolerance=31 hours'") =~ s/CREATE/CREATE OR REPLACE/r, user => 'evil'),
	'42501', 'who cannot replace the trigger');
is(outcome("CREATE TABLE copied (LIKE orders INCLUDING ALL);
	SELECT count(*) FROM pg_trigger WHERE tgrelid = 'copied'::regclass", user => 'evil'),
	0, 'LIKE copies none');
outcome('CREATE TABLE parents (id uuid) PARTITION BY HASH (id); ' . trigger_on('parents')
  . '; CREATE TABLE child PARTITION OF parents FOR VALUES WITH (MODULUS 1, REMAINDER 0)', user => 'owner');
ask('ALTER TABLE parents OWNER TO evil');
is(outcome("INSERT INTO parents SELECT new_key(); INSERT INTO parents VALUES ('$stolen')", user => 'evil'), '23514',
	'a partition has the trigger of its table, with its window');
is(outcome('ALTER TABLE parents DETACH PARTITION child;
	CREATE TABLE child2 PARTITION OF parents FOR VALUES WITH (MODULUS 1, REMAINDER 0)', user => 'evil'),
	'42501', 'and a role without the right makes no other one');
is(outcome('SET ROLE owner', user => 'evil'), '42501', 'SET ROLE needs membership');
is(outcome(q{SELECT idgen.hmac_comb('app')}, user => 'app'), '42501',
	'a SECURITY DEFINER function does not give its right away');
ask('REVOKE EXECUTE ON FUNCTION idgen.check_recent_hmac_id FROM owner');
is(outcome($insert, user => 'app'), '', 'a trigger outlives the right of its creator');

# --- Arguments of the trigger ----------------------------------------------------------
for ([ q{'id'}, '22023', 'no key' ], [ '', '22023', 'no column' ], [ q{'id', 'key=none'}, '42704', 'an unknown key' ],
	[ q{'id', 'key=theirs'}, '42704', 'a key of another database' ], [ q{'id', 'key=app', 'prefix_bytes=2'}, '22023',
	'prefix bytes' ],
	[ q{'id', 'key=app', 'key=app'}, '22023', 'a name twice' ], [ q{'id', 'key=app', 'tolerance=33 hours'}, '22023',
	'a wide window' ],
	[ "'id', 'key=app', 'area=@{[ 'x' x 64 ]}'", '22023', 'a long area' ], [ q{'id', 'key=app', 'period=0'}, '22023',
	'no period' ],
	[ q{'n', 'key=app'}, '42804', 'another type' ],
	[ q{'id', 'key=app', 'area=t', 'period=1 hour', 'tolerance=1 minute'}, '', 'all' ])
{
	my ($arguments, $expected, $name) = @$_;
	is(outcome("CREATE TEMP TABLE x (id uuid, n int); CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_hmac_id($arguments); INSERT INTO x VALUES (new_key());
			INSERT INTO x VALUES (NULL)"), $expected, "arguments: $name");
}

# --- Databases, files, reloads -----------------------------------------------------------
ask(q{CREATE ROLE tenant LOGIN CREATEDB});
outcome('CREATE DATABASE tenant', user => 'tenant');
is(outcome('CREATE EXTENSION idgen', database => 'tenant', user => 'tenant'), '',
	'the owner of another database installs idgen');
is(outcome("SELECT idgen.$_", database => 'tenant', user => 'tenant'), '42501', "and has no EXECUTE: $_")
  for q{hmac_comb('theirs')}, "is_recent_hmac_comb('$stolen', 'app')", "check_recent_hmac_comb('$stolen', 'app')",
	q{unmask_uuid_v7(idgen.uuid_v4(), 'app')};
ask('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA idgen TO tenant', 'tenant');
is(outcome("SELECT idgen.$_", database => 'tenant', user => 'tenant'), '42704',
	"with EXECUTE, it does not find keys of others: $_")
  for q{hmac_comb('app')}, "is_recent_hmac_comb('$stolen', 'app')", q{mask_uuid_v7(idgen.uuid_v7(), 'app')},
	q{permute(1, key_name => 'app')};
like(outcome(q{SELECT idgen.hmac_comb('theirs')}, database => 'tenant', user => 'tenant'), qr/^[0-9a-f-]{36}$/,
	'its own one is found');
like(outcome(q{SELECT idgen.hmac_comb('former')}, database => 'tenant', user => 'tenant'), qr/^[0-9a-f-]{36}$/,
	'and one without names');

my $session = session();
$session->ask('CREATE TEMP TABLE x (id uuid)');
$session->ask(q{CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'key=app', 'area=t')});
my $former = $session->ask('SELECT new_key()');
is($session->ask("INSERT INTO x VALUES ('$former')"), '', 'a session uses a key');
write_keys("app $keys{theirs}\n");
$node->reload;
wait_until(sub { $session->ask("INSERT INTO x VALUES ('$former')") eq '23514' });
is($session->ask('INSERT INTO x VALUES (new_key())'), '', 'and, after a reload, the new one of that name');
write_keys("other $keys{theirs}\n");
$node->reload;
ok(wait_until(sub { $session->ask('SELECT new_key()') eq '42704' }), 'and, after another reload, none');
is($session->ask("INSERT INTO x VALUES ('$former')"), '42704', 'nor does the trigger');
$session->quit;

# --- Dumps (Standbys: t/009_key_file.pl.) ----------------------------------------------
write_keys('');
$node->reload;
dump_and_restore('custom', 'postgres', 'restored');
is(outcome('SELECT count(*) > 2 FROM orders', database => 'restored'), 't', 'without the key, rows are restored');
is(outcome("INSERT INTO orders VALUES (idgen.uuid_v4())", database => 'restored'), '42704', 'and INSERTs fail');
write_keys($lines);
$node->reload;
ask('CREATE DATABASE theirs OWNER tenant');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/orders';
command_ok([ 'pg_dump', '--format=custom', '--table=orders', "--file=$dump", $node->connstr('postgres') ],
	'one table is dumped');
ask('CREATE EXTENSION idgen', 'theirs');
my ($out, $restore_errors) = run_command([ 'pg_restore', '--no-owner', '--no-privileges', '--username=tenant',
	'--dbname', $node->connstr('theirs'), $dump ]);
like($restore_errors, qr/permission denied for function (idgen\.)?check_recent_hmac_id/,
	'a role without EXECUTE restores it with an error');
is(ask(q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'orders'::regclass AND NOT tgisinternal}, 'theirs'), 0,
	'and without the trigger');
done_testing();
