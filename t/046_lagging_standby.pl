# A standby answers whatever only reads, as the primary does. One that lags
# behind does not know the last commands yet: it refuses them, and does none of
# them twice. When it takes over, it knows all that clients were told, and goes
# on above all identifiers that were handed out.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Client;
use HandedOut;
use MixedLoad;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
HandedOut::configure($primary);
$primary->append_conf('postgresql.conf', q{
max_connections = 30
shared_buffers = 16MB
});
$primary->start;

my $load = MixedLoad->new($primary);

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# --- What reads -------------------------------------------------------------

my $known = q{'c1000000-0000-4000-8000-000000000001'};
$primary->safe_psql(
	'postgres', qq{
	CREATE EXTENSION idgen_advisor;
	CREATE TABLE goods (id uuid PRIMARY KEY);
	INSERT INTO goods SELECT idgen.uuid_v7() FROM generate_series(1, 5000);
	ANALYZE goods;
	CREATE SEQUENCE blocks;
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_once_bigint($known, 7, 'order')});
$primary->wait_for_catchup($standby);

my $v1 = q{'c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid};
my $v4 = q{'017f22e2-79b0-4cc3-98c4-dc0c0c07398f'::uuid};
my $v6 = q{'1ec9414c-232a-6b00-b3c8-9f6bdeced846'::uuid};
my $v7 = q{'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid};
my $v13 = q{'1ec9414c-232a-db00-b3c8-9f6bdeced846'::uuid};
my $at = q{'2022-02-22 19:22:22+00'::timestamptz};
my $object = q{'62153a5e0102030405060708'};

# Every function that reads, and a call of it
my %reads = (
	(map { ($_ => "idgen.$_($v7)") } qw(inspect prefix_to_suffix short_prefix_to_suffix short_suffix_to_prefix suffix_to_prefix
		swap_guid_bytes ulid_from_uuid uuid_timestamp uuid_variant uuid_version)),
	(map { ($_ => "idgen.$_($v4)") } qw(comb_timestamp suffix_comb_timestamp)),
	(map { ($_ => "idgen.$_($at)") } qw(comb_ceil comb_floor js_id_ceil js_id_floor object_id_ceil object_id_floor snowflake_ceil
		snowflake_floor ulid_ceil ulid_floor uuid_v7_ceil uuid_v7_floor)),
	(map { ($_ => "idgen.$_(123456789012345)") } qw(js_id_counter js_id_node js_id_timestamp snowflake_counter snowflake_node
		snowflake_timestamp trace_id_counter trace_id_node)),
	(map { ($_ => "idgen.$_($v4, clock => $at)") } qw(check_recent_comb is_recent_comb is_recent_short_comb short_comb_timestamp)),
	(map { ($_ => "idgen.$_($v7, clock => $at)") } qw(check_recent_uuid_v7 is_recent_uuid_v7)),
	check_recent_short_comb => "idgen.check_recent_short_comb($v4, clock => idgen.short_comb_timestamp($v4, $at))",
	trace_id_timestamp => "idgen.trace_id_timestamp(123456789012345, $at)",
	(map { ("${_}_within" => "idgen.${_}_within(idgen.${_}_floor($at), $at, $at + interval '1 s')") } qw(comb js_id snowflake ulid uuid_v7)),
	uuid_text_timestamp => "idgen.uuid_text_timestamp($v7\::text)",
	uuid_v5 => "idgen.uuid_v5($v1, 'name')",
	(map { ($_ => "idgen.$_($v6, $v7)") } qw(uuid_larger uuid_smaller)),
	decimal_id_parts => 'idgen.decimal_id_parts(14150009200065)',
	lambert_comb_to_uuid_v1 => "idgen.lambert_comb_to_uuid_v1($v13)",
	uuid_v1_to_lambert_comb => "idgen.uuid_v1_to_lambert_comb($v1)",
	uuid_v1_to_v6 => "idgen.uuid_v1_to_v6($v1)",
	uuid_v6_to_v1 => "idgen.uuid_v6_to_v1($v6)",
	bigint_from_base => q{idgen.bigint_from_base('zz', 36)},
	uuid_from_base => q{idgen.uuid_from_base('zz', 36)},
	uuid_to_base => "idgen.uuid_to_base($v7, 58)",
	bigint_to_base => 'idgen.bigint_to_base(12345, 62)',
	is_uuid => q{idgen.is_uuid('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')},
	is_prefixed_id => q{idgen.is_prefixed_id('acct_03e6wlko0bp8e7c9916hklbnd', 'acct')},
	prefixed_id => "idgen.prefixed_id('acct', $v7)",
	prefixed_id_prefix => q{idgen.prefixed_id_prefix('acct_1')},
	prefixed_id_to_uuid => q{idgen.prefixed_id_to_uuid('acct_1', 'acct')},
	parse_prefixed_id => q{idgen.parse_prefixed_id('acct_1'), 'acct_03e6wlko0bp8e7c9916hklbnd'::account_id},
	typeid_from_uuid => "idgen.typeid_from_uuid('user', $v7)",
	typeid_prefix => q{idgen.typeid_prefix('user_01h455vb4pex5vsknk084sn02q')},
	typeid_to_uuid => q{idgen.typeid_to_uuid('user_01h455vb4pex5vsknk084sn02q')},
	ulid_timestamp => q{idgen.ulid_timestamp('01ARZ3NDEKTSV4RRFFQ69G5FAV')},
	ulid_to_uuid => q{idgen.ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV')},
	is_object_id => "idgen.is_object_id($object)",
	object_id_timestamp => "idgen.object_id_timestamp($object)",
	find_creation => "(SELECT f FROM idgen.find_creation($known) f)",
	has_command => "idgen.has_command(ARRAY[$v1, $v7], $v7)",
	remember_command => "idgen.remember_command(ARRAY[$v1], $v7)",
	advise_short_comb => 'idgen.advise_short_comb(100, 1000000)',
	expected_key_cost => q{idgen.expected_key_cost('random', 1000000, 1000)});

is( $primary->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc
		WHERE pronamespace = 'idgen'::regnamespace AND prokind = 'f' AND provolatile <> 'v'}),
	join(' ', sort keys %reads), 'these are all functions that read');
for my $function (sort keys %reads)
{
	my $answer = $primary->safe_psql('postgres', "SET timezone = 'UTC'; SELECT $reads{$function}");

	isnt($answer, '', "$function answers");
	is($standby->safe_psql('postgres', "SET timezone = 'UTC'; SELECT $reads{$function}"), $answer, "$function: the standby answers the same");
}
for my $query (
	'SELECT layout, reserved_value FROM idgen.tickers ORDER BY layout',
	q{SELECT key_kind, index_rows, leaf_pages, round(leaf_density) FROM idgen.index_report('goods')},
	"SELECT count(*), min(object_id), max(object_id) FROM things WHERE object_id > $object",
	"SELECT * FROM idgen.create_once_bigint($known, 8, 'order')")
{
	is($standby->safe_psql('postgres', "$query"),
		$primary->safe_psql('postgres', "$query"), 'the standby answers the same: ' . substr($query, 0, 60));
}
is( $standby->safe_psql('postgres', 'SELECT ' . join(', ', map { "count(DISTINCT idgen.$_())" } qw(uuid_v1 uuid_v4 uuid_v6 uuid_v7 lambert_comb
			comb short_comb suffix_comb short_suffix_comb ulid typeid object_id)) . ' FROM generate_series(1, 1000)'),
	join('|', (1000) x 12), 'it makes what needs no ticker');

# What writes, but for the tickers' functions
my $lagging = Client->connect($standby);
$lagging->wait;
for my $call (
	q{forget_creation('c1000000-0000-4000-8000-000000000001')}, 'forget_creation_of_bigint(7)', "forget_creation_of($v7)",
	'purge_creations()', 'trim_creations(0)', q{sequence_comb('blocks')}, q{create_id_domain('user_id', 'user')},
	q{create_once_bigint('c1000000-0000-4000-8000-000000000002', 1)})
{
	is($lagging->ask("SELECT idgen.$call"), '25006', "$call is refused");
}

# --- It lags behind ---------------------------------------------------------

# What is committed is on its disk, but will not be seen there for an hour.
$standby->append_conf('postgresql.conf', "recovery_min_apply_delay = '1h'");
$standby->reload;
for (my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;
	$standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'RecoveryApplyDelay'}) == 0;)
{
	die 'the standby does not lag behind' if $attempts-- <= 0;
	$primary->safe_psql('postgres', 'SELECT pg_current_xact_id()');
	usleep(100_000);
}
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'})
  or die 'the standby is not synchronous';

