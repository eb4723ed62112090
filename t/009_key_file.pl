# Verify that the keys of masks come from a file that only the server's configuration can name and that other operating
# system users cannot access. Keys do not leak: a session's memory does not contain them after they are replaced, and
# messages, dumps and the postmaster's memory never contain them. Each statement uses one key, even in parallel plans. A
# standby reads its own file.

use Masks;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};
my $file = $masks->{file};
my $permuted = $masks->permuted;

# --- The setting --------------------------------------------------------------
my $set = q{SET idgen.key_file = 'postgresql.conf'};
my $denied = 'parameter "idgen.key_file"';
for my $user ('caller', ask('SELECT current_user'))
{
	my ($rows, $errors) = psql_said("$set; $Masks::permute", user => $user);
	is($rows, $permuted, "$user cannot name another file in a session: that of the configuration is read");
	like($errors, qr/WARNING.*$denied cannot be changed now/, 'with a warning');
}
like(errors("LOAD 'idgen'; $set"), qr/ERROR.*$denied cannot be changed now/, 'nor when it is loaded');

add_database('other');
ask($Masks::grant, 'other');
# The server accepts the setting for a database while the library is not loaded.
ask("ALTER DATABASE other $set");
is($masks->permuted(database => 'other'), "55000: idgen.key_file is not set\n"
	  . "DETAIL:  Only the server's configuration can set it. A value of ALTER DATABASE, ALTER ROLE or the connection "
	  . "hides that of the configuration, and is ignored.\n"
	  . 'HINT:  Set it in postgresql.conf to the name of a file that only the database user can read, '
	  . 'and reload the configuration.',
	'nor the setting of a database, as the message says');
ask('ALTER DATABASE other RESET idgen.key_file');
is($masks->permuted(database => 'other'), $permuted, 'which can be reset');

# --- The key file -------------------------------------------------------------
# From here on, sessions log as much as they can.
ask("ALTER ROLE ALL SET $_")
  for 'log_min_messages = debug5', 'log_error_verbosity = verbose', 'debug_print_parse = on', 'debug_print_plan = on';

my $session = session();
is($session->ask($Masks::permute), $permuted, 'a session reads the keys');

# Each case is a file that new sessions reject, followed by its error, or by the number of the bad line and the reason.
# (sql/keys.sql tests other errors.)
my $key = $Masks::key{default};
my $refused = 'F0000: key file "idgen_keys"';
my $no_key = qq{42704: key "default" does not exist\n}
  . 'HINT:  Add it to the file that idgen.key_file names, and reload the configuration.';
for (
	[ "default $key \"shop\"\"\"postgres\"", 1, 'White space must follow a closing quotation mark.' ],
	[ "default $key postgres\ndefault $Masks::key{other}\n", 2, 'The name occurs twice.' ],
	[ "default $key other", $no_key ],
	[ "default $key Postgres # postgres",
	$no_key ],
	[ '#' x (1024 * 1024 + 1), "$refused is too large\nDETAIL:  At most 1048576 bytes are allowed." ],
	[ '', $no_key ])
{
	my ($content, $error, $detail) = @$_;
	$error = qq{F0000: invalid line $error in key file "idgen_keys"\nDETAIL:  $detail} if defined $detail;
	$masks->write_keys($content);
	is($masks->permuted, $error, 'refused: ' . substr($content, 0, 70) =~ tr/\n/ /r);
}

