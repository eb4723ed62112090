# The keys of masks come from a file that only the server's configuration can name, and
# that others cannot access.

use Masks;
use Server;

my $masks = Masks->new;
my $node = $masks->{node};
my $file = $masks->{file};

# --- The setting --------------------------------------------------------------

my $permuted = $masks->outcome('SELECT idgen.permute(1)');
{
	my $set = q{SET idgen.mask_key_file = 'postgresql.conf'; };
	like(errors("$set SELECT idgen.permute(1)", user => 'caller'), qr/permission denied to set parameter "idgen.mask_key_file"/, 'a role cannot name another file before the library is loaded');
	my ($rows, $errors) = psql_said("$set SELECT idgen.permute(1)");
	is($rows, $permuted, 'nor can a superuser in a session: the file of the configuration is read');
	like($errors, qr/WARNING.*parameter "idgen.mask_key_file" cannot be changed now/, 'with a warning');
	like(errors("LOAD 'idgen'; $set"), qr/ERROR.*parameter "idgen.mask_key_file" cannot be changed now/, 'nor after the library is loaded');

	ask(q{CREATE DATABASE other});
	$node->safe_psql('other', 'CREATE EXTENSION idgen');
	# the server accepts it for a database while the library is not loaded
	ask(q{ALTER DATABASE other SET idgen.mask_key_file = 'postgresql.conf'});
	is($masks->outcome('SELECT idgen.permute(1)', database => 'other'),
		"55000: idgen.mask_key_file is not set\n"
		  . "DETAIL:  Only the server's configuration can set it. A value of ALTER DATABASE, ALTER ROLE or the connection hides that of the configuration, and is ignored.\n"
		  . 'HINT:  Set it in postgresql.conf to the name of a file that only the database user can read, and reload the configuration.',
		'nor the setting of a database, as the message says');
	ask(q{ALTER DATABASE other RESET idgen.mask_key_file});
	is($masks->outcome('SELECT idgen.permute(1)', database => 'other'), $permuted, 'which can be reset');
}

# --- The key file -------------------------------------------------------------

$masks->log_all;
my $session = session();
my $in_session = sub { return $session->ask($_[0] // 'SELECT idgen.permute(1)') };
is($in_session->(), $permuted, 'a session reads the keys');

# All that the file may not be, in new sessions
my $long = 'x' x 64;
for (
	[ "default 000102030405060708090a0b0c0d0e0f\ndefault $Masks::key{other}\n", 'invalid line 2 in mask key file "mask_keys"', 'The name occurs twice.' ],
	[ "default 000102030405060708090a0b0c0d0e0\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0g\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0f0\n", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "\n\n000102030405060708090a0b0c0d0e0f", 'invalid line 3 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default # 000102030405060708090a0b0c0d0e0f", 'invalid line 1 in mask key file "mask_keys"', 'The key is not 32 hexadecimal digits.' ],
	[ "default 000102030405060708090a0b0c0d0e0f 0f", 'invalid line 1 in mask key file "mask_keys"', 'There is text after the key.' ],
	[ "$long 000102030405060708090a0b0c0d0e0f", 'invalid line 1 in mask key file "mask_keys"', 'The name is longer than 63 bytes.' ],
	[ "default 000102030405060708090a0b0c0d0e0f\0", 'mask key file "mask_keys" contains a zero byte', undef ],
	[ '#' x (1024 * 1024 + 1), 'mask key file "mask_keys" is too large', 'At most 1048576 bytes are allowed.' ],
	[ '', undef, undef ])
{
	my ($content, $message, $detail) = @$_;
	my $expected = defined $message ? "F0000: $message" . (defined $detail ? "\nDETAIL:  $detail" : '') :
	  qq{42704: mask key "default" does not exist\nHINT:  Add it to the file that idgen.mask_key_file names, and reload the configuration.};

	$masks->write_keys($content);
	is($masks->outcome('SELECT idgen.permute(1)'), $expected, 'refused: ' . ($detail // $message // 'an empty file'));
}
my $private = "DETAIL:  The file must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) or less if owned by root.";
for my $mode (0640, 0660, 0604, 0602, 0601, 0610)
{
	$masks->write_keys($Masks::all_keys, $mode);
	is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, sprintf('refused: mode %04o', $mode));
}
$masks->write_keys($Masks::all_keys, 0400);
is($masks->outcome('SELECT idgen.permute(1)'), $permuted, 'a file without write permission is read');
unlink $file;
is($masks->outcome('SELECT idgen.permute(1)'), qq{58P01: could not open mask key file "mask_keys": No such file or directory}, 'refused: a missing file');
mkdir $file or die;
is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" is not a regular file}, 'refused: a folder');
rmdir $file or die;
system_or_bail('mkfifo', '-m', '600', $file);
is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" is not a regular file}, 'refused: a named pipe');

# The size of this file is 0, so that it seems to have grown.
sub link_to
{
	my ($target) = @_;

	unlink $file;
	symlink $target, $file or die;
}
link_to('/proc/self/environ');
is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" changed while it was read}, 'refused: a file that is longer than its size');
link_to('mask_keys.target');
append_to_file("$file.target", $Masks::all_keys);
chmod 0644, "$file.target" or die;
is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, 'of a symbolic link, the permissions of the file count');
chmod 0600, "$file.target" or die;
is($masks->outcome('SELECT idgen.permute(1)'), $permuted, 'and it is read');
link_to('/etc/passwd');
is($masks->outcome('SELECT idgen.permute(1)'), qq{F0000: mask key file "mask_keys" has group or world access\n$private}, 'refused: a file of root that all can read');
SKIP:
{
	skip 'only root can make files of other users', 3 if !-e "$ENV{TESTDIR}/mask_keys.root.640";
	for (
		[ 'root.640', $permuted ],
		[ 'root.660', qq{F0000: mask key file "mask_keys" has group or world access\n$private} ],
		[ 'daemon.640', 'F0000: mask key file "mask_keys" must be owned by the database user or root' ])
	{
		my ($which, $expected) = @$_;
		link_to("$ENV{TESTDIR}/mask_keys.$which");
		is($masks->outcome('SELECT idgen.permute(1)'), $expected, "a file of another user: $which");
	}
}

is($in_session->(), $permuted, 'the session has its keys until the next reload');
$masks->write_keys("default $Masks::key{other}\nsecond $Masks::key{default}");
$node->reload;
$masks->wait_for_change($session, $permuted);
is($in_session->(), $masks->outcome('SELECT idgen.permute(1)'), 'and then the new ones');
is($in_session->(q{SELECT idgen.permute(1, key_name => 'second')}), $permuted, 'also one that has moved to another name');

$masks->check_log;
$session->quit;

done_testing();
