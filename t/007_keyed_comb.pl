# The prefixes of keyed_comb(): the same in all processes of a server, others in another database, on another server
# and after each start; and where the secret is, if random bits cannot be had at first.

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use Server;

# In a period of a thousand years, a prefix ends with its run only.
sub prefix { my ($arguments) = @_; return "left(idgen.keyed_comb(period => '365250 days'" . ($arguments // '') . ')::text, 8)' }

my $node = start_server('keyed', "autovacuum = off\nmax_connections = 20\nrestart_after_crash = on", allows_streaming => 1);

# --- All processes of a server ------------------------------------------------
my @sessions = map { session() } 1 .. 6;
my ($prefix, @others) = keys %{ { map { $_->ask('SELECT ' . prefix()) => 1 } @sessions } };
is("@others", '', 'six sessions have one prefix');
ask('CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20000) i; ANALYZE numbers');
my $query = "SELECT DISTINCT " . prefix() . ' FROM numbers WHERE i > 0';
like(ask(in_parallel("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query")), qr/Workers Launched: [12]/, 'in parallel workers');
is(ask(in_parallel($query)), $prefix, 'they have the same one');
$_->ask('CREATE TEMP TABLE made (id uuid)') for @sessions;
$_->send(q{INSERT INTO made SELECT idgen.keyed_comb('365250 days', 'all') FROM generate_series(1, 50000)}) for @sessions;
$_->answer for @sessions;
my %keys;
for (map { split /\n/, $_->ask('SELECT left(id::text, 8), count(*) FROM made GROUP BY 1') } @sessions)
{
	my ($of, $count) = split /\|/;
	$keys{$of} += $count;
}
my ($most) = sort { $b <=> $a } values %keys;
# each session has up to 31 keys that it did not count
cmp_ok($most, '<=', 65536 + 6 * 31, 'a prefix ends after 2^16 keys of all sessions');
like(scalar keys %keys, qr/^[56]$/, '300,000 keys have five prefixes or six');

# A slow table beside a fast one. Areas share a count by chance, one pair in 256.
my @areas = map { "slow $_" } 1 .. 20;
my $slow = 'SELECT ' . join ', ', prefix(), map { prefix(", area => '$_'") } @areas;
my @before = split /\|/, ask($slow);
ask(q{SELECT count(idgen.keyed_comb('365250 days', 'fast')) FROM generate_series(1, 70000)});
my @after = split /\|/, ask($slow);
cmp_ok(scalar(grep { $before[$_] eq $after[$_] } 1 .. @areas), '>=', @areas - 5,
	'keys of another area do not end the prefixes of most areas');
ask(q{SELECT count(idgen.keyed_comb('365250 days')) FROM generate_series(1, 70000)});
isnt((split /\|/, ask($slow))[0], $before[0], 'keys without an area end the prefix of all tables without one');
$_->quit for @sessions;

# --- Other databases and servers ----------------------------------------------
my $given = prefix(q{, clock => '2026-11-20 03:44:00+00'});
ask('CREATE DATABASE copy TEMPLATE postgres; CREATE DATABASE copy_of_copy TEMPLATE copy');
my @databases = map { ask("SELECT $given", $_) } qw(postgres copy copy_of_copy);
is(scalar keys %{ { map { $_ => 1 } @databases } }, 3, 'copies of a database have other prefixes');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $on_standby = $standby->safe_psql('postgres', "SELECT $given");
isnt($on_standby, $databases[0], 'a standby has another prefix');
$standby->promote;
is($standby->safe_psql('postgres', "SELECT $given"), $on_standby, 'and keeps it when it is promoted');
$standby->stop;

# --- Another secret after each start ------------------------------------------
my %seen = ($databases[0] => 1);
for ([ 'after a restart', sub { $node->restart } ],
	[ 'after a crash of a session', sub {
			kill KILL => session()->{pid};
			$node->poll_query_until('postgres', 'SELECT true') or die 'no recovery';
		} ],
	[ 'after a crash of the server', sub { kill_postmaster($node); start_again($node) } ],
	[ 'loaded by the postmaster', sub { $node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'"); $node->restart } ])
{
	my ($when, $restart) = @$_;
	$restart->();
	my $now = ask("SELECT $given");
	ok(!$seen{$now}++, "$when, the prefix is another one");
	is(ask("SELECT $given"), $now, 'for all sessions');
}
$node->stop;

# --- Random bits that cannot be had, or are known -------------------------------
# The library replaces the function of OpenSSL that the server calls.
my $folder = PostgreSQL::Test::Utils::tempdir();
chomp(my $cc = `$ENV{PG_CONFIG} --cc` || 'cc');
my $library = "$folder/random_source.so";
my $compiled = system("$cc -shared -fPIC -o $library $FindBin::RealBin/lib/random_source.c 2>/dev/null") == 0;
my $start = sub { local %ENV = (%ENV, LD_PRELOAD => $library, IDGEN_RANDOM => $folder); $node->start };

SKIP:
{
	skip 'there is no C compiler', 1 if !$compiled;
	for my $preload ('', 'idgen')
	{
		my $how = $preload eq '' ? 'not preloaded' : 'preloaded';
		$node->append_conf('postgresql.conf', "shared_preload_libraries = '$preload'");
		for (1, 2)
		{
			$start->();
			my ($session, $other) = (session(), session());
			# the first call of this process fails, which empties the file
			unlink "$folder/fail";
			append_to_file("$folder/fail", $session->{pid});
			my $error = $session->ask("SELECT $given");
			if (-s "$folder/fail")
			{
				$node->stop;
				skip 'the random bits of the server are not from RAND_bytes()', 1;
			}
			is($error, 'XX000', "$how: the first call gets no random bits");
			# a secret of zeros would be the same after each start
			my $now = $other->ask("SELECT $given");
			ok(!$seen{$now}++, "$how: the next call has a new secret");
			is($session->ask("SELECT $given"), $now, "$how: and the session that failed has it, too");
			$_->quit for $session, $other;
			$node->stop;
		}
	}

	my $hex = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
	my $secret = pack 'H*', $hex;
	append_to_file("$folder/secret", $secret);
	$node->append_conf('postgresql.conf', "log_statement = all\nlog_min_messages = debug5");
	$start->();
	ask(q{CREATE TABLE filled AS SELECT idgen.keyed_comb() AS id FROM generate_series(1, 10000); CHECKPOINT});
	my $session = session();
	like(errors(q{SELECT idgen.keyed_comb(area => repeat('x', 64))}), qr/22023/, 'an error');

	SKIP:
	{
		skip 'no python3', 1 if !defined $python;
		my $number = 5938929;    # of five minutes
		my $database = ask(q{SELECT oid::bigint + (1::bigint << 32) FROM pg_database WHERE datname = 'postgres'});
		my @areas = ('a', 'area_08b', 'orders of customers', 'x' x 63);
		my @made = map { ask("SELECT left(idgen.keyed_comb('5 minutes', '$_', to_timestamp(300.0 * $number))::text, 8)") } @areas;
		my $calls = join '', map { "$database 300000 $number 0 $_\n" } @areas;
		IPC::Run::run([ $python, 't/lib/mask.py', 'keyed', $hex ], '<', \$calls, '>', \my $expected) or die;
		is(join('', map { "$_\n" } @made), $expected, 'prefixes are those of the definition');
	}

	# The secret is in no file of the server, and in nothing that SQL or a dump shows.
	my %texts = (settings => join "\n", map { ask("SELECT s FROM $_ s") }
		  'pg_settings', 'pg_file_settings', 'idgen.tickers', 'pg_shmem_allocations', 'pg_stat_activity');
	IPC::Run::run([ 'pg_dumpall', '--dbname', $node->connstr('postgres') ], '>', \$texts{dump}) or die;
	IPC::Run::run([ 'find', $node->basedir, '-type', 'f' ], '>', \my $files) or die;
	$texts{$_} = slurp_file($_) for split /\n/, $files;
	my @found = grep { index($texts{$_}, $secret) >= 0 || index(lc $texts{$_}, $hex) >= 0 } sort keys %texts;
	is("@found", '', 'the secret is not in a file, a dump or a view');
	$session->quit;
}
done_testing();
