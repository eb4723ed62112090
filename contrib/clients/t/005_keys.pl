# Verify secret keys that applications share with the server. The test executes "From nothing to a checked key" from
# contrib/clients/README.md, and "Replacing a secret key" from docs/recipes.md, both under load and with steps omitted
# or exchanged.

use lib 'contrib/clients/generators';
use Combs 'hmac_comb';
use IO::Handle;
use IPC::Open2;
use Page;
use POSIX ();
use Server;

# --- From nothing to a checked key ----------------------------------------------------------
{
	my $fresh = init_server('fresh');
	$fresh->start;
	my ($script) = Page->new('contrib/clients/README.md')->blocks('From nothing to a checked key', 'sh');
	local @ENV{qw(HOME PGHOST PGPORT)} = (PostgreSQL::Test::Utils::tempdir(), $fresh->host, $fresh->port);
	delete local $ENV{PGDATABASE};
	my ($stdout, $stderr) = run_command([ 'sh', '-c', $script ]);
	is(join(' ', $stderr =~ /ERROR:.*/g), 'ERROR:  identifier is outside the accepted time window',
		'From nothing to a checked key: one key is refused')
	  or diag($stderr);
	is($fresh->safe_psql('shop', q{SELECT string_agg(note, ', ' ORDER BY note) FROM baskets
		WHERE idgen.is_recent_hmac_comb(id, 'baskets')}), 'by a program, by the server', '... and two are accepted');
	like($stdout, qr/by a program/, '... one of a program') or diag($stderr);
}

# --- Replacing a secret key -----------------------------------------------------------------
my $node = init_server('keys', 'idgen.key_file = idgen_keys');
my $key_file = $node->data_dir . '/idgen_keys';
my %key = (shared => '5e1f0c00000000000000000000000001', shared2 => '5e1f0c00000000000000000000000002');

# Replace the key file with a file that contains keys with these names.
sub write_keys
{
	append_to_file("$key_file.new", join '', map { "$_ $key{$_}\n" } @_);
	chmod 0600, "$key_file.new";
	rename "$key_file.new", $key_file or die "rename: $!";
}

sub said { return psql_said($_[0], node => $node, on_error_stop => 0) }
sub reload { said('SELECT pg_reload_conf()'); said('SELECT 1') }
sub result { return outcome($_[0], node => $node, user => 'clerk') }

write_keys('shared');
$node->start;
my $recipe = Page->new('recipes');
my ($set_up) = $recipe->blocks('Keys that applications make');
my ($both, $default, $new) = $recipe->blocks('Replacing a secret key');
said("CREATE EXTENSION idgen; $set_up; ALTER ROLE clerk LOGIN");
my $folder = PostgreSQL::Test::Utils::tempdir();
my $by_default = 'INSERT INTO baskets (note) VALUES (%s)';

# Return the INSERT of an application that generates its key.
sub insert
{
	my ($name, $note) = @_;
	return sprintf q{INSERT INTO baskets VALUES ('%s', '%s')}, hmac_comb(pack('H*', $key{$name}), 'baskets'), $note;
}

# Return the file that stores an application's setting, which is the name of its key.
sub setting { return "$folder/$_[0].key" }
sub give_key
{
	my ($application, $name) = @_;
	append_to_file("$folder/new", $name);
	rename "$folder/new", setting($application) or die "rename: $!";
}

# Start a process that inserts rows one after another until it is killed. If it has a key, it acts as an application.
# Otherwise, it uses the column's default.
sub start_client
{
	my ($name) = @_;
	my $process = fork // die "fork: $!";
	return $process if $process;
	my $psql = sprintf q{exec psql -XAtq -v VERBOSITY=verbose '%s' 2>'%s'}, $node->connstr('postgres') . ' user=clerk',
	  "$folder/$name.errors";
	eval {
		open2(my $output, my $input, 'sh', '-c', $psql);
		$input->autoflush;
		while (1)
		{
			my $key = -e setting($name) ? slurp_file(setting($name)) : '';
			my $statement = $key ? insert($key, $name) : sprintf $by_default, "'$name'";
			print $input "$statement;\n\\echo\n";
			last unless defined readline $output;
		}
	};
	POSIX::_exit(1);
}

