# Verify functions on a hot standby. Each function that only reads returns the same result as on the primary. In
# read-only transactions and on a standby, even a lagging one, recorded commands are found and new commands are
# rejected. After its promotion, the standby knows each command that was reported to a client. (t/013_ticker_standby.pl
# tests tickers on standbys and under load.)

use Functions;
use Page;
use PostgreSQL::Test::Cluster;
use Server;
use Tickers;

my $primary = Functions::add_key(
	init_server('primary', "${settings}shared_buffers = 16MB", allows_streaming => 1));
$primary->start;
ask('CREATE EXTENSION idgen');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
# The copy has the permissions of a new file, so restrict them.
chmod 0600, $standby->data_dir . '/idgen_keys' or die;
$standby->start;

# --- Functions that only read -----------------------------------------------
my $known = $Functions::v4;
my $has_advisor = Functions::install($primary, 'postgres');
ask(qq{
	CREATE TABLE things (id uuid PRIMARY KEY);
	INSERT INTO things SELECT idgen.uuid_v7() FROM generate_series(1, 5000);
	ANALYZE things;
	CREATE SEQUENCE blocks;
	SELECT idgen.create_id_domain('account_id', 'acct');
	SELECT idgen.create_once_bigint($known, 7, 'order', '[1]')});
$primary->wait_for_catchup($standby);

my @reads = grep { $_->{attributes} !~ /^v/ && $_->{kind} ne 'trigger' } Functions::installed($primary, 'postgres');
for my $function (@reads)
{
	my $query = "SET timezone = 'UTC'; SELECT " . Functions::call($function);
	my $answer = ask($query);
	# The results of these two functions can be empty: the key of this index can change, and no other index has the same
	# column.
	isnt($answer, '', "$function->{name}() returns a result on the primary")
	  if $function->{name} !~ /^internal_(?:key_reason|index_instead)$/;
	is($standby->safe_psql('postgres', $query), $answer, "$function->{name}() returns the same on the standby");
}
is($standby->safe_psql('postgres', $_), ask($_), 'same result on the standby: ' . substr($_, 0, 60)) for
	q{SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'idgen'},
	q{SELECT 'acct_03e6wlko0bp8e7c9916hklbnd'::account_id},
	$has_advisor ? q{SELECT placement, rows, leaf_pages, round(100 * leaf_density) FROM idgen.index_report('things')}
	: ();
is( $standby->safe_psql('postgres', 'SELECT ' . join(', ', map { "count(DISTINCT $_)" } @Functions::independent)
  . ' FROM generate_series(1, 1000)'),
	join('|', (1000) x @Functions::independent), 'generators that need no ticker work on the standby');

# If the event feed in docs/recipes.md is read on the standby, the reader misses no event of a transaction that is
# committed late.
{
	my $feed = 'An event feed that loses nothing';
	my $recipe = Page->new('recipes');
	my $insert = q{INSERT INTO events (body) VALUES ('{}')};
	$recipe->paste($feed);
	my $late = session();
	$late->ask("BEGIN; $insert");
	ask($insert);
	$primary->wait_for_catchup($standby);
	my $read = $recipe->prepared($feed) . ' EXECUTE next_events(0, 0)';
	my $ids = sub { return join ' ', map { (split /\|/)[1] } split /\n/, $standby->safe_psql('postgres', $read) };
	is($standby->safe_psql('postgres', 'SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM events'), '1 3',
		'the standby has an event that was committed before an earlier one');
	is($ids->(), '1', '... and the feed does not show it yet');
	$late->ask('COMMIT');
	ask('SELECT pg_current_xact_id()');		# write WAL after the COMMIT
	$primary->wait_for_catchup($standby);
	is($ids->(), '1 2 3', '... but both, after the earlier one is committed');
	$late->quit;
}

my $lagging = session(node => $standby);
is($lagging->ask("SELECT idgen.$_"), '25006', "$_ is rejected on the standby") for
	q{forget_creation('c1000000-0000-4000-8000-000000000001')}, q{forget_creation_of_bigint(7, 'order')},
		"forget_creation_of($known)",
	q{purge_creations('3 days')}, 'trim_creations(0)', 'decimal_id()', q{sequence_comb('blocks')},
	q{create_id_domain('user_id', 'user')};