# Each of these lines contains a key that cannot be used. The other keys in the file can be used.
my $digits = 'The key is not 32 hexadecimal digits.';
my $attribute = 'The line has an attribute that this version does not know.';
for (
	[ "default ${key}0\n", $digits ],
	[ "default $key$key\n", $digits ],
	[ 'default', $digits ],
	[ "default # $key", $digits ],
	[ "default $key postgres x= other", $attribute ],
	[ "default $key =", $attribute ])
{
	my ($line, $detail) = @$_;
	$masks->write_keys("other $key\n\n$line");
	is($masks->permuted, qq{F0000: key "default" in line 3 of the key file cannot be used\nDETAIL:  $detail},
		"unusable: $line");
	is($masks->outcome($Masks::permute =~ s/\)/, key_name => 'other')/r), $permuted, '... and the other one is usable');
}
$masks->write_keys("default ${key}0 other\ndefault $key algorithm=other other\ndefault $key postgres\n");
is($masks->permuted, $permuted, 'a line for another database does not matter');
$masks->write_keys($key);
is($masks->permuted, $no_key, 'a line without a name does not matter');

# A key whose line lists database names is found if the session's database is one of them.
for my $names ('postgres', "\t other  postgres\t", '"postgres"', '"a ""b"" #" "postgres" # other', 'postgres#',
	'other "" postgres')
{
	$masks->write_keys("default $key $names\n");
	is($masks->permuted, $permuted, "a key for databases: $names");
}
$masks->write_keys("default $Masks::key{other} other\ndefault $key postgres\n");
is($masks->permuted, $permuted, 'two keys of one name for two databases');
ask('CREATE DATABASE "a=b" TEMPLATE other');
$masks->write_keys(qq{default $key "a=b"\n});
is($masks->permuted(database => 'a=b'), $permuted, 'a quoted name can contain an equals sign');
is($masks->permuted, $no_key, 'and is no attribute');

my $longest = 'x' x 63 . " $key\n";
$masks->write_keys($longest . '#' x (1024 * 1024 - length $longest));
is($masks->outcome($Masks::permute =~ s/\)/, key_name => repeat('x', 63))/r), $permuted,
	'the longest name, and the largest file');
my $memory = "$Masks::permute; SELECT sum(total_bytes) FROM pg_backend_memory_contexts";
$masks->write_keys("\n" x (1024 * 1024 - 100) . "default $key\n");
my ($read, $bytes) = split /\n/, outcome($memory);
is($read, $permuted, 'many lines');
cmp_ok($bytes, '<', 8 * 1024 * 1024, '... take no memory each');

$masks->write_keys("\xef\xbb\xbfdefault $key\n");
is($masks->permuted, $permuted, 'a byte order mark is not a part of the first name');

# Check files of several types, with several owners and permissions.
my $missing = '58P01: could not open key file "idgen_keys": No such file or directory';
my $access = "$refused has group or world access\nDETAIL:  "
  . 'The file must have permissions u=rw (0600) or less if owned by '
  . 'the database user, or permissions u=rw,g=r (0640) or less if owned by root.';

for my $mode (0640, 0660, 0604, 0602, 0601, 0610)
{
	$masks->write_keys($Masks::all_keys, $mode);
	is($masks->permuted, $access, sprintf('refused: mode %04o', $mode));
}
$masks->write_keys($Masks::all_keys, 0400);
is($masks->permuted, $permuted, 'a file without write permission is read');
unlink $file;
is($masks->permuted, $missing, 'refused: a missing file');
for my $what ('mkdir', 'mkfifo')
{
	system_or_bail($what, '-m', '600', $file);
	is($masks->permuted, "$refused is not a regular file", "refused: what $what makes");
	rmdir $file;
}

sub check_link { my ($target, $expected, $name) = @_; unlink $file; symlink $target, $file or die; is($masks->permuted,
	$expected, $name) }
append_to_file("$file.target", $Masks::all_keys);
chmod 0644, "$file.target" or die;
check_link('idgen_keys.target', $access, 'of a symbolic link, the permissions of the file count');
chmod 0600, "$file.target" or die;
check_link('idgen_keys.target', $permuted, 'and it is read');
# The size of this file is reported as 0, so the file seems to have grown while it was read.
check_link('/proc/self/environ', "$refused changed while it was read", 'refused: a file that grew');
check_link('/etc/passwd', $access, 'refused: a file of root that all can read');
SKIP:
{
	my $of_others = "$ENV{TESTDIR}/idgen_keys";
	skip 'only root can make files of other users', 3 if !-e "$of_others.root.640";

	check_link("$of_others.root.640", $permuted, 'a file of root that the group can read');
	check_link("$of_others.root.660", $access, 'refused: a file of root that the group can write');
	check_link("$of_others.daemon.640", "$refused must be owned by the database user or root", 'and of others');
}

