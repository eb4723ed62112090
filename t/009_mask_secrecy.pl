# The keys of masks stay in the server: not in a session's memory after they were
# replaced, nor in messages, the postmaster and dumps. Parallel workers and standbys
# read the file themselves.

use Masks;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};

my $v7 = q{'018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f'};
my $permuted = $masks->outcome('SELECT idgen.permute(1)');
$masks->log_all;
my $session = session();
my $pid = $session->{pid};
my $in_session = sub { return $session->ask($_[0] // 'SELECT idgen.permute(1)') };

# --- Keys stay in the server --------------------------------------------------

# Is a key in the memory of a process?  Undefined if that cannot be read.
sub is_in_memory
{
	my ($process, $bytes) = @_;
	my @memory = private_memory($process) or return;

	return (grep { index($_->[2], $bytes) >= 0 } @memory) ? 1 : 0;
}

# many, so that the next keys are not put in the same place
$in_session->();
$masks->write_keys(join('', map { "key$_ $Masks::key{other}\n" } 1 .. 300) . "default $Masks::key{published}\n");
my $former = $in_session->();
$node->reload;
$masks->wait_for_change($session, $former);
$masks->write_keys("default $Masks::key{orders}\n");
my $before = $in_session->();
$node->reload;
$masks->wait_for_change($session, $before);
my $before_orders = $in_session->();
my $many = join('', map { "key$_ $Masks::key{other}\n" } 1 .. 300);
my @broken = (
	[ "$many$Masks::key{other} default", 'a bad line at the end' ],
	[ "${many}key7 $Masks::key{other}", 'a name twice' ],
	[ "$many$Masks::key{other}\0", 'a zero byte' ]);
SKIP:
{
	my $raw = sub { pack 'H*', $Masks::key{ $_[0] } };
	my @texts = qw(orders other published default);
	skip "the memory of the server's processes cannot be read here", 5 + 3 * @broken + 2 * @texts if !is_in_memory($pid, $raw->('orders'));
	pass('the key in use is in memory');
	ok(!is_in_memory($pid, substr($raw->('other'), $_, 8)), "bytes $_ to @{[$_ + 7]} of the one before are not") for 0, 8;
	ok(!is_in_memory($pid, $Masks::key{$_}), "nor is the line of key $_") for @texts;

	# A file that is refused
	for (@broken)
	{
		my ($content, $title) = @$_;
		my $previous = $in_session->();

		$masks->write_keys($content);
		$node->reload;
		$masks->wait_for_change($session, $previous);
		is($in_session->(), 'F0000', "$title: the session has no key");
		ok(!is_in_memory($pid, $raw->($_)), "$title: nor $_ in memory") for qw(orders other);
		$masks->write_keys("default $Masks::key{orders}\n");
		$in_session->();
	}
	ok(!is_in_memory($pid, $Masks::key{$_}), "nor the line of key $_") for @texts;
	is($in_session->(), $before_orders, 'the next call reads a file that was repaired');
	is($in_session->('RESET ALL; SELECT idgen.permute(1)'), $before_orders, 'RESET ALL keeps the keys');
}
$masks->check_log;
$session->quit;
ask("ALTER ROLE ALL RESET ALL");

# --- Parallel workers, and a library that is loaded at the server's start -----

ask(q{
	CREATE TABLE events (id uuid PRIMARY KEY);
	INSERT INTO events SELECT idgen.uuid_v7() FROM generate_series(1, 5000);
	ANALYZE events;
	GRANT SELECT ON events TO caller;
	CREATE FUNCTION permute_in(n bigint, leader int) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
	BEGIN
		RETURN idgen.permute(n) || CASE WHEN pg_backend_pid() <> leader THEN ' in a worker' ELSE ' in its leader' END;
	END $$});

# The planner of the leader does not load the library.
sub first_in_worker
{
	return outcome("SELECT pg_backend_pid() AS leader \\gset\n"
		  . in_parallel('SELECT DISTINCT answer FROM (SELECT permute_in(1, :leader) AS answer FROM events OFFSET 0) s'), user => 'caller');
}

$masks->write_keys($Masks::all_keys);
is(first_in_worker(), "$permuted in a worker", 'a worker that is the first to load the library reads the keys');
$masks->write_keys("default none\n");
is(first_in_worker(), 'F0000', 'and fails as its leader would');

$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
unlink $masks->{file};
$node->restart;
is($masks->outcome('SELECT idgen.permute(1)'), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'the server starts with the library, but without the file');
$masks->write_keys($Masks::all_keys);
is($masks->outcome('SELECT idgen.permute(1)'), $permuted, 'sessions read it when they need it');
is(first_in_worker(), "$permuted in a worker", 'and so do workers');
$masks->write_keys("default $Masks::key{other}\n");
isnt($masks->outcome('SELECT idgen.permute(1)'), $permuted, 'a new session inherits no keys');
$node->reload;
is($masks->outcome('SELECT idgen.permute(1)'), $masks->outcome('SELECT idgen.permute(1)'), 'also after a reload');
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
# the bytes from 0 to 15, the default key, are in the data of libraries
is(is_in_memory($postmaster, pack 'H*', $Masks::key{$_}) // 0, 0, "the postmaster does not have key $_") for grep { $_ ne 'default' } sort keys %Masks::key;

# --- A command line that names the file ---------------------------------------

sub start_with
{
	my (@options) = @_;

	$node->stop;
	system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, @options, 'start');
	$node->_update_pid(1);
}

$masks->write_keys($Masks::all_keys);
start_with('-o', '-c idgen.mask_key_file=mask_keys');
$session = session();
is($in_session->(), $permuted, 'a session reads the keys of a file that the command line names');
$masks->write_keys("default $Masks::key{other}\n");
$node->reload;
$masks->wait_for_change($session, $permuted);
is($in_session->(), $masks->outcome('SELECT idgen.permute(1)'), 'and reads them again after a reload');
$session->quit;

# --- Copies -------------------------------------------------------------------

$masks->write_keys($Masks::all_keys);
start_with();
is($masks->outcome('SELECT idgen.permute(1)'), $permuted, 'the first keys again');
unlike(ask('SELECT 1') . `pg_dumpall -h @{[$node->host]} -p @{[$node->port]}`, qr/mask_keys|$Masks::key{default}/, 'a dump has neither the file nor its name');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
my $copy = $standby->data_dir . '/mask_keys';
unlink $copy;
$standby->start;
is($masks->outcome('SELECT idgen.permute(1)', node => $standby), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'a standby needs the file');
append_to_file($copy, $Masks::all_keys);
chmod 0600, $copy;
is($masks->outcome('SELECT idgen.permute(1)', node => $standby), $permuted, 'with it, it answers as the primary does');
is($masks->outcome("SELECT idgen.unmask_uuid_v7(idgen.mask_uuid_v7($v7)) = $v7", node => $standby), 't', 'in both directions');

$standby->stop;
done_testing();