my @clients = qw(application_1 application_2 default);

# Wait until each client has inserted ten more rows. (Some transactions of each client then began after this call.)
sub all_insert
{
	my ($after) = @_;
	my $count = join ', ', map { "count(*) FILTER (WHERE note = '$_')" } @clients;
	my $rows = sub { return split /\|/, $node->safe_psql('postgres', "SELECT $count FROM baskets") };
	my @before = $rows->();
	ok(wait_until(sub { my @now = $rows->(); !grep { $now[$_] < $before[$_] + 10 } 0 .. $#now }),
		"all insert: $after");
}

sub refused { return join '', map { slurp_file("$folder/$_.errors") } @clients }

give_key($_, 'shared') for @clients[ 0, 1 ];
my @processes = map { start_client($_) } @clients;
all_insert('with the first key');
write_keys(qw(shared shared2));
reload();
all_insert('1. both keys are in the file');
said($both);
all_insert('2. the trigger accepts both');
said($default);
all_insert('3. the default has the new key');
for my $application (@clients[ 0, 1 ])
{
	give_key($application, 'shared2');
	all_insert("3. so has $application");
}
said($new);
all_insert('4. the trigger accepts the new key');
write_keys('shared2');
reload();
all_insert('5. the first key is no longer in the file');
is(refused(), '', 'no INSERT was refused');
kill 'KILL', @processes;
waitpid $_, 0 for @processes;

# Execute the steps in a different order. Return the first step after which an INSERT fails, with the errors of the
# application and of the default.
sub first_failure
{
	my ($steps) = @_;
	my $has = 'shared';
	my @names = ('shared');
	my %step = (
		1 => sub { push @names, 'shared2'; write_keys(@names); reload() },
		2 => sub { said($both) },
		3 => sub { said($default); $has = 'shared2' },
		4 => sub { said($new) },
		5 => sub { @names = grep { $_ ne 'shared' } @names; write_keys(@names); reload() });
	write_keys(@names);
	reload();
	said("DROP TABLE baskets; " . $set_up =~ s/^CREATE ROLE.*//r);
	for my $step (split //, $steps)
	{
		$step{$step}->();
		my @errors = (result(insert($has, 'application')), result(sprintf $by_default, "'default'"));
		return "$step: @errors" if "@errors" ne ' ';
	}
	return '';
}

for ([ 12345, '' ], [ 1234, '' ],
	[ 2345, '2: 42704 42704' ], [ 21345, '2: 42704 42704' ],
	[ 1345, '3: 23514 23514' ], [ 13245, '3: 23514 23514' ],
	[ 1245, '4: 23514 23514' ], [ 12435, '4: 23514 23514' ],
	[ 1235, '5: 42704 42704' ], [ 12354, '5: 42704 42704' ])
{
	my ($steps, $expected) = @$_;
	is(first_failure($steps), $expected, "steps $steps: " . ($expected || 'no INSERT fails'));
}

# Omit the reload in step 1 for a session that has already read the file.
first_failure('');
my $session = session(node => $node, user => 'clerk');
is($session->ask(sprintf $by_default, 1), '', 'a session');
write_keys(qw(shared shared2));
said($both);
is($session->ask(sprintf $by_default, 1), 42704, 'step 2 without a reload: 42704');

# Check the INSERT that is rolled back.
my ($create, $test) = $new =~ /^(.*?;)\s+(BEGIN;.*)/s;
like((said($create =~ s/key_name=\w+/key_name=shraed2/r))[1], qr/^\s*\z/, 'a trigger with a wrong name can be created');
like((said($test))[1], qr/42704: key "shraed2" does not exist/, '... and the INSERT finds it');
is($node->safe_psql('postgres', "SELECT count(*) FROM baskets WHERE note = 'a test of the arguments'"), 0,
	'... but stays nowhere');

done_testing();