sub told { return @{ $load->{told} } }

$load->go_on(sub { told() >= 1000 && keys %{ $load->{entity_of} } >= 300 && $load->{taken} >= 1000 });

my @sample = (sort keys %{ $load->{entity_of} })[ map { 10 * $_ } 0 .. 29 ];
for my $command (@sample)
{
	my $answer = $lagging->ask("SELECT entity_id FROM idgen.create_once('$command', idgen.uuid_v4(), 'order', '{\"number\": \"$command\"}')");

	is($answer, '25006', 'a command that the standby does not know yet is refused, and never done');
}

# --- It takes over ----------------------------------------------------------

$primary->stop('immediate');
$load->lose_all;
$lagging->quit;
$standby->promote;
$load->{node} = $standby;
for my $command (@sample)
{
	is($standby->safe_psql('postgres', "SELECT * FROM idgen.create_once('$command', idgen.uuid_v4(), 'order', '{\"number\": \"$command\"}')"),
		"$load->{entity_of}{$command}|f", 'promoted, it knows the command') if $command =~ /0$/;
}
$standby->safe_psql('postgres', "SELECT idgen.forget_creation($known)");

my $told = told();
$load->go_on(sub { told() >= $told + 500 });
is(join(' ', grep { !/^57P0/ } sort keys %{ $load->{errors} }), '', 'the clients met no other error than that the primary went');
$load->check;
diag('figures: ' . keys(%reads) . " functions read the same on a standby; failover with an hour's lag: " . $load->figures);

$standby->stop;
done_testing();
