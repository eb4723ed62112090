# Two servers replicate to each other with origin = none, and both execute a command
# before its row is replicated. The statements of docs/operations.md keep one entity and
# its command on both servers.

use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use Server;

my ($version) = run_command([ 'pg_config', '--version' ]);
plan skip_all => 'both directions require PostgreSQL 16' if $version =~ /^PostgreSQL 15/;

my %node_of = map { $_ => start_server($_, 'log_statement = none', allows_streaming => 'logical') } 'a', 'b';

sub on { my ($place, $query) = @_; return $node_of{$place}->safe_psql('postgres', $query) }

# the publication and subscription of a server have its name
sub other { return $_[0] eq 'a' ? 'b' : 'a' }
sub caught_up { $node_of{$_}->wait_for_catchup('from_' . $_) for 'a', 'b' }

on($_, "CREATE TABLE orders (id bigint PRIMARY KEY); CREATE PUBLICATION $_ FOR TABLE orders, idgen.creation_identifiers") for 'a', 'b';
for my $place ('a', 'b')
{
	my $from = other($place);
	my $connection = $node_of{$from}->connstr . ' dbname=postgres';
	on($place, "CREATE SUBSCRIPTION from_$from CONNECTION '$connection' PUBLICATION $from WITH (origin = none, copy_data = false)");
}

my $command = q{'c0000000-0000-4000-8000-000000000001'};
my $state = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM orders;
	SELECT entity_number FROM idgen.creation_identifiers WHERE command_id = $command";

# both execute the command, each with another entity, and one more before
on($_, 'ALTER SUBSCRIPTION from_' . other($_) . ' DISABLE') for 'a', 'b';
my %id = (a => 1, b => 2);
for my $place ('a', 'b')
{
	on($place, "INSERT INTO orders VALUES (10 + $id{$place});
		INSERT INTO orders SELECT entity_number FROM idgen.create_once_bigint($command, $id{$place}) WHERE created");
}
on($_, 'ALTER SUBSCRIPTION from_' . other($_) . ' ENABLE') for 'a', 'b';
my %position;
for my $place ('a', 'b')
{
	$node_of{$place}->wait_for_log(qr/finished at [0-9A-F]+\/[0-9A-F]+/);
	($position{$place}) = slurp_file($node_of{$place}->logfile) =~ /finished at ([0-9A-F]+\/[0-9A-F]+)/;
}
is(on('a', $state), "1 11 12\n1", 'a has its entity');
is(on('b', $state), "2 11 12\n2", 'b has another one, and replication stops');

my ($skip, $remove) = Page->new('operations')->blocks('A command that two servers executed');
on('a', $skip =~ s/lsn = '.*?'/lsn = '$position{a}'/r);
on('b', $remove);
caught_up();
is(on($_, $state), "1 11 12\n1", "$_ has the entity of a") for 'a', 'b';
is(on($_, "SELECT * FROM idgen.create_once_bigint($command, 3)"), '1|f', "and answers a retry with it") for 'a', 'b';

on($_, "INSERT INTO orders VALUES (20 + $id{$_})") for 'a', 'b';
caught_up();
is(on($_, $state), "1 11 12 21 22\n1", "$_ receives later rows") for 'a', 'b';
is(on('b', 'SELECT count(*) FROM pg_replication_origin WHERE roname = $$repair$$'), '0', 'nothing is left of the repair');

done_testing();