is($session->ask($Masks::permute), $permuted, 'the session has its keys until the next reload');
$masks->reload($session, "default $Masks::key{other}\nsecond $key");
is($session->ask($Masks::permute), $masks->permuted, 'and then the new ones');
is($session->ask($Masks::permute =~ s/\)/, key_name => 'second')/r), $permuted, 'also one with a new name');
$session->quit;

# --- A session's memory ---------------------------------------------------------
$masks->write_keys($Masks::all_keys);
$session = session();
my $pid = $session->{pid};
my $in_session = sub { return $session->ask($_[0] // $Masks::permute) };

# Return whether the memory of a process contains the key, or nothing if the memory cannot be read.
sub is_in_memory
{
	my ($process, $bytes) = @_;
	my @memory = private_memory($process) or return;
	return (grep { index($_->[2], $bytes) >= 0 } @memory) ? 1 : 0;
}

# Use many keys, so that a reload does not overwrite the old keys by storing new keys in the same memory.
my $many = join('', map { "key$_ $Masks::key{other}\nkey$_ = $Masks::key{other}\n" } 1 .. 300);
$masks->reload($session, "${many}default $Masks::key{published}\n");
$in_session->(q{SELECT idgen.hmac_comb('a', 'default')});
$masks->reload($session, "default $Masks::key{orders}\n");
my $by_orders = $in_session->();
SKIP:
{
	my $raw = sub { pack 'H*', $Masks::key{ $_[0] } };
	my @texts = qw(orders other published default);
	skip "the memory of the server's processes cannot be read here", 1 if !is_in_memory($pid, $raw->('orders'));
	ok(!is_in_memory($pid, substr($raw->('other'), $_, 8)), "bytes $_ to @{[$_ + 7]} of the one before are not")
	  for 0, 8;
	ok(!is_in_memory($pid, $raw->('published')), 'nor is the key that hmac_comb() used');
	ok(!is_in_memory($pid, $Masks::key{$_}), "nor is the line of key $_") for @texts;

	# Sessions reject the new file.
	for my $broken ("key0 $Masks::key{other} \"default", "key7 $Masks::key{other}", "$Masks::key{other}\0")
	{
		my $title = $broken =~ s/\0/ zero byte/r;
		$masks->reload($session, "$many$broken");
		is($in_session->(), 'F0000', "$title: the session has no key");
		ok(!is_in_memory($pid, $raw->($_)), "$title: nor $_ in memory") for qw(orders other);
		$masks->write_keys("default $Masks::key{orders}\n");
		$in_session->();
	}
	ok(!is_in_memory($pid, $Masks::key{$_}), "nor the line of key $_") for @texts;
	is($in_session->(), $by_orders, 'the next call reads a file that was repaired');
	is($in_session->("RESET ALL; $Masks::permute"), $by_orders, 'RESET ALL keeps the keys');
}
$session->quit;
my $shown = lc(slurp_file($node->logfile) . ask(q{
	LOAD 'idgen';
	SELECT * FROM pg_settings WHERE name LIKE 'idgen%';
	SELECT * FROM pg_file_settings;
	SELECT * FROM pg_stat_activity}));
ok(index($shown, lc substr $Masks::key{$_}, 0, 12) < 0, "key $_ is in no message and no setting")
  for sort keys %Masks::key;
ask('ALTER ROLE ALL RESET ALL');

# --- One statement, one key ----------------------------------------------------
# A parallel worker would read the new file, but its leader has the old keys until the next reload.
$masks->write_keys($Masks::all_keys);
ask('CREATE TABLE events AS SELECT i FROM generate_series(1, 20000) i; ANALYZE events');
$session = session();
$in_session->($Server::in_parallel);
like($in_session->('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	SELECT count(*) FROM events WHERE idgen.bigint_to_base(i, 36) IS NOT NULL'), qr/Workers Launched: [12]/, 'workers');
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'};
my $in_2026 = $in_session->(q{SELECT idgen.hmac_comb_at('2026-01-01', 'a', 'default')});
my %value = map { $_ => $in_session->("SELECT $_") } "idgen.mask_uuid_v7($v7)", "idgen.unmask_uuid_v7('$in_2026')",
  q{idgen.permute(1, 'a')}, q{idgen.unpermute(1, 'a')},
  q{left(idgen.hmac_comb('a', 'default', '365250 days')::text, 8)},
  q{left(idgen.hmac_comb_at('2026-01-01', 'a', 'default')::text, 8)},
  "idgen.is_recent_hmac_comb('$in_2026', 'a', 'default', clock => '2026-01-01')";
my $one_key = sub {
	my $when = shift;
	is($in_session->("SELECT count(*) FROM events WHERE $_ = '$value{$_}'"), 20000, "$when: $_") for sort keys %value;
};
$masks->write_keys("default $Masks::key{other}\n");
$one_key->('a file that was replaced');
$masks->reload($session, "default $Masks::key{orders}\n");
for (sort keys %value)
{
	my $new = $in_session->("SELECT $_");
	isnt($new, $value{$_}, "after a reload, another key: $_");
	$value{$_} = $new;
}
$masks->write_keys("default $Masks::key{other}\n");
$one_key->('replaced again');
$session->quit;

# --- A library that is loaded at the server's start ----------------------------
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'idgen'});
unlink $file;
$node->restart;
is($masks->permuted, $missing, 'the server starts with the library, but without the file');
$masks->write_keys($Masks::all_keys);
is($masks->permuted, $permuted, 'sessions read it when they need it');
$masks->write_keys("default $Masks::key{other}\n");
isnt($masks->permuted, $permuted, 'a new session inherits no keys');
$node->reload;
is($masks->permuted, $masks->permuted, 'also after a reload');
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
# The default key is the sequence of bytes from 0 to 15, which also occurs in the data of shared libraries.
is(is_in_memory($postmaster, pack 'H*', $Masks::key{$_}) // 0, 0, "the postmaster does not have key $_")
  for qw(orders other published);

# --- A command line that names the file ---------------------------------------
$masks->write_keys($Masks::all_keys);
$node->stop;
system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-c idgen.key_file=idgen_keys',
	'start');
$node->_update_pid(1);
$session = session();
is($in_session->(), $permuted, 'a session reads the keys of a file that the command line names');
$masks->reload($session, "default $Masks::key{other}\n");
is($in_session->(), $masks->permuted, 'and reads them again after a reload');
$session->quit;

# --- Copies -------------------------------------------------------------------
$masks->write_keys($Masks::all_keys);
$node->stop;
$node->start;
is($masks->permuted, $permuted, 'the first keys again');
$node->command_checks_all([ 'pg_dumpall' ],
	0, [ qr/^(?!.*(idgen_keys|$key))/s ], [], 'a dump has neither the file nor its name');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
my $copy = $standby->data_dir . '/idgen_keys';
unlink $copy;
$standby->start;
is($masks->permuted(node => $standby), $missing, 'a standby needs the file');
append_to_file($copy, $Masks::all_keys);
chmod 0600, $copy;
is($masks->permuted(node => $standby), $permuted, 'with it, it answers as the primary does');
is($masks->outcome('SELECT idgen.unmask_uuid_v7(idgen.mask_uuid_v7(id)) = id FROM idgen.uuid_v7() id',
	node => $standby),
	't', 'in both directions');

$standby->stop;
done_testing();
