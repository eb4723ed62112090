# Verify hmac_comb(), hmac_comb_at() and the functions that check their keys. The keys follow the definition in
# docs/keyed-comb.md and agree with the program on that page. hmac_comb() generates keys for the current time only. The
# checks reject keys outside their window. A role without the right to use a secret key cannot learn the times of the
# keys generated with it. (t/052_other_databases.pl tests other databases.)

use FindBin;
use IPC::Run;
use KeyedPrefix;
use Server;
use Time::HiRes qw(time);

my %keys = (app => '5e1f0c00000000000000000000000001', former => '000102030405060708090a0b0c0d0e0f',
	theirs => 'ffeeddccbbaa99887766554433221100');
my $node = init_server('keys', "idgen.key_file = idgen_keys\ntimezone = 'UTC'\nautovacuum = off");
my $file = $node->data_dir . '/idgen_keys';

sub write_keys
{
	unlink $file;
	append_to_file($file, $_[0]);
	chmod 0600, $file or die "chmod: $!";
}
my $lines = "app $keys{app} postgres\nformer $keys{former}\n";
write_keys($lines);
$node->start;
ask('CREATE EXTENSION idgen; CREATE ROLE evil LOGIN; CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN;
	GRANT CREATE ON SCHEMA public TO evil, owner');
my @of_keys = qw(hmac_comb hmac_comb_at is_recent_hmac_comb check_recent_hmac_id);

# --- The definition ------------------------------------------------------------
# Use times at the boundaries of periods and twelfths, and a millisecond before and after each boundary. Some of them
# are before 1970 or near the end of the timestamp range.
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
# Return the prefixes of the keys generated with a secret key for each given triple of period, time and area.
sub prefixes
{
	my $key = shift;
	my $values = join ",\n", map { my ($p, $ms, $area) = @$_; "($p, $ms, '" . Encode::encode_utf8($area =~ s/'/''/gr)
	  . "')" } @_;
	return ask(qq{SELECT left(idgen.hmac_comb_at((date '1970-01-01' + (ms / 86400000)::int)::timestamptz
			+ ms % 86400000 * interval '1 ms', area, '$key', period * interval '1 ms')::text, 8)
		FROM (VALUES $values) v (period, ms, area)});
}
is(prefixes('app', @cases), join("\n", @expected),
	scalar(@cases) . ' prefixes around the borders of periods are those of the definition');
add_database('latin1', 'LATIN1');
write_keys("$lines\napp $keys{app} latin1\n");
is(ask(q{SELECT left(idgen.hmac_comb_at('epoch', E'gr\\xfc\\xdfe', 'app')::text, 8)}, 'latin1'),
	keyed_prefix(pack('H*', $keys{app}), "gr\x{fc}\x{df}e", 3600_000, 0),
	'an area is hashed in UTF-8 in each encoding');

my @vectors = slurp_file('docs/keyed-comb.md') =~ /^([0-9a-f]{32},.*)$/mg;
is(prefixes('former', map { [ (split /,/)[ 2, 3, 1 ] ] } @vectors), join("\n", map { /,(\w+)$/ } @vectors),
	'and those of the vectors of the page');

SKIP:
{
	skip 'no python3', 1 if !defined $python;
	my ($program) = slurp_file('docs/keyed-comb.md') =~ /^```python\n(.*?)^```/ms;
	my $run = "$program\nimport sys\nfor line in sys.stdin:\n    key, area, period, ms, _ = line.split(',')\n"
	  . "    print(str(keyed_comb(bytes.fromhex(key), area, int(period), int(ms)))[:8])\n"
	  . "print(keyed_comb(bytes.fromhex('$keys{app}'), 'orders'))\n";
	my $input = join '', map { "$_\n" } @vectors;
	IPC::Run::run([ $python, '-c', $run ], '<', \$input, '>', \my $output) or die;
	my @lines = split /\n/, $output;
	my $id = pop @lines;
	is("@lines", join(' ', map { /,(\w+)$/ } @vectors), 'the program of the page has the vectors of the page');
	is(ask("SELECT idgen.is_recent_hmac_comb('$id', 'orders', 'app')"), 't', 'and the server accepts its keys');
}

# --- Only the present --------------------------------------------------------------
# A key of hmac_comb() always has the current prefix for its period and area, even after calls of hmac_comb_at() in the
# same session. An area that looks like the rest of a message is treated as an area.
my @areas = ('', 'orders', ' orders', '489000 orders', '3600000 489000 orders', '1 3600000 489000 orders', '2');
my $session = session();
my @wrong;
for my $key ('app', 'former')
{
	for my $seconds (1, 7, 60, 3600, 86400, 365250 * 86400)
	{
		for my $area (@areas)
		{
			my ($period, $from) = (1000 * $seconds, int 1000 * time);
			my ($other, $prefix) = split /\|/, $session->ask("SELECT
				idgen.hmac_comb_at('2026-01-01', '$area', '$key', '$seconds s'),
				left(idgen.hmac_comb('$area', '$key', '$seconds s')::text, 8)");
			my ($first, $last) = map { KeyedPrefix::floor_div(12 * $_, $period) } $from, int 1000 * time;
			push @wrong, "$key $seconds $area" if !grep {
				$prefix eq keyed_prefix(pack('H*', $keys{$key}), $area, $period,
					-KeyedPrefix::floor_div(-$_ * $period, 12)) } $first .. $last;
		}
	}
}
is("@wrong", '', 'hmac_comb() alone has the prefixes of the present');
is(ask(q{SELECT array_agg(p.parameter_name::text ORDER BY ordinal_position) FROM information_schema.parameters p
	JOIN information_schema.routines r USING (specific_schema, specific_name) WHERE r.routine_schema = 'idgen'
		AND r.routine_name = 'hmac_comb'}), '{area,key_name,period}', 'and no argument for a time');
$session->quit;

# --- What a check accepts ----------------------------------------------------------
# t/003_properties.pl tests random clocks and windows, and sql/keys.sql tests the arguments.
my $accepted = ask(q{SELECT count(*) FILTER (WHERE idgen.is_recent_hmac_comb(idgen.uuid_v4(), 't', 'app', '1 day'))
	FROM generate_series(1, 10000000)});
# The number of accepted UUIDs has a Poisson distribution with a mean of 1.34.
cmp_ok($accepted, '<=', 16, 'of 10,000,000 random UUIDs, a window of two days accepts one or two');
my $stolen = ask(q{SELECT idgen.hmac_comb_at(now() - interval '30 days', 't', 'app')});

# --- What a role can learn ----------------------------------------------------------
ask("GRANT EXECUTE ON FUNCTION @{[ join ', ', map { qq(idgen.$_) } @of_keys ]} TO owner;
	CREATE FUNCTION new_key() RETURNS uuid LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC SELECT idgen.hmac_comb('t',
		'app'); END");
my $trigger = q{CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON %s FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=t', 'key_name=app'%s)};
sub trigger_on { my ($table, $more) = @_; return sprintf $trigger, $table, $more // '' }
outcome('CREATE TABLE orders (id uuid PRIMARY KEY, n int); GRANT TRIGGER, INSERT, SELECT ON orders TO evil;
	GRANT INSERT, UPDATE, SELECT ON orders TO app', user => 'owner');
# t/041_search_path.pl and t/053_granted_keys.pl test calls without the EXECUTE privilege.
is(outcome($_->[0], user => 'evil'), '42501', $_->[1]) for (
	[ 'CREATE TABLE mine (id uuid); ' . trigger_on('mine'), 'a trigger on an own table' ],
	[ 'CREATE TEMP TABLE mine (id uuid); ' . trigger_on('mine'), 'on a temporary table' ],
	[ trigger_on('orders', ", 'past_tolerance=31 hours'"),
	'with the privilege TRIGGER on a table of a role that has the right' ],
	[ 'CREATE TABLE parts (id uuid) PARTITION BY HASH (id); ' . trigger_on('parts'), 'on a partitioned table' ],
	[ 'CREATE TABLE base (id uuid); CREATE VIEW v AS SELECT * FROM base; '
	. (trigger_on('v') =~ s/BEFORE INSERT OR UPDATE OF id/INSTEAD OF INSERT/r), 'INSTEAD OF, on a view' ]);

is(outcome(trigger_on('orders'), user => 'owner'), '', 'a role that has the right makes a trigger');
my $insert = 'INSERT INTO orders (id) VALUES (new_key())';
for ([ 'a role without it', 'app' ], [ 'a role with TRIGGER', 'evil' ])
{
	my ($who, $role) = @$_;
	is(outcome($insert, user => $role), '', "$who inserts");
	is(outcome("INSERT INTO orders (id) VALUES ('$stolen')", user => $role), '23514',
		"$who: a key of another time is refused");
}
my $refused = errors("INSERT INTO orders (id) VALUES ('$stolen')", user => 'app');
my $instant = '[-0-9]+ [0-9:.]+\+00';
like($refused,
	qr/ERROR:  23514: .*\nDETAIL:  The prefix of identifier $stolen is not one of those from $instant to $instant\.\n/,
	'a refusal contains the identifier and the window, and no prefix');
like($refused,
	qr/\nHINT:  The program .* key "app", period 01:00:00 and area "t", .*\n(?:.*\n)*CONSTRAINT NAME:  check_id\n/,
	'and what the program needs');
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
is(outcome('SET ROLE owner', user => 'evil'), '42501', 'SET ROLE needs membership');
is(outcome(q{SELECT idgen.hmac_comb('t', 'app')}, user => 'app'), '42501',
	'a SECURITY DEFINER function does not give its right away');

# The generator is a column default, so every role that inserts rows must be allowed to call it.
ask(q{
	CREATE TABLE lines (id uuid PRIMARY KEY DEFAULT idgen.hmac_comb('lines', 'app'));
	GRANT INSERT ON lines TO app, evil;
	CREATE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON lines FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=lines', 'key_name=app');
	GRANT EXECUTE ON FUNCTION idgen.hmac_comb TO app});
is(outcome('INSERT INTO lines DEFAULT VALUES', user => 'app'), '', 'a default, for a role with EXECUTE on hmac_comb()');
is(outcome('INSERT INTO lines DEFAULT VALUES', user => 'evil'), '42501', 'and for no other one');
is(outcome("SELECT idgen.$_", user => 'app'), '42501', "who dates no keys: $_")
  for q{hmac_comb_at('2026-01-01', 't', 'app')}, "is_recent_hmac_comb('$stolen', 't', 'app')";
ask('REVOKE EXECUTE ON FUNCTION idgen.hmac_comb FROM app');
ask('REVOKE EXECUTE ON FUNCTION idgen.check_recent_hmac_id FROM owner');

# --- Keys of the trigger --------------------------------------------------------------
# A key is replaced by another key when the table already has rows.
ask(q{CREATE TABLE items (id uuid PRIMARY KEY, n int)});
my $accept = sub {
	ask("CREATE OR REPLACE TRIGGER check_id BEFORE INSERT OR UPDATE OF id ON items FOR EACH ROW
		EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=items', 'key_name=$_[0]')");
};
my $new = sub { return "INSERT INTO items SELECT idgen.hmac_comb('items', '$_[0]') RETURNING id" };
$accept->('former');
my $first = ask($new->('former'));
is(outcome($new->('app')), '23514', 'a key that the trigger does not know');
$accept->('app former');
like(outcome($new->($_)), qr/^[0-9a-f-]{36}$/, "with two names, keys of $_") for 'app', 'former';
like(errors("INSERT INTO items VALUES ('$stolen')"), qr/\nHINT:  The program .* key "app", (?!.*former)/,
	'a message names the first one alone');
$accept->('app');
is(outcome($new->('former')), '23514', 'and with the new one, no longer those of the former');
my $repeat = "INSERT INTO items VALUES ('$first')";
is(outcome($repeat), '23505', 'whose rows are there');
my $keep = "UPDATE items SET id = id WHERE id = '$first' RETURNING n IS NULL";
$accept->('app none');
is(outcome($repeat), '42704', 'a name that is not in the file is an error, also for a row that is there');
is(outcome($keep), 't', 'but not for an UPDATE that keeps the identifier');
unlink $file;
is(outcome($repeat), '58P01', 'so is a file that is not there');
is(outcome($keep), 't', 'again not for that UPDATE');
is(outcome("UPDATE items SET id = idgen.uuid_v4() WHERE id = '$first'"), '58P01', 'but for one of the identifier');
write_keys($lines);
$node->reload;

# --- Reloads -----------------------------------------------------------------------------
$session = session();
$session->ask('CREATE TEMP TABLE x (id uuid)');
$session->ask(q{CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW
	EXECUTE FUNCTION idgen.check_recent_hmac_id('id', 'area=t', 'key_name=app')});
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

# --- The cost of a rejection ------------------------------------------------------------------
# A check computes the same hashes for every identifier, so that its duration does not reveal which part of a guess is
# right. The library counts the calls of the OpenSSL function that begins a hash.
SKIP:
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	chomp(my $cc = `$ENV{PG_CONFIG} --cc` || 'cc');
	my $library = "$folder/hash_counter.so";
	system("$cc -shared -fPIC -o $library $FindBin::RealBin/lib/hash_counter.c -ldl 2>/dev/null") == 0
	  or skip 'there is no C compiler', 1;
	$node->stop;
	{
		local %ENV = (%ENV, LD_PRELOAD => $library, IDGEN_HASHES => $folder);
		write_keys($lines);
		$node->start;
	}
	# A period of 1,000 years does not end during the test.
	ask(q{CREATE TABLE guessed (id uuid);
		CREATE TRIGGER t BEFORE INSERT ON guessed FOR EACH ROW EXECUTE FUNCTION
			idgen.check_recent_hmac_id('id', 'area=t', 'key_name=app former', 'period=365250 days')});
	my %check = (
		is_recent_hmac_comb => [ 3600_000, 1795146240_000, q{SELECT idgen.is_recent_hmac_comb('%s', 't', 'app former',
			'90 minutes', clock => '2026-11-20 03:44+00')}, 'f' ],
		check_recent_hmac_id => [ 365250 * 86400_000, int 1000 * time, q{INSERT INTO guessed VALUES ('%s')}, '23514' ]);
	for my $name (sort keys %check)
	{
		my ($period, $ms, $statement, $refused) = @{ $check{$name} };
		my ($app, $former) = map { keyed_prefix(pack('H*', $keys{$_}), 't', $period, $ms) } 'app', 'former';
		# Compute the prefixes that the first and the second key yield for the other times of the window.
		my %accepted = map { $_ => 1 } map { my $key = $_;
			map { keyed_prefix(pack('H*', $keys{$key}), 't', $period, $ms + $_ * 60_000) } -90 .. 90 } 'app', 'former';
		my ($part) = grep { my $wrong = $_; !grep { $accepted{"$_$wrong"} } map { substr $_, 0, 6 } keys %accepted }
		  map { sprintf '%02x', $_ } 0 .. 255;
		my %guesses = (
			'nothing is right' => "00000000-0000-4000-8000-000000000000",
			(map { ("the period of $_->[0]" => substr($_->[1], 0, 6) . "$part-0000-4000-8000-000000000000",
					"the prefix of $_->[0], but the version" => "$_->[1]-0000-7000-8000-000000000000") }
				[ app => $app ], [ former => $former ]));
		my %hashes;
		for my $guess (sort keys %guesses)
		{
			my $session = session();
			is($session->ask(sprintf $statement, $guesses{$guess}), $refused, "$name: $guess: refused");
			$hashes{$guess} = -s "$folder/$session->{pid}" // 0;
			is($session->ask(sprintf $statement, $guesses{'nothing is right'}), $refused, '... and another one');
			is(-s "$folder/$session->{pid}" // 0, $hashes{$guess}, '... without another hash');
			$session->quit;
		}
		skip 'the server does not compute hashes with OpenSSL', 1 if !grep { $_ } values %hashes;
		is_deeply(\%hashes, { map { $_ => $hashes{'nothing is right'} } keys %guesses },
			"$name: a refusal costs as many hashes whatever is right");
	}
}

# --- Dumps (standbys: t/009_key_file.pl) ------------------------------------------------
write_keys('');
$node->reload;
dump_and_restore('custom', 'postgres', 'restored');
is(outcome('SELECT count(*) > 2 FROM orders', database => 'restored'), 't', 'without the key, rows are restored');
is(outcome("INSERT INTO orders VALUES (idgen.uuid_v4())", database => 'restored'), '42704', 'and INSERTs fail');
done_testing();
