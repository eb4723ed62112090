# Verify the output of scripts/test.sh and of the other scripts: a line for each file, the skipped tests with the
# commands that run them, the name of the file with all output, and a last line with the counts. Also verify that the
# installation of packages waits while another apt holds a lock.

use Cwd qw(getcwd);
use IPC::Run;
use Server;

my $folder = PostgreSQL::Test::Utils::tempdir();
my $source = getcwd();

# Run a part of a script, and return its output and its exit status.
sub bash
{
	my ($script) = @_;
	my $output = '';
	IPC::Run::run([ 'bash', '-c', "exec 2>&1\n$script", 'script.sh' ], '<', '/dev/null', '>', \$output);
	return ($output, $? >> 8);
}

# --- Results --------------------------------------------------------------------
my %test = (
	passes => q{print "ok 1\nok 2 # skip 080 needs Citus\nok 3\n1..3\n"},
	fails => q{print "ok 1\nnot ok 2\n# a reason\n1..2\n"; exit 1},
	skipped => q{print "1..0 # SKIP PostgreSQL 18 is newer\n"},
	ends => q{print "ok 1\n"});
mkdir "$folder/$_" for 'scripts', 'build', 't';
append_to_file("$folder/t/$_.pl", $test{$_}) for keys %test;
system_or_bail('cp', "$source/scripts/lib.sh", "$source/scripts/results.sh", "$folder/scripts");
my $script = "
	. $folder/scripts/results.sh
	as_server_user() { \"\$\@\"; }
	IDGEN_WORK=$folder/build IDGEN_BUILD=$folder/build";
my $run = 'run "TAP tests" tap env -C ' . $folder . ' PERL_TEST_HARNESS_DUMP_TAP="$IDGEN_WORK/tap" prove --timer';
my ($output, $status) = bash("$script\n$run t/passes.pl t/skipped.pl\nend_of_results");
is($status, 0, 'tests pass');
like($output, qr/\n2 passed, 0 failed, 2 skipped\n\z/, 'the last line has the numbers');
like($output, qr/^\[[\d:]+\] t\/passes\.pl \.+ ok +\d+ ms/m, 'a line for each file, with its time');
unlike($output, qr/^ok/m, 'and no line for each test');
like($output, qr/^ +1 skipped t\/passes\.pl: 080 needs Citus \(scripts\/test\.sh t\/passes\.pl, where/m,
	'what was skipped, and how to run it');
like($output, qr/^ +1 skipped t\/skipped\.pl: PostgreSQL 18 is newer \(dev\/run-on\.sh 18 scripts\/test\.sh/m,
	'... on another version');
my ($log) = $output =~ /^== The output of the tests is in (.*)$/m;
like(slurp_file($log), qr/^== t\/passes\.pl\nok 1\nok 2 # skip/m, 'the file has all output');

($output, $status) = bash("$script\n$run t/passes.pl t/fails.pl t/ends.pl\nend_of_results");
is($status, 1, 'tests fail');
like($output, qr/\n4 passed, 2 failed, 1 skipped\n\z/, '... and so does a file that ends early');

# The summary of several scripts
append_to_file("$folder/part.sh", "$script\n$run t/passes.pl t/skipped.pl\nend_of_results");
append_to_file("$folder/other.sh", "printf '\\n3 passed, 1 failed, 0 skipped\\n'; exit 1");
($output, $status) = bash("$script\nrun_script bash $folder/part.sh\nrun_script bash $folder/part.sh
	run_script bash $folder/other.sh\nend_of_scripts");
like($output, qr/\n7 passed, 1 failed, 4 skipped\n\z/, 'the numbers of all scripts');
like($output, qr/\n\n== Failures\nbash \S+other.sh: status 1\n/, '... with the script that failed');
like($output, qr/^ +2 skipped t\/passes\.pl: 080 needs Citus/m, '... and what was skipped in both');

# --- A lock of apt ----------------------------------------------------------------
SKIP:
{
	skip 'apt-get is not installed', 4 if system('apt-get --version >/dev/null 2>&1') != 0;

	# apt's files are in a folder of the test. The package is already installed there, so that nothing is downloaded.
	mkdir "$folder/$_" for 'dpkg', 'lists', 'cache', 'bin', 'etc', 'lists/partial', 'cache/archives',
	  'cache/archives/partial';
	append_to_file("$folder/etc/sources.list", '');
	append_to_file("$folder/dpkg/status", "Package: idgen-test\nStatus: install ok installed\nArchitecture: all\n"
		  . "Maintainer: none\nVersion: 1\nDescription: a test\n\n");
	append_to_file("$folder/apt.conf", join '', map { "$_;\n" } qq{Dir::State "$folder"},
		qq{Dir::State::Lists "$folder/lists"},
		qq{Dir::State::status "$folder/dpkg/status"}, qq{Dir::Cache "$folder/cache"},
		qq{Dir::Etc::sourcelist "$folder/etc/sources.list"}, qq{Dir::Etc::sourceparts "/dev/null"},
		qq{Dir::Log "$folder"}, 'APT::Sandbox::User ""');
	append_to_file("$folder/bin/sudo", qq{#!/bin/sh\nexec "\$\@"\n});
	chmod 0755, "$folder/bin/sudo" or die "chmod: $!";
	for my $lock ('lists/lock', 'dpkg/lock-frontend')
	{
		my ($held, $said) = ('', '');
		my $holder = IPC::Run::start([ $python, '-u', '-c', 'import fcntl, sys; f = open(sys.argv[1], "w"); '
			  . 'fcntl.lockf(f, fcntl.LOCK_EX); print("held"); sys.stdin.read()', "$folder/$lock" ],
			'<pipe', \*RELEASE, '>', \$held);
		wait_until(sub { $holder->pump_nb; $held =~ /held/ }) or die 'the lock is not held';
		my $apt = IPC::Run::start([ 'env', "APT_CONFIG=$folder/apt.conf", "PATH=$folder/bin:$ENV{PATH}", 'bash', '-c',
				"exec 2>&1; . $folder/scripts/lib.sh; idgen_apt_install idgen-test; echo installed" ],
			'<', '/dev/null', '>', \$said);
		ok(wait_until(sub { $apt->pump_nb; $said =~ /Waiting for another apt/ || !$apt->pumpable }),
			"$lock: the script says that it waits");
		unlike($said, qr/installed/, '... and waits');
		close RELEASE;
		$holder->finish;
		$apt->finish;
		like($said, qr/Waiting for another apt[^\n]*\ninstalled\n\z/, '... and then continues');
	}
}
done_testing();
