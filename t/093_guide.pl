# Follow the guide in CONTRIBUTING.md for a new scheme, and for a scheme with a ticker, on a running server whose
# sessions have used the segments in shared memory. If the library is replaced by one with another layout, new sessions
# use another segment. If the name of the layout is not changed, the library does not compile. If such a library is
# installed nevertheless, only the functions that need the segment raise an error.

use Functions;
use IPC::Run;
use Server;

my ($guide) = slurp_file('CONTRIBUTING.md') =~ /^## Add an identifier scheme\n(.*?)^## Style/ms;
my @c = $guide =~ /^```c\n(.*?)^```/msg;
my @text = $guide =~ /^```text\n(.*?)^```/msg;
my ($timeflake, $number, $on_ticker) = @c;
my ($functions, $known_answer, $rows, $property) = @text;
my ($sequence) = grep { /CREATE SEQUENCE/ } @text;
is(scalar @c, 3, 'the guide has three blocks of C');

my $source = PostgreSQL::Test::Utils::tempdir() . '/source';
mkdir $source or die "mkdir: $!";
system_or_bail('cp', '-r', 'src', 'Makefile', 'exports.txt', 'idgen.control', 'idgen--1.0.sql', $source);
unlink glob "$source/src/*.o";

# Replace a pattern, which must occur in the given file of the copied sources.
sub change
{
	my ($file, $pattern, $replacement) = @_;
	my $content = slurp_file("$source/$file");
	$content =~ s/$pattern/$replacement->()/e or die "$file does not have $pattern";
	unlink "$source/$file";
	append_to_file("$source/$file", $content);
}

sub make
{
	my ($target) = @_;
	my $output = '';
	IPC::Run::run([ 'make', '-s', '-C', $source, "PG_CONFIG=$ENV{PG_CONFIG}", 'with_llvm=no', $target ],
		'>', \$output, '2>', \$output);
	return ($? == 0, $output);
}
plan skip_all => 'there is no C compiler' if !(make('src/radix.o'))[0];

my ($copy, $libraries, $extension) = copy_of_server();
my $node = init_server('guided', "idgen.node_id = 7\n", install_path => $copy);
$node->start;

# Build and install the library. Existing sessions keep the old one.
sub install
{
	my ($built, $output) = make('all');
	ok($built, 'the library is built') or diag($output);
	unlink "$libraries/idgen.so";
	system_or_bail('cp', "$source/idgen.so", $libraries);
}

my $needs_segment = 'SELECT idgen.snowflake()';
my @needs_none = ([ 'SELECT idgen.uuid_version(idgen.uuid_v4())', '4' ],
	[ q{SELECT idgen.uuid_version(idgen.keyed_comb('orders'))}, '4' ],
	[ q{SELECT idgen.uuid_timestamp(idgen.uuid_v7('2026-01-01 00:00+00')) = '2026-01-01 00:00+00'}, 't' ]);
ask('CREATE EXTENSION idgen');
my $old = session();
my $last = $old->ask($needs_segment);
is($old->ask($_->[0]), $_->[1], 'before the library is replaced') for @needs_none;

# --- One more ticker, but the name of the layout is forgotten ---------------------
change('src/ticker.h', qr/(?=\tTICKERS\n)/, sub { $number });
change('src/int_ids.c', qr/\z/, sub { "\n$on_ticker" });
my ($compiles, $output) = make('src/ticker.o');
ok(!$compiles, 'the compiler rejects another size under the same name');
like($output, qr/another size requires another SEGMENT_NAME/, '... and says so');

my $size = 8 + 8 * 64 * (@Functions::tickers + 1);
change('src/ticker.c', qr/(?<=sizeof\(TickerSegment\) == )\d+/, sub { $size });
install();
for my $first_call (map({ $_->[0] } @needs_none), $needs_segment)
{
	my $new = session();
	$new->ask($first_call);
	is($new->ask($_->[0]), $_->[1], 'functions that do not need the segment work') for @needs_none;
	is($new->ask($needs_segment), '55000', '... the others raise an error') for 1, 2;
	is($new->ask('SELECT 1'), '1', 'the session continues');
	$new->quit;
}
like(errors($needs_segment), qr/55000: .*another build of the library.*\nHINT:  Restart the server\./s,
	'the error says what to do');
cmp_ok($old->ask($needs_segment), '>', $last, 'the old session continues');
$old->quit;
$node->restart;
is(ask("$needs_segment IS NOT NULL"), 't', 'a restart of the server helps');

# --- The steps of the guide ----------------------------------------------------------
system_or_bail('cp', 'src/ticker.c', "$source/src/ticker.c");
unlink "$source/src/ticker.h", "$source/src/int_ids.c";
system_or_bail('cp', 'src/ticker.h', 'src/int_ids.c', "$source/src");
install();
$node->restart;
$old = session();
$last = $old->ask($needs_segment);

append_to_file("$source/src/timeflake.c", $timeflake);
change('src/ticker.h', qr/(?=\tTICKERS\n)/, sub { $number });
change('src/ticker.c', qr/(?<=idgen tickers, layout )(\d+)/, sub { $1 + 1 });
change('src/ticker.c', qr/(?<=sizeof\(TickerSegment\) == )\d+/, sub { $size });
change('src/int_ids.c', qr/\z/, sub { "\n$on_ticker" });
my ($like_snowflake) = slurp_file("$source/idgen--1.0.sql") =~ /^(CREATE FUNCTION idgen\.snowflake\(.*?;\n)/ms;
$like_snowflake =~ s/snowflake/instagram_id/g;
change('idgen--1.0.sql', qr/^(?=DO \$\$\n(?!.*^DO \$\$))/ms, sub { "$functions\n$sequence\n$like_snowflake\n" });
install();
unlink "$extension/idgen--1.0.sql";
system_or_bail('cp', "$source/idgen--1.0.sql", $extension);

my $new = session();
is($new->ask($_->[0]), $_->[1], 'on the running server, functions that do not need the segment work') for @needs_none;
cmp_ok($new->ask($needs_segment), '>', $last, '... and the others, too');
cmp_ok($old->ask($needs_segment), '>', $last, '... in the old session, too');
$_->quit for $old, $new;

add_database('guided');
my $query = $known_answer =~ s/^--.*\n//mgr;
is(ask("SET timezone = 'UTC'; $query", 'guided'), '2020-01-15 12:38:55.216+00|2026-01-01 00:00:00.123+00|1000',
	'Timeflake: the known answer of the guide');
ask(q{CREATE TABLE instants AS
	SELECT at FROM generate_series('1970-01-01 00:00+00', '10889-01-01', interval '9 years 1 ms') at;
	INSERT INTO instants VALUES ('10889-08-02 05:31:50.654999+00')}, 'guided');
$property =~ s/^--.*\n|;//mg;
is(ask("SELECT bool_and(holds) FROM ($property) p", 'guided'), 't', '... and its property');
my $v4 = $Functions::v4;
is(ask("SELECT signature || ' ' || attributes FROM ($Functions::installed) f WHERE signature ~ 'timeflake' ORDER BY 1",
		'guided'), join("\n", map { "$_->[0] $_->[2]" } eval "($rows)"), '... and its functions');

my $by_one = ask('SELECT idgen.instagram_id()', 'guided');
my $other = session(database => 'guided');
my $by_other = $other->ask('SELECT idgen.instagram_id()');
cmp_ok($by_other, '>', $by_one, 'the new ticker increases over sessions');
$other->quit;
$node->stop('immediate');
$node->start;
cmp_ok(ask('SELECT idgen.instagram_id()', 'guided'), '>', $by_other, '... and after a crash');
done_testing();
