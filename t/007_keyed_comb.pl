# Verify that all processes of a server generate keyed COMBs with the same prefixes. The prefixes differ between
# databases and between servers, and change after each start. They also change when the server's clock enters a
# different period or a different twelfth of a period. No file contains the secret, which is random even if the first
# request for random bits fails.

use FakeClock;
use FindBin;
use IPC::Run;
use KeyedPrefix;
use PostgreSQL::Test::Cluster;
use Server;
use Time::HiRes qw(time);
use Time::Local qw(timegm);

# With a period of 1,000 years, the prefix changes every 83 years.
sub prefix { my ($arguments) = @_; return "left(idgen.keyed_comb('a', '365250 days'" . ($arguments // '')
  . ')::text, 8)' }

my $node = start_server('keyed', "autovacuum = off\nrestart_after_crash = on", allows_streaming => 1);

# --- All processes of a server ------------------------------------------------
my @sessions = map { session() } 1 .. 6;
my ($prefix, @others) = keys %{ { map { $_->ask('SELECT ' . prefix()) => 1 } @sessions } };
is("@others", '', 'six sessions have one prefix');
ask('CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20000) i; ANALYZE numbers');
my $query = "SELECT DISTINCT " . prefix() . ' FROM numbers WHERE i > 0';
like(ask(in_parallel("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query")), qr/Workers Launched: [12]/,
	'in parallel workers');
is(ask(in_parallel($query)), $prefix, 'they have the same one');
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

# --- The server's clock -------------------------------------------------------
SKIP:
{
	skip 'libfaketime is not installed', 1 if !FakeClock::is_installed();
	my $clock = FakeClock->new('keyed');
	my $fake = init_server('clock');
	$clock->start($fake);
	$fake->safe_psql('postgres', 'CREATE EXTENSION idgen');
	my $session = session(node => $fake);
	my $start = timegm(0, 0, 0, 20, 10, 2026);

	# Return the numbers of the period and of the prefix at each of the given seconds after the start. Periods and
	# prefixes are numbered in the order of their first appearance.
	my $numbers = sub {
		my (%period, %prefix);
		return join ' ', map {
			$clock->stand_still_at($start + $_);
			my $now = $session->ask(q{SELECT left(idgen.keyed_comb('a')::text, 8)});
			($period{ substr $now, 0, 6 } //= keys %period) . '.' . ($prefix{$now} //= keys %prefix);
		} @_;
	};
	# (With a probability of 1 in 256, two twelfths of an hour have the same prefix.)
	is($numbers->(0, 299, 0, 3600, 3899, 0, 7200), '1.1 1.1 1.1 2.2 2.2 1.1 3.3',
		'a prefix is that of five minutes of an hour, and comes back when the clock is set back');
	is($numbers->(-$start - 3601, -$start - 3600, -$start - 3301), '1.1 2.2 2.2', 'before 1970');
	$session->quit;
}

# --- Another secret after each start ------------------------------------------
my %seen = ($databases[0] => 1);
my $crash = sub {
	# Until the postmaster notices the crash, the server accepts connections, which it then terminates.
	my $log = -s $node->logfile;
	kill KILL => session()->{pid};
	$node->wait_for_log(qr/database system is ready to accept connections/, $log);
};
for ([ 'after a restart', sub { $node->restart } ],
	[ 'after a crash of a session', $crash ],
	[ 'after a crash of the server', sub { kill_postmaster($node); start_again($node) } ],
	[ 'loaded by the postmaster', sub { $node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'");
	$node->restart } ],
	# If a crash left the secret all zeros, it would be the same after each crash.
	map { [ "loaded by the postmaster, after crash $_ of a session", $crash ] } 1, 2)
{
	my ($when, $restart) = @$_;
	$restart->();
	my $now = ask("SELECT $given");
	ok(!$seen{$now}++, "$when, the prefix is another one");
	is(ask("SELECT $given"), $now, 'for all sessions');
}
$node->stop;

# --- Random bits that are unavailable or known ----------------------------------
# The library replaces the OpenSSL function that the server calls to obtain random bits.
my $folder = PostgreSQL::Test::Utils::tempdir();
chomp(my $cc = `$ENV{PG_CONFIG} --cc` || 'cc');
my $library = "$folder/random_source.so";
my $compiled = system("$cc -shared -fPIC -o $library $FindBin::RealBin/lib/random_source.c 2>/dev/null") == 0;
my $start = sub { local %ENV = (%ENV, LD_PRELOAD => $library, IDGEN_RANDOM => $folder); return $node->start(@_) };
# Make the next request of the process with the given process ID fail. The failure also empties the file. If the ID is
# 0, every request of every process fails.
my $fail = sub { unlink "$folder/fail"; append_to_file("$folder/fail", $_[0]) };

SKIP:
{
	skip 'there is no C compiler', 1 if !$compiled;
	$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
	for (1, 2)
	{
		$start->();
		my ($session, $other) = (session(), session());
		$fail->($session->{pid});
		my $first = $session->ask("SELECT $given");
		if (-s "$folder/fail")
		{
			$node->stop;
			skip 'the random bits of the server are not from RAND_bytes()', 1;
		}
		# If the secret were left all zeros, it would be the same after every start.
		my $now = $other->ask("SELECT $given");
		ok(!$seen{$now}++, 'the next call has a new secret');
		# In versions 15 and 16, the first call of a session tries to attach to all segments, and then to the one that
		# it needs.
		is($first, $node->pg_version >= 17 ? 'XX000' : $now,
			'not preloaded: without random bits, the first call fails, or tries again');
		is($session->ask("SELECT $given"), $now, 'and the session that failed has it, too');
		$_->quit for $session, $other;
		$node->stop;
	}
	$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
	for (1, 2)
	{
		my $log = -s $node->logfile;
		$fail->(0);
		is($start->(fail_ok => 1), 0, 'preloaded: without random bits, the server does not start');
		like(slurp_file($node->logfile, $log), qr/FATAL:  could not generate random values/, 'and says why');
		unlink "$folder/fail";
		$start->();
		ok(!$seen{ ask("SELECT $given") }++, 'the next start has a new secret');
		$node->stop;
	}

	my $hex = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
	my $secret = pack 'H*', $hex;
	append_to_file("$folder/secret", $secret);
	$node->append_conf('postgresql.conf', "log_statement = all\nlog_min_messages = debug5");
	$start->();
	ask(q{CREATE TABLE filled AS SELECT idgen.keyed_comb('a') AS id FROM generate_series(1, 10000); CHECKPOINT});
	my $session = session();
	like(errors(q{SELECT idgen.keyed_comb(repeat('x', 64))}), qr/22023/, 'an error');

	my $database = ask(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
	for my $area ('', 'a', 'orders of customers', 'x' x 63)
	{
		my $made = ask("SELECT left(idgen.keyed_comb('$area', '1 hour', to_timestamp(1795146240.5))::text, 8)");
		is($made, keyed_prefix(server_key($secret, $database, 1), $area, 3600_000, 1795146240_500),
			"the prefix of area '$area' is that of the definition");
	}
	my $before = int(1000 * time);
	my $made = ask("SELECT left(idgen.keyed_comb('live')::text, 8)");
	my @possible = map { keyed_prefix(server_key($secret, $database, 0), 'live', 3600_000, $_) } $before,
		int(1000 * time);
	like("@possible", qr/\b$made\b/, 'also without a clock');

	# Neither the server's files, nor the results of the queries, nor a dump may contain the secret.
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