# --- Commands in read-only transactions and on standbys --------------------------
my $unknown = q{'c1000000-0000-4000-8000-000000000003'};
my $replay = "SELECT * FROM idgen.create_once_bigint($known, 8, 'order', '[1.0]')";
my $new = "SELECT * FROM idgen.create_once_bigint($unknown, 9, 'order')";
my $recorded = ask('SELECT count(*) FROM idgen.creation_identifiers');

for (
	[ $standby, 'a hot standby', '' ],
	[ $standby, 'a hot standby, REPEATABLE READ', 'BEGIN ISOLATION LEVEL REPEATABLE READ' ],
	[ $primary, 'a read-only transaction', 'BEGIN READ ONLY' ],
	[ $primary, 'a read-only transaction, REPEATABLE READ', 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' ],
	[ $primary, 'a read-only transaction, SERIALIZABLE', 'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY' ])
{
	my ($node, $where, $begin) = @$_;
	for (
		[ 'a known command is found', '7|order',
		"SELECT entity_number, command_name FROM idgen.creation_identifiers WHERE command_id = $known" ],
		[ 'a replay returns its entity', '7|f', $replay ],
		[ 'a different request is an error', '23514', $replay =~ s/1\.0/2/r ],
		[ 'an unknown command cannot be recorded', '25006', $new ],
		[ 'a known command cannot be deleted', '25006', "SELECT idgen.forget_creation($known)" ])
	{
		my ($name, $expected, $query) = @$_;
		is(outcome("$begin; $query", node => $node), $expected, "$where: $name");
	}
	my $when = $node == $standby ? 'during recovery' : 'in a read-only transaction';
	like(errors("$begin; $new", node => $node),
		qr/cannot execute create_once_bigint\(\) $when\n.*HINT:  Call the function on the primary server,/s,
		"$where: and the error says where it can");
}
is(ask('SELECT count(*) FROM idgen.creation_identifiers'), $recorded, 'nothing was written');

# A session can use its saved plan in all kinds of transactions.
is( outcome("BEGIN READ ONLY; $replay; COMMIT; $new; BEGIN READ ONLY; $new; COMMIT;
	SELECT idgen.forget_creation($unknown)"),
	"7|f\n9|t\n9|f\nt", 'one session alternates between read-only and read-write transactions');

# --- A lagging standby ------------------------------------------------------
# The standby flushes WAL at once, but replays it an hour later.
$standby->append_conf('postgresql.conf', "recovery_min_apply_delay = '1h'");
$standby->reload;
wait_until(sub {
	ask('SELECT pg_current_xact_id()');
	return $standby->safe_psql('postgres',
		q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'RecoveryApplyDelay'});
}) or die 'the standby does not lag';
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'})
  or die 'the standby is not synchronous';

my %entity_of = map { $_ => sprintf('e0000000-0000-4000-8000-%012d', $_) } 1 .. 9;
sub create { my ($number, $entity) = @_;
return "SELECT * FROM idgen.create_once('c2000000-0000-4000-8000-00000000000$number', '$entity'::uuid, 'order')" }
is(ask(create($_, $entity_of{$_})), "$entity_of{$_}|t", 'a command is recorded') for sort keys %entity_of;
is($lagging->ask(create($_, $entity_of{1})), '25006',
	'a command that the standby has not replayed is rejected, not executed again')
  for sort keys %entity_of;

# --- Promotion --------------------------------------------------------------
$primary->stop('immediate');
$lagging->quit;
$standby->promote;
is($standby->safe_psql('postgres', create($_, $entity_of{1})), "$entity_of{$_}|f",
	'after promotion, the command is known')
  for sort keys %entity_of;
is($standby->safe_psql('postgres', "SELECT idgen.forget_creation($known)"), 't', 'and one of before can be deleted');
$standby->stop;
done_testing();
