# TraceId and DecimalId compared with an independent Python program that follows
# their definition, which decodes what the server generates and encodes what the
# server reads; and js_id with JavaScript's numbers (double precision).

use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Basename qw(dirname);
use Server;

plan skip_all => 'no python3' unless defined $python;

my $client = "$python " . dirname(__FILE__) . '/lib/id_pattern.py';
my $scratch = PostgreSQL::Test::Utils::tempdir();

my $node = start_server('server', q{
idgen.node_id = 54321
idgen.launch_id = 65
});

# The output of the Python program for some lines
sub decoded
{
	my ($command, $lines) = @_;

	unlink "$scratch/lines";
	append_to_file("$scratch/lines", "$lines\n");
	my $said = `$client $command < $scratch/lines`;
	die "the client program failed at $command" if $?;
	return map { [ split /\t/ ] } split /\n/, $said;
}

# The distinct values of a field
sub values_of
{
	my ($part, @lines) = @_;
	my %seen = map { $_->[$part] => 1 } @lines;

	return join(' ', sort { $a <=> $b } keys %seen);
}

# --- TraceId ----------------------------------------------------------------

# The first call of a session starts the counters at 1. The clock may advance by
# a second while the rows are generated, and then counters begin at 1 again.
my ($before, $rows, $after) = ask(q{
	SELECT floor(extract(epoch FROM clock_timestamp()))::bigint;
	SELECT string_agg(id::text, ' ') FROM (SELECT idgen.trace_id() AS id FROM generate_series(1, 10000)) t;
	SELECT floor(extract(epoch FROM clock_timestamp()))::bigint}) =~ /^(\d+)\n([\d ]+)\n(\d+)$/;
my @ids = decoded('trace', $rows =~ tr/ /\n/r);

is(scalar(@ids), 10000, 'TraceId: all values conform to the definition');
is(values_of(1, @ids), '54321', 'TraceId: node_no is idgen.node_id');
my %seconds = map { $_ % 2**25 => $_ - $before } $before .. $after;
is(scalar(grep { !exists $seconds{ $_->[0] } } @ids), 0, 'TraceId: timestamp is the clock, without its high bits');
my $broken = 0;
my @last = (-1, 0);
for my $id (@ids)
{
	my ($second, $counter) = ($seconds{ $id->[0] } // -1, $id->[2]);
	$broken++ if $counter != ($second == $last[0] ? $last[1] + 1 : 1) || $second < $last[0];
	@last = ($second, $counter);
}
is($broken, 0, 'TraceId: counter is 1, 2, 3 ... in each second');

system("$client make-trace > $scratch/made.trace") == 0 or die 'the client program failed';
ask('CREATE TABLE trace (id bigint, second int, node int, counter int)');
ask("\\copy trace FROM '$scratch/made.trace'");
is( ask(q{SELECT count(*), count(*) FILTER (WHERE idgen.trace_id_node(id) = node), count(*) FILTER (WHERE idgen.trace_id_counter(id) = counter),
				 count(*) FILTER (WHERE extract(epoch FROM idgen.trace_id_timestamp(id))::bigint % (1 << 25) = second)
		  FROM trace}),
	'1008|1008|1008|1008', 'TraceId: the server reads the parts that Python encoded');
is( ask(q{SELECT count(*) FROM trace
		  WHERE idgen.trace_id_timestamp(id) > now() + interval '1 day'
		  OR idgen.trace_id_timestamp(id) <= now() + interval '1 day' - interval '1 s' * (1 << 25) - interval '1 s'}),
	'0', 'TraceId: timestamps lie within the last 388 days');

# --- DecimalId --------------------------------------------------------------

my @decimal = decoded('decimal', ask('SELECT idgen.decimal_id() FROM generate_series(1, 10000)'));
is(scalar(@decimal), 10000, 'DecimalId: all values conform to the definition');
is(join(' ', map { $_->[0] } @decimal), join(' ', 1 .. 10000), 'DecimalId: counter is 1, 2, 3 ...');
is(values_of(1, @decimal), '0', 'DecimalId: generator_id is 0');
is(values_of(2, @decimal), '65', 'DecimalId: launch_id is idgen.launch_id');

# more values than are reserved at once
ask('SELECT count(idgen.decimal_id()) FROM generate_series(1, 2500000)');
is((decoded('decimal', ask('SELECT idgen.decimal_id()')))[0][0], 2_510_001, 'DecimalId: no counter value is skipped');

# The counter overflows into the next generator number.
ask(q{SELECT setval('idgen.decimal_id_ticker', 922337202 - 4)});
is( join(',', map { "@$_" } decoded('decimal', ask('SELECT idgen.decimal_id() FROM generate_series(1, 10)'))),
	join(',', (map { "$_ 0 65" } 922337198 .. 922337202), map { "$_ 1 65" } 1 .. 5),
	'DecimalId: after its last value, the counter starts again with the next generator_id');

system("$client make-decimal > $scratch/made.decimal") == 0 or die 'the client program failed';
ask('CREATE TABLE decimal (id bigint, counter int, generator int, launch int)');
ask("\\copy decimal FROM '$scratch/made.decimal'");
is( ask(q{SELECT count(*), count(*) FILTER (WHERE (counter, generator, launch) = (SELECT p.counter, p.generator, p.launch FROM idgen.decimal_id_parts(id) p))
		  FROM decimal}),
	'1008|1008', 'DecimalId: the server reads the parts that Python encoded');

# --- JavaScript -------------------------------------------------------------

ask('ALTER DATABASE postgres SET idgen.node_id = 31');
my $numbers = ask(q{SELECT idgen.js_id() FROM generate_series(1, 10000)
					UNION ALL SELECT idgen.js_id_floor('2156-02-07 06:28:15+00') + 2097151});
is(scalar(split /\n/, $numbers), 10001, 'js_id: 10000 values and the greatest one');
is((split /\n/, $numbers)[-1], '9007199254740991', 'js_id: the greatest value is Number.MAX_SAFE_INTEGER');
is(join(' ', map { @$_ } decoded('numbers', $numbers)), '', 'js_id: double precision represents all values exactly');

done_testing();
