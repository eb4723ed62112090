# The programs of clients/ whose runtime is installed work, and the known answers
# of their generators are those of the server.

use FindBin;
use lib "$FindBin::RealBin/../lib";
use IPC::Run;
use Server;

my $clients = "$FindBin::RealBin/../../clients";

# the drivers connect by TCP
my $node = start_server('clients', "listen_addresses = '127.0.0.1'");
ask('CREATE DATABASE clients');
$node->command_ok([ 'psql', '-XqAt', '-d', $node->connstr('clients'), '-f', "$clients/setup.sql" ], 'the tables are made');

# --- known answers: the prefix, the version and the variant are the server's --

my @answers = map { /^\d/ ? "60000 2 $_" : () } split /\n/, slurp_file("$clients/short_comb.txt");
push @answers, grep { /^\d/ } split /\n/, slurp_file("$clients/short_comb_periods.txt");
cmp_ok(scalar @answers, '>=', 20, 'there are known answers');
for (@answers)
{
	my ($period, $bytes, $ms, $random, $id) = split / /;
	is( $node->safe_psql(
			'clients', qq{
		SELECT substr(uuid_send('$id'), 1, $bytes) = substr(uuid_send(made), 1, $bytes), idgen.uuid_version('$id') = idgen.uuid_version(made),
			idgen.uuid_variant('$id') = idgen.uuid_variant(made), right(replace('$id', '-', ''), 15) = right('$random', 15)
		FROM idgen.short_comb($period * interval '1 ms', $bytes, clock => timestamptz '1970-01-01 00:00+00' + $ms * interval '1 ms') made}),
		't|t|t|t', "at $ms ms, the $bytes bytes of the prefix, version and variant are the server's, and the end is random");
}

# --- the programs -------------------------------------------------------------

{
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ('127.0.0.1', $node->port, 'app', 'clients');
	my ($stdout, $stderr);
	IPC::Run::run([ "$clients/run.sh" ], '<', \undef, '>', \$stdout, '2>', \$stderr);
	my $status = $? >> 8;

	my ($passed, $failed) = $stdout =~ /^(\d+) passed, (\d+) failed/m;
	is($status . '|' . ($failed // 'no verdict'), '0|0', 'the programs end well') or diag $stdout, $stderr;
	for (split /\n/, $stdout)
	{
		pass($1) if /^ok (.*)/;
		fail($1) if /^not ok (.*)/;
	  SKIP: { skip $1, 1 if /^skip (.*)/; }
	}
}

done_testing();
