# The prefixes of keyed_comb(): the same in all processes of a server, others in another database, on another server
# and after each start; when they end; and where the secret is, if random bits cannot be had at first.

use Config;
use FakeClock;
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use Server;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

# In a period of a thousand years, a prefix ends by its keys only: after 65,504, counted by chance, one in 32 as 32.
my $at_most = 65504 + 6 * 1425;    # six standard deviations
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
cmp_ok($most, '<=', $at_most, 'a prefix ends after about 65,000 keys of all sessions');
like(scalar keys %keys, qr/^[56]$/, '300,000 keys have five prefixes or six');

# A slow table beside a fast one. Areas share a slot by chance, one pair in 1024.
my @areas = map { "slow $_" } 1 .. 20;
my $slow = 'SELECT ' . join ', ', prefix(), map { prefix(", area => '$_'") } @areas;
my @before = split /\|/, ask($slow);
ask(q{SELECT count(idgen.keyed_comb('365250 days', 'fast')) FROM generate_series(1, 80000)});
my @after = split /\|/, ask($slow);
cmp_ok(scalar(grep { $before[$_] eq $after[$_] } 1 .. @areas), '>=', @areas - 3,
	'keys of another area do not end the prefixes of most areas');
ask(q{SELECT count(idgen.keyed_comb('365250 days')) FROM generate_series(1, 80000)});
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
my $live = 'SELECT ' . prefix();
my $live_on_standby = $standby->safe_psql('postgres', $live);
isnt($live_on_standby, ask($live), 'also without a clock');
$standby->promote;
is($standby->safe_psql('postgres', $live), $live_on_standby, 'which it keeps when it is promoted');
is($standby->safe_psql('postgres', "SELECT $given"), $on_standby, 'with a clock, too');
$standby->stop;


