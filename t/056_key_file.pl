# Verify that the key file is created and changed as described in docs/install.md. This includes the correction
# needed after a key was replaced under its own name, and the renaming of a database. An error in the configuration does
# not make a key unavailable, and the page lists the error messages. (contrib/clients/t/005_keys.pl and
# t/064_masked_keys.pl test the replacement of a key.)

use Page;
use Server;

my $page = Page->new('install');
my @errors = Page->new('running')->table('Troubleshooting');
my $node = init_server('key_file', "idgen.key_file = idgen_keys\nidgen.node_id = 9");
my $file = $node->data_dir . '/idgen_keys';
{
	local $ENV{HOME} = $node->data_dir;
	system_or_bail('sh', '-c', $page->blocks('The key file', 'sh'));
}
$node->start;
ask('CREATE EXTENSION idgen');
is(ask(q{SELECT count(DISTINCT substr(idgen.hmac_comb_at('2026-01-01', '', name)::text, 1, 8))
	FROM unnest('{default,shared}'::text[]) name}), '2', 'the commands of the page make two keys');

# Add lines, or remove a key's lines.
sub add_to_file { append_to_file($file, $_[0]) }
sub remove_from_file
{
	my $rest = slurp_file($file) =~ s/^$_[0] .*\n//mr;
	unlink $file;
	append_to_file($file, $rest);
	chmod 0600, $file or die;
}

# Reload, and wait until the session returns the given answer to the query.
my $session = session();
sub reload_until
{
	my ($query, $answer) = @_;
	$node->reload;
	ok(wait_until(sub { $session->ask($query) eq $answer }), "$answer: $query");
}

# --- A key that was replaced under its own name -----------------------------------------------------
my $prefix = q{SELECT substr(idgen.hmac_comb_at('2026-01-01', '', '%s')::text, 1, 8)};
my ($of_old, $of_new) = map { ask(sprintf $prefix, $_) } 'shared', 'default';
my ($old, $new) = map { slurp_file($file) =~ /^$_ (\w+)$/m } 'shared', 'default';
remove_from_file('shared');
add_to_file("shared $new\n");
reload_until(sprintf($prefix, 'shared'), $of_new);
# Correct the key file as the page describes.
remove_from_file('shared');
add_to_file("shared $old\nwrong $new\n");
reload_until(sprintf($prefix, 'shared'), $of_old);
is($session->ask(sprintf $prefix, 'wrong'), $of_new, '... and the values of the other key have its name');

# --- A change without a reload ------------------------------------------------------------------------
my $of_later = q{SELECT count(idgen.hmac_comb('', 'later'))};
add_to_file("later 5e1f0c00000000000000000000000006\n");
is(outcome($of_later), '1', 'a new session uses a changed file at once');
is($session->ask($of_later), '42704', '... and others after a reload');
reload_until($of_later, '1');

# --- A database is renamed -----------------------------------------------------------------------
add_database('shop');
add_to_file("of_shop 5e1f0c00000000000000000000000005 shop store\n");
my $of_shop = q{SELECT count(idgen.hmac_comb('', 'of_shop'))};
is(outcome($of_shop, database => 'shop'), '1', 'a key of a database');
ask('ALTER DATABASE shop RENAME TO store');
is(outcome($of_shop, database => 'store'), '1', 'a renamed one finds it if the line has both names');

# --- An error in the configuration ----------------------------------------------------------------
# With this setting, the session logs that it has read the configuration.
my $count = q{SELECT count(idgen.hmac_comb('', 'wrong'))};
my ($show) = $page->prose('The key file') =~ /`(SELECT \* FROM pg_file_settings.*?)`/s;
$session->ask('SET log_min_messages = debug2');
remove_from_file('wrong');
$node->append_conf('postgresql.conf', 'wrok_mem = 1MB');
$node->reload;
ok( wait_until(sub {
			$session->ask('SELECT 1');
			slurp_file($node->logfile) =~ /\[$session->{pid}\].*contains errors; no changes were applied/ }),
	'a reload finds an unknown parameter');
is($session->ask($count), '1', '... and removes no key');
like(ask($show), qr/\|wrok_mem\|/, '... which the query of the page shows');
$node->adjust_conf('postgresql.conf', 'wrok_mem', undef);
reload_until($count, '42704');
is(ask($show), '', '... until it is corrected');

# --- Messages --------------------------------------------------------------------------------------
# Check that a row of the page contains the error of the last statement. In the row, "…" matches any text.
sub is_in_page
{
	my ($sqlstate, $message) = @$session{qw(sqlstate message)};
	my @rows = grep { $_->[0] =~ /\b$sqlstate\b/ } @errors;
	my @patterns = map { join '.*', map { quotemeta } split /…/, $_, -1 } map { $_->[0] =~ /`(.*?)`/g } @rows;
	ok((grep { $message =~ /^$_$/ } @patterns), "the page has $sqlstate: $message");
}
my $uses_key = q{SELECT count(idgen.hmac_comb(''))};
my $lines = slurp_file($file);
for ([ '42704', $lines =~ s/^shared /other /mr ], [ 'F0000', $lines =~ s/^shared .*/shared 5e1f/mr ],
	[ 'F0000', "$lines\n$lines" ], [ 'F0000', $lines, 0644 ], [ '42501', $lines, 0 ], ['58P01'])
{
	my ($sqlstate, $content, $mode) = @$_;
	unlink $file;
	append_to_file($file, $content) if defined $content;
	chmod $mode // 0600, $file;
	reload_until($uses_key, $sqlstate);
	is_in_page();
	unlink $file;
	append_to_file($file, $lines);
	chmod 0600, $file;
	reload_until($uses_key, '1');
}
$node->adjust_conf('postgresql.conf', 'idgen.node_id', undef);
reload_until('SHOW idgen.node_id', '-1');
is($session->ask('SELECT idgen.js_id()'), '55000', 'without a number');
is_in_page();
$node->adjust_conf('postgresql.conf', 'idgen.key_file', undef);
reload_until($uses_key, '55000');
is_in_page();
for my $statement (q{SELECT idgen.purge_creations('3 days')}, 'TABLE idgen.decimal_id_counter')
{
	is($session->ask("SET ROLE pg_monitor; $statement"), '42501', "without privileges: $statement");
	is_in_page();
	$session->ask('RESET ROLE');
}
$session->quit;

done_testing();
