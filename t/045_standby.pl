# Where nothing can be written, on a hot standby and in a read-only transaction,
# recorded commands are found and new ones are rejected. After a failover the
# promoted standby continues where the primary stopped.

use FindBin;
use lib "$FindBin::RealBin/lib";
use PostgreSQL::Test::Cluster;
use Server;

my $primary = start_server('primary', undef, allows_streaming => 1);
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $known = q{'c0000000-0000-4000-8000-00000000000a'};
my $unknown = q{'c0000000-0000-4000-8000-00000000000b'};

ask(qq{SELECT idgen.create_once($known, 'e0000000-0000-4000-8000-00000000000a'::uuid, 'order', '[1]')});
$primary->wait_for_catchup($standby);

my $answer = 'e0000000-0000-4000-8000-00000000000a|f';
my $retry = "SELECT * FROM idgen.create_once($known, idgen.uuid_v4(), 'order', '[1.0]')";
my $differs = "SELECT * FROM idgen.create_once($known, idgen.uuid_v4(), 'order', '[2]')";
my $new = "SELECT * FROM idgen.create_once($unknown, 'e0000000-0000-4000-8000-00000000000b'::uuid)";

my %read_only = (
	'a hot standby' => [ $standby, '' ],
	'a hot standby, REPEATABLE READ' => [ $standby, 'BEGIN ISOLATION LEVEL REPEATABLE READ;' ],
	'a read-only transaction' => [ $primary, 'BEGIN READ ONLY;' ],
	'a read-only transaction, REPEATABLE READ' => [ $primary, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;' ],
	'a read-only transaction, SERIALIZABLE' => [ $primary, 'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;' ]);

for my $where (sort keys %read_only)
{
	my ($node, $begin) = @{ $read_only{$where} };
	my $result_of = sub { return outcome("$begin $_[0]", node => $node) };

	is( $result_of->("SELECT idgen.uuid_version(idgen.uuid_v4()), idgen.is_recent_uuid_v7(idgen.uuid_v7()),
			idgen.is_recent_comb(idgen.comb()), idgen.is_recent_short_comb(idgen.short_comb(run_length => 9))"),
		'4|t|t|t', "$where: the generators and validators work");
	is( $result_of->("SELECT entity_id, command_name FROM idgen.find_creation($known)"),
		'e0000000-0000-4000-8000-00000000000a|order', "$where: a known command is found");
	is($result_of->($retry), $answer, "$where: a replay returns its entity");
	is($result_of->($differs), '23514', "$where: a different request is an error");
	is($result_of->($new), '25006', "$where: an unknown command cannot be recorded");
	like(errors("$begin $new", node => $node), qr/cannot execute create_once\(\) @{[ $node == $standby ? 'during recovery' : 'in a read-only transaction' ]}\n.*HINT:  Call the function on the primary server,/s,
		"$where: and the error says where it can");
	is($result_of->("SELECT idgen.forget_creation($known)"), '25006', "$where: a known command cannot be deleted");
}
is(ask('SELECT count(*) FROM idgen.creation_identifiers'), '1', 'nothing was written');

# A saved plan serves a session in all kinds of transactions.
is( outcome("BEGIN READ ONLY; $retry; COMMIT; $new; BEGIN READ ONLY; $new; COMMIT; SELECT idgen.forget_creation($unknown)"),
	"$answer\ne0000000-0000-4000-8000-00000000000b|t\ne0000000-0000-4000-8000-00000000000b|f\nt",
	'one session alternates between read-only and read-write transactions');

# The primary is lost. The client repeats its command on the new primary.
$primary->wait_for_catchup($standby);
$primary->stop('immediate');
$standby->promote;
is(outcome($retry, node => $standby), $answer, 'after a failover, a retry returns its entity');
is(outcome($new, node => $standby), 'e0000000-0000-4000-8000-00000000000b|t', 'after a failover, a new command is recorded');

$standby->stop;
done_testing();