# --- The end of a prefix, by a clock that is set ------------------------------------
SKIP:
{
	skip 'libfaketime is not installed', 1 if !FakeClock::is_installed();
	my $clock = FakeClock->new('keyed');
	my $fake = init_server('clock', 'max_connections = 20');
	$clock->start($fake);
	$fake->safe_psql('postgres', 'CREATE EXTENSION idgen');
	my $start = timegm(0, 0, 0, 20, 10, 2026);
	my $session = session(node => $fake);
	my %seen;

	# The prefix of an area, that many seconds after the start: "same" as that of the area's call before, "new", or
	# "back" if it was seen earlier
	my %current;
	my $at = sub {
		my ($seconds, $area, $arguments) = @_;
		$clock->stand_still_at($start + $seconds);
		my $now = $session->ask("SELECT left(idgen.keyed_comb(area => '$area'" . ($arguments // '') . ')::text, 8)');
		my $is = ($current{$area} // '') eq $now ? 'same' : $seen{$now}++ ? 'back' : 'new';
		$current{$area} = $now;
		return $is;
	};
	my $generate = sub {
		my ($keys, $area) = @_;
		$session->ask("SELECT count(idgen.keyed_comb(area => '$area')) FROM generate_series(1, $keys)");
	};
	my $prefixes = sub { my ($area, @seconds) = @_; return join ' ', map { $at->($_, $area) } @seconds };

	# few keys: 60 are fewer than 500 by the count, 512, but once in 10^10 runs
	is($prefixes->('slow', 0), 'new', 'a prefix');
	$generate->(60, 'slow');
	is($prefixes->('slow', 299, 300, 3599, 3600), 'same same same new', 'of few keys is used for the period');
	is($prefixes->('slow', 6000, 7199, 7200), 'same same new', 'which begins with its first key');
	is($prefixes->('idle', 30, 3629, 3630), 'new same new', 'wherever that is');

	# 3,000 keys are more
	is($prefixes->('busy', 10000), 'new', 'another prefix');
	$generate->(3000, 'busy');
	is($prefixes->('busy', 10299, 10300, 10400, 13899, 13900), 'same new same same new',
		'of 500 keys ends after a twelfth of the period, and the next one has a period of its own');
	is($at->(20000, 'sessions'), 'new', 'and one');
	for (1 .. 100)
	{
		my $short = session(node => $fake);
		$short->ask(q{SELECT count(idgen.keyed_comb(area => 'sessions')) FROM generate_series(1, 30)});
		$short->quit;
	}
	is($prefixes->('sessions', 20299, 20300), 'same new', 'ends so if the keys are of many sessions, thirty each');
	$generate->(80000, 'sessions');
	is($prefixes->('sessions', 20300, 20301), 'new same', 'and within a twelfth after 65,000');

	# the clock is set back or ahead
	is($prefixes->('set', 100000, 96401, 103599, 96400, 96400, 99999, 100000), 'new same same new same same new',
		'a clock that is set back ends a prefix if it is by a period');
	is($prefixes->('set', 10**7, 10**7 + 1, 100000, 100001, 10**7, 10**7), 'new same new same new same',
		'one that is set ahead, too');

	# The milliseconds of a slot are those of Unix modulo 2^42, which is in 2109. A time_t of 32 bits does not reach it.
	SKIP:
	{
		skip 'time_t has 32 bits', 1 if $Config{ptrsize} < 8;
		my $wrap = 2**42 / 1000 - $start;
		is($prefixes->('set', $wrap - 10, $wrap - 9, $wrap + 9, $wrap + 10), 'new same new same',
			'in 2109, a prefix ends early');
	}
	is($prefixes->('set', -$start - 200, -$start - 100), 'new same', 'before 1970');

	# areas, periods and sessions that take turns do not end each other's prefixes
	my @arguments = map { ("'$_ hours', 'a'", "'$_ hours', 'b'") } 1 .. 10;
	my $turns = 'SELECT ' . join ', ', map { "left(idgen.keyed_comb($_)::text, 8)" } @arguments;
	$clock->stand_still_at($start);
	my @made = split /\|/, $session->ask($turns);
	is(join('|', @made), session(node => $fake)->ask($turns), 'areas and periods by turns keep their prefixes');
	is(scalar keys %{ { map { $_ => 1 } @made } }, @arguments, 'which are different ones');
	$session->quit;
}

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
		my $database = ask(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
		my $given = $database + 2**32;
		my @areas = ('a', 'area_08b', 'orders of customers', 'x' x 63);
		my $clock = "to_timestamp(300.0 * $number)";
		my @made = map { ask("SELECT left(idgen.keyed_comb('1 hour', '$_', $clock)::text, 8)") } @areas;
		my $compute = sub {
			my $calls = join '', map { "$_\n" } @_;
			IPC::Run::run([ $python, 't/lib/mask.py', 'keyed', $hex ], '<', \$calls, '>', \my $expected) or die;
			return split /\n/, $expected;
		};
		is("@made", join(' ', $compute->(map { "$given 3600000 $number $_" } @areas)),
			'prefixes are those of the definition');

		# without a clock, the number has the milliseconds of the first key, and how many prefixes the slot had before
		my $before = int(1000 * time);
		my ($made) = map { ask("SELECT left(idgen.keyed_comb('1 hour', '$_')::text, 8)") } 'live';
		my @numbers = map { my $ms = $_; map { ($ms % 2**42) * 2048 + $_ } 1 .. 5 } $before .. int(1000 * time);
		is(scalar(grep { $_ eq $made } $compute->(map { "$database 3600000 $_ live" } @numbers)), 1, 'also without a clock');
	}

	# The secret is in no file of the server, and in nothing that SQL or a dump shows.
	my %texts = (settings => join "\n", map { ask("SELECT s FROM $_ s") }
		  'pg_settings', 'pg_file_settings', 'pg_sequences', 'pg_shmem_allocations', 'pg_stat_activity');
	IPC::Run::run([ 'pg_dumpall', '--dbname', $node->connstr('postgres') ], '>', \$texts{dump}) or die;
	IPC::Run::run([ 'find', $node->basedir, '-type', 'f' ], '>', \my $files) or die;
	$texts{$_} = slurp_file($_) for split /\n/, $files;
	my @found = grep { index($texts{$_}, $secret) >= 0 || index(lc $texts{$_}, $hex) >= 0 } sort keys %texts;
	is("@found", '', 'the secret is not in a file, a dump or a view');
	$session->quit;
}
done_testing();
